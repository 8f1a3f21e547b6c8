//! What the engine costs below SQL, on a real directory: rates, many sessions on few event loops, a long run,
//! and crashes.
//!
//! ```text
//! cargo run --release -p palisade-engine --example engine_bench -- rates
//! cargo run --release -p palisade-engine --example engine_bench -- sessions sessions=64 seconds=5
//! cargo run --release -p palisade-engine --example engine_bench -- soak seconds=120 pool=128 log=64
//! cargo run --release -p palisade-engine --example engine_bench -- crash rounds=20
//! ```
//!
//! The table is sysbench's: `id` primary key, `k` indexed, `c char(120)`, `pad char(60)`; the write
//! transaction is that of `oltp_write_only`. `dir=` says where (default: under the system's temporary
//! directory, removed afterwards).

mod crash;
mod rates;
mod sessions;
mod soak;
mod table;

use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use palisade_engine::{
    DoublewriteMode, Engine, EngineConfig, FlushAtCommit, FlushMethod, FlushSettings, IoCapacity,
    LogWriterThreads,
};
use palisade_io::OsFileSystem;
use palisade_io::heap::Mimalloc;

/// The server's allocator.
#[global_allocator]
static ALLOCATOR: Mimalloc = Mimalloc;

/// `name=value` arguments.
pub struct Options(Vec<(String, String)>);

impl Options {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(known, _)| known == name).map(|(_, value)| &value[..])
    }

    /// The value of `name`, or `default`.
    pub fn get<T: FromStr>(&self, name: &str, default: T) -> T {
        let Some(text) = self.text(name) else { return default };
        text.parse().unwrap_or_else(|_| panic!("{name}={text} is not understood"))
    }

    /// `flush=`
    fn flush(&self, default: u64) -> FlushAtCommit {
        FlushAtCommit::from_number(self.get("flush", default)).expect("flush is 0, 1 or 2")
    }

    /// `mode=`
    fn mode(&self) -> LogWriterThreads {
        match self.text("mode").unwrap_or("auto") {
            "on" => LogWriterThreads::On,
            "off" => LogWriterThreads::Off,
            _ => LogWriterThreads::Auto,
        }
    }

    /// The directory.
    pub fn dir(&self) -> PathBuf {
        self.text("dir").map_or_else(|| std::env::temp_dir().join("palisade-engine-bench"), PathBuf::from)
    }

    /// The engine's configuration; sizes are in MiB.
    pub fn config(&self) -> EngineConfig {
        EngineConfig {
            datadir: self.dir(),
            buffer_pool_size: self.get("pool", 1024u64) << 20,
            redo_log_capacity: self.get("log", 1024u64) << 20,
            flush_at_commit: self.flush(1),
            log_writer_threads: self.mode(),
            flush_method: if self.get("direct", false) { FlushMethod::ODirect } else { FlushMethod::Fsync },
            doublewrite: match self.get("doublewrite", true) {
                true => DoublewriteMode::On,
                false => DoublewriteMode::Off,
            },
            purge_threads: self.get("purge", 1),
            flushing: FlushSettings { io_capacity: self.io_capacity(), ..FlushSettings::default() },
            ..EngineConfig::default()
        }
    }

    fn io_capacity(&self) -> IoCapacity {
        let idle = self.get("io_capacity", IoCapacity::default().idle);
        IoCapacity { idle, most: self.get("io_capacity_max", idle.saturating_mul(2)) }
    }

    /// An engine in an empty directory.
    pub fn fresh_engine(&self) -> Arc<Engine> {
        let _ = std::fs::remove_dir_all(self.dir());
        self.open_engine()
    }

    /// The engine of the directory as it is.
    pub fn open_engine(&self) -> Arc<Engine> {
        Engine::open(self.config(), Arc::new(OsFileSystem::new())).expect("the engine opens")
    }

    /// Writes everything back and removes the directory, unless `keep=true`.
    pub fn finish(&self, engine: &Arc<Engine>) {
        engine.shutdown().expect("the engine shuts down");
        if !self.get("keep", false) {
            let _ = std::fs::remove_dir_all(self.dir());
        }
    }
}

/// The engine's counter `name`.
pub fn metric(engine: &Engine, name: &str) -> u64 {
    let metrics = engine.metrics();
    metrics.iter().find(|metric| metric.name == name).map_or(0, |metric| metric.value())
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_else(|| "rates".to_owned());
    let split = |argument: String| {
        let (name, value) = argument.split_once('=').expect("options are name=value");
        (name.to_owned(), value.to_owned())
    };
    let options = Options(arguments.map(split).collect());
    match &what[..] {
        "rates" => rates::run(&options),
        "sessions" => sessions::run(&options),
        "soak" => soak::run(&options),
        "crash" => crash::run(&options),
        "crash-child" => crash::child(&options),
        other => panic!("{other}: rates, sessions, soak or crash"),
    }
}
