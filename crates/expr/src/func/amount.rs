//! Amounts as people read them: bytes and durations in the greatest unit that they fill.

use palisade_catalog::{CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, function};
use crate::SqlResult;
use crate::place::At;
use crate::{Context, Expr};
use Evaluation::Strict;

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    function("format_bytes", (1, 1), text, Strict(format_bytes)),
    function("format_pico_time", (1, 1), text, Strict(format_pico_time)),
];

/// Units above the smallest, the greatest first, in how many of the smallest they are.
const BYTES: [(f64, &str); 6] = [
    (1_152_921_504_606_846_976.0, "EiB"),
    (1_125_899_906_842_624.0, "PiB"),
    (1_099_511_627_776.0, "TiB"),
    (1_073_741_824.0, "GiB"),
    (1_048_576.0, "MiB"),
    (1024.0, "KiB"),
];
const PICOSECONDS: [(f64, &str); 7] =
    [(86_400e12, "d"), (3600e12, "h"), (60e12, "min"), (1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns")];

fn text(arguments: &[Expr], _: CollationId) -> SqlResult<Typed> {
    let ty = SqlType::VarChar { length: 11, collation: CollationId::UTF8MB3_GENERAL_CI };
    Ok(Typed::strict(ty, arguments))
}

pub(super) fn format_bytes(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let value = cx.to_f64(values.at(0)?.as_ref())?;
    Ok(Value::bytes(in_units(value, &BYTES).unwrap_or_else(|| format!("{:4} bytes", value.trunc() as i64))))
}

fn format_pico_time(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let value = cx.to_f64(values.at(0)?.as_ref())?;
    Ok(Value::bytes(
        in_units(value, &PICOSECONDS).unwrap_or_else(|| format!("{:3} ps", value.trunc() as i64)),
    ))
}

/// In the greatest unit of which the value is one at least, with two decimals; `None` if it is less than one
/// of any.
fn in_units(value: f64, units: &[(f64, &str)]) -> Option<String> {
    let (size, name) = units.iter().find(|(size, _)| value.abs() >= *size)?;
    let amount = value / size;
    if amount.abs() < 100_000.0 {
        return Some(format!("{amount:.2} {name}"));
    }
    // A sum may be infinite: that is written without digits, in four characters.
    Some(match format!("{amount:.2e}").split_once('e') {
        Some((mantissa, exponent)) => format!("{mantissa}e+{exponent:0>2} {name}"),
        None => format!("{amount:>4} {name}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_in_the_greatest_unit_they_fill() {
        let bytes = |value| in_units(value, &BYTES);
        assert_eq!(bytes(1023.9), None);
        assert_eq!(bytes(-5000.0).as_deref(), Some("-4.88 KiB"));
        assert_eq!(bytes(1_048_575.0).as_deref(), Some("1024.00 KiB"));
        assert_eq!(bytes(1e25).as_deref(), Some("8.67e+06 EiB"));
        assert_eq!(bytes(f64::INFINITY).as_deref(), Some(" inf EiB"));
        assert_eq!(bytes(f64::NEG_INFINITY).as_deref(), Some("-inf EiB"));
        assert_eq!(bytes(f64::NAN), None);
        let time = |value| in_units(value, &PICOSECONDS);
        assert_eq!(time(188_732_396_662_000.0).as_deref(), Some("3.15 min"));
        assert_eq!(time(1e30).as_deref(), Some("1.16e+13 d"));
    }
}
