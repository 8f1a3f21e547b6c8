//! Predicates on several operands: rows, BETWEEN, IN, LIKE, ANY and ALL.

use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::{CollationId, SqlType, Value};
use palisade_expr::beforehand::Standing;
use palisade_expr::compare::{aggregate_collations, domain_of, incompatible, json_domain};
use palisade_expr::func::Purity;
use palisade_expr::place::At;
use palisade_expr::{
    CastTarget, Coercibility, Comparison, Domain, Expr, Node, SqlResult, Subquery, SubqueryUse,
};
use palisade_parser::ast;

use super::Binder;
use super::beforehand::{Part, text_beside_date, text_beside_number};
use super::compare::{
    bits_as_number, compare_listed, compare_texts, constant_as_column, equal_in, is_bits, is_moment,
    moment_as_text, moment_as_time, negation, row_parts, wider,
};
use super::types::{choice_as_number, chosen_as_number, transcode_beside_document, transcode_to};

/// What finding out how an item of a list is compared counts as, in units.
const UNITS_A_COMPARISON: usize = 64;

/// Whether one bound of a range is a number and the other a text that no column of dates has converted.
fn is_mixed_range(operand: &Expr, low: &Expr, high: &Expr) -> bool {
    let (number, text) = if low.ty.is_numeric() { (low, high) } else { (high, low) };
    number.ty.is_numeric() && text.ty.is_string() && !(operand.is_field() && text.is_constant())
}

/// Whether a TIME column is between a text and a date: MySQL takes all for dates then.
fn is_moment_range(operand: &Expr, low: &Expr, high: &Expr) -> bool {
    let is_date =
        |ty: &SqlType| matches!(ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. });
    matches!(operand.ty, SqlType::Time { .. })
        && operand.is_field()
        && (is_date(&low.ty) && high.ty.is_text() || low.ty.is_text() && is_date(&high.ty))
}

impl Binder<'_> {
    pub(super) fn compare_rows(
        &mut self,
        comparison: Comparison,
        left: &[ast::Expr],
        right: &[ast::Expr],
    ) -> SqlResult<Expr> {
        if left.len() != right.len() {
            return Err(mysql_error!(ER_OPERAND_COLUMNS, left.len()));
        }
        let mut parts = Vec::with_capacity(left.len());
        match comparison {
            Comparison::Equal | Comparison::NullSafeEqual | Comparison::NotEqual => {
                for (left, right) in left.iter().zip(right) {
                    let (left, right) = (self.expr(left)?, self.expr(right)?);
                    parts.push(self.compare(comparison, left, right)?);
                }
                let nullable = parts.iter().any(|part| part.nullable);
                let node =
                    if comparison == Comparison::NotEqual { Node::Or(parts) } else { Node::And(parts) };
                Ok(Expr::truth(node, nullable))
            }
            _ => {
                // (a, b) < (c, d) is a < c OR a = c AND b < d.
                let strict = match comparison {
                    Comparison::LessEqual => Comparison::Less,
                    Comparison::GreaterEqual => Comparison::Greater,
                    other => other,
                };
                if left.iter().zip(right).skip(1).any(|(left, right)| !is_read(left) || !is_read(right)) {
                    return self.order_rows_in_turn(comparison, strict, left, right);
                }
                for last in 0..left.len() {
                    let mut terms = Vec::with_capacity(last + 1);
                    for position in 0..=last {
                        let (left_part, right_part) =
                            (self.expr(left.at(position)?)?, self.expr(right.at(position)?)?);
                        let how = match (position == last, last + 1 == left.len()) {
                            (false, _) => Comparison::Equal,
                            (true, true) => comparison,
                            (true, false) => strict,
                        };
                        terms.push(self.compare_in_row(how, left_part, right_part)?);
                    }
                    parts.extend(Expr::all_of(terms));
                }
                Ok(Expr::truth(Node::Or(parts), true))
            }
        }
    }

    /// The order of rows of which a part behind the first is computed, and may fail: it is not where the
    /// parts before it decide, or are NULL.
    ///
    /// ```text
    ///  (a, b) < (c, d)  ──►  a <= c AND CASE WHEN a = c THEN b < d ELSE a < c END
    /// ```
    ///
    /// The first comparison says nothing that the second does not, but an index may have a range for it.
    fn order_rows_in_turn(
        &mut self,
        comparison: Comparison,
        strict: Comparison,
        left: &[ast::Expr],
        right: &[ast::Expr],
    ) -> SqlResult<Expr> {
        let weak = match strict {
            Comparison::Less => Comparison::LessEqual,
            _ => Comparison::GreaterEqual,
        };
        let mut pairs = Vec::with_capacity(left.len());
        for (left, right) in left.iter().zip(right) {
            pairs.push((self.expr(left)?, self.expr(right)?));
        }
        let (Some((first_left, first_right)), Some((left, right))) = (pairs.first().cloned(), pairs.pop())
        else {
            return Err(mysql_error!(ER_OPERAND_COLUMNS, 1));
        };
        let bound = self.compare_in_row(weak, first_left, first_right)?;
        let mut decided = self.compare_in_row(comparison, left, right)?;
        for (left, right) in pairs.into_iter().rev() {
            let equal = self.compare_in_row(Comparison::Equal, left.clone(), right.clone())?;
            let otherwise = Some(Box::new(self.compare_in_row(strict, left, right)?));
            decided = Expr::truth(Node::Case { branches: vec![(equal, decided)], otherwise }, true);
        }
        Ok(Expr::truth(Node::And(vec![bound, decided]), true))
    }

    /// Whether a row is equal to one of several in a list, of which a constant that is no date is no error.
    fn row_of_list(&mut self, left: &[ast::Expr], right: &[ast::Expr]) -> SqlResult<Expr> {
        if left.len() != right.len() {
            return Err(mysql_error!(ER_OPERAND_COLUMNS, left.len()));
        }
        let mut parts = Vec::with_capacity(left.len());
        for (left, right) in left.iter().zip(right) {
            parts.push(compare_listed(self.expr(left)?, self.expr(right)?)?);
        }
        let nullable = parts.iter().any(|part| part.nullable);
        Ok(Expr::truth(Node::And(parts), nullable))
    }

    pub(super) fn between(&mut self, between: &ast::Between) -> SqlResult<Expr> {
        let mut operand = self.expr(&between.operand)?;
        let mut low = self.expr(&between.low)?;
        let mut high = self.expr(&between.high)?;
        if [&operand, &low, &high].iter().any(|part| part.ty == SqlType::Json) {
            let from = self.compare(Comparison::GreaterEqual, operand.clone(), low)?;
            let to = self.compare(Comparison::LessEqual, operand, high)?;
            let nullable = from.nullable || to.nullable;
            let within = Expr::truth(Node::And(vec![from, to]), nullable);
            return Ok(if between.negated { negation(within) } else { within });
        }
        if let Some(collation) = text_collation(&[&operand, &low, &high], "between")? {
            for part in [&mut operand, &mut low, &mut high] {
                transcode_to(part, collation)?;
            }
            let domain = Domain::Text(collation);
            return Ok(between_bounds(operand, domain, [low, high], between.negated));
        }
        // NOT BETWEEN of two bounds that are the same is no comparison with one.
        if is_moment_range(&operand, &low, &high) {
            self.note_text_beside_dated_time(&low, &operand);
            self.note_text_beside_dated_time(&high, &operand);
        } else if !between.negated || !low.ty.is_string() || !high.ty.is_string() {
            self.convert_beforehand(&low, &operand, Standing::Bound(Box::new(high.clone())));
            self.convert_beforehand(&high, &operand, Standing::Bound(Box::new(low.clone())));
        }
        if !low.ty.is_string() && !high.ty.is_string() {
            let beside_numbers = low.ty.is_numeric() && high.ty.is_numeric();
            operand = if beside_numbers { chosen_as_number(operand) } else { choice_as_number(operand) };
        }
        let is_mixed_time = matches!(operand.ty, SqlType::Time { .. })
            && [&low, &high].iter().any(|bound| bound.ty.is_numeric())
            && [&low, &high].iter().any(|bound| bound.ty.is_text());
        // Beside a number the time of a date counts.
        match [low.ty.is_numeric(), high.ty.is_numeric()] {
            [true, false] => moment_as_time(&mut high, &operand),
            [false, true] => moment_as_time(&mut low, &operand),
            _ => {}
        }
        // A binary literal beside a number is one.
        if matches!(operand.ty, SqlType::Time { .. }) {
            match [is_bits(&low), is_bits(&high)] {
                [true, false] if high.ty.is_numeric() => bits_as_number(&mut low),
                [false, true] if low.ty.is_numeric() => bits_as_number(&mut high),
                _ => {}
            }
        }
        let are_numbers = [low.ty.is_numeric(), high.ty.is_numeric()];
        for bound in [&mut low, &mut high] {
            // A binary literal beside a TIME is a text in a comparison of one value only.
            if !matches!(bound.node, Node::Literal(Value::Bit { .. })) || operand.ty == SqlType::Year {
                constant_as_column(bound, &operand);
            }
        }
        let has_null = low.ty == SqlType::Null || high.ty == SqlType::Null;
        // Texts beside a number are numbers, whose collations do not matter.
        let domain_of_bound = |bound: &Expr, other: &Expr| match domain_of(&operand, bound, "between") {
            Err(_) if operand.ty.is_text() && other.ty.is_numeric() => Ok(Domain::Double),
            domain => domain,
        };
        let low_domain = domain_of_bound(&low, &high)?;
        let high_domain = domain_of_bound(&high, &low)?;
        let domain = match wider(low_domain, high_domain) {
            // Unlike a comparison with one of them, MySQL takes both for numbers here.
            Domain::YearOrDate => Domain::Double,
            // NULL is a text to MySQL, so that the other bound is compared as a double.
            Domain::Integer | Domain::Decimal if has_null => Domain::Double,
            // A time beside a number, which its column has not converted, and a text is a number.
            _ if is_mixed_time && [&low, &high].iter().any(|bound| bound.ty.is_numeric()) => Domain::Double,
            // A date beside a number and a text is a number, but a column beside a constant text.
            Domain::DateTime if is_mixed_range(&operand, &low, &high) => Domain::Double,
            domain => domain,
        };
        if domain == Domain::DateTime {
            match are_numbers {
                [false, true] => text_beside_number(&mut low, &operand),
                [true, false] => text_beside_number(&mut high, &operand),
                _ => {
                    text_beside_date(&mut low, &operand, Part::Moment);
                    text_beside_date(&mut high, &operand, Part::Moment);
                }
            }
        }
        Ok(between_bounds(operand, domain, [low, high], between.negated))
    }

    pub(super) fn in_list(
        &mut self,
        operand: &ast::Expr,
        list: &[ast::Expr],
        negated: bool,
    ) -> SqlResult<Expr> {
        if let Some(parts) = row_parts(operand) {
            let mut alternatives = Vec::with_capacity(list.len());
            for item in list {
                let Some(items) = row_parts(item) else {
                    return Err(mysql_error!(ER_OPERAND_COLUMNS, parts.len()));
                };
                alternatives.push(match list.len() {
                    1 => self.compare_rows(Comparison::Equal, parts, items)?,
                    _ => self.row_of_list(parts, items)?,
                });
            }
            let any = Expr::truth(Node::Or(alternatives), true);
            return Ok(if negated { negation(any) } else { any });
        }
        let mut operand = self.expr(operand)?;
        if let [item] = list {
            let comparison = if negated { Comparison::NotEqual } else { Comparison::Equal };
            let item = self.expr(item)?;
            return self.compare(comparison, operand, item);
        }
        let mut nullable = operand.nullable;
        let mut items = Vec::with_capacity(list.len());
        let mut list = self.all(list)?;
        self.pace.pass()?;
        let collation =
            text_collation(&[&[&operand], &list.iter().collect::<Vec<_>>()[..]].concat(), " IN ")?;
        if let Some(collation) = collation {
            return in_texts(operand, list, collation, negated);
        }
        if operand.ty == SqlType::Year && has_texts_and_nothing_exact(&list) {
            let (collation, _) = aggregate_collations(&list.iter().collect::<Vec<_>>(), " IN ")?;
            let list = list.into_iter().map(|item| written(item, collation)).collect();
            return in_texts(written(operand, collation), list, collation, negated);
        }
        let is_double = |item: &Expr| item.is_constant() && matches!(item.ty, SqlType::Double { .. });
        if is_computed_integer(&operand)
            && list.iter().any(is_constant_text)
            && list.iter().all(|item| is_constant_text(item) || is_double(item))
        {
            let nullable = operand.nullable;
            let domain = |item: &Expr| if is_double(item) { Domain::Double } else { Domain::Integer };
            let list = Arc::new(list.into_iter().map(|item| (domain(&item), item)).collect());
            return Ok(Expr::truth(Node::In { operand: Box::new(operand), list, negated }, nullable));
        }
        if list.iter().all(|item| !item.ty.is_string()) {
            let beside_numbers = list.iter().all(|item| item.ty.is_numeric());
            operand = if beside_numbers { chosen_as_number(operand) } else { choice_as_number(operand) };
        }
        self.pace.pass()?;
        let made_dates = dates_among_texts(&operand, &list);
        let makes_dates = matches!(made_dates, Some(Domain::DateTime | Domain::DateOrNone));
        let common = made_dates.or_else(|| date_among_numbers(&operand, &list));
        let is_mixed = is_mixed(&operand, &list);
        let has_numbers = list.iter().any(|item| item.ty.is_numeric());
        // With one document all are compared as documents.
        let has_documents = operand.ty == SqlType::Json || list.iter().any(|item| item.ty == SqlType::Json);
        if has_documents {
            transcode_beside_document(&mut operand)?;
        }
        if made_dates == Some(Domain::DateOrNone) {
            list.iter().for_each(|item| self.note_text_among_dates(item));
        } else if !has_documents && !makes_dates {
            self.list_beside_date(&mut list, &operand);
        }
        // Were two of them texts whose collations do not go together, all are named.
        let mut mixed = list.iter().any(|item| item.ty.is_string()).then(|| {
            let all: Vec<&Expr> = std::iter::once(&operand).chain(&list).collect();
            incompatible(&all, " IN ")
        });
        for mut item in list {
            self.checkpoint(UNITS_A_COMPARISON)?;
            // Of columns only those of type BIGINT have a list read as they would keep it.
            if matches!(operand.ty, SqlType::Int { .. }) && !has_documents {
                constant_as_column(&mut item, &operand);
            }
            nullable |= item.nullable;
            let domain = match common {
                Some(domain) => domain,
                None if has_documents => json_domain(&operand, &item),
                None if is_mixed && item.ty.is_numeric() => Domain::Double,
                None if is_mixed && item.ty.is_string() && matches!(operand.ty, SqlType::Time { .. }) => {
                    Domain::TimeOrNone
                }
                // Beside numbers the operand decides, as that of CASE does.
                None if has_numbers && operand.ty.is_text() && is_moment(&item.ty) => {
                    Domain::Text(operand.ty.collation())
                }
                None => domain_of(&operand, &item, " IN ").map_err(|error| mixed.take().unwrap_or(error))?,
            };
            match domain {
                Domain::DateTime if !makes_dates => text_beside_date(&mut item, &operand, Part::Moment),
                Domain::Text(collation) if is_moment(&item.ty) => moment_as_text(&mut item, collation),
                Domain::Text(collation) if item.ty != SqlType::Json => transcode_to(&mut item, collation)?,
                Domain::Json(..) => transcode_beside_document(&mut item)?,
                _ => {}
            }
            items.push((domain, item));
        }
        let charset = |collation: CollationId| collation.get().charset;
        let is_foreign = |domain: &Domain| {
            let is_text = operand.ty.is_string() && operand.ty != SqlType::Json;
            let own = is_text.then(|| charset(operand.ty.collation()));
            own.is_some_and(|own| matches!(domain, Domain::Text(collation) if charset(*collation) != own))
        };
        if items.iter().any(|(domain, _)| is_foreign(domain)) {
            // Some items are compared with the operand's text in another character set.
            let equal = |(domain, item)| match domain {
                Domain::Text(collation) => compare_texts(operand.clone(), item, collation),
                domain => Ok(equal_in(domain, operand.clone(), item)),
            };
            let any = Node::Or(items.into_iter().map(equal).collect::<SqlResult<_>>()?);
            let any = Expr::truth(any, nullable);
            return Ok(if negated { negation(any) } else { any });
        }
        let list = Arc::new(items);
        Ok(Expr::truth(Node::In { operand: Box::new(operand), list, negated }, nullable))
    }

    pub(super) fn like(&mut self, like: &ast::Like) -> SqlResult<Expr> {
        let mut operands = [self.expr(&like.operand)?, self.expr(&like.pattern)?];
        let escape = match &like.escape {
            Some(escape) => {
                let escape = self.expr(escape)?;
                let mut is_of_rows = false;
                escape.walk(&mut |part| {
                    is_of_rows |= match &part.node {
                        Node::Column { .. } => true,
                        Node::Call { function, .. } => function.purity == Purity::Effect,
                        _ => false,
                    };
                });
                if is_of_rows {
                    return Err(mysql_error!(ER_WRONG_ARGUMENTS, "ESCAPE"));
                }
                self.check_escape(&escape)?;
                Some(Box::new(escape))
            }
            None if self
                .session
                .variables
                .sql_mode
                .has(palisade_expr::mode::SqlMode::NO_BACKSLASH_ESCAPES) =>
            {
                Some(Box::new(self.text("")))
            }
            None => None,
        };
        let (collation, coercibility) = aggregate_collations(&[&operands[0], &operands[1]], "like")?;
        let collation =
            if coercibility == Coercibility::Numeric { self.collation_connection() } else { collation };
        operands.iter_mut().try_for_each(|operand| transcode_to(operand, collation))?;
        let nullable = operands.iter().any(|operand| operand.nullable);
        let [operand, pattern] = operands.map(Box::new);
        Ok(Expr::truth(Node::Like { operand, pattern, escape, collation, negated: like.negated }, nullable))
    }

    /// 1210 for a constant that is more than one character.
    pub(super) fn check_escape(&self, escape: &Expr) -> SqlResult<()> {
        let value = match &escape.node {
            Node::Literal(value) => Some(value),
            Node::Parameter(number) => self.parameters.get(*number),
            _ => None,
        };
        match value {
            Some(Value::Bytes(text)) if escape.ty.collation().get().charset.char_count(text) > 1 => {
                Err(mysql_error!(ER_WRONG_ARGUMENTS, "ESCAPE"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn quantified(
        &mut self,
        operand: &ast::Expr,
        query: &ast::Query,
        comparison: Comparison,
        all: bool,
        negated: bool,
    ) -> SqlResult<Expr> {
        let mut left = match row_parts(operand) {
            Some(parts) => self.all(parts)?,
            None => vec![self.expr(operand)?],
        };
        let (number, correlated) = self.subquery(query)?;
        let query = self.bound_subquery(number)?;
        if query.output.len() != left.len() {
            return Err(mysql_error!(ER_OPERAND_COLUMNS, left.len()));
        }
        if left.len() > 1 && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return Err(mysql_error!(ER_OPERAND_COLUMNS, 1));
        }
        let mut domains = Vec::with_capacity(left.len());
        for (left, right) in left.iter_mut().zip(&mut query.output) {
            let domain = domain_of(&*left, &*right, comparison.symbol())?;
            // Texts are compared in one character set, those of the subquery's rows, too.
            if let Domain::Text(collation) = domain {
                transcode_to(left, collation)?;
                if right.ty.collation().get().charset != collation.get().charset {
                    transcode_to(right, collation)?;
                }
            }
            domains.push(domain);
        }
        let usage = SubqueryUse::Quantified { left, comparison, domains, all, negated };
        Ok(Expr::truth(Node::Subquery(Box::new(Subquery { number, usage, correlated })), true))
    }
}

/// The collation in which operands are compared that are all texts, or NULL: all of them agree on it.
fn text_collation(operands: &[&Expr], operation: &str) -> SqlResult<Option<CollationId>> {
    let text = |ty: &SqlType| ty.is_string() && *ty != SqlType::Json;
    let all = operands.iter().all(|operand| text(&operand.ty) || operand.ty == SqlType::Null);
    if !all || operands.first().is_none_or(|first| first.ty == SqlType::Null) {
        return Ok(None);
    }
    Ok(Some(aggregate_collations(operands, operation)?.0))
}

/// As what a text is looked for in a list of constants, some of them dates, or times, and the others texts;
/// or a time if some are dates.
fn dates_among_texts(operand: &Expr, list: &[Expr]) -> Option<Domain> {
    let text = |ty: &SqlType| ty.is_string() && *ty != SqlType::Json;
    let clock = |ty: &SqlType| matches!(ty, SqlType::Time { .. });
    let dated = |ty: &SqlType| ty.is_temporal() && !matches!(ty, SqlType::Time { .. } | SqlType::Year);
    if !text(&operand.ty) && !clock(&operand.ty) || !list.iter().all(Expr::is_constant) {
        return None;
    }
    let all = |wanted: fn(&SqlType) -> bool| list.iter().all(|item| text(&item.ty) || wanted(&item.ty));
    let any = |wanted: fn(&SqlType) -> bool| list.iter().any(|item| wanted(&item.ty));
    if all(|ty| ty.is_temporal() && *ty != SqlType::Year) && any(dated) {
        // Beside a date with a time, or a date and a time, texts that are none are equal to each other.
        let moment = |ty: &SqlType| ty.is_temporal() && !matches!(ty, SqlType::Date | SqlType::Year);
        return Some(if any(moment) { Domain::DateTime } else { Domain::DateOrNone });
    }
    let clock_or_null = |ty: &SqlType| matches!(ty, SqlType::Time { .. } | SqlType::Null);
    (text(&operand.ty) && all(clock_or_null) && any(clock)).then_some(Domain::TimeOrNone)
}

/// A date is looked for in a list of numbers: they are dates, be the date a column's or not.
fn date_among_numbers(operand: &Expr, list: &[Expr]) -> Option<Domain> {
    let is_date = matches!(operand.ty, SqlType::Date | SqlType::DateTime { .. } | SqlType::Timestamp { .. });
    let is_number = |item: &Expr| item.is_constant() && item.ty.is_numeric();
    (is_date && list.iter().all(is_number)).then_some(Domain::DateTime)
}

/// Whether a date or time is looked for in a list of numbers and of others: it is a number beside a number
/// there.
pub(super) fn is_mixed(operand: &Expr, list: &[Expr]) -> bool {
    let is_date = operand.ty.is_temporal() && operand.ty != SqlType::Year;
    let is_other = |item: &Expr| item.ty.is_string() || item.ty.is_temporal();
    is_date && list.iter().any(|item| item.ty.is_numeric()) && list.iter().any(is_other)
}

fn is_constant_text(item: &Expr) -> bool {
    item.is_constant() && item.ty.is_string() && item.ty != SqlType::Json
}

/// Whether a list has constant texts and no whole numbers or decimals: MySQL looks for a year in it as for a
/// text.
fn has_texts_and_nothing_exact(list: &[Expr]) -> bool {
    let is_exact = |ty: &SqlType| {
        matches!(ty, SqlType::Int { .. } | SqlType::Bit { .. } | SqlType::Year | SqlType::Decimal { .. })
    };
    let is_text = |item: &Expr| item.ty.is_string() && item.ty != SqlType::Json;
    let has_none = list.iter().all(|item| item.is_same_for_all_rows() && !is_exact(&item.ty));
    has_none && list.iter().any(is_text) && list.iter().all(|item| item.ty != SqlType::Json)
}

/// Whether a value is a whole number that is no column's: in a list of constant texts and doubles it is
/// looked for as such among the texts, and each text is as much of it as says one.
fn is_computed_integer(expr: &Expr) -> bool {
    matches!(expr.ty, SqlType::Int { .. } | SqlType::Bit { .. }) && !matches!(expr.node, Node::Column { .. })
}

/// A value that is no text as text.
fn written(value: Expr, collation: CollationId) -> Expr {
    if value.ty.is_string() || value.ty == SqlType::Null {
        return value;
    }
    let cast = |operand: Expr, target: CastTarget| {
        let (ty, nullable) = (target.result_type(&operand.ty), operand.nullable);
        Expr::computed(Node::Cast { operand: Box::new(operand), target }, ty, nullable)
    };
    // A year that is no column's is a number.
    let is_number = value.ty == SqlType::Year && !value.is_field();
    let value = if is_number { cast(value, CastTarget::Unsigned) } else { value };
    cast(value, CastTarget::Char { length: None, collation })
}

/// `operand [NOT] IN (list)` of texts.
fn in_texts(
    mut operand: Expr,
    mut list: Vec<Expr>,
    collation: CollationId,
    negated: bool,
) -> SqlResult<Expr> {
    transcode_to(&mut operand, collation)?;
    list.iter_mut().try_for_each(|item| transcode_to(item, collation))?;
    let nullable = operand.nullable || list.iter().any(|item| item.nullable);
    let list = Arc::new(list.into_iter().map(|item| (Domain::Text(collation), item)).collect());
    Ok(Expr::truth(Node::In { operand: Box::new(operand), list, negated }, nullable))
}

fn between_bounds(operand: Expr, domain: Domain, [low, high]: [Expr; 2], negated: bool) -> Expr {
    let nullable = operand.nullable || low.nullable || high.nullable;
    let [operand, low, high] = [operand, low, high].map(Box::new);
    Expr::truth(Node::Between { operand, domain, low, high, negated }, nullable)
}

/// Whether an operand is a value that is there: a column, a constant or a variable.
fn is_read(expr: &ast::Expr) -> bool {
    matches!(
        expr,
        ast::Expr::Column(_)
            | ast::Expr::Literal(_)
            | ast::Expr::Placeholder(_)
            | ast::Expr::UserVariable(_)
            | ast::Expr::SystemVariable(_)
    )
}
