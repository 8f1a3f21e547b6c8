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
    let answers = golden::answers(server, suite, SCALE).map_err(said)?;
    let plans = golden::plans(server, suite, SCALE).map_err(said)?;
    let mut failed = 0;
    for (kind, found, is_ours) in [("answers", answers, false), ("plans", plans, true)] {
        let expected = root().join(format!("tests/suites/{}.{kind}", suite.name));
        if is_ours && std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &found).map_err(|error| error.to_string())?;
        }
        let actual = target().join(format!("server/suites/{}.{kind}", suite.name));
        std::fs::write(&actual, &found).map_err(|error| error.to_string())?;
        let [expected, actual] = [&expected, &actual].map(|path| path.display().to_string());
        if let Err(difference) = output(&mut command("diff", &["-U3", &expected, &actual])) {
            println!("{difference}");
            failed += 1;
        }
    }
    Ok(failed)
}
