//! The latest deadlock and the latest foreign key error, put into words when they happen: later the transactions are gone.

use std::sync::Arc;

use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::Deadlock;
use palisade_sql::{ForeignKeyFailure, Services as _, SessionState, Side};

use super::shown_time;
use super::transactions::{lines, lock_lines};
use crate::host::ServerHost;

/// Has the engine tell of deadlocks: the latest one is kept, and `innodb_print_all_deadlocks` writes each to the log.
pub(crate) fn watch_deadlocks(host: &Arc<ServerHost>) {
    let known = Arc::downgrade(host);
    host.engine.on_deadlock(move |deadlock| {
        // A session holds its host, so the host is there as long as anybody can be in a deadlock.
        let Some(host) = known.upgrade() else { return };
        let text = in_words(&host, deadlock);
        if host.globals.load().bool(sysvar::INNODB_PRINT_ALL_DEADLOCKS) {
            tracing::info!("transactions deadlock detected\n{text}");
        }
        *host.latest.deadlock.lock() = Some(text);
    });
}

fn in_words(host: &ServerHost, deadlock: &Deadlock) -> String {
    // the first of them has closed the circle
    let by = deadlock.parties.first().map_or(0, |party| party.transaction.owner);
    let mut text = format!("{} {by}\n", shown_time(host.unix_micros()));
    for (number, party) in (1..).zip(&deadlock.parties) {
        text.push_str(&format!("*** ({number}) TRANSACTION:\n{}\n", lines(host, &party.transaction)));
        if let Some(held) = &party.held {
            text.push_str(&format!("*** ({number}) HOLDS THE LOCK(S):\n{}\n", lock_lines(held)));
        }
        let awaited = lock_lines(&party.awaited);
        text.push_str(&format!("*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n{awaited}\n"));
    }
    if let Some(victim) = deadlock.parties.iter().position(|party| party.is_victim) {
        text.push_str(&format!("*** WE ROLL BACK TRANSACTION ({})\n", victim + 1));
    }
    text
}

/// Keeps what is to be told of a statement's failure.
pub(crate) fn note_foreign_key_failure(
    host: &ServerHost,
    session: &SessionState,
    failure: ForeignKeyFailure<'_>,
) {
    let ForeignKeyFailure { transaction, side, child, child_index, parent, parent_index, constraint, values } =
        failure;
    let table = format!("`{}`.`{}`", child.schema, child.name);
    let parent = format!("`{}`.`{}`", parent.0, parent.1);
    let fields: String = values.iter().enumerate().map(|(at, value)| format!(" {at}: {value}\n")).collect();
    let tuple = format!("DATA TUPLE: {} fields;\n{fields}", values.len());
    let (child_index, is_there) = (child_index.unwrap_or("(none)"), parent_index.is_some());
    let parent_index = parent_index.unwrap_or("(none)");
    let what = match side {
        Side::Child if is_there => format!(
            "Trying to add in child table, in index {child_index} tuple:\n{tuple}\n\
             But in parent table {parent}, in index {parent_index},\nthere is no record of that key.\n"
        ),
        Side::Child => format!(
            "Trying to add in child table, in index {child_index} tuple:\n{tuple}\n\
             But the parent table {parent}\nor its index for the foreign key does not exist.\n"
        ),
        Side::Parent => format!(
            "Trying to delete or update in parent table, in index {parent_index} tuple:\n{tuple}\n\
             But in child table {table}, in index {child_index}, there is a record of that key.\n"
        ),
    };
    let text = format!(
        "{} {} Transaction:\n{}Foreign key constraint fails for table {table}:\n,\n  {constraint}\n{what}",
        shown_time(host.unix_micros()),
        session.connection_id,
        lines(host, &transaction)
    );
    *host.latest.foreign_key_error.lock() = Some(text);
}
