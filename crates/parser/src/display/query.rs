//! Queries.

use super::expr::{condition, json_on};
use super::{List, Names, Quoted, Text};
use crate::ast::*;
use std::fmt::{self, Display, Formatter};

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(with) = &self.with {
            write!(f, "with {}{} ", if with.recursive { "recursive " } else { "" }, List(&with.tables))?;
        }
        self.body.fmt(f)?;
        if !self.order_by.is_empty() {
            write!(f, " order by {}", List(&self.order_by))?;
        }
        if let Some(limit) = &self.limit {
            limit.fmt(f)?;
        }
        if let Some(into) = &self.into {
            into.fmt(f)?;
        }
        self.locking.iter().try_for_each(|locking| locking.fmt(f))
    }
}

impl Display for CommonTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Quoted(&self.name).fmt(f)?;
        if !self.columns.is_empty() {
            write!(f, " ({})", Names(&self.columns))?;
        }
        write!(f, " as ({})", self.query)
    }
}

impl Display for QueryBody {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            QueryBody::Select(select) => select.fmt(f),
            QueryBody::Values(rows) => {
                for (index, row) in rows.iter().enumerate() {
                    write!(f, "{}row({})", if index > 0 { "," } else { "values " }, List(row))?;
                }
                Ok(())
            }
            QueryBody::Table(name) => write!(f, "table {name}"),
            QueryBody::Nested(query) => write!(f, "({query})"),
            QueryBody::Combination { first, rest } => {
                first.fmt(f)?;
                rest.iter().try_for_each(|term| term.fmt(f))
            }
        }
    }
}

impl Display for CombinationTerm {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operator = match self.operator {
            SetOperator::Union => "union",
            SetOperator::Except => "except",
            SetOperator::Intersect => "intersect",
        };
        write!(f, " {operator}{} {}", if self.all { " all" } else { "" }, self.body)
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("select ")?;
        let options = &self.options;
        if let Some(limit) = options.max_execution_time {
            write!(f, "/*+ MAX_EXECUTION_TIME({limit}) */ ")?;
        }
        for (set, word) in [
            (options.straight_join, "straight_join "),
            (options.high_priority, "high_priority "),
            (self.distinct, "distinct "),
            (options.small_result, "sql_small_result "),
            (options.big_result, "sql_big_result "),
            (options.buffer_result, "sql_buffer_result "),
            (options.no_cache, "sql_no_cache "),
            (options.calc_found_rows, "sql_calc_found_rows "),
        ] {
            f.write_str(if set { word } else { "" })?;
        }
        List(&self.items).fmt(f)?;
        if !self.from.is_empty() {
            write!(f, " from {}", List(&self.from))?;
        }
        if let Some(filter) = &self.filter {
            f.write_str(" where ")?;
            condition(f, filter)?;
        }
        if !self.group_by.is_empty() {
            write!(f, " group by {}", List(&self.group_by))?;
        }
        if self.rollup {
            f.write_str(" with rollup")?;
        }
        if let Some(having) = &self.having {
            write!(f, " having {having}")?;
        }
        for (index, (name, spec)) in self.windows.iter().enumerate() {
            write!(f, "{}{} AS {spec} ", if index > 0 { "," } else { " window " }, Quoted(name))?;
        }
        Ok(())
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            SelectItem::Wildcard => f.write_str("*"),
            SelectItem::TableWildcard(table) => write!(f, "{table}.*"),
            SelectItem::Expr { expr, alias: Some(alias), .. } => write!(f, "{expr} AS {}", Quoted(alias)),
            SelectItem::Expr { expr, .. } => expr.fmt(f),
        }
    }
}

impl Display for OrderItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.expr, if self.descending { " desc" } else { "" })
    }
}

impl Display for Limit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.offset {
            Some(offset) => write!(f, " limit {offset},{}", self.count),
            None => write!(f, " limit {}", self.count),
        }
    }
}

impl Display for Locking {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(if self.exclusive { " for update" } else { " for share" })?;
        if !self.tables.is_empty() {
            write!(f, " of {}", List(&self.tables))?;
        }
        f.write_str(match self.wait {
            LockWait::Wait => "",
            LockWait::NoWait => " nowait",
            LockWait::SkipLocked => " skip locked",
        })
    }
}

impl Display for Into {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Into::Variables(variables) => write!(f, " into {}", List(variables)),
            Into::Outfile { path, format } => write!(f, " into outfile {}{format}", Text(path)),
            Into::Dumpfile(path) => write!(f, " into dumpfile {}", Text(path)),
        }
    }
}

impl Display for IntoVariable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            IntoVariable::User(name) => write!(f, "@{}", Quoted(name)),
            IntoVariable::Local(name) => Quoted(name).fmt(f),
        }
    }
}

impl Display for LoadFormat {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(charset) = &self.charset {
            write!(f, " character set {}", Quoted(charset))?;
        }
        if self.fields_terminated.is_some() || self.enclosed.is_some() || self.escaped.is_some() {
            f.write_str(" fields")?;
        }
        let enclosed = if self.optionally_enclosed { "optionally enclosed" } else { "enclosed" };
        for (what, text) in
            [("terminated", &self.fields_terminated), (enclosed, &self.enclosed), ("escaped", &self.escaped)]
        {
            if let Some(text) = text {
                write!(f, " {what} by {}", Text(text))?;
            }
        }
        if self.lines_starting.is_some() || self.lines_terminated.is_some() {
            f.write_str(" lines")?;
        }
        for (what, text) in [("starting", &self.lines_starting), ("terminated", &self.lines_terminated)] {
            if let Some(text) = text {
                write!(f, " {what} by {}", Text(text))?;
            }
        }
        Ok(())
    }
}

impl Display for TableReference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TableReference::Table(table) => table.fmt(f),
            TableReference::Derived(derived) => derived.fmt(f),
            TableReference::JsonTable(table) => table.fmt(f),
            TableReference::List(tables) => write!(f, "({})", List(tables)),
            TableReference::Join(join) => join.fmt(f),
        }
    }
}

impl Display for TableFactor {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        if !self.partitions.is_empty() {
            write!(f, " partition ({})", Names(&self.partitions))?;
        }
        if let Some(alias) = &self.alias {
            write!(f, " {}", Quoted(alias))?;
        }
        for hint in &self.index_hints {
            f.write_str(match hint.kind {
                IndexHintKind::Use => " USE INDEX ",
                IndexHintKind::Force => " FORCE INDEX ",
                IndexHintKind::Ignore => " IGNORE INDEX ",
            })?;
            f.write_str(match hint.scope {
                None => "",
                Some(IndexHintScope::Join) => "FOR JOIN ",
                Some(IndexHintScope::OrderBy) => "FOR ORDER BY ",
                Some(IndexHintScope::GroupBy) => "FOR GROUP BY ",
            })?;
            f.write_str("(")?;
            for (number, index) in hint.indexes.iter().enumerate() {
                f.write_str(if number > 0 { "," } else { "" })?;
                match index.eq_ignore_ascii_case("primary") {
                    true => f.write_str("PRIMARY")?,
                    false => Quoted(index).fmt(f)?,
                }
            }
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Display for DerivedTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", if self.lateral { "lateral " } else { "" }, self.query)?;
        if let Some(alias) = &self.alias {
            write!(f, " {}", Quoted(alias))?;
        }
        if !self.columns.is_empty() {
            write!(f, " ({})", Names(&self.columns))?;
        }
        Ok(())
    }
}

impl Display for Join {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let natural = if self.condition == JoinCondition::Natural { "natural " } else { "" };
        let kind = match self.kind {
            JoinKind::Inner => "join",
            JoinKind::Left => "left join",
            JoinKind::Right => "right join",
            JoinKind::Straight => "straight_join",
        };
        write!(f, "({} {natural}{kind} {}", self.left, self.right)?;
        match &self.condition {
            JoinCondition::On(condition) => write!(f, " on({condition}))"),
            JoinCondition::Using(columns) => write!(f, " using ({}))", Names(columns)),
            JoinCondition::None | JoinCondition::Natural => f.write_str(")"),
        }
    }
}

/// The parts of a COLUMNS clause.
struct Spaced<'a>(&'a [JsonTableColumn]);

impl Display for Spaced<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (number, column) in self.0.iter().enumerate() {
            f.write_str(if number > 0 { ", " } else { "" })?;
            column.fmt(f)?;
        }
        Ok(())
    }
}

impl Display for JsonTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "json_table({}, {} columns (", self.document, Text(&self.path))?;
        write!(f, "{}))", Spaced(&self.columns))?;
        self.alias.as_ref().map_or(Ok(()), |alias| write!(f, " {}", Quoted(alias)))
    }
}

impl Display for JsonTableColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            JsonTableColumn::Ordinality(name) => write!(f, "{} for ordinality", Quoted(name)),
            JsonTableColumn::Path { name, data_type, path, on_empty, on_error } => {
                write!(f, "{} {data_type} path {}", Quoted(name), Text(path))?;
                json_on(f, on_empty, "empty")?;
                json_on(f, on_error, "error")
            }
            JsonTableColumn::Exists { name, data_type, path } => {
                write!(f, "{} {data_type} exists path {}", Quoted(name), Text(path))
            }
            JsonTableColumn::Nested { path, columns } => {
                write!(f, "nested path {} columns ({})", Text(path), Spaced(columns))
            }
        }
    }
}

impl Display for WindowSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        let mut space = "";
        if let Some(base) = &self.base {
            Quoted(base).fmt(f)?;
            space = " ";
        }
        if !self.partition_by.is_empty() {
            write!(f, "{space}PARTITION BY {}", List(&self.partition_by))?;
            space = " ";
        }
        if !self.order_by.is_empty() {
            write!(f, "{space}ORDER BY {}", List(&self.order_by))?;
            space = " ";
        }
        if self.frame.is_none() && (!self.partition_by.is_empty() || !self.order_by.is_empty()) {
            f.write_str(" ")?;
        }
        if let Some(frame) = &self.frame {
            write!(f, "{space}{frame}")?;
        }
        f.write_str(")")
    }
}

impl Display for WindowFrame {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self.unit {
            FrameUnit::Rows => "ROWS ",
            FrameUnit::Range => "RANGE ",
            FrameUnit::Groups => "GROUPS ",
        })?;
        match &self.end {
            Some(end) => write!(f, "BETWEEN {} AND {end}", self.start)?,
            None => self.start.fmt(f)?,
        }
        f.write_str(match self.exclude {
            None => "",
            Some(FrameExclusion::CurrentRow) => " exclude current row",
            Some(FrameExclusion::Group) => " exclude group",
            Some(FrameExclusion::Ties) => " exclude ties",
            Some(FrameExclusion::NoOthers) => " exclude no others",
        })
    }
}

impl Display for FrameBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (amount, unit, direction) = match self {
            FrameBound::UnboundedPreceding => return f.write_str("UNBOUNDED PRECEDING"),
            FrameBound::UnboundedFollowing => return f.write_str("UNBOUNDED FOLLOWING"),
            FrameBound::CurrentRow => return f.write_str("CURRENT ROW"),
            FrameBound::Preceding(amount, unit) => (amount, unit, "PRECEDING"),
            FrameBound::Following(amount, unit) => (amount, unit, "FOLLOWING"),
        };
        match unit {
            Some(unit) => write!(f, "INTERVAL {amount} {unit} {direction}"),
            None => write!(f, "{amount} {direction}"),
        }
    }
}
