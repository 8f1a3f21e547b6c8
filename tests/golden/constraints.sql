-- CHECK constraints and generated columns
DROP DATABASE IF EXISTS golden_constraints;
CREATE DATABASE golden_constraints;
USE golden_constraints;
create table c1 (a int primary key auto_increment, b int check (b > 0), c varchar(10), d int, constraint chk_d check (d < 10 and c <> 'x'), check (c like 'a%') not enforced, constraint `zz` check (d is not null or b between 1 and 5));
show create table c1\G
insert into c1 (b) values (0);
insert into c1 (b,d,c) values (1,20,'y');
insert ignore into c1 (b,d,c) values (0,1,'y');
show warnings;
select * from information_schema.check_constraints where constraint_schema='golden_constraints'\G
select * from information_schema.table_constraints where constraint_schema='golden_constraints';
alter table c1 drop check zz;
alter table c1 add check (a > 0);
alter table c1 add check (b < 100);
alter table c1 alter check c1_chk_1 not enforced;
alter table c1 alter constraint chk_d not enforced;
alter table c1 drop constraint chk_d;
alter table c1 drop check nope;
alter table c1 drop constraint nope;
alter table c1 drop column b;
alter table c1 rename column c to cc;
show create table c1\G
create table c2 (a int, check (zz > 1));
create table c2 (a int, check (rand() > 1));
create table c2 (a int, check (a > (select 1)));
create table c2 (a int, check (a > @x));
create table c2 (a int, b int check (a > 1));
create table c2 (a int, constraint c1_chk_2 check (a > 1));
create table c2 (a int, constraint q check (a > 1), constraint q check (a>2));
create table c2 (a int check (sum(a) > 1));
create table c2 like c1;
show create table c2\G
update c1 set b = 200;
create table g1 (a int, b int generated always as (a + 1) virtual, c int as (a * 2) stored not null, d varchar(20) as (concat('x', a)), key(b), unique key (c));
show create table g1\G
insert into g1 (a) values (1),(2);
insert into g1 values (3, default, default, default);
insert into g1 values (4, 5, 6, 7);
insert into g1 (a, b) values (4, 5);
insert into g1 (a) values (null);
select * from g1;
select * from g1 where b = 3;
update g1 set a = a + 10;
update g1 set b = 3;
update g1 set b = default where a = 11;
select * from g1 order by a;
describe g1;
select column_name, extra, generation_expression from information_schema.columns where table_name='g1' and table_schema='golden_constraints' order by ordinal_position;
insert into g1 (a) values (11);
insert into g1 (a) values (11) on duplicate key update a = 50;
replace into g1 (a) values (12);
select * from g1 order by a;
alter table g1 drop column a;
alter table g1 rename column a to aa;
alter table g1 add column e int as (a + b) stored;
alter table g1 add column f int as (g), add g int;
alter table g1 modify column e int as (a + b) virtual;
alter table g1 modify column e bigint as (a - b) stored;
select * from g1 order by a;
create table g2 (a int auto_increment primary key, b int as (a+1));
create table g2 (a int, b int as (now()));
create table g2 (a int, b int as (c+1), c int as (a+1));
create table g2 (a int, b int as (zz));
create table g2 (a int, b int as ((select 1)));
create table g2 (a int, b int as (a) default 3);
create table g2 (a int, b int as (a) auto_increment);
create table g2 (a int, b int as (rand()));
create table g2 (a int, b int as (uuid()) stored);
alter table g1 alter column b set default 3;
create table g3 (a int, b int as (a+1) stored primary key);
create table g3 (a int, b int as (a+1) virtual primary key);
create table g4 (a int, b int as (10 div a) stored);
insert into g4 (a) values (0);
insert into g4 (a) values (2);
create table g5 (a int not null, b tinyint as (a) stored);
insert into g5 (a) values (1000);
create table g6 like g1; show create table g6\G
DROP DATABASE golden_constraints;
