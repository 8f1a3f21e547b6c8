//! Flipped bits in undo pages, the directory of segments and the roots of tables, while purge and the
//! rollback of what was in flight run; and links of the history that are wrong.

use std::sync::atomic::AtomicBool;

use super::*;

/// The undo space, or a table's first pages.
fn choose_page(random: &mut Prng, files: &Files) -> (PathBuf, usize) {
    let undo = Path::new("/data/spaces/000001.pal");
    let tables: Vec<_> = files.keys().filter(|name| name.extension().is_some_and(|e| e == "pal")).collect();
    let (name, pages) = match random.below(4) {
        0 => ((*random.pick(&tables)).clone(), 0..6),
        1 => (undo.to_owned(), 0..10),
        _ => (undo.to_owned(), 9..usize::MAX),
    };
    let used: Vec<_> = files[&name]
        .chunks_exact(PAGE)
        .enumerate()
        .filter(|(number, page)| pages.contains(number) && page.iter().any(|byte| *byte != 0))
        .map(|(number, _)| number)
        .collect();
    let page = if used.is_empty() { 0 } else { *random.pick(&used) };
    (name, page)
}

fn flip_bits(random: &mut Prng, files: &mut Files) -> String {
    let (name, number) = choose_page(random, files);
    let mut what = format!("{} page {number}", name.display());
    let page = &mut files.get_mut(&name).unwrap()[number * PAGE..][..PAGE];
    for _ in 0..=random.below(3) {
        let at = match random.below(3) {
            0 => any_place(random),
            _ => field(random, page).0,
        };
        let bit = random.below(8);
        what += &format!(": bit {bit} at {at}");
        page[at] ^= 1 << bit;
    }
    let checksum = crc32c(&page[4..]);
    page[..4].copy_from_slice(&checksum.to_le_bytes());
    what
}

#[test]
fn flipped_bits_under_purge_and_rollback_end_nothing_but_statements() {
    let steps = std::env::var("PALISADE_TEST_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let rounds: u64 = 40 * steps;
    let first = test_seed(1);
    let directories = [directory(false), directory(true)];
    let now = Arc::new(AtomicU64::new(first));
    let _watched = watch(&now);
    let is_fatal = Arc::new(AtomicBool::new(false));
    let seen = is_fatal.clone();
    let running = EngineConfig {
        background: true,
        purge_threads: 1,
        on_fatal: Some(Arc::new(move |_: &str| seen.store(true, Ordering::Relaxed))),
        ..config()
    };
    for seed in first..first.wrapping_add(rounds) {
        now.store(seed, Ordering::Relaxed);
        let mut random = Prng::new(seed);
        let mut damaged = directories[(seed % 4 != 0) as usize].clone();
        println!("undo {seed}: {}", flip_bits(&mut random, &mut damaged));
        let engine = match maps::open_files(&damaged, running.clone()) {
            Ok(engine) => engine,
            Err(error) => {
                println!("  {error}");
                let forced = EngineConfig { force_recovery: ForceRecovery::NoUndo, ..running.clone() };
                match maps::open_files(&damaged, forced) {
                    Ok(engine) => engine,
                    Err(error) => {
                        println!("  {error}");
                        continue;
                    }
                }
            }
        };
        for name in ["t", "other"] {
            use_table(&engine, name, &mut random);
        }
        check(&engine);
        let _ = engine.shutdown();
        assert!(!is_fatal.load(Ordering::Relaxed), "round {seed} ends the process");
    }
}

/// Places where the server writes, on pages that say they are something else: what once was an abort.
#[test]
fn a_page_that_is_not_what_is_written_to_is_not_written_to() {
    let whole = directory(true);
    let rounds = Arc::new(AtomicU64::new(0));
    let _watched = watch(&rounds);
    let names: Vec<_> = whole.keys().filter(|name| name.extension().is_some_and(|e| e == "pal")).collect();
    for name in names {
        // The information page and the directory's pages: as nodes, with a loose tree on them.
        for number in 1..9.min(whole[name].len() / PAGE) {
            for kind in [0u16, 3, 4, 15] {
                rounds.fetch_add(1, Ordering::Relaxed);
                let mut damaged = whole.clone();
                let page = &mut damaged.get_mut(name).unwrap()[number * PAGE..][..PAGE];
                if page.iter().all(|byte| *byte == 0) || (kind == 3 && page[12] == 3) {
                    continue;
                }
                page[12..14].copy_from_slice(&kind.to_le_bytes());
                page[40..64].fill(0);
                page[44..46].copy_from_slice(&(PAGE as u16).to_le_bytes());
                page[64..80].fill(0);
                if kind == 3 && number == 1 {
                    page[64] = 1;
                }
                let checksum = crc32c(&page[4..]);
                page[..4].copy_from_slice(&checksum.to_le_bytes());
                use_directory(&damaged, &mut Prng::new(1));
            }
        }
    }
}
