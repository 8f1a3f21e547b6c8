//! Who depended on whom, and cycles of dependencies.
//!
//! | edge | from | to |
//! |---|---|---|
//! | ww | who appended an element | who appended the next one |
//! | wr | who appended an element | who read the list up to it |
//! | rw | who read a list up to an element | who appended the next one (anti-dependency) |
//! | rt | whose commit was acknowledged | who began afterwards (real time) |
//!
//! The nodes are transactions. Where a level promises less for a whole transaction than for what it read from one snapshot,
//! what was read so is a node of its own, a [`Part`]: it follows what it saw and precedes what it did not see, and nothing
//! of what its transaction did else touches it.
//!
//! Real time is reduced to the edges from which the others follow. A search looks at strongly connected components and
//! gives the shortest cycle of the wanted shape in each; long lists of starting points are cut off, which may give a cycle
//! that is not the shortest, but always one if there is one.

use std::collections::{BTreeMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{EdgeFiltered, EdgeRef};

use crate::history::{Fate, History, Key, Look};
use crate::versions::{Sight, Versions};

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

/// What is ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Node {
    /// Index of the transaction.
    pub transaction: usize,
    /// Which part of it.
    pub part: Part,
}

/// A part of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of it.
    Whole,
    /// What all of its reads without locks saw.
    Looks,
    /// What this one of its reads without locks saw.
    Look(usize),
}

/// What reads from one snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grain {
    /// All plain reads of a transaction.
    Transaction,
    /// Those of a statement.
    Statement,
}

/// A cycle: each node with the edge to the next, the last one's to the first.
pub type Cycle = Vec<(Node, Dependency)>;

/// The dependencies among committed transactions.
pub struct Graph {
    graph: DiGraph<Node, Dependency>,
}

/// When a node began and, if that is known, had ended.
type Span = (usize, u64, Option<u64>);

/// A graph in the making.
struct Draft<'a> {
    history: &'a History,
    versions: &'a Versions,
    nodes: Vec<Node>,
    spans: Vec<Span>,
    edges: HashSet<(usize, usize, Dependency)>,
}

impl<'a> Draft<'a> {
    /// The transactions, and what each overwrote; the index of a node is the index of a transaction.
    fn new(history: &'a History, versions: &'a Versions) -> Self {
        let whole = |transaction| Node { transaction, part: Part::Whole };
        let nodes = (0..history.transactions.len()).map(whole).collect();
        let mut this = Draft { history, versions, nodes, spans: Vec::new(), edges: HashSet::new() };
        for (number, transaction) in history.transactions.iter().enumerate() {
            if versions.is_committed[number] {
                let end = (transaction.fate == Fate::Committed).then_some(transaction.end);
                this.spans.push((number, transaction.begin, end));
            }
        }
        for (key, list) in &history.last {
            for position in 1..list.len() {
                if let (Some(from), Some(to)) = (this.writer(*key, position - 1), this.writer(*key, position))
                {
                    this.edges.insert((from, to, Dependency::Ww(*key)));
                }
            }
        }
        this
    }

    /// Who appended the element at a position, if that is committed.
    fn writer(&self, key: Key, position: usize) -> Option<usize> {
        let element = self.history.last.get(&key)?.get(position)?;
        self.versions.writers.get(element).copied().filter(|writer| self.versions.is_committed[*writer])
    }

    /// `node` saw that: it comes after the last element that it saw, and, if it is to have `anti`-dependencies, before the
    /// first that it did not see.
    fn saw(&mut self, node: usize, sight: &Sight, anti: bool) {
        let before = sight.length.least.checked_sub(1).and_then(|position| self.writer(sight.key, position));
        if let Some(from) = before {
            self.edges.insert((from, node, Dependency::Wr(sight.key)));
        }
        let after = sight.length.most.and_then(|most| self.writer(sight.key, most));
        if let Some(to) = after.filter(|_| anti) {
            self.edges.insert((node, to, Dependency::Rw(sight.key)));
        }
    }

    fn finish(mut self) -> Graph {
        real_time(&self.spans, &mut self.edges);
        let mut graph = DiGraph::new();
        for node in self.nodes {
            graph.add_node(node);
        }
        let mut edges: Vec<_> = self.edges.into_iter().collect();
        // in the same order every time, so that a history gives the same report
        edges.sort_by_key(|(from, to, dependency)| (*from, *to, format!("{dependency:?}")));
        for (from, to, dependency) in edges {
            if from != to {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), dependency);
            }
        }
        Graph { graph }
    }
}

impl Graph {
    /// The dependencies among transactions.
    pub fn new(history: &History, versions: &Versions) -> Graph {
        let mut draft = Draft::new(history, versions);
        for sight in &versions.sights {
            draft.saw(sight.reader, sight, true);
        }
        draft.finish()
    }

    /// The dependencies among transactions without anti-dependencies, and those of what was read from snapshots with them.
    /// The snapshots of a system are states that follow each other: no cycle is possible.
    pub fn of_snapshots(history: &History, versions: &Versions, grain: Grain) -> Graph {
        let mut draft = Draft::new(history, versions);
        let mut parts: BTreeMap<Node, usize> = BTreeMap::new();
        for sight in &versions.sights {
            draft.saw(sight.reader, sight, false);
            let looks = &history.transactions[sight.reader].looks;
            let look = looks.iter().position(|look| look.ops.contains(&sight.op));
            let Some(look) = look.filter(|_| sight.is_of_snapshot) else { continue };
            // The first of a transaction's plain reads takes the snapshot for all of them.
            let (part, Look { begin, end, .. }) = match grain {
                Grain::Transaction => (Part::Looks, &looks[0]),
                Grain::Statement => (Part::Look(look), &looks[look]),
            };
            let node = Node { transaction: sight.reader, part };
            let number = *parts.entry(node).or_insert_with(|| {
                draft.nodes.push(node);
                draft.spans.push((draft.nodes.len() - 1, *begin, Some(*end)));
                draft.nodes.len() - 1
            });
            draft.saw(number, sight, true);
        }
        draft.finish()
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
                cycle.insert(0, (self.graph[edge.source()], *edge.weight()));
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
                    return Some(self.walk_back(&reached, step));
                }
                queue.push_back((state, step));
            }
        }
        None
    }

    fn walk_back(&self, reached: &[((NodeIndex, bool), usize, Dependency)], last: usize) -> Cycle {
        let mut path = Vec::new();
        let mut step = last;
        while step != usize::MAX {
            let ((node, _), came_by, dependency) = reached[step];
            path.push((self.graph[node], dependency));
            step = came_by;
        }
        path.reverse();
        path
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

/// Edges from those that had ended when another began; not those that follow from others.
fn real_time(spans: &[Span], edges: &mut HashSet<(usize, usize, Dependency)>) {
    let mut moments = Vec::new();
    for (at, (_, begin, end)) in spans.iter().enumerate() {
        moments.push((*begin, false, at));
        moments.extend(end.map(|end| (end, true, at)));
    }
    moments.sort_unstable();
    // where those that have ended stand in `spans`, with their ends
    let mut ended: Vec<(usize, u64)> = Vec::new();
    for (moment, is_end, at) in moments {
        let (node, begin, _) = spans[at];
        if is_end {
            ended.retain(|(_, end)| *end >= begin);
            ended.push((node, moment));
        } else {
            edges.extend(ended.iter().map(|(earlier, _)| (*earlier, node, Dependency::Rt)));
        }
    }
}
