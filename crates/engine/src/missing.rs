//! Tables whose files are not there: somebody has removed them, or their disk has not been mounted.
//!
//! The log may speak of a space without a file for two reasons: its table has been dropped, or the file is
//! missing. The dictionary tells them apart, and it is known only when redo has been applied. Until then the
//! checkpoint stays where it is, and nothing has been lost. If a table of the dictionary turns out to be the
//! one, the engine does not open, and the file can be put back. A missing file that the log has nothing for
//! keeps only its own table from being used.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use palisade_base::{Lsn, SpaceId};
use palisade_catalog::TableDef;
use palisade_io::File;
use palisade_log::Log;

use crate::Error;
use crate::files::Files;

/// Spaces that the log speaks of and that have no file.
#[derive(Default)]
pub(crate) struct Orphaned {
    spaces: BTreeSet<SpaceId>,
    /// Whether there was anything to redo: the server was not shut down.
    pub(crate) had_redo: bool,
    /// The log, whose checkpoint does not pass the LSN.
    held: Option<(Arc<Log>, Lsn)>,
}

impl Orphaned {
    /// The log, which is being read, speaks of `space`. Checkpoints wait from now on.
    pub(crate) fn note(&mut self, space: SpaceId, log: &Arc<Log>) {
        self.spaces.insert(space);
        self.held.get_or_insert_with(|| {
            let lsn = log.checkpoint_lsn();
            log.register_dirty(lsn);
            (log.clone(), lsn)
        });
    }

    /// The dictionary has these tables. An error if a space is one of theirs, unless the changes
    /// `may_be_lost`; otherwise checkpoints go on. Nothing may be logged before this, as the log may be full.
    /// `lost_places` are spaces that have a file, and of which it cannot be known where their pages are.
    pub(crate) fn settle(
        self,
        tables: &[TableDef],
        files: &Files,
        lost_places: &HashMap<SpaceId, palisade_buffer::Error>,
        may_be_lost: bool,
    ) -> Result<(), Error> {
        let spaces = tables.iter().flat_map(|table| table.spaces().map(move |space| (table, space)));
        for (table, space) in spaces.filter(|(_, space)| self.spaces.contains(space)) {
            let path = files.space_path(space);
            let (is, remedy) = match lost_places.get(&space) {
                None => ("is missing".to_owned(), "put it back, or give these changes up"),
                Some(error) => {
                    let remedy = "put its map back, or have it made again from the pages";
                    (format!("cannot be used ({error})"), remedy)
                }
            };
            let what = format!(
                "the file {} of table `{}`.`{}` {is}, and the redo log has changes for it",
                path.display(),
                table.schema,
                table.name
            );
            if !may_be_lost {
                return Err(Error::Unusable(format!("{what}: {remedy} with innodb_force_recovery=1")));
            }
            tracing::warn!("{what}, which are lost");
        }
        if let Some((log, lsn)) = self.held {
            log.unregister_dirty(lsn);
        }
        Ok(())
    }
}

/// Stands for a file that is missing: it has no pages, and does not come into being.
pub(crate) struct MissingFile;

fn missing<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::NotFound, "the file is missing"))
}

impl File for MissingFile {
    fn read_at(&self, _: &mut [u8], _: u64) -> io::Result<()> {
        missing()
    }

    fn write_at(&self, _: &[u8], _: u64) -> io::Result<()> {
        missing()
    }

    fn sync(&self) -> io::Result<()> {
        missing()
    }

    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn allocated(&self) -> io::Result<u64> {
        missing()
    }

    fn set_len(&self, _: u64) -> io::Result<()> {
        missing()
    }

    fn allocate(&self, _: u64, _: u64) -> io::Result<()> {
        missing()
    }

    fn punch_hole(&self, _: u64, _: u64) -> io::Result<()> {
        missing()
    }

    fn alignment(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_catalog::PartitionDef;

    use crate::EngineConfig;
    use crate::tests::harness::*;

    #[test]
    fn no_checkpoint_passes_what_was_noted_until_the_dictionary_is_known() {
        let config = EngineConfig { background: false, ..quiet() };
        let engine = crate::Engine::open(config, memory()).unwrap();
        create_schema(&engine);
        let t = create_table(&engine, definition("t"));
        let mut client = Client::new(&engine, &t);
        let mut lost = t.def().clone();
        lost.partitions = vec![PartitionDef::sole(SpaceId(99))];
        let mut id = 0;
        let mut checkpoint = || {
            for _ in 0..20 {
                id += 1;
                client.insert(&Row::new(id, id, None, &[1; 3000])).unwrap();
                client.commit();
            }
            engine.pool.checkpoint_sharply().unwrap();
            engine.log.checkpoint_lsn()
        };
        for is_dropped in [true, false] {
            let begin = checkpoint();
            let mut orphaned = Orphaned::default();
            orphaned.note(SpaceId(99), &engine.log);
            orphaned.note(SpaceId(98), &engine.log);
            assert_eq!(checkpoint(), begin);
            let tables = if is_dropped { vec![t.def().clone()] } else { vec![lost.clone()] };
            assert_eq!(orphaned.settle(&tables, &engine.files, &HashMap::new(), false).is_ok(), is_dropped);
            assert_eq!(checkpoint() > begin, is_dropped, "what is refused stays in the log");
        }
    }
}
