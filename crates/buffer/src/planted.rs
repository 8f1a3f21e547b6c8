//! Mistakes that tests can have the pool make, to see that they are found; and a log that seems full.
//!
//! They are those that a later change could make by accident. Of each the simulated power cuts must find a
//! seed at which a page is lost or wrong, or the test of the power cuts proves nothing.

palisade_base::planted_mistakes! {
    /// The record is appended before the runs are durable.
    DataIsNotSynced,
    /// The record's places count, and old runs are free, before it is durable.
    RecordIsNotFlushed,
    /// A record has no mark, nor have its chunks.
    NoMarks,
    /// A chunk's mark goes before the map is durable.
    MarksGoEarly,
    /// Only one slot of a chunk is written.
    OneSlot,
    /// Both slots are written before either is durable.
    SlotsAreNotSynced,
    /// The header counts chunks before they are durable.
    CountIsEarly,
    /// Chunks before one that is written stay unwritten.
    GapsStay,
    /// The only whole slot of a chunk is written first.
    WholeSlotGoes,
    /// Records that a chunk contains already are applied to it again.
    RecordsAreRedone,
    /// A chunk says that it contains records of a part of the log that may be lost.
    LsnBeyondDurable,
    /// Old runs are free before the map is durable.
    MapIsNotSynced,
    /// Recovery believes records whose flush may not have ended.
    DoubtfulRecordsCount,
    /// What recovery does not believe is left for the next start to believe.
    DoubtIsForgotten,
    /// Recovery knows only of the places in the map.
    NoFirstPass,
    /// A map that is made again names any whole copy of a page.
    OldCopyIsTaken,
    /// A page is said to be blank in the map alone, without a record.
    BlanksGoToTheMap,
    /// Recovery does not know since when a page is blank.
    BlankSinceIsForgotten,
    /// A map that is made again names copies of pages that have been blank since.
    FoundCopyStays,
    /// Room that pages have been promised becomes holes, and is promised all the same.
    PromisesAreForgotten,
    /// A page that leaves memory unwritten is dirty from then on only.
    KeptMarksMove,
    /// No mistake: the log takes no records.
    NoCredit,
    /// Copies are not durable when their pages are overwritten.
    CopiesAreNotSynced,
    /// Pages are overwritten before their copies are there.
    CopiesComeLate,
    /// A lane is used again before the pages in place are durable.
    PlacesAreNotSynced,
    /// What a repair has restored, or found whole, is not durable when lanes are used again.
    RepairIsNotSynced,
    /// What a start has found in place is not durable when the log goes on.
    FoundIsNotSynced,
    /// A page that the disk was too full for counts as written.
    FullDiskIsPassedOver,
    /// Pages are written before the log that speaks of them is durable.
    LogIsNotFirst,
    /// A page that is about to be written has no mark any more.
    MarksOfPagesGoEarly,
    /// A hole begins before the page in front of it ends.
    HoleIsTooLarge,
}
