//! What sessions do when it is their turn, and what they must find.

use std::sync::Arc;

use palisade_engine::{
    Engine, Error, FlushAtCommit, IsolationLevel, ReadMode, RowBuf, Savepoint, Table, UpdateOutcome, XaEnd,
};

use palisade_io::{Call, Fault};

use super::rows::{decode, encode, prepared, primary_key, xid};
use super::{End, History, IDS, Mishap, Session, Step};
use crate::model::{Filling, ModelTransaction, Row, Writes};

impl History<'_> {
    /// One session does one thing.
    pub(super) fn turn(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        if !sessions[number].is_open {
            let levels = [IsolationLevel::ReadCommitted, IsolationLevel::RepeatableRead];
            sessions[number].begin(*self.random.pick(&levels));
            if self.plan.has_branches && self.random.one_in(4) {
                self.branches += 1;
                let Some(claim) = engine.xa_start(xid(self.branches)) else {
                    return Err(End::Violation(format!("the name {} is in use", self.branches)));
                };
                sessions[number].branch = Some((self.branches, claim));
            }
            let isolation = sessions[number].isolation;
            let branch = sessions[number].branch.as_ref().map(|(branch, _)| *branch);
            self.note_turn(number, || match branch {
                Some(branch) => format!("begin {isolation:?}, XA branch {branch}"),
                None => format!("begin {isolation:?}"),
            });
            return Ok(());
        }
        if self.plan.has_much_undo && self.random.one_in(12) {
            return self.change_often(engine, table, sessions, number);
        }
        match self.random.below(if self.plan.has_branches { 21 } else { 20 }) {
            0..4 => self.insert(engine, table, sessions, number),
            4..10 => self.change(engine, table, sessions, number),
            10..12 => self.read(engine, table, &mut sessions[number], number),
            12 => {
                let session = &mut sessions[number];
                session.savepoint = Some((session.transaction.savepoint(), session.model.clone()));
                self.note_turn(number, || "savepoint".to_owned());
                Ok(())
            }
            13 => self.roll_back_to_savepoint(engine, &mut sessions[number], number),
            14 => {
                self.note_turn(number, || "rollback".to_owned());
                self.roll_back(engine, &mut sessions[number])
            }
            15 => {
                self.note_turn(number, || "purge".to_owned());
                self.purge(engine)
            }
            16 => {
                self.note_turn(number, || "clean pages".to_owned());
                self.done(engine.clean_step())
            }
            17 if self.plan.has_branches => self.end_prepared(engine, number),
            _ if sessions[number].branch.is_some() => {
                self.note_turn(number, || "prepare".to_owned());
                self.prepare(engine, &mut sessions[number])
            }
            _ => {
                self.note_turn(number, || "commit".to_owned());
                self.commit(engine, &mut sessions[number])
            }
        }
    }

    fn some_row(&mut self) -> Row {
        let len = match self.random.below(12) {
            0 => self.random.below(40_000),
            1..4 => self.random.below(5000),
            _ => self.random.below(100),
        } as u32;
        let u = (!self.random.one_in(3)).then(|| self.random.below(4 * IDS) as i64);
        let byte = if len == 0 { 0 } else { self.random.next_u64() as u8 };
        Row { k: self.random.below(8) as i64, u, v: Filling { byte, len } }
    }

    /// Whether another session's open changes stand in the way of a row or of its unique value.
    fn is_contended(&self, sessions: &[Session], number: usize, id: i64, u: Option<i64>) -> bool {
        let committed = self.model.committed();
        self.others(sessions, number).flatten().any(|(other, row)| {
            let touches = |row: Option<&Row>| u.is_some() && row.is_some_and(|row| row.u == u);
            *other == id || touches(row.as_ref()) || touches(committed.get(other))
        })
    }

    fn insert(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        let (id, new) = (self.random.below(IDS) as i64, self.some_row());
        let contended = self.is_contended(sessions, number, id, new.u);
        let held = self.holds(sessions, number, id);
        let session = &mut sessions[number];
        let rows = self.model.current(&session.model);
        let duplicate = match rows.contains_key(&id) {
            true => Some(0),
            false => rows.values().any(|row| new.u.is_some() && row.u == new.u).then_some(2),
        };
        let bytes = encode(table, id, &new);
        let start = session.statement();
        let outcome = self.answered(engine, || session.transaction.insert(table, &bytes))?;
        self.note_turn(number, || format!("insert {id} ({}): {}", shown(&new), answer(&outcome)));
        match (outcome, duplicate) {
            (None, _) => self.give_up(engine, session, start),
            (Some(Ok(())), None) if !held => {
                session.model.writes.insert(id, Some(new));
                Ok(())
            }
            (Some(Err(Error::DuplicateKey { index })), Some(expected)) if index == expected || contended => {
                self.undo_statement(engine, session, start)
            }
            (Some(Err(Error::DuplicateKey { .. })), None) if contended => {
                self.undo_statement(engine, session, start)
            }
            (Some(other), expected) => Err(End::Violation(format!(
                "insert of row {id}, u={:?}: {other:?}, expected duplicate in {expected:?}",
                new.u
            ))),
        }
    }

    /// What other transactions have changed that are open or prepared.
    fn others<'a>(&'a self, sessions: &'a [Session], number: usize) -> impl Iterator<Item = &'a Writes> {
        let open = sessions.iter().enumerate().filter(move |(other, _)| *other != number);
        open.map(|(_, session)| &session.model.writes).chain(self.model.prepared().values())
    }

    /// Whether another open or prepared transaction has changed row `id`.
    fn holds(&self, sessions: &[Session], number: usize, id: i64) -> bool {
        self.others(sessions, number).any(|writes| writes.contains_key(&id))
    }

    /// Updates or deletes a row, if it is there.
    fn change(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        let id = self.random.below(IDS) as i64;
        let held = self.holds(sessions, number, id);
        let session = &mut sessions[number];
        let start = session.statement();
        let mut buffer = RowBuf::new();
        let search = primary_key(table, id);
        let read = self.answered(engine, || {
            session.transaction.point_read(table, 0, &search, ReadMode::Current, &mut buffer)
        })?;
        let Some(read) = read else {
            self.note_turn(number, || format!("read {id} to change it: waits, given up"));
            return self.give_up(engine, session, start);
        };
        let found = self.done(read)?;
        if held {
            return Err(End::Violation(format!(
                "row {id} was read although another transaction has changed it"
            )));
        }
        let expected = self.model.current(&session.model);
        let found = if found { Some(decode(table, buffer.row())?.1) } else { None };
        if found.as_ref() != expected.get(&id) {
            let found = found.map(|row| (id, row)).into_iter().collect();
            let expected = expected.into_iter().filter(|(other, _)| *other == id).collect();
            return self.compare(&expected, &found, "the latest version");
        }
        let Some(old) = found else {
            self.note_turn(number, || format!("read {id} to change it: not there"));
            return Ok(());
        };
        if self.random.one_in(3) {
            let outcome =
                self.answered(engine, || session.transaction.delete(table, buffer.stamp(), buffer.row()))?;
            self.note_turn(number, || format!("delete {id}: {}", answer(&outcome)));
            return match outcome {
                None => self.give_up(engine, session, start),
                Some(Ok(UpdateOutcome::Done)) => {
                    session.model.writes.insert(id, None);
                    Ok(())
                }
                Some(other) => Err(End::Violation(format!("delete of row {id}: {other:?}"))),
            };
        }
        self.update(engine, table, sessions, number, start, id, old, &buffer)
    }

    #[expect(clippy::too_many_arguments, reason = "the second half of `change`")]
    fn update(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
        start: Savepoint,
        id: i64,
        old: Row,
        buffer: &RowBuf,
    ) -> Step<()> {
        let mut new = self.some_row();
        if self.random.one_in(2) {
            new = Row { k: new.k, ..old };
        }
        let contended = self.is_contended(sessions, number, id, new.u);
        let session = &mut sessions[number];
        let rows = self.model.current(&session.model);
        let duplicate = rows.iter().any(|(other, row)| *other != id && new.u.is_some() && row.u == new.u);
        let bytes = encode(table, id, &new);
        let outcome = self
            .answered(engine, || session.transaction.update(table, buffer.stamp(), buffer.row(), &bytes))?;
        self.note_turn(number, || format!("update {id} to ({}): {}", shown(&new), answer(&outcome)));
        match outcome {
            None => self.give_up(engine, session, start),
            Some(Ok(UpdateOutcome::Done)) if !duplicate => {
                session.model.writes.insert(id, Some(new));
                Ok(())
            }
            Some(Err(Error::DuplicateKey { index: 2 })) if duplicate || contended => {
                self.undo_statement(engine, session, start)
            }
            Some(other) => Err(End::Violation(format!(
                "update of row {id} to u={:?}: {other:?}, duplicate: {duplicate}",
                new.u
            ))),
        }
    }

    /// Changes a row again and again, which takes more undo than an extent has room for.
    fn change_often(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        sessions: &mut [Session],
        number: usize,
    ) -> Step<()> {
        let rows = self.model.current(&sessions[number].model);
        let free = rows.into_iter().find(|(id, _)| !self.holds(sessions, number, *id));
        let Some((id, mut row)) = free else { return Ok(()) };
        self.note_turn(number, || format!("change {id} hundreds of times"));
        let (search, mut buffer) = (primary_key(table, id), RowBuf::new());
        for _ in 0..200 + self.random.below(200) {
            let session = &mut sessions[number];
            let start = session.statement();
            let read = self.answered(engine, || {
                session.transaction.point_read(table, 0, &search, ReadMode::Current, &mut buffer)
            })?;
            let Some(read) = read else { return self.give_up(engine, session, start) };
            if !self.done(read)? || decode(table, buffer.row())?.1 != row {
                return Err(End::Violation(format!("row {id} is not {row:?}")));
            }
            row.v = Filling { byte: row.v.byte.wrapping_add(1), len: 2000 + self.random.below(3000) as u32 };
            let bytes = encode(table, id, &row);
            let changed = self.answered(engine, || {
                session.transaction.update(table, buffer.stamp(), buffer.row(), &bytes)
            })?;
            match changed {
                None => return self.give_up(engine, session, start),
                Some(Ok(UpdateOutcome::Done)) => drop(session.model.writes.insert(id, Some(row.clone()))),
                Some(other) => return Err(End::Violation(format!("update of row {id}: {other:?}"))),
            }
        }
        Ok(())
    }

    /// Purges a little, or as long as there is something to do.
    fn purge(&mut self, engine: &Engine) -> Step<()> {
        for _ in 0..self.random.below(if self.plan.has_much_undo { 1000 } else { 5 }) {
            self.done(engine.purge_step())?;
        }
        // The moment after undo has lost its room is the one in which it might be missed.
        if let Mishap::PowerCut(_) = self.plan.mishap
            && self.plan.has_much_undo
            && self.random.one_in(4)
        {
            self.disk.fail(Call::Change, self.random.below(40) + 1, Fault::Crash);
        }
        Ok(())
    }

    /// A lock is in the way: the statement is given up.
    fn give_up(&mut self, engine: &Engine, session: &mut Session, start: Savepoint) -> Step<()> {
        session.transaction.cancel_wait();
        self.undo_statement(engine, session, start)
    }

    fn undo_statement(&mut self, engine: &Engine, session: &mut Session, start: Savepoint) -> Step<()> {
        let undone = self.surely_answered(engine, || session.transaction.rollback_to(start))?;
        self.done(undone)
    }

    /// Reads everything by some index and compares.
    fn read(
        &mut self,
        engine: &Arc<Engine>,
        table: &Arc<Table>,
        session: &mut Session,
        number: usize,
    ) -> Step<()> {
        session.statement();
        let expected = self.model.seen(&mut session.model);
        let index = self.random.below(3) as usize;
        let found = self.scan(engine, &mut session.transaction, table, index)?;
        self.note_turn(number, || format!("read all by index {index}: {} rows", found.len()));
        self.compare(&expected, &found, &format!("a {:?} read by index {index}", session.isolation))
    }

    fn roll_back_to_savepoint(&mut self, engine: &Engine, session: &mut Session, number: usize) -> Step<()> {
        let Some((savepoint, model)) = session.savepoint.clone() else { return Ok(()) };
        self.note_turn(number, || "rollback to the savepoint".to_owned());
        self.undo_statement(engine, session, savepoint)?;
        session.model = ModelTransaction { snapshot: session.model.snapshot.take(), ..model };
        Ok(())
    }

    fn roll_back(&mut self, engine: &Engine, session: &mut Session) -> Step<()> {
        let rolled_back = self.surely_answered(engine, || session.transaction.try_rollback())?;
        self.done(rolled_back)?;
        session.end();
        Ok(())
    }

    /// Prepares a session's XA transaction, which is nobody's from then on. Durable, whatever commits are.
    fn prepare(&mut self, engine: &Arc<Engine>, session: &mut Session) -> Step<()> {
        let Some((branch, claim)) = session.branch.take() else { return Ok(()) };
        let transaction = session.renew(engine);
        self.model.begin_prepare(branch, std::mem::take(&mut session.model.writes));
        session.end();
        self.finished(engine, transaction.prepare(claim))?;
        self.model.settle();
        self.tally.prepared += 1;
        Ok(())
    }

    /// Somebody ends one of those that are prepared, if there is one. Durable, whatever commits are.
    fn end_prepared(&mut self, engine: &Arc<Engine>, number: usize) -> Step<()> {
        let listed = prepared(engine)?;
        if !listed.iter().eq(self.model.prepared().keys()) {
            let expected: Vec<_> = self.model.prepared().keys().collect();
            return Err(End::Violation(format!("prepared are {listed:?} and not {expected:?}")));
        }
        if listed.is_empty() {
            return Ok(());
        }
        let branch = *self.random.pick(&listed);
        let how = if self.random.one_in(3) { XaEnd::Rollback } else { XaEnd::Commit };
        self.note_turn(number, || format!("XA branch {branch}: {how:?}"));
        match how {
            _ if self.plan.ends_unnoticed => {}
            XaEnd::Commit => self.model.begin_commit_prepared(branch),
            XaEnd::Rollback => self.model.begin_rollback_prepared(branch),
        }
        if !self.finished(engine, engine.xa_end(&xid(branch), how))? {
            return Err(End::Violation(format!("{branch} was listed and is not known")));
        }
        self.model.settle();
        self.tally.prepared_ended += 1;
        Ok(())
    }

    fn commit(&mut self, engine: &Engine, session: &mut Session) -> Step<()> {
        let writes = std::mem::take(&mut session.model.writes);
        if !writes.is_empty() {
            self.model.begin_commit(writes);
        }
        self.finished(engine, session.transaction.commit())?;
        if self.plan.promised == FlushAtCommit::Durable {
            self.model.settle();
        }
        self.tally.commits += 1;
        session.end();
        Ok(())
    }
}

/// A row, for the trace.
fn shown(row: &Row) -> String {
    let unique = row.u.map_or("NULL".to_owned(), |u| u.to_string());
    format!("k={}, u={unique}, v={} bytes {:#04x}", row.k, row.v.len, row.v.byte)
}

/// What came of a change, for the trace.
fn answer<T: std::fmt::Debug>(outcome: &Option<Result<T, Error>>) -> String {
    match outcome {
        None => "waits, given up".to_owned(),
        Some(Ok(_)) => "done".to_owned(),
        Some(Err(error)) => error.to_string(),
    }
}
