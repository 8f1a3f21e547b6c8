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

/// Number of an XA transaction, which is its name.
pub type Branch = u64;

/// What is committed, and what is prepared.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct State {
    rows: Rows,
    prepared: BTreeMap<Branch, Writes>,
}

/// What changes that.
#[derive(Debug, Clone)]
enum Change {
    Commit(Writes),
    Prepare(Branch, Writes),
    CommitPrepared(Branch),
    RollBackPrepared(Branch),
}

impl State {
    fn apply(&mut self, change: &Change) {
        match change {
            Change::Commit(writes) => apply(&mut self.rows, writes),
            Change::Prepare(branch, writes) => {
                self.prepared.insert(*branch, writes.clone());
            }
            Change::CommitPrepared(branch) => {
                let writes = self.prepared.remove(branch).expect("what is ended is prepared");
                apply(&mut self.rows, &writes);
            }
            Change::RollBackPrepared(branch) => {
                self.prepared.remove(branch).expect("what is ended is prepared");
            }
        }
    }

    fn is(&self, rows: &Rows, prepared: &[Branch]) -> bool {
        self.rows == *rows && self.prepared.keys().eq(prepared)
    }
}

/// The committed state, and what a crash may make of it.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The state that is durable at least.
    base: State,
    /// What came after that, in order.
    unsettled: Vec<Change>,
    now: State,
}

impl Model {
    /// The committed rows.
    pub fn committed(&self) -> &Rows {
        &self.now.rows
    }

    /// What is prepared: it changes nothing yet, and nobody else changes these rows.
    pub fn prepared(&self) -> &BTreeMap<Branch, Writes> {
        &self.now.prepared
    }

    /// The committed rows with a transaction's own changes.
    pub fn current(&self, transaction: &ModelTransaction) -> Rows {
        let mut rows = self.now.rows.clone();
        apply(&mut rows, &transaction.writes);
        rows
    }

    /// What a transaction's consistent read shows: its snapshot, taken now if there is none, with its own changes.
    pub fn seen(&self, transaction: &mut ModelTransaction) -> Rows {
        let mut rows = transaction.snapshot.get_or_insert_with(|| self.now.rows.clone()).clone();
        apply(&mut rows, &transaction.writes);
        rows
    }

    /// A commit is under way: it may survive a crash.
    pub fn begin_commit(&mut self, writes: Writes) {
        self.begin(Change::Commit(writes));
    }

    /// A transaction is being prepared: that may survive a crash.
    pub fn begin_prepare(&mut self, branch: Branch, writes: Writes) {
        self.begin(Change::Prepare(branch, writes));
    }

    /// A prepared transaction is being committed.
    pub fn begin_commit_prepared(&mut self, branch: Branch) {
        self.begin(Change::CommitPrepared(branch));
    }

    /// A prepared transaction is being rolled back.
    pub fn begin_rollback_prepared(&mut self, branch: Branch) {
        self.begin(Change::RollBackPrepared(branch));
    }

    fn begin(&mut self, change: Change) {
        self.now.apply(&change);
        self.unsettled.push(change);
    }

    /// All that has happened is durable.
    pub fn settle(&mut self) {
        self.unsettled.clear();
        self.base = self.now.clone();
    }

    /// After a crash the engine shows these rows, and these transactions are prepared: that must be the durable state and a
    /// prefix of what came after.
    pub fn recover(&mut self, rows: &Rows, prepared: &[Branch]) -> Result<(), String> {
        let mut possible = self.base.clone();
        let mut changes = self.unsettled.iter();
        while !possible.is(rows, prepared) {
            let Some(next) = changes.next() else {
                let expected: Vec<_> = self.now.prepared.keys().collect();
                return Err(format!(
                    "after the crash the table is no state that it may be in: {}; prepared are {prepared:?}, {expected:?} before",
                    difference(&self.now.rows, rows)
                ));
            };
            possible.apply(next);
        }
        self.now = possible;
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
            assert_eq!(model.clone().recover(&rows(possible), &[]), Ok(()));
        }
        for impossible in [&[][..], &[1, 3], &[2], &[1, 2, 3, 4]] {
            assert!(model.clone().recover(&rows(impossible), &[]).is_err());
        }
        assert!(model.clone().recover(&rows(&[1]), &[1]).is_err(), "nothing was prepared");
    }

    #[test]
    fn what_is_prepared_is_there_until_it_is_ended_and_then_whole_or_not_at_all() {
        let one = |id| Rows::from_iter(put(id).into_iter().map(|(id, row)| (id, row.unwrap())));
        let mut model = Model::default();
        model.begin_prepare(7, put(1));
        for prepared in [&[][..], &[7]] {
            assert_eq!(model.clone().recover(&Rows::new(), prepared), Ok(()));
            assert!(model.clone().recover(&one(1), prepared).is_err(), "nobody has committed it");
        }
        model.settle();
        assert!(model.clone().recover(&Rows::new(), &[]).is_err(), "it is lost");
        for commits in [true, false] {
            let mut model = model.clone();
            let rows = if commits { one(1) } else { Rows::new() };
            match commits {
                true => model.begin_commit_prepared(7),
                false => model.begin_rollback_prepared(7),
            }
            assert_eq!(model.clone().recover(&Rows::new(), &[7]), Ok(()));
            assert_eq!(model.clone().recover(&rows, &[]), Ok(()));
            assert!(model.clone().recover(&one(1), &[7]).is_err(), "prepared and committed");
            model.settle();
            assert!(model.clone().recover(&Rows::new(), &[7]).is_err(), "prepared again");
            assert_eq!(model.clone().recover(&rows, &[]), Ok(()));
        }
    }
}
