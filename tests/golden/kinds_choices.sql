-- What IF, CASE and COALESCE choose: texts of members, numbers in conditions and comparisons, and none of
-- dates among DISTINCT values that are summed up.
drop database if exists kinds_choices; create database kinds_choices; use kinds_choices;
set names utf8mb4 collate utf8mb4_0900_ai_ci;
create table e2 (id int, e enum('bb','a'), s set('x','yy'), c char(3));
insert into e2 values (1,'a','yy','q');
create table e3 as select if(1,e,null) a, coalesce(e) b, coalesce(e,e) c, ifnull(e,null) d, case when 1 then e end e, if(1,e,e) f, coalesce(s,s) g, greatest(e,e) i, if(1,e,s) j from e2;
select column_name,column_type,collation_name from information_schema.columns where table_schema='kinds_choices' and table_name='e3' order by ordinal_position;
create table e4 as select e a, e b, s c, e d from e2 union select e, null, s, c from e2;
select column_name,column_type,collation_name from information_schema.columns where table_schema='kinds_choices' and table_name='e4' order by ordinal_position;
select if(1,e,null)+0, case when 1 then e end+0, if(1,e,e)+0, nullif(e,'x')+0, if(0,'x',s)+0 from e2;
select sum(if(1,e,null)), sum(nullif(e,'x')) from e2;
select id from e2 where if(1,e,1); select id from e2 where if(1,e,'x') > 1; select id from e2 where case when 1 then s end = 2; select id from e2 where not if(1,e,e);
select if(if(1,e,e),'t','f'), if(1,e,e) and 1, if(1,e,e) = 2, if(1,e,e) in (2,3), if(1,e,e) between 1 and 3, if(1,e,e) xor 0 from e2;
select if(1,d,0) > 20000000, if(1,d,'x') from (select date'2020-01-01' d) x;
select sum(distinct if(1,d,d)), sum(distinct ifnull(d,d)), sum(distinct coalesce(d,d)), sum(distinct case when 1 then d end), sum(distinct nullif(d,date'1999-01-01')), sum(distinct greatest(d,d)), sum(distinct d + interval 1 day), sum(distinct d), sum(distinct date(d)), sum(distinct any_value(d)) from (select date'2020-01-02' d) t; show warnings;
select sum(distinct if(1,d,d)), avg(distinct ifnull(d,d)), sum(distinct case when 1 then d end), sum(distinct greatest(d,d)) from (select time'10:11:12.5' d) t; show warnings;
select sum(distinct x'35'), avg(distinct x'41'), sum(distinct b'101');
create table f (f float, d double, i int);
insert into f values (1e20,1e20,5),(-1e20,-1e20,-5),(2.5,2.5,1);
select f|0, f<<0, bit_count(f), f & 1, f ^ 0, ~f from f;
select bit_or(f), bit_xor(f), bit_and(f) from f group by i;
select find_in_set('abc','abc ' collate utf8mb4_unicode_ci), find_in_set('abc ','abc,abc ' collate utf8mb4_unicode_ci), find_in_set('abc','abc ' collate utf8mb4_bin), find_in_set('abc','ABC ,ABC' collate utf8mb4_general_ci), field('abc','abc ' collate utf8mb4_unicode_ci), field('abc' collate utf8mb4_unicode_ci, 'abc ');
select cast(time'-25:00:00' as date) = curdate(), cast(time'-00:00:01' as date) = curdate(), cast(time'25:00:00' as date) = curdate(), date(time'-25:00:00') = curdate();
set @i = 5; select charset(greatest(@i, x'4142')), charset(coalesce(@i, x'4142')), charset(concat(@i, x'41'));
select charset(trim('日' from convert('a' using latin1))); select trim('日' from convert('a' using latin1));
