//! The content of the buffer pool in the engine's words: what each page is, and of which index.

use std::collections::HashMap;
use std::sync::Arc;

use palisade_btree::layout::{node, page_type};
use palisade_buffer::{Page, PageRead as _, ResidentPage};
use palisade_txn::undo::page::{DIRECTORY_TYPE, UNDO_TYPE};

use crate::engine::Engine;
use crate::info::INFO_TYPE;

/// What the bytes of a page say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageContent {
    /// What it is for, under InnoDB's name.
    pub kind: &'static str,
    /// The LSN behind its newest change.
    pub newest_lsn: u64,
    /// The index that it is a node of.
    pub index_id: Option<u64>,
    /// Entries of the node.
    pub records: u64,
    /// Bytes of the node's entries.
    pub bytes: u64,
}

impl PageContent {
    fn of(page: &Page) -> PageContent {
        let page_type = page.page_type();
        let is_node = page_type == page_type::NODE;
        let of_node = |value: usize| if is_node { value as u64 } else { 0 };
        let heap_top = match usize::from(page.u16_at(node::HEAP_TOP)) {
            0 => 1 << 16,
            top => top,
        };
        let heap = page.size().saturating_sub(heap_top);
        let bytes = heap.saturating_sub(usize::from(page.u16_at(node::GARBAGE)));
        PageContent {
            kind: kind(page_type),
            newest_lsn: page.page_lsn().0,
            index_id: is_node.then(|| page.u64_at(node::INDEX_ID)),
            records: of_node(usize::from(page.u16_at(node::SLOT_COUNT))),
            bytes: of_node(bytes),
        }
    }
}

/// InnoDB's name for what a page of that type is for.
fn kind(page_type: u16) -> &'static str {
    match page_type {
        page_type::FREE => "ALLOCATED",
        page_type::SPACE_HEADER => "FILE_SPACE_HEADER",
        page_type::EXTENT_MAP => "EXTENT_DESCRIPTOR",
        page_type::NODE => "INDEX",
        page_type::OVERFLOW => "LOB_DATA",
        DIRECTORY_TYPE => "RSEG_ARRAY",
        UNDO_TYPE => "UNDO_LOG",
        INFO_TYPE => "SYSTEM",
        _ => "UNKNOWN",
    }
}

/// The names of a table and of one of its indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexName {
    /// The table's schema.
    pub schema: String,
    /// The table.
    pub table: String,
    /// The index.
    pub index: String,
}

impl Engine {
    /// Frames of the buffer pool.
    pub fn pool_frames(&self) -> u32 {
        self.pool.frames() as u32
    }

    /// The frame that the eviction comes to next.
    pub fn pool_sweep_position(&self) -> u32 {
        self.pool.sweep_position()
    }

    /// The page in a frame; its content is missing while it is being changed.
    pub fn page_in_frame(&self, frame: u32) -> Option<(ResidentPage, Option<PageContent>)> {
        self.pool.inspect(frame, PageContent::of)
    }

    /// The indexes of all tables, by the number that their pages have.
    pub fn index_names(&self) -> HashMap<u64, Arc<IndexName>> {
        let dictionary = self.dictionary();
        let mut names = HashMap::new();
        for table in dictionary.all_tables() {
            let def = table.descriptor().def();
            for index in &def.indexes {
                let name = Arc::new(IndexName {
                    schema: def.schema.clone(),
                    table: def.name.clone(),
                    index: index.name.clone(),
                });
                names.extend(index.trees.iter().map(|tree| (tree.id, name.clone())));
            }
        }
        names
    }
}
