//! Answers other than rows: OK, ERR, EOF, column definitions, and what a prepare tells.
//!
//! ```text
//! result set:  column count, column definitions, [EOF]*, rows, OK-as-EOF or EOF*
//!                                               * from clients without CLIENT_DEPRECATE_EOF
//! prepare:     prepare OK, [parameter definitions, EOF*], [column definitions, EOF*]
//! ```

use crate::constants::{Capabilities, Status};
use crate::wire::{put_lenenc_bytes, put_lenenc_int};
use palisade_base::MysqlError;

/// What an OK packet says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ok<'a> {
    /// Rows changed.
    pub affected_rows: u64,
    /// First generated AUTO_INCREMENT value; 0 if there is none.
    pub last_insert_id: u64,
    /// The session's status.
    pub status: Status,
    /// How many warnings SHOW WARNINGS would list.
    pub warnings: u16,
    /// A line for people.
    pub info: &'a [u8],
    /// What changed in the session, as [`put_change`] writes it; only for clients with CLIENT_SESSION_TRACK.
    pub changes: &'a [u8],
}

/// Something of the session that changed and that a client wants to follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionChange<'a> {
    /// A system variable has this value now.
    Variable(&'a str, &'a str),
    /// This is the default database now.
    Schema(&'a str),
    /// Something has changed, whatever it is.
    State,
}

/// Appends a change to the list for an OK packet.
pub fn put_change(out: &mut Vec<u8>, change: SessionChange<'_>) {
    let mut body = Vec::new();
    let kind = match change {
        SessionChange::Variable(name, value) => {
            put_lenenc_bytes(&mut body, name.as_bytes());
            put_lenenc_bytes(&mut body, value.as_bytes());
            0
        }
        SessionChange::Schema(name) => {
            put_lenenc_bytes(&mut body, name.as_bytes());
            1
        }
        SessionChange::State => {
            put_lenenc_bytes(&mut body, b"1");
            2
        }
    };
    out.push(kind);
    put_lenenc_bytes(out, &body);
}

impl Ok<'_> {
    /// Appends the payload of an OK packet.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.encode_with_header(0, out);
    }

    fn encode_with_header(&self, header: u8, out: &mut Vec<u8>) {
        out.push(header);
        put_lenenc_int(out, self.affected_rows);
        put_lenenc_int(out, self.last_insert_id);
        let changed = !self.changes.is_empty();
        out.extend_from_slice(&self.status.with(Status::SESSION_STATE_CHANGED, changed).0.to_le_bytes());
        out.extend_from_slice(&self.warnings.to_le_bytes());
        if changed || !self.info.is_empty() {
            // the manual says that the text runs to the end of the packet; clients read a length, as servers write it
            put_lenenc_bytes(out, self.info);
        }
        if changed {
            put_lenenc_bytes(out, self.changes);
        }
    }
}

/// Appends the payload of the packet that ends a result set: an EOF, or the OK that replaced it.
pub fn encode_result_end(out: &mut Vec<u8>, capabilities: Capabilities, status: Status, warnings: u16) {
    if capabilities.has(Capabilities::DEPRECATE_EOF) {
        Ok { status, warnings, ..Ok::default() }.encode_with_header(0xfe, out);
    } else {
        encode_eof(out, status, warnings);
    }
}

/// Appends the payload of an EOF packet; between definitions and rows it is left out for clients with
/// CLIENT_DEPRECATE_EOF.
pub fn encode_eof(out: &mut Vec<u8>, status: Status, warnings: u16) {
    out.push(0xfe);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.0.to_le_bytes());
}

/// Longest text of an ERR packet, in bytes; clients have buffers of this size.
const MAX_ERROR_TEXT: usize = 511;

/// Appends the payload of an ERR packet.
pub fn encode_error(out: &mut Vec<u8>, error: &MysqlError) {
    out.push(0xff);
    out.extend_from_slice(&error.number().to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(error.sql_state().as_bytes());
    let end = error.message.floor_char_boundary(MAX_ERROR_TEXT);
    out.extend(error.message.as_bytes().iter().take(end));
}

/// Appends the payload of an ERR packet to a client that has not said yet what it can do: without an SQLSTATE.
pub fn encode_early_error(out: &mut Vec<u8>, error: &MysqlError) {
    out.push(0xff);
    out.extend_from_slice(&error.number().to_le_bytes());
    out.extend_from_slice(error.message.as_bytes());
}

/// A column of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnDefinition<'a> {
    /// Database of the column's table.
    pub schema: &'a [u8],
    /// The table as the query calls it.
    pub table: &'a [u8],
    /// The table.
    pub org_table: &'a [u8],
    /// The column as the query calls it.
    pub name: &'a [u8],
    /// The column.
    pub org_name: &'a [u8],
    /// Collation of text, by number; 63 (binary) for everything else.
    pub collation: u16,
    /// Longest text of a value, in bytes.
    pub length: u32,
    /// Type code.
    pub type_code: u8,
    /// Flags.
    pub flags: u16,
    /// Digits after the point.
    pub decimals: u8,
}

impl ColumnDefinition<'_> {
    /// What is told of a parameter: nothing but that it is one.
    pub const PARAMETER: ColumnDefinition<'static> = ColumnDefinition {
        schema: b"",
        table: b"",
        org_table: b"",
        name: b"?",
        org_name: b"",
        collation: 63,
        length: 0,
        type_code: 253,
        flags: 128,
        decimals: 0,
    };

    /// Appends the packet's payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        for text in [b"def", self.schema, self.table, self.org_table, self.name, self.org_name] {
            put_lenenc_bytes(out, text);
        }
        out.push(0x0c);
        out.extend_from_slice(&self.collation.to_le_bytes());
        out.extend_from_slice(&self.length.to_le_bytes());
        out.push(self.type_code);
        out.extend_from_slice(&self.flags.to_le_bytes());
        out.push(self.decimals);
        out.extend_from_slice(&[0, 0]);
    }

    /// Appends the packet's payload as COM_FIELD_LIST wants it: with the column's default.
    pub fn encode_with_default(&self, default: Option<&[u8]>, out: &mut Vec<u8>) {
        self.encode(out);
        match default {
            Some(text) => put_lenenc_bytes(out, text),
            None => out.push(crate::wire::NULL),
        }
    }
}

/// Appends the payload of the packet that begins the answer to a prepare.
pub fn encode_prepared(out: &mut Vec<u8>, statement: u32, columns: u16, parameters: u16, warnings: u16) {
    out.push(0);
    out.extend_from_slice(&statement.to_le_bytes());
    out.extend_from_slice(&columns.to_le_bytes());
    out.extend_from_slice(&parameters.to_le_bytes());
    out.push(0);
    out.extend_from_slice(&warnings.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::{error_catalogue::ER_ACCESS_DENIED_ERROR, mysql_error};

    fn encoded(build: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        build(&mut out);
        out
    }

    #[test]
    fn ok_eof_and_error_are_the_documented_bytes() {
        let ok = Ok {
            affected_rows: 1,
            last_insert_id: 300,
            status: Status::AUTOCOMMIT | Status::IN_TRANSACTION,
            warnings: 2,
            info: b"hi",
            changes: b"",
        };
        assert_eq!(encoded(|out| ok.encode(out)), b"\0\x01\xfc\x2c\x01\x03\0\x02\0\x02hi");
        let end = |capabilities| encoded(|out| encode_result_end(out, capabilities, Status::AUTOCOMMIT, 1));
        assert_eq!(end(Capabilities::DEPRECATE_EOF), b"\xfe\0\0\x02\0\x01\0");
        assert_eq!(end(Capabilities(0)), b"\xfe\x01\0\x02\0");
        let error = mysql_error!(ER_ACCESS_DENIED_ERROR, "root", "localhost", "YES");
        assert_eq!(
            encoded(|out| encode_error(out, &error)),
            b"\xff\x15\x04#28000Access denied for user 'root'@'localhost' (using password: YES)"
        );
    }

    #[test]
    fn a_long_error_text_is_cut_at_a_character() {
        let error =
            MysqlError::with_message(&palisade_base::error_catalogue::ER_UNKNOWN_ERROR, "é".repeat(400));
        let packet = encoded(|out| encode_error(out, &error));
        assert_eq!(packet.len(), 9 + 510);
        assert!(std::str::from_utf8(&packet[9..]).is_ok());
    }

    #[test]
    fn a_column_definition_is_the_documented_bytes() {
        let column = ColumnDefinition {
            schema: b"db",
            table: b"t",
            org_table: b"tt",
            name: b"n",
            org_name: b"nn",
            collation: 255,
            length: 80,
            type_code: 253,
            flags: 0x1001,
            decimals: 0,
        };
        let golden = b"\x03def\x02db\x01t\x02tt\x01n\x02nn\x0c\xff\0\x50\0\0\0\xfd\x01\x10\0\0\0";
        assert_eq!(encoded(|out| column.encode(out)), golden);
        let with_default = encoded(|out| column.encode_with_default(None, out));
        assert_eq!(with_default[golden.len()..], [251]);
    }

    #[test]
    fn what_changed_in_the_session_follows_the_text() {
        let mut changes = Vec::new();
        put_change(&mut changes, SessionChange::Variable("autocommit", "OFF"));
        put_change(&mut changes, SessionChange::Schema("db"));
        put_change(&mut changes, SessionChange::State);
        let ok = Ok { changes: &changes, ..Ok::default() };
        let golden = b"\0\0\0\0\x40\0\0\0\x1a\0\x0f\x0aautocommit\x03OFF\x01\x03\x02db\x02\x02\x011";
        assert_eq!(encoded(|out| ok.encode(out)), golden);
    }

    #[test]
    fn a_prepare_answer_is_the_documented_bytes() {
        assert_eq!(encoded(|out| encode_prepared(out, 5, 2, 1, 0)), b"\0\x05\0\0\0\x02\0\x01\0\0\0\0");
    }
}
