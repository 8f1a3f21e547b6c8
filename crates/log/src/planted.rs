//! Mistakes that tests can have the log make. They are those that a later change could make by accident: of
//! each the power cuts must find a seed at which something durable is lost, or a log that is whole is called
//! damaged.

palisade_base::planted_mistakes! {
    /// What is written is reported durable before it is synced.
    FlushIsNotSynced,
    /// Of several segments written to, the last is synced only.
    LastSegmentIsSynced,
    /// A group says that it is itself durable.
    GroupVouchesForItself,
    /// Segments are used again before the checkpoint record is durable.
    CheckpointIsNotSynced,
    /// The segment that recovery would begin with is used again.
    FirstSegmentGoes,
    /// A segment is used before its name is durable.
    NamesAreNotSynced,
    /// What is read at a start is not made durable by it.
    FoundIsNotSynced,
    /// A new life goes on in the epoch of the last.
    EpochStays,
    /// A checkpoint lies where the log ends and not where pages are still to be written from.
    CheckpointGoesTooFar,
}
