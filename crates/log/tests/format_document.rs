//! docs/format-log.md says what the code does: the offsets and lengths in its diagrams are read back from a log that
//! was just written.
#![cfg(not(loom))]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use palisade_base::checksum::crc32c;
use palisade_io::{FileSystem, MemFileSystem, OpenMode};
use palisade_log::{Log, LogConfig, Lsn};

/// The rows `| at | bytes | name | ...` of the table under a heading.
fn table(document: &str, heading: &str) -> BTreeMap<String, (usize, usize)> {
    let section = document.split(&format!("## {heading}\n")).nth(1).expect("the heading is there");
    let section = section.split("\n## ").next().unwrap();
    let mut rows = BTreeMap::new();
    for line in section.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if let [_, at, bytes, name, ..] = cells[..]
            && let (Ok(at), Ok(bytes)) = (at.parse(), bytes.parse())
        {
            rows.insert(name.to_owned(), (at, bytes));
        }
    }
    rows
}

/// A field of a structure laid out as a table says.
struct Fields<'a> {
    layout: BTreeMap<String, (usize, usize)>,
    bytes: &'a [u8],
}

impl Fields<'_> {
    fn number(&self, name: &str) -> u64 {
        let (at, len) = self.layout[name];
        self.bytes[at..at + len].iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    fn check_no_gaps(&self, end: usize) {
        let mut ends: Vec<_> = self.layout.values().copied().collect();
        ends.sort_unstable();
        let covered = ends.iter().fold(0, |at, (start, len)| {
            assert_eq!(*start, at, "the table has a gap or an overlap");
            start + len
        });
        assert_eq!(covered, end);
    }
}

fn read(fs: &MemFileSystem, name: &str) -> Vec<u8> {
    let file = fs.open(&Path::new("redo").join(name), OpenMode::EXISTING).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn the_document_describes_the_bytes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/format-log.md");
    let document = std::fs::read_to_string(path).unwrap();

    let fs = Arc::new(MemFileSystem::new());
    let config = LogConfig {
        log_id: 0x0123_4567_89ab_cdef,
        capacity: 1 << 20,
        block_size: 512,
        background: false,
        ..LogConfig::default()
    };
    let start = Lsn(0x1_0000_0100);
    let log = Log::create(fs.clone(), Path::new("redo"), config.clone(), start).unwrap();
    let payload = b"thirteen byte";
    for _ in 0..2 {
        let mut credit = log.admit(payload.len()).unwrap();
        let range = log.append(&mut credit, payload, |_| {});
        log.flush_blocking(range.end).unwrap();
    }
    log.write_checkpoint(log.tail()).unwrap();

    let segment = read(&fs, "log.000000000000");
    let group = Fields { layout: table(&document, "Group"), bytes: &segment[512..1024] };
    let header = group.layout["start lsn"].0.max(group.layout["durable lsn"].0) + 8;
    group.check_no_gaps(header);
    let len = group.number("length") as usize;
    assert_eq!(len, 24);
    assert_eq!(group.number("crc"), u64::from(crc32c(&segment[512 + 4..512 + header + len])));
    assert_eq!(group.number("log id"), config.log_id);
    assert_eq!(group.number("epoch"), 1);
    assert_eq!((group.number("format"), group.number("units")), (2, 1));
    assert_eq!(group.number("start lsn"), start.0 + 24);
    assert_eq!(group.number("position"), 512);
    assert_eq!(group.number("durable lsn"), start.0 + 24);

    let frame = Fields { layout: table(&document, "Frame"), bytes: &segment[512 + header..] };
    frame.check_no_gaps(8);
    assert_eq!(frame.number("length"), 8 + payload.len() as u64);
    assert_eq!(frame.number("lsn low"), (start.0 + 24) & 0xffff_ffff);
    assert_eq!(&frame.bytes[8..8 + payload.len()], payload);
    assert_eq!(&frame.bytes[8 + payload.len()..24], [0; 3]);

    let file = read(&fs, "checkpoint");
    let slot = document.split("slot 1 at ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    assert_eq!(file.len(), 2 * slot.parse::<usize>().unwrap(), "two slots of equal size");
    // Sequence number 2, the second record, lies in slot 0.
    let record = Fields { layout: table(&document, "Checkpoint record"), bytes: &file };
    let end = record.layout["segment start"].0 + 8;
    record.check_no_gaps(end);
    assert_eq!(record.number("crc"), u64::from(crc32c(&file[4..end])));
    assert_eq!(record.number("format"), 2);
    assert_eq!(&file[record.layout["magic"].0..][..8], b"PALISADE");
    assert_eq!(record.number("log id"), config.log_id);
    assert_eq!(record.number("sequence"), 2);
    assert_eq!(record.number("epoch"), 1);
    assert_eq!(record.number("zero"), 0);
    assert_eq!(record.number("lsn"), start.0 + 48);
    assert_eq!(record.number("position"), 1024);
    assert_eq!(record.number("durable lsn"), start.0 + 48);
    assert_eq!((record.number("segment"), record.number("segment start")), (0, 0));
}
