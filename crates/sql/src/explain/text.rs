//! Names and numbers as EXPLAIN writes them.

use std::fmt::Write as _;

use palisade_expr::{Expr, Node};
pub(super) use palisade_plan::cost::shown as shown_cost;

/// An expression as FORMAT=TREE writes it: columns by table and name, without quotes where none are needed.
pub(super) fn short(expr: &Expr) -> String {
    shortened(&expr.to_string())
}

/// Several of them.
pub(super) fn short_list<'e>(exprs: impl IntoIterator<Item = &'e Expr>, between: &str) -> String {
    exprs.into_iter().map(short).collect::<Vec<_>>().join(between)
}

/// A text in which columns are named `` `schema`.`table`.`column` ``, with short names.
pub(super) fn shortened(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => quoted_length(rest),
            // A user variable has one name, in quotes.
            '`' if out.ends_with('@') => names(rest).1,
            '`' => {
                let (names, length) = names(rest);
                let shown = names.len().saturating_sub(2);
                let names: Vec<String> = names.into_iter().skip(shown).map(unquoted).collect();
                out.push_str(&names.join("."));
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            first => first.len_utf8(),
        };
        let (taken, left) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push_str(taken);
        rest = left;
    }
    out
}

/// Bytes of the literal that `text` begins with, quotes included.
fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, next)| match next {
        _ if std::mem::take(&mut escaped) => false,
        '\\' => {
            escaped = true;
            false
        }
        next => *next == '\'',
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// The names in backquotes that `text` begins with, with dots between them, and their bytes.
fn names(text: &str) -> (Vec<&str>, usize) {
    let mut names = Vec::new();
    let mut length = 0;
    while let Some(name) = text.get(length..).and_then(|rest| rest.strip_prefix('`')) {
        let Some(end) = name.find('`') else { return (vec![text], text.len()) };
        names.push(name.get(..end).unwrap_or_default());
        length += end + 2;
        match text.get(length..) {
            Some(rest) if rest.starts_with(".`") => length += 1,
            _ => break,
        }
    }
    (names, length)
}

fn unquoted(name: &str) -> String {
    let is_plain = |next: char| next.is_alphanumeric() || next == '_' || next == '$';
    match !name.is_empty() && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("`{name}`"),
    }
}

/// A column without quotes: `schema.table.column`.
pub(super) fn plain(expr: &Expr) -> String {
    expr.to_string().replace('`', "")
}

/// Whether an expression reads no column.
pub(super) fn is_constant(expr: &Expr) -> bool {
    let mut constant = true;
    expr.walk(&mut |expr| constant &= !matches!(expr.node, Node::Column { .. }));
    constant
}

/// The columns that an expression names, in order of their names, each once.
pub(super) fn columns_of<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Vec<String> {
    let mut columns = Vec::new();
    for expr in exprs {
        expr.walk(&mut |part| {
            if let Node::Column { computed: false, .. } = &part.node {
                columns.push(plain(part));
            }
        });
    }
    columns.sort();
    columns.dedup();
    columns
}

/// A number with three digits: `0.35`, `50.8`, `10021`, `12.5e+6`, `807e-6`.
pub(super) fn rounded(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return "0".to_owned();
    }
    let magnitude = number.abs();
    if (0.001..999_999.5).contains(&magnitude) {
        return three_digits(number);
    }
    let mut power = magnitude.log10().div_euclid(3.0) as i32 * 3;
    let mut mantissa = number / 10f64.powi(power);
    if mantissa.abs() >= 999.5 {
        (power, mantissa) = (power + 3, mantissa / 1000.0);
    }
    let mut out = three_digits(mantissa);
    // Writing to a String does not fail.
    let _ = write!(out, "e{power:+}");
    out
}

fn three_digits(number: f64) -> String {
    let magnitude = number.abs();
    let digits = if magnitude >= 99.95 { 0 } else { (2.0 - magnitude.log10().floor()).max(0.0) as usize };
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.35, "0.35"),
            (50.75, "50.8"),
            (165.957, "166"),
            (10021.0, "10021"),
            (250_000.0, "250000"),
            (12_500_000.0, "12.5e+6"),
            (6.26e9, "6.26e+9"),
            (0.000_807, "807e-6"),
            (0.012_5, "0.0125"),
            (0.252, "0.252"),
            (1.0, "1"),
            (99.99, "100"),
            (999_999.9, "1e+6"),
        ] {
            assert_eq!(rounded(number), text, "{number}");
        }
    }

    #[test]
    fn names_lose_their_schema_and_needless_quotes() {
        for (long, short) in [
            ("(`d`.`t`.`a` = 'it\\'s `x`.`y`')", "(t.a = 'it\\'s `x`.`y`')"),
            ("`x y`.`b`", "`x y`.b"),
            ("(@`v`)", "(@`v`)"),
            ("count(`d`.`t`.`a`)", "count(t.a)"),
            ("'open", "'open"),
        ] {
            assert_eq!(shortened(long), short);
        }
    }
}
