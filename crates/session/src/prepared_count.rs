//! How many prepared statements there are: those of the protocol and those of PREPARE, of all sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use palisade_base::error_catalogue::ER_MAX_PREPARED_STMT_COUNT_REACHED;
use palisade_base::mysql_error;
use palisade_expr::SqlResult;

/// `Prepared_stmt_count`.
#[derive(Debug, Default)]
pub struct PreparedCount(Arc<AtomicU64>);

/// A prepared statement's part of the count, until it is dropped.
#[derive(Debug)]
pub struct Counted(Arc<AtomicU64>);

impl PreparedCount {
    /// How many there are.
    pub fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts one more; 1461 if there are `most` (`max_prepared_stmt_count`).
    pub fn one_more(&self, most: u64) -> SqlResult<Counted> {
        let counted = Counted(self.0.clone());
        if self.0.fetch_add(1, Ordering::Relaxed) >= most {
            return Err(mysql_error!(ER_MAX_PREPARED_STMT_COUNT_REACHED, most));
        }
        Ok(counted)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_or_dropped_is_not_counted() {
        let count = PreparedCount::default();
        let first = count.one_more(2).unwrap();
        let second = count.one_more(2).unwrap();
        assert_eq!(count.one_more(2).unwrap_err().code, &ER_MAX_PREPARED_STMT_COUNT_REACHED);
        assert_eq!(count.value(), 2);
        drop(first);
        let third = count.one_more(2).unwrap();
        assert_eq!(count.value(), 2);
        drop((second, third));
        assert_eq!(count.value(), 0);
    }
}
