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

/// The statement of an execution with values for its parameters; those of EXECUTE are the user variables.
pub fn with_values(question: &Question, step: &Step, execution: usize) -> Option<String> {
    match step {
        Step::Binary(text, executions) => {
            let values = executions.get(execution)?;
            inlined(text, values.iter().map(ToString::to_string))
        }
        Step::Text(text) => {
            let names = text.strip_prefix("EXECUTE s USING ")?;
            let prepared =
                question.steps.iter().find_map(|step| step.text().strip_prefix("PREPARE s FROM '"))?;
            let query = prepared.strip_suffix('\'')?.replace("''", "'");
            inlined(&query, names.split(", ").map(str::to_owned))
        }
    }
}

fn inlined(text: &str, mut values: impl Iterator<Item = String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('?') {
        out += before;
        out += &values.next()?;
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
                        (Some(left), Some(right)) => plain(left) == plain(right),
                        (left, right) => left == right,
                    }
                })
        }
        (Answer::Failed(left, ..), Answer::Failed(right, ..)) => left == right,
        (left, right) => left == right,
    }
}

/// A value without what a protocol may add: zeros of a fraction, midnight, the form of an exponent.
fn plain(value: &str) -> String {
    if let Ok(number) = value.parse::<f64>() {
        return format!("{number:e}");
    }
    let value = match value.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
        _ => value,
    };
    value.strip_suffix(" 00:00:00").unwrap_or(value).to_owned()
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
        assert_eq!(with_values(&question, &step, 1).as_deref(), Some("SELECT -1 + c, 'a'"));
        let statements = ["SET @a = 1", "PREPARE s FROM 'SELECT ''x'', ?'", "EXECUTE s USING @a"];
        let question = Question::of(statements.map(str::to_owned).to_vec(), "");
        assert_eq!(with_values(&question, &question.steps[2], 0).as_deref(), Some("SELECT 'x', @a"));
        assert_eq!(with_values(&question, &question.steps[0], 0), None);
    }
}
