//! How far a statement has come that reads or writes all rows of a table: the stages that it has been in, and
//! the rows of its work.
//!
//! ```text
//!  ALTER TABLE, rows written anew, one index:  read and write rows │ read, for the index │ put in │ end
//!  CREATE INDEX of many rows:                  read │ put in │ read │ put in │ end
//! ```
//!
//! An index is built in runs of entries that are sorted in memory, so that reading and putting in take turns.
//! The work that is expected is an estimate until the last stage, which knows what was done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use palisade_base::clock::Clock;
use parking_lot::Mutex;

/// What a statement does with the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStage {
    /// It reads them, and sorts entries of an index or writes the rows elsewhere.
    Read,
    /// It puts sorted entries into an index.
    Insert,
    /// It makes what it has built the table.
    End,
}

/// A stage as it was or is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StageOfWork {
    /// What the statement does.
    pub stage: BuildStage,
    /// When it began, by the engine's clock.
    pub began: Duration,
    /// When it ended; `None` if it goes on.
    pub ended: Option<Duration>,
    /// Rows of the statement's work that were done when it ended, or are now.
    pub completed: u64,
    /// Rows that the statement was expected to have then.
    pub estimated: u64,
}

/// The work of a statement.
pub struct BuildWork {
    clock: Arc<dyn Clock>,
    stages: Mutex<Vec<StageOfWork>>,
    completed: AtomicU64,
    estimated: AtomicU64,
}

/// So many stages are kept: of more, those that follow belong to the last one.
const STAGES_KEPT: usize = 1000;

impl BuildWork {
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Arc<BuildWork> {
        Arc::new(BuildWork {
            clock,
            stages: Mutex::default(),
            completed: AtomicU64::new(0),
            estimated: AtomicU64::new(0),
        })
    }

    /// A stage begins, and the one before it ends.
    pub(crate) fn begin(&self, stage: BuildStage) {
        let mut stages = self.stages.lock();
        if stages.last().is_some_and(|last| last.stage == stage && last.ended.is_none())
            || stages.len() >= STAGES_KEPT && stage != BuildStage::End
        {
            return;
        }
        let now = self.clock.monotonic();
        self.close(&mut stages, now);
        if stage == BuildStage::End {
            self.estimated.store(self.completed.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        stages.push(StageOfWork { stage, began: now, ended: None, completed: 0, estimated: 0 });
    }

    fn close(&self, stages: &mut [StageOfWork], now: Duration) {
        let (completed, estimated) = self.rows();
        if let Some(last) = stages.last_mut().filter(|last| last.ended.is_none()) {
            *last = StageOfWork { ended: Some(now), completed, estimated, ..*last };
        }
    }

    /// The last stage has ended.
    pub(crate) fn end(&self) {
        self.close(&mut self.stages.lock(), self.clock.monotonic());
    }

    /// There are so many more rows to be done.
    pub(crate) fn expect(&self, rows: u64) {
        self.estimated.fetch_add(rows, Ordering::Relaxed);
    }

    /// So many of them have been done.
    pub(crate) fn complete(&self, rows: u64) {
        self.completed.fetch_add(rows, Ordering::Relaxed);
    }

    fn rows(&self) -> (u64, u64) {
        let completed = self.completed.load(Ordering::Relaxed);
        (completed, self.estimated.load(Ordering::Relaxed).max(completed))
    }

    /// The time now, by the clock of the stages.
    pub fn now(&self) -> Duration {
        self.clock.monotonic()
    }

    /// The stages until now, in order.
    pub fn stages(&self) -> Vec<StageOfWork> {
        let mut stages = self.stages.lock().clone();
        let (completed, estimated) = self.rows();
        if let Some(last) = stages.last_mut().filter(|last| last.ended.is_none()) {
            *last = StageOfWork { completed, estimated, ..*last };
        }
        stages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is a second later at each look.
    #[derive(Default)]
    struct Looks(AtomicU64);

    impl Clock for Looks {
        fn monotonic(&self) -> Duration {
            Duration::from_secs(self.0.fetch_add(1, Ordering::Relaxed))
        }

        fn unix_micros(&self) -> i64 {
            0
        }
    }

    #[test]
    fn a_stage_ends_where_the_next_one_begins() {
        let work = BuildWork::new(Arc::new(Looks::default()));
        work.expect(100);
        work.begin(BuildStage::Read);
        work.begin(BuildStage::Read);
        work.complete(40);
        let shown = |work: &BuildWork| {
            let stage = |seen: StageOfWork| {
                (
                    seen.stage,
                    seen.ended.map(|end| (end - seen.began).as_secs()),
                    seen.completed,
                    seen.estimated,
                )
            };
            work.stages().into_iter().map(stage).collect::<Vec<_>>()
        };
        assert_eq!(shown(&work), [(BuildStage::Read, None, 40, 100)]);
        work.begin(BuildStage::Insert);
        work.complete(80);
        work.begin(BuildStage::End);
        work.end();
        let all = [
            (BuildStage::Read, Some(1), 40, 100),
            (BuildStage::Insert, Some(1), 120, 120),
            (BuildStage::End, Some(1), 120, 120),
        ];
        assert_eq!(shown(&work), all);
    }
}
