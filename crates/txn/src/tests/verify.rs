//! Canaries: planted damage of undo that the checker must find, and sound undo of every kind that it must not
//! find damaged.

use std::sync::Arc;

use palisade_base::PageNo;
use palisade_base::event::retry_blocking;
use palisade_buffer::{Page, PageRead};
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::{Store, put};
use crate::undo::page::*;
use crate::undo::record::PREVIOUS;
use crate::undo::verify::{UndoReport, verify_undo};

/// Committed, in flight, rolled back and partly rolled back transactions with undo of several pages.
fn store() -> (Arc<FaultFileSystem>, Store, Vec<crate::Trx>) {
    let fs = Arc::new(FaultFileSystem::new(1));
    let store = Store::create(&fs);
    let mut open = Vec::new();
    for number in 0..12u32 {
        let mut trx = store.system.begin();
        for row in 0..20u32 {
            let key = (number * 100 + row).to_be_bytes();
            put(&store, &mut trx, &key, &[1; 2000]);
            let savepoint = trx.savepoint();
            put(&store, &mut trx, &key, &[2; 2000]);
            if row % 3 == 0 {
                retry_blocking(|| trx.rollback_to(savepoint, crate::Places::Open)).unwrap();
            }
            put(&store, &mut trx, &key, &[3; 1000]);
        }
        match number % 4 {
            0 => retry_blocking(|| trx.rollback()).unwrap(),
            1 => open.push(trx),
            _ => drop(retry_blocking(|| trx.commit()).unwrap()),
        }
    }
    store.flush();
    (fs, store, open)
}

#[test]
fn sound_undo_is_found_sound_before_and_after_a_crash_and_while_it_is_purged() {
    let (fs, store, open) = store();
    let report = store.undo_report();
    assert_eq!((report.active, report.prepared, report.history), (3, 0, 6));
    assert!(report.records > 12 * 50 && report.segments >= 3, "{report:?}");
    drop((store, open));
    fs.crash(CrashKeeps::Synced);
    let (store, in_flight) = Store::recover(&fs);
    while retry_blocking(|| store.system.purge_step()).unwrap() {
        store.undo_report();
    }
    for mut trx in in_flight {
        retry_blocking(|| trx.rollback()).unwrap();
    }
    while retry_blocking(|| store.system.purge_step()).unwrap() {}
    let report = store.undo_report();
    assert_eq!((report.active, report.history), (0, 0));
}

/// What the checker says once `plant` has changed the first page for which it gives true.
fn damaged(plant: impl Fn(PageNo, &mut Page) -> bool) -> UndoReport {
    let (_fs, store, _open) = store();
    let space = store.system.undo().space();
    let used = retry_blocking(|| palisade_btree::alloc::usage(space)).unwrap().high_water;
    let planted = (1..used).map(PageNo).any(|number| {
        let mut copy = Page::zeroed(palisade_buffer::PageSize::DEFAULT);
        copy.copy_from_slice(&retry_blocking(|| space.shared(number)).unwrap());
        if !plant(number, &mut copy) {
            return false;
        }
        let mut page = retry_blocking(|| space.exclusive(number)).unwrap();
        page.copy_from_slice(&copy);
        let mut credit = retry_blocking(|| store.log.admit(16)).unwrap();
        store.log.append(&mut credit, b"", |range| page.stamp(range));
        true
    });
    assert!(planted);
    verify_undo(space, &mut |_, _| {}, &mut |_, _, _| {}, &mut |_| true).unwrap()
}

fn expect(what: &str, plant: impl Fn(PageNo, &mut Page) -> bool) {
    let report = damaged(plant);
    let space = report.space.iter().flat_map(|space| &space.damage);
    let mut found = report.damage.iter().chain(space);
    assert!(found.any(|damage| damage.what == what), "{what}: {:?}", report.damage);
}

/// Plants on a page of a segment.
fn on_undo(page: &mut Page, is_tail: bool, plant: impl Fn(&mut Page)) -> bool {
    let is_it = page.page_type() == UNDO_TYPE
        && (page.u32_at(NEXT) == 0) == is_tail
        && usize::from(page.u16_at(USED)) > RECORDS + 3000;
    if is_it {
        plant(page);
    }
    is_it
}

/// Plants in three records in a row, one of which was surely not taken back, of a transaction that was not
/// rolled back.
fn misleading(page: &mut Page, plant: impl Fn(&mut Page, usize)) -> bool {
    const WRITER: usize = 3;
    // The first of four transactions is rolled back, and ids are given in turn.
    let is_kept = page.u32_at(RECORDS + WRITER) % 4 != 1;
    is_kept
        && on_undo(page, false, |page| {
            let mut record = RECORDS;
            for _ in 0..3 {
                record += usize::from(page.u16_at(record));
                plant(page, record);
            }
        })
}

#[test]
fn planted_damage_is_found() {
    expect("an undo page of another segment", |_, page| {
        on_undo(page, false, |page| page.put_u16(SEGMENT, 77))
    });
    expect("an undo segment ends before its tail", |_, page| {
        on_undo(page, false, |page| page.put_u32(NEXT, 0))
    });
    expect("a page of undo beyond the end of its file", |_, page| {
        on_undo(page, false, |page| page.put_u32(NEXT, 1 << 30))
    });
    expect("the tail of an undo segment has a next page", |_, page| {
        on_undo(page, true, |page| page.put_u32(NEXT, 9))
    });
    expect("an undo page that is in two places of the segments' chains", |number, page| {
        on_undo(page, false, |page| page.put_u32(NEXT, number.0))
    });
    expect("not an undo record", |_, page| on_undo(page, false, |page| page.put_u16(RECORDS, 3)));
    expect("impossible end of the undo records", |_, page| {
        on_undo(page, false, |page| page.put_u16(USED, 20_000))
    });
    expect("an undo record goes beyond the end of its page's records", |_, page| {
        on_undo(page, false, |page| page.put_u16(USED, page.u16_at(USED) - 1))
    });
    expect("an undo record leads to no record of its transaction", |_, page| {
        misleading(page, |page, record| page.put_u16(record + PREVIOUS, RECORDS as u16 + 3))
    });
    expect("an undo record that a transaction leads to is not in its segment", |_, page| {
        misleading(page, |page, record| page.put_u32(record + PREVIOUS + 2, 2))
    });
    expect("an undo record leads to a later one", |number, page| {
        misleading(page, |page, record| {
            page.put_u16(record + PREVIOUS, record as u16);
            page.put_u32(record + PREVIOUS + 2, number.0);
        })
    });
    expect("not an undo directory", |number, page| {
        if number == PageNo(3) {
            page.set_page_type(UNDO_TYPE);
        }
        number == PageNo(3)
    });
    expect("more undo segments than there can be", |number, page| {
        if number == DIRECTORY {
            page.put_u32(SEGMENT_COUNT, 1 << 20);
        }
        number == DIRECTORY
    });
}

#[test]
fn a_page_that_no_segment_has_is_found() {
    expect("in use according to the map, but nothing uses it", |number, page| {
        if number == DIRECTORY {
            let (_, at) = directory_place(palisade_buffer::PageSize::DEFAULT.bytes(), 0);
            let tail = page.u32_at(at + 4);
            page.put_u32(at, tail);
        }
        number == DIRECTORY
    });
}
