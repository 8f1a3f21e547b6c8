//! Prepared statements, diagnostics, maintenance, FLUSH, KILL, INSTALL.

use super::statement::ends_statement;
use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{
    CacheIndex, ColumnName, Execute, Expr, Flush, FlushTarget, GetDiagnostics, Histogram, Install, Kill,
    MaintenanceKind, Prepare, PrepareSource, Signal, SignalCondition, Statement, TableMaintenance,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    pub(super) fn prepare(&mut self) -> Parsed<Statement> {
        self.advance();
        let name = self.name()?;
        self.expect(Keyword::FROM)?;
        let source = if self.is_symbol(b'@') {
            PrepareSource::UserVariable(self.user_variable()?)
        } else {
            PrepareSource::Text(self.string()?)
        };
        Ok(Statement::Prepare(Prepare { name, source }))
    }

    pub(super) fn execute(&mut self) -> Parsed<Statement> {
        self.advance();
        let name = self.name()?;
        let variables =
            if self.accept(Keyword::USING) { self.list(Self::user_variable)? } else { Vec::new() };
        Ok(Statement::Execute(Execute { name, variables }))
    }

    pub(super) fn deallocate(&mut self) -> Parsed<Statement> {
        self.advance();
        self.expect(Keyword::PREPARE)?;
        Ok(Statement::Deallocate(self.name()?))
    }

    /// GET [CURRENT | STACKED] DIAGNOSTICS.
    pub(super) fn get_diagnostics(&mut self) -> Parsed<Statement> {
        self.advance();
        let stacked = self.accept_any(&[Keyword::CURRENT, Keyword::STACKED]) == Some(Keyword::STACKED);
        self.expect(Keyword::DIAGNOSTICS)?;
        let condition = if self.accept(Keyword::CONDITION) { Some(self.value_of_condition()?) } else { None };
        let items = self.list(|p| {
            let target = p.target_variable()?;
            p.expect_symbol(b'=')?;
            let start = p.token.start;
            let item = p.upper_word()?;
            let known = match condition.is_some() {
                true => CONDITION_ITEMS.contains(&item.as_str()) || item == "RETURNED_SQLSTATE",
                false => item == "NUMBER" || item == "ROW_COUNT",
            };
            if known { Ok((target, item)) } else { Err(super::Rejected(start)) }
        })?;
        Ok(Statement::GetDiagnostics(GetDiagnostics { stacked, condition, items }))
    }

    /// SIGNAL and RESIGNAL.
    pub(super) fn signal(&mut self) -> Parsed<Statement> {
        let resignal = self.advance().keyword == Keyword::RESIGNAL;
        let condition = if self.accept(Keyword::SQLSTATE) {
            self.accept(Keyword::VALUE);
            Some(SignalCondition::SqlState(self.string()?))
        } else if self.is_name() {
            Some(SignalCondition::Name(self.name()?))
        } else if resignal {
            None
        } else {
            return self.fail();
        };
        let mut items = Vec::new();
        if self.accept(Keyword::SET) {
            items = self.list(|p| {
                let start = p.token.start;
                let item = p.upper_word()?;
                if !CONDITION_ITEMS.contains(&item.as_str()) {
                    return Err(super::Rejected(start));
                }
                p.expect_symbol(b'=')?;
                Ok((item, p.value_of_condition()?))
            })?;
        }
        Ok(Statement::Signal(Signal { resignal, condition, items }))
    }

    /// What may stand in SIGNAL and GET DIAGNOSTICS: a literal, a variable, a name.
    fn value_of_condition(&mut self) -> Parsed<Expr> {
        let start = self.token.start;
        let expr = match self.token.kind {
            TokenKind::Word if self.token.keyword == Keyword::None => return self.name_alone(),
            TokenKind::QuotedName => return self.name_alone(),
            TokenKind::Symbol(symbol) if symbol != b'@' => return self.fail(),
            _ => self.primary()?,
        };
        match expr {
            Expr::Literal(_) | Expr::UserVariable(_) | Expr::SystemVariable(_) => Ok(expr),
            _ => Err(super::Rejected(start)),
        }
    }

    fn name_alone(&mut self) -> Parsed<Expr> {
        let column = self.name()?;
        Ok(Expr::Column(ColumnName { schema: None, table: None, column }))
    }

    /// ANALYZE, CHECK, CHECKSUM, OPTIMIZE, REPAIR TABLE.
    pub(super) fn maintenance(&mut self) -> Parsed<Statement> {
        let kind = match self.advance().keyword {
            Keyword::ANALYZE => MaintenanceKind::Analyze,
            Keyword::CHECK => MaintenanceKind::Check,
            Keyword::CHECKSUM => MaintenanceKind::Checksum,
            Keyword::OPTIMIZE => MaintenanceKind::Optimize,
            _ => MaintenanceKind::Repair,
        };
        let logs =
            matches!(kind, MaintenanceKind::Analyze | MaintenanceKind::Optimize | MaintenanceKind::Repair);
        let no_binlog = logs && self.accept_any(&[Keyword::NO_WRITE_TO_BINLOG, Keyword::LOCAL]).is_some();
        self.expect_any(&[Keyword::TABLE, Keyword::TABLES])?;
        let tables = self.list(Self::table_name)?;
        let (mut options, mut histogram) = (Vec::new(), None);
        match kind {
            MaintenanceKind::Analyze => histogram = self.optional_histogram()?,
            MaintenanceKind::Checksum => {
                if let Some(option) = self.accept_any(&[Keyword::QUICK, Keyword::EXTENDED]) {
                    options.push(option.text().to_owned());
                }
            }
            MaintenanceKind::Check | MaintenanceKind::Repair => options = self.check_options()?,
            MaintenanceKind::Optimize => {}
        }
        Ok(Statement::TableMaintenance(TableMaintenance { kind, no_binlog, tables, options, histogram }))
    }

    fn optional_histogram(&mut self) -> Parsed<Option<Histogram>> {
        let Some(verb) = self.accept_any(&[Keyword::UPDATE, Keyword::DROP]) else {
            return Ok(None);
        };
        self.expect_all(&[Keyword::HISTOGRAM, Keyword::ON])?;
        let columns = self.list(Self::name)?;
        if verb == Keyword::DROP {
            return Ok(Some(Histogram::Drop { columns }));
        }
        let (mut buckets, mut data, mut auto_update) = (None, None, None);
        if self.accept(Keyword::USING) {
            self.expect(Keyword::DATA)?;
            data = Some(self.string()?);
        } else {
            if self.accept(Keyword::WITH) {
                buckets = Some(self.unsigned()?);
                self.expect(Keyword::BUCKETS)?;
            }
            if let Some(how) = self.accept_any(&[Keyword::AUTO, Keyword::MANUAL]) {
                self.expect(Keyword::UPDATE)?;
                auto_update = Some(how == Keyword::AUTO);
            }
        }
        Ok(Some(Histogram::Update { columns, buckets, data, auto_update }))
    }

    pub(super) fn kill(&mut self) -> Parsed<Statement> {
        self.advance();
        let query_only = self.accept_any(&[Keyword::QUERY, Keyword::CONNECTION]) == Some(Keyword::QUERY);
        Ok(Statement::Kill(Kill { query_only, id: self.expr()? }))
    }

    pub(super) fn flush(&mut self) -> Parsed<Statement> {
        self.advance();
        let no_binlog = self.accept_any(&[Keyword::NO_WRITE_TO_BINLOG, Keyword::LOCAL]).is_some();
        if self.accept_any(&[Keyword::TABLES, Keyword::TABLE]).is_some() {
            let what = vec![self.flush_tables()?];
            return Ok(Statement::Flush(Flush { no_binlog, what }));
        }
        let what = self.list(Self::flush_target)?;
        Ok(Statement::Flush(Flush { no_binlog, what }))
    }

    fn flush_tables(&mut self) -> Parsed<FlushTarget> {
        let tables = if self.is_name() { self.list(Self::table_name)? } else { Vec::new() };
        let with_read_lock = self.accept(Keyword::WITH);
        if with_read_lock {
            self.expect_all(&[Keyword::READ, Keyword::LOCK])?;
        }
        let for_export = !with_read_lock && !tables.is_empty() && self.accept(Keyword::FOR);
        if for_export {
            self.expect(Keyword::EXPORT)?;
        }
        Ok(FlushTarget::Tables { tables, with_read_lock, for_export })
    }

    fn flush_target(&mut self) -> Parsed<FlushTarget> {
        let start = self.token.start;
        let keyword = self.token.keyword;
        self.advance();
        Ok(match keyword {
            Keyword::PRIVILEGES => {
                self.note(Deprecated::FlushPrivileges);
                FlushTarget::Privileges
            }
            Keyword::STATUS => FlushTarget::Status,
            Keyword::USER_RESOURCES => FlushTarget::UserResources,
            Keyword::OPTIMIZER_COSTS => FlushTarget::OptimizerCosts,
            Keyword::LOGS => FlushTarget::Logs(None),
            Keyword::BINARY | Keyword::ENGINE | Keyword::ERROR | Keyword::GENERAL | Keyword::SLOW => {
                self.expect(Keyword::LOGS)?;
                FlushTarget::Logs(Some(keyword.text().to_owned()))
            }
            Keyword::RELAY => {
                self.expect(Keyword::LOGS)?;
                FlushTarget::RelayLogs(self.optional_channel()?)
            }
            _ => return Err(super::Rejected(start)),
        })
    }

    /// INSTALL and UNINSTALL.
    pub(super) fn install(&mut self) -> Parsed<Statement> {
        let install = self.advance().keyword == Keyword::INSTALL;
        let plugin = self.expect_any(&[Keyword::PLUGIN, Keyword::COMPONENT])? == Keyword::PLUGIN;
        let what = if plugin {
            let name = self.name()?;
            let mut library = Vec::new();
            if install {
                self.expect(Keyword::SONAME)?;
                library = self.string()?;
            }
            Install::Plugin { name, library }
        } else {
            let urns = self.list(Self::string)?;
            let set = if install && self.accept(Keyword::SET) { self.assignments()? } else { Vec::new() };
            Install::Component { urns, set }
        };
        Ok(if install { Statement::Install(what) } else { Statement::Uninstall(what) })
    }

    /// CACHE INDEX.
    pub(super) fn cache_index(&mut self) -> Parsed<Statement> {
        self.advance();
        self.expect(Keyword::INDEX)?;
        let tables = self.list(Self::cached_table)?;
        self.expect(Keyword::IN)?;
        let cache = if self.accept(Keyword::DEFAULT) { None } else { Some(self.name()?) };
        Ok(Statement::CacheIndex(CacheIndex { tables, cache }))
    }

    /// IMPORT TABLE FROM.
    pub(super) fn import_table(&mut self) -> Parsed<Statement> {
        self.advance();
        self.expect_all(&[Keyword::TABLE, Keyword::FROM])?;
        Ok(Statement::ImportTable(self.list(Self::string)?))
    }

    /// SHUTDOWN and RESTART, which are nothing but a word.
    pub(super) fn one_word(&mut self, statement: Statement) -> Parsed<Statement> {
        self.advance();
        if ends_statement(self.token.kind) { Ok(statement) } else { self.fail() }
    }

    /// BINLOG 'base64'.
    pub(super) fn binlog(&mut self) -> Parsed<Statement> {
        self.advance();
        match self.token.kind {
            TokenKind::String => Ok(Statement::Binlog(self.string()?)),
            _ => self.fail(),
        }
    }
}

const CONDITION_ITEMS: &[&str] = &[
    "CLASS_ORIGIN",
    "SUBCLASS_ORIGIN",
    "CONSTRAINT_CATALOG",
    "CONSTRAINT_SCHEMA",
    "CONSTRAINT_NAME",
    "CATALOG_NAME",
    "SCHEMA_NAME",
    "TABLE_NAME",
    "COLUMN_NAME",
    "CURSOR_NAME",
    "MESSAGE_TEXT",
    "MYSQL_ERRNO",
];
