//! Statements that are the server's business.

use palisade_catalog::{CollationId, SqlType, ValueRef};
use palisade_parser::ast::{EngineInfo, FlushTarget, ShowWhat, Statement};
use palisade_sql::{ColumnMeta, Completion, ResultSink, Session, SqlResult};

use crate::host::ServerHost;
use crate::{accounts, innodb_status};

/// Executes `statement` if it is one of those; `None` if it is not.
pub async fn administer(
    host: &ServerHost,
    session: &mut Session,
    statement: &Statement,
    sink: &mut dyn ResultSink,
) -> Option<SqlResult<Completion>> {
    match statement {
        Statement::Shutdown => {
            host.shutdown.complete();
            Some(Ok(Completion::default()))
        }
        Statement::Flush(flush) if flush.what.iter().all(is_harmless) => {
            if flush.what.contains(&FlushTarget::Privileges)
                && let Err(error) = host.accounts.reload(&host.sql()).await
            {
                return Some(Err(error));
            }
            Some(Ok(Completion::default()))
        }
        Statement::Flush(_) => None,
        Statement::Show(show) => match &show.what {
            ShowWhat::Engine { name, what: EngineInfo::Status } => {
                let known = name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case("innodb"));
                known.then(|| show_engine_status(host, session, sink))
            }
            _ => accounts::execute(host, session, statement, sink).await,
        },
        _ => accounts::execute(host, session, statement, sink).await,
    }
}

/// Whether what is flushed is something that this server never keeps.
fn is_harmless(target: &FlushTarget) -> bool {
    match target {
        FlushTarget::Tables { with_read_lock, for_export, .. } => !with_read_lock && !for_export,
        _ => true,
    }
}

/// A column of text.
pub fn text_column(name: &str) -> ColumnMeta {
    let ty = SqlType::VarChar { length: 1024, collation: CollationId::UTF8MB4_0900_AI_CI };
    ColumnMeta::computed(name, ty)
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
