//! Chains that should end and lead back to where they have been: damage that a checksum does not show.
//!
//! R. P. Brent's way (An improved Monte Carlo factorization algorithm, 1980): one place is remembered, and
//! another one after 1, 2, 4, 8 ... steps. A walk that has got into a cycle comes to the remembered place
//! again within three times the steps that lead into it and around it. That takes two words, and per step a
//! comparison.

/// Notices that a walk along a chain goes in a circle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CycleGuard {
    mark: u64,
    steps: u64,
    /// Steps until another place is remembered; none is yet while this is 0.
    until: u64,
}

impl CycleGuard {
    /// The walk comes to `place`, which it never does twice unless it goes in a circle. Whether it is known
    /// to.
    #[inline]
    #[must_use]
    pub fn returns_to(&mut self, place: u64) -> bool {
        if self.until > 0 && place == self.mark {
            return true;
        }
        if self.steps == self.until {
            (self.mark, self.steps, self.until) = (place, 0, (self.until * 2).max(1));
        }
        self.steps += 1;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_into_a_cycle_is_noticed_soon_and_one_without_never() {
        for (tail, length) in [(0, 1), (0, 2), (1, 1), (3, 5), (17, 1), (100, 64), (1, 1000), (1000, 3)] {
            let place = |step: u64| if step < tail { step } else { tail + (step - tail) % length };
            let mut guard = CycleGuard::default();
            let noticed = (0..10_000).find(|step| guard.returns_to(place(*step)));
            let noticed = noticed.unwrap_or_else(|| panic!("{tail} and {length}"));
            assert!(noticed >= length && noticed <= 3 * (tail + length) + 3, "{tail}, {length}: {noticed}");
        }
        let mut guard = CycleGuard::default();
        assert!(!(0..100_000).any(|step| guard.returns_to(step)));
    }
}
