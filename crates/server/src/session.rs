//! A connection, from its login to its end: one command after the other.
//!
//! It lives on one worker after another: a `Resident` is what moves.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{
    ER_CLIENT_INTERACTION_TIMEOUT, ER_INTERNAL_ERROR, ER_MALFORMED_PACKET, ER_NET_PACKET_TOO_LARGE,
    ER_NET_PACKETS_OUT_OF_ORDER, ER_UNKNOWN_ERROR,
};
use palisade_base::mysql_error;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::Value;
use palisade_expr::mode::SqlMode;
use palisade_protocol::handshake::Scramble;
use palisade_protocol::response::{
    Ok as OkPacket, SessionChange, encode_error, encode_result_end, put_change,
};
use palisade_protocol::row::ColumnFormat;
use palisade_protocol::{Capabilities, Command, FrameError, Output, Status};
use palisade_session::command::Command as SqlCommand;
use palisade_session::prepared_count::Counted;
use palisade_sql::session::SecurityContext;
use palisade_sql::{Completion, PlanCache, Session, SessionState};
use tracing::warn;

mod command;

use crate::channel::{Channel, Detached, Disconnected, Transport};
use crate::connections::{Before, Connection, Visit};
use crate::fault::{self, Panicked};
use crate::instruments::people::AccountKey;
use crate::instruments::{self, FrequentTexts, Observed};
use crate::login::{self, Login, Peer};
use crate::login_pace::{charged, paced};
use crate::numbered::Numbered;
use crate::prepared::Statement;
use crate::query_logs::slow;
use crate::reactor::timeout;
use crate::result_set::{PacketSink, Protocol, ResultStyle};
use crate::server::Server;
use crate::status::{self, Own};
use crate::worker::Share;
use crate::{entry, task};

/// A login may take so many times `connect_timeout`, which bounds each wait for the client.
const LONGEST_LOGIN: u32 = 10;

/// Serves a client until it leaves or is made to.
pub async fn serve(server: Arc<Server>, mut channel: Channel, peer: Peer, visit: Visit, share: Share) {
    // It leaves the list before the socket is closed: a client that has seen the one counts on the other.
    let visit = visit;
    let connection: &Arc<Connection> = &visit;
    let host = &server.host;
    let limit = Duration::from_secs(host.globals.uint(sysvar::CONNECT_TIMEOUT));
    channel.transport.patience = Some(limit);
    let login = login::login(&mut channel, host, peer);
    let login = paced(&share, &host.connections, connection, login);
    let login = match timeout(share.event_loop(), limit * LONGEST_LOGIN, login).await {
        Some(Ok(login)) => login,
        Some(Err(Disconnected)) | None => return status::ABORTED_CONNECTS.increment(),
    };
    let pace = share.login_pace().clone();
    charged(&pace, begin(server, channel, peer, visit, share, login)).await;
}

/// Serves a client that has proved who it is, if it may come in.
async fn begin(
    server: Arc<Server>,
    mut channel: Channel,
    peer: Peer,
    visit: Visit,
    share: Share,
    login: Login,
) {
    // As in `serve`.
    let visit = visit;
    let connection: &Arc<Connection> = &visit;
    let host = &server.host;
    channel.transport.patience = None;
    let is_administrator = match entry::admit(host, connection, &login) {
        Ok(is_administrator) => is_administrator,
        Err(error) => {
            host.note_refusal(connection, &login.user, &error);
            answer_error(&mut channel.output, &error);
            // the connection ends in any case
            let _ = channel.flush().await;
            return;
        }
    };
    let compression = login.compression;
    let (conversation, begun) =
        Conversation::begin(&server, connection, peer, share.plans(), login, &mut channel.output);
    if channel.flush().await.is_err() || !begun {
        return conversation.end().await;
    }
    if let Some(algorithm) = compression {
        if channel.transport.start_compression(algorithm).is_err() {
            return conversation.end().await;
        }
        // there is one login for a connection
        let _ = connection.compression.set(algorithm);
    }
    let mut conversation = conversation;
    if host.connections.is_logged() {
        conversation.log_login().await;
    }
    if !is_administrator && !conversation.init_connect(&mut channel).await {
        return conversation.end().await;
    }
    Resident { visit, channel, conversation }.stay(share).await;
}

/// A connection has come to its end by an error of the operating system.
pub(crate) fn lost(error: &std::io::Error) {
    warn!("lost a connection: {error}");
}

/// A client that has logged in, wherever it is served.
struct Resident<C = Channel> {
    /// Ends before the socket is closed, as long as there is one.
    visit: Visit,
    channel: C,
    conversation: Conversation,
}

impl Resident {
    /// Serves it on this worker until it ends or goes on with another.
    async fn stay(mut self, mut share: Share) {
        let ran = fault::survive_all(pin!(self.conversation.run(&mut self.channel, &mut share))).await;
        // A panic between two statements leaves no step to go on with.
        let ran = ran.unwrap_or(Ok(Leave::End));
        if ran.is_err() && self.visit.is_lost() {
            status::ABORTED_CLIENTS.increment();
        }
        let moved = match ran {
            Ok(Leave::To(worker)) => self.channel.detach().map(|channel| (worker, channel)),
            // however it ends, what is open is rolled back
            Ok(Leave::End) | Err(Disconnected) => return self.conversation.end().await,
        };
        let Resident { visit, conversation, .. } = self;
        match moved {
            Ok((worker, channel)) => {
                let connection = Arc::clone(&visit);
                let resident = Resident { visit, channel, conversation };
                share.move_to(worker, &connection, |share| resident.arrive(share));
            }
            Err(error) => {
                lost(&error);
                conversation.end().await;
            }
        }
    }
}

impl Resident<Detached> {
    /// Goes on with another worker.
    fn arrive(self, share: Share) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            let Resident { visit, channel, mut conversation } = self;
            match channel.attach(share.event_loop()) {
                Ok(channel) => {
                    conversation.adopt(share.plans());
                    Resident { visit, channel, conversation }.stay(share).await;
                }
                Err(error) => {
                    lost(&error);
                    conversation.end().await;
                }
            }
        })
    }
}

/// Why a worker's part ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Leave {
    /// The connection ends.
    End,
    /// It goes on with this worker.
    To(usize),
}

/// Whether the connection goes on after a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Command,
    End,
}

/// The state of a connection whose client has logged in.
pub(crate) struct Conversation {
    pub(crate) server: Arc<Server>,
    pub(crate) connection: Arc<Connection>,
    pub(crate) peer: Peer,
    pub(crate) capabilities: Capabilities,
    pub(crate) session: Session,
    /// What proofs on this connection are computed with.
    scramble: Scramble,
    pub(crate) statements: Numbered<Statement>,
    /// Each one's part of the server's prepared statements, beside them: what every execution reads stays
    /// small.
    pub(crate) counted: Vec<Counted>,
    /// Lent to results, for their memory.
    pub(crate) formats: Vec<ColumnFormat>,
    /// Lent to executions, for their memory.
    pub(crate) parameters: Vec<Value>,
    /// What the session had counted before the statement, while there is a slow query log.
    pub(crate) counted_before: Option<Box<slow::Before>>,
    /// Texts without a plan that it executes again and again.
    pub(crate) frequent_texts: FrequentTexts,
    /// The processor time of its statement is measured.
    pub(crate) is_metered: bool,
}

impl Conversation {
    /// The state after `login`. Adds the OK to `output`; or an ERR, and then the second value is false.
    fn begin(
        server: &Arc<Server>,
        connection: &Arc<Connection>,
        peer: Peer,
        plans: &Arc<PlanCache>,
        login: Login,
        output: &mut Output,
    ) -> (Conversation, bool) {
        let session = entry::session_of(server, connection, plans, &login);
        let mut conversation = Conversation {
            server: server.clone(),
            connection: connection.clone(),
            peer,
            capabilities: login.capabilities,
            session,
            scramble: login.scramble,
            statements: Numbered::default(),
            counted: Vec::new(),
            formats: Vec::new(),
            parameters: Vec::new(),
            counted_before: None,
            frequent_texts: FrequentTexts::default(),
            is_metered: false,
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
        let SessionState { user, security: SecurityContext { account, .. }, database, .. } =
            &self.session.state;
        self.connection.identify(user, account, database.as_deref());
        match used {
            Ok(()) => {
                let key = AccountKey { user: user.clone(), host: self.connection.host.clone() };
                let instruments = &self.server.host.instruments;
                let (is_collected, has_history) = instruments.setup.of_account(&key.user, &key.host);
                let of_threads = instruments.threads.of_connections();
                let says = |of_history| of_threads.is_none_or(|class| class.says(of_history));
                self.connection.set_instrumented(is_collected && says(false));
                self.connection.set_history(has_history && says(true));
                self.server.host.connections.people.changes(&self.connection, Some(key));
                self.connection.end(self.server.host.connections.now_seconds());
                self.answer_ok(output);
            }
            Err(ref error) => {
                self.server.host.note_refusal(&self.connection, user, error);
                answer_error(output, error);
            }
        }
        used.is_ok()
    }

    /// Uses the plans of another worker's sessions from now on.
    fn adopt(&mut self, plans: &Arc<PlanCache>) {
        self.session.plans = plans.clone();
        self.statements.values_mut().for_each(|statement| statement.adopt(plans));
        self.session.prepared.values_mut().for_each(|named| named.prepared = plans.adopt(&named.prepared));
    }

    async fn run(&mut self, channel: &mut Channel, share: &mut Share) -> Result<Leave, Disconnected> {
        let host = self.server.host.clone();
        loop {
            let Channel { input, output, transport } = channel;
            input.begin_command();
            let variables = &self.session.state.variables;
            let (idle_seconds, read_seconds) = (variables.wait_timeout, variables.net_read_timeout);
            let limit = variables.max_allowed_packet as usize;
            transport.write_timeout = variables.net_write_timeout;
            transport.read_timeout = Duration::from_secs(read_seconds);
            self.follow_durable_reads(transport);
            let packet = loop {
                match input.packet(limit) {
                    Ok(Some(packet)) => break packet,
                    Ok(None) => {}
                    Err(error) => {
                        output.begin_answer(input.next_sequence());
                        answer_error(output, &frame_error(error));
                        return transport.send(output).await.map(|()| Leave::End);
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
            // the payload borrows from the input, so the answer's number is the one after its last frame
            output.begin_answer((packet.len() / palisade_protocol::constants::MAX_FRAME) as u8 + 1);
            match Command::parse(packet) {
                Ok(Command::ChangeUser(body)) => {
                    let body = body.to_vec();
                    if self.change_user(channel, &body).await? == Next::End {
                        return Ok(Leave::End);
                    }
                    self.connection.end(host.connections.now_seconds());
                }
                Ok(command) => {
                    let next = self.execute_safely(command, output, transport).await?;
                    transport.send(output).await?;
                    self.connection.end(host.connections.now_seconds());
                    if next == Next::End || self.connection.is_killed() {
                        return Ok(Leave::End);
                    }
                    task::settle_down().await;
                    if transport.stream().is_incessant() {
                        task::yield_now().await;
                    }
                    if let Some(worker) = share.better_worker(transport.stream()) {
                        return Ok(Leave::To(worker));
                    }
                }
                Err(_) => {
                    answer_error(output, &mysql_error!(ER_MALFORMED_PACKET));
                    return transport.send(output).await.map(|()| Leave::End);
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
        }
    }

    /// [`Self::execute`]; if that panics the client is told, what is open is rolled back, and the session
    /// goes on.
    async fn execute_safely(
        &mut self,
        command: Command<'_>,
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<Next, Disconnected> {
        let done = fault::survive_all(pin!(self.execute(command, output, transport))).await;
        match done {
            Ok(done) => done,
            Err(Panicked) => {
                self.server.sql.recover(&mut self.session).await;
                output.end_unfinished_packet();
                let message = "Internal error: the statement was ended, its transaction is rolled back";
                answer_error(output, &MysqlError::with_message(&ER_UNKNOWN_ERROR, message));
                Ok(Next::Command)
            }
        }
    }

    /// Executes a command and adds its answer.
    async fn execute(
        &mut self,
        command: Command<'_>,
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<Next, Disconnected> {
        if self.begin_to_count().has(Before::GENERAL_LOG) {
            // Boxed: every command has room for this future, and few are logged.
            Box::pin(self.log_command(&command)).await;
        }
        match command {
            Command::Query(text) => {
                self.begin_command(command.name(), text);
                self.count(Own::Questions);
                #[cfg(debug_assertions)]
                if let Some(error) = fault::fail_on_demand(text) {
                    self.answer_failure(output, &error, text);
                    return Ok(Next::Command);
                }
                self.query(text, output, transport).await?;
            }
            Command::StmtExecute { statement, cursor, parameters } => {
                self.count(Own::Questions);
                self.session.commands.add(SqlCommand::StmtExecute);
                self.stmt_execute((statement, cursor), parameters, output, transport).await?;
            }
            other => return self.execute_other(other, output, transport).await,
        }
        Ok(Next::Command)
    }

    /// A command begins: what was asked of the one before is over. Gives what else is to be done before it.
    fn begin_to_count(&mut self) -> Before {
        self.connection.kill.clear_statement();
        let before = self.connection.before_command();
        if !before.is_nothing() {
            self.begin_anew(before);
        }
        self.count(Own::Queries);
        before
    }

    /// Does what has been asked for before a command.
    #[cold]
    fn begin_anew(&mut self, before: Before) {
        if before.has(Before::COUNT_OVER) {
            self.connection.counters.start_over();
            self.session.work.start_over();
            self.session.commands.start_over();
        }
        if before.has(Before::OBSERVED_ANEW) {
            self.session.work.mark(|_, _| ());
            self.session.executed = None;
        }
        if before.has(Before::SLOW_LOG) {
            let now = slow::Before::of(&self.session, &self.connection);
            match &mut self.counted_before {
                Some(before) => **before = now,
                none => *none = Some(Box::new(now)),
            }
        }
    }

    /// A command begins: for the process list.
    pub(crate) fn begin_command(&self, name: &'static str, text: &[u8]) {
        self.connection.begin(name, text, self.server.host.connections.now_seconds());
    }

    /// Executes the statements of a text and answers each.
    async fn query(
        &mut self,
        text: &[u8],
        output: &mut Output,
        transport: &mut Transport,
    ) -> Result<(), Disconnected> {
        let mut rest = text;
        loop {
            let begun = Instant::now();
            let is_observed = self.server.host.instruments.collects();
            if is_observed {
                self.begin_to_observe(begun);
            }
            self.session.begin_profile(&*self.server.host);
            let style = self.result_style(Protocol::Text);
            let sink = PacketSink::new(output, transport, &mut self.formats, style);
            let mut sink = sink.with_uploads(&self.server.host.globals);
            let done = self.server.sql.query(&mut self.session, rest, &mut sink).await;
            let rows_sent = sink.rows();
            self.session.begin_stage(&*self.server.host, "cleaning up");
            let took = self.after_statement(begun);
            let end = done.as_ref().ok().and_then(|(_, next)| *next);
            let own = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
            if is_observed {
                let outcome = instruments::outcome(&done, |(completion, _)| completion);
                let (class, prepared) = (None, None);
                let followed = std::mem::take(&mut self.session.executed_named);
                self.observe(&Observed { class, text: own, took, rows_sent, outcome, prepared, followed });
            }
            if self.is_watched() {
                let error = done.as_ref().err().map_or(0, MysqlError::number);
                Box::pin(self.log_if_slow(slow::Ended { text: rest, begun, rows_sent, error })).await;
            }
            self.session.end_profile(&*self.server.host, own);
            match done {
                Ok((completion, next)) => {
                    let next = next.and_then(|at| rest.get(at..)).filter(|rest| !is_blank(rest));
                    let more = next.is_some();
                    let extra = if more { Status::MORE_RESULTS } else { Status::default() };
                    self.complete(&completion, extra, output);
                    match next {
                        Some(text) => rest = text,
                        None => return Ok(()),
                    }
                }
                Err(error) => {
                    self.answer_failure(output, &error, rest);
                    return Ok(());
                }
            }
            if self.connection.is_killed() {
                return Err(Disconnected);
            }
            // The statement before may have set the variable.
            self.follow_durable_reads(transport);
        }
    }

    /// Has answers wait for the log from now on, or no longer, as `palisade_durable_reads` says.
    fn follow_durable_reads(&self, transport: &mut Transport) {
        if self.session.state.variables.durable_reads != transport.durable_reads.is_some() {
            let engine = &self.server.host.engine;
            transport.durable_reads = transport.durable_reads.is_none().then(|| engine.clone());
        }
    }

    /// A statement has ended. Gives how long it took.
    pub(crate) fn after_statement(&self, begun: Instant) -> Duration {
        let took = begun.elapsed();
        if took.as_secs_f64() > self.session.state.variables.long_query_time {
            self.count(Own::SlowQueries);
        }
        took
    }

    fn count(&self, which: Own) {
        self.connection.counters.add(which, 1);
    }

    /// What has changed in the session since the client was told, if it wants to know.
    fn changes(&mut self, database_changed: bool) -> Vec<u8> {
        let mut changed = std::mem::take(&mut self.session.changed_settings);
        let mut list = Vec::new();
        if !self.capabilities.has(Capabilities::SESSION_TRACK) || changed.is_empty() && !database_changed {
            return list;
        }
        let settings = &self.session.state.settings;
        let followed = settings.text(sysvar::SESSION_TRACK_SYSTEM_VARIABLES).unwrap_or_default();
        changed.dedup();
        for id in &changed {
            let variable = id.declaration();
            if followed.split(',').any(|name| name.trim() == "*" || name.trim() == variable.name) {
                let value = variable.shown(settings.get(*id));
                put_change(&mut list, SessionChange::Variable(variable.name, &value));
            }
        }
        if database_changed && settings.bool(sysvar::SESSION_TRACK_SCHEMA) {
            let database = self.session.state.database.as_deref().unwrap_or_default();
            put_change(&mut list, SessionChange::Schema(database));
        }
        if settings.bool(sysvar::SESSION_TRACK_STATE_CHANGE) {
            put_change(&mut list, SessionChange::State);
        }
        list
    }

    fn answer_change_of_database(&mut self, output: &mut Output) {
        let (status, changes) = (self.status(), self.changes(true));
        output.packet(|out| OkPacket { status, changes: &changes, ..OkPacket::default() }.encode(out));
    }

    /// Adds the packet that ends a statement's answer.
    pub(crate) fn complete(&mut self, completion: &Completion, extra: Status, output: &mut Output) {
        if completion.database_changed {
            self.connection.set_database(self.session.state.database.as_deref());
        }
        let status = self.status() | extra;
        let changes = self.changes(completion.database_changed);
        let left = self.session.state.warnings.count();
        let warnings = if completion.diagnostic { completion.conditions } else { left };
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
                changes: &changes,
            };
            output.packet(|out| ok.encode(out));
        }
    }

    /// Makes the session as new, for `login`.
    async fn start_over(&mut self, login: &Login) {
        let plans = &self.session.plans;
        self.replace_session(entry::session_of(&self.server, &self.connection, plans, login)).await;
    }

    async fn replace_session(&mut self, session: Session) {
        self.leave_session().await;
        self.session = session;
    }

    async fn end(mut self) {
        self.leave_session().await;
    }

    async fn leave_session(&mut self) {
        self.server.sql.abandon(&mut self.session).await;
        self.observe_end();
        self.forget_statements();
    }

    pub(crate) fn status(&self) -> Status {
        let session = &self.session;
        Status::default()
            .with(Status::AUTOCOMMIT, session.state.variables.autocommit)
            .with(Status::IN_TRANSACTION, session.in_transaction)
            .with(
                Status::NO_BACKSLASH_ESCAPES,
                session.state.variables.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
            )
    }

    pub(crate) fn result_charset(&self) -> Option<palisade_catalog::Charset> {
        self.session.state.variables.character_set_results.map(|collation| collation.get().charset)
    }

    pub(crate) fn result_style(&self, protocol: Protocol) -> ResultStyle {
        ResultStyle {
            protocol,
            capabilities: self.capabilities,
            charset: self.result_charset(),
            status: self.status(),
            max_packet: self.session.state.variables.max_allowed_packet as usize,
        }
    }

    pub(crate) fn answer(&self, output: &mut Output, result: Result<(), MysqlError>) {
        match result {
            Ok(()) => self.answer_ok(output),
            Err(error) => answer_error(output, &error),
        }
    }

    pub(crate) fn answer_ok(&self, output: &mut Output) {
        let status = self.status();
        output.packet(|out| OkPacket { status, ..OkPacket::default() }.encode(out));
    }
}

impl Conversation {
    /// Answers that a statement has failed. A mistake of this program's is in the error log, too.
    pub(crate) fn answer_failure(&self, output: &mut Output, error: &MysqlError, text: &[u8]) {
        if error.number() == ER_INTERNAL_ERROR.number {
            let options = palisade_sql::sql::parse_options(&self.session);
            fault::report(error, self.connection.id, text, &options);
        }
        answer_error(output, error);
    }
}

/// Adds an ERR packet.
pub(crate) fn answer_error(output: &mut Output, error: &MysqlError) {
    output.packet(|out| encode_error(out, error));
}

fn frame_error(error: FrameError) -> MysqlError {
    match error {
        FrameError::TooLarge => mysql_error!(ER_NET_PACKET_TOO_LARGE),
        FrameError::OutOfOrder => mysql_error!(ER_NET_PACKETS_OUT_OF_ORDER),
    }
}

/// Whether nothing but white space, semicolons and zero bytes is left.
pub(crate) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|byte| byte.is_ascii_whitespace() || matches!(byte, b';' | 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_last_statement_does_not_count() {
        assert!(is_blank(b" ;\n\0"));
        assert!(!is_blank(b"; x"));
    }
}
