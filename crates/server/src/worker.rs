//! Workers: as many event loops as there are cores, a thread each. A connection is given to the least loaded one, and a session may
//! [move](Share::better_worker) to another between two commands. What the sessions of a worker share among themselves - the
//! [`Plans`] of their statements - no other thread touches.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use palisade_base::Event;
use palisade_sql::Plans;
use tokio::runtime::{Builder, Handle};

use crate::admission::{Admission, Level};
use crate::locality::{self, Bearings, Processors};
use crate::status;
use crate::stream::Stream;

/// All workers.
pub struct Workers {
    team: Arc<Team>,
    threads: Vec<(Event, JoinHandle<()>)>,
}

/// The workers, as sessions know them.
struct Team {
    workers: Vec<Worker>,
    processors: Arc<dyn Processors>,
}

struct Worker {
    handle: Handle,
    load: Arc<Load>,
    plans: Arc<Plans>,
    admission: Arc<Admission>,
}

/// What a worker has to do, and where.
#[derive(Default)]
struct Load {
    sessions: AtomicUsize,
    /// The processor that it was last seen on.
    processor: AtomicUsize,
}

/// What a session has of its worker: a part of the load, until it is dropped, the plans, and its turns to begin transactions.
pub struct Share {
    part: Part,
    plans: Arc<Plans>,
    admission: Arc<Admission>,
    team: Arc<Team>,
    bearings: Bearings,
}

/// One session of a worker's load.
struct Part(Arc<Load>);

impl Share {
    /// A session comes to the worker `number`.
    fn new(team: &Arc<Team>, number: usize, bearings: Bearings) -> Self {
        let Worker { load, plans, admission, .. } = &team.workers[number];
        let (plans, admission) = (plans.clone(), admission.clone());
        Share { part: Part::new(load), plans, admission, team: team.clone(), bearings }
    }

    /// The plans that the worker's sessions share.
    pub fn plans(&self) -> &Arc<Plans> {
        &self.plans
    }

    /// Where the worker's sessions ask whether they may begin a transaction.
    pub fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    /// The session has answered a command that came over `stream`: the worker that it had better go on with.
    pub fn better_worker(&mut self, stream: &Stream) -> Option<usize> {
        if !self.bearings.is_time() {
            return None;
        }
        self.look(stream)
    }

    #[cold]
    fn look(&mut self, stream: &Stream) -> Option<usize> {
        let Team { workers, processors } = &*self.team;
        if workers.len() == 1 {
            return None;
        }
        let own = processors.of_caller();
        self.part.0.is_on(own);
        let elsewhere = processors.of_packets(stream).filter(|arrival| *arrival != own);
        if !self.bearings.seen(elsewhere) {
            return None;
        }
        let loads = workers.iter().map(|worker| {
            let Load { processor, sessions, .. } = &*worker.load;
            (processor.load(Ordering::Relaxed), sessions.load(Ordering::Relaxed))
        });
        let own_sessions = self.part.0.sessions.load(Ordering::Relaxed);
        locality::taker(loads, own_sessions, elsewhere?)
    }

    /// Goes on with another worker: `begin` is called on it.
    pub fn move_to<F>(self, number: usize, begin: impl FnOnce(Share) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Share { team, mut bearings, .. } = self;
        status::SESSIONS_MOVED.increment();
        bearings.moved();
        let share = Share::new(&team, number, bearings);
        team.workers[number].handle.spawn(async move { begin(share).await });
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

impl Workers {
    /// Starts `count` workers, which admit transactions up to `level`. Each runs `background`, called on its thread with its number, besides its sessions.
    pub fn start<F>(
        count: usize,
        processors: Arc<dyn Processors>,
        level: &Arc<Level>,
        background: impl Fn(usize) -> F + Send + Sync + 'static,
    ) -> io::Result<Workers>
    where
        F: Future<Output = ()> + 'static,
    {
        let background = Arc::new(background);
        let (mut workers, mut threads) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for number in 0..count {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            let handle = runtime.handle().clone();
            let load = Arc::new(Load::default());
            // one each: the loop polls it often, and what it writes then is its own
            let stop = Event::new();
            let (stopped, background, own_load) = (stop.clone(), background.clone(), load.clone());
            let processors = processors.clone();
            let admission = Arc::new(Admission::new(level.clone()));
            let own_admission = admission.clone();
            let thread = std::thread::Builder::new().name(format!("worker-{number}")).spawn(move || {
                own_load.is_on(processors.of_caller());
                // the background is part of what the loop itself runs, not a task: it may hold what must not move
                runtime.block_on(async {
                    let background = async {
                        (*background)(number).await;
                        std::future::pending::<()>().await;
                    };
                    tokio::select! {
                        () = stopped => {}
                        () = background => {}
                        () = own_admission.watch() => {}
                    }
                });
                runtime.shutdown_timeout(Duration::from_secs(1));
            })?;
            workers.push(Worker { handle, load, plans: Arc::default(), admission });
            threads.push((stop, thread));
        }
        Ok(Workers { team: Arc::new(Team { workers, processors }), threads })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.team.workers.len()
    }

    /// Gives a session to the least loaded worker. `begin` is called on it.
    pub fn spawn<F>(&self, begin: impl FnOnce(Share) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Team { workers, processors } = &*self.team;
        let sessions = |number: &usize| workers[*number].load.sessions.load(Ordering::Relaxed);
        let least = (0..workers.len()).min_by_key(sessions).expect("there is at least one worker");
        let share = Share::new(&self.team, least, Bearings::new(processors.pace()));
        workers[least].handle.spawn(async move { begin(share).await });
    }

    /// Ends every worker; sessions that still run are dropped.
    pub fn stop(self) {
        self.threads.iter().for_each(|(stop, _)| stop.complete());
        for (_, thread) in self.threads {
            // a worker that panicked has said so already
            let _ = thread.join();
        }
    }
}
