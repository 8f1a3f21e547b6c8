//! Generated invisible primary keys: what `sql_generate_invisible_primary_key` adds to a new table that has
//! no key by which rows could be kept, and what ALTER TABLE may do with it.
//!
//! Nothing in a definition says that a key was generated: it is one by what it is, as in MySQL. So a table of
//! a dump has its key again, and one that is declared by hand counts as well.

use palisade_base::error_catalogue::{
    ER_DROP_PK_COLUMN_TO_DROP_GIPK, ER_GIPK_COLUMN_ALTER_NOT_ALLOWED, ER_GIPK_COLUMN_EXISTS,
    ER_GIPK_FAILED_AUTOINC_COLUMN_EXISTS,
};
use palisade_base::mysql_error;
use palisade_catalog::SqlType;
use palisade_catalog::descriptor::{Column, DefaultValue, TableDef, Visibility};
use palisade_expr::place::At;
use palisade_parser::ast::{AlterAction, AlterTable, IndexDefinition, IndexKey, IndexKind};

use super::{Definer, table, unsupported};
use crate::SqlResult;

/// The column of a generated key.
const NAME: &str = "my_row_id";

/// Whether a generated key is shown: `show_gipk_in_create_table_and_information_schema`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedKey {
    /// As any other key.
    Shown,
    /// Neither it nor its column.
    Hidden,
}

impl GeneratedKey {
    /// What the variable says.
    pub fn of(shows: bool) -> GeneratedKey {
        if shows { GeneratedKey::Shown } else { GeneratedKey::Hidden }
    }

    /// Whether a column is to be left out of what is shown of its table.
    pub fn hides_column(self, table: &TableDef, place: usize) -> bool {
        self == GeneratedKey::Hidden && place == 0 && is_generated(table)
    }

    /// Whether an index is to be left out.
    pub fn hides_index(self, table: &TableDef, is_primary: bool) -> bool {
        self == GeneratedKey::Hidden && is_primary && is_generated(table)
    }
}

/// Whether the primary key of a table is a generated one: it is over the first column, which is as
/// [`add`] makes it.
pub fn is_generated(table: &TableDef) -> bool {
    let is_first = |column: &Column| column.visibility == Visibility::Invisible && fits(column);
    table.columns.first().is_some_and(is_first) && has_key_over(table, 0)
}

/// Whether the primary key is over one column.
fn has_key_over(table: &TableDef, place: usize) -> bool {
    let primary = table.indexes.iter().find(|index| index.primary);
    primary.is_some_and(|index| matches!(&*index.parts, [part] if usize::from(part.column) == place))
}

/// Whether a column is that of a generated key, but that it may be visible.
fn fits(column: &Column) -> bool {
    column.is_called(NAME)
        && column.sql_type == SqlType::BIGINT_UNSIGNED
        && column.auto_increment
        && !column.nullable
        && matches!(column.default, DefaultValue::None)
}

/// Adds the column of a generated key to a new table of which all other columns are there, if it is to have
/// one: neither a primary key nor a unique key of whole columns that are not NULL. Gives its definition.
pub fn add(
    definer: &Definer<'_>,
    def: &mut TableDef,
    keys: &[&IndexDefinition],
    is_partitioned: bool,
) -> SqlResult<Option<IndexDefinition>> {
    let is_key = |key: &&&IndexDefinition| match key.kind {
        IndexKind::Primary => true,
        IndexKind::Unique => key.parts.iter().all(|part| match &part.key {
            IndexKey::Column(name, None) => {
                let column = def.column_index(name).and_then(|place| def.columns.get(place));
                column.is_some_and(|column| !column.nullable)
            }
            IndexKey::Column(_, Some(_)) | IndexKey::Expr(_) => false,
        }),
        IndexKind::Plain | IndexKind::FullText | IndexKind::Spatial => false,
    };
    // The server makes its own tables as they are to be.
    if !definer.generates_keys || def.schema == table::SYSTEM || keys.iter().any(|key| is_key(&key)) {
        return Ok(None);
    }
    if is_partitioned {
        return unsupported("generating invisible primary key for the partitioned tables");
    }
    if def.column_index(NAME).is_some() {
        return Err(mysql_error!(ER_GIPK_COLUMN_EXISTS, NAME));
    }
    if def.columns.iter().any(|column| column.auto_increment) {
        return Err(mysql_error!(ER_GIPK_FAILED_AUTOINC_COLUMN_EXISTS));
    }
    let mut column = Column::new(NAME.to_owned(), SqlType::BIGINT_UNSIGNED, 0);
    column.nullable = false;
    column.auto_increment = true;
    column.visibility = Visibility::Invisible;
    def.columns.insert(0, column);
    for (place, column) in def.columns.iter_mut().enumerate() {
        column.ordinal = Some(place as u16);
    }
    Ok(Some(table::key_over(IndexKind::Primary, NAME)))
}

/// 4110 for a generated key's column that is to have a default value.
pub fn check_defaults(old: &TableDef, statement: &AlterTable) -> SqlResult<()> {
    let sets = |action: &AlterAction| matches!(action, AlterAction::SetDefault(name, _) if name.eq_ignore_ascii_case(NAME));
    match statement.actions.iter().any(sets) && is_generated(old) {
        true => Err(mysql_error!(ER_GIPK_COLUMN_ALTER_NOT_ALLOWED, NAME)),
        false => Ok(()),
    }
}

/// What ALTER TABLE must not make of a table: 1235 for one that loses its last key while keys are generated;
/// 4111 for a generated key that goes without its column, and 4110 for a column of one that becomes another.
/// `origins` are the old places of the new columns.
pub fn check_altered(
    definer: &Definer<'_>,
    old: &TableDef,
    new: &TableDef,
    origins: &[Option<usize>],
) -> SqlResult<()> {
    if definer.generates_keys && old.clustering_index().is_some() && new.clustering_index().is_none() {
        return unsupported(
            "an operation that leaves the table without a PRIMARY KEY or a UNIQUE NOT NULL key while \
             @@sql_generate_invisible_primary_key=ON.",
        );
    }
    let Some(place) = origins.iter().position(|origin| *origin == Some(0)).filter(|_| is_generated(old))
    else {
        return Ok(());
    };
    if !has_key_over(new, place) {
        return Err(mysql_error!(ER_DROP_PK_COLUMN_TO_DROP_GIPK));
    }
    match place == 0 && fits(new.columns.at(0)?) {
        true => Ok(()),
        false => Err(mysql_error!(ER_GIPK_COLUMN_ALTER_NOT_ALLOWED, NAME)),
    }
}
