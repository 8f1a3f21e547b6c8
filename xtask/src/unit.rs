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

/// Histories that [`soak`] searches for one that goes wrong, of every mishap.
const HISTORIES: u32 = 500;

/// The random tests again, with seeds of their own and more steps; then whole histories on a failing disk.
pub fn soak() -> Outcome {
    let first = std::process::id().wrapping_mul(7919);
    for round in 1..=20 {
        let seed = first.wrapping_add(round);
        process::run(
            cargo(&["test", "--workspace", "--quiet", "--release"])
                .env("PALISADE_SEED", seed.to_string())
                .env("PALISADE_TEST_STEPS", "20"),
        )?;
    }
    let search = ["test", "--package", "palisade-sim", "--test", "search", "--release", "--quiet"];
    let seeds = format!("{first}..{}", u64::from(first) + u64::from(HISTORIES));
    process::run(cargo(&search).args(["--", "--ignored", "--nocapture"]).env("SEEDS", seeds))
}
