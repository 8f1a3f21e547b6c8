//! The stages of a statement: those that its session has noted, and those of its work on the rows of a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use palisade_engine::{BuildStage, BuildWork, StageOfWork};
use palisade_observe::stage::{Stage, StageClass};
use palisade_sql::Session;
use parking_lot::Mutex;

use super::Instruments;
use super::setup::Instrument;
use crate::connections::Connection;
use crate::host::ServerHost;

/// The work of a connection's statement on all rows of tables.
#[derive(Default)]
pub struct Works {
    /// Whether there is any, so that statements without need no lock.
    any: AtomicBool,
    works: Mutex<Vec<Arc<BuildWork>>>,
}

impl Works {
    /// The statement begins that work.
    pub fn add(&self, work: &Arc<BuildWork>) {
        self.works.lock().push(work.clone());
        self.any.store(true, Ordering::Relaxed);
    }

    /// The statement has ended. Gives its work.
    fn take(&self) -> Vec<Arc<BuildWork>> {
        self.any.store(false, Ordering::Relaxed);
        std::mem::take(&mut self.works.lock())
    }

    fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Relaxed)
    }
}

fn class_of(stage: BuildStage) -> StageClass {
    match stage {
        BuildStage::Read => StageClass::READ_ROWS,
        BuildStage::Insert => StageClass::INSERT,
        BuildStage::End => StageClass::END,
    }
}

/// Whether stages of a class are collected, and whether with their times.
fn collected(instruments: &Instruments, class: StageClass) -> Option<bool> {
    let (is_enabled, is_timed) = instruments.setup.collects(Instrument::Stage(class));
    is_enabled.then_some(is_timed)
}

/// A stage that began then, by a clock at which it is `now` when `now_ns` have passed since the server began.
fn stage(
    instruments: &Instruments,
    class: StageClass,
    (now, now_ns): (Duration, u64),
    (began, took): (Duration, Duration),
) -> Option<Stage> {
    let is_timed = collected(instruments, class)?;
    let ago_ns = now.saturating_sub(began).as_nanos() as u64;
    let wait_ns = if is_timed { took.as_nanos() as u64 } else { 0 };
    Some(Stage { class, began_ns: now_ns.saturating_sub(ago_ns), wait_ns, work: None })
}

fn of_work(instruments: &Instruments, work: &BuildWork, now_ns: u64) -> impl Iterator<Item = (Stage, bool)> {
    let now = work.now();
    work.stages().into_iter().filter_map(move |seen: StageOfWork| {
        let took = seen.ended.unwrap_or(now).saturating_sub(seen.began);
        let stage = stage(instruments, class_of(seen.stage), (now, now_ns), (seen.began, took))?;
        let work = Some((seen.completed, seen.estimated));
        Some((Stage { work, ..stage }, seen.ended.is_none()))
    })
}

/// The stages of the statement that has ended, in order of their beginning.
#[inline]
pub(super) fn ended(host: &ServerHost, connection: &Connection, session: &Session) -> Vec<Stage> {
    match session.notes_stages || !connection.works.is_empty() {
        true => noted(host, connection, session),
        false => Vec::new(),
    }
}

#[cold]
fn noted(host: &ServerHost, connection: &Connection, session: &Session) -> Vec<Stage> {
    let instruments = &host.instruments;
    let now_ns = instruments.ns_of(Instant::now());
    let works = connection.works.take();
    let of_works = works.iter().flat_map(|work| of_work(instruments, work, now_ns));
    let mut stages: Vec<Stage> = of_works.map(|(stage, _)| stage).collect();
    if session.notes_stages {
        let (now, own) = session.noted_stages(host);
        let of = |(name, began, took): (&'static str, Duration, Duration)| {
            stage(instruments, StageClass::of_statement(name)?, (now, now_ns), (began, took))
        };
        stages.extend(own.into_iter().filter_map(of));
    }
    stages.sort_by_key(|stage| stage.began_ns);
    stages
}

/// The stage that a connection's work is in, as far as that is collected.
pub fn current(instruments: &Instruments, connection: &Connection) -> Option<Stage> {
    if connection.works.is_empty() || !connection.is_instrumented() {
        return None;
    }
    let now_ns = instruments.ns_of(Instant::now());
    let works = connection.works.works.lock().clone();
    let last = works.last()?;
    let (stage, is_running) = of_work(instruments, last, now_ns).last()?;
    is_running.then_some(stage)
}
