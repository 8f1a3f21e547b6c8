//! One statement, its plans, and what a plan depends on.
//!
//! A plan is made for values of certain kinds (comparing a number is not comparing a string) and under
//! certain settings, and a statement keeps a few that differ in these: sessions that share the statement may
//! differ, too. A session finds the plan that is right for it at each execution by comparing, not by trusting
//! what was right when it prepared the statement: it may have changed its default database since.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use palisade_base::checksum::crc32c;
use palisade_catalog::{CollationId, Value};
use palisade_engine::Table;
use palisade_expr::mode::SqlMode;
use palisade_observe::digests::Memo;
use palisade_parser::ast::{Into, Statement};
use palisade_parser::{Deprecated, Hint, Only, ParseOptions};
use palisade_plan::Plan;
use smallvec::SmallVec;

use crate::Session;
use crate::dml::returning::Returning;
use crate::stability::Trial;
use palisade_expr::session_variables::OptimizerSwitches;

/// Plans kept of one statement.
const MAX_PLANS: usize = 4;
/// A bit in the last byte of a key: the text is to be prepared.
const PREPARED: u8 = 0x80;
/// About how many bytes of parse tree a byte of text makes.
const TREE_PER_BYTE: usize = 12;

/// A prepared statement: its parse tree, and its plans while the dictionary stays as it was. Shared by
/// sessions.
pub struct Prepared {
    /// How many `?` it has.
    pub parameters: usize,
    /// Its parse tree. Statements of several workers may have the same one.
    pub statement: Arc<Statement>,
    /// What of its text is deprecated.
    pub(crate) deprecated: Arc<[Deprecated]>,
    /// Its hints.
    pub(crate) hints: Arc<[Hint]>,
    /// Its text, and what tells it from others of the same text.
    key: Box<[u8]>,
    text_length: usize,
    /// What it weighed when it was weighed last.
    weight: AtomicUsize,
    plans: Mutex<SmallVec<[CachedPlan; 1]>>,
    /// Where its executions are counted.
    pub observed: Memo,
    /// See [`basis`](Self::basis).
    basis: AtomicU64,
}

/// A plan, and what it depends on.
struct CachedPlan {
    conditions: Conditions,
    plan: Arc<CachedStatement>,
}

/// What is planned.
pub(crate) enum CachedStatement {
    /// A query, where its rows go if not to the client, and what trial it is executed for.
    Query(Arc<Plan>, Option<Into>, Option<Box<Trial>>),
    Insert(crate::dml::insert::InsertPlan),
    Change(crate::dml::change::ChangePlan),
}

impl CachedStatement {
    /// What it finds rows with, and does to which tables.
    pub(crate) fn plan(&self) -> &Plan {
        match self {
            CachedStatement::Query(plan, ..) => plan,
            CachedStatement::Insert(insert) => insert.plan(),
            CachedStatement::Change(change) => change.plan(),
        }
    }

    /// RETURNING of a change of rows.
    pub(crate) fn returning(&self) -> Option<&Returning> {
        match self {
            CachedStatement::Query(..) => None,
            CachedStatement::Insert(insert) => insert.returning(),
            CachedStatement::Change(change) => change.returning(),
        }
    }
}

/// What a plan depends on besides its statement.
#[derive(Clone, PartialEq)]
pub(crate) struct Conditions {
    dictionary_version: u64,
    /// The generation of the session's temporary tables, if it uses one.
    temporary: u64,
    database: Option<String>,
    mode: SqlMode,
    collation: CollationId,
    client: CollationId,
    foreign_key_checks: bool,
    safe_updates: bool,
    auto_is_null: bool,
    div_precision_increment: u8,
    group_concat_max_len: u64,
    optimizer: OptimizerSwitches,
    kinds: SmallVec<[u8; 16]>,
}

impl Conditions {
    /// Those of an execution with this plan.
    pub(crate) fn of(plan: &Plan, session: &Session, parameters: &[Value]) -> Conditions {
        let variables = &session.state.variables;
        Conditions {
            dictionary_version: plan.dictionary_version,
            temporary: session.generation_for(plan),
            database: session.state.database.clone(),
            mode: variables.sql_mode,
            collation: variables.collation_connection,
            client: variables.character_set_client,
            foreign_key_checks: variables.foreign_key_checks,
            safe_updates: variables.sql_safe_updates,
            auto_is_null: variables.sql_auto_is_null,
            div_precision_increment: variables.div_precision_increment,
            group_concat_max_len: variables.group_concat_max_len,
            optimizer: variables.optimizer,
            kinds: parameters.iter().map(kind).collect(),
        }
    }

    fn match_those_of(&self, dictionary_version: u64, session: &Session, parameters: &[Value]) -> bool {
        let variables = &session.state.variables;
        self.dictionary_version == dictionary_version
            && self.kinds.len() == parameters.len()
            && self.kinds.iter().zip(parameters).all(|(known, value)| *known == kind(value))
            && self.mode == variables.sql_mode
            && self.collation == variables.collation_connection
            && self.client == variables.character_set_client
            && self.foreign_key_checks == variables.foreign_key_checks
            && self.safe_updates == variables.sql_safe_updates
            && self.auto_is_null == variables.sql_auto_is_null
            && self.div_precision_increment == variables.div_precision_increment
            && self.group_concat_max_len == variables.group_concat_max_len
            && self.optimizer == variables.optimizer
            && self.database == session.state.database
    }
}

/// Kinds of parameters that give them different types. A DECIMAL's kind has its scale.
fn kind(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Int(_) => 1,
        Value::UInt(_) => 2,
        Value::Float(_) => 3,
        Value::Double(_) => 4,
        Value::Bytes(_) => 5,
        Value::Date(_) => 6,
        Value::Time(_) => 7,
        Value::DateTime(_) | Value::Timestamp(_) => 8,
        Value::Year(_) => 9,
        Value::Bit { .. } => 10,
        Value::Enum(_) => 11,
        Value::Set(_) => 12,
        Value::Decimal(decimal) => 64 + decimal.scale(),
    }
}

/// In the last byte of the key of a text that is prepared.
const PREPARED_BIT: u8 = 0x80;

/// What a text to be prepared is found by: itself, and how it is read. The keys of statements sent as text
/// end with the highest byte of a length, which is 0; these with [`PREPARED_BIT`] set.
pub(super) fn key_of(text: &[u8], options: &ParseOptions) -> Box<[u8]> {
    let modes = [
        options.ansi_quotes,
        options.pipes_as_concat,
        options.no_backslash_escapes,
        options.ignore_space,
        options.high_not_precedence,
    ];
    let bits = modes.iter().fold(PREPARED_BIT, |bits, mode| PREPARED_BIT | (bits << 1) | u8::from(*mode));
    [text, &[bits]].concat().into()
}

impl Prepared {
    /// A statement whose `key` begins with its text.
    pub(super) fn new(parsed: Only, key: Box<[u8]>, text_length: usize) -> Prepared {
        let prepared = Prepared {
            parameters: parsed.placeholders,
            statement: Arc::new(parsed.statement),
            deprecated: parsed.deprecated.into(),
            hints: parsed.hints.into(),
            key,
            text_length,
            weight: AtomicUsize::new(0),
            plans: Mutex::default(),
            observed: Memo::default(),
            basis: AtomicU64::new(0),
        };
        prepared.weigh();
        prepared
    }

    /// The same statement before anything was planned.
    pub(super) fn without_plans(&self) -> Prepared {
        let prepared = Prepared {
            parameters: self.parameters,
            statement: self.statement.clone(),
            deprecated: self.deprecated.clone(),
            hints: self.hints.clone(),
            key: self.key.clone(),
            text_length: self.text_length,
            weight: AtomicUsize::new(0),
            plans: Mutex::default(),
            observed: Memo::default(),
            basis: AtomicU64::new(self.basis()),
        };
        prepared.weigh();
        prepared
    }

    /// Its text.
    pub fn text(&self) -> &[u8] {
        self.key.get(..self.text_length).unwrap_or(&self.key)
    }

    /// A number of the definitions that its last plan relies on: another one when they have changed. 0 before
    /// it was planned, and of a statement that has no plan.
    #[inline]
    pub fn basis(&self) -> u64 {
        self.basis.load(Ordering::Relaxed)
    }

    /// A plan of it relies on the definitions of these tables. Those of texts are not looked at: their
    /// executions are not told apart.
    pub(crate) fn rests_on(&self, tables: &[Arc<Table>]) {
        if self.is_of_text() || tables.is_empty() {
            return;
        }
        let add = |basis: u64, table: &Arc<Table>| {
            let definition = u64::from(crc32c(&table.def().to_bytes()));
            basis.rotate_left(7).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (table.def().id << 32) ^ definition
        };
        self.basis.store(tables.iter().fold(1, add), Ordering::Relaxed);
    }

    /// Whether its parameters are constants of a text that was sent to be executed.
    pub(crate) fn is_of_text(&self) -> bool {
        self.key.last().is_some_and(|last| last & PREPARED == 0)
    }

    /// What it is found by.
    pub(super) fn key(&self) -> &[u8] {
        &self.key
    }

    /// About how many bytes it and its plans took when [`weigh`](Self::weigh) was called last.
    pub(super) fn weight(&self) -> usize {
        self.weight.load(Ordering::Relaxed)
    }

    /// About how many bytes of it a session alone holds: what is too large is not [shared](super::PlanCache).
    pub fn own_weight(&self) -> usize {
        let weight = self.weight();
        if weight > super::MAX_SINGLE { weight } else { 0 }
    }

    /// Takes the plans into account that it has now.
    pub(super) fn weigh(&self) {
        let plans: usize = self.plans().iter().map(|kept| kept.plan.plan().weight).sum();
        let own = size_of::<Prepared>() + self.key.len() + self.text_length * TREE_PER_BYTE;
        self.weight.store(own + plans, Ordering::Relaxed);
    }

    /// How many plans it has.
    pub fn plan_count(&self) -> usize {
        self.plans().len()
    }

    fn plans(&self) -> MutexGuard<'_, SmallVec<[CachedPlan; 1]>> {
        self.plans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan for an execution, if one is kept.
    pub(crate) fn plan(
        &self,
        dictionary_version: u64,
        session: &Session,
        parameters: &[Value],
    ) -> Option<Arc<CachedStatement>> {
        let plans = self.plans();
        let right = |kept: &&CachedPlan| {
            kept.conditions.match_those_of(dictionary_version, session, parameters)
                && session.suits(kept.conditions.temporary, kept.plan.plan())
        };
        plans.iter().find(right).map(|kept| kept.plan.clone())
    }

    /// Keeps a plan; the oldest goes if there are many.
    pub(crate) fn keep(&self, conditions: Conditions, plan: Arc<CachedStatement>) {
        let mut plans = self.plans();
        let version = conditions.dictionary_version;
        plans.retain(|kept| kept.conditions.dictionary_version >= version && kept.conditions != conditions);
        if plans.len() >= MAX_PLANS {
            plans.remove(0);
        }
        plans.push(CachedPlan { conditions, plan });
    }

    /// Drops the plans that a session's temporary tables of this generation are in. It goes on weighing as
    /// much until something is planned.
    pub(crate) fn forget_plans_of(&self, generation: u64) {
        if generation != 0 {
            self.plans().retain(|kept| kept.conditions.temporary != generation);
        }
    }

    /// Drops the plans made before a version of the dictionary.
    pub(super) fn forget_plans_before(&self, dictionary_version: u64) {
        self.plans().retain(|kept| kept.conditions.dictionary_version >= dictionary_version);
        self.weigh();
    }
}
