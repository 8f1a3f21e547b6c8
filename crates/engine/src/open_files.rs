//! The files that are open, and what was done to them: performance_schema.file_instances and
//! file_summary_by_instance.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_io::File;
use palisade_io::counts::{FileUse, FileWork, total};

use crate::engine::Engine;
use crate::metadata::TableName;

/// A file that is open.
pub struct OpenFile {
    /// Its path.
    pub path: PathBuf,
    /// What it is for.
    pub of: FileUse,
    file: Arc<dyn File>,
}

impl OpenFile {
    /// What was done to it since it was opened, or [reset](Self::reset).
    pub fn work(&self) -> FileWork {
        self.file.counts().map_or_else(FileWork::default, |counts| counts.work())
    }

    /// Begins to count anew.
    pub fn reset(&self) {
        if let Some(counts) = self.file.counts() {
            counts.reset();
        }
    }
}

/// What was done to all files of a use since the process began, or [reset](reset_file_totals).
pub fn file_total(of: FileUse) -> FileWork {
    total(of).work()
}

/// The totals begin at 0 again.
pub fn reset_file_totals() {
    [FileUse::Data, FileUse::Log, FileUse::Doublewrite].into_iter().for_each(|of| total(of).reset());
}

impl Engine {
    /// Files of pages, of the redo log and of the doublewrite area. Maps of where pages are, and temporary
    /// files, are not among them.
    pub fn list_open_files(&self) -> Vec<OpenFile> {
        let directory =
            |configured: &Option<PathBuf>| configured.clone().unwrap_or(self.files.datadir.clone());
        let doublewrite = directory(&self.config.doublewrite_dir);
        let copies = self.sinks.files().into_iter();
        let copies = copies.map(|(name, file)| (doublewrite.join(name), FileUse::Doublewrite, file));
        let log = self.log.files().into_iter().map(|(path, file)| (path, FileUse::Log, file));
        let data = self.pool.files().into_iter();
        let data = data.map(|(space, file)| (self.files.space_path(space), FileUse::Data, file));
        data.chain(log).chain(copies).map(|(path, of, file)| OpenFile { path, of, file }).collect()
    }

    /// The table that a file of pages, or of their places, is of.
    pub fn table_of_file(&self, path: &Path) -> Option<TableName> {
        let space = self.files.space_of_path(path)?;
        self.dictionary().table_of_space(space).cloned()
    }
}
