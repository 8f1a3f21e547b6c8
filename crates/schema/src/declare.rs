//! [`virtual_table!`](crate::virtual_table): a column on one line beside the expression of its value.

use palisade_catalog::Value;

use crate::{ColumnDecl, Row, TableDecl, Wanted};

/// A row of the values that these functions make of a subject; NULL where the value is not wanted.
pub fn row_of<S: ?Sized>(
    table: &'static TableDecl,
    values: &[fn(&S) -> Value],
    subject: &S,
    wanted: &Wanted,
) -> Row {
    let value = |place: usize, column: &ColumnDecl, value: &fn(&S) -> Value| {
        if !wanted.has(place) {
            return Value::Null;
        }
        let value = column.column_type.kept(value(subject));
        debug_assert!(column.nullable || !value.is_null(), "{}.{} is NULL", table.name, column.name);
        value
    };
    let columns = table.columns.iter().zip(values).enumerate();
    columns.map(|(place, (column, of))| value(place, column, of)).collect()
}

/// Declares a virtual table, as a module.
///
/// ```
/// use palisade_catalog::Value;
/// use palisade_schema::{Wanted, virtual_table};
///
/// struct Dish<'a> {
///     name: &'a str,
///     price: u64,
/// }
///
/// virtual_table! {
///     /// What there is to eat.
///     mod dishes = "kitchen"."DISHES" of |it: Dish<'_>| {
///         NAME: varchar(64) in utf8mb3_bin not null key PRI => Value::bytes(it.name),
///         PRICE: int_unsigned not null default "0" => Value::UInt(it.price),
///         SIZE: enum("small", "large") => Value::bytes("large"),
///     }
/// }
///
/// fn main() {
///     let soup = Dish { name: "soup", price: 4 };
///     assert_eq!(dishes::DECL.columns[1].name, "PRICE");
///     let row = dishes::row(&soup, &Wanted::columns(&dishes::DECL, [0]));
///     assert_eq!(&*row, [Value::bytes("soup"), Value::Null, Value::Null]);
/// }
/// ```
///
/// A column is `NAME: type [in collation] [not null] [default "text"] [key PRI] => value`. Texts are in
/// utf8mb3_general_ci unless they say another collation. Without `of |..|` and the values it is a table of
/// which there are no rows.
#[macro_export]
macro_rules! virtual_table {
    (
        $(#[$doc:meta])*
        $vis:vis mod $module:ident = $schema:literal . $name:literal of |$it:ident: $subject:ty| {
            $($column:ident : $kind:ident $(($($argument:tt)*))? $(in $collation:ident)? $(not $null:ident)?
                $(default $default:literal)? $(key $key:ident)? => $value:expr),* $(,)?
        }
    ) => {
        $(#[$doc])*
        $vis mod $module {
            #[allow(unused_imports, clippy::wildcard_imports, reason = "values are written for the module around")]
            use super::*;

            /// Its declaration.
            pub static DECL: $crate::TableDecl = $crate::TableDecl {
                schema: $schema,
                name: $name,
                columns: &[$($crate::column_decl!(
                    $column $kind [$($($argument)*)?] [$($collation)?] [$($null)?] [$($default)?] [$($key)?]
                )),*],
            };

            #[allow(unused_variables, reason = "a value may be the same for all subjects")]
            const VALUES: &[fn(&$subject) -> $crate::for_macros::Value] = &[$(|$it| $value),*];

            /// The row of a subject.
            pub fn row(subject: &$subject, wanted: &$crate::Wanted) -> $crate::Row {
                $crate::row_of(&DECL, VALUES, subject, wanted)
            }
        }
    };
    (
        $(#[$doc:meta])*
        $vis:vis mod $module:ident = $schema:literal . $name:literal {
            $($column:ident : $kind:ident $(($($argument:tt)*))? $(in $collation:ident)? $(not $null:ident)?
                $(default $default:literal)? $(key $key:ident)?),* $(,)?
        }
    ) => {
        $(#[$doc])*
        $vis mod $module {
            /// Its declaration.
            pub static DECL: $crate::TableDecl = $crate::TableDecl {
                schema: $schema,
                name: $name,
                columns: &[$($crate::column_decl!(
                    $column $kind [$($($argument)*)?] [$($collation)?] [$($null)?] [$($default)?] [$($key)?]
                )),*],
            };
        }
    };
}

/// A column's declaration, for [`virtual_table!`].
#[doc(hidden)]
#[macro_export]
macro_rules! column_decl {
    ($column:ident $kind:ident [$($argument:tt)*] [$($collation:ident)?] [$($null:ident)?] [$($default:literal)?] [$($key:ident)?]) => {
        $crate::ColumnDecl {
            name: stringify!($column),
            column_type: $crate::column_type!($kind [$($argument)*] [$($collation)?]),
            nullable: $crate::column_decl!(@nullable $($null)?),
            default: $crate::column_decl!(@default $($default)?),
            key: $crate::column_decl!(@key $($key)?),
        }
    };
    (@nullable) => { true };
    (@nullable null) => { false };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
    (@key) => { "" };
    (@key $key:ident) => { stringify!($key) };
}

/// A column's type, for [`virtual_table!`].
#[doc(hidden)]
#[macro_export]
macro_rules! column_type {
    (tinyint [] []) => { $crate::column_type!(@int Tiny false) };
    (tinyint_unsigned [] []) => { $crate::column_type!(@int Tiny true) };
    (smallint [] []) => { $crate::column_type!(@int Small false) };
    (smallint_unsigned [] []) => { $crate::column_type!(@int Small true) };
    (mediumint_unsigned [] []) => { $crate::column_type!(@int Medium true) };
    (int [] []) => { $crate::column_type!(@int Int false) };
    (int_unsigned [] []) => { $crate::column_type!(@int Int true) };
    (bigint [] []) => { $crate::column_type!(@int Big false) };
    (bigint_unsigned [] []) => { $crate::column_type!(@int Big true) };
    (bool [] []) => { $crate::ColumnType::Bool };
    (decimal [$precision:literal, $scale:literal] []) => {
        $crate::ColumnType::Decimal { precision: $precision, scale: $scale }
    };
    (decimal_unsigned [$precision:literal, $scale:literal] []) => {
        $crate::ColumnType::UnsignedDecimal { precision: $precision, scale: $scale }
    };
    (float [] []) => { $crate::ColumnType::Float };
    (double [] []) => { $crate::ColumnType::Double };
    (double [$precision:literal, $scale:literal] []) => {
        $crate::ColumnType::DoubleDigits { precision: $precision, scale: $scale }
    };
    (date [] []) => { $crate::ColumnType::Date };
    (time [] []) => { $crate::ColumnType::Time };
    (datetime [] []) => { $crate::ColumnType::DateTime { fsp: 0 } };
    (timestamp [] []) => { $crate::ColumnType::Timestamp { fsp: 0 } };
    (timestamp [$fsp:literal] []) => { $crate::ColumnType::Timestamp { fsp: $fsp } };
    (varbinary [$length:literal] []) => { $crate::ColumnType::VarBinary { length: $length } };
    (blob [] []) => { $crate::ColumnType::Blob { size: $crate::for_macros::LobSize::Normal } };
    (longblob [] []) => { $crate::ColumnType::Blob { size: $crate::for_macros::LobSize::Long } };
    (json [] []) => { $crate::ColumnType::Json };
    (char [$length:literal] [$($collation:ident)?]) => {
        $crate::ColumnType::Char { length: $length, collation: $crate::column_type!(@in $($collation)?) }
    };
    (varchar [$length:literal] [$($collation:ident)?]) => {
        $crate::ColumnType::VarChar { length: $length, collation: $crate::column_type!(@in $($collation)?) }
    };
    (text [] [$($collation:ident)?]) => { $crate::column_type!(@text Normal $($collation)?) };
    (mediumtext [] [$($collation:ident)?]) => { $crate::column_type!(@text Medium $($collation)?) };
    (longtext [] [$($collation:ident)?]) => { $crate::column_type!(@text Long $($collation)?) };
    (enum [$($member:literal),*] [$($collation:ident)?]) => {
        $crate::ColumnType::Enum { members: &[$($member),*], collation: $crate::column_type!(@in $($collation)?) }
    };
    (set [$($member:literal),*] [$($collation:ident)?]) => {
        $crate::ColumnType::Set { members: &[$($member),*], collation: $crate::column_type!(@in $($collation)?) }
    };
    // A list that has a name, since it is long.
    (enum_of [$members:path] [$($collation:ident)?]) => {
        $crate::ColumnType::Enum { members: &$members, collation: $crate::column_type!(@in $($collation)?) }
    };
    (set_of [$members:path] [$($collation:ident)?]) => {
        $crate::ColumnType::Set { members: &$members, collation: $crate::column_type!(@in $($collation)?) }
    };
    (@int $width:ident $unsigned:literal) => {
        $crate::ColumnType::Int { width: $crate::for_macros::IntWidth::$width, unsigned: $unsigned }
    };
    (@text $size:ident $($collation:ident)?) => {
        $crate::ColumnType::Text {
            size: $crate::for_macros::LobSize::$size,
            collation: $crate::column_type!(@in $($collation)?),
        }
    };
    (@in) => { $crate::column::collation::utf8mb3_general_ci };
    (@in $collation:ident) => { $crate::column::collation::$collation };
}
