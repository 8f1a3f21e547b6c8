//! Statements as trees that can be written for either twin, given other constants, and made smaller.

use palisade_base::prng::Prng;

use super::domain;

/// Which of a table's twins a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Indexed,
    Bare,
}

impl Side {
    /// The twin's name.
    pub fn table(self, number: usize) -> String {
        match self {
            Side::Indexed => format!("t{number}"),
            Side::Bare => format!("n{number}"),
        }
    }
}

#[derive(Debug, Clone)]
pub enum Piece {
    Text(String),
    Table(usize),
    /// Names indexes: for the indexed twin only.
    Hint(String),
    /// A literal, and the kind of the column that it is compared with.
    Constant {
        kind: usize,
        literal: String,
    },
    Condition(Box<Condition>),
}

/// A condition.
#[derive(Debug, Clone)]
pub enum Condition {
    Leaf(Statement),
    Not(Box<Condition>),
    /// All parts, between two of them this operator.
    Joined(&'static str, Vec<Condition>),
}

/// A statement, or a part of one.
#[derive(Debug, Clone, Default)]
pub struct Statement {
    pub pieces: Vec<Piece>,
}

/// How constants are written.
pub enum Constants<'a> {
    Literal,
    /// As question marks; the literals come here.
    Parameters(&'a mut Vec<String>),
}

impl Statement {
    pub fn text(text: impl Into<String>) -> Statement {
        Statement::default().and(text)
    }

    pub fn and(mut self, text: impl Into<String>) -> Statement {
        self.pieces.push(Piece::Text(text.into()));
        self
    }

    pub fn table(mut self, number: usize) -> Statement {
        self.pieces.push(Piece::Table(number));
        self
    }

    pub fn hint(mut self, text: String) -> Statement {
        self.pieces.push(Piece::Hint(text));
        self
    }

    pub fn constant(mut self, prng: &mut Prng, kind: usize) -> Statement {
        let literal = domain::constant(prng, kind).to_owned();
        self.pieces.push(Piece::Constant { kind, literal });
        self
    }

    pub fn condition(mut self, condition: Condition) -> Statement {
        self.pieces.push(Piece::Condition(Box::new(condition)));
        self
    }

    pub fn append(mut self, other: Statement) -> Statement {
        self.pieces.extend(other.pieces);
        self
    }

    /// The text for one twin.
    pub fn write(&self, side: Side) -> String {
        let mut out = String::new();
        self.write_to(side, &mut Constants::Literal, &mut out);
        out
    }

    /// The text for one twin with parameters, and their values.
    pub fn write_prepared(&self, side: Side) -> (String, Vec<String>) {
        let (mut out, mut values) = (String::new(), Vec::new());
        self.write_to(side, &mut Constants::Parameters(&mut values), &mut out);
        (out, values)
    }

    fn write_to(&self, side: Side, constants: &mut Constants<'_>, out: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Table(number) => out.push_str(&side.table(*number)),
                Piece::Hint(text) if side == Side::Indexed => out.push_str(text),
                Piece::Hint(_) => {}
                Piece::Constant { literal, .. } => match constants {
                    Constants::Literal => out.push_str(literal),
                    Constants::Parameters(values) => {
                        out.push('?');
                        values.push(literal.clone());
                    }
                },
                Piece::Condition(condition) => condition.write_to(side, constants, out),
            }
        }
    }

    /// Other constants in the places of those that are there.
    pub fn redraw(&mut self, prng: &mut Prng) {
        for piece in &mut self.pieces {
            match piece {
                Piece::Constant { kind, literal } => *literal = domain::constant(prng, *kind).to_owned(),
                Piece::Condition(condition) => condition.redraw(prng),
                _ => {}
            }
        }
    }

    /// Statements that are this one with one condition made simpler.
    pub fn simpler(&self) -> Vec<Statement> {
        let mut all = Vec::new();
        for (position, piece) in self.pieces.iter().enumerate() {
            let mut with = |piece: Piece| {
                let mut statement = self.clone();
                statement.pieces[position] = piece;
                all.push(statement);
            };
            match piece {
                Piece::Condition(condition) => {
                    condition
                        .simpler()
                        .into_iter()
                        .for_each(|simpler| with(Piece::Condition(Box::new(simpler))));
                }
                Piece::Hint(text) if !text.is_empty() => with(Piece::Hint(String::new())),
                _ => {}
            }
        }
        all
    }
}

impl Condition {
    fn write_to(&self, side: Side, constants: &mut Constants<'_>, out: &mut String) {
        match self {
            Condition::Leaf(leaf) => leaf.write_to(side, constants, out),
            Condition::Not(inner) => {
                out.push_str("NOT (");
                inner.write_to(side, constants, out);
                out.push(')');
            }
            Condition::Joined(operator, parts) => {
                for (position, part) in parts.iter().enumerate() {
                    if position > 0 {
                        out.push_str(operator);
                    }
                    out.push('(');
                    part.write_to(side, constants, out);
                    out.push(')');
                }
            }
        }
    }

    fn redraw(&mut self, prng: &mut Prng) {
        match self {
            Condition::Leaf(leaf) => leaf.redraw(prng),
            Condition::Not(inner) => inner.redraw(prng),
            Condition::Joined(_, parts) => parts.iter_mut().for_each(|part| part.redraw(prng)),
        }
    }

    pub fn simpler(&self) -> Vec<Condition> {
        let mut all = Vec::new();
        match self {
            Condition::Leaf(leaf) => {
                if leaf.pieces.len() != 1 || !matches!(&leaf.pieces[0], Piece::Text(text) if text == "TRUE") {
                    all.push(Condition::Leaf(Statement::text("TRUE")));
                }
                all.extend(leaf.simpler().into_iter().map(Condition::Leaf));
            }
            Condition::Not(inner) => {
                all.push((**inner).clone());
                all.extend(inner.simpler().into_iter().map(|inner| Condition::Not(Box::new(inner))));
            }
            Condition::Joined(operator, parts) => {
                all.extend(parts.iter().cloned());
                if parts.len() > 2 {
                    for gone in 0..parts.len() {
                        let mut fewer = parts.clone();
                        fewer.remove(gone);
                        all.push(Condition::Joined(operator, fewer));
                    }
                }
                for (position, part) in parts.iter().enumerate() {
                    for simpler in part.simpler() {
                        let mut parts = parts.clone();
                        parts[position] = simpler;
                        all.push(Condition::Joined(operator, parts));
                    }
                }
            }
        }
        all
    }
}
