//! The global values of the system variables, and what changing one does.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use palisade_base::clock::{Clock as _, SystemClock};
use palisade_base::error_catalogue::{
    ER_GTID_MODE_CAN_ONLY_CHANGE_ONE_STEP_AT_A_TIME, ER_LOCAL_VARIABLE, ER_LOCK_OR_ACTIVE_TRANSACTION,
    ER_NO_DEFAULT, ER_SQL_MODE_MERGED, ER_WARN_DEPRECATED_SQLMODE, ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT,
    ER_WARN_DEPRECATED_WITH_NOTE, ER_WRONG_ARGUMENTS, ER_WRONG_TYPE_FOR_VAR, ER_WRONG_VALUE_FOR_VAR,
    WARN_OPTION_IGNORED,
};
use palisade_base::monitor::{self, Operation, Unknown};
use palisade_base::sysvar::{Given, Kind, Place, Scope, Setting, Settings, Variable, VariableId, switches};
use palisade_base::sysvar_catalogue::{self as sysvar, sql_mode};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::Value;
use palisade_engine::Engine;
use palisade_io::{CpuList, Placement};
use palisade_sql::{Session, SessionState};

use crate::persisted::PersistedVariables;
use crate::variable_sources::{Setter, Source};
use crate::{
    doublewrite, engine_variables, error_log, flush_settings, pool_dump, pool_resize, session_variables, tls,
};

/// Where the kinds of threads run: the `..._affinity` variables.
#[derive(Clone, Default)]
pub struct Placements {
    /// `innodb_log_writer_affinity`.
    pub log_writer: Placement,
    /// `innodb_log_flusher_affinity`.
    pub log_flusher: Placement,
    /// `innodb_worker_affinity`.
    pub worker: Placement,
}

impl Placements {
    /// As the settings say. Call it before any of the threads is started.
    pub fn new(settings: &Settings) -> Result<Self, MysqlError> {
        let placement = |id: VariableId| {
            let text = settings.text(id).unwrap_or_default();
            cpu_list(id.declaration(), text).map(Placement::new)
        };
        Ok(Placements {
            log_writer: placement(sysvar::INNODB_LOG_WRITER_AFFINITY)?,
            log_flusher: placement(sysvar::INNODB_LOG_FLUSHER_AFFINITY)?,
            worker: placement(sysvar::INNODB_WORKER_AFFINITY)?,
        })
    }

    /// The placement that a variable sets.
    fn of(&self, id: VariableId) -> Option<&Placement> {
        Some(match id {
            sysvar::INNODB_LOG_WRITER_AFFINITY => &self.log_writer,
            sysvar::INNODB_LOG_FLUSHER_AFFINITY => &self.log_flusher,
            sysvar::INNODB_WORKER_AFFINITY => &self.worker,
            _ => return None,
        })
    }
}

/// The processors that `text` lists; 1231 if it is no list, or names one that the process may not use.
pub fn cpu_list(variable: &Variable, text: &str) -> Result<CpuList, MysqlError> {
    let list = CpuList::parse(text).filter(CpuList::is_available);
    list.ok_or_else(|| mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, text))
}

/// The global values. Reading is one atomic load; a change publishes a new set.
pub struct Globals {
    /// Where threads run.
    pub placements: Placements,
    current: ArcSwap<Settings>,
    /// `read_only` and `super_read_only`, for those who look before every change.
    read_only: AtomicU8,
    /// Where values come from that are not the declared ones.
    pub sources: parking_lot::Mutex<BTreeMap<VariableId, Source>>,
    /// Those that outlive the server.
    pub persisted: Arc<PersistedVariables>,
    /// Serialises changes.
    change: parking_lot::Mutex<()>,
}

impl Globals {
    /// Those the server starts with.
    pub fn new(settings: Settings, placements: Placements) -> Self {
        let read_only = AtomicU8::new(read_only_level(&settings));
        let datadir = settings.text(sysvar::DATADIR).unwrap_or("data");
        let persisted = Arc::new(PersistedVariables::new(Path::new(datadir)));
        let current = ArcSwap::from_pointee(settings);
        let (sources, change) = Default::default();
        Globals { placements, current, read_only, sources, persisted, change }
    }

    /// The values as of now.
    pub fn load(&self) -> Arc<Settings> {
        self.current.load_full()
    }

    /// The names of all variables that the server has a value of, and how they are shown.
    pub fn shown(&self) -> Vec<(String, String)> {
        let settings = self.load();
        let server_has = |id: &VariableId| id.declaration().scope != Scope::Session;
        let shown = |id: VariableId| {
            let variable = id.declaration();
            (variable.name.to_owned(), variable.shown(settings.get(id)))
        };
        VariableId::all().filter(server_has).map(shown).collect()
    }

    /// The value of a variable declared as a whole number, as of now.
    pub fn uint(&self, id: VariableId) -> u64 {
        self.current.load().uint(id)
    }

    /// Changes one value.
    pub fn set(&self, id: VariableId, setting: Setting) {
        let _change = self.change.lock();
        let mut settings = (**self.current.load()).clone();
        settings.set(id, setting);
        self.read_only.store(read_only_level(&settings), Ordering::Release);
        self.current.store(Arc::new(settings));
    }

    /// Whether the server is read only: `None` if not, else the option that says so, and whether it holds for
    /// all.
    #[inline]
    pub fn read_only(&self) -> Option<(&'static str, bool)> {
        match self.read_only.load(Ordering::Acquire) {
            0 => None,
            1 => Some(("--read-only", false)),
            _ => Some(("--super-read-only", true)),
        }
    }
}

/// 0 if everyone may write, 1 if administrators may, 2 if no session may.
fn read_only_level(settings: &Settings) -> u8 {
    match (settings.bool(sysvar::SUPER_READ_ONLY), settings.bool(sysvar::READ_ONLY)) {
        (true, _) => 2,
        (false, true) => 1,
        (false, false) => 0,
    }
}

/// `super_read_only` turned on turns `read_only` on, and that turned off turns off the other.
pub fn follow_read_only(id: VariableId, setting: &Setting) -> Option<(VariableId, Setting)> {
    match (id, setting) {
        (sysvar::SUPER_READ_ONLY, Setting::Bool(true)) => Some((sysvar::READ_ONLY, Setting::Bool(true))),
        (sysvar::READ_ONLY, Setting::Bool(false)) => Some((sysvar::SUPER_READ_ONLY, Setting::Bool(false))),
        _ => None,
    }
}

/// Which value `@@name` means where the statement does not say.
fn place(variable: &Variable, place: Option<Place>) -> Place {
    match (place, variable.scope) {
        (Some(place), _) => place,
        (None, Scope::Global) => Place::Global,
        (None, Scope::Session | Scope::Both) => Place::Session,
    }
}

/// The value of a variable; 1238 if it has none in that place.
pub fn read(
    globals: &Globals,
    engine: &Engine,
    session: &SessionState,
    at: Option<Place>,
    id: VariableId,
) -> Result<Setting, MysqlError> {
    let variable = id.declaration();
    if let Some(at) = at {
        variable.check_readable(at)?;
    }
    Ok(match place(variable, at) {
        Place::Global => globals.load().get(id).clone(),
        Place::Session => computed(engine, session, id).unwrap_or_else(|| session.settings.get(id).clone()),
    })
}

/// Values that follow from the session's state.
fn computed(engine: &Engine, session: &SessionState, id: VariableId) -> Option<Setting> {
    Some(match id {
        sysvar::CHARACTER_SET_DATABASE | sysvar::COLLATION_DATABASE => {
            let dictionary = engine.dictionary();
            let collation = dictionary.schema(session.database.as_deref()?)?.collation.get();
            let is_collation = id == sysvar::COLLATION_DATABASE;
            Setting::Text(if is_collation { collation.name } else { collation.charset.name() }.into())
        }
        sysvar::ERROR_COUNT => Setting::UInt(session.warnings.before().errors as u64),
        sysvar::WARNING_COUNT => Setting::UInt(u64::from(session.warnings.before().all)),
        sysvar::LAST_INSERT_ID | sysvar::IDENTITY => Setting::UInt(session.last_insert_id),
        sysvar::INSERT_ID => Setting::UInt(session.insert_id.unwrap_or(0)),
        sysvar::PSEUDO_THREAD_ID => Setting::UInt(session.connection_id),
        sysvar::TIMESTAMP => {
            let micros = session.variables.timestamp_micros.unwrap_or_else(unix_micros);
            Setting::Double(micros as f64 / 1e6)
        }
        _ => return None,
    })
}

static CLOCK: LazyLock<SystemClock> = LazyLock::new(Default::default);

/// Microseconds since 1970-01-01 00:00:00 UTC.
pub fn unix_micros() -> i64 {
    CLOCK.unix_micros()
}

/// Time that only grows.
pub fn monotonic() -> Duration {
    CLOCK.monotonic()
}

/// A setting as SELECT gives it: a boolean is a number.
pub fn to_value(variable: &Variable, setting: &Setting) -> Value {
    match setting {
        Setting::Bool(on) => Value::Int(i64::from(*on)),
        Setting::Int(number) => Value::Int(*number),
        Setting::UInt(number) => Value::UInt(*number),
        Setting::Double(number) => Value::Double(*number),
        Setting::Null => Value::Null,
        Setting::Text(_) | Setting::Enum(_) | Setting::Flags(_) => Value::bytes(variable.shown(setting)),
    }
}

/// What SET gives to `id`: `value`, or its default.
pub fn assign(
    globals: &Globals,
    engine: &Engine,
    session: &mut Session,
    at: Place,
    id: VariableId,
    value: Option<&Value>,
) -> Result<(), MysqlError> {
    let variable = id.declaration();
    variable.check_settable(at)?;
    if let Some(operation) = monitor_operation(id) {
        return assign_monitor(globals, engine, session, id, operation, value);
    }
    let given = given_setting(globals, session, at, id, value)?;
    let current = match at {
        Place::Global => globals.load().get(id).clone(),
        Place::Session => session.state.settings.get(id).clone(),
    };
    let setting = merge_switches(globals, at, id, given, &current);
    check_taken(id, &setting)?;
    if matches!(id, sysvar::READ_ONLY | sysvar::SUPER_READ_ONLY)
        && setting == Setting::Bool(true)
        && (session.in_transaction || session.has_locked_tables())
    {
        return Err(mysql_error!(ER_LOCK_OR_ACTIVE_TRANSACTION));
    }
    if let Some(order) = pool_dump::order(id) {
        if setting == Setting::Bool(true) {
            order(engine, &globals.load());
        }
        return Ok(());
    }
    if let (sysvar::SQL_MODE, Setting::Flags(modes)) = (id, &setting) {
        warn_of_modes(session, *modes);
    }
    let warning = warning_of(id, &setting);
    match at {
        Place::Session => session_variables::assign(session, id, setting)?,
        Place::Global => {
            let setting = match &setting {
                Setting::Text(text) => {
                    Setting::Text(session_variables::check_text(variable.name, text)?.into())
                }
                Setting::Double(percent) if id == sysvar::INNODB_MAX_DIRTY_PAGES_PCT_LWM => {
                    Setting::Double(flush_settings::lowered_pct(&globals.load(), session, *percent))
                }
                Setting::UInt(bytes) if id == sysvar::INNODB_LOG_WRITE_AHEAD_SIZE => {
                    Setting::UInt(power_of_two(variable, *bytes, session))
                }
                Setting::UInt(bytes) if id == sysvar::INNODB_BUFFER_POOL_SIZE => {
                    Setting::UInt(pool_resize::assign(engine, &globals.load(), session, *bytes)?)
                }
                Setting::Enum(_) if id == sysvar::INNODB_DOUBLEWRITE => {
                    doublewrite::setting(setting, globals.load().get(id))?
                }
                _ => setting,
            };
            if let Some(placement) = globals.placements.of(id) {
                let text = variable.shown(&setting);
                let placed = placement.set(cpu_list(variable, &text)?);
                placed.map_err(|_| mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, text))?;
            }
            let coupled = match setting {
                Setting::Bool(_) => follow_read_only(id, &setting),
                Setting::UInt(_) if id == sysvar::MAX_JOIN_SIZE => session_variables::coupled(id, &setting)?,
                Setting::UInt(pages) => {
                    flush_settings::follow_io_capacity(&globals.load(), session, id, pages)
                }
                Setting::Double(percent) => {
                    flush_settings::follow_dirty_pct(&globals.load(), session, id, percent)
                }
                _ => session_variables::coupled(id, &setting)?,
            };
            if let Some((other, follows)) = coupled {
                globals.set(other, follows);
            }
            globals.set(id, setting);
            globals.sources.lock().insert(id, Source::set(Setter::of(session)));
            engine_variables::apply(engine, &globals.load(), id);
        }
    }
    warning.into_iter().for_each(|warning| session.state.warnings.warn(warning));
    Ok(())
}

/// What is said of a value that has been set: that it changes nothing (1618), if it is not the default, as
/// for an option; or that the variable is to go.
fn warning_of(id: VariableId, setting: &Setting) -> Option<MysqlError> {
    let variable = id.declaration();
    if variable.has_no_effect() {
        let is_default = *setting == variable.default_setting();
        return (!is_default).then(|| mysql_error!(WARN_OPTION_IGNORED, variable.name));
    }
    match (id, setting) {
        (sysvar::RESTRICT_FK_ON_NON_STANDARD_KEY, Setting::Bool(false)) => {
            let note =
                "Foreign key referring to non-unique or partial keys is unsafe and may break replication.";
            Some(mysql_error!(ER_WARN_DEPRECATED_WITH_NOTE, variable.name, note))
        }
        (sysvar::RESTRICT_FK_ON_NON_STANDARD_KEY, _) => {
            Some(mysql_error!(ER_WARN_DEPRECATED_SYNTAX_NO_REPLACEMENT, variable.name))
        }
        _ => None,
    }
}

/// MySQL's warnings of an `sql_mode`: the modes that belong to strict mode go with it, and one is to go.
fn warn_of_modes(session: &mut Session, modes: u64) {
    const PARTS: u64 =
        sql_mode::NO_ZERO_DATE | sql_mode::NO_ZERO_IN_DATE | sql_mode::ERROR_FOR_DIVISION_BY_ZERO;
    let is_strict = modes & (sql_mode::STRICT_TRANS_TABLES | sql_mode::STRICT_ALL_TABLES) != 0;
    let expected = if is_strict { PARTS } else { 0 };
    if modes & PARTS != expected {
        session.state.warnings.warn(mysql_error!(ER_SQL_MODE_MERGED));
    }
    if modes & sql_mode::PAD_CHAR_TO_FULL_LENGTH != 0 {
        session.state.warnings.warn(mysql_error!(ER_WARN_DEPRECATED_SQLMODE, "PAD_CHAR_TO_FULL_LENGTH"));
    }
}

/// The value that SET gives to `id` in its form, with warnings where it is not quite what was given.
fn given_setting(
    globals: &Globals,
    session: &mut Session,
    at: Place,
    id: VariableId,
    value: Option<&Value>,
) -> Result<Setting, MysqlError> {
    let variable = id.declaration();
    Ok(match (value, at) {
        (None, Place::Session) if variable.scope == Scope::Both => globals.load().get(id).clone(),
        (None, _) => variable.default_setting(),
        (Some(value), _) => {
            let text;
            let given = match value {
                Value::Null => Given::Null,
                Value::Int(number) => Given::Int(*number),
                Value::UInt(number) => Given::UInt(*number),
                Value::Double(number) => Given::Double(*number),
                Value::Float(number) => Given::Double(f64::from(*number)),
                Value::Decimal(number) => Given::Double(number.to_f64()),
                Value::Bytes(bytes) => {
                    text = String::from_utf8_lossy(bytes).into_owned();
                    Given::Text(&text)
                }
                _ => return Err(variable.assign(Given::Null).err().unwrap_or_else(|| wrong_type(variable))),
            };
            let assigned = variable.assign(given)?;
            if let Some(warning) = assigned.warning {
                session.state.warnings.warn(warning);
            }
            assigned.setting
        }
    })
}

/// What `SET PERSIST_ONLY` keeps for `id`: the text of `value`, or of its default. 1238 for a variable that
/// cannot be kept.
pub fn persisted_text(
    globals: &Globals,
    session: &mut Session,
    id: VariableId,
    value: Option<&Value>,
) -> Result<String, MysqlError> {
    let variable = id.declaration();
    if variable.scope == Scope::Session {
        return Err(mysql_error!(ER_LOCAL_VARIABLE, variable.name));
    }
    let setting = given_setting(globals, session, Place::Global, id, value)?;
    let setting = match &setting {
        Setting::Text(text) => Setting::Text(session_variables::check_text(variable.name, text)?.into()),
        _ => setting,
    };
    let setting = merge_switches(globals, Place::Global, id, setting, globals.load().get(id));
    // an option, when the server starts again
    check_taken(id, &setting)?;
    warning_of(id, &setting).into_iter().for_each(|warning| session.state.warnings.warn(warning));
    Ok(kept_text(variable, &setting))
}

/// A setting as it is kept.
pub fn kept_text(variable: &Variable, setting: &Setting) -> String {
    match setting {
        Setting::Double(number) => number.to_string(),
        _ => variable.shown(setting),
    }
}

/// 1235, or what else MySQL says, to a value that this server does not take.
pub fn check_taken(id: VariableId, setting: &Setting) -> Result<(), MysqlError> {
    let variable = id.declaration();
    match (id, setting) {
        (sysvar::EVENT_SCHEDULER, Setting::Enum(EVENTS_ON)) => Err(variable.not_supported(setting)),
        (sysvar::LOG_OUTPUT, Setting::Flags(0)) => {
            Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, ""))
        }
        (sysvar::LOG_ERROR_SERVICES, Setting::Text(list)) if !error_log::are_services(list) => {
            Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, list))
        }
        (sysvar::LOG_ERROR_SERVICES, Setting::Null) => {
            Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, "NULL"))
        }
        (sysvar::PROTOCOL_COMPRESSION_ALGORITHMS, Setting::Null) => {
            Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, "NULL"))
        }
        (sysvar::INNODB_BUFFER_POOL_FILENAME, Setting::Text(name)) if !pool_dump::is_file_name(name) => {
            Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, name))
        }
        (sysvar::TLS_VERSION, Setting::Text(versions)) if !tls::are_versions(versions) => {
            Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, versions))
        }
        (sysvar::GTID_MODE, Setting::Enum(0)) => Ok(()),
        (sysvar::GTID_MODE, Setting::Enum(1)) => Err(variable.not_supported(setting)),
        (sysvar::GTID_MODE, _) => Err(mysql_error!(ER_GTID_MODE_CAN_ONLY_CHANGE_ONE_STEP_AT_A_TIME)),
        _ => variable.check_taken(setting),
    }
}

/// ON among the values of `event_scheduler`.
const EVENTS_ON: usize = 1;

/// The power of two at or above `bytes`; where that is another number, MySQL's warnings.
fn power_of_two(variable: &Variable, bytes: u64, session: &mut Session) -> u64 {
    let used = bytes.next_power_of_two();
    if used != bytes {
        let warning = |text: String| MysqlError::with_message(&ER_WRONG_ARGUMENTS, text);
        let name = variable.name;
        session
            .state
            .warnings
            .warn(warning(format!("{name} should be set to power of 2, in range [512,16384]")));
        session.state.warnings.warn(warning(format!("Setting {name} to {used}")));
    }
    used
}

/// What is done to the metrics that are named by giving this variable a value.
pub fn monitor_operation(id: VariableId) -> Option<Operation> {
    Some(match id {
        sysvar::INNODB_MONITOR_ENABLE => Operation::Enable,
        sysvar::INNODB_MONITOR_DISABLE => Operation::Disable,
        sysvar::INNODB_MONITOR_RESET => Operation::Reset,
        sysvar::INNODB_MONITOR_RESET_ALL => Operation::ResetAll,
        _ => return None,
    })
}

/// `SET GLOBAL innodb_monitor_enable = 'log%'` and its like: the value is an order, and kept only [to be
/// shown](monitor::shown).
fn assign_monitor(
    globals: &Globals,
    engine: &Engine,
    session: &mut Session,
    id: VariableId,
    operation: Operation,
    value: Option<&Value>,
) -> Result<(), MysqlError> {
    let variable = id.declaration();
    let no_such = |text: &str| mysql_error!(ER_WRONG_VALUE_FOR_VAR, variable.name, text);
    match value {
        None => {
            let text = "Default value is not defined for this set option. Please specify correct counter or \
                        module name.";
            session.state.warnings.warn(MysqlError::with_message(&ER_NO_DEFAULT, text));
            globals.set(id, Setting::Null);
            Ok(())
        }
        Some(Value::Bytes(bytes)) => {
            let name = String::from_utf8_lossy(bytes).into_owned();
            engine.monitor(operation, &name).map_err(|Unknown| no_such(&name))?;
            if let Some(shown) = monitor::shown(&name) {
                globals.set(id, Setting::Text(shown.into()));
            }
            Ok(())
        }
        Some(Value::Null) => Err(no_such("NULL")),
        Some(_) => Err(wrong_type(variable)),
    }
}

fn wrong_type(variable: &Variable) -> MysqlError {
    mysql_error!(ER_WRONG_TYPE_FOR_VAR, variable.name)
}

/// A list of switches changes those that it names and leaves the others. A session's default is the server's
/// value.
fn merge_switches(
    globals: &Globals,
    at: Place,
    id: VariableId,
    setting: Setting,
    current: &Setting,
) -> Setting {
    let Kind::Switches(own) = id.declaration().kind else { return setting };
    let (Setting::Text(changes), Setting::Text(current)) = (&setting, current) else { return setting };
    let settings = globals.load();
    let default = match (at, settings.get(id)) {
        (Place::Session, Setting::Text(default)) => default,
        _ => own,
    };
    Setting::Text(switches::merged(changes, current, default).into())
}
