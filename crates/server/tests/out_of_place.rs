//! Tables that are written out of place, over a socket: the option and the variable, and that rows are there
//! after kill -9.

mod client;

use std::path::Path;
use std::process::Command;

use client::process::Process;
use client::{Answer, Client, run};

const ROWS: u32 = 3000;

fn fill(client: &mut Client, table: &str) {
    let row = |id: u32| format!("({id}, {}, '{}')", id % 100, format!("row {id:06} ").repeat(20));
    let rows: Vec<String> = (0..ROWS).map(row).collect();
    for part in rows.chunks(500) {
        run(client, &[&format!("INSERT INTO {table} VALUES {}", part.join(","))]);
    }
}

fn check(client: &mut Client, table: &str, k: &str) {
    let sums = format!("SELECT COUNT(*), SUM(k), SUM(LENGTH(t)) FROM d.{table}");
    let Answer::Rows(rows) = client.query(&sums) else { panic!("rows") };
    assert_eq!(
        format!("{rows:?}"),
        format!(
            "{:?}",
            vec![vec![Some(ROWS.to_string()), Some(k.to_owned()), Some((ROWS * 220).to_string())]]
        ),
        "{table}"
    );
    let Answer::Rows(rows) = client.query(&format!("CHECK TABLE d.{table}")) else { panic!("rows") };
    assert!(format!("{rows:?}").contains("OK"), "{table}: {rows:?}");
}

fn files(client: &mut Client, table: &str) -> String {
    let spaces = format!("SELECT SPACE FROM information_schema.INNODB_TABLESPACES WHERE NAME = 'd/{table}'");
    let files = "FROM information_schema.INNODB_DATAFILES WHERE SPACE";
    client.value(&format!("SELECT GROUP_CONCAT(RIGHT(PATH, 3) ORDER BY PATH) {files} = ({spaces})"))
}

fn create_options(client: &mut Client, table: &str) -> String {
    client
        .value(&format!("SELECT CREATE_OPTIONS FROM information_schema.TABLES WHERE TABLE_NAME = '{table}'"))
}

fn maps(datadir: &Path) -> usize {
    let entries = std::fs::read_dir(datadir.join("spaces")).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|kind| kind == "map"))
        .count()
}

#[test]
fn tables_go_where_their_option_or_the_variable_says_and_keep_their_rows() {
    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().join("data");
    let options = ["--innodb-buffer-pool-size=8M", "--palisade-page-sink=in-place"];
    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    let columns = "(id INT PRIMARY KEY, k INT, t VARCHAR(300), KEY k (k))";
    run(&mut client, &["CREATE DATABASE d", "USE d"]);
    assert_eq!(client.value("SELECT @@palisade_page_sink"), "in-place");
    let tables = [
        ("a", "PAGE_SINK='out-of-place'"),
        ("b", "PAGE_SINK = 'Out-Of-Place' COMPRESSION='lz4'"),
        ("c", ""),
        ("d", ""),
    ];
    for (table, options) in tables {
        if table == "d" {
            run(&mut client, &["SET GLOBAL palisade_page_sink = 'out-of-place'"]);
        }
        run(&mut client, &[&format!("CREATE TABLE {table} {columns} {options}")]);
        fill(&mut client, table);
    }
    let Answer::Error(1525, ..) = client.query("CREATE TABLE e (i INT) PAGE_SINK='elsewhere'") else {
        panic!("there is no such sink")
    };
    for (table, kinds, options) in [
        ("a", "map,pal", "PAGE_SINK=\"out-of-place\""),
        ("b", "map,pal", "PAGE_SINK=\"out-of-place\" COMPRESSION=\"lz4\""),
        ("c", "pal", ""),
        ("d", "map,pal", ""),
    ] {
        assert_eq!(
            (files(&mut client, table).as_str(), create_options(&mut client, table).as_str()),
            (kinds, options)
        );
    }
    assert!(
        client.value(
            "SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES WHERE FILE_SIZE >= ALLOCATED_SIZE"
        ) != "0"
    );
    let k = (0..ROWS).map(|id| id % 100).sum::<u32>() + ROWS;
    for (table, _) in tables {
        run(&mut client, &[&format!("UPDATE {table} SET k = k + 1")]);
    }
    drop(client);
    server.kill();

    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    for (table, _) in tables {
        check(&mut client, table, &k.to_string());
    }
    // The table made by the variable stays where it is until it is made anew.
    run(
        &mut client,
        &[
            "OPTIMIZE TABLE d.d",
            "ALTER TABLE d.c PAGE_SINK='out-of-place'",
            "ALTER TABLE d.a PAGE_SINK=DEFAULT",
        ],
    );
    for (table, kinds) in [("a", "pal"), ("b", "map,pal"), ("c", "map,pal"), ("d", "pal")] {
        assert_eq!(files(&mut client, table), kinds, "{table}");
        check(&mut client, table, &k.to_string());
    }
    let Answer::Rows(shown) = client.query("SHOW CREATE TABLE d.c") else { panic!("rows") };
    assert!(format!("{shown:?}").contains("PAGE_SINK='out-of-place'"), "{shown:?}");
    run(&mut client, &["TRUNCATE TABLE d.b", "DROP TABLE d.c", "RENAME TABLE d.b TO d.e"]);
    fill(&mut client, "d.e");
    drop(client);
    server.kill();

    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    check(&mut client, "e", &(k - ROWS).to_string());
    drop(client);
    assert!(server.terminate().0.success());
    assert_eq!(maps(&datadir), 1);
    let palisade = env!("CARGO_BIN_EXE_palisade");
    let check = Command::new(palisade).arg("check").arg("--datadir").arg(&datadir).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}

/// A data directory of each `innodb_page_size`, its tables in place and out of place: rows, a long one among
/// them, are there after kill -9 and after a shutdown.
#[test]
fn pages_of_every_size_are_there_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    for size in ["4k", "8k", "16k", "32k", "64k"] {
        let datadir = dir.path().join(size);
        let option = format!("--innodb-page-size={size}");
        let start = || Process::start(&datadir, &[&option]);
        let server = start();
        let mut client = server.connect();
        assert_eq!(client.value("SELECT @@innodb_page_size DIV 1024"), size.trim_end_matches('k'));
        run(&mut client, &["CREATE DATABASE d", "USE d"]);
        for table in ["d.a", "d.b"] {
            let sink = if table == "d.a" { "in-place" } else { "out-of-place" };
            let columns = "(id INT PRIMARY KEY, k INT, t LONGTEXT, KEY k (k))";
            run(&mut client, &[&format!("CREATE TABLE {table} {columns} PAGE_SINK='{sink}'")]);
            fill(&mut client, table);
            run(&mut client, &[&format!("INSERT INTO {table} VALUES ({ROWS}, 7, REPEAT('long', 50000))")]);
        }
        drop(client);
        server.kill();
        let sums = "SELECT CONCAT_WS(' ', COUNT(*), SUM(k), SUM(LENGTH(t))) FROM";
        let expected = format!(
            "{} {} {}",
            ROWS + 1,
            (0..ROWS).map(|id| id % 100).sum::<u32>() + 7,
            ROWS * 220 + 200_000
        );
        for after in ["kill -9", "a shutdown"] {
            let server = start();
            let mut client = server.connect();
            for table in ["a", "b"] {
                assert_eq!(
                    client.value(&format!("{sums} d.{table}")),
                    expected,
                    "{size}, {table} after {after}"
                );
                assert_eq!(
                    client.value(&format!("SELECT COUNT(*) FROM d.{table} FORCE INDEX (k) WHERE k = 7")),
                    (ROWS / 100 + 1).to_string(),
                );
            }
            drop(client);
            assert!(server.terminate().0.success());
        }
    }
}

/// Waits until the pages are written: the room of what is being written is taken for a while, and that of
/// what is not yet, is not.
fn settle(client: &mut Client) {
    let begin = std::time::Instant::now();
    let dirty = |client: &mut Client| -> u64 {
        let from = "performance_schema.global_status WHERE VARIABLE_NAME = 'Innodb_buffer_pool_pages_dirty'";
        client.value(&format!("SELECT VARIABLE_VALUE FROM {from}")).parse().unwrap()
    };
    while dirty(client) > 0 {
        assert!(begin.elapsed().as_secs() < 120, "{} pages are dirty", dirty(client));
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    std::thread::sleep(std::time::Duration::from_secs(2));
}

/// Rows that are deleted give their room back to the file system without OPTIMIZE, and take it again.
#[test]
fn deleted_rows_give_their_room_back_online() {
    let dir = tempfile::tempdir().unwrap();
    let server = Process::start(&dir.path().join("data"), &[]);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "USE d"]);
    for (table, options) in [("plain", ""), ("packed", "COMPRESSION='lz4'")] {
        run(
            &mut client,
            &[&format!("CREATE TABLE {table} (id INT PRIMARY KEY, t VARCHAR(2000), u BINARY(16)) {options}")],
        );
        let fill = format!(
            "INSERT INTO {table} SELECT n, CONCAT(SHA2(n, 512), SHA2(n + 1, 512), SHA2(n + 2, 512), SHA2(n + 3, 512)), UNHEX(MD5(n)) \
             FROM (WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 40000) SELECT n FROM s) r \
             WHERE n NOT IN (SELECT id FROM {table})"
        );
        run(&mut client, &["SET cte_max_recursion_depth = 100000", &fill]);
        let size = |client: &mut Client, column: &str| -> u64 {
            let from = format!("information_schema.INNODB_TABLESPACES WHERE NAME = 'd/{table}'");
            client.value(&format!("SELECT {column} FROM {from}")).parse().unwrap()
        };
        settle(&mut client);
        let (length, all) = (size(&mut client, "FILE_SIZE"), size(&mut client, "ALLOCATED_SIZE"));
        for _ in 0..2 {
            run(&mut client, &[&format!("DELETE FROM {table} WHERE id > 1000")]);
            let begin = std::time::Instant::now();
            while size(&mut client, "ALLOCATED_SIZE") * 2 > all {
                let now = size(&mut client, "ALLOCATED_SIZE");
                assert!(begin.elapsed().as_secs() < 120, "{table}: {now} of {all} bytes");
                std::thread::sleep(std::time::Duration::from_millis(200));
            }
            run(&mut client, &[&fill]);
            settle(&mut client);
            let now = (size(&mut client, "FILE_SIZE"), size(&mut client, "ALLOCATED_SIZE"));
            // Runs of several lengths leave gaps: the file may be longer for them, with holes in it.
            let most = |part: u64| length + length / part + (1 << 20);
            assert!(now.0 <= most(4) && now.1 <= most(8), "{table}: {now:?} after {length} and {all}");
            assert_eq!(client.value(&format!("SELECT COUNT(*) FROM {table}")), "40000");
        }
        let Answer::Rows(rows) = client.query(&format!("CHECK TABLE d.{table}")) else { panic!("rows") };
        assert!(format!("{rows:?}").contains("OK"), "{table}: {rows:?}");
    }
}
