//! SHOW, DESCRIBE, EXPLAIN, HELP, USE.

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{
    Describe, EngineInfo, Explain, ExplainFormat, ExplainTarget, Name, ObjectName, Show, ShowFilter,
    ShowWhat, Statement,
};
use crate::lexer::{Keyword, TokenKind};

/// Words that may stand in front of what SHOW shows.
#[derive(Default)]
struct Modifiers {
    extended: bool,
    full: bool,
}

impl Parser<'_> {
    pub(super) fn show(&mut self) -> Parsed<Statement> {
        self.advance();
        let what = self.show_what()?;
        let filter = self.show_filter(&what)?;
        Ok(Statement::Show(Box::new(Show { what, filter })))
    }

    fn show_filter(&mut self, what: &ShowWhat) -> Parsed<Option<ShowFilter>> {
        use ShowWhat::*;
        let like = matches!(
            what,
            Databases
                | Tables { .. }
                | TableStatus { .. }
                | OpenTables { .. }
                | Columns { .. }
                | Triggers { .. }
                | Events { .. }
                | Variables { .. }
                | Status { .. }
                | CharacterSet
                | Collation
                | ProcedureStatus
                | FunctionStatus
        );
        if like && self.accept(Keyword::LIKE) {
            return Ok(Some(ShowFilter::Like(self.string()?)));
        }
        if (like || matches!(what, Index { .. })) && self.accept(Keyword::WHERE) {
            return Ok(Some(ShowFilter::Where(Box::new(self.expr()?))));
        }
        Ok(None)
    }

    fn show_what(&mut self) -> Parsed<ShowWhat> {
        let modifiers =
            Modifiers { extended: self.accept(Keyword::EXTENDED), full: self.accept(Keyword::FULL) };
        if modifiers.extended || modifiers.full {
            return self.show_modified(modifiers);
        }
        if let Some(scope) = self.accept_any(&[Keyword::GLOBAL, Keyword::SESSION, Keyword::LOCAL]) {
            let global = scope == Keyword::GLOBAL;
            return Ok(match self.expect_any(&[Keyword::VARIABLES, Keyword::STATUS])? {
                Keyword::VARIABLES => ShowWhat::Variables { global },
                _ => ShowWhat::Status { global },
            });
        }
        let keyword = self.token.keyword;
        if keyword == Keyword::None {
            return self.fail();
        }
        match keyword {
            Keyword::CREATE => {
                self.advance();
                self.show_create()
            }
            Keyword::TABLES
            | Keyword::COLUMNS
            | Keyword::FIELDS
            | Keyword::INDEX
            | Keyword::INDEXES
            | Keyword::KEYS
            | Keyword::TRIGGERS
            | Keyword::PROCESSLIST => self.show_modified(modifiers),
            Keyword::BINARY | Keyword::BINLOG | Keyword::RELAYLOG | Keyword::REPLICA | Keyword::REPLICAS => {
                self.show_replication()
            }
            Keyword::PROCEDURE | Keyword::FUNCTION => self.show_routine(),
            Keyword::COUNT | Keyword::WARNINGS | Keyword::ERRORS => self.show_diagnostics(),
            Keyword::ENGINE | Keyword::GRANTS | Keyword::PROFILE => self.show_named(),
            _ => self.show_simple(),
        }
    }

    fn show_simple(&mut self) -> Parsed<ShowWhat> {
        let start = self.token.start;
        Ok(match self.advance().keyword {
            Keyword::DATABASES | Keyword::SCHEMAS => ShowWhat::Databases,
            Keyword::TABLE => {
                self.expect(Keyword::STATUS)?;
                ShowWhat::TableStatus { database: self.optional_database()? }
            }
            Keyword::OPEN => {
                self.expect(Keyword::TABLES)?;
                ShowWhat::OpenTables { database: self.optional_database()? }
            }
            Keyword::EVENTS => ShowWhat::Events { database: self.optional_database()? },
            Keyword::VARIABLES => ShowWhat::Variables { global: false },
            Keyword::STATUS => ShowWhat::Status { global: false },
            Keyword::ENGINES => ShowWhat::Engines,
            Keyword::STORAGE => {
                self.expect(Keyword::ENGINES)?;
                ShowWhat::Engines
            }
            Keyword::PLUGINS => ShowWhat::Plugins,
            Keyword::PRIVILEGES => ShowWhat::Privileges,
            Keyword::CHARACTER | Keyword::CHAR => {
                self.expect(Keyword::SET)?;
                ShowWhat::CharacterSet
            }
            Keyword::CHARSET => ShowWhat::CharacterSet,
            Keyword::COLLATION => ShowWhat::Collation,
            Keyword::PROFILES => {
                self.note(Deprecated::ShowProfiles);
                ShowWhat::Profiles
            }
            Keyword::PARSE_TREE => ShowWhat::ParseTree(Box::new(self.deeper(1, Self::statement)?)),
            _ => return Err(super::Rejected(start)),
        })
    }

    fn show_modified(&mut self, Modifiers { extended, full }: Modifiers) -> Parsed<ShowWhat> {
        match self.token.keyword {
            Keyword::TABLES => {
                self.advance();
                Ok(ShowWhat::Tables { extended, full, database: self.optional_database()? })
            }
            Keyword::COLUMNS | Keyword::FIELDS => {
                self.advance();
                Ok(ShowWhat::Columns { extended, full, table: self.shown_table()? })
            }
            Keyword::INDEX | Keyword::INDEXES | Keyword::KEYS if !full => {
                self.advance();
                Ok(ShowWhat::Index { extended, table: self.shown_table()? })
            }
            Keyword::TRIGGERS if !extended => {
                self.advance();
                Ok(ShowWhat::Triggers { full, database: self.optional_database()? })
            }
            Keyword::PROCESSLIST if !extended => {
                self.advance();
                Ok(ShowWhat::ProcessList { full })
            }
            _ => self.fail(),
        }
    }

    /// `[FROM | IN database]`.
    fn optional_database(&mut self) -> Parsed<Option<Name>> {
        if self.accept_any(&[Keyword::FROM, Keyword::IN]).is_some() {
            Ok(Some(self.database_name()?))
        } else {
            Ok(None)
        }
    }

    /// `FROM table [FROM database]`.
    fn shown_table(&mut self) -> Parsed<ObjectName> {
        self.expect_any(&[Keyword::FROM, Keyword::IN])?;
        let mut table = self.table_name()?;
        if let Some(database) = self.optional_database()? {
            table.schema = Some(database);
        }
        Ok(table)
    }

    fn show_create(&mut self) -> Parsed<ShowWhat> {
        let start = self.token.start;
        let keyword = self.token.keyword;
        self.advance();
        Ok(match keyword {
            Keyword::TABLE => ShowWhat::CreateTable(self.table_name()?),
            Keyword::VIEW => ShowWhat::CreateView(self.table_name()?),
            Keyword::DATABASE | Keyword::SCHEMA => {
                ShowWhat::CreateDatabase { if_not_exists: self.if_not_exists()?, name: self.database_name()? }
            }
            Keyword::PROCEDURE => ShowWhat::CreateProcedure(self.object_name()?),
            Keyword::FUNCTION => ShowWhat::CreateFunction(self.object_name()?),
            Keyword::TRIGGER => ShowWhat::CreateTrigger(self.object_name()?),
            Keyword::EVENT => ShowWhat::CreateEvent(self.object_name()?),
            Keyword::USER => ShowWhat::CreateUser(self.account()?),
            _ => return Err(super::Rejected(start)),
        })
    }

    fn show_routine(&mut self) -> Parsed<ShowWhat> {
        let function = self.advance().keyword == Keyword::FUNCTION;
        Ok(match (self.expect_any(&[Keyword::STATUS, Keyword::CODE])?, function) {
            (Keyword::STATUS, true) => ShowWhat::FunctionStatus,
            (Keyword::STATUS, false) => ShowWhat::ProcedureStatus,
            (_, true) => ShowWhat::FunctionCode(self.object_name()?),
            (_, false) => ShowWhat::ProcedureCode(self.object_name()?),
        })
    }

    fn show_diagnostics(&mut self) -> Parsed<ShowWhat> {
        if self.accept(Keyword::COUNT) {
            for symbol in *b"(*)" {
                self.expect_symbol(symbol)?;
            }
            return Ok(match self.expect_any(&[Keyword::WARNINGS, Keyword::ERRORS])? {
                Keyword::WARNINGS => ShowWhat::CountWarnings,
                _ => ShowWhat::CountErrors,
            });
        }
        let warnings = self.advance().keyword == Keyword::WARNINGS;
        let limit = self.optional_limit()?;
        Ok(if warnings { ShowWhat::Warnings { limit } } else { ShowWhat::Errors { limit } })
    }

    fn show_named(&mut self) -> Parsed<ShowWhat> {
        match self.advance().keyword {
            Keyword::ENGINE => {
                let name = if self.accept(Keyword::ALL) { None } else { Some(self.name_or_string()?) };
                let what = match self.expect_any(&[Keyword::STATUS, Keyword::MUTEX, Keyword::LOGS])? {
                    Keyword::STATUS => EngineInfo::Status,
                    Keyword::MUTEX => EngineInfo::Mutex,
                    _ => EngineInfo::Logs,
                };
                Ok(ShowWhat::Engine { name, what })
            }
            Keyword::GRANTS => {
                let user = if self.accept(Keyword::FOR) { Some(self.account()?) } else { None };
                let roles = if user.is_some() && self.accept(Keyword::USING) {
                    self.list(Self::account)?
                } else {
                    Vec::new()
                };
                Ok(ShowWhat::Grants { user, roles })
            }
            _ => self.show_profile(),
        }
    }

    fn show_profile(&mut self) -> Parsed<ShowWhat> {
        self.note(Deprecated::ShowProfile);
        let mut types = Vec::new();
        if !self.is_any(&[Keyword::FOR, Keyword::LIMIT]) && self.is_kind(TokenKind::Word) {
            types = self.list(|p| {
                let start = p.token.start;
                let first = p.upper_word()?;
                let second = match first.as_str() {
                    "BLOCK" => Some(Keyword::IO),
                    "CONTEXT" | "PAGE" => {
                        Some(if first == "PAGE" { Keyword::FAULTS } else { Keyword::SWITCHES })
                    }
                    "ALL" | "CPU" | "IPC" | "MEMORY" | "SOURCE" | "SWAPS" => None,
                    _ => return Err(super::Rejected(start)),
                };
                match second {
                    Some(second) => {
                        p.expect(second)?;
                        Ok(format!("{first} {}", second.text()))
                    }
                    None => Ok(first),
                }
            })?;
        }
        let mut query = None;
        if self.accept(Keyword::FOR) {
            self.expect(Keyword::QUERY)?;
            query = Some(self.unsigned()?);
        }
        Ok(ShowWhat::Profile { types, query, limit: self.optional_limit()? })
    }

    fn show_replication(&mut self) -> Parsed<ShowWhat> {
        match self.advance().keyword {
            Keyword::BINARY => {
                if self.accept(Keyword::LOG) {
                    self.expect(Keyword::STATUS)?;
                    return Ok(ShowWhat::BinaryLogStatus);
                }
                self.expect(Keyword::LOGS)?;
                Ok(ShowWhat::BinaryLogs)
            }
            Keyword::REPLICAS => Ok(ShowWhat::Replicas),
            Keyword::REPLICA => {
                self.expect(Keyword::STATUS)?;
                Ok(ShowWhat::ReplicaStatus { channel: self.optional_channel()? })
            }
            keyword => {
                self.expect(Keyword::EVENTS)?;
                let log = if self.accept(Keyword::IN) { Some(self.string()?) } else { None };
                let position = if self.accept(Keyword::FROM) { Some(self.unsigned()?) } else { None };
                let limit = self.optional_limit()?;
                let relay = keyword == Keyword::RELAYLOG;
                let channel = if relay { self.optional_channel()? } else { None };
                Ok(ShowWhat::BinlogEvents { relay, log, position, limit, channel })
            }
        }
    }

    /// `[FOR CHANNEL 'x']`.
    pub(super) fn optional_channel(&mut self) -> Parsed<Option<Vec<u8>>> {
        if !self.accept(Keyword::FOR) {
            return Ok(None);
        }
        self.expect(Keyword::CHANNEL)?;
        Ok(Some(self.string()?))
    }

    /// DESCRIBE, DESC, EXPLAIN: of a table or of a statement.
    pub(super) fn describe(&mut self) -> Parsed<Statement> {
        self.advance();
        let next = self.peek().kind;
        let explains = match self.token.keyword {
            Keyword::ANALYZE | Keyword::FOR => true,
            Keyword::FORMAT => next == TokenKind::Symbol(b'='),
            Keyword::INTO => true,
            _ => self.is_explainable(),
        };
        if explains {
            return self.explain();
        }
        let table = self.table_name()?;
        let pattern = match self.token.kind {
            TokenKind::String => Some(self.string()?),
            _ if self.is_name() => Some(self.name()?.into_bytes()),
            _ => None,
        };
        Ok(Statement::Describe(Describe { table, pattern }))
    }

    pub(super) fn is_explainable(&self) -> bool {
        self.is_symbol(b'(')
            || self.is_any(&[
                Keyword::SELECT,
                Keyword::TABLE,
                Keyword::VALUES,
                Keyword::WITH,
                Keyword::INSERT,
                Keyword::REPLACE,
                Keyword::UPDATE,
                Keyword::DELETE,
            ])
    }

    fn explain(&mut self) -> Parsed<Statement> {
        let analyze = self.accept(Keyword::ANALYZE);
        let mut format = None;
        if self.accept(Keyword::FORMAT) {
            self.expect_symbol(b'=')?;
            let name = self.name_or_string()?;
            format = Some(match name.to_ascii_lowercase().as_str() {
                "traditional" => ExplainFormat::Traditional,
                "json" => ExplainFormat::Json,
                "tree" => ExplainFormat::Tree,
                _ => ExplainFormat::Unknown(name),
            });
        }
        let into = if self.accept(Keyword::INTO) { Some(self.assigned_variable()?) } else { None };
        let mut schema = None;
        if self.accept(Keyword::FOR) {
            if self.accept(Keyword::CONNECTION) {
                let target = ExplainTarget::Connection(self.unsigned()?);
                let at = self.token.start;
                return Ok(Statement::Explain(Box::new(Explain {
                    analyze,
                    format,
                    into,
                    schema,
                    at,
                    target,
                })));
            }
            self.expect_any(&[Keyword::SCHEMA, Keyword::DATABASE])?;
            schema = Some(self.name()?);
        }
        if !self.is_explainable() {
            return self.fail();
        }
        let at = self.token.start;
        let target = ExplainTarget::Statement(Box::new(self.statement()?));
        Ok(Statement::Explain(Box::new(Explain { analyze, format, into, schema, at, target })))
    }

    pub(super) fn help(&mut self) -> Parsed<Statement> {
        self.advance();
        Ok(Statement::Help(self.name_or_string()?.into_bytes()))
    }

    pub(super) fn use_database(&mut self) -> Parsed<Statement> {
        self.advance();
        Ok(Statement::Use(self.name()?))
    }
}
