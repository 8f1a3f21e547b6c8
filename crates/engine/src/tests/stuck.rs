//! Rollbacks that cannot go on.

use std::path::PathBuf;
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_io::{FaultFileSystem, FileSystem};

use super::harness::*;
use crate::{Engine, Error, ExclusiveLock, TableName};

fn name(table: &str) -> TableName {
    TableName::new("test", table)
}

/// Whether a table can be redefined now.
fn is_free(engine: &Arc<Engine>, table: &str) -> bool {
    match ExclusiveLock::new(engine, [name(table)]).acquire() {
        Ok(()) => true,
        Err(Blocked::Wait(_)) => false,
        Err(Blocked::Error(error)) => panic!("{error}"),
    }
}

/// A transaction has changed `y`, and then `t`.
#[test]
fn a_rollback_stuck_in_a_damaged_table_keeps_nobody_from_dropping_it_or_redefining_others() {
    let disk = Arc::new(FaultFileSystem::new(1));
    let fs: Arc<dyn FileSystem> = disk.clone();
    let engine = open(&fs);
    create_schema(&engine);
    for name in ["t", "y", "other"] {
        let mut client = Client::new(&engine, &create_table(&engine, in_place(name)));
        for id in 0..10 {
            client.insert(&Row::new(id, id, None, &[1; 500])).unwrap();
        }
        client.commit();
    }
    let mut client = Client::new(&engine, &table(&engine, "other"));
    client.read(1);
    client.table = table(&engine, "y");
    client.update(1, |row| row.c = b"lost".to_vec()).unwrap();
    client.table = table(&engine, "t");
    client.update(1, |row| row.c = b"lost".to_vec()).unwrap();
    let (space, root) = (client.table.first_space_id(), client.table.indexes[0].trees[0].root);
    // The pages are on disk: the log has nothing for them.
    engine.pool.shutdown().unwrap();
    drop(client);
    crash(engine);
    let path = PathBuf::from(format!("/data/spaces/{:06}.pal", space.0));
    disk.flip_bit(&path, (u64::from(root.0) * 16384 + 9000) * 8);

    let engine = open(&fs);
    for name in ["t", "y", "other"] {
        assert!(!is_free(&engine, name), "nobody knows yet what it has changed");
    }
    for _ in 0..2 {
        assert!(engine.rollback_step().is_err());
        assert!(is_free(&engine, "other") && is_free(&engine, "t"));
        assert!(!is_free(&engine, "y"), "it has changes that are not undone");
    }
    let held = lock(&engine, &["t"]);
    let index = Index::new("again", vec![IndexPart::of(1)]);
    let refused = wait(engine.add_indexes(&held, &name("t"), vec![index])).unwrap_err();
    assert!(matches!(refused, Error::Inconsistent(_)), "{refused}");
    wait(engine.drop_tables(&held, &[name("t")])).unwrap();
    drop(held);
    assert_eq!(engine.rollback_step().unwrap(), 1);
    assert!(is_free(&engine, "y"));
    let y = table(&engine, "y");
    while engine.purge_step().unwrap() {}
    check(&engine, &y);
    assert_eq!(Client::new(&engine, &y).read(1).unwrap().c, [1; 500]);
}

/// One that has noted its tables, as sessions do.
#[test]
fn a_transaction_lets_go_of_what_it_need_not_keep() {
    let (_fs, engine, t) = new_engine();
    let others: Vec<_> = (0..20).map(|n| create_table(&engine, definition(&format!("t{n}")))).collect();
    let mut client = Client::new(&engine, &t);
    client.read(1);
    client.table = others[0].clone();
    client.read(1);
    let session = client.tx.session();
    let keep = |tables: &[&Arc<crate::Table>]| {
        engine.metadata.narrow(session, &tables.iter().map(|table| table.id).collect());
    };
    assert!(!is_free(&engine, "t") && !is_free(&engine, "t0"));
    keep(&[&others[0]]);
    assert!(is_free(&engine, "t") && !is_free(&engine, "t0"));
    engine.metadata.pin_any(session);
    assert!(!is_free(&engine, "t"));
    keep(&others.iter().collect::<Vec<_>>());
    assert!(!is_free(&engine, "t"), "there is no room for so many");
    keep(&[&others[0], &others[7]]);
    assert!(is_free(&engine, "t") && !is_free(&engine, "t0") && !is_free(&engine, "t7"));
    keep(&[]);
    assert!(is_free(&engine, "t0") && is_free(&engine, "t7"));
}
