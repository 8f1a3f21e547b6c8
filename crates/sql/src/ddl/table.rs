//! CREATE TABLE: from its parse tree to a [`TableDef`].

use palisade_base::error_catalogue::{
    ER_BLOB_KEY_WITHOUT_LENGTH, ER_DISABLED_STORAGE_ENGINE, ER_DUP_FIELDNAME, ER_DUP_INDEX, ER_DUP_KEYNAME,
    ER_JSON_USED_AS_KEY, ER_KEY_COLUMN_DOES_NOT_EXITS, ER_MULTIPLE_PRI_KEY, ER_PK_INDEX_CANT_BE_INVISIBLE,
    ER_PRIMARY_CANT_HAVE_NULL, ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN, ER_TABLE_MUST_HAVE_COLUMNS,
    ER_TOO_LONG_KEY, ER_TOO_LONG_TABLE_COMMENT, ER_TOO_MANY_FIELDS, ER_TOO_MANY_KEYS,
    ER_UNKNOWN_STORAGE_ENGINE, ER_WARN_USING_OTHER_HANDLER, ER_WRONG_AUTO_KEY, ER_WRONG_COLUMN_NAME,
    ER_WRONG_NAME_FOR_INDEX, ER_WRONG_SUB_KEY,
};
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{
    Column, GENERATED_CLUSTERED_INDEX, Index, IndexPart, MAX_COLUMNS, Schema, TableDef, Visibility,
};
use palisade_catalog::{CollationId, SqlType};
use palisade_expr::mode::SqlMode;
use palisade_expr::place::At;
use palisade_parser::ast::{
    CreateTable, IndexDefinition, IndexKey, IndexKind, IndexOption, OptionValue, TableConstraint, TableOption,
};

use super::from_query::MadeColumn;
use super::page_sink::{self, PAGE_SINK};
use super::{
    Definer, attribute, column, compression, expression, foreign, generated_key, types, unsupported,
};
use crate::{SqlError, SqlResult};

/// Most secondary indexes of a table.
const MOST_INDEXES: usize = 64;
/// Longest index key, in bytes, but for what small pages allow.
const LONGEST_KEY: u32 = 3072;
/// Longest part of an index key in the row formats COMPACT and REDUNDANT, in bytes.
const LONGEST_OLD_PART: u32 = 767;

/// The definition that `statement` describes, with the columns that its query has made. Warnings go to
/// `definer`.
pub(super) fn define(
    definer: &mut Definer<'_>,
    statement: &CreateTable,
    made: &[MadeColumn],
    schema: &Schema,
) -> SqlResult<TableDef> {
    let mut def = TableDef {
        schema: schema.name.clone(),
        name: statement.name.name.clone(),
        collation: table_collation(&statement.options, schema.collation)?,
        ..TableDef::default()
    };
    for option in &statement.options {
        set_option(definer, &mut def, option)?;
    }
    // Before any of them is looked at: each is compared with those before it.
    if statement.columns.len() + made.len() > MAX_COLUMNS {
        return Err(mysql_error!(ER_TOO_MANY_FIELDS));
    }
    let mut explicitly_null = Vec::new();
    let mut keys: Vec<IndexDefinition> = Vec::new();
    let mut column_checks = Vec::new();
    for definition in &statement.columns {
        let defined = column::define(definer, definition, def.collation)?;
        check_is_new(&def, &defined.column)?;
        for (wanted, kind) in [(defined.primary, IndexKind::Primary), (defined.unique, IndexKind::Unique)] {
            if wanted {
                keys.push(key_over(kind, &defined.column.name));
            }
        }
        if defined.explicitly_null {
            explicitly_null.push(def.columns.len());
        }
        let name = defined.column.name.clone();
        column_checks.extend(defined.checks.into_iter().map(|check| (name.clone(), check)));
        push_column(&mut def, defined.column);
    }
    for column in made {
        let column = column.define(definer)?;
        check_is_new(&def, &column)?;
        push_column(&mut def, column);
    }
    if def.columns.is_empty() {
        return Err(mysql_error!(ER_TABLE_MUST_HAVE_COLUMNS));
    }
    let listed: Vec<&IndexDefinition> = statement
        .constraints
        .iter()
        .filter_map(|constraint| match constraint {
            TableConstraint::Index(index) => Some(index),
            TableConstraint::ForeignKey(_) | TableConstraint::Check(_) => None,
        })
        .collect();
    let wanted: Vec<&IndexDefinition> = keys.iter().chain(listed.iter().copied()).collect();
    let generated = generated_key::add(definer, &mut def, &wanted, statement.partitioning.is_some())?;
    let first = usize::from(generated.is_some());
    keys.extend(generated);
    explicitly_null.iter_mut().for_each(|place| *place += first);
    for (place, definition) in (first..).zip(&statement.columns) {
        if let Some(source) = &definition.generated {
            let kept = expression::generated(definer, &def, place, &source.expr, source.stored)?;
            def.columns.at_mut(place)?.generated = Some(kept);
        }
    }
    expression::read_defaults(definer, &mut def)?;
    for (column, check) in &column_checks {
        expression::add_check(definer, &mut def, check, Some(column))?;
    }
    for constraint in &statement.constraints {
        if let TableConstraint::Check(check) = constraint {
            expression::add_check(definer, &mut def, check, None)?;
        }
    }
    for key in keys.iter().chain(listed) {
        if key.kind == IndexKind::Primary {
            make_not_null(&mut def, key, &explicitly_null)?;
        }
    }
    for key in &keys {
        add_index(definer, &mut def, key)?;
    }
    for constraint in &statement.constraints {
        match constraint {
            TableConstraint::Index(index) => drop(add_index(definer, &mut def, index)?),
            TableConstraint::ForeignKey(key) => drop(foreign::add(definer, &mut def, key, &[])?),
            TableConstraint::Check(_) => {}
        }
    }
    warn_of_duplicates(definer, &def, |_| true);
    order_indexes(&mut def);
    check_auto_increment(&def)?;
    check_visibility(&def)?;
    check_document_id(&def)?;
    Ok(def)
}

/// 1060 if there is a column of that name.
fn check_is_new(def: &TableDef, column: &Column) -> SqlResult<()> {
    match def.column_index(&column.name) {
        Some(_) => Err(mysql_error!(ER_DUP_FIELDNAME, column.name)),
        None => Ok(()),
    }
}

fn push_column(def: &mut TableDef, column: Column) {
    let ordinal = Some(def.columns.len() as u16);
    def.columns.push(Column { ordinal, ..column });
}

/// The column by which full-text indexes number rows is called so and is as they need it, whether there are
/// any or not:
/// 1166. MySQL asks where a table is made, by CREATE TABLE or to copy rows into it.
pub fn check_document_id(def: &TableDef) -> SqlResult<()> {
    const NAME: &str = "FTS_DOC_ID";
    let bigint = [SqlType::BIGINT, SqlType::BIGINT_UNSIGNED];
    let fits = |column: &Column| column.name == NAME && bigint.contains(&column.sql_type) && !column.nullable;
    match def.columns.iter().find(|column| column.name.eq_ignore_ascii_case(NAME) && !fits(column)) {
        Some(column) => Err(mysql_error!(ER_WRONG_COLUMN_NAME, column.name)),
        None => Ok(()),
    }
}

/// Warns of new indexes that are as another one before them.
pub fn warn_of_duplicates(definer: &mut Definer<'_>, def: &TableDef, is_new: impl Fn(&Index) -> bool) {
    for (place, index) in def.indexes.iter().enumerate().filter(|(_, index)| is_new(index)) {
        let same = |other: &Index| {
            (other.unique, other.primary, &other.parts) == (index.unique, index.primary, &index.parts)
        };
        if !index.implicit && def.indexes.iter().take(place).any(same) {
            definer.warnings.push(mysql_error!(ER_DUP_INDEX, index.name, def.schema, def.name));
        }
    }
}

/// The collation that the options name; `inherited` if they do not.
pub fn table_collation(options: &[TableOption], inherited: CollationId) -> SqlResult<CollationId> {
    let (mut charset, mut collation) = (None, None);
    for option in options {
        match option {
            TableOption::Charset(name) => charset = name.as_deref(),
            TableOption::Collate(name) => collation = name.as_deref(),
            _ => {}
        }
    }
    types::collation_of(charset, collation, inherited)
}

/// An index over one column, as PRIMARY KEY or UNIQUE behind a column ask for.
pub fn key_over(kind: IndexKind, column: &str) -> IndexDefinition {
    let key = IndexKey::Column(column.to_owned(), None);
    let part = palisade_parser::ast::IndexPart { key, descending: false };
    IndexDefinition { kind, name: None, parts: vec![part], options: Vec::new() }
}

/// The columns of a primary key are NOT NULL, said or not; but not against what was said.
fn make_not_null(def: &mut TableDef, key: &IndexDefinition, explicitly_null: &[usize]) -> SqlResult<()> {
    for part in &key.parts {
        if let IndexKey::Column(name, _) = &part.key
            && let Some(place) = def.column_index(name)
        {
            if explicitly_null.contains(&place) {
                return Err(mysql_error!(ER_PRIMARY_CANT_HAVE_NULL));
            }
            def.columns.at_mut(place)?.nullable = false;
        }
    }
    Ok(())
}

/// The schema of the server's own tables, and MySQL's tablespace for them.
pub use palisade_session::virtual_tables::SYSTEM_SCHEMA as SYSTEM;

/// Applies a table option other than the character set.
pub fn set_option(definer: &mut Definer<'_>, def: &mut TableDef, option: &TableOption) -> SqlResult<()> {
    match option {
        TableOption::Engine(name) => check_engine(definer, &def.name, name),
        TableOption::AutoIncrement(value) => {
            def.auto_increment = *value;
            Ok(())
        }
        TableOption::Charset(_) | TableOption::Collate(_) => Ok(()),
        TableOption::Comment(text) => {
            let comment = String::from_utf8_lossy(text).into_owned();
            if comment.chars().count() > 2048 {
                return Err(mysql_error!(ER_TOO_LONG_TABLE_COMMENT, def.name, 2048));
            }
            def.comment = comment;
            Ok(())
        }
        TableOption::RowFormat(format) => match format.to_ascii_uppercase().as_str() {
            "COMPRESSED" => unsupported("ROW_FORMAT=COMPRESSED"),
            format => {
                put_option(def, "ROW_FORMAT", format.to_owned());
                Ok(())
            }
        },
        TableOption::KeyBlockSize(0) => Ok(()),
        TableOption::KeyBlockSize(_) => unsupported("KEY_BLOCK_SIZE"),
        TableOption::Compression(algorithm) => compression::set_algorithm(definer, def, algorithm),
        TableOption::Encryption(value) if value.eq_ignore_ascii_case(b"n") => Ok(()),
        TableOption::Encryption(_) => unsupported("table encryption"),
        TableOption::Tablespace(name) if name.eq_ignore_ascii_case("innodb_file_per_table") => Ok(()),
        TableOption::Tablespace(name) if name == SYSTEM && def.schema == SYSTEM => {
            // Dumps of MySQL say so of its own tables. Here each of them has a space of its own.
            definer.warnings.push(palisade_expr::error::not_supported("general tablespaces"));
            Ok(())
        }
        TableOption::Tablespace(_) => unsupported("general tablespaces"),
        TableOption::DataDirectory(_) | TableOption::IndexDirectory(_) => unsupported("DATA DIRECTORY"),
        TableOption::Union(_) => unsupported("the MERGE engine"),
        TableOption::Other(name, value) if name == PAGE_SINK => Ok(page_sink::set(def, value)?),
        TableOption::Other(name, value) => {
            attribute::check_option(name, value)?;
            if compression::set_of_mariadb(def, name, value)? {
                return Ok(());
            }
            let text = match value {
                OptionValue::Default => {
                    def.options.retain(|(known, _)| known != name);
                    return Ok(());
                }
                OptionValue::Number(number) => number.to_string(),
                OptionValue::Word(word) => word.clone(),
                OptionValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
            };
            put_option(def, name, text);
            Ok(())
        }
    }
}

/// Puts an option in the place of what it was.
pub fn put_option(def: &mut TableDef, name: &str, value: String) {
    def.options.retain(|(known, _)| known != name);
    def.options.push((name.to_owned(), value));
}

/// Engines whose tables InnoDB can stand in for: what is written to them can be read again. BLACKHOLE is none
/// of them.
const SUBSTITUTED: [&str; 6] = ["MyISAM", "MEMORY", "HEAP", "ARCHIVE", "CSV", "Aria"];

/// There is one storage engine. Asking for another is an error, or a warning without NO_ENGINE_SUBSTITUTION
/// or for an engine that is [`SUBSTITUTED`].
fn check_engine(definer: &mut Definer<'_>, table: &str, name: &str) -> SqlResult<()> {
    let is_disabled = |disabled: &str| disabled.trim().eq_ignore_ascii_case(name);
    if !name.is_empty() && definer.disabled_engines.split(',').any(is_disabled) {
        let disabled = mysql_error!(ER_DISABLED_STORAGE_ENGINE, name);
        if definer.mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) || name.eq_ignore_ascii_case("innodb") {
            return Err(disabled);
        }
        definer.warnings.push(disabled);
        definer.warnings.push(mysql_error!(ER_WARN_USING_OTHER_HANDLER, "InnoDB", table));
        return Ok(());
    }
    if name.eq_ignore_ascii_case("innodb") {
        return Ok(());
    }
    let substituted = SUBSTITUTED.iter().any(|known| name.eq_ignore_ascii_case(known));
    if definer.substitute_engines && substituted {
        definer.warnings.push(mysql_error!(ER_WARN_USING_OTHER_HANDLER, "InnoDB", table));
        return Ok(());
    }
    let unknown = mysql_error!(ER_UNKNOWN_STORAGE_ENGINE, name);
    if definer.mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
        return Err(unknown);
    }
    definer.warnings.push(unknown);
    definer.warnings.push(mysql_error!(ER_WARN_USING_OTHER_HANDLER, "InnoDB", table));
    Ok(())
}

/// Adds an index to `def`, whose columns are complete, as its last. Gives the implicit indexes of foreign
/// keys that it makes superfluous: they are gone from `def`.
pub fn add_index(
    definer: &mut Definer<'_>,
    def: &mut TableDef,
    definition: &IndexDefinition,
) -> SqlResult<Vec<Index>> {
    match definition.kind {
        IndexKind::FullText => return unsupported("FULLTEXT indexes"),
        IndexKind::Spatial => return unsupported("SPATIAL indexes"),
        IndexKind::Primary if def.indexes.iter().any(|index| index.primary) => {
            return Err(mysql_error!(ER_MULTIPLE_PRI_KEY));
        }
        _ => {}
    }
    if let Some(name) = definition.name.as_ref().filter(|_| definition.kind != IndexKind::Primary) {
        check_index_name(name)?;
        let is_it = |index: &Index| !index.implicit && index.name.eq_ignore_ascii_case(name);
        if def.indexes.iter().any(is_it) {
            return Err(mysql_error!(ER_DUP_KEYNAME, name));
        }
    }
    let mut parts: Vec<IndexPart> = Vec::new();
    for part in &definition.parts {
        let IndexKey::Column(name, prefix) = &part.key else { return unsupported("functional indexes") };
        let place = def
            .column_index(name)
            .filter(|place| Some(*place) != def.row_id_column())
            .ok_or_else(|| mysql_error!(ER_KEY_COLUMN_DOES_NOT_EXITS, name))?;
        if parts.iter().any(|earlier| usize::from(earlier.column) == place) {
            return Err(mysql_error!(ER_DUP_FIELDNAME, name));
        }
        let prefix = checked_prefix(def.columns.at(place)?, *prefix)?;
        parts.push(IndexPart { column: place as u16, prefix, descending: part.descending });
    }
    let unique = matches!(definition.kind, IndexKind::Primary | IndexKind::Unique);
    fit_key_length(definer, def, unique, &mut parts)?;
    let gives_way = |index: &mut Index| index.implicit && parts.starts_with(&index.parts);
    let replaced = def.indexes.extract_if(.., gives_way).collect();
    let mut index = if definition.kind == IndexKind::Primary {
        for part in &parts {
            def.columns.at_mut(usize::from(part.column))?.nullable = false;
        }
        Index::primary(parts)
    } else {
        let name = index_name(def, definition, &parts)?;
        Index { unique: definition.kind == IndexKind::Unique, ..Index::new(name, parts) }
    };
    for option in &definition.options {
        match option {
            IndexOption::Comment(text) => index.comment = String::from_utf8_lossy(text).into_owned(),
            IndexOption::Visible => index.invisible = false,
            IndexOption::Invisible => index.invisible = true,
            IndexOption::WithParser(_) => return unsupported("WITH PARSER"),
            // every index is a B+tree; MySQL's own engine takes these and does the same
            IndexOption::Using(_) | IndexOption::KeyBlockSize(_) => {}
            IndexOption::EngineAttribute(text) => attribute::refuse(text)?,
            IndexOption::SecondaryEngineAttribute(text) => attribute::check(text)?,
        }
    }
    if def.indexes.iter().filter(|index| !index.hidden).count() > MOST_INDEXES {
        return Err(mysql_error!(ER_TOO_MANY_KEYS, MOST_INDEXES));
    }
    def.indexes.push(index);
    Ok(replaced)
}

/// 1071 if an index over `parts` would be too long. Without strict mode that is a warning about a part of an
/// index that is not unique, of which it takes as much as there is room for.
pub fn fit_key_length(
    definer: &mut Definer<'_>,
    def: &TableDef,
    unique: bool,
    parts: &mut [IndexPart],
) -> SqlResult<()> {
    let is_old = matches!(def.option("ROW_FORMAT"), Some("COMPACT" | "REDUNDANT"));
    // The server's own tables are the same on pages of any size, as in MySQL.
    let longest = if def.schema == "mysql" { LONGEST_KEY } else { definer.longest_key };
    let most = if is_old { LONGEST_OLD_PART.min(longest) } else { longest };
    let mut whole = 0u32;
    for part in parts {
        let column = def.key_column(part.column);
        let mut length = key_length(column, part.prefix);
        if length > most {
            let too_long = mysql_error!(ER_TOO_LONG_KEY, most);
            if unique || definer.mode.is_strict() {
                return Err(too_long);
            }
            definer.warnings.push(too_long);
            part.prefix = Some(most / bytes_per_character(column));
            length = most;
        }
        whole = whole.saturating_add(length);
    }
    if whole > longest {
        return Err(mysql_error!(ER_TOO_LONG_KEY, longest));
    }
    Ok(())
}

/// The prefix by which an index goes on with a column whose type has changed.
pub fn kept_prefix(column: &Column, prefix: Option<u32>) -> SqlResult<Option<u32>> {
    match (&column.sql_type, prefix) {
        (SqlType::Json | SqlType::Text { .. } | SqlType::Blob { .. }, _) => {
            checked_prefix(column, prefix.map(u64::from))
        }
        (
            SqlType::Char { length, .. }
            | SqlType::VarChar { length, .. }
            | SqlType::Binary { length }
            | SqlType::VarBinary { length },
            Some(prefix),
        ) if prefix < *length => Ok(Some(prefix)),
        _ => Ok(None),
    }
}

/// Bytes that a column takes in an index, by MySQL's count.
fn key_length(column: &Column, prefix: Option<u32>) -> u32 {
    let characters = match (&column.sql_type, prefix) {
        (_, Some(prefix)) => prefix,
        (SqlType::Char { length, .. } | SqlType::VarChar { length, .. }, _) => *length,
        (SqlType::Binary { length } | SqlType::VarBinary { length }, _) => *length,
        _ => 8,
    };
    characters.saturating_mul(bytes_per_character(column))
}

fn bytes_per_character(column: &Column) -> u32 {
    match &column.sql_type {
        SqlType::Char { collation, .. }
        | SqlType::VarChar { collation, .. }
        | SqlType::Text { collation, .. } => collation.get().charset.max_bytes(),
        _ => 1,
    }
}

fn checked_prefix(column: &Column, prefix: Option<u64>) -> SqlResult<Option<u32>> {
    let whole = match &column.sql_type {
        SqlType::Json => return Err(mysql_error!(ER_JSON_USED_AS_KEY, column.name)),
        SqlType::Text { .. } | SqlType::Blob { .. } => {
            let Some(prefix) = prefix.filter(|prefix| *prefix > 0) else {
                return Err(mysql_error!(ER_BLOB_KEY_WITHOUT_LENGTH, column.name));
            };
            return Ok(Some(u32::try_from(prefix).unwrap_or(u32::MAX)));
        }
        SqlType::Char { length, .. } | SqlType::VarChar { length, .. } => Some(*length),
        SqlType::Binary { length } | SqlType::VarBinary { length } => Some(*length),
        _ => None,
    };
    match (prefix, whole) {
        (None, _) => Ok(None),
        (Some(prefix), Some(whole)) if prefix > 0 && prefix <= u64::from(whole) => {
            Ok((prefix < u64::from(whole)).then_some(prefix as u32))
        }
        _ => Err(mysql_error!(ER_WRONG_SUB_KEY)),
    }
}

/// Whether an index other than the primary key may be called `name`.
pub fn check_index_name(name: &str) -> SqlResult<()> {
    column::check_name(name)?;
    if name.eq_ignore_ascii_case(GENERATED_CLUSTERED_INDEX) {
        return Err(mysql_error!(ER_WRONG_NAME_FOR_INDEX, GENERATED_CLUSTERED_INDEX));
    }
    if name.eq_ignore_ascii_case("PRIMARY") || name.is_empty() || name.ends_with(' ') {
        return Err(mysql_error!(ER_WRONG_NAME_FOR_INDEX, name));
    }
    Ok(())
}

/// The index's name: as given, or that of its first column, made distinct.
fn index_name(def: &TableDef, definition: &IndexDefinition, parts: &[IndexPart]) -> SqlResult<String> {
    if let Some(name) = &definition.name {
        check_index_name(name)?;
        if def.index_number(name).is_some() {
            return Err(mysql_error!(ER_DUP_KEYNAME, name));
        }
        return Ok(name.clone());
    }
    let base = &def.columns.at(usize::from(parts.at(0)?.column))?.name;
    let taken = |name: &str| name.eq_ignore_ascii_case("PRIMARY") || def.index_number(name).is_some();
    if !taken(base) {
        return Ok(base.clone());
    }
    let mut name = format!("{base}_2");
    let mut number = 2;
    while taken(&name) {
        number += 1;
        name = format!("{base}_{number}");
    }
    Ok(name)
}

/// MySQL's order, which SHOW and the choice of the clustered index follow: primary key, unique indexes
/// without nullable columns, other unique indexes, the rest; else as given.
pub fn order_indexes(def: &mut TableDef) {
    let columns = &def.columns;
    def.indexes.sort_by_key(|index| {
        let nullable = index
            .parts
            .iter()
            .any(|part| columns.get(usize::from(part.column)).is_some_and(|column| column.nullable));
        match (index.hidden, index.primary, index.unique) {
            (true, ..) => 0,
            (_, true, _) => 1,
            (_, _, true) if !nullable => 2,
            (_, _, true) => 3,
            _ => 4,
        }
    });
}

/// 4028 for a table whose columns are all invisible; 3522 for an invisible index by which the rows are kept,
/// be it the primary key or the unique index that is taken for want of one.
pub fn check_visibility(def: &TableDef) -> SqlResult<()> {
    if !def.columns.iter().any(|column| column.visibility == Visibility::Visible) {
        return Err(mysql_error!(ER_TABLE_MUST_HAVE_A_VISIBLE_COLUMN));
    }
    match def.clustering_index() {
        Some(index) if index.invisible => Err(mysql_error!(ER_PK_INDEX_CANT_BE_INVISIBLE)),
        _ => Ok(()),
    }
}

/// There is at most one AUTO_INCREMENT column, and an index begins with it.
pub fn check_auto_increment(def: &TableDef) -> SqlResult<()> {
    let wrong = || -> SqlError { mysql_error!(ER_WRONG_AUTO_KEY) };
    let mut columns = def.columns.iter().enumerate().filter(|(_, column)| column.auto_increment);
    let Some((column, _)) = columns.next() else { return Ok(()) };
    if columns.next().is_some() {
        return Err(wrong());
    }
    let leads = |index: &Index| index.parts.first().is_some_and(|part| usize::from(part.column) == column);
    if def.indexes.iter().any(leads) { Ok(()) } else { Err(wrong()) }
}
