//! Steps that are shared, and computations that give up. That they have the values of row by row is tested
//! with statements (`crates/sql/tests/batches.rs`).

use std::sync::Arc;

use palisade_catalog::{Column, Index, IndexPart, TableDef, row};

use super::*;
use crate::Comparison;

const X: SqlType = SqlType::Decimal { precision: 9, scale: 2, unsigned: false };

fn table() -> Table {
    let types = [SqlType::BIGINT, SqlType::BIGINT_UNSIGNED, X, SqlType::DOUBLE];
    let columns = types.into_iter().enumerate().map(|(at, ty)| Column::new(format!("c{at}"), ty, at as u16));
    let mut columns: Vec<Column> = columns.collect();
    columns[0].nullable = false;
    let indexes = vec![Index::primary(vec![IndexPart::of(0)])];
    Table::new(TableDef { columns, indexes, ..TableDef::default() }).unwrap()
}

fn column(table: &Table, column: usize) -> Expr {
    let node = Node::Column { slot: 0, column, name: Arc::from("c"), computed: false };
    Expr::computed(node, table.columns[column].sql_type.clone(), true)
}

fn arithmetic(op: ArithmeticOp, numeric: Numeric, left: &Expr, right: &Expr, ty: SqlType) -> Expr {
    let (left, right) = (Box::new(left.clone()), Box::new(right.clone()));
    Expr::computed(Node::Arithmetic { op, numeric, left, right }, ty, true)
}

/// The values of expressions for rows, and how many steps they took; `None` where they give up.
fn computed(expressions: &[&Expr], rows: &[[Value; 4]]) -> Option<(usize, Vec<Vec<Value>>)> {
    let table = table();
    let (mut columns, mut computation) = (PlainColumns::new(&table), Computation::default());
    let of = Rows { table: &table, slot: 0, parameters: &[] };
    let steps: Vec<usize> =
        expressions.iter().map(|expr| computation.add(expr, of, &mut columns).unwrap()).collect();
    let encoded: Vec<Vec<u8>> = rows.iter().map(|values| row::encode(&table, values).unwrap()).collect();
    let encoded: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
    if !computation.run(&columns, &encoded) {
        return None;
    }
    let values = steps.iter().map(|step| {
        let vector = computation.vector(*step).unwrap();
        (0..rows.len()).map(|row| vector.value(row).to_owned()).collect()
    });
    Some((computation.actions.len(), values.collect()))
}

fn row_of(b: i64, u: u64, x: i128, f: f64) -> [Value; 4] {
    [Value::Int(b), Value::UInt(u), Value::Decimal(Decimal::new(x, 2)), Value::Double(f)]
}

#[test]
fn equal_expressions_are_one_step() {
    let table = table();
    let (b, x, f) = (column(&table, 0), column(&table, 2), column(&table, 3));
    let wide = SqlType::Decimal { precision: 30, scale: 2, unsigned: false };
    let sum = arithmetic(ArithmeticOp::Subtract, Numeric::Decimal, &Expr::int(1), &x, wide.clone());
    let product = arithmetic(ArithmeticOp::Multiply, Numeric::Decimal, &b, &sum, wide);
    let double = arithmetic(ArithmeticOp::Add, Numeric::Double, &f, &b, SqlType::DOUBLE);
    let mut absent = row_of(7, 1, 1, 1.0);
    absent[2] = Value::Null;
    let rows = [row_of(3, 0, 150, 0.5), absent, row_of(-2, 0, -25, -1.0)];
    let (steps, values) = computed(&[&sum, &product, &double, &sum], &rows).unwrap();
    // x, 1 - x, b, the product, f, b as a double, their sum
    assert_eq!(steps, 7);
    let decimal = |units| Value::Decimal(Decimal::new(units, 2));
    assert_eq!(values[0], [decimal(-50), Value::Null, decimal(125)]);
    assert_eq!(values[1], [decimal(-150), Value::Null, decimal(-250)]);
    assert_eq!(values[2], [Value::Double(3.5), Value::Double(8.0), Value::Double(-3.0)]);
    assert_eq!(values[3], values[0]);
}

#[test]
fn what_takes_more_than_64_bits_or_is_an_error_gives_up() {
    let table = table();
    let (b, u, f) = (column(&table, 0), column(&table, 1), column(&table, 3));
    let square = arithmetic(ArithmeticOp::Multiply, Numeric::Signed, &b, &b, SqlType::BIGINT);
    assert_eq!(computed(&[&square], &[row_of(1 << 31, 0, 0, 0.0)]).unwrap().1, [[Value::Int(1 << 62)]]);
    assert_eq!(computed(&[&square], &[row_of(1, 0, 0, 0.0), row_of(1 << 32, 0, 0, 0.0)]), None);
    assert_eq!(computed(&[&u], &[row_of(0, 1 << 63, 0, 0.0)]), None);
    let below = arithmetic(ArithmeticOp::Subtract, Numeric::Unsigned, &u, &b, SqlType::BIGINT_UNSIGNED);
    assert_eq!(computed(&[&below], &[row_of(5, 7, 0, 0.0)]).unwrap().1, [[Value::UInt(2)]]);
    assert_eq!(computed(&[&below], &[row_of(7, 5, 0, 0.0)]), None);
    let large = arithmetic(ArithmeticOp::Multiply, Numeric::Double, &f, &f, SqlType::DOUBLE);
    assert_eq!(computed(&[&large], &[row_of(0, 0, 0, 1e200)]), None);
}

fn vector(kind: Kind, values: &[Value]) -> Vector {
    let mut vector = Vector::of(kind);
    assert!(values.iter().all(|value| vector.push(value.as_ref())));
    vector
}

fn values(vector: &Vector) -> Vec<Value> {
    (0..vector.len()).map(|row| vector.value(row).to_owned()).collect()
}

#[test]
fn vectors_are_computed_with_and_appended() {
    let table = table();
    let (b, x) = (column(&table, 0), column(&table, 2));
    let decimal = |units| Value::Decimal(Decimal::new(units, 2));
    let numbers = [Value::Int(4), Value::Int(5), Value::Null, Value::Int(7)];
    let kinds = [Kind::Signed, Kind::Unsigned, Kind::Decimal(2), Kind::Double];
    let mut columns: Vec<Vector> = kinds.into_iter().map(Vector::of).collect();
    columns[0] = vector(kinds[0], &numbers);
    columns[2] = vector(kinds[2], &[100, 250, 300, -50].map(decimal));

    let given = Given { kinds: &kinds, slot: 0, parameters: &[] };
    let compare = |comparison, left: &Expr, right: Expr| {
        let (left, right) = (Box::new(left.clone()), Box::new(right));
        Expr::computed(
            Node::Compare { comparison, domain: Domain::Decimal, left, right },
            SqlType::BIGINT,
            true,
        )
    };
    let conditions = vec![
        compare(Comparison::Greater, &x, Expr::int(-1)),
        compare(Comparison::LessEqual, &b, Expr::int(5)),
    ];
    let condition = Expr::computed(Node::And(conditions), SqlType::BIGINT, true);
    let (mut computation, mut tests) = (Computation::default(), Vec::new());
    computation.add_condition(&condition, given, &mut tests).unwrap();
    assert!(computation.run_given(&columns, Picked::Range { first: 1, rows: 3 }));
    let mut picked: Vec<usize> = (0..3).collect();
    assert!(tests.iter().all(|test| computation.pick(test, &mut picked)));
    // 5 alone: NULL is not true, 7 is too much
    assert_eq!(picked, [0]);

    let mut computation = Computation::default();
    let sum = arithmetic(ArithmeticOp::Add, Numeric::Signed, &b, &Expr::int(1), SqlType::BIGINT);
    let outputs = [&sum, &x, &Expr::int(9)].map(|expr| computation.add_given(expr, given).unwrap());
    assert_eq!(outputs.map(|output| output.kind), [Kind::Signed, Kind::Decimal(2), Kind::Signed]);
    assert!(computation.run_given(&columns, Picked::Some { first: 1, rows: &[0, 1] }));
    let mut made = [Vector::of(Kind::Signed), Vector::of(Kind::Decimal(2)), vector(Kind::Signed, &numbers)];
    for (output, to) in outputs.into_iter().zip(&mut made) {
        computation.append_to(output, 2, to);
    }
    let [sums, same, constants] = &mut made;
    assert_eq!(values(sums), [Value::Int(6), Value::Null]);
    assert_eq!(values(same), [decimal(250), decimal(300)]);
    assert_eq!(values(constants)[3..], [Value::Int(7), Value::Int(9), Value::Int(9)]);
    constants.drop_first(2);
    constants.truncate(3);
    assert_eq!(values(constants), [Value::Null, Value::Int(7), Value::Int(9)]);
}

#[test]
fn a_vector_takes_values_of_its_kind() {
    let mut vector = Vector::of(Kind::Unsigned);
    assert!(vector.push(ValueRef::UInt(7)));
    assert!(!vector.push(ValueRef::UInt(1 << 63)));
    assert!(!vector.push(ValueRef::Int(7)));
    assert!(!Vector::of(Kind::Decimal(2)).push(ValueRef::Decimal(Decimal::new(7, 1))));
    assert!(Vector::of(Kind::Double).push(ValueRef::Double(1.5)));
    assert_eq!(values(&vector), [Value::UInt(7)]);
}
