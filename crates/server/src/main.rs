//! The program `palisade`: options in, a server out.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use palisade_base::Event;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_io::heap::{Counted, Mimalloc};
use palisade_server::check;
use palisade_server::error_log;
use palisade_server::fault;
use palisade_server::options::{self, Action, Options};
use palisade_server::server;
use tokio::signal::unix::{SignalKind, signal};
use tracing::{error, info, warn};

/// Measured: a fifth less CPU in user space per query than with the system's
/// (docs/decisions/032-allocator.md). It counts what each session's task holds
/// (docs/decisions/077-memory-of-statements.md).
#[global_allocator]
static ALLOCATOR: Counted<Mimalloc> = Counted(Mimalloc);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(("check", rest)) = arguments.split_first().map(|(first, rest)| (first.as_str(), rest)) {
        return ExitCode::from(check::run(rest).code());
    }
    match options::parse(&arguments) {
        Ok(Action::Run(options)) => run(*options),
        Ok(Action::Help) => {
            say(&options::help());
            ExitCode::SUCCESS
        }
        Ok(Action::Version) => {
            let version = sysvar::VERSION.declaration();
            say(&format!("palisade  Ver {}\n", version.shown(&version.default_setting())));
            ExitCode::SUCCESS
        }
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "palisade: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Writes to standard output. Where it is read no longer (`palisade --help | head`) there is nothing more to
/// say, and nothing wrong.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

fn run(options: Options) -> ExitCode {
    if let Err(problem) = error_log::install(&options.settings) {
        let _ = writeln!(std::io::stderr(), "palisade: {problem}");
        return ExitCode::FAILURE;
    }
    fault::install();
    for warning in &options.warnings {
        warn!("{warning}");
    }
    let shutdown = Event::new();
    if let Err(problem) = listen_for_signals(shutdown.clone()) {
        error!("cannot listen for signals: {problem}");
        return ExitCode::FAILURE;
    }
    let ready = |listeners: &server::Listeners| info!("ready for connections: {}", listeners.describe());
    match server::run(options, shutdown, ready) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            error!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// A second signal this soon comes from the same cause: some tools signal the process and then its group.
const SAME_CAUSE: Duration = Duration::from_secs(1);

/// The first SIGTERM or SIGINT shuts the server down, another one later ends the process at once. SIGHUP has
/// the error log opened anew; what else it asks for is done by a server that has started.
fn listen_for_signals(shutdown: Event) -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut terminate, mut interrupt, mut hangup) = {
        let _in_runtime = runtime.enter();
        let [terminate, interrupt, hangup] =
            [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(signal);
        (terminate?, interrupt?, hangup?)
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            let mut first: Option<Instant> = None;
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                    _ = hangup.recv() => {
                        if let Err(problem) = error_log::reopen() {
                            error!("{problem}");
                        }
                        continue;
                    }
                }
                if first.is_some_and(|first| first.elapsed() > SAME_CAUSE) {
                    error!("a second signal: ending at once; the next start recovers");
                    std::process::exit(1);
                }
                first.get_or_insert_with(Instant::now);
                shutdown.complete();
            }
        });
    })?;
    Ok(())
}
