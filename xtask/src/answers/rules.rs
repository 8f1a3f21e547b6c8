//! The differences that docs/sql.md names: each has a rule, which is named by words of that page and knows
//! its difference exactly.
//!
//! A rule looks at both replies and accepts what its sentence says and nothing else: where the rest of the
//! replies must be equal, it compares the rest. A test holds the names against the page.

mod asked;
mod texts;
mod values;

use self::asked::{
    behind_alias, calls, calls_extreme, different_rows, differs_in_types_of_null_and_years, differs_in_zeros,
    differs_only_in_values, differs_only_where, differs_only_where_theirs, fails_as_time, has_digits_of_type,
    has_group_of, has_rows_of_other, is_least_of_group, is_query, is_same_number, is_summed_extreme,
    is_time_between_text_and_date, names_a_cast, only_theirs, parted, same_but_for_case,
    same_but_for_conversions, same_but_for_warnings, same_in_another_order, same_with_each_warning_once,
    same_with_rows_of_3156, without_row,
};
use super::between;
use super::compare::{Difference, Reply};
use super::question::Step;
use crate::client::Answer;

/// A difference found.
pub struct Case<'c> {
    pub step: &'c Step,
    pub ours: &'c Reply,
    pub theirs: &'c Reply,
    pub difference: Difference,
}

/// A difference that is meant.
pub struct Rule {
    /// Words of docs/sql.md.
    pub name: &'static str,
    accepts: fn(&Case) -> bool,
}

/// The first rule that accepts a difference.
pub fn named(case: &Case) -> Option<&'static str> {
    all().find(|rule| (rule.accepts)(case)).map(|rule| rule.name)
}

/// All rules.
fn all() -> impl Iterator<Item = &'static Rule> {
    RULES.iter().chain(values::RULES).chain(texts::RULES)
}

const RULES: &[Rule] = &[
    Rule {
        name: "ORDER BY may compute with an expression of GROUP BY",
        accepts: |case| {
            case.difference == Difference::OnlyPeerFails
                && matches!(&case.theirs.answer, Answer::Failed(1055, _, text) if text.contains("of ORDER BY clause"))
                && case.step.text().contains("GROUP BY")
        },
    },
    Rule {
        name: "which MySQL says that it does not support yet (warning 1235)",
        accepts: |case| {
            let says = |part: &str| {
                case.theirs.warnings.iter().any(|(code, text)| code == "1235" && text.contains(part))
            };
            let text = case.step.text();
            let compares = says("comparison of JSON in the");
            // What MySQL compares instead it converts.
            let is_of_json = |code: &str, text: &str| match code {
                "1235" => text.contains("comparison of JSON in the") || text.contains("non-scalar JSON"),
                "1292" | "3156" => compares,
                _ => false,
            };
            let mut types = case.ours.columns.iter().zip(&case.theirs.columns);
            // What it compares as texts it calls a text.
            let is_called_text = case.difference == Difference::Types
                && types.all(|(ours, theirs)| {
                    ours.is_like(theirs) || ours.is_computed_json() && theirs.is_text()
                });
            // An UPDATE or DELETE converts a document that is a bound first.
            let fails = case.difference == Difference::OnlyPeerFails
                && matches!(case.theirs.error(), Some(1292 | 3156))
                && ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb))
                && text.contains(" BETWEEN ")
                && (text.contains("AS JSON") || text.contains(" j BETWEEN "));
            fails
                || same_but_for_warnings(case, is_of_json)
                || says("sorting of non-scalar JSON values") && same_in_another_order(case)
                || says("JSON in the LEAST and GREATEST operators")
                    && calls_extreme(case)
                    && (is_called_text || differs_only_in_values(case))
        },
    },
    Rule {
        name: "The type of a column of nothing but NULL",
        accepts: |case| {
            let text = case.step.text();
            let makes_table = text.starts_with("CREATE TABLE ") && text.contains("NULL");
            case.difference == Difference::Types && differs_in_types_of_null_and_years(case)
                || makes_table && same_but_for_warnings(case, |code, _| code == "1681")
        },
    },
    Rule {
        name: "a YEAR that was sorted or grouped is called INT UNSIGNED by MySQL, a DOUBLE UNSIGNED DOUBLE",
        accepts: |case| {
            let pairs = case.ours.columns.iter().zip(&case.theirs.columns);
            case.difference == Difference::Types
                && pairs.into_iter().all(|(ours, theirs)| {
                    ours.is_like(theirs)
                        || ours.is_year() && theirs.is_int_unsigned()
                        || ours.is_year() && theirs.is_big_unsigned() && is_least_of_group(case.step.text())
                        || ours.is_double() && theirs.is_double() && case.step.text().contains("GROUP BY")
                })
        },
    },
    Rule {
        name: "GREATEST and LEAST of dates pass over what is no date",
        accepts: |case| {
            let is_date = |text: &str| text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
            let has_no_date = case.theirs.warnings.iter().any(|(code, text)| {
                code == "1292" && ["date value", "datetime value"].iter().any(|name| text.contains(name))
            });
            let longer = |ours: &str, theirs: &str| {
                let fraction = theirs.strip_prefix(ours).map(|rest| rest.trim_start_matches('.'));
                fraction.is_some_and(|rest| rest.bytes().all(|byte| byte == b'0'))
            };
            // Grouped by the first column, such dates are a group of their own.
            let is_grouped = || {
                let theirs = only_theirs(case);
                let is_no_date = |row: &Vec<Option<String>>| matches!(row.first(), Some(Some(date)) if date.starts_with("16383-15-3"));
                // A group of ours has those rows then.
                case.step.text().contains(" GROUP BY ")
                    && case.difference == Difference::Rows
                    && theirs.iter().any(is_no_date)
                    && theirs.iter().filter(|row| !is_no_date(row)).all(|row| has_group_of(case, row))
            };
            // BIT_OR and its like of such dates.
            let is_of_bits = || {
                let is_beyond = |theirs: &str| theirs.parse::<u64>().is_ok_and(|bits| bits >= 1 << 27);
                case.step.text().contains("BIT_") && differs_only_where_theirs(case, is_beyond)
            };
            // What is added up of them, and the greatest of their texts.
            let text = case.step.text();
            let is_of_group = || {
                let is_sum = is_summed_extreme(text);
                let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
                differs_only_where(case, |ours, theirs| match is_sum {
                    true => number(theirs) > number(ours) && number(ours) > 1e7,
                    false => text.contains("MAX(GREATEST(") && is_date(ours) && is_date(theirs),
                })
            };
            // What is no date, as a time that is added.
            let is_added = || {
                text.contains("ADDTIME(")
                    && differs_only_where(case, |ours, theirs| is_date(ours) && is_date(theirs))
            };
            // More spaces than a packet holds.
            let is_space = || {
                let is_none = |row: &Vec<Option<String>>| row.contains(&None);
                text.contains("SPACE(")
                    && case.difference == Difference::Rows
                    && only_theirs(case).iter().all(is_none)
                    && case.theirs.warnings.iter().any(|(code, _)| code == "1301")
            };
            calls_extreme(case)
                && (is_grouped()
                    || is_space()
                    || has_no_date && (is_of_bits() || is_of_group() || is_added()))
                || calls_extreme(case)
                    && differs_only_where(case, |ours, theirs| {
                        theirs.starts_with("16383-15-31")
                            // Beside it, the digits that a variable keeps.
                            || text.contains('@') && is_same_number(ours, theirs)
                            || theirs.starts_with("0000-00-00 00:00:00.") && text.contains("LEAST(")
                            || has_no_date
                                && is_date(ours)
                                && (!is_date(theirs)
                                    || theirs.starts_with("0000-00-00")
                                    || longer(ours, theirs)
                                    || ours.starts_with(theirs))
                    })
        },
    },
    Rule {
        name: "show of a text is counted for a literal, not for another constant expression: those show six",
        accepts: |case| {
            let text = case.step.text();
            let names = ["TIME", "TIMESTAMP", "CONVERT_TZ", "TIMEDIFF", "ADDTIME", "SUBTIME"];
            let has_zeros = |ours: &str, theirs: &str| {
                let rest = ours.strip_prefix(theirs).map(|rest| rest.trim_start_matches('.'));
                rest.is_some_and(|rest| rest.bytes().all(|byte| byte == b'0')) && ours.contains('.')
            };
            let sums = ["ADDTIME", "SUBTIME"].iter().any(|name| calls(text, name));
            !text.contains("FROM v")
                && names.iter().any(|name| calls(text, name))
                && differs_only_where(case, has_zeros)
                || sums && differs_only_where(case, differs_in_zeros)
        },
    },
    Rule {
        name: "CREATE TABLE ... SELECT makes a BIGINT of an integer expression",
        accepts: |case| {
            case.step.text().starts_with("SELECT COLUMN_TYPE FROM information_schema.COLUMNS")
                && differs_only_where(case, |ours, theirs| ours.strip_prefix("big") == Some(theirs))
        },
    },
    Rule {
        name: "A user variable keeps the digits behind the point that the type of its value has",
        accepts: |case| {
            let text = case.step.text();
            text.contains('@')
                && differs_only_where(case, |ours, theirs| {
                    if text.ends_with(", LENGTH(@a)") && [ours, theirs].iter().all(|count| count.len() <= 2) {
                        return true;
                    }
                    let digits = |number: &str| number.split_once('.').map_or(0, |(_, digits)| digits.len());
                    let ([before, ours, after], [head, theirs, tail]) = (parted(ours), parted(theirs));
                    let (Ok(left), Ok(right)) = (ours.parse::<f64>(), theirs.parse::<f64>()) else {
                        return false;
                    };
                    if (before, after) != (head, tail) {
                        return false;
                    }
                    let [ours, theirs] = [ours, theirs].map(|number| match number.contains('.') {
                        true => number.trim_end_matches('0'),
                        false => number,
                    });
                    let place = 10f64.powi(-(digits(ours).min(digits(theirs).max(9)) as i32));
                    (left - right).abs() <= place && (left == right || theirs == "0" || digits(theirs) >= 9)
                })
        },
    },
    Rule {
        name: "A DECIMAL among the texts of a UNION, or stored as a text, has the digits of its type",
        accepts: |case| {
            let text = case.step.text();
            let is_stored = text.contains(", HEX(") && text.contains(" FROM x");
            let is_cut = text.contains("INSERT") && text.contains(" SELECT c_time + 0 FROM");
            is_cut && same_but_for_warnings(case, |code, _| code == "1265")
                || text.contains("UNION") && differs_only_where(case, has_digits_of_type)
                || is_stored
                    && differs_only_where(case, |ours, theirs| {
                        let in_hex = ours.strip_prefix(theirs).and_then(|rest| rest.strip_prefix("2E"));
                        has_digits_of_type(ours, theirs)
                            || in_hex.is_some_and(|rest| rest.trim_start_matches("30").is_empty())
                    })
        },
    },
    Rule {
        name: "A constant text that the character set beside it cannot hold is 3854 when the statement begins",
        accepts: |case| {
            let text = case.step.text();
            let is_written = text.contains("x'") || !text.is_ascii();
            let is_part = [" AND ", ") = (", " IN ((", " OR "].iter().any(|part| text.contains(part));
            is_written
                && match case.difference {
                    Difference::OnlyPalisadeFails => case.ours.error() == Some(3854),
                    Difference::OnlyPeerFails => is_part && case.theirs.error() == Some(3854),
                    _ => false,
                }
        },
    },
    Rule {
        name: between::OF_DATES,
        accepts: |case| {
            let refused = |(code, text): &(String, String)| {
                code == "1292" && text.starts_with("Incorrect ") && text.contains(" for column '")
            };
            let conversions = |code: &str, _: &str| matches!(code, "1292" | "1441");
            let text = case.step.text();
            let has_null = text.contains(" BETWEEN NULL ") || text.contains(" AND NULL");
            let is_about_bounds = has_null || case.theirs.warnings.iter().any(refused);
            text.contains(" BETWEEN ")
                && (is_about_bounds && same_but_for_warnings(case, conversions)
                    || case.difference == Difference::Rows && is_time_between_text_and_date(text))
        },
    },
    Rule {
        name: "JSON_TYPE calls them INTEGER and STRING, and they compare as such",
        accepts: |case| {
            let text = case.step.text();
            let is_extreme = text.contains("MAX(JSON_") || text.contains("MIN(JSON_");
            let is_other = ["DATE'", "TIME'", "TIMESTAMP'", "x'"].iter().any(|value| text.contains(value));
            let is_document = |value: &str| value.starts_with(['"', '[', '{']);
            let is_truth = |value: &str| matches!(value, "0" | "1");
            let is_found =
                [" MEMBER ", "JSON_CONTAINS(", "JSON_OVERLAPS("].iter().any(|call| text.contains(call));
            is_found
                && is_other
                && (differs_only_where(case, |ours, theirs| is_truth(ours) && is_truth(theirs))
                    || has_rows_of_other(case))
                || is_extreme
                    && is_other
                    && differs_only_where(case, |ours, theirs| is_document(ours) && is_document(theirs))
        },
    },
    Rule {
        name: "The year 0 that IF or CASE takes beside a DECIMAL, or MIN of a group gives, is written 0",
        accepts: |case| {
            let text = case.step.text();
            let is_grouped =
                ["MIN(", "MAX("].iter().any(|call| text.contains(call)) && text.contains("GROUP BY");
            (text.contains("IF(") || text.contains("CASE") || is_grouped)
                && differs_only_where(case, |ours, theirs| ours == "0" && theirs == "0000")
        },
    },
    Rule {
        name: "What COALESCE, IF and CASE choose among one ENUM or SET and NULL is said to be a text",
        accepts: |case| {
            let text = case.step.text();
            let chooses = ["IF(", "CASE", "COALESCE(", "IFNULL("].iter().any(|choice| text.contains(choice));
            let mut pairs = case.ours.columns.iter().zip(&case.theirs.columns);
            case.difference == Difference::Types
                && chooses
                && pairs.all(|(ours, theirs)| ours.is_like(theirs) || ours.is_text() && theirs.is_member())
        },
    },
    Rule {
        name: "A text that an aggregate gives beside a date that another one gives is the zero date if it is none",
        accepts: |case| {
            let text = case.step.text();
            const SIGNS: [&str; 7] = ["=", "<", "<=", ">", ">=", "<>", "<=>"];
            let compares = ["MIN(s)", "MAX(t)"].iter().any(|other| {
                SIGNS.iter().any(|sign| {
                    text.contains(&format!("{other} {sign} MAX(d)"))
                        || text.contains(&format!("MAX(d) {sign} {other}"))
                })
            });
            let no_date = |(code, text): &(String, String)| {
                code == "1292" && text.starts_with("Truncated incorrect date")
            };
            case.difference == Difference::Rows
                && compares
                && case.theirs.warnings.iter().any(no_date)
                && (text.contains(" <=> ")
                    || matches!(&case.theirs.answer, Answer::Rows(rows) if rows.is_empty()))
        },
    },
    Rule {
        name: "A text is looked for in a list with columns of dates and times value by value",
        accepts: |case| {
            let text = case.step.text();
            let list = text.split_once(" IN (").map_or("", |(_, list)| list);
            let converts = |(code, text): &(String, String)| {
                code == "1292" && ["time value", "date value"].iter().any(|name| text.contains(name))
            };
            case.difference == Difference::Rows
                && ["c_time", "c_date", "c_stamp", "NOW("].iter().any(|column| list.contains(column))
                && case.theirs.warnings.iter().any(converts)
        },
    },
    Rule {
        name: "A whole number in a text beside a BIGINT is compared exactly",
        accepts: |case| {
            let text = case.step.text();
            let is_great = |text: &str| {
                let digits = text.trim_start_matches('-');
                digits.len() >= 16 && digits.bytes().all(|byte| byte.is_ascii_digit())
            };
            let bounds = text.split_once(" BETWEEN ").and_then(|(_, bounds)| bounds.split_once(" AND "));
            let is_bound = bounds.is_some_and(|(low, after)| {
                let high = after.split([')', ';']).next().unwrap_or(after);
                let high =
                    high.split(" ORDER BY ").next().unwrap_or(high).split(" OR ").next().unwrap_or(high);
                let is_no_number =
                    |bound: &str| bound.starts_with('\'') && bound.trim_matches('\'').parse::<f64>().is_err();
                let is_number = |bound: &str| is_great(bound.trim_matches('\''));
                is_number(low) && is_no_number(high) || is_number(high) && is_no_number(low)
            });
            let chooses = ["CASE WHEN ", "IF(", "NULLIF("].iter().any(|choice| text.contains(choice));
            // Rows 1, 2, 3 and 6 of the table have numbers that doubles do not tell apart.
            const GREAT: [&str; 4] = ["1", "2", "3", "6"];
            let is_great_id = |id: &Option<String>| id.as_deref().is_some_and(|id| GREAT.contains(&id));
            let is_great_row = |row: &Vec<Option<String>>| match row.as_slice() {
                [id, ..] if text.starts_with("SELECT id,") => is_great_id(id),
                [id, ..] if is_great_id(id) => true,
                [_, id, ..] if is_great_id(id) => true,
                [truth] if !chooses => truth.as_deref().is_none_or(|truth| matches!(truth, "0" | "1")),
                // What is chosen by such a comparison, or is NULL by it.
                [_] | [_, _] => chooses,
                _ => false,
            };
            let different = different_rows(case);
            case.difference == Difference::Rows
                && different.len() <= 2 * GREAT.len()
                && different.iter().all(is_great_row)
                && (is_bound || text.split('\'').skip(1).step_by(2).any(is_great))
        },
    },
    Rule {
        name: "A document in a condition of UPDATE or DELETE is compared as one",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::OnlyPeerFails
                && case.theirs.error() == Some(3156)
                && ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb))
                && text.contains(" AS JSON)")
        },
    },
    Rule {
        name: "nor of a constant beside a TIME column in a condition of UPDATE or DELETE",
        accepts: |case| {
            let text = case.step.text();
            let is_time =
                |code: &str, text: &str| code == "1292" && text.starts_with("Incorrect time value: ");
            let stores = text.contains("SET t =") || text.contains("SET t2 =");
            ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb))
                && !stores
                && same_but_for_warnings(case, is_time)
        },
    },
    Rule {
        name: "NULLIF of a number beside a column of dates or times is the number",
        accepts: |case| {
            let text = case.step.text();
            let moment = |ours: &str, theirs: &str| ours.parse::<f64>().is_ok() && theirs.contains(':');
            // Sorted, it may be another row.
            let has_moment =
                |row: &Vec<Option<String>>| row.iter().flatten().any(|value| value.contains(':'));
            let is_sorted = || {
                let theirs = only_theirs(case);
                text.contains(" ORDER BY ")
                    && !theirs.is_empty()
                    && theirs.iter().all(has_moment)
                    && different_rows(case).len() == 2 * theirs.len()
            };
            text.contains("NULLIF(") && (differs_only_where(case, moment) || is_sorted())
        },
    },
    Rule {
        name: "COALESCE and IFNULL of a BIT are BIGINT UNSIGNED",
        accepts: |case| {
            let text = case.step.text();
            let chooses = text.contains("IFNULL(") || text.contains("COALESCE(");
            let mut pairs = case.ours.columns.iter().zip(&case.theirs.columns);
            case.difference == Difference::Types
                && chooses
                && pairs
                    .all(|(ours, theirs)| ours.is_like(theirs) || ours.is_big_unsigned() && theirs.is_bit())
        },
    },
    Rule {
        name: "ELT of a number beyond INT is NULL",
        accepts: |case| {
            let text = case.step.text();
            let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
                return false;
            };
            let mut pairs = ours.iter().flatten().zip(theirs.iter().flatten());
            case.difference == Difference::Rows
                && ["ELT(b, ", "ELT(u, "].iter().any(|call| text.contains(call))
                && ours.len() == theirs.len()
                && pairs
                    .all(|(ours, theirs)| ours == theirs || ours.as_deref().is_none_or(|ours| ours == "0"))
        },
    },
    Rule {
        name: "EXTRACT(WEEK) of a date without month or day is NULL",
        accepts: |case| {
            let text = case.step.text();
            let is_formatted = text.contains("DATE_FORMAT(") || text.contains("FROM_UNIXTIME(");
            let is_extracted = text.contains("EXTRACT(WEEK FROM");
            let is_week = |theirs: &str| theirs.contains("61356675");
            // What is summed, counted or grouped of it differs by it.
            let is_summed = |ours: &str, theirs: &str| match (ours.parse::<f64>(), theirs.parse::<f64>()) {
                (Ok(ours), Ok(theirs)) if text.contains("COUNT(EXTRACT(WEEK") => theirs > ours,
                (Ok(ours), Ok(theirs)) => theirs - ours > 1e7,
                _ => false,
            };
            let is_grouped = || {
                let mut rows = different_rows(case).into_iter().map(|row| row.into_iter().next().flatten());
                text.contains(" GROUP BY ")
                    && case.difference == Difference::Rows
                    && rows.all(|week| week.is_none_or(|week| is_week(&week)))
            };
            is_formatted && differs_only_where_theirs(case, is_week)
                || is_extracted
                    && (differs_only_where_theirs(case, is_week)
                        || is_grouped()
                        || text.contains("(EXTRACT(WEEK") && differs_only_where(case, is_summed))
        },
    },
    Rule {
        name: "Error 1690 shows a constant without `<cache>` and its character set, a double in its shortest form",
        accepts: |case| {
            let plain = |reply: &Reply| match &reply.answer {
                Answer::Failed(1690, _, text) => {
                    let text = text
                        .replace("<cache>", "")
                        .replace("_latin1", "")
                        .replace("rollup_sum_switcher", "")
                        .replace(" as double)", "")
                        .replace(" as decimal(65,30))", "")
                        .replace("cast(", "")
                        .replace(['`', '(', ')'], "");
                    let number = |word: &str| match word.parse::<f64>() {
                        Ok(number) => number.to_string(),
                        Err(_) => word.to_owned(),
                    };
                    Some(text.split([' ', ',', '\'']).map(number).collect::<Vec<_>>().join(" "))
                }
                _ => None,
            };
            plain(case.ours).is_some_and(|ours| plain(case.theirs) == Some(ours))
        },
    },
    Rule {
        name: "AVG of whole seconds that TIMESTAMP() makes of texts has all ten digits behind the point",
        accepts: |case| {
            case.step.text().contains("AVG(TIMESTAMP(")
                && differs_only_where(case, |ours, theirs| {
                    theirs.ends_with('0') && ours.starts_with(theirs.trim_end_matches('0'))
                })
        },
    },
    Rule {
        name: "A number that a TIMESTAMP column cannot keep is compared as the date that it says",
        accepts: |case| {
            let refused = |(code, text): &(String, String)| {
                code == "1292"
                    && text.starts_with("Incorrect datetime value: '")
                    && [" for column 'ts'", " for column 'c_stamp'"]
                        .iter()
                        .any(|column| text.contains(column))
            };
            case.difference == Difference::Rows && case.theirs.warnings.iter().any(refused)
        },
    },
    Rule {
        name: "COUNT(DISTINCT a, b) does not count rows in which a variable or parameter is NULL",
        accepts: |case| {
            let text = case.step.text();
            text.contains("COUNT(DISTINCT ")
                && text.contains('@')
                && differs_only_where(case, |ours, theirs| ours == "0" && theirs != "0")
        },
    },
    Rule {
        name: "A scalar subquery beside a YEAR column is compared as the number that it gives",
        accepts: |case| {
            case.difference == Difference::Rows
                && case.step.text().starts_with("SELECT id FROM y WHERE y = (SELECT MAX(")
        },
    },
    Rule {
        name: "1264 of a CAST names it as EXPLAIN shows it",
        accepts: |case| {
            case.step.text().to_uppercase().contains("CAST(")
                && same_but_for_warnings(case, |code, text| {
                    matches!(code, "1264" | "1292" | "1366") && (code != "1264" || names_a_cast(text))
                })
        },
    },
    Rule {
        name: "Computed JSON that went through a temporary table of MySQL's",
        accepts: |case| {
            let text = case.step.text();
            let keeps_rows =
                ["GROUP BY", "DISTINCT", "UNION", "FROM (SELECT"].iter().any(|word| text.contains(word));
            let mut pairs = case.ours.columns.iter().zip(&case.theirs.columns);
            case.difference == Difference::Types
                && keeps_rows
                && pairs.all(|(ours, theirs)| {
                    ours.is_like(theirs) || ours.is_computed_json() && theirs.is_json_column()
                })
        },
    },
    Rule {
        name: "compares, groups or sums such texts (`from ascii to ascii`)",
        accepts: |case| {
            case.difference == Difference::OnlyPeerFails
                && case.step.text().contains("USING ascii")
                && matches!(&case.theirs.answer, Answer::Failed(3854, _, text) if text.ends_with("from ascii to ascii"))
        },
    },
    Rule {
        name: "which of several equal texts stands for them",
        accepts: |case| {
            let text = case.step.text();
            let is_grouped = ["GROUP BY", "DISTINCT", "UNION"].iter().any(|word| text.contains(word));
            case.difference == Difference::Rows && is_grouped && same_but_for_case(case)
        },
    },
    Rule {
        name: "WITH ROLLUP over no rows a constant of GROUP BY is NULL",
        accepts: |case| {
            let (Answer::Rows(ours), Answer::Rows(theirs)) = (&case.ours.answer, &case.theirs.answer) else {
                return false;
            };
            let [ours, theirs] = [ours, theirs].map(|rows| rows.iter().flatten());
            case.difference == Difference::Rows
                && case.step.text().contains("WITH ROLLUP")
                && case.step.text().contains("WHERE 1 = 0")
                && ours.zip(theirs).all(|(ours, theirs)| ours == theirs || ours.is_none())
        },
    },
    Rule {
        name: "HAVING and ORDER BY see what an expression of GROUP BY is in the rows that sum up",
        accepts: |case| {
            let Some((selected, after)) = case.step.text().split_once(" GROUP BY ") else { return false };
            let Some((keys, after)) = after.split_once(" WITH ROLLUP ") else { return false };
            let keys: Vec<&str> = keys.split(", ").map(|key| behind_alias(selected, key)).collect();
            let is_expression = |key: &&&str| key.contains(['(', '+', '=', '%']) || key.contains(" IS ");
            // A constant, of which the rows that sum up are there or not.
            let is_constant = |key: &&str| matches!(*key, "1" | "'x'");
            let has_null = |row: &Vec<Option<String>>| row.iter().any(Option::is_none);
            let mut expressions = keys.iter().filter(is_expression);
            case.difference == Difference::Rows
                && match after.strip_prefix("HAVING ") {
                    Some(having) => {
                        expressions.any(|key| having.contains(*key))
                            || keys.iter().any(|key| is_constant(key) && having.contains(key))
                                && different_rows(case).iter().all(has_null)
                    }
                    None => expressions.next().is_some() && same_in_another_order(case),
                }
        },
    },
    Rule {
        name: "what is not executed yet answers error 1235 with the construct's name",
        accepts: |case| {
            // The peer may have found another error before.
            matches!(case.difference, Difference::NotSupported | Difference::Errors)
                && case.ours.error() == Some(1235)
        },
    },
    Rule {
        name: "unusual delimiters in dates",
        accepts: |case| same_but_for_warnings(case, |code, _| matches!(code, "4095" | "4096")),
    },
    Rule {
        name: "nor is 3986 where a JSON value is a condition",
        accepts: |case| same_but_for_warnings(case, |code, _| code == "3986"),
    },
    Rule {
        name: "How often a warning about a value that does not convert is repeated is not MySQL's number",
        accepts: |case| case.difference == Difference::Warnings && same_with_each_warning_once(case),
    },
    Rule {
        name: "which values of a query that do not convert leave a warning, and what it calls their type",
        accepts: |case| is_query(case.step.text()) && same_but_for_conversions(case),
    },
    Rule {
        name: "An UPDATE of several tables warns once of each row that it changes",
        accepts: |case| {
            let text = case.step.text();
            let is_joined = text.starts_with("UPDATE ") && text.contains(" w, v SET ");
            let lines = |reply: &Reply| {
                let mut reply = reply.clone();
                reply.warnings.iter_mut().for_each(|(_, text)| without_row(text));
                reply.warnings.sort();
                reply.warnings.dedup();
                reply
            };
            let [ours, theirs] = [lines(case.ours), lines(case.theirs)];
            is_joined
                && case.difference == Difference::Warnings
                && ours.warnings.iter().all(|warning| theirs.warnings.contains(warning))
        },
    },
    Rule {
        name: "Warnings 3155 and 3156 of a query say row 1 whatever the row.",
        accepts: |case| same_with_rows_of_3156(case),
    },
    Rule {
        name: "Where a condition of UPDATE or DELETE fails in strict mode because of a value that does not convert",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::Errors
                && ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb))
                && text.contains(" WHERE ")
                && case.ours.error() == Some(1292)
                && matches!(case.theirs.error(), Some(1292 | 1366 | 3156 | 3854))
        },
    },
    Rule {
        name: "MySQL fails, too, because of values that decide nothing there",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::OnlyPeerFails
                && case.theirs.error() == Some(1292)
                && ["UPDATE ", "DELETE "].iter().any(|verb| text.starts_with(verb))
                && (["DEFAULT(", " BETWEEN "].iter().any(|part| text.contains(part))
                    || text.contains(" IN (") && text.contains("DATE'") && fails_as_time(case))
        },
    },
    Rule {
        name: "which one is told is not always MySQL's",
        accepts: |case| {
            case.difference == Difference::Errors
                // Of what is stored, that a DIV is beyond its type.
                && (case.ours.error(), case.theirs.error()) == (Some(1690), Some(1292))
                && case.step.text().contains(" DIV ")
        },
    },
    Rule {
        name: "MIN and MAX of an ENUM or SET in HAVING is the number that its text says",
        accepts: |case| {
            let having = case.step.text().split_once(" HAVING ").map_or("", |(_, having)| having);
            let is_extreme = ["MAX(", "MIN("].iter().any(|call| having.contains(call));
            let members = ["st)", "en)", "e)", "c_set)", "c_enum)"];
            case.difference == Difference::Rows
                && case.step.text().contains(" GROUP BY ")
                && is_extreme
                && members.iter().any(|member| having.contains(member))
        },
    },
    Rule {
        name: "An aggregate in a subquery of HAVING over a column that the enclosing query is grouped by",
        accepts: |case| {
            let text = case.step.text();
            case.difference == Difference::Rows
                && text.contains(" GROUP BY ")
                && text.contains(" HAVING ")
                && ["SUM", "AVG", "MIN", "MAX"].iter().any(|call| text.contains(&format!("(SELECT {call}(")))
                && different_rows(case).len() == only_theirs(case).len()
        },
    },
    Rule {
        name: "bytes are a text in the connection's collation there, which MySQL may refuse",
        accepts: |case| {
            let is_refused = matches!(&case.theirs.answer, Answer::Failed(3854, _, text) if text.ends_with("from binary to utf8mb4"));
            let are_bytes = matches!(case.step, Step::Binary(..));
            case.difference == Difference::OnlyPeerFails && is_refused && are_bytes
        },
    },
    Rule {
        name: "SUM and AVG of GREATEST or LEAST of a YEAR and a date",
        accepts: |case| {
            let text = case.step.text();
            let is_summed = is_summed_extreme(text);
            let is_near = |ours: &str, theirs: &str| match (ours.parse::<f64>(), theirs.parse::<f64>()) {
                (Ok(ours), Ok(theirs)) => (ours - theirs).abs() <= 7.0 && ours > 1e7,
                _ => false,
            };
            is_summed && differs_only_where(case, is_near)
        },
    },
    Rule {
        name: "MySQL takes 18446744073709551615 for -1 beside a BIGINT, and any other for what has the same 64 bits,",
        accepts: |case| {
            let text = case.step.text();
            let list = text.split_once(" IN (").and_then(|(_, list)| list.split_once(')'));
            let is_mixed = |list: &str| {
                let is_same = ["-1", "18446744073709551615", "9223372036854775808"];
                let is_beyond = ["18446744073709551616", "-9223372036854775809"];
                let has = |numbers: &[&str]| numbers.iter().any(|number| list.contains(number));
                has(&is_same) && (list.contains(['\'', '.', 'e', '/']) || has(&is_beyond))
            };
            let is_case = text.contains("CASE ") && is_mixed(&text.replace("CASE ", "e"));
            // FIELD and INTERVAL look at the bits of whole numbers.
            let is_called = ["FIELD(", "INTERVAL("].iter().any(|call| text.contains(call))
                && ["18446744073709551615", "9223372036854775808"].iter().any(|number| text.contains(number))
                && differs_only_where(case, |ours, theirs| {
                    // Or what is averaged of it.
                    let (ours, theirs) = (ours.parse::<f64>(), theirs.parse::<f64>());
                    matches!((ours, theirs), (Ok(ours), Ok(theirs)) if (ours - theirs).abs() < 128.0)
                });
            case.difference == Difference::Rows
                && (is_case || is_called || list.is_some_and(|(list, _)| is_mixed(list)))
        },
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Without line breaks, so that a name may go over one.
    fn page() -> String {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/sql.md");
        let text = std::fs::read_to_string(path).expect("the page is there");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rules_are_named_by_the_page() {
        let page = page();
        for name in all().map(|rule| rule.name).chain([
            between::OF_DOCUMENTS,
            between::OF_MIXED,
            between::OF_NUMBERS,
            between::OF_TEXTS,
            super::super::parameters::NAME,
            super::super::unindexed::NAME,
            super::super::offset::NAME,
        ]) {
            assert!(page.contains(name), "docs/sql.md does not say: {name}");
        }
    }
}
