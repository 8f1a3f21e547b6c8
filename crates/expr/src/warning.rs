//! The conditions a statement leaves behind: what SHOW WARNINGS lists.

use palisade_base::error_code::{Signalled, sql_state_of};

use crate::SqlError;

/// How grave a condition is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Level {
    Note,
    Warning,
    Error,
}

impl Level {
    /// As SHOW WARNINGS spells it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Note => "Note",
            Level::Warning => "Warning",
            Level::Error => "Error",
        }
    }
}

/// One condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// How grave.
    pub level: Level,
    /// MySQL's number.
    pub code: u16,
    /// The text.
    pub message: String,
    /// What SIGNAL said of it.
    pub signalled: Option<Box<Signalled>>,
}

impl Condition {
    /// Its SQLSTATE.
    pub fn sql_state(&self) -> &str {
        self.signalled.as_ref().map_or_else(|| sql_state_of(self.code), |signalled| signalled.sql_state())
    }
}

/// The diagnostics area. Keeps at most `limit` conditions and counts all.
#[derive(Debug, Clone)]
pub struct Warnings {
    conditions: Vec<Condition>,
    count: u32,
    before: Counts,
    limit: usize,
    /// `sql_notes` is off.
    drops_notes: bool,
    /// The steps that are being evaluated, see [`begin_step`](Self::begin_step).
    depth: u32,
    /// Of which step each condition that is kept is.
    depths: Vec<u32>,
}

/// How many conditions a statement has left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All of them.
    pub all: u16,
    /// Those that are errors.
    pub errors: usize,
}

/// Where a step of an evaluation began.
#[derive(Debug, Clone, Copy)]
pub struct StepMark {
    kept: usize,
}

impl Default for Warnings {
    fn default() -> Self {
        Warnings {
            conditions: Vec::new(),
            count: 0,
            before: Counts::default(),
            limit: 1024,
            drops_notes: false,
            depth: 0,
            depths: Vec::new(),
        }
    }
}

impl Warnings {
    /// A new statement begins; it keeps at most `limit` (`max_error_count`).
    pub fn clear(&mut self, limit: usize) {
        self.before = Counts { all: self.count(), errors: self.error_count() };
        self.conditions.clear();
        self.depths.clear();
        self.depth = 0;
        self.count = 0;
        self.limit = limit;
    }

    /// Adds a condition.
    pub fn push(&mut self, level: Level, error: SqlError) {
        self.count += 1;
        if self.conditions.len() < self.limit {
            self.depths.push(self.depth);
            self.conditions.push(Condition {
                level,
                code: error.number(),
                message: error.message,
                signalled: error.signalled,
            });
        }
    }

    /// A step of an evaluation begins: if it is given up, to be evaluated again, it takes its conditions
    /// back. Steps nest; what a step within it has pushed and not taken back stays, since that one is not
    /// evaluated again.
    #[inline]
    pub fn begin_step(&mut self) -> StepMark {
        self.depth += 1;
        StepMark { kept: self.conditions.len() }
    }

    /// That step is over.
    #[inline]
    pub fn end_step(&mut self, mark: StepMark, is_given_up: bool) {
        if is_given_up && self.conditions.len() > mark.kept {
            self.take_back(mark);
        }
        self.depth = self.depth.saturating_sub(1);
    }

    #[cold]
    fn take_back(&mut self, mark: StepMark) {
        let own = self.depth;
        let mut at = mark.kept;
        while let Some(depth) = self.depths.get(at) {
            if *depth == own {
                self.depths.remove(at);
                self.conditions.remove(at);
                self.count -= 1;
            } else {
                at += 1;
            }
        }
    }

    /// What the step that is being evaluated has pushed since there were so many.
    pub fn of_step_since(&self, kept: usize) -> Vec<Condition> {
        let pushed = self.conditions.iter().zip(&self.depths).skip(kept);
        pushed.filter(|(_, depth)| **depth == self.depth).map(|(condition, _)| condition.clone()).collect()
    }

    /// Pushes conditions again that an evaluation that was given up had pushed.
    pub fn push_again(&mut self, conditions: &[Condition]) {
        for condition in conditions {
            self.count += 1;
            if self.conditions.len() < self.limit {
                self.depths.push(self.depth);
                self.conditions.push(condition.clone());
            }
        }
    }

    /// Adds what a part of the statement that was executed beside the others has left.
    pub fn take_over(&mut self, other: &Warnings) {
        let before = self.count;
        self.push_again(&other.conditions);
        self.count = before.saturating_add(other.count);
    }

    /// Whether notes are kept: `sql_notes`.
    pub fn keep_notes(&mut self, keep: bool) {
        self.drops_notes = !keep;
    }

    /// Adds a warning.
    pub fn warn(&mut self, error: SqlError) {
        self.push(Level::Warning, error);
    }

    /// Adds a note.
    pub fn note(&mut self, error: SqlError) {
        if self.drops_notes {
            return;
        }
        self.push(Level::Note, error);
    }

    /// What is kept, in order.
    pub fn list(&self) -> &[Condition] {
        &self.conditions
    }

    /// How many the statement before has left: what `@@warning_count` and `@@error_count` are in this one.
    pub fn before(&self) -> Counts {
        self.before
    }

    /// How many there were, capped at what a packet can say.
    pub fn count(&self) -> u16 {
        self.count.min(u32::from(u16::MAX)) as u16
    }

    /// How many of them are errors.
    pub fn error_count(&self) -> usize {
        self.conditions.iter().filter(|condition| condition.level == Level::Error).count()
    }
}
