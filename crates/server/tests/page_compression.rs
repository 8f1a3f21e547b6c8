//! Tables whose pages are compressed, over a socket: what they take on the disk, and that their rows are
//! there after a crash.

mod client;

use std::process::Command;

use client::process::Process;
use client::{Answer, Client, run};

const ROWS: u32 = 3000;

/// A row's text: it repeats itself as names and addresses do.
fn text(row: u32) -> String {
    format!("customer {row:08}, {} street, {}", row % 97, "somewhere in a town of many streets, ".repeat(4))
}

fn fill(client: &mut Client, table: &str) {
    let rows: Vec<String> = (0..ROWS).map(|row| format!("({row}, '{}')", text(row))).collect();
    for part in rows.chunks(500) {
        run(client, &[&format!("INSERT INTO {table} VALUES {}", part.join(","))]);
    }
}

/// Length of a table's file, and what it takes on the disk.
fn sizes(client: &mut Client, table: &str) -> (u64, u64) {
    let of = |client: &mut Client, column: &str| {
        let from = format!("information_schema.INNODB_TABLESPACES WHERE NAME = 'd/{table}'");
        client.value(&format!("SELECT {column} FROM {from}")).parse().unwrap()
    };
    (of(client, "FILE_SIZE"), of(client, "ALLOCATED_SIZE"))
}

fn check_rows(client: &mut Client, table: &str) {
    let sum: u64 = (0..ROWS).map(|row| text(row).len() as u64).sum();
    assert_eq!(client.value(&format!("SELECT SUM(LENGTH(t)) FROM d.{table}")), sum.to_string(), "{table}");
    let last = client.value(&format!("SELECT t FROM d.{table} WHERE id = {}", ROWS - 1));
    assert_eq!(last, text(ROWS - 1), "{table}");
    assert_eq!(client.value(&format!("SELECT COUNT(*) FROM d.{table} FORCE INDEX (t)")), ROWS.to_string());
}

#[test]
fn compressed_tables_take_less_room_and_keep_their_rows() {
    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().join("data");
    let options = ["--innodb-buffer-pool-size=8M", "--palisade-page-sink=in-place"];
    let tables = [
        ("plain", ""),
        ("zlib", "COMPRESSION='zlib'"),
        ("lz4", "COMPRESSION='lz4'"),
        ("zstd", "COMPRESSION='zstd'"),
        ("mariadb", "PAGE_COMPRESSED=1 PAGE_COMPRESSION_LEVEL=9"),
        ("changed", ""),
    ];
    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    run(&mut client, &["CREATE DATABASE d", "USE d"]);
    for (table, compression) in tables {
        let columns = "(id INT PRIMARY KEY, t VARCHAR(300), KEY t (t))";
        run(&mut client, &[&format!("CREATE TABLE {table} {columns} {compression}")]);
        fill(&mut client, table);
    }
    drop(client);
    assert!(server.terminate().0.success());

    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    for (table, _) in tables {
        check_rows(&mut client, table);
        run(&mut client, &[&format!("UPDATE d.{table} SET t = REVERSE(t)")]);
        run(&mut client, &[&format!("UPDATE d.{table} SET t = REVERSE(t)")]);
    }
    drop(client);
    server.kill();

    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    for (table, _) in tables {
        check_rows(&mut client, table);
    }
    run(&mut client, &["ALTER TABLE d.changed COMPRESSION='lz4'"]);
    drop(client);
    assert!(server.terminate().0.success());

    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    let plain = sizes(&mut client, "plain");
    let former = "SELECT FILE_SIZE FROM information_schema.INNODB_SYS_TABLESPACES WHERE NAME = 'd/plain'";
    assert_eq!(client.value(former), plain.0.to_string());
    assert!(plain.1 * 10 > plain.0 * 9, "a file without holes takes its length: {plain:?}");
    for table in ["zlib", "lz4", "zstd", "mariadb"] {
        let (length, allocated) = sizes(&mut client, table);
        assert!(allocated * 10 < length * 7, "{table}: {allocated} of {length}");
    }
    let before = sizes(&mut client, "changed");
    assert!(before.1 * 10 > before.0 * 9, "only what is written anew is compressed: {before:?}");
    let Answer::Rows(_) = client.query("OPTIMIZE TABLE d.changed") else { panic!("it answers with rows") };
    drop(client);
    assert!(server.terminate().0.success());

    let server = Process::start(&datadir, &options);
    let mut client = server.connect();
    let after = sizes(&mut client, "changed");
    assert!(after.1 * 10 < after.0 * 7, "{after:?}");
    for (table, _) in tables {
        check_rows(&mut client, table);
        let Answer::Rows(rows) = client.query(&format!("CHECK TABLE d.{table}")) else { panic!("rows") };
        assert!(format!("{rows:?}").contains("OK"), "{table}: {rows:?}");
    }
    run(&mut client, &["TRUNCATE TABLE d.zlib", "DROP TABLE d.lz4", "ALTER TABLE d.zstd COMPRESSION='none'"]);
    assert_eq!(client.value("SELECT COUNT(*) FROM d.zlib"), "0");
    fill(&mut client, "d.zlib");
    check_rows(&mut client, "zlib");
    assert_eq!(
        client.value("SELECT CREATE_OPTIONS FROM information_schema.TABLES WHERE TABLE_NAME = 'zstd'"),
        "COMPRESSION=\"none\""
    );
    drop(client);
    assert!(server.terminate().0.success());
    let palisade = env!("CARGO_BIN_EXE_palisade");
    let check = Command::new(palisade).arg("check").arg("--datadir").arg(&datadir).output().unwrap();
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
}
