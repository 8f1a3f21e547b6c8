//! Texts nobody would write: deep, huge, broken. None may panic, overflow the stack or take long.

mod common;

use palisade_base::prng::{Prng, test_seed};
use palisade_parser::ast::{MOST_COLUMNS, QueryBody, SelectItem, Statement};
use palisade_parser::digest::{PlanKey, digest_text};
use palisade_parser::{ParseOptions, parse};
use std::time::Instant;

fn parses(text: &str) -> bool {
    parse(text.as_bytes(), ParseOptions::default()).is_ok()
}

#[test]
fn nesting_has_a_limit_and_no_stack_overflow() {
    for (open, middle, close) in [
        ("(", "1", ")"),
        ("(SELECT ", "1", ")"),
        ("f(", "1", ")"),
        ("- ", "1", ""),
        ("NOT ", "1", ""),
        ("CASE WHEN ", "1", " THEN 1 END"),
        ("1 = (", "1", ")"),
        ("1 OR 1 XOR 1 AND 1 = 1 | 1 & 1 << 1 + 1 * 1 ^ (", "1", ")"),
        ("a IN (1, ", "1", ")"),
        ("a BETWEEN 1 AND a BETWEEN 1 AND ", "1", ""),
        ("INTERVAL(1, ", "1", ")"),
        ("@a := ", "1", ""),
        ("EXISTS (SELECT 1 FROM t WHERE ", "1", ")"),
        ("BINARY ", "1", ""),
        ("CAST(", "1", " AS SIGNED)"),
        ("{d ", "1", "}"),
    ] {
        for depth in [12, 10_000, 100_000] {
            let text = format!("SELECT {}{middle}{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(parses(&text), depth == 12, "{open} {depth}");
        }
    }
    for (open, middle, close) in [("(", "t", ")"), ("(SELECT * FROM ", "t", ") x"), ("{ OJ ", "t", "}")] {
        for depth in [20, 10_000] {
            let text = format!("SELECT * FROM {}{middle}{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(parses(&text), depth == 20, "{open} {depth}");
        }
    }
    for depth in [20, 10_000] {
        assert_eq!(parses(&format!("{}SELECT 1{}", "(".repeat(depth), ")".repeat(depth))), depth == 20);
        assert!(!parses(&"SHOW PARSE_TREE ".repeat(depth)));
        let nested = "NESTED PATH '$' COLUMNS (".repeat(depth);
        let text = format!(
            "SELECT * FROM JSON_TABLE(a, '$' COLUMNS ({nested}b FOR ORDINALITY{})) t",
            ")".repeat(depth)
        );
        assert_eq!(parses(&text), depth == 20);
    }
}

#[test]
fn long_chains_are_flat_or_have_a_limit() {
    for (operator, terms, ok) in
        [(" OR a = ", 50_000, true), (" AND a = ", 50_000, true), (" + ", 100, true), (" + ", 10_000, false)]
    {
        let text = format!("SELECT a = 1{}", format!("{operator}1").repeat(terms));
        assert_eq!(parses(&text), ok, "{operator} {terms}");
    }
    assert!(parses(&format!("SELECT 1{}", " UNION ALL SELECT 1".repeat(20_000))));
    assert!(parses(&format!("SELECT * FROM t{}", " JOIN t".repeat(60))));
    assert!(!parses(&format!("SELECT * FROM t{}", " JOIN t".repeat(10_000))));
    assert!(!parses(&format!("SELECT a{}", " COLLATE b".repeat(10_000))));
}

#[test]
fn a_statement_of_sixteen_mebibytes_takes_seconds_at_most() {
    let row = ",(1,'abcdefghijklmnopqrstuvwxyz',2.5,NULL)";
    let insert = format!("INSERT INTO t VALUES (1,'',2,NULL){}", row.repeat((16 << 20) / row.len()));
    let started = Instant::now();
    assert!(parses(&insert));
    let string = format!("INSERT INTO t VALUES ('{}')", "a\\'".repeat((16 << 20) / 3));
    assert!(parses(&string));
    let comments = format!("SELECT /*!99999 {} */ 1", "/* x */".repeat((16 << 20) / 7));
    assert!(parses(&comments));
    let mut out = Vec::new();
    digest_text(insert.as_bytes(), &ParseOptions::default(), 1024, &mut out);
    assert_eq!(out, b"INSERT INTO `t` VALUES (...) /* , ... */");
    assert!(!PlanKey::new().read(insert.as_bytes(), &ParseOptions::default()));
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}

#[test]
fn bytes_that_are_not_utf8_are_welcome_in_strings_and_errors_elsewhere() {
    assert!(parse(b"INSERT INTO t VALUES (_binary'\\0\xff\\'', '\xfe')", ParseOptions::default()).is_ok());
    assert!(parse(b"SELECT 1 /* \xff */ -- \xfe", ParseOptions::default()).is_ok());
    assert!(parse(b"SELECT \xff FROM t", ParseOptions::default()).is_err());
    assert!(parse(b"SELECT `\xff` FROM t", ParseOptions::default()).is_err());
    assert!(parse(b"SELECT @\xff", ParseOptions::default()).is_err());
    assert!(parse("SELECT é, `日本` FROM t".as_bytes(), ParseOptions::default()).is_ok());
    assert!(parse(b"COMMIT\0", ParseOptions::default()).is_ok());
}

/// Statements cut, spliced and sprinkled with bytes: an error or a tree, which prints, but never a panic. What parses and
/// is keyed has a key that parses.
#[test]
fn broken_statements_do_not_panic() {
    let seed = test_seed(20_261_121);
    println!("seed {seed}");
    let mut prng = Prng::new(seed);
    let corpus: Vec<Vec<u8>> = common::FILES
        .iter()
        .flat_map(|file| common::statements(file))
        .filter(|statement| statement.len() < 2000)
        .map(String::into_bytes)
        .collect();
    let mut key = PlanKey::new();
    let mut digest = Vec::new();
    for _ in 0..20_000 {
        let mut text = prng.pick(&corpus).clone();
        for _ in 0..=prng.below(3) {
            mutate(&mut prng, &mut text, &corpus);
        }
        let options = ParseOptions {
            ansi_quotes: prng.one_in(4),
            pipes_as_concat: prng.one_in(4),
            no_backslash_escapes: prng.one_in(4),
            ignore_space: prng.one_in(4),
            high_not_precedence: prng.one_in(4),
            ..ParseOptions::default()
        };
        let parsed = common::parse_all(&text, options);
        if let Ok(statements) = &parsed {
            for statement in statements {
                if let palisade_parser::ast::Statement::Query(query) = statement {
                    let _ = query.to_string();
                }
            }
        }
        digest_text(&text, &options, 200, &mut digest);
        if key.read(&text, &options) {
            for parameter in key.parameters() {
                let _ = parameter.value(&text, &options);
            }
            let first = &text[..key.next_statement().unwrap_or(text.len())];
            let keyed = parse(key.text(), options);
            if let Ok(plain) = parse(first, options) {
                let keyed = keyed.unwrap_or_else(|error| panic!("{}\n{error}", first.escape_ascii()));
                assert_same(&plain, &keyed, &key, &text, &options);
            }
        }
    }
}

/// A statement is its key with the parameters put back.
fn assert_same(plain: &Statement, keyed: &Statement, key: &PlanKey, text: &[u8], options: &ParseOptions) {
    let mut printed = format!("{keyed:?}");
    for (index, parameter) in key.parameters().iter().enumerate() {
        let text = format!("SELECT {}", String::from_utf8_lossy(&text[parameter.start..parameter.end]));
        if text.contains('\u{fffd}') {
            return;
        }
        let Ok(Statement::Query(query)) = parse(text.as_bytes(), *options) else { panic!("{text}") };
        let QueryBody::Select(select) = query.body else { panic!("{text}") };
        let [SelectItem::Expr { expr, .. }] = &select.items[..] else { panic!("{text}") };
        let value = if parameter.negative { format!("Unary(Minus, {expr:?})") } else { format!("{expr:?}") };
        printed = printed.replace(&format!("Placeholder({index})"), &value);
    }
    // Comments in a select list are part of a column's name, but not of a key.
    if !text.windows(2).any(|two| matches!(two, b"/*" | b"--")) && !text.contains(&b'#') {
        assert_eq!(printed, format!("{plain:?}"), "{}", text.escape_ascii());
    }
}

fn mutate(prng: &mut Prng, text: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let at = prng.below(text.len() as u64 + 1) as usize;
    match prng.below(6) {
        0 => text.truncate(at),
        1 => drop(text.drain(..at)),
        2 => text.insert(at, prng.next_u64() as u8),
        3 => text.insert(at, *prng.pick(b"'\"`()@;,.*/-#?\\\0xbn0!<>=")),
        4 => {
            let other = prng.pick(corpus);
            let from = prng.below(other.len() as u64 + 1) as usize;
            let tail = text.split_off(at);
            text.extend_from_slice(&other[from..]);
            text.extend_from_slice(&tail);
            text.truncate(4000);
        }
        _ => {
            let until = (at + prng.below(8) as usize).min(text.len());
            drop(text.drain(at..until));
        }
    }
}

/// A list of columns that no table has is not kept whole: freeing it would take as long as reading it.
#[test]
fn of_columns_that_no_table_has_so_many_of_few_are_kept() {
    let columns = |count: usize| {
        let list: Vec<String> = (0..count).map(|at| format!("c{at} INT")).collect();
        let text = format!("CREATE TABLE t ({}, KEY (c0))", list.join(","));
        match parse(text.as_bytes(), ParseOptions::default()).unwrap() {
            Statement::CreateTable(table) => (table.columns.len(), table.constraints.len()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(columns(MOST_COLUMNS - 1), (MOST_COLUMNS - 1, 1));
    assert_eq!(columns(100_000), (MOST_COLUMNS, 1));
}
