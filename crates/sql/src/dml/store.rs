//! Rows on their way into a table: their bytes, and the error of one that is there already.

use palisade_base::error_catalogue::{
    ER_DUP_ENTRY, ER_NO_PARTITION_FOR_GIVEN_VALUE, ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET,
};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::{Charset, Table, TableDef, Value, ValueRef, charset, row};
use palisade_exec::ExecContext;
use palisade_exec::run::wait_or_fail;
use palisade_exec::store::row_error;
use palisade_expr::place::At;

use crate::{SqlError, SqlResult};

/// Makes the row with `value(i)` in column i of a table. One of long values is made on another thread.
pub(super) async fn encode_row<'v>(
    cx: &mut ExecContext<'_, '_>,
    table: &Table,
    value: impl Fn(usize) -> ValueRef<'v>,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    loop {
        out.clear();
        let encoded = cx.lend().watched(|watch| row::encode_with_watched(table, &value, out, watch));
        match encoded {
            Ok(encoded) => return encoded.map_err(row_error),
            Err(error) => wait_or_fail(cx, error.into()).await?,
        }
    }
}

/// The values of a row by their places.
pub(super) fn value_in<'v>(values: &'v [Value]) -> impl Fn(usize) -> ValueRef<'v> {
    |place| values.get(place).map_or(ValueRef::Null, Value::as_ref)
}

/// Whether a row was refused because it belongs in no partition, or in none that the statement has chosen.
pub(super) fn belongs_nowhere(error: &SqlError) -> bool {
    matches!(
        error.number(),
        number if number == ER_NO_PARTITION_FOR_GIVEN_VALUE.number
            || number == ER_ROW_DOES_NOT_MATCH_GIVEN_PARTITION_SET.number
    )
}

/// 1062 for a row that collides in index `number`.
pub fn duplicate_entry(
    table: &TableDef,
    number: usize,
    value: impl Fn(usize) -> SqlResult<Value>,
) -> SqlError {
    let described = entry_and_key(table, number, value);
    described.map_or_else(|broken| broken, |(entry, key)| mysql_error!(ER_DUP_ENTRY, entry, key))
}

/// 1062 with the text that MySQL has where ALTER TABLE gives rows numbers.
pub fn resequenced_entry(
    table: &TableDef,
    number: usize,
    value: impl Fn(usize) -> SqlResult<Value>,
) -> SqlError {
    let described = entry_and_key(table, number, value);
    described.map_or_else(
        |broken| broken,
        |(entry, key)| {
            let what = "ALTER TABLE causes auto_increment resequencing, resulting in duplicate entry";
            MysqlError::with_message(&ER_DUP_ENTRY, format!("{what} '{entry}' for key '{key}'"))
        },
    )
}

/// What a row would have in an index, and the index's name.
fn entry_and_key(
    table: &TableDef,
    number: usize,
    value: impl Fn(usize) -> SqlResult<Value>,
) -> SqlResult<(String, String)> {
    let index = table.indexes.at(number)?;
    let mut text = Vec::new();
    for (position, part) in index.parts.iter().enumerate() {
        if position > 0 {
            text.push(b'-');
        }
        let value = value(usize::from(part.column))?;
        let ty = &table.columns.at(usize::from(part.column))?.sql_type;
        let start = text.len();
        if value.is_null() {
            text.extend_from_slice(b"NULL");
        }
        value.as_ref().append_text(ty, &mut text);
        let charset = ty.collation().get().charset;
        if let Some(prefix) = part.prefix {
            let length = charset.prefix_len(text.tail(start)?, prefix as usize);
            text.truncate(start + length);
        }
        if !charset.has_the_bytes_of(Charset::Utf8mb4, text.tail(start)?) {
            let own = text.split_off(start);
            charset::convert(&own, charset, Charset::Utf8mb4, &mut text);
        }
    }
    let escaped = |byte: &u8| match byte {
        b' '..=b'~' => char::from(*byte).to_string(),
        other => format!("\\x{other:02X}"),
    };
    let shown =
        String::from_utf8(text).unwrap_or_else(|error| error.as_bytes().iter().map(escaped).collect());
    Ok((shown, format!("{}.{}", table.name, index.name)))
}
