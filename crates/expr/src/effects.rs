//! What an evaluation does must not be done again when it is repeated.
//!
//! An expression that has to wait is later evaluated again from its beginning. What depends on its operands
//! alone may be computed twice; to lock a name twice, to sleep twice, to count a variable up twice is wrong,
//! and so is to read a variable again that the same row has changed since. So the value of what has an
//! effect, or can be changed by one (a user variable, a function that is not [pure](crate::func::Purity)), is
//! noted when it is there, and a repetition takes it from the notes, in the order in which they were made.
//!
//! Notes are good for a *step*: what is evaluated again as a whole, an operator's condition or all values of
//! its row ([`Context::step`]). They are kept as long as their step has to wait, and thrown away when it is
//! over. Steps nest, since an operator of a subquery has its own within that of the expression; when all of
//! them are called again they come in the same order, the outermost first, and find their notes by their
//! depth.
//!
//! ```text
//! GET_LOCK('a', 9) + (SELECT GET_LOCK('b', 9) + GET_LOCK('c', 9))
//! depth 1: 'a' → 1          depth 2: 'b' → 1, 'c' waits
//! ```
//!
//! A function that evaluates an operand many times (`each_turn`) makes each turn a step, and its own
//! step keeps how many turns are done: a repetition goes on with the turn that gave way.
//!
//! Statements in which nothing has an effect keep no notes.

use palisade_base::Blocked;
use palisade_catalog::Value;

use super::{Context, Expr};
use crate::SqlAttempt;
use crate::warning::{Condition, StepMark};

/// What a turn counts as besides the work of its operand: to evaluate the cheapest takes about as long.
const UNITS_A_TURN: usize = 64;

/// The notes of the steps that are being evaluated, and of those that wait.
#[derive(Debug, Default)]
pub struct Effects {
    steps: Vec<Step>,
    /// How many of them are being evaluated.
    depth: usize,
}

#[derive(Debug, Default)]
struct Step {
    notes: Vec<Note>,
    /// How many of them have been taken by this evaluation.
    taken: usize,
    /// The turns of a loop that has to go on. There is one such loop at most: one before it has its note, and
    /// one within its operand is of a step within this one.
    turns: Option<Turns>,
}

/// How far a loop has come.
#[derive(Debug, Clone, Copy)]
struct Turns {
    /// The address of the expression whose loop it is.
    place: usize,
    done: u64,
}

/// What an expression has done.
#[derive(Debug)]
struct Note {
    /// Its address.
    place: usize,
    value: Value,
    /// The warnings of its evaluation: a step that is given up takes its warnings back.
    warnings: Vec<Condition>,
}

impl Effects {
    fn enter(&mut self) {
        self.depth += 1;
        match self.steps.get_mut(self.depth - 1) {
            Some(step) => step.taken = 0,
            None => self.steps.push(Step::default()),
        }
    }

    fn leave(&mut self, waits: bool) {
        self.depth -= 1;
        if !waits {
            self.steps.truncate(self.depth);
        }
    }

    /// The step that is being evaluated.
    fn current(&mut self) -> Option<&mut Step> {
        self.steps.get_mut(self.depth.checked_sub(1)?)
    }
}

impl Step {
    /// The next note, if it is of that expression.
    fn take(&mut self, place: usize) -> Option<&Note> {
        let note = self.notes.get(self.taken).filter(|note| note.place == place)?;
        self.taken += 1;
        Some(note)
    }

    /// Notes a value in place of all that was noted from `first` on: what its own operands have done is part
    /// of it.
    fn note(&mut self, first: usize, note: Note) {
        self.notes.truncate(first);
        self.notes.push(note);
        self.taken = first + 1;
    }
}

impl Context<'_> {
    /// Evaluates what is evaluated again as a whole if it has to wait.
    #[inline]
    pub fn step<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> SqlAttempt<T>) -> SqlAttempt<T> {
        let step = self.begin_step();
        let result = evaluate(self);
        self.end_step(step, result)
    }

    /// A step begins, which ends with [`end_step`](Self::end_step).
    #[inline]
    pub fn begin_step(&mut self) -> StepMark {
        if self.state.has_effects {
            self.state.effects.enter();
        }
        self.session.warnings.begin_step()
    }

    /// The step that began with `mark` has come to this result; which is what it is to its caller.
    #[inline]
    pub fn end_step<T>(&mut self, mark: StepMark, result: SqlAttempt<T>) -> SqlAttempt<T> {
        let result = self.settle_step(result);
        let is_given_up = matches!(result, Err(Blocked::Wait(_)));
        self.session.warnings.end_step(mark, is_given_up);
        if self.state.has_effects {
            self.state.effects.leave(is_given_up);
        }
        result
    }

    /// Does what a function does `count` times, each time a step of its own. Where one of them has to wait,
    /// or gives way to other sessions, the repetition goes on with it: what the turns before it did is not
    /// done again. The function has to be an [effect](crate::func::Purity::Effect), or nothing is kept.
    pub(crate) fn each_turn(
        &mut self,
        call: &Expr,
        count: u64,
        mut turn: impl FnMut(&mut Self) -> SqlAttempt<()>,
    ) -> SqlAttempt<()> {
        let place = std::ptr::from_ref(call) as usize;
        let kept = self.state.effects.current().and_then(|step| step.turns.take());
        let mut done = kept.filter(|turns| turns.place == place).map_or(0, |turns| turns.done);
        while done < count {
            let result = self.step(&mut turn).and_then(|()| {
                done += 1;
                let goes_on = self.checkpoint(UNITS_A_TURN);
                self.attempt(goes_on)
            });
            if let Err(blocked) = result {
                if let Some(step) = self.state.effects.current() {
                    step.turns = Some(Turns { place, done });
                }
                return Err(blocked);
            }
        }
        Ok(())
    }

    /// The value of an expression that has an effect, evaluated once in a step.
    pub(super) fn once(
        &mut self,
        expr: &Expr,
        evaluate: impl FnOnce(&mut Self) -> SqlAttempt<Value>,
    ) -> SqlAttempt<Value> {
        let place = std::ptr::from_ref(expr) as usize;
        let Some(step) = self.state.effects.current() else { return evaluate(self) };
        if let Some(note) = step.take(place) {
            self.session.warnings.push_again(&note.warnings);
            return Ok(note.value.clone());
        }
        let first = step.taken;
        let kept = self.session.warnings.list().len();
        let value = evaluate(self)?;
        let warnings = self.session.warnings.of_step_since(kept);
        if let Some(step) = self.state.effects.current() {
            step.note(first, Note { place, value: value.clone(), warnings });
        }
        Ok(value)
    }
}
