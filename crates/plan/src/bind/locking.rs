//! FOR UPDATE and FOR SHARE: which tables of a query block they are about.
//!
//! A clause without OF is about every table of the block, one with OF about those it names, each as FROM
//! calls it. No table may be meant twice, and what is named must be there.

use palisade_base::error_catalogue::{ER_DUPLICATE_TABLE_LOCK, ER_UNRESOLVED_TABLE_LOCK};
use palisade_base::mysql_error;
use palisade_engine::{LockMode, LockWait, ReadMode};
use palisade_expr::SqlResult;
use palisade_parser::ast;

use super::{Binder, quoted};

/// The clauses of the block that is being bound.
#[derive(Debug, Default)]
pub struct Locking(Vec<Clause>);

#[derive(Debug)]
struct Clause {
    mode: ReadMode,
    /// OF; empty for all tables.
    tables: Vec<Named>,
}

#[derive(Debug)]
struct Named {
    name: ast::ObjectName,
    /// FROM has it.
    is_there: bool,
}

impl Named {
    fn is(&self, schema: &str, alias: &str) -> bool {
        self.name.name == alias && self.name.schema.as_deref().is_none_or(|own| own == schema)
    }

    /// As errors show it.
    fn shown(&self) -> String {
        let name = quoted(&self.name.name);
        match &self.name.schema {
            Some(schema) => format!("{}.{name}", quoted(schema)),
            None => name,
        }
    }
}

impl Locking {
    fn new(clauses: &[ast::Locking]) -> Locking {
        let clause = |clause: &ast::Locking| {
            let strength = if clause.exclusive { LockMode::Exclusive } else { LockMode::Shared };
            let wait = match clause.wait {
                ast::LockWait::Wait => LockWait::Wait,
                ast::LockWait::NoWait => LockWait::NoWait,
                ast::LockWait::SkipLocked => LockWait::SkipLocked,
            };
            let named = |name: &ast::ObjectName| Named { name: name.clone(), is_there: false };
            Clause {
                mode: ReadMode::Locked(strength, wait),
                tables: clause.tables.iter().map(named).collect(),
            }
        };
        Locking(clauses.iter().map(clause).collect())
    }

    /// Whether there is a clause at all.
    pub fn is_some(&self) -> bool {
        !self.0.is_empty()
    }

    /// How the rows of a table are read, if a clause is about it.
    pub fn mode_of(&self, schema: &str, alias: &str) -> SqlResult<Option<ReadMode>> {
        let mut found = None;
        for clause in &self.0 {
            let named = clause.tables.iter().filter(|named| named.is(schema, alias)).map(Named::shown);
            let all = clause.tables.is_empty().then(|| alias.to_owned());
            for meant in named.chain(all) {
                if found.replace(clause.mode).is_some() {
                    return Err(mysql_error!(ER_DUPLICATE_TABLE_LOCK, meant));
                }
            }
        }
        Ok(found)
    }

    /// 3569 if a clause names a derived table: MySQL takes it for locked by another clause, whatever there
    /// is.
    pub fn check_unnamed(&self, alias: &str) -> SqlResult<()> {
        let mut named = self.0.iter().flat_map(|clause| &clause.tables);
        match named.find(|named| named.is("", alias)) {
            Some(named) => Err(mysql_error!(ER_DUPLICATE_TABLE_LOCK, named.shown())),
            None => Ok(()),
        }
    }

    /// FROM has this table.
    pub fn note(&mut self, schema: &str, alias: &str) {
        let named = self.0.iter_mut().flat_map(|clause| &mut clause.tables);
        named.filter(|named| named.is(schema, alias)).for_each(|named| named.is_there = true);
    }

    fn check(&self) -> SqlResult<()> {
        match self.0.iter().flat_map(|clause| &clause.tables).find(|named| !named.is_there) {
            Some(missing) => Err(mysql_error!(ER_UNRESOLVED_TABLE_LOCK, missing.shown())),
            None => Ok(()),
        }
    }
}

impl Binder<'_> {
    /// Binds a block that has these clauses; with none, what stands around a block in parentheses is about
    /// it.
    pub fn locking<T>(
        &mut self,
        clauses: &[ast::Locking],
        bind: impl FnOnce(&mut Self) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if clauses.is_empty() {
            return bind(self);
        }
        let around = std::mem::replace(&mut self.locking, Locking::new(clauses));
        let bound = bind(self);
        let own = std::mem::replace(&mut self.locking, around);
        let bound = bound?;
        own.check()?;
        Ok(bound)
    }

    /// Binds a query within this one. FOR UPDATE and FOR SHARE are about the tables beside them only; what a
    /// statement reads that changes rows is read as its source, however deep.
    pub fn nested<T>(&mut self, bind: impl FnOnce(&mut Self) -> T) -> T {
        let mode = match self.read_mode {
            ReadMode::Change | ReadMode::ChangeJoined | ReadMode::Source => ReadMode::Source,
            ReadMode::Snapshot | ReadMode::Current | ReadMode::Locked(..) => ReadMode::Snapshot,
        };
        let around = (std::mem::replace(&mut self.read_mode, mode), std::mem::take(&mut self.locking));
        let bound = bind(self);
        (self.read_mode, self.locking) = around;
        bound
    }
}
