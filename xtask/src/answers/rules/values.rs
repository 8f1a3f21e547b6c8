//! Rules about single values: what a number, a document or a text is where something else is wanted.

use super::Rule;
use super::asked::{differs_only_where, same_but_for_warnings};
use crate::answers::compare::Difference;
use crate::client::Answer;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "BETWEEN compares a BIGINT column with constants that are texts or doubles exactly",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::Rows
                && text.contains(" BETWEEN ")
                && text.contains("900719925474099")
        },
    },
    Rule {
        name: "A binary constant that is no time is equal to nothing in a list with a TIME",
        accepts: |case| {
            let text = case.step.text();
            let has_time = text.contains("TIME'") || text.contains("Time(");
            case.difference == Difference::Rows
                && has_time
                && text.contains("c_bytes")
                && text.contains(" IN (")
        },
    },
    Rule {
        name: "A bound of BETWEEN that is a double beyond BIGINT, beside a BIGINT UNSIGNED column,",
        accepts: |case| {
            let text = case.step.text();
            let is_beyond = |bound: &str| {
                let number = bound.split([' ', ')', ';', ',']).next().unwrap_or(bound);
                number.contains('e') && number.parse::<f64>().is_ok_and(|number| number >= 9.3e18)
            };
            let mut ranges = text.match_indices(" BETWEEN ").map(|(at, verb)| {
                let operand = text[..at].trim_end_matches(" NOT").rsplit([' ', '(']).next().unwrap_or("");
                (operand, &text[at + verb.len()..])
            });
            case.difference == Difference::Rows
                && ranges.any(|(operand, bounds)| {
                    let (low, high) = bounds.split_once(" AND ").unwrap_or((bounds, ""));
                    matches!(operand, "u" | "ub" | "c_ubig") && (is_beyond(low) || is_beyond(high))
                })
        },
    },
    Rule {
        name: "The text of a FLOAT that an aggregate gives has the digits with which a FLOAT is shown",
        accepts: |case| {
            let text = case.step.text();
            let is_of_float = ["MAX(", "MIN(", "ANY_VALUE("].iter().any(|call| {
                ["c_float)", "f)"].iter().any(|column| text.contains(&format!("{call}{column}")))
            });
            let is_longer = |ours: &str, theirs: &str| {
                let short = |number: &str| number.parse::<f64>().map(|number| format!("{number:.5e}"));
                theirs.len() > ours.len() && short(ours).is_ok_and(|ours| short(theirs) == Ok(ours))
            };
            // Grouped in a temporary table, what is chosen is a DOUBLE.
            let is_grouped =
                ["MIN(", "MAX("].iter().any(|call| text.contains(call)) && text.contains(" GROUP BY ");
            let mut columns = case.ours.columns.iter().zip(&case.theirs.columns);
            let becomes_double = columns
                .any(|(ours, theirs)| ours.is_float() && theirs.is_double() && !theirs.is_float())
                && is_grouped;
            (is_of_float || becomes_double) && differs_only_where(case, is_longer)
        },
    },
    Rule {
        name: "What IF, COALESCE and their like choose among a FLOAT and a whole number is a FLOAT",
        accepts: |case| {
            let text = case.step.text();
            let chooses = ["IF(", "IFNULL(", "COALESCE(", "CASE", "GREATEST(", "LEAST("]
                .iter()
                .any(|choice| text.contains(choice));
            let is_near = |ours: &str, theirs: &str| match (ours.parse::<f64>(), theirs.parse::<f64>()) {
                (Ok(ours), Ok(theirs)) => (ours - theirs).abs() <= 1e-7 * theirs.abs(),
                _ => false,
            };
            chooses && text.contains("16777217") && differs_only_where(case, is_near)
        },
    },
    Rule {
        name: "A DOUBLE that is NULL is no time where one is wanted",
        accepts: |case| {
            let text = case.step.text();
            let functions =
                ["TIME_TO_SEC(", "HOUR(", "MINUTE(", "SECOND(", "MICROSECOND(", "TIME(", " AS TIME"];
            let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
                return false;
            };
            let is_midnight = |theirs: &Option<String>| {
                theirs
                    .as_deref()
                    .is_some_and(|time| time.bytes().all(|byte| matches!(byte, b'0' | b':' | b'.')))
            };
            let mut pairs = ours.iter().flatten().zip(theirs.iter().flatten());
            case.difference == Difference::Rows
                && ours.len() == theirs.len()
                && functions.iter().any(|function| text.contains(function))
                && [" AS DOUBLE)", " AS FLOAT)", "e0"].iter().any(|double| text.contains(double))
                && pairs.all(|(ours, theirs)| ours == theirs || ours.is_none() && is_midnight(theirs))
        },
    },
    Rule {
        name: "A document in a list with columns of other types is compared as one",
        accepts: |case| {
            let converts = |(code, text): &(String, String)| {
                code == "3156" && text.starts_with("Invalid JSON value for CAST to DOUBLE")
            };
            case.difference == Difference::Rows
                && case.step.text().contains(" IN (")
                && case.theirs.warnings.iter().any(converts)
        },
    },
    Rule {
        name: "and makes the second comparison only where the first has not decided",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::OnlyPeerFails
                && case.theirs.error() == Some(3141)
                && text.contains(" BETWEEN ")
                && text.contains("JSON_")
        },
    },
    Rule {
        name: "A UNION has what FORMAT makes of a DOUBLE whole",
        accepts: |case| {
            let text = case.step.text();
            text.contains("FORMAT(")
                && text.contains("UNION")
                && differs_only_where(case, |ours, theirs| theirs.len() >= 48 && ours.starts_with(theirs))
        },
    },
    Rule {
        name: "A BIT that IF or CASE takes beside a DECIMAL is its number, not its bytes",
        accepts: |case| {
            let text = case.step.text();
            let is_choice = text.contains("CASE") || text.contains("IF(");
            let are_decimals = case.theirs.columns.iter().any(|column| column.is_decimal());
            is_choice
                && are_decimals
                && differs_only_where(case, |ours, theirs| {
                    let bits = theirs.chars().fold(0u64, |bits, byte| bits << 8 | u64::from(byte));
                    ours.parse() == Ok(bits)
                })
        },
    },
    Rule {
        name: "FLOAT(M,D) and DOUBLE(M,D) keep M digits, whatever is stored in them",
        accepts: |case| {
            let text = case.step.text();
            let copies = |column: &str, from: &str, source: &str| {
                text.ends_with(&format!(" SET {column} = {from}"))
                    || text.contains(&format!("({column}) SELECT {source} FROM "))
            };
            let again =
                ["f2", "d2"].iter().any(|column| text.ends_with(&format!(" {column} = VALUES({column})")));
            let is_copy = copies("f2", "f", "c_float") || copies("d2", "d", "c_double") || again;
            let is_refused =
                case.difference == Difference::OnlyPalisadeFails && case.ours.error() == Some(1264);
            is_copy && (is_refused || same_but_for_warnings(case, |code, _| code == "1264"))
        },
    },
];
