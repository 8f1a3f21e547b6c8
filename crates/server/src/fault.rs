//! Panics: which of them end a statement, and which the process.
//!
//! A panic is a mistake in this program. Where only a session's own state is in doubt - in functions,
//! expressions, binding, planning, the protocol - the statement ends with an error, the session's transaction
//! is rolled back, and the session goes on. Where pages, the log or locks may be in doubt the process aborts,
//! and the next start recovers. `on_panic` decides by the stack, which it reads before anything of it is
//! unwound:
//!
//! ```text
//!   panic ─ format ─ evaluate ─ ... ─ sql::query ─ ... ─ survive ─ ... ─ worker        the statement ends
//!   panic ─ compare ─ btree::Tree::find ─ engine::Transaction::get ─ ... ─ survive     the process: a frame of the storage engine
//!   panic ─ encode ─ log::writer::write ─ thread                                       the process: no `survive` at all
//! ```
//!
//! That costs nothing until there is a panic. It rests on the names of functions, which the release profile
//! keeps (`debug = "line-tables-only"`); of a program that was stripped no frame can be named, and every
//! panic aborts. Every doubt does: a frame without a name, and the parts of `sql` that change the dictionary
//! or the state of XA transactions, which span several steps.
//!
//! A mistake that was seen before it could panic is an error of its statement, 1815. `report` writes it to
//! the error log as well.

use std::any::Any;
use std::backtrace::Backtrace;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use palisade_base::MysqlError;
use palisade_parser::ParseOptions;
use parking_lot::Mutex;
use tracing::error;

/// The function that a panic may unwind to, as the stack names it; and tokio's, for what is done aside: files
/// of a statement, hashes of passwords.
const SURVIVABLE: [&str; 2] = ["palisade_server::fault::survive", "tokio::runtime::blocking::pool"];

/// What must not be unwound.
const FATAL: [&str; 8] = [
    "palisade_engine::",
    "palisade_txn::",
    "palisade_btree::",
    "palisade_buffer::",
    "palisade_log::",
    "palisade_io::",
    "palisade_sql::ddl::",
    "palisade_sql::xa::",
];

/// Work has ended by a panic, which has been reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Panicked;

/// Does some work; a panic of a session's own ends it and nothing else.
// Its name is looked for on the stack.
#[inline(never)]
pub fn survive<T>(work: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_: Box<dyn Any + Send>| Panicked)
}

/// The same for work that waits. What was in the middle of being changed stays as it was then: the caller
/// puts it in order.
///
/// The work stays where the caller has pinned it: a statement's future is thousands of bytes long, and passed
/// by value it is copied for every statement.
pub async fn survive_all<T>(mut work: Pin<&mut impl Future<Output = T>>) -> Result<T, Panicked> {
    poll_fn(|context| match survive(|| work.as_mut().poll(context)) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}

/// Internal errors of statements are written to the error log: so many in a minute at the most, since a
/// client may have the same one as often as it likes.
const MOST_REPORTS: u32 = 10;

/// How many reports there were in the minute that began then, and how many more there would have been.
#[derive(Debug)]
struct Reports {
    since: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl Reports {
    const NONE: Reports = Reports { since: None, written: 0, left_out: 0 };

    /// Whether one more may be written at `now`; if so, how many were left out before it.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        let is_over = |since: Instant| now.saturating_duration_since(since) >= Duration::from_secs(60);
        if self.since.is_none_or(is_over) {
            *self = Reports { since: Some(now), written: 0, left_out: self.left_out };
        }
        if self.written == MOST_REPORTS {
            self.left_out += 1;
            return None;
        }
        self.written += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

static REPORTS: Mutex<Reports> = Mutex::new(Reports::NONE);

/// A statement has ended with an internal error (1815): its message names the place in the source. With the
/// statement's digest, which holds none of its constants, it goes to the error log.
#[cold]
pub(crate) fn report(error: &MysqlError, connection: u64, text: &[u8], options: &ParseOptions) {
    let Some(left_out) = REPORTS.lock().admit(Instant::now()) else { return };
    let mut digest = Vec::new();
    palisade_parser::digest::digest_text(text, options, LONGEST_DIGEST, &mut digest);
    let (message, digest) = (&error.message, String::from_utf8_lossy(&digest));
    error!("error 1815 in a statement of connection {connection}: {message}; its digest is {digest}");
    if left_out > 0 {
        error!("{left_out} more such errors were not reported in the minute before");
    }
}

/// Bytes of a digest in a report, about.
const LONGEST_DIGEST: usize = 1024;

/// From now on a panic of this process is reported with its stack, and aborts it unless it is a session's
/// own.
pub fn install() {
    std::panic::set_hook(Box::new(on_panic));
}

fn on_panic(panic: &PanicHookInfo<'_>) {
    let stack = Backtrace::force_capture().to_string();
    let thread = std::thread::current();
    let thread = thread.name().unwrap_or("without a name");
    match verdict(&stack) {
        Ok(()) => error!("internal error in a session, thread {thread}: {panic}\n{stack}"),
        Err(reason) => {
            error!("internal error, thread {thread}: {panic}\n{stack}");
            error!("aborting, because {reason}; the next start recovers");
            std::process::abort();
        }
    }
}

/// Whether the frames of a stack, as [`Backtrace`] prints them from the innermost one, may be unwound; or why
/// not.
fn verdict(stack: &str) -> Result<(), String> {
    // A frame's line is `  12: name`; where it is in the source follows on a line of its own.
    let names = stack.lines().filter_map(|line| {
        let (number, name) = line.trim_start().split_once(": ")?;
        number.bytes().all(|byte| byte.is_ascii_digit()).then_some(name)
    });
    for name in names {
        if SURVIVABLE.iter().any(|survivable| name.contains(survivable)) {
            return Ok(());
        }
        if let Some(fatal) = FATAL.iter().find(|fatal| name.contains(*fatal)) {
            return Err(format!("{} was at work", fatal.trim_end_matches(':')));
        }
        if name.contains("<unknown>") {
            return Err("a frame of the stack has no name".to_owned());
        }
    }
    Err("it is no session's".to_owned())
}

/// Panics where a statement tells it to, or gives the error that it is to end with. Builds with debug
/// assertions have it, for tests that ask for it in the environment; others do not.
#[cfg(debug_assertions)]
pub(crate) fn fail_on_demand(text: &[u8]) -> Option<MysqlError> {
    let place = text.strip_prefix(b"/* fail in ")?.split(|byte| *byte == b' ').next()?;
    std::env::var_os("PALISADE_FAILURES")?;
    match place {
        b"session" => panic!("a failure on demand"),
        b"engine" => palisade_engine::fail_on_demand(),
        b"thread" => {
            let thread = std::thread::spawn(|| panic!("a failure on demand"));
            // the process does not come so far
            let _ = thread.join();
        }
        b"statement" => return Some(MysqlError::internal("a failure on demand")),
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_so_many_a_minute() {
        let (mut reports, start) = (Reports::NONE, Instant::now());
        let mut admit = |seconds| reports.admit(start + Duration::from_secs(seconds));
        assert!((0..MOST_REPORTS).all(|_| admit(0) == Some(0)));
        assert_eq!((admit(0), admit(59)), (None, None));
        assert_eq!((admit(60), admit(61)), (Some(2), Some(0)));
    }

    fn stack(names: &[&str]) -> String {
        let frame =
            |(number, name): (usize, &&str)| format!("{number:4}: {name}\n             at ./src/x.rs:7:9\n");
        names.iter().enumerate().map(frame).collect()
    }

    #[test]
    fn what_lies_between_a_panic_and_its_session_decides() {
        const PANIC: &str = "core::panicking::panic_fmt";
        const SURVIVE: &str = "palisade_server::fault::survive";
        let outer = ["palisade_server::task::Task::poll", "palisade_engine::Engine::open", "main"];
        let judged = |inner: &[&str]| verdict(&stack(&[&[PANIC], inner, &outer].concat()));
        assert_eq!(judged(&["palisade_expr::func::amount::format_bytes", SURVIVE]), Ok(()));
        assert_eq!(
            judged(&["palisade_catalog::number::parse", "palisade_exec::run::drive::{{closure}}", SURVIVE]),
            Ok(())
        );
        for fatal in [
            "<palisade_btree::tree::Tree as core::fmt::Debug>::fmt",
            "palisade_engine::transaction::Transaction::get",
            "core::ptr::drop_in_place<palisade_buffer::guard::ExclusivePage>",
            "palisade_sql::ddl::alter::run::{{closure}}",
        ] {
            assert!(judged(&[fatal, "palisade_sql::sql::Sql::query", SURVIVE]).is_err(), "{fatal}");
        }
        assert!(judged(&["<unknown>", SURVIVE]).is_err());
        assert!(judged(&[]).is_err(), "it is no session's");
        assert!(verdict("disabled backtrace").is_err());
        assert_eq!(judged(&["tokio::runtime::blocking::pool::Inner::run"]), Ok(()));
    }

    #[test]
    fn a_true_stack_names_the_place_to_survive_at() {
        let seen = survive(|| verdict(&Backtrace::force_capture().to_string()));
        assert_eq!(seen, Ok(Ok(())));
        assert!(verdict(&Backtrace::force_capture().to_string()).is_err());
    }
}
