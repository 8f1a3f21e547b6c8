//! What the rules ask of a difference: in what the replies differ, and what the statement is.

use super::Case;
use crate::answers::compare::{Difference, Reply, difference};
use crate::client::{Answer, Column};

/// Whether a statement asks for the least or greatest value of a group.
pub(super) fn is_least_of_group(text: &str) -> bool {
    text.contains(" GROUP BY ") && ["MIN(", "MAX("].iter().any(|call| text.contains(call))
}

/// What a key of GROUP BY stands for: what is selected by that name or at that place, or itself.
pub(super) fn behind_alias<'t>(selected: &'t str, key: &'t str) -> &'t str {
    let selected = selected.trim_start_matches("SELECT ").trim_start_matches("DISTINCT ");
    let mut items = selected.split(", ");
    let named = items.clone().find_map(|item| item.strip_suffix(key)?.strip_suffix(" AS "));
    match key.parse::<usize>() {
        Ok(place) => items.nth(place.saturating_sub(1)).unwrap_or(key),
        Err(_) => named.unwrap_or(key),
    }
}

/// A text's number, which may stand among other characters, with what is before and after it.
pub(super) fn parted(text: &str) -> [&str; 3] {
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-');
    let start = text.find(is_of_number).unwrap_or(text.len());
    let (before, rest) = text.split_at(start);
    let end = rest.find(|c| !is_of_number(c)).unwrap_or(rest.len());
    let (number, after) = rest.split_at(end);
    [before, number, after]
}

/// Whether a statement calls a function of that name.
pub(super) fn calls(text: &str, function: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(function)
        .any(|(at, name)| !text[..at].ends_with(is_of_name) && text[at + name.len()..].starts_with('('))
}

pub(super) fn calls_extreme(case: &Case) -> bool {
    ["GREATEST", "LEAST"].iter().any(|function| case.step.text().contains(function))
}

/// Whether what GREATEST or LEAST gives is summed up.
pub(super) fn is_summed_extreme(text: &str) -> bool {
    let calls = ["GREATEST(", "LEAST("];
    ["SUM(", "AVG("].iter().any(|sum| calls.iter().any(|call| text.contains(&format!("{sum}{call}"))))
}

/// Whether one reply has all rows of the other, and more.
pub(super) fn has_rows_of_other(case: &Case) -> bool {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
        return false;
    };
    let (fewer, more) = if ours.len() < theirs.len() { (ours, theirs) } else { (theirs, ours) };
    fewer.len() < more.len() && fewer.iter().all(|row| more.contains(row))
}

/// Whether two texts are the same but for zeros at the end of fractions in them.
pub(super) fn differs_in_zeros(ours: &str, theirs: &str) -> bool {
    let plain = |text: &str| {
        let mut parts = text.split('.');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            let (fraction, rest) = part.split_at(end);
            out += &format!(".{}{rest}", fraction.trim_end_matches('0'));
        }
        out
    };
    plain(ours) == plain(theirs)
}

/// Whether two texts are the same number, with whatever digits.
pub(super) fn is_same_number(ours: &str, theirs: &str) -> bool {
    matches!((ours.parse::<f64>(), theirs.parse::<f64>()), (Ok(ours), Ok(theirs)) if ours == theirs)
}

/// What warning 1264 of a CAST names, here or there.
pub(super) fn names_a_cast(text: &str) -> bool {
    let named = text.strip_prefix("Out of range value for column '").unwrap_or_default();
    named.starts_with("(null)")
        || named.starts_with("x'")
        || named.trim_start_matches('(').get(..5).is_some_and(|name| name.eq_ignore_ascii_case("cast("))
}

/// Whether a column of type TIME is between a text and a date: MySQL takes all for dates.
pub(super) fn is_time_between_text_and_date(text: &str) -> bool {
    let Some((before, after)) = text.split_once(" BETWEEN ") else { return false };
    let operand = before.trim_end_matches(" NOT").rsplit([' ', '(']).next().unwrap_or(before);
    let Some((low, high)) = after.split_once(" AND ") else { return false };
    let is_date = |bound: &str| bound.starts_with("DATE'") || bound.starts_with("TIMESTAMP'");
    matches!(operand, "t" | "t2" | "t3" | "c_time")
        && (is_date(low) && high.starts_with('\'') || low.starts_with('\'') && is_date(high))
}

/// Whether the peer alone says that a date in a list is no time.
pub(super) fn fails_as_time(case: &Case) -> bool {
    match &case.theirs.answer {
        Answer::Failed(1292, _, text) => text.starts_with("Truncated incorrect time value: '"),
        _ => false,
    }
}

/// Whether the rows differ, and wherever they do, in values of which `meant` holds.
pub(super) fn differs_only_where(case: &Case, meant: impl Fn(&str, &str) -> bool) -> bool {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
        return false;
    };
    let shape = |rows: &[Vec<Option<String>>]| rows.iter().map(Vec::len).collect::<Vec<_>>();
    let mut pairs = ours.iter().flatten().zip(theirs.iter().flatten());
    case.difference == Difference::Rows
        && shape(ours) == shape(theirs)
        && pairs.all(|pair| match pair {
            (Some(ours), Some(theirs)) => ours == theirs || meant(ours, theirs),
            (ours, theirs) => ours == theirs,
        })
}

/// Whether the rows differ, and only in values that are not NULL in either.
pub(super) fn differs_only_in_values(case: &Case) -> bool {
    differs_only_where(case, |_, _| true)
}

/// Whether the rows differ, and wherever they do, MySQL has a value of which `meant` holds.
pub(super) fn differs_only_where_theirs(case: &Case, meant: impl Fn(&str) -> bool) -> bool {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
        return false;
    };
    let mut pairs = ours.iter().flatten().zip(theirs.iter().flatten());
    case.difference == Difference::Rows
        && ours.len() == theirs.len()
        && pairs.all(|(ours, theirs)| ours == theirs || theirs.as_deref().is_some_and(&meant))
}

/// The rows that only one of the replies has.
pub(super) fn different_rows(case: &Case) -> Vec<Vec<Option<String>>> {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
        return Vec::new();
    };
    let only = |own: &[Vec<Option<String>>], others: &[Vec<Option<String>>]| {
        own.iter().filter(|row| !others.contains(row)).cloned().collect::<Vec<_>>()
    };
    [only(ours, theirs), only(theirs, ours)].concat()
}

/// The rows that only MySQL's reply has.
pub(super) fn only_theirs(case: &Case) -> Vec<Vec<Option<String>>> {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
        return Vec::new();
    };
    theirs.iter().filter(|row| !ours.contains(row)).cloned().collect()
}

/// Whether the reply has a row of the same values as one of MySQL's, but for the last, which counts more.
pub(super) fn has_group_of(case: &Case, theirs: &[Option<String>]) -> bool {
    let Answer::Rows(ours) = &case.ours.answer else { return false };
    let count =
        |row: &[Option<String>]| row.last().cloned().flatten().and_then(|count| count.parse::<u64>().ok());
    ours.iter().any(|row| {
        row.len() == theirs.len()
            && row.iter().zip(theirs).rev().skip(1).all(|(ours, theirs)| ours == theirs)
            && count(row) > count(theirs)
    })
}

/// Whether the rows are the same, in whatever order.
pub(super) fn same_in_another_order(case: &Case) -> bool {
    let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
        return false;
    };
    let (mut ours, mut theirs) = (ours.clone(), theirs.clone());
    ours.sort();
    theirs.sort();
    ours == theirs
}

/// Whether a DECIMAL is shown with zeros behind the point that the other does not show.
pub(super) fn has_digits_of_type(ours: &str, theirs: &str) -> bool {
    let rest = ours.strip_prefix(theirs).unwrap_or("x");
    let is_scale = rest.strip_prefix('.').unwrap_or(rest).bytes().all(|b| b == b'0');
    theirs.parse::<f64>().is_ok() && ours.contains('.') && is_scale
}

/// Whether a statement stores nothing but in a user variable.
pub(super) fn is_query(text: &str) -> bool {
    ["SELECT", "(SELECT", "EXECUTE", "SET @"].iter().any(|verb| text.starts_with(verb))
}

/// Whether the replies are the same without the warnings that `meant` knows by code and text.
pub(super) fn same_but_for_warnings(case: &Case, meant: impl Fn(&str, &str) -> bool) -> bool {
    let rest = |reply: &Reply| {
        let mut reply = reply.clone();
        reply.warnings.retain(|(code, text)| !meant(code, text));
        reply
    };
    case.difference == Difference::Warnings && difference(&rest(case.ours), &rest(case.theirs)).is_none()
}

/// Whether the replies are the same without the warnings of conversions, and with those of dates beyond the
/// calendar once.
pub(super) fn same_but_for_conversions(case: &Case) -> bool {
    // MySQL does not compute what it counts if that cannot be NULL.
    let is_counted = case.step.text().contains("COUNT(");
    let is_beyond = |text: &str| text.starts_with("Cast to signed converted positive out-of-range integer");
    let rest = |reply: &Reply| {
        let mut reply = reply.clone();
        reply.warnings.retain(|(code, text)| {
            const CONVERSIONS: [&str; 6] = ["1292", "1366", "1411", "3986", "4095", "4096"];
            // A list of rows is read as the type of its left side.
            let is_listed = case.step.text().contains(" IN ((") && code == "1105";
            let is_conversion = is_listed || is_beyond(text) || CONVERSIONS.contains(&code.as_str());
            let is_of_count = is_counted && matches!(code.as_str(), "1300" | "3156");
            !is_conversion && !is_of_count
        });
        reply.warnings.dedup_by(|later, earlier| {
            later == earlier && matches!(earlier.0.as_str(), "1300" | "1441" | "6527")
        });
        reply
    };
    case.difference == Difference::Warnings && difference(&rest(case.ours), &rest(case.theirs)).is_none()
}

/// Whether the types differ in columns of nothing but NULL, and perhaps of years as well.
pub(super) fn differs_in_types_of_null_and_years(case: &Case) -> bool {
    let Answer::Rows(rows) = &case.ours.answer else { return false };
    let pairs = case.ours.columns.iter().zip(&case.theirs.columns).enumerate();
    let is_year = |ours: &Column, theirs: &Column| ours.is_year() && theirs.is_int_unsigned();
    let mut different = pairs.filter(|(_, (ours, theirs))| !ours.is_like(theirs) && !is_year(ours, theirs));
    different.all(|(at, _)| rows.iter().all(|row| row.get(at).is_some_and(Option::is_none)))
}

/// Whether the rows are the same but for capital and small letters and spaces at the end.
pub(super) fn same_but_for_case(case: &Case) -> bool {
    let folded = |reply: &Reply| {
        let mut reply = reply.clone();
        reply.warnings.clear();
        if let Answer::Rows(rows) = &mut reply.answer {
            for value in rows.iter_mut().flatten().flatten() {
                *value = value.trim_end().to_lowercase();
            }
        }
        reply
    };
    !matches!(difference(&folded(case.ours), &folded(case.theirs)), Some(Difference::Rows))
}

/// Whether the replies have the same warnings but for how often, among those of conversions; and but for
/// what other rules say of 3156, 3986 and the name of a CAST in 1264.
pub(super) fn same_with_each_warning_once(case: &Case) -> bool {
    const CONVERSIONS: [&str; 12] =
        ["1259", "1292", "1300", "1365", "1366", "1411", "1441", "1525", "3020", "3141", "3156", "6527"];
    let once = |reply: &Reply| {
        let mut warnings: Vec<_> = reply.warnings.clone();
        warnings.retain(|(code, text)| code != "3986" && !(code == "1264" && names_a_cast(text)));
        let of_json = warnings.iter_mut().filter(|(code, _)| matches!(code.as_str(), "3155" | "3156"));
        of_json.for_each(|(_, text)| without_row(text));
        warnings.sort();
        warnings.dedup_by(|later, earlier| later == earlier && CONVERSIONS.contains(&earlier.0.as_str()));
        Reply { warnings, ..reply.clone() }
    };
    difference(&once(case.ours), &once(case.theirs)).is_none()
}

pub(super) fn without_row(text: &mut String) {
    if let Some(at) = text.rfind(" at row ") {
        text.truncate(at);
    }
}

pub(super) fn same_with_rows_of_3156(case: &Case) -> bool {
    let first_row = |reply: &Reply| {
        let mut reply = reply.clone();
        let conversions =
            reply.warnings.iter_mut().filter(|(code, _)| matches!(code.as_str(), "3155" | "3156"));
        conversions.for_each(|(_, text)| without_row(text));
        reply
    };
    case.difference == Difference::Warnings
        && difference(&first_row(case.ours), &first_row(case.theirs)).is_none()
}
