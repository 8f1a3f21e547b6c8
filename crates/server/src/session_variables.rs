//! A session's system variables: the rules that tie some of them together, and the form statements read them in.
//!
//! The values are in [`SessionState::settings`](palisade_sql::SessionState::settings); what statements read
//! while they run is [`SessionVariables`], derived from them. [`assign`] is the only way in, so the two are
//! in step.

use std::time::Duration;

use palisade_base::MysqlError;
use palisade_base::error_catalogue::{ER_UNKNOWN_STORAGE_ENGINE, ER_UNKNOWN_TIME_ZONE};
use palisade_base::mysql_error;
use palisade_base::sysvar::{SessionSettings, Setting, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::{Charset, Collation, CollationId, Zone};
use palisade_engine::IsolationLevel;
use palisade_expr::mode::SqlMode;
use palisade_sql::session::CompletionType;
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
    Collation::by_name(name).ok_or_else(|| palisade_sql::bind::unknown_collation(name))
}

/// The zone of a `time_zone` value; SYSTEM is the machine's.
fn zone(text: &str) -> Result<Zone, MysqlError> {
    if text.eq_ignore_ascii_case("SYSTEM") {
        return Ok(time_zone::system().zone.clone());
    }
    Zone::parse(text).ok_or_else(|| mysql_error!(ER_UNKNOWN_TIME_ZONE, text))
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

fn default_collation(name: Option<&str>) -> Option<CollationId> {
    Charset::by_name(name?).map(|charset| Collation::default_of(charset).id)
}

/// The form of `settings` that statements read.
pub fn derive(settings: &SessionSettings) -> SessionVariables {
    let seconds = |id| Duration::from_secs(settings.uint(id));
    SessionVariables {
        sql_mode: SqlMode::of(settings.flags(sysvar::SQL_MODE)),
        autocommit: settings.bool(sysvar::AUTOCOMMIT),
        isolation: isolation(settings.enumerated(sysvar::TRANSACTION_ISOLATION)),
        read_only: settings.bool(sysvar::TRANSACTION_READ_ONLY),
        time_zone: settings.text(sysvar::TIME_ZONE).and_then(|text| zone(text).ok()).unwrap_or(Zone::UTC),
        character_set_client: default_collation(settings.text(sysvar::CHARACTER_SET_CLIENT))
            .unwrap_or_default(),
        collation_connection: settings
            .text(sysvar::COLLATION_CONNECTION)
            .and_then(Collation::by_name)
            .map_or_else(CollationId::default, |collation| collation.id),
        character_set_results: default_collation(settings.text(sysvar::CHARACTER_SET_RESULTS)),
        lock_wait_timeout: seconds(sysvar::INNODB_LOCK_WAIT_TIMEOUT),
        rollback_on_timeout: settings.bool(sysvar::INNODB_ROLLBACK_ON_TIMEOUT),
        snapshot_isolation: settings.bool(sysvar::INNODB_SNAPSHOT_ISOLATION),
        metadata_lock_wait_timeout: seconds(sysvar::LOCK_WAIT_TIMEOUT),
        max_execution_time: Duration::from_millis(settings.uint(sysvar::MAX_EXECUTION_TIME)),
        sql_select_limit: settings.uint(sysvar::SQL_SELECT_LIMIT),
        max_join_size: (!settings.bool(sysvar::SQL_BIG_SELECTS))
            .then(|| settings.uint(sysvar::MAX_JOIN_SIZE)),
        group_concat_max_len: settings.uint(sysvar::GROUP_CONCAT_MAX_LEN),
        max_allowed_packet: settings.uint(sysvar::MAX_ALLOWED_PACKET),
        statement_memory: settings.uint(sysvar::PALISADE_STATEMENT_MEMORY),
        connection_memory_limit: settings.uint(sysvar::CONNECTION_MEMORY_LIMIT),
        connection_memory_chunk_size: settings.uint(sysvar::CONNECTION_MEMORY_CHUNK_SIZE),
        tracks_connection_memory: settings.bool(sysvar::GLOBAL_CONNECTION_MEMORY_TRACKING),
        operator_memory: settings.uint(sysvar::PALISADE_OPERATOR_MEMORY),
        sort_buffer_size: settings.uint(sysvar::SORT_BUFFER_SIZE),
        parser_max_mem_size: settings.uint(sysvar::PARSER_MAX_MEM_SIZE),
        div_precision_increment: settings.uint(sysvar::DIV_PRECISION_INCREMENT) as u8,
        auto_increment_increment: settings.uint(sysvar::AUTO_INCREMENT_INCREMENT),
        auto_increment_offset: settings.uint(sysvar::AUTO_INCREMENT_OFFSET),
        default_week_format: settings.uint(sysvar::DEFAULT_WEEK_FORMAT) as u8,
        sql_safe_updates: settings.bool(sysvar::SQL_SAFE_UPDATES),
        substitute_engines: settings.bool(sysvar::PALISADE_SUBSTITUTE_ENGINES),
        sql_require_primary_key: settings.bool(sysvar::SQL_REQUIRE_PRIMARY_KEY),
        sql_auto_is_null: settings.bool(sysvar::SQL_AUTO_IS_NULL),
        foreign_key_checks: settings.bool(sysvar::FOREIGN_KEY_CHECKS),
        unique_checks: settings.bool(sysvar::UNIQUE_CHECKS),
        timestamp_micros: None,
        max_error_count: settings.uint(sysvar::MAX_ERROR_COUNT) as usize,
        sql_notes: settings.bool(sysvar::SQL_NOTES),
        completion: match settings.enumerated(sysvar::COMPLETION_TYPE) {
            0 => CompletionType::NoChain,
            1 => CompletionType::Chain,
            _ => CompletionType::Release,
        },
        cte_max_recursion_depth: settings.uint(sysvar::CTE_MAX_RECURSION_DEPTH),
        profiling: settings.bool(sysvar::PROFILING),
        profiling_history_size: settings.uint(sysvar::PROFILING_HISTORY_SIZE) as usize,
    }
}

/// The isolation level at a position of `transaction_isolation`.
fn isolation(position: usize) -> IsolationLevel {
    match position {
        0 => IsolationLevel::ReadUncommitted,
        1 => IsolationLevel::ReadCommitted,
        2 => IsolationLevel::RepeatableRead,
        _ => IsolationLevel::Serializable,
    }
}
