-- Table options: in one order, and only those that say something.
create database ddl_options; use ddl_options;
create table o(a int) comment 'c' row_format=dynamic stats_sample_pages=10 stats_auto_recalc=1 stats_persistent=0 checksum=1 delay_key_write=1 pack_keys=1 avg_row_length=20 max_rows=100 min_rows=5 insert_method=last key_block_size=0 connection='x';
show create table o;
select create_options, row_format from information_schema.tables where table_schema='ddl_options';
create table o2(a int) delay_key_write=0 checksum=0 row_format=default max_rows=0 pack_keys=0 stats_persistent=default pack_keys=default; show create table o2;
create table o3(a int) delay_key_write=0 checksum=0 row_format=default max_rows=0 pack_keys=0 stats_persistent=1; show create table o3;
alter table o3 stats_persistent=default, pack_keys=default; show create table o3;
alter table o3 max_rows=7, min_rows=8; alter table o3 max_rows=0, row_format=redundant; show create table o3;
create table o4(a int) autoextend_size=4M comment='it''s'; show create table o4;
create table o5 like o; show create table o5;
create table o6(a int) secondary_engine=rapid; show create table o6;
create table o7(a int) secondary_engine_attribute='{"a": 1}' comment 'x'; show create table o7;
drop database ddl_options;
