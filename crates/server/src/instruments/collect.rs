//! A session tells of a statement that has ended.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use palisade_base::MysqlError;
use palisade_expr::warning::{Level, Warnings};
use palisade_observe::class::{self, Class};
use palisade_observe::digests::{Digest, Memo, RowId};
use palisade_observe::prepared::Slot;
use palisade_observe::session::{Ended, Event, Failure, Keep, KeepTransactions, SessionEvents};
use palisade_observe::sums::{Done, Number};
use palisade_observe::transaction::Trace;
use palisade_parser::ParseOptions;
use palisade_parser::digest::{digest_text, digest_text_while};
use palisade_session::command::{self, Command};
use palisade_session::work::Work;
use palisade_sql::{Completion, Prepared, Session, SqlResult};
use sha2::{Digest as _, Sha256};

use super::setup::{Consumers, Instrument};
use super::{Instruments, nanos_of, stages};
use crate::connections::Connection;
use crate::query_logs;
use crate::session::Conversation;
use crate::task;

/// What a client has asked for, which has been done.
pub(crate) struct Observed<'a> {
    /// The class of a command; of a statement that was sent as text what it was executed as.
    pub(crate) class: Option<Class>,
    /// Its text; empty if it has none.
    pub(crate) text: &'a [u8],
    /// How long it took.
    pub(crate) took: Duration,
    /// Rows sent to the client.
    pub(crate) rows_sent: u64,
    /// What came of it.
    pub(crate) outcome: Result<Option<&'a Completion>, &'a MysqlError>,
    /// What was executed, if it was prepared before.
    pub(crate) prepared: Option<&'a Prepared>,
    /// The prepared statement that it executed, and what that's plan relies on; 0 if it is not followed.
    pub(crate) followed: (Slot, u64),
}

/// The outcome of a statement, for [`Observed`].
pub(crate) fn outcome<T>(
    done: &SqlResult<T>,
    completion: impl FnOnce(&T) -> &Completion,
) -> Result<Option<&Completion>, &MysqlError> {
    done.as_ref().map(|done| Some(completion(done)))
}

/// The classes of statements, in the order of [`Command`].
static BY_COMMAND: LazyLock<Vec<Class>> = LazyLock::new(|| {
    let class = |metric: &palisade_base::metric::Metric| {
        let name = metric.name.strip_prefix("Com_").unwrap_or(metric.name);
        class::find(&format!("statement/sql/{name}")).unwrap_or(*FAILED)
    };
    command::METRICS.iter().map(class).collect()
});

/// The class of a text that is no statement.
static FAILED: LazyLock<Class> = LazyLock::new(|| class::find("statement/sql/error").unwrap_or_default());

/// The class of a command of the protocol.
pub(crate) fn of_command(name: &str) -> Class {
    class::find(&format!("statement/com/{name}")).unwrap_or_default()
}

/// The class of COM_STMT_EXECUTE.
pub(crate) static EXECUTE: LazyLock<Class> = LazyLock::new(|| of_command("Execute"));

fn class_of(command: Option<Command>) -> Class {
    match command {
        None => *FAILED,
        Some(command) => BY_COMMAND.get(command as usize).copied().unwrap_or_default(),
    }
}

/// Statements with passwords in their texts, or with statements of their own.
#[inline]
pub(super) fn may_have_secrets(command: Option<Command>, text: &[u8]) -> bool {
    const WORDS: [&[u8]; 2] = [b"IDENTIFIED", b"PASSWORD"];
    match command {
        Some(command) => matches!(
            command,
            Command::CreateUser
                | Command::AlterUser
                | Command::SetPassword
                | Command::Grant
                | Command::CreateServer
                | Command::AlterServer
                | Command::ChangeReplicationSource
                | Command::ReplicaStart
                | Command::GroupReplicationStart
                | Command::Clone
                | Command::PrepareSql
        ),
        // It was not executed: it may be anything.
        None => WORDS.iter().any(|word| text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))),
    }
}

/// What tells digests apart.
fn hash(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// What a digest begins with of a statement that is prepared, executed or closed by a command.
fn prefix(class: Option<Class>) -> &'static [u8] {
    match class.map(class::name) {
        Some("statement/com/Prepare") => b"PREPARE ",
        Some("statement/com/Execute") => b"EXECUTE ",
        Some("statement/com/Close stmt") => b"DEALLOCATE ",
        _ => b"",
    }
}

fn failure_of(error: &MysqlError) -> Failure {
    Failure {
        number: error.number(),
        sql_state: error.sql_state().to_owned(),
        message: error.message.clone(),
    }
}

/// A statement's text without what ends it.
#[inline]
fn own_text(text: &[u8]) -> &[u8] {
    if let [first, .., last] = text
        && first.is_ascii_graphic()
        && last.is_ascii_graphic()
        && *last != b';'
    {
        return text;
    }
    let end = text.iter().rposition(|byte| !byte.is_ascii_whitespace() && !matches!(byte, b';' | 0));
    text.get(..end.map_or(0, |end| end + 1)).unwrap_or(text).trim_ascii_start()
}

/// Counts what a statement did. The session's next statement is counted from here.
#[inline]
fn count(done: &mut Done, session: &mut Session, observed: &Observed<'_>) {
    let (examined, lock_micros) = session.work.mark(|work, amount| {
        let number = match work {
            Work::CreatedTmpDiskTables => Number::CreatedTmpDiskTables,
            Work::SelectFullJoin => Number::SelectFullJoin,
            Work::SelectFullRangeJoin => Number::SelectFullRangeJoin,
            Work::SelectRange => Number::SelectRange,
            Work::SelectScan => Number::SelectScan,
            Work::SortMergePasses => Number::SortMergePasses,
            Work::SortRows => Number::SortRows,
            Work::SortScan => Number::SortScan,
            _ => return,
        };
        done.set(number, amount);
        if matches!(work, Work::SelectFullJoin | Work::SelectScan) {
            done.set(Number::NoIndexUsed, 1);
        }
    });
    done.set(Number::RowsExamined, examined);
    done.set(Number::LockTime, lock_micros * 1000);
    done.set(Number::RowsSent, observed.rows_sent);
    match observed.outcome {
        Err(_) => done.set(Number::Errors, 1),
        Ok(None) => {}
        Ok(Some(completion)) => {
            if !completion.rows {
                done.set(Number::RowsAffected, completion.affected_rows);
            }
            if !completion.diagnostic {
                done.set(Number::Warnings, u64::from(session.state.warnings.count()));
            }
        }
    }
}

/// What is looked at of a statement's text in one go.
const LONG_TEXT: usize = 1 << 16;

/// As much of a text as is looked through for secrets: all that is kept of it, whatever its length.
pub(super) fn head<'a>(instruments: &Instruments, text: &'a [u8]) -> &'a [u8] {
    text.get(..instruments.keep.text.max(LONG_TEXT)).unwrap_or(text)
}

/// The statement that a connection executes, as far as others know of it: its class and digest are made of
/// its text, which is read with the server's usual settings. Of a long one they are not known before it ends.
pub fn running_event(instruments: &Instruments, connection: &Connection) -> Option<Event> {
    let began_ns = connection.statement_began_ns()?;
    let is_kept = instruments.setup.consumers().has(Consumers::CURRENT) && connection.is_instrumented();
    if !is_kept {
        return None;
    }
    let activity = connection.activity(instruments.keep.text.max(LONG_TEXT) + 1);
    let is_long = activity.text.len() > LONG_TEXT;
    let options = ParseOptions { placeholders: true, ..ParseOptions::default() };
    let parsed =
        (!is_long).then(|| palisade_parser::parse_one(&activity.text, options, &mut || true).ok()).flatten();
    let statement = parsed.and_then(|parsed| parsed.statement);
    let command = statement.as_ref().map(Command::of);
    let class = match command {
        _ if activity.command != "Query" => of_command(activity.command),
        Some(_) => class_of(command),
        None => class::find("statement/abstract/Query").unwrap_or_default(),
    };
    let text = own_text(&activity.text);
    let digest = command.filter(|_| instruments.setup.consumers().has(Consumers::DIGEST)).map(|_| {
        let mut digested = Vec::new();
        digest_text(text, &options, instruments.digest_length, &mut digested);
        Digest::new(activity.database.as_deref(), &digested, hash)
    });
    let text = match may_have_secrets(command, text) {
        true => query_logs::harmless(text, options),
        false => text.to_vec(),
    };
    let now_ns = instruments.ns_of(Instant::now());
    let (last_id, within) = {
        let events = connection.events.lock();
        (events.last_id(), events.open_transaction().map(|open| open.id))
    };
    Some(Event {
        id: last_id + 1,
        within,
        class,
        done: Done::new(now_ns.saturating_sub(began_ns), now_ns),
        text: text.get(..instruments.keep.text).map_or(text.clone(), <[u8]>::to_vec),
        digest,
        schema: activity.database.map(Into::into),
        ..Event::default()
    })
}

/// Texts without a plan that are executed again and again: `COMMIT`. A session remembers the rows of some.
#[derive(Default)]
pub(crate) struct FrequentTexts {
    texts: Vec<(Box<[u8]>, Memo)>,
    /// Which one the next new text replaces.
    next: usize,
}

impl FrequentTexts {
    /// How many are remembered.
    const MOST: usize = 4;
    /// Bytes of the longest.
    const LONGEST: usize = 32;

    /// What is remembered of a text, if it is one of these.
    fn find(&mut self, command: Option<Command>, text: &[u8]) -> Option<&Memo> {
        // The digest of any other text may depend on the session's settings.
        let is_one = matches!(command, Some(Command::Begin | Command::Commit | Command::Rollback));
        if !is_one || text.len() > Self::LONGEST {
            return None;
        }
        let place = match self.texts.iter().position(|(known, _)| **known == *text) {
            Some(place) => place,
            None => self.replace(text),
        };
        self.texts.get(place).map(|(_, memo)| memo)
    }

    #[cold]
    fn replace(&mut self, text: &[u8]) -> usize {
        let (place, new) = (self.next, (text.into(), Memo::default()));
        match self.texts.get_mut(place) {
            Some(old) => *old = new,
            None => self.texts.push(new),
        }
        self.next = (place + 1) % Self::MOST;
        place
    }
}

/// A statement that is told of.
struct Told<'a> {
    instruments: &'a Instruments,
    connection: &'a Connection,
    consumers: Consumers,
    trace: &'a mut Trace,
    row: Option<RowId>,
    ended: Ended<'a>,
}

impl Told<'_> {
    #[inline]
    fn tell(self) {
        let Told { instruments, connection, consumers, trace, row, ended } = self;
        instruments.digests.add(row, ended.done, ended.text, || instruments.sample_rule());
        let has_history = connection.has_history();
        let kept_of = |consumer, length| if has_history && consumers.has(consumer) { length } else { 0 };
        let keep = Keep {
            current: consumers.has(Consumers::CURRENT),
            history: kept_of(Consumers::HISTORY, instruments.keep.history),
            text: instruments.keep.text,
            transactions: keep_transactions(instruments, connection, consumers),
            current_stage: consumers.has(Consumers::STAGE_CURRENT),
            stage_history: kept_of(Consumers::STAGE_HISTORY, instruments.keep.stage_history),
        };
        let mut events = connection.events.lock();
        let before = events.last_id();
        events.add(&ended, trace, &keep);
        if consumers.has(Consumers::LONG)
            && let Some(event) = events.last().cloned()
        {
            instruments.long.keep(connection.id, event);
        }
        if consumers.has(Consumers::TRANSACTION_LONG) {
            keep_long_transactions(instruments, connection.id, &events, before);
        }
        if !ended.stages.is_empty() && consumers.has(Consumers::STAGE_LONG) {
            let last = events.last_stages().filter(|event| event.id > before);
            last.for_each(|event| instruments.long_stages.keep(connection.id, *event));
        }
    }
}

/// How much is kept of a connection's transactions.
fn keep_transactions(
    instruments: &Instruments,
    connection: &Connection,
    consumers: Consumers,
) -> KeepTransactions {
    let has_history = consumers.has(Consumers::TRANSACTION_HISTORY) && connection.has_history();
    KeepTransactions {
        current: consumers.has(Consumers::TRANSACTION_CURRENT),
        history: if has_history { instruments.keep.transactions.history } else { 0 },
        is_timed: instruments.setup.collects(Instrument::Transaction).1,
    }
}

/// Keeps the transactions that have ended after the event `before` among those of all sessions.
fn keep_long_transactions(
    instruments: &Instruments,
    connection_id: u64,
    events: &SessionEvents,
    before: u64,
) {
    let ended = events.last_transactions().filter(|event| event.end_id > before);
    ended.for_each(|event| instruments.long_transactions.keep(connection_id, event.clone()));
}

/// Counts the error and the warnings of a statement that has ended.
#[inline]
fn count_errors(
    instruments: &Instruments,
    connection: &Connection,
    session: &Session,
    (observed, ended_ns): (&Observed<'_>, u64),
) {
    let is_diagnostic = matches!(observed.outcome, Ok(Some(completion)) if completion.diagnostic);
    let warnings = &session.state.warnings;
    if observed.outcome.is_err() || warnings.count() > 0 && !is_diagnostic {
        add_errors(instruments, connection, (observed.outcome.err(), warnings), ended_ns);
    }
}

#[cold]
fn add_errors(
    instruments: &Instruments,
    connection: &Connection,
    (error, warnings): (Option<&MysqlError>, &Warnings),
    ended_ns: u64,
) {
    if !instruments.setup.collects(Instrument::Error).0 || !connection.is_instrumented() {
        return;
    }
    let mut events = connection.events.lock();
    let is_listed = |error: &MysqlError| {
        warnings.list().iter().any(|listed| listed.level == Level::Error && listed.code == error.number())
    };
    match error.filter(|error| !is_listed(error)) {
        // What is listed is of the statement before.
        Some(error) => events.add_error(error.number(), ended_ns),
        None => warnings.list().iter().for_each(|listed| events.add_error(listed.code, ended_ns)),
    }
}

/// Tells of the transactions of a statement that is not told of itself, or of none.
fn tell_transactions(
    instruments: &Instruments,
    connection: &Connection,
    trace: &mut Trace,
    (began_ns, ended_ns): (u64, u64),
) {
    let consumers = instruments.setup.consumers();
    let mut events = connection.events.lock();
    let before = events.last_id();
    let keep = keep_transactions(instruments, connection, consumers);
    events.add_transactions(None, (began_ns, ended_ns), trace, keep);
    if consumers.has(Consumers::TRANSACTION_LONG) {
        keep_long_transactions(instruments, connection.id, &events, before);
    }
}

impl Conversation {
    /// The session has ended, and rolled back what was open.
    pub(crate) fn observe_end(&mut self) {
        let Conversation { server, connection, session, .. } = self;
        let instruments = &server.host.instruments;
        if instruments.collects() && session.trace.has_ended() {
            let now_ns = instruments.ns_of(Instant::now());
            tell_transactions(instruments, connection, &mut session.trace, (now_ns, now_ns));
        }
    }

    /// A statement or command begins to be executed, and is going to be observed.
    #[inline]
    pub(crate) fn begin_to_observe(&mut self, begun: Instant) {
        // What was executed without being observed.
        self.session.commands.take_first();
        let is_traced = self.server.host.instruments.setup.collects(Instrument::Transaction).0;
        self.session.notes_stages = self.server.host.instruments.setup.notes_stages();
        self.session.trace.listen(is_traced && self.connection.is_instrumented());
        self.connection.begins_statement(self.server.host.instruments.ns_of(begun));
        if self.server.host.instruments.setup.consumers().has(Consumers::CPU) {
            self.is_metered = true;
            task::start_meter();
        }
    }

    /// It has ended.
    #[inline(never)]
    pub(crate) fn observe(&mut self, observed: &Observed<'_>) {
        let cpu_ns = if self.is_metered { task::stop_meter() } else { 0 };
        self.is_metered = false;
        let Conversation { server, connection, session, frequent_texts, .. } = self;
        let instruments = &server.host.instruments;
        let began_ns = connection.ends_statement();
        let executed = session.executed.take();
        let prepared = observed.prepared.or(executed.as_deref());
        let command = session.commands.take_first();
        let class = observed.class.unwrap_or_else(|| class_of(command));
        let (is_enabled, is_timed) = instruments.setup.collects(Instrument::Statement(class));
        let took_ns = nanos_of(observed.took);
        let ended_ns = began_ns.saturating_add(took_ns);
        let stages = stages::ended(&server.host, connection, session);
        count_errors(instruments, connection, session, (observed, ended_ns));
        let mut done = Done::new(if is_timed { took_ns } else { 0 }, ended_ns);
        count(&mut done, session, observed);
        done.set(Number::CpuTime, cpu_ns);
        if !is_enabled || !connection.is_instrumented() {
            return tell_transactions(instruments, connection, &mut session.trace, (began_ns, ended_ns));
        }
        // USE belongs to the database before it.
        let changed = matches!(observed.outcome, Ok(Some(completion)) if completion.database_changed);
        let before = changed.then(|| connection.database()).flatten();
        let schema = if changed { before.as_deref() } else { session.state.database.as_deref() };
        let text = own_text(observed.text);
        let mode = session.state.variables.sql_mode;
        let options = || ParseOptions {
            placeholders: observed.class.is_some(),
            ..palisade_sql::sql::parse_options_of(mode)
        };
        let harmless = may_have_secrets(command, head(instruments, text))
            .then(|| query_logs::harmless(head(instruments, text), options()));
        let failure = observed.outcome.err().map(failure_of);
        let consumers = instruments.setup.consumers();
        let completion = observed.outcome.ok().flatten();
        let (info, sent_rows) =
            completion.map_or(("", false), |completion| (completion.info.as_str(), completion.rows));
        let ended = Ended {
            class,
            done: &done,
            began_ns,
            text: harmless.as_deref().unwrap_or(text),
            digest: None,
            schema,
            source: 0,
            prepared: observed.followed,
            failure: failure.as_ref(),
            stages: &stages,
            info,
            sent_rows,
        };
        let trace = &mut session.trace;
        let mut told = Told { instruments, connection, consumers, trace, row: None, ended };
        let has_digest = !text.is_empty() && class != *FAILED && instruments.digest_length > 0;
        if !has_digest || !consumers.has(Consumers::DIGEST) {
            return told.tell();
        }
        let digested = || {
            let mut digested = Vec::new();
            let mut allows = || !connection.is_interrupted();
            digest_text_while(text, &options(), instruments.digest_length, &mut digested, &mut allows);
            [prefix(observed.class), &digested].concat()
        };
        let memo = match prepared {
            Some(prepared) => Some(&prepared.observed),
            None if observed.class.is_none() => frequent_texts.find(command, text),
            None => None,
        };
        if let Some(memo) = memo {
            let make = || Digest::new(schema, &digested(), hash);
            let known = memo.find(&instruments.digests, schema, make);
            told.row = Some(known.row(&instruments.digests));
            told.ended.digest = Some(&known.digest);
            // A plan that is kept for a text serves others with other constants.
            let is_own_text = executed.is_none() && harmless.is_none();
            told.ended.source = if is_own_text { known.number } else { 0 };
            return told.tell();
        }
        let found = instruments.digests.find(schema, &digested(), hash);
        told.row = found.as_ref().map(|(row, _)| *row);
        told.ended.digest = found.as_ref().map(|(_, digest)| digest);
        told.tell();
    }

    /// A command without a statement of its own has been executed.
    pub(crate) fn observe_command(
        &mut self,
        name: &str,
        text: &[u8],
        begun: Instant,
        error: Option<&MysqlError>,
    ) {
        self.observe(&Observed {
            class: Some(of_command(name)),
            text,
            took: begun.elapsed(),
            rows_sent: 0,
            outcome: error.map_or(Ok(None), Err),
            prepared: None,
            followed: (0, 0),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_class() {
        let is_protocols = |name: &str| name.starts_with("Com_stmt_") || name == "Com_admin_commands";
        for (metric, class) in command::METRICS.iter().zip(&*BY_COMMAND) {
            // MySQL has no instrument of CLONE as a statement either
            let has_none = is_protocols(metric.name) || metric.name == "Com_clone";
            assert_eq!(*class == *FAILED, has_none, "{}", metric.name);
        }
        assert_eq!(class::name(class_of(Some(Command::Select))), "statement/sql/select");
        assert_eq!(class::name(class_of(None)), "statement/sql/error");
        assert_eq!(class::name(*EXECUTE), "statement/com/Execute");
    }

    #[test]
    fn what_ends_a_statement_is_no_part_of_it() {
        assert_eq!(own_text(b" select 1 ; \n"), b"select 1");
        assert_eq!(own_text(b"; ;"), b"");
        assert_eq!(own_text(b"do 1;"), b"do 1");
        assert_eq!(own_text("do 'é'".as_bytes()), "do 'é'".as_bytes());
    }

    #[test]
    fn texts_with_passwords_are_known() {
        assert!(may_have_secrets(Some(Command::AlterUser), b""));
        assert!(may_have_secrets(None, b"create usr u Identified by 'x'"));
        assert!(!may_have_secrets(None, b"selec 1") && !may_have_secrets(Some(Command::Select), b"password"));
    }
}
