//! PARTITION BY.

use super::{Expr, Name, OptionValue};

/// How a table is partitioned.
#[derive(Debug, Clone, PartialEq)]
pub struct Partitioning {
    /// By what.
    pub method: PartitionMethod,
    /// PARTITIONS n.
    pub count: Option<u64>,
    /// SUBPARTITION BY; hash or key only.
    pub subpartition: Option<PartitionMethod>,
    /// SUBPARTITIONS n.
    pub subpartition_count: Option<u64>,
    /// The partitions, if listed.
    pub partitions: Vec<PartitionDefinition>,
}

/// By what a table is partitioned.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum PartitionMethod {
    Hash {
        linear: bool,
        expr: Expr,
    },
    /// An empty list is the primary key.
    Key {
        linear: bool,
        algorithm: Option<u64>,
        columns: Vec<Name>,
    },
    Range(Expr),
    RangeColumns(Vec<Name>),
    List(Expr),
    ListColumns(Vec<Name>),
}

/// One partition.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionDefinition {
    /// Its name.
    pub name: Name,
    /// What it holds.
    pub values: PartitionValues,
    /// ENGINE, COMMENT, DATA DIRECTORY, ...: names in upper case.
    pub options: Vec<(Name, OptionValue)>,
    /// Its subpartitions: names and options.
    pub subpartitions: Vec<(Name, Vec<(Name, OptionValue)>)>,
}

/// What a partition holds.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    /// HASH and KEY.
    None,
    /// VALUES LESS THAN (a, b); `None` is MAXVALUE.
    LessThan(Vec<Option<Expr>>),
    /// VALUES IN ((a, b), (c, d)): one row per value.
    In(Vec<Vec<Expr>>),
}

/// Some partitions, or all.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum PartitionSelection {
    All,
    Names(Vec<Name>),
}
