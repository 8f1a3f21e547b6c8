//! An SQL expression, evaluated by a query processor over an engine in memory: functions, conversions, types.
//!
//! What waits for a time or for others (SLEEP, named locks) is left out; what computes for long is killed.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use palisade_parser::ast::{QueryBody, Statement};
use palisade_parser::{ParseOptions, parse};

use crate::Target;

/// The client of the query processor's own tests.
#[path = "../../../crates/sql/tests/client/mod.rs"]
#[allow(dead_code, reason = "only a part of it is of use here")]
mod client;

use client::{Bench, Client, processor};

pub(crate) const TARGET: Target = Target {
    name: "expression",
    seeds,
    words: &[
        "NULL",
        "'a'",
        "0x00",
        "1.5e300",
        "-1",
        "18446744073709551615",
        "'2024-02-29'",
        "'[1]'",
        "'{\"a\":1}'",
        "'$.a'",
        "CAST(",
        " AS CHAR(3))",
        " AS DECIMAL(65,30))",
        " AS JSON)",
        "CONCAT(",
        "DATE_ADD(",
        "INTERVAL 1 DAY",
        "IF(",
        "CASE WHEN ",
        " COLLATE utf8mb4_bin",
        "_latin1",
        "REGEXP_REPLACE(",
        "JSON_SET(",
        "STR_TO_DATE(",
        " BETWEEN ",
        " IN (",
        " LIKE ",
        " DIV ",
        " % ",
        " << ",
        "REPEAT(",
        "SUBSTRING(",
        "FORMAT(",
        "ROUND(",
        "CONV(",
    ],
    longest: 300,
    run,
};

/// Questions "may I go on?" - about one in a millisecond of work - after which a statement is killed.
const PATIENCE: usize = 300;
/// The longest value that a statement may make.
const PACKET: u64 = 64 << 10;

/// What functions are called with in the golden scripts.
fn seeds() -> Vec<Vec<u8>> {
    let golden = [
        include_str!("../../../tests/golden/functions_string.sql"),
        include_str!("../../../tests/golden/functions_number.sql"),
        include_str!("../../../tests/golden/functions_date.sql"),
        include_str!("../../../tests/golden/functions_other.sql"),
        include_str!("../../../tests/golden/answers_regexp.sql"),
        include_str!("../../../tests/golden/json.sql"),
        include_str!("../../../tests/golden/types_convert.sql"),
    ];
    let lists = golden.iter().flat_map(|file| file.lines()).filter_map(|line| {
        let list = line.strip_prefix("SELECT ")?.strip_suffix(';')?;
        (list.len() < TARGET.longest && is_question(list)).then(|| list.as_bytes().to_vec())
    });
    lists.collect()
}

thread_local! {
    /// One query processor for all inputs of a thread.
    static CLIENT: RefCell<(Client, Arc<Bench>)> = RefCell::new(new_client());
}

fn new_client() -> (Client, Arc<Bench>) {
    let bench = Arc::new(Bench::default());
    let mut client = Client::new(&processor(bench.clone()), 1);
    client.session.state.variables.max_allowed_packet = PACKET;
    client.session.state.variables.max_execution_time = Duration::from_secs(5);
    client.session.state.variables.statement_memory = 64 << 20;
    (client, bench)
}

/// Whether a text is a list of expressions that reads no table and does not wait.
fn is_question(list: &str) -> bool {
    let lower = list.to_ascii_lowercase();
    if ["sleep", "_lock", "wait", "into", "benchmark"].iter().any(|word| lower.contains(word)) {
        return false;
    }
    let parsed = parse(
        format!("SELECT {list}").as_bytes(),
        ParseOptions { placeholders: false, ..ParseOptions::default() },
    );
    let Ok(Statement::Query(query)) = parsed else { return false };
    matches!(&query.body, QueryBody::Select(select) if select.from.is_empty())
}

fn run(input: &[u8]) {
    let Ok(list) = std::str::from_utf8(input) else { return };
    if !is_question(list) {
        return;
    }
    CLIENT.with_borrow_mut(|(client, bench)| {
        *bench.killed_asking.lock().expect("no thread panics with it") =
            Some((client.session.state.kill.clone(), PATIENCE));
        client.session.state.kill.clear_statement();
        let _ = client.answer(&format!("SELECT {list}"));
    });
}
