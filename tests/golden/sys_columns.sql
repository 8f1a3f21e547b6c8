-- The views of the schema sys: which there are, and their columns.
SELECT SCHEMA_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'sys';
SHOW FULL TABLES FROM sys;
SELECT TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLLATION_NAME, IS_NULLABLE, COLUMN_DEFAULT FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA = 'sys' AND TABLE_NAME <> 'sys_config' ORDER BY TABLE_NAME, ORDINAL_POSITION;
SELECT TABLE_NAME, TABLE_TYPE, ENGINE, VERSION, ROW_FORMAT, TABLE_ROWS, DATA_LENGTH, DATA_FREE, AUTO_INCREMENT, TABLE_COLLATION,
    CREATE_OPTIONS, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'sys' AND TABLE_NAME IN ('version', 'x$session') ORDER BY 1;
SELECT TABLE_NAME, CHECK_OPTION, IS_UPDATABLE, DEFINER, SECURITY_TYPE, CHARACTER_SET_CLIENT
    FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'sys' AND TABLE_NAME IN ('host_summary', 'metrics', 'x$memory_global_total') ORDER BY 1;
SELECT variable, value FROM sys.sys_config ORDER BY variable;
SHOW COLUMNS FROM sys.statement_analysis LIKE 'r%';
SELECT * FROM sys.no_such_view;
SELECT no_such_column FROM sys.version;
CREATE DATABASE sys;
USE sys;
SELECT DATABASE();
SELECT version.mysql_version = VERSION(), sys.version.mysql_version = VERSION() FROM version;
WITH `x$memory_global_total` AS (SELECT 1 AS one) SELECT one FROM `x$memory_global_total`;
