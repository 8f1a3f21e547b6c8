//! Transactions, SET, SHOW, EXPLAIN, prepared statements, administration.

use super::{
    Account, Expr, IntoVariable, Limit, Name, ObjectName, OptionValue, PartitionSelection, Statement,
    SystemVariable,
};
use crate::Hint;

/// START TRANSACTION and BEGIN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StartTransaction {
    /// WITH CONSISTENT SNAPSHOT.
    pub consistent_snapshot: bool,
    /// READ ONLY (true) or READ WRITE (false).
    pub read_only: Option<bool>,
}

/// [AND [NO] CHAIN] [[NO] RELEASE] of COMMIT and ROLLBACK; `None` leaves it to completion_type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named after the keyword")]
pub struct Completion {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

/// SET [scope] TRANSACTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetTransaction {
    /// Without a scope it is about the next transaction only.
    pub scope: TransactionScope,
    /// ISOLATION LEVEL.
    pub isolation: Option<IsolationLevel>,
    /// READ ONLY (true) or READ WRITE (false).
    pub read_only: Option<bool>,
}

/// What SET TRANSACTION is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TransactionScope {
    Next,
    Session,
    Global,
}

/// Isolation levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IsolationLevel {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// An XA transaction's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Xid {
    /// Global transaction id.
    pub gtrid: Vec<u8>,
    /// Branch qualifier; empty if absent.
    pub bqual: Vec<u8>,
    /// Format id; 1 if absent.
    pub format: u64,
}

/// XA.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum Xa {
    Start { xid: Xid, join: bool, resume: bool },
    End { xid: Xid, suspend: bool, for_migrate: bool },
    Prepare(Xid),
    Commit { xid: Xid, one_phase: bool },
    Rollback(Xid),
    Recover { convert_xid: bool },
}

/// One table of LOCK TABLES.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct TableLock {
    pub table: ObjectName,
    pub alias: Option<Name>,
    /// WRITE instead of READ.
    pub write: bool,
    /// READ LOCAL.
    pub local: bool,
}

/// One assignment of SET.
#[derive(Debug, Clone, PartialEq)]
pub enum Assignment {
    /// `@name = value`.
    User(Name, Expr),
    /// `[scope] name = value`; also `NEW.column = value` (component `NEW`) in triggers. `None` is DEFAULT. A bare word
    /// or keyword (ON, utf8mb4, binary) is a string literal.
    System(SystemVariable, Option<Expr>),
    /// NAMES charset [COLLATE collation]; `None` is DEFAULT.
    Names(Option<(Name, Option<Name>)>),
    /// CHARACTER SET; `None` is DEFAULT.
    CharacterSet(Option<Name>),
}

/// SHOW.
#[derive(Debug, Clone, PartialEq)]
pub struct Show {
    /// What.
    pub what: ShowWhat,
    /// LIKE or WHERE.
    pub filter: Option<ShowFilter>,
}

/// LIKE or WHERE.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum ShowFilter {
    Like(Vec<u8>),
    Where(Box<Expr>),
}

/// What SHOW shows.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum ShowWhat {
    Databases,
    Tables {
        extended: bool,
        full: bool,
        database: Option<Name>,
    },
    TableStatus {
        database: Option<Name>,
    },
    OpenTables {
        database: Option<Name>,
    },
    Columns {
        extended: bool,
        full: bool,
        table: ObjectName,
    },
    Index {
        extended: bool,
        table: ObjectName,
    },
    Triggers {
        full: bool,
        database: Option<Name>,
    },
    Events {
        database: Option<Name>,
    },
    CreateTable(ObjectName),
    CreateView(ObjectName),
    CreateDatabase {
        if_not_exists: bool,
        name: Name,
    },
    CreateProcedure(ObjectName),
    CreateFunction(ObjectName),
    CreateTrigger(ObjectName),
    CreateEvent(ObjectName),
    CreateUser(Account),
    Variables {
        global: bool,
    },
    Status {
        global: bool,
    },
    Warnings {
        limit: Option<Limit>,
    },
    Errors {
        limit: Option<Limit>,
    },
    CountWarnings,
    CountErrors,
    ProcessList {
        full: bool,
    },
    Engines,
    /// SHOW ENGINE name STATUS | MUTEX | LOGS; `None` is ALL.
    Engine {
        name: Option<Name>,
        what: EngineInfo,
    },
    Plugins,
    Privileges,
    /// FOR user [USING roles]; `None` is the session's own.
    Grants {
        user: Option<Account>,
        roles: Vec<Account>,
    },
    CharacterSet,
    Collation,
    ProcedureStatus,
    FunctionStatus,
    ProcedureCode(ObjectName),
    FunctionCode(ObjectName),
    BinaryLogs,
    BinaryLogStatus,
    BinlogEvents {
        relay: bool,
        log: Option<Vec<u8>>,
        position: Option<u64>,
        limit: Option<Limit>,
        channel: Option<Vec<u8>>,
    },
    Replicas,
    ReplicaStatus {
        channel: Option<Vec<u8>>,
    },
    Profiles,
    /// Types in upper case, FOR QUERY, LIMIT.
    Profile {
        types: Vec<Name>,
        query: Option<u64>,
        limit: Option<Limit>,
    },
    ParseTree(Box<Statement>),
}

/// SHOW ENGINE ... what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum EngineInfo {
    Status,
    Mutex,
    Logs,
}

/// DESCRIBE t [column | 'pattern'].
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Describe {
    pub table: ObjectName,
    /// A pattern; a column's name is one as well.
    pub pattern: Option<Vec<u8>>,
}

/// EXPLAIN of a statement or connection.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Explain {
    pub analyze: bool,
    pub format: Option<ExplainFormat>,
    /// INTO @name.
    pub into: Option<Name>,
    /// FOR SCHEMA name.
    pub schema: Option<Name>,
    /// Where the text of the statement begins; the end of EXPLAIN's for a connection.
    pub at: usize,
    pub target: ExplainTarget,
}

/// FORMAT.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum ExplainFormat {
    Traditional,
    Json,
    Tree,
    /// A name that no format has.
    Unknown(String),
}

/// What is explained.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum ExplainTarget {
    Statement(Box<Statement>),
    Connection(u64),
}

/// `{CREATE | DROP} [GLOBAL | SESSION] BINDING FOR statement [USING statement]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Binding {
    /// SESSION.
    pub is_of_session: bool,
    /// The text of the statement that is bound.
    pub text: Vec<u8>,
    /// The same statement with hints, which it is planned by; none for DROP.
    pub hinted: Option<HintedStatement>,
}

/// A statement with hints.
#[derive(Debug, Clone, PartialEq)]
pub struct HintedStatement {
    /// Its text.
    pub text: Vec<u8>,
    /// Its parse tree.
    pub statement: Box<Statement>,
    /// Its hints, in order.
    pub hints: Vec<Hint>,
}

/// PREPARE name FROM source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Prepare {
    pub name: Name,
    pub source: PrepareSource,
}

/// Where the text of a prepared statement is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum PrepareSource {
    Text(Vec<u8>),
    UserVariable(Name),
}

/// EXECUTE name [USING @a, @b].
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Execute {
    pub name: Name,
    pub variables: Vec<Name>,
}

/// GET DIAGNOSTICS.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct GetDiagnostics {
    /// STACKED instead of CURRENT.
    pub stacked: bool,
    /// CONDITION n; the statement's information without it.
    pub condition: Option<Expr>,
    /// Targets, and names of items in upper case.
    pub items: Vec<(IntoVariable, Name)>,
}

/// SIGNAL and RESIGNAL.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Signal {
    pub resignal: bool,
    pub condition: Option<SignalCondition>,
    /// SET; names of items in upper case.
    pub items: Vec<(Name, Expr)>,
}

/// What is signalled.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum SignalCondition {
    SqlState(Vec<u8>),
    Name(Name),
}

/// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct TableMaintenance {
    /// Which.
    pub kind: MaintenanceKind,
    /// NO_WRITE_TO_BINLOG, LOCAL.
    pub no_binlog: bool,
    /// On what.
    pub tables: Vec<ObjectName>,
    /// QUICK, EXTENDED, FOR UPGRADE, ...: in upper case, words separated by one space.
    pub options: Vec<Name>,
    /// ANALYZE TABLE ... UPDATE | DROP HISTOGRAM.
    pub histogram: Option<Histogram>,
}

/// Maintenance of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum MaintenanceKind {
    Analyze,
    Check,
    Checksum,
    Optimize,
    Repair,
}

/// ANALYZE TABLE ... HISTOGRAM.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum Histogram {
    Update { columns: Vec<Name>, buckets: Option<u64>, data: Option<Vec<u8>>, auto_update: Option<bool> },
    Drop { columns: Vec<Name> },
}

/// KILL.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Kill {
    /// QUERY: the connection stays.
    pub query_only: bool,
    pub id: Expr,
}

/// FLUSH.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Flush {
    pub no_binlog: bool,
    pub what: Vec<FlushTarget>,
}

/// What is flushed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum FlushTarget {
    Tables {
        tables: Vec<ObjectName>,
        with_read_lock: bool,
        for_export: bool,
    },
    Privileges,
    Status,
    UserResources,
    OptimizerCosts,
    /// LOGS, or one kind: BINARY, ENGINE, ERROR, GENERAL, SLOW.
    Logs(Option<Name>),
    RelayLogs(Option<Vec<u8>>),
}

/// RESET.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum Reset {
    BinaryLogsAndGtids {
        to: Option<u64>,
    },
    Replica {
        all: bool,
        channel: Option<Vec<u8>>,
    },
    /// RESET PERSIST [[IF EXISTS] name].
    Persist {
        if_exists: bool,
        name: Option<Name>,
    },
}

/// INSTALL and UNINSTALL.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum Install {
    Plugin { name: Name, library: Vec<u8> },
    Component { urns: Vec<Vec<u8>>, set: Vec<Assignment> },
}

/// CACHE INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CacheIndex {
    pub tables: Vec<CachedTable>,
    /// `None` is DEFAULT.
    pub cache: Option<Name>,
}

/// A table of CACHE INDEX or LOAD INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CachedTable {
    pub table: ObjectName,
    pub partitions: Option<PartitionSelection>,
    pub indexes: Vec<Name>,
    pub ignore_leaves: bool,
}

/// LOAD INDEX INTO CACHE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct LoadIndex {
    pub tables: Vec<CachedTable>,
}

/// PURGE BINARY LOGS.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum PurgeLogs {
    To(Vec<u8>),
    Before(Expr),
}

/// Replication.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum Replication {
    /// CHANGE REPLICATION SOURCE TO: names in upper case.
    ChangeSource {
        options: Vec<(Name, OptionValue)>,
        channel: Option<Vec<u8>>,
    },
    /// CHANGE REPLICATION FILTER: names in upper case and what stands between the parentheses.
    ChangeFilter {
        filters: Vec<(Name, Vec<u8>)>,
        channel: Option<Vec<u8>>,
    },
    /// START REPLICA: threads, UNTIL and credentials, names in upper case.
    Start {
        threads: Vec<Name>,
        until: Vec<(Name, OptionValue)>,
        credentials: Vec<(Name, Vec<u8>)>,
        channel: Option<Vec<u8>>,
    },
    Stop {
        threads: Vec<Name>,
        channel: Option<Vec<u8>>,
    },
    StartGroup {
        credentials: Vec<(Name, Vec<u8>)>,
    },
    StopGroup,
}

/// CLONE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum CloneStatement {
    Local {
        directory: Vec<u8>,
    },
    Instance {
        user: Account,
        port: u64,
        password: Vec<u8>,
        directory: Option<Vec<u8>>,
        require_ssl: Option<bool>,
    },
}

/// ALTER INSTANCE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum AlterInstance {
    RotateInnodbMasterKey,
    RotateBinlogMasterKey,
    ReloadTls {
        channel: Option<Name>,
        no_rollback_on_error: bool,
    },
    ReloadKeyring,
    /// ENABLE (true) or DISABLE (false) INNODB REDO_LOG.
    RedoLog(bool),
}

/// Resource groups.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum ResourceGroup {
    Create { name: Name, system: bool, vcpus: Vec<(u64, u64)>, priority: Option<i64>, enabled: Option<bool> },
    Alter { name: Name, vcpus: Vec<(u64, u64)>, priority: Option<i64>, enabled: Option<bool>, force: bool },
    Drop { name: Name, force: bool },
    Set { name: Name, threads: Vec<u64> },
}
