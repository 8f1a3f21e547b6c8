//! What the server knows by itself: character sets, collations, keywords, engines, plugins.

use palisade_catalog::{Charset, Collation, Value};
use palisade_schema::virtual_table;

use super::{Definition, Tables, number, of_static, optional_yes_no, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&character_sets::DECL, |_, wanted| of_static(Charset::ALL, character_sets::row, wanted)),
    Definition::new(&collations::DECL, |_, wanted| of_static(by_character_set(), collations::row, wanted)),
    Definition::new(&applicability::DECL, |_, wanted| {
        of_static(by_character_set(), applicability::row, wanted)
    }),
    Definition::new(&engines::DECL, |_, wanted| of_static(ENGINES, engines::row, wanted)),
    Definition::new(&keywords::DECL, |_, wanted| {
        of_static(palisade_parser::lexer::Keyword::listed(), keywords::row, wanted)
    }),
    Definition::new(&plugins::DECL, |_, wanted| of_static(PLUGINS, plugins::row, wanted)),
];

virtual_table! {
    mod character_sets = "information_schema"."CHARACTER_SETS" of |it: Charset| {
        CHARACTER_SET_NAME: varchar(64) not null => text(it.name()),
        DEFAULT_COLLATE_NAME: varchar(64) not null => text(Collation::default_of(*it).name),
        DESCRIPTION: varchar(2048) not null => text(it.description()),
        MAXLEN: int_unsigned not null => number(it.max_bytes()),
    }
}

virtual_table! {
    mod collations = "information_schema"."COLLATIONS" of |it: &'static Collation| {
        COLLATION_NAME: varchar(64) not null => text(it.name),
        CHARACTER_SET_NAME: varchar(64) not null => text(it.charset.name()),
        ID: bigint_unsigned not null default "0" => number(it.id.0),
        IS_DEFAULT: varchar(3) not null default "" => text(if it.is_default { "Yes" } else { "" }),
        IS_COMPILED: varchar(3) not null default "" => text("Yes"),
        SORTLEN: int_unsigned not null => number(it.sort_length()),
        PAD_ATTRIBUTE: enum("PAD SPACE", "NO PAD") in utf8mb3_bin not null => text(if it.pad_space { "PAD SPACE" } else { "NO PAD" }),
    }
}

virtual_table! {
    mod applicability = "information_schema"."COLLATION_CHARACTER_SET_APPLICABILITY" of |it: &'static Collation| {
        COLLATION_NAME: varchar(64) not null => text(it.name),
        CHARACTER_SET_NAME: varchar(64) not null => text(it.charset.name()),
    }
}

/// The collations by the name of their character set, then by number.
fn by_character_set() -> Vec<&'static Collation> {
    let mut sorted: Vec<&Collation> = Collation::all().iter().collect();
    sorted.sort_by_key(|collation| (collation.charset.name(), collation.id));
    sorted
}

virtual_table! {
    mod keywords = "information_schema"."KEYWORDS" of |it: (&'static str, bool)| {
        WORD: varchar(128) in utf8mb4_0900_ai_ci => text(it.0),
        RESERVED: int => number(u64::from(it.1)),
    }
}

/// An engine: name, SUPPORT, comment, and whether it has transactions.
type Engine = (&'static str, &'static str, &'static str, Option<bool>);

/// Those of MySQL; a statement that names one of the others may be given InnoDB.
const ENGINES: [Engine; 11] = [
    ("InnoDB", "DEFAULT", "Supports transactions, row-level locking, and foreign keys", Some(true)),
    ("PERFORMANCE_SCHEMA", "YES", "Performance Schema", Some(false)),
    ("ndbcluster", "NO", "Clustered, fault-tolerant tables", None),
    ("MEMORY", "NO", "Hash based, stored in memory, useful for temporary tables", None),
    ("MyISAM", "NO", "MyISAM storage engine", None),
    ("FEDERATED", "NO", "Federated MySQL storage engine", None),
    ("ndbinfo", "NO", "MySQL Cluster system information storage engine", None),
    ("MRG_MYISAM", "NO", "Collection of identical MyISAM tables", None),
    ("BLACKHOLE", "NO", "/dev/null storage engine (anything you write to it disappears)", None),
    ("CSV", "NO", "CSV storage engine", None),
    ("ARCHIVE", "NO", "Archive storage engine", None),
];

virtual_table! {
    mod engines = "information_schema"."ENGINES" of |it: Engine| {
        ENGINE: varchar(64) not null default "" => text(it.0),
        SUPPORT: varchar(8) not null default "" => text(it.1),
        COMMENT: varchar(80) not null default "" => text(it.2),
        TRANSACTIONS: varchar(3) default "" => optional_yes_no(it.3),
        XA: varchar(3) default "" => optional_yes_no(it.3),
        SAVEPOINTS: varchar(3) default "" => optional_yes_no(it.3),
    }
}

/// Name and type.
const PLUGINS: [(&str, &str); 3] = [
    ("mysql_native_password", "AUTHENTICATION"),
    ("caching_sha2_password", "AUTHENTICATION"),
    ("InnoDB", "STORAGE ENGINE"),
];

virtual_table! {
    mod plugins = "information_schema"."PLUGINS" of |it: (&'static str, &'static str)| {
        PLUGIN_NAME: varchar(64) not null default "" => text(it.0),
        PLUGIN_VERSION: varchar(20) not null default "" => text("1.0"),
        PLUGIN_STATUS: varchar(10) not null default "" => text("ACTIVE"),
        PLUGIN_TYPE: varchar(80) not null default "" => text(it.1),
        PLUGIN_TYPE_VERSION: varchar(20) not null default "" => text("1.0"),
        PLUGIN_LIBRARY: varchar(64) default "" => Value::Null,
        PLUGIN_LIBRARY_VERSION: varchar(20) default "" => Value::Null,
        PLUGIN_AUTHOR: varchar(64) default "" => text("Palisade"),
        PLUGIN_DESCRIPTION: varchar(65535) default "" => text(""),
        PLUGIN_LICENSE: varchar(80) default "" => text("Apache-2.0"),
        LOAD_OPTION: varchar(64) not null default "" => text("FORCE"),
    }
}
