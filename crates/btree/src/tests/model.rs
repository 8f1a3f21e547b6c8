//! A tree against a `BTreeMap`.

use std::collections::BTreeMap;
use std::ops::Bound;

use palisade_base::prng::{Prng, test_seed};

use super::harness::{Store, at_other_sizes, page_bytes, with_cleaner};
use crate::verify::{verify_space, verify_tree};
use crate::{Coming, Direction, Entry, Passed, ScanEnd, Tree, Visitor, max_entry, max_key};

pub(crate) type Model = BTreeMap<Vec<u8>, Vec<u8>>;

/// What keys and values a run uses.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Eight-byte numbers, mostly ascending.
    Ascending,
    /// Eight-byte numbers at random, rows of some hundred bytes.
    Random,
    /// Strings with long common prefixes, and some without.
    Prefixes,
    /// Keys and values up to the largest.
    Large,
}

pub(crate) const SHAPES: [Shape; 4] = [Shape::Ascending, Shape::Random, Shape::Prefixes, Shape::Large];

impl Shape {
    pub(crate) fn key(self, prng: &mut Prng, step: u64) -> Vec<u8> {
        match self {
            Shape::Ascending => {
                (1u64 << 63 | (step * 3).saturating_sub(prng.below(20))).to_be_bytes().to_vec()
            }
            Shape::Random => (1u64 << 63 | prng.below(5000)).to_be_bytes().to_vec(),
            Shape::Prefixes => {
                let group = prng.below(4);
                let prefix = [&b""[..], b"a", &[b'g'; 300], b"https://palisade.example/"][group as usize];
                [prefix, prng.below(900).to_string().as_bytes()].concat()
            }
            Shape::Large => {
                let mut key = prng.below(200).to_be_bytes().to_vec();
                let most = max_key(page_bytes()) - 100;
                let len = prng.below(most as u64) as usize % [10, 300, most][prng.below(3) as usize];
                key.resize(8 + len, 7);
                key
            }
        }
    }

    pub(crate) fn value(self, prng: &mut Prng, key: &[u8]) -> Vec<u8> {
        let most = match self {
            Shape::Ascending | Shape::Prefixes => 40,
            Shape::Random => 400,
            Shape::Large => (max_entry(page_bytes()) - key.len()) as u64,
        };
        let mut value = vec![b'v'; prng.below(most + 1) as usize];
        if let Some(byte) = value.first_mut() {
            *byte = prng.next_u64() as u8;
        }
        value
    }
}

/// Everything a tree holds, scanned leaf by leaf.
pub(crate) fn contents(store: &Store, tree: &Tree, direction: Direction) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut all = Vec::new();
    let mut end: Option<ScanEnd> = None;
    loop {
        let from = end.as_ref().map_or(Bound::Unbounded, |end| end.next_bound().unwrap());
        let next = store
            .run(|| {
                let kept = all.len();
                let scanned = tree.scan(from, direction, |key, value| {
                    all.push((key.to_vec(), value.to_vec()));
                    std::ops::ControlFlow::Continue(())
                });
                if scanned.is_err() {
                    all.truncate(kept);
                }
                scanned
            })
            .unwrap();
        if next == ScanEnd::Exhausted {
            return all;
        }
        end = Some(next);
    }
}

pub(crate) fn check(store: &Store, tree: &Tree, model: &Model) {
    let (report, space_damage) = with_cleaner(&store.pool, || {
        let report = verify_tree(tree).unwrap();
        let space_damage = verify_space(&store.space, &report.pages).unwrap();
        (report, space_damage)
    });
    assert_eq!(report.damage, []);
    assert_eq!(space_damage, []);
    assert_eq!(report.entries, model.len() as u64);
    let mut all = contents(store, tree, Direction::Forward);
    assert!(all.iter().map(|(k, v)| (k, v)).eq(model), "the tree holds what the model holds");
    all.reverse();
    assert_eq!(all, contents(store, tree, Direction::Backward));
}

/// One random change of tree and model.
pub(crate) fn change(
    store: &Store,
    tree: &Tree,
    model: &mut Model,
    shape: Shape,
    prng: &mut Prng,
    step: u64,
) {
    let key = shape.key(prng, step);
    let removing = if step / 1500 % 2 == 1 { 8 } else { 3 };
    if prng.below(10) < removing {
        // Something that is there, as a rule.
        let key = model.range(key.clone()..).next().map_or(key, |entry| entry.0.clone());
        let removed = store.remove(tree, &key).unwrap();
        assert_eq!(removed.is_some(), model.remove(&key).is_some());
        if prng.one_in(2) {
            store.run(|| tree.shrink(&key)).unwrap();
        }
    } else {
        let value = shape.value(prng, &key);
        store.put(tree, &key, &value).unwrap();
        model.insert(key, value);
    }
}

/// Takes the values of a leaf, every fifth one by a visit: those that lie where the bytes of all are from
/// there.
#[derive(Default)]
struct Taken {
    values: Vec<Vec<u8>>,
    announced: usize,
    bytes: Option<(usize, Vec<u8>)>,
}

impl Taken {
    fn add(&mut self, value: &[u8], at: usize) {
        if let Some((from, bytes)) = &self.bytes
            && let Some(place) = at.checked_sub(*from)
            && let Some(copied) = bytes.get(place..place + value.len())
        {
            assert_eq!(copied, value);
        }
        self.values.push(value.to_vec());
        assert!(self.values.len() <= self.announced);
    }
}

impl Visitor for Taken {
    fn begin(&mut self, coming: &Coming<'_>) -> bool {
        self.announced = coming.count();
        self.bytes = coming.bytes().map(|(from, bytes)| (from, bytes.to_vec()));
        true
    }

    fn take<'p>(&mut self, entries: impl Iterator<Item = Passed<'p>>) -> Option<usize> {
        for Passed { index, value, at } in entries {
            if self.values.len() % 5 == 4 {
                return Some(index);
            }
            self.add(value.expect("it is on the page"), at);
        }
        None
    }

    fn visit(&mut self, entry: Entry<'_, '_>) -> std::ops::ControlFlow<()> {
        self.add(entry.value(), entry.at());
        std::ops::ControlFlow::Continue(())
    }
}

/// Compares a random range, read to its end, with the model's.
fn check_range(store: &Store, tree: &Tree, model: &Model, shape: Shape, prng: &mut Prng, step: u64) {
    let keys = [shape.key(prng, step), shape.key(prng, step)];
    let [lower, upper] = keys.each_ref().map(|key| {
        let key = match prng.one_in(2) {
            true => key,
            // One that is there, as a rule.
            false => model.range(key.clone()..).next().map_or(key, |entry| entry.0),
        };
        *prng.pick(&[Bound::Included(&key[..]), Bound::Excluded(&key[..]), Bound::Unbounded])
    });
    let direction = *prng.pick(&[Direction::Forward, Direction::Backward]);
    let (mut from, until) = match direction {
        Direction::Forward => (lower.map(<[u8]>::to_vec), upper),
        Direction::Backward => (upper.map(<[u8]>::to_vec), lower),
    };
    let mut seen = Vec::new();
    let ahead = prng.below(20) as usize;
    loop {
        let leaf = store.run(|| {
            let mut leaf = Vec::new();
            let from = from.as_ref().map(Vec::as_slice);
            let end = tree.scan_range(from, until, direction, ahead, |mut entry| {
                let value = entry.value().to_vec();
                leaf.push((entry.key().to_vec(), value, entry.ahead()));
                std::ops::ControlFlow::Continue(())
            })?;
            let mut taken = Taken::default();
            assert_eq!(tree.visit_range(from, until, direction, ahead, &mut taken)?, end);
            Ok((leaf, end, taken))
        });
        let (leaf, end, taken) = leaf.unwrap();
        assert!(leaf.iter().rev().map(|(.., ahead)| *ahead).eq(0..leaf.len()), "each says how many follow");
        assert!(leaf.iter().map(|(_, value, _)| value).eq(&taken.values), "{lower:?} to {upper:?}");
        seen.extend(leaf.into_iter().map(|(key, value, _)| (key, value)));
        match end.next_bound() {
            Some(bound) => from = bound.map(<[u8]>::to_vec),
            None => break,
        }
    }
    if direction == Direction::Backward {
        seen.reverse();
    }
    let is_in = |key: &[u8]| std::ops::RangeBounds::contains(&(lower, upper), key);
    let expected = model.iter().filter(|(key, _)| is_in(key));
    assert!(seen.iter().map(|(k, v)| (k, v)).eq(expected), "{lower:?} to {upper:?}, {direction:?}");
}

fn check_reads(store: &Store, tree: &Tree, model: &Model, shape: Shape, prng: &mut Prng, step: u64) {
    if step.is_multiple_of(16) {
        check_range(store, tree, model, shape, prng, step);
    }
    let key = shape.key(prng, step);
    assert_eq!(store.get(tree, &key), model.get(&key).cloned());
    let bounds = [Bound::Included(&key[..]), Bound::Excluded(&key[..])];
    let bound = *prng.pick(&bounds);
    let mut seen = Vec::new();
    let visit = |found: &mut Vec<Vec<u8>>, key: &[u8]| found.push(key.to_vec());
    let end = store.run(|| {
        seen.clear();
        tree.scan(bound, Direction::Forward, |key, _| {
            visit(&mut seen, key);
            std::ops::ControlFlow::Continue(())
        })
    });
    let expected: Vec<_> = model
        .range::<[u8], _>((bound, Bound::Unbounded))
        .take(seen.len())
        .map(|entry| entry.0.clone())
        .collect();
    assert_eq!(seen, expected);
    if end.unwrap() == ScanEnd::Exhausted {
        assert_eq!(seen.len(), model.range::<[u8], _>((bound, Bound::Unbounded)).count());
    }
}

#[test]
fn a_tree_is_a_sorted_map() {
    is_a_sorted_map();
}

#[test]
fn a_tree_of_pages_of_another_size_is_a_sorted_map() {
    at_other_sizes(is_a_sorted_map);
}

fn is_a_sorted_map() {
    let seed = test_seed(21);
    for (number, shape) in SHAPES.into_iter().enumerate() {
        let mut prng = Prng::new(seed + number as u64);
        let store = Store::in_memory(400);
        let tree = store.create_tree();
        let mut model = Model::new();
        for step in 0..4500 {
            change(&store, &tree, &mut model, shape, &mut prng, step);
            if step % 16 == 0 {
                check_reads(&store, &tree, &model, shape, &mut prng, step);
            }
            if step % 900 == 899 {
                check(&store, &tree, &model);
            }
        }
        // Down to nothing: one leaf is left, and every other page is free again.
        for key in model.keys() {
            store.remove(&tree, key).unwrap();
            store.run(|| tree.shrink(key)).unwrap();
        }
        check(&store, &tree, &Model::new());
        assert_eq!(verify_tree(&tree).unwrap().pages.len(), 1, "{shape:?}");
    }
}

#[test]
fn a_tree_larger_than_the_pool_is_the_same_tree() {
    let mut prng = Prng::new(test_seed(22));
    let store = Store::in_memory(24);
    let tree = store.create_tree();
    let mut model = Model::new();
    for step in 0..1500 {
        change(&store, &tree, &mut model, Shape::Random, &mut prng, step);
    }
    check(&store, &tree, &model);
}

#[test]
fn entries_next_to_each_other_come_as_bytes() {
    let store = Store::in_memory(100);
    let tree = store.create_tree();
    let key = |number: u64| (1 << 63 | number).to_be_bytes();
    let mut whole = 0;
    for number in 0..400 {
        store.put(&tree, &key(number), &[number as u8; 150]).unwrap();
    }
    let bounds = [0, 10, 75, 390, 400].map(key);
    for (from, until) in bounds.iter().zip(bounds.iter().skip(1)) {
        let mut from = Bound::Included(from.to_vec());
        loop {
            let mut taken = Taken::default();
            let end = store.run(|| {
                taken = Taken::default();
                let (from, until) = (from.as_ref().map(Vec::as_slice), Bound::Excluded(&until[..]));
                tree.visit_range(from, until, Direction::Forward, 0, &mut taken)
            });
            let size: usize = taken.values.iter().map(|value| value.len() + 8).sum();
            match &taken.bytes {
                Some((_, bytes)) => {
                    assert!(bytes.len() <= size, "{} bytes for {size}", bytes.len());
                    whole += taken.values.len();
                }
                None => assert!(taken.values.len() <= 8),
            }
            match end.unwrap().next_bound() {
                Some(bound) => from = bound.map(<[u8]>::to_vec),
                None => break,
            }
        }
    }
    assert!(whole >= 360, "{whole} of 400");
}
