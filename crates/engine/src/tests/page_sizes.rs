//! Directories of pages of every size.

use std::path::Path;

use palisade_buffer::PageSize;
use palisade_catalog::TableDef;
use palisade_io::OpenMode;

use super::check::check_config;
use super::harness::*;
use super::{out_of_place, recovery, rows};
use crate::check::check_directory;
use crate::{Engine, EngineConfig, Error, ForceRecovery};

fn others() -> impl Iterator<Item = PageSize> {
    PageSize::ALL.into_iter().filter(|size| *size != PageSize::DEFAULT)
}

#[test]
fn rows_are_the_same_on_pages_of_any_size() {
    for size in others() {
        at_size(size, rows::rows_are_inserted_read_updated_and_deleted_through_every_index);
        at_size(size, rows::a_rollback_leaves_nothing_and_a_savepoint_leaves_what_was_before);
        at_size(size, rows::snapshots_see_what_was_committed_when_they_were_taken);
        at_size(size, rows::rows_of_any_length_are_kept_and_their_chains_go_with_them);
    }
}

#[test]
fn a_crash_is_recovered_from_on_pages_of_any_size() {
    for size in others() {
        at_size(size, recovery::after_a_crash_there_is_what_was_committed_and_nothing_else);
        at_size(size, recovery::a_clean_shutdown_and_a_crash_after_it_change_nothing);
        at_size(size, recovery::dropped_and_truncated_tables_are_gone_with_their_files);
        at_size(size, out_of_place::rows_survive_shutdowns_and_crashes_as_in_any_table);
    }
}

/// A page of 4 KiB is no longer than a block of the file: no codec makes it take less room.
#[test]
fn pages_no_longer_than_a_block_are_not_to_be_compressed() {
    for size in PageSize::ALL {
        let engine = Engine::open(EngineConfig { page_size: size, ..quiet() }, memory()).unwrap();
        create_schema(&engine);
        let with = |name: &str, options: &[(&str, &str)]| {
            let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            TableDef { options: options.collect(), ..definition(name) }
        };
        for sink in ["in-place", "out-of-place"] {
            let compressed = with(&format!("{sink}_zlib"), &[("PAGE_SINK", sink), ("COMPRESSION", "zlib")]);
            let lock = lock(&engine, &[&compressed.name]);
            let made = wait(engine.create_table(&lock, compressed));
            assert_eq!(matches!(made, Err(Error::NoHoles)), size == PageSize::LEAST, "{size} {sink}");
            create_table(&engine, with(sink, &[("PAGE_SINK", sink), ("COMPRESSION", "none")]));
        }
    }
}

#[test]
fn a_directory_keeps_its_size_and_refuses_another() {
    for size in PageSize::ALL {
        let fs = memory();
        let config = |page_size| EngineConfig { page_size, ..quiet() };
        let engine = Engine::open(config(size), fs.clone()).unwrap();
        create_schema(&engine);
        let mut client = Client::new(&engine, &create_table(&engine, definition("t")));
        for id in 0..200 {
            client.insert(&Row::new(id, id, Some(id), &[7; 300])).unwrap();
        }
        client.commit();
        drop(client);
        engine.shutdown().unwrap();
        drop(engine);
        for other in PageSize::ALL.into_iter().filter(|other| *other != size) {
            let refused = Engine::open(config(other), fs.clone()).err().expect("another size");
            let text = format!(
                "Data file '/data/spaces/000000.pal' uses page size {size}, but the innodb_page_size start-up parameter \
                 is {other}"
            );
            assert!(matches!(&refused, Error::Unusable(what) if *what == text), "{refused}");
        }
        let checked = check_directory(check_config(), fs.clone(), &mut |_| true).unwrap();
        assert!(checked.report.findings.is_empty(), "{:?}", checked.report.findings);
        drop(checked);
        let engine = Engine::open(config(size), fs.clone()).unwrap();
        assert_eq!(engine.page_size(), size);
        let client = &mut Client::new(&engine, &table(&engine, "t"));
        assert_eq!(client.scan(0).len(), 200);
    }
}

/// Neither the note of the size nor the dictionary's first page is whole: other pages tell, or it is refused.
#[test]
fn a_lost_size_is_told_by_the_pages_and_never_guessed() {
    for size in PageSize::ALL {
        let fs = memory();
        let config = |page_size, force_recovery| EngineConfig { page_size, force_recovery, ..quiet() };
        let engine = Engine::open(config(size, ForceRecovery::Off), fs.clone()).unwrap();
        create_schema(&engine);
        let mut client = Client::new(&engine, &create_table(&engine, definition("t")));
        client.insert(&Row::new(1, 1, Some(1), b"one")).unwrap();
        client.commit();
        drop(client);
        engine.shutdown().unwrap();
        drop(engine);
        fs.remove(Path::new("/data/palisade.data")).unwrap();
        let dictionary = fs.open(Path::new("/data/spaces/000000.pal"), OpenMode::EXISTING).unwrap();
        dictionary.write_at(&[0xee; 100], 2000).unwrap();
        let open = |page_size| Engine::open(config(page_size, ForceRecovery::IgnoreDamage), fs.clone());
        let other = if size == PageSize::DEFAULT { PageSize::LEAST } else { PageSize::DEFAULT };
        let refused = open(other).map(drop).unwrap_err().to_string();
        assert!(refused.contains(&format!("uses page size {size}")), "{refused}");
        dictionary.write_at(&vec![0xee; dictionary.len().unwrap() as usize], 0).unwrap();
        let refused = open(size).map(drop).unwrap_err().to_string();
        assert!(refused.contains("does not say what size its pages have"), "{refused}");
    }
}
