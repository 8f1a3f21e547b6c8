//! Certificates that are read anew while the server runs.

mod client;

use client::{Answer, Client, TestServer, connect_as, run};

fn error(code: u16, text: &str) -> Answer {
    Answer::Error(code, text.to_owned())
}

fn status(client: &mut Client, name: &str) -> String {
    match client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")) {
        Answer::Rows(rows) => rows[0][1].clone().unwrap(),
        other => panic!("{name}: {other:?}"),
    }
}

const NO_CERTIFICATE: &str =
    "Failed to set up SSL because of the following SSL library error: Unable to get certificate";

#[test]
fn certificates_are_read_anew() {
    let server = TestServer::start(&[]);
    let mut client = server.connect();
    assert_eq!(client.query("ALTER INSTANCE RELOAD TLS"), Answer::Ok(0));
    assert_eq!(client.query("ALTER INSTANCE RELOAD TLS FOR CHANNEL mysql_admin"), Answer::Ok(0));
    let nowhere = client.query("ALTER INSTANCE RELOAD TLS FOR CHANNEL nowhere");
    assert_eq!(client::number(&nowhere), 1149);
    run(&mut client, &["SET GLOBAL ssl_cert = 'none.pem', GLOBAL ssl_session_cache_mode = OFF"]);
    assert_eq!(client.query("ALTER INSTANCE RELOAD TLS"), error(3888, NO_CERTIFICATE));
    assert_eq!(status(&mut client, "Current_tls_cert"), "server-cert.pem");
    assert_eq!(status(&mut client, "Ssl_session_cache_mode"), "SERVER");
    assert!(status(&mut client, "Ssl_server_not_after").ends_with(" GMT"));
    assert_eq!(client.query("ALTER INSTANCE RELOAD TLS NO ROLLBACK ON ERROR"), Answer::Ok(0));
    let warned = [Some("Warning".into()), Some("3888".into()), Some(NO_CERTIFICATE.into())];
    assert_eq!(client.query("SHOW WARNINGS"), Answer::Rows(vec![warned.to_vec()]));
    assert_eq!(status(&mut client, "Current_tls_cert"), "none.pem");
    assert_eq!(status(&mut client, "Ssl_session_cache_mode"), "NONE");
    let enabled = "SELECT VALUE FROM performance_schema.tls_channel_status WHERE PROPERTY = 'Enabled'";
    assert_eq!(client.value(enabled), "No");
    run(&mut client, &["SET GLOBAL ssl_cert = DEFAULT", "ALTER INSTANCE RELOAD TLS"]);
    assert_eq!(client.value(enabled), "Yes");
    assert_eq!(status(&mut client, "Ssl_session_cache_mode"), "OFF");
    let version = "Variable 'tls_version' can't be set to the value of 'TLSv1.1'";
    assert_eq!(client.query("SET GLOBAL tls_version = 'TLSv1.1'"), error(1231, version));
}

#[test]
fn it_takes_the_privilege_of_those_who_administer_connections() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    run(&mut root, &["CREATE USER plain@'%'"]);
    let mut plain = connect_as(&server, "plain");
    let denied =
        "Access denied; you need (at least one of) the CONNECTION_ADMIN privilege(s) for this operation";
    assert_eq!(plain.query("ALTER INSTANCE RELOAD TLS"), error(1227, denied));
}
