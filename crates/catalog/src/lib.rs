//! What data *is*: types and values, descriptors of tables, and the bytes that rows and keys become.
//!
//! | module | what it holds |
//! |---|---|
//! | [`value`] | [`Value`], [`ValueRef`]: one SQL value, owned or borrowed |
//! | [`types`] | [`SqlType`]: MySQL's column types, with their wire codes and lengths |
//! | [`decimal`] | exact DECIMAL(65,30) arithmetic and its packed, memcomparable form |
//! | [`temporal`] | dates, times, time zones, calendar functions |
//! | [`charset`], [`collation`] | character sets and their conversion; comparing, hashing, sort keys, LIKE |
//! | [`descriptor`] | schemas, tables, columns, indexes and their versioned binary form |
//! | [`row`] | the compact row format with O(1) access to every column |
//! | [`key`] | memcomparable index keys, and reading columns back from them |
//! | [`store`] | what happens to a value on its way into a column: range checks, truncation, MySQL's errors |
//! | [`number`] | numbers as text, as MySQL reads and prints them |
//! | [`histogram`] | how the values of a column are distributed |
//! | [`json`] | validation and normalisation of JSON text |
//! | [`partition_hash`] | the number by which PARTITION BY KEY chooses a partition |
//! | `part` | parts of texts by places within them |
//! | [`verbatim`] | values as bytes and back, for temporary files |
//! | [`watch`] | long values in pieces, so that work over them can be ended |
//!
//! Deliberately absent: query processing, pages, transactions. Nothing here does I/O or keeps state.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod charset;
pub mod collation;
pub mod decimal;
pub mod descriptor;
mod field;
pub mod histogram;
pub mod json;
pub mod key;
pub mod number;
mod part;
pub mod partition_hash;
pub mod row;
pub mod store;
pub mod temporal;
pub mod types;
pub mod value;
pub mod verbatim;
pub mod watch;

#[cfg(test)]
mod testing;

pub use charset::Charset;
pub use collation::{Collation, CollationId};
pub use decimal::Decimal;
pub use descriptor::{
    Column, Index, IndexPart, IndexTree, PartitionDef, PartitionSet, Schema, Table, TableDef, ViewDef,
};
pub use row::RowView;
pub use temporal::{Date, DateTime, Time, Timestamp, Zone};
pub use types::SqlType;
pub use value::{Bytes, Value, ValueRef};
pub use watch::Watch;
