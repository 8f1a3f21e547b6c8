//! What a statement does with the rows that its plan finds, as far as EXPLAIN tells it.

/// What the rows of a plan are for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Purpose {
    /// They are given.
    #[default]
    Query,
    /// They are changed.
    Change(Change),
    /// They are inserted.
    Insert {
        /// It is a REPLACE.
        is_replace: bool,
        /// The table's name.
        table: String,
        /// Names of the partitions that rows may go to, of a table that has any; known where it is explained.
        partitions: Vec<String>,
    },
}

/// An UPDATE or DELETE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// It is an UPDATE.
    pub is_update: bool,
    /// Slots and names of the tables whose rows are changed.
    pub targets: Vec<(usize, String)>,
    /// The statement names one table, not a join.
    pub is_of_one_table: bool,
    /// Rows are found before any is changed.
    pub collects: bool,
}

impl Change {
    /// The names of the tables whose rows are changed.
    pub fn target_names(&self) -> String {
        self.targets.iter().map(|(_, name)| name.as_str()).collect::<Vec<_>>().join(", ")
    }
}

impl Purpose {
    /// What it does to the rows of the table in a slot.
    pub fn verb_of(&self, slot: usize) -> Option<&'static str> {
        match self {
            Purpose::Change(change) if change.targets.iter().any(|(target, _)| *target == slot) => {
                Some(if change.is_update { "UPDATE" } else { "DELETE" })
            }
            _ => None,
        }
    }

    /// INSERT or REPLACE, and the table's name, if that is what it does.
    pub fn inserted(&self) -> Option<(&'static str, &str)> {
        match self {
            Purpose::Insert { is_replace, table, .. } => {
                Some((if *is_replace { "REPLACE" } else { "INSERT" }, table))
            }
            Purpose::Query | Purpose::Change(_) => None,
        }
    }

    /// The partitions that rows may be inserted into; empty of a table that has none.
    pub fn partitions(&self) -> &[String] {
        match self {
            Purpose::Insert { partitions, .. } => partitions,
            Purpose::Query | Purpose::Change(_) => &[],
        }
    }
}
