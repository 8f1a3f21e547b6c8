//! The log's own threads: a writer, used with [`WriterThreads::On`], and a flusher, which is also there for what is asked
//! of it, and now and then for what nobody waits for.
//!
//! Neither waits for the other with a lock held, and neither is needed: who flushes is decided in
//! [`durability`](crate::durability), flush by flush.

use std::sync::Arc;
use std::time::Duration;

use palisade_io::Placement;

use crate::caller::Caller;
use crate::durability::Lead;
use crate::log::State;
use crate::metrics::WaitCounters;
use crate::sync::Ordering;
use crate::{Log, Lsn, WriterThreads, metrics};

/// The log's threads look for what nobody waits for no more often than this.
const SHORTEST: Duration = Duration::from_millis(10);
/// The log is idle when nothing was appended for this long, or for [`Log::background_interval`] if that is
/// shorter.
const IDLE: Duration = Duration::from_secs(1);

impl Log {
    pub(crate) fn start_threads(self: &Arc<Self>) -> std::io::Result<()> {
        let spawn = |name: &str, placement: &Placement, run: fn(&Log)| {
            let (log, placement) = (self.clone(), placement.clone());
            std::thread::Builder::new().name(name.to_owned()).spawn(move || {
                // Elsewhere it works as well: only slower, or faster.
                let _stay = placement.enter();
                run(&log);
            })
        };
        let mut threads = self.threads.lock();
        threads.push(spawn("log-writer", &self.config.writer_placement, Log::run_writer)?);
        threads.push(spawn("log-flusher", &self.config.flusher_placement, Log::run_flusher)?);
        Ok(())
    }

    /// The writer thread: with `On`, writes while someone waits for more than is written.
    fn run_writer(&self) {
        self.durability.writer.enter();
        let mut sleeps = 0;
        loop {
            self.durability.writer.listen();
            if !self.is_working() {
                return;
            }
            let tail = self.ring.tail_ordered();
            let goal = self.durability.wanted().max(self.durability.asked());
            if self.writer_threads() == WriterThreads::On && goal > self.written_lsn() {
                if self.write_for_flusher() {
                    WaitCounters::WRITER.count(std::mem::take(&mut sleeps));
                } else if goal > self.written_lsn() {
                    sleeps += 1;
                    self.sleep_until_tail_leaves(tail, &self.durability.writer);
                }
                continue;
            }
            let is_written = self.writer_threads() == WriterThreads::On && goal > self.durable_lsn();
            if is_written && !self.durability.is_flushing() {
                // Someone else has written it: a commit that does not wait for a sync, or an exchange of the buffer.
                self.durability.flusher.call();
            }
            sleeps += 1;
            self.durability.writer.wait(self.background_interval());
        }
    }

    /// Writes what there is; whether there was anything.
    fn write_for_flusher(&self) -> bool {
        let mut writer = self.writer.lock();
        match writer.write(&self.ring, self.durable_lsn()) {
            Ok(false) => false,
            Ok(true) => {
                self.publish(&writer);
                drop(writer);
                self.durability.flusher.call();
                true
            }
            Err(error) => {
                drop(writer);
                self.fail("write to the log", error);
                true
            }
        }
    }

    /// The flusher thread: flushes what it was asked for, with `On` all that is written, and now and then what nobody
    /// waits for.
    fn run_flusher(&self) {
        self.durability.flusher.enter();
        let mut is_due = false;
        // After a flush that left those who are not covered to this thread.
        let mut goes_on = false;
        let mut sleeps = 0;
        loop {
            self.durability.flusher.listen();
            if !self.is_working() {
                return;
            }
            let durable = self.durable_lsn();
            let mut goal = self.durability.asked();
            if goes_on {
                goal = goal.max(self.durability.wanted());
            }
            if self.writer_threads() == WriterThreads::On {
                goal = goal.max(self.written_lsn());
            }
            let tail = self.ring.tail_ordered();
            let has_unflushed = tail > durable;
            if (goal > durable || is_due) && has_unflushed {
                is_due = false;
                let flushed = self.flush_as_thread();
                goes_on = flushed == Some(Lead::Taken);
                if flushed.is_some() {
                    WaitCounters::FLUSHER.count(std::mem::take(&mut sleeps));
                    continue;
                }
            } else if goal > durable {
                sleeps += 1;
                self.sleep_until_tail_leaves(tail, &self.durability.flusher);
                continue;
            }
            sleeps += 1;
            let interval = self.background_interval();
            let pause = if self.lacks_witness() { interval.min(IDLE) } else { interval };
            let was_called = self.durability.flusher.wait(pause);
            is_due = !was_called && pause == interval;
            if !was_called && self.ring.next() == durable {
                self.write_witness();
            }
        }
    }

    /// Whether no record on disk says that what is durable is: the last group has no other that vouches for
    /// it.
    fn lacks_witness(&self) -> bool {
        self.durable_lsn() > self.vouched_lsn()
    }

    /// The log has gone idle. Without this, a last group that becomes unreadable would look like one that was
    /// never written whole. One small write for each idle period: the checkpoint record again, with what is
    /// durable now.
    pub(crate) fn write_witness(&self) {
        if self.lacks_witness() && self.state() == State::Running {
            // If it fails, the failure hook has been told; no caller waits for this.
            let _ = self.record_checkpoint(self.checkpoint_lsn());
        }
    }

    /// Flushes if nobody else does (who does calls this thread afterwards if it is still needed); whether this thread
    /// is to go on.
    fn flush_as_thread(&self) -> Option<Lead> {
        if !self.durability.claim() {
            return None;
        }
        metrics::THREAD_FLUSHES.increment();
        self.flush_claimed();
        let lead = self.lead_after_thread();
        self.release(lead, None);
        Some(lead)
    }

    fn is_working(&self) -> bool {
        matches!(self.state(), State::Running | State::Stopping)
    }

    fn background_interval(&self) -> Duration {
        Duration::from_millis(self.durability.background_interval_ms.load(Ordering::Relaxed)).max(SHORTEST)
    }

    /// The time between flushes of what nobody waits for: `innodb_flush_log_at_timeout`; at least 10 ms.
    pub fn set_background_flush_interval(&self, interval: Duration) {
        self.durability.background_interval_ms.store(interval.as_millis() as u64, Ordering::Relaxed);
        // A thread that sleeps for as long as it was before looks again.
        self.call_threads();
    }

    /// Someone waits for an append behind one that is not linked yet: sleeps until it is, or until called. `tail` is what the
    /// caller has seen before it looked for something to do: if it has moved since, there may be.
    fn sleep_until_tail_leaves(&self, tail: Lsn, caller: &Arc<Caller>) {
        let lsn = tail.advance(1);
        let id = self.tail_waits.register(lsn, &caller.waker());
        if self.ring.tail_ordered() == tail {
            caller.wait(self.background_interval());
        }
        self.tail_waits.cancel(lsn, id);
    }
}
