//! Random tables: columns, keys, rows.

use palisade_base::prng::Prng;

use super::domain::{Family, KINDS};

/// The tables of a case.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    pub all: Vec<Table>,
}

#[derive(Debug, Clone)]
pub struct Table {
    pub columns: Vec<Column>,
    pub keys: Vec<Key>,
}

#[derive(Debug, Clone)]
pub struct Column {
    pub kind: usize,
    pub nullable: bool,
}

/// An index; the primary key is named PRIMARY.
#[derive(Debug, Clone)]
pub struct Key {
    pub name: String,
    pub unique: bool,
    pub parts: Vec<Part>,
}

#[derive(Debug, Clone)]
pub struct Part {
    /// Number of the column; `None` is `id`.
    pub column: Option<usize>,
    pub prefix: Option<u32>,
    pub descending: bool,
}

impl Table {
    pub fn random(prng: &mut Prng) -> Table {
        let width = 1 + prng.below(5) as usize;
        // Tables with several columns of one kind have more to compare.
        let favourite = prng.below(KINDS.len() as u64) as usize;
        let mut columns: Vec<Column> = (0..width)
            .map(|_| {
                let kind = match prng.below(4) {
                    0 => favourite,
                    1 => prng.below(8) as usize,
                    _ => prng.below(KINDS.len() as u64) as usize,
                };
                Column { kind, nullable: !prng.one_in(3) }
            })
            .collect();
        let mut keys = Vec::new();
        if !prng.one_in(4) {
            let parts = parts(prng, &columns, true);
            for part in &parts {
                if let Some(column) = part.column {
                    columns[column].nullable = false;
                }
            }
            keys.push(Key { name: "PRIMARY".into(), unique: true, parts });
        }
        let mut table = Table { columns, keys };
        for _ in 0..prng.below(4) {
            table.add_key(prng);
        }
        table
    }

    /// Adds an index that is not unique more often than not.
    pub fn add_key(&mut self, prng: &mut Prng) -> &Key {
        let unique = prng.one_in(4);
        let parts = parts(prng, &self.columns, unique);
        self.keys.push(Key { name: format!("k{}", self.keys.len()), unique, parts });
        self.keys.last().expect("one was added")
    }

    /// Declarations of the columns.
    pub fn columns(&self) -> String {
        let mut out = "id INT NOT NULL".to_owned();
        for (number, column) in self.columns.iter().enumerate() {
            let null = if column.nullable { "NULL" } else { "NOT NULL" };
            out += &format!(", c{number} {} {null}", KINDS[column.kind].declaration);
        }
        out
    }

    /// Values of a row.
    pub fn row(&self, prng: &mut Prng, id: usize) -> String {
        let mut out = id.to_string();
        for column in &self.columns {
            out += ", ";
            out += match column.nullable && prng.one_in(5) {
                true => "NULL",
                false => prng.pick::<&str>(KINDS[column.kind].values),
            };
        }
        out
    }
}

impl Key {
    pub fn declaration(&self) -> String {
        let kind = match (self.name.as_str(), self.unique) {
            ("PRIMARY", _) => "PRIMARY KEY".to_owned(),
            (name, true) => format!("UNIQUE KEY {name}"),
            (name, false) => format!("KEY {name}"),
        };
        let parts: Vec<String> = self
            .parts
            .iter()
            .map(|part| {
                let column = part.column.map_or_else(|| "id".to_owned(), |column| format!("c{column}"));
                let prefix = part.prefix.map(|length| format!("({length})")).unwrap_or_default();
                let order = if part.descending { " DESC" } else { "" };
                format!("{column}{prefix}{order}")
            })
            .collect();
        format!("{kind} ({})", parts.join(", "))
    }
}

/// Parts of a key; those of a unique one mostly end with what makes rows distinct.
fn parts(prng: &mut Prng, columns: &[Column], unique: bool) -> Vec<Part> {
    let mut numbers: Vec<Option<usize>> = Vec::new();
    for _ in 0..1 + prng.below(3) {
        let column = prng.below(columns.len() as u64) as usize;
        if !numbers.contains(&Some(column)) {
            numbers.push(Some(column));
        }
    }
    if unique && !prng.one_in(3) || prng.one_in(10) {
        let at = prng.below(numbers.len() as u64 + 1) as usize;
        let at = if prng.one_in(3) { at } else { numbers.len() };
        numbers.insert(at, None);
    }
    numbers
        .into_iter()
        .map(|column| {
            let kind = column.map(|column| &KINDS[columns[column].kind]);
            let prefix =
                kind.filter(|kind| !kind.prefixes.is_empty() && (kind.only_prefix || prng.one_in(4)));
            let prefix = prefix.map(|kind| *prng.pick(kind.prefixes));
            Part { column, prefix, descending: prng.one_in(4) }
        })
        .collect()
}

/// Whether SUM of the kind is the same in any order of rows.
pub fn sums(kind: usize) -> bool {
    matches!(KINDS[kind].family, Family::Integer | Family::Decimal)
}
