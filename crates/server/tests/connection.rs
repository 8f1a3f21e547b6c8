//! Connections that behave, and connections that do not.

mod client;

use client::{Answer, CAPABILITIES, Client, PATIENCE, TestServer, error, run};
use palisade_base::prng::{Prng, test_seed};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

#[test]
fn commands_without_sql_are_answered() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.command(b"\x0e").unwrap()[0], 0, "ping");
    assert!(client.command(b"\x09").unwrap().starts_with(b"Uptime: "), "statistics");
    assert_eq!(client.command(b"\x1f").unwrap()[0], 0, "reset connection");
    assert_eq!(client.command(b"\x1b\x01\0").unwrap()[0], 0xfe, "set option");
    let unknown = Answer::Error(1047, "Unknown command".to_owned());
    assert_eq!(error(&client.command(b"\x63").unwrap()), unknown);
    let handler =
        Answer::Error(1243, "Unknown prepared statement handler (9) given to mysqld_stmt_execute".into());
    assert_eq!(error(&client.command(b"\x17\x09\0\0\0\0\x01\0\0\0").unwrap()), handler);
    assert_eq!(
        error(&client.command(b"\x0c\xff\xff\0\0").unwrap()),
        Answer::Error(1094, "Unknown thread id: 65535".into())
    );
    client.sequence = 0;
    client.write(b"\x01");
    assert_eq!(client.read(), None, "quit");
}

#[test]
fn only_an_empty_password_is_right() {
    let server = TestServer::start(&[]);
    let refused = |user: &str, proof: &[u8]| error(&server.connect_raw().login(user, proof, CAPABILITIES));
    let text = "Access denied for user 'root'@'localhost' (using password: YES)";
    assert_eq!(refused("root", &[7; 32]), Answer::Error(1045, text.to_owned()));
    let text = "Access denied for user 'guest'@'localhost' (using password: NO)";
    assert_eq!(refused("guest", b""), Answer::Error(1045, text.to_owned()));
    let mut client = server.connect_raw();
    assert_eq!(client.login("root", b"\0", CAPABILITIES)[0], 0);
    let change = error(&client.command(b"\x11root\0\x03abc\0").unwrap());
    assert_eq!(
        change,
        Answer::Error(1045, "Access denied for user 'root'@'localhost' (using password: YES)".into())
    );
    assert_eq!(client.read(), None, "a failed change of user ends the connection");
    let mut client = server.connect();
    assert_eq!(client.command(b"\x11root\0\0\0").unwrap()[0], 0);
    assert_eq!(client.command(b"\x0e").unwrap()[0], 0);
}

#[test]
fn an_oversized_packet_is_refused_after_it_was_read() {
    let server = TestServer::start(&[("max_allowed_packet", "1M")]);
    let mut client = server.connect();
    let mut payload = vec![b' '; 20 << 20];
    payload[0] = 3;
    client.sequence = 0;
    client.write(&payload);
    let refused = error(&client.read().unwrap());
    assert_eq!(refused, Answer::Error(1153, "Got a packet bigger than 'max_allowed_packet' bytes".into()));
    assert_eq!(client.read(), None);
    assert_eq!(server.connect().command(b"\x0e").unwrap()[0], 0);
}

#[test]
fn packets_out_of_order_end_the_connection() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    client.sequence = 5;
    client.write(b"\x0e");
    client.sequence = 0;
    assert_eq!(error(&client.read().unwrap()), Answer::Error(1156, "Got packets out of order".into()));
    assert_eq!(client.read(), None);
}

#[test]
fn a_malformed_command_ends_the_connection() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(
        error(&client.command(b"\x17\x01").unwrap()),
        Answer::Error(1835, "Malformed communication packet.".into())
    );
    assert_eq!(client.read(), None);
}

#[test]
fn packets_may_come_in_pieces() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    for byte in [1, 0, 0, 0, 0x0e] {
        client.stream.write_all(&[byte]).unwrap();
        std::thread::sleep(Duration::from_millis(2));
    }
    client.sequence = 1;
    assert_eq!(client.read().unwrap()[0], 0);
}

#[test]
fn random_bytes_never_hurt_the_server() {
    let server = TestServer::start(&[]);
    let mut prng = Prng::new(test_seed(7));
    for round in 0..60 {
        let mut client = if round % 2 == 0 { server.connect_raw() } else { server.connect() };
        client.stream.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
        for _ in 0..1 + prng.below(4) {
            let mut payload = vec![0; prng.below(64) as usize];
            prng.fill(&mut payload);
            if let Some(first) = payload.first_mut() {
                // no statement, no shutdown
                *first = *prng
                    .pick(&[2, 7, 9, 0x0b, 0x0c, 0x11, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1f, 0x40, 0xff]);
            }
            let mut bytes = (payload.len() as u32).to_le_bytes().to_vec();
            bytes.extend_from_slice(&payload);
            if prng.one_in(3) {
                prng.fill(&mut bytes);
                bytes[2] = 0;
            }
            // the server may have closed the connection already
            let _ = client.stream.write_all(&bytes);
            let _ = client.stream.read(&mut [0; 512]);
        }
    }
    assert_eq!(server.connect().command(b"\x0e").unwrap()[0], 0);
}

#[test]
fn one_client_too_many_is_told_1040() {
    let server = TestServer::start(&[("max_connections", "2")]);
    let mut administrator = server.connect();
    assert_eq!(administrator.query("CREATE USER app"), Answer::Ok(0));
    let second = server.connect();
    let refused = Answer::Error(1040, "Too many connections".into());
    let mut app = server.connect_raw();
    assert_eq!(
        error(&app.login("app", b"", CAPABILITIES)),
        refused,
        "one more gets in, but must be an administrator"
    );
    assert_eq!(app.read(), None);
    let third = server.connect();
    let mut fourth = server.connect_raw();
    assert_eq!(error(&fourth.read().unwrap()), refused);
    assert_eq!(fourth.read(), None);
    drop((second, third));
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        std::thread::sleep(Duration::from_millis(10));
        let mut again = server.connect_raw();
        if again.read().unwrap()[0] == 10 {
            return;
        }
    }
    panic!("a place became free and was not given");
}

#[test]
fn connections_that_say_nothing_take_no_place() {
    let server = TestServer::start(&[("max_connections", "2")]);
    let mut silent: Vec<Client> = (0..40).map(|_| server.connect_raw()).collect();
    silent.iter_mut().for_each(|client| assert_eq!(client.read().unwrap()[0], 10));
    let (mut first, mut second) = (server.connect(), server.connect());
    assert_eq!((first.value("SELECT 1"), second.value("SELECT 1")), ("1".to_owned(), "1".to_owned()));
}

#[test]
fn each_wait_of_a_login_has_its_own_time() {
    let server = TestServer::start(&[("connect_timeout", "2")]);
    let mut slow = server.connect_raw();
    assert_eq!(slow.read().unwrap()[0], 10);
    // A client that is short of processor time: longer than connect_timeout in all, and never so long at a
    // time.
    std::thread::sleep(Duration::from_millis(1300));
    let asks_for_another_plugin = "mysql_clear_password";
    slow.respond("root", &[7; 4], asks_for_another_plugin, CAPABILITIES);
    assert_eq!(slow.read().unwrap()[0], 0xfe, "it is asked for a proof by another plugin");
    std::thread::sleep(Duration::from_millis(1300));
    slow.write(b"");
    assert_eq!(slow.read().unwrap()[0], 0);
}

#[test]
fn another_connection_can_be_killed() {
    let server = TestServer::start(&[]);
    let mut victim = server.connect();
    let mut killer = server.connect();
    // the greeting says the connection's number; here they are 1 and 2
    assert_eq!(killer.command(b"\x0c\x01\0\0\0").unwrap()[0], 0);
    assert_eq!(victim.read(), None);
    assert_eq!(killer.command(b"\x0e").unwrap()[0], 0);
}

#[test]
fn a_silent_client_is_cut_off() {
    let server = TestServer::start(&[("wait_timeout", "1")]);
    let mut client = server.connect();
    client.sequence = 0;
    match error(&client.read().unwrap()) {
        Answer::Error(4031, text) => assert!(text.starts_with("The client was disconnected")),
        other => panic!("{other:?}"),
    }
    assert_eq!(client.read(), None);
}

#[test]
fn an_interactive_client_may_be_silent_for_as_long_as_it_says() {
    const INTERACTIVE: u32 = 0x400;
    let server = TestServer::start(&[("wait_timeout", "1"), ("interactive_timeout", "7000")]);
    let mut client = server.connect_raw();
    assert_eq!(client.login("root", b"", CAPABILITIES | INTERACTIVE)[0], 0);
    assert_eq!(client.value("SELECT @@wait_timeout"), "7000");
    assert_eq!(client.query("SET wait_timeout = 1"), Answer::Ok(0));
    let begun = Instant::now();
    client.sequence = 0;
    assert!(matches!(client.read().map(|packet| error(&packet)), Some(Answer::Error(4031, _))));
    assert_eq!(client.read(), None);
    assert!(begun.elapsed() > Duration::from_millis(500));
}

#[test]
fn a_client_that_has_logged_in_sleeps() {
    let server = TestServer::start(&[]);
    let _idle: Vec<_> = (0..3).map(|_| server.connect()).collect();
    let _strangers: Vec<_> = (0..3).map(|_| server.connect_raw()).collect();
    let mut client = server.connect();
    let asleep = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE COMMAND = 'Sleep' AND STATE = ''";
    client::until(&mut client, asleep, &Answer::Rows(vec![vec![Some("3".to_owned())]]));
    let running = "SHOW GLOBAL STATUS LIKE 'Threads_running'";
    let Answer::Rows(rows) = client.query(running) else { panic!("rows") };
    assert_eq!(rows[0][1].as_deref(), Some("1"));
}

#[test]
fn a_statement_has_at_most_65535_parameters() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    let select = |parameters: usize| format!("SELECT 1 IN (0{})", ", ?".repeat(parameters));
    assert!(client.prepare(&select(65_535)).is_ok());
    let refused = Answer::Error(1390, "Prepared statement contains too many placeholders".to_owned());
    for parameters in [65_536, 70_000] {
        assert_eq!(client.prepare(&select(parameters)), Err(refused.clone()));
        assert_eq!(client.query(&format!("PREPARE p FROM '{}'", select(parameters))), refused);
    }
}

#[test]
fn a_client_that_does_not_log_in_is_cut_off() {
    let server = TestServer::start(&[("connect_timeout", "2")]);
    let mut client = server.connect_raw();
    assert_eq!(client.read().unwrap()[0], 10);
    assert_eq!(client.read(), None);
}

#[test]
fn shutting_down_ends_idle_connections_and_can_be_asked_for_by_a_client() {
    let server = TestServer::start(&[]);
    let mut idle = server.connect();
    let mut client = server.connect();
    assert_eq!(client.command(b"\x08").unwrap()[0], 0);
    assert_eq!(idle.read(), None);
    assert_eq!(server.stop(), Ok(()));
}

/// A client on the server's Unix socket, which nobody can read: it may send a password as it is.
fn private(path: &std::path::Path) -> Client {
    let stream = TcpStream::from(OwnedFd::from(UnixStream::connect(path).unwrap()));
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    Client { stream, sequence: 0 }
}

/// How long it takes to be told that a password is wrong.
fn refusal(path: &std::path::Path, user: &str) -> Duration {
    let mut client = private(path);
    assert_eq!(client.login(user, &[7; 32], CAPABILITIES), b"\x01\x04", "asked for the password itself");
    let begun = Instant::now();
    client.write(b"wrong\0");
    let answer = error(&client.read().unwrap());
    let text = format!("Access denied for user '{user}'@'localhost' (using password: YES)");
    assert_eq!(answer, Answer::Error(1045, text));
    begun.elapsed()
}

#[test]
fn an_unknown_user_is_refused_after_as_long_as_a_known_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("mysql.sock");
    let server = TestServer::start(&[("socket", path.to_str().unwrap())]);
    run(&mut server.connect(), &["CREATE USER known IDENTIFIED BY 'right'"]);
    // what disturbs makes it longer only
    let shortest = |user: &str| (0..7).map(|_| refusal(&path, user)).min().unwrap();
    let (known, unknown) = (shortest("known"), shortest("unknown"));
    assert!(unknown > known / 3, "{unknown:?}, known {known:?}");
}

#[test]
fn prepared_statements_of_both_kinds_are_counted_together() {
    let server = TestServer::start(&[("max_prepared_stmt_count", "2")]);
    let mut client = server.connect();
    let count = "SHOW STATUS LIKE 'Prepared_stmt_count'";
    let counted =
        |number: &str| Answer::Rows(vec![vec![Some("Prepared_stmt_count".into()), Some(number.into())]]);
    run(&mut client, &["PREPARE a FROM 'SELECT 1'", "PREPARE a FROM 'SELECT 2'"]);
    let number = client.prepare("SELECT 3").unwrap();
    assert_eq!(client.query(count), counted("2"));
    let text = "Can't create more than max_prepared_stmt_count statements (current value: 2)";
    let refused = Answer::Error(1461, text.to_owned());
    assert_eq!(client.query("PREPARE b FROM 'SELECT 1'"), refused);
    assert_eq!(client.prepare("SELECT 1"), Err(refused));
    client.query("PREPARE a FROM 'no statement'");
    assert_eq!(client.query(count), counted("1"), "the name was free before the text was looked at");
    let mut close = vec![0x19];
    close.extend_from_slice(&number.to_le_bytes());
    client.sequence = 0;
    client.write(&close);
    assert_eq!(client.query(count), counted("0"));
    run(&mut client, &["PREPARE a FROM 'SELECT 1'", "PREPARE b FROM 'SELECT 1'", "DEALLOCATE PREPARE b"]);
    assert_eq!(client.query(count), counted("1"));
    assert_eq!(client.command(b"\x1f").unwrap()[0], 0, "reset connection");
    assert_eq!(client.query(count), counted("0"));
}

#[test]
fn a_debug_command_writes_a_report_and_needs_super() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.command(b"\x0d").unwrap()[0], 0xfe);
    assert_eq!(client.value("SHOW SESSION STATUS LIKE 'Com_admin_commands'"), "Com_admin_commands");
    client.query("CREATE USER low");
    let mut low = server.connect_raw();
    assert_eq!(low.login("low", b"", CAPABILITIES)[0], 0);
    assert_eq!(
        error(&low.command(b"\x0d").unwrap()),
        Answer::Error(
            1227,
            "Access denied; you need (at least one of) the SUPER privilege(s) for this operation".into()
        )
    );
    assert_eq!(low.command(b"\x0e").unwrap()[0], 0);
}
