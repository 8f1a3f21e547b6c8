//! Virtual tables: how many of their rows are made, and that none is lost by making fewer.

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;

use client::{Client, processor};

/// Tables of each schema.
const TABLES: u64 = 40;
/// Columns of each table.
const COLUMNS: u64 = 3;

/// A session, with tables in two schemas.
fn session() -> Client {
    let mut client = Client::new(&processor(Arc::default()), 1);
    for schema in ["one", "two"] {
        client.answer(&format!("CREATE DATABASE {schema}")).unwrap();
        for number in 0..TABLES {
            let table = format!("{schema}.t{number:02}");
            client
                .answer(&format!("CREATE TABLE {table} (id INT PRIMARY KEY, a INT, b INT, KEY (a))"))
                .unwrap();
        }
    }
    client.session.state.database = Some("one".to_owned());
    client
}

/// What a query answers, and how many rows it has examined.
fn examined(client: &mut Client, query: &str) -> (String, u64) {
    let before = client.session.work.rows_examined;
    let answer = client.run(query);
    (answer, client.session.work.rows_examined - before)
}

fn examines(client: &mut Client, query: &str, rows: u64) {
    let (answer, count) = examined(client, query);
    assert_eq!(count, rows, "{query}\n{answer}");
}

#[test]
fn rows_are_made_of_the_names_that_conditions_leave() {
    let mut client = session();
    let columns = |condition: &str| {
        format!(
            "SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE {condition} ORDER BY ORDINAL_POSITION"
        )
    };
    examines(&mut client, &columns("TABLE_SCHEMA = 'one' AND TABLE_NAME = 't07'"), COLUMNS);
    examines(&mut client, &columns("TABLE_NAME = 't07'"), 2 * COLUMNS);
    examines(&mut client, &columns("'one' = TABLE_SCHEMA"), TABLES * COLUMNS);
    examines(
        &mut client,
        &columns("TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('t01', 't02', 'x')"),
        2 * COLUMNS,
    );
    examines(&mut client, &columns("TABLE_NAME = 't07' AND TABLE_NAME = 't08'"), 0);
    // In another collation all names are looked at, and rows are made of those that are equal in it.
    examines(
        &mut client,
        &columns("TABLE_SCHEMA COLLATE utf8mb3_general_ci = 'ONE' AND TABLE_NAME = 't07'"),
        COLUMNS,
    );
    examines(&mut client, "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_NAME = 't07'", 4);
    examines(&mut client, "SHOW COLUMNS FROM t07", 0);
}

#[test]
fn a_filter_that_is_no_list_of_names_decides_alone() {
    let mut client = session();
    let all = examined(&mut client, "SELECT COUNT(*) FROM information_schema.TABLES").1;
    assert!(all >= 2 * TABLES);
    for condition in
        ["TABLE_SCHEMA = 'one' OR TABLE_NAME = 't07'", "TABLE_NAME LIKE 't07'", "TABLE_NAME <=> 't07'"]
    {
        let query = format!("SELECT COUNT(*) FROM information_schema.TABLES WHERE {condition}");
        examines(&mut client, &query, all);
    }
    // Of a long list the names are not compared one by one, however it is written.
    let many: Vec<_> = (0..30_000).map(|number| format!("'t{number:02}'")).collect();
    let list =
        format!("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME IN ({})", many.join(","));
    let (answer, count) = examined(&mut client, &list);
    assert_eq!((answer.trim(), count), ("80", all));
    // Nor is each name there is compared for each outer row.
    let folded = "SELECT COUNT(*) FROM information_schema.SCHEMATA s JOIN information_schema.TABLES t \
                  ON t.TABLE_SCHEMA COLLATE utf8mb3_general_ci = s.SCHEMA_NAME WHERE s.SCHEMA_NAME IN ('one', 'two')";
    let (answer, count) = examined(&mut client, folded);
    assert_eq!((answer.trim(), count), ("80", 2 + all));
}

#[test]
fn no_row_is_lost() {
    let mut client = session();
    let count = |client: &mut Client, condition: &str| {
        client.run(&format!("SELECT COUNT(*) FROM information_schema.TABLES WHERE {condition}"))
    };
    client.answer("SET @name = 't07'").unwrap();
    for (narrowed, plain) in [
        ("TABLE_NAME = 't07'", "CONCAT(TABLE_NAME) = 't07'"),
        ("TABLE_NAME = 't07 '", "CONCAT(TABLE_NAME) = 't07 '"),
        ("TABLE_NAME = 'T07'", "CONCAT(TABLE_NAME) = 'T07'"),
        ("TABLE_NAME = _latin1't07'", "CONCAT(TABLE_NAME) = _latin1't07'"),
        (
            "TABLE_NAME = _utf8mb4'T07' COLLATE utf8mb4_0900_ai_ci",
            "TABLE_NAME LIKE _utf8mb4'T07' COLLATE utf8mb4_0900_ai_ci",
        ),
        ("TABLE_NAME = BINARY 't07'", "CONCAT(TABLE_NAME) = BINARY 't07'"),
        ("TABLE_NAME = 7", "CONCAT(TABLE_NAME) = 7"),
        ("TABLE_NAME = 0", "CONCAT(TABLE_NAME) = 0"),
        ("TABLE_NAME IN ('t07', 0)", "CONCAT(TABLE_NAME) IN ('t07', 0)"),
        ("TABLE_NAME IN ('t07', NULL)", "CONCAT(TABLE_NAME) IN ('t07', NULL)"),
        ("TABLE_NAME = @name", "CONCAT(TABLE_NAME) = @name"),
        ("TABLE_NAME = TABLE_SCHEMA", "CONCAT(TABLE_NAME) = TABLE_SCHEMA"),
    ] {
        assert_eq!(count(&mut client, narrowed), count(&mut client, plain), "{narrowed}");
    }
}

#[test]
fn columns_of_tables_before_it_narrow_a_table() {
    let mut client = session();
    let join = "SELECT COUNT(*) FROM information_schema.COLUMNS c JOIN information_schema.TABLES t \
                ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME \
                WHERE t.TABLE_SCHEMA = 'one' AND t.TABLE_NAME";
    let (answer, count) = examined(&mut client, &format!("{join} = 't07'"));
    assert_eq!((answer.trim(), count), ("3", 1 + COLUMNS));
    let (answer, count) = examined(&mut client, &format!("{join} LIKE 't%'"));
    assert_eq!((answer.trim(), count), ("120", TABLES * (1 + COLUMNS)));
    let outer = "SELECT COUNT(c.COLUMN_NAME) FROM information_schema.TABLES t LEFT JOIN information_schema.COLUMNS c \
                 ON c.TABLE_SCHEMA = t.TABLE_SCHEMA AND c.TABLE_NAME = t.TABLE_NAME AND c.COLUMN_NAME = 'a' \
                 WHERE t.TABLE_SCHEMA = 'two'";
    assert_eq!(examined(&mut client, outer).0.trim(), "40");
}

#[test]
fn a_table_that_is_read_again_is_made_once() {
    let mut client = session();
    let (_, all) = examined(&mut client, "SELECT COUNT(*) FROM information_schema.SCHEMATA");
    let query = "SELECT COUNT(*) FROM information_schema.SCHEMATA a JOIN information_schema.SCHEMATA b \
                 ON a.SCHEMA_NAME < b.SCHEMA_NAME";
    let (answer, count) = examined(&mut client, query);
    assert_eq!(answer.trim(), (all * (all - 1) / 2).to_string());
    assert_eq!(count, 2 * all);
}

#[test]
fn a_subquery_makes_rows_for_each_outer_row() {
    let mut client = session();
    client.answer("CREATE TABLE names (name VARCHAR(64))").unwrap();
    client.answer("INSERT INTO names VALUES ('t01'), ('t02'), ('none'), (NULL)").unwrap();
    let query = "SELECT name, (SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'one' \
                 AND TABLE_NAME = name) FROM names ORDER BY name";
    let (answer, count) = examined(&mut client, query);
    assert_eq!(answer, "NULL 0; none 0; t01 3; t02 3");
    let (_, of_names) = examined(&mut client, "SELECT name FROM names ORDER BY name");
    assert_eq!(count, of_names + 2 * COLUMNS);
}
