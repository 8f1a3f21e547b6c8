//! Random questions about grouping: what makes two expressions the same, and what a name above a GROUP BY
//! means.
//!
//! | kind | what is asked |
//! |---|---|
//! | pairs | two aggregates that differ in one constant, length or collation, in SELECT and in HAVING |
//! | names | an alias that may be a column's name in GROUP BY, HAVING and ORDER BY |
//! | rollup | WITH ROLLUP over columns, constants, repeated and computed expressions |
//! | distinct | DISTINCT within aggregates, and SELECT DISTINCT with an order |
//! | prepared | `?` in what is grouped by and in aggregates |
//! | dependence | columns beside GROUP BY that depend on it, or do not |
//! | nested | aggregates of an enclosing query within a subquery |

use palisade_base::prng::Prng;

use super::question::Question;

const NUMBERS: &[&str] = &["c_tiny", "c_int", "g", "id", "c_bit", "c_year"];
const TEXTS: &[&str] = &["c_char", "c_text", "c_bin", "c_latin"];
const CONSTANTS: &[&str] = &["0", "1", "2", "3", "7", "10", "100", "-1"];
const SUMS: &[&str] = &["SUM", "COUNT", "MIN", "MAX", "AVG"];

/// The question of a seed.
pub fn question(seed: u64) -> Question {
    let mut prng = Prng::new(seed ^ 0x6772_6f75_7073);
    let asker = Asker { prng: &mut prng };
    asker.ask()
}

struct Asker<'p> {
    prng: &'p mut Prng,
}

impl Asker<'_> {
    fn ask(mut self) -> Question {
        let (statements, about) = match self.prng.below(7) {
            0 => (vec![self.pair()], "pairs"),
            1 => (vec![self.names()], "names"),
            2 => (vec![self.rollup()], "rollup"),
            3 => (vec![self.distinct()], "distinct"),
            4 => (self.prepared(), "prepared"),
            5 => (vec![self.dependence()], "dependence"),
            _ => (vec![self.nested()], "nested"),
        };
        Question::of(statements, about)
    }

    fn of(&mut self, choices: &'static [&'static str]) -> &'static str {
        let choice: &&str = self.prng.pick(choices);
        choice
    }

    /// Two forms of one expression that differ in a single place, or by chance in none.
    fn alike(&mut self) -> [String; 2] {
        let (number, text) = (self.of(NUMBERS), self.of(TEXTS));
        let constants = [self.of(CONSTANTS), self.of(CONSTANTS)];
        let lengths = [1 + self.prng.below(3), 1 + self.prng.below(3)];
        let collations =
            [(); 2].map(|()| self.of(&["utf8mb4_bin", "utf8mb4_0900_ai_ci", "utf8mb4_general_ci"]));
        let escapes = [(); 2].map(|()| self.of(&["", " ESCAPE '|'", " ESCAPE '!'"]));
        let form = self.prng.below(8);
        [0, 1].map(|at| match form {
            0 => format!("{number}+{}", constants[at]),
            1 => format!("IF({number}>{},1,0)", constants[at]),
            2 => format!("{number} BETWEEN {} AND 50", constants[at]),
            3 => format!("{number} IN ({}, 5)", constants[at]),
            4 => format!("CAST({text} AS CHAR({}))='a'", lengths[at]),
            5 => format!("c_text COLLATE {}='hello'", collations[at]),
            6 => format!("{text} LIKE 'a|%'{}", escapes[at]),
            _ => format!("CASE {number} WHEN {} THEN 1 ELSE 2 END", constants[at]),
        })
    }

    fn pair(&mut self) -> String {
        let [left, right] = self.alike();
        let function = self.of(SUMS);
        let limits = [self.of(CONSTANTS), self.of(CONSTANTS)];
        let (left, right) = (format!("{function}({left})"), format!("{function}({right})"));
        match self.prng.below(3) {
            0 => format!("SELECT g, {left} AS x, {right} AS y FROM v GROUP BY g ORDER BY g"),
            1 => format!(
                "SELECT g FROM v GROUP BY g HAVING {left} < {} AND {right} >= {} ORDER BY g",
                limits[0], limits[1]
            ),
            _ => format!("SELECT g, {left} AS x FROM v GROUP BY g HAVING {right} > {} ORDER BY g", limits[0]),
        }
    }

    fn names(&mut self) -> String {
        let (column, other) = (self.of(NUMBERS), self.of(NUMBERS));
        let alias = self.of(&["g", "c_int", "id", "x", "c_tiny"]);
        let item = match self.prng.below(4) {
            0 => column.to_owned(),
            1 => format!("-{column}"),
            2 => format!("{column}*0"),
            _ => format!("MAX({column})"),
        };
        let group = match self.prng.below(4) {
            0 => String::new(),
            1 => format!(" GROUP BY {alias}"),
            2 => format!(" GROUP BY {column}"),
            _ => format!(" GROUP BY {column}, {other}"),
        };
        let constant = self.of(CONSTANTS);
        let having = match self.prng.below(3) {
            0 => String::new(),
            1 => format!(" HAVING {alias} <> {constant}"),
            _ => format!(" HAVING {column} > {constant}"),
        };
        let order = self.of(&["", " ORDER BY x+0", " ORDER BY 1", " ORDER BY g+0, 1", " ORDER BY c_int, 1"]);
        let order = if order.is_empty() { " ORDER BY 1" } else { order };
        format!("SELECT {item} AS {alias} FROM v{group}{having}{order}")
    }

    fn rollup(&mut self) -> String {
        let choices: &[&str] = &["g", "c_tiny", "g+1", "'x'", "1+1", "c_int<=>2", "g IS NULL"];
        let width = 1 + self.prng.below(3);
        let group: Vec<&str> = (0..width).map(|_| *self.prng.pick(choices)).collect();
        let mut items: Vec<String> = group.iter().map(|expr| (*expr).to_owned()).collect();
        items.push(format!("SUM({})", self.of(NUMBERS)));
        let first = group[0];
        match self.prng.below(4) {
            0 => items.push(format!("GROUPING({first})")),
            1 => items.push("CONCAT('q', 'x')".to_owned()),
            2 => items.push(format!("IFNULL({first}, 'all')")),
            _ => {}
        }
        let having = match self.prng.below(4) {
            0 => format!(" HAVING GROUPING({first}) = 1"),
            1 => " HAVING COUNT(*) > 1".to_owned(),
            _ => String::new(),
        };
        format!("SELECT {} FROM v GROUP BY {} WITH ROLLUP{having}", items.join(", "), group.join(", "))
    }

    fn distinct(&mut self) -> String {
        if self.prng.one_in(2) {
            let function = self.of(SUMS);
            let column = if self.prng.one_in(2) { self.of(NUMBERS) } else { self.of(TEXTS) };
            let tail = self.of(&["", " GROUP BY g ORDER BY g"]);
            return format!("SELECT {function}(DISTINCT {column}) FROM v{tail}");
        }
        let [left, right] = self.alike();
        let order = match self.prng.below(3) {
            0 => left.clone(),
            1 => right,
            _ => self.of(NUMBERS).to_owned(),
        };
        format!("SELECT DISTINCT {left} AS x, g FROM v ORDER BY {order}, g, 1")
    }

    fn prepared(&mut self) -> Vec<String> {
        let column = self.of(NUMBERS);
        let query = match self.prng.below(4) {
            0 => format!("SELECT SUM({column}*?) AS x, SUM({column}*?) AS y FROM v"),
            1 => format!("SELECT {column}+? AS x FROM v GROUP BY {column}+? ORDER BY 1"),
            2 => format!("SELECT g FROM v GROUP BY g HAVING SUM({column}+?) > SUM({column}+?) ORDER BY g"),
            _ => format!("SELECT {column}+? AS x FROM v GROUP BY x HAVING x > ? ORDER BY x"),
        };
        let (first, second) = (self.of(CONSTANTS), self.of(CONSTANTS));
        vec![
            format!("SET @p = {first}, @q = {second}"),
            format!("PREPARE s FROM '{query}'"),
            "EXECUTE s USING @p, @q".to_owned(),
            "EXECUTE s USING @q, @p".to_owned(),
        ]
    }

    fn dependence(&mut self) -> String {
        let from = self.of(&[
            "v AS a",
            "v AS a JOIN v AS b ON a.id = b.id",
            "v AS a LEFT JOIN v AS b ON a.id = b.id",
            "v AS a LEFT JOIN v AS b ON a.id = b.id AND a.g = 1",
            "v AS a LEFT JOIN v AS b ON a.g = b.id",
            "v AS a JOIN (SELECT id, g, g + 1 AS c_tiny FROM v) AS b ON a.id = b.id",
            "v AS a JOIN (SELECT g AS id, g, MAX(c_tiny) AS c_tiny FROM v GROUP BY g) AS b ON a.g = b.g",
        ]);
        let tables: &[&str] = if from.contains(" b ON") { &["a", "b"] } else { &["a"] };
        let column =
            |asker: &mut Self| format!("{}.{}", asker.prng.pick(tables), asker.of(&["id", "g", "c_tiny"]));
        let (shown, grouped) = (column(self), column(self));
        let filter = match self.prng.below(4) {
            0 => format!(" WHERE {} = 1", column(self)),
            1 => format!(" WHERE {} = {}", column(self), column(self)),
            _ => String::new(),
        };
        let group = match self.prng.below(4) {
            0 => String::new(),
            1 => format!(" GROUP BY {grouped}, {}", column(self)),
            _ => format!(" GROUP BY {grouped}"),
        };
        format!("SELECT {shown} AS x, COUNT(*) FROM {from}{filter}{group} ORDER BY 1, 2")
    }

    fn nested(&mut self) -> String {
        let function = self.of(SUMS);
        let (column, constant) = (self.of(NUMBERS), self.of(CONSTANTS));
        let inner = match self.prng.below(5) {
            0 => format!("(SELECT {function}(a.{column}))"),
            1 => format!("(SELECT MIN(b.id) FROM v AS b WHERE b.id <= {function}(a.{column}))"),
            2 => "(SELECT MIN(b.id) FROM v AS b WHERE b.id = COUNT(*))".to_owned(),
            3 => format!("(SELECT {function}(a.{column} + b.id) FROM v AS b WHERE b.g = 1)"),
            _ => format!("(SELECT COUNT(*) FROM v AS b HAVING COUNT(*) > {function}(a.{column}))"),
        };
        match self.prng.below(4) {
            0 => format!("SELECT {inner} AS x FROM v AS a ORDER BY 1"),
            1 => format!("SELECT a.g, {inner} AS x FROM v AS a GROUP BY a.g ORDER BY a.g"),
            2 => format!("SELECT a.g FROM v AS a GROUP BY a.g HAVING {inner} > {constant} ORDER BY a.g"),
            _ => format!("SELECT a.g FROM v AS a WHERE {inner} > {constant} ORDER BY a.g"),
        }
    }
}
