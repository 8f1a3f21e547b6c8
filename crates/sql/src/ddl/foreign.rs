//! Foreign keys: their definition, and what their tables may then no longer do.
//!
//! A foreign key names its parent; it may be there before the parent is (`foreign_key_checks=0`). It needs an index of
//! its own table that begins with its columns, which is made if there is none, and a unique index of the parent over
//! exactly the columns it refers to. Where `restrict_fk_on_non_standard_key` is OFF, any index of the parent
//! that begins with these columns will do; such a key is *not standard*.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{ForeignKey, Index, IndexPart};
use palisade_catalog::{SqlType, TableDef};
use palisade_engine::{Dictionary, Share, TableName};
use palisade_expr::place::At;
use palisade_parser::ast::{self, IndexDefinition, IndexKey, IndexKind, ReferenceAction};

use super::{Definer, column, expression, table, unsupported};
use crate::{SqlError, SqlResult};

palisade_base::metrics! {
    /// Foreign keys that do not refer to a whole unique key.
    pub static FOREIGN_KEYS_NOT_STANDARD: Counter = "Deprecated_use_fk_on_non_standard_key_count", "sql", "Warnings of foreign keys that refer to no whole unique key";
    /// When one was last warned of.
    pub static FOREIGN_KEYS_NOT_STANDARD_AT: Gauge = "Deprecated_use_fk_on_non_standard_key_last_timestamp", "sql", "Microseconds since 1970 of the last of them";
}

/// The index that a new foreign key needs.
#[derive(Debug)]
pub enum NeededIndex {
    /// There was one.
    Found,
    /// It was made, the last one of the definition; these implicit ones gave way to it.
    Made(Vec<Index>),
}

/// Adds a foreign key to `def`, whose columns are complete, and the index it needs. `leaving` are the names
/// of foreign keys that the same statement drops: they are taken until it ends.
pub fn add(
    definer: &mut Definer<'_>,
    def: &mut TableDef,
    foreign: &ast::ForeignKey,
    leaving: &[String],
) -> SqlResult<NeededIndex> {
    let name = match &foreign.name {
        Some(name) => {
            column::check_name(name)?;
            name.clone()
        }
        None => next_name(def, leaving),
    };
    let mut taken = def.foreign_keys.iter().map(|key| &key.name).chain(leaving);
    if taken.any(|taken| taken.eq_ignore_ascii_case(&name)) {
        return Err(mysql_error!(ER_FK_DUP_NAME, name));
    }
    let references = &foreign.references;
    if !references.columns.is_empty() && references.columns.len() != foreign.columns.len() {
        return Err(mismatch(foreign.name.as_deref()));
    }
    if references.matching.as_deref().is_some_and(|matching| !matching.eq_ignore_ascii_case("simple")) {
        return unsupported("MATCH FULL and MATCH PARTIAL");
    }
    let mut columns = Vec::with_capacity(foreign.columns.len());
    for column in &foreign.columns {
        let place = def.column_index(column).filter(|place| Some(*place) != def.row_id_column());
        columns.push(place.ok_or_else(|| mysql_error!(ER_KEY_COLUMN_DOES_NOT_EXITS, column))? as u16);
    }
    let no_name = |name: &&String| column::check_column_name(name).is_err();
    if let Some(name) = references.columns.iter().find(no_name) {
        return Err(mysql_error!(ER_WRONG_COLUMN_NAME, name));
    }
    let key = ForeignKey {
        name,
        columns,
        referenced_schema: references.table.schema.clone().unwrap_or_else(|| def.schema.clone()),
        referenced_table: references.table.name.clone(),
        referenced_columns: references.columns.clone(),
        on_delete: action_name(references.on_delete).to_owned(),
        on_update: action_name(references.on_update).to_owned(),
    };
    let parts: Vec<IndexPart> = key.columns.iter().copied().map(IndexPart::of).collect();
    let mut needed = NeededIndex::Found;
    // One that an earlier foreign key has brought gives way to the same of this one.
    let gives_way = |index: &Index| index.implicit && index.parts == parts;
    if !def.indexes.iter().any(|index| index.parts.starts_with(&parts) && !gives_way(index)) {
        let parts = foreign.columns.iter().map(|column| {
            let key = IndexKey::Column(column.clone(), None);
            ast::IndexPart { key, descending: false }
        });
        let name = foreign.name.clone().or_else(|| foreign.index_name.clone());
        let parts = parts.collect();
        let definition = IndexDefinition { kind: IndexKind::Plain, name, parts, options: Vec::new() };
        let replaced = table::add_index(definer, def, &definition)?;
        if let Some(index) = def.indexes.last_mut() {
            index.implicit = true;
        }
        needed = NeededIndex::Made(replaced);
    }
    def.foreign_keys.push(key);
    Ok(needed)
}

fn next_name(def: &TableDef, leaving: &[String]) -> String {
    let prefix = format!("{}_ibfk_", def.name);
    let names = def.foreign_keys.iter().map(|key| &key.name).chain(leaving);
    let numbers = names.filter_map(|name| name.strip_prefix(&prefix)?.parse::<u64>().ok());
    format!("{prefix}{}", numbers.max().unwrap_or(0) + 1)
}

fn action_name(action: Option<ReferenceAction>) -> &'static str {
    match action {
        // what is not said and NO ACTION are one
        None | Some(ReferenceAction::NoAction) => "",
        Some(ReferenceAction::Restrict) => "RESTRICT",
        Some(ReferenceAction::Cascade) => "CASCADE",
        Some(ReferenceAction::SetNull) => "SET NULL",
        Some(ReferenceAction::SetDefault) => "SET DEFAULT",
    }
}

/// Whether an index begins with these columns, whole.
pub fn begins_with(index: &Index, columns: &[u16]) -> bool {
    index.parts.len() >= columns.len()
        && index
            .parts
            .iter()
            .zip(columns)
            .all(|(part, column)| part.column == *column && part.prefix.is_none())
}

/// The index of a parent by which a foreign key finds its row.
#[derive(Debug, Clone)]
pub struct ParentIndex {
    /// Its number.
    pub index: usize,
    /// The places of the columns that the key refers to.
    pub places: Vec<u16>,
    /// Whether it is unique and over exactly these columns: there is one row at most.
    pub is_standard: bool,
}

/// The index by which a foreign key finds its parent, `None` if there is none: the unique one over exactly
/// the columns that the key refers to, in its order; else one that begins with them.
pub fn parent_index(parent: &TableDef, key: &ForeignKey) -> Option<ParentIndex> {
    let places: Option<Vec<u16>> = key
        .referenced_columns
        .iter()
        .map(|column| parent.column_index(column).map(|place| place as u16))
        .collect();
    let places = places?;
    let exact =
        |index: &Index| index.unique && index.parts.len() == places.len() && begins_with(index, &places);
    let standard = parent.indexes.iter().position(exact);
    let index = standard.or_else(|| parent.indexes.iter().position(|index| begins_with(index, &places)))?;
    Some(ParentIndex { index, places, is_standard: standard.is_some() })
}

/// The unique index of a parent over exactly the columns that a foreign key refers to.
pub fn standard_index(parent: &TableDef, key: &ForeignKey) -> Option<usize> {
    parent_index(parent, key).filter(|found| found.is_standard).map(|found| found.index)
}

/// The parent of a foreign key of `def`: the table itself, or another of the dictionary.
fn parent_of<'a>(dictionary: &'a Dictionary, def: &'a TableDef, key: &ForeignKey) -> Option<&'a TableDef> {
    if key.referenced_schema == def.schema && key.referenced_table == def.name {
        return Some(def);
    }
    let table = dictionary.table(&key.referenced_schema, &key.referenced_table).ok()?;
    Some(table.descriptor().def())
}

/// 1239: the columns here and there are not as many.
fn mismatch(name: Option<&str>) -> SqlError {
    let shown = name.unwrap_or("foreign key without name");
    mysql_error!(ER_WRONG_FK_DEF, shown, "Key reference and table reference don't match")
}

/// A foreign key that names no columns of its parent is about the primary key: names its columns.
pub fn name_parent_columns(dictionary: &Dictionary, def: &mut TableDef) -> SqlResult<()> {
    for place in 0..def.foreign_keys.len() {
        let key = def.foreign_keys.at(place)?;
        if !key.referenced_columns.is_empty() {
            continue;
        }
        let parent = parent_of(dictionary, def, key);
        let primary = parent.and_then(|parent| {
            let index = parent.indexes.iter().find(|index| index.primary)?;
            Some((parent, index))
        });
        let matching = primary.filter(|(_, index)| index.parts.len() == key.columns.len());
        let Some((parent, primary)) = matching else {
            let is_given = !key.name.starts_with(&format!("{}_ibfk_", def.name));
            return Err(mismatch(is_given.then_some(key.name.as_str())));
        };
        let name = |part: &IndexPart| parent.key_column(part.column).name.clone();
        def.foreign_keys.at_mut(place)?.referenced_columns = primary.parts.iter().map(name).collect();
    }
    Ok(())
}

/// Columns that get another name: old and new.
pub type Renamed = [(String, String)];

/// Whether one of the renamed columns of a table takes part in a foreign key, its own or another table's.
pub fn are_renamed(dictionary: &Dictionary, old: &TableDef, renamed: &Renamed) -> bool {
    let is_renamed = |name: &str| renamed.iter().any(|(from, _)| from.eq_ignore_ascii_case(name));
    let own = old.foreign_keys.iter().flat_map(|key| &key.columns);
    own.into_iter().any(|column| is_renamed(&old.key_column(*column).name))
        || dictionary.referring(&old.schema, &old.name).any(|child| {
            let keys = child.foreign_keys.iter();
            keys.filter(|key| key.referenced_schema == old.schema && key.referenced_table == old.name)
                .flat_map(|key| &key.referenced_columns)
                .any(|column| is_renamed(column))
        })
}

/// Makes the foreign keys of `def` that refer to the table `parent` follow its renamed columns. Whether there are any.
pub fn follow(def: &mut TableDef, parent: &TableName, renamed: &Renamed) -> bool {
    let mut followed = false;
    for key in &mut def.foreign_keys {
        if key.referenced_schema != parent.schema || key.referenced_table != parent.table {
            continue;
        }
        for column in &mut key.referenced_columns {
            if let Some((_, new)) = renamed.iter().find(|(old, _)| old.eq_ignore_ascii_case(column)) {
                column.clone_from(new);
                followed = true;
            }
        }
    }
    followed
}

/// What MySQL calls the index that a foreign key lacks which is not standard.
const UNKNOWN_INDEX: &str = "<unknown key name>";

/// What a definition is checked for.
#[derive(Clone, Copy)]
pub struct Terms<'a> {
    /// What the table was, if it is altered.
    pub old: Option<&'a TableDef>,
    /// Columns that get another name.
    pub renamed: &'a Renamed,
    /// The table's new name, if the statement does nothing else.
    pub moves_to: Option<&'a str>,
    /// `foreign_key_checks`: parents that are not there are an error.
    pub checked: bool,
    /// `restrict_fk_on_non_standard_key`.
    pub restricted: bool,
}

impl Terms<'_> {
    /// A foreign key of the definition is not standard. A warning, if the key is a new one.
    fn own_key(&self, key: &ForeignKey, parent: &TableDef) -> SqlResult<Option<SqlError>> {
        let is_known = |old: &TableDef| old.foreign_keys.iter().any(|known| known.name == key.name);
        if self.old.is_some_and(is_known) {
            return Ok(None);
        }
        match self.restricted {
            true => Err(mysql_error!(ER_FK_NO_UNIQUE_INDEX_PARENT, key.name, parent.name)),
            false => Ok(Some(mysql_error!(ER_WARN_DEPRECATED_NON_STANDARD_KEY, key.name))),
        }
    }

    /// Whether the statement does more to a table than to give it another name.
    fn alters(&self) -> bool {
        self.old.is_some() && self.moves_to.is_none()
    }

    /// The foreign key of another table that refers to this one is not standard. MySQL knows no name of what
    /// such a key lacks.
    fn key_of_child(&self, key: &ForeignKey, parent: &TableDef) -> SqlResult<SqlError> {
        let parent = self.moves_to.unwrap_or(&parent.name);
        match (self.restricted, self.alters()) {
            (true, true) => Err(mysql_error!(ER_DROP_INDEX_FK, UNKNOWN_INDEX)),
            (true, false) => Err(mysql_error!(ER_FK_NO_UNIQUE_INDEX_PARENT, key.name, parent)),
            (false, _) => Ok(mysql_error!(ER_WARN_DEPRECATED_NON_STANDARD_KEY, key.name)),
        }
    }
}

/// Checks the foreign keys of a definition, and those of other tables that refer to it; `name` is the name it has in the
/// dictionary. Gives warnings.
pub fn check(
    dictionary: &Dictionary,
    def: &TableDef,
    name: &TableName,
    terms: Terms<'_>,
) -> SqlResult<Vec<SqlError>> {
    let (mut warnings, mut of_children) = (Vec::new(), Vec::new());
    for key in &def.foreign_keys {
        let nulls = key.on_delete == "SET NULL" || key.on_update == "SET NULL";
        let not_null = key.columns.iter().find(|column| !def.key_column(**column).nullable);
        if let Some(column) = not_null.filter(|_| nulls) {
            return Err(mysql_error!(ER_FK_COLUMN_NOT_NULL, def.key_column(*column).name, key.name));
        }
        for column in key.columns.iter().map(|column| def.key_column(*column)) {
            let Some(generated) = &column.generated else { continue };
            if !generated.stored {
                return Err(mysql_error!(ER_FK_CANNOT_USE_VIRTUAL_COLUMN, key.name, column.name));
            }
            // Nobody but its expression gives it a value.
            for (event, action) in [("DELETE", &key.on_delete), ("UPDATE", &key.on_update)] {
                if action == "SET NULL" || event == "UPDATE" && action == "CASCADE" {
                    let clause = format!("ON {event} {action}");
                    return Err(mysql_error!(ER_WRONG_FK_OPTION_FOR_GENERATED_COLUMN, clause));
                }
            }
        }
        check_actions(def, key)?;
        match parent_of(dictionary, def, key) {
            Some(parent) if parent.partitioning.is_some() => {
                return Err(mysql_error!(ER_FOREIGN_KEY_ON_PARTITIONED));
            }
            Some(parent) if check_pair(def, key, parent)? => {}
            Some(parent) => warnings.extend(terms.own_key(key, parent)?),
            None if terms.checked => {
                return Err(mysql_error!(ER_FK_CANNOT_OPEN_PARENT, key.referenced_table));
            }
            None => {}
        }
    }
    for other in dictionary.tables(&def.schema).filter(|other| other.name != name.table) {
        for key in &def.foreign_keys {
            if other.foreign_keys.iter().any(|known| known.name.eq_ignore_ascii_case(&key.name)) {
                return Err(mysql_error!(ER_FK_DUP_NAME, key.name));
            }
        }
    }
    for child in dictionary.referring(&name.schema, &name.table) {
        let refers =
            |key: &&ForeignKey| key.referenced_schema == name.schema && key.referenced_table == name.table;
        if child.schema == name.schema && child.name == name.table {
            continue;
        }
        if def.partitioning.is_some() {
            return Err(mysql_error!(ER_FOREIGN_KEY_ON_PARTITIONED));
        }
        let mut child = child.def().clone();
        follow(&mut child, name, terms.renamed);
        for key in child.foreign_keys.iter().filter(refers) {
            if let Some(gone) =
                key.referenced_columns.iter().find(|column| def.column_index(column).is_none())
            {
                return Err(mysql_error!(ER_FK_COLUMN_CANNOT_DROP_CHILD, gone, key.name, child.name));
            }
            if !check_pair(&child, key, def)? {
                of_children.push(terms.key_of_child(key, def)?);
            }
        }
    }
    // Where a table is altered, MySQL looks at those of its children twice.
    if terms.alters() {
        warnings.extend(of_children.iter().cloned());
    }
    warnings.extend(of_children);
    Ok(warnings)
}

/// What a foreign key does to rows happens behind the backs of the CHECK constraints (3823) and STORED columns (1215) that read
/// its columns: it may do nothing to them.
fn check_actions(def: &TableDef, key: &ForeignKey) -> SqlResult<()> {
    let writes = |action: &str| matches!(action, "CASCADE" | "SET NULL" | "SET DEFAULT");
    if !writes(&key.on_update) && !writes(&key.on_delete) {
        return Ok(());
    }
    // Rows that go are not checked.
    let changes = writes(&key.on_update) || key.on_delete != "CASCADE";
    let names: Vec<&str> = key.columns.iter().map(|column| def.key_column(*column).name.as_str()).collect();
    let read_by = |expression: &str| -> SqlResult<Option<&str>> {
        let read = expression::columns_read(expression)?;
        Ok(names.iter().copied().find(|name| read.iter().any(|read| read.eq_ignore_ascii_case(name))))
    };
    for check in def.checks.iter().filter(|_| changes) {
        if let Some(column) = read_by(&check.expression)? {
            let code = &ER_CHECK_CONSTRAINT_CLAUSE_USING_FK_REFER_ACTION_COLUMN;
            return Err(mysql_error!(*code, column, check.name, key.name));
        }
    }
    for generated in def.columns.iter().filter_map(|column| column.generated.as_ref()) {
        if generated.stored && read_by(&generated.expression)?.is_some() {
            return Err(mysql_error!(ER_CANNOT_ADD_FOREIGN));
        }
    }
    Ok(())
}

/// Checks a foreign key against its parent. Whether it is standard.
fn check_pair(child: &TableDef, key: &ForeignKey, parent: &TableDef) -> SqlResult<bool> {
    for (place, referenced) in key.columns.iter().zip(&key.referenced_columns) {
        let column = child.columns.at(usize::from(*place))?;
        let Some(found) = parent.column_index(referenced) else {
            return Err(mysql_error!(ER_FK_NO_COLUMN_PARENT, referenced, key.name, parent.name));
        };
        if !compatible(&column.sql_type, &parent.columns.at(found)?.sql_type) {
            return Err(mysql_error!(ER_FK_INCOMPATIBLE_COLUMNS, column.name, referenced, key.name));
        }
    }
    let found = parent_index(parent, key);
    let found = found.ok_or_else(|| mysql_error!(ER_FK_NO_INDEX_PARENT, key.name, parent.name))?;
    Ok(found.is_standard)
}

/// Whether values of the types are the same kind of key. Texts may differ in length.
fn compatible(child: &SqlType, parent: &SqlType) -> bool {
    if child.is_text() && parent.is_text() {
        let kinds = |ty: &SqlType| matches!(ty, SqlType::Enum { .. } | SqlType::Set { .. });
        return child.collation() == parent.collation() && kinds(child) == kinds(parent);
    }
    match (child, parent) {
        (
            SqlType::Binary { .. } | SqlType::VarBinary { .. },
            SqlType::Binary { .. } | SqlType::VarBinary { .. },
        ) => std::mem::discriminant(child) == std::mem::discriminant(parent),
        _ => child == parent,
    }
}

/// 3730 if a foreign key of a table other than `dropped` refers to one of them.
pub fn check_drop(dictionary: &Dictionary, dropped: &[TableName]) -> SqlResult<()> {
    for name in dropped {
        for child in dictionary.referring(&name.schema, &name.table) {
            if dropped.contains(&TableName::new(&child.schema, &child.name)) {
                continue;
            }
            let refers = |key: &&ForeignKey| {
                key.referenced_schema == name.schema && key.referenced_table == name.table
            };
            let key = child.foreign_keys.iter().find(refers).map_or("", |key| key.name.as_str());
            return Err(mysql_error!(ER_FK_CANNOT_DROP_PARENT, name.table, key, child.name));
        }
    }
    Ok(())
}

/// 1701 if a foreign key of another table refers to this one.
pub fn check_truncate(dictionary: &Dictionary, name: &TableName) -> SqlResult<()> {
    for child in dictionary.referring(&name.schema, &name.table) {
        if (&child.schema, &child.name) == (&name.schema, &name.table) {
            continue;
        }
        let refers =
            |key: &&ForeignKey| key.referenced_schema == name.schema && key.referenced_table == name.table;
        if let Some(key) = child.foreign_keys.iter().find(refers) {
            let shown = format!("`{}`.`{}`, CONSTRAINT `{}`", child.schema, child.name, key.name);
            return Err(mysql_error!(ER_TRUNCATE_ILLEGAL_FK, shown));
        }
    }
    Ok(())
}

/// 1553 if a foreign key needs an index that `def` no longer has; `index` is its name. If `restricted`, one
/// that refers to a whole unique key needs such a one.
pub fn check_dropped_index(
    dictionary: &Dictionary,
    old: &TableDef,
    def: &TableDef,
    index: &Index,
    restricted: bool,
) -> SqlResult<()> {
    let found = |parent: &TableDef, key: &ForeignKey| match restricted {
        true => standard_index(parent, key).is_some(),
        false => parent_index(parent, key).is_some(),
    };
    let needed = || mysql_error!(ER_DROP_INDEX_FK, index.name);
    for key in &def.foreign_keys {
        if !def.indexes.iter().any(|index| begins_with(index, &key.columns)) {
            return Err(needed());
        }
    }
    let mut failure = None;
    for child in dictionary.referring(&old.schema, &old.name) {
        for key in &child.foreign_keys {
            let refers = key.referenced_schema == old.schema && key.referenced_table == old.name;
            if refers && found(old, key) && !found(def, key) {
                failure.get_or_insert_with(needed);
            }
            let lacks_unique =
                |parent: &TableDef| parent_index(parent, key).is_some_and(|found| !found.is_standard);
            if refers && restricted && lacks_unique(old) && lacks_unique(def) {
                return Err(mysql_error!(ER_DROP_INDEX_FK, UNKNOWN_INDEX));
            }
        }
    }
    failure.map_or(Ok(()), Err)
}

/// The tables that refer to the table called `name`.
pub fn children(dictionary: &Dictionary, name: &TableName) -> Vec<TableName> {
    let children = dictionary.referring(&name.schema, &name.table);
    children.map(|child| TableName::new(&child.schema, &child.name)).collect()
}

/// What writing to a table may do to others: whom its foreign keys refer to is read, who refers to it is read or changed.
pub fn relatives(dictionary: &Dictionary, name: &TableName) -> Vec<(TableName, Share)> {
    let Ok(table) = dictionary.table(&name.schema, &name.table) else { return Vec::new() };
    let parent =
        |key: &ForeignKey| (TableName::new(&key.referenced_schema, &key.referenced_table), Share::Reading);
    let mut relatives: Vec<_> = table.foreign_keys.iter().map(parent).collect();
    for child in dictionary.referring(&name.schema, &name.table) {
        let changes = |key: &ForeignKey| {
            [&key.on_delete, &key.on_update]
                .iter()
                .any(|action| matches!(action.as_str(), "CASCADE" | "SET NULL"))
        };
        let share = if child.foreign_keys.iter().any(changes) { Share::Alone } else { Share::Reading };
        relatives.push((TableName::new(&child.schema, &child.name), share));
    }
    relatives
}
