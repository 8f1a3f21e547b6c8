//! Statements sent as text, planned once: their constants become parameters of a statement that is kept.
//!
//! A repeated text statement costs a pass of the lexer ([`PlanKey`]) and an execution. Sessions share what is kept;
//! a plan that depends on a session's settings is made again when they differ (see [`Prepared`]).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use palisade_catalog::{Decimal, Value};
use palisade_parser::ParseOptions;
use palisade_parser::digest::{ParameterKind, ParameterValue, PlanKey};

use crate::Session;
use crate::sql::{Prepared, parse_options};

/// Most statements kept.
const CAPACITY: usize = 4096;
/// Most bytes that the keys of all statements have: what is kept of a statement grows with its text.
const MAX_BYTES: usize = 8 << 20;
const SHARDS: usize = 16;

/// The statements kept, by key.
#[derive(Default)]
pub(crate) struct TextCache {
    shards: [Mutex<Shard>; SHARDS],
}

#[derive(Default)]
struct Shard {
    statements: HashMap<Box<[u8]>, Arc<Prepared>>,
    /// Of the keys.
    bytes: usize,
}

impl Shard {
    fn put(&mut self, key: &[u8], prepared: Arc<Prepared>) {
        while self.statements.len() >= CAPACITY / SHARDS || self.bytes + key.len() > MAX_BYTES / SHARDS {
            // Which ones go matters little: those in use come back at once.
            let gone: Vec<Box<[u8]>> =
                self.statements.keys().take(self.statements.len().div_ceil(4)).cloned().collect();
            if gone.is_empty() {
                break;
            }
            for key in gone {
                self.statements.remove(&key);
                self.bytes -= key.len();
            }
        }
        if self.statements.insert(key.into(), prepared).is_none() {
            self.bytes += key.len();
        }
    }
}

impl TextCache {
    fn shard(&self, key: &[u8]) -> &Mutex<Shard> {
        // The key ends with its length; what stands before that tells statements apart well enough.
        let mix = key
            .iter()
            .rev()
            .skip(8)
            .take(24)
            .fold(key.len(), |mix, byte| mix.wrapping_mul(31).wrapping_add(usize::from(*byte)));
        &self.shards[mix % SHARDS]
    }

    fn get(&self, key: &[u8]) -> Option<Arc<Prepared>> {
        self.shard(key).lock().unwrap_or_else(PoisonError::into_inner).statements.get(key).cloned()
    }

    fn put(&self, key: &[u8], prepared: Arc<Prepared>) {
        self.shard(key).lock().unwrap_or_else(PoisonError::into_inner).put(key, prepared);
    }

    /// The statement for a text, its parameters, and where the next statement begins; `None` if the text has to be
    /// taken as it is.
    pub(crate) fn statement(
        &self,
        session: &mut Session,
        text: &[u8],
    ) -> Option<(Arc<Prepared>, Vec<Value>, Option<usize>)> {
        let options = parse_options(session);
        let variables = &session.variables;
        let plain = options == ParseOptions { placeholders: false, ..ParseOptions::default() };
        let one_charset =
            variables.character_set_client.get().charset == variables.collation_connection.get().charset;
        if !plain || !one_charset {
            return None;
        }
        let mut key = std::mem::take(&mut session.plan_key);
        let found = self.find(&mut key, text, &options);
        key.release();
        session.plan_key = key;
        found
    }

    fn find(
        &self,
        key: &mut PlanKey,
        text: &[u8],
        options: &ParseOptions,
    ) -> Option<(Arc<Prepared>, Vec<Value>, Option<usize>)> {
        if !key.read(text, options) {
            return None;
        }
        let mut values = Vec::with_capacity(key.parameters().len());
        for parameter in key.parameters() {
            // Binary strings and strings with a character set of their own have a type that a parameter does not.
            let known = matches!(
                parameter.kind,
                ParameterKind::Integer
                    | ParameterKind::Decimal
                    | ParameterKind::Double
                    | ParameterKind::String
            );
            if !known {
                return None;
            }
            values.push(match parameter.value(text, options) {
                ParameterValue::Integer(value) => Value::Int(value),
                ParameterValue::Unsigned(value) => {
                    i64::try_from(value).map_or(Value::UInt(value), Value::Int)
                }
                ParameterValue::Decimal(text) => Value::Decimal(Decimal::parse(text.as_bytes()).0),
                ParameterValue::Double(value) => Value::Double(value),
                ParameterValue::String(bytes, None) => Value::bytes(bytes),
                _ => return None,
            });
        }
        let prepared = match self.get(key.key()) {
            Some(prepared) => prepared,
            None => {
                let (statement, parameters) = palisade_parser::parse_prepared(key.text(), *options).ok()?;
                if parameters != values.len() {
                    return None;
                }
                let prepared = Arc::new(Prepared::of_text(statement, parameters, key.text()));
                self.put(key.key(), prepared.clone());
                prepared
            }
        };
        Some((prepared, values, key.next_statement()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_in_number_and_in_bytes() {
        let (statement, _) = palisade_parser::parse_prepared(b"SELECT 1", ParseOptions::default()).unwrap();
        let prepared = Arc::new(Prepared::of_text(statement, 0, b"SELECT 1"));
        let cache = TextCache::default();
        for length in [20, 40_000] {
            for number in 0..2 * CAPACITY {
                let mut key = number.to_le_bytes().to_vec();
                key.resize(length, b'x');
                key.extend_from_slice(format!("{number:024}").as_bytes());
                key.extend_from_slice(&8_u64.to_le_bytes());
                cache.put(&key, prepared.clone());
                assert!(cache.get(&key).is_some(), "what was put last is there");
                cache.put(&key, prepared.clone());
            }
            let shards = || cache.shards.iter().map(|shard| shard.lock().unwrap());
            let count: usize = shards().map(|shard| shard.statements.len()).sum();
            let bytes: usize =
                shards().map(|shard| shard.statements.keys().map(|key| key.len()).sum::<usize>()).sum();
            assert_eq!(bytes, shards().map(|shard| shard.bytes).sum::<usize>());
            assert!((1..=CAPACITY).contains(&count), "{count} statements");
            assert!(bytes <= MAX_BYTES, "{bytes} bytes");
        }
    }
}
