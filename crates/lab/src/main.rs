//! The program `palisade-lab`: list, run, report.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use palisade_lab::compare::Noise;
use palisade_lab::error::{Error, Result};
use palisade_lab::experiment::{self, Length, Scale};
use palisade_lab::results::{Outcome, Results};
use palisade_lab::runner::{self, Order};
use palisade_lab::server::Server;
use palisade_lab::spec::{Place, ServerSpec};
use palisade_lab::standing::Standing;
use palisade_lab::{report, say, suite, tell, tool};

/// Experiments that compare servers speaking MySQL's protocol, with reports that show their spread.
#[derive(Debug, Parser)]
#[command(name = "palisade-lab", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Names the experiments and what they ask
    List,
    /// Runs an experiment and writes results.json and report.html
    Run(Box<RunArguments>),
    /// Fills a schema with a suite's data, for experiments to find and leave there
    Load(LoadArguments),
    /// Prints what a server answers to a suite's statements, as the golden files have it
    Answers(LoadArguments),
    /// Makes the report of results anew, from the JSON alone
    Report {
        /// results.json
        results: PathBuf,
        /// Where the report goes; beside the results by default
        #[arg(long)]
        output: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
struct LoadArguments {
    /// tpch, joins or statements
    suite: String,
    /// NAME=USER[:PASSWORD]@HOST[:PORT]
    #[arg(long = "server", value_name = "NAME=WHERE", required = true)]
    servers: Vec<ServerSpec>,
    /// The scale of the data
    #[arg(long, value_parser = scale_factor)]
    scale: f64,
}

#[derive(Debug, Args)]
struct RunArguments {
    /// Its name; `palisade-lab list` has them
    experiment: String,
    /// NAME=spawn[:PROGRAM][,VARIABLE=VALUE...] or NAME=USER[:PASSWORD]@HOST[:PORT]; ratios are of the first
    /// one
    #[arg(long = "server", value_name = "NAME=WHERE", required = true)]
    servers: Vec<ServerSpec>,
    /// Shorter and smaller: shows that it works, measures nothing, and says how noisy it is
    #[arg(long)]
    quick: bool,
    /// How often everything runs
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: Option<u32>,
    /// Connections, separated by commas; each number is measured
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    clients: Option<Vec<u32>>,
    /// Length of a run of sysbench, or of a turn
    #[arg(long, value_parser = some_seconds)]
    seconds: Option<Duration>,
    /// Statements of each client of mysqlslap
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    statements: Option<u32>,
    /// Tables of sysbench
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    tables: Option<u32>,
    /// Rows of each table; of hot-rows the hot ones, of queue the jobs
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    rows: Option<u32>,
    /// The scale of a suite's data: 0.01 to 1 or more
    #[arg(long, value_parser = scale_factor)]
    scale: Option<f64>,
    /// How long a statement of a suite may take, in seconds
    #[arg(long, value_parser = some_seconds)]
    limit: Option<Duration>,
    /// Rest between runs, in seconds
    #[arg(long, value_parser = seconds)]
    pause: Option<Duration>,
    /// Confines the experiment to this level of a factor of it, as in --only load=slap-mixed
    #[arg(long, value_name = "FACTOR=LEVEL", value_parser = factor_and_level)]
    only: Vec<(String, String)>,
    /// The program that `spawn` starts; the one beside this program by default
    #[arg(long, value_name = "PROGRAM")]
    palisade_binary: Option<PathBuf>,
    /// Where servers that the lab starts have their data; the system's temporary folder by default
    #[arg(long, value_name = "FOLDER")]
    work_dir: Option<PathBuf>,
    /// Where results.json and report.html go; palisade-lab-EXPERIMENT-TIME by default
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

fn seconds(text: &str) -> std::result::Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("'{text}' is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

fn some_seconds(text: &str) -> std::result::Result<Duration, String> {
    seconds(text)
        .and_then(|length| if length.is_zero() { Err("it has no length".to_owned()) } else { Ok(length) })
}

fn scale_factor(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 100.0 => Ok(scale),
        _ => Err(format!("'{text}' is not a scale between 0 and 100")),
    }
}

fn factor_and_level(text: &str) -> std::result::Result<(String, String), String> {
    let (factor, level) = text.split_once('=').ok_or_else(|| format!("'{text}' is not FACTOR=LEVEL"))?;
    Ok((factor.to_owned(), level.to_owned()))
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::List => {
            list();
            Ok(true)
        }
        Command::Run(arguments) => run(*arguments),
        Command::Load(arguments) => load(&arguments).map(|()| true),
        Command::Answers(arguments) => answers(&arguments).map(|()| true),
        Command::Report { results, output } => again(&results, output).map(|()| true),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            tell!("palisade-lab: {error}");
            ExitCode::FAILURE
        }
    }
}

fn list() {
    for experiment in experiment::ALL {
        let description = experiment.description();
        let tools: Vec<&str> = experiment.tools().iter().map(|tool| tool.program).collect();
        let parameters = experiment.scale(false).parameters();
        let sizes: Vec<String> =
            parameters.iter().map(|(name, value)| format!("--{} {value}", option(name))).collect();
        say!("{}: {}", description.name, description.title);
        say!("    {}", description.question);
        let tools = if tools.is_empty() { "none".to_owned() } else { tools.join(", ") };
        say!("    tools: {tools}; sizes: {}\n", sizes.join(" "));
    }
}

/// The option that sets a parameter of that name.
fn option(parameter: &str) -> &str {
    parameter.strip_suffix("_s").unwrap_or(parameter)
}

/// Whether everything that its servers have could be measured.
fn run(arguments: RunArguments) -> Result<bool> {
    let experiment = experiment::find(&arguments.experiment)?;
    tool::catch_signals().map_err(|error| Error::Usage(format!("signals cannot be caught: {error}")))?;
    let scale = scale(experiment.scale(arguments.quick), &arguments)?;
    let name = experiment.description().name;
    let folder = arguments.output.clone().unwrap_or_else(|| {
        let time = jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
        PathBuf::from(format!("palisade-lab-{name}-{time}"))
    });
    // before hours of measuring, not after
    std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    let order = Order {
        servers: arguments.servers,
        quick: arguments.quick,
        scale,
        only: arguments.only,
        program: arguments.palisade_binary,
        work_dir: arguments.work_dir,
        output: folder.clone(),
        arguments: command_line(),
    };
    let results = runner::run(experiment, &order).inspect_err(|_| {
        // nothing was measured; a folder that holds something stays
        let _ = std::fs::remove_dir(&folder);
    })?;
    let json = folder.join("results.json");
    std::fs::write(&json, results.json()).map_err(|error| Error::file(&json, error))?;
    let html = folder.join("report.html");
    report::write(&results, &html)?;
    say!("{}\n{}", json.display(), html.display());
    for note in &results.notes {
        say!("note: {note}");
    }
    for choice in &results.choices {
        say!("{}", choice.line());
    }
    say_standing(&results);
    say!("{}", Noise::shown(results.noise));
    let failed = results.cells.iter().any(|cell| matches!(cell.outcome, Outcome::Failed(_)));
    Ok(!failed && tool::check_interrupted().is_ok())
}

/// Where the first server stands, as a table in Markdown and a sentence; nothing of an experiment that has no
/// sum.
fn say_standing(results: &Results) {
    if let Some(standing) = Standing::of(results) {
        say!("{}\n{}", standing.markdown(), standing.sentence());
    }
}

/// Fills a schema on each server, where it is not complete.
fn load(arguments: &LoadArguments) -> Result<()> {
    let suite = suite::find(&arguments.suite)?;
    tool::catch_signals().map_err(|error| Error::Usage(format!("signals cannot be caught: {error}")))?;
    for spec in &arguments.servers {
        let Place::At(address) = &spec.place else {
            return Err(Error::Usage(format!(
                "{} would go with its data: name a server that runs",
                spec.name
            )));
        };
        let mut server = Server::at(&spec.name, address.clone())?;
        let schema = suite.schema(arguments.scale);
        if suite::load::is_loaded(&mut server, suite, arguments.scale)? {
            say!("{}: {schema} is complete", spec.name);
        } else {
            suite::load::load(&mut server, suite, arguments.scale)?;
            say!("{}: {schema} is loaded", spec.name);
        }
    }
    Ok(())
}

/// Prints the answers of each server, whose schema is complete.
fn answers(arguments: &LoadArguments) -> Result<()> {
    let suite = suite::find(&arguments.suite)?;
    for spec in &arguments.servers {
        let Place::At(address) = &spec.place else {
            return Err(Error::Usage(format!("{} has no data: name a server that runs", spec.name)));
        };
        let mut server = Server::at(&spec.name, address.clone())?;
        let text = suite::golden::answers(&mut server, suite, arguments.scale)?;
        say!("{}", text.strip_suffix('\n').unwrap_or(&text));
    }
    Ok(())
}

/// The experiment's sizes with those of the command line; one that it does not have is refused.
fn scale(mut scale: Scale, arguments: &RunArguments) -> Result<Scale> {
    let sizes = [
        ("statements", &mut scale.statements, arguments.statements),
        ("tables", &mut scale.tables, arguments.tables),
        ("rows", &mut scale.rows, arguments.rows),
    ];
    let lacks = |name: &str| Err(Error::Usage(format!("{} has no --{name}", arguments.experiment)));
    for (name, size, wanted) in sizes {
        match (&size, wanted) {
            (None, Some(_)) => return lacks(name),
            (Some(_), Some(_)) => *size = wanted,
            (_, None) => {}
        }
    }
    if let Some(factor) = arguments.scale
        && scale.factor.replace(factor).is_none()
    {
        return lacks("scale");
    }
    if let Some(limit) = arguments.limit
        && scale.limit.replace(limit).is_none()
    {
        return lacks("limit");
    }
    match (scale.length, arguments.seconds) {
        (None, Some(_)) => return lacks("seconds"),
        (Some(Length::Turn(_)), Some(wanted)) => scale.length = Some(Length::Turn(wanted)),
        (Some(Length::Run(_)), Some(wanted)) => {
            let whole = u32::try_from(wanted.as_secs()).ok().filter(|_| wanted.subsec_nanos() == 0);
            let seconds = whole
                .ok_or_else(|| Error::Usage(format!("{} takes whole --seconds", arguments.experiment)))?;
            scale.length = Some(Length::Run(seconds));
        }
        (_, None) => {}
    }
    scale.repeats = arguments.repeats.unwrap_or(scale.repeats);
    scale.pause = arguments.pause.unwrap_or(scale.pause);
    if let Some(clients) = &arguments.clients {
        if let Some(twice) = (1..clients.len()).find(|place| clients[..*place].contains(&clients[*place])) {
            return Err(Error::Usage(format!("--clients has {} twice", clients[twice])));
        }
        scale.clients.clone_from(clients);
    }
    Ok(scale)
}

/// The command line, without the passwords of servers.
fn command_line() -> Vec<String> {
    let hidden = |argument: String| match argument.strip_prefix("--server=") {
        Some(text) => format!("--server={}", without_password(text)),
        None => without_password(&argument),
    };
    std::env::args().map(hidden).collect()
}

fn without_password(argument: &str) -> String {
    match argument.parse::<ServerSpec>() {
        Ok(ServerSpec { name, place: Place::At(address) }) if !address.password.is_empty() => {
            format!("{name}={address}")
        }
        _ => argument.to_owned(),
    }
}

fn again(results: &Path, output: Option<PathBuf>) -> Result<()> {
    let read = Results::read(results)?;
    let path = output.unwrap_or_else(|| results.with_file_name("report.html"));
    report::write(&read, &path)?;
    say!("{}", path.display());
    say_standing(&read);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> RunArguments {
        match Arguments::try_parse_from(line.split(' ')).expect("a command line").command {
            Command::Run(arguments) => *arguments,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_of_the_command_line_win_and_foreign_ones_are_refused() {
        let hot = experiment::find("hot-rows").expect("it is there");
        let given =
            arguments("lab run hot-rows --server a=spawn --clients 8,16 --seconds 3 --pause 0.5 --repeats 7");
        let scaled = scale(hot.scale(false), &given).expect("it has these");
        assert_eq!((scaled.clients, scaled.length, scaled.repeats), (vec![8, 16], Some(Length::Run(3)), 7));
        assert_eq!(scaled.pause, Duration::from_millis(500));
        let given = arguments("lab run hot-rows --server a=spawn --clients 8,16,8");
        let error = scale(hot.scale(false), &given).expect_err("one number is one level");
        assert_eq!(error.to_string(), "--clients has 8 twice");
        let given = arguments("lab run hot-rows --server a=spawn --statements 3");
        let error = scale(hot.scale(false), &given).expect_err("it has no statements");
        assert_eq!(error.to_string(), "hot-rows has no --statements");
        let given = arguments("lab run hot-rows --server a=spawn --seconds 0.5");
        let error = scale(hot.scale(false), &given).expect_err("sysbench would not take it");
        assert_eq!(error.to_string(), "hot-rows takes whole --seconds");
        let given = arguments("lab run log-writer-turns --server a=spawn --seconds 0.5");
        let turns = experiment::find("log-writer-turns").expect("it is there");
        let scaled = scale(turns.scale(false), &given).expect("a turn has any length");
        assert_eq!(scaled.length, Some(Length::Turn(Duration::from_millis(500))));
        let given = arguments("lab run log-writer-threads --server a=spawn --seconds 1");
        let slap = experiment::find("log-writer-threads").expect("it is there");
        let error = scale(slap.scale(false), &given).expect_err("it lasts as long as its statements");
        assert_eq!(error.to_string(), "log-writer-threads has no --seconds");
    }

    #[test]
    fn nonsense_is_refused_before_anything_runs() {
        for line in [
            "lab run hot-rows",
            "lab run hot-rows --server a",
            "lab run hot-rows --server a=spawn --clients 0",
            "lab run hot-rows --server a=spawn --repeats 0",
            "lab run hot-rows --server a=spawn --pause -1",
            "lab run hot-rows --server a=spawn --seconds 0",
            "lab run hot-rows --server a=spawn --only clients",
        ] {
            assert!(Arguments::try_parse_from(line.split(' ')).is_err(), "{line}");
        }
    }

    #[test]
    fn passwords_leave_the_command_line() {
        assert_eq!(without_password("mysql=root:pw@h:1"), "mysql=root@h:1");
        assert_eq!(without_password("palisade=spawn"), "palisade=spawn");
        assert_eq!(without_password("--quick"), "--quick");
    }
}
