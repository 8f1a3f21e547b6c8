//! What is added up, joined and sent a batch at a time is what comes row by row: a scan that locks its rows
//! is read so.

// a part of it is used
#[allow(dead_code)]
mod client;

use std::sync::Arc;

use client::{Client, processor};
use palisade_base::prng::{Prng, test_seed};

const ROWS: u64 = 3000;

fn or_null(prng: &mut Prng, value: String) -> String {
    if prng.one_in(7) { "NULL".to_owned() } else { value }
}

/// A table whose numbers come near the ends of their types.
fn filled(prng: &mut Prng) -> Client {
    let mut client = Client::new(&processor(Arc::default()), 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run(
        "CREATE TABLE t (id INT PRIMARY KEY, y TINYINT, i INT, u INT UNSIGNED NOT NULL, b BIGINT, v BIGINT UNSIGNED, \
         x DECIMAL(9,2), w DECIMAL(18,4), n DECIMAL(25,4) UNSIGNED, f DOUBLE, r FLOAT, g DATE, m DATETIME(3), \
         e ENUM('p','q','r'), c CHAR(1) NOT NULL, s VARCHAR(30), k VARCHAR(30) COLLATE utf8mb4_bin)",
    );
    let mut rows = Vec::new();
    for id in 0..ROWS {
        let big = prng.next_u64() as i64 >> (prng.below(50) + 8);
        let cells = [
            (prng.below(256) as i64 - 128).to_string(),
            (prng.below(60) as i64 - 30).to_string(),
            prng.below(1 << 32).to_string(),
            big.to_string(),
            prng.next_u64().checked_shr(prng.below(60) as u32).unwrap_or(0).to_string(),
            format!("{}.{:02}", prng.below(2000) as i64 - 1000, prng.below(100)),
            format!("{}.{:04}", big >> 12, prng.below(10_000)),
            format!("{}.5", prng.below(1 << 40)),
            format!("{}e-2", big >> 20),
            format!("{}.25", prng.below(100)),
            format!("'2020-{:02}-{:02}'", 1 + prng.below(12), 1 + prng.below(28)),
            format!("'2020-01-{:02} 10:00:00.{:03}'", 1 + prng.below(28), prng.below(1000)),
            format!("'{}'", prng.pick(&["p", "q", "r"])),
            format!("'{}'", prng.pick(&["a", "A", "b", "", "\u{e4}"])),
            format!("'{}'", prng.pick(&["", "a", "A", "ab", "a longer text than sixteen", "B"])),
            format!("'{}'", prng.pick(&["", "a", "A", "ab ", "ab", "B"])),
        ];
        let mut place = 0;
        let cells = cells.map(|value| {
            place += 1;
            if matches!(place, 3 | 14) { value } else { or_null(prng, value) }
        });
        rows.push(format!("({id}, {})", cells.join(", ")));
    }
    for part in rows.chunks(500) {
        assert_eq!(client.run(&format!("INSERT INTO t VALUES {}", part.join(", "))), "500 affected");
    }
    client
}

fn some(prng: &mut Prng, from: &[&str], most: u64) -> Vec<String> {
    (0..=prng.below(most)).map(|_| (*prng.pick(from)).to_owned()).collect()
}

fn statement(prng: &mut Prng) -> String {
    let numbers = ["y", "i", "u", "b", "v", "x", "w", "n", "f", "r", "id"];
    let mut aggregates = vec!["COUNT(*)".to_owned(), "COUNT(1)".to_owned(), "COUNT(s)".to_owned()];
    for _ in 0..6 {
        let (one, other) = (prng.pick(&numbers), prng.pick(&numbers));
        let operator = prng.pick(&["+", "-", "*"]);
        let sum = match prng.below(4) {
            0 => (*one).to_owned(),
            1 => format!("{one} {operator} {other}"),
            2 => format!("{one} {operator} {}", prng.pick(&["1", "-2.50", "3e0", "NULL"])),
            _ => format!("{one} * (1 - {other}) * (1 + {one})"),
        };
        let function = prng.pick(&["SUM", "AVG", "COUNT", "MIN", "MAX", "STD"]);
        aggregates.push(format!("{function}({sum})"));
        let column =
            prng.pick(&["y", "i", "u", "b", "v", "x", "w", "n", "f", "r", "g", "m", "e", "c", "s", "k"]);
        let function = prng.pick(&["MIN(", "MAX(", "COUNT(", "COUNT(DISTINCT ", "BIT_XOR("]);
        aggregates.push(format!("{function}{column})"));
    }
    let aggregates: Vec<&str> = aggregates.iter().map(String::as_str).collect();
    let list = some(prng, &aggregates, 5).join(", ");
    let conditions =
        ["i > 3", "x < 500", "c = 'a'", "g >= '2020-06-01'", "s LIKE '%a%'", "i + 1 > 3", "id > 900"];
    let filter = match prng.one_in(3) {
        true => String::new(),
        false => format!(" WHERE {}", some(prng, &conditions, 2).join(" AND ")),
    };
    let keys = ["i", "y", "x", "g", "e", "c", "s", "k", "u", "id", "m", "f", "n"];
    match prng.below(3) {
        0 => format!("SELECT {list} FROM t{filter}"),
        _ => {
            let keys = some(prng, &keys, 3).join(", ");
            format!("SELECT {keys}, {list} FROM t{filter} GROUP BY {keys}")
        }
    }
}

/// What a statement answers, warns of, and examines.
fn outcome(client: &mut Client, text: &str) -> (String, String, u64) {
    let examined = client.session.work.rows_examined;
    let answer = client.run(text);
    (answer, client.run("SHOW WARNINGS"), client.session.work.rows_examined - examined)
}

#[track_caller]
fn agree(client: &mut Client, text: &str) -> String {
    let in_batches = outcome(client, text);
    let row_by_row = outcome(client, &format!("{text} FOR SHARE"));
    assert_eq!(in_batches, row_by_row, "{text}");
    in_batches.0
}

#[test]
fn batches_add_up_to_what_rows_do() {
    let seed = test_seed(31);
    let mut prng = Prng::new(seed);
    let mut client = filled(&mut prng);
    let mut failed = 0;
    for _ in 0..300 {
        let answer = agree(&mut client, &statement(&mut prng));
        failed += usize::from(answer.contains("out of range"));
    }
    assert!((1..150).contains(&failed), "{failed} statements failed");
}

/// The rows of `t` in another order: those of a group lie together.
fn filled_in_groups(prng: &mut Prng) -> Client {
    let mut client = filled(prng);
    client.run(
        "CREATE TABLE o (i INT NOT NULL, s VARCHAR(30) NOT NULL, id INT NOT NULL, y TINYINT, x DECIMAL(9,2), \
         w DECIMAL(18,4), f DOUBLE, g DATE, c CHAR(1), PRIMARY KEY (i, s, id))",
    );
    let copy = "INSERT INTO o SELECT IFNULL(i, 99), IFNULL(s, ''), id, y, x, w, f, g, c FROM t";
    assert_eq!(client.run(copy), format!("{ROWS} affected"));
    client.run("ANALYZE TABLE t, o");
    client
}

/// The same of a statement that may end early: a plan that locks its rows may have to read all of them.
#[track_caller]
fn agree_on(client: &mut Client, text: &str, limit: &str) {
    let (answer, warnings, examined) = outcome(client, &format!("{text}{limit}"));
    let (other_answer, other_warnings, other_examined) = outcome(client, &format!("{text}{limit} FOR SHARE"));
    assert_eq!((answer, warnings), (other_answer, other_warnings), "{text}{limit}");
    let is_alike = if limit.is_empty() { examined == other_examined } else { examined <= other_examined };
    assert!(is_alike, "{text}{limit}: {examined}, {other_examined}");
}

fn limit(prng: &mut Prng) -> String {
    if prng.one_in(3) { format!(" LIMIT {}", prng.below(40)) } else { String::new() }
}

#[test]
fn groups_in_the_order_of_a_key_are_those_of_their_rows() {
    let mut prng = Prng::new(test_seed(34));
    let mut client = filled_in_groups(&mut prng);
    let plan = client.run("EXPLAIN FORMAT=TREE SELECT i, SUM(x) FROM o GROUP BY i");
    assert!(plan.contains("Group aggregate"), "{plan}");
    for _ in 0..200 {
        let aggregates = [
            "COUNT(*)",
            "COUNT(x)",
            "SUM(x)",
            "SUM(x * y)",
            "AVG(w)",
            "SUM(f)",
            "MIN(g)",
            "MAX(g)",
            "MAX(x)",
            "MIN(y)",
            "MAX(c)",
            "COUNT(DISTINCT c)",
            "SUM(w * w)",
            "BIT_XOR(id)",
            "STD(y)",
        ];
        let list = some(&mut prng, &aggregates, 4).join(", ");
        let keys = *prng.pick(&["i", "i, s", "i, s, id"]);
        let conditions = ["x > 0", "g >= '2020-06-01'", "c = 'a'", "id > 900", "y + 1 > 3"];
        let filter = match prng.one_in(2) {
            true => String::new(),
            false => format!(" WHERE {}", some(&mut prng, &conditions, 1).join(" AND ")),
        };
        let limit = limit(&mut prng);
        agree_on(&mut client, &format!("SELECT {keys}, {list} FROM o{filter} GROUP BY {keys}"), &limit);
    }
}

#[test]
fn joins_by_hash_of_batches_give_the_pairs_of_their_rows() {
    let mut prng = Prng::new(test_seed(35));
    let mut client = filled_in_groups(&mut prng);
    client.run("CREATE TABLE p (n INT, q VARCHAR(30), v BIGINT UNSIGNED, d INT NOT NULL)");
    let rows: Vec<String> = (0..60)
        .map(|row| {
            let number = (row % 12) as i64 - 6;
            let text = *prng.pick(&["''", "'a'", "'AB'", "'b'", "'a longer text than sixteen'", "NULL"]);
            format!("({}, {text}, {}, {row})", or_null(&mut prng, number.to_string()), number.unsigned_abs())
        })
        .collect();
    client.run(&format!("INSERT INTO p VALUES {}", rows.join(", ")));
    client.run("ANALYZE TABLE p");
    let plan = client.run("EXPLAIN FORMAT=TREE SELECT COUNT(*) FROM t JOIN p ON t.i = p.n WHERE t.x > 0");
    assert!(plan.contains("hash join"), "{plan}");
    for _ in 0..200 {
        let on = *prng.pick(&[
            "t.i = p.n",
            "t.s = p.q",
            "t.i = p.n AND t.s = p.q",
            "t.v = p.v",
            "t.u = p.d",
            "t.y = p.n AND t.x > p.d",
            "t.b = p.v",
            "t.i = p.n AND p.d > 50",
        ]);
        let filter = *prng.pick(&["TRUE", "t.x > 0", "t.c = 'a' AND t.g >= '2020-06-01'", "t.id % 3 = 0"]);
        let text = match prng.below(5) {
            0 => format!("SELECT t.id, p.d FROM t JOIN p ON {on} WHERE {filter}"),
            1 => format!("SELECT t.id, p.d FROM t LEFT JOIN p ON {on} WHERE {filter}"),
            2 => format!("SELECT t.id, t.s FROM t WHERE {filter} AND EXISTS (SELECT * FROM p WHERE {on})"),
            3 => {
                format!("SELECT t.id, t.s FROM t WHERE {filter} AND NOT EXISTS (SELECT * FROM p WHERE {on})")
            }
            _ => format!("SELECT t.c, COUNT(*), SUM(p.d) FROM t JOIN p ON {on} WHERE {filter} GROUP BY t.c"),
        };
        let limit = limit(&mut prng);
        agree_on(&mut client, &text, &limit);
    }
}

#[test]
fn rows_that_pass_a_filter_are_sent_as_they_are() {
    let mut prng = Prng::new(test_seed(36));
    let mut client = filled_in_groups(&mut prng);
    client.run("UPDATE t SET s = REPEAT('x', 30) WHERE id % 400 = 7");
    client.run("ALTER TABLE t ADD COLUMN z INT DEFAULT 7, ALGORITHM=INSTANT");
    client.run("UPDATE t SET z = id % 10 WHERE id % 3 = 0");
    for _ in 0..200 {
        let columns = some(&mut prng, &["id", "s", "x", "g", "m", "e", "c", "k", "f", "z"], 4).join(", ");
        let conditions = [
            "i > 3",
            "x < 500",
            "c = 'a'",
            "g >= '2020-06-01'",
            "s LIKE '%a%'",
            "id > 900",
            "z < 5",
            "x IS NULL",
        ];
        let filter = some(&mut prng, &conditions, 2).join(" AND ");
        let limit = limit(&mut prng);
        agree_on(&mut client, &format!("SELECT {columns} FROM t WHERE {filter}"), &limit);
    }
}

#[test]
fn sorts_of_batches_give_the_order_of_their_rows() {
    let mut prng = Prng::new(test_seed(37));
    let mut client = filled(&mut prng);
    client.run("ALTER TABLE t ADD COLUMN z INT DEFAULT 7, ALGORITHM=INSTANT");
    client.run("UPDATE t SET z = id % 10 WHERE id % 3 = 0 AND id < 1000");
    client.run("ANALYZE TABLE t");
    let in_memory = client.session.state.variables.operator_memory;
    for number in 0..300 {
        let columns = some(&mut prng, &["id", "s", "x", "g", "m", "e", "c", "k", "f", "z"], 4).join(", ");
        let keys = ["y", "i", "u", "b", "v", "x", "w", "n", "f", "r", "g", "m", "e", "c", "s", "z", "i + y"];
        let keys: Vec<String> = some(&mut prng, &keys, 3)
            .into_iter()
            .map(|key| if prng.one_in(3) { format!("{key} DESC") } else { key })
            .collect();
        let conditions =
            ["i > 3", "x < 500", "c = 'a'", "g >= '2020-06-01'", "id > 900", "z < 5", "i + y > 3"];
        let filter = match prng.one_in(2) {
            true => String::new(),
            false => format!(" WHERE {}", some(&mut prng, &conditions, 1).join(" AND ")),
        };
        let distinct = if prng.one_in(5) { "DISTINCT " } else { "" };
        let limit = match prng.below(3) {
            0 => String::new(),
            1 => format!(" LIMIT {}", prng.below(40)),
            _ => format!(" LIMIT {}, 5", prng.below(2000)),
        };
        let variables = &mut client.session.state.variables;
        // Every other sort goes to files.
        (variables.operator_memory, variables.sort_buffer_size) =
            if number % 2 == 0 { (in_memory, 256 << 10) } else { (0, 32 << 10) };
        let keys = keys.join(", ");
        let list = if distinct.is_empty() { columns } else { keys.replace(" DESC", "") };
        agree_on(&mut client, &format!("SELECT {distinct}{list} FROM t{filter} ORDER BY {keys}"), &limit);
    }
}

#[test]
fn unions_of_batches_add_up_to_what_their_rows_do() {
    let mut prng = Prng::new(test_seed(38));
    let mut client = filled_in_groups(&mut prng);
    client.run("UPDATE t SET s = REPEAT('x', 30) WHERE id % 400 = 7");
    let columns = ["i", "s", "y", "x", "w", "f", "g", "c"];
    for _ in 0..200 {
        let inputs: Vec<String> = (0..2 + prng.below(3))
            .map(|_| {
                let list = columns.map(|column| match prng.below(40) {
                    // A value that is computed, or one of another type.
                    0 => "id + 1",
                    1 => "NULL",
                    2 if column == "x" => "w",
                    _ => column,
                });
                let filter =
                    *prng.pick(&["", "", " WHERE x > 0", " WHERE g >= '2020-06-01'", " WHERE y + 1 > 3"]);
                format!("SELECT {} FROM {}{filter}", list.join(", "), prng.pick(&["t", "o"]))
            })
            .collect();
        let aggregates = [
            "COUNT(*)",
            "COUNT(x)",
            "SUM(x)",
            "SUM(x * y)",
            "AVG(w)",
            "SUM(f)",
            "MIN(g)",
            "MAX(g)",
            "MAX(x)",
            "MIN(y)",
            "MAX(c)",
            "COUNT(DISTINCT c)",
            "SUM(w * w * w)",
            "BIT_XOR(i)",
            "STD(y)",
        ];
        let list = some(&mut prng, &aggregates, 4).join(", ");
        let keys = *prng.pick(&["", "i", "c, s", "y, g", "x"]);
        let group = if keys.is_empty() { String::new() } else { format!(" GROUP BY {keys}") };
        let union = |lock: &str| {
            let inputs: Vec<String> = inputs.iter().map(|input| format!("({input}{lock})")).collect();
            format!(
                "SELECT {list} FROM ({}) AS q ({}){group}",
                inputs.join(" UNION ALL "),
                columns.join(", ")
            )
        };
        let in_batches = outcome(&mut client, &union(""));
        let row_by_row = outcome(&mut client, &union(" FOR SHARE"));
        assert_eq!(in_batches, row_by_row, "{}", union(""));
    }
}

/// A recursion, and what reads it: in its steps `by_row` is a condition that is true.
fn recursion(prng: &mut Prng, by_row: &str) -> String {
    let of_column = ["i", "b", "u", "v", "x", "w", "f", "n", "s"];
    let (a, c) = (*prng.pick(&of_column), *prng.pick(&of_column));
    let rounds = prng.below(12);
    let steps: Vec<String> = (0..1 + prng.below(2))
        .map(|_| {
            let mut of = |own: &str, other: &str| match prng.below(9) {
                0 => format!("{own} + {other}"),
                1 => format!("{own} * {own}"),
                2 => format!("{own} - 3"),
                3 => format!("{own} % 5"),
                4 => "7".to_owned(),
                _ => own.to_owned(),
            };
            let list = format!("d + 1, {}, {}", of("a", "c"), of("c", "a"));
            let filter = match prng.below(5) {
                0 => " AND a < c",
                1 => " AND a BETWEEN -20 AND 1000.5",
                2 => " AND c * 2 > -5",
                3 => " AND a <> 3 AND c > d",
                _ => "",
            };
            format!("SELECT {list} FROM r WHERE d < {rounds}{filter}{by_row}")
        })
        .collect();
    let limit = if prng.one_in(4) { format!(" LIMIT {}", prng.below(60)) } else { String::new() };
    let seed = format!("SELECT 1, {a}, {c} FROM t WHERE id < {}", prng.below(40));
    let query = format!("{seed} UNION ALL {}{limit}", steps.join(" UNION ALL "));
    let read = match prng.below(4) {
        0 => "SELECT * FROM r",
        1 => "SELECT d, a, c FROM r ORDER BY d, a, c LIMIT 20",
        2 => "SELECT d, COUNT(*), SUM(a) FROM r GROUP BY d",
        _ => {
            let all = [
                "COUNT(*)",
                "COUNT(1)",
                "COUNT(a)",
                "SUM(a)",
                "SUM(a * d)",
                "AVG(c)",
                "MIN(a)",
                "MAX(c)",
                "MAX(d + 1)",
                "SUM(d - 4)",
                "COUNT(DISTINCT d)",
                "SUM(a * a * a)",
                "STD(d)",
            ];
            let most = if prng.one_in(4) { all.len() } else { all.len() - 3 };
            let list = some(prng, &all[..most], 4).join(", ");
            return format!("WITH RECURSIVE r (d, a, c) AS ({query}) SELECT {list} FROM r");
        }
    };
    format!("WITH RECURSIVE r (d, a, c) AS ({query}) {read}")
}

#[test]
fn recursions_by_column_give_what_rows_do() {
    let mut prng = Prng::new(test_seed(39));
    let mut client = filled(&mut prng);
    let (mut failed, mut deep) = (0, 0);
    for number in 0..400 {
        let (mut same, seed) = (prng.clone(), number % 3);
        let by_column = recursion(&mut prng, "");
        let by_row = recursion(&mut same, " AND (d IS NULL OR d IS NOT NULL)");
        let variables = &mut client.session.state.variables;
        // Some rounds are larger than their memory, and some recursions deeper than they may be.
        (variables.operator_memory, variables.tmp_table_size) =
            if seed == 0 { (0, 8 << 10) } else { (64 << 20, 16 << 20) };
        variables.cte_max_recursion_depth = if seed == 1 { 8 } else { 1000 };
        let answers = [outcome(&mut client, &by_column), outcome(&mut client, &by_row)];
        let [of_range, of_depth] = ["out of range", "aborted"].map(|error| answers[0].0.contains(error));
        (failed, deep) = (failed + usize::from(of_range), deep + usize::from(of_depth));
        // Where both the recursion and what reads it fail, one or the other does so first.
        let other_fails = ["out of range", "aborted"].iter().any(|error| answers[1].0.contains(error));
        assert!(
            answers[0] == answers[1] || (of_range || of_depth) && other_fails,
            "{by_column}: {answers:?}"
        );
    }
    assert!(failed > 0 && deep > 0, "{failed} statements failed, {deep} were too deep");
}

#[test]
fn rows_older_than_a_column_and_rows_that_others_change_are_added_too() {
    let mut prng = Prng::new(test_seed(32));
    let mut client = filled(&mut prng);
    client.run("ALTER TABLE t ADD COLUMN z DECIMAL(5,1) DEFAULT 7.5, ALGORITHM=INSTANT");
    client.run("UPDATE t SET z = id % 10 WHERE id % 3 = 0 OR id > 2000");
    client.run("UPDATE t SET s = REPEAT('x', 30) WHERE id % 50 = 0");
    client.run("DELETE FROM t WHERE id % 11 = 0");
    for text in [
        "SELECT SUM(z), COUNT(z), MIN(z), MAX(z), COUNT(*) FROM t",
        "SELECT z, SUM(i), MAX(g) FROM t GROUP BY z",
        "SELECT c, s, SUM(z * x), AVG(z + i) FROM t WHERE id > 500 GROUP BY c, s",
    ] {
        agree(&mut client, text);
    }
    let before = agree(&mut client, "SELECT SUM(i), COUNT(*), SUM(x) FROM t");
    client.run("START TRANSACTION");
    client.run("UPDATE t SET i = 1000 WHERE id % 7 = 0");
    let own = agree(&mut client, "SELECT SUM(i), COUNT(*), SUM(x) FROM t");
    assert_ne!(own, before);
    client.run("ROLLBACK");
    assert_eq!(agree(&mut client, "SELECT SUM(i), COUNT(*), SUM(x) FROM t"), before);
}

#[test]
fn a_sum_that_is_read_again_for_each_outer_row_begins_again() {
    let mut prng = Prng::new(test_seed(33));
    let mut client = filled(&mut prng);
    let inner = "SELECT SUM(t.i) FROM t WHERE t.id >= o.id * 100";
    let again = client.run(&format!("SELECT o.id, ({inner}) FROM t o WHERE o.id < 20"));
    for (id, row) in again.split("; ").enumerate() {
        let alone = client.run(&format!("SELECT {id}, SUM(i) FROM t WHERE id >= {id} * 100"));
        assert_eq!(alone, row);
    }
    let groups =
        "SELECT MAX(n) FROM (SELECT COUNT(*) AS n FROM t WHERE t.id >= o.id * 100 GROUP BY t.c) AS g";
    let again = client.run(&format!("SELECT o.id, ({groups}) FROM t o WHERE o.id < 20"));
    for (id, row) in again.split("; ").enumerate() {
        let alone = format!("SELECT COUNT(*) AS n FROM t WHERE id >= {id} * 100 GROUP BY c");
        let alone = client.run(&format!("SELECT {id}, MAX(n) FROM ({alone}) AS g"));
        assert_eq!(alone, row);
    }
}
