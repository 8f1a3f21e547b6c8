-- Rows inserted, changed and deleted through views, and CHECK OPTION.
create database golden_view_changes; use golden_view_changes;
create table t (id int primary key, a int, b varchar(20) default 'x', c int not null default 5);
create table s (id int primary key, d int, e int not null);
insert into t values (1,1,'one',1),(2,2,'two',2),(3,3,'three',3),(4,4,'four',4);
insert into s values (1,10,1),(2,20,2),(5,50,5);
create view v as select id, a as aa, b from t where a > 1;
update v set aa = aa + 10 where id = 2; select * from t order by id;
update v set b = 'none'; select * from t order by id;
update v as w set w.b = concat(w.b, w.aa) where w.aa < 5 order by w.id limit 1; select * from t order by id;
delete from v where aa = 4; select * from t order by id;
delete from v where id = 1; delete w from v w where w.id = 3; select * from t order by id;
insert into v values (5,5,'five'); insert into v (id, aa) values (6,0); select * from t order by id; select * from v order by id;
insert into v (id, aa) values (5,1) on duplicate key update aa = values(aa) + aa, b = 'dup'; select * from t order by id;
replace into v values (5,7,'r'); insert into v select id + 10, aa, b from v where id = 5; select * from t order by id;
insert into v (id, nope) values (1,1); insert into v (id, c) values (1,1); update v set nope = 1; update v set c = 1; delete from v where c = 1; insert into v values (1,2);
insert ignore into v values (5,5,'five'); insert into v values (5,5,'five');
-- expressions
create view x as select id, a + 1 as plus, b from t;
update x set plus = 3; update x set b = 'xb' where plus = 8; insert into x (id) values (20); insert into x (id, plus) values (20, 1); delete from x where plus = 8; select * from t order by id;
create view dup as select id, id as id2, a from t; insert into dup (id) values (7); update dup set a = 9 where id2 = 1; select * from t order by id;
-- not updatable
create view g as select a, count(*) n from t group by a; create view di as select distinct a from t; create view li as select a from t limit 1; create view u as select a from t union select d from s; create algorithm=temptable view tt as select a from t; create view sq as select id, (select max(d) from s) m from t; create view k as select 1 as one; create view dv as select a from (select a from t) z;
update g set a = 1; delete from g; insert into g values (1,1); update di set a = 1; delete from di; insert into di values (1); update li set a = 1; delete from u; insert into u values (1); update tt set a = 1; insert into tt values (1); update sq set id = 1; insert into sq (id) values (1); delete from k; update dv set a = 1;
-- joins
create view j as select t.id, t.a, t.b, s.id as sid, s.d from t join s on s.id = t.id;
insert into t values (1,1,'one',1),(2,2,'two',2);
update j set a = 100 where d = 20; update j set d = 11 where a = 1; select * from t order by id; select * from s order by id;
update j set a = 1, d = 1; delete from j; delete from j where id = 1; insert into j values (1,2,3,4,5); insert into j (id, a) values (30, 30); insert into j (id, sid) values (1,1); insert into j (sid, d) values (31, 31); select * from t order by id;
update j set a = 5 order by id; update j set a = 5 limit 1;
update v join s on v.id = s.id set v.b = s.d, s.d = 0; select * from t order by id; select * from s order by id;
delete v, s from v join s on v.id = s.id; select * from t order by id; select * from s order by id;
create view jl as select s.id, s.d, t.a from s left join t on t.id = s.id; update jl set d = 77; select * from s order by id; 
-- defaults
create view nd as select id, d from s; insert into nd values (9,9); set sql_mode=''; insert into nd values (9,9); set sql_mode=default; select * from s order by id;
-- check option
create table c (id int primary key, a int, b int);
create view c1 as select id, a, b from c where a < 10; create view c2 as select id, a, b from c1 where a > 0 with local check option; create view c3 as select id, a, b from c1 where a > 0 with cascaded check option; create view c4 as select * from c2 where b = 1; create view c5 as select * from c2 where b = 1 with check option;
insert into c2 values (1,5,1); insert into c2 values (2,50,1); insert into c2 values (3,-1,1); insert into c2 values (4,null,1); insert into c3 values (5,50,1); insert into c3 values (6,5,2); insert into c4 values (7,5,2); insert into c4 values (8,-5,2); insert into c5 values (9,5,2); insert into c5 values (10,50,1); insert into c5 values (11,5,1);
select * from c order by id;
update c2 set a = -1 where id = 1; update c3 set a = 10; update c5 set b = 2; update c5 set a = a + 1; select * from c order by id;
insert ignore into c3 values (20,5,1),(21,50,1),(22,6,1); show warnings; update ignore c3 set a = a + 3 where id > 5; show warnings; select * from c order by id;
replace into c3 values (6,100,1); insert into c3 values (6,1,1) on duplicate key update a = 100; insert into c3 values (6,1,1) on duplicate key update a = 9; insert into c3 select id + 100, a, b from c; select * from c order by id;
create view c6 as select id, a from c where a in (select d from s) with check option; update c6 set a = 1; insert into c6 values (40, 9); insert into c6 values (41, 10); select * from c6;
-- nested, prepared, subqueries
prepare p from 'update v set aa = ? where id = ?'; set @a = 55, @i = 2; execute p using @a, @i; execute p using @a, @i; alter view v as select id, c as aa from t; set @a = 56; execute p using @a, @i; deallocate prepare p; select * from t order by id;
update v set aa = (select max(d) from s) where id in (select id from s) or exists (select 1 from s where s.id = v.aa);
with w as (select 1 one) update v set aa = 3 where id = (select one from w); select * from t order by id;
select TABLE_NAME, IS_UPDATABLE from information_schema.VIEWS where TABLE_SCHEMA = 'golden_view_changes' order by 1;
drop database golden_view_changes;
