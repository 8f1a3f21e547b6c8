//! What is in the buffer pool: INNODB_BUFFER_PAGE, INNODB_BUFFER_PAGE_LRU, INNODB_BUFFER_POOL_STATS.
//!
//! Rows are made one by one as they are pulled, each from a look at one frame: no statement holds a list of
//! the pool. There is no list of pages by their last access, as InnoDB has one; the eviction sweeps over the
//! frames. LRU_POSITION is how many pages it passes before it comes to this one, and a page is old that it
//! will not spare. When a page was first accessed is not known: ACCESS_TIME is 0.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use palisade_catalog::Value;
use palisade_engine::pool_view::{IndexName, PageContent};
use palisade_engine::{Engine, ResidentPage};
use palisade_schema::{Rows, Wanted, virtual_table};
use parking_lot::Mutex;

use super::{Definition, Source, Tables, optional_text, text, yes_no};

pub(super) static TABLES: Tables = &[
    Definition::new(&pages::DECL, |source, wanted| {
        let (frames, wanted) = (frames(source), wanted.clone());
        Box::new(frames.map(move |frame| pages::row(&frame, &wanted)))
    }),
    Definition::new(&by_sweep::DECL, |source, wanted| {
        let (frames, wanted) = (pages_by_sweep(source), wanted.clone());
        Box::new(frames.map(move |page| by_sweep::row(&page, &wanted)))
    }),
    Definition::new(&statistics::DECL, all_statistics),
];

/// A frame, the page in it, and what the page says.
struct FrameSubject {
    frame: u32,
    page: Option<ResidentPage>,
    content: Option<PageContent>,
    name: Option<Arc<IndexName>>,
}

impl FrameSubject {
    fn look(engine: &Engine, names: &HashMap<u64, Arc<IndexName>>, frame: u32) -> FrameSubject {
        let (page, content) = engine.page_in_frame(frame).unzip();
        let content = content.flatten();
        let index = content.and_then(|content: PageContent| content.index_id);
        FrameSubject { frame, page, content, name: index.and_then(|id| names.get(&id)).cloned() }
    }

    fn of_page(&self, number: impl FnOnce(&ResidentPage) -> u64) -> Value {
        Value::UInt(self.page.as_ref().map_or(0, number))
    }

    fn of_content(&self, number: impl FnOnce(&PageContent) -> u64) -> Value {
        Value::UInt(self.content.as_ref().map_or(0, number))
    }

    fn kind(&self) -> Value {
        text(self.content.map_or("UNKNOWN", |content| content.kind))
    }

    fn table(&self) -> Value {
        let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
        let shown = |name: &Arc<IndexName>| format!("{}.{}", quoted(&name.schema), quoted(&name.table));
        optional_text(self.name.as_ref().map(shown))
    }

    fn index(&self) -> Value {
        optional_text(self.name.as_ref().map(|name| &name.index))
    }

    fn io(&self) -> Value {
        let is_writing = self.page.is_some_and(|page| page.is_writing);
        text(if is_writing { "IO_WRITE" } else { "IO_NONE" })
    }

    fn is_old(&self) -> Value {
        yes_no(self.page.is_some_and(|page| !page.is_hot))
    }
}

/// All frames, as they are when they are pulled.
fn frames(source: &Source<'_>) -> impl Iterator<Item = FrameSubject> + Send + use<> {
    let (engine, names) = (source.host.engine.clone(), source.host.engine.index_names());
    (0..engine.pool_frames()).map(move |frame| FrameSubject::look(&engine, &names, frame))
}

/// The frames that hold a page, from the one on that the eviction comes to next, with their positions.
fn pages_by_sweep(source: &Source<'_>) -> impl Iterator<Item = (u64, FrameSubject)> + Send + use<> {
    let (engine, names) = (source.host.engine.clone(), source.host.engine.index_names());
    let (first, count) = (engine.pool_sweep_position(), engine.pool_frames());
    let order = (first..count).chain(0..first.min(count));
    let frames = order.map(move |frame| FrameSubject::look(&engine, &names, frame));
    (0..).zip(frames.filter(|frame| frame.page.is_some()))
}

virtual_table! {
    mod pages = "information_schema"."INNODB_BUFFER_PAGE" of |it: FrameSubject| {
        POOL_ID: bigint_unsigned not null default "" => Value::UInt(0),
        BLOCK_ID: bigint_unsigned not null default "" => Value::UInt(it.frame.into()),
        SPACE: bigint_unsigned not null default "" => it.of_page(|page| page.id.space.0.into()),
        PAGE_NUMBER: bigint_unsigned not null default "" => it.of_page(|page| page.id.page.0.into()),
        PAGE_TYPE: varchar(64) default "" => it.kind(),
        FLUSH_TYPE: bigint_unsigned not null default "" => Value::UInt(0),
        FIX_COUNT: bigint_unsigned not null default "" => it.of_page(|page| page.is_latched.into()),
        IS_HASHED: varchar(3) default "" => yes_no(false),
        NEWEST_MODIFICATION: bigint_unsigned not null default "" => it.of_content(|content| content.newest_lsn),
        OLDEST_MODIFICATION: bigint_unsigned not null default "" => it.of_page(|page| page.oldest.map_or(0, |lsn| lsn.0)),
        ACCESS_TIME: bigint_unsigned not null default "" => Value::UInt(0),
        TABLE_NAME: varchar(1024) default "" => it.table(),
        INDEX_NAME: varchar(1024) default "" => it.index(),
        NUMBER_RECORDS: bigint_unsigned not null default "" => it.of_content(|content| content.records),
        DATA_SIZE: bigint_unsigned not null default "" => it.of_content(|content| content.bytes),
        COMPRESSED_SIZE: bigint_unsigned not null default "" => Value::UInt(0),
        PAGE_STATE: varchar(64) default "" => text(if it.page.is_some() { "FILE_PAGE" } else { "NOT_USED" }),
        IO_FIX: varchar(64) default "" => it.io(),
        IS_OLD: varchar(3) default "" => it.is_old(),
        FREE_PAGE_CLOCK: bigint_unsigned not null default "" => Value::UInt(0),
        IS_STALE: varchar(3) default "" => yes_no(false),
    }
}

virtual_table! {
    mod by_sweep = "information_schema"."INNODB_BUFFER_PAGE_LRU" of |it: (u64, FrameSubject)| {
        POOL_ID: bigint_unsigned not null default "" => Value::UInt(0),
        LRU_POSITION: bigint_unsigned not null default "" => Value::UInt(it.0),
        SPACE: bigint_unsigned not null default "" => it.1.of_page(|page| page.id.space.0.into()),
        PAGE_NUMBER: bigint_unsigned not null default "" => it.1.of_page(|page| page.id.page.0.into()),
        PAGE_TYPE: varchar(64) default "" => it.1.kind(),
        FLUSH_TYPE: bigint_unsigned not null default "" => Value::UInt(0),
        FIX_COUNT: bigint_unsigned not null default "" => it.1.of_page(|page| page.is_latched.into()),
        IS_HASHED: varchar(3) default "" => yes_no(false),
        NEWEST_MODIFICATION: bigint_unsigned not null default "" => it.1.of_content(|content| content.newest_lsn),
        OLDEST_MODIFICATION: bigint_unsigned not null default "" => it.1.of_page(|page| page.oldest.map_or(0, |lsn| lsn.0)),
        ACCESS_TIME: bigint_unsigned not null default "" => Value::UInt(0),
        TABLE_NAME: varchar(1024) default "" => it.1.table(),
        INDEX_NAME: varchar(1024) default "" => it.1.index(),
        NUMBER_RECORDS: bigint_unsigned not null default "" => it.1.of_content(|content| content.records),
        DATA_SIZE: bigint_unsigned not null default "" => it.1.of_content(|content| content.bytes),
        COMPRESSED_SIZE: bigint_unsigned not null default "" => Value::UInt(0),
        COMPRESSED: varchar(3) default "" => yes_no(false),
        IO_FIX: varchar(64) default "" => it.1.io(),
        IS_OLD: varchar(3) default "" => it.1.is_old(),
        FREE_PAGE_CLOCK: bigint_unsigned not null default "" => Value::UInt(0),
    }
}

/// What the pool has counted, and when that was read.
struct Reading {
    at: Instant,
    numbers: HashMap<&'static str, u64>,
}

/// The last reading: rates are of the time since.
static LATEST: Mutex<Option<Reading>> = Mutex::new(None);

/// The numbers now, how they were at the last reading, and the seconds since.
struct Statistics {
    now: HashMap<&'static str, u64>,
    before: HashMap<&'static str, u64>,
    seconds: f64,
    old_pages: u64,
}

impl Statistics {
    fn read(source: &Source<'_>) -> Statistics {
        let engine = &source.host.engine;
        let now: HashMap<_, _> =
            engine.metrics().into_iter().map(|metric| (metric.name, metric.value())).collect();
        let at = Instant::now();
        let latest = LATEST.lock().replace(Reading { at, numbers: now.clone() });
        let (since, before) = latest
            .map_or_else(|| (source.host.started, HashMap::new()), |latest| (latest.at, latest.numbers));
        let pages = (0..engine.pool_frames()).filter_map(|frame| engine.page_in_frame(frame));
        let old_pages = pages.filter(|(page, _)| !page.is_hot).count() as u64;
        Statistics { now, before, seconds: (at - since).as_secs_f64(), old_pages }
    }

    fn number(&self, name: &str) -> u64 {
        self.now.get(name).copied().unwrap_or(0)
    }

    fn value(&self, name: &str) -> Value {
        Value::UInt(self.number(name))
    }

    fn counted(&self, name: &str) -> u64 {
        self.number(name).saturating_sub(self.before.get(name).copied().unwrap_or(0))
    }

    fn rate(&self, name: &str) -> Value {
        Value::Double(self.counted(name) as f64 / self.seconds.max(1e-6))
    }

    /// Of 1,000 accesses, those that found their page in memory; 0 if there was none.
    fn hit_rate(&self) -> Value {
        let missed = |gets| (1000 * self.counted("buffer_pool_reads")).checked_div(gets);
        let rate =
            missed(self.counted("buffer_pool_read_requests")).map_or(0, |missed| 1000 - missed.min(1000));
        Value::UInt(rate)
    }
}

fn all_statistics(source: &Source<'_>, wanted: &Wanted) -> Rows {
    Box::new(std::iter::once(statistics::row(&Statistics::read(source), wanted)))
}

virtual_table! {
    mod statistics = "information_schema"."INNODB_BUFFER_POOL_STATS" of |it: Statistics| {
        POOL_ID: bigint_unsigned not null default "" => Value::UInt(0),
        POOL_SIZE: bigint_unsigned not null default "" => it.value("buffer_pool_pages_total"),
        FREE_BUFFERS: bigint_unsigned not null default "" => it.value("buffer_pool_pages_free"),
        DATABASE_PAGES: bigint_unsigned not null default "" => it.value("buffer_pool_pages_data"),
        OLD_DATABASE_PAGES: bigint_unsigned not null default "" => Value::UInt(it.old_pages),
        MODIFIED_DATABASE_PAGES: bigint_unsigned not null default "" => it.value("buffer_pool_pages_dirty"),
        PENDING_DECOMPRESS: bigint_unsigned not null default "" => Value::UInt(0),
        PENDING_READS: bigint_unsigned not null default "" => it.value("os_pending_reads"),
        PENDING_FLUSH_LRU: bigint_unsigned not null default "" => Value::UInt(0),
        PENDING_FLUSH_LIST: bigint_unsigned not null default "" => it.value("os_pending_writes"),
        PAGES_MADE_YOUNG: bigint_unsigned not null default "" => Value::UInt(0),
        PAGES_NOT_MADE_YOUNG: bigint_unsigned not null default "" => Value::UInt(0),
        PAGES_MADE_YOUNG_RATE: float not null default "" => Value::Double(0.0),
        PAGES_MADE_NOT_YOUNG_RATE: float not null default "" => Value::Double(0.0),
        NUMBER_PAGES_READ: bigint_unsigned not null default "" => it.value("buffer_pages_read"),
        NUMBER_PAGES_CREATED: bigint_unsigned not null default "" => it.value("buffer_pages_created"),
        NUMBER_PAGES_WRITTEN: bigint_unsigned not null default "" => it.value("buffer_pages_written"),
        PAGES_READ_RATE: float not null default "" => it.rate("buffer_pages_read"),
        PAGES_CREATE_RATE: float not null default "" => it.rate("buffer_pages_created"),
        PAGES_WRITTEN_RATE: float not null default "" => it.rate("buffer_pages_written"),
        NUMBER_PAGES_GET: bigint_unsigned not null default "" => it.value("buffer_pool_read_requests"),
        HIT_RATE: bigint_unsigned not null default "" => it.hit_rate(),
        YOUNG_MAKE_PER_THOUSAND_GETS: bigint_unsigned not null default "" => Value::UInt(0),
        NOT_YOUNG_MAKE_PER_THOUSAND_GETS: bigint_unsigned not null default "" => Value::UInt(0),
        NUMBER_PAGES_READ_AHEAD: bigint_unsigned not null default "" => it.value("buffer_pool_read_ahead"),
        NUMBER_READ_AHEAD_EVICTED: bigint_unsigned not null default "" => it.value("buffer_pool_read_ahead_evicted"),
        READ_AHEAD_RATE: float not null default "" => it.rate("buffer_pool_read_ahead"),
        READ_AHEAD_EVICTED_RATE: float not null default "" => it.rate("buffer_pool_read_ahead_evicted"),
        LRU_IO_TOTAL: bigint_unsigned not null default "" => Value::UInt(0),
        LRU_IO_CURRENT: bigint_unsigned not null default "" => Value::UInt(0),
        UNCOMPRESS_TOTAL: bigint_unsigned not null default "" => Value::UInt(0),
        UNCOMPRESS_CURRENT: bigint_unsigned not null default "" => Value::UInt(0),
    }
}
