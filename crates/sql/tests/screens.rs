//! What a scan decides on the bytes of a row is what evaluating the condition says.

// a part of it is used
#[allow(dead_code)]
mod client;

use std::sync::Arc;

use client::{Client, processor};
use palisade_base::prng::{Prng, test_seed};

const ROWS: usize = 2000;

fn client() -> Client {
    let mut client = Client::new(&processor(Arc::default()), 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client
}

/// A value, NULL now and then.
fn cell(random: &mut Prng, value: String) -> String {
    if random.below(8) == 0 { "NULL".to_owned() } else { value }
}

fn word(random: &mut Prng) -> String {
    let letters = ["a", "A", "b", "ab", "9", "99", " ", "\u{e9}", "\u{df}", "z"];
    (0..random.below(6)).map(|_| letters[random.below(letters.len() as u64) as usize]).collect()
}

fn filled(random: &mut Prng) -> Client {
    let mut client = client();
    client.run(
        "CREATE TABLE t (id INT PRIMARY KEY, i INT, u SMALLINT UNSIGNED, l BIGINT, x DECIMAL(9,2), y DECIMAL(25,4), \
         f DOUBLE, d DATE, e DATE, m DATETIME, n DATETIME(3), a VARCHAR(20), \
         b VARCHAR(20) COLLATE utf8mb4_bin, c CHAR(9) CHARACTER SET latin1, KEY (i))",
    );
    let mut rows = Vec::new();
    for id in 0..ROWS {
        let small = |random: &mut Prng| random.below(40) as i64 - 20;
        let day = |random: &mut Prng| format!("2020-{:02}-{:02}", 1 + random.below(3), 1 + random.below(28));
        let cells = [
            small(random).to_string(),
            small(random).unsigned_abs().to_string(),
            (small(random) << 40).to_string(),
            format!("{}.{:02}", small(random), random.below(3) * 25),
            format!("{}.{:04}", small(random), random.below(2) * 5000),
            format!("{}e0", small(random) as f64 / 4.0),
            format!("'{}'", day(random)),
            format!("'{}'", day(random)),
            format!("'{} {:02}:00:00'", day(random), random.below(2) * 12),
            format!("'{} 00:00:00.{:03}'", day(random), random.below(2) * 250),
            format!("'{}'", word(random)),
            format!("'{}'", word(random)),
            format!("'{}'", word(random)),
        ];
        let cells = cells.map(|value| cell(random, value));
        rows.push(format!("({id}, {})", cells.join(", ")));
    }
    for part in rows.chunks(500) {
        client.run(&format!("INSERT INTO t VALUES {}", part.join(", ")));
    }
    // Rows that are older than a column.
    client.run("ALTER TABLE t ADD COLUMN z INT DEFAULT 7, ALGORITHM=INSTANT");
    client.run("UPDATE t SET z = id % 10 WHERE id % 3 = 0");
    client
}

#[track_caller]
fn agree(client: &mut Client, condition: &str) -> usize {
    let screened = client.run(&format!("SELECT id FROM t IGNORE INDEX (i) WHERE {condition}"));
    let evaluated = client.run(&format!("SELECT id FROM t IGNORE INDEX (i) WHERE ({condition}) IS TRUE"));
    assert_eq!(screened, evaluated, "{condition}");
    let by_index = client.run(&format!("SELECT COUNT(*) FROM t FORCE INDEX (i) WHERE {condition}"));
    let all = client.run(&format!("SELECT COUNT(*) FROM t WHERE ({condition}) IS TRUE"));
    assert_eq!(by_index, all, "{condition}");
    if evaluated.is_empty() { 0 } else { evaluated.split("; ").count() }
}

#[test]
fn known_conditions() {
    let mut random = Prng::new(test_seed(5));
    let mut client = filled(&mut random);
    for condition in [
        "i > 3",
        "i = -5 AND u < 9",
        "i BETWEEN -3 AND 4 AND x BETWEEN 1.05 - 0.05 AND 9.5",
        "u > -1",
        "u < 70000",
        "i < 3.5",
        "l >= 1 << 40",
        "x = 1.5",
        "x < 1.505",
        "x = 3",
        "y > 2.5000 OR i = 1",
        "y >= -7.5",
        "f < 1.25e0 AND f >= -0e0",
        "f = 0e0",
        "d >= DATE '2020-02-01' - INTERVAL 9 DAY",
        "d < '2020-02-15' AND d <> '2020-02-01'",
        "d <= '2020-02-15 12:00:00'",
        "d < e",
        "d = e AND i > 0",
        "m >= '2020-02-01 12:00:00'",
        "m = DATE '2020-02-01'",
        "n < TIMESTAMP '2020-02-01 00:00:00.250'",
        "n > '2020-02-01 00:00:00.2505'",
        "a = 'AB'",
        "a > 'ab'",
        "b = 'ab'",
        "b = 'ab '",
        "c <= 'ab'",
        "a LIKE '%9%'",
        "a LIKE '%a_9%'",
        "a NOT LIKE 'a%'",
        "a LIKE '%\u{e9}%'",
        "b LIKE '%a%'",
        "c LIKE '_b%'",
        "a LIKE NULL",
        "a LIKE '%|%%' ESCAPE '|'",
        "i IN (1, 2, 3, 500000, -4)",
        "i IN (1, NULL)",
        "i NOT IN (1, 2, NULL)",
        "i NOT IN (1, 2)",
        "x IN (1.5, 2.25, 2, 3.125)",
        "a IN ('a', 'AB', '99')",
        "b NOT IN ('a', 'AB', '99')",
        "d IN ('2020-02-01', '2020-02-02')",
        "i IS NULL",
        "a IS NOT NULL AND x IS NULL",
        "z = 7",
        "z < 5 AND i > 0",
        "i = NULL",
        "i > 0 AND (x < 3 OR a = 'ab') AND u < 15",
        "i > 0 AND u / (i - 5) > 1",
        "TRUE AND i > 0",
        "i = 1 OR i = 5 OR a LIKE '9%' OR d IS NULL",
        "(i > 3 AND x < 5) OR (u = 2 AND (b = 'ab' OR m IS NOT NULL))",
        "i NOT BETWEEN -3 AND 4",
        "i NOT BETWEEN NULL AND 4 OR a NOT BETWEEN 'a' AND NULL",
        "i + x > 5 AND i > -15",
        "i * 2 + z - 3 <= x",
        "x * x > 20.25",
        "x - i = 0.5 OR x + z >= 4",
        "l + l > 0",
        "l * l > 0 OR i = 3",
        "f * 2e0 + i < 1.5e0",
        "i + 1 = u",
        "i < u",
        "id % 10 = 3 OR i % 3 = -1",
        "u % 7 > 2 AND l % 1000 < 500",
        "i % z = 1",
        "i <> l",
        "3 < u + 1",
        "i - z IN (1, 2)",
        "5 - 2 < i + NULL",
    ] {
        agree(&mut client, condition);
    }
    assert!(agree(&mut client, "i > 3") > ROWS / 4);
}

#[test]
fn random_conditions() {
    let mut random = Prng::new(test_seed(6));
    let mut client = filled(&mut random);
    let operators = ["=", "<>", "<", "<=", ">", ">="];
    for _ in 0..150 {
        let mut parts = Vec::new();
        for _ in 0..1 + random.below(3) {
            let operator = operators[random.below(6) as usize];
            let number = random.below(40) as i64 - 20;
            parts.push(match random.below(8) {
                0 => format!("i {operator} {number}"),
                1 => format!("x {operator} {number}.{}", random.below(2) * 5),
                2 => format!("y {operator} {number}.5"),
                3 => format!("{number} {operator} u"),
                4 => format!("d {operator} '2020-02-{:02}'", 1 + random.below(28)),
                5 => format!("a {operator} '{}'", word(&mut random)),
                6 => format!("b LIKE '%{}%'", word(&mut random)),
                _ => format!("z {operator} {}", random.below(10)),
            });
        }
        agree(&mut client, &parts.join(" AND "));
    }
}

#[test]
fn random_conditions_with_or_and_arithmetic() {
    let mut random = Prng::new(test_seed(9));
    let mut client = filled(&mut random);
    let operators = ["=", "<>", "<", "<=", ">", ">="];
    let numbers =
        ["i", "u", "x", "z", "f", "l", "3", "1.5", "i + x", "x * 2", "u + 1", "i - z", "f + i", "x * u"];
    for _ in 0..60 {
        let mut branches = Vec::new();
        for _ in 0..1 + random.below(3) {
            let mut parts = Vec::new();
            for _ in 0..1 + random.below(2) {
                let operator = operators[random.below(6) as usize];
                let [left, right] = [(); 2].map(|()| *random.pick(&numbers));
                parts.push(match random.below(5) {
                    0 => format!("a LIKE '{}%'", word(&mut random)),
                    1 => format!("i {}IN (1, {})", ["", "NOT "][random.below(2) as usize], random.below(9)),
                    2 => format!("x NOT BETWEEN {} AND 5", random.below(9) as i64 - 9),
                    _ => format!("{left} {operator} {right}"),
                });
            }
            branches.push(format!("({})", parts.join(" AND ")));
        }
        agree(&mut client, &format!("{} AND u < 18", branches.join(" OR ")));
    }
    // So are remainders of zero, which are warned of.
    let zeros = client.run("SELECT COUNT(*) FROM t WHERE u = 0 AND i IS NOT NULL");
    client.run("SELECT COUNT(*) FROM t IGNORE INDEX (i) WHERE i % u = 1");
    assert!(zeros != "0" && client.run("SHOW COUNT(*) WARNINGS") == zeros);
    // Of a row that passes what comes before, as evaluating it says.
    let answer = client.run("SELECT COUNT(*) FROM t IGNORE INDEX (i) WHERE i > 10 AND u - 1 >= 0");
    assert!(answer.contains("BIGINT UNSIGNED value is out of range"), "{answer}");
}

#[test]
fn warnings_are_those_of_the_rows_that_pass_the_conjuncts_before() {
    let mut random = Prng::new(test_seed(7));
    let mut client = filled(&mut random);
    let mut warnings = |query: &str| {
        client.run(query);
        client.run("SHOW COUNT(*) WARNINGS")
    };
    let screened = warnings("SELECT COUNT(*) FROM t IGNORE INDEX (i) WHERE i > 10 AND a > 5 AND u < 10");
    assert_eq!(screened, warnings("SELECT COUNT(a > 5) FROM t IGNORE INDEX (i) WHERE i > 10"));
    assert_ne!(screened, "0");
    // Behind a NULL nothing is evaluated, as in MySQL.
    client.run("CREATE TABLE w (id INT PRIMARY KEY, i INT, a VARCHAR(9))");
    client.run("INSERT INTO w VALUES (1, NULL, 'x'), (2, 20, 'y'), (3, 5, 'z')");
    client.run("SELECT COUNT(*) FROM w WHERE i > 10 AND a > 5");
    assert_eq!(client.run("SHOW WARNINGS"), "Warning 1292 Truncated incorrect DOUBLE value: 'y'");
}

#[test]
fn rows_are_counted_as_the_snapshot_sees_them() {
    let processor = processor(Arc::default());
    let (mut reader, mut writer) = (Client::new(&processor, 1), Client::new(&processor, 2));
    reader.run("CREATE DATABASE d");
    reader.run("USE d");
    writer.run("USE d");
    reader.run("CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, b TEXT, KEY (k))");
    reader.run(
        "INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 900) \
         SELECT n, n % 7, REPEAT('x', IF(n % 100 = 0, 20000, 10)) FROM r",
    );
    reader.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
    writer.run("DELETE FROM t WHERE id <= 100");
    writer.run("UPDATE t SET k = 9 WHERE id > 800");
    writer.run("INSERT INTO t VALUES (2000, 1, '')");
    let counts = |client: &mut Client| {
        ["PRIMARY", "k"].map(|index| {
            client.run(&format!("SELECT COUNT(*), COUNT(k), COUNT(1) FROM t FORCE INDEX ({index})"))
        })
    };
    assert_eq!(counts(&mut reader), ["900 900 900"; 2]);
    assert_eq!(counts(&mut writer), ["801 801 801"; 2]);
    writer.run("BEGIN");
    writer.run("DELETE FROM t WHERE id > 850");
    assert_eq!(counts(&mut writer), ["750 750 750"; 2]);
    reader.run("COMMIT");
    assert_eq!(counts(&mut reader), ["801 801 801"; 2]);
    assert_eq!(reader.run("SELECT COUNT(*), COUNT(b), COUNT(NULL) FROM t"), "801 801 0");
    assert_eq!(reader.run("SELECT COUNT(*) FROM t WHERE FALSE"), "0");
    writer.run("DELETE FROM t");
    assert_eq!(counts(&mut writer), ["0 0 0"; 2]);
}

#[test]
fn an_argument_of_several_aggregates_is_evaluated_as_each_asks() {
    let mut random = Prng::new(test_seed(8));
    let mut client = filled(&mut random);
    let sums = "SUM(x * (1 - y)), AVG(x * (1 - y)), SUM(x * (1 - y) * (1 + x)), SUM(x), AVG(x), MIN(x), MAX(x), \
                SUM(f), MAX(f), MIN(d), MAX(m), SUM(i), AVG(u), COUNT(x)";
    let one_by_one: Vec<String> = sums
        .split("), ")
        .map(|sum| format!("{})", sum.trim_end_matches(')')).replace("(1 - y)", "(1 - y)"))
        .map(|sum| if sum.matches('(').count() > sum.matches(')').count() { sum + ")" } else { sum })
        .map(|sum| client.run(&format!("SELECT {sum} FROM t")))
        .collect();
    assert_eq!(client.run(&format!("SELECT {sums} FROM t")), one_by_one.join(" "));
    client.run("SELECT SUM(a), AVG(a) FROM t WHERE id < 300");
    let both = client.run("SHOW COUNT(*) WARNINGS").parse::<usize>().unwrap();
    client.run("SELECT SUM(a) FROM t WHERE id < 300");
    assert_eq!(client.run("SHOW COUNT(*) WARNINGS").parse::<usize>().unwrap() * 2, both);
    assert_eq!(
        client.run("SELECT SUM(@n := @n + 1), SUM(@n) FROM (SELECT @n := 0) AS s, t WHERE id < 3"),
        "6 6"
    );
}
