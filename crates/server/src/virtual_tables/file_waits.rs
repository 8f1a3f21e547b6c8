//! What is done to files, and waits that are counted: file_instances, file_summary_by_instance and
//! _by_event_name, events_waits_summary_global_by_event_name.
//!
//! Reads, writes, syncs and bytes are counted where they are done ([`palisade_engine::FileWork`]). Of times
//! only those of the redo log's syncs are measured; the others are 0, as in MySQL for an instrument that is
//! not timed.

use palisade_catalog::Value;
use palisade_engine::{
    AccessCounts, FileUse, FileWork, OpenFile, TableAccess, file_total, reset_file_totals,
};
use palisade_schema::{Rows, Wanted, virtual_table};

use super::{Definition, Source, Tables, of_each, text};

pub(super) static TABLES: Tables = &[
    Definition::new(&file_instances::DECL, |source, wanted| {
        of_each(files(source), file_instances::row, wanted)
    }),
    Definition::new(&file_summary_by_instance::DECL, |source, wanted| {
        of_each(files(source), file_summary_by_instance::row, wanted)
    })
    .truncated_by(reset_files),
    Definition::new(&file_summary_by_event_name::DECL, |_, wanted| {
        of_each(USES.map(FileSubject::of_use), file_summary_by_event_name::row, wanted)
    })
    .truncated_by(|_| reset_file_totals()),
    Definition::new(&events_waits_summary_global_by_event_name::DECL, waits).truncated_by(|source| {
        reset_file_totals();
        reset_files(source);
    }),
];

const USES: [FileUse; 3] = [FileUse::Data, FileUse::Log, FileUse::Doublewrite];

fn event_name(of: FileUse) -> &'static str {
    match of {
        FileUse::Data => "wait/io/file/innodb/innodb_data_file",
        FileUse::Log => "wait/io/file/innodb/innodb_log_file",
        FileUse::Doublewrite => "wait/io/file/innodb/innodb_dblwr_file",
    }
}

/// What is not timed.
fn zero() -> Value {
    Value::UInt(0)
}

/// A file, or all of a use.
struct FileSubject {
    path: String,
    of: FileUse,
    number: u64,
    work: FileWork,
}

impl FileSubject {
    fn of_use(of: FileUse) -> FileSubject {
        FileSubject { path: String::new(), of, number: 0, work: file_total(of) }
    }

    /// In picoseconds.
    fn sync_time(&self) -> Value {
        Value::UInt(self.work.sync_ns.saturating_mul(1000))
    }

    fn mean_sync_time(&self) -> Value {
        Value::UInt(self.work.sync_ns.saturating_mul(1000).checked_div(self.work.syncs).unwrap_or(0))
    }
}

fn files(source: &Source<'_>) -> Vec<FileSubject> {
    let subject = |(number, file): (u64, OpenFile)| FileSubject {
        path: file.path.display().to_string(),
        of: file.of,
        number,
        work: file.work(),
    };
    (1..).zip(source.host.engine.list_open_files()).map(subject).collect()
}

fn reset_files(source: &Source<'_>) {
    source.host.engine.list_open_files().iter().for_each(OpenFile::reset);
}

virtual_table! {
    mod file_instances = "performance_schema"."file_instances" of |it: FileSubject| {
        FILE_NAME: varchar(512) in utf8mb4_0900_ai_ci not null key PRI => text(&it.path),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL => text(event_name(it.of)),
        OPEN_COUNT: int_unsigned not null => Value::UInt(1),
    }
}

virtual_table! {
    mod file_summary_by_instance = "performance_schema"."file_summary_by_instance" of |it: FileSubject| {
        FILE_NAME: varchar(512) in utf8mb4_0900_ai_ci not null key MUL => text(&it.path),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL => text(event_name(it.of)),
        OBJECT_INSTANCE_BEGIN: bigint_unsigned not null key PRI => Value::UInt(it.number),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.work.count()),
        SUM_TIMER_WAIT: bigint_unsigned not null => it.sync_time(),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => zero(),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
        COUNT_READ: bigint_unsigned not null => Value::UInt(it.work.reads),
        SUM_TIMER_READ: bigint_unsigned not null => zero(),
        MIN_TIMER_READ: bigint_unsigned not null => zero(),
        AVG_TIMER_READ: bigint_unsigned not null => zero(),
        MAX_TIMER_READ: bigint_unsigned not null => zero(),
        SUM_NUMBER_OF_BYTES_READ: bigint not null => Value::UInt(it.work.bytes_read),
        COUNT_WRITE: bigint_unsigned not null => Value::UInt(it.work.writes),
        SUM_TIMER_WRITE: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE: bigint_unsigned not null => zero(),
        SUM_NUMBER_OF_BYTES_WRITE: bigint not null => Value::UInt(it.work.bytes_written),
        COUNT_MISC: bigint_unsigned not null => Value::UInt(it.work.syncs),
        SUM_TIMER_MISC: bigint_unsigned not null => it.sync_time(),
        MIN_TIMER_MISC: bigint_unsigned not null => zero(),
        AVG_TIMER_MISC: bigint_unsigned not null => it.mean_sync_time(),
        MAX_TIMER_MISC: bigint_unsigned not null => zero(),
    }
}

virtual_table! {
    mod file_summary_by_event_name = "performance_schema"."file_summary_by_event_name" of |it: FileSubject| {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(event_name(it.of)),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.work.count()),
        SUM_TIMER_WAIT: bigint_unsigned not null => it.sync_time(),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => zero(),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
        COUNT_READ: bigint_unsigned not null => Value::UInt(it.work.reads),
        SUM_TIMER_READ: bigint_unsigned not null => zero(),
        MIN_TIMER_READ: bigint_unsigned not null => zero(),
        AVG_TIMER_READ: bigint_unsigned not null => zero(),
        MAX_TIMER_READ: bigint_unsigned not null => zero(),
        SUM_NUMBER_OF_BYTES_READ: bigint not null => Value::UInt(it.work.bytes_read),
        COUNT_WRITE: bigint_unsigned not null => Value::UInt(it.work.writes),
        SUM_TIMER_WRITE: bigint_unsigned not null => zero(),
        MIN_TIMER_WRITE: bigint_unsigned not null => zero(),
        AVG_TIMER_WRITE: bigint_unsigned not null => zero(),
        MAX_TIMER_WRITE: bigint_unsigned not null => zero(),
        SUM_NUMBER_OF_BYTES_WRITE: bigint not null => Value::UInt(it.work.bytes_written),
        COUNT_MISC: bigint_unsigned not null => Value::UInt(it.work.syncs),
        SUM_TIMER_MISC: bigint_unsigned not null => it.sync_time(),
        MIN_TIMER_MISC: bigint_unsigned not null => zero(),
        AVG_TIMER_MISC: bigint_unsigned not null => it.mean_sync_time(),
        MAX_TIMER_MISC: bigint_unsigned not null => zero(),
    }
}

/// A kind of waits: its name, how many there were, and picoseconds that they took.
type WaitSubject = (&'static str, u64, u64);

fn waits(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let dictionary = source.host.engine.dictionary();
    let (mut rows, mut uses) = (AccessCounts::default(), 0);
    for table in dictionary.all_tables() {
        let usage = table.usage();
        let places = (0..table.indexes.len()).map(Some).chain([None]);
        rows = places.fold(rows, |sum, index| sum + usage.counts(index));
        uses += usage.uses(TableAccess::Read) + usage.uses(TableAccess::Write);
    }
    let files = USES.map(|of| {
        let work = file_total(of);
        (event_name(of), work.count(), work.sync_ns.saturating_mul(1000))
    });
    let tables = [("wait/io/table/sql/handler", rows.all(), 0), ("wait/lock/table/sql/handler", uses, 0)];
    of_each(files.into_iter().chain(tables), events_waits_summary_global_by_event_name::row, wanted)
}

virtual_table! {
    mod events_waits_summary_global_by_event_name = "performance_schema"."events_waits_summary_global_by_event_name" of |it: WaitSubject| {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(it.0),
        COUNT_STAR: bigint_unsigned not null => Value::UInt(it.1),
        SUM_TIMER_WAIT: bigint_unsigned not null => Value::UInt(it.2),
        MIN_TIMER_WAIT: bigint_unsigned not null => zero(),
        AVG_TIMER_WAIT: bigint_unsigned not null => Value::UInt(it.2.checked_div(it.1).unwrap_or(0)),
        MAX_TIMER_WAIT: bigint_unsigned not null => zero(),
    }
}
