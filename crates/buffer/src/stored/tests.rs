use super::*;
use palisade_base::prng::{Prng, test_seed};
use palisade_base::{Lsn, PageId, PageNo, SpaceId};

const PAGE_SIZE: usize = PageSize::DEFAULT.bytes();
const ID: PageId = PageId { space: SpaceId(7), page: PageNo(9) };

fn sealed(id: PageId, lsn: u64, fill: impl FnOnce(&mut [u8])) -> Box<Page> {
    let mut page = Page::zeroed(PageSize::DEFAULT);
    page.format(id);
    page.set_page_lsn(Lsn(lsn));
    page.set_page_type(3);
    fill(&mut page[PAGE_HEADER..]);
    page::seal(id, &mut page);
    page
}

/// A body such as pages have: rows of a few words, and a gap of zeros.
fn rows(random: &mut Prng, body: &mut [u8]) {
    let full = random.below(body.len() as u64) as usize;
    let mut at = 0;
    while at < full {
        let row = format!("{:08} {} user-{} ", at, random.below(1 << 20), random.below(50));
        let len = row.len().min(full - at);
        body[at..at + len].copy_from_slice(&row.as_bytes()[..len]);
        at += len;
    }
}

/// Any body: noise, rows, one byte over and over, and mixtures of them.
fn any_body(random: &mut Prng, body: &mut [u8]) {
    rows(random, body);
    let pieces = random.below(4);
    for _ in 0..pieces {
        let start = random.below(body.len() as u64) as usize;
        let end = start + random.below((body.len() - start) as u64 + 1) as usize;
        match random.below(2) {
            0 => random.fill(&mut body[start..end]),
            _ => body[start..end].fill(random.next_u64() as u8),
        }
    }
}

#[test]
fn every_page_comes_back_as_it_was_from_every_codec() {
    let mut random = Prng::new(test_seed(31));
    let (mut encoder, mut compressed) = (Encoder::default(), 0);
    for round in 0..300 {
        let id = PageId { page: PageNo(round), ..ID };
        let page = sealed(id, random.next_u64(), |body| any_body(&mut random, body));
        for codec in Codec::ALL {
            let mut bytes = page.clone();
            let level = random.below(10) as u8;
            let Some(stored) = encoder.encode(codec, level, &mut bytes) else {
                assert!(bytes[..] == page[..], "what is stored as it is has not been touched");
                continue;
            };
            compressed += 1;
            assert_eq!((stored % BLOCK, stored_len(&bytes)), (0, stored));
            assert!(stored <= most(PAGE_SIZE) && bytes[stored..].iter().all(|byte| *byte == 0));
            assert_eq!(page::verify(id, &bytes), Ok(()));
            assert_eq!((page::stored_id(&bytes), page::stored_lsn(&bytes)), (id, page::stored_lsn(&page)));
            // What is behind it in its place means nothing.
            random.fill(&mut bytes[stored..]);
            assert_eq!(page::verify(id, &bytes), Ok(()));
            assert_eq!(decode(&mut bytes), Ok(Some(codec)));
            assert!(bytes[..] == page[..], "{codec:?} at {level}");
        }
    }
    assert!(compressed > 300, "{compressed}");
}

#[test]
fn a_page_that_saves_no_block_is_left_as_it_is() {
    let mut random = Prng::new(test_seed(32));
    let noise = sealed(ID, 5, |body| random.fill(body));
    // Level 0 of zlib only copies.
    let calm = sealed(ID, 5, |_| {});
    let mut encoder = Encoder::default();
    for (page, codec, level) in
        [(&noise, Codec::Lz4, 6), (&noise, Codec::Zlib, 9), (&noise, Codec::Zstd, 6), (&calm, Codec::Zlib, 0)]
    {
        let mut bytes = page.clone();
        assert_eq!(encoder.encode(codec, level, &mut bytes), None);
        assert!(bytes[..] == page[..]);
        assert_eq!(decode(&mut bytes), Ok(None));
    }
    let mut bytes = calm.clone();
    assert_eq!(encoder.encode(Codec::Zlib, 1, &mut bytes), Some(BLOCK), "levels may change");
}

#[test]
fn every_flipped_bit_of_the_stored_form_is_noticed_and_the_page_named() {
    let mut random = Prng::new(test_seed(33));
    let mut encoder = Encoder::default();
    for codec in Codec::ALL {
        let mut bytes = sealed(ID, 77, |body| rows(&mut random, body));
        let stored = encoder.encode(codec, 6, &mut bytes).unwrap();
        for bit in (0..PAGE_HEADER * 8).chain((PAGE_HEADER * 8..stored * 8).step_by(7)) {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(
                matches!(page::verify(ID, &bad), Err(Corruption::Checksum { .. })),
                "{codec:?} bit {bit}"
            );
        }
        let other = PageId { page: PageNo(10), ..ID };
        assert_eq!(page::verify(other, &bytes), Err(Corruption::WrongPage { found: ID }));
        for torn in (512..stored).step_by(512) {
            let mut bad = bytes.clone();
            bad[torn..].fill(0);
            let is_same = bad[..stored] == bytes[..stored];
            assert_eq!(page::verify(ID, &bad).is_ok(), is_same, "{codec:?} torn at {torn}");
        }
    }
}

/// Damage that a checksum does not tell: it was there before the form was sealed. Decoding ends, in its own
/// memory, and says so.
#[test]
fn damage_below_a_right_checksum_is_an_error_and_nothing_worse() {
    let mut random = Prng::new(test_seed(34));
    let mut encoder = Encoder::default();
    for _ in 0..1500 {
        let page = sealed(ID, 77, |body| any_body(&mut random, body));
        for codec in Codec::ALL {
            let mut bytes = page.clone();
            let Some(stored) = encoder.encode(codec, 1, &mut bytes) else { continue };
            for _ in 0..1 + random.below(4) {
                let at = match random.below(3) {
                    0 => CODEC as u64 + random.below(8),
                    _ => CODEC as u64 + random.below((stored - CODEC) as u64),
                };
                bytes[at as usize] = random.next_u64() as u8;
            }
            if bytes[CODEC] == 0 {
                continue;
            }
            let len = stored_len(&bytes);
            page::seal_stored(&mut bytes[..len]);
            let before = bytes.clone();
            match decode(&mut bytes) {
                Err(Corruption::Encoding(_)) => {}
                Ok(Some(_)) => assert!(bytes[..] == page[..], "{codec:?} gave another page"),
                other => panic!("{codec:?}: {other:?} of {:?}", &before[..PAGE_HEADER]),
            }
        }
    }
}

/// Bytes of any kind that have got a right checksum.
#[test]
fn any_bytes_are_decoded_or_refused() {
    let mut random = Prng::new(test_seed(35));
    let mut bytes = Page::zeroed(PageSize::DEFAULT);
    for _ in 0..20_000 {
        let len = 64 + random.below((PAGE_SIZE - 64) as u64) as usize;
        random.fill(&mut bytes[..len]);
        bytes[CODEC] = 1 + random.below(4) as u8;
        bytes[CODEC + 1] = 0;
        if bytes[CODEC] == Codec::Zstd as u8 {
            // Its magic number: without it nothing is read.
            bytes[PAGE_HEADER..PAGE_HEADER + 4].copy_from_slice(&[0x28, 0xb5, 0x2f, 0xfd]);
        }
        assert!(matches!(decode(&mut bytes), Err(Corruption::Encoding(_))));
    }
}

/// docs/format-pages.md says what the code does.
#[test]
fn the_document_has_the_numbers_of_the_code() {
    let document = include_str!("../../../../docs/format-pages.md");
    let (_, section) = document.split_once("## Compressed pages").expect("there is a section");
    for (offset, kind, name) in
        [(CODEC, "u8", "CODEC"), (LENGTH, "u16", "LENGTH"), (PAGE_CHECKSUM, "u32", "PAGE_CHECKSUM")]
    {
        let line = section.lines().find(|line| line.contains(&format!("`{name}`"))).expect(name);
        assert!(line.starts_with(&format!("| {offset} | {kind} |")), "{line}");
    }
    for codec in Codec::ALL {
        assert!(section.contains(&format!("{} {}", codec as u8, codec.name())), "{codec:?}");
        assert_eq!(Codec::named(&codec.name().to_uppercase()), Some(codec));
    }
    assert!(
        section.contains(&format!("blocks of {BLOCK} bytes"))
            && section.contains(&most(PAGE_SIZE).to_string())
    );
}
