//! What the engine must do, in plain maps.

use std::collections::BTreeMap;

/// A row of the history's table, without its primary key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Indexed.
    pub k: i64,
    /// Indexed, unique unless NULL.
    pub u: Option<i64>,
    /// As long as it likes: long ones leave the leaf.
    pub v: Filling,
}

/// A value of one byte many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Filling {
    /// The byte.
    pub byte: u8,
    /// How often.
    pub len: u32,
}

/// Rows by primary key.
pub type Rows = BTreeMap<i64, Row>;

/// What a transaction has done to rows: the new row, or that there is none.
pub type Writes = BTreeMap<i64, Option<Row>>;

fn apply(rows: &mut Rows, writes: &Writes) {
    for (id, row) in writes {
        match row {
            Some(row) => rows.insert(*id, row.clone()),
            None => rows.remove(id),
        };
    }
}

/// A transaction as the model sees it.
#[derive(Debug, Clone, Default)]
pub struct ModelTransaction {
    /// What it has changed.
    pub writes: Writes,
    /// What was committed when it first read.
    pub snapshot: Option<Rows>,
}

/// The committed state, and what a crash may make of it.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The state that is durable at least.
    base: Rows,
    /// Commits after that, in order.
    unsettled: Vec<Writes>,
    committed: Rows,
}

impl Model {
    /// The committed rows.
    pub fn committed(&self) -> &Rows {
        &self.committed
    }

    /// The committed rows with a transaction's own changes.
    pub fn current(&self, transaction: &ModelTransaction) -> Rows {
        let mut rows = self.committed.clone();
        apply(&mut rows, &transaction.writes);
        rows
    }

    /// What a transaction's consistent read shows: its snapshot, taken now if there is none, with its own changes.
    pub fn seen(&self, transaction: &mut ModelTransaction) -> Rows {
        let mut rows = transaction.snapshot.get_or_insert_with(|| self.committed.clone()).clone();
        apply(&mut rows, &transaction.writes);
        rows
    }

    /// A commit is under way: it may survive a crash.
    pub fn begin_commit(&mut self, writes: Writes) {
        apply(&mut self.committed, &writes);
        self.unsettled.push(writes);
    }

    /// Everything committed is durable.
    pub fn settle(&mut self) {
        self.unsettled.clear();
        self.base = self.committed.clone();
    }

    /// After a crash the engine shows `found`: that must be the durable state and a prefix of what came after.
    pub fn recover(&mut self, found: &Rows) -> Result<(), String> {
        let mut possible = self.base.clone();
        let mut commits = self.unsettled.iter();
        while possible != *found {
            let Some(next) = commits.next() else {
                return Err(format!(
                    "after the crash the table is no state that it may be in: {}",
                    difference(&self.committed, found)
                ));
            };
            apply(&mut possible, next);
        }
        self.committed = possible;
        self.settle();
        Ok(())
    }
}

/// Where two states differ, for people.
pub fn difference(expected: &Rows, found: &Rows) -> String {
    let ids = expected.keys().chain(found.keys()).collect::<std::collections::BTreeSet<_>>();
    let brief = |row: Option<&Row>| match row {
        None => "none".to_owned(),
        Some(row) => format!("k={} u={:?} v={}x{}", row.k, row.u, row.v.len, row.v.byte),
    };
    let lines = ids
        .into_iter()
        .filter(|id| expected.get(id) != found.get(id))
        .map(|id| format!("row {id}: expected {}, found {}", brief(expected.get(id)), brief(found.get(id))));
    lines.take(5).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(id: i64) -> Writes {
        Writes::from([(id, Some(Row { k: id, u: None, v: Filling { byte: 0, len: 0 } }))])
    }

    #[test]
    fn a_prefix_of_what_was_not_acknowledged_may_survive_and_nothing_else() {
        let mut model = Model::default();
        model.begin_commit(put(1));
        model.settle();
        model.begin_commit(put(2));
        model.begin_commit(put(3));
        let rows = |ids: &[i64]| {
            let mut rows = Rows::new();
            ids.iter().for_each(|id| apply(&mut rows, &put(*id)));
            rows
        };
        for possible in [&[1][..], &[1, 2], &[1, 2, 3]] {
            assert_eq!(model.clone().recover(&rows(possible)), Ok(()));
        }
        for impossible in [&[][..], &[1, 3], &[2], &[1, 2, 3, 4]] {
            assert!(model.clone().recover(&rows(impossible)).is_err());
        }
    }
}
