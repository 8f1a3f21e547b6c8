//! A worker's event loop: the tasks that are ready to go on, and the reactor that makes them so.
//!
//! It is turned by one thread, mostly the same one; see [`worker`](crate::worker). Each round polls the tasks
//! that were ready when it began, one after the other, and then lets the reactor look at the sockets. A task
//! that was called while it was polled - it lets others run, or a packet came - goes on after that look,
//! behind those that the reactor has woken.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::reactor::{Events, Reactor};
use crate::task::Task;

/// Most tasks polled between two looks at the sockets.
pub const MOST_IN_A_ROUND: usize = 61;

/// See the [module](self).
pub struct EventLoop {
    ready: Mutex<Ready>,
    reactor: Reactor,
    /// Every task that has not ended.
    tasks: Mutex<BTreeMap<u64, Arc<Task>>>,
    last_task: AtomicU64,
}

#[derive(Default)]
struct Ready {
    now: VecDeque<Arc<Task>>,
    /// After the next look at the sockets.
    next: VecDeque<Arc<Task>>,
    /// The thread that turns the loop sleeps, or is about to, until the reactor has something or its bell
    /// rings.
    is_asleep: bool,
    /// It has ended: what comes now is not polled any more.
    is_closed: bool,
}

impl EventLoop {
    /// One without tasks.
    pub fn new() -> io::Result<EventLoop> {
        Ok(EventLoop {
            ready: Mutex::default(),
            reactor: Reactor::new()?,
            tasks: Mutex::default(),
            last_task: AtomicU64::new(0),
        })
    }

    /// What tells it of sockets and times.
    pub fn reactor(&self) -> &Reactor {
        &self.reactor
    }

    /// Keeps a task until it ends; its number.
    pub(crate) fn enter(&self, task: impl FnOnce(u64) -> Arc<Task>) -> Arc<Task> {
        let number = self.last_task.fetch_add(1, Ordering::Relaxed) + 1;
        let task = task(number);
        self.tasks.lock().insert(number, task.clone());
        task
    }

    /// The task of that number has ended.
    pub(crate) fn leave(&self, number: u64) {
        self.tasks.lock().remove(&number);
    }

    /// A task is to be polled.
    pub(crate) fn push(&self, task: Arc<Task>) {
        let must_ring = {
            let mut ready = self.ready.lock();
            if ready.is_closed {
                return;
            }
            ready.now.push_back(task);
            std::mem::take(&mut ready.is_asleep)
        };
        if must_ring {
            self.reactor.ring();
        }
    }

    /// A task is to be polled after the next look at the sockets.
    pub(crate) fn push_later(&self, task: Arc<Task>) {
        let must_ring = {
            let mut ready = self.ready.lock();
            if ready.is_closed {
                return;
            }
            ready.next.push_back(task);
            std::mem::take(&mut ready.is_asleep)
        };
        if must_ring {
            self.reactor.ring();
        }
    }

    /// How many tasks the next round has.
    pub(crate) fn round(&self) -> usize {
        self.ready.lock().now.len().min(MOST_IN_A_ROUND)
    }

    /// The next task to be polled.
    pub(crate) fn next(&self) -> Option<Arc<Task>> {
        self.ready.lock().now.pop_front()
    }

    /// Lets the reactor look at the sockets; waits for something to do if there is nothing. False: the loop
    /// has ended.
    pub(crate) fn turn(&self, events: &mut Events) -> bool {
        let may_sleep = {
            let mut ready = self.ready.lock();
            if ready.is_closed {
                return false;
            }
            ready.is_asleep = ready.now.is_empty() && ready.next.is_empty();
            ready.is_asleep
        };
        self.reactor.turn(events, may_sleep, || {
            if may_sleep {
                self.ready.lock().is_asleep = false;
            }
        });
        let ready = &mut *self.ready.lock();
        ready.now.append(&mut ready.next);
        true
    }

    /// The thread that turns the loop, if it sleeps, comes back and looks how long it may.
    pub fn look_again(&self) {
        if std::mem::take(&mut self.ready.lock().is_asleep) {
            self.reactor.ring();
        }
    }

    /// Ends the loop.
    pub(crate) fn close(&self) {
        self.ready.lock().is_closed = true;
        self.reactor.ring();
    }

    /// Drops the tasks of a loop that has ended, but for those that a thread is polling; how many these are.
    pub(crate) fn drop_tasks(&self) -> usize {
        let ready = std::mem::take(&mut *self.ready.lock());
        self.ready.lock().is_closed = true;
        drop(ready);
        let tasks = std::mem::take(&mut *self.tasks.lock());
        tasks.into_values().filter(|task| !task.abandon()).count()
    }
}
