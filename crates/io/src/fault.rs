//! A disk that misbehaves on demand, deterministically.
//!
//! Every file has two images: what the operating system shows, and what the platter holds. A change goes to
//! the first and is *pending*; [`File::sync`] brings a file's pending changes to the second, in order. Names
//! work alike: creating, removing and renaming are pending until [`FileSystem::sync_dir`].
//!
//! ```text
//!   write ──> shown image ──┬─ sync ───────────────────> durable image
//!             pending list ─┴─ crash: each 512-byte sector of each pending write
//!                              is kept or lost, by the seed ──> both images
//! ```
//!
//! [`FaultFileSystem::crash`] is the power cut: sector writes are atomic, nothing else is; of the pending
//! names of a directory a prefix survives, as from a journal. Handles opened before a crash are dead after
//! it. A sync that fails drops the pending changes to chance, and a later sync will not bring them back, as
//! on Linux.
//!
//! [`FaultFileSystem::fail`] makes the n-th call of a kind fail; with [`Fault::Crash`] that call and all
//! later ones fail until [`FaultFileSystem::crash`], so a test can stop a workload at each of its changes in
//! turn.

mod images;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use palisade_base::prng::Prng;
use parking_lot::Mutex;

use self::images::{Change, Images, NameChange};
use crate::file::{Creation, DirLock, File, FileSystem, NotAtomic, OpenMode, past_the_end, refused_atomic};
use crate::mem::{already_exists, lock_in, not_found};
use crate::syncing::SyncRule;

/// What a disk writes atomically, in bytes.
const SECTOR: u64 = 512;
/// Where a file is on the disk is known in units of this.
const BLOCK: u64 = 4096;

/// A kind of call that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Call {
    /// [`File::read_at`].
    Read,
    /// [`File::write_at`].
    Write,
    /// [`File::sync`].
    Sync,
    /// [`File::set_len`], [`File::allocate`] and [`File::punch_hole`].
    Resize,
    /// Creating, removing and renaming files.
    Name,
    /// [`FileSystem::sync_dir`].
    SyncDir,
    /// Any call but [`Call::Read`].
    Change,
}

/// How a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// EIO, once.
    Io,
    /// ENOSPC, once. The first sectors of a write may have been written, by the seed.
    NoSpace,
    /// The power is cut during the call: its change is pending, it returns an error, and so does every later
    /// call until [`FaultFileSystem::crash`].
    Crash,
}

/// What a crash leaves of pending changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrashKeeps {
    /// Nothing: the disk lost all that was not synced.
    Synced,
    /// Everything: the process was killed, the operating system lives. What was not synced is still to be:
    /// the next crash may lose it.
    Everything,
    /// Any part, by the seed: whole changes or single sectors of them.
    Random,
}

/// What a disk does with [`File::write_atomic_at`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// It writes sectors, and says so: such writes are refused.
    #[default]
    Sectors,
    /// It writes so many bytes whole.
    Atomic(u32),
    /// It says so, and writes sectors.
    Lying(u32),
}

/// A sector of a write that was not synced when the power was cut.
#[derive(Debug, Clone, Copy)]
pub struct PendingSector<'a> {
    /// The file.
    pub path: &'a Path,
    /// Which of its changes since the last sync it belongs to, from 0 ...
    pub change: usize,
    /// ... of so many.
    pub changes: usize,
    /// Where it is in the file, in sectors of 512 bytes.
    pub sector: u64,
}

/// [`FileSystem`] in memory with seeded faults.
pub struct FaultFileSystem {
    state: Arc<Mutex<State>>,
    locked: Arc<Mutex<BTreeSet<PathBuf>>>,
}

struct State {
    random: Prng,
    names: Names,
    durable_names: Names,
    pending_names: Vec<NameChange>,
    files: BTreeMap<FileId, Images>,
    next_file: FileId,
    faults: Vec<PlannedFault>,
    changes: u64,
    space: Option<u64>,
    /// The file that the disk is too full for.
    full_for: Option<FileId>,
    device: Device,
    /// The sync of one file empties the device's cache for all.
    has_one_cache: bool,
    down: bool,
    /// Crashes so far; a handle is of the life in which it was opened.
    life: u64,
    trace: Option<String>,
}

type FileId = u64;
type Names = BTreeMap<PathBuf, FileId>;

struct PlannedFault {
    call: Call,
    remaining: u64,
    fault: Fault,
}

impl FaultFileSystem {
    /// An empty file system whose crashes follow `seed`.
    pub fn new(seed: u64) -> Self {
        let state = State {
            random: Prng::new(seed),
            names: Names::new(),
            durable_names: Names::new(),
            pending_names: Vec::new(),
            files: BTreeMap::new(),
            next_file: 0,
            faults: Vec::new(),
            changes: 0,
            space: None,
            full_for: None,
            device: Device::default(),
            has_one_cache: false,
            down: false,
            life: 0,
            trace: None,
        };
        FaultFileSystem { state: Arc::new(Mutex::new(state)), locked: Arc::default() }
    }

    /// Makes the `nth` call of a kind from now (1 is the next) fail.
    pub fn fail(&self, call: Call, nth: u64, fault: Fault) {
        assert!(nth > 0, "calls are counted from 1");
        self.state.lock().faults.push(PlannedFault { call, remaining: nth, fault });
    }

    /// Forgets planned faults that have not happened.
    pub fn clear_faults(&self) {
        self.state.lock().faults.clear();
    }

    /// Calls of kind [`Call::Change`] so far.
    pub fn changes(&self) -> u64 {
        self.state.lock().changes
    }

    /// Whether a [`Fault::Crash`] has happened and [`FaultFileSystem::crash`] has not been called since.
    pub fn is_down(&self) -> bool {
        self.state.lock().down
    }

    /// Limits what all files [take](Self::used_space) to `bytes`: what would exceed it fails with ENOSPC.
    pub fn limit_space(&self, bytes: Option<u64>) {
        self.state.lock().space = bytes;
    }

    /// Makes the disk too full for what is written to a file, until it is told otherwise or crashes: of each
    /// write the first sectors may be written, by the seed.
    pub fn set_full_for(&self, path: Option<&Path>) {
        let mut state = self.state.lock();
        state.full_for = path.map(|path| state.names[path]);
    }

    /// What all files take: their lengths without the holes that were punched.
    pub fn used_space(&self) -> u64 {
        self.state.lock().used_space()
    }

    /// The power cut and the restart: decides what is left of pending changes, and kills all open handles and
    /// locks.
    pub fn crash(&self, keeps: CrashKeeps) {
        self.state.lock().crash(keeps);
        self.locked.lock().clear();
    }

    /// The same, with `keeps` saying of each sector of a pending write whether it reached the platter. Where
    /// a write is carried out whole, only its first sector is asked about. Names and lengths are kept.
    pub fn crash_keeping(&self, keeps: &mut dyn FnMut(PendingSector<'_>) -> bool) {
        self.state.lock().crash_keeping(keeps);
        self.locked.lock().clear();
    }

    /// Whether the sync of one file empties the device's cache for all files, and
    /// [`one_flush_covers`](FileSystem::one_flush_covers) says so.
    pub fn set_one_cache(&self, has_one_cache: bool) {
        self.state.lock().has_one_cache = has_one_cache;
    }

    /// Makes it a disk of another kind.
    pub fn set_device(&self, device: Device) {
        self.state.lock().device = device;
    }

    /// Starts the list of calls, as text; changes only.
    pub fn start_trace(&self) {
        self.state.lock().trace = Some(String::new());
    }

    /// The list of calls since [`FaultFileSystem::start_trace`] or the last take: one line each.
    pub fn take_trace(&self) -> String {
        self.state.lock().trace.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Flips one bit of a file, on the platter too.
    pub fn flip_bit(&self, path: &Path, bit: u64) {
        let mut state = self.state.lock();
        let id = state.names[path];
        let images = state.files.get_mut(&id).expect("a name leads to a file");
        images.sync();
        for image in [&mut images.shown, &mut images.durable] {
            let mut byte = [0];
            image.read(&mut byte, bit / 8);
            byte[0] ^= 1 << (bit % 8);
            image.write(&byte, bit / 8);
        }
    }
}

impl State {
    /// Counts the call and decides whether it fails. `Ok(true)`: make the change pending, then the power is
    /// cut.
    fn enter(&mut self, call: Call, life: u64, describe: impl FnOnce() -> String) -> io::Result<bool> {
        if self.down || life != self.life {
            return Err(io::Error::other("the machine is down"));
        }
        let is_change = call != Call::Read;
        self.changes += u64::from(is_change);
        let mut hit = None;
        self.faults.retain_mut(|planned| {
            if planned.call != call && !(is_change && planned.call == Call::Change) {
                return true;
            }
            planned.remaining -= 1;
            if planned.remaining == 0 {
                hit = Some(planned.fault);
            }
            planned.remaining > 0
        });
        if is_change && let Some(trace) = &mut self.trace {
            let failed = match hit {
                None => "",
                Some(Fault::Io) => ": EIO",
                Some(Fault::NoSpace) => ": ENOSPC",
                Some(Fault::Crash) => ": crash",
            };
            let _ = writeln!(trace, "{}{failed}", describe());
        }
        match hit {
            None => Ok(false),
            Some(Fault::Io) => Err(io::Error::from_raw_os_error(libc::EIO)),
            Some(Fault::NoSpace) => Err(no_space()),
            Some(Fault::Crash) => {
                self.down = true;
                Ok(true)
            }
        }
    }

    fn images(&mut self, file: FileId) -> &mut Images {
        self.files.get_mut(&file).expect("a live handle leads to a file")
    }

    /// What the file is called now, for the trace.
    fn name_of(&self, file: FileId) -> String {
        if self.trace.is_none() {
            return String::new();
        }
        let name = self.names.iter().find(|(_, id)| **id == file);
        name.map_or("(removed)".to_owned(), |(path, _)| path.display().to_string())
    }

    fn used_space(&self) -> u64 {
        self.names.values().map(|id| self.files[id].shown.allocated()).sum()
    }

    /// Whether the disk has room for what the change needs: bytes behind the end of the file, and holes.
    fn check_space(&self, file: FileId, change: &Change) -> io::Result<()> {
        let Some(limit) = self.space else { return Ok(()) };
        let shown = &self.files[&file].shown;
        let growth = match change {
            Change::Write { offset, bytes, .. } => shown.missing(*offset, bytes.len() as u64),
            Change::Allocate { offset, len } => shown.missing(*offset, *len),
            Change::SetLen { len } => len.saturating_sub(shown.len()),
            Change::PunchHole { .. } => 0,
        };
        if growth > 0 && self.used_space() + growth > limit { Err(no_space()) } else { Ok(()) }
    }

    /// Of what would overwrite bytes of the file, writes the first sectors.
    fn write_some(&mut self, file: FileId, change: Change) {
        let Change::Write { offset, mut bytes, whole: false, direct } = change else { return };
        let sectors = self.random.below(bytes.len() as u64 / SECTOR + 1);
        bytes.truncate((sectors * SECTOR) as usize);
        let images = self.images(file);
        if offset + bytes.len() as u64 <= images.shown.len() {
            images.change(Change::Write { offset, bytes, whole: false, direct });
        }
    }

    fn crash_keeping(&mut self, keeps: &mut dyn FnMut(PendingSector<'_>) -> bool) {
        let names: Vec<_> = self.names.iter().map(|(path, file)| (path.clone(), *file)).collect();
        for (path, file) in names {
            let images = self.images(file);
            let pending = std::mem::take(&mut images.pending);
            let changes = pending.len();
            for (at, change) in pending.iter().enumerate() {
                let mut keeps = |sector| keeps(PendingSector { path: &path, change: at, changes, sector });
                change.apply_keeping(&mut images.durable, &mut keeps);
            }
        }
        self.settle(CrashKeeps::Everything);
        self.restart();
    }

    fn rename_pending(&mut self, change: NameChange) {
        change.apply(&mut self.names);
        self.pending_names.push(change);
    }

    fn crash(&mut self, keeps: CrashKeeps) {
        match keeps {
            CrashKeeps::Everything => {
                self.files.values_mut().for_each(|images| images.kill(&mut self.random))
            }
            keeps => self.settle(keeps),
        }
        self.restart();
    }

    /// Nothing is pending any more: what is kept is durable, and shown.
    fn settle(&mut self, keeps: CrashKeeps) {
        let random = &mut self.random;
        let mut by_dir: BTreeMap<PathBuf, Vec<NameChange>> = BTreeMap::new();
        for change in self.pending_names.drain(..) {
            by_dir.entry(change.dir().to_owned()).or_default().push(change);
        }
        for changes in by_dir.values() {
            let kept = match keeps {
                CrashKeeps::Synced => 0,
                CrashKeeps::Everything => changes.len(),
                CrashKeeps::Random => random.below(changes.len() as u64 + 1) as usize,
            };
            for change in &changes[..kept] {
                change.apply(&mut self.durable_names);
            }
        }
        for images in self.files.values_mut() {
            images.crash(keeps, random);
        }
        self.names = self.durable_names.clone();
    }

    /// Handles, planned faults and files that no name leads to, nor may lead to again, are gone.
    fn restart(&mut self) {
        let names = self.names.values().chain(self.durable_names.values()).copied();
        let created = self.pending_names.iter().filter_map(NameChange::created);
        let reachable: BTreeSet<FileId> = names.chain(created).collect();
        self.files.retain(|id, _| reachable.contains(id));
        self.faults.clear();
        self.full_for = None;
        self.down = false;
        self.life += 1;
        if let Some(trace) = &mut self.trace {
            let _ = writeln!(trace, "crash");
        }
    }
}

fn no_space() -> io::Error {
    io::Error::from_raw_os_error(libc::ENOSPC)
}

fn power_cut() -> io::Error {
    io::Error::other("the power was cut")
}

impl FileSystem for FaultFileSystem {
    fn open(&self, path: &Path, mode: OpenMode) -> io::Result<Arc<dyn File>> {
        let mut state = self.state.lock();
        let life = state.life;
        let file = match (state.names.get(path), mode.creation()) {
            (Some(_), Creation::CreateNew) => return Err(already_exists(path)),
            (None, Creation::Existing) => return Err(not_found(path)),
            (Some(file), _) => *file,
            (None, _) => {
                let crash = state.enter(Call::Name, life, || format!("create {}", path.display()))?;
                let file = state.next_file;
                state.next_file += 1;
                state.files.insert(file, Images::default());
                state.rename_pending(NameChange::Create { path: path.to_owned(), file });
                if crash {
                    return Err(power_cut());
                }
                file
            }
        };
        if state.down {
            return Err(power_cut());
        }
        let rule = SyncRule::new(mode.when_synced());
        let direct = mode.is_direct();
        Ok(Arc::new(FaultFile { state: self.state.clone(), file, life, rule, direct }))
    }

    fn create_dir_all(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        if !state.names.contains_key(path) {
            return Err(not_found(path));
        }
        let life = state.life;
        let crash = state.enter(Call::Name, life, || format!("remove {}", path.display()))?;
        state.rename_pending(NameChange::Remove { path: path.to_owned() });
        if crash { Err(power_cut()) } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        assert_eq!(from.parent(), to.parent(), "files are renamed within their directory");
        let mut state = self.state.lock();
        if !state.names.contains_key(from) {
            return Err(not_found(from));
        }
        let life = state.life;
        let crash =
            state.enter(Call::Name, life, || format!("rename {} {}", from.display(), to.display()))?;
        state.rename_pending(NameChange::Rename { from: from.to_owned(), to: to.to_owned() });
        if crash { Err(power_cut()) } else { Ok(()) }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.state.lock().names.keys().any(|name| name.starts_with(path)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        Ok(self.state.lock().names.keys().filter(|name| name.parent() == Some(dir)).cloned().collect())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state.lock();
        let life = state.life;
        if state.enter(Call::SyncDir, life, || format!("sync_dir {}", dir.display()))? {
            return Err(power_cut());
        }
        let State { pending_names, durable_names, .. } = &mut *state;
        pending_names.retain(|change| {
            let here = change.dir() == dir;
            if here {
                change.apply(durable_names);
            }
            !here
        });
        Ok(())
    }

    fn one_flush_covers(&self, _synced: &Path, _written: &Path) -> bool {
        self.state.lock().has_one_cache
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirLock> {
        lock_in(&self.locked, dir)
    }
}

struct FaultFile {
    state: Arc<Mutex<State>>,
    file: FileId,
    life: u64,
    rule: SyncRule,
    direct: bool,
}

impl FaultFile {
    fn change(&self, call: Call, change: Change, describe: impl FnOnce(&str) -> String) -> io::Result<()> {
        let mut state = self.state.lock();
        let name = state.name_of(self.file);
        let crash = match state.enter(call, self.life, || describe(&name)) {
            Ok(crash) => crash,
            Err(error) => {
                if error.kind() == io::ErrorKind::StorageFull {
                    state.write_some(self.file, change);
                }
                return Err(error);
            }
        };
        if call == Call::Write && state.full_for == Some(self.file) {
            state.write_some(self.file, change);
            return Err(if crash { power_cut() } else { no_space() });
        }
        state.check_space(self.file, &change)?;
        let images = state.images(self.file);
        images.change(change);
        if crash {
            return Err(power_cut());
        }
        if call == Call::Write && self.rule.is_each_write() {
            images.sync();
        }
        Ok(())
    }

    fn write(&self, call: &str, bytes: &[u8], offset: u64, whole: bool) -> io::Result<()> {
        let len = bytes.len();
        let change = Change::Write { offset, bytes: bytes.to_vec(), whole, direct: self.direct };
        let describe = |path: &str| format!("{call} {path} {offset}+{len}");
        self.change(Call::Write, change, describe)?;
        self.rule.wrote(offset, len as u64);
        Ok(())
    }

    fn sync_now(&self) -> io::Result<()> {
        let mut state = self.state.lock();
        let name = state.name_of(self.file);
        match state.enter(Call::Sync, self.life, || format!("sync {name}")) {
            Ok(false) => {
                state.images(self.file).sync();
                if state.has_one_cache {
                    state.files.values_mut().for_each(Images::empty_cache);
                }
                Ok(())
            }
            Ok(true) => Err(power_cut()),
            Err(error) => {
                if !state.down && self.life == state.life {
                    let State { files, random, .. } = &mut *state;
                    files.get_mut(&self.file).expect("a live handle leads to a file").fail_sync(random);
                }
                Err(error)
            }
        }
    }
}

impl File for FaultFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut state = self.state.lock();
        if state.enter(Call::Read, self.life, String::new)? {
            return Err(power_cut());
        }
        let shown = &state.images(self.file).shown;
        if offset + buf.len() as u64 > shown.len() {
            return Err(past_the_end(offset, buf.len(), shown.len()));
        }
        shown.read(buf, offset);
        Ok(())
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write("write", bytes, offset, false)
    }

    fn atomic_writes(&self, len: usize) -> Result<(), NotAtomic> {
        match self.state.lock().device {
            Device::Sectors => Err(NotAtomic::Only(SECTOR as u32)),
            Device::Atomic(most) | Device::Lying(most) if len > most as usize => Err(NotAtomic::Only(most)),
            Device::Atomic(_) | Device::Lying(_) => Ok(()),
        }
    }

    fn write_atomic_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.atomic_writes(bytes.len()).map_err(refused_atomic)?;
        let whole = matches!(self.state.lock().device, Device::Atomic(_));
        self.write("write_atomic", bytes, offset, whole)
    }

    fn sync(&self) -> io::Result<()> {
        self.rule.sync(|| self.sync_now())
    }

    fn is_sync_due(&self) -> bool {
        self.rule.due().is_some()
    }

    fn sync_contents(&self) -> io::Result<()> {
        self.sync_now()
    }

    fn is_past_cache(&self) -> bool {
        self.direct
    }

    fn len(&self) -> io::Result<u64> {
        let mut state = self.state.lock();
        if state.down || self.life != state.life {
            return Err(power_cut());
        }
        Ok(state.images(self.file).shown.len())
    }

    fn allocated(&self) -> io::Result<u64> {
        let mut state = self.state.lock();
        if state.down || self.life != state.life {
            return Err(power_cut());
        }
        Ok(state.images(self.file).shown.allocated())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(Call::Resize, Change::SetLen { len }, |path| format!("set_len {path} {len}"))?;
        self.rule.resized();
        Ok(())
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.change(Call::Resize, Change::Allocate { offset, len }, |path| {
            format!("allocate {path} {offset}+{len}")
        })?;
        self.rule.resized();
        Ok(())
    }

    fn punch_hole(&self, offset: u64, len: u64) -> io::Result<()> {
        self.change(Call::Resize, Change::PunchHole { offset, len }, |path| {
            format!("punch_hole {path} {offset}+{len}")
        })?;
        self.rule.punched(offset, len);
        Ok(())
    }

    fn alignment(&self) -> usize {
        1
    }
}

#[cfg(test)]
mod tests;
