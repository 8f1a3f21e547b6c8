//! The first server beside the better of the others: point by point along the x axis, in sum, and whether all
//! of them answer alike.
//!
//! Medians, because one of a few runs may have met something else on the machine; ratios of runs of the same
//! repeat, because what happened to the machine meanwhile happened to both. The better of the others is the
//! one with the lower (or higher) median at that point; in sum it is the one with the lower sum, over the
//! points that every server has.

use crate::results::{Better, Cell, Results};
use crate::{report, stats};

/// Where the first server stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The servers, the first one first.
    pub servers: Vec<String>,
    /// The points, in their order.
    pub points: Vec<Beside>,
    /// Each server's medians in sum, over the points that all of them have.
    pub sums: Vec<f64>,
    /// How many points those are.
    pub summed: usize,
    /// Which of the others has the better sum.
    better: usize,
    unit: String,
    title: String,
}

/// A point.
#[derive(Debug, Clone, PartialEq)]
pub struct Beside {
    /// Its level of the x axis.
    pub level: String,
    /// Each server's median; `None` where it has none.
    pub medians: Vec<Option<f64>>,
    /// Which of the others is the better one.
    pub better: Option<usize>,
    /// The first server over the better one: the median of the ratios of each repeat.
    pub ratio: Option<f64>,
    /// Answers that are not all the same: each with the server that gave it.
    pub answers: Vec<(String, String)>,
}

impl Standing {
    /// Of results whose first measure adds up; `None` of others, and of a single server.
    pub fn of(results: &Results) -> Option<Standing> {
        let measure = results.experiment.measures.first().filter(|_| results.experiment.sums)?;
        let servers: Vec<String> = results.servers.iter().map(|server| server.name.clone()).collect();
        if servers.len() < 2 {
            return None;
        }
        let levels = results.levels(&results.experiment.x);
        let points: Vec<Beside> = levels.into_iter().map(|level| beside(results, &servers, level)).collect();
        let whole: Vec<Vec<f64>> =
            points.iter().filter_map(|point| point.medians.iter().copied().collect()).collect();
        let sum = |server: usize| whole.iter().map(|medians| medians[server]).sum();
        let sums: Vec<f64> = (0..servers.len()).map(sum).collect();
        let better = the_better(&sums.iter().copied().map(Some).collect::<Vec<_>>(), measure.better)?;
        Some(Standing {
            points,
            sums,
            summed: whole.len(),
            better,
            servers,
            unit: measure.unit.clone(),
            title: measure.title.clone(),
        })
    }

    /// The first server's sum over the better one's.
    pub fn sum_ratio(&self) -> Option<f64> {
        let (ours, theirs) = (self.sums[0], self.sums[self.better]);
        (self.summed > 0 && theirs > 0.0).then(|| ours / theirs)
    }

    /// The point with the greatest ratio.
    pub fn worst(&self) -> Option<(&Beside, f64)> {
        let all = self.points.iter().filter_map(|point| Some((point, point.ratio?)));
        all.max_by(|left, right| left.1.total_cmp(&right.1))
    }

    /// The points that a server has nothing at.
    pub fn lacking(&self, server: usize) -> Vec<&str> {
        let lacks = self.points.iter().filter(|point| point.medians[server].is_none());
        lacks.map(|point| point.level.as_str()).collect()
    }

    /// All that in a sentence.
    pub fn sentence(&self) -> String {
        let mut text = format!("By {} (less is better), ", self.title);
        match self.sum_ratio() {
            Some(ratio) => text.push_str(&format!(
                "{} takes {} times what the better of the others, {}, takes for all {} that every server answered ({} {}, {} {})",
                self.servers[0],
                report::number(ratio),
                self.servers[self.better],
                self.summed,
                report::number(self.sums[0]),
                self.unit,
                report::number(self.sums[self.better]),
                self.unit,
            )),
            None => text.push_str("there is nothing that every server answered"),
        }
        if let Some((worst, ratio)) = self.worst() {
            let cheaper = self.points.iter().filter(|point| point.ratio.is_some_and(|ratio| ratio <= 1.0));
            text.push_str(&format!(
                "; at the worst, {}, it is {} times the better one there, and at {} of {} not more than that one",
                worst.level,
                report::number(ratio),
                cheaper.count(),
                self.points.iter().filter(|point| point.ratio.is_some()).count()
            ));
        }
        for (place, server) in self.servers.iter().enumerate() {
            let lacking = self.lacking(place);
            if !lacking.is_empty() {
                text.push_str(&format!("; {server} did not answer {}", lacking.join(", ")));
            }
        }
        let differing: Vec<&str> = self
            .points
            .iter()
            .filter(|point| !point.answers.is_empty())
            .map(|point| point.level.as_str())
            .collect();
        match differing.is_empty() {
            true => text.push_str(". All answers are the same."),
            false => text.push_str(&format!(". Answers differ: {}.", differing.join(", "))),
        }
        text
    }

    /// The rows of a table: a heading, the points, the sum.
    pub fn table(&self) -> Vec<Vec<String>> {
        let shown = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), report::number);
        let mut heading = vec![String::new()];
        heading.extend(self.servers.iter().map(|server| format!("{server}, {}", self.unit)));
        heading.push(format!("{} / the better one", self.servers[0]));
        let mut rows = vec![heading];
        for point in &self.points {
            let mut row = vec![point.level.clone()];
            row.extend(point.medians.iter().map(|median| shown(*median)));
            row.push(shown(point.ratio));
            rows.push(row);
        }
        let mut sum = vec![format!("sum of {}", self.summed)];
        sum.extend(self.sums.iter().map(|sum| shown(Some(*sum))));
        sum.push(shown(self.sum_ratio()));
        rows.push(sum);
        rows
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for (place, row) in self.table().into_iter().enumerate() {
            text.push_str(&format!("| {} |\n", row.join(" | ")));
            if place == 0 {
                text.push_str(&format!("|{}\n", "---|".repeat(row.len())));
            }
        }
        text
    }
}

/// Which of the servers but the first has the better value.
fn the_better(values: &[Option<f64>], better: Better) -> Option<usize> {
    let others = values.iter().enumerate().skip(1).filter_map(|(place, value)| Some((place, (*value)?)));
    let order = |left: &(usize, f64), right: &(usize, f64)| left.1.total_cmp(&right.1);
    let found = match better {
        Better::Higher => others.max_by(order),
        Better::Lower | Better::Neutral => others.min_by(order),
    };
    found.map(|(place, _)| place)
}

fn beside(results: &Results, servers: &[String], level: &str) -> Beside {
    let (key, better) = results
        .experiment
        .measures
        .first()
        .map_or(("", Better::Lower), |measure| (&measure.key, measure.better));
    let x = &results.experiment.x;
    let cells: Vec<Option<&Cell>> = servers
        .iter()
        .map(|server| results.cells.iter().find(|cell| cell.server == *server && cell.level(x) == level))
        .collect();
    let median = |cell: &Option<&Cell>| Some(stats::summary(&(*cell)?.sample(key))?.median);
    let medians: Vec<Option<f64>> = cells.iter().map(median).collect();
    let better = the_better(&medians, better);
    let ratio = better.and_then(|better| {
        let of = |cell: Option<&Cell>| Some(cell?.values(key, results.repeats()));
        let ratios = stats::ratios(&of(cells[0])?, &of(cells[better])?)?;
        Some(stats::summary(&ratios)?.median)
    });
    Beside { level: level.to_owned(), medians, better, ratio, answers: differing(servers, &cells) }
}

/// The answers of all runs with their servers, if they are not all the same.
fn differing(servers: &[String], cells: &[Option<&Cell>]) -> Vec<(String, String)> {
    let mut known: Vec<(String, String)> = Vec::new();
    for (server, cell) in servers.iter().zip(cells) {
        for answer in cell.iter().flat_map(|cell| cell.counted()).filter_map(|run| run.answer.clone()) {
            let one = (server.clone(), answer);
            if !known.contains(&one) {
                known.push(one);
            }
        }
    }
    let all_same = known.windows(2).all(|pair| pair[0].1 == pair[1].1);
    if all_same { Vec::new() } else { known }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ServerFacts;
    use crate::results::tests::{cell, results};

    fn three() -> Results {
        let mut results = results(vec![
            cell("p", "q1", "-", &[2.0, 4.0, 3.0]),
            cell("m", "q1", "-", &[1.0, 1.0, 1.0]),
            cell("n", "q1", "-", &[2.0, 2.0, 2.0]),
            cell("p", "q2", "-", &[1.0]),
            cell("m", "q2", "-", &[9.0]),
            cell("n", "q2", "-", &[2.0]),
            cell("p", "q3", "-", &[1.0]),
            cell("m", "q3", "-", &[]),
            cell("n", "q3", "-", &[4.0]),
        ]);
        let facts = |name: &str| {
            let (origin, version, settings) = Default::default();
            ServerFacts { name: name.to_owned(), origin, version, settings, resident_mib: None }
        };
        results.servers = ["p", "m", "n"].map(facts).to_vec();
        results.experiment.sums = true;
        results.experiment.measures[0].better = Better::Lower;
        results.experiment.measures[0].unit = "s".to_owned();
        results
    }

    #[test]
    fn the_better_one_is_another_at_each_point_and_in_sum() {
        let standing = Standing::of(&three()).expect("three servers");
        let ratios: Vec<Option<f64>> = standing.points.iter().map(|point| point.ratio).collect();
        assert_eq!(ratios, [Some(3.0), Some(0.5), Some(0.25)]);
        assert_eq!((standing.sums.clone(), standing.summed), (vec![4.0, 10.0, 4.0], 2));
        assert_eq!(standing.sum_ratio(), Some(1.0));
        assert_eq!(
            standing.sentence(),
            "By tps (less is better), p takes 1.00 times what the better of the others, n, takes for all 2 that every \
             server answered (4.00 s, 4.00 s); at the worst, q1, it is 3.00 times the better one there, and at 2 of 3 \
             not more than that one; m did not answer q3. All answers are the same."
        );
        assert!(standing.markdown().contains("| q3 | 1.00 | - | 4.00 | 0.250 |"), "{}", standing.markdown());
        assert!(standing.markdown().ends_with("| sum of 2 | 4.00 | 10.0 | 4.00 | 1.00 |\n"));
    }

    #[test]
    fn answers_that_differ_are_named_with_their_servers() {
        let mut results = three();
        for cell in &mut results.cells[..3] {
            let answer = if cell.server == "n" { "2 rows, b" } else { "2 rows, a" };
            cell.runs.iter_mut().for_each(|run| run.answer = Some(answer.to_owned()));
        }
        let standing = Standing::of(&results).expect("three servers");
        let differing = standing.points[0].answers.clone();
        let names: Vec<&str> = differing.iter().map(|(server, _)| server.as_str()).collect();
        assert_eq!(names, ["p", "m", "n"]);
        assert!(standing.sentence().ends_with(". Answers differ: q1."));
    }

    #[test]
    fn what_does_not_add_up_has_no_standing() {
        let mut results = three();
        results.experiment.sums = false;
        assert_eq!(Standing::of(&results), None);
    }
}
