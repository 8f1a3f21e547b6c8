//! Which pages of a space are in use.
//!
//! Pages are counted in *extents* of 64, so that a growing index stays contiguous, and extents in *groups* of
//! 1023 (fewer, if a page has less than 16 KiB). Each group begins with its extent map, a bit per page; page
//! 0, the first of group 0, is the space header as well and knows of every group how much it has free. Pages
//! from the *high-water mark* on have never been used. So an allocation touches the header and one map,
//! whatever the size of the space, and there are no lists to be broken.
//!
//! Allocating is part of the mini-transaction that uses the page, and follows its rule: [`reserve`] acquires -
//! latches header and map, extends the file, gets the pages their frames - and changes nothing, so that a full disk is an
//! error at a time when an error is possible; [`Reservation::allocate`] and [`free`] then cannot fail.
//!
//! The maps are not believed blindly. A page that they call free and that holds something is another owner's:
//! it is looked at before it is given out, which costs a read if it has been in use before and is not in
//! memory. And a mark far behind the end of the file does not make the file grow.
//!
//! Where a page comes from, given a page that it should be near to: the rest of that page's extent; a wholly
//! free extent; if scattered free pages make up 1/32 of the space (and two extents), one of those; a new
//! extent at the high-water mark; when the disk is full, any free page.
//!
//! A space may have to keep free pages for later ([`Kept`]). Those count whose room on the disk is certain:
//! the free pages of extents that are in part in use, and the pages of the file from the high-water mark on.
//! A wholly free extent may be a hole, and does not count until a page of it is in use.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;

use palisade_base::{Blocked, PageNo, SpaceId};
use palisade_buffer::{Page, PageRead, SharedPage, Space};
use palisade_log::Log;
use smallvec::SmallVec;

use crate::error::{Attempt, Error};
use crate::layout::page_type;
use crate::layout::space::*;
use crate::metrics;
use crate::mtr::{Handle, MAX_ALLOCATION_BYTES, Mtr};
use crate::op::PageOp;

/// What every space header begins with.
pub const SPACE_MAGIC: u64 = u64::from_le_bytes(*b"PALISADE");
/// The version of the page formats.
pub const SPACE_VERSION: u32 = 1;

/// The first growth is to so many pages: the header and what a table with one index needs, 64 KiB.
const FIRST_PAGES: u32 = 4;

/// A power cut takes pages from the end of a file that were allocated and never written, at most so many: the
/// log speaks of all others.
const MOST_LOST_PAGES: u32 = 2 * EXTENT_PAGES;

/// Scattered free pages are used up from so large a part of the space on: they take room, but keep an index
/// together ...
const SCATTERED_SHARE: u32 = 32;
/// ... and from so many on in a small space: of a few indexes each may have an extent begun.
const SCATTERED_LEAST: u32 = 2 * EXTENT_PAGES;

const IN_USE: &str = "a page in use is free according to its map";
const NO_MAP: &str = "not an extent map";

/// The header's page.
pub const HEADER: PageNo = PageNo(0);

/// Makes an attached, empty file a space: its header, in a mini-transaction of its own. Waits for: the file to be
/// extended, log credit.
pub fn format_space(log: &Arc<Log>, space: &Space) -> Attempt<()> {
    space.ensure_allocated(1).map_err(Blocked::up)?;
    let mut mtr = Mtr::begin_in(space, log, 2 * MAX_ALLOCATION_BYTES)?;
    let header = mtr.hold(space.create(HEADER).map_err(Blocked::up)?);
    mtr.apply(header, PageOp::Format { page_type: page_type::SPACE_HEADER });
    mtr.write(header, MAGIC, &SPACE_MAGIC.to_le_bytes());
    mtr.write(header, VERSION, &SPACE_VERSION.to_le_bytes());
    mtr.apply(header, PageOp::Allocate { page_in_group: 0 });
    mtr.apply(header, PageOp::SetHighWater { pages: 1 });
    mtr.commit(|_| {});
    Ok(())
}

/// Checks that an attached file is a space, and gives it the length back that its header speaks of: that may
/// be lost in a crash. If more is missing than that explains, what is there can be read. Waits for: its
/// header to be read, the file to be extended.
pub fn open_space(space: &Space) -> Attempt<()> {
    let high_water = usage(space)?.high_water;
    match check_high_water(high_water, space) {
        Ok(()) => space.ensure_allocated(high_water).map_err(Blocked::up),
        Err(_) => Ok(()),
    }
}

/// Pages of the space below its high-water mark, and how many of them are free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceUsage {
    /// The first page never used.
    pub high_water: u32,
    /// Free pages below.
    pub free: u32,
    /// Those of them that are in extents of which other pages are in use.
    pub scattered: u32,
    /// Pages of a group, of which one says which others are in use.
    pub group_pages: u32,
}

impl SpaceUsage {
    /// Pages in use, but for those that say which are; 0 if the header counts more free pages than there are, which
    /// [`verify_space`](crate::verify::verify_space) reports.
    pub fn in_use(&self) -> u32 {
        let maps = self.high_water.div_ceil(self.group_pages);
        self.high_water.saturating_sub(self.free).saturating_sub(maps)
    }
}

/// How much of a space is in use. Waits for: its header to be read.
pub fn usage(space: &Space) -> Attempt<SpaceUsage> {
    let header = space.shared(HEADER).map_err(Blocked::up)?;
    check_header(&header).map_err(|what| Error::Corrupted { page: header.id(), what })?;
    let view = HeaderView(&header);
    Ok(SpaceUsage {
        high_water: view.high_water(),
        free: (0..view.groups()).map(|group| u32::from(view.group(group).0)).sum(),
        scattered: view.scattered(),
        group_pages: view.group_pages(),
    })
}

/// Makes sure that at least `pages` free pages of a space have their room on the disk. Waits for: its header
/// to be read, the file to be extended.
pub fn ensure_free(space: &Space, pages: u32) -> Attempt<()> {
    let usage = usage(space)?;
    let corrupted = |what| Error::Corrupted { page: space.page_id(HEADER), what };
    check_high_water(usage.high_water, space).map_err(corrupted)?;
    let beyond = space.pages().saturating_sub(usage.high_water);
    match usage.scattered.saturating_add(beyond) >= pages {
        true => Ok(()),
        false => space.ensure_allocated(usage.high_water.saturating_add(pages)).map_err(Blocked::up),
    }
}

/// Whether a page is in use according to its space's maps. Waits for: header and map to be read.
pub fn is_in_use(space: &Space, page: PageNo) -> Attempt<bool> {
    let header = space.shared(HEADER).map_err(Blocked::up)?;
    check_header(&header).map_err(|what| Error::Corrupted { page: header.id(), what })?;
    if page.0 >= HeaderView(&header).high_water() {
        return Ok(false);
    }
    drop(header);
    let (group, in_group) = locate(space, page);
    let map = shared_map(space, group)?;
    Ok(MapView(&map).in_use(in_group))
}

/// All free pages of a space below its high-water mark. Waits for: its header and maps to be read.
pub fn free_pages(space: &Space) -> Attempt<Vec<PageNo>> {
    let header = space.shared(HEADER).map_err(Blocked::up)?;
    check_header(&header).map_err(|what| Error::Corrupted { page: header.id(), what })?;
    let view = HeaderView(&header);
    let (high_water, group_pages) = (view.high_water(), view.group_pages());
    let groups: Vec<u32> = (0..view.groups()).filter(|group| view.group(*group).0 > 0).collect();
    drop(header);
    let mut free = Vec::new();
    for group in groups {
        let map = shared_map(space, group)?;
        let end = high_water.saturating_sub(group * group_pages).min(group_pages);
        let in_group = (0..end).filter(|page| !MapView(&map).in_use(*page));
        free.extend(in_group.map(|page| PageNo(group * group_pages + page)));
    }
    Ok(free)
}

/// The wholly free extents of a space, but for the first `kept`: the first page of each. They are noted as unused, see
/// [`give_back_extent`]. Waits for: its header and maps to be read.
pub fn free_extents(space: &Space, kept: usize) -> Attempt<Vec<PageNo>> {
    let header = space.shared(HEADER).map_err(Blocked::up)?;
    check_header(&header).map_err(|what| Error::Corrupted { page: header.id(), what })?;
    let view = HeaderView(&header);
    let (high_water, group_pages) = (view.high_water(), view.group_pages());
    let groups: Vec<u32> = (0..view.groups()).filter(|group| view.group(*group).1 > 0).collect();
    drop(header);
    let mut free = Vec::new();
    for group in groups {
        let map = shared_map(space, group)?;
        let end = high_water.saturating_sub(group * group_pages).min(group_pages);
        let extents = (0..end / EXTENT_PAGES).filter(|extent| MapView(&map).extent(*extent) == 0);
        for extent in extents {
            let first = PageNo(group * group_pages + extent * EXTENT_PAGES);
            // While nobody can allocate from it.
            space.note_unused(first);
            free.push(first);
        }
    }
    Ok(free.split_off(kept.min(free.len())))
}

/// Gives the room of the extent that begins at `first` back to the disk, if it has been wholly free ever since [`free_extents`] named
/// it. Who would allocate from it meanwhile waits. See [`Space::give_back`] for what the caller knows of the
/// log. Waits for: its map to be read. Blocks: for the file system.
pub fn give_back_extent(space: &Space, first: PageNo) -> Attempt<()> {
    let (group, in_group) = locate(space, first);
    let map = shared_map(space, group)?;
    if MapView(&map).extent(in_group / EXTENT_PAGES) == 0 {
        space.give_back(first, EXTENT_PAGES, map).map_err(Error::from)?;
    }
    Ok(())
}

/// The page with a group's extent map. Waits for: it to be read.
fn shared_map(space: &Space, group: u32) -> Attempt<SharedPage<'_>> {
    let map = space.shared(map_page(space, group)).map_err(Blocked::up)?;
    match map.page_type() {
        page_type::SPACE_HEADER if group == 0 => Ok(map),
        page_type::EXTENT_MAP if group > 0 => Ok(map),
        _ => Err(Error::Corrupted { page: map.id(), what: NO_MAP }.into()),
    }
}

pub(crate) fn check_header(page: &Page) -> Result<(), &'static str> {
    if page.page_type() != page_type::SPACE_HEADER {
        return Err("not a space header");
    }
    if page.u64_at(MAGIC) != SPACE_MAGIC {
        return Err("wrong magic number");
    }
    if page.u32_at(VERSION) != SPACE_VERSION {
        return Err("unknown version of the page format");
    }
    let high_water = page.u32_at(HIGH_WATER);
    if high_water == 0 || high_water > max_pages(page.size()) {
        return Err("impossible high-water mark");
    }
    Ok(())
}

/// Checks that the file has the pages that the header says have been in use: it grows before the mark does.
fn check_high_water(high_water: u32, space: &Space) -> Result<(), &'static str> {
    match high_water.saturating_sub(space.pages()) <= MOST_LOST_PAGES {
        true => Ok(()),
        false => Err("the high-water mark is behind the end of the file"),
    }
}

/// Whether a page may be one that is in no use.
fn is_unused(page: &Page) -> bool {
    matches!(page.page_type(), page_type::FREE | page_type::GIVEN_UP)
}

/// The group of a page and its position there.
pub(crate) fn locate(space: &Space, page: PageNo) -> (u32, u32) {
    let pages = group_pages(space.page_size().bytes());
    (page.0 / pages, page.0 % pages)
}

/// The page with a group's extent map.
pub(crate) fn map_page(space: &Space, group: u32) -> PageNo {
    PageNo(group * group_pages(space.page_size().bytes()))
}

pub(crate) struct HeaderView<'p>(pub(crate) &'p Page);

impl HeaderView<'_> {
    pub(crate) fn high_water(&self) -> u32 {
        self.0.u32_at(HIGH_WATER)
    }

    pub(crate) fn groups(&self) -> u32 {
        self.high_water().div_ceil(self.group_pages()).min(max_groups(self.0.size()))
    }

    /// Pages of a group.
    pub(crate) fn group_pages(&self) -> u32 {
        group_pages(self.0.size())
    }

    /// Free pages and wholly free extents of a group.
    pub(crate) fn group(&self, group: u32) -> (u16, u16) {
        let at = GROUPS + group as usize * GROUP_SIZE;
        (self.0.u16_at(at), self.0.u16_at(at + 2))
    }

    fn first_free_group(&self) -> u32 {
        self.0.u32_at(FIRST_FREE_GROUP)
    }

    /// The first group that has a wholly free extent, or a free page.
    fn find_group(&self, near: u32, wanted: impl Fn((u16, u16)) -> bool) -> Option<u32> {
        if near < self.groups() && wanted(self.group(near)) {
            return Some(near);
        }
        (self.first_free_group()..self.groups()).find(|group| wanted(self.group(*group)))
    }

    fn scattered(&self) -> u32 {
        (self.first_free_group()..self.groups())
            .map(|group| self.group(group))
            .map(|(pages, extents)| u32::from(pages).saturating_sub(u32::from(extents) * EXTENT_PAGES))
            .sum()
    }
}

/// An extent map: 64 bits per extent.
pub(crate) struct MapView<'p>(pub(crate) &'p Page);

impl MapView<'_> {
    /// The bits of an extent; a set bit is a page in use.
    pub(crate) fn extent(&self, extent: u32) -> u64 {
        self.0.u64_at(extent_map(self.0.size()) + extent as usize * 8)
    }

    pub(crate) fn in_use(&self, page_in_group: u32) -> bool {
        self.extent(page_in_group / EXTENT_PAGES) >> (page_in_group % EXTENT_PAGES) & 1 == 1
    }

    /// The group's pages and wholly free extents below `end`, a position in the group.
    pub(crate) fn count_free(&self, end: u32) -> (u16, u16) {
        let (mut pages, mut extents) = (0, 0);
        for extent in 0..end.div_ceil(EXTENT_PAGES) {
            let free = !self.extent(extent) & mask(extent, end);
            pages += free.count_ones() as u16;
            extents += u16::from(free == u64::MAX);
        }
        (pages, extents)
    }
}

/// The bits of the pages of `extent` that lie below `end`.
fn mask(extent: u32, end: u32) -> u64 {
    match end.saturating_sub(extent * EXTENT_PAGES) {
        64.. => u64::MAX,
        pages => (1 << pages) - 1,
    }
}

/// Free pages that an allocation leaves for others. The default is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// How many there are to be if the disk has room: as many the file grows ahead.
    pub wanted: u32,
    /// What would leave fewer than this is refused as on a full disk.
    pub least: u32,
}

/// Free pages that a mini-transaction holds, for it to allocate. Whatever is not allocated stays free.
#[must_use]
pub struct Reservation {
    space: SpaceId,
    header: Handle,
    growth: SmallVec<[Growth; 1]>,
    pages: SmallVec<[Reserved; 2]>,
    kept: Kept,
}

struct Reserved {
    page: Handle,
    map: Handle,
    in_group: u32,
}

/// The high-water mark is to be moved.
#[derive(Clone, Copy)]
struct Growth {
    to: u32,
    /// The map of a group that thereby comes into being.
    new_map: Option<Handle>,
    /// The map of the group it is moved in.
    map: Handle,
}

/// Holds `count` (at most 64) free pages for the mini-transaction to allocate, near to `near` if that is not page 0.
/// Once per space and mini-transaction; last in the latch order. Waits for: header and map to be read, the file to be
/// extended, free frames.
pub fn reserve<'a>(mtr: &mut Mtr<'a>, space: &'a Space, near: PageNo, count: u32) -> Attempt<Reservation> {
    reserve_beyond(mtr, space, near, count, Kept::default())
}

/// [`reserve`] in a space that keeps free pages for others.
pub fn reserve_beyond<'a>(
    mtr: &mut Mtr<'a>,
    space: &'a Space,
    near: PageNo,
    count: u32,
    kept: Kept,
) -> Attempt<Reservation> {
    assert!((1..=EXTENT_PAGES).contains(&count), "more than an extent at once");
    let header = mtr.exclusive(space, HEADER)?;
    check_header(mtr.page(header)).map_err(|what| mtr.corrupted(header, what))?;
    let high_water = HeaderView(mtr.page(header)).high_water();
    check_high_water(high_water, space).map_err(|what| mtr.corrupted(header, what))?;
    let mut reservation =
        Reservation { space: space.id(), header, growth: SmallVec::new(), pages: SmallVec::new(), kept };
    let mut near = near;
    for _ in 0..count {
        let page = reservation.choose(mtr, space, near)?;
        near = page;
    }
    Ok(reservation)
}

/// Where to look for a free page.
enum Where {
    Extent { group: u32, extent: u32, from: u32 },
    FreeExtent { group: u32 },
    Scattered { group: u32 },
    Growth,
}

impl Reservation {
    /// How many pages are left to allocate.
    pub fn remaining(&self) -> usize {
        self.pages.len()
    }

    /// Takes a reserved page into use. `format` must format it.
    pub fn allocate(&mut self, mtr: &mut Mtr<'_>, format: PageOp<'_>) -> (PageNo, Handle) {
        assert!(format.formats(), "a page's life begins with its format");
        let reserved = self.pages.remove(0);
        for growth in std::mem::take(&mut self.growth) {
            self.grow(mtr, growth);
        }
        let number = mtr.page_id(reserved.page).page;
        mtr.apply(reserved.map, PageOp::Allocate { page_in_group: reserved.in_group as u16 });
        set_group(mtr, self.header, reserved.map);
        mtr.apply(reserved.page, format);
        metrics::SPACE_PAGES_ALLOCATED.increment();
        (number, reserved.page)
    }

    fn grow(&self, mtr: &mut Mtr<'_>, growth: Growth) {
        mtr.apply(self.header, PageOp::SetHighWater { pages: growth.to });
        if let Some(map) = growth.new_map {
            mtr.apply(map, PageOp::Format { page_type: page_type::EXTENT_MAP });
            mtr.apply(map, PageOp::Allocate { page_in_group: 0 });
        }
        set_group(mtr, self.header, growth.map);
    }

    fn choose<'a>(&mut self, mtr: &mut Mtr<'a>, space: &'a Space, near: PageNo) -> Attempt<PageNo> {
        let header = HeaderView(mtr.page(self.header));
        let (near_group, near_in_group) = locate(space, near);
        let mut places = SmallVec::<[Where; 6]>::new();
        let growth_first = header.scattered() <= (header.high_water() / SCATTERED_SHARE).max(SCATTERED_LEAST);
        if near != HEADER && near.0 < self.high_water(mtr) {
            let extent = near_in_group / EXTENT_PAGES;
            places.push(Where::Extent { group: near_group, extent, from: near_in_group + 1 });
            places.push(Where::Extent { group: near_group, extent, from: 0 });
            if let Some(group) = header.find_group(near_group, |(_, extents)| extents > 0) {
                places.push(Where::FreeExtent { group });
            }
            if growth_first {
                places.push(Where::Growth);
            }
        }
        if let Some(group) = header.find_group(0, |(pages, _)| pages > 0) {
            places.push(Where::Scattered { group });
        }
        if !places.iter().any(|place| matches!(place, Where::Growth)) {
            places.push(Where::Growth);
        }
        if self.kept.least > 0
            && near == HEADER
            && let Some(group) = header.find_group(0, |(_, extents)| extents > 0)
        {
            // The only pages that are not counted among those that are kept.
            places.push(Where::FreeExtent { group });
        }
        let mut full = None;
        for place in places {
            match self.try_place(mtr, space, place) {
                Ok(Some(page)) => return Ok(page),
                Ok(None) => {}
                Err(Blocked::Error(Error::NoSpace(id))) => full = Some(id),
                Err(blocked) => return Err(blocked),
            }
        }
        Err(Error::NoSpace(full.unwrap_or(space.id())).into())
    }

    fn try_place<'a>(
        &mut self,
        mtr: &mut Mtr<'a>,
        space: &'a Space,
        place: Where,
    ) -> Attempt<Option<PageNo>> {
        let page = space.page_size().bytes();
        let (group_extents, group_pages) = (group_extents(page), group_pages(page));
        let (group, extents, from, only_free) = match place {
            Where::Growth => return self.plan_growth(mtr, space),
            Where::Extent { group, extent, from } => (group, extent..extent + 1, from, false),
            Where::FreeExtent { group } => (group, 0..group_extents, 0, true),
            Where::Scattered { group } => (group, 0..group_extents, 0, false),
        };
        let map = self.map(mtr, space, group)?;
        let end = self.high_water(mtr) - group * group_pages;
        let found = {
            let view = MapView(mtr.page(map));
            let taken = |page: u32| self.pages.iter().any(|r| r.map == map && r.in_group == page);
            extents.take_while(|extent| extent * EXTENT_PAGES < end).find_map(|extent| {
                let free = !view.extent(extent) & mask(extent, end);
                if only_free && free != u64::MAX {
                    return None;
                }
                (0..EXTENT_PAGES)
                    .filter(|bit| free >> bit & 1 == 1)
                    .map(|bit| extent * EXTENT_PAGES + bit)
                    .find(|page| *page >= from && !taken(*page))
            })
        };
        let Some(in_group) = found else { return Ok(None) };
        let extent = in_group / EXTENT_PAGES;
        if MapView(mtr.page(map)).extent(extent) == 0 {
            let first = PageNo(group * group_pages + extent * EXTENT_PAGES);
            space.ensure_backed(first, EXTENT_PAGES).map_err(Blocked::up)?;
        } else {
            self.check_kept(mtr, space)?;
        }
        self.take(mtr, space, map, group, in_group).map(Some)
    }

    /// The high-water mark, the planned growth included.
    fn high_water(&self, mtr: &Mtr<'_>) -> u32 {
        match self.growth.last() {
            Some(growth) => growth.to,
            None => HeaderView(mtr.page(self.header)).high_water(),
        }
    }

    fn map<'a>(&self, mtr: &mut Mtr<'a>, space: &'a Space, group: u32) -> Attempt<Handle> {
        if group == 0 {
            return Ok(self.header);
        }
        let planned =
            |growth: &Growth| growth.new_map.filter(|map| mtr.page_id(*map).page == map_page(space, group));
        if let Some(map) = self.growth.iter().find_map(planned) {
            return Ok(map);
        }
        let map = mtr.exclusive(space, map_page(space, group))?;
        if mtr.page(map).page_type() != page_type::EXTENT_MAP {
            return Err(mtr.corrupted(map, NO_MAP).into());
        }
        Ok(map)
    }

    /// Refuses a page without which too few would be kept. A page of a wholly free extent is not asked about:
    /// the others of the extent then count.
    fn check_kept(&self, mtr: &Mtr<'_>, space: &Space) -> Result<(), Error> {
        if self.kept.least == 0 {
            return Ok(());
        }
        let scattered = HeaderView(mtr.page(self.header)).scattered();
        // Of the pages that are planned to be below the mark, those that are not taken count; so it is the
        // present mark that is asked.
        let beyond = space.pages().saturating_sub(HeaderView(mtr.page(self.header)).high_water());
        let free = scattered.saturating_add(beyond).saturating_sub(self.pages.len() as u32);
        if free > self.kept.least { Ok(()) } else { Err(Error::NoSpace(space.id())) }
    }

    /// Plans to move the high-water mark: by doubling in the first extent, so that a small table is a small file, then
    /// to the end of the next extent.
    fn plan_growth<'a>(&mut self, mtr: &mut Mtr<'a>, space: &'a Space) -> Attempt<Option<PageNo>> {
        let from = self.high_water(mtr);
        let extent_end = (from / EXTENT_PAGES + 1) * EXTENT_PAGES;
        let to = if from < EXTENT_PAGES { (from * 2).clamp(FIRST_PAGES, EXTENT_PAGES) } else { extent_end };
        if to > max_pages(space.page_size().bytes()) {
            return Err(Error::NoSpace(space.id()).into());
        }
        let (group, in_group) = locate(space, PageNo(from));
        let least = from + if in_group == 0 { 2 } else { 1 };
        let to = match space.ensure_allocated(to.saturating_add(self.kept.wanted)) {
            Ok(()) => to,
            Err(Blocked::Error(palisade_buffer::Error::NoSpace { .. })) if least <= space.pages() => {
                self.check_kept(mtr, space)?;
                to.min(space.pages())
            }
            Err(blocked) => return Err(blocked.up()),
        };
        let new_map = match in_group {
            0 => Some(self.unused(mtr, space, map_page(space, group), self.header)?),
            _ => None,
        };
        let map = match new_map {
            Some(map) => map,
            None => self.map(mtr, space, group)?,
        };
        self.growth.push(Growth { to, new_map, map });
        let first = if new_map.is_some() { in_group + 1 } else { in_group };
        self.take(mtr, space, map, group, first).map(Some)
    }

    fn take<'a>(
        &mut self,
        mtr: &mut Mtr<'a>,
        space: &'a Space,
        map: Handle,
        group: u32,
        in_group: u32,
    ) -> Attempt<PageNo> {
        let number = PageNo(map_page(space, group).0 + in_group);
        let is_new_map = self.growth.iter().any(|growth| growth.new_map == Some(map));
        let in_use = !is_new_map && MapView(mtr.page(map)).in_use(in_group);
        if in_use {
            return Err(mtr.corrupted(map, IN_USE).into());
        }
        let page = self.unused(mtr, space, number, map)?;
        self.pages.push(Reserved { page, map, in_group });
        Ok(number)
    }

    /// Holds a page that `said_by` says is free.
    fn unused<'a>(
        &self,
        mtr: &mut Mtr<'a>,
        space: &'a Space,
        number: PageNo,
        said_by: Handle,
    ) -> Attempt<Handle> {
        if mtr.find(space.page_id(number)).is_some() {
            return Err(mtr.corrupted(said_by, IN_USE).into());
        }
        match space.create_unused(number, is_unused).map_err(Blocked::up)? {
            Some(page) => Ok(mtr.hold(page)),
            None => Err(mtr.corrupted(said_by, IN_USE).into()),
        }
    }

    /// The space the pages are in.
    pub fn space(&self) -> SpaceId {
        self.space
    }
}

/// Brings the header's counts of a group up to date with the group's map.
fn set_group(mtr: &mut Mtr<'_>, header: Handle, map: Handle) {
    let view = HeaderView(mtr.page(header));
    let group = mtr.page_id(map).page.0 / view.group_pages();
    let end = view.high_water().saturating_sub(group * view.group_pages()).min(view.group_pages());
    let (free_pages, free_extents) = MapView(mtr.page(map)).count_free(end);
    let old_hint = view.first_free_group();
    let hint = if free_pages > 0 {
        old_hint.min(group)
    } else if old_hint == group {
        (group + 1..view.groups()).find(|next| view.group(*next).0 > 0).unwrap_or(view.groups())
    } else {
        old_hint
    };
    mtr.apply(header, PageOp::SetGroup { group: group as u16, free_pages, free_extents });
    if hint != old_hint {
        mtr.apply(header, PageOp::SetFirstFreeGroup { group: hint });
    }
}

/// A page that a mini-transaction holds, with what it needs to free it.
#[must_use]
pub struct Freeing {
    page: Handle,
    header: Handle,
    map: Handle,
}

/// Acquires what freeing `page` needs: the page, unless it is held already, then header and map. Last in the latch
/// order. Waits for: pages to be read.
pub fn prepare_free<'a>(mtr: &mut Mtr<'a>, space: &'a Space, page: PageNo) -> Attempt<Freeing> {
    let (group, in_group) = locate(space, page);
    let handle = mtr.exclusive(space, page)?;
    if in_group == 0 {
        return Err(mtr.corrupted(handle, "a space header or extent map cannot be freed").into());
    }
    let header = mtr.exclusive(space, HEADER)?;
    check_header(mtr.page(header)).map_err(|what| mtr.corrupted(header, what))?;
    let map = mtr.exclusive(space, map_page(space, group))?;
    if group > 0 && mtr.page(map).page_type() != page_type::EXTENT_MAP {
        return Err(mtr.corrupted(map, NO_MAP).into());
    }
    if !MapView(mtr.page(map)).in_use(in_group) || page.0 >= HeaderView(mtr.page(header)).high_water() {
        return Err(mtr.corrupted(map, "a page to be freed is free already").into());
    }
    Ok(Freeing { page: handle, header, map })
}

/// Gives a page back to its space.
pub fn free(mtr: &mut Mtr<'_>, freeing: Freeing) {
    let in_group = mtr.page_id(freeing.page).page.0 - mtr.page_id(freeing.map).page.0;
    mtr.apply(freeing.page, PageOp::Format { page_type: page_type::FREE });
    mtr.apply(freeing.map, PageOp::Release { page_in_group: in_group as u16 });
    set_group(mtr, freeing.header, freeing.map);
    metrics::SPACE_PAGES_FREED.increment();
}
