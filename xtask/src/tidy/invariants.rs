//! The invariants of ARCHITECTURE.md: each names what keeps it, and that exists.
//!
//! An invariant is an item of a list that begins with [`MARK`]. Behind `Kept by` its keepers stand in
//! backquotes:
//!
//! | form | what must exist |
//! |---|---|
//! | `a_test_named_after_behaviour` | a function of that name under `#[test]`, in any crate |
//! | `clippy::lint`, `unsafe_code` | a crate whose head denies or forbids the lint |
//! | `cargo xtask step` | a step of `cargo xtask test` |
//! | `crates/x/src/y.rs` | a document test in that file that must not compile |

use std::path::PathBuf;

use super::{HOUSE, read};
use crate::process::root;

/// How an invariant begins.
const MARK: &str = "**Architecture Invariant:**";

/// The document.
const DOCUMENT: &str = "ARCHITECTURE.md";

/// What the checked keepers are compared with.
struct Known {
    /// Names of tests.
    tests: Vec<String>,
    /// Lints at the heads of crates.
    lints: Vec<String>,
    /// Steps of `cargo xtask test`.
    steps: Vec<&'static str>,
}

/// Checks every invariant of the document against the sources.
pub(super) fn run(sources: &[PathBuf], offences: &mut Vec<String>) -> Result<(), String> {
    let mut known = Known { tests: Vec::new(), lints: Vec::new(), steps: crate::steps::names().collect() };
    for source in sources {
        let text = read(source)?;
        known.tests.extend(tests(&text));
        if source.ends_with("src/lib.rs") {
            known.lints.extend(lints(&text));
        }
    }
    check(&read(&root().join(DOCUMENT))?, &known, offences);
    Ok(())
}

fn check(document: &str, known: &Known, offences: &mut Vec<String>) {
    let invariants = invariants(document);
    for invariant in &invariants {
        let about: String = invariant.chars().take(60).collect();
        let keepers = invariant.split_once("Kept by").map(|(_, rest)| quoted(rest)).unwrap_or_default();
        if keepers.is_empty() {
            offences.push(format!("{DOCUMENT}: \"{about}...\" does not say what keeps it"));
        }
        for keeper in keepers {
            if !exists(keeper, known) {
                offences.push(format!("{DOCUMENT}: \"{about}...\" is kept by {keeper}, which is not there"));
            }
        }
    }
    for floor in HOUSE {
        let named = format!("`{floor}`");
        let is_named = |invariant: &String| {
            invariant.split_once("Kept by").is_some_and(|(statement, _)| statement.contains(&named))
        };
        if !invariants.iter().any(is_named) {
            offences.push(format!("{DOCUMENT}: no invariant of {floor}"));
        }
    }
}

/// The items of lists that begin with [`MARK`], each in one line and without it.
fn invariants(document: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut inside = false;
    for line in document.lines() {
        if let Some(item) = line.strip_prefix("- ") {
            inside = item.starts_with(MARK);
            if inside {
                found.push(item.trim_start_matches(MARK).trim().to_owned());
            }
        } else if inside && line.starts_with("  ") {
            if let Some(last) = found.last_mut() {
                last.push(' ');
                last.push_str(line.trim());
            }
        } else {
            inside = false;
        }
    }
    found
}

/// What stands in backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

fn exists(keeper: &str, known: &Known) -> bool {
    if let Some(step) = keeper.strip_prefix("cargo xtask ") {
        return known.steps.contains(&step);
    }
    if keeper.ends_with(".rs") {
        return read(&root().join(keeper)).is_ok_and(|text| text.contains("```compile_fail"));
    }
    let list =
        if keeper.starts_with("clippy::") || keeper == "unsafe_code" { &known.lints } else { &known.tests };
    list.iter().any(|name| name == keeper)
}

/// Names of the functions under `#[test]`.
fn tests(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_test = false;
    for line in source.lines().map(str::trim_start) {
        if line.starts_with("#[test]") {
            is_test = true;
        } else if let Some((_, rest)) = line.split_once("fn ").filter(|_| is_test) {
            found.extend(rest.split('(').next().map(String::from));
            is_test = false;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            is_test = false;
        }
    }
    found
}

/// Lints that a crate's head denies or forbids.
fn lints(head: &str) -> Vec<String> {
    let attributes = head.lines().filter_map(|line| {
        let rest = line.strip_prefix("#![deny(").or_else(|| line.strip_prefix("#![forbid("))?;
        rest.split(')').next()
    });
    attributes.flat_map(|list| list.split(',')).map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Known {
        Known {
            tests: vec!["a_page_stays".into()],
            lints: vec!["clippy::unwrap_used".into()],
            steps: vec!["tidy"],
        }
    }

    /// Offences of a document, those about floors without an invariant excepted.
    fn offences(document: &str) -> Vec<String> {
        let mut offences = Vec::new();
        check(document, &known(), &mut offences);
        offences.retain(|offence| !offence.contains(": no invariant of "));
        offences
    }

    #[test]
    fn what_keeps_an_invariant_must_exist() {
        let kept = "- **Architecture Invariant:** a page of `buffer` stays. Kept by `a_page_stays`,\n  \
                    `clippy::unwrap_used` and `cargo xtask tidy`.\n- **Not** one.\n";
        assert_eq!(offences(kept), [""; 0]);
        for (name, other) in
            [("a_page_stays", "a_page_goes"), ("unwrap_used", "dbg_macro"), ("xtask tidy", "xtask tidings")]
        {
            let missing = kept.replace(name, other);
            assert_eq!(offences(&missing).len(), 1, "{missing}");
        }
        assert_eq!(offences("- **Architecture Invariant:** `io` is nice.\n").len(), 1);
        assert_eq!(offences("- **Architecture Invariant:** `io` is kept. Kept by nothing.\n").len(), 1);
    }

    #[test]
    fn every_floor_has_an_invariant() {
        let mut offences = Vec::new();
        check("- **Architecture Invariant:** `io`. Kept by `a_page_stays`.\n", &known(), &mut offences);
        assert_eq!(offences.len(), HOUSE.len() - 1);
    }

    #[test]
    fn tests_and_lints_are_found_in_sources() {
        let source = "#![deny(clippy::a, clippy::b)]\n#![forbid(unsafe_code)]\n#[test]\n#[ignore = \"x\"]\nfn one() {}\n\
                      fn two() {}\n    #[test]\n    // why\n    pub(super) fn three() {}\n";
        assert_eq!(tests(source), ["one", "three"]);
        assert_eq!(lints(source), ["clippy::a", "clippy::b", "unsafe_code"]);
    }
}
