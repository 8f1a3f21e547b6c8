//! Replication, binary logs, CLONE, ALTER INSTANCE, resource groups.

use super::{Parsed, Parser};
use crate::ast::{
    AlterInstance, CloneStatement, Name, OptionValue, PurgeLogs, Replication, Reset, ResourceGroup, Statement,
};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// CHANGE REPLICATION SOURCE TO and FILTER.
    pub(super) fn change(&mut self) -> Parsed<Statement> {
        self.advance();
        self.expect(Keyword::REPLICATION)?;
        let replication = match self.expect_any(&[Keyword::SOURCE, Keyword::FILTER])? {
            Keyword::SOURCE => {
                self.expect(Keyword::TO)?;
                let options = self.list(|p| {
                    let name = p.upper_word()?;
                    p.expect_symbol(b'=')?;
                    Ok((name, p.source_value()?))
                })?;
                Replication::ChangeSource { options, channel: self.optional_channel()? }
            }
            _ => {
                let filters = self.list(Self::filter)?;
                Replication::ChangeFilter { filters, channel: self.optional_channel()? }
            }
        };
        Ok(Statement::Replication(replication))
    }

    fn source_value(&mut self) -> Parsed<OptionValue> {
        match self.token.kind {
            // IGNORE_SERVER_IDS = (1, 2).
            TokenKind::Symbol(b'(') => Ok(OptionValue::Text(self.balanced()?)),
            // The heartbeat period may have a fraction; a user may have a host.
            TokenKind::Decimal => {
                let token = self.advance();
                Ok(OptionValue::Text(self.bytes(token).to_vec()))
            }
            TokenKind::String => {
                let mut text = self.string()?;
                if self.accept_symbol(b'@') {
                    text.push(b'@');
                    text.extend_from_slice(self.variable_after_at()?.as_bytes());
                }
                Ok(OptionValue::Text(text))
            }
            _ => self.option_value(),
        }
    }

    fn filter(&mut self) -> Parsed<(Name, Vec<u8>)> {
        let name = self.upper_word()?;
        self.expect_symbol(b'=')?;
        Ok((name, self.balanced()?))
    }

    /// The text between a parenthesis and the one that closes it.
    fn balanced(&mut self) -> Parsed<Vec<u8>> {
        self.expect_symbol(b'(')?;
        let start = self.token.start;
        let mut open = 1u32;
        loop {
            match self.token.kind {
                TokenKind::Symbol(b'(') => open += 1,
                TokenKind::Symbol(b')') => open -= 1,
                TokenKind::End | TokenKind::Invalid | TokenKind::Symbol(b';') => return self.fail(),
                _ => {}
            }
            if open == 0 {
                let text = self.text_since(start).to_vec();
                self.advance();
                return Ok(text);
            }
            self.advance();
        }
    }

    /// Behind START: REPLICA or GROUP_REPLICATION.
    pub(super) fn start_replication(&mut self) -> Parsed<Statement> {
        if self.accept(Keyword::GROUP_REPLICATION) {
            let credentials = self.credentials(true)?;
            return Ok(Statement::Replication(Replication::StartGroup { credentials }));
        }
        self.expect(Keyword::REPLICA)?;
        let threads = self.replica_threads()?;
        let mut until = Vec::new();
        if self.accept(Keyword::UNTIL) {
            until = self.list(|p| {
                let name = p.upper_word()?;
                if name == "SQL_AFTER_MTS_GAPS" {
                    return Ok((name, OptionValue::Default));
                }
                p.expect_symbol(b'=')?;
                Ok((name, p.option_value()?))
            })?;
        }
        let credentials = self.credentials(false)?;
        let channel = self.optional_channel()?;
        Ok(Statement::Replication(Replication::Start { threads, until, credentials, channel }))
    }

    fn credentials(&mut self, commas: bool) -> Parsed<Vec<(Name, Vec<u8>)>> {
        let mut credentials = Vec::new();
        let names = &[Keyword::USER, Keyword::PASSWORD, Keyword::DEFAULT_AUTH, Keyword::PLUGIN_DIR];
        while let Some(name) = self.accept_any(names) {
            self.expect_symbol(b'=')?;
            credentials.push((name.text().to_owned(), self.string()?));
            if commas && !self.accept_symbol(b',') {
                break;
            }
        }
        Ok(credentials)
    }

    fn replica_threads(&mut self) -> Parsed<Vec<Name>> {
        let names = &[Keyword::SQL_THREAD, Keyword::IO_THREAD, Keyword::RELAY_THREAD];
        if !self.is_any(names) {
            return Ok(Vec::new());
        }
        self.list(|p| Ok(p.expect_any(names)?.text().to_owned()))
    }

    pub(super) fn stop(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.accept(Keyword::GROUP_REPLICATION) {
            return Ok(Statement::Replication(Replication::StopGroup));
        }
        self.expect(Keyword::REPLICA)?;
        let threads = self.replica_threads()?;
        Ok(Statement::Replication(Replication::Stop { threads, channel: self.optional_channel()? }))
    }

    pub(super) fn reset(&mut self) -> Parsed<Statement> {
        self.advance();
        Ok(Statement::Reset(
            match self.expect_any(&[Keyword::BINARY, Keyword::REPLICA, Keyword::PERSIST])? {
                Keyword::BINARY => {
                    self.expect_all(&[Keyword::LOGS, Keyword::AND, Keyword::GTIDS])?;
                    let to = if self.accept(Keyword::TO) { Some(self.unsigned()?) } else { None };
                    Reset::BinaryLogsAndGtids { to }
                }
                Keyword::REPLICA => {
                    Reset::Replica { all: self.accept(Keyword::ALL), channel: self.optional_channel()? }
                }
                _ => {
                    let if_exists = self.if_exists()?;
                    let mut name = None;
                    if if_exists || self.is_name() {
                        let mut text = self.name()?;
                        if self.accept_symbol(b'.') {
                            text.push('.');
                            text.push_str(&self.name()?);
                        }
                        name = Some(text);
                    }
                    Reset::Persist { if_exists, name }
                }
            },
        ))
    }

    /// PURGE BINARY LOGS.
    pub(super) fn purge(&mut self) -> Parsed<Statement> {
        self.advance();
        self.expect_all(&[Keyword::BINARY, Keyword::LOGS])?;
        Ok(Statement::PurgeLogs(match self.expect_any(&[Keyword::TO, Keyword::BEFORE])? {
            Keyword::TO => PurgeLogs::To(self.string()?),
            _ => PurgeLogs::Before(self.expr()?),
        }))
    }

    /// CLONE.
    pub(super) fn clone_statement(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.accept(Keyword::LOCAL) {
            self.expect_all(&[Keyword::DATA, Keyword::DIRECTORY])?;
            self.accept_equal();
            return Ok(Statement::Clone(CloneStatement::Local { directory: self.string()? }));
        }
        self.expect_all(&[Keyword::INSTANCE, Keyword::FROM])?;
        let user = self.account()?;
        self.expect_symbol(b':')?;
        let port = self.unsigned()?;
        self.expect_all(&[Keyword::IDENTIFIED, Keyword::BY])?;
        let password = self.string()?;
        let mut directory = None;
        if self.accept(Keyword::DATA) {
            self.expect(Keyword::DIRECTORY)?;
            self.accept_equal();
            directory = Some(self.string()?);
        }
        let mut require_ssl = None;
        if self.accept(Keyword::REQUIRE) {
            let no = self.accept(Keyword::NO);
            self.expect(Keyword::SSL)?;
            require_ssl = Some(!no);
        }
        Ok(Statement::Clone(CloneStatement::Instance { user, port, password, directory, require_ssl }))
    }

    /// Behind ALTER INSTANCE.
    pub(super) fn alter_instance(&mut self) -> Parsed<Statement> {
        let verbs = &[Keyword::ROTATE, Keyword::RELOAD, Keyword::ENABLE, Keyword::DISABLE];
        let start = self.token.start;
        Ok(Statement::AlterInstance(match self.expect_any(verbs)? {
            Keyword::ROTATE => {
                let what = self.upper_word()?;
                self.expect_all(&[Keyword::MASTER, Keyword::KEY])?;
                match what.as_str() {
                    "INNODB" => AlterInstance::RotateInnodbMasterKey,
                    "BINLOG" => AlterInstance::RotateBinlogMasterKey,
                    _ => return Err(super::Rejected(start)),
                }
            }
            Keyword::RELOAD => {
                if self.accept(Keyword::KEYRING) {
                    return Ok(Statement::AlterInstance(AlterInstance::ReloadKeyring));
                }
                self.expect(Keyword::TLS)?;
                let mut channel = None;
                if self.accept(Keyword::FOR) {
                    self.expect(Keyword::CHANNEL)?;
                    channel = Some(self.name()?);
                }
                let no_rollback_on_error = self.accept(Keyword::NO);
                if no_rollback_on_error {
                    self.expect_all(&[Keyword::ROLLBACK, Keyword::ON, Keyword::ERROR])?;
                }
                AlterInstance::ReloadTls { channel, no_rollback_on_error }
            }
            verb => {
                if self.upper_word()? != "INNODB" || self.upper_word()? != "REDO_LOG" {
                    return Err(super::Rejected(start));
                }
                AlterInstance::RedoLog(verb == Keyword::ENABLE)
            }
        }))
    }

    /// Behind CREATE, ALTER or DROP RESOURCE.
    pub(super) fn resource_group(&mut self, verb: Keyword) -> Parsed<Statement> {
        self.expect(Keyword::GROUP)?;
        let name = self.name()?;
        if verb == Keyword::DROP {
            return Ok(Statement::ResourceGroup(ResourceGroup::Drop {
                name,
                force: self.accept(Keyword::FORCE),
            }));
        }
        let mut system = false;
        if verb == Keyword::CREATE {
            self.expect(Keyword::TYPE)?;
            self.accept_equal();
            system = self.expect_any(&[Keyword::SYSTEM, Keyword::USER])? == Keyword::SYSTEM;
        }
        let mut vcpus = Vec::new();
        if self.accept(Keyword::VCPU) {
            self.accept_equal();
            vcpus = self.list(|p| {
                let first = p.unsigned()?;
                Ok((first, if p.accept_symbol(b'-') { p.unsigned()? } else { first }))
            })?;
        }
        let mut priority = None;
        if self.accept(Keyword::THREAD_PRIORITY) {
            self.accept_equal();
            let negative = self.accept_symbol(b'-');
            let at = self.token.start;
            let value = i64::try_from(self.unsigned()?).map_err(|_| super::Rejected(at))?;
            priority = Some(if negative { -value } else { value });
        }
        let enabled = self.accept_any(&[Keyword::ENABLE, Keyword::DISABLE]).map(|how| how == Keyword::ENABLE);
        Ok(Statement::ResourceGroup(match verb {
            Keyword::CREATE => ResourceGroup::Create { name, system, vcpus, priority, enabled },
            _ => ResourceGroup::Alter { name, vcpus, priority, enabled, force: self.accept(Keyword::FORCE) },
        }))
    }

    /// Behind SET: `RESOURCE GROUP name [FOR threads]`.
    pub(super) fn set_resource_group(&mut self) -> Parsed<Statement> {
        self.expect_all(&[Keyword::RESOURCE, Keyword::GROUP])?;
        let name = self.name()?;
        let threads = if self.accept(Keyword::FOR) { self.list(Self::unsigned)? } else { Vec::new() };
        Ok(Statement::ResourceGroup(ResourceGroup::Set { name, threads }))
    }
}
