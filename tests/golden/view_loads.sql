# LOAD DATA into views. @FILES@ stands for tests/golden/files, below which the server may read.
drop database if exists golden_view_loads;
create database golden_view_loads;
use golden_view_loads;
create table t (id int primary key, s varchar(10), d decimal(5,2), day date);
create view v as select * from t;
load data infile '@FILES@/rows.txt' into table v;
select * from v;
load data infile '@FILES@/rows.txt' ignore into table v;
load data infile '@FILES@/rows.txt' replace into table v (id, s);
load data infile '@FILES@/rows.txt' replace into table v (id, s, @d, @day) set day = '2021-02-03';
select * from v order by id;
load data infile '@FILES@/rows.txt' into table v (t.id, v.s, @a, @b);
delete from t;

-- columns under other names, in another order
create view w as select s as text, id as number from t where id > 1 with check option;
load data infile '@FILES@/rows.txt' into table w (number, text, @a, @b);
load data infile '@FILES@/rows.txt' ignore into table w (number, text, @a, @b);
show warnings;
select * from t;
delete from t;
load data infile '@FILES@/rows.txt' ignore into table w (number, @t, @a, @b) set text = concat(number, '!');
select * from t;
delete from t;
load data infile '@FILES@/rows.txt' into table w (@n, text, @a, @b) set number = @n + 1;
select * from t order by id;
delete from t;

-- what is no column, or not one of the view
create view x as select id + 1 as i, s from t;
load data infile '@FILES@/rows.txt' into table x;
load data infile '@FILES@/rows.txt' into table x (i, s);
load data infile '@FILES@/rows.txt' into table x (@i, s) set i = 5;
load data infile '@FILES@/rows.txt' into table x (nothing);
create table k (n int auto_increment primary key, s varchar(10));
create view y as select n + 1 as i, s from k;
load data infile '@FILES@/rows.txt' into table y (@i, s, @a, @b);
select * from k order by n;

-- joins, and views that are not updatable
create table u (k int primary key, z int);
create view j as select t.id, t.s, u.k, u.z from t join u on t.id = u.k;
load data infile '@FILES@/rows.txt' into table j;
load data infile '@FILES@/rows.txt' into table j (id, s, @a, @b);
create view a as select id, count(*) as n from t group by id;
load data infile '@FILES@/rows.txt' into table a (id);
create algorithm = temptable view tv as select id from t;
load data infile '@FILES@/rows.txt' into table tv (id);

-- a view of a view
create view vv as select id, s from v;
load data infile '@FILES@/rows.txt' ignore into table vv;
select * from t order by id;
delete from t;

-- columns that are computed, and those that the view does not have
create table g (id int, twice int as (id * 2), s varchar(10) not null);
create view gv as select id, twice, s from g;
load data infile '@FILES@/rows.txt' ignore into table gv (id, @t, s, @d);
select * from g order by id;
delete from g;
create view gn as select id from g;
load data infile '@FILES@/rows.txt' into table gn (id, @a, @b, @c);
select * from g order by id;

-- one column under two names
create view du as select id, id as again, s from t;
load data infile '@FILES@/rows.txt' into table du (id, s, @a, @b);
select * from t order by id;
drop database golden_view_loads;
