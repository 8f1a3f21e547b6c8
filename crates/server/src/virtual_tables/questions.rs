//! What functions ask about sessions and about what is collected: one value each of what the tables tell.

use std::path::Path;

use palisade_catalog::Value;
use palisade_expr::services::Question;
use palisade_expr::session_state::SessionState;
use palisade_session::environment::Authorization;

use super::processes::without_port;
use super::{text, yes_no};
use crate::accounts::privilege::Privileges;
use crate::connections::Connection;
use crate::host::ServerHost;
use crate::instruments::setup::CONSUMERS;

/// The answer, as far as the session may know of others.
pub fn answer(host: &ServerHost, session: &SessionState, question: Question<'_>) -> Value {
    match question {
        Question::Thread(id) => seen(host, session, id).map_or(Value::Null, |_| Value::UInt(id)),
        Question::Account(id) => seen(host, session, id).map_or(Value::Null, text),
        Question::IsInstrumented(id) => {
            match seen(host, session, id).and_then(|_| host.connections.get(id)) {
                Some(connection) => yes_no(Connection::is_instrumented(&connection)),
                None => text("UNKNOWN"),
            }
        }
        Question::TableOfFile(path) => {
            let table = host.engine.table_of_file(Path::new(path));
            let known = table.filter(|table| {
                let is_known = || host.may_see(session, &table.schema, Some(&table.table));
                !session.is_restricted()
                    || host.asked(session, |asker| asker.has(Privileges::PROCESS))
                    || is_known()
            });
            known.map_or(Value::Null, |table| text(format!("{}/{}", table.schema, table.table)))
        }
        Question::Program => {
            let connection = host.connections.get(session.connection_id);
            let program = connection.and_then(|connection| {
                let attributes = connection.attributes.lock();
                attributes.iter().find(|(name, _)| name == "program_name").map(|(_, value)| text(value))
            });
            program.unwrap_or_default()
        }
        Question::IsAccountEnabled { host: from, user } => {
            yes_no(host.instruments.setup.of_account(user, from).0)
        }
        Question::IsConsumerEnabled(name) => {
            let known = CONSUMERS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
            known.map_or(Value::Null, |(_, consumer)| yes_no(host.instruments.setup.counts(*consumer)))
        }
    }
}

/// The account of a connection, if the session may know of it.
fn seen(host: &ServerHost, session: &SessionState, id: u64) -> Option<String> {
    let sees_all = host.asked(session, |asker| asker.has(Privileges::PROCESS));
    let process = host.connections.processes().into_iter().find(|process| process.id == id)?;
    let is_seen = sees_all || process.activity.user == session.user;
    is_seen.then(|| format!("{}@{}", process.activity.user, without_port(&process.host)))
}
