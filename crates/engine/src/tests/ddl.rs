//! Changing definitions.

use palisade_base::event::retry_blocking;
use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{Column, SqlType, Value};

use super::harness::*;
use crate::{Error, ExclusiveLock, TableName};

fn filled(rows: i64) -> (std::sync::Arc<dyn palisade_io::FileSystem>, std::sync::Arc<crate::Engine>) {
    let (fs, engine, table) = new_engine();
    let mut client = Client::new(&engine, &table);
    for id in 0..rows {
        let length = if id % 50 == 0 { 20_000 } else { 20 };
        client.insert(&Row::new(id, id % 10, Some(id), &vec![7; length])).unwrap();
    }
    client.commit();
    (fs, engine)
}

fn name() -> TableName {
    TableName::new("test", "t")
}

#[test]
fn indexes_are_built_dropped_and_their_pages_given_back() {
    let (fs, engine) = filled(1500);
    let held = lock(&engine, &["t"]);
    let again = Index::new("k2", vec![IndexPart::of(1), IndexPart::of(2)]);
    let new = wait(engine.add_indexes(&held, &name(), vec![again])).unwrap();
    check(&engine, &new);
    let unique = Index { unique: true, ..Index::new("bad", vec![IndexPart::of(1)]) };
    let error = wait(engine.add_indexes(&held, &name(), vec![unique])).unwrap_err();
    assert_eq!(error, Error::DuplicateKey { index: 4 });
    let names = ["k".to_owned(), "k2".to_owned()];
    let new = wait(engine.drop_indexes(&held, &name(), &names)).unwrap();
    assert_eq!(new.indexes.len(), 2);
    drop(held);
    check(&engine, &new);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    crash(engine);
    let engine = open(&fs);
    let new = table(&engine, "t");
    assert_eq!(new.indexes.len(), 2);
    check(&engine, &new);
}

#[test]
fn a_table_is_rebuilt_with_another_shape() {
    let (fs, engine) = filled(700);
    let held = lock(&engine, &["t"]);
    let mut def = table(&engine, "t").def().clone();
    def.columns.push(Column::new("extra", SqlType::INT, 4));
    let mut map = |row: &palisade_catalog::RowView<'_>, out: &mut Vec<Value>| {
        out.extend(row.to_values());
        out.push(Value::Int(42));
        Ok(())
    };
    let new = wait(engine.rebuild_table(&held, &name(), def, &mut map)).unwrap();
    drop(held);
    check(&engine, &new);
    assert_eq!(Client::new(&engine, &new).scan(1).len(), 700);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop(new);
    crash(engine);
    let engine = open(&fs);
    let new = table(&engine, "t");
    assert_eq!(new.columns.len(), 5);
    check(&engine, &new);
    assert_eq!(engine.files.list_spaces().unwrap().len(), 3);
}

#[test]
fn a_table_in_use_is_not_dropped_and_a_dropped_one_not_used() {
    let (_fs, engine) = filled(3);
    let t = table(&engine, "t");
    let mut user = Client::new(&engine, &t);
    assert!(user.read(1).is_some());
    let mut held = ExclusiveLock::new(&engine, [name()]);
    assert!(held.acquire().is_err());
    let mut late = Client::new(&engine, &t);
    let mut out = crate::RowBuf::new();
    let key = key(&t, 0, 1);
    let attempt = late.tx.point_read(&t, 0, &key, crate::ReadMode::Snapshot, &mut out);
    assert!(matches!(attempt, Err(palisade_base::Blocked::Wait(_))));
    assert!(user.read(2).is_some(), "who uses it already goes on");
    user.commit();
    retry_blocking(|| held.acquire()).unwrap();
    wait(engine.drop_tables(&held, &[name()])).unwrap();
    drop(held);
    let attempt = late.tx.point_read(&t, 0, &key, crate::ReadMode::Snapshot, &mut out);
    assert!(matches!(attempt, Err(palisade_base::Blocked::Error(Error::TableChanged))));
}

#[test]
fn auto_increment_values_are_never_given_twice() {
    let (fs, engine, t) = new_engine();
    assert_eq!(t.reserve_auto_increment(1, 1, 1).unwrap(), 1);
    assert_eq!(t.reserve_auto_increment(10, 1, 1).unwrap(), 2);
    t.note_auto_increment(100).unwrap();
    t.note_auto_increment(50).unwrap();
    assert_eq!(t.reserve_auto_increment(1, 10, 5).unwrap(), 105);
    assert_eq!(t.reserve_auto_increment(2, 10, 5).unwrap(), 115);
    assert_eq!(t.auto_increment(), 126);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop(t);
    crash(engine);
    let engine = open(&fs);
    let t = table(&engine, "t");
    assert!(t.auto_increment() >= 126);
    t.note_auto_increment(u64::MAX - 1).unwrap();
    assert!(t.reserve_auto_increment(2, 1, 1).is_err());
}
