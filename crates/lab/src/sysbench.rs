//! sysbench 1.0: its command line, and what it prints.

use std::time::Duration;

use rustix::thread::CpuSet;

use crate::error::{Error, Result, tail};
use crate::spec::Address;
use crate::tool::{Invocation, SYSBENCH};

/// A load of sysbench against one server.
#[derive(Debug, Clone)]
pub struct Load {
    /// A script of sysbench's own, or the path of one.
    pub script: String,
    /// The schema, which exists.
    pub database: String,
    /// The script's options, as `name=value`.
    pub options: Vec<String>,
    /// Connections.
    pub clients: u32,
    /// How long a run takes, or [`NO_END`].
    pub seconds: u32,
    /// Whether the rates of every second are asked for.
    pub by_second: bool,
    /// The processors it may use; all when `None`.
    pub cpus: Option<CpuSet>,
}

/// What a run prints at its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Transactions.
    pub transactions: f64,
    /// Transactions per second.
    pub transaction_rate: f64,
    /// Statements.
    pub queries: f64,
    /// Statements per second.
    pub query_rate: f64,
    /// Errors that are part of the load, such as deadlocks.
    pub ignored_errors: f64,
    /// How long it took.
    pub seconds: f64,
    /// 95th percentile of a transaction's time, in milliseconds.
    pub p95_ms: f64,
    /// Transactions per second, second by second, if asked for. The last report may be of less than a second.
    pub by_second: Vec<f64>,
    /// How many transactions took so many milliseconds, from the shortest to the longest, if asked for by
    /// `histogram=on`.
    pub times: Vec<(f64, f64)>,
}

impl Measured {
    /// The time that so large a share of the transactions did not exceed, in milliseconds.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let all: f64 = self.times.iter().map(|(_, count)| count).sum();
        let mut sum = 0.0;
        let place = self.times.iter().find(|(_, count)| {
            sum += count;
            sum >= share * all
        });
        place.map(|(time, _)| *time)
    }
}

/// Seconds of a run that does not end by itself.
pub const NO_END: u32 = 0;

/// What the tool may take beyond the time it is told to run: connecting, and ending under overload.
const GRACE: Duration = Duration::from_secs(120);

/// What preparing may take.
const PREPARE_LIMIT: Duration = Duration::from_secs(1800);

impl Load {
    /// The command line of an action: `prepare`, `run` or `cleanup`.
    pub fn invocation(&self, address: &Address, action: &str) -> Invocation {
        let mut invocation = Invocation::new(&SYSBENCH)
            .arg(self.script.clone())
            .args(["--db-driver=mysql", "--mysql-ssl=off"])
            .arg(format!("--mysql-host={}", address.host))
            .arg(format!("--mysql-port={}", address.port))
            .arg(format!("--mysql-user={}", address.user))
            .arg(format!("--mysql-db={}", self.database))
            .args(self.options.iter().map(|option| format!("--{option}")))
            .arg(format!("--threads={}", self.clients))
            .arg(format!("--time={}", self.seconds));
        if self.by_second {
            invocation = invocation.arg("--report-interval=1");
        }
        if !address.password.is_empty() {
            let password = format!("--mysql-password={}", address.password);
            invocation = invocation.secret(password, "--mysql-password=...");
        }
        invocation.arg(action).on(self.cpus)
    }

    /// Runs `prepare`.
    pub fn prepare(&self, address: &Address) -> Result<()> {
        self.invocation(address, "prepare").run(PREPARE_LIMIT).map(drop)
    }

    /// Runs `cleanup`.
    pub fn cleanup(&self, address: &Address) -> Result<()> {
        self.invocation(address, "cleanup").run(PREPARE_LIMIT).map(drop)
    }

    /// Runs the load and reads what it measured.
    pub fn run(&self, address: &Address) -> Result<Measured> {
        let limit = Duration::from_secs(self.seconds.into()) + GRACE;
        parse(&self.invocation(address, "run").run(limit)?.all())
    }
}

/// Reads what `run` printed.
pub fn parse(printed: &str) -> Result<Measured> {
    let lacks =
        |what: &str| Error::Output { tool: SYSBENCH.program, what: what.to_owned(), printed: tail(printed) };
    let (reports, end) = printed.split_once("SQL statistics:").ok_or_else(|| lacks("SQL statistics:"))?;
    let value = |label: &str| -> Result<&str> {
        let mut lines = end.lines().map(str::trim);
        let rest = lines.find_map(|line| line.strip_prefix(label)).ok_or_else(|| lacks(label))?;
        Ok(rest.trim())
    };
    let number = |label: &str| -> Result<f64> {
        let text = value(label)?;
        let text = text.split([' ', '(']).next().unwrap_or_default();
        finite(text.strip_suffix('s').unwrap_or(text))
            .ok_or_else(|| lacks(&format!("number after '{label}'")))
    };
    let rate = |label: &str| -> Result<f64> {
        let inside = value(label)?
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(" per sec."))
            .map(|pair| pair.0);
        inside.and_then(finite).ok_or_else(|| lacks(&format!("rate after '{label}'")))
    };
    let mut by_second = Vec::new();
    for line in reports.lines().filter(|line| line.starts_with('[') && line.contains(" tps: ")) {
        let rate = line.split_once(" tps: ").and_then(|(_, rest)| rest.split(' ').next()).and_then(finite);
        by_second.push(rate.ok_or_else(|| lacks("rate of a second"))?);
    }
    let mut times = Vec::new();
    for line in reports.lines().filter(|line| line.contains(" |")) {
        let pair = line.split_once(" |").and_then(|(time, rest)| {
            Some((finite(time.trim())?, finite(rest.trim_start_matches(['*', ' ']))?))
        });
        times.push(pair.ok_or_else(|| lacks("count of a time"))?);
    }
    Ok(Measured {
        transactions: number("transactions:")?,
        transaction_rate: rate("transactions:")?,
        queries: number("queries:")?,
        query_rate: rate("queries:")?,
        ignored_errors: number("ignored errors:")?,
        seconds: number("total time:")?,
        p95_ms: number("95th percentile:")?,
        by_second,
        times,
    })
}

fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 16
Report intermediate results every 1 second(s)

Threads started!

[ 1s ] thds: 16 tps: 4021.52 qps: 24177.04 (r/w/o: 0.00/16085.06/8091.98) lat (ms,95%): 7.17 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 16 tps: 3980.99 qps: 23883.92 (r/w/o: 0.00/15921.95/7961.97) lat (ms,95%): 7.30 err/s: 0.00 reconn/s: 0.00
SQL statistics:
    queries performed:
        read:                            0
        write:                           32111
        other:                           16057
        total:                           48168
    transactions:                        8028   (4008.52 per sec.)
    queries:                             48168  (24051.10 per sec.)
    ignored errors:                      3      (1.50 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          2.0024s
    total number of events:              8028

Latency (ms):
         min:                                    0.61
         avg:                                    3.98
         max:                                   15.05
         95th percentile:                        7.17
         sum:                                31967.76
";

    #[test]
    fn a_run() {
        let measured = parse(PRINTED).expect("a whole report");
        let expected = Measured {
            transactions: 8028.0,
            transaction_rate: 4008.52,
            queries: 48168.0,
            query_rate: 24051.10,
            ignored_errors: 3.0,
            seconds: 2.0024,
            p95_ms: 7.17,
            by_second: vec![4021.52, 3980.99],
            times: Vec::new(),
        };
        assert_eq!(measured, expected);
    }

    #[test]
    fn quantiles_are_read_from_the_histogram() {
        let histogram = "\
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.020 |*************************                90
       0.047 |**                                       8
       1.303 |                                         2

SQL statistics:";
        let measured = parse(&PRINTED.replace("SQL statistics:", histogram)).expect("a whole report");
        assert_eq!(measured.times, [(0.02, 90.0), (0.047, 8.0), (1.303, 2.0)]);
        let quantiles = [0.5, 0.9, 0.95, 0.98, 0.99, 1.0].map(|share| measured.quantile_ms(share));
        assert_eq!(quantiles.map(Option::unwrap), [0.02, 0.02, 0.047, 0.047, 1.303, 1.303]);
        assert_eq!(parse(PRINTED).expect("a whole report").quantile_ms(0.5), None);
        let broken = PRINTED.replace("SQL statistics:", &histogram.replace("90", "many"));
        assert!(parse(&broken).is_err());
    }

    #[test]
    fn output_cut_off_at_any_line_says_what_is_missing() {
        let lines: Vec<&str> = PRINTED.lines().collect();
        let last = lines.iter().position(|line| line.contains("95th")).expect("the last line that is read");
        for count in 0..=last {
            let error = parse(&lines[..count].join("\n")).expect_err("cut off");
            assert!(error.to_string().starts_with("the output of sysbench has no "), "{error}");
        }
        assert!(parse(&lines[..=last].join("\n")).is_ok());
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for (good, bad, missing) in [
            ("8028   (", "many   (", "number after 'transactions:'"),
            ("(4008.52 per", "(nan per", "rate after 'transactions:'"),
            ("(24051.10 per sec.)", "", "rate after 'queries:'"),
            ("2.0024s", "s", "number after 'total time:'"),
            ("tps: 4021.52", "tps: inf", "rate of a second"),
        ] {
            assert!(PRINTED.contains(good));
            let error = parse(&PRINTED.replace(good, bad)).expect_err(bad).to_string();
            assert!(error.contains(missing), "{bad}: {error}");
        }
    }

    #[test]
    fn the_command_line_can_be_typed_and_hides_the_password() {
        let load = Load {
            script: "oltp_write_only".into(),
            database: "palisade_lab".into(),
            options: vec!["tables=2".into()],
            clients: 4,
            seconds: 3,
            by_second: true,
            cpus: None,
        };
        let address =
            Address { user: "root".into(), password: "pw".into(), host: "127.0.0.1".into(), port: 3306 };
        let shown = load.invocation(&address, "run").shown();
        assert_eq!(
            shown,
            "sysbench oltp_write_only --db-driver=mysql --mysql-ssl=off --mysql-host=127.0.0.1 --mysql-port=3306 \
             --mysql-user=root --mysql-db=palisade_lab --tables=2 --threads=4 --time=3 --report-interval=1 run \
             --mysql-password=..."
        );
    }
}
