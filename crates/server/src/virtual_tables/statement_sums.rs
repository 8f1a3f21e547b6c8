//! What statements did together: by digest, and by class for the server, sessions, accounts, users and hosts.

use std::sync::Arc;

use palisade_catalog::{Timestamp, Value};
use palisade_observe::class::{self, Class};
use palisade_observe::digests::DigestRow;
use palisade_observe::histogram::{BUCKETS, Counts, bounds_ps};
use palisade_observe::sums::{Number, Sums};
use palisade_observe::tally::{Family, Tally};
use palisade_schema::{Rows, Wanted, virtual_table};

use super::{Definition, Source, Tables, of_each, optional_text, text};
use crate::connections::Connection;
use crate::instruments::people::{AccountKey, Overview, Reset};

pub(super) static TABLES: Tables = &[
    Definition::new(&by_digest::DECL, digests)
        .truncated_by(|source| source.host.instruments.digests.truncate()),
    Definition::new(&histogram_by_digest::DECL, histograms)
        .truncated_by(|source| source.host.instruments.digests.truncate_histograms()),
    Definition::new(&histogram_global::DECL, |source, wanted| {
        of_each(buckets(&source.host.instruments.digests.all()), histogram_global::row, wanted)
    })
    .truncated_by(|source| source.host.instruments.digests.truncate_all()),
    Definition::new(&global_by_class::DECL, |source, wanted| {
        let tally = overview(source).all();
        of_each(classes(Who::default(), tally), global_by_class::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Statements, Reset::All)),
    Definition::new(&by_session::DECL, |source, wanted| {
        let sessions = overview(source).sessions.into_iter();
        let of =
            |(connection, _, tally): (Arc<Connection>, _, Tally)| classes(Who::thread(connection.id), tally);
        of_each(sessions.flat_map(of), by_session::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Statements, Reset::Sessions)),
    Definition::new(&by_account::DECL, |source, wanted| {
        let accounts = overview(source).accounts().into_iter();
        let of = |(key, _, tally)| classes(Who::account(key), tally);
        of_each(accounts.flat_map(of), by_account::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Statements, Reset::Accounts)),
    Definition::new(&by_user::DECL, |source, wanted| {
        let users = overview(source).users().into_iter();
        let of = |(user, _, tally)| classes(Who::user(user), tally);
        of_each(users.flat_map(of), by_user::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Statements, Reset::Users)),
    Definition::new(&by_host::DECL, |source, wanted| {
        let hosts = overview(source).hosts().into_iter();
        let of = |(host, _, tally)| classes(Who::host(host), tally);
        of_each(hosts.flat_map(of), by_host::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Statements, Reset::Hosts)),
    Definition::empty(&by_program::DECL).truncated_by(|_| ()),
];

/// Who is and was connected, with what they have counted.
pub(super) fn overview(source: &Source<'_>) -> Overview {
    let connections = &source.host.connections;
    connections.people.overview(&connections.admitted())
}

/// TRUNCATE of a table of sums.
pub(super) fn reset(source: &Source<'_>, family: Family, reset: Reset) {
    let connections = &source.host.connections;
    connections.people.reset(&connections.admitted(), family, reset);
}

/// Whose sums they are: the server's, unless it says otherwise.
#[derive(Debug, Clone, Default)]
pub(super) struct Who {
    pub(super) thread: u64,
    pub(super) user: Option<String>,
    pub(super) host: Option<String>,
}

impl Who {
    /// A session's.
    pub(super) fn thread(thread: u64) -> Who {
        Who { thread, ..Who::default() }
    }

    /// An account's.
    pub(super) fn account(key: AccountKey) -> Who {
        Who { user: Some(key.user), host: Some(key.host), thread: 0 }
    }

    /// A user's.
    pub(super) fn user(user: String) -> Who {
        Who { user: Some(user), ..Who::default() }
    }

    /// A host's.
    pub(super) fn host(host: String) -> Who {
        Who { host: Some(host), ..Who::default() }
    }
}

/// The sums of a class.
struct SumsSubject {
    who: Who,
    class: Class,
    sums: Sums,
}

/// A row for each class, as in MySQL; what stands for statements of which the class is not known yet is none.
fn classes(who: Who, tally: Tally) -> impl Iterator<Item = SumsSubject> + Send {
    let known = class::all().filter(|class| !class::name(*class).starts_with("statement/abstract/"));
    known.map(move |class| SumsSubject { who: who.clone(), class, sums: tally.statements.of(class) })
}

/// Nanoseconds, in MySQL's unit.
pub(super) fn picoseconds(ns: u64) -> Value {
    Value::UInt(ns.saturating_mul(1000))
}

/// A digest's row.
struct DigestSubject {
    row: DigestRow,
    sums: Sums,
    /// Microseconds since 1970 when the server began.
    began_micros: i64,
}

impl DigestSubject {
    fn moment(&self, ns: u64) -> Value {
        Value::Timestamp(Timestamp(self.began_micros.saturating_add((ns / 1000) as i64)))
    }

    fn sample_moment(&self) -> Value {
        self.row.sample.as_ref().map_or(Value::Timestamp(Timestamp(0)), |sample| self.moment(sample.ended_ns))
    }

    fn sample_text(&self) -> Value {
        self.row.sample.as_ref().map_or(Value::Null, |sample| lossy(&sample.text))
    }

    fn sample_wait(&self) -> Value {
        picoseconds(self.row.sample.as_ref().map_or(0, |sample| sample.wait_ns))
    }
}

/// A text of a client, which may have been in any character set.
pub(super) fn lossy(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(whole) => text(whole),
        Err(_) => text(String::from_utf8_lossy(bytes)),
    }
}

/// What a digest is told by, in hexadecimal digits.
pub(super) fn shown_hash(digest: &palisade_observe::digests::Digest) -> Value {
    let digit = |half: u8| half + if half < 10 { b'0' } else { b'a' - 10 };
    let mut digits = [0; 64];
    for (place, byte) in digits.chunks_exact_mut(2).zip(&digest.hash) {
        place.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
    }
    Value::bytes(digits.as_slice())
}

fn schema_of(row: &DigestRow) -> Value {
    optional_text(row.digest.as_ref().and_then(|digest| digest.schema.as_deref()))
}

fn hash_of(row: &DigestRow) -> Value {
    row.digest.as_ref().map_or(Value::Null, |digest| shown_hash(digest))
}

fn digests(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let instruments = &source.host.instruments;
    let began_micros = instruments.unix_micros_of(0);
    let subject = move |mut row: DigestRow| {
        let sums = std::mem::take(&mut row.sums);
        DigestSubject { row, sums, began_micros }
    };
    of_each(instruments.digests.rows().map(subject), by_digest::row, wanted)
}

/// A bucket of a histogram.
struct BucketSubject {
    number: usize,
    count: u64,
    /// In this bucket and those before it.
    lower: u64,
    total: u64,
    schema: Value,
    hash: Value,
}

impl BucketSubject {
    fn quantile(&self) -> Value {
        Value::Double(if self.total == 0 { 0.0 } else { self.lower as f64 / self.total as f64 })
    }
}

fn buckets(counts: &Counts) -> Vec<BucketSubject> {
    let (total, mut lower) = (counts.total(), 0);
    let bucket = |number| {
        let count = counts.of(number);
        lower += count;
        BucketSubject { number, count, lower, total, schema: Value::Null, hash: Value::Null }
    };
    (0..BUCKETS).map(bucket).collect()
}

fn histograms(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let of = |row: DigestRow| {
        let (schema, hash) = (schema_of(&row), hash_of(&row));
        let buckets = buckets(&row.counts).into_iter();
        buckets.map(move |bucket| BucketSubject { schema: schema.clone(), hash: hash.clone(), ..bucket })
    };
    of_each(source.host.instruments.digests.rows().flat_map(of), histogram_by_digest::row, wanted)
}

/// A table of sums: its own columns, those that all such tables have, and maybe more.
macro_rules! sums_table {
    (
        $(#[$doc:meta])*
        mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* } { $($more:tt)* }
    ) => {
        virtual_table! {
            $(#[$doc])*
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                COUNT_STAR: bigint_unsigned not null => Value::UInt($it.sums.count),
                SUM_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.sums.wait_ns),
                MIN_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.sums.min_ns),
                AVG_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.sums.average_ns()),
                MAX_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.sums.max_ns),
                SUM_LOCK_TIME: bigint_unsigned not null => picoseconds($it.sums.get(Number::LockTime)),
                SUM_ERRORS: bigint_unsigned not null => Value::UInt($it.sums.get(Number::Errors)),
                SUM_WARNINGS: bigint_unsigned not null => Value::UInt($it.sums.get(Number::Warnings)),
                SUM_ROWS_AFFECTED: bigint_unsigned not null => Value::UInt($it.sums.get(Number::RowsAffected)),
                SUM_ROWS_SENT: bigint_unsigned not null => Value::UInt($it.sums.get(Number::RowsSent)),
                SUM_ROWS_EXAMINED: bigint_unsigned not null => Value::UInt($it.sums.get(Number::RowsExamined)),
                SUM_CREATED_TMP_DISK_TABLES: bigint_unsigned not null => Value::UInt($it.sums.get(Number::CreatedTmpDiskTables)),
                SUM_CREATED_TMP_TABLES: bigint_unsigned not null => Value::UInt(0),
                SUM_SELECT_FULL_JOIN: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SelectFullJoin)),
                SUM_SELECT_FULL_RANGE_JOIN: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SelectFullRangeJoin)),
                SUM_SELECT_RANGE: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SelectRange)),
                SUM_SELECT_RANGE_CHECK: bigint_unsigned not null => Value::UInt(0),
                SUM_SELECT_SCAN: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SelectScan)),
                SUM_SORT_MERGE_PASSES: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SortMergePasses)),
                SUM_SORT_RANGE: bigint_unsigned not null => Value::UInt(0),
                SUM_SORT_ROWS: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SortRows)),
                SUM_SORT_SCAN: bigint_unsigned not null => Value::UInt($it.sums.get(Number::SortScan)),
                SUM_NO_INDEX_USED: bigint_unsigned not null => Value::UInt($it.sums.get(Number::NoIndexUsed)),
                SUM_NO_GOOD_INDEX_USED: bigint_unsigned not null => Value::UInt(0),
                SUM_CPU_TIME: bigint_unsigned not null => picoseconds($it.sums.get(Number::CpuTime)),
                MAX_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
                MAX_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
                COUNT_SECONDARY: bigint_unsigned not null => Value::UInt(0),
                $($more)*
            }
        }
    };
}

sums_table! {
    mod global_by_class = "performance_schema"."events_statements_summary_global_by_event_name" of |it: SumsSubject| {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(class::name(it.class)),
    } {}
}

sums_table! {
    mod by_session = "performance_schema"."events_statements_summary_by_thread_by_event_name" of |it: SumsSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.who.thread),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(class::name(it.class)),
    } {}
}

sums_table! {
    mod by_account = "performance_schema"."events_statements_summary_by_account_by_event_name" of |it: SumsSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        HOST: char(255) in ascii_general_ci => optional_text(it.who.host.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(class::name(it.class)),
    } {}
}

sums_table! {
    mod by_user = "performance_schema"."events_statements_summary_by_user_by_event_name" of |it: SumsSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(class::name(it.class)),
    } {}
}

sums_table! {
    mod by_host = "performance_schema"."events_statements_summary_by_host_by_event_name" of |it: SumsSubject| {
        HOST: char(255) in ascii_general_ci key MUL => optional_text(it.who.host.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(class::name(it.class)),
    } {}
}

sums_table! {
    mod by_digest = "performance_schema"."events_statements_summary_by_digest" of |it: DigestSubject| {
        SCHEMA_NAME: varchar(64) in utf8mb4_0900_ai_ci key MUL => schema_of(&it.row),
        DIGEST: varchar(64) in utf8mb4_0900_ai_ci => hash_of(&it.row),
        DIGEST_TEXT: longtext in utf8mb4_0900_ai_ci => it.row.digest.as_ref().map_or(Value::Null, |digest| lossy(&digest.text)),
    } {
        FIRST_SEEN: timestamp(6) not null => it.moment(it.sums.first_ns),
        LAST_SEEN: timestamp(6) not null => it.moment(it.sums.last_ns),
        QUANTILE_95: bigint_unsigned not null => Value::UInt(it.row.counts.quantile_ps(950)),
        QUANTILE_99: bigint_unsigned not null => Value::UInt(it.row.counts.quantile_ps(990)),
        QUANTILE_999: bigint_unsigned not null => Value::UInt(it.row.counts.quantile_ps(999)),
        QUERY_SAMPLE_TEXT: longtext in utf8mb4_0900_ai_ci => it.sample_text(),
        QUERY_SAMPLE_SEEN: timestamp(6) not null => it.sample_moment(),
        QUERY_SAMPLE_TIMER_WAIT: bigint_unsigned not null => it.sample_wait(),
    }
}

virtual_table! {
    mod histogram_global = "performance_schema"."events_statements_histogram_global" of |it: BucketSubject| {
        BUCKET_NUMBER: int_unsigned not null key PRI => Value::UInt(it.number as u64),
        BUCKET_TIMER_LOW: bigint_unsigned not null => Value::UInt(bounds_ps(it.number).0),
        BUCKET_TIMER_HIGH: bigint_unsigned not null => Value::UInt(bounds_ps(it.number).1),
        COUNT_BUCKET: bigint_unsigned not null => Value::UInt(it.count),
        COUNT_BUCKET_AND_LOWER: bigint_unsigned not null => Value::UInt(it.lower),
        BUCKET_QUANTILE: double(7, 6) not null => it.quantile(),
    }
}

virtual_table! {
    mod histogram_by_digest = "performance_schema"."events_statements_histogram_by_digest" of |it: BucketSubject| {
        SCHEMA_NAME: varchar(64) in utf8mb4_0900_ai_ci key MUL => it.schema.clone(),
        DIGEST: varchar(64) in utf8mb4_0900_ai_ci => it.hash.clone(),
        BUCKET_NUMBER: int_unsigned not null => Value::UInt(it.number as u64),
        BUCKET_TIMER_LOW: bigint_unsigned not null => Value::UInt(bounds_ps(it.number).0),
        BUCKET_TIMER_HIGH: bigint_unsigned not null => Value::UInt(bounds_ps(it.number).1),
        COUNT_BUCKET: bigint_unsigned not null => Value::UInt(it.count),
        COUNT_BUCKET_AND_LOWER: bigint_unsigned not null => Value::UInt(it.lower),
        BUCKET_QUANTILE: double(7, 6) not null => it.quantile(),
    }
}

virtual_table! {
    /// There are no stored programs.
    mod by_program = "performance_schema"."events_statements_summary_by_program" {
        OBJECT_TYPE: enum("EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER") in utf8mb4_0900_ai_ci not null key PRI,
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci not null key PRI,
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI,
        COUNT_STAR: bigint_unsigned not null,
        SUM_TIMER_WAIT: bigint_unsigned not null,
        MIN_TIMER_WAIT: bigint_unsigned not null,
        AVG_TIMER_WAIT: bigint_unsigned not null,
        MAX_TIMER_WAIT: bigint_unsigned not null,
        COUNT_STATEMENTS: bigint_unsigned not null,
        SUM_STATEMENTS_WAIT: bigint_unsigned not null,
        MIN_STATEMENTS_WAIT: bigint_unsigned not null,
        AVG_STATEMENTS_WAIT: bigint_unsigned not null,
        MAX_STATEMENTS_WAIT: bigint_unsigned not null,
        SUM_LOCK_TIME: bigint_unsigned not null,
        SUM_ERRORS: bigint_unsigned not null,
        SUM_WARNINGS: bigint_unsigned not null,
        SUM_ROWS_AFFECTED: bigint_unsigned not null,
        SUM_ROWS_SENT: bigint_unsigned not null,
        SUM_ROWS_EXAMINED: bigint_unsigned not null,
        SUM_CREATED_TMP_DISK_TABLES: bigint_unsigned not null,
        SUM_CREATED_TMP_TABLES: bigint_unsigned not null,
        SUM_SELECT_FULL_JOIN: bigint_unsigned not null,
        SUM_SELECT_FULL_RANGE_JOIN: bigint_unsigned not null,
        SUM_SELECT_RANGE: bigint_unsigned not null,
        SUM_SELECT_RANGE_CHECK: bigint_unsigned not null,
        SUM_SELECT_SCAN: bigint_unsigned not null,
        SUM_SORT_MERGE_PASSES: bigint_unsigned not null,
        SUM_SORT_RANGE: bigint_unsigned not null,
        SUM_SORT_ROWS: bigint_unsigned not null,
        SUM_SORT_SCAN: bigint_unsigned not null,
        SUM_NO_INDEX_USED: bigint_unsigned not null,
        SUM_NO_GOOD_INDEX_USED: bigint_unsigned not null,
        SUM_CPU_TIME: bigint_unsigned not null,
        MAX_CONTROLLED_MEMORY: bigint_unsigned not null,
        MAX_TOTAL_MEMORY: bigint_unsigned not null,
        COUNT_SECONDARY: bigint_unsigned not null,
    }
}
