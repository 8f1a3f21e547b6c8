//! What performance_schema collects from the start: `performance-schema-instrument='NAME=VALUE'`, where the
//! name is one of setup_instruments or a pattern with `%`, and `performance-schema-consumer-NAME`.
//!
//! A name counts more than a pattern, whatever their order; else the later one counts.

use crate::instruments::setup::{CONSUMERS, Consumers, Instrument, Setup};

/// What is to be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Collected {
    /// Instruments.
    Instruments {
        /// The name, or a pattern.
        pattern: String,
        /// Whether they are enabled.
        is_enabled: bool,
        /// Whether the times of their events are measured.
        is_timed: bool,
    },
    /// A consumer.
    Consumer(Consumers, bool),
}

/// What the option asks for; `None` if it is another option, and the error says what is wrong with it.
pub fn find(name: &str, value: Option<&str>) -> Option<Result<Collected, String>> {
    let name = name.replace('-', "_");
    if name == "performance_schema_instrument" {
        let value = value.unwrap_or_default();
        return Some(instruments(value).ok_or_else(|| {
            format!("Invalid instrument name or value for performance_schema_instrument '{value}'")
        }));
    }
    let consumer = name.strip_prefix("performance_schema_consumer_")?;
    let (_, consumer) = CONSUMERS.iter().find(|(known, _)| *known == consumer)?;
    let word = value.unwrap_or("ON");
    let Some(on) = switch(word) else {
        return Some(Err(format!("option '{name}' is ON or OFF, and not '{word}'")));
    };
    Some(Ok(Collected::Consumer(*consumer, on)))
}

fn switch(word: &str) -> Option<bool> {
    match word.to_ascii_lowercase().as_str() {
        "on" | "true" | "1" | "yes" => Some(true),
        "off" | "false" | "0" | "no" => Some(false),
        _ => None,
    }
}

fn instruments(value: &str) -> Option<Collected> {
    let (pattern, word) = value.split_once('=')?;
    let (pattern, word) = (pattern.trim(), word.trim());
    let (is_enabled, is_timed) = match switch(word) {
        Some(on) => (on, on),
        None if word.eq_ignore_ascii_case("counted") => (true, false),
        None => return None,
    };
    let pattern = (!pattern.is_empty()).then(|| pattern.to_owned())?;
    Some(Collected::Instruments { pattern, is_enabled, is_timed })
}

/// Whether a name is like a pattern, in which `%` stands for any text.
fn is_like(name: &str, pattern: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('%') else { return name.eq_ignore_ascii_case(pattern) };
    let Some((own, left)) = name.split_at_checked(before.len()) else { return false };
    own.eq_ignore_ascii_case(before)
        && (0..=left.len()).any(|skipped| left.get(skipped..).is_some_and(|left| is_like(left, rest)))
}

/// Sets all that.
pub fn apply(all: &[Collected], setup: &Setup) {
    for exact in [false, true] {
        for collected in all {
            let Collected::Instruments { pattern, is_enabled, is_timed } = collected else { continue };
            if pattern.contains('%') == exact {
                continue;
            }
            for instrument in Instrument::all().filter(|known| is_like(known.name(), pattern)) {
                setup.set(instrument, false, *is_enabled);
                if instrument.has_times() {
                    setup.set(instrument, true, *is_timed);
                }
            }
        }
    }
    for collected in all {
        if let Collected::Consumer(consumer, on) = collected {
            setup.enable(*consumer, *on);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(options: &[(&str, Option<&str>)]) -> Setup {
        let all: Vec<Collected> = (options.iter())
            .map(|(name, value)| find(name, *value).expect("known").expect("right"))
            .collect();
        let setup = Setup::new(true);
        apply(&all, &setup);
        setup
    }

    fn state(setup: &Setup, name: &str) -> (bool, bool) {
        setup.collects(Instrument::find(name).expect("known"))
    }

    #[test]
    fn a_name_counts_more_than_a_pattern_and_the_later_of_two_patterns() {
        let instrument = "performance-schema-instrument";
        let setup = set(&[
            (instrument, Some("statement/sql/select=COUNTED")),
            (instrument, Some("%=off")),
            (instrument, Some("statement/%/Com% = 1")),
            (instrument, Some("STATEMENT/com/%=ON")),
        ]);
        assert_eq!(state(&setup, "statement/sql/select"), (true, false));
        assert_eq!(state(&setup, "statement/sql/insert"), (false, false));
        assert_eq!(state(&setup, "statement/com/Execute"), (true, true));
        assert_eq!((state(&setup, "transaction"), state(&setup, "error")), ((false, false), (false, false)));
    }

    #[test]
    fn consumers_are_named_by_the_option() {
        let setup = set(&[
            ("performance_schema_consumer_events_statements_history_long", None),
            ("performance-schema-consumer-statements-digest", Some("OFF")),
        ]);
        let consumers = setup.consumers();
        assert!(consumers.has(Consumers::LONG) && !consumers.has(Consumers::DIGEST));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let problem = |name: &str, value: &str| find(name, Some(value)).expect("known").expect_err("wrong");
        for value in ["statement/sql/select", "=ON", "x=maybe", ""] {
            let said = problem("performance_schema_instrument", value);
            let text = "Invalid instrument name or value for performance_schema_instrument";
            assert_eq!(said, format!("{text} '{value}'"));
        }
        problem("performance_schema_consumer_statements_digest", "maybe");
        assert_eq!(find("performance_schema_consumer_nosuch", None), None);
        assert_eq!(find("performance_schema", Some("ON")), None);
    }
}
