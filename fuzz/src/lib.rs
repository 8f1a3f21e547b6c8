//! Fuzz targets: everything that decodes bytes which the server has not made itself.
//!
//! A [`Target`] takes any bytes and panics if what it was given is answered wrongly: by a panic of the code
//! under test, by an answer that contradicts another one (what was printed reads back, what was decoded
//! encodes to the same), or by taking too long. An error is a right answer.
//!
//! | target | bytes | what must hold beside the absence of panics |
//! |---|---|---|
//! | `parser` | SQL | a key that a plan is kept under parses if the statement does |
//! | `packets` | packets of clients, before and after the login, compressed ones | |
//! | `log` | files of a redo log | records follow one another, and reading ends |
//! | `page` | a page and a mini-transaction applied to it | a page that the check has passed can be read |
//! | `places` | the map of a table out of place, and place records | |
//! | `row` | rows, index entries and definitions of tables | a sound row encodes to the same values |
//! | `decimal` | numbers as text and packed | what is printed and packed is the same number |
//! | `json` | a path and a document | what a path finds is where it says; documents print as themselves |
//! | `expression` | an SQL expression, evaluated | |
//!
//! Three ways to run one:
//!
//! - `cargo xtask fuzz` searches, led by the branches that an input takes (libFuzzer, on the stable
//!   toolchain: docs/decisions/103). `--target NAME`, `--seconds N`, `--seed N`. It prints the seed, and
//!   keeps an input that fails in `fuzz/regressions/NAME/`.
//! - `cargo xtask fuzz --target NAME --input FILE` runs one input.
//! - the tests of this package run every kept input and some thousands of mutations of the seeds, from a seed
//!   that they print.
//!
//! Checksums would end most inputs at the first line. So where bytes are sealed, the target seals them again
//! after they have been mutated, unless the input says that it does not want to be.
//!
//! [`canary`] is a decoder with a planted mistake that chance alone does not find: `cargo xtask fuzz` fails
//! if it is not found.

#![forbid(unsafe_code)]

pub mod canary;
mod mutate;
mod targets;

use palisade_base::prng::Prng;

pub use mutate::mutate;

/// Something that takes bytes.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Inputs to begin with, which reach far.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Words that mutations may put in.
    pub words: &'static [&'static str],
    /// Longer inputs teach nothing new.
    pub longest: usize,
    /// Runs one input; panics if something is wrong.
    pub run: fn(&[u8]),
}

/// All of them.
pub const TARGETS: &[Target] = &[
    targets::parser::TARGET,
    targets::packets::TARGET,
    targets::log::TARGET,
    targets::page::TARGET,
    targets::places::TARGET,
    targets::row::TARGET,
    targets::decimal::TARGET,
    targets::json::TARGET,
    targets::expression::TARGET,
];

/// The target of that name; [`canary`] has one too.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().chain([&canary::TARGET]).find(|target| target.name == name)
}

/// Runs every seed of a target, then `count` mutations of them. The input that is being run is given to
/// `note` before.
pub fn run_seeded(target: &Target, seed: u64, count: u64, mut note: impl FnMut(&[u8])) {
    let seeds = (target.seeds)();
    for input in &seeds {
        note(input);
        (target.run)(input);
    }
    let mut prng = Prng::new(seed);
    for _ in 0..count {
        let input = mutate(&mut prng, &seeds, target.words, target.longest);
        note(&input);
        (target.run)(&input);
    }
}

#[cfg(test)]
mod tests;
