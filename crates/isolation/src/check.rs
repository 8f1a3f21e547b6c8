//! What each isolation level proscribes.
//!
//! | level | proscribed, and what the levels above proscribe |
//! |---|---|
//! | READ UNCOMMITTED | G0; an acknowledged append that is lost, doubled or half there; a version built on one taken back |
//! | READ COMMITTED | G1a, G1b, G1c; a list that is no beginning of what it became; a plain read of which one statement sees two states (statement skew) |
//! | REPEATABLE READ | any cycle through what a transaction's plain reads saw: they see one snapshot |
//! | SNAPSHOT | G-single, lost update among them; any cycle without two adjacent anti-dependencies |
//! | SERIALIZABLE | every cycle |
//!
//! READ UNCOMMITTED is Adya's PL-1, which says nothing of reads: dirty ones (G1a, G1b, and cycles through them, G1c) are
//! what it is for. READ COMMITTED is PL-2, and InnoDB's besides: a plain read is of what was committed at one moment after the
//! statement began. REPEATABLE READ is InnoDB's, which is less than PL-2.99: a locking read or a change sees the latest
//! version while plain reads see the snapshot, so a transaction that does both may see two states. What remains is that its
//! plain reads come from one moment, no earlier than the first of them, where it has not changed the list itself. SNAPSHOT
//! is REPEATABLE READ with `innodb_snapshot_isolation`: snapshot isolation (PL-SI) allows only cycles in which two
//! anti-dependencies follow each other (Fekete et al., 2005). SERIALIZABLE is PL-3.
//!
//! Real time counts as a dependency everywhere: whoever begins after a commit was acknowledged does not come before it. So
//! SNAPSHOT is strong snapshot isolation, and SERIALIZABLE is strict.

use std::fmt;

use crate::graph::{Cycle, Dependency, Grain, Graph, Node, Part};
use crate::history::{Fate, History};
use crate::versions::{Versions, name, versions};

/// An isolation level, as a promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// PL-1.
    ReadUncommitted,
    /// PL-2, and one snapshot for each plain read.
    ReadCommitted,
    /// PL-2, and one snapshot for plain reads.
    RepeatableRead,
    /// Strong snapshot isolation.
    Snapshot,
    /// Strict serializability.
    Serializable,
}

/// An anomaly's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An acknowledged append is not there.
    LostAppend,
    /// A transaction without an answer is there in part.
    Torn,
    /// An element is there twice.
    Duplicate,
    /// An element is there that nobody appended.
    Garbage,
    /// What was taken back is there.
    DirtyUpdate,
    /// A transaction does not see its own appends as it made them.
    Internal,
    /// A cycle of ww: dirty write.
    G0,
    /// A read of what was taken back.
    G1a,
    /// A read of what was not its writer's last.
    G1b,
    /// A cycle of ww and wr.
    G1c,
    /// A read of what a crash took: its commit was neither acknowledged nor kept.
    VanishedRead,
    /// Reads of a list that are no beginnings of one order.
    IncompatibleOrder,
    /// A cycle through what one plain read saw: it saw two states.
    StatementSkew,
    /// A cycle of one rw and one ww of one list: both built upon the same version.
    LostUpdate,
    /// A cycle with exactly one rw, or through what plain reads saw: read skew and its like.
    GSingle,
    /// A cycle with several rw, of which no two follow each other.
    GNonadjacent,
    /// A cycle with two rw that follow each other: write skew and its like.
    G2,
}

impl Kind {
    /// The least level at which it must not be.
    pub fn proscribed_from(self) -> Level {
        match self {
            Kind::LostAppend
            | Kind::Torn
            | Kind::Duplicate
            | Kind::Garbage
            | Kind::DirtyUpdate
            | Kind::Internal
            | Kind::G0 => Level::ReadUncommitted,
            Kind::G1a
            | Kind::G1b
            | Kind::G1c
            | Kind::VanishedRead
            | Kind::IncompatibleOrder
            | Kind::StatementSkew => Level::ReadCommitted,
            Kind::LostUpdate | Kind::GSingle | Kind::GNonadjacent => Level::Snapshot,
            Kind::G2 => Level::Serializable,
        }
    }
}

/// An anomaly that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Anomaly {
    /// Its name.
    pub kind: Kind,
    /// Who and what, in words.
    pub text: String,
}

impl fmt::Display for Anomaly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.text)
    }
}

/// The anomalies of a history that `level` proscribes, the gravest first; of cycles, the shortest of each knot.
pub fn check(history: &History, level: Level) -> Vec<Anomaly> {
    let mut versions = versions(history);
    let mut anomalies = std::mem::take(&mut versions.anomalies);
    // At READ UNCOMMITTED a read may be of anything.
    anomalies.retain(|anomaly| anomaly.kind.proscribed_from() <= level);
    let all = Graph::new(history, &versions);
    let mut found = all.cycles(|edge| matches!(edge, Dependency::Ww(_) | Dependency::Rt));
    if level >= Level::ReadCommitted {
        found.extend(all.cycles(|edge| !edge.is_anti()));
    }
    let grain = match level {
        Level::ReadCommitted => Some(Grain::Statement),
        Level::RepeatableRead => Some(Grain::Transaction),
        // above, a transaction is one node with all that it saw; below, reads are of anything
        Level::ReadUncommitted | Level::Snapshot | Level::Serializable => None,
    };
    if let Some(grain) = grain {
        found.extend(Graph::of_snapshots(history, &versions, grain).cycles(|_| true));
    }
    if level >= Level::Snapshot {
        found.extend(all.anti_cycles(true));
        found.extend(all.anti_cycles(false));
    }
    if level == Level::Serializable {
        found.extend(all.cycles(|_| true));
    }
    let mut cycles: Vec<Anomaly> = Vec::new();
    for mut cycle in found {
        // in one of its forms, so that a cycle found twice is known again
        let first = (0..cycle.len()).min_by_key(|at| cycle[*at].0).unwrap_or(0);
        cycle.rotate_left(first);
        let anomaly = Anomaly { kind: kind(&cycle), text: show(history, &versions, &cycle) };
        if !cycles.contains(&anomaly) {
            cycles.push(anomaly);
        }
    }
    anomalies.extend(cycles);
    anomalies.sort_by_key(|anomaly| anomaly.kind);
    anomalies
}

/// What a cycle is called.
fn kind(cycle: &Cycle) -> Kind {
    let edges: Vec<Dependency> = cycle.iter().map(|(_, edge)| *edge).collect();
    let anti = edges.iter().filter(|edge| edge.is_anti()).count();
    let follows =
        |position: usize| edges[position].is_anti() && edges[(position + 1) % edges.len()].is_anti();
    let has = |wanted: fn(Part) -> bool| cycle.iter().any(|(node, _)| wanted(node.part));
    match (anti, edges.as_slice()) {
        _ if has(|part| matches!(part, Part::Look(_))) => Kind::StatementSkew,
        // without an anti-dependency: a later one of the reads saw what began after the first
        (0 | 1, _) if has(|part| part == Part::Looks) => Kind::GSingle,
        (0, edges) if edges.iter().all(|edge| matches!(edge, Dependency::Ww(_) | Dependency::Rt)) => Kind::G0,
        (0, _) => Kind::G1c,
        (1, [Dependency::Rw(a), Dependency::Ww(b)] | [Dependency::Ww(a), Dependency::Rw(b)]) if a == b => {
            Kind::LostUpdate
        }
        (1, _) => Kind::GSingle,
        _ if (0..edges.len()).any(follows) => Kind::G2,
        _ => Kind::GNonadjacent,
    }
}

/// A cycle in words, with its transactions.
fn show(history: &History, versions: &Versions, cycle: &Cycle) -> String {
    let mut text = String::new();
    let label = |node: &Node| match node.part {
        Part::Whole => format!("T{}", node.transaction),
        Part::Looks => format!("T{}'s plain reads", node.transaction),
        Part::Look(look) => format!("T{}'s plain read {look}", node.transaction),
    };
    for (node, edge) in cycle {
        let edge = match edge {
            Dependency::Ww(key) => format!("ww {key}"),
            Dependency::Wr(key) => format!("wr {key}"),
            Dependency::Rw(key) => format!("rw {key}"),
            Dependency::Rt => "rt".to_owned(),
        };
        text.push_str(&format!("{} -{edge}-> ", label(node)));
    }
    text.push_str(&label(&cycle[0].0));
    for (node, _) in cycle {
        let transaction = &history.transactions[node.transaction];
        let fate = match transaction.fate {
            Fate::Unknown if versions.is_committed[node.transaction] => "there, not acknowledged",
            _ => "acknowledged",
        };
        text.push_str(&format!(
            "\n    {}, {fate}, moments {} to {}: {:?}",
            name(history, node.transaction),
            transaction.begin,
            transaction.end,
            transaction.ops
        ));
        match node.part {
            Part::Whole => {}
            Part::Looks => text.push_str(&format!(", plain reads {:?}", transaction.looks)),
            Part::Look(look) => text.push_str(&format!(", plain read {:?}", transaction.looks[look])),
        }
    }
    text
}
