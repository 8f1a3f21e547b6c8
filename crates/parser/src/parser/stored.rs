//! Triggers, procedures, functions, events: their heads are parsed, their bodies are kept as text.
//!
//! A body ends where the statement ends. A single statement is parsed, to see that it is one; of BEGIN ... END and the
//! like, in which semicolons are their own, only that they consist of tokens and are closed.

use super::query::QUERY_LEVELS;
use super::statement::ends_statement;
use super::{Parsed, Parser};
use crate::ast::{
    Account, AlterEvent, AlterRoutine, Characteristic, CreateEvent, CreateRoutine, CreateTrigger, DropStored,
    EventStatus, ObjectName, Parameter, ParameterMode, Schedule, Statement, StoredKind, TriggerEvent,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// Behind CREATE [DEFINER = user] TRIGGER.
    pub(super) fn create_trigger(&mut self, definer: Option<Account>) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let after = self.expect_any(&[Keyword::BEFORE, Keyword::AFTER])? == Keyword::AFTER;
        let event = match self.expect_any(&[Keyword::INSERT, Keyword::UPDATE, Keyword::DELETE])? {
            Keyword::INSERT => TriggerEvent::Insert,
            Keyword::UPDATE => TriggerEvent::Update,
            _ => TriggerEvent::Delete,
        };
        self.expect(Keyword::ON)?;
        let table = self.object_name()?;
        self.expect_all(&[Keyword::FOR, Keyword::EACH, Keyword::ROW])?;
        let order = match self.accept_any(&[Keyword::FOLLOWS, Keyword::PRECEDES]) {
            Some(keyword) => Some((keyword == Keyword::FOLLOWS, self.name_or_string()?)),
            None => None,
        };
        let body = self.body()?;
        let trigger = CreateTrigger { definer, if_not_exists, name, after, event, table, order, body };
        Ok(Statement::CreateTrigger(Box::new(trigger)))
    }

    /// Behind CREATE [DEFINER = user] PROCEDURE.
    pub(super) fn create_procedure(&mut self, definer: Option<Account>) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let parameters = self.parameters(true)?;
        self.routine(CreateRoutine {
            definer,
            if_not_exists,
            name,
            parameters,
            returns: None,
            characteristics: Vec::new(),
            body: Vec::new(),
        })
    }

    /// Behind CREATE [DEFINER = user] FUNCTION: a stored one has parameters, a loadable one has none.
    pub(super) fn create_function(&mut self, definer: Option<Account>) -> Parsed<Statement> {
        let mut ahead = self.lexer;
        let mut token = self.token;
        while !ends_statement(token.kind)
            && token.kind != TokenKind::Symbol(b'(')
            && token.keyword != Keyword::RETURNS
        {
            token = ahead.next_token();
        }
        if token.keyword == Keyword::RETURNS && definer.is_none() {
            return self.create_loadable_function(false);
        }
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        let parameters = self.parameters(false)?;
        self.expect(Keyword::RETURNS)?;
        let mut returns = self.data_type()?;
        if self.accept(Keyword::COLLATE) {
            returns.collation = Some(self.collation_name()?);
        }
        self.routine(CreateRoutine {
            definer,
            if_not_exists,
            name,
            parameters,
            returns: Some(returns),
            characteristics: Vec::new(),
            body: Vec::new(),
        })
    }

    fn routine(&mut self, mut routine: CreateRoutine) -> Parsed<Statement> {
        routine.characteristics = self.characteristics()?;
        routine.body = self.body()?;
        Ok(Statement::CreateRoutine(Box::new(routine)))
    }

    fn parameters(&mut self, with_mode: bool) -> Parsed<Vec<Parameter>> {
        self.expect_symbol(b'(')?;
        if self.accept_symbol(b')') {
            return Ok(Vec::new());
        }
        let parameters = self.list(|p| {
            let mode = match p.accept_any(if with_mode { MODES } else { &[] }) {
                Some(Keyword::OUT) => ParameterMode::Out,
                Some(Keyword::INOUT) => ParameterMode::InOut,
                _ => ParameterMode::In,
            };
            let name = p.name()?;
            let mut data_type = p.data_type()?;
            if p.accept(Keyword::COLLATE) {
                data_type.collation = Some(p.collation_name()?);
            }
            Ok(Parameter { mode, name, data_type })
        })?;
        self.expect_symbol(b')')?;
        Ok(parameters)
    }

    fn characteristics(&mut self) -> Parsed<Vec<Characteristic>> {
        let mut characteristics = Vec::new();
        loop {
            let characteristic = match self.token.keyword {
                Keyword::COMMENT => {
                    self.advance();
                    Characteristic::Comment(self.string()?)
                }
                Keyword::LANGUAGE => {
                    self.advance();
                    Characteristic::Language(self.upper_word()?)
                }
                Keyword::DETERMINISTIC => {
                    self.advance();
                    Characteristic::Deterministic(true)
                }
                Keyword::NOT => {
                    self.advance();
                    self.expect(Keyword::DETERMINISTIC)?;
                    Characteristic::Deterministic(false)
                }
                Keyword::CONTAINS => {
                    self.advance();
                    self.expect(Keyword::SQL)?;
                    Characteristic::ContainsSql
                }
                Keyword::NO => {
                    self.advance();
                    self.expect(Keyword::SQL)?;
                    Characteristic::NoSql
                }
                Keyword::READS => {
                    self.advance();
                    self.expect_all(&[Keyword::SQL, Keyword::DATA])?;
                    Characteristic::ReadsSqlData
                }
                Keyword::MODIFIES => {
                    self.advance();
                    self.expect_all(&[Keyword::SQL, Keyword::DATA])?;
                    Characteristic::ModifiesSqlData
                }
                Keyword::SQL => {
                    self.advance();
                    self.expect(Keyword::SECURITY)?;
                    match self.expect_any(&[Keyword::DEFINER, Keyword::INVOKER])? {
                        Keyword::DEFINER => Characteristic::SqlSecurityDefiner,
                        _ => Characteristic::SqlSecurityInvoker,
                    }
                }
                _ => return Ok(characteristics),
            };
            characteristics.push(characteristic);
        }
    }

    /// Behind ALTER PROCEDURE or ALTER FUNCTION.
    pub(super) fn alter_routine(&mut self, function: bool) -> Parsed<Statement> {
        let name = self.object_name()?;
        Ok(Statement::AlterRoutine(AlterRoutine { function, name, characteristics: self.characteristics()? }))
    }

    /// Behind CREATE [DEFINER = user] EVENT.
    pub(super) fn create_event(&mut self, definer: Option<Account>) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.object_name()?;
        self.expect_all(&[Keyword::ON, Keyword::SCHEDULE])?;
        let schedule = self.schedule()?;
        let on_completion_preserve = self.on_completion()?;
        let status = self.event_status()?;
        let comment = self.optional_comment()?;
        self.expect(Keyword::DO)?;
        let body = self.body()?;
        Ok(Statement::CreateEvent(Box::new(CreateEvent {
            definer,
            if_not_exists,
            name,
            schedule,
            on_completion_preserve,
            status,
            comment,
            body,
        })))
    }

    /// Behind ALTER [DEFINER = user] EVENT.
    pub(super) fn alter_event(&mut self, definer: Option<Account>) -> Parsed<Statement> {
        let name: ObjectName = self.object_name()?;
        let mut schedule = None;
        if self.is(Keyword::ON) && self.peek().keyword == Keyword::SCHEDULE {
            self.advance();
            self.advance();
            schedule = Some(self.schedule()?);
        }
        let on_completion_preserve = self.on_completion()?;
        let mut rename_to = None;
        if self.accept(Keyword::RENAME) {
            self.expect(Keyword::TO)?;
            rename_to = Some(self.object_name()?);
        }
        let status = self.event_status()?;
        let comment = self.optional_comment()?;
        let body = if self.accept(Keyword::DO) { Some(self.body()?) } else { None };
        Ok(Statement::AlterEvent(Box::new(AlterEvent {
            definer,
            name,
            schedule,
            on_completion_preserve,
            rename_to,
            status,
            comment,
            body,
        })))
    }

    fn schedule(&mut self) -> Parsed<Schedule> {
        if self.accept(Keyword::AT) {
            return Ok(Schedule::At(self.expr()?));
        }
        self.expect(Keyword::EVERY)?;
        let amount = self.expr()?;
        let unit = self.interval_unit()?;
        let starts = if self.accept(Keyword::STARTS) { Some(self.expr()?) } else { None };
        let ends = if self.accept(Keyword::ENDS) { Some(self.expr()?) } else { None };
        Ok(Schedule::Every { amount, unit, starts, ends })
    }

    fn on_completion(&mut self) -> Parsed<Option<bool>> {
        if !self.accept(Keyword::ON) {
            return Ok(None);
        }
        self.expect(Keyword::COMPLETION)?;
        let not = self.accept(Keyword::NOT);
        self.expect(Keyword::PRESERVE)?;
        Ok(Some(!not))
    }

    fn event_status(&mut self) -> Parsed<Option<EventStatus>> {
        if self.accept(Keyword::ENABLE) {
            return Ok(Some(EventStatus::Enable));
        }
        if !self.accept(Keyword::DISABLE) {
            return Ok(None);
        }
        if !self.accept(Keyword::ON) {
            return Ok(Some(EventStatus::Disable));
        }
        self.expect_any(&[Keyword::REPLICA, Keyword::SLAVE])?;
        Ok(Some(EventStatus::DisableOnReplica))
    }

    fn optional_comment(&mut self) -> Parsed<Option<Vec<u8>>> {
        if self.accept(Keyword::COMMENT) { Ok(Some(self.string()?)) } else { Ok(None) }
    }

    /// Behind DROP and the kind.
    pub(super) fn drop_stored(&mut self, keyword: Keyword) -> Parsed<Statement> {
        let kind = match keyword {
            Keyword::PROCEDURE => StoredKind::Procedure,
            Keyword::FUNCTION => StoredKind::Function,
            Keyword::TRIGGER => StoredKind::Trigger,
            _ => StoredKind::Event,
        };
        let if_exists = self.if_exists()?;
        Ok(Statement::DropStored(DropStored { kind, if_exists, name: self.object_name()? }))
    }

    /// The text of a body, to the end of the statement.
    fn body(&mut self) -> Parsed<Vec<u8>> {
        let start = self.token.start;
        if ends_statement(self.token.kind) {
            return self.fail();
        }
        match self.token.keyword {
            Keyword::BEGIN
            | Keyword::IF
            | Keyword::CASE
            | Keyword::LOOP
            | Keyword::REPEAT
            | Keyword::WHILE => {}
            Keyword::RETURN => {
                self.advance();
                self.expr()?;
                return Ok(self.text_since(start).to_vec());
            }
            _ if self.is_name() && self.peek().kind == TokenKind::Symbol(b':') => {}
            _ => {
                self.deeper(QUERY_LEVELS, Self::statement)?;
                return Ok(self.text_since(start).to_vec());
            }
        }
        // Blocks open at the beginning of a statement and close with END, and so does a CASE expression, in which THEN
        // and ELSE begin no statements.
        let mut blocks: Vec<Block> = Vec::new();
        let mut statement_start = true;
        loop {
            let keyword = self.token.keyword;
            match self.token.kind {
                TokenKind::End | TokenKind::Symbol(b';') if blocks.is_empty() => break,
                TokenKind::End | TokenKind::Invalid => return self.fail(),
                _ => {}
            }
            match keyword {
                Keyword::CASE if !statement_start => blocks.push(Block::CaseExpression),
                Keyword::CASE
                | Keyword::BEGIN
                | Keyword::LOOP
                | Keyword::REPEAT
                | Keyword::WHILE
                | Keyword::IF
                    if statement_start =>
                {
                    blocks.push(Block::Statements);
                }
                _ => {}
            }
            self.advance();
            let in_statements = blocks.last() != Some(&Block::CaseExpression);
            statement_start = match keyword {
                Keyword::BEGIN | Keyword::LOOP | Keyword::REPEAT | Keyword::DO => true,
                Keyword::THEN | Keyword::ELSE => in_statements,
                // Behind a label's colon, too, a statement begins.
                _ => self.has_just_passed(b';') || self.has_just_passed(b':'),
            };
            if keyword == Keyword::END && blocks.pop() == Some(Block::Statements) {
                self.accept_any(&[
                    Keyword::CASE,
                    Keyword::LOOP,
                    Keyword::REPEAT,
                    Keyword::WHILE,
                    Keyword::IF,
                ]);
            }
        }
        Ok(self.text_since(start).to_vec())
    }

    /// Whether the token just consumed was this symbol.
    fn has_just_passed(&self, symbol: u8) -> bool {
        self.lexer.between(0, self.previous_end).last() == Some(&symbol)
    }
}

/// What an END will close.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Block {
    Statements,
    CaseExpression,
}

const MODES: &[Keyword] = &[Keyword::IN, Keyword::OUT, Keyword::INOUT];
