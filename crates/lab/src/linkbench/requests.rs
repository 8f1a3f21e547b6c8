//! The ten kinds of requests, and what is sent for each.

use mysql::prelude::Queryable as _;
use rand::RngExt as _;
use rand::rngs::SmallRng;

use crate::linkbench::graph::{Access, Graph, LINK_TYPES, Payload, link_type};

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Adds a link, or shows it again.
    AddLink,
    /// Hides a link.
    DeleteLink,
    /// Changes a link, or adds it.
    UpdateLink,
    /// Reads a node's number of links of a kind.
    CountLinks,
    /// Reads some links of a node.
    GetLinks,
    /// Reads all visible links of a node and kind, the newest first.
    GetLinkList,
    /// Reads a node.
    GetNode,
    /// Adds a node.
    AddNode,
    /// Changes a node.
    UpdateNode,
    /// Deletes a node.
    DeleteNode,
}

/// All kinds, each with its share of the requests in percent.
pub const MIX: [(Kind, f64); 10] = [
    (Kind::AddLink, 8.988_660),
    (Kind::DeleteLink, 2.990_766),
    (Kind::UpdateLink, 8.012_213),
    (Kind::CountLinks, 4.886_357),
    (Kind::GetLinks, 0.526_114),
    (Kind::GetLinkList, 50.711_914),
    (Kind::GetNode, 12.932_668),
    (Kind::AddNode, 2.573_279),
    (Kind::UpdateNode, 7.366_437),
    (Kind::DeleteNode, 1.011_592),
];

impl Kind {
    /// For people.
    pub fn title(self) -> String {
        self.name().replace('_', " ")
    }

    /// For keys.
    pub fn name(self) -> &'static str {
        match self {
            Kind::AddLink => "add_link",
            Kind::DeleteLink => "delete_link",
            Kind::UpdateLink => "update_link",
            Kind::CountLinks => "count_links",
            Kind::GetLinks => "get_links",
            Kind::GetLinkList => "get_link_list",
            Kind::GetNode => "get_node",
            Kind::AddNode => "add_node",
            Kind::UpdateNode => "update_node",
            Kind::DeleteNode => "delete_node",
        }
    }

    /// Its place in [`MIX`].
    pub fn place(self) -> usize {
        self as usize
    }

    /// The next one.
    pub fn choose(rng: &mut SmallRng) -> Kind {
        let mut at = rng.random_range(0.0..100.0);
        for (kind, share) in MIX {
            if at < share {
                return kind;
            }
            at -= share;
        }
        Kind::GetLinkList
    }
}

/// How many of these loaded links a request is to find.
const EXISTING_READ: f64 = 0.5;
const EXISTING_UPDATED: f64 = 0.9;
const EXISTING_DELETED: f64 = 0.9;
const EXISTING_ADDED: f64 = 0.05;

/// Links that a list has at most.
const LIST_LIMIT: usize = 10_000;

/// How many lists ask for what was cut off from an earlier one.
const OLDER: f64 = 0.003;

/// Ends of lists that a requester remembers.
const REMEMBERED: usize = 2048;

/// Sends requests and takes their answers.
pub struct Requester {
    connection: mysql::Conn,
    rng: SmallRng,
    graph: Graph,
    access: Access,
    link: Payload,
    node: Payload,
    /// Lists that were cut off: node, kind, and the time of the last link.
    cut_off: Vec<(u64, u64, u64)>,
}

impl Requester {
    /// Over a connection whose transactions end with COMMIT only.
    pub fn new(connection: mysql::Conn, mut rng: SmallRng, graph: Graph) -> Requester {
        let (link, node) = (Payload::of_link(&mut rng), Payload::of_node(&mut rng));
        Requester { connection, rng, graph, access: Access::new(graph), link, node, cut_off: Vec::new() }
    }

    /// Which kind comes next.
    pub fn next(&mut self) -> Kind {
        Kind::choose(&mut self.rng)
    }

    /// One request. After an error its transaction may still be open: see [`Requester::give_up`].
    pub fn request(&mut self, kind: Kind) -> mysql::Result<()> {
        match kind {
            Kind::AddLink => self.add_link(EXISTING_ADDED),
            Kind::UpdateLink => self.add_link(EXISTING_UPDATED),
            Kind::DeleteLink => self.delete_link(),
            Kind::CountLinks => self.count_links(),
            Kind::GetLinks => self.get_links(),
            Kind::GetLinkList => self.get_link_list(),
            Kind::GetNode => {
                let id = self.access.node_read(&mut self.rng);
                let statement =
                    format!("SELECT id, type, version, time, data FROM nodetable WHERE id = {id}; COMMIT");
                self.send(&statement).map(drop)
            }
            Kind::AddNode => {
                let data = literal(&self.node.next(&mut self.rng));
                let now = seconds();
                let statement = format!(
                    "INSERT INTO nodetable (type, version, time, data) VALUES ({NODE_TYPE}, 1, {now}, {data}); COMMIT"
                );
                self.send(&statement).map(drop)
            }
            Kind::UpdateNode => {
                let (id, data) =
                    (self.access.node_update(&mut self.rng), literal(&self.node.next(&mut self.rng)));
                let now = seconds();
                let statement = format!(
                    "UPDATE nodetable SET version = 1, time = {now}, data = {data} \
                     WHERE id = {id} AND type = {NODE_TYPE}; COMMIT"
                );
                self.send(&statement).map(drop)
            }
            Kind::DeleteNode => {
                let id = self.access.node_delete(&mut self.rng);
                self.send(&format!("DELETE FROM nodetable WHERE id = {id} AND type = {NODE_TYPE}; COMMIT"))
                    .map(drop)
            }
        }
    }

    /// Ends a transaction that failed.
    pub fn give_up(&mut self) -> mysql::Result<()> {
        self.send("ROLLBACK").map(drop)
    }

    /// Sends statements and takes all that is answered; what the first one changed, and its rows.
    fn send(&mut self, statements: &str) -> mysql::Result<(u64, Vec<mysql::Row>)> {
        let mut answers = self.connection.query_iter(statements)?;
        let changed = answers.affected_rows();
        let mut rows = Vec::new();
        let mut first = true;
        while let Some(set) = answers.iter() {
            for row in set {
                let row = row?;
                if first {
                    rows.push(row);
                }
            }
            first = false;
        }
        Ok((changed, rows))
    }

    /// A link of a node whose links are changed.
    fn written_link(&mut self, existing: f64) -> (u64, u64, u64) {
        let kind = self.rng.random_range(0..LINK_TYPES);
        let id1 = self.access.link_write(&mut self.rng);
        (id1, self.graph.other_end(&mut self.rng, id1, kind, existing), link_type(kind))
    }

    /// A link that is there is shown, and gets new data; one that is not is added.
    fn add_link(&mut self, existing: f64) -> mysql::Result<()> {
        let (id1, id2, link_type) = self.written_link(existing);
        let data = literal(&self.link.next(&mut self.rng));
        let now = milliseconds();
        let (changed, _) = self.send(&format!(
            "INSERT INTO linktable (id1, id2, link_type, visibility, data, time, version) \
             VALUES ({id1}, {id2}, {link_type}, {VISIBLE}, {data}, {now}, 0) \
             ON DUPLICATE KEY UPDATE visibility = {VISIBLE}"
        ))?;
        // 1: it is new; 2: it was hidden; 0: it was there
        if changed > 0 {
            self.send(&format!(
                "INSERT INTO counttable (id, link_type, count, time, version) \
                 VALUES ({id1}, {link_type}, 1, {now}, 0) ON DUPLICATE KEY UPDATE count = count + 1"
            ))?;
        }
        if changed != 1 {
            self.send(&format!(
                "UPDATE linktable SET visibility = {VISIBLE}, data = {data}, time = {now}, version = 0 \
                 WHERE id1 = {id1} AND id2 = {id2} AND link_type = {link_type}"
            ))?;
        }
        self.send("COMMIT").map(drop)
    }

    /// A link that can be seen is hidden.
    fn delete_link(&mut self) -> mysql::Result<()> {
        let (id1, id2, link_type) = self.written_link(EXISTING_DELETED);
        let which = format!("id1 = {id1} AND id2 = {id2} AND link_type = {link_type}");
        let (_, rows) = self.send(&format!("SELECT visibility FROM linktable WHERE {which}"))?;
        let visible = rows.first().and_then(|row| row.get::<u8, usize>(0)) == Some(VISIBLE);
        if visible {
            let now = milliseconds();
            self.send(&format!("UPDATE linktable SET visibility = {HIDDEN} WHERE {which}"))?;
            self.send(&format!(
                "INSERT INTO counttable (id, link_type, count, time, version) VALUES ({id1}, {link_type}, 0, {now}, 0) \
                 ON DUPLICATE KEY UPDATE count = IF(count = 0, 0, count - 1), time = {now}, version = version + 1"
            ))?;
        }
        self.send("COMMIT").map(drop)
    }

    fn count_links(&mut self) -> mysql::Result<()> {
        let (id, kind) = (self.access.link_read(&mut self.rng), self.rng.random_range(0..LINK_TYPES));
        let link_type = link_type(kind);
        let statement =
            format!("SELECT count FROM counttable WHERE id = {id} AND link_type = {link_type}; COMMIT");
        self.send(&statement).map(drop)
    }

    fn get_links(&mut self) -> mysql::Result<()> {
        let (id1, kind) = (self.access.link_read(&mut self.rng), self.rng.random_range(0..LINK_TYPES));
        let count = self.access.lookup_size(&mut self.rng);
        let ends: Vec<String> = (0..count)
            .map(|_| self.graph.other_end(&mut self.rng, id1, kind, EXISTING_READ).to_string())
            .collect();
        let link_type = link_type(kind);
        let statement = format!(
            "SELECT id1, id2, link_type, visibility, data, time, version FROM linktable \
             WHERE id1 = {id1} AND link_type = {link_type} AND id2 IN ({}); COMMIT",
            ends.join(", ")
        );
        self.send(&statement).map(drop)
    }

    fn get_link_list(&mut self) -> mysql::Result<()> {
        let older = !self.cut_off.is_empty() && self.rng.random_bool(OLDER);
        let place = older.then(|| self.rng.random_range(0..self.cut_off.len()));
        let (id1, link_type, until, skipped) = match place.and_then(|place| self.cut_off.get(place)) {
            Some((id1, link_type, time)) => (*id1, *link_type, *time, 1),
            None => {
                let kind = self.rng.random_range(0..LINK_TYPES);
                (self.access.link_read(&mut self.rng), link_type(kind), i64::MAX as u64, 0)
            }
        };
        let (_, rows) = self.send(&format!(
            "SELECT id1, id2, link_type, visibility, data, time, version FROM linktable \
             WHERE id1 = {id1} AND link_type = {link_type} AND time >= 0 AND time <= {until} \
             AND visibility = {VISIBLE} ORDER BY time DESC LIMIT {skipped}, {LIST_LIMIT}; COMMIT"
        ))?;
        let last = rows.last().filter(|_| rows.len() >= LIST_LIMIT);
        if let Some(time) = last.and_then(|row| row.get::<u64, usize>(5)) {
            match place {
                Some(place) => self.cut_off[place] = (id1, link_type, time),
                None if self.cut_off.len() < REMEMBERED => self.cut_off.push((id1, link_type, time)),
                None => {
                    let place = self.rng.random_range(0..REMEMBERED);
                    self.cut_off[place] = (id1, link_type, time);
                }
            }
        }
        Ok(())
    }
}

/// What `visibility` is of a link that lists show, and of one that was deleted.
pub const VISIBLE: u8 = 1;
const HIDDEN: u8 = 0;

/// The type of all nodes.
pub const NODE_TYPE: u32 = 2048;

/// Bytes as a statement has them, whatever the character set of the connection.
pub fn literal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(2 * bytes.len() + 3);
    text.push_str("x'");
    for byte in bytes {
        for half in [byte >> 4, byte & 15] {
            text.push(char::from(DIGITS[usize::from(half)]));
        }
    }
    text.push('\'');
    text
}

/// Since 1970.
fn since_1970() -> std::time::Duration {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
}

pub fn milliseconds() -> u128 {
    since_1970().as_millis()
}

pub fn seconds() -> u64 {
    since_1970().as_secs()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn the_mix_is_whole_and_kept() {
        let all: f64 = MIX.iter().map(|(_, share)| share).sum();
        assert!((all - 100.0).abs() < 1e-3, "{all}");
        assert!(MIX.iter().enumerate().all(|(place, (kind, _))| kind.place() == place));
        let mut rng = SmallRng::seed_from_u64(3);
        let mut counts = [0u32; MIX.len()];
        for _ in 0..100_000 {
            counts[Kind::choose(&mut rng).place()] += 1;
        }
        for ((kind, share), count) in MIX.iter().zip(counts) {
            assert!((f64::from(count) / 1000.0 - share).abs() < 0.6, "{}: {count}", kind.name());
        }
    }

    #[test]
    fn bytes_are_written_as_hexadecimal_digits() {
        assert_eq!(literal(&[]), "x''");
        assert_eq!(literal(&[0, 39, 92, 255]), "x'00275cff'");
    }
}
