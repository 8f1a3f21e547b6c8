//! How often a subquery is run whose values are remembered.

use super::*;

/// What a run costs that takes little, and one that takes much.
const LITTLE: f64 = 1000.0;
const MUCH: f64 = 100_000.0;

/// How often a subquery is run for rows with these values.
fn runs(values: impl Iterator<Item = i64>, run: f64) -> usize {
    let (mut memo, mut frame, mut runs) = (Memo::default(), Frame::default(), 0);
    for value in values {
        frame.slots = vec![Slot::Values([Value::Int(value)].into())];
        let is_known = memo.find(&frame, &[(0, 0)]).unwrap().is_some();
        memo.count(is_known, run);
        if !is_known {
            runs += 1;
            memo.remember(&Value::Int(value), run);
        }
    }
    runs
}

#[test]
fn values_that_come_again_are_remembered() {
    assert_eq!(runs((0..20_000).map(|row| row / 10), LITTLE), 2000);
    // None of the first thousand is like another one.
    assert_eq!(runs((0..20_000).map(|row| row % 1000), LITTLE), 1000);
    assert_eq!(runs((0..200_000).map(|row| row % 50_000), MUCH), 50_000);
}

#[test]
fn what_takes_little_is_run_where_no_value_comes_again() {
    let differing = || (0..20_000).chain(0..20_000);
    assert_eq!(runs(differing(), LITTLE), 40_000);
    assert_eq!(runs(differing(), MUCH), 20_000);
}
