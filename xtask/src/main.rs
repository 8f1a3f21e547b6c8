//! The project's own commands: `cargo xtask COMMAND`.
//!
//! | command | what it does |
//! |---|---|
//! | `test` | everything below in turn, `bench`, `answers`, `snapshot` and `soak` excepted; what the README names as the test command |
//! | `tidy` | the rules of the house that a program can check (see [`tidy`]) |
//! | `lint` | rustfmt, clippy and rustdoc with warnings denied, licences and bans of dependencies |
//! | `unit` | unit, model and golden tests of every crate |
//! | `loom` | the concurrent structures under loom: every interleaving of small schedules |
//! | `golden` | SQL scripts against a fresh server, compared with what MySQL answers |
//! | `scenarios` | isolation scenarios of several sessions, at every isolation level |
//! | `histories` | random histories at every isolation level, searched for anomalies |
//! | `clients` | the client matrix against a fresh server: command lines, sysbench, mysqlslap, four connectors |
//! | `crash` | kills a server under load again and again and checks it against a client-side ledger; then one that rolls back |
//! | `lab` | every experiment of `palisade-lab` in its short form, against a server that it starts |
//! | `bench` | the same load against several servers in turn; see [`mod@bench`] |
//! | `answers` | random statements, answered by this server and by MySQL; see [`answers`] |
//! | `snapshot` | what a snapshot that stays open costs the others; see [`snapshot`] |
//! | `soak` | the long forms: more kills, longer random tests; `--rounds N` |
//!
//! What a step needs and the machine lacks it installs first: Debian packages, and pinned language clients under
//! `target/`.

#![forbid(unsafe_code)]

mod answers;
mod bench;
mod client;
mod clients;
mod crash;
mod golden;
mod histories;
mod install;
mod lab;
mod lint;
mod process;
mod rollback;
mod scenarios;
mod server;
mod snapshot;
mod tidy;
mod unit;

use std::process::ExitCode;
use std::time::Instant;

type Outcome = Result<(), String>;
type Step = (&'static str, fn() -> Outcome);

const TEST: &[Step] = &[
    ("tidy", tidy::run),
    ("lint", lint::run),
    ("unit", unit::run),
    ("loom", unit::loom),
    ("golden", golden::run),
    ("scenarios", scenarios::run),
    ("histories", histories::run),
    ("clients", clients::run),
    ("crash", crash::run),
    ("lab", lab::run),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let rest: Vec<String> = arguments.collect();
    let outcome = match command.as_str() {
        "test" => steps(TEST),
        "soak" => soak(&rest),
        "answers" => answers::run(&rest),
        "bench" => bench::run(&rest),
        "snapshot" => snapshot::run(&rest),
        name => match TEST.iter().find(|(known, _)| *known == name) {
            Some(step) => steps(std::slice::from_ref(step)),
            None => Err(
                "usage: cargo xtask test | tidy | lint | unit | loom | golden | scenarios | histories | clients | crash | lab | bench ... | answers ... | snapshot ... | soak [--rounds N]"
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

fn steps(steps: &[Step]) -> Outcome {
    for (name, run) in steps {
        let start = Instant::now();
        println!("== {name}");
        run().map_err(|message| format!("{name}: {message}"))?;
        println!("== {name}: ok, {} s", start.elapsed().as_secs());
    }
    println!("{} passed, 0 failed", steps.len());
    Ok(())
}

fn soak(arguments: &[String]) -> Outcome {
    let rounds: u32 = match arguments {
        [] => 300,
        [flag, count] if flag == "--rounds" => count.parse().map_err(|_| format!("not a number: {count}"))?,
        _ => return Err("usage: cargo xtask soak [--rounds N]".into()),
    };
    unit::soak()?;
    histories::soak(rounds.div_ceil(30))?;
    crash::rounds(rounds)?;
    snapshot::soak()
}
