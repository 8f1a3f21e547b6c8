//! What a planner decided of a plan: by which index each table is read, how tables are joined, and what is
//! sorted, grouped or kept on the way. It is taken of a plan ([`Outline::of`]), and another planning of the
//! same statement can be held to it: whatever departs from it is then [dear](crate::cost::EXCLUDED), so that
//! the plan is the same again where that is possible, and another one where it is not.
//!
//! ```text
//! SELECT ... FROM a JOIN b ON b.x = a.id WHERE a.k = 7
//!
//!   join loop (0) (1)
//!   read 0 ranges `k` `d`.`a`
//!   read 1 ranges `x` `d`.`b`
//! ```
//!
//! Tables are known by their slots, which are the same whenever a statement of the same text is bound, and
//! by their names. What an outline leaves out follows from the rest: conditions are decided where their
//! tables are in place, and ranges are those of the values that an execution has.
//!
//! Outlines are compared as what they are. Their text is for people, and for the table where they are kept.

use std::fmt::{self, Display};
use std::iter::Peekable;
use std::str::Chars;

use super::{Access, Merge, Operator, Plan};

/// Steps of an outline that is taken of a plan at most.
const MOST_STEPS: usize = 1000;

/// What was decided of a plan: its operators, those above before those below, its query before its
/// subqueries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outline {
    steps: Vec<Step>,
}

/// One operator.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A stored table is read.
    Read(Reading),
    /// Two sides of a block are joined.
    Join(Join),
    /// Something else is done, which is not decided alone but follows from what is below.
    Does(Kind),
}

/// How a stored table is read; several of the same slot are read one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Reading {
    slot: usize,
    way: Way,
    backward: bool,
    index: String,
    schema: String,
    table: String,
}

/// Which entries of an index are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// All of them.
    Whole,
    /// Those that conditions leave.
    Ranges,
    /// Some of each group.
    Loose,
    /// Ranges behind each of the values of the leading parts.
    Skip,
}

/// The slots on both sides of a join, in order, and how they are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Join {
    /// Slots of the left side.
    pub left: Vec<usize>,
    /// Slots of the right side.
    pub right: Vec<usize>,
    /// By a hash table that is made of the right side.
    pub hashes: bool,
}

/// What an operator does that reads no stored table and joins nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sort,
    Group,
    GroupInOrder,
    FirstOfEach,
    Distinct,
    Union,
    Window,
    Derived,
    Recursive,
    Nothing,
}

/// Each with its name.
const KINDS: [(Kind, &str); 10] = [
    (Kind::Sort, "sort"),
    (Kind::Group, "group"),
    (Kind::GroupInOrder, "group in order"),
    (Kind::FirstOfEach, "first of each"),
    (Kind::Distinct, "distinct"),
    (Kind::Union, "union"),
    (Kind::Window, "window"),
    (Kind::Derived, "derived"),
    (Kind::Recursive, "recursive"),
    (Kind::Nothing, "nothing"),
];

const WAYS: [(Way, &str); 4] =
    [(Way::Whole, "whole"), (Way::Ranges, "ranges"), (Way::Loose, "loose"), (Way::Skip, "skip")];

impl Way {
    /// Of a path.
    pub fn of(access: &Access) -> Way {
        match access {
            Access { loose: Some(_), .. } => Way::Loose,
            Access { skipped: 1.., .. } => Way::Skip,
            Access { equals, alternatives, .. } if equals.is_empty() && alternatives.is_empty() => Way::Whole,
            _ => Way::Ranges,
        }
    }
}

impl Outline {
    /// What was decided of a plan; `None` if that is nothing, if part of it is known to give no rows, or if
    /// it is too long to be kept.
    pub fn of(plan: &Plan) -> Option<Outline> {
        let mut outline = Outline::default();
        let subqueries = plan.subqueries.iter().flatten().map(|subquery| &**subquery);
        plan.query.iter().chain(subqueries).for_each(|query| outline.add(&query.root));
        let is_empty = |step: &Step| *step == Step::Does(Kind::Nothing);
        let reads = |step: &Step| matches!(step, Step::Read(_));
        let is_worth = outline.steps.iter().any(reads) && !outline.steps.iter().any(is_empty);
        (is_worth && outline.steps.len() <= MOST_STEPS).then_some(outline)
    }

    fn add(&mut self, operator: &Operator) {
        if self.steps.len() > MOST_STEPS {
            return;
        }
        match operator {
            Operator::Scan { slot, .. } => self.reads(operator, *slot),
            Operator::IndexMerge { inputs, kind: Merge::Intersection, .. } => {
                // The indexes are those of the table whose rows they find.
                let mut slots = Vec::new();
                operator.slots(&mut slots);
                let entries = inputs.iter().rev().skip(1).rev();
                return entries.for_each(|input| self.reads(input, slots.first().copied().unwrap_or(0)));
            }
            Operator::NestedLoop { left, right, .. } | Operator::HashJoin { left, right, .. } => {
                let hashes = matches!(operator, Operator::HashJoin { .. });
                let [left, right] = [left, right].map(|side| slots_below(side));
                self.steps.push(Step::Join(Join { left, right, hashes }));
            }
            Operator::Sort { .. } => self.does(Kind::Sort),
            Operator::Aggregate { in_groups: true, .. } => self.does(Kind::GroupInOrder),
            Operator::Aggregate { .. } => self.does(Kind::Group),
            Operator::FirstOfEach { .. } => self.does(Kind::FirstOfEach),
            Operator::Distinct { .. } => self.does(Kind::Distinct),
            Operator::Union { .. } => self.does(Kind::Union),
            Operator::Window { .. } => self.does(Kind::Window),
            Operator::Nothing => self.does(Kind::Nothing),
            Operator::Derived { .. } => self.does(Kind::Derived),
            Operator::Recursive { .. } => self.does(Kind::Recursive),
            Operator::Dual
            | Operator::Virtual { .. }
            | Operator::Values { .. }
            | Operator::Working { .. }
            | Operator::IndexMerge { .. }
            | Operator::Filter { .. }
            | Operator::Project { .. }
            | Operator::Limit { .. }
            | Operator::Noted { .. } => {}
        }
        operator.inputs().iter().for_each(|input| self.add(input));
    }

    /// Adds how a table in a slot is read.
    fn reads(&mut self, scan: &Operator, slot: usize) {
        match scan {
            Operator::Noted { input, .. } => self.reads(input, slot),
            Operator::Scan { table, access, .. } => {
                let index =
                    table.indexes.get(access.index).map_or_else(String::new, |index| index.name.clone());
                self.steps.push(Step::Read(Reading {
                    slot,
                    way: Way::of(access),
                    backward: access.backward,
                    index,
                    schema: table.schema.clone(),
                    table: table.name.clone(),
                }));
            }
            _ => {}
        }
    }

    fn does(&mut self, kind: Kind) {
        self.steps.push(Step::Does(kind));
    }

    fn readings(&self, slot: usize) -> impl Iterator<Item = &Reading> {
        self.steps.iter().filter_map(move |step| match step {
            Step::Read(reading) if reading.slot == slot => Some(reading),
            _ => None,
        })
    }

    /// The joins of all blocks.
    pub fn joins(&self) -> impl Iterator<Item = &Join> {
        self.steps.iter().filter_map(|step| match step {
            Step::Join(join) => Some(join),
            _ => None,
        })
    }

    /// Whether it has the table in a slot read otherwise than by this index of it.
    pub fn excludes(&self, slot: usize, index: &str, way: Way) -> bool {
        !self.readings(slot).any(|reading| reading.index == index && reading.way == way)
    }

    /// Whether it has the table in a slot read by several indexes, one after the other.
    pub fn merges(&self, slot: usize) -> bool {
        self.readings(slot).nth(1).is_some()
    }

    /// About how many bytes it takes.
    pub fn weight(&self) -> usize {
        let of_step = |step: &Step| match step {
            Step::Read(reading) => reading.index.len() + reading.schema.len() + reading.table.len(),
            Step::Join(join) => (join.left.len() + join.right.len()) * size_of::<usize>(),
            Step::Does(_) => 0,
        };
        self.steps.iter().map(|step| size_of::<Step>() + of_step(step)).sum()
    }

    /// The tables that it names, by schema and name, with the index by which each is read.
    pub fn tables(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.steps.iter().filter_map(|step| match step {
            Step::Read(Reading { schema, table, index, .. }) => Some((&**schema, &**table, &**index)),
            _ => None,
        })
    }

    /// The outline that its text says; `None` if it says none.
    pub fn parse(text: &str) -> Option<Outline> {
        let steps = text.lines().map(|line| Line(line.chars().peekable()).step());
        Some(Outline { steps: steps.collect::<Option<_>>()? })
    }
}

/// The slots of the tables that a side of a join reads, in order: not those within a derived table.
fn slots_below(operator: &Operator) -> Vec<usize> {
    fn add(operator: &Operator, out: &mut Vec<usize>) {
        match operator {
            Operator::Scan { slot, .. }
            | Operator::Virtual { slot, .. }
            | Operator::Values { slot, .. }
            | Operator::Working { slot, .. }
            | Operator::Derived { slot, .. }
            | Operator::Recursive { slot, .. } => out.push(*slot),
            Operator::IndexMerge { .. } => operator.slots(out),
            other => other.inputs().iter().for_each(|input| add(input, out)),
        }
    }
    let mut out = Vec::new();
    add(operator, &mut out);
    out.sort_unstable();
    out.dedup();
    out
}

impl Display for Outline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, step) in self.steps.iter().enumerate() {
            if number > 0 {
                writeln!(f)?;
            }
            match step {
                Step::Read(Reading { slot, way, backward, index, schema, table }) => {
                    let way = WAYS.iter().find(|(known, _)| known == way).map_or("", |(_, name)| name);
                    let backward = if *backward { " backward" } else { "" };
                    let [index, schema, table] = [index, schema, table].map(|name| quoted(name));
                    write!(f, "read {slot} {way}{backward} {index} {schema}.{table}")?;
                }
                Step::Join(Join { left, right, hashes }) => {
                    let method = if *hashes { "hash" } else { "loop" };
                    write!(f, "join {method} ({}) ({})", listed(left), listed(right))?;
                }
                Step::Does(kind) => {
                    let name = KINDS.iter().find(|(known, _)| known == kind).map_or("", |(_, name)| name);
                    f.write_str(name)?;
                }
            }
        }
        Ok(())
    }
}

/// A name in backquotes, on one line.
fn quoted(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 2);
    out.push('`');
    for char in name.chars() {
        match char {
            '`' => out.push_str("``"),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            char => out.push(char),
        }
    }
    out.push('`');
    out
}

fn listed(slots: &[usize]) -> String {
    slots.iter().map(|slot| format!("{slot}")).collect::<Vec<_>>().join(",")
}

/// What is left of a line.
struct Line<'t>(Peekable<Chars<'t>>);

impl Line<'_> {
    fn step(mut self) -> Option<Step> {
        let whole: String = self.0.clone().collect();
        if let Some((kind, _)) = KINDS.iter().find(|(_, name)| *name == whole) {
            return Some(Step::Does(*kind));
        }
        let step = match &*self.word() {
            "read" => Step::Read(self.reading()?),
            "join" => {
                let hashes = match &*self.word() {
                    "hash" => true,
                    "loop" => false,
                    _ => return None,
                };
                Step::Join(Join { left: self.slots()?, right: self.slots()?, hashes })
            }
            _ => return None,
        };
        self.0.next().is_none().then_some(step)
    }

    fn reading(&mut self) -> Option<Reading> {
        let slot = self.word().parse().ok()?;
        let way = self.word();
        let way = WAYS.iter().find(|(_, name)| *name == way).map(|(way, _)| *way)?;
        let backward = self.0.peek().is_some_and(|next| *next == 'b');
        if backward && self.word() != "backward" {
            return None;
        }
        let index = self.name()?;
        self.take(' ')?;
        let schema = self.name()?;
        self.take('.')?;
        let table = self.name()?;
        Some(Reading { slot, way, backward, index, schema, table })
    }

    /// What comes before the next space, which is passed over.
    fn word(&mut self) -> String {
        self.0.by_ref().take_while(|next| *next != ' ').collect()
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.0.next_if_eq(&wanted).map(drop)
    }

    fn name(&mut self) -> Option<String> {
        self.take('`')?;
        let mut name = String::new();
        loop {
            match self.0.next()? {
                '`' if self.0.next_if_eq(&'`').is_none() => return Some(name),
                '\\' => name.push(match self.0.next()? {
                    'n' => '\n',
                    'r' => '\r',
                    other => other,
                }),
                char => name.push(char),
            }
        }
    }

    /// A list of slots in parentheses.
    fn slots(&mut self) -> Option<Vec<usize>> {
        let _ = self.take(' ');
        self.take('(')?;
        let list: String = self.0.by_ref().take_while(|next| *next != ')').collect();
        list.split(',').map(|slot| slot.parse().ok()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_is_read_as_it_was_written() {
        let read = |slot, way, backward, index: &str, table: &str| {
            let [index, table, schema] = [index, table, "d"].map(str::to_owned);
            Step::Read(Reading { slot, way, backward, index, schema, table })
        };
        let outline = Outline {
            steps: vec![
                Step::Does(Kind::GroupInOrder),
                Step::Join(Join { left: vec![0, 2], right: vec![1], hashes: true }),
                Step::Join(Join { left: vec![0], right: vec![2], hashes: false }),
                read(0, Way::Whole, true, "PRIMARY", "t"),
                read(2, Way::Ranges, false, "b` \\ k", "a\nb"),
                read(1, Way::Loose, false, "backward", "`"),
            ],
        };
        let text = format!("{outline}");
        assert_eq!(Outline::parse(&text), Some(outline), "{text}");
        for wrong in ["", "read", "read 1 whole", "join hash (0) (x)", "sort x", "read 1 whole `a` `b`.`c` d"]
        {
            assert_eq!(Outline::parse(wrong).filter(|outline| !outline.steps.is_empty()), None, "{wrong}");
        }
    }

    #[test]
    fn what_an_outline_excludes() {
        let text = "read 3 ranges `k` `d`.`t`\nread 4 ranges `a` `d`.`u`\nread 4 ranges `b` `d`.`u`";
        let outline = Outline::parse(text).unwrap();
        assert!(!outline.excludes(3, "k", Way::Ranges));
        assert!(outline.excludes(3, "k", Way::Whole));
        assert!(outline.excludes(3, "PRIMARY", Way::Ranges));
        assert!(!outline.merges(3) && outline.merges(4));
    }
}
