//! The rules of the house that a program can check.
//!
//! - a crate depends only on crates above it ([`HOUSE`]), and one that stands [`ALONE`] on none;
//! - every module begins with its story (`//!`), tests excepted;
//! - no source file is longer than [`LONGEST`] lines;
//! - a module with children is `x.rs` beside `x/`, its tests `x/tests.rs`;
//! - a room of a crate that stands above its others is not used by them ([`ROOMS_ABOVE`]);
//! - `unsafe` lives in `io` and `buffer`; every other crate forbids it;
//! - below `server`, no crate uses a runtime, time and randomness come through seams, and nothing prints
//!   (to standard error a fatal failure may);
//! - the invariants of ARCHITECTURE.md are kept by tests and lints that exist (see [`invariants`]);
//! - binding and planning compare expressions, not what they print: no `to_string()` in [`STRUCTURAL`], the
//!   file that shows
//!   plans excepted;
//! - no loose ends: nothing left to do in a macro or a comment, no test ignored without a reason;
//! - the index of decisions lists each of them once, and relative links of documents lead to files;
//! - text files end with a newline and hold no tabs in Rust sources.

mod invariants;

use crate::Outcome;
use crate::process::root;
use std::path::{Path, PathBuf};

/// The crates from the ground up. A crate may use those before it.
const HOUSE: &[&str] = &[
    "base",
    "observe",
    "io",
    "log",
    "buffer",
    "btree",
    "txn",
    "catalog",
    "schema",
    "engine",
    "parser",
    "expr",
    "session",
    "plan",
    "exec",
    "sql",
    "protocol",
    "server",
    "isolation",
    "sim",
    "lab",
];

/// Crates that see the others from outside only.
const ALONE: &[&str] = &["lab"];

/// Crates in which `unsafe` is allowed.
const UNSAFE: &[&str] = &["io", "buffer"];

/// Runtimes, for the crates [`OUTSIDE`].
const RUNTIMES: &[&str] = &["tokio", "async-std", "smol"];

/// Crates that may ask the operating system for the time, start threads and print.
const OUTSIDE: &[&str] = &["server", "isolation", "sim", "lab"];

/// The longest a source file may be. About 800 lines is a file asking to be split; this is the hard limit.
const LONGEST: usize = 900;

/// The seams themselves.
const SEAMS: &[&str] = &["crates/base/src/clock.rs", "crates/base/src/prng.rs"];

/// What must not stand in a crate that is not [`OUTSIDE`], with what to use instead.
const FORBIDDEN: &[(&str, &str)] =
    &[("SystemTime::now", "take a palisade_base::clock::Clock"), ("println!", "return it, or count it")];

/// Folders in which what two things are is never decided by their text.
const STRUCTURAL: &[&str] = &["crates/plan/src/"];

/// Crates with a room that stands above their other modules. The head of the library, which declares it, may
/// name it.
const ROOMS_ABOVE: &[(&str, &str)] = &[("crates/plan/src/", "bind")];

/// The folder of decisions. Its index is README.md.
const DECISIONS: &str = "docs/decisions";

/// Runs all checks and prints every offence.
pub fn run() -> Outcome {
    let mut offences = Vec::new();
    for name in HOUSE {
        let folder = root().join("crates").join(name);
        edges(name, &folder, &mut offences);
        let library = read(&folder.join("src/lib.rs")).or_else(|_| read(&folder.join("src/main.rs")))?;
        if !UNSAFE.contains(name) && !library.contains("#![forbid(unsafe_code)]") {
            offences.push(format!("crates/{name}: lacks #![forbid(unsafe_code)]"));
        }
    }
    let members = std::fs::read_dir(root().join("crates")).map_err(|error| error.to_string())?;
    for member in members.flatten() {
        let name = member.file_name().to_string_lossy().into_owned();
        if !HOUSE.contains(&name.as_str()) {
            offences.push(format!("crates/{name}: not a floor of the house"));
        }
    }
    let mut files = Vec::new();
    with_extension(&root().join("crates"), "rs", &mut files)?;
    with_extension(&root().join("xtask"), "rs", &mut files)?;
    with_extension(&root().join("fuzz"), "rs", &mut files)?;
    for file in &files {
        source(file, &read(file)?, &mut offences);
    }
    let listed = documents(&mut offences)?;
    invariants::run(&files, &mut offences)?;
    if offences.is_empty() {
        println!("{} source files, {listed} documents", files.len());
        return Ok(());
    }
    for offence in &offences {
        println!("{offence}");
    }
    Err(format!("{} offences", offences.len()))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn edges(name: &str, folder: &Path, offences: &mut Vec<String>) {
    let Ok(manifest) = read(&folder.join("Cargo.toml")) else {
        offences.push(format!("crates/{name}: missing"));
        return;
    };
    let floor = HOUSE.iter().position(|known| *known == name).expect("name comes from the house");
    let mut in_dependencies = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            in_dependencies = line == "[dependencies]";
        }
        let name_of_dependency = line.split(['.', ' ', '=']).next().unwrap_or_default();
        if in_dependencies && !OUTSIDE.contains(&name) && RUNTIMES.contains(&name_of_dependency) {
            offences.push(format!("crates/{name}: uses the runtime {name_of_dependency}"));
        }
        let Some(rest) = line.strip_prefix("palisade-").filter(|_| in_dependencies) else { continue };
        let used = rest.split(['.', ' ', '=']).next().unwrap_or_default();
        if ALONE.contains(&name) {
            offences.push(format!("crates/{name}: uses {used}; it must use no other crate of the house"));
        } else if !HOUSE[..floor].contains(&used) {
            offences.push(format!("crates/{name}: uses {used}, which is not below it"));
        }
    }
}

fn with_extension(folder: &Path, wanted: &str, files: &mut Vec<PathBuf>) -> Outcome {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            with_extension(&path, wanted, files)?;
        } else if path.extension().is_some_and(|extension| extension == wanted) {
            files.push(path);
        }
    }
    Ok(())
}

/// Checks the documents and says how many there are.
fn documents(offences: &mut Vec<String>) -> Result<usize, String> {
    let mut files = Vec::new();
    with_extension(&root().join("docs"), "md", &mut files)?;
    let top = std::fs::read_dir(root()).map_err(|error| error.to_string())?;
    files.extend(
        top.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "md")),
    );
    files.sort();
    for file in &files {
        let shown = file.strip_prefix(root()).unwrap_or(file).display();
        for target in links(&read(file)?) {
            if !file.with_file_name(&target).exists() {
                offences.push(format!("{shown}: a link to {target}, which is not there"));
            }
        }
    }
    let folder = root().join(DECISIONS);
    let names: Vec<_> = files
        .iter()
        .filter(|file| file.parent() == Some(&folder))
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_string()))
        .filter(|name| name != "README.md")
        .collect();
    decisions(&read(&folder.join("README.md"))?, &names, offences);
    Ok(files.len())
}

/// The files that a document links to by a relative path.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).map(String::from).collect()
}

/// Compares the rows of the index, `| [NNN](file) |`, with the files: each has one row under its own number.
fn decisions(index: &str, names: &[String], offences: &mut Vec<String>) {
    let rows = index.lines().filter_map(|line| line.strip_prefix("| [")?.split_once("]("));
    let rows: Vec<_> =
        rows.map(|(number, rest)| (number, rest.split(')').next().unwrap_or_default())).collect();
    for name in names {
        let number = name.split('-').next().unwrap_or_default();
        if rows.iter().filter(|row| **row == (number, name.as_str())).count() != 1 {
            offences.push(format!("{DECISIONS}/README.md: {name} has not one row, as {number}"));
        }
        if names.iter().any(|other| other != name && other.split('-').next() == Some(number)) {
            offences.push(format!("{DECISIONS}/{name}: its number is another one's, too"));
        }
    }
}

fn source(path: &Path, text: &str, offences: &mut Vec<String>) {
    let shown = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let in_source = shown.contains("/src/");
    let in_tests = shown.ends_with("tests.rs") || shown.contains("/tests/");
    if in_source && !in_tests && !text.starts_with("//!") {
        offences.push(format!("{shown}: does not begin with its story (//!)"));
    }
    if in_source {
        if shown.ends_with("/mod.rs") {
            offences.push(format!("{shown}: call it by its folder's name, beside the folder"));
        }
        if shown.ends_with("_tests.rs") && !shown.ends_with("/loom_tests.rs") {
            offences.push(format!("{shown}: the tests of x.rs are x/tests.rs"));
        }
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        offences.push(format!("{shown}: {lines} lines; split it"));
    }
    if !text.ends_with('\n') {
        offences.push(format!("{shown}: does not end with a newline"));
    }
    let floor = shown.split('/').nth(1).unwrap_or_default();
    let inside =
        in_source && HOUSE.contains(&floor) && !OUTSIDE.contains(&floor) && !SEAMS.contains(&shown.as_str());
    let is_structural = STRUCTURAL.iter().any(|folder| shown.starts_with(folder)) && !in_tests;
    for (folder, above) in ROOMS_ABOVE {
        let within = shown.strip_prefix(folder).unwrap_or(above);
        if !within.starts_with(above) && within != "lib.rs" && text.contains(&format!("crate::{above}")) {
            offences.push(format!("{shown}: uses {above}, which stands above it"));
        }
    }
    let code_end = text.find("#[cfg(test)]").unwrap_or(text.len());
    for (number, line) in text.lines().enumerate() {
        let here = || format!("{shown}:{}", number + 1);
        if line.contains('\t') {
            offences.push(format!("{}: a tab", here()));
        }
        if is_structural && line.contains("to_string") {
            offences
                .push(format!("{}: to_string: compare expressions by ==, print them with format!", here()));
        }
        for loose in
            [concat!("todo", "!("), concat!("FIX", "ME"), concat!("TO", "DO"), concat!("#[ign", "ore]")]
        {
            if line.contains(loose) {
                offences.push(format!("{}: a loose end: {loose}", here()));
            }
        }
    }
    if inside && !in_tests {
        for (call, instead) in FORBIDDEN {
            let mut rest = &text[..code_end];
            while let Some(at) = rest.find(call) {
                let line_start = rest[..at].rfind('\n').map_or(0, |end| end + 1);
                let before = rest[line_start..at].trim_start();
                if !before.starts_with("//") && !before.ends_with('e') {
                    offences.push(format!("{shown}: {call}: {instead}"));
                }
                rest = &rest[at + call.len()..];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decision_has_one_row_under_its_number() {
        let names = ["001-a.md", "002-b.md", "002-c.md", "003-d.md"].map(String::from);
        let index = "| [001](001-a.md) | a |\n| [002](002-b.md) | see [001](001-a.md) |\n| [2](002-c.md) |\n\
                     [003](003-d.md)\n";
        let mut offences = Vec::new();
        decisions(index, &names, &mut offences);
        assert_eq!(
            offences,
            [
                "docs/decisions/002-b.md: its number is another one's, too",
                "docs/decisions/README.md: 002-c.md has not one row, as 002",
                "docs/decisions/002-c.md: its number is another one's, too",
                "docs/decisions/README.md: 003-d.md has not one row, as 003",
            ]
        );
        offences.clear();
        decisions("| [001](001-a.md) |\n", &names[..1], &mut offences);
        assert_eq!(offences, [""; 0]);
    }

    #[test]
    fn relative_links_are_files() {
        assert_eq!(
            links("[a](x.md#part), [b](#part), [c](https://a.b/c.md) and\n[d](../y)"),
            ["x.md", "../y"]
        );
    }
}
