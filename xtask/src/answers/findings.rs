//! What a run has found: counted by kind and form, the shortest of each shown.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Found;
use super::canary::Canaries;
use super::compare::Difference;
use super::question::Question;
use crate::Outcome;

/// The difference, the kind of question, its form.
pub type Key = (Difference, &'static str, String);

/// A difference to be shown.
pub struct Shown {
    pub seed: u64,
    pub question: Question,
    pub found: Found,
    /// The smallest question that shows it, if one was looked for.
    pub small: Option<(Question, Found)>,
}

/// All that a run has found.
#[derive(Default)]
pub struct Findings {
    pub equal: u64,
    pub statements: u64,
    /// By kind, what would have been reported of falsified answers.
    pub canaries: BTreeMap<&'static str, Canaries>,
    named: BTreeMap<&'static str, u64>,
    different: BTreeMap<Key, (u64, Vec<Shown>)>,
}

/// How many of a form are kept.
const KEPT: usize = 4;

impl Findings {
    /// How many of these have been found.
    pub fn count(&self, key: &Key) -> u64 {
        self.different.get(key).map_or(0, |(count, _)| *count)
    }

    /// Counts a difference that docs/sql.md names.
    pub fn add_named(&mut self, name: &'static str) {
        *self.named.entry(name).or_default() += 1;
    }

    /// Counts a difference without a name.
    pub fn add(&mut self, key: Key, shown: Shown) {
        let (count, kept) = self.different.entry(key).or_default();
        *count += 1;
        let text =
            |shown: &Shown| shown.small.as_ref().map_or(&shown.question, |(small, _)| small).to_string();
        if kept.len() < KEPT && kept.iter().all(|known| text(known) != text(&shown)) {
            kept.push(shown);
            kept.sort_by_key(|shown| (shown.small.is_none(), text(shown).len()));
        }
    }

    pub fn print(&self, taken: Duration) {
        let mut sums: BTreeMap<Difference, u64> = BTreeMap::new();
        for ((difference, kind, about), (count, kept)) in &self.different {
            println!("{difference:?} {count} x {kind}: {about}");
            *sums.entry(*difference).or_default() += count;
            for shown in kept {
                let (question, found) = match &shown.small {
                    Some((small, found)) => (small, found),
                    None => (&shown.question, &shown.found),
                };
                println!("  {}: {question}\n    {}", shown.seed, found.shown);
                if shown.small.is_some() {
                    println!("    of:     {}", shown.question);
                }
            }
        }
        for (name, count) in &self.named {
            println!("named {count} x {name}");
        }
        let rate = self.statements as f64 / taken.as_secs_f64();
        println!(
            "statements: {}, {rate:.0} a second; canaries reported: {}",
            self.statements,
            self.canaries.len()
        );
        println!(
            "questions: equal {}; named {}; different {sums:?}",
            self.equal,
            self.named.values().sum::<u64>()
        );
    }

    /// Fails where a difference has no name, or a falsified answer would have passed.
    pub fn outcome(&self) -> Outcome {
        let blind: Vec<String> = self
            .canaries
            .iter()
            .map(|(kind, canaries)| (kind, canaries.unseen()))
            .filter(|(_, unseen)| !unseen.is_empty())
            .map(|(kind, unseen)| format!("{kind}: {}", unseen.join(", ")))
            .collect();
        if !blind.is_empty() {
            return Err(format!("wrong answers put in on purpose were not reported: {}", blind.join("; ")));
        }
        match self.different.values().map(|(count, _)| count).sum::<u64>() {
            0 => Ok(()),
            count => Err(format!("{count} differences that docs/sql.md does not name")),
        }
    }
}
