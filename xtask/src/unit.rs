//! The tests beside the code: unit, model-checked, golden; and loom.

use std::fmt::{Display, Formatter};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::process::{self, cargo, command, output, target};
use crate::{Outcome, side_by_side};

/// Crates with tests named `loom_*`, compiled with `--cfg loom` into a target directory of their own.
const LOOM: &[&str] =
    &["palisade-base", "palisade-observe", "palisade-io", "palisade-log", "palisade-buffer", "palisade-txn"];

/// How many programs of tests run at a time. Most tests of most programs wait for something now and then, and the longest ones
/// of a program run alone in the end.
const AT_A_TIME: usize = 2;

/// The programs that take longest: begun first, so that none of them is left over.
const LONGEST: [&str; 4] = ["palisade_txn", "histories", "palisade_engine", "differential"];

/// A program of tests, and the folder of its package, in which it runs.
struct Program {
    path: PathBuf,
    folder: PathBuf,
}

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&name(&self.path))
    }
}

/// Every crate's tests.
pub fn run() -> Outcome {
    let built = output(&mut cargo(&["test", "--workspace", "--no-run", "--quiet", "--message-format=json"]))?;
    let mut programs: Vec<Program> = built.lines().filter_map(program).collect();
    programs.sort_by_key(|program| {
        LONGEST.iter().position(|known| *known == name(&program.path)).unwrap_or(LONGEST.len())
    });
    run_all(&programs)?;
    process::run(&mut cargo(&["test", "--workspace", "--doc", "--quiet"]))
}

/// Runs all of them, also when one fails.
fn run_all(programs: &[Program]) -> Outcome {
    side_by_side::run("programs", programs, AT_A_TIME, |Program { path, folder }| {
        let ran = output(command(&path.display().to_string(), &["--quiet"]).current_dir(folder))?;
        Ok(summary(&ran).to_owned())
    })
}

/// The program that a line of cargo's tells of, if it does.
fn program(line: &str) -> Option<Program> {
    let message: Value = serde_json::from_str(line).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let manifest = Path::new(message["manifest_path"].as_str()?);
    Some(Program { path: message["executable"].as_str()?.into(), folder: manifest.parent()?.into() })
}

/// A program's name without the number that cargo gives it.
fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    stem.rsplit_once('-').map_or(&*stem, |(name, _)| name).to_owned()
}

/// What a program of tests says of all of them.
fn summary(printed: &str) -> &str {
    printed.lines().rfind(|line| line.starts_with("test result: ")).unwrap_or("no tests")
}

/// Every schedule of the concurrent structures that loom's bounds allow.
pub fn loom() -> Outcome {
    for package in LOOM {
        process::run(
            cargo(&["test", "--package", package, "--lib", "--profile", "tested", "--quiet", "loom_"])
                .env("RUSTFLAGS", "--cfg loom")
                .env("LOOM_MAX_PREEMPTIONS", "3")
                .env("CARGO_TARGET_DIR", target().join("loom")),
        )?;
    }
    Ok(())
}

/// Tests named `search` that are ignored elsewhere: they go through as many seeds as they are told to. Histories on a failing
/// disk, of every mishap; scripts of statements on tables with indexes and without.
const SEARCHES: &[(&str, &str)] = &[("palisade-sim", "search"), ("palisade-sql", "differential")];

/// The random tests again, `count` times, with seeds of their own and more steps.
pub fn soak(count: u32) -> Outcome {
    let first = std::process::id().wrapping_mul(7919);
    for round in 1..=count {
        let seed = first.wrapping_add(round);
        process::run(
            cargo(&["test", "--workspace", "--quiet", "--release"])
                .env("PALISADE_SEED", seed.to_string())
                .env("PALISADE_TEST_STEPS", "20"),
        )?;
    }
    Ok(())
}

/// The searches, through so many seeds each.
pub fn search(count: u32) -> Outcome {
    let first = std::process::id().wrapping_mul(7919);
    let seeds = format!("{first}..{}", u64::from(first) + u64::from(count));
    for (package, test) in SEARCHES {
        let search = ["test", "--package", package, "--test", test, "--release", "--quiet"];
        process::run(cargo(&search).args(["search", "--", "--ignored", "--nocapture"]).env("SEEDS", &seeds))?;
    }
    Ok(())
}

/// One history of the simulator by hand; the program explains its options.
pub fn sim(options: &[String]) -> Outcome {
    let program = ["run", "--quiet", "--profile", "tested", "--package", "palisade-sim", "--"];
    process::run(cargo(&program).args(options))
}

/// How long short questions wait beside statements that compute on every worker, and how long KILL takes.
/// Measures times: for a machine that has nothing else to do.
pub fn waits() -> Outcome {
    let test =
        ["test", "--package", "palisade-server", "--test", "held_workers", "--profile", "tested", "--quiet"];
    process::run(cargo(&test).args(["soak", "--", "--ignored", "--nocapture"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_fails_fails_the_step_and_the_others_run() {
        let run = |words: &[&str]| {
            let program =
                |word: &&str| Program { path: Path::new("/bin").join(word), folder: process::root() };
            run_all(&words.iter().map(program).collect::<Vec<_>>())
        };
        assert_eq!(run(&["true", "true", "true"]), Ok(()));
        assert_eq!(run(&["true", "false", "true"]), Err("1 of 3 programs failed: false".to_owned()));
        assert!(run(&["no-such-program"]).is_err());
    }

    #[test]
    fn cargo_names_programs_of_tests_among_other_things() {
        let line = |test: bool, executable: &str| {
            format!(
                r#"{{"manifest_path": "/x/Cargo.toml", "profile": {{"test": {test}}}, "executable": {executable}}}"#
            )
        };
        let found = program(&line(true, r#""/x/deps/palisade_log-0123abcd""#)).unwrap();
        assert_eq!((name(&found.path), found.folder), ("palisade_log".to_owned(), PathBuf::from("/x")));
        assert!(
            program(&line(false, r#""/x/palisade""#)).is_none() && program(&line(true, "null")).is_none()
        );
        assert!(program("warning: something else").is_none());
    }
}
