use std::collections::BTreeSet;

use crate::ast::{ShowWhat, Statement};
use crate::{ParseOptions, parse};

/// Names, and texts that have them.
const NAMED: &[(&str, &str)] = &[
    ("empty query", "/* nothing */"),
    ("SELECT", "SELECT 1"),
    ("SELECT", "(SELECT 1) UNION VALUES ROW(1)"),
    ("SELECT", "WITH c AS (SELECT 1) SELECT * FROM c"),
    ("SELECT", "TABLE t"),
    ("INSERT", "INSERT IGNORE INTO t VALUES (1)"),
    ("REPLACE", "REPLACE INTO t VALUES (1)"),
    ("UPDATE", "UPDATE t SET a = 1"),
    ("DELETE", "DELETE FROM t"),
    ("LOAD DATA", "LOAD DATA LOCAL INFILE 'f' INTO TABLE t"),
    ("LOAD XML", "LOAD XML INFILE 'f' INTO TABLE t"),
    ("DO", "DO 1"),
    ("CALL", "CALL p(1)"),
    ("HANDLER", "HANDLER t OPEN"),
    ("CREATE TABLE", "CREATE TEMPORARY TABLE IF NOT EXISTS t (a INT)"),
    ("ALTER TABLE", "ALTER TABLE t ADD b INT"),
    ("DROP TABLE", "DROP TABLE IF EXISTS t"),
    ("RENAME TABLE", "RENAME TABLE t TO u"),
    ("TRUNCATE TABLE", "TRUNCATE t"),
    ("CREATE INDEX", "CREATE UNIQUE INDEX i ON t (a)"),
    ("DROP INDEX", "DROP INDEX i ON t"),
    ("CREATE DATABASE", "CREATE SCHEMA d"),
    ("ALTER DATABASE", "ALTER DATABASE d READ ONLY = 0"),
    ("DROP DATABASE", "DROP DATABASE d"),
    ("CREATE VIEW", "CREATE OR REPLACE VIEW v AS SELECT 1"),
    ("ALTER VIEW", "ALTER VIEW v AS SELECT 1"),
    ("DROP VIEW", "DROP VIEW v"),
    ("CREATE TRIGGER", "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1"),
    ("CREATE PROCEDURE", "CREATE PROCEDURE p() SELECT 1"),
    ("CREATE FUNCTION", "CREATE FUNCTION f() RETURNS INT RETURN 1"),
    ("ALTER PROCEDURE", "ALTER PROCEDURE p COMMENT 'c'"),
    ("ALTER FUNCTION", "ALTER FUNCTION f COMMENT 'c'"),
    ("CREATE EVENT", "CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO SELECT 1"),
    ("ALTER EVENT", "ALTER EVENT e DISABLE"),
    ("DROP PROCEDURE", "DROP PROCEDURE p"),
    ("DROP FUNCTION", "DROP FUNCTION IF EXISTS f"),
    ("DROP TRIGGER", "DROP TRIGGER g"),
    ("DROP EVENT", "DROP EVENT e"),
    ("CREATE TABLESPACE", "CREATE TABLESPACE s ADD DATAFILE 'f'"),
    ("ALTER TABLESPACE", "ALTER TABLESPACE s RENAME TO r"),
    ("DROP TABLESPACE", "DROP TABLESPACE s"),
    ("CREATE UNDO TABLESPACE", "CREATE UNDO TABLESPACE s ADD DATAFILE 'f'"),
    ("ALTER UNDO TABLESPACE", "ALTER UNDO TABLESPACE s SET INACTIVE"),
    ("DROP UNDO TABLESPACE", "DROP UNDO TABLESPACE s"),
    ("CREATE LOGFILE GROUP", "CREATE LOGFILE GROUP l ADD UNDOFILE 'f'"),
    ("ALTER LOGFILE GROUP", "ALTER LOGFILE GROUP l ADD UNDOFILE 'f'"),
    ("DROP LOGFILE GROUP", "DROP LOGFILE GROUP l ENGINE = ndb"),
    ("CREATE FUNCTION ... SONAME", "CREATE FUNCTION f RETURNS INTEGER SONAME 'l'"),
    ("CREATE SERVER", "CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'h')"),
    ("ALTER SERVER", "ALTER SERVER s OPTIONS (HOST 'h')"),
    ("DROP SERVER", "DROP SERVER s"),
    ("CREATE USER", "CREATE USER u"),
    ("ALTER USER", "ALTER USER u ACCOUNT LOCK"),
    ("DROP USER", "DROP USER u"),
    ("RENAME USER", "RENAME USER u TO v"),
    ("CREATE ROLE", "CREATE ROLE r"),
    ("DROP ROLE", "DROP ROLE r"),
    ("GRANT", "GRANT SELECT ON *.* TO u"),
    ("REVOKE", "REVOKE SELECT ON *.* FROM u"),
    ("SET ROLE", "SET ROLE ALL"),
    ("SET DEFAULT ROLE", "SET DEFAULT ROLE r TO u"),
    ("SET PASSWORD", "SET PASSWORD = 'p'"),
    ("START TRANSACTION", "BEGIN"),
    ("COMMIT", "COMMIT AND CHAIN"),
    ("ROLLBACK", "ROLLBACK WORK"),
    ("SAVEPOINT", "SAVEPOINT s"),
    ("ROLLBACK TO SAVEPOINT", "ROLLBACK TO s"),
    ("RELEASE SAVEPOINT", "RELEASE SAVEPOINT s"),
    ("SET TRANSACTION", "SET SESSION TRANSACTION READ ONLY"),
    ("XA START", "XA START 'x'"),
    ("XA END", "XA END 'x'"),
    ("XA PREPARE", "XA PREPARE 'x'"),
    ("XA COMMIT", "XA COMMIT 'x' ONE PHASE"),
    ("XA ROLLBACK", "XA ROLLBACK 'x'"),
    ("XA RECOVER", "XA RECOVER"),
    ("LOCK TABLES", "LOCK TABLES t READ"),
    ("UNLOCK TABLES", "UNLOCK TABLES"),
    ("LOCK INSTANCE FOR BACKUP", "LOCK INSTANCE FOR BACKUP"),
    ("UNLOCK INSTANCE", "UNLOCK INSTANCE"),
    ("SET", "SET @a = 1, NAMES utf8mb4"),
    ("USE", "USE d"),
    ("DESCRIBE", "DESC t"),
    ("EXPLAIN", "EXPLAIN FORMAT = TREE SELECT 1"),
    ("HELP", "HELP 'select'"),
    ("PREPARE", "PREPARE s FROM 'SELECT 1'"),
    ("EXECUTE", "EXECUTE s USING @a"),
    ("DEALLOCATE PREPARE", "DROP PREPARE s"),
    ("GET DIAGNOSTICS", "GET CURRENT DIAGNOSTICS @n = NUMBER"),
    ("SIGNAL", "SIGNAL SQLSTATE '45000'"),
    ("RESIGNAL", "RESIGNAL"),
    ("ANALYZE TABLE", "ANALYZE LOCAL TABLE t"),
    ("CHECK TABLE", "CHECK TABLE t QUICK"),
    ("CHECKSUM TABLE", "CHECKSUM TABLE t"),
    ("OPTIMIZE TABLE", "OPTIMIZE TABLE t"),
    ("REPAIR TABLE", "REPAIR TABLE t"),
    ("KILL", "KILL QUERY 5"),
    ("FLUSH", "FLUSH LOCAL TABLES t WITH READ LOCK"),
    ("RESET BINARY LOGS AND GTIDS", "RESET BINARY LOGS AND GTIDS"),
    ("RESET REPLICA", "RESET REPLICA ALL"),
    ("RESET PERSIST", "RESET PERSIST IF EXISTS v"),
    ("SHUTDOWN", "SHUTDOWN"),
    ("RESTART", "RESTART"),
    ("INSTALL PLUGIN", "INSTALL PLUGIN p SONAME 'l'"),
    ("INSTALL COMPONENT", "INSTALL COMPONENT 'c'"),
    ("UNINSTALL PLUGIN", "UNINSTALL PLUGIN p"),
    ("UNINSTALL COMPONENT", "UNINSTALL COMPONENT 'c'"),
    ("CACHE INDEX", "CACHE INDEX t IN k"),
    ("LOAD INDEX INTO CACHE", "LOAD INDEX INTO CACHE t"),
    ("PURGE BINARY LOGS", "PURGE BINARY LOGS TO 'l'"),
    ("BINLOG", "BINLOG 'e'"),
    ("CHANGE REPLICATION SOURCE TO", "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'h'"),
    ("CHANGE REPLICATION FILTER", "CHANGE REPLICATION FILTER REPLICATE_DO_DB = (d)"),
    ("START REPLICA", "START REPLICA"),
    ("STOP REPLICA", "STOP REPLICA SQL_THREAD"),
    ("START GROUP_REPLICATION", "START GROUP_REPLICATION"),
    ("STOP GROUP_REPLICATION", "STOP GROUP_REPLICATION"),
    ("CLONE", "CLONE LOCAL DATA DIRECTORY = '/d'"),
    ("ALTER INSTANCE", "ALTER INSTANCE RELOAD TLS"),
    ("CREATE RESOURCE GROUP", "CREATE RESOURCE GROUP g TYPE = USER"),
    ("ALTER RESOURCE GROUP", "ALTER RESOURCE GROUP g ENABLE"),
    ("DROP RESOURCE GROUP", "DROP RESOURCE GROUP g FORCE"),
    ("SET RESOURCE GROUP", "SET RESOURCE GROUP g FOR 1"),
    ("CREATE BINDING", "CREATE GLOBAL BINDING FOR SELECT 1 USING SELECT 2"),
    ("DROP BINDING", "DROP BINDING FOR DELETE FROM t WHERE a = 1"),
    ("IMPORT TABLE", "IMPORT TABLE FROM 'f'"),
    ("SHOW DATABASES", "SHOW SCHEMAS"),
    ("SHOW TABLES", "SHOW FULL TABLES FROM d"),
    ("SHOW TABLE STATUS", "SHOW TABLE STATUS"),
    ("SHOW OPEN TABLES", "SHOW OPEN TABLES"),
    ("SHOW COLUMNS", "SHOW FULL FIELDS FROM t"),
    ("SHOW INDEX", "SHOW KEYS FROM t"),
    ("SHOW TRIGGERS", "SHOW TRIGGERS"),
    ("SHOW EVENTS", "SHOW EVENTS"),
    ("SHOW CREATE TABLE", "SHOW CREATE TABLE t"),
    ("SHOW CREATE VIEW", "SHOW CREATE VIEW v"),
    ("SHOW CREATE DATABASE", "SHOW CREATE DATABASE IF NOT EXISTS d"),
    ("SHOW CREATE PROCEDURE", "SHOW CREATE PROCEDURE p"),
    ("SHOW CREATE FUNCTION", "SHOW CREATE FUNCTION f"),
    ("SHOW CREATE TRIGGER", "SHOW CREATE TRIGGER g"),
    ("SHOW CREATE EVENT", "SHOW CREATE EVENT e"),
    ("SHOW CREATE USER", "SHOW CREATE USER u"),
    ("SHOW VARIABLES", "SHOW GLOBAL VARIABLES LIKE 'a%'"),
    ("SHOW STATUS", "SHOW SESSION STATUS"),
    ("SHOW WARNINGS", "SHOW WARNINGS LIMIT 1"),
    ("SHOW ERRORS", "SHOW ERRORS"),
    ("SHOW COUNT(*) WARNINGS", "SHOW COUNT(*) WARNINGS"),
    ("SHOW COUNT(*) ERRORS", "SHOW COUNT(*) ERRORS"),
    ("SHOW PROCESSLIST", "SHOW FULL PROCESSLIST"),
    ("SHOW ENGINES", "SHOW STORAGE ENGINES"),
    ("SHOW ENGINE", "SHOW ENGINE INNODB STATUS"),
    ("SHOW PLUGINS", "SHOW PLUGINS"),
    ("SHOW PRIVILEGES", "SHOW PRIVILEGES"),
    ("SHOW GRANTS", "SHOW GRANTS FOR u"),
    ("SHOW CHARACTER SET", "SHOW CHARSET"),
    ("SHOW COLLATION", "SHOW COLLATION"),
    ("SHOW PROCEDURE STATUS", "SHOW PROCEDURE STATUS"),
    ("SHOW FUNCTION STATUS", "SHOW FUNCTION STATUS"),
    ("SHOW PROCEDURE CODE", "SHOW PROCEDURE CODE p"),
    ("SHOW FUNCTION CODE", "SHOW FUNCTION CODE f"),
    ("SHOW BINARY LOGS", "SHOW BINARY LOGS"),
    ("SHOW BINARY LOG STATUS", "SHOW BINARY LOG STATUS"),
    ("SHOW BINLOG EVENTS", "SHOW BINLOG EVENTS"),
    ("SHOW RELAYLOG EVENTS", "SHOW RELAYLOG EVENTS"),
    ("SHOW REPLICAS", "SHOW REPLICAS"),
    ("SHOW REPLICA STATUS", "SHOW REPLICA STATUS"),
    ("SHOW PROFILES", "SHOW PROFILES"),
    ("SHOW PROFILE", "SHOW PROFILE CPU FOR QUERY 1"),
    ("SHOW PARSE_TREE", "SHOW PARSE_TREE SELECT 1"),
];

/// A function that says which variant a value is, and the list of all of them. One that is missing does not
/// compile.
macro_rules! variants {
    ($function:ident, $all:ident, $kind:ident: $($variant:ident),*) => {
        fn $function(value: &$kind) -> &'static str {
            match value {
                $($kind::$variant { .. } => stringify!($variant)),*
            }
        }

        const $all: &[&str] = &[$(stringify!($variant)),*];
    };
}

variants!(
    statement_variant, STATEMENTS, Statement:
        Comment, Query, Insert, Update, Delete, LoadData, Do, Call, Handler, CreateTable, AlterTable,
        DropTable, RenameTable, TruncateTable, CreateIndex, DropIndex, CreateDatabase, AlterDatabase,
        DropDatabase, CreateView, DropView, CreateTrigger, CreateRoutine, AlterRoutine, CreateEvent,
        AlterEvent, DropStored, Tablespace, CreateLoadableFunction, Server, CreateUser, AlterUser,
        DropUser, RenameUser, CreateRole, DropRole, Grant, Revoke, SetRole, SetDefaultRole, SetPassword,
        StartTransaction, Commit, Rollback, Savepoint, RollbackToSavepoint, ReleaseSavepoint,
        SetTransaction, Xa, LockTables, UnlockTables, LockInstance, UnlockInstance, Set, Use, Show,
        Describe, Explain, Help, Prepare, Execute, Deallocate, GetDiagnostics, Signal, TableMaintenance,
        Kill, Flush, Reset, Shutdown, Restart, Install, Uninstall, CacheIndex, LoadIndex, PurgeLogs,
        Binlog, Replication, Clone, AlterInstance, ResourceGroup, Binding,
        ImportTable
);

variants!(
    show_variant, SHOWS, ShowWhat:
        Databases, Tables, TableStatus, OpenTables, Columns, Index, Triggers, Events, CreateTable,
        CreateView, CreateDatabase, CreateProcedure, CreateFunction, CreateTrigger, CreateEvent,
        CreateUser, Variables, Status, Warnings, Errors, CountWarnings, CountErrors, ProcessList, Engines,
        Engine, Plugins, Privileges, Grants, CharacterSet, Collation, ProcedureStatus, FunctionStatus,
        ProcedureCode, FunctionCode, BinaryLogs, BinaryLogStatus, BinlogEvents, Replicas, ReplicaStatus,
        Profiles, Profile, ParseTree
);

#[test]
fn every_variant_of_statement_and_show_has_its_name() {
    let (mut statements, mut shows) = (BTreeSet::new(), BTreeSet::new());
    for (name, text) in NAMED {
        let statement =
            parse(text.as_bytes(), ParseOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(statement.name(), *name, "{text}");
        statements.insert(statement_variant(&statement));
        if let Statement::Show(show) = &statement {
            shows.insert(show_variant(&show.what));
        }
    }
    assert_eq!(statements, STATEMENTS.iter().copied().collect());
    assert_eq!(shows, SHOWS.iter().copied().collect());
}

#[test]
fn no_two_kinds_of_statement_share_a_name() {
    let mut kinds = BTreeSet::new();
    for (name, text) in NAMED {
        let statement = parse(text.as_bytes(), ParseOptions::default()).unwrap();
        kinds.insert((*name, statement_variant(&statement)));
    }
    let names: BTreeSet<&str> = kinds.iter().map(|(name, _)| *name).collect();
    assert_eq!(names.len(), kinds.len(), "{kinds:?}");
}
