//! That plans are shared, as SHOW STATUS tells it.
//!
//! Alone in its program: the counters are the process's.

mod client;

use client::{Client, TestServer, run};

fn count(client: &mut Client, name: &str) -> u64 {
    let client::Answer::Rows(rows) = client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")) else {
        panic!("{name}");
    };
    rows[0][1].as_ref().unwrap().parse().unwrap()
}

/// Prepares and executes ten statements.
fn use_statements(client: &mut Client) {
    for number in 0..10 {
        let text = format!("SELECT id + {number} FROM d.t WHERE id = ?");
        let id = client.prepare(&text).unwrap();
        for value in 1..4i64 {
            let parameter = [&[0, 1, 8, 0][..], &value.to_le_bytes()].concat();
            assert_eq!(client.execute(id, &parameter).len(), usize::from(value == 1));
        }
    }
}

#[test]
fn the_second_session_of_a_worker_makes_no_plan() {
    let server = TestServer::start(&[("worker_threads", "1")]);
    let mut root = server.connect();
    run(
        &mut root,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"],
    );
    const NAMES: [&str; 4] = [
        "Plan_cache_plans_made",
        "Plan_cache_statements_parsed",
        "Plan_cache_prepares_shared",
        "Plan_cache_statements",
    ];
    let mut clients = [server.connect(), server.connect(), server.connect()];
    let mut counted = vec![NAMES.map(|name| count(&mut root, name))];
    let mut bytes = vec![count(&mut root, "Plan_cache_bytes")];
    for client in &mut clients {
        use_statements(client);
        counted.push(NAMES.map(|name| count(&mut root, name)));
        bytes.push(count(&mut root, "Plan_cache_bytes"));
    }
    let grown: Vec<[u64; 4]> =
        counted.windows(2).map(|pair| std::array::from_fn(|which| pair[1][which] - pair[0][which])).collect();
    // Two plans each: one without values, when it is prepared, and one for numbers.
    assert_eq!(grown, [[20, 10, 0, 10], [0, 0, 10, 0], [0, 0, 10, 0]]);
    assert!(bytes[1] > bytes[0] && bytes[2] == bytes[1] && bytes[3] == bytes[1], "{bytes:?}");
    assert_eq!(count(&mut root, "Prepared_stmt_count"), 30, "each session has its own");

    // A change of the dictionary: planned once more, by whoever comes first.
    run(&mut root, &["CREATE TABLE d.other (id INT)"]);
    let before = count(&mut root, "Plan_cache_plans_made");
    clients.iter_mut().for_each(use_statements);
    assert_eq!(count(&mut root, "Plan_cache_plans_made") - before, 20);
}
