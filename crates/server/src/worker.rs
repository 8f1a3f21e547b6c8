//! Workers: as many event loops as there are cores, each turned by a thread. A connection is given to the
//! least loaded one, and a session may [move](Share::better_worker) to another between two commands. What the
//! sessions of a worker share among themselves - the
//! [`PlanCache`] of their statements - other threads touch only while one of the sessions computes.
//!
//! A worker is not its thread. The thread polls the worker's tasks one after the other; if one of them does
//! not come back, the
//! watchdog has a new thread turn the same event loop, and the old one is left to that
//! task:
//!
//! ```text
//!   worker-0   ──poll──poll──turn──poll══════════════ a step that computes for seconds ══════════▶ hands the task back, ends
//!   watchdog                              │ 20 ms: relieve
//!   worker-0'                             └─turn──poll──poll──turn──poll──poll──▶ the worker's thread from now on
//! ```
//!
//! While both exist, the old thread touches nothing of the worker but the queues, into which any thread may
//! put tasks.

use std::any::Any;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use palisade_sql::PlanCache;
use parking_lot::Mutex;
use tokio::runtime::EnterGuard;

use crate::compute::Compute;
use crate::connections::Connection;
use crate::event_loop::EventLoop;
use crate::locality::{self, Bearings, Processors};
use crate::login_pace::LoginPace;
use crate::meter::measured;
use crate::post::{Crew, Post};
use crate::pressure::Pressure;
use crate::reactor::Events;
use crate::status;
use crate::stream::Stream;
use crate::task::{self, Task, TaskFuture};
use crate::watchdog::Watchdog;

/// Computing threads for each worker.
const COMPUTING_THREADS: usize = 2;

/// What surrounds the threads that serve sessions.
pub trait Surroundings: Send + Sync {
    /// The calling thread serves the worker of that number, or computes for all. What is returned is dropped
    /// when it ends.
    fn enter(&self, worker: Option<usize>) -> Box<dyn Any>;

    /// The runtime to which the calling thread turns for what is done aside.
    fn enter_runtime(&self) -> EnterGuard<'_>;

    /// What a worker runs besides its sessions.
    fn background(&self, worker: usize) -> TaskFuture;
}

/// All workers.
pub struct Workers {
    team: Arc<Team>,
}

/// The workers, as sessions and the watchdog know them.
pub(crate) struct Team {
    workers: Vec<Arc<Worker>>,
    /// The one that serves administrators only, if there is one.
    administrators: Option<Arc<Worker>>,
    processors: Arc<dyn Processors>,
    surroundings: Arc<dyn Surroundings>,
    pub(crate) compute: Arc<Compute>,
    pub(crate) watchdog: Arc<Watchdog>,
    crew: Arc<Crew>,
    /// Posts whose threads have not come back yet.
    relieved: Mutex<Vec<Arc<Post>>>,
}

/// A worker.
pub(crate) struct Worker {
    number: usize,
    event_loop: Arc<EventLoop>,
    /// Of the thread that turns the loop.
    post: Mutex<Arc<Post>>,
    load: Arc<Load>,
    plans: Arc<PlanCache>,
    login_pace: Arc<LoginPace>,
}

/// What a worker has to do, and where.
#[derive(Default)]
struct Load {
    sessions: AtomicUsize,
    /// The processor that it was last seen on.
    processor: AtomicUsize,
}

/// What a session has of its worker: a part of the load, until it is dropped, and the plans.
pub struct Share {
    part: Part,
    worker: Arc<Worker>,
    team: Arc<Team>,
    /// `None` for one that stays where it is.
    bearings: Option<Bearings>,
}

/// One session of a worker's load.
struct Part(Arc<Load>);

impl Share {
    /// A session comes to `worker`.
    fn new(team: &Arc<Team>, worker: &Arc<Worker>, bearings: Option<Bearings>) -> Self {
        Share { part: Part::new(&worker.load), worker: worker.clone(), team: team.clone(), bearings }
    }

    /// The plans that the worker's sessions share.
    pub fn plans(&self) -> &Arc<PlanCache> {
        &self.worker.plans
    }

    /// The pace of the worker's logins.
    pub fn login_pace(&self) -> &Arc<LoginPace> {
        &self.worker.login_pace
    }

    /// The beat of the thread that turns the worker's loop: two more with each poll.
    pub fn beat(&self) -> u64 {
        self.worker.post().beat()
    }

    /// What tells the worker's sessions of sockets and times.
    pub fn event_loop(&self) -> &Arc<EventLoop> {
        &self.worker.event_loop
    }

    /// The session has answered a command that came over `stream`: the worker that it had better go on with.
    pub fn better_worker(&mut self, stream: &Stream) -> Option<usize> {
        if !self.bearings.as_mut()?.is_time() {
            return None;
        }
        self.look(stream)
    }

    #[cold]
    fn look(&mut self, stream: &Stream) -> Option<usize> {
        let Team { workers, processors, .. } = &*self.team;
        if workers.len() == 1 {
            return None;
        }
        let own = processors.of_caller();
        self.part.0.is_on(own);
        let elsewhere = processors.of_packets(stream).filter(|arrival| *arrival != own);
        if !self.bearings.as_mut()?.seen(elsewhere) {
            return None;
        }
        let loads = workers.iter().map(|worker| {
            let Load { processor, sessions, .. } = &*worker.load;
            (processor.load(Ordering::Relaxed), sessions.load(Ordering::Relaxed))
        });
        let own_sessions = self.part.0.sessions.load(Ordering::Relaxed);
        locality::taker(loads, own_sessions, elsewhere?)
    }

    /// Goes on with another worker: `begin` is called on it, for the same connection.
    pub fn move_to<F>(
        self,
        number: usize,
        connection: &Arc<Connection>,
        begin: impl FnOnce(Share) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let Share { team, mut bearings, .. } = self;
        status::SESSIONS_MOVED.increment();
        if let Some(bearings) = &mut bearings {
            bearings.moved();
        }
        #[expect(clippy::indexing_slicing, reason = "the number is one of the team's own")]
        let worker = &team.workers[number];
        team.begin(worker, connection, bearings, begin);
    }
}

impl Part {
    fn new(load: &Arc<Load>) -> Part {
        load.sessions.fetch_add(1, Ordering::Relaxed);
        Part(load.clone())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.0.sessions.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Load {
    fn is_on(&self, processor: usize) {
        if self.processor.load(Ordering::Relaxed) != processor {
            self.processor.store(processor, Ordering::Relaxed);
        }
    }
}

impl Worker {
    fn new(number: usize) -> io::Result<Arc<Worker>> {
        Ok(Arc::new(Worker {
            number,
            event_loop: Arc::new(EventLoop::new()?),
            post: Mutex::new(Post::new(false)),
            load: Arc::default(),
            plans: Arc::default(),
            login_pace: Arc::default(),
        }))
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    /// The post of the thread that turns its loop.
    pub(crate) fn post(&self) -> Arc<Post> {
        self.post.lock().clone()
    }

    /// Turns the loop until it is closed, or another thread does.
    fn turn(&self, post: &Arc<Post>, watchdog: &Watchdog) {
        let event_loop = &*self.event_loop;
        let mut events = Events::default();
        while !post.is_over() && event_loop.turn(&mut events) {
            watchdog.wake_if_asleep();
            let mut left = event_loop.round();
            while left > 0
                && !post.is_over()
                && let Some(task) = event_loop.next()
            {
                task::poll(post, task);
                left -= 1;
            }
        }
        // Another thread that turns the loop, or is about to end, may have missed what this one was woken
        // for.
        event_loop.reactor().ring();
    }
}

impl Team {
    /// Every worker.
    pub(crate) fn everyone(&self) -> impl Iterator<Item = &Arc<Worker>> {
        self.workers.iter().chain(&self.administrators)
    }

    /// The posts whose threads have not come back yet.
    pub(crate) fn relieved(&self) -> Vec<Arc<Post>> {
        let mut relieved = self.relieved.lock();
        relieved.retain(|post| post.beat() % 2 == 1);
        relieved.clone()
    }

    /// A new thread turns the loop of the worker of that number in place of the one at `post`.
    pub(crate) fn relieve(self: &Arc<Self>, number: usize, post: &Arc<Post>) -> io::Result<()> {
        let Some(worker) = self.everyone().find(|worker| worker.number == number) else { return Ok(()) };
        let next = self.start_thread(worker)?;
        *worker.post.lock() = next;
        self.relieved.lock().push(post.clone());
        post.relieve();
        worker.event_loop.look_again();
        Ok(())
    }

    fn start_thread(self: &Arc<Self>, worker: &Arc<Worker>) -> io::Result<Arc<Post>> {
        let post = Post::new(false);
        let (team, worker, own) = (self.clone(), worker.clone(), post.clone());
        let name = match worker.number {
            number if number < self.workers.len() => format!("worker-{number}"),
            _ => "administrators".to_owned(),
        };
        self.crew.start(name, move || {
            own.man();
            if worker.number < team.workers.len() {
                worker.load.is_on(team.processors.of_caller());
            }
            let _stay = team.surroundings.enter(Some(worker.number));
            let _runtime = team.surroundings.enter_runtime();
            task::man(&own);
            worker.turn(&own, &team.watchdog);
        })?;
        Ok(post)
    }

    fn begin<F>(
        self: &Arc<Self>,
        worker: &Arc<Worker>,
        connection: &Arc<Connection>,
        bearings: Option<Bearings>,
        begin: impl FnOnce(Share) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let share = Share::new(self, worker, bearings);
        Task::spawn(&worker.event_loop, &self.compute, connection.id, |task| {
            connection.attach(task);
            Box::pin(async move { begin(share).await })
        });
    }
}

/// The computing threads of the workers, as far as there are workers.
pub struct Helpers {
    team: Weak<Team>,
    pressure: Pressure,
}

impl Helpers {
    /// How many of them have a processor each.
    pub fn count(&self) -> usize {
        self.team.upgrade().map_or(0, |team| team.workers.len())
    }

    /// Whether the workers serve so many statements that they should have the processors for themselves.
    pub fn are_workers_busy(&self) -> bool {
        let Some(team) = self.team.upgrade() else { return false };
        let polls = || team.workers.iter().map(|worker| worker.post().beat() / 2).sum();
        self.pressure.are_busy(Instant::now(), team.workers.len(), polls, |number, probe| {
            if let Some(worker) = team.workers.get(number) {
                let answer = async move { probe.answer(Instant::now()) };
                Task::spawn(&worker.event_loop, &team.compute, 0, |_| Box::pin(answer));
            }
        })
    }

    /// Has one of them run it; false if there is none any more.
    pub fn run(&self, future: TaskFuture) -> bool {
        let Some(team) = self.team.upgrade() else { return false };
        let Some(worker) = team.workers.first() else { return false };
        Task::spawn_heavy(&worker.event_loop, &team.compute, measured(future, task::meter_beside()));
        true
    }
}

impl Workers {
    /// Starts `count` workers, and one more for administrators if `for_administrators`. `looks_at_client` is
    /// called again and again while a connection's poll takes long, with its number.
    pub fn start(
        count: usize,
        for_administrators: bool,
        processors: Arc<dyn Processors>,
        surroundings: Arc<dyn Surroundings>,
        looks_at_client: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Workers> {
        let crew = Arc::<Crew>::default();
        let team = Arc::new(Team {
            workers: (0..count).map(Worker::new).collect::<io::Result<_>>()?,
            administrators: for_administrators.then(|| Worker::new(count)).transpose()?,
            processors,
            compute: Compute::new(COMPUTING_THREADS * count, &crew, surroundings.clone()),
            surroundings,
            watchdog: Arc::default(),
            crew,
            relieved: Mutex::default(),
        });
        for worker in team.everyone() {
            if worker.number < count {
                let background = team.surroundings.background(worker.number);
                Task::spawn(&worker.event_loop, &team.compute, 0, |_| background);
            }
            *worker.post.lock() = team.start_thread(worker)?;
        }
        Watchdog::start(&team, looks_at_client)?;
        Ok(Workers { team })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.team.workers.len()
    }

    /// Gives a session to the least loaded worker, or to the one for administrators if it is one. `begin` is
    /// called on it.
    pub fn spawn<F>(&self, connection: &Arc<Connection>, begin: impl FnOnce(Share) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Team { workers, processors, administrators, .. } = &*self.team;
        if let Some(worker) = administrators
            && connection.is_administrative
        {
            return self.team.begin(worker, connection, None, begin);
        }
        let sessions = |worker: &&Arc<Worker>| worker.load.sessions.load(Ordering::Relaxed);
        #[expect(clippy::expect_used, reason = "a team has at least one worker")]
        let least = workers.iter().min_by_key(sessions).expect("there is at least one worker");
        self.team.begin(least, connection, Some(Bearings::new(processors.pace())), begin);
    }

    /// Who runs parts of statements beside them.
    pub fn helpers(&self) -> Helpers {
        Helpers { team: Arc::downgrade(&self.team), pressure: Pressure::new() }
    }

    /// How many threads are in one and the same poll since `beats` was last looked at; they are noted there.
    pub fn held_threads(&self, beats: &mut Vec<u64>) -> usize {
        let posts = self.team.everyone().map(|worker| worker.post()).chain(self.team.relieved());
        let posts: Vec<_> = posts.chain(self.team.compute.posts()).collect();
        let before = std::mem::take(beats);
        let address = |post: &Arc<Post>| Arc::as_ptr(post) as u64;
        let is_held = |post: &&Arc<Post>| {
            post.beat() % 2 == 1 && before.chunks(2).any(|seen| seen == [address(post), post.beat()])
        };
        let held = posts.iter().filter(is_held).count();
        beats.extend(posts.iter().flat_map(|post| [address(post), post.beat()]));
        held
    }

    /// Ends every worker; sessions that still run are dropped. Waits at most `limit` for threads that are
    /// held by a session; how many have not come back then.
    pub fn stop(self, limit: Duration) -> usize {
        let Team { compute, watchdog, crew, .. } = &*self.team;
        watchdog.stop();
        self.team.everyone().for_each(|worker| worker.event_loop.close());
        compute.close();
        let left = crew.wait(limit);
        self.team.everyone().for_each(|worker| {
            worker.event_loop.drop_tasks();
        });
        left
    }
}

#[cfg(test)]
mod tests;
