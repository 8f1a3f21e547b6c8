//! The histories' table: its definition, and rows and keys as bytes.

use palisade_catalog::{Column, Index, IndexPart, RowView, SqlType, TableDef, Value, ValueRef, key, row};
use palisade_engine::{Engine, Table, Xid};

use super::{End, Step};
use crate::model::{Branch, Filling, Row};

/// `CREATE TABLE t (id BIGINT PRIMARY KEY, k BIGINT NOT NULL, u BIGINT, v LONGBLOB NOT NULL, KEY (k), UNIQUE (u))`
pub(super) fn definition() -> TableDef {
    let blob = SqlType::Blob { size: palisade_catalog::types::LobSize::Long };
    let columns = vec![
        Column::new("id", SqlType::BIGINT, 0).not_null(),
        Column::new("k", SqlType::BIGINT, 1).not_null(),
        Column::new("u", SqlType::BIGINT, 2),
        Column::new("v", blob, 3).not_null(),
    ];
    let unique = Index { unique: true, ..Index::new("u", vec![IndexPart::of(2)]) };
    let indexes =
        vec![Index::primary(vec![IndexPart::of(0)]), Index::new("k", vec![IndexPart::of(1)]), unique];
    TableDef { schema: "sim".to_owned(), name: "t".to_owned(), columns, indexes, ..TableDef::default() }
}

pub(super) fn xid(branch: Branch) -> Xid {
    Xid { format: 1, gtrid: branch.to_be_bytes().to_vec(), bqual: Vec::new() }
}

/// The transactions that are prepared, in order.
pub(super) fn prepared(engine: &Engine) -> Step<Vec<Branch>> {
    let number = |name: Xid| {
        let branch = <[u8; 8]>::try_from(&name.gtrid[..]).map(Branch::from_be_bytes).ok();
        let branch = branch.filter(|branch| name == xid(*branch));
        branch.ok_or_else(|| End::Violation(format!("{name:?} is nobody's name")))
    };
    engine.xa_prepared().into_iter().map(number).collect()
}

pub(super) fn encode(table: &Table, id: i64, new: &Row) -> Vec<u8> {
    let values = [
        Value::Int(id),
        Value::Int(new.k),
        new.u.map_or(Value::Null, Value::Int),
        Value::Bytes(vec![new.v.byte; new.v.len as usize].into()),
    ];
    row::encode(table.descriptor(), &values).expect("the values are of the columns' types")
}

pub(super) fn decode(table: &Table, bytes: &[u8]) -> Step<(i64, Row)> {
    let damaged = |what: &str| End::Violation(format!("a row came back damaged: {what}"));
    let view = RowView::new(table.descriptor(), bytes).map_err(|error| damaged(&error.to_string()))?;
    match &view.to_values()[..] {
        [Value::Int(id), Value::Int(k), u, Value::Bytes(v)] => {
            let u = match u {
                Value::Int(u) => Some(*u),
                _ => None,
            };
            let byte = v.first().copied().unwrap_or_default();
            if v.iter().any(|other| *other != byte) {
                return Err(damaged("its value is a mixture"));
            }
            Ok((*id, Row { k: *k, u, v: Filling { byte, len: v.len() as u32 } }))
        }
        other => Err(damaged(&format!("{other:?}"))),
    }
}

pub(super) fn primary_key(table: &Table, id: i64) -> Vec<u8> {
    let mut out = Vec::new();
    key::search_key(table.descriptor(), 0, &[ValueRef::Int(id)], &mut out).expect("an integer is a key");
    out
}
