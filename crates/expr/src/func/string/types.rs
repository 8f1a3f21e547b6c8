//! Types of the results of functions of text.

use palisade_catalog::{Charset, Collation, CollationId, SqlType};

use super::keyword;
use crate::compare::text_collation;
use crate::func::{Typed, characters, text_of_length, text_type};
use crate::place::At;
use crate::{Expr, SqlResult};

pub(super) fn int(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(SqlType::BIGINT, arguments))
}

pub(super) fn int_never_null(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::BIGINT))
}

/// Text as long as the first argument, in its collation.
pub(super) fn first_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let ty = text_type("substr", arguments.part(0..1)?, characters(arguments.at(0)?), connection)?;
    Ok(Typed::strict(ty, arguments))
}

pub(super) fn number_text(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed { ty: text_of_length(characters(arguments.at(0)?).max(64) * 2, connection), nullable: true })
}

pub(super) fn conv_type(_: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(65, connection)))
}

pub(super) fn char_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let name = String::from_utf8_lossy(keyword(arguments.at(0)?)?).into_owned();
    let Some(charset) = Charset::by_name(&name) else {
        return Err(crate::error::unknown_charset(&name));
    };
    let length = (arguments.len() as u64 - 1) * 4;
    Ok(Typed::nullable(text_of_length(length, Collation::default_of(charset).id)))
}

/// The collation of a text that is changed: what is put into it does not change that.
pub(in crate::func) fn collation_of(text: &Expr, connection: CollationId) -> CollationId {
    match &text.ty {
        SqlType::Null => CollationId::BINARY,
        _ => text_collation(text).unwrap_or(connection),
    }
}

/// TRIM: text as long as the third argument.
pub(super) fn trim_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let text = arguments.at(2)?;
    Ok(Typed::strict(text_of_length(characters(text), collation_of(text, connection)), arguments))
}

/// SUBSTRING_INDEX: text as long as the first argument.
pub(super) fn substring_index_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let text = arguments.at(0)?;
    Ok(Typed::strict(text_of_length(characters(text), collation_of(text, connection)), arguments))
}

pub(super) fn concat_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = arguments.iter().map(characters).sum();
    Ok(Typed::strict(text_type("concat", arguments, length, connection)?, arguments))
}

pub(super) fn concat_ws_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = arguments.iter().map(characters).sum();
    Ok(Typed::strict(text_type("concat_ws", arguments, length, connection)?, arguments))
}

pub(super) fn tail_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = arguments.tail(1)?.iter().map(|argument| characters(argument) + 1).sum();
    Ok(Typed::nullable(text_type("make_set", arguments.tail(1)?, length, connection)?))
}

pub(super) fn elt_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = arguments.tail(1)?.iter().map(characters).max().unwrap_or(0);
    Ok(Typed::nullable(text_type("elt", arguments.tail(1)?, length, connection)?))
}

pub(super) fn export_set_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let length = arguments.tail(1)?.iter().map(characters).max().unwrap_or(0) * 128;
    Ok(Typed::strict(
        text_type("export_set", arguments.part(1..4.min(arguments.len()))?, length, connection)?,
        arguments,
    ))
}

pub(super) fn hex_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let bytes = u64::from(arguments.at(0)?.ty.wire_length(4)).max(8);
    Ok(Typed::strict(text_of_length(bytes * 2, connection), arguments))
}

/// Bytes, no more than the first argument's text has.
pub fn binary_of_first(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let bytes = u64::from(arguments.at(0)?.ty.wire_length(4));
    Ok(Typed::nullable(text_of_length(bytes, CollationId::BINARY)))
}

pub(super) fn insert_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let (text, inserted) = (arguments.at(0)?, arguments.at(3)?);
    let collation = collation_of(text, connection);
    // Into bytes characters are put as bytes.
    let width = match inserted.ty.is_text() && collation == CollationId::BINARY {
        true => u64::from(inserted.ty.collation().get().charset.max_bytes()),
        false => 1,
    };
    let length = characters(text) + characters(inserted) * width;
    Ok(Typed::strict(text_of_length(length, collation), arguments))
}

/// A text even of bytes: in the connection's collation then. That of a number is in the collation which
/// MySQL says numbers have.
pub(super) fn quote_type(arguments: &[Expr], connection: CollationId) -> SqlResult<Typed> {
    let argument = arguments.at(0)?;
    let collation = match &argument.ty {
        SqlType::Null | SqlType::Bit { .. } => connection,
        ty if !ty.is_string() => CollationId::LATIN1_SWEDISH_CI,
        ty if ty.collation() == CollationId::BINARY => connection,
        ty => ty.collation(),
    };
    // NULL is quoted as the word.
    let length = (characters(argument) * 2 + 2).max(if argument.nullable { 4 } else { 0 });
    Ok(Typed::never_null(text_of_length(length, collation)))
}
