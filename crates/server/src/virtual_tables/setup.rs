//! What is collected of statements, and of whose: the tables that set it up.

use palisade_catalog::Value;
use palisade_observe::class::{self, Class};
use palisade_schema::{Change, ChangeKind, Changed, virtual_table};

use super::{Definition, Source, Tables, changed, is_yes, of_each, text, yes_no};
use crate::instruments::setup::{Actor, CONSUMERS};

pub(super) static TABLES: Tables = &[
    Definition::new(&consumers::DECL, |source, wanted| {
        let setup = &source.host.instruments.setup;
        let of = |(name, consumer)| (name, setup.is_enabled(consumer));
        of_each(CONSUMERS.map(of), consumers::row, wanted)
    })
    .changed_by(&[ChangeKind::Update], change_consumer),
    Definition::new(&instruments::DECL, |source, wanted| {
        let setup = &source.host.instruments.setup;
        let of = |class| (class, setup.statements(class));
        of_each(class::all().map(of).collect::<Vec<_>>(), instruments::row, wanted)
    })
    .changed_by(&[ChangeKind::Update], change_instrument),
    Definition::new(&actors::DECL, |source, wanted| {
        of_each(source.host.instruments.setup.actors.lock().clone(), actors::row, wanted)
    })
    .changed_by(&[ChangeKind::Insert, ChangeKind::Update, ChangeKind::Delete], change_actor)
    .truncated_by(|source| source.host.instruments.setup.actors.lock().clear()),
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
    match consumer {
        None if is_yes(value) => Changed::Refused,
        None => Changed::No,
        Some(consumer) => {
            let setup = &source.host.instruments.setup;
            let was_on = setup.is_on();
            let is_change = setup.enable(*consumer, is_yes(value));
            if !was_on && setup.is_on() {
                source.host.connections.observe_anew();
            }
            changed(is_change)
        }
    }
}

fn change_instrument(source: &Source<'_>, change: &Change<'_>) -> Changed {
    let Change::Update { row, column: column @ (1 | 2), value } = change else { return Changed::Refused };
    let Some(class) = class::find(&shown(row.first())) else { return Changed::No };
    changed(source.host.instruments.setup.set_statements(class, *column == 2, is_yes(value)))
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

/// An instrument, and whether it is enabled and timed.
type InstrumentSubject = (Class, (bool, bool));

/// What MySQL says of an instrument whose events get another name when more is known of them.
fn properties(class: Class) -> &'static str {
    if class::name(class).starts_with("statement/abstract/") { "mutable" } else { "" }
}

virtual_table! {
    mod consumers = "performance_schema"."setup_consumers" of |it: (&'static str, bool)| {
        NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(it.0),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no(it.1),
    }
}

virtual_table! {
    mod instruments = "performance_schema"."setup_instruments" of |it: InstrumentSubject| {
        NAME: varchar(128) in utf8mb4_0900_ai_ci not null key PRI => text(class::name(it.0)),
        ENABLED: enum("YES", "NO") in utf8mb4_0900_ai_ci not null => yes_no(it.1.0),
        TIMED: enum("YES", "NO") in utf8mb4_0900_ai_ci => yes_no(it.1.1),
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
