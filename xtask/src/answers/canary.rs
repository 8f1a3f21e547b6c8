//! Wrong answers put in on purpose: a comparison that passes one of them is worth nothing.

use std::collections::BTreeMap;

use super::compare::{Difference, Reply, difference};
use super::question::Step;
use super::rules::{Case, named};
use crate::client::{Answer, Column};

/// Of how many questions of a kind the answers are falsified.
const QUESTIONS: u64 = 200;

/// How often the answers of a kind have been falsified in each way, and how often that would not have been
/// reported.
#[derive(Debug, Default)]
pub struct Canaries {
    questions: u64,
    ways: BTreeMap<&'static str, (u64, u64)>,
}

impl Canaries {
    /// Falsifies a reply to a step that both servers answer alike, in each way that it can be false, if it is
    /// one of the first of its kind.
    pub fn try_with(&mut self, step: &Step, right: &Reply) {
        if self.questions == QUESTIONS {
            return;
        }
        self.questions += 1;
        for (name, expected, wrong) in falsified(right) {
            let seen = difference(&wrong, right);
            let is_named = seen.is_some_and(|difference| {
                named(&Case { step, ours: &wrong, theirs: right, difference }).is_some()
            });
            let (tried, unseen) = self.ways.entry(name).or_default();
            *tried += 1;
            *unseen += u64::from(seen != Some(expected) || is_named);
        }
    }

    /// The ways of which more than a few would not be reported. A rule that means a difference may know what
    /// is falsified in one question; one that knows it in many is too wide.
    pub fn unseen(&self) -> Vec<String> {
        let is_blind = |(_, (tried, unseen)): &(&&str, &(u64, u64))| unseen * 5 > *tried;
        let blind = self.ways.iter().filter(is_blind);
        blind.map(|(name, (tried, unseen))| format!("{name} ({unseen} of {tried})")).collect()
    }
}

fn falsified(right: &Reply) -> Vec<(&'static str, Difference, Reply)> {
    let mut all = Vec::new();
    let with = |change: &dyn Fn(&mut Reply)| {
        let mut wrong = right.clone();
        change(&mut wrong);
        wrong
    };
    match &right.answer {
        Answer::Rows(rows) => {
            if rows.first().is_some_and(|row| !row.is_empty()) {
                all.push((
                    "another value",
                    Difference::Rows,
                    with(&|wrong| {
                        let Answer::Rows(rows) = &mut wrong.answer else { return };
                        rows[0][0] = match &rows[0][0] {
                            None => Some("0".to_owned()),
                            // In front: the last digits of a double may differ.
                            Some(value) => Some(format!("7{value}")),
                        };
                    }),
                ));
                all.push((
                    "a row less",
                    Difference::Rows,
                    with(&|wrong| {
                        let Answer::Rows(rows) = &mut wrong.answer else { return };
                        rows.pop();
                    }),
                ));
            }
            // that of a column of nothing but NULL may differ
            if rows.iter().any(|row| row.first().is_some_and(Option::is_some)) {
                all.push((
                    "another type",
                    Difference::Types,
                    with(&|wrong| {
                        wrong.columns[0] = Column::geometry();
                    }),
                ));
            }
            all.push((
                "a failure",
                Difference::OnlyPalisadeFails,
                with(&|wrong| {
                    wrong.answer = Answer::Failed(1105, "HY000".to_owned(), "canary".to_owned());
                }),
            ));
        }
        Answer::Done(count) => {
            all.push((
                "another count",
                Difference::Rows,
                with(&|wrong| {
                    wrong.answer = Answer::Done(count + 1);
                }),
            ));
        }
        Answer::Failed(code, state, text) => {
            all.push((
                "another error",
                Difference::Errors,
                with(&|wrong| {
                    wrong.answer = Answer::Failed(code + 1, state.clone(), text.clone());
                }),
            ));
            all.push((
                "no error",
                Difference::OnlyPeerFails,
                with(&|wrong| {
                    wrong.answer = Answer::Done(0);
                }),
            ));
        }
    }
    if !matches!(right.answer, Answer::Failed(..)) {
        all.push((
            "one more warning",
            Difference::Warnings,
            with(&|wrong| {
                wrong.warnings.push(("9999".to_owned(), "canary".to_owned()));
            }),
        ));
    }
    all
}
