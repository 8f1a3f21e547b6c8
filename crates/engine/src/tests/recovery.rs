//! What a restart finds.

use std::sync::Arc;

use palisade_io::{FaultFileSystem, FileSystem};

use super::harness::*;
use crate::{Engine, Error, ReadMode, Table, TableName};

#[test]
pub(super) fn after_a_crash_there_is_what_was_committed_and_nothing_else() {
    let (fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    for id in 0..300 {
        client.insert(&Row::new(id, id, Some(id), &vec![7; (id as usize % 40) * 200])).unwrap();
    }
    client.commit();
    client.delete(5).unwrap();
    client.commit();
    let before = client.scan(0);
    // In flight at the crash:
    client.update(7, |row| row.k = Some(-7)).unwrap();
    client.delete(8).unwrap();
    client.insert(&Row::new(1000, 1, Some(1000), &vec![1; 60_000])).unwrap();
    // Rolled back by nobody: there are no threads.
    drop(client);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);

    let engine = open(&fs);
    let table = super::harness::table(&engine, "t");
    let mut client = Client::new(&engine, &table);
    assert_eq!(engine.active_transactions().len(), 1);
    assert_eq!(client.scan(0), before);
    assert_eq!(client.scan(1).len(), before.len());
    assert_eq!(engine.rollback_step().unwrap(), 1);
    assert!(engine.active_transactions().is_empty());
    client.update(7, |row| row.k = Some(70)).unwrap();
    client.commit();
    while engine.purge_step().unwrap() {}
    assert_eq!(client.scan(2).len(), before.len());
    check(&engine, &table);
}

#[test]
pub(super) fn a_clean_shutdown_and_a_crash_after_it_change_nothing() {
    let (fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    for id in 0..100 {
        client.insert(&Row::new(id, id, Some(id), b"x")).unwrap();
    }
    client.commit();
    assert_eq!(table.reserve_auto_increment(3, 1, 1).unwrap(), 1);
    drop(client);
    engine.shutdown().unwrap();
    drop((engine, table));
    for _ in 0..2 {
        let engine = open(&fs);
        let table = super::harness::table(&engine, "t");
        assert!(table.auto_increment() >= 4);
        let mut client = Client::new(&engine, &table);
        assert_eq!(client.scan(0).len(), 100);
        client.update(1, |row| row.c = b"y".to_vec()).unwrap();
        client.commit();
        drop(client);
        crash(engine);
    }
}

#[test]
pub(super) fn dropped_and_truncated_tables_are_gone_with_their_files() {
    let (fs, engine, t) = new_engine();
    let mut client = Client::new(&engine, &t);
    client.insert(&Row::new(1, 1, None, b"x")).unwrap();
    client.commit();
    drop(client);
    create_table(&engine, definition("dropped"));
    let held = lock(&engine, &["t", "dropped", "renamed"]);
    wait(engine.truncate_table(&held, &TableName::new("test", "t"))).unwrap();
    wait(engine.drop_tables(&held, &[TableName::new("test", "dropped")])).unwrap();
    wait(engine.rename_tables(&held, &[(TableName::new("test", "t"), TableName::new("test", "renamed"))]))
        .unwrap();
    drop(held);
    assert!(!t.is_current());
    assert_eq!(engine.files.list_spaces().unwrap().len(), 3);
    crash(engine);
    let engine = open(&fs);
    assert_eq!(engine.dictionary().tables("test").count(), 1);
    let renamed = table(&engine, "renamed");
    assert!(Client::new(&engine, &renamed).scan(0).is_empty());
}

#[test]
fn a_flipped_bit_is_an_error_that_names_the_page_and_the_other_tables_are_served() {
    let disk = Arc::new(FaultFileSystem::new(1));
    let fs: Arc<dyn FileSystem> = disk.clone();
    let engine = open(&fs);
    create_schema(&engine);
    let (t, other) = (create_table(&engine, definition("t")), create_table(&engine, definition("other")));
    for table in [&t, &other] {
        let mut client = Client::new(&engine, table);
        for id in 0..50 {
            client.insert(&Row::new(id, id, None, &[1; 500])).unwrap();
        }
        client.commit();
    }
    let (space, leaf) = (t.first_space_id(), t.indexes[0].trees[0].root);
    engine.shutdown().unwrap();
    drop((engine, t, other));
    let path = std::path::PathBuf::from(format!("/data/spaces/{:06}.pal", space.0));
    let flip = |page: u32| disk.flip_bit(&path, (page_offset(&fs, space, page) + 9000) * 8);
    for page in [leaf.0, 1] {
        flip(page);
        let engine = open(&fs);
        let (t, other) = (table(&engine, "t"), table(&engine, "other"));
        let mut client = Client::new(&engine, &t);
        let error = client.read_as(7, ReadMode::Snapshot).unwrap_err();
        assert!(
            matches!(error, Error::Corrupted { space: s, page: p, .. } if s == space && p.0 == page),
            "{error}"
        );
        assert_eq!(Client::new(&engine, &other).scan(1).len(), 50);
        drop((client, t, other));
        crash(engine);
        flip(page);
    }
    flip(1);
    let engine = open(&fs);
    let held = lock(&engine, &["t"]);
    wait(engine.drop_tables(&held, &[TableName::new("test", "t")])).unwrap();
    engine.shutdown().unwrap();
}

/// A table with one row, on a disk that has no more room.
fn on_a_full_disk(row: &Row) -> (Arc<FaultFileSystem>, Arc<Engine>, Arc<Table>) {
    let disk = Arc::new(FaultFileSystem::new(1));
    let fs: Arc<dyn FileSystem> = disk.clone();
    let engine = open(&fs);
    create_schema(&engine);
    let t = create_table(&engine, definition("t"));
    let mut client = Client::new(&engine, &t);
    client.insert(row).unwrap();
    client.commit();
    drop(client);
    disk.limit_space(Some(0));
    (disk, engine, t)
}

#[test]
fn a_full_disk_fails_the_statement_and_nothing_else() {
    let (disk, engine, t) = on_a_full_disk(&Row::new(-1, 1, None, b"kept"));
    let mut client = Client::new(&engine, &t);
    let mut id = 0;
    let error = loop {
        id += 1;
        assert!(id < 10_000, "the disk is never full");
        match client.insert(&Row::new(id, id, Some(id), &[7; 3000])) {
            Ok(()) if id % 10 == 0 => client.commit(),
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert!(matches!(&error, Error::TableFull(name) if name == "t"), "{error}");
    client.commit();
    assert_eq!(client.read(-1).unwrap().c, b"kept");
    disk.limit_space(None);
    client.insert(&Row::new(id, id, Some(id), &[7; 3000])).unwrap();
    client.commit();
    assert_eq!(client.scan(1).len() as i64, id + 1);
    while engine.purge_step().unwrap() {}
    check(&engine, &t);
}

#[test]
fn undo_without_room_fails_the_statement_and_a_rollback_makes_room() {
    // The row stays as long as it is: only undo grows.
    let (_disk, engine, t) = on_a_full_disk(&Row::new(1, 1, None, &[0; 3000]));
    let mut client = Client::new(&engine, &t);
    for _ in 0..3 {
        let mut updates = 0u32;
        let error = loop {
            assert!(updates < 10_000, "the disk is never full");
            match client.update(1, |row| row.c = vec![1 + (updates % 2) as u8; 3000]) {
                Ok(found) => assert!(found),
                Err(error) => break error,
            }
            updates += 1;
        };
        assert!(matches!(&error, Error::TableFull(name) if name == "t"), "{error}");
        assert!(updates > 3);
        let before = vec![1 + ((updates - 1) % 2) as u8; 3000];
        assert_eq!(client.read(1).unwrap().c, before, "what did not fail is there");
        client.rollback();
        assert_eq!(client.read(1).unwrap().c, [0; 3000]);
        client.commit();
        // The disk is as full as it was.
        while engine.purge_step().unwrap() {}
    }
    drop(client);
    check(&engine, &t);
}

#[test]
pub(super) fn a_long_transaction_in_flight_is_rolled_back_after_opening_and_nobody_waits_for_that() {
    const ROWS: i64 = 4_000;
    let (fs, engine, t) = new_engine();
    let mut client = Client::new(&engine, &t);
    client.insert(&Row::new(-1, 1, None, b"kept")).unwrap();
    client.commit();
    for id in 0..ROWS {
        client.insert(&Row::new(id, id, None, b"x")).unwrap();
    }
    client.update(-1, |row| row.c = b"lost".to_vec()).unwrap();
    drop(client);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);
    drop(t);

    let engine = open(&fs);
    // It is open, and all of the work is still to be done.
    let active = engine.active_transactions();
    assert_eq!(active.len(), 1);
    assert!(active[0].rolling_back && !active[0].waiting && active[0].owner == 0);
    let t = table(&engine, "t");
    let mut client = Client::new(&engine, &t);
    assert_eq!(client.scan(0).len(), 1);
    assert_eq!(client.read(-1).unwrap().c, b"kept");
    client.insert(&Row::new(ROWS, 1, None, b"new")).unwrap();
    client.commit();
    let nowait = ReadMode::Locked(crate::LockMode::Exclusive, crate::LockWait::NoWait);
    for id in [-1, 0, ROWS - 1] {
        assert_eq!(client.read_as(id, nowait).unwrap_err(), Error::LockNotAvailable, "row {id}");
    }
    client.rollback();
    assert_eq!(engine.rollback_step().unwrap(), 1);
    assert!(engine.active_transactions().is_empty());
    assert_eq!(client.scan(0).len(), 2);
    drop(client);
    while engine.purge_step().unwrap() {}
    check(&engine, &t);
}

#[test]
fn small_transactions_in_flight_are_rolled_back_while_a_large_one_is() {
    const ROWS: i64 = 10_000;
    let (fs, engine, t) = new_engine();
    let mut clients: Vec<_> = (0..3).map(|_| Client::new(&engine, &t)).collect();
    clients[0].insert(&Row::new(-1, 1, None, b"x")).unwrap();
    for id in 0..ROWS {
        clients[1].insert(&Row::new(id, id, None, b"x")).unwrap();
    }
    clients[2].insert(&Row::new(-2, 1, None, b"x")).unwrap();
    drop(clients);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);
    drop(t);

    let engine = open(&fs);
    assert_eq!(engine.active_transactions().len(), 3);
    let steps = std::cell::Cell::new(0);
    let rolled_back = engine.background.roll_back(&|step| {
        steps.set(steps.get() + 1);
        if steps.get() == ROWS / 2 {
            assert_eq!(engine.active_transactions().len(), 1, "only the large one is left");
        }
        engine.wait_for_step(step)
    });
    assert_eq!(rolled_back.unwrap(), 3);
    assert!(steps.get() > ROWS);
    assert!(engine.active_transactions().is_empty());
    let t = table(&engine, "t");
    assert!(Client::new(&engine, &t).scan(0).is_empty());
}
