//! Statements that are the server's business.

use palisade_base::error_catalogue::{
    EE_FILENOTFOUND, ER_DA_SSL_LIBRARY_ERROR, ER_SERVER_SHUTDOWN, ER_SYNTAX_ERROR, ER_UNKNOWN_STORAGE_ENGINE,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::{CollationId, SqlType, ValueRef};
use palisade_engine::LatchWaits;
use palisade_parser::ast::{AlterInstance, EngineInfo, FlushTarget, Reset, ShowWhat, Statement};
use palisade_sql::{ColumnMeta, Completion, ResultSink, Session, Sql, SqlResult};

use tracing::info;

use crate::connections::Process;
use crate::host::ServerHost;
use crate::query_logs::Which;
use crate::{accounts, error_log, innodb_status, status};

/// Executes `statement` if it is one of those; `None` if it is not.
pub async fn administer(
    host: &ServerHost,
    sql: &Sql,
    session: &mut Session,
    statement: &Statement,
    sink: &mut dyn ResultSink,
) -> Option<SqlResult<Completion>> {
    match statement {
        Statement::Shutdown => {
            host.shutdown.complete();
            Some(Ok(Completion::default()))
        }
        Statement::Reset(Reset::Persist { if_exists, name }) => {
            let reset = host.reset_persisted(session, name.as_deref(), *if_exists).await;
            Some(reset.map(|()| Completion::default()))
        }
        Statement::AlterInstance(AlterInstance::ReloadTls { channel, no_rollback_on_error }) => {
            let reloaded = reload_tls(host, session, channel.as_deref(), *no_rollback_on_error).await;
            Some(reloaded.map(|()| Completion::default()))
        }
        Statement::Help(_) => {
            let dictionary = host.engine.dictionary();
            let has_texts =
                dictionary.table("mysql", "help_topic").is_ok_and(|table| table.statistics().rows > 0);
            // The list of the topics that were found.
            (!has_texts).then(|| show_nothing(sink, &["name", "is_it_category"]))
        }
        Statement::Flush(flush) => {
            let kept = flush.what.iter().map(kept);
            let kept = kept.collect::<Option<Vec<_>>>()?;
            Some(flush_all(host, sql, kept.into_iter().flatten()).await.map(|()| Completion::default()))
        }
        Statement::Show(show) => match &show.what {
            ShowWhat::Engine { name, what } => show_engine(host, session, name.as_deref(), *what, sink),
            _ => accounts::execute(host, sql, session, statement, sink).await,
        },
        _ => accounts::execute(host, sql, session, statement, sink).await,
    }
}

/// ALTER INSTANCE RELOAD TLS: certificates and keys are read anew. If that fails everything stays as it is,
/// or, if it is so wanted, TLS is not spoken any more.
async fn reload_tls(
    host: &ServerHost,
    session: &mut Session,
    channel: Option<&str>,
    ends_without: bool,
) -> SqlResult<()> {
    // Administrators are served with the certificates of all.
    let is_known =
        |name: &str| ["mysql_main", "mysql_admin"].iter().any(|known| known.eq_ignore_ascii_case(name));
    if !channel.is_none_or(is_known) {
        return Err(mysql_error!(ER_SYNTAX_ERROR));
    }
    let (secrets, settings) = (host.secrets.clone(), host.globals.load());
    let reload = tokio::task::spawn_blocking(move || secrets.reload(settings, ends_without));
    let reloaded = reload.await.map_err(|_| mysql_error!(ER_SERVER_SHUTDOWN))?;
    match reloaded.map_err(|problem| mysql_error!(ER_DA_SSL_LIBRARY_ERROR, problem)) {
        Err(problem) if ends_without => session.state.warnings.warn(problem),
        other => other?,
    }
    Ok(())
}

/// What this server keeps that can be flushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The copy of the accounts in memory.
    Accounts,
    /// What sessions have counted.
    Status,
    /// What was committed and may not be durable.
    RedoLog,
    /// Query logs, which are opened again: their files may have been renamed.
    QueryLogs(Which),
    /// The error log, which is opened again, too.
    ErrorLog,
    /// All logs.
    Logs,
}

/// What FLUSH means here: `Some(None)` for what this server never keeps, `None` for what it does not know.
fn kept(target: &FlushTarget) -> Option<Option<Kept>> {
    match target {
        FlushTarget::Tables { with_read_lock: false, for_export: false, .. } => Some(None),
        FlushTarget::Tables { .. } => None,
        FlushTarget::Privileges => Some(Some(Kept::Accounts)),
        FlushTarget::Status => Some(Some(Kept::Status)),
        FlushTarget::Logs(None) => Some(Some(Kept::Logs)),
        FlushTarget::Logs(Some(kind)) if kind.eq_ignore_ascii_case("engine") => Some(Some(Kept::RedoLog)),
        FlushTarget::Logs(Some(kind)) if kind.eq_ignore_ascii_case("error") => Some(Some(Kept::ErrorLog)),
        FlushTarget::Logs(Some(kind)) => {
            let is = |known: &str| kind.eq_ignore_ascii_case(known);
            match (is("general"), is("slow")) {
                (true, _) => Some(Some(Kept::QueryLogs(Which::General))),
                (_, true) => Some(Some(Kept::QueryLogs(Which::Slow))),
                _ => Some(None),
            }
        }
        FlushTarget::UserResources | FlushTarget::OptimizerCosts | FlushTarget::RelayLogs(_) => Some(None),
    }
}

/// COM_REFRESH, what FLUSH was before it was a statement: what the bits stand for that this server keeps.
pub async fn refresh(host: &ServerHost, sql: &Sql, bits: u8) -> SqlResult<()> {
    const ACCOUNTS: u8 = 0x01;
    const LOGS: u8 = 0x02;
    const STATUS: u8 = 0x10;
    let all = [(ACCOUNTS, Kept::Accounts), (LOGS, Kept::Logs), (STATUS, Kept::Status)];
    flush_all(host, sql, all.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, kept)| kept)).await
}

/// What SIGHUP asks for: all logs are opened anew, and privileges read.
pub async fn flush_after_hangup(host: &ServerHost, sql: &Sql) -> SqlResult<()> {
    flush_all(host, sql, [Kept::Logs, Kept::Accounts].into_iter()).await
}

/// 29 if the error log cannot be opened anew: it goes on where it was.
fn reopen_error_log() -> SqlResult<()> {
    error_log::reopen().map_err(|problem| MysqlError::with_message(&EE_FILENOTFOUND, problem))
}

async fn flush_all(host: &ServerHost, sql: &Sql, what: impl Iterator<Item = Kept>) -> SqlResult<()> {
    for kept in what {
        match kept {
            Kept::Accounts => host.accounts.reload(sql).await?,
            Kept::Status => host.flush_status(),
            Kept::RedoLog => host.engine.flush_log().await?,
            Kept::QueryLogs(which) => host.follow_query_logs(which)?,
            Kept::ErrorLog => reopen_error_log()?,
            Kept::Logs => {
                host.engine.flush_log().await?;
                reopen_error_log()?;
                host.follow_query_logs(Which::Both)?;
            }
        }
    }
    Ok(())
}

/// COM_DEBUG (`mysqladmin debug`): writes what the sessions and the storage engine do to the server's log.
pub fn write_debug_report(host: &ServerHost, session: &Session) {
    info!("status information, asked for by connection {}:", session.state.connection_id);
    info!("{}", status::statistics(host));
    let now_seconds = host.connections.now_seconds();
    for Process { id, host, activity, state } in host.connections.processes() {
        let seconds = now_seconds.saturating_sub(activity.since_seconds);
        let (user, command) = (activity.user, activity.command);
        // not its text: there may be a password in it
        info!("connection {id}: {user} from {host}, {command} for {seconds} s, {state:?}");
    }
    info!("{}", innodb_status::text(host, session));
}

/// A column of text.
pub fn text_column(name: &str) -> ColumnMeta {
    let ty = SqlType::VarChar { length: 1024, collation: CollationId::UTF8MB4_0900_AI_CI };
    ColumnMeta::computed(name, ty)
}

/// SHOW ENGINE. Nothing is told of engines that MySQL has and this server has not.
fn show_engine(
    host: &ServerHost,
    session: &Session,
    name: Option<&str>,
    what: EngineInfo,
    sink: &mut dyn ResultSink,
) -> Option<SqlResult<Completion>> {
    const OTHERS: [&str; 8] =
        ["memory", "heap", "myisam", "mrg_myisam", "merge", "csv", "archive", "blackhole"];
    let is = |known: &str| name.is_some_and(|name| name.eq_ignore_ascii_case(known));
    let is_own = name.is_none() || is("innodb");
    match (what, name) {
        (EngineInfo::Status, _) if is_own => Some(show_engine_status(host, session, sink)),
        (EngineInfo::Mutex, _) if is_own => Some(show_latches(sink)),
        (EngineInfo::Status, _) if is(IN_MEMORY) => Some(show_memory(sink)),
        (_, Some(name)) if !is_own && !is(IN_MEMORY) && !OTHERS.iter().any(|known| is(known)) => {
            Some(Err(mysql_error!(ER_UNKNOWN_STORAGE_ENGINE, name)))
        }
        _ => Some(show_nothing(sink, &["Type", "Name", "Status"])),
    }
}

fn show_nothing(sink: &mut dyn ResultSink, columns: &[&str]) -> SqlResult<Completion> {
    let columns: Vec<ColumnMeta> = columns.iter().map(|name| text_column(name)).collect();
    sink.columns(&columns)?;
    Ok(Completion { rows: true, ..Completion::default() })
}

/// SHOW ENGINE INNODB MUTEX: the latches for which a thread has waited. Those of pages are counted together,
/// and only where one was not free.
fn show_latches(sink: &mut dyn ResultSink) -> SqlResult<Completion> {
    sink.columns(&[text_column("Type"), text_column("Name"), text_column("Status")])?;
    let LatchWaits { waits, spins } = palisade_engine::latch_waits();
    if waits > 0 {
        let status = format!("spins={spins},waits={waits}");
        sink.row(
            &["InnoDB", "rwlock: buf_block_lock", status.as_str()]
                .map(|text| ValueRef::Bytes(text.as_bytes())),
        )?;
    }
    Ok(Completion { rows: true, ..Completion::default() })
}

/// The engine of tables that are made when they are read.
const IN_MEMORY: &str = "performance_schema";

/// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: its tables hold no memory between two statements.
fn show_memory(sink: &mut dyn ResultSink) -> SqlResult<Completion> {
    sink.columns(&[text_column("Type"), text_column("Name"), text_column("Status")])?;
    let row = ["performance_schema", "performance_schema.memory", "0"];
    sink.row(&row.map(|text| ValueRef::Bytes(text.as_bytes())))?;
    Ok(Completion { rows: true, ..Completion::default() })
}

fn show_engine_status(
    host: &ServerHost,
    session: &Session,
    sink: &mut dyn ResultSink,
) -> SqlResult<Completion> {
    let text = innodb_status::text(host, session);
    sink.columns(&[text_column("Type"), text_column("Name"), text_column("Status")])?;
    sink.row(&[ValueRef::Bytes(b"InnoDB"), ValueRef::Bytes(b""), ValueRef::Bytes(text.as_bytes())])?;
    Ok(Completion { rows: true, ..Completion::default() })
}
