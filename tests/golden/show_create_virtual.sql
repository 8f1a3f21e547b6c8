-- SHOW CREATE TABLE of tables that no statement has created.
SHOW CREATE TABLE performance_schema.setup_objects;
SHOW CREATE TABLE performance_schema.threads;
SHOW CREATE TABLE performance_schema.setup_actors;
SHOW CREATE TABLE performance_schema.host_cache;
SHOW CREATE TABLE performance_schema.log_status;
SHOW CREATE TABLE performance_schema.events_transactions_current;
SHOW CREATE TABLE performance_schema.events_statements_summary_by_digest;
USE performance_schema;
SHOW CREATE TABLE global_status;
SHOW CREATE TABLE nosuch;
SHOW CREATE TABLE information_schema.innodb_trx;
