//! The section TRANSACTIONS, and the blocks of lines about one transaction and one lock that other sections have as well.

use std::collections::HashSet;

use palisade_engine::{ActiveTransaction, Locked, RowLock, RowLockMode, shown_number};
use palisade_sql::Services as _;

use crate::connections::Activity;
use crate::host::ServerHost;
use crate::virtual_tables::locks::{data, started_us};

/// Bytes of a statement that are shown.
const SHOWN: usize = 1024;

/// The section.
pub(super) fn all(host: &ServerHost) -> String {
    let purged = host.engine.purged_transaction_id();
    let history = host.engine.history_length();
    let open = host.engine.open_transactions();
    let mut text = format!(
        "Trx id counter {}\nPurge done for trx's n:o < {} undo n:o < 0 state: running{}\nHistory list length {history}\n\
         Total number of lock structs in row lock hash table {}\nLIST OF TRANSACTIONS FOR EACH SESSION:\n",
        host.engine.next_transaction_id().0,
        purged.0,
        if history == 0 { " but idle" } else { "" },
        open.iter().map(|transaction| transaction.row_locks).sum::<u64>()
    );
    let owners: HashSet<u64> = open.iter().map(|transaction| transaction.owner).collect();
    for process in host.connections.processes().iter().filter(|process| !owners.contains(&process.id)) {
        text.push_str("---TRANSACTION 0, not started\n0 lock struct(s), heap size 0, 0 row lock(s)\n");
        if let Some(client) = Client::of(host, process.id) {
            text.push_str(&client.lines());
        }
    }
    // to list all locks is not for nothing
    let waits = open.iter().any(|transaction| transaction.waiting);
    let locks = if waits { host.engine.row_locks() } else { Vec::new() };
    for transaction in &open {
        text.push_str("---");
        text.push_str(&lines(host, transaction));
        let awaited = locks.iter().find(|lock| !lock.granted && lock.session == transaction.session);
        if let Some(awaited) = awaited {
            let since = transaction.wait_started_us;
            let seconds = since.map_or(0, |since| (host.unix_micros() - since).max(0) / 1_000_000);
            text.push_str(&format!(
                "------- TRX HAS BEEN WAITING {seconds} SEC FOR THIS LOCK TO BE GRANTED:\n{}------------------\n",
                lock_lines(awaited)
            ));
        }
    }
    text
}

/// The client whose transaction it is.
struct Client {
    id: u64,
    host: String,
    commands: u64,
    state: &'static str,
    activity: Activity,
}

impl Client {
    fn of(host: &ServerHost, id: u64) -> Option<Client> {
        let connection = host.connections.get(id)?;
        Some(Client {
            id,
            host: connection.host.clone(),
            commands: connection.counters.queries(),
            state: connection.state(),
            activity: connection.activity(SHOWN),
        })
    }

    /// Who it is, and the statement if it executes one.
    fn lines(&self) -> String {
        let Client { id, host, commands, state, activity } = self;
        let mut lines = format!("MySQL thread id {id}, query id {commands} {host} {}", activity.user);
        if !state.is_empty() {
            lines.push_str(&format!(" {state}"));
        }
        lines.push('\n');
        if !activity.text.is_empty() {
            lines.push_str(&String::from_utf8_lossy(&activity.text));
            lines.push('\n');
        }
        lines
    }
}

/// What a transaction does, whose it is, and its statement.
pub(super) fn lines(host: &ServerHost, transaction: &ActiveTransaction) -> String {
    let client = Client::of(host, transaction.owner);
    let since = client.as_ref().map(|client| client.activity.since_seconds);
    let began_us = match started_us(host, transaction, since) {
        0 => host.unix_micros(),
        began_us => began_us,
    };
    let seconds = (host.unix_micros() - began_us).max(0) / 1_000_000;
    let mut lines = format!(
        "TRANSACTION {}, ACTIVE {seconds} sec{}\n",
        shown_number(transaction.id, transaction.session),
        if transaction.rolling_back { " rollback" } else { "" }
    );
    if transaction.tables > 0 {
        lines.push_str(&format!("mysql tables in use {0}, locked {0}\n", transaction.tables));
    }
    lines.push_str(&format!(
        "{}{} lock struct(s), heap size {}, {} row lock(s)",
        if transaction.waiting { "LOCK WAIT " } else { "" },
        transaction.row_locks,
        transaction.lock_bytes,
        transaction.row_locks
    ));
    // of one that was in flight at a crash it is not known
    if !matches!(transaction.changes, 0 | u64::MAX) {
        lines.push_str(&format!(", undo log entries {}", transaction.changes));
    }
    lines.push('\n');
    if let Some(client) = client {
        lines.push_str(&client.lines());
    }
    lines
}

/// What a lock, or the wait for it, is of.
pub(super) fn lock_lines(lock: &RowLock) -> String {
    let id = shown_number(lock.transaction, lock.session);
    let waiting = if lock.granted { "" } else { " waiting" };
    let Some(table) = &lock.table else {
        return format!("RECORD LOCKS of a table that is gone trx id {id}{waiting}\n");
    };
    let name = format!("`{}`.`{}`", table.schema, table.name);
    if lock.is_counter {
        return format!("TABLE LOCK table {name} trx id {id} lock mode AUTO-INC{waiting}\n");
    }
    let mode = match (&lock.what, lock.mode) {
        (_, RowLockMode::Insert) => "lock_mode X locks gap before rec insert intention",
        (Locked::Key(_), RowLockMode::Shared) => "lock mode S locks rec but not gap",
        (Locked::Key(_), RowLockMode::Exclusive) => "lock_mode X locks rec but not gap",
        (Locked::Range(..), RowLockMode::Shared) => "lock mode S",
        (Locked::Range(..), RowLockMode::Exclusive) => "lock_mode X",
    };
    format!(
        "RECORD LOCKS space id {} page no 0 n bits 0 index {} of table {name} trx id {id} {mode}{waiting}\n\
         Record lock, key {}\n",
        table.space_id_of(lock.partition).unwrap_or_default().0,
        table.indexes.get(lock.index).map_or("", |index| &index.name),
        data(lock)
    )
}
