//! PROCESSLIST, threads, and the attributes of connections.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_schema::{Change, ChangeKind, Changed, Rows, Wanted, virtual_table};

use super::{Definition, Source, Tables, changed, is_yes, number, of_each, optional_text, text, yes_no};
use crate::accounts::privilege::Privileges;
use crate::connections::{Connection, Process};
use crate::status::{PROCESSLIST_READ_AT, PROCESSLIST_READS};
use crate::variables::unix_micros;

pub(super) static TABLES: Tables = &[
    Definition::new(&process_list::DECL, |source, wanted| {
        PROCESSLIST_READS.increment();
        PROCESSLIST_READ_AT.set(unix_micros().unsigned_abs());
        of_each(processes(source), process_list::row, wanted)
    }),
    Definition::new(&processes_of_schema::DECL, |source, wanted| {
        of_each(processes(source), processes_of_schema::row, wanted)
    }),
    Definition::new(&threads::DECL, |source, wanted| of_each(all_threads(source), threads::row, wanted))
        .changed_by(&[ChangeKind::Update], change_thread),
    Definition::new(&own_attributes::DECL, |source, wanted| {
        let own = source.session.state.connection_id;
        of_each(attributes(source, |id| id == own), own_attributes::row, wanted)
    }),
    Definition::new(&all_attributes::DECL, every_attribute),
];

/// A process, the seconds of its state, and its connection.
struct ProcessSubject {
    process: Process,
    seconds: u64,
    connection: Option<Arc<Connection>>,
}

impl ProcessSubject {
    /// What it executes.
    fn statement(&self) -> Value {
        let text = &self.process.activity.text;
        if text.is_empty() { Value::Null } else { Value::bytes(text.clone()) }
    }

    fn says(&self, question: fn(&Connection) -> bool) -> Value {
        yes_no(self.connection.as_ref().is_some_and(|connection| question(connection)))
    }

    fn connection_type(&self) -> &'static str {
        let connection = self.connection.as_ref();
        let has_tls = connection.is_some_and(|connection| connection.tls.get().is_some());
        if has_tls { "SSL/TLS" } else { "TCP/IP" }
    }
}

/// The host of a client, of which the port may be told, too.
pub(super) fn without_port(client: &str) -> &str {
    client.rsplit_once(':').map_or(client, |(host, _)| host)
}

/// The processes that the account may know of.
fn processes(source: &Source<'_>) -> Vec<ProcessSubject> {
    let Source { host, session } = source;
    let now_seconds = host.connections.now_seconds();
    let sees_all = host.asked(session.state, |asker| asker.has(Privileges::PROCESS));
    let seen = host.connections.processes().into_iter();
    let seen = seen.filter(|process| sees_all || process.activity.user == session.state.user);
    let subject = |process: Process| ProcessSubject {
        seconds: now_seconds.saturating_sub(process.activity.since_seconds),
        connection: host.connections.get(process.id),
        process,
    };
    seen.map(subject).collect()
}

virtual_table! {
    mod process_list = "information_schema"."PROCESSLIST" of |it: ProcessSubject| {
        ID: bigint_unsigned not null default "" => Value::UInt(it.process.id),
        USER: varchar(32) not null default "" => text(&it.process.activity.user),
        HOST: varchar(261) not null default "" => text(&it.process.host),
        DB: varchar(64) default "" => optional_text(it.process.activity.database.as_ref()),
        COMMAND: varchar(16) not null default "" => text(it.process.activity.command),
        TIME: int not null default "" => Value::UInt(it.seconds),
        STATE: varchar(64) default "" => text(it.process.state),
        INFO: varchar(65535) default "" => it.statement(),
    }
}

virtual_table! {
    mod processes_of_schema = "performance_schema"."processlist" of |it: ProcessSubject| {
        ID: bigint_unsigned not null key PRI => Value::UInt(it.process.id),
        USER: varchar(32) in utf8mb4_0900_ai_ci => text(&it.process.activity.user),
        HOST: varchar(261) in ascii_general_ci => text(&it.process.host),
        DB: varchar(64) in utf8mb4_0900_ai_ci => optional_text(it.process.activity.database.as_ref()),
        COMMAND: varchar(16) in utf8mb4_0900_ai_ci => text(it.process.activity.command),
        TIME: bigint => Value::UInt(it.seconds),
        STATE: varchar(64) in utf8mb4_0900_ai_ci => text(it.process.state),
        INFO: longtext in utf8mb4_0900_ai_ci => it.statement(),
        EXECUTION_ENGINE: enum("PRIMARY", "SECONDARY") in utf8mb4_0900_ai_ci => text("PRIMARY"),
    }
}

/// The thread of a connection, or one that serves no connection.
enum ThreadSubject {
    Connection(Box<ProcessSubject>),
    Background {
        /// The operating system's number of it.
        number: u64,
        name: &'static str,
        is_instrumented: bool,
        has_history: bool,
    },
}

impl ThreadSubject {
    /// The number by which it is shown. No connection has such a one.
    fn id(&self) -> u64 {
        const BEYOND_CONNECTIONS: u64 = 1 << 32;
        match self {
            ThreadSubject::Connection(subject) => subject.process.id,
            ThreadSubject::Background { number, .. } => BEYOND_CONNECTIONS + number,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            ThreadSubject::Connection(_) => "thread/sql/one_connection",
            ThreadSubject::Background { name, .. } => name,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            ThreadSubject::Connection(_) => "FOREGROUND",
            ThreadSubject::Background { .. } => "BACKGROUND",
        }
    }

    /// What only the thread of a connection has.
    fn of_connection(&self, value: impl FnOnce(&ProcessSubject) -> Value) -> Value {
        match self {
            ThreadSubject::Connection(subject) => value(subject),
            ThreadSubject::Background { .. } => Value::Null,
        }
    }

    fn is_instrumented(&self) -> Value {
        match self {
            ThreadSubject::Connection(subject) => subject.says(Connection::is_instrumented),
            ThreadSubject::Background { is_instrumented, .. } => yes_no(*is_instrumented),
        }
    }

    fn has_history(&self) -> Value {
        match self {
            ThreadSubject::Connection(subject) => subject.says(Connection::has_history),
            ThreadSubject::Background { has_history, .. } => yes_no(*has_history),
        }
    }

    fn system_number(&self) -> Value {
        match self {
            // Its session is a task of whichever worker it is with.
            ThreadSubject::Connection(_) => Value::Null,
            ThreadSubject::Background { number, .. } => Value::UInt(*number),
        }
    }

    fn resource_group(&self) -> &'static str {
        match self {
            ThreadSubject::Connection(_) => "USR_default",
            ThreadSubject::Background { .. } => "SYS_default",
        }
    }
}

/// The threads of connections that the account may know of; and the others, if it may know of all.
fn all_threads(source: &Source<'_>) -> Vec<ThreadSubject> {
    let Source { host, session } = source;
    let mut threads = Vec::new();
    if host.asked(session.state, |asker| asker.has(Privileges::PROCESS)) {
        let running = host.instruments.threads.running().into_iter();
        threads.extend(running.map(|(number, class)| ThreadSubject::Background {
            number,
            name: class.name,
            is_instrumented: class.says(false),
            has_history: class.says(true),
        }));
    }
    threads.extend(processes(source).into_iter().map(|subject| ThreadSubject::Connection(Box::new(subject))));
    threads
}

virtual_table! {
    /// A session is a task here, not a thread; to those who ask it is the thread of its connection.
    mod threads = "performance_schema"."threads" of |it: ThreadSubject| {
        THREAD_ID: bigint_unsigned not null key PRI => Value::UInt(it.id()),
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key MUL => text(it.name()),
        TYPE: varchar(10) in utf8mb4_0900_ai_ci not null => text(it.kind()),
        PROCESSLIST_ID: bigint_unsigned key MUL => it.of_connection(|it| Value::UInt(it.process.id)),
        PROCESSLIST_USER: varchar(32) in utf8mb4_0900_ai_ci key MUL => it.of_connection(|it| text(&it.process.activity.user)),
        PROCESSLIST_HOST: varchar(255) in ascii_general_ci key MUL => it.of_connection(|it| text(without_port(&it.process.host))),
        PROCESSLIST_DB: varchar(64) in utf8mb4_0900_ai_ci => it.of_connection(|it| optional_text(it.process.activity.database.as_ref())),
        PROCESSLIST_COMMAND: varchar(16) in utf8mb4_0900_ai_ci => it.of_connection(|it| text(it.process.activity.command)),
        PROCESSLIST_TIME: bigint => it.of_connection(|it| Value::UInt(it.seconds)),
        PROCESSLIST_STATE: varchar(64) in utf8mb4_0900_ai_ci => it.of_connection(|it| text(it.process.state)),
        PROCESSLIST_INFO: longtext in utf8mb4_0900_ai_ci => it.of_connection(ProcessSubject::statement),
        PARENT_THREAD_ID: bigint_unsigned => Value::Null,
        ROLE: varchar(64) in utf8mb4_0900_ai_ci => Value::Null,
        INSTRUMENTED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => it.is_instrumented(),
        HISTORY: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => it.has_history(),
        CONNECTION_TYPE: varchar(16) in utf8mb4_0900_ai_ci => it.of_connection(|it| text(it.connection_type())),
        THREAD_OS_ID: bigint_unsigned key MUL => it.system_number(),
        RESOURCE_GROUP: varchar(64) in utf8mb4_0900_ai_ci key MUL => text(it.resource_group()),
        EXECUTION_ENGINE: enum("PRIMARY", "SECONDARY") in utf8mb4_0900_ai_ci => text("PRIMARY"),
        CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
        MAX_CONTROLLED_MEMORY: bigint_unsigned not null => Value::UInt(0),
        TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
        MAX_TOTAL_MEMORY: bigint_unsigned not null => Value::UInt(0),
        TELEMETRY_ACTIVE: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => text("NO"),
    }
}

/// UPDATE of what is collected of a session.
fn change_thread(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let Change::Update { row, column, value } = change else { return Changed::Refused };
    let id = match row.first() {
        Some(Value::UInt(id)) => *id,
        _ => return Changed::No,
    };
    let Some(connection) = source.host.connections.get(id) else { return Changed::No };
    let on = is_yes(value);
    match threads::DECL.columns.get(*column).map(|column| column.name) {
        Some("INSTRUMENTED") => changed(connection.set_instrumented(on)),
        Some("HISTORY") => changed(connection.set_history(on)),
        _ => Changed::Refused,
    }
}

/// An attribute of a connection.
struct AttributeSubject {
    connection: u64,
    place: u64,
    name: String,
    value: String,
}

/// The attributes of the connections that are seen.
fn attributes(source: &Source<'_>, seen: impl Fn(u64) -> bool) -> Vec<AttributeSubject> {
    let connections = &source.host.connections;
    let ids = connections.processes().into_iter().map(|process| process.id).filter(|id| seen(*id));
    let of_each = ids.filter_map(|id| connections.get(id)).flat_map(|connection| {
        let attributes = connection.attributes.lock().clone();
        let id = connection.id;
        (0..).zip(attributes).map(move |(place, (name, value))| AttributeSubject {
            connection: id,
            place,
            name,
            value,
        })
    });
    of_each.collect()
}

fn every_attribute(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let own = source.session.state.connection_id;
    let sees_all = source.host.asked(source.session.state, |asker| asker.has(Privileges::PROCESS));
    of_each(attributes(source, |id| sees_all || id == own), all_attributes::row, wanted)
}

virtual_table! {
    mod own_attributes = "performance_schema"."session_account_connect_attrs" of |it: AttributeSubject| {
        PROCESSLIST_ID: bigint_unsigned not null key PRI => Value::UInt(it.connection),
        ATTR_NAME: varchar(32) in utf8mb4_bin not null key PRI => text(&it.name),
        ATTR_VALUE: varchar(1024) in utf8mb4_bin => text(&it.value),
        ORDINAL_POSITION: int => number(Some(it.place)),
    }
}

virtual_table! {
    mod all_attributes = "performance_schema"."session_connect_attrs" of |it: AttributeSubject| {
        PROCESSLIST_ID: bigint_unsigned not null key PRI => Value::UInt(it.connection),
        ATTR_NAME: varchar(32) in utf8mb4_bin not null key PRI => text(&it.name),
        ATTR_VALUE: varchar(1024) in utf8mb4_bin => text(&it.value),
        ORDINAL_POSITION: int => number(Some(it.place)),
    }
}
