//! The checker: everything that should hold of a tree and of a space, looked at page by page.
//!
//! Of a tree: each node is sound (header, entries, free bytes, prefix, order), its keys lie between the separators around
//! it, its level is one below its parent's, no page is reached twice, and the sibling links run through each level from
//! left to right. Of a space: what its trees, chains and other owners say they use is what the extent maps say is in use,
//! and the header's counts are the maps'.
//!
//! The checker latches one page at a time and works on copies, so on a tree that others change it may report what is
//! merely in motion: lock the table first. It reports all damage it finds and does not stop at the first.

use std::collections::{BTreeMap, BTreeSet};

use palisade_base::event::retry_blocking;
use palisade_base::{PageId, PageNo};
use palisade_buffer::{Page, PageRead, Space};

use crate::alloc::{HeaderView, MapView, check_header, locate, map_page};
use crate::error::Error;
use crate::layout::space::{GROUP_PAGES, MAX_PAGES};
use crate::layout::{overflow, page_type};
use crate::node::{Key, NodeView};
use crate::tree::Tree;
use crate::tree::descent::MAX_LEVEL;

/// Something that should not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Where.
    pub page: PageId,
    /// What.
    pub what: &'static str,
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
    pub pages: BTreeSet<PageNo>,
    /// Levels.
    pub levels: u16,
    /// Leaves.
    pub leaf_pages: u64,
    /// Entries on the leaves.
    pub entries: u64,
    /// Bytes used on the leaves.
    pub leaf_bytes: u64,
    /// What was found wrong.
    pub damage: Vec<Damage>,
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

/// Checks a tree. Blocks. An error means that a page could not be read.
pub fn verify_tree(tree: &Tree) -> Result<TreeReport, Error> {
    let mut walk = Walk { tree, report: TreeReport::default(), levels: BTreeMap::new() };
    let root = copy_page(tree.space(), tree.root())?;
    let level = NodeView::new(&*root).level();
    if level > MAX_LEVEL {
        walk.damage(tree.root(), "impossible level");
        return Ok(walk.report);
    }
    walk.report.levels = level + 1;
    walk.node(tree.root(), level, None, None)?;
    let levels = std::mem::take(&mut walk.levels);
    for nodes in levels.values() {
        let nexts = nodes.iter().skip(1).map(|node| node.0).chain([PageNo::NONE]);
        for ((page, linked), next) in nodes.iter().zip(nexts) {
            if *linked != next {
                walk.damage(*page, "the sibling link leads elsewhere");
            }
        }
    }
    Ok(walk.report)
}

fn copy_page(space: &Space, page: PageNo) -> Result<Box<Page>, Error> {
    let latched = retry_blocking(|| space.shared(page))?;
    let mut copy = Page::zeroed();
    copy.copy_from_slice(&latched);
    Ok(copy)
}

struct Walk<'t> {
    tree: &'t Tree,
    report: TreeReport,
    /// Per level, from left to right: each node and its sibling link.
    levels: BTreeMap<u16, Vec<(PageNo, PageNo)>>,
}

impl Walk<'_> {
    fn damage(&mut self, page: PageNo, what: &'static str) {
        let page = PageId { space: self.tree.space().id(), page };
        self.report.damage.push(Damage { page, what });
    }

    /// Checks the node on `page` and what is below it; its keys must lie in `low..high`.
    fn node(&mut self, page: PageNo, level: u16, low: Option<&Key>, high: Option<&Key>) -> Result<(), Error> {
        if !self.report.pages.insert(page) {
            self.damage(page, "reached twice");
            return Ok(());
        }
        let copy = match copy_page(self.tree.space(), page) {
            Ok(copy) => copy,
            Err(Error::Buffer(palisade_buffer::Error::Corrupted { .. })) => {
                self.damage(page, "unreadable");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let node = NodeView::new(&*copy);
        if !node.is(self.tree.index_id(), level) {
            self.damage(page, "not the node that its parent promised");
            return Ok(());
        }
        if let Err(what) = node.check() {
            self.damage(page, what);
            return Ok(());
        }
        if let Err(what) = node.check_order() {
            self.damage(page, what);
        }
        self.levels.entry(level).or_default().push((page, node.next()));
        let count = node.slot_count();
        let keys: Vec<Key> = (0..count)
            .map(|slot| {
                let mut key = Key::new();
                node.read_key(slot, &mut key);
                key
            })
            .collect();
        if keys.first().zip(low).is_some_and(|(first, low)| first < low)
            || keys.last().zip(high).is_some_and(|(last, high)| last >= high)
        {
            self.damage(page, "keys outside the separators");
        }
        if level == 0 {
            self.report.leaf_pages += 1;
            self.report.entries += count as u64;
            self.report.leaf_bytes += node.used() as u64;
            return Ok(());
        }
        for position in 0..=count {
            let child = node.child(position);
            let child_low = position.checked_sub(1).map(|slot| &keys[slot]).or(low);
            let child_high = keys.get(position).or(high);
            if child == PageNo::NONE || child.0 >= self.tree.space().pages() {
                self.damage(page, "an inner node without a child");
                continue;
            }
            self.node(child, level - 1, child_low, child_high)?;
        }
        Ok(())
    }
}

/// The pages of an overflow chain, from `first` on. Blocks.
pub fn chain_pages(space: &Space, first: PageNo) -> Result<(Vec<PageNo>, Vec<Damage>), Error> {
    let (mut pages, mut damage) = (Vec::new(), Vec::new());
    let mut next = first;
    while next != PageNo::NONE {
        let page = copy_page(space, next)?;
        let id = PageId { space: space.id(), page: next };
        if page.page_type() != page_type::OVERFLOW || pages.contains(&next) {
            damage.push(Damage { page: id, what: "not a link of an overflow chain" });
            break;
        }
        pages.push(next);
        next = PageNo(page.u32_at(overflow::NEXT));
    }
    Ok((pages, damage))
}

/// Checks that exactly the pages in `used` (the space's header and maps need not be named) are in use, and that the
/// header's counts are right. Blocks.
pub fn verify_space(space: &Space, used: &BTreeSet<PageNo>) -> Result<Vec<Damage>, Error> {
    let mut damage = Vec::new();
    let mut report =
        |page: PageNo, what| damage.push(Damage { page: PageId { space: space.id(), page }, what });
    let header = copy_page(space, PageNo(0))?;
    if let Err(what) = check_header(&header) {
        report(PageNo(0), what);
        return Ok(damage);
    }
    let view = HeaderView(&header);
    let high_water = view.high_water();
    if high_water > space.pages() || high_water > MAX_PAGES {
        report(PageNo(0), "the file is shorter than the high-water mark");
        return Ok(damage);
    }
    for group in 0..view.groups() {
        let map = copy_page(space, map_page(group))?;
        let expected = if group == 0 { page_type::SPACE_HEADER } else { page_type::EXTENT_MAP };
        if map.page_type() != expected {
            report(map_page(group), "not an extent map");
            continue;
        }
        let map = MapView(&map);
        let end = (high_water - group * GROUP_PAGES).min(GROUP_PAGES);
        if map.count_free(end) != view.group(group) {
            report(PageNo(0), "the counts of a group are not its map's");
        }
        for in_group in 0..end {
            let page = PageNo(group * GROUP_PAGES + in_group);
            match (map.in_use(in_group), in_group == 0 || used.contains(&page)) {
                (true, false) => report(page, "in use according to the map, but by nobody"),
                (false, true) => report(page, "used, but free according to the map"),
                _ => {}
            }
        }
        if (end..GROUP_PAGES).any(|in_group| map.in_use(in_group)) {
            report(map_page(group), "pages in use beyond the high-water mark");
        }
    }
    for page in used.iter().filter(|page| page.0 >= high_water) {
        report(*page, "used beyond the high-water mark");
    }
    let (first_free, _) = locate(PageNo(0));
    let hint = header.u32_at(crate::layout::space::FIRST_FREE_GROUP);
    if (first_free..hint.min(view.groups())).any(|group| view.group(group).0 > 0) {
        report(PageNo(0), "free pages in a group before the first free one");
    }
    Ok(damage)
}
