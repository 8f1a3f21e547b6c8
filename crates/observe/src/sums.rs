//! What statements have done, in numbers: of [one](Done), and of [many](Sums).

use crate::versioned::{Changing, Versioned};

/// What is counted of each statement, in the order of MySQL's columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the columns SUM_...")]
pub enum Number {
    /// Nanoseconds.
    LockTime,
    Errors,
    Warnings,
    RowsAffected,
    RowsSent,
    RowsExamined,
    CreatedTmpDiskTables,
    SelectFullJoin,
    SelectFullRangeJoin,
    SelectRange,
    SelectScan,
    SortMergePasses,
    SortRows,
    SortScan,
    NoIndexUsed,
    /// Nanoseconds.
    CpuTime,
}

/// How many things are counted.
pub const NUMBERS: usize = Number::CpuTime as usize + 1;

/// What one statement has done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// Nanoseconds that it took.
    pub wait_ns: u64,
    /// When it ended, in nanoseconds since some moment.
    pub ended_ns: u64,
    numbers: [u64; NUMBERS],
    /// A bit for each that is not 0.
    touched: u32,
}

impl Done {
    /// A statement that took so long and has ended now.
    #[inline]
    pub fn new(wait_ns: u64, ended_ns: u64) -> Done {
        Done { wait_ns, ended_ns, numbers: [0; NUMBERS], touched: 0 }
    }

    /// Takes on what another statement has done. Few numbers are not 0: only those are written.
    #[inline]
    pub(crate) fn assign(&mut self, other: &Done) {
        let mut left = self.touched & !other.touched;
        while left != 0 {
            if let Some(number) = self.numbers.get_mut(left.trailing_zeros() as usize) {
                *number = 0;
            }
            left &= left - 1;
        }
        other.each(|which, amount| {
            if let Some(number) = self.numbers.get_mut(which) {
                *number = amount;
            }
        });
        (self.wait_ns, self.ended_ns, self.touched) = (other.wait_ns, other.ended_ns, other.touched);
    }

    /// Sets a number.
    #[inline]
    pub fn set(&mut self, which: Number, value: u64) {
        if value != 0
            && let Some(number) = self.numbers.get_mut(which as usize)
        {
            *number = value;
            self.touched |= 1 << which as usize;
        }
    }

    /// A number.
    pub fn get(&self, which: Number) -> u64 {
        self.numbers.get(which as usize).copied().unwrap_or(0)
    }

    /// Those that are not 0.
    #[inline]
    fn each(&self, mut take: impl FnMut(usize, u64)) {
        let mut left = self.touched;
        while left != 0 {
            let which = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(number) = self.numbers.get(which) {
                take(which, *number);
            }
        }
    }
}

/// What statements have done together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    /// How many they are.
    pub count: u64,
    /// Nanoseconds that they took.
    pub wait_ns: u64,
    /// Of the fastest.
    pub min_ns: u64,
    /// Of the slowest.
    pub max_ns: u64,
    /// When the first one ended; see [`Done::ended_ns`].
    pub first_ns: u64,
    /// When the last one ended.
    pub last_ns: u64,
    numbers: [u64; NUMBERS],
}

impl Sums {
    /// Adds a statement.
    #[inline]
    pub fn add(&mut self, done: &Done) {
        if self.count == 0 {
            self.min_ns = done.wait_ns;
            self.first_ns = done.ended_ns;
        }
        self.count += 1;
        self.wait_ns = self.wait_ns.wrapping_add(done.wait_ns);
        self.min_ns = self.min_ns.min(done.wait_ns);
        self.max_ns = self.max_ns.max(done.wait_ns);
        self.last_ns = self.last_ns.max(done.ended_ns);
        done.each(|which, amount| {
            if let Some(number) = self.numbers.get_mut(which) {
                *number = number.wrapping_add(amount);
            }
        });
    }

    /// Adds others.
    pub fn merge(&mut self, others: &Sums) {
        if others.count == 0 {
            return;
        }
        let is_first = self.count == 0;
        self.min_ns = if is_first { others.min_ns } else { self.min_ns.min(others.min_ns) };
        self.first_ns = if is_first { others.first_ns } else { self.first_ns.min(others.first_ns) };
        self.max_ns = self.max_ns.max(others.max_ns);
        self.last_ns = self.last_ns.max(others.last_ns);
        self.count += others.count;
        self.wait_ns = self.wait_ns.wrapping_add(others.wait_ns);
        self.numbers.iter_mut().zip(others.numbers).for_each(|(sum, more)| *sum = sum.wrapping_add(more));
    }

    /// The sum of a number.
    pub fn get(&self, which: Number) -> u64 {
        self.numbers.get(which as usize).copied().unwrap_or(0)
    }

    /// Nanoseconds that one took on average.
    pub fn average_ns(&self) -> u64 {
        self.wait_ns.checked_div(self.count).unwrap_or(0)
    }
}

/// Places in [`SharedSums`] before those of [`Number`].
mod place {
    pub(super) const COUNT: usize = 0;
    pub(super) const WAIT: usize = 1;
    pub(super) const MIN: usize = 2;
    pub(super) const MAX: usize = 3;
    pub(super) const FIRST: usize = 4;
    pub(super) const LAST: usize = 5;
    pub(super) const NUMBERS: usize = 6;
}

/// [`Sums`] that one thread adds to and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct SharedSums(Versioned<{ place::NUMBERS + NUMBERS }>);

impl SharedSums {
    /// Adds a statement. The caller is the only writer.
    #[inline]
    pub(crate) fn add(&self, done: &Done) {
        self.0.change(|sums: &Changing<'_, _>| {
            let count = sums.get(place::COUNT);
            if count == 0 || done.wait_ns < sums.get(place::MIN) {
                sums.set(place::MIN, done.wait_ns);
            }
            if count == 0 {
                sums.set(place::FIRST, done.ended_ns);
            }
            if done.wait_ns > sums.get(place::MAX) {
                sums.set(place::MAX, done.wait_ns);
            }
            sums.set(place::COUNT, count + 1);
            sums.add(place::WAIT, done.wait_ns);
            sums.set(place::LAST, done.ended_ns);
            done.each(|which, amount| sums.add(place::NUMBERS + which, amount));
        });
    }

    /// What they are now.
    pub(crate) fn read(&self) -> Sums {
        let all = self.0.read();
        let at = |which: usize| all.get(which).copied().unwrap_or(0);
        Sums {
            count: at(place::COUNT),
            wait_ns: at(place::WAIT),
            min_ns: at(place::MIN),
            max_ns: at(place::MAX),
            first_ns: at(place::FIRST),
            last_ns: at(place::LAST),
            numbers: std::array::from_fn(|which| at(place::NUMBERS + which)),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn done(wait_ns: u64, ended_ns: u64, rows: u64) -> Done {
        let mut done = Done::new(wait_ns, ended_ns);
        done.set(Number::RowsSent, rows);
        done
    }

    #[test]
    fn shared_and_own_sums_are_the_same() {
        let statements = [done(50, 1000, 3), done(20, 1100, 0), done(90, 1200, 4)];
        let (shared, mut own) = (SharedSums::default(), Sums::default());
        for statement in &statements {
            shared.add(statement);
            own.add(statement);
        }
        assert_eq!(shared.read(), own);
        assert_eq!((own.count, own.wait_ns, own.average_ns()), (3, 160, 53));
        assert_eq!((own.min_ns, own.max_ns, own.first_ns, own.last_ns), (20, 90, 1000, 1200));
        assert_eq!((own.get(Number::RowsSent), own.get(Number::Errors)), (7, 0));
    }

    #[test]
    fn what_is_taken_on_replaces_all_numbers() {
        let mut kept = done(50, 1000, 3);
        kept.set(Number::SortRows, 9);
        let mut other = done(20, 1100, 0);
        other.set(Number::SortRows, 2);
        other.set(Number::CpuTime, 7);
        for next in [&other, &done(90, 1200, 4), &Done::default()] {
            kept.assign(next);
            assert_eq!(&kept, next);
        }
    }

    #[test]
    fn sums_of_parts_are_the_sum_of_all() {
        let statements: Vec<Done> = (1..20).map(|at| done(at * 7 % 11, 100 + at, at)).collect();
        let mut all = Sums::default();
        statements.iter().for_each(|statement| all.add(statement));
        let mut merged = Sums::default();
        for part in statements.chunks(4) {
            let mut sums = Sums::default();
            part.iter().for_each(|statement| sums.add(statement));
            merged.merge(&sums);
            merged.merge(&Sums::default());
        }
        assert_eq!(merged, all);
        assert_eq!(Sums::default().average_ns(), 0);
    }
}
