//! Statements that keep their plans: a plan is made again when the data would have the planner choose
//! another one, and that one is tried in turns with it.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test that panics has failed")]

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;

use client::{Client, processor};
use palisade_sql::{InternalSession, Sql};

/// Queries of all kinds of choices.
const QUERIES: [&str; 9] = [
    "SELECT COUNT(v) FROM a WHERE k = 1 AND m = 1",
    "SELECT COUNT(v) FROM a WHERE k = 1 OR m = 1",
    "SELECT a.v, b.w FROM a JOIN b ON b.k = a.k WHERE a.m = 1 AND b.m = 2 ORDER BY a.id",
    "SELECT COUNT(*) FROM a JOIN b ON b.w = a.v WHERE a.m < 3",
    "SELECT a.k, COUNT(*) FROM a JOIN b ON b.k = a.k JOIN c ON c.m = b.m GROUP BY a.k",
    "SELECT a.v FROM a LEFT JOIN b ON b.k = a.m LEFT JOIN c ON c.k = b.m WHERE a.k = 1",
    "SELECT COUNT(*) FROM a WHERE k IN (SELECT k FROM b WHERE m = 1)",
    "SELECT COUNT(*) FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.k = a.m AND b.w > 3)",
    "SELECT k FROM a WHERE m > 2 ORDER BY k LIMIT 3",
];

fn done(client: &mut Client, text: &str) {
    client.answer(text).unwrap_or_else(|error| panic!("{text}: {error}"));
}

/// Fills the tables: so many rows, and so many values of `k` and `m` in each.
fn fill(client: &mut Client, tables: [(&str, u64, u64, u64); 3]) {
    for (table, rows, of_k, of_m) in tables {
        done(client, &format!("TRUNCATE TABLE {table}"));
        for from in (0..rows).step_by(1000) {
            let row = |id: u64| format!("({id},{},{},{},{})", id % of_k, id % of_m, id % 97, id % 89);
            let rows: Vec<String> = (from..rows.min(from + 1000)).map(row).collect();
            done(client, &format!("INSERT INTO {table} VALUES {}", rows.join(",")));
        }
        done(client, &format!("ANALYZE TABLE {table}"));
    }
}

fn database() -> (Arc<Sql>, Client) {
    let sql = processor(Arc::default());
    let mut client = Client::new(&sql, 1);
    client::block_on(async {
        let mut internal = InternalSession::new(&sql);
        internal.run("CREATE DATABASE IF NOT EXISTS mysql").await.unwrap();
        internal.end().await;
    });
    done(&mut client, "CREATE DATABASE d");
    done(&mut client, "USE d");
    for table in ["a", "b", "c"] {
        done(
            &mut client,
            &format!(
                "CREATE TABLE {table} (id INT PRIMARY KEY, k INT, m INT, v INT, w INT, KEY k (k), KEY m (m))"
            ),
        );
    }
    (sql, client)
}

fn first_data(client: &mut Client) {
    fill(client, [("a", 3000, 2, 1500), ("b", 60, 30, 3), ("c", 2000, 1000, 5)]);
}

fn other_data(client: &mut Client) {
    fill(client, [("a", 60, 30, 3), ("b", 4000, 2000, 400), ("c", 50, 2, 25)]);
}

/// The plan of a query without what is thought of its rows.
fn shape(client: &mut Client, query: &str) -> String {
    let tree = client.run(&format!("EXPLAIN FORMAT=TREE {query}"));
    let lines = tree.lines().map(|line| line.split_once("  (").map_or(line, |(before, _)| before));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_plan_is_made_again_where_the_planner_would_choose_another_one() {
    let (sql, mut client) = database();
    first_data(&mut client);
    let first = QUERIES.map(|query| shape(&mut client, query));
    sql.kept_plans().turn(true);
    for query in QUERIES {
        done(&mut client, query);
    }
    assert_eq!(sql.kept_plans().list().len(), QUERIES.len());
    other_data(&mut client);
    let kept = QUERIES.map(|query| shape(&mut client, query));
    sql.kept_plans().turn(false);
    let free = QUERIES.map(|query| shape(&mut client, query));
    for (number, query) in QUERIES.iter().enumerate() {
        assert_eq!(kept[number], first[number], "{query}: {}", free[number]);
    }
    let others = free.iter().zip(&first).filter(|(free, first)| free != first).count();
    assert!(others >= 6, "only {others} plans would be others: {free:#?}");
}

#[test]
fn answers_are_the_same_while_plans_are_tried_and_a_trial_ends() {
    let (sql, mut client) = database();
    first_data(&mut client);
    sql.kept_plans().turn(true);
    for query in QUERIES {
        done(&mut client, query);
    }
    other_data(&mut client);
    sql.engine().outdate_plans();
    sql.kept_plans().turn(false);
    let right = QUERIES.map(|query| client.run(query));
    sql.engine().outdate_plans();
    sql.kept_plans().turn(true);
    let mut tried = 0;
    for (query, right) in QUERIES.iter().zip(&right) {
        let sorted = |answer: &str| {
            let mut lines: Vec<String> = answer.split("; ").map(str::to_owned).collect();
            lines.sort();
            lines
        };
        for round in 0..90 {
            let answer = client.run(query);
            assert_eq!(sorted(&answer), sorted(right), "{query} in round {round}");
            tried += usize::from(sql.kept_plans().list().iter().any(|plan| plan.tried.is_some()));
        }
    }
    assert!(tried > 100, "{tried} rounds of trials");
    // The clock stands still here, so that none is faster.
    let plans = sql.kept_plans().list();
    assert!(plans.iter().all(|plan| plan.tried.is_none()), "{plans:#?}");
    assert!(plans.iter().filter(|plan| plan.rejected > 0).count() >= 6, "{plans:#?}");
}

#[test]
fn a_plan_whose_index_is_dropped_is_kept_no_longer() {
    let (sql, mut client) = database();
    first_data(&mut client);
    sql.kept_plans().turn(true);
    let query = "SELECT COUNT(v) FROM a WHERE m = 7";
    done(&mut client, query);
    let kept = || format!("{}", sql.kept_plans().list()[0].outline);
    assert_eq!(kept(), "group\nread 0 ranges `m` `d`.`a`");
    done(&mut client, "ALTER TABLE a DROP KEY m");
    done(&mut client, query);
    assert_eq!(kept(), "group\nread 0 whole `PRIMARY` `d`.`a`");
    // Statements with hints, and prepared ones without values, are planned as they were.
    done(&mut client, "SELECT /*+ NO_INDEX(a) */ COUNT(v) FROM a WHERE k = 7");
    done(&mut client, "PREPARE s FROM 'SELECT COUNT(v) FROM a WHERE k = ?'");
    assert_eq!(sql.kept_plans().list().len(), 1);
    done(&mut client, "SET @k = 7");
    done(&mut client, "EXECUTE s USING @k");
    assert_eq!(sql.kept_plans().list().len(), 2);
    // A binding says more.
    done(
        &mut client,
        "CREATE BINDING FOR SELECT COUNT(v) FROM a WHERE m = 1 USING SELECT /*+ NO_INDEX(a k) */ COUNT(v) FROM a WHERE m = 1",
    );
    assert_eq!(sql.kept_plans().list().len(), 1);
}

#[test]
fn plans_are_kept_in_a_table() {
    let (sql, mut client) = database();
    first_data(&mut client);
    sql.kept_plans().turn(true);
    for query in QUERIES {
        done(&mut client, query);
    }
    // The queries of this test are not to be kept.
    sql.kept_plans().turn(false);
    client::block_on(sql.save_kept_plans()).unwrap();
    let texts = "SELECT COUNT(*) FROM mysql.palisade_plans WHERE default_db = 'd' AND plan LIKE '%read%'";
    assert_eq!(client.run(texts).trim_end(), format!("{}", QUERIES.len()));
    let before = sql.kept_plans().list();
    let again = Sql::new(sql.engine().clone(), sql.host().clone());
    assert_eq!(client::block_on(again.load_kept_plans()), Ok(0));
    let after = again.kept_plans().list();
    assert_eq!(format!("{before:?}"), format!("{after:?}"));
    // What is forgotten goes from the table.
    let [first, ..] = QUERIES;
    done(&mut client, &format!("DROP BINDING FOR {first}"));
    client::block_on(sql.save_kept_plans()).unwrap();
    assert_eq!(client.run(texts).trim_end(), format!("{}", QUERIES.len() - 1));
}
