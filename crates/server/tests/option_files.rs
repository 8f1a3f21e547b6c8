//! The server, started with an option file that has grown for years.

mod client;

use std::path::Path;

use client::process::Process;
use client::{Client, run};

/// Options of a benchmark of old: a binary log, two dozen instances of the pool, file formats, checksums.
const GROWN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/options/grown.cnf");

const NO_LOG: &str = "there is no binary log yet";
const REMOVED: &str = "MySQL has removed it";
const OTHERS: &str = "it is an option of another server";

/// Options that are ignored, and why.
const IGNORED: [(&str, &str); 15] = [
    ("expire_logs_days", NO_LOG),
    ("query_cache_size", REMOVED),
    ("query_cache_type", REMOVED),
    ("innodb_file_format", REMOVED),
    ("innodb_file_format_max", REMOVED),
    ("innodb_large_prefix", REMOVED),
    ("innodb_checksums", REMOVED),
    ("innodb_additional_mem_pool_size", REMOVED),
    ("innodb_support_xa", REMOVED),
    ("innodb_compression_algorithm", OTHERS),
    ("innodb_use_trim", OTHERS),
    ("innodb_use_fallocate", OTHERS),
    ("innodb_use_atomic_writes", OTHERS),
    ("innodb_use_mtflush", OTHERS),
    ("innodb_mtflush_threads", OTHERS),
];

/// Options of which a warning says what is done instead.
const REPLACED: [(&str, &str); 4] = [
    ("log_bin", "log_bin=mysql-bin: there is no binary log yet; the server runs without, and log_bin is OFF"),
    ("innodb_undo_tablespaces", "Truncated incorrect innodb_undo_tablespaces value: '0'; using 2"),
    ("innodb_log_file_size", LOG_FILES),
    ("innodb_log_files_in_group", LOG_FILES),
];

const LOG_FILES: &str = "Deprecated configuration parameters innodb_log_file_size and/or innodb_log_files_in_group have been used to \
     compute innodb_redo_log_capacity=268435456. Please use innodb_redo_log_capacity instead.";

/// Variables that change nothing, and have another value than their default. One warning names them all.
const IDLE: [&str; 17] = [
    "back_log",
    "binlog_cache_size",
    "innodb_buffer_pool_instances",
    "innodb_open_files",
    "innodb_rollback_segments",
    "innodb_spin_wait_delay",
    "innodb_sync_array_size",
    "key_buffer_size",
    "log_slave_updates",
    "max_heap_table_size",
    "read_buffer_size",
    "relay_log",
    "skip_slave_start",
    "sync_binlog",
    "table_definition_cache",
    "table_open_cache",
    "thread_cache_size",
];

/// Variables that are obeyed, and what they are then.
const OBEYED: [(&str, &str); 34] = [
    ("innodb_adaptive_flushing", "1"),
    ("innodb_adaptive_flushing_lwm", "60"),
    ("innodb_buffer_pool_dump_at_shutdown", "1"),
    ("innodb_buffer_pool_load_at_startup", "1"),
    ("innodb_buffer_pool_size", "268435456"),
    ("innodb_change_buffer_max_size", "10"),
    ("innodb_change_buffering", "all"),
    ("innodb_compression_level", "6"),
    ("innodb_doublewrite", "OFF"),
    ("innodb_flush_log_at_trx_commit", "2"),
    ("innodb_flush_method", "O_DIRECT"),
    ("innodb_flush_neighbors", "0"),
    ("innodb_io_capacity", "10000"),
    ("innodb_io_capacity_max", "20000"),
    ("innodb_log_buffer_size", "16777216"),
    ("innodb_lru_scan_depth", "4096"),
    ("innodb_max_dirty_pages_pct", "90.000000"),
    ("innodb_max_dirty_pages_pct_lwm", "10.000000"),
    ("innodb_page_cleaners", "8"),
    ("innodb_page_size", "16384"),
    ("innodb_print_all_deadlocks", "1"),
    ("innodb_purge_threads", "8"),
    ("innodb_random_read_ahead", "0"),
    ("innodb_read_ahead_threshold", "0"),
    ("innodb_read_io_threads", "16"),
    ("innodb_use_native_aio", "1"),
    ("innodb_write_io_threads", "16"),
    ("join_buffer_size", "1048576"),
    ("max_allowed_packet", "67108864"),
    ("max_connections", "2000"),
    ("performance_schema", "0"),
    ("skip_name_resolve", "1"),
    ("sort_buffer_size", "1048576"),
    ("tmp_table_size", "67108864"),
];

/// Variables that change nothing and have their default; counters, which are on without being asked for; an
/// account that is the operating system's to look after.
const SILENT: [&str; 16] = [
    "binlog_format",
    "innodb_adaptive_hash_index",
    "innodb_adaptive_hash_index_partitions",
    "innodb_autoextend_increment",
    "innodb_checksum_algorithm",
    "innodb_concurrency_tickets",
    "innodb_file_per_table",
    "innodb_monitor_enable",
    "innodb_old_blocks_time",
    "innodb_stats_persistent",
    "innodb_stats_sample_pages",
    "innodb_thread_concurrency",
    "max_binlog_size",
    "server_id",
    "table_open_cache_instances",
    "user",
];

/// The names of the file's options.
fn options(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('['));
    lines.map(|line| line.split('=').next().unwrap().replace('-', "_")).collect()
}

/// What becomes of an option stands in one of the lists.
fn is_listed(name: &str) -> bool {
    let name = if name == "innodb_undo_logs" { "innodb_rollback_segments" } else { name };
    let pairs = IGNORED.iter().chain(&REPLACED).chain(&OBEYED).map(|(known, _)| *known);
    pairs.chain(IDLE.iter().chain(&SILENT).copied()).filter(|known| *known == name).count() == 1
}

/// All warnings that the file is worth.
fn expected() -> Vec<String> {
    let ignored = IGNORED.iter().map(|(name, why)| format!("option '{name}' is ignored: {why}"));
    let replaced = REPLACED.iter().map(|(_, warning)| (*warning).to_owned());
    let idle = format!("without effect here: {}", IDLE.join(", "));
    let mut all: Vec<String> = ignored.chain(replaced).chain([idle]).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn is_as_the_file_says(client: &mut Client) {
    for (name, value) in OBEYED {
        assert_eq!(client.value(&format!("SELECT @@GLOBAL.{name}")), value, "{name}");
    }
    assert_eq!(client.value("SELECT @@GLOBAL.innodb_redo_log_capacity"), "268435456");
    assert_eq!(client.value("SELECT @@GLOBAL.log_bin"), "0");
}

#[test]
fn a_server_starts_with_a_file_of_old_and_says_of_each_option_what_it_does_not_do() {
    let file = Path::new(GROWN);
    let options = options(file);
    assert!(options.len() > 50, "{} options", options.len());
    let unlisted: Vec<_> = options.iter().filter(|name| !is_listed(name)).collect();
    assert!(unlisted.is_empty(), "{unlisted:?}");

    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().join("data");
    let (server, before) = Process::start_with_file(file, &datadir);
    // 2026-11-28T00:00:00.000000Z 0 [Warning] [MY-000000] [Server] text
    let warning = |line: &String| {
        Some(line.split_once(" [Warning] ")?.1.splitn(3, "] ").last().unwrap_or_default().trim().to_owned())
    };
    let warnings = before.iter().filter_map(warning);
    let mut warnings: Vec<String> = warnings.collect();
    warnings.sort_unstable();
    assert_eq!(warnings, expected());

    let mut client = server.connect();
    is_as_the_file_says(&mut client);
    run(
        &mut client,
        &["CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)", "INSERT INTO d.t VALUES (1), (2)"],
    );
    drop(client);
    let (status, printed) = server.terminate();
    assert!(status.success(), "{printed:?}");
    let (server, _) = Process::start_with_file(file, &datadir);
    assert_eq!(server.connect().value("SELECT COUNT(*) FROM d.t"), "2");
}
