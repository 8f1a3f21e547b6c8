//! SELECT, VALUES, TABLE, and their combinations.

use std::time::Duration;

use super::{ColumnName, DataType, Expr, IntervalUnit, JsonOn, LoadFormat, Name, ObjectName};

/// A whole query expression: WITH, a body, and what applies to the body's result.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// WITH.
    pub with: Option<With>,
    /// One SELECT, or several combined.
    pub body: QueryBody,
    /// ORDER BY of the whole. For a lone SELECT it is that SELECT's own and may name what the SELECT's tables have.
    pub order_by: Vec<OrderItem>,
    /// LIMIT of the whole.
    pub limit: Option<Limit>,
    /// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
    pub locking: Vec<Locking>,
    /// INTO, wherever it stood.
    pub into: Option<Into>,
}

impl Query {
    /// The hint MAX_EXECUTION_TIME of its first SELECT, which counts for a whole statement. 0 is none.
    pub fn max_execution_time(&self) -> Option<Duration> {
        let mut body = &self.body;
        loop {
            body = match body {
                QueryBody::Select(select) => {
                    let limit = select.options.max_execution_time.filter(|limit| *limit > 0);
                    return limit.map(|limit| Duration::from_millis(limit.into()));
                }
                QueryBody::Nested(query) => &query.body,
                QueryBody::Combination { first, .. } => first,
                QueryBody::Values(_) | QueryBody::Table(_) => return None,
            };
        }
    }
}

/// What a query combines.
#[derive(Debug, Clone, PartialEq)]
pub enum QueryBody {
    /// SELECT.
    Select(Box<Select>),
    /// VALUES ROW(...), ...
    Values(Vec<Vec<Expr>>),
    /// TABLE t.
    Table(ObjectName),
    /// `(query)` as part of a combination, or alone when it has clauses of its own.
    Nested(Box<Query>),
    /// A left-to-right chain of operations of equal precedence: INTERSECT binds tighter than UNION and EXCEPT.
    Combination {
        /// The first operand.
        first: Box<QueryBody>,
        /// The rest, applied one after another; at least one.
        rest: Vec<CombinationTerm>,
    },
}

/// One step of a combination.
#[derive(Debug, Clone, PartialEq)]
pub struct CombinationTerm {
    /// How it combines with what is to its left.
    pub operator: SetOperator,
    /// ALL; DISTINCT is the default.
    pub all: bool,
    /// The right operand.
    pub body: QueryBody,
}

/// How results are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum SetOperator {
    Union,
    Except,
    Intersect,
}

/// WITH.
#[derive(Debug, Clone, PartialEq)]
pub struct With {
    /// RECURSIVE.
    pub recursive: bool,
    /// The common table expressions.
    pub tables: Vec<CommonTable>,
}

/// One common table expression.
#[derive(Debug, Clone, PartialEq)]
pub struct CommonTable {
    /// Its name.
    pub name: Name,
    /// Names for its columns; empty if not given.
    pub columns: Vec<Name>,
    /// What it stands for.
    pub query: Box<Query>,
}

/// One SELECT ... HAVING, WINDOW.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Select {
    /// Its number among the query blocks of the statement, from 1 in the order of the text: what hints call
    /// `select#1`. 0 for one that no text has.
    pub number: u32,
    /// DISTINCT, DISTINCTROW.
    pub distinct: bool,
    /// HIGH_PRIORITY, STRAIGHT_JOIN, SQL_*.
    pub options: SelectOptions,
    /// What is selected; at least one.
    pub items: Vec<SelectItem>,
    /// FROM; empty without one and for FROM DUAL. Several are a cross join of low precedence.
    pub from: Vec<TableReference>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY.
    pub group_by: Vec<OrderItem>,
    /// WITH ROLLUP.
    pub rollup: bool,
    /// HAVING.
    pub having: Option<Expr>,
    /// WINDOW.
    pub windows: Vec<(Name, WindowSpec)>,
}

/// Modifiers of SELECT.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named after the keyword")]
pub struct SelectOptions {
    pub high_priority: bool,
    pub straight_join: bool,
    pub small_result: bool,
    pub big_result: bool,
    pub buffer_result: bool,
    pub no_cache: bool,
    pub calc_found_rows: bool,
    /// The optimizer hint `MAX_EXECUTION_TIME(n)`, milliseconds.
    pub max_execution_time: Option<u32>,
}

/// One item of a select list.
#[derive(Debug, Clone, PartialEq)]
pub enum SelectItem {
    /// `*`.
    Wildcard,
    /// `t.*`, `s.t.*`.
    TableWildcard(ObjectName),
    /// An expression.
    Expr {
        /// The expression.
        expr: Expr,
        /// AS.
        alias: Option<Name>,
        /// The expression's own text: the column's name when there is no alias and it is not a column.
        text: String,
    },
}

/// A table, or a join of tables.
#[derive(Debug, Clone, PartialEq)]
pub enum TableReference {
    /// A table or view by name.
    Table(TableFactor),
    /// `[LATERAL] (query) AS alias [(columns)]`.
    Derived(DerivedTable),
    /// `JSON_TABLE(...) AS alias`.
    JsonTable(Box<JsonTable>),
    /// `(a, b, ...)`, two or more: a cross join in parentheses.
    List(Vec<TableReference>),
    /// Two references joined.
    Join(Box<Join>),
}

/// A table by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TableFactor {
    /// Which.
    pub name: ObjectName,
    /// AS.
    pub alias: Option<Name>,
    /// PARTITION (p0, p1); empty for all.
    pub partitions: Vec<Name>,
    /// USE INDEX and so on.
    pub index_hints: Vec<IndexHint>,
}

/// `[LATERAL] (query) AS alias [(columns)]`.
#[derive(Debug, Clone, PartialEq)]
pub struct DerivedTable {
    /// May refer to tables to its left.
    pub lateral: bool,
    /// The query.
    pub query: Box<Query>,
    /// Its name: MySQL insists on one (error 1248), as a check of its own.
    pub alias: Option<Name>,
    /// Names for its columns.
    pub columns: Vec<Name>,
}

/// A join.
#[derive(Debug, Clone, PartialEq)]
pub struct Join {
    /// Left operand.
    pub left: TableReference,
    /// Right operand.
    pub right: TableReference,
    /// Which join.
    pub kind: JoinKind,
    /// NATURAL, ON or USING.
    pub condition: JoinCondition,
}

/// Kinds of join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum JoinKind {
    /// JOIN, INNER JOIN and CROSS JOIN are the same thing.
    Inner,
    Left,
    Right,
    /// Inner, the left table read first.
    Straight,
}

/// How a join matches.
#[derive(Debug, Clone, PartialEq)]
pub enum JoinCondition {
    /// Every row with every row.
    None,
    /// ON.
    On(Expr),
    /// USING.
    Using(Vec<Name>),
    /// NATURAL.
    Natural,
}

/// USE, FORCE or IGNORE INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexHint {
    /// Which.
    pub kind: IndexHintKind,
    /// FOR what; everything if absent.
    pub scope: Option<IndexHintScope>,
    /// Names of indexes, `PRIMARY` included; may be empty for USE.
    pub indexes: Vec<Name>,
}

/// Kinds of index hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

/// What an index hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum IndexHintScope {
    Join,
    OrderBy,
    GroupBy,
}

/// `JSON_TABLE(document, path COLUMNS (...)) AS alias`.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct JsonTable {
    pub document: Expr,
    pub path: Vec<u8>,
    pub columns: Vec<JsonTableColumn>,
    /// Its name: MySQL insists on one (error 3667), as a check of its own.
    pub alias: Option<Name>,
}

/// A column of JSON_TABLE.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub enum JsonTableColumn {
    /// `name FOR ORDINALITY`.
    Ordinality(Name),
    /// `name type PATH path ...`.
    Path {
        name: Name,
        data_type: Box<DataType>,
        path: Vec<u8>,
        on_empty: Option<JsonOn>,
        on_error: Option<JsonOn>,
    },
    /// `name type EXISTS PATH path`.
    Exists { name: Name, data_type: Box<DataType>, path: Vec<u8> },
    /// `NESTED [PATH] path COLUMNS (...)`.
    Nested { path: Vec<u8>, columns: Vec<JsonTableColumn> },
}

/// An item of ORDER BY or GROUP BY. A plain integer literal is a position in the select list.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderItem {
    /// What is ordered by.
    pub expr: Expr,
    /// DESC.
    pub descending: bool,
}

/// LIMIT. The values are literals, placeholders or (in stored programs) columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// How many rows.
    pub count: Expr,
    /// After how many.
    pub offset: Option<Expr>,
}

/// FOR UPDATE and FOR SHARE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locking {
    /// UPDATE instead of SHARE.
    pub exclusive: bool,
    /// OF; empty for all tables.
    pub tables: Vec<ObjectName>,
    /// What to do about rows locked by others.
    pub wait: LockWait,
}

/// What a locking read does about a row locked by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// INTO.
#[derive(Debug, Clone, PartialEq)]
pub enum Into {
    /// `INTO @a, b`.
    Variables(Vec<IntoVariable>),
    /// `INTO OUTFILE`.
    Outfile {
        /// Its name.
        path: Vec<u8>,
        /// How rows are written.
        format: LoadFormat,
    },
    /// `INTO DUMPFILE`.
    Dumpfile(Vec<u8>),
}

/// A target of SELECT INTO.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IntoVariable {
    /// `@name`.
    User(Name),
    /// A variable of a stored program.
    Local(Name),
}

/// `[base] [PARTITION BY] [ORDER BY] [frame]`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WindowSpec {
    /// The named window it builds on.
    pub base: Option<Name>,
    /// PARTITION BY.
    pub partition_by: Vec<Expr>,
    /// ORDER BY.
    pub order_by: Vec<OrderItem>,
    /// ROWS, RANGE, GROUPS.
    pub frame: Option<WindowFrame>,
}

/// The frame of a window.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the syntax")]
pub struct WindowFrame {
    pub unit: FrameUnit,
    pub start: FrameBound,
    /// CURRENT ROW if absent.
    pub end: Option<FrameBound>,
    pub exclude: Option<FrameExclusion>,
}

/// In what a frame is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum FrameUnit {
    Rows,
    Range,
    Groups,
}

/// An end of a frame.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum FrameBound {
    UnboundedPreceding,
    Preceding(Expr, Option<IntervalUnit>),
    CurrentRow,
    Following(Expr, Option<IntervalUnit>),
    UnboundedFollowing,
}

/// EXCLUDE (which MySQL parses and then refuses).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named after the keyword")]
pub enum FrameExclusion {
    CurrentRow,
    Group,
    Ties,
    NoOthers,
}

impl Query {
    /// A query of this body alone.
    pub fn of(body: QueryBody) -> Query {
        Query { with: None, body, order_by: Vec::new(), limit: None, locking: Vec::new(), into: None }
    }
}

impl SelectItem {
    /// An item without alias.
    pub fn column(name: ColumnName) -> SelectItem {
        let text = name.column.clone();
        SelectItem::Expr { expr: Expr::Column(name), alias: None, text }
    }
}
