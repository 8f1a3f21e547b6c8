//! TPC-H: the tables and distributions of its public specification (chapter 4.2), generated anew.
//!
//! Keys, ranges, correlations and word lists are the specification's. Random numbers are not those of its own
//! program, so that answers are not the published ones; they are compared between servers instead. Texts
//! follow its grammar, each made for its row rather than cut out of one long text.

use crate::suite::rows::{Random, Rows, Value};
use crate::suite::{Scaled, Suite, Table, scaled};

mod text;

use text::text;

use Value::{Cents, Day, Int, Text, Word};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "tpch",
    title: "TPC-H: 22 queries over eight tables",
    question: "What do the queries of a decision support system cost, one after the other on one connection? The tables and \
               distributions are those of TPC-H's specification, the queries have its validation parameters; indexes \
               are the primary keys, the keys of joins, and the dates of orders and shipments.",
    scale: "6,000,000 rows of lineitem, about 1 GB",
    tables: &[REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM],
    statements: include_str!("../../sql/tpch.sql"),
    version: 1,
};

const SUPPLIERS: u64 = 10_000;
const PARTS: u64 = 200_000;
const CUSTOMERS: u64 = 150_000;
const ORDERS_AT_ONE: u64 = 1_500_000;

/// Numbers by which [`Random::of`] knows the tables.
mod stream {
    pub const NATION: u64 = 1;
    pub const REGION: u64 = 2;
    pub const SUPPLIER: u64 = 3;
    pub const CUSTOMER: u64 = 4;
    pub const PART: u64 = 5;
    pub const PARTSUPP: u64 = 6;
    pub const ORDER: u64 = 7;
    pub const ORDER_TEXT: u64 = 8;
}

const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];

const NATIONS: [(&str, i64); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];

const SEGMENTS: &[&str] = &["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
const PRIORITIES: &[&str] = &["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"];
const INSTRUCTIONS: &[&str] = &["DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN"];
const MODES: &[&str] = &["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
const TYPES: [&[&str]; 3] = [
    &["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
    &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
    &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
];
const CONTAINERS: [&[&str]; 2] =
    [&["SM", "LG", "MED", "JUMBO", "WRAP"], &["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"]];

const REGION: Table = Table {
    name: "region",
    columns: "r_regionkey INT NOT NULL PRIMARY KEY, r_name CHAR(25) NOT NULL, r_comment VARCHAR(152)",
    indexes: &[],
    units: |_| REGIONS.len() as u64,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::REGION, unit);
        let name = REGIONS[unit as usize - 1];
        rows.push(&[Int(unit as i64 - 1), Word(name), Text(text(&mut random, 31, 115))]);
    },
};

const NATION: Table = Table {
    name: "nation",
    columns: "n_nationkey INT NOT NULL PRIMARY KEY, n_name CHAR(25) NOT NULL, n_regionkey INT NOT NULL, n_comment VARCHAR(152)",
    indexes: &["ADD KEY (n_regionkey)"],
    units: |_| NATIONS.len() as u64,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::NATION, unit);
        let (name, region) = NATIONS[unit as usize - 1];
        rows.push(&[Int(unit as i64 - 1), Word(name), Int(region), Text(text(&mut random, 31, 114))]);
    },
};

const SUPPLIER: Table = Table {
    name: "supplier",
    columns: "s_suppkey INT NOT NULL PRIMARY KEY, s_name CHAR(25) NOT NULL, s_address VARCHAR(40) NOT NULL, \
              s_nationkey INT NOT NULL, s_phone CHAR(15) NOT NULL, s_acctbal DECIMAL(15,2) NOT NULL, \
              s_comment VARCHAR(101) NOT NULL",
    indexes: &["ADD KEY (s_nationkey)"],
    units: |scale| scaled(scale, SUPPLIERS),
    write: supplier,
};

const CUSTOMER: Table = Table {
    name: "customer",
    columns: "c_custkey INT NOT NULL PRIMARY KEY, c_name VARCHAR(25) NOT NULL, c_address VARCHAR(40) NOT NULL, \
              c_nationkey INT NOT NULL, c_phone CHAR(15) NOT NULL, c_acctbal DECIMAL(15,2) NOT NULL, \
              c_mktsegment CHAR(10) NOT NULL, c_comment VARCHAR(117) NOT NULL",
    indexes: &["ADD KEY (c_nationkey)"],
    units: |scale| scaled(scale, CUSTOMERS),
    write: customer,
};

const PART: Table = Table {
    name: "part",
    columns: "p_partkey INT NOT NULL PRIMARY KEY, p_name VARCHAR(55) NOT NULL, p_mfgr CHAR(25) NOT NULL, \
              p_brand CHAR(10) NOT NULL, p_type VARCHAR(25) NOT NULL, p_size INT NOT NULL, \
              p_container CHAR(10) NOT NULL, p_retailprice DECIMAL(15,2) NOT NULL, p_comment VARCHAR(23) NOT NULL",
    indexes: &[],
    units: |scale| scaled(scale, PARTS),
    write: part,
};

const PARTSUPP: Table = Table {
    name: "partsupp",
    columns: "ps_partkey INT NOT NULL, ps_suppkey INT NOT NULL, ps_availqty INT NOT NULL, \
              ps_supplycost DECIMAL(15,2) NOT NULL, ps_comment VARCHAR(199) NOT NULL, \
              PRIMARY KEY (ps_partkey, ps_suppkey)",
    indexes: &["ADD KEY (ps_suppkey)"],
    units: |scale| scaled(scale, PARTS),
    write: partsupp,
};

const ORDERS: Table = Table {
    name: "orders",
    columns: "o_orderkey INT NOT NULL PRIMARY KEY, o_custkey INT NOT NULL, o_orderstatus CHAR(1) NOT NULL, \
              o_totalprice DECIMAL(15,2) NOT NULL, o_orderdate DATE NOT NULL, o_orderpriority CHAR(15) NOT NULL, \
              o_clerk CHAR(15) NOT NULL, o_shippriority INT NOT NULL, o_comment VARCHAR(79) NOT NULL",
    indexes: &["ADD KEY (o_custkey)", "ADD KEY (o_orderdate)"],
    units: |scale| scaled(scale, ORDERS_AT_ONE),
    write: orders,
};

const LINEITEM: Table = Table {
    name: "lineitem",
    columns: "l_orderkey INT NOT NULL, l_partkey INT NOT NULL, l_suppkey INT NOT NULL, l_linenumber INT NOT NULL, \
              l_quantity DECIMAL(15,2) NOT NULL, l_extendedprice DECIMAL(15,2) NOT NULL, \
              l_discount DECIMAL(15,2) NOT NULL, l_tax DECIMAL(15,2) NOT NULL, l_returnflag CHAR(1) NOT NULL, \
              l_linestatus CHAR(1) NOT NULL, l_shipdate DATE NOT NULL, l_commitdate DATE NOT NULL, \
              l_receiptdate DATE NOT NULL, l_shipinstruct CHAR(25) NOT NULL, l_shipmode CHAR(10) NOT NULL, \
              l_comment VARCHAR(44) NOT NULL, PRIMARY KEY (l_orderkey, l_linenumber)",
    indexes: &["ADD KEY (l_partkey, l_suppkey)", "ADD KEY (l_suppkey)", "ADD KEY (l_shipdate)"],
    units: |scale| scaled(scale, ORDERS_AT_ONE),
    write: lines,
};

/// A text of random characters.
fn address(random: &mut Random) -> String {
    const CHARACTERS: &[u8] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,. ";
    let length = random.between(10, 40);
    let one = |random: &mut Random| char::from(CHARACTERS[random.below(CHARACTERS.len() as u64) as usize]);
    let address: String = (0..length).map(|_| one(random)).collect();
    // no server's rules for spaces at the end
    address.replace(' ', "-")
}

fn phone(random: &mut Random, nation: i64) -> String {
    let parts = [random.between(100, 999), random.between(100, 999), random.between(1000, 9999)];
    format!("{}-{}-{}-{}", nation + 10, parts[0], parts[1], parts[2])
}

/// Of 10,000 suppliers 5 have had complaints and 5 recommendations.
fn supplier(_: &Scaled, unit: u64, rows: &mut Rows) {
    let mut random = Random::of(stream::SUPPLIER, unit);
    let nation = random.between(0, 24);
    let (address, phone) = (address(&mut random), phone(&mut random, nation));
    let balance = random.between(-99_999, 999_999);
    let comment = match unit % 2000 {
        13 => with_words(&mut random, "Customer", "Complaints"),
        1013 => with_words(&mut random, "Customer", "Recommends"),
        _ => text(&mut random, 25, 100),
    };
    rows.push(&[
        Int(unit as i64),
        Text(format!("Supplier#{unit:09}")),
        Text(address),
        Int(nation),
        Text(phone),
        Cents(balance),
        Text(comment),
    ]);
}

fn with_words(random: &mut Random, first: &str, second: &str) -> String {
    format!("{} {first} {} {second}", text(random, 10, 30), text(random, 5, 20))
}

fn customer(_: &Scaled, unit: u64, rows: &mut Rows) {
    let mut random = Random::of(stream::CUSTOMER, unit);
    let nation = random.between(0, 24);
    let (address, phone) = (address(&mut random), phone(&mut random, nation));
    rows.push(&[
        Int(unit as i64),
        Text(format!("Customer#{unit:09}")),
        Text(address),
        Int(nation),
        Text(phone),
        Cents(random.between(-99_999, 999_999)),
        Word(random.word(SEGMENTS)),
        Text(text(&mut random, 29, 116)),
    ]);
}

/// In hundredths.
fn retail_price(part: i64) -> i64 {
    90_000 + (part / 10) % 20_001 + 100 * (part % 1000)
}

fn part(_: &Scaled, unit: u64, rows: &mut Rows) {
    let mut random = Random::of(stream::PART, unit);
    let maker = random.between(1, 5);
    let brand = random.between(1, 5);
    let kind = TYPES.map(|words| random.word(words)).join(" ");
    let container = CONTAINERS.map(|words| random.word(words)).join(" ");
    rows.push(&[
        Int(unit as i64),
        Text(text::colors(&mut random)),
        Text(format!("Manufacturer#{maker}")),
        Text(format!("Brand#{maker}{brand}")),
        Text(kind),
        Int(random.between(1, 50)),
        Text(container),
        Cents(retail_price(unit as i64)),
        Text(text(&mut random, 5, 22)),
    ]);
}

/// One of the four suppliers of a part, the first of which is 0.
fn supplier_of(sizes: &Scaled, part: i64, which: i64) -> i64 {
    let suppliers = sizes.of(SUPPLIERS) as i64;
    (part + which * (suppliers / 4 + (part - 1) / suppliers)) % suppliers + 1
}

fn partsupp(sizes: &Scaled, unit: u64, rows: &mut Rows) {
    let mut random = Random::of(stream::PARTSUPP, unit);
    let part = unit as i64;
    for which in 0..4 {
        rows.push(&[
            Int(part),
            Int(supplier_of(sizes, part, which)),
            Int(random.between(1, 9999)),
            Cents(random.between(100, 100_000)),
            Text(text(&mut random, 49, 198)),
        ]);
    }
}

/// The day that everything is seen from: the 17th of June 1995.
const TODAY: i64 = 1263;

/// The last day of an order: the 2nd of August 1998, so that its lines are received within the year.
const LAST_ORDER: i64 = 2405;

struct Order {
    key: i64,
    day: i64,
    lines: Vec<Line>,
}

struct Line {
    part: i64,
    supplier: i64,
    quantity: i64,
    /// In hundredths, as all that follow.
    price: i64,
    discount: i64,
    tax: i64,
    shipped: i64,
    committed: i64,
    received: i64,
    returned: &'static str,
    instruction: &'static str,
    mode: &'static str,
}

impl Line {
    fn is_open(&self) -> bool {
        self.shipped > TODAY
    }
}

/// Of each 32 keys 8 are used.
fn order_key(unit: u64) -> i64 {
    let before = unit as i64 - 1;
    before / 8 * 32 + before % 8 + 1
}

/// An order with its lines, which both of its tables are made from.
fn order(sizes: &Scaled, unit: u64) -> Order {
    let mut random = Random::of(stream::ORDER, unit);
    let day = random.between(0, LAST_ORDER);
    let count = random.between(1, 7);
    let lines = (0..count).map(|_| line(sizes, day, &mut random)).collect();
    Order { key: order_key(unit), day, lines }
}

fn line(sizes: &Scaled, day: i64, random: &mut Random) -> Line {
    let part = random.between(1, sizes.of(PARTS) as i64);
    let which = random.between(0, 3);
    let quantity = random.between(1, 50);
    let shipped = day + random.between(1, 121);
    let received = shipped + random.between(1, 30);
    Line {
        part,
        supplier: supplier_of(sizes, part, which),
        quantity,
        price: quantity * retail_price(part),
        discount: random.between(0, 10),
        tax: random.between(0, 8),
        shipped,
        committed: day + random.between(30, 90),
        received,
        returned: if received <= TODAY { random.word(&["R", "A"]) } else { "N" },
        instruction: random.word(INSTRUCTIONS),
        mode: random.word(MODES),
    }
}

/// A third of the customers have no orders.
fn buyer(sizes: &Scaled, random: &mut Random) -> i64 {
    loop {
        let customer = random.between(1, sizes.of(CUSTOMERS) as i64);
        if customer % 3 != 0 {
            return customer;
        }
    }
}

fn orders(sizes: &Scaled, unit: u64, rows: &mut Rows) {
    let order = order(sizes, unit);
    let mut random = Random::of(stream::ORDER_TEXT, unit);
    let open = order.lines.iter().filter(|line| line.is_open()).count();
    let status = match open {
        0 => "F",
        all if all == order.lines.len() => "O",
        _ => "P",
    };
    let total = |line: &Line| line.price * (100 - line.discount) * (100 + line.tax) / 10_000;
    rows.push(&[
        Int(order.key),
        Int(buyer(sizes, &mut random)),
        Word(status),
        Cents(order.lines.iter().map(total).sum()),
        Day(order.day),
        Word(random.word(PRIORITIES)),
        Text(format!("Clerk#{:09}", random.between(1, sizes.of(1000) as i64))),
        Int(0),
        Text(text(&mut random, 19, 78)),
    ]);
}

fn lines(sizes: &Scaled, unit: u64, rows: &mut Rows) {
    let order = order(sizes, unit);
    // the texts come after all that the table of orders is made from as well
    let mut random = Random::of(stream::ORDER_TEXT, !unit);
    for (place, line) in (1..).zip(&order.lines) {
        rows.push(&[
            Int(order.key),
            Int(line.part),
            Int(line.supplier),
            Int(place),
            Cents(100 * line.quantity),
            Cents(line.price),
            Cents(line.discount),
            Cents(line.tax),
            Word(line.returned),
            Word(if line.is_open() { "O" } else { "F" }),
            Day(line.shipped),
            Day(line.committed),
            Day(line.received),
            Word(line.instruction),
            Word(line.mode),
            Text(text(&mut random, 10, 43)),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::suite::rows::date;

    #[test]
    fn keys_and_dates_are_the_specifications() {
        assert_eq!([1, 8, 9, 17].map(order_key), [1, 8, 33, 65]);
        assert_eq!([TODAY, LAST_ORDER].map(|day| date(day).to_string()), ["1995-06-17", "1998-08-02"]);
        assert_eq!([1, 1000, 200_000].map(retail_price), [90_100, 90_100, 110_000]);
    }

    #[test]
    fn lines_name_suppliers_that_have_the_part() {
        let sizes = Scaled { scale: 0.01 };
        for unit in 1..500 {
            for line in order(&sizes, unit).lines {
                let suppliers: BTreeSet<i64> =
                    (0..4).map(|which| supplier_of(&sizes, line.part, which)).collect();
                assert_eq!(suppliers.len(), 4);
                assert!(suppliers.contains(&line.supplier) && line.supplier <= 100);
            }
        }
    }

    #[test]
    fn lines_of_an_order_are_four_on_average_and_half_are_open() {
        let sizes = Scaled { scale: 0.01 };
        let all: Vec<Line> = (1..=2000).flat_map(|unit| order(&sizes, unit).lines).collect();
        assert!((7700..8300).contains(&all.len()), "{}", all.len());
        let open = all.iter().filter(|line| line.is_open()).count() * 100 / all.len();
        assert!((45..55).contains(&open), "{open}");
    }
}
