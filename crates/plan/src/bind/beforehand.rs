//! Which constants beside dates and times are [converted before the first row](palisade_expr::beforehand),
//! and how texts beside dates are read.

use palisade_catalog::temporal::TemporalMode;
use palisade_catalog::{SqlType, Value};
use palisade_expr::beforehand::{Beforehand, Beside, Standing, Unfit};
use palisade_expr::func::Purity;
use palisade_expr::{CastTarget, Comparison, Expr, Node};

use super::Binder;
use super::predicate::is_mixed;

/// Reads a literal text as a date and time once for all, if it is one without doubt.
pub(super) fn literal_date(expr: &mut Expr) {
    let strict = TemporalMode { no_zero_date: true, no_zero_in_date: true, ..TemporalMode::default() };
    if let Node::Literal(Value::Bytes(text)) = &expr.node
        && let Some((parsed, None)) = palisade_catalog::DateTime::parse(text, strict)
        && !parsed.truncated
    {
        *expr = Expr::literal(Value::DateTime(parsed.value), SqlType::DateTime { fsp: 6 });
    }
}

/// How much of a text that depends on the row is compared with a DATE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The day, by an operator that compares it with what depends on the row, too.
    Day,
    /// The time of day as well: beside a constant, in lists, ranges, CASE and NULLIF.
    Moment,
}

impl Part {
    /// What an operator compares with a date.
    pub(super) fn beside(date: &Expr) -> Part {
        if date.is_same_for_all_rows() { Part::Moment } else { Part::Day }
    }
}

/// A text beside a date as that date; what is none is said for each row.
pub(super) fn text_beside_date(expr: &mut Expr, with: &Expr, part: Part) {
    if let Some(beside) = beside(with).filter(|beside| !matches!(beside.ty, SqlType::Time { .. })) {
        read_as_date(expr, beside, Unfit::Warns, part);
    }
}

/// A text beside a date and a number, which are the bounds of a range: any date will do, be it no day of the
/// calendar.
pub(super) fn text_beside_number(expr: &mut Expr, with: &Expr) {
    if let Some(beside) = beside(with).filter(|beside| !matches!(beside.ty, SqlType::Time { .. })) {
        read_as_date(expr, beside, Unfit::AnyDay, Part::Moment);
    }
}

fn read_as_date(expr: &mut Expr, beside: Beside, unfit: Unfit, part: Part) {
    literal_date(expr);
    if expr.ty.is_string() {
        let is_value = expr.is_constant() || matches!(expr.node, Node::UserVariable(_));
        let day = part == Part::Day && beside.ty == SqlType::Date && !is_value;
        let text = std::mem::replace(expr, Expr::null());
        let target = CastTarget::ComparedDate { beside: Box::new(beside), unfit, day };
        let ty = target.result_type(&text.ty);
        *expr = Expr::computed(Node::Cast { operand: Box::new(text), target }, ty, true);
    }
}

/// Whether a value is known when an execution begins: that of a parameter or a user variable.
fn is_value_of_execution(expr: &Expr) -> bool {
    matches!(expr.node, Node::Parameter(_) | Node::UserVariable(_))
}

/// What a date or time is to a text or number beside it.
fn beside(with: &Expr) -> Option<Beside> {
    let is_moment = matches!(
        with.ty,
        SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. } | SqlType::Time { .. }
    );
    let column = match &with.node {
        Node::Column { name, computed: false, .. } => Some(name.rsplit('.').next().unwrap_or(name)),
        _ => None,
    };
    let column = column.map(|name| name.trim_matches('`').into());
    is_moment.then(|| Beside { ty: with.ty.clone(), column })
}

impl Binder<'_> {
    /// Whether the value of an expression is known when the statement is resolved.
    fn is_known(&self, expr: &Expr) -> bool {
        let mut known = true;
        expr.walk(&mut |part| {
            known &= match &part.node {
                Node::Parameter(_) => self.session.constants_are_parameters,
                Node::Call { function, .. } => function.purity == Purity::Pure,
                Node::Column { .. }
                | Node::UserVariable(_)
                | Node::AssignUserVariable(..)
                | Node::SystemVariable { .. }
                | Node::Subquery(_) => false,
                _ => true,
            };
        });
        known
    }

    /// Notes the constants of a call that are computed before the first row: lengths, and texts of which the
    /// digits of a second's fraction are counted.
    pub(super) fn note_constants_of_call(&mut self, function: &str, arguments: &[Expr]) {
        let (places, are_lengths) = match function {
            "space" => (0..1, true),
            "left" | "right" | "lpad" | "rpad" | "repeat" => (1..2, true),
            "substr" | "substring" => (1..3, true),
            "timediff" => (0..2, false),
            _ => return,
        };
        for constant in arguments.iter().take(places.end).skip(places.start) {
            let is_written = matches!(constant.node, Node::Literal(_) | Node::Parameter(_));
            if !is_written && (are_lengths || constant.ty.is_string()) && self.is_known(constant) {
                self.beforehand.push(Beforehand {
                    constant: constant.clone(),
                    beside: None,
                    standing: Standing::Alone,
                });
            }
        }
    }

    /// Notes a constant that is compared with `with`, if it is to be converted before the first row.
    pub(super) fn convert_beforehand(&mut self, constant: &Expr, with: &Expr, standing: Standing) {
        let Some(beside) = beside(with) else { return };
        let is_time = matches!(beside.ty, SqlType::Time { .. });
        let is_text = constant.ty.is_string() && constant.ty != SqlType::Json;
        let is_number = constant.ty.is_numeric();
        let of_column = beside.column.is_some() && (is_text || is_number);
        let (converts, standing) = match standing {
            // Beside a number each bound is converted, and none must be a date.
            Standing::Bound(other) if is_text && !is_time && other.ty.is_numeric() => {
                (of_column, Standing::BesideNumber)
            }
            Standing::BesideNumber => (of_column, Standing::BesideNumber),
            Standing::Bound(other) if is_text && !is_time => (true, Standing::Bound(other)),
            Standing::Bound(_) => (of_column, Standing::Alone),
            Standing::Listed { numbers } => (is_text || is_number, Standing::Listed { numbers }),
            Standing::Alone | Standing::BesideText => (of_column || is_text && !is_time, Standing::Alone),
        };
        let is_listed = matches!(standing, Standing::Listed { .. } | Standing::BesideNumber);
        if converts && (self.is_known(constant) || is_listed && is_value_of_execution(constant)) {
            self.beforehand.push(Beforehand { constant: constant.clone(), beside: Some(beside), standing });
        }
    }

    /// A text that is compared with a date alone: a constant must be one, and is converted before the first
    /// row.
    pub(super) fn text_beside_one_date(
        &mut self,
        expr: &mut Expr,
        with: &Expr,
        comparison: Comparison,
        part: Part,
    ) {
        let Some(beside) = beside(with).filter(|beside| !matches!(beside.ty, SqlType::Time { .. })) else {
            return;
        };
        literal_date(expr);
        let is_parameter = matches!(expr.node, Node::Parameter(_));
        let unfit = match comparison {
            _ if self.is_known(expr) => Unfit::Fails,
            Comparison::NullSafeEqual => Unfit::Warns,
            _ if is_parameter => Unfit::Fails,
            _ => Unfit::Warns,
        };
        read_as_date(expr, beside, unfit, part);
    }

    /// A condition of WHERE that a date column is equal to a text which user variables decide: MySQL knows
    /// that text before the first row, so it must be a date like a constant.
    pub(super) fn note_variable_beside_date(&mut self, condition: &Expr) {
        let Node::Compare { comparison: Comparison::Equal, left, right, .. } = &condition.node else {
            return;
        };
        for (text, column) in [(left, right), (right, left)] {
            if let Node::Cast { operand, target: CastTarget::ComparedDate { beside, .. } } = &text.node
                && column.is_field()
                && self.is_decided_by_variables(operand)
            {
                let (constant, beside) = ((**operand).clone(), Some((**beside).clone()));
                self.beforehand.push(Beforehand { constant, beside, standing: Standing::Alone });
            }
        }
    }

    fn is_decided_by_variables(&self, expr: &Expr) -> bool {
        let (mut decided, mut has_variable) = (true, false);
        expr.walk(&mut |part| match &part.node {
            Node::UserVariable(_) => has_variable = true,
            Node::Parameter(_) => decided &= self.session.constants_are_parameters,
            Node::Call { function, .. } => decided &= function.purity == Purity::Pure,
            Node::Column { .. } | Node::AssignUserVariable(..) | Node::Subquery(_) => decided = false,
            _ => {}
        });
        decided && has_variable
    }

    /// Notes a text in a list of dates and texts, in which a text is looked for: it is converted before the
    /// first row.
    pub(super) fn note_text_among_dates(&mut self, item: &Expr) {
        if item.ty.is_string() && self.is_known(item) {
            let beside = Some(Beside { ty: SqlType::Date, column: None });
            let standing = Standing::BesideText;
            self.beforehand.push(Beforehand { constant: item.clone(), beside, standing });
        }
    }

    /// Notes a constant text that stands beside a TIME column and a date: it is converted to a date before
    /// the first row.
    pub(super) fn note_text_beside_dated_time(&mut self, bound: &Expr, with: &Expr) {
        if bound.ty.is_text()
            && self.is_known(bound)
            && let Some(beside) = beside(with)
        {
            let beside = Some(Beside { ty: SqlType::DateTime { fsp: 6 }, ..beside });
            let standing = Standing::Listed { numbers: true };
            self.beforehand.push(Beforehand { constant: bound.clone(), beside, standing });
        }
    }

    /// The constants of a list in which a date or time is looked for: they are converted before the first
    /// row, and one that is none is the zero date or midnight; beside numbers a text that is no time is
    /// nothing.
    pub(super) fn list_beside_date(&mut self, list: &mut [Expr], with: &Expr) {
        let is_known = |item: &Expr| self.is_known(item) || is_value_of_execution(item);
        let Some(beside) = beside(with).filter(|_| list.iter().all(is_known)) else {
            return list.iter_mut().for_each(|item| text_beside_date(item, with, Part::Moment));
        };
        let is_text = |item: &Expr| item.ty.is_string() && item.ty != SqlType::Json;
        let numbers = list.iter().any(|item| item.ty.is_numeric());
        let texts = list.iter().any(is_text);
        let dates = list.iter().any(|item| item.ty.is_temporal());
        let is_mixed = is_mixed(with, list);
        for item in list {
            if is_text(item) || !texts && !dates {
                self.convert_beforehand(item, with, Standing::Listed { numbers });
            }
            match &beside.ty {
                SqlType::Time { .. } if !is_mixed && (is_text(item) || item.ty.is_numeric()) => {
                    let (operand, target) = (Box::new(item.clone()), CastTarget::ListedTime);
                    let nullable = item.nullable;
                    *item =
                        Expr::computed(Node::Cast { operand, target }, SqlType::Time { fsp: 6 }, nullable);
                }
                SqlType::Time { .. } => {}
                _ => read_as_date(item, beside.clone(), Unfit::Said, Part::Moment),
            }
        }
    }
}
