//! What the hints of a statement say that has an effect on all of it, or is a mistake.
//!
//! The parser notes each where it reads it, in order: a SET_VAR counts for the whole statement wherever it
//! stands. The session that executes the statement knows the variables.

/// The value that SET_VAR gives a variable.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum HintValue {
    /// Digits, and K, M or G behind them.
    Integer(u64),
    /// A name or a string.
    Text(String),
    /// Something that is the value of no variable: a fraction, a number of other digits.
    Other,
}

/// A hint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Hint {
    /// `SET_VAR(name = value)`.
    SetVariable {
        /// The variable.
        name: String,
        /// What it is to be.
        value: HintValue,
        /// The value as it is written.
        written: String,
    },
    /// A second MAX_EXECUTION_TIME of one SELECT, which says this.
    RepeatedLimit(String),
    /// No hint: the list ends here.
    Mistake {
        /// The statement's text from the mistake on, at most 80 characters.
        near: String,
        /// Its line, from 1.
        line: u32,
    },
}
