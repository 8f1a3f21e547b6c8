//! Joins of 4 to 10 tables, as the Join Order Benchmark has them (Leis et al., "How Good Are Query
//! Optimizers, Really?", 2015), over data of our own.
//!
//! ```text
//!   country <- state <- city <--- store <-----.
//!      ^                 ^ '----- customer <- sale -> promotion
//!      |                 '---------- ^ '----. / | \
//!      '---- maker <- brand <- product <-- review | day
//!                                ^ '---- stock    '<- returned -> reason
//! ```
//!
//! What makes the order of joins hard to find stands in the data: keys are skewed (an eighth of the products
//! has half of the sales), columns are correlated (a brand's products are of one category, promotions are of
//! one month, what is returned depends on the category), and some values are rare.

use crate::suite::rows::{Random, Value};
use crate::suite::{Scaled, Suite, Table, scaled};

use Value::{Cents, Day, Int, Null, Text, Word};

/// The suite.
pub const SUITE: Suite = Suite {
    name: "joins",
    title: "40 joins of 4 to 10 tables with skew and correlated columns",
    question: "What do joins cost whose order decides? Three tables of facts in stars and snowflakes of small tables: \
               frequent and rare values of skewed keys, conditions that imply each other, paths that meet in one table.",
    scale: "3,000,000 sales, 600,000 reviews, 150,000 returns, 200,000 customers, 50,000 products",
    tables: &[
        COUNTRY, STATE, CITY, DAY, CATEGORY, MAKER, BRAND, PROMOTION, REASON, STORE, PRODUCT, CUSTOMER,
        STOCK, SALE, RETURNED, REVIEW,
    ],
    statements: include_str!("../../sql/joins.sql"),
    version: 1,
};

const COUNTRIES: u64 = 30;
const STATES: u64 = 60;
const CITIES: u64 = 1500;
const DAYS: u64 = 2557;
const CATEGORIES: u64 = 40;
const MAKERS: u64 = 80;
const BRANDS: u64 = 400;
const PROMOTIONS: u64 = 300;
const REASONS: u64 = 20;
const STORES: u64 = 300;

fn products(scale: f64) -> u64 {
    scaled(scale, 50_000).max(2000)
}

fn customers(scale: f64) -> u64 {
    scaled(scale, 200_000).max(2000)
}

/// Numbers by which [`Random::of`] knows the tables.
mod stream {
    pub const STATE: u64 = 101;
    pub const CITY: u64 = 102;
    pub const MAKER: u64 = 103;
    pub const STORE: u64 = 104;
    pub const PRODUCT: u64 = 105;
    pub const CUSTOMER: u64 = 106;
    pub const STOCK: u64 = 107;
    pub const SALE: u64 = 108;
    pub const RETURNED: u64 = 109;
    pub const REVIEW: u64 = 110;
}

const CONTINENTS: &[&str] = &["Africa", "America", "Asia", "Europe", "Oceania"];
const DEPARTMENTS: &[&str] = &["clothes", "food", "garden", "home", "media", "sports", "tools", "toys"];
const COLORS: &[&str] =
    &["black", "white", "grey", "blue", "red", "green", "yellow", "pink", "orange", "violet"];
const WEEKDAYS: &[&str] = &["Wednesday", "Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday"];
const KINDS: &[&str] = &["coupon", "two for one", "rebate", "gift", "points"];

const COUNTRY: Table = Table {
    name: "country",
    columns: "n_id INT PRIMARY KEY, n_name VARCHAR(20) NOT NULL, n_continent VARCHAR(10) NOT NULL",
    indexes: &[],
    units: |_| COUNTRIES,
    write: |_, unit, rows| {
        let continent = CONTINENTS[unit as usize % CONTINENTS.len()];
        rows.push(&[Int(unit as i64), Text(format!("country {unit}")), Word(continent)]);
    },
};

const STATE: Table = Table {
    name: "state",
    columns: "e_id INT PRIMARY KEY, e_name VARCHAR(20) NOT NULL, e_country INT NOT NULL",
    indexes: &["ADD KEY (e_country)"],
    units: |_| STATES,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::STATE, unit);
        // a third of the states is in the first country
        let country = if unit <= 20 { 1 } else { random.between(2, COUNTRIES as i64) };
        rows.push(&[Int(unit as i64), Text(format!("state {unit}")), Int(country)]);
    },
};

const CITY: Table = Table {
    name: "city",
    columns: "c_id INT PRIMARY KEY, c_name VARCHAR(20) NOT NULL, c_state INT NOT NULL, c_people INT NOT NULL",
    indexes: &["ADD KEY (c_state)"],
    units: |_| CITIES,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::CITY, unit);
        let state = 1 + random.skewed(STATES, 2) as i64;
        let people = 9_000_000 / unit as i64 + random.between(1, 5000);
        rows.push(&[Int(unit as i64), Text(format!("city {unit}")), Int(state), Int(people)]);
    },
};

const DAY: Table = Table {
    name: "day",
    columns: "d_id INT PRIMARY KEY, d_date DATE NOT NULL, d_year INT NOT NULL, d_month INT NOT NULL, \
              d_weekday VARCHAR(10) NOT NULL, d_holiday INT NOT NULL",
    indexes: &["ADD UNIQUE KEY (d_date)"],
    units: |_| DAYS,
    write: |_, unit, rows| {
        let days = unit as i64 - 1;
        let date = crate::suite::rows::date(days);
        let weekday = WEEKDAYS[days as usize % WEEKDAYS.len()];
        let holiday = i64::from(date.day() == 25 && date.month() == 12);
        let (year, month) = (Int(date.year().into()), Int(date.month().into()));
        rows.push(&[Int(unit as i64), Day(days), year, month, Word(weekday), Int(holiday)]);
    },
};

const CATEGORY: Table = Table {
    name: "category",
    columns: "g_id INT PRIMARY KEY, g_name VARCHAR(20) NOT NULL, g_department VARCHAR(10) NOT NULL",
    indexes: &[],
    units: |_| CATEGORIES,
    write: |_, unit, rows| {
        let department = DEPARTMENTS[unit as usize % DEPARTMENTS.len()];
        rows.push(&[Int(unit as i64), Text(format!("category {unit}")), Word(department)]);
    },
};

const MAKER: Table = Table {
    name: "maker",
    columns: "m_id INT PRIMARY KEY, m_name VARCHAR(20) NOT NULL, m_country INT NOT NULL",
    indexes: &["ADD KEY (m_country)"],
    units: |_| MAKERS,
    write: |_, unit, rows| {
        let country = 1 + Random::of(stream::MAKER, unit).skewed(COUNTRIES, 2) as i64;
        rows.push(&[Int(unit as i64), Text(format!("maker {unit}")), Int(country)]);
    },
};

const BRAND: Table = Table {
    name: "brand",
    columns: "b_id INT PRIMARY KEY, b_name VARCHAR(20) NOT NULL, b_maker INT NOT NULL, b_tier VARCHAR(10) NOT NULL",
    indexes: &["ADD KEY (b_maker)"],
    units: |_| BRANDS,
    write: |_, unit, rows| {
        let maker = 1 + unit as i64 % MAKERS as i64;
        rows.push(&[Int(unit as i64), Text(format!("brand {unit}")), Int(maker), Word(tier(unit as i64))]);
    },
};

/// The brands of a tenth of the makers are dear.
fn tier(brand: i64) -> &'static str {
    match brand % 10 {
        7 => "luxury",
        0..=3 => "cheap",
        _ => "usual",
    }
}

const PROMOTION: Table = Table {
    name: "promotion",
    columns: "o_id INT PRIMARY KEY, o_kind VARCHAR(12) NOT NULL, o_month INT NOT NULL, o_percent INT NOT NULL",
    indexes: &[],
    units: |_| PROMOTIONS,
    write: |_, unit, rows| {
        let (kind, month) = (KINDS[unit as usize % KINDS.len()], (unit as i64 - 1) / 25 + 1);
        rows.push(&[Int(unit as i64), Word(kind), Int(month), Int(5 + unit as i64 % 40)]);
    },
};

const REASON: Table = Table {
    name: "reason",
    columns: "a_id INT PRIMARY KEY, a_text VARCHAR(20) NOT NULL",
    indexes: &[],
    units: |_| REASONS,
    write: |_, unit, rows| rows.push(&[Int(unit as i64), Text(format!("reason {unit}"))]),
};

const STORE: Table = Table {
    name: "store",
    columns: "t_id INT PRIMARY KEY, t_name VARCHAR(20) NOT NULL, t_city INT NOT NULL, t_kind VARCHAR(10) NOT NULL, \
              t_area INT NOT NULL",
    indexes: &["ADD KEY (t_city)"],
    units: |_| STORES,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::STORE, unit);
        let city = 1 + random.skewed(CITIES, 3) as i64;
        // large cities have malls
        let kind = match city {
            ..=100 => "mall",
            _ if random.one_in(12) => "outlet",
            _ => "street",
        };
        let area = random.between(50, 500) * if kind == "mall" { 10 } else { 1 };
        rows.push(&[Int(unit as i64), Text(format!("store {unit}")), Int(city), Word(kind), Int(area)]);
    },
};

const PRODUCT: Table = Table {
    name: "product",
    columns: "p_id INT PRIMARY KEY, p_name VARCHAR(30) NOT NULL, p_brand INT NOT NULL, p_category INT NOT NULL, \
              p_price DECIMAL(10,2) NOT NULL, p_color VARCHAR(10) NOT NULL, p_status VARCHAR(10) NOT NULL",
    indexes: &["ADD KEY (p_brand)", "ADD KEY (p_category)", "ADD KEY (p_status)"],
    units: products,
    write: |_, unit, rows| {
        let product = product(unit as i64);
        rows.push(&[
            Int(unit as i64),
            Text(format!("product {unit:06}")),
            Int(product.brand),
            Int(product.category),
            Cents(product.price),
            Word(product.color),
            Word(product.status),
        ]);
    },
};

struct Product {
    brand: i64,
    category: i64,
    price: i64,
    color: &'static str,
    status: &'static str,
}

fn product(number: i64) -> Product {
    let mut random = Random::of(stream::PRODUCT, number as u64);
    let brand = 1 + random.skewed(BRANDS, 2) as i64;
    let own = 1 + brand % CATEGORIES as i64;
    let category = if random.one_in(10) { random.between(1, CATEGORIES as i64) } else { own };
    let dear = if tier(brand) == "luxury" { 20 } else { 1 };
    let price = dear * (category * 100 + random.between(1, 2000));
    let color = COLORS[random.skewed(COLORS.len() as u64, 2) as usize];
    let status = match random.below(500) {
        0 => "recalled",
        1..=25 => "new",
        _ => "sold",
    };
    Product { brand, category, price, color, status }
}

const CUSTOMER: Table = Table {
    name: "customer",
    columns: "u_id INT PRIMARY KEY, u_name VARCHAR(30) NOT NULL, u_city INT NOT NULL, u_segment VARCHAR(10) NOT NULL, \
              u_income INT NOT NULL, u_born INT NOT NULL",
    indexes: &["ADD KEY (u_city)", "ADD KEY (u_segment)"],
    units: customers,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::CUSTOMER, unit);
        let city = 1 + random.skewed(CITIES, 2) as i64;
        let (segment, income) = match random.below(1000) {
            0..=4 => ("state", 90_000),
            5..=54 => ("business", 60_000),
            55..=254 => ("student", 8000),
            _ => ("private", 30_000),
        };
        let income = income + random.between(0, income / 2);
        let born = if segment == "student" { random.between(1995, 2004) } else { random.between(1930, 2000) };
        let name = Text(format!("customer {unit:07}"));
        rows.push(&[Int(unit as i64), name, Int(city), Word(segment), Int(income), Int(born)]);
    },
};

const STOCK: Table = Table {
    name: "stock",
    columns: "k_product INT NOT NULL, k_store INT NOT NULL, k_level INT NOT NULL, PRIMARY KEY (k_product, k_store)",
    indexes: &["ADD KEY (k_store)"],
    units: products,
    write: |_, unit, rows| {
        let mut random = Random::of(stream::STOCK, unit);
        let (first, count) = (random.between(1, STORES as i64), random.between(1, 8));
        for place in 0..count {
            let store = 1 + (first + place * 37) % STORES as i64;
            // of the most popular products there are few left
            let level = if unit < 100 { random.between(0, 3) } else { random.between(0, 200) };
            rows.push(&[Int(unit as i64), Int(store), Int(level)]);
        }
    },
};

const SALE: Table = Table {
    name: "sale",
    columns: "s_id INT PRIMARY KEY, s_day INT NOT NULL, s_product INT NOT NULL, s_store INT NOT NULL, \
              s_customer INT NOT NULL, s_promotion INT, s_channel VARCHAR(6) NOT NULL, s_count INT NOT NULL, \
              s_amount DECIMAL(12,2) NOT NULL",
    indexes: &[
        "ADD KEY (s_day)",
        "ADD KEY (s_product)",
        "ADD KEY (s_store)",
        "ADD KEY (s_customer)",
        "ADD KEY (s_promotion)",
    ],
    units: |scale| scaled(scale, 3_000_000),
    write: |sizes, unit, rows| {
        let sale = sale(sizes, unit);
        rows.push(&[
            Int(unit as i64),
            Int(sale.day),
            Int(sale.product),
            Int(sale.store),
            Int(sale.customer),
            sale.promotion.map_or(Null, Int),
            Word(sale.channel),
            Int(sale.count),
            Cents(sale.count * product(sale.product).price),
        ]);
    },
};

struct Sale {
    day: i64,
    product: i64,
    store: i64,
    customer: i64,
    promotion: Option<i64>,
    channel: &'static str,
    count: i64,
}

fn sale(sizes: &Scaled, unit: u64) -> Sale {
    let mut random = Random::of(stream::SALE, unit);
    // 30 days are left for what is returned
    let day = random.between(1, DAYS as i64 - 30);
    let product = 1 + random.skewed(products(sizes.scale), 3) as i64;
    let store = 1 + random.skewed(STORES, 2) as i64;
    let customer = 1 + random.skewed(customers(sizes.scale), 2) as i64;
    let month = i64::from(crate::suite::rows::date(day - 1).month());
    // most of November and December is sold by promotions, which are those of the month
    let promoted = if month >= 11 { random.below(10) < 7 } else { random.one_in(20) };
    let promotion = promoted.then(|| (month - 1) * 25 + 1 + random.skewed(25, 2) as i64);
    let channel = match store {
        ..=3 => "web",
        _ if random.one_in(400) => "phone",
        _ => "shop",
    };
    Sale { day, product, store, customer, promotion, channel, count: random.between(1, 5) }
}

const RETURNED: Table = Table {
    name: "returned",
    columns: "r_sale INT PRIMARY KEY, r_reason INT NOT NULL, r_day INT NOT NULL",
    indexes: &["ADD KEY (r_reason)", "ADD KEY (r_day)"],
    units: |scale| scaled(scale, 3_000_000),
    write: |sizes, unit, rows| {
        let mut random = Random::of(stream::RETURNED, unit);
        let sale = sale(sizes, unit);
        let often = product(sale.product).category % 8 == 0;
        if random.one_in(if often { 5 } else { 40 }) {
            let reason = 1 + random.skewed(REASONS, 3) as i64;
            rows.push(&[Int(unit as i64), Int(reason), Int(sale.day + random.between(1, 30))]);
        }
    },
};

const REVIEW: Table = Table {
    name: "review",
    columns: "v_id INT PRIMARY KEY, v_product INT NOT NULL, v_customer INT NOT NULL, v_day INT NOT NULL, \
              v_stars INT NOT NULL",
    indexes: &["ADD KEY (v_product)", "ADD KEY (v_customer)"],
    units: |scale| scaled(scale, 600_000),
    write: |sizes, unit, rows| {
        let mut random = Random::of(stream::REVIEW, unit);
        let number = 1 + random.skewed(products(sizes.scale), 3) as i64;
        let customer = random.between(1, customers(sizes.scale) as i64);
        // what is dear is liked
        let stars = match tier(product(number).brand) {
            "luxury" => random.between(4, 5),
            "cheap" => random.between(1, 4),
            _ => random.between(1, 5),
        };
        let day = random.between(1, DAYS as i64);
        rows.push(&[Int(unit as i64), Int(number), Int(customer), Int(day), Int(stars)]);
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_join_is_of_four_to_ten_tables() {
        let queries = SUITE.queries(0.01);
        assert_eq!(queries.len(), 40);
        for query in queries {
            let (_, from) = query.sql.split_once("FROM").expect("a join has tables");
            let joins = query.sql.matches("JOIN").count();
            let commas = from.split("WHERE").next().unwrap_or_default().matches(',').count();
            assert!((3..=9).contains(&(joins + commas)), "{}: {joins} {commas}", query.name);
        }
    }

    #[test]
    fn an_eighth_of_the_products_has_half_of_the_sales_and_promotions_are_of_the_month() {
        let sizes = Scaled { scale: 0.01 };
        let sales: Vec<Sale> = (1..=4000).map(|unit| sale(&sizes, unit)).collect();
        let popular = sales.iter().filter(|sale| sale.product <= 250).count();
        assert!((1800..2200).contains(&popular), "{popular}");
        for sale in sales {
            let month = i64::from(crate::suite::rows::date(sale.day - 1).month());
            assert!(sale.promotion.is_none_or(|promotion| (promotion - 1) / 25 + 1 == month));
        }
    }
}
