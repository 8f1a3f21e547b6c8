//! The versioned binary form of descriptors.
//!
//! A version byte, then the fields in order; lists and texts are preceded by their length. Numbers are
//! varints. A later version appends fields at the end of a record, or gives a flag a neighbour in its byte,
//! and raises [`FORMAT_VERSION`]; a reader of that version fills them in when it reads an earlier one.
//! Version 2 brought [`Index::implicit`] and [`Column::names_collation`]: a byte of flags of version 1 is 0
//! or 1, which says no to both. Version 3 gave `_unicode_ci` and `_unicode_520_ci` the weights of their own
//! versions of Unicode; columns of earlier versions keep the order their indexes are in. Version 4 is that of
//! tables of several partitions: space and trees of the first are where those of the table were, those of the
//! others at the end. Version 5 is that of tables with histograms, which are behind the partitions, each with
//! the place of its column. Version 6 is that of tables whose rows have versions, which are behind the
//! histograms. Version 7 is that of tables with PARTITION BY: names and options of the partitions are behind
//! the versions. What needs none of this is written as version 3, so that a server of that version
//! reads it. Whatever the bytes are, reading gives an error, not a panic, and what is read is a definition,
//! not yet a table: `Table::new` checks it.

use std::sync::Arc;

use palisade_base::codec::{Reader, Truncated, put_bytes, put_varint};
use palisade_base::{PageNo, SpaceId};

use super::{
    Check, Column, DefaultValue, DroppedColumn, ForeignKey, Generated, Index, IndexPart, IndexTree,
    RowVersions, Schema, TableDef, ViewAlgorithm, ViewCheck, ViewDef, Visibility,
};
use crate::collation::{Collation, CollationId};
use crate::decimal::{Decimal, ParseEnd};
use crate::histogram::{Bucket, Histogram};
use crate::temporal::{Date, DateTime, Time, Timestamp};
use crate::types::{IntWidth, LobSize, SqlType};
use crate::value::{Bytes, EnumValue, SetValue, Value};

/// The latest version that is read, and that a table with PARTITION BY is written in.
pub const FORMAT_VERSION: u8 = 7;
/// The version that a table whose rows have versions is written in.
pub(super) const VERSIONED: u8 = 6;
/// The version that a table with histograms is written in.
pub(super) const MEASURED: u8 = 5;
/// The version that a table of several partitions without names is written in.
pub(super) const PARTITIONED: u8 = 4;
/// The version that all else is written in.
pub(super) const UNPARTITIONED: u8 = 3;

/// The version of views.
const VIEW_VERSION: u8 = 1;

/// Why bytes are not a descriptor, or a definition not a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// The bytes end early or hold impossible values.
    #[error("the descriptor is damaged: {0}")]
    Damaged(&'static str),
    /// Written by a later version of the server.
    #[error("the descriptor has version {0}, which this server does not know")]
    UnknownVersion(u8),
    /// The parts contradict each other.
    #[error("the definition is inconsistent: {0}")]
    Inconsistent(String),
}

impl From<Truncated> for DescriptorError {
    fn from(_: Truncated) -> Self {
        DescriptorError::Damaged("it ends early")
    }
}

type Result<T> = std::result::Result<T, DescriptorError>;

/// What has a binary form.
trait Binary: Sized {
    fn put(&self, out: &mut Vec<u8>);
    fn get(from: &mut Reader<'_>) -> Result<Self>;
}

impl Binary for u64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, *self);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(from.varint()?)
    }
}

macro_rules! binary_by_u64 {
    ($($type:ty),*) => {$(
        impl Binary for $type {
            fn put(&self, out: &mut Vec<u8>) {
                put_varint(out, u64::from(*self));
            }
            fn get(from: &mut Reader<'_>) -> Result<Self> {
                <$type>::try_from(from.varint()?).map_err(|_| DescriptorError::Damaged("a number is too large"))
            }
        }
    )*};
}

binary_by_u64!(u8, u16, u32);

impl Binary for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, ((*self << 1) ^ (*self >> 63)) as u64);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let zigzag = from.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }
}

impl Binary for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        match from.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DescriptorError::Damaged("a flag is neither 0 nor 1")),
        }
    }
}

impl Binary for f64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(f64::from_le_bytes(from.array()?))
    }
}

impl Binary for Bytes {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(from.prefixed_bytes()?.into())
    }
}

impl Binary for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(out, self.as_bytes());
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let text = std::str::from_utf8(from.prefixed_bytes()?);
        text.map(str::to_owned).map_err(|_| DescriptorError::Damaged("a text is not UTF-8"))
    }
}

impl<T: Binary> Binary for Option<T> {
    fn put(&self, out: &mut Vec<u8>) {
        self.is_some().put(out);
        if let Some(value) = self {
            value.put(out);
        }
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(if bool::get(from)? { Some(T::get(from)?) } else { None })
    }
}

impl<T: Binary> Binary for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        put_varint(out, self.len() as u64);
        self.iter().for_each(|item| item.put(out));
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let count = from.varint()?;
        // Every item has at least one byte: a count beyond that is damage, not a reason to allocate.
        if count > from.rest().len() as u64 {
            return Err(DescriptorError::Damaged("a list is longer than its bytes"));
        }
        (0..count).map(|_| T::get(from)).collect()
    }
}

impl Binary for (String, String) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok((String::get(from)?, String::get(from)?))
    }
}

impl Binary for (u8, u8) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok((u8::get(from)?, u8::get(from)?))
    }
}

impl Binary for CollationId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let id = CollationId(u16::get(from)?);
        Collation::by_id(id)
            .map(|collation| collation.id)
            .ok_or(DescriptorError::Damaged("unknown collation"))
    }
}

/// Implements [`Binary`] for a struct, its fields in order. What is `elsewhere` is filled in afterwards.
macro_rules! binary_struct {
    ($type:ident { $($field:ident),* $(,)? } $(elsewhere { $($absent:ident: $filler:expr),* })?) => {
        impl Binary for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$field.put(out);)*
            }
            fn get(from: &mut Reader<'_>) -> Result<Self> {
                Ok($type { $($field: Binary::get(from)?,)* $($($absent: $filler,)*)? })
            }
        }
    };
}

/// The same for a struct that keeps some of its flags in one byte.
macro_rules! binary_struct_with_flags {
    ($type:ident { $($before:ident),* $(,)? } flags { $($flag:ident),* } { $($after:ident),* $(,)? }
        elsewhere { $($absent:ident: $filler:expr),* }) => {
        impl Binary for $type {
            fn put(&self, out: &mut Vec<u8>) {
                $(self.$before.put(out);)*
                put_flags([$(self.$flag),*], out);
                $(self.$after.put(out);)*
            }
            fn get(from: &mut Reader<'_>) -> Result<Self> {
                $(let $before = Binary::get(from)?;)*
                let [$($flag),*] = get_flags(from)?;
                $(let $after = Binary::get(from)?;)*
                Ok($type { $($before,)* $($flag,)* $($after,)* $($absent: $filler,)* })
            }
        }
    };
}

/// A byte of flags, the first in its lowest bit.
fn put_flags<const COUNT: usize>(flags: [bool; COUNT], out: &mut Vec<u8>) {
    out.push(flags.iter().rev().fold(0, |byte, flag| byte << 1 | u8::from(*flag)));
}

fn get_flags<const COUNT: usize>(from: &mut Reader<'_>) -> Result<[bool; COUNT]> {
    let byte = from.u8()?;
    if u32::from(byte) >> COUNT != 0 {
        return Err(DescriptorError::Damaged("unknown flags"));
    }
    Ok(std::array::from_fn(|place| byte >> place & 1 != 0))
}

binary_struct!(Schema { name, collation });
binary_struct!(Generated { expression, stored });
binary_struct!(IndexPart { column, prefix, descending });
binary_struct!(DroppedColumn { ordinal, sql_type });
binary_struct!(Check { name, expression, enforced });
binary_struct!(ForeignKey {
    name,
    columns,
    referenced_schema,
    referenced_table,
    referenced_columns,
    on_delete,
    on_update,
});
binary_struct_with_flags!(Column {
    name,
    sql_type,
    nullable,
    default,
    on_update_now,
    auto_increment,
    generated,
    visibility,
} flags { zerofill, names_collation } {
    display_width,
    comment,
    ordinal,
    instant_default,
} elsewhere { histogram: None });
binary_struct!(Bucket { lower, upper, cumulative, distinct });
binary_struct!(Histogram {
    is_singleton,
    buckets,
    nulls,
    collation,
    updated_us,
    sampling_rate,
    buckets_specified,
    auto_update,
});
binary_struct!(Measured { column, histogram });
binary_struct!(IndexTree { id, root });
binary_struct!(RowVersions { count, ordinals });

/// The number that stands for no tree and no space: the dictionary of an engine gives none of that number.
const NONE_YET: u32 = 0;

impl Binary for Index {
    fn put(&self, out: &mut Vec<u8>) {
        let Index { name, parts, primary, unique, invisible, hidden, implicit, comment, trees } = self;
        let none = IndexTree { id: NONE_YET.into(), root: PageNo::NONE };
        let first = trees.first().unwrap_or(&none);
        name.put(out);
        first.id.put(out);
        parts.put(out);
        primary.put(out);
        unique.put(out);
        invisible.put(out);
        put_flags([*hidden, *implicit], out);
        comment.put(out);
        first.root.put(out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let (name, id) = (Binary::get(from)?, Binary::get(from)?);
        let parts = Binary::get(from)?;
        let [primary, unique, invisible] = [bool::get(from)?, bool::get(from)?, bool::get(from)?];
        let [hidden, implicit] = get_flags(from)?;
        let (comment, root) = (Binary::get(from)?, Binary::get(from)?);
        let trees = if id == u64::from(NONE_YET) { Vec::new() } else { vec![IndexTree { id, root }] };
        Ok(Index { name, parts, primary, unique, invisible, hidden, implicit, comment, trees })
    }
}

mod partitions;

use partitions::{add_names, add_partitions, later_partitions, names};

binary_struct!(TableDef {
    id,
    schema,
    name,
    columns,
    indexes,
    dropped,
    checks,
    foreign_keys,
    collation,
    comment,
    options,
    partitioning,
    partitions,
    auto_increment,
    created_us,
    engine_data,
} elsewhere { versions: RowVersions::default() });

/// The histogram of a column.
struct Measured {
    column: u16,
    histogram: Histogram,
}

/// The histograms of a table's columns.
fn histograms(def: &TableDef) -> Vec<Measured> {
    let measured = |(place, column): (usize, &Column)| {
        let histogram = column.histogram.as_deref()?.clone();
        Some(Measured { column: place as u16, histogram })
    };
    def.columns.iter().enumerate().filter_map(measured).collect()
}

fn add_histograms(def: &mut TableDef, histograms: Vec<Measured>) -> Result<()> {
    for Measured { column, histogram } in histograms {
        let Some(column) = def.columns.get_mut(usize::from(column)) else {
            return Err(DescriptorError::Damaged("a histogram is of no column"));
        };
        column.histogram = Some(Arc::new(histogram));
    }
    Ok(())
}

impl Binary for PageNo {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(PageNo(u32::get(from)?))
    }
}

impl Binary for SpaceId {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(SpaceId(u32::get(from)?))
    }
}

impl Binary for Visibility {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(match self {
            Visibility::Visible => 0,
            Visibility::Invisible => 1,
            Visibility::System => 2,
        });
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.u8()? {
            0 => Visibility::Visible,
            1 => Visibility::Invisible,
            2 => Visibility::System,
            _ => return Err(DescriptorError::Damaged("unknown visibility")),
        })
    }
}

impl Binary for DefaultValue {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            DefaultValue::None => out.push(0),
            DefaultValue::Literal(value) => {
                out.push(1);
                value.put(out);
            }
            DefaultValue::CurrentTimestamp => out.push(2),
            DefaultValue::Expression(text) => {
                out.push(3);
                text.put(out);
            }
            DefaultValue::Removed => out.push(4),
        }
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.u8()? {
            0 => DefaultValue::None,
            1 => DefaultValue::Literal(Value::get(from)?),
            2 => DefaultValue::CurrentTimestamp,
            3 => DefaultValue::Expression(String::get(from)?),
            4 => DefaultValue::Removed,
            _ => return Err(DescriptorError::Damaged("unknown kind of default")),
        })
    }
}

impl Binary for IntWidth {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(self.bytes() as u8);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.u8()? {
            1 => IntWidth::Tiny,
            2 => IntWidth::Small,
            3 => IntWidth::Medium,
            4 => IntWidth::Int,
            8 => IntWidth::Big,
            _ => return Err(DescriptorError::Damaged("no integer has this width")),
        })
    }
}

impl Binary for LobSize {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(*self as u8);
    }
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.u8()? {
            0 => LobSize::Tiny,
            1 => LobSize::Normal,
            2 => LobSize::Medium,
            3 => LobSize::Long,
            _ => return Err(DescriptorError::Damaged("no TEXT or BLOB has this size")),
        })
    }
}

/// Reads digits after the second.
fn get_fsp(from: &mut Reader<'_>) -> Result<u8> {
    Ok(from.u8()?)
        .and_then(|fsp| if fsp <= 6 { Ok(fsp) } else { Err(DescriptorError::Damaged("fsp beyond 6")) })
}

impl Binary for SqlType {
    #[rustfmt::skip]
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            SqlType::Null => out.push(0),
            SqlType::Int { width, unsigned } => { out.push(1); width.put(out); unsigned.put(out); }
            SqlType::Decimal { precision, scale, unsigned } => {
                out.extend_from_slice(&[2, *precision, *scale]);
                unsigned.put(out);
            }
            SqlType::Float { unsigned, digits } => { out.push(3); unsigned.put(out); digits.put(out); }
            SqlType::Double { unsigned, digits } => { out.push(4); unsigned.put(out); digits.put(out); }
            SqlType::Bit { width } => out.extend_from_slice(&[5, *width]),
            SqlType::Date => out.push(6),
            SqlType::Time { fsp } => out.extend_from_slice(&[7, *fsp]),
            SqlType::DateTime { fsp } => out.extend_from_slice(&[8, *fsp]),
            SqlType::Timestamp { fsp } => out.extend_from_slice(&[9, *fsp]),
            SqlType::Year => out.push(10),
            SqlType::Char { length, collation } => { out.push(11); length.put(out); collation.put(out); }
            SqlType::VarChar { length, collation } => { out.push(12); length.put(out); collation.put(out); }
            SqlType::Binary { length } => { out.push(13); length.put(out); }
            SqlType::VarBinary { length } => { out.push(14); length.put(out); }
            SqlType::Text { size, collation } => { out.push(15); size.put(out); collation.put(out); }
            SqlType::Blob { size } => { out.push(16); size.put(out); }
            SqlType::Enum { members, collation } => { out.push(17); members.to_vec().put(out); collation.put(out); }
            SqlType::Set { members, collation } => { out.push(18); members.to_vec().put(out); collation.put(out); }
            SqlType::Json => out.push(19),
        }
    }

    #[rustfmt::skip]
    fn get(from: &mut Reader<'_>) -> Result<Self> {
        Ok(match from.u8()? {
            1 => SqlType::Int { width: Binary::get(from)?, unsigned: Binary::get(from)? },
            2 => {
                let [precision, scale] = from.array()?;
                if !(1..=65).contains(&precision) || scale > precision.min(30) {
                    return Err(DescriptorError::Damaged("no DECIMAL has these digits"));
                }
                SqlType::Decimal { precision, scale, unsigned: Binary::get(from)? }
            }
            3 => SqlType::Float { unsigned: Binary::get(from)?, digits: Binary::get(from)? },
            4 => SqlType::Double { unsigned: Binary::get(from)?, digits: Binary::get(from)? },
            5 => match from.u8()? {
                width @ 1..=64 => SqlType::Bit { width },
                _ => return Err(DescriptorError::Damaged("no BIT has this width")),
            },
            6 => SqlType::Date,
            7 => SqlType::Time { fsp: get_fsp(from)? },
            8 => SqlType::DateTime { fsp: get_fsp(from)? },
            9 => SqlType::Timestamp { fsp: get_fsp(from)? },
            10 => SqlType::Year,
            11 => SqlType::Char { length: Binary::get(from)?, collation: Binary::get(from)? },
            12 => SqlType::VarChar { length: Binary::get(from)?, collation: Binary::get(from)? },
            13 => SqlType::Binary { length: Binary::get(from)? },
            14 => SqlType::VarBinary { length: Binary::get(from)? },
            15 => SqlType::Text { size: Binary::get(from)?, collation: Binary::get(from)? },
            16 => SqlType::Blob { size: Binary::get(from)? },
            17 => SqlType::Enum { members: get_members(from, 65_535)?, collation: Binary::get(from)? },
            18 => SqlType::Set { members: get_members(from, 64)?, collation: Binary::get(from)? },
            19 => SqlType::Json,
            _ => return Err(DescriptorError::Damaged("unknown type")),
        })
    }
}

fn get_members(from: &mut Reader<'_>, most: usize) -> Result<Arc<[Bytes]>> {
    let members = Vec::<Bytes>::get(from)?;
    if members.is_empty() || members.len() > most {
        return Err(DescriptorError::Damaged("an ENUM or SET has no or too many members"));
    }
    Ok(members.into())
}

impl Binary for Value {
    #[rustfmt::skip]
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Value::Null => out.push(0),
            Value::Int(value) => { out.push(1); value.put(out); }
            Value::UInt(value) => { out.push(2); value.put(out); }
            Value::Decimal(value) => { out.push(3); value.to_string().put(out); }
            Value::Float(value) => { out.push(4); out.extend_from_slice(&value.to_le_bytes()); }
            Value::Double(value) => { out.push(5); out.extend_from_slice(&value.to_le_bytes()); }
            Value::Bytes(value) => { out.push(6); value.put(out); }
            Value::Date(value) => { out.push(7); value.packed().put(out); }
            Value::Time(value) => { out.push(8); value.micros().put(out); }
            Value::DateTime(value) => { out.push(9); value.packed().put(out); }
            Value::Timestamp(value) => { out.push(10); value.0.put(out); }
            Value::Year(value) => { out.push(11); value.put(out); }
            Value::Bit { bits, width } => { out.push(12); bits.put(out); out.push(*width); }
            Value::Enum(value) => { out.push(13); value.index.put(out); value.text.put(out); }
            Value::Set(value) => { out.push(14); value.bits.put(out); value.text.put(out); }
        }
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let impossible = DescriptorError::Damaged("an impossible value");
        Ok(match from.u8()? {
            0 => Value::Null,
            1 => Value::Int(Binary::get(from)?),
            2 => Value::UInt(Binary::get(from)?),
            3 => match Decimal::parse(from.prefixed_bytes()?) {
                (number, ParseEnd::Complete) => Value::Decimal(number),
                _ => return Err(impossible),
            },
            4 => Value::Float(f32::from_le_bytes(from.array()?)),
            5 => Value::Double(f64::from_le_bytes(from.array()?)),
            6 => Value::Bytes(Binary::get(from)?),
            7 => Value::Date(Date::from_packed(Binary::get(from)?).ok_or(impossible)?),
            8 => Value::Time(Time::from_micros(Binary::get(from)?).ok_or(impossible)?),
            9 => Value::DateTime(DateTime::from_packed(Binary::get(from)?).ok_or(impossible)?),
            10 => Value::Timestamp(Timestamp(Binary::get(from)?)),
            11 => Value::Year(Binary::get(from)?),
            12 => Value::Bit { bits: Binary::get(from)?, width: Binary::get(from)? },
            13 => Value::Enum(Box::new(EnumValue { index: Binary::get(from)?, text: Binary::get(from)? })),
            14 => Value::Set(Box::new(SetValue { bits: Binary::get(from)?, text: Binary::get(from)? })),
            _ => return Err(impossible),
        })
    }
}

/// The version of a record, and the bytes after it.
fn versioned(bytes: &[u8]) -> Result<(u8, Reader<'_>)> {
    let mut from = Reader::new(bytes);
    match from.u8()? {
        version @ 1..=FORMAT_VERSION => Ok((version, from)),
        0 => Err(DescriptorError::Damaged("there is no version 0")),
        later => Err(DescriptorError::UnknownVersion(later)),
    }
}

/// What was read, if that was all.
fn whole<T>(record: T, rest: &Reader<'_>) -> Result<T> {
    if rest.is_empty() { Ok(record) } else { Err(DescriptorError::Damaged("bytes follow it")) }
}

pub(super) fn encode_table(def: &TableDef) -> Vec<u8> {
    let later = later_partitions(def);
    let histograms = histograms(def);
    let names = names(def);
    let version = match (later.is_empty(), histograms.is_empty()) {
        _ if !names.is_empty() => FORMAT_VERSION,
        _ if def.versions != RowVersions::default() => VERSIONED,
        (_, false) => MEASURED,
        (false, true) => PARTITIONED,
        (true, true) => UNPARTITIONED,
    };
    let mut out = vec![version];
    def.put(&mut out);
    if version >= PARTITIONED {
        later.put(&mut out);
    }
    if version >= MEASURED {
        histograms.put(&mut out);
    }
    if version >= VERSIONED {
        def.versions.put(&mut out);
    }
    if version >= FORMAT_VERSION {
        names.put(&mut out);
    }
    out
}

pub(super) fn decode_table(bytes: &[u8]) -> Result<TableDef> {
    let (version, mut from) = versioned(bytes)?;
    let mut def = TableDef::get(&mut from)?;
    if version < 3 {
        for column in &mut def.columns {
            if let Some(collation) = column.sql_type.collation_mut() {
                *collation = collation.as_before_version_3();
            }
        }
    }
    if version >= PARTITIONED {
        add_partitions(&mut def, Binary::get(&mut from)?)?;
    }
    if version >= MEASURED {
        add_histograms(&mut def, Binary::get(&mut from)?)?;
    }
    if version >= VERSIONED {
        def.versions = Binary::get(&mut from)?;
        if version == VERSIONED && def.versions == RowVersions::default() {
            return Err(DescriptorError::Damaged("rows have no versions"));
        }
    }
    if version >= FORMAT_VERSION {
        add_names(&mut def, Binary::get(&mut from)?)?;
    }
    whole(def, &from)
}

pub(super) fn encode_schema(schema: &Schema) -> Vec<u8> {
    let mut out = vec![UNPARTITIONED];
    schema.put(&mut out);
    out
}

pub(super) fn decode_schema(bytes: &[u8]) -> Result<Schema> {
    let (_, mut from) = versioned(bytes)?;
    let schema = Schema::get(&mut from)?;
    whole(schema, &from)
}

macro_rules! binary_by_number {
    ($($type:ident: $what:literal),*) => {$(
        impl Binary for $type {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(self.number());
            }
            fn get(from: &mut Reader<'_>) -> Result<Self> {
                $type::of_number(from.u8()?).ok_or(DescriptorError::Damaged($what))
            }
        }
    )*};
}

binary_by_number!(ViewAlgorithm: "unknown algorithm of a view", ViewCheck: "unknown check of a view");

binary_struct!(ViewDef {
    schema,
    name,
    query,
    tables,
    is_local,
    columns,
    lists_columns,
    algorithm,
    check,
    is_updatable,
    definer,
    is_invokers,
    client_collation,
    connection_collation,
    created_us,
});

pub(super) fn encode_view(view: &ViewDef) -> Vec<u8> {
    let mut out = vec![VIEW_VERSION];
    view.put(&mut out);
    out
}

pub(super) fn decode_view(bytes: &[u8]) -> Result<ViewDef> {
    let mut from = Reader::new(bytes);
    match from.u8()? {
        VIEW_VERSION => whole(ViewDef::get(&mut from)?, &from),
        0 => Err(DescriptorError::Damaged("there is no version 0")),
        later => Err(DescriptorError::UnknownVersion(later)),
    }
}
