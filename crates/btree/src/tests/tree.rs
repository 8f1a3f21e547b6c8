//! Particular shapes of trees.

use std::ops::{Bound, ControlFlow};

use palisade_base::PageNo;
use palisade_base::prng::{Prng, test_seed};

use super::harness::{Store, with_cleaner};
use super::model::{Model, check};
use crate::node::NodeView;
use crate::verify::verify_tree;
use crate::{Direction, Error, Mtr, PageOp, ScanEnd, Tree, alloc, max_entry, max_key};

const SIZE: palisade_buffer::PageSize = palisade_buffer::PageSize::DEFAULT;
const CAPACITY: usize = crate::layout::node::capacity(SIZE.bytes());
const MAX_KEY: usize = max_key(SIZE.bytes());
const MAX_ENTRY: usize = max_entry(SIZE.bytes());

fn number(n: u64) -> [u8; 8] {
    (1u64 << 63 | n).to_be_bytes()
}

#[test]
fn ascending_inserts_fill_the_leaves_and_lie_in_a_row() {
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    let row = [7; 180];
    for n in 0..10_000 {
        store.put(&tree, &number(n), &row).unwrap();
    }
    let report = verify_tree(&tree).unwrap();
    let fill = report.leaf_bytes as f64 / (report.leaf_pages * CAPACITY as u64) as f64;
    assert!(fill > 0.90, "leaves are {fill:.2} full");
    assert_eq!(report.levels, 2);
    let pages: Vec<u32> = report.pages.iter().map(|page| page.0).collect();
    let neighbours = pages.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count();
    assert!(
        neighbours * 100 > pages.len() * 98,
        "{neighbours} of {} pages follow their neighbour",
        pages.len()
    );
}

#[test]
fn ascending_inserts_in_the_middle_fill_the_leaves_too() {
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    for user in 0..20u64 {
        store.put(&tree, &[number(user), number(0)].concat(), &[1; 100]).unwrap();
    }
    for n in 1..5000 {
        store.put(&tree, &[number(10), number(n)].concat(), &[1; 100]).unwrap();
    }
    let report = verify_tree(&tree).unwrap();
    assert_eq!(report.damage, []);
    let fill = report.leaf_bytes as f64 / (report.leaf_pages * CAPACITY as u64) as f64;
    assert!(fill > 0.85, "leaves are {fill:.2} full");
}

#[test]
fn the_prefix_of_ascending_numbers_is_kept_once() {
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    for n in 0..70_000u64 {
        store.put(&tree, &number(n), b"").unwrap();
    }
    let report = verify_tree(&tree).unwrap();
    assert_eq!((report.damage.len(), report.entries), (0, 70_000));
    let per_entry = report.leaf_bytes as f64 / report.entries as f64;
    assert!(per_entry < 10.6, "{per_entry:.2} bytes an entry: 8 for the slot, 2 for the value's length");
}

#[test]
fn keys_without_the_common_prefix_split_off() {
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    let mut model = Model::new();
    let mut put = |key: Vec<u8>| {
        store.put(&tree, &key, b"v").unwrap();
        model.insert(key, b"v".to_vec());
    };
    let long = vec![b'm'; 3000];
    for n in 0..2000u32 {
        put([&long[..], &n.to_be_bytes()].concat());
    }
    for edge in [&b""[..], b"a", b"mm", b"mmmz", b"z", &[b'm'; 3500]] {
        put(edge.to_vec());
    }
    for n in 2000..2500u32 {
        put([&long[..], &n.to_be_bytes()].concat());
    }
    check(&store, &tree, &model);
    let report = verify_tree(&tree).unwrap();
    assert!(
        report.leaf_pages < 12,
        "{} leaves for 2500 entries of which all but six share 3000 bytes",
        report.leaf_pages
    );
}

/// Short keys have no bytes that a longer prefix would save: on a full leaf that keeps all its entries there is no room
/// for it.
#[test]
fn a_full_leaf_of_short_keys_splits_at_either_edge() {
    use crate::layout::node::{ENTRY_HEADER, SLOT_SIZE};
    const ENTRIES: usize = 5;
    for slack in 0..6 {
        for incoming in [&b"abcz"[..], b"zzzz", b"aa", b"abca"] {
            let store = Store::in_memory(100);
            let tree = store.create_tree();
            let mut left = CAPACITY - slack - ENTRIES * (SLOT_SIZE + ENTRY_HEADER);
            let mut keys = Vec::new();
            for n in 0..ENTRIES {
                let value = vec![1; left / (ENTRIES - n)];
                left -= value.len();
                let key = [b'a', b'b', b'c', b'm' + n as u8];
                store.put(&tree, &key, &value).unwrap();
                keys.push(key.to_vec());
            }
            assert_eq!(verify_tree(&tree).unwrap().leaf_pages, 1);
            store.put(&tree, incoming, &[2; 1000]).unwrap();
            keys.push(incoming.to_vec());
            let report = verify_tree(&tree).unwrap();
            assert_eq!((report.damage, report.leaf_pages), (vec![], 2), "slack {slack}");
            assert!(keys.iter().all(|key| store.get(&tree, key).is_some()));
        }
    }
}

#[test]
fn an_entry_too_large_is_refused_and_the_largest_is_taken() {
    let store = Store::in_memory(100);
    let tree = store.create_tree();
    let key = vec![1; MAX_KEY];
    assert!(matches!(
        store.put(&tree, &key, &[0; MAX_ENTRY - MAX_KEY + 1]),
        Err(Error::EntryTooLarge { key: MAX_KEY, .. })
    ));
    assert!(matches!(store.put(&tree, &[1; MAX_KEY + 1], b""), Err(Error::EntryTooLarge { .. })));
    store.put(&tree, &key, &[0; MAX_ENTRY - MAX_KEY]).unwrap();
    store.put(&tree, b"", &[0; MAX_ENTRY]).unwrap();
    assert_eq!(store.get(&tree, b"").unwrap().len(), MAX_ENTRY);
    assert_eq!(store.get(&tree, &key).unwrap().len(), MAX_ENTRY - MAX_KEY);
}

/// Entries go in the order opposite to that in which they came, as in a rollback: while a leaf is emptied,
/// the one before it is full.
#[test]
fn a_leaf_that_is_emptied_beside_a_full_one_is_seldom_looked_at_and_goes_in_the_end() {
    let store = Store::in_memory(300);
    let tree = store.create_tree();
    for n in 0..20_000 {
        store.put(&tree, &number(n), &[5; 20]).unwrap();
    }
    let leaves = with_cleaner(&store.pool, || verify_tree(&tree).unwrap().leaf_pages) as usize;
    assert!((30..100).contains(&leaves), "{leaves}");
    let mut looks = 0;
    for key in (0..20_000).rev().map(number) {
        let is_due = store.run(|| {
            let mut mtr = Mtr::begin(&store.log, crate::mtr::max_entry_change_bytes(SIZE))?;
            let position = tree.acquire_existing(&mut mtr, &key)?;
            let is_due = tree.is_due_to_shrink(&mtr, &position);
            tree.remove(&mut mtr, position);
            mtr.commit(|_| {});
            Ok(is_due)
        });
        if is_due.unwrap() {
            looks += 1;
            store.run(|| tree.shrink(&key)).unwrap();
        }
    }
    // an entry in five would make it underfull, or leave it so
    assert!((leaves - 1..=18 * leaves).contains(&looks), "{looks} for {leaves} leaves");
    let verified = with_cleaner(&store.pool, || verify_tree(&tree).unwrap());
    assert_eq!((verified.levels, verified.leaf_pages), (1, 1));
}

#[test]
fn a_disk_that_is_full_changes_nothing() {
    let fs = std::sync::Arc::new(palisade_io::FaultFileSystem::new(1));
    let store = Store::on_faulty_disk(&fs, 200);
    let tree = store.create_tree();
    let mut model = Model::new();
    fs.limit_space(Some(20 << 20));
    let mut refused = 0;
    for n in 0..40_000u64 {
        match store.put(&tree, &number(n), &[3; 900]) {
            Ok(_) => drop(model.insert(number(n).to_vec(), vec![3; 900])),
            Err(Error::NoSpace(_)) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        if refused > 100 {
            break;
        }
    }
    assert!(refused > 100, "the disk was to become full");
    check(&store, &tree, &model);
    // What is there can be changed and removed, and what is freed can be used.
    for n in 0..200 {
        store.remove(&tree, &number(n)).unwrap();
        store.run(|| tree.shrink(&number(n))).unwrap();
        model.remove(&number(n)[..]);
    }
    for n in 0..100 {
        store.put(&tree, &number(n), &[4; 900]).unwrap();
        model.insert(number(n).to_vec(), vec![4; 900]);
    }
    check(&store, &tree, &model);
}

#[test]
fn a_tree_is_given_back_page_by_page_and_can_be_used_again() {
    let store = Store::in_memory(150);
    let tree = store.create_tree();
    // Separators within a group are long, so that inner nodes have few children.
    let key = |n: u32| [&(n / 50).to_be_bytes()[..], &[b'k'; 1500], &n.to_be_bytes()].concat();
    for round in 0..2 {
        for n in 0..700u32 {
            store.put(&tree, &key(n * 7919 % 700), &[round; 400]).unwrap();
        }
        assert!(with_cleaner(&store.pool, || verify_tree(&tree).unwrap().levels) >= 3);
        let mut steps = 0;
        while store.run(|| tree.clear_some()).unwrap() {
            steps += 1;
        }
        assert!((3..100).contains(&steps), "{steps} steps");
        check(&store, &tree, &Model::new());
    }
    assert!(!store.run(|| tree.clear_some()).unwrap(), "an empty tree stays one");
    check(&store, &tree, &Model::new());
}

#[test]
fn giving_a_damaged_tree_back_takes_no_page_of_others() {
    const OTHER: u64 = 78;
    for case in 0..5 {
        let store = Store::in_memory(150);
        let tree = store.create_tree();
        let root = store.run(|| {
            let mut mtr = Mtr::begin(&store.log, 1000)?;
            let mut reservation = alloc::reserve(&mut mtr, &store.space, PageNo::NONE, 1)?;
            let root = Tree::create(&mut mtr, &mut reservation, OTHER);
            mtr.commit(|_| {});
            Ok(root)
        });
        let other = Tree::open(store.log.clone(), store.space.clone(), root.unwrap(), OTHER);
        for n in 0..80 {
            store.put(&tree, &number(n), &[1; 900]).unwrap();
        }
        store.put(&other, b"key", b"value").unwrap();
        let mut mtr = store.run(|| Mtr::begin(&store.log, 1000)).unwrap();
        let handle = store.run(|| mtr.exclusive(&store.space, tree.root())).unwrap();
        let node = NodeView::new(mtr.page(handle));
        assert!(node.level() == 1 && node.slot_count() > 2);
        let child = match case {
            0 => node.child(2),
            1 => PageNo(0),
            2 => tree.root(),
            3 => other.root(),
            _ => PageNo(u32::MAX),
        };
        mtr.apply(handle, PageOp::Replace { slot: 0, front: 0, back: 0, middle: &child.0.to_le_bytes() });
        mtr.commit(|_| {});
        let cleared = store.run(|| tree.clear_some());
        match case {
            // What cannot be read is lost, and the rest is given back.
            4 => assert!(cleared.unwrap()),
            _ => assert!(matches!(cleared, Err(Error::Corrupted { .. })), "{case}: {cleared:?}"),
        }
        assert_eq!(store.get(&other, b"key").as_deref(), Some(&b"value"[..]), "{case}");
        assert!(store.run(|| alloc::is_in_use(&store.space, other.root())).unwrap());
    }
}

#[test]
fn estimates_are_near_the_truth() {
    let mut prng = Prng::new(test_seed(41));
    let store = Store::in_memory(2000);
    let tree = store.create_tree();
    let keys = 60_000;
    for n in 0..keys {
        store.put(&tree, &number(n), &[1; 100]).unwrap();
    }
    let report = verify_tree(&tree).unwrap();
    let statistics = store.run(|| tree.statistics(16, 1)).unwrap();
    let near = |a: u64, b: u64| (a as f64 - b as f64).abs() <= b as f64 * 0.2 + 2.0;
    assert_eq!(statistics.levels, report.levels);
    assert!(near(statistics.leaf_pages, report.leaf_pages), "{statistics:?} {}", report.leaf_pages);
    assert!(near(statistics.entries, report.entries), "{statistics:?}");
    for _ in 0..200 {
        let (a, b) = (prng.below(keys), prng.below(keys));
        let (low, high) = (number(a), number(b));
        let estimate =
            store.run(|| tree.records_in_range(Bound::Included(&low), Bound::Excluded(&high))).unwrap();
        assert!(near(estimate, b.saturating_sub(a)), "{a}..{b}: {estimate}");
    }
    let all = store.run(|| tree.records_in_range(Bound::Unbounded, Bound::Unbounded)).unwrap();
    assert!(near(all, keys), "{all}");
    let (low, high) = (number(1000), number(1003));
    let four = store.run(|| tree.records_in_range(Bound::Included(&low), Bound::Included(&high))).unwrap();
    let two = store.run(|| tree.records_in_range(Bound::Excluded(&low), Bound::Excluded(&high))).unwrap();
    assert_eq!((four, two), (4, 2));
}

/// The part of their room that leaves use.
fn fill(tree: &Tree) -> f64 {
    let report = verify_tree(tree).unwrap();
    assert_eq!(report.damage, []);
    report.leaf_bytes as f64 / (report.leaf_pages * CAPACITY as u64) as f64
}

#[test]
fn leaves_shift_entries_to_their_neighbours_before_they_are_split() {
    let mut prng = Prng::new(test_seed(7));
    // In random order.
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    let mut model = Model::new();
    for _ in 0..15_000 {
        let key = number(prng.next_u64() >> 1).to_vec();
        store.put(&tree, &key, &[7; 60]).unwrap();
        model.insert(key, vec![7; 60]);
    }
    check(&store, &tree, &model);
    assert!(fill(&tree) > 0.76, "leaves are {:.2} full", fill(&tree));
    // Four connections that load a range each, whose keys ascend but for pairs.
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    for n in 0..4000u64 {
        for range in 0..4u64 {
            store.put(&tree, &number((range << 32) + (n ^ 1)), &[7; 60]).unwrap();
        }
    }
    assert!(fill(&tree) > 0.85, "leaves are {:.2} full", fill(&tree));
    // Four connections that take ranges of ascending keys one after another, and insert each range at once.
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    for range in (0..40u64).map(|n| n / 4 * 4 + [2, 0, 3, 1][n as usize % 4]) {
        for n in 0..1100 {
            store.put(&tree, &number((range << 12) + n), &[7; 50]).unwrap();
        }
    }
    assert!(fill(&tree) > 0.85, "leaves are {:.2} full", fill(&tree));
    // Descending.
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    for n in (0..15_000).rev() {
        store.put(&tree, &number(n), &[7; 60]).unwrap();
    }
    assert!(fill(&tree) > 0.80, "leaves are {:.2} full", fill(&tree));
}

#[test]
fn a_leaf_is_not_shifted_if_the_incoming_entry_would_have_no_room_all_the_same() {
    let mut prng = Prng::new(test_seed(7));
    let store = Store::in_memory(1000);
    let tree = store.create_tree();
    let mut model = Model::new();
    for _ in 0..2_000 {
        // Prefixes of all lengths, values of all lengths: neighbours' prefixes become shorter.
        let mut key = vec![b'p'; prng.below(40) as usize];
        key.extend_from_slice(&(prng.next_u64() as u32).to_be_bytes());
        let longest = if prng.one_in(8) { 3900 } else { 200 };
        let value = vec![9; prng.below(longest) as usize];
        store.put(&tree, &key, &value).unwrap();
        model.insert(key, value);
    }
    check(&store, &tree, &model);
}

/// Of short keys a longer prefix saves nothing, and takes room itself: neighbours that are filled to the last
/// byte have both.
#[test]
fn a_neighbour_is_filled_no_further_than_its_prefix_leaves_room() {
    let seed = test_seed(11);
    for round in 0..5 {
        let mut prng = Prng::new(seed + round);
        let store = Store::in_memory(4000);
        let tree = store.create_tree();
        let mut model = Model::new();
        let mut next: Vec<u64> = (0..4).map(|range| range * 1024).collect();
        for range in (0..8_000).map(|step| step / 7 % 4) {
            let key = number(next[range]).to_vec();
            next[range] += if next[range] % 1024 == 1023 { 3 * 1024 + 1 } else { 1 };
            let value = vec![9; 50 + prng.below(500) as usize];
            store.put(&tree, &key, &value).unwrap();
            model.insert(key, value);
        }
        check(&store, &tree, &model);
    }
}

/// The last child of an inner node is emptied while it has no neighbour; then the inner node is merged with
/// its own.
#[test]
fn a_leaf_without_neighbours_goes_when_it_gets_some() {
    let store = Store::in_memory(300);
    let tree = store.create_tree();
    // Separators within a group are long, so that inner nodes have few children.
    let key = |n: u32| [&(n / 50).to_be_bytes()[..], &[b'k'; 1500], &n.to_be_bytes()].concat();
    for n in 0..700 {
        store.put(&tree, &key(n), &[1; 400]).unwrap();
    }
    assert!(with_cleaner(&store.pool, || verify_tree(&tree).unwrap().levels) >= 3);
    for key in (0..600).map(key) {
        store.remove(&tree, &key).unwrap();
        store.run(|| tree.shrink(&key)).unwrap();
        let empty = leaf_lengths(&store, &tree).into_iter().filter(|entries| *entries == 0).count();
        assert_eq!(empty, 0);
    }
}

/// Entries of each leaf.
fn leaf_lengths(store: &Store, tree: &Tree) -> Vec<usize> {
    let (mut lengths, mut from) = (Vec::new(), Bound::Unbounded);
    loop {
        let mut entries = 0;
        let end = store.run(|| {
            entries = 0;
            tree.scan(from.as_ref().map(Vec::as_slice), Direction::Forward, |_, _| {
                entries += 1;
                ControlFlow::Continue(())
            })
        });
        lengths.push(entries);
        match end.unwrap() {
            ScanEnd::Continue { separator, .. } => from = Bound::Included(separator.to_vec()),
            ScanEnd::Exhausted | ScanEnd::Stopped => return lengths,
        }
    }
}
