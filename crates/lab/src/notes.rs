//! What a reader of a report must know before its numbers: a busy machine, unequal settings, time that the host took.

use crate::compare::percent;
use crate::machine;
use crate::results::ServerFacts;
use crate::server::DECISIVE;

/// Remarks for the report, each once.
#[derive(Debug, Default)]
pub struct Notes(pub Vec<String>);

impl Notes {
    /// Adds those that are new.
    pub fn extend(&mut self, notes: impl IntoIterator<Item = String>) {
        for note in notes {
            if !self.0.contains(&note) {
                self.0.push(note);
            }
        }
    }

    /// Of what the machine did at the start, and of where data lay.
    pub fn of_machine(&mut self, machine: &machine::Machine) {
        const BUSY: f64 = 0.5;
        if machine.load_average > BUSY * machine.processors as f64 {
            let load = machine.load_average;
            self.extend([format!(
                "The machine was busy with something else: its load average was {load} at the start."
            )]);
        }
        if ["tmpfs", "ramfs"].contains(&machine.file_system.as_str()) {
            self.extend([
                "The data of servers that the lab started lay in memory: their commits cost no disk write."
                    .to_owned(),
            ]);
        }
    }

    /// Of the share of the processors' time that the machine's host took.
    pub fn of_stolen(&mut self, share: Option<f64>) {
        const MUCH: f64 = 0.02;
        if let Some(share) = share.filter(|share| *share >= MUCH) {
            self.extend([format!(
                "{} of the processors' time was taken by the machine's host while everything ran (steal): runs differ by that as well.",
                percent(share)
            )]);
        }
    }

    /// Of settings that decide and differ, and of builds that do not count.
    pub fn of_settings(&mut self, servers: &[ServerFacts]) {
        for name in DECISIVE {
            let value = |server: &ServerFacts| server.settings.get(*name).cloned().flatten();
            let values: Vec<(&str, String)> =
                servers.iter().filter_map(|server| Some((server.name.as_str(), value(server)?))).collect();
            if values.windows(2).any(|pair| switch(&pair[0].1) != switch(&pair[1].1)) {
                let values: Vec<String> =
                    values.iter().map(|(server, value)| format!("{server} {value}")).collect();
                self.extend([format!(
                    "The servers do not run under equal settings: {name} is {}.",
                    values.join(", ")
                )]);
            }
        }
        for server in servers.iter().filter(|server| server.origin.contains("/debug/palisade")) {
            self.extend([format!(
                "{}: a build without optimisation; its numbers mean nothing.",
                server.name
            )]);
        }
    }
}

/// A boolean variable's value in one spelling.
fn switch(value: &str) -> String {
    match value.to_ascii_uppercase().as_str() {
        "ON" => "1".to_owned(),
        "OFF" => "0".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unequal_settings_are_noted_and_equal_ones_are_not() {
        let server = |name: &str, buffer: &str, binary_log: Option<&str>| ServerFacts {
            name: name.to_owned(),
            origin: "started as /x/target/debug/palisade --a=1".to_owned(),
            version: String::new(),
            settings: [
                ("innodb_buffer_pool_size".to_owned(), Some(buffer.to_owned())),
                ("log_bin".to_owned(), binary_log.map(str::to_owned)),
            ]
            .into(),
            resident_mib: None,
        };
        let mut notes = Notes::default();
        notes.of_stolen(Some(0.01));
        notes.of_stolen(None);
        notes.of_settings(&[
            server("a", "1", Some("OFF")),
            server("b", "2", Some("0")),
            server("c", "1", None),
        ]);
        assert_eq!(
            notes.0[0],
            "The servers do not run under equal settings: innodb_buffer_pool_size is a 1, b 2, c 1."
        );
        assert_eq!(notes.0.len(), 4, "{:?}", notes.0);
        assert!(notes.0[1].starts_with("a: a build without optimisation"));
        notes.of_stolen(Some(0.034));
        assert!(notes.0[4].starts_with("3.4 % of the processors' time was taken"), "{:?}", notes.0);
    }
}
