//! Metadata locks and transactions never wait for each other in a circle.

use std::sync::Arc;

use palisade_base::Blocked;
use palisade_base::event::retry_blocking;
use palisade_base::prng::Prng;

use super::harness::*;
use crate::metadata::Use;
use crate::{Engine, ExclusiveLock, Share, Table, TableLocks, TableName};

const NAMES: [&str; 3] = ["t", "u", "v"];

fn world() -> (Arc<Engine>, Vec<Arc<Table>>) {
    let (_fs, engine, t) = new_engine();
    let others = NAMES[1..].iter().map(|name| create_table(&engine, definition(name)));
    let tables = std::iter::once(t).chain(others).collect();
    (engine, tables)
}

/// As many more tables, which nobody locks by name.
fn others(engine: &Arc<Engine>, count: usize) -> Vec<Arc<Table>> {
    (0..count).map(|number| create_table(engine, definition(&format!("other{number}")))).collect()
}

fn names(tables: &[usize]) -> impl Iterator<Item = TableName> {
    tables.iter().map(|table| TableName::new("test", NAMES[*table]))
}

fn waits<T>(attempt: &crate::Attempt<T>) -> bool {
    matches!(attempt, Err(Blocked::Wait(_)))
}

#[test]
fn whom_a_lock_waits_for_uses_its_other_tables_and_nobody_else_does() {
    let (engine, tables) = world();
    let mut user = Client::new(&engine, &tables[0]);
    user.tx.use_table(&tables[0]).unwrap();
    let mut lock = ExclusiveLock::new(&engine, names(&[0, 1]));
    assert!(waits(&lock.acquire()));
    let mut late = Client::new(&engine, &tables[1]);
    assert!(waits(&late.tx.use_table(&tables[1])));
    assert!(user.tx.use_table_for(&tables[1], Use::Write).is_ok(), "the lock waits for it anyway");
    assert!(waits(&lock.acquire()));
    user.commit();
    retry_blocking(|| lock.acquire()).unwrap();
    assert!(waits(&user.tx.use_table(&tables[1])), "it is held now, and waits for nobody");
    drop(lock);
    assert!(late.tx.use_table(&tables[1]).is_ok());
}

#[test]
fn a_transaction_that_the_lock_of_everything_waits_for_goes_on() {
    let (engine, tables) = world();
    let mut writer = Client::new(&engine, &tables[0]);
    writer.tx.use_table_for(&tables[0], Use::Write).unwrap();
    writer.tx.use_table(&tables[2]).unwrap();
    let mut everything = TableLocks::of_everything_but(&engine, Vec::new());
    assert!(waits(&everything.acquire()));
    let mut late = Client::new(&engine, &tables[1]);
    assert!(waits(&late.tx.use_table_for(&tables[1], Use::Write)));
    assert!(writer.tx.use_table_for(&tables[1], Use::Write).is_ok(), "a table new to it");
    assert!(writer.tx.use_table_for(&tables[2], Use::Write).is_ok(), "one that it has read");
    writer.commit();
    retry_blocking(|| everything.acquire()).unwrap();
    assert!(waits(&late.tx.use_table_for(&tables[1], Use::Write)));
}

#[test]
fn a_lock_that_is_held_is_passed_by_nobody() {
    let (engine, tables) = world();
    let mut writer = Client::new(&engine, &tables[1]);
    writer.tx.use_table_for(&tables[1], Use::Write).unwrap();
    let mut held = TableLocks::new(&engine, names(&[0]).map(|name| (name, Share::Reading)));
    held.acquire().unwrap();
    let mut everything = TableLocks::of_everything_but(&engine, Vec::new());
    assert!(waits(&everything.acquire()));
    assert!(
        waits(&writer.tx.use_table_for(&tables[0], Use::Write)),
        "of the two in its way only one waits for it"
    );
    drop(held);
    assert!(writer.tx.use_table_for(&tables[0], Use::Write).is_ok());
}

#[test]
fn two_locks_and_two_transactions_make_no_circle() {
    let (engine, tables) = world();
    let mut one = Client::new(&engine, &tables[0]);
    let mut two = Client::new(&engine, &tables[1]);
    one.tx.use_table(&tables[0]).unwrap();
    two.tx.use_table(&tables[1]).unwrap();
    let mut first = ExclusiveLock::new(&engine, names(&[0]));
    let mut second = ExclusiveLock::new(&engine, names(&[1]));
    assert!(waits(&first.acquire()) && waits(&second.acquire()));
    assert!(waits(&one.tx.use_table(&tables[1])), "the second lock waits for the other transaction only");
    assert!(two.tx.use_table(&tables[0]).is_ok(), "else each of the four waited for the next");
    two.commit();
    retry_blocking(|| second.acquire()).unwrap();
    assert!(waits(&first.acquire()));
    assert!(waits(&one.tx.use_table(&tables[1])));
    drop(second);
    one.tx.use_table(&tables[1]).unwrap();
    one.commit();
    retry_blocking(|| first.acquire()).unwrap();
}

/// A transaction notes some tables one by one and all others in one place. To be refused one of these does
/// not mean to give up the rest.
#[test]
fn a_transaction_that_uses_many_tables_keeps_them_when_it_is_refused_one() {
    let (engine, tables) = world();
    let more = others(&engine, 14);
    let reading = || TableLocks::new(&engine, names(&[0]).map(|name| (name, Share::Reading)));
    let mut user = Client::new(&engine, &tables[0]);
    let begin = |user: &mut Client| {
        more.iter().for_each(|table| user.tx.use_table(table).unwrap());
        user.tx.use_table(&tables[0]).unwrap();
        user.tx.use_table_for(&tables[1], Use::Write).unwrap();
    };
    begin(&mut user);
    let mut lock = reading();
    assert!(waits(&lock.acquire()), "it may be using any table");
    assert!(user.tx.use_table_for(&tables[0], Use::Write).is_ok(), "the lock waits for it anyway");
    user.commit();
    retry_blocking(|| lock.acquire()).unwrap();
    begin(&mut user);
    assert!(waits(&user.tx.use_table_for(&tables[0], Use::Write)));
    let mut exclusive = ExclusiveLock::new(&engine, names(&[1]));
    assert!(waits(&exclusive.acquire()), "it may have changed that table");
    drop(lock);
    assert!(user.tx.use_table_for(&tables[0], Use::Write).is_ok());
    assert!(waits(&exclusive.acquire()));
    user.commit();
    retry_blocking(|| exclusive.acquire()).unwrap();
}

/// A lock as somebody asks for it.
struct Locker {
    locks: TableLocks,
    wanted: Vec<(usize, Share)>,
    is_held: bool,
}

impl Locker {
    fn new(engine: &Arc<Engine>, prng: &mut Prng) -> Locker {
        let share = |prng: &mut Prng| if prng.one_in(2) { Share::Alone } else { Share::Reading };
        if prng.one_in(5) {
            let wanted = (0..NAMES.len()).map(|table| (table, Share::Reading)).collect();
            return Locker {
                locks: TableLocks::of_everything_but(engine, Vec::new()),
                wanted,
                is_held: false,
            };
        }
        let mut wanted: Vec<(usize, Share)> = (0..NAMES.len()).map(|table| (table, share(prng))).collect();
        wanted.retain(|_| prng.one_in(2));
        let named = wanted.iter().map(|(table, share)| (TableName::new("test", NAMES[*table]), *share));
        Locker { locks: TableLocks::new(engine, named), wanted, is_held: false }
    }

    /// Whether a use of a table and this lock exclude each other.
    fn excludes(&self, table: usize, usage: Use) -> bool {
        self.wanted
            .iter()
            .any(|(locked, share)| *locked == table && (*share == Share::Alone || usage != Use::Read))
    }
}

/// A transaction with the uses that it has got.
struct User {
    client: Client,
    /// What it reads besides: so many that it may no longer note each table by itself.
    besides: Vec<Arc<Table>>,
    is_open: bool,
    uses: Vec<(usize, Use)>,
    /// What it waits for, if it does.
    asks: Option<(usize, Use)>,
}

impl User {
    /// Asks for a use. Whether it got it.
    fn ask(&mut self, tables: &[Arc<Table>], table: usize, usage: Use, lockers: &[Option<Locker>]) -> bool {
        if !std::mem::replace(&mut self.is_open, true) {
            self.besides.iter().for_each(|table| self.client.tx.use_table(table).unwrap());
        }
        let outcome = self.client.tx.use_table_for(&tables[table], usage);
        if waits(&outcome) {
            self.asks = Some((table, usage));
            return false;
        }
        outcome.unwrap();
        let held = lockers.iter().flatten().filter(|locker| locker.is_held);
        let in_the_way = held.filter(|locker| locker.excludes(table, usage)).count();
        assert_eq!(in_the_way, 0, "{table} {usage:?} against a lock that is held");
        self.uses.push((table, usage));
        self.asks = None;
        true
    }

    fn end(&mut self) {
        self.client.commit();
        self.uses.clear();
        self.is_open = false;
    }
}

/// Asks again for a lock. Whether it is held now.
fn acquire(locker: &mut Locker, users: &[User]) -> bool {
    let outcome = locker.locks.acquire();
    if waits(&outcome) {
        return false;
    }
    outcome.unwrap();
    let uses = users.iter().flat_map(|user| &user.uses);
    let excluded = uses.filter(|(table, usage)| locker.excludes(*table, *usage)).count();
    assert_eq!(excluded, 0, "a lock is held beside those that it excludes");
    locker.is_held = true;
    true
}

fn play(seed: u64) {
    let mut prng = Prng::new(seed);
    let (engine, tables) = world();
    let mut lockers: Vec<Option<Locker>> = (0..3).map(|_| None).collect();
    let more = others(&engine, if prng.one_in(2) { 0 } else { 15 });
    let mut users: Vec<User> = (0..4)
        .map(|_| {
            let client = Client::new(&engine, &tables[0]);
            let count = *prng.pick(&[0, 12, 13, 14, 15]);
            let besides = more[..count.min(more.len())].to_vec();
            User { client, besides, is_open: false, uses: Vec::new(), asks: None }
        })
        .collect();
    for _ in 0..200 {
        let at = prng.below(users.len() as u64) as usize;
        match prng.below(8) {
            0..4 => {
                let usage = if prng.one_in(2) { Use::Read } else { Use::Write };
                let (table, usage) =
                    users[at].asks.unwrap_or((prng.below(NAMES.len() as u64) as usize, usage));
                users[at].ask(&tables, table, usage, &lockers);
            }
            4 if users[at].asks.is_none() => users[at].end(),
            5 if users[at].asks.is_some() && prng.one_in(8) => {
                // a timeout, and the statement alone is given up
                users[at].client.tx.cancel_wait();
                users[at].asks = None;
            }
            _ => {
                let place = prng.below(lockers.len() as u64) as usize;
                match &mut lockers[place] {
                    Some(locker) if locker.is_held => lockers[place] = None,
                    Some(locker) => {
                        acquire(locker, &users);
                    }
                    None => {
                        let mut locker = Locker::new(&engine, &mut prng);
                        acquire(&mut locker, &users);
                        lockers[place] = Some(locker);
                    }
                }
            }
        }
    }
    // Whoever can go on does, to the end: nobody is left.
    while users.iter().any(|user| user.is_open) || lockers.iter().any(Option::is_some) {
        let mut progress = false;
        for user in &mut users {
            if let Some((table, usage)) = user.asks {
                progress |= user.ask(&tables, table, usage, &lockers);
            } else if user.is_open {
                user.end();
                progress = true;
            }
        }
        for locker in &mut lockers {
            match locker {
                Some(waiting) if !waiting.is_held => progress |= acquire(waiting, &users),
                Some(_) => {
                    *locker = None;
                    progress = true;
                }
                None => {}
            }
        }
        assert!(progress, "everybody waits");
    }
}

#[test]
fn at_random_nobody_waits_for_ever_and_nobody_uses_what_is_locked() {
    for seed in 1..=60 {
        let outcome = std::panic::catch_unwind(|| play(seed));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}
