//! Tables of information_schema about the storage engine (`INNODB_...`), about attributes that storage
//! engines are given (`..._EXTENSIONS`), and about what this server has none of: roles, views, full-text
//! indexes, compressed pages, spatial reference systems, traces of the optimizer.
//!
//! What INNODB_CMP and INNODB_CMPMEM count is done to pages of ROW_FORMAT=COMPRESSED, which there are none
//! of.

use palisade_base::{sysvar, sysvar_catalogue};
use palisade_catalog::descriptor::{ForeignKey, GENERATED_CLUSTERED_INDEX};
use palisade_catalog::{IndexTree, Value};
use palisade_engine::Table;

use super::information_schema::{
    Definition, Rows, Source, catalog, each_table, none, number, shown_columns, shown_indexes, text,
};
use super::innodb_columns::{self, is_virtual};
use super::units;

pub(super) static TABLES: &[Definition] = &[
    Definition {
        name: "ADMINISTRABLE_ROLE_AUTHORIZATIONS",
        columns: "USER s97,HOST s256,GRANTEE s97,GRANTEE_HOST s256,ROLE_NAME s255,ROLE_HOST s256,IS_GRANTABLE s3,IS_DEFAULT s3,IS_MANDATORY s3",
        rows: none,
    },
    Definition {
        name: "APPLICABLE_ROLES",
        columns: "USER s97,HOST s256,GRANTEE s97,GRANTEE_HOST s256,ROLE_NAME s255,ROLE_HOST s256,IS_GRANTABLE s3,IS_DEFAULT s3,IS_MANDATORY s3",
        rows: none,
    },
    Definition {
        name: "COLUMNS_EXTENSIONS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME s64,ENGINE_ATTRIBUTE t,SECONDARY_ENGINE_ATTRIBUTE t",
        rows: column_extensions,
    },
    Definition {
        name: "ENABLED_ROLES",
        columns: "ROLE_NAME s255,ROLE_HOST s255,IS_DEFAULT s3,IS_MANDATORY s3",
        rows: none,
    },
    Definition {
        name: "FILES",
        columns: "FILE_ID i,FILE_NAME t,FILE_TYPE s256,TABLESPACE_NAME s268,TABLE_CATALOG s1,TABLE_SCHEMA s1,TABLE_NAME s1,LOGFILE_GROUP_NAME s256,LOGFILE_GROUP_NUMBER i,ENGINE s64,FULLTEXT_KEYS s1,DELETED_ROWS s1,UPDATE_COUNT s1,FREE_EXTENTS i,TOTAL_EXTENTS i,EXTENT_SIZE i,INITIAL_SIZE i,MAXIMUM_SIZE i,AUTOEXTEND_SIZE i,CREATION_TIME s1,LAST_UPDATE_TIME s1,LAST_ACCESS_TIME s1,RECOVER_TIME s1,TRANSACTION_COUNTER s1,VERSION i,ROW_FORMAT s256,TABLE_ROWS s1,AVG_ROW_LENGTH s1,DATA_LENGTH s1,MAX_DATA_LENGTH s1,INDEX_LENGTH s1,DATA_FREE i,CREATE_TIME s1,UPDATE_TIME s1,CHECK_TIME s1,CHECKSUM s1,STATUS s256,EXTRA s256",
        rows: files,
    },
    Definition {
        name: "INNODB_CMP",
        columns: "page_size j,compress_ops j,compress_ops_ok j,compress_time j,uncompress_ops j,uncompress_time j",
        rows: compressions,
    },
    Definition {
        name: "INNODB_CMPMEM",
        columns: "page_size j,buffer_pool_instance j,pages_used j,pages_free j,relocation_ops i,relocation_time j",
        rows: compressed_pages,
    },
    Definition {
        name: "INNODB_CMPMEM_RESET",
        columns: "page_size j,buffer_pool_instance j,pages_used j,pages_free j,relocation_ops i,relocation_time j",
        rows: compressed_pages,
    },
    Definition {
        name: "INNODB_CMP_PER_INDEX",
        columns: "database_name s64,table_name s64,index_name s64,compress_ops j,compress_ops_ok j,compress_time j,uncompress_ops j,uncompress_time j",
        rows: none,
    },
    Definition {
        name: "INNODB_CMP_PER_INDEX_RESET",
        columns: "database_name s64,table_name s64,index_name s64,compress_ops j,compress_ops_ok j,compress_time j,uncompress_ops j,uncompress_time j",
        rows: none,
    },
    Definition {
        name: "INNODB_CMP_RESET",
        columns: "page_size j,compress_ops j,compress_ops_ok j,compress_time j,uncompress_ops j,uncompress_time j",
        rows: compressions,
    },
    Definition {
        name: "INNODB_CACHED_INDEXES",
        columns: "SPACE_ID u,INDEX_ID n,N_CACHED_PAGES n",
        rows: cached_indexes,
    },
    Definition {
        name: "INNODB_COLUMNS",
        columns: "TABLE_ID n,NAME s193,POS n,MTYPE j,PRTYPE j,LEN j,HAS_DEFAULT j,DEFAULT_VALUE x",
        rows: innodb_columns::columns,
    },
    Definition { name: "INNODB_DATAFILES", columns: "SPACE s256,PATH s512", rows: data_files },
    Definition { name: "INNODB_FIELDS", columns: "INDEX_ID n,NAME s64,POS n", rows: fields },
    Definition {
        name: "INNODB_FOREIGN",
        columns: "ID s129,FOR_NAME s129,REF_NAME s129,N_COLS i,TYPE n",
        rows: foreign_keys,
    },
    Definition {
        name: "INNODB_FOREIGN_COLS",
        columns: "ID s129,FOR_COL_NAME s64,REF_COL_NAME s64,POS u",
        rows: foreign_key_columns,
    },
    Definition { name: "INNODB_FT_BEING_DELETED", columns: "DOC_ID n", rows: none },
    Definition { name: "INNODB_FT_CONFIG", columns: "KEY s193,VALUE s193", rows: none },
    Definition { name: "INNODB_FT_DEFAULT_STOPWORD", columns: "value s18", rows: stopwords },
    Definition { name: "INNODB_FT_DELETED", columns: "DOC_ID n", rows: none },
    Definition {
        name: "INNODB_FT_INDEX_CACHE",
        columns: "WORD s337,FIRST_DOC_ID n,LAST_DOC_ID n,DOC_COUNT n,DOC_ID n,POSITION n",
        rows: none,
    },
    Definition {
        name: "INNODB_FT_INDEX_TABLE",
        columns: "WORD s337,FIRST_DOC_ID n,LAST_DOC_ID n,DOC_COUNT n,DOC_ID n,POSITION n",
        rows: none,
    },
    Definition {
        name: "INNODB_INDEXES",
        columns: "INDEX_ID n,NAME s64,TABLE_ID n,TYPE j,N_FIELDS j,PAGE_NO j,SPACE j,MERGE_THRESHOLD j",
        rows: indexes,
    },
    Definition {
        name: "INNODB_SESSION_TEMP_TABLESPACES",
        columns: "ID u,SPACE u,PATH s4001,SIZE n,STATE s192,PURPOSE s192",
        rows: none,
    },
    Definition {
        name: "INNODB_TABLES",
        columns: "TABLE_ID n,NAME s655,FLAG j,N_COLS j,SPACE i,ROW_FORMAT s12,ZIP_PAGE_SIZE u,SPACE_TYPE s10,INSTANT_COLS j,TOTAL_ROW_VERSIONS j",
        rows: tables,
    },
    Definition {
        name: "INNODB_TABLESPACES",
        columns: "SPACE u,NAME s655,FLAG u,ROW_FORMAT s22,PAGE_SIZE u,ZIP_PAGE_SIZE u,SPACE_TYPE s10,FS_BLOCK_SIZE u,FILE_SIZE n,ALLOCATED_SIZE n,AUTOEXTEND_SIZE n,SERVER_VERSION s10,SPACE_VERSION u,ENCRYPTION s1,STATE s10",
        rows: tablespaces,
    },
    Definition {
        name: "INNODB_TABLESPACES_BRIEF",
        columns: "SPACE s256,NAME s268,PATH s512,FLAG s256,SPACE_TYPE s7",
        rows: tablespaces_in_brief,
    },
    Definition {
        name: "INNODB_TABLESTATS",
        columns: "TABLE_ID n,NAME s193,STATS_INITIALIZED s193,NUM_ROWS n,CLUST_INDEX_SIZE n,OTHER_INDEX_SIZE n,MODIFIED_COUNTER n,AUTOINC n,REF_COUNT j",
        rows: table_statistics,
    },
    Definition {
        name: "INNODB_TEMP_TABLE_INFO",
        columns: "TABLE_ID n,NAME s21,N_COLS u,SPACE u",
        rows: none,
    },
    Definition {
        name: "INNODB_VIRTUAL",
        columns: "TABLE_ID n,POS u,BASE_POS u",
        rows: innodb_columns::virtual_columns,
    },
    Definition {
        name: "JSON_DUALITY_VIEWS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,DEFINER s288,SECURITY_TYPE s7,JSON_COLUMN_NAME s64,ROOT_TABLE_CATALOG s64,ROOT_TABLE_SCHEMA s64,ROOT_TABLE_NAME s64,ALLOW_INSERT s4,ALLOW_UPDATE s4,ALLOW_DELETE s4,READ_ONLY s4,STATUS s7",
        rows: none,
    },
    Definition {
        name: "JSON_DUALITY_VIEW_COLUMNS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,REFERENCED_TABLE_CATALOG s64,REFERENCED_TABLE_SCHEMA s64,REFERENCED_TABLE_NAME s64,IS_ROOT_TABLE j,REFERENCED_TABLE_ID j,REFERENCED_COLUMN_NAME s64,JSON_KEY_NAME s64,ALLOW_INSERT j,ALLOW_UPDATE j,ALLOW_DELETE j,READ_ONLY j",
        rows: none,
    },
    Definition {
        name: "JSON_DUALITY_VIEW_LINKS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,PARENT_TABLE_CATALOG s64,PARENT_TABLE_SCHEMA s64,PARENT_TABLE_NAME s64,CHILD_TABLE_CATALOG s64,CHILD_TABLE_SCHEMA s64,CHILD_TABLE_NAME s64,PARENT_COLUMN_NAME s64,CHILD_COLUMN_NAME s64,JOIN_TYPE s64,JSON_KEY_NAME s64",
        rows: none,
    },
    Definition {
        name: "JSON_DUALITY_VIEW_TABLES",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,REFERENCED_TABLE_CATALOG s64,REFERENCED_TABLE_SCHEMA s64,REFERENCED_TABLE_NAME s64,WHERE_CLAUSE s64,ALLOW_INSERT j,ALLOW_UPDATE j,ALLOW_DELETE j,READ_ONLY j,IS_ROOT_TABLE j,REFERENCED_TABLE_ID j,REFERENCED_TABLE_PARENT_ID j,REFERENCED_TABLE_PARENT_RELATIONSHIP s64",
        rows: none,
    },
    Definition {
        name: "LIBRARIES",
        columns: "LIBRARY_CATALOG s64,LIBRARY_SCHEMA s64,LIBRARY_NAME s64,LIBRARY_DEFINITION t,LANGUAGE s64,CREATED d,LAST_ALTERED d,SQL_MODE t,LIBRARY_COMMENT t,CREATOR s288",
        rows: none,
    },
    Definition {
        name: "OPTIMIZER_TRACE",
        columns: "QUERY s65535,TRACE s65535,MISSING_BYTES_BEYOND_MAX_MEM_SIZE j,INSUFFICIENT_PRIVILEGES b",
        rows: none,
    },
    Definition {
        name: "ROLE_COLUMN_GRANTS",
        columns: "GRANTOR s97,GRANTOR_HOST s256,GRANTEE s32,GRANTEE_HOST s255,TABLE_CATALOG s3,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME s64,PRIVILEGE_TYPE t,IS_GRANTABLE s3",
        rows: none,
    },
    Definition {
        name: "ROLE_ROUTINE_GRANTS",
        columns: "GRANTOR s97,GRANTOR_HOST s256,GRANTEE s32,GRANTEE_HOST s255,SPECIFIC_CATALOG s3,SPECIFIC_SCHEMA s64,SPECIFIC_NAME s64,ROUTINE_CATALOG s3,ROUTINE_SCHEMA s64,ROUTINE_NAME s64,PRIVILEGE_TYPE t,IS_GRANTABLE s3",
        rows: none,
    },
    Definition {
        name: "ROLE_TABLE_GRANTS",
        columns: "GRANTOR s97,GRANTOR_HOST s256,GRANTEE s32,GRANTEE_HOST s255,TABLE_CATALOG s3,TABLE_SCHEMA s64,TABLE_NAME s64,PRIVILEGE_TYPE t,IS_GRANTABLE s3",
        rows: none,
    },
    Definition {
        name: "ROUTINE_LIBRARIES",
        columns: "ROUTINE_CATALOG s64,ROUTINE_SCHEMA s64,ROUTINE_NAME s64,ROUTINE_TYPE s9,LIBRARY_CATALOG s64,LIBRARY_SCHEMA s100,LIBRARY_NAME s100,LIBRARY_VERSION s100",
        rows: none,
    },
    Definition {
        name: "SCHEMATA_EXTENSIONS",
        columns: "CATALOG_NAME s64,SCHEMA_NAME s64,OPTIONS s256",
        rows: schema_extensions,
    },
    Definition {
        name: "ST_GEOMETRY_COLUMNS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,COLUMN_NAME s64,SRS_NAME s80,SRS_ID u,GEOMETRY_TYPE_NAME t",
        rows: none,
    },
    Definition {
        name: "ST_SPATIAL_REFERENCE_SYSTEMS",
        columns: "SRS_NAME s80,SRS_ID u,ORGANIZATION s256,ORGANIZATION_COORDSYS_ID u,DEFINITION s4096,DESCRIPTION s2048",
        rows: none,
    },
    Definition {
        name: "ST_UNITS_OF_MEASURE",
        columns: "UNIT_NAME s255,UNIT_TYPE s7,CONVERSION_FACTOR f,DESCRIPTION s255",
        rows: units::units,
    },
    Definition {
        name: "TABLESPACES_EXTENSIONS",
        columns: "TABLESPACE_NAME s268,ENGINE_ATTRIBUTE t",
        rows: tablespace_extensions,
    },
    Definition {
        name: "TABLES_EXTENSIONS",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,ENGINE_ATTRIBUTE t,SECONDARY_ENGINE_ATTRIBUTE t",
        rows: table_extensions,
    },
    Definition {
        name: "TABLE_CONSTRAINTS_EXTENSIONS",
        columns: "CONSTRAINT_CATALOG s64,CONSTRAINT_SCHEMA s64,CONSTRAINT_NAME s64,TABLE_NAME s64,ENGINE_ATTRIBUTE t,SECONDARY_ENGINE_ATTRIBUTE t",
        rows: constraint_extensions,
    },
    Definition {
        name: "VIEW_ROUTINE_USAGE",
        columns: "TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64,SPECIFIC_CATALOG s64,SPECIFIC_SCHEMA s64,SPECIFIC_NAME s64",
        rows: none,
    },
    Definition {
        name: "VIEW_TABLE_USAGE",
        columns: "VIEW_CATALOG s64,VIEW_SCHEMA s64,VIEW_NAME s64,TABLE_CATALOG s64,TABLE_SCHEMA s64,TABLE_NAME s64",
        rows: none,
    },
];

/// Sizes of pages that InnoDB may be compressed to, for which MySQL has a row each.
const PAGE_SIZES: [i64; 5] = [1024, 2048, 4096, 8192, 16384];

fn compressions(_: &Source<'_>) -> Rows {
    let row = |size: &i64| {
        let mut row = vec![Value::Int(*size)];
        row.resize(6, Value::Int(0));
        row
    };
    PAGE_SIZES.iter().map(row).collect()
}

fn compressed_pages(source: &Source<'_>) -> Rows {
    compressions(source)
}

/// `schema/table`, as InnoDB calls a table.
fn path(schema: &str, table: &str) -> Value {
    text(format!("{schema}/{table}"))
}

/// `innodb_version`.
fn engine_version() -> Value {
    match sysvar_catalogue::INNODB_VERSION.declaration().kind {
        sysvar::Kind::Text(Some(version)) => text(version),
        _ => Value::Null,
    }
}

/// What InnoDB says of a row format. It means nothing here but the limit of an index's length.
struct RowFormat {
    name: &'static str,
    flag: i64,
    of_space: &'static str,
    space_flag: u64,
}

fn row_format(table: &Table) -> RowFormat {
    let (of_space, space_flag) = ("Compact or Redundant", 16_384);
    match table.descriptor().def().option("ROW_FORMAT") {
        Some("COMPACT") => RowFormat { name: "Compact", flag: 1, of_space, space_flag },
        Some("REDUNDANT") => RowFormat { name: "Redundant", flag: 0, of_space, space_flag },
        // A table in a space of its own.
        _ => RowFormat { name: "Dynamic", flag: 33, of_space: "Dynamic", space_flag: 16_417 },
    }
}

/// Where the file of a table is.
fn file_path(table: &Table) -> Value {
    text(format!("./spaces/{}", palisade_engine::space_file_name(table.first_space_id())))
}

/// A row for each file: two for a table that is written out of place.
fn data_files(source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for (_, table) in each_table(source) {
        let space = table.first_space_id();
        rows.push(vec![text(space.0.to_string()), file_path(table)]);
        if table.page_sink() == palisade_engine::PageSinkKind::OutOfPlace {
            let map = format!("./spaces/{}", palisade_engine::map_file_name(space));
            rows.push(vec![text(space.0.to_string()), text(map)]);
        }
    }
    rows
}

fn tablespaces_in_brief(source: &Source<'_>) -> Rows {
    let row = |table: &Table| {
        let def = table.descriptor().def();
        vec![
            text(table.first_space_id().0.to_string()),
            path(&def.schema, &def.name),
            file_path(table),
            text(row_format(table).space_flag.to_string()),
            text("Single"),
        ]
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

fn tables(source: &Source<'_>) -> Rows {
    let row = |table: &Table| {
        let def = table.descriptor().def();
        vec![
            number(def.id),
            path(&def.schema, &def.name),
            Value::Int(row_format(table).flag),
            // InnoDB counts its own columns, too: row id, transaction id, undo pointer.
            Value::Int(shown_columns(table).filter(|(_, column)| !is_virtual(column)).count() as i64 + 3),
            Value::Int(i64::from(table.first_space_id().0)),
            text(row_format(table).name),
            number(0u64),
            text("Single"),
            Value::Int(0),
            Value::Int(0),
        ]
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

/// The words that InnoDB's full-text indexes leave out by default.
fn stopwords(_: &Source<'_>) -> Rows {
    const WORDS: &str = "a about an are as at be by com de en for from how i in is it la of on or that the this to was \
                         what when where who will with und the www";
    WORDS.split(' ').map(|word| vec![text(word)]).collect()
}

/// Every table is open, and its statistics are there, from the start on. They are made anew by themselves,
/// and how many changes there have been since is not told.
fn table_statistics(source: &Source<'_>) -> Rows {
    let row = |table: &Table| {
        let def = table.descriptor().def();
        let statistics = table.statistics();
        let pages = |bytes: u64| number(bytes / source.engine.page_size().bytes() as u64);
        let counter = def.auto_increment_column().map_or(0, |_| table.auto_increment());
        vec![
            number(def.id),
            path(&def.schema, &def.name),
            text("Initialized"),
            number(statistics.rows),
            pages(statistics.data_bytes),
            pages(statistics.index_bytes),
            number(0u64),
            number(counter),
            Value::Int(1),
        ]
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

fn tablespace_extensions(source: &Source<'_>) -> Rows {
    let row = |table: &Table| {
        let def = table.descriptor().def();
        vec![path(&def.schema, &def.name), Value::Null]
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

/// A row for each index, unique or not, as in MySQL.
fn constraint_extensions(source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for (_, table) in each_table(source) {
        for (_, index) in shown_indexes(table) {
            let names = [&table.schema, &index.name, &table.name].map(text);
            let mut row = vec![catalog()];
            row.extend(names);
            row.extend([Value::Null, Value::Null]);
            rows.push(row);
        }
    }
    rows
}

fn tablespaces(source: &Source<'_>) -> Rows {
    let row = |table: &Table| {
        let def = table.descriptor().def();
        let (file, allocated) = table.file_bytes();
        vec![
            number(table.first_space_id().0),
            path(&def.schema, &def.name),
            number(row_format(table).space_flag),
            text(row_format(table).of_space),
            number(source.engine.page_size().bytes() as u64),
            number(0u64),
            text("Single"),
            number(4096u64),
            number(file),
            number(allocated),
            number(0u64),
            engine_version(),
            number(1u64),
            text("N"),
            text("normal"),
        ]
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

/// A file for each table. It grows by pages; an extent is what InnoDB would call one.
fn files(source: &Source<'_>) -> Rows {
    const EXTENT_BYTES: u64 = 1 << 20;
    let row = |table: &Table| {
        let def = table.descriptor().def();
        let statistics = table.statistics();
        let bytes = statistics.data_bytes + statistics.index_bytes;
        let mut row = vec![
            number(table.first_space_id().0),
            file_path(table),
            text("TABLESPACE"),
            path(&def.schema, &def.name),
            text(""),
        ];
        row.extend(std::iter::repeat_n(Value::Null, 4));
        row.push(text("InnoDB"));
        row.extend(std::iter::repeat_n(Value::Null, 3));
        row.extend([0, bytes / EXTENT_BYTES, EXTENT_BYTES, 0].map(number));
        row.extend([Value::Null, number(source.engine.page_size().bytes() as u64)]);
        row.extend(std::iter::repeat_n(Value::Null, 12));
        row.push(number(0u64));
        row.extend(std::iter::repeat_n(Value::Null, 4));
        row.extend([text("NORMAL"), Value::Null]);
        row
    };
    each_table(source).map(|(_, table)| row(table)).collect()
}

fn indexes(source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for (place, index) in def.indexes.iter().enumerate() {
            // InnoDB's bits: 1 clustered, 2 unique.
            let clustered = i64::from(place == 0);
            let unique = if index.unique && index.name != GENERATED_CLUSTERED_INDEX { 2 } else { 0 };
            rows.extend(index.trees.iter().zip(def.spaces()).map(|(tree, space)| {
                vec![
                    number(tree.id),
                    text(&index.name),
                    number(def.id),
                    Value::Int(clustered | unique),
                    Value::Int(index.parts.len() as i64),
                    Value::Int(i64::from(tree.root.0)),
                    Value::Int(i64::from(space.0)),
                    Value::Int(50),
                ]
            }));
        }
    }
    rows
}

/// The indexes that have pages in memory.
fn cached_indexes(source: &Source<'_>) -> Rows {
    let cached = source.engine.cached_pages();
    let mut rows = Rows::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for index in &def.indexes {
            for (tree, space) in index.trees.iter().zip(def.spaces()) {
                let pages = cached.get(&(space, tree.id)).copied();
                rows.extend(pages.map(|pages| vec![number(space.0), number(tree.id), number(pages)]));
            }
        }
    }
    rows
}

/// The columns of the indexes, by position.
fn fields(source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for (_, table) in each_table(source) {
        let def = table.descriptor().def();
        for index in &def.indexes {
            for (position, part) in index.parts.iter().enumerate() {
                let name = &def.key_column(part.column).name;
                let row = |tree: &IndexTree| vec![number(tree.id), text(name), number(position as u64)];
                rows.extend(index.trees.iter().map(row));
            }
        }
    }
    rows
}

/// Every foreign key with its table.
fn each_key<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a Table, &'a ForeignKey)> {
    each_table(source)
        .flat_map(|(_, table)| table.descriptor().def().foreign_keys.iter().map(move |key| (&**table, key)))
}

fn foreign_keys(source: &Source<'_>) -> Rows {
    let row = |(table, key): (&Table, &ForeignKey)| {
        let def = table.descriptor().def();
        let bit = |action: &str, [cascade, set_null, none]: [u64; 3]| match action {
            "CASCADE" => cascade,
            "SET NULL" => set_null,
            "" => none,
            _ => 0,
        };
        let kind = bit(&key.on_delete, [1, 2, 16]) | bit(&key.on_update, [4, 8, 32]);
        vec![
            path(&def.schema, &key.name),
            path(&def.schema, &def.name),
            path(&key.referenced_schema, &key.referenced_table),
            Value::Int(key.columns.len() as i64),
            number(kind),
        ]
    };
    each_key(source).map(row).collect()
}

fn foreign_key_columns(source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for (table, key) in each_key(source) {
        let def = table.descriptor().def();
        for (position, (column, referenced)) in key.columns.iter().zip(&key.referenced_columns).enumerate() {
            rows.push(vec![
                path(&def.schema, &key.name),
                text(&def.key_column(*column).name),
                text(referenced),
                number(position as u64 + 1),
            ]);
        }
    }
    rows
}

fn schema_extensions(source: &Source<'_>) -> Rows {
    let row = |name: &str| vec![catalog(), text(name), text("")];
    source.dictionary.schemas().map(|schema| row(&schema.name)).collect()
}

fn table_extensions(source: &Source<'_>) -> Rows {
    let row =
        |table: &Table| vec![catalog(), text(&table.schema), text(&table.name), Value::Null, Value::Null];
    each_table(source).map(|(_, table)| row(table)).collect()
}

fn column_extensions(source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for (_, table) in each_table(source) {
        for (_, column) in shown_columns(table) {
            let names = [&table.schema, &table.name, &column.name].map(text);
            let mut row = vec![catalog()];
            row.extend(names);
            row.extend([Value::Null, Value::Null]);
            rows.push(row);
        }
    }
    rows
}
