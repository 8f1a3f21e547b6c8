//! Rules: rewritings of the logical plan that give the same rows and may be cheaper to execute.
//!
//! | rule | from | to |
//! |---|---|---|
//! | `constants` | conditions known before any row is read | their truth, and what is left of others |
//! | `or_factors` | a condition that all branches of an OR have | the condition, beside the OR of the rests |
//! | `outer_to_inner` | an outer join whose added rows are thrown away | an inner join |
//! | `derived_merge` | a derived table that is a plain block | its tables, in the block around it |
//! | `equalities` | a condition on a column that is equal to others | the same condition on these |
//! | `derived_filter` | a condition on the columns of another derived table | a condition within it |
//! | `first_ranks` | a bound on a rank over a derived table | the bound in its window as well |
//! | `grouped_in` | IN of a query that groups by what it gives | a join with a derived table |
//! | `limit_down` | a LIMIT over a derived table or a union | a LIMIT within it as well |
//! | `semi_join` | IN and EXISTS of a plain block in WHERE | a semi-join or an anti-join |
//! | `unique_match` | a semi-join that finds one row at most | an inner join |
//! | `distinct_match` | a semi-join | a join with the distinct rows that are looked for, if that pays |
//! | `grouped_scalar` | a correlated subquery of an aggregate | a join with its groups, if that pays |
//! | `eager_groups` | groups of joined rows | groups of one side, joined, if that pays |
//! | `unread_columns` | a column of a derived table that is not read | NULL, and nothing computed for it |
//! | `window_reuse` | windows that are ordered alike, or by more | one sort for them |
//!
//! A rule is a struct with one method that is given one block, and whose inner queries have been rewritten
//! before. Rules are applied in the order of the table; those that do not always pay ask the planner what
//! plans would cost. None of them changes which rows a query gives, and
//! none moves an expression that has an effect or may give another value when it is evaluated again.
//!
//! Source: Graefe, "Query evaluation techniques for large databases", 1993; Galindo-Legaria and Joshi,
//! "Orthogonal optimization of subqueries and aggregation", 2001.

mod constants;
mod derived_filter;
mod derived_merge;
mod distinct_match;
mod eager_groups;
mod equalities;
mod first_ranks;
mod grouped_in;
mod grouped_scalar;
mod limit_down;
mod or_factors;
mod outer_to_inner;
mod quiet;
mod semi_join;
mod substitute;
mod trial;
mod unique_match;
mod unread_columns;
mod window_reuse;

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_engine::Dictionary;
use palisade_expr::SqlResult;

use self::constants::Constants;
use self::derived_filter::DerivedFilter;
use self::derived_merge::DerivedMerge;
use self::distinct_match::DistinctMatch;
use self::eager_groups::EagerGroups;
use self::equalities::{Equalities, EqualitiesOfMatches};
use self::first_ranks::FirstRanks;
use self::grouped_in::GroupedIn;
use self::grouped_scalar::GroupedScalar;
use self::limit_down::LimitDown;
use self::or_factors::OrFactors;
use self::outer_to_inner::OuterToInner;
use self::semi_join::SemiJoin;
use self::unique_match::UniqueMatch;
use self::unread_columns::UnreadColumns;
use self::window_reuse::WindowReuse;
use super::conditions::OuterSlots;
use super::logical::{Block, Body, Combination, Leaf, LogicalQuery};
use crate::decisions::Decisions;
use crate::outline::Outline;
use crate::pace::Pace;
use crate::premise::Premise;
use crate::rewritten::Writer;
use palisade_expr::session_variables::OptimizerSwitches;

pub use self::constants::is_never;
pub(crate) use self::limit_down::has_no_effects;
pub use self::outer_to_inner::outer_to_inner;
pub(crate) use self::substitute::{change_exprs, each_expr, substitute};

/// What applying a rule to a block counts as, in units of a nanosecond.
const UNITS_A_RULE: usize = 256;

/// A rewriting of blocks.
trait Rule {
    /// Rewrites a block, of which `output` is computed.
    fn apply(&self, block: &mut Block, output: &mut [palisade_expr::Expr], statement: &mut Statement<'_, '_>);

    /// Rewrites a combination of queries.
    fn combine(&self, _combination: &mut Combination, _statement: &mut Statement<'_, '_>) {}
}

const RULES: [(&str, &dyn Rule); 17] = [
    ("constants", &Constants),
    ("or_factors", &OrFactors),
    ("outer_to_inner", &OuterToInner),
    ("derived_merge", &DerivedMerge),
    ("equalities", &Equalities),
    ("derived_filter", &DerivedFilter),
    ("first_ranks", &FirstRanks),
    ("limit_down", &LimitDown),
    ("grouped_in", &GroupedIn),
    ("semi_join", &SemiJoin),
    ("unique_match", &UniqueMatch),
    ("distinct_match", &DistinctMatch),
    ("grouped_scalar", &GroupedScalar),
    ("eager_groups", &EagerGroups),
    ("equalities_of_matches", &EqualitiesOfMatches),
    ("unread_columns", &UnreadColumns),
    ("window_reuse", &WindowReuse),
];

/// A statement whose queries are being rewritten.
pub struct Statement<'s, 'a> {
    /// The subqueries in its expressions, by number; `None` for one that has become part of another query.
    pub subqueries: Vec<Option<LogicalQuery>>,
    /// Those that are parts of more than one query, which become a part of none.
    pub shared: Vec<usize>,
    /// How many slots have been given out.
    pub slots: usize,
    /// What it has cost so far.
    pub pace: &'s Pace<'a>,
    /// Which rules may be applied.
    pub switches: OptimizerSwitches,
    /// Schemas and tables as of now.
    pub dictionary: &'s Dictionary,
    /// Values of the parameters at this execution.
    pub parameters: &'s [Value],
    /// What the planner is held to.
    pub outline: Option<Arc<Outline>>,
    /// What is decided is recorded here, if the session has asked for that.
    pub decisions: Option<&'s Decisions>,
    /// What of the data rules were applied by.
    pub premises: Vec<Premise>,
}

impl OuterSlots for Statement<'_, '_> {
    fn outer_slots(&self, subquery: usize) -> &[usize] {
        let query = self.subqueries.get(subquery).and_then(Option::as_ref);
        query.map_or(&[], |query| &query.outer_slots)
    }
}

impl Statement<'_, '_> {
    /// A subquery that may become part of the query whose expressions it is in.
    fn own_subquery(&self, number: usize) -> Option<&LogicalQuery> {
        match self.shared.contains(&number) {
            true => None,
            false => self.subqueries.get(number)?.as_ref(),
        }
    }

    /// Rewrites the subqueries in expressions, then `query`.
    pub fn rewrite(&mut self, query: Option<&mut LogicalQuery>) -> SqlResult<()> {
        // A subquery within another one has the higher number.
        for number in (0..self.subqueries.len()).rev() {
            let taken = self.subqueries.get_mut(number).and_then(Option::take);
            if let Some(mut subquery) = taken {
                let rewritten = self.query(&mut subquery);
                if let Some(place) = self.subqueries.get_mut(number) {
                    *place = Some(subquery);
                }
                rewritten?;
            }
        }
        query.map_or(Ok(()), |query| self.query(query))
    }

    fn query(&mut self, query: &mut LogicalQuery) -> SqlResult<()> {
        match &mut query.body {
            Body::Block(block) => {
                let mut inner = Ok(());
                if let Some(tree) = &mut block.tree {
                    tree.leaves_mut(&mut |leaf| {
                        if inner.is_ok() {
                            inner = self.leaf(leaf);
                        }
                    });
                }
                inner?;
                self.record(query, |decisions, text| decisions.begin_rewriting(text));
                for (name, rule) in RULES {
                    let Body::Block(block) = &mut query.body else { break };
                    self.pace.checkpoint(UNITS_A_RULE)?;
                    self.pace.pass()?;
                    rule.apply(block, &mut query.output, self);
                    self.record(query, |decisions, text| decisions.applied(name, text));
                }
                Ok(())
            }
            Body::Values { .. } => Ok(()),
            Body::Combination(combination) => {
                combination.inputs.iter_mut().try_for_each(|input| self.query(input))?;
                for (_, rule) in RULES {
                    self.pace.pass()?;
                    rule.combine(combination, self);
                }
                Ok(())
            }
            Body::Arranged { inner, .. } => self.query(inner),
        }
    }

    /// Records something of a query and its text, if decisions are recorded.
    fn record(&self, query: &LogicalQuery, record: impl FnOnce(&Decisions, String)) {
        if let Some(decisions) = self.decisions {
            record(decisions, Writer::new(&self.subqueries).statement(query));
        }
    }

    fn leaf(&mut self, leaf: &mut Leaf) -> SqlResult<()> {
        match leaf {
            Leaf::Derived { query, .. } => self.query(query),
            Leaf::Recursive { recursion, .. } => {
                self.query(&mut recursion.seed)?;
                recursion.steps.iter_mut().try_for_each(|step| self.query(step))
            }
            Leaf::Table(_) | Leaf::Virtual(_) | Leaf::Working { .. } => Ok(()),
        }
    }
}
