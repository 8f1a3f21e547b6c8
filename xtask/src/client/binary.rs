//! Prepared statements: the commands PREPARE, EXECUTE and CLOSE of the protocol, and rows in binary form.
//!
//! A row's values are given as a server's text protocol would print them, so that the answers of both
//! protocols compare. Two servers are compared with each other, therefore a double is printed as Rust does
//! it.

use std::io::Result;

use super::{Answer, Client, Column, UNSIGNED, failure, garbled, length};

/// A value for a `?`, with the type that it is sent as.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    /// NULL of type NULL.
    Null,
    /// BIGINT.
    Signed(i64),
    /// BIGINT UNSIGNED.
    Unsigned(u64),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL, as text.
    Decimal(String),
    /// VARCHAR in the connection's character set.
    Text(String),
    /// BLOB.
    Bytes(Vec<u8>),
    /// DATETIME: year, month, day, hour, minute, second, microsecond.
    DateTime(u16, [u8; 5], u32),
    /// TIME: whether it is negative, days, hour, minute, second, microsecond.
    Time(bool, u32, [u8; 3], u32),
}

/// A statement that the server has prepared.
pub struct Prepared {
    id: u32,
    /// How many `?` it has.
    pub parameters: u16,
}

impl std::fmt::Display for Parameter {
    /// The literal of the same value and type.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Parameter::Null => write!(f, "NULL"),
            Parameter::Signed(value) => write!(f, "{value}"),
            Parameter::Unsigned(value) => write!(f, "CAST({value} AS UNSIGNED)"),
            Parameter::Double(value) => write!(f, "{value:e}"),
            Parameter::Decimal(text) => write!(f, "{text}"),
            Parameter::Text(text) => write!(f, "'{text}'"),
            Parameter::Bytes(bytes) => {
                // a hexadecimal literal may be a number
                write!(f, "CAST(x'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                write!(f, "' AS BINARY)")
            }
            Parameter::DateTime(year, [month, day, hour, minute, second], micros) => {
                write!(f, "TIMESTAMP'{year}-{month}-{day} {hour}:{minute}:{second}.{micros:06}'")
            }
            Parameter::Time(negative, _, [hour, minute, second], micros) => {
                let sign = if *negative { "-" } else { "" };
                write!(f, "TIME'{sign}{hour}:{minute}:{second}.{micros:06}'")
            }
        }
    }
}

impl Parameter {
    /// The protocol's number of the type, and whether it is unsigned.
    fn kind(&self) -> [u8; 2] {
        match self {
            Parameter::Null => [6, 0],
            Parameter::Signed(_) => [8, 0],
            Parameter::Unsigned(_) => [8, 0x80],
            Parameter::Double(_) => [5, 0],
            Parameter::Decimal(_) => [246, 0],
            Parameter::Text(_) => [253, 0],
            Parameter::Bytes(_) => [252, 0],
            Parameter::DateTime(..) => [12, 0],
            Parameter::Time(..) => [11, 0],
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Parameter::Null => {}
            Parameter::Signed(value) => out.extend_from_slice(&value.to_le_bytes()),
            Parameter::Unsigned(value) => out.extend_from_slice(&value.to_le_bytes()),
            Parameter::Double(value) => out.extend_from_slice(&value.to_le_bytes()),
            Parameter::Decimal(text) | Parameter::Text(text) => write_bytes(out, text.as_bytes()),
            Parameter::Bytes(bytes) => write_bytes(out, bytes),
            Parameter::DateTime(year, parts, micros) => {
                out.push(11);
                out.extend_from_slice(&year.to_le_bytes());
                out.extend_from_slice(parts);
                out.extend_from_slice(&micros.to_le_bytes());
            }
            Parameter::Time(negative, days, parts, micros) => {
                out.extend_from_slice(&[12, u8::from(*negative)]);
                out.extend_from_slice(&days.to_le_bytes());
                out.extend_from_slice(parts);
                out.extend_from_slice(&micros.to_le_bytes());
            }
        }
    }
}

fn write_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let length = u16::try_from(bytes.len()).expect("a test's parameter is short");
    match length {
        0..=250 => out.push(length as u8),
        _ => {
            out.push(0xfc);
            out.extend_from_slice(&length.to_le_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

impl Client {
    /// Prepares a statement; the error is the server's answer.
    pub fn prepare(&mut self, statement: &str) -> Result<std::result::Result<Prepared, Answer>> {
        self.command(&[b"\x16", statement.as_bytes()].concat())?;
        let packet = self.read()?;
        if packet.first() == Some(&0xff) {
            return failure(&packet).map(Err);
        }
        let Some(&[0, a, b, c, d, columns, columns_high, parameters, parameters_high]) =
            packet.first_chunk::<9>()
        else {
            return Err(garbled(&packet));
        };
        let parameters = u16::from_le_bytes([parameters, parameters_high]);
        for _ in 0..u32::from(parameters) + u32::from(u16::from_le_bytes([columns, columns_high])) {
            self.read()?;
        }
        Ok(Ok(Prepared { id: u32::from_le_bytes([a, b, c, d]), parameters }))
    }

    /// Executes a prepared statement with these values, as many as it has parameters.
    pub fn execute_prepared(&mut self, prepared: &Prepared, values: &[Parameter]) -> Result<Answer> {
        let mut command = vec![0x17];
        command.extend_from_slice(&prepared.id.to_le_bytes());
        command.extend_from_slice(&[0, 1, 0, 0, 0]);
        if !values.is_empty() {
            let mut nulls = vec![0u8; values.len().div_ceil(8)];
            for (at, _) in values.iter().enumerate().filter(|(_, value)| **value == Parameter::Null) {
                nulls[at / 8] |= 1 << (at % 8);
            }
            command.extend_from_slice(&nulls);
            command.push(1);
            values.iter().for_each(|value| command.extend_from_slice(&value.kind()));
            values.iter().for_each(|value| value.write(&mut command));
        }
        self.command(&command)?;
        self.receive_rows(binary_row)
    }

    /// Ends a prepared statement; the server sends no answer.
    pub fn close_prepared(&mut self, prepared: Prepared) -> Result<()> {
        self.command(&[&b"\x19"[..], &prepared.id.to_le_bytes()].concat())
    }
}

fn binary_row(packet: &[u8], columns: &[Column]) -> Option<Vec<Option<String>>> {
    let (0, rest) = packet.split_first()? else { return None };
    let (nulls, mut rest) = rest.split_at_checked((columns.len() + 9) / 8)?;
    let value = |(at, column): (usize, &Column)| {
        let bit = at + 2;
        match nulls[bit / 8] >> (bit % 8) & 1 {
            1 => Some(None),
            _ => binary_value(&mut rest, column).map(Some),
        }
    };
    columns.iter().enumerate().map(value).collect()
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk::<N>()?;
    *rest = after;
    Some(*taken)
}

fn binary_value(rest: &mut &[u8], column: &Column) -> Option<String> {
    let unsigned = column.flags & UNSIGNED != 0;
    Some(match column.kind {
        1 if unsigned => u8::from_le_bytes(take(rest)?).to_string(),
        1 => i8::from_le_bytes(take(rest)?).to_string(),
        2 | 13 if unsigned => u16::from_le_bytes(take(rest)?).to_string(),
        2 | 13 => i16::from_le_bytes(take(rest)?).to_string(),
        3 | 9 if unsigned => u32::from_le_bytes(take(rest)?).to_string(),
        3 | 9 => i32::from_le_bytes(take(rest)?).to_string(),
        8 if unsigned => u64::from_le_bytes(take(rest)?).to_string(),
        8 => i64::from_le_bytes(take(rest)?).to_string(),
        4 => f32::from_le_bytes(take(rest)?).to_string(),
        5 => f64::from_le_bytes(take(rest)?).to_string(),
        7 | 10 | 12 => date_time(rest)?,
        11 => time(rest)?,
        _ => {
            let length = usize::try_from(length(rest)?).ok()?;
            let (value, after) = rest.split_at_checked(length)?;
            *rest = after;
            String::from_utf8_lossy(value).into_owned()
        }
    })
}

/// A date, with as many parts as were sent: those of midnight and of a whole second are left out.
fn date_time(rest: &mut &[u8]) -> Option<String> {
    let [count] = take(rest)?;
    let mut text = String::new();
    if count >= 4 {
        let [low, high, month, day] = take(rest)?;
        text = format!("{:04}-{month:02}-{day:02}", u16::from_le_bytes([low, high]));
    }
    if count >= 7 {
        let [hour, minute, second] = take(rest)?;
        text += &format!(" {hour:02}:{minute:02}:{second:02}");
    }
    if count >= 11 {
        text += &format!(".{:06}", u32::from_le_bytes(take(rest)?));
    }
    Some(text)
}

fn time(rest: &mut &[u8]) -> Option<String> {
    let [count] = take(rest)?;
    let mut text = String::new();
    if count >= 8 {
        let [negative] = take(rest)?;
        let days = u32::from_le_bytes(take(rest)?);
        let [hour, minute, second] = take(rest)?;
        let sign = if negative == 0 { "" } else { "-" };
        text = format!("{sign}{:02}:{minute:02}:{second:02}", u64::from(days) * 24 + u64::from(hour));
    }
    if count >= 12 {
        text += &format!(".{:06}", u32::from_le_bytes(take(rest)?));
    }
    Some(text)
}
