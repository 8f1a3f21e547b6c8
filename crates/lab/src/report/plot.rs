//! Plots as inline SVG: bars with deviations and runs, and lines over time.
//!
//! Coordinates are computed here, colours come from the page's style sheet, so that a plot follows its theme.

use crate::report::{escape, number};
use crate::results::{Measure, Results};
use crate::stats;

const WIDTH: f64 = 1000.0;
const LEFT: f64 = 80.0;
const TOP: f64 = 10.0;
const HEIGHT: f64 = 260.0;
const COLOURS: usize = 8;
const LEGEND_LINE: f64 = 18.0;

/// A line of a plot over time: one value each second.
#[derive(Debug, Clone)]
pub struct Line {
    /// For the legend.
    pub name: String,
    /// Second by second.
    pub values: Vec<f64>,
}

/// One bar for every cell that has the measure: groups along the experiment's x factor, in the order of the cells.
pub fn bars(results: &Results, measure: &Measure) -> String {
    let x = &results.experiment.x;
    let groups = results.levels(x);
    let others: Vec<&str> = results
        .experiment
        .factors
        .iter()
        .map(|factor| factor.key.as_str())
        .filter(|key| *key != x && results.levels(key).len() > 1)
        .collect();
    let series_of = |cell: &crate::results::Cell| {
        let levels = others.iter().map(|key| cell.level(key).to_owned());
        std::iter::once(cell.server.clone()).chain(levels).collect::<Vec<_>>().join(" ")
    };
    let mut series: Vec<String> = Vec::new();
    // server by server, so that the bars of one stand together
    for server in &results.servers {
        for cell in results.cells.iter().filter(|cell| cell.server == server.name) {
            let name = series_of(cell);
            if !cell.sample(&measure.key).is_empty() && !series.contains(&name) {
                series.push(name);
            }
        }
    }
    // a deviation may reach beyond every run
    let tops =
        results.cells.iter().filter_map(|cell| stats::summary(&cell.sample(&measure.key))).map(|sample| {
            let deviation = sample.spread.map_or(0.0, |spread| spread.deviation);
            sample.max.max(sample.mean + deviation)
        });
    let highest = tops.fold(0.0, f64::max);
    if highest <= 0.0 {
        return String::new();
    }
    let scale = Scale::up_to(highest);
    let mut svg = scale.axis();
    let group_width = (WIDTH - LEFT) / groups.len() as f64;
    let bar_width = (group_width * 0.85 / series.len() as f64).min(60.0);
    for (place, group) in groups.iter().enumerate() {
        let middle = LEFT + group_width * (place as f64 + 0.5);
        let start = middle - bar_width * series.len() as f64 / 2.0;
        for cell in results.cells.iter().filter(|cell| cell.level(x) == *group) {
            let values = cell.sample(&measure.key);
            let Some(summary) = stats::summary(&values) else { continue };
            let name = series_of(cell);
            let number_of = series.iter().position(|known| *known == name).unwrap_or_default();
            let left = start + bar_width * number_of as f64;
            svg.push_str(&format!(
                "<rect class=\"f{}\" x=\"{left:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>\n",
                number_of % COLOURS,
                scale.y(summary.mean),
                bar_width * 0.9,
                scale.y(0.0) - scale.y(summary.mean),
                escape(&format!("{name}, {group}: {}", number(summary.mean)))
            ));
            let centre = left + bar_width * 0.45;
            if let Some(spread) = summary.spread {
                let low = scale.y((summary.mean - spread.deviation).max(0.0));
                let high = scale.y(summary.mean + spread.deviation);
                let (from, to) = (centre - 4.0, centre + 4.0);
                svg.push_str(&format!(
                    "<path class=\"error\" d=\"M{from:.1} {low:.1}H{to:.1}M{centre:.1} {low:.1}V{high:.1}M{from:.1} {high:.1}H{to:.1}\"/>\n"
                ));
            }
            for value in values {
                let y = scale.y(value);
                svg.push_str(&format!("<circle class=\"run\" cx=\"{centre:.1}\" cy=\"{y:.1}\" r=\"2\"/>\n"));
            }
        }
        svg.push_str(&format!(
            "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\n",
            TOP + HEIGHT + 16.0,
            escape(group)
        ));
    }
    let title = results.experiment.factors.iter().find(|factor| factor.key == *x);
    let title = title.map_or("", |factor| factor.title.as_str());
    finish(svg, title, &series)
}

/// Lines over time.
pub fn timeline(lines: &[Line]) -> String {
    let seconds = lines.iter().map(|line| line.values.len()).max().unwrap_or_default().max(2);
    let highest = lines.iter().flat_map(|line| &line.values).copied().fold(0.0, f64::max);
    let scale = Scale::up_to(highest.max(1.0));
    let mut svg = scale.axis();
    let x = |second: f64| LEFT + (WIDTH - LEFT - 10.0) * second / seconds as f64;
    for (place, line) in lines.iter().enumerate() {
        let points = line.values.iter().enumerate().map(|(second, value)| {
            // a value is of the second before its time
            format!("{:.1},{:.1}", x(second as f64 + 1.0), scale.y(*value))
        });
        let points: Vec<String> = points.collect();
        svg.push_str(&format!(
            "<polyline class=\"line s{}\" points=\"{}\"><title>{}</title></polyline>\n",
            place % COLOURS,
            points.join(" "),
            escape(&line.name)
        ));
    }
    let step = nice_step(seconds as f64);
    let mut second = 0.0;
    while second <= seconds as f64 {
        svg.push_str(&format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{second:.0}</text>\n",
            x(second),
            TOP + HEIGHT + 16.0
        ));
        second += step.max(1.0);
    }
    let names: Vec<String> = lines.iter().map(|line| line.name.clone()).collect();
    finish(svg, "seconds", &names)
}

fn finish(content: String, x_title: &str, legend: &[String]) -> String {
    let mut svg = content;
    let mut y = TOP + HEIGHT + 34.0;
    svg.push_str(&format!(
        "<text x=\"{:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{}</text>\n",
        (LEFT + WIDTH) / 2.0,
        escape(x_title)
    ));
    for (place, name) in legend.iter().enumerate() {
        y += LEGEND_LINE;
        svg.push_str(&format!(
            "<rect class=\"f{}\" x=\"{LEFT}\" y=\"{:.1}\" width=\"12\" height=\"12\"/><text x=\"{:.1}\" y=\"{y:.1}\">{}</text>\n",
            place % COLOURS,
            y - 10.0,
            LEFT + 18.0,
            escape(name)
        ));
    }
    let height = y + 10.0;
    format!("<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\">\n{svg}</svg>\n")
}

/// The y axis: from 0, so that bars' lengths compare.
struct Scale {
    top: f64,
    step: f64,
}

impl Scale {
    fn up_to(highest: f64) -> Scale {
        let step = nice_step(highest);
        Scale { top: (highest * 1.02 / step).ceil() * step, step }
    }

    fn y(&self, value: f64) -> f64 {
        TOP + HEIGHT * (1.0 - (value / self.top).min(1.0))
    }

    fn axis(&self) -> String {
        let mut svg = String::new();
        let mut value = 0.0;
        while value <= self.top * 1.001 {
            let y = self.y(value);
            svg.push_str(&format!("<path class=\"axis\" d=\"M{LEFT} {y:.1}H{WIDTH}\"/>"));
            svg.push_str(&format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\n",
                LEFT - 6.0,
                y + 4.0,
                number(value)
            ));
            value += self.step;
        }
        svg
    }
}

/// A step of 1, 2 or 5 times a power of ten that divides a range into about five.
fn nice_step(range: f64) -> f64 {
    let rough = range / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough).unwrap_or(10.0);
    factor * power
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests as tests_of_results;

    #[test]
    fn axes_have_round_steps_and_hold_everything() {
        for (highest, step) in [(1.0, 0.2), (7.0, 2.0), (43_000.0, 10_000.0), (99.0, 20.0), (0.04, 0.01)] {
            assert!((nice_step(highest) - step).abs() < step * 1e-9, "{highest}: {}", nice_step(highest));
            let scale = Scale::up_to(highest);
            assert!(
                scale.top >= highest && scale.top <= highest + 2.0 * scale.step,
                "{highest}: {}",
                scale.top
            );
            assert!(scale.y(highest) > TOP, "what does not fit is drawn at the top");
        }
    }

    #[test]
    fn a_deviation_beyond_every_run_is_drawn_in_full() {
        // mean 9.8, deviation 13.7: an axis for the greatest run would end at 20
        let results = tests_of_results::results(vec![tests_of_results::cell("a", "8", "ON", &[0.1, 19.5])]);
        let results = Results { servers: vec![server("a")], ..results };
        let svg = bars(&results, &results.experiment.measures[0]);
        let bar = svg.split("class=\"error\" d=\"M").nth(1).expect("an error bar");
        let top = bar.split_once('V').and_then(|(_, rest)| rest.split('M').next()).expect("its upper end");
        let top: f64 = top.parse().expect("a coordinate");
        assert!(top > TOP, "{bar}");
    }

    fn server(name: &str) -> crate::results::ServerFacts {
        crate::results::ServerFacts {
            name: name.to_owned(),
            origin: String::new(),
            version: String::new(),
            settings: std::collections::BTreeMap::new(),
            resident_mib: None,
        }
    }

    #[test]
    fn a_timeline_has_a_point_each_second() {
        let lines = [
            Line { name: "a <b>".to_owned(), values: vec![1.0, 5.0, 2.0] },
            Line { name: "empty".to_owned(), values: vec![] },
        ];
        let svg = timeline(&lines);
        let points = svg.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a line");
        assert_eq!(points.split(' ').count(), 3);
        assert!(svg.contains("a &lt;b&gt;") && !svg.contains("<b>"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }
}
