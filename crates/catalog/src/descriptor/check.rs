//! What makes a definition a table: everything that rows and keys rely on.

use super::{DescriptorError, MAX_PARTITIONS, MAX_ROW_VERSIONS, TableDef};
use crate::collation::Collation;
use crate::field::{encode_fixed, fixed_len};
use crate::types::SqlType;
use crate::value::Value;

/// Most columns of a table.
pub const MAX_COLUMNS: usize = 4096;
/// Most columns of an index.
pub const MAX_INDEX_PARTS: usize = 16;

pub(super) fn check(def: &TableDef) -> Result<(), DescriptorError> {
    require(!def.columns.is_empty(), "a table has at least one column")?;
    require(def.columns.len() <= MAX_COLUMNS, "too many columns")?;
    require(!def.indexes.is_empty(), "a table has a clustered index")?;
    // Ordinals are small numbers: the layout allocates by the largest.
    let ordinals = def.columns.iter().filter_map(|column| column.ordinal);
    let dropped = def.dropped.iter().map(|column| column.ordinal);
    require(ordinals.chain(dropped).all(|ordinal| ordinal < u16::MAX), "a row position is out of range")?;
    require(def.versions.count <= MAX_ROW_VERSIONS, "rows have too many versions")?;
    for column in &def.columns {
        check_type(&column.sql_type)?;
        let is_virtual = column.generated.as_ref().is_some_and(|generated| !generated.stored);
        require(is_virtual || column.ordinal.is_some(), "a column is in the row unless it is VIRTUAL")?;
        require(
            is_of_type(&column.instant_default, &column.sql_type),
            "a default is not of its column's type",
        )?;
    }
    for column in &def.dropped {
        check_type(&column.sql_type)?;
    }
    require(def.partitions.len() <= MAX_PARTITIONS, "too many partitions")?;
    for (number, index) in def.indexes.iter().enumerate() {
        require((1..=MAX_INDEX_PARTS).contains(&index.parts.len()), "an index has 1 to 16 columns")?;
        for part in &index.parts {
            let column = def.columns.get(usize::from(part.column));
            let Some(column) = column else {
                return inconsistent("an index is over a column that does not exist");
            };
            require(column.ordinal.is_some(), "an index over a VIRTUAL column is not supported")?;
            require(column.sql_type != SqlType::Json, "a JSON column cannot be indexed")?;
            require(part.prefix != Some(0), "a prefix has at least one character")?;
            let cut = part.prefix.is_some();
            require(!cut || fixed_len(&column.sql_type).is_none(), "only strings are indexed by a prefix")?;
            require(number > 0 || !column.nullable, "the clustered index is over NOT NULL columns")?;
        }
        let mut columns: Vec<u16> = index.parts.iter().map(|part| part.column).collect();
        columns.sort_unstable();
        columns.dedup();
        require(columns.len() == index.parts.len(), "an index has a column twice")?;
        let trees = index.trees.len();
        require(trees == 0 || trees == def.partitions.len(), "an index has a tree for each partition")?;
    }
    for key in &def.foreign_keys {
        let mut columns = key.columns.iter();
        let are_there = columns.all(|column| usize::from(*column) < def.columns.len());
        require(are_there, "a foreign key is over a column that does not exist")?;
    }
    require(def.indexes.first().is_some_and(|index| index.unique), "the clustered index is unique")
}

fn check_type(sql_type: &SqlType) -> Result<(), DescriptorError> {
    require(*sql_type != SqlType::Null, "no column has the type of NULL")?;
    require(Collation::by_id(sql_type.collation()).is_some(), "unknown collation")?;
    match sql_type {
        SqlType::Decimal { precision, scale, .. } => require(
            (1..=65).contains(precision) && *scale <= 30.min(*precision),
            "no DECIMAL has these digits",
        ),
        SqlType::Bit { width } => require((1..=64).contains(width), "no BIT has this width"),
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => {
            require(*fsp <= 6, "a second's fraction has at most 6 digits")
        }
        SqlType::Enum { members, .. } => require((1..=65_535).contains(&members.len()), "an ENUM's members"),
        SqlType::Set { members, .. } => require((1..=64).contains(&members.len()), "a SET's members"),
        _ => Ok(()),
    }
}

fn is_of_type(value: &Value, sql_type: &SqlType) -> bool {
    value.is_null()
        || match fixed_len(sql_type) {
            Some(_) => encode_fixed(sql_type, value.as_ref(), &mut Vec::new()),
            None => matches!(value, Value::Bytes(_)),
        }
}

fn require(condition: bool, what: &str) -> Result<(), DescriptorError> {
    if condition { Ok(()) } else { inconsistent(what) }
}

fn inconsistent(what: &str) -> Result<(), DescriptorError> {
    Err(DescriptorError::Inconsistent(what.to_owned()))
}
