//! `+ - * / DIV %`.

use palisade_base::error_catalogue::{ER_DATA_OUT_OF_RANGE, ER_DIVISION_BY_ZERO};
use palisade_base::mysql_error;
use palisade_catalog::decimal::DecimalError;
use palisade_catalog::{Decimal, SqlType, Value, ValueRef};

use super::convert::settled;
use super::{ArithmeticOp, Context, Expr, Node, Numeric};
use crate::mode::SqlMode;
use crate::{SqlAttempt, SqlError, SqlResult};

/// In which numbers an operation on operands of these types is done.
pub fn numeric_of(op: ArithmeticOp, left: &SqlType, right: &SqlType, mode: SqlMode) -> Numeric {
    let class = |ty: &SqlType| match ty {
        SqlType::Int { .. } | SqlType::Year | SqlType::Bit { .. } => 0,
        SqlType::Null if op == ArithmeticOp::IntegerDivide => 0,
        SqlType::Decimal { .. } => 1,
        SqlType::Date => 0,
        SqlType::Time { fsp } | SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => u8::from(*fsp > 0),
        _ => 2,
    };
    let widest = class(left).max(class(right));
    match op {
        ArithmeticOp::IntegerDivide => match widest {
            0 if left.is_unsigned() || right.is_unsigned() => Numeric::Unsigned,
            0 => Numeric::Signed,
            _ => Numeric::Decimal,
        },
        _ if widest == 2 => Numeric::Double,
        _ if widest == 1 || op == ArithmeticOp::Divide => Numeric::Decimal,
        ArithmeticOp::Modulo => {
            if left.is_unsigned() {
                Numeric::Unsigned
            } else {
                Numeric::Signed
            }
        }
        ArithmeticOp::Subtract if mode.has(SqlMode::NO_UNSIGNED_SUBTRACTION) => Numeric::Signed,
        _ if left.is_unsigned() || right.is_unsigned() => Numeric::Unsigned,
        _ => Numeric::Signed,
    }
}

/// Precision and scale of a number as a decimal.
pub fn decimal_shape(ty: &SqlType) -> (u8, u8) {
    use palisade_catalog::types::IntWidth;
    match ty {
        SqlType::Decimal { precision, scale, .. } => (*precision, *scale),
        SqlType::Int { width, unsigned } => {
            let digits = match width {
                IntWidth::Tiny => 3,
                IntWidth::Small => 5,
                IntWidth::Medium => 8 - u8::from(!*unsigned),
                IntWidth::Int => 10,
                IntWidth::Big => 20 - u8::from(!*unsigned),
            };
            (digits, 0)
        }
        SqlType::Year => (4, 0),
        SqlType::Bit { .. } => (20, 0),
        SqlType::Date => (8, 0),
        SqlType::Time { fsp } => (7 + fsp, *fsp),
        SqlType::DateTime { fsp } | SqlType::Timestamp { fsp } => (14 + fsp, *fsp),
        SqlType::Null => (1, 0),
        _ => (65, 30),
    }
}

/// Digits behind the point that values of a type have where they are doubles; `UNFIXED` if that is not fixed.
pub fn double_scale(ty: &SqlType) -> u8 {
    if ty.is_string() { UNFIXED } else { ty.wire_decimals() }
}

/// So many digits and more are as many as a double takes.
pub const UNFIXED: u8 = 31;

/// DOUBLE, shown with so many digits behind the point.
pub fn double_of_scale(scale: u8) -> SqlType {
    let digits = (scale < UNFIXED).then_some((22, scale));
    SqlType::Double { unsigned: false, digits }
}

/// The type of an operation's result.
pub fn result_type(
    op: ArithmeticOp,
    numeric: Numeric,
    left: &SqlType,
    right: &SqlType,
    division_increment: u8,
) -> SqlType {
    if op == ArithmeticOp::IntegerDivide && (*left == SqlType::Null || *right == SqlType::Null) {
        return quotient_of_null(left, right);
    }
    match numeric {
        Numeric::Signed => SqlType::BIGINT,
        Numeric::Unsigned => SqlType::BIGINT_UNSIGNED,
        Numeric::Double => {
            let scale = double_scale(left).max(double_scale(right));
            match op {
                ArithmeticOp::Divide => double_of_scale(scale.saturating_add(division_increment)),
                // What is left of a division has the sign of the number that is divided.
                ArithmeticOp::Modulo => {
                    let digits = (scale < UNFIXED).then_some((22, scale));
                    SqlType::Double { unsigned: left.is_unsigned(), digits }
                }
                _ => double_of_scale(scale),
            }
        }
        Numeric::Decimal => {
            let ((lp, ls), (rp, rs)) = (decimal_shape(left), decimal_shape(right));
            let (li, ri) = (lp.saturating_sub(ls), rp.saturating_sub(rs));
            let unsigned = left.is_unsigned() && (right.is_unsigned() || op == ArithmeticOp::Modulo);
            let (integer, scale) = match op {
                ArithmeticOp::Add | ArithmeticOp::Subtract => (li.max(ri) + 1, ls.max(rs)),
                ArithmeticOp::Multiply => (li.saturating_add(ri), ls.saturating_add(rs).min(30)),
                ArithmeticOp::Divide => {
                    let scale = ls.saturating_add(division_increment).min(30);
                    (li.saturating_add(rs), scale)
                }
                // As many digits as the longer one, before and behind the point, and one more of what has no
                // sign.
                ArithmeticOp::Modulo => {
                    let scale = ls.max(rs);
                    (lp.max(rp).saturating_sub(scale).saturating_add(u8::from(unsigned)), scale)
                }
                ArithmeticOp::IntegerDivide => {
                    let unsigned = left.is_unsigned() || right.is_unsigned();
                    return if unsigned { SqlType::BIGINT_UNSIGNED } else { SqlType::BIGINT };
                }
            };
            let precision = integer.saturating_add(scale).clamp(1, 65);
            SqlType::Decimal { precision, scale, unsigned }
        }
    }
}

/// The type of a DIV of which one side is NULL: as wide as the digits of the left side ask for.
fn quotient_of_null(left: &SqlType, right: &SqlType) -> SqlType {
    use palisade_catalog::types::IntWidth;
    let digits = |ty: &SqlType| {
        let (precision, scale) = decimal_shape(ty);
        precision.saturating_sub(scale)
    };
    let is_exact = |ty: &SqlType| decimal_shape(ty) != decimal_shape(&SqlType::DOUBLE);
    let narrow = digits(left) <= 10 && is_exact(right);
    let width = if narrow { IntWidth::Int } else { IntWidth::Big };
    SqlType::Int { width, unsigned: left.is_unsigned() || right.is_unsigned() }
}

impl Context<'_> {
    /// 1690: `expr` has a value that no number of that kind is.
    pub fn out_of_range(&self, kind: &str, expr: &Expr) -> SqlError {
        mysql_error!(ER_DATA_OUT_OF_RANGE, kind, self.shown(expr))
    }

    /// An expression as the client has written it: constants that were taken out of the text are put back.
    fn shown(&self, expr: &Expr) -> String {
        if !self.session.constants_are_parameters {
            return expr.to_string();
        }
        let mut shown = expr.clone();
        put_back(&mut shown, self.parameters);
        shown.to_string()
    }

    fn unsigned_result(&self, wide: Option<i128>, expr: &Expr) -> SqlResult<Value> {
        let value = wide.and_then(|wide| u64::try_from(wide).ok());
        value.map(Value::UInt).ok_or_else(|| self.out_of_range("BIGINT UNSIGNED", expr))
    }

    fn signed_result(&self, wide: Option<i128>, expr: &Expr) -> SqlResult<Value> {
        let value = wide.and_then(|wide| i64::try_from(wide).ok());
        value.map(Value::Int).ok_or_else(|| self.out_of_range("BIGINT", expr))
    }
}

fn put_back(expr: &mut Expr, constants: &[Value]) {
    if let Node::Parameter(number) = &expr.node
        && let Some(value) = constants.get(*number)
    {
        expr.node = Node::Literal(value.clone());
    }
    expr.children_mut(&mut |child| put_back(child, constants));
}

impl Context<'_> {
    /// 1365: NULL with a warning, nothing, or an error, by sql_mode.
    pub fn division_by_zero(&mut self) -> SqlResult<Value> {
        if self.mode().has(SqlMode::ERROR_FOR_DIVISION_BY_ZERO) {
            self.warn_or_fail(mysql_error!(ER_DIVISION_BY_ZERO))?;
        }
        Ok(Value::Null)
    }

    /// One operation on two operands; `expr` is named in overflow errors. Beside a NULL on the left MySQL
    /// computes the right one all the same, unless they are decimals.
    pub fn operation(
        &mut self,
        op: ArithmeticOp,
        numeric: Numeric,
        [left, right]: [&Expr; 2],
        expr: &Expr,
    ) -> SqlAttempt<Value> {
        if numeric == Numeric::Decimal
            && matches!(op, ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply)
        {
            return Ok(self.decimal_operation(op, [left, right], expr)?.map_or(Value::Null, Value::Decimal));
        }
        let left = self.operand(left, numeric)?;
        if left.is_null() && numeric == Numeric::Decimal {
            return Ok(Value::Null);
        }
        let right = self.operand(right, numeric)?;
        if left.is_null() || right.is_null() {
            return Ok(Value::Null);
        }
        Ok(self.arithmetic(op, numeric, &left, &right, expr)?)
    }

    /// Addition, subtraction and multiplication of decimals; those below it are done without making values of
    /// their results.
    fn decimal_operation(
        &mut self,
        op: ArithmeticOp,
        [left, right]: [&Expr; 2],
        expr: &Expr,
    ) -> SqlAttempt<Option<Decimal>> {
        let Some(left) = self.decimal_operand(left)? else { return Ok(None) };
        let Some(right) = self.decimal_operand(right)? else { return Ok(None) };
        match self.decimal_result(op, &left, &right) {
            Ok(result) if expr.ty.is_unsigned() && result.is_negative() => {
                Err(self.out_of_range("DECIMAL UNSIGNED", expr).into())
            }
            Ok(result) => Ok(Some(result)),
            Err(_) => Err(self.out_of_range("DECIMAL", expr).into()),
        }
    }

    fn decimal_result(
        &self,
        op: ArithmeticOp,
        left: &Decimal,
        right: &Decimal,
    ) -> Result<Decimal, DecimalError> {
        match op {
            ArithmeticOp::Add => left.add(right),
            ArithmeticOp::Subtract => left.subtract(right),
            ArithmeticOp::Multiply => left.multiply(right),
            ArithmeticOp::Divide => left.divide(right, self.session.variables.div_precision_increment),
            ArithmeticOp::Modulo => left.remainder(right),
            ArithmeticOp::IntegerDivide => left.integer_divide(right),
        }
    }

    /// An operand as a decimal; `None` of NULL.
    pub fn decimal_operand(&mut self, operand: &Expr) -> SqlAttempt<Option<Decimal>> {
        match &operand.node {
            Node::Arithmetic {
                op: op @ (ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply),
                numeric: Numeric::Decimal,
                left,
                right,
            } => return self.decimal_operation(*op, [left, right], operand),
            Node::Column { .. } | Node::Literal(_) | Node::Parameter(_) => match operand.borrow(self) {
                Some(Ok(ValueRef::Decimal(number))) => return Ok(Some(number)),
                Some(Ok(ValueRef::Int(number))) => return Ok(Some(Decimal::from(number))),
                _ => {}
            },
            _ => {}
        }
        let value = operand.eval(self)?;
        if value.is_null() {
            return Ok(None);
        }
        Ok(Some(self.to_decimal(value.as_ref())?))
    }

    /// The value of an operand. A text is read at once: it is warned of even if the other one is NULL.
    #[inline]
    fn operand(&mut self, operand: &Expr, numeric: Numeric) -> SqlAttempt<Value> {
        let value = operand.eval(self)?;
        Ok(match (&value, numeric) {
            (Value::Bytes(_), Numeric::Double) => Value::Double(self.to_f64(value.as_ref())?),
            (Value::Bytes(_), Numeric::Decimal) => Value::Decimal(self.to_decimal(value.as_ref())?),
            _ => value,
        })
    }

    /// One operation on two numbers, neither NULL. `expr` is named in overflow errors.
    pub fn arithmetic(
        &mut self,
        op: ArithmeticOp,
        numeric: Numeric,
        left: &Value,
        right: &Value,
        expr: &Expr,
    ) -> SqlResult<Value> {
        match numeric {
            Numeric::Signed | Numeric::Unsigned => {
                let (l, r) = (self.to_integer(left.as_ref())?, self.to_integer(right.as_ref())?);
                let wide = match op {
                    ArithmeticOp::Add => l.checked_add(r),
                    ArithmeticOp::Subtract => l.checked_sub(r),
                    // Of two unsigned numbers it may not even fit here.
                    ArithmeticOp::Multiply => l.checked_mul(r),
                    _ if r == 0 => return self.division_by_zero(),
                    ArithmeticOp::Modulo => Some(l % r),
                    ArithmeticOp::IntegerDivide | ArithmeticOp::Divide => Some(l / r),
                };
                if numeric == Numeric::Signed {
                    self.signed_result(wide, expr)
                } else {
                    self.unsigned_result(wide, expr)
                }
            }
            Numeric::Double => {
                let (l, r) = (self.to_f64(left.as_ref())?, self.to_f64(right.as_ref())?);
                let result = match op {
                    ArithmeticOp::Add => l + r,
                    ArithmeticOp::Subtract => l - r,
                    ArithmeticOp::Multiply => l * r,
                    _ if r == 0.0 => return self.division_by_zero(),
                    ArithmeticOp::Divide => l / r,
                    ArithmeticOp::Modulo => l % r,
                    ArithmeticOp::IntegerDivide => (l / r).trunc(),
                };
                if result.is_finite() {
                    Ok(Value::Double(result))
                } else {
                    Err(self.out_of_range("DOUBLE", expr))
                }
            }
            Numeric::Decimal => {
                let (l, r) = (self.to_decimal(left.as_ref())?, self.to_decimal(right.as_ref())?);
                match self.decimal_result(op, &l, &r) {
                    Err(DecimalError::DivisionByZero) => self.division_by_zero(),
                    Err(DecimalError::Overflow) if op == ArithmeticOp::IntegerDivide => {
                        let kind = if expr.ty.is_unsigned() { "BIGINT UNSIGNED" } else { "BIGINT" };
                        Err(self.out_of_range(kind, expr))
                    }
                    Err(DecimalError::Overflow) => Err(self.out_of_range("DECIMAL", expr)),
                    Ok(quotient) if op == ArithmeticOp::IntegerDivide => {
                        if expr.ty.is_unsigned() {
                            quotient
                                .to_u64()
                                .map(Value::UInt)
                                .map_err(|_| self.out_of_range("BIGINT UNSIGNED", expr))
                        } else {
                            quotient.to_i64().map(Value::Int).map_err(|_| self.out_of_range("BIGINT", expr))
                        }
                    }
                    Ok(quotient) if op == ArithmeticOp::Divide => {
                        Ok(settled(Value::Decimal(quotient), &expr.ty))
                    }
                    Ok(result) if expr.ty.is_unsigned() && result.is_negative() => {
                        Err(self.out_of_range("DECIMAL UNSIGNED", expr))
                    }
                    Ok(result) => Ok(Value::Decimal(result)),
                }
            }
        }
    }

    /// `-x`, not NULL.
    pub fn negate(&mut self, value: &Value, expr: &Expr) -> SqlResult<Value> {
        Ok(match &expr.ty {
            SqlType::Int { .. } => {
                let wide = -self.to_integer(value.as_ref())?;
                self.signed_result(Some(wide), expr)?
            }
            SqlType::Decimal { .. } => Value::Decimal(self.to_decimal(value.as_ref())?.negate()),
            _ => Value::Double(-self.to_f64(value.as_ref())?),
        })
    }
}
