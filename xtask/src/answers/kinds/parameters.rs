//! Values for `?`: in grouping, aggregates, conditions and functions, by PREPARE and by the binary protocol,
//! executed again with values of other types.

use palisade_base::prng::Prng;

use super::{Kind, made};
use crate::answers::question::{Question, Rules, Step};
use crate::client::Parameter;

pub const KIND: Kind = Kind { name: "parameters", tables: &[], question };

const RULES: Rules = &[
    (
        "question",
        &[
            "SELECT SUM($number*?) AS x, SUM($number*?) AS y FROM v",
            "SELECT $number1+? AS x FROM v GROUP BY $number1+? ORDER BY 1",
            "SELECT $number1+? AS x FROM v GROUP BY x ORDER BY 1",
            "SELECT g FROM v GROUP BY g HAVING SUM($number) > ? AND SUM($number) < ? ORDER BY g",
            "SELECT $number1+? AS x FROM v GROUP BY x HAVING x > ? ORDER BY x",
            "SELECT g, COUNT(*) FROM v GROUP BY g WITH ROLLUP HAVING COUNT(*) > ? OR g = ?",
            "SELECT $number1, $number1 = ? FROM v GROUP BY $number1 HAVING $number1 <> ? ORDER BY 1",
            "SELECT COUNT(DISTINCT $column, ?), COUNT(DISTINCT IF($column = ?, 1, 2)) FROM v",
            "SELECT ? AS x, COUNT(*) FROM v GROUP BY x HAVING x = ?",
            "SELECT ?, COUNT(*) FROM v GROUP BY ?",
            "SELECT id FROM v WHERE $column = ? OR $column > ? ORDER BY id",
            "SELECT id FROM v WHERE $column BETWEEN ? AND ? ORDER BY id",
            "SELECT id FROM v WHERE $column IN (?, ?) ORDER BY id",
            "SELECT id FROM v WHERE $column <=> ? AND id <> ? ORDER BY id",
            "SELECT ? + ?, ? * 2",
            "SELECT ? = ?, ? < ?",
            "SELECT CONCAT(?, ?), LENGTH(?)",
            "SELECT COALESCE(?, ?), IFNULL(?, 1)",
            "SELECT CASE ? WHEN ? THEN 'a' ELSE 'b' END",
            "SELECT IF(?, ?, 'x')",
            "SELECT id, $column + ? FROM v WHERE id <> ? ORDER BY id",
            "SELECT id, IFNULL($column, ?), NULLIF($column, ?) FROM v ORDER BY id",
            "SELECT CAST(? AS $type), HEX(?)",
            "SELECT ROUND(?, 1), TRUNCATE(?, 0)",
            "SELECT DATE_ADD(?, INTERVAL 1 DAY), YEAR(?)",
            "SELECT GREATEST(?, ?)",
            "SELECT id FROM v ORDER BY $number1 + ?, id LIMIT 3",
            "SELECT $number1 FROM v UNION SELECT ? ORDER BY 1",
            "SELECT MAX(IF(g = ?, $column, NULL)), MIN(IFNULL($column, ?)) FROM v",
            "SELECT DISTINCT $number1 * ? AS x FROM v WHERE $number1 > ? ORDER BY x",
            "SELECT a.id FROM v AS a WHERE a.id = (SELECT MAX(b.id) FROM v AS b WHERE b.$number < ? AND b.g = a.g) ORDER BY 1",
        ],
    ),
    ("number", &["c_tiny", "c_int", "g", "id", "c_dec", "c_year"]),
    ("column", super::COLUMNS),
    (
        "type",
        &["SIGNED", "UNSIGNED", "DECIMAL(10,2)", "DOUBLE", "CHAR", "BINARY", "DATE", "TIME", "DATETIME"],
    ),
];

fn question(seed: u64) -> Question {
    const SALT: u64 = 0x7061_7261;
    let made = made(RULES, SALT, seed);
    let (text, about) = (made.steps[0].text().to_owned(), made.about);
    let mut prng = Prng::new(seed ^ SALT ^ 0xffff_0000);
    let count = text.matches('?').count();
    let executions = 1 + prng.below(3);
    let lists: Vec<Vec<Parameter>> =
        (0..executions).map(|_| (0..count).map(|_| parameter(&mut prng)).collect()).collect();
    if prng.one_in(2) {
        return Question { steps: vec![Step::Binary(text, lists)], about: format!("binary {about}") };
    }
    let mut steps = vec![Step::Text(format!("PREPARE s FROM '{}'", text.replace('\'', "''")))];
    for values in &lists {
        let set: Vec<String> =
            values.iter().enumerate().map(|(at, value)| format!("@p{at} = {value}")).collect();
        let using: Vec<String> = (0..count).map(|at| format!("@p{at}")).collect();
        steps.push(Step::Text(format!("SET {}", set.join(", "))));
        steps.push(Step::Text(format!("EXECUTE s USING {}", using.join(", "))));
    }
    Question { steps, about: format!("text {about}") }
}

fn parameter(prng: &mut Prng) -> Parameter {
    const TEXTS: &[&str] = &["", "a", "1", "1.5abc", "2024-02-29", "12:34:56", "ä", "abc"];
    match prng.below(11) {
        0 => Parameter::Null,
        1 | 2 => Parameter::Signed(*prng.pick(&[0, 1, -1, 2, 10, 2024, i64::MIN, i64::MAX])),
        3 => Parameter::Unsigned(*prng.pick(&[0, 1, 7, u64::MAX, 1 << 63])),
        4 => Parameter::Double(*prng.pick(&[0.0, 1.5, -2.25, 1e10, 0.1])),
        5 => Parameter::Decimal(
            (*prng.pick(&["1.5", "-0.25", "12.10", "99999999999999999999.5", "0"])).to_owned(),
        ),
        6 | 7 => Parameter::Text((*prng.pick(TEXTS)).to_owned()),
        8 => Parameter::Bytes((*prng.pick::<&[u8]>(&[b"", b"a", b"1", &[0xff, 0]])).to_vec()),
        9 => Parameter::DateTime(2024, [2, 29, 1, 2, 3], *prng.pick(&[0, 500_000])),
        _ => Parameter::Time(prng.one_in(3), 0, [12, 34, 56], *prng.pick(&[0, 789_000])),
    }
}
