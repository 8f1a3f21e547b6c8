//! The engine against the model, on disks with all kinds of mishap.

use palisade_base::prng::test_seed;
use palisade_engine::{FlushAtCommit, PageSize};
use palisade_sim::history::{History, Mishap, Plan, TableKind, Tally};

fn plan(flush_at_commit: FlushAtCommit, mishap: Mishap) -> Plan {
    Plan { lives: 5, turns: 300, has_branches: true, ..Plan::new(0, flush_at_commit, mishap) }
}

fn run(histories: u64, default_seed: u64, plan: Plan) -> Tally {
    let seed = test_seed(default_seed);
    let mut total = Tally::default();
    let kinds = TableKind::with(plan.page_size);
    for number in 0..histories {
        let table = kinds[number as usize % kinds.len()];
        match History::run(Plan { seed: seed + number, table, ..plan }) {
            Ok(tally) => {
                total.commits += tally.commits;
                total.rows_compared += tally.rows_compared;
                total.waits += tally.waits;
                total.mishaps += tally.mishaps;
                total.prepared += tally.prepared;
                total.found_prepared += tally.found_prepared;
                total.prepared_ended += tally.prepared_ended;
                total.given_back += tally.given_back;
            }
            Err(violation) => panic!("{violation}"),
        }
    }
    println!("{total:?}");
    assert!(total.prepared > 10 && total.found_prepared > 10 && total.prepared_ended > 10, "{total:?}");
    total
}

#[test]
fn without_mishaps_every_read_is_right_and_restarts_lose_nothing() {
    let tally = run(10, 1, plan(FlushAtCommit::Durable, Mishap::None));
    assert!(tally.commits > 500 && tally.rows_compared > 5000 && tally.waits > 10);
}

#[test]
fn a_power_cut_loses_no_acknowledged_commit_and_leaves_no_half_transaction() {
    let tally = run(20, 100, plan(FlushAtCommit::Durable, Mishap::PowerCut(150)));
    assert!(tally.mishaps > 20 && tally.commits > 500);
}

#[test]
fn a_power_cut_while_the_log_and_the_pool_are_resized_loses_no_acknowledged_commit() {
    let tally = run(20, 500, plan(FlushAtCommit::Durable, Mishap::PowerCutWhileResizing(600)));
    assert!(tally.mishaps > 20 && tally.commits > 500);
}

#[test]
fn a_power_cut_finds_small_pages_as_it_finds_others() {
    let size = PageSize::ALL[0];
    let plan = Plan { page_size: size, ..plan(FlushAtCommit::Durable, Mishap::PowerCut(150)) };
    let tally = run(20, 700, plan);
    assert!(tally.mishaps > 20 && tally.commits > 500);
}

/// Undo that has become holes in its file is never needed again, whatever a power cut keeps; not even if it is used anew.
#[test]
fn a_power_cut_finds_all_undo_that_is_needed() {
    let plan = Plan { has_much_undo: true, ..plan(FlushAtCommit::Durable, Mishap::PowerCut(8000)) };
    let tally = run(14, 600, plan);
    assert!(tally.mishaps > 20 && tally.commits > 200 && tally.given_back > 30, "{tally:?}");
}

#[test]
fn with_lazy_flushing_a_power_cut_leaves_a_state_that_was_committed_once() {
    let tally = run(10, 200, plan(FlushAtCommit::Lazy, Mishap::PowerCut(100)));
    assert!(tally.mishaps > 10 && tally.commits > 200);
}

#[test]
fn after_a_failed_sync_the_next_life_has_all_that_was_acknowledged() {
    let tally = run(20, 300, plan(FlushAtCommit::Durable, Mishap::FailedSync(150)));
    assert!(tally.mishaps > 5);
}

#[test]
fn after_a_failed_write_the_next_life_has_all_that_was_acknowledged() {
    let tally = run(20, 400, plan(FlushAtCommit::Durable, Mishap::FailedWrite(150)));
    assert!(tally.mishaps > 5);
}

/// The canary: if commits are acknowledged before they are durable, the model must notice.
#[test]
fn canary_acknowledging_too_early_is_found_out() {
    let lazy = Plan { promised: FlushAtCommit::Durable, ..plan(FlushAtCommit::Lazy, Mishap::None) };
    let found = (0..5).filter(|seed| History::run(Plan { seed: *seed, ..lazy }).is_err());
    assert!(found.count() >= 4);
}

/// The canary: if what is prepared ends and nobody asked for that, the model must notice, at the latest after a restart.
#[test]
fn canary_a_prepared_transaction_that_ends_by_itself_is_found_out() {
    let plan = Plan { ends_unnoticed: true, ..plan(FlushAtCommit::Durable, Mishap::None) };
    let found = (0..5).filter(|seed| History::run(Plan { seed: *seed, ..plan }).is_err());
    assert_eq!(found.count(), 5);
}

#[test]
fn the_same_seed_is_the_same_history() {
    let plan = Plan { seed: 7, ..plan(FlushAtCommit::Durable, Mishap::PowerCut(300)) };
    assert_eq!(History::run(plan), History::run(plan));
}
