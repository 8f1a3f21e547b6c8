//! Rows that are locked by having been written, locks given back early, and explicit locks beside them: against a table in
//! which every lock is explicit.

use std::collections::HashMap;

use palisade_base::TrxId;
use palisade_base::prng::{Prng, test_seed};

use crate::locks::{Heed, LockTable, Mode, Request};
use crate::sessions::SessionNo;

const SESSIONS: u32 = 6;
const KEYS: u8 = 4;
const INDEX: u64 = 1;

/// A key: who has written it, who holds it otherwise, who waits for it in order.
#[derive(Default)]
struct Row {
    writer: Option<u32>,
    granted: Vec<(u32, Mode)>,
    waiting: Vec<(u32, Mode)>,
}

#[derive(Default)]
struct Naive {
    rows: HashMap<u8, Row>,
}

fn conflict(a: Mode, b: Mode) -> bool {
    a == Mode::Exclusive || b == Mode::Exclusive
}

impl Row {
    fn held(&self, session: u32) -> Option<Mode> {
        self.granted.iter().find(|(owner, _)| *owner == session).map(|(_, mode)| *mode)
    }

    fn is_compatible(&self, session: u32, mode: Mode) -> bool {
        self.granted.iter().all(|(owner, held)| *owner == session || !conflict(*held, mode))
    }

    fn may_pass(&self, session: u32, mode: Mode) -> bool {
        let is_behind = self.waiting.iter().any(|(other, ahead)| *other != session && conflict(*ahead, mode));
        self.is_compatible(session, mode) && (self.held(session).is_some() || !is_behind)
    }

    fn grant(&mut self, session: u32, mode: Mode) {
        match self.granted.iter_mut().find(|(owner, _)| *owner == session) {
            Some((_, held)) => *held = mode.max(*held),
            None => self.granted.push((session, mode)),
        }
    }

    fn promote(&mut self) {
        let mut position = 0;
        while let Some(&(session, mode)) = self.waiting.get(position) {
            let ahead = self.waiting[..position].iter().any(|(_, ahead)| conflict(*ahead, mode));
            if ahead || !self.is_compatible(session, mode) {
                position += 1;
                continue;
            }
            self.waiting.remove(position);
            self.grant(session, mode);
        }
    }
}

impl Naive {
    fn row(&mut self, key: u8) -> &mut Row {
        self.rows.entry(key).or_default()
    }

    fn waits_at(&self, session: u32) -> Option<(u8, Mode)> {
        self.rows.iter().find_map(|(key, row)| {
            row.waiting.iter().find(|(other, _)| *other == session).map(|(_, mode)| (*key, *mode))
        })
    }

    fn has_written(&self, session: u32) -> bool {
        self.rows.values().any(|row| row.writer == Some(session))
    }

    fn locks(&self, session: u32) -> usize {
        self.rows.values().filter(|row| row.held(session).is_some()).count()
    }

    /// Whom `session` waits for.
    fn blockers(&self, session: u32) -> Vec<u32> {
        let Some((key, mode)) = self.waits_at(session) else { return Vec::new() };
        let row = &self.rows[&key];
        let ahead = row.waiting.iter().take_while(|(other, _)| *other != session);
        let others = row.granted.iter().chain(ahead);
        others
            .filter(|(other, held)| *other != session && conflict(*held, mode))
            .map(|(other, _)| *other)
            .collect()
    }

    fn closes_a_cycle(&self, session: u32) -> bool {
        let (mut todo, mut seen) = (self.blockers(session), Vec::new());
        while let Some(next) = todo.pop() {
            if next == session {
                return true;
            }
            if !seen.contains(&next) {
                seen.push(next);
                todo.extend(self.blockers(next));
            }
        }
        false
    }

    fn stop_waiting(&mut self, session: u32) {
        for row in self.rows.values_mut() {
            row.waiting.retain(|(other, _)| *other != session);
            row.promote();
        }
    }

    fn end(&mut self, session: u32) {
        for row in self.rows.values_mut() {
            row.writer = row.writer.filter(|writer| *writer != session);
            row.granted.retain(|(other, _)| *other != session);
            row.promote();
        }
    }
}

struct World {
    table: LockTable,
    naive: Naive,
    /// By session: the id it writes as, 0 for none.
    ids: [u64; SESSIONS as usize],
    next_id: u64,
    deadlocks: u32,
}

impl World {
    /// Asks for a lock, as who has looked at the row under its leaf's latch and found its writer.
    fn lock(&mut self, session: u32, key: u8, mode: Mode) {
        for other in 0..SESSIONS {
            // Whoever asks is the cheapest, and so gives way if it closes a cycle.
            let weight = if other == session { u64::from(self.naive.has_written(session)) } else { 1000 };
            self.table.set_weight(SessionNo(other), weight);
        }
        let row = self.naive.row(key);
        let writer = row.writer.filter(|writer| *writer != session);
        if let Some(writer) = writer {
            row.grant(writer, Mode::Exclusive);
            // What it was given beside a writer that held the row before, when somebody ahead gave up, it was given unseen.
            row.granted.retain(|(other, _)| *other != session);
            row.promote();
        }
        let named = writer.map(|writer| (SessionNo(writer), TrxId(self.ids[writer as usize])));
        let answer = self.table.lock(SessionNo(session), INDEX, &[key], mode, named);
        if row.held(session).is_some_and(|held| held >= mode) && row.is_compatible(session, mode)
            || row.may_pass(session, mode)
        {
            assert!(matches!(answer, Request::Granted), "session {session} gets {key} {mode:?}: {answer:?}");
            return row.grant(session, mode);
        }
        match row.held(session) {
            Some(_) => row.waiting.insert(0, (session, mode)),
            None => row.waiting.push((session, mode)),
        }
        if self.naive.closes_a_cycle(session) {
            assert!(matches!(answer, Request::Deadlock), "session {session} closes a cycle at {key}");
            self.naive.stop_waiting(session);
            self.deadlocks += 1;
        } else {
            assert!(matches!(answer, Request::Wait(_)), "session {session} waits for {key}: {answer:?}");
        }
    }

    /// Writes a row, if nobody is in the way: the writer's id is all that says so.
    fn write(&mut self, session: u32, key: u8) {
        let row = self.naive.row(key);
        let may = row.writer.is_none_or(|writer| writer == session) && row.may_pass(session, Mode::Exclusive);
        if row.writer.is_none_or(|writer| writer == session) {
            let says = self.table.may_write(SessionNo(session), INDEX, &[key], Mode::Exclusive, Heed::Queues);
            assert_eq!(says, may, "session {session} writes {key}");
        }
        if !may {
            return;
        }
        row.writer = Some(session);
        if self.ids[session as usize] == 0 {
            self.next_id += 1;
            self.ids[session as usize] = self.next_id;
            self.table.begin_writing(SessionNo(session), TrxId(self.next_id), 0);
        }
    }

    fn unlock(&mut self, session: u32, key: u8) {
        self.table.unlock(SessionNo(session), INDEX, &[key]);
        let row = self.naive.row(key);
        row.granted.retain(|(other, _)| *other != session);
        row.promote();
    }

    fn end(&mut self, session: u32) {
        self.table.release_all(SessionNo(session));
        self.ids[session as usize] = 0;
        self.naive.end(session);
    }
}

#[test]
fn written_rows_and_locks_given_back_agree_with_a_naive_table() {
    let mut prng = Prng::new(test_seed(47));
    let (mut deadlocks, mut explicit) = (0, 0);
    for _ in 0..60 {
        let mut world = World {
            table: LockTable::default(),
            naive: Naive::default(),
            ids: [0; SESSIONS as usize],
            next_id: 0,
            deadlocks: 0,
        };
        for _ in 0..400 {
            let session = prng.below(SESSIONS.into()) as u32;
            let key = prng.below(KEYS.into()) as u8;
            let is_waiting = world.naive.waits_at(session).is_some();
            let is_own = world.naive.row(key).writer == Some(session);
            match prng.below(12) {
                0..5 if !is_waiting && !is_own => {
                    explicit += u32::from(world.naive.row(key).writer.is_some());
                    world.lock(session, key, *prng.pick(&[Mode::Shared, Mode::Exclusive]));
                }
                5..8 if !is_waiting => world.write(session, key),
                // a row that was written is not given back
                8 if !is_waiting && !is_own => world.unlock(session, key),
                9 => {
                    assert_eq!(world.table.cancel_wait(SessionNo(session)), is_waiting);
                    world.naive.stop_waiting(session);
                }
                10 if !is_waiting => world.end(session),
                _ => {}
            }
            for session in 0..SESSIONS {
                let expected = (world.naive.locks(session), world.naive.waits_at(session).is_some());
                assert_eq!(world.table.session_locks(SessionNo(session)), expected, "session {session}");
            }
        }
        for session in 0..SESSIONS {
            world.table.release_all(SessionNo(session));
        }
        assert!((0..KEYS).all(|key| world.table.is_surely_free(INDEX, &[key])), "nothing is left");
        deadlocks += world.deadlocks;
    }
    assert!(deadlocks > 20 && explicit > 200, "{deadlocks} {explicit}");
}
