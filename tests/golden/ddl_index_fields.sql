-- The columns of indexes, as InnoDB lists them.
create database ddl_fields; use ddl_fields;
create table t(a int primary key, b int, c text, key kb(b), key kc(c(5),a)); create table u(a int);
select i.name as i, f.name as c, f.pos as p from information_schema.innodb_fields f join information_schema.innodb_indexes i using(index_id) join information_schema.innodb_tables t using(table_id) where t.name='ddl_fields/t' order by 1,3;
select count(*) from information_schema.st_geometry_columns;
drop database ddl_fields;
