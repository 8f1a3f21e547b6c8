//! The run phase: requesters send as fast as answers come, for a time; then what each took is put together.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use rand::SeedableRng as _;
use rand::rngs::SmallRng;

use crate::connection::{self, ANSWER_LIMIT};
use crate::error::{Error, Result};
use crate::linkbench::Workload;
use crate::linkbench::graph::Graph;
use crate::linkbench::requests::{Kind, MIX, Requester};
use crate::server::Server;
use crate::tool;

/// How long requests run before they count: connections, and a pool that has other tables in it.
const WARM_UP: Duration = Duration::from_secs(5);

/// The longest time of a request that is told exactly, in microseconds.
const LONGEST_US: u64 = 300_000_000;

/// Deadlock, and a lock that was not had in time.
const LOCKED: [u16; 2] = [1213, 1205];

/// What a run yields.
#[derive(Debug)]
pub struct Measured {
    /// Requests that were answered.
    pub requests: f64,
    /// Requests that locks ended.
    pub refused: f64,
    /// How long it took.
    pub seconds: f64,
    /// Requests of each second.
    pub by_second: Vec<f64>,
    times: Vec<Histogram<u64>>,
}

impl Measured {
    /// The time that a share (0 to 1) of a kind's requests took at most, in milliseconds; `None` if there
    /// were none.
    pub fn quantile_ms(&self, kind: Kind, share: f64) -> Option<f64> {
        let times = self.times.get(kind.place()).filter(|times| !times.is_empty())?;
        Some(times.value_at_quantile(share) as f64 / 1000.0)
    }
}

/// What requesters do together.
struct Shared {
    stop: AtomicBool,
    /// Requests count from when this is set.
    counts: AtomicBool,
    done: AtomicU64,
}

/// What one of them did.
struct Own {
    refused: u64,
    times: Vec<Histogram<u64>>,
}

/// Runs the load. `look` is called when requests begin to count, and at the end of each second from then on.
/// Waits for: the time that it takes.
pub fn run(
    server: &mut Server,
    workload: &Workload,
    seconds: u32,
    mut look: impl FnMut(&mut Server) -> Result<()>,
) -> Result<Measured> {
    let shared =
        Shared { stop: AtomicBool::new(false), counts: AtomicBool::new(false), done: AtomicU64::new(0) };
    let (address, name) = (server.address.clone(), server.name.clone());
    thread::scope(|scope| {
        let requesters: Vec<_> = (0..workload.requesters)
            .map(|number| {
                let (shared, address, name) = (&shared, &address, &name);
                scope.spawn(move || {
                    let options = connection::options(address, ANSWER_LIMIT)
                        .db_name(Some(&workload.schema))
                        .init(vec!["SET SESSION autocommit = 0"]);
                    // not the numbers that the load was made from
                    let seed =
                        workload.seed.wrapping_add(1).wrapping_mul(1 << 20).wrapping_add(number.into());
                    let (rng, graph) = (SmallRng::seed_from_u64(seed), Graph::new(workload.ids));
                    let ended = mysql::Conn::new(options)
                        .and_then(|connection| requests(Requester::new(connection, rng, graph), shared));
                    shared.stop.fetch_or(ended.is_err(), Ordering::Relaxed);
                    ended.map_err(|error| Error::check(name, connection::reason(&error)))
                })
            })
            .collect();
        let watched = watch(server, &shared, seconds, &mut look);
        shared.stop.store(true, Ordering::Relaxed);
        let ended: Vec<Result<Own>> = requesters
            .into_iter()
            .map(|requester| requester.join().unwrap_or_else(|cause| std::panic::resume_unwind(cause)))
            .collect();
        let mut measured = watched?;
        for own in ended {
            let own = own?;
            measured.refused += own.refused as f64;
            for (all, own) in measured.times.iter_mut().zip(&own.times) {
                all.add(own).map_err(|error| Error::check(&name, error.to_string()))?;
            }
        }
        Ok(measured)
    })
}

/// Lets the load come to its rate, then counts its seconds. A load that stops by itself has an error to tell.
fn watch(
    server: &mut Server,
    shared: &Shared,
    seconds: u32,
    look: &mut impl FnMut(&mut Server) -> Result<()>,
) -> Result<Measured> {
    pause_until(Instant::now() + WARM_UP, shared)?;
    shared.counts.store(true, Ordering::Relaxed);
    let (start, first) = (Instant::now(), shared.done.load(Ordering::Relaxed));
    let (mut before, mut by_second, mut took) = (first, Vec::new(), Duration::ZERO);
    look(server)?;
    for number in 1..=seconds {
        pause_until(start + Duration::from_secs(number.into()), shared)?;
        if shared.stop.load(Ordering::Relaxed) {
            break;
        }
        let now = shared.done.load(Ordering::Relaxed);
        by_second.push((now - before) as f64);
        before = now;
        took = start.elapsed();
        look(server)?;
    }
    Ok(Measured {
        requests: (before - first) as f64,
        refused: 0.0,
        seconds: took.as_secs_f64(),
        by_second,
        times: histograms(),
    })
}

/// Until then, or until a requester has failed.
fn pause_until(end: Instant, shared: &Shared) -> Result<()> {
    const STEP: Duration = Duration::from_millis(100);
    loop {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || shared.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        tool::pause(left.min(STEP))?;
    }
}

fn histograms() -> Vec<Histogram<u64>> {
    let new = || Histogram::new_with_bounds(1, LONGEST_US, 3).expect("the bounds are in order");
    MIX.iter().map(|_| new()).collect()
}

/// A requester's work.
fn requests(mut requester: Requester, shared: &Shared) -> mysql::Result<Own> {
    let mut own = Own { refused: 0, times: histograms() };
    while !shared.stop.load(Ordering::Relaxed) {
        let kind = requester.next();
        let counts = shared.counts.load(Ordering::Relaxed);
        let begun = Instant::now();
        match requester.request(kind) {
            Ok(()) => {
                let took = u64::try_from(begun.elapsed().as_micros()).unwrap_or(LONGEST_US);
                shared.done.fetch_add(1, Ordering::Relaxed);
                if let Some(times) = own.times.get_mut(kind.place()).filter(|_| counts) {
                    times.saturating_record(took);
                }
            }
            Err(mysql::Error::MySqlError(error)) if LOCKED.contains(&error.code) => {
                requester.give_up()?;
                own.refused += u64::from(counts);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(own)
}
