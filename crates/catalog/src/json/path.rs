//! Paths into JSON values: `$`, and behind it legs.
//!
//! | leg | goes to |
//! |---|---|
//! | `.name`, `."any name"` | the member of that name |
//! | `.*` | every member |
//! | `[3]`, `[last]`, `[last-2]` | one element; of a value that is no array, `[0]` and `[last]` are that value |
//! | `[1 to last]` | the elements from one to another |
//! | `[*]` | every element |
//! | `**` | the value itself and everything below it; another leg must follow |
//!
//! A path finds [`Location`]s: where the values lie, in [`Step`]s that leave nothing open. What changes a document
//! asks for the location first and goes there step by step.

use std::collections::HashSet;
use std::convert::Infallible;

use super::{Json, Name, parse};
use crate::part;

/// A position in an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Index {
    /// Counted from the first element, which is 0.
    FromStart(usize),
    /// Counted from the last element, which is 0.
    FromEnd(usize),
}

impl Index {
    /// The position in an array of so many elements; `None` if it lies before the first or behind the last one.
    pub fn within(self, length: usize) -> Option<usize> {
        match self {
            Index::FromStart(position) => Some(position).filter(|position| *position < length),
            Index::FromEnd(back) => length.checked_sub(1)?.checked_sub(back),
        }
    }
}

/// One leg of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Leg {
    Member(String),
    AnyMember,
    Cell(Index),
    Range(Index, Index),
    AnyCell,
    Ellipsis,
}

/// A path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// What stands behind `$`.
    pub legs: Vec<Leg>,
}

/// Where a text is no path: the byte position that MySQL's error 3143 names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PathError(pub usize);

/// From a value to one of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A member of an object.
    Member(String),
    /// An element of an array.
    Element(usize),
}

/// A value found by a path.
#[derive(Debug, Clone, PartialEq)]
pub struct Location<'a> {
    /// How to get there from the document.
    pub steps: Vec<Step>,
    /// What is there.
    pub value: &'a Json,
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Whether a name needs no quotation marks in a path: an identifier of ECMAScript.
fn is_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c == '$' || c == '_' || c.is_alphabetic());
    first && characters.all(|c| matches!(c, '$' | '_' | '\u{200c}' | '\u{200d}') || c.is_alphanumeric())
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    fn wrong<T>(&self) -> Result<T, PathError> {
        Err(PathError(self.at))
    }

    fn path(mut self) -> Result<Path, PathError> {
        self.skip_space();
        match self.peek() {
            Some(b'$') => self.at += 1,
            Some(_) => return Err(PathError(self.at + 1)),
            None => return self.wrong(),
        }
        let mut legs = Vec::new();
        self.skip_space();
        while let Some(byte) = self.peek() {
            legs.push(match byte {
                b'.' => self.member()?,
                b'[' => self.cell()?,
                b'*' => self.ellipsis()?,
                _ => return self.wrong(),
            });
            self.skip_space();
        }
        if legs.last() == Some(&Leg::Ellipsis) {
            return self.wrong();
        }
        Ok(Path { legs })
    }

    fn ellipsis(&mut self) -> Result<Leg, PathError> {
        self.at += 1;
        if !self.accept(b'*') {
            return self.wrong();
        }
        // it cannot be the last leg, and three asterisks are none
        if matches!(self.peek(), None | Some(b'*')) {
            return self.wrong();
        }
        Ok(Leg::Ellipsis)
    }

    fn member(&mut self) -> Result<Leg, PathError> {
        self.at += 1;
        self.skip_space();
        match self.peek() {
            Some(b'*') => {
                self.at += 1;
                Ok(Leg::AnyMember)
            }
            Some(b'"') => self.quoted_name(),
            None => self.wrong(),
            Some(_) => {
                let start = self.at;
                while self.peek().is_some_and(|byte| !is_space(byte) && !matches!(byte, b'.' | b'[' | b'*')) {
                    self.at += 1;
                }
                match self.text.get(start..self.at) {
                    Some(name) if is_identifier(name) => Ok(Leg::Member(name.to_owned())),
                    _ => self.wrong(),
                }
            }
        }
    }

    fn quoted_name(&mut self) -> Result<Leg, PathError> {
        let start = self.at;
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'"' => {
                    let quoted = part::first(part::from(self.text.as_bytes(), start), self.at - start);
                    return match parse::document(quoted) {
                        Ok(Json::String(name)) => Ok(Leg::Member(name)),
                        _ => self.wrong(),
                    };
                }
                b'\\' => self.at = (self.at + 1).min(self.text.len()),
                _ => {}
            }
        }
        self.wrong()
    }

    fn cell(&mut self) -> Result<Leg, PathError> {
        self.at += 1;
        self.skip_space();
        if self.accept(b'*') {
            return self.close(Leg::AnyCell);
        }
        let from = self.index()?;
        let before = self.at;
        self.skip_space();
        // `to` stands between spaces
        let rest = part::from(self.text.as_bytes(), self.at);
        if self.at > before && rest.starts_with(b"to") && rest.get(2).copied().is_some_and(is_space) {
            self.at += 2;
            self.skip_space();
            let to = self.index()?;
            let backwards = match (from, to) {
                (Index::FromStart(from), Index::FromStart(to)) => from > to,
                (Index::FromEnd(from), Index::FromEnd(to)) => from < to,
                _ => false,
            };
            return if backwards { self.wrong() } else { self.close(Leg::Range(from, to)) };
        }
        self.close(Leg::Cell(from))
    }

    fn close(&mut self, leg: Leg) -> Result<Leg, PathError> {
        self.skip_space();
        match self.peek() {
            Some(b']') => {
                self.at += 1;
                Ok(leg)
            }
            Some(_) => Err(PathError(self.at + 1)),
            None => self.wrong(),
        }
    }

    fn index(&mut self) -> Result<Index, PathError> {
        if !part::from(self.text.as_bytes(), self.at).starts_with(b"last") {
            return self.position().map(Index::FromStart);
        }
        self.at += 4;
        let before = self.at;
        self.skip_space();
        if !self.accept(b'-') {
            self.at = before;
            return Ok(Index::FromEnd(0));
        }
        self.skip_space();
        self.position().map(Index::FromEnd)
    }

    /// Digits that fit 32 bits.
    fn position(&mut self) -> Result<usize, PathError> {
        let rest = part::from(self.text.as_bytes(), self.at);
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let position = self.text.get(self.at..self.at + digits).and_then(|text| text.parse::<u32>().ok());
        match position {
            Some(position) => {
                self.at += digits;
                Ok(position as usize)
            }
            None => self.wrong(),
        }
    }
}

impl Path {
    /// Reads a path.
    pub fn parse(text: &str) -> Result<Path, PathError> {
        Parser { text, at: 0 }.path()
    }

    /// Whether it can find more than one value.
    pub fn is_wild(&self) -> bool {
        self.legs.iter().any(|leg| !matches!(leg, Leg::Member(_) | Leg::Cell(_)))
    }

    /// All it finds, in the document's order, each once.
    pub fn find<'a>(&self, document: &'a Json) -> Vec<Location<'a>> {
        self.find_counted(document, true, |_| Ok::<(), Infallible>(())).unwrap_or_else(|never| match never {})
    }

    /// As [`find`](Self::find). A value that is no array has an element `[0]` only if `wraps`. `count` is
    /// told how many units of work are to come, again and again; its error ends the search.
    ///
    /// The path is followed leg by leg, by all that was found so far: so a value that `**` reaches in several
    /// ways goes on once, and the work is at most legs times values.
    pub fn find_counted<'a, E>(
        &self,
        document: &'a Json,
        wraps: bool,
        mut count: impl FnMut(usize) -> Result<(), E>,
    ) -> Result<Vec<Location<'a>>, E> {
        let mut found = vec![Location { steps: Vec::new(), value: document }];
        // only below ** can one value be reached in two ways
        let mut is_below_ellipsis = false;
        for leg in &self.legs {
            let mut next = Vec::new();
            for location in found {
                count(UNITS_A_LOCATION)?;
                follow(leg, location, wraps, &mut next, &mut count)?;
            }
            is_below_ellipsis |= *leg == Leg::Ellipsis;
            if is_below_ellipsis {
                count(next.len().saturating_mul(UNITS_A_LOCATION))?;
                let mut seen = HashSet::with_capacity(next.len());
                next.retain(|location| seen.insert(std::ptr::from_ref(location.value)));
            }
            found = next;
        }
        Ok(found)
    }

    /// The first it finds.
    pub fn first<'a>(&self, document: &'a Json) -> Option<Location<'a>> {
        self.find(document).into_iter().next()
    }
}

/// What a value that is found counts as, in units of a nanosecond.
const UNITS_A_LOCATION: usize = 64;

impl<'a> Location<'a> {
    fn part(&self, step: Step, value: &'a Json) -> Location<'a> {
        let mut steps = Vec::with_capacity(self.steps.len() + 1);
        steps.extend_from_slice(&self.steps);
        steps.push(step);
        Location { steps, value }
    }

    /// Every part.
    fn parts(&self, each: &mut dyn FnMut(Location<'a>)) {
        match self.value {
            Json::Array(items) => {
                for (position, item) in items.iter().enumerate() {
                    each(self.part(Step::Element(position), item));
                }
            }
            Json::Object(members) => {
                for (name, part) in members {
                    each(self.part(Step::Member(name.0.clone()), part));
                }
            }
            _ => {}
        }
    }
}

/// Appends what one leg finds from a location.
fn follow<'a, E>(
    leg: &Leg,
    location: Location<'a>,
    wraps: bool,
    found: &mut Vec<Location<'a>>,
    count: &mut impl FnMut(usize) -> Result<(), E>,
) -> Result<(), E> {
    let value = location.value;
    count(value.length().saturating_mul(UNITS_A_LOCATION))?;
    match (leg, value) {
        (Leg::Member(name), Json::Object(members)) => {
            if let Some((name, value)) = members.get_key_value(&Name(name.clone())) {
                found.push(location.part(Step::Member(name.0.clone()), value));
            }
        }
        (Leg::AnyMember, Json::Object(_)) | (Leg::AnyCell, Json::Array(_)) => {
            location.parts(&mut |part| found.push(part));
        }
        (Leg::Cell(index), Json::Array(items)) => {
            let place = index.within(items.len()).and_then(|place| Some((place, items.get(place)?)));
            found.extend(place.map(|(place, item)| location.part(Step::Element(place), item)));
        }
        (Leg::Range(from, to), Json::Array(items)) => {
            for place in range(*from, *to, items.len()) {
                found.extend(items.get(place).map(|item| location.part(Step::Element(place), item)));
            }
        }
        (Leg::Cell(index), _) if wraps && index.within(1).is_some() => found.push(location),
        (Leg::Range(from, to), _) if wraps && !range(*from, *to, 1).is_empty() => found.push(location),
        (Leg::Ellipsis, _) => {
            // The value itself, then each part with what is below it; a document is not deep.
            let mut parts = Vec::new();
            location.parts(&mut |part| parts.push(part));
            found.push(location);
            for part in parts {
                follow(leg, part, wraps, found, count)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// The positions of an array of so many elements that lie in a range; an end that lies outside is cut off.
fn range(from: Index, to: Index, length: usize) -> std::ops::Range<usize> {
    let position = |index| match index {
        Index::FromStart(position) => position as i64,
        Index::FromEnd(back) => length as i64 - 1 - back as i64,
    };
    let start = position(from).max(0);
    let end = (position(to) + 1).min(length as i64);
    if start < end { start as usize..end as usize } else { 0..0 }
}

/// Writes steps as a path.
pub fn path_text(steps: &[Step]) -> String {
    let mut out = String::from("$");
    for step in steps {
        match step {
            Step::Element(position) => out.push_str(&format!("[{position}]")),
            Step::Member(name) if is_identifier(name) => {
                out.push('.');
                out.push_str(name);
            }
            Step::Member(name) => {
                let mut quoted = Vec::new();
                super::quote(name, &mut quoted);
                out.push('.');
                out.push_str(&String::from_utf8_lossy(&quoted));
            }
        }
    }
    out
}

impl Json {
    /// The part at the end of steps that were found in this document.
    pub fn at(&self, steps: &[Step]) -> Option<&Json> {
        steps.iter().try_fold(self, |value, step| match (step, value) {
            (Step::Member(name), Json::Object(members)) => members.get(&Name(name.clone())),
            (Step::Element(position), Json::Array(items)) => items.get(*position),
            _ => None,
        })
    }

    /// The same, to be changed.
    pub fn at_mut(&mut self, steps: &[Step]) -> Option<&mut Json> {
        let mut value = self;
        for step in steps {
            value = match (step, value) {
                (Step::Member(name), Json::Object(members)) => members.get_mut(&Name(name.clone()))?,
                (Step::Element(position), Json::Array(items)) => items.get_mut(*position)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(document: &str, path: &str) -> String {
        let document = parse::document(document.as_bytes()).unwrap();
        let found = Path::parse(path).unwrap().find(&document);
        let parts = found.iter().map(|location| {
            let value = String::from_utf8(location.value.to_text()).unwrap();
            // what is found lies where the location says
            assert_eq!(document.clone().at_mut(&location.steps), Some(&mut location.value.clone()));
            format!("{}={value}", path_text(&location.steps))
        });
        parts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn paths_find_what_they_say() {
        for (document, path, expected) in [
            ("[1]", "$", "$=[1]"),
            ("{\"a\":{\"b c\":1}}", "$.a.\"b c\"", "$.a.\"b c\"=1"),
            ("{\"a\":1,\"b\":2}", " $ . * ", "$.a=1 $.b=2"),
            ("[1,2,3]", "$[1]", "$[1]=2"),
            ("[1,2,3]", "$ [ last - 1 ]", "$[1]=2"),
            ("[1,2,3]", "$[last-3]", ""),
            ("[1,2,3]", "$[1 to 7]", "$[1]=2 $[2]=3"),
            ("[1,2,3]", "$[last-7 to 0]", "$[0]=1"),
            ("[1,2,3]", "$[last to 1]", ""),
            ("[1,2]", "$[*]", "$[0]=1 $[1]=2"),
            ("5", "$[0]", "$=5"),
            ("5", "$[last][0 to 3]", "$=5"),
            ("5", "$[1]", ""),
            ("5", "$[*]", ""),
            ("{\"a\":{\"b\":[1,{\"b\":3}]}}", "$**.b", "$.a.b=[1, {\"b\": 3}] $.a.b[1].b=3"),
            ("[[7]]", "$**[0]", "$[0]=[7] $[0][0]=7"),
        ] {
            assert_eq!(found(document, path), expected, "{document} {path}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused_at_its_position() {
        for (text, position) in [
            ("", 0),
            ("a", 1),
            ("$[", 2),
            ("$.", 2),
            ("$**", 3),
            ("$*", 2),
            ("$.a.", 4),
            ("$.1a", 4),
            ("$[-1]", 2),
            ("$[2 to 1]", 8),
            ("$[4294967296]", 2),
            ("$.\"a", 4),
            ("$ x", 2),
            ("$***.a", 3),
            ("$.a-b", 5),
            ("$[last+1]", 7),
            ("$[1 to]", 5),
            ("$[1 to2]", 5),
            ("$[1to 2]", 4),
            ("$[1 to x]", 7),
            ("$[1x]", 4),
            ("$[1", 3),
            ("$[*x]", 4),
            ("$.a\"b\"", 6),
            ("$.\"a\"b", 5),
            ("$** ", 4),
        ] {
            assert_eq!(Path::parse(text), Err(PathError(position)), "{text}");
        }
        for text in ["$[4294967295]", "$.$", "$._x", "$.é", "$.\"\"", "$[last to 1]"] {
            assert!(Path::parse(text).is_ok(), "{text}");
        }
    }
}
