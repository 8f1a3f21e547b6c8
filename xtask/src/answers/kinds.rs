//! The kinds of questions: each a small module with a grammar or a generator, all of them replayable from a
//! seed.

mod changes;
mod collations;
mod dates;
mod distinct;
mod having;
mod json;
mod parameters;
mod rollup;
mod texts;
mod variables;
mod years;

use palisade_base::prng::Prng;

use super::question::{Grammar, Question, Rules};

/// A kind of questions.
pub struct Kind {
    /// What `--kind` calls it.
    pub name: &'static str,
    /// Statements that make its own tables. Every kind may read `v` (see [`super::author::TABLE`]).
    pub tables: &'static [&'static str],
    /// The question of a seed.
    pub question: fn(u64) -> Question,
}

/// All kinds.
pub const KINDS: &[Kind] = &[
    Kind { name: "general", tables: &[], question: super::author::question },
    Kind { name: "grouping", tables: &[], question: super::groups::question },
    years::KIND,
    texts::KIND,
    dates::KIND,
    rollup::KIND,
    having::KIND,
    distinct::KIND,
    parameters::KIND,
    json::KIND,
    collations::KIND,
    variables::KIND,
    changes::KIND,
];

/// Columns of `v`, one of each type that values are converted to and from.
const COLUMNS: &[&str] = &[
    "c_tiny",
    "c_int",
    "c_ubig",
    "c_dec",
    "c_float",
    "c_double",
    "c_text",
    "c_bin",
    "c_bytes",
    "c_date",
    "c_time",
    "c_datetime6",
    "c_year",
    "c_bit",
    "c_enum",
    "c_set",
];

/// The question that a grammar makes from a seed. Kinds with the same seed differ by `salt`.
fn made(rules: Rules, salt: u64, seed: u64) -> Question {
    Grammar::new(rules, &mut Prng::new(seed ^ salt)).question()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_makes_the_same_question_of_a_seed_and_many_different_ones() {
        for kind in KINDS {
            let mut texts: Vec<String> = (0..200).map(|seed| (kind.question)(seed).to_string()).collect();
            let again: Vec<String> = (0..200).map(|seed| (kind.question)(seed).to_string()).collect();
            assert_eq!(texts, again, "{}", kind.name);
            texts.sort();
            texts.dedup();
            assert!(texts.len() > 150, "{}: {}", kind.name, texts.len());
            assert!(texts.iter().all(|text| !text.contains("$$")), "{}", kind.name);
        }
    }
}
