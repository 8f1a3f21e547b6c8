//! How much memory the sessions may hold together: `palisade_sessions_memory`.
//!
//! By default it is half of what the buffer pool leaves of the memory that the process may use. The other
//! half is for what is not counted: connections' buffers, the dictionary, locks, the file cache, and what the
//! allocator keeps.

use std::path::Path;
use std::sync::LazyLock;

use palisade_base::sysvar::Settings;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_expr::memory::ServerMemory;

/// The least that is taken by default, however little the pool leaves.
const LEAST: u64 = 256 << 20;

/// Bytes of memory that the process may use, found out once.
static AVAILABLE: LazyLock<u64> = LazyLock::new(|| available(Path::new("/")));

/// Bytes of memory that the process may use; `u64::MAX` where that is not told.
pub fn available_bytes() -> u64 {
    *AVAILABLE
}

/// Has the limits that the settings say.
pub fn apply(memory: &ServerMemory, settings: &Settings) {
    let limit = match settings.uint(sysvar::PALISADE_SESSIONS_MEMORY) {
        0 => by_default(*AVAILABLE, settings.uint(sysvar::INNODB_BUFFER_POOL_SIZE)),
        bytes => bytes,
    };
    memory.set_limits(limit, settings.uint(sysvar::GLOBAL_CONNECTION_MEMORY_LIMIT));
}

fn by_default(available: u64, buffer_pool: u64) -> u64 {
    (available.saturating_sub(buffer_pool) / 2).max(LEAST)
}

/// The machine's memory, or that of the control group if it is less. Without a bound where neither is told.
fn available(root: &Path) -> u64 {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    let machine = read("proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    });
    let machine = machine.map(|kilobytes| kilobytes.saturating_mul(1024));
    // version 2 of control groups, and version 1; "max" is no number
    let group = ["sys/fs/cgroup/memory.max", "sys/fs/cgroup/memory/memory.limit_in_bytes"];
    let group = group.iter().filter_map(|path| read(path)?.trim().parse::<u64>().ok()).min();
    machine.into_iter().chain(group).min().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_of_machine_and_control_group_counts() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(available(root.path()), u64::MAX);
        for folder in ["proc", "sys/fs/cgroup"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("proc/meminfo"), "MemTotal:       2097152 kB\nMemFree: 1 kB\n")
            .unwrap();
        std::fs::write(root.path().join("sys/fs/cgroup/memory.max"), "max\n").unwrap();
        assert_eq!(available(root.path()), 2 << 30);
        std::fs::write(root.path().join("sys/fs/cgroup/memory.max"), "1073741824\n").unwrap();
        assert_eq!(available(root.path()), 1 << 30);
        assert_eq!(by_default(8 << 30, 4 << 30), 2 << 30);
        assert_eq!(by_default(1 << 30, 4 << 30), LEAST);
    }
}
