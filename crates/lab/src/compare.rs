//! What the runs say beyond their means: how noisy they are, and whether a server that chooses a setting by itself chooses
//! right.
//!
//! [`Noise`] is the standard deviation of a run, relative to the mean of its cell, pooled over all cells. Few repeats tell
//! little of one cell's deviation, but all cells together tell what this machine does to a run, and with that how far
//! two cells must lie apart before it means anything. Where cells take turns under one load, what the runs of a repeat
//! have in common is no noise: it happened to all of them.
//!
//! A [`Choice`] compares the level that claims to be right everywhere (`AUTO`) with the better of the fixed ones, at each
//! level of the other factors and for each server: run by run, so that what the machine did meanwhile happened to both. The
//! better one is chosen by its mean, after the fact. That favours it: the greater of two means of equal
//! settings is above both by 1/√π of a mean's standard deviation on average ([`Noise::favour`]).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::results::{Better, Cell, Measure, Results};
use crate::stats;

/// How much alike the repeats of a cell are, judged by all cells.
///
/// Of cells that take turns it is the residue of a table of repeats by cells, from which the means of both are taken.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    /// Standard deviation of one run, as a share of the mean of its cell.
    pub relative_deviation: f64,
    /// Degrees of freedom: runs beyond the first of each cell, and of turns beyond the first of each repeat.
    pub freedom: usize,
    /// Whether what the runs of a repeat have in common was left out.
    #[serde(default)]
    pub turns: bool,
    /// The runs of a cell, where it has all.
    pub repeats: u32,
    /// Half width of the 95 % confidence interval of the ratio of two cells that differ in nothing.
    pub ratio_half_width: f64,
    /// By how much the better of two equal settings seems to be better than a third.
    pub favour: f64,
}

impl Noise {
    /// Of one measure; `None` if no cell has two runs.
    pub fn of(results: &Results, measure: &str) -> Option<Noise> {
        let repeats = results.repeats();
        let turning = results.experiment.turning.as_deref();
        let (mut squares, mut freedom) = (0.0, 0);
        for cells in together(results, turning) {
            let mut table: Vec<Vec<Option<f64>>> =
                cells.iter().map(|cell| relative(&cell.values(measure, repeats))).collect();
            let mut known = table.iter().filter(|cell| cell.iter().any(Option::is_some)).count();
            if turning.is_some() {
                known += without_common(&mut table, repeats as usize).saturating_sub(1);
            }
            let runs: Vec<f64> = table.into_iter().flatten().flatten().collect();
            freedom += runs.len().saturating_sub(known);
            squares += runs.iter().map(|run| run.powi(2)).sum::<f64>();
        }
        if freedom == 0 {
            return None;
        }
        let relative_deviation = (squares / freedom as f64).sqrt();
        Some(Noise {
            relative_deviation,
            freedom,
            turns: turning.is_some(),
            repeats,
            ratio_half_width: stats::student_t(freedom)
                * relative_deviation
                * (2.0 / f64::from(repeats)).sqrt(),
            favour: relative_deviation / (std::f64::consts::PI * f64::from(repeats)).sqrt(),
        })
    }

    /// For people.
    pub fn shown(noise: Option<Noise>) -> String {
        let Some(noise) = noise else {
            return "Noise: unknown, because no cell ran twice; nothing here can be told from one run."
                .to_owned();
        };
        let what = if noise.turns {
            "turns have, beyond what those of a repeat have in common,"
        } else {
            "the runs of a cell have"
        };
        format!(
            "Noise: {what} a standard deviation of {} of their mean (all cells together, {} degrees of \
             freedom). With {} runs each, two cells that differ in nothing come to a ratio between {:.2} and {:.2} in 95 \
             of 100 experiments; what lies between says nothing.",
            percent(noise.relative_deviation),
            noise.freedom,
            noise.repeats,
            1.0 - noise.ratio_half_width,
            1.0 + noise.ratio_half_width
        )
    }
}

/// The cells in groups: those that take turns, or each by itself.
fn together<'a>(results: &'a Results, turning: Option<&str>) -> Vec<Vec<&'a Cell>> {
    let mut groups: Vec<Vec<&Cell>> = Vec::new();
    for cell in &results.cells {
        let beside = |group: &&mut Vec<&Cell>| turning.is_some_and(|factor| group[0].is_beside(cell, factor));
        match groups.iter_mut().find(beside) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}

/// By how much each is away from their mean, as a share of it. Nothing is, where the mean is 0 or there is none.
fn relative(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let sample: Vec<f64> = values.iter().copied().flatten().collect();
    let mean = stats::summary(&sample).map(|sample| sample.mean).filter(|mean| *mean != 0.0);
    values.iter().map(|value| Some((*value)? / mean? - 1.0)).collect()
}

/// Takes from each repeat what its runs have in common, and tells how many repeats have any.
fn without_common(table: &mut [Vec<Option<f64>>], repeats: usize) -> usize {
    let mut with_runs = 0;
    for repeat in 0..repeats {
        let runs: Vec<f64> = table.iter().filter_map(|cell| cell[repeat]).collect();
        let Some(runs) = stats::summary(&runs) else { continue };
        with_runs += 1;
        for run in table.iter_mut().filter_map(|cell| cell[repeat].as_mut()) {
            *run -= runs.mean;
        }
    }
    with_runs
}

/// A share, with a digit after the point where it is small.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() < 10.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// The level that claims to be right everywhere, and those among which it chooses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chooser {
    /// Its name, a level of the factor within a server.
    pub level: String,
    /// The fixed ones.
    pub among: Vec<String>,
}

/// How one server chose at one level of the other factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// The server.
    pub server: String,
    /// The levels of the other factors.
    pub levels: BTreeMap<String, String>,
    /// The level that chooses by itself.
    pub chooser: String,
    /// The better of the fixed ones, by its mean.
    pub better_level: String,
    /// Ratios of the two, of runs of the same repeat; none if one of the runs stood still.
    pub ratios: Vec<f64>,
    /// Their geometric mean.
    pub mean: Option<f64>,
    /// The mean's 95 % confidence interval; `None` of less than two ratios.
    pub interval: Option<(f64, f64)>,
    /// What follows.
    pub verdict: Verdict,
}

/// What a ratio and its spread say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing: a single run, or one that did not get anywhere.
    Unknown,
    /// The interval holds 1.
    NoDifference,
    /// Better than the better one, by more than the repeats differ.
    Ahead,
    /// Worse, by more than the repeats differ.
    Behind,
}

impl Verdict {
    /// What the interval of a ratio says.
    pub fn of(interval: Option<(f64, f64)>, better: Better) -> Verdict {
        let Some((low, high)) = interval else { return Verdict::Unknown };
        match (low > 1.0, high < 1.0, better) {
            (false, false, _) => Verdict::NoDifference,
            (true, _, Better::Lower) | (_, true, Better::Higher | Better::Neutral) => Verdict::Behind,
            _ => Verdict::Ahead,
        }
    }

    /// For people.
    pub fn shown(self) -> &'static str {
        match self {
            Verdict::Unknown => "cannot be told",
            Verdict::NoDifference => "no difference shown",
            Verdict::Ahead => "ahead, by more than the runs differ",
            Verdict::Behind => "behind, by more than the runs differ",
        }
    }
}

impl Choice {
    /// The least and the greatest of the ratios.
    pub fn range(&self) -> Option<(f64, f64)> {
        let of = |pick: fn(f64, f64) -> f64| self.ratios.iter().copied().reduce(pick);
        of(f64::min).zip(of(f64::max))
    }

    /// For the terminal.
    pub fn line(&self) -> String {
        let levels = self.levels.iter().map(|(factor, level)| format!(", {factor} {level}"));
        let interval =
            self.interval.map_or_else(String::new, |(low, high)| format!(" ({low:.2} to {high:.2})"));
        let ratio = match self.mean.zip(self.range()) {
            Some((mean, (least, greatest))) => {
                let count = self.ratios.len();
                format!(" {mean:.2}{interval}, runs {least:.2} to {greatest:.2}, n {count}")
            }
            None => ", a run stood still".to_owned(),
        };
        format!(
            "{}{}: {} / {}{ratio}: {}",
            self.server,
            levels.collect::<String>(),
            self.chooser,
            self.better_level,
            self.verdict.shown()
        )
    }
}

/// Every server's choices, by the first measure; none where nothing chooses.
pub fn choices(results: &Results) -> Vec<Choice> {
    let description = &results.experiment;
    let (Some(within), Some(chooser)) = (&description.within, &description.chooser) else {
        return Vec::new();
    };
    let Some(measure) = description.measures.first() else { return Vec::new() };
    let choosing = results.cells.iter().filter(|cell| cell.level(within) == chooser.level);
    let choice = |cell: &Cell| {
        let fixed = results.cells.iter().filter(|other| cell.is_beside(other, within));
        let fixed = fixed.filter(|other| chooser.among.iter().any(|level| level == other.level(within)));
        let better = best(fixed, measure)?;
        let repeats = results.repeats();
        let ratios =
            stats::ratios(&cell.values(&measure.key, repeats), &better.values(&measure.key, repeats));
        // no ratio, and no repeat that both have, are not the same
        let summary = match &ratios {
            Some(ratios) => Some(stats::ratio_summary(ratios)?),
            None => None,
        };
        let interval = summary.and_then(|summary| summary.interval);
        let levels = cell.levels.iter().filter(|(factor, _)| *factor != within);
        Some(Choice {
            server: cell.server.clone(),
            levels: levels.map(|(factor, level)| (factor.clone(), level.clone())).collect(),
            chooser: chooser.level.clone(),
            better_level: better.level(within).to_owned(),
            ratios: ratios.unwrap_or_default(),
            mean: summary.map(|summary| summary.mean),
            interval,
            verdict: Verdict::of(interval, measure.better),
        })
    };
    let mut choices: Vec<Choice> = choosing.filter_map(choice).collect();
    let place = |name: &str| results.servers.iter().position(|server| server.name == name);
    // stable: the cells' order stays within each server
    choices.sort_by_key(|choice| place(&choice.server));
    choices
}

/// The best of some cells by the mean of a measure.
pub fn best<'a>(candidates: impl Iterator<Item = &'a Cell>, measure: &Measure) -> Option<&'a Cell> {
    let means = candidates.filter_map(|cell| Some((cell, stats::summary(&cell.sample(&measure.key))?.mean)));
    let best = means.max_by(|(_, left), (_, right)| match measure.better {
        Better::Lower => right.total_cmp(left),
        Better::Higher | Better::Neutral => left.total_cmp(right),
    });
    best.map(|(cell, _)| cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{cell, results};

    fn of(auto: &[f64], on: &[f64], off: &[f64]) -> (Vec<Choice>, Option<Noise>) {
        let cells = vec![cell("a", "8", "ON", on), cell("a", "8", "OFF", off), cell("a", "8", "AUTO", auto)];
        let results = results(cells);
        (choices(&results), Noise::of(&results, "tps"))
    }

    #[test]
    fn a_choice_is_compared_with_the_better_of_the_fixed_ones_run_by_run() {
        let (choices, noise) = of(&[90.0, 99.0, 108.0], &[80.0, 90.0, 70.0], &[100.0, 110.0, 120.0]);
        let [choice] = choices.as_slice() else { panic!("{choices:?}") };
        assert_eq!(
            (choice.better_level.as_str(), choice.ratios.as_slice()),
            ("OFF", [0.9, 0.9, 0.9].as_slice())
        );
        assert_eq!(choice.verdict, Verdict::Behind, "the machine drifted, and both with it");
        assert_eq!(choice.levels, BTreeMap::from([("clients".to_owned(), "8".to_owned())]));
        assert_eq!(
            choice.line(),
            "a, clients 8: AUTO / OFF 0.90 (0.90 to 0.90), runs 0.90 to 0.90, n 3: behind, by more than the runs differ"
        );
        assert_eq!(noise.expect("three runs of each").freedom, 6);
    }

    #[test]
    fn what_the_repeats_do_not_bear_is_no_difference() {
        let (choices, _) = of(&[90.0, 120.0, 95.0], &[100.0, 101.0, 99.0], &[1.0, 1.0, 1.0]);
        assert_eq!(choices[0].verdict, Verdict::NoDifference);
        assert_eq!(
            (choices[0].better_level.as_str(), choices[0].range()),
            ("ON", Some((0.9, 120.0 / 101.0)))
        );
        let (choices, _) = of(&[120.0, 121.0, 122.0], &[100.0, 101.0, 102.0], &[1.0, 1.0, 1.0]);
        assert_eq!(choices[0].verdict, Verdict::Ahead);
        let (choices, noise) = of(&[50.0], &[100.0], &[90.0]);
        assert_eq!((choices[0].verdict, choices[0].interval), (Verdict::Unknown, None));
        assert!(
            choices[0].line().contains("0.50, runs 0.50 to 0.50, n 1: cannot be told"),
            "{}",
            choices[0].line()
        );
        assert_eq!(noise, None);
        assert!(Noise::shown(noise).starts_with("Noise: unknown"));
    }

    #[test]
    fn of_a_run_that_stood_still_nothing_can_be_told() {
        for auto in [[100.0, 0.0, 100.0], [100.0; 3]] {
            let stalled = if auto.contains(&0.0) { [90.0; 3] } else { [300.0, 0.0, 90.0] };
            let (choices, _) = of(&auto, &stalled, &[1.0, 1.0, 1.0]);
            assert_eq!((choices[0].mean, choices[0].verdict), (None, Verdict::Unknown));
            assert_eq!(choices[0].line(), "a, clients 8: AUTO / ON, a run stood still: cannot be told");
        }
    }

    #[test]
    fn a_server_without_the_setting_makes_no_choice() {
        let refused = Cell {
            outcome: crate::results::Outcome::NotAvailable(String::new()),
            ..cell("a", "8", "AUTO", &[])
        };
        assert_eq!(choices(&results(vec![cell("a", "8", "ON", &[1.0]), refused])), []);
        assert_eq!(choices(&results(vec![cell("a", "8", "AUTO", &[1.0])])), []);
    }

    #[test]
    fn noise_is_pooled_by_degrees_of_freedom() {
        // deviations 10 % of two runs beyond the first, 1 % of one: sqrt((2 * 0.01 + 0.0001) / 3)
        let (a, b) = ([90.0, 100.0, 110.0], [100.0 - 0.5f64.sqrt(), 100.0 + 0.5f64.sqrt()]);
        let results =
            results(vec![cell("a", "8", "ON", &a), cell("a", "9", "ON", &b), cell("a", "7", "ON", &[5.0])]);
        let noise = Noise::of(&results, "tps").expect("two cells with several runs");
        assert_eq!((noise.freedom, noise.repeats), (3, 3));
        assert!((noise.relative_deviation - 0.0819).abs() < 1e-4, "{noise:?}");
        assert!((noise.ratio_half_width - 3.182 * 0.0819 * (2.0f64 / 3.0).sqrt()).abs() < 1e-3, "{noise:?}");
        let shown = Noise::shown(Some(noise));
        assert!(shown.contains("8.2 % of their mean") && shown.contains("between 0.79 and 1.21"), "{shown}");
        assert_eq!(Noise::of(&results, "absent"), None);
    }

    #[test]
    fn what_turns_have_in_common_is_no_noise() {
        let cells = |turns: &[[f64; 3]]| {
            let cells =
                ["ON", "OFF", "AUTO"].iter().zip(turns).map(|(setting, runs)| cell("a", "8", setting, runs));
            let mut results = results(cells.chain([cell("b", "8", "ON", &[1.0, 9.0, 5.0])]).collect());
            results.experiment.turning = Some("setting".to_owned());
            Noise::of(&results, "tps")
        };
        // loads that differ by a half, settings by a tenth
        let noise = cells(&[[100.0, 150.0, 200.0], [110.0, 165.0, 220.0], [90.0, 135.0, 180.0]]);
        let noise = noise.expect("three of each");
        assert!(noise.relative_deviation < 1e-9 && noise.turns, "{noise:?}");
        assert_eq!(noise.freedom, 4, "(3 - 1) * (3 - 1), and nothing of a cell that is alone");
        assert!(Noise::shown(Some(noise)).starts_with("Noise: turns have, beyond"));
        // means 1; by hand: 0.03 0 -0.03, -0.03 0 0.03 and none: 4 * 0.0009 / 4
        let noise = cells(&[[103.0, 100.0, 97.0], [194.0, 200.0, 206.0], [50.0, 50.0, 50.0]]);
        assert!((noise.expect("three of each").relative_deviation - 0.03).abs() < 1e-9, "{noise:?}");
        let noise = cells(&[[103.0, 100.0, 97.0]]);
        assert_eq!(noise, None, "one setting alone has nothing to be compared with");
    }

    #[test]
    fn by_chance_the_better_of_two_equal_settings_is_ahead_by_what_the_noise_says() {
        // sums of 12 uniform numbers are close to normal; the generator is the minimal standard one
        let mut state: u64 = 20_261_123;
        let mut run = || {
            let sum: f64 = (0..12)
                .map(|_| {
                    state = state * 48_271 % 2_147_483_647;
                    state as f64 / 2_147_483_647.0
                })
                .sum();
            100.0 + (sum - 6.0)
        };
        let (mut total, experiments) = (0.0, 2000);
        for _ in 0..experiments {
            let mut runs = || [run(), run(), run()];
            let (choices, _) = of(&runs(), &runs(), &runs());
            total += choices[0].mean.expect("three ratios");
        }
        let favour = 0.01 / (std::f64::consts::PI * 3.0).sqrt();
        let average = total / f64::from(experiments);
        assert!((1.0 - average - favour).abs() < 0.0007, "{average}, expected {}", 1.0 - favour);
    }

    #[test]
    fn less_may_be_better() {
        let interval = Some((1.19, 1.21));
        assert_eq!(Verdict::of(interval, Better::Lower), Verdict::Behind);
        assert_eq!(Verdict::of(interval, Better::Higher), Verdict::Ahead);
    }
}
