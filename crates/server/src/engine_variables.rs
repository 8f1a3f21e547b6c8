//! What the global system variables mean to the storage engine: with what it is opened, and what it is told
//! when one of them is SET.
//!
//! A variable is declared in [`palisade_base::sysvar_catalogue`]; its effect is one row here. Variables that
//! only mean something together share a row.

use std::time::Duration;

use palisade_base::sysvar::{Settings, VariableId};
use palisade_base::sysvar_catalogue as sysvar;
use palisade_engine::{
    AutoIncrementLockMode, DoublewriteMode, Engine, EngineConfig, FlushAtCommit, FlushMethod, ForceRecovery,
    LogWriterThreads, MAX_UNDO_KEPT, PageSinkKind,
};
use palisade_io::Waiting;

use crate::{doublewrite, flush_settings};

/// What the engine is opened with, as the settings say it.
type AtStart = fn(&mut EngineConfig, &Settings);

/// What the engine is told when the settings have changed.
type WhenSet = fn(&Engine, &Settings);

/// The effect of a variable, or of several together.
struct Effect {
    variables: &'static [VariableId],
    at_start: Option<AtStart>,
    when_set: Option<WhenSet>,
}

/// Read when the engine is opened, and never again.
const fn at_start(variables: &'static [VariableId], at_start: AtStart) -> Effect {
    Effect { variables, at_start: Some(at_start), when_set: None }
}

/// Read when the engine is opened, and told to it when it changes.
const fn always(variables: &'static [VariableId], at_start: AtStart, when_set: WhenSet) -> Effect {
    Effect { variables, at_start: Some(at_start), when_set: Some(when_set) }
}

/// Told to the engine once it is open, and when it changes.
const fn once_open(variables: &'static [VariableId], when_set: WhenSet) -> Effect {
    Effect { variables, at_start: None, when_set: Some(when_set) }
}

static EFFECTS: &[Effect] = &[
    at_start(&[sysvar::INNODB_BUFFER_POOL_SIZE], |config, settings| {
        config.buffer_pool_size = settings.uint(sysvar::INNODB_BUFFER_POOL_SIZE);
    }),
    always(
        &[sysvar::INNODB_REDO_LOG_CAPACITY],
        |config, settings| config.redo_log_capacity = settings.uint(sysvar::INNODB_REDO_LOG_CAPACITY),
        |engine, settings| engine.resize_redo_log(settings.uint(sysvar::INNODB_REDO_LOG_CAPACITY)),
    ),
    at_start(&[sysvar::INNODB_FORCE_RECOVERY], |config, settings| {
        let level = settings.uint(sysvar::INNODB_FORCE_RECOVERY);
        config.force_recovery = ForceRecovery::from_number(level).unwrap_or_default();
    }),
    always(
        &[sysvar::INNODB_LOG_BUFFER_SIZE],
        |config, settings| config.log_buffer_size = settings.uint(sysvar::INNODB_LOG_BUFFER_SIZE),
        |engine, settings| engine.resize_log_buffer(settings.uint(sysvar::INNODB_LOG_BUFFER_SIZE)),
    ),
    always(
        &[sysvar::INNODB_LOG_WRITE_AHEAD_SIZE],
        |config, settings| config.log_write_ahead_size = settings.uint(sysvar::INNODB_LOG_WRITE_AHEAD_SIZE),
        |engine, settings| {
            engine.set_log_write_ahead_size(settings.uint(sysvar::INNODB_LOG_WRITE_AHEAD_SIZE))
        },
    ),
    always(
        &[sysvar::INNODB_FLUSH_LOG_AT_TIMEOUT],
        |config, settings| config.flush_log_at_timeout = flush_log_at_timeout(settings),
        |engine, settings| engine.set_flush_log_at_timeout(flush_log_at_timeout(settings)),
    ),
    always(
        &[sysvar::INNODB_FLUSH_LOG_AT_TRX_COMMIT],
        |config, settings| config.flush_at_commit = flush_at_commit(settings),
        |engine, settings| engine.set_flush_at_commit(flush_at_commit(settings)),
    ),
    always(
        &[sysvar::INNODB_LOG_WRITER_THREADS],
        |config, settings| config.log_writer_threads = log_writer_threads(settings),
        |engine, settings| engine.set_log_writer_threads(log_writer_threads(settings)),
    ),
    always(
        &[sysvar::INNODB_DOUBLEWRITE],
        |config, settings| config.doublewrite = doublewrite::mode(settings),
        |engine, settings| match doublewrite::mode(settings) {
            // It is neither left nor entered while the server runs.
            DoublewriteMode::Off => {}
            mode => engine.set_doublewrite(mode),
        },
    ),
    at_start(&[sysvar::INNODB_DOUBLEWRITE_DIR], |config, settings| {
        config.doublewrite_dir = doublewrite::directory(settings);
    }),
    at_start(&[sysvar::INNODB_DOUBLEWRITE_FILES], |config, settings| {
        config.doublewrite_files = settings.uint(sysvar::INNODB_DOUBLEWRITE_FILES) as usize;
    }),
    at_start(&[sysvar::INNODB_DOUBLEWRITE_PAGES], |config, settings| {
        config.doublewrite_pages = doublewrite::batch_pages(settings);
    }),
    at_start(&[sysvar::INNODB_FLUSH_METHOD], |config, settings| {
        let position = settings.enumerated(sysvar::INNODB_FLUSH_METHOD);
        config.flush_method = FlushMethod::from_position(position).unwrap_or_default();
    }),
    at_start(&[sysvar::INNODB_READ_IO_THREADS], |config, settings| {
        config.io_threads = settings.uint(sysvar::INNODB_READ_IO_THREADS) as usize;
    }),
    at_start(&[sysvar::INNODB_WRITE_IO_THREADS], |config, settings| {
        config.write_io_threads = settings.uint(sysvar::INNODB_WRITE_IO_THREADS) as usize;
    }),
    at_start(&[sysvar::INNODB_USE_NATIVE_AIO], |config, settings| {
        let waits_in_kernel = settings.bool(sysvar::INNODB_USE_NATIVE_AIO);
        config.io_waiting = if waits_in_kernel { Waiting::Kernel } else { Waiting::Threads };
    }),
    at_start(&[sysvar::INNODB_PAGE_CLEANERS], |config, settings| {
        config.page_cleaners = settings.uint(sysvar::INNODB_PAGE_CLEANERS) as usize;
    }),
    always(
        &[sysvar::INNODB_LRU_SCAN_DEPTH],
        |config, settings| config.lru_scan_depth = settings.uint(sysvar::INNODB_LRU_SCAN_DEPTH) as usize,
        |engine, settings| engine.set_lru_scan_depth(settings.uint(sysvar::INNODB_LRU_SCAN_DEPTH) as u32),
    ),
    always(
        &flush_settings::VARIABLES,
        |config, settings| config.flushing = flush_settings::of(settings),
        |engine, settings| engine.set_flushing(flush_settings::of(settings)),
    ),
    always(
        &[sysvar::INNODB_READ_AHEAD_THRESHOLD, sysvar::INNODB_RANDOM_READ_AHEAD],
        |config, settings| config.read_ahead = flush_settings::read_ahead(settings),
        |engine, settings| engine.set_read_ahead(flush_settings::read_ahead(settings)),
    ),
    always(
        &[sysvar::INNODB_CHANGE_BUFFERING, sysvar::INNODB_CHANGE_BUFFER_MAX_SIZE],
        |config, settings| config.kept_share = flush_settings::kept_share(settings),
        |engine, settings| engine.set_kept_share(flush_settings::kept_share(settings)),
    ),
    always(
        &[sysvar::INNODB_ADAPTIVE_HASH_INDEX],
        |config, settings| config.adaptive_hash_index = settings.bool(sysvar::INNODB_ADAPTIVE_HASH_INDEX),
        |engine, settings| {
            engine.set_adaptive_hash_index(settings.bool(sysvar::INNODB_ADAPTIVE_HASH_INDEX));
        },
    ),
    at_start(&[sysvar::INNODB_ADAPTIVE_HASH_INDEX_PARTS], |config, settings| {
        config.adaptive_hash_index_parts = settings.uint(sysvar::INNODB_ADAPTIVE_HASH_INDEX_PARTS) as usize;
    }),
    at_start(&[sysvar::INNODB_PURGE_THREADS], |config, settings| {
        config.purge_threads = settings.uint(sysvar::INNODB_PURGE_THREADS) as usize;
    }),
    always(
        &[sysvar::INNODB_MAX_UNDO_LOG_SIZE, sysvar::INNODB_UNDO_LOG_TRUNCATE],
        |config, settings| config.undo_kept = undo_kept(settings),
        |engine, settings| engine.set_undo_kept(undo_kept(settings)),
    ),
    always(
        &[sysvar::PALISADE_PAGE_SINK],
        |config, settings| config.page_sink = page_sink(settings),
        |engine, settings| engine.set_page_sink(page_sink(settings)),
    ),
    always(
        &[sysvar::PALISADE_UNDO_RESERVE_SIZE],
        |config, settings| config.undo_reserve = settings.uint(sysvar::PALISADE_UNDO_RESERVE_SIZE),
        |engine, settings| engine.set_undo_reserve(settings.uint(sysvar::PALISADE_UNDO_RESERVE_SIZE)),
    ),
    at_start(&[sysvar::INNODB_AUTOINC_LOCK_MODE], |config, settings| {
        let mode = settings.uint(sysvar::INNODB_AUTOINC_LOCK_MODE);
        config.auto_increment_lock_mode = AutoIncrementLockMode::from_number(mode).unwrap_or_default();
    }),
    once_open(&[sysvar::INNODB_MAX_PURGE_LAG], |engine, settings| {
        engine.set_max_purge_lag(settings.uint(sysvar::INNODB_MAX_PURGE_LAG));
    }),
    once_open(&[sysvar::INNODB_MAX_PURGE_LAG_DELAY], |engine, settings| {
        engine.set_max_purge_lag_delay(settings.uint(sysvar::INNODB_MAX_PURGE_LAG_DELAY));
    }),
    once_open(&[sysvar::INNODB_FLUSHING_AVG_LOOPS], |engine, settings| {
        engine.set_flushing_avg_loops(settings.uint(sysvar::INNODB_FLUSHING_AVG_LOOPS));
    }),
    once_open(&[sysvar::INNODB_COMPRESSION_LEVEL], |engine, settings| {
        engine.set_compression_level(settings.uint(sysvar::INNODB_COMPRESSION_LEVEL) as u8);
    }),
];

/// Puts into `config` what the settings say.
pub fn configure(config: &mut EngineConfig, settings: &Settings) {
    EFFECTS.iter().filter_map(|effect| effect.at_start).for_each(|at_start| at_start(config, settings));
}

/// Tells an engine that has just been opened what is in no [`EngineConfig`].
pub fn complete(engine: &Engine, settings: &Settings) {
    let rest = EFFECTS.iter().filter(|effect| effect.at_start.is_none());
    rest.filter_map(|effect| effect.when_set).for_each(|when_set| when_set(engine, settings));
}

/// Tells the engine of the new value that a global variable has in `settings`.
pub fn apply(engine: &Engine, settings: &Settings, id: VariableId) {
    let effect = EFFECTS.iter().find(|effect| effect.variables.contains(&id));
    if let Some(when_set) = effect.and_then(|effect| effect.when_set) {
        when_set(engine, settings);
    }
}

fn flush_log_at_timeout(settings: &Settings) -> Duration {
    Duration::from_secs(settings.uint(sysvar::INNODB_FLUSH_LOG_AT_TIMEOUT))
}

fn flush_at_commit(settings: &Settings) -> FlushAtCommit {
    FlushAtCommit::from_number(settings.uint(sysvar::INNODB_FLUSH_LOG_AT_TRX_COMMIT)).unwrap_or_default()
}

fn log_writer_threads(settings: &Settings) -> LogWriterThreads {
    match settings.enumerated(sysvar::INNODB_LOG_WRITER_THREADS) {
        0 => LogWriterThreads::Off,
        1 => LogWriterThreads::On,
        _ => LogWriterThreads::Auto,
    }
}

/// How many bytes of free undo pages keep their room on the disk; `None` for all.
fn undo_kept(settings: &Settings) -> Option<u64> {
    let most = settings.uint(sysvar::INNODB_MAX_UNDO_LOG_SIZE).min(MAX_UNDO_KEPT);
    settings.bool(sysvar::INNODB_UNDO_LOG_TRUNCATE).then_some(most)
}

/// Where pages of new tables go.
fn page_sink(settings: &Settings) -> PageSinkKind {
    PageSinkKind::ALL.get(settings.enumerated(sysvar::PALISADE_PAGE_SINK)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use palisade_base::sysvar::Scope;

    use super::*;

    #[test]
    fn a_variable_has_one_row_and_what_only_a_start_reads_cannot_be_set() {
        let mut seen = Vec::new();
        for effect in EFFECTS {
            for id in effect.variables {
                let variable = id.declaration();
                assert!(!seen.contains(id), "{} has two rows", variable.name);
                assert_ne!(variable.scope, Scope::Session, "{}", variable.name);
                // The size of the buffer pool is changed step by step, beside the settings.
                let is_followed = effect.when_set.is_some() || *id == sysvar::INNODB_BUFFER_POOL_SIZE;
                assert_eq!(variable.dynamic, is_followed, "{}", variable.name);
                seen.push(*id);
            }
        }
    }

    #[test]
    fn an_engine_is_opened_with_the_declared_defaults() {
        let mut config = EngineConfig::default();
        configure(&mut config, &Settings::default());
        assert_eq!(config.flush_at_commit, EngineConfig::default().flush_at_commit);
        assert_eq!(config.buffer_pool_size, Settings::default().uint(sysvar::INNODB_BUFFER_POOL_SIZE));
    }
}
