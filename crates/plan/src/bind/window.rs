//! Window functions: bound where they stand, computed by operators above the block's grouping.
//!
//! A call becomes a column of the slot of its window. Windows that partition and order alike share an
//! operator, whatever the frames of their functions are.

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::SqlType;
use palisade_expr::common::common;
use palisade_expr::compare::domain_of;
use palisade_expr::order::SortKey;
use palisade_expr::place::At;
use palisade_expr::{Coercibility, Expr, Node, SqlResult};
use palisade_parser::ast::{self, FrameBound, FrameUnit, Literal, WindowFunctionKind, WindowSpec};

use super::scope::Clause;
use super::types::{Member, member_as_text, member_itself};
use super::{Binder, not_supported};
use crate::window::{Edge, Frame, WindowCall, WindowFunction, WindowPlan};

/// What error messages call a window without a name.
const UNNAMED: &str = "<unnamed window>";

/// A window with what it inherits, as written.
struct Resolved {
    name: String,
    spec: WindowSpec,
}

impl Binder<'_> {
    /// ROW_NUMBER and the other functions that need a window.
    pub fn window_function(&mut self, function: &ast::WindowFunction) -> SqlResult<Expr> {
        use WindowFunctionKind as Kind;
        let name = function.kind.name();
        self.check_window_allowed(name)?;
        if function.ignore_nulls {
            return Err(not_supported("IGNORE NULLS"));
        }
        if function.from_last {
            return Err(not_supported("FROM LAST"));
        }
        let unsigned = SqlType::BIGINT_UNSIGNED;
        let mut arguments = self.window_arguments(&function.arguments)?;
        let (kind, ty, nullable) = match function.kind {
            Kind::RowNumber => (WindowFunction::RowNumber, unsigned, false),
            Kind::Rank => (WindowFunction::Rank, unsigned, false),
            Kind::DenseRank => (WindowFunction::DenseRank, unsigned, false),
            Kind::CumeDist => (WindowFunction::CumeDist, SqlType::DOUBLE, false),
            Kind::PercentRank => (WindowFunction::PercentRank, SqlType::DOUBLE, false),
            Kind::Ntile => {
                let buckets = constant(arguments.pop(), name)?;
                (WindowFunction::Ntile(buckets), unsigned, true)
            }
            Kind::Lead | Kind::Lag => {
                let default = if arguments.len() > 2 { arguments.pop() } else { None };
                let offset = match arguments.len() {
                    2 => constant(arguments.pop(), name)?,
                    _ => Expr::int(1),
                };
                let value = arguments.pop().unwrap_or_else(Expr::null);
                let connection = self.collation_connection();
                let operands: Vec<&Expr> = std::iter::once(&value).chain(&default).collect();
                let shape = common(&operands, connection, name)?;
                let ahead = function.kind == Kind::Lead;
                arguments = std::iter::once(value).chain(default).collect();
                (WindowFunction::Shifted { ahead, offset }, shape.ty, true)
            }
            Kind::FirstValue | Kind::LastValue => {
                let ty = arguments.first().map_or(SqlType::Null, |value| value.ty.clone());
                let first = function.kind == Kind::FirstValue;
                (if first { WindowFunction::First } else { WindowFunction::Last }, ty, true)
            }
            Kind::NthValue => {
                let number = constant(arguments.pop(), name)?;
                let ty = arguments.first().map_or(SqlType::Null, |value| value.ty.clone());
                (WindowFunction::Nth(number), ty, true)
            }
        };
        let written = format!("{}", ast::Expr::WindowFunction(Box::new(function.clone())));
        self.window_call(kind, arguments, ty, nullable, &function.over, written)
    }

    /// An aggregate with OVER.
    pub(super) fn window_aggregate(
        &mut self,
        aggregate: &ast::Aggregate,
        over: &ast::Window,
    ) -> SqlResult<Expr> {
        self.check_window_allowed(aggregate.kind.name())?;
        if aggregate.distinct {
            return Err(not_supported("<window function>(DISTINCT ..)"));
        }
        if aggregate.kind == ast::AggregateKind::GroupConcat {
            return Err(not_supported("group_concat as window function"));
        }
        let arguments = self.window_arguments(&aggregate.arguments)?;
        let (spec, nullable) = self.aggregate_spec(aggregate, arguments, Vec::new())?;
        let (ty, arguments) = (spec.ty.clone(), spec.arguments.clone());
        let written = format!("{}", ast::Expr::Aggregate(Box::new(aggregate.clone())));
        let function = WindowFunction::Aggregate(Box::new(spec));
        self.window_call(function, arguments, ty, nullable, over, written)
    }

    /// 3593 where no window function may stand.
    fn check_window_allowed(&self, name: &str) -> SqlResult<()> {
        let scope = self.scopes.last().filter(|scope| {
            let clause = matches!(scope.clause, Clause::Fields | Clause::Order);
            clause && scope.aggregates_allowed && !scope.in_aggregate && !scope.in_window
        });
        match scope {
            Some(_) => Ok(()),
            None => Err(mysql_error!(ER_WINDOW_INVALID_WINDOW_FUNC_USE, name)),
        }
    }

    fn window_arguments(&mut self, arguments: &[ast::Expr]) -> SqlResult<Vec<Expr>> {
        self.scope().in_window = true;
        let bound = self.all(arguments);
        self.scope().in_window = false;
        bound
    }

    fn window_call(
        &mut self,
        function: WindowFunction,
        arguments: Vec<Expr>,
        ty: SqlType,
        nullable: bool,
        over: &ast::Window,
        written: String,
    ) -> SqlResult<Expr> {
        let Resolved { name, spec } = self.resolve_window(over)?;
        let mut partition = Vec::with_capacity(spec.partition_by.len());
        for expr in &spec.partition_by {
            partition.push(SortKey { expr: self.window_key(expr, &name)?, descending: false });
        }
        let mut order = Vec::with_capacity(spec.order_by.len());
        for item in &spec.order_by {
            let expr = self.window_key(&item.expr, &name)?;
            order.push(SortKey { expr, descending: item.descending });
        }
        let frame = self.frame(spec.frame.as_ref(), &order, &name)?;
        let known = self
            .scope()
            .windows
            .iter()
            .position(|known| known.partition == partition && known.order == order);
        let window = match known {
            Some(window) => window,
            None => {
                let slot = self.new_slot();
                let scope = self.scope();
                let calls = Vec::new();
                scope.windows.push(WindowPlan {
                    slot,
                    partition,
                    order,
                    comes_sorted: false,
                    calls,
                    wanted: None,
                });
                scope.window_names.push(name);
                scope.windows.len() - 1
            }
        };
        let window = self.scope().windows.at_mut(window)?;
        window.calls.push(WindowCall { function, arguments, frame, ty: ty.clone() });
        let (slot, column) = (window.slot, window.calls.len() - 1);
        let coercibility = if ty.is_string() { Coercibility::Implicit } else { Coercibility::Numeric };
        let node = Node::Column { slot, column, name: written.into(), computed: true };
        Ok(member_as_text(Expr { node, ty, nullable, coercibility }, Member::OfOther))
    }

    /// A key of PARTITION BY or ORDER BY.
    fn window_key(&mut self, expr: &ast::Expr, window: &str) -> SqlResult<Expr> {
        if matches!(expr, ast::Expr::Literal(Literal::Integer(_))) {
            return Err(mysql_error!(ER_WINDOW_ILLEGAL_ORDER_BY, window));
        }
        let mut has_window = false;
        expr.clone().walk_mut(&mut |expr| {
            has_window |= match expr {
                ast::Expr::WindowFunction(_) => true,
                ast::Expr::Aggregate(aggregate) => aggregate.over.is_some(),
                _ => false,
            };
        });
        if has_window {
            return Err(mysql_error!(ER_WINDOW_NESTED_WINDOW_FUNC_USE_IN_WINDOW_SPEC, window));
        }
        Ok(member_itself(self.expr(expr)?))
    }

    /// The window with everything it takes over from those it is built on.
    fn resolve_window(&mut self, over: &ast::Window) -> SqlResult<Resolved> {
        let (name, mut spec) = match over {
            ast::Window::Named(name) => (name.clone(), self.named_window(name)?),
            ast::Window::Spec(spec) => (UNNAMED.to_owned(), spec.clone()),
        };
        let mut depth = 0;
        while let Some(base) = spec.base.take() {
            let parent = self.named_window(&base)?;
            depth += 1;
            if depth > self.scope().named_windows.len() {
                return Err(mysql_error!(ER_WINDOW_CIRCULARITY_IN_WINDOW_GRAPH));
            }
            if !spec.partition_by.is_empty() {
                return Err(mysql_error!(ER_WINDOW_NO_CHILD_PARTITIONING));
            }
            if parent.frame.is_some() {
                return Err(mysql_error!(ER_WINDOW_NO_INHERIT_FRAME, base));
            }
            if !spec.order_by.is_empty() && !parent.order_by.is_empty() {
                return Err(mysql_error!(ER_WINDOW_NO_REDEFINE_ORDER_BY, name, base));
            }
            spec.partition_by = parent.partition_by;
            if spec.order_by.is_empty() {
                spec.order_by = parent.order_by;
            }
            spec.base = parent.base;
        }
        Ok(Resolved { name, spec })
    }

    fn named_window(&mut self, name: &str) -> SqlResult<WindowSpec> {
        let named = self.scope().named_windows.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        named.map(|(_, spec)| spec.clone()).ok_or_else(|| mysql_error!(ER_WINDOW_NO_SUCH_WINDOW, name))
    }

    fn frame(
        &mut self,
        frame: Option<&ast::WindowFrame>,
        order: &[SortKey],
        window: &str,
    ) -> SqlResult<Frame> {
        let Some(frame) = frame else {
            // With an order, up to the current row's peers; without, everyone is everyone's peer.
            return Ok(Frame { by_rows: false, start: Edge::First, end: Edge::Current });
        };
        if frame.exclude.is_some() {
            return Err(not_supported("EXCLUDE"));
        }
        let by_rows = match frame.unit {
            FrameUnit::Rows => true,
            FrameUnit::Range => false,
            FrameUnit::Groups => return Err(not_supported("GROUPS")),
        };
        let end = frame.end.as_ref().unwrap_or(&FrameBound::CurrentRow);
        if matches!(frame.start, FrameBound::UnboundedFollowing) {
            return Err(mysql_error!(ER_WINDOW_FRAME_START_ILLEGAL, window));
        }
        if matches!(end, FrameBound::UnboundedPreceding) {
            return Err(mysql_error!(ER_WINDOW_FRAME_END_ILLEGAL, window));
        }
        let rank = |bound: &FrameBound| match bound {
            FrameBound::UnboundedPreceding => 0,
            FrameBound::Preceding(..) => 1,
            FrameBound::CurrentRow => 2,
            FrameBound::Following(..) => 3,
            FrameBound::UnboundedFollowing => 4,
        };
        if rank(&frame.start) > rank(end) {
            return Err(mysql_error!(ER_WINDOW_FRAME_ILLEGAL, window));
        }
        let start = self.edge(&frame.start, by_rows, order, window)?;
        let end = self.edge(end, by_rows, order, window)?;
        Ok(Frame { by_rows, start, end })
    }

    fn edge(
        &mut self,
        bound: &FrameBound,
        by_rows: bool,
        order: &[SortKey],
        window: &str,
    ) -> SqlResult<Edge> {
        let (amount, unit, following) = match bound {
            FrameBound::UnboundedPreceding => return Ok(Edge::First),
            FrameBound::UnboundedFollowing => return Ok(Edge::Last),
            FrameBound::CurrentRow => return Ok(Edge::Current),
            FrameBound::Preceding(amount, unit) => (amount, unit, false),
            FrameBound::Following(amount, unit) => (amount, unit, true),
        };
        if by_rows {
            if unit.is_some() {
                return Err(mysql_error!(ER_WINDOW_ROWS_INTERVAL_USE, window));
            }
            let whole = matches!(amount, ast::Expr::Literal(Literal::Integer(_)) | ast::Expr::Placeholder(_));
            if !whole {
                return Err(mysql_error!(ER_WINDOW_FRAME_ILLEGAL, window));
            }
            return Ok(Edge::Rows { amount: self.expr(amount)?, following });
        }
        let [key] = order else {
            return Err(mysql_error!(ER_WINDOW_RANGE_FRAME_ORDER_TYPE, window));
        };
        let temporal = key.expr.ty.is_temporal();
        if !temporal && !key.expr.ty.is_numeric() {
            return Err(mysql_error!(ER_WINDOW_RANGE_FRAME_ORDER_TYPE, window));
        }
        let forward = following != key.descending;
        let amount = self.expr(amount)?;
        if !matches!(amount.node, Node::Literal(_) | Node::Parameter(_)) {
            return Err(mysql_error!(ER_WINDOW_RANGE_BOUND_NOT_CONSTANT, window));
        }
        let bound = match unit {
            Some(unit) if temporal => {
                let unit = Self::keyword(unit.keyword());
                self.call(
                    if forward { "date_add" } else { "date_sub" },
                    vec![key.expr.clone(), amount, unit],
                )?
            }
            Some(_) => return Err(mysql_error!(ER_WINDOW_RANGE_FRAME_NUMERIC_TYPE, window)),
            None if temporal => return Err(mysql_error!(ER_WINDOW_RANGE_FRAME_TEMPORAL_TYPE, window)),
            None => {
                let negative = match &amount.node {
                    Node::Literal(palisade_catalog::Value::Int(value)) => *value < 0,
                    Node::Literal(value) => value.is_null(),
                    _ => false,
                };
                if negative {
                    return Err(mysql_error!(ER_WINDOW_FRAME_ILLEGAL, window));
                }
                self.sum_or_difference(key.expr.clone(), amount, forward)
            }
        };
        let domain = domain_of(&key.expr, &bound, "<=")?;
        Ok(Edge::Value { bound, domain })
    }
}

/// An argument that is the same for all rows; 1210 if it is another.
fn constant(argument: Option<Expr>, function: &str) -> SqlResult<Expr> {
    let wrong = || mysql_error!(ER_WRONG_ARGUMENTS, function);
    let argument = argument.ok_or_else(wrong)?;
    match &argument.node {
        Node::Literal(palisade_catalog::Value::Int(value)) if *value < 0 => Err(wrong()),
        Node::Literal(palisade_catalog::Value::Int(_) | palisade_catalog::Value::UInt(_))
        | Node::Parameter(_)
        | Node::UserVariable(_) => Ok(argument),
        _ => Err(wrong()),
    }
}
