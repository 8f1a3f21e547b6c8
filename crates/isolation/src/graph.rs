//! Who depended on whom, and cycles of dependencies.
//!
//! | edge | from | to |
//! |---|---|---|
//! | ww | who appended an element | who appended the next one |
//! | wr | who appended an element | who read the list up to it |
//! | rw | who read a list up to an element | who appended the next one (anti-dependency) |
//! | rt | whose commit was acknowledged | who began afterwards (real time) |
//!
//! Real time is reduced to the edges from which the others follow. A search looks at strongly connected components and
//! gives the shortest cycle of the wanted shape in each; long lists of starting points are cut off, which may give a cycle
//! that is not the shortest, but always one if there is one.

use std::collections::{HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};

use crate::history::{Fate, History, Key};
use crate::versions::Versions;

/// Why one transaction comes before another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dependency {
    /// Its element is the one before.
    Ww(Key),
    /// Its element is the last that the other read.
    Wr(Key),
    /// It did not read the other's element, the next one.
    Rw(Key),
    /// It had ended when the other began.
    Rt,
}

impl Dependency {
    /// Whether it is an anti-dependency.
    pub fn is_anti(self) -> bool {
        matches!(self, Dependency::Rw(_))
    }
}

/// A cycle: each transaction with the edge to the next, the last one's to the first.
pub type Cycle = Vec<(usize, Dependency)>;

/// The dependencies among committed transactions.
pub struct Graph {
    /// The index of a node is the index of a transaction.
    graph: DiGraph<(), Dependency>,
}

impl Graph {
    /// The dependencies of a history; of those that `keep`, given who they start from, lets pass.
    pub fn new(history: &History, versions: &Versions, keep: impl Fn(usize, Dependency) -> bool) -> Graph {
        let mut edges = HashSet::new();
        let order = |key: &Key| history.last.get(key).map_or(&[][..], Vec::as_slice);
        let writer = |key: &Key, position: usize| {
            let element = order(key).get(position)?;
            versions.writers.get(element).copied().filter(|writer| versions.is_committed[*writer])
        };
        for (key, list) in &history.last {
            for position in 1..list.len() {
                if let (Some(from), Some(to)) = (writer(key, position - 1), writer(key, position)) {
                    edges.insert((from, to, Dependency::Ww(*key)));
                }
            }
        }
        for sight in &versions.sights {
            let before = sight.length.checked_sub(1).and_then(|position| writer(&sight.key, position));
            if let Some(from) = before {
                edges.insert((from, sight.reader, Dependency::Wr(sight.key)));
            }
            if let Some(to) = writer(&sight.key, sight.length) {
                edges.insert((sight.reader, to, Dependency::Rw(sight.key)));
            }
        }
        real_time(history, versions, &mut edges);
        let mut graph = DiGraph::new();
        for _ in &history.transactions {
            graph.add_node(());
        }
        let mut edges: Vec<_> = edges.into_iter().collect();
        // in the same order every time, so that a history gives the same report
        edges.sort_by_key(|(from, to, dependency)| (*from, *to, format!("{dependency:?}")));
        for (from, to, dependency) in edges {
            if from != to && keep(from, dependency) {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), dependency);
            }
        }
        Graph { graph }
    }

    /// Cycles of dependencies that `allow` lets pass: the shortest of each component.
    pub fn cycles(&self, allow: impl Fn(Dependency) -> bool) -> Vec<Cycle> {
        let components = self.components(&allow);
        let shortest = components.iter().filter_map(|component| {
            let within: HashSet<NodeIndex> = component.iter().copied().collect();
            let starts = component.iter().map(|node| {
                let path = self.path((*node, false), *node, &within, |_, next| allow(next));
                path.expect("every member of a component is on a cycle")
            });
            shortest(starts)
        });
        shortest.collect()
    }

    /// Cycles with anti-dependencies, of which no two follow each other; with exactly one if it is to be the `only` one.
    pub fn anti_cycles(&self, only: bool) -> Vec<Cycle> {
        let components = self.components(&|_| true);
        let shortest = components.iter().filter_map(|component| {
            let within: HashSet<NodeIndex> = component.iter().copied().collect();
            let anti = component.iter().flat_map(|node| {
                let edges = self.graph.edges(*node);
                edges.filter(|edge| edge.weight().is_anti() && within.contains(&edge.target()))
            });
            let may_follow = |after_anti: bool, next: Dependency| !next.is_anti() || !only && !after_anti;
            shortest(anti.filter_map(|edge| {
                let mut cycle = self.path((edge.target(), true), edge.source(), &within, may_follow)?;
                cycle.insert(0, (edge.source().index(), *edge.weight()));
                Some(cycle)
            }))
        });
        shortest.collect()
    }

    /// Components with more than one member.
    fn components(&self, allow: &impl Fn(Dependency) -> bool) -> Vec<Vec<NodeIndex>> {
        let allowed = EdgeFiltered::from_fn(&self.graph, |edge| allow(*edge.weight()));
        let mut components = kosaraju_scc(&allowed);
        components.retain(|component| component.len() > 1);
        for component in &mut components {
            component.sort();
        }
        components.sort();
        components
    }

    /// The shortest path from `from`, which was reached by an anti-dependency or not, to `to`, which must be reached by
    /// something else if `from` was. `may_follow` says which edge may come after whether an anti-dependency.
    fn path(
        &self,
        from: (NodeIndex, bool),
        to: NodeIndex,
        within: &HashSet<NodeIndex>,
        may_follow: impl Fn(bool, Dependency) -> bool,
    ) -> Option<Cycle> {
        let mut reached: Vec<((NodeIndex, bool), usize, Dependency)> = Vec::new();
        let mut known = HashSet::new();
        let mut queue = VecDeque::from([(from, usize::MAX)]);
        while let Some(((node, after_anti), came_by)) = queue.pop_front() {
            for edge in self.graph.edges(node) {
                let dependency = *edge.weight();
                if !within.contains(&edge.target()) || !may_follow(after_anti, dependency) {
                    continue;
                }
                let state = (edge.target(), dependency.is_anti());
                let closes = edge.target() == to && !(from.1 && dependency.is_anti());
                if !closes && !known.insert(state) {
                    continue;
                }
                reached.push(((node, after_anti), came_by, dependency));
                let step = reached.len() - 1;
                if closes {
                    return Some(walk_back(&reached, step));
                }
                queue.push_back((state, step));
            }
        }
        None
    }
}

/// The shortest of the first few cycles.
fn shortest(cycles: impl Iterator<Item = Cycle>) -> Option<Cycle> {
    /// So many are looked at.
    const TRIES: usize = 200;
    let mut best: Option<Cycle> = None;
    for cycle in cycles.take(TRIES) {
        if best.as_ref().is_none_or(|best| cycle.len() < best.len()) {
            best = Some(cycle);
        }
        if best.as_ref().is_some_and(|best| best.len() == 2) {
            break;
        }
    }
    best
}

fn walk_back(reached: &[((NodeIndex, bool), usize, Dependency)], last: usize) -> Cycle {
    let mut path = Vec::new();
    let mut step = last;
    while step != usize::MAX {
        let ((node, _), came_by, dependency) = reached[step];
        path.push((node.index(), dependency));
        step = came_by;
    }
    path.reverse();
    path
}

/// Edges from those that had ended when another began; not those that follow from others.
fn real_time(history: &History, versions: &Versions, edges: &mut HashSet<(usize, usize, Dependency)>) {
    let mut moments = Vec::new();
    for (number, transaction) in history.transactions.iter().enumerate() {
        if versions.is_committed[number] {
            moments.push((transaction.begin, false, number));
            if transaction.fate == Fate::Committed {
                moments.push((transaction.end, true, number));
            }
        }
    }
    moments.sort_unstable();
    let mut ended: Vec<usize> = Vec::new();
    for (_, is_end, number) in moments {
        if is_end {
            let begin = history.transactions[number].begin;
            ended.retain(|earlier| history.transactions[*earlier].end >= begin);
            ended.push(number);
        } else {
            edges.extend(ended.iter().map(|earlier| (*earlier, number, Dependency::Rt)));
        }
    }
}
