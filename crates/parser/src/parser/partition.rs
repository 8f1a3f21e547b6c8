//! PARTITION BY.
//!
//! MySQL checks some of a clause while it reads it: that each partition says what it holds, in the form that
//! the method demands, and that there are as many of them as were announced. These are errors of syntax
//! (1064) with words of their own; what else may be wrong of a clause is found when it is known of which
//! table it is.

use super::expr::BIT_OR;
use super::{Parsed, Parser, Rejected};
use crate::ast::{
    Expr, Name, OptionValue, PartitionDefinition, PartitionMethod, PartitionValues, Partitioning,
};
use crate::error::PartitionFault;
use crate::lexer::{Keyword, TokenKind};

/// What is known of a clause when its definitions are read; of ALTER TABLE nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Announced {
    /// By what.
    shape: Shape,
    /// Columns of RANGE COLUMNS or LIST COLUMNS.
    columns: Option<usize>,
    /// SUBPARTITIONS, or how many the first partition lists.
    subpartitions: Option<usize>,
    /// Whether the partitions before list their subpartitions.
    lists: Option<bool>,
}

/// Which values the definitions must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Shape {
    Range,
    List,
    /// HASH and KEY, or not known.
    #[default]
    Other,
}

impl Announced {
    fn of(method: &PartitionMethod, subpartitions: Option<u64>) -> Announced {
        let (shape, columns) = match method {
            PartitionMethod::Range(_) => (Shape::Range, None),
            PartitionMethod::RangeColumns(columns) => (Shape::Range, Some(columns.len())),
            PartitionMethod::List(_) => (Shape::List, None),
            PartitionMethod::ListColumns(columns) => (Shape::List, Some(columns.len())),
            PartitionMethod::Hash { .. } | PartitionMethod::Key { .. } => (Shape::Other, None),
        };
        Announced { shape, columns, subpartitions: subpartitions.map(|count| count as usize), lists: None }
    }
}

/// With what an option of a partition begins.
const OPTIONS: [Keyword; 9] = [
    Keyword::STORAGE,
    Keyword::DATA,
    Keyword::INDEX,
    Keyword::TABLESPACE,
    Keyword::ENGINE,
    Keyword::NODEGROUP,
    Keyword::MAX_ROWS,
    Keyword::MIN_ROWS,
    Keyword::COMMENT,
];

/// Functions that depend on more than their arguments, or do more than give a value.
const NOT_OF_THE_ROW: &[&str] = &[
    "benchmark",
    "connection_id",
    "curdate",
    "current_user",
    "curtime",
    "database",
    "found_rows",
    "get_lock",
    "is_free_lock",
    "is_used_lock",
    "last_insert_id",
    "load_file",
    "now",
    "rand",
    "release_all_locks",
    "release_lock",
    "row_count",
    "session_user",
    "sleep",
    "sysdate",
    "system_user",
    "user",
    "utc_date",
    "utc_time",
    "utc_timestamp",
    "uuid",
    "uuid_short",
];

/// Whether a part of the expression depends on more than the row, by its form.
fn depends_on_more(expr: &mut Expr) -> bool {
    let mut found = false;
    expr.walk_mut(&mut |expr| {
        found |= match expr {
            Expr::UserVariable(_) | Expr::SystemVariable(_) | Expr::AssignUserVariable(..) => true,
            Expr::Function(function) => {
                let name = function.name.to_ascii_lowercase();
                NOT_OF_THE_ROW.contains(&name.as_str())
                    || name == "unix_timestamp" && function.arguments.is_empty()
            }
            _ => false,
        };
    });
    found
}

impl Parser<'_> {
    /// A whole clause that the dictionary keeps as text.
    pub(crate) fn only_partitioning(mut self) -> Result<Partitioning, crate::ParseError> {
        let read = self.expect(Keyword::PARTITION).and_then(|()| self.partitioning());
        match read {
            Ok(partitioning) if self.is_at_end() => Ok(partitioning),
            Ok(_) => Err(self.error(Rejected(self.token.start))),
            Err(rejected) => Err(self.error(rejected)),
        }
    }

    /// Behind PARTITION: `BY ...`.
    pub(super) fn partitioning(&mut self) -> Parsed<Partitioning> {
        self.expect(Keyword::BY)?;
        let method = self.partition_method()?;
        let count = self.optional_count(Keyword::PARTITIONS)?;
        let mut subpartition = None;
        let mut subpartition_count = None;
        if self.accept(Keyword::SUBPARTITION) {
            self.expect(Keyword::BY)?;
            subpartition = Some(self.subpartition_method()?);
            subpartition_count = self.optional_count(Keyword::SUBPARTITIONS)?;
        }
        let mut partitions = Vec::new();
        if self.is_symbol(b'(') {
            let start = self.token.start;
            let announced = Announced::of(&method, subpartition_count);
            partitions = self.definitions(announced)?;
            if count.is_some_and(|count| count != 0 && count != partitions.len() as u64) {
                return self.partition_fault(PartitionFault::WrongCount, start);
            }
        }
        Ok(Partitioning { method, count, subpartition, subpartition_count, partitions })
    }

    /// Refuses the text for a reason of its own.
    #[cold]
    fn partition_fault<T>(&mut self, fault: PartitionFault, at: usize) -> Parsed<T> {
        self.fault = Some(fault);
        Err(Rejected(at))
    }

    fn optional_count(&mut self, keyword: Keyword) -> Parsed<Option<u64>> {
        if self.accept(keyword) { Ok(Some(self.unsigned()?)) } else { Ok(None) }
    }

    fn hash_or_key(&mut self) -> Parsed<Option<PartitionMethod>> {
        let linear = self.accept(Keyword::LINEAR);
        if self.accept(Keyword::HASH) {
            return Ok(Some(PartitionMethod::Hash { linear, expr: self.partition_expr()? }));
        }
        if self.accept(Keyword::KEY) {
            let mut algorithm = None;
            if self.accept(Keyword::ALGORITHM) {
                if !self.is_symbol(b'=') {
                    return self.fail();
                }
                self.accept_equal();
                let at = self.token.start;
                let number = self.unsigned()?;
                if !matches!(number, 1 | 2) {
                    return Err(Rejected(at));
                }
                algorithm = Some(number);
            }
            self.expect_symbol(b'(')?;
            let columns = if self.is_symbol(b')') { Vec::new() } else { self.list(Self::name)? };
            self.expect_symbol(b')')?;
            return Ok(Some(PartitionMethod::Key { linear, algorithm, columns }));
        }
        if linear { self.fail() } else { Ok(None) }
    }

    fn subpartition_method(&mut self) -> Parsed<PartitionMethod> {
        match self.hash_or_key()? {
            Some(PartitionMethod::Key { columns, .. }) if columns.is_empty() => {
                Err(Rejected(self.previous_end.saturating_sub(1)))
            }
            Some(method) => Ok(method),
            None => self.fail(),
        }
    }

    fn partition_method(&mut self) -> Parsed<PartitionMethod> {
        if let Some(method) = self.hash_or_key()? {
            return Ok(method);
        }
        let keyword = self.expect_any(&[Keyword::RANGE, Keyword::LIST])?;
        let columns = self.accept(Keyword::COLUMNS);
        Ok(match (keyword, columns) {
            (Keyword::RANGE, true) => PartitionMethod::RangeColumns(self.parenthesised_list(Self::name)?),
            (Keyword::RANGE, false) => PartitionMethod::Range(self.partition_expr()?),
            (_, true) => PartitionMethod::ListColumns(self.parenthesised_list(Self::name)?),
            (_, false) => PartitionMethod::List(self.partition_expr()?),
        })
    }

    fn partition_expr(&mut self) -> Parsed<Expr> {
        self.expect_symbol(b'(')?;
        let start = self.token.start;
        let mut expr = self.expr_at(BIT_OR)?;
        let mut has_query = false;
        expr.walk_mut(&mut |expr| has_query |= expr.has_query());
        if has_query {
            return Err(Rejected(start));
        }
        if depends_on_more(&mut expr) {
            return self.partition_fault(PartitionFault::NotOfTheRow, start);
        }
        self.expect_symbol(b')')?;
        Ok(expr)
    }

    /// A bound or a member of a partition.
    fn partition_value(&mut self) -> Parsed<Expr> {
        let start = self.token.start;
        let mut expr = self.expr_at(BIT_OR)?;
        if depends_on_more(&mut expr) {
            return self.partition_fault(PartitionFault::NotOfTheRow, start);
        }
        Ok(expr)
    }

    /// `(PARTITION ..., ...)` of ALTER TABLE.
    pub(super) fn partition_definitions(&mut self) -> Parsed<Vec<PartitionDefinition>> {
        self.definitions(Announced::default())
    }

    fn definitions(&mut self, mut announced: Announced) -> Parsed<Vec<PartitionDefinition>> {
        let mut before = self.token.start;
        self.expect_symbol(b'(')?;
        let mut definitions: Vec<PartitionDefinition> = Vec::new();
        loop {
            let definition = self.definition(announced, before)?;
            // All of them list their subpartitions, or none does.
            announced.lists = Some(!definition.subpartitions.is_empty());
            if announced.lists == Some(true) {
                announced.subpartitions = Some(definition.subpartitions.len());
            }
            definitions.push(definition);
            before = self.token.start;
            if !self.accept_symbol(b',') {
                break;
            }
        }
        self.expect_symbol(b')')?;
        Ok(definitions)
    }

    /// A definition; `before` is where the comma or the parenthesis before it is.
    fn definition(&mut self, announced: Announced, before: usize) -> Parsed<PartitionDefinition> {
        self.expect(Keyword::PARTITION)?;
        let name = self.name()?;
        let values = self.partition_values(announced)?;
        let ends = |symbol: u8| matches!(symbol, b',' | b')' | b'(');
        let is_over = matches!(self.token.kind, TokenKind::Symbol(symbol) if ends(symbol));
        match (announced.shape, &values) {
            _ if !is_over && !self.is_any(&OPTIONS) => {}
            (Shape::Range, PartitionValues::None) => {
                return self.partition_fault(PartitionFault::NeedsLessThan, before);
            }
            (Shape::List, PartitionValues::None) => {
                return self.partition_fault(PartitionFault::NeedsIn, before);
            }
            _ => {}
        }
        let options = self.partition_options()?;
        let mut subpartitions = Vec::new();
        if self.is_symbol(b'(') {
            let start = self.token.start;
            let inside = self.peek().start;
            if announced.lists == Some(false) {
                return self.partition_fault(PartitionFault::WrongSubpartitionCount, inside);
            }
            subpartitions = self.parenthesised_list(|p| {
                p.expect(Keyword::SUBPARTITION)?;
                Ok((p.name_or_string()?, p.partition_options()?))
            })?;
            if announced.subpartitions.is_some_and(|count| count != 0 && count != subpartitions.len()) {
                return self.partition_fault(PartitionFault::WrongSubpartitionCount, start);
            }
        } else if announced.lists == Some(true) {
            let at = self.token.start;
            return self.partition_fault(PartitionFault::WrongSubpartitionCount, at);
        }
        Ok(PartitionDefinition { name, values, options, subpartitions })
    }

    fn partition_values(&mut self, announced: Announced) -> Parsed<PartitionValues> {
        let start = self.token.start;
        if !self.accept(Keyword::VALUES) {
            return Ok(PartitionValues::None);
        }
        let columns = announced.columns.unwrap_or(1);
        if self.accept(Keyword::LESS) {
            self.expect(Keyword::THAN)?;
            if self.accept(Keyword::MAXVALUE) {
                if columns > 1 {
                    return self.partition_fault(PartitionFault::Inconsistent, start);
                }
                return Ok(PartitionValues::LessThan(vec![None]));
            }
            self.expect_symbol(b'(')?;
            let bounds = self.list(|p| {
                if p.accept(Keyword::MAXVALUE) { Ok(None) } else { Ok(Some(p.partition_value()?)) }
            })?;
            let end = self.token.start;
            self.expect_symbol(b')')?;
            if bounds.len() < columns {
                return self.partition_fault(PartitionFault::Inconsistent, end);
            }
            return Ok(PartitionValues::LessThan(bounds));
        }
        self.expect(Keyword::IN)?;
        let list = self.token.start;
        self.expect_symbol(b'(')?;
        let is_known = announced.shape == Shape::List;
        let values = self.list(|p| p.partition_member(is_known, columns))?;
        let end = self.token.start;
        self.expect_symbol(b')')?;
        let rows = values.iter().any(|(_, is_row)| *is_row);
        if is_known && columns == 1 && rows {
            return self.partition_fault(PartitionFault::RowNotAllowed, end);
        }
        if is_known && columns > 1 && values.iter().any(|(_, is_row)| !*is_row) {
            return self.partition_fault(PartitionFault::Inconsistent, list);
        }
        Ok(PartitionValues::In(values.into_iter().map(|(values, _)| values).collect()))
    }

    /// A member of VALUES IN, and whether it is a row in parentheses.
    fn partition_member(&mut self, is_known: bool, columns: usize) -> Parsed<(Vec<Expr>, bool)> {
        let value = |p: &mut Self| {
            if p.is(Keyword::MAXVALUE) {
                let at = p.token.start;
                return p.partition_fault(PartitionFault::MaxValueInList, at);
            }
            p.partition_value()
        };
        if !self.is_symbol(b'(') {
            return Ok((vec![value(self)?], false));
        }
        self.expect_symbol(b'(')?;
        let row = self.list(value)?;
        let end = self.token.start;
        self.expect_symbol(b')')?;
        if is_known && columns > 1 && row.len() < columns {
            return self.partition_fault(PartitionFault::Inconsistent, end);
        }
        Ok((row, true))
    }

    fn partition_options(&mut self) -> Parsed<Vec<(Name, OptionValue)>> {
        let mut options = Vec::new();
        loop {
            self.accept(Keyword::STORAGE);
            let name = match self.token.keyword {
                Keyword::DATA | Keyword::INDEX => {
                    let which = self.advance().keyword;
                    self.expect(Keyword::DIRECTORY)?;
                    format!("{} DIRECTORY", which.text())
                }
                Keyword::TABLESPACE
                | Keyword::ENGINE
                | Keyword::NODEGROUP
                | Keyword::MAX_ROWS
                | Keyword::MIN_ROWS
                | Keyword::COMMENT => self.advance().keyword.text().to_owned(),
                _ => return Ok(options),
            };
            self.accept_equal();
            let value = match self.token.kind {
                TokenKind::QuotedName => OptionValue::Word(self.name()?),
                _ => self.option_value()?,
            };
            options.push((name, value));
        }
    }
}
