//! Rules about texts of several character sets and collations, and about conditions of UPDATE and DELETE.

use super::Rule;
use super::asked::{calls, differs_only_where, fails_as_time};
use crate::answers::compare::Difference;
use crate::answers::question::Step;
use crate::client::{Answer, Parameter};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "what CAST makes of them is the same text (MySQL: the bytes as utf8mb4, NULL if they are none)",
        accepts: |case| {
            let text = case.step.text();
            let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
                return false;
            };
            let is_replaced = |ours: &Option<String>| ours.as_deref().is_some_and(|text| text.contains('?'));
            let mut pairs = ours.iter().flatten().zip(theirs.iter().flatten());
            case.difference == Difference::Rows
                && text.contains(" USING ascii)")
                && text.contains("CAST(")
                && ours.len() == theirs.len()
                && pairs.all(|(ours, theirs)| ours == theirs || is_replaced(ours))
        },
    },
    Rule {
        name: "GROUP_CONCAT converts texts of another character set (MySQL joins their bytes)",
        accepts: |case| {
            let ascii = |text: &str| text.chars().filter(char::is_ascii).collect::<String>();
            calls(case.step.text(), "GROUP_CONCAT")
                && differs_only_where(case, |ours, theirs| {
                    theirs.contains(char::REPLACEMENT_CHARACTER) && ascii(ours) == ascii(theirs)
                })
        },
    },
    Rule {
        name: "What IFNULL and COALESCE choose among NULL and texts of two collations that CONCAT joins is text",
        accepts: |case| {
            let text = case.step.text();
            let mut columns = case.ours.columns.iter().zip(&case.theirs.columns);
            case.difference == Difference::Types
                && ["IFNULL(CONCAT(", "COALESCE(CONCAT("].iter().any(|call| text.contains(call))
                && text.contains(", NULL)")
                && columns.all(|(ours, theirs)| {
                    ours.is_like(theirs) || ours.is_text() && theirs.is_text() && theirs.is_binary()
                })
        },
    },
    Rule {
        name: "The parts of `(a, b) = (c, d)` are compared in their order",
        accepts: |case| {
            let is_refused = matches!(&case.ours.answer, Answer::Failed(3854, ..));
            let (_, parts) = case.step.text().split_once(" WHERE (").unwrap_or_default();
            let is_row = parts.split_once(')').is_some_and(|(row, rest)| {
                row.contains(", ") && !row.contains('(') && rest.trim_start().starts_with('=')
            });
            case.difference == Difference::OnlyPalisadeFails && is_refused && is_row
        },
    },
    Rule {
        name: "gives a parameter a type when the statement is prepared, by what stands beside it, and converts",
        accepts: |case| {
            let Step::Binary(text, executions) = case.step else { return false };
            let are_bytes = |value: &Parameter| matches!(value, Parameter::Bytes(_));
            case.difference == Difference::Rows
                && text.contains("c_time IN (?")
                && executions.iter().flatten().any(are_bytes)
        },
    },
    Rule {
        name: "nor because of a text between a date and itself, which it takes for `=`",
        accepts: |case| {
            let text = case.step.text();
            let bounds = text.split_once(" BETWEEN ").and_then(|(_, bounds)| bounds.split_once(" AND "));
            let is_same = bounds.is_some_and(|(low, high)| high.trim_end_matches(';').starts_with(low));
            case.difference == Difference::OnlyPalisadeFails
                && case.ours.error() == Some(1292)
                && text.starts_with("DELETE ") | text.starts_with("UPDATE ")
                && is_same
                && text.contains("DATE'")
        },
    },
    Rule {
        name: "of a date and time in a text beside a TIME in a list",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::OnlyPeerFails
                && text.starts_with("DELETE ") | text.starts_with("UPDATE ")
                && text.contains(" IN (")
                && text.contains("TIME'")
                && fails_as_time(case)
        },
    },
];
