//! VIEWS, VIEW_TABLE_USAGE, and what other tables say of views: their columns, and whether they are valid.
//!
//! What a view gives is found by binding it, now: the tables below it may have changed since it was made.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use palisade_catalog::{Column, SqlType, ViewDef};
use palisade_plan::bind::views::{ViewColumn, hide};
use palisade_plan::bind::{Binder, BindingSession};
use palisade_schema::{Rows, TableDecl, Wanted, virtual_table};
use palisade_session::virtual_tables::RowSource;

use super::{Definition, InformationSchema, Tables, catalog, text, wanted_schemas, yes_no};
use crate::{SqlResult, sys};

pub(super) static TABLES: Tables = &[
    Definition::new(&views::DECL, all_views),
    Definition::new(&view_table_usage::DECL, |source, wanted| {
        let used = self::wanted(source, wanted).into_iter().flat_map(|view| {
            let row = |table: &(String, String)| view_table_usage::row(&(&*view, table), wanted);
            view.tables.iter().map(row).collect::<Vec<_>>()
        });
        Box::new(used.collect::<Vec<_>>().into_iter())
    }),
];

/// Whose the views of sys are: the account of MySQL's sys.
pub const DEFINER: &str = "mysql.sys@localhost";
/// The character set and collation of the client that made them.
pub const MADE_IN: (&str, &str) = ("utf8mb4", "utf8mb4_0900_ai_ci");

/// A view, as VIEWS tells of it.
struct ViewSubject<'a> {
    schema: &'a str,
    name: &'a str,
    query: String,
    check: &'static str,
    is_updatable: bool,
    definer: &'a str,
    security: &'static str,
    made_in: (&'static str, &'static str),
}

virtual_table! {
    mod views = "information_schema"."VIEWS" of |it: ViewSubject<'_>| {
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(it.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(it.name),
        VIEW_DEFINITION: longtext in utf8mb3_bin => text(&it.query),
        CHECK_OPTION: enum("NONE", "LOCAL", "CASCADED") in utf8mb3_bin => text(it.check),
        IS_UPDATABLE: enum("NO", "YES") in utf8mb3_bin => yes_no(it.is_updatable),
        DEFINER: varchar(288) in utf8mb3_bin => text(it.definer),
        SECURITY_TYPE: varchar(7) in utf8mb3_bin => text(it.security),
        CHARACTER_SET_CLIENT: varchar(64) not null => text(it.made_in.0),
        COLLATION_CONNECTION: varchar(64) not null => text(it.made_in.1),
    }
}

virtual_table! {
    mod view_table_usage = "information_schema"."VIEW_TABLE_USAGE" of |it: (&ViewDef, &(String, String))| {
        VIEW_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        VIEW_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.0.schema),
        VIEW_NAME: varchar(64) in utf8mb3_bin not null => text(&it.0.name),
        TABLE_CATALOG: varchar(64) in utf8mb3_bin not null => catalog(),
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => text(&it.1.0),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => text(&it.1.1),
    }
}

fn all_views(source: &RowSource<'_>, wanted: &Wanted) -> Rows {
    let stored: Vec<_> = self::wanted(source, wanted)
        .iter()
        .map(|view| {
            let (client, connection) = (view.client_collation.get(), view.connection_collation.get());
            let subject = ViewSubject {
                schema: &view.schema,
                name: &view.name,
                query: view.query.clone(),
                check: view.check.name(),
                is_updatable: view.is_updatable,
                definer: &view.definer,
                security: if view.is_invokers { "INVOKER" } else { "DEFINER" },
                made_in: (client.charset.name(), connection.name),
            };
            views::row(&subject, wanted)
        })
        .collect();
    let admitted = wanted.clone();
    let of_sys = sys::declarations().filter(move |view| admitted.admits(view.schema, view.name));
    let wanted = wanted.clone();
    let of_sys = of_sys.map(move |view: &'static TableDecl| {
        let query = sys::view(view.schema, view.name).map_or(String::new(), |view| view.text);
        let subject = ViewSubject {
            schema: view.schema,
            name: view.name,
            query,
            check: "NONE",
            is_updatable: false,
            definer: DEFINER,
            security: "INVOKER",
            made_in: MADE_IN,
        };
        views::row(&subject, &wanted)
    });
    Box::new(stored.into_iter().chain(of_sys))
}

/// The views of the dictionary that may be wanted, in order of name.
pub(super) fn wanted(source: &RowSource<'_>, wanted: &Wanted) -> Vec<Arc<ViewDef>> {
    let dictionary = source.engine.dictionary();
    let schemas = wanted_schemas(&dictionary, wanted);
    let views = schemas.iter().flat_map(|schema| dictionary.views(&schema.name));
    views.filter(|view| wanted.tables.admits(&view.name)).cloned().collect()
}

/// The columns that a view gives now: 1356 if it gives none.
fn bound(source: &RowSource<'_>, view: &Arc<ViewDef>) -> SqlResult<Vec<ViewColumn>> {
    let (dictionary, gives_way) = (source.engine.dictionary(), AtomicBool::new(false));
    let session = BindingSession { view: source.session, locks: None, gives_way: &gives_way, hints: None };
    let mut binder = Binder::new(session, source.host, &InformationSchema, source.engine, &dictionary, &[]);
    binder.only_describes = true;
    binder.view_columns(view).map_err(|error| hide(error, &view.schema, &view.name))
}

/// 1356, or what else is wrong with a view.
pub fn check(source: &RowSource<'_>, view: &Arc<ViewDef>) -> SqlResult<()> {
    bound(source, view).map(drop)
}

/// The columns of a view as those of a table: what is a table's column has its default and comment, what is
/// computed and never NULL the value of its type that is zero, as text.
pub(super) fn columns(
    source: &RowSource<'_>,
    view: &Arc<ViewDef>,
) -> SqlResult<Vec<(Column, Option<String>)>> {
    let column = |(place, column): (usize, ViewColumn)| {
        let ViewColumn { name, ty, nullable, origin } = column;
        let mut shown = Column::new(name, ty, place as u16);
        shown.nullable = nullable;
        let mut default = None;
        match origin {
            Some((table, place)) => {
                if let Some(base) = table.columns.get(place) {
                    shown.comment.clone_from(&base.comment);
                    shown.default = base.default.clone();
                    shown.on_update_now = base.on_update_now;
                    shown.display_width = base.display_width;
                    if base.auto_increment {
                        default = Some(zero(&shown.sql_type));
                    }
                }
            }
            None if !nullable => default = Some(zero(&shown.sql_type)),
            None => {}
        }
        (shown, default)
    };
    Ok(bound(source, view)?.into_iter().enumerate().map(column).collect())
}

/// The value of a type that a column has which is given none and may not be NULL.
fn zero(ty: &SqlType) -> String {
    match ty {
        SqlType::Int { .. } | SqlType::Float { .. } | SqlType::Double { .. } => "0".to_owned(),
        SqlType::Decimal { scale: 0, .. } => "0".to_owned(),
        SqlType::Decimal { scale, .. } => format!("0.{}", "0".repeat(usize::from(*scale))),
        SqlType::Date => "0000-00-00".to_owned(),
        SqlType::Time { .. } => "00:00:00".to_owned(),
        SqlType::DateTime { .. } | SqlType::Timestamp { .. } => "0000-00-00 00:00:00".to_owned(),
        _ => String::new(),
    }
}
