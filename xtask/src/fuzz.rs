//! Searching the fuzz targets, with coverage for a guide, on the stable toolchain.
//!
//! The program is `palisade-fuzz` with libFuzzer, built with LLVM's coverage pass and every assertion in a
//! target directory of its own ([`COVERAGE`]; docs/decisions/103). Each target is searched for some seconds
//! from a seed that is printed ([`SEED`] in `cargo xtask test`, else a fresh one), beginning with its seeds
//! and kept inputs; `target/fuzz/corpus` keeps what was interesting for the next time. An input that fails is
//! written to `fuzz/regressions/TARGET/`, where tests run it from then on, and the step fails.
//!
//! First comes the canary, a decoder with a planted mistake: if it is *not* found, the step fails, because
//! then coverage does not reach the search.
//!
//! `cargo xtask fuzz` searches every target for [`SECONDS`]; `--target NAME`, `--seconds N`, `--seed N`;
//! `--target NAME --input FILE` runs one input.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::process::{self, cargo, command, output, root, target};
use crate::{Outcome, side_by_side};

/// The targets, as `fuzz/src/lib.rs` lists them.
const TARGETS: &[&str] =
    &["parser", "packets", "log", "page", "places", "row", "decimal", "json", "expression"];

/// Seconds that each target is searched for in `cargo xtask test`.
const SECONDS: u64 = 30;

/// The seed of `cargo xtask test`: what a change breaks fails there, and what was always wrong is for the
/// long form to find.
const SEED: u32 = 1;

/// Seconds that the canary may take. It takes ten of a processor.
const CANARY_SECONDS: u64 = 120;

/// Comparisons that come closer to being equal count as new, not branches alone.
const VALUES: &str = "-use_value_profile=1";

/// Lines that are shown of a search that found something.
const SHOWN_LINES: usize = 80;

/// The longest input of the canary.
const CANARY_BYTES: &str = "-max_len=16";

/// LLVM's coverage of edges, which libFuzzer reads: counters of bytes, and a table of what they belong to.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=3 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=16";

const USAGE: &str = "usage: cargo xtask fuzz [--target NAME] [--seconds N] [--seed N] [--input FILE]";

/// What `cargo xtask test` does.
pub fn run() -> Outcome {
    search(TARGETS, SECONDS, SEED)
}

/// The long form.
pub fn soak(rounds: u32) -> Outcome {
    search(TARGETS, u64::from(rounds) * 2, fresh_seed())
}

/// By hand.
pub fn by_hand(arguments: &[String]) -> Outcome {
    let (mut names, mut seconds, mut seed, mut input) = (TARGETS.to_vec(), SECONDS, fresh_seed(), None);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, name] if flag == "--target" => {
                names.retain(|known| known == name);
            }
            [flag, count] if flag == "--seconds" => seconds = count.parse().map_err(|_| USAGE)?,
            [flag, number] if flag == "--seed" => seed = number.parse().map_err(|_| USAGE)?,
            [flag, path] if flag == "--input" => input = Some(PathBuf::from(path)),
            _ => return Err(USAGE.into()),
        }
    }
    match (input, &names[..]) {
        (_, []) => Err(format!("there is no such target; they are {}", TARGETS.join(", "))),
        (None, names) => search(names, seconds, seed),
        (Some(path), [name]) => process::run(fuzzer(&build()?, name).arg(path)),
        (Some(_), _) => Err("--input is for one --target".into()),
    }
}

/// A seed that is not the last run's. libFuzzer takes 32 bits, and 0 for "choose one".
fn fresh_seed() -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (now.as_millis() as u32).max(1)
}

/// Where the program and what belongs to its searches is.
fn folder() -> PathBuf {
    target().join("fuzz")
}

/// Builds the program with coverage, and says where it is.
fn build() -> Result<PathBuf, String> {
    // With a target given, build scripts and macros are built without the flags.
    let version = output(&mut command("rustc", &["-vV"]))?;
    let host =
        version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not say its host")?;
    let program =
        ["build", "--quiet", "--profile", "tested", "--package", "palisade-fuzz", "--features", "libfuzzer"];
    process::run(
        cargo(&program).args(["--target", host]).env("RUSTFLAGS", COVERAGE).env("CARGO_TARGET_DIR", folder()),
    )?;
    Ok(folder().join(host).join("tested/palisade-fuzz"))
}

/// The program for a target.
fn fuzzer(program: &Path, name: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).env("PALISADE_FUZZ_TARGET", name);
    command
}

fn search(names: &[&str], seconds: u64, seed: u32) -> Outcome {
    let program = build()?;
    canary(&program, seed)?;
    let at_a_time = std::thread::available_parallelism().map_or(1, |processors| processors.get().min(4));
    side_by_side::run("targets", names, at_a_time, |name| search_one(&program, name, seconds, seed))
        .map_err(|error| format!("{error}; cargo xtask fuzz --target NAME --seed {seed} searches again"))
}

/// Searches a target; what libFuzzer says in the end.
fn search_one(program: &Path, name: &str, seconds: u64, seed: u32) -> Result<String, String> {
    let corpus = folder().join("corpus").join(name);
    let kept = root().join("fuzz/regressions").join(name);
    for folder in [&corpus, &kept] {
        std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    // The seeds are the program's: it writes them where the search looks first.
    output(fuzzer(program, name).env("PALISADE_FUZZ_SEEDS", &corpus).arg("-runs=0"))?;
    let words = corpus.with_extension("words");
    // libFuzzer takes an empty dictionary for a mistake.
    let has_words = std::fs::metadata(&words).is_ok_and(|file| file.len() > 0);
    let dictionary = has_words.then(|| format!("-dict={}", words.display()));
    let ran = fuzzer(program, name)
        .args(dictionary)
        .args([
            format!("-max_total_time={seconds}"),
            format!("-seed={seed}"),
            format!("-artifact_prefix={}/", kept.display()),
            VALUES.to_owned(),
            "-timeout=20".to_owned(),
            "-rss_limit_mb=3000".to_owned(),
            "-print_final_stats=1".to_owned(),
            corpus.display().to_string(),
            kept.display().to_string(),
        ])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    // Nothing was kept: git does not keep an empty folder, and neither does this.
    let _ = std::fs::remove_dir(&kept);
    let printed = String::from_utf8_lossy(&ran.stderr);
    match ran.status.success() {
        true => Ok(format!("seed {seed}, {}", summary(&printed))),
        false => Err(format!("seed {seed}, {}\n{}", ran.status, last_lines(&printed))),
    }
}

/// The end of what libFuzzer says, with the panic and the file that has the input.
fn last_lines(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().collect();
    lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join("\n")
}

/// How many inputs were run, and how many edges they took.
fn summary(printed: &str) -> String {
    let value = |name: &str| {
        printed
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .map_or("?", |rest| rest.trim_matches([':', ' ']))
    };
    let edges = printed.lines().rev().find_map(|line| line.split_once(" cov: "));
    let edges = edges.and_then(|(_, rest)| rest.split(' ').next()).unwrap_or("?");
    format!("{} inputs, {edges} edges", value("stat::number_of_executed_units"))
}

/// The planted mistake must be found, and its input must find it again.
fn canary(program: &Path, seed: u32) -> Outcome {
    let folder = folder().join("canary");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let kept = folder.join("found");
    let search = [
        format!("-max_total_time={CANARY_SECONDS}"),
        format!("-seed={seed}"),
        format!("-exact_artifact_path={}", kept.display()),
        CANARY_BYTES.to_owned(),
        VALUES.to_owned(),
    ];
    let fails = |command: &mut Command| -> Result<bool, String> {
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        Ok(!status.map_err(|error| format!("{}: {error}", program.display()))?.success())
    };
    if !fails(fuzzer(program, "canary").args(search))? || !kept.exists() {
        return Err(
            "the canary's planted mistake was not found: the search does not see what inputs do".into()
        );
    }
    if !fails(fuzzer(program, "canary").arg(&kept))? {
        return Err("the input that found the planted mistake does not find it again".into());
    }
    println!("canary: found, and found again");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_targets_are_those_of_the_package() {
        let library = std::fs::read_to_string(root().join("fuzz/src/lib.rs")).unwrap();
        let listed: Vec<String> = library
            .lines()
            .filter_map(|line| line.trim().strip_prefix("targets::")?.strip_suffix("::TARGET,"))
            .map(String::from)
            .collect();
        assert_eq!(listed, TARGETS);
    }

    #[test]
    fn a_summary_has_inputs_and_edges() {
        let printed =
            "#2 INITED cov: 17 ft: 18\n#99 DONE cov: 25 ft: 30 corp: 9\nstat::number_of_executed_units: 99\n";
        assert_eq!(summary(printed), "99 inputs, 25 edges");
        assert_eq!(summary(""), "? inputs, ? edges");
    }
}
