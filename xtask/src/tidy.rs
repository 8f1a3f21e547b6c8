//! The rules of the house that a program can check.
//!
//! - a crate depends only on crates above it ([`HOUSE`]), and one that stands [`ALONE`] on none;
//! - every module begins with its story (`//!`), tests excepted;
//! - no source file is longer than [`LONGEST`] lines;
//! - `unsafe` lives in `io`, `log` and `buffer`; every other crate forbids it;
//! - below `server`, time and randomness come through seams, and nothing prints (to standard error a fatal failure may);
//! - binding and planning compare expressions, not what they print: no `to_string()` in [`STRUCTURAL`], the
//!   file that shows
//!   plans excepted;
//! - no loose ends: nothing left to do in a macro or a comment, no test ignored without a reason;
//! - text files end with a newline and hold no tabs in Rust sources.

use crate::Outcome;
use crate::process::root;
use std::path::{Path, PathBuf};

/// The crates from the ground up. A crate may use those before it.
const HOUSE: &[&str] = &[
    "base",
    "io",
    "log",
    "buffer",
    "btree",
    "txn",
    "catalog",
    "engine",
    "parser",
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
const UNSAFE: &[&str] = &["io", "log", "buffer"];

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
const STRUCTURAL: &[&str] = &["crates/sql/src/bind/", "crates/sql/src/plan/"];

/// The one file in them that makes text to be read.
const SHOWS: &str = "crates/sql/src/plan/explain.rs";

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
    sources(&root().join("crates"), &mut files)?;
    sources(&root().join("xtask"), &mut files)?;
    for file in &files {
        source(file, &read(file)?, &mut offences);
    }
    if offences.is_empty() {
        println!("{} source files", files.len());
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
        let Some(rest) = line.strip_prefix("palisade-").filter(|_| in_dependencies) else { continue };
        let used = rest.split(['.', ' ', '=']).next().unwrap_or_default();
        if ALONE.contains(&name) {
            offences.push(format!("crates/{name}: uses {used}; it must use no other crate of the house"));
        } else if !HOUSE[..floor].contains(&used) {
            offences.push(format!("crates/{name}: uses {used}, which is not below it"));
        }
    }
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) -> Outcome {
    let entries = std::fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            sources(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn source(path: &Path, text: &str, offences: &mut Vec<String>) {
    let shown = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let in_source = shown.contains("/src/");
    let in_tests = shown.ends_with("tests.rs") || shown.contains("/tests/");
    if in_source && !in_tests && !text.starts_with("//!") {
        offences.push(format!("{shown}: does not begin with its story (//!)"));
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
    let is_structural =
        STRUCTURAL.iter().any(|folder| shown.starts_with(folder)) && shown != SHOWS && !in_tests;
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
