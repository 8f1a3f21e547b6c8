//! Processor time that a virtual machine's host gave to something else: no server can make up for it, so a report says how much it was.

use std::collections::BTreeMap;
use std::fs;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::experiment::measure;
use crate::results::{Better, Measure};
use crate::stats;

/// How often a [`Watch`] looks. The system counts in hundredths of a second of each processor.
const STEP: Duration = Duration::from_millis(100);

/// A second of which the machine's host took less is one that tells of the server.
const CALM: f64 = 0.05;

/// The measures that [`put_calm`] fills.
pub fn calm_measures() -> [Measure; 2] {
    [
        measure(
            "calm_worst_share",
            "worst of the seconds of which the machine's host took less than 5 %, of their median",
            "%",
            Better::Higher,
        ),
        measure(
            "calm_seconds",
            "seconds of which the machine's host took less than 5 %",
            "",
            Better::Neutral,
        ),
    ]
}

/// Puts what the seconds that were left to this machine say, of each of which the rate and the stolen share
/// are given.
pub fn put_calm(values: &mut BTreeMap<String, f64>, rates: &[f64], stolen: &[f64]) {
    let calm = calm(rates, stolen);
    if let Some(seconds) = stats::summary(&calm).filter(|seconds| seconds.median > 0.0) {
        values.insert("calm_worst_share".to_owned(), 100.0 * seconds.min / seconds.median);
        values.insert("calm_seconds".to_owned(), seconds.count as f64);
    }
}

/// The rates of those seconds that were left to this machine.
fn calm(rates: &[f64], stolen: &[f64]) -> Vec<f64> {
    rates.iter().zip(stolen).filter(|(_, stolen)| **stolen < CALM).map(|(rate, _)| *rate).collect()
}

/// What the processors have done since the machine was started, in ticks of all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    /// Ticks in which a processor was ready and its host ran something else.
    stolen: u64,
    /// All ticks, idle ones included.
    all: u64,
}

impl Ticks {
    /// Until now; `None` where the system does not tell.
    pub fn now() -> Option<Ticks> {
        Ticks::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Reads a table with the layout of /proc/stat. What guests took is part of the first two numbers.
    fn parse(stat: &str) -> Option<Ticks> {
        const STOLEN: usize = 7;
        let numbers = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace();
        let numbers =
            numbers.take(STOLEN + 1).map(|number| number.parse().ok()).collect::<Option<Vec<u64>>>()?;
        Some(Ticks { stolen: *numbers.get(STOLEN)?, all: numbers.iter().sum() })
    }

    /// The share that was stolen since an earlier moment.
    pub fn stolen_since(&self, earlier: &Ticks) -> Option<f64> {
        let all = self.all.checked_sub(earlier.all).filter(|all| *all > 0)?;
        Some(self.stolen.saturating_sub(earlier.stolen) as f64 / all as f64)
    }
}

/// Looks at the processors all the time from when it begins until it ends or is dropped.
#[derive(Debug)]
pub struct Watch {
    /// Dropped, it ends the thread.
    end: Sender<()>,
    thread: JoinHandle<Vec<(Instant, Ticks)>>,
}

impl Watch {
    /// Begins.
    pub fn begin() -> Watch {
        let (end, ended) = mpsc::channel();
        let look = move || {
            let mut seen = Vec::new();
            loop {
                seen.extend(Ticks::now().map(|ticks| (Instant::now(), ticks)));
                if ended.recv_timeout(STEP) != Err(RecvTimeoutError::Timeout) {
                    return seen;
                }
            }
        };
        Watch { end, thread: std::thread::spawn(look) }
    }

    /// Ends, and tells the share that was stolen in each of so many seconds from `start` on; nothing where the system does not
    /// tell or the watch does not span them.
    pub fn end(self, start: Instant, seconds: usize) -> Vec<f64> {
        drop(self.end);
        by_second(&self.thread.join().unwrap_or_default(), start, seconds).unwrap_or_default()
    }
}

/// From looks in the order of their times.
fn by_second(seen: &[(Instant, Ticks)], start: Instant, seconds: usize) -> Option<Vec<f64>> {
    let (last, _) = seen.last()?;
    // the last look before a bound: a share is late by a step, or by more where a busy machine made the watch late
    let until = |second: usize| {
        let bound = start + Duration::from_secs(second as u64);
        let before = seen.partition_point(|(at, _)| *at <= bound).checked_sub(1)?;
        (bound <= *last + STEP * 3).then_some(seen[before].1)
    };
    (0..seconds).map(|second| until(second + 1)?.stolen_since(&until(second)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_ticks_are_the_eighth_number_and_guests_are_not_counted_twice() {
        let before = Ticks::parse("cpu  10 0 10 70 5 0 5 0 9 9\ncpu0 1 2 3\n").expect("a table");
        assert_eq!(before, Ticks { stolen: 0, all: 100 });
        let after = Ticks::parse("cpu  50 0 20 100 5 0 5 20 49 9\n").expect("a table");
        assert_eq!(after.stolen_since(&before), Some(0.2));
        assert_eq!(before.stolen_since(&before), None, "no time has passed");
        assert_eq!(before.stolen_since(&after), None, "it was started anew");
        for bad in ["", "cpu  1 2 3 4 5 6 7\n", "cpu  1 2 3 4 5 6 7 x\n", "intr 1 2 3 4 5 6 7 8\n"] {
            assert_eq!(Ticks::parse(bad), None, "{bad}");
        }
        assert!(Ticks::now().is_some());
    }

    #[test]
    fn each_second_has_what_was_stolen_in_it() {
        let start = Instant::now();
        let look = |ms: u64, stolen: u64| {
            // two processors: 0.2 ticks a millisecond
            (start + Duration::from_millis(ms), Ticks { stolen, all: ms / 5 })
        };
        let seen = [look(0, 0), look(950, 0), look(1050, 5), look(1600, 38), look(2100, 60), look(2900, 60)];
        let from = start + Duration::from_millis(10);
        let shares = by_second(&seen, from, 2).expect("they span two seconds");
        assert!((shares[0] - 0.0).abs() < 1e-9 && (shares[1] - 38.0 / 130.0).abs() < 1e-9, "{shares:?}");
        assert_eq!(by_second(&seen, from, 0), Some(Vec::new()));
        // the watch was late in the second one
        assert_eq!(by_second(&seen, from, 4), None, "the fourth second was not seen");
        let early = start.checked_sub(Duration::from_millis(1));
        assert_eq!(early.and_then(|early| by_second(&seen, early, 1)), None, "nor what was before");
        assert_eq!(by_second(&[], from, 1), None);
    }

    #[test]
    fn a_second_that_the_host_took_does_not_tell_of_the_server() {
        assert_eq!(calm(&[100.0, 40.0, 90.0], &[0.0, 0.3, 0.049]), [100.0, 90.0]);
        assert_eq!(calm(&[100.0], &[0.05]), [0.0; 0]);
        assert_eq!(calm(&[100.0, 90.0], &[]), [0.0; 0], "where nothing is known, nothing is said");
        let mut values = BTreeMap::new();
        put_calm(&mut values, &[100.0, 40.0, 100.0, 60.0], &[0.0, 0.3, 0.0, 0.0]);
        let measures = calm_measures().map(|measure| measure.key);
        assert_eq!(measures.map(|key| values.remove(&key)), [Some(60.0), Some(3.0)]);
        assert!(values.is_empty(), "{values:?}");
    }

    #[test]
    fn a_watch_sees_this_machine() {
        let watch = Watch::begin();
        std::thread::sleep(Duration::from_millis(50));
        let start = Instant::now();
        std::thread::sleep(Duration::from_millis(1100));
        let shares = watch.end(start, 1);
        assert!(shares.len() == 1 && (0.0..=1.0).contains(&shares[0]), "{shares:?}");
    }
}
