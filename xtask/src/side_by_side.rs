//! Several jobs at a time; a job that fails lets the others run, so that one run tells all.

use std::fmt::Display;
use std::sync::Mutex;

use crate::Outcome;

/// Runs the jobs, `at_a_time`, in the order in which they are given. Shows each job's text when it has ended,
/// behind its name. Fails if one of them fails, or if there are none, with their names; `what` they are is
/// for the message.
pub fn run<J: Display + Sync>(
    what: &str,
    jobs: &[J],
    at_a_time: usize,
    run: impl Fn(&J) -> Result<String, String> + Sync,
) -> Outcome {
    if jobs.is_empty() {
        return Err(format!("there are no {what}"));
    }
    let (queue, failures) = (Mutex::new(jobs.iter()), Mutex::new(Vec::new()));
    let next = || queue.lock().expect("no thread panics with the queue").next();
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some(job) = next() {
                    let (Ok(text) | Err(text)) = &run(job).inspect_err(|_| {
                        failures.lock().expect("no thread panics with the list").push(job.to_string());
                    });
                    println!("{job}: {}", text.trim_end());
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no thread panics with the list");
    match &failures[..] {
        [] => Ok(()),
        names => Err(format!("{} of {} {what} failed: {}", names.len(), jobs.len(), names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_fails_fails_all_and_lets_the_others_run() {
        let ran = Mutex::new(Vec::new());
        let one = |name: &&str| {
            ran.lock().unwrap().push(name.to_string());
            if *name == "bad" { Err("why".to_owned()) } else { Ok(String::new()) }
        };
        let outcome = run("jobs", &["good", "bad", "better"], 2, one);
        assert_eq!(outcome, Err("1 of 3 jobs failed: bad".to_owned()));
        assert_eq!(run("jobs", &["good"], 2, one), Ok(()));
        assert_eq!(run("jobs", &[], 2, one), Err("there are no jobs".to_owned()));
        let mut ran = ran.into_inner().unwrap();
        ran.sort_unstable();
        assert_eq!(ran, ["bad", "better", "good", "good"]);
    }
}
