//! The redo log's counters: `log_*` of information_schema.INNODB_METRICS, where a server has them.
//!
//! MySQL counts some of them only when told to: those that are off are switched on for the experiment, and off after it.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::results::Counter;
use crate::server::{Answer, Server};

/// The counters that describe MySQL's redo pipeline. What a server lacks of them the report names.
pub const EXPECTED: &[&str] = &[
    "log_lsn_current",
    "log_lsn_last_flush",
    "log_lsn_last_checkpoint",
    "log_lsn_checkpoint_age",
    "log_waits",
    "log_write_requests",
    "log_writes",
    "log_on_buffer_space_no_waits",
    "log_on_buffer_space_waits",
    "log_on_buffer_space_wait_loops",
    "log_on_recent_written_wait_loops",
    "log_on_recent_closed_wait_loops",
    "log_writer_no_waits",
    "log_writer_waits",
    "log_writer_wait_loops",
    "log_writer_on_file_space_waits",
    "log_write_notifier_no_waits",
    "log_write_notifier_waits",
    "log_write_notifier_wait_loops",
    "log_on_write_no_waits",
    "log_on_write_waits",
    "log_on_write_wait_loops",
    "log_flusher_no_waits",
    "log_flusher_waits",
    "log_flusher_wait_loops",
    "log_flush_notifier_no_waits",
    "log_flush_notifier_waits",
    "log_flush_notifier_wait_loops",
    "log_on_flush_no_waits",
    "log_on_flush_waits",
    "log_on_flush_wait_loops",
    "log_flush_lsn_avg_rate",
    "log_flush_total_time",
    "log_flush_avg_time",
    "log_flush_max_time",
];

/// What MySQL calls counters and are states: averages, greatest values, and what is there now.
const STATES: &[&str] = &[
    "log_flush_lsn_avg_rate",
    "log_flush_avg_time",
    "log_flush_max_time",
    "log_free_space",
    "log_concurrency_margin",
    "log_write_to_file_requests_interval",
];

/// A reading of all `log_*` counters: value, and whether it counts events.
pub type Reading = BTreeMap<String, (f64, bool)>;

/// Whether a counter is on, as MySQL says it, and as MariaDB does.
const ENABLED: [&str; 2] = ["STATUS = 'enabled'", "ENABLED = 1"];

/// Names, values and kinds of the counters that are on or off. A server without the table has none.
fn select(server: &mut Server, on: bool) -> Vec<Vec<Option<String>>> {
    let not = if on { "" } else { "NOT " };
    let asked = ENABLED.iter().find_map(|enabled| {
        let statement = format!(
            "SELECT NAME, COUNT, TYPE FROM information_schema.INNODB_METRICS \
             WHERE NAME LIKE 'log\\_%' AND {not}({enabled}) ORDER BY NAME"
        );
        server.query(&statement).ok()
    });
    asked.unwrap_or_default()
}

/// Reads those that are on: the others show what was counted some other time, or 0.
pub fn read(server: &mut Server) -> Reading {
    let readings = select(server, true).into_iter().filter_map(|row| {
        let [Some(name), Some(value), kind] = <[Option<String>; 3]>::try_from(row).ok()? else { return None };
        let counts = counts_events(&name, kind.as_deref());
        Some((name, (value.parse().ok()?, counts)))
    });
    readings.collect()
}

/// Whether a counter of that name and TYPE counts events.
fn counts_events(name: &str, kind: Option<&str>) -> bool {
    kind.is_some_and(|kind| kind.contains("counter")) && !STATES.contains(&name)
}

/// The counters of a run, from readings before and after it.
pub fn over(before: &Reading, after: &Reading) -> BTreeMap<String, Counter> {
    let counter = |(name, (after, counts)): (&String, &(f64, bool))| {
        let before = before.get(name).map_or(0.0, |(before, _)| *before);
        (name.clone(), Counter { before, after: *after, counts: *counts })
    };
    after.iter().map(counter).collect()
}

/// The expected ones that a reading lacks.
pub fn absent(reading: &Reading) -> Vec<&'static str> {
    EXPECTED.iter().copied().filter(|name| !reading.contains_key(*name)).collect()
}

/// The end of the log: the status variable of MySQL or of MariaDB, or the counter, which lags behind in MySQL.
pub fn lsn(server: &mut Server, reading: &Reading) -> Option<f64> {
    let mut status = |name: &str| -> Option<f64> {
        let rows = server.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")).ok()?;
        rows.first()?.get(1)?.as_ref()?.parse().ok()
    };
    status("Innodb_redo_log_current_lsn")
        .or_else(|| status("Innodb_lsn_current"))
        .or_else(|| reading.get("log_lsn_current").map(|(lsn, _)| *lsn))
}

/// Has the server count all of them until it is closed.
pub fn enable(server: &mut Server) -> Result<Answer> {
    let off = select(server, false);
    for name in off.into_iter().filter_map(|row| row.into_iter().next().flatten()) {
        let answer = server.execute(&format!("SET GLOBAL innodb_monitor_enable = '{name}'"))?;
        if answer != Answer::Done {
            return Ok(answer);
        }
        server.undo_later(format!("SET GLOBAL innodb_monitor_disable = '{name}'"));
    }
    Ok(Answer::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_is_a_state_whatever_its_type_says() {
        assert!(counts_events("log_flush_total_time", Some("counter")));
        assert!(counts_events("log_writes", Some("status_counter")));
        assert!(!counts_events("log_flush_avg_time", Some("counter")));
        assert!(!counts_events("log_lsn_current", Some("value")) && !counts_events("log_x", None));
    }

    #[test]
    fn events_are_differences_and_states_are_not() {
        let before: Reading =
            [("log_writes".into(), (10.0, true)), ("log_lsn_current".into(), (7.0, false))].into();
        let after: Reading = [
            ("log_writes".into(), (25.0, true)),
            ("log_lsn_current".into(), (9.0, false)),
            ("log_waits".into(), (2.0, true)),
        ]
        .into();
        let counters = over(&before, &after);
        assert_eq!(counters["log_writes"].shown(), 15.0);
        assert_eq!(counters["log_lsn_current"].shown(), 9.0);
        assert_eq!(counters["log_waits"].shown(), 2.0);
        let absent = absent(&after);
        assert!(absent.contains(&"log_flusher_waits") && !absent.contains(&"log_waits"));
        assert_eq!(absent.len(), EXPECTED.len() - 3);
    }
}
