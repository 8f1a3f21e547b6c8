//! The tests beside the code: unit, model-checked, golden; and loom.

use crate::Outcome;
use crate::process::{self, cargo, target};

/// Crates with tests named `loom_*`, compiled with `--cfg loom` into a target directory of their own.
const LOOM: &[&str] = &["palisade-log", "palisade-buffer", "palisade-txn"];

/// Every crate's tests.
pub fn run() -> Outcome {
    process::run(&mut cargo(&["test", "--workspace", "--quiet"]))
}

/// Every schedule of the concurrent structures that loom's bounds allow.
pub fn loom() -> Outcome {
    for package in LOOM {
        process::run(
            cargo(&["test", "--package", package, "--lib", "--release", "--quiet", "loom_"])
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
