//! docs/format-undo.md says what the code does.

use crate::entry::*;
use crate::undo::held::*;
use crate::undo::page::*;
use crate::undo::record::{RECORD_HEADER, max_locks_record};

const SIZE: palisade_buffer::PageSize = palisade_buffer::PageSize::DEFAULT;

const DOC: &str = include_str!("../../../../docs/format-undo.md");

/// The first number of the line that names the constant.
fn documented(name: &str) -> Option<u64> {
    let line = DOC.lines().find(|line| line.contains(&format!("`{name}`")))?;
    line.split(|c: char| !c.is_ascii_digit()).find(|part| !part.is_empty())?.parse().ok()
}

#[test]
fn the_document_has_the_numbers_of_the_code() {
    let constants = [
        ("CLUSTERED_HEADER", CLUSTERED_HEADER as u64),
        ("SECONDARY_HEADER", SECONDARY_HEADER as u64),
        ("DELETED", DELETED.into()),
        ("EXTERNAL", EXTERNAL.into()),
        ("ID_LIMIT", ID_LIMIT as u64),
        ("SEGMENT_COUNT", SEGMENT_COUNT as u64),
        ("SEGMENTS", SEGMENTS as u64),
        ("SEGMENT_SIZE", SEGMENT_SIZE as u64),
        ("directory_pages", directory_pages(SIZE).into()),
        ("page_segments", page_segments(SIZE.bytes()).into()),
        ("max_segments", max_segments(SIZE).into()),
        ("DIRECTORY_TYPE", DIRECTORY_TYPE.into()),
        ("SEGMENT", SEGMENT as u64),
        ("STATE", STATE as u64),
        ("LAST", LAST as u64),
        ("WRITER", WRITER as u64),
        ("USED", USED as u64),
        ("NEXT", NEXT as u64),
        ("RECORDS", RECORDS as u64),
        ("RECORD_HEADER", RECORD_HEADER as u64),
        ("max_locks_record", max_locks_record(SIZE) as u64),
        ("EXCLUSIVE", EXCLUSIVE.into()),
        ("RANGE", RANGE.into()),
        ("FROM_AFTER", FROM_AFTER.into()),
        ("TO_AFTER", TO_AFTER.into()),
        ("TO_END", TO_END.into()),
    ];
    for (name, value) in constants {
        assert_eq!(documented(name), Some(value), "{name}");
    }
    assert_eq!(UNDO_TYPE, 17);
}
