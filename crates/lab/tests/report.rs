//! The report is made from the JSON alone: a fixed one gives a fixed page. `UPDATE_EXPECT=1` writes what it
//! gives now.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use palisade_lab::report;
use palisade_lab::results::Results;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn results() -> Results {
    Results::read(&fixture("results.json")).expect("the fixture is well-formed")
}

#[test]
fn a_fixed_experiment_gives_a_fixed_report() {
    let html = report::html(&results());
    let expected = fixture("report.html");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&expected, &html).expect("the fixtures can be written");
    }
    let expected = std::fs::read_to_string(&expected).expect("the fixture is there");
    for (number, (made, wanted)) in html.lines().zip(expected.lines()).enumerate() {
        assert_eq!(made, wanted, "line {}", number + 1);
    }
    assert_eq!(html.lines().count(), expected.lines().count());
}

#[test]
fn the_report_shows_what_a_reader_must_not_miss() {
    let html = report::html(&results());
    for (what, text) in [
        (
            "a mean with its confidence, deviation and runs",
            "20,000 ± 2,484 <small>median 20,000, sd 1,000, n 3</small>",
        ),
        ("a ratio with its confidence", "2.00 <small>1.91 to 2.09, n 3</small>"),
        ("what a server does not have", "<td class=\"none\">not available</td>"),
        ("in its own words", "1193 (HY000): Unknown system variable &#39;innodb_log_writer_threads&#39;"),
        ("a run that failed", "<td class=\"none\">failed</td>"),
        ("that a single run has no spread", "one run, spread unknown"),
        ("the command", "mysqlslap --no-defaults"),
        ("the machine", "durable write of 4 KiB there, median"),
        ("a setting that differs", "<tr class=\"differs\"><th>innodb_flush_method</th>"),
        ("a counter's events during the run", "<th>log_writes</th><td>101 ± "),
        (
            "which run a counter is of",
            "<th>palisade<br>clients 150, innodb_log_writer_threads ON</th><th>palisade<br>clients 150, innodb_log_writer_threads OFF</th>",
        ),
        ("error bars", "<path class=\"error\""),
        ("AUTO over the better of the others", "<h3>AUTO over the better of ON and OFF</h3>"),
        ("which one was better, and what the ratio says", "<th>OFF</th><td>0.999 <small>"),
        ("whether that is more than noise", "<td class=\"text\">no difference shown</td>"),
        (
            "how noisy the short form is",
            "Its numbers are no measurement. Noise: the runs of a cell have a standard deviation of ",
        ),
        ("seconds as a line", "<polyline class=\"line s0\""),
        ("what else was looked at each second", "<h3>Free pages</h3>"),
        ("text as text", "a &lt;note&gt;"),
    ] {
        assert!(html.contains(text), "it lacks {what}: {text}");
    }
    assert!(!html.contains("NaN") && !html.contains("<script") && !html.contains("http"), "it stands alone");
}

#[test]
fn json_survives_reading_and_writing() {
    let read = results();
    assert_eq!(Results::parse(&read.json()).expect("our own JSON"), read);
}

/// A number that comes back as its neighbour may be rounded otherwise, and the report differs.
#[test]
fn numbers_come_back_from_the_json_to_the_last_bit() {
    let mut results = results();
    let values: Vec<f64> = (1..20_000).map(|number| f64::from(number) / 2080.0 * 1.1).collect();
    results.cells[0].runs[0].by_second = values.clone();
    let read = Results::parse(&results.json()).expect("our own JSON");
    assert_eq!(read.cells[0].runs[0].by_second, values);
}

#[test]
fn what_is_not_results_is_refused_with_a_reason() {
    for (text, complaint) in [
        ("", "not results of palisade-lab"),
        ("{\"a\": 1}", "missing field `schema`"),
        ("{\"schema\": \"palisade-lab/99\"}", "its schema is 'palisade-lab/99'"),
        ("{\"schema\": \"palisade-lab/1\"}", "missing field"),
    ] {
        let error = Results::parse(text).expect_err(text);
        assert!(error.contains(complaint), "{text}: {error}");
    }
    let missing = Results::read(Path::new("/nowhere/results.json")).expect_err("there is no such file");
    assert!(missing.to_string().starts_with("/nowhere/results.json: "), "{missing}");
}

/// Collects the keys of objects; those of `open` objects are names of the experiment, not of the format.
fn keys(value: &serde_json::Value, open: bool, found: &mut BTreeSet<String>) {
    const OPEN: &[&str] = &["parameters", "settings", "levels", "values", "counters", "lines"];
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                if !open {
                    found.insert(key.clone());
                }
                keys(value, OPEN.contains(&key.as_str()), found);
            }
        }
        serde_json::Value::Array(array) => array.iter().for_each(|value| keys(value, false, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_the_json_is_documented() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lab.md");
    let docs = std::fs::read_to_string(docs).expect("docs/lab.md is there");
    let json: serde_json::Value = serde_json::from_str(&results().json()).expect("our own JSON");
    let mut found = BTreeSet::new();
    keys(&json, false, &mut found);
    assert!(found.len() > 30, "{found:?}");
    let undocumented: Vec<&String> = found.iter().filter(|key| !docs.contains(&format!("`{key}`"))).collect();
    assert!(undocumented.is_empty(), "docs/lab.md lacks {undocumented:?}");
}
