//! Commands other than a statement to be executed at once.

use std::time::{Duration, Instant};

use palisade_base::error_catalogue::{ER_SERVER_OFFLINE_MODE, ER_UNKNOWN_COM_ERROR};
use palisade_base::mysql_error;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::CollationId;
use palisade_protocol::response::encode_result_end;
use palisade_protocol::{Command, Output};
use palisade_session::command::Command as SqlCommand;
use palisade_sql::{Processes as _, Session, SessionState};

use super::{Conversation, Next, answer_error};
use crate::accounts::privilege::Privileges;
use crate::channel::{Channel, Disconnected, Transport};
use crate::connections::Before;
use crate::reactor::timeout;
use crate::result_set::definition;
use crate::{administration, entry, login, status};

impl Conversation {
    /// Executes a command that is no statement to be executed at once, and adds its answer.
    pub(super) async fn execute_other(
        &mut self,
        command: Command<'_>,
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<Next, Disconnected> {
        let begun = self.server.host.instruments.collects().then(Instant::now);
        if let Some(begun) = begun {
            self.begin_to_observe(begun);
        }
        let closed;
        let text = match command {
            Command::StmtPrepare(text) => text,
            Command::StmtClose(id) if begun.is_some() => {
                closed = self.statements.get_mut(id).map(|gone| gone.text().to_vec());
                closed.as_deref().unwrap_or_default()
            }
            _ => &[],
        };
        let (name, mut error) = (command.name(), None);
        let done = match command {
            Command::StmtPrepare(text) => {
                self.begin_command(name, text);
                self.session.commands.add(SqlCommand::StmtPrepare);
                error = self.stmt_prepare(text, output).await.err();
                Ok(Next::Command)
            }
            command => self.execute_rest(command, output, transport).await,
        };
        if let Some(begun) = begun {
            self.observe_command(name, text, begun, error.as_ref());
        }
        done
    }

    async fn execute_rest(
        &mut self,
        command: Command<'_>,
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<Next, Disconnected> {
        match command {
            Command::Quit => return Ok(Next::End),
            Command::StmtClose(statement) => {
                self.session.commands.add(SqlCommand::StmtClose);
                self.stmt_close(statement);
            }
            Command::StmtReset(statement) => {
                self.session.commands.add(SqlCommand::StmtReset);
                self.stmt_reset(statement, output);
            }
            Command::StmtSendLongData { statement, parameter, data } => {
                self.session.commands.add(SqlCommand::StmtSendLongData);
                self.stmt_send_long_data(statement, parameter, data);
            }
            Command::StmtFetch { statement, rows } => {
                self.session.commands.add(SqlCommand::StmtFetch);
                self.begin_command(command.name(), b"");
                self.stmt_fetch(statement, rows, output, transport).await?;
            }
            Command::Ping => {
                self.session.commands.add(SqlCommand::AdminCommands);
                self.answer_ok(output);
            }
            Command::InitDb(name) => {
                self.session.commands.add(SqlCommand::ChangeDb);
                let name = String::from_utf8_lossy(name);
                self.session.state.warnings.clear(self.session.state.variables.max_error_count);
                let used = self.server.sql.use_database(&mut self.session, &name);
                self.connection.set_database(self.session.state.database.as_deref());
                match used {
                    Ok(()) => self.answer_change_of_database(output),
                    Err(error) => answer_error(output, &error),
                }
            }
            Command::FieldList { table, pattern } => {
                self.session.commands.add(SqlCommand::ShowFields);
                self.field_list(table, pattern, output).await;
            }
            Command::Statistics => {
                self.session.commands.add(SqlCommand::ShowStatus);
                let line = status::statistics(&self.server.host);
                output.packet(|out| out.extend_from_slice(line.as_bytes()));
            }
            Command::ProcessInfo => self.query(b"SHOW FULL PROCESSLIST", output, transport).await?,
            Command::ProcessKill(id) => {
                self.session.commands.add(SqlCommand::Kill);
                let killed = self.server.host.kill(&self.session.state, u64::from(id), false);
                self.answer(output, killed);
            }
            Command::SetMultiStatements(on) => {
                self.session.commands.add(SqlCommand::AdminCommands);
                self.session.multi_statements = on;
                let (capabilities, status) = (self.capabilities, self.status());
                output.packet(|out| encode_result_end(out, capabilities, status, 0));
            }
            Command::Refresh(bits) => {
                self.session.commands.add(SqlCommand::Flush);
                let host = &self.server.host;
                let refreshed =
                    match host.check(&self.session.state, |asker| asker.require(Privileges::RELOAD)) {
                        Ok(()) => administration::refresh(host, &self.server.sql, bits).await,
                        Err(error) => Err(error),
                    };
                self.answer(output, refreshed);
            }
            Command::Shutdown => {
                self.session.commands.add(SqlCommand::Shutdown);
                let host = &self.server.host;
                let allowed = host.check(&self.session.state, |asker| asker.require(Privileges::SHUTDOWN));
                if let Err(error) = allowed {
                    answer_error(output, &error);
                } else {
                    self.answer_ok(output);
                    self.server.host.shutdown.complete();
                    return Ok(Next::End);
                }
            }
            Command::ResetConnection => {
                let database = self.session.state.database.take();
                let Session { plans, state: SessionState { user, .. }, .. } = &self.session;
                let fresh =
                    entry::fresh_session(&self.server, &self.connection, plans, user, self.capabilities);
                let security = self.session.state.security.clone();
                self.replace_session(fresh).await;
                self.session.state.database = database;
                self.session.state.security = security;
                self.answer_ok(output);
            }
            Command::Debug => {
                self.session.commands.add(SqlCommand::AdminCommands);
                let host = &self.server.host;
                match host.check(&self.session.state, |asker| asker.require(Privileges::SUPER)) {
                    Ok(()) => {
                        administration::write_debug_report(host, &self.session);
                        let (capabilities, status) = (self.capabilities, self.status());
                        output.packet(|out| encode_result_end(out, capabilities, status, 0));
                    }
                    Err(error) => answer_error(output, &error),
                }
            }
            Command::Query(_)
            | Command::StmtExecute { .. }
            | Command::StmtPrepare(_)
            | Command::ChangeUser(_)
            | Command::Unknown(_) => answer_error(output, &mysql_error!(ER_UNKNOWN_COM_ERROR)),
        }
        Ok(Next::Command)
    }

    /// COM_CHANGE_USER: another login on the same connection, which ends if it fails.
    pub(super) async fn change_user(
        &mut self,
        channel: &mut Channel,
        body: &[u8],
    ) -> Result<Next, Disconnected> {
        if self.begin_to_count().has(Before::GENERAL_LOG) {
            Box::pin(self.log_command(&Command::ChangeUser(body))).await;
        }
        self.session.commands.add(SqlCommand::AdminCommands);
        let limit = Duration::from_secs(self.server.host.globals.uint(sysvar::CONNECT_TIMEOUT));
        let host = self.server.host.clone();
        channel.input.expect_sequence(1);
        let event_loop = channel.transport.stream().event_loop().clone();
        let login = login::change_user(channel, &host, self.peer, body, self.capabilities, self.scramble);
        let login = match timeout(&event_loop, limit, login).await {
            Some(Ok(login)) => login,
            Some(Err(Disconnected)) | None => {
                status::ABORTED_CONNECTS.increment();
                return Ok(Next::End);
            }
        };
        let is_administrator = login.account.has_dynamic("CONNECTION_ADMIN");
        if self.server.host.globals.load().bool(sysvar::OFFLINE_MODE) && !is_administrator {
            answer_error(&mut channel.output, &mysql_error!(ER_SERVER_OFFLINE_MODE));
            channel.flush().await?;
            return Ok(Next::End);
        }
        self.start_over(&login).await;
        let begun = self.enter_database(login.database.as_deref(), &mut channel.output);
        channel.flush().await?;
        Ok(if begun { Next::Command } else { Next::End })
    }

    /// COM_FIELD_LIST: the definitions of a table's columns.
    pub(super) async fn field_list(&mut self, table: &[u8], pattern: &[u8], output: &mut Output) {
        let table = String::from_utf8_lossy(table);
        let columns = match self.server.sql.table_columns(&mut self.session, &table).await {
            Ok(columns) => columns,
            Err(error) => return answer_error(output, &error),
        };
        let names = CollationId::UTF8MB4_GENERAL_CI.get();
        for column in &columns {
            if pattern.is_empty() || names.like(column.name.as_bytes(), pattern, b"\\") {
                let charset = self.result_charset();
                output.packet(|out| definition(column, charset).encode_with_default(None, out));
            }
        }
        let (capabilities, status) = (self.capabilities, self.status());
        output.packet(|out| encode_result_end(out, capabilities, status, 0));
    }
}
