//! What a session's statement holds in memory, and what ends it when that is too much.
//!
//! Nothing in a statement reports what it allocates: the [allocator counts](palisade_io::heap) for the task.
//! This is where the count is looked at, wherever a statement looks whether it is to end: at every look of an
//! [evaluation](crate::pace), every thousand rows, every few hundred tokens and nodes of its text.
//!
//! ```text
//!            since its statement began          between statements
//!   Memory =  held() - at_start            +     kept                ≤  palisade_statement_memory        else 1037
//!      │      parse tree, plan, values,          user variables,     ≤  connection_memory_limit          else 4082
//!      │      hash tables, rows to send          long data
//!      ▼ published, a chunk at a time
//!   ServerMemory = sum over all sessions                             ≤  palisade_sessions_memory         else 1041
//!                                                                    ≤  global_connection_memory_limit   else 4081
//! ```
//!
//! 1037 and 1041 end the statement, 4081 and 4082, as in MySQL, the connection. 1041 meets only statements
//! that hold more than [`SMALL`] themselves: those that took the memory, and not a point select beside them.
//!
//! A look comes after the allocation, so that a statement may pass its bound by what it allocates between two
//! looks: a value of `max_allowed_packet`, or the doubling of a buffer.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use palisade_base::error_catalogue::{
    ER_DA_CONN_LIMIT, ER_DA_GLOBAL_CONN_LIMIT, ER_OUT_OF_RESOURCES, ER_OUTOFMEMORY,
};
use palisade_base::mysql_error;
use palisade_io::heap;

use crate::session_variables::SessionVariables;
use crate::{SqlError, SqlResult};

/// A statement that holds no more than this is not ended for what others hold.
pub const SMALL: i64 = 1 << 20;

/// What the sessions of a server hold, all of them together.
#[derive(Debug)]
pub struct ServerMemory {
    /// Bytes, as far as sessions have published what they hold.
    held: AtomicI64,
    /// `palisade_sessions_memory`.
    limit: AtomicU64,
    /// `global_connection_memory_limit`.
    connection_limit: AtomicU64,
}

impl Default for ServerMemory {
    fn default() -> Self {
        ServerMemory {
            held: AtomicI64::new(0),
            limit: AtomicU64::new(u64::MAX),
            connection_limit: AtomicU64::new(u64::MAX),
        }
    }
}

impl ServerMemory {
    /// Bytes that the sessions hold, to within a chunk (`connection_memory_chunk_size`) of each.
    pub fn held(&self) -> u64 {
        u64::try_from(self.held.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Sets what they may hold: `palisade_sessions_memory`, `global_connection_memory_limit`.
    pub fn set_limits(&self, limit: u64, connection_limit: u64) {
        self.limit.store(limit, Ordering::Relaxed);
        self.connection_limit.store(connection_limit, Ordering::Relaxed);
    }

    fn is_above(&self, limit: &AtomicU64) -> bool {
        self.held() > limit.load(Ordering::Relaxed)
    }
}

/// What one session holds.
#[derive(Debug, Default)]
pub struct Memory {
    /// What the task held when the statement began.
    at_start: i64,
    /// Bytes that outlive the statement.
    kept: i64,
    /// Of a part of a statement: what the statement and its other parts hold.
    others: i64,
    /// What of it the server's sum has. Only the session's own task changes it.
    published: AtomicI64,
    server: Arc<ServerMemory>,
}

/// What a statement that holds too much is to do.
#[derive(Debug)]
pub enum TooMuch {
    /// Fail.
    Statement(SqlError),
    /// Fail, and the connection ends, unless its account may do with memory what it likes.
    Connection(SqlError),
}

impl Memory {
    /// Of another session whose statement begins now, that counts into the same sum.
    pub fn beside(&self) -> Memory {
        let mut memory = Memory::default();
        memory.join(&self.server);
        memory.begin();
        memory
    }

    /// It is a part's of a statement that holds so much without it: the bounds are of all of it.
    pub fn set_others(&mut self, others: i64) {
        self.others = others;
    }

    /// The current task frees from now on what another one has allocated that held so much. What that one has
    /// published is taken off by dropping its `Memory`.
    pub fn take_over(held: i64) {
        heap::exchange(heap::held() + held);
    }

    /// It counts into the sum of a server.
    pub fn join(&mut self, server: &Arc<ServerMemory>) {
        let held = self.published();
        self.publish(0);
        self.server = server.clone();
        self.publish(held);
    }

    /// A statement begins: what it holds is counted from here.
    #[inline]
    pub fn begin(&mut self) {
        self.at_start = heap::held();
    }

    /// The statement has ended.
    #[inline]
    pub fn end(&mut self) {
        if self.published() != self.kept {
            self.publish(self.kept);
        }
    }

    /// Bytes that the statement and the session hold.
    pub fn held(&self) -> i64 {
        (heap::held() - self.at_start).max(0) + self.kept
    }

    #[inline]
    fn published(&self) -> i64 {
        self.published.load(Ordering::Relaxed)
    }

    fn publish(&self, held: i64) {
        self.server.held.fetch_add(held - self.published(), Ordering::Relaxed);
        self.published.store(held, Ordering::Relaxed);
    }

    /// Whether the statement holds too much: alone, or with all others.
    pub fn check(&self, variables: &SessionVariables) -> Result<(), TooMuch> {
        let own = self.held();
        let held = own + self.others;
        if held.unsigned_abs() > variables.statement_memory {
            return Err(TooMuch::Statement(mysql_error!(ER_OUTOFMEMORY, held)));
        }
        if own.abs_diff(self.published()) < variables.connection_memory_chunk_size {
            return Ok(());
        }
        self.publish(own);
        let limit = variables.connection_memory_limit;
        if held.unsigned_abs() > limit {
            return Err(TooMuch::Connection(mysql_error!(ER_DA_CONN_LIMIT, limit, held)));
        }
        if held <= SMALL {
            return Ok(());
        }
        if self.server.is_above(&self.server.limit) {
            return Err(TooMuch::Statement(mysql_error!(ER_OUT_OF_RESOURCES)));
        }
        if variables.tracks_connection_memory && self.server.is_above(&self.server.connection_limit) {
            let limit = self.server.connection_limit.load(Ordering::Relaxed);
            let all = self.server.held();
            return Err(TooMuch::Connection(mysql_error!(ER_DA_GLOBAL_CONN_LIMIT, limit, all)));
        }
        Ok(())
    }

    /// Whether all sessions together hold less than half of what they may.
    pub fn has_room(&self) -> bool {
        self.server.held() < self.server.limit.load(Ordering::Relaxed) / 2
    }

    /// So many bytes more are kept beyond the statement; 1037 beyond `limit` of them, 1041 where all sessions
    /// keep too much.
    pub fn keep(&mut self, bytes: usize, limit: usize) -> SqlResult<()> {
        let kept = self.kept + bytes as i64;
        if kept.unsigned_abs() > limit as u64 {
            return Err(mysql_error!(ER_OUTOFMEMORY, bytes));
        }
        if bytes as i64 > SMALL && self.server.is_above(&self.server.limit) {
            return Err(mysql_error!(ER_OUT_OF_RESOURCES));
        }
        self.kept = kept;
        // They were made in this statement.
        self.at_start += bytes as i64;
        self.publish(self.published() + bytes as i64);
        Ok(())
    }

    /// So many bytes are kept no longer.
    pub fn let_go(&mut self, bytes: usize) {
        self.kept -= bytes as i64;
        self.at_start -= bytes as i64;
        self.publish(self.published() - bytes as i64);
    }

    /// Bytes kept beyond statements.
    pub fn kept(&self) -> usize {
        usize::try_from(self.kept).unwrap_or(0)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.publish(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(result: Result<(), TooMuch>) -> Option<(u16, bool)> {
        match result {
            Ok(()) => None,
            Err(TooMuch::Statement(error)) => Some((error.number(), false)),
            Err(TooMuch::Connection(error)) => Some((error.number(), true)),
        }
    }

    #[test]
    fn each_bound_has_its_error_and_small_statements_go_on() {
        let server = Arc::new(ServerMemory::default());
        server.set_limits(100 << 20, 90 << 20);
        let mut variables = SessionVariables::default();
        let (mut one, mut other) = (Memory::default(), Memory::default());
        one.join(&server);
        other.join(&server);
        let own = heap::exchange(0);
        one.begin();
        other.begin();
        heap::exchange(60 << 20);
        assert_eq!(number(one.check(&variables)), None);
        assert_eq!(server.held(), 60 << 20);
        assert_eq!(number(other.check(&variables)), Some((1041, false)));
        heap::exchange(SMALL);
        assert_eq!(number(other.check(&variables)), None, "it holds little itself");
        heap::exchange(35 << 20);
        assert_eq!(number(other.check(&variables)), None);
        variables.tracks_connection_memory = true;
        heap::exchange(36 << 20);
        assert_eq!(number(other.check(&variables)), Some((4081, true)));
        variables.connection_memory_limit = 20 << 20;
        heap::exchange(37 << 20);
        assert_eq!(number(other.check(&variables)), Some((4082, true)));
        variables.statement_memory = 16 << 20;
        assert_eq!(number(other.check(&variables)), Some((1037, false)));
        variables.statement_memory = 40 << 20;
        variables.connection_memory_limit = 200 << 20;
        server.set_limits(u64::MAX, u64::MAX);
        let mut part = one.beside();
        heap::exchange(heap::held() + (20 << 20));
        assert_eq!(number(part.check(&variables)), None);
        part.set_others(30 << 20);
        assert_eq!(number(part.check(&variables)), Some((1037, false)), "of all of the statement");
        variables.statement_memory = 200 << 20;
        variables.connection_memory_limit = 40 << 20;
        heap::exchange(heap::held() + (1 << 20));
        assert_eq!(number(part.check(&variables)), Some((4082, true)));
        assert_eq!(part.published(), 21 << 20, "without what the others publish");
        drop(part);
        server.set_limits(100 << 20, 90 << 20);
        one.end();
        other.end();
        assert_eq!(server.held(), 0);
        one.keep(30 << 20, 256 << 20).unwrap();
        assert_eq!(one.keep(230 << 20, 256 << 20).unwrap_err().number(), 1037);
        one.end();
        assert_eq!(server.held(), 30 << 20);
        other.keep(80 << 20, 256 << 20).unwrap();
        assert_eq!(other.keep(2 << 20, 256 << 20).unwrap_err().number(), 1041);
        other.let_go(80 << 20);
        drop(one);
        assert_eq!(server.held(), 0);
        heap::exchange(own);
    }
}
