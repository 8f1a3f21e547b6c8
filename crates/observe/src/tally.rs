//! What a session has counted, or the sessions of an account: its statements by class, their stages, its
//! transactions, its errors. Each family begins anew when its own tables are truncated.

use std::collections::BTreeMap;

use crate::class::Class;
use crate::stage::StageSums;
use crate::sums::Sums;
use crate::transaction::TransactionSums;

/// What begins anew together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Statements by class.
    Statements,
    /// Transactions.
    Transactions,
    /// Errors by number.
    Errors,
    /// Stages of statements.
    Stages,
}

impl Family {
    /// All of them.
    pub const ALL: [Family; 4] = [Family::Statements, Family::Transactions, Family::Errors, Family::Stages];
}

/// Sums of statements by class.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ClassSums(BTreeMap<Class, Sums>);

impl ClassSums {
    /// Adds others.
    pub fn merge<'a>(&mut self, others: impl IntoIterator<Item = (Class, &'a Sums)>) {
        others.into_iter().for_each(|(class, sums)| self.0.entry(class).or_default().merge(sums));
    }

    /// Each class with its sums.
    pub fn iter(&self) -> impl Iterator<Item = (Class, &Sums)> {
        self.0.iter().map(|(class, sums)| (*class, sums))
    }

    /// Of a class.
    pub fn of(&self, class: Class) -> Sums {
        self.0.get(&class).cloned().unwrap_or_default()
    }
}

/// How often an error was raised, and when.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErrorCount {
    /// How often.
    pub raised: u64,
    /// The first time, in nanoseconds since some moment.
    pub first_ns: u64,
    /// The last time.
    pub last_ns: u64,
}

impl ErrorCount {
    fn merge(&mut self, others: ErrorCount) {
        self.first_ns = if self.raised == 0 { others.first_ns } else { self.first_ns.min(others.first_ns) };
        self.last_ns = self.last_ns.max(others.last_ns);
        self.raised += others.raised;
    }
}

/// Errors by number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorSums(BTreeMap<u16, ErrorCount>);

impl ErrorSums {
    /// An error of that number was raised.
    pub fn add(&mut self, number: u16, now_ns: u64) {
        let once = ErrorCount { raised: 1, first_ns: now_ns, last_ns: now_ns };
        self.0.entry(number).or_default().merge(once);
    }

    /// Adds others.
    pub fn merge(&mut self, others: &ErrorSums) {
        others.0.iter().for_each(|(number, count)| self.0.entry(*number).or_default().merge(*count));
    }

    /// Of a number.
    pub fn of(&self, number: u16) -> ErrorCount {
        self.0.get(&number).copied().unwrap_or_default()
    }

    /// Of all numbers that are not among the `known`.
    pub fn of_others(&self, known: impl Fn(u16) -> bool) -> ErrorCount {
        let mut sum = ErrorCount::default();
        let others = self.0.iter().filter(|(number, _)| !known(**number));
        others.for_each(|(_, count)| sum.merge(*count));
        sum
    }
}

/// All that is counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tally {
    /// Statements by class.
    pub statements: ClassSums,
    /// Transactions.
    pub transactions: TransactionSums,
    /// Errors by number.
    pub errors: ErrorSums,
    /// Stages of statements; `None` if there were none.
    pub stages: Option<Box<StageSums>>,
}

impl Tally {
    /// Adds others.
    pub fn merge(&mut self, others: &Tally) {
        self.statements.merge(others.statements.iter());
        self.transactions.merge(&others.transactions);
        self.errors.merge(&others.errors);
        if let Some(others) = &others.stages {
            self.stages.get_or_insert_default().merge(others);
        }
    }

    /// A family begins anew: gives what it was.
    pub fn take(&mut self, family: Family) -> Tally {
        let mut taken = Tally::default();
        match family {
            Family::Statements => std::mem::swap(&mut self.statements, &mut taken.statements),
            Family::Transactions => std::mem::swap(&mut self.transactions, &mut taken.transactions),
            Family::Errors => std::mem::swap(&mut self.errors, &mut taken.errors),
            Family::Stages => std::mem::swap(&mut self.stages, &mut taken.stages),
        }
        taken
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::stage::{Stage, StageClass};
    use crate::sums::Done;

    fn tally() -> Tally {
        let mut tally = Tally::default();
        let mut sums = Sums::default();
        sums.add(&Done::new(10, 20));
        tally.statements.merge([(Class(3), &sums)]);
        tally.transactions.add(true, 5);
        tally.errors.add(1064, 100);
        tally.errors.add(1064, 300);
        tally.errors.add(9999, 200);
        let stage = Stage { class: StageClass::END, began_ns: 1, wait_ns: 2, work: None };
        tally.stages.get_or_insert_default().add(&stage);
        tally
    }

    #[test]
    fn a_family_is_taken_alone() {
        for family in Family::ALL {
            let mut tally = tally();
            let taken = tally.take(family);
            assert!(taken != Tally::default() && tally != self::tally(), "{family:?}");
            tally.merge(&taken);
            assert_eq!(tally, self::tally(), "{family:?}");
        }
    }

    #[test]
    fn errors_are_counted_by_number() {
        let mut sums = tally().errors;
        assert_eq!(sums.of(1064), ErrorCount { raised: 2, first_ns: 100, last_ns: 300 });
        assert_eq!(sums.of(1), ErrorCount::default());
        assert_eq!(
            sums.of_others(|number| number < 5000),
            ErrorCount { raised: 1, first_ns: 200, last_ns: 200 }
        );
        let mut earlier = ErrorSums::default();
        earlier.add(1064, 50);
        sums.merge(&earlier);
        assert_eq!(sums.of(1064), ErrorCount { raised: 3, first_ns: 50, last_ns: 300 });
    }
}
