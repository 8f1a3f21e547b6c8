//! Histograms of times, with MySQL's buckets.
//!
//! ```text
//!   bucket        0        1              2          ...      51         ...  449
//!   from        0 µs    10 µs     10 µs·10^(1/50)           100 µs           2.5 h, and all above
//! ```
//!
//! Fifty buckets for each power of ten. A decade's counts are allocated when its first time comes: the times
//! of one statement are in two or three of them.

use std::sync::{LazyLock, OnceLock};

use crate::sync::{AtomicU64, Ordering};

/// How many buckets there are.
pub const BUCKETS: usize = 450;

/// Buckets of a decade.
const DECADE: usize = 50;

/// Where the second bucket begins, in picoseconds.
const FIRST_BOUND_PS: f64 = 1e7;

/// The fiftieth root of 10.
const FACTOR: f64 = 1.047_128_548_050_899_5;

/// Cells of the index of `Bounds` for each power of two.
const CELLS: u32 = 16;

/// The bounds of the buckets, and where to look for a time's.
struct Bounds {
    /// Where each bucket begins, in picoseconds; behind the last one the highest number.
    from_ps: [u64; BUCKETS + 1],
    /// Where each bucket begins, in nanoseconds, rounded up.
    from_ns: [u64; BUCKETS + 1],
    /// By power of two and the four bits below it: the bucket of the first time in that cell.
    cells: [u16; 64 * CELLS as usize],
}

static BOUNDS: LazyLock<Bounds> = LazyLock::new(|| {
    let mut bound = FIRST_BOUND_PS;
    let mut from_ps: [u64; BUCKETS + 1] = std::array::from_fn(|bucket| match bucket {
        0 => 0,
        // By repeated multiplication, which is how MySQL's bounds come about.
        _ => {
            let next = bound * FACTOR;
            std::mem::replace(&mut bound, next) as u64
        }
    });
    if let Some(end) = from_ps.last_mut() {
        *end = u64::MAX;
    }
    let mut from_ns = from_ps.map(|ps| ps.div_ceil(1000));
    if let Some(end) = from_ns.last_mut() {
        *end = u64::MAX;
    }
    let first = |ns: u64| from_ns.partition_point(|from| *from <= ns).saturating_sub(1);
    let cells = std::array::from_fn(|cell| {
        let (power, below) = (cell as u32 / CELLS, cell as u64 % u64::from(CELLS));
        let ns = match power {
            0..4 => 1 << power,
            _ => (1 << power) + (below << (power - 4)),
        };
        first(ns).min(BUCKETS - 1) as u16
    });
    Bounds { from_ps, from_ns, cells }
});

/// The bucket of a time.
#[inline]
pub fn bucket_of(ns: u64) -> usize {
    const FIRST_BOUND_NS: u64 = 10_000;
    if ns < FIRST_BOUND_NS {
        return 0;
    }
    let Bounds { from_ns, cells, .. } = &*BOUNDS;
    let power = ns.ilog2();
    let cell = power * CELLS + ((ns >> (power - 4)) as u32 & (CELLS - 1));
    let mut bucket = cells.get(cell as usize).map_or(0, |first| usize::from(*first));
    // A cell is less than two buckets wide.
    while bucket + 1 < BUCKETS && from_ns.get(bucket + 1).is_some_and(|from| *from <= ns) {
        bucket += 1;
    }
    bucket
}

/// Where a [`Histogram`] has the count of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BucketPlace {
    decade: u8,
    within: u8,
}

/// The place of a bucket.
#[inline]
pub(crate) fn place_of(bucket: usize) -> BucketPlace {
    BucketPlace { decade: (bucket / DECADE) as u8, within: (bucket % DECADE) as u8 }
}

/// Where a bucket begins and ends, in picoseconds.
pub fn bounds_ps(bucket: usize) -> (u64, u64) {
    let at = |bucket: usize| BOUNDS.from_ps.get(bucket).copied().unwrap_or(u64::MAX);
    (at(bucket), at(bucket + 1))
}

/// Counts of times that one thread adds to and any thread reads.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    decades: [OnceLock<Box<[AtomicU64; DECADE]>>; BUCKETS / DECADE],
}

impl Histogram {
    /// Counts a time of that bucket. The caller is the only writer.
    #[inline]
    pub(crate) fn add(&self, bucket: BucketPlace) {
        let Some(decade) = self.decades.get(usize::from(bucket.decade)) else { return };
        let counts = decade.get_or_init(|| Box::new(std::array::from_fn(|_| AtomicU64::new(0))));
        if let Some(count) = counts.get(usize::from(bucket.within)) {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }

    /// Adds its counts to these.
    pub(crate) fn add_to(&self, counts: &mut Counts) {
        for (decade, sums) in self.decades.iter().zip(&mut counts.0) {
            let Some(decade) = decade.get() else { continue };
            let sums = sums.get_or_insert_with(|| Box::new([0; DECADE]));
            sums.iter_mut().zip(&**decade).for_each(|(sum, count)| *sum += count.load(Ordering::Relaxed));
        }
    }
}

/// A histogram as it was read: the decades in which there is something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts([Option<Box<[u64; DECADE]>>; BUCKETS / DECADE]);

impl Counts {
    /// Times in a bucket.
    pub fn of(&self, bucket: usize) -> u64 {
        let decade = self.0.get(bucket / DECADE).and_then(Option::as_ref);
        decade.and_then(|decade| decade.get(bucket % DECADE)).copied().unwrap_or(0)
    }

    /// Times in all buckets.
    pub fn total(&self) -> u64 {
        self.0.iter().flatten().map(|decade| decade.iter().sum::<u64>()).sum()
    }

    /// Takes away what was counted before.
    pub(crate) fn subtract(&mut self, before: &Counts) {
        for (now, then) in self.0.iter_mut().zip(&before.0) {
            let (Some(now), Some(then)) = (now, then) else { continue };
            now.iter_mut().zip(&**then).for_each(|(now, then)| *now = now.saturating_sub(*then));
        }
    }

    /// The end of the bucket, in picoseconds, up to which there are `thousandths` of all times; 0 if there
    /// are none.
    pub fn quantile_ps(&self, thousandths: u64) -> u64 {
        let total = self.total();
        if total == 0 {
            return 0;
        }
        let wanted = (u128::from(total) * u128::from(thousandths)).div_ceil(1000);
        let mut sum = 0;
        for (decade, counts) in self.0.iter().enumerate() {
            for (within, count) in counts.iter().flat_map(|counts| counts.iter()).enumerate() {
                sum += u128::from(*count);
                if sum >= wanted {
                    return bounds_ps(decade * DECADE + within).1;
                }
            }
        }
        bounds_ps(BUCKETS - 1).1
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use palisade_base::prng::{Prng, test_seed};

    use super::*;

    #[test]
    fn bounds_are_mysqls() {
        assert_eq!(bounds_ps(0), (0, 10_000_000));
        assert_eq!(bounds_ps(1), (10_000_000, 10_471_285));
        assert_eq!(bounds_ps(41), (63_095_734, 66_069_344));
        assert_eq!((bounds_ps(51).0, bounds_ps(214).0), (100000000, 181970085861));
        assert_eq!((bounds_ps(302).0, bounds_ps(449).0), (10471285480509, 9120108393559408));
        assert_eq!(bounds_ps(BUCKETS - 1).1, u64::MAX);
    }

    #[test]
    fn a_time_is_in_the_bucket_of_its_bounds() {
        let mut prng = Prng::new(test_seed(135));
        let random = (0..100_000).map(|_| prng.next_u64() >> prng.below(63));
        let edges = (0..BUCKETS).map(|bucket| bounds_ps(bucket).0.div_ceil(1000));
        let beside = |ns: u64| [ns.saturating_sub(1), ns, ns.saturating_add(1)];
        for ns in random.chain(edges.flat_map(beside)).chain([0, u64::MAX]) {
            let (from, end) = bounds_ps(bucket_of(ns));
            let ps = u128::from(ns) * 1000;
            assert!(u128::from(from) <= ps && (ps < u128::from(end) || end == u64::MAX), "{ns}");
        }
    }

    #[test]
    fn quantiles_are_ends_of_buckets() {
        let histogram = Histogram::default();
        (0..99).for_each(|_| histogram.add(place_of(0)));
        histogram.add(place_of(bucket_of(1_000_000)));
        let mut counts = Counts::default();
        histogram.add_to(&mut counts);
        assert_eq!((counts.total(), counts.of(0)), (100, 99));
        assert_eq!((counts.quantile_ps(950), counts.quantile_ps(990)), (10_000_000, 10_000_000));
        assert_eq!(counts.quantile_ps(999), bounds_ps(bucket_of(1_000_000)).1);
        assert_eq!(Counts::default().quantile_ps(950), 0);
        histogram.add(place_of(BUCKETS));
    }
}
