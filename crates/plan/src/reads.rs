//! How a plan reads its tables, as `Select_...` counts it.

use palisade_engine::ReadMode;
use palisade_session::work::{COUNT, Work};

use super::{Access, Operator};

/// How the tables of queries are read: what each of their executions counts.
#[derive(Debug, Default)]
pub struct TableReads([u64; COUNT]);

impl TableReads {
    /// Adds a query without the subqueries in its expressions.
    pub fn query(&mut self, root: &Operator) {
        self.tables(root, true);
    }

    /// What there is to count.
    pub fn counts(&self) -> impl Iterator<Item = (Work, u64)> {
        let kinds = [Work::SelectFullJoin, Work::SelectFullRangeJoin, Work::SelectRange, Work::SelectScan];
        let read = kinds.into_iter().filter_map(|work| Some((work, *self.0.get(work as usize)?)));
        read.filter(|(_, tables)| *tables > 0)
    }

    fn add(&mut self, work: Work) {
        if let Some(tables) = self.0.get_mut(work as usize) {
            *tables += 1;
        }
    }

    fn tables(&mut self, operator: &Operator, first: bool) {
        match operator {
            Operator::Scan { access, .. } => match (reach(access), first) {
                (Reach::Whole, true) => self.add(Work::SelectScan),
                (Reach::Whole, false) => self.add(Work::SelectFullJoin),
                (Reach::Range, true) => self.add(Work::SelectRange),
                (Reach::Range, false) => self.add(Work::SelectFullRangeJoin),
                (Reach::Key, _) => {}
            },
            Operator::IndexMerge { .. } if first => self.add(Work::SelectRange),
            Operator::IndexMerge { .. } => self.add(Work::SelectFullRangeJoin),
            Operator::Virtual { .. } if first => self.add(Work::SelectScan),
            Operator::Virtual { .. } => self.add(Work::SelectFullJoin),
            Operator::NestedLoop { left, right, .. } | Operator::HashJoin { left, right, .. } => {
                self.tables(left, first);
                self.tables(right, false);
            }
            Operator::Union { .. } | Operator::Derived { .. } | Operator::Recursive { .. } => {
                operator.inputs().iter().for_each(|query| self.tables(query, true));
            }
            _ => operator.inputs().iter().for_each(|input| self.tables(input, first)),
        }
    }
}

/// How much of an index a path may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All of it.
    Whole,
    /// Ranges of it.
    Range,
    /// What has given values in the first parts of the key.
    Key,
}

/// How much `access` may read.
pub fn reach(access: &Access) -> Reach {
    match (access.equals.is_empty(), access.alternatives.is_empty()) {
        (_, false) => Reach::Range,
        (true, true) => Reach::Whole,
        (false, true) => Reach::Key,
    }
}

/// Whether a table is read as it lies, not in the order of an index.
pub fn is_table_scan(access: &Access) -> bool {
    access.index == 0 && !access.backward && !access.covering && reach(access) == Reach::Whole
}

/// The index by which rows of a table are found; `None` where the table is read as it lies.
pub fn index_of(access: &Access) -> Option<usize> {
    (!is_table_scan(access)).then_some(access.index)
}

/// The index by which the rows of a slot are found; `None` where they are not, or by none or by several.
pub fn index_of_slot(root: &Operator, of: usize) -> Option<usize> {
    match root {
        Operator::Scan { slot, access, .. } if *slot == of => index_of(access),
        // Its inputs place the rows in the same slot.
        Operator::IndexMerge { .. } => None,
        _ => root.inputs().iter().find_map(|input| index_of_slot(input, of)),
    }
}

/// Whether all rows of a scan can be counted without being read.
pub fn is_countable(plan: &Operator) -> bool {
    match plan {
        Operator::Scan { access, filter: None, mode: ReadMode::Snapshot, .. } => {
            reach(access) == Reach::Whole && (access.index == 0 || access.covering)
        }
        _ => false,
    }
}
