//! Loading: statements of many rows, then the indexes, then ANALYZE TABLE, and last the note that all is
//! there.

use std::time::Instant;

use mysql::prelude::Queryable as _;

use crate::connection;
use crate::error::{Error, Result};
use crate::server::Server;
use crate::suite::rows::Rows;
use crate::suite::{Scaled, Suite, Table};
use crate::tool;

/// Rows and bytes after which a statement is sent.
const BATCH_ROWS: usize = 2000;
const BATCH_BYTES: usize = 512 * 1024;

/// Statements of a transaction.
const TRANSACTION: u32 = 20;

/// How long a statement of the load may take: an index of millions of rows.
const LIMIT: std::time::Duration = std::time::Duration::from_secs(1800);

/// What a schema that is complete has in its table `loaded`.
const NOTE: &str = "loaded";

/// Whether the schema has all of the suite's data at that scale.
pub fn is_loaded(server: &mut Server, suite: &Suite, scale: f64) -> Result<bool> {
    let version = server.value(&format!("SELECT version FROM {}.{NOTE}", suite.schema(scale)));
    match version {
        Ok(version) => Ok(version == Some(suite.version.to_string())),
        Err(Error::Statement { .. }) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Makes the schema anew and fills it. Says what each table took. Waits for: all statements.
pub fn load(server: &mut Server, suite: &Suite, scale: f64) -> Result<()> {
    let schema = suite.schema(scale);
    server.query(&format!("DROP DATABASE IF EXISTS {schema}"))?;
    // a binary collation's order and comparisons are the same on every server
    server.query(&format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"))?;
    let options = connection::options(&server.address, LIMIT).db_name(Some(&schema));
    let failed = |error: mysql::Error| Error::check(&server.name, connection::reason(&error));
    let mut connection = mysql::Conn::new(options).map_err(failed)?;
    for table in suite.tables {
        let begun = Instant::now();
        let rows = fill(&mut connection, table, Scaled { scale }, &server.name)?;
        let took = begun.elapsed().as_secs_f64();
        crate::tell!("{}: {rows} rows of {schema}.{} in {took:.1} s", server.name, table.name);
    }
    let names: Vec<&str> = suite.tables.iter().map(|table| table.name).collect();
    let note = format!("CREATE TABLE {NOTE} (version INT PRIMARY KEY)");
    let noted = format!("INSERT INTO {NOTE} VALUES ({})", suite.version);
    for statement in [format!("ANALYZE TABLE {}", names.join(", ")), note, noted] {
        connection.query_drop(statement).map_err(failed)?;
    }
    Ok(())
}

fn fill(connection: &mut mysql::Conn, table: &Table, sizes: Scaled, server: &str) -> Result<u64> {
    let failed = |error: mysql::Error| Error::check(server, connection::reason(&error));
    let mut send = |statement: String| connection.query_drop(statement).map_err(failed);
    send(format!("CREATE TABLE {} ({})", table.name, table.columns))?;
    let units = (table.units)(sizes.scale);
    let (mut rows, mut all, mut statements) = (Rows::default(), 0, 0);
    for unit in 1..=units {
        (table.write)(&sizes, unit, &mut rows);
        if unit < units && rows.count() < BATCH_ROWS && rows.bytes() < BATCH_BYTES {
            continue;
        }
        tool::check_interrupted()?;
        if statements % TRANSACTION == 0 {
            send("START TRANSACTION".to_owned())?;
        }
        statements += 1;
        all += rows.count() as u64;
        if let Some(values) = rows.take() {
            send(format!("INSERT INTO {} VALUES {values}", table.name))?;
        }
        if statements % TRANSACTION == 0 || unit == units {
            send("COMMIT".to_owned())?;
        }
    }
    if !table.indexes.is_empty() {
        send(format!("ALTER TABLE {} {}", table.name, table.indexes.join(", ")))?;
    }
    Ok(all)
}
