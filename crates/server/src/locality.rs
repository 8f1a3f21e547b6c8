//! Where a session is served best: on the processor where its client's packets arrive.
//!
//! ```text
//!   processor 0                      processor 1
//!   client a ── worker 0             client b ── worker 1       each calls the other by a switch of tasks
//!   client c ────────────────────▶              worker 1        each calls the other by an interrupt
//! ```
//!
//! What a client on this machine sends is received on the client's processor, by the kernel, in the client's own system call; what comes
//! over a network is received where the card's queue is served. A worker on another processor has to be called over, and so has
//! the client when it is answered: that may cost more than a statement does. So a session asks its socket from time to
//! time where its last packet was received. If that was another worker's processor several times in a row, the session moves
//! there, unless that worker has more sessions than its own one: even work comes before short ways.
//!
//! Clients and workers are moved by the operating system, too. Each move of a session doubles its [patience](Pace), so that one whose
//! client wanders soon stays where it is.

use rustix::net::sockopt::socket_incoming_cpu;
use rustix::thread::sched_getcpu;

use crate::stream::Stream;

/// How readily a session moves.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// Commands from one look at where packets arrive to the next.
    pub commands_per_look: u32,
    /// Looks in a row that must find them with the same other worker, at first; at least 1.
    pub looks: u32,
    /// The same, at most.
    pub most_looks: u32,
}

/// Which processor does what.
pub trait Processors: Send + Sync {
    /// The one that runs the caller.
    fn of_caller(&self) -> usize;

    /// The one that received the last packet from a client, if the socket can tell.
    fn of_packets(&self, stream: &Stream) -> Option<usize>;

    /// How readily sessions follow.
    fn pace(&self) -> Pace;
}

/// The operating system's.
pub struct OsProcessors;

impl Processors for OsProcessors {
    fn of_caller(&self) -> usize {
        sched_getcpu()
    }

    fn of_packets(&self, stream: &Stream) -> Option<usize> {
        // The kernel does not keep it of a Unix socket.
        if stream.is_local() {
            return None;
        }
        socket_incoming_cpu(stream).ok().map(|cpu| cpu as usize)
    }

    fn pace(&self) -> Pace {
        // A look is a system call of a fifth of a microsecond, a move costs some tens of them.
        Pace { commands_per_look: 16, looks: 4, most_looks: 256 }
    }
}

/// What a session has seen of where its packets arrive.
#[derive(Debug)]
pub struct Bearings {
    pace: Pace,
    /// Commands since the last look.
    commands: u32,
    /// The other processor that the last looks found the packets on, and how many in a row did.
    elsewhere: Option<(usize, u32)>,
    /// Looks in a row that it takes to move.
    patience: u32,
}

impl Bearings {
    /// Those of a session that begins.
    pub fn new(pace: Pace) -> Self {
        Bearings { pace, commands: 0, elsewhere: None, patience: pace.looks }
    }

    /// A command has ended: whether it is time to look.
    pub fn is_time(&mut self) -> bool {
        self.commands += 1;
        if self.commands < self.pace.commands_per_look {
            return false;
        }
        self.commands = 0;
        true
    }

    /// A look has found the packets on a processor; `None` if on the session's own, or nowhere. Whether it has been that one often
    /// enough to move there.
    pub fn seen(&mut self, elsewhere: Option<usize>) -> bool {
        let times = match (self.elsewhere, elsewhere) {
            (Some((before, times)), Some(now)) if before == now => times.saturating_add(1),
            _ => 1,
        };
        self.elsewhere = elsewhere.map(|processor| (processor, times));
        elsewhere.is_some() && times >= self.patience
    }

    /// The session has moved.
    pub fn moved(&mut self) {
        self.elsewhere = None;
        self.patience = (self.patience * 2).min(self.pace.most_looks);
    }
}

/// Of `workers`, each with the processor it was last seen on and its sessions: the one on `processor` that can take a session from one
/// that has `own_sessions`.
pub fn taker(
    workers: impl Iterator<Item = (usize, usize)>,
    own_sessions: usize,
    processor: usize,
) -> Option<usize> {
    let there = workers.enumerate().filter(|(_, (its_processor, _))| *its_processor == processor);
    let idlest = there.min_by_key(|(_, (_, sessions))| *sessions);
    idlest.filter(|(_, (_, sessions))| *sessions <= own_sessions).map(|(number, _)| number)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::event_loop::EventLoop;
    use crate::stream::Socket;

    const PACE: Pace = Pace { commands_per_look: 3, looks: 2, most_looks: 4 };

    #[test]
    fn a_session_looks_every_few_commands() {
        let mut bearings = Bearings::new(PACE);
        let looks: Vec<bool> = (0..7).map(|_| bearings.is_time()).collect();
        assert_eq!(looks, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn it_moves_when_it_has_seen_the_same_often_enough_and_less_readily_each_time() {
        let mut bearings = Bearings::new(PACE);
        assert!(!bearings.seen(Some(1)));
        assert!(!bearings.seen(Some(2)), "another one");
        assert!(!bearings.seen(None), "its own");
        assert!(!bearings.seen(Some(2)));
        assert!(bearings.seen(Some(2)));
        assert!(bearings.seen(Some(2)), "if it could not move before");
        bearings.moved();
        for looks in [4, 4] {
            for _ in 1..looks {
                assert!(!bearings.seen(Some(0)));
            }
            assert!(bearings.seen(Some(0)));
            bearings.moved();
        }
    }

    #[test]
    fn a_worker_takes_a_session_if_it_is_where_the_packets_are_and_has_no_more_of_them() {
        let taker =
            |workers: &[(usize, usize)], own, processor| taker(workers.iter().copied(), own, processor);
        assert_eq!(taker(&[(0, 8), (1, 8)], 8, 1), Some(1));
        assert_eq!(taker(&[(0, 7), (1, 8)], 7, 1), None, "it has more to do");
        assert_eq!(taker(&[(0, 8), (1, 8)], 8, 5), None, "no worker is there");
        assert_eq!(taker(&[(0, 8), (1, 8), (1, 6)], 8, 1), Some(2), "the idler of two");
        assert_eq!(taker(&[(0, 8), (1, 9)], 9, 0), Some(0));
    }

    #[test]
    fn a_socket_tells_where_its_last_packet_arrived() {
        use std::io::Write as _;
        let event_loop = Arc::new(EventLoop::new().unwrap());
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let accepted = listener.accept().unwrap().0;
        client.write_all(b"packet").unwrap();
        // it is there
        accepted.peek(&mut [0]).unwrap();
        let stream = Stream::watch(&event_loop, Socket::Tcp(accepted)).unwrap();
        let processors = std::fs::read_to_string("/sys/devices/system/cpu/possible").unwrap();
        let last: usize = processors.trim().rsplit(['-', ',']).next().unwrap().parse().unwrap();
        assert!(OsProcessors.of_packets(&stream).is_some_and(|processor| processor <= last));
        assert!(OsProcessors.of_caller() <= last);
        let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
        let local = Stream::watch(&event_loop, Socket::Unix(one)).unwrap();
        assert_eq!(OsProcessors.of_packets(&local), None);
    }

    /// Sessions that are spread over the workers without regard to their clients.
    #[test]
    fn every_session_arrives_where_its_packets_do_and_the_work_stays_even() {
        const SESSIONS: usize = 128;
        for (clients_at_0, right) in [(64, 128), (70, 123)] {
            // of each session, its worker and its packets' processor
            let mut sessions: Vec<(usize, usize)> =
                (0..SESSIONS).map(|number| (number % 2, usize::from(number >= clients_at_0))).collect();
            let mut moves = 0;
            // They look in an order that does not follow where they are.
            for number in (0..).map(|look| look * 37 % SESSIONS).take(4 * SESSIONS) {
                let load = |worker: usize| sessions.iter().filter(|(own, _)| *own == worker).count();
                let workers = [(0, load(0)), (1, load(1))];
                assert!(workers[0].1.abs_diff(workers[1].1) <= 2);
                let (own, processor) = sessions[number];
                if own != processor
                    && let Some(taker) = taker(workers.into_iter(), workers[own].1, processor)
                {
                    sessions[number].0 = taker;
                    moves += 1;
                }
            }
            assert!(moves <= SESSIONS, "{moves} moves");
            let arrived = sessions.iter().filter(|(worker, processor)| worker == processor).count();
            assert!(arrived >= right, "{arrived} of {right}");
        }
    }
}
