//! The lab from end to end: every experiment's short form against a server that the lab starts.

use palisade_lab::experiment;
use palisade_lab::results::{Outcome, Results};

use crate::process::{self, cargo, command, output, target};
use crate::server::{self, Purpose};
use crate::{Outcome as Done, install};

/// Runs all experiments; each must measure something, and make its report again from the JSON alone.
pub fn run() -> Done {
    install::packages()?;
    let palisade = server::build(Purpose::Tests)?.display().to_string();
    process::run(&mut cargo(&["build", "--quiet", "--package", "palisade-lab"]))?;
    let lab = target().join("debug/palisade-lab").display().to_string();
    for experiment in experiment::ALL {
        let name = experiment.description().name;
        let folder = target().join("lab").join(&name);
        let shown = folder.display().to_string();
        let arguments =
            ["run", &name, "--quick", "--server", "palisade=spawn", "--palisade-binary", &palisade];
        // `cargo xtask suites` executes all statements of a suite
        let first = experiment.levels(&experiment.scale(true)).into_iter().next().unwrap_or_default();
        let only = first.iter().filter(|_| experiment.description().sums);
        let only = only.flat_map(|(factor, level)| ["--only".to_owned(), format!("{factor}={level}")]);
        output(command(&lab, &arguments).args(["--output", &shown]).args(only))?;
        let json = folder.join("results.json");
        check(&Results::read(&json).map_err(|error| error.to_string())?)?;
        let report = folder.join("report.html");
        let first = std::fs::read_to_string(&report).map_err(|error| error.to_string())?;
        output(&mut command(&lab, &["report", &json.display().to_string()]))?;
        if std::fs::read_to_string(&report).map_err(|error| error.to_string())? != first {
            return Err(format!("{name}: the report made from the JSON differs from the first one"));
        }
    }
    println!("experiments: {} passed", experiment::ALL.len());
    Ok(())
}

/// Something was measured in every repeat, nothing failed, and all of it went to its end.
fn check(results: &Results) -> Done {
    let name = &results.experiment.name;
    let primary = &results.experiment.measures[0].key;
    let failed = results.cells.iter().find(|cell| matches!(cell.outcome, Outcome::Failed(_)));
    if let Some(cell) = failed {
        return Err(format!("{name}: {:?}: {:?}", cell.levels, cell.outcome));
    }
    let wanted: u32 =
        results.parameters["repeats"].parse().map_err(|_| format!("{name}: repeats is no number"))?;
    let whole = results.cells.iter().filter(|cell| {
        let values = cell.sample(primary);
        values.len() == wanted as usize && values.iter().all(|value| *value > 0.0)
    });
    if whole.count() == 0 {
        return Err(format!("{name}: nothing was measured in all of {wanted} repeats"));
    }
    Ok(())
}
