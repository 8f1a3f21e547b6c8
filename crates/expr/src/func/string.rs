//! Functions of text and binary strings.

mod types;

use palisade_base::error_catalogue::{ER_INVALID_CHARACTER_STRING, ER_UNKNOWN_LOCALE, ER_WRONG_ARGUMENTS};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Bytes, Charset, CollationId, SqlType, Value, ValueRef};

use self::types::{
    char_type, concat_type, concat_ws_type, conv_type, elt_type, export_set_type, first_type, hex_type,
    insert_type, int, int_never_null, number_text, quote_type, substring_index_type, tail_type, trim_type,
};
use super::edit::{self, Side};
use super::locale::{self, Locale};
use super::number::round_f64;
use super::turns::{OnNull, Read, Turn};
use super::{Evaluation, Function, MANY, function, text_length, text_of_length};
use crate::convert::text_of;
use crate::place::At;
use crate::{CastTarget, Context, Domain, Expr, Node};
use crate::{SqlAttempt, SqlResult};
use Evaluation::{Lazy, Nullable, Strict};

pub use types::binary_of_first;
pub(super) use types::collation_of;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("ascii", (1, 1), int, Strict(ascii)),
    function("bin", (1, 1), number_text, Strict(bin)),
    function("bit_length", (1, 1), int, Strict(bit_length)),
    // CHAR(n, ... USING charset) is bound as char('charset', n, ...)
    function("char", (2, MANY), char_type, Lazy(char_of)),
    function("char_length", (1, 1), int, Strict(char_length)),
    function("character_length", (1, 1), int, Strict(char_length)),
    function("concat", (1, MANY), concat_type, Strict(concat)),
    function("concat_ws", (2, MANY), concat_ws_type, Nullable(concat_ws)).in_turns(CONCAT_WS),
    function("conv", (3, 3), conv_type, Strict(conv)).in_turns(COUNTED),
    function("elt", (2, MANY), elt_type, Lazy(elt)),
    function("export_set", (3, 5), export_set_type, Strict(export_set)).in_turns(EXPORT_SET),
    function("field", (2, MANY), int_never_null, Lazy(field)),
    function("find_in_set", (2, 2), int, Strict(find_in_set)),
    function("format", (2, 3), text_length::formatted, Nullable(format)).in_turns(FORMAT),
    function("hex", (1, 1), hex_type, Strict(hex)),
    function("insert", (4, 4), insert_type, Strict(insert)).in_turns(INSERT),
    function("instr", (2, 2), int, Strict(instr)),
    function("lcase", (1, 1), first_type, Strict(lower)),
    function("left", (2, 2), text_length::part, Strict(left)).in_turns(COUNTED),
    function("length", (1, 1), int, Strict(length)),
    function("locate", (2, 3), int, Strict(locate)).in_turns(LOCATE),
    function("lower", (1, 1), first_type, Strict(lower)),
    function("lpad", (3, 3), text_length::padded, Strict(lpad)).in_turns(PADDED),
    function("ltrim", (1, 1), first_type, Strict(ltrim)),
    function("make_set", (2, MANY), tail_type, Lazy(make_set)),
    function("mid", (2, 3), first_type, Strict(substring)).in_turns(COUNTED),
    function("oct", (1, 1), number_text, Strict(oct)),
    function("octet_length", (1, 1), int, Strict(length)),
    function("ord", (1, 1), int, Strict(ord)),
    function("position", (2, 2), int, Strict(locate)).in_turns(LOCATE),
    function("quote", (1, 1), quote_type, Nullable(quote)),
    function("repeat", (2, 2), text_length::repeated, Strict(repeat)).in_turns(COUNTED),
    function("replace", (3, 3), text_length::replaced, Strict(replace)),
    function("reverse", (1, 1), first_type, Strict(reverse)),
    function("right", (2, 2), text_length::part, Strict(right)).in_turns(COUNTED),
    function("rpad", (3, 3), text_length::padded, Strict(rpad)).in_turns(PADDED),
    function("rtrim", (1, 1), first_type, Strict(rtrim)),
    function("soundex", (1, 1), first_type, Strict(soundex)),
    function("space", (1, 1), text_length::spaces, Strict(space)),
    function("strcmp", (2, 2), int, Strict(strcmp)),
    function("substr", (2, 3), first_type, Strict(substring)).in_turns(COUNTED),
    function("substring", (2, 3), first_type, Strict(substring)).in_turns(COUNTED),
    function("substring_index", (3, 3), substring_index_type, Strict(substring_index))
        .in_turns(SUBSTRING_INDEX),
    // TRIM(side what FROM text) is bound as trim('side', what, text)
    function("trim", (3, 3), trim_type, Strict(trim)).in_turns(TRIM),
    function("ucase", (1, 1), first_type, Strict(upper)),
    function("unhex", (1, 1), binary_of_first, Strict(unhex)),
    function("upper", (1, 1), first_type, Strict(upper)),
];

/// A text, then a number or two.
const COUNTED: &[Turn] = &[Turn::of(0), Turn::of(1).read(Read::Integer), Turn::of(2).read(Read::Integer)];
/// A separator is there or nothing is; what it separates may be NULL.
const CONCAT_WS: &[Turn] = &[Turn::of(0)];
const EXPORT_SET: &[Turn] =
    &[Turn::of(0).read(Read::Bits), Turn::of(1), Turn::of(2), Turn::of(4).read(Read::Integer), Turn::of(3)];
/// NULL is a locale, which is unknown.
const FORMAT: &[Turn] = &[Turn::of(1).read(Read::Integer), Turn::of(2).null(OnNull::Passes), Turn::of(0)];
const INSERT: &[Turn] =
    &[Turn::of(0), Turn::of(3), Turn::of(1).read(Read::Integer), Turn::of(2).read(Read::Integer)];
const LOCATE: &[Turn] = &[Turn::of(1), Turn::of(0), Turn::of(2).read(Read::Integer)];
const PADDED: &[Turn] = &[Turn::of(0), Turn::of(2), Turn::of(1).read(Read::Integer)];
const SUBSTRING_INDEX: &[Turn] = &[Turn::of(0), Turn::of(2).read(Read::Integer), Turn::of(1)];
const TRIM: &[Turn] = &[Turn::of(2), Turn::of(1)];

/// The first argument's text, in the result's character set, which is also given.
fn first(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
) -> SqlResult<(Bytes, Charset)> {
    let text = cx.text(values.at(0)?, arguments.at(0)?, &call.ty)?;
    Ok((text, call.ty.collation().get().charset))
}

fn ascii(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    Ok(Value::Int(text.first().map_or(0, |byte| i64::from(*byte))))
}

fn ord(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let length = arguments.at(0)?.ty.collation().get().charset.char_len(&text);
    Ok(Value::Int(text.iter().take(length).fold(0, |code, byte| code << 8 | i64::from(*byte))))
}

fn length(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::Int(text_of(values.at(0)?, &arguments.at(0)?.ty).len() as i64))
}

fn bit_length(_: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::Int(text_of(values.at(0)?, &arguments.at(0)?.ty).len() as i64 * 8))
}

fn char_length(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let charset = arguments.at(0)?.ty.collation().get().charset;
    Ok(Value::Int(cx.watched(|watch| charset.char_count_watched(&text, watch))? as i64))
}

fn bin(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    in_another_base(cx, values.at(0)?, arguments.at(0)?, (10, 2))
}

fn oct(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    in_another_base(cx, values.at(0)?, arguments.at(0)?, (10, 8))
}

fn conv(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let bases = (cx.to_i64(values.at(1)?.as_ref())?, cx.to_i64(values.at(2)?.as_ref())?);
    in_another_base(cx, values.at(0)?, arguments.at(0)?, bases)
}

/// The digits that a value's text begins with, read in one base and written in another. Bits are a number
/// already.
fn in_another_base(
    cx: &mut Context<'_>,
    value: &Value,
    argument: &Expr,
    (from, to): (i64, i64),
) -> SqlResult<Value> {
    let converted = match value {
        // Both bases must be some all the same.
        Value::Bit { bits, .. } => {
            edit::conv(b"1", from, to).and_then(|_| edit::conv(bits.to_string().as_bytes(), 10, to))
        }
        value => {
            let text = text_of(value, &argument.ty);
            if let Some(unreadable) = edit::unreadable_digits(&text, from) {
                cx.truncated("DECIMAL", unreadable)?;
            }
            edit::conv(&text, from, to)
        }
    };
    Ok(converted.map_or(Value::Null, Value::bytes))
}

fn char_of(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let mut out = Vec::new();
    for argument in arguments.tail(1)? {
        let value = argument.eval(cx)?;
        if !value.is_null() {
            let code = cx.to_bits(value.as_ref())? as u32;
            let zeros = (code.leading_zeros() / 8).min(3) as usize;
            out.extend(code.to_be_bytes().iter().skip(zeros));
        }
    }
    let charset = call.ty.collation().get().charset;
    let bad = out.tail(charset.valid_len(&out))?;
    if !bad.is_empty() {
        let shown: String = bad.iter().take(3).map(|byte| format!("{byte:02X}")).collect();
        cx.warn_or_fail(mysql_error!(ER_INVALID_CHARACTER_STRING, charset.name(), shown))?;
        return Ok(Value::Null);
    }
    Ok(Value::bytes(out))
}

fn concat(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let mut out = Bytes::new();
    for (value, argument) in values.iter().zip(arguments) {
        let text = cx.text(value, argument, &call.ty)?;
        if out.len() + text.len() > cx.packet_limit() {
            return Ok(cx.too_large("concat"));
        }
        cx.checkpoint(text.len())?;
        out.extend_from_slice(&text);
    }
    Ok(Value::Bytes(out))
}

fn concat_ws(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    if values.at(0)?.is_null() {
        return Ok(Value::Null);
    }
    let separator = cx.text(values.at(0)?, arguments.at(0)?, &call.ty)?;
    let mut out = Bytes::new();
    let mut any = false;
    for (value, argument) in values.iter().zip(arguments).skip(1).filter(|(value, _)| !value.is_null()) {
        let text = cx.text(value, argument, &call.ty)?;
        let between: &[u8] = if any { &separator } else { b"" };
        if out.len() + between.len() + text.len() > cx.packet_limit() {
            return Ok(cx.too_large("concat_ws"));
        }
        cx.checkpoint(text.len())?;
        out.extend_from_slice(between);
        any = true;
        out.extend_from_slice(&text);
    }
    Ok(Value::Bytes(out))
}

fn elt(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let place = match arguments.at(0)?.eval(cx)? {
        Value::Null => return Ok(Value::Null),
        value => cx.to_i64(value.as_ref())?,
    };
    let chosen =
        usize::try_from(place).ok().filter(|place| *place > 0).and_then(|place| arguments.get(place));
    let Some(chosen) = chosen else { return Ok(Value::Null) };
    match chosen.eval(cx)? {
        Value::Null => Ok(Value::Null),
        value => {
            let text = cx.text(&value, chosen, &call.ty);
            Ok(Value::Bytes(cx.attempt(text)?))
        }
    }
}

/// Looks no further than it must.
fn field(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let domain = field_domain(arguments)?;
    let Some(wanted) = fielded(cx, arguments.at(0)?, domain)? else { return Ok(Value::Int(0)) };
    for (place, argument) in arguments.iter().enumerate().skip(1) {
        let Some(value) = fielded(cx, argument, domain)? else { continue };
        let ordering = cx.compare(wanted.as_ref(), value.as_ref(), domain);
        if cx.attempt(ordering)? == Some(std::cmp::Ordering::Equal) {
            return Ok(Value::Int(place as i64));
        }
    }
    Ok(Value::Int(0))
}

/// All arguments are compared alike: as texts if all are texts or dates, as integers or decimals if all are
/// those, else as doubles.
fn field_domain(arguments: &[Expr]) -> SqlResult<Domain> {
    let given = || arguments.iter().filter(|argument| argument.ty != SqlType::Null);
    let is_text = |ty: &SqlType| ty.is_string() || ty.is_temporal();
    let is_integer = |ty: &SqlType| matches!(ty, SqlType::Int { .. } | SqlType::Year | SqlType::Bit { .. });
    let is_exact = |ty: &SqlType| is_integer(ty) || matches!(ty, SqlType::Decimal { .. });
    if given().all(|argument| is_text(&argument.ty)) {
        let first = arguments.first().filter(|first| first.ty.is_string());
        return Ok(Domain::Text(first.map_or(CollationId::default(), |first| first.ty.collation())));
    }
    if given().all(|argument| is_integer(&argument.ty)) {
        return Ok(Domain::Integer);
    }
    Ok(if given().all(|argument| is_exact(&argument.ty)) { Domain::Decimal } else { Domain::Double })
}

/// A value as FIELD compares it in a domain; `None` if it is NULL.
fn fielded(cx: &mut Context<'_>, argument: &Expr, domain: Domain) -> SqlAttempt<Option<Value>> {
    let value = argument.eval(cx)?;
    let value = match (domain, &value) {
        (_, Value::Null) => return Ok(None),
        (Domain::Text(collation), _) => {
            let text = cx.text(&value, argument, &text_of_length(0, collation));
            Value::Bytes(cx.attempt(text)?)
        }
        (_, Value::Bytes(text)) if argument.ty == SqlType::Json => {
            cx.cast_from_json(text, argument, &CastTarget::Double)?
        }
        (Domain::Double, _) => Value::Double(cx.to_f64(value.as_ref())?),
        _ => value,
    };
    Ok(Some(value))
}

/// The two arguments as text in the collation they agree on.
fn pair(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    operation: &str,
) -> SqlResult<(Bytes, Bytes, CollationId)> {
    let both = [arguments.at(0)?, arguments.at(1)?];
    let collation = crate::compare::aggregate_collations(&both, operation)?.0;
    let ty = text_of_length(0, collation);
    Ok((
        cx.text(values.at(0)?, arguments.at(0)?, &ty)?,
        cx.text(values.at(1)?, arguments.at(1)?, &ty)?,
        collation,
    ))
}

/// What is looked for and where, and the collation it is looked for in: that of the text, whatever the
/// needle's is.
fn needle_and_text(
    cx: &mut Context<'_>,
    [needle, text]: [&Value; 2],
    [needle_argument, text_argument]: [&Expr; 2],
) -> SqlResult<(Bytes, Bytes, CollationId)> {
    let own = |argument: &Expr| match &argument.ty {
        SqlType::Bit { .. } => Some(CollationId::BINARY),
        ty => ty.is_string().then(|| ty.collation()),
    };
    let collation = own(text_argument).or_else(|| own(needle_argument)).unwrap_or_default();
    let ty = text_of_length(0, collation);
    let mut text_in = |value: &Value, argument: &Expr| match own(argument) {
        Some(CollationId::BINARY) => Ok(text_of(value, &argument.ty)),
        _ => cx.text(value, argument, &ty),
    };
    Ok((text_in(needle, needle_argument)?, text_in(text, text_argument)?, collation))
}

fn find_in_set(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    if let SqlType::Set { members, collation } = &arguments.at(1)?.ty
        && let ValueRef::Set { bits, .. } = values.at(1)?.as_ref()
    {
        // The place of a member is that in the declaration, whatever else the value holds.
        let item = cx.text(values.at(0)?, arguments.at(0)?, &arguments.at(1)?.ty)?;
        let place = members
            .iter()
            .position(|member| collation.get().compare(member, &item) == std::cmp::Ordering::Equal);
        let place = place.filter(|place| bits >> place & 1 == 1);
        return Ok(Value::Int(place.map_or(0, |place| place as i64 + 1)));
    }
    // A constant has been converted beforehand; of two columns MySQL compares the bytes.
    let both = [arguments.at(0)?, arguments.at(1)?];
    let collation = crate::compare::collation_of_search(both[0], both[1])?;
    let (item, list) = (text_of(values.at(0)?, &both[0].ty), text_of(values.at(1)?, &both[1].ty));
    let place = cx.watched(|watch| edit::find_in_set(collation.get(), &item, &list, watch))?;
    Ok(Value::Int(place))
}

fn locate(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let (needle, text, collation) =
        needle_and_text(cx, [values.at(0)?, values.at(1)?], [arguments.at(0)?, arguments.at(1)?])?;
    let position = match values.get(2) {
        Some(position) => cx.to_i64(position.as_ref())?,
        None => 1,
    };
    let found = edit::locate(cx, collation.get(), &needle, &text, position)?;
    Ok(Value::Int(found))
}

fn instr(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let (needle, text, collation) =
        needle_and_text(cx, [values.at(1)?, values.at(0)?], [arguments.at(1)?, arguments.at(0)?])?;
    let found = edit::locate(cx, collation.get(), &needle, &text, 1)?;
    Ok(Value::Int(found))
}

fn strcmp(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let (left, right, collation) = pair(cx, values, arguments, "strcmp")?;
    // Beside a number MySQL compares bytes.
    let is_number = |argument: &Expr| argument.ty.is_numeric();
    let collation = if arguments.iter().any(is_number) { CollationId::BINARY } else { collation };
    let order = cx.watched(|watch| collation.get().compare_watched(&left, &right, watch))?;
    Ok(Value::Int(order as i64))
}

fn export_set(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let bits = cx.to_bits_of(values.at(0)?.as_ref(), &arguments.at(0)?.ty)?;
    let on = cx.text(values.at(1)?, arguments.at(1)?, &call.ty)?;
    let off = cx.text(values.at(2)?, arguments.at(2)?, &call.ty)?;
    let separator = match values.get(3) {
        Some(value) => cx.text(value, arguments.at(3)?, &call.ty)?,
        None => Bytes::from(","),
    };
    let count = match values.get(4) {
        // A negative number is a great one.
        Some(value) => match cx.to_i64(value.as_ref())? {
            number @ 0..=64 => number as usize,
            _ => 64,
        },
        None => 64,
    };
    let parts: Vec<&[u8]> = (0..count).map(|bit| if bits >> bit & 1 == 1 { &*on } else { &*off }).collect();
    // 64 texts and 63 separators that are in memory: their sum is within bounds
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if cx.exceeds(length + separator.len() * count.saturating_sub(1))? {
        return Ok(cx.too_large("export_set"));
    }
    let mut out = Vec::with_capacity(length + separator.len() * count.saturating_sub(1));
    for (place, part) in parts.iter().enumerate() {
        cx.checkpoint(part.len() + separator.len())?;
        if place > 0 {
            out.extend_from_slice(&separator);
        }
        out.extend_from_slice(part);
    }
    Ok(Value::bytes(out))
}

/// Only the members that the bits name are computed.
fn make_set(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let bits = arguments.at(0)?.eval(cx)?;
    if bits.is_null() {
        return Ok(Value::Null);
    }
    let bits = cx.to_bits_of(bits.as_ref(), &arguments.at(0)?.ty)?;
    let mut out = Bytes::new();
    let mut any = false;
    for (bit, argument) in arguments.iter().skip(1).enumerate().take(64) {
        if bits >> bit & 1 == 0 {
            continue;
        }
        let value = argument.eval(cx)?;
        if !value.is_null() {
            let text = cx.text(&value, argument, &call.ty)?;
            if cx.exceeds(out.len() + text.len() + usize::from(any))? {
                return Ok(cx.too_large("make_set"));
            }
            if any {
                out.extend_from_slice(b",");
            }
            any = true;
            out.extend_from_slice(&text);
        }
    }
    Ok(Value::Bytes(out))
}

fn format(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    if values.part(0..2)?.iter().any(Value::is_null) {
        return Ok(Value::Null);
    }
    // Of 64 bits the lower half counts.
    let digits = (cx.to_i64(values.at(1)?.as_ref())? as i32).clamp(0, 30);
    let number = match values.at(0)? {
        Value::Double(_)
        | Value::Float(_)
        | Value::Bytes(_)
        | Value::Enum(_)
        | Value::Set(_)
        | Value::Date(_)
        | Value::Time(_)
        | Value::DateTime(_)
        | Value::Timestamp(_) => {
            let value = cx.to_f64(values.at(0)?.as_ref())?;
            let mut out = Vec::new();
            let rounded = round_f64(value, i64::from(digits), false);
            palisade_catalog::number::format_fixed(rounded, digits as u8, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        }
        value => {
            let decimal = cx.to_decimal(value.as_ref())?;
            let rounded = decimal.round(digits).unwrap_or(decimal);
            let mut text = rounded.to_string();
            let have = text.find('.').map_or(0, |point| text.len() - point - 1);
            if digits as usize > have {
                if have == 0 {
                    text.push('.');
                }
                text.extend(std::iter::repeat_n('0', digits as usize - have));
            }
            text
        }
    };
    let locale = match values.get(2) {
        None => locale::DEFAULT,
        Some(name) => {
            let name = match name {
                Value::Null => "NULL".into(),
                name => String::from_utf8_lossy(&text_of(name, &arguments.at(2)?.ty)).into_owned(),
            };
            Locale::by_name(&name).unwrap_or_else(|| {
                cx.session.warnings.warn(mysql_error!(ER_UNKNOWN_LOCALE, name));
                locale::DEFAULT
            })
        }
    };
    Ok(Value::bytes(locale.write(&number)))
}

fn hex(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    if arguments.at(0)?.ty.is_numeric() && !matches!(values.at(0)?, Value::Bit { .. }) {
        let bits = cx.to_bits_of(values.at(0)?.as_ref(), &arguments.at(0)?.ty)?;
        return Ok(Value::bytes(edit::in_base(bits, 16)));
    }
    if let Value::Bit { bits, .. } = values.at(0)?
        && !arguments.at(0)?.ty.is_string()
    {
        return Ok(Value::bytes(edit::in_base(*bits, 16)));
    }
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    if cx.exceeds(text.len().saturating_mul(2))? {
        return Ok(cx.too_large("hex"));
    }
    let mut out = Vec::with_capacity(text.len() * 2);
    for piece in text.chunks(PIECE) {
        cx.checkpoint(piece.len() * UNITS_A_BYTE)?;
        edit::put_hex(piece, &mut out);
    }
    Ok(Value::bytes(out))
}

/// What writing or reading a byte counts as, in units of a nanosecond.
const UNITS_A_BYTE: usize = 4;

fn unhex(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
    let mut out = Vec::with_capacity(text.len().div_ceil(2));
    // The digits are in pairs from the end.
    let (mut part, mut rest) = text.split_at_checked(text.len() % (2 * PIECE)).unwrap_or((&text, &[]));
    loop {
        cx.checkpoint(part.len() * UNITS_A_BYTE)?;
        if edit::put_unhex(part, &mut out).is_none() {
            return cx.wrong_argument("string", (arguments.at(0)?, values.at(0)?), "unhex");
        }
        match rest.split_at_checked(2 * PIECE) {
            Some(next) => (part, rest) = next,
            None => return Ok(Value::bytes(out)),
        }
    }
}

fn insert(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    let (position, count) = (cx.to_i64(values.at(1)?.as_ref())?, cx.to_i64(values.at(2)?.as_ref())?);
    let new = cx.text(values.at(3)?, arguments.at(3)?, &call.ty)?;
    let limit = cx.packet_limit();
    match cx.watched(|watch| edit::insert(charset, &text, position, count, &new, limit, watch))? {
        Some(out) => Ok(Value::bytes(out)),
        None => Ok(cx.too_large("insert")),
    }
}

/// A part of a text as a value of its own; a long one is copied in pieces.
fn copied(cx: &mut Context<'_>, part: &[u8]) -> SqlResult<Value> {
    if part.len() <= PIECE {
        return Ok(Value::bytes(part));
    }
    Ok(Value::bytes(cx.watched(|watch| edit::join(&[part], watch))?))
}

fn left(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    let count = cx.to_i64(values.at(1)?.as_ref())?;
    let part = cx.watched(|watch| edit::left(charset, &text, count, watch))?;
    copied(cx, part)
}

fn right(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    let count = cx.to_i64(values.at(1)?.as_ref())?;
    let part = cx.watched(|watch| edit::right(charset, &text, count, watch))?;
    copied(cx, part)
}

fn substring(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    let position = cx.to_i64(values.at(1)?.as_ref())?;
    let count = values.get(2).map(|count| cx.to_i64(count.as_ref())).transpose()?;
    let part = cx.watched(|watch| edit::substring(charset, &text, position, count, watch))?;
    copied(cx, part)
}

fn substring_index(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let delimiter = cx.text(values.at(1)?, arguments.at(1)?, &call.ty)?;
    let count = cx.to_i64(values.at(2)?.as_ref())?;
    let part = cx.watched(|watch| edit::substring_index(&text, &delimiter, count, watch))?;
    copied(cx, part)
}

fn lower(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let mut out = Vec::with_capacity(text.len());
    let collation = call.ty.collation().get();
    cx.watched(|watch| collation.to_lower_watched(&text, &mut out, watch))?;
    Ok(Value::bytes(out))
}

fn upper(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let mut out = Vec::with_capacity(text.len());
    let collation = call.ty.collation().get();
    cx.watched(|watch| collation.to_upper_watched(&text, &mut out, watch))?;
    Ok(Value::bytes(out))
}

fn reverse(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    Ok(Value::bytes(cx.watched(|watch| edit::reverse(charset, &text, watch))?))
}

fn soundex(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    Ok(Value::bytes(cx.watched(|watch| edit::soundex(&text, charset, watch))?))
}

fn padded(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
    side: Side,
) -> SqlResult<Value> {
    let (text, charset) = first(cx, values, arguments, call)?;
    let count = cx.to_i64(values.at(1)?.as_ref())?;
    let with = cx.text(values.at(2)?, arguments.at(2)?, &call.ty)?;
    let limit = cx.packet_limit();
    // MySQL reckons with the longest characters that there are.
    let most = usize::try_from(count).unwrap_or(0).saturating_mul(charset.max_bytes() as usize);
    if most > limit {
        return Ok(cx.too_large(if side == Side::Left { "lpad" } else { "rpad" }));
    }
    match cx.watched(|watch| edit::pad(charset, &text, count, &with, (side, limit), watch))? {
        Some(out) => Ok(Value::bytes(out)),
        None if count < 0 => Ok(Value::Null),
        None => Ok(cx.too_large(if side == Side::Left { "lpad" } else { "rpad" })),
    }
}

fn lpad(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    padded(cx, values, arguments, call, Side::Left)
}

fn rpad(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    padded(cx, values, arguments, call, Side::Right)
}

/// The text a literal argument holds: a unit, a side, a character set.
pub fn keyword(argument: &Expr) -> SqlResult<&[u8]> {
    match &argument.node {
        Node::Literal(Value::Bytes(text)) => Ok(text),
        _ => Err(MysqlError::internal("an argument is no keyword that the binder passes")),
    }
}

fn trim(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let side = match keyword(arguments.at(0)?)? {
        b"leading" => Side::Left,
        b"trailing" => Side::Right,
        _ => Side::Both,
    };
    let what = cx.text(values.at(1)?, arguments.at(1)?, &call.ty)?;
    let text = cx.text(values.at(2)?, arguments.at(2)?, &call.ty)?;
    let part = cx.watched(|watch| edit::trim(&text, &what, side, watch))?;
    copied(cx, part)
}

fn ltrim(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let part = cx.watched(|watch| edit::trim(&text, b" ", Side::Left, watch))?;
    copied(cx, part)
}

fn rtrim(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let part = cx.watched(|watch| edit::trim(&text, b" ", Side::Right, watch))?;
    copied(cx, part)
}

fn quote(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    if values.at(0)?.is_null() {
        return Ok(Value::bytes("NULL"));
    }
    let text = cx.text(values.at(0)?, arguments.at(0)?, &call.ty)?;
    let mut out = Vec::with_capacity(text.len() + 2);
    out.push(b'\'');
    for piece in text.chunks(PIECE) {
        cx.checkpoint(piece.len() * UNITS_A_BYTE)?;
        edit::put_quoted(piece, &mut out);
        if out.len() >= cx.packet_limit() {
            return Ok(cx.too_large("quote"));
        }
    }
    out.push(b'\'');
    Ok(Value::bytes(out))
}

fn repeat(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let count = cx.to_i64(values.at(1)?.as_ref())?;
    let limit = cx.packet_limit();
    match cx.watched(|watch| edit::repeat(&text, count, limit, watch))? {
        Some(out) => Ok(Value::bytes(out)),
        None => Ok(cx.too_large("repeat")),
    }
}

fn space(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let count = cx.to_i64(values.at(0)?.as_ref())?;
    let limit = cx.packet_limit();
    match cx.watched(|watch| edit::repeat(b" ", count, limit, watch))? {
        Some(out) => Ok(Value::bytes(out)),
        None => Ok(cx.too_large("space")),
    }
}

fn replace(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (text, _) = first(cx, values, arguments, call)?;
    let from = cx.text(values.at(1)?, arguments.at(1)?, &call.ty)?;
    let to = cx.text(values.at(2)?, arguments.at(2)?, &call.ty)?;
    let limit = cx.packet_limit();
    match edit::replace(&text, &from, &to, limit, |units| cx.checkpoint(units))? {
        Some(out) => Ok(Value::bytes(out)),
        None => Ok(cx.too_large("replace")),
    }
}

/// 1210, for arguments that are refused whatever their type.
pub fn wrong_arguments<T>(name: &str) -> SqlResult<T> {
    Err(mysql_error!(ER_WRONG_ARGUMENTS, name))
}
