//! Canaries: planted damage that the checker must find.

use std::ops::{Bound, ControlFlow};

use palisade_base::PageNo;
use palisade_base::event::retry_blocking;
use palisade_buffer::Page;

use super::harness::Store;
use crate::layout::{node, space};
use crate::node::NodeView;
use crate::verify::{Damage, TreeReport, verify_space, verify_tree};
use crate::{Direction, Error, Mtr, PageOp, Tree};

struct Grown {
    store: Store,
    tree: Tree,
}

impl Grown {
    fn new() -> Self {
        let store = Store::in_memory(400);
        let tree = store.create_tree();
        for n in 0..3000u32 {
            store.put(&tree, &n.to_be_bytes(), &[1; 80]).unwrap();
        }
        Grown { store, tree }
    }

    /// Damages a page behind the store's back. The log gets a harmless record, so that the page can be stamped.
    fn damage(&self, page: PageNo, plant: impl FnOnce(&mut Page)) {
        let mut latched = retry_blocking(|| self.store.space.exclusive(page)).unwrap();
        plant(&mut latched);
        let mut credit = retry_blocking(|| self.store.log.admit(16)).unwrap();
        self.store.log.append(&mut credit, b"", |range| latched.stamp(range));
    }

    fn first_leaf(&self) -> PageNo {
        let root = retry_blocking(|| self.store.space.shared(self.tree.root())).unwrap();
        NodeView::new(&*root).child(0)
    }

    fn report(&self) -> TreeReport {
        verify_tree(&self.tree).unwrap()
    }

    fn space_damage(&self) -> Vec<Damage> {
        verify_space(&self.store.space, &self.report().pages).unwrap()
    }

    fn expect(&self, what: &str) {
        let damage = self.report().damage;
        assert!(damage.iter().any(|damage| damage.what == what), "{what}: found {damage:?}");
    }

    fn expect_in_space(&self, what: &str) {
        let damage = self.space_damage();
        assert!(damage.iter().any(|damage| damage.what == what), "{what}: found {damage:?}");
    }
}

fn swap_slots(page: &mut Page, a: usize, b: usize) {
    let at = |slot: usize| node::SLOTS + slot * node::SLOT_SIZE;
    for byte in 0..node::SLOT_SIZE {
        page.swap(at(a) + byte, at(b) + byte);
    }
}

#[test]
fn a_sound_tree_and_space_are_found_sound() {
    let grown = Grown::new();
    assert_eq!(grown.report().damage, []);
    assert_eq!(grown.space_damage(), []);
}

#[test]
fn keys_out_of_order_are_found() {
    let grown = Grown::new();
    grown.damage(grown.first_leaf(), |page| swap_slots(page, 3, 4));
    grown.expect("keys do not ascend");
}

#[test]
fn keys_outside_the_separators_are_found() {
    let grown = Grown::new();
    let (first, root) = (grown.first_leaf(), grown.tree.root());
    let second = {
        let page = retry_blocking(|| grown.store.space.shared(root)).unwrap();
        NodeView::new(&*page).child(1)
    };
    grown.damage(root, |page| {
        let at = NodeView::new(&*page).slot(0).value();
        page.put_u32(node::LEFTMOST_CHILD, second.0);
        page.put_u32(at, first.0);
    });
    grown.expect("keys outside the separators");
    grown.expect("the sibling link leads elsewhere");
}

#[test]
fn miscounted_free_bytes_are_found() {
    let grown = Grown::new();
    grown.damage(grown.first_leaf(), |page| page.put_u16(node::GARBAGE, 100));
    grown.expect("free bytes are miscounted");
}

#[test]
fn an_entry_outside_the_page_is_found() {
    let grown = Grown::new();
    grown.damage(grown.first_leaf(), |page| page.put_u16(node::SLOTS + 4, 16_380));
    grown.expect("entry outside the heap");
}

#[test]
fn a_page_reached_twice_is_found() {
    let grown = Grown::new();
    let first = grown.first_leaf();
    grown.damage(grown.tree.root(), |page| {
        let at = NodeView::new(&*page).slot(2).value();
        page.put_u32(at, first.0);
    });
    grown.expect("reached twice");
}

#[test]
fn a_broken_sibling_link_is_found() {
    let grown = Grown::new();
    grown.damage(grown.first_leaf(), |page| page.put_u32(node::NEXT, 0));
    grown.expect("the sibling link leads elsewhere");
}

#[test]
fn a_page_of_another_index_is_found_by_checker_and_readers() {
    let grown = Grown::new();
    grown.damage(grown.first_leaf(), |page| page.put_u64(node::INDEX_ID, 12));
    grown.expect("not the node that its parent promised");
    let read = grown.store.run(|| grown.tree.get(&[0; 4], |_| ()));
    assert!(matches!(read, Err(Error::Corrupted { .. })), "{read:?}");
}

/// Plants garbage: in a header field, in the slots, or anywhere.
fn scribble(page: &mut Page, prng: &mut palisade_base::prng::Prng, body: usize) {
    let (from, len, most) = *prng.pick(&[(body, 32, 4), (node::SLOTS, 400, 20), (body, 16_300, 60)]);
    for _ in 0..1 + prng.below(most) {
        let at = from + prng.below(len) as usize;
        let at = at.min(page.len() - 1);
        page[at] = *prng.pick(&[0, 1, 4, 64, 255, prng.clone().next_u64() as u8]);
    }
}

#[test]
fn garbage_on_pages_is_an_error_for_readers_and_writers_and_never_a_panic() {
    let mut prng = palisade_base::prng::Prng::new(palisade_base::prng::test_seed(51));
    for round in 0..24 {
        let grown = Grown::new();
        let (tree, store) = (&grown.tree, &grown.store);
        let pages = [grown.first_leaf(), tree.root(), PageNo(0)];
        for _ in 0..4 {
            grown.damage(pages[round % 3], |page| scribble(page, &mut prng, crate::layout::BODY));
            for _ in 0..40 {
                let key = (prng.below(60) as u32).to_be_bytes();
                let _ = store.run(|| tree.get(&key, |value| value.map(<[u8]>::len)));
                let _ = store.put(tree, &key, &vec![1; prng.below(200) as usize]);
                let longer = [&key[..], &[b'x'; 20][..prng.below(20) as usize]].concat();
                let _ = store.put(tree, &longer, &vec![2; prng.below(1000) as usize]);
                let _ = store.remove(tree, &key);
            }
            let _ = store.run(|| tree.shrink(&[0; 4]));
            let _ = store
                .run(|| tree.scan(Bound::Unbounded, Direction::Forward, |_, _| ControlFlow::Continue(())));
            let _ = store.run(|| tree.records_in_range(Bound::Unbounded, Bound::Included(&[0, 0, 1])));
            let _ = verify_tree(tree).map(|report| verify_space(&store.space, &report.pages));
        }
        let _ = store.run(|| tree.clear_some());
    }
}

#[test]
fn disagreement_of_map_and_use_is_found() {
    let grown = Grown::new();
    let mut mtr = retry_blocking(|| Mtr::begin(&grown.store.log, 100)).unwrap();
    let header = retry_blocking(|| mtr.exclusive(&grown.store.space, PageNo(0))).unwrap();
    mtr.apply(header, PageOp::Release { page_in_group: 5 });
    mtr.commit(|_| {});
    grown.expect_in_space("used, but free according to the map");
    grown.expect_in_space("the counts of a group are not its map's");

    let grown = Grown::new();
    grown.damage(PageNo(0), |page| page[space::extent_map(16384) + 1000] = 1);
    grown.expect_in_space("pages in use beyond the high-water mark");

    let grown = Grown::new();
    let mut pages = grown.report().pages;
    let lost = pages.iter().last().unwrap();
    assert!(pages.remove(lost));
    let damage = verify_space(&grown.store.space, &pages).unwrap();
    assert_eq!(damage.len(), 1);
    assert_eq!(
        (damage[0].page.page, damage[0].what),
        (lost, "in use according to the map, but nothing uses it")
    );
}
