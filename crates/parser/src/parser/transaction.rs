//! START TRANSACTION, COMMIT, SAVEPOINT, XA, LOCK TABLES.

use super::{Parsed, Parser};
use crate::ast::{Completion, StartTransaction, Statement, TableLock, Xa, Xid};
use crate::lexer::Keyword;

impl Parser<'_> {
    /// START: a transaction, or replication.
    pub(super) fn start(&mut self) -> Parsed<Statement> {
        self.advance();
        match self.token.keyword {
            Keyword::TRANSACTION => {
                self.advance();
                Ok(Statement::StartTransaction(self.transaction_characteristics()?))
            }
            _ => self.start_replication(),
        }
    }

    fn transaction_characteristics(&mut self) -> Parsed<StartTransaction> {
        let mut start = StartTransaction::default();
        if !self.is_any(&[Keyword::WITH, Keyword::READ]) {
            return Ok(start);
        }
        loop {
            if self.accept(Keyword::WITH) {
                self.expect_all(&[Keyword::CONSISTENT, Keyword::SNAPSHOT])?;
                start.consistent_snapshot = true;
            } else {
                self.expect(Keyword::READ)?;
                if start.read_only.is_some() {
                    return self.fail();
                }
                start.read_only = Some(self.expect_any(&[Keyword::ONLY, Keyword::WRITE])? == Keyword::ONLY);
            }
            if !self.accept_symbol(b',') {
                return Ok(start);
            }
        }
    }

    pub(super) fn begin(&mut self) -> Parsed<Statement> {
        self.advance();
        self.accept(Keyword::WORK);
        Ok(Statement::StartTransaction(StartTransaction::default()))
    }

    pub(super) fn commit(&mut self) -> Parsed<Statement> {
        self.advance();
        self.accept(Keyword::WORK);
        Ok(Statement::Commit(self.completion()?))
    }

    pub(super) fn rollback(&mut self) -> Parsed<Statement> {
        self.advance();
        self.accept(Keyword::WORK);
        if self.accept(Keyword::TO) {
            self.accept(Keyword::SAVEPOINT);
            return Ok(Statement::RollbackToSavepoint(self.name()?));
        }
        Ok(Statement::Rollback(self.completion()?))
    }

    /// `[AND [NO] CHAIN] [[NO] RELEASE]`.
    fn completion(&mut self) -> Parsed<Completion> {
        let mut completion = Completion::default();
        if self.accept(Keyword::AND) {
            let no = self.accept(Keyword::NO);
            self.expect(Keyword::CHAIN)?;
            completion.chain = Some(!no);
        }
        if self.accept(Keyword::NO) {
            self.expect(Keyword::RELEASE)?;
            completion.release = Some(false);
        } else if completion.chain != Some(true) && self.accept(Keyword::RELEASE) {
            completion.release = Some(true);
        }
        Ok(completion)
    }

    pub(super) fn savepoint(&mut self) -> Parsed<Statement> {
        self.advance();
        Ok(Statement::Savepoint(self.name()?))
    }

    pub(super) fn release_savepoint(&mut self) -> Parsed<Statement> {
        self.advance();
        self.expect(Keyword::SAVEPOINT)?;
        Ok(Statement::ReleaseSavepoint(self.name()?))
    }

    pub(super) fn xa(&mut self) -> Parsed<Statement> {
        self.advance();
        let verbs = &[
            Keyword::START,
            Keyword::BEGIN,
            Keyword::END,
            Keyword::PREPARE,
            Keyword::COMMIT,
            Keyword::ROLLBACK,
            Keyword::RECOVER,
        ];
        Ok(Statement::Xa(match self.expect_any(verbs)? {
            Keyword::START | Keyword::BEGIN => {
                let xid = self.xid()?;
                let how = self.accept_any(&[Keyword::JOIN, Keyword::RESUME]);
                Xa::Start { xid, join: how == Some(Keyword::JOIN), resume: how == Some(Keyword::RESUME) }
            }
            Keyword::END => {
                let xid = self.xid()?;
                let suspend = self.accept(Keyword::SUSPEND);
                let for_migrate = suspend && self.accept(Keyword::FOR);
                if for_migrate {
                    self.expect(Keyword::MIGRATE)?;
                }
                Xa::End { xid, suspend, for_migrate }
            }
            Keyword::PREPARE => Xa::Prepare(self.xid()?),
            Keyword::COMMIT => {
                let xid = self.xid()?;
                let one_phase = self.accept(Keyword::ONE);
                if one_phase {
                    self.expect(Keyword::PHASE)?;
                }
                Xa::Commit { xid, one_phase }
            }
            Keyword::ROLLBACK => Xa::Rollback(self.xid()?),
            _ => {
                let convert_xid = self.accept(Keyword::CONVERT);
                if convert_xid {
                    self.expect(Keyword::XID)?;
                }
                Xa::Recover { convert_xid }
            }
        }))
    }

    fn xid(&mut self) -> Parsed<Xid> {
        let mut xid = Xid { gtrid: self.xid_part()?, bqual: Vec::new(), format: 1 };
        if self.accept_symbol(b',') {
            xid.bqual = self.xid_part()?;
            if self.accept_symbol(b',') {
                xid.format = self.unsigned()?;
            }
        }
        Ok(xid)
    }

    /// At most 64 bytes.
    fn xid_part(&mut self) -> Parsed<Vec<u8>> {
        let start = self.token.start;
        let bytes = self.text_literal()?;
        if bytes.len() > 64 { Err(super::Rejected(start)) } else { Ok(bytes) }
    }

    pub(super) fn lock(&mut self) -> Parsed<Statement> {
        self.advance();
        if self.accept(Keyword::INSTANCE) {
            self.expect_all(&[Keyword::FOR, Keyword::BACKUP])?;
            return Ok(Statement::LockInstance);
        }
        self.expect_any(&[Keyword::TABLES, Keyword::TABLE])?;
        Ok(Statement::LockTables(self.list(|p| {
            let table = p.table_name()?;
            let alias = p.optional_table_alias()?;
            p.accept(Keyword::LOW_PRIORITY);
            let write = p.expect_any(&[Keyword::READ, Keyword::WRITE])? == Keyword::WRITE;
            let local = !write && p.accept(Keyword::LOCAL);
            Ok(TableLock { table, alias, write, local })
        })?))
    }

    pub(super) fn unlock(&mut self) -> Parsed<Statement> {
        self.advance();
        Ok(match self.expect_any(&[Keyword::TABLES, Keyword::TABLE, Keyword::INSTANCE])? {
            Keyword::INSTANCE => Statement::UnlockInstance,
            _ => Statement::UnlockTables,
        })
    }
}
