-- Views: made, shown, read, changed and dropped; what is wrong with them.
create database golden_views; use golden_views;
create table t (id int auto_increment primary key, a int, b varchar(20) default 'x' comment 'bb', key(a));
create table s (id int primary key, c int not null, d decimal(5,2));
insert into t (a, b) values (1,'one'),(2,'two'),(3,'three'),(null,'null');
insert into s values (1,10,1.5),(2,20,2.5),(3,3,null);
-- the text
create view v1 as select * from t where a > 1;
show create view v1; show create table v1; select * from v1 order by id;
select * from information_schema.VIEWS where TABLE_SCHEMA='golden_views';
create view v2(x,y) as select a, b from t;
show create view v2; select x, y from v2 where x < 3 order by x;
create view v3 as select p.id, p.a + 1, s.c as cc from t p join s using (id) left join t q on q.a = s.c where p.b like 't%' or not p.a <> -1 order by cc, 1 desc limit 3;
show create view v3; select * from v3;
create view v4 as select t.a, count(*) n, sum(distinct s.c) from t, s where t.id = s.id group by t.a having n > 0 and count(*) < 5;
show create view v4; select * from v4 order by a;
create view v5 as select a from t where exists (select 1 from s where s.c = t.a) and a in (select c from s) and a = (select min(c) m from s) union all select c from s order by a;
show create view v5; select * from v5;
create view v6 as select a from t natural join s; show create view v6;
create view v7 as with w as (select a, b from t) select * from w where a is not null; show create view v7; select * from v7 order by a;
create view v8 as select d.a from (select a from t where b <> 'it''s') d right join s on d.a = s.c cross join t; show create view v8; select a, count(*) from v8 group by a order by a;
create view v9 as select row_number() over w rn, sum(a) over (order by id rows between 1 preceding and current row) sa, rank() over () r from t window w as (partition by a order by b desc, id);
show create view v9; select * from v9 order by rn, sa;
create view v10 as select concat(b, 'x', _latin1'y') k, ucase(b), cast(a as char), cast(b as unsigned), -a, a is null, a between 1 and 2, a not in (1,2), case a when 1 then 'x' else 'y' end, date_add('2020-01-01', interval 1 day), x'41', 1.5e3, 1.50, a div 2, a % 2, a mod 2, ~a, a & 1, b collate utf8mb4_bin cb, left(b,1), trim(b) from t;
show create view v10; desc v10;
create view v11 as select s.c from s where not (c like 'x') and c and not c and (not (c > 1 or d < 2)) and not c is null and not c between 1 and 2 and not c in (1,2) and not (c <=> 1) having c;
show create view v11;
create view v12 as select a from t where b = 'a\nb\\c''d"e' and b = "q" and b=_utf8mb4'x' and b = date'2020-01-01' and b = convert(a using latin1) and b = cast(a as decimal(5,1)) and b = cast(a as char(5) charset latin1) and b like 'a' escape '|' and b regexp 'x';
show create view v12;
create view v13 as select distinct straight_join sql_small_result t.a from t use index (a), s ignore index for join (primary) limit 5 offset 2; show create view v13;
create view v14 as table t; show create view v14;
create view v15 as values row(1,2),row(3,4); show create view v15; select * from v15;
create view v16 as select a+1 as x from t group by x order by x, a+1; show create view v16; select * from v16;
create view v17 as select a+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1+1 from t; desc v17;
create view v18 as select 1 as `a``b`, 2 as `c d`; show create view v18; select * from v18;
-- columns
desc v1; desc v4; show full columns from v2; show index from v1;
select TABLE_NAME, COLUMN_NAME, COLUMN_DEFAULT, COLUMN_TYPE, IS_NULLABLE, COLUMN_KEY, EXTRA, PRIVILEGES, COLUMN_COMMENT from information_schema.COLUMNS where TABLE_SCHEMA='golden_views' and TABLE_NAME in ('v1','v9') order by 1, ORDINAL_POSITION;
-- lists
show tables; show full tables like 'v1';
select TABLE_NAME, TABLE_TYPE, ENGINE, VERSION, TABLE_ROWS, TABLE_COLLATION, CREATE_OPTIONS, TABLE_COMMENT from information_schema.TABLES where TABLE_SCHEMA='golden_views' and TABLE_NAME in ('v1','t') order by 1;
select TABLE_NAME, IS_UPDATABLE, CHECK_OPTION from information_schema.VIEWS where TABLE_SCHEMA='golden_views' and TABLE_NAME <> 'v7' order by 1;
select * from information_schema.VIEW_TABLE_USAGE where VIEW_SCHEMA='golden_views' and VIEW_NAME in ('v3','v5','v7','v8') order by 1,2,3,4,5,6;
select * from information_schema.VIEW_ROUTINE_USAGE where TABLE_SCHEMA='golden_views';
-- nested; used as a table
create view n1 as select * from v1 join v2 on v1.a = v2.x; show create view n1; select * from n1 order by id;
select n.b, s.c from n1 n left join s on s.id = n.id where n.a > 2;
select (select max(a) from v1), exists(select * from v2 where x = 9);
with v1 as (select 5 as five) select * from v1;
select v1.id, golden_views.v1.a from golden_views.v1 order by 1;
select * from v1 where id in (select id from v1 where a = 3) for update;
create table copy as select id, a from v1; show create table copy; insert into copy select id, a from v1; select count(*) from copy; drop table copy;
prepare p from 'select count(*) from v1 where a > ?'; set @a = 2; execute p using @a; alter view v1 as select * from t; set @a = 0; execute p using @a; deallocate prepare p;
show create view v1;
-- what * was
alter table t add z int; select * from v1 order by id limit 1; alter table t drop z;
-- refused
create view w as select @a; create view w as select @@version; create view w as select a into @x from t;
create view w as select a, a from t; create view w(x) as select a,b from t; create view w(x,x) as select a,b from t;
create view w as select nope from t; create view w as select * from nope; create view w as select nope(1);
create view t as select 1; create view v1 as select 1; create or replace view t as select 1; alter view t as select 1; alter view nope as select 1;
create or replace view v1 as select * from v1; create view w as select * from w;
create view nowhere.w as select 1; create view if not exists v1 as select 3; show warnings;
create or replace view v2 as select * from n1;
drop view t; drop view if exists t; show warnings; drop view nope; drop view if exists nope, nope2; show warnings; drop view nope, v18; select * from v18;
drop table v1; drop table if exists v1; show warnings;
alter table v1 add x int; truncate table v1; create index i on v1 (a);
create table v1 (a int); create table if not exists v1 (a int); show warnings; create table l like v1; rename table t to v1;
show create view nope; show create view t;
-- renamed
rename table v18 to v19; select * from v19; rename table v19 to mysql.v19; rename table v19 to v1; show create view v19;
-- replaced
alter view v19 as select 2 as z; show create view v19; create or replace view v19 as select 3; select * from v19;
-- maintenance
check table v1, v2; analyze table v2; optimize table v2; repair table v2;
-- algorithm, security, definer, check option
create algorithm=merge view m1 as select distinct a from t; show warnings; show create view m1;
create algorithm=temptable definer=`gone`@`%` sql security invoker view m2 as select a from t; show warnings; show create view m2; select * from m2 order by a;
create definer=`gone`@`%` view m3 as select a from t; select * from m3; drop view m3;
create view m4 as select a from m2 with check option;
create view m4 as select a from t where a > 1 with local check option; show create view m4;
create view m5 as select a from m4 with cascaded check option; show create view m5;
select TABLE_NAME, IS_UPDATABLE, CHECK_OPTION, SECURITY_TYPE, DEFINER from information_schema.VIEWS where TABLE_SCHEMA='golden_views' and TABLE_NAME like 'm%' order by 1;
-- not valid any more
drop table s; select * from v3; select * from v4; desc v4; show create view v4; show warnings;
check table v4;
alter table t drop b; select * from n1; select * from v2; drop view v4;
create table s (id int, c int, d int); select * from v6;
-- another default database
use mysql; show create view golden_views.v14; show create view golden_views.v5;
drop database golden_views; select count(*) from information_schema.VIEWS where TABLE_SCHEMA='golden_views';
