//! Tasks that work for one that may leave at any time: the parts of a statement, each in a *seat* that its
//! task shares with the statement.
//!
//! ```text
//!   seat     part, or nothing      a task locks it for a step, the statement to take the part out
//!   pieces   0 1 2 3 4 ...         each is taken by one task
//!   outcome  how many have not left, what they have handed in, the error of the first piece that has failed
//! ```
//!
//! # Why nothing outlives the statement
//!
//! A part holds what is lent to it: a transaction that reads with the statement's snapshot. It is in its seat
//! whenever the seat is not locked, and what is lent is given up before the lock is. The statement
//! [closes](Seats::close) all seats before it ends. It waits for a task that is within its step, and finds
//! the seat empty or empties it; a task that finds its seat empty is over. So there is no part after that.
//!
//! # Why the statement is woken
//!
//! It [looks](Seats::look) and is given an event under the lock of the outcome. A task changes the outcome,
//! and then takes the event out under the same lock and completes it: either the look came before, and its
//! event is the one that is completed, or it saw the change.
//!
//! # Why errors do not depend on chance
//!
//! A task goes on with a piece unless a piece before it, or itself, has failed. So all pieces before the
//! first one that fails are read to their ends, and of several errors that of the first piece stays.

#[cfg(loom)]
use loom::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
#[cfg(loom)]
use loom::sync::{Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
#[cfg(not(loom))]
use std::sync::{Mutex, MutexGuard};

use crate::event::Event;

/// What a statement and its tasks share: parts `P` that hand in `R`, or fail with `E`.
#[derive(Debug)]
pub struct Seats<P, R, E> {
    pieces: usize,
    /// The next piece to be taken.
    next: AtomicUsize,
    /// The first piece that has failed.
    failed: AtomicUsize,
    seats: Vec<Seat<P>>,
    outcome: Mutex<Outcome<R, E>>,
}

#[derive(Debug)]
struct Seat<P> {
    part: Mutex<Option<Box<P>>>,
    /// Bytes that it holds.
    held: AtomicI64,
}

/// What has come of the parts so far.
#[derive(Debug)]
struct Outcome<R, E> {
    /// Parts that have not left.
    left: usize,
    /// Happens when a piece is done, or a part has left.
    progress: Event,
    handed_in: Vec<R>,
    failure: Option<(usize, E)>,
    is_too_large: bool,
}

/// What came of a step of a part.
#[derive(Debug)]
pub enum Step<E> {
    /// A piece is done.
    PieceDone,
    /// The part waits; the statement is to have a look meanwhile if `is_sign`.
    Wait {
        /// For this.
        event: Event,
        /// Whether the statement is woken.
        is_sign: bool,
    },
    /// There is nothing left to do: the part hands in what it has.
    Done,
    /// A piece has failed.
    Failed(usize, E),
    /// There is no memory for what the part gathers: nothing is of use any more.
    TooLarge,
}

/// What a part's task does next.
#[derive(Debug)]
pub enum Turn {
    /// Another step.
    Again,
    /// Another step after an event.
    Wait(Event),
    /// Nothing.
    Over,
}

/// What the statement finds when it looks at its parts.
#[derive(Debug)]
pub enum Look<R> {
    /// They are at work.
    Wait(Event),
    /// There was no memory for what they gather. What some have handed in is of no use.
    TooLarge(Vec<R>),
    /// All have left, and handed this in.
    Done(Vec<R>),
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<P, R, E> Seats<P, R, E> {
    /// A seat for each part, and so many pieces for all of them.
    pub fn new(parts: impl IntoIterator<Item = P>, pieces: usize) -> Self {
        let seat = |part| Seat { part: Mutex::new(Some(Box::new(part))), held: AtomicI64::new(0) };
        let seats: Vec<Seat<P>> = parts.into_iter().map(seat).collect();
        let outcome = Outcome {
            left: seats.len(),
            progress: Event::new(),
            handed_in: Vec::new(),
            failure: None,
            is_too_large: false,
        };
        Seats {
            pieces,
            next: AtomicUsize::new(0),
            failed: AtomicUsize::new(usize::MAX),
            seats,
            outcome: Mutex::new(outcome),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.seats.len()
    }

    /// Takes the next piece, if there is one left. For a part, within a step.
    pub fn take_piece(&self) -> Option<usize> {
        let piece = self.next.fetch_add(1, Ordering::Relaxed);
        (piece < self.pieces).then_some(piece)
    }

    /// Whether a piece is of no use any more, because one before it has failed.
    pub fn is_in_vain(&self, piece: usize) -> bool {
        piece >= self.failed.load(Ordering::Relaxed)
    }

    /// Bytes that the other parts hold.
    fn held_beside(&self, number: usize) -> i64 {
        let others = self.seats.iter().enumerate().filter(|(other, _)| *other != number);
        others.map(|(_, seat)| seat.held.load(Ordering::Relaxed)).sum()
    }

    /// A step of the task of the part with a number. `go_on` is told what the other parts hold, and tells
    /// what this one does. `leave` gives up what is lent to the part, and gives what it hands in.
    pub fn step(
        &self,
        number: usize,
        go_on: impl FnOnce(&mut P, i64) -> (Step<E>, i64),
        leave: impl FnOnce(P) -> R,
    ) -> Turn {
        let Some(seat) = self.seats.get(number) else { return Turn::Over };
        let mut place = locked(&seat.part);
        let Some(part) = place.as_deref_mut() else { return Turn::Over };
        let (step, held) = go_on(part, self.held_beside(number));
        seat.held.store(held, Ordering::Relaxed);
        let is_of_use = match step {
            Step::PieceDone => {
                self.note_progress();
                return Turn::Again;
            }
            Step::Wait { event, is_sign } => {
                if is_sign {
                    self.note_progress();
                }
                return Turn::Wait(event);
            }
            Step::Done => true,
            Step::Failed(piece, error) => {
                self.fail(piece, error);
                false
            }
            Step::TooLarge => {
                self.failed.store(0, Ordering::Relaxed);
                locked(&self.outcome).is_too_large = true;
                false
            }
        };
        let left = place.take().map(|part| leave(*part));
        drop(place);
        self.end(left.filter(|_| is_of_use));
        Turn::Over
    }

    /// The task of a part is gone. If its part has not left, the statement fails.
    pub fn abandon(&self, number: usize, error: impl FnOnce() -> E) {
        let Some(seat) = self.seats.get(number) else { return };
        // It is gone before the seat is free: the statement may end as soon as it finds the seat empty.
        let mut place = locked(&seat.part);
        let was_left = place.take().is_some();
        drop(place);
        if was_left {
            self.fail(0, error());
            self.end(None);
        }
    }

    /// Takes all parts out: the statement is about to end.
    pub fn close(&self) {
        for seat in &self.seats {
            let part = locked(&seat.part).take();
            drop(part);
        }
    }

    /// How far they are; fails once all have left if one of them has failed.
    pub fn look(&self) -> Result<Look<R>, E> {
        let mut outcome = locked(&self.outcome);
        if outcome.left > 0 {
            return Ok(Look::Wait(outcome.progress.clone()));
        }
        if let Some((_, error)) = outcome.failure.take() {
            return Err(error);
        }
        let handed_in = std::mem::take(&mut outcome.handed_in);
        Ok(if outcome.is_too_large { Look::TooLarge(handed_in) } else { Look::Done(handed_in) })
    }

    /// A part has left.
    fn end(&self, handed_in: Option<R>) {
        let mut outcome = locked(&self.outcome);
        outcome.handed_in.extend(handed_in);
        outcome.left = outcome.left.saturating_sub(1);
        drop(outcome);
        self.note_progress();
    }

    fn note_progress(&self) {
        let progress = std::mem::take(&mut locked(&self.outcome).progress);
        progress.complete();
    }

    /// A piece has failed: those behind it are of no use any more.
    fn fail(&self, piece: usize, error: E) {
        self.failed.fetch_min(piece, Ordering::Relaxed);
        let failure = &mut locked(&self.outcome).failure;
        if failure.as_ref().is_none_or(|(first, _)| piece < *first) {
            *failure = Some((piece, error));
        }
    }
}

#[cfg(all(test, loom))]
mod loom_tests {
    use loom::sync::Arc;
    use loom::thread::{self, JoinHandle};

    use super::*;

    /// A part that is lent something: how often that is lent is counted.
    struct Part {
        lent: Lent,
        pieces: Vec<usize>,
    }

    struct Lent(Arc<AtomicUsize>);

    impl Lent {
        fn new(count: &Arc<AtomicUsize>) -> Lent {
            count.fetch_add(1, Ordering::Relaxed);
            Lent(count.clone())
        }
    }

    impl Drop for Lent {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    type Parts = Seats<Part, Vec<usize>, usize>;

    /// The statement's side of so many parts and pieces, and what is lent.
    fn parts(count: usize, pieces: usize) -> (Arc<Parts>, Arc<AtomicUsize>) {
        let lent = Arc::new(AtomicUsize::new(0));
        let part = |_| Part { lent: Lent::new(&lent), pieces: Vec::new() };
        let seats = Seats::new((0..count).map(part).collect::<Vec<_>>(), pieces);
        (Arc::new(seats), lent)
    }

    /// A step of a part: one piece, which may fail or be too large.
    fn piece(seats: &Parts, part: &mut Part, fails: &dyn Fn(usize) -> Option<Step<usize>>) -> Step<usize> {
        let Some(piece) = seats.take_piece().filter(|piece| !seats.is_in_vain(*piece)) else {
            return Step::Done;
        };
        part.pieces.push(piece);
        fails(piece).unwrap_or(Step::PieceDone)
    }

    fn leave(part: Part) -> Vec<usize> {
        let Part { lent, pieces } = part;
        drop(lent);
        pieces
    }

    /// The task of a part, until it is over or has made so many steps.
    fn task(
        seats: &Arc<Parts>,
        number: usize,
        steps: usize,
        fails: impl Fn(usize) -> Option<Step<usize>> + Send + 'static,
    ) -> JoinHandle<()> {
        let seats = seats.clone();
        thread::spawn(move || {
            for _ in 0..steps {
                let turn = seats.step(number, |part, _| (piece(&seats, part, &fails), 1), leave);
                if matches!(turn, Turn::Over) {
                    break;
                }
            }
            seats.abandon(number, || 99);
        })
    }

    /// What comes of the parts in the end. An event that never happens is found as a loop without an end.
    fn waited(seats: &Parts) -> Result<Option<Vec<usize>>, usize> {
        loop {
            match seats.look()? {
                Look::Wait(event) => {
                    while !event.is_complete() {
                        thread::yield_now();
                    }
                }
                Look::TooLarge(_) => return Ok(None),
                Look::Done(handed_in) => {
                    let mut pieces: Vec<usize> = handed_in.into_iter().flatten().collect();
                    pieces.sort_unstable();
                    return Ok(Some(pieces));
                }
            }
        }
    }

    #[test]
    fn loom_each_piece_is_done_once_and_the_statement_is_woken() {
        loom::model(|| {
            let (seats, lent) = parts(2, 2);
            let tasks = [task(&seats, 0, 9, |_| None), task(&seats, 1, 9, |_| None)];
            assert_eq!(waited(&seats), Ok(Some(vec![0, 1])));
            assert_eq!(lent.load(Ordering::Relaxed), 0);
            seats.close();
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    }

    #[test]
    fn loom_nothing_is_lent_once_a_statement_has_closed_its_seats() {
        loom::model(|| {
            let (seats, lent) = parts(2, 2);
            let tasks = [task(&seats, 0, 9, |_| None), task(&seats, 1, 1, |_| None)];
            seats.close();
            assert_eq!(lent.load(Ordering::Relaxed), 0);
            tasks.into_iter().for_each(|task| task.join().unwrap());
            assert_eq!(lent.load(Ordering::Relaxed), 0);
        });
    }

    #[test]
    fn loom_of_two_errors_that_of_the_first_piece_stays() {
        loom::model(|| {
            let (seats, lent) = parts(2, 3);
            let fails = |piece| (piece > 0).then_some(Step::Failed(piece, piece));
            let tasks = [task(&seats, 0, 9, fails), task(&seats, 1, 9, fails)];
            assert_eq!(waited(&seats), Err(1));
            assert_eq!(lent.load(Ordering::Relaxed), 0);
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    }

    #[test]
    fn loom_a_task_that_is_gone_fails_the_statement() {
        loom::model(|| {
            let (seats, lent) = parts(2, 2);
            let tasks = [task(&seats, 0, 9, |_| None), task(&seats, 1, 0, |_| None)];
            assert_eq!(waited(&seats), Err(99));
            assert_eq!(lent.load(Ordering::Relaxed), 0);
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    }

    #[test]
    fn loom_parts_without_memory_are_of_no_use() {
        loom::model(|| {
            let (seats, lent) = parts(2, 2);
            let tasks = [task(&seats, 0, 9, |_| Some(Step::TooLarge)), task(&seats, 1, 9, |_| None)];
            let outcome = waited(&seats);
            // The other part may have had both pieces.
            assert!(outcome == Ok(None) || outcome == Ok(Some(vec![0, 1])), "{outcome:?}");
            assert_eq!(lent.load(Ordering::Relaxed), 0);
            tasks.into_iter().for_each(|task| task.join().unwrap());
        });
    }
}
