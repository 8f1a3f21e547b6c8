//! Elements of slices by numbers that other parts of this crate have worked out: arguments of calls, slots of
//! frames, columns of tables and of results.
//!
//! Such a number is right because the binder, the planner and the dictionary agree. If they once do not,
//! [`At`] makes that an error of the statement (1815, with the place in the source that asked), where
//! indexing would be a panic. clippy's `indexing_slicing` is denied here, so that no other way is taken; it
//! costs what the check of an index costs.

use std::ops::Range;

use crate::{SqlError, SqlResult};

/// Elements that may turn out not to be there.
pub trait At<T> {
    /// The element at `place`.
    fn at(&self, place: usize) -> SqlResult<&T>;
    /// The same, to be changed.
    fn at_mut(&mut self, place: usize) -> SqlResult<&mut T>;
    /// The elements of `places`.
    fn part(&self, places: Range<usize>) -> SqlResult<&[T]>;
    /// Those from `place` on.
    fn tail(&self, place: usize) -> SqlResult<&[T]>;
}

impl<T> At<T> for [T] {
    #[inline]
    #[track_caller]
    fn at(&self, place: usize) -> SqlResult<&T> {
        match self.get(place) {
            Some(element) => Ok(element),
            None => Err(missing(place, self.len())),
        }
    }

    #[inline]
    #[track_caller]
    fn at_mut(&mut self, place: usize) -> SqlResult<&mut T> {
        let length = self.len();
        match self.get_mut(place) {
            Some(element) => Ok(element),
            None => Err(missing(place, length)),
        }
    }

    #[inline]
    #[track_caller]
    fn part(&self, places: Range<usize>) -> SqlResult<&[T]> {
        match self.get(places.clone()) {
            Some(part) => Ok(part),
            None => Err(missing(places.end, self.len())),
        }
    }

    #[inline]
    #[track_caller]
    fn tail(&self, place: usize) -> SqlResult<&[T]> {
        match self.get(place..) {
            Some(part) => Ok(part),
            None => Err(missing(place, self.len())),
        }
    }
}

#[cold]
#[track_caller]
fn missing(place: usize, length: usize) -> SqlError {
    let caller = std::panic::Location::caller();
    let broken = format!("no place {place} among {length}, at {}:{}", caller.file(), caller.line());
    debug_assert!(false, "{broken}");
    SqlError::internal(&broken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_found() {
        let mut numbers = [1, 2, 3];
        *numbers.at_mut(1).unwrap() = 20;
        assert_eq!(numbers.at(1), Ok(&20));
        assert_eq!(numbers.part(1..3), Ok(&[20, 3][..]));
        assert_eq!(numbers.tail(3), Ok(&[][..]));
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "no place 3 among 3, at crates/expr/src/place.rs"))]
    fn what_is_not_there_is_an_error_that_says_who_asked() {
        let error = [1, 2, 3].at(3).unwrap_err();
        assert_eq!(error.number(), 1815);
        assert!(error.message.contains("place.rs"), "{error}");
    }
}
