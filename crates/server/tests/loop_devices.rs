//! Real file systems, ext4 and XFS, on loop devices: holes, what tables take, and writes that the device does
//! not keep whole. A machine that allows no such device skips them, and says why.

mod client;

use std::os::unix::fs::MetadataExt as _;

use client::process::{LoopDisk, Process};
use client::{Client, run};

const ROWS: u32 = 2000;

/// The tables, and their options.
const TABLES: [(&str, &str); 8] = [
    ("plain", "PAGE_SINK='in-place'"),
    ("holes_zlib", "PAGE_SINK='in-place' COMPRESSION='zlib'"),
    ("holes_lz4", "PAGE_SINK='in-place' COMPRESSION='lz4'"),
    ("holes_zstd", "PAGE_SINK='in-place' COMPRESSION='zstd'"),
    ("placed", "PAGE_SINK='out-of-place'"),
    ("packed_zlib", "PAGE_SINK='out-of-place' COMPRESSION='zlib'"),
    ("packed_lz4", "PAGE_SINK='out-of-place' COMPRESSION='lz4'"),
    ("packed_zstd", "PAGE_SINK='out-of-place' COMPRESSION='zstd'"),
];

const OPTIONS: [&str; 2] = ["--innodb-redo-log-capacity=16777216", "--innodb-doublewrite=AUTO"];

/// Does `test` with a disk of each kind that the machine has.
fn on_each(test: impl Fn(&str, &LoopDisk)) {
    for kind in ["ext4", "xfs"] {
        let dir = tempfile::tempdir().unwrap();
        match LoopDisk::new(kind, dir.path(), 200) {
            Ok(disk) => test(kind, &disk),
            Err(reason) => println!("skipped: {reason}"),
        }
    }
}

/// The sum of the lengths of the rows' texts.
fn fill(client: &mut Client, table: &str) -> u64 {
    let text = |row: u32| format!("customer {row:08}, {}", "somewhere in a town of many streets, ".repeat(6));
    let rows: Vec<String> = (0..ROWS).map(|row| format!("({row}, '{}')", text(row))).collect();
    for part in rows.chunks(500) {
        run(client, &[&format!("INSERT INTO {table} VALUES {}", part.join(","))]);
    }
    (0..ROWS).map(|row| text(row).len() as u64).sum()
}

/// Length of a table's file and what it takes, as the server says and as the file system does.
fn sizes(server: &Process, disk: &LoopDisk, client: &mut Client, table: &str) -> [(u64, u64); 2] {
    let number = |client: &mut Client, column: &str| -> u64 {
        let from = format!("information_schema.INNODB_TABLESPACES WHERE NAME = 'd/{table}'");
        client.value(&format!("SELECT {column} FROM {from}")).parse().unwrap()
    };
    let file = format!("spaces/{:06}.pal", number(client, "SPACE"));
    let told = (number(client, "FILE_SIZE"), number(client, "ALLOCATED_SIZE"));
    let found = server.path(&disk.datadir().join(file)).metadata().unwrap();
    [told, (found.len(), found.blocks() * 512)]
}

#[test]
fn holes_give_room_back_and_sizes_are_those_of_the_file_system() {
    on_each(|kind, disk| {
        let server = disk.start(&OPTIONS);
        let mut client = server.connect();
        run(&mut client, &["CREATE DATABASE d", "USE d"]);
        let mut sum = 0;
        for (table, options) in TABLES {
            run(
                &mut client,
                &[&format!("CREATE TABLE {table} (id INT PRIMARY KEY, t VARCHAR(300)) {options}")],
            );
            sum = fill(&mut client, table);
            run(&mut client, &[&format!("UPDATE {table} SET t = REVERSE(t)")]);
        }
        drop(client);
        assert!(server.terminate().0.success());

        let server = disk.start(&OPTIONS);
        let mut client = server.connect();
        for (table, options) in TABLES {
            let text = client.value(&format!("SELECT SUM(LENGTH(t)) FROM d.{table}"));
            assert_eq!(text, sum.to_string(), "{kind}, {table}");
            let [told, found] = sizes(&server, disk, &mut client, table);
            assert_eq!(told, found, "{kind}, {table}: length and room");
            let (length, allocated) = told;
            match (options.contains("COMPRESSION"), options.contains("in-place")) {
                (false, true) => assert!(allocated * 10 > length * 9, "{kind}, {table}: {told:?}"),
                (true, true) => assert!(allocated * 10 < length * 7, "{kind}, {table}: {told:?}"),
                (_, false) => assert!(allocated * 10 > length * 8, "{kind}, {table}: no holes: {told:?}"),
            }
        }
        // Packed pages take less because the file is shorter.
        let length = |client: &mut Client, table| sizes(&server, disk, client, table)[0].0;
        let placed = length(&mut client, "placed");
        for table in ["packed_zlib", "packed_lz4", "packed_zstd"] {
            let packed = length(&mut client, table);
            assert!(packed * 10 < placed * 8, "{kind}, {table}: {packed} of {placed}");
        }
        for (table, _) in TABLES {
            run(&mut client, &[&format!("DROP TABLE d.{table}")]);
        }
        drop(client);
        let (status, lines) = server.terminate();
        assert!(status.success(), "{lines:?}");
    });
}

/// What file system and device write whole is theirs to say: ext4 on a loop device does not, XFS of newer
/// kernels does, by its own copying. AUTO says which, and pages have copies where it must. After a kill the
/// rows are there.
#[test]
fn auto_finds_out_what_the_device_keeps_whole() {
    on_each(|kind, disk| {
        let server = disk.start(&OPTIONS);
        let mut client = server.connect();
        let status = |client: &mut Client, name: &str| {
            let from = "performance_schema.global_status WHERE VARIABLE_NAME";
            client.value(&format!("SELECT VARIABLE_VALUE FROM {from} = '{name}'"))
        };
        let (sink, atomic) =
            (status(&mut client, "Palisade_page_sink"), status(&mut client, "Palisade_atomic_writes"));
        println!("{kind}: {sink}; atomic writes: {atomic}");
        match atomic.as_str() {
            "yes" => assert_eq!(sink, "atomic"),
            reason => assert!(sink == "doublewrite" && reason.len() > 5, "{kind}: {sink}, {reason}"),
        }
        run(&mut client, &["CREATE DATABASE d", "USE d"]);
        for (table, options) in TABLES {
            run(
                &mut client,
                &[&format!("CREATE TABLE {table} (id INT PRIMARY KEY, t VARCHAR(300)) {options}")],
            );
            fill(&mut client, table);
        }
        drop(client);
        server.kill();
        let server = disk.start(&OPTIONS);
        let mut client = server.connect();
        for (table, _) in TABLES {
            let rows = client.value(&format!("SELECT COUNT(*) FROM d.{table}"));
            assert_eq!(rows, ROWS.to_string(), "{kind}, {table}");
            let answer = format!("{:?}", client.query(&format!("CHECK TABLE d.{table}")));
            assert!(answer.contains("\"OK\""), "{kind}, {table}: {answer}");
        }
        drop(client);
        let (status, lines) = server.terminate();
        assert!(status.success(), "{lines:?}");
    });
}
