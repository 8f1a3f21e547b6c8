//! Expressions: names resolved, types decided. Calls of functions and predicates have modules of their own.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{Collation, CollationId, Decimal, SqlType, Value};
use palisade_expr::arithmetic::{double_of_scale, double_scale, numeric_of, result_type};
use palisade_expr::common::{common, text_of};
use palisade_expr::compare::{aggregate_collations, incompatible, result_collation};
use palisade_expr::place::At;
use palisade_expr::{
    ArithmeticOp, BitOp, CastTarget, Coercibility, Comparison, Expr, Loss, Node, SqlError, SqlResult,
    Subquery, SubqueryUse, Truth, bits,
};
use palisade_parser::ast::{self, BinaryOp, IsTest, TrimSide, UnaryOp};

use super::compare::{bit_operation, compare_texts, comparison, negation, row_parts};
use super::json::{document_as_decimal, json_as_integer};
use super::literal::{charset_collation, text_literal};
use super::scope::Clause;
use super::types::{
    Member, as_number, chosen_as_number, chosen_date_as_number, computed_as_integer, date_text_as_integer,
    date_text_as_moment, extreme_date_as_integer, member_as_text, text_column_as_integer, text_length,
    transcode_choice, variable_as_integer,
};
use super::{Binder, not_supported, parameter_type};
use crate::logical::LogicalQuery;

impl Binder<'_> {
    /// Binds an expression that has one column.
    pub fn expr(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        self.bound += 1;
        self.pace.expression()?;
        let mut bound = self.expr_any(expr)?;
        self.fold(&mut bound);
        Ok(bound)
    }

    pub(super) fn expr_any(&mut self, expr: &ast::Expr) -> SqlResult<Expr> {
        match expr {
            ast::Expr::Literal(literal) => self.literal(literal),
            ast::Expr::Placeholder(number) => Ok(self.parameter(*number as usize)),
            ast::Expr::Column(name) => self.resolve(name),
            ast::Expr::UserVariable(name) => Ok(self.user_variable(name)),
            ast::Expr::SystemVariable(variable) => self.system_variable(variable),
            ast::Expr::AssignUserVariable(name, value) => {
                self.cacheable = false;
                self.has_effects = true;
                let value = self.expr(value)?;
                let (ty, nullable, coercibility) = (value.ty.clone(), value.nullable, value.coercibility);
                let name: Arc<str> = name.to_lowercase().into();
                self.assigned.insert(name.clone());
                Ok(Expr { node: Node::AssignUserVariable(name, Box::new(value)), ty, nullable, coercibility })
            }
            ast::Expr::Unary(op, operand) => self.unary(*op, operand),
            ast::Expr::And(parts) => {
                let parts = self.conditions(parts)?;
                let nullable = parts.iter().any(|part| part.nullable);
                Ok(Expr::truth(Node::And(parts), nullable))
            }
            ast::Expr::Or(parts) => {
                let parts = self.conditions(parts)?;
                let nullable = parts.iter().any(|part| part.nullable);
                Ok(Expr::truth(Node::Or(parts), nullable))
            }
            ast::Expr::Binary(op, left, right) => self.binary(*op, left, right),
            ast::Expr::DateArithmetic(arithmetic) => {
                let date = self.expr(&arithmetic.date)?;
                let amount = self.expr(&arithmetic.amount)?;
                let unit = Self::keyword(arithmetic.unit.keyword());
                let name = if arithmetic.subtract { "date_sub" } else { "date_add" };
                self.call(name, vec![date, amount, unit])
            }
            ast::Expr::Quantified(op, quantifier, operand, query) => {
                let comparison = comparison(*op).ok_or_else(|| not_supported("quantified comparison"))?;
                let all = *quantifier == ast::Quantifier::All;
                self.quantified(operand, query, comparison, all, false)
            }
            ast::Expr::Between(between) => self.between(between),
            ast::Expr::InList { negated, operand, list } => self.in_list(operand, list, *negated),
            ast::Expr::InSubquery { negated, operand, query }
                if row_parts(operand).is_none()
                    && let Some(literal) = literal_of(query) =>
            {
                let comparison = if *negated { Comparison::NotEqual } else { Comparison::Equal };
                let (operand, literal) = (self.expr(operand)?, self.expr(literal)?);
                self.compare(comparison, operand, literal)
            }
            ast::Expr::InSubquery { negated, operand, query } => {
                self.quantified(operand, query, Comparison::Equal, false, *negated)
            }
            ast::Expr::Like(like) => self.like(like),
            ast::Expr::Regexp { negated, operand, pattern } => {
                let arguments = vec![self.expr(operand)?, self.expr(pattern)?];
                let matched = self.call("regexp_like", arguments)?;
                Ok(if *negated { negation(matched) } else { matched })
            }
            ast::Expr::SoundsLike(left, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                let left = self.call("soundex", vec![left])?;
                let right = self.call("soundex", vec![right])?;
                self.compare(Comparison::Equal, left, right)
            }
            ast::Expr::MemberOf(value, array) => {
                let arguments = vec![self.expr(value)?, self.expr(array)?];
                self.call("member of", arguments)
            }
            ast::Expr::Is { negated, operand, test } => {
                let operand = self.expr(operand)?;
                let truth = match test {
                    IsTest::Null | IsTest::Unknown => Truth::Null,
                    IsTest::True => Truth::True,
                    IsTest::False => Truth::False,
                };
                Ok(Expr::truth(Node::Is { operand: Box::new(operand), truth, negated: *negated }, false))
            }
            ast::Expr::Row(_) => Err(mysql_error!(ER_OPERAND_COLUMNS, 1)),
            ast::Expr::Subquery(query) if let Some(literal) = literal_of(query) => self.expr(literal),
            ast::Expr::Subquery(query) => {
                let (number, correlated) = self.subquery(query)?;
                let plan = self.bound_subquery(number)?;
                let [column] = plan.output.as_slice() else {
                    return Err(mysql_error!(ER_OPERAND_COLUMNS, 1));
                };
                let subquery = Subquery { number, usage: SubqueryUse::Scalar, correlated };
                let value = Expr {
                    node: Node::Subquery(Box::new(subquery)),
                    ty: column.ty.clone(),
                    nullable: true,
                    coercibility: column.coercibility,
                };
                Ok(member_as_text(value, Member::OfOther))
            }
            ast::Expr::Exists(query) => {
                let (number, correlated) = self.subquery(query)?;
                let usage = SubqueryUse::Exists { negated: false };
                let subquery = Subquery { number, usage, correlated };
                Ok(Expr::truth(Node::Subquery(Box::new(subquery)), false))
            }
            ast::Expr::Case(case) => self.case(case),
            ast::Expr::Cast(cast) => self.cast(cast),
            ast::Expr::ConvertUsing(operand, charset) => {
                let operand = self.expr(operand)?;
                let collation = charset_collation(charset)?;
                let ty = text_of(u64::from(text_length(&operand)), collation);
                let nullable = operand.nullable;
                let node = Node::Transcode { operand: Box::new(operand), to: collation, loss: Loss::Allowed };
                Ok(Expr { node, ty, nullable, coercibility: Coercibility::Implicit })
            }
            ast::Expr::Collate(operand, name) => self.collate(operand, name),
            ast::Expr::JsonPath { column, path, unquote } => {
                let document = self.resolve(column)?;
                let path = text_literal(path.clone(), self.collation_connection());
                let extracted = self.call("json_extract", vec![document, path])?;
                if *unquote { self.call("json_unquote", vec![extracted]) } else { Ok(extracted) }
            }
            ast::Expr::Function(function) => self.function(function),
            ast::Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            ast::Expr::WindowFunction(function) => self.window_function(function),
            ast::Expr::Match(_) => Err(not_supported("MATCH AGAINST")),
            ast::Expr::Extract(unit, operand) => {
                let arguments = vec![Self::keyword(unit.keyword()), self.expr(operand)?];
                self.call("extract", arguments)
            }
            ast::Expr::TimestampAdd(unit, amount, date) => {
                let arguments = vec![Self::keyword(unit.keyword()), self.expr(amount)?, self.expr(date)?];
                self.call("timestampadd", arguments)
            }
            ast::Expr::TimestampDiff(unit, from, to) => {
                let arguments = vec![Self::keyword(unit.keyword()), self.expr(from)?, self.expr(to)?];
                self.call("timestampdiff", arguments)
            }
            ast::Expr::GetFormat(kind, region) => {
                let kind = match kind {
                    ast::FormatKind::Date => "date",
                    ast::FormatKind::Time => "time",
                    ast::FormatKind::DateTime => "datetime",
                };
                let arguments = vec![Self::keyword(kind), self.expr(region)?];
                self.call("get_format", arguments)
            }
            ast::Expr::Trim(trim) => {
                let side = match trim.side {
                    TrimSide::Both => "both",
                    TrimSide::Leading => "leading",
                    TrimSide::Trailing => "trailing",
                };
                let remove = match &trim.remove {
                    Some(remove) => self.expr(remove)?,
                    None => self.text(" "),
                };
                let arguments = vec![Self::keyword(side), remove, self.expr(&trim.operand)?];
                self.call("trim", arguments)
            }
            ast::Expr::Char(numbers, charset) => {
                let mut arguments = vec![Self::keyword(charset.as_deref().unwrap_or("binary"))];
                arguments.extend(self.all(numbers)?);
                self.call("char", arguments)
            }
            ast::Expr::WeightString(operand, cut) => self.weight_string(operand, *cut),
            ast::Expr::Values(column) => {
                let found = self.scopes.iter().rev().find_map(|scope| Some((scope, scope.inserted?)));
                let Some((scope, slot)) = found else { return Ok(Expr::null()) };
                let target = scope.inserted_column(column)?;
                let Node::Column { column: position, name, .. } = target.node else {
                    return Ok(Expr::null());
                };
                let name = format!("values({name})").into();
                let node = Node::Column { slot, column: position, name, computed: false };
                Ok(Expr { node, ty: target.ty, nullable: true, coercibility: target.coercibility })
            }
            ast::Expr::DefaultOf(column) => self.default_of(column),
            ast::Expr::Default => Err(not_supported("DEFAULT in an expression")),
            ast::Expr::JsonValue(value) => self.json_value(value),
            ast::Expr::IntervalFunction(arguments) => {
                let arguments = self.all(arguments)?;
                self.call("interval", arguments)
            }
        }
    }

    /// Binds several expressions.
    pub fn all(&mut self, exprs: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    pub(super) fn text(&self, text: &str) -> Expr {
        text_literal(text.as_bytes().to_vec(), self.collation_connection())
    }

    fn parameter(&self, number: usize) -> Expr {
        let collation = self.collation_connection();
        let ty = self.parameters.get(number).map_or(SqlType::Null, |value| parameter_type(value, collation));
        Expr {
            node: Node::Parameter(number),
            coercibility: if ty.is_string() { Coercibility::Literal } else { Coercibility::Numeric },
            nullable: matches!(ty, SqlType::Null),
            ty,
        }
    }

    fn user_variable(&mut self, name: &str) -> Expr {
        self.cacheable = false;
        let name: Arc<str> = name.to_lowercase().into();
        let ty = match self.session.user_variables.with(&name, |variable| variable.ty.clone()) {
            // Whatever digits it has now, as in MySQL: the next value may have others.
            Some(SqlType::Decimal { .. }) => SqlType::Decimal { precision: 65, scale: 30, unsigned: false },
            Some(ty) => ty,
            None => {
                let collation = self.collation_connection();
                SqlType::VarChar { length: 65_535 / 4, collation }
            }
        };
        Expr { node: Node::UserVariable(name), ty, nullable: true, coercibility: Coercibility::Implicit }
    }

    fn system_variable(&mut self, variable: &ast::SystemVariable) -> SqlResult<Expr> {
        use palisade_expr::services::Scope;
        self.cacheable = false;
        let scope = match variable.scope {
            ast::VariableScope::Unspecified => None,
            ast::VariableScope::Session => Some(Scope::Session),
            ast::VariableScope::Global => Some(Scope::Global),
            // to MySQL they are names of components
            ast::VariableScope::Persist => {
                return Err(mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, format!("persist.{}", variable.name)));
            }
            ast::VariableScope::PersistOnly => {
                let name = format!("persist_only.{}", variable.name);
                return Err(mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, name));
            }
        };
        let name = match &variable.component {
            Some(component) => format!("{component}.{}", variable.name),
            None => variable.name.to_ascii_lowercase(),
        };
        let Some(value) = self.host.variable(self.session, scope, &name)? else {
            return Err(mysql_error!(ER_UNKNOWN_SYSTEM_VARIABLE, variable.name));
        };
        let ty = match &value {
            Value::Null => SqlType::VarChar { length: 1024, collation: CollationId::UTF8MB3_GENERAL_CI },
            Value::Bytes(text) => {
                SqlType::VarChar { length: text.len() as u32, collation: CollationId::UTF8MB3_GENERAL_CI }
            }
            Value::Double(_) => SqlType::Double { unsigned: false, digits: Some((23, 6)) },
            other => parameter_type(other, CollationId::UTF8MB3_GENERAL_CI),
        };
        let coercibility = if ty.is_string() { Coercibility::SystemConstant } else { Coercibility::Numeric };
        Ok(Expr { node: Node::SystemVariable { scope, name: name.into() }, ty, nullable: true, coercibility })
    }

    fn unary(&mut self, op: UnaryOp, operand: &ast::Expr) -> SqlResult<Expr> {
        // The smallest BIGINT is written as a negation of a number that is none.
        if op == UnaryOp::Minus
            && let ast::Expr::Literal(ast::Literal::Integer(9_223_372_036_854_775_808)) = operand
        {
            return Ok(Expr::int(i64::MIN));
        }
        let operand = self.expr(operand)?;
        if let (UnaryOp::Minus, Some(negated)) = (op, self.negated_constant(&operand)) {
            return Ok(negated);
        }
        let nullable = operand.nullable;
        Ok(match op {
            // What is grouped by stays as it is.
            UnaryOp::Not if self.is_key_above(&operand) => {
                Expr::truth(Node::Not(Box::new(operand)), nullable)
            }
            UnaryOp::Not => negation(chosen_as_number(operand)),
            UnaryOp::Plus => operand,
            UnaryOp::BitNot => {
                let operand = date_text_as_integer(computed_as_integer(operand));
                let operand = text_column_as_integer(chosen_date_as_number(json_as_integer(operand)));
                let ty = match bits::is_bit_string(&operand) {
                    true => SqlType::VarBinary { length: bits::length(&operand) },
                    false => SqlType::BIGINT_UNSIGNED,
                };
                Expr::computed(Node::BitNot(Box::new(operand)), ty, nullable)
            }
            UnaryOp::Minus => {
                let operand = negative_as_decimal(as_number(operand));
                let ty = match &operand.ty {
                    SqlType::Int { .. } | SqlType::Year | SqlType::Bit { .. } => SqlType::BIGINT,
                    SqlType::Decimal { precision, scale, .. } => {
                        SqlType::Decimal { precision: *precision, scale: *scale, unsigned: false }
                    }
                    _ if matches!(operand.node, Node::Literal(Value::Bit { .. })) => double_of_scale(0),
                    ty => double_of_scale(double_scale(ty)),
                };
                Expr::computed(Node::Negate(Box::new(operand)), ty, nullable)
            }
        })
    }

    /// Expressions of which it is asked whether they are true.
    fn conditions(&mut self, parts: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        let parts = self.all(parts)?.into_iter();
        Ok(parts.map(chosen_as_number).collect())
    }

    fn binary(&mut self, op: BinaryOp, left: &ast::Expr, right: &ast::Expr) -> SqlResult<Expr> {
        if let Some(comparison) = comparison(op) {
            if let (Some(left), Some(right)) = (row_parts(left), row_parts(right)) {
                return self.compare_rows(comparison, left, right);
            }
            let left = self.expr(left)?;
            let right = self.expr(right)?;
            return self.compare(comparison, left, right);
        }
        let mut left = self.expr(left)?;
        let mut right = self.expr(right)?;
        let wants_bits = matches!(
            op,
            BinaryOp::BitOr
                | BinaryOp::BitAnd
                | BinaryOp::BitXor
                | BinaryOp::ShiftLeft
                | BinaryOp::ShiftRight
        );
        if op == BinaryOp::Xor {
            (left, right) = (chosen_as_number(left), chosen_as_number(right));
        } else if !wants_bits && op != BinaryOp::Concat {
            if op == BinaryOp::IntegerDivide {
                (left, right) = (document_as_decimal(left), document_as_decimal(right));
            }
            (left, right) = (as_number(left), as_number(right));
        }
        let nullable = left.nullable || right.nullable;
        let arithmetic = match op {
            BinaryOp::Plus => ArithmeticOp::Add,
            BinaryOp::Minus => ArithmeticOp::Subtract,
            BinaryOp::Multiply => ArithmeticOp::Multiply,
            BinaryOp::Divide => ArithmeticOp::Divide,
            BinaryOp::IntegerDivide => ArithmeticOp::IntegerDivide,
            BinaryOp::Modulo => ArithmeticOp::Modulo,
            BinaryOp::Concat => return self.call("concat", vec![left, right]),
            BinaryOp::Xor => return Ok(Expr::truth(Node::Xor(Box::new(left), Box::new(right)), nullable)),
            BinaryOp::BitOr => return Ok(bit_operation(BitOp::Or, left, right)),
            BinaryOp::BitAnd => return Ok(bit_operation(BitOp::And, left, right)),
            BinaryOp::BitXor => return Ok(bit_operation(BitOp::Xor, left, right)),
            BinaryOp::ShiftLeft => return Ok(bit_operation(BitOp::ShiftLeft, left, right)),
            BinaryOp::ShiftRight => return Ok(bit_operation(BitOp::ShiftRight, left, right)),
            _ => unreachable!("comparisons were dealt with above"),
        };
        Ok(self.arithmetic(arithmetic, left, right))
    }

    /// `left + right`, or `left - right`.
    pub(super) fn sum_or_difference(&self, left: Expr, right: Expr, sum: bool) -> Expr {
        self.arithmetic(if sum { ArithmeticOp::Add } else { ArithmeticOp::Subtract }, left, right)
    }

    fn arithmetic(&self, arithmetic: ArithmeticOp, left: Expr, right: Expr) -> Expr {
        let nullable = left.nullable || right.nullable;
        let (left_type, right_type) = (left.numeric_type(), right.numeric_type());
        let numeric = numeric_of(arithmetic, left_type, right_type, self.session.variables.sql_mode);
        let increment = self.session.variables.div_precision_increment;
        let ty = result_type(arithmetic, numeric, left_type, right_type, increment);
        let divides =
            matches!(arithmetic, ArithmeticOp::Divide | ArithmeticOp::IntegerDivide | ArithmeticOp::Modulo);
        let node = Node::Arithmetic { op: arithmetic, numeric, left: Box::new(left), right: Box::new(right) };
        Expr::computed(node, ty, nullable || divides)
    }

    /// Whether an expression of HAVING or ORDER BY is one of GROUP BY.
    fn is_key_above(&self, expr: &Expr) -> bool {
        let scope = self.scopes.last();
        scope.is_some_and(|scope| {
            matches!(scope.clause, Clause::Having | Clause::Order) && scope.group.contains(expr)
        })
    }

    fn case(&mut self, case: &ast::Case) -> SqlResult<Expr> {
        // Of several errors MySQL tells that of the first branch before that of the operand, and of ELSE
        // last.
        let (mut asked, mut results) = (Vec::new(), Vec::new());
        for (condition, result) in &case.branches {
            asked.push(self.expr(condition)?);
            results.push(self.expr(result)?);
        }
        let conditions = self.case_conditions(case, asked)?;
        let mut branches: Vec<(Expr, Expr)> = conditions.into_iter().zip(results).collect();
        let mut otherwise = match &case.otherwise {
            Some(otherwise) => Some(self.expr(otherwise)?),
            None => None,
        };
        let results: Vec<Expr> =
            branches.iter().map(|(_, result)| result.clone()).chain(otherwise.clone()).collect();
        let results: Vec<&Expr> = results.iter().collect();
        let ty = common(&results, self.collation_connection(), "case")?.ty;
        let nullable = otherwise.is_none() || results.iter().any(|result| result.nullable);
        let coercibility = match result_collation(&results, "case") {
            Ok((_, strength)) if ty.is_string() && strength != Coercibility::Numeric => strength,
            _ if ty.is_string() => Coercibility::Literal,
            _ if ty == SqlType::Null => Coercibility::Null,
            _ => Coercibility::Numeric,
        };
        if ty.is_text() {
            branches.iter_mut().try_for_each(|(_, result)| transcode_choice(result, ty.collation()))?;
            otherwise.iter_mut().try_for_each(|result| transcode_choice(result, ty.collation()))?;
        }
        let node = Node::Case { branches, otherwise: otherwise.map(Box::new) };
        Ok(Expr { node, ty, nullable, coercibility })
    }

    /// The conditions of the branches, by what their WHEN `asked`. The texts that are compared with a text
    /// agree on one collation.
    fn case_conditions(&mut self, case: &ast::Case, asked: Vec<Expr>) -> SqlResult<Vec<Expr>> {
        let mut pairs = Vec::with_capacity(asked.len());
        let mut conditions = Vec::with_capacity(asked.len());
        for value in asked {
            match &case.operand {
                Some(operand) => pairs.push((self.expr(operand)?, value)),
                None => conditions.push(as_number(value)),
            }
        }
        let is_text = |expr: &&Expr| expr.ty.is_string() && expr.ty != SqlType::Json;
        let operand = pairs.first().map(|(operand, _)| operand).filter(is_text);
        let values = pairs.iter().map(|(_, value)| value).filter(is_text);
        let texts: Vec<&Expr> = operand.into_iter().chain(values).collect();
        let collation = match operand.is_some() && texts.len() > 1 {
            true => {
                let mut all: Vec<&Expr> = pairs.first().map(|(operand, _)| operand).into_iter().collect();
                all.extend(pairs.iter().map(|(_, value)| value));
                let found = aggregate_collations(&texts, "case").map_err(|_| incompatible(&all, "case"));
                Some(found?.0)
            }
            false => None,
        };
        for (operand, value) in pairs {
            conditions.push(match collation {
                Some(collation) if is_text(&&value) => compare_texts(operand, value, collation)?,
                _ => self.compare_case(operand, value)?,
            });
        }
        Ok(conditions)
    }

    fn weight_string(
        &mut self,
        operand: &ast::Expr,
        cut: Option<(ast::WeightStringAs, u64)>,
    ) -> SqlResult<Expr> {
        let operand = self.expr(operand)?;
        let arguments = match cut {
            None => vec![operand],
            Some((ast::WeightStringAs::Char, count)) => {
                vec![operand, Expr::int(i64::try_from(count).unwrap_or(i64::MAX))]
            }
            Some((ast::WeightStringAs::Binary, count)) => {
                let target = CastTarget::Binary { length: Some(count) };
                let (ty, nullable) = (target.result_type(&operand.ty), operand.nullable);
                let node = Node::Cast { operand: Box::new(operand), target };
                vec![Expr::computed(node, ty, nullable)]
            }
        };
        self.call("weight_string", arguments)
    }

    fn cast(&mut self, cast: &ast::Cast) -> SqlResult<Expr> {
        if cast.array || cast.at_time_zone.is_some() {
            return Err(not_supported(if cast.array { "CAST ... ARRAY" } else { "AT TIME ZONE" }));
        }
        let mut operand = self.expr(&cast.operand)?;
        let target = self.cast_target(&cast.target)?;
        if target.is_number() {
            operand = chosen_date_as_number(operand);
        }
        if matches!(target, CastTarget::Decimal { .. } | CastTarget::Float | CastTarget::Double) {
            operand = date_text_as_moment(operand);
        }
        if matches!(target, CastTarget::Signed | CastTarget::Unsigned) {
            operand = extreme_date_as_integer(computed_as_integer(variable_as_integer(operand)));
        }
        let ty = target.result_type(&operand.ty);
        let nullable = operand.nullable || ty.is_temporal() || matches!(ty, SqlType::Year | SqlType::Json);
        let node = Node::Cast { operand: Box::new(operand), target };
        Ok(Expr {
            coercibility: if ty.is_string() { Coercibility::Implicit } else { Coercibility::Numeric },
            ..Expr::computed(node, ty, nullable)
        })
    }

    fn collate(&mut self, operand: &ast::Expr, name: &str) -> SqlResult<Expr> {
        let mut operand = self.expr(operand)?;
        let Some(collation) = Collation::by_name(name) else {
            return Err(palisade_expr::error::unknown_collation(name));
        };
        let charset = operand.ty.collation().get().charset;
        let bytes = matches!(
            operand.ty,
            SqlType::Binary { .. } | SqlType::VarBinary { .. } | SqlType::Blob { .. } | SqlType::Bit { .. }
        );
        if matches!(operand.ty, SqlType::Null)
            || (operand.ty.is_text() || bytes) && charset != collation.charset
        {
            return Err(mysql_error!(ER_COLLATION_CHARSET_MISMATCH, collation.name, charset.name()));
        }
        let retyped = match operand.ty.clone() {
            SqlType::Char { length, .. } => SqlType::Char { length, collation: collation.id },
            SqlType::VarChar { length, .. } => SqlType::VarChar { length, collation: collation.id },
            SqlType::Text { size, .. } => SqlType::Text { size, collation: collation.id },
            SqlType::Null => SqlType::Null,
            _ => {
                let ty = text_of(u64::from(text_length(&operand)), collation.id);
                let target = CastTarget::Char { length: None, collation: collation.id };
                let nullable = operand.nullable;
                operand =
                    Expr::computed(Node::Cast { operand: Box::new(operand), target }, ty.clone(), nullable);
                ty
            }
        };
        operand.ty = retyped;
        operand.coercibility = Coercibility::Explicit;
        Ok(operand)
    }

    fn default_of(&mut self, column: &ast::ColumnName) -> SqlResult<Expr> {
        let target = self.resolve(column)?;
        let Node::Column { slot, column: position, .. } = target.node else {
            return Err(mysql_error!(ER_BAD_FIELD_ERROR, column.column, "field list"));
        };
        let source = self.scopes.iter().flat_map(|scope| &scope.sources).find(|source| source.slot == slot);
        let Some(table) = source.and_then(|source| source.table.clone()) else {
            return Err(mysql_error!(ER_NO_DEFAULT_FOR_FIELD, column.column));
        };
        let known = table.columns.at(position)?;
        use palisade_catalog::descriptor::DefaultValue;
        match &known.default {
            DefaultValue::Literal(value) => Ok(Expr::literal(value.clone(), known.sql_type.clone())),
            DefaultValue::None if known.nullable => Ok(Expr::literal(Value::Null, known.sql_type.clone())),
            DefaultValue::None | DefaultValue::Removed => {
                Err(mysql_error!(ER_NO_DEFAULT_FOR_FIELD, known.name))
            }
            DefaultValue::CurrentTimestamp | DefaultValue::Expression(_) => {
                Err(mysql_error!(ER_DEFAULT_AS_VAL_GENERATED))
            }
        }
    }

    /// Binds a subquery: its number, and whether it reads outer rows.
    pub fn subquery(&mut self, query: &ast::Query) -> SqlResult<(usize, bool)> {
        let number = self.subqueries.len();
        self.subqueries.push(None);
        let bound = self.nested(|binder| binder.query(query))?;
        let correlated = !bound.outer_slots.is_empty() || reads_variables(&bound);
        *self.subqueries.at_mut(number)? = Some(bound);
        Ok((number, correlated))
    }

    /// A subquery that [`subquery`](Self::subquery) has bound.
    pub(super) fn bound_subquery(&mut self, number: usize) -> SqlResult<&mut LogicalQuery> {
        let query = self.subqueries.at_mut(number)?.as_mut();
        query.ok_or_else(|| SqlError::internal("a subquery is read before it is bound"))
    }

    /// The negation of a constant that is no BIGINT: a DECIMAL. That of a constant which is kept apart from
    /// the statement has the same type, and its value when it is known.
    fn negated_constant(&self, operand: &Expr) -> Option<Expr> {
        let decimal = |precision| SqlType::Decimal { precision, scale: 0, unsigned: false };
        match &operand.node {
            Node::Literal(Value::UInt(number)) => {
                let number = Decimal::from(*number).negate();
                Some(Expr::literal(Value::Decimal(number), decimal(number.integer_digits())))
            }
            Node::Literal(Value::Int(i64::MIN)) => {
                let number = Decimal::from(i64::MIN).negate();
                Some(Expr::literal(Value::Decimal(number), decimal(number.integer_digits())))
            }
            Node::Parameter(_)
                if operand.ty == SqlType::BIGINT_UNSIGNED && self.session.constants_are_parameters =>
            {
                Some(Expr::computed(Node::Negate(Box::new(operand.clone())), decimal(20), operand.nullable))
            }
            _ => None,
        }
    }

    /// Replaces what is constant by its value.
    fn fold(&self, expr: &mut Expr) {
        // Only what is certain to have no effect, no warning and no dependence on the session.
        if let Node::Negate(operand) = &expr.node {
            let folded = match &operand.node {
                Node::Literal(Value::Int(value)) => value.checked_neg().map(Value::Int),
                Node::Literal(Value::Decimal(value)) => Some(Value::Decimal(value.negate())),
                Node::Literal(Value::Double(value)) => Some(Value::Double(-value)),
                _ => None,
            };
            if let Some(value) = folded {
                expr.node = Node::Literal(value);
            }
        }
    }
}

fn reads_variables(query: &LogicalQuery) -> bool {
    let mut found = false;
    for expr in &query.output {
        expr.walk(&mut |expr| {
            found |= matches!(expr.node, Node::UserVariable(_) | Node::AssignUserVariable(..))
        });
    }
    found
}

/// The literal that a subquery selects and nothing else: `(SELECT 'x')` is `'x'`.
fn literal_of(query: &ast::Query) -> Option<&ast::Expr> {
    let is_plain = query.with.is_none()
        && query.order_by.is_empty()
        && query.limit.is_none()
        && query.locking.is_empty()
        && query.into.is_none();
    let select = match &query.body {
        ast::QueryBody::Nested(query) if is_plain => return literal_of(query),
        ast::QueryBody::Select(select) if is_plain => select,
        _ => return None,
    };
    let is_bare = !select.distinct
        && select.options == ast::SelectOptions::default()
        && select.from.is_empty()
        && select.filter.is_none()
        && select.group_by.is_empty()
        && select.having.is_none()
        && select.windows.is_empty();
    match select.items.as_slice() {
        [ast::SelectItem::Expr { expr: expr @ ast::Expr::Literal(_), .. }] if is_bare => Some(expr),
        [ast::SelectItem::Expr { expr: ast::Expr::Subquery(query), .. }] if is_bare => literal_of(query),
        _ => None,
    }
}

/// A constant below zero that is negated once more: MySQL makes a DECIMAL of it, lest it be too large for a
/// BIGINT.
fn negative_as_decimal(expr: Expr) -> Expr {
    let number = match &expr.node {
        Node::Literal(Value::Int(number)) => *number,
        Node::Negate(operand) => match &operand.node {
            Node::Literal(Value::Int(number)) => number.saturating_neg(),
            _ => 0,
        },
        _ => 0,
    };
    if number >= 0 || !matches!(expr.ty, SqlType::Int { .. }) {
        return expr;
    }
    let precision = number.unsigned_abs().ilog10() as u8 + 1;
    let target = CastTarget::Decimal { precision, scale: 0 };
    let (ty, nullable) = (target.result_type(&expr.ty), expr.nullable);
    Expr::computed(Node::Cast { operand: Box::new(expr), target }, ty, nullable)
}
