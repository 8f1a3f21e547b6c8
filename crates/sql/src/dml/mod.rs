//! Statements that change rows.
//!
//! | module | what it holds |
//! |---|---|
//! | [`store`] | what happens to a value on its way into a column: defaults, coercion, checks, MySQL's errors |
//! | [`insert`] | INSERT and REPLACE |
//! | [`change`] | UPDATE and DELETE |
//! | [`foreign`] | foreign keys |
//! | [`load`] | LOAD DATA |
//!
//! These run as `async` functions over steps of the engine; a step that has to wait is called again with the same
//! arguments. A statement that fails is undone as a whole: the front door goes back to the point where it began.

pub mod change;
mod collision;
pub mod foreign;
pub mod insert;
pub mod load;
pub mod store;

pub(crate) use change::clustered_key;
