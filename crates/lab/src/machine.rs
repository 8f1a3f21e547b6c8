//! The machine as the report describes it: what explains why another machine measures something else.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::stats;

/// A machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Model of the processor.
    pub processor: String,
    /// Processors that the lab may use.
    pub processors: usize,
    /// Memory.
    pub memory_mib: u64,
    /// Kernel release.
    pub kernel: String,
    /// Distribution.
    pub system: String,
    /// Load average over the last minute when the experiment began: what else was running.
    pub load_average: f64,
    /// Kind of the file system under the servers that the lab started.
    pub file_system: String,
    /// Median time of writing 4 KiB and making them durable there, in microseconds: what a commit cannot be faster than.
    pub durable_write_us: Option<f64>,
}

/// Describes this machine; `folder` is where the lab's servers have their data.
pub fn describe(folder: &Path) -> Machine {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, label: &str, separator: char| {
        let line = text.lines().find(|line| line.starts_with(label)).unwrap_or_default();
        line.split_once(separator).map_or_else(|| "unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let memory = field(&read("/proc/meminfo"), "MemTotal", ':');
    let memory_kib = memory.split(' ').next().and_then(|kib| kib.parse::<u64>().ok()).unwrap_or_default();
    let load = read("/proc/loadavg").split(' ').next().and_then(|load| load.parse().ok()).unwrap_or_default();
    Machine {
        processor: field(&read("/proc/cpuinfo"), "model name", ':'),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        memory_mib: memory_kib / 1024,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
        system: field(&read("/etc/os-release"), "PRETTY_NAME", '=').trim_matches('"').to_owned(),
        load_average: load,
        file_system: file_system(&read("/proc/self/mounts"), folder),
        durable_write_us: durable_write_us(folder),
    }
}

/// The kind of the file system that holds `folder`, by a table with the layout of /proc/mounts.
fn file_system(mounts: &str, folder: &Path) -> String {
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    // of two mounts on one folder the later one hides the earlier
    let holding =
        mounts.filter(|(at, _)| folder.starts_with(at)).max_by_key(|(at, _)| at.components().count());
    holding.map_or_else(|| "unknown".to_owned(), |(_, kind)| kind.to_owned())
}

fn durable_write_us(folder: &Path) -> Option<f64> {
    const WRITES: u64 = 64;
    const BLOCK: [u8; 4096] = [0x5a; 4096];
    let path = folder.join("durable-write-probe");
    let times = File::create(&path).and_then(|file| {
        // the length must not change while the time is taken
        file.write_all_at(&vec![0; BLOCK.len() * WRITES as usize], 0)?;
        file.sync_all()?;
        (0..WRITES)
            .map(|block| {
                let start = Instant::now();
                file.write_all_at(&BLOCK, block * BLOCK.len() as u64)?;
                file.sync_data()?;
                Ok(start.elapsed().as_secs_f64() * 1e6)
            })
            .collect::<std::io::Result<Vec<f64>>>()
    });
    // the folder goes anyway
    let _ = fs::remove_file(&path);
    stats::summary(&times.ok()?).map(|summary| summary.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let folder = tempfile::tempdir().expect("a folder");
        let machine = describe(folder.path());
        assert!(machine.processors >= 1 && machine.memory_mib > 0, "{machine:?}");
        assert!(machine.durable_write_us.is_some_and(|us| us > 0.0), "{machine:?}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0);
    }

    #[test]
    fn the_longest_mount_holds_the_folder() {
        let mounts = "/dev/a / ext4 rw 0 0\ntmpfs /tmp tmpfs rw 0 0\n/dev/b /tmp/x xfs rw 0 0\n";
        for (folder, kind) in
            [("/var/lib", "ext4"), ("/tmp/y", "tmpfs"), ("/tmp/x/y", "xfs"), ("/tmpfoo", "ext4")]
        {
            assert_eq!(file_system(mounts, Path::new(folder)), kind, "{folder}");
        }
        assert_eq!(file_system("", Path::new("/x")), "unknown");
    }
}
