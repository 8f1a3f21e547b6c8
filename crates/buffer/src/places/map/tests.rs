use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use palisade_base::Lsn;
use palisade_io::{FileSystem, IoPool, MemFileSystem, OpenMode, Overlay, OverlayFileSystem};

use super::*;
use crate::page_size::PageSize;
use crate::places::{Place, PlaceStore, rebuild_map};

const SPACE: SpaceId = SpaceId(7);

/// When told to, cannot read one block of the map. Knows which slots have been written, and which of them as
/// they were.
#[derive(Default)]
struct BadBlock {
    is_bad: AtomicBool,
    slots: parking_lot::Mutex<Vec<(u64, bool)>>,
}

/// The block that cannot be read then: slot A of chunk 1.
const BAD: u64 = 2 * SLOT as u64;

impl Overlay for BadBlock {
    fn read_at(&self, path: &Path, file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let bytes = offset..offset + buf.len() as u64;
        if path.ends_with("map") && bytes.contains(&BAD) && self.is_bad.load(Relaxed) {
            return Err(io::Error::from_raw_os_error(5));
        }
        file.read_at(buf, offset)
    }

    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if path.ends_with("map") {
            let mut before = vec![0; bytes.len()];
            let is_same = file.read_at(&mut before, offset).is_ok() && before == bytes;
            self.slots.lock().push((offset / SLOT as u64, is_same));
        }
        file.write_at(bytes, offset)
    }
}

struct World {
    fs: OverlayFileSystem<BadBlock>,
    queue: WriteQueue,
}

impl World {
    fn new() -> World {
        let fs = OverlayFileSystem::new(std::sync::Arc::new(MemFileSystem::new()), BadBlock::default());
        World { fs, queue: WriteQueue::new(Arc::new(IoPool::inline())) }
    }

    fn file(&self, name: &str) -> Arc<dyn File> {
        self.fs.open(Path::new(name), OpenMode::CREATE).unwrap()
    }

    fn opened(&self) -> Result<OpenedMap, Error> {
        MapFile::open(SPACE, self.file("pages"), self.file("map"))
    }

    /// The numbers of the chunks that the map has; the chunk that is damaged, if one is.
    fn chunks(&self) -> Result<Vec<usize>, usize> {
        match self.opened() {
            Ok(opened) => Ok(opened.chunks.into_iter().map(|(number, _)| number).collect()),
            Err(Error::Corrupted { page, reason: Corruption::NoPlaces }) => {
                Err(page.page.0 as usize / CHUNK_PLACES)
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A map of chunks that were written in this order, one at a time, in a file of pages with a header.
    fn with_chunks(numbers: &[usize]) -> World {
        let mut world = World::new();
        world.opened().unwrap().map.ensure_header().unwrap();
        numbers.iter().for_each(|number| world.write(*number));
        world
    }

    fn write(&mut self, number: usize) {
        let map = self.opened().unwrap().map;
        let (mut written, image) = (map.lock(), image(1));
        let mut images: Vec<(usize, &ChunkImage)> = Vec::new();
        let empty = image_of(&[], 1);
        images.extend((0..number).filter(|number| written.lacks(*number)).map(|number| (number, &empty)));
        images.push((number, &image));
        map.write(&mut written, &images, &mut self.queue).unwrap();
    }

    fn header(&self) -> Option<Option<u32>> {
        Header::decode(&read_head(&*self.file("pages")).unwrap()).map(|header| header.chunks)
    }

    fn set_header(&self, chunks: Option<u32>) {
        Header { space: SPACE, chunks }.write(&*self.file("pages")).unwrap();
    }

    fn zero(&self, chunk: usize) {
        self.file("map").write_at(&[0; SLOTS], chunk::slot_offset(chunk, 0)).unwrap();
    }
}

fn image_of(places: &[(usize, Place)], sequence: u64) -> ChunkImage {
    let mut image = ChunkImage { lsn: Lsn(100), sequence, ..ChunkImage::default() };
    places.iter().for_each(|(at, place)| image.places[*at] = *place);
    image
}

fn image(sequence: u64) -> ChunkImage {
    image_of(&[(3, Place::new(8, 4))], sequence)
}

#[test]
fn zeros_in_what_has_been_written_are_damage() {
    for damaged in 0..3 {
        let world = World::with_chunks(&[0, 1, 2]);
        assert_eq!((world.chunks(), world.header()), (Ok(vec![0, 1, 2]), Some(Some(3))));
        world.zero(damaged);
        assert_eq!(world.chunks(), Err(damaged));
        // What is cut off reads as zeros, too.
        let world = World::with_chunks(&[0, 1, 2]);
        world.file("map").set_len(chunk::slot_offset(damaged, 0)).unwrap();
        assert_eq!(world.chunks(), Err(damaged));
    }
}

#[test]
fn what_the_map_has_grown_by_may_read_as_zeros() {
    let world = World::new();
    assert!(world.opened().unwrap().is_new);
    let map = world.opened().unwrap().map;
    map.make_room(2).unwrap();
    map.ensure_header().unwrap();
    assert_eq!((world.chunks(), world.header()), (Ok(vec![]), Some(Some(0))));

    let world = World::with_chunks(&[0]);
    world.opened().unwrap().map.make_room(5).unwrap();
    assert_eq!((world.chunks(), world.header()), (Ok(vec![0]), Some(Some(1))));
    assert!(world.opened().unwrap().map.has_blank_chunks().unwrap());
}

/// Gives room by writing zeros, as where a file system has no call for it; and takes its time, in which
/// others may write.
#[derive(Default)]
struct RoomByZeros {
    is_giving: AtomicBool,
    has_written: AtomicBool,
}

impl Overlay for RoomByZeros {
    fn allocate(&self, _: &Path, file: &dyn File, offset: u64, len: u64) -> io::Result<()> {
        self.is_giving.store(true, Relaxed);
        for _ in 0..200 {
            if self.has_written.load(Relaxed) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        file.write_at(&vec![0; len as usize], offset)
    }
}

#[test]
fn room_is_not_made_over_a_chunk_that_is_being_written() {
    let fs = OverlayFileSystem::new(Arc::new(MemFileSystem::new()), RoomByZeros::default());
    let open = |name: &str| fs.open(Path::new(name), OpenMode::CREATE).unwrap();
    let map = MapFile::create(SPACE, open("pages"), open("map"));
    map.ensure_header().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| map.make_room(3).unwrap());
        while !fs.overlay().is_giving.load(Relaxed) {
            std::thread::yield_now();
        }
        let mut queue = WriteQueue::new(Arc::new(IoPool::inline()));
        map.write(&mut map.lock(), &[(0, &image(1))], &mut queue).unwrap();
        fs.overlay().has_written.store(true, Relaxed);
    });
    let opened = MapFile::open(SPACE, open("pages"), open("map")).unwrap();
    assert_eq!(opened.chunks.len(), 1);
}

#[test]
fn a_write_writes_the_chunks_before_it_that_never_were() {
    let world = World::with_chunks(&[3]);
    assert_eq!((world.chunks(), world.header()), (Ok(vec![0, 1, 2, 3]), Some(Some(4))));
    world.zero(1);
    assert_eq!(world.chunks(), Err(1));
}

/// A power cut has taken the header that counted last.
#[test]
fn a_count_that_is_too_low_hides_no_chunk_and_is_made_right_by_the_next_write() {
    let mut world = World::with_chunks(&[0, 1, 2]);
    world.set_header(Some(1));
    assert_eq!(world.chunks(), Ok(vec![0, 1, 2]));
    world.zero(1);
    assert_eq!(world.chunks(), Err(1), "chunk 2 is whole, so chunk 1 was");

    let mut other = World::with_chunks(&[0, 1, 2]);
    std::mem::swap(&mut world, &mut other);
    world.set_header(Some(1));
    world.write(0);
    assert_eq!(world.header(), Some(Some(3)));
}

/// Slot A of a chunk may be there before that of an earlier one, when both are written for the first time.
#[test]
fn a_write_that_was_cut_off_is_no_damage() {
    let world = World::with_chunks(&[0, 2]);
    world.set_header(Some(1));
    world.zero(1);
    world.file("map").write_at(&[0; SLOT], chunk::slot_offset(2, 1)).unwrap();
    assert_eq!(world.chunks(), Ok(vec![0, 2]));
}

/// Slots that a power cut has left: which of them are written next, in order, and that the chunk counts as
/// uneven.
#[test]
fn the_only_whole_slot_is_written_as_it_is_before_the_other_one() {
    let slot = |sequence| {
        let mut bytes = vec![0; SLOT];
        image(sequence).encode(SPACE, 0, &mut bytes);
        bytes
    };
    let (new, old, torn, zeros) =
        (slot(9), slot(8), [&slot(9)[..512], &[7; SLOT - 512]].concat(), vec![0; SLOT]);
    for (a, b, order) in [
        (&new, &new, vec![(0, false), (1, false)]),
        (&new, &old, vec![(0, true), (1, false), (0, false)]),
        (&new, &torn, vec![(0, true), (1, false), (0, false)]),
        (&new, &zeros, vec![(0, true), (1, false), (0, false)]),
        (&torn, &new, vec![(0, false), (1, false)]),
        (&old, &new, vec![(0, false), (1, false)]),
    ] {
        let mut world = World::with_chunks(&[0]);
        let map = world.file("map");
        [a, b].into_iter().zip([0, 1]).for_each(|(bytes, at)| {
            map.write_at(bytes, chunk::slot_offset(0, at)).unwrap();
        });
        assert_eq!(world.opened().unwrap().uneven, if a == b { vec![] } else { vec![0] });
        world.fs.overlay().slots.lock().clear();
        world.write(0);
        assert_eq!(*world.fs.overlay().slots.lock(), order);
        assert!(world.opened().unwrap().uneven.is_empty());
    }
}

#[test]
fn a_map_of_version_1_opens_as_ever_and_is_upgraded_once_all_of_it_is_written() {
    let mut world = World::with_chunks(&[0, 1, 2]);
    world.set_header(None);
    world.zero(1);
    world.opened().unwrap().map.make_room(4).unwrap();
    assert_eq!(world.chunks(), Ok(vec![0, 2]), "zeros pass for what was never written");
    for (number, header) in [(0, None), (3, None), (1, Some(4))] {
        world.write(number);
        assert_eq!(world.header(), Some(header), "chunk {number}");
    }
    world.zero(1);
    assert_eq!(world.chunks(), Err(1));
}

/// A chunk whose one slot cannot be read at the moment is what the other says; if that is damaged, too,
/// nothing is known of it.
#[test]
fn a_slot_that_cannot_be_read_is_no_damaged_one() {
    let world = World::with_chunks(&[0, 1, 2]);
    world.fs.overlay().is_bad.store(true, Relaxed);
    assert_eq!(world.chunks(), Ok(vec![0, 1, 2]));
    for bytes in [[0; 64], [7; 64]] {
        world.file("map").write_at(&bytes, chunk::slot_offset(1, 1)).unwrap();
        assert!(matches!(world.opened(), Err(Error::Io { .. })));
        let new = world.file("new");
        rebuild_map(SPACE, &*world.file("pages"), Some(&*world.file("map")), &*new, PageSize::DEFAULT)
            .unwrap_err();
    }
    world.fs.overlay().is_bad.store(false, Relaxed);
    assert_eq!(world.chunks(), Ok(vec![0, 1, 2]), "slot A is whole");
}

#[test]
fn a_map_made_again_has_all_chunks_that_the_header_counts_and_those_that_were_whole() {
    let world = World::with_chunks(&[0, 1, 5]);
    world.zero(1);
    world.zero(4);
    let (pages, new) = (world.file("pages"), world.file("new"));
    // Nothing of the pages is there to be found.
    pages.set_len(1 << 20).unwrap();
    rebuild_map(SPACE, &*pages, Some(&*world.file("map")), &*new, PageSize::DEFAULT).unwrap();
    let opened = MapFile::open(SPACE, pages.clone(), new.clone()).unwrap();
    let found = |number: usize| &opened.chunks[number].1;
    assert_eq!(opened.chunks.len(), 6);
    assert_eq!((found(0), found(5)), (&image(1), &image(1)));
    for made in [1, 4] {
        assert_eq!((found(made).lsn, found(made).places[3]), (chunk::FOUND, Place::NONE));
    }
    PlaceStore::open(SPACE, pages, new, PageSize::DEFAULT).unwrap();
}
