//! The processor time of statements, which is measured while the consumer events_statements_cpu is enabled.

mod client;

use client::{Client, TestServer, run};

const ENABLE: &str =
    "UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_statements_cpu'";
const DISABLE: &str =
    "UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'events_statements_cpu'";

/// Milliseconds of processor, and milliseconds that it took, of the session's last statement.
fn last(client: &mut Client, watcher: &mut Client, statement: &str) -> (f64, f64) {
    let id = client.value("SELECT CONNECTION_ID()");
    run(client, &[statement]);
    let mut column = |name: &str| -> f64 {
        let query = format!(
            "SELECT {name} / 1000000000 FROM performance_schema.events_statements_current WHERE THREAD_ID = {id}"
        );
        watcher.value(&query).parse().expect("a number")
    };
    (column("CPU_TIME"), column("TIMER_WAIT"))
}

#[test]
fn a_statement_that_computes_has_a_processor_and_one_that_waits_has_none() {
    let server = TestServer::start(&[]);
    let (mut client, mut watcher) = (server.connect(), server.connect());
    let computing = "SELECT BENCHMARK(100000, SHA2('a', 256))";
    let (cpu, _) = last(&mut client, &mut watcher, computing);
    assert_eq!(cpu, 0.0, "the consumer is disabled");
    run(&mut watcher, &[ENABLE]);
    let (cpu, wait) = last(&mut client, &mut watcher, computing);
    // Beside others that compute it waits for a processor, and that does not count.
    assert!(cpu > 3.0 && cpu <= wait * 1.01, "{cpu} of {wait} ms");
    let (cpu, wait) = last(&mut client, &mut watcher, "DO SLEEP(0.3)");
    assert!(wait > 290.0 && cpu > 0.0 && cpu < 100.0, "{cpu} of {wait} ms");
    let sum = "SELECT SUM_CPU_TIME > 3000000000 AND SUM_CPU_TIME <= SUM_TIMER_WAIT FROM \
               performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT LIKE 'SELECT `BENCHMARK`%' \
               OR DIGEST_TEXT LIKE 'SELECT BENCHMARK%'";
    assert_eq!(watcher.value(sum), "1");
    let by_class = "SELECT SUM_CPU_TIME > 0 FROM performance_schema.events_statements_summary_global_by_event_name \
                    WHERE EVENT_NAME = 'statement/sql/do'";
    assert_eq!(watcher.value(by_class), "1");
    run(&mut watcher, &[DISABLE]);
    assert_eq!(last(&mut client, &mut watcher, computing).0, 0.0);
}

#[test]
fn statements_of_the_binary_protocol_and_of_many_steps_are_measured() {
    let server = TestServer::start(&[("performance_schema_max_sql_text_length", "100")]);
    let (mut client, mut watcher) = (server.connect(), server.connect());
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "USE test",
            "SET SESSION cte_max_recursion_depth = 100000",
            "CREATE TABLE t (a INT PRIMARY KEY, b INT)",
            "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, i FROM n",
        ],
    );
    run(&mut watcher, &[ENABLE]);
    let text = "SELECT COUNT(*) FROM t x WHERE SHA2(b, 256) LIKE 'a%'";
    let statement = client.prepare(text).expect("prepared");
    client.execute(statement, &[]);
    client.execute(statement, &[]);
    let sum = format!(
        "SELECT SUM_CPU_TIME BETWEEN 200000000 AND SUM_TIMER_EXECUTE * 2.1 FROM \
         performance_schema.prepared_statements_instances WHERE SQL_TEXT = '{}'",
        text.replace('\'', "''")
    );
    assert_eq!(watcher.value(&sum), "1");
}
