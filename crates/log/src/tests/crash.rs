//! Power cuts at every change of a workload: what was reported durable is read back, in order, and nothing else.

use super::*;
use crate::planted::{self, Planted};
use palisade_base::planted::rounds_that_find;
use palisade_base::prng::test_seed;
use palisade_io::{Call, CrashKeeps, Fault, FaultFileSystem, File, Overlay, OverlayFileSystem};
use std::io;

/// What the log must remember: the reference that it is checked against.
#[derive(Default)]
struct Model {
    appended: Vec<(LsnRange, Vec<u8>)>,
    durable: Lsn,
    /// The furthest checkpoint asked for.
    checkpoint: Lsn,
    /// How many times as long as usual a life is.
    patience: u64,
    number: u64,
    /// How often a life was compared, and how many records that were.
    checked: usize,
    read: usize,
}

impl Model {
    fn append(&mut self, log: &Log, random: &mut Prng) -> Result<(), Error> {
        let mut bytes = payload(self.number, random);
        bytes.truncate(log.max_payload());
        let mut credit = loop {
            match log.admit(bytes.len()) {
                Ok(credit) => break credit,
                Err(palisade_base::Blocked::Error(error)) => return Err(error),
                Err(palisade_base::Blocked::Wait(_)) => {
                    self.checkpoint(log, log.tail())?;
                    log.adjust_capacity()?;
                }
            }
        };
        let range = log.append(&mut credit, &bytes, |_| {});
        self.number += 1;
        self.appended.push((range, bytes));
        Ok(())
    }

    fn checkpoint(&mut self, log: &Log, lsn: Lsn) -> Result<(), Error> {
        self.checkpoint = self.checkpoint.max(lsn);
        let result = log.write_checkpoint(lsn);
        self.durable = self.durable.max(log.durable_lsn());
        result
    }

    /// Some appends, flushes and checkpoints, changes of the log's size and of its blocks, and at times a clean shutdown.
    fn live(&mut self, log: &Log, random: &mut Prng) -> Result<(), Error> {
        for _ in 0..(random.below(60) + 20) * self.patience {
            match random.below(14) {
                12 => log.resize((48 + random.below(200)) << 10),
                13 => {
                    if random.one_in(2) {
                        log.adjust_capacity()?;
                    } else {
                        log.set_write_ahead(512 << random.below(4));
                    }
                }
                0..2 => {
                    let back = random.below(4000);
                    let result = log.flush_blocking(Lsn(log.tail().0.saturating_sub(back)));
                    self.durable = self.durable.max(log.durable_lsn());
                    result?;
                }
                2 => {
                    let to = log.tail().0.saturating_sub(random.below(3000)).max(log.checkpoint_lsn().0);
                    self.checkpoint(log, Lsn(to))?;
                }
                _ => self.append(log, random)?,
            }
        }
        if random.one_in(4) {
            log.shutdown()?;
            self.durable = log.tail();
        }
        Ok(())
    }

    /// Compares with what a new life reads, and forgets what the crash has lost.
    fn check(&mut self, reader: &mut LogReader) -> Result<(), String> {
        let from = reader.checkpoint_lsn();
        if from > self.checkpoint.max(Lsn(1000)) {
            return Err(format!("reading starts at {from:?}, beyond the checkpoint {:?}", self.checkpoint));
        }
        let read = read_all(reader).map_err(|error| error.to_string())?;
        let skipped = self.appended.partition_point(|(range, _)| range.start < from);
        let expected = &self.appended[skipped..];
        if read.len() > expected.len() || read != expected[..read.len()] {
            return Err("something was read that was not appended there".to_owned());
        }
        let end = read.last().map_or(from, |(range, _)| range.end);
        if end < self.durable {
            return Err(format!("the log ends at {end:?}, but {:?} was reported durable", self.durable));
        }
        self.appended.truncate(skipped + read.len());
        self.durable = end;
        self.checked += 1;
        self.read += read.len();
        Ok(())
    }
}

fn config() -> LogConfig {
    LogConfig { capacity: 96 << 10, segment_size: 0, buffer_size: 16 << 10, ..quiet() }
}

/// What some lives of a log came to.
struct Lives {
    /// Changes of the longest.
    changes: u64,
    /// How many ended with an error.
    failed: usize,
    /// How often a life was compared with the model, and how many records that were.
    checked: usize,
    read: usize,
}

/// Several lives of one log, each ended by a power cut: after a certain call has failed where `fault` says so, or else in the
/// end.
fn lives(
    disk: &FaultFileSystem,
    fs: Arc<dyn FileSystem>,
    seed: u64,
    fault: impl Fn(u64) -> Option<(Call, u64, Fault)>,
) -> Result<Lives, String> {
    lives_of(1, disk, fs, seed, fault)
}

/// The same with lives that are `patience` times as long.
fn lives_of(
    patience: u64,
    disk: &FaultFileSystem,
    fs: Arc<dyn FileSystem>,
    seed: u64,
    fault: impl Fn(u64) -> Option<(Call, u64, Fault)>,
) -> Result<Lives, String> {
    let mut random = Prng::new(seed);
    let mut model = Model { patience, ..Model::default() };
    let (mut changes, mut failed) = (0, 0);
    for life in 0..4 {
        let before = disk.changes();
        if let Some((call, nth, fault)) = fault(life) {
            disk.fail(call, nth, fault);
        }
        // Whoever uses the log ends with the first error; what that leaves is checked in the next life.
        failed += usize::from(live_once(fs.clone(), &mut model, &mut random)?.is_err());
        changes = changes.max(disk.changes() - before);
        let keeps = [CrashKeeps::Random, CrashKeeps::Random, CrashKeeps::Synced, CrashKeeps::Everything];
        disk.crash(*random.pick(&keeps));
    }
    Ok(Lives { changes, failed, checked: model.checked, read: model.read })
}

fn live_once(
    fs: Arc<dyn FileSystem>,
    model: &mut Model,
    random: &mut Prng,
) -> Result<Result<(), Error>, String> {
    let log = if Log::exists(&*fs, dir()).unwrap() {
        let (log, mut reader) = match Log::open(fs.clone(), dir(), config()) {
            Ok(opened) => opened,
            Err(error @ Error::Io { .. }) => return Ok(Err(error)),
            Err(error) => return Err(error.to_string()),
        };
        model.check(&mut reader)?;
        if let Err(error) = log.start_after_recovery(reader) {
            return Ok(Err(error));
        }
        log
    } else {
        if model.durable > Lsn::ZERO {
            return Err("the log is gone".to_owned());
        }
        match Log::create(fs, dir(), config(), Lsn(1000)) {
            Ok(log) => log,
            Err(error) => return Ok(Err(error)),
        }
    };
    model.durable = model.durable.max(log.durable_lsn());
    Ok(model.live(&log, random))
}

#[test]
fn everything_durable_survives_a_power_cut_at_every_change() {
    let seed = test_seed(2024);
    let (mut checked, mut read) = (0, 0);
    for round in 0..8 {
        let seed = seed + round * 1_000_000;
        let (mut nth, mut longest) = (1, 1);
        while nth <= longest {
            let disk = Arc::new(FaultFileSystem::new(seed + nth));
            let cut = |life: u64| (life == round % 4).then_some((Call::Change, nth, Fault::Crash));
            match lives(&disk, disk.clone(), seed, cut) {
                Ok(lives) => {
                    longest = longest.max(lives.changes);
                    checked += lives.checked;
                    read += lives.read;
                }
                Err(violation) => panic!("seed {seed}, cut at change {nth}: {violation}"),
            }
            nth += 1;
        }
    }
    assert!(checked > 1000 && read > 20_000, "the test compares something: {checked} lives, {read} records");
}

/// EIO at each sync in turn, at each write and at each other change: when the log is made, while it runs and is resized, in
/// checkpoints and in recovery.
#[test]
fn everything_durable_survives_an_error_at_every_call_and_the_power_cut_after_it() {
    let seed = test_seed(77);
    for call in [Call::Sync, Call::Write, Call::SyncDir, Call::Name, Call::Resize] {
        let mut failed = 0;
        for round in 0..4 {
            let seed = seed + round * 1_000_000;
            for nth in 1.. {
                assert!(nth < 2000, "seed {seed}: a life without a fault fails");
                let disk = Arc::new(FaultFileSystem::new(seed + nth));
                let fault = |life: u64| (life == round % 4).then_some((call, nth, Fault::Io));
                match lives(&disk, disk.clone(), seed, fault) {
                    // The life has fewer calls of that kind.
                    Ok(Lives { failed: 0, .. }) => break,
                    Ok(_) => failed += 1,
                    Err(violation) => panic!("seed {seed}, EIO at {call:?} {nth}: {violation}"),
                }
            }
        }
        assert!(failed > 10, "{failed} of the calls {call:?} failed");
    }
}

#[test]
fn kills_and_power_cuts_between_changes_lose_nothing_durable() {
    let seed = test_seed(99);
    for round in 0..60 {
        let disk = Arc::new(FaultFileSystem::new(seed + round));
        if let Err(violation) = lives(&disk, disk.clone(), seed + round, |_| None) {
            panic!("seed {}: {violation}", seed + round);
        }
    }
}

/// A disk that says "synced" without doing it.
struct Lying;

impl Overlay for Lying {
    fn sync(&self, _: &Path, _: &dyn File) -> io::Result<()> {
        Ok(())
    }
}

/// The canary: on a disk that lies about syncs the checker must find a violation.
#[test]
fn canary_a_disk_that_does_not_sync_is_found_out() {
    let seed = test_seed(5);
    let found = (0..20).filter(|round| {
        let disk = Arc::new(FaultFileSystem::new(seed + round));
        let lying = Arc::new(OverlayFileSystem::new(disk.clone(), Lying));
        lives(&disk, lying, seed + round, |_| None).is_err()
    });
    assert!(found.count() > 10);
}

/// One round: lives of a log, one of which is cut short; whether something was lost or a whole log called
/// damaged. The rounds of long lives use the files again and again.
fn is_found(patience: u64, seed: u64, round: u64) -> bool {
    let seed = seed + round;
    let nth = 1 + round * 7 % (149 * patience);
    let cut = |life: u64| (life == round % 4).then_some((Call::Change, nth, Fault::Crash));
    let outcome = std::panic::catch_unwind(|| {
        let disk = Arc::new(FaultFileSystem::new(seed));
        lives_of(patience, &disk, disk.clone(), seed, cut)
    });
    !matches!(outcome, Ok(Ok(_)))
}

/// The canary of the tests before: they find each mistake.
#[test]
fn power_cuts_find_planted_mistakes() {
    let seed = test_seed(2025);
    // With the round at which the first seed finds each, where the search begins.
    let in_short_lives = [
        (Planted::FlushIsNotSynced, 0),
        (Planted::LastSegmentIsSynced, 0),
        (Planted::GroupVouchesForItself, 0),
        (Planted::CheckpointIsNotSynced, 0),
        (Planted::FoundIsNotSynced, 0),
        (Planted::CheckpointGoesTooFar, 0),
    ];
    let in_long_lives = [(Planted::FirstSegmentGoes, 0), (Planted::NamesAreNotSynced, 0)];
    for (patience, mistakes) in [(1, &in_short_lives[..]), (12, &in_long_lives[..])] {
        assert!((0..100).all(|round| !is_found(patience, seed, round)), "without a mistake nothing is lost");
        let is_found = |_, round| is_found(patience, seed, round);
        eprintln!("{:?}", rounds_that_find(planted::plant, mistakes, &[], is_found));
    }
}
