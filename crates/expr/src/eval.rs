//! The evaluator.

use std::cmp::Ordering;
use std::sync::Arc;

use palisade_base::error_catalogue::{ER_UNKNOWN_SYSTEM_VARIABLE, ER_WRONG_ARGUMENTS};
use palisade_base::mysql_error;
use palisade_catalog::types::LobSize;
use palisade_catalog::watch::PIECE;
use palisade_catalog::{Charset, CollationId, SqlType, Value, ValueRef};

use super::cast::type_of_text;
use super::context::AtHand;
use super::convert::{refuse_loss, text_of, year_as_number};
use super::membership::Found;
use super::{Comparison, Context, Domain, Expr, Loss, Node, Truth};
use crate::func::{Evaluation, Function, Purity};
use crate::place::At;
use crate::session_state::UserVariable;
use crate::{SqlAttempt, SqlResult};

/// A truth value as a value.
pub fn truth_value(truth: Option<bool>) -> Value {
    match truth {
        Some(truth) => Value::Int(i64::from(truth)),
        None => Value::Null,
    }
}

impl Expr {
    /// Whether its value can be [borrowed](Self::borrow) whatever the row.
    pub fn is_at_hand(&self) -> bool {
        match self.node {
            Node::Literal(_) | Node::Parameter(_) => true,
            _ => self.as_plain_column().is_some(),
        }
    }

    /// Whether its value is the same for all rows of a statement and costs nothing to find: a literal or a
    /// parameter.
    pub fn is_constant(&self) -> bool {
        match &self.node {
            Node::Literal(_) | Node::Parameter(_) => true,
            Node::Cast { operand, target } => target.is_comparison() && operand.is_constant(),
            _ => false,
        }
    }

    /// Slot and column, if the value is a column's as it is stored: of any type but TIMESTAMP, which has to
    /// be converted, and a YEAR that has been computed, which is sent as a number.
    pub fn as_plain_column(&self) -> Option<(usize, usize)> {
        match self.node {
            Node::Column { slot, column, computed, .. } => match self.ty {
                SqlType::Timestamp { .. } => None,
                SqlType::Year if computed => None,
                _ => Some((slot, column)),
            },
            _ => None,
        }
    }

    /// The same, or a TIMESTAMP.
    pub fn as_sent_column(&self) -> Option<(usize, usize)> {
        match (&self.node, &self.ty) {
            (Node::Column { slot, column, .. }, SqlType::Timestamp { .. }) => Some((*slot, *column)),
            _ => self.as_plain_column(),
        }
    }

    /// The value, borrowed, where it is at hand: a literal, a parameter, a column (but for what
    /// [`as_plain_column`](Self::as_plain_column) excepts).
    #[inline]
    pub fn borrow<'c>(&'c self, cx: &'c Context<'_>) -> Option<SqlResult<ValueRef<'c>>> {
        self.borrow_from(cx.at_hand())
    }

    /// The same, for what evaluates nothing else.
    pub fn borrow_from<'c>(&'c self, at_hand: AtHand<'c>) -> Option<SqlResult<ValueRef<'c>>> {
        match &self.node {
            Node::Literal(value) => Some(Ok(value.as_ref())),
            Node::Parameter(number) => {
                Some(Ok(at_hand.parameters.get(*number).map_or(ValueRef::Null, Value::as_ref)))
            }
            Node::Column { slot, column, computed, .. } => {
                match at_hand.frame.slots.at(*slot).and_then(|slot| slot.value(*column)) {
                    Ok(ValueRef::Timestamp(_)) => None,
                    Ok(ValueRef::Year(_)) if *computed => None,
                    other => Some(other),
                }
            }
            _ => None,
        }
    }

    /// What a function of the library makes of its arguments.
    #[inline]
    fn called(&self, cx: &mut Context<'_>, function: &Function, arguments: &[Expr]) -> SqlAttempt<Value> {
        match function.evaluation {
            Evaluation::Lazy(evaluate) => evaluate(cx, arguments, self),
            Evaluation::Strict(evaluate) | Evaluation::Nullable(evaluate) => {
                let Some(values) = cx.arguments(function, arguments)? else { return Ok(Value::Null) };
                cx.call(function.name, &values, |cx| evaluate(cx, &values, arguments, self))
            }
        }
    }

    /// The value. May ask to wait if there is a subquery in it; it is then simply evaluated again.
    pub fn eval(&self, cx: &mut Context<'_>) -> SqlAttempt<Value> {
        match &self.node {
            Node::Literal(value) => Ok(value.clone()),
            Node::Column { slot, column, .. } => {
                Ok(match cx.state.frame.slots.at(*slot)?.value(*column)? {
                    ValueRef::Timestamp(timestamp) => Value::DateTime(timestamp.to_datetime(cx.zone())),
                    other => other.to_owned(),
                })
            }
            Node::Parameter(number) => Ok(cx.parameters.get(*number).cloned().unwrap_or_default()),
            // What is read before another expression changes it is read once, too.
            Node::UserVariable(name) => cx.once(self, |cx| Ok(cx.session.user_variables.value(name))),
            Node::AssignUserVariable(name, operand) => cx.once(self, |cx| {
                let value = operand.eval(cx)?;
                assign(cx, name, value.clone(), &operand.ty)?;
                Ok(value)
            }),
            Node::SystemVariable { scope, name } => match cx.host.variable(cx.session, *scope, name)? {
                Some(value) => Ok(value),
                None => Err(mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name).into()),
            },
            Node::Negate(operand) => match operand.eval(cx)? {
                Value::Null => Ok(Value::Null),
                value => Ok(cx.negate(&value, self)?),
            },
            Node::BitNot(operand) => match operand.eval(cx)? {
                Value::Null => Ok(Value::Null),
                value => {
                    let complement = cx.complement(&value, operand, self);
                    cx.attempt(complement)
                }
            },
            Node::Arithmetic { op, numeric, left, right } => cx.operation(*op, *numeric, [left, right], self),
            Node::Bits { op, left, right } => {
                let mut first = left.eval(cx)?;
                if first.is_null() {
                    return Ok(Value::Null);
                }
                // A text is read at once: it is warned of even if the other one is NULL.
                if matches!(first, Value::Bytes(_)) && !self.ty.is_string() {
                    first = Value::UInt(cx.to_bits(first.as_ref())?);
                }
                let second = right.eval(cx)?;
                if second.is_null() {
                    return Ok(Value::Null);
                }
                let bits = cx.bits(*op, [left, right], [&first, &second], self);
                cx.attempt(bits)
            }
            Node::Cast { operand, target } => {
                let value = operand.eval(cx)?;
                let cast = cx.cast(value, operand, target);
                cx.attempt(cast)
            }
            Node::Transcode { operand, to, loss } => match operand.eval(cx)? {
                Value::Null => Ok(Value::Null),
                value => {
                    if *loss != Loss::Allowed {
                        let text = text_of(&value, &operand.ty);
                        let (from, to) = (operand.ty.collation().get().charset, to.get().charset);
                        let is_shown_from_there = *loss == Loss::RefusedByColumn && from == Charset::Binary;
                        let checked = cx.watched(|watch| {
                            let valid =
                                if is_shown_from_there { to.valid_len_watched(&text, watch) } else { 0 };
                            refuse_loss(text.get(valid..).unwrap_or_default(), from, to, watch)
                        });
                        cx.attempt(checked.and_then(|checked| checked))?;
                    }
                    let text = cx.valid_text(text_of(&value, &operand.ty), type_of_text(operand, *to), *to);
                    Ok(cx.attempt(text)?.map_or(Value::Null, Value::Bytes))
                }
            },
            Node::Case { branches, otherwise } => {
                for (condition, result) in branches {
                    if condition.test(cx)? == Some(true) {
                        let value = result.eval(cx)?;
                        let adapted = cx.adapt_chosen(value, &result.ty, &self.ty);
                        return cx.attempt(adapted);
                    }
                }
                match otherwise {
                    Some(otherwise) => {
                        let value = otherwise.eval(cx)?;
                        let adapted = cx.adapt_chosen(value, &otherwise.ty, &self.ty);
                        cx.attempt(adapted)
                    }
                    None => Ok(Value::Null),
                }
            }
            Node::Call { function, arguments } if function.purity != Purity::Pure => {
                cx.once(self, |cx| self.called(cx, function, arguments))
            }
            Node::Call { function, arguments } => self.called(cx, function, arguments),
            Node::Subquery(subquery) => {
                let value =
                    cx.once(self, |cx| cx.subqueries.value(cx.session, cx.parameters, cx.state, subquery))?;
                Ok(year_as_number(value))
            }
            Node::Compare { .. }
            | Node::And(_)
            | Node::Or(_)
            | Node::Xor(..)
            | Node::Not(_)
            | Node::Is { .. }
            | Node::In { .. }
            | Node::Between { .. }
            | Node::Like { .. } => Ok(truth_value(self.test(cx)?)),
        }
    }

    /// Whether a condition of WHERE, ON or HAVING holds. As [`test`](Self::test), but of a conjunction
    /// nothing is evaluated behind the first part that is not true, be it NULL: so MySQL does, and what the
    /// others have to say is not said.
    pub fn holds(&self, cx: &mut Context<'_>) -> SqlAttempt<bool> {
        match &self.node {
            Node::And(parts) => {
                for part in parts {
                    if !part.holds(cx)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(self.test(cx)? == Some(true)),
        }
    }

    /// The value as a truth value.
    pub fn test(&self, cx: &mut Context<'_>) -> SqlAttempt<Option<bool>> {
        match &self.node {
            Node::Compare { comparison, domain, left, right } => {
                let null_safe = *comparison == Comparison::NullSafeEqual;
                let (ordering, nulls) = compare_operands(cx, left, right, *domain, null_safe)?;
                Ok(if null_safe {
                    Some(match ordering {
                        Some(ordering) => ordering == Ordering::Equal,
                        None => nulls == (true, true),
                    })
                } else {
                    ordering.map(|ordering| comparison.holds(ordering))
                })
            }
            Node::And(parts) => {
                let mut result = Some(true);
                for part in parts {
                    match part.test(cx)? {
                        Some(false) => return Ok(Some(false)),
                        None => result = None,
                        Some(true) => {}
                    }
                }
                Ok(result)
            }
            Node::Or(parts) => {
                let mut result = Some(false);
                for part in parts {
                    match part.test(cx)? {
                        Some(true) => return Ok(Some(true)),
                        None => result = None,
                        Some(false) => {}
                    }
                }
                Ok(result)
            }
            Node::Xor(left, right) => {
                let Some(left) = left.test(cx)? else { return Ok(None) };
                Ok(right.test(cx)?.map(|right| left != right))
            }
            Node::Not(operand) => Ok(operand.test(cx)?.map(|truth| !truth)),
            Node::Is { operand, truth, negated } => {
                let holds = match truth {
                    Truth::Null => match operand.borrow(cx) {
                        Some(value) => value?.is_null(),
                        None => operand.eval(cx)?.is_null(),
                    },
                    Truth::True => operand.test(cx)? == Some(true),
                    Truth::False => operand.test(cx)? == Some(false),
                };
                Ok(Some(holds != *negated))
            }
            Node::In { operand, list, negated } => {
                let mut value = operand.eval(cx)?;
                if value.is_null() {
                    read_list(cx, list)?;
                    return Ok(None);
                }
                // Read once, so that it is warned of once.
                match list.first() {
                    Some((Domain::DateOrNone, _)) => {
                        let date = cx.to_datetime(value.as_ref());
                        let Some(date) = cx.attempt(date)? else { return Ok(Some(*negated)) };
                        // Of a text among dates the day counts.
                        value = Value::DateTime(match operand.ty.is_string() {
                            true => date.date().at_midnight(),
                            false => date,
                        });
                    }
                    Some((Domain::TimeOrNone, _)) => {
                        let time = cx.to_time(value.as_ref());
                        let Some(time) = cx.attempt(time)? else {
                            let has_null = list.iter().any(|(_, item)| item.ty == SqlType::Null);
                            return Ok((!has_null).then_some(*negated));
                        };
                        value = Value::Time(time);
                    }
                    _ => {}
                }
                if let Found::Answer(found) = cx.find_in_list(list, &value, &operand.ty)? {
                    return Ok(found.map(|found| found != *negated));
                }
                let mut unknown = false;
                for (domain, item) in list.iter() {
                    let item = item.eval(cx)?;
                    let ordering = cx.compare(value.as_ref(), item.as_ref(), *domain);
                    match cx.attempt(ordering)? {
                        Some(Ordering::Equal) => return Ok(Some(!negated)),
                        None => unknown = true,
                        _ => {}
                    }
                }
                Ok(if unknown { None } else { Some(*negated) })
            }
            Node::Between { operand, domain, low, high, negated } => {
                let value = operand.eval(cx)?;
                if value.is_null() {
                    return Ok(None);
                }
                let low = low.eval(cx)?;
                let above = cx.compare(value.as_ref(), low.as_ref(), *domain);
                let above = cx.attempt(above)?.map(|o| o != Ordering::Less);
                let high = high.eval(cx)?;
                let below = cx.compare(value.as_ref(), high.as_ref(), *domain);
                let below = cx.attempt(below)?.map(|o| o != Ordering::Greater);
                let within = match (above, below) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                };
                Ok(within.map(|within| within != *negated))
            }
            Node::Like { operand, pattern, escape, collation, negated } => {
                let escape = match escape {
                    None => palisade_catalog::Bytes::from("\\"),
                    Some(escape) => escape_of(cx, escape)?,
                };
                let value = operand.eval(cx)?;
                if value.is_null() {
                    return Ok(None);
                }
                let pattern_value = pattern.eval(cx)?;
                if pattern_value.is_null() {
                    return Ok(None);
                }
                let text = text_of(&value, &operand.ty);
                let pattern = text_of(&pattern_value, &pattern.ty);
                let like =
                    collation.get().like_counted(&text, &pattern, &escape, |units| cx.checkpoint(units));
                Ok(Some(cx.attempt(like)? != *negated))
            }
            _ => {
                if let Some(value) = self.borrow(cx) {
                    match value? {
                        ValueRef::Null => return Ok(None),
                        ValueRef::Int(value) => return Ok(Some(value != 0)),
                        _ => {}
                    }
                }
                let value = self.eval(cx)?;
                if let (SqlType::Json, Value::Bytes(text)) = (&self.ty, &value) {
                    return Ok(Some(cx.json_truth(text)));
                }
                Ok(cx.to_bool(value.as_ref())?)
            }
        }
    }
}

/// The type of a user variable that is NULL: that of the value which is, or of the one before where NULL is
/// written.
fn null_type(ty: &SqlType, before: Option<&SqlType>, connection: CollationId) -> SqlType {
    match ty {
        SqlType::Null => before.cloned().unwrap_or(SqlType::Blob { size: LobSize::Long }),
        SqlType::Int { unsigned: true, .. } => SqlType::BIGINT_UNSIGNED,
        SqlType::Int { .. } | SqlType::Bit { .. } | SqlType::Year => SqlType::BIGINT,
        SqlType::Decimal { .. } => SqlType::Decimal { precision: 65, scale: 30, unsigned: false },
        SqlType::Float { .. } | SqlType::Double { .. } => SqlType::DOUBLE,
        // The collation is that of the value, if there is one.
        _ => match before {
            Some(text) if text.is_string() => text.clone(),
            _ => SqlType::Text { size: LobSize::Long, collation: connection },
        },
    }
}

/// Stores a user variable. TIMESTAMP and other temporal values become text, as in MySQL. 1037 if the
/// session's variables would hold more than [`KEPT_LIMIT`](crate::session_state::KEPT_LIMIT).
pub fn assign(cx: &mut Context<'_>, name: &Arc<str>, value: Value, ty: &SqlType) -> SqlResult<()> {
    let collation = match ty {
        ty if ty.is_string() => ty.collation(),
        // MySQL says so of a date, which no character needs.
        ty if ty.is_temporal() => CollationId::LATIN1_SWEDISH_CI,
        _ => cx.session.variables.collation_connection,
    };
    let variable = match value {
        Value::Null => {
            let before = cx.session.user_variables.with(name, |before| before.ty.clone());
            let ty = null_type(ty, before.as_ref(), cx.session.variables.collation_connection);
            UserVariable { value, ty }
        }
        Value::Int(_) => UserVariable { value, ty: SqlType::BIGINT },
        Value::UInt(_) => UserVariable { value, ty: SqlType::BIGINT_UNSIGNED },
        Value::Year(year) => UserVariable { value: Value::UInt(year.into()), ty: SqlType::BIGINT_UNSIGNED },
        Value::Bit { bits, .. } if !ty.is_string() => {
            UserVariable { value: Value::UInt(bits), ty: SqlType::BIGINT_UNSIGNED }
        }
        Value::Decimal(decimal) => {
            let ty = SqlType::Decimal { precision: 65, scale: decimal.scale(), unsigned: false };
            UserVariable { value, ty }
        }
        Value::Float(float) => UserVariable { value: Value::Double(f64::from(float)), ty: SqlType::DOUBLE },
        Value::Double(_) => UserVariable { value, ty: SqlType::DOUBLE },
        other => {
            let text = text_of(&other, ty);
            let ty = match ty {
                SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. } => {
                    SqlType::Blob { size: LobSize::Long }
                }
                _ => SqlType::Text { size: LobSize::Long, collation },
            };
            UserVariable { value: Value::Bytes(text), ty }
        }
    };
    cx.session.set_user_variable(name, variable)
}

/// The character that LIKE is given for ESCAPE, which MySQL looks at before the first row: 1210 for several.
fn escape_of(cx: &mut Context<'_>, escape: &Expr) -> SqlAttempt<palisade_catalog::Bytes> {
    let value = escape.eval(cx)?;
    if value.is_null() {
        return Ok("\\".into());
    }
    let text = text_of(&value, &escape.ty);
    let collation = if escape.ty.is_string() { escape.ty.collation() } else { CollationId::UTF8MB4_BIN };
    match collation.get().charset.char_count(&text) {
        0 | 1 => Ok(text),
        _ => Err(mysql_error!(ER_WRONG_ARGUMENTS, "ESCAPE").into()),
    }
}

/// Reads the list of IN beside a NULL: MySQL does so as long as numbers are compared.
fn read_list(cx: &mut Context<'_>, list: &[(Domain, Expr)]) -> SqlAttempt<()> {
    let is_number = |domain: &Domain| matches!(domain, Domain::Integer | Domain::Decimal | Domain::Double);
    for (domain, item) in list.iter().take_while(|(domain, _)| is_number(domain)) {
        // What costs nothing to find has nothing to tell, unless it is a text that is read as a number.
        if item.is_constant() && (*domain != Domain::Double || !item.ty.is_string()) {
            continue;
        }
        let value = item.eval(cx)?;
        if matches!(value, Value::Bytes(_)) && *domain == Domain::Double {
            cx.to_f64(value.as_ref())?;
        }
    }
    Ok(())
}

/// Compares two operands; where both are at hand and of one kind, without copying them. Also tells which are
/// NULL. Beside a NULL on the left the right one is not computed, unless `null_safe`.
fn compare_operands(
    cx: &mut Context<'_>,
    left: &Expr,
    right: &Expr,
    domain: Domain,
    null_safe: bool,
) -> SqlAttempt<(Option<Ordering>, (bool, bool))> {
    if let (Some(l), Some(r)) = (left.borrow(cx), right.borrow(cx)) {
        let (l, r) = (l?, r?);
        if l.is_null() || r.is_null() {
            return Ok((None, (l.is_null(), r.is_null())));
        }
        let quick = match (domain, l, r) {
            (Domain::Integer, ValueRef::Int(l), ValueRef::Int(r)) => Some(l.cmp(&r)),
            (Domain::Integer, ValueRef::UInt(l), ValueRef::UInt(r)) => Some(l.cmp(&r)),
            (Domain::Text(collation), ValueRef::Bytes(l), ValueRef::Bytes(r))
                if l.len().max(r.len()) <= PIECE =>
            {
                Some(collation.get().compare(l, r))
            }
            (Domain::Decimal, ValueRef::Decimal(l), ValueRef::Decimal(r)) => Some(l.cmp(&r)),
            (Domain::Double, ValueRef::Double(l), ValueRef::Double(r)) => l.partial_cmp(&r),
            (Domain::DateTime, ValueRef::Date(l), ValueRef::Date(r)) => Some(l.cmp(&r)),
            (Domain::DateTime, ValueRef::DateTime(l), ValueRef::DateTime(r)) => Some(l.cmp(&r)),
            _ => None,
        };
        if quick.is_some() {
            return Ok((quick, (false, false)));
        }
    }
    let l = left.eval(cx)?;
    if l.is_null() && !null_safe {
        return Ok((None, (true, false)));
    }
    let r = right.eval(cx)?;
    if r.is_null() && matches!(l, Value::Bytes(_)) && domain == Domain::Double {
        // It has been read before it is known that the other one is NULL.
        cx.to_f64(l.as_ref())?;
    }
    let ordering = cx.compare(l.as_ref(), r.as_ref(), domain);
    let ordering = cx.attempt(ordering)?;
    Ok((ordering, (l.is_null(), r.is_null())))
}

impl Context<'_> {
    /// A branch's value in the type that IF, CASE, COALESCE, UNION give all branches.
    pub fn adapt(&mut self, value: Value, from: &SqlType, to: &SqlType) -> SqlResult<Value> {
        Ok(match (to, &value) {
            (_, Value::Null) => Value::Null,
            (SqlType::Int { unsigned: false, .. }, Value::Int(_)) => value,
            (SqlType::Int { unsigned: true, .. }, Value::UInt(_)) => value,
            (SqlType::Int { unsigned, .. }, _) => {
                let wide = self.to_integer(value.as_ref())?;
                if *unsigned { Value::UInt(wide as u64) } else { Value::Int(wide as i64) }
            }
            (SqlType::Decimal { scale, .. }, _) => {
                let decimal = self.to_decimal(value.as_ref())?;
                Value::Decimal(decimal.round(i32::from(*scale)).unwrap_or(decimal))
            }
            (SqlType::Double { .. }, Value::Double(_)) => value,
            (SqlType::Double { .. }, _) => Value::Double(self.to_f64(value.as_ref())?),
            (SqlType::Float { .. }, Value::Float(_)) => value,
            (SqlType::Float { .. }, _) => Value::Float(self.to_f64(value.as_ref())? as f32),
            (SqlType::Date, Value::Date(_)) | (SqlType::Time { .. }, Value::Time(_)) => value,
            (SqlType::DateTime { .. } | SqlType::Timestamp { .. }, Value::DateTime(_)) => value,
            (SqlType::DateTime { .. } | SqlType::Timestamp { .. }, _) => {
                self.to_datetime(value.as_ref())?.map_or(Value::Null, Value::DateTime)
            }
            (SqlType::Date, _) => {
                self.to_datetime(value.as_ref())?.map_or(Value::Null, |datetime| Value::Date(datetime.date()))
            }
            (SqlType::Time { .. }, _) => self.to_time(value.as_ref())?.map_or(Value::Null, Value::Time),
            (to, Value::Bytes(_)) if to.is_string() && from.collation() == to.collation() => value,
            (SqlType::Enum { .. } | SqlType::Set { .. }, _) => value,
            (to, _) if to.is_string() => {
                let text = text_of(&value, from);
                let from = if from.is_string() { from.collation() } else { to.collation() };
                Value::Bytes(self.transcode(text, from, to.collation())?)
            }
            _ => value,
        })
    }

    /// The value of the branch that IF or CASE took, in the type of the whole: as [`adapt`](Self::adapt), but
    /// a DECIMAL keeps the digits behind the point that it has, so that `IF(FALSE, 1.50, 2)` is 2 and not
    /// 2.00.
    pub fn adapt_chosen(&mut self, value: Value, from: &SqlType, to: &SqlType) -> SqlResult<Value> {
        match (to, &value) {
            (_, Value::Null) | (SqlType::Decimal { .. }, Value::Decimal(_)) => Ok(value),
            // CastTarget::Chosen
            _ if *from == SqlType::Null => Ok(value),
            (SqlType::Decimal { .. }, _) => Ok(Value::Decimal(self.to_decimal(value.as_ref())?)),
            (SqlType::Year, _) => Ok(Value::Year(self.to_i64(value.as_ref())?.clamp(0, 9999) as u16)),
            _ => self.adapt(value, from, to),
        }
    }
}
