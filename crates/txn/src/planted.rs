//! Mistakes that tests can have purge, rollback and undo make: they must be found.

palisade_base::planted_mistakes! {
    /// A leaf that could not be merged when it was emptied stays as it is.
    EmptiedLeafIsForgotten,
    /// Undo pages lose their room although recovery will still write to them.
    RoomGoesBeforeCheckpoint,
}
