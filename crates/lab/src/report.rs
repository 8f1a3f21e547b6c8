//! The report: one HTML file without scripts and without anything from elsewhere, made from the results
//! alone.
//!
//! It goes from what counts to what explains it: the answer in a sentence, the ratios that it is made of -
//! how a server that chooses its setting by itself chose, between servers, between settings of one server -,
//! what happened second by second, notes, each measure as plot and table, counters, then everything needed to
//! doubt it or do it again: settings, machine, commands.
//!
//! Every mean stands with its 95 % confidence interval, standard deviation and number of runs, every ratio
//! with its interval; a single run is called one. Bars show standard deviations, and each run as a dot.

use std::collections::BTreeSet;
use std::path::Path;

use crate::compare::Noise;
use crate::error::{Error, Result};
use crate::results::{Better, Cell, Measure, Outcome, Results, Run};
use crate::stats::{RatioSummary, Summary};
use crate::tool::quoted;

mod answer;
mod plot;
mod table;

const STYLE: &str = include_str!("report/style.css");

/// Writes the report of results beside them.
pub fn write(results: &Results, path: &Path) -> Result<()> {
    std::fs::write(path, html(results)).map_err(|error| Error::file(path, error))
}

/// The report.
pub fn html(results: &Results) -> String {
    let experiment = &results.experiment;
    let mut page = Page::default();
    page.raw("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    page.raw(&format!(
        "<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        escape(&experiment.title)
    ));
    page.element("h1", &experiment.title);
    page.element("p", &experiment.question);
    let noise = Noise::shown(results.noise);
    page.raw(&format!("<p class=\"answer\">{}</p>\n", escape(&answer::sentence(results))));
    if results.quick {
        let short = "The short form: it shows that the experiment works. Its numbers are no measurement.";
        page.raw(&format!("<p class=\"warning\">{} {}</p>\n", escape(short), escape(&noise)));
    } else {
        page.raw(&format!("<p class=\"meta\">{}</p>\n", escape(&noise)));
    }
    if let Some(measure) = experiment.measures.first().filter(|measure| is_measured(results, measure)) {
        page.element("h2", &format!("Ratios: {}", heading(measure)));
        table::standing(&mut page, results);
        table::ratios(&mut page, results, measure);
    }
    seconds(&mut page, results);
    notes(&mut page, results);
    for measure in experiment.measures.iter().filter(|measure| is_measured(results, measure)) {
        page.element("h2", &heading(measure));
        page.raw(&plot::bars(results, measure));
        page.raw(&table::measured(results, measure));
    }
    page.element("h2", "How it was measured");
    page.raw(&format!("<p class=\"meta\">{}</p>\n", escape(&circumstances(results))));
    table::counters(&mut page, results);
    table::servers(&mut page, results);
    table::machine(&mut page, results);
    commands(&mut page, results);
    page.raw("</body>\n</html>\n");
    page.text
}

fn is_measured(results: &Results, measure: &Measure) -> bool {
    results.cells.iter().any(|cell| !cell.sample(&measure.key).is_empty())
}

/// HTML as it grows.
#[derive(Debug, Default)]
struct Page {
    text: String,
}

impl Page {
    fn raw(&mut self, html: &str) {
        self.text.push_str(html);
    }

    fn element(&mut self, name: &str, text: &str) {
        self.raw(&format!("<{name}>{}</{name}>\n", escape(text)));
    }
}

/// Text that may stand in HTML, in attributes as well.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// A number with about four digits that mean something, thousands set apart.
pub fn number(value: f64) -> String {
    let size = value.abs();
    let decimals = if size >= 100.0 || value == 0.0 {
        0
    } else if size >= 10.0 {
        1
    } else if size >= 1.0 {
        2
    } else {
        3
    };
    let plain = format!("{value:.decimals$}");
    let (whole, fraction) = plain.split_once('.').map_or((plain.as_str(), None), |(w, f)| (w, Some(f)));
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut grouped = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction {
        Some(fraction) => format!("{sign}{grouped}.{fraction}"),
        None => format!("{sign}{grouped}"),
    }
}

/// A sample as HTML: never a mean without its spread, or without saying that none can be told.
fn sample(summary: Option<Summary>) -> String {
    match summary {
        None => "<td class=\"none\">-</td>".to_owned(),
        Some(Summary { mean, spread: None, .. }) => {
            format!("<td>{} <small>one run, spread unknown</small></td>", number(mean))
        }
        Some(Summary { count, mean, median, spread: Some(spread), .. }) => format!(
            "<td>{} ± {} <small>median {}, sd {}, n {count}</small></td>",
            number(mean),
            number(spread.confidence),
            number(median),
            number(spread.deviation)
        ),
    }
}

/// Ratios as HTML: never a mean without its interval, or without saying that none can be told.
fn ratio(summary: Option<RatioSummary>) -> String {
    match summary {
        None => sample(None),
        Some(RatioSummary { count, mean, interval: None }) => {
            format!("<td>{} <small>n {count}, spread unknown</small></td>", number(mean))
        }
        Some(RatioSummary { count, mean, interval: Some((low, high)) }) => {
            format!("<td>{} <small>{} to {}, n {count}</small></td>", number(mean), number(low), number(high))
        }
    }
}

fn heading(measure: &Measure) -> String {
    let direction = match measure.better {
        Better::Higher => " (more is better)",
        Better::Lower => " (less is better)",
        Better::Neutral => "",
    };
    let title = capital(&measure.title);
    // the title of a rate says per second
    let unit = match measure.unit.as_str() {
        "" | "/s" => String::new(),
        unit => format!(", {unit}"),
    };
    format!("{title}{unit}{direction}")
}

/// With a capital letter at the beginning.
fn capital(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get(..1).map(str::to_uppercase) {
        text.replace_range(..1, &first);
    }
    text
}

fn circumstances(results: &Results) -> String {
    let sizes = results.parameters.iter().map(|(name, value)| format!("{name} {value}"));
    format!(
        "{}, took {} s. {}. ± is the half width of the mean's 95 % confidence interval (Student's t), sd the sample standard \
         deviation, n the number of runs. Ratios are geometric means, with their 95 % confidence interval. Bars show sd, \
         dots the runs.",
        results.started,
        number(results.took_s),
        sizes.collect::<Vec<_>>().join(", ")
    )
}

fn notes(page: &mut Page, results: &Results) {
    // one note for all cells that a server refused for the same reason
    let mut refused: Vec<(&str, String, Vec<String>)> = Vec::new();
    for cell in &results.cells {
        let reason = match &cell.outcome {
            Outcome::Measured => continue,
            Outcome::NotAvailable(reason) => format!("not available: {reason}"),
            Outcome::Failed(reason) => format!("failed: {reason}"),
        };
        let place = levels(results, cell);
        match refused.iter_mut().find(|(server, known, _)| *server == cell.server && *known == reason) {
            Some((_, _, places)) => places.push(place),
            None => refused.push((&cell.server, reason, vec![place])),
        }
    }
    let refused = refused.into_iter().map(|(server, reason, places)| {
        let places: Vec<String> = places.into_iter().filter(|place| !place.is_empty()).collect();
        let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join("; ")) };
        format!("{server}{places}: {reason}")
    });
    let all: Vec<String> = results.notes.iter().cloned().chain(refused).collect();
    if all.is_empty() {
        return;
    }
    page.element("h2", "Notes");
    page.raw("<ul>\n");
    for note in all {
        page.element("li", &note);
    }
    page.raw("</ul>\n");
}

/// The levels of a cell, of factors that vary.
fn levels(results: &Results, cell: &Cell) -> String {
    let varying = results.experiment.factors.iter().filter(|factor| results.levels(&factor.key).len() > 1);
    let levels = varying.map(|factor| format!("{} {}", factor.title, cell.level(&factor.key)));
    levels.collect::<Vec<_>>().join(", ")
}

/// A cell by its server and its levels.
fn name(results: &Results, cell: &Cell) -> String {
    let levels = levels(results, cell);
    if levels.is_empty() { cell.server.clone() } else { format!("{}, {levels}", cell.server) }
}

/// The runs second by second, where there are such.
fn seconds(page: &mut Page, results: &Results) {
    let lines = |values: &dyn Fn(&Run) -> Vec<f64>| -> Vec<plot::Line> {
        let runs = results.cells.iter().flat_map(|cell| cell.counted().iter().map(move |run| (cell, run)));
        let line = |(cell, run): (&Cell, &Run)| plot::Line {
            name: if results.repeats() > 1 {
                format!("{}, repeat {}", name(results, cell), run.repeat)
            } else {
                name(results, cell)
            },
            values: values(run),
        };
        runs.map(line).filter(|line| !line.values.is_empty()).collect()
    };
    let rates = lines(&|run| run.by_second.clone());
    if !rates.is_empty() {
        page.element("h2", "Transactions per second, second by second");
        page.raw(&plot::timeline(&rates));
    }
    let stolen = lines(&|run| run.stolen_by_second.iter().map(|share| 100.0 * share).collect());
    if !stolen.is_empty() {
        page.element("h3", "Processor time that the machine's host took meanwhile, %");
        page.raw(&plot::timeline(&stolen));
    }
    let runs = results.cells.iter().flat_map(|cell| cell.counted());
    let titles: BTreeSet<&String> = runs.flat_map(|run| run.lines.keys()).collect();
    for title in titles {
        page.element("h3", &capital(title));
        page.raw(&plot::timeline(&lines(&|run| run.lines.get(title).cloned().unwrap_or_default())));
    }
}

fn commands(page: &mut Page, results: &Results) {
    page.element("h2", "Commands");
    page.element("p", "The experiment:");
    let words: Vec<String> = results.arguments.iter().map(|word| quoted(word)).collect();
    page.raw(&format!("<pre>{}</pre>\n", escape(&words.join(" "))));
    page.element("p", &format!("Made with {}. One run of each cell:", results.tools.join("; ")));
    let mut seen = BTreeSet::new();
    page.raw("<pre>");
    for cell in &results.cells {
        for command in &cell.commands {
            if seen.insert(command) {
                page.raw(&format!("{}\n", escape(command)));
            }
        }
    }
    page.raw("</pre>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::ServerFacts;
    use crate::results::tests::{cell, results};
    use crate::stats;

    #[test]
    fn numbers_are_readable() {
        for (value, shown) in [
            (0.0, "0"),
            (0.1234, "0.123"),
            (1.005, "1.00"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1234.5, "1,234"),
            (1_234_567.0, "1,234,567"),
            (-1234.0, "-1,234"),
            (-0.5, "-0.500"),
        ] {
            assert_eq!(number(value), shown);
        }
    }

    #[test]
    fn a_mean_of_several_has_its_spread_and_one_run_says_so() {
        assert_eq!(sample(stats::summary(&[5.0])), "<td>5.00 <small>one run, spread unknown</small></td>");
        let two = sample(stats::summary(&[10.0, 12.0]));
        assert_eq!(two, "<td>11.0 ± 12.7 <small>median 11.0, sd 1.41, n 2</small></td>");
        assert_eq!(sample(None), "<td class=\"none\">-</td>");
    }

    #[test]
    fn what_a_server_keeps_along_the_x_axis_is_told_where_nothing_is_set() {
        let mut results =
            results(vec![cell("a", "8", "-", &[100.0, 100.0]), cell("a", "16", "-", &[90.0, 90.0])]);
        let (origin, version, settings) = Default::default();
        results.servers =
            vec![ServerFacts { name: "a".to_owned(), origin, version, settings, resident_mib: None }];
        results.experiment.factors.truncate(1);
        results.experiment.within = None;
        let page = html(&results);
        let kept = page.split("Within each server, by clients").nth(1).expect("such a table");
        assert!(kept.contains("<th>16 / 8</th><td>0.900 <small>0.900 to 0.900, n 2</small>"), "{kept}");
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    }
}
