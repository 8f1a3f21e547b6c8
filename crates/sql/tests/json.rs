//! Laws of the JSON functions, over random documents and paths.

#[path = "client/mod.rs"]
mod client;

use std::sync::Arc;

use client::{Client, processor};
use palisade_base::prng::{Prng, test_seed};

/// A random document as text, as somebody may write it.
fn document(random: &mut Prng, depth: u64) -> String {
    let parts = |random: &mut Prng, mut part: Box<dyn FnMut(&mut Prng) -> String>| {
        let count = random.below(4);
        (0..count).map(|_| part(random)).collect::<Vec<_>>().join(" ,")
    };
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0 => "null".to_owned(),
        1 => "true".to_owned(),
        2 => random.below(20).to_string(),
        3 => format!("-{}.{}0", random.below(5), random.below(100)),
        4 => format!("\"{}\"", random.pick(&["", "a", "b c", "\\n", "\\u00e9", "%"])),
        5 => "1e3".to_owned(),
        6 | 7 => format!("[{}]", parts(random, Box::new(move |random| document(random, depth - 1)))),
        _ => {
            let member = move |random: &mut Prng| {
                format!("\"{}\":{}", random.pick(&["a", "b", "cc", "d e"]), document(random, depth - 1))
            };
            format!("{{{}}}", parts(random, Box::new(member)))
        }
    }
}

/// A path that finds one value at most; now and then one that may find several.
fn path(random: &mut Prng, wild: bool) -> String {
    let legs = [".a", ".b", ".cc", ".\"d e\"", "[0]", "[1]", "[last]", "[last-1]", "[7]"];
    let more = [".*", "[*]", "[0 to 1]", "**.a", "**[0]"];
    let count = random.below(4);
    let leg = |random: &mut Prng| match wild && random.one_in(3) {
        true => *random.pick(&more),
        false => *random.pick(&legs),
    };
    std::iter::once("$").chain((0..count).map(|_| leg(random))).collect()
}

fn one(client: &mut Client, expression: &str) -> String {
    client.run(&format!("SELECT {expression}"))
}

#[test]
fn functions_agree_with_each_other() {
    let seed = test_seed(41);
    let mut random = Prng::new(seed);
    let mut client = Client::new(&processor(Arc::default()), 1);
    for round in 0..400 {
        let quoted = |text: String| format!("'{}'", text.replace('\\', "\\\\"));
        let [d, e] = [(); 2].map(|()| quoted(document(&mut random, 3)));
        let (p, w) = (quoted(path(&mut random, false)), quoted(path(&mut random, true)));
        for law in [
            // what is written is read back, and is what it was
            format!("CAST(CAST(CAST({d} AS JSON) AS CHAR) AS JSON) = CAST({d} AS JSON)"),
            format!("JSON_VALID(CAST({d} AS JSON))"),
            format!("JSON_UNQUOTE(JSON_QUOTE({d})) = {d}"),
            // a path finds something exactly if the document contains it
            format!("JSON_CONTAINS_PATH({d}, 'one', {w}) = (JSON_EXTRACT({d}, {w}) IS NOT NULL)"),
            // every document contains itself, and arrays of it overlap
            format!("JSON_CONTAINS({d}, {d})"),
            format!("JSON_OVERLAPS(JSON_ARRAY(1, CAST({d} AS JSON)), JSON_ARRAY(CAST({d} AS JSON)))"),
            format!("CAST({d} AS JSON) MEMBER OF (JSON_ARRAY(1, CAST({d} AS JSON)))"),
            // what is set is found, unless its place could not be made
            format!(
                "JSON_EXTRACT(JSON_SET({d}, {p}, 'new'), {p}) = 'new' OR NOT JSON_CONTAINS_PATH({d}, 'one', {p})"
            ),
            format!(
                "JSON_SET({d}, {p}, 7) = IF(JSON_CONTAINS_PATH({d}, 'one', {p}), JSON_REPLACE({d}, {p}, 7), JSON_INSERT({d}, {p}, 7))"
            ),
            format!(
                "JSON_SET({d}, {p}, JSON_EXTRACT({d}, {p})) = CAST({d} AS JSON) OR NOT JSON_CONTAINS_PATH({d}, 'one', {p})"
            ),
            // merging
            format!("JSON_MERGE_PATCH({d}, {e}) = JSON_MERGE_PATCH(JSON_MERGE_PATCH({d}, {e}), {e})"),
            format!("JSON_LENGTH(JSON_MERGE_PRESERVE(JSON_ARRAY(CAST({d} AS JSON)), JSON_ARRAY(1))) = 2"),
            // the order is total
            format!(
                "(CAST({d} AS JSON) < CAST({e} AS JSON)) + (CAST({d} AS JSON) = CAST({e} AS JSON)) + (CAST({d} AS JSON) > CAST({e} AS JSON)) = 1"
            ),
        ] {
            assert_eq!(one(&mut client, &law), "1", "seed {seed}, round {round}: {law}");
        }
    }
}

#[test]
fn any_arguments_get_an_answer() {
    let seed = test_seed(43);
    let mut random = Prng::new(seed);
    let mut client = Client::new(&processor(Arc::default()), 1);
    let functions = [
        "json_array",
        "json_array_append",
        "json_array_insert",
        "json_contains",
        "json_contains_path",
        "json_depth",
        "json_extract",
        "json_insert",
        "json_keys",
        "json_length",
        "json_merge_patch",
        "json_merge_preserve",
        "json_object",
        "json_overlaps",
        "json_pretty",
        "json_quote",
        "json_remove",
        "json_replace",
        "json_search",
        "json_set",
        "json_type",
        "json_unquote",
        "json_valid",
    ];
    let others = [
        "NULL",
        "1",
        "1.5e0",
        "x'ff'",
        "'all'",
        "'one'",
        "DATE'2026-01-02'",
        "TRUE",
        "'[1'",
        "'$['",
        "'\"'",
        "''",
    ];
    let mut answered = 0;
    for _ in 0..4_000 {
        let count = random.below(5);
        let arguments: Vec<String> = (0..count)
            .map(|_| match random.below(3) {
                0 => format!("'{}'", document(&mut random, 2).replace('\\', "\\\\")),
                1 => format!("'{}'", path(&mut random, true)),
                _ => (*random.pick(&others)).to_owned(),
            })
            .collect();
        let call = format!("{}({})", random.pick(&functions), arguments.join(", "));
        match client.answer(&format!("SELECT {call}")) {
            Ok(_) => answered += 1,
            Err(error) => {
                let known = [1210, 1582, 3064, 3141, 3143, 3144, 3146, 3149, 3153, 3154, 3158, 3165];
                assert!(known.contains(&error.number()), "seed {seed}: {call}: {error}");
            }
        }
    }
    assert!(answered > 400, "seed {seed}: only {answered} of the calls were sensible");
}
