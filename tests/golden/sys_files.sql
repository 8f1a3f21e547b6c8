-- Files of tables as the schema sys shows them, and the schema in the list of databases.
SET NAMES utf8mb4;
DROP DATABASE IF EXISTS golden_sys_files;
CREATE DATABASE golden_sys_files;
USE golden_sys_files;
SHOW DATABASES LIKE 'sys';
SHOW DATABASES WHERE `Database` IN ('sys', 'performance_schema', 'golden_sys_files');
CREATE TABLE t (id INT PRIMARY KEY, v INT);
CREATE TABLE second (id INT PRIMARY KEY, v INT);
INSERT INTO t VALUES (1, 1);
SELECT file FROM sys.io_global_by_file_by_bytes WHERE file LIKE '%golden_sys_files%' ORDER BY file;
SELECT file FROM sys.io_global_by_file_by_latency WHERE file LIKE '%golden_sys_files%' ORDER BY file;
SELECT table_name, io_write_requests >= 0 AS is_known FROM sys.`x$schema_table_statistics` WHERE table_schema = 'golden_sys_files' AND table_name = 't';
SELECT table_name, io_write_requests >= 0 AS is_known FROM sys.`x$schema_table_statistics_with_buffer` WHERE table_schema = 'golden_sys_files' AND table_name = 't';
RENAME TABLE t TO renamed;
SELECT file FROM sys.io_global_by_file_by_bytes WHERE file LIKE '%golden_sys_files%' ORDER BY file;
DROP TABLE renamed, second;
SELECT file FROM sys.io_global_by_file_by_bytes WHERE file LIKE '%golden_sys_files%' ORDER BY file;
DROP DATABASE golden_sys_files;
