//! What a plan is thought to cost, and what is guessed where nothing is known.
//!
//! The unit of costs is a nanosecond of CPU time with all pages in memory. Waiting for a disk is no part of
//! it: a plan that reads fewer pages is the cheaper one by these figures, too. Only their ratios decide, so
//! they need not follow a machine. They were judged from measurements of statements of each kind
//! (docs/benchmarks/); `cargo xtask calibrate` measures one by one what they are on a machine. See
//! docs/decisions/113-costs-and-join-order.md.
//!
//! A *selectivity* is the part of rows for which a condition holds, from 0 to 1.

use palisade_expr::{Comparison, Expr, Node};

/// Opening a scan: making its key and going down the tree.
pub const OPEN_SCAN: f64 = 600.0;
/// Finding one row by a whole unique key.
pub const UNIQUE_LOOKUP: f64 = 700.0;
/// Reading the next row of the clustered index.
pub const ROW_IN_ORDER: f64 = 150.0;
/// Reading the next entry of a secondary index that has all columns that are wanted.
pub const ENTRY_IN_ORDER: f64 = 120.0;
/// Looking in an entry for what it has in common with those of another index.
pub const MERGED_ENTRY: f64 = 80.0;
/// Reading the next entry of a secondary index, and finding its row.
pub const ROW_BY_ENTRY: f64 = 900.0;
/// Locking a row that is read.
pub const LOCKED_ROW: f64 = 800.0;
/// Making a row of a virtual table.
pub const VIRTUAL_ROW: f64 = 1500.0;
/// Reading a row that an operator keeps: of a derived table.
pub const KEPT_ROW: f64 = 100.0;
/// Sorting a row, for each time that the number of rows has to be halved to be one.
pub const SORTED_ROW: f64 = 25.0;
/// Putting a row into a hash table.
pub const HASHED_ROW: f64 = 350.0;
/// Putting a row into the group of the row before it, or into a new one.
pub const GROUPED_ROW: f64 = 60.0;
/// Putting a row into its group in a hash table of groups.
pub const HASHED_GROUP: f64 = 200.0;
/// Adding a row's value to an aggregate.
pub const ADDED_VALUE: f64 = 60.0;
/// Looking a row up in a hash table.
pub const PROBE: f64 = 200.0;
/// Running a subquery for a row, at least: what its plan costs may be more.
pub const SUBQUERY: f64 = 3000.0;
/// Looking for a value of a subquery that may be remembered, and remembering it.
pub const REMEMBERED_VALUE: f64 = 300.0;
/// Giving a pair of joined rows.
pub const JOINED_ROW: f64 = 50.0;
/// Times that the inner side of a nested loop is taken to be read at least where no index helps: an estimate
/// of one row on the left may be wrong, and then all is read again for each.
pub const LEAST_LOOPS: f64 = 4.0;
/// What is not to be done where there is any other way: reading a table by an index that a hint excludes.
pub const EXCLUDED: f64 = 1e15;

/// Rows that a scan of a table is taken to read at least. Plans outlive the moment they are made: a table
/// that is small now may grow, and an index finds its rows then as it does now.
pub const LEAST_SCANNED: f64 = 100.0;
/// The same of a scan that locks what it reads: locks on rows that are not wanted make others wait.
pub const LEAST_LOCKED: f64 = 1000.0;

/// Selectivity of `column = value`, where no index tells.
pub const EQUAL: f64 = 0.1;
/// Selectivity of `column <> value`.
pub const NOT_EQUAL: f64 = 0.9;
/// Selectivity of a comparison with one end.
pub const ONE_END: f64 = 0.33;
/// Selectivity of a range with two ends.
pub const TWO_ENDS: f64 = 0.1;
/// Selectivity of a LIKE.
pub const LIKE: f64 = 0.2;
/// Selectivity of a LIKE whose pattern begins with a literal.
pub const LIKE_PREFIX: f64 = 0.1;
/// Selectivity of IN with many values at most.
pub const LONGEST_LIST: f64 = 0.5;
/// Selectivity of HAVING: it mostly asks for groups that stand out.
pub const HAVING: f64 = 0.05;
/// Groups for each row, where nothing tells.
pub const GROUPS_PER_ROW: f64 = 0.5;
/// Selectivity of every other condition.
pub const OTHER: f64 = 0.5;

/// Values of a column for each row of its table, where no index tells: ten rows share one.
pub const VALUES_PER_ROW: f64 = 0.1;
/// Part of the rows with the same values in some parts of an index that have the same in one part more, where
/// no sample tells.
pub const NEXT_PART: f64 = 0.1;
/// How many times as many rows a scan in the wanted order is taken to read before it has enough as the
/// selectivity of its filter says: rows that are wanted may all be at the far end.
pub const LATE_MATCHES: f64 = 10.0;

/// Rows of a derived table's working rows: those of one round of a recursion.
pub const WORKING_ROWS: f64 = 10.0;
/// Rows of what is not known at all.
pub const UNKNOWN_ROWS: f64 = 100.0;
/// Rows about one table, in a virtual table that tells of columns.
pub const COLUMNS_A_TABLE: f64 = 5.0;
/// The part of all tables that are in one schema.
pub const PART_IN_A_SCHEMA: f64 = 0.5;
/// Part of the rows that have a match, where no equality tells.
pub const HAS_MATCH: f64 = 0.5;
/// The least part of rows that are taken to have a match, and to have none.
pub const LEAST_MATCHED: f64 = 1e-4;
/// See [`LEAST_MATCHED`].
pub const LEAST_WITHOUT: f64 = 0.1;

/// Fewest rows that an estimate says, so that products of many do not vanish.
pub const FEWEST: f64 = 0.01;

/// Most rows that an estimate says, and the highest cost: products of many stay numbers that can be compared.
pub const MOST: f64 = 1e30;
/// See [`MOST`].
pub const DEAREST: f64 = 1e100;

/// What is shown as 1: a row of a table that is read in order is 0.1, as in MySQL.
const SHOWN_UNIT: f64 = ROW_IN_ORDER * 10.0;

/// A cost as EXPLAIN shows it.
pub fn shown(cost: f64) -> f64 {
    cost / SHOWN_UNIT
}

/// The part of rows for which a condition holds.
pub fn selectivity(expr: &Expr) -> f64 {
    match &expr.node {
        Node::Compare { comparison: Comparison::Equal | Comparison::NullSafeEqual, .. } => EQUAL,
        Node::Compare { comparison: Comparison::NotEqual, .. } => NOT_EQUAL,
        Node::Compare { .. } => ONE_END,
        Node::Between { negated: false, .. } => TWO_ENDS,
        Node::In { list, negated: false, .. } => (EQUAL * list.len() as f64).min(LONGEST_LIST),
        Node::Like { negated: false, .. } => LIKE,
        Node::And(parts) => parts.iter().map(selectivity).product(),
        Node::Or(parts) => 1.0 - parts.iter().map(|part| 1.0 - selectivity(part)).product::<f64>(),
        _ => OTHER,
    }
}

/// Sorting so many rows, of which only the first `limit` are wanted.
pub fn sorting(rows: f64, limit: Option<f64>) -> f64 {
    let kept = limit.unwrap_or(rows).min(rows).max(2.0);
    rows * SORTED_ROW * (1.0 + kept.log2())
}
