//! The rows that an UPDATE or DELETE changes: where they differ, both servers are asked a query with the same
//! condition. If a rule knows the difference of the rows that it finds, that is the difference.

use super::question::{Question, Step};

/// The statements before the last UPDATE or DELETE that a step sees, and a query of the rows that it changes.
pub fn as_query(question: &Question, seen_by: usize) -> Option<(&[Step], String)> {
    let changes = |step: &Step| condition(step.text()).is_some();
    let at = question.steps.iter().take(seen_by + 1).rposition(changes)?;
    let condition = condition(question.steps.get(at)?.text())?;
    Some((question.steps.get(..at)?, format!("SELECT i FROM x WHERE {condition} ORDER BY i")))
}

/// The condition of an UPDATE or DELETE of the table `x`.
fn condition(text: &str) -> Option<&str> {
    let (_, condition) = text
        .split_once(" WHERE ")
        .filter(|(change, _)| *change == "DELETE FROM x" || change.starts_with("UPDATE x SET "))?;
    Some(condition.split_once(" ORDER BY ").map_or(condition, |(condition, _)| condition))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_a_query_of_its_rows() {
        let steps = [
            "DELETE FROM x",
            "INSERT INTO x (i) VALUES (1)",
            "DELETE FROM x WHERE i = 2 ORDER BY i LIMIT 1",
            "SELECT i FROM x ORDER BY i",
        ];
        let question = Question::of(steps.map(str::to_owned).to_vec(), "");
        let (before, query) = as_query(&question, 3).unwrap();
        assert_eq!((before.len(), query.as_str()), (2, "SELECT i FROM x WHERE i = 2 ORDER BY i"));
        assert_eq!(as_query(&question, 1), None);
    }
}
