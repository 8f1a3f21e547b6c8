//! Index keys: bytes that compare (memcmp) as the values do, column after column.
//!
//! ```text
//! key     = part*                            the index's parts, then those of the clustered key not among them
//! part    = [null] value                     all inverted if the part is DESC
//! null    = 00 NULL, which ends the part | 01    only if the column is nullable
//! value   = fixed field | sort key           fields as in rows; sort keys by the column's collation
//! payload = (varint length, bytes)*          originals of text whose sort key does not give it back
//! ```
//!
//! Every value shows where it ends, so a key's parts can be told apart without the row; the clustered key of
//! a secondary entry is put together by copying pieces. And because most parts give their value back, and the
//! payload has the rest, an index can answer a query on its columns alone ([`entry_to_row`]). Only parts cut
//! to a prefix cannot.

mod fixed;

use smallvec::SmallVec;

pub(crate) use self::fixed::FixedEntries;
use crate::charset::Charset;
use crate::collation::Collation;
use crate::descriptor::{Table, TableDef};
use crate::field::{encode_fixed, fixed_len};
use crate::part::{first, from};
use crate::row::{self, Field, RowError, RowView, Source};
use crate::types::SqlType;
use crate::value::ValueRef;

/// Longest key an index may be declared with, in bytes of its columns (error 1071).
pub const MAX_KEY_LENGTH: u32 = 3072;

/// One part of a key as it is stored.
#[derive(Debug)]
struct Part {
    column: u16,
    nullable: bool,
    /// XORed on every byte: 0xff for DESC.
    mask: u8,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Fixed { length: usize },
    Text { collation: &'static Collation, prefix: Option<u32>, decodable: bool },
}

/// How keys of one index are encoded; derived from a [`TableDef`].
#[derive(Debug)]
pub struct KeyCodec {
    clustered: bool,
    parts: Vec<Part>,
    /// How many of them are the index's own.
    own: usize,
    /// For each part of the clustered key: where it is among the parts, and whether to invert it.
    clustered_parts: Vec<(usize, bool)>,
    /// Columns whose original bytes the payload has, in order.
    payload: Vec<u16>,
    /// Columns that an entry gives back.
    covered: Vec<u16>,
}

/// Whether the original value can be read from the sort key.
fn is_decodable(sql_type: &SqlType) -> bool {
    let collation = sql_type.collation().get();
    // PAD SPACE keys lose trailing spaces; a CHAR has none.
    collation.is_decodable() && (!collation.pad_space || matches!(sql_type, SqlType::Char { .. }))
}

impl KeyCodec {
    /// The codec of index `number` of a definition that has been checked.
    #[expect(
        clippy::indexing_slicing,
        reason = "the definition has this index, a clustered one, and the columns of both"
    )]
    pub(crate) fn new(def: &TableDef, number: usize) -> KeyCodec {
        let part = |part: &crate::IndexPart| {
            let column = def.key_column(part.column);
            let kind = match fixed_len(&column.sql_type) {
                Some(length) => Kind::Fixed { length },
                None => Kind::Text {
                    collation: column.sql_type.collation().get(),
                    prefix: part.prefix,
                    decodable: part.prefix.is_none() && is_decodable(&column.sql_type),
                },
            };
            let mask = if part.descending { 0xff } else { 0 };
            Part { column: part.column, nullable: column.nullable, mask, kind }
        };
        let own = &def.indexes[number].parts;
        let mut parts: Vec<Part> = own.iter().map(part).collect();
        let mut clustered_parts = Vec::new();
        if number > 0 {
            for wanted in &def.indexes[0].parts {
                let same =
                    |known: &crate::IndexPart| known.column == wanted.column && known.prefix == wanted.prefix;
                match own.iter().position(same) {
                    Some(at) => clustered_parts.push((at, own[at].descending != wanted.descending)),
                    None => {
                        clustered_parts.push((parts.len(), false));
                        parts.push(part(wanted));
                    }
                }
            }
        }
        let whole = |part: &Part| !matches!(part.kind, Kind::Text { prefix: Some(_), .. });
        let decodable = |part: &Part| !matches!(part.kind, Kind::Text { decodable: false, .. });
        let covered: Vec<u16> = parts.iter().filter(|part| whole(part)).map(|part| part.column).collect();
        let mut payload = Vec::new();
        if number > 0 {
            for part in parts.iter().filter(|part| whole(part) && !decodable(part)) {
                if !payload.contains(&part.column) {
                    payload.push(part.column);
                }
            }
        }
        KeyCodec { clustered: number == 0, own: own.len(), parts, clustered_parts, payload, covered }
    }

    /// Whether every column that is in `columns` (SQL order) can be read from an entry of this index (its key
    /// and payload) without the clustered row.
    pub fn covers(&self, columns: impl IntoIterator<Item = usize>) -> bool {
        self.clustered
            || columns
                .into_iter()
                .all(|column| self.covered.iter().any(|known| usize::from(*known) == column))
    }

    /// Whether entries of this index have a payload.
    pub fn has_payload(&self) -> bool {
        !self.payload.is_empty()
    }
}

impl Part {
    /// Appends a present value in the form the row has it, or its sort key.
    fn put_text(&self, text: &[u8], charset: Charset, out: &mut Vec<u8>) {
        if let Kind::Text { collation, prefix, .. } = &self.kind {
            let length = prefix.map_or(text.len(), |prefix| charset.prefix_len(text, prefix as usize));
            collation.sort_key(first(text, length), out);
        }
    }

    fn put_value(&self, sql_type: &SqlType, value: ValueRef<'_>, out: &mut Vec<u8>) -> bool {
        let start = out.len();
        match (value, &self.kind) {
            (ValueRef::Null, _) if !self.nullable => return false,
            (ValueRef::Null, _) => out.push(0),
            (value, Kind::Fixed { .. }) => {
                if self.nullable {
                    out.push(1);
                }
                if !encode_fixed(sql_type, value, out) {
                    out.truncate(start);
                    return false;
                }
            }
            (ValueRef::Bytes(text), Kind::Text { collation, .. }) => {
                if self.nullable {
                    out.push(1);
                }
                self.put_text(text, collation.charset, out);
            }
            _ => return false,
        }
        self.invert(out, start);
        true
    }

    fn put_field(&self, row: &RowView<'_>, out: &mut Vec<u8>) -> Result<(), RowError> {
        let column = usize::from(self.column);
        match (row.field(column), &self.kind) {
            (Field::Fixed(bytes), _) => {
                let start = out.len();
                if self.nullable {
                    out.push(1);
                }
                out.extend_from_slice(bytes);
                self.invert(out, start);
                Ok(())
            }
            _ => {
                let sql_type = &row.table().key_column(self.column).sql_type;
                let encoded = self.put_value(sql_type, row.column(column), out);
                if encoded { Ok(()) } else { Err(RowError::Damaged) }
            }
        }
    }

    /// Inverts what has been appended since `start`, if the part is DESC.
    fn invert(&self, out: &mut [u8], start: usize) {
        if self.mask != 0 {
            out.iter_mut().skip(start).for_each(|byte| *byte = !*byte);
        }
    }

    /// Length of this part at the start of `bytes`, the null marker included, and whether it is NULL.
    #[inline]
    fn length(&self, bytes: &[u8]) -> Option<(usize, bool)> {
        let marker = usize::from(self.nullable);
        if self.nullable {
            match bytes.first()? ^ self.mask {
                0 => return Some((1, true)),
                1 => {}
                _ => return None,
            }
        }
        let length = match &self.kind {
            Kind::Fixed { length } => *length,
            Kind::Text { collation, .. } => collation.sort_key_len(from(bytes, marker), self.mask)?,
        };
        (marker + length <= bytes.len()).then_some((marker + length, false))
    }
}

/// Appends the complete key of `row` in index `number`: the index's parts, then the clustered key's parts
/// that are not among them. This is what the tree stores.
///
/// A row that has NULL in a NOT NULL column of the key is damaged: none that was checked on its way in has.
pub fn entry_key(table: &Table, number: usize, row: &RowView<'_>, out: &mut Vec<u8>) -> Result<(), RowError> {
    table.key_codec(number).parts.iter().try_for_each(|part| part.put_field(row, out))
}

/// Appends the payload of `row`'s entry in secondary index `number`: the original bytes of the columns whose
/// key form does not give them back. May be empty. A change of the payload alone is a change of the entry.
pub fn entry_payload(table: &Table, number: usize, row: &RowView<'_>, out: &mut Vec<u8>) {
    for column in &table.key_codec(number).payload {
        if let ValueRef::Bytes(text) = row.column(usize::from(*column)) {
            palisade_base::codec::put_bytes(out, text);
        }
    }
}

/// Appends the key of the first `values.len()` parts of index `number` (the clustered key's parts that follow
/// its own may be given too), for searching. Every entry with these values has this prefix, and no other has;
/// with a part cut to a prefix, others that agree in it have it too.
///
/// The values must be of their columns' types: `Mismatch` otherwise, also for NULL in a NOT NULL column,
/// which no row equals.
pub fn search_key(
    table: &Table,
    number: usize,
    values: &[ValueRef<'_>],
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    for (part, value) in table.key_codec(number).parts.iter().zip(values) {
        let column = usize::from(part.column);
        if !part.put_value(&table.key_column(part.column).sql_type, *value, out) {
            return Err(RowError::Mismatch { column });
        }
    }
    Ok(())
}

/// [`search_key`] of `values`, then the bytes with which the next part of every text begins that begins with
/// `prefix`: for LIKE 'prefix%'. Other entries may begin so too.
pub fn search_key_for_prefix(
    table: &Table,
    number: usize,
    values: &[ValueRef<'_>],
    prefix: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    search_key(table, number, values, out)?;
    let parts = &table.key_codec(number).parts;
    let part = parts.get(values.len()).ok_or(RowError::Mismatch { column: table.columns.len() })?;
    let Kind::Text { collation, prefix: cut, .. } = &part.kind else {
        return Err(RowError::Mismatch { column: part.column.into() });
    };
    let start = out.len();
    if part.nullable {
        out.push(1);
    }
    let length = cut.map_or(prefix.len(), |cut| collation.charset.prefix_len(prefix, cut as usize));
    collation.sort_key_prefix(first(prefix, length), out);
    part.invert(out, start);
    Ok(())
}

/// Turns a key into the first one after every key that begins with it; false (and empty) if there is none.
#[must_use]
pub fn prefix_successor(key: &mut Vec<u8>) -> bool {
    while let Some(last) = key.pop() {
        if last < 0xff {
            key.push(last + 1);
            return true;
        }
    }
    false
}

/// What [`unique_prefix`] says of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniquePrefix {
    /// Length of the index's own parts, without the clustered key's behind them.
    pub length: usize,
    /// Whether one of them is NULL: then a unique index does not object to another such entry.
    pub has_null: bool,
}

/// The part of a stored key that a unique index compares. `None` if the bytes are not such a key.
pub fn unique_prefix(table: &Table, number: usize, key: &[u8]) -> Option<UniquePrefix> {
    let codec = table.key_codec(number);
    let mut prefix = UniquePrefix { length: 0, has_null: false };
    for part in codec.parts.iter().take(codec.own) {
        let (length, null) = part.length(from(key, prefix.length))?;
        prefix.length += length;
        prefix.has_null |= null;
    }
    Some(prefix)
}

/// Where each of the index's own parts ends in a stored key: the prefixes that entries with equal leading
/// parts share; and whether a part until there is NULL. Empty if the bytes are not such a key.
pub fn part_ends(table: &Table, number: usize, key: &[u8]) -> SmallVec<[(usize, bool); 8]> {
    let codec = table.key_codec(number);
    let mut ends = SmallVec::new();
    let (mut at, mut has_null) = (0, false);
    for part in codec.parts.iter().take(codec.own) {
        let Some((length, is_null)) = part.length(from(key, at)) else { return SmallVec::new() };
        at += length;
        has_null |= is_null;
        ends.push((at, has_null));
    }
    ends
}

/// Start and end of every part of a stored key.
type Pieces = SmallVec<[(u32, u32); 12]>;

fn split(codec: &KeyCodec, key: &[u8]) -> Result<Pieces, RowError> {
    let mut pieces = Pieces::new();
    let mut at = 0;
    for part in &codec.parts {
        let (length, _) = part.length(from(key, at)).ok_or(RowError::Damaged)?;
        pieces.push((at as u32, (at + length) as u32));
        at += length;
    }
    if at == key.len() { Ok(pieces) } else { Err(RowError::Damaged) }
}

/// Appends the clustered key of the row that an entry of secondary index `number` belongs to. (For the
/// clustered index, that is the key itself.)
pub fn clustered_key(
    table: &Table,
    number: usize,
    entry_key: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    let codec = table.key_codec(number);
    if codec.clustered {
        out.extend_from_slice(entry_key);
        return Ok(());
    }
    let pieces = split(codec, entry_key)?;
    for (part, inverted) in &codec.clustered_parts {
        let place = pieces.get(*part).map(|(start, end)| *start as usize..*end as usize);
        let piece = place.and_then(|place| entry_key.get(place)).ok_or(RowError::Damaged)?;
        if *inverted {
            out.extend(piece.iter().map(|byte| !byte));
        } else {
            out.extend_from_slice(piece);
        }
    }
    Ok(())
}

/// Where an entry has a column.
#[derive(Clone, Copy)]
enum Found {
    Nowhere,
    /// Bytes of the key: a fixed field.
    Key(u32, u32),
    /// Bytes of the payload: text.
    Payload(u32, u32),
    /// Bytes of the scratch buffer: a fixed field, put upright from a descending part.
    Field(u32, u32),
    /// Bytes of the scratch buffer: text.
    Text(u32, u32),
}

/// Appends a row (see [`crate::row`]) with the columns that an entry of secondary index `number` holds; the
/// others are NULL. See [`KeyCodec::covers`]. What is appended of a damaged entry is no row.
pub fn entry_to_row(
    table: &Table,
    number: usize,
    entry_key: &[u8],
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    match table.fixed_entries(number) {
        Some(fixed) if payload.is_empty() => fixed.append(&table.key_codec(number).parts, entry_key, out),
        _ => decoded_entry_to_row(table, number, entry_key, payload, out),
    }
}

/// The same of any entry.
#[expect(
    clippy::indexing_slicing,
    reason = "the codec's columns are the table's; the ranges are of the parts that were just found in key and payload"
)]
fn decoded_entry_to_row(
    table: &Table,
    number: usize,
    entry_key: &[u8],
    payload: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), RowError> {
    let codec = table.key_codec(number);
    let mut scratch = Vec::new();
    let mut columns: SmallVec<[Found; 24]> = SmallVec::from_elem(Found::Nowhere, table.columns.len());
    let mut at = 0;
    for part in &codec.parts {
        let (length, null) = part.length(from(entry_key, at)).ok_or(RowError::Damaged)?;
        let start = at + usize::from(part.nullable);
        at += length;
        if null {
            continue;
        }
        columns[usize::from(part.column)] = match &part.kind {
            Kind::Fixed { .. } if part.mask == 0 => Found::Key(start as u32, at as u32),
            Kind::Fixed { .. } => {
                let from = scratch.len();
                scratch.extend(entry_key[start..at].iter().map(|byte| !byte));
                Found::Field(from as u32, scratch.len() as u32)
            }
            Kind::Text { collation, decodable: true, .. } => {
                let from = scratch.len();
                let text = &entry_key[start..at];
                collation.decode_sort_key(text, part.mask, &mut scratch).ok_or(RowError::Damaged)?;
                Found::Text(from as u32, scratch.len() as u32)
            }
            // The payload has it, but only if it is not NULL.
            Kind::Text { prefix: None, .. } => Found::Payload(0, 0),
            Kind::Text { .. } => continue,
        };
    }
    if at != entry_key.len() {
        return Err(RowError::Damaged);
    }
    let mut rest = palisade_base::codec::Reader::new(payload);
    for column in &codec.payload {
        let found = &mut columns[usize::from(*column)];
        if matches!(found, Found::Payload(..)) {
            let text = rest.prefixed_bytes().map_err(|_| RowError::Damaged)?;
            let end = payload.len() - rest.rest().len();
            *found = Found::Payload((end - text.len()) as u32, end as u32);
        }
    }
    if !rest.is_empty() {
        return Err(RowError::Damaged);
    }
    let source = |column: usize| {
        let range = |start: u32, end: u32| start as usize..end as usize;
        match columns[column] {
            Found::Nowhere => Source::Value(ValueRef::Null),
            Found::Key(start, end) => Source::Field(&entry_key[range(start, end)]),
            Found::Field(start, end) => Source::Field(&scratch[range(start, end)]),
            Found::Payload(start, end) => Source::Value(ValueRef::Bytes(&payload[range(start, end)])),
            Found::Text(start, end) => Source::Value(ValueRef::Bytes(&scratch[range(start, end)])),
        }
    };
    row::encode_from(table, source, out, &mut |_| true)
}

#[cfg(test)]
mod tests;
