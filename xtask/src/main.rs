//! The project's own commands: `cargo xtask COMMAND`.
//!
//! | command | what it does |
//! |---|---|
//! | `test` | the README's test command: all below but `bench`, `calibrate`, `answers`, `sim`, `snapshot` and `soak` |
//! | `tidy` | the rules of the house that a program can check (see [`tidy`]) |
//! | `lint` | rustfmt, clippy and rustdoc with warnings denied, licences and bans of dependencies |
//! | `unit` | unit, model and golden tests of every crate |
//! | `loom` | the concurrent structures under loom: every interleaving of small schedules |
//! | `golden` | SQL scripts against a fresh server, compared with what MySQL answers |
//! | `suites` | TPC-H, 40 joins and other statements over small data: MySQL's answers, shapes of plans |
//! | `scenarios` | isolation scenarios of several sessions, at every isolation level |
//! | `histories` | random histories at every isolation level, searched for anomalies |
//! | `clients` | the client matrix against a fresh server: command lines, sysbench, four connectors |
//! | `crash` | kills a server under load again and again and checks it against a ledger; then one that rolls back |
//! | `rescue` | damaged data directories: started with force, dumped, restored in a new server |
//! | `dashboard` | the page of `--http-port` in headless Chromium |
//! | `lab` | every experiment of `palisade-lab` in its short form, against a server that it starts |
//! | `hostile` | mutated packets and statements: the server lives, answers others, and writes no report of a panic |
//! | `fuzz` | every decoder of foreign bytes, searched with coverage for a guide; see [`mod@fuzz`] |
//! | `bench` | the same load against several servers in turn; see [`mod@bench`] |
//! | `calibrate` | the planner's units of cost, measured on this machine; see [`mod@calibrate`] |
//! | `answers` | random statements, answered by this server and by MySQL; see [`answers`] |
//! | `sim` | one history of the crash simulator by its seed, `--seed N [--trace]`; see [`unit::sim`] |
//! | `snapshot` | what a snapshot that stays open costs the others; see [`snapshot`] |
//! | `soak` | the long forms: more kills, longer random tests; `--rounds N`, `--part NAME` for one of them, `--seed N` to begin with |
//!
//! What a step needs and the machine lacks it installs first: Debian packages, and pinned language clients under
//! `target/`.

#![forbid(unsafe_code)]

mod answers;
mod bench;
mod calibrate;
mod client;
mod clients;
mod crash;
mod dashboard;
mod fuzz;
mod golden;
mod histories;
mod hostile;
mod install;
mod lab;
mod lint;
mod miri;
mod process;
mod rescue;
mod rollback;
mod scenarios;
mod server;
mod side_by_side;
mod snapshot;
mod steps;
mod storm;
mod suites;
mod tidy;
mod tokens;
mod undo_room;
mod unit;

use std::process::ExitCode;

type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_str() {
        "test" => steps::test(),
        "soak" => soak(&rest),
        "answers" => answers::run(&rest),
        "bench" => bench::run(&rest),
        "calibrate" => calibrate::run(&rest),
        "fuzz" if !rest.is_empty() => fuzz::by_hand(&rest),
        "sim" => unit::sim(&rest),
        "snapshot" => snapshot::run(&rest),
        name => match steps::find(name) {
            Some(step) => steps::run(step),
            None => Err(
                "usage: cargo xtask test | tidy | lint | unit | loom | golden | suites | scenarios | histories | clients | crash | rescue | dashboard | lab | hostile | fuzz ... | bench ... | calibrate [--rounds N] | answers ... | sim ... | snapshot ... | soak [--part NAME] [--rounds N] [--seed N]"
                    .into(),
            ),
        },
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

const SOAK_USAGE: &str = "usage: cargo xtask soak [--part unit|search|histories|crash|snapshot|hostile|fuzz|miri|waits|storm] [--rounds N] [--seed N]";

fn soak(arguments: &[String]) -> Outcome {
    let (mut part, mut rounds, mut seed) = (None, 300, 1);
    for pair in arguments.chunks(2) {
        match pair {
            [flag, name] if flag == "--part" => part = Some(name.as_str()),
            [flag, count] if flag == "--rounds" => rounds = count.parse().map_err(|_| SOAK_USAGE)?,
            [flag, number] if flag == "--seed" => seed = number.parse().map_err(|_| SOAK_USAGE)?,
            _ => return Err(SOAK_USAGE.into()),
        }
    }
    match part {
        None => {
            for part in [
                "unit",
                "search",
                "histories",
                "crash",
                "snapshot",
                "hostile",
                "fuzz",
                "miri",
                "waits",
                "storm",
            ] {
                soak_part(part, rounds, seed)?;
            }
            Ok(())
        }
        Some(part) => soak_part(part, rounds, seed),
    }
}

fn soak_part(part: &str, rounds: u32, seed: u64) -> Outcome {
    match part {
        "unit" => unit::soak(rounds.div_ceil(15)),
        "search" => unit::search(rounds.div_ceil(3) * 5),
        "histories" => histories::soak(rounds.div_ceil(30)),
        "crash" => crash::rounds(rounds),
        "snapshot" => snapshot::soak(),
        "hostile" => hostile::rounds(seed, u64::from(rounds)),
        "fuzz" => fuzz::soak(rounds),
        "miri" => miri::run(seed),
        "waits" => unit::waits(),
        "storm" => storm::run(),
        _ => Err(SOAK_USAGE.into()),
    }
}
