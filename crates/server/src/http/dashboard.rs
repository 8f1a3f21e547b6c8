//! The page at `/`, and the numbers that it asks for every second.
//!
//! The page is one file: its style and script are put into it when the program is built, and the policy that
//! goes with it lets the browser run that script and nothing else. Whatever the server tells (statements,
//! names) is put in as text.

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use palisade_catalog::Value;
use palisade_observe::histogram::{BUCKETS, bounds_ps};
use palisade_sql::{InternalSession, SqlResult};
use serde_json::{Map, Number, Value as Json, json};
use sha2::{Digest, Sha256};

use super::slow_log;
use crate::server::Server;
use crate::{status, variables};

const STYLE: &str = include_str!("dashboard/dashboard.css");
const SCRIPT: &str = include_str!("dashboard/dashboard.js");
const FRAME: &str = include_str!("dashboard/dashboard.html");

/// The page, and the policy by which a browser runs its own script and style alone.
pub(super) struct Page {
    pub text: String,
    pub policy: String,
}

/// The page.
pub(super) static PAGE: LazyLock<Page> = LazyLock::new(|| {
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    Page {
        text: FRAME.replace("/* style */", STYLE).replace("/* script */", SCRIPT),
        policy: format!(
            "default-src 'none'; script-src {}; style-src {}; connect-src 'self'; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            hash(SCRIPT),
            hash(STYLE)
        ),
    }
});

/// Rows of a table of the page: the name of the list, and a query with a column for each member of its
/// objects.
struct List {
    name: &'static str,
    query: &'static str,
    columns: &'static [&'static str],
}

/// What changes from second to second.
static NOW: &[List] = &[
    List {
        name: "running",
        query: "SELECT ID, USER, HOST, DB, COMMAND, TIME, STATE, LEFT(INFO, 1000) FROM performance_schema.processlist \
                WHERE COMMAND <> 'Sleep' ORDER BY TIME DESC, ID LIMIT 50",
        columns: &["id", "user", "host", "schema", "command", "seconds", "state", "text"],
    },
    List {
        name: "blocked",
        query: "SELECT r.trx_mysql_thread_id, LEFT(r.trx_query, 1000), TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()), \
                b.trx_mysql_thread_id, LEFT(b.trx_query, 1000), l.OBJECT_SCHEMA, l.OBJECT_NAME, l.INDEX_NAME, l.LOCK_MODE, LEFT(l.LOCK_DATA, 200) \
                FROM performance_schema.data_lock_waits w \
                JOIN performance_schema.data_locks l ON l.ENGINE_LOCK_ID = w.REQUESTING_ENGINE_LOCK_ID \
                JOIN information_schema.INNODB_TRX r ON r.trx_id = w.REQUESTING_ENGINE_TRANSACTION_ID \
                JOIN information_schema.INNODB_TRX b ON b.trx_id = w.BLOCKING_ENGINE_TRANSACTION_ID \
                ORDER BY r.trx_wait_started LIMIT 50",
        columns: &["id", "text", "seconds", "by", "by_text", "schema", "table", "index", "mode", "key"],
    },
];

/// What changes slowly.
static SLOW: &[List] = &[
    List {
        name: "statements",
        query: "SELECT DIGEST, SCHEMA_NAME, LEFT(DIGEST_TEXT, 500), LEFT(QUERY_SAMPLE_TEXT, 1000), COUNT_STAR, \
                SUM_TIMER_WAIT / 1000000000000, AVG_TIMER_WAIT / 1000000000, QUANTILE_95 / 1000000000, \
                QUANTILE_99 / 1000000000, MAX_TIMER_WAIT / 1000000000, SUM_ROWS_EXAMINED, SUM_ROWS_SENT, SUM_ERRORS \
                FROM performance_schema.events_statements_summary_by_digest ORDER BY SUM_TIMER_WAIT DESC LIMIT 30",
        columns: &[
            "hash", "schema", "digest", "sample", "count", "seconds", "mean", "p95", "p99", "most",
            "examined", "sent", "errors",
        ],
    },
    List {
        name: "slowest",
        query: "SELECT h.THREAD_ID, h.CURRENT_SCHEMA, LEFT(h.SQL_TEXT, 1000), h.TIMER_WAIT / 1000000000, h.LOCK_TIME / 1000000000, \
                h.ROWS_EXAMINED, h.ROWS_SENT, h.MYSQL_ERRNO FROM performance_schema.events_statements_history h \
                WHERE h.SQL_TEXT IS NOT NULL ORDER BY h.TIMER_WAIT DESC LIMIT 20",
        columns: &["id", "schema", "text", "took", "locked", "examined", "sent", "error"],
    },
    List {
        name: "indexes",
        query: "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, COUNT_FETCH, COUNT_INSERT, COUNT_UPDATE, COUNT_DELETE \
                FROM performance_schema.table_io_waits_summary_by_index_usage \
                WHERE OBJECT_TYPE = 'TABLE' AND OBJECT_SCHEMA NOT IN ('mysql', 'performance_schema', 'sys') \
                AND COUNT_STAR > 0 ORDER BY COUNT_STAR DESC LIMIT 30",
        columns: &["schema", "table", "index", "fetched", "inserted", "updated", "deleted"],
    },
    List {
        name: "unused",
        query: "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME FROM performance_schema.table_io_waits_summary_by_index_usage \
                WHERE OBJECT_TYPE = 'TABLE' AND OBJECT_SCHEMA NOT IN ('mysql', 'performance_schema', 'sys') \
                AND INDEX_NAME IS NOT NULL AND INDEX_NAME <> 'PRIMARY' AND COUNT_STAR = 0 \
                ORDER BY OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME LIMIT 50",
        columns: &["schema", "table", "index"],
    },
    List {
        name: "files",
        query: "SELECT EVENT_NAME, COUNT_READ, SUM_NUMBER_OF_BYTES_READ, COUNT_WRITE, SUM_NUMBER_OF_BYTES_WRITE, COUNT_MISC \
                FROM performance_schema.file_summary_by_event_name WHERE COUNT_STAR > 0 ORDER BY COUNT_STAR DESC",
        columns: &["name", "reads", "read", "writes", "written", "others"],
    },
    List {
        name: "spaces",
        query: "SELECT NAME, ROW_FORMAT, FILE_SIZE, ALLOCATED_SIZE FROM information_schema.INNODB_TABLESPACES \
            ORDER BY ALLOCATED_SIZE DESC LIMIT 20",
        columns: &["name", "format", "bytes", "allocated"],
    },
];

/// What the page asks for every second: all counters that are numbers, what runs, and who waits for whom.
pub(super) async fn now(server: &Arc<Server>) -> SqlResult<String> {
    let counters = status::all(&server.host, None).into_iter();
    let counters: Map<String, Json> = counters
        .filter_map(|(name, value)| Some((name, Json::from(value.parse::<Number>().ok()?))))
        .collect();
    let mut answer = json!({
        "version": server.host.version(),
        "micros": variables::unix_micros(),
        "status": counters,
        "latency": latency(server),
    });
    add_lists(server, NOW, &mut answer).await?;
    Ok(answer.to_string())
}

/// The times of all statements so far, in buckets: of each that is not empty its number, how many statements
/// it has, and its end in milliseconds.
fn latency(server: &Server) -> Vec<Json> {
    let counts = server.host.instruments.digests.all();
    let taken = (0..BUCKETS).filter(|bucket| counts.of(*bucket) > 0);
    taken.map(|bucket| json!([bucket, counts.of(bucket), bounds_ps(bucket).1 as f64 / 1e9])).collect()
}

/// What the page asks for every ten seconds.
pub(super) async fn slow(server: &Arc<Server>) -> SqlResult<String> {
    let mut answer = json!({ "slow_log": slow_log::entries(server).await? });
    add_lists(server, SLOW, &mut answer).await?;
    Ok(answer.to_string())
}

async fn add_lists(server: &Arc<Server>, lists: &[List], answer: &mut Json) -> SqlResult<()> {
    let mut session = InternalSession::new(&server.sql);
    let mut made = Ok(());
    for list in lists {
        match session.run(list.query).await {
            Ok(rows) => {
                let rows = rows.iter().map(|row| object(list.columns, row));
                if let Some(answer) = answer.as_object_mut() {
                    answer.insert(list.name.to_owned(), rows.collect());
                }
            }
            Err(error) => made = Err(error),
        }
    }
    session.end().await;
    made
}

pub(super) fn object(names: &[&str], row: &[Value]) -> Json {
    names.iter().zip(row).map(|(name, value)| ((*name).to_owned(), shown(value))).collect()
}

/// A value as the page's script reads it.
fn shown(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Int(number) => json!(number),
        Value::UInt(number) => json!(number),
        Value::Float(number) => json!(number),
        Value::Double(number) => json!(number),
        // as exact as the page shows it
        Value::Decimal(number) => json!(number.to_string().parse::<f64>().ok()),
        Value::Bytes(text) => json!(String::from_utf8_lossy(text)),
        Value::DateTime(time) => json!(time.to_string()),
        other => json!(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_whole_and_asks_no_other_server() {
        let Page { text, policy } = &*PAGE;
        assert!(text.contains(SCRIPT) && text.contains(STYLE) && policy.contains("'sha256-"), "{policy}");
        for outside in
            ["http://", "https://", "src=\"", "@import", "url(", "innerHTML", "insertAdjacentHTML", "eval("]
        {
            assert!(!text.contains(outside), "{outside}");
        }
    }

    #[test]
    fn values_are_told_as_json_has_them() {
        let row = [
            Value::UInt(u64::MAX),
            Value::bytes("<b>\"\u{1f600}"),
            Value::Null,
            Value::Bytes(vec![0xff].into()),
        ];
        let told = object(&["a", "b", "c", "d"], &row);
        assert_eq!(told.to_string(), r#"{"a":18446744073709551615,"b":"<b>\"😀","c":null,"d":"�"}"#);
    }
}
