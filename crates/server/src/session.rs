//! A connection, from its login to its end: one command after the other.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{
    ER_CLIENT_INTERACTION_TIMEOUT, ER_MALFORMED_PACKET, ER_MAX_PREPARED_STMT_COUNT_REACHED,
    ER_NET_PACKET_TOO_LARGE, ER_NET_PACKETS_OUT_OF_ORDER, ER_STMT_HAS_NO_OPEN_CURSOR, ER_UNKNOWN_COM_ERROR,
    ER_UNKNOWN_STMT_HANDLER, ER_WRONG_ARGUMENTS,
};
use palisade_base::mysql_error;
use palisade_base::sysvar::SessionSettings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_protocol::handshake::Scramble;
use palisade_protocol::parameters::{ParameterType, decode_parameters};
use palisade_protocol::response::{
    ColumnDefinition, Ok as OkPacket, encode_eof, encode_error, encode_prepared, encode_result_end,
};
use palisade_protocol::row::ColumnFormat;
use palisade_protocol::{Capabilities, Command, FrameError, Output, Status};
use palisade_sql::mode::SqlMode;
use palisade_sql::{Completion, Host as _, Prepared, Session};

use crate::channel::{Channel, Disconnected, Stream, Transport};
use crate::connections::Connection;
use crate::login::{self, Login, Peer};
use crate::result_set::{ColumnsOnly, PacketSink, Protocol, ResultStyle, definition};
use crate::server::Server;
use crate::status::{self, StatementKind};
use crate::worker::Share;
use crate::{session_variables, variables};

/// Serves a client until it leaves or is made to.
pub async fn serve(
    server: Arc<Server>,
    stream: Stream,
    peer: Peer,
    connection: &Arc<Connection>,
    mut share: Share,
) {
    std::future::poll_fn(|context| {
        connection.attach(context);
        std::task::Poll::Ready(())
    })
    .await;
    let host = &server.host;
    let mut channel = Channel::new(stream, connection.clone());
    let limit = Duration::from_secs(host.globals.uint(sysvar::CONNECT_TIMEOUT));
    let login = login::login(&mut channel, peer, host.version(), scramble(&server));
    match tokio::time::timeout(limit, login).await {
        Ok(Ok(login)) => {
            let (mut conversation, begun) =
                Conversation::begin(&server, connection, peer, login, &mut channel.output);
            // however it ends, what is open is rolled back
            let _ = match channel.flush().await {
                Ok(()) if begun => conversation.run(&mut channel, &mut share).await,
                sent => sent,
            };
            conversation.end().await;
        }
        Ok(Err(Disconnected)) | Err(_) => status::ABORTED_CONNECTS.increment(),
    }
}

fn scramble(server: &Server) -> Scramble {
    let mut bytes = [0; 20];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&server.host.random().to_le_bytes()[..chunk.len()]);
    }
    Scramble::from_random(bytes)
}

/// Whether the connection goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Command,
    End,
}

/// A prepared statement of a session.
struct Statement {
    prepared: Arc<Prepared>,
    kind: StatementKind,
    types: Vec<ParameterType>,
    /// What COM_STMT_SEND_LONG_DATA brought, by parameter.
    long_data: HashMap<u16, Vec<u8>>,
    /// An error of COM_STMT_SEND_LONG_DATA, which has no answer of its own: told by the execution.
    long_data_error: Option<MysqlError>,
}

/// The state of a connection whose client has logged in.
struct Conversation {
    server: Arc<Server>,
    connection: Arc<Connection>,
    peer: Peer,
    capabilities: Capabilities,
    session: Session,
    statements: HashMap<u32, Statement>,
    last_statement: u32,
    /// Lent to results, for their memory.
    formats: Vec<ColumnFormat>,
    /// Lent to executions, for their memory.
    parameters: Vec<Value>,
}

impl Conversation {
    /// The state after `login`. Adds the OK to `output`; or an ERR, and then the second value is false.
    fn begin(
        server: &Arc<Server>,
        connection: &Arc<Connection>,
        peer: Peer,
        login: Login,
        output: &mut Output,
    ) -> (Conversation, bool) {
        let session = fresh_session(server, connection, &login);
        let mut conversation = Conversation {
            server: server.clone(),
            connection: connection.clone(),
            peer,
            capabilities: login.capabilities,
            session,
            statements: HashMap::new(),
            last_statement: 0,
            formats: Vec::new(),
            parameters: Vec::new(),
        };
        let begun = conversation.enter_database(login.database.as_deref(), output);
        (conversation, begun)
    }

    /// Makes `database` current, if one is named, and answers OK or ERR.
    fn enter_database(&mut self, database: Option<&str>, output: &mut Output) -> bool {
        let used = match database {
            Some(name) => self.server.sql.use_database(&mut self.session, name),
            None => Ok(()),
        };
        let user = self.session.user.clone();
        self.connection.identify(&user, self.session.database.as_deref());
        match used {
            Ok(()) => self.answer_ok(output),
            Err(ref error) => answer_error(output, error),
        }
        used.is_ok()
    }

    async fn run(&mut self, channel: &mut Channel, share: &mut Share) -> Result<(), Disconnected> {
        let host = self.server.host.clone();
        loop {
            let Channel { input, output, transport } = channel;
            input.begin_command();
            let settings = &self.session.settings;
            let idle = if self.capabilities.has(Capabilities::INTERACTIVE) {
                sysvar::INTERACTIVE_TIMEOUT
            } else {
                sysvar::WAIT_TIMEOUT
            };
            let (idle_seconds, read_seconds) = (settings.uint(idle), settings.uint(sysvar::NET_READ_TIMEOUT));
            let limit = self.session.variables.max_allowed_packet as usize;
            transport.write_timeout = Duration::from_secs(settings.uint(sysvar::NET_WRITE_TIMEOUT));
            let packet = loop {
                match input.packet(limit) {
                    Ok(Some(packet)) => break packet,
                    Ok(None) => {}
                    Err(error) => {
                        output.begin_answer(input.next_sequence());
                        answer_error(output, &frame_error(error));
                        return transport.send(output).await;
                    }
                }
                let seconds = if input.is_mid_packet() { read_seconds } else { idle_seconds };
                self.connection.set_deadline(&host.connections, seconds);
                if let Err(Disconnected) = transport.receive(input.buffer()).await {
                    self.say_goodbye(output, transport).await;
                    return Err(Disconnected);
                }
            };
            self.connection.clear_deadline();
            share.begin();
            // the payload borrows from the input, so the answer's number is the one after its last frame
            output.begin_answer((packet.len() / palisade_protocol::constants::MAX_FRAME) as u8 + 1);
            match Command::parse(packet) {
                Ok(command) => {
                    let next = self.execute(command, output, transport).await?;
                    transport.send(output).await?;
                    share.end();
                    self.connection.end(host.connections.now_seconds());
                    if next == Next::End || self.connection.is_killed() {
                        return Ok(());
                    }
                }
                Err(_) => {
                    answer_error(output, &mysql_error!(ER_MALFORMED_PACKET));
                    return transport.send(output).await;
                }
            }
        }
    }

    /// Tells a client that was silent for too long why it is cut off.
    async fn say_goodbye(&self, output: &mut Output, transport: &mut Transport) {
        if self.connection.has_timed_out() {
            output.begin_answer(0);
            answer_error(output, &mysql_error!(ER_CLIENT_INTERACTION_TIMEOUT));
            // the client may be gone as well
            let _ = transport.send(output).await;
        } else if !self.connection.is_killed() {
            status::ABORTED_CLIENTS.increment();
        }
    }

    /// Executes a command and adds its answer.
    async fn execute(
        &mut self,
        command: Command<'_>,
        output: &mut Output,
        transport: &Transport,
    ) -> Result<Next, Disconnected> {
        self.connection.kill.clear_statement();
        status::QUERIES.increment();
        match command {
            Command::Quit => return Ok(Next::End),
            Command::Query(text) => {
                self.begin_command(command.name(), text);
                status::QUESTIONS.increment();
                self.query(text, output, transport).await?;
            }
            Command::StmtExecute { statement, parameters, .. } => {
                status::QUESTIONS.increment();
                status::COM_STMT_EXECUTE.increment();
                self.stmt_execute(statement, parameters, output, transport).await?;
            }
            Command::StmtPrepare(text) => {
                self.begin_command(command.name(), text);
                status::COM_STMT_PREPARE.increment();
                self.stmt_prepare(text, output).await;
            }
            Command::StmtClose(statement) => {
                status::COM_STMT_CLOSE.increment();
                self.stmt_close(statement);
            }
            Command::StmtReset(statement) => {
                status::COM_STMT_RESET.increment();
                let reset = self.statement(statement, "mysqld_stmt_reset").map(|statement| {
                    statement.long_data.clear();
                    statement.long_data_error = None;
                });
                self.answer(output, reset);
            }
            Command::StmtSendLongData { statement, parameter, data } => {
                status::COM_STMT_SEND_LONG_DATA.increment();
                self.stmt_send_long_data(statement, parameter, data);
            }
            Command::StmtFetch { statement } => {
                let none = match self.statement(statement, "mysqld_stmt_fetch") {
                    Ok(_) => mysql_error!(ER_STMT_HAS_NO_OPEN_CURSOR, statement),
                    Err(error) => error,
                };
                answer_error(output, &none);
            }
            Command::Ping => self.answer_ok(output),
            Command::InitDb(name) => {
                let name = String::from_utf8_lossy(name);
                self.session.warnings.clear(self.session.variables.max_error_count);
                let used = self.server.sql.use_database(&mut self.session, &name);
                self.connection.set_database(self.session.database.as_deref());
                self.answer(output, used);
            }
            Command::FieldList { table, pattern } => self.field_list(table, pattern, output).await,
            Command::Statistics => {
                let line = status::statistics(&self.server.host);
                output.packet(|out| out.extend_from_slice(line.as_bytes()));
            }
            Command::ProcessInfo => self.query(b"SHOW FULL PROCESSLIST", output, transport).await?,
            Command::ProcessKill(id) => {
                let killed = self.server.host.kill(&self.session, u64::from(id), false);
                self.answer(output, killed);
            }
            Command::SetMultiStatements(on) => {
                self.session.multi_statements = on;
                let (capabilities, status) = (self.capabilities, self.status());
                output.packet(|out| encode_result_end(out, capabilities, status, 0));
            }
            Command::Refresh(_) => self.answer_ok(output),
            Command::Shutdown => {
                self.answer_ok(output);
                self.server.host.shutdown.complete();
                return Ok(Next::End);
            }
            Command::ResetConnection => {
                let login = Login {
                    user: self.session.user.clone(),
                    capabilities: self.capabilities,
                    collation: None,
                    database: None,
                };
                let database = self.session.database.take();
                self.start_over(&login).await;
                self.session.database = database;
                self.answer_ok(output);
            }
            Command::ChangeUser(body) => match login::change_user(body, self.capabilities, self.peer) {
                Ok(login) => {
                    self.start_over(&login).await;
                    if !self.enter_database(login.database.as_deref(), output) {
                        return Ok(Next::End);
                    }
                }
                Err(error) => {
                    answer_error(output, &error);
                    return Ok(Next::End);
                }
            },
            Command::Debug | Command::Unknown(_) => answer_error(output, &mysql_error!(ER_UNKNOWN_COM_ERROR)),
        }
        Ok(Next::Command)
    }

    fn begin_command(&self, name: &'static str, text: &[u8]) {
        self.connection.begin(name, text, self.server.host.connections.now_seconds());
    }

    /// Executes the statements of a text and answers each.
    async fn query(
        &mut self,
        text: &[u8],
        output: &mut Output,
        transport: &Transport,
    ) -> Result<(), Disconnected> {
        let mut rest = text;
        loop {
            let begun = Instant::now();
            StatementKind::of(rest).count();
            let style = self.result_style(Protocol::Text);
            let mut sink = PacketSink::new(output, transport, &mut self.formats, style);
            let done = self.server.sql.query(&mut self.session, rest, &mut sink).await;
            self.after_statement(begun);
            match done {
                Ok((completion, next)) => {
                    let next = next.map(|at| &rest[at..]).filter(|rest| !is_blank(rest));
                    let more = next.is_some();
                    self.complete(&completion, more, output);
                    match next {
                        Some(text) => rest = text,
                        None => return Ok(()),
                    }
                }
                Err(error) => {
                    answer_error(output, &error);
                    return Ok(());
                }
            }
            if self.connection.is_killed() {
                return Err(Disconnected);
            }
        }
    }

    fn after_statement(&self, begun: Instant) {
        let limit = self.session.settings.double(sysvar::LONG_QUERY_TIME);
        if begun.elapsed().as_secs_f64() > limit {
            status::SLOW_QUERIES.increment();
        }
    }

    /// Adds the packet that ends a statement's answer.
    fn complete(&mut self, completion: &Completion, more: bool, output: &mut Output) {
        if completion.database_changed {
            self.connection.set_database(self.session.database.as_deref());
        }
        let status = self.status().with(Status::MORE_RESULTS, more);
        let warnings = if completion.diagnostic { 0 } else { self.session.warnings.count() };
        if completion.rows {
            let capabilities = self.capabilities;
            output.packet(|out| encode_result_end(out, capabilities, status, warnings));
        } else {
            let ok = OkPacket {
                affected_rows: completion.affected_rows,
                last_insert_id: completion.last_insert_id,
                status,
                warnings,
                info: completion.info.as_bytes(),
            };
            output.packet(|out| ok.encode(out));
        }
    }

    async fn stmt_prepare(&mut self, text: &[u8], output: &mut Output) {
        let prepared = match self.prepare(text).await {
            Ok(prepared) => prepared,
            Err(error) => return answer_error(output, &error),
        };
        self.last_statement = self.last_statement.wrapping_add(1).max(1);
        let id = self.last_statement;
        let (columns, parameters) = (prepared.columns.len() as u16, prepared.parameters as u16);
        let (status, warnings) = (self.status(), self.session.warnings.count());
        let eof = !self.capabilities.has(Capabilities::DEPRECATE_EOF);
        output.packet(|out| encode_prepared(out, id, columns, parameters, warnings));
        for _ in 0..parameters {
            output.packet(|out| ColumnDefinition::PARAMETER.encode(out));
        }
        if parameters > 0 && eof {
            output.packet(|out| encode_eof(out, status, warnings));
        }
        let charset = self.result_charset();
        for column in &prepared.columns {
            output.packet(|out| definition(column, charset).encode(out));
        }
        if columns > 0 && eof {
            output.packet(|out| encode_eof(out, status, warnings));
        }
        let statement = Statement {
            kind: StatementKind::of(&prepared.text),
            prepared,
            types: Vec::new(),
            long_data: HashMap::new(),
            long_data_error: None,
        };
        self.statements.insert(id, statement);
    }

    async fn prepare(&mut self, text: &[u8]) -> Result<Arc<Prepared>, MysqlError> {
        let host = &self.server.host;
        let most = host.globals.uint(sysvar::MAX_PREPARED_STMT_COUNT);
        if host.prepared_statements.fetch_add(1, Ordering::Relaxed) >= most {
            host.prepared_statements.fetch_sub(1, Ordering::Relaxed);
            return Err(mysql_error!(ER_MAX_PREPARED_STMT_COUNT_REACHED, most));
        }
        let prepared = self.server.sql.prepare(&mut self.session, text).await;
        if prepared.is_err() {
            host.prepared_statements.fetch_sub(1, Ordering::Relaxed);
        }
        prepared
    }

    async fn stmt_execute(
        &mut self,
        id: u32,
        body: &[u8],
        output: &mut Output,
        transport: &Transport,
    ) -> Result<(), Disconnected> {
        let mut parameters = std::mem::take(&mut self.parameters);
        let statement = match self.statement(id, "mysqld_stmt_execute") {
            Ok(statement) => statement,
            Err(error) => {
                answer_error(output, &error);
                return Ok(());
            }
        };
        let Statement { prepared, types, long_data, long_data_error, kind } = statement;
        let long = |position: usize| long_data.remove(&(position as u16));
        let decoded = match long_data_error.take() {
            Some(error) => Err(error),
            None => decode_parameters(body, prepared.parameters, types, long, &mut parameters)
                .map_err(|_| mysql_error!(ER_WRONG_ARGUMENTS, "mysqld_stmt_execute")),
        };
        long_data.clear();
        kind.count();
        let prepared = prepared.clone();
        self.begin_command("Execute", &prepared.text);
        let done = match decoded {
            Ok(()) => {
                let begun = Instant::now();
                let style = self.result_style(Protocol::Binary);
                let mut sink = PacketSink::new(output, transport, &mut self.formats, style);
                let done =
                    self.server.sql.execute(&mut self.session, &prepared, &parameters, &mut sink).await;
                self.after_statement(begun);
                done
            }
            Err(error) => Err(error),
        };
        parameters.clear();
        self.parameters = parameters;
        match done {
            Ok(completion) => self.complete(&completion, false, output),
            Err(error) => answer_error(output, &error),
        }
        Ok(())
    }

    fn stmt_send_long_data(&mut self, id: u32, parameter: u16, data: &[u8]) {
        let limit = self.session.variables.max_allowed_packet as usize;
        let Some(statement) = self.statements.get_mut(&id) else { return };
        if usize::from(parameter) >= statement.prepared.parameters {
            statement.long_data_error = Some(mysql_error!(ER_WRONG_ARGUMENTS, "mysqld_stmt_send_long_data"));
            return;
        }
        let so_far = statement.long_data.entry(parameter).or_default();
        if so_far.len() + data.len() > limit {
            statement.long_data_error = Some(mysql_error!(ER_NET_PACKET_TOO_LARGE));
        } else {
            so_far.extend_from_slice(data);
        }
    }

    fn stmt_close(&mut self, id: u32) {
        if self.statements.remove(&id).is_some() {
            self.server.host.prepared_statements.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn statement(&mut self, id: u32, command: &str) -> Result<&mut Statement, MysqlError> {
        self.statements.get_mut(&id).ok_or_else(|| mysql_error!(ER_UNKNOWN_STMT_HANDLER, id, command))
    }

    /// COM_FIELD_LIST: the definitions of a table's columns.
    async fn field_list(&mut self, table: &[u8], pattern: &[u8], output: &mut Output) {
        let mut text = b"SELECT * FROM `".to_vec();
        for byte in table {
            text.push(*byte);
            if *byte == b'`' {
                text.push(b'`');
            }
        }
        text.extend_from_slice(b"` LIMIT 0");
        let mut sink = ColumnsOnly::default();
        let done = self.server.sql.query(&mut self.session, &text, &mut sink).await;
        if let Err(error) = done {
            return answer_error(output, &error);
        }
        let pattern = String::from_utf8_lossy(pattern).to_ascii_lowercase();
        for column in &sink.columns {
            if pattern.is_empty() || like(&pattern, &column.name.to_ascii_lowercase()) {
                let charset = self.result_charset();
                output.packet(|out| definition(column, charset).encode_with_default(None, out));
            }
        }
        let (capabilities, status) = (self.capabilities, self.status());
        output.packet(|out| encode_result_end(out, capabilities, status, 0));
    }

    /// Makes the session as new, for `login`.
    async fn start_over(&mut self, login: &Login) {
        self.server.sql.abandon(&mut self.session).await;
        self.forget_statements();
        self.session = fresh_session(&self.server, &self.connection, login);
    }

    fn forget_statements(&mut self) {
        let count = self.statements.len() as u64;
        self.statements.clear();
        self.server.host.prepared_statements.fetch_sub(count, Ordering::Relaxed);
    }

    async fn end(mut self) {
        self.server.sql.abandon(&mut self.session).await;
        self.forget_statements();
    }

    fn status(&self) -> Status {
        let session = &self.session;
        Status::default()
            .with(Status::AUTOCOMMIT, session.variables.autocommit)
            .with(Status::IN_TRANSACTION, session.in_transaction)
            .with(Status::NO_BACKSLASH_ESCAPES, session.variables.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES))
    }

    fn result_charset(&self) -> Option<palisade_catalog::Charset> {
        self.session.variables.character_set_results.map(|collation| collation.get().charset)
    }

    fn result_style(&self, protocol: Protocol) -> ResultStyle {
        ResultStyle {
            protocol,
            capabilities: self.capabilities,
            charset: self.result_charset(),
            status: self.status(),
            max_packet: self.session.variables.max_allowed_packet as usize,
        }
    }

    fn answer(&self, output: &mut Output, result: Result<(), MysqlError>) {
        match result {
            Ok(()) => self.answer_ok(output),
            Err(error) => answer_error(output, &error),
        }
    }

    fn answer_ok(&self, output: &mut Output) {
        let status = self.status();
        output.packet(|out| OkPacket { status, ..OkPacket::default() }.encode(out));
    }
}

fn answer_error(output: &mut Output, error: &MysqlError) {
    output.packet(|out| encode_error(out, error));
}

fn frame_error(error: FrameError) -> MysqlError {
    match error {
        FrameError::TooLarge => mysql_error!(ER_NET_PACKET_TOO_LARGE),
        FrameError::OutOfOrder => mysql_error!(ER_NET_PACKETS_OUT_OF_ORDER),
    }
}

/// A session with the values of now, in no database.
fn fresh_session(server: &Server, connection: &Connection, login: &Login) -> Session {
    let host = &server.host;
    let settings = SessionSettings::new(host.globals.load());
    let derived = session_variables::derive(&settings);
    let mut session =
        Session::new(connection.id, &login.user, &connection.host, derived, variables::unix_micros() as u64);
    session.settings = settings;
    session.kill = connection.kill.clone();
    session.client_found_rows = login.capabilities.has(Capabilities::FOUND_ROWS);
    session.multi_statements = login.capabilities.has(Capabilities::MULTI_STATEMENTS);
    if let Some(number) = login.collation {
        session_variables::assign_client_collation(&mut session, number);
    }
    session
}

/// Whether nothing but white space, semicolons and zero bytes is left.
fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | 0))
}

/// Whether `text` matches a LIKE pattern of `%` and `_`.
fn like(pattern: &str, text: &str) -> bool {
    let mut pattern_chars = pattern.chars();
    match pattern_chars.next() {
        None => text.is_empty(),
        Some('%') => {
            let rest = pattern_chars.as_str();
            text.char_indices().any(|(at, _)| like(rest, &text[at..])) || like(rest, "")
        }
        Some(expected) => {
            let mut text_chars = text.chars();
            let found = text_chars.next();
            found.is_some_and(|c| expected == '_' || expected == c)
                && like(pattern_chars.as_str(), text_chars.as_str())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_column_names() {
        assert!(like("%", "") && like("%", "abc") && like("a%c", "abc") && like("a_c", "abc"));
        assert!(!like("a_c", "ac") && !like("a%c", "abd") && !like("", "a"));
    }

    #[test]
    fn what_follows_the_last_statement_does_not_count() {
        assert!(is_blank(b" ;\n\0"));
        assert!(!is_blank(b"; x"));
    }
}
