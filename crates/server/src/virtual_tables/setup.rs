//! What is collected of statements, and of whose: the tables that set it up.

use palisade_catalog::Value;
use palisade_schema::{Change, ChangeKind, Changed, virtual_table};

use super::{Definition, Source, Tables, changed, is_yes, of_each, text, yes_no};
use crate::instruments::objects::{ObjectRule, ThreadClass};
use crate::instruments::setup::{Actor, CONSUMERS, Instrument};

pub(super) static TABLES: Tables = &[
    Definition::new(&consumers::DECL, |source, wanted| {
        let setup = &source.host.instruments.setup;
        let of = |(name, consumer)| (name, setup.is_enabled(consumer));
        of_each(CONSUMERS.map(of), consumers::row, wanted)
    })
    .changed_by(&[ChangeKind::Update], change_consumer),
    Definition::new(&instruments::DECL, |source, wanted| {
        let setup = &source.host.instruments.setup;
        let of = |instrument| (instrument, setup.collects(instrument));
        of_each(Instrument::all().map(of).collect::<Vec<_>>(), instruments::row, wanted)
    })
    .changed_by(&[ChangeKind::Update], change_instrument),
    Definition::new(&actors::DECL, |source, wanted| {
        of_each(source.host.instruments.setup.actors.lock().clone(), actors::row, wanted)
    })
    .changed_by(&[ChangeKind::Insert, ChangeKind::Update, ChangeKind::Delete], change_actor)
    .truncated_by(|source| source.host.instruments.setup.actors.lock().clear()),
    Definition::new(&objects::DECL, |source, wanted| {
        of_each(source.host.instruments.objects.all(), objects::row, wanted)
    })
    .changed_by(&[ChangeKind::Insert, ChangeKind::Update, ChangeKind::Delete], change_object)
    .truncated_by(|source| source.host.instruments.objects.change(&source.host.engine, Vec::clear)),
    Definition::new(&threads::DECL, |source, wanted| {
        let classes = source.host.instruments.threads.iter();
        let of = |class: &ThreadClass| (class.name, class.is_single, class.says(false), class.says(true));
        of_each(classes.map(of).collect::<Vec<_>>(), threads::row, wanted)
    })
    .changed_by(&[ChangeKind::Update], change_threads),
    Definition::empty(&loggers::DECL),
    Definition::empty(&meters::DECL),
    Definition::empty(&metrics::DECL),
];

/// The text of a value.
fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::Bytes(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}

/// UPDATE of a consumer. If nothing was collected before, what sessions have done by then is none of the
/// statements that are.
fn change_consumer(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let Change::Update { row, column: 1, value } = change else { return Changed::Refused };
    let name = shown(row.first());
    let Some((_, consumer)) = CONSUMERS.iter().find(|(known, _)| *known == name) else { return Changed::No };
    let setup = &source.host.instruments.setup;
    let was_on = setup.is_on();
    let is_change = setup.enable(*consumer, is_yes(value));
    if !was_on && setup.is_on() {
        source.host.connections.observe_anew();
    }
    changed(is_change)
}

fn change_instrument(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let Change::Update { row, column: column @ (1 | 2), value } = change else { return Changed::Refused };
    let Some(instrument) = Instrument::find(&shown(row.first())) else { return Changed::No };
    let is_time = *column == 2;
    if is_time && !instrument.has_times() {
        return Changed::No;
    }
    changed(source.host.instruments.setup.set(instrument, is_time, is_yes(value)))
}

fn actor_of(row: &[Value]) -> Actor {
    Actor {
        host: shown(row.first()),
        user: shown(row.get(1)),
        role: shown(row.get(2)),
        is_enabled: row.get(3).is_some_and(is_yes),
        has_history: row.get(4).is_some_and(is_yes),
    }
}

/// A change of the actors, which counts for those who log in from now on.
fn change_actor(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let mut actors = source.host.instruments.setup.actors.lock();
    let row = match change {
        Change::Insert(row) | Change::Delete(row) | Change::Update { row, .. } => actor_of(row),
    };
    let place = actors.iter().position(|actor| actor.is(&row));
    match (change, place) {
        (Change::Insert(_), None) => actors.push(row),
        (Change::Delete(_), Some(place)) => drop(actors.remove(place)),
        (Change::Update { column, value, .. }, Some(place)) => {
            let Some(actor) = actors.get_mut(place) else { return Changed::No };
            let flag = match column {
                3 => &mut actor.is_enabled,
                4 => &mut actor.has_history,
                _ => return Changed::Refused,
            };
            return changed(std::mem::replace(flag, is_yes(value)) != is_yes(value));
        }
        _ => return Changed::No,
    }
    Changed::Yes
}

/// A text, or the member of an ENUM.
fn word(value: Option<&Value>) -> String {
    match value {
        Some(Value::Enum(member)) => String::from_utf8_lossy(&member.text).into_owned(),
        other => shown(other),
    }
}

fn object_of(row: &[Value]) -> ObjectRule {
    ObjectRule {
        object_type: word(row.first()),
        schema: shown(row.get(1)),
        name: shown(row.get(2)),
        is_enabled: row.get(3).is_some_and(is_yes),
        is_timed: row.get(4).is_some_and(is_yes),
    }
}

/// A change of the objects, which counts at once.
fn change_object(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let row = match change {
        Change::Insert(row) | Change::Delete(row) | Change::Update { row, .. } => object_of(row),
    };
    source.host.instruments.objects.change(&source.host.engine, |rules| {
        let place = rules.iter().position(|rule| rule.is(&row));
        match (change, place) {
            (Change::Insert(_), None) => rules.push(row),
            (Change::Delete(_), Some(place)) => drop(rules.remove(place)),
            (Change::Update { column, value, .. }, Some(place)) => {
                let Some(rule) = rules.get_mut(place) else { return Changed::No };
                let flag = match column {
                    3 => &mut rule.is_enabled,
                    4 => &mut rule.is_timed,
                    _ => return Changed::Refused,
                };
                return changed(std::mem::replace(flag, is_yes(value)) != is_yes(value));
            }
            _ => return Changed::No,
        }
        Changed::Yes
    })
}

/// A change of what is collected of threads that begin from now on.
fn change_threads(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let Change::Update { row, column: column @ (1 | 2), value } = change else { return Changed::Refused };
    let name = shown(row.first());
    match source.host.instruments.threads.iter().find(|class| class.name == name) {
        Some(class) => changed(class.set(*column == 2, is_yes(value))),
        None => Changed::No,
    }
}

/// An instrument, and whether it is enabled and timed.
type InstrumentSubject = (Instrument, (bool, bool));

/// What MySQL says of an instrument whose events get another name when more is known of them.
fn properties(instrument: Instrument) -> &'static str {
    match instrument {
        Instrument::Stage(class) if class.has_progress() => "progress",
        _ if instrument.name().starts_with("statement/abstract/") => "mutable",
        _ => "",
    }
}

fn is_timed((instrument, (_, is_timed)): &InstrumentSubject) -> Value {
    if instrument.has_times() { yes_no(*is_timed) } else { Value::Null }
}

virtual_table! {
    mod consumers = "performance_schema"."setup_consumers" of |it: (&'static str, bool)| {
        NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(it.0),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no(it.1),
    }
}

virtual_table! {
    mod instruments = "performance_schema"."setup_instruments" of |it: InstrumentSubject| {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(it.0.name()),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no(it.1.0),
        TIMED: enum("YES", "NO") in utf8mb4_0900_ai_ci => is_timed(it),
        PROPERTIES: set("singleton", "progress", "user", "global_statistics", "mutable", "controlled_by_default") in utf8mb4_0900_ai_ci not null => text(properties(it.0)),
        FLAGS: set("controlled") in utf8mb4_0900_ai_ci => Value::Null,
        VOLATILITY: int not null => Value::Int(0),
        DOCUMENTATION: longtext in utf8mb4_0900_ai_ci => Value::Null,
    }
}

virtual_table! {
    mod actors = "performance_schema"."setup_actors" of |it: Actor| {
        HOST: char(255) in ascii_general_ci not null default "%" key PRI => text(&it.host),
        USER: char(32) in utf8mb4_bin not null default "%" key PRI => text(&it.user),
        ROLE: char(32) in utf8mb4_bin not null default "%" key PRI => text(&it.role),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null default "YES" => yes_no(it.is_enabled),
        HISTORY: enum("YES", "NO") in utf8mb4_0900_ai_ci not null default "YES" => yes_no(it.has_history),
    }
}

virtual_table! {
    mod objects = "performance_schema"."setup_objects" of |it: ObjectRule| {
        OBJECT_TYPE: enum("EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER") in utf8mb4_0900_ai_ci not null default "TABLE" key MUL => text(&it.object_type),
        OBJECT_SCHEMA: varchar(64) in utf8mb4_0900_ai_ci default "%" => text(&it.schema),
        OBJECT_NAME: varchar(64) in utf8mb4_0900_ai_ci not null default "%" => text(&it.name),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null default "YES" => yes_no(it.is_enabled),
        TIMED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null default "YES" => yes_no(it.is_timed),
    }
}

/// A class of threads: its name, whether there is one, and what it says.
type ThreadSubject = (&'static str, bool, bool, bool);

fn thread_properties(it: &ThreadSubject) -> &'static str {
    match it {
        ("thread/sql/one_connection", ..) => "user",
        (_, true, ..) => "singleton",
        _ => "",
    }
}

virtual_table! {
    mod threads = "performance_schema"."setup_threads" of |it: ThreadSubject| {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(it.0),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no(it.2),
        HISTORY: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no(it.3),
        PROPERTIES: set("singleton", "user") in utf8mb4_0900_ai_ci not null => text(thread_properties(it)),
        VOLATILITY: int not null => Value::Int(0),
        DOCUMENTATION: longtext in utf8mb4_0900_ai_ci => Value::Null,
    }
}

virtual_table! {
    /// Nothing is sent elsewhere.
    mod loggers = "performance_schema"."setup_loggers" {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null,
        LEVEL: enum("none", "error", "warn", "info", "debug") in utf8mb4_0900_ai_ci not null,
        DESCRIPTION: varchar(1023) in utf8mb4_0900_ai_ci,
    }
}

virtual_table! {
    /// Counters are fetched, and not sent elsewhere.
    mod meters = "performance_schema"."setup_meters" {
        NAME: varchar(63) in utf8mb4_0900_ai_ci not null key PRI,
        FREQUENCY: mediumint_unsigned not null,
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null,
        DESCRIPTION: varchar(1023) in utf8mb4_0900_ai_ci,
    }
}

virtual_table! {
    /// As meters.
    mod metrics = "performance_schema"."setup_metrics" {
        NAME: varchar(63) in utf8mb4_0900_ai_ci not null key PRI,
        METER: varchar(63) in utf8mb4_0900_ai_ci not null,
        METRIC_TYPE: enum("ASYNC COUNTER", "ASYNC UPDOWN COUNTER", "ASYNC GAUGE COUNTER") in utf8mb4_0900_ai_ci not null,
        NUM_TYPE: enum("INTEGER", "DOUBLE") in utf8mb4_0900_ai_ci not null,
        UNIT: varchar(63) in utf8mb4_0900_ai_ci,
        DESCRIPTION: varchar(1023) in utf8mb4_0900_ai_ci,
    }
}
