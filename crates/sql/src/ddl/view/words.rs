//! Expressions of a view in the words that MySQL shows them in: one name for each function, `concat` for
//! `||`, `count(0)` for `COUNT(*)`, `(0 <> x)` where a number is a truth, and no NOT in front of what has an
//! opposite.

use palisade_parser::ast::{
    AggregateKind, BinaryOp, CastCharset, CastType, Expr, FrameBound, Function, IsTest, Literal, UnaryOp,
    Window, WindowSpec,
};

/// Functions that have another name, and that name.
const SYNONYMS: [(&str, &str); 13] = [
    ("ceil", "ceiling"),
    ("character_length", "char_length"),
    ("day", "dayofmonth"),
    ("lcase", "lower"),
    ("mid", "substr"),
    ("octet_length", "length"),
    ("power", "pow"),
    ("substring", "substr"),
    ("session_user", "user"),
    ("system_user", "user"),
    ("ucase", "upper"),
    ("json_merge", "json_merge_preserve"),
    ("schema", "database"),
];

fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, Expr::Literal(Literal::Null))
}

fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Function(Box::new(Function { schema: None, name: name.to_owned(), arguments, is_generic: false }))
}

/// Rewrites the outermost part of an expression whose operands are rewritten. `charset` is the connection's.
pub(super) fn canonical(expr: &mut Expr, charset: &str) {
    match expr {
        Expr::Function(function) if function.schema.is_none() => {
            let known = SYNONYMS.iter().find(|(name, _)| name.eq_ignore_ascii_case(&function.name));
            if let Some((_, name)) = known {
                (*name).clone_into(&mut function.name);
            }
        }
        Expr::Aggregate(aggregate)
            if aggregate.kind == AggregateKind::Count && aggregate.arguments.is_empty() =>
        {
            aggregate.arguments.push(Expr::Literal(Literal::Integer(0)));
        }
        Expr::Aggregate(aggregate) => {
            if let Some(Window::Spec(spec)) = &mut aggregate.over {
                bounded(spec);
            }
        }
        Expr::WindowFunction(function) => {
            if let Window::Spec(spec) = &mut function.over {
                bounded(spec);
            }
        }
        Expr::Binary(BinaryOp::Concat, ..) => {
            let mut arguments = Vec::new();
            operands(take(expr), &mut arguments);
            *expr = call("concat", arguments);
        }
        Expr::Unary(UnaryOp::Plus, operand) => *expr = take(operand),
        Expr::Unary(UnaryOp::Not, operand) => {
            let operand = take(operand);
            *expr = opposite(operand);
        }
        Expr::And(terms) => {
            terms.iter_mut().for_each(truth);
            *terms = flat(std::mem::take(terms), |term| match term {
                Expr::And(inner) => Ok(inner),
                other => Err(other),
            });
        }
        Expr::Or(terms) => {
            terms.iter_mut().for_each(truth);
            *terms = flat(std::mem::take(terms), |term| match term {
                Expr::Or(inner) => Ok(inner),
                other => Err(other),
            });
        }
        Expr::Binary(BinaryOp::Xor, left, right) => {
            truth(left);
            truth(right);
        }
        _ => shorthand(expr, charset),
    }
}

/// The same of operators and casts that are calls in disguise, or leave something unsaid.
fn shorthand(expr: &mut Expr, charset: &str) {
    match expr {
        Expr::Regexp { negated, operand, pattern } => {
            let (negated, arguments) = (*negated, vec![take(operand), take(pattern)]);
            let matches = call("regexp_like", arguments);
            *expr = if negated { Expr::Unary(UnaryOp::Not, Box::new(matches)) } else { matches };
        }
        Expr::JsonPath { column, path, unquote } => {
            let path = Expr::Literal(Literal::String(palisade_parser::ast::StringLiteral {
                value: std::mem::take(path),
                charset: None,
            }));
            let unquote = *unquote;
            let extract = call("json_extract", vec![Expr::Column(std::mem::take(column)), path]);
            *expr = if unquote { call("json_unquote", vec![extract]) } else { extract };
        }
        Expr::Cast(cast) if !cast.array => {
            if cast.prefix_binary {
                let charset = Some(CastCharset::Named("binary".to_owned()));
                cast.target = CastType::Char { length: None, charset };
                cast.prefix_binary = false;
            }
            if let CastType::Binary(length) = &cast.target {
                let charset = Some(CastCharset::Named("binary".to_owned()));
                cast.target = CastType::Char { length: *length, charset };
            }
            if let CastType::Char { charset: named @ None, .. } = &mut cast.target {
                *named = Some(CastCharset::Named(charset.to_owned()));
            }
        }
        _ => {}
    }
}

/// Terms with those of inner chains of the same kind in their places.
fn flat(terms: Vec<Expr>, inner: impl Fn(Expr) -> Result<Vec<Expr>, Expr>) -> Vec<Expr> {
    let mut out = Vec::with_capacity(terms.len());
    for term in terms {
        match inner(term) {
            Ok(more) => out.extend(more),
            Err(term) => out.push(term),
        }
    }
    out
}

/// Says where the frame of a window ends.
pub(super) fn bounded(spec: &mut WindowSpec) {
    if let Some(frame) = &mut spec.frame {
        frame.end.get_or_insert(FrameBound::CurrentRow);
    }
}

/// The operands of `a || b || c`.
fn operands(expr: Expr, out: &mut Vec<Expr>) {
    match expr {
        Expr::Binary(BinaryOp::Concat, left, right) => {
            operands(*left, out);
            operands(*right, out);
        }
        other => out.push(other),
    }
}

fn opposite_of(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Equal => BinaryOp::NotEqual,
        BinaryOp::NotEqual => BinaryOp::Equal,
        BinaryOp::Less => BinaryOp::GreaterEqual,
        BinaryOp::GreaterEqual => BinaryOp::Less,
        BinaryOp::Greater => BinaryOp::LessEqual,
        BinaryOp::LessEqual => BinaryOp::Greater,
        _ => return None,
    })
}

/// NOT of an expression, by its opposite where it has one.
fn opposite(operand: Expr) -> Expr {
    match operand {
        Expr::Binary(op, left, right) => match opposite_of(op) {
            Some(op) => Expr::Binary(op, left, right),
            None => wrapped(Expr::Binary(op, left, right)),
        },
        Expr::Is { negated, operand, test: IsTest::Null } => {
            Expr::Is { negated: !negated, operand, test: IsTest::Null }
        }
        Expr::Between(mut between) => {
            between.negated = !between.negated;
            Expr::Between(between)
        }
        Expr::InList { negated, operand, list } => Expr::InList { negated: !negated, operand, list },
        Expr::And(terms) => Expr::Or(terms.into_iter().map(opposite).collect()),
        Expr::Or(terms) => Expr::And(terms.into_iter().map(opposite).collect()),
        Expr::Unary(UnaryOp::Not, operand) => {
            let mut operand = *operand;
            truth(&mut operand);
            operand
        }
        other if is_truth(&other) => wrapped(other),
        other => compared(BinaryOp::Equal, other),
    }
}

fn wrapped(operand: Expr) -> Expr {
    Expr::Unary(UnaryOp::Not, Box::new(operand))
}

/// `(0 = x)`, `(0 <> x)`.
fn compared(op: BinaryOp, operand: Expr) -> Expr {
    Expr::Binary(op, Box::new(Expr::Literal(Literal::Integer(0))), Box::new(operand))
}

/// What stands where a truth is wanted: what is none is compared with 0.
pub(super) fn truth(expr: &mut Expr) {
    if !is_truth(expr) {
        let operand = take(expr);
        *expr = compared(BinaryOp::NotEqual, operand);
    }
}

/// Functions whose value is a truth.
const TRUTHS: [&str; 11] = [
    "is_ipv4",
    "is_ipv4_compat",
    "is_ipv4_mapped",
    "is_ipv6",
    "is_uuid",
    "isnull",
    "json_contains",
    "json_contains_path",
    "json_overlaps",
    "json_valid",
    "regexp_like",
];

/// Whether the value of an expression is a truth, or a constant, which is left alone.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Binary(op, ..) => {
            opposite_of(*op).is_some() || matches!(op, BinaryOp::NullSafeEqual | BinaryOp::Xor)
        }
        Expr::Function(function) => TRUTHS.contains(&function.name.to_ascii_lowercase().as_str()),
        Expr::And(_)
        | Expr::Or(_)
        | Expr::Between(_)
        | Expr::InList { .. }
        | Expr::InSubquery { .. }
        | Expr::Quantified(..)
        | Expr::Like(_)
        | Expr::Regexp { .. }
        | Expr::SoundsLike(..)
        | Expr::MemberOf(..)
        | Expr::Is { .. }
        | Expr::Exists(_)
        | Expr::Unary(UnaryOp::Not, _)
        | Expr::Literal(Literal::Bool(_)) => true,
        _ => false,
    }
}
