//! What an experiment measured, as the JSON holds it. docs/lab.md describes every field; a test compares the
//! two.
//!
//! The shape: an experiment has *factors* (what varies) and *measures* (what each run yields). A *cell* is
//! one server at one level of every factor, with its runs in the order of their repeats. The report is made
//! from this alone, so whatever it says must be in here. What follows from the runs ([`Results::noise`],
//! [`Results::choices`]) is there for programs; reading works it out anew.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::compare::{self, Choice, Chooser, Noise};
use crate::error::{Error, Result};
use crate::machine::Machine;

/// The version of the format. It changes when a reader of the old format would misread the new one.
pub const SCHEMA: &str = "palisade-lab/1";

/// An experiment's outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Results {
    /// [`SCHEMA`].
    pub schema: String,
    /// What was asked.
    pub experiment: Description,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How long it took, seconds.
    pub took_s: f64,
    /// Whether it was the short form, whose numbers show only that it works.
    pub quick: bool,
    /// The lab's command line, passwords left out.
    pub arguments: Vec<String>,
    /// Sizes of the load, by name.
    pub parameters: BTreeMap<String, String>,
    /// Where the load ran.
    pub machine: Machine,
    /// Versions of the load tools.
    pub tools: Vec<String>,
    /// The servers, in the order of the command line; ratios are of the first over each other.
    pub servers: Vec<ServerFacts>,
    /// What was measured.
    pub cells: Vec<Cell>,
    /// What a reader must know: what was missing, what differed.
    pub notes: Vec<String>,
    /// How noisy the first measure is; `None` if no cell ran twice.
    #[serde(default)]
    pub noise: Option<Noise>,
    /// How servers that choose a setting by themselves chose.
    #[serde(default)]
    pub choices: Vec<Choice>,
}

/// What an experiment asks, and how its results are laid out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// As on the command line.
    pub name: String,
    /// For the heading.
    pub title: String,
    /// What it asks, and why; one paragraph.
    pub question: String,
    /// What varies.
    pub factors: Vec<Factor>,
    /// What is measured; the first is the one that counts.
    pub measures: Vec<Measure>,
    /// The factor along the plots' x axis.
    pub x: String,
    /// The factor that is a setting of a server, whose levels are compared within each server.
    pub within: Option<String>,
    /// The factor whose levels take turns under one load, so that the runs of a repeat have that in common;
    /// `None` where each run brings its own.
    #[serde(default)]
    pub turning: Option<String>,
    /// The level of that setting with which the server chooses by itself.
    #[serde(default)]
    pub chooser: Option<Chooser>,
    /// Whether the first measure's values along `x` add up to something: the cost of all statements.
    #[serde(default)]
    pub sums: bool,
}

/// Something that varies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Key in [`Cell::levels`].
    pub key: String,
    /// For people.
    pub title: String,
}

/// Something that is measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    /// Key in [`Run::values`].
    pub key: String,
    /// For people.
    pub title: String,
    /// Its unit.
    pub unit: String,
    /// Which way is good.
    pub better: Better,
}

/// Which way is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// The more the better.
    Higher,
    /// The less the better.
    Lower,
    /// Neither.
    Neutral,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerFacts {
    /// As on the command line.
    pub name: String,
    /// How it was started, or where it was found.
    pub origin: String,
    /// Its version and version comment.
    pub version: String,
    /// Values that the runs had of the variables that decide a comparison, with commas between them where the
    /// experiment has set several; `null` where the server has no such variable.
    pub settings: BTreeMap<String, Option<String>>,
    /// Memory in RAM after all runs, where the lab can see it.
    pub resident_mib: Option<u64>,
}

/// One server at one level of every factor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The server's name.
    pub server: String,
    /// A level of each factor.
    pub levels: BTreeMap<String, String>,
    /// Whether it could be measured.
    pub outcome: Outcome,
    /// The runs, in the order of their repeats.
    pub runs: Vec<Run>,
    /// What was done for one run, as one would type it.
    pub commands: Vec<String>,
}

/// Whether a cell could be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", content = "reason", rename_all = "snake_case")]
pub enum Outcome {
    /// As often as it has runs: fewer than were asked for if the experiment was interrupted.
    Measured,
    /// The server does not have what it takes, in its own words.
    NotAvailable(String),
    /// A run went wrong; the runs before it are there.
    Failed(String),
}

/// One run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Run {
    /// Its repeat, from 1.
    pub repeat: u32,
    /// Its place in the order in which everything ran, from 1.
    pub order: u32,
    /// What was measured, by the measures' keys.
    pub values: BTreeMap<String, f64>,
    /// The first measure second by second, where the experiment asks for it.
    pub by_second: Vec<f64>,
    /// The share of the processors' time that the machine's host took in those seconds; none where that is
    /// not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stolen_by_second: Vec<f64>,
    /// What else was looked at second by second, by its title, where the experiment does.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<String, Vec<f64>>,
    /// What the server answered, shortened so that the answers of servers can be compared, where the
    /// experiment does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The server's counters over the run.
    pub counters: BTreeMap<String, Counter>,
}

/// A counter of the server.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Counter {
    /// Before the run.
    pub before: f64,
    /// After it.
    pub after: f64,
    /// Whether it counts events, so that the difference means something; else it shows a state.
    pub counts: bool,
}

impl Counter {
    /// What to show: the events during the run, or the state after it.
    pub fn shown(&self) -> f64 {
        if self.counts { self.after - self.before } else { self.after }
    }
}

impl Cell {
    /// The runs that count. Of a cell that failed none does, however far it came.
    pub fn counted(&self) -> &[Run] {
        if self.outcome == Outcome::Measured { &self.runs } else { &[] }
    }

    /// A measure's values, repeat by repeat.
    pub fn values(&self, key: &str, repeats: u32) -> Vec<Option<f64>> {
        let of =
            |repeat: u32| self.counted().iter().find(|run| run.repeat == repeat)?.values.get(key).copied();
        (1..=repeats).map(of).collect()
    }

    /// A measure's values, those there are.
    pub fn sample(&self, key: &str) -> Vec<f64> {
        self.counted().iter().filter_map(|run| run.values.get(key).copied()).collect()
    }

    /// Whether another one is of the same server and of the same level of every factor but this.
    pub fn is_beside(&self, other: &Cell, factor: &str) -> bool {
        let same = |(key, level): (&String, &String)| key == factor || other.level(key) == level;
        self.server == other.server && self.levels.iter().all(same)
    }

    /// Its level of a factor.
    pub fn level(&self, factor: &str) -> &str {
        self.levels.get(factor).map_or("", String::as_str)
    }
}

impl Results {
    /// The most repeats that any cell has.
    pub fn repeats(&self) -> u32 {
        self.cells.iter().flat_map(Cell::counted).map(|run| run.repeat).max().unwrap_or_default()
    }

    /// The same, with what follows from the runs.
    #[must_use]
    pub fn concluded(mut self) -> Results {
        let first = self.experiment.measures.first();
        self.noise = first.and_then(|measure| Noise::of(&self, &measure.key));
        self.choices = compare::choices(&self);
        self
    }

    /// The levels of a factor, in the order in which they were planned.
    pub fn levels(&self, factor: &str) -> Vec<&str> {
        let mut levels: Vec<&str> = Vec::new();
        for cell in &self.cells {
            let level = cell.level(factor);
            if !level.is_empty() && !levels.contains(&level) {
                levels.push(level);
            }
        }
        levels
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Results> {
        let text = std::fs::read_to_string(path).map_err(|error| Error::file(path, error))?;
        Results::parse(&text).map_err(|reason| Error::file(path, reason))
    }

    /// Reads JSON.
    pub fn parse(text: &str) -> std::result::Result<Results, String> {
        #[derive(Deserialize)]
        struct Version {
            schema: String,
        }
        let version: Version =
            serde_json::from_str(text).map_err(|error| format!("not results of palisade-lab: {error}"))?;
        if version.schema != SCHEMA {
            return Err(format!("its schema is '{}'; this program reads '{SCHEMA}'", version.schema));
        }
        let read: Results = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(read.concluded())
    }

    /// The JSON.
    pub fn json(&self) -> String {
        let mut text =
            serde_json::to_string_pretty(self).expect("maps have string keys and numbers are finite");
        text.push('\n');
        text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A cell of an experiment whose factors are `clients` and `setting` and whose measure is `tps`.
    pub(crate) fn cell(server: &str, clients: &str, setting: &str, values: &[f64]) -> Cell {
        let levels = [("clients", clients), ("setting", setting)];
        let run = |(repeat, value): (u32, &f64)| Run {
            repeat,
            values: [("tps".to_owned(), *value)].into(),
            ..Run::default()
        };
        Cell {
            server: server.to_owned(),
            levels: levels.map(|(factor, level)| (factor.to_owned(), level.to_owned())).into(),
            outcome: Outcome::Measured,
            runs: (1..).zip(values).map(run).collect(),
            commands: Vec::new(),
        }
    }

    /// Such an experiment, with a server `a`.
    pub(crate) fn results(cells: Vec<Cell>) -> Results {
        let factor = |key: &str| Factor { key: key.to_owned(), title: key.to_owned() };
        let (key, unit) = ("tps".to_owned(), "/s".to_owned());
        let measure = Measure { title: key.clone(), key, unit, better: Better::Higher };
        Results {
            schema: SCHEMA.to_owned(),
            experiment: Description {
                name: "n".to_owned(),
                title: "t".to_owned(),
                question: "q".to_owned(),
                factors: vec![factor("clients"), factor("setting")],
                measures: vec![measure],
                x: "clients".to_owned(),
                within: Some("setting".to_owned()),
                turning: None,
                chooser: Some(Chooser {
                    level: "AUTO".to_owned(),
                    among: vec!["ON".to_owned(), "OFF".to_owned()],
                }),
                sums: false,
            },
            started: String::new(),
            took_s: 1.0,
            quick: false,
            arguments: Vec::new(),
            parameters: BTreeMap::new(),
            machine: Machine {
                processor: String::new(),
                processors: 2,
                memory_mib: 1,
                kernel: String::new(),
                system: String::new(),
                load_average: 0.0,
                file_system: String::new(),
                durable_write_us: None,
            },
            tools: Vec::new(),
            servers: Vec::new(),
            cells,
            notes: Vec::new(),
            noise: None,
            choices: Vec::new(),
        }
    }

    #[test]
    fn a_cell_that_failed_has_no_numbers_however_far_it_came() {
        let mut failed = cell("a", "8", "ON", &[1.0, 2.0]);
        assert_eq!(failed.values("tps", 3), [Some(1.0), Some(2.0), None]);
        failed.outcome = Outcome::Failed("it ended".to_owned());
        assert_eq!((failed.sample("tps"), failed.values("tps", 2)), (vec![], vec![None, None]));
        assert_eq!(results(vec![failed]).repeats(), 0);
    }
}
