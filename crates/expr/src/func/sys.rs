//! The functions of the schema sys, which are stored functions in MySQL: `sys.list_add(list, value)`. Here
//! they are functions of the library whose names have the schema before them.
//!
//! Those about sessions and about what is collected ask the server ([`Services::performance`]).
//!
//! [`Services::performance`]: crate::services::Services::performance

use palisade_base::error_catalogue::{ER_INVALID_USE_OF_NULL, ER_STD_INVALID_ARGUMENT};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::number::parse_f64;
use palisade_catalog::types::{IntWidth, LobSize};
use palisade_catalog::{CollationId, SqlType, Value};

use super::{Evaluation, Function, Typed, function, text_of_length, volatile};
use crate::place::At;
use crate::services::Question;
use crate::{Context, Expr, Scope, SqlResult};
use Evaluation::{Nullable, Strict};

/// Their declarations.
pub static FUNCTIONS: &[Function] = &[
    volatile("ps_current_thread_id", (0, 0), thread_number, Strict(current_thread)),
    volatile("ps_thread_id", (1, 1), thread_number, Strict(|cx, values, _, _| thread_of(cx, values.at(0)?))),
    function("sys.extract_schema_from_file_name", (1, 1), name, Strict(schema_of_file)),
    function("sys.extract_table_from_file_name", (1, 1), name, Strict(table_of_file)),
    function("sys.format_bytes", (1, 1), text, Strict(super::amount::format_bytes)),
    volatile("sys.format_path", (1, 1), path_type, Strict(format_path)),
    volatile("sys.format_statement", (1, 1), long_text, Strict(format_statement)),
    function("sys.format_time", (1, 1), text, Strict(format_time)),
    function("sys.list_add", (2, 2), text, Nullable(list_add)),
    function("sys.list_drop", (2, 2), text, Nullable(list_drop)),
    volatile("sys.ps_is_account_enabled", (2, 2), yes_or_no, Nullable(is_account_enabled)),
    volatile("sys.ps_is_consumer_enabled", (1, 1), yes_or_no, Nullable(is_consumer_enabled)),
    function("sys.ps_is_instrument_default_enabled", (1, 1), yes_or_no, Nullable(is_enabled_by_default)),
    function("sys.ps_is_instrument_default_timed", (1, 1), yes_or_no, Nullable(is_timed_by_default)),
    volatile("sys.ps_is_thread_instrumented", (1, 1), yes_no_unknown, Nullable(is_thread_instrumented)),
    volatile("sys.ps_thread_account", (1, 1), text, Nullable(thread_account)),
    volatile("sys.ps_thread_id", (1, 1), thread_number, Nullable(thread_or_own)),
    function("sys.quote_identifier", (1, 1), text, Strict(quote_identifier)),
    volatile("sys.sys_get_config", (2, 2), setting_type, Nullable(get_config)),
    volatile("sys.version_major", (0, 0), tiny, Strict(|cx, _, _, _| version_part(cx, 0))),
    volatile("sys.version_minor", (0, 0), tiny, Strict(|cx, _, _, _| version_part(cx, 1))),
    volatile("sys.version_patch", (0, 0), tiny, Strict(|cx, _, _, _| version_part(cx, 2))),
];

/// The settings of the schema, as `sys.sys_config` has them.
pub const SETTINGS: [(&str, Option<&str>); 6] = [
    ("diagnostics.allow_i_s_tables", Some("OFF")),
    ("diagnostics.include_raw", Some("OFF")),
    ("ps_thread_trx_info.max_length", Some("65535")),
    ("statement_performance_analyzer.limit", Some("100")),
    ("statement_performance_analyzer.view", None),
    (STATEMENT_LENGTH, Some("64")),
];

/// How long a statement may be before it is shortened.
const STATEMENT_LENGTH: &str = "statement_truncate_len";

const TEXTS: CollationId = CollationId::UTF8MB4_0900_AI_CI;

fn text(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Text { size: LobSize::Normal, collation: TEXTS }))
}

fn long_text(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Text { size: LobSize::Long, collation: TEXTS }))
}

fn name(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(64, TEXTS)))
}

fn path_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(512, TEXTS)))
}

fn setting_type(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(128, TEXTS)))
}

fn thread_number(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::BIGINT_UNSIGNED))
}

fn tiny(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(SqlType::Int { width: IntWidth::Tiny, unsigned: true }))
}

fn yes_or_no(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(3, TEXTS)))
}

fn yes_no_unknown(_: &[Expr], _: CollationId) -> SqlResult<Typed> {
    Ok(Typed::nullable(text_of_length(7, TEXTS)))
}

/// The text of an argument, in Unicode; `None` if it is NULL.
fn given(
    cx: &mut Context<'_>,
    values: &[Value],
    arguments: &[Expr],
    place: usize,
) -> SqlResult<Option<String>> {
    let value = values.at(place)?;
    if value.is_null() {
        return Ok(None);
    }
    let target = SqlType::Text { size: LobSize::Long, collation: TEXTS };
    let text = cx.text(value, arguments.at(place)?, &target)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

/// The text of the first argument of a function that is NULL if an argument is.
fn first(cx: &mut Context<'_>, values: &[Value], arguments: &[Expr]) -> SqlResult<String> {
    Ok(given(cx, values, arguments, 0)?.unwrap_or_default())
}

fn current_thread(cx: &mut Context<'_>, _: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(ask(cx, Question::Thread(cx.session.connection_id)))
}

/// The thread of a connection.
fn thread_of(cx: &mut Context<'_>, connection: &Value) -> SqlResult<Value> {
    let id = cx.to_bits(connection.as_ref())?;
    Ok(ask(cx, Question::Thread(id)))
}

fn thread_or_own(cx: &mut Context<'_>, values: &[Value], a: &[Expr], call: &Expr) -> SqlResult<Value> {
    match values.at(0)? {
        Value::Null => current_thread(cx, values, a, call),
        connection => thread_of(cx, connection),
    }
}

fn ask(cx: &Context<'_>, question: Question<'_>) -> Value {
    cx.host.performance(cx.session, question)
}

/// The last parts of a path, the last one first.
fn parts_of(path: &str) -> impl Iterator<Item = &str> {
    path.rsplit(['/', '\\'])
}

fn shortened(text: &str, characters: usize) -> Value {
    Value::bytes(text.chars().take(characters).collect::<String>())
}

/// The name of the folder that a file is in.
fn schema_of_file(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let path = first(cx, values, a)?;
    let mut parts = parts_of(&path);
    let file = parts.next().unwrap_or_default();
    Ok(shortened(parts.next().unwrap_or(file), 64))
}

/// The name of a file, without what follows a dot; what stands for an `@` in it as that.
fn table_of_file(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let path = first(cx, values, a)?.replace("@0024", "$");
    let file = parts_of(&path).next().unwrap_or_default();
    Ok(shortened(file.split('.').next().unwrap_or_default(), 64))
}

/// A duration in the greatest unit that it fills, with two decimals at most; what fills none is shown as it
/// was given.
fn format_time(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    const UNITS: [(f64, &str); 8] = [
        (604_800e12, "w"),
        (86_400e12, "d"),
        (3600e12, "h"),
        (60e12, "m"),
        (1e12, "s"),
        (1e9, "ms"),
        (1e6, "us"),
        (1e3, "ns"),
    ];
    let text = first(cx, values, a)?;
    // Of a text counts what it begins with, without a warning.
    let picoseconds = match values.at(0)? {
        Value::Bytes(text) => parse_f64(text).value,
        number => cx.to_f64(number.as_ref()).unwrap_or(0.0),
    };
    let unit = UNITS.iter().find(|(size, _)| picoseconds >= *size);
    Ok(Value::bytes(match unit {
        Some((size, name)) => format!("{} {name}", (picoseconds / size * 100.0).round() / 100.0),
        None => format!("{text} ps"),
    }))
}

/// The settings that paths begin with, in the order in which they are looked at.
const FOLDERS: [&str; 7] = [
    "datadir",
    "tmpdir",
    "replica_load_tmpdir",
    "innodb_data_home_dir",
    "innodb_log_group_home_dir",
    "innodb_undo_directory",
    "basedir",
];

/// A path with the setting that it begins with in place of a folder's name. The file of a table has the name
/// that InnoDB gives it, by which views and their readers find the table.
fn format_path(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let path = first(cx, values, a)?;
    for folder in FOLDERS {
        let Some(Value::Bytes(setting)) = cx.host.variable(cx.session, Some(Scope::Global), folder)? else {
            continue;
        };
        let setting = String::from_utf8_lossy(&setting);
        let setting = setting.trim_end_matches('/');
        if let Some(rest) = path.strip_prefix(setting).filter(|_| !setting.is_empty()) {
            if let Value::Bytes(table) = ask(cx, Question::TableOfFile(&path)) {
                let kind = if path.ends_with(".map") { "map" } else { "ibd" };
                let table = String::from_utf8_lossy(&table);
                return Ok(Value::bytes(format!("@@{folder}/{table}.{kind}")));
            }
            let slash = if rest.starts_with('/') { "" } else { "/" };
            return Ok(Value::bytes(format!("@@{folder}{slash}{rest}")));
        }
    }
    Ok(Value::bytes(path))
}

/// `@sys.statement_truncate_len`, or what it is without.
fn statement_length(cx: &mut Context<'_>) -> SqlResult<usize> {
    let length = match cx.session.user_variables.value(&format!("sys.{STATEMENT_LENGTH}")) {
        Value::Null => 64,
        value => cx.to_i64(value.as_ref())?,
    };
    Ok(usize::try_from(length).unwrap_or(0))
}

/// A statement on one line, with dots in the middle if it is long.
fn format_statement(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let statement = first(cx, values, a)?;
    let most = statement_length(cx)?;
    let count = statement.chars().count();
    if count <= most {
        return Ok(Value::bytes(statement.replace('\n', " ")));
    }
    let kept = (most / 2).saturating_sub(2);
    let begin: String = statement.chars().take(kept).collect();
    let end: String = statement.chars().skip(count.saturating_sub(kept)).collect();
    Ok(Value::bytes(format!("{begin} ... {end}").replace('\n', " ")))
}

/// 1138: the second argument of a function of lists is NULL.
fn null_in_list(function: &str, argument: &str) -> MysqlError {
    let text = format!("Function sys.{function}: {argument} input variable should not be NULL");
    MysqlError::signalled(&ER_INVALID_USE_OF_NULL, *b"02200", text)
}

fn list_add(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let Some(added) = given(cx, values, a, 1)? else { return Err(null_in_list("list_add", "in_add_value")) };
    match given(cx, values, a, 0)?.filter(|list| !list.is_empty()) {
        Some(list) => Ok(Value::bytes(format!("{},{added}", list.trim_matches(' ').trim_matches(',')))),
        None => Ok(Value::bytes(added)),
    }
}

fn list_drop(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let Some(dropped) = given(cx, values, a, 1)? else {
        return Err(null_in_list("list_drop", "in_drop_value"));
    };
    let Some(list) = given(cx, values, a, 0)?.filter(|list| !list.is_empty()) else {
        return Ok(values.at(0)?.clone());
    };
    let left = format!(",{list}").replace(&format!(",{dropped}"), "").replace(&format!(", {dropped}"), "");
    Ok(Value::bytes(left.trim_matches(',')))
}

fn quote_identifier(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    Ok(Value::bytes(format!("`{}`", first(cx, values, a)?.replace('`', "``"))))
}

/// A setting of the schema: what the table says of it, or the other value.
fn get_config(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let asked = given(cx, values, a, 0)?.unwrap_or_default();
    let known =
        SETTINGS.iter().find(|(known, _)| known.eq_ignore_ascii_case(&asked)).and_then(|(_, value)| *value);
    match known {
        Some(value) => Ok(Value::bytes(value)),
        None => Ok(given(cx, values, a, 1)?.map_or(Value::Null, Value::bytes)),
    }
}

fn version_part(cx: &mut Context<'_>, place: usize) -> SqlResult<Value> {
    let number = cx.host.version().split('-').next().unwrap_or_default().split('.').nth(place);
    let number = number.and_then(|number| number.parse().ok());
    number.map(Value::UInt).ok_or_else(|| mysql_error!(ER_INVALID_USE_OF_NULL))
}

fn is_account_enabled(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let (host, user) = (given(cx, values, a, 0)?, given(cx, values, a, 1)?);
    let (host, user) = (host.unwrap_or_default(), user.unwrap_or_default());
    Ok(ask(cx, Question::IsAccountEnabled { host: &host, user: &user }))
}

fn is_consumer_enabled(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    let Some(consumer) = given(cx, values, a, 0)? else { return Ok(Value::Null) };
    match ask(cx, Question::IsConsumerEnabled(&consumer)) {
        Value::Null => Err(mysql_error!(ER_STD_INVALID_ARGUMENT, consumer, "sys.ps_is_consumer_enabled")),
        answer => Ok(answer),
    }
}

/// Stages that tell how far they are: those that are collected unless an option says otherwise, as in MySQL.
const STAGES: [&str; 16] = [
    "stage/innodb/alter table (end)",
    "stage/innodb/alter table (flush)",
    "stage/innodb/alter table (insert)",
    "stage/innodb/alter table (log apply index)",
    "stage/innodb/alter table (log apply table)",
    "stage/innodb/alter table (merge sort)",
    "stage/innodb/alter table (read PK and internal sort)",
    "stage/innodb/alter tablespace (encryption)",
    "stage/innodb/buffer pool load",
    "stage/innodb/clone (file copy)",
    "stage/innodb/clone (page copy)",
    "stage/innodb/clone (redo copy)",
    "stage/sql/Applying batch of row changes (delete)",
    "stage/sql/Applying batch of row changes (update)",
    "stage/sql/Applying batch of row changes (write)",
    "stage/sql/copy to tmp table",
];

/// Whether an instrument of that name is collected unless an option says otherwise, but for those whose names
/// begin so.
fn is_by_default(cx: &mut Context<'_>, values: &[Value], a: &[Expr], never: &[&str]) -> SqlResult<Value> {
    let instrument = given(cx, values, a, 0)?.unwrap_or_default();
    let begins =
        |begin: &str| instrument.get(..begin.len()).is_some_and(|own| own.eq_ignore_ascii_case(begin));
    let is_stage = STAGES.iter().any(|stage| stage.eq_ignore_ascii_case(&instrument));
    let is_off = never.iter().any(|begin| begins(begin)) || begins("stage/") && !is_stage;
    Ok(Value::bytes(if is_off { "NO" } else { "YES" }))
}

fn is_enabled_by_default(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    is_by_default(cx, values, a, &["wait/synch/", "wait/io/socket/"])
}

/// Memory takes no time.
fn is_timed_by_default(cx: &mut Context<'_>, values: &[Value], a: &[Expr], _: &Expr) -> SqlResult<Value> {
    is_by_default(cx, values, a, &["wait/synch/", "memory/"])
}

fn is_thread_instrumented(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let connection = values.at(0)?;
    if connection.is_null() {
        return Ok(Value::Null);
    }
    let id = cx.to_bits(connection.as_ref())?;
    Ok(ask(cx, Question::IsInstrumented(id)))
}

fn thread_account(cx: &mut Context<'_>, values: &[Value], _: &[Expr], _: &Expr) -> SqlResult<Value> {
    let thread = values.at(0)?;
    if thread.is_null() {
        return Ok(Value::Null);
    }
    let id = cx.to_bits(thread.as_ref())?;
    Ok(ask(cx, Question::Account(id)))
}
