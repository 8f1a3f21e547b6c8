//! What a transaction does, in SQL.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use palisade_isolation::workload::{ERA, Form, Step, era, form, tag};
use palisade_isolation::{Access, Element, Key, Length, Look, Op};

use super::session::{DUPLICATE, Deeds, STATEMENT_ONLY, Session, Trouble};
use super::{Event, lists_of};
use crate::client::Answer;

type Lists = BTreeMap<Key, Vec<Element>>;

impl Session<'_> {
    /// One step. What is appended is written down first: without an answer it may have happened.
    pub fn step(&mut self, step: Step, deeds: &mut Deeds) -> Result<(), Trouble> {
        match step {
            Step::Append(key, element) => {
                deeds.ops.push(Op::Append(key, element));
                self.append(key, element)
            }
            Step::Undo(key, element) => {
                deeds.undone.push((key, element));
                self.statement("SAVEPOINT here")?;
                self.append(key, element)?;
                self.roll_back_to("here", deeds)
            }
            Step::UndoPart { kept: (key, element), undone } => {
                deeds.ops.push(Op::Append(key, element));
                deeds.undone.push(undone);
                self.statement("SAVEPOINT before_both")?;
                self.append(key, element)?;
                self.statement("SAVEPOINT before_one").map_err(spoiled)?;
                self.append(undone.0, undone.1).map_err(spoiled)?;
                self.roll_back_to("before_one", deeds)?;
                self.statement("RELEASE SAVEPOINT before_both").map(drop).map_err(spoiled)
            }
            Step::Rewrite(key, element, access) => self.rewrite(key, element, access, deeds),
            Step::Replace(key, element) => self.replace(key, element, deeds),
            Step::Collide(key, element) => self.collide(key, element, deeds),
            Step::Probe(key, element) => self.probe(key, element, deeds),
            Step::Fail(key, element) => {
                deeds.undone.push((key, element));
                let place = self.next_place(key)?;
                let row = format!("({key}, {place}, {element})");
                match self.statement(&format!("INSERT INTO items VALUES {row}, {row}")) {
                    Ok(_) => Err(Trouble::Wrong(format!("{row} was inserted twice"))),
                    Err(Trouble::Refused(DUPLICATE)) => {
                        deeds.events.push(Event::WentOn);
                        Ok(())
                    }
                    Err(trouble) => Err(trouble),
                }
            }
            read => self.look(read, deeds),
        }
    }

    /// A statement that reads, and when it did so.
    fn look(&mut self, step: Step, deeds: &mut Deeds) -> Result<(), Trouble> {
        let (begin, first) = (self.stage.now(), deeds.ops.len());
        let outcome = self.read_step(step, deeds);
        if step.is_plain() {
            // One that failed may have taken the transaction's snapshot.
            let ops = first..deeds.ops.len();
            deeds.looks.push(Look { begin, end: self.stage.now(), ops });
        }
        outcome
    }

    fn read_step(&mut self, step: Step, deeds: &mut Deeds) -> Result<(), Trouble> {
        match step {
            Step::Read(key, access) => {
                let query = match form(key) {
                    Form::Text => format!("SELECT k, v FROM lists WHERE k = {key}"),
                    Form::Rows => format!("SELECT k, v FROM items WHERE k = {key} ORDER BY position"),
                };
                self.read([key].into_iter(), access, &(query + suffix(access, key)), deeds)
            }
            Step::ReadRange(wanted, from, to, access) => {
                let query = match wanted {
                    Form::Text => format!("SELECT k, v FROM lists WHERE k BETWEEN {from} AND {to}"),
                    Form::Rows => {
                        format!("SELECT k, v FROM items WHERE k BETWEEN {from} AND {to} ORDER BY k, position")
                    }
                };
                let keys = (from..=to).filter(|key| form(*key) == wanted);
                self.read(keys, access, &(query + suffix(access, to)), deeds)
            }
            Step::ReadTag(wanted, from, to, access) => {
                let query = format!(
                    "SELECT k, v FROM lists FORCE INDEX (by_tag) WHERE tag = {wanted} AND k BETWEEN {from} AND {to}"
                );
                let keys = (from..=to).filter(|key| form(*key) == Form::Text && tag(*key) == wanted);
                self.read(keys, access, &(query + suffix(access, to)), deeds)
            }
            Step::ReadPair(one, other, access) => {
                let query = format!(
                    "SELECT w.k, COALESCE(i.v, l.v, '') FROM (SELECT {one} AS k UNION SELECT {other}) AS w \
                     LEFT JOIN lists AS l ON l.k = w.k LEFT JOIN items AS i ON i.k = w.k \
                     ORDER BY w.k, i.position"
                );
                let keys = [one, other].into_iter().take(if one == other { 1 } else { 2 });
                self.read(keys, access, &(query + suffix(access, one)), deeds)
            }
            Step::ReadLong(key, length, access) => {
                let query = format!(
                    "SELECT k, v FROM lists FORCE INDEX (by_length) WHERE era = {} AND n >= {length}{}",
                    key / ERA,
                    suffix(access, key)
                );
                let mut lists = self.lists(&query)?;
                for key in era(key) {
                    deeds.ops.push(match lists.remove(&key) {
                        Some(list) if list.len() < length => {
                            let text = format!("{query}: gave {list:?} of key {key}");
                            return Err(Trouble::Wrong(text));
                        }
                        Some(list) => Op::Read(key, access, list),
                        None => Op::Learn(key, access, Length::at_most(length - 1)),
                    });
                }
                none_left(&query, &lists)
            }
            Step::Count(from, to, access) => {
                // COUNT with GROUP BY locks what it counts, as MySQL's does
                let query = format!(
                    "SELECT k, COUNT(*) FROM items WHERE k BETWEEN {from} AND {to} GROUP BY k{}",
                    suffix(access, to)
                );
                let mut counts = self.lists(&query)?;
                for key in (from..=to).filter(|key| form(*key) == Form::Rows) {
                    let count = counts.remove(&key).map_or(0, |count| count[0]) as usize;
                    deeds.ops.push(Op::Learn(key, access, Length::exactly(count)));
                }
                none_left(&query, &counts)
            }
            Step::FindPlace(length, from, to, access) => {
                let query = format!(
                    "SELECT k, 0 FROM items FORCE INDEX (by_place) WHERE position = {length} \
                     AND k BETWEEN {from} AND {to}{}",
                    suffix(access, to)
                );
                let mut found = self.lists(&query)?;
                for key in (from..=to).filter(|key| form(*key) == Form::Rows) {
                    let known = match found.remove(&key) {
                        Some(_) => Length::at_least(length),
                        None => Length::at_most(length - 1),
                    };
                    // A row of its own that follows others' which its snapshot does not show tells nothing of the length.
                    let is_own = |op: &Op| matches!(op, Op::Append(own, _) if *own == key);
                    if !deeds.ops.iter().any(is_own) {
                        deeds.ops.push(Op::Learn(key, access, known));
                    }
                }
                none_left(&query, &found)
            }
            Step::Append(..)
            | Step::Undo(..)
            | Step::UndoPart { .. }
            | Step::Rewrite(..)
            | Step::Replace(..)
            | Step::Collide(..)
            | Step::Fail(..)
            | Step::Probe(..) => unreachable!("{step:?} does not only read"),
        }
    }

    fn append(&mut self, key: Key, element: Element) -> Result<(), Trouble> {
        match form(key) {
            Form::Text => {
                let appended = format!("v = CONCAT(v, ',{element}'), n = n + 1");
                let update = format!("UPDATE lists SET {appended} WHERE k = {key}");
                if element.is_multiple_of(2) && self.statement(&update)? != Answer::Done(0) {
                    return Ok(());
                }
                let insert = format!("{} ON DUPLICATE KEY UPDATE {appended}", insert(key, &[element]));
                self.statement(&insert).map(drop)
            }
            Form::Rows => {
                let place = self.next_place(key)?;
                self.statement(&format!("INSERT INTO items VALUES ({key}, {place}, {element})")).map(drop)
            }
        }
    }

    /// Where the next element of a list of rows goes; nobody else takes that place.
    fn next_place(&mut self, key: Key) -> Result<u64, Trouble> {
        let query = format!("SELECT COALESCE(MAX(position), 0) + 1 FROM items WHERE k = {key} FOR UPDATE");
        let answer = self.statement(&query)?;
        match &answer {
            Answer::Rows(rows) => match rows.first().map(Vec::as_slice) {
                Some([Some(place)]) => place.parse().map_err(|_| wrong(&query, &answer)),
                _ => Err(wrong(&query, &answer)),
            },
            Answer::Done(_) | Answer::Failed(..) => Err(wrong(&query, &answer)),
        }
    }

    fn rewrite(
        &mut self,
        key: Key,
        element: Element,
        access: Access,
        deeds: &mut Deeds,
    ) -> Result<(), Trouble> {
        let old = self.lists(&format!("SELECT k, v FROM lists WHERE k = {key}{}", suffix(access, 0)))?;
        deeds.ops.push(Op::Read(key, access, old.get(&key).cloned().unwrap_or_default()));
        deeds.ops.push(Op::Append(key, element));
        let Some(old) = old.get(&key) else { return self.append(key, element) };
        let new: Vec<Element> = old.iter().copied().chain([element]).collect();
        let update = format!("UPDATE lists SET v = '{}', n = {} WHERE k = {key}", text(&new), new.len());
        self.statement(&update).map(drop)
    }

    fn replace(&mut self, key: Key, element: Element, deeds: &mut Deeds) -> Result<(), Trouble> {
        let query = match form(key) {
            Form::Text => format!("SELECT k, v FROM lists WHERE k = {key} FOR UPDATE"),
            Form::Rows => format!("SELECT k, v FROM items WHERE k = {key} ORDER BY position FOR UPDATE"),
        };
        let mut list = self.lists(&query)?.remove(&key).unwrap_or_default();
        deeds.ops.push(Op::Read(key, Access::Locking, list.clone()));
        deeds.ops.push(Op::Append(key, element));
        if list.is_empty() {
            // There is nothing to replace; and where gaps are not locked, what others insert meanwhile is theirs.
            return self.append(key, element);
        }
        list.push(element);
        if form(key) == Form::Text && element.is_multiple_of(3) {
            let replace = insert(key, &list).replacen("INSERT", "REPLACE", 1);
            self.statement(&replace)?;
        } else {
            self.statement("SAVEPOINT whole")?;
            let old = list.len() - 1;
            // Where gaps are not locked, there may be more rows by now: the new one's place is taken then.
            let (delete, rows) = match form(key) {
                Form::Text => (format!("DELETE FROM lists WHERE k = {key}"), 1),
                Form::Rows => (format!("DELETE FROM items WHERE k = {key} AND position <= {old}"), old),
            };
            let answer = self.statement(&delete)?;
            if answer != Answer::Done(rows as u64) {
                return Err(wrong(&delete, &answer));
            }
            if let Err(trouble) = self.statement(&insert(key, &list)) {
                // What it deleted must come back before it may go on.
                if matches!(trouble, Trouble::Refused(number) if STATEMENT_ONLY.contains(&number)) {
                    self.statement("ROLLBACK TO SAVEPOINT whole").map_err(spoiled)?;
                }
                return Err(trouble);
            }
        }
        deeds.events.push(Event::Replaced);
        Ok(())
    }

    /// Inserts a list's first element; that there is one already is what is learned otherwise.
    fn collide(&mut self, key: Key, element: Element, deeds: &mut Deeds) -> Result<(), Trouble> {
        deeds.ops.push(Op::Append(key, element));
        match self.statement(&insert(key, &[element])) {
            Err(Trouble::Refused(DUPLICATE)) => {
                deeds.ops.pop();
                deeds.undone.push((key, element));
                deeds.ops.push(Op::Learn(key, Access::Locking, Length::at_least(1)));
                deeds.events.push(Event::Duplicate);
                Ok(())
            }
            other => other.map(drop),
        }
    }

    /// Finds out by an INSERT that is taken back whether a list is empty. Nobody must fill it before the transaction ends.
    fn probe(&mut self, key: Key, element: Element, deeds: &mut Deeds) -> Result<(), Trouble> {
        deeds.undone.push((key, element));
        self.statement("SAVEPOINT before_probe")?;
        let known = match self.statement(&insert(key, &[element])) {
            Err(Trouble::Refused(DUPLICATE)) => Length::at_least(1),
            other => {
                other?;
                deeds.events.push(Event::Probed);
                Length::exactly(0)
            }
        };
        deeds.ops.push(Op::Learn(key, Access::Locking, known));
        self.roll_back_to("before_probe", deeds)
    }

    fn roll_back_to(&mut self, savepoint: &str, deeds: &mut Deeds) -> Result<(), Trouble> {
        self.statement(&format!("ROLLBACK TO SAVEPOINT {savepoint}")).map_err(spoiled)?;
        deeds.events.push(Event::PartlyUndone);
        Ok(())
    }

    fn lists(&mut self, query: &str) -> Result<Lists, Trouble> {
        let answer = self.statement(query)?;
        lists_of(answer).map_err(|error| Trouble::Wrong(format!("{query}: {error}")))
    }

    fn read(
        &mut self,
        keys: impl Iterator<Item = Key>,
        access: Access,
        query: &str,
        deeds: &mut Deeds,
    ) -> Result<(), Trouble> {
        let mut lists = self.lists(query)?;
        deeds.ops.extend(keys.map(|key| Op::Read(key, access, lists.remove(&key).unwrap_or_default())));
        none_left(query, &lists)
    }
}

fn none_left(query: &str, lists: &Lists) -> Result<(), Trouble> {
    match lists.is_empty() {
        true => Ok(()),
        false => Err(Trouble::Wrong(format!("{query}: also gave {:?}", lists.keys()))),
    }
}

fn wrong(query: &str, answer: &Answer) -> Trouble {
    Trouble::Wrong(format!("{query}: {answer}"))
}

/// A statement failed after others of its step had changed something.
fn spoiled(trouble: Trouble) -> Trouble {
    match trouble {
        Trouble::Refused(_) => Trouble::Spoiled,
        other => other,
    }
}

/// A list as text.
fn text(list: &[Element]) -> String {
    let mut text = String::new();
    for element in list {
        // writing to a String does not fail
        let _ = write!(text, ",{element}");
    }
    text
}

/// Inserts a whole list.
fn insert(key: Key, list: &[Element]) -> String {
    match form(key) {
        Form::Text => {
            let (tag, era, length, text) = (tag(key), key / ERA, list.len(), text(list));
            format!("INSERT INTO lists VALUES ({key}, {tag}, {era}, {length}, '{text}')")
        }
        Form::Rows => {
            let row = |(at, element): (usize, &Element)| format!("({key}, {}, {element})", at + 1);
            let rows: Vec<String> = list.iter().enumerate().map(row).collect();
            format!("INSERT INTO items VALUES {}", rows.join(", "))
        }
    }
}

/// How a read locks; `variant` chooses among the ways.
fn suffix(access: Access, variant: u32) -> &'static str {
    match (access, variant % 3) {
        (Access::Plain, _) => "",
        (Access::Locking, 0 | 1) => " FOR UPDATE",
        (Access::Locking, _) => " FOR SHARE",
    }
}
