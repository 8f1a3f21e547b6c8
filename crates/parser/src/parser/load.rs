//! LOAD DATA, LOAD XML, LOAD INDEX; the formats of files; HANDLER.

use super::{Parsed, Parser};
use crate::ast::{
    BinaryOp, CachedTable, Handler, HandlerAction, HandlerPosition, LoadData, LoadDuplicates, LoadField,
    LoadFormat, LoadIndex, LoadPriority, PartitionSelection, Statement,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn load(&mut self) -> Parsed<Statement> {
        self.advance();
        let xml = match self.expect_any(&[Keyword::DATA, Keyword::XML, Keyword::INDEX])? {
            Keyword::INDEX => return self.load_index(),
            keyword => keyword == Keyword::XML,
        };
        let priority =
            self.accept_any(&[Keyword::LOW_PRIORITY, Keyword::CONCURRENT]).map(|keyword| match keyword {
                Keyword::LOW_PRIORITY => LoadPriority::Low,
                _ => LoadPriority::Concurrent,
            });
        let local = self.accept(Keyword::LOCAL);
        self.expect(Keyword::INFILE)?;
        let path = self.string()?;
        let duplicates = self.optional_duplicates();
        self.expect_all(&[Keyword::INTO, Keyword::TABLE])?;
        let table = self.table_name()?;
        let partitions = self.optional_partitions()?;
        let charset = self.optional_character_set()?;
        let mut rows_identified_by = None;
        if xml && self.accept(Keyword::ROWS) {
            self.expect_all(&[Keyword::IDENTIFIED, Keyword::BY])?;
            rows_identified_by = Some(self.text_literal()?);
        }
        let format = LoadFormat { charset, ..self.load_format()? };
        let ignore_lines = self.ignore_lines()?;
        let fields = self.load_fields()?;
        let assignments =
            if self.accept(Keyword::SET) { self.list(Self::column_assignment)? } else { Vec::new() };
        Ok(Statement::LoadData(Box::new(LoadData {
            xml,
            priority,
            local,
            path,
            duplicates,
            table,
            partitions,
            format,
            rows_identified_by,
            ignore_lines,
            fields,
            assignments,
        })))
    }

    /// REPLACE or IGNORE.
    pub(super) fn optional_duplicates(&mut self) -> Option<LoadDuplicates> {
        self.accept_any(&[Keyword::REPLACE, Keyword::IGNORE]).map(|keyword| match keyword {
            Keyword::REPLACE => LoadDuplicates::Replace,
            _ => LoadDuplicates::Ignore,
        })
    }

    fn optional_character_set(&mut self) -> Parsed<Option<String>> {
        if self.is_any(&[Keyword::CHARACTER, Keyword::CHARSET, Keyword::CHAR]) {
            return Ok(Some(self.character_set()?));
        }
        Ok(None)
    }

    /// `[CHARACTER SET x] [FIELDS ...] [LINES ...]`.
    pub(super) fn load_format(&mut self) -> Parsed<LoadFormat> {
        let mut format = LoadFormat { charset: self.optional_character_set()?, ..LoadFormat::default() };
        if self.accept_any(&[Keyword::FIELDS, Keyword::COLUMNS]).is_some() {
            let mut any = false;
            loop {
                match self.token.keyword {
                    Keyword::TERMINATED => {
                        self.advance();
                        self.expect(Keyword::BY)?;
                        format.fields_terminated = Some(self.text_literal()?);
                    }
                    Keyword::ENCLOSED | Keyword::OPTIONALLY => {
                        format.optionally_enclosed = self.accept(Keyword::OPTIONALLY);
                        self.expect_all(&[Keyword::ENCLOSED, Keyword::BY])?;
                        format.enclosed = Some(self.text_literal()?);
                    }
                    Keyword::ESCAPED => {
                        self.advance();
                        self.expect(Keyword::BY)?;
                        format.escaped = Some(self.text_literal()?);
                    }
                    _ if any => break,
                    _ => return self.fail(),
                }
                any = true;
            }
        }
        if self.accept(Keyword::LINES) {
            let mut any = false;
            while let Some(keyword) = self.accept_any(&[Keyword::STARTING, Keyword::TERMINATED]) {
                self.expect(Keyword::BY)?;
                let text = Some(self.text_literal()?);
                match keyword {
                    Keyword::STARTING => format.lines_starting = text,
                    _ => format.lines_terminated = text,
                }
                any = true;
            }
            if !any {
                return self.fail();
            }
        }
        Ok(format)
    }

    fn ignore_lines(&mut self) -> Parsed<u64> {
        if !self.accept(Keyword::IGNORE) {
            return Ok(0);
        }
        let lines = self.unsigned()?;
        self.expect_any(&[Keyword::LINES, Keyword::ROWS])?;
        Ok(lines)
    }

    fn load_fields(&mut self) -> Parsed<Vec<LoadField>> {
        if !self.accept_symbol(b'(') {
            return Ok(Vec::new());
        }
        if self.accept_symbol(b')') {
            return Ok(Vec::new());
        }
        let fields = self.list(|p| {
            if p.is_symbol(b'@') {
                return Ok(LoadField::UserVariable(p.assigned_variable()?));
            }
            Ok(LoadField::Column(p.column_name()?))
        })?;
        self.expect_symbol(b')')?;
        Ok(fields)
    }

    fn load_index(&mut self) -> Parsed<Statement> {
        self.expect_all(&[Keyword::INTO, Keyword::CACHE])?;
        let tables = self.list(|p| {
            let mut table = p.cached_table()?;
            if p.accept(Keyword::IGNORE) {
                p.expect(Keyword::LEAVES)?;
                table.ignore_leaves = true;
            }
            Ok(table)
        })?;
        Ok(Statement::LoadIndex(LoadIndex { tables }))
    }

    /// A table of CACHE INDEX or LOAD INDEX.
    pub(super) fn cached_table(&mut self) -> Parsed<CachedTable> {
        let table = self.table_name()?;
        let mut partitions = None;
        if self.accept(Keyword::PARTITION) {
            self.expect_symbol(b'(')?;
            partitions = Some(if self.accept(Keyword::ALL) {
                PartitionSelection::All
            } else {
                PartitionSelection::Names(self.list(Self::name)?)
            });
            self.expect_symbol(b')')?;
        }
        let mut indexes = Vec::new();
        if self.accept_any(&[Keyword::INDEX, Keyword::KEY]).is_some() {
            indexes = self.parenthesised_list(Self::index_name)?;
        }
        Ok(CachedTable { table, partitions, indexes, ignore_leaves: false })
    }

    pub(super) fn handler(&mut self) -> Parsed<Statement> {
        self.advance();
        let table = self.table_name()?;
        let action = match self.expect_any(&[Keyword::OPEN, Keyword::READ, Keyword::CLOSE])? {
            Keyword::OPEN => HandlerAction::Open(self.optional_table_alias()?),
            Keyword::CLOSE => HandlerAction::Close,
            _ => self.handler_read()?,
        };
        Ok(Statement::Handler(Box::new(Handler { table, action })))
    }

    fn handler_read(&mut self) -> Parsed<HandlerAction> {
        let scans = [Keyword::FIRST, Keyword::NEXT];
        let next_is_comparison = !matches!(
            self.peek().kind,
            TokenKind::End | TokenKind::Symbol(b';') | TokenKind::Word | TokenKind::Invalid
        );
        let (index, position) = if self.is_any(&scans) && !next_is_comparison {
            let position = self.handler_position()?;
            (None, position)
        } else {
            (Some(self.index_name()?), self.handler_position()?)
        };
        let filter = self.optional_where()?;
        let limit = self.optional_limit()?;
        Ok(HandlerAction::Read { index, position, filter, limit })
    }

    fn handler_position(&mut self) -> Parsed<HandlerPosition> {
        let keywords = &[Keyword::FIRST, Keyword::NEXT, Keyword::PREV, Keyword::LAST];
        if let Some(keyword) = self.accept_any(keywords) {
            return Ok(match keyword {
                Keyword::FIRST => HandlerPosition::First,
                Keyword::NEXT => HandlerPosition::Next,
                Keyword::PREV => HandlerPosition::Previous,
                _ => HandlerPosition::Last,
            });
        }
        let op = match self.token.kind {
            TokenKind::Symbol(b'=') => BinaryOp::Equal,
            TokenKind::Symbol(b'<') => BinaryOp::Less,
            TokenKind::Symbol(b'>') => BinaryOp::Greater,
            TokenKind::LessEqual => BinaryOp::LessEqual,
            TokenKind::GreaterEqual => BinaryOp::GreaterEqual,
            _ => return self.fail(),
        };
        self.advance();
        Ok(HandlerPosition::Key(op, self.parenthesised_list(Self::expr_or_default)?))
    }
}
