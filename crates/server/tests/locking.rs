//! Row locks, gaps and isolation levels as clients see them.

mod client;

use client::{Answer, Client, TestServer, number, until_somebody_waits};

fn rows(list: &[&str]) -> Answer {
    Answer::Rows(list.iter().map(|text| vec![Some((*text).to_owned())]).collect())
}

const TIMEOUT: u16 = 1205;
const DEADLOCK: u16 = 1213;
const CHANGED: u16 = 1020;

/// Rows 10, 20, 30, 40 with n = 1, 2, 3, 4. Waiting for a lock takes a second at most.
fn with_rows(options: &[(&str, &str)]) -> TestServer {
    let server = TestServer::start(&[&[("innodb_lock_wait_timeout", "1")], options].concat());
    let mut client = server.connect();
    assert_eq!(client.query("CREATE DATABASE test"), Answer::Ok(1));
    let table = "CREATE TABLE test.t (id INT PRIMARY KEY, n INT, v VARCHAR(20), KEY (n))";
    assert_eq!(client.query(table), Answer::Ok(0));
    let filling = "INSERT INTO test.t VALUES (10, 1, ''), (20, 2, ''), (30, 3, ''), (40, 4, '')";
    assert_eq!(client.query(filling), Answer::Ok(4));
    server
}

fn connect(server: &TestServer, isolation: &str) -> Client {
    let mut client = server.connect();
    assert_eq!(client.query("USE test"), Answer::Ok(0));
    let set = format!("SET SESSION TRANSACTION ISOLATION LEVEL {isolation}");
    assert_eq!(client.query(&set), Answer::Ok(0));
    client
}

/// Which of the rows are locked: what SKIP LOCKED leaves out.
fn locked(client: &mut Client) -> Vec<String> {
    let Answer::Rows(free) = client.query("SELECT id FROM t FOR UPDATE SKIP LOCKED") else { panic!() };
    let free: Vec<String> = free.into_iter().map(|row| row[0].clone().unwrap()).collect();
    let all = ["10", "20", "30", "40"].map(str::to_owned).into_iter();
    all.filter(|id| !free.contains(id)).collect()
}

#[test]
fn nowait_is_an_error_and_skip_locked_takes_the_next() {
    let server = with_rows(&[]);
    let mut holder = connect(&server, "REPEATABLE READ");
    let mut other = connect(&server, "REPEATABLE READ");
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    let first = "SELECT id FROM t ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED";
    assert_eq!(holder.query(first), rows(&["10"]));
    assert_eq!(other.query(first), rows(&["20"]));
    assert_eq!(
        other.query("SELECT id FROM t WHERE id = 10 FOR SHARE NOWAIT"),
        Answer::Error(
            3572,
            "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.".into()
        )
    );
    assert_eq!(other.query("SELECT id FROM t WHERE id = 20 FOR UPDATE NOWAIT"), rows(&["20"]));
    assert_eq!(other.query("SELECT id FROM t WHERE n = 1 LOCK IN SHARE MODE"), {
        Answer::Error(TIMEOUT, "Lock wait timeout exceeded; try restarting transaction".into())
    });
    assert_eq!(holder.query("COMMIT"), Answer::Ok(0));
    assert_eq!(other.query("SELECT id FROM t WHERE n = 1 LOCK IN SHARE MODE"), rows(&["10"]));
}

/// Each clause locks what it names, in its own way, and what none names is read as without a clause.
#[test]
fn a_clause_with_of_locks_the_rows_of_the_tables_that_it_names() {
    let server = with_rows(&[]);
    let mut holder = connect(&server, "REPEATABLE READ");
    let mut other = connect(&server, "REPEATABLE READ");
    assert_eq!(holder.query("CREATE TABLE other (id INT PRIMARY KEY)"), Answer::Ok(0));
    assert_eq!(holder.query("INSERT INTO other VALUES (10)"), Answer::Ok(1));
    let join = |clauses: &str| format!("SELECT t.id FROM t JOIN other AS o USING (id) {clauses}");
    let refused = Answer::Error(
        3572,
        "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.".into(),
    );
    let taken = rows(&["10"]);
    // of each: FOR SHARE and FOR UPDATE of t, the same of other
    for (clauses, others) in [
        ("", [&taken, &taken, &taken, &taken]),
        ("FOR UPDATE OF o", [&taken, &taken, &refused, &refused]),
        ("FOR SHARE OF t", [&taken, &refused, &taken, &taken]),
        ("FOR UPDATE OF t FOR SHARE OF o", [&refused, &refused, &taken, &refused]),
        ("FOR SHARE", [&taken, &refused, &taken, &refused]),
    ] {
        assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
        assert_eq!(holder.query(&join(clauses)), taken);
        let tries = ["t", "other"].map(|table| {
            ["SHARE", "UPDATE"].map(|strength| {
                other.query(&format!("SELECT id FROM {table} WHERE id = 10 FOR {strength} NOWAIT"))
            })
        });
        assert_eq!(tries.as_flattened().iter().collect::<Vec<_>>(), others, "{clauses}");
        assert_eq!(holder.query("COMMIT"), Answer::Ok(0));
    }
}

#[test]
fn inserts_into_a_locked_range_wait_and_a_timeout_undoes_the_statement_only() {
    let server = with_rows(&[]);
    let mut holder = connect(&server, "REPEATABLE READ");
    let mut other = connect(&server, "REPEATABLE READ");
    for (lock, inside, beside) in [
        ("SELECT id FROM t WHERE id BETWEEN 15 AND 25 FOR UPDATE", "(17, 9, '')", "(27, 9, '')"),
        ("UPDATE t SET v = 'x' WHERE n = 2", "(50, 2, '')", "(51, 1, '')"),
        ("DELETE FROM t WHERE id > 35", "(36, 9, '')", "(35, 9, '')"),
        ("UPDATE t SET v = 'x' WHERE id = 33", "(33, 9, '')", "(32, 9, '')"),
    ] {
        assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
        assert_eq!(number(&holder.query(lock)), 0, "{lock}");
        assert_eq!(other.query("BEGIN"), Answer::Ok(0));
        assert_eq!(other.query(&format!("INSERT INTO t VALUES {beside}")), Answer::Ok(1), "{lock}");
        let waits = other.query(&format!("INSERT INTO t VALUES (1, 9, ''), {inside}"));
        assert_eq!(number(&waits), TIMEOUT, "{lock}");
        assert_eq!(
            other.value("SELECT COUNT(*) FROM t"),
            "5",
            "the first INSERT is there, the second whole gone"
        );
        assert_eq!(holder.query("ROLLBACK"), Answer::Ok(0));
        assert_eq!(other.query(&format!("INSERT INTO t VALUES {inside}")), Answer::Ok(1), "{lock}");
        assert_eq!(other.query("ROLLBACK"), Answer::Ok(0));
    }
}

#[test]
fn rows_that_were_looked_at_stay_locked_in_repeatable_read_and_not_in_read_committed() {
    let server = with_rows(&[]);
    let mut other = connect(&server, "READ COMMITTED");
    for (statement, repeatable, committed) in [
        // By primary key: the row is locked even if the rest does not hold.
        ("UPDATE t SET v = 'x' WHERE id = 20 AND n = 7", &["20"][..], &[][..]),
        ("DELETE FROM t WHERE id = 20 AND n = 7", &["20"], &[]),
        // Nothing changes, and the row is locked all the same.
        ("UPDATE t SET v = v WHERE id = 20", &["20"], &["20"]),
        ("UPDATE t SET v = 'x' WHERE v = 'nothing' OR id + 0 = 30", &["10", "20", "30", "40"], &["30"]),
        ("SELECT id FROM t WHERE v = '' AND id + 0 = 30 FOR UPDATE", &["10", "20", "30", "40"], &["30"]),
        ("SELECT id FROM t WHERE n >= 2 AND v = '' AND id + 0 = 30 FOR UPDATE", &["20", "30", "40"], &["30"]),
    ] {
        for (isolation, expected) in [("REPEATABLE READ", repeatable), ("READ COMMITTED", committed)] {
            let mut holder = connect(&server, isolation);
            assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
            assert_eq!(number(&holder.query(statement)), 0, "{statement}");
            assert_eq!(locked(&mut other), expected, "{isolation}: {statement}");
            assert_eq!(holder.query("ROLLBACK"), Answer::Ok(0));
            assert_eq!(locked(&mut other), [""; 0]);
        }
    }
}

#[test]
fn a_lock_of_an_earlier_statement_survives_a_later_one_that_rejects_the_row() {
    let server = with_rows(&[]);
    let mut holder = connect(&server, "READ COMMITTED");
    let mut other = connect(&server, "READ COMMITTED");
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    assert_eq!(holder.query("SELECT id FROM t WHERE id = 20 FOR UPDATE"), rows(&["20"]));
    assert_eq!(holder.query("SELECT id FROM t WHERE v = 'nothing' FOR UPDATE"), rows(&[]));
    assert_eq!(locked(&mut other), ["20"]);
}

#[test]
fn serializable_reads_lock_within_a_transaction() {
    let server = with_rows(&[]);
    let mut reader = connect(&server, "SERIALIZABLE");
    let mut writer = connect(&server, "REPEATABLE READ");
    assert_eq!(reader.query("BEGIN"), Answer::Ok(0));
    assert_eq!(reader.value("SELECT COUNT(*) FROM t WHERE id > 15"), "3");
    assert_eq!(number(&writer.query("INSERT INTO t VALUES (16, 0, '')")), TIMEOUT);
    assert_eq!(number(&writer.query("UPDATE t SET v = 'x' WHERE id = 20")), TIMEOUT);
    assert_eq!(writer.query("SELECT id FROM t WHERE id = 20 FOR SHARE NOWAIT"), rows(&["20"]));
    assert_eq!(reader.query("COMMIT"), Answer::Ok(0));
    assert_eq!(writer.query("BEGIN"), Answer::Ok(0));
    assert_eq!(writer.query("UPDATE t SET v = 'x' WHERE id = 20"), Answer::Ok(1));
    assert_eq!(reader.query("SELECT v FROM t WHERE id = 20"), rows(&[""]), "alone it reads consistently");
    let mut dirty = connect(&server, "READ UNCOMMITTED");
    assert_eq!(dirty.query("SELECT v FROM t WHERE id = 20"), rows(&["x"]));
}

#[test]
fn a_timeout_rolls_the_transaction_back_if_the_server_is_told_to() {
    let server = with_rows(&[("innodb_rollback_on_timeout", "ON")]);
    let mut holder = connect(&server, "REPEATABLE READ");
    let mut other = connect(&server, "REPEATABLE READ");
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    assert_eq!(holder.query("UPDATE t SET v = 'x' WHERE id = 20"), Answer::Ok(1));
    assert_eq!(other.query("BEGIN"), Answer::Ok(0));
    assert_eq!(other.query("UPDATE t SET v = 'y' WHERE id = 30"), Answer::Ok(1));
    assert_eq!(number(&other.query("UPDATE t SET v = 'y' WHERE id = 20")), TIMEOUT);
    assert_eq!(other.value("SELECT COUNT(*) FROM t WHERE v = 'y'"), "0");
    assert_eq!(holder.query("UPDATE t SET v = 'x' WHERE id = 30"), Answer::Ok(1));
}

#[test]
fn of_two_in_a_deadlock_the_one_that_did_less_is_rolled_back_whole() {
    let server = with_rows(&[("innodb_print_all_deadlocks", "ON")]);
    let mut busy = connect(&server, "REPEATABLE READ");
    let mut idle = connect(&server, "REPEATABLE READ");
    assert_eq!(busy.query("SET innodb_lock_wait_timeout = 30"), Answer::Ok(0));
    assert_eq!(idle.query("SET innodb_lock_wait_timeout = 30"), Answer::Ok(0));
    assert_eq!(busy.query("BEGIN"), Answer::Ok(0));
    assert_eq!(busy.query("UPDATE t SET v = 'busy' WHERE id IN (20, 30, 40)"), Answer::Ok(3));
    assert_eq!(idle.query("BEGIN"), Answer::Ok(0));
    assert_eq!(idle.query("UPDATE t SET v = 'idle' WHERE id = 10"), Answer::Ok(1));
    let waiting = std::thread::spawn(move || {
        let answer = idle.query("UPDATE t SET v = 'idle' WHERE id = 20");
        (answer, idle)
    });
    let mut watcher = server.connect();
    until_somebody_waits(&mut watcher);
    assert_eq!(busy.query("UPDATE t SET v = 'busy' WHERE id = 10"), Answer::Ok(1));
    let (answer, mut idle) = waiting.join().unwrap();
    assert_eq!(
        answer,
        Answer::Error(DEADLOCK, "Deadlock found when trying to get lock; try restarting transaction".into())
    );
    assert_eq!(idle.value("SELECT COUNT(*) FROM t WHERE v <> ''"), "0");
    assert_eq!(busy.query("COMMIT"), Answer::Ok(0));
    assert_eq!(idle.value("SELECT COUNT(*) FROM t WHERE v = 'busy'"), "4");
    let Answer::Rows(status) = watcher.query("SHOW ENGINE INNODB STATUS") else { panic!() };
    let status = status[0][2].clone().unwrap();
    for part in ["LATEST DETECTED DEADLOCK", "index PRIMARY of table `test`.`t`", "WE ROLL BACK TRANSACTION"]
    {
        assert!(status.contains(part), "{part} in {status}");
    }
}

#[test]
fn with_snapshot_isolation_the_first_committer_wins() {
    let server = with_rows(&[]);
    let mut late = connect(&server, "REPEATABLE READ");
    let mut early = connect(&server, "REPEATABLE READ");
    for (on, expected) in [("OFF", 0), ("ON", CHANGED)] {
        assert_eq!(late.query(&format!("SET innodb_snapshot_isolation = {on}")), Answer::Ok(0));
        assert_eq!(late.query("BEGIN"), Answer::Ok(0));
        assert_eq!(late.value("SELECT COUNT(*) FROM t"), "4");
        assert_eq!(late.query("UPDATE t SET n = n + 100 WHERE id = 40"), Answer::Ok(1));
        assert_eq!(early.query("UPDATE t SET n = n + 1 WHERE id = 20"), Answer::Ok(1));
        let answer = late.query("UPDATE t SET n = n + 10 WHERE id = 20");
        assert_eq!(number(&answer), expected, "{answer:?}");
        if expected != 0 {
            let text = "Record has changed since last read in table 't'";
            assert_eq!(answer, Answer::Error(CHANGED, text.into()));
            assert_eq!(late.value("SELECT n FROM t WHERE id = 40"), "104", "the transaction is rolled back");
        }
        assert_eq!(late.query("COMMIT"), Answer::Ok(0));
    }
    assert_eq!(late.value("SELECT n FROM t WHERE id = 20"), "14");
}

#[test]
fn an_uncontended_update_by_primary_key_enters_nothing_into_the_lock_table() {
    let server = with_rows(&[]);
    let mut client = connect(&server, "REPEATABLE READ");
    assert_eq!(client.query("BEGIN"), Answer::Ok(0));
    let created = "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_rec_lock_created'";
    let own = "SELECT trx_rows_locked FROM information_schema.INNODB_TRX";
    // Tests in this process share the counter, so the transaction's own locks are what is asserted to stay at none.
    let before: u64 = client.value(created).parse().unwrap();
    assert_eq!(client.query("UPDATE t SET v = 'x' WHERE id = 20"), Answer::Ok(1));
    assert_eq!(client.value(own), "0");
    assert_eq!(client.query("UPDATE t SET v = 'x' WHERE n = 3"), Answer::Ok(1));
    assert_ne!(client.value(own), "0");
    assert!(client.value(created).parse::<u64>().unwrap() > before);
}

/// The row that stops a statement is locked in share mode, and what the statement had changed stays locked.
#[test]
fn what_a_duplicate_key_has_told_holds_until_the_transaction_ends() {
    let server = with_rows(&[]);
    let mut other = connect(&server, "READ COMMITTED");
    assert_eq!(other.query("ALTER TABLE t ADD UNIQUE u (n)"), Answer::Ok(0));
    for isolation in ["READ COMMITTED", "REPEATABLE READ"] {
        for (statement, answer, exclusive, shared) in [
            ("UPDATE t SET id = 20 WHERE id = 10", 1062, &["10"][..], &["20"][..]),
            ("UPDATE t SET n = 2 WHERE id = 10", 1062, &["10"], &["20"]),
            ("UPDATE t SET n = n + 1 WHERE id IN (30, 20) ORDER BY id DESC", 1062, &["30"], &["40"]),
            ("UPDATE IGNORE t SET n = 2 WHERE id = 10", 0, &["10"], &["20"]),
            ("INSERT INTO t VALUES (20, 9, '')", 1062, &[], &["20"]),
            ("INSERT INTO t VALUES (29, 2, '')", 1062, &[], &["20"]),
            ("INSERT IGNORE INTO t VALUES (29, 2, '')", 0, &[], &["20"]),
            ("INSERT INTO t VALUES (29, 2, '') ON DUPLICATE KEY UPDATE v = 'x'", 0, &["20"], &[]),
            ("INSERT INTO t VALUES (29, 2, '') ON DUPLICATE KEY UPDATE n = 3", 1062, &["20"], &["30"]),
            ("INSERT INTO t VALUES (20, 9, '') ON DUPLICATE KEY UPDATE id = 30", 1062, &["20"], &["30"]),
        ] {
            let mut holder = connect(&server, isolation);
            assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
            assert_eq!(number(&holder.query(statement)), answer, "{statement}");
            assert_eq!(
                locked(&mut other),
                {
                    let mut all = [exclusive, shared].concat();
                    all.sort_unstable();
                    all
                },
                "{isolation}: {statement}"
            );
            for id in shared {
                let share = format!("SELECT id FROM t WHERE id = {id} FOR SHARE NOWAIT");
                assert_eq!(other.query(&share), rows(&[id]), "{isolation}: {statement}");
            }
            for id in exclusive {
                let share = format!("SELECT id FROM t WHERE id = {id} FOR SHARE SKIP LOCKED");
                assert_eq!(other.query(&share), rows(&[]), "{isolation}: {statement}");
            }
            assert_eq!(holder.query("ROLLBACK"), Answer::Ok(0));
            assert_eq!(locked(&mut other), [""; 0]);
        }
    }
}

#[test]
fn what_an_update_assigns_is_computed_from_the_row_that_it_gets() {
    let server = with_rows(&[("innodb_lock_wait_timeout", "1000")]);
    let mut holder = connect(&server, "READ COMMITTED");
    let mut other = connect(&server, "READ COMMITTED");
    let setting_up = [
        "CREATE TABLE small (id INT PRIMARY KEY, c TINYINT)",
        "INSERT INTO small VALUES (1, 127), (2, 1), (3, 1)",
        "BEGIN",
        "UPDATE small SET c = 5 WHERE id = 1",
    ];
    client::run(&mut holder, &setting_up);
    let changing = std::thread::spawn(move || {
        client::run(&mut other, &["SET @a = 0"]);
        // The committed version of the first row is too large for this.
        let answer = other.query("UPDATE small SET c = c + (@a := @a + 1) WHERE id > 0");
        (answer, other.value("SELECT @a"))
    });
    let mut watcher = server.connect();
    until_somebody_waits(&mut watcher);
    client::run(&mut holder, &["COMMIT"]);
    assert_eq!(changing.join().unwrap(), (Answer::Ok(3), "3".to_owned()));
    assert_eq!(holder.query("SELECT c FROM small ORDER BY id"), rows(&["6", "3", "4"]));
}

#[test]
fn rows_of_a_statement_that_failed_stay_locked() {
    let server = with_rows(&[]);
    let mut holder = connect(&server, "READ COMMITTED");
    let mut other = connect(&server, "READ COMMITTED");
    assert_eq!(other.query("BEGIN"), Answer::Ok(0));
    assert_eq!(other.query("SELECT id FROM t WHERE id = 30 FOR UPDATE"), rows(&["30"]));
    assert_eq!(holder.query("BEGIN"), Answer::Ok(0));
    assert_eq!(number(&holder.query("UPDATE t SET v = 'x' WHERE id IN (10, 20, 30)")), TIMEOUT);
    assert_eq!(other.query("COMMIT"), Answer::Ok(0));
    assert_eq!(locked(&mut other), ["10", "20"]);
    assert_eq!(holder.query("ROLLBACK"), Answer::Ok(0));
    assert_eq!(locked(&mut other), [""; 0]);
}
