//! The checker: everything that should hold of a tree and of a space, looked at page by page.
//!
//! Of a tree: each node is sound (header, entries, free bytes, prefix, order), its keys lie between the separators around
//! it, its level is one below its parent's, no page is reached twice, and the sibling links run through each level from
//! left to right. Of a space: what its trees, chains and other owners say they use is what the extent maps say is in use,
//! and the header's counts are the maps'.
//!
//! The checker latches one page at a time and works on copies, so on a tree that others change it may report
//! what is merely in motion: lock the table first. It reports all damage it finds and does not stop at the
//! first. What it remembers is a bit for each page and a line for each level, so a space of any size can be
//! checked; children are read ahead in the order of their keys.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use palisade_base::event::retry_blocking;
use palisade_base::{PageId, PageNo};
use palisade_buffer::{Page, PageRead, Space};

use crate::alloc::{HeaderView, MapView, check_header, map_page};
use crate::error::Error;
use crate::layout::space::max_pages;
use crate::layout::{overflow, page_type};
use crate::node::{Key, NodeView};
use crate::page_set::PageSet;
use crate::tree::Tree;
use crate::tree::descent::MAX_LEVEL;
use crate::tree::scan::MOST_AHEAD;

/// Damage that is kept of one tree or space; the rest is counted.
pub const MOST_DAMAGE: usize = 1000;

/// Leaked pages that are named; the others are counted.
const LEAKS_NAMED: u64 = 100;

/// What is said of a page that is in use according to the map and that nothing uses.
pub const LEAKED: &str = "in use according to the map, but nothing uses it";

/// Something that should not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where.
    pub page: PageId,
    /// What.
    pub what: &'static str,
    /// The level that the page has, or should have, in its tree; `None` if it is no page of a tree.
    pub level: Option<u16>,
    /// Whether the page cannot be used for anything: what is on it, and below it in the tree, is lost.
    pub is_lost: bool,
}

impl std::fmt::Display for Damage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "page {}: {}", self.page, self.what)
    }
}

/// What a tree consists of, and what is wrong with it.
#[derive(Debug, Default)]
pub struct TreeReport {
    /// Its pages.
    pub pages: PageSet,
    /// Levels.
    pub levels: u16,
    /// Leaves.
    pub leaf_pages: u64,
    /// Entries on the leaves.
    pub entries: u64,
    /// Bytes used on the leaves.
    pub leaf_bytes: u64,
    /// What was found wrong, the first [`MOST_DAMAGE`].
    pub damage: Vec<Damage>,
    /// How much more is wrong.
    pub more_damage: u64,
}

/// Whether the content of a page of one of this crate's types can be; the header's checksum is right. For
/// [`BufferConfig::check`](palisade_buffer::BufferConfig). `None` for types of the crates above.
pub fn check_page(page: &Page) -> Option<Result<(), &'static str>> {
    Some(match page.page_type() {
        page_type::NODE => NodeView::new(page).check_read(),
        page_type::SPACE_HEADER => check_header(page),
        page_type::OVERFLOW => crate::overflow::check(page),
        page_type::FREE | page_type::EXTENT_MAP => Ok(()),
        page_type::GIVEN_UP => Err("given up in an earlier start with innodb_force_recovery"),
        page_type::FIRST_FOREIGN.. => return None,
        _ => Err("unknown type of page"),
    })
}

/// What is told of a walk while it goes on: pages seen since the last call. Whether to go on.
pub type OnPages<'a> = dyn FnMut(u64) -> bool + 'a;

/// Checks a tree. Blocks. An error means that a page could not be read.
pub fn verify_tree(tree: &Tree) -> Result<TreeReport, Error> {
    verify_tree_with(tree, &mut |_| true)
}

/// The same, telling `on_pages` how far it is. If that says no, the walk ends, and its report is of what it
/// has seen.
pub fn verify_tree_with(tree: &Tree, on_pages: &mut OnPages<'_>) -> Result<TreeReport, Error> {
    let mut walk =
        Walk { tree, report: TreeReport::default(), last: Vec::new(), on_pages, is_stopped: false };
    let root = match copy_page(tree.space(), tree.root()) {
        Err(error) if error.is_damage() => {
            walk.lost(tree.root(), MAX_LEVEL, "unreadable");
            return Ok(walk.report);
        }
        root => root?,
    };
    let level = NodeView::new(&*root).level();
    if level > MAX_LEVEL {
        walk.lost(tree.root(), level, "impossible level");
        return Ok(walk.report);
    }
    walk.report.levels = level + 1;
    walk.last = vec![None; usize::from(level) + 1];
    walk.node(tree.root(), level, None, None)?;
    for (level, last) in (0..).zip(std::mem::take(&mut walk.last)) {
        if let Some(Last { page, .. }) = last.filter(|last| !walk.is_stopped && last.next != PageNo::NONE) {
            walk.damage(page, level, "the sibling link leads elsewhere");
        }
    }
    Ok(walk.report)
}

fn copy_page(space: &Space, page: PageNo) -> Result<Box<Page>, Error> {
    let latched = retry_blocking(|| space.shared(page))?;
    let mut copy = Page::zeroed(space.page_size());
    copy.copy_from_slice(&latched);
    Ok(copy)
}

/// The node that a walk has seen last on a level.
#[derive(Clone, Copy)]
struct Last {
    page: PageNo,
    /// Its sibling link.
    next: PageNo,
}

struct Walk<'t> {
    tree: &'t Tree,
    report: TreeReport,
    /// Per level; `None` before the first node, and behind one that cannot be read.
    last: Vec<Option<Last>>,
    on_pages: &'t mut OnPages<'t>,
    is_stopped: bool,
}

impl Walk<'_> {
    fn damage(&mut self, page: PageNo, level: u16, what: &'static str) {
        self.note(page, level, what, false);
    }

    /// What is on the page, and below it, is lost.
    fn lost(&mut self, page: PageNo, level: u16, what: &'static str) {
        self.note(page, level, what, true);
        let below = self.last.iter_mut().take(usize::from(level) + 1);
        below.for_each(|last| *last = None);
    }

    fn note(&mut self, page: PageNo, level: u16, what: &'static str, is_lost: bool) {
        if self.report.damage.len() >= MOST_DAMAGE {
            self.report.more_damage += 1;
            return;
        }
        let page = PageId { space: self.tree.space().id(), page };
        self.report.damage.push(Damage { page, what, level: Some(level), is_lost });
    }

    /// Checks the node on `page` and what is below it; its keys must lie in `low..high`.
    fn node(&mut self, page: PageNo, level: u16, low: Option<&Key>, high: Option<&Key>) -> Result<(), Error> {
        if !self.report.pages.insert(page) {
            self.lost(page, level, "reached twice");
            return Ok(());
        }
        if !(self.on_pages)(1) {
            self.is_stopped = true;
            return Ok(());
        }
        if let Some(Some(before)) = self.last.get(usize::from(level)).copied()
            && before.next != page
        {
            self.damage(before.page, level, "the sibling link leads elsewhere");
        }
        let copy = match copy_page(self.tree.space(), page) {
            Ok(copy) => copy,
            Err(error) if error.is_damage() => {
                self.lost(page, level, "unreadable");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let node = NodeView::new(&*copy);
        if !node.is(self.tree.index_id(), level) {
            self.lost(page, level, "not the node that its parent promised");
            return Ok(());
        }
        if let Err(what) = node.check() {
            self.lost(page, level, what);
            return Ok(());
        }
        if let Err(what) = node.check_order() {
            self.damage(page, level, what);
        }
        if let Some(last) = self.last.get_mut(usize::from(level)) {
            *last = Some(Last { page, next: node.next() });
        }
        let count = node.slot_count();
        self.check_fences(page, &node, low, high);
        if level == 0 {
            self.report.leaf_pages += 1;
            self.report.entries += count as u64;
            self.report.leaf_bytes += node.used() as u64;
            return Ok(());
        }
        self.children(page, &node, low, high)
    }

    fn check_fences(
        &mut self,
        page: PageNo,
        node: &NodeView<'_, Page>,
        low: Option<&Key>,
        high: Option<&Key>,
    ) {
        let count = node.slot_count();
        let (mut first, mut last) = (Key::new(), Key::new());
        if count == 0 || !node.read_key(0, &mut first) || !node.read_key(count - 1, &mut last) {
            return;
        }
        if low.is_some_and(|low| first < *low) || high.is_some_and(|high| last >= *high) {
            self.damage(page, node.level(), "keys outside the separators");
        }
    }

    /// Checks what is below an inner node.
    fn children(
        &mut self,
        page: PageNo,
        node: &NodeView<'_, Page>,
        low: Option<&Key>,
        high: Option<&Key>,
    ) -> Result<(), Error> {
        let (level, count) = (node.level(), node.slot_count());
        let (mut before, mut after) = (Key::new(), Key::new());
        let mut asked = 0;
        for position in 0..=count {
            if self.is_stopped {
                return Ok(());
            }
            // Half of what may be read ahead is always under way.
            if asked < position + MOST_AHEAD / 2 && asked <= count {
                let until = (position + MOST_AHEAD).min(count + 1);
                self.tree.space().read_ahead((asked..until).map(|position| node.child(position)));
                asked = until;
            }
            std::mem::swap(&mut before, &mut after);
            if position < count && !node.read_key(position, &mut after) {
                return Ok(());
            }
            let child = node.child(position);
            if child == PageNo::NONE || child.0 >= self.tree.space().pages() {
                self.damage(page, level, "an inner node without a child");
                self.last.iter_mut().take(usize::from(level)).for_each(|last| *last = None);
                continue;
            }
            let child_low = if position == 0 { low } else { Some(&before) };
            let child_high = if position == count { high } else { Some(&after) };
            self.node(child, level - 1, child_low, child_high)?;
        }
        Ok(())
    }
}

/// The links of an overflow chain, as far as they can be followed.
#[derive(Debug, Default)]
pub struct ChainReport {
    /// Its pages, from the first on.
    pub pages: Vec<PageNo>,
    /// Bytes of the value that are on them.
    pub bytes: u64,
    /// What is wrong.
    pub damage: Option<Damage>,
}

/// The pages of an overflow chain, from `first` on. A chain that holds `expected` bytes, if that is known,
/// must have them. Blocks.
pub fn verify_chain(space: &Space, first: PageNo, expected: Option<u64>) -> Result<ChainReport, Error> {
    let (mut report, mut seen) = (ChainReport::default(), PageSet::new());
    let mut next = first;
    while next != PageNo::NONE && expected.is_none_or(|expected| report.bytes < expected) {
        let damage = |what, is_lost| {
            let page = PageId { space: space.id(), page: next };
            Some(Damage { page, what, level: None, is_lost })
        };
        let page = match copy_page(space, next) {
            Err(error) if error.is_damage() => {
                report.damage = damage("a link of an overflow chain is unreadable", true);
                return Ok(report);
            }
            page => page?,
        };
        if let Err(what) = crate::overflow::check(&page) {
            report.damage = damage(what, true);
            return Ok(report);
        }
        if !seen.insert(next) {
            report.damage = damage("an overflow chain bites its tail", true);
            return Ok(report);
        }
        report.pages.push(next);
        report.bytes += u64::from(page.u16_at(overflow::LENGTH));
        next = PageNo(page.u32_at(overflow::NEXT));
    }
    let end = report.pages.last().copied().unwrap_or(first);
    let wrong = match expected {
        Some(expected) if report.bytes < expected => Some("a chain ends early"),
        Some(expected) if report.bytes > expected => Some("a chain holds more than it should"),
        Some(_) if next != PageNo::NONE => Some("a chain goes on behind its value"),
        _ => None,
    };
    let page = PageId { space: space.id(), page: end };
    report.damage = wrong.map(|what| Damage { page, what, level: None, is_lost: true });
    Ok(report)
}

/// What is wrong with a space's account of its pages.
#[derive(Debug, Default)]
pub struct SpaceReport {
    /// Pages below the high-water mark.
    pub high_water: u32,
    /// Of these, pages that are free.
    pub free: u64,
    /// What was found wrong, the first [`MOST_DAMAGE`].
    pub damage: Vec<Damage>,
    /// How much more is wrong.
    pub more_damage: u64,
    /// Pages that are in use according to the maps, and that nothing uses.
    pub leaked: u64,
}

impl SpaceReport {
    fn note(&mut self, space: &Space, page: PageNo, what: &'static str) {
        if self.damage.len() >= MOST_DAMAGE {
            self.more_damage += 1;
            return;
        }
        let page = PageId { space: space.id(), page };
        self.damage.push(Damage { page, what, level: None, is_lost: false });
    }
}

/// Checks that exactly the pages in `used` (the space's header and maps need not be named) are in use, and that the
/// header's counts are right. Blocks.
pub fn verify_space(space: &Space, used: &PageSet) -> Result<Vec<Damage>, Error> {
    Ok(verify_space_with(space, used, &PageSet::new())?.damage)
}

/// The same; the pages in `possible` may be in use or not.
pub fn verify_space_with(space: &Space, used: &PageSet, possible: &PageSet) -> Result<SpaceReport, Error> {
    let mut report = SpaceReport::default();
    let header = copy_page(space, PageNo(0))?;
    if let Err(what) = check_header(&header) {
        report.note(space, PageNo(0), what);
        return Ok(report);
    }
    let view = HeaderView(&header);
    let high_water = view.high_water();
    report.high_water = high_water;
    if high_water > space.pages() || high_water > max_pages(space.page_size().bytes()) {
        report.note(space, PageNo(0), "the file is shorter than the high-water mark");
        return Ok(report);
    }
    for group in 0..view.groups() {
        let map = match copy_page(space, map_page(space, group)) {
            Err(error) if error.is_damage() => {
                report.note(space, map_page(space, group), "an extent map is unreadable");
                continue;
            }
            map => map?,
        };
        let expected = if group == 0 { page_type::SPACE_HEADER } else { page_type::EXTENT_MAP };
        if map.page_type() != expected {
            report.note(space, map_page(space, group), "not an extent map");
            continue;
        }
        verify_group(space, &view, group, &MapView(&map), (used, possible), &mut report);
    }
    for page in used.iter().filter(|page| page.0 >= high_water) {
        report.note(space, page, "used beyond the high-water mark");
    }
    let hint = header.u32_at(crate::layout::space::FIRST_FREE_GROUP);
    if (0..hint.min(view.groups())).any(|group| view.group(group).0 > 0) {
        report.note(space, PageNo(0), "free pages in a group before the first free one");
    }
    Ok(report)
}

/// Compares a group's extent map with what is in use.
fn verify_group(
    space: &Space,
    header: &HeaderView<'_>,
    group: u32,
    map: &MapView<'_>,
    (used, possible): (&PageSet, &PageSet),
    report: &mut SpaceReport,
) {
    let group_pages = header.group_pages();
    let end = (header.high_water() - group * group_pages).min(group_pages);
    if map.count_free(end) != header.group(group) {
        report.note(space, PageNo(0), "the counts of a group are not its map's");
    }
    for in_group in 0..end {
        let page = PageNo(group * group_pages + in_group);
        match (map.in_use(in_group), in_group == 0 || used.contains(page)) {
            (true, false) if !possible.contains(page) => {
                report.leaked += 1;
                if report.leaked <= LEAKS_NAMED {
                    report.note(space, page, LEAKED);
                }
            }
            (false, true) => report.note(space, page, "used, but free according to the map"),
            (false, false) => report.free += 1,
            _ => {}
        }
    }
    if (end..group_pages).any(|in_group| map.in_use(in_group)) {
        report.note(space, map_page(space, group), "pages in use beyond the high-water mark");
    }
}
