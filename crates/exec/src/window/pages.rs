//! The rows of a partition that are too many for memory: in pages of a file, some of which are in memory.
//!
//! The functions of a window read a row, those with the same keys, and the two ends of a frame: places that
//! move on with the row, so that few pages serve many rows. They read as if all rows were there. Where the
//! page is not in memory the reading fails and leaves its number, and the caller has it
//! [loaded](Pages::load_wanted) and asks again.
//!
//! ```text
//!   place   0 ... 511 | 512 ... 1030 | 1031 ...        page = record: of each row its values and its slots
//!   page        0     |      1       |    2
//! ```

use std::cell::Cell;

use palisade_base::codec::Reader;
use palisade_catalog::{Value, ValueRef};
use palisade_expr::context::{Frame, values_size};
use palisade_expr::place::At;
use palisade_expr::{SqlAttempt, SqlError, SqlResult};
use palisade_session::work::Work;

use crate::ExecContext;
use crate::spill::merge::KeyPlace;
use crate::spill::row::{RowTables, SlotImage, append_values, read_values};
use crate::spill::{Run, RunReader, SpillFile, damaged};

/// Part of an operator's memory that the record of a page takes.
pub const PAGES_OF_MEMORY: usize = 64;
/// Bytes of the record of a page, at least and at most: in memory it takes up to three times as many, and
/// there are [many](LEAST_IN_MEMORY).
const LEAST_PAGE: usize = 4 << 10;
const LARGEST_PAGE: usize = 96 << 10;
/// Pages that are in memory at least: those that one function may read for one row, which may look for an end
/// of its frame by halves.
const LEAST_IN_MEMORY: usize = 64;

/// Rows in a file.
#[derive(Debug)]
pub struct Pages {
    file: SpillFile,
    tables: RowTables,
    /// Computed values of a row, and its slots.
    width: usize,
    slots: usize,
    memory: usize,
    pages: Vec<Page>,
    /// Rows in all of them.
    count: usize,
    /// A page has been given to the file, and its run has not been ended.
    is_ending: bool,
    /// The page that was read last.
    last: Cell<usize>,
    /// The page that is wanted and not in memory.
    wanted: Cell<Option<usize>>,
    loading: Option<RunReader>,
    /// Pages in memory, and about how many bytes they take.
    in_memory: Vec<usize>,
    bytes: usize,
    /// Counts readings.
    clock: Cell<u64>,
}

/// A page.
#[derive(Debug)]
struct Page {
    /// The place of its first row.
    first: usize,
    run: Run,
    content: Option<Box<Content>>,
    /// When it was read last.
    used: Cell<u64>,
}

/// A page in memory.
#[derive(Debug, Default)]
struct Content {
    values: Vec<Value>,
    slots: Vec<SlotImage>,
    record: Vec<u8>,
}

impl Content {
    /// Reads a record of rows with so many values and slots.
    fn read(record: &[u8], width: usize) -> SqlResult<Content> {
        let mut content = Content { record: record.to_vec(), ..Content::default() };
        let mut reader = Reader::new(record);
        while !reader.is_empty() {
            let before = content.values.len();
            read_values(&mut reader, &mut content.values)?;
            if content.values.len() != before + width {
                return Err(damaged());
            }
            let slots = reader.varint().map_err(|_| damaged())?;
            for _ in 0..slots {
                content.slots.push(SlotImage::read(&mut reader, record)?);
            }
        }
        Ok(content)
    }

    fn size(&self) -> usize {
        values_size(&self.values) + self.slots.len() * size_of::<SlotImage>() + self.record.len()
    }
}

impl Pages {
    /// Without rows yet, of rows with so many computed values and slots, for an operator that may take so
    /// many bytes.
    pub fn new(cx: &mut ExecContext<'_, '_>, (width, slots): (usize, usize), memory: usize) -> Pages {
        cx.execution.work.add(Work::CreatedTmpFiles, 1);
        Pages {
            file: SpillFile::new(cx.execution.engine, memory),
            tables: RowTables::default(),
            width,
            slots,
            memory,
            pages: Vec::new(),
            count: 0,
            is_ending: false,
            last: Cell::new(0),
            wanted: Cell::new(None),
            loading: None,
            in_memory: Vec::new(),
            bytes: 0,
            clock: Cell::new(0),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.count
    }

    /// About how many bytes of rows a page has.
    pub fn page_bytes(&self) -> usize {
        (self.memory / PAGES_OF_MEMORY).clamp(LEAST_PAGE, LARGEST_PAGE)
    }

    /// Makes room for the next page. May ask to wait, and is called again then before anything else.
    pub fn make_room(&mut self) -> SqlAttempt<()> {
        if self.is_ending {
            let run = self.file.end_run()?;
            if let Some(last) = self.pages.last_mut() {
                last.run = run;
            }
            self.is_ending = false;
        }
        Ok(())
    }

    /// Adds a page of so many rows, which `append` appends, each by [`append_row`]. [Room](Self::make_room)
    /// has been made for it.
    pub fn push(
        &mut self,
        rows: usize,
        append: impl FnOnce(&mut RowTables, &mut Vec<u8>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let tables = &mut self.tables;
        self.file.push(|out| append(tables, out))?;
        self.pages.push(Page { first: self.count, run: Run::default(), content: None, used: Cell::new(0) });
        self.count += rows;
        self.is_ending = true;
        Ok(())
    }

    /// All rows have been added. May ask to wait.
    pub fn settle(&mut self) -> SqlAttempt<()> {
        self.make_room()?;
        self.file.settle()
    }

    /// Whether a page is wanted that is not in memory.
    pub fn is_wanting(&self) -> bool {
        self.wanted.get().is_some()
    }

    /// Reads the page that is wanted, if one is. May ask to wait, and is called again then.
    pub fn load_wanted(&mut self, cx: &mut ExecContext<'_, '_>) -> SqlAttempt<()> {
        let Some(number) = self.wanted.get() else { return Ok(()) };
        let (file, run) = (&self.file, &self.pages.at(number)?.run);
        let reader = self.loading.get_or_insert_with(|| RunReader::new(run.clone(), file));
        let record = reader.next(file)?.ok_or_else(damaged)?;
        let content = Content::read(reader.bytes(record)?, self.width)?;
        (self.loading, self.bytes) = (None, self.bytes + content.size());
        self.pages.at_mut(number)?.content = Some(Box::new(content));
        self.pages.at(number)?.used.set(self.clock.get());
        self.in_memory.push(number);
        self.wanted.set(None);
        while self.bytes > self.memory / 4 && self.in_memory.len() > LEAST_IN_MEMORY {
            self.drop_oldest()?;
        }
        Ok(cx.session.charge(self.bytes)?)
    }

    /// Takes the page out of memory that has not been read for the longest time.
    fn drop_oldest(&mut self) -> SqlResult<()> {
        let used = |number: &usize| self.pages.get(*number).map(|page| page.used.get());
        let oldest = self.in_memory.iter().enumerate().min_by_key(|(_, number)| used(number));
        let Some((place, number)) = oldest.map(|(place, number)| (place, *number)) else { return Ok(()) };
        self.in_memory.swap_remove(place);
        let content = self.pages.at_mut(number)?.content.take();
        self.bytes = self.bytes.saturating_sub(content.map_or(0, |content| content.size()));
        Ok(())
    }

    /// The page of a row, and which of its rows that is.
    fn find(&self, place: usize) -> SqlResult<(usize, usize)> {
        let has = |number: usize| {
            let first = self.pages.get(number).map(|page| page.first);
            let next = self.pages.get(number + 1).map_or(self.count, |page| page.first);
            first.filter(|first| *first <= place && place < next)
        };
        let last = self.last.get();
        if let Some(first) = has(last) {
            return Ok((last, place - first));
        }
        let number = self.pages.partition_point(|page| page.first <= place).saturating_sub(1);
        let first = has(number).ok_or_else(|| SqlError::internal("a partition has the row"))?;
        self.last.set(number);
        Ok((number, place - first))
    }

    /// The content of the page of a row, and which of its rows that is; fails if it is not in memory.
    fn content(&self, place: usize) -> SqlResult<(&Content, usize)> {
        let (number, row) = self.find(place)?;
        let page = self.pages.at(number)?;
        self.clock.set(self.clock.get() + 1);
        page.used.set(self.clock.get());
        Ok((page.content.as_ref().ok_or_else(|| self.want(number))?, row))
    }

    /// A value of a row; fails if its page is not in memory.
    pub fn value(&self, place: usize, value: KeyPlace) -> SqlResult<ValueRef<'_>> {
        let (content, row) = self.content(place)?;
        match value {
            KeyPlace::Kept { number, column } => {
                let slot = content.slots.at(row * self.slots + number)?;
                slot.value(&content.record, &self.tables, column)
            }
            KeyPlace::Computed(computed) => Ok(content.values.at(row * self.width + computed)?.as_ref()),
        }
    }

    /// Makes a row current. Fails if its page is not in memory.
    pub fn show(&self, place: usize, slots: &[usize], frame: &mut Frame) -> SqlResult<()> {
        let (content, row) = self.content(place)?;
        let images = content.slots.part(row * self.slots..(row + 1) * self.slots)?;
        for (image, slot) in images.iter().zip(slots) {
            image.show(&content.record, &self.tables, frame.slots.at_mut(*slot)?)?;
        }
        Ok(())
    }

    /// The page is wanted. The error is not shown: the page is loaded, and the row asked for again.
    fn want(&self, number: usize) -> SqlError {
        self.wanted.set(Some(number));
        SqlError::internal("a page of a partition is not in memory")
    }
}

/// Appends a row to the record of a page: its values, how many slots, and what `append_slots` appends of
/// these.
pub fn append_row(
    values: &[Value],
    slots: usize,
    out: &mut Vec<u8>,
    append_slots: impl FnOnce(&mut Vec<u8>) -> SqlResult<()>,
) -> SqlResult<()> {
    append_values(values, out);
    palisade_base::codec::put_varint(out, slots as u64);
    append_slots(out)
}
