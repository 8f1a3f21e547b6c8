//! How the pages of each space reach disk: `innodb_doublewrite`.
//!
//! | mode | tables | dictionary and undo |
//! |---|---|---|
//! | ON | a copy in the doublewrite files, then in place | the same |
//! | DETECT_ONLY | their ids in the doublewrite files, then in place | as ON: without them all is lost |
//! | AUTO | in place by atomic writes where file system and device have them, else as ON | as tables |
//! | OFF | in place | in place |
//!
//! Spaces with a map are written out of place, whatever the mode: nothing of them can be torn. New tables are
//! such if `palisade_page_sink` says so, or their option `PAGE_SINK`.
//!
//! What a server finds when it starts was written in the mode of the one before, so torn pages are repaired
//! before the mode of this one counts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_base::SpaceId;
use palisade_base::event::retry_blocking;
use palisade_btree::alloc;
use palisade_buffer::doublewrite::{Directories, SpaceFiles, repair};
use palisade_buffer::places::RecoverError;
use palisade_buffer::{
    AreaConfig, Atomic, BufferPool, Doublewrite, Keeps, Off, OutOfPlace, PageSink, PageSize, PlaceStore,
    Space, places,
};
use palisade_catalog::TableDef;
use palisade_io::File;
use palisade_log::{Log, LogReader};
use palisade_txn::undo::segment::UNDO_SPACE;
use parking_lot::Mutex;

use crate::Error;
use crate::config::{DoublewriteMode, EngineConfig, PageSinkKind};
use crate::files::{Files, SpaceFile};
use crate::open::SYSTEM_SPACE;

/// The table option that says where the table's pages go.
const PAGE_SINK: &str = "PAGE_SINK";

/// Pages that a cleaner writes in one batch where no files bound it.
const BATCH_PAGES: usize = 128;

/// The sinks that there are, and which space has which.
pub(crate) struct Sinks {
    mode: Mutex<DoublewriteMode>,
    /// All but the last keep something in the doublewrite files; none if doublewrite is off.
    kinds: Option<Kinds>,
    off: Arc<Off>,
    out_of_place: Arc<OutOfPlace>,
    /// New tables that do not say it themselves are written out of place.
    prefers_out_of_place: AtomicBool,
    /// What was found about atomic writes, of the space that was asked last.
    atomic_writes: Mutex<Option<String>>,
}

struct Kinds {
    copies: Arc<Doublewrite>,
    ids: Arc<Doublewrite>,
    atomic: Arc<Atomic>,
}

/// What a server has found out about how its pages can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageSinkStatus {
    /// What writes the pages of tables: `doublewrite`, `doublewrite of ids`, `atomic` or `off`.
    pub name: &'static str,
    /// Whether pages could be written by atomic writes: `yes`, or why not; empty if no file was asked.
    pub atomic_writes: String,
}

impl Sinks {
    /// The doublewrite files, with their names.
    pub(crate) fn files(&self) -> Vec<(String, Arc<dyn File>)> {
        let kinds = self.kinds.iter();
        kinds.flat_map(|kinds| kinds.copies.files()).map(|(name, file)| (name, file.clone())).collect()
    }

    /// The sinks that the settings ask for. To be called after [`repair_torn`]: it gives the doublewrite
    /// files the shape that is wanted now, or removes them.
    pub(crate) fn open(config: &EngineConfig, files: &Files, log: &Arc<Log>) -> Result<Sinks, Error> {
        let directory = directory(config, files);
        let kinds = match config.doublewrite {
            DoublewriteMode::Off => {
                Doublewrite::remove_files(&*files.fs, directory)?;
                None
            }
            _ => {
                files.fs.create_dir_all(directory)?;
                Some(Kinds::open(config, files, log.id())?)
            }
        };
        if directory != files.datadir {
            Doublewrite::remove_files(&*files.fs, &files.datadir)?;
        }
        let mode = Mutex::new(config.doublewrite);
        let sinks = Sinks {
            mode,
            kinds,
            off: Arc::new(Off),
            out_of_place: OutOfPlace::new(log.clone()),
            prefers_out_of_place: AtomicBool::default(),
            atomic_writes: Mutex::default(),
        };
        sinks.set_kind(config.page_sink);
        Ok(sinks)
    }

    /// Pages of a batch.
    pub(crate) fn batch_pages(&self) -> usize {
        self.kinds.as_ref().map_or(BATCH_PAGES, |kinds| kinds.copies.batch_pages())
    }

    /// Where new tables go that do not say it themselves.
    pub(crate) fn set_kind(&self, kind: PageSinkKind) {
        self.prefers_out_of_place.store(kind == PageSinkKind::OutOfPlace, Ordering::Relaxed);
    }

    /// Where a new table of this definition goes.
    pub(crate) fn kind_for(&self, def: &TableDef) -> PageSinkKind {
        match def.option(PAGE_SINK) {
            Some(name) => PageSinkKind::named(name).unwrap_or_default(),
            None if self.prefers_out_of_place.load(Ordering::Relaxed) => PageSinkKind::OutOfPlace,
            None => PageSinkKind::InPlace,
        }
    }

    /// Makes new files a space and attaches it.
    pub(crate) fn create(
        &self,
        pool: &BufferPool,
        space: SpaceId,
        file: SpaceFile,
    ) -> Result<Arc<Space>, Error> {
        match file.map {
            None => Ok(self.attach(pool, space, file.pages)?),
            Some(map) => {
                let store = PlaceStore::create(space, file.pages, map, pool.page_size());
                Ok(pool.attach_places(store, &self.out_of_place)?)
            }
        }
    }

    /// Brings the places of the spaces that have a map to the end of the log, if there is one to be read, and
    /// attaches them. Gives those whose places cannot be known.
    ///
    /// Blocks; before redo.
    pub(crate) fn attach_placed(
        &self,
        pool: &BufferPool,
        log: &Log,
        reader: Option<&LogReader>,
        files: Vec<(SpaceId, SpaceFile)>,
    ) -> Result<HashMap<SpaceId, palisade_buffer::Error>, RecoverError> {
        let (mut stores, mut lost) = (HashMap::new(), HashMap::new());
        for (space, file) in files {
            let Some(map) = file.map else { continue };
            match PlaceStore::open(space, file.pages, map, pool.page_size()) {
                Ok(store) => drop(stores.insert(space, store)),
                Err(error) => drop(lost.insert(space, error)),
            }
        }
        if stores.is_empty() {
            return Ok(lost);
        }
        let mut reader = reader.map(LogReader::restarted);
        lost.extend(places::recover(reader.as_mut(), log, &stores, &self.out_of_place)?);
        for (space, store) in stores {
            if !lost.contains_key(&space)
                && let Err(error) = pool.attach_places(store, &self.out_of_place)
            {
                lost.insert(space, error);
            }
        }
        Ok(lost)
    }

    /// The log has been redone.
    pub(crate) fn redone(&self) {
        self.out_of_place.redone();
    }

    /// If the map of a space was made again: pages in no use may have got places of what they were before, and
    /// have none from now on. Before any of them is accessed. Blocks.
    pub(crate) fn forget_free_pages(&self, space: &Space) -> Result<(), Error> {
        let Some(places) = space.places().filter(|places| places.was_remade()) else { return Ok(()) };
        // Of blank pages at the end nothing was found that says that they are there.
        let usage = retry_blocking(|| alloc::usage(space))?;
        retry_blocking(|| space.ensure_allocated(usage.high_water))?;
        let free = retry_blocking(|| alloc::free_pages(space))?;
        Ok(self.out_of_place.forget(places, &free)?)
    }

    /// Attaches a space with the sink that the mode says. No other mode comes meanwhile.
    pub(crate) fn attach(
        &self,
        pool: &BufferPool,
        space: SpaceId,
        file: Arc<dyn File>,
    ) -> Result<Arc<Space>, palisade_buffer::Error> {
        let mode = self.mode.lock();
        pool.attach_space(space, file.clone(), self.of(*mode, space, &*file, pool.page_size()))
    }

    /// What writes the pages of a space.
    fn of(
        &self,
        mode: DoublewriteMode,
        space: SpaceId,
        file: &dyn File,
        size: PageSize,
    ) -> Arc<dyn PageSink> {
        let Some(kinds) = &self.kinds else { return self.off.clone() };
        let is_system = space == SYSTEM_SPACE || space == UNDO_SPACE;
        match mode {
            DoublewriteMode::DetectOnly if !is_system => kinds.ids.clone(),
            DoublewriteMode::Auto => {
                let found = file.atomic_writes(size.bytes());
                let text = found.map_or_else(|reason| reason.to_string(), |()| "yes".to_owned());
                *self.atomic_writes.lock() = Some(text);
                match found {
                    Ok(()) => kinds.atomic.clone(),
                    Err(_) => kinds.copies.clone(),
                }
            }
            _ => kinds.copies.clone(),
        }
    }

    /// Another mode for all spaces of the pool, from each one's next batch on; not from
    /// [`DoublewriteMode::Off`] nor to it.
    pub(crate) fn set_mode(&self, mode: DoublewriteMode, pool: &BufferPool) {
        let mut now = self.mode.lock();
        *now = mode;
        for space in pool.spaces().into_iter().filter(|space| space.places().is_none()) {
            pool.set_sink(&space, self.of(mode, space.id(), &**space.file(), pool.page_size()));
        }
    }

    pub(crate) fn status(&self) -> PageSinkStatus {
        let mode = *self.mode.lock();
        let atomic_writes = self.atomic_writes.lock().clone().unwrap_or_default();
        let (name, refusal): (&str, _) = match (&self.kinds, mode) {
            (None, _) => (self.off.name(), None),
            (Some(kinds), DoublewriteMode::DetectOnly) => (kinds.ids.name(), None),
            (Some(kinds), DoublewriteMode::Auto) if atomic_writes == "yes" => {
                (kinds.atomic.name(), kinds.atomic.refusal())
            }
            (Some(kinds), _) => (kinds.copies.name(), None),
        };
        PageSinkStatus { name, atomic_writes: refusal.map_or(atomic_writes, str::to_owned) }
    }
}

impl Kinds {
    fn open(config: &EngineConfig, files: &Files, log_id: u64) -> Result<Kinds, Error> {
        let area = AreaConfig {
            directory: directory(config, files).to_owned(),
            files: config.doublewrite_files.max(1),
            lanes: config.page_cleaners.max(1),
            pages: config.doublewrite_pages.max(1),
            page_size: config.page_size,
            log_id,
            syncing: config.flush_method.data_syncing(),
        };
        let copies = Arc::new(Doublewrite::open(&files.fs, &area)?);
        let ids = Arc::new(copies.keeping(Keeps::Ids));
        Ok(Kinds { atomic: Arc::new(Atomic::new(copies.clone())), copies, ids })
    }
}

/// Where the doublewrite files are.
fn directory<'a>(config: &'a EngineConfig, files: &'a Files) -> &'a Path {
    config.doublewrite_dir.as_deref().unwrap_or(&files.datadir)
}

/// After a crash, before redo and before any page is accessed: restores the pages that the machine was
/// writing when it stopped, and names those of which there is no copy. Redo has changes for each of these: it
/// begins with the page's format, or fails.
pub(crate) fn repair_torn(
    config: &EngineConfig,
    files: &Files,
    log: &Log,
    spaces: &mut SpaceFiles<'_>,
) -> Result<(), Error> {
    let others: Vec<PathBuf> =
        config.doublewrite_dir.iter().filter(|other| **other != files.datadir).cloned().collect();
    let directories = Directories { home: &files.datadir, others: &others, page_size: config.page_size };
    let repaired = repair(&*files.fs, directories, log.id(), log.checkpoint_lsn(), spaces);
    let repaired = repaired.map_err(|error| palisade_buffer::Error::Doublewrite(Arc::new(error)))?;
    if !repaired.pages.is_empty() {
        tracing::info!("torn pages restored from their copies: {}", repaired.pages.len());
    }
    for page in &repaired.torn {
        tracing::error!(
            "page {} of {} is torn: it was being written when the machine stopped, and innodb_doublewrite=DETECT_ONLY \
             keeps no copies",
            page.page.0,
            files.space_path(page.space).display()
        );
    }
    Ok(())
}
