//! A JSON path, a line feed, and the document it is about.

use palisade_catalog::json::path::{Path, path_text};
use palisade_catalog::json::{self, parse};

use crate::Target;

pub(crate) const TARGET: Target = Target {
    name: "json",
    seeds,
    words: &[
        "$", ".", "[", "]", "**", "last", " to ", "*", "\"", "\\u00e9", "{\"a\":", "null", "true", "1e5",
        "\n",
    ],
    longest: 600,
    run,
};

fn seeds() -> Vec<Vec<u8>> {
    [
        "$\n[1, 2.5, \"x\", null, true]",
        "$.a.\"b c\"[last - 1]\n{\"a\": {\"b c\": [1, {\"d\": -0.5e10}]}}",
        "$**.b[1 to last]\n{\"a\": {\"b\": [1, {\"b\": [3, 4, 5]}]}, \"\\u00e9\": \"\\n\\\"\\\\/\"}",
        "$[*].*\n[{\"a\": 18446744073709551615}, {\"b\": -9223372036854775808}]",
        "$[last-7 to 0]\n[[[[]]], {}, \"\"]",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

fn run(input: &[u8]) {
    let end = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len());
    let (written, rest) = input.split_at(end);
    let text = rest.get(1..).unwrap_or_default();
    let path = std::str::from_utf8(written).ok().and_then(|text| Path::parse(text).ok());
    let document = parse::document(text);
    assert_eq!(document.is_ok(), json::is_valid(text));
    let Ok(document) = document else { return };
    let printed = document.to_text();
    let again = parse::document(&printed).expect("what is printed is a document");
    assert!(again == document, "{} is not {}", printed.escape_ascii(), text.escape_ascii());
    assert_eq!(again.to_text(), printed, "the normal form stays");
    assert!(document.compare(&document).is_eq());
    let _ = (document.depth(), document.length(), document.type_name());
    let Some(path) = path else { return };
    let found = path.find(&document);
    assert!(path.is_wild() || found.len() <= 1, "{} places", found.len());
    for location in &found {
        let mut copy = document.clone();
        let there = copy.at_mut(&location.steps).map(|value| &*value);
        assert!(there == Some(location.value), "it lies where the location says");
        let text = path_text(&location.steps);
        let back = Path::parse(&text).expect("the path of what was found is a path");
        assert!(back.first(&document).is_some_and(|first| first.value == location.value), "{text}");
    }
}
