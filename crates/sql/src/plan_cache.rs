//! Statements that sessions share: parsed once, planned once, executed by all.
//!
//! 600 clients that prepare the same 200 statements have 200 plans, not 120,000:
//!
//! ```text
//!   session ──┐                 ┌── parse tree
//!   session ──┼── Prepared ─────┤
//!   session ──┘   in PlanCache    └── plans, by what they depend on (Conditions)
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | here | [`PlanCache`]: the statements kept, found by their text |
//! | `prepared` | [`Prepared`]: one statement and its plans; what a plan depends on |
//! | `text` | statements sent as text: their constants become parameters |
//!
//! A statement that a client prepares is found by its text and how that is read; one sent as text by what is
//! left of it without its constants. Either way sessions hold a reference to the same thing, and what is
//! theirs - values, long data, cursors - stays with them.
//!
//! **Workers share nothing.** A server has one [`PlanCache`] per worker, and a session uses the one of the
//! worker it lives on. All its locks and reference counts are therefore touched by one thread at a time, but
//! for sessions that compute ([`Services::may_compute`](crate::Services::may_compute)): a lock is free nearly
//! whenever it is asked for, and no two processors take the same cache line from each other, at the price of
//! planning each statement once per worker. A session that moves to another worker [adopts](PlanCache::adopt)
//! what is kept there.
//!
//! **Bounded.** Statements and plans are weighed (about the bytes they take), and when their sum would pass
//! [`MAX_WEIGHT`] some of the statements are forgotten: those in use come back at once. A session that has
//! prepared one keeps its reference. When the dictionary has changed, the plans made before go as soon as one
//! is made after: what they hold of dropped tables is not kept.

pub(crate) mod prepared;
pub(crate) mod text;

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hashbrown::HashSet;
use palisade_parser::ParseOptions;
use palisade_parser::ast::Statement;

use crate::SqlResult;
use crate::sql::Guard;
pub use prepared::Prepared;
pub(crate) use prepared::{CachedStatement, Conditions};

palisade_base::metrics! {
    /// Statements prepared whose parse tree was there.
    pub static PREPARES_SHARED: Counter = "Plan_cache_prepares_shared", "sql", "Statements prepared that another session had prepared";
    /// Statements parsed to be prepared, or to be kept without their constants.
    pub static STATEMENTS_PARSED: Counter = "Plan_cache_statements_parsed", "sql", "Statements parsed to be kept";
    /// Plans made.
    pub static PLANS_MADE: Counter = "Plan_cache_plans_made", "sql", "Plans made of queries and changes of rows";
    /// Statements in all [`PlanCache`].
    pub static STATEMENTS_KEPT: Gauge = "Plan_cache_statements", "sql", "Statements kept for all sessions of a worker";
    /// What they weigh.
    pub static KEPT_WEIGHT: Gauge = "Plan_cache_bytes", "sql", "About how many bytes they and their plans take";
}

/// Most bytes that the statements of one worker take, as they are weighed.
pub const MAX_WEIGHT: usize = 32 << 20;
/// What weighs more than this is not kept: it would push out too much.
const MAX_SINGLE: usize = MAX_WEIGHT / 16;

/// The statements that the sessions of one worker share.
#[derive(Default)]
pub struct PlanCache {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    statements: HashSet<ByKey>,
    /// What they weigh.
    weight: usize,
    /// The newest version of the dictionary that a plan was made under.
    dictionary_version: u64,
}

/// A statement, found by its key.
struct ByKey(Arc<Prepared>);

impl Borrow<[u8]> for ByKey {
    fn borrow(&self) -> &[u8] {
        self.0.key()
    }
}

impl Hash for ByKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.key().hash(state);
    }
}

impl PartialEq for ByKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.key() == other.0.key()
    }
}

impl Eq for ByKey {}

impl PlanCache {
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many statements are kept.
    pub fn len(&self) -> usize {
        self.lock().statements.len()
    }

    /// Whether none is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What they weigh, at most [`MAX_WEIGHT`].
    pub fn weight(&self) -> usize {
        self.lock().weight
    }

    fn find(&self, key: &[u8]) -> Option<Arc<Prepared>> {
        self.lock().statements.get(key).map(|found| found.0.clone())
    }

    /// Keeps a statement that was not found.
    fn keep(&self, prepared: &Arc<Prepared>) {
        self.lock().add(prepared.clone());
    }

    /// A plan of a statement was made or replaced: weighs it anew, and drops plans that are older than the
    /// dictionary.
    pub(crate) fn planned(&self, prepared: &Arc<Prepared>, dictionary_version: u64) {
        let mut kept = self.lock();
        if dictionary_version > kept.dictionary_version {
            kept.forget_plans_before(dictionary_version);
        }
        let is_kept =
            kept.statements.get(prepared.key()).is_some_and(|known| Arc::ptr_eq(&known.0, prepared));
        if is_kept {
            kept.remove(prepared.key());
            prepared.weigh();
            kept.add(prepared.clone());
        }
    }

    /// The statement of a text that a client prepares: the one kept, or parsed now.
    pub(crate) fn statement(
        &self,
        text: &[u8],
        options: ParseOptions,
        guard: &mut Guard<'_>,
    ) -> SqlResult<Arc<Prepared>> {
        let key = prepared::key_of(text, &options);
        if let Some(found) = self.find(&key) {
            PREPARES_SHARED.increment();
            return Ok(found);
        }
        let parsed = palisade_parser::parse_prepared(text, options, &mut || guard.allows());
        let parsed = parsed.map_err(|error| guard.failure(error))?;
        STATEMENTS_PARSED.increment();
        let is_shared = is_shared(&parsed.statement);
        let prepared = Arc::new(Prepared::new(parsed, key, text.len()));
        if is_shared {
            self.keep(&prepared);
        }
        Ok(prepared)
    }
}

impl PlanCache {
    /// The statement that a session goes on with here, of one that it prepared elsewhere: the one kept, or a
    /// new one of the same parse tree, which has no plan yet.
    pub fn adopt(&self, prepared: &Arc<Prepared>) -> Arc<Prepared> {
        if let Some(found) = self.find(prepared.key()) {
            return found;
        }
        let own = Arc::new(prepared.without_plans());
        if is_shared(&own.statement) {
            self.keep(&own);
        }
        own
    }
}

impl Drop for PlanCache {
    fn drop(&mut self) {
        let kept = self.lock();
        STATEMENTS_KEPT.subtract(kept.statements.len() as u64);
        KEPT_WEIGHT.subtract(kept.weight as u64);
    }
}

impl Kept {
    fn add(&mut self, prepared: Arc<Prepared>) {
        let weight = prepared.weight();
        if weight > MAX_SINGLE {
            return;
        }
        while self.weight + weight > MAX_WEIGHT && !self.statements.is_empty() {
            self.forget_some();
        }
        if self.statements.insert(ByKey(prepared)) {
            self.weight += weight;
            STATEMENTS_KEPT.increment();
            KEPT_WEIGHT.add(weight as u64);
        }
    }

    fn remove(&mut self, key: &[u8]) {
        if let Some(gone) = self.statements.take(key) {
            let weight = gone.0.weight();
            self.weight -= weight;
            STATEMENTS_KEPT.subtract(1);
            KEPT_WEIGHT.subtract(weight as u64);
        }
    }

    /// Forgets an eighth of the statements. Which ones matters little: those in use come back at once.
    fn forget_some(&mut self) {
        let count = self.statements.len().div_ceil(8);
        let gone: Vec<Arc<Prepared>> =
            self.statements.iter().take(count).map(|kept| kept.0.clone()).collect();
        gone.iter().for_each(|prepared| self.remove(prepared.key()));
    }

    /// The dictionary has changed: no plan made before will be used again.
    fn forget_plans_before(&mut self, dictionary_version: u64) {
        self.dictionary_version = dictionary_version;
        let all: Vec<Arc<Prepared>> = self.statements.iter().map(|kept| kept.0.clone()).collect();
        for prepared in all {
            self.remove(prepared.key());
            prepared.forget_plans_before(dictionary_version);
            self.add(prepared);
        }
    }
}

/// Whether a statement is worth keeping: one of those that clients prepare to execute them again and again.
/// What has a password in its text is none of them.
fn is_shared(statement: &Statement) -> bool {
    matches!(
        statement,
        Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::StartTransaction(_)
            | Statement::Commit(_)
            | Statement::Rollback(_)
    )
}
