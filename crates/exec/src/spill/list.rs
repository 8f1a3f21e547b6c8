//! A list of rows, read from the first to the last as often as needed: in memory while they are few, and in a
//! file beyond that.

use palisade_base::codec::Reader;
use palisade_expr::context::values_size;
use palisade_expr::{SqlAttempt, SqlError};
use palisade_session::work::Work;

use super::row::{append_values, read_values};
use super::{Run, RunReader, SpillFile};
use crate::{ExecContext, KeptRow};

/// Part of an operator's memory that rows take before they are written, once there is a file.
const WAITING_OF_MEMORY: usize = 64;

/// How often it is looked at how much memory there may be, until that is used up.
const LOOKS: usize = 256;

/// About how many bytes a row takes beside its values.
const OF_ROW: usize = 64 + size_of::<KeptRow>();

/// Rows of computed values.
#[derive(Debug, Default)]
pub struct RowList {
    /// The rows that are in memory: all, or those that are not in the file yet.
    rows: Vec<KeptRow>,
    /// About how many bytes these take.
    bytes: usize,
    /// How many of them have been given to the file.
    written: usize,
    /// So many bytes of rows may be in memory without another look at how many those may be.
    allowed: usize,
    file: Option<Box<SpillFile>>,
    /// What is in the file, once all rows are.
    run: Run,
    cursor: RowCursor,
}

/// A place in a list of rows.
#[derive(Debug, Default)]
pub struct RowCursor {
    next: usize,
    reader: Option<RunReader>,
}

impl RowCursor {
    /// The next row of the [finished](RowList::finish) list. May ask to wait.
    pub fn next_row(&mut self, list: &RowList) -> SqlAttempt<Option<KeptRow>> {
        self.next_of(&list.rows, list.file.as_deref(), &list.run)
    }

    fn next_of(
        &mut self,
        rows: &[KeptRow],
        file: Option<&SpillFile>,
        run: &Run,
    ) -> SqlAttempt<Option<KeptRow>> {
        let Some(file) = file else {
            self.next += 1;
            return Ok(rows.get(self.next - 1).cloned());
        };
        let reader = self.reader.get_or_insert_with(|| RunReader::new(run.clone(), file));
        let Some(record) = reader.next(file)? else { return Ok(None) };
        let mut values = Vec::new();
        read_values(&mut Reader::new(reader.bytes(record)?), &mut values)?;
        Ok(Some(values.into()))
    }
}

impl RowList {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        *self = RowList::default();
    }

    /// Adds a row.
    pub fn push(&mut self, row: KeptRow) {
        self.bytes += OF_ROW + values_size(&row);
        self.rows.push(row);
    }

    /// All rows, if they are in memory.
    pub fn in_memory(&self) -> Option<&[KeptRow]> {
        self.file.is_none().then_some(&self.rows)
    }

    /// Is called after each row that was added: goes to the file if there are too many. May ask to wait, and
    /// is called again then before anything else.
    pub fn make_room(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        if self.bytes <= self.allowed {
            return Ok(());
        }
        let memory = cx.session.operator_memory(cx.session.variables.tmp_table_size);
        // Once there is a file, few rows wait for it.
        let most = if self.file.is_some() { memory / WAITING_OF_MEMORY } else { memory };
        if self.written == 0 && self.bytes <= most {
            self.allowed = most.min(self.bytes + most / LOOKS);
            return Ok(cx.session.charge(self.bytes)?);
        }
        self.allowed = 0;
        if self.file.is_none() {
            cx.execution.work.add(Work::CreatedTmpDiskTables, 1);
            cx.execution.work.add(Work::CreatedTmpFiles, 1);
            self.file = Some(Box::new(SpillFile::new(cx.execution.engine, memory)));
        }
        self.write_rows(cx)
    }

    /// All rows have been added: once. May ask to wait, and is called again then.
    pub fn finish(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        if self.file.is_some() {
            self.write_rows(cx)?;
        }
        if let Some(file) = &mut self.file {
            self.run = file.finish()?;
        }
        Ok(())
    }

    fn write_rows(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        while let Some(row) = self.rows.get(self.written) {
            file.make_room()?;
            file.push(|out| {
                append_values(row, out);
                Ok::<_, SqlError>(())
            })?;
            self.written += 1;
            cx.take_turns(1)?;
        }
        file.make_room()?;
        self.rows = Vec::new();
        (self.written, self.bytes) = (0, 0);
        Ok(())
    }

    /// Goes back before the first row.
    pub fn rewind(&mut self) {
        self.cursor = RowCursor::default();
    }

    /// The next row of the [finished](Self::finish) list. May ask to wait.
    pub fn next_row(&mut self) -> SqlAttempt<Option<KeptRow>> {
        self.cursor.next_of(&self.rows, self.file.as_deref(), &self.run)
    }
}
