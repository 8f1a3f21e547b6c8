//! What `innodb_flush_method` has synced, and what a power cut leaves of it.

use std::collections::BTreeSet;
use std::sync::Arc;

use palisade_catalog::TableDef;
use palisade_io::{CrashKeeps, FaultFileSystem, FileSystem};

use super::harness::*;
use super::out_of_place::placed;
use crate::{Engine, EngineConfig, FlushMethod, Table};

const ROWS: i64 = 20;

/// An engine without threads, so that what is synced depends on nothing else.
fn open_with(fs: &Arc<FaultFileSystem>, flush_method: FlushMethod) -> Arc<Engine> {
    let config = EngineConfig { flush_method, background: false, ..quiet() };
    Engine::open(config, fs.clone() as Arc<dyn FileSystem>).unwrap()
}

/// A table of that definition, with rows.
fn filled(engine: &Arc<Engine>, def: TableDef) -> Arc<Table> {
    create_schema(engine);
    let table = create_table(engine, def);
    let mut client = Client::new(engine, &table);
    for id in 0..ROWS {
        client.insert(&Row::new(id, id, None, b"x")).unwrap();
    }
    client.commit();
    table
}

/// Each row is changed in a transaction of its own; then every page is written.
fn change_all(engine: &Arc<Engine>, table: &Arc<Table>, k: i64) {
    let mut client = Client::new(engine, table);
    for id in 0..ROWS {
        assert!(client.update(id, |row| row.k = Some(k)).unwrap());
        client.commit();
    }
    drop(client);
    engine.pool.checkpoint_sharply().unwrap();
}

/// Kinds of files synced in a trace of calls; a space other than `table`'s has new pages all the time and
/// does not count.
fn synced(trace: &str, table: &str) -> Vec<&'static str> {
    let kind = |path: &str| match path {
        _ if path.contains("#log/checkpoint") => Some("checkpoint"),
        _ if path.contains("#log/log.") => Some("log"),
        _ if path.ends_with(table) => Some("data"),
        _ if path.contains("doublewrite.") => Some("doublewrite"),
        _ => None,
    };
    let kinds: BTreeSet<_> = trace.lines().filter_map(|line| kind(line.strip_prefix("sync ")?)).collect();
    kinds.into_iter().collect()
}

#[test]
fn each_method_syncs_what_it_says() {
    let all = vec!["checkpoint", "data", "doublewrite", "log"];
    let (only_data, only_log) = (vec!["data", "doublewrite"], vec!["checkpoint", "log"]);
    for (position, (method, expected)) in [
        (FlushMethod::Fsync, all.clone()),
        (FlushMethod::ODsync, only_data),
        (FlushMethod::Littlesync, only_log.clone()),
        (FlushMethod::Nosync, Vec::new()),
        (FlushMethod::ODirect, all),
        (FlushMethod::ODirectNoFsync, only_log),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(FlushMethod::from_position(position), Some(method));
        let fs = Arc::new(FaultFileSystem::new(1));
        let engine = open_with(&fs, method);
        let table = filled(&engine, in_place("t"));
        // What is written for the first time is synced by O_DIRECT_NO_FSYNC, too.
        change_all(&engine, &table, 1);
        let file = format!("{:06}.pal", table.first_space_id().0);
        fs.start_trace();
        change_all(&engine, &table, 2);
        assert_eq!(synced(&fs.take_trace(), &file), expected, "{method:?}");

        // Of what is not synced the machine may lose everything; the end of the process loses nothing.
        let survives_power_cuts = expected.contains(&"data");
        let keeps = if survives_power_cuts { CrashKeeps::Synced } else { CrashKeeps::Everything };
        crash(engine);
        drop(table);
        fs.crash(keeps);
        let engine = open_with(&fs, method);
        let table = super::harness::table(&engine, "t");
        let rows = Client::new(&engine, &table).scan(0);
        assert!(rows.len() as i64 == ROWS && rows.iter().all(|row| row.k == Some(2)), "{method:?}");
    }
}

/// Where one flush covers log and data, a table that is written out of place is synced only for what is
/// written where nothing was before; nowhere else is anything left out.
#[test]
fn the_logs_flush_covers_what_is_written_out_of_place() {
    for (method, has_one_cache, is_synced) in [
        (FlushMethod::ODirect, true, false),
        (FlushMethod::ODirect, false, true),
        (FlushMethod::Fsync, true, true),
        (FlushMethod::ODsync, true, true),
        (FlushMethod::ODirectNoFsync, true, false),
    ] {
        let fs = Arc::new(FaultFileSystem::new(1));
        fs.set_one_cache(has_one_cache);
        let engine = open_with(&fs, method);
        let table = filled(&engine, placed("t"));
        // Until every run has been written once.
        (0..6).for_each(|round| change_all(&engine, &table, round));
        let file = format!("{:06}.pal", table.first_space_id().0);
        fs.start_trace();
        change_all(&engine, &table, 7);
        let trace = fs.take_trace();
        assert_eq!(
            synced(&trace, &file).contains(&"data"),
            is_synced,
            "{method:?}, {has_one_cache}: {trace}"
        );
        crash(engine);
        drop(table);
        fs.crash(CrashKeeps::Synced);
        let engine = open_with(&fs, method);
        let rows = Client::new(&engine, &super::harness::table(&engine, "t")).scan(0);
        assert!(rows.len() as i64 == ROWS && rows.iter().all(|row| row.k == Some(7)), "{method:?}");
    }
}
