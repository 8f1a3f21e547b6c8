//! Views that are part of the server: what SQL reads like a table, and what stands for a query.
//!
//! A view is declared as a virtual table is ([`view!`](macro@crate::view)), but beside each column stands an
//! expression of SQL, and below them the tables that they are read from. What binds a query that names a view
//! binds the view's own query in its place, as a derived table. A view may have a twin whose name begins with
//! `x$`: the same rows, with durations in picoseconds and sizes in bytes, for programs.

use std::fmt::Write as _;

use crate::TableDecl;

/// How a value is shown to people; the twin of a view shows it as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// As it is.
    Itself,
    /// A duration, in picoseconds.
    Time,
    /// A size, in bytes.
    Bytes,
    /// The text of a statement, shortened.
    Statement,
    /// The path of a file, its beginning replaced by the name of the setting that it is.
    Path,
}

impl Shown {
    fn function(self) -> Option<&'static str> {
        match self {
            Shown::Itself => None,
            Shown::Time => Some("FORMAT_PICO_TIME"),
            Shown::Bytes => Some("FORMAT_BYTES"),
            Shown::Statement => Some("sys.format_statement"),
            Shown::Path => Some("sys.format_path"),
        }
    }
}

/// A view that is part of the server.
#[derive(Debug)]
pub struct View {
    /// Its declaration.
    pub declaration: &'static TableDecl,
    /// That of its twin, if it has one.
    pub twin: Option<&'static TableDecl>,
    /// The expressions of its columns.
    pub values: &'static [(Shown, &'static str)],
    /// What follows FROM.
    pub from: &'static str,
}

impl View {
    /// Its declaration, and that of its twin.
    pub fn declarations(&self) -> impl Iterator<Item = &'static TableDecl> {
        std::iter::once(self.declaration).chain(self.twin)
    }

    /// The query that stands for it, or for its twin.
    pub fn query(&self, is_twin: bool) -> String {
        let mut query = String::from("SELECT ");
        for (place, (column, (shown, value))) in self.declaration.columns.iter().zip(self.values).enumerate()
        {
            let comma = if place == 0 { "" } else { ", " };
            let name = column.name;
            let format = shown.function().filter(|_| !is_twin);
            // Writing to a String does not fail.
            let _: std::fmt::Result = match format {
                Some(function) => write!(query, "{comma}{function}({value}) AS `{name}`"),
                None => write!(query, "{comma}{value} AS `{name}`"),
            };
        }
        query + " FROM " + self.from
    }
}

/// Declares a view, as a module.
///
/// ```
/// use palisade_schema::view;
///
/// view! {
///     /// How long dishes take.
///     mod dishes = "kitchen"."dishes" twin {
///         name: varchar(64) not null => "d.name",
///         latency: varchar(11) | bigint_unsigned => time "d.picoseconds",
///     } from "menu.dishes d ORDER BY d.picoseconds"
/// }
///
/// let twin = dishes::VIEW.twin.unwrap();
/// assert_eq!(twin.name, "x$dishes");
/// assert_eq!(
///     dishes::VIEW.query(false),
///     "SELECT d.name AS `name`, FORMAT_PICO_TIME(d.picoseconds) AS `latency` \
///      FROM menu.dishes d ORDER BY d.picoseconds"
/// );
/// ```
///
/// A column is `name: type [in collation] [not null] [default "text"] [| the twin's type] => [how]
/// "expression"`, where `how` is one of `time`, `bytes`, `statement`, `path`. `alone` in place of `twin`
/// declares a view without one.
#[macro_export]
macro_rules! view {
    (
        $(#[$doc:meta])*
        $vis:vis mod $module:ident = $schema:literal . $name:literal $twin:ident {
            $($column:ident : $kind:ident $(($($argument:tt)*))? $(in $collation:ident)? $(not $null:ident)?
                $(default $default:literal)?
                $(| $twin_kind:ident $(($($twin_argument:tt)*))? $(in $twin_collation:ident)? $(not $twin_null:ident)?
                    $(default $twin_default:literal)?)?
                => $($shown:ident)? $value:literal),* $(,)?
        } from $from:literal
    ) => {
        $(#[$doc])*
        $vis mod $module {
            /// Its declaration, and its query.
            pub static VIEW: $crate::View = $crate::View {
                declaration: &$crate::TableDecl {
                    schema: $schema,
                    name: $name,
                    columns: &[$($crate::column_decl!(
                        $column $kind [$($($argument)*)?] [$($collation)?] [$($null)?] [$($default)?] []
                    )),*],
                },
                twin: $crate::view_part!(@twin $twin &$crate::TableDecl {
                    schema: $schema,
                    name: concat!("x$", $name),
                    columns: &[$($crate::view_part!(
                        @column $column
                        [$kind [$($($argument)*)?] [$($collation)?] [$($null)?] [$($default)?]]
                        [$($twin_kind [$($($twin_argument)*)?] [$($twin_collation)?] [$($twin_null)?] [$($twin_default)?])?]
                    )),*],
                }),
                values: &[$(($crate::view_part!(@shown $($shown)?), $value)),*],
                from: $from,
            };
        }
    };
}

/// A part of a view's declaration, for [`view!`].
#[doc(hidden)]
#[macro_export]
macro_rules! view_part {
    (@twin alone $twin:expr) => { None };
    (@twin twin $twin:expr) => { Some($twin) };
    (@column $column:ident [$($own:tt)*] []) => { $crate::column_decl!($column $($own)* []) };
    (@column $column:ident [$($own:tt)*] [$($twin:tt)+]) => { $crate::column_decl!($column $($twin)+ []) };
    (@shown) => { $crate::Shown::Itself };
    (@shown time) => { $crate::Shown::Time };
    (@shown bytes) => { $crate::Shown::Bytes };
    (@shown statement) => { $crate::Shown::Statement };
    (@shown path) => { $crate::Shown::Path };
}
