//! `innodb_doublewrite` and the variables around it, over a socket.

mod client;

use std::fs;
use std::path::Path;

use client::process::Process;
use client::{Answer, Client, run};

fn doublewrite_files(directory: &Path) -> Vec<(String, u64)> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let files = entries.map(|entry| entry.unwrap());
    let mut files: Vec<_> = files
        .map(|file| (file.file_name().into_string().unwrap(), file.metadata().unwrap().len()))
        .filter(|(name, _)| name.starts_with("doublewrite"))
        .collect();
    files.sort();
    files
}

fn status(client: &mut Client, name: &str) -> String {
    match client.query(&format!("SHOW GLOBAL STATUS LIKE '{name}'")) {
        Answer::Rows(rows) => rows[0][1].clone().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Rows written in each mode, and a kill before the next.
#[test]
fn a_directory_goes_from_mode_to_mode_and_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().join("data");
    let page = 16384;
    type Mode = (&'static [&'static str], &'static str, &'static str, Vec<(String, u64)>);
    let modes: [Mode; 4] = [
        (
            &["--innodb-doublewrite-files=3", "--innodb-doublewrite-pages=16", "--innodb-page-cleaners=2"],
            "data",
            "doublewrite",
            // each of two lanes has a file: a header, a list, and copies
            vec![("doublewrite.0".into(), (2 + 16) * page), ("doublewrite.1".into(), (2 + 16) * page)],
        ),
        (
            &[
                "--innodb-doublewrite=DETECT_ONLY",
                "--innodb-doublewrite-dir=elsewhere",
                "--innodb-page-cleaners=1",
            ],
            "data/elsewhere",
            "doublewrite of ids",
            vec![("doublewrite.0".into(), (2 + 128) * page)],
        ),
        (&["--innodb-doublewrite=OFF"], "data", "off", vec![]),
        (
            &["--innodb-doublewrite=AUTO", "--innodb-doublewrite-batch-size=32", "--innodb-page-cleaners=1"],
            "data",
            "",
            vec![("doublewrite.0".into(), (2 + 32) * page)],
        ),
    ];
    for (number, (options, place, sink, files)) in modes.into_iter().enumerate() {
        let server = Process::start(&datadir, options);
        let mut client = server.connect();
        if number == 0 {
            run(
                &mut client,
                &[
                    "CREATE DATABASE d",
                    "CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(100)) PAGE_SINK='in-place'",
                ],
            );
        }
        assert_eq!(client.value("SELECT COUNT(*) FROM d.t"), (number * 500).to_string(), "{options:?}");
        let rows: Vec<String> = (0..500).map(|row| format!("({}, 'row')", number * 500 + row)).collect();
        run(&mut client, &[&format!("INSERT INTO d.t VALUES {}", rows.join(","))]);
        assert_eq!(doublewrite_files(&dir.path().join(place)), files, "{options:?}");
        let (found, atomic) =
            (status(&mut client, "Palisade_page_sink"), status(&mut client, "Palisade_atomic_writes"));
        match sink {
            "" => {
                assert!(!atomic.is_empty() && (found == "atomic") == (atomic == "yes"), "{found}: {atomic}")
            }
            sink => assert_eq!((found.as_str(), atomic.as_str()), (sink, ""), "{options:?}"),
        }
        drop(client);
        server.kill();
    }
    let server = Process::start(&datadir, &[]);
    assert_eq!(server.connect().value("SELECT COUNT(*) FROM d.t"), "2000");
    assert!(server.terminate().0.success());
}

#[test]
fn off_is_neither_left_nor_entered_while_the_server_runs() {
    let dir = tempfile::tempdir().unwrap();
    let options = ["--innodb-doublewrite=FALSE", "--innodb-doublewrite-dir=not-there"];
    let server = Process::start(&dir.path().join("data"), &options);
    let mut client = server.connect();
    for (value, named) in [("ON", "ON"), ("TRUE", "ON"), ("DETECT_ONLY", "DETECT_ONLY"), ("AUTO", "AUTO")] {
        let text = format!(
            "Incorrect arguments to InnoDB: cannot change doublewrite mode to {named} if doublewrite is disabled. \
             Please shutdown and change value to {named}"
        );
        let answer = client.query(&format!("SET GLOBAL innodb_doublewrite = {value}"));
        assert_eq!(answer, Answer::Error(1210, text));
    }
    run(&mut client, &["SET GLOBAL innodb_doublewrite = 0"]);
    drop(client);
    assert!(server.terminate().0.success());
}
