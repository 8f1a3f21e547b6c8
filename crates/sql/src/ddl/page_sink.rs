//! The table option `PAGE_SINK`, this server's own: where the table's pages go when they are written. It is
//! kept as it was written, and decides when the table's files are made.

use palisade_base::error_catalogue::ER_WRONG_VALUE;
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::descriptor::TableDef;
use palisade_engine::PageSinkKind;
use palisade_parser::ast::OptionValue;

use super::table::put_option;

/// The option's name.
pub const PAGE_SINK: &str = "PAGE_SINK";

/// Sets the option, or takes it away with DEFAULT and with an empty text; 1525 for any other value.
pub fn set(def: &mut TableDef, value: &OptionValue) -> Result<(), MysqlError> {
    let text = match value {
        OptionValue::Default => String::new(),
        OptionValue::Number(number) => number.to_string(),
        OptionValue::Word(word) => word.clone(),
        OptionValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
    };
    match PageSinkKind::named(&text) {
        Some(kind) => put_option(def, PAGE_SINK, kind.name().to_owned()),
        None if text.is_empty() => def.options.retain(|(known, _)| known != PAGE_SINK),
        None => return Err(mysql_error!(ER_WRONG_VALUE, PAGE_SINK, text)),
    }
    Ok(())
}
