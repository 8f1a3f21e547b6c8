//! `cargo xtask calibrate [--rounds N]`: what the planner's units of cost are on this machine.
//!
//! Each constant of `crates/plan/src/cost.rs` that is the time of something done to a row has a statement
//! here that does it to many, and one that does all but that: the difference of the server's CPU times,
//! divided by the number of rows, is the unit in nanoseconds. The two are executed in turns, and the unit
//! is the median of the differences of the rounds, so that what else the machine does meanwhile is in
//! both. Where a quarter of the differences is below nothing the unit is lost in the noise, and not
//! measured. A statement counts only if its plan does what is to be measured; otherwise the line says so.
//! Printed are the measured figures beside those of the source, and both as multiples of reading a row in
//! order, because only ratios decide between plans.
//!
//! The server is as released, with all pages in memory; `PALISADE_PROGRAM` names another one. What stands in
//! the source is changed by hand: a figure of one machine is no reason, one that several agree on is.

use std::time::Duration;

use palisade_lab::process;

use crate::Outcome;
use crate::client::{Answer, Client};
use crate::process::root;
use crate::server::{Purpose, Server};

const USAGE: &str = "usage: cargo xtask calibrate [--rounds N]";
/// Rows of the large table.
const ROWS: f64 = 200_000.0;
/// Rows of the table that looks others up.
const LOOKS: f64 = 10_000.0;
/// Rows of the small table.
const FEW: f64 = 10.0;
/// CPU time that the executions of a statement take together at least: the system counts it in hundredths of
/// a second.
const LEAST_US: f64 = 500_000.0;
/// No statement is executed more often than this.
const MOST_EXECUTIONS: u32 = 20_000;
/// Times that a unit is measured, unless told.
const ROUNDS: usize = 5;
/// The unit that the others are compared with.
const BASE: &str = "ROW_IN_ORDER";

const TABLES: &[&str] = &[
    "CREATE DATABASE calibrate",
    "USE calibrate",
    "SET cte_max_recursion_depth = 1000000",
    "CREATE TABLE c (id INT PRIMARY KEY, v INT NOT NULL, g INT NOT NULL, w INT NOT NULL, h INT NOT NULL,
        pad VARCHAR(40) NOT NULL, KEY v (v), KEY w (w))",
    "INSERT INTO c WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
        SELECT i, i % 100, i * 31 % 100, i * 7919 % 200003, i * 7919 % 200003, REPEAT('x', 30) FROM n",
    "CREATE TABLE s (n INT PRIMARY KEY)",
    "INSERT INTO s WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
        SELECT i * 7919 % 200003 FROM n",
    "CREATE TABLE f (x INT PRIMARY KEY, y INT NOT NULL)",
    "INSERT INTO f VALUES (-1,-1),(-2,-2),(-3,-3),(-4,-4),(-5,-5),(-6,-6),(-7,-7),(-8,-8),(-9,-9),(-10,-10)",
    "ANALYZE TABLE c, s, f",
];

const SCAN: &str = "SELECT SUM(g) FROM c FORCE INDEX (PRIMARY)";
const ENTRIES: &str = "SELECT SUM(v) FROM c FORCE INDEX (v)";
const LOOK: &str = "SELECT COUNT(n + 1) FROM s";

/// How a unit is measured.
struct Unit {
    /// The constant.
    name: &'static str,
    statement: &'static str,
    /// What its plan says if it does what is to be measured.
    plan: &'static str,
    /// What does all the rest; empty for nothing.
    rest: &'static str,
    /// How many times the statement does it.
    times: fn() -> f64,
}

const UNITS: &[Unit] = &[
    Unit { name: BASE, statement: SCAN, plan: "Table scan on c", rest: "", times: || ROWS },
    Unit {
        name: "ENTRY_IN_ORDER",
        statement: ENTRIES,
        plan: "Covering index scan on c using v",
        rest: "",
        times: || ROWS,
    },
    Unit {
        name: "ROW_BY_ENTRY",
        statement: "SELECT SUM(g) FROM c FORCE INDEX (w) WHERE w >= 0",
        plan: "Index range scan on c using w",
        rest: "",
        times: || ROWS,
    },
    Unit {
        name: "OPEN_SCAN",
        statement: "SELECT /*+ NO_BNL(s, c) */ COUNT(c.w) FROM s STRAIGHT_JOIN c FORCE INDEX (w) ON c.w = s.n + 1000000",
        plan: "ndex lookup on c using w",
        rest: LOOK,
        times: || LOOKS,
    },
    Unit {
        name: "UNIQUE_LOOKUP",
        statement: "SELECT /*+ NO_BNL(s, c) */ COUNT(c.g) FROM s STRAIGHT_JOIN c ON c.id = s.n",
        plan: "Single-row index lookup on c using PRIMARY",
        rest: LOOK,
        times: || LOOKS,
    },
    Unit {
        name: "LOCKED_ROW",
        statement: "SELECT SUM(g) FROM c FORCE INDEX (PRIMARY) FOR UPDATE",
        plan: "Table scan on c",
        rest: SCAN,
        times: || ROWS,
    },
    Unit {
        name: "KEPT_ROW",
        statement: "SELECT SUM(x.g) FROM (SELECT g FROM c FORCE INDEX (PRIMARY) LIMIT 1000000) x",
        plan: "Materialize",
        rest: SCAN,
        times: || ROWS,
    },
    Unit {
        name: "SORTED_ROW",
        statement: "SELECT h FROM c FORCE INDEX (PRIMARY) ORDER BY h LIMIT 1 OFFSET 199999",
        plan: "Sort: c.h",
        rest: SCAN,
        times: || ROWS * (1.0 + ROWS.log2()),
    },
    Unit {
        name: "HASHED_ROW",
        statement: "SELECT COUNT(c.g) FROM f LEFT JOIN c IGNORE INDEX (w) ON c.h = f.y",
        plan: "Left hash join",
        rest: SCAN,
        times: || ROWS,
    },
    Unit {
        name: "PROBE",
        statement: "SELECT COUNT(f.x) FROM c FORCE INDEX (PRIMARY) LEFT JOIN f ON f.y = c.h",
        plan: "Left hash join",
        rest: SCAN,
        times: || ROWS,
    },
    Unit {
        name: "GROUPED_ROW",
        statement: "SELECT COUNT(x.s) FROM (SELECT v, SUM(id) AS s FROM c FORCE INDEX (v) GROUP BY v) x",
        plan: "Group aggregate",
        rest: ENTRIES,
        times: || ROWS,
    },
    Unit {
        name: "HASHED_GROUP",
        statement: "SELECT COUNT(x.s) FROM (SELECT g, SUM(v) AS s FROM c FORCE INDEX (PRIMARY) GROUP BY g) x",
        plan: "Aggregate using temporary table",
        rest: SCAN,
        times: || ROWS,
    },
    Unit {
        name: "JOINED_ROW",
        statement: "SELECT COUNT(*) FROM s STRAIGHT_JOIN f",
        plan: "join",
        rest: LOOK,
        times: || LOOKS * FEW,
    },
    Unit {
        name: "SUBQUERY",
        statement: "SELECT COUNT((SELECT f.x FROM f WHERE f.y > s.n LIMIT 1)) FROM s",
        plan: "dependent",
        rest: LOOK,
        times: || LOOKS,
    },
];

/// A table of a server's own, and how many rows it has.
const VIRTUAL: &str = "SELECT COUNT(COLLATION_NAME) FROM information_schema.COLLATIONS";

/// Measures all units and prints a Markdown table.
pub fn run(arguments: &[String]) -> Outcome {
    let rounds = match arguments {
        [] => ROUNDS,
        [flag, rounds] if flag == "--rounds" => rounds.parse().map_err(|_| USAGE)?,
        _ => return Err(USAGE.into()),
    };
    let source = std::fs::read_to_string(root().join("crates/plan/src/cost.rs"))
        .map_err(|error| format!("the constants: {error}"))?;
    let options = ["--innodb-buffer-pool-size=512M", "--innodb-redo-log-capacity=512M"];
    let server = Server::start_for(Purpose::Measurements, "calibrate", &options)?;
    let pid = process::listener(server.port).ok_or("nothing listens at the server's port")?;
    let patience = Duration::from_secs(600);
    let client = Client::login(server.port, "root", patience).map_err(|error| error.to_string())?;
    let mut meter = Meter { client, pid, rounds };
    TABLES.iter().try_for_each(|statement| meter.execute(statement).map(drop))?;
    let mut lines = Vec::new();
    for unit in UNITS {
        lines.push((unit.name, meter.unit(unit)?));
    }
    let count: f64 = meter.value(VIRTUAL)?.parse().map_err(|_| "COUNT is a number")?;
    lines.push(("VIRTUAL_ROW", meter.difference(VIRTUAL, "", count)?));
    print(&source, &lines)
}

struct Meter {
    client: Client,
    /// The server.
    pid: u32,
    rounds: usize,
}

impl Meter {
    fn execute(&mut self, statement: &str) -> Result<Answer, String> {
        match self.client.query(statement).map_err(|error| error.to_string())? {
            Answer::Failed(number, _, text) => Err(format!("{statement}: {number} {text}")),
            answer => Ok(answer),
        }
    }

    fn value(&mut self, query: &str) -> Result<String, String> {
        self.client.value(query).map_err(|error| format!("{query}: {error}"))
    }

    /// A unit in nanoseconds; none if the plan of its statement is another one.
    fn unit(&mut self, unit: &Unit) -> Result<Option<f64>, String> {
        let plan = self.value(&format!("EXPLAIN FORMAT=TREE {}", unit.statement))?;
        if !plan.contains(unit.plan) {
            eprintln!("{}: the plan is another one\n{}\n{plan}", unit.name, unit.statement);
            return Ok(None);
        }
        self.difference(unit.statement, unit.rest, (unit.times)())
    }

    /// What a statement takes more than `rest`, which is executed in turns with it unless it is empty, in
    /// nanoseconds for each of so many times; none if it is lost in the noise.
    fn difference(&mut self, statement: &str, rest: &str, times: f64) -> Result<Option<f64>, String> {
        let statements = [statement, rest];
        let executed = || statements.into_iter().filter(|text| !text.is_empty());
        executed().try_for_each(|text| self.execute(text).map(drop))?;
        let mut differences = Vec::with_capacity(self.rounds);
        for _ in 0..self.rounds {
            let mut taken = [0.0; 2];
            for (taken, text) in taken.iter_mut().zip(executed()) {
                *taken = self.nanoseconds(text)?;
            }
            differences.push((taken[0] - taken[1]) / times);
        }
        let unit = of_rounds(&mut differences);
        if unit.is_none() {
            eprintln!("lost in the noise: {differences:.0?} ns\n{statement}");
        }
        Ok(unit)
    }

    /// CPU time of one execution of a statement, of as many as can be told from the system's clock.
    fn nanoseconds(&mut self, statement: &str) -> Result<f64, String> {
        let begun = self.cpu_us()?;
        let (mut executions, mut taken) = (0, 0.0);
        while taken < LEAST_US && executions < MOST_EXECUTIONS {
            self.execute(statement)?;
            executions += 1;
            taken = self.cpu_us()? - begun;
        }
        Ok(taken * 1000.0 / f64::from(executions))
    }

    fn cpu_us(&self) -> Result<f64, String> {
        process::cpu_us(self.pid).ok_or_else(|| "the server has ended".to_owned())
    }
}

/// The median of what rounds have measured; none if a quarter of them is not above nothing. They are sorted.
fn of_rounds(differences: &mut [f64]) -> Option<f64> {
    differences.sort_by(f64::total_cmp);
    let lower = *differences.get(differences.len() / 4)?;
    let median = *differences.get(differences.len() / 2)?;
    (lower > 0.0).then_some(median)
}

/// The value of a constant in the source.
fn constant(source: &str, name: &str) -> Option<f64> {
    let (_, rest) = source.split_once(&format!("pub const {name}: f64 = "))?;
    rest.split_once(';')?.0.parse().ok()
}

fn print(source: &str, lines: &[(&str, Option<f64>)]) -> Outcome {
    let known = |name: &str| constant(source, name).ok_or_else(|| format!("cost.rs has no constant {name}"));
    let base = known(BASE)?;
    let measured_base = lines.iter().find(|line| line.0 == BASE).and_then(|line| line.1);
    println!("| constant | source, ns | measured, ns | source, rows in order | measured, rows in order |");
    println!("|---|---|---|---|---|");
    for (name, measured) in lines {
        let value = known(name)?;
        let text = |number: Option<f64>, digits: usize| {
            number.map_or_else(|| "not measured".to_owned(), |number| format!("{number:.digits$}"))
        };
        let ratio = measured.zip(measured_base).map(|(measured, base)| measured / base);
        let (source, measured, ratio) = (value / base, text(*measured, 0), text(ratio, 2));
        println!("| {name} | {value:.0} | {measured} | {source:.2} | {ratio} |");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_is_a_constant_of_the_planner() {
        let source = std::fs::read_to_string(root().join("crates/plan/src/cost.rs")).unwrap();
        for unit in UNITS {
            assert!(constant(&source, unit.name).is_some(), "{}", unit.name);
        }
        assert_eq!(constant("pub const A: f64 = 1.5;\n", "A"), Some(1.5));
    }

    #[test]
    fn a_unit_is_the_median_of_its_rounds_or_none() {
        assert_eq!(of_rounds(&mut [30.0, 10.0, 20.0, 900.0, 15.0]), Some(20.0));
        assert_eq!(of_rounds(&mut [-400.0, 10.0, 20.0, 30.0, 40.0]), Some(20.0), "one round was disturbed");
        assert_eq!(of_rounds(&mut [-5.0, -1.0, 20.0, 30.0]), None);
        assert_eq!(of_rounds(&mut []), None);
    }
}
