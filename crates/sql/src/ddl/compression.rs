//! Table options about compressed pages: MySQL's `COMPRESSION`, and `PAGE_COMPRESSED` and
//! `PAGE_COMPRESSION_LEVEL` of MariaDB, which mean zlib.
//!
//! What is kept is `COMPRESSION` as it was written, and the level. `zstd` is a codec of this server's own.

use palisade_base::error_catalogue::{ER_ILLEGAL_HA, ER_UNSUPPORTED_EXTENSION, ER_WRONG_VALUE};
use palisade_base::{MysqlError, mysql_error};
use palisade_catalog::descriptor::TableDef;
use palisade_engine::Codec;
use palisade_parser::ast::OptionValue;

use super::Definer;
use super::table::put_option;
use crate::SqlResult;

const COMPRESSION: &str = "COMPRESSION";
const LEVEL: &str = "PAGE_COMPRESSION_LEVEL";

/// `COMPRESSION='...'`; 1031 and a warning for a name that is none of a codec's.
pub fn set_algorithm(definer: &mut Definer<'_>, def: &mut TableDef, algorithm: &[u8]) -> SqlResult<()> {
    let name = String::from_utf8_lossy(algorithm);
    if name.is_empty() {
        def.options.retain(|(known, _)| known != COMPRESSION);
    } else if name.eq_ignore_ascii_case("none") || Codec::named(&name).is_some() {
        put_option(def, COMPRESSION, name.into_owned());
    } else {
        let text = format!("InnoDB: Unsupported compression algorithm '{name}'");
        definer.warnings.push(MysqlError::with_message(&ER_UNSUPPORTED_EXTENSION, text));
        return Err(mysql_error!(ER_ILLEGAL_HA, def.name));
    }
    Ok(())
}

/// An option of MariaDB's; whether `name` is one.
pub fn set_of_mariadb(def: &mut TableDef, name: &str, value: &OptionValue) -> SqlResult<bool> {
    let text = match value {
        OptionValue::Default => String::new(),
        OptionValue::Number(number) => number.to_string(),
        OptionValue::Word(word) => word.clone(),
        OptionValue::Text(text) => String::from_utf8_lossy(text).into_owned(),
    };
    let wrong = || mysql_error!(ER_WRONG_VALUE, name, &text);
    match name {
        "PAGE_COMPRESSED" => {
            let is = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
            let is_on = is(&["1", "ON", "YES"]);
            if !is_on && !is(&["", "0", "OFF", "NO"]) {
                return Err(wrong());
            }
            def.options.retain(|(known, _)| known != COMPRESSION);
            if is_on {
                put_option(def, COMPRESSION, Codec::Zlib.name().to_owned());
            }
        }
        LEVEL => {
            def.options.retain(|(known, _)| known != LEVEL);
            match text.parse::<u8>() {
                _ if text.is_empty() => {}
                Ok(level @ 1..=9) => put_option(def, LEVEL, level.to_string()),
                _ => return Err(wrong()),
            }
        }
        _ => return Ok(false),
    }
    Ok(true)
}
