//! Guesses of where keys are: `innodb_adaptive_hash_index`.
//!
//! A table of words, found by a hash of a tree's number and a key. A word says on which page, and in which
//! slot of it, a look-up found that key when it had gone down the tree:
//!
//! ```text
//!   bit  0            32        45               64
//!        | page       | slot    | tag             |      0: nothing is known
//!
//!   look-up ── word ──► page latched, still a leaf of that tree, and the key on it?
//!      │                 yes: found without the inner pages      no: as if there were no word
//!      └─ no word ─────► down the tree, and the word is written
//! ```
//!
//! **A word is a guess, and never an answer.** Who follows it latches the page and looks for the key there. A
//! tree has a key on one of its leaves only, and a page that a tree gives back is no leaf any more: so a key
//! that is found under the latch is the one that the tree has, and a stale word costs a look. That is why
//! nothing has to be removed when pages are split, merged or evicted, and why words are read and written
//! without any lock.
//!
//! **It is judged while it is used.** Of each part - the trees whose numbers have the same remainder - every
//! 64th look-up of a thread is counted. A part whose guesses come true too seldom, and not more often
//! than in the period before, is left alone for a while; each time longer, if it does not become better.
//!
//! While it is off, a look-up reads one byte. The memory is taken when it is switched on for the first time.

#[cfg(not(loom))]
use std::cell::Cell;
use std::sync::OnceLock;

use palisade_base::PageNo;

use crate::metrics;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// One look-up in so many is counted.
const SAMPLE: u32 = if cfg!(loom) { 1 } else { 64 };
/// Counted look-ups after which a part is judged.
const PERIOD: u64 = if cfg!(loom) { 4 } else { 1024 };
/// Guesses of a period that come true at least in a part that is worth its while.
const GOOD: u64 = PERIOD / 4;
/// How many more than in the period before are a reason to go on with one that is not yet.
const RISE: u64 = if cfg!(loom) { 1 } else { PERIOD / 64 };
/// Counted look-ups that a part is left alone at first, and at most.
const PAUSE: (u64, u64) = (4 * PERIOD, 64 * PERIOD);
/// Most words of a table: 128 MiB.
const MOST_WORDS: usize = 1 << 24;
/// Bytes of the buffer pool for each word.
const POOL_BYTES: usize = 256;

const SLOT_BITS: u32 = 13;
const TAG_SHIFT: u32 = 32 + SLOT_BITS;

/// The table of a buffer pool.
pub struct Hints {
    is_on: AtomicBool,
    words: OnceLock<Box<[AtomicU64]>>,
    /// How many words there will be: a power of two.
    size: usize,
    parts: Box<[Part]>,
}

/// What is known of the look-ups of some trees.
#[repr(align(64))]
struct Part {
    /// Counted look-ups of this period, and how many of the guesses came true.
    looks: AtomicU64,
    hits: AtomicU64,
    /// The same of the period before.
    hits_before: AtomicU64,
    /// Counted look-ups for which the part is left alone yet.
    pause: AtomicU64,
    next_pause: AtomicU64,
}

impl Part {
    fn new() -> Part {
        Part {
            looks: AtomicU64::new(0),
            hits: AtomicU64::new(0),
            hits_before: AtomicU64::new(0),
            pause: AtomicU64::new(0),
            next_pause: AtomicU64::new(PAUSE.0),
        }
    }

    fn reset(&self) {
        let Part { looks, hits, hits_before, pause, next_pause } = self;
        [looks, hits, hits_before, pause].into_iter().for_each(|number| number.store(0, Ordering::Relaxed));
        next_pause.store(PAUSE.0, Ordering::Relaxed);
    }

    /// A look-up is counted.
    fn count(&self, is_hit: bool) {
        let hits = self.hits.fetch_add(is_hit.into(), Ordering::Relaxed) + u64::from(is_hit);
        // One thread sees the last look-up of a period, and ends it.
        if self.looks.fetch_add(1, Ordering::Relaxed) + 1 != PERIOD {
            return;
        }
        let before = self.hits_before.swap(hits, Ordering::Relaxed);
        self.hits.store(0, Ordering::Relaxed);
        self.looks.store(0, Ordering::Relaxed);
        if hits >= GOOD {
            self.next_pause.store(PAUSE.0, Ordering::Relaxed);
        } else if hits < before + RISE {
            let pause = self.next_pause.load(Ordering::Relaxed);
            self.next_pause.store((pause * 2).min(PAUSE.1), Ordering::Relaxed);
            // After the pause it is judged as if it were new.
            self.hits_before.store(0, Ordering::Relaxed);
            self.pause.store(pause, Ordering::Relaxed);
        }
    }

    /// Whether its guesses are followed. `is_counted` look-ups bring a pause nearer to its end.
    fn is_used(&self, is_counted: bool) -> bool {
        let pause = self.pause.load(Ordering::Relaxed);
        if pause > 0 && is_counted {
            // Others may have done the same meanwhile: then the pause is a little longer.
            self.pause.store(pause - 1, Ordering::Relaxed);
        }
        pause == 0
    }
}

/// Where the word of a key is.
#[derive(Clone, Copy)]
pub struct Place<'h> {
    word: &'h AtomicU64,
    tag: u64,
    part: &'h Part,
    is_counted: bool,
}

/// Where a key was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    /// The leaf.
    pub page: PageNo,
    /// The slot.
    pub slot: usize,
}

impl Hints {
    /// For a pool of so many bytes, off.
    pub(crate) fn new(pool_bytes: usize, parts: usize) -> Hints {
        let words = (pool_bytes / POOL_BYTES).clamp(2, MOST_WORDS);
        Hints {
            is_on: AtomicBool::new(false),
            words: OnceLock::new(),
            size: 1 << words.ilog2(),
            parts: (0..parts.max(1)).map(|_| Part::new()).collect(),
        }
    }

    /// Whether look-ups use it.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Switches it on, or off: then all is forgotten. What look-ups write that are under way stays, and is as
    /// good a guess as any.
    pub(crate) fn switch(&self, on: bool) {
        if on {
            self.words.get_or_init(|| (0..self.size).map(|_| AtomicU64::new(0)).collect());
        }
        let was_on = self.is_on.swap(on, Ordering::Relaxed);
        if was_on && !on {
            let words = self.words.get().map(|words| &**words).unwrap_or_default();
            words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
            self.parts.iter().for_each(Part::reset);
        }
    }

    /// How many words the table has, and how many of them say anything. Reads all.
    pub fn fill(&self) -> (usize, usize) {
        let words = self.words.get().map(|words| &**words).unwrap_or_default();
        (words.len(), words.iter().filter(|word| word.load(Ordering::Relaxed) != 0).count())
    }

    /// How many parts there are, and how many of them are left alone for now.
    pub fn parts(&self) -> (usize, usize) {
        let paused = self.parts.iter().filter(|part| part.pause.load(Ordering::Relaxed) > 0).count();
        (self.parts.len(), paused)
    }

    /// Where the word of a key of the tree `tree` is; none if its part is left alone, or it is off.
    #[inline]
    pub fn place(&self, tree: u64, key: &[u8]) -> Option<Place<'_>> {
        let words = self.words.get()?;
        let part = &self.parts[(tree % self.parts.len() as u64) as usize];
        let is_counted = is_counted();
        if !part.is_used(is_counted) {
            return None;
        }
        let hash = hash_of(tree, key);
        let word = &words[hash as usize & (words.len() - 1)];
        Some(Place { word, tag: hash >> TAG_SHIFT, part, is_counted })
    }
}

impl Place<'_> {
    /// Where the key was found last, maybe.
    #[inline]
    pub fn hint(&self) -> Option<Hint> {
        let word = self.word.load(Ordering::Relaxed);
        let (page, slot) = (word as u32, (word >> 32) as usize & ((1 << SLOT_BITS) - 1));
        (word >> TAG_SHIFT == self.tag && page != 0).then_some(Hint { page: PageNo(page), slot })
    }

    /// The guess was right; the key is in that slot of its page now.
    #[inline]
    pub fn confirm(&self, hint: Hint, slot: usize) {
        metrics::ADAPTIVE_HASH_SEARCHES.increment();
        if self.is_counted {
            self.part.count(true);
        }
        if hint.slot != slot {
            metrics::ADAPTIVE_HASH_ROWS_UPDATED.increment();
            self.write(hint.page, slot);
        }
    }

    /// There was no guess, or it was wrong. The key has been found elsewhere, if it has been found.
    #[inline]
    pub fn learn(&self, found: Option<Hint>) {
        if self.is_counted {
            self.part.count(false);
        }
        if let Some(Hint { page, slot }) = found {
            metrics::ADAPTIVE_HASH_ROWS_ADDED.increment();
            if self.word.load(Ordering::Relaxed) != 0 {
                metrics::ADAPTIVE_HASH_ROWS_REMOVED.increment();
            }
            self.write(page, slot);
        }
    }

    fn write(&self, page: PageNo, slot: usize) {
        // A slot that does not fit is found by searching the page.
        let slot = (slot as u64).min((1 << SLOT_BITS) - 1);
        self.word.store(self.tag << TAG_SHIFT | slot << 32 | u64::from(page.0), Ordering::Relaxed);
    }
}

#[cfg(not(loom))]
fn is_counted() -> bool {
    thread_local! {
        static LOOKS: Cell<u32> = const { Cell::new(0) };
    }
    LOOKS.with(|looks| {
        let number = looks.get().wrapping_add(1);
        looks.set(number);
        number.is_multiple_of(SAMPLE)
    })
}

#[cfg(loom)]
fn is_counted() -> bool {
    SAMPLE == 1
}

/// A key's hash. That keys can be found that collide does no harm: they take each other's words.
#[inline]
fn hash_of(tree: u64, key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |hash: u64, word: u64| {
        let hash = (hash ^ word).wrapping_mul(FACTOR);
        hash ^ hash >> 32
    };
    let (words, rest) = key.as_chunks::<8>();
    let mut hash = mix(key.len() as u64, tree);
    for word in words {
        hash = mix(hash, u64::from_le_bytes(*word));
    }
    let rest = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    mix(mix(hash, rest), FACTOR)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn hint(page: u32, slot: usize) -> Hint {
        Hint { page: PageNo(page), slot }
    }

    fn on(words: usize, parts: usize) -> Hints {
        let hints = Hints::new(words * POOL_BYTES, parts);
        hints.switch(true);
        hints
    }

    #[test]
    fn what_was_learned_is_told_until_it_is_switched_off() {
        let hints = Hints::new(1024 * POOL_BYTES + 7, 2);
        assert!(!hints.is_on() && hints.place(1, b"a").is_none());
        assert_eq!(hints.fill(), (0, 0));
        hints.switch(true);
        let place = hints.place(1, b"a").unwrap();
        assert_eq!(place.hint(), None);
        place.learn(Some(hint(7, 3)));
        assert_eq!(place.hint(), Some(hint(7, 3)));
        place.confirm(hint(7, 3), 4);
        assert_eq!(hints.place(1, b"a").unwrap().hint(), Some(hint(7, 4)));
        assert_eq!(hints.place(2, b"a").unwrap().hint(), None, "of another tree");
        assert_eq!(hints.fill(), (1024, 1));
        place.learn(Some(hint(u32::MAX - 1, 1 << 20)));
        assert_eq!(place.hint(), Some(hint(u32::MAX - 1, (1 << SLOT_BITS) - 1)));
        hints.switch(false);
        assert_eq!((hints.is_on(), hints.fill()), (false, (1024, 0)));
    }

    #[test]
    fn keys_spread_over_the_words() {
        let hints = on(1 << 16, 1);
        for key in 0..1u64 << 14 {
            hints.place(3, &key.to_be_bytes()).unwrap().learn(Some(hint(1, 0)));
            hints.place(4, format!("user-{key:08}").as_bytes()).unwrap().learn(Some(hint(1, 0)));
        }
        // 32,768 keys in 65,536 places: 25,786 are taken if they fall at random.
        let (_, taken) = hints.fill();
        assert!((25_000..26_600).contains(&taken), "{taken}");
    }

    /// Look-ups of a tree of which a share of the guesses comes true. Gives how many there were before a
    /// pause.
    fn until_pause(part: &Part, is_hit: impl Fn(u64) -> bool) -> Option<u64> {
        (0..100 * PERIOD).find(|look| {
            part.count(is_hit(*look));
            !part.is_used(false)
        })
    }

    #[test]
    fn a_part_whose_guesses_fail_is_left_alone_ever_longer() {
        let part = Part::new();
        for pause in [4, 8, 16, 32, 64, 64] {
            assert_eq!(until_pause(&part, |_| false), Some(PERIOD - 1));
            let left_alone = (0..).take_while(|_| !part.is_used(true)).count() as u64;
            assert_eq!(left_alone, pause * PERIOD);
        }
        assert_eq!(until_pause(&part, |look| look % 3 == 0), None, "one in three is good enough");
        assert_eq!(until_pause(&part, |_| false), Some(PERIOD - 1));
        assert_eq!(part.pause.load(Ordering::Relaxed), 4 * PERIOD, "it was good meanwhile");
    }

    #[test]
    fn a_part_that_is_becoming_better_is_not_given_up() {
        let part = Part::new();
        // Two of each 64 more in each period, up to a half.
        let is_hit = |look: u64| look % 64 < (look / PERIOD * 2 + 2).min(32);
        assert_eq!(until_pause(&part, is_hit), None);
        // It stays where it is, at one of ten.
        assert!(until_pause(&part, |look| look % 10 == 0).is_some());
    }
}

/// Every interleaving: a word that is read is one that was written, whoever writes beside, and whatever is
/// switched.
#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    #[test]
    fn loom_a_guess_is_one_that_was_learned() {
        loom::model(|| {
            let hints = Arc::new(Hints::new(2 * POOL_BYTES, 1));
            hints.switch(true);
            let learn = |hints: Arc<Hints>, page: u32| {
                move || {
                    if let Some(place) = hints.place(1, b"key") {
                        place.learn(Some(Hint { page: PageNo(page), slot: page as usize + 1 }));
                    }
                }
            };
            let one = thread::spawn(learn(hints.clone(), 1));
            let other = thread::spawn({
                let hints = hints.clone();
                move || hints.switch(false)
            });
            learn(hints.clone(), 2)();
            if let Some(hint) = hints.place(1, b"key").and_then(|place| place.hint()) {
                assert_eq!(hint.slot, hint.page.0 as usize + 1, "half of one word and half of another");
            }
            one.join().unwrap();
            other.join().unwrap();
            assert!(!hints.is_on());
        });
    }

    #[test]
    fn loom_a_period_ends_once() {
        loom::model(|| {
            let part = Arc::new(Part::new());
            let other = thread::spawn({
                let part = part.clone();
                move || (0..2).for_each(|_| part.count(false))
            });
            (0..2).for_each(|_| part.count(false));
            other.join().unwrap();
            assert_eq!(part.looks.load(Ordering::Relaxed), 0);
            assert_eq!(part.pause.load(Ordering::Relaxed), PAUSE.0);
            assert_eq!(part.next_pause.load(Ordering::Relaxed), 2 * PAUSE.0);
        });
    }
}
