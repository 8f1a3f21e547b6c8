//! Crashes at any moment: what recovery brings back is exactly what the log had, page by page.

use std::sync::Arc;

use palisade_base::prng::{Prng, test_seed};
use palisade_base::{Lsn, PageId, PageNo};
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem, FileSystem, OpenMode};

use super::alloc::{allocate, free};
use super::harness::{SPACE, Store, at_other_sizes, data_file, page_bytes};
use super::model::{Model, SHAPES, Shape, check};
use crate::Error;

/// A change of the model, with the end of its mini-transaction.
struct Change {
    end: Lsn,
    key: Vec<u8>,
    value: Option<Vec<u8>>,
}

/// Changes until the power is cut. Gives what was reported durable.
fn live(store: &Store, tree: &crate::Tree, shape: Shape, prng: &mut Prng, history: &mut Vec<Change>) -> Lsn {
    let mut durable = Lsn::ZERO;
    for step in 0.. {
        let result = one_step(store, tree, shape, prng, step, history);
        match result {
            Ok(Some(lsn)) => durable = lsn,
            Ok(None) => {}
            Err(_) => break,
        }
    }
    durable
}

fn one_step(
    store: &Store,
    tree: &crate::Tree,
    shape: Shape,
    prng: &mut Prng,
    step: u64,
    history: &mut Vec<Change>,
) -> Result<Option<Lsn>, Error> {
    let key = shape.key(prng, step);
    let value = shape.value(prng, &key);
    match prng.below(20) {
        0 => {
            let tail = store.log.tail();
            store.log.flush_blocking(tail)?;
            return Ok(Some(tail));
        }
        1 => {
            store.pool.step().map_err(Error::Buffer)?;
            let candidate = store.log.checkpoint_candidate();
            if candidate > store.log.checkpoint_lsn() && prng.one_in(3) {
                store.log.write_checkpoint(candidate)?;
            }
        }
        2..7 => {
            if let Some(end) = store.remove(tree, &key)? {
                history.push(Change { end, key: key.clone(), value: None });
            }
            store.run(|| tree.shrink(&key))?;
        }
        _ => {
            if let Some(end) = store.put(tree, &key, &value)? {
                history.push(Change { end, key, value: Some(value) });
            }
        }
    }
    Ok(None)
}

fn replay(model: &mut Model, history: &[Change], end: Lsn) {
    for change in history.iter().filter(|change| change.end <= end) {
        match &change.value {
            Some(value) => model.insert(change.key.clone(), value.clone()),
            None => model.remove(&change.key),
        };
    }
}

fn lives(seed: u64, shape: Shape, keeps: CrashKeeps, count: u32) {
    let mut prng = Prng::new(seed);
    let fs = Arc::new(FaultFileSystem::new(seed));
    let mut store = Store::on_faulty_disk(&fs, 60);
    let mut tree = store.create_tree();
    store.flush();
    let root = tree.root();
    let mut model = Model::new();
    for _ in 0..count {
        fs.fail(Call::Change, 1 + prng.below(400), Fault::Crash);
        let mut history = Vec::new();
        let durable = live(&store, &tree, shape, &mut prng, &mut history);
        drop((store, tree));
        fs.crash(keeps);
        let threads = 1 + prng.below(3) as usize;
        let (recovered_store, recovered) = Store::recover(fs.clone(), 60, threads);
        assert!(recovered.end >= durable, "{recovered:?} lost what was durable up to {durable}");
        replay(&mut model, &history, recovered.end);
        store = recovered_store;
        tree = store.tree(root);
        check(&store, &tree, &model);
    }
}

#[test]
fn recovery_brings_back_what_the_log_had() {
    let seed = test_seed(31);
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let runs = [(CrashKeeps::Random, 4), (CrashKeeps::Synced, 1), (CrashKeeps::Everything, 1)];
        for (run, (keeps, count)) in runs.into_iter().enumerate() {
            lives(seed + 100 * number as u64 + run as u64, shape, keeps, count);
        }
    }
}

#[test]
fn recovery_brings_back_what_the_log_had_of_pages_of_another_size() {
    let seed = test_seed(33);
    at_other_sizes(|| {
        for (number, shape) in SHAPES.into_iter().enumerate() {
            lives(seed + number as u64, shape, CrashKeeps::Random, 2);
        }
    });
}

/// Redo on pages that are newer than the record: skipped; on older ones: applied; in one batch.
#[test]
fn recovering_twice_changes_nothing() {
    let fs = Arc::new(FaultFileSystem::new(5));
    let mut prng = Prng::new(test_seed(32));
    let store = Store::on_faulty_disk(&fs, 100);
    let tree = store.create_tree();
    let mut model = Model::new();
    for step in 0..600 {
        super::model::change(&store, &tree, &mut model, Shape::Prefixes, &mut prng, step);
    }
    store.flush();
    let root = tree.root();
    drop((store, tree));
    for _ in 0..2 {
        fs.crash(CrashKeeps::Synced);
        let (store, _) = Store::recover(fs.clone(), 100, 2);
        check(&store, &store.tree(root), &model);
        store.pool.step().unwrap();
    }
}

/// The disk has lost a write of a page, which no checksum tells: what the page holds is old, and redo does not fit it.
#[test]
fn redo_that_does_not_fit_its_page_is_an_error_that_names_it() {
    let fs = Arc::new(FaultFileSystem::new(6));
    let store = Store::on_faulty_disk(&fs, 60);
    store.pool.checkpoint_sharply().unwrap();
    let mut old = vec![0; page_bytes()];
    store.space.file().read_at(&mut old, 0).unwrap();
    let page = allocate(&store, PageNo::NONE, 1).unwrap()[0];
    store.pool.checkpoint_sharply().unwrap();
    free(&store, page).unwrap();
    store.flush();
    drop(store);
    fs.crash(CrashKeeps::Synced);
    let file = fs.open(&data_file(), OpenMode::EXISTING).unwrap();
    file.write_at(&old, 0).unwrap();
    file.sync().unwrap();
    for threads in [1, 2] {
        let error =
            Store::try_to_recover(fs.clone(), 60, threads).err().expect("the page is not what it was");
        let header = PageId { space: SPACE, page: PageNo(0) };
        assert!(matches!(error, Error::Corrupted { page, .. } if page == header), "{error}");
        let mut now = vec![0; page_bytes()];
        file.read_at(&mut now, 0).unwrap();
        assert!(now == old, "what is on disk stays for whoever looks into it");
    }
}
