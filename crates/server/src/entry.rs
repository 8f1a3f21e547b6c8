//! What surrounds a session's commands: what keeps a client out whose proof was right, the statements of
//! `init_connect` before the first of them, and their entries in the query logs; and the session that a
//! client begins with.

use std::sync::Arc;

use palisade_base::error_catalogue::{
    ER_CON_COUNT_ERROR, ER_NEW_ABORTING_CONNECTION, ER_SERVER_OFFLINE_MODE, ER_SPECIFIC_ACCESS_DENIED_ERROR,
    ER_TOO_MANY_USER_CONNECTIONS,
};
use palisade_base::sysvar::SessionSettings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_base::{MysqlError, mysql_error};
use palisade_parser::ParseOptions;
use palisade_protocol::{Capabilities, Command};
use palisade_sql::session::{Authority, SecurityContext};
use palisade_sql::{PlanCache, Session, SessionState};
use tracing::warn;

use crate::channel::Channel;
use crate::connections::Connection;
use crate::host::ServerHost;
use crate::login::{Login, Peer};
use crate::query_logs::general::Asked;
use crate::query_logs::{Argument, Who, slow};
use crate::result_set::ColumnsOnly;
use crate::server::Server;
use crate::session::{Conversation, answer_error, is_blank};
use crate::{session_variables, status, variables};

/// The privilege that `admin_address` asks for.
const AT_ADMIN_ADDRESS: &str = "SERVICE_CONNECTION_ADMIN";

/// Lets a client in whose proof was right, if nothing keeps it out. Whether it is an administrator: the one
/// beyond max_connections must be, and one of them always gets in.
pub(crate) fn admit(host: &ServerHost, connection: &Connection, login: &Login) -> Result<bool, MysqlError> {
    if connection.is_administrative && !login.account.has_dynamic(AT_ADMIN_ADDRESS) {
        return Err(mysql_error!(ER_SPECIFIC_ACCESS_DENIED_ERROR, AT_ADMIN_ADDRESS));
    }
    let most = host.globals.uint(sysvar::MAX_CONNECTIONS) as usize;
    let is_administrator = login.account.has_dynamic("CONNECTION_ADMIN");
    if !host.connections.admit(connection, most, is_administrator) {
        status::CONNECTION_ERRORS_MAX_CONNECTIONS.increment();
        return Err(mysql_error!(ER_CON_COUNT_ERROR));
    }
    check(host, connection, login, is_administrator).inspect_err(|_| status::ABORTED_CONNECTS.increment())?;
    Ok(is_administrator)
}

/// 3032 or 1203.
fn check(
    host: &ServerHost,
    connection: &Connection,
    login: &Login,
    is_administrator: bool,
) -> Result<(), MysqlError> {
    let globals = host.globals.load();
    if globals.bool(sysvar::OFFLINE_MODE) && !is_administrator {
        return Err(mysql_error!(ER_SERVER_OFFLINE_MODE));
    }
    // It counts itself: of two that log in at the same time neither overlooks the other.
    let account = format!("{}@{}", login.account.name.user, login.account.name.host);
    connection.identify(&login.user, &account, None);
    let most = globals.uint(sysvar::MAX_USER_CONNECTIONS) as usize;
    if most > 0 && !connection.is_administrative && host.connections.count_of(&connection.account()) > most {
        return Err(mysql_error!(ER_TOO_MANY_USER_CONNECTIONS, login.user));
    }
    Ok(())
}

impl Conversation {
    /// Writes the login to the general log.
    pub(crate) async fn log_login(&self) {
        let host = &self.server.host;
        let SessionState { user, client_host, database, .. } = &self.session.state;
        let by = match (self.peer, self.connection.tls.get()) {
            (Peer::Local, _) => "Socket",
            (Peer::Remote(_), Some(_)) => "SSL/TLS",
            (Peer::Remote(_), None) => "TCP/IP",
        };
        let database = database.as_deref().unwrap_or_default();
        let text = format!("{user}@{client_host} on {database} using {by}");
        let asked = Asked {
            connection: self.connection.id,
            user_host: self.who().shown(),
            command: "Connect",
            argument: Argument::Plain(text.into_bytes()),
        };
        host.general_log.write(&self.server, asked).await;
    }

    /// Executes `init_connect`. If one of its statements fails the client's first command is answered with
    /// 1184; the connection then ends, and this is false.
    pub(crate) async fn init_connect(&mut self, channel: &mut Channel) -> bool {
        let text = match self.server.host.globals.load().text(sysvar::INIT_CONNECT) {
            None | Some("") => return true,
            Some(text) => text.to_owned(),
        };
        let multi_statements = std::mem::replace(&mut self.session.multi_statements, true);
        let mut rest = text.as_bytes();
        let problem = loop {
            let mut sink = ColumnsOnly::default();
            match self.server.sql.query(&mut self.session, rest, &mut sink).await {
                Ok((_, Some(next))) => rest = rest.get(next..).unwrap_or_default(),
                Ok((_, None)) => break None,
                Err(error) => break Some(error),
            }
            if is_blank(rest) {
                break None;
            }
        };
        self.session.multi_statements = multi_statements;
        self.session.state.warnings.clear(self.session.state.variables.max_error_count);
        self.connection.set_database(self.session.state.database.as_deref());
        let Some(problem) = problem else { return true };
        warn!("init_connect failed for {}: {}", self.session.state.security.account, problem.message);
        let SessionState { user, client_host, database, .. } = &self.session.state;
        let database = database.as_deref().unwrap_or("unconnected");
        let error = mysql_error!(
            ER_NEW_ABORTING_CONNECTION,
            self.connection.id,
            database,
            user,
            client_host,
            "init_connect command failed"
        );
        let limit = self.session.state.variables.max_allowed_packet as usize;
        channel.input.begin_command();
        while let Ok(None) = channel.input.packet(limit) {
            let idle_seconds = self.session.state.settings.uint(sysvar::WAIT_TIMEOUT);
            self.connection.set_deadline(&self.server.host.connections, idle_seconds);
            if channel.transport.receive(channel.input.buffer()).await.is_err() {
                return false;
            }
        }
        channel.output.begin_answer(channel.input.next_sequence());
        answer_error(&mut channel.output, &error);
        // the connection ends in any case
        let _ = channel.flush().await;
        false
    }

    /// Writes the command to the general log, unless the session's are left out of it.
    pub(crate) async fn log_command(&mut self, command: &Command<'_>) {
        if self.session.state.settings.bool(sysvar::SQL_LOG_OFF) {
            return;
        }
        let host = self.server.host.clone();
        let options = palisade_sql::sql::parse_options(&self.session);
        let prepared = ParseOptions { placeholders: true, ..options };
        let is_raw = host.globals.load().bool(sysvar::LOG_RAW);
        let statements = |text: &[u8], options: ParseOptions| match is_raw {
            true => Argument::Plain(text.to_vec()),
            false => Argument::Statements(text.to_vec(), options),
        };
        let (name, argument) = match command {
            Command::Query(text) => ("Query", statements(text, options)),
            Command::InitDb(name) => ("Init DB", Argument::Plain(name.to_vec())),
            Command::StmtPrepare(text) => ("Prepare", statements(text, prepared)),
            Command::StmtExecute { statement, .. } => match self.statements.get_mut(*statement) {
                Some(statement) => ("Execute", statements(statement.text(), prepared)),
                None => return,
            },
            other => (other.name(), Argument::Plain(Vec::new())),
        };
        let (connection, user_host) = (self.connection.id, self.who().shown());
        let asked = Asked { connection, user_host, command: name, argument };
        host.general_log.write(&self.server, asked).await;
    }

    /// Writes a statement to the slow query log, if it is one for it. What is counted from here on is the
    /// next one's.
    pub(crate) async fn log_if_slow(&mut self, ended: slow::Ended<'_>) {
        let Some(mut before) = self.counted_before.take() else { return };
        let host = self.server.host.clone();
        let settings = host.globals.load();
        if !slow::is_on(&settings) {
            return;
        }
        host.slow_log.look(&self.server, &settings, self.who(), &before, ended).await;
        *before = slow::Before::of(&self.session, &self.connection);
        self.counted_before = Some(before);
    }

    /// Whose commands they are, for the query logs.
    fn who(&self) -> Who<'_> {
        Who { session: &self.session, connection: &self.connection, peer: self.peer }
    }

    /// Whether statements are looked at for the slow query log.
    pub(crate) fn is_watched(&self) -> bool {
        self.counted_before.is_some()
    }
}

/// The session of a client that has logged in, in no database yet.
pub(crate) fn session_of(
    server: &Server,
    connection: &Connection,
    plans: &Arc<PlanCache>,
    login: &Login,
) -> Session {
    let mut session = fresh_session(server, connection, plans, &login.user, login.capabilities);
    let name = &login.account.name;
    let authority =
        if login.account.is_unrestricted() { Authority::Unrestricted } else { Authority::Restricted };
    session.state.security = SecurityContext::of_account(format!("{}@{}", name.user, name.host), authority);
    if let Some(number) = login.collation {
        session_variables::assign_client_collation(&mut session, number);
    }
    connection.show_settings(&session.state.settings);
    session
}

/// A session with the values of now, in no database.
pub(crate) fn fresh_session(
    server: &Server,
    connection: &Connection,
    plans: &Arc<PlanCache>,
    user: &str,
    capabilities: Capabilities,
) -> Session {
    let host = &server.host;
    let mut settings = SessionSettings::new(host.globals.load());
    if capabilities.has(Capabilities::INTERACTIVE) {
        let limit = settings.get(sysvar::INTERACTIVE_TIMEOUT).clone();
        settings.set(sysvar::WAIT_TIMEOUT, limit);
    }
    let derived = session_variables::derive(&settings);
    let mut session =
        Session::new(connection.id, user, &connection.host, derived, variables::unix_micros() as u64);
    session.state.settings = settings;
    session.plans = plans.clone();
    session.state.memory.join(&host.memory);
    session.state.kill = connection.kill.clone();
    session.client_found_rows = capabilities.has(Capabilities::FOUND_ROWS);
    session.multi_statements = capabilities.has(Capabilities::MULTI_STATEMENTS);
    connection.show_settings(&session.state.settings);
    connection.show_user_variables(&session.state.user_variables);
    session
}
