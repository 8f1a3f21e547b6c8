//! Bound expressions: every name resolved, every type known; the functions of the language, and the
//! evaluator.
//!
//! One evaluator ([`eval`]) serves every path. What MySQL decides per expression - the result's type, the
//! collation of a comparison, which conversion applies - is decided once, when the expression is bound, and
//! is written in the [`Node`]; evaluation only looks at values.
//!
//! | module | what it holds |
//! |---|---|
//! | `node` | [`Expr`] and its operations ([`Node`]) |
//! | [`func`] | the function library |
//! | [`context`] | [`Context`]: what an evaluation sees: session, parameters, the current rows |
//! | [`convert`] | implicit conversions, with MySQL's warnings |
//! | [`common`] | the type that the values of several expressions have in common |
//! | [`compare`] | comparison in the domain chosen at binding |
//! | [`beforehand`] | constants beside dates, converted before the first row |
//! | `compared` | constants read as the column would keep them that they are compared with |
//! | [`aggregate`] | aggregates and their arithmetic |
//! | [`order`], [`merge`] | the keys of an order; sorting in steps |
//! | [`hash_key`], [`keys`], [`membership`] | keys for hashing, their numbers; IN by hash |
//! | [`screen`] | conditions on the bytes of rows |
//! | [`vectors`] | arithmetic on many rows at once |
//! | [`arithmetic`] | `+ - * / DIV %`, with overflow errors |
//! | [`bits`] | operators on bits |
//! | [`cast`] | CAST and CONVERT |
//! | [`eval`] | the evaluator |
//! | [`effects`] | what an evaluation does, done once however often it is repeated |
//! | `identity` | when two expressions are the same one |
//! | [`pace`] | how long it may compute before it lets others run |
//! | [`mod@print`] | an expression as text, as error messages and EXPLAIN show it |
//! | [`session_state`] | what of a session expressions see: variables, warnings, user variables |
//! | `user_variables` | values that statements give names, which other sessions may look at |
//! | [`session_variables`] | what system variables mean to a statement, a row for each |
//! | [`services`] | what evaluation asks the server: system variables, clock, random bits, named locks |
//! | [`memory`] | what a statement and a session hold, and how much they may |
//! | [`named_locks`] | GET_LOCK's locks, and those who wait for them |
//! | [`warning`], [`error`] | the conditions a statement leaves; what it fails with |
//! | [`mode`], [`place`] | `sql_mode`; elements by numbers that other parts have worked out |
//!
//! # What an evaluation sees
//!
//! A [`Context`] is a view: the part of the session that expressions see ([`SessionState`]), the server as
//! far as it is asked ([`Services`]), the parameters, what the evaluations of the statement share
//! ([`StatementState`](context::StatementState)), and one door out of it
//! ([`Subqueries`](context::Subqueries)), by which an expression has the operators of a subquery run. The
//! operators hold the rest, and lend the view.
//!
//! Deliberately absent: transactions, plans, and looking anything up in the dictionary. A [`Slot`] holds rows
//! of the engine with the table whose definition reads them; where they come from is the operators' business.

#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::string_slice)]

pub mod aggregate;
pub mod arithmetic;
pub mod beforehand;
pub mod bits;
pub mod cast;
pub mod common;
pub mod compare;
mod compared;
pub mod context;
pub mod convert;
pub mod effects;
pub mod error;
pub mod eval;
pub mod func;
pub mod hash_key;
mod identity;
pub mod keys;
pub mod membership;
pub mod memory;
pub mod merge;
pub mod mode;
pub mod named_locks;
mod node;
pub mod optimizer_trace;
pub mod order;
pub mod pace;
pub mod place;
pub mod print;
pub mod screen;
pub mod services;
pub mod session_state;
pub mod session_variables;
mod user_variables;
pub mod vectors;
pub mod warning;

pub use cast::CastTarget;
pub use compare::{Comparison, Domain, JsonSide};
pub use context::{Context, Frame, Slot};
pub use error::{SqlAttempt, SqlError, SqlResult};
pub use node::{ArithmeticOp, BitOp, Coercibility, Expr, Loss, Node, Numeric, Subquery, SubqueryUse, Truth};
pub use services::{Scope, Services};
pub use session_state::SessionState;
pub use session_variables::SessionVariables;
