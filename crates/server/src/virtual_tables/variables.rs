//! System variables, where their values come from, and status counters.

use palisade_base::sysvar::{Kind, Scope as Declared, VariableId};
use palisade_catalog::{Timestamp, Value};
use palisade_schema::{Rows, Wanted, virtual_table};
use palisade_sql::{Scope, SystemVariables as _};

use super::{Definition, Source, Tables, of_each, optional_text, text};
use crate::variable_sources::{self, range};

pub(super) static TABLES: Tables = &[
    Definition::new(&global_variables::DECL, |source, wanted| {
        of_each(source.host.variables(source.session.state, Scope::Global), global_variables::row, wanted)
    }),
    Definition::new(&session_variables::DECL, |source, wanted| {
        of_each(source.host.variables(source.session.state, Scope::Session), session_variables::row, wanted)
    }),
    Definition::new(&global_status::DECL, |source, wanted| {
        of_each(counters(source, Scope::Global), global_status::row, wanted)
    }),
    Definition::new(&session_status::DECL, |source, wanted| {
        of_each(counters(source, Scope::Session), session_status::row, wanted)
    }),
    Definition::new(&persisted_variables::DECL, |source, wanted| {
        // A file that cannot be read keeps nothing.
        let kept = source.host.globals.persisted.values().unwrap_or_default();
        let pairs = kept.into_iter().map(|(name, kept)| (name, kept.value));
        of_each(pairs.collect::<Vec<_>>(), persisted_variables::row, wanted)
    }),
    Definition::new(&variables_info::DECL, sources),
    Definition::new(&variables_metadata::DECL, |_, wanted| {
        of_each(VariableId::all().collect::<Vec<_>>(), variables_metadata::row, wanted)
    }),
];

/// The status counters. performance_schema counts statements in tables of its own, so that of the counters of
/// statements it has but one.
fn counters(source: &Source<'_>, scope: Scope) -> Vec<(String, String)> {
    let mut all = source.host.status(source.session, scope);
    all.retain(|(name, _)| !name.starts_with("Com_") || name == "Com_stmt_reprepare");
    all
}

virtual_table! {
    mod global_variables = "performance_schema"."global_variables" of |it: (String, String)| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.0),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(&it.1),
    }
}

virtual_table! {
    mod session_variables = "performance_schema"."session_variables" of |it: (String, String)| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.0),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(&it.1),
    }
}

virtual_table! {
    mod global_status = "performance_schema"."global_status" of |it: (String, String)| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.0),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(&it.1),
    }
}

virtual_table! {
    mod session_status = "performance_schema"."session_status" of |it: (String, String)| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.0),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(&it.1),
    }
}

virtual_table! {
    mod persisted_variables = "performance_schema"."persisted_variables" of |it: (String, String)| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null key PRI => text(&it.0),
        VARIABLE_VALUE: varchar(1024) in utf8mb4_0900_ai_ci => text(&it.1),
    }
}

/// A variable, and where its value comes from if not from its declaration.
type SourceSubject = (VariableId, Option<variable_sources::Source>);

virtual_table! {
    mod variables_info = "performance_schema"."variables_info" of |it: SourceSubject| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null => text(it.0.declaration().name),
        VARIABLE_SOURCE: enum("COMPILED", "GLOBAL", "SERVER", "EXPLICIT", "EXTRA", "USER", "LOGIN", "COMMAND_LINE", "PERSISTED", "DYNAMIC") in utf8mb4_0900_ai_ci default "COMPILED" => text(it.1.as_ref().map_or("COMPILED", |source| source.kind)),
        VARIABLE_PATH: varchar(1024) in utf8mb4_0900_ai_ci => text(it.1.as_ref().map_or("", |source| &*source.path)),
        MIN_VALUE: varchar(64) in utf8mb4_0900_ai_ci => text(range(it.0.declaration()).0),
        MAX_VALUE: varchar(64) in utf8mb4_0900_ai_ci => text(range(it.0.declaration()).1),
        SET_TIME: timestamp(6) => set_by(it).map_or(Value::Null, |setter| Value::Timestamp(Timestamp(setter.unix_micros))),
        SET_USER: char(32) in utf8mb4_bin => optional_text(set_by(it).map(|setter| &setter.user)),
        SET_HOST: char(255) in ascii_general_ci => optional_text(set_by(it).map(|setter| &setter.host)),
    }
}

/// Which session has set it.
fn set_by(subject: &SourceSubject) -> Option<&variable_sources::Setter> {
    subject.1.as_ref().and_then(|source| source.setter.as_ref())
}

fn sources(source: &Source<'_>, wanted: &Wanted) -> Rows {
    let known = source.host.globals.sources.lock();
    let subjects: Vec<SourceSubject> = VariableId::all().map(|id| (id, known.get(&id).cloned())).collect();
    of_each(subjects, variables_info::row, wanted)
}

virtual_table! {
    mod variables_metadata = "performance_schema"."variables_metadata" of |it: VariableId| {
        VARIABLE_NAME: varchar(64) in utf8mb4_0900_ai_ci not null => text(it.declaration().name),
        VARIABLE_SCOPE: enum("GLOBAL", "SESSION", "SESSION_ONLY") in utf8mb4_0900_ai_ci not null => text(scope(*it)),
        DATA_TYPE: enum("Integer", "Numeric", "String", "Enumeration", "Boolean", "Set") in utf8mb4_0900_ai_ci not null => text(data_type(*it).0),
        MIN_VALUE: varchar(64) in utf8mb4_0900_ai_ci => text(bounds(*it).0),
        MAX_VALUE: varchar(64) in utf8mb4_0900_ai_ci => text(bounds(*it).1),
        DOCUMENTATION: mediumtext in utf8mb4_0900_ai_ci not null => text(it.declaration().doc),
    }
}

fn scope(id: VariableId) -> &'static str {
    match id.declaration().scope {
        Declared::Global => "GLOBAL",
        Declared::Both => "SESSION",
        Declared::Session => "SESSION_ONLY",
    }
}

/// DATA_TYPE, and whether it is a number.
fn data_type(id: VariableId) -> (&'static str, bool) {
    match &id.declaration().kind {
        Kind::Bool(_) => ("Boolean", false),
        Kind::Int { .. } | Kind::UInt { .. } => ("Integer", true),
        Kind::Double { .. } => ("Numeric", true),
        Kind::Text(_) => ("String", false),
        Kind::Enum { .. } => ("Enumeration", false),
        Kind::Flags { .. } | Kind::Switches(_) => ("Set", false),
    }
}

fn bounds(id: VariableId) -> (String, String) {
    if data_type(id).1 { range(id.declaration()) } else { Default::default() }
}
