//! Clients that are refused: errors and connections of the accounts that they claim.

mod client;

use client::{CAPABILITIES, Client, TestServer, run};

/// How often an error was raised, and how many connections there were and are, of a user.
fn counts(client: &mut Client, user: &str, error: u16) -> String {
    client.value(&format!(
        "SELECT CONCAT_WS(' ', (SELECT SUM(SUM_ERROR_RAISED) FROM \
         performance_schema.events_errors_summary_by_account_by_error WHERE USER = '{user}' AND ERROR_NUMBER = {error}), \
         (SELECT SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_by_user_by_error \
         WHERE USER = '{user}' AND ERROR_NUMBER = {error}), \
         (SELECT SUM(TOTAL_CONNECTIONS) FROM performance_schema.accounts WHERE USER = '{user}'), \
         (SELECT SUM(CURRENT_CONNECTIONS) FROM performance_schema.users WHERE USER = '{user}'))"
    ))
}

/// A client that has no password is refused.
fn refused(server: &TestServer, user: &str) {
    let answer = server.connect_raw().login(user, b"", CAPABILITIES);
    assert_eq!(answer[0], 0xff, "{}", answer.escape_ascii());
}

#[test]
fn refused_logins_count_as_connections_and_errors_of_their_accounts() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    run(&mut client, &["CREATE USER known IDENTIFIED BY 'x'", "CREATE USER locked ACCOUNT LOCK"]);
    let all = "SELECT SUM_ERROR_RAISED FROM performance_schema.events_errors_summary_global_by_error \
               WHERE ERROR_NUMBER = 1045";
    let by_host = "SELECT SUM(SUM_ERROR_RAISED) FROM performance_schema.events_errors_summary_by_host_by_error \
                   WHERE ERROR_NUMBER = 1045";
    for (user, times) in [("unknown", 3), ("known", 2)] {
        for _ in 0..times {
            refused(&server, user);
        }
        assert_eq!(counts(&mut client, user, 1045), format!("{times} {times} {times} 0"));
    }
    assert_eq!((client.value(all), client.value(by_host)), ("5".to_owned(), "5".to_owned()));
    refused(&server, "locked");
    assert_eq!(counts(&mut client, "locked", 3118), "1 1 1 0");
    run(&mut client, &["TRUNCATE TABLE performance_schema.events_errors_summary_global_by_error"]);
    assert_eq!(client.value(all), "0");
    // An instrument that is disabled counts no errors; the connections are counted all the same.
    run(
        &mut client,
        &["UPDATE performance_schema.setup_instruments SET ENABLED = 'NO' WHERE NAME = 'error'"],
    );
    refused(&server, "unknown");
    assert_eq!(counts(&mut client, "unknown", 1045), "0 0 4 0");
}
