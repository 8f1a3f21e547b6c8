//! Packets in a stream of bytes.
//!
//! ```text
//! ┌──────────┬─────┬─────────────┐
//! │ length 3 │ seq │ payload     │   a frame; a payload of 2^24 - 1 bytes is continued in the next frame,
//! └──────────┴─────┴─────────────┘   and a packet ends with the first frame that is shorter
//! ```
//!
//! The sequence number starts at 0 with every command and counts the frames of both sides.
//!
//! [`Input`] holds received bytes until a packet is whole and gives it out where it lies; a packet of several frames
//! is joined in place. A packet longer than the limit is not kept: its bytes are dropped as they come, and when it has
//! ended [`FrameError::TooLarge`] says so, so that a client still sending gets to read the answer.

use std::ops::Range;

use crate::constants::MAX_FRAME;
use crate::wire::{u24, u24_bytes};

const HEADER: usize = 4;

/// Buffers are not kept larger than this between commands.
const KEEP: usize = 64 << 10;

/// Why no further packet can be read. The connection is to be closed, after an ERR packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// A packet was longer than allowed; it has been read to its end.
    #[error("got a packet longer than allowed")]
    TooLarge,
    /// A frame's sequence number was not the next one.
    #[error("got packets out of order")]
    OutOfOrder,
}

/// Received bytes, and the packets in them.
#[derive(Debug, Default)]
pub struct Input {
    buffer: Vec<u8>,
    /// Before this, everything has been given out.
    start: usize,
    /// From `start` on, payload bytes of the current packet that are joined already.
    joined: usize,
    sequence: u8,
    /// The current packet is too long: its frames are dropped.
    skipping: Option<Skip>,
}

#[derive(Debug, Clone, Copy)]
struct Skip {
    /// Bytes of the frame that have not come yet.
    frame_rest: usize,
    /// Whether another frame follows.
    continued: bool,
}

impl Input {
    /// Where received bytes go: append to it, and to its end only.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        if self.start == self.buffer.len() && self.joined == 0 {
            self.buffer.clear();
            self.start = 0;
        } else if self.start >= KEEP {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.drop_skipped();
        &mut self.buffer
    }

    /// Whether bytes have come that belong to a packet not given out yet.
    pub fn is_mid_packet(&self) -> bool {
        self.start < self.buffer.len() || self.skipping.is_some()
    }

    /// The next packet's first frame is to have sequence number 0: a new command.
    pub fn begin_command(&mut self) {
        self.sequence = 0;
        if self.buffer.capacity() > KEEP && self.buffer.len() - self.start < KEEP / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
            self.buffer.shrink_to(KEEP);
        }
    }

    /// What has been received after the last packet given out: it is not packets, but TLS.
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer.split_off(self.start);
        self.buffer.clear();
        self.start = 0;
        rest
    }

    /// The sequence number that an answer to the last packet begins with.
    pub fn next_sequence(&self) -> u8 {
        self.sequence
    }

    /// Takes the next packet's sequence number to be `sequence`; for packets that answer the server's.
    pub fn expect_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The payload of the next packet, if it is whole. `limit` is the longest payload allowed.
    pub fn packet(&mut self, limit: usize) -> Result<Option<&[u8]>, FrameError> {
        self.drop_skipped();
        loop {
            if let Some(skip) = self.skipping {
                if skip.frame_rest > 0 {
                    return Ok(None);
                }
                if !skip.continued {
                    self.skipping = None;
                    return Err(FrameError::TooLarge);
                }
            }
            let frame = self.start + self.joined;
            let header = self.buffer.get(frame..).and_then(<[u8]>::first_chunk::<HEADER>);
            let Some(&[l0, l1, l2, sequence]) = header else { return Ok(None) };
            let length = u24([l0, l1, l2]) as usize;
            if self.skipping.is_some() || self.joined + length > limit {
                self.buffer.drain(frame..frame + HEADER);
                self.buffer.drain(self.start..frame);
                self.joined = 0;
                self.skipping = Some(Skip { frame_rest: length, continued: length == MAX_FRAME });
                self.sequence = sequence.wrapping_add(1);
                self.drop_skipped();
                continue;
            }
            if sequence != self.sequence {
                return Err(FrameError::OutOfOrder);
            }
            let Some(end) = (frame + HEADER).checked_add(length).filter(|end| *end <= self.buffer.len())
            else {
                return Ok(None);
            };
            self.sequence = self.sequence.wrapping_add(1);
            if self.joined == 0 && length < MAX_FRAME {
                self.start = end;
                return Ok(Some(self.payload(frame + HEADER..end)));
            }
            self.buffer.drain(frame..frame + HEADER);
            self.joined += length;
            if length < MAX_FRAME {
                let packet = self.start..self.start + self.joined;
                self.start = packet.end;
                self.joined = 0;
                return Ok(Some(self.payload(packet)));
            }
        }
    }

    #[expect(clippy::indexing_slicing, reason = "`packet` has seen that the whole payload has come")]
    fn payload(&self, place: Range<usize>) -> &[u8] {
        &self.buffer[place]
    }

    fn drop_skipped(&mut self) {
        if let Some(skip) = &mut self.skipping {
            let dropped = skip.frame_rest.min(self.buffer.len() - self.start);
            self.buffer.drain(self.start..self.start + dropped);
            skip.frame_rest -= dropped;
        }
    }
}

/// Packets to send, as bytes.
#[derive(Debug, Default)]
pub struct Output {
    buffer: Vec<u8>,
    /// Where the packets in it end that are complete.
    complete: usize,
    sequence: u8,
    /// Bytes handed to the network since the connection began.
    sent: u64,
}

impl Output {
    /// The next packet gets this sequence number.
    pub fn begin_answer(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The sequence number of the next packet.
    pub fn next_sequence(&self) -> u8 {
        self.sequence
    }

    /// Begins a packet, and says where. Its payload is what is appended to [`payload`](Self::payload) until
    /// it [ends](Self::end_packet), or is [given up](Self::end_unfinished_packet).
    #[inline]
    pub fn begin_packet(&mut self) -> usize {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; HEADER]);
        start
    }

    /// Where the payload of the packet that has begun is appended.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Bytes of payload that the packet has which began there.
    #[inline]
    pub fn payload_len(&self, start: usize) -> usize {
        self.buffer.len().saturating_sub(start + HEADER)
    }

    /// The packet that began there is complete.
    #[inline]
    pub fn end_packet(&mut self, start: usize) {
        let length = self.payload_len(start);
        if length >= MAX_FRAME {
            self.split(start, length);
        } else {
            let header = self.buffer.get_mut(start..).and_then(<[u8]>::first_chunk_mut::<HEADER>);
            let Some(header) = header else { panic!("a packet's payload is only appended to") };
            *header = next_header(&mut self.sequence, length);
        }
        self.complete = self.buffer.len();
    }

    /// Adds the packet whose payload `build` appends to the vector it gets.
    pub fn packet(&mut self, build: impl FnOnce(&mut Vec<u8>)) {
        let start = self.begin_packet();
        build(&mut self.buffer);
        self.end_packet(start);
    }

    /// Adds packets that another output had pending, which began with the number that the next one has.
    pub fn append(&mut self, packets: &Output, first: u8) {
        assert!(self.sequence == first, "packets that are numbered otherwise");
        self.buffer.extend_from_slice(&packets.buffer);
        self.complete = self.buffer.len();
        self.sequence = packets.sequence;
    }

    /// A payload of 2^24 - 1 bytes or more becomes several frames: the rest moves back to make room for headers.
    #[cold]
    fn split(&mut self, start: usize, length: usize) {
        let rest = self.buffer.split_off(start + HEADER);
        self.buffer.truncate(start);
        let chunks = rest.chunks(MAX_FRAME).chain(length.is_multiple_of(MAX_FRAME).then_some(&[][..]));
        for chunk in chunks {
            self.buffer.extend_from_slice(&next_header(&mut self.sequence, chunk.len()));
            self.buffer.extend_from_slice(chunk);
        }
    }

    /// Where the next packet will begin; see [`Output::rewind`].
    pub fn mark(&self) -> (usize, u8) {
        (self.buffer.len(), self.sequence)
    }

    /// Takes back the packets added since `mark`; they must not have been sent.
    pub fn rewind(&mut self, mark: (usize, u8)) {
        assert!(mark.0 <= self.buffer.len(), "what was sent cannot be taken back");
        self.buffer.truncate(mark.0);
        self.complete = mark.0;
        self.sequence = mark.1;
    }

    /// Takes back what there is of a packet that has not ended: its building has failed.
    pub fn end_unfinished_packet(&mut self) {
        self.buffer.truncate(self.complete);
    }

    /// The bytes to send.
    pub fn pending(&self) -> &[u8] {
        &self.buffer
    }

    /// All pending bytes have been sent.
    pub fn clear(&mut self) {
        self.sent += self.buffer.len() as u64;
        self.buffer.clear();
        self.complete = 0;
        if self.buffer.capacity() > 2 * KEEP {
            self.buffer.shrink_to(KEEP);
        }
    }

    /// Bytes sent since the connection began.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

/// The header of a frame of `length` bytes, which is numbered `sequence`; the next frame gets the number
/// after it.
#[inline]
fn next_header(sequence: &mut u8, length: usize) -> [u8; HEADER] {
    let ([l0, l1, l2], number) = (u24_bytes(length as u32), *sequence);
    *sequence = number.wrapping_add(1);
    [l0, l1, l2, number]
}

#[cfg(test)]
mod tests;
