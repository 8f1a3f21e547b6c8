//! Functions of numbers and bits.

use palisade_base::error_catalogue::{ER_INVALID_ARGUMENT_FOR_LOGARITHM, ER_WARN_DATA_OUT_OF_RANGE};
use palisade_base::mysql_error;
use palisade_base::prng::Prng;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{CollationId, Decimal, SqlType, Value, number};

use super::turns::{Read, Turn};
use super::{Evaluation, Function, Typed, effect, function};
use crate::arithmetic::{double_of_scale, double_scale, numeric_of, result_type};
use crate::bits::is_bit_string;
use crate::convert::text_of;
use crate::mode::SqlMode;
use crate::place::At;
use crate::{ArithmeticOp, Context, Expr, Node};
use crate::{SqlAttempt, SqlResult};
use Evaluation::{Lazy, Strict};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("abs", (1, 1), abs_type, Strict(abs)),
    function("acos", (1, 1), maybe_double, Strict(|cx, v, _, _| domain(cx, v, f64::acos))),
    function("asin", (1, 1), maybe_double, Strict(|cx, v, _, _| domain(cx, v, f64::asin))),
    function("atan", (1, 2), double, Strict(atan)).in_turns(DOUBLES),
    function("atan2", (2, 2), double, Strict(atan)).in_turns(DOUBLES),
    function("bit_count", (1, 1), bigint, Strict(bit_count)),
    function("ceil", (1, 1), whole_type, Strict(ceil)),
    function("ceiling", (1, 1), whole_type, Strict(ceil)),
    function("cos", (1, 1), double, Strict(|cx, v, _, _| domain(cx, v, f64::cos))),
    function("cot", (1, 1), double, Strict(cot)),
    function("degrees", (1, 1), double, Strict(degrees)),
    function("exp", (1, 1), double, Strict(exp)),
    function("floor", (1, 1), whole_type, Strict(floor)),
    function("ln", (1, 1), maybe_double, Strict(ln)),
    function("log", (1, 2), maybe_double, Lazy(log)),
    function("log10", (1, 1), maybe_double, Strict(|cx, v, _, _| logarithm(cx, v, f64::log10))),
    function("log2", (1, 1), maybe_double, Strict(|cx, v, _, _| logarithm(cx, v, f64::log2))),
    function("mod", (2, 2), mod_type, Lazy(modulo)),
    function("pi", (0, 0), pi_type, Strict(|_, _, _, _| Ok(Value::Double(std::f64::consts::PI)))),
    function("pow", (2, 2), double, Strict(pow)).in_turns(DOUBLES),
    function("power", (2, 2), double, Strict(pow)).in_turns(DOUBLES),
    function("radians", (1, 1), double, Strict(|cx, v, _, _| domain(cx, v, f64::to_radians))),
    effect("rand", (0, 1), rand_type, Lazy(rand)),
    function("round", (1, 2), round_type, Strict(round)).in_turns(ROUND),
    function("sign", (1, 1), bigint, Strict(sign)),
    function("sin", (1, 1), double, Strict(|cx, v, _, _| domain(cx, v, f64::sin))),
    function("sqrt", (1, 1), maybe_double, Strict(|cx, v, _, _| domain(cx, v, f64::sqrt))),
    function("tan", (1, 1), double, Strict(|cx, v, _, _| domain(cx, v, f64::tan))),
    function("truncate", (2, 2), truncate_type, Strict(truncate)).in_turns(ROUND),
];

const DOUBLES: &[Turn] = &[Turn::of(0).read(Read::Double), Turn::of(1).read(Read::Double)];
const ROUND: &[Turn] = &[Turn::of(0).read(Read::Double), Turn::of(1).read(Read::Integer)];

fn bigint(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(SqlType::BIGINT, arguments))
}

fn double(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::strict(SqlType::DOUBLE, arguments))
}

fn maybe_double(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::DOUBLE))
}

fn pi_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::Double { unsigned: false, digits: Some((8, 6)) }))
}

fn rand_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::never_null(SqlType::DOUBLE))
}

/// The number an argument is computed in: integers and DECIMAL as they are, everything else DOUBLE.
fn numeric_type(ty: &SqlType) -> SqlType {
    match ty {
        SqlType::Int { unsigned: true, .. } | SqlType::Bit { .. } | SqlType::Year => SqlType::BIGINT_UNSIGNED,
        SqlType::Int { .. } => SqlType::BIGINT,
        SqlType::Decimal { .. } => ty.clone(),
        _ => SqlType::DOUBLE,
    }
}

fn abs_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let ty = match numeric_type(&arguments.at(0)?.ty) {
        SqlType::Double { .. } if matches!(arguments.at(0)?.node, Node::Literal(Value::Bit { .. })) => {
            double_of_scale(0)
        }
        SqlType::Double { .. } => double_of_scale(double_scale(&arguments.at(0)?.ty)),
        ty => ty,
    };
    Ok(Typed::strict(ty, arguments))
}

fn mod_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let (left, right) = (arguments.at(0)?.numeric_type(), arguments.at(1)?.numeric_type());
    let numeric = numeric_of(ArithmeticOp::Modulo, left, right, SqlMode::default());
    Ok(Typed::nullable(result_type(ArithmeticOp::Modulo, numeric, left, right, 0)))
}

fn whole_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let ty = match numeric_type(&arguments.at(0)?.ty) {
        SqlType::Decimal { precision, scale, .. } if precision - scale < 18 => SqlType::BIGINT,
        SqlType::Decimal { precision, scale, .. } => {
            SqlType::Decimal { precision: precision - scale + 1, scale: 0, unsigned: false }
        }
        ty => ty,
    };
    Ok(Typed::strict(ty, arguments))
}

fn round_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    // 9.9 has one more digit once it is rounded.
    digits_type(arguments, 1)
}

fn truncate_type(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    digits_type(arguments, 0)
}

/// The type of a number of which so many digits behind the point are left as the second argument says, none
/// without one. What cuts some off may need `more` before it.
fn digits_type(arguments: &[Expr], more: u8) -> SqlResult<Typed> {
    let ty = match numeric_type(&arguments.at(0)?.ty) {
        SqlType::Decimal { precision, scale, .. } => {
            let wanted = match arguments.get(1) {
                None => Some(0),
                Some(digits) => literal_digits(digits),
            };
            let digits = wanted.map_or(scale, |digits| digits.clamp(0, i64::from(scale)) as u8);
            let lost = scale - digits;
            let precision = if lost == 0 { precision } else { precision - lost + more };
            SqlType::Decimal { precision: precision.clamp(1, 65), scale: digits, unsigned: false }
        }
        ty => ty,
    };
    Ok(Typed::strict(ty, arguments))
}

/// The whole number that a literal, or one with a sign, says where it is a count of digits.
fn literal_digits(expr: &Expr) -> Option<i64> {
    let of_double = |number: f64| number.round_ties_even() as i64;
    match &expr.node {
        Node::Negate(operand) => literal_digits(operand).map(i64::saturating_neg),
        Node::Literal(value) => match value {
            Value::Null => Some(0),
            Value::Int(digits) => Some(*digits),
            Value::UInt(digits) => Some(i64::try_from(*digits).unwrap_or(i64::MAX)),
            Value::Double(number) => Some(of_double(*number)),
            Value::Decimal(number) => Some(of_double(number.to_f64())),
            Value::Bytes(text) => Some(of_double(number::parse_f64(text).value.trunc())),
            Value::Bit { .. } => {
                let bytes = text_of(value, &expr.ty);
                let bits = bytes.iter().fold(0u64, |bits, byte| bits << 8 | u64::from(*byte));
                Some(i64::try_from(bits).unwrap_or(i64::MAX))
            }
            _ => None,
        },
        _ => None,
    }
}

/// `f(value)`; NULL outside the function's domain, where `f` gives NaN.
fn domain(cx: &mut Context<'_>, values: &[Value], f: fn(f64) -> f64) -> SqlResult<Value> {
    let result = f(cx.to_f64(values.at(0)?.as_ref())?);
    Ok(if result.is_nan() { Value::Null } else { Value::Double(result) })
}

fn degrees(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let degrees = cx.to_f64(values.at(0)?.as_ref())?.to_degrees();
    finite(cx, degrees, call)
}

fn finite(cx: &Context<'_>, result: f64, call: &Expr) -> SqlResult<Value> {
    if result.is_finite() {
        return Ok(Value::Double(result));
    }
    Err(cx.out_of_range("DOUBLE", call))
}

fn logarithm(cx: &mut Context<'_>, values: &[Value], f: fn(f64) -> f64) -> SqlResult<Value> {
    let value = cx.to_f64(values.at(0)?.as_ref())?;
    if value <= 0.0 {
        cx.warn_or_fail(mysql_error!(ER_INVALID_ARGUMENT_FOR_LOGARITHM))?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(f(value)))
}

fn ln(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    logarithm(cx, values, f64::ln)
}

/// Only a base that is one asks for its argument.
fn log(cx: &mut Context<'_>, arguments: &[Expr], _: &Expr) -> SqlAttempt<Value> {
    let first = arguments.at(0)?.eval(cx)?;
    if first.is_null() {
        return Ok(Value::Null);
    }
    let Some(argument) = arguments.get(1) else { return Ok(logarithm(cx, &[first], f64::ln)?) };
    let base = cx.to_f64(first.as_ref())?;
    let argument = if base > 0.0 { argument.eval(cx)? } else { Value::Int(0) };
    if argument.is_null() {
        return Ok(Value::Null);
    }
    let argument = cx.to_f64(argument.as_ref())?;
    if argument <= 0.0 || base == 1.0 {
        cx.warn_or_fail(mysql_error!(ER_INVALID_ARGUMENT_FOR_LOGARITHM))?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(argument.ln() / base.ln()))
}

fn atan(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let y = cx.to_f64(values.at(0)?.as_ref())?;
    match values.get(1) {
        Some(x) => Ok(Value::Double(y.atan2(cx.to_f64(x.as_ref())?))),
        None => Ok(Value::Double(y.atan())),
    }
}

fn cot(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let tangent = cx.to_f64(values.at(0)?.as_ref())?.tan();
    finite(cx, 1.0 / tangent, call)
}

fn exp(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let exponent = cx.to_f64(values.at(0)?.as_ref())?;
    finite(cx, exponent.exp(), call)
}

fn pow(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    let (base, exponent) = (cx.to_f64(values.at(0)?.as_ref())?, cx.to_f64(values.at(1)?.as_ref())?);
    finite(cx, base.powf(exponent), call)
}

fn abs(cx: &mut Context<'_>, values: &[Value], _: &[Expr], call: &Expr) -> SqlResult<Value> {
    match &call.ty {
        SqlType::Int { unsigned: true, .. } => Ok(Value::UInt(cx.to_bits(values.at(0)?.as_ref())?)),
        SqlType::Int { .. } => match cx.to_i64(values.at(0)?.as_ref())?.checked_abs() {
            Some(value) => Ok(Value::Int(value)),
            None => Err(cx.out_of_range("BIGINT", call)),
        },
        SqlType::Decimal { .. } => Ok(Value::Decimal(cx.to_decimal(values.at(0)?.as_ref())?.abs())),
        _ => Ok(Value::Double(cx.to_f64(values.at(0)?.as_ref())?.abs())),
    }
}

fn sign(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    let value = values.at(0)?.as_ref();
    Ok(Value::Int(match numeric_type(&arguments.at(0)?.ty) {
        SqlType::Int { .. } => cx.to_integer(value)?.signum() as i64,
        SqlType::Decimal { .. } => match cx.to_decimal(value)? {
            decimal if decimal.is_zero() => 0,
            decimal if decimal.is_negative() => -1,
            _ => 1,
        },
        _ => match cx.to_f64(value)? {
            0.0 => 0,
            value => value.signum() as i64,
        },
    }))
}

fn bit_count(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], _: &Expr) -> SqlResult<Value> {
    if is_bit_string(arguments.at(0)?) {
        let text = text_of(values.at(0)?, &arguments.at(0)?.ty);
        let mut count = 0;
        for part in text.chunks(PIECE) {
            cx.checkpoint(part.len())?;
            count += part.iter().map(|byte| i64::from(byte.count_ones())).sum::<i64>();
        }
        return Ok(Value::Int(count));
    }
    let bits = cx.to_bits_of(values.at(0)?.as_ref(), &arguments.at(0)?.ty)?;
    Ok(Value::Int(i64::from(bits.count_ones())))
}

fn modulo(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    let (left, right) = (arguments.at(0)?, arguments.at(1)?);
    let (left_type, right_type) = (left.numeric_type(), right.numeric_type());
    let numeric = numeric_of(ArithmeticOp::Modulo, left_type, right_type, SqlMode::default());
    cx.operation(ArithmeticOp::Modulo, numeric, [left, right], call)
}

/// A DECIMAL without fraction as a value of the call's type.
fn whole(decimal: Decimal, call: &Expr) -> Value {
    match &call.ty {
        SqlType::Int { .. } => Value::Int(decimal.to_i64().unwrap_or_else(|clamped| clamped)),
        _ => Value::Decimal(decimal),
    }
}

fn ceil(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    rounded_whole(cx, values, arguments, call, |decimal| decimal.ceil().unwrap_or(*decimal), f64::ceil)
}

fn floor(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    rounded_whole(cx, values, arguments, call, |decimal| decimal.floor().unwrap_or(*decimal), f64::floor)
}

fn rounded_whole(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
    exact: fn(&Decimal) -> Decimal,
    approximate: fn(f64) -> f64,
) -> SqlResult<Value> {
    let value = values.at(0)?.as_ref();
    match numeric_type(&arguments.at(0)?.ty) {
        SqlType::Int { unsigned: true, .. } => Ok(Value::UInt(cx.to_bits(value)?)),
        SqlType::Int { .. } => Ok(Value::Int(cx.to_i64(value)?)),
        SqlType::Decimal { .. } => Ok(whole(exact(&cx.to_decimal(value)?), call)),
        _ => Ok(Value::Double(approximate(cx.to_f64(value)?))),
    }
}

/// The number nearest to a power of ten: a product of many factors misses it from the 23rd on.
fn power_of_ten(exponent: i32) -> f64 {
    const EXACT: i32 = 22;
    match exponent {
        ..=EXACT => 10f64.powi(exponent),
        _ => format!("1e{exponent}").parse().unwrap_or(f64::INFINITY),
    }
}

/// `value` to `digits` after the point (before it, if negative), by rounding to even as MySQL does for
/// DOUBLE, or by cutting.
pub(super) fn round_f64(value: f64, digits: i64, cut: bool) -> f64 {
    let step = |value: f64| if cut { value.trunc() } else { value.round_ties_even() };
    let scale = power_of_ten(digits.unsigned_abs().min(400) as i32);
    let result = if digits >= 0 { step(value * scale) / scale } else { step(value / scale) * scale };
    match result.is_finite() {
        true => result,
        // so many digits that there is nothing to round, or so few that nothing is left
        false if digits >= 0 => value,
        false => 0.0,
    }
}

fn round(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    round_or_cut(cx, values, arguments, call, false)
}

fn truncate(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr], call: &Expr) -> SqlResult<Value> {
    round_or_cut(cx, values, arguments, call, true)
}

fn round_or_cut(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    call: &Expr,
    cut: bool,
) -> SqlResult<Value> {
    let digits = match values.get(1) {
        Some(digits) => cx.to_i64(digits.as_ref())?,
        None => 0,
    };
    let value = values.at(0)?.as_ref();
    let ty = numeric_type(&arguments.at(0)?.ty);
    let unsigned = matches!(ty, SqlType::Int { unsigned: true, .. });
    match ty {
        SqlType::Int { .. } if digits >= 0 => {
            Ok(if unsigned { Value::UInt(cx.to_bits(value)?) } else { Value::Int(cx.to_i64(value)?) })
        }
        SqlType::Int { .. } => {
            let wide = cx.to_integer(value)?;
            let unit = 10i128.pow(digits.unsigned_abs().min(20) as u32);
            let cut_off = wide / unit * unit;
            let rest = (wide - cut_off).abs();
            let result = if cut || rest * 2 < unit { cut_off } else { cut_off + unit * wide.signum() };
            let fits = if unsigned {
                u64::try_from(result).map(Value::UInt)
            } else {
                i64::try_from(result).map(Value::Int)
            };
            fits.map_err(|_| cx.out_of_range(if unsigned { "BIGINT UNSIGNED" } else { "BIGINT" }, call))
        }
        SqlType::Decimal { .. } => {
            let decimal = cx.to_decimal(value)?;
            let digits = digits.clamp(-66, i64::from(call.ty.wire_decimals())) as i32;
            let result = if cut { decimal.truncate(digits) } else { decimal.round(digits) };
            match result {
                Ok(result) => Ok(Value::Decimal(result)),
                Err(_) => {
                    cx.warn_or_fail(mysql_error!(ER_WARN_DATA_OUT_OF_RANGE, "round", 1))?;
                    Ok(Value::Decimal(decimal))
                }
            }
        }
        _ => Ok(Value::Double(round_f64(cx.to_f64(value)?, digits, cut))),
    }
}

/// RAND(): the session's generator; RAND(seed): a generator of the call's own, MySQL's so that seeds give its
/// numbers.
fn rand(cx: &mut Context<'_>, arguments: &[Expr], call: &Expr) -> SqlAttempt<Value> {
    const MODULUS: u64 = 0x3fff_ffff;
    let Some(argument) = arguments.first() else {
        return Ok(Value::Double(Prng::unit(&mut cx.session.random)));
    };
    let place = std::ptr::from_ref(call) as usize;
    let constant = matches!(argument.node, Node::Literal(_) | Node::Parameter(_));
    let known = cx.state.seeded.iter().find(|(known, _)| *known == place && constant);
    let known = known.map(|(_, state)| *state);
    let (mut first, mut second) = match known {
        Some(state) => state,
        None => {
            let value = argument.eval(cx)?;
            let seed = cx.to_bits(value.as_ref())? as u32;
            let spread = |factor: u32, offset: u32| u64::from(seed.wrapping_mul(factor).wrapping_add(offset));
            (spread(0x10001, 55_555_555) % MODULUS, spread(0x1000_0001, 0) % MODULUS)
        }
    };
    first = (first * 3 + second) % MODULUS;
    second = (first + second + 33) % MODULUS;
    match cx.state.seeded.iter_mut().find(|(known, _)| *known == place && constant) {
        Some((_, state)) => *state = (first, second),
        None => cx.state.seeded.push((place, (first, second))),
    }
    Ok(Value::Double(first as f64 / MODULUS as f64))
}
