//! Which row a statement has that is kept with its plan.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::{Digest, Digests, RowId, locked};

/// Default databases for which a statement remembers its row, besides the first.
const MOST: usize = 16;

/// The rows of a statement, by default database.
#[derive(Debug, Default)]
pub struct Memo {
    /// Of the first database it was executed in: mostly the only one. Set with the others locked.
    first: OnceLock<Arc<Known>>,
    others: Mutex<Vec<Arc<Known>>>,
}

#[derive(Debug)]
struct Known {
    digest: Arc<Digest>,
    row: AtomicU64,
}

impl Known {
    /// Its row of the current epoch.
    #[inline]
    fn row(&self, digests: &Digests) -> RowId {
        let row = RowId::unpacked(self.row.load(Ordering::Relaxed));
        match row.epoch == digests.home.epochs().rows {
            true => row,
            false => self.renewed(digests),
        }
    }

    #[cold]
    fn renewed(&self, digests: &Digests) -> RowId {
        let row = digests.home.row(&self.digest);
        self.row.store(row.packed(), Ordering::Relaxed);
        row
    }

    fn is_of(&self, schema: Option<&str>) -> bool {
        self.digest.schema.as_deref() == schema
    }
}

impl Memo {
    /// Calls `take` with the row and digest for a default database; `make` makes the digest when it is not
    /// known.
    #[inline]
    pub fn with<T>(
        &self,
        digests: &Digests,
        schema: Option<&str>,
        make: impl FnOnce() -> Arc<Digest>,
        take: impl FnOnce(RowId, &Arc<Digest>) -> T,
    ) -> T {
        match self.first.get() {
            Some(first) if first.is_of(schema) => take(first.row(digests), &first.digest),
            _ => {
                let known = self.known(digests, schema, make);
                take(known.row(digests), &known.digest)
            }
        }
    }

    #[cold]
    fn known(
        &self,
        digests: &Digests,
        schema: Option<&str>,
        make: impl FnOnce() -> Arc<Digest>,
    ) -> Arc<Known> {
        let mut others = locked(&self.others);
        if let Some(found) = self.first.get().into_iter().chain(&*others).find(|known| known.is_of(schema)) {
            return found.clone();
        }
        let digest = make();
        let row = AtomicU64::new(digests.home.row(&digest).packed());
        let known = Arc::new(Known { digest, row });
        if self.first.set(known.clone()).is_err() {
            if others.len() >= MOST {
                others.remove(0);
            }
            others.push(known.clone());
        }
        known
    }
}
