//! Rows of items in chunks: what is put in stays where it is. One vector that doubles would take three times
//! its bytes while it grows, which an operator that may take so many bytes and no more cannot have.

/// Rows of as many items each, numbered as they were put in.
#[derive(Debug)]
pub struct Chunked<T> {
    /// The first chunk, which grows, so that few rows take little.
    first: Vec<T>,
    others: Vec<Vec<T>>,
    rows: usize,
}

impl<T> Default for Chunked<T> {
    fn default() -> Self {
        Chunked { first: Vec::new(), others: Vec::new(), rows: 0 }
    }
}

/// Rows of a chunk.
const ROWS: usize = 1024;

impl<T> Chunked<T> {
    /// Adds a row.
    pub fn push(&mut self, row: impl Iterator<Item = T>) {
        if self.rows < ROWS {
            self.first.extend(row);
        } else {
            if self.rows.is_multiple_of(ROWS) {
                self.others.push(Vec::with_capacity(self.first.len()));
            }
            if let Some(last) = self.others.last_mut() {
                last.extend(row);
            }
        }
        self.rows += 1;
    }

    /// A row, whose items are `width`.
    #[inline]
    pub fn row(&self, number: usize, width: usize) -> &[T] {
        let first = number % ROWS * width;
        let chunk = match (number / ROWS).checked_sub(1) {
            None => Some(&self.first),
            Some(other) => self.others.get(other),
        };
        chunk.and_then(|chunk| chunk.get(first..first + width)).unwrap_or_default()
    }

    /// The same, to be changed.
    #[inline]
    pub fn row_mut(&mut self, number: usize, width: usize) -> &mut [T] {
        let first = number % ROWS * width;
        let chunk = match (number / ROWS).checked_sub(1) {
            None => Some(&mut self.first),
            Some(other) => self.others.get_mut(other),
        };
        chunk.and_then(|chunk| chunk.get_mut(first..first + width)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_where_they_were_put() {
        let mut rows = Chunked::default();
        for number in 0..3 * ROWS + 5 {
            rows.push([number, number + 1].into_iter());
        }
        for number in 0..3 * ROWS + 5 {
            assert_eq!(rows.row(number, 2), [number, number + 1]);
            assert_eq!(rows.row_mut(number, 2), [number, number + 1]);
        }
        assert!(rows.row(3 * ROWS + 5, 2).is_empty());
        let mut empty = Chunked::<u8>::default();
        (0..2 * ROWS).for_each(|_| empty.push(std::iter::empty()));
        assert!(empty.row(ROWS, 0).is_empty());
    }
}
