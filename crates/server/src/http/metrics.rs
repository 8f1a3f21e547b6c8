//! What `/metrics` tells: the names are mysqld_exporter's, so that the dashboards made for it show this
//! server.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_sql::{InternalSession, SqlResult};

use super::exposition::{Exposition, Kind};
use crate::server::Server;
use crate::status;

/// Everything, as Prometheus reads it.
pub(super) async fn text(server: &Arc<Server>) -> SqlResult<String> {
    let mut all = Exposition::default();
    all.add("mysql_up", Kind::Gauge, "Whether the MySQL server is up.", &[], "1");
    add_version(server, &mut all);
    for (name, value) in status::all(&server.host, None) {
        add_status(&mut all, &name, &value);
    }
    for (name, value) in server.host.globals.shown() {
        if let Some(value) = number(&value) {
            let name = format!("mysql_global_variables_{name}");
            all.add(&name, Kind::Gauge, "Generic gauge metric from SHOW GLOBAL VARIABLES.", &[], value);
        }
    }
    let mut session = InternalSession::new(&server.sql);
    for family in TABLES {
        let rows = session.run(family.query).await?;
        rows.iter().for_each(|row| family.add(&mut all, row));
    }
    for row in session.run(INNODB_METRICS).await? {
        add_innodb_metric(&mut all, &row);
    }
    session.end().await;
    Ok(all.text())
}

fn add_version(server: &Arc<Server>, all: &mut Exposition) {
    let version = server.host.version();
    let labels = [("innodb_version", version), ("version", version), ("version_comment", "Palisade")];
    all.add("mysql_version_info", Kind::Gauge, "MySQL version and distribution.", &labels, "1");
}

/// What a status counter, a variable or a column says, as a number: words of yes and no are 1 and 0.
fn number(text: &str) -> Option<String> {
    const YES: [&str; 3] = ["ON", "YES", "PRIMARY"];
    const NO: [&str; 4] = ["OFF", "NO", "DISABLED", "NON-PRIMARY"];
    let is_one_of = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    if is_one_of(&YES) {
        return Some("1".to_owned());
    }
    if is_one_of(&NO) {
        return Some("0".to_owned());
    }
    text.parse::<f64>().is_ok_and(f64::is_finite).then(|| text.to_owned())
}

/// Counters of a family, by the beginning of their names: the metric, its label, and what it says.
const FAMILIES: [(&str, &str, &str, &str); 5] = [
    ("com_", "mysql_global_status_commands_total", "command", "Total number of executed MySQL commands."),
    ("handler_", "mysql_global_status_handlers_total", "handler", "Total number of executed MySQL handlers."),
    (
        "connection_errors_",
        "mysql_global_status_connection_errors_total",
        "error",
        "Total number of MySQL connection errors.",
    ),
    (
        "innodb_rows_",
        "mysql_global_status_innodb_row_ops_total",
        "operation",
        "Total number of MySQL InnoDB row operations.",
    ),
    (
        "performance_schema_",
        "mysql_global_status_performance_schema_lost_total",
        "instrumentation",
        "Total number of MySQL instrumentations that could not be loaded or created due to memory constraints.",
    ),
];

/// Adds a status counter as mysqld_exporter names it.
fn add_status(all: &mut Exposition, name: &str, value: &str) {
    let Some(value) = number(value) else { return };
    let name = name.to_ascii_lowercase();
    if let Some(what) = name.strip_prefix("innodb_buffer_pool_pages_") {
        return add_pages(all, what, value);
    }
    for (prefix, metric, label, help) in FAMILIES {
        if let Some(what) = name.strip_prefix(prefix) {
            return all.add(metric, Kind::Counter, help, &[(label, what)], value);
        }
    }
    let metric = format!("mysql_global_status_{name}");
    all.add(&metric, Kind::Untyped, "Generic metric from SHOW GLOBAL STATUS.", &[], value);
}

/// Adds a counter of pages of the buffer pool.
fn add_pages(all: &mut Exposition, what: &str, value: String) {
    let metric = |rest: &str| format!("mysql_global_status_buffer_pool_{rest}");
    match what {
        // the sum of the others
        "total" => {}
        "data" | "free" | "misc" | "old" => {
            let help = "Innodb buffer pool pages by state.";
            all.add(&metric("pages"), Kind::Gauge, help, &[("state", what)], value);
        }
        "dirty" => {
            all.add(&metric("dirty_pages"), Kind::Gauge, "Innodb buffer pool dirty pages.", &[], value);
        }
        _ => {
            let help = "Innodb buffer pool page state changes.";
            all.add(&metric("page_changes_total"), Kind::Counter, help, &[("operation", what)], value);
        }
    }
}

const INNODB_METRICS: &str = "SELECT NAME, SUBSYSTEM, TYPE, COMMENT, COUNT FROM information_schema.INNODB_METRICS \
                              WHERE STATUS = 'enabled'";

/// Adds a row of [`INNODB_METRICS`].
fn add_innodb_metric(all: &mut Exposition, row: &[Value]) {
    let [name, subsystem, kind, comment, count] = row else { return };
    let [name, subsystem, comment, count] = [name, subsystem, comment, count].map(shown);
    let metric = |rest: &str| format!("mysql_info_schema_innodb_metrics_{rest}");
    let pages = name.strip_prefix("buffer_pool_pages_").filter(|_| subsystem == "buffer");
    let page_io = name.strip_prefix("buffer_page_").and_then(|rest| rest.split_once('_'));
    match (pages, page_io.filter(|_| subsystem == "buffer_page_io")) {
        (Some("total"), _) => {}
        (Some("dirty"), _) => {
            let help = "Total number of dirty pages in the buffer pool.";
            all.add(&metric("buffer_pool_dirty_pages"), Kind::Gauge, help, &[], count);
        }
        (Some(state), _) => {
            let help = "Total number of buffer pool pages by state.";
            all.add(&metric("buffer_pool_pages"), Kind::Gauge, help, &[("state", state)], count);
        }
        (None, Some((what, kind))) => {
            let help = format!("Total number of buffer pages {what} total.");
            let labels = [("type", kind)];
            all.add(&metric(&format!("buffer_page_{what}_total")), Kind::Counter, help, &labels, count);
        }
        (None, None) => match shown(kind).as_str() {
            "counter" | "status_counter" => {
                let name = metric(&format!("{subsystem}_{name}_total"));
                all.add(&name, Kind::Counter, comment, &[], count);
            }
            _ => all.add(&metric(&format!("{subsystem}_{name}")), Kind::Gauge, comment, &[], count),
        },
    }
}

/// Families whose samples are the rows of a query: first the labels' columns, then one column for each
/// family.
struct FromTable {
    query: &'static str,
    labels: &'static [&'static str],
    families: &'static [(&'static str, Kind, &'static str)],
}

impl FromTable {
    fn add(&self, all: &mut Exposition, row: &[Value]) {
        let (labels, values) = row.split_at_checked(self.labels.len()).unwrap_or((row, &[]));
        let labels: Vec<String> = labels.iter().map(shown).collect();
        let labels: Vec<(&str, &str)> =
            self.labels.iter().copied().zip(labels.iter().map(String::as_str)).collect();
        for ((name, kind, help), value) in self.families.iter().zip(values) {
            if let Some(value) = number(&shown(value)) {
                all.add(name, *kind, *help, &labels, value);
            }
        }
    }
}

/// A value as a text; NULL is an empty one. The queries give numbers and texts.
fn shown(value: &Value) -> String {
    match value {
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Double(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    }
}

/// What tables tell.
static TABLES: &[FromTable] = &[
    FromTable {
        query: "SELECT PAGE_SIZE, COMPRESS_OPS, COMPRESS_OPS_OK, COMPRESS_TIME, UNCOMPRESS_OPS, UNCOMPRESS_TIME \
                FROM information_schema.INNODB_CMP",
        labels: &["page_size"],
        families: &[
            (
                "mysql_info_schema_innodb_cmp_compress_ops_total",
                Kind::Counter,
                "Number of times a B-tree page of the size PAGE_SIZE has been compressed.",
            ),
            (
                "mysql_info_schema_innodb_cmp_compress_ops_ok_total",
                Kind::Counter,
                "Number of times a B-tree page of the size PAGE_SIZE has been successfully compressed.",
            ),
            (
                "mysql_info_schema_innodb_cmp_compress_time_seconds_total",
                Kind::Counter,
                "Total time in seconds spent in attempts to compress B-tree pages.",
            ),
            (
                "mysql_info_schema_innodb_cmp_uncompress_ops_total",
                Kind::Counter,
                "Number of times a B-tree page has been uncompressed.",
            ),
            (
                "mysql_info_schema_innodb_cmp_uncompress_time_seconds_total",
                Kind::Counter,
                "Total time in seconds spent in uncompressing B-tree pages.",
            ),
        ],
    },
    FromTable {
        query: "SELECT PAGE_SIZE, BUFFER_POOL_INSTANCE, PAGES_USED, PAGES_FREE, RELOCATION_OPS, RELOCATION_TIME \
                FROM information_schema.INNODB_CMPMEM",
        labels: &["page_size", "buffer_pool"],
        families: &[
            (
                "mysql_info_schema_innodb_cmpmem_pages_used_total",
                Kind::Counter,
                "Number of blocks of the size PAGE_SIZE that are currently in use.",
            ),
            (
                "mysql_info_schema_innodb_cmpmem_pages_free_total",
                Kind::Counter,
                "Number of blocks of the size PAGE_SIZE that are currently available for allocation.",
            ),
            (
                "mysql_info_schema_innodb_cmpmem_relocation_ops_total",
                Kind::Counter,
                "Number of times a block of the size PAGE_SIZE has been relocated.",
            ),
            (
                "mysql_info_schema_innodb_cmpmem_relocation_time_seconds_total",
                Kind::Counter,
                "Total time in seconds spent in relocating blocks.",
            ),
        ],
    },
    FromTable {
        query: "SELECT IFNULL(SCHEMA_NAME, 'NONE'), IFNULL(DIGEST, 'NONE'), LEFT(IFNULL(DIGEST_TEXT, 'NONE'), 120), \
                COUNT_STAR, SUM_TIMER_WAIT / 1000000000000, SUM_ERRORS, SUM_WARNINGS, SUM_ROWS_AFFECTED, \
                SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_CREATED_TMP_TABLES, SUM_CREATED_TMP_DISK_TABLES, SUM_SORT_MERGE_PASSES, SUM_SORT_ROWS, \
                SUM_NO_INDEX_USED FROM performance_schema.events_statements_summary_by_digest ORDER BY \
                SUM_TIMER_WAIT DESC LIMIT 250",
        labels: &["schema", "digest", "digest_text"],
        families: &[
            (
                "mysql_perf_schema_events_statements_total",
                Kind::Counter,
                "The total count of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_seconds_total",
                Kind::Counter,
                "The total time of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_errors_total",
                Kind::Counter,
                "The errors of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_warnings_total",
                Kind::Counter,
                "The warnings of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_rows_affected_total",
                Kind::Counter,
                "The total rows affected of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_rows_sent_total",
                Kind::Counter,
                "The total rows sent of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_rows_examined_total",
                Kind::Counter,
                "The total rows examined of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_tmp_tables_total",
                Kind::Counter,
                "The total tmp tables of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_tmp_disk_tables_total",
                Kind::Counter,
                "The total tmp disk tables of events statements by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_sort_merge_passes_total",
                Kind::Counter,
                "The total number of merge passes by the sort algorithm performed by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_sort_rows_total",
                Kind::Counter,
                "The total number of sorted rows by digest.",
            ),
            (
                "mysql_perf_schema_events_statements_no_index_used_total",
                Kind::Counter,
                "The total number of statements that used full table scans by digest.",
            ),
        ],
    },
    FromTable {
        query: "SELECT EVENT_NAME, COUNT_STAR, SUM_TIMER_WAIT / 1000000000000 \
                FROM performance_schema.events_waits_summary_global_by_event_name WHERE COUNT_STAR > 0",
        labels: &["event_name"],
        families: &[
            ("mysql_perf_schema_events_waits_total", Kind::Counter, "The total events waits by event name."),
            (
                "mysql_perf_schema_events_waits_seconds_total",
                Kind::Counter,
                "The total seconds of events waits by event name.",
            ),
        ],
    },
    FromTable {
        query: "SELECT EVENT_NAME, 'read', COUNT_READ, SUM_TIMER_READ / 1000000000000, SUM_NUMBER_OF_BYTES_READ \
                FROM performance_schema.file_summary_by_event_name WHERE COUNT_STAR > 0 \
                UNION ALL SELECT EVENT_NAME, 'write', COUNT_WRITE, SUM_TIMER_WRITE / 1000000000000, SUM_NUMBER_OF_BYTES_WRITE \
                FROM performance_schema.file_summary_by_event_name WHERE COUNT_STAR > 0 \
                UNION ALL SELECT EVENT_NAME, 'misc', COUNT_MISC, SUM_TIMER_MISC / 1000000000000, NULL \
                FROM performance_schema.file_summary_by_event_name WHERE COUNT_STAR > 0",
        labels: &["event_name", "mode"],
        families: &[
            (
                "mysql_perf_schema_file_events_total",
                Kind::Counter,
                "The total file events by event name/mode.",
            ),
            (
                "mysql_perf_schema_file_events_seconds_total",
                Kind::Counter,
                "The total seconds of file events by event name/mode.",
            ),
            (
                "mysql_perf_schema_file_events_bytes_total",
                Kind::Counter,
                "The total bytes of file events by event name/mode.",
            ),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_mysqld_exporter() {
        let mut all = Exposition::default();
        for (name, value) in [
            ("Com_select", "3"),
            ("Handler_read_key", "4"),
            ("Innodb_buffer_pool_pages_total", "9"),
            ("Innodb_buffer_pool_pages_free", "5"),
            ("Innodb_buffer_pool_pages_dirty", "1"),
            ("Innodb_buffer_pool_pages_flushed", "7"),
            ("Innodb_rows_read", "8"),
            ("Connection_errors_max_connections", "0"),
            ("Performance_schema_digest_lost", "0"),
            ("Uptime", "12"),
            ("Telemetry_traces_supported", "OFF"),
            ("Ssl_cipher", ""),
            ("Innodb_redo_log_resize_status", "OK"),
        ] {
            add_status(&mut all, name, value);
        }
        let text = all.text();
        let samples: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            samples,
            [
                "mysql_global_status_buffer_pool_dirty_pages 1",
                "mysql_global_status_buffer_pool_page_changes_total{operation=\"flushed\"} 7",
                "mysql_global_status_buffer_pool_pages{state=\"free\"} 5",
                "mysql_global_status_commands_total{command=\"select\"} 3",
                "mysql_global_status_connection_errors_total{error=\"max_connections\"} 0",
                "mysql_global_status_handlers_total{handler=\"read_key\"} 4",
                "mysql_global_status_innodb_row_ops_total{operation=\"read\"} 8",
                "mysql_global_status_performance_schema_lost_total{instrumentation=\"digest_lost\"} 0",
                "mysql_global_status_telemetry_traces_supported 0",
                "mysql_global_status_uptime 12",
            ]
        );
    }

    #[test]
    fn words_of_yes_and_no_are_numbers_and_other_words_are_not() {
        let said = |text: &str| number(text);
        assert_eq!((said("ON").as_deref(), said("no").as_deref()), (Some("1"), Some("0")));
        assert_eq!(said("1.50").as_deref(), Some("1.50"));
        for word in ["", "utf8mb4", "NaN", "inf", "0x10", "1,2"] {
            assert_eq!(said(word), None, "{word}");
        }
    }
}
