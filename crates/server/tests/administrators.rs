//! `admin_address`: administrators get in there whatever the others do.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer, error, run};

fn start() -> TestServer {
    TestServer::start(&[("admin_address", "127.0.0.1"), ("admin_port", "0"), ("max_connections", "1")])
}

fn at_admin_address(server: &TestServer, user: &str) -> (Client, Vec<u8>) {
    let mut client = Client::connect(server.administrative.expect("it is set"));
    let answer = client.login(user, b"", CAPABILITIES);
    (client, answer)
}

#[test]
fn administrators_get_in_there_when_all_places_are_taken_and_take_none() {
    let server = start();
    let mut first = server.connect();
    run(&mut first, &["CREATE USER low@localhost", "CREATE USER service@localhost"]);
    run(&mut first, &["GRANT SERVICE_CONNECTION_ADMIN ON *.* TO service@localhost"]);
    let mut administrators: Vec<_> = (0..5)
        .map(|_| {
            let (client, answer) = at_admin_address(&server, "root");
            assert_eq!(answer[0], 0, "{}", answer.escape_ascii());
            client
        })
        .collect();
    assert_eq!(administrators[4].value("SELECT 1"), "1");
    assert_eq!(at_admin_address(&server, "service").1[0], 0);
    let (_, answer) = at_admin_address(&server, "low");
    let Answer::Error(1227, text) = error(&answer) else { panic!("{}", answer.escape_ascii()) };
    assert!(text.contains("SERVICE_CONNECTION_ADMIN"), "{text}");
    assert_eq!(first.value("SELECT @@max_connections"), "1");
    // the one place beyond `max_connections` is an administrator's as before
    let mut beyond = server.connect();
    let id = beyond.value("SELECT CONNECTION_ID()");
    assert_eq!(administrators[0].query(&format!("KILL {id}")), Answer::Ok(0));
    assert!(beyond.read().is_none(), "closed");
}

#[test]
fn an_administrator_shuts_the_server_down_from_there() {
    let server = start();
    let (mut client, answer) = at_admin_address(&server, "root");
    assert_eq!(answer[0], 0);
    assert_eq!(client.query("SHUTDOWN"), Answer::Ok(0));
    server.wait().unwrap();
}
