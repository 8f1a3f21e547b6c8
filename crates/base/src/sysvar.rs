//! System variables: declared once, and everything else derived.
//!
//! The list is [`crate::sysvar_catalogue`]. From a declaration follow the option on the command line and in my.cnf,
//! the line in `--help`, SHOW VARIABLES, `@@name`, and what SET accepts:
//!
//! ```text
//! declaration ── Kind ──▶ from_option("64M")      text of my.cnf or the command line, K/M/G suffixes
//!                    └──▶ assign(Given::Int(64))  value of a SET statement, MySQL's rules and errors
//!                              │
//!                              ▼
//!                          Setting ──▶ shown()     SHOW VARIABLES: ON, 67108864, REPEATABLE-READ
//!                              └────▶ SELECT @@x   a boolean is a number there, the rest as shown
//! ```
//!
//! Values live in [`Settings`], one slot per variable; a session starts with the global values of the moment it
//! begins and keeps what it sets itself beside them ([`SessionSettings`]).

mod persistence;
pub mod switches;

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use crate::error_catalogue::{
    ER_GLOBAL_VARIABLE, ER_INCORRECT_GLOBAL_LOCAL_VAR, ER_LOCAL_VARIABLE, ER_NOT_SUPPORTED_YET,
    ER_TRUNCATED_WRONG_VALUE, ER_UNKNOWN_SYSTEM_VARIABLE, ER_WRONG_TYPE_FOR_VAR, ER_WRONG_VALUE_FOR_VAR,
};
use crate::error_code::MysqlError;
use crate::mysql_error;
use crate::sysvar_catalogue::{
    SESSION_NEEDS_ADMIN, SESSION_NEEDS_APPLIER, SESSION_NEEDS_SUPER, SESSION_READ_ONLY, VARIABLES, sql_mode,
};

/// A declared variable.
#[derive(Debug)]
pub struct Variable {
    /// MySQL's name, with underscores.
    pub name: &'static str,
    /// Where it can be read and set.
    pub scope: Scope,
    /// Whether SET can change it while the server runs.
    pub dynamic: bool,
    /// Which values this server takes of those that MySQL takes.
    pub taken: Taken,
    /// What values it takes.
    pub kind: Kind,
    /// One line for people; starts with [`NO_EFFECT`] where the variable exists for clients only.
    pub doc: &'static str,
}

/// How the documentation of a variable begins that is there for clients to set and read, and changes nothing.
pub const NO_EFFECT: &str = "No effect";

/// Which of MySQL's values a variable takes here. A setting that promises something which this server does
/// not do is refused, so that no one relies on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// All of them.
    All,
    /// The default, neither an option nor SET another one.
    DefaultOnly,
}

/// Where a variable lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// One value for the server.
    Global,
    /// One value per session, and no global one.
    Session,
    /// One value per session, and a global one that new sessions start with.
    Both,
}

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things, percents, levels.
    Plain,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
}

impl Unit {
    /// As shown by `--help`; empty for plain numbers.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Plain => "",
            Unit::Bytes => "bytes",
            Unit::Seconds => "seconds",
            Unit::Milliseconds => "milliseconds",
            Unit::Microseconds => "microseconds",
        }
    }
}

/// The values a variable takes, and its default.
#[derive(Debug)]
pub enum Kind {
    /// ON or OFF.
    Bool(bool),
    /// A whole number in a range; a value outside is moved to the nearest end, with a warning.
    Int {
        /// The default.
        default: i64,
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
        /// What it counts.
        unit: Unit,
    },
    /// Like `Int`, without a sign.
    UInt {
        /// The default.
        default: u64,
        /// The least value.
        min: u64,
        /// The greatest value.
        max: u64,
        /// What values are multiples of: others are made smaller, with the same warning.
        step: u64,
        /// What it counts.
        unit: Unit,
    },
    /// A floating-point number in a range.
    Double {
        /// The default.
        default: f64,
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
        /// What it counts.
        unit: Unit,
    },
    /// Text, or NULL.
    Text(Option<&'static str>),
    /// `name=on` or `name=off` for each of some switches, joined by commas: the default. A value that is
    /// given changes those that it names (see [`switches`]).
    Switches(&'static str),
    /// One of some names; numbers count from 0.
    Enum {
        /// The names, in order.
        names: &'static [&'static str],
        /// Position of the default.
        default: usize,
    },
    /// Any of some names, joined by commas.
    Flags {
        /// The names; the first is bit 0.
        names: &'static [&'static str],
        /// The default's bits.
        default: u64,
    },
}

/// A variable's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Setting {
    /// Of [`Kind::Bool`].
    Bool(bool),
    /// Of [`Kind::Int`].
    Int(i64),
    /// Of [`Kind::UInt`].
    UInt(u64),
    /// Of [`Kind::Double`].
    Double(f64),
    /// Of [`Kind::Text`] and [`Kind::Switches`].
    Text(Arc<str>),
    /// Of [`Kind::Text`], NULL.
    Null,
    /// Of [`Kind::Enum`]: a position.
    Enum(usize),
    /// Of [`Kind::Flags`]: bits.
    Flags(u64),
}

/// A value that SET gives to a variable, before the variable's kind has had its say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Given<'a> {
    /// A whole number.
    Int(i64),
    /// A whole number beyond `i64`.
    UInt(u64),
    /// A number with a fraction.
    Double(f64),
    /// A string or a bare word (`ON`, `utf8mb4`).
    Text(&'a str),
    /// NULL.
    Null,
}

impl std::fmt::Display for Given<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Given::Int(value) => write!(f, "{value}"),
            Given::UInt(value) => write!(f, "{value}"),
            Given::Double(value) => write!(f, "{value}"),
            Given::Text(value) => f.write_str(value),
            Given::Null => f.write_str("NULL"),
        }
    }
}

/// What became of a given value: what is stored, and the warning where it was moved into range.
#[derive(Debug, Clone, PartialEq)]
pub struct Assigned {
    /// What to store.
    pub setting: Setting,
    /// 1292, where the value was out of range.
    pub warning: Option<MysqlError>,
}

/// Position of a variable in [`VARIABLES`]; the catalogue declares a constant for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VariableId(pub u16);

impl VariableId {
    /// The variable of that name, in any case; 1193 if there is none.
    pub fn named(name: &str) -> Result<VariableId, MysqlError> {
        Self::find(name).ok_or_else(|| mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name))
    }

    /// The variable of that name, in any case.
    pub fn find(name: &str) -> Option<VariableId> {
        let lower: Cow<'_, str> = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
        let position = VARIABLES.binary_search_by(|variable| variable.name.cmp(&lower)).ok()?;
        Some(VariableId(position as u16))
    }

    /// Its declaration.
    #[expect(clippy::indexing_slicing, reason = "an id is made of a place in VARIABLES only")]
    pub fn declaration(self) -> &'static Variable {
        &VARIABLES[usize::from(self.0)]
    }

    /// Every variable, by name.
    pub fn all() -> impl Iterator<Item = VariableId> {
        (0..VARIABLES.len()).map(|position| VariableId(position as u16))
    }
}

impl Variable {
    /// The compiled-in value.
    pub fn default_setting(&self) -> Setting {
        match self.kind {
            Kind::Bool(value) => Setting::Bool(value),
            Kind::Int { default, .. } => Setting::Int(default),
            Kind::UInt { default, .. } => Setting::UInt(default),
            Kind::Double { default, .. } => Setting::Double(default),
            Kind::Text(None) => Setting::Null,
            Kind::Text(Some(text)) | Kind::Switches(text) => Setting::Text(text.into()),
            Kind::Enum { default, .. } => Setting::Enum(default),
            Kind::Flags { default, .. } => Setting::Flags(default),
        }
    }

    /// Whether the variable only exists so that clients can set and read it.
    pub fn has_no_effect(&self) -> bool {
        self.doc.starts_with(NO_EFFECT)
    }

    /// The unit of its number.
    pub fn unit(&self) -> Unit {
        match self.kind {
            Kind::Int { unit, .. } | Kind::UInt { unit, .. } | Kind::Double { unit, .. } => unit,
            _ => Unit::Plain,
        }
    }

    /// 1238 or 1229/1228 where SET may not change it in that scope.
    pub fn check_settable(&self, global: Place) -> Result<(), MysqlError> {
        if !self.dynamic {
            return Err(mysql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, self.name, "read only"));
        }
        match (global, self.scope) {
            (Place::Session, Scope::Global) => Err(mysql_error!(ER_GLOBAL_VARIABLE, self.name)),
            (Place::Global, Scope::Session) => Err(mysql_error!(ER_LOCAL_VARIABLE, self.name)),
            _ => Ok(()),
        }
    }

    /// 1235 where this server does not do what `setting` says.
    pub fn check_taken(&self, setting: &Setting) -> Result<(), MysqlError> {
        let taken = match self.taken {
            Taken::All => true,
            // NULL and an empty text say the same here
            Taken::DefaultOnly => self.shown(setting) == self.shown(&self.default_setting()),
        };
        if taken { Ok(()) } else { Err(self.not_supported(setting)) }
    }

    /// 1235: this server does not do what `setting` says.
    pub fn not_supported(&self, setting: &Setting) -> MysqlError {
        let (name, value) = (self.name, self.shown(setting));
        let text = format!("This version of Palisade doesn't yet support '{name}={value}'");
        MysqlError::with_message(&ER_NOT_SUPPORTED_YET, text)
    }

    /// Who may SET SESSION it.
    pub fn session_rule(&self) -> SessionRule {
        let listed = |list: &[&str]| list.binary_search(&self.name).is_ok();
        if listed(SESSION_READ_ONLY) {
            SessionRule::ReadOnly
        } else if listed(SESSION_NEEDS_ADMIN) {
            SessionRule::Admin
        } else if listed(SESSION_NEEDS_SUPER) {
            SessionRule::SuperOrAdmin
        } else if listed(SESSION_NEEDS_APPLIER) {
            SessionRule::AdminOrApplier
        } else {
            SessionRule::Free
        }
    }

    /// 1238 where it cannot be read in that scope (`@@global.x`, `@@session.x`).
    pub fn check_readable(&self, place: Place) -> Result<(), MysqlError> {
        match (place, self.scope) {
            (Place::Session, Scope::Global) => {
                Err(mysql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, self.name, "GLOBAL"))
            }
            (Place::Global, Scope::Session) => {
                Err(mysql_error!(ER_INCORRECT_GLOBAL_LOCAL_VAR, self.name, "SESSION"))
            }
            _ => Ok(()),
        }
    }

    /// The value that SET gives, by this variable's rules: 1232 for a wrong type, 1231 for a value that is none.
    pub fn assign(&self, given: Given<'_>) -> Result<Assigned, MysqlError> {
        let wrong_type = || mysql_error!(ER_WRONG_TYPE_FOR_VAR, self.name);
        let wrong_value = || mysql_error!(ER_WRONG_VALUE_FOR_VAR, self.name, given);
        let exactly = |setting| Ok(Assigned { setting, warning: None });
        match &self.kind {
            Kind::Bool(_) => match given {
                Given::Int(0) => exactly(Setting::Bool(false)),
                Given::Int(1) => exactly(Setting::Bool(true)),
                Given::Text(word) => {
                    parse_bool(word).map_or_else(|| Err(wrong_value()), |on| exactly(Setting::Bool(on)))
                }
                Given::Double(_) => Err(wrong_type()),
                _ => Err(wrong_value()),
            },
            Kind::Int { min, max, .. } => {
                let value = match given {
                    Given::Int(value) => value,
                    Given::UInt(_) => i64::MAX,
                    _ => return Err(wrong_type()),
                };
                let stored = value.clamp(*min, *max);
                Ok(Assigned {
                    setting: Setting::Int(stored),
                    warning: (stored != value || matches!(given, Given::UInt(_)))
                        .then(|| self.truncated(given)),
                })
            }
            Kind::UInt { min, max, step, .. } => {
                let value = match given {
                    Given::Int(value) => u64::try_from(value).unwrap_or(0),
                    Given::UInt(value) => value,
                    _ => return Err(wrong_type()),
                };
                let stored = (value.min(*max) / step * step).max(*min);
                Ok(Assigned {
                    setting: Setting::UInt(stored),
                    warning: (stored != value || matches!(given, Given::Int(..0)))
                        .then(|| self.truncated(given)),
                })
            }
            Kind::Double { min, max, .. } => {
                let value = match given {
                    Given::Int(value) => value as f64,
                    Given::UInt(value) => value as f64,
                    Given::Double(value) => value,
                    _ => return Err(wrong_type()),
                };
                let stored = value.clamp(*min, *max);
                Ok(Assigned {
                    setting: Setting::Double(stored),
                    warning: (stored != value).then(|| self.truncated(given)),
                })
            }
            Kind::Text(_) => match given {
                Given::Null => exactly(Setting::Null),
                Given::Text(text) => exactly(Setting::Text(text.into())),
                _ => Err(wrong_type()),
            },
            Kind::Switches(all) => match given {
                Given::Text(list) => match switches::check(all, list) {
                    Ok(()) => exactly(Setting::Text(list.into())),
                    Err(unknown) => Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, self.name, unknown)),
                },
                Given::Int(bits) => {
                    let list = u64::try_from(bits).ok().and_then(|bits| switches::of_bits(all, bits));
                    exactly(Setting::Text(list.ok_or_else(wrong_value)?.into()))
                }
                Given::Double(_) => Err(wrong_type()),
                Given::UInt(_) | Given::Null => Err(wrong_value()),
            },
            Kind::Enum { names, .. } => {
                let position = match given {
                    Given::Int(value) => usize::try_from(value).ok().filter(|at| *at < names.len()),
                    Given::Text(word) => enum_position(names, word),
                    Given::Double(_) => return Err(wrong_type()),
                    _ => None,
                };
                exactly(Setting::Enum(position.ok_or_else(wrong_value)?))
            }
            Kind::Flags { names, .. } => {
                let all = flag_mask(names);
                match given {
                    Given::Int(bits) if bits >= 0 && bits as u64 & !all == 0 => {
                        exactly(self.flags(bits as u64))
                    }
                    Given::Text(list) => match parse_flags(names, list) {
                        Ok(bits) => exactly(self.flags(bits)),
                        Err(unknown) => Err(mysql_error!(ER_WRONG_VALUE_FOR_VAR, self.name, unknown)),
                    },
                    Given::Double(_) => Err(wrong_type()),
                    _ => Err(wrong_value()),
                }
            }
        }
    }

    fn flags(&self, bits: u64) -> Setting {
        Setting::Flags(if self.name == "sql_mode" { sql_mode::expanded(bits) } else { bits })
    }

    fn truncated(&self, given: Given<'_>) -> MysqlError {
        mysql_error!(ER_TRUNCATED_WRONG_VALUE, self.name, given)
    }

    /// The value of option text, as in `--max-allowed-packet=64M`. A number outside the range is moved into it and
    /// comes with a warning; the error says what is wrong with the text.
    pub fn from_option(&self, text: &str) -> Result<Assigned, String> {
        let unusable = || format!("'{text}' is not a value for {}", self.name);
        let given = match &self.kind {
            Kind::Int { .. } => match parse_size(text) {
                Some(number) => i64::try_from(number).map(Given::Int).map_err(|_| unusable())?,
                None => Given::Int(text.trim().parse().map_err(|_| unusable())?),
            },
            Kind::UInt { .. } => match parse_size(text) {
                Some(number) => Given::UInt(number),
                None => Given::Int(text.trim().parse().map_err(|_| unusable())?),
            },
            Kind::Double { .. } => Given::Double(text.trim().parse().map_err(|_| unusable())?),
            Kind::Enum { names, .. } => match text.trim().parse::<i64>() {
                Ok(number) if enum_position(names, text.trim()).is_none() => Given::Int(number),
                _ => Given::Text(text.trim()),
            },
            Kind::Bool(_) | Kind::Flags { .. } => Given::Text(text.trim()),
            Kind::Text(_) | Kind::Switches(_) => Given::Text(text),
        };
        let mut assigned = self.assign(given).map_err(|error| error.message)?;
        if let (Kind::Switches(default), Setting::Text(changes)) = (&self.kind, &assigned.setting) {
            assigned.setting = Setting::Text(switches::merged(changes, default, default).into());
        }
        Ok(assigned)
    }

    /// `setting` as SHOW VARIABLES gives it.
    pub fn shown(&self, setting: &Setting) -> String {
        match (setting, &self.kind) {
            (Setting::Bool(true), _) => "ON".into(),
            (Setting::Bool(false), _) => "OFF".into(),
            (Setting::Int(value), _) => value.to_string(),
            (Setting::UInt(value), _) => value.to_string(),
            (Setting::Double(value), _) => format!("{value:.6}"),
            (Setting::Text(text), _) => text.to_string(),
            (Setting::Null, _) => String::new(),
            (Setting::Enum(position), Kind::Enum { names, .. }) => {
                names.get(*position).copied().unwrap_or_default().into()
            }
            (Setting::Flags(bits), Kind::Flags { names, .. }) => flag_names(names, *bits),
            (Setting::Enum(_) | Setting::Flags(_), _) => {
                unreachable!("{} holds a setting of another kind", self.name)
            }
        }
    }
}

/// Which of a variable's values is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The server's.
    Global,
    /// The session's.
    Session,
}

fn parse_bool(word: &str) -> Option<bool> {
    match word {
        "1" => Some(true),
        "0" => Some(false),
        word if word.eq_ignore_ascii_case("on") || word.eq_ignore_ascii_case("true") => Some(true),
        word if word.eq_ignore_ascii_case("off") || word.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// A number with an optional K, M, G, T, P or E, powers of 1024.
fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let shift = match text.as_bytes().last()?.to_ascii_lowercase() {
        b'k' => 10,
        b'm' => 20,
        b'g' => 30,
        b't' => 40,
        b'p' => 50,
        b'e' => 60,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { text.get(..text.len() - 1)? };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn enum_position(names: &[&str], word: &str) -> Option<usize> {
    let position = names.iter().position(|name| name.eq_ignore_ascii_case(word));
    position.or_else(|| {
        // ON and OFF, as 1 and 0, for enumerations that have them.
        let word = match parse_bool(word)? {
            true => "ON",
            false => "OFF",
        };
        names.iter().position(|name| *name == word)
    })
}

fn flag_mask(names: &[&str]) -> u64 {
    if names.len() >= 64 { u64::MAX } else { (1 << names.len()) - 1 }
}

fn parse_flags<'a>(names: &[&str], list: &'a str) -> Result<u64, &'a str> {
    if let Ok(bits) = list.trim().parse::<u64>() {
        return if bits & !flag_mask(names) == 0 { Ok(bits) } else { Err(list) };
    }
    let mut bits = 0;
    for word in list.split(',').filter(|word| !word.is_empty()) {
        let position =
            names.iter().position(|name| !name.is_empty() && name.eq_ignore_ascii_case(word.trim()));
        bits |= 1 << position.ok_or(word)?;
    }
    Ok(bits)
}

fn flag_names(names: &[&str], bits: u64) -> String {
    let set = names.iter().enumerate().filter(|(at, name)| bits >> at & 1 == 1 && !name.is_empty());
    set.map(|(_, name)| *name).collect::<Vec<_>>().join(",")
}

/// A value for every variable.
#[derive(Debug, Clone)]
pub struct Settings(Vec<Setting>);

impl Default for Settings {
    fn default() -> Self {
        Settings(VARIABLES.iter().map(Variable::default_setting).collect())
    }
}

macro_rules! typed_read {
    ($name:ident, $variant:ident, $type:ty) => {
        #[doc = concat!("The value of a variable declared as `", stringify!($variant), "`.")]
        pub fn $name(&self, id: VariableId) -> $type {
            match self.get(id) {
                Setting::$variant(value) => *value,
                other => unreachable!("{} holds {other:?}", id.declaration().name),
            }
        }
    };
}

impl Settings {
    /// The value of a variable.
    #[expect(clippy::indexing_slicing, reason = "there is a setting for each of VARIABLES")]
    pub fn get(&self, id: VariableId) -> &Setting {
        &self.0[usize::from(id.0)]
    }

    #[expect(clippy::indexing_slicing, reason = "there is a setting for each of VARIABLES")]
    fn slot(&mut self, id: VariableId) -> &mut Setting {
        &mut self.0[usize::from(id.0)]
    }

    /// Replaces the value of a variable; it must be of the variable's kind.
    pub fn set(&mut self, id: VariableId, setting: Setting) {
        let slot = self.slot(id);
        let text = |setting: &Setting| matches!(setting, Setting::Text(_) | Setting::Null);
        let same = std::mem::discriminant(slot) == std::mem::discriminant(&setting);
        assert!(same || text(slot) && text(&setting), "{} cannot hold {setting:?}", id.declaration().name);
        *slot = setting;
    }

    typed_read!(bool, Bool, bool);
    typed_read!(int, Int, i64);
    typed_read!(uint, UInt, u64);
    typed_read!(double, Double, f64);
    typed_read!(enumerated, Enum, usize);
    typed_read!(flags, Flags, u64);

    /// The value of a variable declared as `Text`; `None` is NULL.
    pub fn text(&self, id: VariableId) -> Option<&str> {
        match self.get(id) {
            Setting::Text(text) => Some(text),
            Setting::Null => None,
            other => unreachable!("{} holds {other:?}", id.declaration().name),
        }
    }
}

/// A session's values: the global ones of the moment the session began, and those it has set itself.
#[derive(Debug, Clone)]
pub struct SessionSettings {
    initial: Arc<Settings>,
    own: Vec<(VariableId, Setting)>,
}

impl Default for SessionSettings {
    /// Those of a session of a fresh server.
    fn default() -> Self {
        static DEFAULTS: LazyLock<Arc<Settings>> = LazyLock::new(Default::default);
        SessionSettings::new(DEFAULTS.clone())
    }
}

impl SessionSettings {
    /// Those of a session that begins now.
    pub fn new(global: Arc<Settings>) -> Self {
        SessionSettings { initial: global, own: Vec::new() }
    }

    /// The session's value of a variable.
    pub fn get(&self, id: VariableId) -> &Setting {
        match self.own.iter().find(|(own, _)| *own == id) {
            Some((_, setting)) => setting,
            None => self.initial.get(id),
        }
    }

    /// Replaces the session's value.
    pub fn set(&mut self, id: VariableId, setting: Setting) {
        match self.own.iter_mut().find(|(own, _)| *own == id) {
            Some((_, slot)) => *slot = setting,
            None => self.own.push((id, setting)),
        }
    }

    /// Forgets everything the session set (COM_RESET_CONNECTION); `global` are the values of now.
    pub fn reset(&mut self, global: Arc<Settings>) {
        self.initial = global;
        self.own.clear();
    }

    typed_read!(bool, Bool, bool);
    typed_read!(int, Int, i64);
    typed_read!(uint, UInt, u64);
    typed_read!(double, Double, f64);
    typed_read!(enumerated, Enum, usize);
    typed_read!(flags, Flags, u64);

    /// The session's value of a variable declared as `Text`; `None` is NULL.
    pub fn text(&self, id: VariableId) -> Option<&str> {
        match self.get(id) {
            Setting::Text(text) => Some(text),
            Setting::Null => None,
            other => unreachable!("{} holds {other:?}", id.declaration().name),
        }
    }
}

/// Who may SET SESSION a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionRule {
    /// Every session.
    Free,
    /// SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN.
    Admin,
    /// Those, or SUPER, which has them all.
    SuperOrAdmin,
    /// Those, or REPLICATION_APPLIER.
    AdminOrApplier,
    /// None: the session's value is the global one of its login (1621).
    ReadOnly,
}

/// Declares variables: a constant [`VariableId`] each, and `VARIABLES`, the list of them, which must be by name.
///
/// ```text
/// WAIT_TIMEOUT = "wait_timeout", Both, dynamic, uint(28800, 1, 31536000, Seconds), "Idle time before ...";
/// ```
///
/// The third column is `dynamic` (SET changes it), `fixed` (only an option does), `default_only` and
/// `fixed_default` (the same, of which only the default is [taken](crate::sysvar::Taken)).
#[macro_export]
macro_rules! system_variables {
    ($($id:ident = $name:literal, $scope:ident, $changes:ident, $kind:ident($($arguments:tt)*), $doc:expr;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Position { $($id),* }
        $(
            #[doc = concat!("`", $name, "`")]
            pub const $id: $crate::sysvar::VariableId = $crate::sysvar::VariableId(Position::$id as u16);
        )*
        /// Every system variable, by name.
        pub static VARIABLES: &[$crate::sysvar::Variable] = &[$($crate::sysvar::Variable {
            name: $name,
            scope: $crate::sysvar::Scope::$scope,
            dynamic: $crate::system_variables!(@changes $changes),
            taken: $crate::system_variables!(@taken $changes),
            kind: $crate::system_variables!(@kind $kind $($arguments)*),
            doc: $doc,
        }),*];
    };
    (@changes fixed) => { false };
    (@changes fixed_default) => { false };
    (@changes $dynamic:ident) => { true };
    (@taken dynamic) => { $crate::sysvar::Taken::All };
    (@taken fixed) => { $crate::sysvar::Taken::All };
    (@taken default_only) => { $crate::sysvar::Taken::DefaultOnly };
    (@taken fixed_default) => { $crate::sysvar::Taken::DefaultOnly };
    (@kind bool $default:literal) => { $crate::sysvar::Kind::Bool($default) };
    (@kind int $default:expr, $min:expr, $max:expr, $unit:ident) => {
        $crate::sysvar::Kind::Int { default: $default, min: $min, max: $max, unit: $crate::sysvar::Unit::$unit }
    };
    (@kind uint $default:expr, $min:expr, $max:expr, $unit:ident) => {
        $crate::system_variables!(@kind uint $default, $min, $max, $unit, 1)
    };
    (@kind uint $default:expr, $min:expr, $max:expr, $unit:ident, $step:expr) => {
        $crate::sysvar::Kind::UInt {
            default: $default,
            min: $min,
            max: $max,
            step: $step,
            unit: $crate::sysvar::Unit::$unit,
        }
    };
    (@kind double $default:expr, $min:expr, $max:expr, $unit:ident) => {
        $crate::sysvar::Kind::Double { default: $default, min: $min, max: $max, unit: $crate::sysvar::Unit::$unit }
    };
    (@kind text $default:expr) => { $crate::sysvar::Kind::Text(Some($default)) };
    (@kind switches $default:expr) => { $crate::sysvar::Kind::Switches($default) };
    (@kind null) => { $crate::sysvar::Kind::Text(None) };
    (@kind one_of $names:expr, $default:expr) => {
        $crate::sysvar::Kind::Enum { names: $names, default: $default }
    };
    (@kind flags $names:expr, $default:expr) => {
        $crate::sysvar::Kind::Flags { names: $names, default: $default }
    };
}

#[cfg(test)]
mod tests;
