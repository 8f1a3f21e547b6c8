use std::future::poll_fn;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::task::Poll;
use std::time::Instant;

use tokio::runtime::Runtime;

use super::*;
use crate::connections::{Connections, Entry, Visit};
use crate::locality::OsProcessors;
use crate::reactor::Sleep;
use crate::stream::Socket;

/// What is longer than this on the slowest machine hangs.
const PATIENCE: Duration = Duration::from_secs(60);

struct Nothing(Runtime);

impl Surroundings for Nothing {
    fn enter(&self, _: Option<usize>) -> Box<dyn Any> {
        Box::new(())
    }

    fn enter_runtime(&self) -> EnterGuard<'_> {
        self.0.enter()
    }

    fn background(&self, _: usize) -> TaskFuture {
        Box::pin(std::future::pending())
    }
}

struct Fixture {
    workers: Workers,
    connections: Arc<Connections>,
}

/// So many workers.
fn fixture(workers: usize) -> Fixture {
    let connections = Arc::<Connections>::default();
    let nothing = Nothing(tokio::runtime::Builder::new_current_thread().build().unwrap());
    let looked_at = connections.clone();
    let ends_if_gone = move |id| {
        if let Some(connection) = looked_at.get(id)
            && connection.has_hung_up()
        {
            connection.kill_connection();
        }
    };
    let workers =
        Workers::start(workers, true, Arc::new(OsProcessors), Arc::new(nothing), ends_if_gone).unwrap();
    Fixture { workers, connections }
}

impl Fixture {
    fn connection(&self) -> Visit {
        match self.connections.enter("localhost".into(), None, 1000) {
            Entry::Entered(visit) => visit,
            Entry::Refused(_) => panic!("there are not too many"),
        }
    }

    /// A session that runs what `session` makes, and tells when it has ended.
    fn session<F>(&self, session: impl FnOnce(Share, Visit) -> F + Send + 'static) -> Receiver<()>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let visit = self.connection();
        let connection = Arc::clone(&visit);
        let (ended, has_ended) = channel();
        self.workers.spawn(&connection, move |share| async move {
            session(share, visit).await;
            ended.send(()).unwrap();
        });
        has_ended
    }

    /// A session that answers every byte it gets, as long as its client is there; the client.
    fn echo(&self) -> UnixStream {
        let (client, socket) = UnixStream::pair().unwrap();
        socket.set_nonblocking(true).unwrap();
        client.set_read_timeout(Some(PATIENCE)).unwrap();
        self.session(|share, _visit| async move {
            let stream = Stream::watch(share.event_loop(), Socket::Unix(socket)).unwrap();
            let mut buffer = Vec::with_capacity(100);
            while poll_fn(|context| stream.poll_read(context, &mut buffer)).await.is_ok_and(|count| count > 0)
            {
                let sent = poll_fn(|context| stream.poll_write(context, &buffer)).await.unwrap();
                assert_eq!(sent, buffer.len());
                buffer.clear();
            }
        });
        client
    }
}

fn ask(mut client: &UnixStream) -> Duration {
    let begun = Instant::now();
    client.write_all(b"?").unwrap();
    client.read_exact(&mut [0]).unwrap();
    begun.elapsed()
}

/// Holds the calling thread, as a step of a statement does that never lets go.
fn hold(until: &AtomicBool) {
    let limit = Instant::now() + PATIENCE;
    while !until.load(Ordering::Relaxed) {
        assert!(Instant::now() < limit);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

#[test]
fn the_other_sessions_of_a_worker_that_is_held_are_served_and_new_ones_too() {
    let fixture = fixture(1);
    let before = fixture.echo();
    ask(&before);
    let release = Arc::new(AtomicBool::new(false));
    let (own_release, (held, is_held)) = (release.clone(), channel());
    let has_ended = fixture.session(move |_, _| async move {
        held.send(()).unwrap();
        hold(&own_release);
        task::yield_now().await;
        assert_eq!(thread_name(), "worker-0");
    });
    is_held.recv_timeout(PATIENCE).unwrap();
    // each of these would wait until the end of the test without another thread
    ask(&before);
    let during = fixture.echo();
    ask(&during);
    let slept = fixture.session(|share, _| async move {
        Sleep::new(share.event_loop(), Duration::from_millis(20)).await;
    });
    slept.recv_timeout(PATIENCE).unwrap();
    assert!(has_ended.try_recv().is_err());
    // now the thread that went on is held as well
    let (own_release, (held, is_held)) = (release.clone(), channel());
    fixture.session(move |_, _| async move {
        held.send(()).unwrap();
        hold(&own_release);
    });
    is_held.recv_timeout(PATIENCE).unwrap();
    ask(&before);
    ask(&during);
    release.store(true, Ordering::Relaxed);
    has_ended.recv_timeout(PATIENCE).unwrap();
    ask(&before);
    drop((before, during));
    assert_eq!(fixture.workers.stop(PATIENCE), 0, "the threads that were held have ended");
}

#[test]
fn a_session_that_computes_leaves_its_worker_and_comes_back_when_its_statement_has_ended() {
    let fixture = fixture(1);
    let other = fixture.echo();
    let has_ended = fixture.session(|share, _| async move {
        for _ in 0..3 {
            assert_eq!(thread_name(), "worker-0");
            assert!(!task::may_compute());
            task::yield_now().await;
            assert!(thread_name().starts_with("compute-"), "{}", thread_name());
            assert!(task::may_compute());
            // what it waits for is heard of by its worker
            Sleep::new(share.event_loop(), Duration::from_millis(1)).await;
            assert!(thread_name().starts_with("compute-"), "{}", thread_name());
            task::settle_down().await;
        }
        assert_eq!(thread_name(), "worker-0");
    });
    has_ended.recv_timeout(PATIENCE).unwrap();
    ask(&other);
    drop(other);
    assert_eq!(fixture.workers.stop(PATIENCE), 0);
}

#[test]
fn a_session_is_called_off_and_others_compute_while_every_computing_thread_is_held() {
    let fixture = fixture(1);
    let release = Arc::new(AtomicBool::new(false));
    let (held, is_held) = channel();
    let holders: Vec<_> = (0..COMPUTING_THREADS)
        .map(|_| {
            let (release, held) = (release.clone(), held.clone());
            fixture.session(move |_, _| async move {
                assert!(!task::may_compute());
                task::yield_now().await;
                held.send(()).unwrap();
                hold(&release);
            })
        })
        .collect();
    holders.iter().for_each(|_| is_held.recv_timeout(PATIENCE).unwrap());
    // One that is killed while it stands in the queue, or after another thread was added: it ends in either
    // case.
    let (told, connection) = channel();
    let killed = fixture.session(move |_, visit| async move {
        told.send(Arc::clone(&visit)).unwrap();
        assert!(!task::may_compute());
        poll_fn(|context| match visit.is_killed() {
            true => Poll::Ready(()),
            false => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        })
        .await;
    });
    connection.recv_timeout(PATIENCE).unwrap().kill_connection();
    killed.recv_timeout(PATIENCE).unwrap();
    let short = fixture.session(|_, _| async move {
        assert!(!task::may_compute());
        task::yield_now().await;
        assert!(task::may_compute());
    });
    short.recv_timeout(PATIENCE).unwrap();
    release.store(true, Ordering::Relaxed);
    holders.iter().for_each(|holder| holder.recv_timeout(PATIENCE).unwrap());
    assert_eq!(fixture.workers.stop(PATIENCE), 0);
}

#[test]
fn a_client_that_goes_while_its_session_holds_a_thread_is_noticed() {
    let fixture = fixture(1);
    let (client, socket) = UnixStream::pair().unwrap();
    socket.set_nonblocking(true).unwrap();
    let has_ended = fixture.session(move |share, visit| async move {
        let stream = Arc::new(Stream::watch(share.event_loop(), Socket::Unix(socket)).unwrap());
        visit.set_stream(&stream);
        let limit = Instant::now() + PATIENCE;
        while !visit.is_killed() {
            assert!(Instant::now() < limit);
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    drop(client);
    has_ended.recv_timeout(PATIENCE).unwrap();
    assert_eq!(fixture.workers.stop(PATIENCE), 0);
}

#[test]
fn stopping_does_not_wait_for_a_thread_that_does_not_come_back() {
    let fixture = fixture(2);
    let release = Arc::new(AtomicBool::new(false));
    let (held, is_held) = channel();
    for computes in [false, true, false] {
        let (release, held) = (release.clone(), held.clone());
        fixture.session(move |_, _| async move {
            if computes {
                assert!(!task::may_compute());
                task::yield_now().await;
            }
            held.send(()).unwrap();
            hold(&release);
        });
    }
    (0..3).for_each(|_| is_held.recv_timeout(PATIENCE).unwrap());
    let mut beats = Vec::new();
    assert_eq!(fixture.workers.held_threads(&mut beats), 0, "they have not been looked at before");
    // On a busy machine a thread may be relieved between two looks, and is a new one to the second.
    let limit = Instant::now() + PATIENCE;
    while fixture.workers.held_threads(&mut beats) != 3 {
        assert!(Instant::now() < limit);
    }
    let begun = Instant::now();
    assert_eq!(fixture.workers.stop(Duration::from_millis(100)), 3);
    assert!(begun.elapsed() < PATIENCE / 2);
    release.store(true, Ordering::Relaxed);
}

#[test]
fn an_administrator_is_served_by_a_thread_of_its_own() {
    let fixture = fixture(1);
    let visit = fixture.connections.enter_administrator("localhost".into(), None);
    let (told, name) = channel();
    fixture.workers.spawn(&visit, move |_| async move { told.send(thread_name()).unwrap() });
    assert_eq!(name.recv_timeout(PATIENCE).unwrap(), "administrators");
    assert_eq!(fixture.workers.stop(PATIENCE), 0);
}

#[test]
fn a_session_that_panics_takes_nothing_with_it() {
    let fixture = fixture(1);
    let other = fixture.echo();
    let (told, dropped) = channel::<()>();
    fixture.session(|_, _| async move {
        let _told = told;
        panic!("expected by the test");
    });
    assert_eq!(dropped.recv_timeout(PATIENCE), Err(RecvTimeoutError::Disconnected), "what it had is dropped");
    ask(&other);
    drop(other);
    assert_eq!(fixture.workers.stop(PATIENCE), 0);
}
