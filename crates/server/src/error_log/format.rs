//! How a line of the error log is written. The layouts are MySQL's, so that what reads its log reads this
//! one.

use std::fmt::Write as _;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use palisade_catalog::Zone;

use super::Line;
use crate::time_zone;

/// What MySQL writes where a message has no number.
const NO_NUMBER: &str = "MY-000000";

/// A moment in UTC, or in the machine's time zone with its offset.
pub fn time(micros: i64, in_system_zone: bool) -> String {
    // Of what is no moment of these ten thousand years: 1970.
    let moment = Timestamp::from_microsecond(micros).unwrap_or_default();
    match &time_zone::system().zone {
        Zone::Named(zone) if in_system_zone => shown(moment, (**zone).clone(), "%Y-%m-%dT%H:%M:%S%.6f%:z"),
        _ if in_system_zone => shown(moment, TimeZone::UTC, "%Y-%m-%dT%H:%M:%S%.6f%:z"),
        _ => shown(moment, TimeZone::UTC, "%Y-%m-%dT%H:%M:%S%.6fZ"),
    }
}

fn shown(moment: Timestamp, zone: TimeZone, form: &str) -> String {
    moment.to_zoned(zone).strftime(form).to_string()
}

/// A line of text: moment, thread, priority, number, part of the server, message.
pub fn text(line: &Line, time: &str) -> String {
    let label = if line.priority == "Error" { "ERROR" } else { line.priority };
    format!("{time} 0 [{label}] [{NO_NUMBER}] [{}] {}\n", line.subsystem, line.text)
}

/// A line that is an object of JSON.
pub fn json(line: &Line, time: &str) -> String {
    let prio = match line.priority {
        "System" => 0,
        "Error" => 1,
        "Warning" => 2,
        _ => 3,
    };
    let mut out = format!("{{ \"prio\" : {prio}, \"err_code\" : 0, \"msg\" : \"");
    for character in line.text.chars() {
        // Writing to a String does not fail.
        let _: std::fmt::Result = match character {
            '"' | '\\' => write!(out, "\\{character}"),
            '\n' => write!(out, "\\n"),
            '\t' => write!(out, "\\t"),
            '\r' => write!(out, "\\r"),
            character if character.is_control() => write!(out, "\\u{:04x}", u32::from(character)),
            character => write!(out, "{character}"),
        };
    }
    let (thousandths, label) = (line.logged / 1000, line.priority);
    let tail = format!(
        "\", \"time\" : \"{time}\", \"ts\" : {thousandths}, \"thread\" : 0, \"subsystem\" : \"{}\", \
         \"SQL_state\" : \"HY000\", \"label\" : \"{label}\" }}\n",
        line.subsystem
    );
    out + &tail
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: i64 = 1_764_244_811_123_456;

    #[test]
    fn a_line_is_laid_out_as_mysqls() {
        let line = Line {
            logged: NOON,
            priority: "Error",
            subsystem: "InnoDB",
            text: "page \"1\"\nis bad".to_owned(),
        };
        let time = time(NOON, false);
        assert_eq!(time, "2025-11-27T12:00:11.123456Z");
        assert_eq!(
            text(&line, &time),
            "2025-11-27T12:00:11.123456Z 0 [ERROR] [MY-000000] [InnoDB] page \"1\"\nis bad\n"
        );
        let object: serde_json::Value = serde_json::from_str(&json(&line, &time)).unwrap();
        assert_eq!((&object["msg"], &object["label"]), (&"page \"1\"\nis bad".into(), &"Error".into()));
        assert_eq!((&object["prio"], &object["ts"]), (&1.into(), &1_764_244_811_123i64.into()));
    }

    #[test]
    fn a_moment_of_a_zone_has_its_offset() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let moment = Timestamp::from_microsecond(NOON).unwrap();
        assert_eq!(shown(moment, zone, "%H:%M:%S%.6f%:z"), "13:00:11.123456+01:00");
    }
}
