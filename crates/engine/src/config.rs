//! How an engine is set up.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use palisade_base::clock::{Clock, SystemClock};
use palisade_buffer::{FlushSettings, PageSize, ReadAhead};
use palisade_io::{Placement, Syncing, Waiting};

/// When a commit is answered: `innodb_flush_log_at_trx_commit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum FlushAtCommit {
    /// 0: at once; the log is written and flushed every second.
    Lazy = 0,
    /// 1: when it is durable.
    #[default]
    Durable = 1,
    /// 2: when the operating system has it; the log is flushed every second.
    Written = 2,
}

impl FlushAtCommit {
    /// The variable's number as a value of this type.
    pub fn from_number(number: u64) -> Option<Self> {
        [FlushAtCommit::Lazy, FlushAtCommit::Durable, FlushAtCommit::Written]
            .into_iter()
            .nth(usize::try_from(number).ok()?)
    }
}

/// Which statements lock a table's AUTO_INCREMENT counter until they have ended: `innodb_autoinc_lock_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoIncrementLockMode {
    /// 0: all that insert rows.
    Traditional,
    /// 1: those of which nobody knows how many rows they will insert; the others wait for them.
    Consecutive,
    /// 2: none.
    #[default]
    Interleaved,
}

impl AutoIncrementLockMode {
    /// The variable's number as a value of this type.
    pub fn from_number(number: u64) -> Option<Self> {
        [Self::Traditional, Self::Consecutive, Self::Interleaved]
            .into_iter()
            .nth(usize::try_from(number).ok()?)
    }
}

/// Who writes and flushes the log: `innodb_log_writer_threads`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogWriterThreads {
    /// Chosen for each flush.
    #[default]
    Auto,
    /// Dedicated threads.
    On,
    /// The committing session's worker.
    Off,
}

/// How much of a damaged data directory is given up so that the rest can be read: `innodb_force_recovery`.
/// Each level includes those before it. From level 1 on no row is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ForceRecovery {
    /// 0: nothing; damage that could spoil more than one table refuses the start.
    #[default]
    Off,
    /// 1: scans pass damaged pages over; redo of damaged pages and missing files is lost; a damaged
    /// dictionary is rebuilt from the copies in the tables' files.
    IgnoreDamage,
    /// 2: nothing is purged.
    NoPurge,
    /// 3: what was in flight at a crash is not rolled back.
    NoRollback,
    /// 4: nothing is written to the disk, not even what recovery changes.
    ReadOnly,
    /// 5: undo is not looked at: what was in flight counts as committed.
    NoUndo,
    /// 6: damage in the redo log ends it.
    AcceptLogDamage,
}

impl ForceRecovery {
    /// The variable's number as a value of this type.
    pub fn from_number(number: u64) -> Option<Self> {
        let all = [
            Self::Off,
            Self::IgnoreDamage,
            Self::NoPurge,
            Self::NoRollback,
            Self::ReadOnly,
            Self::NoUndo,
            Self::AcceptLogDamage,
        ];
        all.into_iter().nth(usize::try_from(number).ok()?)
    }

    /// Whether anything is given up.
    pub fn is_on(self) -> bool {
        self != Self::Off
    }
}

/// How files are opened, and what is synced: `innodb_flush_method`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlushMethod {
    /// Through the operating system's cache; everything is synced before it counts as durable.
    #[default]
    Fsync,
    /// Each write to the log is durable when it returns (`O_DSYNC`), so the log is not synced; data files as
    /// with `Fsync`.
    ODsync,
    /// Data files are not synced; the log is.
    Littlesync,
    /// Nothing is synced: what is durable after a failure of the machine is up to the operating system.
    Nosync,
    /// Past the operating system's cache; everything is synced.
    ODirect,
    /// Past the operating system's cache; data files are synced only where their length or space changes.
    ODirectNoFsync,
}

impl FlushMethod {
    /// In the order of the variable's values.
    const ALL: [FlushMethod; 6] = [
        FlushMethod::Fsync,
        FlushMethod::ODsync,
        FlushMethod::Littlesync,
        FlushMethod::Nosync,
        FlushMethod::ODirect,
        FlushMethod::ODirectNoFsync,
    ];

    /// The variable's value at a position of its list.
    pub fn from_position(position: usize) -> Option<Self> {
        Self::ALL.get(position).copied()
    }

    /// Whether files bypass the operating system's cache.
    pub(crate) fn is_direct(self) -> bool {
        matches!(self, FlushMethod::ODirect | FlushMethod::ODirectNoFsync)
    }

    /// How the log becomes durable.
    pub(crate) fn log_syncing(self) -> Syncing {
        match self {
            FlushMethod::ODsync => Syncing::EachWrite,
            FlushMethod::Nosync => Syncing::Never,
            _ => Syncing::OnRequest,
        }
    }

    /// Whether the log becomes durable by a sync that empties its device's cache, and data files pass the
    /// operating system's.
    pub(crate) fn flushes_device(self) -> bool {
        matches!(self, FlushMethod::ODirect | FlushMethod::ODirectNoFsync)
    }

    /// How data files, the doublewrite files included, become durable.
    pub(crate) fn data_syncing(self) -> Syncing {
        match self {
            FlushMethod::Fsync | FlushMethod::ODsync | FlushMethod::ODirect => Syncing::OnRequest,
            FlushMethod::ODirectNoFsync => Syncing::Metadata,
            FlushMethod::Littlesync | FlushMethod::Nosync => Syncing::Never,
        }
    }
}

/// How torn pages are provided against: `innodb_doublewrite`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DoublewriteMode {
    /// Not at all: for devices that write a page whole.
    Off,
    /// By copies in the doublewrite files.
    #[default]
    On,
    /// By ids in the doublewrite files: torn pages are known, and not restored. The dictionary and undo have
    /// copies.
    DetectOnly,
    /// By atomic writes where file system and device have them, else by copies.
    Auto,
}

/// How pages of a table reach its file: `palisade_page_sink`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageSinkKind {
    /// Each page has its place in the file, and what is torn there is provided against as [`DoublewriteMode`]
    /// says.
    InPlace,
    /// A page is written to a free place and never over what it was: nothing can be torn.
    #[default]
    OutOfPlace,
}

impl PageSinkKind {
    /// All of them, in the order in which the variable declares them.
    pub const ALL: [PageSinkKind; 2] = [PageSinkKind::InPlace, PageSinkKind::OutOfPlace];

    /// Its name, as in `PAGE_SINK='...'`.
    pub fn name(self) -> &'static str {
        match self {
            PageSinkKind::InPlace => "in-place",
            PageSinkKind::OutOfPlace => "out-of-place",
        }
    }

    /// The one of that name, in whatever case.
    pub fn named(name: &str) -> Option<PageSinkKind> {
        PageSinkKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name))
    }
}

/// More bytes of free undo pages need not keep their room on the disk: the space grows faster than it can be
/// used.
pub const MAX_UNDO_KEPT: u64 = 64 << 20;

/// So many bytes of undo pages are kept for deletes on a full disk, unless it is said otherwise.
pub const UNDO_RESERVE: u64 = 16 << 20;

/// How an engine is set up. `Default` is right for tests and small servers.
#[derive(Clone)]
pub struct EngineConfig {
    /// Where everything is: `#log/`, `spaces/`, `doublewrite.0` and its like.
    pub datadir: PathBuf,
    /// Bytes of a page (`innodb_page_size`): of a directory that is made. One that is there has its own, and
    /// is refused if that is another.
    pub page_size: PageSize,
    /// `innodb_buffer_pool_size`, bytes.
    pub buffer_pool_size: u64,
    /// What it may be [changed](crate::Engine::resize_buffer_pool) to at most, bytes: addresses are set aside
    /// for so many. Where this is less than the size, the size.
    pub buffer_pool_most: u64,
    /// `innodb_redo_log_capacity` to begin with, bytes; see
    /// [`Engine::resize_redo_log`](crate::Engine::resize_redo_log).
    pub redo_log_capacity: u64,
    /// What may be given up of a damaged directory.
    pub force_recovery: ForceRecovery,
    /// `innodb_log_buffer_size`, bytes.
    pub log_buffer_size: u64,
    /// `innodb_log_write_ahead_size` to begin with, bytes.
    pub log_write_ahead_size: u64,
    /// `innodb_flush_log_at_timeout` to begin with.
    pub flush_log_at_timeout: Duration,
    /// `innodb_log_writer_affinity`.
    pub log_writer_placement: Placement,
    /// `innodb_log_flusher_affinity`.
    pub log_flusher_placement: Placement,
    /// `innodb_flush_log_at_trx_commit` to begin with; see
    /// [`Engine::set_flush_at_commit`](crate::Engine::set_flush_at_commit).
    pub flush_at_commit: FlushAtCommit,
    /// `innodb_log_writer_threads` to begin with.
    pub log_writer_threads: LogWriterThreads,
    /// `innodb_doublewrite` to begin with; see [`Engine::set_doublewrite`](crate::Engine::set_doublewrite).
    pub doublewrite: DoublewriteMode,
    /// Where doublewrite files are (`innodb_doublewrite_dir`); in the data directory if `None`.
    pub doublewrite_dir: Option<PathBuf>,
    /// How many of them there are (`innodb_doublewrite_files`); at most one for each cleaner.
    pub doublewrite_files: usize,
    /// Pages that a cleaner writes in one batch (`innodb_doublewrite_pages`).
    pub doublewrite_pages: usize,
    /// Where the pages of new tables go that do not say it themselves (`palisade_page_sink`) to begin with;
    /// see [`Engine::set_page_sink`](crate::Engine::set_page_sink).
    pub page_sink: PageSinkKind,
    /// `innodb_flush_method`.
    pub flush_method: FlushMethod,
    /// Threads that wait for files to grow, and for reads and writes where the kernel does not
    /// (`innodb_read_io_threads`).
    pub io_threads: usize,
    /// Threads that write pages where io_uring does not (`innodb_write_io_threads`); with 0, `io_threads` do.
    pub write_io_threads: usize,
    /// Who waits for reads and writes of pages (`innodb_use_native_aio`).
    pub io_waiting: Waiting,
    /// `innodb_page_cleaners`.
    pub page_cleaners: usize,
    /// `innodb_lru_scan_depth`, pages.
    pub lru_scan_depth: usize,
    /// `innodb_io_capacity`, `innodb_max_dirty_pages_pct` and their like.
    pub flushing: FlushSettings,
    /// `innodb_read_ahead_threshold` and `innodb_random_read_ahead`.
    pub read_ahead: ReadAhead,
    /// `innodb_change_buffer_max_size`, percent of the pool; 0 where `innodb_change_buffering` is none.
    pub kept_share: u32,
    /// `innodb_adaptive_hash_index`, to begin with.
    pub adaptive_hash_index: bool,
    /// `innodb_adaptive_hash_index_parts`.
    pub adaptive_hash_index_parts: usize,
    /// `innodb_purge_threads`. With 0 (deterministic tests) nothing is purged unless
    /// [`Engine::purge_step`](crate::Engine::purge_step) is called.
    pub purge_threads: usize,
    /// How many bytes of free undo pages keep their room on the disk to begin with; `None` for all. See
    /// [`Engine::set_undo_kept`](crate::Engine::set_undo_kept).
    pub undo_kept: Option<u64>,
    /// How many bytes of undo pages are kept for deletes on a full disk to begin with:
    /// `palisade_undo_reserve_size`.
    pub undo_reserve: u64,
    /// `innodb_autoinc_lock_mode`.
    pub auto_increment_lock_mode: AutoIncrementLockMode,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Whether there are threads for the log, for reading and for cleaning pages. Without (deterministic
    /// simulations) everything happens on the calling thread, and pages are written when
    /// [`Engine::clean_step`](crate::Engine::clean_step) is called; [`purge_threads`](Self::purge_threads)
    /// should then be 0.
    pub background: bool,
    /// What is called, with the reason, when a write or sync has failed and nothing may be promised any more.
    /// `None` prints the reason and aborts the process; only a simulation does anything else.
    pub on_fatal: Option<FatalHook>,
}

/// See [`EngineConfig::on_fatal`].
pub type FatalHook = Arc<dyn Fn(&str) + Send + Sync>;

impl Default for EngineConfig {
    fn default() -> Self {
        EngineConfig {
            page_size: PageSize::DEFAULT,
            datadir: PathBuf::from("data"),
            buffer_pool_size: 128 << 20,
            buffer_pool_most: 1 << 30,
            redo_log_capacity: 100 << 20,
            force_recovery: ForceRecovery::Off,
            log_buffer_size: 16 << 20,
            log_write_ahead_size: 4096,
            flush_log_at_timeout: Duration::from_secs(1),
            log_writer_placement: Placement::default(),
            log_flusher_placement: Placement::default(),
            flush_at_commit: FlushAtCommit::default(),
            log_writer_threads: LogWriterThreads::default(),
            doublewrite: DoublewriteMode::default(),
            doublewrite_dir: None,
            doublewrite_files: 2,
            doublewrite_pages: 128,
            page_sink: PageSinkKind::default(),
            flush_method: FlushMethod::default(),
            io_threads: 4,
            write_io_threads: 0,
            io_waiting: Waiting::Kernel,
            page_cleaners: 4,
            lru_scan_depth: 1024,
            flushing: FlushSettings::default(),
            read_ahead: ReadAhead::default(),
            kept_share: 0,
            adaptive_hash_index: false,
            adaptive_hash_index_parts: 8,
            purge_threads: 1,
            undo_kept: Some(MAX_UNDO_KEPT),
            undo_reserve: UNDO_RESERVE,
            auto_increment_lock_mode: AutoIncrementLockMode::default(),
            clock: Arc::new(SystemClock::default()),
            background: true,
            on_fatal: None,
        }
    }
}
