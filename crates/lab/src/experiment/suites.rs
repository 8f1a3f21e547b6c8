//! The statements of a suite, one after the other on one connection: what each costs the server, and whether
//! the servers answer alike.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::experiment::{Attempt, Bench, Experiment, Levels, Measurement, Scale, factor, measure};
use crate::results::{Better, Description};
use crate::server::Server;
use crate::suite::client::{self, Client};
use crate::suite::{Suite, load};
use crate::tool::Tool;

/// The factor.
const QUERY: &str = "query";

/// How long a statement may take unless the command line says it.
const LIMIT: Duration = Duration::from_secs(120);

/// The scale that a server is measured at, and that of the short form.
const FULL: f64 = 0.3;
const SHORT: f64 = 0.01;

/// The experiment of a suite.
#[derive(Debug)]
pub struct OfSuite(pub &'static Suite);

fn scale_of(bench: &Bench) -> f64 {
    bench.scale.factor.unwrap_or(FULL)
}

impl Experiment for OfSuite {
    fn description(&self) -> Description {
        Description {
            name: self.0.name.to_owned(),
            title: self.0.title.to_owned(),
            question: self.0.question.to_owned(),
            factors: vec![factor(QUERY, "query")],
            measures: vec![
                measure("cpu_ms", "server CPU per execution", "ms", Better::Lower),
                measure("elapsed_ms", "elapsed time of an execution", "ms", Better::Lower),
                measure("rows", "rows of the answer", "", Better::Neutral),
            ],
            x: QUERY.to_owned(),
            within: None,
            turning: None,
            chooser: None,
            sums: true,
        }
    }

    fn tools(&self) -> &'static [Tool] {
        &[]
    }

    fn scale(&self, quick: bool) -> Scale {
        let full = Scale::new(3, &[1]).pause(Duration::ZERO).factor(FULL).limit(LIMIT);
        if quick { full.quick(1).factor(SHORT) } else { full }
    }

    fn levels(&self, scale: &Scale) -> Vec<Levels> {
        let queries = self.0.queries(scale.factor.unwrap_or(FULL));
        queries.into_iter().map(|query| [(QUERY.to_owned(), query.name)].into()).collect()
    }

    fn prepare(&self, server: &mut Server, bench: &Bench) -> Result<Vec<String>> {
        let scale = scale_of(bench);
        if load::is_loaded(server, self.0, scale)? {
            let schema = self.0.schema(scale);
            return Ok(vec![format!("{}: the data in {schema} were there, and stay.", server.name)]);
        }
        server.undo_later(format!("DROP DATABASE IF EXISTS {}", self.0.schema(scale)));
        load::load(server, self.0, scale)?;
        Ok(Vec::new())
    }

    fn run(&self, server: &mut Server, levels: &Levels, bench: &Bench) -> Result<Attempt> {
        let scale = scale_of(bench);
        let name = levels.get(QUERY).map_or("", String::as_str);
        let query =
            self.0.query(scale, name).ok_or_else(|| Error::Usage(format!("there is no query '{name}'")))?;
        let limit = bench.scale.limit.unwrap_or(LIMIT);
        let mut client = Client::open(server, &self.0.schema(scale), limit)?;
        let taken = client.measure(server, &query.sql)?;
        let mut values = BTreeMap::new();
        values.insert("elapsed_ms".to_owned(), 1e3 * taken.elapsed_s);
        values.insert("rows".to_owned(), taken.answer.len() as f64);
        values.extend(taken.cpu_s.map(|cpu_s| ("cpu_ms".to_owned(), 1e3 * cpu_s)));
        Ok(Attempt::Measured(Measurement {
            values,
            answer: Some(client::fingerprint(&taken.answer)),
            commands: vec![format!("-- {}: {}\n{};", query.name, query.about, query.sql)],
            ..Measurement::default()
        }))
    }
}
