use std::path::Path;

use palisade_catalog::json::{Json, Name, parse as json_parse};
use palisade_io::OpenMode;

use super::*;

fn arguments(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

#[test]
fn arguments_are_read_or_refused() {
    let request =
        parse(&arguments(&["--datadir=/d", "--json", "--schema=s", "--table", "t", "--deep", "--memory=2G"]));
    let request = request.unwrap().unwrap();
    assert_eq!(request.datadir, Path::new("/d"));
    assert_eq!((request.schema.as_deref(), request.table.as_deref()), (Some("s"), Some("t")));
    assert_eq!((request.memory, request.json), (2 << 30, true));
    assert_eq!(request.tables, TableCheckOptions { deep: true, ..Default::default() });
    assert_eq!(parse(&arguments(&["--help"])).unwrap(), None);
    for wrong in [&["--json"][..], &["--datadir=/d", "--fast"], &["--datadir=/d", "--memory=much"]] {
        assert!(parse(&arguments(wrong)).is_err(), "{wrong:?}");
    }
}

/// A directory of a server that was started and stopped, on a real disk.
fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let datadir = dir.path().join("data");
    let config = palisade_engine::EngineConfig {
        datadir,
        purge_threads: 0,
        ..palisade_engine::EngineConfig::default()
    };
    let engine = Engine::open(config, Arc::new(OsFileSystem::new())).unwrap();
    engine.shutdown().unwrap();
    dir
}

fn request(dir: &Path, json: bool) -> Request {
    Request { datadir: dir.join("data"), json, memory: 64 << 20, ..Request::default() }
}

fn checked(request: &Request) -> (String, Outcome) {
    check(request, Arc::new(OsFileSystem::new()), &mut Shown::on(None))
}

fn member<'j>(json: &'j Json, name: &str) -> &'j Json {
    let Json::Object(members) = json else { panic!("{json:?}") };
    members.get(&Name(name.to_owned())).unwrap_or_else(|| panic!("{name} is missing"))
}

fn document(request: &Request) -> (Json, Outcome) {
    let (text, outcome) = checked(request);
    (json_parse::document(text.as_bytes()).unwrap(), outcome)
}

#[test]
fn clean_damaged_and_not_checked_are_told_apart_in_words_json_and_exit_codes() {
    let dir = directory();
    let (text, outcome) = checked(&request(dir.path(), false));
    assert!(text.ends_with("\nclean\n") && outcome == Outcome::Clean, "{text}");
    let (json, _) = document(&request(dir.path(), true));
    assert_eq!(member(&json, "outcome"), &Json::String("clean".to_owned()));
    assert_eq!(member(&json, "findings"), &Json::Array(Vec::new()));

    let path = dir.path().join("data/spaces/000000.pal");
    let file = OsFileSystem::new().open(&path, OpenMode::EXISTING).unwrap();
    file.write_at(&[0xee; 8], 2 * 16384 + 9000).unwrap();
    let (text, outcome) = checked(&request(dir.path(), false));
    assert_eq!(outcome.code(), 1);
    for words in ["DAMAGE dictionary_unreadable", "page 0:2", "innodb_force_recovery=1", "does not start"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let (json, outcome) = document(&request(dir.path(), true));
    assert_eq!(outcome, Outcome::Damaged);
    let Json::Array(findings) = member(&json, "findings") else { panic!("{json:?}") };
    assert_eq!(member(&findings[0], "kind"), &Json::String("dictionary_unreadable".to_owned()));

    let elsewhere = tempfile::tempdir().unwrap();
    let (json, outcome) = document(&request(elsewhere.path(), true));
    assert_eq!((member(&json, "exit_code"), outcome.code()), (&Json::Int(2), 2));
    assert!(matches!(member(&json, "problem"), Json::String(_)));
}

/// docs/check.md names every member of the document and every kind of finding.
#[test]
fn the_document_describes_the_report() {
    let doc = include_str!("../../../../docs/check.md");
    let dir = directory();
    let mut names = std::collections::BTreeSet::new();
    collect(&document(&request(dir.path(), true)).0, &mut names);
    let elsewhere = tempfile::tempdir().unwrap();
    collect(&document(&request(elsewhere.path(), true)).0, &mut names);
    assert!(names.len() > 25, "{names:?}");
    for name in names.iter().map(String::as_str).chain(Kind::ALL.iter().map(|kind| kind.name())) {
        assert!(doc.contains(&format!("`{name}`")), "{name} is not in docs/check.md");
    }
    for line in HELP.lines().filter_map(|line| line.trim().strip_prefix("--")) {
        let option = line.split(['=', ' ']).next().unwrap();
        assert!(doc.contains(&format!("--{option}")), "--{option} is not in docs/check.md");
    }
}

fn collect(json: &Json, names: &mut std::collections::BTreeSet<String>) {
    match json {
        Json::Object(members) => members.iter().for_each(|(name, value)| {
            names.insert(name.0.clone());
            collect(value, names);
        }),
        Json::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}
