//! Types of columns that change under rows that are there.

use std::sync::Arc;

use palisade_catalog::types::LobSize;
use palisade_catalog::{Bytes, CollationId, SqlType, charset};

/// Whether `new` is `old` with members added behind those it has, so that each value is as long as before.
pub fn adds_members(old: &SqlType, new: &SqlType) -> bool {
    let are_members = matches!(new, SqlType::Enum { .. } | SqlType::Set { .. });
    are_members && old != new && old.collation() == new.collation() && keeps_bytes(old, new, true)
}

/// Whether values of type `old` are values of type `new` as they are, byte by byte, for MySQL, which asks
/// whether the order that a collation gives them matters to an index, too.
pub fn keeps_bytes(old: &SqlType, new: &SqlType, indexed: bool) -> bool {
    let sorts_alike =
        |from: CollationId, to: CollationId| from == to || !indexed && from.get().charset == to.get().charset;
    // so many bytes say how long a value is
    let prefix = |characters: u32, collation: CollationId| {
        u64::from(characters) * u64::from(collation.get().charset.max_bytes()) > 255
    };
    match (old, new) {
        (old, new) if old == new => true,
        (SqlType::VarChar { length: a, collation: from }, SqlType::VarChar { length: b, collation: to }) => {
            sorts_alike(*from, *to) && a <= b && prefix(*a, *from) == prefix(*b, *to)
        }
        (SqlType::VarBinary { length: a }, SqlType::VarBinary { length: b }) => {
            a <= b && (*a > 255) == (*b > 255)
        }
        (SqlType::Char { length: a, collation: from }, SqlType::Char { length: b, collation: to }) => {
            a == b && sorts_alike(*from, *to)
        }
        (SqlType::Text { size: a, collation: from }, SqlType::Text { size: b, collation: to }) => {
            a == b && sorts_alike(*from, *to)
        }
        (SqlType::Enum { members: a, collation: from }, SqlType::Enum { members: b, collation: to }) => {
            from.get().charset == to.get().charset && b.starts_with(a) && (a.len() > 255) == (b.len() > 255)
        }
        (SqlType::Set { members: a, collation: from }, SqlType::Set { members: b, collation: to }) => {
            from.get().charset == to.get().charset
                && b.starts_with(a)
                && set_bytes(a.len()) == set_bytes(b.len())
        }
        _ => false,
    }
}

/// Whether rows keep values of type `old` as those of type `new` as they are, and entries of indexes do.
/// Rows and entries say of each text how long it is in the same way for all lengths, so more texts than
/// [`keeps_bytes`] lets MySQL keep may become longer.
pub fn keeps_fields(old: &SqlType, new: &SqlType) -> bool {
    match (old, new) {
        (old, new) if old == new => true,
        (SqlType::VarChar { length: a, collation: from }, SqlType::VarChar { length: b, collation: to }) => {
            from == to && a <= b
        }
        (SqlType::VarBinary { length: a }, SqlType::VarBinary { length: b }) => a <= b,
        (old, new) => adds_members(old, new),
    }
}

/// Bytes of a SET of so many members.
fn set_bytes(members: usize) -> usize {
    match members.div_ceil(8) {
        bytes @ 0..=4 => bytes,
        _ => 8,
    }
}

/// A text type in another collation.
pub fn in_collation(ty: &SqlType, collation: CollationId) -> SqlType {
    match ty {
        SqlType::Char { length, .. } => SqlType::Char { length: *length, collation },
        SqlType::VarChar { length, .. } => SqlType::VarChar { length: *length, collation },
        // a TEXT that might overflow in the wider character set becomes the next larger one
        SqlType::Text { size, collation: old } => {
            let wider = collation.get().charset.max_bytes() > old.get().charset.max_bytes();
            let size = match size {
                LobSize::Tiny if wider => LobSize::Normal,
                LobSize::Normal if wider => LobSize::Medium,
                LobSize::Medium if wider => LobSize::Long,
                size => *size,
            };
            SqlType::Text { size, collation }
        }
        SqlType::Enum { members, collation: old } => {
            SqlType::Enum { members: members_in(members, *old, collation), collation }
        }
        SqlType::Set { members, collation: old } => {
            SqlType::Set { members: members_in(members, *old, collation), collation }
        }
        other => other.clone(),
    }
}

/// The members of an ENUM or SET in another collation's character set.
fn members_in(members: &Arc<[Bytes]>, from: CollationId, to: CollationId) -> Arc<[Bytes]> {
    let (from, to) = (from.get().charset, to.get().charset);
    let convert = |member: &Bytes| {
        let mut converted = Vec::new();
        charset::convert(member, from, to, &mut converted);
        Bytes::from(converted)
    };
    members.iter().map(convert).collect()
}
