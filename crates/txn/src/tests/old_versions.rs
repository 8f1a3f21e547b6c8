//! Reads that go back over many versions, and have to let others have their turns meanwhile: in tests after every third.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_io::FaultFileSystem;

use super::harness::{Store, put};
use crate::Trx;

/// Versions of each row.
const VERSIONS: u8 = 40;
/// How often a read may have to be called: each call goes back over three of them.
const MOST_CALLS: u8 = VERSIONS / 3 + 2;

/// A store with rows, a transaction whose snapshot sees the first version of each, and all the others.
fn rows_with_versions(keys: &[&[u8]]) -> (Store, Trx) {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut writer = store.system.begin();
    keys.iter().for_each(|key| put(&store, &mut writer, key, b"first"));
    retry_blocking(|| writer.commit()).unwrap();
    let mut reader = store.system.begin();
    reader.open_snapshot();
    for version in 0..VERSIONS {
        keys.iter().for_each(|key| put(&store, &mut writer, key, &[version; 9]));
        retry_blocking(|| writer.commit()).unwrap();
    }
    (store, reader)
}

/// One call: the row, if the read is through.
fn call(store: &Store, reader: &mut Trx, key: &[u8]) -> Option<Vec<u8>> {
    let mut row = Vec::new();
    match reader.read_snapshot(&store.clustered, key, &mut row) {
        Ok(found) => {
            assert!(found.is_some(), "the snapshot sees a row");
            Some(row)
        }
        Err(Blocked::Wait(event)) => {
            event.wait_blocking();
            None
        }
        Err(Blocked::Error(error)) => panic!("{error}"),
    }
}

#[test]
fn a_read_that_had_to_wait_goes_on_where_it_was() {
    let (store, mut reader) = rows_with_versions(&[b"row"]);
    let mut calls = 1;
    let row = loop {
        match call(&store, &mut reader, b"row") {
            Some(row) => break row,
            None => calls += 1,
        }
        assert!(calls <= MOST_CALLS, "it begins anew each time");
    };
    assert_eq!(row, b"first");
    assert!(calls > 2, "the test means nothing otherwise");
}

#[test]
fn several_reads_under_way_do_not_disturb_each_other() {
    let keys: [&[u8]; 3] = [b"a", b"b", b"c"];
    let (store, mut reader) = rows_with_versions(&keys);
    let mut read = [false; 3];
    for _ in 0..MOST_CALLS {
        for (key, read) in keys.iter().zip(&mut read).filter(|(_, read)| !**read) {
            if let Some(row) = call(&store, &mut reader, key) {
                assert_eq!(row, b"first");
                *read = true;
            }
        }
    }
    assert_eq!(read, [true; 3]);
}

#[test]
fn who_changes_the_row_while_he_reads_it_sees_his_own_change() {
    let (store, mut reader) = rows_with_versions(&[b"row"]);
    assert_eq!(call(&store, &mut reader, b"row"), None);
    put(&store, &mut reader, b"row", b"his own");
    assert_eq!(call(&store, &mut reader, b"row").as_deref(), Some(&b"his own"[..]));
}

#[test]
fn another_snapshot_begins_with_the_newest_version() {
    let (store, mut reader) = rows_with_versions(&[b"row"]);
    assert_eq!(call(&store, &mut reader, b"row"), None);
    reader.close_snapshot();
    assert_eq!(call(&store, &mut reader, b"row").as_deref(), Some(&[VERSIONS - 1; 9][..]));
}
