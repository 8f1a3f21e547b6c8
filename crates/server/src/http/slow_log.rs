//! The end of the slow query log, for the page: from its file if it is written to one, else from
//! `mysql.slow_log`.
//!
//! An entry of the file begins with a line `# Time: ...`, has two more lines that begin with `#`, maybe
//! `use ...;`, `SET timestamp=...;`, and then the statement, whose lines may look like anything. What cannot be read as
//! an entry is left out.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use palisade_sql::{InternalSession, SqlResult};
use serde_json::{Value as Json, json};

use super::dashboard::object;
use crate::query_logs;
use crate::server::Server;

/// Bytes at the end of the file that are read.
const TAIL: u64 = 256 << 10;
/// Entries that are shown: the last ones.
const MOST: usize = 30;
/// Bytes of a statement that are shown.
const TEXT: usize = 1000;

const COLUMNS: &[&str] = &["at", "account", "took", "locked", "sent", "examined", "schema", "text"];
const QUERY: &str = "SELECT start_time, user_host, TIME_TO_SEC(query_time) * 1000, TIME_TO_SEC(lock_time) * 1000, rows_sent, \
                     rows_examined, db, LEFT(CONVERT(sql_text USING utf8mb4), 1000) FROM mysql.slow_log \
                     ORDER BY start_time DESC LIMIT 30";

/// The last entries, the latest first, and where they are from: `null` if nothing is logged.
pub(super) async fn entries(server: &Arc<Server>) -> SqlResult<Json> {
    let (file, goes_to_table) = {
        let settings = server.host.globals.load();
        (query_logs::slow_file(&settings), query_logs::slow_goes_to_table(&settings))
    };
    if let Some(path) = file {
        let entries = tail(&path).map(|text| parsed(&text));
        let problem = entries.as_ref().err().map(|error| format!("{}: {error}", path.display()));
        return Ok(
            json!({ "from": path.display().to_string(), "problem": problem, "rows": entries.unwrap_or_default() }),
        );
    }
    if !goes_to_table {
        return Ok(json!({ "from": Json::Null, "rows": [] }));
    }
    let mut session = InternalSession::new(&server.sql);
    let rows = session.run(QUERY).await;
    session.end().await;
    let rows: Vec<Json> = rows?.iter().map(|row| object(COLUMNS, row)).collect();
    Ok(json!({ "from": "mysql.slow_log", "rows": rows }))
}

/// The end of a file. A line that it begins in the midst of is a part of no entry.
fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The last entries of a text, the latest first.
fn parsed(text: &str) -> Vec<Json> {
    let starts: Vec<usize> = text.match_indices("# Time: ").map(|(at, _)| at).collect();
    let is_line = |at: &&usize| **at == 0 || text.as_bytes().get(**at - 1) == Some(&b'\n');
    let starts: Vec<usize> = starts.iter().filter(is_line).copied().collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let entries = starts.iter().zip(ends).filter_map(|(start, end)| entry(text.get(*start..end)?));
    let mut entries: Vec<Json> = entries.collect();
    entries.reverse();
    entries.truncate(MOST);
    entries
}

fn entry(text: &str) -> Option<Json> {
    let (at, rest) = text.strip_prefix("# Time: ")?.split_once('\n')?;
    let (account, rest) = rest.strip_prefix("# User@Host: ")?.split_once('\n')?;
    let (numbers, mut rest) = rest.strip_prefix("# ")?.split_once('\n')?;
    let number = |name: &str| {
        let value = numbers.split_once(name)?.1.split_whitespace().next()?;
        value.parse::<f64>().ok()
    };
    let mut schema = None;
    if let Some((name, behind)) = rest.strip_prefix("use ").and_then(|rest| rest.split_once(";\n")) {
        (schema, rest) = (Some(name), behind);
    }
    let (_, statement) = rest.strip_prefix("SET timestamp=")?.split_once(";\n")?;
    let statement: String = statement.trim_end().chars().take(TEXT).collect();
    Some(json!({
        "at": at,
        "account": account.split("  Id:").next().unwrap_or(account).trim(),
        "took": number("Query_time:")? * 1000.0,
        "locked": number("Lock_time:")? * 1000.0,
        "sent": number("Rows_sent:")?,
        "examined": number("Rows_examined:")?,
        "schema": schema,
        "text": statement,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_told_the_latest_first_and_what_is_none_is_left_out() {
        let text = "cut off;\npalisade, Version: 1. started with:\n\
                    # Time: 2026-11-25T10:42:15.250912Z\n# User@Host: root[root] @ localhost [127.0.0.1]  Id:    88\n\
                    # Query_time: 1.000056  Lock_time: 0.000001 Rows_sent: 5  Rows_examined: 6\nuse shop;\n\
                    SET timestamp=1764067334;\nSELECT '<b>',\n# Time: x\n 1;\n\
                    # Time: 2026-11-25T10:42:16.000000Z\n# User@Host: u[u] @  [::1]  Id:     9\n\
                    # Query_time: 0.500000  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0 Thread_id: 9 Errno: 0\n\
                    SET timestamp=1764067335;\nDO SLEEP(0.5);\n\
                    # Time: 2026-11-25T10:42:17.000000Z\n# User@Host: half an en";
        let told = parsed(text);
        let [last, first] = told.as_slice() else { panic!("{told:?}") };
        assert_eq!(
            (&last["text"], &last["took"], &last["schema"]),
            (&json!("DO SLEEP(0.5);"), &json!(500.0), &Json::Null)
        );
        assert_eq!(
            (&first["account"], &first["schema"]),
            (&json!("root[root] @ localhost [127.0.0.1]"), &json!("shop"))
        );
        // A line of the statement that looks like the beginning of an entry ends it: what follows is none.
        assert_eq!(
            (&first["text"], &first["examined"], &first["locked"]),
            (&json!("SELECT '<b>',"), &json!(6.0), &json!(0.001))
        );
    }
}
