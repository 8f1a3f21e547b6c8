//! The statements of one session: the last ones, and sums by class.
//!
//! They are the session's own: it adds to them when a statement ends, and others look at them behind a lock
//! that the session holds for a few hundred instructions.

use std::sync::Arc;

use crate::class::Class;
use crate::digests::Digest;
use crate::sums::{Done, Sums};

/// An error that a statement ended with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// Its number.
    pub number: u16,
    /// Its SQLSTATE.
    pub sql_state: String,
    /// Its text.
    pub message: String,
}

/// A statement that has ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    /// Number of the event in its session.
    pub id: u64,
    /// Its class.
    pub class: Class,
    /// What it did, and how long that took.
    pub done: Done,
    /// Its text, as far as that is kept.
    pub text: Vec<u8>,
    /// What it has in common with others; none if it was no statement or digests are off.
    pub digest: Option<Arc<Digest>>,
    /// The default database.
    pub schema: Option<Box<str>>,
    /// The error.
    pub failure: Option<Box<Failure>>,
    /// What the client was told of its success.
    pub info: String,
    /// It sent rows, or none of those that it found.
    pub sent_rows: bool,
    /// It is among the last ones, and not only the last one.
    pub is_history: bool,
    /// [`Ended::source`].
    pub source: u64,
}

impl Event {
    /// Text, digest and default database are these from now on.
    fn begin(&mut self, ended: &Ended<'_>, most_text: usize) {
        self.source = ended.source;
        self.text.clear();
        self.text.extend_from_slice(ended.text.get(..most_text).unwrap_or(ended.text));
        // Taking a reference writes to what other sessions of the worker read.
        let is_same = match (&self.digest, ended.digest) {
            (Some(kept), Some(digest)) => Arc::ptr_eq(kept, digest),
            (None, None) => true,
            _ => false,
        };
        if !is_same {
            self.digest = ended.digest.cloned();
        }
        if self.schema.as_deref() != ended.schema {
            self.schema = ended.schema.map(Into::into);
        }
    }
}

/// A statement that ends, as its session tells of it.
pub struct Ended<'a> {
    /// Its class.
    pub class: Class,
    /// What it did.
    pub done: &'a Done,
    /// Its text.
    pub text: &'a [u8],
    /// What it has in common with others.
    pub digest: Option<&'a Arc<Digest>>,
    /// The default database.
    pub schema: Option<&'a str>,
    /// If not 0, a number by which text, digest and default database are known: two statements with the same
    /// one have the same.
    pub source: u64,
    /// The error.
    pub failure: Option<&'a Failure>,
    /// What the client was told of its success.
    pub info: &'a str,
    /// It sent rows, or none of those that it found.
    pub sent_rows: bool,
}

/// How much is kept of a session's statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Whether the last one is kept.
    pub current: bool,
    /// How many are.
    pub history: usize,
    /// How many bytes of each one's text.
    pub text: usize,
}

/// The statements of a session.
#[derive(Debug, Default)]
pub struct SessionEvents {
    last_id: u64,
    /// The last ones; the newest is before `next`.
    kept: Vec<Event>,
    /// Where the next one goes.
    next: usize,
    /// Those up to this one are not of the history any more.
    history_after: u64,
    /// Nor is this one the last.
    current_after: u64,
    /// By class; `None` for those that the session has executed none of.
    sums: Vec<Option<Box<Sums>>>,
}

impl SessionEvents {
    /// A statement has ended.
    #[inline]
    pub fn add(&mut self, ended: &Ended<'_>, keep: &Keep) {
        self.last_id += 1;
        let class = usize::from(ended.class.0);
        match self.sums.get_mut(class) {
            Some(Some(sums)) => sums.add(ended.done),
            _ => self.add_first(class, ended.done),
        }
        if keep.current {
            self.keep(ended, keep);
        }
    }

    #[cold]
    fn add_first(&mut self, class: usize, done: &Done) {
        if self.sums.len() <= class {
            self.sums.resize_with(class + 1, || None);
        }
        if let Some(sums) = self.sums.get_mut(class) {
            sums.get_or_insert_default().add(done);
        }
    }

    #[inline]
    fn keep(&mut self, ended: &Ended<'_>, keep: &Keep) {
        if self.next >= keep.history.max(1) {
            self.next = 0;
            // There may have been more of them before.
            self.kept.truncate(keep.history.max(1));
        }
        if self.next >= self.kept.len() {
            self.kept.push(Event::default());
        }
        let Some(event) = self.kept.get_mut(self.next) else { return };
        event.id = self.last_id;
        event.class = ended.class;
        event.done.assign(ended.done);
        if ended.source == 0 || ended.source != event.source {
            event.begin(ended, keep.text);
        }
        if event.failure.is_some() || ended.failure.is_some() {
            event.failure = ended.failure.cloned().map(Box::new);
        }
        if !event.info.is_empty() || !ended.info.is_empty() {
            event.info.clear();
            event.info.push_str(ended.info);
        }
        event.sent_rows = ended.sent_rows;
        event.is_history = keep.history > 0;
        self.next += 1;
    }

    /// The number of the last event.
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// The last statements, the oldest first.
    pub fn history(&self) -> impl Iterator<Item = &Event> {
        let (before, from) = self.kept.split_at_checked(self.next).unwrap_or((&self.kept, &[]));
        let is_kept = |event: &&Event| event.is_history && event.id > self.history_after;
        from.iter().chain(before).filter(is_kept)
    }

    /// The last statement.
    pub fn last(&self) -> Option<&Event> {
        let last = self.kept.get(self.next.checked_sub(1)?)?;
        (last.id > self.current_after).then_some(last)
    }

    /// TRUNCATE of the history.
    pub fn forget_history(&mut self) {
        self.history_after = self.last_id;
    }

    /// TRUNCATE of the last statement.
    pub fn forget_current(&mut self) {
        self.current_after = self.last_id;
    }

    /// The sums of each class.
    pub fn sums(&self) -> impl Iterator<Item = (Class, &Sums)> {
        let all = self.sums.iter().enumerate();
        all.filter_map(|(class, sums)| Some((Class(class as u16), &**sums.as_ref()?)))
    }

    /// The sums begin at 0 again.
    pub fn take_sums(&mut self) -> Vec<(Class, Sums)> {
        let sums = std::mem::take(&mut self.sums);
        let of = |(class, sums): (usize, Option<Box<Sums>>)| Some((Class(class as u16), *sums?));
        sums.into_iter().enumerate().filter_map(of).collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const KEEP: Keep = Keep { current: true, history: 3, text: 6 };

    fn run(events: &mut SessionEvents, text: &str, class: u16, keep: Keep) {
        run_from(events, text, class, keep, 0);
    }

    fn run_from(events: &mut SessionEvents, text: &str, class: u16, keep: Keep, source: u64) {
        let failure = text.starts_with('!').then(|| Failure { number: 1064, ..Failure::default() });
        let ended = Ended {
            class: Class(class),
            done: &Done::new(10, 10),
            text: text.as_bytes(),
            digest: None,
            schema: Some("s").filter(|_| class > 0),
            source,
            failure: failure.as_ref(),
            info: "",
            sent_rows: false,
        };
        events.add(&ended, &keep);
    }

    fn kept(events: &SessionEvents) -> Vec<String> {
        let shown = |event: &Event| {
            let failed = if event.failure.is_some() { " failed" } else { "" };
            format!("{} {}{failed}", event.id, String::from_utf8_lossy(&event.text))
        };
        events.history().map(shown).collect()
    }

    #[test]
    fn the_last_statements_are_kept_in_order() {
        let mut events = SessionEvents::default();
        assert!(events.last().is_none());
        for text in ["a", "!b", "c"] {
            run(&mut events, text, 1, KEEP);
        }
        assert_eq!(kept(&events), ["1 a", "2 !b failed", "3 c"]);
        run(&mut events, "longer than six", 1, KEEP);
        run(&mut events, "e", 0, KEEP);
        assert_eq!(kept(&events), ["3 c", "4 longer", "5 e"]);
        assert_eq!(events.last().map(|event| event.id), Some(5));
        events.forget_history();
        assert!(kept(&events).is_empty());
        assert_eq!(events.last().map(|event| event.id), Some(5));
        events.forget_current();
        assert!(events.last().is_none());
        run(&mut events, "f", 1, KEEP);
        assert_eq!(kept(&events), ["6 f"]);
        run(&mut events, "g", 1, Keep { history: 0, ..KEEP });
        assert_eq!((kept(&events).len(), events.last().map(|event| event.id)), (0, Some(7)));
        run(&mut events, "h", 1, Keep { current: false, ..KEEP });
        assert_eq!((events.last_id(), events.last().map(|event| event.id)), (8, Some(7)));
        for text in ["i", "j", "k", "l"] {
            run(&mut events, text, 1, KEEP);
        }
        assert_eq!(kept(&events), ["10 j", "11 k", "12 l"]);
    }

    #[test]
    fn statements_of_one_source_are_copied_once() {
        let mut events = SessionEvents::default();
        let two = Keep { history: 2, ..KEEP };
        for (text, source) in [("a", 1), ("b", 2), ("not looked at", 1), ("c", 0), ("d", 0), ("b", 2)] {
            run_from(&mut events, text, 1, two, source);
            let is_known = text.len() > 1;
            let last = events.last().map(|event| event.text.clone());
            assert_eq!(last.as_deref(), Some(if is_known { &b"a"[..] } else { text.as_bytes() }));
        }
        assert_eq!(kept(&events), ["5 d", "6 b"]);
    }

    #[test]
    fn sums_are_by_class() {
        let mut events = SessionEvents::default();
        for class in [3, 1, 3] {
            run(&mut events, "x", class, KEEP);
        }
        let counts = |events: &SessionEvents| -> Vec<(u16, u64)> {
            events.sums().map(|(class, sums)| (class.0, sums.count)).collect()
        };
        assert_eq!(counts(&events), [(1, 1), (3, 2)]);
        let taken = events.take_sums();
        assert_eq!(
            taken.iter().map(|(class, sums)| (class.0, sums.wait_ns)).collect::<Vec<_>>(),
            [(1, 10), (3, 20)]
        );
        assert!(counts(&events).is_empty());
        run(&mut events, "x", 1, KEEP);
        assert_eq!(counts(&events), [(1, 1)]);
    }
}
