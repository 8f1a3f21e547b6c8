//! `palisade check`: the offline check of a data directory, as a command.
//!
//! What is checked is the engine's business ([`palisade_engine::check`]); here is how it is asked for, that
//! the accounts can be read, and how the answer looks: lines for people, one JSON document for programs
//! (docs/check.md), and an exit code for both.

mod json;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use palisade_base::clock::SystemClock;
use palisade_base::sysvar::{Setting, Settings};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::Engine;
use palisade_engine::check::{
    CheckConfig, DirectoryReport, Finding, Kind, Place, Progress, Severity, TableCheckOptions,
    check_directory,
};
use palisade_io::{FileSystem, OsFileSystem};
use palisade_sql::Sql;

use crate::accounts;
use crate::host::ServerHost;
use crate::options::{self, Action};
use crate::tls::Secrets;
use crate::variables::Placements;

/// Memory for pages that is used if `--memory` does not say otherwise.
const MEMORY: u64 = 512 << 20;
/// Reads under way at once.
const IO_THREADS: usize = 8;
/// Lines about one finding of each kind and table are printed until there are so many.
const MOST_LINES: usize = 200;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    datadir: PathBuf,
    schema: Option<String>,
    table: Option<String>,
    memory: u64,
    tables: TableCheckOptions,
    json: bool,
}

/// What comes of a check, and the exit code that says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// 0: nothing is wrong.
    Clean,
    /// 1: something is damaged.
    Damaged,
    /// 2: it could not be checked, or not all of it, and nothing was found wrong in the rest.
    NotChecked,
}

impl Outcome {
    /// The exit code.
    pub fn code(self) -> u8 {
        self as u8
    }

    fn name(self) -> &'static str {
        match self {
            Outcome::Clean => "clean",
            Outcome::Damaged => "damaged",
            Outcome::NotChecked => "not_checked",
        }
    }

    fn of(report: &DirectoryReport) -> Outcome {
        let is_wrong =
            |finding: &Finding| finding.severity > Severity::Note && finding.kind != Kind::NotChecked;
        match report.findings.iter().any(is_wrong) || report.start_error.is_some() {
            true => Outcome::Damaged,
            false if report.is_partial => Outcome::NotChecked,
            false => Outcome::Clean,
        }
    }
}

/// The text of `palisade check --help`.
pub const HELP: &str = "\
palisade check: checks a data directory that no server is using, and changes nothing in it

Usage: palisade check --datadir=DIR [OPTION ...]

  --datadir=DIR      the data directory; or --defaults-file=FILE, which names it
  --schema=NAME      only tables of this schema
  --table=NAME       only tables of this name
  --deep             looks every row up by every index, and every entry of an index in the table
  --quick            counts the rows by every index and reads every page, but does not walk the trees
  --memory=SIZE      memory for pages, K, M and G; half of it is for what recovery would change. Default: 512M
  --json             one JSON document on standard output instead of lines (docs/check.md)

Exit code: 0 nothing is wrong, 1 something is damaged, 2 it could not be checked, or not all of it.
";

/// Reads the arguments behind `check`; `None` asks for [`HELP`].
pub fn parse(arguments: &[String]) -> Result<Option<Request>, String> {
    let (mut rest, mut request) = (Vec::new(), Request::default());
    let mut arguments = arguments.iter().map(String::as_str).peekable();
    while let Some(argument) = arguments.next() {
        let (name, mut value) = match argument.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (argument, None),
        };
        let takes_value = matches!(name, "--schema" | "--table" | "--memory");
        if takes_value && value.is_none() {
            value = Some(arguments.next().ok_or_else(|| format!("option '{name}' requires a value"))?);
        }
        match (name, value) {
            ("--help" | "-?", None) => return Ok(None),
            ("--schema", Some(name)) => request.schema = Some(name.to_owned()),
            ("--table", Some(name)) => request.table = Some(name.to_owned()),
            ("--memory", Some(size)) => request.memory = parse_size(size)?,
            ("--json", None) => request.json = true,
            ("--deep", None) => request.tables.deep = true,
            ("--quick", None) => request.tables.quick = true,
            _ => rest.push(argument.to_owned()),
        }
    }
    let is_known = |argument: &String| {
        ["--datadir", "--defaults-file", "--defaults-extra-file", "--no-defaults", "-h"]
            .iter()
            .any(|known| argument.starts_with(known))
    };
    if let Some(unknown) = rest.iter().find(|argument| argument.starts_with('-') && !is_known(argument)) {
        return Err(format!("unknown option '{unknown}'; palisade check --help lists them"));
    }
    let Action::Run(options) = options::parse(&rest)? else { return Ok(None) };
    if !options.given.iter().any(|(id, _)| *id == sysvar::DATADIR) {
        return Err("option '--datadir' is missing".to_owned());
    }
    request.datadir = PathBuf::from(options.settings.text(sysvar::DATADIR).unwrap_or("data"));
    Ok(Some(request))
}

fn parse_size(text: &str) -> Result<u64, String> {
    match sysvar::INNODB_BUFFER_POOL_SIZE.declaration().from_option(text)?.setting {
        Setting::UInt(bytes) => Ok(bytes),
        _ => Err(format!("'{text}' is no size")),
    }
}

impl Default for Request {
    fn default() -> Self {
        Request {
            datadir: PathBuf::new(),
            schema: None,
            table: None,
            memory: MEMORY,
            tables: TableCheckOptions::default(),
            json: false,
        }
    }
}

/// Runs `palisade check` with the arguments behind `check`, and says what comes of it on standard output.
pub fn run(arguments: &[String]) -> Outcome {
    let request = match parse(arguments) {
        Ok(Some(request)) => request,
        Ok(None) => {
            let _ = std::io::stdout().write_all(HELP.as_bytes());
            return Outcome::Clean;
        }
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "palisade check: {problem}");
            return Outcome::NotChecked;
        }
    };
    let terminal = std::io::stderr().is_terminal().then(std::io::stderr);
    let (text, outcome) = check(&request, Arc::new(OsFileSystem::new()), &mut Shown::on(terminal));
    // Who does not read the answer gets the exit code all the same.
    let _ = std::io::stdout().write_all(text.as_bytes());
    outcome
}

/// Checks what `request` asks for. Gives what is to be printed, too.
fn check(request: &Request, fs: Arc<dyn FileSystem>, shown: &mut Shown) -> (String, Outcome) {
    let config = CheckConfig {
        datadir: request.datadir.clone(),
        memory: request.memory,
        io_threads: IO_THREADS,
        schema: request.schema.clone(),
        table: request.table.clone(),
        options: request.tables.clone(),
        clock: Arc::new(SystemClock::default()),
    };
    let checked = check_directory(config, fs, &mut |progress| shown.goes_on(&progress));
    shown.end();
    match checked {
        Ok(mut checked) => {
            if let Some(engine) = checked.engine.take() {
                check_accounts(request, engine, &mut checked.report);
            }
            let outcome = Outcome::of(&checked.report);
            let text = match request.json {
                true => json::document(request, Ok(&checked.report), outcome),
                false => lines(request, &checked.report, outcome),
            };
            (text, outcome)
        }
        Err(error) => {
            let (problem, outcome) = (error.to_string(), Outcome::NotChecked);
            let text = match request.json {
                true => json::document(request, Err(&problem), outcome),
                false => format!("could not check: {problem}\n"),
            };
            (text, outcome)
        }
    }
}

/// Reads the accounts as a start would. Damage of their tables has been found before.
fn check_accounts(request: &Request, engine: Arc<Engine>, report: &mut DirectoryReport) {
    let is_wanted = request.table.is_none() && request.schema.as_deref().is_none_or(|name| name == "mysql");
    let is_damaged = report.findings.iter().any(|finding| {
        finding.severity == Severity::Damage && finding.place.schema.as_deref() == Some("mysql")
    });
    let has_accounts = engine.dictionary().table("mysql", "user").is_ok();
    if !is_wanted || is_damaged || !has_accounts {
        return;
    }
    let place =
        Place { schema: Some("mysql".to_owned()), table: Some("user".to_owned()), ..Place::default() };
    let finding = |what: String| Finding {
        severity: Severity::Warning,
        kind: Kind::Accounts,
        place: place.clone(),
        what,
        lost: "",
        advice: "the account is locked; ALTER USER ... IDENTIFIED BY, with --skip-grant-tables if need be",
    };
    match read_accounts(engine) {
        Ok(problems) => problems.into_iter().for_each(|what| report.found(finding(what))),
        Err(problem) => report.found(finding(format!("the accounts cannot be read: {problem}"))),
    }
}

fn read_accounts(engine: Arc<Engine>) -> Result<Vec<String>, String> {
    let mut settings = Settings::default();
    // Without TLS no certificate is looked for, or made.
    settings.set(sysvar::TLS_VERSION, Setting::Text("".into()));
    let placements = Placements::new(&settings).map_err(|error| error.message)?;
    let secrets = Secrets::open(&settings)?;
    let host = Arc::new(ServerHost::new(engine.clone(), settings, placements, secrets, 1));
    let sql = Sql::new(engine, host.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start an event loop: {error}"))?;
    runtime.block_on(accounts::check(&sql)).map_err(|error| error.message)
}

/// How far it is, on a terminal.
struct Shown {
    terminal: Option<std::io::Stderr>,
    what: String,
    pages: u64,
    told: Instant,
}

impl Shown {
    fn on(terminal: Option<std::io::Stderr>) -> Shown {
        Shown { terminal, what: String::new(), pages: 0, told: Instant::now() }
    }

    fn goes_on(&mut self, progress: &Progress<'_>) -> bool {
        let Some(terminal) = &mut self.terminal else { return true };
        if self.what != progress.what {
            self.what = progress.what.to_owned();
            self.pages = 0;
        }
        self.pages += progress.pages;
        if self.told.elapsed() > Duration::from_millis(100) {
            self.told = Instant::now();
            let _ = write!(terminal, "\r\x1b[K{}: {} pages", self.what, self.pages);
        }
        true
    }

    /// Clears the line.
    fn end(&mut self) {
        if let Some(terminal) = &mut self.terminal {
            let _ = write!(terminal, "\r\x1b[K");
        }
    }
}

/// The report for people.
fn lines(request: &Request, report: &DirectoryReport, outcome: Outcome) -> String {
    let mut text = format!("{}\n", request.datadir.display());
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    let log = &report.log;
    let end = match (log.is_damaged, log.is_torn) {
        (true, _) => "damaged",
        (_, true) => "ends in an unfinished write",
        _ => "whole",
    };
    line(format!(
        "redo log: {end}, from LSN {} to {}, {} pages to redo",
        log.checkpoint_lsn, log.end_lsn, log.pages_to_redo
    ));
    if let Some(undo) = &report.undo {
        line(format!(
            "undo: {} segments, {} records, {} transactions to roll back, {} prepared",
            undo.segments, undo.records, undo.active, undo.prepared
        ));
    }
    let pages: u64 = report.files.iter().map(|file| file.pages).sum();
    let rows: u64 = report.tables.iter().map(|table| table.check.rows).sum();
    line(format!(
        "read: {} files, {pages} pages; {} tables, {rows} rows",
        report.files.len(),
        report.tables.len()
    ));
    for finding in report.findings.iter().take(MOST_LINES) {
        line(format!("\n{} {}: {finding}", finding.severity.name().to_uppercase(), finding.kind.name()));
        if !finding.lost.is_empty() {
            line(format!("    lost: {}", finding.lost));
        }
        if !finding.advice.is_empty() {
            line(format!("    do:   {}", finding.advice));
        }
    }
    let unnamed = report.findings.len().saturating_sub(MOST_LINES) as u64 + report.more_findings;
    if unnamed > 0 {
        line(format!("\n... and {unnamed} more; --json has the first {}", report.findings.len()));
    }
    if let Some(error) = &report.start_error {
        line(format!("\nthe server does not start without force: {error}"));
    }
    line(format!(
        "\n{}",
        match outcome {
            Outcome::Clean => "clean",
            Outcome::Damaged => "damaged: docs/recovery.md says how to get at what can be read",
            Outcome::NotChecked => "not all of it could be checked",
        }
    ));
    text
}

#[cfg(test)]
mod tests;
