//! Rules about single values: what a number, a document or a text is where something else is wanted.

use super::Rule;
use super::asked::{
    calls, different_rows, differs_in_zeros, differs_only_where, differs_only_where_theirs, only_theirs,
    same_but_for_warnings,
};
use crate::answers::compare::Difference;
use crate::client::{Answer, Column};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "A binary constant that is no time is equal to nothing in a list with a TIME",
        accepts: |case| {
            let text = case.step.text();
            let list = text.split_once("c_bytes IN (").map_or("", |(_, list)| list);
            // Of the row whose text begins with 0 MySQL says that it is midnight, too, of the empty one that
            // it is not.
            let is_midnight = |row: &Vec<Option<String>>| matches!(row.as_slice(), [Some(id)] if matches!(id.as_str(), "2" | "3"));
            case.difference == Difference::Rows
                && list.contains("TIME'")
                && list.contains(" x'")
                && different_rows(case).iter().all(is_midnight)
                && only_theirs(case).len() <= 1
        },
    },
    Rule {
        name: "a date is the number that its text begins with (MySQL: 0)",
        accepts: |case| {
            let text = case.step.text();
            let is_date = ["DATE'", "TIME'", "TIMESTAMP'"].iter().any(|date| text.contains(date));
            let is_none = |row: &Vec<Option<String>>| matches!(row.as_slice(), [None]);
            // There is no day 0.
            let is_day = || {
                text.contains("FROM_DAYS(")
                    && case.difference == Difference::Rows
                    && only_theirs(case).iter().all(is_none)
                    && case.theirs.warnings.iter().any(|(code, _)| code == "6527")
            };
            (text.contains(" AS JSON)") || is_date && text.contains("JSON_"))
                && (is_day()
                    || differs_only_where(case, |ours, theirs| theirs == "0" && ours.parse::<f64>().is_ok()))
        },
    },
    Rule {
        name: "A JSON integer above 9223372036854775807 is that number as a DECIMAL",
        accepts: |case| {
            let text = case.step.text();
            let is_decimal = text.contains(" AS DECIMAL") || text.contains("RETURNING DECIMAL");
            let is_error = case.difference == Difference::OnlyPalisadeFails
                && case.ours.error() == Some(1690)
                && text.contains("18446744073709551615");
            let is_minus_one = |theirs: &str| matches!(theirs, "-1" | "-1.0" | "-1.00");
            // It is added up there, too, where the type does not keep the number.
            let is_of = |sum: &str| {
                ["JSON_VALUE(k, '$.d' RETURNING DECIMAL", "CAST(k->'$.d' AS DECIMAL"]
                    .iter()
                    .any(|number| text.contains(&format!("{sum}({number}")))
            };
            let is_near = |left: f64, right: f64| (left - right).abs() < 0.01;
            let is_added = |ours: &str, theirs: &str| match (ours.parse::<f64>(), theirs.parse::<f64>()) {
                (Ok(ours), Ok(theirs)) if is_of("SUM") => is_near(ours - 1.0, theirs),
                (Ok(ours), Ok(theirs)) if is_of("AVG") => {
                    (1..8).map(f64::from).any(|count| is_near(ours * count - 1.0, theirs * (count + 1.0)))
                }
                _ => false,
            };
            is_decimal
                && (is_error
                    || differs_only_where_theirs(case, is_minus_one)
                    || differs_only_where(case, is_added))
        },
    },
    Rule {
        name: "MIN and MAX of chosen bits are bits in a group, too",
        accepts: |case| {
            let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
                return false;
            };
            let text = case.step.text();
            let pairs = || case.ours.columns.iter().zip(&case.theirs.columns);
            let is_number = |(ours, theirs): (&Column, &Column)| {
                ours.is_bit() && (theirs.is_big_unsigned() || theirs.is_int_unsigned())
            };
            // What is no such column is the same.
            let is_same = |(ours, theirs): (&Vec<Option<String>>, &Vec<Option<String>>)| {
                let mut values = ours.iter().zip(theirs).zip(pairs());
                values.all(|((ours, theirs), columns)| ours == theirs || is_number(columns))
            };
            text.contains("GROUP BY")
                && ["MIN", "MAX"].iter().any(|function| calls(text, function))
                && ours.len() == theirs.len()
                && pairs().any(is_number)
                && pairs().all(|(ours, theirs)| ours.is_like(theirs) || is_number((ours, theirs)))
                && ours.iter().zip(theirs).all(is_same)
        },
    },
    Rule {
        name: "A variable that gets the NULL of a number insists on the connection's collation",
        accepts: |case| {
            let text = case.step.text();
            let is_binary = |ours: &Column, theirs: &Column| {
                ours.is_text() && theirs.is_text() && !ours.is_binary() && theirs.is_binary()
            };
            let mut columns = case.ours.columns.iter().zip(&case.theirs.columns);
            let of_variable = text.contains('@') && (text.contains(" b'") || text.contains(" x'"));
            case.difference == Difference::Types
                && of_variable
                && columns.all(|(ours, theirs)| ours.is_like(theirs) || is_binary(ours, theirs))
        },
    },
    Rule {
        name: "NULLIF computes its first argument once",
        accepts: |case| {
            let text = case.step.text();
            let is_share = |text: &str| text.parse::<f64>().is_ok_and(|number| (0.0..1.0).contains(&number));
            calls(text, "NULLIF")
                && calls(text, "RAND")
                && differs_only_where(case, |ours, theirs| is_share(ours) && is_share(theirs))
        },
    },
    Rule {
        name: "A number beyond FLOAT is NULL where JSON_VALUE ... RETURNING FLOAT is added up or compared, too",
        accepts: |case| {
            let text = case.step.text();
            text.contains("RETURNING FLOAT")
                && ["SUM", "AVG", "MIN", "MAX"].iter().any(|function| calls(text, function))
                && differs_only_where_theirs(case, |theirs| theirs == "0")
        },
    },
    Rule {
        name: "A column that WHERE says is TRUE or FALSE is a number as a document, too",
        accepts: |case| {
            let text = case.step.text();
            let is_of_zero = || text.contains("FALSE)") && only_theirs(case) == different_rows(case);
            case.difference == Difference::Rows
                && text.contains(" WHERE ")
                && text.contains("CAST(n AS JSON)")
                && (text.contains("TRUE)") && only_theirs(case).is_empty() || is_of_zero())
        },
    },
    Rule {
        name: "The bytes of a BIT that IF or CASE chooses are sent as they are",
        accepts: |case| {
            let text = case.step.text();
            let chooses = ["CASE", "IF(", "COALESCE("].iter().any(|choice| text.contains(choice));
            let ascii = |text: &str| text.chars().filter(char::is_ascii).collect::<String>();
            chooses
                && case.theirs.columns.iter().any(|column| column.is_bit())
                && differs_only_where(case, |ours, theirs| {
                    ours.contains(char::REPLACEMENT_CHARACTER) && ascii(ours) == ascii(theirs)
                })
        },
    },
    Rule {
        name: "of a binary literal that is no time, as a bound of BETWEEN beside a TIME column",
        accepts: |case| {
            let text = case.step.text();
            let is_no_time = matches!(&case.ours.answer, Answer::Failed(1292, _, text) if text.starts_with("Truncated incorrect time value: '"));
            case.difference == Difference::OnlyPalisadeFails
                && is_no_time
                && ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb))
                && text.contains(" BETWEEN ")
                && [" b'", " x'"].iter().any(|literal| text.contains(literal))
        },
    },
    Rule {
        name: "COALESCE and IFNULL of documents are the numbers that these are",
        accepts: |case| {
            let text = case.step.text();
            let is_added = ["SUM(", "AVG("].iter().any(|sum| {
                ["IFNULL(j", "IFNULL(k", "COALESCE(j", "COALESCE(k"]
                    .iter()
                    .any(|choice| text.contains(&format!("{sum}{choice}")))
            });
            let are_numbers =
                |ours: &str, theirs: &str| ours.parse::<f64>().is_ok() && theirs.parse::<f64>().is_ok();
            is_added
                && (differs_only_where(case, are_numbers)
                    || same_but_for_warnings(case, |code, _| code == "3156"))
        },
    },
    Rule {
        name: "A DECIMAL or DOUBLE beyond TIME is nothing in a list in which a TIME column is looked for",
        accepts: |case| {
            const LAST: f64 = 8_385_959.0;
            let is_beyond = |(code, text): &(String, String)| {
                let shown = text.strip_prefix("Truncated incorrect time value: '").unwrap_or_default();
                code == "1292"
                    && shown.trim_end_matches('\'').parse::<f64>().is_ok_and(|number| number > LAST)
            };
            case.difference == Difference::Rows
                && [" t IN (", "c_time IN ("].iter().any(|list| case.step.text().contains(list))
                && case.theirs.warnings.iter().any(is_beyond)
                && different_rows(case).len() == only_theirs(case).len()
        },
    },
    Rule {
        name: "MAKE_SET joins its texts in the character set of the result",
        accepts: |case| {
            // A character of MySQL's for each byte.
            let is_misread = |ours: &str, theirs: &str| {
                !ours.is_ascii() && theirs.chars().count() == ours.len() && theirs.len() > ours.len()
            };
            case.step.text().contains("MAKE_SET(") && differs_only_where(case, is_misread)
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
            let converts = |code: &str, text: &str| {
                code == "3156" && text.starts_with("Invalid JSON value for CAST to DOUBLE")
            };
            let is_converted = case.theirs.warnings.iter().any(|(code, text)| converts(code, text));
            // What follows in the list is not computed where that number was found.
            let fails = case.difference == Difference::OnlyPalisadeFails
                && matches!(case.ours.error(), Some(3141 | 3143 | 3146 | 3149))
                && case.step.text().contains("JSON_");
            case.step.text().contains(" IN (")
                && (fails
                    || is_converted
                        && (case.difference == Difference::Rows || same_but_for_warnings(case, converts)))
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
    Rule {
        name: "A DATE in a list of doubles and decimals is compared with their dates and times",
        accepts: |case| {
            let text = case.step.text();
            let list = ["da IN (", "c_date IN ("].iter().find_map(|list| Some(text.split_once(list)?.1));
            let has_double = |list: &str| list.split(')').next().is_some_and(|list| list.contains('e'));
            case.difference == Difference::Rows && list.is_some_and(has_double)
        },
    },
    Rule {
        name: "FROM_DAYS of GREATEST or LEAST of a TIME and a number counts the digits that its text begins with",
        accepts: |case| {
            let text = case.step.text();
            let is_asked =
                ["FROM_DAYS(GREATEST(", "FROM_DAYS((GREATEST(", "FROM_DAYS(LEAST(", "FROM_DAYS((LEAST("];
            case.difference == Difference::Rows
                && is_asked.iter().any(|call| text.contains(call))
                && ["c_time", "TIME'"].iter().any(|time| text.contains(time))
        },
    },
    Rule {
        name: "TIMESTAMP of what ABS makes of a TIMESTAMP shows six digits",
        accepts: |case| {
            let text = case.step.text();
            let is_asked = ["TIMESTAMP(ABS(", "TIMESTAMP((ABS("].iter().any(|call| text.contains(call));
            is_asked && differs_only_where(case, differs_in_zeros)
        },
    },
    Rule {
        name: "SPACE of an ENUM that ELT chooses reads its text",
        accepts: |case| {
            let text = case.step.text();
            let is_asked = ["SPACE(ELT(", "SPACE((ELT("].iter().any(|call| text.contains(call));
            is_asked && text.contains("c_enum") && case.difference == Difference::Rows
        },
    },
    Rule {
        name: "CONCAT_WS of bits behind a separator that CAST makes is bytes",
        accepts: |case| {
            let text = case.step.text();
            let is_asked =
                text.contains("CONCAT_WS(CAST(") && [" b'", " x'"].iter().any(|bits| text.contains(bits));
            is_asked && case.difference == Difference::Types
        },
    },
];
