//! The session values of the system variables that statements read while they run.
//!
//! A variable is declared in [`palisade_base::sysvar_catalogue`]. What it means to a statement is one row
//! here: the field, its type, and how it is read from the session's settings. The defaults follow from the
//! declarations.

use std::sync::LazyLock;
use std::time::Duration;

use palisade_base::sysvar::{SessionSettings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::{Charset, Collation, CollationId, Zone};
use palisade_engine::IsolationLevel;

use crate::func::aes::BlockEncryptionMode;
use crate::mode::SqlMode;

/// Declares [`SessionVariables`]: `field: type = value`, where the value is an expression over the session's
/// settings and the machine's time zone.
macro_rules! session_variables {
    (|$settings:ident, $system:ident| $($(#[$meta:meta])* $field:ident: $ty:ty = $value:expr,)*) => {
        /// The session values of the system variables that statements read while they run. The host, which
        /// owns the settings, keeps them in step.
        #[derive(Debug, Clone, PartialEq)]
        #[allow(missing_docs, reason = "a field without documentation is called as its variable")]
        pub struct SessionVariables { $($(#[$meta])* pub $field: $ty,)* }

        impl SessionVariables {
            /// The form of settings that statements read. `system` is the time zone that SYSTEM stands for.
            pub fn of($settings: &SessionSettings, $system: &Zone) -> SessionVariables {
                SessionVariables { $($field: $value,)* }
            }
        }
    };
}

session_variables! { |settings, system|
    sql_mode: SqlMode = SqlMode::of(settings.flags(sysvar::SQL_MODE)),
    autocommit: bool = settings.bool(sysvar::AUTOCOMMIT),
    /// `transaction_isolation` of the transactions to come.
    isolation: IsolationLevel = isolation(settings.enumerated(sysvar::TRANSACTION_ISOLATION)),
    /// `transaction_read_only` of the transactions to come.
    read_only: bool = settings.bool(sysvar::TRANSACTION_READ_ONLY),
    time_zone: Zone = settings.text(sysvar::TIME_ZONE).and_then(|text| zone(text, system)).unwrap_or(Zone::UTC),
    /// `character_set_client`, as the charset's default collation.
    character_set_client: CollationId = default_collation(settings.text(sysvar::CHARACTER_SET_CLIENT))
            .unwrap_or_default(),
    /// `collation_connection`: of literals and of what functions make.
    collation_connection: CollationId = settings
            .text(sysvar::COLLATION_CONNECTION)
            .and_then(Collation::by_name)
            .map_or_else(CollationId::default, |collation| collation.id),
    /// `character_set_results`; `None` is NULL: send as is.
    character_set_results: Option<CollationId> = default_collation(settings.text(sysvar::CHARACTER_SET_RESULTS)),
    /// `innodb_lock_wait_timeout`.
    lock_wait_timeout: Duration = seconds(settings, sysvar::INNODB_LOCK_WAIT_TIMEOUT),
    /// `innodb_rollback_on_timeout`: a lock wait timeout rolls the transaction back, not only the statement.
    rollback_on_timeout: bool = settings.bool(sysvar::INNODB_ROLLBACK_ON_TIMEOUT),
    /// `innodb_snapshot_isolation`: changing a row that has changed since the snapshot is error 1020.
    snapshot_isolation: bool = settings.bool(sysvar::INNODB_SNAPSHOT_ISOLATION),
    /// `lock_wait_timeout`: of metadata locks.
    metadata_lock_wait_timeout: Duration = seconds(settings, sysvar::LOCK_WAIT_TIMEOUT),
    /// `wait_timeout`, in seconds.
    wait_timeout: u64 = settings.uint(sysvar::WAIT_TIMEOUT),
    /// `net_read_timeout`, in seconds.
    net_read_timeout: u64 = settings.uint(sysvar::NET_READ_TIMEOUT),
    net_write_timeout: Duration = seconds(settings, sysvar::NET_WRITE_TIMEOUT),
    /// `long_query_time`, in seconds.
    long_query_time: f64 = settings.double(sysvar::LONG_QUERY_TIME),
    /// `palisade_durable_reads`.
    durable_reads: bool = settings.bool(sysvar::PALISADE_DURABLE_READS),
    /// `max_execution_time`; zero is none.
    max_execution_time: Duration = Duration::from_millis(settings.uint(sysvar::MAX_EXECUTION_TIME)),
    sql_select_limit: u64 = settings.uint(sysvar::SQL_SELECT_LIMIT),
    /// `max_join_size`, in rows, unless `sql_big_selects` is ON.
    max_join_size: Option<u64> = (!settings.bool(sysvar::SQL_BIG_SELECTS))
            .then(|| settings.uint(sysvar::MAX_JOIN_SIZE)),
    group_concat_max_len: u64 = settings.uint(sysvar::GROUP_CONCAT_MAX_LEN),
    max_allowed_packet: u64 = settings.uint(sysvar::MAX_ALLOWED_PACKET),
    /// `palisade_statement_memory`, in bytes.
    statement_memory: u64 = settings.uint(sysvar::PALISADE_STATEMENT_MEMORY),
    /// `connection_memory_limit`, in bytes.
    connection_memory_limit: u64 = settings.uint(sysvar::CONNECTION_MEMORY_LIMIT),
    /// `connection_memory_chunk_size`, in bytes.
    connection_memory_chunk_size: u64 = settings.uint(sysvar::CONNECTION_MEMORY_CHUNK_SIZE),
    /// `global_connection_memory_tracking`.
    tracks_connection_memory: bool = settings.bool(sysvar::GLOBAL_CONNECTION_MEMORY_TRACKING),
    /// `palisade_operator_memory`, in bytes.
    operator_memory: u64 = settings.uint(sysvar::PALISADE_OPERATOR_MEMORY),
    /// `palisade_parallel_threads`.
    parallel_threads: usize = settings.uint(sysvar::PALISADE_PARALLEL_THREADS) as usize,
    /// `palisade_parallel_cost`, in microseconds.
    parallel_cost: u64 = settings.uint(sysvar::PALISADE_PARALLEL_COST),
    /// `innodb_parallel_read_threads`.
    parallel_read_threads: usize = settings.uint(sysvar::INNODB_PARALLEL_READ_THREADS) as usize,
    /// `tmp_table_size`, in bytes.
    tmp_table_size: u64 = settings.uint(sysvar::TMP_TABLE_SIZE),
    /// `join_buffer_size`, in bytes.
    join_buffer_size: u64 = settings.uint(sysvar::JOIN_BUFFER_SIZE),
    /// `sort_buffer_size`, in bytes.
    sort_buffer_size: u64 = settings.uint(sysvar::SORT_BUFFER_SIZE),
    /// `parser_max_mem_size`, in bytes.
    parser_max_mem_size: u64 = settings.uint(sysvar::PARSER_MAX_MEM_SIZE),
    block_encryption_mode: BlockEncryptionMode =
            BlockEncryptionMode::of(settings.enumerated(sysvar::BLOCK_ENCRYPTION_MODE)),
    div_precision_increment: u8 = settings.uint(sysvar::DIV_PRECISION_INCREMENT) as u8,
    auto_increment_increment: u64 = settings.uint(sysvar::AUTO_INCREMENT_INCREMENT),
    auto_increment_offset: u64 = settings.uint(sysvar::AUTO_INCREMENT_OFFSET),
    default_week_format: u8 = settings.uint(sysvar::DEFAULT_WEEK_FORMAT) as u8,
    sql_safe_updates: bool = settings.bool(sysvar::SQL_SAFE_UPDATES),
    /// `palisade_substitute_engines`: tables of some other engines are made as InnoDB's.
    substitute_engines: bool = settings.bool(sysvar::PALISADE_SUBSTITUTE_ENGINES),
    /// `sql_require_primary_key`: no table is made or changed that has none (3750).
    sql_require_primary_key: bool = settings.bool(sysvar::SQL_REQUIRE_PRIMARY_KEY),
    /// `sql_generate_invisible_primary_key`: a new table without a key gets one.
    generates_keys: bool = settings.bool(sysvar::SQL_GENERATE_INVISIBLE_PRIMARY_KEY),
    /// `show_gipk_in_create_table_and_information_schema`.
    shows_generated_keys: bool = settings.bool(sysvar::SHOW_GIPK_IN_CREATE_TABLE_AND_INFORMATION_SCHEMA),
    sql_auto_is_null: bool = settings.bool(sysvar::SQL_AUTO_IS_NULL),
    foreign_key_checks: bool = settings.bool(sysvar::FOREIGN_KEY_CHECKS),
    /// `restrict_fk_on_non_standard_key`: a new foreign key must refer to a whole unique key.
    restrict_foreign_keys: bool = settings.bool(sysvar::RESTRICT_FK_ON_NON_STANDARD_KEY),
    unique_checks: bool = settings.bool(sysvar::UNIQUE_CHECKS),
    /// `timestamp`, in microseconds since 1970, if it was set: what NOW() answers.
    timestamp_micros: Option<i64> = None,
    max_error_count: usize = settings.uint(sysvar::MAX_ERROR_COUNT) as usize,
    sql_notes: bool = settings.bool(sysvar::SQL_NOTES),
    cte_max_recursion_depth: u64 = settings.uint(sysvar::CTE_MAX_RECURSION_DEPTH),
    /// `completion_type`: what COMMIT and ROLLBACK do that do not say.
    completion: CompletionType = match settings.enumerated(sysvar::COMPLETION_TYPE) {
            0 => CompletionType::NoChain,
            1 => CompletionType::Chain,
            _ => CompletionType::Release,
        },
    /// `profiling`.
    profiling: bool = settings.bool(sysvar::PROFILING),
    /// `optimizer_switch`.
    optimizer: OptimizerSwitches = OptimizerSwitches::of(settings.text(sysvar::OPTIMIZER_SWITCH).unwrap_or_default()),
    /// `optimizer_trace`: what the planner decides is recorded.
    traces_optimizer: bool = settings.text(sysvar::OPTIMIZER_TRACE).is_some_and(|switches| switches.contains("enabled=on")),
    explain_format: ExplainVariable = match settings.enumerated(sysvar::EXPLAIN_FORMAT) {
            2 => ExplainVariable::Tree,
            3 => ExplainVariable::Json,
            _ => ExplainVariable::Traditional,
        },
    explain_json_format_version: u64 = settings.uint(sysvar::EXPLAIN_JSON_FORMAT_VERSION),
    profiling_history_size: usize = settings.uint(sysvar::PROFILING_HISTORY_SIZE) as usize,
}

/// `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the value")]
pub enum CompletionType {
    NoChain,
    Chain,
    Release,
}

/// The flags of `optimizer_switch` that the planner obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the flag")]
pub struct OptimizerSwitches {
    pub index_merge: bool,
    pub index_merge_union: bool,
    pub index_merge_sort_union: bool,
    pub block_nested_loop: bool,
    pub semijoin: bool,
    pub use_index_extensions: bool,
    pub derived_merge: bool,
    pub use_invisible_indexes: bool,
    pub prefer_ordering_index: bool,
    pub derived_condition_pushdown: bool,
    pub subquery_to_derived: bool,
    pub materialization: bool,
    pub skip_scan: bool,
    pub index_merge_intersection: bool,
}

impl OptimizerSwitches {
    /// Those of a value of the variable, which names all flags. The declared value, which nearly every
    /// session has, is not read again: a session starts with it, and every SET makes all of its variables
    /// anew.
    fn of(value: &str) -> OptimizerSwitches {
        let (declared, switches) = &*DECLARED_SWITCHES;
        if value == declared { *switches } else { OptimizerSwitches::read(value) }
    }

    fn read(value: &str) -> OptimizerSwitches {
        let is_on = |flag: &str| value.split(',').any(|switch| switch == flag);
        OptimizerSwitches {
            index_merge: is_on("index_merge=on"),
            index_merge_union: is_on("index_merge_union=on"),
            index_merge_sort_union: is_on("index_merge_sort_union=on"),
            block_nested_loop: is_on("block_nested_loop=on"),
            semijoin: is_on("semijoin=on"),
            use_index_extensions: is_on("use_index_extensions=on"),
            derived_merge: is_on("derived_merge=on"),
            use_invisible_indexes: is_on("use_invisible_indexes=on"),
            prefer_ordering_index: is_on("prefer_ordering_index=on"),
            derived_condition_pushdown: is_on("derived_condition_pushdown=on"),
            subquery_to_derived: is_on("subquery_to_derived=on"),
            materialization: is_on("materialization=on"),
            skip_scan: is_on("skip_scan=on"),
            index_merge_intersection: is_on("index_merge_intersection=on"),
        }
    }
}

/// The flags in the order of their bits. A new flag comes last.
fn flags(switches: &mut OptimizerSwitches) -> [&mut bool; 14] {
    [
        &mut switches.index_merge,
        &mut switches.index_merge_union,
        &mut switches.index_merge_sort_union,
        &mut switches.block_nested_loop,
        &mut switches.semijoin,
        &mut switches.use_index_extensions,
        &mut switches.derived_merge,
        &mut switches.use_invisible_indexes,
        &mut switches.prefer_ordering_index,
        &mut switches.derived_condition_pushdown,
        &mut switches.subquery_to_derived,
        &mut switches.materialization,
        &mut switches.skip_scan,
        &mut switches.index_merge_intersection,
    ]
}

impl OptimizerSwitches {
    /// A bit for each flag that is on.
    pub fn bits(mut self) -> u32 {
        let numbered = flags(&mut self).into_iter().enumerate();
        numbered.fold(0, |bits, (number, flag)| bits | u32::from(*flag) << number)
    }

    /// The switches of [`bits`](Self::bits); `None` if there is a bit that no flag has.
    pub fn from_bits(bits: u32) -> Option<OptimizerSwitches> {
        let mut switches = OptimizerSwitches::default();
        let all = flags(&mut switches);
        let count = all.len();
        all.into_iter().enumerate().for_each(|(number, flag)| *flag = bits >> number & 1 == 1);
        (bits >> count == 0).then_some(switches)
    }
}

impl Default for OptimizerSwitches {
    /// Those of the declared default.
    fn default() -> Self {
        DECLARED_SWITCHES.1
    }
}

/// The declared value of `optimizer_switch`, and what it says.
static DECLARED_SWITCHES: LazyLock<(String, OptimizerSwitches)> = LazyLock::new(|| {
    let settings = SessionSettings::default();
    let value = settings.text(sysvar::OPTIMIZER_SWITCH).unwrap_or_default();
    (value.to_owned(), OptimizerSwitches::read(value))
});

/// `explain_format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the value")]
pub enum ExplainVariable {
    Traditional,
    Tree,
    Json,
}

impl Default for SessionVariables {
    /// The declared defaults, with UTC for the machine's time zone.
    fn default() -> Self {
        SessionVariables::of(&SessionSettings::default(), &Zone::UTC)
    }
}

/// The zone of a `time_zone` value, `None` if there is no such zone; SYSTEM is the machine's.
pub fn zone(text: &str, system: &Zone) -> Option<Zone> {
    if text.eq_ignore_ascii_case("SYSTEM") { Some(system.clone()) } else { Zone::parse(text) }
}

fn seconds(settings: &SessionSettings, id: VariableId) -> Duration {
    Duration::from_secs(settings.uint(id))
}

fn default_collation(name: Option<&str>) -> Option<CollationId> {
    Charset::by_name(name?).map(|charset| Collation::default_of(charset).id)
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

#[cfg(test)]
mod tests {
    use palisade_base::sysvar::Setting;

    use super::*;

    #[test]
    fn defaults_are_the_declared_ones() {
        let variables = SessionVariables::default();
        assert!(variables.autocommit && variables.foreign_key_checks && variables.sql_mode.is_strict());
        assert_eq!(variables.isolation, IsolationLevel::RepeatableRead);
        assert_eq!(variables.collation_connection, CollationId::UTF8MB4_0900_AI_CI);
        assert_eq!(variables.character_set_results, Some(CollationId::UTF8MB4_0900_AI_CI));
        assert_eq!((variables.max_join_size, variables.sql_select_limit), (None, u64::MAX));
        assert_eq!(variables.lock_wait_timeout, Duration::from_secs(50));
        assert_eq!((variables.timestamp_micros, variables.completion), (None, CompletionType::NoChain));
    }

    #[test]
    fn a_setting_is_read_in_the_form_of_its_field() {
        let mut settings = SessionSettings::default();
        settings.set(sysvar::TIME_ZONE, Setting::Text("+02:00".into()));
        settings.set(sysvar::SQL_BIG_SELECTS, Setting::Bool(false));
        settings.set(sysvar::MAX_JOIN_SIZE, Setting::UInt(7));
        settings.set(sysvar::MAX_EXECUTION_TIME, Setting::UInt(1500));
        let variables = SessionVariables::of(&settings, &Zone::UTC);
        assert_eq!(Some(variables.time_zone), Zone::parse("+02:00"));
        assert_eq!(variables.max_join_size, Some(7));
        assert_eq!(variables.max_execution_time, Duration::from_millis(1500));
    }
}
