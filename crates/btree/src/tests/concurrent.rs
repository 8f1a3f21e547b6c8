//! Threads that change a tree, and threads that read it meanwhile.

use std::collections::BTreeMap;
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{IoPool, MemFileSystem, Waiting};

use super::harness::{Store, put, remove};
use crate::verify::{verify_space, verify_tree};
use crate::{Direction, ScanEnd, Tree};

const WRITERS: u64 = 3;

/// Keys that stay: every scan must meet all of them, once.
fn lasting(n: u64) -> [u8; 8] {
    (n * 50).to_be_bytes()
}
const LASTING: u64 = 60;

fn value_of(key: &[u8], prng: &mut Prng) -> Vec<u8> {
    let mut value = key.to_vec();
    value.resize(8 + prng.below(600) as usize, 1);
    value
}

fn write(store: &Store, tree: &Tree, writer: u64, seed: u64, model: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let mut prng = Prng::new(seed);
    for step in 0..1500 {
        let n = prng.below(3000) / WRITERS * WRITERS + writer;
        let key = n.to_be_bytes();
        if n.is_multiple_of(50) {
            continue;
        }
        let removing = if step / 250 % 2 == 0 { 2 } else { 8 };
        if prng.below(10) < removing {
            let removed = retry_blocking(|| remove(&store.log, tree, &key)).unwrap();
            assert_eq!(removed.is_some(), model.remove(&key[..]).is_some());
            retry_blocking(|| tree.shrink(&key)).unwrap();
        } else {
            let value = value_of(&key, &mut prng);
            retry_blocking(|| put(&store.log, tree, &key, &value)).unwrap();
            model.insert(key.to_vec(), value);
        }
    }
}

fn read(tree: &Tree, seed: u64, done: &AtomicBool) {
    let mut prng = Prng::new(seed);
    while !done.load(Ordering::Relaxed) {
        let key = lasting(prng.below(LASTING));
        let found =
            retry_blocking(|| tree.get(&key, |value| value.is_some_and(|v| v.starts_with(&key)))).unwrap();
        assert!(found, "{key:?} is gone");
        scan_all(tree, *prng.pick(&[Direction::Forward, Direction::Backward]));
        scan_parts(tree, prng.below(12) as usize + 1);
    }
}

/// Divides the tree, and scans each part after the other. Writers divide and merge leaves meanwhile.
fn scan_parts(tree: &Tree, parts: usize) {
    let dividers = retry_blocking(|| tree.dividers(Bound::Unbounded, Bound::Unbounded, parts)).unwrap();
    assert!(dividers.len() < parts);
    assert!(dividers.windows(2).all(|pair| pair[0] < pair[1]));
    let mut met = 0;
    for part in 0..=dividers.len() {
        let lower =
            part.checked_sub(1).map_or(Bound::Unbounded, |before| Bound::Included(&dividers[before][..]));
        let upper = dividers.get(part).map_or(Bound::Unbounded, |key| Bound::Excluded(&key[..]));
        let mut end: Option<ScanEnd> = None;
        loop {
            let from = end.as_ref().map_or(lower, |end| end.next_bound().unwrap());
            let mut found = 0;
            let next = retry_blocking(|| {
                found = 0;
                tree.scan_range(from, upper, Direction::Forward, 0, |mut entry| {
                    let key = u64::from_be_bytes(entry.key()[..8].try_into().unwrap());
                    found += u64::from(key.is_multiple_of(50));
                    ControlFlow::Continue(())
                })
            });
            met += found;
            match next.unwrap() {
                ScanEnd::Exhausted => break,
                next => end = Some(next),
            }
        }
    }
    assert_eq!(met, LASTING, "no entry is missed, and none met twice");
}

fn scan_all(tree: &Tree, direction: Direction) {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut end: Option<ScanEnd> = None;
    loop {
        let from = end.as_ref().map_or(Bound::Unbounded, |end| end.next_bound().unwrap());
        let next = retry_blocking(|| {
            tree.scan(from, direction, |key, value| {
                assert!(value.starts_with(key), "an entry is read whole");
                keys.push(key.to_vec());
                ControlFlow::Continue(())
            })
        });
        match next.unwrap() {
            ScanEnd::Exhausted => break,
            next => end = Some(next),
        }
    }
    if direction == Direction::Backward {
        keys.reverse();
    }
    assert!(keys.windows(2).all(|pair| pair[0] < pair[1]), "each key once, in order");
    let met = keys.iter().filter(|key| u64::from_be_bytes(key[..8].try_into().unwrap()) % 50 == 0).count();
    assert_eq!(met as u64, LASTING, "no entry is missed");
}

#[test]
fn readers_and_writers_do_not_disturb_each_other() {
    read_and_write(Hints::Off);
}

/// A guess that is not checked would find what has gone to another page, or is on a page that was given back.
#[test]
fn readers_that_guess_find_what_writers_have_moved() {
    read_and_write(Hints::Switched);
}

/// Whether look-ups guess where keys are: all the time, but for moments.
#[derive(Clone, Copy, PartialEq)]
enum Hints {
    Off,
    Switched,
}

fn read_and_write(hints: Hints) {
    let seed = test_seed(71);
    let store =
        Store::create(Arc::new(MemFileSystem::new()), 64, IoPool::new(2, Waiting::Threads).unwrap(), true);
    store.pool.start().unwrap();
    store.pool.set_hints(hints == Hints::Switched);
    let tree = store.create_tree();
    let mut prng = Prng::new(seed);
    for n in 0..LASTING {
        let value = value_of(&lasting(n), &mut prng);
        retry_blocking(|| put(&store.log, &tree, &lasting(n), &value)).unwrap();
    }
    let done = AtomicBool::new(false);
    let models = std::thread::scope(|scope| {
        let (store, tree, done) = (&store, &tree, &done);
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                scope.spawn(move || {
                    let mut model = BTreeMap::new();
                    write(store, tree, writer, seed + writer, &mut model);
                    model
                })
            })
            .collect();
        for reader in 0..2 {
            scope.spawn(move || read(tree, seed + 100 + reader, done));
        }
        if hints == Hints::Switched {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    store.pool.set_hints(false);
                    store.pool.set_hints(true);
                    std::thread::sleep(std::time::Duration::from_millis(20));
                }
            });
        }
        let models: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        models
    });
    let report = verify_tree(&tree).unwrap();
    assert_eq!(report.damage, []);
    assert_eq!(verify_space(&store.space, &report.pages).unwrap(), []);
    let models: Vec<BTreeMap<_, _>> = models.into_iter().map(Result::unwrap).collect();
    assert_eq!(report.entries, LASTING + models.iter().map(|model| model.len() as u64).sum::<u64>());
    for (key, value) in models.iter().flatten() {
        let same = retry_blocking(|| tree.get(key, |found| found == Some(&value[..]))).unwrap();
        assert!(same);
    }
    store.pool.shutdown().unwrap();
    store.log.shutdown().unwrap();
}
