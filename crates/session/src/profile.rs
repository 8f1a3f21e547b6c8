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

/// Bytes of a statement's text that are kept.
const TEXT_KEPT: usize = 300;
/// Stages of a statement that are kept; what follows belongs to the last of them.
const STAGES_KEPT: usize = 100;
/// What MySQL calls the first stage in `SEQ`.
const FIRST_SEQUENCE: u32 = 2;

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
pub struct StageTime {
    /// Number of the statement's profile.
    pub query_id: u32,
    /// Number of the stage in it.
    pub sequence: u32,
    /// What it is called.
    pub name: &'static str,
    /// How long it took.
    pub took: Duration,
}

/// The profiles of a session.
#[derive(Debug, Default)]
pub struct Profiles {
    last_id: u32,
    kept: VecDeque<Profile>,
    current: Option<Profile>,
}

impl Profiles {
    /// A statement begins.
    pub fn begin(&mut self, now: Duration) {
        self.current = Some(Profile::default());
        self.begin_stage("starting", now);
    }

    /// A stage of the statement begins.
    pub fn begin_stage(&mut self, name: &'static str, now: Duration) {
        if let Some(profile) = &mut self.current
            && profile.stages.len() < STAGES_KEPT
        {
            profile.stages.push(Stage { name, begun: now });
        }
    }

    /// The stages of the statement until now: what each is called, when it began, and how long it took.
    pub fn current_stages(&self, now: Duration) -> Vec<(&'static str, Duration, Duration)> {
        let Some(current) = &self.current else { return Vec::new() };
        let ends = current.stages.iter().skip(1).map(|next| next.begun).chain([now]);
        let stage =
            |(stage, end): (&Stage, Duration)| (stage.name, stage.begun, end.saturating_sub(stage.begun));
        current.stages.iter().zip(ends).map(stage).collect()
    }

    /// The stage that the statement is in.
    pub fn stage(&self) -> Option<&'static str> {
        Some(self.current.as_ref()?.stages.last()?.name)
    }

    /// Whether there is a statement that has not been in this stage yet.
    pub fn lacks_stage(&self, name: &str) -> bool {
        let current = self.current.as_ref();
        current.is_some_and(|current| current.stages.iter().all(|stage| stage.name != name))
    }

    /// The statement gets no profile.
    pub fn drop_current(&mut self) {
        self.current = None;
    }

    /// The statement of that text has ended. Its profile is kept if it is `wanted`, and with it as many as
    /// `history` says.
    pub fn keep(&mut self, now: Duration, text: &[u8], wanted: bool, history: usize) {
        let finished = self.current.take();
        if let Some(finished) = finished.filter(|_| wanted) {
            self.last_id = self.last_id.wrapping_add(1);
            let text = statement_text(text);
            let text = text.get(..TEXT_KEPT).unwrap_or(text).to_vec();
            self.kept.push_back(Profile { id: self.last_id, text, end: now, ..finished });
        }
        while self.kept.len() > history {
            self.kept.pop_front();
        }
    }

    /// The rows of SHOW PROFILES.
    pub fn listed(&self) -> Vec<Vec<Value>> {
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
    pub fn stage_times(&self) -> Vec<StageTime> {
        let of = |profile: &Profile| {
            let query_id = profile.id;
            let stages = (FIRST_SEQUENCE..).zip(profile.stages());
            let time = |(sequence, (name, took))| StageTime { query_id, sequence, name, took };
            stages.map(time).collect::<Vec<_>>()
        };
        self.kept.iter().flat_map(of).collect()
    }

    /// The number of the profile that SHOW PROFILE is about: the last one unless it says so.
    pub fn asked_for(&self, query: Option<u64>) -> i64 {
        match query {
            None | Some(0) => self.kept.back().map_or(0, |profile| i64::from(profile.id)),
            Some(id) => i64::try_from(id).unwrap_or(i64::MAX),
        }
    }
}

/// So many parts of a second, as a number of seconds with `scale` digits after the point.
pub fn seconds(parts: u128, scale: u8) -> Value {
    Value::Decimal(Decimal::new(i128::try_from(parts).unwrap_or(i128::MAX), scale))
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

    fn at(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    fn run(profiles: &mut Profiles, history: usize, text: &str, stages: &[(&'static str, u64)], end: u64) {
        profiles.begin(at(0));
        for (name, begun) in stages {
            profiles.begin_stage(name, at(*begun));
        }
        profiles.keep(at(end), text.as_bytes(), true, history);
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
        let mut profiles = Profiles::default();
        let stages = [("executing", 30), ("end", 1_500_030)];
        run(&mut profiles, 15, "  select 1 ; ", &stages, 1_500_041);
        assert_eq!(shown(profiles.listed(), 3), ["1 1.50004100 select 1"]);
        let times = profiles.stage_times();
        let times: Vec<_> = times.iter().map(|stage| (stage.sequence, stage.name, stage.took)).collect();
        assert_eq!(times, [(2, "starting", at(30)), (3, "executing", at(1_500_000)), (4, "end", at(11))]);
    }

    #[test]
    fn so_many_are_kept_as_the_history_has_room_for() {
        let mut profiles = Profiles::default();
        for number in 1..5 {
            run(&mut profiles, 2, &format!("do {number}"), &[], number);
        }
        let expected = ["3 0.00000300 do 3", "4 0.00000400 do 4"];
        assert_eq!(shown(profiles.listed(), 3), expected);
        assert_eq!(profiles.asked_for(None), 4);
        profiles.begin(at(0));
        profiles.keep(at(1), b"set profiling = 0", false, 2);
        assert_eq!(shown(profiles.listed(), 3), expected, "it is off at its end");
        run(&mut profiles, 0, "do 6", &[], 1);
        assert!(profiles.listed().is_empty());
    }

    #[test]
    fn texts_and_stages_have_bounds() {
        let mut profiles = Profiles::default();
        run(&mut profiles, 1, &"x".repeat(1000), &[("executing", 1); 500], 2);
        assert_eq!(profiles.kept[0].text.len(), TEXT_KEPT);
        assert_eq!(profiles.stage_times().len(), STAGES_KEPT);
    }

    #[test]
    fn a_stage_is_lacked_until_it_begins_and_without_a_statement_none_is() {
        let mut profiles = Profiles::default();
        assert!(!profiles.lacks_stage("end"));
        profiles.begin(at(0));
        assert!(profiles.lacks_stage("end"));
        profiles.begin_stage("end", at(1));
        assert!(!profiles.lacks_stage("end"));
        profiles.drop_current();
        profiles.keep(at(2), b"show profiles", true, 9);
        assert!(profiles.listed().is_empty());
    }
}
