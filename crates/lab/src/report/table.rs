//! The report's tables.

use std::collections::{BTreeMap, BTreeSet};

use crate::compare::{best, percent};
use crate::report::{Page, escape, number, ratio, sample};
use crate::results::{Cell, Measure, Outcome, Results};
use crate::standing::Standing;
use crate::stats;

/// A measure: a row for the levels of all factors, a column for each server.
pub fn measured(results: &Results, measure: &Measure) -> String {
    let mut html = String::from("<table>\n<tr>");
    for factor in &results.experiment.factors {
        html.push_str(&format!("<th>{}</th>", escape(&factor.title)));
    }
    for server in &results.servers {
        html.push_str(&format!("<th>{}</th>", escape(&server.name)));
    }
    html.push_str("</tr>\n");
    for levels in rows(results) {
        html.push_str("<tr>");
        for factor in &results.experiment.factors {
            let level = levels.get(&factor.key).map_or("", String::as_str);
            html.push_str(&format!("<th>{}</th>", escape(level)));
        }
        for server in &results.servers {
            let cell = results.cells.iter().find(|cell| cell.server == server.name && cell.levels == *levels);
            html.push_str(&shown(cell, measure));
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    html
}

/// The levels that some cell has, in the order of the cells.
fn rows(results: &Results) -> Vec<&BTreeMap<String, String>> {
    let mut rows: Vec<&BTreeMap<String, String>> = Vec::new();
    for cell in &results.cells {
        if !rows.contains(&&cell.levels) {
            rows.push(&cell.levels);
        }
    }
    rows
}

fn shown(cell: Option<&Cell>, measure: &Measure) -> String {
    let words = |text: &str| format!("<td class=\"none\">{text}</td>");
    match cell {
        None => words(""),
        Some(Cell { outcome: Outcome::NotAvailable(_), .. }) => words("not available"),
        Some(Cell { outcome: Outcome::Failed(_), .. }) => words("failed"),
        Some(cell) => sample(stats::summary(&cell.sample(&measure.key))),
    }
}

/// The setting that chooses by itself over the better of the others, the first server over each other, and each setting of
/// a server over its first, or what it keeps from level to level of the x axis where nothing is set.
pub fn ratios(page: &mut Page, results: &Results, measure: &Measure) {
    choices(page, results);
    if results.servers.len() > 1 {
        between_servers(page, results, measure);
    }
    let experiment = &results.experiment;
    within_servers(page, results, measure, experiment.within.as_ref().unwrap_or(&experiment.x));
}

/// The first server beside the better of the others, where the points add up; and the answers that differ.
pub fn standing(page: &mut Page, results: &Results) {
    let Some(standing) = Standing::of(results) else { return };
    page.element("h3", "Medians, and ratios to the better of the others");
    page.raw("<table>\n");
    for (place, row) in standing.table().iter().enumerate() {
        let cell = |(column, text): (usize, &String)| match place == 0 || column == 0 {
            true => format!("<th>{}</th>", escape(text)),
            false => format!("<td>{}</td>", escape(text)),
        };
        let cells: String = row.iter().enumerate().map(cell).collect();
        page.raw(&format!("<tr>{cells}</tr>\n"));
    }
    page.raw("</table>\n");
    for point in standing.points.iter().filter(|point| !point.answers.is_empty()) {
        let answers: Vec<String> =
            point.answers.iter().map(|(server, answer)| format!("{server}: {answer}")).collect();
        page.element("p", &format!("{}: answers differ: {}", point.level, answers.join("; ")));
    }
}

/// How servers that choose by themselves chose.
fn choices(page: &mut Page, results: &Results) {
    let (Some(within), Some(chooser)) = (&results.experiment.within, &results.experiment.chooser) else {
        return;
    };
    if results.choices.is_empty() {
        return;
    }
    let among = chooser.among.join(" and ");
    page.element("h3", &format!("{} over the better of {among}", chooser.level));
    let favour = results.noise.map_or_else(String::new, |noise| {
        format!(" here it is ahead of an equal one by {} on average;", percent(noise.favour))
    });
    page.element(
        "p",
        &format!(
            "Ratios of runs of the same repeat. The better one is chosen by its mean, after the fact, so that chance favours \
             it:{favour} {} is behind or ahead only where the interval does not hold 1.",
            chooser.level
        ),
    );
    let factors: Vec<_> = results.experiment.factors.iter().filter(|factor| factor.key != *within).collect();
    let mut heads = vec!["server"];
    heads.extend(factors.iter().map(|factor| factor.title.as_str()));
    heads.extend(["better", "ratio", "its runs", "what that says"]);
    let heads: String = heads.into_iter().map(|head| format!("<th>{}</th>", escape(head))).collect();
    page.raw(&format!("<table>\n<tr>{heads}</tr>\n"));
    for choice in &results.choices {
        let level = |key: &String| choice.levels.get(key).map_or("", String::as_str);
        let levels = factors.iter().map(|factor| format!("<th>{}</th>", escape(level(&factor.key))));
        let runs = choice.range().map_or_else(String::new, |(least, greatest)| {
            format!("{} to {}", number(least), number(greatest))
        });
        page.raw(&format!(
            "<tr><th>{}</th>{}<th>{}</th>{}<td>{runs}</td><td class=\"text\">{}</td></tr>\n",
            escape(&choice.server),
            levels.collect::<String>(),
            escape(&choice.better_level),
            ratio(stats::ratio_summary(&choice.ratios)),
            choice.verdict.shown()
        ));
    }
    page.raw("</table>\n");
}

fn between_servers(page: &mut Page, results: &Results, measure: &Measure) {
    let within = results.experiment.within.as_deref();
    let first = &results.servers[0];
    let factors: Vec<_> =
        results.experiment.factors.iter().filter(|factor| Some(factor.key.as_str()) != within).collect();
    page.element("h3", &format!("{} over the others", first.name));
    page.element(
        "p",
        match within {
            None => "Ratios of runs of the same repeat, which lie next to each other in time.",
            Some(_) => {
                "Each server at its best setting of that row, which the column names; ratios of runs of the same repeat. \
                 Choosing the best of several after the fact flatters a server, the more the more settings it has."
            }
        },
    );
    page.raw("<table>\n<tr>");
    for factor in &factors {
        page.element("th", &factor.title);
    }
    for other in &results.servers[1..] {
        page.element("th", &format!("{} / {}", first.name, other.name));
    }
    page.raw("</tr>\n");
    for point in points(results, measure) {
        page.raw("<tr>");
        for level in &point.levels {
            page.element("th", level);
        }
        for theirs in &point.others {
            page.raw(&compared(results, measure, point.first, *theirs, within));
        }
        page.raw("</tr>\n");
    }
    page.raw("</table>\n");
}

/// Where servers are compared: a level of each factor that is no setting of a server.
pub struct Point<'r> {
    /// The levels, in the order of the factors.
    pub levels: Vec<&'r str>,
    /// The first server's cell there; its best one where a setting varies.
    pub first: Option<&'r Cell>,
    /// Those of the other servers.
    pub others: Vec<Option<&'r Cell>>,
}

/// All points, in the order of the cells.
pub fn points<'r>(results: &'r Results, measure: &Measure) -> Vec<Point<'r>> {
    let within = results.experiment.within.as_deref();
    let factors: Vec<_> =
        results.experiment.factors.iter().filter(|factor| Some(factor.key.as_str()) != within).collect();
    let mut seen: BTreeSet<Vec<&str>> = BTreeSet::new();
    let mut points = Vec::new();
    for levels in rows(results) {
        let row: Vec<&str> =
            factors.iter().map(|factor| levels.get(&factor.key).map_or("", String::as_str)).collect();
        if !seen.insert(row.clone()) {
            continue;
        }
        let is_here =
            |cell: &&Cell| factors.iter().zip(&row).all(|(factor, level)| cell.level(&factor.key) == *level);
        let mut of_servers = results.servers.iter().map(|server| {
            let cells = results.cells.iter().filter(|cell| cell.server == server.name);
            best(cells.filter(is_here), measure)
        });
        let first = of_servers.next().flatten();
        let others = of_servers.collect();
        points.push(Point { levels: row, first, others });
    }
    points
}

fn compared(
    results: &Results,
    measure: &Measure,
    ours: Option<&Cell>,
    theirs: Option<&Cell>,
    within: Option<&str>,
) -> String {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return ratio(None) };
    let repeats = results.repeats();
    let mut html = quotient(&ours.values(&measure.key, repeats), &theirs.values(&measure.key, repeats));
    if let Some(within) = within {
        let settings =
            format!("<small>{} / {}</small></td>", escape(ours.level(within)), escape(theirs.level(within)));
        html = html.replace("</td>", &settings);
    }
    html
}

/// Ratios of runs of the same repeat.
fn quotient(ours: &[Option<f64>], theirs: &[Option<f64>]) -> String {
    match stats::ratios(ours, theirs) {
        Some(ratios) => ratio(stats::ratio_summary(&ratios)),
        None => "<td class=\"none\">a run stood still</td>".to_owned(),
    }
}

fn within_servers(page: &mut Page, results: &Results, measure: &Measure, within: &str) {
    let title = results.experiment.factors.iter().find(|factor| factor.key == within);
    let title = title.map_or(within, |factor| factor.title.as_str());
    let others: Vec<_> = results.experiment.factors.iter().filter(|factor| factor.key != within).collect();
    let repeats = results.repeats();
    let mut body = String::new();
    let mut base: Vec<&Cell> = Vec::new();
    for server in &results.servers {
        let cells = results.cells.iter().filter(|cell| cell.server == server.name);
        for cell in cells.filter(|cell| !cell.counted().is_empty()) {
            let same = |other: &&&Cell| {
                other.server == cell.server
                    && others.iter().all(|factor| other.level(&factor.key) == cell.level(&factor.key))
            };
            let Some(first) = base.iter().find(same) else {
                base.push(cell);
                continue;
            };
            let quotient =
                quotient(&cell.values(&measure.key, repeats), &first.values(&measure.key, repeats));
            let levels = others.iter().map(|factor| format!("<th>{}</th>", escape(cell.level(&factor.key))));
            body.push_str(&format!(
                "<tr><th>{}</th>{}<th>{} / {}</th>{quotient}</tr>\n",
                escape(&server.name),
                levels.collect::<String>(),
                escape(cell.level(within)),
                escape(first.level(within))
            ));
        }
    }
    if body.is_empty() {
        return;
    }
    page.element("h3", &format!("Within each server, by {title}"));
    let heads = others.iter().map(|factor| format!("<th>{}</th>", escape(&factor.title))).collect::<String>();
    page.raw(&format!(
        "<table>\n<tr><th>server</th>{heads}<th>{}</th><th>ratio</th></tr>\n{body}</table>\n",
        escape(title)
    ));
}

/// The servers' counters: events during a run, or a state after it.
pub fn counters(page: &mut Page, results: &Results) {
    let cells: Vec<&Cell> = results
        .cells
        .iter()
        .filter(|cell| cell.counted().iter().any(|run| !run.counters.is_empty()))
        .collect();
    if cells.is_empty() {
        return;
    }
    let names: BTreeSet<&String> =
        cells.iter().flat_map(|cell| cell.counted()).flat_map(|run| run.counters.keys()).collect();
    page.element("h2", "Counters of the redo log");
    page.element(
        "p",
        "information_schema.INNODB_METRICS: of counters the events during a run, of the others the value after it. Servers do not \
         agree on units.",
    );
    let mut head = String::from("<tr><th>counter</th>");
    for cell in &cells {
        let levels = super::levels(results, cell);
        head.push_str(&format!("<th>{}<br>{}</th>", escape(&cell.server), escape(&levels)));
    }
    page.raw(&format!("<table>\n{head}</tr>\n"));
    for name in names {
        let samples: Vec<Vec<f64>> = cells
            .iter()
            .map(|cell| {
                cell.counted().iter().filter_map(|run| run.counters.get(name)).map(|c| c.shown()).collect()
            })
            .collect();
        page.raw(&format!("<tr><th>{}</th>", escape(name)));
        for values in &samples {
            page.raw(&sample(stats::summary(values)));
        }
        page.raw("</tr>\n");
    }
    page.raw("</table>\n");
}

/// Versions and settings side by side.
pub fn servers(page: &mut Page, results: &Results) {
    page.element("h2", "Servers");
    page.raw("<table>\n<tr><th></th>");
    for server in &results.servers {
        page.element("th", &server.name);
    }
    page.raw("</tr>\n");
    let text = |value: &str| format!("<td class=\"text\">{}</td>", escape(value));
    let resident =
        |mib: Option<u64>| mib.map_or_else(|| "-".to_owned(), |mib| format!("{} MiB", number(mib as f64)));
    let versions: String = results.servers.iter().map(|server| text(&server.version)).collect();
    let origins: String = results.servers.iter().map(|server| text(&server.origin)).collect();
    let residents: String =
        results.servers.iter().map(|server| text(&resident(server.resident_mib))).collect();
    page.raw(&format!("<tr><th>version</th>{versions}</tr>\n<tr><th>origin</th>{origins}</tr>\n"));
    page.raw(&format!("<tr><th>memory in RAM at the end</th>{residents}</tr>\n"));
    let names: BTreeSet<&String> = results.servers.iter().flat_map(|server| server.settings.keys()).collect();
    for name in names {
        let values: Vec<Option<&String>> =
            results.servers.iter().map(|server| server.settings.get(name).and_then(Option::as_ref)).collect();
        let differs = values.windows(2).any(|pair| pair[0] != pair[1]);
        let row: String = values.iter().map(|value| text(value.map_or("-", String::as_str))).collect();
        let class = if differs { " class=\"differs\"" } else { "" };
        page.raw(&format!("<tr{class}><th>{}</th>{row}</tr>\n", escape(name)));
    }
    page.raw("</table>\n");
}

/// Where it ran.
pub fn machine(page: &mut Page, results: &Results) {
    let machine = &results.machine;
    let durable = machine.durable_write_us.map_or_else(|| "-".to_owned(), |us| format!("{} µs", number(us)));
    page.element("h2", "Machine");
    page.raw("<table>\n");
    for (name, value) in [
        ("processor", machine.processor.clone()),
        ("processors", machine.processors.to_string()),
        ("memory", format!("{} MiB", number(machine.memory_mib as f64))),
        ("kernel", machine.kernel.clone()),
        ("system", machine.system.clone()),
        ("load average at the start", machine.load_average.to_string()),
        ("file system of the lab's servers", machine.file_system.clone()),
        ("durable write of 4 KiB there, median", durable),
    ] {
        page.raw(&format!("<tr><th>{name}</th><td class=\"text\">{}</td></tr>\n", escape(&value)));
    }
    page.raw("</table>\n");
}
