//! The conditions a statement leaves behind: what SHOW WARNINGS lists.

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
}

/// The diagnostics area. Keeps at most `limit` conditions and counts all.
#[derive(Debug, Clone)]
pub struct Warnings {
    conditions: Vec<Condition>,
    count: u32,
    limit: usize,
    /// `sql_notes` is off.
    drops_notes: bool,
}

impl Default for Warnings {
    fn default() -> Self {
        Warnings { conditions: Vec::new(), count: 0, limit: 1024, drops_notes: false }
    }
}

impl Warnings {
    /// A new statement begins; it keeps at most `limit` (`max_error_count`).
    pub fn clear(&mut self, limit: usize) {
        self.conditions.clear();
        self.count = 0;
        self.limit = limit;
    }

    /// Adds a condition.
    pub fn push(&mut self, level: Level, error: SqlError) {
        self.count += 1;
        if self.conditions.len() < self.limit {
            self.conditions.push(Condition { level, code: error.number(), message: error.message });
        }
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

    /// How many there were (`@@warning_count`), capped at what a packet can say.
    pub fn count(&self) -> u16 {
        self.count.min(u32::from(u16::MAX)) as u16
    }

    /// How many of them are errors (`@@error_count`).
    pub fn error_count(&self) -> usize {
        self.conditions.iter().filter(|condition| condition.level == Level::Error).count()
    }
}
