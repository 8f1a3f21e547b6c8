//! Transactions one by one, those that sessions are in and the last ones; and what they took together.

use std::collections::HashMap;
use std::sync::Arc;

use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_engine::{AccessMode, ActiveTransaction, IsolationLevel, shown_number};
use palisade_observe::session::SessionEvents;
use palisade_observe::tally::{Family, Tally};
use palisade_observe::transaction::{
    Isolation, Noted, Outcome, Times, Traits, TransactionEvent, TransactionSums, XaName,
};
use palisade_schema::virtual_table;

use super::statement_sums::{Who, overview, picoseconds, reset};
use super::statements::forget;
use super::{Definition, Source, Tables, number, of_each, optional_text, text, yes_no};
use crate::connections::Connection;
use crate::instruments::people::Reset;
use crate::instruments::setup::{Consumers, Instrument};

pub(super) static TABLES: Tables = &[
    Definition::new(&current::DECL, |source, wanted| of_each(currents(source), current::row, wanted))
        .truncated_by(|source| forget(source, SessionEvents::forget_current_transaction)),
    Definition::new(&history::DECL, |source, wanted| of_each(histories(source), history::row, wanted))
        .truncated_by(|source| forget(source, SessionEvents::forget_transaction_history)),
    Definition::new(&history_long::DECL, |source, wanted| {
        let events = source.host.instruments.long_transactions.all().into_iter();
        let ended = |(thread, event)| EventSubject { thread, event, now_ns: 0 };
        of_each(events.map(ended), history_long::row, wanted)
    })
    .truncated_by(|source| source.host.instruments.long_transactions.truncate()),
    Definition::new(&global_sums::DECL, |source, wanted| {
        of_each([of(Who::default(), overview(source).all())], global_sums::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Transactions, Reset::All)),
    Definition::new(&by_session::DECL, |source, wanted| {
        let sessions = overview(source).sessions.into_iter();
        let subject =
            |(connection, _, tally): (Arc<Connection>, _, Tally)| of(Who::thread(connection.id), tally);
        of_each(sessions.map(subject), by_session::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Transactions, Reset::Sessions)),
    Definition::new(&by_account::DECL, |source, wanted| {
        let accounts = overview(source).accounts().into_iter();
        of_each(accounts.map(|(key, _, tally)| of(Who::account(key), tally)), by_account::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Transactions, Reset::Accounts)),
    Definition::new(&by_user::DECL, |source, wanted| {
        let users = overview(source).users().into_iter();
        of_each(users.map(|(user, _, tally)| of(Who::user(user), tally)), by_user::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Transactions, Reset::Users)),
    Definition::new(&by_host::DECL, |source, wanted| {
        let hosts = overview(source).hosts().into_iter();
        of_each(hosts.map(|(host, _, tally)| of(Who::host(host), tally)), by_host::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Transactions, Reset::Hosts)),
];

/// The name of all transactions' events.
const NAME: &str = "transaction";

/// A transaction.
struct EventSubject {
    thread: u64,
    event: TransactionEvent,
    /// If it is open: its times are those until now.
    now_ns: u64,
}

impl EventSubject {
    fn is_open(&self) -> bool {
        self.event.noted.outcome == Outcome::Open
    }

    fn end(&self) -> Value {
        if self.is_open() { Value::Null } else { Value::UInt(self.event.end_id) }
    }

    fn state(&self) -> &'static str {
        match self.event.noted.outcome {
            Outcome::Open => "ACTIVE",
            Outcome::Committed => "COMMITTED",
            Outcome::RolledBack => "ROLLED BACK",
        }
    }

    fn wait_ns(&self) -> u64 {
        if self.is_open() { self.now_ns.saturating_sub(self.event.began_ns) } else { self.event.wait_ns }
    }

    fn access(&self) -> &'static str {
        if self.event.noted.traits.is_read_only { "READ ONLY" } else { "READ WRITE" }
    }

    fn of_name(&self, value: impl FnOnce(&XaName) -> Value) -> Value {
        self.event.noted.xa.as_deref().map_or(Value::Null, value)
    }

    fn nesting_type(&self) -> Value {
        optional_text(self.event.begun_by.map(|_| "STATEMENT"))
    }
}

/// A part of the name of a distributed transaction, which may be any bytes.
fn shown_part(part: &[u8]) -> Value {
    match std::str::from_utf8(part) {
        Ok("") => Value::Null,
        Ok(shown) if part.iter().all(|byte| (0x20..0x7f).contains(byte)) => text(shown),
        _ => text(part.iter().fold("0x".to_owned(), |shown, byte| shown + &format!("{byte:02X}"))),
    }
}

/// The transactions that sessions are in; of the others those that they were in last.
fn currents(source: &Source<'_>) -> Vec<EventSubject> {
    let instruments = &source.host.instruments;
    let open = source.host.engine.open_transactions().into_iter();
    let open: HashMap<u64, ActiveTransaction> =
        open.map(|transaction| (transaction.owner, transaction)).collect();
    let now_ns = instruments.ns_of(std::time::Instant::now());
    let is_collected = instruments.setup.collects(Instrument::Transaction).0
        && instruments.setup.consumers().has(Consumers::TRANSACTION_CURRENT);
    let current = |connection: &Arc<Connection>| {
        let of_engine = open.get(&connection.id);
        let events = connection.events.lock();
        let event = match (events.open_transaction(), of_engine) {
            (Some(known), of_engine) => {
                let mut event = known.clone();
                event.noted.number = of_engine.map_or(0, number_of);
                event
            }
            (None, Some(of_engine)) if is_collected && connection.is_instrumented() => {
                begun_in_statement(connection, of_engine, events.last_id())?
            }
            _ => events.last_transaction()?.clone(),
        };
        Some(EventSubject { thread: connection.id, event, now_ns })
    };
    source.host.connections.admitted().iter().filter_map(current).collect()
}

fn number_of(transaction: &ActiveTransaction) -> u64 {
    shown_number(transaction.id, transaction.session)
}

/// A transaction that the statement has begun which is being executed.
fn begun_in_statement(
    connection: &Connection,
    transaction: &ActiveTransaction,
    last_id: u64,
) -> Option<TransactionEvent> {
    let began_ns = connection.statement_began_ns()?;
    let traits = Traits {
        isolation: match transaction.traits.isolation {
            IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
            IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
            IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
            IsolationLevel::Serializable => Isolation::Serializable,
        },
        is_read_only: transaction.traits.access == AccessMode::ReadOnly,
        is_single_statement: connection.settings().bool(sysvar::AUTOCOMMIT),
    };
    let noted = Noted { traits, number: number_of(transaction), ..Noted::default() };
    let (id, begun_by) = (last_id + 2, Some(last_id + 1));
    Some(TransactionEvent { id, begun_by, began_ns, noted, ..TransactionEvent::default() })
}

fn histories(source: &Source<'_>) -> Vec<EventSubject> {
    let of = |connection: &Arc<Connection>| {
        let events = connection.events.lock();
        let subject = |event: &TransactionEvent| EventSubject {
            thread: connection.id,
            event: event.clone(),
            now_ns: 0,
        };
        events.transaction_history().map(subject).collect::<Vec<_>>()
    };
    source.host.connections.admitted().iter().flat_map(of).collect()
}

/// A table of transactions.
macro_rules! events_table {
    (mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* }) => {
        virtual_table! {
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                END_EVENT_ID: bigint_unsigned => $it.end(),
                EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(NAME),
                STATE: enum("ACTIVE", "COMMITTED", "ROLLED BACK") in utf8mb4_0900_ai_ci => text($it.state()),
                TRX_ID: bigint_unsigned => number(Some($it.event.noted.number).filter(|number| *number != 0)),
                GTID: varchar(90) in utf8mb4_0900_ai_ci => text("AUTOMATIC"),
                XID_FORMAT_ID: int => $it.of_name(|name| Value::Int(name.format as i64)),
                XID_GTRID: varchar(130) in utf8mb4_0900_ai_ci => $it.of_name(|name| shown_part(&name.gtrid)),
                XID_BQUAL: varchar(130) in utf8mb4_0900_ai_ci => $it.of_name(|name| shown_part(&name.bqual)),
                XA_STATE: varchar(64) in utf8mb4_0900_ai_ci => $it.of_name(|name| text(name.state)),
                SOURCE: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
                TIMER_START: bigint_unsigned => picoseconds($it.event.began_ns),
                TIMER_END: bigint_unsigned => picoseconds($it.event.began_ns + $it.wait_ns()),
                TIMER_WAIT: bigint_unsigned => picoseconds($it.wait_ns()),
                ACCESS_MODE: enum("READ ONLY", "READ WRITE") in utf8mb4_0900_ai_ci => text($it.access()),
                ISOLATION_LEVEL: varchar(64) in utf8mb4_0900_ai_ci => text($it.event.noted.traits.isolation.name()),
                AUTOCOMMIT: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no($it.event.noted.traits.is_single_statement),
                NUMBER_OF_SAVEPOINTS: bigint_unsigned => Value::UInt($it.event.noted.savepoints.set.into()),
                NUMBER_OF_ROLLBACK_TO_SAVEPOINT: bigint_unsigned => Value::UInt($it.event.noted.savepoints.returned_to.into()),
                NUMBER_OF_RELEASE_SAVEPOINT: bigint_unsigned => Value::UInt($it.event.noted.savepoints.released.into()),
                OBJECT_INSTANCE_BEGIN: bigint_unsigned => Value::Null,
                NESTING_EVENT_ID: bigint_unsigned => number($it.event.begun_by),
                NESTING_EVENT_TYPE: enum("TRANSACTION", "STATEMENT", "STAGE", "WAIT") in utf8mb4_0900_ai_ci => $it.nesting_type(),
            }
        }
    };
}

events_table! {
    mod current = "performance_schema"."events_transactions_current" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null key PRI => Value::UInt(it.event.id),
    }
}

events_table! {
    mod history = "performance_schema"."events_transactions_history" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null key PRI => Value::UInt(it.event.id),
    }
}

events_table! {
    mod history_long = "performance_schema"."events_transactions_history_long" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null => Value::UInt(it.event.id),
    }
}

/// What transactions took together, and whose they are.
struct SumsSubject {
    who: Who,
    sums: TransactionSums,
}

fn of(who: Who, tally: Tally) -> SumsSubject {
    SumsSubject { who, sums: tally.transactions }
}

impl SumsSubject {
    fn all(&self) -> Times {
        self.sums.all()
    }
}

/// A table of sums.
macro_rules! sums_table {
    (mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* }) => {
        virtual_table! {
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                COUNT_STAR: bigint_unsigned not null => Value::UInt($it.all().count),
                SUM_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.all().wait_ns),
                MIN_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.all().min_ns),
                AVG_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.all().average_ns()),
                MAX_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.all().max_ns),
                COUNT_READ_WRITE: bigint_unsigned not null => Value::UInt($it.sums.read_write.count),
                SUM_TIMER_READ_WRITE: bigint_unsigned not null => picoseconds($it.sums.read_write.wait_ns),
                MIN_TIMER_READ_WRITE: bigint_unsigned not null => picoseconds($it.sums.read_write.min_ns),
                AVG_TIMER_READ_WRITE: bigint_unsigned not null => picoseconds($it.sums.read_write.average_ns()),
                MAX_TIMER_READ_WRITE: bigint_unsigned not null => picoseconds($it.sums.read_write.max_ns),
                COUNT_READ_ONLY: bigint_unsigned not null => Value::UInt($it.sums.read_only.count),
                SUM_TIMER_READ_ONLY: bigint_unsigned not null => picoseconds($it.sums.read_only.wait_ns),
                MIN_TIMER_READ_ONLY: bigint_unsigned not null => picoseconds($it.sums.read_only.min_ns),
                AVG_TIMER_READ_ONLY: bigint_unsigned not null => picoseconds($it.sums.read_only.average_ns()),
                MAX_TIMER_READ_ONLY: bigint_unsigned not null => picoseconds($it.sums.read_only.max_ns),
            }
        }
    };
}

sums_table! {
    mod global_sums = "performance_schema"."events_transactions_summary_global_by_event_name" of |it: SumsSubject| {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(NAME),
    }
}

sums_table! {
    mod by_session = "performance_schema"."events_transactions_summary_by_thread_by_event_name" of |it: SumsSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.who.thread),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(NAME),
    }
}

sums_table! {
    mod by_account = "performance_schema"."events_transactions_summary_by_account_by_event_name" of |it: SumsSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        HOST: char(255) in ascii_general_ci => optional_text(it.who.host.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(NAME),
    }
}

sums_table! {
    mod by_user = "performance_schema"."events_transactions_summary_by_user_by_event_name" of |it: SumsSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(NAME),
    }
}

sums_table! {
    mod by_host = "performance_schema"."events_transactions_summary_by_host_by_event_name" of |it: SumsSubject| {
        HOST: char(255) in ascii_general_ci key MUL => optional_text(it.who.host.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(NAME),
    }
}
