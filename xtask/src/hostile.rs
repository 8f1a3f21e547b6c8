//! Hostile clients: mutated packets and mutated statements, on several connections at once.
//!
//! A batch follows from its seed. In each, [`CONNECTIONS`] threads send what a client must not: packets of
//! every command with bytes changed, fields cut short or oversized, wrong lengths and sequence numbers,
//! before and after the login, in compressed frames, and executions of prepared statements with wrong types
//! (see [`packets`]); or statements of the golden scripts and of the parser's corpus with tokens left out,
//! doubled, exchanged, nested and made extreme (see [`statements`]). What the server answers does not matter.
//! After each batch it must live, answer `SELECT 1` to a fresh session within a second, take no more than
//! [`RESIDENT_BYTES`], and have written no report of a panic. What was sent is kept in a file if not: `cargo
//! xtask soak --part hostile --seed N --rounds 1` sends it again, in the same order on each connection.
//!
//! Beside it stands its canary: a panic on purpose, whose report must be seen; and a share of what is sent
//! must be answered.
//!
//! `cargo xtask hostile` is the short form, `soak --part hostile --rounds N` the long one.

mod packets;
mod statements;

use std::io::Write as _;
use std::time::{Duration, Instant};

use palisade_base::prng::Prng;

use crate::Outcome;
use crate::client::{Answer, Client, execute};
use crate::process::target;
use crate::server::{Purpose, Server};
use statements::Corpus;

/// Connections that send at a time.
const CONNECTIONS: u64 = 4;
/// Packets that a connection of a batch of packets sends.
const PACKETS: u64 = 200;
/// Statements that a connection of a batch of statements sends.
const STATEMENTS: u64 = 60;
/// What the server may have of the machine's memory after a batch: a buffer pool of 64 MiB, connections, and
/// what their statements may have left to the allocator.
const RESIDENT_BYTES: u64 = 1 << 30;
/// How long a fresh session may wait for its answer.
const PATIENCE: Duration = Duration::from_secs(1);
/// Fresh sessions that must all wait too long before the server is taken to hang: a busy machine makes one
/// wait.
const ATTEMPTS: u32 = 3;
/// What the log says of a panic.
const REPORT: &str = "internal error";
const OPTIONS: &[&str] = &[
    "--innodb-buffer-pool-size=64M",
    "--max-allowed-packet=1M",
    "--connect-timeout=2",
    "--lock-wait-timeout=1",
    "--innodb-lock-wait-timeout=1",
    "--max-execution-time=1000",
];

/// The short form.
pub fn run() -> Outcome {
    rounds(1, 10)
}

/// So many batches from this seed on.
pub fn rounds(seed: u64, count: u64) -> Outcome {
    let corpus = Corpus::read()?;
    let mut server = Server::start_in(Purpose::Tests, "hostile", OPTIONS, &[("PALISADE_FAILURES", "1")])?;
    let mut tally = Tally { log_bytes: canary(&server)?, ..Tally::default() };
    let begun = Instant::now();
    for seed in seed..seed + count {
        prepare(server.port)?;
        let (sent, answered) = batch(seed, server.port, &corpus);
        if let Err(error) = check(&mut server, &mut tally) {
            let path = keep(seed, &sent)?;
            return Err(format!("seed {seed}: {error}\n{path} has what was sent"));
        }
        let sent = sent.iter().map(|sent| sent.len() as u64).sum::<u64>();
        let count = if of_packets(seed) { &mut tally.packets } else { &mut tally.statements };
        *count = [count[0] + sent, count[1] + answered];
        if (seed + 1).is_multiple_of(100) {
            println!("{}", tally.show(begun.elapsed()));
        }
    }
    println!("{}", tally.show(begun.elapsed()));
    // A run of a single batch may be one that the server hangs up on.
    if count > 3 && [tally.packets, tally.statements].iter().any(|[sent, answered]| answered * 4 < *sent) {
        return Err("less than a quarter was answered: most has never reached a session".into());
    }
    Ok(())
}

#[derive(Default)]
struct Tally {
    /// Sent, and answers to them.
    packets: [u64; 2],
    statements: [u64; 2],
    /// The log's length after the report that was made on purpose.
    log_bytes: usize,
    /// The most that the server has had.
    resident_bytes: u64,
    longest_answer: Duration,
}

impl Tally {
    fn show(&self, taken: Duration) -> String {
        format!(
            "{} packets ({} answers), {} statements ({} answers) in {} s; at most {} MiB; SELECT 1 after at most {} ms",
            self.packets[0],
            self.packets[1],
            self.statements[0],
            self.statements[1],
            taken.as_secs(),
            self.resident_bytes >> 20,
            self.longest_answer.as_millis()
        )
    }
}

fn of_packets(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// A panic on purpose, the report of which must be seen; the log's length behind it.
fn canary(server: &Server) -> Result<usize, String> {
    let mut client = Client::connect(server.port).map_err(|error| error.to_string())?;
    let answer = client.query("/* fail in session */").map_err(|error| error.to_string())?;
    if !matches!(answer, Answer::Failed(1105, ..)) {
        return Err(format!("a panic on purpose was answered: {answer}; has the server debug assertions?"));
    }
    let begun = Instant::now();
    while !server.log().contains(REPORT) {
        if begun.elapsed() > PATIENCE {
            return Err("the report of a panic on purpose is not in the log".into());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    // the rest of its stack
    std::thread::sleep(Duration::from_millis(100));
    Ok(server.log().len())
}

/// What the connections of a batch have sent, each in its order; and how many answers there were.
fn batch(seed: u64, port: u16, corpus: &Corpus) -> (Vec<Vec<Vec<u8>>>, u64) {
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                scope.spawn(move || {
                    let mut prng = Prng::new(seed.wrapping_mul(CONNECTIONS).wrapping_add(number));
                    match of_packets(seed) {
                        true => packets::send(&mut prng, port, PACKETS),
                        false => statements::send(&mut prng, port, corpus, STATEMENTS),
                    }
                })
            })
            .collect();
        let all = threads.into_iter().map(|thread| thread.join().expect("a sender does not panic"));
        let (sent, answered): (Vec<_>, Vec<u64>) = all.unzip();
        (sent, answered.iter().sum())
    })
}

/// An account that may change all data and no settings, and no schemas but those of the server.
fn prepare(port: u16) -> Outcome {
    let mut client = Client::connect(port).map_err(|error| format!("before a batch: {error}"))?;
    let schemas = "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA \
                   WHERE SCHEMA_NAME NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')";
    let Answer::Rows(rows) = client.query(schemas).map_err(|error| error.to_string())? else {
        return Err("the schemas cannot be listed".into());
    };
    for name in rows.into_iter().flatten().flatten() {
        execute(&mut client, &format!("DROP DATABASE IF EXISTS `{}`", name.replace('`', "``")))?;
    }
    for statement in [
        "DROP USER IF EXISTS 'hostile'@'%'",
        "CREATE USER 'hostile'@'%'",
        "GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, ALTER, INDEX, REFERENCES, LOCK TABLES ON *.* TO 'hostile'@'%'",
        "CREATE DATABASE hostile",
        "CREATE TABLE hostile.t (id INT PRIMARY KEY, v VARCHAR(20), j JSON, d DATETIME)",
        "INSERT INTO hostile.t VALUES (1, 'a', '[1]', '2024-02-29 01:02:03'), (2, 'b', NULL, NULL)",
    ] {
        execute(&mut client, statement)?;
    }
    Ok(())
}

/// What must hold after a batch.
fn check(server: &mut Server, tally: &mut Tally) -> Outcome {
    let mut attempt = 0;
    loop {
        if let Some(status) = server.ended() {
            return Err(format!("the server has ended: {status}\n{}", tail(&server.log())));
        }
        let begun = Instant::now();
        let answer = Client::connect(server.port).and_then(|mut client| client.value("SELECT 1"));
        let waited = begun.elapsed();
        attempt += 1;
        match answer {
            Ok(value) if value == "1" && waited <= PATIENCE => {
                tally.longest_answer = tally.longest_answer.max(waited);
                break;
            }
            _ if attempt < ATTEMPTS => {}
            Ok(value) => return Err(format!("SELECT 1: {value} after {} ms", waited.as_millis())),
            Err(error) => return Err(format!("SELECT 1: {error} after {} ms", waited.as_millis())),
        }
    }
    let resident = server.resident_bytes()?;
    tally.resident_bytes = tally.resident_bytes.max(resident);
    if resident > RESIDENT_BYTES {
        return Err(format!("the server has {} MiB", resident >> 20));
    }
    match server.log()[tally.log_bytes..].split_once(REPORT) {
        Some((_, report)) => Err(format!("the log has a report: {REPORT}{}", tail_of_report(report))),
        None => Ok(()),
    }
}

fn tail(text: &str) -> &str {
    let start = text.len().saturating_sub(3000);
    text.get(start..).unwrap_or(text)
}

fn tail_of_report(text: &str) -> &str {
    text.get(..3000).unwrap_or(text)
}

/// Keeps what was sent, one line for each packet.
fn keep(seed: u64, sent: &[Vec<Vec<u8>>]) -> Result<String, String> {
    let path = target().join(format!("hostile-{seed}.txt"));
    let write = || -> std::io::Result<()> {
        let mut file = std::fs::File::create(&path)?;
        for (number, sent) in sent.iter().enumerate() {
            writeln!(file, "connection {number}")?;
            for bytes in sent {
                writeln!(file, "{}", bytes.escape_ascii())?;
            }
        }
        Ok(())
    };
    write().map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path.display().to_string())
}
