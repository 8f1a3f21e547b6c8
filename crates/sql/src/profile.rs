//! How long the stages of a session's last statements took: `profiling`, SHOW PROFILES, SHOW PROFILE and
//! information_schema.PROFILING.
//!
//! ```text
//!  begin ─► starting ─► Opening tables ─► executing ─► end ─► freeing items ─► cleaning up ─► end: kept
//!                                          │      ▲
//!                                          └ User sleep, Waiting for ... : a wait, then what was before it
//! ```
//!
//! A stage lasts until the next one begins. What else MySQL tells of a stage - processor time, page faults -
//! is of a thread, and a session's statement has none of its own: those columns are NULL.
//!
//! A session that has never set `profiling` has nothing of this, and each place where a stage begins finds
//! that out by one look.

use std::collections::VecDeque;
use std::time::Duration;

use palisade_catalog::{Decimal, Value};
use palisade_parser::ast::{Limit, ShowWhat};

use crate::{Awaited, Processes, Session};

/// Bytes of a statement's text that are kept.
const TEXT_KEPT: usize = 300;
/// Stages of a statement that are kept; what follows belongs to the last of them.
const STAGES_KEPT: usize = 100;
/// What MySQL calls the first stage in `SEQ`.
const FIRST_SEQUENCE: u32 = 2;
/// Columns of SHOW PROFILE that are NULL here: processor time, and all that follows it.
const UNKNOWN_COLUMNS: usize = 14;

/// When a stage began, and what it is.
#[derive(Debug, Clone, Copy)]
struct Stage {
    name: &'static str,
    begun: Duration,
}

/// The stages of a statement.
#[derive(Debug, Default)]
struct Profile {
    id: u32,
    text: Vec<u8>,
    stages: Vec<Stage>,
    end: Duration,
}

impl Profile {
    fn begun(&self) -> Duration {
        self.stages.first().map_or(self.end, |stage| stage.begun)
    }

    /// Each stage with how long it took.
    fn stages(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        let ends = self.stages.iter().skip(1).map(|next| next.begun).chain([self.end]);
        self.stages.iter().zip(ends).map(|(stage, end)| (stage.name, end.saturating_sub(stage.begun)))
    }
}

/// How long a stage took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StageTime {
    /// Number of the statement's profile.
    pub(crate) query_id: u32,
    /// Number of the stage in it.
    pub(crate) sequence: u32,
    pub(crate) name: &'static str,
    pub(crate) took: Duration,
}

/// The profiles of a session.
#[derive(Debug, Default)]
pub struct Profiles {
    last_id: u32,
    kept: VecDeque<Profile>,
    current: Option<Profile>,
}

impl Profiles {
    pub(crate) fn begin_stage(&mut self, name: &'static str, now: Duration) {
        if let Some(profile) = &mut self.current
            && profile.stages.len() < STAGES_KEPT
        {
            profile.stages.push(Stage { name, begun: now });
        }
    }

    /// The rows of SHOW PROFILES.
    pub(crate) fn listed(&self) -> Vec<Vec<Value>> {
        let row = |profile: &Profile| {
            let took = profile.end.saturating_sub(profile.begun());
            vec![
                Value::Int(i64::from(profile.id)),
                seconds(took.as_nanos() / 10, 8),
                Value::bytes(profile.text.clone()),
            ]
        };
        self.kept.iter().map(row).collect()
    }

    /// The stages of all profiles, as information_schema.PROFILING lists them.
    pub(crate) fn stage_times(&self) -> Vec<StageTime> {
        let of = |profile: &Profile| {
            let query_id = profile.id;
            let stages = (FIRST_SEQUENCE..).zip(profile.stages());
            let time = |(sequence, (name, took))| StageTime { query_id, sequence, name, took };
            stages.map(time).collect::<Vec<_>>()
        };
        self.kept.iter().flat_map(of).collect()
    }

    /// The number of the profile that SHOW PROFILE is about: the last one unless it says so.
    pub(crate) fn asked_for(&self, query: Option<u64>) -> i64 {
        match query {
            None | Some(0) => self.kept.back().map_or(0, |profile| i64::from(profile.id)),
            Some(id) => i64::try_from(id).unwrap_or(i64::MAX),
        }
    }
}

/// So many parts of a second, as a number of seconds with `scale` digits after the point.
pub(crate) fn seconds(parts: u128, scale: u8) -> Value {
    Value::Decimal(Decimal::new(i128::try_from(parts).unwrap_or(i128::MAX), scale))
}

/// The columns of SHOW PROFILE beside the first two: what they are called in information_schema.PROFILING
/// and here, and the type that asks for them.
const TYPED: [(&str, &str, &str); UNKNOWN_COLUMNS] = [
    ("CPU_USER", "CPU_user", "CPU"),
    ("CPU_SYSTEM", "CPU_system", "CPU"),
    ("CONTEXT_VOLUNTARY", "Context_voluntary", "CONTEXT SWITCHES"),
    ("CONTEXT_INVOLUNTARY", "Context_involuntary", "CONTEXT SWITCHES"),
    ("BLOCK_OPS_IN", "Block_ops_in", "BLOCK IO"),
    ("BLOCK_OPS_OUT", "Block_ops_out", "BLOCK IO"),
    ("MESSAGES_SENT", "Messages_sent", "IPC"),
    ("MESSAGES_RECEIVED", "Messages_received", "IPC"),
    ("PAGE_FAULTS_MAJOR", "Page_faults_major", "PAGE FAULTS"),
    ("PAGE_FAULTS_MINOR", "Page_faults_minor", "PAGE FAULTS"),
    ("SWAPS", "Swaps", "SWAPS"),
    ("SOURCE_FUNCTION", "Source_function", "SOURCE"),
    ("SOURCE_FILE", "Source_file", "SOURCE"),
    ("SOURCE_LINE", "Source_line", "SOURCE"),
];

/// The columns of SHOW PROFILE with such types: their names in information_schema.PROFILING and here.
pub(crate) fn columns_of(types: &[String]) -> Vec<(&'static str, &'static str)> {
    let is_wanted = |ty: &str| types.iter().any(|wanted| wanted == "ALL" || wanted == ty);
    let typed = TYPED.iter().filter(|(_, _, ty)| is_wanted(ty)).map(|(from, name, _)| (*from, *name));
    [("STATE", "Status"), ("DURATION", "Duration")].into_iter().chain(typed).collect()
}

/// What a SHOW PROFILE asks for: types, the query's number, and which rows.
pub(crate) type Asked<'a> = (&'a [String], Option<u64>, Option<&'a Limit>);

/// Whether a statement shows profiles: it has none itself.
pub(crate) fn is_about_profiles(what: &ShowWhat) -> bool {
    matches!(what, ShowWhat::Profiles | ShowWhat::Profile { .. })
}

impl Session {
    /// A statement begins that is sent by the client.
    #[inline]
    pub fn begin_profile(&mut self, host: &(impl Processes + ?Sized)) {
        if self.state.variables.profiling {
            self.begin_first_stage(host.monotonic());
        }
    }

    #[cold]
    fn begin_first_stage(&mut self, now: Duration) {
        let profiles = self.profiles.get_or_insert_default();
        profiles.current = Some(Profile::default());
        profiles.begin_stage("starting", now);
    }

    /// A stage of the statement begins.
    #[inline]
    pub fn begin_stage(&mut self, host: &(impl Processes + ?Sized), name: &'static str) {
        if let Some(profiles) = &mut self.profiles {
            profiles.begin_stage(name, host.monotonic());
        }
    }

    /// The statement has done what it is for; not all kinds of statements say so themselves.
    #[inline]
    pub(crate) fn reach_end(&mut self, host: &(impl Processes + ?Sized)) {
        const END: &str = "end";
        let current = self.profiles.as_ref().and_then(|profiles| profiles.current.as_ref());
        if current.is_some_and(|current| current.stages.iter().all(|stage| stage.name != END)) {
            self.begin_stage(host, END);
        }
    }

    /// The statement shows profiles, and gets none.
    pub(crate) fn drop_profile(&mut self) {
        if let Some(profiles) = &mut self.profiles {
            profiles.current = None;
        }
    }

    /// The statement of that text has ended: its profile is kept, if `profiling` is still on.
    #[inline]
    pub fn end_profile(&mut self, host: &(impl Processes + ?Sized), text: &[u8]) {
        if self.profiles.is_some() {
            self.keep_profile(host.monotonic(), text);
        }
    }

    #[cold]
    fn keep_profile(&mut self, now: Duration, text: &[u8]) {
        let Some(profiles) = &mut self.profiles else { return };
        let finished = profiles.current.take();
        if let Some(finished) = finished.filter(|_| self.state.variables.profiling) {
            profiles.last_id = profiles.last_id.wrapping_add(1);
            let text = statement_text(text);
            let text = text.get(..TEXT_KEPT).unwrap_or(text).to_vec();
            profiles.kept.push_back(Profile { id: profiles.last_id, text, end: now, ..finished });
        }
        while profiles.kept.len() > self.state.variables.profiling_history_size {
            profiles.kept.pop_front();
        }
    }
}

/// The statement waits, if that is a stage of its own. Gives the one that it was in, for [`end_wait`].
#[inline]
pub(crate) fn begin_wait(
    profiles: &mut Option<Box<Profiles>>,
    host: &(impl Processes + ?Sized),
    awaited: Awaited,
) -> Option<&'static str> {
    let profiles = profiles.as_mut()?;
    let name = match awaited {
        Awaited::MetadataLock => "Waiting for table metadata lock",
        Awaited::NamedLock => "User lock",
        Awaited::Time => "User sleep",
        Awaited::Others | Awaited::Machine => return None,
    };
    let before = profiles.current.as_ref()?.stages.last()?.name;
    profiles.begin_stage(name, host.monotonic());
    Some(before)
}

/// A wait has ended.
#[inline]
pub(crate) fn end_wait(
    profiles: &mut Option<Box<Profiles>>,
    host: &(impl Processes + ?Sized),
    before: Option<&'static str>,
) {
    if let (Some(profiles), Some(before)) = (profiles, before) {
        profiles.begin_stage(before, host.monotonic());
    }
}

/// The text without what ends a statement and is not of it.
fn statement_text(text: &[u8]) -> &[u8] {
    let mut text = text.trim_ascii();
    while let Some(rest) = text.strip_suffix(b";") {
        text = rest.trim_ascii_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::doubles::Clock;

    fn at(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn session(history: usize) -> Session {
        let mut session = Session::new(1, "root", "localhost", crate::SessionVariables::default(), 0);
        session.state.variables.profiling = true;
        session.state.variables.profiling_history_size = history;
        session
    }

    fn run(session: &mut Session, text: &str, stages: &[(&'static str, u64)], end: u64) {
        let clock = Clock::default();
        session.begin_profile(&clock);
        for (name, begun) in stages {
            clock.set(*begun);
            session.begin_stage(&clock, name);
        }
        clock.set(end);
        session.end_profile(&clock, text.as_bytes());
    }

    fn shown(rows: Vec<Vec<Value>>, columns: usize) -> Vec<String> {
        let text = |value: &Value| match value {
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Value::Int(number) => number.to_string(),
            Value::Decimal(number) => number.to_string(),
            other => format!("{other:?}"),
        };
        let row = |row: &Vec<Value>| row.iter().take(columns).map(text).collect::<Vec<_>>().join(" ");
        rows.iter().map(row).collect()
    }

    #[test]
    fn a_stage_lasts_until_the_next_and_the_last_until_the_end() {
        let mut session = session(15);
        run(&mut session, "  select 1 ; ", &[("executing", 30), ("end", 1_500_030)], 1_500_041);
        let profiles = session.profiles.as_ref().unwrap();
        assert_eq!(shown(profiles.listed(), 3), ["1 1.50004100 select 1"]);
        let times = profiles.stage_times();
        let times: Vec<_> = times.iter().map(|stage| (stage.sequence, stage.name, stage.took)).collect();
        assert_eq!(times, [(2, "starting", at(30)), (3, "executing", at(1_500_000)), (4, "end", at(11))]);
    }

    #[test]
    fn so_many_are_kept_as_the_history_has_room_for() {
        let mut session = session(2);
        for number in 1..5 {
            run(&mut session, &format!("do {number}"), &[], number);
        }
        let expected = ["3 0.00000300 do 3", "4 0.00000400 do 4"];
        assert_eq!(shown(session.profiles.as_ref().unwrap().listed(), 3), expected);
        assert_eq!(session.profiles.as_ref().unwrap().asked_for(None), 4);
        session.state.variables.profiling = false;
        run(&mut session, "set profiling = 0", &[], 1);
        assert_eq!(shown(session.profiles.as_ref().unwrap().listed(), 3), expected, "it is off at its end");
        session.state.variables.profiling_history_size = 0;
        run(&mut session, "do 6", &[], 1);
        assert!(session.profiles.as_ref().unwrap().listed().is_empty());
    }

    #[test]
    fn texts_and_stages_have_bounds() {
        let mut session = session(1);
        run(&mut session, &"x".repeat(1000), &[("executing", 1); 500], 2);
        let profiles = session.profiles.as_ref().unwrap();
        assert_eq!(profiles.kept[0].text.len(), TEXT_KEPT);
        assert_eq!(profiles.stage_times().len(), STAGES_KEPT);
    }

    #[test]
    fn columns_follow_the_types_in_the_order_of_the_table() {
        let names = |types: &[&str]| {
            let types: Vec<String> = types.iter().map(|ty| (*ty).to_owned()).collect();
            columns_of(&types).into_iter().map(|(_, name)| name).collect::<Vec<_>>()
        };
        assert_eq!(names(&["MEMORY"]), ["Status", "Duration"]);
        assert_eq!(names(&["SWAPS", "CPU"]), ["Status", "Duration", "CPU_user", "CPU_system", "Swaps"]);
        assert_eq!(names(&["ALL"]).len(), 16);
    }
}
