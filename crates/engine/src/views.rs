//! Views in the dictionary: a row and an entry of the snapshot, no file.
//!
//! As other changes of the dictionary, each function here is one dictionary transaction under an
//! [`ExclusiveLock`] that covers the names. What a view's query means is not known here.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]

use std::sync::Arc;

use palisade_catalog::ViewDef;

use crate::Error;
use crate::definition::RowEdit;
use crate::dictionary::{Change, Dictionary, view_key};
use crate::engine::Engine;
use crate::metadata::{ExclusiveLock, TableName};

/// The row and the entry of a view go.
pub(crate) fn removal(view: &ViewDef) -> (RowEdit, Change) {
    let change = Change::DropView(view.schema.clone(), view.name.clone());
    (RowEdit::Delete(view_key(&view.schema, &view.name)), change)
}

/// They come.
fn addition(view: ViewDef) -> (RowEdit, Change) {
    let row = RowEdit::Put(view_key(&view.schema, &view.name), view.to_bytes());
    (row, Change::PutView(Arc::new(view)))
}

/// A view takes another name: what happens to rows and snapshot.
pub(crate) fn renaming(view: &ViewDef, to: &TableName) -> ([RowEdit; 2], [Change; 2]) {
    let (old_row, old) = removal(view);
    let new = ViewDef { schema: to.schema.clone(), name: to.table.clone(), ..view.clone() };
    let (new_row, new) = addition(new);
    ([old_row, new_row], [old, new])
}

/// [`Error::TableExists`] if there is a table or view of that name, [`Error::UnknownSchema`] without its
/// schema.
pub(crate) fn check_absent(dictionary: &Dictionary, name: &TableName) -> Result<(), Error> {
    match dictionary.table(&name.schema, &name.table) {
        Err(Error::UnknownTable { .. }) if dictionary.view(&name.schema, &name.table).is_none() => Ok(()),
        Ok(_) | Err(Error::UnknownTable { .. }) => Err(Error::TableExists(name.table.clone())),
        Err(error) => Err(error),
    }
}

impl Engine {
    /// CREATE VIEW, or its replacement if there is one of that name; [`Error::TableExists`] for a table's
    /// name.
    pub async fn put_view(self: &Arc<Self>, lock: &ExclusiveLock, view: ViewDef) -> Result<(), Error> {
        let name = TableName::new(&view.schema, &view.name);
        lock.assert_covers(&name);
        if self.dictionary().view(&name.schema, &name.table).is_none() {
            self.check_absent(&name)?;
        }
        let (row, change) = addition(view);
        self.under(lock, move |engine| engine.change_dictionary(&[row], &[change])).await
    }

    /// DROP VIEW: all of `names`, or none.
    pub async fn drop_views(
        self: &Arc<Self>,
        lock: &ExclusiveLock,
        names: &[TableName],
    ) -> Result<(), Error> {
        let dictionary = self.dictionary();
        let mut views = Vec::with_capacity(names.len());
        for name in names {
            lock.assert_covers(name);
            let unknown = || Error::UnknownTable { schema: name.schema.clone(), table: name.table.clone() };
            views.push(dictionary.view(&name.schema, &name.table).cloned().ok_or_else(unknown)?);
        }
        let (rows, changes): (Vec<_>, Vec<_>) = views.iter().map(|view| removal(view)).unzip();
        self.under(lock, move |engine| engine.change_dictionary(&rows, &changes)).await
    }
}
