//! A cell per session, found by number, without a lock and without ever moving.
//!
//! Cells live in chunks that double in size and are never freed, so a reference to one stays good while others are
//! added. Whoever wants to look at all sessions (purge horizon, metadata locks) walks the numbers given out so far:
//! that is the slow path, and it is what keeps the fast path - a session writing its own cell - free of anything shared.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

/// Cells of the first chunk.
#[cfg(not(loom))]
const FIRST_CHUNK: usize = 64;
#[cfg(loom)]
const FIRST_CHUNK: usize = 2;
/// Chunks: 64 * (2^20 - 1) sessions.
const CHUNKS: usize = 20;
/// Lists of free numbers.
const SHARDS: usize = 16;

/// The number of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionNo(pub u32);

/// A growing array of cells.
pub struct SessionArray<T> {
    chunks: [OnceLock<Box<[T]>>; CHUNKS],
}

impl<T: Default> Default for SessionArray<T> {
    fn default() -> Self {
        SessionArray { chunks: std::array::from_fn(|_| OnceLock::new()) }
    }
}

impl<T: Default> SessionArray<T> {
    /// The cell of session `number`.
    #[inline]
    pub fn cell(&self, number: SessionNo) -> &T {
        let (chunk, index) = place(number);
        &self.chunks[chunk].get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| T::default()).collect())[index]
    }
}

fn place(number: SessionNo) -> (usize, usize) {
    let shifted = number.0 as usize + FIRST_CHUNK;
    let chunk = (shifted.ilog2() - FIRST_CHUNK.ilog2()) as usize;
    (chunk, shifted - (FIRST_CHUNK << chunk))
}

/// Gives out session numbers, low ones again and again.
#[derive(Default)]
pub struct SessionNumbers {
    given: AtomicUsize,
    free: [Mutex<Vec<SessionNo>>; SHARDS],
}

impl SessionNumbers {
    /// A number nobody else has.
    pub fn take(&self) -> SessionNo {
        let own = thread_shard();
        for shard in (own..SHARDS).chain(0..own) {
            if let Some(number) = self.free[shard].lock().pop() {
                return number;
            }
        }
        let number = self.given.fetch_add(1, Ordering::SeqCst);
        SessionNo(u32::try_from(number).expect("fewer than 2^32 sessions"))
    }

    /// Gives a number back.
    pub fn give_back(&self, number: SessionNo) {
        self.free[thread_shard()].lock().push(number);
    }

    /// All numbers that were ever given out.
    pub fn all(&self) -> impl Iterator<Item = SessionNo> {
        (0..self.given.load(Ordering::SeqCst) as u32).map(SessionNo)
    }
}

/// A number below 16 that is the calling thread's own, mostly.
#[inline]
pub fn thread_shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static SHARD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS;
    }
    SHARD.with(|shard| *shard)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_number_has_its_own_place() {
        let array = SessionArray::<AtomicUsize>::default();
        for number in 0..1000 {
            array.cell(SessionNo(number)).store(number as usize + 1, Ordering::Relaxed);
        }
        for number in 0..1000 {
            assert_eq!(array.cell(SessionNo(number)).load(Ordering::Relaxed), number as usize + 1);
        }
        assert_eq!(place(SessionNo(0)), (0, 0));
        assert_eq!(place(SessionNo(63)), (0, 63));
        assert_eq!(place(SessionNo(64)), (1, 0));
        assert_eq!(place(SessionNo(191)), (1, 127));
        assert_eq!(place(SessionNo(192)), (2, 0));
    }

    #[test]
    fn numbers_are_given_once_until_given_back() {
        let numbers = SessionNumbers::default();
        let (a, b) = (numbers.take(), numbers.take());
        assert_ne!(a, b);
        numbers.give_back(a);
        assert_eq!(numbers.take(), a);
        assert_eq!(numbers.all().count(), 2);
    }
}
