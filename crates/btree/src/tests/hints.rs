//! Look-ups that first try where a key was found before.

use std::collections::BTreeMap;

use palisade_base::prng::{Prng, test_seed};
use palisade_buffer::metrics::{ADAPTIVE_HASH_SEARCHES, ADAPTIVE_HASH_SEARCHES_BTREE};

use super::harness::Store;
use super::model::{Model, SHAPES, Shape, change};

/// Look-ups of keys that are there, were there, and never were, while leaves are split, merged, given back
/// and evicted.
fn against_the_model(shape: Shape, seed: u64) {
    let store = Store::in_memory(24);
    let tree = store.create_tree();
    store.pool.set_hints(true);
    let mut prng = Prng::new(seed);
    let mut model = Model::new();
    let mut asked: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
    for step in 0..6000 {
        change(&store, &tree, &mut model, shape, &mut prng, step);
        // A key that was asked for before, most of the time: its guess may be from long ago.
        let key = match asked.range(prng.below(400)..).next() {
            Some((_, key)) if !prng.one_in(3) => key.clone(),
            _ => shape.key(&mut prng, step),
        };
        assert_eq!(store.get(&tree, &key), model.get(&key).cloned(), "step {step} of {shape:?}, seed {seed}");
        asked.insert(prng.below(400), key);
        if prng.one_in(1500) {
            store.pool.set_hints(false);
            store.pool.set_hints(true);
        }
    }
}

#[test]
fn guesses_change_no_answer() {
    let seed = test_seed(152);
    for shape in SHAPES {
        against_the_model(shape, seed);
    }
}

#[test]
fn a_key_is_found_without_the_tree_once_it_is_known() {
    let store = Store::in_memory(64);
    let tree = store.create_tree();
    let key = |number: u64| number.to_be_bytes();
    for number in 0..2000 {
        store.put(&tree, &key(number), &[7; 100]).unwrap();
    }
    // Other tests count, too: only what is counted at least is known.
    let counted = || (ADAPTIVE_HASH_SEARCHES.value(), ADAPTIVE_HASH_SEARCHES_BTREE.value());
    let look_up = |numbers: std::ops::Range<u64>| {
        let before = counted();
        for number in numbers {
            assert_eq!(store.get(&tree, &key(number)).as_deref(), Some(&[7; 100][..]));
        }
        (counted().0 - before.0, counted().1 - before.1)
    };
    store.pool.set_hints(true);
    assert!(look_up(0..100).1 >= 100);
    assert!(look_up(0..100).0 >= 90, "but for those that have taken each other's places");
    // What has moved within its page is found on it, and from then on at once.
    store.remove(&tree, &key(0)).unwrap();
    assert!(look_up(1..100).0 >= 90);
    assert_eq!(store.get(&tree, &key(0)), None);
    let (words, known) = store.pool.hints().fill();
    assert!(words >= 4096 && (90..=101).contains(&known), "{known} of {words}");
    store.pool.set_hints(false);
    assert_eq!(store.pool.hints().fill().1, 0);
    assert_eq!(store.get(&tree, &key(5)).as_deref(), Some(&[7; 100][..]));
    assert_eq!(store.pool.hints().fill().1, 0);
}
