//! The rule about indexes: some answers of MySQL depend on whether there is one, and Palisade gives the one
//! without.
//!
//! The peer has all tables a second time, without indexes beside the primary keys. Where the answers to a
//! query differ, and the peer answers it there as Palisade does, the difference is the index's.

use super::compare::{Reply, ask_one, difference};
use super::question::{Question, Step};
use super::rules::{Case, named};
use crate::Outcome;
use crate::client::{Answer, Client, execute};

/// Words of docs/sql.md.
pub const NAME: &str = "Where MySQL's answer depends on whether there is an index";

/// A session of the peer in the schema without indexes.
pub struct Unindexed(Client);

impl Unindexed {
    /// Takes the indexes from all tables of the schema in which `client` is.
    pub fn new(mut client: Client) -> Result<Unindexed, String> {
        let indexes = "SELECT DISTINCT TABLE_NAME, INDEX_NAME FROM information_schema.STATISTICS \
                       WHERE TABLE_SCHEMA = DATABASE() AND INDEX_NAME <> 'PRIMARY'";
        let answer = client.query(indexes).map_err(|error| error.to_string())?;
        let Answer::Rows(rows) = answer else { return Err(format!("{indexes}: {answer}")) };
        rows.iter().try_for_each(|row| -> Outcome {
            let [Some(table), Some(index)] = row.as_slice() else { return Err(format!("{row:?}")) };
            execute(&mut client, &format!("ALTER TABLE `{table}` DROP INDEX `{index}`"))
        })?;
        Ok(Unindexed(client))
    }

    /// Whether the peer, without indexes, answers a query as Palisade has done. A question of several
    /// statements is not asked: what the others do has not been done here.
    pub fn answers(&mut self, question: &Question, step: &Step, ours: &Reply) -> bool {
        let (Step::Text(text), [_]) = (step, question.steps.as_slice()) else { return false };
        if !text.starts_with("SELECT") {
            return false;
        }
        let Ok(theirs) = ask_one(&mut self.0, text) else { return false };
        difference(ours, &theirs)
            .is_none_or(|difference| named(&Case { step, ours, theirs: &theirs, difference }).is_some())
    }
}
