//! The redo log: whether its files are what they should be, whether it can be read from the checkpoint to its
//! end, and how much a start would redo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use palisade_base::{Lsn, SpaceId};
use palisade_btree::PageSet;
use palisade_btree::op::PageOps;
use palisade_buffer::places::record as place_record;
use palisade_io::{FileSystem, ScratchFileSystem};
use palisade_log::{CheckpointSlot, Log, LogConfig, LogEnd, LogFiles, Loss, checkpoint_path, inspect};

use super::finding::{Finding, Kind, Place, Severity};
use super::{Progress, Watch};
use crate::Error;

/// What is known of the redo log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogSummary {
    /// Segment files.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Where a start begins to read.
    pub checkpoint_lsn: Lsn,
    /// Where the log ends; as far as it can be read.
    pub end_lsn: Lsn,
    /// Everything below was durable once, as far as the files tell.
    pub known_durable_lsn: Lsn,
    /// Mini-transactions that a start would redo.
    pub mini_transactions: u64,
    /// Pages that they change.
    pub pages_to_redo: u64,
    /// Whether the log ends in something that was never written whole.
    pub is_torn: bool,
    /// Whether it cannot be read to the end of what was durable.
    pub is_damaged: bool,
}

/// What reading the log has shown.
pub(super) struct LogCheck {
    pub(super) summary: LogSummary,
    pub(super) findings: Vec<Finding>,
    /// Spaces that the log has changes for.
    pub(super) spaces: BTreeSet<SpaceId>,
}

const REDO_ADVICE: &str = "dump with innodb_force_recovery=6, which applies what is in front of the damage, \
    and load the dump into a new data directory";

/// Reads the log in `dir`. What opening it writes goes to a scratch disk. Blocks.
pub(super) fn check_log(
    fs: &Arc<dyn FileSystem>,
    dir: &Path,
    watch: &mut Watch<'_>,
) -> Result<LogCheck, Error> {
    let files = inspect(&**fs, dir)?;
    let mut check = LogCheck {
        summary: LogSummary {
            segments: files.segments.len() as u64,
            bytes: files.size(),
            ..LogSummary::default()
        },
        findings: Vec::new(),
        spaces: BTreeSet::new(),
    };
    check.files(dir, &files);
    let scratch: Arc<dyn FileSystem> = Arc::new(ScratchFileSystem::without_lock(fs.clone()));
    let config = LogConfig { background: false, capacity: capacity(&files), ..LogConfig::default() };
    match Log::open(scratch, dir, config) {
        Ok((log, mut reader)) => {
            reader.accept_damage();
            check.summary.checkpoint_lsn = reader.checkpoint_lsn();
            let mut pages: BTreeMap<SpaceId, PageSet> = BTreeMap::new();
            let read = loop {
                match reader.next() {
                    Ok(Some(record)) if place_record::is_record(record.payload) => {
                        if place_record::decode(record.payload, |_| {}).is_err() {
                            check.damaged(format!("the place record at LSN {} makes no sense", record.start));
                        }
                    }
                    Ok(Some(record)) => {
                        check.summary.mini_transactions += 1;
                        if !note_pages(record.payload, &mut pages) {
                            let lsn = record.start;
                            check.damaged(format!("the mini-transaction at LSN {lsn} makes no sense"));
                        }
                        if check.summary.mini_transactions.is_multiple_of(4096)
                            && !watch(Progress { what: "redo log", pages: 0 })
                        {
                            break Ok(());
                        }
                    }
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                }
            };
            if let Err(error) = read {
                check.damaged(error.to_string());
            }
            check.ended(reader.end_found(), reader.loss());
            check.summary.pages_to_redo = pages.values().map(PageSet::len).sum();
            check.spaces = pages.into_keys().collect();
            log.abandon();
        }
        Err(error) => check.damaged(error.to_string()),
    }
    Ok(check)
}

/// The capacity with which a log is opened so that its files stay as they are.
pub(super) fn capacity(files: &LogFiles) -> u64 {
    const LEAST: u64 = 8 << 20;
    files
        .segments
        .iter()
        .filter(|segment| segment.is_sound)
        .map(|segment| segment.size)
        .sum::<u64>()
        .max(LEAST)
}

/// Notes the pages that a mini-transaction changes; false if it cannot be read.
fn note_pages(payload: &[u8], pages: &mut BTreeMap<SpaceId, PageSet>) -> bool {
    for op in PageOps::new(payload) {
        let Ok((page, _)) = op else { return false };
        pages.entry(page.space).or_default().insert(page.page);
    }
    true
}

impl LogCheck {
    fn damaged(&mut self, what: String) {
        self.summary.is_damaged = true;
        self.findings.push(Finding {
            severity: Severity::Damage,
            kind: Kind::LogDamaged,
            place: Place { file: Some("#log".to_owned()), ..Place::default() },
            what,
            lost: "what was changed from there on and is not in the tables' files yet",
            advice: REDO_ADVICE,
        });
    }

    fn ended(&mut self, end: Option<LogEnd>, loss: Option<&Loss>) {
        if let Some(LogEnd { lsn, position, known_durable, is_torn }) = end {
            self.summary.end_lsn = lsn;
            self.summary.known_durable_lsn = known_durable;
            self.summary.is_torn = is_torn && loss.is_none();
            if self.summary.is_torn {
                let what = format!(
                    "the redo log ends at LSN {lsn} (position {position}) in something that was never written whole: \
                     a write that a crash has cut off, or damage of what was written less than a second before"
                );
                let place = Place { file: Some("#log".to_owned()), ..Place::default() };
                self.findings.push(Finding::note(Kind::LogTornEnd, place, what));
            }
        }
        if let Some(Loss { from, known_to, reason }) = loss {
            self.summary.end_lsn = *from;
            self.summary.known_durable_lsn = *known_to;
            self.damaged(format!(
                "the redo log cannot be read from LSN {from} on, and was durable up to LSN {known_to} at least: {reason}"
            ));
        }
    }

    /// What the files are like, whatever is in them.
    fn files(&mut self, dir: &Path, files: &LogFiles) {
        let name = |path: &Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            format!("#log/{}", name.unwrap_or_default())
        };
        let slots = files.checkpoints.iter().enumerate();
        for (number, _) in slots.filter(|(_, slot)| **slot == CheckpointSlot::Damaged) {
            let place = Place { file: Some(name(&checkpoint_path(dir))), ..Place::default() };
            let what = format!("checkpoint record {number} of 0 and 1 is damaged; the other one counts");
            let advice = "start the server: the next checkpoint writes the record again";
            self.findings.push(Finding::warning(Kind::CheckpointRecord, place, what, advice));
        }
        for segment in files.segments.iter().filter(|segment| !segment.is_sound) {
            let place = Place { file: Some(name(&segment.path)), ..Place::default() };
            let what = format!("a segment of the redo log cannot have {} bytes", segment.size);
            self.findings.push(Finding::warning(
                Kind::LogFile,
                place,
                what,
                "keep the file until the log was read",
            ));
        }
    }
}
