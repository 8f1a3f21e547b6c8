//! Files and ids of which a wrong dictionary, or a wrong information page, says too little.

use std::path::Path;
use std::sync::Arc;

use palisade_io::{FileSystem, OpenMode};

use super::harness::*;

/// All of a file.
fn bytes_of(fs: &Arc<dyn FileSystem>, path: &Path) -> Vec<u8> {
    let file = fs.open(path, OpenMode::EXISTING).unwrap();
    let mut bytes = vec![0; file.len().unwrap() as usize];
    file.read_at(&mut bytes, 0).unwrap();
    bytes
}

/// A dictionary that has lost a table, under right checksums, does not cost the table's file.
#[test]
fn a_file_without_a_table_is_removed_after_a_crash_only() {
    let stray = Path::new("/data/spaces/000500.pal");
    let aside = Path::new("/data/spaces/000500.pal.damaged");
    for crashes in [false, true] {
        let (fs, engine, table) = new_engine();
        let own = format!("/data/spaces/{:06}.pal", table.first_space_id().0);
        let mut client = Client::new(&engine, &table);
        client.insert(&Row::new(1, 1, None, b"")).unwrap();
        client.commit();
        drop((client, table));
        match crashes {
            true => crash(engine),
            false => {
                engine.shutdown().unwrap();
                drop(engine);
            }
        }
        let bytes = bytes_of(&fs, Path::new(&own));
        fs.open(stray, OpenMode::CREATE_NEW).unwrap().write_at(&bytes, 0).unwrap();
        let engine = open(&fs);
        assert!(!fs.exists(stray).unwrap());
        assert_eq!(fs.exists(aside).unwrap(), !crashes);
        engine.shutdown().unwrap();
    }
}

#[test]
fn an_id_is_not_given_again_though_the_page_says_so() {
    let (fs, engine, first) = new_engine();
    let (space, id) = (first.first_space_id(), first.id);
    drop(first);
    engine.shutdown().unwrap();
    drop(engine);
    let system = Path::new("/data/spaces/000000.pal");
    let mut page = bytes_of(&fs, system)[16384..32768].to_vec();
    page[32..40].copy_from_slice(&17u64.to_le_bytes());
    let checksum = palisade_base::checksum::crc32c(&page[4..]);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    fs.open(system, OpenMode::EXISTING).unwrap().write_at(&page, 16384).unwrap();
    let engine = open(&fs);
    let new = create_table(&engine, definition("new"));
    let old = table(&engine, "t");
    assert_eq!((old.first_space_id(), old.id), (space, id));
    let ids = |table: &crate::Table| {
        let mut ids: Vec<u64> = table.def().trees().map(|tree| tree.id).collect();
        ids.extend([table.id, table.first_space_id().0.into()]);
        ids
    };
    assert!(ids(&new).iter().all(|id| !ids(&old).contains(id)), "{:?} {:?}", ids(&new), ids(&old));
}
