//! Tables, indexes, databases, views, stored objects.

use super::{Account, Expr, Name, ObjectName, OrderItem, PartitionDefinition, Partitioning, Query};
use super::{IntervalUnit, PartitionSelection};

/// The type of a column, parameter or JSON_TABLE column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// Which type.
    pub kind: TypeKind,
    /// UNSIGNED.
    pub unsigned: bool,
    /// ZEROFILL (which implies unsigned; `unsigned` is then set as well).
    pub zerofill: bool,
    /// CHARACTER SET, ASCII, UNICODE, BYTE.
    pub charset: Option<Name>,
    /// COLLATE.
    pub collation: Option<Name>,
    /// BINARY attribute: the binary collation of the character set.
    pub binary: bool,
}

/// Types as written; lengths as written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TypeKind {
    /// With a display width.
    TinyInt(Option<u64>),
    SmallInt(Option<u64>),
    MediumInt(Option<u64>),
    Int(Option<u64>),
    BigInt(Option<u64>),
    /// BOOL, BOOLEAN: TINYINT(1).
    Bool,
    /// SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    /// Precision and scale as far as given; NUMERIC, DEC, FIXED too.
    Decimal(Option<u64>, Option<u64>),
    /// FLOAT, FLOAT(p), FLOAT(m, d).
    Float(Option<u64>, Option<u64>),
    Double(Option<(u64, u64)>),
    /// REAL: DOUBLE, or FLOAT under REAL_AS_FLOAT.
    Real(Option<(u64, u64)>),
    Bit(Option<u64>),
    /// CHAR[(n)]; NCHAR sets the charset utf8mb3.
    Char(Option<u64>),
    VarChar(u64),
    Binary(Option<u64>),
    VarBinary(u64),
    TinyBlob,
    /// BLOB[(n)].
    Blob(Option<u64>),
    MediumBlob,
    LongBlob,
    TinyText,
    /// TEXT[(n)].
    Text(Option<u64>),
    /// MEDIUMTEXT, LONG, LONG VARCHAR.
    MediumText,
    LongText,
    Date,
    /// Fractional digits.
    Time(Option<u64>),
    DateTime(Option<u64>),
    Timestamp(Option<u64>),
    Year(Option<u64>),
    Enum(Vec<Vec<u8>>),
    Set(Vec<Vec<u8>>),
    Json,
    /// GEOMETRY, POINT, LINESTRING, POLYGON, MULTI*, GEOMETRYCOLLECTION.
    Geometry(Name),
    /// VECTOR(n).
    Vector(Option<u64>),
}

impl DataType {
    /// A type without attributes.
    pub fn new(kind: TypeKind) -> DataType {
        DataType { kind, unsigned: false, zerofill: false, charset: None, collation: None, binary: false }
    }
}

/// So many columns of a CREATE TABLE are kept: one more than a table may have.
pub const MOST_COLUMNS: usize = 4097;

/// CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// TEMPORARY.
    pub temporary: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// LIKE other: nothing else is then set.
    pub like: Option<ObjectName>,
    /// Columns, in order, [`MOST_COLUMNS`] at most; none is error 1113 unless LIKE or a query gives some.
    pub columns: Vec<ColumnDefinition>,
    /// Indexes and FOREIGN KEYs and CHECKs written on their own.
    pub constraints: Vec<TableConstraint>,
    /// Options, in order.
    pub options: Vec<TableOption>,
    /// PARTITION BY.
    pub partitioning: Option<Box<Partitioning>>,
    /// What CREATE TABLE ... SELECT does about duplicates: REPLACE or IGNORE.
    pub duplicates: Option<super::LoadDuplicates>,
    /// CREATE TABLE ... [AS] SELECT.
    pub query: Option<Box<Query>>,
}

/// A column: its name, type and attributes in the order written.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDefinition {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub data_type: DataType,
    /// GENERATED ALWAYS AS (...).
    pub generated: Option<Generated>,
    /// The rest.
    pub attributes: Vec<ColumnAttribute>,
}

/// A generated column.
#[derive(Debug, Clone, PartialEq)]
pub struct Generated {
    /// From what.
    pub expr: Expr,
    /// STORED instead of VIRTUAL.
    pub stored: bool,
}

/// Attributes of a column.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum ColumnAttribute {
    Null,
    NotNull,
    /// DEFAULT literal, DEFAULT CURRENT_TIMESTAMP (a [`super::Function`] `now`), DEFAULT (expression).
    Default(ColumnDefault),
    /// ON UPDATE CURRENT_TIMESTAMP[(n)].
    OnUpdateNow(u8),
    AutoIncrement,
    /// SERIAL DEFAULT VALUE: NOT NULL AUTO_INCREMENT UNIQUE.
    SerialDefaultValue,
    PrimaryKey,
    Unique,
    Comment(Vec<u8>),
    Collate(Name),
    ColumnFormat(Name),
    Storage(Name),
    Srid(u64),
    Visible,
    Invisible,
    Check(CheckConstraint),
    EngineAttribute(Vec<u8>),
    SecondaryEngineAttribute(Vec<u8>),
}

/// DEFAULT.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnDefault {
    /// A literal, maybe signed.
    Literal(Expr),
    /// CURRENT_TIMESTAMP[(n)] and its synonyms: fractional digits.
    Now(u8),
    /// (expression).
    Expr(Expr),
}

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckConstraint {
    /// CONSTRAINT name.
    pub name: Option<Name>,
    /// What must not be false.
    pub expr: Expr,
    /// NOT ENFORCED clears it.
    pub enforced: bool,
}

/// An index or constraint of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum TableConstraint {
    /// INDEX, UNIQUE, PRIMARY KEY, FULLTEXT, SPATIAL.
    Index(IndexDefinition),
    /// FOREIGN KEY.
    ForeignKey(ForeignKey),
    /// CHECK.
    Check(CheckConstraint),
}

/// Kinds of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IndexKind {
    Primary,
    Unique,
    Plain,
    FullText,
    Spatial,
}

/// An index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexDefinition {
    /// Which kind.
    pub kind: IndexKind,
    /// Its name, or the constraint's; MySQL invents one if absent.
    pub name: Option<Name>,
    /// What it orders by; at least one.
    pub parts: Vec<IndexPart>,
    /// Options in order; USING is among them wherever it stood.
    pub options: Vec<IndexOption>,
}

/// A part of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexPart {
    /// A column or (expression).
    pub key: IndexKey,
    /// DESC.
    pub descending: bool,
}

/// What a part of an index is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum IndexKey {
    /// `column[(prefix length)]`.
    Column(Name, Option<u64>),
    /// `(expression)`.
    Expr(Expr),
}

/// Options of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IndexOption {
    /// USING BTREE, HASH or RTREE, as written.
    Using(Name),
    KeyBlockSize(u64),
    WithParser(Name),
    Comment(Vec<u8>),
    Visible,
    Invisible,
    EngineAttribute(Vec<u8>),
    SecondaryEngineAttribute(Vec<u8>),
}

/// FOREIGN KEY.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// CONSTRAINT name.
    pub name: Option<Name>,
    /// The name between KEY and the columns.
    pub index_name: Option<Name>,
    /// The columns here.
    pub columns: Vec<Name>,
    /// What they refer to.
    pub references: References,
}

/// REFERENCES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    /// The other table.
    pub table: ObjectName,
    /// Its columns; none for its primary key.
    pub columns: Vec<Name>,
    /// MATCH FULL, PARTIAL or SIMPLE, as written.
    pub matching: Option<Name>,
    /// ON DELETE.
    pub on_delete: Option<ReferenceAction>,
    /// ON UPDATE.
    pub on_update: Option<ReferenceAction>,
}

/// What a foreign key does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum ReferenceAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}

/// Options of a table.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TableOption {
    Engine(Name),
    AutoIncrement(u64),
    /// [DEFAULT] CHARACTER SET; `None` is DEFAULT.
    Charset(Option<Name>),
    /// [DEFAULT] COLLATE.
    Collate(Option<Name>),
    Comment(Vec<u8>),
    RowFormat(Name),
    KeyBlockSize(u64),
    Compression(Vec<u8>),
    Encryption(Vec<u8>),
    Tablespace(Name),
    /// DATA DIRECTORY.
    DataDirectory(Vec<u8>),
    /// INDEX DIRECTORY.
    IndexDirectory(Vec<u8>),
    /// UNION = (tables).
    Union(Vec<ObjectName>),
    /// All others: MAX_ROWS, STATS_PERSISTENT, CONNECTION, ...: name in upper case, value as text.
    Other(Name, OptionValue),
}

/// The value of an option.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after what it is")]
pub enum OptionValue {
    Default,
    Number(u64),
    Word(Name),
    Text(Vec<u8>),
}

/// ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// Which.
    pub table: ObjectName,
    /// What to do, in order.
    pub actions: Vec<AlterAction>,
    /// PARTITION BY at the end.
    pub partitioning: Option<Box<Partitioning>>,
}

/// One action of ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum AlterAction {
    AddColumn {
        column: ColumnDefinition,
        position: ColumnPosition,
    },
    /// ADD [INDEX | CONSTRAINT ...].
    AddConstraint(TableConstraint),
    DropColumn(Name),
    DropIndex(Name),
    DropPrimaryKey,
    DropForeignKey(Name),
    DropCheck(Name),
    /// DROP CONSTRAINT: whatever has that name.
    DropConstraint(Name),
    Modify {
        column: ColumnDefinition,
        position: ColumnPosition,
    },
    Change {
        old_name: Name,
        column: ColumnDefinition,
        position: ColumnPosition,
    },
    RenameColumn(Name, Name),
    RenameIndex(Name, Name),
    RenameTo(ObjectName),
    SetDefault(Name, ColumnDefault),
    DropDefault(Name),
    SetColumnVisible(Name, bool),
    SetIndexVisible(Name, bool),
    /// ALTER CHECK name [NOT] ENFORCED; ALTER CONSTRAINT, whose constraint may be another one.
    SetEnforced {
        name: Name,
        enforced: bool,
        is_check: bool,
    },
    /// CONVERT TO CHARACTER SET; `None` is DEFAULT.
    ConvertTo {
        charset: Option<Name>,
        collation: Option<Name>,
    },
    OrderBy(Vec<OrderItem>),
    /// ENABLE KEYS, DISABLE KEYS.
    EnableKeys(bool),
    Force,
    Option(TableOption),
    /// ALGORITHM = ...
    Algorithm(Name),
    /// LOCK = ...
    Lock(Name),
    /// WITH VALIDATION, WITHOUT VALIDATION.
    Validation(bool),
    DiscardTablespace,
    ImportTablespace,
    AddPartitions(Vec<PartitionDefinition>),
    /// ADD PARTITION PARTITIONS n.
    AddPartitionCount(u64),
    DropPartitions(Vec<Name>),
    TruncatePartitions(PartitionSelection),
    /// COALESCE PARTITION n.
    CoalescePartitions(u64),
    /// REORGANIZE PARTITION [names INTO (definitions)].
    ReorganizePartitions(Vec<Name>, Vec<PartitionDefinition>),
    ExchangePartition {
        partition: Name,
        table: ObjectName,
        validate: bool,
    },
    /// ANALYZE, CHECK, OPTIMIZE, REBUILD, REPAIR PARTITION: which, and its options in upper case.
    MaintainPartitions(PartitionMaintenance, PartitionSelection, Vec<Name>),
    DiscardPartitionTablespace(PartitionSelection),
    ImportPartitionTablespace(PartitionSelection),
    RemovePartitioning,
    SecondaryLoad,
    SecondaryUnload,
    /// MariaDB's IF [NOT] EXISTS: actions that belong together, of which the first says what it is about.
    If {
        /// IF EXISTS rather than IF NOT EXISTS.
        exists: bool,
        actions: Vec<AlterAction>,
    },
}

impl AlterTable {
    /// Its actions, whether a condition stands before them or not.
    pub fn all_actions(&self) -> impl Iterator<Item = &AlterAction> {
        self.actions.iter().flat_map(|action| match action {
            AlterAction::If { actions, .. } => actions.as_slice(),
            action => std::slice::from_ref(action),
        })
    }
}

impl AlterAction {
    /// Whether it is about partitions by their names or numbers: such an action is the only one of its
    /// statement.
    pub fn is_about_partitions(&self) -> bool {
        matches!(
            self,
            AlterAction::AddPartitions(_)
                | AlterAction::AddPartitionCount(_)
                | AlterAction::DropPartitions(_)
                | AlterAction::TruncatePartitions(_)
                | AlterAction::CoalescePartitions(_)
                | AlterAction::ReorganizePartitions(..)
                | AlterAction::ExchangePartition { .. }
                | AlterAction::MaintainPartitions(..)
                | AlterAction::DiscardPartitionTablespace(_)
                | AlterAction::ImportPartitionTablespace(_)
        )
    }
}

/// Maintenance of partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum PartitionMaintenance {
    Analyze,
    Check,
    Optimize,
    Rebuild,
    Repair,
}

/// Where a column goes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum ColumnPosition {
    /// Not said: at the end, or where it was.
    Unspecified,
    First,
    After(Name),
}

/// DROP TABLE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DropTable {
    pub temporary: bool,
    pub if_exists: bool,
    pub tables: Vec<ObjectName>,
}

/// CREATE INDEX.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateIndex {
    /// MariaDB's IF NOT EXISTS.
    pub if_not_exists: bool,
    pub table: ObjectName,
    pub index: IndexDefinition,
    pub algorithm: Option<Name>,
    pub lock: Option<Name>,
}

/// DROP INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DropIndex {
    /// MariaDB's IF EXISTS.
    pub if_exists: bool,
    pub table: ObjectName,
    pub name: Name,
    pub algorithm: Option<Name>,
    pub lock: Option<Name>,
}

/// CREATE DATABASE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateDatabase {
    pub if_not_exists: bool,
    pub name: Name,
    pub options: DatabaseOptions,
}

/// ALTER DATABASE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterDatabase {
    /// Which; `None` is the default one.
    pub name: Option<Name>,
    /// The changes.
    pub options: DatabaseOptions,
}

/// Options of a database.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DatabaseOptions {
    pub charset: Option<Name>,
    pub collation: Option<Name>,
    pub encryption: Option<Vec<u8>>,
    /// READ ONLY = 0 | 1 | DEFAULT (0).
    pub read_only: Option<bool>,
}

/// DROP DATABASE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DropDatabase {
    pub if_exists: bool,
    pub name: Name,
}

/// CREATE VIEW and ALTER VIEW.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// ALTER VIEW: it must exist.
    pub alter: bool,
    /// OR REPLACE.
    pub or_replace: bool,
    /// ALGORITHM.
    pub algorithm: Option<Name>,
    /// DEFINER.
    pub definer: Option<Account>,
    /// SQL SECURITY: INVOKER, or not, where it is said.
    pub sql_security_invoker: Option<bool>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Its name.
    pub name: ObjectName,
    /// Names for its columns.
    pub columns: Vec<Name>,
    /// What it stands for.
    pub query: Box<Query>,
    /// The query's text.
    pub query_text: Vec<u8>,
    /// WITH CHECK OPTION.
    pub check_option: Option<CheckOption>,
}

/// WITH [CASCADED | LOCAL] CHECK OPTION.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum CheckOption {
    Cascaded,
    Local,
}

/// DROP VIEW.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DropView {
    pub if_exists: bool,
    pub views: Vec<ObjectName>,
}

/// CREATE TRIGGER. The body is its text.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateTrigger {
    pub definer: Option<Account>,
    pub if_not_exists: bool,
    pub name: ObjectName,
    /// AFTER instead of BEFORE.
    pub after: bool,
    pub event: TriggerEvent,
    pub table: ObjectName,
    /// FOLLOWS (true) or PRECEDES (false) another trigger.
    pub order: Option<(bool, Name)>,
    pub body: Vec<u8>,
}

/// What fires a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TriggerEvent {
    Insert,
    Update,
    Delete,
}

/// CREATE PROCEDURE and CREATE FUNCTION. The body is its text.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateRoutine {
    pub definer: Option<Account>,
    pub if_not_exists: bool,
    pub name: ObjectName,
    pub parameters: Vec<Parameter>,
    /// RETURNS: a function rather than a procedure.
    pub returns: Option<DataType>,
    pub characteristics: Vec<Characteristic>,
    pub body: Vec<u8>,
}

/// A parameter of a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Parameter {
    pub mode: ParameterMode,
    pub name: Name,
    pub data_type: DataType,
}

/// Which way a parameter goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum ParameterMode {
    In,
    Out,
    InOut,
}

/// What is said about a routine.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum Characteristic {
    Comment(Vec<u8>),
    Language(Name),
    Deterministic(bool),
    ContainsSql,
    NoSql,
    ReadsSqlData,
    ModifiesSqlData,
    SqlSecurityDefiner,
    SqlSecurityInvoker,
}

/// ALTER PROCEDURE and ALTER FUNCTION.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct AlterRoutine {
    pub function: bool,
    pub name: ObjectName,
    pub characteristics: Vec<Characteristic>,
}

/// CREATE EVENT. The body is its text.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateEvent {
    pub definer: Option<Account>,
    pub if_not_exists: bool,
    pub name: ObjectName,
    pub schedule: Schedule,
    pub on_completion_preserve: Option<bool>,
    pub status: Option<EventStatus>,
    pub comment: Option<Vec<u8>>,
    pub body: Vec<u8>,
}

/// ALTER EVENT: what is absent stays.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct AlterEvent {
    pub definer: Option<Account>,
    pub name: ObjectName,
    pub schedule: Option<Schedule>,
    pub on_completion_preserve: Option<bool>,
    pub rename_to: Option<ObjectName>,
    pub status: Option<EventStatus>,
    pub comment: Option<Vec<u8>>,
    pub body: Option<Vec<u8>>,
}

/// When an event runs.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum Schedule {
    At(Expr),
    Every { amount: Expr, unit: IntervalUnit, starts: Option<Expr>, ends: Option<Expr> },
}

/// Whether an event runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum EventStatus {
    Enable,
    Disable,
    /// DISABLE ON REPLICA.
    DisableOnReplica,
}

/// DROP of a stored object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct DropStored {
    pub kind: StoredKind,
    pub if_exists: bool,
    pub name: ObjectName,
}

/// Kinds of stored object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum StoredKind {
    Procedure,
    Function,
    Trigger,
    Event,
}

/// CREATE, ALTER, DROP [UNDO] TABLESPACE and LOGFILE GROUP.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct Tablespace {
    pub action: TablespaceAction,
    pub undo: bool,
    pub logfile_group: bool,
    pub name: Name,
    /// ADD (true) or DROP (false) DATAFILE or UNDOFILE.
    pub file: Option<(bool, Vec<u8>)>,
    pub rename_to: Option<Name>,
    /// SET ACTIVE, SET INACTIVE.
    pub active: Option<bool>,
    /// Names in upper case: FILE_BLOCK_SIZE, ENCRYPTION, ENGINE, ...
    pub options: Vec<(Name, OptionValue)>,
}

/// What is done to a tablespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum TablespaceAction {
    Create,
    Alter,
    Drop,
}

/// CREATE [AGGREGATE] FUNCTION ... SONAME.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct CreateLoadableFunction {
    pub aggregate: bool,
    pub if_not_exists: bool,
    pub name: Name,
    /// STRING, INTEGER, REAL or DECIMAL.
    pub returns: Name,
    pub library: Vec<u8>,
}

/// CREATE, ALTER and DROP SERVER.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum ServerStatement {
    Create { name: Name, wrapper: Name, options: Vec<(Name, OptionValue)> },
    Alter { name: Name, options: Vec<(Name, OptionValue)> },
    Drop { name: Name, if_exists: bool },
}
