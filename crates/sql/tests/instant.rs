//! Columns that come, go and move under rows, at random: whatever versions rows have, every reader finds what
//! a model of the table has; a snapshot from before reads old versions of rows, or is told that it cannot.
//! `TEST_SEED` repeats a run.

mod client;

use std::collections::BTreeMap;
use std::sync::Arc;

use client::{Answer, Bench, Client, processor};
use palisade_base::prng::{Prng, test_seed};

/// Names of columns: few, so that one that was dropped comes again.
const NAMES: [&str; 9] = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
/// Members of an ENUM: the first so many.
const MEMBERS: [&str; 8] = ["red", "green", "blue", "cyan", "pink", "grey", "gold", "teal"];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Int,
    Decimal,
    VarChar(u32),
    Enum(usize),
}

#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: Kind,
    nullable: bool,
    default: Option<String>,
}

/// A table as it should be: what `SELECT *` shows.
#[derive(Debug, Clone, Default)]
struct Model {
    columns: Vec<Column>,
    rows: BTreeMap<i64, Vec<String>>,
    /// Columns that have an index, which is called as they were when it was made.
    indexes: Vec<(String, String)>,
}

impl Kind {
    fn any(prng: &mut Prng) -> Kind {
        match prng.below(4) {
            0 => Kind::Int,
            1 => Kind::Decimal,
            2 => Kind::VarChar(20 + prng.below(300) as u32),
            _ => Kind::Enum(2 + prng.below(3) as usize),
        }
    }

    fn declaration(self) -> String {
        match self {
            Kind::Int => "INT".to_owned(),
            Kind::Decimal => "DECIMAL(12,2)".to_owned(),
            Kind::VarChar(length) => format!("VARCHAR({length})"),
            Kind::Enum(members) => {
                let quoted: Vec<_> = MEMBERS[..members].iter().map(|member| format!("'{member}'")).collect();
                format!("ENUM({})", quoted.join(","))
            }
        }
    }

    /// A value as it is shown.
    fn value(self, prng: &mut Prng) -> String {
        match self {
            Kind::Int => (prng.below(40) as i64 - 20).to_string(),
            Kind::Decimal => format!("{}.{:02}", prng.below(1000), prng.below(100)),
            Kind::VarChar(_) => "xyz"[..prng.below(4) as usize].repeat(1 + prng.below(4) as usize),
            Kind::Enum(members) => MEMBERS[prng.below(members as u64) as usize].to_owned(),
        }
    }

    /// What a NOT NULL column without a default has in rows that are there.
    fn implicit(self) -> String {
        match self {
            Kind::Int => "0".to_owned(),
            Kind::Decimal => "0.00".to_owned(),
            Kind::VarChar(_) => String::new(),
            Kind::Enum(_) => MEMBERS[0].to_owned(),
        }
    }
}

fn literal(value: &str) -> String {
    if value == "NULL" { value.to_owned() } else { format!("'{value}'") }
}

impl Column {
    fn any(prng: &mut Prng, name: &str) -> Column {
        let kind = Kind::any(prng);
        let default = prng.one_in(2).then(|| kind.value(prng));
        Column { name: name.to_owned(), kind, nullable: !prng.one_in(3), default }
    }

    fn declaration(&self) -> String {
        let default =
            self.default.as_ref().map_or(String::new(), |value| format!(" DEFAULT {}", literal(value)));
        let null = if self.nullable { "" } else { " NOT NULL" };
        format!("{} {}{null}{default}", self.name, self.kind.declaration())
    }

    /// What rows get that say nothing of it.
    fn given(&self) -> Option<String> {
        self.default.clone().or_else(|| self.nullable.then(|| "NULL".to_owned()))
    }

    fn value(&self, prng: &mut Prng) -> String {
        if self.nullable && prng.one_in(5) { "NULL".to_owned() } else { self.kind.value(prng) }
    }
}

/// A change of the columns.
#[derive(Debug, Clone)]
enum Change {
    Add { column: Column, at: usize },
    Drop(usize),
    Define { place: usize, column: Column },
    Move { from: usize, to: usize },
}

impl Change {
    /// Whether older snapshots cannot read the table any more, as in MySQL.
    fn comes_or_goes(&self) -> bool {
        matches!(self, Change::Add { .. } | Change::Drop(_))
    }

    fn takes_null(&self, before: &Model) -> bool {
        let Change::Define { place, column } = self else { return false };
        before.columns.get(*place).is_some_and(|known| known.nullable != column.nullable)
    }
}

impl Model {
    /// Does it with the columns and every row.
    fn change(&mut self, change: &Change) {
        match change.clone() {
            Change::Add { column, at } => {
                let value = column.given().unwrap_or_else(|| column.kind.implicit());
                self.rows.values_mut().for_each(|row| row.insert(at, value.clone()));
                self.columns.insert(at, column);
            }
            Change::Drop(place) => {
                let gone = self.columns.remove(place);
                self.rows.values_mut().for_each(|row| drop(row.remove(place)));
                self.indexes.retain(|(column, _)| *column != gone.name);
            }
            Change::Define { place, column } => {
                for (known, _) in &mut self.indexes {
                    if *known == self.columns[place].name {
                        known.clone_from(&column.name);
                    }
                }
                self.columns[place] = column;
            }
            Change::Move { from, to } => {
                let column = self.columns.remove(from);
                self.columns.insert(to, column);
                for row in self.rows.values_mut() {
                    let value = row.remove(from);
                    row.insert(to, value);
                }
            }
        }
    }

    /// Where a column goes: the id, which is the first, stays the first or becomes another one.
    fn position(&self, at: usize, among: &[&Column]) -> String {
        match at {
            0 => "FIRST".to_owned(),
            at => format!("AFTER {}", among[at - 1].name),
        }
    }

    fn free_name(&self, prng: &mut Prng) -> Option<&'static str> {
        let free: Vec<_> =
            NAMES.iter().filter(|name| self.columns.iter().all(|column| column.name != **name)).collect();
        (!free.is_empty()).then(|| *free[prng.below(free.len() as u64) as usize])
    }

    fn any_column(&self, prng: &mut Prng) -> Option<usize> {
        let others: Vec<_> =
            (0..self.columns.len()).filter(|place| self.columns[*place].name != "id").collect();
        (!others.is_empty()).then(|| others[prng.below(others.len() as u64) as usize])
    }

    /// A change, and how it is asked for.
    fn any_change(&self, prng: &mut Prng) -> Option<(Change, String)> {
        let others = |place: Option<usize>| -> Vec<&Column> {
            let all = self.columns.iter().enumerate();
            all.filter(|(number, _)| Some(*number) != place).map(|(_, column)| column).collect()
        };
        match prng.below(10) {
            0..4 => {
                let name = self.free_name(prng)?;
                let column = Column::any(prng, name);
                let at = prng.below(self.columns.len() as u64 + 1) as usize;
                let mut text = format!("ADD COLUMN {}", column.declaration());
                if at < self.columns.len() {
                    text += &format!(" {}", self.position(at, &others(None)));
                }
                Some((Change::Add { column, at }, text))
            }
            4..6 => {
                let place = self.any_column(prng)?;
                Some((Change::Drop(place), format!("DROP COLUMN {}", self.columns[place].name)))
            }
            6 => {
                let place = self.any_column(prng)?;
                let to = prng.below(self.columns.len() as u64) as usize;
                let position = self.position(to, &others(Some(place)));
                let text = format!("MODIFY {} {position}", self.columns[place].declaration());
                Some((Change::Move { from: place, to }, text))
            }
            7 => {
                let place = self.any_column(prng)?;
                let mut column = self.columns[place].clone();
                column.name = self.free_name(prng)?.to_owned();
                let text = format!("RENAME COLUMN {} TO {}", self.columns[place].name, column.name);
                Some((Change::Define { place, column }, text))
            }
            8 => {
                let place = self.any_column(prng)?;
                let mut column = self.columns[place].clone();
                column.default = Some(column.kind.value(prng));
                let default = literal(column.default.as_deref()?);
                let text = format!("ALTER COLUMN {} SET DEFAULT {default}", column.name);
                Some((Change::Define { place, column }, text))
            }
            _ => {
                let place = self.any_column(prng)?;
                let mut column = self.columns[place].clone();
                column.kind = match column.kind {
                    Kind::VarChar(length) => Kind::VarChar((length + prng.below(100) as u32).min(700)),
                    Kind::Enum(members) => Kind::Enum((members + 1).min(MEMBERS.len())),
                    kind => kind,
                };
                column.nullable = column.nullable || prng.one_in(2);
                let text = format!("MODIFY {}", column.declaration());
                Some((Change::Define { place, column }, text))
            }
        }
    }

    /// What `SELECT *` gives.
    fn shown(&self) -> Vec<Vec<String>> {
        self.rows.values().cloned().collect()
    }
}

/// A table, its model, and a snapshot that another session may have of it.
struct World {
    prng: Prng,
    client: Client,
    other: Client,
    model: Model,
    /// The model as the snapshot sees it.
    snapshot: Option<Model>,
    /// Columns came or went since, or indexes, or rows were written anew: the snapshot may be refused.
    is_stale: bool,
    said: Vec<String>,
    next_id: i64,
}

impl World {
    fn new(seed: u64) -> World {
        let sql = processor(Arc::new(Bench::default()));
        let (mut client, mut other) = (Client::new(&sql, 1), Client::new(&sql, 2));
        client.run("CREATE DATABASE d");
        client.run("USE d");
        other.run("USE d");
        let mut model = Model::default();
        let id = Column { name: "id".to_owned(), kind: Kind::Int, nullable: false, default: None };
        model.columns.push(id);
        let mut world = World {
            prng: Prng::new(seed),
            client,
            other,
            model,
            snapshot: None,
            is_stale: false,
            said: Vec::new(),
            next_id: 0,
        };
        world.say("CREATE TABLE t (id INT NOT NULL PRIMARY KEY)");
        world
    }

    fn say(&mut self, text: &str) -> Answer {
        self.said.push(text.to_owned());
        match self.client.answer(text) {
            Ok(answer) => answer,
            Err(error) => self.fail(&format!("{error}")),
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}, after\n{};", self.said.join(";\n"))
    }

    fn rows(&mut self, text: &str) -> Vec<Vec<String>> {
        match self.say(text) {
            Answer::Rows(rows) => rows,
            Answer::Affected(_) => self.fail("no rows"),
        }
    }

    /// One change or two in a statement.
    fn alter(&mut self) {
        let (mut texts, mut changed) = (Vec::new(), self.model.clone());
        let mut changes = Vec::new();
        let (before, count) = (self.model.clone(), 1 + self.prng.below(5) / 3);
        let mut touched: Vec<String> = Vec::new();
        for _ in 0..count {
            let Some((change, text)) = changed.any_change(&mut self.prng) else { continue };
            // A statement calls columns by the names from before it, each once; moves are about new names.
            let subject = match &change {
                Change::Add { column, .. } => column.name.clone(),
                Change::Drop(place) | Change::Define { place, .. } => changed.columns[*place].name.clone(),
                Change::Move { from, .. } => changed.columns[*from].name.clone(),
            };
            let new = match &change {
                Change::Define { column, .. } => column.name.clone(),
                _ => subject.clone(),
            };
            // Two of a statement are additions at the end and drops.
            let is_simple = |text: &String| {
                (text.starts_with("ADD") || text.starts_with("DROP"))
                    && !text.contains(" AFTER ")
                    && !text.ends_with(" FIRST")
            };
            let fits = texts.is_empty() || is_simple(&text) && texts.iter().all(is_simple);
            let is_known = before.columns.iter().any(|column| column.name == subject);
            let is_new = matches!(change, Change::Add { .. });
            if !fits || touched.contains(&subject) || is_known == is_new {
                continue;
            }
            touched.extend([subject, new]);
            changed.change(&change);
            changes.push(change);
            texts.push(text);
        }
        if texts.is_empty() {
            return;
        }
        self.say(&format!("ALTER TABLE t {}", texts.join(", ")));
        self.model = changed;
        // A column of an index that may be NULL from now on has its table written anew.
        self.is_stale |= changes.iter().any(|change| change.comes_or_goes() || change.takes_null(&before));
        if let Some(snapshot) = &mut self.snapshot {
            changes.iter().for_each(|change| snapshot.change(change));
        }
    }

    fn index(&mut self) {
        if let Some(number) =
            self.prng.one_in(2).then_some(self.model.indexes.len()).filter(|count| *count > 0)
        {
            let (_, name) = self.model.indexes.remove(self.prng.below(number as u64) as usize);
            self.say(&format!("ALTER TABLE t DROP INDEX {name}"));
        } else if let Some(place) = self.model.any_column(&mut self.prng) {
            let column = self.model.columns[place].name.clone();
            let name = format!("k{}", self.said.len());
            if self.model.indexes.iter().any(|(known, _)| *known == column) {
                return;
            }
            self.say(&format!("ALTER TABLE t ADD INDEX {name} ({column})"));
            self.model.indexes.push((column, name));
        }
        self.is_stale = true;
    }

    fn rebuild(&mut self) {
        let how = ["FORCE", "FORCE, ALGORITHM=COPY", "ENGINE=InnoDB"][self.prng.below(3) as usize];
        self.say(&format!("ALTER TABLE t {how}"));
        let versions = "SELECT TOTAL_ROW_VERSIONS FROM information_schema.INNODB_TABLES WHERE NAME = 'd/t'";
        assert_eq!(self.rows(versions), [["0"]]);
        self.is_stale = true;
    }

    fn insert(&mut self) {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        let mut row = Vec::new();
        self.next_id += 1;
        let id = self.next_id;
        for column in &self.model.columns {
            if column.name == "id" {
                row.push(id.to_string());
            } else if let Some(given) = column.given().filter(|_| self.prng.one_in(3)) {
                row.push(given);
                continue;
            } else {
                row.push(column.value(&mut self.prng));
            }
            names.push(column.name.clone());
            values.push(row.last().map(|value| literal(value)).unwrap_or_default());
        }
        self.say(&format!("INSERT INTO t ({}) VALUES ({})", names.join(","), values.join(",")));
        self.model.rows.insert(id, row);
    }

    fn any_id(&mut self) -> Option<i64> {
        let count = self.model.rows.len() as u64;
        let number = (count > 0).then(|| self.prng.below(count) as usize)?;
        self.model.rows.keys().nth(number).copied()
    }

    fn update(&mut self) {
        let (Some(id), Some(place)) = (self.any_id(), self.model.any_column(&mut self.prng)) else { return };
        let value = self.model.columns[place].value(&mut self.prng);
        let name = self.model.columns[place].name.clone();
        self.say("BEGIN");
        self.say(&format!("UPDATE t SET {name} = {} WHERE id = {id}", literal(&value)));
        if self.prng.one_in(4) {
            self.say("ROLLBACK");
            return;
        }
        self.say("COMMIT");
        if let Some(row) = self.model.rows.get_mut(&id) {
            row[place] = value;
        }
    }

    fn delete(&mut self) {
        let Some(id) = self.any_id() else { return };
        self.say(&format!("DELETE FROM t WHERE id = {id}"));
        self.model.rows.remove(&id);
    }

    /// The whole table, one column by the batch, and one by its index.
    fn check(&mut self) {
        let shown = self.rows("SELECT * FROM t ORDER BY id");
        if shown != self.model.shown() {
            self.fail(&format!("{shown:?}\nis not\n{:?}", self.model.shown()));
        }
        let Some(place) = self.model.any_column(&mut self.prng) else { return };
        let column = self.model.columns[place].clone();
        let name = &column.name;
        let mut groups: BTreeMap<String, usize> = BTreeMap::new();
        self.model.rows.values().for_each(|row| *groups.entry(row[place].clone()).or_default() += 1);
        let counted = self.rows(&format!("SELECT {name}, COUNT(*) FROM t GROUP BY {name}"));
        let counted: BTreeMap<_, _> =
            counted.into_iter().map(|row| (row[0].clone(), row[1].parse().unwrap_or(0))).collect();
        if counted != groups {
            self.fail(&format!("{name}: {counted:?} is not {groups:?}"));
        }
        let Some(id) = self.any_id() else { return };
        let value = self.model.rows[&id][place].clone();
        let text = match value.as_str() {
            "NULL" => format!("{name} IS NULL"),
            value => format!("{name} = '{value}'"),
        };
        let found = self.rows(&format!("SELECT id FROM t WHERE {text} ORDER BY id"));
        let alike = self.model.rows.iter().filter(|(_, row)| row[place] == value);
        let alike: Vec<_> = alike.map(|(id, _)| vec![id.to_string()]).collect();
        if found != alike {
            self.fail(&format!("{text}: {found:?} is not {alike:?}"));
        }
    }

    /// Opens a snapshot, or reads by the one that is there.
    fn look_back(&mut self) {
        let Some(snapshot) = self.snapshot.take() else {
            self.said.push("(other) START TRANSACTION WITH CONSISTENT SNAPSHOT".to_owned());
            self.other.run("START TRANSACTION WITH CONSISTENT SNAPSHOT");
            (self.snapshot, self.is_stale) = (Some(self.model.clone()), false);
            return;
        };
        self.said.push("(other) SELECT * FROM t ORDER BY id".to_owned());
        let found = self.other.answer("SELECT * FROM t ORDER BY id");
        self.other.run("COMMIT");
        match found {
            Ok(Answer::Rows(rows)) if rows == snapshot.shown() => {}
            Err(error) if self.is_stale && error.to_string().contains("definition has changed") => {}
            found => self.fail(&format!("{found:?} is not {:?}", snapshot.shown())),
        }
    }
}

#[test]
fn columns_come_and_go_under_rows_and_snapshots() {
    let first = test_seed(1530);
    for seed in first..first + 40 {
        let mut world = World::new(seed);
        world.said.push(format!("-- seed {seed}"));
        for _ in 0..120 {
            match world.prng.below(20) {
                0..5 => world.alter(),
                5..11 => world.insert(),
                11..15 => world.update(),
                15 => world.delete(),
                16 if world.prng.one_in(4) => world.rebuild(),
                17 if world.prng.one_in(2) => world.index(),
                _ => world.look_back(),
            }
            world.check();
        }
        let checked = world.rows("CHECK TABLE t");
        assert_eq!(checked.first().map(|row| row[3].as_str()), Some("OK"), "seed {seed}");
    }
}

/// No more versions than in MySQL: the next statement writes the rows anew, or is refused.
#[test]
fn rows_have_so_many_versions_and_no_more() {
    let sql = processor(Arc::new(Bench::default()));
    let mut client = Client::new(&sql, 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run("CREATE TABLE t (id INT PRIMARY KEY)");
    client.run("INSERT INTO t VALUES (1)");
    let versions = "SELECT TOTAL_ROW_VERSIONS FROM information_schema.INNODB_TABLES WHERE NAME = 'd/t'";
    for number in 1..=255 {
        let change =
            if number % 2 == 1 { format!("ADD a INT DEFAULT {number}") } else { "DROP a".to_owned() };
        assert_eq!(client.run(&format!("ALTER TABLE t {change}, ALGORITHM=INSTANT")), "0 affected");
        assert_eq!(client.run(versions), number.to_string());
    }
    let refused = client.run("ALTER TABLE t DROP a, ALGORITHM=INSTANT");
    assert!(refused.contains("Maximum row versions reached for table d/t"), "{refused}");
    assert_eq!(client.run("SELECT * FROM t"), "1 255");
    assert_eq!(client.run("ALTER TABLE t COMMENT 'x', ALTER a SET DEFAULT 3"), "0 affected");
    assert_eq!(client.run(versions), "255");
    assert_eq!(client.run("ALTER TABLE t DROP a"), "0 affected");
    assert_eq!(client.run(versions), "0");
    assert_eq!(client.run("SELECT * FROM t"), "1");
}
