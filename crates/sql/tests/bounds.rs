//! What a function builds is bounded: each is called with arguments as long as `max_allowed_packet`, under an
//! allocator that keeps the peak.
//!
//! A function that makes its result before it looks how long it is shows here: CONCAT of twenty arguments
//! would hold twenty packets. What a document becomes as a tree is bounded by its text, too, but at another
//! rate.

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;

use client::{Answer, Client, processor};
use palisade_expr::func::Function;
use palisade_io::heap::{self, Counted, Gauged};

#[global_allocator]
static HEAP: Gauged<std::alloc::System> = Counted(std::alloc::System);

/// `max_allowed_packet` of the session.
const PACKET: usize = 1 << 16;
/// How many packets a call may hold beside its arguments.
const PACKETS: usize = 6;
/// The same for each argument that is a document of small values: an array of one value takes 160 bytes, its
/// text four; and some functions hold two trees.
const PACKETS_OF_TREE: usize = 90;
/// What every statement takes.
const FIXED: usize = 256 << 10;
/// Bytes that a compiled pattern may take, and the tree it is compiled from.
const PATTERN: usize = 48 << 20;

/// Calls that wait, or are made again and again.
const LEFT_OUT: [&str; 3] = ["benchmark", "sleep", "get_lock"];

/// Long arguments: how each is made, and how many packets a tree of it takes more than its text.
const LONG: &[(&str, &str)] = &[
    ("letters", "REPEAT('a', 65536)"),
    ("zeros", "REPEAT(x'00', 65536)"),
    ("backslashes", "REPEAT('\\\\', 65536)"),
    ("wide", "REPEAT('日', 21845)"),
    ("digits", "REPEAT('7', 65536)"),
    ("spaces", "SPACE(65536)"),
    ("commas", "REPEAT('a,', 32768)"),
    ("array", "CONCAT('[', REPEAT('1,', 32766), '1]')"),
    ("strings", "CONCAT('[', REPEAT('\"a\",', 16382), '1]')"),
    ("string", "CONCAT('\"', REPEAT('a', 65534), '\"')"),
    ("object", "CONCAT('{', REPEAT('\"a\":1,', 10921), '\"b\":1}')"),
    ("arrays", "CONCAT('[', REPEAT('[1],', 16382), '1]')"),
];

/// What stands in the other places of a call.
const SHORT: &[&str] = &["1", "'$'", "'$[*]'", "'all'", "65536"];

fn start() -> Client {
    let mut client = Client::new(&processor(Arc::default()), 1);
    client.session.state.variables.max_allowed_packet = PACKET as u64;
    for (name, text) in LONG {
        client.run(&format!("SET @{name} = {text}"));
        let length = client.run(&format!("SELECT LENGTH(@{name})")).parse::<usize>().unwrap();
        assert!(length <= PACKET && length > PACKET - 8, "{name}: {length}");
    }
    client
}

/// The bytes that a statement held at most, and the length of what it answered.
fn peak(client: &mut Client, text: &str) -> (usize, usize) {
    let before = heap::held();
    heap::take_peak();
    let answer = client.answer(text);
    let peak = heap::take_peak() - before;
    let length = match &answer {
        Ok(Answer::Rows(rows)) => rows.iter().flatten().map(String::len).max().unwrap_or(0),
        _ => 0,
    };
    (usize::try_from(peak).unwrap_or(0), length)
}

fn is_regexp(function: &Function) -> bool {
    function.name.starts_with("regexp")
}

/// A call of a function.
struct Call {
    text: String,
    /// How many of its arguments are long.
    long_arguments: usize,
    /// Whether these are documents.
    is_tree: bool,
}

/// Calls of a function with a long argument in one place, or in all.
fn calls(function: &Function) -> Vec<Call> {
    let least = usize::from(function.least);
    let most = usize::from(function.most).min(least + 3);
    let mut calls = Vec::new();
    for count in if least == most { vec![least] } else { vec![least, most] } {
        // to compile a pattern takes long
        let long = if is_regexp(function) { &LONG[..2] } else { LONG };
        for (name, _) in long {
            let is_tree = matches!(*name, "array" | "strings" | "object" | "arrays");
            let mut add = |arguments: Vec<String>, long_arguments: usize| {
                let text = format!("SELECT {}({})", function.name, arguments.join(", "));
                calls.push(Call { text, long_arguments, is_tree });
            };
            add(vec![format!("@{name}"); count], count);
            for place in 0..count {
                let short = SHORT[place % SHORT.len()];
                let argument = |other| if other == place { format!("@{name}") } else { short.to_owned() };
                add((0..count).map(argument).collect(), 1);
            }
        }
    }
    calls
}

/// Whether a call holds more than it may: how many times as much.
fn share(call: &Call, function: &Function, (peak, length): (usize, usize)) -> f64 {
    // what the test makes of the answer, to compare it, is on the account as well
    let own = peak.saturating_sub(call.long_arguments * PACKET + 3 * length) as f64;
    let packets = if call.is_tree { PACKETS_OF_TREE } else { PACKETS };
    let fixed = if is_regexp(function) { PATTERN } else { FIXED };
    own / (packets * call.long_arguments.max(1) * PACKET + fixed) as f64
}

#[test]
fn no_function_builds_more_than_a_few_packets() {
    let mut client = start();
    let mut beyond = Vec::new();
    for function in palisade_expr::func::all().filter(|function| !LEFT_OUT.contains(&function.name)) {
        for call in calls(function) {
            let share = share(&call, function, peak(&mut client, &call.text));
            if share > 1.0 {
                beyond.push(format!("{share:.1} times: {}", call.text));
                break;
            }
        }
    }
    assert!(beyond.is_empty(), "{beyond:#?}");
}

/// What the test above looks for is found: forty packets in one expression, as a function would hold them
/// that joins its arguments before it looks.
#[test]
fn what_holds_many_packets_is_seen() {
    let mut client = start();
    let (peak, _) = peak(&mut client, &format!("SELECT LENGTH(CONCAT({}))", ["@letters"; 40].join(", ")));
    assert!(peak > 40 * PACKET, "{peak}");
    let function = palisade_expr::func::find("concat").unwrap();
    let call = Call { text: String::new(), long_arguments: 1, is_tree: false };
    assert!(share(&call, function, (peak, 0)) > 1.0);
}

#[test]
fn a_statement_ends_when_it_holds_too_much() {
    let mut client = start();
    client.session.state.variables.max_allowed_packet = 16 << 20;
    client.session.state.variables.statement_memory = 32 << 20;
    let long = "REPEAT('a', 5000000)";
    let column = |count: usize| format!("SELECT {}", vec![long; count].join(", "));
    assert!(client.run(&column(2)).starts_with("aaaa"));
    for statement in [
        column(12),
        format!("SELECT LENGTH(CONCAT_WS({}))", [long; 12].join(", ")),
        format!("SELECT 1 WHERE {}", nested(12, long)),
        format!("SELECT 1 FROM (SELECT 1) t ORDER BY {}", [long; 12].join(", ")),
        format!("SELECT 1 FROM (SELECT 1) t GROUP BY {}", [long; 12].join(", ")),
        format!("SELECT 1 IN ({})", vec!["1"; 400_000].join(", ")),
        format!("VALUES {}", vec!["ROW(1)"; 200_000].join(", ")),
        format!("SELECT {}", vec!["1"; 400_000].join(", ")),
        format!("CREATE TABLE d.t (a INT, {})", vec!["INDEX (a)"; 300_000].join(", ")),
        format!("CREATE USER {}", vec!["a"; 400_000].join(", ")),
        format!(
            "CREATE TABLE d.t (a INT) PARTITION BY HASH (a) ({})",
            vec!["PARTITION p"; 800_000].join(", ")
        ),
        format!("ALTER TABLE d.t {}", vec!["ADD INDEX (a)"; 300_000].join(", ")),
        "SELECT JSON_LENGTH(CONCAT('[', REPEAT('[1],', 1000000), '1]'))".to_owned(),
    ] {
        let before = heap::held();
        heap::take_peak();
        let error = client.answer(&statement).unwrap_err();
        let peak = heap::take_peak() - before;
        let shown = &statement[..statement.len().min(60)];
        assert_eq!(error.number(), 1037, "{shown}: {error}");
        // it is looked at when a list has been doubled, which is there twice meanwhile
        assert!(peak < 100 << 20, "{shown}: {peak}");
    }
    assert_eq!(client.run("SELECT LENGTH(@letters)"), PACKET.to_string());
}

/// Each column is compared with those before it, so that too many would take minutes.
#[test]
fn a_table_of_too_many_columns_is_refused_before_they_are_looked_at() {
    let mut client = start();
    client.session.state.variables.max_allowed_packet = 16 << 20;
    client.session.state.variables.statement_memory = 1 << 30;
    client.run("CREATE DATABASE wide");
    let columns: Vec<String> = (0..100_000).map(|number| format!("c{number} INT")).collect();
    let error = client.answer(&format!("CREATE TABLE wide.t ({})", columns.join(", "))).unwrap_err();
    assert_eq!(error.number(), 1117, "{error}");
}

/// Comparisons of long values one within the other.
fn nested(depth: usize, long: &str) -> String {
    (0..depth).fold("1".to_owned(), |inner, _| format!("STRCMP({long}, {inner})"))
}
