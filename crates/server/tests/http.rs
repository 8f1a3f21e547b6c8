//! What HTTP tells, and whom.

mod client;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use client::{TestServer, run};

/// The counters are the process's: one server counts at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A server that answers HTTP at a free port of that address.
fn start(address: &str, options: &[(&str, &str)]) -> (TestServer, SocketAddr) {
    let port = TcpListener::bind((address, 0)).unwrap().local_addr().unwrap().port();
    let text = port.to_string();
    let mut all = vec![("http_address", address), ("http_port", &*text)];
    all.extend(options);
    (TestServer::start(&all), SocketAddr::from(([127, 0, 0, 1], port)))
}

/// The answer to a request, whole: what is sent is up to the caller but for the end of its head.
fn ask(at: SocketAddr, head: &str) -> String {
    let mut stream = TcpStream::connect(at).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8(answer).unwrap()
}

fn get(at: SocketAddr, path: &str) -> String {
    ask(at, &format!("GET {path} HTTP/1.1\r\nHost: localhost"))
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// What a sample of `/metrics` says.
fn sample(at: SocketAddr, name: &str) -> f64 {
    let text = get(at, "/metrics");
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    value.unwrap_or_else(|| panic!("there is no {name}:\n{text}")).parse().unwrap()
}

#[test]
fn metrics_move_with_what_clients_do() {
    let _alone = alone();
    let (server, at) = start("127.0.0.1", &[("innodb_buffer_pool_size", "16M")]);
    let mut client = server.connect();
    let selects = "mysql_global_status_commands_total{command=\"select\"}";
    let written = "mysql_global_status_handlers_total{handler=\"write\"}";
    let before = [sample(at, selects), sample(at, written)];
    run(
        &mut client,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (a INT PRIMARY KEY)",
            "INSERT INTO test.t VALUES (1), (2), (3)",
        ],
    );
    for _ in 0..5 {
        client.query("SELECT * FROM test.t");
    }
    assert_eq!([sample(at, selects) - before[0], sample(at, written) - before[1]], [5.0, 3.0]);
    assert_eq!(sample(at, "mysql_up"), 1.0);
    assert_eq!(sample(at, "mysql_global_variables_innodb_buffer_pool_size"), f64::from(16 << 20));
    assert_eq!(sample(at, "mysql_global_status_threads_connected"), 1.0);
    assert!(sample(at, "mysql_global_status_buffer_pool_pages{state=\"data\"}") > 0.0);
    let text = get(at, "/metrics");
    assert!(text.contains("\ncontent-type: text/plain; version=0.0.4"), "{text}");
    let mut names = std::collections::HashSet::new();
    for line in text.split_once("\r\n\r\n").unwrap().1.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok() && name.starts_with("mysql_"), "{line}");
        assert!(names.insert(name), "{name} is told twice");
    }
    server.stop().unwrap();
}

#[test]
fn the_page_is_told_what_runs_and_who_waits() {
    let _alone = alone();
    let (server, at) = start("127.0.0.1", &[]);
    let (mut holder, mut waiter) = (server.connect(), server.connect());
    run(
        &mut holder,
        &[
            "CREATE DATABASE test",
            "CREATE TABLE test.t (a INT PRIMARY KEY, b INT)",
            "INSERT INTO test.t VALUES (1, 1)",
            "BEGIN",
            "UPDATE test.t SET b = 2",
        ],
    );
    waiter.send("UPDATE /* <script>\u{1f600}\" */ test.t SET b = 3");
    let begun = Instant::now();
    let told = loop {
        let told = get(at, "/now.json");
        // what runs is looked at first
        if told.matches("<script>").count() == 2 || begun.elapsed() > Duration::from_secs(20) {
            break told;
        }
    };
    let (head, body) = told.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("content-type: application/json") && head.contains("nosniff"), "{head}");
    let told: serde_json::Value = serde_json::from_str(body).unwrap();
    let blocked = &told["blocked"][0];
    assert_eq!((&blocked["schema"], &blocked["table"]), (&"test".into(), &"t".into()), "{told}");
    assert_eq!(blocked["text"], "UPDATE /* <script>\u{1f600}\" */ test.t SET b = 3");
    assert_ne!(blocked["id"], blocked["by"]);
    assert!(told["status"]["Uptime"].is_u64(), "{told}");
    let running = told["running"].as_array().unwrap();
    assert!(running.iter().any(|it| it["text"] == blocked["text"]), "{told}");
    run(&mut holder, &["ROLLBACK"]);
    waiter.answer();
    let page = get(at, "/");
    assert!(
        page.contains("text/html") && page.contains("content-security-policy: default-src 'none'"),
        "{page}"
    );
    assert_eq!(status(&get(at, "/slow.json")), "200");
    server.stop().unwrap();
}

#[test]
fn only_what_names_this_machine_is_answered_there() {
    let _alone = alone();
    let (server, at) = start("127.0.0.1", &[]);
    for (head, expected) in [
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:1", "200"),
        ("HEAD /metrics HTTP/1.1\r\nHost: localhost", "200"),
        ("GET / HTTP/1.1\r\nHost: attacker.example", "403"),
        ("GET / HTTP/1.1", "403"),
        ("GET /etc/passwd HTTP/1.1\r\nHost: localhost", "404"),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0", "405"),
        ("nonsense", "400"),
    ] {
        assert_eq!(status(&ask(at, head)), expected, "{head}");
    }
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(100_000));
    let mut stream = TcpStream::connect(at).unwrap();
    // the server hangs up on it before all is sent
    let _ = stream.write_all(long.as_bytes());
    drop(stream);
    // Clients that say nothing keep their places, and others are answered.
    let silent: Vec<_> = (0..20).map(|_| TcpStream::connect(at).unwrap()).collect();
    assert_eq!(status(&get(at, "/metrics")), "200");
    drop(silent);
    server.stop().unwrap();
}

#[test]
fn beyond_this_machine_an_account_with_process_is_asked_for() {
    let _alone = alone();
    let (server, at) = start("0.0.0.0", &[]);
    let mut client = server.connect();
    run(
        &mut client,
        &[
            "CREATE USER watcher@'127.0.0.1' IDENTIFIED BY 'a:b'",
            "GRANT PROCESS ON *.* TO watcher@'127.0.0.1'",
            "CREATE USER old@'127.0.0.1' IDENTIFIED WITH mysql_native_password BY 'secret'",
            "GRANT PROCESS ON *.* TO old@'127.0.0.1'",
            "CREATE USER other@'127.0.0.1' IDENTIFIED BY 'other'",
            "CREATE USER shut@'127.0.0.1' IDENTIFIED BY 'shut' ACCOUNT LOCK",
            "GRANT PROCESS ON *.* TO shut@'127.0.0.1'",
        ],
    );
    let as_whom = |words: &str| {
        let answer =
            ask(at, &format!("GET /metrics HTTP/1.1\r\nHost: db.example\r\nAuthorization: Basic {words}"));
        status(&answer).to_owned()
    };
    // watcher:a:b, old:secret; twice, because what was right is remembered
    for words in ["d2F0Y2hlcjphOmI=", "d2F0Y2hlcjphOmI=", "b2xkOnNlY3JldA==", "b2xkOnNlY3JldA=="] {
        assert_eq!(as_whom(words), "200", "{words}");
    }
    // watcher:wrong, watcher:, other:other, shut:shut, unknown:x, nonsense
    for words in
        ["d2F0Y2hlcjp3cm9uZw==", "d2F0Y2hlcjo=", "b3RoZXI6b3RoZXI=", "c2h1dDpzaHV0", "dW5rbm93bjp4", "?"]
    {
        assert_eq!(as_whom(words), "401", "{words}");
    }
    let answer = ask(at, "GET / HTTP/1.1\r\nHost: localhost");
    assert!(status(&answer) == "401" && answer.contains("www-authenticate: Basic"), "{answer}");
    server.stop().unwrap();
}
