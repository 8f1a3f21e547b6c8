//! What the log gets for typical changes, as text.

use palisade_base::PageNo;
use palisade_buffer::PageSize;

use super::harness::{SPACE, Store};
use crate::op::describe;
use crate::{Mtr, alloc, overflow};

/// The text of what a mini-transaction logs; commits it.
fn committed(mtr: Mtr<'_>) -> String {
    let text = describe(mtr.redo());
    mtr.commit(|_| {});
    text
}

/// The log from here to its end, as text: a line `mtr:` before each mini-transaction.
fn logged(store: &Store, changes: impl FnOnce()) -> String {
    let from = store.log.tail();
    changes();
    store.flush();
    let mut text = String::new();
    let (_, mut reader) = palisade_log::Log::open(
        store.fs.clone(),
        std::path::Path::new("/data"),
        super::harness::log_config(false),
    )
    .unwrap();
    while let Some(record) = reader.next().unwrap() {
        if record.start >= from {
            text += "mtr:\n";
            text += &describe(record.payload).replace("page ", "  page ");
        }
    }
    text
}

#[track_caller]
fn check(actual: &str, expected: &str) {
    let lines = |text: &str| text.trim().lines().map(|line| line.trim().to_string()).collect::<Vec<_>>();
    assert_eq!(lines(actual), lines(expected), "\n{actual}");
}

#[test]
fn a_new_space_and_its_first_tree() {
    let store = Store::in_memory(50);
    let mut mtr = Mtr::begin(&store.log, 1000).unwrap();
    let mut reservation = store.run(|| alloc::reserve(&mut mtr, &store.space, PageNo::NONE, 1)).unwrap();
    let root = crate::Tree::create(&mut mtr, &mut reservation, 77);
    assert_eq!(root, PageNo(1));
    check(
        &committed(mtr),
        "page 3:0 set high water pages=4
         page 3:0 set group group=0 free_pages=3 free_extents=0
         page 3:0 allocate page_in_group=1
         page 3:0 set group group=0 free_pages=2 free_extents=0
         page 3:1 format node index_id=77 level=0 next=0 leftmost=0 prefix=",
    );
}

#[test]
fn changes_of_an_entry() {
    let store = Store::in_memory(50);
    let tree = store.create_tree();
    let text = logged(&store, || {
        store.put(&tree, b"key", b"value").unwrap();
        store.put(&tree, b"key", b"vague").unwrap();
        store.put(&tree, b"key", b"vague").unwrap();
        store.put(&tree, b"key", b"").unwrap();
        store.put(&tree, b"abc", &[1; 300]).unwrap();
        store.remove(&tree, b"key").unwrap();
    });
    check(
        &text,
        "mtr:
         page 3:1 insert slot=0 key=key value=value
         mtr:
         page 3:1 replace slot=0 front=2 back=2 middle=g
         mtr:
         page 3:1 replace slot=0 front=0 back=0 middle=
         mtr:
         page 3:1 insert slot=0 key=abc value=(300 bytes)
         mtr:
         page 3:1 remove slot=1",
    );
}

#[test]
fn a_root_is_raised_and_an_ascending_leaf_is_split() {
    let store = Store::in_memory(50);
    let tree = store.create_tree();
    for n in 0..16u8 {
        store.put(&tree, &[b'k', b'a' + n], &[7; 1000]).unwrap();
    }
    let text = logged(&store, || drop(store.put(&tree, b"kq", &[7; 1000])));
    check(
        &text,
        "mtr:
         page 3:0 allocate page_in_group=2
         page 3:0 set group group=0 free_pages=1 free_extents=0
         page 3:2 format node index_id=77 level=0 next=0 leftmost=0 prefix=
         page 3:2 append count=16 entries=(16080 bytes)
         page 3:1 format node index_id=77 level=1 next=0 leftmost=2 prefix=
         mtr:
         page 3:0 allocate page_in_group=3
         page 3:0 set group group=0 free_pages=0 free_extents=0
         page 3:0 set first free group group=1
         page 3:3 format node index_id=77 level=0 next=0 leftmost=0 prefix=k
         page 3:3 append count=1 entries=(1004 bytes)
         page 3:2 truncate slots=15
         page 3:2 set prefix length=1
         page 3:2 set next next=3
         page 3:1 insert slot=0 key=kp value=\\x03\\x00\\x00\\x00
         mtr:
         page 3:3 insert slot=1 key=q value=(1000 bytes)",
    );
}

#[test]
fn a_full_leaf_gives_entries_to_its_neighbours() {
    let store = Store::in_memory(50);
    let tree = store.create_tree();
    let keys = |range: std::ops::Range<u8>| range.map(|n| [b'k', n]);
    for key in keys(b'a'..b'a' + 17) {
        store.put(&tree, &key, &[7; 1000]).unwrap();
    }
    for key in keys(b'd'..b'n') {
        store.remove(&tree, &key).unwrap();
    }
    // The right leaf becomes full, and its left neighbour has a, b, c, n and o.
    for n in 0..14 {
        store.put(&tree, &[b'k', b'q', n], &[7; 1000]).unwrap();
    }
    let text = logged(&store, || drop(store.put(&tree, b"kpp", &[7; 1000])));
    check(
        &text,
        "mtr:
         page 3:2 append count=5 entries=(5023 bytes)
         page 3:3 remove slot=0
         page 3:3 remove slot=0
         page 3:3 remove slot=0
         page 3:3 remove slot=0
         page 3:3 remove slot=0
         page 3:1 remove slot=0
         page 3:1 insert slot=0 key=kq\\x03 value=\\x03\\x00\\x00\\x00
         mtr:
         page 3:2 insert slot=6 key=pp value=(1000 bytes)",
    );
    // Then the left one is full, and the right one has room.
    for n in (0..5).rev() {
        store.put(&tree, &[b'k', b'b', n], &[7; 1000]).unwrap();
    }
    let text = logged(&store, || drop(store.put(&tree, b"kaa", &[7; 1000])));
    check(
        &text,
        "mtr:
         page 3:3 insert slot=0 key=q\\x02 value=(1000 bytes)
         page 3:3 insert slot=0 key=q\\x01 value=(1000 bytes)
         page 3:2 truncate slots=14
         page 3:1 remove slot=0
         page 3:1 insert slot=0 key=kq\\x01 value=\\x03\\x00\\x00\\x00
         mtr:
         page 3:2 insert slot=1 key=aa value=(1000 bytes)",
    );
}

#[test]
fn a_merge_frees_the_right_page_and_the_root_takes_the_last_child() {
    let store = Store::in_memory(50);
    let tree = store.create_tree();
    for n in 0..17u8 {
        store.put(&tree, &[b'k', b'a' + n], &[7; 1000]).unwrap();
    }
    for n in 3..17u8 {
        store.remove(&tree, &[b'k', b'a' + n]).unwrap();
    }
    let text = logged(&store, || drop(store.run(|| tree.shrink(b"kb"))));
    check(
        &text,
        "mtr:
         page 3:2 set next next=0
         page 3:2 append count=0 entries=
         page 3:1 remove slot=0
         page 3:3 format page_type=0
         page 3:0 release page_in_group=3
         page 3:0 set group group=0 free_pages=1 free_extents=0
         page 3:0 set first free group group=0
         mtr:
         page 3:1 format node index_id=77 level=0 next=0 leftmost=0 prefix=k
         page 3:1 append count=3 entries=(3012 bytes)
         page 3:2 format page_type=0
         page 3:0 release page_in_group=2
         page 3:0 set group group=0 free_pages=2 free_extents=0",
    );
}

#[test]
fn an_overflow_chain_is_written_and_freed() {
    let store = Store::in_memory(50);
    let mut pages = Vec::new();
    let text = logged(&store, || {
        for chunk in [&[1; overflow::chunk(PageSize::DEFAULT)][..], &[2; 100]] {
            let page = store.run(|| {
                let mut mtr = Mtr::begin(&store.log, overflow::max_write_bytes(PageSize::DEFAULT))?;
                let page = overflow::write_chunk(&mut mtr, &store.space, pages.last().copied(), chunk)?;
                mtr.commit(|_| {});
                Ok(page)
            });
            pages.push(page.unwrap());
        }
        let more = store.run(|| {
            let mut mtr = Mtr::begin(&store.log, overflow::MAX_FREE_BYTES)?;
            let more = overflow::free_links(&mut mtr, &store.space, pages[0])?;
            mtr.commit(|_| {});
            Ok(more)
        });
        assert!(!more.unwrap());
        let freed = store.run(|| {
            let mut mtr = Mtr::begin(&store.log, overflow::MAX_FREE_BYTES)?;
            overflow::free_first(&mut mtr, &store.space, pages[0])?;
            mtr.commit(|_| {});
            Ok(())
        });
        freed.unwrap();
    });
    assert_eq!(pages, [PageNo(1), PageNo(2)]);
    assert_eq!(store.space.id(), SPACE);
    check(
        &text,
        "mtr:
         page 3:0 set high water pages=4
         page 3:0 set group group=0 free_pages=3 free_extents=0
         page 3:0 allocate page_in_group=1
         page 3:0 set group group=0 free_pages=2 free_extents=0
         page 3:1 format page_type=4
         page 3:1 write offset=36 bytes=\\xd8?
         page 3:1 write offset=40 bytes=(16344 bytes)
         mtr:
         page 3:0 allocate page_in_group=2
         page 3:0 set group group=0 free_pages=1 free_extents=0
         page 3:2 format page_type=4
         page 3:2 write offset=36 bytes=d\\x00
         page 3:2 write offset=40 bytes=(100 bytes)
         page 3:1 write offset=32 bytes=\\x02\\x00\\x00\\x00
         mtr:
         page 3:2 format page_type=0
         page 3:0 release page_in_group=2
         page 3:0 set group group=0 free_pages=2 free_extents=0
         page 3:1 write offset=32 bytes=\\x00\\x00\\x00\\x00
         mtr:
         page 3:1 format page_type=0
         page 3:0 release page_in_group=1
         page 3:0 set group group=0 free_pages=3 free_extents=0",
    );
}
