//! Binding: from the parse tree to expressions and [logical plans](crate::logical) in which every name
//! is resolved and every type known. It chooses no order of joins and no access path.
//!
//! Syntax that is a function in disguise is bound as a call of the function of that name, so that the library
//! has one form for all of them. An interval's unit is passed as a string literal in lower case (`day`,
//! `minute_second`):
//!
//! | syntax | call |
//! |---|---|
//! | `d + INTERVAL n unit`, `DATE_ADD`, `ADDDATE` | `date_add(d, n, 'unit')`; with minus `date_sub` |
//! | `EXTRACT(unit FROM d)` | `extract('unit', d)` |
//! | `TIMESTAMPADD(unit, n, d)`, `TIMESTAMPDIFF(unit, a, b)` | `timestampadd('unit', n, d)`, `timestampdiff('unit', a, b)` |
//! | `GET_FORMAT(DATE, x)` | `get_format('date', x)` |
//! | `TRIM(BOTH r FROM s)` | `trim('both', r, s)`; `r` is a space if absent; `'leading'`, `'trailing'` |
//! | `CHAR(n, ... USING charset)` | `char('charset', n, ...)`; without USING the first argument is `'binary'` |
//! | `x REGEXP y` | `regexp_like(x, y)` |
//! | `a \|\| b` under PIPES_AS_CONCAT | `concat(a, b)` |
//! | `INTERVAL(n, a, ...)` | `interval(n, a, ...)` |
//! | `x SOUNDS LIKE y` | `soundex(x) = soundex(y)` |
//! | `x -> path` | `json_extract(x, path)`, `->>` inside `json_unquote` |
//! | `WEIGHT_STRING(x AS CHAR(n))` | `weight_string(x, n)` |

pub mod aggregate;
mod arrange;
mod beforehand;
mod call;
mod combination;
pub mod compare;
pub mod dependence;
pub mod expr;
mod extremes;
pub mod from;
mod grouping;
pub mod hints;
mod is_null;
pub mod json;
mod json_table;
mod lent;
pub mod literal;
pub mod locking;
mod names;
pub mod partition;
mod predicate;
pub mod row_rules;
pub mod scope;
pub mod select;
pub mod types;
pub mod views;
pub mod window;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use palisade_base::error_catalogue::*;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::{SqlType, Value};
use palisade_engine::{Dictionary, Engine, Table};
use palisade_expr::beforehand::Beforehand;
use palisade_expr::error::not_supported;
use palisade_expr::session_state::SessionState;
use palisade_expr::{SqlError, SqlResult};
use palisade_parser::{ParseError, WrongName, ast};
use palisade_session::environment::Environment;
use palisade_session::locked_tables::{BELOW_VIEW, SessionLocks};
use palisade_session::view::SessionView;
use palisade_session::virtual_tables::DictionaryTables;

use self::dependence::Derived;
use crate::conditions::OuterSlots;
use crate::decisions::Decisions;
use crate::logical::LogicalQuery;
use crate::lower::Planner;
use crate::outline::Outline;
use crate::pace::Pace;
use crate::purpose::Purpose;
use crate::reads::TableReads;
use crate::rewritten::{Told, Writer};
use crate::rules::Statement;
use crate::{Plan, Query, note};

pub use scope::{Clause, Scope, Source, SourceColumn};

/// A common table expression in sight.
#[derive(Debug, Clone)]
pub struct CommonTable {
    /// Its name.
    pub name: String,
    /// Names of its columns; empty if not given.
    pub columns: Vec<String>,
    /// What it stands for.
    pub query: Box<ast::Query>,
    /// WITH RECURSIVE: it may read itself.
    pub recursive: bool,
}

impl CommonTable {
    /// Those of a WITH.
    pub fn all(with: &ast::With) -> impl Iterator<Item = CommonTable> {
        with.tables.iter().map(|table| CommonTable {
            name: table.name.clone(),
            columns: table.columns.clone(),
            query: table.query.clone(),
            recursive: with.recursive,
        })
    }
}

/// A name as SQL quotes it.
pub fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// The parser's error as the client reads it.
pub fn parse_error(error: ParseError) -> SqlError {
    match error {
        ParseError::Empty => mysql_error!(ER_EMPTY_QUERY),
        ParseError::Name(WrongName::Database(name)) => mysql_error!(ER_WRONG_DB_NAME, name),
        ParseError::Name(WrongName::Table(name)) => mysql_error!(ER_WRONG_TABLE_NAME, name),
        ParseError::Name(WrongName::Routine(name)) => mysql_error!(ER_SP_WRONG_NAME, name),
        ParseError::Name(WrongName::UserVariable(name)) => mysql_error!(ER_ILLEGAL_USER_VAR, name),
        ParseError::Name(WrongName::TooLong(name)) => mysql_error!(ER_TOO_LONG_IDENT, name),
        other => MysqlError::with_message(&ER_PARSE_ERROR, format!("{other}")),
    }
}

/// About how many bytes of a plan an expression or a column makes.
const WEIGHT_OF_BOUND: usize = 200;

/// What binding takes of a session.
#[derive(Clone, Copy)]
pub struct BindingSession<'a> {
    /// Its variables, its default database, and what virtual tables may tell of it.
    pub view: SessionView<'a>,
    /// What it has locked across transactions, if anything.
    pub locks: Option<&'a SessionLocks>,
    /// Set where planning [gives way](Pace::checkpoint).
    pub gives_way: &'a AtomicBool,
    /// What hints say of the statement's query blocks, if there are any.
    pub hints: Option<&'a hints::StatementHints>,
}

/// Binds one statement.
pub struct Binder<'a> {
    /// The session, for its variables and default database.
    pub session: &'a SessionState,
    /// What virtual tables may tell of it.
    pub view: SessionView<'a>,
    /// What it has locked across transactions, if anything.
    pub locks: Option<&'a SessionLocks>,
    /// The server.
    pub host: &'a dyn Environment,
    /// The virtual tables that tell of the dictionary.
    pub dictionary_tables: &'a dyn DictionaryTables,
    /// The engine.
    pub engine: &'a Arc<Engine>,
    /// Schemas and tables as of now.
    pub dictionary: &'a Dictionary,
    /// Values of the parameters: their kinds give the parameters their types.
    pub parameters: &'a [Value],
    /// Tables of the frame so far.
    pub slots: usize,
    /// Subqueries so far; `None` while one is being bound.
    pub subqueries: Vec<Option<LogicalQuery>>,
    /// Subqueries that are parts of more than one query: as items of a select list and where a subquery reads
    /// these by their aliases.
    pub shared_subqueries: Vec<usize>,
    /// Stored tables used so far.
    pub tables: Vec<Arc<Table>>,
    /// PARTITION (...) of tables, by slot.
    pub chosen: Vec<(usize, Arc<palisade_catalog::PartitionSet>)>,
    /// What the statement does to which tables.
    pub accesses: Vec<(palisade_session::environment::Access, ast::ObjectName)>,
    /// A query locks rows exclusively: FOR UPDATE.
    pub locks_rows: bool,
    /// Stored tables that subqueries read, derived tables aside: a statement that changes one is refused
    /// (1093).
    pub subquery_reads: Vec<Arc<Table>>,
    /// The tables of FROM are changed and their old values not looked at.
    pub blind: bool,
    /// The tables of the next block are to be left in [`kept_sources`](Self::kept_sources), all their columns
    /// within reach.
    pub keeps_sources: bool,
    /// The tables of a block that has been bound: what stands outside of it reads its rows.
    pub kept_sources: Vec<Source>,
    /// Query blocks being bound, the innermost last.
    pub scopes: Vec<Scope>,
    /// Common table expressions in sight.
    pub common_tables: Vec<CommonTable>,
    /// Views whose queries are being bound, the innermost last.
    pub views: Vec<views::ViewInSight>,
    /// What definers of views do to which tables, by the definer's account.
    pub definers: Vec<(Arc<str>, palisade_session::environment::Access, ast::ObjectName)>,
    /// The statement changes rows of the tables in its FROM, below views, too.
    pub changes_views: bool,
    /// What is bound is only described, for information_schema: no privileges are asked for.
    pub only_describes: bool,
    /// A view around says WITH CASCADED CHECK OPTION.
    pub cascades: bool,
    /// What the views that are being bound in place have checked.
    pub view_checks: Vec<palisade_expr::Expr>,
    /// Conditions of inner joins in views that have been bound in place within the one that is being bound.
    pub view_joins: Vec<palisade_expr::Expr>,
    /// Recursive ones whose steps are being bound, the innermost last.
    pub recursions: Vec<from::WorkingTable>,
    /// Working tables so far.
    pub working_tables: usize,
    /// Whether the plan may be kept.
    pub cacheable: bool,
    /// Whether an expression has an effect beside its value.
    pub has_effects: bool,
    /// User variables that an expression sets: what reads them changes from row to row.
    pub assigned: BTreeSet<Arc<str>>,
    /// Constants that are converted before the first row.
    pub beforehand: Vec<Beforehand>,
    /// How rows of the statement's own tables are read.
    pub read_mode: palisade_engine::ReadMode,
    /// The clauses that say otherwise.
    pub locking: locking::Locking,
    /// Depth of nested queries.
    pub depth: usize,
    /// Depth of derived tables.
    pub derived_depth: usize,
    /// What is known of the columns of the block that was bound last, if it is a part of a derived table.
    pub last_derived: Option<Arc<Derived>>,
    /// Warnings that binding has to give.
    pub warnings: Vec<SqlError>,
    /// Expressions and columns of tables bound so far: what a plan weighs grows with them.
    pub bound: usize,
    /// What it has cost so far, and whether it is to end.
    pub pace: Pace<'a>,
    /// What hints say of its query blocks, if there are any.
    pub hints: Option<hints::StatementHints>,
    /// Whether the plan is explained: its operators are [noted](crate::note).
    pub notes: bool,
    /// What its planner is held to.
    pub outline: Option<Arc<Outline>>,
    /// A table is filled that has just been made from the query: a temporary one hides none of the query's
    /// tables.
    pub fills_new_table: bool,
    /// What is decided is recorded here, if the session has asked for that.
    pub decisions: Option<Decisions>,
    /// Columns that blocks read of enclosing ones, as EXPLAIN tells of them.
    pub outer_references: Vec<SqlError>,
}

impl<'a> Binder<'a> {
    /// A binder for one statement.
    pub fn new(
        session: BindingSession<'a>,
        host: &'a dyn Environment,
        dictionary_tables: &'a dyn DictionaryTables,
        engine: &'a Arc<Engine>,
        dictionary: &'a Dictionary,
        parameters: &'a [Value],
    ) -> Self {
        let BindingSession { view, locks, gives_way, hints } = session;
        Binder {
            session: view.state,
            view,
            locks,
            host,
            dictionary_tables,
            engine,
            dictionary,
            parameters,
            slots: 0,
            subqueries: Vec::new(),
            shared_subqueries: Vec::new(),
            tables: Vec::new(),
            chosen: Vec::new(),
            accesses: Vec::new(),
            locks_rows: false,
            subquery_reads: Vec::new(),
            blind: false,
            keeps_sources: false,
            kept_sources: Vec::new(),
            scopes: Vec::new(),
            common_tables: Vec::new(),
            views: Vec::new(),
            changes_views: false,
            only_describes: false,
            cascades: false,
            view_checks: Vec::new(),
            view_joins: Vec::new(),
            definers: Vec::new(),
            recursions: Vec::new(),
            working_tables: 0,
            cacheable: true,
            has_effects: false,
            assigned: BTreeSet::new(),
            beforehand: Vec::new(),
            read_mode: palisade_engine::ReadMode::Snapshot,
            locking: locking::Locking::default(),
            depth: 0,
            derived_depth: 0,
            last_derived: None,
            warnings: Vec::new(),
            bound: 0,
            pace: Pace::new(view.state, host, gives_way),
            hints: hints.cloned(),
            notes: false,
            outline: None,
            decisions: None,
            fills_new_table: false,
            outer_references: Vec::new(),
        }
    }

    /// Gives a warning. A plan that was made with one is made anew each time, so that each execution gives
    /// it.
    pub fn warn(&mut self, warning: SqlError) {
        self.cacheable = false;
        self.warnings.push(warning);
    }

    /// See [`Pace::checkpoint`].
    #[inline]
    pub fn checkpoint(&self, units: usize) -> SqlResult<()> {
        self.pace.checkpoint(units)
    }

    /// A new slot of the frame.
    pub fn new_slot(&mut self) -> usize {
        self.slots += 1;
        self.slots - 1
    }

    /// The schema of a name: its own, or the session's default one (1046 if there is none).
    pub fn schema_of(&self, name: &ast::ObjectName) -> SqlResult<String> {
        match (&name.schema, &self.session.database) {
            (Some(schema), _) => Ok(schema.clone()),
            (None, Some(database)) => Ok(database.clone()),
            (None, None) => Err(mysql_error!(ER_NO_DB_ERROR)),
        }
    }

    /// The statement does `access` to a table: 1142 if the session may not. Comes before looking for the
    /// table, so that a refusal does not tell an account what there is.
    pub fn accesses(
        &mut self,
        schema: &str,
        table: &str,
        access: palisade_session::environment::Access,
    ) -> SqlResult<()> {
        if self.only_describes || self.seen_table(schema, table).is_ok_and(|table| table.is_temporary()) {
            // A session may do everything with its own temporary tables.
            return Ok(());
        }
        let name = ast::ObjectName { schema: Some(schema.to_owned()), name: table.to_owned() };
        if let Some(definer) = self.definer().cloned() {
            self.check_explains(schema, table, access)?;
            self.host.check_definer(self.session, &definer, schema, table, access)?;
            palisade_session::log_tables::check_access(self.session, schema, table, access)?;
            self.definers.push((definer, access, name));
            return Ok(());
        }
        if self.session.is_restricted() {
            self.host.check_table(self.session, schema, table, access)?;
        }
        palisade_session::log_tables::check_access(self.session, schema, table, access)?;
        self.accesses.push((access, name));
        Ok(())
    }

    /// A query's logical plan as text: as it was bound, and as rules have rewritten it.
    pub fn rewritten(self, mut query: LogicalQuery) -> SqlResult<[String; 2]> {
        let bound = format!("{query}");
        let switches = self.session.variables.optimizer;
        let mut statement = Statement {
            subqueries: self.subqueries,
            shared: self.shared_subqueries,
            slots: self.slots,
            pace: &self.pace,
            switches,
            dictionary: self.dictionary,
            parameters: self.parameters,
            outline: None,
            decisions: None,
            premises: Vec::new(),
        };
        statement.rewrite(Some(&mut query))?;
        Ok([bound, format!("{query}")])
    }

    /// The plan of a statement with this query, or with none.
    pub fn finish(self, query: Option<LogicalQuery>) -> SqlResult<Plan> {
        self.finish_with(query, |planner, query, _| query.map(|query| planner.statement(query)).transpose())
    }

    /// The plan of a statement whose operators are made by `lower`, which is given its query as it has been
    /// rewritten, and the subqueries in its expressions.
    pub fn finish_with(
        self,
        mut query: Option<LogicalQuery>,
        lower: impl FnOnce(
            &mut Planner<'_>,
            Option<LogicalQuery>,
            &[Option<LogicalQuery>],
        ) -> SqlResult<Option<Query>>,
    ) -> SqlResult<Plan> {
        let subqueries = self.subqueries.into_iter().collect::<Option<Vec<LogicalQuery>>>();
        let subqueries = subqueries.ok_or_else(|| SqlError::internal("a subquery was not bound"))?;
        let subqueries = subqueries.into_iter().map(Some).collect();
        let switches = self.session.variables.optimizer;
        let mut statement = Statement {
            subqueries,
            shared: self.shared_subqueries,
            slots: self.slots,
            pace: &self.pace,
            switches,
            dictionary: self.dictionary,
            parameters: self.parameters,
            outline: self.outline.clone(),
            decisions: self.decisions.as_ref(),
            premises: Vec::new(),
        };
        if let (Some(decisions), Some(query)) = (&self.decisions, &query) {
            decisions.prepared(Writer::new(&statement.subqueries).statement(query));
        }
        statement.rewrite(query.as_mut())?;
        let Statement { slots, subqueries, premises, .. } = statement;
        let mut planner = Planner::new(self.dictionary, self.parameters, self.pace, &subqueries);
        planner.notes = self.notes;
        planner.outline = self.outline;
        planner.decisions = self.decisions.as_ref();
        planner.assigned = self.assigned;
        planner.switches = switches;
        planner.premises = premises.into();
        planner.slots.set(slots);
        let told = self.notes.then(|| {
            let text = query.as_ref().map(|query| Writer::new(&subqueries).statement(query));
            let has_windows = query.iter().chain(subqueries.iter().flatten()).any(LogicalQuery::has_windows);
            let outer_references = self.outer_references;
            Box::new(Told { text: text.unwrap_or_default(), outer_references, has_windows })
        });
        let mut planned = planner.subqueries(&subqueries)?;
        let mut query = lower(&mut planner, query, &subqueries)?;
        let (premises, slots) = (planner.premises.take(), planner.slots.get());
        // What it keeps of derived tables shares them with the operators that read them.
        drop(planner);
        if self.notes {
            query.iter_mut().chain(planned.iter_mut().flatten()).for_each(note::add_to);
        }
        let subqueries: Vec<Option<Arc<Query>>> =
            planned.into_iter().map(|query| query.map(Arc::new)).collect();
        let decided = self.decisions.map(|decisions| Box::new(decisions.decided()));
        let point = match &query {
            Some(query) if subqueries.iter().all(Option::is_none) => crate::point::PointPlan::of(query),
            _ => None,
        };
        let mut reads = TableReads::default();
        query
            .iter()
            .chain(subqueries.iter().flatten().map(|subquery| &**subquery))
            .for_each(|query| reads.query(&query.root));
        Ok(Plan {
            point,
            query,
            slots,
            subqueries,
            reads: reads.counts().collect(),
            tables: self.tables,
            accesses: self.accesses,
            definers: self.definers,
            dictionary_version: self.dictionary.version(),
            cacheable: self.cacheable && decided.is_none(),
            locks_rows: self.locks_rows,
            has_effects: self.has_effects,
            beforehand: self.beforehand,
            max_execution_time: None,
            warnings: self.warnings,
            told,
            decided,
            purpose: Purpose::default(),
            premises,
            weight: size_of::<Plan>() + self.bound * WEIGHT_OF_BOUND,
        })
    }
}

/// Stored tables, as the session's locks allow.
impl Binder<'_> {
    /// A table of the dictionary: 1146 if there is none; while there are locked tables it is none of them
    /// (1100). 1137 for a temporary one that the statement names twice.
    pub fn stored_table(&self, schema: &str, name: &str, alias: &str) -> SqlResult<Arc<Table>> {
        match self.seen_table(schema, name) {
            // The table that is being made has not been there when its query was written.
            Ok(table) if table.is_temporary() && self.uses(table) && self.fills_new_table => {
                Ok(self.dictionary.stored_table(schema, name)?.clone())
            }
            Ok(table) if table.is_temporary() && self.uses(table) => {
                Err(mysql_error!(ER_CANT_REOPEN_TABLE, name))
            }
            Ok(table) => Ok(table.clone()),
            Err(_) if self.dictionary.view(schema, name).is_some() => {
                Err(not_supported("LOAD DATA into a view"))
            }
            Err(_) if self.locks.is_some_and(|locks| locks.has_tables()) => {
                Err(mysql_error!(ER_TABLE_NOT_LOCKED, alias))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// A table as the place that is being bound sees it: within a view there are no temporary ones.
    pub(crate) fn seen_table(&self, schema: &str, name: &str) -> Result<&Arc<Table>, palisade_engine::Error> {
        match self.views.is_empty() {
            true => self.dictionary.table(schema, name),
            false => self.dictionary.stored_table(schema, name),
        }
    }

    /// A view as the place that is being bound sees it.
    pub(crate) fn seen_view(&self, schema: &str, name: &str) -> Option<&Arc<palisade_catalog::ViewDef>> {
        match self.views.is_empty() {
            true => self.dictionary.visible_view(schema, name),
            false => self.dictionary.view(schema, name),
        }
    }

    fn uses(&self, table: &Arc<Table>) -> bool {
        self.tables.iter().any(|known| Arc::ptr_eq(known, table))
    }

    /// 1099, 1100 or 1223 if the session's locks forbid the use of `table` under `alias`.
    pub fn check_locks(&self, table: &Table, alias: &str, write: bool) -> SqlResult<()> {
        let alias = if self.views.is_empty() { alias } else { BELOW_VIEW };
        match self.locks {
            Some(locks) if !table.is_temporary() => locks.check(table, alias, write),
            _ => Ok(()),
        }
    }
}

impl OuterSlots for Binder<'_> {
    fn outer_slots(&self, subquery: usize) -> &[usize] {
        let query = self.subqueries.get(subquery).and_then(Option::as_ref);
        query.map_or(&[], |query| &query.outer_slots)
    }
}

/// The type of a parameter that has this value.
pub fn parameter_type(value: &Value, collation: palisade_catalog::CollationId) -> SqlType {
    match value {
        Value::Null => SqlType::Null,
        Value::Int(_) => SqlType::BIGINT,
        Value::UInt(_) => SqlType::BIGINT_UNSIGNED,
        Value::Decimal(decimal) => {
            let scale = decimal.scale();
            SqlType::Decimal { precision: (decimal.integer_digits() + scale).max(1), scale, unsigned: false }
        }
        Value::Float(_) => SqlType::Float { unsigned: false, digits: None },
        Value::Double(_) => SqlType::DOUBLE,
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time { fsp: 6 },
        Value::DateTime(_) | Value::Timestamp(_) => SqlType::DateTime { fsp: 6 },
        Value::Year(_) => SqlType::Year,
        Value::Bit { width, .. } => SqlType::Bit { width: *width },
        Value::Bytes(_) | Value::Enum(_) | Value::Set(_) => {
            SqlType::VarChar { length: 65_535 / 4, collation }
        }
    }
}
