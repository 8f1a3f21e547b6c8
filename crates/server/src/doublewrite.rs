//! `innodb_doublewrite` and the variables around it.
//!
//! | value | group |
//! |---|---|
//! | OFF, FALSE | off: at start only, and neither entered nor left while the server runs |
//! | ON, TRUE, DETECT_AND_RECOVER | copies |
//! | DETECT_ONLY | ids |
//! | AUTO | atomic writes, or copies |
//!
//! SET to another value of the same group changes nothing, not even what is shown, as in MySQL.

use std::path::{Path, PathBuf};

use palisade_base::error_catalogue::ER_WRONG_ARGUMENTS;
use palisade_base::sysvar::{Setting, Settings};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_base::{MysqlError, mysql_error};
use palisade_engine::DoublewriteMode;

/// The places of the values in the declaration.
const OFF: usize = 0;
const ON: usize = 1;
const DETECT_ONLY: usize = 2;
const DETECT_AND_RECOVER: usize = 3;
const FALSE: usize = 4;
const AUTO: usize = 6;

fn mode_of(place: usize) -> DoublewriteMode {
    match place {
        OFF | FALSE => DoublewriteMode::Off,
        DETECT_ONLY => DoublewriteMode::DetectOnly,
        AUTO => DoublewriteMode::Auto,
        _ => DoublewriteMode::On,
    }
}

/// What the setting asks the engine for.
pub fn mode(settings: &Settings) -> DoublewriteMode {
    mode_of(settings.enumerated(sysvar::INNODB_DOUBLEWRITE))
}

/// Where the doublewrite files are, if not in the data directory.
pub fn directory(settings: &Settings) -> Option<PathBuf> {
    let datadir = Path::new(settings.text(sysvar::DATADIR).unwrap_or("data"));
    let named = settings.text(sysvar::INNODB_DOUBLEWRITE_DIR).filter(|name| !name.is_empty());
    named.map(|name| datadir.join(name)).filter(|directory| directory != datadir)
}

/// Pages of a cleaner's batch.
pub fn batch_pages(settings: &Settings) -> usize {
    let pages = settings.uint(sysvar::INNODB_DOUBLEWRITE_PAGES) as usize;
    match settings.uint(sysvar::INNODB_DOUBLEWRITE_BATCH_SIZE) as usize {
        0 => pages,
        batch => batch.min(pages),
    }
}

/// What SET makes of a value; 1210 if that is only to be had by another start.
pub fn assigned(place: usize, now: usize) -> Result<usize, MysqlError> {
    use DoublewriteMode::Off;
    let refused = |mode: &str, state: &str| {
        let what = format!(
            "InnoDB: cannot change doublewrite mode to {mode} if doublewrite is {state}. Please shutdown and change value to {mode}"
        );
        mysql_error!(ER_WRONG_ARGUMENTS, what)
    };
    let normal = match place {
        OFF | FALSE => OFF,
        DETECT_ONLY | DETECT_AND_RECOVER | AUTO => place,
        _ => ON,
    };
    match (mode_of(now), mode_of(place)) {
        (before, after) if before == after => Ok(now),
        (_, Off) => Err(refused("OFF", "enabled")),
        (Off, _) => Err(refused(NAMES.get(normal).copied().unwrap_or_default(), "disabled")),
        _ => Ok(normal),
    }
}

/// The values, each once.
const NAMES: [&str; 7] = ["OFF", "ON", "DETECT_ONLY", "DETECT_AND_RECOVER", "OFF", "ON", "AUTO"];

/// What a variable is set to: of the value that was given, what [`assigned`] makes of it.
pub fn setting(given: Setting, now: &Setting) -> Result<Setting, MysqlError> {
    match (&given, now) {
        (Setting::Enum(place), Setting::Enum(now)) => Ok(Setting::Enum(assigned(*place, *now)?)),
        _ => Ok(given),
    }
}
