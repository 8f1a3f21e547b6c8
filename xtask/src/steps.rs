//! The steps of `cargo xtask test`, and which of them run side by side.
//!
//! The first ones keep every processor busy. The others wait for clients, clocks and disks much of their
//! time: they run [`AT_A_TIME`], each as a process of its own, whose output is shown when it has ended.

use std::time::Instant;

use crate::process::{command, output};
use crate::{
    Outcome, clients, crash, dashboard, fuzz, golden, histories, hostile, install, lab, lint, rescue,
    scenarios, side_by_side, suites, tidy, unit,
};

/// A step's name, and what it does.
type Step = (&'static str, fn() -> Outcome);

/// What runs first, one after the other; what comes later would only tell the same again if one of them
/// fails.
const FIRST: &[Step] = &[("tidy", tidy::run), ("lint", lint::run), ("unit", unit::run)];

/// What runs then, begun in this order: first the two that build most, in target directories of their own,
/// and then those that take longest.
const SIDE_BY_SIDE: &[Step] = &[
    ("golden", golden::run),
    ("loom", unit::loom),
    ("fuzz", fuzz::run),
    ("lab", lab::run),
    ("crash", crash::run),
    ("clients", clients::run),
    ("histories", histories::run),
    ("hostile", hostile::run),
    ("rescue", rescue::run),
    ("dashboard", dashboard::run),
    ("suites", suites::run),
    ("scenarios", scenarios::run),
];

/// Steps that run at a time.
const AT_A_TIME: usize = 2;

/// The step of that name.
pub fn find(name: &str) -> Option<Step> {
    FIRST.iter().chain(SIDE_BY_SIDE).find(|(known, _)| *known == name).copied()
}

/// The names of all.
pub fn names() -> impl Iterator<Item = &'static str> {
    FIRST.iter().chain(SIDE_BY_SIDE).map(|(name, _)| *name)
}

/// Runs a step, and says so.
pub fn run((name, run): Step) -> Outcome {
    let start = Instant::now();
    println!("== {name}");
    run().map_err(|message| format!("{name}: {message}"))?;
    println!("== {name}: ok, {} s", start.elapsed().as_secs());
    Ok(())
}

/// All of them: the README's test command.
pub fn test() -> Outcome {
    // Two steps must not install the same at once.
    install::packages()?;
    install::python()?;
    for step in FIRST {
        run(*step)?;
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let names: Vec<&str> = SIDE_BY_SIDE.iter().map(|(name, _)| *name).collect();
    side_by_side::run("steps", &names, AT_A_TIME, |name| {
        let printed = output(&mut command(&program.display().to_string(), &[name]))?;
        Ok(format!("\n{printed}"))
    })?;
    println!("{} passed, 0 failed", FIRST.len() + SIDE_BY_SIDE.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_its_name() {
        let names: Vec<_> = names().collect();
        for (place, name) in names.iter().enumerate() {
            assert!(find(name).is_some() && !names[..place].contains(name), "{name}");
        }
        assert!(find("bench").is_none());
    }
}
