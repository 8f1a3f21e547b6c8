//! PARTITION BY of CREATE TABLE and ALTER TABLE: from its parse tree to what a definition keeps.
//!
//! | module | what it holds |
//! |---|---|
//! | [`function`] | which expressions may decide where a row belongs |
//! | [`values`] | bounds and members of partitions, folded to literals |
//! | [`alter`] | ALTER TABLE of partitions by their names |
//! | [`maintain`] | ANALYZE, CHECK, OPTIMIZE and REPAIR PARTITION |
//!
//! What is kept is a text and a list. The text is the clause in one form ([`Partitioning`] printed): columns
//! without their table, values as literals, names of partitions if the statement lists them. The list
//! ([`TableDef::partitions`]) has what rows are in: each partition, or each subpartition where there are any,
//! with its name and options. Binding reads the text ([`palisade_plan::partition`]), the engine the list.

mod alter;
mod function;
mod maintain;
mod values;

use std::collections::HashSet;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{Index, MAX_PARTITIONS, PartitionDef};
use palisade_catalog::{SqlType, TableDef};
use palisade_expr::place::At;
use palisade_parser::ast::{
    Name, OptionValue, PartitionDefinition, PartitionMethod, PartitionValues, Partitioning,
};
use palisade_plan::bind::partition::{clause_of, columns_read};
use palisade_plan::partition::PartitionScheme;

pub(super) use self::alter::{changed, effort};
pub(crate) use self::maintain::maintenance;
use super::{Ddl, unsupported};
use crate::SqlResult;

/// Longest name of a partition, in characters.
const LONGEST_NAME: usize = 64;
/// Longest comment of a partition, in characters.
const LONGEST_COMMENT: usize = 1024;
/// Columns of KEY, RANGE COLUMNS and LIST COLUMNS at most.
const MOST_COLUMNS: usize = 16;
/// Bytes of the columns by which rows are partitioned at most.
const LONGEST_KEY: u64 = 3072;

impl Ddl<'_> {
    /// Gives a definition, whose columns and indexes are known, the partitions of a clause.
    pub(super) fn partition(&mut self, def: &mut TableDef, clause: &Partitioning) -> SqlResult<()> {
        let mut kept = clause.clone();
        check_form(&kept)?;
        // Lists say how many there are.
        if !kept.partitions.is_empty() {
            kept.count = None;
        }
        if kept.partitions.iter().any(|partition| !partition.subpartitions.is_empty()) {
            kept.subpartition_count = None;
        }
        for method in [&mut kept.method].into_iter().chain(&mut kept.subpartition) {
            name_columns(def, method)?;
        }
        self.fold_values(def, &mut kept)?;
        let options = Options::of(&kept)?;
        strip_options(&mut kept);
        def.partitions = options.leaves(&kept);
        if def.partitions.len() > MAX_PARTITIONS {
            return Err(mysql_error!(ER_TOO_MANY_PARTITIONS_ERROR));
        }
        let columns = columns_read(def, &kept)?;
        check_length(def, &columns)?;
        check_keys(def, &columns)?;
        if !def.foreign_keys.is_empty() {
            return Err(mysql_error!(ER_FOREIGN_KEY_ON_PARTITIONED));
        }
        self.check_functions(def, &kept)?;
        def.partitioning = Some(kept.to_string());
        Ok(())
    }

    /// Checks the partitions of a definition that has them already, after its columns, indexes or foreign
    /// keys have changed.
    pub(super) fn check_partitions(&mut self, def: &mut TableDef) -> SqlResult<()> {
        let Some(mut clause) = clause_of(def)? else { return Ok(()) };
        with_options(def, &mut clause);
        let kept = def.partitions.clone();
        self.partition(def, &clause)?;
        def.partitions = kept;
        Ok(())
    }

    /// How the rows of a definition are partitioned, if they are.
    pub(super) fn kept_scheme(&self, def: &TableDef) -> SqlResult<Option<PartitionScheme>> {
        match clause_of(def)? {
            Some(clause) => self.scheme(def, &clause).map(|(scheme, _)| Some(scheme)),
            None => Ok(None),
        }
    }

    /// What a clause whose values are folded does.
    fn scheme(
        &self,
        def: &TableDef,
        clause: &Partitioning,
    ) -> SqlResult<(PartitionScheme, palisade_plan::Plan)> {
        let dictionary = self.engine.dictionary();
        let mut binder = self.session.binder(self.host, self.engine, &dictionary, &[]);
        let scheme = binder.scheme_of_definition(def, clause)?;
        Ok((scheme, binder.finish(None)?))
    }
}

/// What is wrong of a clause whatever the table is.
fn check_form(clause: &Partitioning) -> SqlResult<()> {
    let is_spread = |method: &PartitionMethod| {
        matches!(method, PartitionMethod::Hash { .. } | PartitionMethod::Key { .. })
    };
    let listed = &clause.partitions;
    let has_lists = listed.iter().any(|partition| !partition.subpartitions.is_empty());
    if is_spread(&clause.method) && clause.subpartition.is_some()
        || has_lists && clause.subpartition.is_none()
    {
        return Err(mysql_error!(ER_SUBPARTITION_ERROR));
    }
    if clause.count == Some(0) {
        return Err(mysql_error!(ER_NO_PARTS_ERROR, "partitions"));
    }
    if clause.subpartition_count == Some(0) {
        return Err(mysql_error!(ER_NO_PARTS_ERROR, "subpartitions"));
    }
    let kind = kind_of(&clause.method);
    if listed.is_empty() && !is_spread(&clause.method) {
        return Err(mysql_error!(ER_PARTITIONS_MUST_BE_DEFINED_ERROR, kind));
    }
    let parts = if listed.is_empty() { clause.count.unwrap_or(1) } else { listed.len() as u64 };
    let each = match listed.first().map(|first| first.subpartitions.len()) {
        Some(each) if each > 0 => each as u64,
        _ => clause.subpartition_count.unwrap_or(1),
    };
    if parts.saturating_mul(each) > MAX_PARTITIONS as u64 {
        return Err(mysql_error!(ER_TOO_MANY_PARTITIONS_ERROR));
    }
    check_names(clause)?;
    for partition in listed {
        check_kind(kind, &partition.values)?;
        if has_lists && partition.subpartitions.len() as u64 != each {
            return Err(mysql_error!(ER_PARTITION_WRONG_NO_SUBPART_ERROR));
        }
    }
    Ok(())
}

/// What MySQL calls a method in its errors.
fn kind_of(method: &PartitionMethod) -> &'static str {
    match method {
        PartitionMethod::Hash { .. } => "HASH",
        PartitionMethod::Key { .. } => "KEY",
        PartitionMethod::Range(_) | PartitionMethod::RangeColumns(_) => "RANGE",
        PartitionMethod::List(_) | PartitionMethod::ListColumns(_) => "LIST",
    }
}

/// 1480 for values of another kind than the method wants, 1479 for none.
fn check_kind(kind: &str, values: &PartitionValues) -> SqlResult<()> {
    match (kind, values) {
        ("RANGE", PartitionValues::None) => {
            Err(mysql_error!(ER_PARTITION_REQUIRES_VALUES_ERROR, "RANGE", "LESS THAN"))
        }
        ("LIST", PartitionValues::None) => {
            Err(mysql_error!(ER_PARTITION_REQUIRES_VALUES_ERROR, "LIST", "IN"))
        }
        ("RANGE", PartitionValues::LessThan(_)) | ("LIST", PartitionValues::In(_)) => Ok(()),
        (_, PartitionValues::None) => Ok(()),
        (_, PartitionValues::LessThan(_)) => {
            Err(mysql_error!(ER_PARTITION_WRONG_VALUES_ERROR, "RANGE", "LESS THAN"))
        }
        (_, PartitionValues::In(_)) => Err(mysql_error!(ER_PARTITION_WRONG_VALUES_ERROR, "LIST", "IN")),
    }
}

/// 1567, 1059 or 1517 for names that cannot be, or are given twice.
fn check_names(clause: &Partitioning) -> SqlResult<()> {
    let mut known = HashSet::new();
    for partition in &clause.partitions {
        let own = std::iter::once(&partition.name);
        for name in own.chain(partition.subpartitions.iter().map(|(name, _)| name)) {
            if name.is_empty() || name.ends_with(' ') {
                return Err(mysql_error!(ER_WRONG_PARTITION_NAME));
            }
            if name.chars().count() > LONGEST_NAME {
                return Err(mysql_error!(ER_TOO_LONG_IDENT, name));
            }
            if !known.insert(name.to_lowercase()) {
                return Err(mysql_error!(ER_SAME_NAME_PARTITION, name));
            }
        }
    }
    Ok(())
}

/// Checks the columns that a method names, and gives expressions the columns' own names.
fn name_columns(def: &TableDef, method: &mut PartitionMethod) -> SqlResult<()> {
    match method {
        PartitionMethod::Hash { expr, .. } | PartitionMethod::Range(expr) | PartitionMethod::List(expr) => {
            function::settle(def, expr)
        }
        PartitionMethod::Key { columns, .. } => check_columns(def, columns, |ty| match ty {
            SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json => Kept::Never,
            _ => Kept::Yes,
        }),
        PartitionMethod::RangeColumns(columns) | PartitionMethod::ListColumns(columns) => {
            check_columns(def, columns, |ty| match ty {
                SqlType::Text { .. } | SqlType::Blob { .. } | SqlType::Json => Kept::Never,
                SqlType::Int { .. }
                | SqlType::Date
                | SqlType::DateTime { .. }
                | SqlType::Time { .. }
                | SqlType::Char { .. }
                | SqlType::VarChar { .. }
                | SqlType::Binary { .. }
                | SqlType::VarBinary { .. } => Kept::Yes,
                _ => Kept::No,
            })
        }
    }
}

/// Whether a column of a type may decide where rows belong.
enum Kept {
    Yes,
    /// Not in this way.
    No,
    /// It is too long.
    Never,
}

fn check_columns(def: &TableDef, names: &[Name], judge: fn(&SqlType) -> Kept) -> SqlResult<()> {
    if names.len() > MOST_COLUMNS {
        return Err(mysql_error!(ER_TOO_MANY_PARTITION_FUNC_FIELDS_ERROR, "list of partition fields"));
    }
    let mut known = Vec::new();
    for name in names {
        let place = def.column_index(name).filter(|place| Some(*place) != def.row_id_column());
        if place.is_some_and(|place| known.contains(&place)) {
            return Err(mysql_error!(ER_SAME_NAME_PARTITION_FIELD, name));
        }
        known.extend(place);
    }
    for name in names {
        let place = def.column_index(name).filter(|place| Some(*place) != def.row_id_column());
        let column = def.columns.at(place.ok_or_else(|| mysql_error!(ER_FIELD_NOT_FOUND_PART_ERROR))?)?;
        match judge(&column.sql_type) {
            Kept::Yes => {}
            Kept::No => return Err(mysql_error!(ER_FIELD_TYPE_NOT_ALLOWED_AS_PARTITION_FIELD, column.name)),
            Kept::Never => return Err(mysql_error!(ER_BLOB_FIELD_IN_PART_FUNC_ERROR)),
        }
    }
    Ok(())
}

/// 1660 if the columns are too long together.
fn check_length(def: &TableDef, columns: &[usize]) -> SqlResult<()> {
    let mut sum = 0;
    for column in columns {
        sum += match &def.columns.at(*column)?.sql_type {
            SqlType::Char { length, collation } | SqlType::VarChar { length, collation } => {
                u64::from(*length) * u64::from(collation.get().charset.max_bytes())
            }
            SqlType::Binary { length } | SqlType::VarBinary { length } => u64::from(*length),
            _ => 8,
        };
    }
    if sum > LONGEST_KEY { Err(mysql_error!(ER_PARTITION_FIELDS_TOO_LONG)) } else { Ok(()) }
}

/// 1503 for a unique index that has not all the columns by which rows are partitioned: it could not see
/// duplicates in other partitions.
fn check_keys(def: &TableDef, columns: &[usize]) -> SqlResult<()> {
    let has = |index: &Index, column: usize| {
        index.parts.iter().any(|part| usize::from(part.column) == column && part.prefix.is_none())
    };
    for index in def.indexes.iter().filter(|index| index.unique && !index.hidden) {
        if !columns.iter().all(|column| has(index, *column)) {
            let what = if index.primary { "PRIMARY KEY" } else { "UNIQUE INDEX" };
            return Err(mysql_error!(ER_UNIQUE_KEY_NEED_ALL_FIELDS_IN_PF, what));
        }
    }
    Ok(())
}

/// Whether a column decides where rows belong.
pub(super) fn reads_column(def: &TableDef, place: usize) -> SqlResult<bool> {
    match clause_of(def)? {
        Some(clause) => Ok(columns_read(def, &clause)?.contains(&place)),
        None => Ok(false),
    }
}

/// What a partition has besides its rows.
#[derive(Clone, Default)]
struct Own {
    comment: String,
    options: Vec<(String, String)>,
}

/// The options of the partitions of a clause, and of their subpartitions.
struct Options(Vec<(Own, Vec<Own>)>);

impl Options {
    fn of(clause: &Partitioning) -> SqlResult<Options> {
        let of = |partition: &PartitionDefinition| {
            let own = own_options(&partition.name, &partition.options)?;
            let subpartitions =
                partition.subpartitions.iter().map(|(name, options)| own_options(name, options));
            Ok((own, subpartitions.collect::<SqlResult<Vec<_>>>()?))
        };
        clause.partitions.iter().map(of).collect::<SqlResult<Vec<_>>>().map(Options)
    }

    /// What the rows of a table of this clause are in.
    fn leaves(self, clause: &Partitioning) -> Vec<PartitionDef> {
        let each = match clause.partitions.first().map(|first| first.subpartitions.len()) {
            Some(each) if each > 0 => each,
            _ => clause.subpartition_count.unwrap_or(1) as usize,
        };
        let mut leaves = Vec::new();
        if clause.partitions.is_empty() {
            let count = clause.count.unwrap_or(1);
            leaves.extend((0..count).map(|number| PartitionDef::named(format!("p{number}"))));
            return leaves;
        }
        for (partition, (own, of_subpartitions)) in clause.partitions.iter().zip(self.0) {
            let with = |def: PartitionDef, own: &Own| PartitionDef {
                comment: own.comment.clone(),
                options: own.options.clone(),
                ..def
            };
            let name = &partition.name;
            if clause.subpartition.is_none() {
                leaves.push(with(PartitionDef::named(name.as_str()), &own));
            } else if partition.subpartitions.is_empty() {
                for number in 0..each {
                    let leaf = PartitionDef::subpartition_of(name.as_str(), format!("{name}sp{number}"));
                    leaves.push(with(leaf, &own));
                }
            } else {
                for ((subpartition, _), own) in partition.subpartitions.iter().zip(of_subpartitions) {
                    let leaf = PartitionDef::subpartition_of(name.as_str(), subpartition.as_str());
                    leaves.push(with(leaf, &own));
                }
            }
        }
        leaves
    }
}

/// The options of a partition: the last of each name counts.
fn own_options(partition: &str, given: &[(Name, OptionValue)]) -> SqlResult<Own> {
    let mut own = Own::default();
    for (name, value) in given {
        let text = match value {
            OptionValue::Default => continue,
            OptionValue::Number(number) => number.to_string(),
            OptionValue::Word(word) => word.clone(),
            OptionValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
        };
        match name.as_str() {
            "ENGINE" if text.eq_ignore_ascii_case("innodb") => {}
            "ENGINE" => {
                let known = ["myisam", "memory", "heap", "archive", "csv", "blackhole", "merge", "federated"];
                if !known.contains(&text.to_ascii_lowercase().as_str()) {
                    return Err(mysql_error!(ER_UNKNOWN_STORAGE_ENGINE, text));
                }
                return Err(mysql_error!(ER_CHECK_NOT_IMPLEMENTED, "native partitioning"));
            }
            "COMMENT" => {
                if text.chars().count() > LONGEST_COMMENT {
                    return Err(mysql_error!(
                        ER_TOO_LONG_TABLE_PARTITION_COMMENT,
                        partition,
                        LONGEST_COMMENT
                    ));
                }
                own.comment = text;
            }
            "DATA DIRECTORY" | "INDEX DIRECTORY" => return unsupported("DATA DIRECTORY"),
            "TABLESPACE" if !text.eq_ignore_ascii_case("innodb_file_per_table") => {
                return unsupported("general tablespaces");
            }
            _ => {
                own.options.retain(|(known, _)| known != name);
                own.options.push((name.clone(), text));
            }
        }
    }
    Ok(own)
}

/// The list of partitions has the options; the text has none.
fn strip_options(clause: &mut Partitioning) {
    for partition in &mut clause.partitions {
        partition.options.clear();
        partition.subpartitions.iter_mut().for_each(|(_, options)| options.clear());
    }
}

/// The clause of a definition with the options of its partitions, as they would be written.
fn with_options(def: &TableDef, clause: &mut Partitioning) {
    let mut leaves = def.partitions.iter();
    let each = def.partitions.len() / clause.partitions.len().max(1);
    let given = |leaf: &PartitionDef| {
        let mut options: Vec<(Name, OptionValue)> = Vec::new();
        for (name, value) in &leaf.options {
            let value = match value.parse() {
                Ok(number) if name != "TABLESPACE" => OptionValue::Number(number),
                _ => OptionValue::Word(value.clone()),
            };
            options.push((name.clone(), value));
        }
        if !leaf.comment.is_empty() {
            options.push(("COMMENT".to_owned(), OptionValue::Text(leaf.comment.clone().into_bytes())));
        }
        options
    };
    for partition in &mut clause.partitions {
        let own: Vec<&PartitionDef> = leaves.by_ref().take(each).collect();
        if partition.subpartitions.is_empty() {
            partition.options = own.first().map(|leaf| given(leaf)).unwrap_or_default();
        } else {
            for ((_, options), leaf) in partition.subpartitions.iter_mut().zip(own) {
                *options = given(leaf);
            }
        }
    }
}
