//! Mistakes that the tests of a crate have it make, so that its power cuts can be seen to find them.

use std::fmt::Debug;

/// Rounds that a mistake is searched for in.
const ROUNDS: u64 = 3000;

/// Has each of `mistakes` made with `others` beside it, by the `plant` of
/// [`planted_mistakes!`](crate::planted_mistakes), and searches a round in which it is found, from the one
/// beside it on: where the search has ended before. Gives the round of each. Panics with those that no round
/// finds.
pub fn rounds_that_find<M: Copy + Debug>(
    plant: impl Fn(&[M]),
    mistakes: &[(M, u64)],
    others: &[M],
    is_found: impl Fn(M, u64) -> bool,
) -> Vec<(M, u64)> {
    let (mut found, mut unfound) = (Vec::new(), Vec::new());
    for &(mistake, first) in mistakes {
        plant(&[&[mistake], others].concat());
        match (first..first + ROUNDS).find(|round| is_found(mistake, *round)) {
            Some(round) => found.push((mistake, round)),
            None => unfound.push(mistake),
        }
    }
    plant(&[]);
    assert!(unfound.is_empty(), "no round finds {unfound:?}, beside {others:?}; of the others: {found:?}");
    found
}

/// Declares a crate's mistakes: `enum Planted`; `makes(mistake)`, which the code asks where it would make
/// one; and `plant(mistakes)` for tests, which `rounds_that_find` takes.
/// They are the calling thread's. Without tests there are none, and `makes` is `false` when the crate is
/// compiled.
#[macro_export]
macro_rules! planted_mistakes {
    ($($(#[$doc:meta])* $mistake:ident,)+) => {
        /// A mistake.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Planted {
            $($(#[$doc])* $mistake,)+
        }

        #[cfg(test)]
        thread_local! {
            static PLANTED: std::cell::RefCell<Vec<Planted>> = const { std::cell::RefCell::new(Vec::new()) };
        }

        /// Whether the calling thread makes this mistake.
        #[cfg(test)]
        pub(crate) fn makes(mistake: Planted) -> bool {
            PLANTED.with_borrow(|planted| planted.contains(&mistake))
        }

        /// Without tests there are none.
        #[cfg(not(test))]
        pub(crate) const fn makes(_: Planted) -> bool {
            false
        }

        /// The calling thread makes these mistakes from now on.
        #[cfg(test)]
        pub(crate) fn plant(mistakes: &[Planted]) {
            PLANTED.set(mistakes.to_vec());
        }
    };
}
