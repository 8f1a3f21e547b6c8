//! Every function, called with arguments that no reasonable statement has: no panic, no result beyond
//! `max_allowed_packet`, and the same answer whether or not the evaluation had to give way in between.
//!
//! A failure prints its seed and the statement; `PALISADE_SEED` replays it.

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use client::{Bench, Client, processor};
use palisade_base::prng::{Prng, test_seed};

/// `max_allowed_packet` of the session.
const LIMIT: u64 = 1 << 16;
const ROUNDS: usize = 2;

/// Calls that wait, or end the session's locks.
const LEFT_OUT: [&str; 2] = ["sleep", "get_lock"];

const ARGUMENTS: &[&str] = &[
    "NULL",
    "0",
    "1",
    "-1",
    "2",
    "18446744073709551615",
    "-9223372036854775808",
    "9223372036854775807",
    "4294967296",
    "0.5",
    "-0.0",
    "1e308",
    "-1e308",
    "1e-320",
    "99999999999999999999999999999999999999999999999999999999999999999",
    "-0.000000000000000000000000000001",
    "''",
    "'a'",
    "'%'",
    "'$'",
    "'$[*]'",
    "'$**[*]**[*]'",
    "'all'",
    "'[1,[2,{\"a\":[3]}]]'",
    "'{\"a\": 1e308}'",
    "'(a|b)*c'",
    "'2024-02-30'",
    "'0000-00-00'",
    "'9999-12-31 23:59:59.999999'",
    "'838:59:59.9999999'",
    "'-838:59:59'",
    "'+14:00'",
    "'%Y%y%W%a%j%U%%'",
    "'日本語'",
    "'\\0'",
    "x'ff'",
    "x'c328'",
    "x'edA080'",
    "b''",
    "_latin1 x'e9ff'",
    "DATE'0001-01-01'",
    "DATE'9999-12-31'",
    "TIME'-838:59:59'",
    "TIMESTAMP'1970-01-01 00:00:01'",
    "REPEAT('a', 60000)",
    "REPEAT('日', 20000)",
    "REPEAT(x'ff', 65536)",
    "REPEAT('1', 50000)",
    "CONCAT('[', REPEAT('\"a\",', 12000), '1]')",
    "REPEAT('[', 60000)",
    "CAST('[1, \"a\", null]' AS JSON)",
    "RPAD('1e', 60000, '9')",
    "SPACE(65536)",
    "COMPRESS(REPEAT('a', 60000))",
    "x'ffffffff789c'",
];

fn statement(prng: &mut Prng, function: &palisade_expr::func::Function) -> String {
    let least = u64::from(function.least);
    let most = u64::from(function.most).min(least + 4);
    let count = least + prng.below(most - least + 1);
    let arguments: Vec<&str> =
        (0..count).map(|_| ARGUMENTS[prng.below(ARGUMENTS.len() as u64) as usize]).collect();
    format!("SELECT {}({})", function.name, arguments.join(", "))
}

fn client(bench: Arc<Bench>) -> Client {
    let mut client = Client::new(&processor(bench), 1);
    client.session.state.variables.max_allowed_packet = LIMIT;
    client
}

#[test]
fn no_function_takes_more_than_it_may() {
    let seed = test_seed(1);
    let mut prng = Prng::new(seed);
    let mut plain = client(Arc::default());
    let mut giving_way = client(Arc::new(Bench { interrupts: true, ..Bench::default() }));
    for _ in 0..ROUNDS {
        for function in palisade_expr::func::all().filter(|function| !LEFT_OUT.contains(&function.name)) {
            let text = statement(&mut prng, function);
            let expected = plain.answer(&text);
            if let Ok(client::Answer::Rows(rows)) = &expected {
                let longest = rows.iter().flatten().map(String::len).max().unwrap_or(0);
                // a byte that is no text is shown as three
                assert!(longest as u64 <= LIMIT * 3, "seed {seed}: {longest} bytes of {text}");
            }
            let warnings = plain.session.state.warnings.list().to_vec();
            let answer = giving_way.answer(&text);
            if function.purity == palisade_expr::func::Purity::Pure {
                assert_eq!(answer, expected, "seed {seed}: {text}");
                assert_eq!(giving_way.session.state.warnings.list(), warnings, "seed {seed}: {text}");
            }
        }
    }
}

#[test]
fn what_one_expression_does_is_done_once_although_it_gives_way() {
    let bench = Arc::new(Bench { interrupts: true, ..Bench::default() });
    let mut client = client(bench.clone());
    client.session.state.variables.max_allowed_packet = 64 << 20;
    client.run("SET @a = 1");
    let long = "LENGTH(REPEAT('ab', 2000000))";
    assert_eq!(client.run(&format!("SELECT (@a := @a + 1) + 0 * {long}")), "2");
    assert_eq!(client.run("SELECT @a"), "2");
    client.run(&format!("SET @b = (@a := @a + 1) + 0 * {long}"));
    assert_eq!(client.run("SELECT @a"), "3");
    client.run(&format!("SELECT CAST('x' AS SIGNED) + 0 * {long}"));
    assert_eq!(client.session.state.warnings.list().len(), 1);
    client.run(&format!("SELECT (@a := CAST('x' AS SIGNED)) + 0 * {long}"));
    // The other is that := is deprecated here.
    assert_eq!(client.session.state.warnings.list().len(), 2);
    assert!(bench.refused.load(Relaxed) > 0);
    assert!(client.run(&format!("SELECT RAND(3) + 0 * {long}")).starts_with("0.90"));
    // What is read before it is changed stays what it was.
    client.run("SET @a = 1");
    let read_first = format!("SELECT CONCAT(@a, ' ', @a := 5, ' ', @a + 0 * {long})");
    assert_eq!(client.run(&read_first), "1 5 5");
    client.session.state.last_insert_id = 7;
    let counted =
        format!("SELECT CONCAT(LAST_INSERT_ID(), LAST_INSERT_ID(LAST_INSERT_ID() + 1) + 0 * {long})");
    assert_eq!(client.run(&counted), "78");
    assert_eq!(client.run("SELECT LAST_INSERT_ID()"), "8");
}

#[test]
fn a_benchmark_does_each_of_its_turns_once_although_it_gives_way() {
    let bench = Arc::new(Bench { interrupts: true, ..Bench::default() });
    let mut client = client(bench.clone());
    client.run("SET @a = 0");
    bench.patience.store(0, Relaxed);
    assert_eq!(client.run("SELECT BENCHMARK(100000, @a := @a + 1)"), "0");
    assert_eq!(client.run("SELECT @a"), "100000");
    bench.patience.store(0, Relaxed);
    assert_eq!(client.run("SELECT BENCHMARK(60000, CAST('x' AS SIGNED)), @a := @a + 1"), "0 100001");
    assert_eq!(client.session.state.warnings.count(), 60_001, "the other is that := is deprecated here");
    bench.patience.store(0, Relaxed);
    let nested =
        "SELECT BENCHMARK(@a := @a - 99999, BENCHMARK(30000, @a := @a + 1)), BENCHMARK(3, @a := @a + 1)";
    assert_eq!(client.run(nested), "0 0");
    assert_eq!(client.run("SELECT @a"), "60005");
    assert!(bench.refused.load(Relaxed) >= 3);
    *bench.killed_asking.lock().unwrap() = Some((client.session.state.kill.clone(), 2));
    let begun = bench.questions.load(Relaxed);
    let error = client.answer("SELECT BENCHMARK(1000000000, 1)").unwrap_err();
    assert_eq!((error.number(), bench.questions.load(Relaxed) - begun), (1317, 2));
}

#[test]
fn the_user_variables_of_a_session_are_bounded() {
    let mut client = client(Arc::default());
    client.session.state.variables.max_allowed_packet = 64 << 20;
    for name in ["a", "b", "c", "d"] {
        let _ = client.answer(&format!("SET @{name} = REPEAT('a', 60000000)"));
    }
    let error = client.answer("SET @e = REPEAT('a', 60000000)").unwrap_err();
    assert_eq!(error.number(), 1037);
    client.run("SET @a = NULL");
    client.run("SET @e = REPEAT('a', 50000000)");
    assert_eq!(client.run("SELECT LENGTH(@e)"), "50000000");
}
