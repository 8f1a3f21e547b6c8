//! What a client asks for.

use palisade_base::codec::Reader;

use crate::Malformed;
use crate::constants::com;
use crate::wire::ReadWire;

/// The kind of cursor that COM_STMT_EXECUTE can ask for; other kinds were never implemented by any server.
pub const CURSOR_READ_ONLY: u8 = 1;

/// A command, borrowing from its packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command<'a> {
    /// The client leaves.
    Quit,
    /// Makes a database the current one.
    InitDb(&'a [u8]),
    /// Executes statements.
    Query(&'a [u8]),
    /// Lists the columns of a table.
    FieldList {
        /// The table.
        table: &'a [u8],
        /// Pattern of column names; empty for all.
        pattern: &'a [u8],
    },
    /// Flushes things; the argument says which.
    Refresh(u8),
    /// Shuts the server down.
    Shutdown,
    /// One line about the server.
    Statistics,
    /// The process list.
    ProcessInfo,
    /// Ends another connection.
    ProcessKill(u32),
    /// Asks for debugging output in the server's log.
    Debug,
    /// Is anybody there?
    Ping,
    /// Logs in as somebody else; see [`crate::handshake::ChangeUser`].
    ChangeUser(&'a [u8]),
    /// Makes the session as new.
    ResetConnection,
    /// Switches CLIENT_MULTI_STATEMENTS on or off.
    SetMultiStatements(bool),
    /// Prepares a statement.
    StmtPrepare(&'a [u8]),
    /// Executes a prepared statement.
    StmtExecute {
        /// The statement.
        statement: u32,
        /// Kind of cursor asked for; 0 for none.
        cursor: u8,
        /// Parameters, still encoded; see [`crate::parameters`].
        parameters: &'a [u8],
    },
    /// Appends to a parameter of a prepared statement; has no answer.
    StmtSendLongData {
        /// The statement.
        statement: u32,
        /// The parameter.
        parameter: u16,
        /// What to append.
        data: &'a [u8],
    },
    /// Forgets a prepared statement; has no answer.
    StmtClose(u32),
    /// Forgets a prepared statement's long data.
    StmtReset(u32),
    /// Asks for rows of a cursor.
    StmtFetch {
        /// The statement.
        statement: u32,
        /// How many, at most.
        rows: u32,
    },
    /// Anything else: 1047.
    Unknown(u8),
}

impl<'a> Command<'a> {
    /// Parses a packet's payload.
    pub fn parse(packet: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(packet);
        let code = reader.u8()?;
        let body = reader.rest();
        Ok(match code {
            com::QUIT => Command::Quit,
            com::INIT_DB => Command::InitDb(body),
            com::QUERY => Command::Query(body),
            com::FIELD_LIST => {
                let table = reader.nul_terminated()?;
                Command::FieldList { table, pattern: reader.rest() }
            }
            com::REFRESH => Command::Refresh(reader.u8()?),
            com::SHUTDOWN => Command::Shutdown,
            com::STATISTICS => Command::Statistics,
            com::PROCESS_INFO => Command::ProcessInfo,
            com::PROCESS_KILL => Command::ProcessKill(reader.u32()?),
            com::DEBUG => Command::Debug,
            com::PING => Command::Ping,
            com::CHANGE_USER => Command::ChangeUser(body),
            com::RESET_CONNECTION => Command::ResetConnection,
            com::SET_OPTION => match reader.u16()? {
                0 => Command::SetMultiStatements(true),
                1 => Command::SetMultiStatements(false),
                _ => Command::Unknown(code),
            },
            com::STMT_PREPARE => Command::StmtPrepare(body),
            com::STMT_EXECUTE => {
                let (statement, cursor, _iterations) = (reader.u32()?, reader.u8()?, reader.u32()?);
                Command::StmtExecute { statement, cursor, parameters: reader.rest() }
            }
            com::STMT_SEND_LONG_DATA => {
                let (statement, parameter) = (reader.u32()?, reader.u16()?);
                Command::StmtSendLongData { statement, parameter, data: reader.rest() }
            }
            com::STMT_CLOSE => Command::StmtClose(reader.u32()?),
            com::STMT_RESET => Command::StmtReset(reader.u32()?),
            com::STMT_FETCH => {
                let (statement, rows) = (reader.u32()?, reader.u32()?);
                Command::StmtFetch { statement, rows }
            }
            _ => Command::Unknown(code),
        })
    }

    /// The name in the process list.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Quit => "Quit",
            Command::InitDb(_) => "Init DB",
            Command::Query(_) => "Query",
            Command::FieldList { .. } => "Field List",
            Command::Refresh(_) => "Refresh",
            Command::Shutdown => "Shutdown",
            Command::Statistics => "Statistics",
            Command::ProcessInfo => "Processlist",
            Command::ProcessKill(_) => "Kill",
            Command::Debug => "Debug",
            Command::Ping => "Ping",
            Command::ChangeUser(_) => "Change user",
            Command::ResetConnection => "Reset Connection",
            Command::SetMultiStatements(_) => "Set option",
            Command::StmtPrepare(_) => "Prepare",
            Command::StmtExecute { .. } => "Execute",
            Command::StmtSendLongData { .. } => "Long Data",
            Command::StmtClose(_) => "Close stmt",
            Command::StmtReset(_) => "Reset stmt",
            Command::StmtFetch { .. } => "Fetch",
            Command::Unknown(_) => "Error",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use palisade_base::prng::{Prng, test_seed};

    #[test]
    fn commands_are_read() {
        assert_eq!(Command::parse(b"\x03SELECT 1"), Ok(Command::Query(b"SELECT 1")));
        assert_eq!(
            Command::parse(b"\x17\x01\0\0\0\0\x01\0\0\0\0"),
            Ok(Command::StmtExecute { statement: 1, cursor: 0, parameters: &[0] })
        );
        assert_eq!(Command::parse(b"\x1b\x01\0"), Ok(Command::SetMultiStatements(false)));
        assert_eq!(Command::parse(b"\x04t\0%"), Ok(Command::FieldList { table: b"t", pattern: b"%" }));
        assert_eq!(Command::parse(b"\xee"), Ok(Command::Unknown(0xee)));
        assert_eq!(Command::parse(b""), Err(Malformed));
        assert_eq!(Command::parse(b"\x17\x01\0"), Err(Malformed));
        assert_eq!(Command::parse(b"\x04t"), Err(Malformed));
    }

    #[test]
    fn random_packets_never_panic() {
        let mut prng = Prng::new(test_seed(4));
        for _ in 0..50_000 {
            let mut packet = vec![0; prng.below(40) as usize];
            prng.fill(&mut packet);
            if let Some(first) = packet.first_mut() {
                *first %= 40;
            }
            if let Ok(command) = Command::parse(&packet) {
                assert!(!command.name().is_empty());
            }
        }
    }
}
