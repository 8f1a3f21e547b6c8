//! The buffer pool's content across a restart, as its users see it: the variables `innodb_buffer_pool_dump_*`
//! and `innodb_buffer_pool_load_*`, and what SHOW STATUS says of both. The work is the
//! [engine's](palisade_engine::PoolTransfer).

use std::path::Path;

use palisade_base::sysvar::{Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::{Engine, PoolTransfer};

use crate::host::ServerHost;
use crate::innodb_status::shown_time;

/// What is done when this variable, which is an order and stays OFF, is set to ON.
pub fn order(id: VariableId) -> Option<fn(&Engine, &Settings)> {
    Some(match id {
        sysvar::INNODB_BUFFER_POOL_DUMP_NOW => |engine, settings| {
            engine.start_buffer_pool_dump(file_name(settings), percent(settings));
        },
        sysvar::INNODB_BUFFER_POOL_LOAD_NOW => load,
        sysvar::INNODB_BUFFER_POOL_LOAD_ABORT => |engine, _| engine.abort_buffer_pool_load(),
        _ => return None,
    })
}

/// What a server that starts does; one whose files are damaged does nothing.
pub fn at_start(engine: &Engine, settings: &Settings) {
    let is_forced = settings.uint(sysvar::INNODB_FORCE_RECOVERY) > 0;
    if settings.bool(sysvar::INNODB_BUFFER_POOL_LOAD_AT_STARTUP) && !is_forced {
        load(engine, settings);
    }
}

/// What one that shuts down does, before it writes the pages back. Blocks.
pub fn at_shutdown(engine: &Engine, settings: &Settings) {
    if settings.bool(sysvar::INNODB_BUFFER_POOL_DUMP_AT_SHUTDOWN) {
        engine.dump_buffer_pool(&file_name(settings), percent(settings));
    }
}

fn load(engine: &Engine, settings: &Settings) {
    if let Err(error) = engine.start_buffer_pool_load(file_name(settings)) {
        tracing::warn!("the buffer pool is not loaded: {error}");
    }
}

fn file_name(settings: &Settings) -> String {
    settings.text(sysvar::INNODB_BUFFER_POOL_FILENAME).unwrap_or_default().to_owned()
}

fn percent(settings: &Settings) -> u64 {
    settings.uint(sysvar::INNODB_BUFFER_POOL_DUMP_PCT)
}

/// Whether it is the name of a file in the directory where it is used, and of no other.
pub fn is_file_name(name: &str) -> bool {
    Path::new(name).file_name().is_some_and(|last| last == name)
}

/// The lines of SHOW STATUS, in MySQL's words.
pub fn add_status(host: &ServerHost, add: &mut dyn FnMut(&str, String)) {
    let [dump, load] = host.engine.buffer_pool_transfers();
    let dump = match dump {
        PoolTransfer::NotStarted => "Dumping of buffer pool not started".to_owned(),
        PoolTransfer::UnderWay { .. } => {
            let settings = host.globals.load();
            let directory = Path::new(settings.text(sysvar::DATADIR).unwrap_or_default());
            format!("Dumping buffer pool(s) to {}", directory.join(file_name(&settings)).display())
        }
        PoolTransfer::Completed { at_us } => {
            format!("Buffer pool(s) dump completed at {}", short_time(at_us))
        }
        PoolTransfer::Aborted { at_us } => format!("Buffer pool(s) dump aborted at {}", short_time(at_us)),
        PoolTransfer::Failed { reason } => reason,
    };
    let load = match load {
        PoolTransfer::NotStarted => "Loading of buffer pool not started".to_owned(),
        PoolTransfer::UnderWay { done, of } => format!("Loaded {done}/{of} pages"),
        PoolTransfer::Completed { at_us } => {
            format!("Buffer pool(s) load completed at {}", short_time(at_us))
        }
        PoolTransfer::Aborted { at_us } => {
            format!("Buffer pool(s) load aborted on request at {}", short_time(at_us))
        }
        PoolTransfer::Failed { reason } => reason,
    };
    add("Innodb_buffer_pool_dump_status", dump);
    add("Innodb_buffer_pool_load_status", load);
}

/// A time in the machine's zone, as InnoDB writes it: `261125  2:10:37`.
pub(crate) fn short_time(unix_us: i64) -> String {
    let time = shown_time(unix_us);
    let (date, clock) = time.split_once(' ').unwrap_or((&time, ""));
    let day = date.replace('-', "");
    let day = day.strip_prefix("20").unwrap_or(&day);
    format!("{day} {:>8}", clock.strip_prefix('0').unwrap_or(clock))
}
