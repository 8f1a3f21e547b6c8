//! Pages written in place by writes that file system and device carry out whole or not at all.
//!
//! Linux promises that of a write (`RWF_ATOMIC`) where the device can, and where the blocks of the file lie
//! so that it can: [`File::atomic_writes`](palisade_io::File::atomic_writes) says whether. Then no copy is
//! needed: half of the bytes, and one sync less for each part. Each page is a write of its own; neighbours
//! are not merged.
//!
//! The promise is of the file when it was asked. A write may still be refused later, for a page whose blocks
//! lie otherwise. Then nothing of that page has been written, and the part is written through doublewrite;
//! from then on all are.

use std::io;
use std::sync::{Arc, OnceLock};

use palisade_io::WriteQueue;

use crate::doublewrite::Doublewrite;
use crate::sink::{BatchPart, PageSink};

/// In place, each page whole or not at all.
pub struct Atomic {
    otherwise: Arc<Doublewrite>,
    refusal: OnceLock<String>,
}

impl Atomic {
    /// A sink that goes on with `otherwise` if a write is refused. Only for files that promise
    /// [atomic writes](palisade_io::File::atomic_writes) of a page.
    pub fn new(otherwise: Arc<Doublewrite>) -> Atomic {
        Atomic { otherwise, refusal: OnceLock::new() }
    }

    /// Why pages are written through doublewrite after all, if they are.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.get().map(String::as_str)
    }
}

impl PageSink for Atomic {
    fn name(&self) -> &'static str {
        if self.refusal.get().is_none() { "atomic" } else { self.otherwise.name() }
    }

    fn batch_pages(&self) -> usize {
        self.otherwise.batch_pages()
    }

    fn lanes(&self) -> usize {
        self.otherwise.lanes()
    }

    fn write(&self, lane: usize, part: BatchPart<'_>, queue: &mut WriteQueue) -> io::Result<()> {
        if self.refusal.get().is_none() {
            match part.write_whole_in_place(queue) {
                Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                    let reason = self.refusal.get_or_init(|| error.to_string());
                    eprintln!("palisade: pages are written through doublewrite from now on: {reason}");
                }
                outcome => return outcome,
            }
        }
        self.otherwise.write(lane, part, queue)
    }
}
