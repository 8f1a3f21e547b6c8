//! What the dictionary says.

use palisade_schema::{View, view};

pub(super) static VIEWS: &[&View] = &[
    &x_schema_flattened_keys::VIEW,
    &schema_redundant_indexes::VIEW,
    &schema_auto_increment_columns::VIEW,
    &schema_object_overview::VIEW,
];

view! {
    /// The columns of each index, in one text.
    mod x_schema_flattened_keys = "sys"."x$schema_flattened_keys" alone {
        table_schema: varchar(64) in utf8mb3_bin not null => "i.TABLE_SCHEMA",
        table_name: varchar(64) in utf8mb3_bin not null => "i.TABLE_NAME",
        index_name: varchar(64) in utf8mb3_tolower_ci => "i.INDEX_NAME",
        non_unique: int => "MAX(i.NON_UNIQUE)",
        subpart_exists: bigint => "MAX(IF(i.SUB_PART IS NULL, 0, 1))",
        index_columns: text in utf8mb3_tolower_ci => "GROUP_CONCAT(i.COLUMN_NAME ORDER BY i.SEQ_IN_INDEX SEPARATOR ',')",
    } from "information_schema.STATISTICS i WHERE i.INDEX_TYPE = _utf8mb4'BTREE' AND i.TABLE_SCHEMA NOT IN \
        (_utf8mb4'mysql', _utf8mb4'sys', _utf8mb4'INFORMATION_SCHEMA', _utf8mb4'PERFORMANCE_SCHEMA') GROUP \
        BY i.TABLE_SCHEMA, i.TABLE_NAME, i.INDEX_NAME"
}

view! {
    /// Indexes whose columns begin another index of their table.
    mod schema_redundant_indexes = "sys"."schema_redundant_indexes" alone {
        table_schema: varchar(64) in utf8mb3_bin not null => "less.table_schema",
        table_name: varchar(64) in utf8mb3_bin not null => "less.table_name",
        redundant_index_name: varchar(64) in utf8mb3_tolower_ci => "less.index_name",
        redundant_index_columns: text in utf8mb3_tolower_ci => "less.index_columns",
        redundant_index_non_unique: int => "less.non_unique",
        dominant_index_name: varchar(64) in utf8mb3_tolower_ci => "more.index_name",
        dominant_index_columns: text in utf8mb3_tolower_ci => "more.index_columns",
        dominant_index_non_unique: int => "more.non_unique",
        subpart_exists: int not null default "0" => "IF(less.subpart_exists OR more.subpart_exists, 1, 0)",
        sql_drop_index: varchar(223) in utf8mb3_tolower_ci => "CONCAT(_utf8mb4'ALTER TABLE ', sys.quote_identifier(less.table_schema), _utf8mb4'.', sys.quote_identifier(less.table_name), _utf8mb4' DROP INDEX ', sys.quote_identifier(less.index_name))",
    } from "sys.x$schema_flattened_keys less JOIN sys.x$schema_flattened_keys more ON more.table_schema = \
        less.table_schema AND more.table_name = less.table_name WHERE more.index_name <> less.index_name AND \
        ((more.index_columns = less.index_columns AND (less.non_unique > more.non_unique OR (less.non_unique \
        = more.non_unique AND IF(less.index_name = _utf8mb4'PRIMARY', _utf8mb4'', less.index_name) > \
        IF(more.index_name = _utf8mb4'PRIMARY', _utf8mb4'', more.index_name)))) OR \
        (LOCATE(CONCAT(less.index_columns, _utf8mb4','), more.index_columns) = 1 AND less.non_unique = 1) OR \
        (LOCATE(CONCAT(more.index_columns, _utf8mb4','), less.index_columns) = 1 AND more.non_unique = 0))"
}

view! {
    /// How much of their ranges AUTO_INCREMENT columns have used.
    mod schema_auto_increment_columns = "sys"."schema_auto_increment_columns" alone {
        table_schema: varchar(64) in utf8mb3_bin not null => "c.TABLE_SCHEMA",
        table_name: varchar(64) in utf8mb3_bin not null => "c.TABLE_NAME",
        column_name: varchar(64) in utf8mb3_tolower_ci => "c.COLUMN_NAME",
        data_type: longtext in utf8mb3_bin => "c.DATA_TYPE",
        column_type: mediumtext in utf8mb3_bin not null => "c.COLUMN_TYPE",
        is_signed: int not null default "0" => "LOCATE(_utf8mb4'unsigned', c.COLUMN_TYPE) = 0",
        is_unsigned: int not null default "0" => "LOCATE(_utf8mb4'unsigned', c.COLUMN_TYPE) > 0",
        max_value: bigint_unsigned => "(CASE c.DATA_TYPE WHEN _utf8mb4'tinyint' THEN 255 WHEN _utf8mb4'smallint' THEN 65535 WHEN _utf8mb4'mediumint' THEN 16777215 WHEN _utf8mb4'int' THEN 4294967295 WHEN _utf8mb4'bigint' THEN 18446744073709551615 END) >> IF(LOCATE(_utf8mb4'unsigned', c.COLUMN_TYPE) > 0, 0, 1)",
        auto_increment: bigint_unsigned => "t.AUTO_INCREMENT",
        auto_increment_ratio: decimal_unsigned(25, 4) => "t.AUTO_INCREMENT / ((CASE c.DATA_TYPE WHEN _utf8mb4'tinyint' THEN 255 WHEN _utf8mb4'smallint' THEN 65535 WHEN _utf8mb4'mediumint' THEN 16777215 WHEN _utf8mb4'int' THEN 4294967295 WHEN _utf8mb4'bigint' THEN 18446744073709551615 END) >> IF(LOCATE(_utf8mb4'unsigned', c.COLUMN_TYPE) > 0, 0, 1))",
    } from "information_schema.COLUMNS c JOIN information_schema.TABLES t ON t.TABLE_SCHEMA = c.TABLE_SCHEMA AND \
        t.TABLE_NAME = c.TABLE_NAME WHERE c.TABLE_SCHEMA NOT IN (_utf8mb4'mysql', _utf8mb4'sys', \
        _utf8mb4'INFORMATION_SCHEMA', _utf8mb4'performance_schema') AND t.TABLE_TYPE = _utf8mb4'BASE TABLE' \
        AND c.EXTRA = _utf8mb4'auto_increment' ORDER BY t.AUTO_INCREMENT / ((CASE c.DATA_TYPE WHEN \
        _utf8mb4'tinyint' THEN 255 WHEN _utf8mb4'smallint' THEN 65535 WHEN _utf8mb4'mediumint' THEN 16777215 \
        WHEN _utf8mb4'int' THEN 4294967295 WHEN _utf8mb4'bigint' THEN 18446744073709551615 END) >> \
        IF(LOCATE(_utf8mb4'unsigned', c.COLUMN_TYPE) > 0, 0, 1)) DESC"
}

view! {
    /// How many objects of each kind a schema has.
    mod schema_object_overview = "sys"."schema_object_overview" alone {
        db: varchar(64) in utf8mb3_bin not null default "" => "o.db",
        object_type: varchar(19) in utf8mb3_bin => "o.object_type",
        count: bigint not null default "0" => "o.number",
    } from "(SELECT ROUTINE_SCHEMA AS db, ROUTINE_TYPE AS object_type, COUNT(*) AS number FROM \
        information_schema.ROUTINES GROUP BY ROUTINE_SCHEMA, ROUTINE_TYPE UNION SELECT TABLE_SCHEMA, \
        TABLE_TYPE, COUNT(*) FROM information_schema.TABLES GROUP BY TABLE_SCHEMA, TABLE_TYPE UNION SELECT \
        TABLE_SCHEMA, CONCAT(_utf8mb4'INDEX (', INDEX_TYPE, _utf8mb4')'), COUNT(*) FROM \
        information_schema.STATISTICS GROUP BY TABLE_SCHEMA, INDEX_TYPE UNION SELECT TRIGGER_SCHEMA, \
        _utf8mb4'TRIGGER', COUNT(*) FROM information_schema.TRIGGERS GROUP BY TRIGGER_SCHEMA UNION SELECT \
        EVENT_SCHEMA, _utf8mb4'EVENT', COUNT(*) FROM information_schema.EVENTS GROUP BY EVENT_SCHEMA) o \
        ORDER BY o.db, o.object_type"
}
