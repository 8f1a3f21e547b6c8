//! The machine's time zone: what `time_zone = SYSTEM` means.
//!
//! It is what `TZ` says (a name of the zone database, a file, or a POSIX rule like
//! `CET-1CEST,M3.5.0,M10.5.0/3`), else what `/etc/localtime` says, else UTC. It is read once: sessions agree
//! on it as long as the server runs.

use std::sync::LazyLock;

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use palisade_catalog::Zone;

/// The machine's time zone.
pub struct SystemZone {
    /// Its abbreviation at the time of the start, as `@@system_time_zone` shows it: `CEST`.
    pub abbreviation: String,
    /// Its rules.
    pub zone: Zone,
    /// Why it is UTC, if not because the machine says so.
    pub problem: Option<String>,
}

/// The machine's time zone, as it was when first asked for.
pub fn system() -> &'static SystemZone {
    static SYSTEM: LazyLock<SystemZone> = LazyLock::new(|| match TimeZone::try_system() {
        Ok(zone) => describe(zone, Timestamp::now()),
        Err(error) => SystemZone {
            abbreviation: "UTC".to_owned(),
            zone: Zone::UTC,
            problem: Some(format!("the machine's time zone cannot be read, UTC is taken: {error}")),
        },
    });
    &SYSTEM
}

fn describe(zone: TimeZone, now: Timestamp) -> SystemZone {
    let abbreviation = zone.to_offset_info(now).abbreviation().to_owned();
    // a zone that is UTC by another name needs no rules
    let is_utc = zone.to_fixed_offset().is_ok_and(|offset| offset == Offset::UTC);
    let zone = if is_utc { Zone::UTC } else { Zone::Named(Box::new(zone)) };
    SystemZone { abbreviation, zone, problem: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_known_by_its_abbreviation_of_the_day() {
        let summer: Timestamp = "2026-07-01T12:00:00Z".parse().unwrap();
        let winter: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        let berlin = || TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        assert_eq!(describe(berlin(), summer).abbreviation, "CEST");
        assert_eq!(describe(berlin(), winter).abbreviation, "CET");
        let noon = palisade_catalog::Timestamp(summer.as_microsecond());
        assert_eq!(noon.to_datetime(&describe(berlin(), summer).zone).hour(), 14);
        let utc = describe(TimeZone::UTC, summer);
        assert_eq!((utc.abbreviation.as_str(), utc.zone), ("UTC", Zone::UTC));
    }
}
