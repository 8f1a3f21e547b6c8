//! Which processors the threads of a redo log may use, and how a server is told.
//!
//! A log thread is *isolated* when it has a processor that nobody else uses: not the server's other threads, and not the
//! load tool. Two servers can do that by different means:
//!
//! - variables ([`WRITER`], [`FLUSHER`], [`WORKERS`]) that take a list of processors, or
//! - from outside: the threads' ids are in performance_schema.threads, and the operating system moves them.
//!
//! What was changed is put back when the [`Applied`] placement goes.

use rustix::thread::CpuSet;

use crate::error::{Error, Result};
use crate::process::{self, Moved};
use crate::server::{Answer, Literal, Server};

/// Where the log's writer may run.
const WRITER: &str = "innodb_log_writer_affinity";
/// Where the log's flusher may run.
const FLUSHER: &str = "innodb_log_flusher_affinity";
/// Where the threads of sessions may run.
const WORKERS: &str = "innodb_worker_affinity";

/// Which threads have processors of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// None.
    Shared,
    /// Writer and flusher.
    Both,
    /// The writer.
    Writer,
    /// The flusher.
    Flusher,
}

/// The levels of the factor.
pub const PLACEMENTS: &[(&str, Placement)] = &[
    ("none isolated", Placement::Shared),
    ("writer and flusher", Placement::Both),
    ("writer only", Placement::Writer),
    ("flusher only", Placement::Flusher),
];

/// The processors of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// Of the writer.
    pub writer: Vec<usize>,
    /// Of the flusher.
    pub flusher: Vec<usize>,
    /// Of everybody else, the load tool included.
    pub others: Vec<usize>,
}

impl Plan {
    /// Shares out the processors; the isolated threads get the last ones. With two processors writer and flusher
    /// share one; with one nothing can be isolated.
    pub fn new(placement: Placement, cpus: &[usize]) -> Option<Plan> {
        let own = |count: usize| {
            let (others, own) = cpus.split_at(cpus.len().checked_sub(count)?);
            (!others.is_empty()).then(|| (others.to_vec(), own.to_vec()))
        };
        let (writer, flusher, others) = match placement {
            Placement::Shared => (cpus.to_vec(), cpus.to_vec(), cpus.to_vec()),
            Placement::Both => match own(2) {
                Some((others, own)) => (own[..1].to_vec(), own[1..].to_vec(), others),
                None => own(1).map(|(others, own)| (own.clone(), own, others))?,
            },
            Placement::Writer => own(1).map(|(others, own)| (own, others.clone(), others))?,
            Placement::Flusher => own(1).map(|(others, own)| (others.clone(), own, others))?,
        };
        Some(Plan { writer, flusher, others })
    }

    /// As the report has it.
    pub fn shown(&self) -> String {
        format!(
            "writer {}, flusher {}, others {}",
            list(&self.writer),
            list(&self.flusher),
            list(&self.others)
        )
    }
}

fn list(cpus: &[usize]) -> String {
    cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// A placement in force.
#[derive(Debug, Default)]
pub struct Applied {
    /// What was done besides setting variables, as one would type it.
    pub commands: Vec<String>,
    /// Where the load tool may run.
    pub load_cpus: Option<CpuSet>,
    /// Threads moved from outside.
    _moved: Moved,
}

/// Puts the server's threads in their places, or tells why it cannot.
pub fn apply(server: &mut Server, placement: Placement) -> Result<std::result::Result<Applied, String>> {
    let has_variables = server.variable(WRITER)?.is_some();
    if placement == Placement::Shared {
        if has_variables {
            // a placement of an earlier run goes
            for variable in [WRITER, FLUSHER, WORKERS] {
                if let Answer::Refused(reason) = server.set(variable, Literal::Text(""))? {
                    return Ok(Err(reason));
                }
            }
        }
        return Ok(Ok(Applied::default()));
    }
    let cpus = process::own_cpus();
    let Some(plan) = Plan::new(placement, &cpus) else {
        return Ok(Err("there is only one processor".to_owned()));
    };
    if has_variables { by_variables(server, &plan) } else { from_outside(server, &plan) }
}

fn by_variables(server: &mut Server, plan: &Plan) -> Result<std::result::Result<Applied, String>> {
    for (variable, cpus) in [(WRITER, &plan.writer), (FLUSHER, &plan.flusher), (WORKERS, &plan.others)] {
        if let Answer::Refused(reason) = server.set(variable, Literal::Text(&list(cpus)))? {
            return Ok(Err(reason));
        }
    }
    Ok(Ok(Applied { load_cpus: Some(process::cpu_set(&plan.others)), ..Applied::default() }))
}

fn from_outside(server: &mut Server, plan: &Plan) -> Result<std::result::Result<Applied, String>> {
    let Some(pid) = server.pid() else {
        return Ok(Err(format!(
            "it has no {WRITER}, and it does not run on this machine where the lab can see it"
        )));
    };
    let mut thread = |name: &str| -> Option<u32> {
        let statement = format!(
            "SELECT THREAD_OS_ID FROM performance_schema.threads WHERE NAME = 'thread/innodb/{name}'"
        );
        let id = server.value(&statement).ok().flatten()?.parse().ok()?;
        process::threads(pid).contains(&id).then_some(id)
    };
    let (Some(writer), Some(flusher)) = (thread("log_writer_thread"), thread("log_flusher_thread")) else {
        return Ok(Err(format!(
            "it has no {WRITER}, and no log_writer_thread and log_flusher_thread in performance_schema.threads"
        )));
    };
    let others = process::cpu_set(&plan.others);
    let mut moved = Moved::default();
    let place = |moved: &mut Moved| -> std::io::Result<()> {
        moved.process(pid, &others)?;
        moved.thread(writer, &process::cpu_set(&plan.writer))?;
        moved.thread(flusher, &process::cpu_set(&plan.flusher))
    };
    place(&mut moved)
        .map_err(|error| Error::check(&server.name, format!("its threads cannot be placed: {error}")))?;
    let commands = vec![
        format!("taskset --all-tasks --cpu-list --pid {} PID", list(&plan.others)),
        format!("taskset --cpu-list --pid {} LOG_WRITER_THREAD_OS_ID", list(&plan.writer)),
        format!("taskset --cpu-list --pid {} LOG_FLUSHER_THREAD_OS_ID", list(&plan.flusher)),
    ];
    Ok(Ok(Applied { commands, load_cpus: Some(others), _moved: moved }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn isolated_threads_share_with_nobody() {
        for count in 3..9 {
            let cpus: Vec<usize> = (0..count).map(|cpu| cpu * 2).collect();
            let both = Plan::new(Placement::Both, &cpus).expect("enough processors");
            assert_eq!((both.writer.len(), both.flusher.len(), both.others.len()), (1, 1, count - 2));
            let mut all = [both.others, both.writer, both.flusher].concat();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all, cpus);
            let writer = Plan::new(Placement::Writer, &cpus).expect("enough processors");
            assert!(!writer.others.contains(&writer.writer[0]));
            assert_eq!(writer.flusher, writer.others);
            let flusher = Plan::new(Placement::Flusher, &cpus).expect("enough processors");
            assert!(!flusher.others.contains(&flusher.flusher[0]));
            assert_eq!(flusher.writer, flusher.others);
        }
    }

    #[test]
    fn on_two_processors_writer_and_flusher_share_one() {
        let both = Plan::new(Placement::Both, &[4, 7]).expect("two processors");
        assert_eq!(both.shown(), "writer 7, flusher 7, others 4");
        assert_eq!(Plan::new(Placement::Shared, &[4]).expect("any").shown(), "writer 4, flusher 4, others 4");
    }

    #[test]
    fn one_processor_cannot_be_given_away() {
        for placement in [Placement::Both, Placement::Writer, Placement::Flusher] {
            assert_eq!(Plan::new(placement, &[0]), None, "{placement:?}");
        }
    }
}
