//! The rule about parameters: one has the type of its value, so that a statement answers what it would with
//! the value in its place.
//!
//! Both servers are asked that other statement: if Palisade says the same, and MySQL agrees about that one,
//! the difference is that MySQL gives a parameter another type.

use super::compare::Reply;
use super::question::{Question, Step};
use crate::client::Answer;

/// Words of docs/sql.md.
pub const NAME: &str = "A parameter has the type of its value in each execution";

/// The statement of an execution in several forms, each as statements to be asked in turn: with literals for
/// its parameters, and with user variables. A value for `?` is known as a literal is, but comes as late as a
/// variable, so that what is no date is no error (1525). Where bytes or documents are among the values
/// there is a third form, in which they are texts.
pub fn with_values(question: &Question, step: &Step, execution: usize) -> Option<Vec<Vec<String>>> {
    match step {
        Step::Binary(text, executions) => {
            let values: Vec<String> = executions.get(execution)?.iter().map(ToString::to_string).collect();
            let names: Vec<String> = (0..values.len()).map(|at| format!("@b{at}")).collect();
            let set: Vec<String> =
                names.iter().zip(&values).map(|(name, value)| format!("{name} = {value}")).collect();
            let variables = vec![format!("SET {}", set.join(", ")), inlined(text, &names)?];
            forms(text, &values, variables)
        }
        Step::Text(text) => {
            let names: Vec<String> =
                text.strip_prefix("EXECUTE s USING ")?.split(", ").map(str::to_owned).collect();
            let prepared =
                question.steps.iter().find_map(|step| step.text().strip_prefix("PREPARE s FROM '"))?;
            let query = prepared.strip_suffix('\'')?.replace("''", "'");
            let before = question.steps.iter().take_while(|known| !std::ptr::eq(*known, step));
            let set = before.filter_map(|step| step.text().strip_prefix("SET ")).last()?;
            let values: Vec<String> = names.iter().filter_map(|name| value_of(set, name)).collect();
            forms(&query, &values, vec![inlined(&query, &names)?])
        }
    }
}

fn forms(query: &str, values: &[String], variables: Vec<String>) -> Option<Vec<Vec<String>>> {
    let texts: Vec<String> = values.iter().map(|value| as_text(value)).collect();
    let mut forms = vec![vec![inlined(query, values)?], variables];
    if texts != values {
        forms.push(vec![inlined(query, &texts)?]);
    }
    Some(forms)
}

/// Bytes and documents as the texts that they are, unsigned numbers as numbers; others as they are.
fn as_text(value: &str) -> String {
    let cast = value.strip_prefix("CAST(");
    let is_cast_to = |target: &&str| cast.is_some_and(|value| value.ends_with(target));
    if let (Some(value), Some(target)) =
        (cast, [" AS JSON)", " AS UNSIGNED)"].iter().find(|target| is_cast_to(target)))
    {
        return value.trim_end_matches(target).to_owned();
    }
    match value.strip_prefix("CAST(").and_then(|value| value.strip_suffix(" AS BINARY)")) {
        Some(digits) if digits.starts_with("x'") => format!("_utf8mb4 {digits}"),
        Some(text) => text.to_owned(),
        None => value.to_owned(),
    }
}

/// The value that SET gives a variable, as the variable keeps it: a date or time is a text.
fn value_of(set: &str, name: &str) -> Option<String> {
    let (_, after) = set.split_once(&format!("{name} = "))?;
    // A value for `?` comes without its collation.
    let value = after.split(", @").next()?.split(" COLLATE ").next()?;
    match value.strip_prefix("TIMESTAMP").or_else(|| value.strip_prefix("TIME")) {
        Some(moment) => Some(two_digits(moment)),
        None => Some(value.to_owned()),
    }
}

/// A date or time of which each part has two digits at least, but for the fraction.
fn two_digits(moment: &str) -> String {
    let (whole, fraction) = moment.split_once('.').unwrap_or((moment, ""));
    let mut out = String::new();
    let mut digits = String::new();
    for c in whole.chars().chain(['.']) {
        if c.is_ascii_digit() {
            digits.push(c);
            continue;
        }
        if digits.len() == 1 {
            out.push('0');
        }
        out += &std::mem::take(&mut digits);
        out.push(c);
    }
    out + fraction
}

/// A text with values for its question marks. A number behind GROUP BY would be a position.
fn inlined(text: &str, values: &[String]) -> Option<String> {
    let mut values = values.iter();
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('?') {
        out += before;
        let value = values.next()?;
        out += &if before.ends_with(" BY ") { format!("CONCAT({value})") } else { value.clone() };
        rest = after;
    }
    Some(out + rest)
}

/// Whether two replies have the same values, however their protocols write them.
pub fn same_values(left: &Reply, right: &Reply) -> bool {
    match (&left.answer, &right.answer) {
        (Answer::Rows(left), Answer::Rows(right)) => {
            left.len() == right.len()
                && left.iter().flatten().zip(right.iter().flatten()).all(|(left, right)| {
                    match (left, right) {
                        (Some(left), Some(right)) => plain(left) == plain(right) || floats(left, right),
                        (left, right) => left == right,
                    }
                })
        }
        (Answer::Failed(left, ..), Answer::Failed(right, ..)) => left == right,
        (left, right) => left == right,
    }
}

/// Whether both are a FLOAT, of which a text shows six digits.
fn floats(left: &str, right: &str) -> bool {
    let (Ok(left), Ok(right)) = (left.parse::<f64>(), right.parse::<f64>()) else { return false };
    format!("{left:.5e}") == format!("{right:.5e}")
}

/// A value without what a protocol may add: zeros of a fraction, midnight, the form of an exponent.
fn plain(value: &str) -> String {
    if let Ok(number) = value.parse::<f64>() {
        return format!("{number:e}");
    }
    let value = match value.contains(':') && value.contains('.') {
        true => value.trim_end_matches('0').trim_end_matches('.'),
        false => value,
    };
    match value {
        "00:00:00" => String::new(),
        _ => value.strip_suffix(" 00:00:00").unwrap_or(value).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Parameter;

    #[test]
    fn parameters_become_values() {
        let step = Step::Binary(
            "SELECT ? + c, ?".into(),
            vec![
                vec![Parameter::Null, Parameter::Null],
                vec![Parameter::Signed(-1), Parameter::Text("a".into())],
            ],
        );
        let question = Question { steps: vec![step.clone()], about: String::new() };
        let forms = with_values(&question, &step, 1).unwrap();
        let [literals, variables] = forms.as_slice() else { panic!("{forms:?}") };
        assert_eq!(literals[..], ["SELECT -1 + c, 'a'"]);
        assert_eq!(variables[..], ["SET @b0 = -1, @b1 = 'a'", "SELECT @b0 + c, @b1"]);
        let statements = [
            "PREPARE s FROM 'SELECT ''x'', ? FROM v GROUP BY ?'",
            "SET @p0 = 1, @p1 = 2",
            "EXECUTE s USING @p0, @p1",
            "SET @p0 = TIMESTAMP'2024-2-29 1:2:3.500000', @p1 = 2",
            "EXECUTE s USING @p0, @p1",
        ];
        let question = Question::of(statements.map(str::to_owned).to_vec(), "");
        let forms = with_values(&question, &question.steps[2], 0).unwrap();
        let [literals, variables] = forms.as_slice() else { panic!("{forms:?}") };
        assert_eq!(literals[..], ["SELECT 'x', 1 FROM v GROUP BY CONCAT(2)"]);
        assert_eq!(variables[..], ["SELECT 'x', @p0 FROM v GROUP BY CONCAT(@p1)"]);
        let forms = with_values(&question, &question.steps[4], 0).unwrap();
        assert_eq!(forms[0], ["SELECT 'x', '2024-02-29 01:02:03.500000' FROM v GROUP BY CONCAT(2)"]);
        assert_eq!(with_values(&question, &question.steps[0], 0), None);
        let bytes =
            Step::Binary("SELECT ? = ?".into(), vec![vec![Parameter::Bytes(vec![97]), Parameter::Signed(1)]]);
        let question = Question { steps: vec![bytes.clone()], about: String::new() };
        let forms = with_values(&question, &bytes, 0).unwrap();
        assert_eq!(forms[2], ["SELECT _utf8mb4 x'61' = 1"]);
    }
}
