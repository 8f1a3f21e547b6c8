//! The hints of a statement.
//!
//! The parser notes each where it reads it, in order: a SET_VAR counts for the whole statement wherever it
//! stands, and any hint may name another query block than the one that it stands in. The session that
//! executes the statement knows the variables, and binding finds the tables.

use std::fmt::{self, Display, Formatter};

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
    /// What says how a query block is to be executed.
    Block(BlockHint),
    /// A MAX_EXECUTION_TIME of something else than a statement that is a SELECT.
    MisplacedLimit,
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

/// A hint about a query block, or its tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockHint {
    /// Which.
    pub kind: HintKind,
    /// Number of the query block that it stands in, from 1 in the order of the text.
    pub block: u32,
    /// The query block that it names: `@name`. Of QB_NAME and RESOURCE_GROUP, the name that it gives.
    pub named: Option<String>,
    /// The tables that it names.
    pub tables: Vec<HintTable>,
    /// The indexes of its table that it names.
    pub indexes: Vec<String>,
    /// The strategies that it names, in upper case.
    pub strategies: Vec<String>,
}

/// A table in a hint: `t`, `t@block`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HintTable {
    /// Its name or alias.
    pub name: String,
    /// The query block that it is in, if the hint says so.
    pub block: Option<String>,
}

/// What stands between the parentheses of a hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HintForm {
    /// A name.
    Name,
    /// Nothing but a query block.
    Block,
    /// Tables.
    Tables,
    /// A table, and indexes of it.
    Indexes,
    /// Strategies.
    Strategies,
}

macro_rules! hint_kinds {
    ($($kind:ident = $name:literal, $form:ident, $is_positive:literal;)*) => {
        /// Kinds of hint.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "named after the hint")]
        pub enum HintKind { $($kind,)* }

        impl HintKind {
            /// The kind of that name, in any case.
            pub fn named(name: &[u8]) -> Option<HintKind> {
                $(if name.eq_ignore_ascii_case($name.as_bytes()) { return Some(HintKind::$kind); })*
                None
            }

            /// As MySQL calls it.
            pub fn name(self) -> &'static str {
                match self { $(HintKind::$kind => $name,)* }
            }

            /// What it is given.
            pub fn form(self) -> HintForm {
                match self { $(HintKind::$kind => HintForm::$form,)* }
            }

            /// Whether it asks for what its name says, rather than that it is not done.
            pub fn is_positive(self) -> bool {
                match self { $(HintKind::$kind => $is_positive,)* }
            }
        }
    };
}

hint_kinds! {
    Bka = "BKA", Tables, true;
    NoBka = "NO_BKA", Tables, false;
    Bnl = "BNL", Tables, true;
    NoBnl = "NO_BNL", Tables, false;
    HashJoin = "HASH_JOIN", Tables, true;
    NoHashJoin = "NO_HASH_JOIN", Tables, false;
    Merge = "MERGE", Tables, true;
    NoMerge = "NO_MERGE", Tables, false;
    ConditionPushdown = "DERIVED_CONDITION_PUSHDOWN", Tables, true;
    NoConditionPushdown = "NO_DERIVED_CONDITION_PUSHDOWN", Tables, false;
    JoinFixedOrder = "JOIN_FIXED_ORDER", Block, true;
    JoinOrder = "JOIN_ORDER", Tables, true;
    JoinPrefix = "JOIN_PREFIX", Tables, true;
    JoinSuffix = "JOIN_SUFFIX", Tables, true;
    Index = "INDEX", Indexes, true;
    NoIndex = "NO_INDEX", Indexes, false;
    JoinIndex = "JOIN_INDEX", Indexes, true;
    NoJoinIndex = "NO_JOIN_INDEX", Indexes, false;
    GroupIndex = "GROUP_INDEX", Indexes, true;
    NoGroupIndex = "NO_GROUP_INDEX", Indexes, false;
    OrderIndex = "ORDER_INDEX", Indexes, true;
    NoOrderIndex = "NO_ORDER_INDEX", Indexes, false;
    IndexMerge = "INDEX_MERGE", Indexes, true;
    NoIndexMerge = "NO_INDEX_MERGE", Indexes, false;
    SkipScan = "SKIP_SCAN", Indexes, true;
    NoSkipScan = "NO_SKIP_SCAN", Indexes, false;
    Mrr = "MRR", Indexes, true;
    NoMrr = "NO_MRR", Indexes, false;
    NoIcp = "NO_ICP", Indexes, false;
    NoRangeOptimization = "NO_RANGE_OPTIMIZATION", Indexes, false;
    SemiJoin = "SEMIJOIN", Strategies, true;
    NoSemiJoin = "NO_SEMIJOIN", Strategies, false;
    Subquery = "SUBQUERY", Strategies, true;
    BlockName = "QB_NAME", Name, true;
    ResourceGroup = "RESOURCE_GROUP", Name, true;
}

impl HintKind {
    /// What a hint and its opposite have in common: a block or table has one of them.
    pub fn family(self) -> HintKind {
        use HintKind::*;
        match self {
            NoBka => Bka,
            NoBnl | HashJoin | NoHashJoin => Bnl,
            NoMerge => Merge,
            NoConditionPushdown => ConditionPushdown,
            NoIndex => Index,
            NoJoinIndex => JoinIndex,
            NoGroupIndex => GroupIndex,
            NoOrderIndex => OrderIndex,
            NoIndexMerge => IndexMerge,
            NoSkipScan => SkipScan,
            NoMrr => Mrr,
            // A subquery that is executed by itself is no semi-join.
            NoSemiJoin | Subquery => SemiJoin,
            own => own,
        }
    }

    /// Whether the indexes that it names belong together, so that a table has one hint of its family.
    pub fn is_compound(self) -> bool {
        use HintKind::*;
        matches!(self.family(), Index | JoinIndex | GroupIndex | OrderIndex | IndexMerge | SkipScan)
    }

    /// Strategies that it may name.
    pub fn strategies(self) -> &'static [&'static str] {
        match self {
            HintKind::SemiJoin | HintKind::NoSemiJoin => {
                &["DUPSWEEDOUT", "FIRSTMATCH", "LOOSESCAN", "MATERIALIZATION"]
            }
            HintKind::Subquery => &["INTOEXISTS", "MATERIALIZATION"],
            _ => &[],
        }
    }
}

impl Display for HintTable {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "`{}`", self.name)?;
        match &self.block {
            Some(block) => write!(out, "@`{block}`"),
            None => Ok(()),
        }
    }
}

impl BlockHint {
    /// As MySQL writes the part of it that is about one table.
    pub fn about(&self, table: &HintTable) -> String {
        let block = table.block.as_ref().or(self.named.as_ref());
        let table = HintTable { name: table.name.clone(), block: block.cloned() };
        let indexes: Vec<String> = self.indexes.iter().map(|index| format!("`{index}`")).collect();
        let indexes = indexes.join(", ");
        let space = if indexes.is_empty() { "" } else { " " };
        format!("{}({table} {space}{indexes})", self.kind.name())
    }
}

impl Display for BlockHint {
    /// As MySQL writes it.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}(", self.kind.name())?;
        match (&self.named, self.kind.form()) {
            (Some(name), HintForm::Name) => return write!(out, "`{name}`)"),
            (Some(name), _) => write!(out, "@`{name}` ")?,
            (None, _) => out.write_str(" ")?,
        }
        let tables: Vec<String> = self.tables.iter().map(HintTable::to_string).collect();
        out.write_str(&tables.join(","))?;
        if !self.strategies.is_empty() {
            write!(out, " {}", self.strategies.join(", "))?;
        }
        out.write_str(")")
    }
}
