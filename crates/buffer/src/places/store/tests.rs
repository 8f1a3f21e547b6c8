use super::*;
use crate::places::header::{MAGIC, VERSION};
use crate::places::record;
use palisade_base::prng::{Prng, test_seed};

#[test]
fn the_document_has_the_numbers_of_the_code() {
    let document = include_str!("../../../../../docs/format-places.md");
    let facts = [
        format!("a block is {} bytes", PageSize::DEFAULT.block()),
        format!("`{}`", str::from_utf8(&MAGIC).unwrap()),
        format!("version, {VERSION} ("),
        format!("version, {} |", chunk::VERSION),
        format!("A page is a run of {} blocks", PageSize::DEFAULT.blocks()),
        format!("places of {CHUNK_PLACES} pages"),
        format!("p / {CHUNK_PLACES}"),
        format!("4 x {CHUNK_PLACES}"),
        format!("first byte is {}", record::CODE),
        format!("Its first byte is {}, if", record::CODE_WITH_BLANKS),
        format!("The place {} says", Place::BLANK.bits()),
    ];
    facts.iter().for_each(|fact| assert!(document.contains(fact), "{fact}"));
}

#[test]
fn room_for_pages_includes_free_runs_and_is_counted_back() {
    assert_eq!([0, 1, 4, 10, 20, 1200].map(slots_for), [2, 3, 6, 12, 23, 1321]);
    for pages in 0..5000 {
        for spare in [PAGES_PER_SPARE, PAGES_PER_SPARE_BEFORE] {
            assert_eq!(pages_for(slots_with(pages, spare), spare), pages);
        }
    }
    assert_eq!(pages_for(0, PAGES_PER_SPARE), 0);
}

/// Pages of a batch.
const BATCH: usize = 128;

/// Writes batches of random pages, each of a random length, as `take_runs` would have the file grow.
/// Gives blocks of the file, and blocks in use, after each part of them.
fn rewritten(pages: u32, lengths: &[u32], random: &mut Prng) -> Vec<(u32, u32)> {
    let mut state = State::new(PageSize::DEFAULT, 1);
    let mut sizes = Vec::new();
    for batch in 0..6000 {
        let mut numbers: Vec<u32> = (0..BATCH).map(|_| random.below(u64::from(pages)) as u32).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let mut placed = Vec::new();
        for page in numbers {
            let blocks = lengths[random.below(lengths.len() as u64) as usize];
            let place = loop {
                if let Some(place) = state.blocks.allocate(blocks) {
                    break place;
                }
                // The pages of the batch that have a run already are settled first, as another round
                // does.
                state.set_all(&std::mem::take(&mut placed));
                if let Some(end) = state.room_wanted(blocks) {
                    state.blocks.grow(end);
                }
            };
            state.in_flight += place.blocks();
            let page = PageId { space: SpaceId(1), page: PageNo(page) };
            placed.push(Placed { page, place, lsn: Lsn(0) });
        }
        state.set_all(&placed);
        if batch % 1000 == 999 {
            sizes.push((state.blocks.end(), state.blocks.end() - state.blocks.free()));
        }
    }
    sizes
}

#[test]
fn a_steady_load_of_any_mix_of_lengths_takes_a_bounded_file() {
    let mut random = Prng::new(test_seed(46));
    for (lengths, most) in [
        (&[4][..], 1.2),
        (&[2], 1.2),
        (&[3], 1.2),
        (&[1, 2, 2, 3], 1.2),
        (&[2, 3, 3, 4], 1.35),
        (&[1, 1, 1, 4], 1.8),
    ] {
        let sizes = rewritten(3000, lengths, &mut random);
        let (end, used) = sizes[5];
        let ratio = f64::from(end) / f64::from(used);
        assert!(ratio < most, "{lengths:?}: {sizes:?}");
        assert!(end - sizes[3].0 <= end / 200, "{lengths:?}: {sizes:?} grows on");
    }
}
