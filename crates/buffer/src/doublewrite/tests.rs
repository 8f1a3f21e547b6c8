use palisade_base::{Lsn, PageId, PageNo, SpaceId};
use palisade_io::{IoPool, MemFileSystem};

use super::layout::LIST_BLOCK;
use super::*;
use crate::page::{self, Page};
use crate::sink::Batch;

const SPACE: SpaceId = SpaceId(9);
const LOG: u64 = 77;
const PAGE_SIZE: usize = PageSize::DEFAULT.bytes();

fn id(page: u32) -> PageId {
    PageId { space: SPACE, page: PageNo(page) }
}

fn sealed(page: u32, lsn: u64) -> Box<Page> {
    let mut bytes = Page::zeroed(PageSize::DEFAULT);
    bytes.format(id(page));
    bytes.set_page_lsn(Lsn(lsn));
    page::seal(id(page), &mut bytes);
    bytes
}

fn config(directory: &str, files: usize, lanes: usize, pages: usize) -> AreaConfig {
    AreaConfig { files, ..AreaConfig::new(Path::new(directory), lanes, pages, LOG) }
}

struct World {
    fs: Arc<dyn FileSystem>,
    file: Arc<dyn File>,
    queue: WriteQueue,
}

impl World {
    fn new() -> World {
        let fs: Arc<dyn FileSystem> = Arc::new(MemFileSystem::new());
        let file = fs.open(Path::new("d/space"), OpenMode::CREATE).unwrap();
        World { fs, file, queue: WriteQueue::new(Arc::new(IoPool::inline())) }
    }

    fn open(&self, config: &AreaConfig) -> Arc<Doublewrite> {
        Arc::new(Doublewrite::open(&self.fs, config).unwrap())
    }

    fn write(&mut self, sink: &Arc<Doublewrite>, lane: usize, pages: &[(u32, u64)]) {
        let mut batch = Batch::with_capacity(pages.len(), PageSize::DEFAULT);
        for (page, lsn) in pages {
            batch.push(id(*page), &self.file, &sealed(*page, *lsn));
        }
        batch.end_part(sink.clone());
        batch.seal(6, |_| {});
        assert_eq!(batch.write_part(lane, &mut self.queue).unwrap(), Some(0));
        assert_eq!(batch.write_part(lane, &mut self.queue).unwrap(), None);
    }

    fn tear(&self, pages: &[u32]) {
        for page in pages {
            self.file.write_at(&[0xee; 512], u64::from(*page) * PAGE_SIZE as u64 + 1024).unwrap();
        }
    }

    fn repair(&self, others: &[PathBuf], checkpoint: u64) -> io::Result<Repaired> {
        let directories = Directories { home: Path::new("d"), others, page_size: PageSize::DEFAULT };
        repair(&*self.fs, directories, LOG, Lsn(checkpoint), &mut |space| {
            (space == SPACE).then(|| self.file.clone())
        })
    }

    fn bytes(&self, path: &str, at: usize) -> Vec<u8> {
        let file = self.fs.open(Path::new(path), OpenMode::EXISTING).unwrap();
        let mut bytes = vec![0; PAGE_SIZE];
        file.read_at(&mut bytes, at as u64).unwrap();
        bytes
    }
}

/// What docs/format-doublewrite.md says, and where a stale copy comes from.
#[test]
fn a_lane_holds_sealed_copies_and_repair_takes_the_newest_beyond_the_checkpoint() {
    let mut world = World::new();
    let sink = world.open(&config("d", 1, 2, 3));
    let len = world.fs.open(Path::new("d/doublewrite.0"), OpenMode::EXISTING).unwrap().len().unwrap();
    assert_eq!(len, ((1 + 2 + 2 * 3) * PAGE_SIZE) as u64);

    // Lane 0 keeps an old copy of page 2, lane 1 has a newer one; both lanes have pages that are in place.
    world.write(&sink, 0, &[(1, 100), (2, 110)]);
    world.write(&sink, 1, &[(2, 200), (4, 210)]);
    let copy = world.bytes("d/doublewrite.0", (1 + 2 + 3) * PAGE_SIZE);
    assert_eq!((page::verify(id(2), &copy), page::stored_lsn(&copy)), (Ok(()), Lsn(200)));

    // Pages 1 and 2 are torn; the checkpoint has passed the copy of page 1.
    world.tear(&[1, 2]);
    let repaired = world.repair(&[], 150).unwrap();
    assert_eq!((repaired.pages, repaired.copies), (vec![id(2)], 3));
    assert!(world.bytes("d/space", 2 * PAGE_SIZE)[..] == sealed(2, 200)[..]);

    // A space that is gone is skipped, and what is whole is left alone.
    let directories = Directories { home: Path::new("d"), others: &[], page_size: PageSize::DEFAULT };
    let gone = repair(&*world.fs, directories, LOG, Lsn(0), &mut |_| None).unwrap();
    assert_eq!(gone.pages, []);
    assert_eq!(world.repair(&[], 0).unwrap().pages, [id(1)]);
    assert_eq!(world.repair(&[], 0).unwrap().pages, []);
}

#[test]
fn a_list_of_ids_tells_which_pages_are_torn() {
    let mut world = World::new();
    let copies = world.open(&config("d", 1, 1, 3));
    let ids = Arc::new(copies.keeping(Keeps::Ids));
    world.write(&copies, 0, &[(1, 100), (2, 110)]);
    world.write(&ids, 0, &[(2, 200), (3, 210), (4, 90)]);
    let list = world.bytes("d/doublewrite.0", PAGE_SIZE);
    assert_eq!(layout::decode_list(&list), [(id(2), Lsn(200)), (id(3), Lsn(210)), (id(4), Lsn(90))]);
    assert!(list[LIST_BLOCK..].iter().all(|byte| *byte == 0), "a list takes few bytes");

    world.tear(&[2, 3, 4]);
    let repaired = world.repair(&[], 95).unwrap();
    // Redo has what page 2 lost since its copy. The checkpoint has passed page 4: it is broken otherwise.
    assert_eq!((repaired.pages, repaired.torn), (vec![id(2)], vec![id(3)]));
}

#[test]
fn a_list_that_is_not_whole_says_nothing() {
    let pages: Vec<_> = (0..600).map(|page| (id(page), Lsn(u64::from(page)))).collect();
    let bytes = encode_list(pages.iter().copied());
    assert_eq!(bytes.len(), 3 * LIST_BLOCK);
    assert_eq!(layout::decode_list(&bytes), pages);
    for at in [0, 5, 100, 9000] {
        let mut torn = bytes.to_vec();
        torn[at] ^= 1;
        assert_eq!(layout::decode_list(&torn), []);
    }
    assert_eq!(layout::decode_list(&bytes[..2 * LIST_BLOCK]), []);
}

#[test]
fn copies_of_another_shape_and_directory_are_used_and_then_make_room() {
    let mut world = World::new();
    let sink = world.open(&config("d", 3, 5, 2));
    for lane in 0..5 {
        world.write(&sink, lane as usize, &[(10 + lane, 100 + u64::from(lane))]);
    }
    // Before there was a header.
    let bare = world.fs.open(Path::new("d/doublewrite"), OpenMode::CREATE).unwrap();
    bare.write_at(&sealed(20, 100)[..], 0).unwrap();
    world.write(&sink, 0, &[(20, 99)]);
    world.tear(&[11, 12, 13, 14, 20]);
    let repaired = world.repair(&["elsewhere".into()], 50).unwrap();
    assert_eq!(repaired.pages, [11, 12, 13, 14, 20].map(id));
    assert!(world.bytes("d/space", 20 * PAGE_SIZE)[..] == sealed(20, 100)[..]);

    world.open(&config("d", 2, 4, 2));
    let names = files_in(&*world.fs, Path::new("d")).unwrap();
    assert_eq!(names, ["d/doublewrite.0", "d/doublewrite.1"].map(PathBuf::from));
    let sink = world.open(&config("elsewhere", 1, 1, 2));
    world.write(&sink, 0, &[(1, 300)]);
    world.tear(&[1]);
    assert_eq!(world.repair(&["elsewhere".into()], 50).unwrap().pages, [id(1)]);
}

#[test]
fn files_that_fit_are_left_as_they_are() {
    let mut world = World::new();
    let sink = world.open(&config("d", 2, 3, 2));
    world.write(&sink, 2, &[(1, 300)]);
    world.open(&config("d", 2, 3, 2));
    world.tear(&[1]);
    assert_eq!(world.repair(&[], 50).unwrap().pages, [id(1)]);
}

#[test]
fn files_of_another_log_are_made_anew_at_home_and_refused_elsewhere() {
    let mut world = World::new();
    for directory in ["d", "elsewhere"] {
        let foreign = world.open(&AreaConfig { log_id: LOG + 1, ..config(directory, 1, 1, 2) });
        world.write(&foreign, 0, &[(1, 300)]);
    }
    world.tear(&[1]);
    assert_eq!(world.repair(&[], 50).unwrap().pages, []);
    let error = world.repair(&["elsewhere".into()], 50).unwrap_err();
    assert_eq!(error.to_string(), "elsewhere/doublewrite.0 belongs to another data directory");
    world.open(&config("d", 1, 1, 2));
    assert!(world.bytes("d/doublewrite.0", 2 * PAGE_SIZE).iter().all(|byte| *byte == 0));
}

#[test]
fn a_file_that_was_not_finished_is_made_anew() {
    let world = World::new();
    let file = world.fs.open(Path::new("d/doublewrite.0"), OpenMode::CREATE).unwrap();
    file.write_at(&[0; 100], 4 * PAGE_SIZE as u64 - 100).unwrap();
    assert_eq!(world.repair(&[], 0).unwrap().copies, 0);
    world.open(&config("d", 1, 1, 2));
    assert!(layout::read(&*file, PageSize::DEFAULT).unwrap().is_some());
}
