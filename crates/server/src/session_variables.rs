//! A session's system variables: the rules that tie some of them together, and the form statements read them in.
//!
//! The values are in [`SessionState::settings`](palisade_sql::SessionState::settings); what statements read
//! while they run is [`SessionVariables`], derived from them. [`assign`] is the only way in, so the two are
//! in step.

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{ER_UNKNOWN_STORAGE_ENGINE, ER_UNKNOWN_TIME_ZONE};
use palisade_base::mysql_error;
use palisade_base::sysvar::{SessionSettings, Setting, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::{Charset, Collation, CollationId, Zone};
use palisade_sql::{Session, SessionVariables};

use crate::compression::Allowed;
use crate::time_zone;

/// The text of a variable whose values are names of something, as that thing is spelled; the error if there is no
/// such thing. Other variables' texts are as good as any.
pub fn check_text(name: &str, text: &str) -> Result<String, MysqlError> {
    match name {
        "character_set_client"
        | "character_set_connection"
        | "character_set_database"
        | "character_set_filesystem"
        | "character_set_results"
        | "character_set_server" => charset(text).map(|charset| charset.name().to_owned()),
        "collation_connection"
        | "collation_database"
        | "collation_server"
        | "default_collation_for_utf8mb4" => collation(text).map(|collation| collation.name.to_owned()),
        "default_storage_engine" | "default_tmp_storage_engine" => {
            if text.eq_ignore_ascii_case("innodb") {
                Ok("InnoDB".to_owned())
            } else {
                Err(mysql_error!(ER_UNKNOWN_STORAGE_ENGINE, text))
            }
        }
        "protocol_compression_algorithms" => Allowed::check(text).map(|()| text.to_owned()),
        "time_zone" => zone(text).map(|_| text.to_owned()),
        _ => Ok(text.to_owned()),
    }
}

fn charset(name: &str) -> Result<Charset, MysqlError> {
    Charset::by_name(name).ok_or_else(|| palisade_expr::error::unknown_charset(name))
}

fn collation(name: &str) -> Result<&'static Collation, MysqlError> {
    Collation::by_name(name).ok_or_else(|| palisade_expr::error::unknown_collation(name))
}

/// The zone of a `time_zone` value; SYSTEM is the machine's.
fn zone(text: &str) -> Result<Zone, MysqlError> {
    let zone = palisade_expr::session_variables::zone(text, &time_zone::system().zone);
    zone.ok_or_else(|| mysql_error!(ER_UNKNOWN_TIME_ZONE, text))
}

/// Gives a session variable its value, and those that follow from it theirs. `setting` has been checked to be of the
/// variable's kind.
pub fn assign(session: &mut Session, id: VariableId, setting: Setting) -> Result<(), MysqlError> {
    let setting = match &setting {
        Setting::Text(text) => Setting::Text(check_text(id.declaration().name, text)?.into()),
        _ => setting,
    };
    if let Some((other, follows)) = coupled(id, &setting)? {
        session.state.settings.set(other, follows);
    }
    match id {
        sysvar::TIMESTAMP => {
            let micros = match setting {
                Setting::Double(seconds) if seconds > 0.0 => Some((seconds * 1e6).round() as i64),
                _ => None,
            };
            session.state.variables.timestamp_micros = micros;
            return Ok(());
        }
        sysvar::LAST_INSERT_ID | sysvar::IDENTITY => {
            if let Setting::UInt(value) = setting {
                session.state.last_insert_id = value;
            }
            return Ok(());
        }
        sysvar::INSERT_ID => {
            if let Setting::UInt(value) = setting {
                session.state.insert_id = Some(value).filter(|value| *value > 0);
            }
            return Ok(());
        }
        _ => {}
    }
    session.state.settings.set(id, setting);
    refresh(session);
    Ok(())
}

/// A character set has a default collation and a collation a character set; a limit of rows to examine holds
/// as soon as it is set: the variable that follows when `id` gets the value `setting`, and its value.
pub fn coupled(id: VariableId, setting: &Setting) -> Result<Option<(VariableId, Setting)>, MysqlError> {
    if let (sysvar::MAX_JOIN_SIZE, Setting::UInt(rows)) = (id, setting) {
        return Ok(Some((sysvar::SQL_BIG_SELECTS, Setting::Bool(*rows == u64::MAX))));
    }
    let Setting::Text(name) = setting else { return Ok(None) };
    let follows = match id {
        sysvar::CHARACTER_SET_CONNECTION => sysvar::COLLATION_CONNECTION,
        sysvar::CHARACTER_SET_SERVER => sysvar::COLLATION_SERVER,
        sysvar::COLLATION_CONNECTION => sysvar::CHARACTER_SET_CONNECTION,
        sysvar::COLLATION_SERVER => sysvar::CHARACTER_SET_SERVER,
        _ => return Ok(None),
    };
    let text = match id {
        sysvar::CHARACTER_SET_CONNECTION | sysvar::CHARACTER_SET_SERVER => {
            Collation::default_of(charset(name)?).name
        }
        _ => collation(name)?.charset.name(),
    };
    Ok(Some((follows, Setting::Text(text.into()))))
}

/// Sets what a client says when it logs in: the character set of all that is text.
pub fn assign_client_collation(session: &mut Session, number: u16) {
    let Some(collation) = Collation::by_id(CollationId(number)) else { return };
    let name = collation.charset.name();
    for id in [sysvar::CHARACTER_SET_CLIENT, sysvar::CHARACTER_SET_CONNECTION, sysvar::CHARACTER_SET_RESULTS]
    {
        session.state.settings.set(id, Setting::Text(name.into()));
    }
    session.state.settings.set(sysvar::COLLATION_CONNECTION, Setting::Text(collation.name.into()));
    refresh(session);
}

/// Derives what statements read from the session's settings.
pub fn refresh(session: &mut Session) {
    let timestamp_micros = session.state.variables.timestamp_micros;
    session.state.variables = derive(&session.state.settings);
    session.state.variables.timestamp_micros = timestamp_micros;
    session.state.warnings.keep_notes(session.state.variables.sql_notes);
}

/// The form of `settings` that statements read.
pub fn derive(settings: &SessionSettings) -> SessionVariables {
    SessionVariables::of(settings, &time_zone::system().zone)
}
