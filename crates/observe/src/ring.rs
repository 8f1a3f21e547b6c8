//! The last events of a session, in memory that is used again.

/// So many events at most as each one that comes says: the newest takes the place of the oldest.
#[derive(Debug)]
pub(crate) struct Ring<E> {
    /// The newest is before `next`.
    kept: Vec<E>,
    next: usize,
}

impl<E> Default for Ring<E> {
    fn default() -> Self {
        Ring { kept: Vec::new(), next: 0 }
    }
}

impl<E: Default> Ring<E> {
    /// The place of an event that comes, where there are `most` of them or one; it holds what an event
    /// before it has left.
    #[inline]
    pub(crate) fn place(&mut self, most: usize) -> Option<&mut E> {
        if self.next >= most.max(1) {
            self.next = 0;
            // There may have been more of them before.
            self.kept.truncate(most.max(1));
        }
        if self.next >= self.kept.len() {
            self.kept.push(E::default());
        }
        self.next += 1;
        self.kept.get_mut(self.next - 1)
    }

    /// All of them, the oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &E> {
        let (newer, older) = self.kept.split_at_checked(self.next).unwrap_or((&self.kept, &[]));
        older.iter().chain(newer)
    }

    /// The newest.
    pub(crate) fn last(&self) -> Option<&E> {
        self.kept.get(self.next.checked_sub(1)?)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn all(ring: &Ring<u32>) -> Vec<u32> {
        ring.iter().copied().collect()
    }

    #[test]
    fn the_newest_take_the_places_of_the_oldest() {
        let mut ring = Ring::<u32>::default();
        assert_eq!((all(&ring), ring.last()), (vec![], None));
        let mut add = |event: u32, most: usize| {
            *ring.place(most).expect("there is one") = event;
            (all(&ring), ring.last().copied())
        };
        for event in 1..=3 {
            add(event, 3);
        }
        assert_eq!(add(4, 3), (vec![2, 3, 4], Some(4)));
        assert_eq!(add(5, 3), (vec![3, 4, 5], Some(5)));
        assert_eq!(add(6, 1), (vec![6], Some(6)), "fewer are kept now");
        assert_eq!(add(7, 0), (vec![7], Some(7)));
        assert_eq!(add(8, 2), (vec![7, 8], Some(8)));
    }
}
