//! Tables larger than the pool, whose pages leave memory with changes that stay: rows and indexes are what a
//! map says, through crashes, other sizes of the pool, and tables that go.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::prng::{Prng, test_seed};
use palisade_catalog::TableDef;
use palisade_io::FileSystem;

use super::harness::*;
use super::out_of_place::placed;
use crate::{Engine, EngineConfig, Table, TableName};

const IDS: u64 = 6000;

fn open_small(fs: &Arc<dyn FileSystem>) -> Arc<Engine> {
    let config = EngineConfig {
        buffer_pool_size: 2 << 20,
        buffer_pool_most: 8 << 20,
        redo_log_capacity: 64 << 20,
        kept_share: 40,
        ..quiet()
    };
    Engine::open(config, fs.clone()).unwrap()
}

fn row(id: i64, random: &mut Prng) -> Row {
    let text = vec![random.next_u64() as u8; 300 + random.below(600) as usize];
    Row::new(id, random.below(500) as i64, random.one_in(2).then_some(id), &text)
}

/// Changes of random rows in one transaction, which commits or not; the model follows.
fn change(engine: &Arc<Engine>, table: &Arc<Table>, model: &mut BTreeMap<i64, Row>, random: &mut Prng) {
    let (mut client, mut after) = (Client::new(engine, table), model.clone());
    for _ in 0..1 + random.below(20) {
        let id = random.below(IDS) as i64;
        let new = row(id, random);
        match after.contains_key(&id) {
            false => {
                client.insert(&new).unwrap();
                after.insert(id, new);
            }
            true if random.one_in(8) => {
                assert!(client.delete(id).unwrap());
                after.remove(&id);
            }
            true if random.one_in(3) => {
                assert!(client.update(id, |row| row.clone_from(&new)).unwrap());
                after.insert(id, new);
            }
            true => {
                // A few bytes, as most updates are.
                assert!(client.update(id, |row| (row.k, row.c[7]) = (new.k, new.c[0])).unwrap());
                let row = after.get_mut(&id).unwrap();
                (row.k, row.c[7]) = (new.k, new.c[0]);
            }
        }
    }
    match random.one_in(6) {
        true => client.rollback(),
        false => {
            client.commit();
            *model = after;
        }
    }
}

fn compare(engine: &Arc<Engine>, table: &Arc<Table>, model: &BTreeMap<i64, Row>) {
    let expected: Vec<Row> = model.values().cloned().collect();
    for index in 0..2 {
        let mut rows = Client::new(engine, table).scan(index);
        rows.sort();
        assert!(rows == expected, "index {index}");
    }
}

fn live(def: TableDef, seed: u64) {
    let mut random = Prng::new(test_seed(seed));
    let (fs, name) = (memory(), def.name.clone());
    let mut engine = open_small(&fs);
    create_schema(&engine);
    let mut t = create_table(&engine, def);
    let mut other = create_table(&engine, definition("other"));
    let mut model = BTreeMap::new();
    let mut of_other = BTreeMap::new();
    let mut most_kept = 0;
    for round in 0..700 {
        change(&engine, &t, &mut model, &mut random);
        if round < 200 {
            change(&engine, &other, &mut of_other, &mut random);
        }
        most_kept = most_kept.max(engine.pool.kept_pages());
        if round == 200 {
            let lock = lock(&engine, &["other"]);
            wait(engine.drop_tables(&lock, &[TableName::new("test", "other")])).unwrap();
        }
        if random.one_in(100) {
            let _ = engine.resize_buffer_pool((1 + random.below(4)) << 20);
        }
        if random.one_in(150) {
            drop(t);
            if random.one_in(3) {
                engine.shutdown().unwrap();
                drop(engine);
            } else {
                crash(engine);
            }
            engine = open_small(&fs);
            t = table(&engine, &name);
            if round < 200 {
                other = table(&engine, "other");
            }
            compare(&engine, &t, &model);
        }
    }
    assert!(most_kept > 20, "only {most_kept} pages were kept");
    compare(&engine, &t, &model);
    drop(t);
    engine.shutdown().unwrap();
    drop(engine);
    let engine = open_small(&fs);
    compare(&engine, &table(&engine, &name), &model);
    assert_eq!(engine.pool.kept_pages(), 0, "a start after a shutdown has nothing to redo");
}

#[test]
fn rows_of_kept_pages_are_what_a_map_says_in_place() {
    live(definition("t"), 61);
}

#[test]
fn rows_of_kept_pages_are_what_a_map_says_out_of_place() {
    live(placed("t"), 62);
}
