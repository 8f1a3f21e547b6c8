//! Histories that once went wrong, with what it was.

use palisade_engine::FlushAtCommit;
use palisade_sim::history::{History, Mishap, Plan};

fn live(seed: u64, mishap: Mishap) {
    if let Err(violation) = History::run(Plan::new(seed, FlushAtCommit::Durable, mishap)) {
        panic!("{violation}");
    }
}

/// Purge waited for a free page, on the only thread there was.
#[test]
fn purge_of_an_engine_without_threads_does_not_wait_for_ever() {
    live(31_428, Mishap::None);
}

/// The power was cut while recovery gave a file its length again: a changed page was dropped without its log record.
#[test]
fn a_power_cut_during_recovery_is_an_error() {
    live(32_781, Mishap::PowerCut(150));
}

/// The commit that named a new table was written, and its sync failed: the table's file was removed.
#[test]
fn a_table_whose_creation_may_be_durable_keeps_its_file() {
    for seed in [31_938, 32_295, 33_183, 33_427] {
        live(seed, Mishap::FailedSync(60));
    }
}

/// Recovery changed more pages than there were frames, and waited for one on the only thread there was.
#[test]
fn recovery_of_an_engine_without_threads_makes_room_for_itself() {
    live(7_100_043, Mishap::FailedWrite(60));
}

/// One round of cleaning was not enough for a log that shrank to have room for purge.
#[test]
fn purge_waits_as_long_as_it_takes_a_log_to_shrink() {
    live(7_200_063, Mishap::PowerCutWhileResizing(600));
}
