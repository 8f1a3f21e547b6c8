//! What a language changes in the weights of its version of Unicode, as `tools/ask_uca.py` recorded it in
//! `tailorings.bin`, which tells the layout.
//!
//! A tailoring is read once, at the first use of a collation that has it: into pages of 256 characters, so
//! that a character finds its entry, or that it has none, with two loads. A contraction (several characters
//! that weigh as one, such as `ch` in Czech) hangs on the entry of its first character; the longest that fits
//! is taken.

use std::sync::OnceLock;

static FILE: &[u8] = include_bytes!("tailorings.bin");

/// Number of tailorings in the file.
const COUNT: usize = match FILE_HEAD {
    [low, high, ..] => u16::from_le_bytes([*low, *high]) as usize,
    _ => panic!("the file is empty"),
};
const FILE_HEAD: &[u8] = include_bytes!("tailorings.bin");

static LOADED: [OnceLock<Tailoring>; COUNT] = [const { OnceLock::new() }; COUNT];

/// Most levels of a collation.
pub(super) const LEVELS: usize = 4;

/// A language, by the position of its tailoring in the file; [`Language::ROOT`] has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language(u8);

impl Language {
    /// The weights as Unicode has them.
    pub(super) const ROOT: Language = Language(u8::MAX);

    /// The language with this name in the file: to be called at compile time, where a missing one ends the
    /// build.
    #[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
    pub(super) const fn named(name: &str) -> Language {
        let (wanted, mut at, mut number) = (name.as_bytes(), 2, 0);
        while number < COUNT {
            let length = FILE_HEAD[at] as usize;
            let mut same = length == wanted.len();
            let mut byte = 0;
            while same && byte < length {
                same = FILE_HEAD[at + 1 + byte] == wanted[byte];
                byte += 1;
            }
            if same {
                return Language(number as u8);
            }
            at += 1 + length + 4;
            number += 1;
        }
        panic!("there is no tailoring with this name")
    }

    /// Its tailoring; read from the file at the first call.
    pub(super) fn tailoring(self) -> Option<&'static Tailoring> {
        let loaded = LOADED.get(usize::from(self.0))?;
        Some(loaded.get_or_init(|| Tailoring::read(usize::from(self.0))))
    }
}

/// A change of a range of weights.
#[derive(Debug, Clone, Copy)]
struct Shift {
    lowest: u16,
    highest: u16,
    added: u16,
    prefix: u16,
}

/// The weights of one entry: where they begin, and how many each level has.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u32,
    counts: [u8; LEVELS],
}

#[derive(Debug, Default)]
struct Entry {
    own: Option<Span>,
    /// What may follow for a contraction, the longest first.
    contractions: Vec<(Box<[u32]>, Span)>,
}

/// What a language changes.
#[derive(Debug)]
pub(super) struct Tailoring {
    /// For the first of two implicit weights, then for each level.
    shifts: [Vec<Shift>; LEVELS],
    /// For each 256 code points the number of their page in `numbers`; 0 is the empty page.
    pages: Vec<u16>,
    /// 256 a page: 1 + the position in `entries`, or 0.
    numbers: Vec<u32>,
    entries: Vec<Entry>,
    weights: Vec<u16>,
    has_contractions: bool,
}

/// Which shifts a weight goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The first of two implicit weights.
    Implicit,
    /// A listed weight of this level.
    Level(usize),
}

/// Reads numbers off the file, whose shape the generator and the tests answer for.
struct Bytes {
    at: usize,
}

impl Bytes {
    #[expect(
        clippy::indexing_slicing,
        reason = "the file is part of the program, and a test reads all of it"
    )]
    fn byte(&mut self) -> usize {
        self.at += 1;
        usize::from(FILE[self.at - 1])
    }

    fn skip_name(&mut self) {
        let length = self.byte();
        self.at += length;
    }

    fn word(&mut self) -> u16 {
        self.byte() as u16 | (self.byte() as u16) << 8
    }

    fn long(&mut self) -> u32 {
        u32::from(self.word()) | u32::from(self.word()) << 16
    }
}

impl Tailoring {
    fn read(number: usize) -> Tailoring {
        let mut from = Bytes { at: 2 };
        for _ in 0..number {
            from.skip_name();
            from.at += 4;
        }
        from.skip_name();
        from.at = from.long() as usize;
        // The base: the declaration of the collation names it too.
        from.byte();
        let levels = from.byte();
        let shifts = std::array::from_fn(|_| {
            let count = from.byte();
            let shift = |from: &mut Bytes| Shift {
                lowest: from.word(),
                highest: from.word(),
                added: from.word(),
                prefix: from.word(),
            };
            (0..count).map(|_| shift(&mut from)).collect()
        });
        let mut tailoring = Tailoring {
            shifts,
            pages: vec![0; 0x1100],
            numbers: vec![0; 256],
            entries: Vec::new(),
            weights: Vec::new(),
            has_contractions: false,
        };
        for _ in 0..from.long() {
            tailoring.read_entry(&mut from, levels);
        }
        for entry in &mut tailoring.entries {
            entry.contractions.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        tailoring
    }

    fn read_entry(&mut self, from: &mut Bytes, levels: usize) {
        let head = from.byte();
        let codes: Vec<u32> =
            (0..head & 0x7f).map(|_| u32::from(from.word()) | (from.byte() as u32) << 16).collect();
        let start = self.weights.len() as u32;
        let mut counts = [0; LEVELS];
        if head & 0x80 != 0 {
            self.weights.extend([from.word(), 0x20, 0x02]);
            counts = [1, 1, 1, 0];
        } else {
            for count in counts.iter_mut().take(levels) {
                *count = from.byte() as u8;
                self.weights.extend((0..*count).map(|_| from.word()));
            }
        }
        let span = Span { start, counts };
        let [first, rest @ ..] = &codes[..] else { return };
        let entry = self.entry_mut(*first);
        if rest.is_empty() {
            entry.own = Some(span);
        } else {
            entry.contractions.push((rest.into(), span));
            self.has_contractions = true;
        }
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "pages and entries are named as they are added, code points by the file"
    )]
    fn entry_mut(&mut self, code: u32) -> &mut Entry {
        let page = &mut self.pages[(code >> 8) as usize];
        if *page == 0 {
            *page = (self.numbers.len() / 256) as u16;
            self.numbers.resize(self.numbers.len() + 256, 0);
        }
        let number = &mut self.numbers[usize::from(*page) * 256 + (code & 0xff) as usize];
        if *number == 0 {
            self.entries.push(Entry::default());
            *number = self.entries.len() as u32;
        }
        &mut self.entries[*number as usize - 1]
    }

    fn entry(&self, code: u32) -> Option<&Entry> {
        let page = usize::from(*self.pages.get((code >> 8) as usize)?);
        let number = *self.numbers.get(page * 256 + (code & 0xff) as usize)?;
        self.entries.get((number as usize).checked_sub(1)?)
    }

    /// Whether a weight may depend on the characters before it.
    pub(super) fn has_contractions(&self) -> bool {
        self.has_contractions
    }

    /// Whether a contraction begins with this character.
    pub(super) fn begins_contraction(&self, code: u32) -> bool {
        self.entry(code).is_some_and(|entry| !entry.contractions.is_empty())
    }

    /// The weights of `code`, which `following` gives the characters after; and how many of those are taken
    /// in. `None` if the base has its weights.
    pub(super) fn weights(
        &self,
        code: u32,
        level: usize,
        following: impl Iterator<Item = u32> + Clone,
    ) -> Option<(&[u16], usize)> {
        let entry = self.entry(code)?;
        let fits = |rest: &[u32]| following.clone().take(rest.len()).eq(rest.iter().copied());
        let longest = entry.contractions.iter().find(|(rest, _)| fits(rest));
        let (span, taken) = match longest {
            Some((rest, span)) => (*span, rest.len()),
            None => (entry.own?, 0),
        };
        let before: usize = span.counts.iter().take(level).map(|count| usize::from(*count)).sum();
        let start = span.start as usize + before;
        let count = usize::from(*span.counts.get(level)?);
        Some((self.weights.get(start..start + count)?, taken))
    }

    /// What becomes of a weight of the base, and the weight that goes before it (0: none).
    pub(super) fn shifted(&self, weight: u16, place: Place) -> (u16, u16) {
        let shifts = match place {
            Place::Implicit => self.shifts.first(),
            Place::Level(level) => self.shifts.get(level + 1),
        };
        match shifts.into_iter().flatten().find(|shift| (shift.lowest..=shift.highest).contains(&weight)) {
            Some(shift) => (shift.prefix, weight.wrapping_add(shift.added)),
            None => (0, weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tailoring_can_be_read() {
        for number in 0..COUNT {
            let tailoring = Language(number as u8).tailoring().unwrap();
            assert!(
                !tailoring.entries.is_empty() || tailoring.shifts.iter().any(|shifts| !shifts.is_empty())
            );
        }
        assert!(Language::ROOT.tailoring().is_none());
    }

    #[test]
    fn the_longest_contraction_is_taken() {
        let hungarian = Language::named("hu_0900").tailoring().unwrap();
        let taken = |text: &str| {
            let mut codes = text.chars().map(u32::from);
            let first = codes.next().unwrap();
            hungarian.weights(first, 0, codes).map(|(_, taken)| taken)
        };
        assert_eq!(taken("dzs"), Some(2));
        assert_eq!(taken("dzx"), Some(1));
        assert_eq!(taken("ddzx"), Some(2), "a doubled dz");
        assert_eq!(taken("da"), None, "what the base has");
        assert!(hungarian.has_contractions());
    }
}
