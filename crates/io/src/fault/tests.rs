use super::*;
use crate::syncing::Syncing;
use palisade_base::prng::test_seed;

const DIR: &str = "d";

fn path(name: &str) -> PathBuf {
    Path::new(DIR).join(name)
}

fn create(fs: &FaultFileSystem, name: &str) -> Arc<dyn File> {
    let file = fs.open(&path(name), OpenMode::CREATE_NEW).unwrap();
    fs.sync_dir(Path::new(DIR)).unwrap();
    file
}

fn contents(fs: &FaultFileSystem, name: &str) -> Vec<u8> {
    let file = fs.open(&path(name), OpenMode::EXISTING).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

#[test]
fn a_crash_keeps_what_was_synced_and_kills_handles() {
    let fs = FaultFileSystem::new(1);
    let file = create(&fs, "f");
    file.write_at(b"synced", 0).unwrap();
    file.sync().unwrap();
    file.write_at(b"LOST", 0).unwrap();
    assert_eq!(contents(&fs, "f"), b"LOSTed");
    fs.crash(CrashKeeps::Synced);
    assert_eq!(contents(&fs, "f"), b"synced");
    assert!(file.write_at(b"x", 0).is_err() && file.sync().is_err() && file.len().is_err());
}

#[test]
fn a_killed_process_loses_nothing() {
    let fs = FaultFileSystem::new(1);
    let file = fs.open(&path("f"), OpenMode::CREATE).unwrap();
    file.write_at(b"bytes", 2).unwrap();
    fs.crash(CrashKeeps::Everything);
    assert_eq!(contents(&fs, "f"), b"\0\0bytes");
}

#[test]
fn what_a_killed_process_has_not_synced_is_lost_with_the_power() {
    let fs = FaultFileSystem::new(1);
    let file = create(&fs, "f");
    file.write_at(b"bytes", 0).unwrap();
    fs.open(&path("g"), OpenMode::CREATE).unwrap();
    fs.crash(CrashKeeps::Everything);
    assert_eq!(contents(&fs, "f"), b"bytes");
    assert!(fs.exists(&path("g")).unwrap());
    fs.crash(CrashKeeps::Synced);
    assert_eq!(contents(&fs, "f"), b"");
    assert!(!fs.exists(&path("g")).unwrap());

    let file = fs.open(&path("f"), OpenMode::EXISTING).unwrap();
    file.write_at(b"bytes", 0).unwrap();
    fs.crash(CrashKeeps::Everything);
    fs.open(&path("f"), OpenMode::EXISTING).unwrap().sync().unwrap();
    fs.crash(CrashKeeps::Synced);
    assert_eq!(contents(&fs, "f"), b"bytes", "another process's sync covers it");
}

#[test]
fn names_are_durable_after_sync_dir_only() {
    let fs = FaultFileSystem::new(1);
    create(&fs, "kept");
    fs.open(&path("lost"), OpenMode::CREATE).unwrap();
    fs.rename(&path("kept"), &path("renamed")).unwrap();
    assert!(!fs.exists(&path("kept")).unwrap());
    fs.crash(CrashKeeps::Synced);
    assert_eq!(fs.list(Path::new(DIR)).unwrap(), [path("kept")]);
}

#[test]
fn a_torn_write_leaves_whole_sectors_of_either_image() {
    let (mut old, mut new, mut both) = (0, 0, 0);
    let seed = test_seed(3);
    for round in 0..100 {
        let fs = FaultFileSystem::new(seed + round);
        let file = create(&fs, "f");
        file.write_at(&[1; 2048], 0).unwrap();
        file.sync().unwrap();
        file.write_at(&[2; 2048], 0).unwrap();
        fs.crash(CrashKeeps::Random);
        let bytes = contents(&fs, "f");
        assert!(bytes.chunks(512).all(|sector| sector.iter().all(|byte| *byte == sector[0])));
        let kept = bytes.chunks(512).filter(|sector| sector[0] == 2).count();
        match kept {
            0 => old += 1,
            4 => new += 1,
            _ => both += 1,
        }
    }
    assert!(old > 10 && new > 10 && both > 10, "all outcomes occur: {old} {new} {both}");
}

#[test]
fn the_same_seed_crashes_the_same_way() {
    let run = |seed| {
        let fs = FaultFileSystem::new(seed);
        let file = create(&fs, "f");
        for number in 0..40u8 {
            file.write_at(&[number; 700], u64::from(number) * 300).unwrap();
        }
        fs.crash(CrashKeeps::Random);
        contents(&fs, "f")
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn the_nth_call_fails_once_and_a_crash_fault_ends_everything() {
    let fs = FaultFileSystem::new(1);
    let file = create(&fs, "f");
    fs.fail(Call::Write, 2, Fault::Io);
    file.write_at(b"a", 0).unwrap();
    assert_eq!(file.write_at(b"b", 0).unwrap_err().raw_os_error(), Some(libc::EIO));
    file.write_at(b"c", 0).unwrap();
    fs.fail(Call::Change, 2, Fault::Crash);
    file.write_at(b"d", 1).unwrap();
    assert!(file.write_at(b"e", 2).is_err());
    assert!(fs.is_down() && file.sync().is_err());
    fs.crash(CrashKeeps::Everything);
    assert_eq!(contents(&fs, "f"), b"cde");
}

#[test]
fn a_failed_sync_is_not_made_good_by_a_later_one() {
    let lost = (0..64).any(|seed| {
        let fs = FaultFileSystem::new(seed);
        let file = create(&fs, "f");
        file.write_at(b"data", 0).unwrap();
        fs.fail(Call::Sync, 1, Fault::Io);
        assert!(file.sync().is_err());
        assert_eq!(contents(&fs, "f"), b"data", "the shown image still has it");
        file.sync().unwrap();
        fs.crash(CrashKeeps::Synced);
        contents(&fs, "f") != b"data"
    });
    assert!(lost);
}

#[test]
fn a_disk_that_is_full_for_a_file_stays_so() {
    let fs = FaultFileSystem::new(1);
    let (file, other) = (create(&fs, "f"), create(&fs, "g"));
    file.write_at(b"a", 0).unwrap();
    fs.set_full_for(Some(&path("f")));
    for _ in 0..3 {
        assert_eq!(file.write_at(b"b", 0).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
    other.write_at(b"c", 0).unwrap();
    fs.set_full_for(None);
    file.write_at(b"d", 0).unwrap();
    assert_eq!(contents(&fs, "f"), b"d");
}

#[test]
fn a_full_disk_refuses_growth_and_takes_overwrites() {
    let fs = FaultFileSystem::new(1);
    let file = create(&fs, "f");
    file.allocate(0, 1000).unwrap();
    fs.limit_space(Some(1500));
    assert_eq!(file.allocate(0, 2000).unwrap_err().kind(), io::ErrorKind::StorageFull);
    file.write_at(&[1; 1000], 0).unwrap();
    assert!(file.write_at(&[1; 600], 1000).is_err());
    fs.limit_space(None);
    file.write_at(&[1; 600], 1000).unwrap();
}

#[test]
fn a_disk_that_becomes_full_may_have_taken_the_first_part_of_a_write() {
    let seed = test_seed(4);
    let mut lengths = BTreeSet::new();
    for round in 0..100 {
        let fs = FaultFileSystem::new(seed + round);
        let file = create(&fs, "f");
        file.write_at(&[1; 2048], 0).unwrap();
        fs.fail(Call::Write, 1, Fault::NoSpace);
        let error = file.write_at(&[2; 2048], 0).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        let bytes = contents(&fs, "f");
        let taken = bytes.iter().take_while(|byte| **byte == 2).count();
        assert!(taken.is_multiple_of(512) && bytes[taken..].iter().all(|byte| *byte == 1));
        lengths.insert(taken);
        file.write_at(&[3; 2048], 0).unwrap();
    }
    assert_eq!(lengths.len(), 5, "from nothing to everything");
}

#[test]
fn the_trace_lists_changes_as_text() {
    let fs = FaultFileSystem::new(1);
    fs.start_trace();
    let file = create(&fs, "f");
    fs.fail(Call::Sync, 1, Fault::Io);
    file.write_at(&[0; 512], 4096).unwrap();
    assert!(file.sync().is_err());
    fs.crash(CrashKeeps::Synced);
    assert_eq!(fs.take_trace(), "create d/f\nsync_dir d\nwrite d/f 4096+512\nsync d/f: EIO\ncrash\n");
    assert_eq!(fs.take_trace(), "");
}

fn written(fs: &FaultFileSystem) -> Vec<u8> {
    let file = fs.open(Path::new("f"), OpenMode::EXISTING).unwrap();
    let mut read = vec![0; 2048];
    file.read_at(&mut read, 0).unwrap();
    read.chunks(512).map(|sector| sector[0]).collect()
}

#[test]
fn with_one_cache_the_sync_of_another_file_makes_direct_overwrites_durable_and_nothing_else() {
    let fs = FaultFileSystem::new(1);
    fs.set_one_cache(true);
    let mode = OpenMode::CREATE.direct().syncing(Syncing::Metadata);
    let [data, other, cached] =
        [("d/data", mode), ("d/log", OpenMode::CREATE), ("d/cached", OpenMode::CREATE)]
            .map(|(name, mode)| fs.open(Path::new(name), mode).unwrap());
    fs.sync_dir(Path::new("d")).unwrap();
    for file in [&data, &cached] {
        file.write_at(&[1; 8192], 0).unwrap();
        file.sync().unwrap();
    }
    data.write_at(&[2; 4096], 4096).unwrap();
    data.sync().unwrap();
    cached.write_at(&[2; 4096], 4096).unwrap();
    data.write_at(&[3; 4096], 8192).unwrap();
    other.sync().unwrap();
    data.write_at(&[4; 4096], 0).unwrap();
    assert!(data.is_past_cache() && !cached.is_past_cache());
    fs.crash(CrashKeeps::Synced);
    let read = |name: &str| {
        let file = fs.open(Path::new(name), OpenMode::EXISTING).unwrap();
        let mut bytes = vec![0; file.len().unwrap() as usize];
        file.read_at(&mut bytes, 0).unwrap();
        bytes.chunks(4096).map(|block| block[0]).collect::<Vec<_>>()
    };
    assert_eq!(read("d/data"), [1, 2], "what was overwritten is durable, what was added is not");
    assert_eq!(read("d/cached"), [1, 1]);
}

#[test]
fn a_device_that_writes_whole_is_not_torn_and_one_that_says_so_alone_is() {
    for (device, expected) in [(Device::Atomic(2048), [7, 7, 7, 7]), (Device::Lying(2048), [7, 0, 7, 0])] {
        let fs = FaultFileSystem::new(1);
        fs.set_device(device);
        let file = fs.open(Path::new("f"), OpenMode::CREATE_NEW).unwrap();
        assert_eq!(file.atomic_writes(2048), Ok(()));
        assert_eq!(file.atomic_writes(4096), Err(NotAtomic::Only(2048)));
        file.write_at(&[0; 2048], 0).unwrap();
        file.sync().unwrap();
        file.write_atomic_at(&[7; 2048], 0).unwrap();
        fs.crash_keeping(&mut |pending| pending.sector % 2 == 0);
        assert_eq!(written(&fs), expected, "{device:?}");
    }
    let fs = FaultFileSystem::new(1);
    let file = fs.open(Path::new("f"), OpenMode::CREATE_NEW).unwrap();
    assert!(file.atomic_writes(2048).is_err());
    assert_eq!(file.write_atomic_at(&[7; 2048], 0).unwrap_err().kind(), io::ErrorKind::Unsupported);
    assert!(file.is_empty().unwrap());
}

#[test]
fn a_crash_keeps_the_sectors_that_it_is_told_to() {
    let fs = FaultFileSystem::new(1);
    let file = fs.open(Path::new("f"), OpenMode::CREATE_NEW).unwrap();
    file.write_at(&[1; 2048], 0).unwrap();
    file.write_at(&[2; 1024], 512).unwrap();
    let mut asked = Vec::new();
    fs.crash_keeping(&mut |pending| {
        asked.push((pending.change, pending.changes, pending.sector));
        (pending.change, pending.sector) != (1, 2)
    });
    assert_eq!(asked, [(0, 2, 0), (0, 2, 1), (0, 2, 2), (0, 2, 3), (1, 2, 1), (1, 2, 2)]);
    assert_eq!(written(&fs), [1, 2, 1, 1]);
}
