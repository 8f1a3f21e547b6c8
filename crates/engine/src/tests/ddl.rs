//! Changing definitions.

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_catalog::descriptor::{Index, IndexPart};
use palisade_catalog::{Column, SqlType, TableDef, Value};

use super::harness::*;
use crate::{Error, ExclusiveLock, Share, TableLocks, TableName};

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
    drop(held);
    check(&engine, &new);
    let held = lock(&engine, &["t"]);
    let unique = Index { unique: true, ..Index::new("bad", vec![IndexPart::of(1)]) };
    let error = wait(engine.add_indexes(&held, &name(), vec![unique])).unwrap_err();
    assert!(matches!(error, Error::DuplicateRow { index: 4, .. }));
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
fn indexes_that_stay_keep_their_trees_when_others_come_and_go() {
    let (_fs, engine) = filled(500);
    let held = lock(&engine, &["t"]);
    let old = table(&engine, "t");
    let mut def = old.def().clone();
    let kept = def.indexes.iter().position(|index| index.name == "u").unwrap();
    let trees = def.indexes[kept].trees.clone();
    def.indexes[kept].name = "renamed".to_owned();
    def.indexes.retain(|index| index.name != "k");
    def.indexes.insert(1, Index::new("k", vec![IndexPart::of(1), IndexPart::of(2)]));
    let new = wait(engine.change_indexes(&held, &name(), def)).unwrap();
    let names: Vec<_> = new.indexes[1..].iter().map(|index| index.name.as_str()).collect();
    assert_eq!(names, ["k", "renamed"]);
    assert_eq!(new.indexes[2].trees, trees);
    drop(held);
    check(&engine, &new);
}

/// A tree that nobody has freed: the building of its index has failed, and so has what follows that.
#[test]
fn dropping_an_index_forgets_no_other_tree_that_is_to_be_freed() {
    let (_fs, engine) = filled(100);
    let t = table(&engine, "t");
    retry_blocking(|| crate::info::create_loose(&engine.log, t.sole_partition().tree(0).space(), 1000))
        .unwrap();
    let held = lock(&engine, &["t"]);
    let new = wait(engine.drop_indexes(&held, &name(), &["k".to_owned()])).unwrap();
    drop(held);
    check(&engine, &new);
}

/// What is wrong with an index is a reason to drop it.
#[test]
fn an_index_that_is_damaged_is_dropped_and_the_table_goes_on_without() {
    let (fs, engine) = filled(1500);
    let t = table(&engine, "t");
    retry_blocking(|| {
        let mut mtr = palisade_btree::Mtr::begin(&engine.log, 1000)?;
        let root = mtr.exclusive(t.sole_partition().tree(1).space(), t.sole_partition().tree(1).root())?;
        mtr.apply(root, palisade_btree::PageOp::Format { page_type: palisade_btree::page_type::FREE });
        mtr.commit(|_| {});
        Ok::<_, Blocked<palisade_btree::Error>>(())
    })
    .unwrap();
    let held = lock(&engine, &["t"]);
    let new = wait(engine.drop_indexes(&held, &name(), &["k".to_owned()])).unwrap();
    drop(held);
    assert_eq!(Client::new(&engine, &new).scan(1).len(), 1500);
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop((t, new));
    crash(engine);
    let engine = open(&fs);
    let mut client = Client::new(&engine, &table(&engine, "t"));
    assert_eq!((client.scan(0).len(), client.scan(1).len()), (1500, 1500));
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
    assert_eq!(t.auto_increment(), 135, "the next of the series");
    engine.log.flush_blocking(engine.log.tail()).unwrap();
    drop(t);
    crash(engine);
    let engine = open(&fs);
    let t = table(&engine, "t");
    assert!(t.auto_increment() >= 135);
    t.note_auto_increment(u64::MAX - 1).unwrap();
    assert!(t.reserve_auto_increment(2, 1, 1).is_err());
}

fn tries_to_insert(client: &mut Client, id: i64) -> crate::Attempt<()> {
    let row = Row::new(id, 1, None, b"x").encode(&client.table);
    client.tx.insert(&client.table, &row)
}

#[test]
fn a_table_locked_for_reading_is_read_by_others_and_written_by_none() {
    let (_fs, engine) = filled(10);
    let t = table(&engine, "t");
    let mut writer = Client::new(&engine, &t);
    writer.insert(&Row::new(100, 1, None, b"x")).unwrap();
    let mut locks = TableLocks::new(&engine, [(name(), Share::Reading)]);
    assert!(matches!(locks.acquire(), Err(Blocked::Wait(_))), "a writer is at work");
    let mut late = Client::new(&engine, &t);
    assert!(tries_to_insert(&mut late, 101).is_err(), "no new writer begins");
    writer.commit();
    retry_blocking(|| locks.acquire()).unwrap();
    let mut reader = Client::new(&engine, &t);
    assert!(reader.tx.use_table(&t).is_ok());
    let mut second = TableLocks::new(&engine, [(name(), Share::Reading)]);
    assert!(second.acquire().is_ok(), "readers share");
    let mut exclusive = ExclusiveLock::new(&engine, [name()]);
    assert!(exclusive.acquire().is_err());
    drop(exclusive);
    drop((locks, second));
    late.insert(&Row::new(101, 1, None, b"x")).unwrap();
    late.commit();
}

#[test]
fn the_owner_of_table_locks_uses_and_redefines_its_tables() {
    let (_fs, engine) = filled(10);
    let mut locks = TableLocks::new(&engine, [(name(), Share::Alone)]);
    retry_blocking(|| locks.acquire()).unwrap();
    let mut owner = Client::new(&engine, &table(&engine, "t"));
    owner.tx.hold(Some(&locks));
    owner.insert(&Row::new(100, 1, None, b"x")).unwrap();
    owner.commit();
    let ddl = ExclusiveLock::under(&locks, [name()]);
    wait(engine.truncate_table(&ddl, &name())).unwrap();
    drop(ddl);
    let new = table(&engine, "t");
    let mut other = Client::new(&engine, &new);
    assert!(other.tx.use_table(&new).is_err(), "the new definition is closed from its first moment");
    assert!(other.tx.takes_metadata_wait());
    let mut owner = Client::new(&engine, &new);
    owner.tx.hold(Some(&locks));
    owner.insert(&Row::new(1, 1, None, b"x")).unwrap();
    owner.commit();
    drop(locks);
    drop(owner);
    assert!(other.tx.use_table(&new).is_ok());
}

#[test]
fn under_a_lock_of_everything_nothing_changes() {
    let (_fs, engine) = filled(10);
    let mut everything = TableLocks::of_everything_but(&engine, Vec::new());
    retry_blocking(|| everything.acquire()).unwrap();
    let t = table(&engine, "t");
    let mut client = Client::new(&engine, &t);
    assert!(client.tx.use_table(&t).is_ok());
    assert!(tries_to_insert(&mut client, 100).is_err());
    client.tx.cancel_wait();
    assert!(ExclusiveLock::new(&engine, [TableName::new("test", "new")]).acquire().is_err());
    drop(everything);
    assert!(ExclusiveLock::new(&engine, [TableName::new("test", "new")]).acquire().is_ok());
    client.insert(&Row::new(100, 1, None, b"x")).unwrap();
    client.commit();
}

#[test]
fn an_empty_table_takes_64_kib() {
    let (_fs, engine, _) = new_engine();
    let def = TableDef { indexes: definition("e").indexes[..1].to_vec(), ..definition("e") };
    let table = create_table(&engine, def);
    let space = table.sole_partition().tree(0).space();
    assert_eq!(u64::from(space.pages()) * palisade_buffer::PageSize::DEFAULT.bytes() as u64, 64 << 10);
    // ... and grows by doubling until it has a megabyte.
    let mut sizes = vec![space.pages()];
    while space.pages() < 200 {
        let more = space.pages() + 1;
        retry_blocking(|| space.ensure_allocated(more)).unwrap();
        sizes.push(space.pages());
    }
    assert_eq!(sizes, [4, 8, 16, 32, 64, 128, 192, 256]);
}
