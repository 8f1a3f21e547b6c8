//! A task: the whole life of a session on its worker, as a future that threads take turns to poll.
//!
//! ```text
//!                     ┌─────────── the worker's event loop ◀── woken; its statement has ended
//!   future + Turn ────┤
//!                     └─────────── computing threads ◀──────── its statement computes (Task::is_heavy)
//! ```
//!
//! Which thread polls it may differ each time; that only one does, and that no waking is lost, is the
//! [`Turn`]'s business. The worker's thread polls it as long as each poll is short. When an evaluation has
//! computed for about a millisecond it asks
//! [`may_compute`]; on the worker's thread the answer is no, the task is marked as heavy, the evaluation lets
//! go, and the task is polled by the [computing threads](crate::compute) until the statement has ended
//! ([`settle_down`]).
//!
//! A panic inside of a task, of the kind that the process [survives](crate::fault), ends the task and nothing
//! else; sessions look after their statements' themselves.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use palisade_base::turn::Turn;
use palisade_io::heap;
use parking_lot::Mutex;
use tracing::error;

use crate::compute::Compute;
use crate::event_loop::EventLoop;
use crate::fault::survive;
use crate::meter::Meter;
use crate::post::Post;
use crate::status;

/// What a task runs.
pub type TaskFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// See the [module](self).
pub struct Task {
    turn: Turn,
    /// `None` once it has ended.
    body: Mutex<Option<Body>>,
    /// Of its event loop's tasks.
    number: u64,
    /// The connection that it serves; 0 if it serves none.
    pub(crate) connection: u64,
    event_loop: Arc<EventLoop>,
    compute: Arc<Compute>,
    /// Its statement computes.
    is_heavy: AtomicBool,
    /// Of its statement.
    meter: Meter,
}

struct Body {
    future: TaskFuture,
    /// The task's own, made once. The body goes when the task ends, and with it what would keep both alive.
    waker: Waker,
    /// Bytes that it holds, as far as the [allocator](heap) knows.
    held: i64,
}

impl Task {
    /// A task of `event_loop` that serves the connection of this number; it is polled soon.
    pub fn spawn(
        event_loop: &Arc<EventLoop>,
        compute: &Arc<Compute>,
        connection: u64,
        future: impl FnOnce(&Arc<Task>) -> TaskFuture,
    ) {
        Task::begin(event_loop, compute, (connection, false), future);
    }

    /// A task that serves no connection, and that the computing threads poll from its beginning to its end.
    pub fn spawn_heavy(event_loop: &Arc<EventLoop>, compute: &Arc<Compute>, future: TaskFuture) {
        Task::begin(event_loop, compute, (0, true), |_| future);
    }

    fn begin(
        event_loop: &Arc<EventLoop>,
        compute: &Arc<Compute>,
        (connection, is_heavy): (u64, bool),
        future: impl FnOnce(&Arc<Task>) -> TaskFuture,
    ) {
        let task = event_loop.enter(|number| {
            Arc::new(Task {
                turn: Turn::called(),
                body: Mutex::new(None),
                number,
                connection,
                event_loop: event_loop.clone(),
                compute: compute.clone(),
                is_heavy: AtomicBool::new(is_heavy),
                meter: Meter::default(),
            })
        });
        let future = future(&task);
        *task.body.lock() = Some(Body { future, waker: Waker::from(task.clone()), held: 0 });
        task.put_into_queue(EventLoop::push);
    }

    /// Polls it, on the calling thread; it has been taken out of a queue.
    fn poll(self: &Arc<Self>) {
        if !self.turn.begin() {
            return;
        }
        let mut body = self.body.lock();
        let Some(Body { future, waker, held }) = &mut *body else { return self.turn.finish() };
        let mut context = Context::from_waker(waker);
        let own = heap::exchange(*held);
        self.meter.resume();
        let polled = survive(|| future.as_mut().poll(&mut context));
        self.meter.pause();
        *held = heap::exchange(own);
        if let Ok(Poll::Pending) = polled {
            drop(body);
            if self.turn.end() {
                self.put_into_queue(EventLoop::push_later);
            }
            return;
        }
        let ended = body.take();
        drop(body);
        self.turn.finish();
        self.event_loop.leave(self.number);
        // Its session goes now, if the future did not let it go: by a panic.
        if survive(|| drop(ended)).is_err() || polled.is_err() {
            error!("a task of connection {} has ended by a panic", self.connection);
        }
    }

    fn put_into_queue(self: &Arc<Self>, push: fn(&EventLoop, Arc<Task>)) {
        match self.is_heavy.load(Ordering::Relaxed) {
            true => self.compute.push(self.clone()),
            false => push(&self.event_loop, self.clone()),
        }
    }

    /// It is to be polled: also if it stands in the queue of the computing threads and these are all at work.
    /// Its worker polls it then; it is asked to end, which takes no computing.
    pub fn recall(self: &Arc<Self>) {
        self.wake_by_ref();
        if self.is_heavy.load(Ordering::Relaxed) && self.compute.take_out(self) {
            self.is_heavy.store(false, Ordering::Relaxed);
            self.event_loop.push(self.clone());
        }
    }

    /// Drops its future; false if a thread is polling it.
    pub(crate) fn abandon(&self) -> bool {
        match self.body.try_lock() {
            Some(mut body) => {
                let body = body.take();
                drop(body);
                true
            }
            None => false,
        }
    }

    /// Where its timers and sockets are.
    pub fn event_loop(&self) -> &Arc<EventLoop> {
        &self.event_loop
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.turn.call() {
            self.put_into_queue(EventLoop::push);
        }
    }
}

/// What the calling thread does for the server.
struct Here {
    post: Arc<Post>,
    task: Option<Arc<Task>>,
}

thread_local! {
    static HERE: RefCell<Option<Here>> = const { RefCell::new(None) };
}

/// The calling thread polls tasks at `post`.
pub(crate) fn man(post: &Arc<Post>) {
    HERE.set(Some(Here { post: post.clone(), task: None }));
}

/// Polls a task that was taken out of a queue, at the post that the calling thread [mans](man).
pub(crate) fn poll(post: &Post, task: Arc<Task>) {
    post.begin(task.connection);
    let before = HERE.with_borrow_mut(|here| here.as_mut().and_then(|here| here.task.replace(task)));
    debug_assert!(before.is_none(), "tasks are not polled by tasks");
    HERE.with_borrow(|here| {
        if let Some(task) = here.as_ref().and_then(|here| here.task.as_ref()) {
            task.poll();
        }
    });
    let done = HERE.with_borrow_mut(|here| here.as_mut().and_then(|here| here.task.take()));
    post.end();
    drop(done);
}

/// Whether the calling thread may compute for longer than a millisecond. On a worker's thread it may not, and
/// the task that it polls is a computing thread's from its next poll on.
pub fn may_compute() -> bool {
    HERE.with_borrow(|here| {
        let Some(Here { post, task: Some(task) }) = here else { return true };
        if post.is_for_computing() || task.compute.is_out_of_threads() {
            return true;
        }
        if !task.is_heavy.swap(true, Ordering::Relaxed) {
            status::STATEMENTS_COMPUTED.increment();
        }
        false
    })
}

/// What measures the statement of the calling thread's task; `None` if it polls none.
fn of_meter<T>(ask: impl FnOnce(&Meter) -> T) -> Option<T> {
    HERE.with_borrow(|here| here.as_ref().and_then(|here| here.task.as_ref()).map(|task| ask(&task.meter)))
}

/// The processor time of the calling task's statement is measured from here on.
#[cold]
pub(crate) fn start_meter() {
    of_meter(Meter::start);
}

/// The nanoseconds that the calling task's statement has had a processor, which has ended; 0 if that was not
/// measured.
#[cold]
pub(crate) fn stop_meter() -> u64 {
    of_meter(Meter::stop).unwrap_or(0)
}

/// Where the processor time of a part of the calling task's statement is added, if it is measured.
pub(crate) fn meter_beside() -> Option<Arc<AtomicU64>> {
    of_meter(Meter::beside).flatten()
}

/// The statement of the calling task has ended: from now on its worker polls it again.
#[inline]
pub async fn settle_down() {
    let was_heavy = HERE.with_borrow(|here| {
        let task = here.as_ref().and_then(|here| here.task.as_ref());
        task.is_some_and(|task| {
            task.is_heavy.load(Ordering::Relaxed) && task.is_heavy.swap(false, Ordering::Relaxed)
        })
    });
    if was_heavy {
        yield_now().await;
    }
}

/// Lets the worker's other tasks run, and the reactor look at the sockets, before the calling task goes on.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
