//! Sessions that share statements and their plans: who shares with whom, and what each still sees for itself.

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;

use client::{Client, block_on, processor};
use palisade_catalog::Value;
use palisade_expr::mode::SqlMode;
use palisade_session::sink::Collected;
use palisade_sql::plan_cache::MAX_WEIGHT;
use palisade_sql::{Prepared, Sql};

/// Sessions of one worker, in a database with a table.
fn sessions<const COUNT: usize>() -> [Client; COUNT] {
    let sql = processor(Arc::default());
    let mut first = Client::new(&sql, 1);
    for text in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20), u INT UNSIGNED)",
        "INSERT INTO d.t VALUES (1, '1abc', 1), (2, '1', 2)",
    ] {
        first.answer(text).unwrap();
    }
    let plans = first.session.plans.clone();
    std::array::from_fn(|number| {
        let mut client = Client::new(&sql, number as u64 + 2);
        client.session.plans = plans.clone();
        client.session.state.database = Some("d".to_owned());
        client
    })
}

fn prepare(client: &mut Client, text: &str) -> Arc<Prepared> {
    block_on(client.sql.prepare(&mut client.session, text.as_bytes())).unwrap().0
}

/// The rows of an execution, or the number of its error.
fn execute(client: &mut Client, prepared: &Arc<Prepared>, values: &[Value]) -> Result<Vec<Vec<Value>>, u16> {
    let mut sink = Collected::default();
    let sql: Arc<Sql> = client.sql.clone();
    match block_on(sql.execute(&mut client.session, prepared, values, &mut sink)) {
        Ok(_) => Ok(sink.rows),
        Err(error) => Err(error.number()),
    }
}

fn rows(values: &[i64]) -> Result<Vec<Vec<Value>>, u16> {
    Ok(values.iter().map(|value| vec![Value::Int(*value)]).collect())
}

#[test]
fn a_session_that_moves_takes_up_what_is_kept_where_it_comes() {
    let [mut moving, mut other] = sessions();
    other.session.plans = Arc::default();
    let text = "SELECT id FROM t WHERE id = ?";
    let (before, theirs) = (prepare(&mut moving, text), prepare(&mut other, text));
    let alone = prepare(&mut moving, "SELECT u FROM t WHERE id = ?");
    assert_eq!(execute(&mut moving, &alone, &[Value::Int(2)]), Ok(vec![vec![Value::UInt(2)]]));
    assert!(!Arc::ptr_eq(&before, &theirs));

    moving.session.plans = other.session.plans.clone();
    let plans = moving.session.plans.clone();
    let after = plans.adopt(&before);
    assert!(Arc::ptr_eq(&after, &theirs));
    assert_eq!(execute(&mut moving, &after, &[Value::Int(1)]), rows(&[1]));
    // What nobody has prepared there is not parsed again, and is kept for the next.
    let adopted = plans.adopt(&alone);
    assert!(Arc::ptr_eq(&adopted.statement, &alone.statement) && !Arc::ptr_eq(&adopted, &alone));
    assert_eq!((adopted.text(), adopted.plan_count()), (alone.text(), 0));
    assert_eq!(execute(&mut moving, &adopted, &[Value::Int(2)]), Ok(vec![vec![Value::UInt(2)]]));
    assert!(Arc::ptr_eq(&prepare(&mut other, "SELECT u FROM t WHERE id = ?"), &adopted));
    // What is not kept anywhere is still a statement.
    let begin = prepare(&mut moving, "CREATE TABLE made (a INT)");
    let begin_there = plans.adopt(&begin);
    assert!(!Arc::ptr_eq(&plans.adopt(&begin), &begin_there));
    assert_eq!(execute(&mut moving, &begin_there, &[]), rows(&[]));
}

#[test]
fn a_text_that_two_sessions_prepare_is_one_statement_with_one_plan() {
    let [mut one, mut other] = sessions();
    let text = "SELECT id FROM t WHERE id = ?";
    let (mine, yours) = (prepare(&mut one, text), prepare(&mut other, text));
    assert!(Arc::ptr_eq(&mine, &yours));
    // Values are not known while it is prepared; the plan for numbers comes with the first number.
    assert_eq!(mine.plan_count(), 1);
    assert_eq!(execute(&mut one, &mine, &[Value::Int(1)]), rows(&[1]));
    assert_eq!(mine.plan_count(), 2);
    assert_eq!(execute(&mut other, &yours, &[Value::Int(2)]), rows(&[2]));
    assert_eq!(execute(&mut other, &yours, &[Value::Int(3)]), rows(&[]));
    assert_eq!(mine.plan_count(), 2);

    let all = prepare(&mut one, "SELECT id FROM t");
    assert_eq!(execute(&mut other, &all, &[]), rows(&[1, 2]));
    assert_eq!(all.plan_count(), 1, "without values there is one plan");
    for text in ["UPDATE t SET u = 5 WHERE id = ?", "DELETE FROM t WHERE id = ?", "COMMIT"] {
        assert!(Arc::ptr_eq(&prepare(&mut one, text), &prepare(&mut other, text)), "{text}");
    }
}

#[test]
fn the_sessions_of_another_worker_and_passwords_are_not_shared() {
    let [mut one, mut other] = sessions();
    other.session.plans = Arc::default();
    let text = "SELECT id FROM t";
    assert!(!Arc::ptr_eq(&prepare(&mut one, text), &prepare(&mut other, text)));
    let before = one.session.plans.len();
    prepare(&mut one, "CREATE USER u IDENTIFIED BY 'secret'");
    assert_eq!(one.session.plans.len(), before);
}

#[test]
fn named_statements_share_as_well() {
    let [mut one, mut other] = sessions();
    for client in [&mut one, &mut other] {
        client.answer("PREPARE s FROM 'SELECT id FROM t WHERE id = ?'").unwrap();
        client.answer("SET @id = 2").unwrap();
        assert_eq!(client.run("EXECUTE s USING @id"), "2");
    }
    assert!(Arc::ptr_eq(&one.session.prepared["s"].prepared, &other.session.prepared["s"].prepared));
    assert_eq!(other.session.prepared["s"].prepared.plan_count(), 2);
}

#[test]
fn a_change_of_the_table_by_another_session_is_seen_at_the_next_execution() {
    let [mut one, mut other, mut third] = sessions();
    let text = "SELECT * FROM t WHERE id = 1";
    let (mine, yours) = (prepare(&mut one, text), prepare(&mut other, text));
    let unused = prepare(&mut one, "SELECT v FROM t");
    assert_eq!(execute(&mut one, &mine, &[]).unwrap()[0].len(), 3);
    third.answer("ALTER TABLE t ADD COLUMN w INT DEFAULT 7").unwrap();
    assert_eq!(unused.plan_count(), 1, "nobody has planned since");
    for (client, prepared) in [(&mut one, &mine), (&mut other, &yours)] {
        let found = execute(client, prepared, &[]).unwrap();
        assert_eq!(found[0].last(), Some(&Value::Int(7)));
        assert_eq!(prepared.plan_count(), 1, "the plan for the table as it was is gone");
    }
    assert_eq!(unused.plan_count(), 0, "of other statements, too");
    third.answer("DROP TABLE t").unwrap();
    assert_eq!(execute(&mut other, &yours, &[]), Err(1146));
    third.answer("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    third.answer("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(execute(&mut one, &mine, &[]), rows(&[1]));
    assert!(execute(&mut one, &unused, &[]).is_err(), "there is no column v now");
}

#[test]
fn each_session_has_the_plan_of_its_own_database_and_settings() {
    let [mut one, mut other] = sessions();
    other.answer("CREATE DATABASE e").unwrap();
    other.answer("CREATE TABLE e.t (id BIGINT, u INT UNSIGNED)").unwrap();
    other.answer("INSERT INTO e.t VALUES (9, 1)").unwrap();
    let text = "SELECT id FROM t LIMIT 1";
    let mine = prepare(&mut one, text);
    other.session.state.database = Some("e".to_owned());
    let yours = prepare(&mut other, text);
    for _ in 0..3 {
        assert_eq!(execute(&mut one, &mine, &[]), rows(&[1]));
        assert_eq!(execute(&mut other, &yours, &[]), rows(&[9]));
    }
    assert_eq!(mine.plan_count(), 2, "both stay");

    // What is read differently is another statement; what is only planned differently, another plan.
    let quoted = "SELECT \"id\" FROM t LIMIT 1";
    let string = prepare(&mut one, quoted);
    other.session.state.variables.sql_mode = SqlMode::ANSI_QUOTES;
    let column = prepare(&mut other, quoted);
    assert!(!Arc::ptr_eq(&string, &column));
    assert_eq!(execute(&mut one, &string, &[]), Ok(vec![vec![Value::bytes("id")]]));
    assert_eq!(execute(&mut other, &column, &[]), rows(&[9]));

    other.session.state.variables.sql_mode = SqlMode::NO_UNSIGNED_SUBTRACTION;
    other.session.state.database = Some("d".to_owned());
    let difference = "SELECT u - 2 FROM t WHERE id = 1";
    let (mine, yours) = (prepare(&mut one, difference), prepare(&mut other, difference));
    assert!(Arc::ptr_eq(&mine, &yours));
    for _ in 0..2 {
        assert_eq!(execute(&mut one, &mine, &[]), Err(1690));
        assert_eq!(execute(&mut other, &yours, &[]), rows(&[-1]));
    }
}

#[test]
fn digits_of_a_quotient_and_length_of_a_group_are_those_of_the_session() {
    let [mut one, mut other] = sessions();
    other.session.state.variables.div_precision_increment = 8;
    let text = "SELECT u / 3 FROM t WHERE id = 1";
    for _ in 0..2 {
        assert_eq!(one.run(text), "0.3333");
        assert_eq!(other.run(text), "0.33333333");
    }
    one.session.state.variables.div_precision_increment = 2;
    assert_eq!(one.run(text), "0.33");
}

#[test]
fn sessions_that_share_a_statement_give_it_values_of_different_types() {
    let [mut one, mut other] = sessions();
    let text = "SELECT id FROM t WHERE v = ?";
    let (mine, yours) = (prepare(&mut one, text), prepare(&mut other, text));
    assert!(Arc::ptr_eq(&mine, &yours));
    for _ in 0..3 {
        // '1abc' is 1 as a number
        assert_eq!(execute(&mut one, &mine, &[Value::Int(1)]), rows(&[1, 2]));
        assert_eq!(execute(&mut other, &yours, &[Value::bytes("1")]), rows(&[2]));
        assert_eq!(execute(&mut other, &yours, &[Value::Null]), rows(&[]));
    }
    assert_eq!(mine.plan_count(), 3);
    for value in [Value::UInt(1), Value::Double(1.0), Value::Year(1), Value::Float(1.0)] {
        assert_eq!(execute(&mut one, &mine, &[value]), rows(&[1, 2]));
    }
    assert_eq!(mine.plan_count(), 4, "their number is bounded");
}

#[test]
fn what_is_kept_is_bounded_in_bytes_and_what_is_forgotten_goes_on_to_work() {
    let [mut client] = sessions();
    let first = prepare(&mut client, "SELECT id FROM t WHERE id = ?");
    let mut most = 0;
    let mut largest = 0;
    for number in 0..1200 {
        let list: Vec<String> = (0..150).map(|item| (number * 1000 + item).to_string()).collect();
        prepare(&mut client, &format!("SELECT {} FROM t WHERE id = ?", list.join(", ")));
        let plans = &client.session.plans;
        assert!(plans.weight() <= MAX_WEIGHT);
        most = most.max(plans.len());
        largest = largest.max(plans.weight());
    }
    assert!(largest > MAX_WEIGHT / 2, "it was filled: {largest}");
    assert!((1..1200).contains(&most), "some were forgotten, not all: {most}");
    assert_eq!(execute(&mut client, &first, &[Value::Int(2)]), rows(&[2]));
    let huge = format!("SELECT '{}'", "x".repeat(MAX_WEIGHT / 16));
    let before = client.session.plans.weight();
    prepare(&mut client, &huge);
    assert_eq!(client.session.plans.weight(), before, "what is too large is not kept");
}
