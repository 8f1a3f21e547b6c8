//! One history by hand: `cargo xtask sim --seed N --trace`.
//!
//! Prints the plan, with `--trace` every event - what each session did in its turn, what came of it, and what
//! the disk was told to change -, and what the history came to. The same options are the same history, to the
//! byte. A history that goes wrong prints what was wrong, and the program fails.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use palisade_engine::{FlushAtCommit, PageSize};
use palisade_sim::history::{History, Mishap, Plan, TableKind};

const USAGE: &str = "\
usage: cargo xtask sim --seed N [--trace] [options]
  --mishap none|power-cut|resizing|failed-sync|failed-write   what happens to the disk (power-cut)
  --among N        it happens at a random one of the first N calls of its kind (150)
  --lives N        how often the data directory is opened (8)
  --turns N        turns of sessions in a life, at most (500)
  --commit durable|written|lazy                               when commits are acknowledged (durable)
  --table in-place|out-of-place|packed|one-flush              how pages reach the disk (in-place)
  --page-size BYTES                                           (16384)
  --xa             some transactions are XA's
  --much-undo      some transactions take so much undo that its room is given back afterwards";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (plan, traced) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(what) => {
            eprintln!("{what}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut out = std::io::stdout().lock();
    // A reader that has seen enough ends the trace, not the history.
    let mut print = |line: &str| drop(writeln!(out, "{line}"));
    print(&format!("{plan:?}"));
    let lived = if traced { History::run_traced(plan, &mut print) } else { History::run(plan) };
    match lived {
        Ok(tally) => {
            print(&format!("{tally:?}"));
            ExitCode::SUCCESS
        }
        Err(violation) => {
            print(&violation);
            ExitCode::FAILURE
        }
    }
}

/// The plan that the command line describes, and whether its events are to be printed.
fn parse(arguments: &[String]) -> Result<(Plan, bool), String> {
    let mut plan = Plan::new(0, FlushAtCommit::Durable, Mishap::None);
    let (mut seed, mut traced, mut mishap, mut among) = (None, false, "power-cut", 150);
    let mut rest = arguments.iter().map(String::as_str);
    while let Some(option) = rest.next() {
        match option {
            "--trace" => {
                traced = true;
                continue;
            }
            "--xa" => {
                plan.has_branches = true;
                continue;
            }
            "--much-undo" => {
                plan.has_much_undo = true;
                continue;
            }
            _ => {}
        }
        let value = rest.next().ok_or_else(|| format!("{option}: unknown, or its value is missing"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{option} {value}: not a number"));
        match option {
            "--seed" => seed = Some(number()?),
            "--among" => among = number()?.max(1),
            "--turns" => plan.turns = number()?.max(1),
            "--lives" => plan.lives = number()? as usize,
            "--mishap" => mishap = value,
            "--commit" => plan.flush_at_commit = commit(value)?,
            "--table" => plan.table = table(value)?,
            "--page-size" => {
                plan.page_size =
                    PageSize::of(number()?).ok_or_else(|| format!("no page has {value} bytes"))?;
            }
            _ => return Err(format!("{option}: unknown")),
        }
    }
    plan.seed = seed.ok_or("--seed is missing")?;
    plan.promised = plan.flush_at_commit;
    plan.mishap = match mishap {
        "none" => Mishap::None,
        "power-cut" => Mishap::PowerCut(among),
        "resizing" => Mishap::PowerCutWhileResizing(among),
        "failed-sync" => Mishap::FailedSync(among),
        "failed-write" => Mishap::FailedWrite(among),
        other => return Err(format!("--mishap {other}: unknown")),
    };
    Ok((plan, traced))
}

fn commit(name: &str) -> Result<FlushAtCommit, String> {
    match name {
        "durable" => Ok(FlushAtCommit::Durable),
        "written" => Ok(FlushAtCommit::Written),
        "lazy" => Ok(FlushAtCommit::Lazy),
        other => Err(format!("--commit {other}: unknown")),
    }
}

fn table(name: &str) -> Result<TableKind, String> {
    match name {
        "in-place" => Ok(TableKind::InPlace),
        "out-of-place" => Ok(TableKind::OutOfPlace),
        "packed" => Ok(TableKind::Packed),
        "one-flush" => Ok(TableKind::OneFlush),
        other => Err(format!("--table {other}: unknown")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<(Plan, bool), String> {
        parse(&line.split_whitespace().map(String::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_make_the_plan_that_they_say() {
        let (plan, traced) = parsed(
            "--seed 7 --trace --mishap failed-sync --among 60 --lives 3 --turns 9 --commit lazy --table packed \
             --page-size 4096 --xa --much-undo",
        )
        .unwrap();
        assert!(traced && plan.has_branches && plan.has_much_undo);
        assert_eq!((plan.seed, plan.lives, plan.turns), (7, 3, 9));
        assert_eq!((plan.mishap, plan.table), (Mishap::FailedSync(60), TableKind::Packed));
        assert_eq!((plan.flush_at_commit, plan.promised), (FlushAtCommit::Lazy, FlushAtCommit::Lazy));
        assert_eq!(plan.page_size.bytes(), 4096);
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for line in
            ["", "--seed", "--seed x", "--seed 1 --mishap flood", "--seed 1 --page-size 5", "--sed 1", "7"]
        {
            assert!(parsed(line).is_err(), "{line}");
        }
    }

    #[test]
    fn a_traced_history_is_the_same_history_and_tells_of_every_life() {
        let plan = Plan {
            lives: 3,
            turns: 100,
            has_branches: true,
            ..Plan::new(11, FlushAtCommit::Durable, Mishap::PowerCut(2000))
        };
        let mut lines = Vec::new();
        let traced = History::run_traced(plan, &mut |line| lines.push(line.to_owned()));
        assert_eq!(traced, History::run(plan));
        let count = |word: &str| lines.iter().filter(|line| line.contains(word)).count() as u64;
        assert_eq!((count("life 0 begins"), count("life 2 begins")), (1, 1));
        assert!(count(": commit") >= traced.unwrap().commits);
        assert!(count("disk: ") > 10 && count(": insert ") > 3, "{lines:#?}");
    }
}
