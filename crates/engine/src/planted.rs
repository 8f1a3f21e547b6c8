//! Mistakes that tests can have definitions make. They are those that a later change could make by accident:
//! of each the power cuts must find one after which something is half done.

palisade_base::planted_mistakes! {
    /// The dictionary names a file whose name is not durable.
    NewNamesAreNotSynced,
    /// A statement ends before its change of the dictionary is durable.
    RowsAreNotFlushed,
    /// The files of a table go while the dictionary still names it.
    FilesGoBeforeRows,
    /// A start relies on names that the life before has not made durable.
    FoundNamesAreNotSynced,
    /// A dropped file is cut although its name may come back.
    DropsAreNotSynced,
}
