//! Expressions: operators and precedence.
//!
//! MySQL's grammar is layered - expressions of truth, comparisons, predicates (IN, LIKE, BETWEEN), arithmetic, simple
//! expressions - and what one layer gives cannot always be an operand of the same layer: `a IS TRUE = b` and
//! `a LIKE b + c` are errors. [`Parser::expr_at`] climbs precedences as usual and remembers the layer of what it has
//! built so far, so it accepts neither more nor less.
//!
//! From loosest to tightest:
//!
//! | level | operators |
//! |---|---|
//! | `OR` | `OR`, `\|\|` |
//! | `XOR` | `XOR` |
//! | `AND` | `AND`, `&&` |
//! | `NOT` | `NOT`; gives this: `IS TRUE`, `IS FALSE`, `IS UNKNOWN` |
//! | `COMPARISON` | `=`, `<=>`, `<`, `<=`, `>`, `>=`, `<>`, `IS NULL` |
//! | `PREDICATE` | `IN`, `LIKE`, `REGEXP`, `BETWEEN`, `SOUNDS LIKE`, `MEMBER OF` |
//! | `BIT_OR` ... `BIT_XOR` | `\|`; `&`; `<<`, `>>`; `+`, `-`; `*`, `/`, `DIV`, `%`, `MOD`; `^` |
//! | `CONCAT` | `\|\|` under PIPES_AS_CONCAT |
//! | `SIMPLE` | unary operators, `COLLATE`, everything else |

use super::{Parsed, Parser};
use crate::Deprecated;
use crate::ast::{Between, BinaryOp, DateArithmetic, Expr, IsTest, Like, Quantifier, UnaryOp};
use crate::lexer::{Keyword, TokenKind};

pub(super) const OR: u8 = 1;
const XOR: u8 = 2;
const AND: u8 = 3;
const NOT: u8 = 4;
const COMPARISON: u8 = 5;
const PREDICATE: u8 = 6;
pub(super) const BIT_OR: u8 = 7;
const BIT_AND: u8 = 8;
const SHIFT: u8 = 9;
const ADD: u8 = 10;
const MULTIPLY: u8 = 11;
const BIT_XOR: u8 = 12;
pub(super) const CONCAT: u8 = 13;
pub(super) const SIMPLE: u8 = 14;

/// What an infix token does.
#[derive(Clone, Copy)]
enum Infix {
    Or,
    Xor,
    And,
    Comparison(BinaryOp),
    Is,
    Predicate,
    Arithmetic(BinaryOp, u8),
}

impl Infix {
    fn level(self) -> u8 {
        match self {
            Infix::Or => OR,
            Infix::Xor => XOR,
            Infix::And => AND,
            Infix::Comparison(_) | Infix::Is => COMPARISON,
            Infix::Predicate => PREDICATE,
            Infix::Arithmetic(_, level) => level,
        }
    }

    /// The layer the left operand must be of at least.
    fn left_level(self) -> u8 {
        match self {
            Infix::Predicate => BIT_OR,
            other => other.level(),
        }
    }
}

impl Parser<'_> {
    /// An expression.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.expr_at(OR)
    }

    /// An expression none of whose outermost operators binds looser than `minimum`.
    pub(super) fn expr_at(&mut self, minimum: u8) -> Parsed<Expr> {
        self.enter(1)?;
        let around = std::mem::replace(&mut self.height, 0);
        let (left, level) = self.prefix(minimum)?;
        self.grow(self.height)?;
        let expr = self.infix(left, level, minimum);
        self.height = self.height.max(around);
        self.depth -= 1;
        expr
    }

    /// Goes on behind `left`, a simple expression that has been read already.
    pub(super) fn expr_behind(&mut self, left: Expr) -> Parsed<Expr> {
        let left = self.postfix(left)?;
        self.infix(left, SIMPLE, OR)
    }

    fn prefix(&mut self, minimum: u8) -> Parsed<(Expr, u8)> {
        if self.is(Keyword::NOT) && !self.options.high_not_precedence {
            if minimum > NOT {
                return self.fail();
            }
            self.advance();
            let operand = self.expr_at(NOT)?;
            return Ok((Expr::Unary(UnaryOp::Not, Box::new(operand)), NOT));
        }
        Ok((self.simple()?, SIMPLE))
    }

    fn infix(&mut self, mut left: Expr, mut level: u8, minimum: u8) -> Parsed<Expr> {
        while let Some(infix) = self.infix_operator()
            && infix.level() >= minimum
            && level >= infix.left_level()
        {
            let below = std::mem::replace(&mut self.height, 0);
            let flat = matches!((infix, &left), (Infix::Or, Expr::Or(_)) | (Infix::And, Expr::And(_)));
            (left, level) = self.apply(infix, left)?;
            let height = self.height.max(below);
            self.grow(if flat { height.max(self.height + 1) - 1 } else { height })?;
        }
        Ok(left)
    }

    fn infix_operator(&self) -> Option<Infix> {
        use BinaryOp::*;
        Some(match self.token.kind {
            TokenKind::Word => match self.token.keyword {
                Keyword::OR => Infix::Or,
                Keyword::XOR => Infix::Xor,
                Keyword::AND => Infix::And,
                Keyword::IS => Infix::Is,
                Keyword::IN
                | Keyword::LIKE
                | Keyword::REGEXP
                | Keyword::RLIKE
                | Keyword::BETWEEN
                | Keyword::NOT => Infix::Predicate,
                Keyword::SOUNDS if self.peek().keyword == Keyword::LIKE => Infix::Predicate,
                Keyword::MEMBER => match self.peek() {
                    next if next.keyword == Keyword::OF || next.kind == TokenKind::Symbol(b'(') => {
                        Infix::Predicate
                    }
                    _ => return None,
                },
                Keyword::DIV => Infix::Arithmetic(IntegerDivide, MULTIPLY),
                Keyword::MOD => Infix::Arithmetic(Modulo, MULTIPLY),
                _ => return None,
            },
            TokenKind::OrOr if self.options.pipes_as_concat => Infix::Arithmetic(Concat, CONCAT),
            TokenKind::OrOr => Infix::Or,
            TokenKind::AndAnd => Infix::And,
            TokenKind::NullSafeEqual => Infix::Comparison(NullSafeEqual),
            TokenKind::NotEqual => Infix::Comparison(NotEqual),
            TokenKind::LessEqual => Infix::Comparison(LessEqual),
            TokenKind::GreaterEqual => Infix::Comparison(GreaterEqual),
            TokenKind::ShiftLeft => Infix::Arithmetic(ShiftLeft, SHIFT),
            TokenKind::ShiftRight => Infix::Arithmetic(ShiftRight, SHIFT),
            TokenKind::Symbol(symbol) => match symbol {
                b'=' => Infix::Comparison(Equal),
                b'<' => Infix::Comparison(Less),
                b'>' => Infix::Comparison(Greater),
                b'|' => Infix::Arithmetic(BitOr, BIT_OR),
                b'&' => Infix::Arithmetic(BitAnd, BIT_AND),
                b'+' => Infix::Arithmetic(Plus, ADD),
                b'-' => Infix::Arithmetic(Minus, ADD),
                b'*' => Infix::Arithmetic(Multiply, MULTIPLY),
                b'/' => Infix::Arithmetic(Divide, MULTIPLY),
                b'%' => Infix::Arithmetic(Modulo, MULTIPLY),
                b'^' => Infix::Arithmetic(BitXor, BIT_XOR),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Reads an operator and its right operand; gives the node and its layer. Each kind of node has a function of its
    /// own, so that none makes the frames of this recursion large.
    fn apply(&mut self, infix: Infix, left: Expr) -> Parsed<(Expr, u8)> {
        match infix {
            Infix::Or => self.or(left),
            Infix::Xor => self.xor(left),
            Infix::And => self.and(left),
            Infix::Comparison(op) => self.comparison(op, left),
            Infix::Is => self.is_test(left),
            Infix::Predicate => self.predicate(left),
            Infix::Arithmetic(op, _)
                if matches!(op, BinaryOp::Plus | BinaryOp::Minus)
                    && self.peek().keyword == Keyword::INTERVAL =>
            {
                self.plus_interval(op, left)
            }
            Infix::Arithmetic(op, level) => self.arithmetic(op, level, left),
        }
    }

    fn or(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        if self.advance().kind == TokenKind::OrOr {
            self.note(Deprecated::OrOr);
        }
        let right = self.expr_at(XOR)?;
        Ok((or(left, right), OR))
    }

    fn and(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        if self.advance().kind == TokenKind::AndAnd {
            self.note(Deprecated::AndAnd);
        }
        let right = self.expr_at(NOT)?;
        Ok((and(left, right), AND))
    }

    fn xor(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        self.advance();
        let right = self.expr_at(AND)?;
        Ok((Expr::Binary(BinaryOp::Xor, Box::new(left), Box::new(right)), XOR))
    }

    fn arithmetic(&mut self, op: BinaryOp, level: u8, left: Expr) -> Parsed<(Expr, u8)> {
        self.advance();
        let left = Box::new(left);
        let right = Box::new(self.expr_at(level + 1)?);
        Ok((Expr::Binary(op, left, right), level))
    }

    /// `left + INTERVAL ...`. Nothing of an interval can be an operand of what follows, so the whole is:
    /// `d + INTERVAL 1 DAY * 2`.
    fn plus_interval(&mut self, op: BinaryOp, left: Expr) -> Parsed<(Expr, u8)> {
        self.advance();
        self.advance();
        match self.interval_or_function()? {
            IntervalOr::Interval(amount, unit) => {
                let subtract = op == BinaryOp::Minus;
                let date = DateArithmetic { date: left, subtract, amount, unit };
                Ok((Expr::DateArithmetic(Box::new(date)), BIT_XOR))
            }
            IntervalOr::Function(function) => {
                let right = self.infix(function, SIMPLE, ADD + 1)?;
                Ok((Expr::Binary(op, Box::new(left), Box::new(right)), ADD))
            }
        }
    }

    fn comparison(&mut self, op: BinaryOp, left: Expr) -> Parsed<(Expr, u8)> {
        self.advance();
        let quantified = match self.token.keyword {
            Keyword::ALL => true,
            Keyword::ANY | Keyword::SOME => self.peek().kind == TokenKind::Symbol(b'('),
            _ => false,
        };
        let left = Box::new(left);
        if quantified && op != BinaryOp::NullSafeEqual {
            let quantifier = if self.is(Keyword::ALL) { Quantifier::All } else { Quantifier::Any };
            self.advance();
            let query = self.subquery()?;
            return Ok((Expr::Quantified(op, quantifier, left, query), COMPARISON));
        }
        let right = Box::new(self.expr_at(PREDICATE)?);
        Ok((Expr::Binary(op, left, right), COMPARISON))
    }

    fn is_test(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        self.advance();
        let negated = self.accept(Keyword::NOT);
        let test = match self.expect_any(&[Keyword::NULL, Keyword::TRUE, Keyword::FALSE, Keyword::UNKNOWN])? {
            Keyword::NULL => IsTest::Null,
            Keyword::TRUE => IsTest::True,
            Keyword::FALSE => IsTest::False,
            _ => IsTest::Unknown,
        };
        let level = if test == IsTest::Null { COMPARISON } else { NOT };
        Ok((Expr::Is { negated, operand: Box::new(left), test }, level))
    }

    /// IN, LIKE, REGEXP, BETWEEN, with or without NOT; SOUNDS LIKE; MEMBER OF.
    fn predicate(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        let negated = self.accept(Keyword::NOT);
        let operators = &[Keyword::IN, Keyword::LIKE, Keyword::BETWEEN, Keyword::REGEXP, Keyword::RLIKE];
        if negated && !self.is_any(operators) {
            return self.fail();
        }
        match self.advance().keyword {
            Keyword::IN => self.in_list(left, negated),
            Keyword::LIKE => self.like(left, negated),
            Keyword::BETWEEN => self.between(left, negated),
            Keyword::SOUNDS => self.sounds_like(left),
            Keyword::MEMBER => self.member_of(left),
            _ => self.regexp(left, negated),
        }
    }

    fn like(&mut self, operand: Expr, negated: bool) -> Parsed<(Expr, u8)> {
        let pattern = self.expr_at(CONCAT)?;
        let escape = if self.accept(Keyword::ESCAPE) { Some(self.expr_at(CONCAT)?) } else { None };
        Ok((Expr::Like(Box::new(Like { negated, operand, pattern, escape })), PREDICATE))
    }

    fn between(&mut self, operand: Expr, negated: bool) -> Parsed<(Expr, u8)> {
        let low = self.expr_at(BIT_OR)?;
        self.expect(Keyword::AND)?;
        let high = self.expr_at(PREDICATE)?;
        Ok((Expr::Between(Box::new(Between { negated, operand, low, high })), PREDICATE))
    }

    fn sounds_like(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        self.expect(Keyword::LIKE)?;
        let right = self.expr_at(BIT_OR)?;
        Ok((Expr::SoundsLike(Box::new(left), Box::new(right)), PREDICATE))
    }

    fn member_of(&mut self, left: Expr) -> Parsed<(Expr, u8)> {
        self.accept(Keyword::OF);
        self.expect_symbol(b'(')?;
        let array = self.expr_at(CONCAT)?;
        self.expect_symbol(b')')?;
        Ok((Expr::MemberOf(Box::new(left), Box::new(array)), PREDICATE))
    }

    fn regexp(&mut self, left: Expr, negated: bool) -> Parsed<(Expr, u8)> {
        let pattern = Box::new(self.expr_at(BIT_OR)?);
        Ok((Expr::Regexp { negated, operand: Box::new(left), pattern }, PREDICATE))
    }

    fn in_list(&mut self, left: Expr, negated: bool) -> Parsed<(Expr, u8)> {
        if !self.is_symbol(b'(') {
            return self.fail();
        }
        let operand = Box::new(left);
        let expr = match self.parentheses()? {
            Parenthesised::Query(query) => Expr::InSubquery { negated, operand, query },
            Parenthesised::Exprs(list) => Expr::InList { negated, operand, list },
        };
        Ok((expr, PREDICATE))
    }
}

/// What `INTERVAL` turned out to be.
pub(super) enum IntervalOr {
    /// `INTERVAL amount unit`.
    Interval(Expr, crate::ast::IntervalUnit),
    /// `INTERVAL(n, a, b)`.
    Function(Expr),
}

/// What was between parentheses.
pub(super) enum Parenthesised {
    /// A query.
    Query(Box<crate::ast::Query>),
    /// One expression or several.
    Exprs(Vec<Expr>),
}

/// Appends to a chain of ORs.
fn or(left: Expr, right: Expr) -> Expr {
    match left {
        Expr::Or(mut terms) => {
            terms.push(right);
            Expr::Or(terms)
        }
        other => Expr::Or(vec![other, right]),
    }
}

/// Appends to a chain of ANDs.
fn and(left: Expr, right: Expr) -> Expr {
    match left {
        Expr::And(mut terms) => {
            terms.push(right);
            Expr::And(terms)
        }
        other => Expr::And(vec![other, right]),
    }
}
