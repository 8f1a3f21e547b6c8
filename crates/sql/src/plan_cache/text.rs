//! Statements sent as text: their constants become parameters of a statement that is kept.
//!
//! A repeated text statement costs a pass of the lexer ([`PlanKey`]) and an execution.

use std::sync::Arc;

use palisade_catalog::{Decimal, Value};
use palisade_parser::digest::{ParameterKind, ParameterValue, PlanKey};
use palisade_parser::{Hint, ParseOptions};

use super::{PlanCache, Prepared, STATEMENTS_PARSED};
use crate::Session;
use crate::sql::parse_options;

impl PlanCache {
    /// The statement for a text, its parameters, and where the next statement begins; `None` if the text has
    /// to be taken as it is.
    pub(crate) fn of_text(
        &self,
        session: &mut Session,
        text: &[u8],
    ) -> Option<(Arc<Prepared>, Vec<Value>, Option<usize>)> {
        let options = parse_options(session);
        let variables = &session.state.variables;
        let plain = options == ParseOptions { placeholders: false, ..ParseOptions::default() };
        let one_charset =
            variables.character_set_client.get().charset == variables.collation_connection.get().charset;
        if !plain || !one_charset {
            return None;
        }
        let mut key = std::mem::take(&mut session.plan_key);
        let found = self.of_key(&mut key, text, &options);
        key.release();
        session.plan_key = key;
        found
    }

    fn of_key(
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
            // Binary strings and strings with a character set of their own have a type that a parameter does
            // not.
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
                // One that is too great is an error (1367), which quotes the text.
                ParameterValue::Double(value) if !value.is_finite() => return None,
                ParameterValue::Double(value) => Value::Double(value),
                ParameterValue::String(bytes, None) => Value::bytes(bytes),
                _ => return None,
            });
        }
        let prepared = match self.find(key.key()) {
            Some(prepared) => prepared,
            None => {
                let parsed = palisade_parser::parse_prepared(key.text(), *options, &mut || true).ok()?;
                // Their warnings quote the text, which this is not.
                let is_mistaken = parsed.hints.iter().any(|hint| matches!(hint, Hint::Mistake { .. }));
                if parsed.placeholders != values.len() || is_mistaken {
                    return None;
                }
                STATEMENTS_PARSED.increment();
                let length = key.text().len();
                let prepared = Arc::new(Prepared::new(parsed, key.key().into(), length));
                self.keep(&prepared);
                prepared
            }
        };
        Some((prepared, values, key.next_statement()))
    }
}
