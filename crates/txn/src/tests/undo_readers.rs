//! Readers that follow a roll pointer while the transaction behind it ends.

use std::sync::{Arc, mpsc};

use palisade_base::Lsn;
use palisade_base::event::retry_blocking;
use palisade_btree::Mtr;
use palisade_btree::mtr::MAX_ENTRY_CHANGE_BYTES;
use palisade_io::FaultFileSystem;

use super::harness::Store;
use crate::{ClusteredHeader, Gaps, RowChange, RowOutcome, Trx};

fn put(store: &Store, trx: &mut Trx, key: &[u8], row: &[u8]) {
    let mut seen = Vec::new();
    let outcome = retry_blocking(|| {
        let header = trx.read_current(&store.clustered, key, Gaps::Open, &mut seen)?;
        let change = match header {
            Some(header) => RowChange::Update { expected: header.stamp(), flags: 0, row, released: None },
            None => RowChange::Insert { flags: 0, row },
        };
        trx.change_row(&store.clustered, key, change)
    });
    assert!(matches!(outcome.unwrap(), RowOutcome::Done(_)));
}

/// The log's tail stands still while somebody has reserved a range and not linked it. A rollback that ends then must not
/// look as old as the snapshot that has just read one of its versions.
#[test]
fn the_undo_of_a_rollback_outlives_a_reader_that_has_seen_its_version_while_the_tail_stands_still() {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut trx = store.system.begin();
    put(&store, &mut trx, b"row", b"old");
    retry_blocking(|| trx.commit()).unwrap();

    let mut writer = store.system.begin();
    put(&store, &mut writer, b"row", b"new");
    // The record of that is on a page that the segment leaves behind.
    for number in 0..20u8 {
        for filling in [1, 2] {
            put(&store, &mut writer, &[b'x', number], &[filling; 3000]);
        }
    }

    std::thread::scope(|scope| {
        let (reserved_tx, reserved) = mpsc::channel::<Lsn>();
        let (go_on, wait) = mpsc::channel::<()>();
        let (log, secondary) = (&store.log, &store.secondary);
        scope.spawn(move || {
            // Nobody else needs the leaf that stays latched meanwhile.
            let mut mtr = retry_blocking(|| Mtr::begin(log, MAX_ENTRY_CHANGE_BYTES)).unwrap();
            let position = retry_blocking(|| secondary.acquire(&mut mtr, b"entry", 10)).unwrap();
            secondary.insert(&mut mtr, position, b"");
            mtr.commit(|range| {
                reserved_tx.send(range.start).unwrap();
                wait.recv().unwrap();
            });
        });
        let stands_still_at = reserved.recv().unwrap();
        let mut reader = store.system.begin();
        assert!(reader.open_snapshot().lsn <= stands_still_at);
        let mut row = Vec::new();
        let seen: Option<ClusteredHeader> =
            retry_blocking(|| reader.read_latest(&store.clustered, b"row", &mut row)).unwrap();
        let mut header = seen.expect("the row is there");
        assert_eq!((header.writer, &row[..]), (writer.id().unwrap(), &b"new"[..]));

        retry_blocking(|| writer.rollback()).unwrap();
        assert!(store.log.tail() <= stands_still_at, "the tail stands still");
        while retry_blocking(|| store.system.purge_step()).unwrap() {}
        let found = retry_blocking(|| reader.older_version(&mut header, &mut row));
        assert!(found.unwrap(), "the version before is found");
        assert_eq!(row, b"old");
        drop(reader);
        while retry_blocking(|| store.system.purge_step()).unwrap() {}
        assert_eq!(store.system.history_length(), 0, "nobody can see it now, wherever the tail is");
        go_on.send(()).unwrap();
    });
}
