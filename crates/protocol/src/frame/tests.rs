use super::*;
use palisade_base::prng::{Prng, test_seed};

fn frame(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = (payload.len() as u32).to_le_bytes()[..3].to_vec();
    out.push(sequence);
    out.extend_from_slice(payload);
    out
}

#[test]
fn a_packet_arrives_byte_by_byte() {
    let mut input = Input::default();
    for byte in frame(0, b"hello") {
        assert_eq!(input.packet(100), Ok(None));
        input.buffer().push(byte);
    }
    assert_eq!(input.packet(100), Ok(Some(&b"hello"[..])));
    assert_eq!(input.next_sequence(), 1);
    assert!(!input.is_mid_packet());
}

#[test]
fn several_packets_in_one_read() {
    let mut input = Input::default();
    for payload in [&b"a"[..], b"", b"bcd"] {
        input.buffer().extend(frame(0, payload));
    }
    for payload in [&b"a"[..], b"", b"bcd"] {
        input.begin_command();
        assert_eq!(input.packet(100), Ok(Some(payload)));
    }
    assert_eq!(input.packet(100), Ok(None));
}

#[test]
fn the_wrong_sequence_number_is_an_error() {
    let mut input = Input::default();
    input.buffer().extend(frame(3, b"x"));
    assert_eq!(input.packet(100), Err(FrameError::OutOfOrder));
}

#[test]
fn sixteen_mebibytes_are_joined_and_split() {
    for length in [MAX_FRAME - 1, MAX_FRAME, MAX_FRAME + 1, 2 * MAX_FRAME] {
        let payload: Vec<u8> = (0..length).map(|at| at as u8).collect();
        let mut output = Output::default();
        output.packet(|out| out.extend_from_slice(&payload));
        let frames = length / MAX_FRAME + 1;
        assert_eq!(output.pending().len(), length + HEADER * frames);
        assert_eq!(usize::from(output.next_sequence()), frames);
        let mut input = Input::default();
        for chunk in output.pending().chunks(1_000_003) {
            assert_eq!(input.packet(usize::MAX), Ok(None));
            input.buffer().extend_from_slice(chunk);
        }
        assert!(input.packet(usize::MAX).unwrap().unwrap() == payload, "{length}");
        assert_eq!(usize::from(input.next_sequence()), frames);
        input.begin_command();
        assert!(input.buffer.capacity() <= KEEP);
    }
}

#[test]
fn an_oversized_packet_is_dropped_as_it_comes_and_then_reported() {
    let mut output = Output::default();
    output.packet(|out| out.resize(2 * MAX_FRAME + 5, 7));
    let mut input = Input::default();
    let chunks: Vec<&[u8]> = output.pending().chunks(100_000).collect();
    for chunk in &chunks[..chunks.len() - 1] {
        input.buffer().extend_from_slice(chunk);
        assert_eq!(input.packet(1 << 20), Ok(None));
        assert!(input.buffer.len() <= 1 << 20, "it is not kept");
    }
    input.buffer().extend_from_slice(chunks[chunks.len() - 1]);
    assert_eq!(input.packet(1 << 20), Err(FrameError::TooLarge));
    assert_eq!(input.next_sequence(), 3);
    input.begin_command();
    input.buffer().extend(frame(0, b"next"));
    assert_eq!(input.packet(1 << 20), Ok(Some(&b"next"[..])));
}

#[test]
fn a_packet_whose_second_frame_is_too_much_is_dropped() {
    let mut output = Output::default();
    output.packet(|out| out.resize(MAX_FRAME + 100, 7));
    let mut input = Input::default();
    for chunk in output.pending().chunks(1_000_000) {
        assert_eq!(input.packet(MAX_FRAME + 50), Ok(None));
        input.buffer().extend_from_slice(chunk);
    }
    assert_eq!(input.packet(MAX_FRAME + 50), Err(FrameError::TooLarge));
    assert!(!input.is_mid_packet());
}

#[test]
fn random_packets_in_random_pieces_arrive_whole() {
    let mut prng = Prng::new(test_seed(1));
    for _ in 0..200 {
        let packets: Vec<Vec<u8>> = (0..prng.below(20))
            .map(|_| {
                let mut payload = vec![0; prng.below(300) as usize];
                prng.fill(&mut payload);
                payload
            })
            .collect();
        let stream: Vec<u8> = packets.iter().flat_map(|payload| frame(0, payload)).collect();
        let mut input = Input::default();
        let mut received = Vec::new();
        let mut rest = &stream[..];
        loop {
            input.begin_command();
            match input.packet(1000).unwrap() {
                Some(packet) => received.push(packet.to_vec()),
                None if rest.is_empty() => break,
                None => {
                    let piece;
                    (piece, rest) = rest.split_at(1 + prng.below(rest.len() as u64) as usize);
                    input.buffer().extend_from_slice(piece);
                }
            }
        }
        assert_eq!(received, packets);
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut prng = Prng::new(test_seed(2));
    for _ in 0..2000 {
        let mut input = Input::default();
        for _ in 0..10 {
            let mut piece = vec![0; prng.below(64) as usize];
            prng.fill(&mut piece);
            input.buffer().extend_from_slice(&piece);
            while let Ok(Some(_)) = input.packet(prng.below(100) as usize) {}
        }
    }
}

#[test]
fn a_failed_packet_leaves_nothing_behind() {
    let mut output = Output::default();
    output.packet(|out| out.push(1));
    let before = output.pending().to_vec();
    let start = output.begin_packet();
    output.payload().extend_from_slice(&[1, 2, 3]);
    assert_eq!(output.payload_len(start), 3);
    output.end_unfinished_packet();
    assert_eq!((output.pending(), output.next_sequence()), (&before[..], 1));
    let mark = output.mark();
    output.packet(|out| out.push(2));
    output.rewind(mark);
    assert_eq!((output.pending(), output.next_sequence()), (&before[..], 1));
}

#[test]
fn a_packet_whose_building_panics_is_taken_back() {
    let mut output = Output::default();
    output.begin_answer(1);
    output.packet(|out| out.extend_from_slice(b"row"));
    let before = output.pending().to_vec();
    for sent in [false, true] {
        let building = std::panic::AssertUnwindSafe(|| {
            output.packet(|out| {
                out.extend_from_slice(b"half a r");
                panic!("expected by the test");
            });
        });
        assert!(std::panic::catch_unwind(building).is_err());
        output.end_unfinished_packet();
        assert_eq!(output.pending(), if sent { &[][..] } else { &before });
        assert_eq!(output.next_sequence(), 2);
        output.clear();
    }
}
