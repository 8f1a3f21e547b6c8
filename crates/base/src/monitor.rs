//! INNODB_METRICS: metrics that can be switched on and off and reset, without a word to those who count.
//!
//! A metric counts all the time; that is one relaxed add. What MySQL's `innodb_monitor_*` variables do happens here, on
//! the reader's side: a monitor remembers where the metric stood when it was switched on, off and reset, and shows
//! differences.
//!
//! ```text
//!   metric    0 ───────── 40 ───────────── 70 ───────────── 75 ──────── 90
//!             on          reset            off              on          read
//!   COUNT                                  70 .............. 70          85   counted while on
//!   COUNT_RESET            0               30 .............. 30          45   the same, since the reset
//! ```
//!
//! MAX_COUNT and MIN_COUNT are, as in InnoDB, as good as the readings: of a gauge they are the greatest and the least value
//! that reading the table has found. A counter's greatest value is its last, and it has no least one.
//! Every monitor is on to begin with, because it costs nothing, but those of what is not counted, which are
//! never on.

use std::sync::{Mutex, PoisonError};

use crate::metric::{Kind, Metric};

/// What `SET GLOBAL innodb_monitor_...` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `innodb_monitor_enable`.
    Enable,
    /// `innodb_monitor_disable`.
    Disable,
    /// `innodb_monitor_reset`: the `..._RESET` columns begin anew.
    Reset,
    /// `innodb_monitor_reset_all`: so do the others. Only of monitors that are off.
    ResetAll,
}

/// One row of INNODB_METRICS. Times are seconds since 1970.
pub struct Reading {
    /// What is counted.
    pub metric: &'static Metric,
    /// Whether it is on.
    pub is_on: bool,
    /// What was counted while on; of a gauge, the value.
    pub count: i64,
    /// The greatest and least count, and the average in a second.
    pub spread: Spread,
    /// What was counted while on since the last reset.
    pub count_reset: i64,
    /// Likewise, since the last reset.
    pub spread_reset: Spread,
    /// When it was switched on.
    pub time_enabled: Option<i64>,
    /// When it was switched off.
    pub time_disabled: Option<i64>,
    /// Seconds from when it was switched on until now, or until it was switched off.
    pub time_elapsed: Option<i64>,
    /// When it was reset.
    pub time_reset: Option<i64>,
}

/// Greatest, least and average.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Spread {
    /// MAX_COUNT.
    pub max: Option<i64>,
    /// MIN_COUNT.
    pub min: Option<i64>,
    /// AVG_COUNT: counts in a second. A gauge has none.
    pub average: Option<f64>,
}

/// No metric, module or pattern of that name.
#[derive(Debug, PartialEq, Eq)]
pub struct Unknown;

/// The monitors of some metrics.
pub struct Monitors {
    monitors: Mutex<Vec<Monitor>>,
}

struct Monitor {
    metric: &'static Metric,
    is_on: bool,
    /// What was counted until it was last switched off; of a gauge, the last value.
    carried: u64,
    /// Where the metric stood when it was switched on.
    start: u64,
    /// COUNT at the last reset.
    mark: i64,
    range: Option<(i64, i64)>,
    range_reset: Option<(i64, i64)>,
    enabled: Option<i64>,
    disabled: Option<i64>,
    reset: Option<i64>,
}

impl Monitors {
    /// Monitors of `metrics`, all that are counted on since `now` and counting from 0.
    pub fn new(metrics: impl IntoIterator<Item = &'static Metric>, now: i64) -> Monitors {
        let monitors = metrics.into_iter().map(|metric| Monitor {
            metric,
            is_on: metric.kind != Kind::Uncounted,
            carried: 0,
            start: 0,
            mark: 0,
            range: None,
            range_reset: None,
            enabled: (metric.kind != Kind::Uncounted).then_some(now),
            disabled: None,
            reset: None,
        });
        Monitors { monitors: Mutex::new(monitors.collect()) }
    }

    fn with<T>(&self, work: impl FnOnce(&mut [Monitor]) -> T) -> T {
        work(&mut self.monitors.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Does `operation` to the metrics that `pattern` names: a metric, a module (`module_log`), `all`, or a name
    /// with wildcards. Gives why nothing was done to a metric that is named by itself, for the error log: as
    /// in MySQL, of several there may be some that are as they are to be.
    pub fn apply(&self, operation: Operation, pattern: &str, now: i64) -> Result<Vec<String>, Unknown> {
        self.with(|monitors| {
            let knows = monitors.iter().any(|monitor| is_module_like(monitor.metric.module, pattern));
            let chosen = monitors.iter_mut().filter(|monitor| is_named(monitor.metric, pattern));
            let (mut any, mut notes) = (knows, Vec::new());
            for monitor in chosen {
                any = true;
                let note = monitor.apply(operation, now);
                notes.extend(note.filter(|_| pattern.eq_ignore_ascii_case(monitor.metric.name)));
            }
            if any { Ok(notes) } else { Err(Unknown) }
        })
    }

    /// Every row, as of `now`.
    pub fn read(&self, now: i64) -> Vec<Reading> {
        self.with(|monitors| monitors.iter_mut().map(|monitor| monitor.read(now)).collect())
    }
}

/// Whether `pattern` stands for this metric, too.
fn is_named(metric: &Metric, pattern: &str) -> bool {
    let module = |name: &str| {
        let name = if name.eq_ignore_ascii_case("trx") { "transaction" } else { name };
        name.eq_ignore_ascii_case(metric.module)
    };
    match pattern.split_at_checked("module_".len()) {
        Some((prefix, name)) if prefix.eq_ignore_ascii_case("module_") && !name.contains('%') => module(name),
        _ if pattern.contains('%') => is_like(metric.name.as_bytes(), pattern.as_bytes()),
        _ => pattern.eq_ignore_ascii_case(metric.name) || pattern.eq_ignore_ascii_case("all"),
    }
}

/// Whether a pattern with wildcards stands for a module's name. MySQL lists modules among the counters: it accepts such a
/// pattern, and does nothing to the module's counters unless it stands for their names, too.
fn is_module_like(module: &str, pattern: &str) -> bool {
    pattern.contains('%') && is_like(format!("module_{module}").as_bytes(), pattern.as_bytes())
}

/// What `@@innodb_monitor_enable` and its like show after `pattern` was given to them: the name of a counter or a module, as it
/// is declared, or `all`. MySQL keeps no pattern there.
pub fn shown(pattern: &str) -> Option<String> {
    (!pattern.contains('%')).then(|| pattern.to_ascii_lowercase())
}

/// Whether `name` is like `pattern`: `%` stands for any characters, `_` for one, and after a backslash each for itself. What a `%` has taken is only ever
/// extended for the last one, so that no pattern takes long.
fn is_like(name: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut of) = (0, 0);
    // After the last `%`, and the first character that it has not taken.
    let mut last = None;
    while let Some(actual) = name.get(at) {
        let (wanted, is_escaped) = match pattern.get(of..).unwrap_or_default() {
            [b'\\', escaped, ..] => (Some(*escaped), true),
            rest => (rest.first().copied(), false),
        };
        match wanted {
            Some(b'%') if !is_escaped => {
                of += 1;
                last = Some((of, at));
            }
            Some(wanted) if wanted == b'_' && !is_escaped || wanted.eq_ignore_ascii_case(actual) => {
                at += 1;
                of += 1 + usize::from(is_escaped);
            }
            _ => {
                let Some((after, taken)) = last else { return false };
                (of, at) = (after, taken + 1);
                last = Some((after, at));
            }
        }
    }
    pattern.iter().skip(of).all(|byte| *byte == b'%')
}

impl Monitor {
    fn apply(&mut self, operation: Operation, now: i64) -> Option<String> {
        let name = self.metric.name;
        match operation {
            Operation::Enable if self.metric.kind == Kind::Uncounted => {
                return Some(format!("monitor {name} stays disabled: this server does not count that"));
            }
            Operation::Enable if self.is_on => return Some(format!("monitor {name} is already enabled")),
            Operation::Disable if !self.is_on => return Some(format!("monitor {name} is already disabled")),
            Operation::ResetAll if self.is_on => {
                return Some(format!("monitor {name} is on; it must be off to have all its values reset"));
            }
            Operation::Enable => {
                self.is_on = true;
                self.start = self.metric.value();
                (self.enabled, self.disabled) = (Some(now), None);
            }
            Operation::Disable => {
                self.carried = self.value();
                self.is_on = false;
                (self.disabled, self.reset) = (Some(now), None);
            }
            Operation::Reset => {
                self.mark = self.value() as i64;
                self.range_reset = None;
                self.reset = Some(now);
            }
            Operation::ResetAll => {
                (self.carried, self.mark) = (0, 0);
                (self.range, self.range_reset) = (None, None);
                (self.enabled, self.disabled, self.reset) = (None, None, None);
            }
        }
        None
    }

    /// COUNT.
    fn value(&self) -> u64 {
        match (self.is_on, self.metric.kind) {
            (true, Kind::Gauge) => self.metric.value(),
            (true, _) => self.carried.wrapping_add(self.metric.value().wrapping_sub(self.start)),
            (false, _) => self.carried,
        }
    }

    fn read(&mut self, now: i64) -> Reading {
        let is_gauge = self.metric.kind == Kind::Gauge;
        let count = self.value() as i64;
        let count_reset = if is_gauge { count } else { count.wrapping_sub(self.mark) };
        if self.is_on {
            widen(&mut self.range, count);
            widen(&mut self.range_reset, count_reset);
        }
        let elapsed = self.enabled.map(|since| self.disabled.unwrap_or(now) - since);
        let since_reset = self.reset.map(|since| now - since);
        let spread = |range: Option<(i64, i64)>, count: i64, seconds: Option<i64>| Spread {
            max: range.map(|(_, max)| max),
            min: range.map(|(min, _)| min).filter(|_| is_gauge),
            average: seconds.filter(|_| !is_gauge).map(|seconds| count as f64 / seconds.max(1) as f64),
        };
        Reading {
            metric: self.metric,
            is_on: self.is_on,
            count,
            spread: spread(self.range, count, elapsed),
            count_reset,
            spread_reset: spread(self.range_reset, count_reset, since_reset),
            time_enabled: self.enabled,
            time_disabled: self.disabled,
            time_elapsed: elapsed,
            time_reset: self.reset,
        }
    }
}

fn widen(range: &mut Option<(i64, i64)>, value: i64) {
    *range = Some(range.map_or((value, value), |(min, max)| (min.min(value), max.max(value))));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &'static str, module: &'static str, kind: Kind) -> &'static Metric {
        Box::leak(Box::new(Metric::new(name, module, "", kind)))
    }

    fn row(monitors: &Monitors, name: &str, now: i64) -> Reading {
        monitors.read(now).into_iter().find(|row| row.metric.name == name).unwrap()
    }

    #[test]
    fn what_is_as_it_is_to_be_is_told_of_a_metric_named_by_itself() {
        let monitors = Monitors::new([metric("log_writes", "log", Kind::Counter)], 100);
        let notes = |pattern| monitors.apply(Operation::Enable, pattern, 101).unwrap();
        assert_eq!(notes("LOG_writes"), ["monitor log_writes is already enabled"]);
        for several in ["module_log", "log%", "all", "%"] {
            assert_eq!(notes(several), [""; 0], "{several}");
        }
    }

    #[test]
    fn what_is_not_counted_stays_off() {
        let monitors = Monitors::new([metric("icp_match", "icp", Kind::Uncounted)], 100);
        let notes = |pattern| monitors.apply(Operation::Enable, pattern, 101).unwrap();
        assert_eq!(notes("icp_match"), ["monitor icp_match stays disabled: this server does not count that"]);
        for several in ["module_icp", "icp%", "all", "%"] {
            assert_eq!(notes(several), [""; 0], "{several}");
        }
        let off = row(&monitors, "icp_match", 110);
        assert_eq!((off.is_on, off.count, off.time_enabled, off.spread), (false, 0, None, Spread::default()));
    }

    /// The picture in the module's documentation.
    #[test]
    fn what_is_counted_while_off_does_not_show() {
        let writes = metric("log_writes", "log", Kind::Counter);
        let monitors = Monitors::new([writes], 100);
        let apply = |operation, now| monitors.apply(operation, "log_writes", now).unwrap();
        let counts = |now| {
            let row = row(&monitors, "log_writes", now);
            (row.count, row.count_reset)
        };
        writes.add(40);
        assert_eq!(counts(101), (40, 40));
        assert!(apply(Operation::Reset, 110).is_empty());
        assert_eq!(counts(110), (40, 0));
        writes.add(30);
        let on = row(&monitors, "log_writes", 120);
        assert_eq!(on.spread, Spread { max: Some(70), min: None, average: Some(3.5) });
        assert_eq!(on.spread_reset, Spread { max: Some(30), min: None, average: Some(3.0) });
        assert_eq!((on.time_enabled, on.time_elapsed, on.time_reset), (Some(100), Some(20), Some(110)));
        assert_eq!(apply(Operation::ResetAll, 120).len(), 1, "it is on");
        assert!(apply(Operation::Disable, 130).is_empty());
        writes.add(5);
        assert_eq!(counts(135), (70, 30));
        let off = row(&monitors, "log_writes", 140);
        assert_eq!((off.is_on, off.time_disabled, off.time_elapsed), (false, Some(130), Some(30)));
        assert!(apply(Operation::Enable, 150).is_empty());
        writes.add(15);
        assert_eq!(counts(151), (85, 45));
        apply(Operation::Disable, 160);
        assert!(apply(Operation::ResetAll, 161).is_empty());
        let fresh = row(&monitors, "log_writes", 170);
        assert_eq!((fresh.count, fresh.count_reset, fresh.spread.max), (0, 0, None));
        assert_eq!((fresh.time_enabled, fresh.time_elapsed), (None, None));
    }

    #[test]
    fn a_gauge_shows_its_value_and_the_range_of_readings() {
        let age = metric("log_lsn_checkpoint_age", "log", Kind::Gauge);
        let monitors = Monitors::new([age], 0);
        for value in [50, 20, 80, 60] {
            age.set(value);
            row(&monitors, "log_lsn_checkpoint_age", 1);
        }
        let seen = row(&monitors, "log_lsn_checkpoint_age", 2);
        assert_eq!((seen.count, seen.spread), (60, Spread { max: Some(80), min: Some(20), average: None }));
        monitors.apply(Operation::Reset, "all", 3).unwrap();
        assert_eq!(row(&monitors, "log_lsn_checkpoint_age", 4).spread_reset.min, Some(60));
        monitors.apply(Operation::Disable, "all", 5).unwrap();
        age.set(1);
        assert_eq!(row(&monitors, "log_lsn_checkpoint_age", 6).count, 60, "the last value while it was on");
    }

    #[test]
    fn names_modules_and_wildcards_choose() {
        let metrics = [
            metric("log_writes", "log", Kind::Counter),
            metric("log_writer_waits", "log", Kind::Counter),
            metric("trx_rw_commits", "transaction", Kind::Counter),
        ];
        let chosen = |pattern: &str| {
            let monitors = Monitors::new(metrics, 0);
            let known = monitors.apply(Operation::Disable, pattern, 1);
            let off: Vec<_> = monitors.read(2).iter().map(|row| u8::from(!row.is_on)).collect();
            known.map(|_| (off[0], off[1], off[2]))
        };
        assert_eq!(chosen("LOG_writes"), Ok((1, 0, 0)));
        assert_eq!(chosen("log_writ%"), Ok((1, 1, 0)));
        assert_eq!(chosen("%S"), Ok((1, 1, 1)));
        assert_eq!(chosen("%r%t%"), Ok((1, 1, 1)));
        assert_eq!(chosen("log\\_writ%"), Ok((1, 1, 0)));
        assert_eq!(chosen("%\\_\\w%s"), Ok((1, 1, 0)));
        for literal in ["log\\%writes%", "lo\\_%", "%\\", "log_writes\\%"] {
            assert_eq!(chosen(literal), Err(Unknown), "{literal}");
        }
        assert_eq!(chosen("module_log"), Ok((1, 1, 0)));
        assert_eq!(chosen("Module_Trx"), Ok((0, 0, 1)));
        assert_eq!(chosen("all"), Ok((1, 1, 1)));
        assert_eq!(chosen("%"), Ok((1, 1, 1)));
        assert_eq!(chosen("module_%"), Ok((0, 0, 0)));
        assert_eq!(chosen("MODULE_LO%"), Ok((0, 0, 0)));
        let hard = "%_".repeat(40);
        for unknown in
            [hard.as_str(), "%w%r%i%t%e%t", "", "log", "log_write", "module_", "module_icp", "no%", "alle"]
        {
            assert_eq!(chosen(unknown), Err(Unknown), "{unknown}");
        }
    }
}
