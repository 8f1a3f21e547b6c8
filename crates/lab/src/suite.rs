//! Suites: a data set of the lab's own making and statements over it, to compare plans and execution.
//!
//! - [`rows`] has what a generator writes: rows as SQL has them, made from [`rows::Random`], which gives each
//!   row the same values on every machine and in every version.
//! - [`load`] fills a schema by statements of many rows, builds the indexes and has the server analyze the
//!   tables. A schema that is complete says so and is used again.
//! - [`client`] executes a statement and tells what it took; an answer that does not come in time is given up
//!   and killed.
//! - [`golden`] writes answers and plans as text, for the tests.
//!
//! The statements stand in `sql/SUITE.sql`. The answer of each is reduced to a [`client::fingerprint`], so
//! that a report can say whether the servers agree.

use crate::suite::rows::Rows;

pub mod client;
pub mod golden;
pub mod joins;
pub mod load;
pub mod rows;
pub mod statements;
pub mod tpch;

/// A data set and statements over it.
#[derive(Debug)]
pub struct Suite {
    /// On the command line, and in the name of the schema.
    pub name: &'static str,
    /// For the heading of a report.
    pub title: &'static str,
    /// What it asks, and why.
    pub question: &'static str,
    /// What the data at scale 1 are.
    pub scale: &'static str,
    /// The tables, in the order in which they are loaded.
    pub tables: &'static [Table],
    /// The statements, as [`queries`] reads them.
    pub statements: &'static str,
    /// The version of the data: it changes when a generator does.
    pub version: u32,
}

/// All suites.
pub const ALL: &[&Suite] = &[&tpch::SUITE, &joins::SUITE, &statements::SUITE];

/// A table.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// What stands in parentheses after CREATE TABLE.
    pub columns: &'static str,
    /// What ALTER TABLE adds once the rows are there.
    pub indexes: &'static [&'static str],
    /// How many units make it, at a scale: rows, or what several rows are made from.
    pub units: fn(f64) -> u64,
    /// Writes the rows of a unit, the first of which is 1.
    pub write: fn(&Scaled, u64, &mut Rows),
}

/// The sizes of a data set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled {
    /// The scale.
    pub scale: f64,
}

impl Scaled {
    /// So many at scale 1, at least one.
    pub fn of(self, at_one: u64) -> u64 {
        scaled(self.scale, at_one)
    }
}

/// So many at scale 1, at least one.
pub fn scaled(scale: f64, at_one: u64) -> u64 {
    ((at_one as f64 * scale).round() as u64).max(1)
}

/// A statement of a suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Its name.
    pub name: String,
    /// What it asks.
    pub about: String,
    /// The statement, without its semicolon.
    pub sql: String,
}

impl Suite {
    /// The schema of a scale.
    pub fn schema(&self, scale: f64) -> String {
        format!("{}_{}_{}", crate::server::DATABASE, self.name, scale.to_string().replace('.', "_"))
    }

    /// Its statements at a scale.
    pub fn queries(&self, scale: f64) -> Vec<Query> {
        queries(&expanded(self.statements, scale))
    }

    /// The statement of that name.
    pub fn query(&self, scale: f64, name: &str) -> Option<Query> {
        self.queries(scale).into_iter().find(|query| query.name == name)
    }
}

/// Writes out what stands in statements in braces: `{scale}`; `{rows N}`, so many at scale 1; lists as
/// `{numbers N STEP}`, whole numbers from 1 on, or `{decimals N STEP}`, in hundredths.
fn expanded(text: &str, scale: f64) -> String {
    let mut parts = text.split('{');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let written = part.split_once('}').and_then(|(name, rest)| Some((value(name, scale)?, rest)));
        match written {
            Some((value, rest)) => {
                expanded.push_str(&value);
                expanded.push_str(rest);
            }
            None => {
                expanded.push('{');
                expanded.push_str(part);
            }
        }
    }
    expanded
}

fn value(name: &str, scale: f64) -> Option<String> {
    match name.split_once(' ') {
        None => (name == "scale").then(|| scale.to_string()),
        Some(("rows", count)) => Some(scaled(scale, count.parse().ok()?).to_string()),
        Some(_) => list(name),
    }
}

fn list(name: &str) -> Option<String> {
    let words: Vec<&str> = name.split(' ').collect();
    let [kind, count, step] = words[..] else { return None };
    let (count, step): (u64, u64) = (count.parse().ok()?, step.parse().ok()?);
    let one = |place: u64| match kind {
        "numbers" => Some((1 + place * step).to_string()),
        "decimals" => Some(format!("{}.{:02}", place * step / 100, place * step % 100)),
        _ => None,
    };
    let all: Option<Vec<String>> = (0..count).map(one).collect();
    Some(all?.join(","))
}

/// Reads statements: each is headed by a line `-- NAME: what it asks` and ends with a semicolon. A line that
/// begins with `--` and has no such name is a comment.
pub fn queries(text: &str) -> Vec<Query> {
    let mut all: Vec<Query> = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("--") {
            if let Some((name, about)) = comment.trim().split_once(": ")
                && !name.contains(' ')
            {
                let (name, about) = (name.to_owned(), about.to_owned());
                all.push(Query { name, about, sql: String::new() });
            }
        } else if let Some(query) = all.last_mut() {
            query.sql.push_str(line);
            query.sql.push('\n');
        }
    }
    for query in &mut all {
        query.sql.truncate(query.sql.trim_end().trim_end_matches(';').len());
    }
    all
}

/// The suite of that name.
pub fn find(name: &str) -> crate::Result<&'static Suite> {
    let found = ALL.iter().find(|suite| suite.name == name);
    found.copied().ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|suite| suite.name).collect();
        crate::Error::Usage(format!("there is no suite '{name}'; there are: {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn statements_are_read_with_their_names() {
        let read = queries("-- about all\n-- a: first\nSELECT 1\nFROM t;\n\n-- b: second one\nSELECT 2;\n");
        let shown: Vec<(&str, &str, &str)> =
            read.iter().map(|query| (&*query.name, &*query.about, &*query.sql)).collect();
        assert_eq!(shown, [("a", "first", "SELECT 1\nFROM t"), ("b", "second one", "SELECT 2")]);
    }

    #[test]
    fn lists_are_written_out() {
        let text = "-- of `{numbers N STEP}`\nIN ({numbers 3 10}) OR IN ({decimals 3 125}) LIMIT {rows 30} / {scale}";
        let written = "-- of `{numbers N STEP}`\nIN (1,11,21) OR IN (0.00,1.25,2.50) LIMIT 3 / 0.1";
        assert_eq!(expanded(text, 0.1), written);
    }

    #[test]
    fn every_suite_has_statements_with_names_of_their_own() {
        for suite in ALL {
            let queries = suite.queries(0.01);
            let names: BTreeSet<&str> = queries.iter().map(|query| query.name.as_str()).collect();
            assert_eq!(names.len(), queries.len(), "{}", suite.name);
            for query in queries {
                assert!(!query.sql.is_empty() && !query.sql.contains([';', '{']), "{}", query.name);
            }
        }
    }

    #[test]
    fn a_unit_has_the_same_rows_whatever_was_made_before() {
        for suite in ALL {
            let sizes = Scaled { scale: 0.01 };
            for table in suite.tables {
                let of = |units: &[u64]| {
                    let mut rows = Rows::default();
                    units.iter().for_each(|unit| (table.write)(&sizes, *unit, &mut rows));
                    rows.take().unwrap_or_default()
                };
                let both = of(&[1, 2]);
                let each = [of(&[1]), of(&[2])];
                let each: Vec<&str> =
                    each.iter().map(String::as_str).filter(|rows| !rows.is_empty()).collect();
                assert_eq!(both, each.join(",\n"), "{}", table.name);
            }
        }
    }
}
