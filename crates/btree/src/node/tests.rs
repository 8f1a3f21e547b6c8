//! A page of entries against a sorted vector.

use palisade_base::PageNo;
use palisade_base::prng::{Prng, test_seed};
use palisade_buffer::Page;
use palisade_buffer::PageSize;

use super::*;
use crate::blank::blank_unused;
use crate::layout::{max_entry, max_key, node};

const SIZE: PageSize = PageSize::DEFAULT;
const CAPACITY: usize = node::capacity(SIZE.bytes());
const MAX_KEY: usize = max_key(SIZE.bytes());
const MAX_ENTRY: usize = max_entry(SIZE.bytes());

type Model = Vec<(Vec<u8>, Vec<u8>)>;

fn node(page: &mut Page) -> NodeEdit<'_> {
    NodeEdit::new(page).unwrap()
}

fn fresh() -> Box<Page> {
    let mut page = Page::zeroed(SIZE);
    NodeEdit::format(&mut page, 7, 0, PageNo(0), PageNo(0));
    page
}

fn agrees(page: &Page, model: &Model) {
    let view = NodeView::new(page);
    view.check().unwrap();
    view.check_order().unwrap();
    assert_eq!(view.slot_count(), model.len());
    let mut key = Key::new();
    for (slot, entry) in model.iter().enumerate() {
        assert!(view.read_key(slot, &mut key));
        assert_eq!((&key[..], view.value(slot).unwrap()), (&entry.0[..], &entry.1[..]), "slot {slot}");
    }
}

/// Keys that share prefixes, are prefixes of each other, end in zeros, or are empty.
fn random_key(prng: &mut Prng, prefix: &[u8]) -> Vec<u8> {
    let mut key = prefix.to_vec();
    for _ in 0..prng.below(7) {
        key.push(*prng.pick(&[0, 0, 1, 2, 255]));
    }
    if prng.one_in(20) {
        key.extend(std::iter::repeat_n(b'x', prng.below(200) as usize));
    }
    key
}

fn random_value(prng: &mut Prng) -> Vec<u8> {
    let most = if prng.one_in(10) { 1500 } else { 60 };
    vec![prng.next_u64() as u8; prng.below(most) as usize]
}

fn place(model: &Model, key: &[u8]) -> Result<usize, usize> {
    model.binary_search_by(|entry| entry.0.as_slice().cmp(key))
}

fn one_change(page: &mut Page, model: &mut Model, prng: &mut Prng, prefix: &[u8]) {
    let key = random_key(prng, prefix);
    let at = NodeView::new(&*page).search(&key);
    match (place(model, &key), prng.below(10)) {
        (Err(slot), 0..7) => {
            assert_eq!(at, Search { slot, found: false });
            let value = random_value(prng);
            let kept = NodeView::new(&*page).prefix_len();
            let room = crate::tree::change::has_room(page, &key, value.len()).unwrap();
            let before = page.to_vec();
            let inserted = node(page).insert(slot, &key[kept..], &value);
            assert_eq!(inserted.is_ok(), room, "{inserted:?}");
            match room {
                true => model.insert(slot, (key, value)),
                false => assert_eq!(before, page.to_vec(), "a refused insert changes nothing"),
            }
        }
        (Ok(slot), 0..4) => {
            assert_eq!(at, Search { slot, found: true });
            node(page).remove(slot).unwrap();
            model.remove(slot);
        }
        (Ok(slot), _) => {
            let old = &model[slot].1;
            let front = prng.below(old.len() as u64 + 1) as usize;
            let back = prng.below((old.len() - front) as u64 + 1) as usize;
            let middle = random_value(prng);
            let new = [&old[..front], &middle, &old[old.len() - back..]].concat();
            if node(page).replace(slot, front, back, &middle).is_ok() {
                model[slot].1 = new;
            } else {
                assert!(NodeView::new(&*page).free() < new.len());
            }
        }
        (Err(_), 7) if !model.is_empty() => {
            let (first, last) = (&model[0].0, &model[model.len() - 1].0);
            let shared = common_prefix(first, last).min(MAX_KEY);
            let len = prefix.len() + prng.below((shared - prefix.len()) as u64 + 1) as usize;
            let _ = node(page).set_prefix(len);
        }
        (Err(_), 8) if prng.one_in(30) => {
            let count = prng.below(model.len() as u64 + 1) as usize;
            node(page).truncate(count).unwrap();
            model.truncate(count);
        }
        (Err(_), _) => {}
    }
}

/// Blanks what is unused: what is counted stays, and so many bytes are zeros.
fn blanked(page: &mut Page) {
    let before = page.to_owned();
    blank_unused(page);
    let (old, new) = (NodeView::new(&*before), NodeView::new(&*page));
    assert_eq!((old.free(), old.garbage(), old.heap_top()), (new.free(), new.garbage(), new.heap_top()));
    let zeros = page.iter().filter(|byte| **byte == 0).count();
    assert!(zeros >= new.free(), "{zeros} zeros, {} bytes free", new.free());
    assert!(page.iter().zip(before.iter()).all(|(new, old)| new == old || *new == 0), "nothing else changes");
}

#[test]
fn a_node_is_a_sorted_vector() {
    let mut prng = Prng::new(test_seed(1));
    for round in 0..12 {
        let prefix = vec![b'p'; if round % 3 == 0 { 0 } else { prng.below(40) as usize }];
        let (mut page, mut model) = (fresh(), Model::new());
        node(&mut page).put_prefix(&prefix).unwrap();
        for step in 0..400 {
            // A prefix longer than that of the keys to come cannot stay.
            if NodeView::new(&*page).prefix_len() > prefix.len()
                && node(&mut page).set_prefix(prefix.len()).is_err()
            {
                break;
            }
            one_change(&mut page, &mut model, &mut prng, &prefix);
            if prng.one_in(10) {
                blanked(&mut page);
            }
            if step % 8 == 0 {
                agrees(&page, &model);
            }
        }
        agrees(&page, &model);
    }
}

#[test]
fn keys_that_differ_by_trailing_zeros_only_are_told_apart() {
    let mut page = fresh();
    let keys: Vec<Vec<u8>> = (0..8).map(|zeros| [b"a", &[0; 8][..zeros]].concat()).collect();
    for (slot, key) in keys.iter().enumerate() {
        node(&mut page).insert(slot, key, b"v").unwrap();
    }
    let view = NodeView::new(&*page);
    view.check_order().unwrap();
    for (slot, key) in keys.iter().enumerate() {
        assert_eq!(view.search(key), Search { slot, found: true });
    }
    assert_eq!(view.search(b""), Search { slot: 0, found: false });
    assert_eq!(view.search(b"a\0\0\0\x01"), Search { slot: 8, found: false });
}

#[test]
fn four_of_the_largest_entries_fit() {
    let mut page = fresh();
    for slot in 0..4 {
        let mut key = vec![b'k'; MAX_KEY];
        key[0] = slot as u8;
        node(&mut page).insert(slot, &key, &[0; MAX_ENTRY - MAX_KEY]).unwrap();
    }
    NodeView::new(&*page).check().unwrap();
}

#[test]
fn a_prefix_gives_room_and_a_key_without_it_takes_it_back() {
    let mut page = fresh();
    let mut slot = 0;
    while node(&mut page).insert(slot, format!("a long common prefix {slot:05}").as_bytes(), b"").is_ok() {
        slot += 1;
    }
    let full = NodeView::new(&*page).used();
    node(&mut page).set_prefix(21).unwrap();
    assert!(NodeView::new(&*page).used() < full / 2);
    NodeView::new(&*page).check_order().unwrap();
    assert_eq!(node(&mut page).set_prefix(30), Err("the keys have less in common"));
    while node(&mut page).insert(slot, format!("{slot:05}").as_bytes(), b"").is_ok() {
        slot += 1;
    }
    assert_eq!(node(&mut page).set_prefix(0), Err("no room for a shorter prefix"));
    assert!(NodeView::new(&*page).used() > CAPACITY - 30);
}

#[test]
fn the_separator_is_the_shortest_key_between() {
    assert_eq!(separator(b"abc", b"abd"), b"abd");
    assert_eq!(separator(b"abcdef", b"abdzzz"), b"abd");
    assert_eq!(separator(b"", b"xyz"), b"x");
    assert_eq!(separator(b"ab", b"abc"), b"abc");
}

#[test]
fn ascending_inserts_are_noticed_and_removals_end_them() {
    let mut page = fresh();
    for slot in 0..6 {
        node(&mut page).insert(slot, &[slot as u8], b"").unwrap();
    }
    assert_eq!(NodeView::new(&*page).ascending_slot(), Some(6));
    node(&mut page).remove(0).unwrap();
    assert_eq!(NodeView::new(&*page).ascending_slot(), None);
}
