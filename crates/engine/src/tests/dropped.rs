//! An engine that is dropped is gone: nothing keeps its memory, and no thread of it goes on.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use super::harness::*;
use crate::open::SYSTEM_SPACE;
use crate::{Engine, EngineConfig, Xid};

/// The longest that a thread takes to let go of what it has in its hands.
const PATIENCE: Duration = Duration::from_secs(120);

type Probe = Box<dyn Fn() -> usize>;

fn probe<T: 'static>(name: &'static str, of: &Arc<T>) -> (&'static str, Probe) {
    let weak: Weak<T> = Arc::downgrade(of);
    (name, Box::new(move || weak.strong_count()))
}

fn probes(engine: &Arc<Engine>) -> Vec<(&'static str, Probe)> {
    vec![
        probe("engine", engine),
        probe("log", &*engine.log),
        probe("pool", &engine.pool),
        probe("io", &engine.io),
        probe("transactions", &engine.trx),
        probe("registry", &engine.registry),
        probe("metadata", &engine.metadata),
    ]
}

fn all_are_gone(probes: &[(&'static str, Probe)]) {
    let give_up = Instant::now() + PATIENCE;
    for (name, count) in probes {
        while count() > 0 {
            assert!(Instant::now() < give_up, "{name} has {} owners", count());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// With and without threads, after work of every kind: a committed change, one whose transaction is dropped,
/// one that is prepared.
#[test]
fn a_dropped_engine_is_freed_with_all_that_it_is_made_of() {
    for config in [config(), quiet(), EngineConfig { background: false, ..quiet() }] {
        for is_shut_down in [false, true] {
            let fs = memory();
            let mut engine = Engine::open(config.clone(), fs.clone()).unwrap();
            create_schema(&engine);
            create_table(&engine, definition("t"));
            for round in 0..3 {
                let table = table(&engine, "t");
                let client = |id: i64| {
                    let mut client = Client::new(&engine, &table);
                    client.insert(&Row::new(10 * round + id, id, None, &[7; 40_000])).unwrap();
                    client
                };
                client(0).commit();
                let xid = Xid { format: 1, gtrid: vec![round as u8], bqual: Vec::new() };
                let branch = engine.xa_start(xid).unwrap();
                wait(client(1).tx.prepare(branch)).unwrap();
                drop(client(2));
                drop(table);
                if is_shut_down {
                    engine.shutdown().unwrap();
                }
                let probes = probes(&engine);
                drop(engine);
                all_are_gone(&probes);
                engine = Engine::open(config.clone(), fs.clone()).unwrap();
            }
        }
    }
}

/// What was begun is ended if the engine cannot be opened after all.
#[test]
fn an_engine_that_cannot_be_opened_leaves_no_thread_behind() {
    let fs = memory();
    let engine = Engine::open(config(), fs.clone()).unwrap();
    engine.shutdown().unwrap();
    engine.files.remove_space(SYSTEM_SPACE).unwrap();
    drop(engine);
    let probe = Arc::downgrade(&fs);
    assert!(Engine::open(config(), fs.clone()).is_err(), "the dictionary's file is missing");
    drop(fs);
    let give_up = Instant::now() + PATIENCE;
    while probe.strong_count() > 0 {
        assert!(Instant::now() < give_up, "the file system has {} owners", probe.strong_count());
        std::thread::sleep(Duration::from_millis(1));
    }
}
