//! Which processors the threads of a server run on. Alone in its process, whose threads it finds by their names.

mod client;

use std::time::Instant;

use client::{Client, PATIENCE, TestServer, run};

/// The lists of processors of this process's threads whose names begin so.
fn lists(name: &str) -> Vec<String> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    // a thread may end between the listing and the look
    let named = tasks
        .filter(|task| std::fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.starts_with(name)));
    named.filter_map(|task| allowed(&std::fs::read_to_string(task.join("status")).ok()?)).collect()
}

fn allowed(status: &str) -> Option<String> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(list.trim().to_owned())
}

/// Until all threads of a kind, of which there are `count`, run on `list`: one that has just begun goes there by itself.
#[track_caller]
fn until_on(name: &str, count: usize, list: &str) {
    let limit = Instant::now() + PATIENCE;
    while lists(name) != vec![list; count] {
        assert!(Instant::now() < limit, "{name}: {:?} instead of {list}", lists(name));
        std::thread::yield_now();
    }
}

/// Where the log's writer, its flusher and the workers are to be.
#[track_caller]
fn until_at([writer, flusher, workers]: [&str; 3]) {
    until_on("log-writer", 1, writer);
    until_on("log-flusher", 1, flusher);
    until_on("worker-", 2, workers);
}

fn set(client: &mut Client, variable: &str, list: &str) {
    run(client, &[&format!("SET GLOBAL {variable} = '{list}'")]);
}

#[test]
fn threads_run_where_they_are_told_to_and_nobody_else_is_moved() {
    let everywhere = allowed(&std::fs::read_to_string("/proc/self/status").unwrap()).unwrap();
    // with one processor these are the same, and little is tested
    let first: String = everywhere.chars().take_while(char::is_ascii_digit).collect();
    let last = everywhere.rsplit([',', '-']).next().unwrap().to_owned();
    let options = [("innodb_log_writer_affinity", first.as_str()), ("worker_threads", "2")];
    let server = TestServer::start(&options);
    let mut client = server.connect();
    until_at([&first, &everywhere, &everywhere]);
    set(&mut client, "innodb_log_flusher_affinity", &last);
    until_at([&first, &last, &everywhere]);
    set(&mut client, "innodb_worker_affinity", &first);
    until_at([&first, &last, &first]);
    set(&mut client, "innodb_log_writer_affinity", &last);
    until_at([&last, &last, &first]);
    for variable in ["innodb_log_writer_affinity", "innodb_log_flusher_affinity", "innodb_worker_affinity"] {
        set(&mut client, variable, "");
    }
    until_at([everywhere.as_str(); 3]);
}
