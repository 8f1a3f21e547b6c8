//! CREATE, ALTER and DROP of everything that is not a table: databases, views, tablespaces, servers.

use super::{Parsed, Parser};
use crate::ast::{
    Account, AlterDatabase, CheckOption, CreateDatabase, CreateLoadableFunction, CreateView, DatabaseOptions,
    DropDatabase, DropTable, DropView, IndexKind, Name, OptionValue, ServerStatement, Statement, Tablespace,
    TablespaceAction,
};
use crate::lexer::{Keyword, TokenKind};

/// What may stand between CREATE and the kind of object.
#[derive(Default)]
struct Preamble {
    or_replace: bool,
    algorithm: Option<Name>,
    definer: Option<Account>,
    sql_security_invoker: Option<bool>,
    /// Whether any of the above was there that only a view can have.
    view_only: bool,
}

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.is_binding() {
            return self.binding(true);
        }
        let preamble = self.preamble()?;
        let start = self.token.start;
        let keyword = self.token.keyword;
        if keyword != Keyword::VIEW && preamble.view_only {
            return self.fail();
        }
        self.advance();
        match keyword {
            Keyword::VIEW => self.create_view(preamble, false),
            Keyword::TRIGGER => self.create_trigger(preamble.definer),
            Keyword::PROCEDURE => self.create_procedure(preamble.definer),
            Keyword::FUNCTION => self.create_function(preamble.definer),
            Keyword::EVENT => self.create_event(preamble.definer),
            _ if preamble.definer.is_some() => Err(super::Rejected(start)),
            Keyword::TABLE => self.create_table(false),
            Keyword::TEMPORARY => {
                self.expect(Keyword::TABLE)?;
                self.create_table(true)
            }
            Keyword::INDEX => self.create_index(IndexKind::Plain),
            Keyword::UNIQUE | Keyword::FULLTEXT | Keyword::SPATIAL => {
                self.expect(Keyword::INDEX)?;
                self.create_index(match keyword {
                    Keyword::UNIQUE => IndexKind::Unique,
                    Keyword::FULLTEXT => IndexKind::FullText,
                    _ => IndexKind::Spatial,
                })
            }
            Keyword::DATABASE | Keyword::SCHEMA => {
                let if_not_exists = self.if_not_exists()?;
                let name = self.database_name()?;
                let options = self.database_options()?;
                Ok(Statement::CreateDatabase(CreateDatabase { if_not_exists, name, options }))
            }
            Keyword::USER => self.create_user(),
            Keyword::ROLE => self.create_role(),
            Keyword::SERVER => self.create_server(),
            Keyword::AGGREGATE => {
                self.expect(Keyword::FUNCTION)?;
                self.create_loadable_function(true)
            }
            Keyword::TABLESPACE | Keyword::UNDO | Keyword::LOGFILE => {
                self.tablespace(keyword, TablespaceAction::Create)
            }
            Keyword::RESOURCE => self.resource_group(Keyword::CREATE),
            _ => Err(super::Rejected(start)),
        }
    }

    /// `[OR REPLACE] [ALGORITHM = x] [DEFINER = user] [SQL SECURITY x]`.
    fn preamble(&mut self) -> Parsed<Preamble> {
        let mut preamble = Preamble::default();
        if self.accept(Keyword::OR) {
            self.expect(Keyword::REPLACE)?;
            (preamble.or_replace, preamble.view_only) = (true, true);
        }
        if self.accept(Keyword::ALGORITHM) {
            self.expect_symbol(b'=')?;
            let algorithm = self.expect_any(&[Keyword::UNDEFINED, Keyword::MERGE, Keyword::TEMPTABLE])?;
            preamble.algorithm = Some(algorithm.text().to_owned());
            preamble.view_only = true;
        }
        preamble.definer = self.optional_definer()?;
        if self.accept(Keyword::SQL) {
            self.expect(Keyword::SECURITY)?;
            let security = self.expect_any(&[Keyword::DEFINER, Keyword::INVOKER])?;
            preamble.sql_security_invoker = Some(security == Keyword::INVOKER);
            preamble.view_only = true;
        }
        Ok(preamble)
    }

    pub(super) fn optional_definer(&mut self) -> Parsed<Option<Account>> {
        if !self.accept(Keyword::DEFINER) {
            return Ok(None);
        }
        self.expect_symbol(b'=')?;
        Ok(Some(self.account()?))
    }

    fn create_view(&mut self, preamble: Preamble, alter: bool) -> Parsed<Statement> {
        let if_not_exists = !alter && !preamble.or_replace && self.if_not_exists()?;
        let name = self.table_name()?;
        let columns = self.optional_names()?;
        self.expect(Keyword::AS)?;
        let start = self.token.start;
        let query = Box::new(self.query()?);
        let query_text = self.text_since(start).to_vec();
        let mut check_option = None;
        if self.accept(Keyword::WITH) {
            check_option = Some(match self.accept_any(&[Keyword::CASCADED, Keyword::LOCAL]) {
                Some(Keyword::LOCAL) => CheckOption::Local,
                _ => CheckOption::Cascaded,
            });
            self.expect_all(&[Keyword::CHECK, Keyword::OPTION])?;
        }
        let Preamble { or_replace, algorithm, definer, sql_security_invoker, .. } = preamble;
        Ok(Statement::CreateView(Box::new(CreateView {
            alter,
            or_replace,
            algorithm,
            definer,
            sql_security_invoker,
            if_not_exists,
            name,
            columns,
            query,
            query_text,
            check_option,
        })))
    }

    pub(super) fn alter(&mut self) -> Parsed<Statement> {
        self.advance();
        let preamble = self.preamble()?;
        let start = self.token.start;
        let keyword = self.token.keyword;
        if preamble.or_replace || (keyword != Keyword::VIEW && preamble.view_only) {
            return self.fail();
        }
        self.advance();
        match keyword {
            Keyword::VIEW => self.create_view(preamble, true),
            Keyword::EVENT => self.alter_event(preamble.definer),
            _ if preamble.definer.is_some() => Err(super::Rejected(start)),
            Keyword::TABLE => self.alter_table(),
            Keyword::DATABASE | Keyword::SCHEMA => {
                let name = if self.is_name() && !self.is_database_option() {
                    Some(self.database_name()?)
                } else {
                    None
                };
                let at = self.token.start;
                let options = self.database_options()?;
                if options == DatabaseOptions::default() {
                    return Err(super::Rejected(at));
                }
                Ok(Statement::AlterDatabase(AlterDatabase { name, options }))
            }
            Keyword::PROCEDURE | Keyword::FUNCTION => self.alter_routine(keyword == Keyword::FUNCTION),
            Keyword::USER => self.alter_user(),
            Keyword::SERVER => {
                let name = self.name_or_string()?;
                Ok(Statement::Server(ServerStatement::Alter { name, options: self.server_options()? }))
            }
            Keyword::TABLESPACE | Keyword::UNDO | Keyword::LOGFILE => {
                self.tablespace(keyword, TablespaceAction::Alter)
            }
            Keyword::INSTANCE => self.alter_instance(),
            Keyword::RESOURCE => self.resource_group(Keyword::ALTER),
            _ => Err(super::Rejected(start)),
        }
    }

    fn is_database_option(&self) -> bool {
        let next = self.peek();
        match self.token.keyword {
            Keyword::CHARSET | Keyword::ENCRYPTION => {
                next.kind != TokenKind::End && !matches!(next.keyword, Keyword::CHARACTER | Keyword::COLLATE)
            }
            _ => false,
        }
    }

    fn database_options(&mut self) -> Parsed<DatabaseOptions> {
        let mut options = DatabaseOptions::default();
        loop {
            let default = self.accept(Keyword::DEFAULT);
            match self.token.keyword {
                Keyword::CHARACTER | Keyword::CHAR | Keyword::CHARSET => {
                    if !self.accept(Keyword::CHARSET) {
                        self.advance();
                        self.expect(Keyword::SET)?;
                    }
                    self.accept_equal();
                    options.charset = Some(self.charset_name()?);
                }
                Keyword::COLLATE => {
                    self.advance();
                    self.accept_equal();
                    options.collation = Some(self.collation_name()?);
                }
                Keyword::ENCRYPTION => {
                    self.advance();
                    self.accept_equal();
                    options.encryption = Some(self.string()?);
                }
                Keyword::READ if !default => {
                    self.advance();
                    self.expect(Keyword::ONLY)?;
                    self.accept_equal();
                    let zero = self.accept(Keyword::DEFAULT);
                    options.read_only = Some(!zero && self.unsigned()? != 0);
                }
                _ if default => return self.fail(),
                _ => return Ok(options),
            }
        }
    }

    pub(super) fn drop(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.is_binding() {
            return self.binding(false);
        }
        let start = self.token.start;
        let keyword = self.token.keyword;
        self.advance();
        match keyword {
            Keyword::TABLE | Keyword::TABLES => self.drop_table(false),
            Keyword::TEMPORARY => {
                self.expect_any(&[Keyword::TABLE, Keyword::TABLES])?;
                self.drop_table(true)
            }
            Keyword::INDEX => self.drop_index(),
            Keyword::DATABASE | Keyword::SCHEMA => Ok(Statement::DropDatabase(DropDatabase {
                if_exists: self.if_exists()?,
                name: self.database_name()?,
            })),
            Keyword::VIEW => {
                let if_exists = self.if_exists()?;
                let views = self.list(Self::table_name)?;
                self.accept_any(&[Keyword::RESTRICT, Keyword::CASCADE]);
                Ok(Statement::DropView(DropView { if_exists, views }))
            }
            Keyword::PROCEDURE | Keyword::FUNCTION | Keyword::TRIGGER | Keyword::EVENT => {
                self.drop_stored(keyword)
            }
            Keyword::USER => Ok(Statement::DropUser(self.drop_accounts()?)),
            Keyword::ROLE => Ok(Statement::DropRole(self.drop_accounts()?)),
            Keyword::PREPARE => Ok(Statement::Deallocate(self.name()?)),
            Keyword::SERVER => {
                let if_exists = self.if_exists()?;
                Ok(Statement::Server(ServerStatement::Drop { name: self.name_or_string()?, if_exists }))
            }
            Keyword::TABLESPACE | Keyword::UNDO | Keyword::LOGFILE => {
                self.tablespace(keyword, TablespaceAction::Drop)
            }
            Keyword::SPATIAL => self.fail(),
            Keyword::RESOURCE => self.resource_group(Keyword::DROP),
            _ => Err(super::Rejected(start)),
        }
    }

    fn drop_table(&mut self, temporary: bool) -> Parsed<Statement> {
        let if_exists = self.if_exists()?;
        let tables = self.list(Self::table_name)?;
        self.accept_any(&[Keyword::RESTRICT, Keyword::CASCADE]);
        Ok(Statement::DropTable(DropTable { temporary, if_exists, tables }))
    }

    /// RENAME: tables or users.
    pub(super) fn rename(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.expect_any(&[Keyword::TABLE, Keyword::TABLES, Keyword::USER])? == Keyword::USER {
            return self.rename_user();
        }
        Ok(Statement::RenameTable(self.list(|p| {
            let old = p.table_name()?;
            p.expect(Keyword::TO)?;
            Ok((old, p.table_name()?))
        })?))
    }

    /// Behind CREATE, ALTER or DROP and TABLESPACE, UNDO or LOGFILE.
    fn tablespace(&mut self, first: Keyword, action: TablespaceAction) -> Parsed<Statement> {
        match first {
            Keyword::UNDO => self.expect(Keyword::TABLESPACE)?,
            Keyword::LOGFILE => self.expect(Keyword::GROUP)?,
            _ => {}
        }
        let mut space = Tablespace {
            action,
            undo: first == Keyword::UNDO,
            logfile_group: first == Keyword::LOGFILE,
            name: self.name()?,
            file: None,
            rename_to: None,
            active: None,
            options: Vec::new(),
        };
        if action == TablespaceAction::Alter && self.accept(Keyword::RENAME) {
            self.expect(Keyword::TO)?;
            space.rename_to = Some(self.name()?);
        } else if action == TablespaceAction::Alter && self.accept(Keyword::SET) {
            space.active = Some(self.expect_any(&[Keyword::ACTIVE, Keyword::INACTIVE])? == Keyword::ACTIVE);
        } else if action != TablespaceAction::Drop
            && let Some(keyword) = self.accept_any(&[Keyword::ADD, Keyword::DROP])
        {
            self.expect_any(&[Keyword::DATAFILE, Keyword::UNDOFILE])?;
            space.file = Some((keyword == Keyword::ADD, self.string()?));
        }
        if action == TablespaceAction::Create && self.accept(Keyword::USE) {
            self.expect_all(&[Keyword::LOGFILE, Keyword::GROUP])?;
            space.options.push(("USE LOGFILE GROUP".to_owned(), OptionValue::Word(self.name()?)));
        }
        while let Some(option) = self.optional_tablespace_option()? {
            space.options.push(option);
            self.accept_symbol(b',');
        }
        Ok(Statement::Tablespace(space))
    }

    fn optional_tablespace_option(&mut self) -> Parsed<Option<(Name, OptionValue)>> {
        self.accept(Keyword::STORAGE);
        let names = &[
            Keyword::ENGINE,
            Keyword::FILE_BLOCK_SIZE,
            Keyword::ENCRYPTION,
            Keyword::AUTOEXTEND_SIZE,
            Keyword::ENGINE_ATTRIBUTE,
            Keyword::INITIAL_SIZE,
            Keyword::EXTENT_SIZE,
            Keyword::MAX_SIZE,
            Keyword::UNDO_BUFFER_SIZE,
            Keyword::REDO_BUFFER_SIZE,
            Keyword::NODEGROUP,
            Keyword::COMMENT,
        ];
        if self.accept(Keyword::WAIT) {
            return Ok(Some(("WAIT".to_owned(), OptionValue::Number(1))));
        }
        if self.accept(Keyword::NO_WAIT) {
            return Ok(Some(("WAIT".to_owned(), OptionValue::Number(0))));
        }
        let Some(name) = self.accept_any(names) else {
            return Ok(None);
        };
        self.accept_equal();
        Ok(Some((name.text().to_owned(), self.option_value()?)))
    }

    fn create_server(&mut self) -> Parsed<Statement> {
        let name = self.name_or_string()?;
        self.expect_all(&[Keyword::FOREIGN])?;
        if self.upper_word()? != "DATA" {
            return self.fail();
        }
        self.expect(Keyword::WRAPPER)?;
        let wrapper = self.name_or_string()?;
        Ok(Statement::Server(ServerStatement::Create { name, wrapper, options: self.server_options()? }))
    }

    /// `OPTIONS (HOST 'x', PORT 1, ...)`.
    fn server_options(&mut self) -> Parsed<Vec<(Name, OptionValue)>> {
        self.expect(Keyword::OPTIONS)?;
        self.parenthesised_list(|p| {
            let name = p.upper_word()?;
            let value = match p.token.kind {
                TokenKind::String => OptionValue::Text(p.string()?),
                _ => OptionValue::Number(p.unsigned()?),
            };
            Ok((name, value))
        })
    }

    /// Behind CREATE [AGGREGATE] FUNCTION, when RETURNS and SONAME follow.
    pub(super) fn create_loadable_function(&mut self, aggregate: bool) -> Parsed<Statement> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.name()?;
        self.expect(Keyword::RETURNS)?;
        let kinds = &[Keyword::STRING, Keyword::REAL, Keyword::DECIMAL, Keyword::INT, Keyword::INTEGER];
        let returns = match self.expect_any(kinds)? {
            Keyword::INT => Keyword::INTEGER,
            other => other,
        };
        self.expect(Keyword::SONAME)?;
        Ok(Statement::CreateLoadableFunction(CreateLoadableFunction {
            aggregate,
            if_not_exists,
            name,
            returns: returns.text().to_owned(),
            library: self.string()?,
        }))
    }
}
