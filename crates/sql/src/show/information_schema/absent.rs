//! What this server has none of: events, routines, triggers, views, full-text indexes,
//! geometry. Its tables have MySQL's columns and no rows.

use palisade_schema::virtual_table;

use super::{Definition, Tables};

pub(super) static TABLES: Tables = &[
    Definition::empty(&column_privileges::DECL),
    Definition::empty(&events::DECL),
    Definition::empty(&libraries::DECL),
    Definition::empty(&parameters::DECL),
    Definition::empty(&routines::DECL),
    Definition::empty(&routine_libraries::DECL),
    Definition::empty(&triggers::DECL),
    Definition::empty(&view_routine_usage::DECL),
];

virtual_table! {
    mod column_privileges = "information_schema"."COLUMN_PRIVILEGES" {
        GRANTEE: varchar(292) not null default "",
        TABLE_CATALOG: varchar(512) not null default "",
        TABLE_SCHEMA: varchar(64) not null default "",
        TABLE_NAME: varchar(64) not null default "",
        COLUMN_NAME: varchar(64) not null default "",
        PRIVILEGE_TYPE: varchar(64) not null default "",
        IS_GRANTABLE: varchar(3) not null default "",
    }
}

virtual_table! {
    mod events = "information_schema"."EVENTS" {
        EVENT_CATALOG: varchar(64) in utf8mb3_bin not null,
        EVENT_SCHEMA: varchar(64) in utf8mb3_bin not null,
        EVENT_NAME: varchar(64) not null,
        DEFINER: varchar(288) in utf8mb3_bin not null,
        TIME_ZONE: varchar(64) in utf8mb3_bin not null,
        EVENT_BODY: varchar(3) not null default "",
        EVENT_DEFINITION: longtext in utf8mb3_bin not null,
        EVENT_TYPE: varchar(9) not null default "",
        EXECUTE_AT: datetime,
        INTERVAL_VALUE: varchar(256),
        INTERVAL_FIELD: enum_of(super::INTERVALS) in utf8mb3_bin,
        SQL_MODE: set_of(super::SQL_MODES) in utf8mb3_bin not null,
        STARTS: datetime,
        ENDS: datetime,
        STATUS: varchar(21) in utf8mb3_bin not null default "",
        ON_COMPLETION: varchar(12) not null default "",
        CREATED: timestamp not null,
        LAST_ALTERED: timestamp not null,
        LAST_EXECUTED: datetime,
        EVENT_COMMENT: varchar(2048) in utf8mb3_bin not null,
        ORIGINATOR: int_unsigned not null,
        CHARACTER_SET_CLIENT: varchar(64) not null,
        COLLATION_CONNECTION: varchar(64) not null,
        DATABASE_COLLATION: varchar(64) not null,
    }
}

virtual_table! {
    mod libraries = "information_schema"."LIBRARIES" {
        LIBRARY_CATALOG: varchar(64) in utf8mb3_bin not null,
        LIBRARY_SCHEMA: varchar(64) in utf8mb3_bin not null,
        LIBRARY_NAME: varchar(64) not null,
        LIBRARY_DEFINITION: longtext in utf8mb3_bin,
        LANGUAGE: varchar(64) in utf8mb3_bin not null default "SQL",
        CREATED: timestamp not null,
        LAST_ALTERED: timestamp not null,
        SQL_MODE: set_of(super::SQL_MODES) in utf8mb3_bin not null,
        LIBRARY_COMMENT: text in utf8mb3_bin not null,
        CREATOR: varchar(288) in utf8mb3_bin not null,
    }
}

virtual_table! {
    mod parameters = "information_schema"."PARAMETERS" {
        SPECIFIC_CATALOG: varchar(64) in utf8mb3_bin not null,
        SPECIFIC_SCHEMA: varchar(64) in utf8mb3_bin not null,
        SPECIFIC_NAME: varchar(64) not null,
        ORDINAL_POSITION: bigint_unsigned not null default "0",
        PARAMETER_MODE: varchar(5) in utf8mb3_bin,
        PARAMETER_NAME: varchar(64),
        DATA_TYPE: longtext in utf8mb3_bin,
        CHARACTER_MAXIMUM_LENGTH: bigint,
        CHARACTER_OCTET_LENGTH: bigint,
        NUMERIC_PRECISION: int_unsigned,
        NUMERIC_SCALE: bigint,
        DATETIME_PRECISION: int_unsigned,
        CHARACTER_SET_NAME: varchar(64),
        COLLATION_NAME: varchar(64),
        DTD_IDENTIFIER: mediumtext in utf8mb3_bin not null,
        ROUTINE_TYPE: enum("FUNCTION", "PROCEDURE", "LIBRARY") in utf8mb3_bin not null,
    }
}

virtual_table! {
    mod routines = "information_schema"."ROUTINES" {
        SPECIFIC_NAME: varchar(64) not null,
        ROUTINE_CATALOG: varchar(64) in utf8mb3_bin not null,
        ROUTINE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        ROUTINE_NAME: varchar(64) not null,
        ROUTINE_TYPE: enum("FUNCTION", "PROCEDURE", "LIBRARY") in utf8mb3_bin not null,
        DATA_TYPE: longtext in utf8mb3_bin,
        CHARACTER_MAXIMUM_LENGTH: bigint,
        CHARACTER_OCTET_LENGTH: bigint,
        NUMERIC_PRECISION: int_unsigned,
        NUMERIC_SCALE: int_unsigned,
        DATETIME_PRECISION: int_unsigned,
        CHARACTER_SET_NAME: varchar(64),
        COLLATION_NAME: varchar(64),
        DTD_IDENTIFIER: longtext in utf8mb3_bin,
        ROUTINE_BODY: varchar(8) not null default "",
        ROUTINE_DEFINITION: longtext in utf8mb3_bin,
        EXTERNAL_NAME: varbinary(0),
        EXTERNAL_LANGUAGE: varchar(64) in utf8mb3_bin not null default "SQL",
        PARAMETER_STYLE: varchar(3) not null default "",
        IS_DETERMINISTIC: varchar(3) not null default "",
        SQL_DATA_ACCESS: enum("CONTAINS SQL", "NO SQL", "READS SQL DATA", "MODIFIES SQL DATA") in utf8mb3_bin not null,
        SQL_PATH: varbinary(0),
        SECURITY_TYPE: enum("DEFAULT", "INVOKER", "DEFINER") in utf8mb3_bin not null,
        CREATED: timestamp not null,
        LAST_ALTERED: timestamp not null,
        SQL_MODE: set_of(super::SQL_MODES) in utf8mb3_bin not null,
        ROUTINE_COMMENT: text in utf8mb3_bin not null,
        DEFINER: varchar(288) in utf8mb3_bin not null,
        CHARACTER_SET_CLIENT: varchar(64) not null,
        COLLATION_CONNECTION: varchar(64) not null,
        DATABASE_COLLATION: varchar(64) not null,
    }
}

virtual_table! {
    mod routine_libraries = "information_schema"."ROUTINE_LIBRARIES" {
        ROUTINE_CATALOG: varchar(64) in utf8mb3_bin not null,
        ROUTINE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        ROUTINE_NAME: varchar(64) not null,
        ROUTINE_TYPE: enum("FUNCTION", "PROCEDURE", "LIBRARY") in utf8mb3_bin not null,
        LIBRARY_CATALOG: varchar(64) in utf8mb4_0900_ai_ci,
        LIBRARY_SCHEMA: varchar(100) in utf8mb4_0900_ai_ci,
        LIBRARY_NAME: varchar(100) in utf8mb4_0900_ai_ci,
        LIBRARY_VERSION: varchar(100) in utf8mb4_0900_ai_ci,
    }
}

virtual_table! {
    mod triggers = "information_schema"."TRIGGERS" {
        TRIGGER_CATALOG: varchar(64) in utf8mb3_bin not null,
        TRIGGER_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TRIGGER_NAME: varchar(64) not null,
        EVENT_MANIPULATION: enum("INSERT", "UPDATE", "DELETE") in utf8mb3_bin not null,
        EVENT_OBJECT_CATALOG: varchar(64) in utf8mb3_bin not null,
        EVENT_OBJECT_SCHEMA: varchar(64) in utf8mb3_bin not null,
        EVENT_OBJECT_TABLE: varchar(64) in utf8mb3_bin not null,
        ACTION_ORDER: int_unsigned not null,
        ACTION_CONDITION: varbinary(0),
        ACTION_STATEMENT: longtext in utf8mb3_bin not null,
        ACTION_ORIENTATION: varchar(3) not null default "",
        ACTION_TIMING: enum("BEFORE", "AFTER") in utf8mb3_bin not null,
        ACTION_REFERENCE_OLD_TABLE: varbinary(0),
        ACTION_REFERENCE_NEW_TABLE: varbinary(0),
        ACTION_REFERENCE_OLD_ROW: varchar(3) not null default "",
        ACTION_REFERENCE_NEW_ROW: varchar(3) not null default "",
        CREATED: timestamp(2) not null,
        SQL_MODE: set_of(super::SQL_MODES) in utf8mb3_bin not null,
        DEFINER: varchar(288) in utf8mb3_bin not null,
        CHARACTER_SET_CLIENT: varchar(64) not null,
        COLLATION_CONNECTION: varchar(64) not null,
        DATABASE_COLLATION: varchar(64) not null,
    }
}

virtual_table! {
    mod view_routine_usage = "information_schema"."VIEW_ROUTINE_USAGE" {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null,
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null,
        TABLE_NAME: varchar(64) in utf8mb3_bin not null,
        SPECIFIC_CATALOG: varchar(64) in utf8mb3_bin not null,
        SPECIFIC_SCHEMA: varchar(64) in utf8mb3_bin not null,
        SPECIFIC_NAME: varchar(64) not null,
    }
}

/// The modes of `sql_mode`, as MySQL keeps them.
const SQL_MODES: [&str; 34] = [
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "NOT_USED",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "NOT_USED_9",
    "NOT_USED_10",
    "NOT_USED_11",
    "NOT_USED_12",
    "NOT_USED_13",
    "NOT_USED_14",
    "NOT_USED_15",
    "NOT_USED_16",
    "NOT_USED_17",
    "NOT_USED_18",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "NOT_USED_29",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
    "INTERPRET_UTF8_AS_UTF8MB4",
];

/// The units of intervals.
const INTERVALS: [&str; 20] = [
    "YEAR",
    "QUARTER",
    "MONTH",
    "DAY",
    "HOUR",
    "MINUTE",
    "WEEK",
    "SECOND",
    "MICROSECOND",
    "YEAR_MONTH",
    "DAY_HOUR",
    "DAY_MINUTE",
    "DAY_SECOND",
    "HOUR_MINUTE",
    "HOUR_SECOND",
    "MINUTE_SECOND",
    "DAY_MICROSECOND",
    "HOUR_MICROSECOND",
    "MINUTE_MICROSECOND",
    "SECOND_MICROSECOND",
];
