//! Errors and warnings by number: how often each was raised, and when.

use palisade_base::error_catalogue;
use palisade_base::error_code::ErrorCode;
use palisade_catalog::{Timestamp, Value};
use palisade_observe::tally::{ErrorCount, ErrorSums, Family};
use palisade_schema::virtual_table;

use super::statement_sums::{Who, overview, reset};
use super::{Definition, Source, Tables, number, of_each, optional_text};
use crate::instruments::people::Reset;

pub(super) static TABLES: Tables = &[
    Definition::new(&global_sums::DECL, |source, wanted| {
        let all = overview(source).all().errors;
        of_each(errors(source, Who::default(), all), global_sums::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Errors, Reset::All)),
    Definition::new(&by_session::DECL, |source, wanted| {
        let mut rows = Vec::new();
        for (connection, _, tally) in overview(source).sessions {
            rows.extend(errors(source, Who::thread(connection.id), tally.errors));
        }
        of_each(rows, by_session::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Errors, Reset::Sessions)),
    Definition::new(&by_account::DECL, |source, wanted| {
        let mut rows = Vec::new();
        for (key, _, tally) in overview(source).accounts() {
            rows.extend(errors(source, Who::account(key), tally.errors));
        }
        of_each(rows, by_account::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Errors, Reset::Accounts)),
    Definition::new(&by_user::DECL, |source, wanted| {
        let mut rows = Vec::new();
        for (user, _, tally) in overview(source).users() {
            rows.extend(errors(source, Who::user(user), tally.errors));
        }
        of_each(rows, by_user::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Errors, Reset::Users)),
    Definition::new(&by_host::DECL, |source, wanted| {
        let mut rows = Vec::new();
        for (host, _, tally) in overview(source).hosts() {
            rows.extend(errors(source, Who::host(host), tally.errors));
        }
        of_each(rows, by_host::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Errors, Reset::Hosts)),
];

/// An error, and how often it was raised.
struct ErrorSubject {
    who: Who,
    /// None of those that are not the server's own: SIGNAL raises any number.
    error: Option<&'static ErrorCode>,
    count: ErrorCount,
    /// Microseconds since 1970 when the server began.
    began_micros: i64,
}

impl ErrorSubject {
    fn moment(&self, ns: u64) -> Value {
        match self.count.raised {
            0 => Value::Null,
            _ => {
                // Without fractions of a second, which the column does not have.
                let micros = self.began_micros.saturating_add((ns / 1000) as i64);
                Value::Timestamp(Timestamp(micros - micros.rem_euclid(1_000_000)))
            }
        }
    }
}

/// The errors that have numbers of the server's.
fn known() -> &'static [&'static ErrorCode] {
    /// Those below are the operating system's and the storage engine's.
    const FIRST: u16 = 1000;
    let first = error_catalogue::ERRORS.partition_point(|error| error.number < FIRST);
    error_catalogue::ERRORS.get(first..).unwrap_or_default()
}

/// A row for each error that the server knows, after one for the others.
fn errors(
    source: &Source<'_>,
    who: Who,
    sums: ErrorSums,
) -> impl Iterator<Item = ErrorSubject> + Send + use<> {
    let began_micros = source.host.instruments.unix_micros_of(0);
    let is_known = |number: u16| known().binary_search_by_key(&number, |error| error.number).is_ok();
    let others = (None, sums.of_others(is_known));
    let known = known().iter().map(move |error| (Some(*error), sums.of(error.number)));
    let subject = move |(error, count)| ErrorSubject { who: who.clone(), error, count, began_micros };
    std::iter::once(others).chain(known).map(subject)
}

/// A table of errors.
macro_rules! errors_table {
    (mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* }) => {
        virtual_table! {
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                ERROR_NAME: varchar(64) in utf8mb4_0900_ai_ci => optional_text($it.error.map(|error| error.symbol)),
                SQL_STATE: varchar(5) in utf8mb4_0900_ai_ci => optional_text($it.error.map(|error| error.sql_state)),
                SUM_ERROR_RAISED: bigint_unsigned not null => Value::UInt($it.count.raised),
                SUM_ERROR_HANDLED: bigint_unsigned not null => Value::UInt(0),
                FIRST_SEEN: timestamp(0) => $it.moment($it.count.first_ns),
                LAST_SEEN: timestamp(0) => $it.moment($it.count.last_ns),
            }
        }
    };
}

errors_table! {
    mod global_sums = "performance_schema"."events_errors_summary_global_by_error" of |it: ErrorSubject| {
        ERROR_NUMBER: int key UNI => number(it.error.map(|error| error.number.into())),
    }
}

errors_table! {
    mod by_session = "performance_schema"."events_errors_summary_by_thread_by_error" of |it: ErrorSubject| {
        THREAD_ID: bigint_unsigned not null key MUL => Value::UInt(it.who.thread),
        ERROR_NUMBER: int => number(it.error.map(|error| error.number.into())),
    }
}

errors_table! {
    mod by_account = "performance_schema"."events_errors_summary_by_account_by_error" of |it: ErrorSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        HOST: char(255) in ascii_general_ci => optional_text(it.who.host.as_ref()),
        ERROR_NUMBER: int => number(it.error.map(|error| error.number.into())),
    }
}

errors_table! {
    mod by_user = "performance_schema"."events_errors_summary_by_user_by_error" of |it: ErrorSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        ERROR_NUMBER: int => number(it.error.map(|error| error.number.into())),
    }
}

errors_table! {
    mod by_host = "performance_schema"."events_errors_summary_by_host_by_error" of |it: ErrorSubject| {
        HOST: char(255) in ascii_general_ci key MUL => optional_text(it.who.host.as_ref()),
        ERROR_NUMBER: int => number(it.error.map(|error| error.number.into())),
    }
}
