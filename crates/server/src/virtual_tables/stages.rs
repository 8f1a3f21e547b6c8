//! Stages of statements one by one, and what they took together.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_observe::session::SessionEvents;
use palisade_observe::stage::{StageClass, StageEvent};
use palisade_observe::tally::{Family, Tally};
use palisade_observe::transaction::Times;
use palisade_schema::virtual_table;

use super::statement_sums::{Who, overview, picoseconds, reset};
use super::statements::forget;
use super::{Definition, Source, Tables, number, of_each, optional_text, text};
use crate::connections::Connection;
use crate::instruments::people::Reset;
use crate::instruments::setup::Consumers;
use crate::instruments::stages;

pub(super) static TABLES: Tables = &[
    Definition::new(&current::DECL, |source, wanted| of_each(currents(source), current::row, wanted))
        .truncated_by(|source| forget(source, SessionEvents::forget_current_stage)),
    Definition::new(&history::DECL, |source, wanted| of_each(histories(source), history::row, wanted))
        .truncated_by(|source| forget(source, SessionEvents::forget_stage_history)),
    Definition::new(&history_long::DECL, |source, wanted| {
        let events = source.host.instruments.long_stages.all().into_iter();
        let ended = |(thread, event)| EventSubject { thread, event, is_running: false };
        of_each(events.map(ended), history_long::row, wanted)
    })
    .truncated_by(|source| source.host.instruments.long_stages.truncate()),
    Definition::new(&global_sums::DECL, |source, wanted| {
        of_each(of(Who::default(), overview(source).all()), global_sums::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Stages, Reset::All)),
    Definition::new(&by_session::DECL, |source, wanted| {
        let sessions = overview(source).sessions.into_iter();
        let subject =
            |(connection, _, tally): (Arc<Connection>, _, Tally)| of(Who::thread(connection.id), tally);
        of_each(sessions.flat_map(subject), by_session::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Stages, Reset::Sessions)),
    Definition::new(&by_account::DECL, |source, wanted| {
        let accounts = overview(source).accounts().into_iter();
        of_each(accounts.flat_map(|(key, _, tally)| of(Who::account(key), tally)), by_account::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Stages, Reset::Accounts)),
    Definition::new(&by_user::DECL, |source, wanted| {
        let users = overview(source).users().into_iter();
        of_each(users.flat_map(|(user, _, tally)| of(Who::user(user), tally)), by_user::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Stages, Reset::Users)),
    Definition::new(&by_host::DECL, |source, wanted| {
        let hosts = overview(source).hosts().into_iter();
        of_each(hosts.flat_map(|(host, _, tally)| of(Who::host(host), tally)), by_host::row, wanted)
    })
    .truncated_by(|source| reset(source, Family::Stages, Reset::Hosts)),
];

/// A stage.
struct EventSubject {
    thread: u64,
    event: StageEvent,
    /// It has not ended: its times are those until now.
    is_running: bool,
}

impl EventSubject {
    fn end(&self) -> Value {
        if self.is_running { Value::Null } else { Value::UInt(self.event.id) }
    }

    fn ended_ns(&self) -> u64 {
        self.event.stage.began_ns.saturating_add(self.event.stage.wait_ns)
    }

    fn completed(&self) -> Value {
        number(self.event.stage.work.map(|(completed, _)| completed))
    }

    fn estimated(&self) -> Value {
        number(self.event.stage.work.map(|(_, estimated)| estimated))
    }
}

/// The stages that sessions' statements are in, where others can see that; of the others the last ones.
fn currents(source: &Source<'_>) -> Vec<EventSubject> {
    let instruments = &source.host.instruments;
    let is_kept = instruments.setup.consumers().has(Consumers::STAGE_CURRENT);
    let current = |connection: &Arc<Connection>| {
        let events = connection.events.lock();
        let within = events.last_id() + 1;
        if let Some(stage) = stages::current(instruments, connection).filter(|_| is_kept) {
            let event = StageEvent { id: within + 1, within, stage, is_history: false };
            return Some(EventSubject { thread: connection.id, event, is_running: true });
        }
        let event = *events.last_stage()?;
        Some(EventSubject { thread: connection.id, event, is_running: false })
    };
    source.host.connections.admitted().iter().filter_map(current).collect()
}

fn histories(source: &Source<'_>) -> Vec<EventSubject> {
    let of = |connection: &Arc<Connection>| {
        let events = connection.events.lock();
        let subject =
            |event: &StageEvent| EventSubject { thread: connection.id, event: *event, is_running: false };
        events.stage_history().map(subject).collect::<Vec<_>>()
    };
    source.host.connections.admitted().iter().flat_map(of).collect()
}

/// A table of stages.
macro_rules! events_table {
    (mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* }) => {
        virtual_table! {
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                END_EVENT_ID: bigint_unsigned => $it.end(),
                EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text($it.event.stage.class.name()),
                SOURCE: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
                TIMER_START: bigint_unsigned => picoseconds($it.event.stage.began_ns),
                TIMER_END: bigint_unsigned => picoseconds($it.ended_ns()),
                TIMER_WAIT: bigint_unsigned => picoseconds($it.event.stage.wait_ns),
                WORK_COMPLETED: bigint_unsigned => $it.completed(),
                WORK_ESTIMATED: bigint_unsigned => $it.estimated(),
                NESTING_EVENT_ID: bigint_unsigned => Value::UInt($it.event.within),
                NESTING_EVENT_TYPE: enum("TRANSACTION", "STATEMENT", "STAGE", "WAIT") in utf8mb4_0900_ai_ci => text("STATEMENT"),
            }
        }
    };
}

events_table! {
    mod current = "performance_schema"."events_stages_current" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null key PRI => Value::UInt(it.event.id),
    }
}

events_table! {
    mod history = "performance_schema"."events_stages_history" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null key PRI => Value::UInt(it.event.id),
    }
}

events_table! {
    mod history_long = "performance_schema"."events_stages_history_long" of |it: EventSubject| {
        THREAD_ID: bigint_unsigned not null => Value::UInt(it.thread),
        EVENT_ID: bigint_unsigned not null => Value::UInt(it.event.id),
    }
}

/// What stages of a class took together, and whose they are.
struct SumsSubject {
    who: Who,
    class: StageClass,
    times: Times,
}

fn of(who: Who, tally: Tally) -> impl Iterator<Item = SumsSubject> + Send {
    let times = move |class| tally.stages.as_ref().map_or_else(Times::default, |sums| sums.of(class));
    StageClass::all().map(move |class| SumsSubject { who: who.clone(), class, times: times(class) })
}

/// A table of sums.
macro_rules! sums_table {
    (mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| { $($own:tt)* }) => {
        virtual_table! {
            mod $module = $schema . $name of |$it: $subject| {
                $($own)*
                COUNT_STAR: bigint_unsigned not null => Value::UInt($it.times.count),
                SUM_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.times.wait_ns),
                MIN_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.times.min_ns),
                AVG_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.times.average_ns()),
                MAX_TIMER_WAIT: bigint_unsigned not null => picoseconds($it.times.max_ns),
            }
        }
    };
}

sums_table! {
    mod global_sums = "performance_schema"."events_stages_summary_global_by_event_name" of |it: SumsSubject| {
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(it.class.name()),
    }
}

sums_table! {
    mod by_session = "performance_schema"."events_stages_summary_by_thread_by_event_name" of |it: SumsSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.who.thread),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(it.class.name()),
    }
}

sums_table! {
    mod by_account = "performance_schema"."events_stages_summary_by_account_by_event_name" of |it: SumsSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        HOST: char(255) in ascii_general_ci => optional_text(it.who.host.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(it.class.name()),
    }
}

sums_table! {
    mod by_user = "performance_schema"."events_stages_summary_by_user_by_event_name" of |it: SumsSubject| {
        USER: char(32) in utf8mb4_bin key MUL => optional_text(it.who.user.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(it.class.name()),
    }
}

sums_table! {
    mod by_host = "performance_schema"."events_stages_summary_by_host_by_event_name" of |it: SumsSubject| {
        HOST: char(255) in ascii_general_ci key MUL => optional_text(it.who.host.as_ref()),
        EVENT_NAME: varchar(128) in utf8mb4_0900_ai_ci not null => text(it.class.name()),
    }
}
