//! Accounts: who may come in, and what they may do.
//!
//! | module | what it holds |
//! |---|---|
//! | [`privilege`] | the privileges, and sets of them |
//! | [`password`] | what is kept of a password, and what proves that a client knows it |
//! | [`table`] | all accounts as of a moment: finding one for a client, and what it may do where |
//! | `store` | accounts as rows of mysql.user, mysql.db, mysql.tables_priv and mysql.global_grants |
//! | [`statements`] | CREATE, ALTER, DROP and RENAME USER, SET PASSWORD, GRANT, REVOKE, SHOW GRANTS |
//! | [`authorize`] | whether an account may execute a statement |
//!
//! The truth is in tables of the schema `mysql`: changes are as durable and as crash-atomic as any other row.
//! What is used is a copy in memory, [`AccountTable`], which is published as a whole after the rows are
//! committed; FLUSH PRIVILEGES reads the rows again. One change happens at a time.
//!
//! A fresh server has one account, `root`@`localhost`, without a password: `localhost` is the Unix socket and
//! the loopback addresses.
//!
//! What an account may do to databases and tables is looked up for every statement, so GRANT and REVOKE act
//! at once. Sessions of an account that may do everything everywhere are not looked up at all: such an
//! account's loss of a global privilege acts from its next login on, as MySQL's manual says of global
//! privileges.
//!
//! With `skip_grant_tables` everybody is one account that may do everything, until FLUSH PRIVILEGES reads the
//! rows. Damaged rows do not keep the server from starting: what could be read counts, except where a lost
//! row could have gone before it ([`Completeness`]), and accounts cannot be changed until all can be read.
//!
//! Deliberately absent, and answered with 1235: roles, proxies, privileges on columns and routines, resource
//! limits, password expiry and history.

pub mod authorize;
mod metadata;
pub mod password;
pub mod privilege;
pub mod statements;
mod store;
pub mod table;

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use arc_swap::ArcSwap;
use palisade_base::error_catalogue::{
    ER_CANNOT_LOAD_FROM_TABLE_V2, ER_OPTION_PREVENTS_STATEMENT, ER_QUERY_INTERRUPTED,
};
use palisade_base::mysql_error;
use palisade_sql::session::{KillFlag, Killed};
use palisade_sql::{Sql, SqlResult};
use parking_lot::Mutex;
use tracing::{error, warn};

pub(crate) use statements::execute;
pub use table::{Account, AccountName, AccountTable, Completeness};

/// All accounts, and the way to change them.
pub struct Accounts {
    current: ArcSwap<AccountTable>,
    /// Passwords of `caching_sha2_password` accounts that were right since the server started.
    remembered: Mutex<HashMap<AccountName, Remembered>>,
    /// Held by the one who changes something.
    change: tokio::sync::Mutex<()>,
}

/// A password that was right.
struct Remembered {
    /// What was kept of it then.
    kept: Vec<u8>,
    /// It, hashed twice.
    digest: [u8; 32],
}

impl Default for Accounts {
    /// Only root.
    fn default() -> Self {
        Accounts {
            current: ArcSwap::from_pointee(AccountTable::new(vec![Account::root()])),
            remembered: Mutex::default(),
            change: tokio::sync::Mutex::default(),
        }
    }
}

impl Accounts {
    /// The accounts as of now.
    pub fn load(&self) -> Arc<AccountTable> {
        self.current.load_full()
    }

    /// Makes the tables of the schema `mysql` if this is a fresh server, and reads the accounts from them, as
    /// far as they can be read, unless `skips` says that everybody is let in. No session is served yet.
    pub async fn open(&self, sql: &Sql, skips: bool) -> SqlResult<()> {
        let _change = self.change.lock().await;
        let may_lack = sql.engine().config().force_recovery.is_on();
        match store::create(sql, skips).await {
            Err(error) if skips || may_lack => {
                warn!("the tables of the accounts cannot be made: {}", error.message)
            }
            made => made?,
        }
        let accounts = match skips {
            true => AccountTable::skipped(),
            false => store::load_what_is_whole(sql).await?,
        };
        match accounts.completeness() {
            Completeness::Skipped => warn!("skip_grant_tables: every client is let in and may do everything"),
            Completeness::Lacks(table) => error!(
                "mysql.{table} is damaged or missing: accounts that may be affected are locked, and none can be changed; start with \
                 skip_grant_tables to repair it (docs/recovery.md)"
            ),
            Completeness::Whole => {}
        }
        self.current.store(Arc::new(accounts));
        Ok(())
    }

    /// Whether accounts can be named and changed: 1290 with `skip_grant_tables`, 1728 while some cannot be
    /// read.
    pub fn check_changeable(&self) -> SqlResult<()> {
        match self.current.load().completeness() {
            Completeness::Whole => Ok(()),
            Completeness::Skipped => Err(mysql_error!(ER_OPTION_PREVENTS_STATEMENT, "--skip-grant-tables")),
            Completeness::Lacks(table) => Err(mysql_error!(ER_CANNOT_LOAD_FROM_TABLE_V2, "mysql", table)),
        }
    }

    /// Reads the accounts again (FLUSH PRIVILEGES).
    pub async fn reload(&self, sql: &Sql) -> SqlResult<()> {
        let _change = self.change.lock().await;
        self.current.store(Arc::new(store::load(sql).await?));
        self.remembered.lock().clear();
        Ok(())
    }

    /// Changes accounts: `change` gets a copy of all of them and what it leaves is written, then published.
    /// Nothing is changed if the statement is killed meanwhile.
    async fn change<T>(
        &self,
        sql: &Sql,
        kill: &KillFlag,
        change: impl FnOnce(&mut AccountTable) -> SqlResult<T>,
    ) -> SqlResult<T> {
        let mut turn = pin!(self.change.lock());
        // who kills a session has it polled
        let turn = poll_fn(|context| match turn.as_mut().poll(context) {
            Poll::Ready(turn) => Poll::Ready(Ok(turn)),
            Poll::Pending => {
                check_kill(kill).map_or_else(|killed| Poll::Ready(Err(killed)), |()| Poll::Pending)
            }
        });
        let _turn = turn.await?;
        check_kill(kill)?;
        let old = self.load();
        let mut new = (*old).clone();
        let result = change(&mut new)?;
        store::save(sql, &old, &new, kill).await?;
        self.current.store(Arc::new(new));
        Ok(result)
    }

    /// What was remembered of the account's password, if it is still the one that was right.
    pub fn recall(&self, account: &Account) -> Option<[u8; 32]> {
        let remembered = self.remembered.lock();
        let entry = remembered.get(&account.name)?;
        (entry.kept == account.kept).then_some(entry.digest)
    }

    /// The account's password is `password`.
    pub fn remember(&self, account: &Account, password: &[u8]) {
        let entry = Remembered { kept: account.kept.clone(), digest: password::remembered(password) };
        self.remembered.lock().insert(account.name.clone(), entry);
    }
}

/// 1317 if a statement is to end.
fn check_kill(kill: &KillFlag) -> SqlResult<()> {
    match kill.get() {
        Killed::No => Ok(()),
        Killed::Statement | Killed::Connection => Err(mysql_error!(ER_QUERY_INTERRUPTED)),
    }
}

/// What is wrong with the accounts as they are stored, a line each; an error if they cannot be read. For the
/// offline check.
pub async fn check(sql: &Sql) -> SqlResult<Vec<String>> {
    store::check(sql).await
}

/// Random bytes that nobody can guess.
#[expect(clippy::expect_used, reason = "a server whose secrets can be guessed must not go on")]
pub fn unguessable<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    aws_lc_rs::rand::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}
