//! Makes a question that shows a difference as small as it gets.
//!
//! Parts of it are left out, and what is left is asked again: whole statements first, then runs of tokens,
//! calls (`IF(a, b, c)` becomes `a, b, c`, or one constant) and single tokens. What no server can parse fails
//! in both alike, and so is no difference; a grammar is not needed.

use super::question::Question;
use crate::tokens::split;

/// How many smaller questions are tried.
const BUDGET: u32 = 600;

/// The smallest question found for which `shows` holds. It holds for `question`.
pub fn reduce(question: &Question, shows: impl FnMut(&Question) -> bool) -> Question {
    let mut reducer = Reducer { best: question.clone(), left: BUDGET, shows };
    reducer.drop_steps();
    loop {
        let before = reducer.left;
        let length = reducer.best.to_string().len();
        for at in 0..reducer.best.steps.len() {
            reducer.drop_tokens(at);
            reducer.unwrap_calls(at);
        }
        if reducer.left == 0 || reducer.left == before || reducer.best.to_string().len() == length {
            return reducer.best;
        }
    }
}

struct Reducer<F> {
    best: Question,
    left: u32,
    shows: F,
}

impl<F: FnMut(&Question) -> bool> Reducer<F> {
    /// Takes a candidate if it shows the difference, too.
    fn is_better(&mut self, candidate: Question) -> bool {
        if self.left == 0 || candidate.steps.is_empty() || !keeps_order(&self.best, &candidate) {
            return false;
        }
        self.left -= 1;
        let shows = (self.shows)(&candidate);
        if shows {
            self.best = candidate;
        }
        shows
    }

    fn drop_steps(&mut self) {
        let mut at = 0;
        while at < self.best.steps.len() {
            let mut candidate = self.best.clone();
            candidate.steps.remove(at);
            if !self.is_better(candidate) {
                at += 1;
            }
        }
    }

    fn tokens(&self, step: usize) -> Vec<String> {
        split(self.best.steps[step].text())
    }

    fn is_better_with(&mut self, step: usize, tokens: &[String]) -> bool {
        let text = tokens.concat();
        if text.trim() == self.best.steps[step].text() {
            return false;
        }
        let mut candidate = self.best.clone();
        candidate.steps[step] = self.best.steps[step].with_text(text.trim().to_owned());
        self.is_better(candidate)
    }

    fn drop_tokens(&mut self, step: usize) {
        let mut size = self.tokens(step).len() / 2;
        while size > 0 {
            let mut at = 0;
            loop {
                let mut tokens = self.tokens(step);
                if at + size > tokens.len() {
                    break;
                }
                tokens.drain(at..at + size);
                if !self.is_better_with(step, &tokens) {
                    at += 1;
                }
            }
            size = match size {
                0..=8 => size - 1,
                _ => size / 2,
            };
        }
    }

    /// Leaves out the name and the parentheses of a call, or puts a constant in its place.
    fn unwrap_calls(&mut self, step: usize) {
        let mut at = 0;
        loop {
            let tokens = self.tokens(step);
            let Some(open) = (at..tokens.len()).find(|at| tokens[*at].trim() == "(") else { return };
            at = open + 1;
            let Some(close) = closing(&tokens, open) else { continue };
            let named = open > 0 && tokens[open - 1].trim().starts_with(|c: char| c.is_ascii_alphabetic());
            let start = open - usize::from(named);
            let mut inner = tokens[..start].to_vec();
            inner.extend_from_slice(&tokens[open + 1..close]);
            inner.extend_from_slice(&tokens[close + 1..]);
            if self.is_better_with(step, &inner) {
                at = start;
                continue;
            }
            for constant in [" NULL", " 1", " 'a'"] {
                let mut replaced = tokens[..start].to_vec();
                replaced.push(constant.to_owned());
                replaced.extend_from_slice(&tokens[close + 1..]);
                if close - start > 1 && self.is_better_with(step, &replaced) {
                    break;
                }
            }
        }
    }
}

/// Whether what decided the order of rows still does: the order of a smaller question would be a difference
/// of its own.
fn keeps_order(question: &Question, candidate: &Question) -> bool {
    let orders = |question: &Question| question.to_string().matches("ORDER BY").count();
    candidate.steps.len() < question.steps.len() || orders(candidate) >= orders(question)
}

fn closing(tokens: &[String], open: usize) -> Option<usize> {
    let mut depth = 0u32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.trim() {
            "(" => depth += 1,
            ")" if depth == 1 => return Some(at),
            ")" => depth -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let statement = "SELECT id, IF(c_int > 7, CONCAT('it''s', BAD('x', 1)), NULL) FROM v WHERE id = 3";
        let question = Question::of(vec!["SET @a = 1".into(), statement.into()], "");
        let small = reduce(&question, |question| {
            question.steps.iter().any(|step| step.text().contains("BAD") && step.text().contains("'x'"))
        });
        assert_eq!(small.to_string(), "BAD'x';");
    }
}
