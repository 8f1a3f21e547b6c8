//! information_schema.INNODB_METRICS, the variables that switch its counters, and the log's counters in SHOW STATUS.

mod client;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use client::{Answer, Client, TestServer};

const WRONG_VALUE: u16 = 1231;

fn rows(client: &mut Client, text: &str) -> Vec<Vec<Option<String>>> {
    match client.query(text) {
        Answer::Rows(rows) => rows,
        other => panic!("{text}: {other:?}"),
    }
}

fn value(client: &mut Client, column: &str, name: &str) -> String {
    client.value(&format!("SELECT {column} FROM information_schema.INNODB_METRICS WHERE NAME = '{name}'"))
}

fn number(client: &mut Client, name: &str) -> u64 {
    value(client, "COUNT", name).parse().unwrap()
}

/// Counters belong to the process: a gauge shows what the server that was read last has put there. So there is one at a time.
fn start_alone(options: &[(&str, &str)]) -> (MutexGuard<'static, ()>, TestServer) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (alone, TestServer::start(options))
}

/// A table with a row in it.
fn change_something(client: &mut Client) {
    for statement in
        ["CREATE DATABASE d", "CREATE TABLE d.t (a INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1)"]
    {
        let answer = client.query(statement);
        assert!(matches!(answer, Answer::Ok(_)), "{statement}: {answer:?}");
    }
}

#[test]
fn the_table_has_mysqls_columns_and_the_logs_counters() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    let mysqls = [
        "NAME",
        "SUBSYSTEM",
        "COUNT",
        "MAX_COUNT",
        "MIN_COUNT",
        "AVG_COUNT",
        "COUNT_RESET",
        "MAX_COUNT_RESET",
        "MIN_COUNT_RESET",
        "AVG_COUNT_RESET",
        "TIME_ENABLED",
        "TIME_DISABLED",
        "TIME_ELAPSED",
        "TIME_RESET",
        "STATUS",
        "TYPE",
        "COMMENT",
    ];
    // Of a row that stays as it is from one statement to the next.
    let from = "FROM information_schema.INNODB_METRICS WHERE NAME = 'log_on_recent_written_wait_loops'";
    let all = rows(&mut client, &format!("SELECT * {from}"));
    let named = rows(&mut client, &format!("SELECT {} {from}", mysqls.join(", ")));
    assert_eq!((all.len(), all[0].len()), (1, mysqls.len()));
    let elapsed = mysqls.iter().position(|column| *column == "TIME_ELAPSED").unwrap();
    assert_eq!(all[0][..elapsed], named[0][..elapsed]);
    assert_eq!(all[0][elapsed + 1..], named[0][elapsed + 1..]);

    // Every log counter of MySQL 9.7.
    let names = "log_lsn_last_flush log_lsn_last_checkpoint log_lsn_current log_lsn_archived log_lsn_checkpoint_age \
        log_lsn_buf_dirty_pages_added log_lsn_buf_pool_oldest_approx log_lsn_buf_pool_oldest_lwm \
        log_max_modified_age_async log_max_modified_age_sync log_waits log_write_requests log_writes \
        log_flush_total_time log_flush_max_time log_flush_avg_time log_flush_lsn_avg_rate log_full_block_writes \
        log_partial_block_writes log_padded log_next_file log_checkpoints log_free_space log_concurrency_margin \
        log_writer_no_waits log_writer_waits log_writer_wait_loops log_writer_on_file_space_waits \
        log_writer_on_archiver_waits log_flusher_no_waits log_flusher_waits log_flusher_wait_loops \
        log_write_notifier_no_waits log_write_notifier_waits log_write_notifier_wait_loops \
        log_flush_notifier_no_waits log_flush_notifier_waits log_flush_notifier_wait_loops \
        log_write_to_file_requests_interval log_on_write_no_waits log_on_write_waits log_on_write_wait_loops \
        log_on_flush_no_waits log_on_flush_waits log_on_flush_wait_loops log_on_recent_written_wait_loops \
        log_on_recent_closed_wait_loops log_on_buffer_space_no_waits log_on_buffer_space_waits \
        log_on_buffer_space_wait_loops log_on_file_space_no_waits log_on_file_space_waits \
        log_on_file_space_wait_loops";
    for name in names.split_whitespace() {
        assert_eq!(value(&mut client, "CONCAT(SUBSYSTEM, ' ', STATUS)", name), "log enabled", "{name}");
    }
    for name in ["trx_rseg_history_len", "lock_deadlocks", "buffer_pool_reads", "log_wakeups", "log_commits"]
    {
        number(&mut client, name);
    }
    let twice = "SELECT COUNT(*) - COUNT(DISTINCT NAME) FROM information_schema.INNODB_METRICS";
    assert_eq!(client.value(twice), "0", "each name is there once");
}

/// NAME, SUBSYSTEM, TYPE and STATUS of a MySQL 9.7 that has just started, in order of name.
const MYSQLS: &str = include_str!("fixtures/innodb_metrics_9.7.txt");

#[test]
fn a_counter_that_mysql_has_is_of_its_subsystem_and_type() {
    let mysqls: BTreeMap<&str, [&str; 2]> = MYSQLS
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let [name, subsystem, kind, _] = fields[..] else { panic!("{line}") };
            (name, [subsystem, kind])
        })
        .collect();
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    let query = "SELECT NAME, SUBSYSTEM, TYPE, STATUS FROM information_schema.INNODB_METRICS";
    let ours: BTreeMap<String, [String; 3]> = rows(&mut client, query)
        .into_iter()
        .map(|row| {
            let [name, subsystem, kind, status] = <[_; 4]>::try_from(row).unwrap().map(Option::unwrap);
            (name, [subsystem, kind, status])
        })
        .collect();
    for (name, [subsystem, kind, status]) in &ours {
        if let Some(mysqls) = mysqls.get(name.as_str()) {
            assert_eq!([subsystem.as_str(), kind], *mysqls, "{name}");
        }
        // MySQL's are off where counting costs something, ours where nothing is counted.
        assert!(
            status == "enabled" || COUNTED_BY_MYSQL.contains(&name.as_str()) || {
                let mysqls = MYSQLS.lines().find(|line| line.split(' ').next() == Some(name));
                mysqls.is_some_and(|line| line.ends_with(" disabled"))
            },
            "{name}"
        );
    }
    let lacking = mysqls.keys().filter(|name| !ours.contains_key(**name));
    assert_eq!(lacking.copied().collect::<Vec<_>>(), [""; 0]);
}

/// What MySQL counts from the start, and this server does not.
const COUNTED_BY_MYSQL: &[&str] = &[
    "innodb_activity_count",
    "innodb_rwlock_s_os_waits",
    "innodb_rwlock_s_spin_rounds",
    "innodb_rwlock_s_spin_waits",
    "innodb_rwlock_sx_os_waits",
    "innodb_rwlock_sx_spin_rounds",
    "innodb_rwlock_sx_spin_waits",
    "innodb_rwlock_x_os_waits",
    "innodb_rwlock_x_spin_rounds",
    "innodb_rwlock_x_spin_waits",
    "lock_deadlock_false_positives",
    "lock_deadlock_rounds",
    "lock_rec_grant_attempts",
    "lock_rec_release_attempts",
    "lock_schedule_refreshes",
];

#[test]
fn what_is_not_counted_is_off_and_stays_so() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    assert_eq!(client.query("SET GLOBAL innodb_monitor_enable = 'trx_ro_commits'"), Answer::Ok(0));
    assert_eq!(client.query("SET GLOBAL innodb_monitor_enable = 'all'"), Answer::Ok(0));
    let shown = "CONCAT_WS(' ', STATUS, COUNT, IFNULL(MAX_COUNT, 'none'), IFNULL(TIME_ENABLED, 'never'))";
    assert_eq!(value(&mut client, shown, "trx_ro_commits"), "disabled 0 none never");
}

#[test]
fn rows_changed_are_counted() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    let before = number(&mut client, "dml_inserts");
    change_something(&mut client);
    assert!(number(&mut client, "dml_inserts") > before);
    assert_eq!(number(&mut client, "innodb_page_size"), 16384);
    assert!(number(&mut client, "buffer_pool_size") > 0 && number(&mut client, "file_num_open_files") > 0);
}

#[test]
fn what_is_not_needed_stays_zero_and_says_why() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    change_something(&mut client);
    let query = "SELECT NAME, COUNT FROM information_schema.INNODB_METRICS WHERE COMMENT LIKE 'Always 0: %'";
    let absent = rows(&mut client, query);
    assert!(absent.len() > 10);
    assert!(absent.iter().all(|row| row[1].as_deref() == Some("0")), "{absent:?}");
    assert!(absent.iter().any(|row| row[0].as_deref() == Some("log_on_recent_written_wait_loops")));
}

#[test]
fn a_fresh_server_knows_its_lsns_and_a_commit_moves_them() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    let current = number(&mut client, "log_lsn_current");
    assert!(current >= 8192, "known before anything was written in this life");
    assert!(number(&mut client, "log_lsn_last_checkpoint") > 0);
    let before = number(&mut client, "log_commits");
    change_something(&mut client);
    assert!(number(&mut client, "log_lsn_current") > current);
    assert!(number(&mut client, "log_lsn_last_flush") > current, "the insert is durable");
    assert!(number(&mut client, "log_commits") > before);
    let flushes = number(&mut client, "log_on_flush_waits") + number(&mut client, "log_on_flush_no_waits");
    assert!(flushes > 0 && number(&mut client, "log_flush_total") > 0);
    assert!(number(&mut client, "log_free_space") > 1 << 20);

    let status = |client: &mut Client, name: &str| -> u64 {
        let shown = rows(client, &format!("SHOW GLOBAL STATUS LIKE '{name}'"));
        shown[0][1].as_deref().unwrap().parse().unwrap()
    };
    for name in [
        "Innodb_log_write_requests",
        "Innodb_log_writes",
        "Innodb_os_log_fsyncs",
        "Innodb_os_log_written",
        "Innodb_redo_log_current_lsn",
        "Innodb_redo_log_flushed_to_disk_lsn",
        "Innodb_redo_log_checkpoint_lsn",
    ] {
        assert!(status(&mut client, name) > 0, "{name}");
    }
    for name in ["Innodb_os_log_pending_fsyncs", "Innodb_os_log_pending_writes", "Innodb_log_waits"] {
        status(&mut client, name);
    }
}

#[test]
fn counters_are_switched_and_reset_by_name_module_and_wildcard() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    let state = |client: &mut Client, name: &str| value(client, "STATUS", name);
    let set = |client: &mut Client, what: &str, name: &str| {
        let answer = client.query(&format!("SET GLOBAL innodb_monitor_{what} = '{name}'"));
        assert_eq!(answer, Answer::Ok(0), "{name}");
    };
    set(&mut client, "disable", "log_write%");
    assert_eq!(state(&mut client, "log_writes"), "disabled");
    assert_eq!(state(&mut client, "log_write_requests"), "disabled");
    assert_eq!(state(&mut client, "log_waits"), "enabled");
    set(&mut client, "disable", "module_log");
    assert_eq!(state(&mut client, "log_waits"), "disabled");
    assert_eq!(state(&mut client, "buffer_pool_reads"), "enabled");
    set(&mut client, "reset_all", "module_log");
    let cleared = "CONCAT_WS(',', COUNT, MAX_COUNT, TIME_ENABLED)";
    assert_eq!(value(&mut client, cleared, "log_write_requests"), "0");
    set(&mut client, "enable", "all");
    assert_eq!(state(&mut client, "log_waits"), "enabled");
    change_something(&mut client);
    assert_ne!(value(&mut client, "COUNT_RESET", "log_write_requests"), "0");
    set(&mut client, "reset", "LOG_WRITE_REQUESTS");
    let count = "COUNT > COUNT_RESET AND TIME_RESET IS NOT NULL";
    assert_eq!(value(&mut client, count, "log_write_requests"), "1");
    let shown =
        "SELECT CONCAT_WS('|', @@innodb_monitor_enable, @@innodb_monitor_reset, @@innodb_monitor_reset_all)";
    assert_eq!(client.value(shown), "all|log_write_requests|module_log");

    for (what, name) in [("enable", "nosuch"), ("disable", "no%"), ("reset", ""), ("reset_all", "module_no")]
    {
        let answer = client.query(&format!("SET GLOBAL innodb_monitor_{what} = '{name}'"));
        let text = format!("Variable 'innodb_monitor_{what}' can't be set to the value of '{name}'");
        assert_eq!(answer, Answer::Error(WRONG_VALUE, text));
    }
    let text = "Variable 'innodb_monitor_enable' can't be set to the value of 'NULL'";
    let answer = client.query("SET GLOBAL innodb_monitor_enable = NULL");
    assert_eq!(answer, Answer::Error(WRONG_VALUE, text.into()));
    assert!(matches!(client.query("SET GLOBAL innodb_monitor_enable = 1"), Answer::Error(1232, _)));
    assert!(matches!(client.query("SET innodb_monitor_enable = 'all'"), Answer::Error(1229, _)));
    assert_eq!(client.query("SET GLOBAL innodb_monitor_enable = DEFAULT"), Answer::Ok(0));
    assert_eq!(rows(&mut client, "SHOW WARNINGS")[0][1].as_deref(), Some("1230"));
}

#[test]
fn options_switch_counters_at_startup() {
    let options = [("innodb_monitor_disable", "module_log; lock_deadlocks,nosuch")];
    let (_alone, server) = start_alone(&options);
    let mut client = server.connect();
    let off = "SELECT COUNT(*) FROM information_schema.INNODB_METRICS WHERE TIME_DISABLED IS NOT NULL AND SUBSYSTEM";
    assert_ne!(client.value(&format!("{off} = 'log'")), "0");
    assert_eq!(client.value(&format!("{off} = 'lock'")), "1");
    assert_eq!(client.value(&format!("{off} NOT IN ('log', 'lock')")), "0");
}

#[test]
fn the_adaptive_hash_index_counts_what_it_finds() {
    let (_alone, server) = start_alone(&[("innodb_adaptive_hash_index_parts", "4")]);
    let mut client = server.connect();
    change_something(&mut client);
    let look_up = |client: &mut Client, times: u64| {
        for _ in 0..times {
            assert_eq!(client.value("SELECT a FROM d.t WHERE a = 1"), "1");
        }
    };
    let counted = |client: &mut Client| {
        ["searches", "searches_btree", "rows_added"]
            .map(|name| number(client, &format!("adaptive_hash_{name}")))
    };
    let before = counted(&mut client);
    look_up(&mut client, 5);
    assert_eq!(counted(&mut client), before, "it is off");
    assert!(matches!(client.query("SET GLOBAL innodb_adaptive_hash_index = ON"), Answer::Ok(_)));
    let before = counted(&mut client);
    look_up(&mut client, 10);
    let grown: Vec<u64> = counted(&mut client).iter().zip(before).map(|(now, then)| now - then).collect();
    assert_eq!(grown, [9, 1, 1]);
    let status = rows(&mut client, "SHOW ENGINE INNODB STATUS")[0][2].clone().unwrap();
    assert!(status.contains("places known 1, 0 of 4 parts left alone"), "{status}");
    // A row that has moved within its page, one that is gone, and one that comes back are what they are.
    for statement in ["INSERT INTO d.t VALUES (0), (-1)", "DELETE FROM d.t WHERE a = -1"] {
        assert!(matches!(client.query(statement), Answer::Ok(_)), "{statement}");
    }
    look_up(&mut client, 2);
    assert_eq!(rows(&mut client, "SELECT a FROM d.t WHERE a = -1"), Vec::<Vec<_>>::new());
    assert!(matches!(client.query("SET GLOBAL innodb_adaptive_hash_index = OFF"), Answer::Ok(_)));
    let before = counted(&mut client);
    look_up(&mut client, 5);
    assert_eq!(counted(&mut client), before);
    let status = rows(&mut client, "SHOW ENGINE INNODB STATUS")[0][2].clone().unwrap();
    assert!(status.contains("places known 0,"), "{status}");
}

#[test]
fn the_files_of_the_redo_log_say_which_lsns_they_hold() {
    let (_alone, server) = start_alone(&[]);
    let mut client = server.connect();
    change_something(&mut client);
    let numbers = |client: &mut Client, columns: &str| -> Vec<Vec<u64>> {
        let text = format!("SELECT {columns} FROM performance_schema.innodb_redo_log_files ORDER BY FILE_ID");
        let rows = rows(client, &text);
        rows.iter()
            .map(|row| row.iter().map(|value| value.as_deref().unwrap().parse().unwrap()).collect())
            .collect()
    };
    let files = numbers(&mut client, "START_LSN, END_LSN, SIZE_IN_BYTES, IS_FULL, CONSUMER_LEVEL");
    let lsn = |client: &mut Client| number(client, "log_lsn_current");
    let now = lsn(&mut client);
    let (last, full) = files.split_last().unwrap();
    assert!(last[0] <= now && now <= last[1] && last[3] == 0, "{files:?}, {now}");
    assert!(full.iter().all(|file| file[3] == 1) && files.windows(2).all(|pair| pair[0][1] == pair[1][0]));
    assert!(files.iter().all(|file| file[2] > 0 && file[4] == 0));
    // What is written brings the LSN nearer to the file's end, or into another one.
    for value in 2..20 {
        client.query(&format!("INSERT INTO d.t VALUES ({value})"));
    }
    let later = numbers(&mut client, "START_LSN, END_LSN, IS_FULL");
    let last = later.last().unwrap();
    assert!(
        lsn(&mut client) > now && last[0] <= lsn(&mut client) && lsn(&mut client) <= last[1],
        "{later:?}"
    );
    let name = client.value("SELECT FILE_NAME FROM performance_schema.innodb_redo_log_files LIMIT 1");
    assert!(std::path::Path::new(&name).exists(), "{name}");
}
