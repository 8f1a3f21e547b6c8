//! The prepared statements of a session, and what their executions have done.
//!
//! An execution is added once, to its statement; the sums by class are put together when they are read:
//!
//! ```text
//!                      ┌──────── statement 1: before │ recent ─┐
//!   execution: Done ──▶│         statement 2: before │ recent ─┼─▶ class: own + recent of its statements
//!                      └──────── closed ───────────────────────┘
//!                                   own + recent
//! ```
//!
//! So TRUNCATE of the sums by class makes `recent` a part of `before`, and TRUNCATE of the prepared
//! statements gives `recent` to the class: neither takes away what the other shows.

use crate::class::Class;
use crate::sums::{Done, Sums};

/// A prepared statement that begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Preparation {
    /// Its number, which the session has given it.
    pub number: u32,
    /// Its name; `None` for one of the binary protocol.
    pub name: Option<Box<str>>,
    /// Its text.
    pub text: Box<[u8]>,
    /// Nanoseconds that it took to prepare it.
    pub prepare_ns: u64,
    /// What tells whether the definitions that its plan relies on are still the same.
    pub basis: u64,
}

/// A prepared statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreparedStatement {
    /// How it began.
    pub preparation: Preparation,
    /// Number of the session's event that prepared it.
    pub prepared_by: u64,
    /// How often it was prepared anew because definitions had changed.
    pub reprepared: u64,
    /// The basis of its last execution.
    basis: u64,
    /// Of its executions.
    class: Class,
    before: Sums,
    recent: Sums,
}

impl PreparedStatement {
    /// What its executions have done.
    pub fn sums(&self) -> Sums {
        let mut sums = self.before.clone();
        sums.merge(&self.recent);
        sums
    }
}

/// Which of a session's prepared statements, from 1; 0 is none.
pub type Slot = u32;

/// The prepared statements of a session.
#[derive(Debug, Default)]
pub(crate) struct PreparedStatements {
    slots: Vec<Option<Box<PreparedStatement>>>,
    free: Vec<Slot>,
}

/// Sums that are no longer those of a prepared statement, and their class.
pub(crate) type Left = (Class, Sums);

impl PreparedStatements {
    /// A statement has been prepared.
    pub(crate) fn begin(&mut self, preparation: Preparation, prepared_by: u64) -> Slot {
        let basis = preparation.basis;
        let statement =
            Some(Box::new(PreparedStatement { preparation, prepared_by, basis, ..Default::default() }));
        let slot = self.free.pop().unwrap_or(self.slots.len() as Slot + 1);
        match self.slots.get_mut(slot as usize - 1) {
            Some(place) => *place = statement,
            None => self.slots.push(statement),
        }
        slot
    }

    /// It is closed.
    pub(crate) fn end(&mut self, slot: Slot) -> Option<Left> {
        let statement = self.slots.get_mut((slot as usize).wrapping_sub(1))?.take()?;
        self.free.push(slot);
        Some((statement.class, statement.recent))
    }

    /// All are closed.
    pub(crate) fn end_all(&mut self) -> Vec<Left> {
        self.free = Vec::new();
        let all = std::mem::take(&mut self.slots).into_iter().flatten();
        all.map(|statement| (statement.class, statement.recent)).collect()
    }

    #[inline]
    fn get_mut(&mut self, slot: Slot) -> Option<&mut PreparedStatement> {
        self.slots.get_mut((slot as usize).wrapping_sub(1))?.as_deref_mut()
    }

    /// One was executed; false if it is not known.
    #[inline]
    pub(crate) fn add(&mut self, slot: Slot, class: Class, done: &Done, basis: u64) -> bool {
        let Some(statement) = self.get_mut(slot) else { return false };
        if statement.basis != basis {
            statement.reprepared += 1;
            statement.basis = basis;
        }
        if statement.class != class {
            // One that was prepared by its text is executed as that, and never by the protocol.
            statement.before.merge(&std::mem::take(&mut statement.recent));
            statement.class = class;
        }
        statement.recent.add(done);
        true
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &PreparedStatement> {
        self.slots.iter().flatten().map(|statement| &**statement)
    }

    /// What the sums by class have to add.
    pub(crate) fn recent(&self) -> impl Iterator<Item = (Class, &Sums)> {
        self.iter()
            .filter(|statement| statement.recent.count > 0)
            .map(|statement| (statement.class, &statement.recent))
    }

    /// The sums by class begin anew.
    pub(crate) fn leave_class(&mut self) {
        for statement in self.slots.iter_mut().flatten() {
            let recent = std::mem::take(&mut statement.recent);
            statement.before.merge(&recent);
        }
    }

    /// The sums of the prepared statements begin anew: gives what the sums by class keep.
    pub(crate) fn begin_anew(&mut self) -> Vec<Left> {
        let anew = |statement: &mut Box<PreparedStatement>| {
            statement.before = Sums::default();
            statement.reprepared = 0;
            statement.preparation.prepare_ns = 0;
            (statement.class, std::mem::take(&mut statement.recent))
        };
        self.slots.iter_mut().flatten().map(anew).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn begun(statements: &mut PreparedStatements, text: &str) -> Slot {
        let preparation = Preparation { text: text.as_bytes().into(), basis: 1, ..Preparation::default() };
        statements.begin(preparation, 7)
    }

    fn counts(statements: &PreparedStatements) -> Vec<(String, u64)> {
        let shown = |statement: &PreparedStatement| {
            (String::from_utf8_lossy(&statement.preparation.text).into_owned(), statement.sums().count)
        };
        statements.iter().map(shown).collect()
    }

    #[test]
    fn executions_are_shown_once_by_class_and_once_by_statement() {
        let mut statements = PreparedStatements::default();
        let (a, b) = (begun(&mut statements, "a"), begun(&mut statements, "b"));
        for slot in [a, b, b] {
            assert!(statements.add(slot, Class(3), &Done::new(10, 20), 1));
        }
        let recent =
            |statements: &PreparedStatements| statements.recent().map(|(_, sums)| sums.count).sum::<u64>();
        assert_eq!(recent(&statements), 3);
        statements.leave_class();
        assert_eq!((recent(&statements), counts(&statements)), (0, vec![("a".into(), 1), ("b".into(), 2)]));
        statements.add(a, Class(3), &Done::new(10, 20), 1);
        let left: u64 = statements.begin_anew().iter().map(|(_, sums)| sums.count).sum();
        assert_eq!((left, counts(&statements)), (1, vec![("a".into(), 0), ("b".into(), 0)]));
        statements.add(b, Class(3), &Done::new(10, 20), 1);
        let left = statements.end(b);
        assert_eq!(left.map(|(class, sums)| (class, sums.count)), Some((Class(3), 1)));
        assert!(statements.end(b).is_none() && !statements.add(b, Class(3), &Done::new(1, 1), 1));
        assert_eq!(begun(&mut statements, "c"), b);
        assert_eq!(counts(&statements), [("a".into(), 0), ("c".into(), 0)]);
        assert_eq!(statements.end_all().len(), 2);
        assert!(
            !statements.add(a, Class(3), &Done::new(1, 1), 1)
                && !statements.add(0, Class(3), &Done::new(1, 1), 1)
        );
    }

    #[test]
    fn a_statement_is_prepared_anew_when_its_basis_changes() {
        let mut statements = PreparedStatements::default();
        let slot = begun(&mut statements, "a");
        for basis in [1, 2, 2, 3] {
            statements.add(slot, Class(3), &Done::new(1, 1), basis);
        }
        let reprepared =
            |statements: &PreparedStatements| statements.iter().map(|one| one.reprepared).sum::<u64>();
        assert_eq!(reprepared(&statements), 2);
        statements.begin_anew();
        assert_eq!(reprepared(&statements), 0);
    }
}
