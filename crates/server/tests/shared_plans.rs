//! Prepared statements that sessions share: values, data sent ahead and privileges stay their own, and many execute one
//! plan at once.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer, error, run};

/// One parameter of a type, with its value's bytes.
fn one(kind: u8, value: &[u8]) -> Vec<u8> {
    [&[0, 1, kind, 0][..], value].concat()
}

fn number(value: i64) -> Vec<u8> {
    one(8, &value.to_le_bytes())
}

fn text(value: &str) -> Vec<u8> {
    one(253, &[&[value.len() as u8][..], value.as_bytes()].concat())
}

/// The answer to an execution that sends no rows.
fn outcome(client: &mut Client, statement: u32, parameters: &[u8]) -> Answer {
    let head = [&[0x17][..], &statement.to_le_bytes(), &[0, 1, 0, 0, 0], parameters].concat();
    let packet = client.command(&head).unwrap();
    if packet[0] == 0xff { error(&packet) } else { Answer::Ok(u64::from(packet[1])) }
}

fn server_with_rows() -> (TestServer, Client) {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    let statements = [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20), n INT NOT NULL)",
        "INSERT INTO d.t VALUES (1, '1abc', 0), (2, '1', 0)",
    ];
    run(&mut root, &statements);
    (server, root)
}

/// Connections on every worker, more than one on each.
fn connections(server: &TestServer) -> Vec<Client> {
    (0..6).map(|_| server.connect()).collect()
}

#[test]
fn sessions_give_a_shared_statement_values_of_their_own() {
    let (server, _root) = server_with_rows();
    let mut clients = connections(&server);
    let ids: Vec<u32> = clients
        .iter_mut()
        .map(|client| client.prepare("SELECT id FROM d.t WHERE v = ? ORDER BY id").unwrap())
        .collect();
    for _ in 0..3 {
        for (at, (client, id)) in clients.iter_mut().zip(&ids).enumerate() {
            let (parameter, found) = if at % 2 == 0 { (number(1), 2) } else { (text("1"), 1) };
            assert_eq!(client.execute(*id, &parameter).len(), found, "connection {at}");
        }
    }
    // What one sends ahead is not what another executes with.
    let ids: Vec<u32> = clients
        .iter_mut()
        .map(|client| client.prepare("UPDATE d.t SET v = ? WHERE id = 2").unwrap())
        .collect();
    let ahead = [&[0x18][..], &ids[0].to_le_bytes(), &[0, 0], b"ahead"].concat();
    clients[0].sequence = 0;
    clients[0].write(&ahead);
    let mut value = |of: usize, parameter: &[u8]| {
        assert_eq!(outcome(&mut clients[of], ids[of], parameter), Answer::Ok(1));
        clients[of].value("SELECT v FROM d.t WHERE id = 2")
    };
    for other in 1..6 {
        assert_eq!(value(other, &text(&format!("own{other}"))), format!("own{other}"));
    }
    assert_eq!(value(0, &one(252, &[])), "ahead");
}

#[test]
fn a_plan_that_was_made_for_another_account_gives_no_privileges() {
    let (server, mut root) = server_with_rows();
    run(&mut root, &["CREATE USER app", "GRANT USAGE ON *.* TO app"]);
    let texts = [
        "SELECT id FROM d.t WHERE id = ?",
        "UPDATE d.t SET n = 0 WHERE id = ?",
        "INSERT INTO d.t VALUES (?, 'x', 0)",
    ];
    let mut owners = connections(&server);
    for owner in &mut owners {
        for text in texts {
            owner.prepare(text).unwrap();
        }
    }
    let mut app = Client::connect(server.address);
    assert_eq!(app.login("app", b"", CAPABILITIES)[0], 0);
    for text in texts {
        assert!(matches!(app.prepare(text), Err(Answer::Error(1142, _))), "{text}");
    }
    run(&mut root, &["GRANT SELECT, UPDATE ON d.t TO app"]);
    let mut app = Client::connect(server.address);
    assert_eq!(app.login("app", b"", CAPABILITIES)[0], 0);
    let select = app.prepare(texts[0]).unwrap();
    let update = app.prepare(texts[1]).unwrap();
    assert!(matches!(app.prepare(texts[2]), Err(Answer::Error(1142, _))));
    assert_eq!(app.execute(select, &number(1)).len(), 1);
    assert!(matches!(outcome(&mut app, update, &number(1)), Answer::Ok(_)));
    run(&mut root, &["REVOKE UPDATE ON d.t FROM app"]);
    assert!(matches!(outcome(&mut app, update, &number(1)), Answer::Error(1142, _)));
    assert_eq!(app.execute(select, &number(1)).len(), 1);
}

#[test]
fn many_sessions_execute_one_plan_at_once_while_the_table_changes() {
    const ROUNDS: i64 = 100;
    let (server, mut root) = server_with_rows();
    let threads: Vec<_> = connections(&server)
        .into_iter()
        .enumerate()
        .map(|(at, mut client)| {
            std::thread::spawn(move || {
                let row = 1 + at as i64 % 2;
                let add = client.prepare("UPDATE d.t SET n = n + 1 WHERE id = ?").unwrap();
                let read = client.prepare("SELECT id FROM d.t WHERE id = ?").unwrap();
                for _ in 0..ROUNDS {
                    assert_eq!(outcome(&mut client, add, &number(row)), Answer::Ok(1));
                    let found = client.execute(read, &number(row));
                    assert_eq!(found, [[&[0, 0][..], &(row as i32).to_le_bytes()].concat()]);
                }
            })
        })
        .collect();
    for number in 0..5 {
        run(&mut root, &[&format!("ALTER TABLE d.t ADD COLUMN c{number} INT")]);
    }
    for thread in threads {
        thread.join().unwrap();
    }
    for id in [1, 2] {
        assert_eq!(root.value(&format!("SELECT n FROM d.t WHERE id = {id}")), (3 * ROUNDS).to_string());
    }
}

/// The columns that the client is told of, and the rows, each as a packet.
fn told(client: &mut Client, command: &[u8]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let first = client.command(command).unwrap();
    assert_ne!(first[0], 0xff, "{}", first.escape_ascii());
    let columns = (0..first[0]).map(|_| client.read().unwrap()).collect();
    let rows = std::iter::from_fn(|| client.read().filter(|packet| packet[0] != 0xfe)).collect();
    (columns, rows)
}

/// What is kept of a plan's columns is what a plan that is new says of them, in whatever character set.
#[test]
fn clients_are_told_the_same_of_the_columns_of_a_plan_however_often_it_runs() {
    let (server, mut root) = server_with_rows();
    run(&mut root, &["UPDATE d.t SET v = _utf8mb4 x'c3a9'"]);
    let point = "SELECT id, v FROM d.t WHERE id = ?";
    let several = "SELECT v, CONCAT(v, ?) AS c, n + 1 FROM d.t ORDER BY id LIMIT 1";
    for (text, parameters) in [(point, number(1)), (several, text("x"))] {
        let mut seen = Vec::new();
        // In each order the first character set is the one that the second run keeps.
        for names in [["utf8mb4", "latin1"], ["latin1", "utf8mb4"]] {
            // Another text, so that the plan is a new one.
            let text = format!("{text} /* {} */", names[0]);
            let mut client = server.connect();
            for round in 0..3 {
                for names in names {
                    run(&mut client, &[&format!("SET character_set_results = {names}")]);
                    let statement = client.prepare(&text).unwrap();
                    let command =
                        [&[0x17][..], &statement.to_le_bytes(), &[0, 1, 0, 0, 0], &parameters].concat();
                    for _ in 0..3 {
                        seen.push((names, told(&mut client, &command), round));
                    }
                }
            }
        }
        for names in ["utf8mb4", "latin1"] {
            let same: Vec<_> = seen.iter().filter(|(of, ..)| *of == names).collect();
            assert_eq!(same.len(), 18);
            same.iter().for_each(|(_, told, round)| assert_eq!(*told, same[0].1, "{names}, {round}"));
        }
        let of = |names: &str| &seen.iter().find(|(of, ..)| *of == names).unwrap().1;
        assert_ne!(of("utf8mb4").0, of("latin1").0);
        assert_ne!(of("utf8mb4").1, of("latin1").1);
    }
}
