//! The plan of a statement of the page: what EXPLAIN FORMAT=TREE says of the sample of its digest.
//!
//! The request names a digest and never a statement: what is explained is a text that a client of the server
//! has sent, in its default schema, and it is explained only: one statement, of a kind that EXPLAIN knows.

use std::sync::Arc;

use palisade_catalog::Value;
use palisade_sql::{InternalSession, SqlResult};
use serde_json::json;

use crate::server::Server;

const QUERY: &str = "SELECT QUERY_SAMPLE_TEXT FROM performance_schema.events_statements_summary_by_digest \
                     WHERE DIGEST = ? AND SCHEMA_NAME <=> ? AND QUERY_SAMPLE_TEXT IS NOT NULL";

/// What EXPLAIN knows.
const EXPLAINED: [&str; 8] = ["SELECT", "WITH", "(", "TABLE", "INSERT", "REPLACE", "UPDATE", "DELETE"];

/// Which statement a request asks for: `digest=...`, in hexadecimal digits, and `schema=...`, whose bytes
/// are, too.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    digest: String,
    schema: Option<String>,
}

/// What a request asks for; `None` if it is none.
pub(super) fn asked(query: Option<&str>) -> Option<Asked> {
    let (mut digest, mut schema) = (None, None);
    for (name, value) in query?.split('&').filter_map(|part| part.split_once('=')) {
        match name {
            "digest" => digest = Some(value),
            "schema" => schema = Some(text_of(value)?),
            _ => return None,
        }
    }
    let is_digest = |digest: &&str| digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some(Asked { digest: digest.filter(is_digest)?.to_owned(), schema })
}

/// The text that hexadecimal digits stand for.
fn text_of(digits: &str) -> Option<String> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes = pairs.iter().map(byte).collect::<Option<Vec<u8>>>().filter(|_| rest.is_empty())?;
    String::from_utf8(bytes).ok()
}

/// The plan, or why there is none.
pub(super) async fn told(server: &Arc<Server>, asked: &Asked) -> SqlResult<String> {
    let mut session = InternalSession::new(&server.sql);
    let plan = plan(&mut session, asked).await;
    session.end().await;
    Ok(match plan? {
        Ok(plan) => json!({ "plan": plan }).to_string(),
        Err(problem) => json!({ "problem": problem }).to_string(),
    })
}

async fn plan(session: &mut InternalSession<'_>, asked: &Asked) -> SqlResult<Result<String, String>> {
    let schema = asked.schema.as_deref().map_or(Value::Null, Value::bytes);
    let samples = session.run_with(QUERY, &[Value::bytes(asked.digest.as_str()), schema]).await?;
    let Some(Value::Bytes(sample)) = samples.first().and_then(|row| row.first()) else {
        return Ok(Err("There is no such statement any more.".to_owned()));
    };
    let sample = String::from_utf8_lossy(sample);
    let begins = |word: &&str| {
        sample.trim_start().get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    if !EXPLAINED.iter().any(begins) {
        return Ok(Err("This kind of statement has no plan.".to_owned()));
    }
    if let Some(schema) = &asked.schema
        && let Err(error) = session.run(&format!("USE `{}`", schema.replace('`', "``"))).await
    {
        return Ok(Err(error.message));
    }
    Ok(match session.run(&format!("EXPLAIN FORMAT=TREE {sample}")).await {
        Ok(rows) => match rows.first().and_then(|row| row.first()) {
            Some(Value::Bytes(plan)) => Ok(String::from_utf8_lossy(plan).into_owned()),
            _ => Err("There is no plan.".to_owned()),
        },
        // A sample that is cut short, of a table that is gone, of a session's own variables or tables.
        Err(error) => Err(error.message),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_a_digest_and_maybe_a_schema() {
        let digest = "0123456789abcdef".repeat(4);
        let schema = |text: &str| Some(Asked { digest: digest.clone(), schema: Some(text.to_owned()) });
        assert_eq!(
            asked(Some(&format!("digest={digest}"))),
            Some(Asked { digest: digest.clone(), schema: None })
        );
        assert_eq!(asked(Some(&format!("digest={digest}&schema=73686f70"))), schema("shop"));
        assert_eq!(asked(Some(&format!("schema=60f09f9880&digest={digest}"))), schema("`\u{1f600}"));
        for wrong in [
            "",
            "digest=",
            "digest=zz",
            "schema=73",
            &format!("digest={digest}&schema=7"),
            &format!("digest={digest}&x=1"),
            &format!("digest={digest}&schema=ff"),
            &format!("digest={digest}0"),
        ] {
            assert_eq!(asked(Some(wrong)), None, "{wrong}");
        }
        assert_eq!(asked(None), None);
    }
}
