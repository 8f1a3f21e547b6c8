//! What is told of deadlocks: the latest one for SHOW ENGINE INNODB STATUS, all of them to the log if
//! `innodb_print_all_deadlocks` asks for that.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use palisade_txn::{DeadlockMember, Mode};
use parking_lot::Mutex;

use crate::engine::Engine;

/// The deadlocks of an engine.
#[derive(Default)]
pub(crate) struct Deadlocks {
    print_all: AtomicBool,
    latest: Mutex<Option<String>>,
}

impl Engine {
    /// Begins to be told of deadlocks.
    pub(crate) fn watch_deadlocks(self: &Arc<Self>) {
        // A transaction holds its engine, so the engine is there as long as anybody can be in a deadlock.
        let engine = Arc::downgrade(self);
        self.trx.locks().on_deadlock(move |members| {
            if let Some(engine) = engine.upgrade() {
                engine.note_deadlock(members);
            }
        });
    }

    /// Whether every deadlock goes to the log: `innodb_print_all_deadlocks`.
    pub fn set_print_all_deadlocks(&self, on: bool) {
        self.deadlocks.print_all.store(on, Ordering::Relaxed);
    }

    /// The latest deadlock, in words.
    pub fn latest_deadlock(&self) -> Option<String> {
        self.deadlocks.latest.lock().clone()
    }

    fn note_deadlock(&self, members: &[DeadlockMember]) {
        let text = self.describe(members);
        if self.deadlocks.print_all.load(Ordering::Relaxed) {
            tracing::info!("transactions deadlock detected\n{text}");
        }
        *self.deadlocks.latest.lock() = Some(text);
    }

    fn describe(&self, members: &[DeadlockMember]) -> String {
        let mut text = String::new();
        let dictionary = self.dictionary();
        for (number, member) in members.iter().enumerate() {
            let number = number + 1;
            let id = member.id.0;
            if let Some(table) = dictionary.all_tables().find(|table| table.id == member.index) {
                let _ = write!(
                    text,
                    "*** ({number}) TRANSACTION {id}\n*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n\
                     TABLE LOCK table `{}`.`{}` trx id {id} lock mode AUTO-INC waiting\n",
                    table.schema, table.name
                );
                continue;
            }
            let place = dictionary.all_tables().find_map(|table| {
                let index = table.trees().iter().position(|tree| tree.index_id() == member.index)?;
                Some(format!(
                    "index {} of table `{}`.`{}`",
                    table.indexes[index].name, table.schema, table.name
                ))
            });
            let place = place.unwrap_or_else(|| format!("index {}", member.index));
            let mode = match member.mode {
                Mode::Shared => "S",
                Mode::Exclusive => "X",
                Mode::Insert => "X insert intention",
            };
            let key: String = member.key.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = write!(
                text,
                "*** ({number}) TRANSACTION {id}\n*** ({number}) WAITING FOR THIS LOCK TO BE GRANTED:\n\
                 RECORD LOCKS {place} trx id {id} lock_mode {mode} waiting\n key 0x{key}\n"
            );
        }
        if let Some(victim) = members.iter().position(|member| member.is_victim) {
            let _ = writeln!(text, "*** WE ROLL BACK TRANSACTION ({})", victim + 1);
        }
        text
    }
}
