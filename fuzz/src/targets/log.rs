//! The files of a redo log: recovery's reader, and the inspection from outside.
//!
//! ```text
//! kind u8 | checkpoint slot 0 (80) | checkpoint slot 1 (80) | bytes of the segments, 16 KiB each
//! ```
//!
//! If bit 0 of `kind` is set, checkpoint records and groups get right checksums before the log is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::Lsn;
use palisade_base::checksum::crc32c;
use palisade_base::event::retry_blocking;
use palisade_io::{FileSystem, MemFileSystem, OpenMode};
use palisade_log::{Error, Log, LogConfig, LogReader, inspect};

use super::choice;
use crate::Target;

pub(crate) const TARGET: Target =
    Target { name: "log", seeds, words: &["PALISADE"], longest: 1 + 2 * RECORD + 3 * SEGMENT, run };

/// Bytes of a checkpoint record.
const RECORD: usize = 80;
/// Distance of the two slots in the file.
const SLOT: u64 = 16384;
/// Bytes of a segment.
const SEGMENT: usize = 16 << 10;
/// Bytes of a group's header.
const HEADER: usize = 48;
/// Groups begin at multiples of this.
const UNIT: usize = 512;

fn config() -> LogConfig {
    LogConfig {
        log_id: 77,
        capacity: 256 << 10,
        segment_size: SEGMENT as u64,
        buffer_size: 32 << 10,
        block_size: UNIT,
        background: false,
        on_failure: Arc::new(|_| {}),
        ..LogConfig::default()
    }
}

fn segment(number: u32) -> PathBuf {
    Path::new("redo").join(format!("log.{number:012}"))
}

fn read(fs: &dyn FileSystem, path: &Path) -> Vec<u8> {
    let file = fs.open(path, OpenMode::EXISTING).expect("the log has made it");
    let mut bytes = vec![0; file.len().expect("its length is known") as usize];
    file.read_at(&mut bytes, 0).expect("memory can be read");
    bytes
}

/// Logs with some commits, one of them after a checkpoint.
fn seeds() -> Vec<Vec<u8>> {
    [false, true].map(log_of).into()
}

fn log_of(with_checkpoint: bool) -> Vec<u8> {
    let fs = Arc::new(MemFileSystem::new());
    let log = Log::create(fs.clone(), Path::new("redo"), config(), Lsn(1000)).expect("memory can be written");
    for number in 0..6_u8 {
        let payload = vec![number; 20 + 90 * usize::from(number)];
        let mut credit = retry_blocking(|| log.admit(payload.len())).expect("there is room");
        let range = log.append(&mut credit, &payload, |_| {});
        log.flush_blocking(range.end).expect("memory can be synced");
        if with_checkpoint && number == 2 {
            log.write_checkpoint(range.end).expect("memory can be written");
        }
    }
    let checkpoint = read(&*fs, Path::new("redo/checkpoint"));
    let second = checkpoint.get(SLOT as usize..).unwrap_or_default();
    let mut seed = vec![1];
    for slot in [&checkpoint[..], second] {
        let mut record = slot.to_vec();
        record.resize(RECORD, 0);
        seed.extend_from_slice(&record);
    }
    seed.extend(read(&*fs, &segment(0)).iter().take(4096));
    seed
}

fn run(input: &[u8]) {
    let Some((kind, rest)) = choice(input) else { return };
    let (Some(slots), Some(segments)) = (rest.get(..2 * RECORD), rest.get(2 * RECORD..)) else { return };
    let (mut slots, mut segments) = (slots.to_vec(), segments.to_vec());
    if kind & 1 != 0 {
        for record in slots.chunks_exact_mut(RECORD) {
            seal(record);
        }
        seal_groups(&mut segments);
    }
    let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
    fs.create_dir_all(Path::new("redo")).expect("memory has room");
    let file = |path: &Path| fs.open(path, OpenMode::CREATE).expect("memory has room");
    let checkpoint = file(Path::new("redo/checkpoint"));
    for (number, record) in slots.chunks_exact(RECORD).enumerate() {
        checkpoint.write_at(record, number as u64 * SLOT).expect("memory has room");
    }
    checkpoint.set_len(2 * SLOT).expect("memory has room");
    for (number, bytes) in segments.chunks(SEGMENT).enumerate() {
        let file = file(&segment(number as u32));
        file.write_at(bytes, 0).expect("memory has room");
        file.set_len(SEGMENT as u64).expect("memory has room");
    }
    let _ = inspect(&*fs, Path::new("redo"));
    for accepts_damage in [false, true] {
        let Ok((_log, mut reader)) = Log::open(fs.clone(), Path::new("redo"), config()) else { return };
        if accepts_damage {
            reader.accept_damage();
        }
        let _ = read_all(&mut reader);
    }
}

/// Reads to the end. Records follow one another, so there are not more than fit.
fn read_all(reader: &mut LogReader) -> Result<(), Error> {
    let mut end = reader.checkpoint_lsn();
    let mut bytes = 0;
    while let Some(record) = reader.next()? {
        assert!(record.start >= end && record.end > record.start, "records follow one another");
        end = record.end;
        bytes += record.payload.len();
        assert!(bytes <= 4 * SEGMENT, "there is not more than the files have");
    }
    Ok(())
}

/// The first four bytes become the checksum of the others.
fn seal(bytes: &mut [u8]) {
    if let Some((checksum, rest)) = bytes.split_first_chunk_mut::<4>() {
        *checksum = crc32c(rest).to_le_bytes();
    }
}

/// Seals whatever may be a group by its length.
fn seal_groups(segments: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = segments.get_mut(at..)
        && rest.len() >= HEADER
    {
        let length =
            rest.get(4..8).and_then(|field| field.first_chunk()).map_or(0, |len| u32::from_le_bytes(*len));
        let group = HEADER + length as usize;
        match rest.get_mut(..group) {
            Some(bytes) if length > 0 => {
                seal(bytes);
                at += group.next_multiple_of(UNIT);
            }
            _ => at += UNIT,
        }
    }
}
