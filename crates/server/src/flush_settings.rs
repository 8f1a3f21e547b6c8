//! When pages are written back: `innodb_io_capacity`, `innodb_max_dirty_pages_pct` and their like; and when
//! they are read ahead.
//!
//! `innodb_max_dirty_pages_pct_lwm` has MySQL's default, 10, which would have pages written from a tenth of
//! the pool on although no read needs their frames: here the default stands for half of
//! `innodb_max_dirty_pages_pct`, and only another value is taken by the letter. 0 is none, as in MySQL.

use palisade_base::MysqlError;
use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::sysvar::{Kind, Setting, Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::{FlushSettings, IoCapacity, Neighbours, ReadAhead};
use palisade_sql::Session;

/// The variables that say it.
pub const VARIABLES: [VariableId; 7] = [
    sysvar::INNODB_IO_CAPACITY,
    sysvar::INNODB_IO_CAPACITY_MAX,
    sysvar::INNODB_MAX_DIRTY_PAGES_PCT,
    sysvar::INNODB_MAX_DIRTY_PAGES_PCT_LWM,
    sysvar::INNODB_ADAPTIVE_FLUSHING,
    sysvar::INNODB_ADAPTIVE_FLUSHING_LWM,
    sysvar::INNODB_FLUSH_NEIGHBORS,
];

/// What they say.
pub fn of(settings: &Settings) -> FlushSettings {
    let most_dirty_pct = settings.double(sysvar::INNODB_MAX_DIRTY_PAGES_PCT);
    let low = settings.double(sysvar::INNODB_MAX_DIRTY_PAGES_PCT_LWM);
    let default = match sysvar::INNODB_MAX_DIRTY_PAGES_PCT_LWM.declaration().kind {
        Kind::Double { default, .. } => default,
        _ => f64::NAN,
    };
    let low_dirty_pct = match low {
        0.0 => Some(most_dirty_pct),
        low if low == default => None,
        low => Some(low),
    };
    FlushSettings {
        io_capacity: IoCapacity {
            idle: settings.uint(sysvar::INNODB_IO_CAPACITY) as u32,
            most: settings.uint(sysvar::INNODB_IO_CAPACITY_MAX) as u32,
        },
        most_dirty_pct,
        low_dirty_pct,
        is_adaptive: settings.bool(sysvar::INNODB_ADAPTIVE_FLUSHING),
        low_age_pct: settings.uint(sysvar::INNODB_ADAPTIVE_FLUSHING_LWM) as f64,
        neighbours: Neighbours::from_number(settings.uint(sysvar::INNODB_FLUSH_NEIGHBORS)),
    }
}

/// When pages are read that no session has asked for yet.
pub fn read_ahead(settings: &Settings) -> ReadAhead {
    ReadAhead {
        threshold: settings.uint(sysvar::INNODB_READ_AHEAD_THRESHOLD) as u32,
        is_random: settings.bool(sysvar::INNODB_RANDOM_READ_AHEAD),
    }
}

/// Percent of the buffer pool for changes of pages that leave memory unwritten.
pub fn kept_share(settings: &Settings) -> u32 {
    match settings.get(sysvar::INNODB_CHANGE_BUFFERING) {
        // The first of its names, none.
        Setting::Enum(0) => 0,
        _ => settings.uint(sysvar::INNODB_CHANGE_BUFFER_MAX_SIZE) as u32,
    }
}

/// MySQL's two warnings of a value that does not go with another one.
fn warn(session: &mut Session, texts: [String; 2]) {
    for text in texts {
        session.state.warnings.warn(MysqlError::with_message(&ER_WRONG_ARGUMENTS, text));
    }
}

/// What SET makes of `percent` for `innodb_max_dirty_pages_pct_lwm`: no more than
/// `innodb_max_dirty_pages_pct`.
pub fn lowered_pct(settings: &Settings, session: &mut Session, percent: f64) -> f64 {
    let most = settings.double(sysvar::INNODB_MAX_DIRTY_PAGES_PCT);
    if percent <= most {
        return percent;
    }
    let reason = "innodb_max_dirty_pages_pct_lwm cannot be set higher than innodb_max_dirty_pages_pct.";
    warn(session, [reason.to_owned(), format!("Setting innodb_max_dirty_page_pct_lwm to {most:.6}")]);
    most
}

/// `innodb_max_dirty_pages_pct` gets a value below `innodb_max_dirty_pages_pct_lwm`: what that becomes.
pub fn follow_dirty_pct(
    settings: &Settings,
    session: &mut Session,
    id: VariableId,
    percent: f64,
) -> Option<(VariableId, Setting)> {
    let low = sysvar::INNODB_MAX_DIRTY_PAGES_PCT_LWM;
    if id != sysvar::INNODB_MAX_DIRTY_PAGES_PCT || percent >= settings.double(low) {
        return None;
    }
    let reason = "innodb_max_dirty_pages_pct cannot be set lower than innodb_max_dirty_pages_pct_lwm.";
    warn(session, [reason.to_owned(), format!("Lowering innodb_max_dirty_page_pct_lwm to {percent:.6}")]);
    Some((low, Setting::Double(percent)))
}

/// `innodb_io_capacity` or its maximum gets a value beyond the other: what the other becomes, with MySQL's
/// warnings.
pub fn follow_io_capacity(
    settings: &Settings,
    session: &mut Session,
    id: VariableId,
    pages: u64,
) -> Option<(VariableId, Setting)> {
    let (idle, most) = (sysvar::INNODB_IO_CAPACITY, sysvar::INNODB_IO_CAPACITY_MAX);
    let (other, follows, reason, name) = match id {
        _ if id == idle && pages > settings.uint(most) => {
            let before = settings.uint(most);
            let reason =
                format!("Setting innodb_io_capacity to {pages} higher than innodb_io_capacity_max {before}");
            (most, pages.saturating_mul(2).min(u64::from(u32::MAX)), reason, "innodb_max_io_capacity")
        }
        _ if id == most && pages < settings.uint(idle) => {
            let before = settings.uint(idle);
            let reason = format!("innodb_io_capacity_max {pages} lower than innodb_io_capacity {before}.");
            (idle, pages, reason, "innodb_io_capacity")
        }
        _ => return None,
    };
    warn(session, [reason, format!("Setting {name} to {follows}")]);
    Some((other, Setting::UInt(follows)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_the_buffer_pools() {
        assert_eq!(read_ahead(&Settings::default()), ReadAhead::default());
        let mut settings = Settings::default();
        settings.set(sysvar::INNODB_READ_AHEAD_THRESHOLD, Setting::UInt(8));
        settings.set(sysvar::INNODB_RANDOM_READ_AHEAD, Setting::Bool(true));
        settings.set(sysvar::INNODB_FLUSH_NEIGHBORS, Setting::UInt(1));
        assert_eq!(read_ahead(&settings), ReadAhead { threshold: 8, is_random: true });
        assert_eq!(of(&settings).neighbours, Neighbours::Adjacent);
    }

    #[test]
    fn the_default_of_the_low_mark_is_half_of_the_most_and_none_is_the_most() {
        let mut settings = Settings::default();
        assert_eq!(
            of(&settings),
            FlushSettings { io_capacity: of(&settings).io_capacity, ..FlushSettings::default() }
        );
        let mut low = |percent: f64| {
            settings.set(sysvar::INNODB_MAX_DIRTY_PAGES_PCT_LWM, Setting::Double(percent));
            of(&settings).low_dirty_pct
        };
        assert_eq!([low(0.0), low(10.0), low(10.5)], [Some(90.0), None, Some(10.5)]);
    }
}
