//! What clients announce and do not send, and what they have sent and is done with, takes no memory.
//!
//! Alone in its program: what is measured is the process.

mod client;

use std::io::Write;

use client::{Answer, Client, TestServer};

const CLIENTS: usize = 100;
const MIB: u64 = 1 << 20;

/// Bytes of this process that lie in memory.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn announced_packets_and_finished_statements_take_no_memory() {
    let server = TestServer::start(&[("max_connections", "1000"), ("max_allowed_packet", "64M")]);
    let warm: Vec<Client> = (0..CLIENTS).map(|_| server.connect()).collect();
    drop(warm);
    let before = resident();

    // The longest frame there is, and a word of it; from strangers and from those who have logged in.
    let strangers: Vec<Client> = (0..CLIENTS)
        .map(|_| {
            let mut client = server.connect_raw();
            client.stream.write_all(b"\xff\xff\xff\x01\x85\xa6\xff\x01").unwrap();
            client
        })
        .collect();
    let mut users: Vec<Client> = (0..CLIENTS)
        .map(|_| {
            let mut client = server.connect();
            client.stream.write_all(b"\xff\xff\xff\x00\x03SELECT").unwrap();
            client
        })
        .collect();
    assert_eq!(server.connect().value("SELECT 1"), "1");
    let announced = resident().saturating_sub(before);
    assert!(announced < 50 * MIB, "{announced} bytes for {} packets that did not come", 2 * CLIENTS);
    drop((strangers, users.drain(..)));

    // Statements that came whole, and rows that went, of clients that stay.
    let mut first = server.connect();
    let long = format!("SELECT LENGTH('{}')", "x".repeat(2 * MIB as usize));
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)",
        &format!("INSERT INTO d.t VALUES (1, REPEAT('x', {}))", 2 * MIB),
    ] {
        assert!(matches!(first.query(statement), Answer::Ok(_)), "{statement}");
    }
    for statement in [&long, "SELECT v FROM d.t WHERE id = 1", "SELECT v FROM d.t ORDER BY LENGTH(v)"] {
        let before = resident();
        let idle: Vec<Client> = (0..CLIENTS)
            .map(|_| {
                let mut client = server.connect();
                assert!(matches!(client.query(statement), Answer::Rows(_)));
                assert_eq!(client.value("SELECT 1"), "1");
                client
            })
            .collect();
        let kept = resident().saturating_sub(before);
        assert!(
            kept < 50 * MIB,
            "{kept} bytes for {} sessions that are idle after {statement:.50}",
            idle.len()
        );
    }
}
