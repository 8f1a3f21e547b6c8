//! Mistakes that the tests of a crate have it make, so that its power cuts can be seen to find them.

/// Declares a crate's mistakes: `enum Planted`; `makes(mistake)`, which the code asks where it would make
/// one; and `plant(mistakes)` for tests. They are the calling thread's. Without tests there are none, and
/// `makes` is `false` when the crate is compiled.
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
