//! Which statement it is: dispatch on the first words.

use super::{Parsed, Parser};
use crate::ast::{Call, Statement};
use crate::lexer::{Keyword, TokenKind};

impl Parser<'_> {
    /// One statement.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        match self.token.keyword {
            Keyword::SELECT | Keyword::VALUES | Keyword::TABLE => self.query_statement(),
            Keyword::WITH => self.with_statement(),
            Keyword::INSERT | Keyword::REPLACE => self.insert(),
            Keyword::UPDATE => self.update(None),
            Keyword::DELETE => self.delete(None),
            Keyword::SET => self.set(),
            Keyword::BEGIN => self.begin(),
            Keyword::START => self.start(),
            Keyword::COMMIT => self.commit(),
            Keyword::ROLLBACK => self.rollback(),
            Keyword::SAVEPOINT => self.savepoint(),
            Keyword::RELEASE => self.release_savepoint(),
            Keyword::SHOW => self.show(),
            Keyword::USE => self.use_database(),
            Keyword::CREATE => self.create(),
            Keyword::DROP => self.drop(),
            Keyword::TRUNCATE => {
                self.advance();
                self.accept(Keyword::TABLE);
                Ok(Statement::TruncateTable(self.table_name()?))
            }
            Keyword::DESC | Keyword::DESCRIBE | Keyword::EXPLAIN => self.describe(),
            Keyword::DO => {
                self.advance();
                Ok(Statement::Do(self.list(Self::expr)?))
            }
            Keyword::CALL => self.call_statement(),
            Keyword::LOAD => self.load(),
            Keyword::HANDLER => self.handler(),
            Keyword::XA => self.xa(),
            Keyword::LOCK => self.lock(),
            Keyword::UNLOCK => self.unlock(),
            Keyword::HELP => self.help(),
            Keyword::None if self.is_symbol(b'(') => self.query_statement(),
            _ => self.rarer_statement(),
        }
    }

    fn rarer_statement(&mut self) -> Parsed<Statement> {
        match self.token.keyword {
            Keyword::ALTER => self.alter(),
            Keyword::RENAME => self.rename(),
            Keyword::GRANT => self.grant(),
            Keyword::REVOKE => self.revoke(),
            Keyword::PREPARE => self.prepare(),
            Keyword::EXECUTE => self.execute(),
            Keyword::DEALLOCATE => self.deallocate(),
            Keyword::GET => self.get_diagnostics(),
            Keyword::SIGNAL | Keyword::RESIGNAL => self.signal(),
            Keyword::ANALYZE | Keyword::CHECK | Keyword::CHECKSUM | Keyword::OPTIMIZE | Keyword::REPAIR => {
                self.maintenance()
            }
            Keyword::KILL => self.kill(),
            Keyword::FLUSH => self.flush(),
            Keyword::RESET => self.reset(),
            Keyword::SHUTDOWN => self.one_word(Statement::Shutdown),
            Keyword::RESTART => self.one_word(Statement::Restart),
            Keyword::INSTALL | Keyword::UNINSTALL => self.install(),
            Keyword::CACHE => self.cache_index(),
            Keyword::PURGE => self.purge(),
            Keyword::BINLOG => self.binlog(),
            Keyword::CHANGE => self.change(),
            Keyword::STOP => self.stop(),
            Keyword::CLONE => self.clone_statement(),
            Keyword::IMPORT => self.import_table(),
            _ => self.fail(),
        }
    }

    pub(super) fn query_statement(&mut self) -> Parsed<Statement> {
        Ok(Statement::Query(Box::new(self.query()?)))
    }

    fn call_statement(&mut self) -> Parsed<Statement> {
        self.advance();
        let procedure = self.object_name()?;
        let mut arguments = Vec::new();
        if self.accept_symbol(b'(') && !self.accept_symbol(b')') {
            arguments = self.list(Self::expr)?;
            self.expect_symbol(b')')?;
        }
        Ok(Statement::Call(Call { procedure, arguments }))
    }
}

/// Whether a token ends a statement.
pub(super) fn ends_statement(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::End | TokenKind::Symbol(b';'))
}
