//! Prepared statements of the binary protocol: COM_STMT_PREPARE, EXECUTE, FETCH, RESET, CLOSE,
//! SEND_LONG_DATA.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{
    ER_ERROR_ON_READ, ER_NET_PACKET_TOO_LARGE, ER_STMT_HAS_NO_OPEN_CURSOR, ER_UNKNOWN_STMT_HANDLER,
    ER_WRONG_ARGUMENTS,
};
use palisade_base::mysql_error;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_observe::prepared::{Preparation, Slot};
use palisade_protocol::command::CURSOR_READ_ONLY;
use palisade_protocol::parameters::{ParameterTypes, decode_parameters};
use palisade_protocol::response::{ColumnDefinition, encode_eof, encode_prepared, encode_result_end};
use palisade_protocol::{Capabilities, Output, Status};
use palisade_session::prepared_count::Counted;
use palisade_sql::session::KEPT_LIMIT;
use palisade_sql::{ColumnMeta, PlanCache, Prepared, Processes as _, SqlResult};

use crate::channel::{Disconnected, Transport};
use crate::cursor::{CursorSink, Spool};
use crate::instruments::{self, Observed};
use crate::query_logs::slow;
use crate::result_set::{FLUSH_AT, PacketSink, Protocol, definition};
use crate::session::{Conversation, answer_error};

/// A prepared statement of a session.
pub(crate) struct Statement {
    /// Shared with the sessions that prepared the same text.
    prepared: Arc<Prepared>,
    /// Its result set has columns.
    has_columns: bool,
    types: ParameterTypes,
    /// What COM_STMT_SEND_LONG_DATA brought.
    ahead: Option<Box<Ahead>>,
    /// Rows that wait to be fetched.
    cursor: Option<Box<Spool>>,
    /// Bytes that the session [keeps](palisade_expr::memory::Memory::keep) for it.
    kept: usize,
    /// By which performance_schema knows it.
    followed_as: Slot,
}

/// What was sent ahead of an execution.
#[derive(Default)]
struct Ahead {
    /// Values, by parameter.
    values: BTreeMap<u16, Vec<u8>>,
    /// An error, which COM_STMT_SEND_LONG_DATA has no answer to tell in: told by the execution.
    error: Option<MysqlError>,
}

impl Ahead {
    /// Bytes of the values.
    fn length(&self) -> usize {
        self.values.values().map(Vec::len).sum()
    }
}

impl Statement {
    /// Its text.
    pub(crate) fn text(&self) -> &[u8] {
        self.prepared.text()
    }

    /// Uses the plans of another worker's sessions from now on.
    pub(crate) fn adopt(&mut self, plans: &PlanCache) {
        self.prepared = plans.adopt(&self.prepared);
    }
}

impl Conversation {
    /// COM_STMT_PREPARE.
    pub(crate) async fn stmt_prepare(&mut self, text: &[u8], output: &mut Output) -> SqlResult<()> {
        let begun = self.server.host.instruments.collects().then(Instant::now);
        let (prepared, columns, counted, kept) = match self.prepare(text).await {
            Ok(prepared) => prepared,
            Err(error) => {
                self.answer_failure(output, &error, text);
                return Err(error);
            }
        };
        let (count, parameters) = (columns.len() as u16, prepared.parameters as u16);
        self.statements.go_on_after(self.session.last_prepared);
        let statement = Statement {
            has_columns: !columns.is_empty(),
            prepared: prepared.clone(),
            types: ParameterTypes::new(),
            ahead: None,
            cursor: None,
            kept,
            followed_as: 0,
        };
        let id = self.statements.insert(statement);
        self.session.last_prepared = id;
        if let Some(begun) = begun {
            self.follow(id, &prepared, begun);
        }
        self.counted.push(counted);
        let (status, warnings) = (self.status(), self.session.state.warnings.count());
        let eof = !self.capabilities.has(Capabilities::DEPRECATE_EOF);
        output.packet(|out| encode_prepared(out, id, count, parameters, warnings));
        for _ in 0..parameters {
            output.packet(|out| ColumnDefinition::PARAMETER.encode(out));
        }
        if parameters > 0 && eof {
            output.packet(|out| encode_eof(out, status, warnings));
        }
        let charset = self.result_charset();
        for column in &columns {
            output.packet(|out| definition(column, charset).encode(out));
        }
        if count > 0 && eof {
            output.packet(|out| encode_eof(out, status, warnings));
        }
        Ok(())
    }

    /// Tells performance_schema of a statement that was prepared.
    fn follow(&mut self, id: u32, prepared: &Prepared, begun: Instant) {
        let host = &self.server.host;
        let preparation = Preparation {
            number: id,
            name: None,
            text: prepared.text().into(),
            prepare_ns: instruments::nanos_of(begun.elapsed()),
            basis: prepared.basis(),
        };
        let count = host.prepared_statements.value();
        let followed_as = host.instruments.follow_prepared(&self.connection, preparation, count);
        if let Some(statement) = self.statements.get_mut(id) {
            statement.followed_as = followed_as;
        }
    }

    async fn prepare(&mut self, text: &[u8]) -> SqlResult<(Arc<Prepared>, Vec<ColumnMeta>, Counted, usize)> {
        let counted = self.server.host.count_prepared()?;
        let (prepared, columns) = self.server.sql.prepare(&mut self.session, text).await?;
        let kept = self.session.keep_prepared(&prepared)?;
        Ok((prepared, columns, counted, kept))
    }

    /// COM_STMT_EXECUTE.
    pub(crate) async fn stmt_execute(
        &mut self,
        (id, cursor): (u32, u8),
        body: &[u8],
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<(), Disconnected> {
        let mut parameters = std::mem::take(&mut self.parameters);
        let statement = match self.statement(id, "mysqld_stmt_execute") {
            Ok(statement) => statement,
            Err(error) => {
                answer_error(output, &error);
                return Ok(());
            }
        };
        statement.cursor = None;
        let Statement { prepared, types, has_columns, .. } = statement;
        let mut ahead = statement.ahead.take();
        // From here on they are the execution's.
        let sent_ahead = ahead.as_ref().map_or(0, |ahead| ahead.length());
        let error = ahead.as_mut().and_then(|ahead| ahead.error.take());
        let long = |position: usize| ahead.as_mut()?.values.remove(&(position as u16));
        let decoded = match error {
            Some(error) => Err(error),
            None => decode_parameters(body, prepared.parameters, types, long, &mut parameters)
                .map_err(|_| mysql_error!(ER_WRONG_ARGUMENTS, "mysqld_stmt_execute")),
        };
        let (has_columns, prepared, followed_as) = (*has_columns, prepared.clone(), statement.followed_as);
        self.session.state.memory.let_go(sent_ahead);
        self.begin_command("Execute", prepared.text());
        let with_cursor = cursor & CURSOR_READ_ONLY != 0 && has_columns;
        let mut spool = None;
        let mut rows_sent = 0;
        let done = match decoded {
            Ok(()) => {
                let begun = Instant::now();
                let is_observed = self.server.host.instruments.collects();
                if is_observed {
                    self.begin_to_observe(begun);
                }
                self.session.begin_profile(&*self.server.host);
                let style = self.result_style(Protocol::Binary);
                let sql = &self.server.sql;
                let done = if with_cursor {
                    let globals = self.server.host.globals.load();
                    let folder = Path::new(globals.text(sysvar::TMPDIR).unwrap_or("/tmp"));
                    let mut sink = CursorSink::new(output, &mut self.formats, style, folder);
                    let done = sql.execute(&mut self.session, &prepared, &parameters, &mut sink).await;
                    spool = Some(sink.spool);
                    done
                } else {
                    let mut sink = PacketSink::new(output, transport, &mut self.formats, style);
                    let done = sql.execute(&mut self.session, &prepared, &parameters, &mut sink).await;
                    rows_sent = sink.rows();
                    done
                };
                self.session.begin_stage(&*self.server.host, "cleaning up");
                let took = self.after_statement(begun);
                if is_observed {
                    let outcome = instruments::outcome(&done, |completion| completion);
                    let (class, prepared) = (Some(*instruments::EXECUTE), Some(&*prepared));
                    let text = prepared.map_or(&[][..], |prepared| prepared.text());
                    let followed = (followed_as, prepared.map_or(0, Prepared::basis));
                    self.observe(&Observed { class, text, took, rows_sent, outcome, prepared, followed });
                }
                if self.is_watched() {
                    let error = done.as_ref().err().map_or(0, MysqlError::number);
                    let ended = slow::Ended { text: prepared.text(), begun, rows_sent, error };
                    Box::pin(self.log_if_slow(ended)).await;
                }
                self.session.end_profile(&*self.server.host, prepared.text());
                done
            }
            Err(error) => Err(error),
        };
        parameters.clear();
        self.parameters = parameters;
        match done {
            Ok(completion) => {
                let extra = if spool.is_some() { Status::CURSOR_EXISTS } else { Status::default() };
                if spool.is_some()
                    && let Some(statement) = self.statements.get_mut(id)
                {
                    statement.cursor = spool.map(Box::new);
                }
                self.complete(&completion, extra, output);
            }
            Err(error) => self.answer_failure(output, &error, prepared.text()),
        }
        Ok(())
    }

    /// COM_STMT_FETCH: at most `rows` rows of a statement's cursor. That there are none left is known, and
    /// said, when one more was asked for than there were.
    pub(crate) async fn stmt_fetch(
        &mut self,
        id: u32,
        rows: u32,
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<(), Disconnected> {
        let mut cursor =
            match self.statement(id, "mysqld_stmt_fetch").map(|statement| statement.cursor.take()) {
                Ok(Some(cursor)) => cursor,
                Ok(None) => {
                    answer_error(output, &mysql_error!(ER_STMT_HAS_NO_OPEN_CURSOR, id));
                    return Ok(());
                }
                Err(error) => {
                    answer_error(output, &error);
                    return Ok(());
                }
            };
        let mut status = self.status() | Status::CURSOR_EXISTS;
        for _ in 0..rows {
            match cursor.next().await {
                Ok(Some(row)) => output.packet(|out| out.extend_from_slice(row)),
                Ok(None) => {
                    status = self.status() | Status::LAST_ROW_SENT;
                    break;
                }
                Err(error) => {
                    let number = error.raw_os_error().unwrap_or_default();
                    answer_error(output, &mysql_error!(ER_ERROR_ON_READ, "cursor", number, error));
                    return Ok(());
                }
            }
            if output.pending().len() >= FLUSH_AT {
                transport.send(output).await?;
            }
        }
        if !status.has(Status::LAST_ROW_SENT)
            && let Some(statement) = self.statements.get_mut(id)
        {
            statement.cursor = Some(cursor);
        }
        let capabilities = self.capabilities;
        output.packet(|out| encode_result_end(out, capabilities, status, 0));
        Ok(())
    }

    /// COM_STMT_RESET: forgets what was sent ahead, and the cursor.
    pub(crate) fn stmt_reset(&mut self, id: u32, output: &mut Output) {
        let reset = self.statement(id, "mysqld_stmt_reset").map(|statement| {
            statement.cursor = None;
            statement.ahead.take().map_or(0, |ahead| ahead.length())
        });
        let reset = reset.map(|sent_ahead| self.session.state.memory.let_go(sent_ahead));
        self.answer(output, reset);
    }

    /// COM_STMT_SEND_LONG_DATA, which has no answer.
    pub(crate) fn stmt_send_long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        let limit = self.session.state.variables.max_allowed_packet as usize;
        let Some(statement) = self.statements.get_mut(id) else { return };
        let ahead = statement.ahead.get_or_insert_default();
        if usize::from(parameter) >= statement.prepared.parameters {
            ahead.error = Some(mysql_error!(ER_WRONG_ARGUMENTS, "mysqld_stmt_send_long_data"));
            return;
        }
        let so_far = ahead.values.entry(parameter).or_default();
        if so_far.len() + data.len() > limit {
            ahead.error = Some(mysql_error!(ER_NET_PACKET_TOO_LARGE));
        } else if let Err(error) = self.session.state.memory.keep(data.len(), KEPT_LIMIT) {
            ahead.error = Some(error);
        } else {
            so_far.extend_from_slice(data);
        }
    }

    /// COM_STMT_CLOSE, which has no answer.
    pub(crate) fn stmt_close(&mut self, id: u32) {
        if let Some(gone) = self.statements.remove(id) {
            let ahead = gone.ahead.map_or(0, |ahead| ahead.length());
            self.session.state.memory.let_go(gone.kept + ahead);
            self.counted.pop();
            if gone.followed_as != 0 {
                self.connection.events.lock().end_prepared(gone.followed_as);
            }
        }
    }

    fn statement(&mut self, id: u32, command: &str) -> Result<&mut Statement, MysqlError> {
        self.statements.get_mut(id).ok_or_else(|| mysql_error!(ER_UNKNOWN_STMT_HANDLER, id, command))
    }

    /// Forgets every statement.
    pub(crate) fn forget_statements(&mut self) {
        let length = |ahead: &Option<Box<Ahead>>| ahead.as_ref().map_or(0, |ahead| ahead.length());
        let kept = self.statements.values_mut().map(|gone| gone.kept + length(&gone.ahead)).sum();
        self.session.state.memory.let_go(kept);
        self.statements.clear();
        self.counted.clear();
        self.connection.events.lock().end_all_prepared();
    }
}
