//! docs/format-pages.md says what the code does.

use crate::layout::*;
use crate::op::OPERATIONS;

const DOC: &str = include_str!("../../../../docs/format-pages.md");

macro_rules! constants {
    ($($($path:ident)::+),* $(,)?) => { &[$((stringify!($($path)::+), $($path)::+ as u64)),*] };
}

const CONSTANTS: &[(&str, u64)] = constants![
    BODY,
    page_type::FREE,
    page_type::SPACE_HEADER,
    page_type::EXTENT_MAP,
    page_type::NODE,
    page_type::OVERFLOW,
    page_type::GIVEN_UP,
    page_type::FIRST_FOREIGN,
    node::INDEX_ID,
    node::LEVEL,
    node::SLOT_COUNT,
    node::HEAP_TOP,
    node::GARBAGE,
    node::NEXT,
    node::LEFTMOST_CHILD,
    node::PREFIX_LEN,
    node::LAST_INSERT,
    node::ASCENDING_RUN,
    node::SLOTS,
    node::SLOT_SIZE,
    node::HEAD_SIZE,
    node::ENTRY_HEADER,
    node::CHILD_SIZE,
    space::MAGIC,
    space::VERSION,
    space::HIGH_WATER,
    space::FIRST_FREE_GROUP,
    space::GROUPS,
    space::GROUP_SIZE,
    space::EXTENT_PAGES,
    overflow::NEXT,
    overflow::LENGTH,
    overflow::DATA,
];

/// Those that a page of the default size has.
const SIZED: &[(&str, u64)] = {
    const PAGE: usize = palisade_buffer::PageSize::DEFAULT.bytes();
    &[
        ("max_key", max_key(PAGE) as u64),
        ("max_entry", max_entry(PAGE) as u64),
        ("space::extent_map", space::extent_map(PAGE) as u64),
        ("space::group_extents", space::group_extents(PAGE) as u64),
        ("space::group_pages", space::group_pages(PAGE) as u64),
        ("space::map_bytes", space::map_bytes(PAGE) as u64),
        ("space::max_groups", space::max_groups(PAGE) as u64),
        ("overflow::capacity", overflow::capacity(PAGE) as u64),
    ]
};

/// The number that the document gives with a constant: the first of its table row, or else the last before
/// its name.
fn documented(name: &str) -> Option<u64> {
    let (before, _) = DOC.split_once(&format!("`{name}`"))?;
    let paragraph = &before[before.rfind("\n\n").unwrap_or(0)..];
    let line = paragraph.lines().next_back()?;
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    let is_field = line.starts_with('|') && line.ends_with("| ");
    if is_field { numbers(line).first().copied() } else { numbers(paragraph).last().copied() }
}

#[test]
fn the_document_gives_every_constant_its_value() {
    for (name, value) in CONSTANTS.iter().chain(SIZED) {
        let name = name.replace(' ', "");
        assert_eq!(documented(&name), Some(*value), "docs/format-pages.md on {name}");
    }
}

#[test]
fn the_document_lists_every_redo_record() {
    let listed: Vec<&str> = DOC.lines().skip_while(|line| !line.starts_with("| code |")).skip(2).collect();
    let declared: Vec<String> =
        OPERATIONS.iter().map(|(code, verb, fields)| format!("| {code} | {verb} | {fields} |")).collect();
    assert_eq!(listed, declared);
}
