//! Which processors a thread may run on.
//!
//! A [`Placement`] is what an administrator sets for a kind of thread; threads of that kind [enter](Placement::enter) it,
//! and are moved when it changes, from whichever thread changes it.

use std::io;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_setaffinity};

/// A list of processors; empty means all that the process may use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuList(Vec<usize>);

impl CpuList {
    /// Reads `0,2-3`, as in `taskset` and `cpuset`; white space around numbers is allowed. `None` if it is no such list.
    pub fn parse(text: &str) -> Option<CpuList> {
        if text.trim().is_empty() {
            return Some(CpuList::default());
        }
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last): (usize, usize) = (number(first)?, number(last)?);
            if first > last {
                return None;
            }
            cpus.extend(first..=last);
        }
        cpus.sort_unstable();
        cpus.dedup();
        Some(CpuList(cpus))
    }

    /// How many processors it names.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Whether the process may run on every one of them.
    pub fn is_available(&self) -> bool {
        allowed().is_ok_and(|allowed| self.0.iter().all(|cpu| allowed.is_set(*cpu)))
    }

    fn set(&self) -> io::Result<CpuSet> {
        if self.0.is_empty() {
            return allowed();
        }
        let mut set = CpuSet::new();
        self.0.iter().for_each(|cpu| set.set(*cpu));
        Ok(set)
    }
}

/// The number of a processor, among as many as the system can have.
fn number(text: &str) -> Option<usize> {
    let text = text.trim();
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|cpu| is_plain && *cpu < CpuSet::MAX_CPU)
}

/// What the process was allowed when it was first asked for, before any of its threads was placed.
fn allowed() -> io::Result<CpuSet> {
    static ALLOWED: OnceLock<CpuSet> = OnceLock::new();
    match ALLOWED.get() {
        Some(set) => Ok(*set),
        None => {
            let now = sched_getaffinity(None)?;
            Ok(*ALLOWED.get_or_init(|| now))
        }
    }
}

/// Where the threads of one kind run.
#[derive(Clone, Default)]
pub struct Placement(Arc<Mutex<Placed>>);

#[derive(Default)]
struct Placed {
    cpus: CpuList,
    threads: Vec<Pid>,
}

impl Placement {
    /// Where threads that enter run.
    pub fn new(cpus: CpuList) -> Placement {
        // Recorded before a thread is placed: those that it starts inherit its placement.
        let _ = allowed();
        Placement(Arc::new(Mutex::new(Placed { cpus, threads: Vec::new() })))
    }

    /// The calling thread is of this kind until what is returned is dropped. An error of the system leaves it where it is.
    pub fn enter(&self) -> io::Result<Stay> {
        let mut placed = self.0.lock();
        let thread = gettid();
        if placed.cpus.count() > 0 {
            sched_setaffinity(Some(thread), &placed.cpus.set()?)?;
        }
        placed.threads.push(thread);
        Ok(Stay { placement: self.clone(), thread })
    }

    /// Moves every thread of this kind, and those that enter later.
    pub fn set(&self, cpus: CpuList) -> io::Result<()> {
        let mut placed = self.0.lock();
        let set = cpus.set()?;
        for thread in &placed.threads {
            sched_setaffinity(Some(*thread), &set)?;
        }
        placed.cpus = cpus;
        Ok(())
    }
}

/// A thread's stay in a [`Placement`].
#[must_use]
pub struct Stay {
    placement: Placement,
    thread: Pid,
}

impl Drop for Stay {
    fn drop(&mut self) {
        // Its id may be another thread's soon.
        self.placement.0.lock().threads.retain(|thread| *thread != self.thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_taskset_reads_them() {
        let list = |text| CpuList::parse(text).map(|list| list.0);
        assert_eq!(list("0"), Some(vec![0]));
        assert_eq!(list("0,2-3"), Some(vec![0, 2, 3]));
        assert_eq!(list(" 3 , 1-2,2 "), Some(vec![1, 2, 3]));
        assert_eq!(list(""), Some(vec![]));
        for wrong in ["a", "1-", "-1", "3-1", "0,,1", ",", "0;1", "99999", "0x1", "+1", "1 2", "0-1-2"] {
            assert_eq!(list(wrong), None, "{wrong}");
        }
        assert!(CpuList::parse("").unwrap().is_available());
        assert!(!CpuList::parse("1023").unwrap().is_available());
    }

    #[test]
    fn a_thread_is_moved_while_it_runs_and_back() {
        let all = allowed().unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|cpu| all.is_set(*cpu)).unwrap();
        let only_first = CpuList::parse(&first.to_string()).unwrap();
        let placement = Placement::new(CpuList::default());
        let (started, checks) = (std::sync::mpsc::channel::<Pid>(), std::sync::mpsc::channel::<()>());
        let thread = std::thread::spawn({
            let (placement, started, checks) = (placement.clone(), started.0, checks.1);
            move || {
                let _stay = placement.enter().unwrap();
                started.send(gettid()).unwrap();
                checks.recv().unwrap();
            }
        });
        let id = started.1.recv().unwrap();
        let count = || sched_getaffinity(Some(id)).unwrap().count();
        assert_eq!(count(), all.count());
        placement.set(only_first.clone()).unwrap();
        assert!(count() == 1 && sched_getaffinity(Some(id)).unwrap().is_set(first));
        placement.set(CpuList::default()).unwrap();
        assert_eq!(count(), all.count());
        checks.0.send(()).unwrap();
        thread.join().unwrap();
        placement.set(only_first).unwrap();
        assert!(placement.0.lock().threads.is_empty(), "a thread that has ended is not moved");
    }
}
