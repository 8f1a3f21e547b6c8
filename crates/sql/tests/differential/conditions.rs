//! Random conditions over the columns in scope.

use super::domain::{Family, KINDS};
use super::statement::{Condition, Statement};
use super::tables::Tables;
use palisade_base::prng::Prng;

/// A table in scope: its alias and its number.
#[derive(Debug, Clone, Copy)]
pub struct Source {
    pub alias: &'static str,
    pub table: usize,
}

/// A column as a statement names it, and its kind.
#[derive(Debug, Clone)]
pub struct Named {
    pub name: String,
    pub kind: usize,
}

const COMPARISONS: &[&str] = &[" = ", " = ", " <=> ", " < ", " <= ", " > ", " >= ", " <> "];
const INNER: &[&str] = &["x", "y", "z"];

/// What makes conditions.
pub struct Conditions<'a> {
    pub prng: &'a mut Prng,
    pub tables: &'a Tables,
    /// How many subqueries may still be nested.
    pub depth: usize,
}

impl Conditions<'_> {
    pub fn column(&mut self, sources: &[Source]) -> Named {
        let source = *self.prng.pick(sources);
        let table = &self.tables.all[source.table];
        // Columns of indexes more often than others.
        let column = match table.keys.is_empty() || self.prng.one_in(3) {
            true => self.prng.below(table.columns.len() as u64) as usize,
            false => {
                let key = self.prng.pick(&table.keys);
                match self.prng.pick(&key.parts).column {
                    Some(column) => column,
                    None => return Named { name: format!("{}.id", source.alias), kind: 4 },
                }
            }
        };
        Named { name: format!("{}.c{column}", source.alias), kind: table.columns[column].kind }
    }

    pub fn tree(&mut self, sources: &[Source], size: u64) -> Condition {
        if size <= 1 {
            let leaf = self.leaf(sources);
            return match self.prng.one_in(8) {
                true => Condition::Not(Box::new(Condition::Leaf(leaf))),
                false => Condition::Leaf(leaf),
            };
        }
        let parts = 2 + self.prng.below(2);
        let operator = *self.prng.pick(&[" AND ", " AND ", " AND ", " OR ", " OR ", " XOR "]);
        let parts = (0..parts).map(|_| self.tree(sources, size / parts)).collect();
        let joined = Condition::Joined(operator, parts);
        if self.prng.one_in(8) { Condition::Not(Box::new(joined)) } else { joined }
    }

    /// A condition of random size.
    pub fn any(&mut self, sources: &[Source]) -> Condition {
        let size = *self.prng.pick(&[1, 2, 2, 3, 4, 6, 9]);
        self.tree(sources, size)
    }

    fn leaf(&mut self, sources: &[Source]) -> Statement {
        let column = self.column(sources);
        let name = column.name.clone();
        let kind = column.kind;
        let negation = if self.prng.one_in(3) { "NOT " } else { "" };
        match self.prng.below(32) {
            0..=8 => {
                let comparison = *self.prng.pick(COMPARISONS);
                Statement::text(name + comparison).constant(self.prng, kind)
            }
            9 => {
                let comparison = *self.prng.pick(COMPARISONS);
                Statement::default().constant(self.prng, kind).and(comparison).and(name)
            }
            10..=12 => Statement::text(format!("{name} {negation}BETWEEN "))
                .constant(self.prng, kind)
                .and(" AND ")
                .constant(self.prng, kind),
            13..=15 => {
                let mut list = Statement::text(format!("{name} {negation}IN ("));
                for position in 0..1 + self.prng.below(5) {
                    list = list.and(if position > 0 { ", " } else { "" }).constant(self.prng, kind);
                }
                list.and(")")
            }
            16 | 17 => Statement::text(format!("{name} IS {negation}NULL")),
            18 => self.like(&name, kind, negation),
            19 | 20 => self.rows(sources, &column, negation),
            21 => {
                let other = self.column(sources);
                let comparison = *self.prng.pick(COMPARISONS);
                Statement::text(format!("{name}{comparison}{}", other.name))
            }
            22 | 23 => self.computed(sources, &column),
            24 => {
                let truth = *self.prng.pick(&["", " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE"]);
                Statement::text(name + truth)
            }
            25 => Statement::text(*self.prng.pick(&["TRUE", "1 = 1", "0", "NULL", "1 = 0", "NULL IS NULL"])),
            _ if self.depth == 0 => Statement::text(format!("{name} = ")).constant(self.prng, kind),
            _ => self.subquery(sources, &column, negation),
        }
    }

    fn like(&mut self, name: &str, kind: usize, negation: &str) -> Statement {
        let pattern = *self
            .prng
            .pick(&["a%", "A%", "a", "ab%", "%b", "á%", "_b%", "a\\_%", "a_", "", "%", "1%", "2020-01%"]);
        let head = Statement::text(format!("{name} {negation}LIKE "));
        if KINDS[kind].family == Family::Text && self.prng.one_in(4) {
            return head.constant(self.prng, kind);
        }
        head.and(format!("'{pattern}'"))
    }

    /// Comparisons of rows.
    fn rows(&mut self, sources: &[Source], first: &Named, negation: &str) -> Statement {
        let mut columns = vec![first.clone(), self.column(sources)];
        if self.prng.one_in(4) {
            columns.push(self.column(sources));
        }
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        let head = Statement::text(format!("({})", names.join(", ")));
        let row = |prng: &mut Prng| {
            let mut row = Statement::text("(");
            for (position, column) in columns.iter().enumerate() {
                row = row.and(if position > 0 { ", " } else { "" }).constant(prng, column.kind);
            }
            row.and(")")
        };
        if self.prng.one_in(3) {
            let mut list = head.and(format!(" {negation}IN ("));
            for position in 0..1 + self.prng.below(3) {
                list = list.and(if position > 0 { ", " } else { "" }).append(row(self.prng));
            }
            return list.and(")");
        }
        let comparison = *self.prng.pick(COMPARISONS);
        head.and(comparison).append(row(self.prng))
    }

    /// Comparisons with something computed on one side.
    fn computed(&mut self, sources: &[Source], column: &Named) -> Statement {
        let Named { name, kind } = column;
        let comparison = *self.prng.pick(COMPARISONS);
        let numeric = matches!(KINDS[*kind].family, Family::Integer | Family::Decimal);
        let small = 1 + self.prng.below(3);
        let prng = &mut *self.prng;
        match prng.below(9) {
            0 if numeric => Statement::text(format!("{name} + {small}{comparison}")).constant(prng, *kind),
            1 if numeric => Statement::text(format!("{name} % {}{comparison}1", small + 1)),
            2 if numeric => Statement::text(format!("-{name}{comparison}")).constant(prng, *kind),
            3 if numeric => Statement::text(format!("{name}{comparison}"))
                .constant(prng, *kind)
                .and(format!(" - {small}")),
            0 | 4 => Statement::text(format!("COALESCE({name}, "))
                .constant(prng, *kind)
                .and(format!("){comparison}"))
                .constant(prng, *kind),
            1 | 5 => Statement::text(format!("{name}{comparison}NULLIF("))
                .constant(prng, *kind)
                .and(", ")
                .constant(prng, *kind)
                .and(")"),
            2 | 6 => Statement::text(format!("CAST({name} AS CHAR){comparison}")).constant(prng, *kind),
            3 | 7 => {
                let other = self.column(sources);
                Statement::text(format!("IF({} IS NULL, {name}, ", other.name))
                    .constant(self.prng, *kind)
                    .and(format!("){comparison}"))
                    .constant(self.prng, *kind)
            }
            _ => {
                let other = self.column(sources);
                Statement::text(format!("{name}{comparison}CASE WHEN {} > ", other.name))
                    .constant(self.prng, other.kind)
                    .and(" THEN ")
                    .constant(self.prng, *kind)
                    .and(format!(" ELSE {} END", other.name))
            }
        }
    }

    fn subquery(&mut self, sources: &[Source], column: &Named, negation: &str) -> Statement {
        let alias = INNER[INNER.len() - self.depth];
        let inner = Source { alias, table: self.prng.below(self.tables.all.len() as u64) as usize };
        self.depth -= 1;
        let mut scope = vec![inner];
        if self.prng.one_in(3) {
            scope.extend(sources);
        }
        let chosen = self.column(&[inner]);
        let filter = self.tree(&scope, 2);
        let correlation = self.prng.one_in(3).then(|| {
            let (left, right) = (self.column(&[inner]), self.column(sources));
            format!("{} = {} AND ", left.name, right.name)
        });
        self.depth += 1;
        let from = |item: String| {
            Statement::text(format!("(SELECT {item} FROM "))
                .table(inner.table)
                .and(format!(" {alias} WHERE {}(", correlation.clone().unwrap_or_default()))
                .condition(filter.clone())
                .and("))")
        };
        let name = &column.name;
        match self.prng.below(6) {
            0 | 1 => Statement::text(format!("{name} {negation}IN ")).append(from(chosen.name)),
            2 => Statement::text(format!("{negation}EXISTS ")).append(from("1".into())),
            3 => {
                let comparison = *self.prng.pick(&[" = ", " < ", " >= ", " <> "]);
                let quantifier = *self.prng.pick(&["ANY ", "ALL "]);
                Statement::text(format!("{name}{comparison}{quantifier}")).append(from(chosen.name))
            }
            4 => {
                let comparison = *self.prng.pick(COMPARISONS);
                let aggregate = *self.prng.pick(&["MIN", "MAX"]);
                // Which of the texts that are equal MIN gives is open; how many there are is not.
                let item = match KINDS[chosen.kind].family {
                    Family::Text => format!("COUNT({})", chosen.name),
                    _ => format!("{aggregate}({})", chosen.name),
                };
                Statement::text(format!("{name}{comparison}")).append(from(item))
            }
            _ => {
                let other = self.column(sources);
                let item = format!("{}, {}", chosen.name, chosen.name);
                Statement::text(format!("({name}, {}) {negation}IN ", other.name)).append(from(item))
            }
        }
    }
}
