//! Random scripts: tables, rows, and then queries and changes in and out of transactions.

use palisade_base::prng::Prng;

use super::conditions::{Conditions, Source};
use super::domain::{Family, KINDS};
use super::statement::{Condition, Statement};
use super::tables::{Table, Tables, sums};

/// A query whose answers from the twins must be equal.
#[derive(Debug, Clone)]
pub struct Query {
    pub statement: Statement,
    /// Rows come in an order that says which is next.
    pub ordered: bool,
    /// Of values that are equal any may be shown.
    pub folded: bool,
    /// Executed with its constants as parameters.
    pub prepared: bool,
    /// Asked by the session that only reads.
    pub by_reader: bool,
}

/// A step of a script.
#[derive(Debug, Clone)]
pub enum Step {
    /// Creates a table and its twin.
    Create {
        table: usize,
        columns: String,
        keys: Vec<String>,
    },
    /// Adds a row to an indexed table, if its keys allow it.
    Insert {
        table: usize,
        values: String,
    },
    /// Gives the twin the rows of the table.
    Copy {
        table: usize,
    },
    /// Changes a table and its twin.
    Change {
        table: usize,
        statement: Statement,
    },
    Query(Query),
    /// Rows where a condition is true, false and unknown are all rows.
    Partition {
        table: usize,
        condition: Condition,
    },
    /// BEGIN, COMMIT, ROLLBACK, savepoints.
    Control(&'static str),
    /// The session that only reads opens or ends a transaction.
    Reader(&'static str),
    /// Adds an index.
    Index {
        table: usize,
        key: String,
    },
}

const ALIASES: &[&str] = &["a", "b", "c"];
const ROWS: &[u64] = &[2, 8, 16, 30];

/// What makes a script.
pub struct Author {
    pub prng: Prng,
    tables: Tables,
}

impl Author {
    pub fn new(seed: u64) -> Author {
        Author { prng: Prng::new(seed), tables: Tables::default() }
    }

    /// A script of about so many queries and changes.
    pub fn script(mut self, length: u64) -> Vec<Step> {
        let mut steps = Vec::new();
        for number in 0..1 + self.prng.below(3) as usize {
            let table = Table::random(&mut self.prng);
            let keys = table.keys.iter().map(|key| key.declaration()).collect();
            steps.push(Step::Create { table: number, columns: table.columns(), keys });
            for id in 0..*self.prng.pick(ROWS) {
                let values = table.row(&mut self.prng, id as usize);
                steps.push(Step::Insert { table: number, values });
            }
            steps.push(Step::Copy { table: number });
            self.tables.all.push(table);
        }
        for _ in 0..length {
            self.step(&mut steps);
        }
        steps
    }

    fn step(&mut self, steps: &mut Vec<Step>) {
        match self.prng.below(40) {
            0 => steps.push(Step::Control("BEGIN")),
            1 => {
                let text = *self.prng.pick(&["COMMIT", "ROLLBACK", "ROLLBACK"]);
                steps.push(Step::Control(text));
            }
            2 => {
                let text =
                    *self.prng.pick(&["START TRANSACTION WITH CONSISTENT SNAPSHOT", "BEGIN", "ROLLBACK"]);
                steps.push(Step::Reader(text));
            }
            3 if self.prng.one_in(3) => {
                let table = self.any_table();
                let key = self.tables.all[table].add_key(&mut self.prng).declaration();
                steps.push(Step::Index { table, key });
            }
            3..=7 => {
                let table = self.any_table();
                let statement = self.change(table);
                steps.push(Step::Change { table, statement });
            }
            8..=10 => {
                let table = self.any_table();
                let condition = self.conditions().any(&[Source { alias: "a", table }]);
                steps.push(Step::Partition { table, condition });
            }
            _ => {
                let mut query = self.query();
                steps.push(Step::Query(query.clone()));
                // The plan is kept: it must do for other constants as well.
                for _ in 0..self.prng.below(3) {
                    query.statement.redraw(&mut self.prng);
                    steps.push(Step::Query(query.clone()));
                }
            }
        }
    }

    fn any_table(&mut self) -> usize {
        self.prng.below(self.tables.all.len() as u64) as usize
    }

    fn conditions(&mut self) -> Conditions<'_> {
        Conditions { prng: &mut self.prng, tables: &self.tables, depth: 2 }
    }

    /// A condition on rows of a join: the more tables, the fewer subqueries, which are run for each row.
    fn condition(&mut self, sources: &[Source]) -> Condition {
        let mut conditions = self.conditions();
        conditions.depth = 3usize.saturating_sub(sources.len());
        conditions.any(sources)
    }

    /// Which indexes may be used, if anything is said about it.
    fn hint(&mut self, table: usize) -> String {
        let keys = &self.tables.all[table].keys;
        if keys.is_empty() || self.prng.one_in(2) {
            return String::new();
        }
        let verb = *self.prng.pick(&["FORCE", "FORCE", "FORCE", "IGNORE", "USE"]);
        format!(" {verb} INDEX ({})", self.prng.pick(keys).name)
    }

    /// `FROM`'s list: one table, or some joined.
    fn from(&mut self) -> (Statement, Vec<Source>) {
        let count = *self.prng.pick(&[1, 1, 1, 2, 2, 3]);
        let mut sources: Vec<Source> = Vec::new();
        let mut from = Statement::default();
        for alias in &ALIASES[..count] {
            let source = Source { alias, table: self.any_table() };
            let hint = self.hint(source.table);
            let named = Statement::default().table(source.table).and(format!(" {alias}")).hint(hint);
            sources.push(source);
            if sources.len() == 1 {
                from = named;
                continue;
            }
            let join = *self.prng.pick(&[
                " JOIN ",
                " JOIN ",
                " LEFT JOIN ",
                " LEFT JOIN ",
                " RIGHT JOIN ",
                " STRAIGHT_JOIN ",
            ]);
            let mut conditions = self.conditions();
            conditions.depth = 0;
            let (left, right) = (
                conditions.column(&sources[..sources.len() - 1]),
                conditions.column(&sources[sources.len() - 1..]),
            );
            let comparison = *conditions.prng.pick(&[" = ", " = ", " = ", " = ", " <=> ", " < "]);
            from = from.and(join).append(named).and(format!(" ON {}{comparison}{}", left.name, right.name));
            if self.prng.one_in(3) {
                let mut conditions = self.conditions();
                conditions.depth = 2 - (sources.len() - 1);
                let condition = conditions.tree(&sources, 2);
                from = from.and(" AND (").condition(condition).and(")");
            }
        }
        (from, sources)
    }

    fn query(&mut self) -> Query {
        let (from, sources) = self.from();
        let condition = self.condition(&sources);
        let body = Statement::text(" FROM ").append(from).and(" WHERE ").condition(condition);
        let ids: Vec<String> = sources.iter().map(|source| format!("{}.id", source.alias)).collect();
        let ids = ids.join(", ");
        let mut query = Query {
            statement: Statement::default(),
            ordered: false,
            folded: false,
            prepared: self.prng.one_in(4),
            by_reader: self.prng.one_in(4),
        };
        query.statement = match self.prng.below(12) {
            0..=2 => Statement::text(format!("SELECT {ids}")).append(body),
            3..=5 => {
                query.ordered = true;
                // The reader would wait for what the writer has changed.
                let lock = *self.prng.pick(&["", "", "", " FOR UPDATE", " FOR SHARE"]);
                let lock = if query.by_reader { "" } else { lock };
                self.ordered(&sources, &ids, body).and(lock)
            }
            6 => {
                query.folded = true;
                let columns = self.columns(&sources, 3);
                Statement::text(format!("SELECT DISTINCT {columns}")).append(body)
            }
            7 | 8 => {
                query.folded = true;
                self.grouped(&sources, body)
            }
            9 => {
                query.folded = true;
                let aggregates = self.aggregates(&sources);
                Statement::text(format!("SELECT {aggregates}")).append(body)
            }
            10 => {
                query.folded = true;
                self.combined(&sources, body)
            }
            _ => {
                let column = self.conditions().column(&sources).name;
                let outer = Statement::text(format!(
                    "SELECT d.i, d.v FROM (SELECT {}.id i, {column} v",
                    sources[0].alias
                ));
                let limit =
                    if self.prng.one_in(2) { format!(" ORDER BY {ids} LIMIT 5") } else { String::new() };
                outer.append(body).and(limit).and(") d WHERE d.v IS NOT NULL OR d.i < 10")
            }
        };
        query
    }

    fn columns(&mut self, sources: &[Source], most: u64) -> String {
        let count = 1 + self.prng.below(most);
        let names: Vec<String> = (0..count).map(|_| self.conditions().column(sources).name).collect();
        names.join(", ")
    }

    fn ordered(&mut self, sources: &[Source], ids: &str, body: Statement) -> Statement {
        let mut keys = String::new();
        for _ in 0..self.prng.below(4) {
            let name = self.conditions().column(sources).name;
            let direction = *self.prng.pick(&["", " DESC"]);
            keys += &format!("{name}{direction}, ");
        }
        let direction = *self.prng.pick(&["", " DESC"]);
        let ids_in_order = ids.replace(',', &format!("{direction},"));
        let limit = match self.prng.below(3) {
            0 => String::new(),
            1 => format!(" LIMIT {}", self.prng.below(8)),
            _ => format!(" LIMIT {} OFFSET {}", 1 + self.prng.below(8), self.prng.below(8)),
        };
        let columns = self.columns(sources, 2);
        Statement::text(format!("SELECT {ids}, {columns}"))
            .append(body)
            .and(format!(" ORDER BY {keys}{ids_in_order}{direction}{limit}"))
    }

    fn aggregates(&mut self, sources: &[Source]) -> String {
        let mut all = Vec::new();
        for _ in 0..1 + self.prng.below(3) {
            let column = self.conditions().column(sources);
            let name = &column.name;
            all.push(match self.prng.below(6) {
                0 => "COUNT(*)".to_owned(),
                1 => format!("COUNT({name})"),
                2 => format!("COUNT(DISTINCT {name})"),
                3 if sums(column.kind) => format!("SUM({name})"),
                3 | 4 => format!("MIN({name})"),
                _ => format!("MAX({name})"),
            });
        }
        all.join(", ")
    }

    fn grouped(&mut self, sources: &[Source], body: Statement) -> Statement {
        let columns = self.columns(sources, 2);
        let aggregates = self.aggregates(sources);
        let first = columns.split(", ").next().expect("there is one");
        let alias = sources[0].alias;
        let having = *self.prng.pick(&["", "", " HAVING COUNT(*) > 1"]);
        let order = if self.prng.one_in(3) { format!(" ORDER BY {first}") } else { String::new() };
        let rollup = if self.prng.one_in(8) { " WITH ROLLUP" } else { "" };
        Statement::text(format!(
            "SELECT {columns}, {aggregates}, GROUP_CONCAT({alias}.id ORDER BY {alias}.id)"
        ))
        .append(body)
        .and(format!(" GROUP BY {columns}{rollup}{having}{order}"))
    }

    fn combined(&mut self, sources: &[Source], body: Statement) -> Statement {
        let column = self.conditions().column(sources);
        let operator = *self.prng.pick(&[" UNION ", " UNION ALL ", " UNION ", " EXCEPT ", " INTERSECT "]);
        let other = Source { alias: "e", table: self.any_table() };
        let same = |kind: usize| KINDS[kind].family == KINDS[column.kind].family;
        let mut second = self.conditions().column(&[other]);
        for _ in 0..5 {
            if same(second.kind) && KINDS[second.kind].family != Family::Float {
                break;
            }
            second = self.conditions().column(&[other]);
        }
        let condition = self.condition(&[other]);
        Statement::text(format!("SELECT {} v", column.name))
            .append(body)
            .and(format!("{operator}SELECT {} FROM ", second.name))
            .table(other.table)
            .and(" e WHERE ")
            .condition(condition)
    }

    fn change(&mut self, table: usize) -> Statement {
        let source = Source { alias: "a", table };
        let hint = self.hint(table);
        // A subquery must not read what is changed, so there is none.
        let condition = Conditions { prng: &mut self.prng, tables: &self.tables, depth: 0 }.any(&[source]);
        let limited = self.prng.one_in(4);
        let limit = match limited {
            true => {
                let direction = *self.prng.pick(&["", " DESC"]);
                format!(" ORDER BY a.id{direction} LIMIT {}", self.prng.below(6))
            }
            false => String::new(),
        };
        if self.prng.one_in(4) {
            return Statement::text("DELETE FROM ")
                .table(table)
                .and(" a")
                .and(" WHERE ")
                .condition(condition)
                .and(limit);
        }
        let mut update = Statement::text("UPDATE ").table(table).and(" a").hint(hint).and(" SET ");
        for position in 0..1 + self.prng.below(2) {
            let columns = &self.tables.all[table].columns;
            let column = self.prng.below(columns.len() as u64) as usize;
            let kind = columns[column].kind;
            update = update.and(if position > 0 { ", " } else { "" }).and(format!("a.c{column} = "));
            let other = self.prng.below(self.tables.all[table].columns.len() as u64);
            update = match self.prng.below(4) {
                0 if sums(kind) => update.and(format!("a.c{column} + 1")),
                1 => update.and(format!("a.c{other}")),
                _ => update.constant(&mut self.prng, kind),
            };
        }
        update.and(" WHERE ").condition(condition).and(limit)
    }
}
