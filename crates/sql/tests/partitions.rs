//! A partitioned table answers as one without partitions does: random rows, changes and queries of both,
//! under each method of partitioning, while the partitions of one come and go. `TEST_SEED` repeats a run.

// a part of it is used
#[allow(dead_code)]
mod client;

use std::sync::Arc;

use client::{Answer, Bench, Client, processor};
use palisade_base::prng::{Prng, test_seed};

/// Ways to partition by the columns of the key, `a` and `d`, and by which a row always has a place.
const CLAUSES: [&str; 12] = [
    "HASH (a) PARTITIONS 4",
    "LINEAR HASH (a + 3) PARTITIONS 5",
    "HASH (YEAR(d)) PARTITIONS 3",
    "KEY (a) PARTITIONS 7",
    "LINEAR KEY (a, d) PARTITIONS 6",
    "KEY ()",
    "RANGE (a) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "RANGE (TO_DAYS(d)) (PARTITION p0 VALUES LESS THAN (737791), PARTITION p1 VALUES LESS THAN (738000), \
     PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "RANGE COLUMNS (d, a) (PARTITION p0 VALUES LESS THAN ('2020-06-01', 10), PARTITION p1 VALUES LESS THAN ('2020-06-01', MAXVALUE), \
     PARTITION p2 VALUES LESS THAN ('2021-01-01', 3), PARTITION p3 VALUES LESS THAN (MAXVALUE, MAXVALUE))",
    "RANGE (YEAR(d)) SUBPARTITION BY HASH (a) SUBPARTITIONS 3 (PARTITION p0 VALUES LESS THAN (2020), \
     PARTITION p1 VALUES LESS THAN (2021), PARTITION p2 VALUES LESS THAN MAXVALUE)",
    "LIST (a % 3) (PARTITION p0 VALUES IN (0, NULL), PARTITION p1 VALUES IN (1, 2))",
    "RANGE (a) SUBPARTITION BY KEY (d) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (12), PARTITION p1 VALUES LESS THAN MAXVALUE)",
];

struct Twins {
    prng: Prng,
    client: Client,
    said: Vec<String>,
}

impl Twins {
    fn number(&mut self, below: u64) -> i64 {
        self.prng.below(below) as i64
    }

    fn day(&mut self) -> String {
        let (year, month, day) = (2019 + self.number(4), 1 + self.number(12), 1 + self.number(28));
        format!("'{year}-{month:02}-{day:02}'")
    }

    fn text(&mut self) -> String {
        let letters = ["'x'", "'Y'", "'yy'", "NULL", "'z '"];
        letters[self.prng.below(letters.len() as u64) as usize].to_owned()
    }

    /// A condition over the columns.
    fn condition(&mut self, depth: u32) -> String {
        match self.number(if depth > 2 { 9 } else { 12 }) {
            0 => format!("a = {}", self.number(30)),
            1 => format!("a < {}", self.number(30)),
            2 => format!("a BETWEEN {} AND {}", self.number(20), self.number(30)),
            3 => format!("a IN ({}, {}, {})", self.number(30), self.number(30), self.number(30)),
            4 => format!("d = {}", self.day()),
            5 => format!("d >= {}", self.day()),
            6 => format!("d < {}", self.day()),
            7 => format!("b = {}", self.number(6)),
            8 => format!("c > {}", self.text()),
            9 => format!("({} AND {})", self.condition(depth + 1), self.condition(depth + 1)),
            10 => format!("({} OR {})", self.condition(depth + 1), self.condition(depth + 1)),
            _ => format!("NOT ({})", self.condition(depth + 1)),
        }
    }

    /// A statement about the table `@`.
    fn statement(&mut self) -> String {
        match self.number(16) {
            0..4 => {
                let rows: Vec<String> = (0..1 + self.number(5))
                    .map(|_| {
                        format!("({}, {}, {}, {})", self.number(30), self.day(), self.number(6), self.text())
                    })
                    .collect();
                let verb = ["INSERT IGNORE", "REPLACE", "INSERT IGNORE", "INSERT"][self.number(4) as usize];
                let on = match verb == "INSERT" {
                    true => " ON DUPLICATE KEY UPDATE b = b + 1, c = VALUES(c)",
                    false => "",
                };
                format!("{verb} INTO @ (a, d, b, c) VALUES {}{on}", rows.join(", "))
            }
            4 => format!("UPDATE @ SET b = {} WHERE {}", self.number(6), self.condition(0)),
            5 => format!("UPDATE IGNORE @ SET a = a + 1 WHERE {} ORDER BY a DESC, d", self.condition(0)),
            6 => {
                let day = self.day();
                format!(
                    "UPDATE IGNORE @ SET d = {day}, c = 'moved' WHERE {} ORDER BY a, d LIMIT 3",
                    self.condition(0)
                )
            }
            7 => format!("DELETE FROM @ WHERE {} ORDER BY a, d LIMIT 4", self.condition(0)),
            8 => format!("SELECT COUNT(*), MIN(d), MAX(a), SUM(b) FROM @ WHERE {}", self.condition(0)),
            9 => format!("SELECT * FROM @ WHERE {} ORDER BY b, a DESC, d LIMIT 7", self.condition(0)),
            10 => {
                format!("SELECT b, COUNT(*), MAX(c) FROM @ WHERE {} GROUP BY b ORDER BY b", self.condition(0))
            }
            11 => format!(
                "SELECT x.a, y.d FROM @ x JOIN @ y ON x.a = y.a AND x.d = y.d WHERE x.b = {} ORDER BY 1, 2",
                self.number(6)
            ),
            12 => format!(
                "SELECT x.a, COUNT(y.a) FROM @ x LEFT JOIN @ y ON y.a = x.b AND y.d > {} GROUP BY x.a ORDER BY 1",
                self.day()
            ),
            13 => format!("SELECT DISTINCT c FROM @ WHERE {} ORDER BY c", self.condition(0)),
            14 => format!(
                "SELECT a, d FROM @ WHERE {} ORDER BY a DESC, d DESC LIMIT 5 FOR UPDATE",
                self.condition(0)
            ),
            _ => format!(
                "SELECT MIN(a), MAX(d) FROM @ WHERE a IN (SELECT b FROM @ WHERE {})",
                self.condition(0)
            ),
        }
    }

    fn both(&mut self, statement: &str) {
        let [parted, plain] = ["parted", "plain"].map(|name| statement.replace('@', name));
        self.said.push(parted.clone());
        let (one, other) = (self.client.answer(&parted), self.client.answer(&plain));
        let show = |answer: &Result<Answer, palisade_base::MysqlError>| match answer {
            Ok(answer) => format!("{answer:?}"),
            Err(error) => error.to_string().replace("parted", "plain"),
        };
        assert_eq!(show(&one), show(&other), "{}", self.said.join(";\n"));
    }

    /// Another way to partition, which writes the rows anew.
    fn repartition(&mut self) {
        let clause = CLAUSES[self.prng.below(CLAUSES.len() as u64) as usize];
        let statement = format!("ALTER TABLE parted PARTITION BY {clause}");
        self.said.push(statement.clone());
        let answer = self.client.run(&statement);
        assert!(answer.ends_with("affected"), "{answer}: {}", self.said.join(";\n"));
    }
}

#[test]
fn a_partitioned_table_answers_as_its_twin() {
    let seed = test_seed(2_201);
    let sql = processor(Arc::new(Bench::default()));
    let mut client = Client::new(&sql, 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    let mut twins = Twins { prng: Prng::new(seed), client, said: Vec::new() };
    let columns =
        "(a INT NOT NULL, d DATE NOT NULL, b INT, c VARCHAR(10), PRIMARY KEY (a, d), KEY (b, c), KEY (d))";
    for name in ["plain", "parted"] {
        twins.client.run(&format!("CREATE TABLE {name} {columns}"));
    }
    for round in 0..40 {
        twins.repartition();
        for _ in 0..30 {
            let statement = twins.statement();
            twins.both(&statement);
        }
        if round % 5 == 4 {
            for statement in ["START TRANSACTION", "DELETE FROM parted", "ROLLBACK"] {
                twins.client.run(statement);
            }
        }
        if round % 8 == 7 {
            twins.client.run("ALTER TABLE parted REMOVE PARTITIONING");
        }
        twins.both("SELECT * FROM @ ORDER BY a, d");
        let parts = twins.client.run("CHECK TABLE parted");
        assert!(parts.ends_with("status OK"), "{parts}");
        // The partitions of a set and the others are all of the rows.
        twins.said.clear();
    }
}

/// Without a key that users give, rows have ids of the table's own, and unique keys may have NULL.
#[test]
fn rows_without_a_key_go_where_they_belong() {
    let seed = test_seed(2_202);
    let sql = processor(Arc::new(Bench::default()));
    let mut client = Client::new(&sql, 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    let mut prng = Prng::new(seed);
    for (partitioning, find) in [
        ("HASH (a) PARTITIONS 3", "ABS(a) % 3"),
        (
            "RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE)",
            "CASE WHEN a < 10 OR a IS NULL THEN 0 WHEN a < 20 THEN 1 ELSE 2 END",
        ),
        (
            "LIST (a DIV 10) (PARTITION p0 VALUES IN (0), PARTITION p1 VALUES IN (1), PARTITION p2 VALUES IN (2, NULL))",
            "COALESCE(a DIV 10, 2)",
        ),
    ] {
        client.run("DROP TABLE IF EXISTS t");
        let made =
            client.run(&format!("CREATE TABLE t (a INT, b INT, UNIQUE (a, b)) PARTITION BY {partitioning}"));
        assert_eq!(made, "0 affected", "{partitioning}");
        let hashes = partitioning.starts_with("HASH");
        for _ in 0..200 {
            let value = match prng.one_in(9) && !hashes {
                true => "NULL".to_owned(),
                false => prng.below(30).to_string(),
            };
            client.run(&format!("INSERT IGNORE INTO t VALUES ({value}, {})", prng.below(40)));
        }
        for _ in 0..40 {
            let (from, to) = (prng.below(30), prng.below(30));
            client.run(&format!("UPDATE IGNORE t SET a = {to} WHERE a = {from} LIMIT 2"));
        }
        let mut total = 0;
        for part in 0..3 {
            let wrong =
                client.run(&format!("SELECT COUNT(*) FROM t PARTITION (p{part}) WHERE {find} <> {part}"));
            assert_eq!(wrong, "0", "{partitioning} p{part}");
            total +=
                client.run(&format!("SELECT COUNT(*) FROM t PARTITION (p{part})")).parse::<u64>().unwrap();
        }
        assert_eq!(client.run("SELECT COUNT(*) FROM t"), total.to_string());
    }
}
