//! Answers and plans of a suite as text, to be compared with what was recorded.

use std::time::Duration;

use crate::error::Result;
use crate::server::Server;
use crate::suite::client::{self, Client};
use crate::suite::{Query, Suite};

/// How many rows of an answer are shown; the fingerprint is of all.
const SHOWN: usize = 12;

/// How long a statement may take.
const LIMIT: Duration = Duration::from_secs(60);

/// The answer to each statement: its fingerprint, and the first rows in the order of their texts. The schema
/// must be loaded.
pub fn answers(server: &mut Server, suite: &Suite, scale: f64) -> Result<String> {
    each(server, suite, scale, |client, server, query, text| {
        let answer = client.answer(server, &query.sql)?;
        text.push_str(&client::fingerprint(&answer));
        text.push('\n');
        let null = || "NULL".to_owned();
        let line = |row: Vec<Option<String>>| {
            row.into_iter().map(|value| value.unwrap_or_else(null)).collect::<Vec<_>>().join("\t")
        };
        let mut rows: Vec<String> = answer.into_iter().map(line).collect();
        rows.sort();
        for row in rows.iter().take(SHOWN) {
            text.push_str(row);
            text.push('\n');
        }
        Ok(())
    })
}

/// The plan of each statement, as EXPLAIN FORMAT=TREE has it, without the schema's name, and without
/// estimates of rows and costs: they follow statistics, which are samples.
pub fn plans(server: &mut Server, suite: &Suite, scale: f64) -> Result<String> {
    each(server, suite, scale, |client, server, query, text| {
        let schema = format!("`{}`.", suite.schema(scale));
        let plan = client.answer(server, &format!("EXPLAIN FORMAT=TREE {}", query.sql))?;
        for line in plan.iter().flatten().flatten().flat_map(|plan| plan.lines()) {
            text.push_str(&shape(&line.replace(&schema, "")));
            text.push('\n');
        }
        Ok(())
    })
}

fn each(
    server: &mut Server,
    suite: &Suite,
    scale: f64,
    one: impl Fn(&mut Client, &mut Server, &Query, &mut String) -> Result<()>,
) -> Result<String> {
    let mut client = Client::open(server, &suite.schema(scale), LIMIT)?;
    let mut text = String::new();
    for query in &suite.queries(scale) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("-- {}: {}\n", query.name, query.about));
        one(&mut client, server, query, &mut text)?;
    }
    Ok(text)
}

/// How much of a line of a plan is shown, in characters: a list of constants may have thousands.
const WIDTH: usize = 160;

/// A line of a plan without what is estimated in it.
fn shape(line: &str) -> String {
    let line = line.trim_end();
    let estimates = ["  (cost=", "  (rows=", " (cost=", " (rows="];
    let shape =
        estimates.iter().find_map(|estimate| line.split_once(estimate)).map_or(line, |(shape, _)| shape);
    match shape.char_indices().nth(WIDTH) {
        Some((place, _)) => format!("{} ...", &shape[..place]),
        None => shape.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{Fake, Reply};
    use crate::suite::tpch;

    #[test]
    fn estimates_are_no_part_of_a_plan() {
        assert_eq!(shape("    -> Table scan on part  (rows=2000)"), "    -> Table scan on part");
        assert_eq!(shape("-> Sort: t.a  (cost=1.5 rows=2)"), "-> Sort: t.a");
        assert_eq!(shape("-> Filter: (t.a = 3) "), "-> Filter: (t.a = 3)");
        assert_eq!(shape(&"x".repeat(WIDTH + 1)), format!("{} ...", "x".repeat(WIDTH)));
    }

    #[test]
    fn answers_and_plans_stand_under_the_name_of_their_statement() {
        let row = |value: &str| vec![value.to_owned(), "x".to_owned()];
        let fake = Fake::new(move |statement| match statement {
            "SELECT CONNECTION_ID()" => Reply::value("7"),
            plan if plan.starts_with("EXPLAIN FORMAT=TREE SELECT")
                || plan.starts_with("EXPLAIN FORMAT=TREE WITH") =>
            {
                Reply::value("-> Sort: a  (rows=1)\n    -> Table scan on t  (rows=9)\n")
            }
            query if query.starts_with("SELECT l_returnflag") => Reply::Rows(vec![row("b"), row("a")]),
            _ => Reply::Rows(Vec::new()),
        });
        let mut server = Server::at("a", fake.address()).expect("it answers");
        let text = answers(&mut server, &tpch::SUITE, 0.01).expect("answers");
        assert!(text.starts_with("-- q01: pricing summary of what was shipped\n2 rows, "), "{text}");
        assert!(text.contains("\na\tx\nb\tx\n\n-- q02: "), "{text}");
        assert_eq!(text.matches("-- q").count(), 22);
        let text = plans(&mut server, &tpch::SUITE, 0.01).expect("plans");
        let first =
            "-- q01: pricing summary of what was shipped\n-> Sort: a\n    -> Table scan on t\n\n-- q02: ";
        assert!(text.starts_with(first), "{text}");
    }
}
