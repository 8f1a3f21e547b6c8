//! Interleaved transactions, purge and crashes against a naive multi-version model.
//!
//! The model keeps every committed state as a whole map. A transaction there is the state it saw first, and its own
//! changes on top. Who changed a key and has not ended owns it. A prepared one survives crashes, under a number that is
//! its note.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_btree::{Direction, ScanEnd, Tree, verify};
use palisade_io::{CrashKeeps, FaultFileSystem};

use super::harness::{SECONDARY, Store, at_other_sizes, longest_value};
use crate::{
    ClusteredHeader, EntryChange, Gaps, Places, RowChange, RowOutcome, SavePoint, SecondaryHeader, Trx,
};

type Map = BTreeMap<u8, Vec<u8>>;
/// Changes; `None` deletes.
type Changes = BTreeMap<u8, Option<Vec<u8>>>;

const SESSIONS: usize = 5;
const KEYS: u64 = 12;

/// A transaction, and what the model thinks of it.
struct Session {
    trx: Trx,
    /// What its snapshot sees, once it has read.
    seen: Option<Map>,
    /// Its own changes.
    own: Changes,
    /// Keys it has changed at some time: their locks may have been made explicit, and outlive a rollback to a savepoint.
    touched: BTreeSet<u8>,
    savepoints: Vec<(SavePoint, Changes)>,
    /// Its number, once it is prepared.
    prepared: Option<u32>,
}

impl Session {
    fn new(trx: Trx) -> Self {
        Session {
            trx,
            seen: None,
            own: BTreeMap::new(),
            touched: BTreeSet::new(),
            savepoints: Vec::new(),
            prepared: None,
        }
    }

    /// A transaction that a restart has found prepared.
    fn again(trx: Trx, promises: &BTreeMap<u32, Changes>) -> Self {
        let number = u32::from_le_bytes(trx.prepared().unwrap().try_into().unwrap());
        let own = promises[&number].clone();
        let touched = own.keys().copied().collect();
        Session { own, touched, prepared: Some(number), ..Session::new(trx) }
    }

    fn reset(&mut self) {
        self.seen = None;
        self.own.clear();
        self.touched.clear();
        self.savepoints.clear();
        self.prepared = None;
    }
}

struct World {
    store: Store,
    sessions: Vec<Session>,
    /// Committed states, oldest first.
    committed: Vec<Map>,
    /// How many of them are known to be durable.
    durable: usize,
    /// What was prepared, by number.
    promises: BTreeMap<u32, Changes>,
    /// Promises below this number are known to be durable.
    durable_promises: u32,
    prng: Prng,
}

fn key_of(key: u8) -> Vec<u8> {
    // Long keys make deep trees and many undo pages.
    let mut bytes = vec![b'k'; 40];
    bytes.push(key);
    bytes
}

/// The secondary entry of a row: part of its value, then its key.
fn entry_of(key: u8, value: &[u8]) -> Vec<u8> {
    vec![value[0] % 5, key]
}

fn payload_of(value: &[u8]) -> Vec<u8> {
    vec![value[1]; usize::from(value[1] % 3)]
}

impl World {
    fn latest(&self) -> &Map {
        self.committed.last().expect("there is a first state")
    }

    /// The other session that owns `key`.
    fn owner(&self, session: usize, key: u8) -> Option<usize> {
        (0..self.sessions.len())
            .find(|other| *other != session && self.sessions[*other].own.contains_key(&key))
    }

    /// What the session would find if it locked `key`.
    fn current(&self, session: usize, key: u8) -> Option<Vec<u8>> {
        match self.sessions[session].own.get(&key) {
            Some(own) => own.clone(),
            None => self.latest().get(&key).cloned(),
        }
    }

    fn step(&mut self) {
        let number = self.prng.below(SESSIONS as u64) as usize;
        let key = self.prng.below(KEYS) as u8;
        let what = self.prng.below(100);
        if self.sessions[number].prepared.is_some() && (6..79).contains(&what) {
            return;
        }
        match what {
            0..6 => self.prepare(number),
            6..30 => self.read(number, key),
            30..68 => self.change(number, key),
            68..74 => {
                let session = &mut self.sessions[number];
                session.savepoints.push((session.trx.savepoint(), session.own.clone()));
            }
            74..79 => self.roll_back_to_savepoint(number),
            79..88 => self.commit(number),
            88..92 => {
                let session = &mut self.sessions[number];
                retry_blocking(|| session.trx.rollback()).unwrap();
                session.reset();
            }
            92..96 => drop(retry_blocking(|| self.store.system.purge_step()).unwrap()),
            96 => drop(retry_blocking(|| self.store.system.trim_undo_step()).unwrap()),
            _ => {
                if what < 99 {
                    self.store.flush();
                } else {
                    self.store.clean();
                }
                self.durable = self.committed.len();
                self.durable_promises = self.promises.len() as u32;
            }
        }
    }

    fn prepare(&mut self, number: usize) {
        let promise = self.promises.len() as u32;
        let session = &mut self.sessions[number];
        if session.prepared.is_some() || session.own.is_empty() && self.prng.one_in(2) {
            return;
        }
        retry_blocking(|| session.trx.prepare(&promise.to_le_bytes())).unwrap();
        assert_eq!(session.trx.prepared(), Some(&promise.to_le_bytes()[..]));
        session.prepared = Some(promise);
        self.promises.insert(promise, session.own.clone());
    }

    fn read(&mut self, number: usize, key: u8) {
        let latest = self.latest().clone();
        let session = &mut self.sessions[number];
        let seen = session.seen.get_or_insert(latest);
        let expected = match session.own.get(&key) {
            Some(own) => own.as_ref(),
            None => seen.get(&key),
        };
        let mut row = Vec::new();
        let found =
            retry_blocking(|| session.trx.read_snapshot(&self.store.clustered, &key_of(key), &mut row))
                .unwrap();
        assert_eq!(found.map(|_| &row), expected, "session {number} reads {key}");
        if self.prng.one_in(4) {
            self.read_entries(number);
        }
    }

    /// What the session sees through the secondary index.
    fn read_entries(&mut self, number: usize) {
        let session = &mut self.sessions[number];
        let mut expected: Map = session.seen.clone().expect("it has read");
        for (key, value) in &session.own {
            match value {
                Some(value) => drop(expected.insert(*key, value.clone())),
                None => drop(expected.remove(key)),
            }
        }
        let mut entries = Vec::new();
        scan(&self.store.secondary, |key, value| {
            let (header, payload) = SecondaryHeader::split(value).unwrap();
            entries.push((key.to_vec(), header, payload.to_vec()));
        });
        let mut found = Map::new();
        for (entry, header, payload) in entries {
            let key = entry[1];
            let mut row = Vec::new();
            let sees = session.trx.sees(header.writer);
            if sees && header.is_deleted() {
                continue;
            }
            let read =
                retry_blocking(|| session.trx.read_snapshot(&self.store.clustered, &key_of(key), &mut row))
                    .unwrap();
            let belongs = read.is_some() && entry_of(key, &row) == entry;
            assert!(!sees || belongs, "a visible entry has its row");
            if belongs {
                assert!(!sees || payload == payload_of(&row));
                assert!(found.insert(key, row).is_none(), "one entry per row");
            }
        }
        assert_eq!(found, expected, "session {number} reads by the secondary index");
    }

    fn change(&mut self, number: usize, key: u8) {
        let length = if self.prng.one_in(6) { longest_value() } else { 2 + self.prng.below(60) as usize };
        let mut value = vec![0; length];
        self.prng.fill(&mut value[..2]);
        let deletes = self.prng.one_in(3);
        let owner = self.owner(number, key);
        let old = self.current(number, key);
        let tree = self.store.clustered.clone();
        let trx = &mut self.sessions[number].trx;
        let mut row = Vec::new();
        let bytes = key_of(key);
        let stamp = match trx.read_current(&tree, &bytes, Gaps::Open, &mut row) {
            Ok(header) => header.map(|header| header.stamp()),
            Err(Blocked::Wait(_)) => {
                assert!(owner.is_some(), "session {number} waits for {key}, which nobody owns");
                trx.cancel_wait();
                return;
            }
            Err(Blocked::Error(error)) => panic!("{error}"),
        };
        assert!(owner.is_none(), "session {number} does not wait for {owner:?} at {key}");
        assert_eq!(stamp.map(|_| row), old);
        let change = match (stamp, deletes) {
            (None, true) => return,
            (None, false) => RowChange::Insert { flags: 0, row: &value },
            (Some(expected), true) => RowChange::Delete { expected, released: None },
            (Some(expected), false) => RowChange::Update { expected, flags: 0, row: &value, released: None },
        };
        let changed = loop {
            match trx.change_row(&tree, &bytes, change) {
                // A page that undo or a tree takes again had to be read.
                Err(Blocked::Wait(event)) if event.is_complete() => {}
                other => break other,
            }
        };
        match changed {
            Ok(outcome) => assert!(matches!(outcome, RowOutcome::Done(_))),
            Err(Blocked::Error(error)) => panic!("{error}"),
            Err(Blocked::Wait(_)) => {
                trx.cancel_wait();
                let others = self.sessions.iter().enumerate().filter(|(other, _)| *other != number);
                assert!(others.into_iter().any(|(_, other)| other.touched.contains(&key)));
                return;
            }
        }
        self.sessions[number].touched.insert(key);
        let new = (!deletes).then_some(value);
        self.change_entries(number, key, old.as_deref(), new.as_deref());
        self.sessions[number].own.insert(key, new);
    }

    fn change_entries(&mut self, number: usize, key: u8, old: Option<&[u8]>, new: Option<&[u8]>) {
        let entry = |value: Option<&[u8]>| value.map(|value| (entry_of(key, value), payload_of(value)));
        let (old, new) = (entry(old), entry(new));
        let trx = &mut self.sessions[number].trx;
        let tree = &self.store.secondary;
        let same_key = old.as_ref().map(|old| &old.0) == new.as_ref().map(|new| &new.0);
        if let Some((entry, _)) = old.as_ref().filter(|_| !same_key) {
            retry_blocking(|| trx.change_entry(tree, entry, EntryChange::Delete)).unwrap();
        }
        if let Some((entry, payload)) = new.as_ref().filter(|_| old != new) {
            retry_blocking(|| trx.change_entry(tree, entry, EntryChange::Put(payload))).unwrap();
        }
    }

    fn roll_back_to_savepoint(&mut self, number: usize) {
        let session = &mut self.sessions[number];
        let Some((savepoint, own)) = session.savepoints.pop() else { return };
        retry_blocking(|| session.trx.rollback_to(savepoint, Places::Open)).unwrap();
        // What was undone is nobody's any more: the row says who wrote the version before.
        session.own = own;
    }

    fn commit(&mut self, number: usize) {
        let mut next = self.latest().clone();
        let session = &mut self.sessions[number];
        for (key, value) in &session.own {
            match value {
                Some(value) => drop(next.insert(*key, value.clone())),
                None => drop(next.remove(key)),
            }
        }
        let lsn = retry_blocking(|| session.trx.commit()).unwrap();
        assert!(lsn.is_some() || session.own.is_empty());
        if !session.own.is_empty() || lsn.is_some() && session.prepared.is_none() {
            self.committed.push(next);
        }
        self.sessions[number].reset();
    }

    /// The power is cut; what comes back is one of the committed states since the last flush.
    fn crash(&mut self, fs: &Arc<FaultFileSystem>, keeps: CrashKeeps) {
        let kept = self.sessions.iter().filter_map(|session| session.prepared);
        let kept: Vec<u32> = kept.filter(|promise| *promise < self.durable_promises).collect();
        self.sessions.clear();
        fs.crash(keeps);
        let (store, in_flight) = Store::recover(fs);
        self.store = store;
        let undo = self.store.undo_report();
        assert_eq!(undo.active + undo.prepared, in_flight.len() as u64);
        let mut reader = self.store.system.begin();
        let mut found = Map::new();
        for key in 0..KEYS as u8 {
            let mut row = Vec::new();
            let read = retry_blocking(|| reader.read_snapshot(&self.store.clustered, &key_of(key), &mut row));
            if read.unwrap().is_some() {
                found.insert(key, row);
            }
        }
        retry_blocking(|| reader.commit()).unwrap();
        let position = self.committed.iter().rposition(|state| *state == found);
        let position = position.unwrap_or_else(|| panic!("{found:?} was never a committed state"));
        assert!(position + 1 >= self.durable, "state {position} came back, {} were durable", self.durable);
        self.committed.truncate(position + 1);
        // The log begins a new epoch with what it has found: that is durable.
        self.durable = position + 1;
        self.durable_promises = self.promises.len() as u32;
        let (prepared, others): (Vec<Trx>, Vec<Trx>) =
            in_flight.into_iter().partition(|trx| trx.prepared().is_some());
        self.sessions.extend(prepared.into_iter().map(|trx| Session::again(trx, &self.promises)));
        for promise in kept {
            assert!(
                self.sessions.iter().any(|session| session.prepared == Some(promise)),
                "promise {promise} is broken"
            );
        }
        for mut trx in others {
            assert!(trx.is_recovered());
            let steps = self.prng.below(6);
            for _ in 0..steps {
                retry_blocking(|| trx.rollback_step()).unwrap();
            }
            if self.prng.one_in(4) {
                // Again, in the middle of the rollback: what is undone stays undone, once.
                if self.prng.one_in(2) {
                    self.store.flush();
                }
                drop(trx);
                return self.crash(fs, keeps);
            }
            retry_blocking(|| trx.rollback()).unwrap();
        }
        while self.sessions.len() < SESSIONS {
            self.sessions.push(Session::new(self.store.system.begin()));
        }
    }

    /// Ends everything, purges everything, and looks at the trees.
    fn check(&mut self) {
        for number in 0..self.sessions.len() {
            self.commit(number);
        }
        while retry_blocking(|| self.store.system.purge_step()).unwrap() {}
        assert_eq!(self.store.system.history_length(), 0);
        self.store.undo_report();
        for tree in [&self.store.clustered, &self.store.secondary] {
            let report = verify::verify_tree(tree).unwrap();
            assert!(report.damage.is_empty(), "{:?}", report.damage);
        }
        let mut rows = Map::new();
        scan(&self.store.clustered, |key, value| {
            let (header, row) = ClusteredHeader::split(value).unwrap();
            assert!(!header.is_deleted(), "a delete mark was not purged");
            rows.insert(*key.last().unwrap(), row.to_vec());
        });
        assert_eq!(rows, *self.latest());
        let mut entries = Vec::new();
        scan(&self.store.secondary, |key, value| {
            let (header, payload) = SecondaryHeader::split(value).unwrap();
            assert!(!header.is_deleted(), "a delete mark of index {SECONDARY} was not purged");
            entries.push((key.to_vec(), payload.to_vec()));
        });
        let mut expected: Vec<_> =
            rows.iter().map(|(key, value)| (entry_of(*key, value), payload_of(value))).collect();
        expected.sort();
        assert_eq!(entries, expected);
    }
}

fn scan(tree: &Tree, mut visit: impl FnMut(&[u8], &[u8])) {
    let mut from = Bound::Unbounded;
    loop {
        let end = tree.scan(from.as_ref().map(Vec::as_slice), Direction::Forward, |key, value| {
            visit(key, value);
            ControlFlow::Continue(())
        });
        match end {
            Ok(ScanEnd::Continue { separator, .. }) => from = Bound::Included(separator.to_vec()),
            Ok(_) => return,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// How many times as much as usual is to be tried.
fn effort() -> u64 {
    std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn run(seed: u64, steps: usize, lives: usize, keeps: CrashKeeps) {
    let fs = Arc::new(FaultFileSystem::new(seed));
    let store = Store::create(&fs);
    let sessions = (0..SESSIONS).map(|_| Session::new(store.system.begin())).collect();
    let mut world = World {
        store,
        sessions,
        committed: vec![Map::new()],
        durable: 1,
        promises: BTreeMap::new(),
        durable_promises: 0,
        prng: Prng::new(seed),
    };
    for life in 0..lives {
        for _ in 0..steps {
            world.step();
        }
        if life % 2 == 1 {
            world.check();
        }
        world.crash(&fs, keeps);
    }
    world.check();
}

#[test]
fn interleaved_transactions_agree_with_the_model() {
    let seed = test_seed(1);
    for round in 0..4 * effort() {
        run(seed + round, 1200, 1, CrashKeeps::Everything);
    }
}

#[test]
fn crashes_bring_back_a_committed_state_and_nothing_of_the_others() {
    let seed = test_seed(2);
    for round in 0..effort() {
        run(seed + round, 150, 6, CrashKeeps::Random);
        run(seed + 100 + round, 100, 6, CrashKeeps::Synced);
    }
}

#[test]
fn transactions_on_pages_of_another_size_agree_with_the_model() {
    let seed = test_seed(3);
    at_other_sizes(|| {
        run(seed, 1200, 1, CrashKeeps::Everything);
        run(seed, 150, 3, CrashKeeps::Random);
    });
}
