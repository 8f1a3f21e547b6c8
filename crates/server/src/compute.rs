//! Computing threads: where a statement goes on whose single steps take longer than a worker may be away.
//!
//! They take tasks from one queue, first come, first served; a task that lets go (it has computed a step, or
//! waits) comes back to its end. A step may be long - the hash of 60 MB is one - and cannot be taken up in
//! the middle, so a thread that has begun one is left to it. Two threads for each worker are enough to keep
//! the processors busy. When all of them are held by long steps and the queue stands still, the
//! watchdog adds another one, so that a short computation does not wait for the long ones;
//! the operating system shares the processors among them, and serves the workers first.
//!
//! A thread that has had nothing to do for a while ends. A server in which nothing computes has none.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use tracing::warn;

use crate::post::{Crew, Post};
use crate::task::{self, Task};
use crate::worker::Surroundings;

/// How long a thread waits for something to do before it ends.
const PATIENCE: Duration = Duration::from_secs(10);
/// Most threads, however long their steps are.
const MOST_THREADS: usize = 256;

/// See the [module](self).
pub struct Compute {
    state: Mutex<State>,
    called: Condvar,
    /// Threads that are started as tasks come.
    usual: usize,
    crew: Arc<Crew>,
    surroundings: Arc<dyn Surroundings>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Arc<Task>>,
    /// Tasks taken from the queue so far.
    taken: u64,
    posts: Vec<Arc<Post>>,
    idle: usize,
    /// The operating system has refused a thread when there was none.
    is_out_of_threads: bool,
    is_closed: bool,
}

impl Compute {
    pub(crate) fn new(usual: usize, crew: &Arc<Crew>, surroundings: Arc<dyn Surroundings>) -> Arc<Compute> {
        Arc::new(Compute {
            state: Mutex::default(),
            called: Condvar::new(),
            usual,
            crew: crew.clone(),
            surroundings,
        })
    }

    /// A task is to be polled.
    pub(crate) fn push(self: &Arc<Self>, task: Arc<Task>) {
        let mut state = self.state.lock();
        if state.is_closed {
            return;
        }
        state.queue.push_back(task);
        if state.idle > 0 {
            self.called.notify_one();
        } else if state.posts.len() < self.usual {
            self.add_thread(&mut state);
        }
    }

    /// Takes a task out of the queue, if it stands there.
    pub(crate) fn take_out(&self, task: &Arc<Task>) -> bool {
        let mut state = self.state.lock();
        let place = state.queue.iter().position(|queued| Arc::ptr_eq(queued, task));
        place.is_some_and(|place| state.queue.remove(place).is_some())
    }

    /// Whether there is no thread that could compute. Then the workers' must.
    pub(crate) fn is_out_of_threads(&self) -> bool {
        self.state.lock().is_out_of_threads
    }

    /// How many tasks were taken from the queue so far, if there is one that waits in it.
    pub(crate) fn standing_queue(&self) -> Option<u64> {
        let state = self.state.lock();
        (!state.queue.is_empty()).then_some(state.taken)
    }

    /// The queue has not moved for a while: all threads are held by long steps.
    pub(crate) fn relieve(self: &Arc<Self>) {
        let mut state = self.state.lock();
        if state.posts.len() < MOST_THREADS && !state.is_closed {
            self.add_thread(&mut state);
        }
    }

    /// The posts of its threads.
    pub(crate) fn posts(&self) -> Vec<Arc<Post>> {
        self.state.lock().posts.clone()
    }

    fn add_thread(self: &Arc<Self>, state: &mut State) {
        let (compute, post) = (self.clone(), Post::new(true));
        let own = post.clone();
        let name = format!("compute-{}", state.posts.len());
        match self.crew.start(name, move || compute.run(&own)) {
            Ok(()) => {
                state.posts.push(post);
                state.is_out_of_threads = false;
            }
            Err(error) => self.do_without(state, &error),
        }
    }

    fn do_without(&self, state: &mut State, error: &io::Error) {
        warn!("cannot start a computing thread: {error}");
        if state.posts.is_empty() {
            state.is_out_of_threads = true;
            for task in std::mem::take(&mut state.queue) {
                task.event_loop().push(task.clone());
            }
        }
    }

    fn run(&self, post: &Arc<Post>) {
        post.man();
        let _stay = self.surroundings.enter(None);
        let _runtime = self.surroundings.enter_runtime();
        task::man(post);
        while let Some(task) = self.next(post) {
            task::poll(post, task);
        }
    }

    /// The next task; `None` if the thread is to end, and then it is none of the posts any more.
    fn next(&self, post: &Arc<Post>) -> Option<Arc<Task>> {
        let mut state = self.state.lock();
        loop {
            if !state.is_closed
                && let Some(task) = state.queue.pop_front()
            {
                state.taken += 1;
                return Some(task);
            }
            let is_over = state.is_closed || {
                state.idle += 1;
                let waited = self.called.wait_for(&mut state, PATIENCE);
                state.idle -= 1;
                waited.timed_out() && state.queue.is_empty()
            };
            if is_over {
                state.posts.retain(|other| !Arc::ptr_eq(other, post));
                return None;
            }
        }
    }

    /// Ends all threads that do not compute, and the others when they come back.
    pub(crate) fn close(&self) {
        let queue = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.queue)
        };
        self.called.notify_all();
        drop(queue);
    }
}
