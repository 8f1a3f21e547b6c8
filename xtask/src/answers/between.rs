//! The rules about BETWEEN: what MySQL compares in a way of its own there, Palisade compares as `>=` and `<=`
//! do.
//!
//! Both servers are asked the query with the two comparisons in the place of BETWEEN: if Palisade says the
//! same, and MySQL agrees about that one, the difference is the one that docs/sql.md names.

use super::compare::Difference;
use super::rules::Case;
use crate::tokens::split;

/// Words of docs/sql.md: of documents.
pub const OF_DOCUMENTS: &str = "BETWEEN compares JSON values as `<=` does";
/// Words of docs/sql.md: of dates and times.
pub const OF_DATES: &str = "A bound of BETWEEN that a DATETIME or TIME column cannot keep, and one beside NULL, is compared as what it says";

/// Words of docs/sql.md: of dates and times among numbers and dates.
pub const OF_MIXED: &str =
    "A date or time between a number and a date or time is compared with each as `>=` and `<=` do";

/// Words of docs/sql.md: of texts.
pub const OF_TEXTS: &str = "BETWEEN converts a text to the character set of its bounds' collation";

/// Words of docs/sql.md: of numbers that doubles do not tell apart.
pub const OF_NUMBERS: &str =
    "BETWEEN compares a BIGINT column with constants that are texts or doubles exactly";

/// Which of the rules may know a difference.
pub fn name(case: &Case) -> Option<&'static str> {
    let said = |code: &str, part: &str| {
        case.theirs.warnings.iter().any(|(known, text)| known == code && text.contains(part))
    };
    if case.difference != Difference::Rows || !case.step.text().contains(" BETWEEN ") {
        return None;
    }
    if said("1235", "comparison of JSON in the BETWEEN operator") {
        return Some(OF_DOCUMENTS);
    }
    if case.step.text().contains(" COLLATE ") {
        return Some(OF_TEXTS);
    }
    // The columns of numbers that a double does not tell from the next.
    let is_of = |column: &str| {
        [format!(" {column} BETWEEN "), format!(" {column} NOT BETWEEN "), format!("({column} BETWEEN ")]
            .iter()
            .any(|range| case.step.text().contains(range))
    };
    if is_of("b") && case.step.text().contains("900719925474099")
        || is_of("u") && case.step.text().contains("'18446744073709551615'")
    {
        return Some(OF_NUMBERS);
    }
    if ["c_stamp", "c_date", "c_datetime6", "c_time"].into_iter().any(is_of) {
        let (_, bounds) = case.step.text().split_once(" BETWEEN ").unwrap_or_default();
        let has = |parts: &[&str]| parts.iter().any(|part| bounds.contains(part));
        if has(&["c_stamp", "c_date", "c_time", "TIME", "DATE"])
            && has(&["g ", "id ", "c_int", "c_big", "c_dec", "c_double", "0", "1", "2", "5"])
        {
            return Some(OF_MIXED);
        }
    }
    // Of these MySQL says nothing.
    const BOUNDS: [&str; 4] = [" 20240230", " '2024-02-30'", " BETWEEN ''", " BETWEEN CAST(x'' "];
    const TIMES: [&str; 4] = ["t", "t2", "t3", "c_time"];
    let has_no_day = BOUNDS.iter().any(|bound| case.step.text().contains(bound));
    let of_time = |time: &&str| {
        [" BETWEEN ", " NOT BETWEEN "].iter().any(|verb| case.step.text().contains(&format!(" {time}{verb}")))
    };
    let has_date = ["DATE'", "TIMESTAMP'", " '1", " '2"].iter().any(|date| case.step.text().contains(date));
    let has_no_day = has_no_day || has_date && TIMES.iter().any(of_time);
    let has_null = case.step.text().contains(" BETWEEN NULL ") || case.step.text().contains(" AND NULL");
    let is_refused =
        has_null || said("1292", " for column '") || said("1292", "Truncated incorrect INTEGER value: '");
    (has_no_day || is_refused).then_some(OF_DATES)
}

/// A query with two comparisons in the place of each BETWEEN, if it has one.
pub fn as_comparisons(text: &str) -> Option<String> {
    if !text.starts_with("SELECT ") || !text.contains(" BETWEEN ") {
        return None;
    }
    let mut tokens = split(text);
    while let Some(at) = tokens.iter().position(|token| token.trim() == "BETWEEN") {
        let is_negated = at > 0 && tokens[at - 1].trim() == "NOT";
        let end = at - usize::from(is_negated);
        let begin = begin_of_operand(&tokens[..end])?;
        let and = end_of_operand(&tokens, at + 1)?;
        let after = end_of_operand(&tokens, and + 1)?;
        let part = |range: std::ops::Range<usize>| tokens[range].concat().trim().to_owned();
        let (operand, low, high) = (part(begin..end), part(at + 1..and), part(and + 1..after));
        let not = if is_negated { " NOT" } else { "" };
        let both = format!("{not} ({operand} >= {low} AND {operand} <= {high})");
        tokens.splice(begin..after, [both]);
    }
    Some(tokens.concat())
}

/// A query with what is between two texts in the character set of their collation, if one is written.
pub fn as_converted(text: &str) -> Option<String> {
    let mut tokens = split(text);
    let at = tokens.iter().position(|token| token.trim() == "BETWEEN")?;
    let collation = tokens.iter().skip(at).skip_while(|token| token.trim() != "COLLATE").nth(1)?;
    let charset = collation.trim().split('_').next()?.to_owned();
    let end = at - usize::from(at > 0 && tokens[at - 1].trim() == "NOT");
    let begin = begin_of_operand(&tokens[..end])?;
    let operand = tokens[begin..end].concat();
    tokens.splice(begin..end, [format!(" CONVERT({} USING {charset})", operand.trim())]);
    Some(tokens.concat())
}

/// Where an operand begins that goes up to the end of these tokens.
fn begin_of_operand(tokens: &[String]) -> Option<usize> {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().rev() {
        match token.trim() {
            ")" => depth += 1,
            "(" if depth > 0 => depth -= 1,
            "(" | "," | "SELECT" | "WHERE" | "HAVING" | "ON" | "AND" | "OR" | "NOT" | "WHEN" | "DISTINCT"
                if depth == 0 =>
            {
                return (at + 1 < tokens.len()).then_some(at + 1);
            }
            _ => {}
        }
    }
    None
}

/// Where an operand ends that begins there.
fn end_of_operand(tokens: &[String], begin: usize) -> Option<usize> {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().skip(begin) {
        match token.trim() {
            "(" => depth += 1,
            ")" if depth > 0 => depth -= 1,
            ")" | "," | "AND" | "OR" | "FROM" | "ORDER" | "GROUP" | "HAVING" | "LIMIT" | "UNION" | "AS"
            | "THEN"
                if depth == 0 =>
            {
                return (at > begin).then_some(at);
            }
            _ => {}
        }
    }
    (begin < tokens.len()).then_some(tokens.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_is_two_comparisons() {
        for (query, expected) in [
            (
                "SELECT id FROM d WHERE d + 1 BETWEEN DATE'2024-02-29' AND f(1, 2) ORDER BY id",
                "SELECT id FROM d WHERE (d + 1 >= DATE'2024-02-29' AND d + 1 <= f(1, 2)) ORDER BY id",
            ),
            ("SELECT id, t NOT BETWEEN 1 AND 2 FROM d", "SELECT id, NOT (t >= 1 AND t <= 2) FROM d"),
            ("SELECT NOT (a BETWEEN b AND c)", "SELECT NOT ( (a >= b AND a <= c))"),
        ] {
            assert_eq!(as_comparisons(query).as_deref(), Some(expected));
        }
        assert_eq!(as_comparisons("SELECT 1"), None);
    }

    #[test]
    fn what_is_between_texts_is_converted_to_their_character_set() {
        let query = "SELECT id, LOWER(lat) BETWEEN 'a' COLLATE utf8mb4_bin AND 'b' FROM c";
        let converted =
            "SELECT id, CONVERT(LOWER(lat) USING utf8mb4) BETWEEN 'a' COLLATE utf8mb4_bin AND 'b' FROM c";
        assert_eq!(as_converted(query).as_deref(), Some(converted));
        assert_eq!(as_converted("SELECT id BETWEEN 1 AND 2"), None);
    }
}
