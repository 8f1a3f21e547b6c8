//! Walking an expression.

use super::{Expr, FrameBound, Window, WindowSpec};

impl Expr {
    /// Calls `visit` on each direct operand. Queries within the expression are not entered; see
    /// [`has_query`](Self::has_query).
    pub fn children_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Literal(_)
            | Expr::Placeholder(_)
            | Expr::Column(_)
            | Expr::UserVariable(_)
            | Expr::SystemVariable(_)
            | Expr::Subquery(_)
            | Expr::Exists(_)
            | Expr::JsonPath { .. }
            | Expr::Values(_)
            | Expr::DefaultOf(_)
            | Expr::Default => {}
            Expr::AssignUserVariable(_, operand)
            | Expr::Unary(_, operand)
            | Expr::Quantified(_, _, operand, _)
            | Expr::InSubquery { operand, .. }
            | Expr::Is { operand, .. }
            | Expr::ConvertUsing(operand, _)
            | Expr::Collate(operand, _)
            | Expr::Extract(_, operand)
            | Expr::GetFormat(_, operand)
            | Expr::WeightString(operand, _) => visit(operand),
            Expr::Binary(_, left, right)
            | Expr::Regexp { operand: left, pattern: right, .. }
            | Expr::SoundsLike(left, right)
            | Expr::MemberOf(left, right)
            | Expr::TimestampAdd(_, left, right)
            | Expr::TimestampDiff(_, left, right) => {
                visit(left);
                visit(right);
            }
            Expr::And(terms)
            | Expr::Or(terms)
            | Expr::Row(terms)
            | Expr::Char(terms, _)
            | Expr::IntervalFunction(terms) => terms.iter_mut().for_each(visit),
            Expr::DateArithmetic(arithmetic) => {
                visit(&mut arithmetic.date);
                visit(&mut arithmetic.amount);
            }
            Expr::Between(between) => {
                visit(&mut between.operand);
                visit(&mut between.low);
                visit(&mut between.high);
            }
            Expr::InList { operand, list, .. } => {
                visit(operand);
                list.iter_mut().for_each(visit);
            }
            Expr::Like(like) => {
                visit(&mut like.operand);
                visit(&mut like.pattern);
                like.escape.iter_mut().for_each(visit);
            }
            Expr::Case(case) => {
                case.operand.iter_mut().for_each(&mut *visit);
                for (condition, result) in &mut case.branches {
                    visit(condition);
                    visit(result);
                }
                case.otherwise.iter_mut().for_each(visit);
            }
            Expr::Cast(cast) => visit(&mut cast.operand),
            Expr::Function(function) => function.arguments.iter_mut().for_each(visit),
            Expr::Aggregate(aggregate) => {
                aggregate.arguments.iter_mut().for_each(&mut *visit);
                aggregate.order_by.iter_mut().for_each(|item| visit(&mut item.expr));
                if let Some(Window::Spec(spec)) = &mut aggregate.over {
                    spec.exprs_mut(visit);
                }
            }
            Expr::WindowFunction(function) => {
                function.arguments.iter_mut().for_each(&mut *visit);
                if let Window::Spec(spec) = &mut function.over {
                    spec.exprs_mut(visit);
                }
            }
            Expr::Match(search) => visit(&mut search.against),
            Expr::Trim(trim) => {
                trim.remove.iter_mut().for_each(&mut *visit);
                visit(&mut trim.operand);
            }
            Expr::JsonValue(value) => visit(&mut value.document),
        }
    }

    /// Calls `visit` on this expression and everything below it.
    pub fn walk_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        visit(self);
        self.children_mut(&mut |child| child.walk_mut(visit));
    }

    /// Whether this expression is itself, or compares with, a query.
    pub fn has_query(&self) -> bool {
        matches!(self, Expr::Subquery(_) | Expr::Exists(_) | Expr::Quantified(..) | Expr::InSubquery { .. })
    }
}

impl WindowSpec {
    fn exprs_mut(&mut self, visit: &mut dyn FnMut(&mut Expr)) {
        self.partition_by.iter_mut().for_each(&mut *visit);
        self.order_by.iter_mut().for_each(|item| visit(&mut item.expr));
        let Some(frame) = &mut self.frame else { return };
        for bound in std::iter::once(&mut frame.start).chain(&mut frame.end) {
            if let FrameBound::Preceding(amount, _) | FrameBound::Following(amount, _) = bound {
                visit(amount);
            }
        }
    }
}
