//! Statements each of which has one way to be fast: an index read at its end, a list that is searched, a sort
//! of texts, an aggregate that needs no table of its groups.
//!
//! `big` has the columns of most of them, `half` and `few` are smaller ones to be joined with it, `purchase`
//! and `line` are a pair of parent and children, and `rare` has an index whose values are of very different
//! frequency.

use crate::suite::rows::{Random, Rows, Value};
use crate::suite::{Scaled, Suite, Table, scaled};

use Value::{Cents, Day, Int, Text, Word};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "statements",
    title: "Statements that have a fast way",
    question: "Is the fast way found? Ends of indexes, lists of constants, OR over two indexes, semi-joins and anti-joins, \
               conditions on derived tables, groups in the order of an index, sorts, windows, hash joins and counts \
               over one table of many rows.",
    scale: "5,000,000 rows of big, 1,800,000 of line, 1,000,000 of half, 450,000 of purchase, 200,000 of few",
    tables: &[BIG, HALF, FEW, PURCHASE, LINE],
    statements: include_str!("../../sql/statements.sql"),
    version: 1,
};

/// Numbers by which [`Random::of`] knows the tables.
mod stream {
    pub const BIG: u64 = 201;
    pub const HALF: u64 = 202;
    pub const FEW: u64 = 203;
    pub const PURCHASE: u64 = 204;
    pub const LINE: u64 = 205;
}

const KINDS: &[&str] = &["amber", "birch", "cedar", "daisy", "ebony", "fern", "grape", "hazel"];

fn big_rows(scale: f64) -> u64 {
    scaled(scale, 5_000_000)
}

const BIG: Table = Table {
    name: "big",
    columns: "id INT PRIMARY KEY, k INT NOT NULL, a INT NOT NULL, b INT NOT NULL, g INT NOT NULL, u INT NOT NULL, \
              d DATE NOT NULL, x DECIMAL(10,2) NOT NULL, f DOUBLE NOT NULL, \
              name VARCHAR(40) COLLATE utf8mb4_unicode_ci NOT NULL, word VARCHAR(10) NOT NULL",
    indexes: &["ADD KEY (k)", "ADD KEY (a)", "ADD KEY (b)", "ADD KEY (g)", "ADD KEY (d)"],
    units: big_rows,
    write: |sizes, unit, rows| {
        let mut random = Random::of(stream::BIG, unit);
        let all = big_rows(sizes.scale);
        rows.push(&[
            Int(unit as i64),
            // ten rows of each k
            Int(random.below(all / 10 + 1) as i64),
            // a thousand values, of which the small ones are frequent
            Int(random.skewed(1000, 3) as i64),
            Int(random.below(20_000) as i64),
            Int(random.below(100) as i64),
            Int(random.below(all) as i64),
            Day(random.between(0, 2500)),
            Cents(random.between(0, 10_000_000)),
            // a double without a fraction that servers print differently
            Int(random.between(-1_000_000_000, 1_000_000_000)),
            Text(format!("name of a customer {:08}", random.below(all * 10))),
            Word(random.word(KINDS)),
        ]);
    },
};

const HALF: Table = Table {
    name: "half",
    columns: "id INT PRIMARY KEY, k INT NOT NULL, u INT NOT NULL, w INT NOT NULL, x DECIMAL(10,2) NOT NULL",
    indexes: &["ADD KEY (k)"],
    units: |scale| scaled(scale, 1_000_000),
    write: |sizes, unit, rows| {
        let mut random = Random::of(stream::HALF, unit);
        let all = scaled(sizes.scale, 1_000_000);
        rows.push(&[
            Int(unit as i64),
            Int(random.below(all / 10 + 1) as i64),
            Int(random.below(all) as i64),
            Int(random.below(all) as i64),
            Cents(random.between(0, 1_000_000)),
        ]);
    },
};

const FEW: Table = Table {
    name: "few",
    columns: "id INT PRIMARY KEY, k INT NOT NULL, w INT NOT NULL, g INT NOT NULL, x DECIMAL(10,2) NOT NULL",
    indexes: &["ADD KEY (k)"],
    units: |scale| scaled(scale, 200_000),
    write: |sizes, unit, rows| {
        let mut random = Random::of(stream::FEW, unit);
        rows.push(&[
            Int(unit as i64),
            Int(random.below(scaled(sizes.scale, 200_000) / 10 + 1) as i64),
            Int(random.below(scaled(sizes.scale, 1_000_000)) as i64),
            Int(random.below(100) as i64),
            Cents(random.between(0, 1_000_000)),
        ]);
    },
};

const PURCHASE: Table = Table {
    name: "purchase",
    columns: "p_id INT PRIMARY KEY, p_day DATE NOT NULL, p_price DECIMAL(10,2) NOT NULL, p_kind VARCHAR(10) NOT NULL",
    indexes: &["ADD KEY (p_day)"],
    units: |scale| scaled(scale, 450_000),
    write: |_, unit, rows| {
        let mut random = Random::of(stream::PURCHASE, unit);
        let price = Cents(random.between(0, 1_000_000));
        rows.push(&[Int(unit as i64), Day(random.between(0, 2500)), price, Word(random.word(KINDS))]);
    },
};

const LINE: Table = Table {
    name: "line",
    columns: "l_purchase INT NOT NULL, l_number INT NOT NULL, l_item INT NOT NULL, l_count INT NOT NULL, \
              l_price DECIMAL(10,2) NOT NULL, PRIMARY KEY (l_purchase, l_number)",
    indexes: &["ADD KEY (l_item)"],
    units: |scale| scaled(scale, 450_000),
    write: lines,
};

/// Four lines on average; a tenth of the purchases has none.
fn lines(sizes: &Scaled, unit: u64, rows: &mut Rows) {
    let mut random = Random::of(stream::LINE, unit);
    let count = if unit.is_multiple_of(10) { 0 } else { random.between(1, 8) };
    let items = scaled(sizes.scale, 20_000);
    for number in 1..=count {
        let item = random.skewed(items, 2) as i64;
        let price = Cents(random.between(100, 100_000));
        rows.push(&[Int(unit as i64), Int(number), Int(item), Int(random.between(1, 50)), price]);
    }
}
