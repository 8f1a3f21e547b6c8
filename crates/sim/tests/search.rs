//! Searches for histories that go wrong: `SEEDS=1000..2000 cargo test -p palisade-sim --test search -- --ignored --nocapture`.
//! `MISHAP` is one of none, power-cut, failed-sync, failed-write; all of them if not given.

use palisade_engine::FlushAtCommit;
use palisade_sim::history::{History, Mishap, Plan, TableKind};

#[test]
#[ignore = "a search through the seeds it is told; `cargo xtask soak` runs it"]
fn search() {
    let seeds = std::env::var("SEEDS").unwrap_or("1..100".to_owned());
    let (first, end) = seeds.split_once("..").expect("SEEDS=first..end");
    let (first, end): (u64, u64) = (first.parse().unwrap(), end.parse().unwrap());
    let wanted = std::env::var("MISHAP").unwrap_or_default();
    let mishaps = [
        ("none", FlushAtCommit::Durable, Mishap::None),
        ("power-cut", FlushAtCommit::Durable, Mishap::PowerCut(150)),
        ("power-cut", FlushAtCommit::Lazy, Mishap::PowerCut(60)),
        ("power-cut", FlushAtCommit::Durable, Mishap::PowerCutWhileResizing(600)),
        ("failed-sync", FlushAtCommit::Durable, Mishap::FailedSync(60)),
        ("failed-write", FlushAtCommit::Durable, Mishap::FailedWrite(60)),
    ];
    let mut found = 0;
    for seed in first..end {
        for (name, flush_at_commit, mishap) in mishaps {
            if !wanted.is_empty() && wanted != name {
                continue;
            }
            for (has_branches, has_much_undo) in [(true, false), (false, false), (false, true)] {
                for table in TableKind::ALL {
                    let plan = Plan {
                        has_branches,
                        has_much_undo,
                        table,
                        ..Plan::new(seed, flush_at_commit, mishap)
                    };
                    if let Err(violation) = History::run(plan) {
                        println!("{violation}");
                        found += 1;
                    }
                }
            }
        }
    }
    assert_eq!(found, 0, "histories went wrong");
}
