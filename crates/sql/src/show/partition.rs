//! PARTITION BY as SHOW CREATE TABLE and information_schema show it.
//!
//! MySQL puts the clause into a comment that servers before it pass over: those of version 5.1, or 5.5 where
//! it has COLUMNS or TO_SECONDS(), which came later. Names are in quotes where they have to be.

use palisade_catalog::TableDef;
use palisade_catalog::descriptor::PartitionDef;
use palisade_parser::ast::{
    Expr, Literal, PartitionDefinition, PartitionMethod, PartitionValues, Partitioning, UnaryOp,
};
use palisade_parser::lexer::Keyword;
use palisade_plan::bind::partition::clause_of;
use palisade_plan::bind::quoted;

use super::create::literal;

/// A name as SHOW CREATE TABLE has it in a PARTITION BY: without quotes if it can be read so.
fn bare(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$') || c as u32 >= 0x80;
    let is_number = name.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = Keyword::of(name.as_bytes()) == Keyword::None;
    match !name.is_empty() && !is_number && is_word && name.chars().all(is_plain) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

fn bare_names(names: &[String]) -> String {
    names.iter().map(|name| bare(name)).collect::<Vec<_>>().join(",")
}

/// The clause behind the options of a table; empty if it has none, or none that can be read.
pub(crate) fn comment(def: &TableDef) -> String {
    let Ok(Some(clause)) = clause_of(def) else { return String::new() };
    let mut out = format!("\n/*!{} PARTITION BY {}", version(&clause), method(&clause.method));
    if clause.partitions.is_empty()
        && let Some(count) = clause.count
    {
        out.push_str(&format!("\nPARTITIONS {count}"));
    }
    if let Some(subpartition) = &clause.subpartition {
        out.push_str(&format!("\nSUBPARTITION BY {}", method(subpartition)));
        let lists = clause.partitions.iter().any(|partition| !partition.subpartitions.is_empty());
        if let Some(count) = clause.subpartition_count.filter(|_| !lists) {
            out.push_str(&format!("\nSUBPARTITIONS {count}"));
        }
    }
    if !clause.partitions.is_empty() {
        let each = def.partitions.len() / clause.partitions.len();
        let leaves = def.partitions.chunks(each.max(1));
        let shown =
            clause.partitions.iter().zip(leaves).map(|(partition, leaves)| part(&clause, partition, leaves));
        out.push_str(&format!("\n({})", shown.collect::<Vec<_>>().join(",\n ")));
    }
    out + " */"
}

fn version(clause: &Partitioning) -> &'static str {
    let has_columns =
        matches!(clause.method, PartitionMethod::RangeColumns(_) | PartitionMethod::ListColumns(_));
    let mut is_later = has_columns;
    for method in [&clause.method].into_iter().chain(&clause.subpartition) {
        if let PartitionMethod::Hash { expr, .. }
        | PartitionMethod::Range(expr)
        | PartitionMethod::List(expr) = method
        {
            expr.clone().walk_mut(&mut |part| {
                is_later |= matches!(part, Expr::Function(function) if function.name.eq_ignore_ascii_case("to_seconds"));
            });
        }
    }
    if is_later { "50500" } else { "50100" }
}

fn method(method: &PartitionMethod) -> String {
    let linear = |linear: bool| if linear { "LINEAR " } else { "" };
    match method {
        PartitionMethod::Hash { linear: is_linear, expr } => format!("{}HASH ({expr})", linear(*is_linear)),
        PartitionMethod::Key { linear: is_linear, algorithm: Some(1), columns } => format!(
            "{}KEY */ /*!50611 ALGORITHM = 1 */ /*!50100 ({})",
            linear(*is_linear),
            bare_names(columns)
        ),
        PartitionMethod::Key { linear: is_linear, columns, .. } => {
            format!("{}KEY ({})", linear(*is_linear), bare_names(columns))
        }
        PartitionMethod::Range(expr) => format!("RANGE ({expr})"),
        PartitionMethod::List(expr) => format!("LIST ({expr})"),
        PartitionMethod::RangeColumns(columns) => format!("RANGE  COLUMNS({})", bare_names(columns)),
        PartitionMethod::ListColumns(columns) => format!("LIST  COLUMNS({})", bare_names(columns)),
    }
}

fn part(clause: &Partitioning, partition: &PartitionDefinition, leaves: &[PartitionDef]) -> String {
    let mut out = format!("PARTITION {}", bare(&partition.name));
    match &partition.values {
        PartitionValues::None => {}
        PartitionValues::LessThan(_) => {
            let values = description(clause, partition).unwrap_or_default();
            let has_columns = matches!(clause.method, PartitionMethod::RangeColumns(_));
            match values == "MAXVALUE" && !has_columns {
                true => out.push_str(" VALUES LESS THAN MAXVALUE"),
                false => out.push_str(&format!(" VALUES LESS THAN ({values})")),
            }
        }
        PartitionValues::In(_) => {
            out.push_str(&format!(" VALUES IN ({})", description(clause, partition).unwrap_or_default()));
        }
    }
    if partition.subpartitions.is_empty() {
        out.push_str(&leaves.first().map(options).unwrap_or_default());
        return out;
    }
    let shown = leaves.iter().map(|leaf| {
        let name = leaf.subpartition.as_deref().unwrap_or_default();
        format!("SUBPARTITION {}{}", bare(name), options(leaf))
    });
    out + &format!("\n ({})", shown.collect::<Vec<_>>().join(",\n  "))
}

fn options(leaf: &PartitionDef) -> String {
    let option = |name: &str| leaf.options.iter().find(|(known, _)| known == name).map(|(_, value)| value);
    let mut out = String::new();
    if let Some(space) = option("TABLESPACE") {
        out.push_str(&format!(" TABLESPACE = {}", quoted(space)));
    }
    for name in ["NODEGROUP", "MAX_ROWS", "MIN_ROWS"] {
        if let Some(number) = option(name).filter(|number| *number != "0") {
            out.push_str(&format!(" {name} = {number}"));
        }
    }
    if !leaf.comment.is_empty() {
        out.push_str(&format!(" COMMENT = {}", literal(&leaf.comment)));
    }
    out + " ENGINE = InnoDB"
}

/// What a partition holds, as PARTITION_DESCRIPTION; `None` of HASH and KEY.
fn description(clause: &Partitioning, partition: &PartitionDefinition) -> Option<String> {
    let is_wide = match &clause.method {
        PartitionMethod::ListColumns(columns) => columns.len() > 1,
        _ => false,
    };
    let list = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(",");
    match &partition.values {
        PartitionValues::None => None,
        PartitionValues::LessThan(bounds) => Some(list(&mut bounds.iter().map(|bound| match bound {
            Some(bound) => value(bound),
            None => "MAXVALUE".to_owned(),
        }))),
        PartitionValues::In(rows) => Some(list(&mut rows.iter().map(|row| {
            let values = list(&mut row.iter().map(value));
            if is_wide { format!("({values})") } else { values }
        }))),
    }
}

/// A value as it is kept.
fn value(expr: &Expr) -> String {
    match expr {
        Expr::Literal(Literal::String(text)) => literal(&String::from_utf8_lossy(&text.value)),
        Expr::Literal(Literal::Hex(bytes, _)) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            if bytes.is_empty() { "_binary ''".to_owned() } else { format!("_binary 0x{digits}") }
        }
        Expr::Unary(UnaryOp::Minus, operand) => format!("-{operand}"),
        other => other.to_string(),
    }
}

/// A partition, as information_schema tells of it.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// PARTITION_NAME.
    pub name: Option<String>,
    /// SUBPARTITION_NAME.
    pub subpartition: Option<String>,
    /// PARTITION_ORDINAL_POSITION.
    pub position: Option<usize>,
    /// SUBPARTITION_ORDINAL_POSITION.
    pub subpartition_position: Option<usize>,
    /// PARTITION_METHOD.
    pub method: Option<&'static str>,
    /// SUBPARTITION_METHOD.
    pub subpartition_method: Option<&'static str>,
    /// PARTITION_EXPRESSION.
    pub expression: Option<String>,
    /// SUBPARTITION_EXPRESSION.
    pub subpartition_expression: Option<String>,
    /// PARTITION_DESCRIPTION.
    pub description: Option<String>,
    /// PARTITION_COMMENT.
    pub comment: String,
    /// NODEGROUP.
    pub node_group: String,
    /// TABLESPACE_NAME.
    pub tablespace: Option<String>,
    /// Its number among the table's.
    pub number: usize,
}

/// The partitions of a table; one without names of a table that has none.
pub(crate) fn shown(def: &TableDef) -> Vec<Shown> {
    let Ok(Some(clause)) = clause_of(def) else { return vec![Shown::default()] };
    let parts = if clause.partitions.is_empty() { def.partitions.len() } else { clause.partitions.len() };
    let each = (def.partitions.len() / parts.max(1)).max(1);
    let has_subpartitions = clause.subpartition.is_some();
    let of = |(number, leaf): (usize, &PartitionDef)| {
        let part = number / each;
        let option =
            |name: &str| leaf.options.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        Shown {
            name: Some(leaf.name.clone()),
            subpartition: leaf.subpartition.clone(),
            position: Some(part + 1),
            subpartition_position: has_subpartitions.then_some(number % each + 1),
            method: Some(method_name(&clause.method)),
            subpartition_method: clause.subpartition.as_ref().map(method_name),
            expression: expression(&clause.method),
            subpartition_expression: clause.subpartition.as_ref().and_then(expression),
            description: clause.partitions.get(part).and_then(|partition| description(&clause, partition)),
            comment: leaf.comment.clone(),
            node_group: option("NODEGROUP").unwrap_or_else(|| "default".to_owned()),
            tablespace: option("TABLESPACE"),
            number,
        }
    };
    def.partitions.iter().enumerate().map(of).collect()
}

fn method_name(method: &PartitionMethod) -> &'static str {
    match method {
        PartitionMethod::Hash { linear: false, .. } => "HASH",
        PartitionMethod::Hash { linear: true, .. } => "LINEAR HASH",
        PartitionMethod::Key { linear: false, .. } => "KEY",
        PartitionMethod::Key { linear: true, .. } => "LINEAR KEY",
        PartitionMethod::Range(_) => "RANGE",
        PartitionMethod::RangeColumns(_) => "RANGE COLUMNS",
        PartitionMethod::List(_) => "LIST",
        PartitionMethod::ListColumns(_) => "LIST COLUMNS",
    }
}

/// What a method is about; `None` of KEY().
fn expression(method: &PartitionMethod) -> Option<String> {
    match method {
        PartitionMethod::Hash { expr, .. } | PartitionMethod::Range(expr) | PartitionMethod::List(expr) => {
            Some(expr.to_string())
        }
        PartitionMethod::Key { columns, .. } if columns.is_empty() => None,
        PartitionMethod::Key { columns, .. }
        | PartitionMethod::RangeColumns(columns)
        | PartitionMethod::ListColumns(columns) => {
            Some(columns.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(","))
        }
    }
}
