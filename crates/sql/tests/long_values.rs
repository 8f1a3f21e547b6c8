//! Work over long values is done in pieces, and ends at the next of them when its statement is killed.
//!
//! No clock is read. An evaluation asks [`Host::may_compute`](palisade_sql::Host::may_compute) about once a
//! millisecond of work that it has counted; so a statement that works on megabytes must ask often, and after
//! the question at which it is killed it must not ask again. What is not counted shows as questions that are
//! not asked.

#[allow(dead_code)]
mod client;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use client::{Bench, Client, processor};

/// Characters of the long values; those that are not ASCII have two bytes.
const CHARACTERS: usize = 1 << 19;
/// Questions about such a value at least: one about each argument of a function as a whole, and more where
/// each of its bytes is counted.
const OFTEN: usize = 3;

/// Values that the statements are about.
const VALUES: &[(&str, &str)] = &[
    ("a", "REPEAT('a', 524288)"),
    ("e", "REPEAT('\u{e9}', 524288)"),
    ("upper_e", "REPEAT('\u{c9}', 524288)"),
    ("spaces", "SPACE(524288)"),
    ("list", "REPEAT('a,', 262144)"),
    ("hex", "REPEAT('61', 262144)"),
    ("base64", "REPEAT('YWJj', 131072)"),
    ("strings", "CONCAT('[', REPEAT('\"abcdefgh\",', 50000), '1]')"),
    ("string", "CONCAT('\"', REPEAT('a', 524288), '\"')"),
];

/// Expressions, each with the part of its work that used to be done in one go.
const EXPRESSIONS: &[&str] = &[
    // case and conversion
    "UPPER(@e)",
    "LOWER(@upper_e)",
    "CONVERT(@e USING latin1)",
    "CONVERT(CONVERT(@e USING latin1) USING utf8mb4)",
    "CAST(CAST(@e AS BINARY) AS CHAR)",
    // comparison
    "@e = @upper_e",
    "@e < CONCAT(@upper_e, 'x')",
    "@a COLLATE utf8mb4_general_ci = UPPER(@a)",
    "STRCMP(@e, @upper_e)",
    "'' COLLATE utf8mb4_general_ci = @spaces",
    "@e IN (@upper_e, 'x')",
    "@e BETWEEN @upper_e AND 'z'",
    "FIELD(@e, @upper_e)",
    "GREATEST(@e, @upper_e)",
    "NULLIF(@e, @upper_e)",
    "@e LIKE CONCAT(@upper_e, '%')",
    "LOCATE('x', @e)",
    "FIND_IN_SET('b', @list)",
    // regular expressions, a single match in each
    "@a REGEXP '(a|b)*c'",
    "@e REGEXP 'x|y$'",
    "REGEXP_INSTR(@e, 'x')",
    "REGEXP_SUBSTR(@a, '[ab]*$')",
    "REGEXP_REPLACE(@list, '(,)(a?,)$', '$2$1')",
    // cutting and counting
    "CHAR_LENGTH(@e)",
    "LEFT(@e, 500000)",
    "RIGHT(@e, 500000)",
    "SUBSTRING(@e, -500000, 400000)",
    "SUBSTRING_INDEX(@list, ',', -5)",
    "INSERT(@e, 500000, 3, 'x')",
    "TRIM(LEADING 'a' FROM CONCAT(@a, 'b'))",
    "TRIM(@spaces)",
    "CAST(@e AS CHAR(500000))",
    // building
    "REVERSE(@e)",
    "SOUNDEX(@e)",
    "QUOTE(@a)",
    "HEX(@a)",
    "UNHEX(@hex)",
    "TO_BASE64(@a)",
    "FROM_BASE64(@base64)",
    "REPLACE(@a, 'a', 'bb')",
    "LPAD(@e, 800000, @upper_e)",
    "COMPRESS(@a)",
    "SHA2(@a, 256)",
    "AES_ENCRYPT(@a, 'key')",
    "AES_DECRYPT(@a, 'key')",
    "AES_ENCRYPT('a', @a, '', 'hkdf')",
    "AES_ENCRYPT('a', 'key', '', 'pbkdf2_hmac', 'salt', 65535)",
    // bits
    "CAST(@a AS BINARY) & CAST(@hex AS BINARY)",
    "~ CAST(@a AS BINARY)",
    "CAST(@a AS BINARY) << 3",
    // JSON
    "JSON_LENGTH(@strings)",
    "JSON_STORAGE_SIZE(@strings)",
    "JSON_VALID(@string)",
    "JSON_QUOTE(@a)",
    "JSON_PRETTY(@strings)",
    "JSON_SET(@strings, '$[0]', 1)",
    "JSON_ARRAY(@a)",
    "CAST(@strings AS JSON) = CAST(CONCAT(@strings, ' ') AS JSON)",
    "JSON_SEARCH(@strings, 'all', 'x')",
    "JSON_UNQUOTE(@string)",
    "JSON_EXTRACT(@strings, '$[*]')",
];

/// Queries over rows with long values, in the same way.
const QUERIES: &[&str] = &[
    "SELECT COUNT(*) FROM (SELECT t FROM l GROUP BY t) x",
    "SELECT COUNT(*) FROM (SELECT DISTINCT t FROM l) x",
    "SELECT COUNT(DISTINCT t) FROM l",
    "SELECT LENGTH(t) FROM l ORDER BY t, id LIMIT 1",
    "SELECT LENGTH(MIN(t)), LENGTH(MAX(t)) FROM l",
    "SELECT COUNT(*) FROM l x JOIN l y ON x.t = y.t",
    "SELECT COUNT(*) FROM (SELECT t FROM l UNION SELECT t FROM l) x",
    "SELECT COUNT(*) FROM (SELECT t FROM l EXCEPT SELECT t FROM l) x",
    "SELECT COUNT(*) FROM l WHERE t IN (SELECT CONCAT(t, '') FROM l)",
    "SELECT MAX(r) FROM (SELECT RANK() OVER (ORDER BY t) r FROM l) x",
    "SELECT MAX(r) FROM (SELECT DENSE_RANK() OVER (PARTITION BY t ORDER BY t) r FROM l) x",
    "SELECT LENGTH(GROUP_CONCAT(id ORDER BY t)) FROM l",
    "SELECT JSON_LENGTH(JSON_ARRAYAGG(t)) FROM l",
    "SELECT JSON_LENGTH(JSON_OBJECTAGG(id, t)) FROM l",
    "SELECT t, COUNT(*) FROM l GROUP BY t WITH ROLLUP LIMIT 1",
    "SELECT SUM(LENGTH(v)) FROM JSON_TABLE(@strings, '$[*]' COLUMNS (v VARCHAR(9) PATH '$', j JSON PATH '$')) x",
    "SELECT LENGTH(v) FROM JSON_TABLE(@string, '$' COLUMNS (v LONGTEXT PATH '$')) x",
];

/// Changes of rows that hold long values, each with a table of which it changes or makes one row.
const CHANGES: &[&str] = &[
    "INSERT INTO texts VALUES (@e)",
    "INSERT INTO texts VALUES (CONVERT(@a USING utf8mb4))",
    "INSERT INTO latin VALUES (@e)",
    "INSERT INTO blobs VALUES (@a)",
    "INSERT INTO documents VALUES (@strings)",
    "REPLACE INTO texts VALUES (@e)",
    "INSERT INTO texts SELECT @e",
    "INSERT IGNORE INTO words VALUES (@a)",
    "UPDATE texts SET t = CONCAT(@e, '') LIMIT 1",
    "UPDATE blobs SET t = @e LIMIT 1",
];

fn world(bench: Bench) -> (Arc<Bench>, Client) {
    let bench = Arc::new(bench);
    let mut client = Client::new(&processor(bench.clone()), 1);
    client.session.state.variables.max_allowed_packet = 64 << 20;
    client.session.state.variables.group_concat_max_len = 1 << 30;
    for (name, value) in VALUES {
        client.run(&format!("SET @{name} = {value}"));
    }
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE l (id INT PRIMARY KEY, t LONGTEXT)");
    client.run("CREATE TABLE texts (t LONGTEXT, KEY (t(40)))");
    client.run("CREATE TABLE latin (t LONGTEXT CHARACTER SET latin1)");
    client.run("CREATE TABLE blobs (t LONGBLOB, KEY (t(40)))");
    client.run("CREATE TABLE documents (t JSON)");
    client.run("CREATE TABLE words (t VARCHAR(10))");
    for table in ["texts", "blobs"] {
        assert_eq!(client.run(&format!("INSERT INTO {table} VALUES ('x')")), "1 affected");
    }
    for row in 0..3 {
        // equal to a reader of the collation, and not one text is another's copy
        let text = ["@e", "@upper_e", "CONCAT(LEFT(@e, 250000), LEFT(@upper_e, 274288))"][row];
        assert_eq!(client.run(&format!("INSERT INTO l VALUES ({row}, {text})")), "1 affected");
    }
    (bench, client)
}

fn statements() -> impl Iterator<Item = String> {
    let expressions = EXPRESSIONS.iter().map(|expression| format!("SELECT LENGTH({expression})"));
    expressions.chain(QUERIES.iter().chain(CHANGES).map(|statement| (*statement).to_owned()))
}

#[test]
fn work_on_long_values_asks_and_ends_where_it_is_killed() {
    let (bench, mut client) = world(Bench::default());
    assert_eq!(client.run("SELECT CHAR_LENGTH(@e), COUNT(DISTINCT t) FROM l"), format!("{CHARACTERS} 1"));
    let mut wrong = Vec::new();
    for statement in statements() {
        // What has been changed is taken back for the next execution to find the same.
        client.run("BEGIN");
        let asked = |client: &mut Client| {
            let before = bench.questions.load(Relaxed);
            let answer = client.run(&statement);
            (bench.questions.load(Relaxed) - before, answer)
        };
        let (all, answer) = asked(&mut client);
        client.run("ROLLBACK");
        if all < OFTEN {
            wrong.push(format!("{statement}: asks {all} times"));
            continue;
        }
        let at = all / 2;
        *bench.killed_asking.lock().unwrap() = Some((client.session.state.kill.clone(), at));
        let (until, killed) = asked(&mut client);
        *bench.killed_asking.lock().unwrap() = None;
        if until != at || !killed.contains("Query execution was interrupted") {
            let killed: String = killed.chars().take(60).collect();
            wrong.push(format!("{statement}: killed at {at} of {all}, asks {until} times: {killed}"));
        }
        client.run("BEGIN");
        assert!(asked(&mut client).1 == answer, "{statement}: the next execution knows nothing of it");
        client.run("ROLLBACK");
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// JSON_VALUE answers what its cast fails with; that the statement is to end is no such failure.
#[test]
fn a_cast_of_json_value_ends_where_it_is_killed_and_gives_way() {
    let (bench, mut client) = world(Bench::default());
    let (interrupting, mut giving_way) = world(Bench { interrupts: true, ..Bench::default() });
    let one = "CONCAT('\"', REPEAT('0', 524288), '1\"')";
    for returned in ["DOUBLE", "DECIMAL(10,2)", "SIGNED", "DATE", "YEAR"] {
        let query = format!("SELECT JSON_VALUE({one}, '$' RETURNING {returned} NULL ON ERROR)");
        let begun = bench.questions.load(Relaxed);
        let answer = client.run(&query);
        let all = bench.questions.load(Relaxed) - begun;
        for at in 1..=all {
            *bench.killed_asking.lock().unwrap() = Some((client.session.state.kill.clone(), at));
            let killed = client.run(&query);
            *bench.killed_asking.lock().unwrap() = None;
            // One that is killed at its last question may be done before it looks again.
            let is_last = at == all && killed == answer;
            assert!(killed.contains("Query execution was interrupted") || is_last, "{query}: {at}: {killed}");
        }
        for _ in 0..2 * all {
            interrupting.patience.store(0, Relaxed);
            assert_eq!(giving_way.run(&query), answer, "{query}");
        }
    }
    assert!(interrupting.refused.load(Relaxed) > 10);
}

/// The list of an INSERT is looked at row by row, whatever is in the rows.
#[test]
fn a_list_of_rows_asks_and_ends_where_it_is_killed() {
    let (bench, mut client) = world(Bench::default());
    client.run("CREATE TABLE rows_of (a INT, b INT DEFAULT 5, c INT, PRIMARY KEY (a))");
    let list =
        |count: usize, row: &dyn Fn(usize) -> String| (0..count).map(row).collect::<Vec<_>>().join(",");
    for (statement, least) in [
        (format!("INSERT IGNORE INTO rows_of () VALUES {}", list(30_000, &|_| "()".to_owned())), 3),
        (
            format!(
                "INSERT IGNORE INTO rows_of VALUES {}",
                list(30_000, &|_| "(1,DEFAULT,DEFAULT)".to_owned())
            ),
            10,
        ),
        (format!("REPLACE INTO rows_of VALUES {}", list(5_000, &|_| "(2, b + 1, 7)".to_owned())), 10),
    ] {
        let begun = bench.questions.load(Relaxed);
        *bench.killed_asking.lock().unwrap() = Some((client.session.state.kill.clone(), least));
        let answer = client.run(&statement);
        *bench.killed_asking.lock().unwrap() = None;
        let asked = bench.questions.load(Relaxed) - begun;
        let text: String = statement.chars().take(60).collect();
        assert!(answer.contains("Query execution was interrupted"), "{text}: {answer}");
        assert_eq!(asked, least, "{text}: it went on after it was killed");
    }
}

/// Each pass of planning over a list of many constants is counted: when all of them are bound the plan is far
/// from made.
#[test]
fn planning_a_long_list_asks_and_ends_where_it_is_killed() {
    const ITEMS: usize = 60_000;
    let (bench, mut client) = world(Bench::default());
    let list: Vec<_> = (0..ITEMS).map(|item| item.to_string()).collect();
    let query = format!("EXPLAIN SELECT COUNT(*) FROM l WHERE id + 0 IN ({})", list.join(","));
    let asked = |client: &mut Client| {
        let before = bench.questions.load(Relaxed);
        let answer = client.run(&query);
        (bench.questions.load(Relaxed) - before, answer)
    };
    let (all, _) = asked(&mut client);
    // An expression counts as 512 units when it is bound, and a question is asked after 2^20.
    let bound = (ITEMS * 512) >> 20;
    assert!(all > bound + 10, "{all} questions, of which {bound} are asked while it is bound");
    for at in [bound + 4, all - 4] {
        *bench.killed_asking.lock().unwrap() = Some((client.session.state.kill.clone(), at));
        let (until, killed) = asked(&mut client);
        *bench.killed_asking.lock().unwrap() = None;
        assert!(killed.contains("Query execution was interrupted"), "{killed}");
        assert_eq!(until, at, "it went on after it was killed");
    }
}

/// Evaluations that have to give way again and again count no row twice and lose none.
#[test]
fn giving_way_changes_no_answer() {
    let (_, mut client) = world(Bench::default());
    let (bench, mut giving_way) = world(Bench { interrupts: true, ..Bench::default() });
    for query in QUERIES.iter().chain(CHANGES) {
        assert!(giving_way.run(query) == client.run(query), "{query}");
    }
    for definition in
        ["g LONGTEXT AS (UPPER(t)) STORED", "h LONGTEXT DEFAULT (LOWER(t))", "CHECK (LOWER(t) <> 'y')"]
    {
        let altered = format!("ALTER TABLE texts ADD {definition}, ALGORITHM = COPY");
        let answer = client.run(&altered);
        assert!(answer.ends_with("affected"), "{altered}: {answer}");
        assert_eq!(giving_way.run(&altered), answer, "{altered}");
    }
    let computed = "SELECT SUM(LENGTH(g)), SUM(CRC32(g)), SUM(CRC32(h)) FROM texts";
    assert_eq!(giving_way.run(computed), client.run(computed));
    for table in ["texts", "latin", "blobs", "documents", "words"] {
        let rows = format!("SELECT COUNT(*), SUM(LENGTH(t)), SUM(CRC32(t)) FROM {table}");
        assert_eq!(giving_way.run(&rows), client.run(&rows), "{table}");
    }
    assert!(bench.refused.load(Relaxed) > 10);
}
