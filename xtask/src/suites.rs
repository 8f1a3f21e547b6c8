//! The suites of the lab at their smallest: answers and plans.
//!
//! `tests/suites/NAME.answers` has what MySQL 9.7 answers to the statements of a suite over its data at scale
//! 0.01 (`palisade-lab answers NAME --scale 0.01 --server mysql=...`); Palisade must answer the same.
//! `NAME.plans` has the shape of Palisade's own plans, so that a change of the optimizer shows which plans it
//! changes. `UPDATE_EXPECT=1` writes the plans anew, for reading the difference with git; the answers stay.

use palisade_lab::server::Server as Measured;
use palisade_lab::spec::Address;
use palisade_lab::suite::{self, Suite, golden, load};

use crate::process::{command, output, root, target};
use crate::server::Server;
use crate::{Outcome, install};

/// The scale of the data.
const SCALE: f64 = 0.01;

/// Statements of a suite that Palisade does not come to the end of, and why.
const ENDLESS: &[(&str, &str)] = &[
    // conditions that both branches of an OR have are not taken out of it: three tables are multiplied
    ("joins", "j37"),
];

/// Compares all suites.
pub fn run() -> Outcome {
    install::packages()?;
    let server = Server::start("suites", &[])?;
    let address = Address {
        user: "root".to_owned(),
        password: String::new(),
        host: "127.0.0.1".to_owned(),
        port: server.port,
    };
    let mut measured = Measured::at("palisade", address).map_err(|error| error.to_string())?;
    let mut failed = 0;
    for suite in suite::ALL {
        failed += compare(&mut measured, suite)?;
    }
    println!("suites: {} compared, {failed} files differ", suite::ALL.len());
    if failed == 0 { Ok(()) } else { Err(format!("{failed} files differ")) }
}

/// How many of the files of a suite differ.
fn compare(server: &mut Measured, suite: &Suite) -> Result<u32, String> {
    let said = |error: palisade_lab::Error| error.to_string();
    load::load(server, suite, SCALE).map_err(said)?;
    let endless = ENDLESS.iter().filter(|(name, _)| *name == suite.name).map(|(_, query)| *query);
    let endless: Vec<&str> = endless.collect();
    let answers = golden::answers(server, suite, SCALE, &endless).map_err(said)?;
    let plans = golden::plans(server, suite, SCALE).map_err(said)?;
    let mut failed = 0;
    for (kind, actual, is_ours) in [("answers", answers, false), ("plans", plans, true)] {
        let expected = root().join(format!("tests/suites/{}.{kind}", suite.name));
        let folder = target().join("server/suites");
        if is_ours && std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &actual).map_err(|error| error.to_string())?;
        }
        let recorded =
            std::fs::read_to_string(&expected).map_err(|error| format!("{}: {error}", expected.display()))?;
        let has = |name: &str| is_ours || !endless.contains(&name);
        let recorded: String =
            golden::sections(&recorded).filter(|(name, _)| has(name)).map(|(_, text)| text).collect();
        let write = |name: &str, text: &str| {
            let path = folder.join(format!("{}.{kind}.{name}", suite.name));
            std::fs::write(&path, text).map_err(|error| error.to_string())?;
            Ok::<String, String>(path.display().to_string())
        };
        let paths = [write("expected", &recorded)?, write("actual", &actual)?];
        if let Err(difference) = output(&mut command("diff", &["-U3", &paths[0], &paths[1]])) {
            println!("{difference}");
            failed += 1;
        }
    }
    Ok(failed)
}
