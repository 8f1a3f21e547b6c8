//! How much memory a task holds: an allocator that counts, for each thread, what is allocated less what is
//! freed.
//!
//! A statement makes many kinds of things: its parse tree, its plan, values, hash tables, rows for the
//! client. To have each of them report its size is work that is forgotten in one of a hundred places. Here
//! nothing reports: the allocator adds the sizes up, in one word of the thread that costs an addition and no
//! atomic. A thread that polls tasks gives each its own sum ([`exchange`]) for as long as it polls it:
//!
//! ```text
//!   thread      ── exchange(a) ── polls A ── a = exchange(own) ── exchange(b) ── polls B ── b = exchange(own) ──
//!   held() is       a, growing                 the thread's own       b, growing
//! ```
//!
//! So [`held`] is what the current task holds, whichever threads have polled it. What it allocates and leaves
//! behind in something shared stays on its account, and what it frees of others' is taken off: the sum says
//! what happened between two looks at it, over one statement, and is no lifelong balance.
//!
//! Where [`Counted`] is not the process's allocator, nothing is counted and [`held`] stays 0.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

use libmimalloc_sys::{
    mi_free, mi_malloc, mi_malloc_aligned, mi_realloc, mi_realloc_aligned, mi_zalloc, mi_zalloc_aligned,
};

unsafe extern "C" {
    /// Part of the same library; the crate that builds it declares it only along with everything else it has.
    fn mi_collect(force: bool);
}

thread_local! {
    static HELD: Cell<i64> = const { Cell::new(0) };
    static PEAK: Cell<i64> = const { Cell::new(0) };
}

/// Bytes that the current task holds; negative if it has freed more than it allocated.
#[inline]
pub fn held() -> i64 {
    HELD.get()
}

/// From now on the calling thread counts for another task, which holds so much. Gives what was counted for
/// the one before.
#[inline]
pub fn exchange(held: i64) -> i64 {
    HELD.replace(held)
}

/// The most that [`held`] has been on this thread since the last call. Known only where the allocator is
/// [`Gauged`].
pub fn take_peak() -> i64 {
    PEAK.replace(HELD.get())
}

/// An allocator that counts what `A` gives out. `GAUGED` keeps the highest count as well.
pub struct Counted<A, const GAUGED: bool = false>(pub A);

/// [`Counted`] with [`take_peak`]: for tests.
pub type Gauged<A> = Counted<A, true>;

impl<A, const GAUGED: bool> Counted<A, GAUGED> {
    #[inline(always)]
    fn add(bytes: usize) {
        // The thread's cell is found once, also where the compiler calls for it.
        let held = HELD.with(|cell| {
            let held = cell.get().wrapping_add(bytes as i64);
            cell.set(held);
            held
        });
        if GAUGED && held > PEAK.get() {
            PEAK.set(held);
        }
    }

    #[inline(always)]
    fn subtract(bytes: usize) {
        HELD.with(|cell| cell.set(cell.get().wrapping_sub(bytes as i64)));
    }
}

// SAFETY: every call goes to `A` with the arguments as they came, and its answer back as it is; `A` keeps the
// contract. The counters are cells of the thread without a destructor and made at compile time, so that to
// use them neither allocates nor panics, also while the thread ends.
unsafe impl<A: GlobalAlloc, const GAUGED: bool> GlobalAlloc for Counted<A, GAUGED> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: the caller's promises about `layout` are what `A` asks for.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::add(layout.size());
        // SAFETY: as above.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        Self::subtract(layout.size());
        // SAFETY: the caller has `pointer` from this allocator, which has it from `A`, with this layout.
        unsafe { self.0.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        Self::add(size);
        Self::subtract(layout.size());
        // SAFETY: as for `dealloc`; and the caller promises that `size` fits.
        unsafe { self.0.realloc(pointer, layout, size) }
    }
}

/// mimalloc.
///
/// Its functions that take an alignment give a block whose size is no power of two from a larger one, by a
/// way of some 180 instructions, unless there is a page of just that size with room. Every block is aligned
/// to a word without being asked, and hardly any needs more: those go the way of some twenty instructions.
pub struct Mimalloc;

impl Mimalloc {
    /// Gives what has not been used for a second back to the machine. The allocator does so itself only when
    /// a thread asks it for more: a server that is idle after a large statement would keep all of it. Costs
    /// little where nothing has been freed.
    pub fn give_back() {
        // SAFETY: it may be called at any time, by any thread, whether or not this allocator is the
        // process's.
        unsafe { mi_collect(false) }
    }
}

/// To what every block is aligned.
const WORD: usize = size_of::<usize>();

// SAFETY: a block is as long as asked for and aligned to a word at least (to 16 bytes where it has so many),
// which is what the functions without an alignment promise; where more is needed the others are called.
// Blocks of both kinds are freed and grown by the same functions. None of them unwinds.
unsafe impl GlobalAlloc for Mimalloc {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size may be asked for.
        let block = unsafe {
            match layout.align() <= WORD {
                true => mi_malloc(layout.size()),
                false => mi_malloc_aligned(layout.size(), layout.align()),
            }
        };
        block.cast()
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: any size may be asked for.
        let block = unsafe {
            match layout.align() <= WORD {
                true => mi_zalloc(layout.size()),
                false => mi_zalloc_aligned(layout.size(), layout.align()),
            }
        };
        block.cast()
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, _layout: Layout) {
        // SAFETY: the caller has `pointer` from here.
        unsafe { mi_free(pointer.cast()) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller has `pointer` from here, with this alignment.
        let block = unsafe {
            match layout.align() <= WORD {
                true => mi_realloc(pointer.cast(), size),
                false => mi_realloc_aligned(pointer.cast(), size, layout.align()),
            }
        };
        block.cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;

    /// The tests of this crate run without it as their allocator, so that it counts only what they ask it
    /// for.
    const HEAP: Gauged<System> = Counted(System);

    #[test]
    #[cfg_attr(miri, ignore = "calls C")]
    fn blocks_are_aligned_and_keep_what_is_in_them() {
        for (size, align) in [1, 7, 8, 24, 33, 40, 100, 700, 5000, 70_000]
            .into_iter()
            .flat_map(|size| [1, 2, 8, 16, 64, 4096].map(|align| (size, align)))
        {
            let layout = Layout::from_size_align(size, align).unwrap();
            let grown = Layout::from_size_align(3 * size, align).unwrap();
            // SAFETY: each block is given back once, with the layout that it has, and written within it.
            unsafe {
                let zeroed = Mimalloc.alloc_zeroed(layout);
                let bytes = std::slice::from_raw_parts(zeroed, size);
                assert!(bytes.iter().all(|byte| *byte == 0));
                let block = Mimalloc.alloc(layout);
                block.write_bytes(0xa5, size);
                let block = Mimalloc.realloc(block, layout, grown.size());
                for block in [zeroed, block] {
                    assert!(block.addr().is_multiple_of(align), "{size} bytes, aligned to {align}");
                }
                let bytes = std::slice::from_raw_parts(block, size);
                assert!(bytes.iter().all(|byte| *byte == 0xa5));
                Mimalloc.dealloc(block, grown);
                Mimalloc.dealloc(zeroed, layout);
            }
        }
    }

    #[test]
    fn each_task_has_its_own_sum() {
        let layout = Layout::from_size_align(1000, 8).unwrap();
        let other = exchange(0);
        // SAFETY: each block is given back once, with the layout that it has.
        unsafe {
            let first = HEAP.alloc(layout);
            assert_eq!(held(), 1000);
            let ours = exchange(other);
            assert_eq!(exchange(ours), other, "another task's sum has not moved");
            let first = HEAP.realloc(first, layout, 3000);
            assert_eq!(held(), 3000);
            HEAP.dealloc(first, Layout::from_size_align(3000, 8).unwrap());
            let second = HEAP.alloc_zeroed(layout);
            assert_eq!(held(), 1000);
            HEAP.dealloc(second, layout);
        }
        assert_eq!(held(), 0);
        assert!((3000..=4000).contains(&take_peak()), "a block that grows may be there twice");
        assert_eq!(take_peak(), 0);
        exchange(other);
    }
}
