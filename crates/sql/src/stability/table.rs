//! The outlines that are kept, as rows of `mysql.palisade_plans`.
//!
//! A statement does not wait for them: what has changed is written every few seconds, and when the server
//! shuts down ([`Sql::save_kept_plans`]). After a crash the plans that were proved in the last seconds have
//! to be proved again. DML on the table has no effect before the next start.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_expr::session_variables::OptimizerSwitches;
use palisade_plan::outline::Outline;

use super::{Identity, KeptPlans, Statement};
use crate::sql::Sql;
use crate::{InternalSession, SqlResult};

const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS mysql.palisade_plans (
    digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    default_db VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    optimizer_switches INT UNSIGNED NOT NULL,
    digest_text LONGTEXT NOT NULL,
    plan LONGTEXT NOT NULL,
    changed TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (digest, default_db, optimizer_switches))";

/// Rows that are written in one transaction at most.
const MOST_ROWS: usize = 256;

/// What of the statements is not in the table as it is.
pub(super) struct Changes {
    kept: Vec<(Arc<Identity>, Arc<Outline>)>,
    gone: Vec<Arc<Identity>>,
}

impl KeptPlans {
    /// Some of what is to be written.
    fn take_changes(&self) -> Changes {
        let mut known = self.lock();
        let from = known.forgotten.len().saturating_sub(MOST_ROWS);
        let mut gone = known.forgotten.split_off(from);
        gone.retain(|identity| !known.statements.contains_key(identity));
        let mut kept = Vec::new();
        let new = known.statements.iter_mut().filter(|(_, statement)| statement.is_new);
        for (identity, statement) in new.take(MOST_ROWS) {
            statement.is_new = false;
            kept.push((identity.clone(), statement.kept.clone()));
        }
        Changes { kept, gone }
    }

    /// Changes that could not be written are to be written later.
    fn put_back(&self, changes: Changes) {
        let mut known = self.lock();
        known.forgotten.extend(changes.gone);
        for (identity, _) in changes.kept {
            if let Some(statement) = known.statements.get_mut(&identity) {
                statement.is_new = true;
            }
        }
    }

    /// An outline that was kept before the server started.
    fn remember(&self, identity: Identity, outline: Outline) {
        let mut known = self.lock();
        let statement = Statement { is_new: false, ..Statement::new(Arc::new(outline), 0) };
        known.add(Arc::new(identity), statement);
    }
}

impl Sql {
    /// Writes what has changed of the plans that statements keep.
    pub async fn save_kept_plans(&self) -> SqlResult<()> {
        loop {
            let changes = self.kept_plans().take_changes();
            let count = changes.kept.len().max(changes.gone.len());
            if count == 0 {
                return Ok(());
            }
            let mut internal = InternalSession::new(self);
            let written = self.write_changes(&mut internal, &changes).await;
            internal.end().await;
            if let Err(error) = written {
                self.kept_plans().put_back(changes);
                return Err(error);
            }
            if count < MOST_ROWS {
                return Ok(());
            }
        }
    }

    async fn write_changes(&self, internal: &mut InternalSession<'_>, changes: &Changes) -> SqlResult<()> {
        if !self.has_plans_table() {
            internal.run(CREATE_TABLE).await?;
        }
        internal.begin().await?;
        let key = |identity: &Identity| {
            [
                Value::bytes(identity.digest.as_slice()),
                Value::bytes(identity.database.as_bytes()),
                Value::UInt(u64::from(identity.switches.bits())),
            ]
        };
        for identity in &changes.gone {
            let delete = "DELETE FROM mysql.palisade_plans
                WHERE digest = SHA2(?, 256) AND default_db = ? AND optimizer_switches = ?";
            internal.run_with(delete, &key(identity)).await?;
        }
        for (identity, outline) in &changes.kept {
            let [digest, database, switches] = key(identity);
            let plan = Value::bytes(format!("{outline}"));
            let replace = "REPLACE INTO mysql.palisade_plans
                (digest, default_db, optimizer_switches, digest_text, plan) VALUES (SHA2(?, 256), ?, ?, ?, ?)";
            internal.run_with(replace, &[digest.clone(), database, switches, digest, plan]).await?;
        }
        internal.commit().await
    }

    fn has_plans_table(&self) -> bool {
        self.engine().dictionary().table("mysql", "palisade_plans").is_ok()
    }

    /// Reads what was kept before the server started. Gives how many rows there are that say no plan.
    pub async fn load_kept_plans(&self) -> SqlResult<usize> {
        if !self.has_plans_table() {
            return Ok(0);
        }
        let mut internal = InternalSession::new(self);
        let query = "SELECT default_db, digest_text, plan, optimizer_switches FROM mysql.palisade_plans";
        let rows = internal.run(query).await;
        internal.end().await;
        let mut passed_over = 0;
        for row in &rows? {
            let read = match row.as_slice() {
                [Value::Bytes(database), Value::Bytes(digest), Value::Bytes(plan), switches] => {
                    let switches = match switches {
                        Value::Int(bits) => u32::try_from(*bits).ok(),
                        Value::UInt(bits) => u32::try_from(*bits).ok(),
                        _ => None,
                    };
                    let plan = std::str::from_utf8(plan).ok().and_then(Outline::parse);
                    let database = String::from_utf8_lossy(database).into_owned();
                    switches.and_then(OptimizerSwitches::from_bits).zip(plan).map(|(switches, plan)| {
                        (Identity { database, switches, digest: digest.to_vec() }, plan)
                    })
                }
                _ => None,
            };
            match read {
                Some((identity, plan)) => self.kept_plans().remember(identity, plan),
                None => passed_over += 1,
            }
        }
        Ok(passed_over)
    }
}
