-- Columns as InnoDB would keep them, units of length, and indexes with pages in memory.
create database inno;
use inno;
create table t1 (id int unsigned not null auto_increment primary key, a varchar(10) not null default 'x', b varchar(300), c char(5) character set latin1, c2 varchar(5) character set latin1, d decimal(10,2) not null, d2 decimal(20,10) unsigned, e double, f float, g datetime(3), h timestamp(6) null, i date, j time(1), k year, l blob, l2 tinyblob, m text, m2 mediumtext, n json, o enum('a','b'), p set('a','b','c','d','e','f','g','h','i'), q bit(9), r bigint, s tinyint(1), t smallint unsigned not null, u mediumint, v binary(4), w varbinary(20), w2 varbinary(300), x longtext);
create table t2 (a int, b int generated always as (a + 1) virtual, d int generated always as (a * 2) stored, c int generated always as (d + a + b) virtual, key (b));
create table t3 (a int, b varchar(10) collate utf8mb4_bin, c char(10) character set utf8mb3, d char(10) character set ascii, e char(3) character set binary);
select t.NAME, c.NAME, c.POS, c.MTYPE, c.PRTYPE, c.LEN, c.HAS_DEFAULT, c.DEFAULT_VALUE from information_schema.innodb_columns c join information_schema.innodb_tables t using (table_id) where t.name like 'inno/%' order by t.name, c.pos;
select t.NAME, v.POS, v.BASE_POS from information_schema.innodb_virtual v join information_schema.innodb_tables t using (table_id) where t.name like 'inno/%' order by 1, 2, 3;
select NAME, N_COLS from information_schema.innodb_tables where name like 'inno/%' order by name;
select t.NAME, i.NAME, c.SPACE_ID = t.SPACE, c.N_CACHED_PAGES from information_schema.innodb_cached_indexes c join information_schema.innodb_indexes i using (index_id) join information_schema.innodb_tables t using (table_id) where t.name like 'inno/%' and i.name <> 'GEN_CLUST_INDEX' order by 1, 2;
select * from information_schema.st_units_of_measure order by unit_name;
select column_name, data_type, ordinal_position from information_schema.columns where table_schema = 'information_schema' and table_name in ('INNODB_COLUMNS', 'INNODB_VIRTUAL', 'INNODB_CACHED_INDEXES') order by table_name, ordinal_position;
drop database inno;
