//! The stages of statements: what a statement is doing, and how far it has come where that is counted.

use crate::transaction::Times;

/// An instrument of stages, by its place in [`NAMES`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct StageClass(pub u8);

/// Those that this server's statements go through, as MySQL names them.
pub const NAMES: &[&str] = &[
    "stage/sql/cleaning up",
    "stage/sql/deleting from main table",
    "stage/sql/end",
    "stage/sql/executing",
    "stage/sql/freeing items",
    "stage/sql/Opening tables",
    "stage/sql/starting",
    "stage/sql/update",
    "stage/sql/updating",
    "stage/sql/User lock",
    "stage/sql/User sleep",
    "stage/sql/waiting for handler commit",
    "stage/sql/Waiting for table metadata lock",
    "stage/innodb/alter table (end)",
    "stage/innodb/alter table (insert)",
    "stage/innodb/alter table (read PK and internal sort)",
];

impl StageClass {
    /// What reads rows of a table, for a statement that writes an index or the table anew.
    pub const READ_ROWS: StageClass = StageClass(15);
    /// What puts entries into an index.
    pub const INSERT: StageClass = StageClass(14);
    /// What makes that the table.
    pub const END: StageClass = StageClass(13);

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    /// Whether such a stage counts how far it has come.
    pub fn has_progress(self) -> bool {
        self.name().starts_with("stage/innodb/")
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = StageClass> {
        (0..NAMES.len()).filter_map(|place| u8::try_from(place).ok().map(StageClass))
    }

    /// The stage of a statement of that name, as SHOW PROFILE has it.
    pub fn of_statement(name: &str) -> Option<StageClass> {
        StageClass::all().find(|class| class.name().strip_prefix("stage/sql/") == Some(name))
    }
}

/// A stage of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stage {
    /// What it does.
    pub class: StageClass,
    /// When it began, in nanoseconds since some moment.
    pub began_ns: u64,
    /// How long it took.
    pub wait_ns: u64,
    /// How much was done when it ended, and how much was expected then, if that was counted.
    pub work: Option<(u64, u64)>,
}

/// A stage as an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageEvent {
    /// Number of the event in its session.
    pub id: u64,
    /// The statement.
    pub within: u64,
    /// What it is.
    pub stage: Stage,
    /// It is among the last ones, and not only the last one.
    pub is_history: bool,
}

/// What stages took together, by what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageSums([Times; NAMES.len()]);

impl Default for StageSums {
    fn default() -> Self {
        StageSums([Times::default(); NAMES.len()])
    }
}

impl StageSums {
    /// Adds one.
    pub fn add(&mut self, stage: &Stage) {
        if let Some(times) = self.0.get_mut(usize::from(stage.class.0)) {
            times.add(stage.wait_ns);
        }
    }

    /// Adds others.
    pub fn merge(&mut self, others: &StageSums) {
        self.0.iter_mut().zip(others.0).for_each(|(own, others)| own.merge(others));
    }

    /// Of those that do this.
    pub fn of(&self, class: StageClass) -> Times {
        self.0.get(usize::from(class.0)).copied().unwrap_or_default()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn stages_are_found_by_what_a_profile_calls_them() {
        for name in ["starting", "Opening tables", "executing", "update", "User sleep", "cleaning up"] {
            let class = StageClass::of_statement(name).expect("known");
            assert_eq!(class.name(), format!("stage/sql/{name}"));
        }
        assert_eq!(StageClass::of_statement("alter table (end)"), None);
        let progress: Vec<&str> =
            [StageClass::READ_ROWS, StageClass::INSERT, StageClass::END].map(StageClass::name).to_vec();
        let long = "stage/innodb/alter table (read PK and internal sort)";
        assert_eq!(progress, [long, "stage/innodb/alter table (insert)", "stage/innodb/alter table (end)"]);
        assert_eq!(StageClass::all().filter(|class| class.has_progress()).count(), 3);
    }

    #[test]
    fn sums_are_by_what_stages_do() {
        let stage = |class, wait_ns| Stage { class: StageClass(class), began_ns: 0, wait_ns, work: None };
        let mut sums = StageSums::default();
        [stage(1, 10), stage(2, 20), stage(1, 30), stage(200, 1)].iter().for_each(|stage| sums.add(stage));
        let mut all = sums;
        all.merge(&sums);
        let times = all.of(StageClass(1));
        assert_eq!((times.count, times.wait_ns, times.min_ns, times.max_ns), (4, 80, 10, 30));
        assert_eq!((all.of(StageClass(2)).count, all.of(StageClass(200)).count), (2, 0));
    }
}
