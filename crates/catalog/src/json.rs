//! JSON text: validation and MySQL's normal form.

use serde_json::Value as Json;

/// Why a text is not JSON. The text is that of MySQL's errors 3140 and 3141.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("Invalid JSON text: \"{reason}\" at position {position}")]
pub struct JsonError {
    /// What is wrong.
    pub reason: String,
    /// Byte position of the problem.
    pub position: usize,
}

fn parse(text: &[u8]) -> Result<Json, JsonError> {
    serde_json::from_slice(text).map_err(|error| {
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or(&full);
        // The library counts lines and columns from 1; a column is in bytes.
        let lines = text.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
        let before: usize = lines.map(<[u8]>::len).sum();
        let position = match error.is_eof() {
            true => text.len(),
            false => (before + error.column().saturating_sub(1)).min(text.len()),
        };
        JsonError { reason: worded(reason, text, position).to_owned(), position }
    })
}

/// What is wrong, in the words of MySQL's parser.
fn worded(reason: &str, text: &[u8], position: usize) -> &'static str {
    let before = text[..position].trim_ascii_end().last();
    match reason {
        "EOF while parsing a value" if before.is_none() => "The document is empty.",
        "EOF while parsing an object" if matches!(before, Some(b'{' | b',')) => {
            "Missing a name for object member."
        }
        "EOF while parsing an object" if before == Some(&b'"') && !text[..position].contains(&b':') => {
            "Missing a colon after a name of object member."
        }
        "EOF while parsing an object" | "expected `,` or `}`" => {
            "Missing a comma or '}' after an object member."
        }
        "EOF while parsing a list" | "expected `,` or `]`" => {
            "Missing a comma or ']' after an array element."
        }
        "EOF while parsing a string" => "Missing a closing quotation mark in string.",
        "key must be a string" => "Missing a name for object member.",
        "expected `:`" => "Missing a colon after a name of object member.",
        "trailing comma" if text.get(position) == Some(&b'}') => "Missing a name for object member.",
        "trailing characters" => "The document root must not be followed by other values.",
        "invalid escape" => "Invalid escape character in string.",
        "number out of range" => "Number too big to be stored in double.",
        "lone leading surrogate in hex escape" | "unexpected end of hex escape" => {
            "The surrogate pair in string is invalid."
        }
        reason if reason.starts_with("control character") => "Invalid encoding in string.",
        _ => "Invalid value.",
    }
}

/// The text in the form MySQL prints JSON: keys sorted by length and then bytes, duplicates (last wins) removed,
/// `", "` and `": "` as separators.
pub fn normalize(text: &[u8]) -> Result<Vec<u8>, JsonError> {
    let mut out = Vec::with_capacity(text.len());
    put(&parse(text)?, &mut out);
    Ok(out)
}

/// Whether the text is JSON (JSON_VALID).
pub fn is_valid(text: &[u8]) -> bool {
    parse(text).is_ok()
}

/// Appends a JSON string literal for `text`.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing to a vector does not fail");
}

fn put(value: &Json, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Json::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(integer), _, _) => crate::number::format_i64(integer, out),
            (_, Some(integer), _) => crate::number::format_u64(integer, out),
            (_, _, double) => {
                let start = out.len();
                crate::number::format_f64(double.unwrap_or(0.0), out);
                if out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
                    out.extend_from_slice(b".0");
                }
            }
        },
        Json::String(text) => quote(text, out),
        Json::Array(items) => {
            out.push(b'[');
            for (position, item) in items.iter().enumerate() {
                if position > 0 {
                    out.extend_from_slice(b", ");
                }
                put(item, out);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            let mut members: Vec<(&String, &Json)> = members.iter().collect();
            members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
            out.push(b'{');
            for (position, (key, item)) in members.into_iter().enumerate() {
                if position > 0 {
                    out.extend_from_slice(b", ");
                }
                quote(key, out);
                out.extend_from_slice(b": ");
                put(item, out);
            }
            out.push(b'}');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_json_as_mysql_does() {
        for (text, expected) in [
            (
                r#"{"bb":1,"a":[1,2.5,"x\u00e9\n"],"aa":null, "a":true}"#,
                r#"{"a": true, "aa": null, "bb": 1}"#,
            ),
            (
                "[1,[],{},-3,1.0,1e3,18446744073709551615]",
                "[1, [], {}, -3, 1.0, 1000.0, 18446744073709551615]",
            ),
            (r#" "a\"b\/" "#, r#""a\"b/""#),
            ("1e100", "1e100"),
        ] {
            assert_eq!(String::from_utf8(normalize(text.as_bytes()).unwrap()).unwrap(), expected);
            assert!(is_valid(text.as_bytes()));
        }
        for text in ["", "{", "[1,]", "nul", "{a:1}", "\"\u{1}\"", "1 2"] {
            assert!(normalize(text.as_bytes()).is_err() && !is_valid(text.as_bytes()), "{text}");
        }
        assert!(!is_valid(&b"[".repeat(100_000)), "nesting is bounded");
        for (text, position, reason) in [
            ("", 0, "The document is empty."),
            ("{bad", 1, "Missing a name for object member."),
            ("[1,2", 4, "Missing a comma or ']' after an array element."),
            ("abc", 0, "Invalid value."),
        ] {
            let error = normalize(text.as_bytes()).unwrap_err();
            assert_eq!((error.position, error.reason.as_str()), (position, reason), "{text}");
        }
        assert_eq!(normalize(b"[1,\n2,\n x]").unwrap_err().position, 8);
    }
}
