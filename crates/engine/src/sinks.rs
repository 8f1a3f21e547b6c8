//! How the pages of each space reach disk.

use std::sync::Arc;

use palisade_base::{Lsn, SpaceId};
use palisade_buffer::sink::SpaceFiles;
use palisade_buffer::{Doublewrite, Off, PageSink};

use crate::Error;
use crate::config::EngineConfig;
use crate::files::Files;

/// Pages that a cleaner writes in one batch (`innodb_doublewrite_pages`).
const DOUBLEWRITE_PAGES: usize = 128;

/// The sinks that there are, and which space has which.
pub(crate) struct Sinks {
    doublewrite: Option<Arc<Doublewrite>>,
    sink: Arc<dyn PageSink>,
}

impl Sinks {
    /// The sinks that the settings ask for.
    pub(crate) fn open(config: &EngineConfig, files: &Files) -> Result<Sinks, Error> {
        if !config.doublewrite {
            return Ok(Sinks { doublewrite: None, sink: Arc::new(Off) });
        }
        let (lanes, syncing) = (config.page_cleaners.max(1), config.flush_method.data_syncing());
        let opened = Doublewrite::open(&files.fs, &files.datadir, lanes, DOUBLEWRITE_PAGES, syncing)?;
        let doublewrite = Arc::new(opened);
        Ok(Sinks { sink: doublewrite.clone(), doublewrite: Some(doublewrite) })
    }

    /// Pages of a batch.
    pub(crate) fn batch_pages(&self) -> usize {
        DOUBLEWRITE_PAGES
    }

    /// What writes the pages of a space.
    pub(crate) fn of(&self, _space: SpaceId) -> Arc<dyn PageSink> {
        self.sink.clone()
    }

    /// After a crash, before redo and before any page is accessed: restores torn pages.
    pub(crate) fn repair(&self, checkpoint: Lsn, files: &mut SpaceFiles<'_>) -> Result<(), Error> {
        if let Some(doublewrite) = &self.doublewrite {
            let failed = |error| palisade_buffer::Error::Doublewrite(Arc::new(error));
            doublewrite.repair(checkpoint, files).map_err(failed)?;
        }
        Ok(())
    }
}
