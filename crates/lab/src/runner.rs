//! Runs an experiment: every cell as often as asked, in rounds.
//!
//! The order within a round is level by level, the servers next to each other; every other round runs
//! backwards. A machine that gets slower during the experiment thus slows all servers alike, and none is
//! always the one after. Cells whose loads go on at once make a stage: their runs are turns, all others
//! halted meanwhile.
//!
//! A cell that its server refuses is tried once. One that fails is not tried again, and the others go on: an
//! experiment of hours is not lost to one server. Nor are hours spent on a server that has gone: its other
//! cells fail at once. An interruption ends the experiment, and what was measured until then is reported.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::error::{Error, Result};
use crate::experiment::{Attempt, Bench, Experiment, Levels, Scale, Start};
use crate::guardian::Guardian;
use crate::machine;
use crate::notes::Notes;
use crate::ongoing::Ongoing;
use crate::results::{Cell, Outcome, Results, Run, SCHEMA, ServerFacts};
use crate::server::{Nursery, PATIENCE, Server};
use crate::spec::ServerSpec;
use crate::steal::Ticks;
use crate::tool;

/// What to run against what.
#[derive(Debug)]
pub struct Order {
    /// The servers; ratios are of the first over the others.
    pub servers: Vec<ServerSpec>,
    /// Whether it is the short form.
    pub quick: bool,
    /// The sizes.
    pub scale: Scale,
    /// Levels to which the experiment is confined, each with its factor.
    pub only: Vec<(String, String)>,
    /// The program of servers to start, where their specification names none.
    pub program: Option<PathBuf>,
    /// Where servers have their data; the system's folder for temporary files when `None`.
    pub work_dir: Option<PathBuf>,
    /// Where the scripts of loads go: beside the results, so that its commands can be typed.
    pub output: PathBuf,
    /// The command line, for the report.
    pub arguments: Vec<String>,
}

/// Runs the experiment.
pub fn run(experiment: &dyn Experiment, order: &Order) -> Result<Results> {
    let tools = experiment.tools().iter().map(|tool| tool.find().and_then(|_| tool.version()));
    let tools = tools.collect::<Result<Vec<String>>>()?;
    check_names(&order.servers)?;
    let levels = confined(experiment.levels(&order.scale), &order.only)?;
    let scale = order.scale.confined(&levels);
    experiment.check(&scale)?;
    let folder = temporary(order.work_dir.as_deref())?;
    let guardian = Guardian::new(folder.path())?;
    let started = jiff::Timestamp::now();
    let clock = Instant::now();
    let machine = machine::describe(folder.path());
    let bench = Bench { scale: &scale, scripts: &order.output, guardian: &guardian };
    let settings = experiment.settings();
    let nursery = Nursery {
        folder: folder.path(),
        program: order.program.as_deref(),
        settings: &settings,
        guardian: &guardian,
        patience: PATIENCE,
    };

    let mut servers = Vec::new();
    for spec in &order.servers {
        servers.push(Server::open(spec, &nursery)?);
    }
    let mut facts = servers.iter_mut().map(|server| server.facts()).collect::<Result<Vec<ServerFacts>>>()?;
    let mut notes = Notes::default();
    notes.of_machine(&machine);
    for server in &mut servers {
        crate::tell!("preparing {}", server.name);
        notes.extend(experiment.prepare(server, &bench)?);
    }

    let mut cells = plan(experiment, &mut servers, &levels)?;
    let mut stages = stages(experiment, &scale, &cells);
    let progress = progress(cells.len() as u64 * u64::from(scale.repeats));
    let gone = vec![None; servers.len()];
    let mut rounds = Rounds { experiment, bench: &bench, progress: &progress, order: 0, gone };
    let before = Ticks::now();
    if let Err(problem) = rounds.all(&mut servers, &mut stages, &mut cells) {
        notes.extend([format!("The experiment did not run to its end: {problem}")]);
        for Planned { cell, .. } in &mut cells {
            never_run(cell, &problem);
        }
    }
    progress.finish_and_clear();
    notes.of_stolen(Ticks::now().zip(before).and_then(|(now, before)| now.stolen_since(&before)));

    for (server, facts) in servers.iter().zip(&mut facts) {
        facts.resident_mib = server.pid().and_then(crate::process::resident_mib);
        server.note_changes(facts);
    }
    notes.of_settings(&facts);
    for server in servers {
        let name = server.name.clone();
        notes.extend(server.close().into_iter().map(|problem| format!("{name}: {problem}")));
    }
    let results = Results {
        schema: SCHEMA.to_owned(),
        experiment: experiment.description(),
        started: started.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        took_s: clock.elapsed().as_secs_f64(),
        quick: order.quick,
        arguments: order.arguments.clone(),
        parameters: scale.parameters(),
        machine,
        tools,
        servers: facts,
        cells: cells.into_iter().map(|planned| planned.cell).collect(),
        notes: notes.0,
        noise: None,
        choices: Vec::new(),
    };
    Ok(results.concluded())
}

fn check_names(servers: &[ServerSpec]) -> Result<()> {
    if servers.is_empty() {
        return Err(Error::Usage("name at least one server, as in --server palisade=spawn".to_owned()));
    }
    for (place, spec) in servers.iter().enumerate() {
        if servers[..place].iter().any(|earlier| earlier.name == spec.name) {
            return Err(Error::Usage(format!("two servers are called '{}'", spec.name)));
        }
    }
    Ok(())
}

fn temporary(parent: Option<&Path>) -> Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("palisade-lab-");
    match parent {
        Some(parent) => builder.tempdir_in(parent).map_err(|error| Error::file(parent, error)),
        None => builder.tempdir().map_err(|error| Error::file(&std::env::temp_dir(), error)),
    }
}

/// A cell, and the place of its server.
struct Planned {
    server: usize,
    cell: Cell,
}

/// Those levels that the command line asks for.
fn confined(mut levels: Vec<Levels>, only: &[(String, String)]) -> Result<Vec<Levels>> {
    for (factor, level) in only {
        let of = |levels: &Levels| levels.get(factor).cloned();
        let known: BTreeSet<String> = levels.iter().filter_map(of).collect();
        if known.is_empty() {
            let factors: BTreeSet<&str> =
                levels.iter().flatten().map(|(factor, _)| factor.as_str()).collect();
            let factors: Vec<&str> = factors.into_iter().collect();
            let has = if factors.is_empty() { "nothing".to_owned() } else { factors.join(", ") };
            return Err(Error::Usage(format!("no factor is called '{factor}'; what varies: {has}")));
        }
        if !known.contains(level) {
            let has = known.into_iter().collect::<Vec<String>>().join(", ");
            return Err(Error::Usage(format!(
                "there is no {factor} '{level}' to confine it to; there is: {has}"
            )));
        }
        levels.retain(|levels| of(levels).as_ref() == Some(level));
    }
    Ok(levels)
}

fn plan(experiment: &dyn Experiment, servers: &mut [Server], levels: &[Levels]) -> Result<Vec<Planned>> {
    let mut cells = Vec::new();
    for levels in levels {
        for (place, server) in servers.iter_mut().enumerate() {
            if experiment.concerns(server, levels)? {
                let cell = Cell {
                    server: server.name.clone(),
                    levels: levels.clone(),
                    outcome: Outcome::Measured,
                    runs: Vec::new(),
                    commands: Vec::new(),
                };
                cells.push(Planned { server: place, cell });
            }
        }
    }
    Ok(cells)
}

/// Cells whose runs a load makes: those that differ in the factor whose levels take turns under it, or a
/// single one.
#[derive(Debug, PartialEq, Eq)]
struct Load {
    server: usize,
    /// Their places.
    cells: Vec<usize>,
}

/// Loads that go on at once, each halted but in its turns; or a single one.
#[derive(Debug, PartialEq, Eq)]
struct Stage {
    loads: Vec<Load>,
    /// For how many repeats they last.
    repeats: u32,
    /// The last repeat that they were started for.
    done: u32,
}

fn stages(experiment: &dyn Experiment, scale: &Scale, cells: &[Planned]) -> Vec<Stage> {
    let shared = experiment.shared_load();
    let levels = |load: &Load| &cells[load.cells[0]].cell.levels;
    let company = |load: &Load| shared.and_then(|shared| shared.company(levels(load)));
    let mut stages: Vec<Stage> = Vec::new();
    for load in loads(experiment, cells) {
        let own = company(&load);
        let same = |stage: &&mut Stage| own.is_some() && company(&stage.loads[0]) == own;
        match stages.iter_mut().find(same) {
            Some(stage) => stage.loads.push(load),
            None => {
                let repeats = shared.map_or(1, |shared| shared.repeats(levels(&load), scale));
                stages.push(Stage { loads: vec![load], repeats, done: 0 });
            }
        }
    }
    stages
}

fn loads(experiment: &dyn Experiment, cells: &[Planned]) -> Vec<Load> {
    let turning = experiment.description().turning;
    let together = |load: &Load, cell: &Cell| {
        turning.as_ref().is_some_and(|factor| cells[load.cells[0]].cell.is_beside(cell, factor))
    };
    let mut loads: Vec<Load> = Vec::new();
    for (place, planned) in cells.iter().enumerate() {
        match loads.iter_mut().find(|load| together(load, &planned.cell)) {
            Some(load) => load.cells.push(place),
            None => loads.push(Load { server: planned.server, cells: vec![place] }),
        }
    }
    loads
}

/// A cell that the end of the experiment left without a run was not measured.
fn never_run(cell: &mut Cell, problem: &Error) {
    if cell.outcome == Outcome::Measured && cell.runs.is_empty() {
        cell.outcome = Outcome::Failed(format!("it did not run before the experiment ended: {problem}"));
    }
}

/// The order of a round: forwards, then backwards.
fn round(repeat: u32, cells: usize) -> Vec<usize> {
    if repeat % 2 == 1 { (0..cells).collect() } else { (0..cells).rev().collect() }
}

/// The order of so many turns in a repeat. As many repeats as there are turns have each in every place, so
/// that a steady drift cancels out; the next ones go the other way round, so that each also follows each
/// other.
fn turns(repeat: u32, count: usize) -> Vec<usize> {
    let before = repeat.saturating_sub(1) as usize;
    let mut order: Vec<usize> = (0..count).collect();
    if (before / count.max(1)) % 2 == 1 {
        order.reverse();
    }
    order.rotate_left(before % count.max(1));
    order
}

/// The order of so many turns of loads that go on at once: every other repeat backwards, so that none always
/// follows the same one, and each pair of repeats begins one further on.
fn walk(repeat: u32, count: usize) -> Vec<usize> {
    let mut order = round(repeat, count);
    let further = (repeat.saturating_sub(1) / 2) as usize % count.max(1);
    if repeat % 2 == 1 {
        order.rotate_left(further)
    } else {
        order.rotate_right(further)
    }
    order
}

/// A load that goes on, or a run that needs none.
struct Going<'a, 'b> {
    load: &'b Load,
    ongoing: Option<Ongoing<'a>>,
}

/// The cells of a load that were to be measured were not.
fn end(load: &Load, cells: &mut [Planned], outcome: &Outcome) {
    for place in &load.cells {
        if cells[*place].cell.outcome == Outcome::Measured {
            cells[*place].cell.outcome = outcome.clone();
        }
    }
}

struct Rounds<'a> {
    experiment: &'a dyn Experiment,
    bench: &'a Bench<'a>,
    progress: &'a ProgressBar,
    order: u32,
    /// Why a server cannot be measured any more, by its place.
    gone: Vec<Option<String>>,
}

impl<'a> Rounds<'a> {
    fn all(&mut self, servers: &mut [Server], stages: &mut [Stage], cells: &mut [Planned]) -> Result<()> {
        let repeats = self.bench.scale.repeats;
        for repeat in 1..=repeats {
            for place in round(repeat, stages.len()) {
                let stage = &mut stages[place];
                if stage.done < repeat {
                    stage.done = repeats.min(repeat + stage.repeats - 1);
                    self.stage(servers, stage, cells, repeat)?;
                }
            }
        }
        Ok(())
    }

    /// Gives the cells of a stage their runs, from this repeat to the last one that it lasts for.
    fn stage(
        &mut self,
        servers: &mut [Server],
        stage: &Stage,
        cells: &mut [Planned],
        repeat: u32,
    ) -> Result<()> {
        let in_company = stage.loads.len() > 1;
        let mut going: Vec<Going> = Vec::new();
        for load in &stage.loads {
            if !load.cells.iter().any(|place| cells[*place].cell.outcome == Outcome::Measured) {
                continue;
            }
            let levels = &cells[load.cells[0]].cell.levels;
            match self.start(&mut servers[load.server], load.server, levels)? {
                Ok(ongoing) => {
                    if let Some(ongoing) = ongoing.as_ref().filter(|_| in_company) {
                        ongoing.halt()?;
                    }
                    going.push(Going { load, ongoing });
                }
                Err(outcome) => end(load, cells, &outcome),
            }
        }
        for repeat in repeat..=stage.done {
            self.turns(servers, &mut going, in_company, cells, repeat)?;
        }
        for mut going in going {
            self.end(servers, &mut going)?;
        }
        Ok(())
    }

    /// Ends a load. Of a server that has gone nothing is waited for.
    fn end(&self, servers: &mut [Server], going: &mut Going) -> Result<()> {
        match going.ongoing.take() {
            Some(ongoing) if self.gone[going.load.server].is_none() => {
                ongoing.end(&mut servers[going.load.server])
            }
            _ => Ok(()),
        }
    }

    /// The runs of a repeat in turns. What ends a load ends all its cells: one of them alone has nothing to
    /// be compared with.
    fn turns(
        &mut self,
        servers: &mut [Server],
        going: &mut [Going],
        in_company: bool,
        cells: &mut [Planned],
        repeat: u32,
    ) -> Result<()> {
        let of =
            |(load, going): (usize, &Going)| going.load.cells.iter().map(move |cell| (load, *cell)).collect();
        let all: Vec<(usize, usize)> = going.iter().enumerate().flat_map::<Vec<_>, _>(of).collect();
        let order = if in_company { walk(repeat, all.len()) } else { turns(repeat, all.len()) };
        for (place, cell) in order.into_iter().map(|turn| all[turn]) {
            let going = &mut going[place];
            let load = going.load;
            if cells[cell].cell.outcome != Outcome::Measured {
                continue;
            }
            // another load of this server may have found it gone
            if let Some(reason) = self.gone[load.server].clone() {
                end(load, cells, &Outcome::Failed(reason));
                self.end(servers, going)?;
                continue;
            }
            if let Some(ongoing) = going.ongoing.as_ref().filter(|_| in_company) {
                ongoing.go_on()?;
            }
            let server = &mut servers[load.server];
            self.one(server, going.ongoing.as_mut(), &mut cells[cell].cell, repeat)?;
            if let outcome @ Outcome::Failed(_) = cells[cell].cell.outcome.clone() {
                self.gone[load.server] = server.gone();
                end(load, cells, &outcome);
                self.end(servers, going)?;
            }
            if let Some(ongoing) = going.ongoing.as_ref().filter(|_| in_company) {
                ongoing.halt()?;
            }
        }
        Ok(())
    }

    /// Starts the load that some cells share, if they do. The inner error is what becomes of them.
    fn start(
        &mut self,
        server: &mut Server,
        place: usize,
        levels: &Levels,
    ) -> Result<std::result::Result<Option<Ongoing<'a>>, Outcome>> {
        if let Some(reason) = &self.gone[place] {
            return Ok(Err(Outcome::Failed(reason.clone())));
        }
        tool::pause(self.bench.scale.pause)?;
        let Some(shared) = self.experiment.shared_load() else { return Ok(Ok(None)) };
        match shared.start(server, levels, self.bench) {
            Ok(Start::Goes(ongoing)) => Ok(Ok(Some(ongoing))),
            Ok(Start::NotAvailable(reason)) => {
                self.say(&format!("{}: not available: {reason}", server.name));
                Ok(Err(Outcome::NotAvailable(reason)))
            }
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(problem) => {
                self.say(&format!("{}: failed: {problem}", server.name));
                self.gone[place] = server.gone();
                Ok(Err(Outcome::Failed(problem.to_string())))
            }
        }
    }

    /// One run of a cell.
    fn one(
        &mut self,
        server: &mut Server,
        ongoing: Option<&mut Ongoing>,
        cell: &mut Cell,
        repeat: u32,
    ) -> Result<()> {
        let shown = format!("{}, {}", cell.server, levels_shown(&cell.levels));
        self.progress.set_message(shown.clone());
        self.order += 1;
        match self.run(server, ongoing, &cell.levels) {
            Ok(Attempt::Measured(measurement)) => {
                self.say(&format!("{shown}: {}", self.headline(&measurement.values)));
                cell.commands = server.set_statements();
                cell.commands.extend(measurement.commands);
                cell.runs.push(Run {
                    repeat,
                    order: self.order,
                    values: measurement.values,
                    by_second: measurement.by_second,
                    stolen_by_second: measurement.stolen_by_second,
                    lines: measurement.lines,
                    answer: measurement.answer,
                    counters: measurement.counters,
                });
            }
            Ok(Attempt::NotAvailable(reason)) => {
                self.say(&format!("{shown}: not available: {reason}"));
                cell.outcome = Outcome::NotAvailable(reason);
            }
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(problem) => {
                self.say(&format!("{shown}: failed: {problem}"));
                cell.outcome = Outcome::Failed(problem.to_string());
            }
        }
        self.progress.inc(1);
        Ok(())
    }

    /// Measures. What was measured under a load that did not last counts for nothing, and what failed under
    /// it failed by that.
    fn run(&self, server: &mut Server, ongoing: Option<&mut Ongoing>, levels: &Levels) -> Result<Attempt> {
        let attempt = self.experiment.run(server, levels, self.bench);
        let Some(ongoing) = ongoing else { return attempt };
        if !matches!(attempt, Err(Error::Interrupted)) {
            ongoing.check(server)?;
        }
        let mut attempt = attempt?;
        if let Attempt::Measured(measurement) = &mut attempt {
            measurement.commands.extend(ongoing.commands.clone());
        }
        Ok(attempt)
    }

    fn headline(&self, values: &BTreeMap<String, f64>) -> String {
        let measures = self.experiment.description().measures;
        let first = measures.first().and_then(|measure| Some((measure, values.get(&measure.key)?)));
        first.map_or_else(String::new, |(measure, value)| {
            format!("{} {}", crate::report::number(*value), measure.unit)
        })
    }

    /// A line above the bar; where no terminal shows the bar, the line alone.
    fn say(&self, line: &str) {
        if self.progress.is_hidden() {
            crate::tell!("{line}");
        } else {
            self.progress.println(line);
        }
    }
}

fn levels_shown(levels: &Levels) -> String {
    levels.iter().map(|(factor, level)| format!("{factor} {level}")).collect::<Vec<_>>().join(", ")
}

fn progress(length: u64) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length);
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {elapsed} (about {eta} left) {msg}");
    bar.set_style(style.expect("the template is well-formed"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::experiment::{Length, SharedLoad};
    use crate::fake::{Fake, Reply};
    use crate::ongoing::Beginning;
    use crate::results::Description;
    use crate::tool::{Invocation, Tool};

    /// Loads that go on at once, the first of which brings the server down in its first turn.
    #[derive(Default)]
    struct Fatal {
        down: Arc<AtomicBool>,
        runs: AtomicU32,
    }

    impl Experiment for Fatal {
        fn description(&self) -> Description {
            crate::results::tests::results(Vec::new()).experiment
        }

        fn tools(&self) -> &'static [Tool] {
            &[]
        }

        fn scale(&self, quick: bool) -> Scale {
            crate::experiment::ALL[0].scale(quick)
        }

        fn levels(&self, _scale: &Scale) -> Vec<Levels> {
            let level = |clients: &str| Levels::from([("clients".to_owned(), clients.to_owned())]);
            ["1", "2", "3"].map(level).to_vec()
        }

        fn prepare(&self, _server: &mut Server, _bench: &Bench) -> Result<Vec<String>> {
            Ok(Vec::new())
        }

        fn shared_load(&self) -> Option<&dyn SharedLoad> {
            Some(self)
        }

        fn run(&self, server: &mut Server, _levels: &Levels, _bench: &Bench) -> Result<Attempt> {
            self.down.store(true, Ordering::SeqCst);
            self.runs.fetch_add(1, Ordering::SeqCst);
            Err(Error::check(&server.name, "it went down"))
        }
    }

    impl SharedLoad for Fatal {
        fn repeats(&self, _levels: &Levels, _scale: &Scale) -> u32 {
            1
        }

        fn company(&self, _levels: &Levels) -> Option<String> {
            Some("all".to_owned())
        }

        fn start<'a>(&self, server: &mut Server, _: &Levels, bench: &Bench<'a>) -> Result<Start<'a>> {
            let sleep = Tool { program: "sleep", install: "it is everywhere" };
            let load = Invocation::new(&sleep).arg("1000");
            let beginning =
                Beginning { schema: "s".to_owned(), connections: 0, counter: "Com_insert", beyond: 0 };
            Ongoing::start(&load, beginning, server, bench.guardian).map(Start::Goes)
        }
    }

    #[test]
    fn a_server_that_one_load_found_gone_is_not_asked_for_the_others() {
        let fatal = Fatal::default();
        let (down, inserts) = (Arc::clone(&fatal.down), AtomicU32::new(0));
        let fake = Fake::new(move |statement| {
            if down.load(Ordering::SeqCst) {
                return Reply::Gone;
            }
            if statement.starts_with("SHOW GLOBAL STATUS") {
                let inserts = inserts.fetch_add(1, Ordering::SeqCst).to_string();
                return Reply::Rows(vec![vec!["Com_insert".to_owned(), inserts]]);
            }
            Reply::value("0")
        });
        let folder = tempfile::tempdir().expect("a folder");
        let guardian = Guardian::new(folder.path()).expect("a shell");
        let scale = fatal.scale(true);
        let bench = Bench { scale: &scale, scripts: folder.path(), guardian: &guardian };
        let mut servers = vec![Server::at("a", fake.address()).expect("it lets everybody in")];
        let mut cells = plan(&fatal, &mut servers, &fatal.levels(&scale)).expect("it has no wishes");
        let mut stages = stages(&fatal, &scale, &cells);
        let (progress, gone) = (ProgressBar::hidden(), vec![None]);
        let mut rounds = Rounds { experiment: &fatal, bench: &bench, progress: &progress, order: 0, gone };
        rounds.all(&mut servers, &mut stages, &mut cells).expect("a server that has gone is no end");
        let reasons = cells.iter().map(|planned| match &planned.cell.outcome {
            Outcome::Failed(reason) => reason.as_str(),
            other => panic!("{other:?}"),
        });
        let reasons: Vec<&str> = reasons.collect();
        assert_eq!(fatal.runs.load(Ordering::SeqCst), 1, "{reasons:?}");
        assert!(reasons[1].starts_with("the server does not answer any more"), "{reasons:?}");
    }

    #[test]
    fn rounds_alternate() {
        assert_eq!(round(1, 3), [0, 1, 2]);
        assert_eq!(round(2, 3), [2, 1, 0]);
        assert_eq!(round(3, 3), [0, 1, 2]);
    }

    #[test]
    fn what_did_not_run_was_not_measured() {
        let cell = |runs: Vec<Run>| Cell {
            server: "a".to_owned(),
            levels: Levels::new(),
            outcome: Outcome::Measured,
            runs,
            commands: Vec::new(),
        };
        let mut none = cell(Vec::new());
        never_run(&mut none, &Error::Interrupted);
        let reason = "it did not run before the experiment ended: interrupted".to_owned();
        assert_eq!(none.outcome, Outcome::Failed(reason));
        let mut some = cell(vec![Run::default()]);
        never_run(&mut some, &Error::Interrupted);
        assert_eq!(some.outcome, Outcome::Measured, "fewer runs than asked for, and n says how many");
    }

    #[test]
    fn turns_come_equally_often_in_every_place_and_after_each_other() {
        for count in 1..=4usize {
            let orders: Vec<Vec<usize>> = (1..=2 * count as u32).map(|repeat| turns(repeat, count)).collect();
            for half in orders.chunks(count) {
                for place in 0..count {
                    let mut there: Vec<usize> = half.iter().map(|order| order[place]).collect();
                    there.sort_unstable();
                    assert_eq!(there, (0..count).collect::<Vec<_>>(), "{count} turns, place {place}");
                }
            }
        }
        let all: Vec<usize> = (1..=6).flat_map(|repeat| turns(repeat, 3)).collect();
        assert_eq!(all, [0, 1, 2, 1, 2, 0, 2, 0, 1, 2, 1, 0, 1, 0, 2, 0, 2, 1]);
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "each turn begins with a change");
        assert_eq!(turns(7, 3), turns(1, 3));
    }

    #[test]
    fn loads_that_go_on_at_once_come_in_every_place_and_after_either_neighbour() {
        assert_eq!([1, 2, 3, 4].map(|repeat| walk(repeat, 3)), [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]]);
        for count in 1..=5usize {
            let orders: Vec<Vec<usize>> = (1..=2 * count as u32).map(|repeat| walk(repeat, count)).collect();
            for place in 0..count {
                let mut there: Vec<usize> = orders.iter().map(|order| order[place]).collect();
                there.sort_unstable();
                let twice: Vec<usize> = (0..2 * count).map(|turn| turn / 2).collect();
                assert_eq!(there, twice, "{count} loads, place {place}");
            }
        }
        assert_eq!(walk(1, 0), [0; 0]);
    }

    #[test]
    fn cells_that_take_turns_have_a_load_in_common_and_others_have_not() {
        let planned = |server: usize, clients: &str, setting: &str, load: &str| {
            let levels = [("clients", clients), ("innodb_log_writer_threads", setting), ("load", load)];
            let levels = levels.map(|(factor, level)| (factor.to_owned(), level.to_owned())).into();
            let (runs, commands) = (Vec::new(), Vec::new());
            let outcome = Outcome::Measured;
            Planned { server, cell: Cell { server: server.to_string(), levels, outcome, runs, commands } }
        };
        let cells = [
            planned(0, "8", "ON", "slap-mixed"),
            planned(1, "8", "ON", "slap-mixed"),
            planned(0, "8", "OFF", "slap-mixed"),
            planned(0, "9", "ON", "slap-mixed"),
            planned(0, "8", "ON", "oltp_write_only"),
            planned(1, "8", "OFF", "slap-mixed"),
        ];
        let with_turns_of = |name: &str, turn: Duration| {
            let experiment = crate::experiment::find(name).expect("it is there");
            let scale = Scale { length: Some(Length::Turn(turn)), ..experiment.scale(false) };
            let of = |stage: Stage| {
                let loads = stage.loads.into_iter().map(|load| (load.server, load.cells));
                (loads.collect::<Vec<(usize, Vec<usize>)>>(), stage.repeats)
            };
            stages(experiment, &scale, &cells).into_iter().map(of).collect::<Vec<_>>()
        };
        let grouped = |name: &str| with_turns_of(name, Duration::from_secs(2));
        let turning = grouped("log-writer-turns");
        let expected = [(0, vec![0, 2], 3), (1, vec![1, 5], 3), (0, vec![3], 3), (0, vec![4], 12)];
        assert_eq!(turning, expected.map(|(server, cells, repeats)| (vec![(server, cells)], repeats)));
        let short: Vec<u32> = with_turns_of("log-writer-turns", Duration::from_millis(400))
            .iter()
            .map(|stage| stage.1)
            .collect();
        assert_eq!(short, [15, 15, 15, 60], "short turns: as long a load");
        let each =
            |places: &[usize]| places.iter().map(|place| (cells[*place].server, vec![*place])).collect();
        assert_eq!(grouped("server-turns"), [(each(&[0, 1, 2, 3, 5]), 3), (each(&[4]), 12)]);
        let alone = grouped("log-writer-threads");
        assert!(alone.iter().all(|(loads, repeats)| loads.len() == 1 && *repeats == 1), "{alone:?}");
        assert_eq!(alone.len(), cells.len());
    }

    #[test]
    fn an_experiment_is_confined_to_levels_that_it_has() {
        let experiment = crate::experiment::find("server-turns").expect("it is there");
        let levels = experiment.levels(&experiment.scale(true));
        let only = |pairs: &[(&str, &str)]| {
            let pairs = pairs.iter().map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()));
            confined(levels.clone(), &pairs.collect::<Vec<_>>())
        };
        assert_eq!(only(&[]).expect("nothing is asked"), levels);
        let one = only(&[("load", "slap-mixed"), ("clients", "4")]).expect("it has both");
        assert_eq!((one.len(), one[0]["load"].as_str(), one[0]["clients"].as_str()), (1, "slap-mixed", "4"));
        for (pairs, said) in [
            (("clients", "5"), "there is no clients '5' to confine it to; there is: 1, 4"),
            (("moon", "full"), "no factor is called 'moon'; what varies: clients, load"),
        ] {
            let error = only(&[("load", "slap-mixed"), pairs]).expect_err("it has not").to_string();
            assert_eq!(error, said);
        }
    }

    #[test]
    fn servers_have_names_of_their_own() {
        let spec = |text: &str| text.parse::<ServerSpec>().expect("a specification");
        assert!(check_names(&[]).is_err());
        assert!(check_names(&[spec("a=spawn"), spec("b=spawn")]).is_ok());
        let error = check_names(&[spec("a=spawn"), spec("a=u@h")]).expect_err("twice");
        assert_eq!(error.to_string(), "two servers are called 'a'");
    }
}
