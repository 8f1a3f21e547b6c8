//! Statements by their digest: how often each was executed, how long it took, and what it did.
//!
//! ```text
//!   Names   (schema, digest text) ─► row 1, 2, ...; row 0 for all that come when there is no more room
//!
//!   thread a ─ shard a:  row 1 row 2  ·   row 4      a thread adds to its own shard, by plain stores
//!   thread b ─ shard b:  row 1  ·   row 3  ·         a reader adds the shards up
//! ```
//!
//! **A shard has one writer.** A thread leases a shard when it ends its first statement, and gives it back,
//! with what is counted in it, when the thread ends. A session's statements may end on any thread: they are
//! counted where they end.
//!
//! **Which row a statement has** is remembered beside its plan ([`Memo`]), and by each thread for statements
//! that have no plan that is kept. So `Names`, which has a lock, is asked once for each statement and
//! thread.
//!
//! **TRUNCATE** begins a new *epoch*: no row is left, and what was remembered is of an epoch that is over.
//! A statement that ends on another thread meanwhile belongs to the one or the other.
//!
//! **Bounds.** As many rows as `performance_schema_digests_size` says; of a row 350 bytes and its histogram
//! for each thread that has executed it, its texts once.

mod memo;
mod shard;

#[cfg(all(test, not(loom)))]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub use memo::{Found, Known, Memo};

use self::shard::{Rows, Shard};
use crate::histogram::{Counts, bucket_of, place_of};
use crate::sums::{Done, Sums};

/// What statements have in common that are counted together.
#[derive(Debug, PartialEq, Eq)]
pub struct Digest {
    /// The default database; none if there was none.
    pub schema: Option<Box<str>>,
    /// The text without constants.
    pub text: Box<[u8]>,
    /// What the text is told by.
    pub hash: [u8; 32],
}

impl Digest {
    /// A digest of that text.
    pub fn new(schema: Option<&str>, text: &[u8], hash: fn(&[u8]) -> [u8; 32]) -> Arc<Digest> {
        Arc::new(Digest { schema: schema.map(Into::into), text: text.into(), hash: hash(text) })
    }

    fn key(&self) -> Box<[u8]> {
        key(self.schema.as_deref(), &self.text)
    }
}

/// By what a digest is found: no schema's name has a zero byte.
fn key(schema: Option<&str>, text: &[u8]) -> Box<[u8]> {
    match schema {
        Some(schema) => [schema.as_bytes(), &[0], text].concat().into(),
        None => [&[0], text].concat().into(),
    }
}

/// A row of the current epoch, or of one that is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowId {
    epoch: u32,
    index: u32,
}

impl RowId {
    #[inline]
    fn packed(self) -> u64 {
        u64::from(self.epoch) << 32 | u64::from(self.index)
    }

    #[inline]
    fn unpacked(packed: u64) -> RowId {
        RowId { epoch: (packed >> 32) as u32, index: packed as u32 }
    }
}

/// Both epochs: that of the rows and that of the histogram of all statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Epochs {
    rows: u32,
    all: u32,
}

impl Epochs {
    #[inline]
    fn unpacked(packed: u64) -> Epochs {
        Epochs { rows: (packed >> 32) as u32, all: packed as u32 }
    }
}

/// The rows of a server.
pub struct Digests {
    home: Arc<Home>,
}

struct Home {
    capacity: u32,
    /// [`Epochs`], packed. Changes with the names locked.
    epochs: AtomicU64,
    names: Mutex<Names>,
    shards: Mutex<Shards>,
}

#[derive(Default)]
struct Names {
    rows: HashMap<Box<[u8]>, u32>,
    /// Of row 1, 2, ...
    digests: Vec<Arc<Digest>>,
    /// What does not count any more of the histogram of each row.
    over: Arc<HashMap<usize, Counts>>,
    /// Statements of epochs that are over that found no room.
    lost: u64,
}

#[derive(Default)]
struct Shards {
    all: Vec<Arc<Shard>>,
    /// Those whose threads have ended.
    free: Vec<Arc<Shard>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a statement leaves in its row besides numbers.
#[derive(Debug, Clone, Copy)]
pub struct SampleRule {
    /// Nanoseconds after which a sample is replaced by any other.
    pub age_ns: u64,
    /// Bytes of its text that are kept.
    pub text: usize,
}

/// A statement of those that a row counts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sample {
    /// Its text.
    pub text: Vec<u8>,
    /// When it ended.
    pub ended_ns: u64,
    /// How long it took.
    pub wait_ns: u64,
}

/// A row as it was read.
#[derive(Debug, Default)]
pub struct DigestRow {
    /// What its statements have in common; none of those for which there was no room.
    pub digest: Option<Arc<Digest>>,
    /// What they did.
    pub sums: Sums,
    /// How long they took.
    pub counts: Counts,
    /// One of them.
    pub sample: Option<Sample>,
}

thread_local! {
    static LEASE: RefCell<Option<Lease>> = const { RefCell::new(None) };
}

/// A thread's shard.
struct Lease {
    home: Weak<Home>,
    shard: Arc<Shard>,
    /// Of the shard, in these epochs.
    rows: Arc<Rows>,
    all: Arc<shard::All>,
    epochs: Epochs,
    /// The same, packed.
    packed: u64,
    /// Rows of statements that have no plan.
    known: HashMap<Box<[u8]>, (RowId, Arc<Digest>)>,
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(home) = self.home.upgrade() {
            locked(&home.shards).free.push(self.shard.clone());
        }
    }
}

impl Home {
    #[inline]
    fn epochs(&self) -> Epochs {
        Epochs::unpacked(self.epochs.load(Ordering::Acquire))
    }

    fn lease(self: &Arc<Self>) -> Lease {
        let mut shards = locked(&self.shards);
        let shard = shards.free.pop().unwrap_or_else(|| {
            let shard = Arc::<Shard>::default();
            shards.all.push(shard.clone());
            shard
        });
        drop(shards);
        let packed = self.epochs.load(Ordering::Acquire);
        let epochs = Epochs::unpacked(packed);
        let (rows, all) = shard.of_epochs(epochs, self.capacity);
        Lease { home: Arc::downgrade(self), shard, rows, all, epochs, packed, known: HashMap::new() }
    }

    /// What `use_lease` makes of the calling thread's lease, which is one of the current epochs.
    #[inline]
    fn with_lease<T>(self: &Arc<Self>, use_lease: impl FnOnce(&mut Lease) -> T) -> Option<T> {
        // A thread that ends its last statement while its lease is being given back has none any more.
        let done = LEASE.try_with(|lease| {
            let mut lease = lease.try_borrow_mut().ok()?;
            let is_own = lease.as_ref().is_some_and(|lease| std::ptr::eq(lease.home.as_ptr(), &**self));
            if !is_own {
                *lease = Some(self.lease());
            }
            let lease = lease.as_mut()?;
            if lease.packed != self.epochs.load(Ordering::Acquire) {
                self.renew(lease);
            }
            Some(use_lease(lease))
        });
        done.ok().flatten()
    }

    #[cold]
    fn renew(&self, lease: &mut Lease) {
        lease.packed = self.epochs.load(Ordering::Acquire);
        lease.epochs = Epochs::unpacked(lease.packed);
        (lease.rows, lease.all) = lease.shard.of_epochs(lease.epochs, self.capacity);
        lease.known.clear();
    }

    /// The row of a digest; row 0 if there is no room for one more.
    fn row(&self, digest: &Arc<Digest>) -> RowId {
        let mut names = locked(&self.names);
        // The epoch changes with the names locked.
        let epoch = self.epochs().rows;
        let key = digest.key();
        if let Some(index) = names.rows.get(&key) {
            return RowId { epoch, index: *index };
        }
        if names.digests.len() >= self.capacity as usize {
            return RowId { epoch, index: 0 };
        }
        names.digests.push(digest.clone());
        let index = names.digests.len() as u32;
        names.rows.insert(key, index);
        RowId { epoch, index }
    }
}

impl Digests {
    /// Room for so many rows.
    pub fn new(capacity: u32) -> Digests {
        let home =
            Home { capacity, epochs: AtomicU64::new(0), names: Mutex::default(), shards: Mutex::default() };
        Digests { home: Arc::new(home) }
    }

    /// How many rows there is room for.
    pub fn capacity(&self) -> u32 {
        self.home.capacity
    }

    /// How many statements found no room for their digests.
    pub fn lost(&self) -> u64 {
        let names = locked(&self.home.names);
        names.lost + self.parts().count_of(0)
    }

    /// The row and digest of a statement that has no plan, by its schema and digest text.
    pub fn find(
        &self,
        schema: Option<&str>,
        text: &[u8],
        hash: fn(&[u8]) -> [u8; 32],
    ) -> Option<(RowId, Arc<Digest>)> {
        self.home.with_lease(|lease| {
            let key = key(schema, text);
            if let Some(found) = lease.known.get(&key) {
                return found.clone();
            }
            let digest = Digest::new(schema, text, hash);
            let found = (self.home.row(&digest), digest);
            if lease.known.len() < self.home.capacity as usize {
                lease.known.insert(key, found.clone());
            }
            found
        })
    }

    /// A statement has ended on the calling thread. It counts for its row, if it has one, and for the
    /// histogram of all statements. The rule is asked for if it becomes the row's sample.
    #[inline]
    pub fn add(&self, row: Option<RowId>, done: &Done, text: &[u8], rule: impl FnOnce() -> SampleRule) {
        self.home.with_lease(|lease| {
            let bucket = place_of(bucket_of(done.wait_ns));
            lease.all.histogram.add(bucket);
            if let Some(row) = row.filter(|row| row.epoch == lease.epochs.rows) {
                lease.rows.add(row.index, done, bucket, text, rule);
            }
        });
    }

    /// TRUNCATE: there are no rows any more.
    pub fn truncate(&self) {
        let mut names = locked(&self.home.names);
        let lost = names.lost + self.parts().count_of(0);
        *names = Names { lost, ..Names::default() };
        self.home.epochs.fetch_add(1 << 32, Ordering::AcqRel);
    }

    /// TRUNCATE of the histograms of rows: what is in them now does not count any more.
    pub fn truncate_histograms(&self) {
        let mut names = locked(&self.home.names);
        let over = self.parts().of_all(names.digests.clone());
        names.over = Arc::new(over.map(|(index, row)| (index, row.counts)).collect());
    }

    /// TRUNCATE of the histogram of all statements.
    pub fn truncate_all(&self) {
        let _names = locked(&self.home.names);
        let Epochs { rows, all } = self.home.epochs();
        let packed = u64::from(rows) << 32 | u64::from(all.wrapping_add(1));
        self.home.epochs.store(packed, Ordering::Release);
    }

    /// The histogram of all statements.
    pub fn all(&self) -> Counts {
        let epoch = self.home.epochs().all;
        let shards = locked(&self.home.shards).all.clone();
        let mut counts = Counts::default();
        for all in shards.iter().map(|shard| shard.all()).filter(|all| all.epoch == epoch) {
            all.histogram.add_to(&mut counts);
        }
        counts
    }

    /// What threads have of the rows of this epoch.
    fn parts(&self) -> Parts {
        let epoch = self.home.epochs().rows;
        let shards = locked(&self.home.shards).all.clone();
        Parts(shards.iter().map(|shard| shard.rows()).filter(|rows| rows.epoch == epoch).collect())
    }

    /// The rows, one by one.
    pub fn rows(&self) -> impl Iterator<Item = DigestRow> + Send + use<> {
        let names = locked(&self.home.names);
        let (digests, over) = (names.digests.clone(), names.over.clone());
        let rows = self.parts().of_all(digests);
        drop(names);
        rows.map(move |(index, mut row)| {
            if let Some(over) = over.get(&index) {
                row.counts.subtract(over);
            }
            row
        })
    }
}

/// Parts of rows.
struct Parts(Vec<Arc<Rows>>);

impl Parts {
    /// How many statements a row counts.
    fn count_of(&self, index: usize) -> u64 {
        let mut row = DigestRow::default();
        self.0.iter().for_each(|part| part.add_to(index, &mut row));
        row.sums.count
    }

    /// The sums of parts, with the places of the rows. Row 0 is there when something was counted in it; and a
    /// digest when a statement of it has ended.
    fn of_all(self, digests: Vec<Arc<Digest>>) -> impl Iterator<Item = (usize, DigestRow)> + Send + use<> {
        let subjects = std::iter::once(None).chain(digests.into_iter().map(Some));
        let row = move |(index, digest): (usize, Option<Arc<Digest>>)| {
            let mut row = DigestRow { digest, ..DigestRow::default() };
            self.0.iter().for_each(|part| part.add_to(index, &mut row));
            (row.sums.count > 0).then_some((index, row))
        };
        subjects.enumerate().filter_map(row)
    }
}
