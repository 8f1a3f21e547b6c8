//! Pages of a space that is written out of place: whether there will be a run for one more.

use std::sync::Arc;

use palisade_base::{Attempt, Blocked, PageNo};

use super::{Pending, Space, ask};
use crate::error::Error;

/// What waits for room is noted under: as the first of the pages that it is for.
const ROOM: PageNo = PageNo(0);

impl Space {
    /// Whether the page is neither in memory nor stored: either it never was, or it is blank. The caller knows
    /// that no other creates it at the same time.
    pub(super) fn is_stored_nowhere(&self, page: PageNo) -> bool {
        // In this order: what leaves memory has a place by then, unless it is blank.
        let Some(places) = &self.places else { return false };
        !self.has(page) && places.place(page).is_none()
    }

    /// The page, which the caller has latched, is blank.
    pub(crate) fn needs_no_run(&self, page: PageNo) {
        self.places.iter().for_each(|places| places.expect_nothing(page));
    }

    /// Makes sure that there will be a run for a page that is to get content. Waits for: room to be taken for
    /// holes in the file.
    pub(super) fn promise_run(&self, page: PageNo) -> Attempt<(), Error> {
        let Some(places) = &self.places else { return Ok(()) };
        if places.promise(page, self.packing.read().packing.is_some()) {
            return Ok(());
        }
        let mut slow = self.slow.lock();
        self.check_attached(&slow)?;
        if let Some(answer) = ask(&mut slow.backing, ROOM, self.now()) {
            return Err(answer);
        }
        let (pending, event) = Pending::begin();
        slow.backing.insert(ROOM, pending);
        drop(slow);
        let this = self.this();
        self.core.io.submit(move || this.back_promises());
        Err(Blocked::Wait(event))
    }

    /// Takes room for pages that are to get content, on an I/O thread.
    fn back_promises(&self) {
        let places = self.places.as_ref().map(Arc::clone);
        let outcome = places.map_or(Ok(()), |places| places.back_promises());
        let mut slow = self.slow.lock();
        let Some(Pending::UnderWay { event, callers }) = slow.backing.remove(&ROOM) else {
            panic!("room is taken only while it is waited for");
        };
        if let Err(error) = outcome {
            let error = self.no_room(self.pages(), error);
            slow.backing.insert(ROOM, Pending::Failed { error, callers, at: self.now() });
        }
        drop(slow);
        event.complete();
    }
}
