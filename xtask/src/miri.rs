//! The unsafe code under Miri, which interprets a program and stops at undefined behaviour: accesses beyond
//! what was allocated, uninitialized bytes, broken aliasing, references that dangle, data races.
//!
//! `unsafe` is in `io` and `buffer`. Miri is some hundred times slower than the processor and knows few
//! system calls, so [`TESTS`] are those that reach the unsafe lines through memory alone; where they would be
//! long they are short under `cfg(miri)`. What needs the kernel - io_uring, files, mappings - is not seen:
//! the crash and stress tests run that.
//!
//! The seed is that of the schedule of threads: `cargo xtask soak --part miri --seed N`.

use crate::Outcome;
use crate::process::{self, command, output, target};

/// Tests by package: names, or beginnings of names.
const TESTS: &[(&str, &[&str])] = &[
    (
        "palisade-io",
        &[
            "aligned::",
            "heap::",
            "mem::",
            "pool::tests::a_panic",
            "pool::tests::a_task",
            "pool::tests::an_inline",
            "pool::tests::shutdown",
            "pool::tests::writers",
        ],
    ),
    ("palisade-buffer", &["latch::", "page::", "racy::", "table::"]),
];

/// Runs [`TESTS`]; says why not if the machine has no Miri.
pub fn run(seed: u64) -> Outcome {
    if let Err(why) = output(&mut command("cargo", &["+nightly", "miri", "--version"])) {
        let why = why
            .lines()
            .find(|line| line.starts_with("error"))
            .unwrap_or("cargo +nightly miri fails")
            .to_owned();
        println!(
            "skipped: Miri is part of Rust's nightly toolchain only, and there is none here ({why}); \
             rustup toolchain install nightly --component miri rust-src"
        );
        return Ok(());
    }
    for (package, tests) in TESTS {
        let run = ["+nightly", "miri", "test", "--quiet", "--package", package, "--lib", "--"];
        // `cargo` of this process is that of the stable toolchain: rustup's own is the one that knows of
        // others.
        let mut miri = command("cargo", &run);
        println!("{package}: {}", tests.join(" "));
        process::run(
            miri.args(*tests)
                .env_remove("CARGO")
                .env_remove("RUSTUP_TOOLCHAIN")
                .env("CARGO_TARGET_DIR", target().join("miri"))
                .env("MIRIFLAGS", flags(seed)),
        )?;
    }
    Ok(())
}

/// The tests ask for the time and for `PALISADE_SEED`; threads of a pool may outlive the test that made it.
fn flags(seed: u64) -> String {
    format!("-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-seed={seed}")
}
