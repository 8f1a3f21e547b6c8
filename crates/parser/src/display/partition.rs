//! PARTITION BY as a definition keeps it.

use std::fmt::{self, Display, Formatter};

use super::{List, Names, Quoted, Text};
use crate::ast::{
    Expr, Name, OptionValue, PartitionDefinition, PartitionMethod, PartitionValues, Partitioning,
};

impl Display for Partitioning {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "partition by {}", self.method)?;
        if let Some(count) = self.count {
            write!(f, " partitions {count}")?;
        }
        if let Some(method) = &self.subpartition {
            write!(f, " subpartition by {method}")?;
        }
        if let Some(count) = self.subpartition_count {
            write!(f, " subpartitions {count}")?;
        }
        if !self.partitions.is_empty() {
            write!(f, " ({})", List(&self.partitions))?;
        }
        Ok(())
    }
}

impl Display for PartitionMethod {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let linear = |linear: &bool| if *linear { "linear " } else { "" };
        match self {
            PartitionMethod::Hash { linear: is_linear, expr } => {
                write!(f, "{}hash ({expr})", linear(is_linear))
            }
            PartitionMethod::Key { linear: is_linear, algorithm, columns } => {
                write!(f, "{}key ", linear(is_linear))?;
                if let Some(algorithm) = algorithm {
                    write!(f, "algorithm = {algorithm} ")?;
                }
                write!(f, "({})", Names(columns))
            }
            PartitionMethod::Range(expr) => write!(f, "range ({expr})"),
            PartitionMethod::RangeColumns(columns) => write!(f, "range columns ({})", Names(columns)),
            PartitionMethod::List(expr) => write!(f, "list ({expr})"),
            PartitionMethod::ListColumns(columns) => write!(f, "list columns ({})", Names(columns)),
        }
    }
}

impl Display for PartitionDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "partition {}", Quoted(&self.name))?;
        self.values.fmt(f)?;
        options(f, &self.options)?;
        for (number, (name, own)) in self.subpartitions.iter().enumerate() {
            write!(f, "{}subpartition {}", if number == 0 { " (" } else { "," }, Quoted(name))?;
            options(f, own)?;
        }
        if self.subpartitions.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl Display for PartitionValues {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            PartitionValues::None => Ok(()),
            PartitionValues::LessThan(bounds) => {
                f.write_str(" values less than (")?;
                for (number, bound) in bounds.iter().enumerate() {
                    f.write_str(if number == 0 { "" } else { "," })?;
                    match bound {
                        Some(bound) => bound.fmt(f)?,
                        None => f.write_str("maxvalue")?,
                    }
                }
                f.write_str(")")
            }
            PartitionValues::In(rows) => {
                f.write_str(" values in (")?;
                for (number, row) in rows.iter().enumerate() {
                    f.write_str(if number == 0 { "" } else { "," })?;
                    member(f, row)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// A member of a list. One that is a row of one value would be read as that value in parentheses.
fn member(f: &mut Formatter<'_>, row: &[Expr]) -> fmt::Result {
    match row {
        [only] => only.fmt(f),
        row => write!(f, "({})", List(row)),
    }
}

fn options(f: &mut Formatter<'_>, options: &[(Name, OptionValue)]) -> fmt::Result {
    for (name, value) in options {
        write!(f, " {} = ", name.to_ascii_lowercase())?;
        match value {
            OptionValue::Default => f.write_str("default")?,
            OptionValue::Number(number) => number.fmt(f)?,
            OptionValue::Word(word) => Quoted(word).fmt(f)?,
            OptionValue::Text(text) => Text(text).fmt(f)?,
        }
    }
    Ok(())
}
