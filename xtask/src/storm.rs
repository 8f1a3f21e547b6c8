//! A storm of logins beside sessions at work: what these keep of their rate. Measures times: for a machine
//! that has nothing else to do.
//!
//! Sessions that are in ask for one row by its key, again and again: for some seconds alone, and for as long
//! while other clients log in and out, so many a second whatever the server makes of it. The median of such
//! pairs counts.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::Outcome;
use crate::client::{Client, execute};
use crate::server::Server;

/// Sessions at work.
const SESSIONS: u64 = 8;
/// Logins that are asked for each second, and the threads that do it.
const LOGINS: u32 = 1000;
const CALLERS: u32 = 32;
/// How long a rate is measured, and how often both are.
const TURN: Duration = Duration::from_secs(5);
const TURNS: usize = 5;
/// The part of their rate that sessions must keep.
const MUST: f64 = 0.8;
const ROWS: u64 = 10_000;

/// Measures.
pub fn run() -> Outcome {
    let server = Server::start("storm", &[])?;
    let mut client = Client::connect(server.port).map_err(|error| error.to_string())?;
    for statement in [
        "SET cte_max_recursion_depth = 100000",
        "CREATE DATABASE test",
        "CREATE TABLE test.t (id INT NOT NULL PRIMARY KEY, pad CHAR(100) NOT NULL)",
        &format!(
            "INSERT INTO test.t WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < {ROWS}) SELECT i, 'x' FROM s"
        ),
    ] {
        execute(&mut client, statement)?;
    }
    let mut kept = Vec::new();
    for _ in 0..TURNS {
        let (alone, _) = rates(server.port, false)?;
        let (beside, logins) = rates(server.port, true)?;
        println!(
            "{alone:.0} statements/s alone, {beside:.0} beside {logins:.0} logins/s: {:.2}",
            beside / alone
        );
        kept.push(beside / alone);
    }
    kept.sort_by(f64::total_cmp);
    let median = kept[TURNS / 2];
    println!("sessions keep {median:.2} of their rate, {MUST} are asked for");
    if median >= MUST {
        Ok(())
    } else {
        Err(format!("sessions keep {median:.2} of their rate during logins"))
    }
}

/// Statements a second, and logins a second if there are to be any.
fn rates(port: u16, has_storm: bool) -> Result<(f64, f64), String> {
    let is_over = AtomicBool::new(false);
    let (statements, logins, slots) = (AtomicU64::new(0), AtomicU32::new(0), AtomicU32::new(0));
    let connect = || Client::connect(port).map_err(|error| error.to_string());
    let clients = (0..SESSIONS).map(|_| connect()).collect::<Result<Vec<_>, _>>()?;
    let work = |mut client: Client, number: u64| -> Outcome {
        let mut id = number * ROWS / SESSIONS;
        while !is_over.load(Ordering::Relaxed) {
            id = id * 7 % ROWS + 1;
            execute(&mut client, &format!("SELECT pad FROM test.t WHERE id = {id}"))?;
            statements.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    let begun = Instant::now();
    let call = || -> Outcome {
        while !is_over.load(Ordering::Relaxed) {
            let slot = Duration::from_secs(1) * slots.fetch_add(1, Ordering::Relaxed) / LOGINS;
            std::thread::sleep(slot.saturating_sub(begun.elapsed()));
            drop(connect()?);
            logins.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let sessions =
            clients.into_iter().zip(0..).map(|(client, number)| scope.spawn(move || work(client, number)));
        let mut threads: Vec<_> = sessions.collect();
        if has_storm {
            threads.extend((0..CALLERS).map(|_| scope.spawn(call)));
        }
        std::thread::sleep(TURN);
        is_over.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".into())))
    })?;
    let seconds = begun.elapsed().as_secs_f64();
    let rate = |count: f64| count / seconds;
    Ok((rate(statements.into_inner() as f64), rate(f64::from(logins.into_inner()))))
}
