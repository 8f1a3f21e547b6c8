//! What the client of a two-phase commit knows of a transaction's end.
//!
//! ```text
//!   being prepared ──► prepared ──► its end is asked for ──► ended
//!        │                 │                 │                 │
//!        └─── each step may go without an answer; then the list of what is prepared (XA RECOVER) tells ───┘
//! ```
//!
//! Two-phase commit leaves no doubt, and that is what it is for: what was said to be prepared is there until its end is asked
//! for, through crashes too; what is not there any more has ended as it was asked to; and what was never asked to be ended
//! and is not there was never prepared. So where a plain commit without an answer may have happened or not, a branch's fate
//! is known, and a server that loses one contradicts itself.

use crate::history::Fate;

/// A branch, seen by whoever decides its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// How it is to end, once that is decided; it does not change any more.
    end: Fate,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// It was asked to be prepared.
    Preparing,
    /// It said that it is, or was listed.
    Prepared,
    /// Its end was asked for.
    Ending,
    /// Its end was acknowledged.
    Ended,
}

impl Branch {
    /// One that is about to be asked to be prepared, and then to end so: committed or aborted.
    pub fn new(end: Fate) -> Branch {
        assert_ne!(end, Fate::Unknown, "a coordinator decides");
        Branch { end, stage: Stage::Preparing }
    }

    /// How it is to end.
    pub fn end(&self) -> Fate {
        self.end
    }

    /// It said that it is prepared.
    pub fn is_prepared(&mut self) {
        self.stage = self.stage.max(Stage::Prepared);
    }

    /// It is about to be asked to end.
    pub fn is_ending(&mut self) {
        self.stage = self.stage.max(Stage::Ending);
    }

    /// It said that it has ended.
    pub fn has_ended(&mut self) {
        self.stage = Stage::Ended;
    }

    /// The list of what is prepared has it or not, and nobody is at work on it: its fate, if that is known then; an error
    /// if that cannot be.
    pub fn look(&mut self, is_listed: bool) -> Result<Option<Fate>, &'static str> {
        match (self.stage, is_listed) {
            (Stage::Ended, true) => Err("its end was acknowledged, and it is prepared"),
            (Stage::Ended | Stage::Ending, false) => Ok(Some(self.end)),
            (Stage::Prepared, false) => Err("it was prepared, and is gone although nobody asked for its end"),
            (Stage::Preparing, false) => Ok(Some(Fate::Aborted)),
            (Stage::Preparing | Stage::Prepared | Stage::Ending, true) => {
                self.is_prepared();
                Ok(None)
            }
        }
    }
}
