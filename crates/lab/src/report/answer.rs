//! The answer to the experiment's question in one sentence, by its first measure.
//!
//! Of several servers it is how the first compares with each other one: the geometric mean of the ratios at
//! all points, and at how many of them it is ahead or behind by more than the runs differ; where the points
//! add up it is its sum over the better one's ([`Standing`]). Of one server it is how a setting that it
//! chooses by itself compares with the better fixed one, or how far its numbers lie apart.

use crate::compare::{Choice, Verdict};
use crate::report::table::{Point, points};
use crate::report::{capital, number};
use crate::results::{Better, Measure, Results};
use crate::standing::Standing;
use crate::stats::{self, RatioSummary};

/// The sentence.
pub fn sentence(results: &Results) -> String {
    let Some(measure) = results.experiment.measures.first() else {
        return "Nothing was measured.".to_owned();
    };
    if let Some(standing) = Standing::of(results) {
        return standing.sentence();
    }
    let all = points(results, measure);
    let by_server: Vec<String> =
        (1..results.servers.len()).filter_map(|place| between(results, measure, &all, place)).collect();
    if !by_server.is_empty() {
        let direction = match measure.better {
            Better::Lower => " (less is better)",
            Better::Higher | Better::Neutral => "",
        };
        return format!("By {}{direction}, {}.", measure.title, by_server.join("; "));
    }
    if !results.choices.is_empty() {
        return chosen(&results.choices);
    }
    alone(results, measure).unwrap_or_else(|| "Nothing was measured that can be compared.".to_owned())
}

/// The first server over another one.
fn between(results: &Results, measure: &Measure, points: &[Point<'_>], place: usize) -> Option<String> {
    let repeats = results.repeats();
    let of_points: Vec<RatioSummary> = points
        .iter()
        .filter_map(|point| {
            let (first, other) = (point.first?, (*point.others.get(place - 1)?)?);
            let ratios =
                stats::ratios(&first.values(&measure.key, repeats), &other.values(&measure.key, repeats))?;
            stats::ratio_summary(&ratios)
        })
        .collect();
    let (first, other) = (&results.servers.first()?.name, &results.servers.get(place)?.name);
    let verdicts = of_points.iter().map(|ratio| (Verdict::of(ratio.interval, measure.better), ratio.mean));
    let verdicts: Vec<(Verdict, f64)> = verdicts.collect();
    let means: Vec<f64> = of_points.iter().map(|ratio| ratio.mean).collect();
    let mean = stats::ratio_summary(&means)?.mean;
    let count = match means.len() {
        1 => String::new(),
        points => format!(" (geometric mean of {points} points)"),
    };
    Some(format!("{first} has {} times what {other} has{count}: {}", number(mean), told(&verdicts)))
}

/// "ahead at 3 points (1.20 to 2.05), behind at 1 (0.93)".
fn told(verdicts: &[(Verdict, f64)]) -> String {
    let words = [
        (Verdict::Ahead, "ahead at"),
        (Verdict::Behind, "behind at"),
        (Verdict::NoDifference, "no difference shown at"),
        (Verdict::Unknown, "no spread known at"),
    ];
    let mut parts = Vec::new();
    for (verdict, word) in words {
        let of: Vec<f64> =
            verdicts.iter().filter(|(known, _)| *known == verdict).map(|(_, mean)| *mean).collect();
        let least = of.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = of.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let point = if of.len() == 1 { "point" } else { "points" };
        match of.len() {
            0 => {}
            1 => parts.push(format!("{word} 1 {point} ({})", number(least))),
            count => {
                parts.push(format!("{word} {count} {point} ({} to {})", number(least), number(greatest)))
            }
        }
    }
    parts.join(", ")
}

/// A setting that servers choose by themselves, over the better of the fixed ones.
fn chosen(choices: &[Choice]) -> String {
    let verdicts: Vec<(Verdict, f64)> =
        choices.iter().filter_map(|choice| Some((choice.verdict, choice.mean?))).collect();
    let chooser = choices.first().map_or("", |choice| choice.chooser.as_str());
    match verdicts.is_empty() {
        true => format!("{chooser} over the better of the fixed settings: a run stood still."),
        false => format!("{chooser} over the better of the fixed settings: {}.", told(&verdicts)),
    }
}

/// A server's greatest number over its least.
fn alone(results: &Results, measure: &Measure) -> Option<String> {
    let servers = results.servers.iter().filter_map(|server| {
        let cells = results.cells.iter().filter(|cell| cell.server == server.name);
        let means = cells.filter_map(|cell| {
            let mean = stats::summary(&cell.sample(&measure.key))?.mean;
            Some((mean, super::levels(results, cell)))
        });
        let mut means: Vec<(f64, String)> = means.collect();
        means.sort_by(|left, right| left.0.total_cmp(&right.0));
        let (least, greatest) = (means.first()?, means.last()?);
        let unit = if measure.unit.is_empty() || measure.unit == "/s" {
            String::new()
        } else {
            format!(" {}", measure.unit)
        };
        let at = |(mean, levels): &(f64, String)| match levels.is_empty() {
            true => format!("{}{unit}", number(*mean)),
            false => format!("{}{unit} ({levels})", number(*mean)),
        };
        Some(match means.len() {
            1 => format!("{} has {}", server.name, at(least)),
            _ => format!("{} has between {} and {}", server.name, at(least), at(greatest)),
        })
    });
    let servers: Vec<String> = servers.collect();
    (!servers.is_empty()).then(|| format!("{}: {}.", capital(&measure.title), servers.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ServerFacts;
    use crate::results::tests::{cell, results};

    fn servers(names: &[&str]) -> Vec<ServerFacts> {
        let facts = |name: &&str| {
            let (origin, version, settings) = Default::default();
            ServerFacts { name: (*name).to_owned(), origin, version, settings, resident_mib: None }
        };
        names.iter().map(facts).collect()
    }

    #[test]
    fn the_first_server_is_told_against_each_other_one() {
        let mut results = results(vec![
            cell("a", "1", "-", &[200.0, 202.0]),
            cell("b", "1", "-", &[100.0, 101.0]),
            cell("a", "8", "-", &[300.0, 303.0]),
            cell("b", "8", "-", &[600.0, 606.0]),
        ]);
        results.servers = servers(&["a", "b"]);
        results.experiment.within = None;
        let title = results.experiment.measures[0].title.clone();
        assert_eq!(
            sentence(&results),
            format!(
                "By {title}, a has 1.00 times what b has (geometric mean of 2 points): ahead at 1 point (2.00), behind \
                 at 1 point (0.500)."
            )
        );
        results.experiment.measures[0].better = Better::Lower;
        assert!(sentence(&results).contains("(less is better)"));
        assert!(sentence(&results).contains("ahead at 1 point (0.500), behind at 1 point (2.00)"));
    }

    #[test]
    fn a_single_run_has_no_spread_and_no_runs_no_answer() {
        let mut results = results(vec![cell("a", "1", "-", &[200.0]), cell("b", "1", "-", &[100.0])]);
        results.servers = servers(&["a", "b"]);
        results.experiment.within = None;
        assert!(
            sentence(&results).ends_with("a has 2.00 times what b has: no spread known at 1 point (2.00).")
        );
        results.cells.clear();
        assert_eq!(sentence(&results), "Nothing was measured that can be compared.");
    }

    #[test]
    fn one_server_has_its_range() {
        let mut results = results(vec![cell("a", "1", "-", &[100.0]), cell("a", "8", "-", &[700.0])]);
        results.servers = servers(&["a"]);
        let answer = sentence(&results);
        assert!(
            answer.contains("a has between 100 (clients 1") && answer.contains("and 700 (clients 8"),
            "{answer}"
        );
    }
}
