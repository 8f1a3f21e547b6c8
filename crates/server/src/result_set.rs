//! The rows of a result, on their way into the client's packets.

use palisade_base::error_catalogue::{
    ER_CLIENT_LOCAL_FILES_DISABLED, ER_NET_ERROR_ON_WRITE, ER_NET_PACKET_TOO_LARGE,
    ER_NET_PACKETS_OUT_OF_ORDER, ER_NET_READ_ERROR,
};
use palisade_base::mysql_error;
use palisade_base::sysvar_catalogue as sysvar;
use palisade_catalog::row::PlainColumns;
use palisade_catalog::types::flags;
use palisade_catalog::{Charset, Collation, CollationId, RowView, SqlType, ValueRef};
use palisade_engine::RowBatch;
use palisade_protocol::response::{ColumnDefinition, encode_eof};
use palisade_protocol::row::{
    ColumnFormat, are_verbatim, encode_binary_row, encode_binary_row_of_strings, encode_text_row,
    encode_text_row_of_strings,
};
use palisade_protocol::wire::put_lenenc_int;
use palisade_protocol::{Capabilities, Input, Output, Status};
use palisade_session::sink::{RowNumbers, StoredRows};
use palisade_sql::{BoxFuture, ColumnMeta, ResultColumns, ResultSink, SqlResult};

use crate::channel::{Disconnected, Transport};
use crate::variables::Globals;

/// When so much is buffered, it is sent before more rows are made.
pub const FLUSH_AT: usize = 32 << 10;

/// How rows are encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocol {
    /// Of COM_QUERY.
    Text,
    /// Of COM_STMT_EXECUTE.
    Binary,
}

/// What is the same for all results of a statement.
#[derive(Debug, Clone, Copy)]
pub struct ResultStyle {
    /// How rows are encoded.
    pub protocol: Protocol,
    /// Of the client.
    pub capabilities: Capabilities,
    /// `character_set_results`; `None` leaves text as it is.
    pub charset: Option<Charset>,
    /// The session's status before the statement, for the EOF before the rows.
    pub status: Status,
    /// `max_allowed_packet`.
    pub max_packet: usize,
}

/// Puts a result into packets.
pub struct PacketSink<'a> {
    output: &'a mut Output,
    transport: &'a mut Transport,
    formats: &'a mut Vec<ColumnFormat>,
    style: ResultStyle,
    rows: u64,
    /// Where it stands whether clients may be asked for files; `None` if this one cannot be asked.
    uploads: Option<&'a Globals>,
    /// What the client has sent of the file that it was asked for. It sends nothing else before it has an
    /// answer.
    upload: Option<Input>,
}

impl<'a> PacketSink<'a> {
    /// A sink into `output`; `formats` is only lent for its memory.
    pub fn new(
        output: &'a mut Output,
        transport: &'a mut Transport,
        formats: &'a mut Vec<ColumnFormat>,
        style: ResultStyle,
    ) -> Self {
        PacketSink { output, transport, formats, style, rows: 0, uploads: None, upload: None }
    }

    /// Has the client asked for files of its own where a statement wants one, if `local_infile` is ON then.
    pub fn with_uploads(mut self, globals: &'a Globals) -> Self {
        self.uploads = Some(globals);
        self
    }

    /// The next packet of the file that the client sends; an empty one is the last.
    async fn upload_part(&mut self) -> SqlResult<Vec<u8>> {
        let gone = || mysql_error!(ER_NET_READ_ERROR);
        let Some(input) = &mut self.upload else { return Ok(Vec::new()) };
        let part = loop {
            match input.packet(self.style.max_packet) {
                Ok(Some(packet)) => break packet.to_vec(),
                Ok(None) => {}
                Err(_) => {
                    self.transport.connection.kill_connection();
                    return Err(gone());
                }
            }
            if let Err(Disconnected) = self.transport.receive(input.buffer()).await {
                self.transport.connection.kill_connection();
                return Err(gone());
            }
        };
        self.output.begin_answer(input.next_sequence());
        Ok(part)
    }

    /// Rows so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    #[inline]
    fn put_row<'v>(&mut self, values: impl ExactSizeIterator<Item = ValueRef<'v>>) -> SqlResult<()> {
        let start = self.output.begin_packet();
        let out = self.output.payload();
        match self.style.protocol {
            Protocol::Text => encode_text_row(self.formats, values, out),
            Protocol::Binary => encode_binary_row(self.formats, values, out),
        }
        self.end_row(start)
    }

    /// The packet that began there is a row, if it is not too long.
    #[inline]
    fn end_row(&mut self, start: usize) -> SqlResult<()> {
        if self.output.payload_len(start) > self.style.max_packet {
            self.output.end_unfinished_packet();
            return Err(mysql_error!(ER_NET_PACKET_TOO_LARGE));
        }
        self.output.end_packet(start);
        self.rows += 1;
        Ok(())
    }
}

/// What the client is told of a column.
pub fn definition(column: &ColumnMeta, charset: Option<Charset>) -> ColumnDefinition<'_> {
    let own = column.ty.collation().get();
    let is_computed = column.org_name.is_empty();
    // A JSON column is said to be binary, computed JSON is text like any other.
    let is_json = column.ty == SqlType::Json;
    let is_text = column.ty.is_text() || is_json && is_computed;
    let (collation, bytes_per_char) = match charset {
        Some(charset) if is_text && charset != Charset::Binary => {
            (Collation::default_of(charset).id, charset.max_bytes())
        }
        _ => (own.id, own.charset.max_bytes()),
    };
    let length = match column.display_width {
        Some(width) if column.ty.is_text() => width.saturating_mul(bytes_per_char),
        Some(width) => width,
        None => column.ty.wire_length(bytes_per_char),
    };
    ColumnDefinition {
        schema: column.schema.as_bytes(),
        table: column.table.as_bytes(),
        org_table: column.org_table.as_bytes(),
        name: column.name.as_bytes(),
        org_name: column.org_name.as_bytes(),
        collation: if is_json && !is_computed { CollationId::BINARY.0 } else { collation.wire_number() },
        length,
        type_code: column.ty.wire_code(),
        flags: wire_flags(column),
        decimals: if is_computed && is_text { NOT_FIXED } else { column.ty.wire_decimals() },
    }
}

/// Decimals of a value whose digits after the point are not known beforehand.
const NOT_FIXED: u8 = 31;

/// The flags as MySQL's server sends them: what clients work out themselves is left out, the column's part in keys
/// is said twice, and BINARY is said of numbers only where they are computed.
fn wire_flags(column: &ColumnMeta) -> u16 {
    /// The column is a part of some key.
    const PART_KEY: u16 = 1 << 14;
    let mut sent = column.flags & !(flags::NUM | flags::TIMESTAMP);
    if sent & (flags::PRI_KEY | flags::UNIQUE_KEY | flags::MULTIPLE_KEY) != 0 {
        sent |= PART_KEY;
    }
    if column.ty.is_numeric() && !column.org_name.is_empty() {
        sent &= !flags::BINARY;
    }
    sent
}

/// How the values of a column are encoded.
pub fn format(column: &ColumnMeta, charset: Option<Charset>) -> ColumnFormat {
    let width = column.display_width.unwrap_or_else(|| column.ty.wire_length(1));
    ColumnFormat::new(&column.ty, column.flags, width, charset)
}

/// Adds the packets that announce a result's columns.
pub fn begin_result(output: &mut Output, columns: &[ColumnMeta], charset: Option<Charset>) {
    output.packet(|out| put_lenenc_int(out, columns.len() as u64));
    for column in columns {
        output.packet(|out| definition(column, charset).encode(out));
    }
}

/// What announces the columns of a plan's results to clients that want texts in the character set of the
/// first who asked twice: to make it costs a tenth of a statement that reads a row.
struct Announcement {
    charset: Option<Charset>,
    formats: Vec<ColumnFormat>,
    packets: Output,
}

impl Announcement {
    /// The number of its first packet: that of all answers but those within a longer one.
    const FIRST: u8 = 1;
    /// Wider results take longer than their announcement, which would have to be kept for each plan.
    const MOST_COLUMNS: usize = 32;

    fn of(columns: &[ColumnMeta], charset: Option<Charset>) -> Announcement {
        let mut packets = Output::default();
        packets.begin_answer(Self::FIRST);
        begin_result(&mut packets, columns, charset);
        let formats = columns.iter().map(|column| format(column, charset)).collect();
        Announcement { charset, formats, packets }
    }
}

/// Columns of a result that are read in plain rows of a table.
struct StoredColumns<'t> {
    plain: PlainColumns,
    types: Vec<&'t SqlType>,
}

impl PacketSink<'_> {
    /// Adds rows of a batch until one is not plain, or so much is buffered that it should be sent. Gives how
    /// many.
    #[inline]
    fn put_stored(
        &mut self,
        StoredColumns { plain, types }: &StoredColumns<'_>,
        batch: &RowBatch,
        numbers: impl Iterator<Item = usize>,
    ) -> SqlResult<usize> {
        // Strings that are sent as they are need to know nothing of their columns.
        let are_strings =
            plain.are_texts() && are_verbatim(self.formats) && types.len() == self.formats.len();
        match self.style.protocol {
            Protocol::Text if are_strings => self.put_plain(plain, batch, numbers, |this, row| {
                let start = this.output.begin_packet();
                encode_text_row_of_strings(plain.texts(row), this.output.payload());
                this.end_row(start)
            }),
            Protocol::Binary if are_strings => self.put_plain(plain, batch, numbers, |this, row| {
                let start = this.output.begin_packet();
                encode_binary_row_of_strings(plain.texts(row), this.output.payload());
                this.end_row(start)
            }),
            _ => self.put_plain(plain, batch, numbers, |this, row| this.put_row(plain.values(types, row))),
        }
    }

    /// The same, each row by `put`.
    #[inline]
    fn put_plain(
        &mut self,
        plain: &PlainColumns,
        batch: &RowBatch,
        numbers: impl Iterator<Item = usize>,
        mut put: impl FnMut(&mut Self, &[u8]) -> SqlResult<()>,
    ) -> SqlResult<usize> {
        let mut taken = 0;
        for number in numbers {
            let Some(row) = batch.bytes_of(number).filter(|row| plain.are_in(row)) else { break };
            if self.wants_flush() {
                break;
            }
            put(self, row)?;
            taken += 1;
        }
        Ok(taken)
    }

    /// The end of the columns, for clients that are told.
    fn end_columns(&mut self) {
        let style = self.style;
        if !style.capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.output.packet(|out| encode_eof(out, style.status, 0));
        }
    }
}

impl ResultSink for PacketSink<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        let style = self.style;
        self.formats.clear();
        self.formats.extend(columns.iter().map(|column| format(column, style.charset)));
        begin_result(self.output, columns, style.charset);
        self.end_columns();
        Ok(())
    }

    fn plan_columns(&mut self, columns: &ResultColumns) -> SqlResult<()> {
        let charset = self.style.charset;
        if columns.len() > Announcement::MOST_COLUMNS || self.output.next_sequence() != Announcement::FIRST {
            return self.columns(columns);
        }
        match columns.form(|columns| Announcement::of(columns, charset)) {
            Some(made) if made.charset == charset => {
                self.formats.clear();
                self.formats.extend_from_slice(&made.formats);
                self.output.append(&made.packets, Announcement::FIRST);
                self.end_columns();
                Ok(())
            }
            _ => self.columns(columns),
        }
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.put_row(values.iter().copied())
    }

    fn stored_row(&mut self, stored: &RowView<'_>, columns: &[usize]) -> SqlResult<()> {
        self.put_row(columns.iter().map(|column| stored.column(*column)))
    }

    fn stored_rows(&mut self, rows: StoredRows<'_>) -> SqlResult<usize> {
        let StoredRows { table, batch, numbers, columns } = rows;
        let mut stored =
            StoredColumns { plain: PlainColumns::new(table), types: Vec::with_capacity(columns.len()) };
        for column in columns {
            let declared = table.columns.get(*column).zip(stored.plain.add(table, *column));
            let Some((declared, _)) = declared else { return Ok(0) };
            stored.types.push(&declared.sql_type);
        }
        match numbers {
            RowNumbers::Range(numbers) => self.put_stored(&stored, batch, numbers),
            RowNumbers::Some(numbers) => self.put_stored(&stored, batch, numbers.iter().copied()),
        }
    }

    fn wants_flush(&self) -> bool {
        self.output.pending().len() >= FLUSH_AT
    }

    fn flush(&mut self) -> BoxFuture<'_, SqlResult<()>> {
        Box::pin(async {
            let sent = self.transport.send(self.output).await;
            sent.map_err(|_| mysql_error!(ER_NET_ERROR_ON_WRITE))
        })
    }

    fn takes_client_files(&self) -> bool {
        let is_allowed = self.uploads.is_some_and(|globals| globals.load().bool(sysvar::LOCAL_INFILE));
        is_allowed && self.style.capabilities.has(Capabilities::LOCAL_FILES)
    }

    fn ask_client_for_file<'a>(&'a mut self, path: &'a [u8]) -> BoxFuture<'a, SqlResult<()>> {
        Box::pin(async move {
            if !self.takes_client_files() {
                return Err(mysql_error!(ER_CLIENT_LOCAL_FILES_DISABLED));
            }
            /// How the packet begins that asks for a file.
            const LOCAL_FILE: u8 = 0xfb;
            self.output.packet(|out| {
                out.push(LOCAL_FILE);
                out.extend_from_slice(path);
            });
            self.flush().await?;
            let mut input = Input::default();
            input.expect_sequence(self.output.next_sequence());
            self.upload = Some(input);
            self.transport.patience = Some(self.transport.read_timeout);
            Ok(())
        })
    }

    fn client_file_part(&mut self) -> BoxFuture<'_, SqlResult<Vec<u8>>> {
        Box::pin(async move {
            let part = self.upload_part().await;
            // at the end, and when the client has gone, nothing more is waited for
            if part.as_ref().map_or(true, Vec::is_empty) {
                self.transport.patience = None;
                let rest = self.upload.take();
                if rest.is_some_and(|rest| rest.is_mid_packet()) {
                    // it went on without an answer, and is out of step
                    self.transport.connection.kill_connection();
                    return Err(mysql_error!(ER_NET_PACKETS_OUT_OF_ORDER));
                }
            }
            part
        })
    }
}

/// Takes a result's columns and forgets its rows; for commands that ask for columns only.
#[derive(Default)]
pub struct ColumnsOnly {
    /// The columns.
    pub columns: Vec<ColumnMeta>,
}

impl ResultSink for ColumnsOnly {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.columns = columns.to_vec();
        Ok(())
    }

    fn row(&mut self, _values: &[ValueRef<'_>]) -> SqlResult<()> {
        Ok(())
    }
}
