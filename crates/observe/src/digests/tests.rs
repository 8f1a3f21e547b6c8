//! Tests of rows by digest.

use super::*;
use crate::sums::Number;

const RULE: SampleRule = SampleRule { age_ns: 1_000, text: 8 };

fn hash(text: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
    hash
}

fn execute(digests: &Digests, schema: Option<&str>, text: &str, done: &Done) {
    let found = digests.find(schema, text.as_bytes(), hash);
    digests.add(found.map(|(row, _)| row), done, text.as_bytes(), || RULE);
}

fn shown(digests: &Digests) -> Vec<String> {
    let row = |row: DigestRow| {
        let of = |digest: &Arc<Digest>| {
            let schema = digest.schema.as_deref().unwrap_or("-").to_owned();
            format!("{schema} {}", String::from_utf8_lossy(&digest.text))
        };
        let digest = row.digest.as_ref().map_or("none".to_owned(), of);
        let sample = row.sample.unwrap_or_default();
        let sample = String::from_utf8_lossy(&sample.text).into_owned();
        format!("{digest}: {} of {} ns, {sample}", row.sums.count, row.sums.wait_ns)
    };
    let mut rows: Vec<String> = digests.rows().map(row).collect();
    rows.sort();
    rows
}

#[test]
fn statements_are_told_apart_by_text_and_schema() {
    let digests = Digests::new(10);
    for (schema, text) in [(None, "do"), (Some("a"), "do"), (Some("b"), "do"), (Some("a"), "do")] {
        execute(&digests, schema, text, &Done::new(20, 100));
    }
    assert_eq!(shown(&digests), ["- do: 1 of 20 ns, do", "a do: 2 of 40 ns, do", "b do: 1 of 20 ns, do"]);
    assert_eq!(digests.all().total(), 4);
}

#[test]
fn threads_count_apart_and_are_added_up() {
    let digests = Digests::new(10);
    // A thread gives its shard back when it has ended, for which only a join waits.
    std::thread::scope(|scope| {
        let count = |thread: u64| {
            for at in 0..1000 {
                let mut done = Done::new(10 + thread, at);
                done.set(Number::RowsSent, 2);
                execute(&digests, Some("test"), "select", &done);
            }
        };
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || count(thread))).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    });
    let row = digests.rows().next().expect("one row");
    assert_eq!((row.sums.count, row.sums.get(Number::RowsSent), row.counts.total()), (4000, 8000, 4000));
    assert_eq!((row.sums.min_ns, row.sums.max_ns), (10, 13));
    // Shards of threads that have ended are taken by those that come.
    for _ in 0..20 {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| execute(&digests, None, "do", &Done::new(1, 1)));
            thread.join().expect("no panic");
        });
    }
    assert!(locked(&digests.home.shards).all.len() <= 5);
    assert_eq!(digests.rows().map(|row| row.sums.count).sum::<u64>(), 4020);
}

#[test]
fn what_finds_no_room_is_counted_together() {
    let digests = Digests::new(2);
    for text in ["a", "b", "c", "d", "c"] {
        execute(&digests, None, text, &Done::new(1, 1));
    }
    let seen = shown(&digests);
    assert_eq!(seen[..2], ["- a: 1 of 1 ns, a", "- b: 1 of 1 ns, b"]);
    assert!(seen[2].starts_with("none: 3 of 3 ns"), "{seen:?}");
    assert_eq!((seen.len(), digests.lost()), (3, 3));
    digests.truncate();
    assert_eq!((digests.rows().count(), digests.lost()), (0, 3));
    let nothing = Digests::new(0);
    execute(&nothing, None, "a", &Done::new(1, 1));
    assert_eq!(shown(&nothing), ["none: 1 of 1 ns, a"]);
}

#[test]
fn after_truncate_rows_begin_anew() {
    let digests = Digests::new(2);
    let memo = Memo::default();
    let make = || Digest::new(Some("s"), b"kept", hash);
    let run = |done: &Done| {
        let known = memo.find(&digests, Some("s"), make);
        digests.add(Some(known.row(&digests)), done, &known.digest.text, || RULE);
    };
    run(&Done::new(5, 1));
    execute(&digests, None, "other", &Done::new(7, 1));
    digests.truncate();
    assert!(shown(&digests).is_empty());
    run(&Done::new(6, 2));
    execute(&digests, None, "other", &Done::new(8, 2));
    assert_eq!(shown(&digests), ["- other: 1 of 8 ns, other", "s kept: 1 of 6 ns, kept"]);
    assert_eq!(digests.all().total(), 4, "which has a TRUNCATE of its own");
    digests.truncate_all();
    assert_eq!((digests.all().total(), digests.rows().count()), (0, 2));
    run(&Done::new(6, 3));
    assert_eq!(digests.all().total(), 1);
    digests.truncate_histograms();
    run(&Done::new(6, 4));
    let counts = |row: DigestRow| (row.sums.count, row.counts.total());
    let mut seen: Vec<_> = digests.rows().map(counts).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(1, 0), (3, 1)]);
}

#[test]
fn a_memo_has_a_row_for_each_schema() {
    let (digests, memo) = (Digests::new(100), Memo::default());
    let mut numbers = std::collections::HashSet::new();
    for _ in 0..2 {
        for schema in [Some("a"), None, Some("b"), Some("a")] {
            let make = || Digest::new(schema, b"x", hash);
            let known = memo.find(&digests, schema, make);
            assert_eq!(known.digest.schema.as_deref(), schema);
            digests.add(Some(known.row(&digests)), &Done::new(1, 1), b"x", || RULE);
            numbers.insert(known.number);
        }
    }
    assert!(numbers.len() == 3 && !numbers.contains(&0), "{numbers:?}");
    assert_eq!(shown(&digests), ["- x: 2 of 2 ns, x", "a x: 4 of 4 ns, x", "b x: 2 of 2 ns, x"]);
    for number in 0..50 {
        let schema = format!("s{number}");
        let make = || Digest::new(Some(&schema), b"x", hash);
        let row = memo.find(&digests, Some(&schema), make).row(&digests);
        digests.add(Some(row), &Done::new(1, 1), b"", || RULE);
    }
    assert_eq!(digests.rows().count(), 53, "rows stay although the memo forgets them");
}

#[test]
fn the_sample_is_the_slowest_until_it_is_old() {
    let digests = Digests::new(4);
    let sample_after = |text: &str, wait_ns, ended_ns| {
        let row = digests.find(None, b"x", hash).map(|(row, _)| row);
        digests.add(row, &Done::new(wait_ns, ended_ns), text.as_bytes(), || RULE);
        let sample = digests.rows().next().and_then(|row| row.sample).expect("a sample");
        (String::from_utf8(sample.text).expect("text"), sample.wait_ns)
    };
    assert_eq!(sample_after("first", 50, 100), ("first".to_owned(), 50));
    assert_eq!(sample_after("faster", 40, 200), ("first".to_owned(), 50));
    assert_eq!(sample_after("slower and longer", 60, 300), ("slower a".to_owned(), 60));
    assert_eq!(sample_after("old", 10, 1300), ("old".to_owned(), 10));
    assert_eq!(sample_after("next", 11, 1400), ("next".to_owned(), 11));
}
