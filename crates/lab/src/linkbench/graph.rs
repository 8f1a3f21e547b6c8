//! The graph: how many links a node has, which ids a request asks for, what the payloads look like.
//!
//! Ids are 1 to n. A *rank* is an id's place in some order, from 0: by its number of links, or by how often
//! it is asked for. A [`Shuffle`] turns one into the other, both ways, so that what a node was loaded with
//! can be told from its id alone.

use rand::RngExt as _;
use rand::rngs::SmallRng;
use rand_distr::{Distribution as _, Geometric, LogNormal, Zipf};

/// The share of nodes, in percent, that have at most so many links: points of the curve that LinkBench's data
/// file has for Facebook's graph, between which it is taken to be straight. The mean is 4.7.
const OUT_DEGREES: &[(f64, f64)] = &[
    (0.0, 19.747_449),
    (1.0, 72.984_623),
    (2.0, 86.737_518),
    (3.0, 91.816_809),
    (4.0, 94.459_130),
    (5.0, 95.868_615),
    (6.0, 96.777_775),
    (7.0, 97.379_272),
    (8.0, 97.816_738),
    (9.0, 98.114_715),
    (10.0, 98.340_988),
    (12.0, 98.674_631),
    (15.0, 98.963_388),
    (20.0, 99.222_098),
    (25.0, 99.369_127),
    (30.0, 99.464_963),
    (40.0, 99.586_162),
    (50.0, 99.651_763),
    (64.0, 99.705_830),
    (80.0, 99.743_343),
    (100.0, 99.773_522),
    (128.0, 99.801_722),
    (160.0, 99.820_609),
    (200.0, 99.839_795),
    (256.0, 99.857_562),
    (320.0, 99.875_068),
    (400.0, 99.887_909),
    (512.0, 99.900_786),
    (640.0, 99.911_984),
    (740.0, 99.918_666),
    (1500.0, 99.948_956),
    (1800.0, 99.955_861),
    (2100.0, 99.962_039),
    (2550.0, 99.968_179),
    (3000.0, 99.973_349),
    (3500.0, 99.977_792),
    (4000.0, 99.981_710),
    (4400.0, 99.984_230),
    (10_000.0, 100.0),
];

/// Kinds of links; a node's links are divided among them.
pub const LINK_TYPES: u64 = 2;

/// The number of the first kind.
const FIRST_LINK_TYPE: u64 = 123_456_789;

/// How the ids of a graph are related to their ranks.
#[derive(Debug, Clone, Copy)]
pub struct Graph {
    ids: u64,
    /// Ranks by number of links, the greatest first.
    links: Shuffle,
    /// Ranks by how often links are asked for, where that has nothing to do with their number.
    requests: Shuffle,
    /// Ranks by how often nodes are asked for.
    nodes: Shuffle,
}

impl Graph {
    /// A graph of so many nodes, at least one.
    pub fn new(ids: u64) -> Graph {
        let ids = ids.max(1);
        let shuffle = |share: f64, offset: u64| Shuffle::new(ids, share, offset);
        Graph {
            ids,
            links: shuffle(0.618_034, 7),
            requests: shuffle(0.414_214, 11),
            nodes: shuffle(0.732_051, 13),
        }
    }

    /// Its nodes.
    pub fn ids(&self) -> u64 {
        self.ids
    }

    /// The links of a kind (from 0) that a node is loaded with: their other ends are the ids that follow its
    /// own.
    pub fn loaded(&self, id: u64, kind: u64) -> u64 {
        let rank = self.links.back(id.saturating_sub(1) % self.ids);
        let links = out_degree((rank as f64 + 0.5) / self.ids as f64);
        links / LINK_TYPES + u64::from(kind < links % LINK_TYPES)
    }

    /// The other end of a link of a request, which was loaded with a probability of about `existing`, above
    /// 0.
    pub fn other_end(&self, rng: &mut SmallRng, id: u64, kind: u64, existing: f64) -> u64 {
        let range = (self.loaded(id, kind) as f64 / existing).round() as u64;
        id + rng.random_range(0..range.max(1))
    }
}

/// The number of links of the node that so much of all nodes (0 to 1) have more than.
fn out_degree(above: f64) -> u64 {
    let percent = 100.0 * (1.0 - above);
    let next = OUT_DEGREES.partition_point(|(_, share)| *share < percent);
    match (next.checked_sub(1).and_then(|before| OUT_DEGREES.get(before)), OUT_DEGREES.get(next)) {
        (Some((low, from)), Some((high, to))) => {
            // A node that has more than the lower number has at least one more.
            let exact = low + (high - low) * (percent - from) / (to - from);
            exact.ceil() as u64
        }
        (None, _) => 0,
        (Some((most, _)), None) => *most as u64,
    }
}

/// The number that tables have for a kind of link.
pub fn link_type(kind: u64) -> u64 {
    FIRST_LINK_TYPE + kind
}

/// A permutation of 0 to n - 1 without a table: neighbours come to lie far apart.
#[derive(Debug, Clone, Copy)]
struct Shuffle {
    n: u64,
    factor: u64,
    back: u64,
    offset: u64,
}

impl Shuffle {
    /// With a factor of about that share of n, which has an inverse.
    fn new(n: u64, share: f64, offset: u64) -> Shuffle {
        let first = ((n as f64 * share) as u64).max(1);
        let (factor, back) =
            (first..first + n).find_map(|factor| Some((factor, inverse(factor, n)?))).unwrap_or((1, 1));
        Shuffle { n, factor, back, offset: offset % n }
    }

    fn there(&self, place: u64) -> u64 {
        let product = u128::from(place) * u128::from(self.factor) + u128::from(self.offset);
        (product % u128::from(self.n)) as u64
    }

    fn back(&self, place: u64) -> u64 {
        let moved = u128::from(place + self.n - self.offset) * u128::from(self.back);
        (moved % u128::from(self.n)) as u64
    }
}

/// The inverse of `factor` modulo `n`, if it has one: Euclid's algorithm.
fn inverse(factor: u64, n: u64) -> Option<u64> {
    let (mut old, mut new) = (i128::from(n), i128::from(factor % n));
    let (mut old_factor, mut new_factor) = (0i128, 1i128);
    while new != 0 {
        let quotient = old / new;
        (old, new) = (new, old - quotient * new);
        (old_factor, new_factor) = (new_factor, old_factor - quotient * new_factor);
    }
    (old == 1).then(|| old_factor.rem_euclid(i128::from(n)) as u64)
}

/// Which ids requests ask for: Zipf's law, with LinkBench's exponents for Facebook's load.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    graph: Graph,
    read: Zipf<f64>,
    write: Zipf<f64>,
    node_read: Zipf<f64>,
    node_update: Zipf<f64>,
    multiget: Geometric,
}

/// Exponents of Zipf's law: reads and writes of links, reads and updates of nodes.
const EXPONENTS: [f64; 4] = [0.8, 0.741, 0.625, 0.606];

/// How many reads and writes of links choose a node whatever its number of links; the others prefer those
/// with many.
const UNCORRELATED: [f64; 2] = [0.995, 0.95];

/// Of a lookup of links that asks for one more: 2.6 at once on average, at most [`MOST_AT_ONCE`].
const LAST_OF_A_LOOKUP: f64 = 0.382;

/// The longest lookup of links.
const MOST_AT_ONCE: u64 = 128;

impl Access {
    /// Of a graph.
    pub fn new(graph: Graph) -> Access {
        let zipf = |exponent| {
            Zipf::new(graph.ids as f64, exponent).expect("there is a node, and exponents are positive")
        };
        let [read, write, node_read, node_update] = EXPONENTS.map(zipf);
        let multiget = Geometric::new(LAST_OF_A_LOOKUP).expect("it is a probability");
        Access { graph, read, write, node_read, node_update, multiget }
    }

    /// Whose links are read.
    pub fn link_read(&self, rng: &mut SmallRng) -> u64 {
        self.link(rng, &self.read, UNCORRELATED[0])
    }

    /// Whose links are changed.
    pub fn link_write(&self, rng: &mut SmallRng) -> u64 {
        self.link(rng, &self.write, UNCORRELATED[1])
    }

    fn link(&self, rng: &mut SmallRng, zipf: &Zipf<f64>, uncorrelated: f64) -> u64 {
        let rank = rank(rng, zipf);
        let order = if rng.random_bool(uncorrelated) { &self.graph.requests } else { &self.graph.links };
        1 + order.there(rank % self.graph.ids)
    }

    /// A node that is read.
    pub fn node_read(&self, rng: &mut SmallRng) -> u64 {
        1 + self.graph.nodes.there(rank(rng, &self.node_read) % self.graph.ids)
    }

    /// A node that is updated.
    pub fn node_update(&self, rng: &mut SmallRng) -> u64 {
        1 + self.graph.nodes.there(rank(rng, &self.node_update) % self.graph.ids)
    }

    /// A node that is deleted: any, and none twice as likely as another.
    pub fn node_delete(&self, rng: &mut SmallRng) -> u64 {
        rng.random_range(1..=self.graph.ids)
    }

    /// How many links a lookup asks for.
    pub fn lookup_size(&self, rng: &mut SmallRng) -> u64 {
        (1 + self.multiget.sample(rng)).min(MOST_AT_ONCE)
    }
}

fn rank(rng: &mut SmallRng, zipf: &Zipf<f64>) -> u64 {
    (zipf.sample(rng) as u64).saturating_sub(1)
}

/// Payloads: pieces of up to 128 bytes, each either new or taken from a buffer that all payloads share, so
/// that a page full of them can be compressed and one alone hardly. Lengths are log-normal.
#[derive(Debug, Clone)]
pub struct Payload {
    shared: Vec<u8>,
    first: u8,
    last: u8,
    new: f64,
    lengths: LogNormal<f64>,
    longest: usize,
}

/// The buffer's length, and that of a piece.
const SHARED: usize = 512;
const PIECE: usize = 128;

impl Payload {
    /// Of a link: a median of 8 bytes, which compress to about 30 %.
    pub fn of_link(rng: &mut SmallRng) -> Payload {
        Payload::new(rng, 32, 100, 0.225, 8.0, 255)
    }

    /// Of a node: a median of 128 bytes, which compress to about 60 %.
    pub fn of_node(rng: &mut SmallRng) -> Payload {
        Payload::new(rng, 50, 220, 0.63, 128.0, 1 << 20)
    }

    fn new(rng: &mut SmallRng, first: u8, last: u8, new: f64, median: f64, longest: usize) -> Payload {
        let shared = (0..SHARED).map(|_| rng.random_range(first..=last)).collect();
        let lengths = LogNormal::new(median.ln(), 1.0).expect("the deviation is finite");
        Payload { shared, first, last, new, lengths, longest }
    }

    /// The next one.
    pub fn next(&self, rng: &mut SmallRng) -> Vec<u8> {
        let length = (self.lengths.sample(rng).round() as usize).min(self.longest);
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let piece = PIECE.min(length - bytes.len());
            if rng.random_bool(self.new) {
                let (first, last) = (self.first, self.last);
                bytes.extend((0..piece).map(|_| rng.random_range(first..=last)));
            } else {
                let from = rng.random_range(0..=SHARED - piece);
                bytes.extend_from_slice(&self.shared[from..from + piece]);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn a_shuffle_moves_everything_once_and_back() {
        for n in [1, 2, 3, 10, 97, 1000, 1024] {
            for share in [0.618_034, 0.414_214, 0.732_051] {
                let shuffle = Shuffle::new(n, share, 7);
                let moved: BTreeSet<u64> = (0..n).map(|place| shuffle.there(place)).collect();
                assert_eq!(moved.len() as u64, n);
                assert!(moved.iter().all(|place| *place < n), "{n}");
                assert!((0..n).all(|place| shuffle.back(shuffle.there(place)) == place), "{n} {share}");
            }
        }
    }

    #[test]
    fn numbers_of_links_are_those_of_the_published_curve() {
        let graph = Graph::new(200_000);
        let degrees: Vec<u64> =
            (1..=graph.ids()).map(|id| graph.loaded(id, 0) + graph.loaded(id, 1)).collect();
        let share = |most: u64| degrees.iter().filter(|degree| **degree <= most).count() as f64 / 2000.0;
        for (most, percent) in
            [(0, 19.747), (1, 72.985), (2, 86.738), (10, 98.341), (100, 99.774), (1500, 99.949)]
        {
            assert!((share(most) - percent).abs() < 0.02, "{most}: {}", share(most));
        }
        let mean = degrees.iter().sum::<u64>() as f64 / degrees.len() as f64;
        assert!((4.0..5.5).contains(&mean), "{mean}");
    }

    #[test]
    fn some_ids_are_asked_for_far_more_often_and_all_are_in_range() {
        let access = Access::new(Graph::new(1000));
        let mut rng = SmallRng::seed_from_u64(1);
        let mut counts = vec![0u32; 1001];
        for _ in 0..100_000 {
            counts[access.link_read(&mut rng) as usize] += 1;
        }
        assert_eq!(counts[0], 0);
        counts.sort_unstable();
        let (hottest, median) = (counts[1000], counts[500]);
        assert!(hottest > 30 * median.max(1), "{hottest} {median}");
        for _ in 0..1000 {
            let ids = [
                access.link_write(&mut rng),
                access.node_read(&mut rng),
                access.node_update(&mut rng),
                access.node_delete(&mut rng),
            ];
            assert!(ids.iter().all(|id| (1..=1000).contains(id)), "{ids:?}");
            assert!((1..=MOST_AT_ONCE).contains(&access.lookup_size(&mut rng)));
        }
    }

    #[test]
    fn payloads_repeat_each_other_as_much_as_they_should() {
        let mut rng = SmallRng::seed_from_u64(2);
        let payload = Payload::of_node(&mut rng);
        let mut lengths: Vec<usize> = (0..10_001).map(|_| payload.next(&mut rng).len()).collect();
        lengths.sort_unstable();
        assert!((115..=141).contains(&lengths[5000]), "median {}", lengths[5000]);
        let long: Vec<u8> = (0..2000).flat_map(|_| payload.next(&mut rng)).collect();
        assert!(long.iter().all(|byte| (50..=220).contains(byte)));
        let known = long
            .windows(16)
            .filter(|piece| payload.shared.windows(16).any(|shared| shared == *piece))
            .count();
        let share = known as f64 / long.len() as f64;
        assert!((0.2..0.4).contains(&share), "of pieces of 16 bytes {share} are shared");
    }
}
