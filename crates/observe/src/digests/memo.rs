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

/// A statement in a default database.
#[derive(Debug)]
pub struct Known {
    /// Its digest.
    pub digest: Arc<Digest>,
    /// No other one has this number, nor is it 0.
    pub number: u64,
    row: AtomicU64,
}

/// A statement as a [`Memo`] knows it.
pub enum Found<'a> {
    /// In the first of its default databases.
    First(&'a Known),
    /// In another one.
    Other(Arc<Known>),
}

impl std::ops::Deref for Found<'_> {
    type Target = Known;

    #[inline]
    fn deref(&self) -> &Known {
        match self {
            Found::First(known) => known,
            Found::Other(known) => known,
        }
    }
}

/// The last number of a [`Known`].
static LAST_NUMBER: AtomicU64 = AtomicU64::new(0);

impl Known {
    /// Its row of the current epoch.
    #[inline]
    pub fn row(&self, digests: &Digests) -> RowId {
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

    #[inline]
    fn is_of(&self, schema: Option<&str>) -> bool {
        self.digest.schema.as_deref() == schema
    }
}

impl Memo {
    /// What is known of the statement in a default database; `make` makes the digest when nothing is.
    #[inline]
    pub fn find(
        &self,
        digests: &Digests,
        schema: Option<&str>,
        make: impl FnOnce() -> Arc<Digest>,
    ) -> Found<'_> {
        match self.first.get() {
            Some(first) if first.is_of(schema) => Found::First(first),
            _ => Found::Other(self.known(digests, schema, make)),
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
        let number = LAST_NUMBER.fetch_add(1, Ordering::Relaxed) + 1;
        let known = Arc::new(Known { digest, number, row });
        if self.first.set(known.clone()).is_err() {
            if others.len() >= MOST {
                others.remove(0);
            }
            others.push(known.clone());
        }
        known
    }
}
