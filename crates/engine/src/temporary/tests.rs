//! Temporary files: what is written is read, also by many transfers at once; damage is an error; nothing is
//! left.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use palisade_base::event::retry_blocking;
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{Call, Fault, FaultFileSystem, OpenMode};

use crate::tests::harness::{memory, open, quiet};
use crate::{Block, BlockPlace, Engine, EngineConfig, TemporaryFile, Transfer};

fn block(content: &[u8]) -> Block {
    let mut block = Block::with_capacity(content.len());
    block.extend_from_slice(content);
    block
}

fn random_bytes(random: &mut Prng) -> Vec<u8> {
    let mut bytes = vec![0; random.below(20_000) as usize];
    random.fill(&mut bytes);
    bytes
}

fn write(file: &mut TemporaryFile, content: &[u8]) -> BlockPlace {
    let (place, mut transfer) = file.write(block(content));
    retry_blocking(|| transfer.take()).unwrap();
    place
}

fn read(file: &TemporaryFile, place: BlockPlace) -> Result<Vec<u8>, u16> {
    let mut transfer = file.read(place, Block::default());
    let block = retry_blocking(|| transfer.take());
    block.map(|block| block.content().to_vec()).map_err(|error| error.number())
}

#[test]
fn blocks_are_read_as_they_were_written_in_any_order_and_many_at_once() {
    let mut random = Prng::new(test_seed(20));
    let fs = memory();
    for background in [true, false] {
        let engine = Engine::open(EngineConfig { background, ..quiet() }, fs.clone()).unwrap();
        let mut file = engine.temporary_file();
        assert!(file.is_empty());
        let mut model: Vec<(BlockPlace, Vec<u8>)> = Vec::new();
        let mut under_way: VecDeque<Transfer> = VecDeque::new();
        for _ in 0..200 {
            let content = random_bytes(&mut random);
            let (place, transfer) = file.write(block(&content));
            assert_eq!(place.len(), content.len());
            under_way.push_back(transfer);
            model.push((place, content));
            if under_way.len() > 8 {
                let mut first = under_way.pop_front().unwrap();
                let written = retry_blocking(|| first.take()).unwrap();
                assert_eq!(written.content(), model[model.len() - 1 - under_way.len()].1);
            }
        }
        under_way.iter_mut().for_each(|transfer| drop(retry_blocking(|| transfer.take()).unwrap()));
        let reads: Vec<_> = (0..500)
            .map(|_| {
                let (place, content) = random.pick(&model);
                (file.read(*place, block(b"of another block")), content)
            })
            .collect();
        for (mut transfer, content) in reads {
            assert_eq!(retry_blocking(|| transfer.take()).unwrap().content(), content);
        }
        assert!(file.len() > model.iter().map(|(_, content)| content.len() as u64).sum());
        assert!(fs.list(Path::new("/data/tmp")).unwrap().is_empty(), "it has no name");
        drop(file);
        engine.shutdown().unwrap();
    }
}

#[test]
fn what_fails_is_an_error_of_the_transfer_and_the_next_goes_on() {
    let disk = Arc::new(FaultFileSystem::new(20));
    let engine = Engine::open(EngineConfig { background: false, ..quiet() }, disk.clone()).unwrap();
    let mut file = engine.temporary_file();
    let place = write(&mut file, b"one");
    disk.fail(Call::Write, 1, Fault::Io);
    let (_, mut failed) = file.write(block(b"two"));
    assert_eq!(retry_blocking(|| failed.take()).unwrap_err().number(), 3);
    disk.fail(Call::Read, 1, Fault::Io);
    assert_eq!(read(&file, place), Err(2));
    assert_eq!(read(&file, place).as_deref(), Ok(&b"one"[..]));
    // A file that cannot be made.
    disk.fail(Call::Name, 1, Fault::Io);
    let (_, mut failed) = engine.temporary_file().write(block(b"three"));
    assert_eq!(retry_blocking(|| failed.take()).unwrap_err().number(), 1);
    // A full disk.
    disk.limit_space(Some(disk.used_space()));
    let (_, mut failed) = file.write(block(&[7; 100_000]));
    let error = retry_blocking(|| failed.take()).unwrap_err();
    assert!(error.to_string().contains("OS errno 28"), "{error}");
    // A block that is not the one that is asked for.
    disk.limit_space(None);
    let other = write(&mut file, b"six");
    let mixed = BlockPlace { number: other.number, ..place };
    let mut transfer = file.read(mixed, Block::default());
    let error = retry_blocking(|| transfer.take()).unwrap_err();
    assert!(error.to_string().contains("OS errno 74"), "{error}");
}

#[test]
fn files_that_a_crash_has_left_are_removed_and_no_others() {
    let fs = memory();
    drop(open(&fs));
    for name in ["#sql-0", "#sql-17", "notes"] {
        fs.create_dir_all(Path::new("/data/tmp")).unwrap();
        fs.open(&Path::new("/data/tmp").join(name), OpenMode::CREATE_NEW).unwrap();
    }
    let engine = open(&fs);
    assert_eq!(fs.list(Path::new("/data/tmp")).unwrap(), [Path::new("/data/tmp/notes")]);
    assert_eq!(
        read(&engine.temporary_file(), write(&mut engine.temporary_file(), b"x")),
        Err(2),
        "another file"
    );
}
