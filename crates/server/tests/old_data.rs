//! A data directory that an earlier version wrote, and left by kill -9 in the middle of a transaction: it is
//! opened, recovered and checked, and every row is what it was. `old_data/README.md` says how it is made.

mod client;

use std::fs;
use std::path::Path;
use std::process::Command;

use client::process::Process;
use client::{Answer, Client, run};

const DATA: &[u8] = include_bytes!("old_data/data.tar.zst");
const QUERIES: &str = include_str!("old_data/read.sql");
const ANSWERS: &str = include_str!("old_data/read.out");

const OPTIONS: [&str; 1] = ["--innodb-redo-log-capacity=8388608"];

/// Bytes of a header and of the units of a tar archive.
const UNIT: usize = 512;

/// Unpacks the directory `data` of the archive (ustar: names are short there, and files regular) into `into`.
fn unpack(into: &Path) {
    let archive = zstd::decode_all(DATA).unwrap();
    let text = |field: &[u8]| {
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        String::from_utf8(field[..end].to_vec()).unwrap()
    };
    let (mut at, mut files) = (0, 0);
    while let Some(header) = archive.get(at..at + UNIT).filter(|header| header[0] != 0) {
        let size = usize::from_str_radix(text(&header[124..136]).trim(), 8).unwrap();
        let name = text(&header[..100]);
        let path = into.join(name.strip_prefix("data").unwrap().trim_start_matches('/'));
        match header[156] {
            b'5' => fs::create_dir_all(path).unwrap(),
            b'0' => {
                fs::write(path, &archive[at + UNIT..at + UNIT + size]).unwrap();
                files += 1;
            }
            kind => panic!("{name}: a file of type {kind}"),
        }
        at += UNIT + size.next_multiple_of(UNIT);
    }
    assert!(files > 30, "{files} files");
}

/// As `mysql --batch --raw --skip-column-names` prints it.
fn printed(answer: &Answer) -> String {
    let Answer::Rows(rows) = answer else { return String::new() };
    let line = |row: &Vec<Option<String>>| {
        let values: Vec<&str> = row.iter().map(|value| value.as_deref().unwrap_or("NULL")).collect();
        values.join("\t") + "\n"
    };
    rows.iter().map(line).collect()
}

/// `palisade check`: whether it succeeds, and what it prints.
fn checked(datadir: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
    let checked = command.args(["check", "--deep", "--datadir"]).arg(datadir).output().unwrap();
    (checked.status.success(), String::from_utf8_lossy(&checked.stdout).into_owned())
}

/// The tables of both schemas.
fn tables(client: &mut Client) -> Vec<String> {
    let list = "SELECT CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA IN \
                ('shop', 'other') ORDER BY 1";
    let Answer::Rows(rows) = client.query(list) else { panic!("no tables") };
    rows.into_iter().filter_map(|mut row| row.pop().flatten()).collect()
}

#[test]
fn a_directory_of_an_earlier_version_opens_with_every_row() {
    let dir = tempfile::tempdir().unwrap();
    unpack(dir.path());
    let (is_sound, report) = checked(dir.path());
    assert!(is_sound, "{report}");
    assert!(report.contains("rolls back 1 transactions"), "it was left in the middle of one: {report}");

    let server = Process::start(dir.path(), &OPTIONS);
    let mut client = server.connect();
    let mut expected = ANSWERS;
    for query in QUERIES.lines() {
        let answer = client.query(query);
        assert!(!matches!(answer, Answer::Error(..)), "{query}: {answer:?}");
        let printed = printed(&answer);
        let next = expected.get(..printed.len()).unwrap_or(expected);
        assert_eq!(next, printed, "{query}");
        expected = &expected[printed.len()..];
    }
    assert_eq!(expected, "", "no query is missing");

    let tables = tables(&mut client);
    assert_eq!(tables.len(), 14);
    for table in &tables {
        let checked = client.query(&format!("CHECK TABLE {table} EXTENDED"));
        let ok = [table, "check", "status", "OK"].map(|text| Some(text.to_owned()));
        assert_eq!(checked, Answer::Rows(vec![ok.to_vec()]));
    }

    // It goes on with them.
    assert_eq!(client.query("XA COMMIT 'kept', 'branch'"), Answer::Ok(0));
    assert_eq!(client.value("SELECT COUNT(*) FROM other.no_key WHERE a = 77"), "1");
    assert_eq!(client.query("DELETE FROM shop.customer WHERE id = 5"), Answer::Ok(1));
    assert_eq!(client.value("SELECT COUNT(*) FROM shop.purchase WHERE customer = 5"), "0");
    for table in tables.iter().filter(|table| table.contains("packed") || table.contains("holes")) {
        run(&mut client, &[&format!("INSERT INTO {table} SELECT id + 2000, v FROM shop.packed_zlib")]);
        run(&mut client, &[&format!("ALTER TABLE {table} ADD COLUMN more INT DEFAULT 3")]);
        run(&mut client, &[&format!("OPTIMIZE TABLE {table}")]);
    }
    drop(client);
    let (status, lines) = server.terminate();
    assert!(status.success(), "{lines:?}");
    let (is_sound, report) = checked(dir.path());
    assert!(is_sound, "{report}");
}

/// The format is that of a version to come.
#[test]
fn a_directory_of_a_later_format_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    unpack(dir.path());
    let marker = dir.path().join("palisade.data");
    let later = fs::read_to_string(&marker).unwrap().replace("format 1\n", "format 2\n");
    fs::write(&marker, &later).unwrap();
    let before = modified(dir.path());
    for force in ["0", "1", "6"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_palisade"));
        command
            .args(["--no-defaults", "--port=0", "--socket="])
            .arg(format!("--datadir={}", dir.path().display()));
        let refused = command.arg(format!("--innodb-force-recovery={force}")).output().unwrap();
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success(), "{said}");
        for part in
            ["is a data directory of format 2", "this version has format 1", "mysqldump --all-databases"]
        {
            assert!(said.contains(part), "{said}");
        }
    }
    let (is_sound, _) = checked(dir.path());
    assert!(!is_sound);
    assert_eq!(fs::read_to_string(&marker).unwrap(), later);
    assert_eq!(modified(dir.path()), before);
}

/// When the files of pages and of the log were changed, by name.
fn modified(datadir: &Path) -> Vec<(String, std::time::SystemTime)> {
    let files = ["spaces", "#log"].map(|dir| fs::read_dir(datadir.join(dir)).unwrap());
    let mut found: Vec<_> = files
        .into_iter()
        .flatten()
        .map(|file| file.unwrap())
        .map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().modified().unwrap()))
        .collect();
    found.sort();
    found
}
