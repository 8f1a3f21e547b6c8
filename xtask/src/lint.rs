//! rustfmt, clippy, rustdoc and the dependency policy, warnings denied.

use crate::Outcome;
use crate::process::{self, cargo, output};

/// The pinned version of cargo-deny; built from the registry where the machine lacks it.
const DENY: &str = "0.20.2";

/// Licences, bans and sources of dependencies, by deny.toml.
fn dependencies() -> Outcome {
    if output(&mut cargo(&["deny", "--version"])).is_err() {
        println!("building cargo-deny {DENY}");
        output(&mut cargo(&["install", "cargo-deny", "--version", DENY, "--locked", "--debug"]))?;
    }
    // advisories need a database from the network; licences, bans and sources do not
    process::run(&mut cargo(&["deny", "check", "licenses", "bans", "sources"]))
}

/// rustfmt, clippy and rustdoc, then the dependency policy.
pub fn run() -> Outcome {
    process::run(&mut cargo(&["fmt", "--all", "--check"]))?;
    process::run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"]))?;
    process::run(
        cargo(&["doc", "--workspace", "--no-deps", "--document-private-items", "--quiet"])
            .env("RUSTDOCFLAGS", "-D warnings"),
    )?;
    dependencies()
}
