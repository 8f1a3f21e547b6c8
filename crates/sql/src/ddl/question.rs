//! What a definition statement asks of the rows of the tables it has locked: queries, made as parse trees.

use palisade_catalog::descriptor::{Column, ForeignKey, TableDef};
use palisade_catalog::{Charset, Value, charset};
use palisade_engine::TableName;
use palisade_parser::ast::{
    Aggregate, AggregateKind, BinaryOp, ColumnName, Expr, IsTest, Limit, Literal, ObjectName, Query,
    QueryBody, Select, SelectItem, StringLiteral, TableFactor, TableReference, UnaryOp,
};

use crate::show::create::value_text;

/// What the table whose rows are looked at is called in [`orphans`].
const CHILD: &str = "c";
/// What the table that they refer to is called.
const PARENT: &str = "p";

/// How many rows a table has.
pub(super) fn row_count(name: &TableName) -> Query {
    let from = TableFactor { name: object(&name.schema, &name.table), ..TableFactor::default() };
    let count = Aggregate {
        kind: AggregateKind::Count,
        distinct: false,
        arguments: Vec::new(),
        order_by: Vec::new(),
        separator: None,
        over: None,
    };
    select(Expr::Aggregate(Box::new(count)), from, None)
}

/// Some columns of all rows of a table.
pub(super) fn columns_of(name: &TableName, def: &TableDef, columns: &[usize]) -> Query {
    let from = TableFactor {
        name: object(&name.schema, &name.table),
        alias: Some(CHILD.to_owned()),
        ..TableFactor::default()
    };
    let named = columns.iter().filter_map(|place| def.columns.get(*place));
    let item = |known: &Column| SelectItem::Expr {
        expr: child_column(&known.name),
        alias: None,
        text: String::new(),
    };
    let items = named.map(item).collect();
    let from = vec![TableReference::Table(from)];
    Query::of(QueryBody::Select(Box::new(Select { items, from, ..Select::default() })))
}

/// A row of the table without a parent by a new foreign key, if there is one; `values` are what its columns
/// will be.
pub(super) fn orphans(def: &TableDef, key: &ForeignKey, values: &[Expr]) -> Query {
    let table = |schema: &str, name: &str, alias: &str| TableFactor {
        name: object(schema, name),
        alias: Some(alias.to_owned()),
        ..TableFactor::default()
    };
    let pairs = values.iter().zip(&key.referenced_columns);
    let equal = pairs.map(|(value, referenced)| {
        let referenced = Box::new(column(PARENT, referenced));
        Expr::Binary(BinaryOp::Equal, referenced, Box::new(value.clone()))
    });
    let parent = table(&key.referenced_schema, &key.referenced_table, PARENT);
    let parents = select(one(), parent, all(equal.collect()));
    let is_given =
        |value: &Expr| Expr::Is { negated: true, operand: Box::new(value.clone()), test: IsTest::Null };
    let has_none = Expr::Unary(UnaryOp::Not, Box::new(Expr::Exists(Box::new(parents))));
    let conditions = values.iter().map(is_given).chain([has_none]).collect();
    let child = table(&def.schema, &def.name, CHILD);
    let limit = Some(Limit { count: one(), offset: None });
    Query { limit, ..select(one(), child, all(conditions)) }
}

/// The value of a column in each row.
pub(super) fn child_column(name: &str) -> Expr {
    column(CHILD, name)
}

/// The same value in all rows.
pub(super) fn constant(value: &Value, column: &Column) -> Expr {
    let negative = |literal| Expr::Unary(UnaryOp::Minus, Box::new(Expr::Literal(literal)));
    Expr::Literal(match value {
        Value::Null => Literal::Null,
        Value::Int(value) if *value < 0 => return negative(Literal::Integer(value.unsigned_abs())),
        Value::Int(value) => Literal::Integer(value.unsigned_abs()),
        Value::UInt(value) => Literal::Integer(*value),
        Value::Bit { bits, .. } => Literal::Bit(bits.to_be_bytes().to_vec(), None),
        Value::Bytes(bytes) if !column.sql_type.is_text() => Literal::Hex(bytes.to_vec(), None),
        Value::Bytes(bytes) => {
            let mut text = Vec::new();
            charset::convert(bytes, column.sql_type.collation().get().charset, Charset::Utf8mb4, &mut text);
            string(text)
        }
        value => string(value_text(value, column).into_bytes()),
    })
}

fn string(value: Vec<u8>) -> Literal {
    Literal::String(StringLiteral { value, charset: Some(Charset::Utf8mb4.name().to_owned()) })
}

fn one() -> Expr {
    Expr::Literal(Literal::Integer(1))
}

fn column(table: &str, name: &str) -> Expr {
    Expr::Column(ColumnName { schema: None, table: Some(table.to_owned()), column: name.to_owned() })
}

fn object(schema: &str, name: &str) -> ObjectName {
    ObjectName { schema: Some(schema.to_owned()), name: name.to_owned() }
}

/// That all of them hold.
fn all(mut conditions: Vec<Expr>) -> Option<Expr> {
    if conditions.len() > 1 { Some(Expr::And(conditions)) } else { conditions.pop() }
}

fn select(expr: Expr, from: TableFactor, filter: Option<Expr>) -> Query {
    let items = vec![SelectItem::Expr { expr, alias: None, text: String::new() }];
    let from = vec![TableReference::Table(from)];
    Query::of(QueryBody::Select(Box::new(Select { items, from, filter, ..Select::default() })))
}
