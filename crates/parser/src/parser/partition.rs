//! PARTITION BY.

use super::{Parsed, Parser};
use crate::ast::{Name, OptionValue, PartitionDefinition, PartitionMethod, PartitionValues, Partitioning};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// Behind PARTITION: `BY ...`.
    pub(super) fn partitioning(&mut self) -> Parsed<Partitioning> {
        self.expect(Keyword::BY)?;
        let method = self.partition_method()?;
        let count = self.optional_count(Keyword::PARTITIONS)?;
        let mut subpartition = None;
        let mut subpartition_count = None;
        if self.accept(Keyword::SUBPARTITION) {
            self.expect(Keyword::BY)?;
            let start = self.token.start;
            subpartition = match self.partition_method()? {
                method @ (PartitionMethod::Hash { .. } | PartitionMethod::Key { .. }) => Some(method),
                _ => return Err(super::Rejected(start)),
            };
            subpartition_count = self.optional_count(Keyword::SUBPARTITIONS)?;
        }
        let partitions = if self.is_symbol(b'(') { self.partition_definitions()? } else { Vec::new() };
        Ok(Partitioning { method, count, subpartition, subpartition_count, partitions })
    }

    fn optional_count(&mut self, keyword: Keyword) -> Parsed<Option<u64>> {
        if self.accept(keyword) { Ok(Some(self.unsigned()?)) } else { Ok(None) }
    }

    fn partition_method(&mut self) -> Parsed<PartitionMethod> {
        let linear = self.accept(Keyword::LINEAR);
        if self.accept(Keyword::HASH) {
            return Ok(PartitionMethod::Hash { linear, expr: self.partition_expr()? });
        }
        if self.accept(Keyword::KEY) {
            let mut algorithm = None;
            if self.accept(Keyword::ALGORITHM) {
                self.accept_equal();
                algorithm = Some(self.unsigned()?);
            }
            self.expect_symbol(b'(')?;
            let columns = if self.is_symbol(b')') { Vec::new() } else { self.list(Self::name)? };
            self.expect_symbol(b')')?;
            return Ok(PartitionMethod::Key { linear, algorithm, columns });
        }
        if linear {
            return self.fail();
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

    fn partition_expr(&mut self) -> Parsed<crate::ast::Expr> {
        self.expect_symbol(b'(')?;
        let expr = self.expr()?;
        self.expect_symbol(b')')?;
        Ok(expr)
    }

    /// `(PARTITION ..., ...)`.
    pub(super) fn partition_definitions(&mut self) -> Parsed<Vec<PartitionDefinition>> {
        self.parenthesised_list(|p| {
            p.expect(Keyword::PARTITION)?;
            let name = p.name()?;
            let values = p.partition_values()?;
            let options = p.partition_options()?;
            let mut subpartitions = Vec::new();
            if p.is_symbol(b'(') {
                subpartitions = p.parenthesised_list(|p| {
                    p.expect(Keyword::SUBPARTITION)?;
                    Ok((p.name_or_string()?, p.partition_options()?))
                })?;
            }
            Ok(PartitionDefinition { name, values, options, subpartitions })
        })
    }

    fn partition_values(&mut self) -> Parsed<PartitionValues> {
        if !self.accept(Keyword::VALUES) {
            return Ok(PartitionValues::None);
        }
        if self.accept(Keyword::LESS) {
            self.expect(Keyword::THAN)?;
            if self.accept(Keyword::MAXVALUE) {
                return Ok(PartitionValues::LessThan(vec![None]));
            }
            let bounds = self.parenthesised_list(|p| {
                if p.accept(Keyword::MAXVALUE) { Ok(None) } else { Ok(Some(p.expr()?)) }
            })?;
            return Ok(PartitionValues::LessThan(bounds));
        }
        self.expect(Keyword::IN)?;
        let values = self.parenthesised_list(|p| {
            if p.is_symbol(b'(') { p.parenthesised_list(Self::expr) } else { Ok(vec![p.expr()?]) }
        })?;
        Ok(PartitionValues::In(values))
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
