//! The three tables: how they are made, whether compressed, and what they take on the disk.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::server::{Answer, Literal, Server};

/// Their names.
pub const TABLES: [&str; 3] = ["linktable", "counttable", "nodetable"];

/// Columns and keys of each: those that LinkBench's manual gives, without partitions.
const COLUMNS: [&str; 3] = [
    "id1 BIGINT UNSIGNED NOT NULL DEFAULT 0, id2 BIGINT UNSIGNED NOT NULL DEFAULT 0, \
     link_type BIGINT UNSIGNED NOT NULL DEFAULT 0, visibility TINYINT NOT NULL DEFAULT 0, \
     data VARCHAR(255) NOT NULL DEFAULT '', time BIGINT UNSIGNED NOT NULL DEFAULT 0, \
     version INT UNSIGNED NOT NULL DEFAULT 0, PRIMARY KEY (id1, id2, link_type), \
     KEY id1_type (id1, link_type, visibility, time, version, data)",
    "id BIGINT UNSIGNED NOT NULL DEFAULT 0, link_type BIGINT UNSIGNED NOT NULL DEFAULT 0, \
     count INT UNSIGNED NOT NULL DEFAULT 0, time BIGINT UNSIGNED NOT NULL DEFAULT 0, \
     version BIGINT UNSIGNED NOT NULL DEFAULT 0, PRIMARY KEY (id, link_type)",
    "id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT, type INT UNSIGNED NOT NULL, version BIGINT UNSIGNED NOT NULL, \
     time INT UNSIGNED NOT NULL, data MEDIUMTEXT NOT NULL, PRIMARY KEY (id)",
];

/// How pages are compressed: a level of the experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Codec<'a>(pub &'a str);

impl Codec<'_> {
    /// Pages as they are.
    pub const NONE: Codec<'static> = Codec("none");
}

/// MariaDB's variable for the codec of all tables whose pages are compressed. It counts when a page is
/// written.
const ALGORITHM: &str = "innodb_compression_algorithm";

/// Makes the tables in an empty schema. What a server refuses is told in its own words.
pub fn create(server: &mut Server, schema: &str, codec: Codec) -> Result<std::result::Result<(), String>> {
    let options = match codec {
        Codec::NONE => String::new(),
        Codec(name) => format!(" COMPRESSION='{name}'"),
    };
    if codec == Codec::NONE {
        return make(server, schema, &options);
    }
    let Err(refusal) = make(server, schema, &options)? else { return Ok(Ok(())) };
    if server.variable(ALGORITHM)?.is_none() {
        return Ok(Err(refusal));
    }
    match select(server, codec)? {
        Ok(()) => make(server, schema, " PAGE_COMPRESSED=1"),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// Has the server write pages by this codec, where that is a setting of the server and not of a table.
pub fn select(server: &mut Server, codec: Codec) -> Result<std::result::Result<(), String>> {
    if codec == Codec::NONE || server.variable(ALGORITHM)?.is_none() {
        return Ok(Ok(()));
    }
    Ok(match server.set(ALGORITHM, Literal::Text(codec.0))? {
        Answer::Done => Ok(()),
        Answer::Refused(refusal) => Err(refusal),
    })
}

fn make(server: &mut Server, schema: &str, options: &str) -> Result<std::result::Result<(), String>> {
    for (table, columns) in TABLES.iter().zip(COLUMNS) {
        let statement = format!(
            "CREATE TABLE {schema}.{table} ({columns}) ENGINE=InnoDB DEFAULT CHARSET=latin1{options}"
        );
        if let Answer::Refused(refusal) = server.execute(&statement)? {
            return Ok(Err(refusal));
        }
        // a server that cannot punch holes, or does not know the codec, may say so and store pages as they
        // are
        if let Some(warning) =
            server.query("SHOW WARNINGS")?.into_iter().next().filter(|_| !options.is_empty())
        {
            let said: Vec<String> = warning.into_iter().flatten().collect();
            return Ok(Err(said.join(" ")));
        }
    }
    Ok(Ok(()))
}

/// Whether the tables of a schema were filled.
pub fn is_loaded(server: &mut Server, schema: &str) -> Result<bool> {
    let statement = format!(
        "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{schema}' AND TABLE_NAME = '{LOADED}'"
    );
    Ok(server.value(&statement)?.as_deref() == Some("1"))
}

/// Notes that they were.
pub fn note_loaded(server: &mut Server, schema: &str) -> Result<()> {
    server.query(&format!("CREATE TABLE {schema}.{LOADED} (at DATETIME)")).map(drop)
}

/// The table that says so.
const LOADED: &str = "loaded";

/// Bytes of a table's file.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sizes {
    /// Its length.
    pub apparent: f64,
    /// What it takes on the disk: holes take nothing.
    pub allocated: f64,
}

/// Where servers tell the sizes of files: MySQL and Palisade, MariaDB.
const FILES: [&str; 2] = ["INNODB_TABLESPACES", "INNODB_SYS_TABLESPACES"];

/// The sizes of all three, by table; none where the server does not tell.
pub fn sizes(server: &mut Server, schema: &str) -> Result<BTreeMap<&'static str, Sizes>> {
    let mut all = BTreeMap::new();
    for table in TABLES {
        let rows = FILES.iter().find_map(|view| {
            let statement = format!(
                "SELECT SUM(FILE_SIZE), SUM(ALLOCATED_SIZE) FROM information_schema.{view} \
                 WHERE NAME = '{schema}/{table}' OR NAME LIKE '{schema}/{table}#p#%'"
            );
            server.query(&statement).ok()
        });
        let row = rows.and_then(|rows| rows.into_iter().next()).unwrap_or_default();
        if let [Some(apparent), Some(allocated)] = row.as_slice()
            && let (Ok(apparent), Ok(allocated)) = (apparent.parse(), allocated.parse())
        {
            all.insert(table, Sizes { apparent, allocated });
        }
    }
    Ok(all)
}
