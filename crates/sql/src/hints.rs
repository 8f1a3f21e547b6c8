//! The hints of a statement that is executed: what is wrong with them, and SET_VAR, by which system variables
//! have another value while it is planned and executed. What they say of query blocks is
//! [bound](palisade_plan::bind::hints).
//!
//! What is wrong with a hint is a warning, of the same kinds as in MySQL: a list that is no list of hints
//! (1064), a variable that there is not (3128) or that no hint sets (3637), and the second value of one
//! (3126) are told when the statement is prepared or sent; a value that the variable does not take, whenever
//! it is executed.

use palisade_base::error_catalogue::*;
use palisade_base::sysvar::SessionSettings;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::Value;
use palisade_expr::services::Scope;
use palisade_parser::Hint;
use palisade_parser::hint::{BlockHint, HintForm, HintKind, HintValue};

use crate::{Services, Session, SessionVariables, SystemVariables};
use palisade_plan::bind::hints::{StatementHints, block_named, conflicts};

/// The variables that SET_VAR sets in MySQL 9.7, and those of our own that a statement may have otherwise.
#[rustfmt::skip]
const SETTABLE: &[&str] = &[
    "auto_increment_increment", "auto_increment_offset", "big_tables", "bulk_insert_buffer_size",
    "cte_max_recursion_depth", "default_table_encryption", "default_tmp_storage_engine", "div_precision_increment",
    "enable_secondary_engine_statistics", "end_markers_in_json", "eq_range_index_dive_limit", "foreign_key_checks",
    "group_concat_max_len", "insert_id", "internal_tmp_mem_storage_engine", "join_buffer_size", "lock_wait_timeout",
    "max_error_count", "max_execution_time", "max_heap_table_size", "max_join_size", "max_length_for_sort_data",
    "max_points_in_geometry", "max_seeks_for_key", "max_sort_length", "optimizer_max_subgraph_pairs",
    "optimizer_prune_level", "optimizer_search_depth", "optimizer_switch", "palisade_parallel_cost",
    "palisade_parallel_threads", "range_alloc_block_size",
    "range_optimizer_max_mem_size", "read_buffer_size", "read_rnd_buffer_size", "secondary_engine_cost_threshold",
    "select_into_buffer_size", "select_into_disk_sync", "select_into_disk_sync_delay", "set_operations_buffer_size",
    "sort_buffer_size", "sql_auto_is_null", "sql_big_selects", "sql_buffer_result", "sql_mode",
    "sql_require_primary_key", "sql_safe_updates", "sql_select_limit", "time_zone", "timestamp", "tmp_table_size",
    "unique_checks", "updatable_views_with_limit", "use_secondary_engine", "windowing_use_high_precision",
    "xa_detach_on_prepare",
];

/// The resource groups that there are.
const RESOURCE_GROUPS: [&str; 2] = ["USR_default", "SYS_default"];

/// What a session's variables were before the hints of the statement that it executes. Kept in the session,
/// so that they are restored after a statement that a panic has ended, too.
pub struct BeforeHints {
    settings: SessionSettings,
    variables: SessionVariables,
    insert_id: Option<u64>,
    changed: usize,
}

/// Warns of hints that have no effect.
pub(crate) fn warn(host: &dyn Services, session: &mut Session, hints: &[Hint]) {
    for (position, hint) in hints.iter().enumerate() {
        let warning = match hint {
            Hint::Mistake { near, line } => MysqlError::with_message(
                &ER_PARSE_ERROR,
                format!("Optimizer hint syntax error near '{near}' at line {line}"),
            ),
            Hint::RepeatedLimit(limit) => {
                mysql_error!(ER_WARN_CONFLICTING_HINT, format!("MAX_EXECUTION_TIME({limit})"))
            }
            Hint::SetVariable { name, .. } if !is_settable(name) => {
                match host.variable(&session.state, None, name) {
                    Ok(None) => mysql_error!(ER_UNRESOLVED_HINT_NAME, format!("'{name}'"), "SET_VAR"),
                    _ => mysql_error!(ER_NOT_HINT_UPDATABLE_VARIABLE, format!("'{name}'")),
                }
            }
            Hint::SetVariable { name, written, .. } if is_repeated(hints, position, name) => {
                mysql_error!(ER_WARN_CONFLICTING_HINT, format!("SET_VAR({name}={written}) "))
            }
            Hint::SetVariable { .. } => continue,
            Hint::MisplacedLimit => mysql_error!(ER_WARN_UNSUPPORTED_MAX_EXECUTION_TIME),
            Hint::Block(hint) => {
                warn_of_block_hint(session, hints, position, hint);
                continue;
            }
        };
        session.state.warnings.warn(warning);
    }
}

fn warn_of_block_hint(session: &mut Session, hints: &[Hint], position: usize, hint: &BlockHint) {
    let warnings = &mut session.state.warnings;
    if hint.kind == HintKind::ResourceGroup {
        let name = hint.named.as_deref().unwrap_or_default();
        if !RESOURCE_GROUPS.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            warnings.warn(mysql_error!(ER_RESOURCE_GROUP_NOT_EXISTS, name));
        }
        return;
    }
    let named = hint.named.iter().filter(|_| hint.kind.form() != HintForm::Name);
    let named = named.chain(hint.tables.iter().filter_map(|table| table.block.as_ref()));
    // MySQL says nothing of a table's block in an order of tables.
    let is_order = matches!(hint.kind, HintKind::JoinOrder | HintKind::JoinPrefix | HintKind::JoinSuffix);
    let mut is_unknown = false;
    for name in named.filter(|name| block_named(hints, name).is_none()) {
        is_unknown = true;
        if !is_order || hint.named.is_some() {
            warnings.warn(mysql_error!(ER_WARN_UNKNOWN_QB_NAME, format!("`{name}`"), hint.kind.name()));
        }
    }
    if is_unknown {
        return;
    }
    for text in conflicts(hints, position, hint) {
        warnings.warn(mysql_error!(ER_WARN_CONFLICTING_HINT, text));
    }
}

/// Gives the variables the values that a statement's hints say, until [`restore`]. A value that a variable
/// does not take is a warning.
#[inline]
pub(crate) fn apply(host: &(impl SystemVariables + ?Sized), session: &mut Session, hints: &[Hint]) {
    if !hints.is_empty() {
        apply_some(host, session, hints);
    }
}

/// Whatever the statement does to the session's variables from now on ends with it, by [`restore`].
pub(crate) fn keep_variables(session: &mut Session) {
    if session.before_hints.is_some() {
        return;
    }
    session.before_hints = Some(Box::new(BeforeHints {
        settings: session.state.settings.clone(),
        variables: session.state.variables.clone(),
        insert_id: session.state.insert_id,
        changed: session.changed_settings.len(),
    }));
}

#[cold]
fn apply_some(host: &(impl SystemVariables + ?Sized), session: &mut Session, hints: &[Hint]) {
    let counts = |hint: &Hint| matches!(hint, Hint::SetVariable { .. } | Hint::Block(_));
    if !hints.iter().any(counts) {
        return;
    }
    keep_variables(session);
    session.block_hints = StatementHints::new(hints);
    for (position, hint) in hints.iter().enumerate() {
        let Hint::SetVariable { name, value, .. } = hint else { continue };
        if !is_settable(name) || is_repeated(hints, position, name) {
            continue;
        }
        let value = match value {
            HintValue::Integer(value) => i64::try_from(*value).map_or(Value::UInt(*value), Value::Int),
            HintValue::Text(text) => Value::bytes(text.as_bytes()),
            HintValue::Other => {
                session.state.warnings.warn(mysql_error!(ER_WRONG_TYPE_FOR_VAR, name));
                continue;
            }
        };
        if let Err(error) = host.set_variable(session, Scope::Session, name, Some(value)) {
            session.state.warnings.warn(error);
        }
    }
}

/// Gives the variables back what they were before the hints of the statement that has ended.
#[inline]
pub(crate) fn restore(session: &mut Session) {
    if session.before_hints.is_some() {
        restore_some(session);
    }
}

#[cold]
fn restore_some(session: &mut Session) {
    let Some(before) = session.before_hints.take() else { return };
    let BeforeHints { settings, variables, insert_id, changed } = *before;
    session.state.settings = settings;
    session.state.variables = variables;
    session.state.insert_id = insert_id;
    session.changed_settings.truncate(changed);
    session.block_hints = None;
}

fn is_settable(name: &str) -> bool {
    SETTABLE.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether one of the hints before `position` sets the variable.
fn is_repeated(hints: &[Hint], position: usize, name: &str) -> bool {
    hints
        .iter()
        .take(position)
        .any(|hint| matches!(hint, Hint::SetVariable { name: known, .. } if known.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::doubles::Variables;

    #[test]
    fn each_variable_is_set_once_and_a_refusal_is_a_warning() {
        let variables = Variables::but("sort_buffer_size");
        let mut session = Session::new(1, "root", "localhost", SessionVariables::default(), 0);
        let hint = |name: &str, value| {
            let value = HintValue::Integer(value);
            Hint::SetVariable { name: name.to_owned(), value, written: String::new() }
        };
        let hints = [
            hint("max_execution_time", 5),
            hint("max_execution_time", 6),
            hint("sort_buffer_size", 1),
            hint("port", 1),
        ];
        apply(&variables, &mut session, &hints);
        let set = variables.set.lock().unwrap();
        assert_eq!(*set, [("max_execution_time".to_owned(), Some(Value::Int(5)))]);
        assert_eq!(session.state.warnings.count(), 1);
        assert!(session.before_hints.is_some());
        restore(&mut session);
        assert!(session.before_hints.is_none());
    }
}
