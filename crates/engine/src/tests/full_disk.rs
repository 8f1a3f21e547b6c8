//! A full disk: what is deleted, dropped and truncated makes room all the same, and the room is used.

use std::sync::Arc;

use palisade_base::prng::{Prng, test_seed};
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::{
    Client, Row, check, crash, create_schema, create_table, definition, lock, quiet, table, wait,
};
use crate::{Engine, EngineConfig, Error, Table};

const MIB: u64 = 1 << 20;
/// Rows that a transaction inserts or deletes.
const BATCH: i64 = 100;

struct World {
    disk: Arc<FaultFileSystem>,
    engine: Arc<Engine>,
    table: Arc<Table>,
}

fn open(disk: &Arc<FaultFileSystem>, reserve: u64) -> Arc<Engine> {
    let config = EngineConfig { undo_reserve: reserve, ..quiet() };
    Engine::open(config, disk.clone()).unwrap()
}

/// An engine with a complete reserve, and a table.
fn world(seed: u64, reserve: u64) -> World {
    let disk = Arc::new(FaultFileSystem::new(seed));
    let engine = open(&disk, reserve);
    create_schema(&engine);
    let table = create_table(&engine, definition("t"));
    purge(&engine);
    World { disk, engine, table }
}

/// Purges all that can be, and has the reserve filled.
fn purge(engine: &Engine) {
    engine.set_undo_reserve(engine.config().undo_reserve);
    while engine.purge_step().unwrap() {}
}

fn row(id: i64) -> Row {
    Row::new(id, id % 7, Some(id), &[id as u8; 900])
}

fn insert(world: &World, ids: std::ops::Range<i64>) -> Result<(), Error> {
    let mut client = Client::new(&world.engine, &world.table);
    let outcome = ids.into_iter().try_for_each(|id| client.insert(&row(id)));
    if outcome.is_ok() {
        client.commit();
    } else {
        client.rollback();
    }
    outcome
}

fn delete(world: &World, ids: std::ops::Range<i64>) -> Result<(), Error> {
    let mut client = Client::new(&world.engine, &world.table);
    let outcome = ids.into_iter().try_for_each(|id| client.delete(id).map(|_| ()));
    if outcome.is_ok() {
        client.commit();
    } else {
        client.rollback();
    }
    outcome
}

/// From now on no file grows unless another has gone.
fn close_disk(world: &World) {
    world.disk.limit_space(Some(world.disk.used_space()));
}

/// Inserts until the disk, which has a megabyte left, is full. Gives how many rows there are.
fn fill(world: &World) -> i64 {
    world.disk.limit_space(Some(world.disk.used_space() + MIB));
    let mut rows = 0;
    loop {
        match insert(world, rows..rows + BATCH) {
            Ok(()) => rows += BATCH,
            Err(Error::TableFull(table)) => {
                assert_eq!(table, "t");
                return rows;
            }
            Err(other) => panic!("{other}"),
        }
        assert!(rows < 100_000, "the disk is never full");
    }
}

/// Changes the first rows again and again, as long as there is undo for it. Gives the open transaction.
fn use_undo_up(world: &World) -> Client {
    let mut client = Client::new(&world.engine, &world.table);
    let mut changes = 0;
    let refused = loop {
        match client.update(changes % BATCH, |row| row.c.iter_mut().for_each(|byte| *byte ^= 0x55)) {
            Ok(was_there) => assert!(was_there),
            Err(error) => break error,
        }
        changes += 1;
        assert!(changes < 100_000, "undo is never used up");
    };
    assert_eq!(refused, Error::TableFull("t".to_owned()));
    client
}

fn count(world: &World) -> i64 {
    Client::new(&world.engine, &world.table).scan(0).len() as i64
}

#[test]
fn what_is_deleted_makes_room_for_what_is_inserted_in_the_same_files() {
    let world = world(1, 4 * MIB);
    insert(&world, 0..10 * BATCH).unwrap();
    delete(&world, 0..10 * BATCH).unwrap();
    purge(&world.engine);
    let rows = fill(&world);
    let pages = world.table.sole_partition().tree(0).space().pages();
    for round in 0..3 {
        for first in (0..rows).step_by(BATCH as usize) {
            delete(&world, first..first + BATCH).unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
        purge(&world.engine);
        for first in (0..rows).step_by(BATCH as usize) {
            insert(&world, first..first + BATCH).unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
        assert_eq!(count(&world), rows);
    }
    assert_eq!(world.table.sole_partition().tree(0).space().pages(), pages);
    purge(&world.engine);
    check(&world.engine, &world.table);
}

#[test]
fn a_delete_of_more_than_the_reserve_is_refused_and_smaller_ones_go_on() {
    let mut world = world(2, MIB);
    let rows = 60 * BATCH;
    for first in (0..rows).step_by(BATCH as usize) {
        insert(&world, first..first + BATCH).unwrap();
    }
    while world.engine.purge_step().unwrap() {}
    close_disk(&world);
    let mut writer = use_undo_up(&world);
    assert_eq!(delete(&world, BATCH..rows), Err(Error::TableFull("t".to_owned())));
    assert_eq!(count(&world), rows, "it was rolled back as a whole");
    // What it has written of undo is given back by purge.
    while world.engine.purge_step().unwrap() {}
    for first in (BATCH..rows).step_by(BATCH as usize) {
        delete(&world, first..first + BATCH).unwrap();
        while world.engine.purge_step().unwrap() {}
    }
    assert_eq!(count(&world), BATCH);
    writer.rollback();
    // And an undo space without a reserve has nothing for them.
    world = self::world(3, 0);
    insert(&world, 0..10 * BATCH).unwrap();
    close_disk(&world);
    let mut writer = use_undo_up(&world);
    let outcome = (BATCH..10 * BATCH).try_for_each(|id| writer.delete(id).map(|_| ()));
    assert_eq!(outcome, Err(Error::TableFull("t".to_owned())));
    writer.rollback();
}

#[test]
fn updates_cannot_take_the_last_pages_that_deletes_need() {
    let world = world(4, 2 * MIB);
    insert(&world, 0..20 * BATCH).unwrap();
    purge(&world.engine);
    close_disk(&world);
    let mut writer = use_undo_up(&world);
    // The transaction is still there: nothing of its undo has been given back.
    for first in (10 * BATCH..20 * BATCH).step_by(BATCH as usize) {
        delete(&world, first..first + BATCH).unwrap();
    }
    writer.rollback();
    purge(&world.engine);
    assert_eq!(count(&world), 10 * BATCH);
    check(&world.engine, &world.table);
    assert_eq!(writer.read(5), Some(row(5)));
}

#[test]
fn tables_are_truncated_and_dropped_and_the_room_is_used() {
    let world = world(5, MIB);
    let mut def = definition("many");
    for number in 0..61 {
        def.indexes.push(palisade_catalog::descriptor::Index::new(
            format!("k{number}"),
            vec![palisade_catalog::descriptor::IndexPart::of(1)],
        ));
    }
    create_table(&world.engine, def);
    let rows = fill(&world);
    assert!(rows > 0);
    close_disk(&world);
    let refused = {
        let lock = lock(&world.engine, &["new"]);
        wait(world.engine.create_table(&lock, definition("new"))).err()
    };
    assert_eq!(refused, Some(Error::TableFull("new".to_owned())));
    for name in ["many", "t", "t", "many"] {
        let lock = lock(&world.engine, &[name]);
        wait(world.engine.truncate_table(&lock, &crate::TableName::new("test", name))).unwrap();
    }
    let engine = &world.engine;
    let world = World { table: table(engine, "t"), engine: engine.clone(), disk: world.disk.clone() };
    assert_eq!(count(&world), 0);
    insert(&world, 0..BATCH).unwrap();
    for name in ["many", "t"] {
        let lock = lock(engine, &[name]);
        wait(engine.drop_tables(&lock, &[crate::TableName::new("test", name)])).unwrap();
    }
    assert!(engine.dictionary().tables("test").next().is_none());
}

#[test]
fn the_reserve_is_complete_again_when_the_disk_has_room() {
    use palisade_txn::undo::segment::UNDO_SPACE;
    let world = world(6, MIB);
    let rows = fill(&world);
    let undo = world.engine.pool.space(UNDO_SPACE).unwrap();
    let usage = || palisade_base::event::retry_blocking(|| palisade_btree::alloc::usage(&undo)).unwrap();
    let certain = || u64::from(undo.pages() - usage().high_water + usage().scattered) * 16384;
    let writer = use_undo_up(&world);
    for first in (BATCH..rows).step_by(BATCH as usize) {
        delete(&world, first..first + BATCH).unwrap();
    }
    purge(&world.engine);
    assert!(certain() < world.engine.config().undo_reserve);
    world.disk.limit_space(None);
    purge(&world.engine);
    assert!(certain() >= world.engine.config().undo_reserve);
    drop(writer);
}

/// Deletes and inserts on a full disk, power cuts, and what recovery makes of them.
#[test]
fn power_cuts_on_a_full_disk_lose_nothing() {
    let mut random = Prng::new(test_seed(7));
    let mut world = world(random.next_u64(), 4 * MIB);
    let rows = fill(&world);
    let mut expected = rows;
    for _ in 0..6 {
        let first = random.below((rows / BATCH) as u64) as i64 * BATCH;
        let last = (first + 20 * BATCH).min(rows);
        for first in (first..last).step_by(BATCH as usize) {
            let there = Client::new(&world.engine, &world.table).read(first).is_some();
            delete(&world, first..first + BATCH).unwrap();
            expected -= if there { BATCH } else { 0 };
            if random.one_in(4) {
                purge(&world.engine);
                insert(&world, first..first + BATCH).unwrap();
                expected += BATCH;
            }
        }
        // In the middle of a transaction.
        let mut client = Client::new(&world.engine, &world.table);
        (0..rows / 2).for_each(|id| _ = client.delete(id).unwrap());
        let World { disk, engine, .. } = world;
        crash(engine);
        drop(client);
        disk.crash(*random.pick(&[CrashKeeps::Synced, CrashKeeps::Random, CrashKeeps::Everything]));
        let engine = open(&disk, 4 * MIB);
        engine.rollback_step().unwrap();
        let table = table(&engine, "t");
        world = World { disk, engine, table };
        purge(&world.engine);
        assert_eq!(count(&world), expected);
        check(&world.engine, &world.table);
    }
}
