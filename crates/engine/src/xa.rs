//! XA: transactions whose end somebody else decides, perhaps after a restart.
//!
//! ```text
//!             start                    prepare                        end
//!   (unknown) ─────► attached: its session's ─────► prepared: nobody's ─────► ending ─────► (unknown)
//!                          └──── the session ends or rolls back ──────────────────────────────┘
//! ```
//!
//! While a session works in one, only its name is here, so that no other session takes it. To prepare it is to write into its undo
//! what it has locked and not changed ([`Trx::save_locks`]), and then, in one mini-transaction, its name and the tables that it
//! uses ([`Trx::prepare`]). From then on it belongs to nobody: it keeps its locks on rows and ranges and its metadata locks, and whoever
//! names it ends it. Opening the engine finds those that were prepared, with all of these locks, and leaves them alone.
//!
//! What is promised here is durable when it is answered, whatever `innodb_flush_log_at_trx_commit` says: a coordinator
//! forgets a transaction for which it has been told of the end. It also learns of one from the list of what is prepared, if
//! its statement got no answer; so the list, too, waits until what it says is durable.
//!
//! A name is its two parts; the format is not looked at when names are compared, only when one is asked for, as in MySQL.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_base::codec::{Reader, Truncated, put_bytes, put_varint};
use palisade_base::event::retry;
use palisade_base::{Blocked, Lsn};
use palisade_txn::Trx;
use parking_lot::Mutex;

use crate::Error;
use crate::engine::Engine;
use crate::metadata::{MetadataLocks, Pinned};
use crate::transaction::{Transaction, roll_back_steps, save_lock_steps};

/// The name of an XA transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Xid {
    /// How the parts are to be read; means nothing here.
    pub format: u64,
    /// Global transaction id: at most 64 bytes.
    pub gtrid: Vec<u8>,
    /// Branch qualifier: at most 64 bytes.
    pub bqual: Vec<u8>,
}

type Key = (Vec<u8>, Vec<u8>);

impl Xid {
    fn key(&self) -> Key {
        (self.gtrid.clone(), self.bqual.clone())
    }
}

/// The names in use, and the transactions that are prepared.
#[derive(Default)]
pub(crate) struct XaTable {
    entries: Mutex<BTreeMap<Key, Entry>>,
}

struct Entry {
    format: u64,
    state: State,
}

enum State {
    /// A session works in it.
    Attached,
    /// It waits for its end.
    Prepared(Box<Trx>),
    /// It is being ended.
    Ending,
}

/// The use of a name by a session, from the beginning of the transaction until it is prepared or has ended.
pub struct XaBranch {
    engine: Arc<Engine>,
    xid: Xid,
}

impl XaBranch {
    /// The name.
    pub fn xid(&self) -> &Xid {
        &self.xid
    }
}

impl Drop for XaBranch {
    fn drop(&mut self) {
        let mut entries = self.engine.xa.entries.lock();
        let key = self.xid.key();
        if entries.get(&key).is_some_and(|entry| matches!(entry.state, State::Attached)) {
            entries.remove(&key);
        }
    }
}

/// How a prepared transaction ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XaEnd {
    /// Its changes stay.
    Commit,
    /// They are undone.
    Rollback,
}

impl Engine {
    /// Takes a name for a session's transaction; `None` if it is in use.
    pub fn xa_start(self: &Arc<Self>, xid: Xid) -> Option<XaBranch> {
        let mut entries = self.xa.entries.lock();
        let key = xid.key();
        if entries.contains_key(&key) {
            return None;
        }
        entries.insert(key, Entry { format: xid.format, state: State::Attached });
        drop(entries);
        Some(XaBranch { engine: self.clone(), xid })
    }

    /// The names of the transactions that are prepared, when a crash would change nothing about that: those that are listed
    /// are prepared durably, and those that are not have ended durably.
    pub async fn xa_recover(&self) -> Result<Vec<Xid>, Error> {
        let names = self.xa_prepared();
        self.log.wait_durable(self.log.reserved()).await?;
        Ok(names)
    }

    /// The names of the transactions that are prepared now.
    pub fn xa_prepared(&self) -> Vec<Xid> {
        let entries = self.xa.entries.lock();
        let prepared = entries.iter().filter(|(_, entry)| !matches!(entry.state, State::Attached));
        let name = |((gtrid, bqual), entry): (&Key, &Entry)| Xid {
            format: entry.format,
            gtrid: gtrid.clone(),
            bqual: bqual.clone(),
        };
        prepared.map(name).collect()
    }

    /// Ends a prepared transaction, durably. False if none of this name is prepared. After an error it is as it was, or
    /// is being rolled back in the background if that was wanted.
    pub async fn xa_end(&self, xid: &Xid, how: XaEnd) -> Result<bool, Error> {
        let Some(mut ending) = Ending::of(self, xid) else {
            // Who hears that takes it for ended.
            self.log.wait_durable(self.log.reserved()).await?;
            return Ok(false);
        };
        let lsn = match how {
            XaEnd::Commit => ending.commit().await?,
            XaEnd::Rollback => ending.roll_back().await?,
        };
        drop(ending);
        self.log.wait_durable(lsn).await?;
        Ok(true)
    }

    /// A transaction that recovery has found prepared waits for its end.
    pub(crate) fn adopt_prepared(&self, trx: Trx) -> Result<(), Error> {
        let note = trx.prepared().expect("a prepared transaction");
        let Ok((xid, pinned)) = decode(note) else {
            return Err(Error::Inconsistent("a prepared transaction has no name".to_owned()));
        };
        self.metadata.restore(trx.session(), &pinned);
        tracing::info!(
            "found an XA transaction that is prepared: transaction {}",
            trx.id().unwrap_or_default()
        );
        let state = State::Prepared(Box::new(trx));
        let entry = Entry { format: xid.format, state };
        self.xa.entries.lock().insert(xid.key(), entry);
        Ok(())
    }
}

/// A prepared transaction on its way to its end. Given up in between, it is put back, or rolled back by others.
struct Ending<'a> {
    engine: &'a Engine,
    xid: &'a Xid,
    trx: Option<Box<Trx>>,
}

impl<'a> Ending<'a> {
    fn of(engine: &'a Engine, xid: &'a Xid) -> Option<Self> {
        let mut entries = engine.xa.entries.lock();
        let entry = entries.get_mut(&xid.key()).filter(|entry| entry.format == xid.format)?;
        match std::mem::replace(&mut entry.state, State::Ending) {
            State::Prepared(trx) => Some(Ending { engine, xid, trx: Some(trx) }),
            other => {
                entry.state = other;
                None
            }
        }
    }

    fn trx(&mut self) -> &mut Trx {
        self.trx.as_mut().expect("there until the transaction has ended")
    }

    async fn commit(&mut self) -> Result<Lsn, Error> {
        let lsn = retry(|| self.trx().commit().map_err(Blocked::up::<Error>)).await?;
        self.has_ended();
        Ok(lsn.expect("what is prepared has something to commit"))
    }

    async fn roll_back(&mut self) -> Result<Lsn, Error> {
        // The promise is taken back first, and then it may be rolled back by anybody.
        retry(|| self.trx().rollback_step().map_err(Blocked::up::<Error>)).await?;
        let lsn = self.engine.log.reserved();
        self.trx().note_rollback();
        roll_back_steps(self.trx()).await?;
        retry(|| self.trx().rollback().map_err(Blocked::up::<Error>)).await?;
        self.has_ended();
        Ok(lsn)
    }

    fn has_ended(&mut self) {
        if let Some(trx) = self.trx.take() {
            self.engine.metadata.unpin_everything(trx.session());
        }
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let mut entries = self.engine.xa.entries.lock();
        match self.trx.take() {
            Some(trx) if trx.prepared().is_some() && !trx.has_committed() => {
                let state = State::Prepared(trx);
                entries.insert(self.xid.key(), Entry { format: self.xid.format, state });
            }
            given_up => {
                entries.remove(&self.xid.key());
                drop(entries);
                if let Some(trx) = given_up {
                    self.engine.background.abandon(*trx);
                }
            }
        }
    }
}

impl Transaction {
    /// Prepares the transaction, which `branch` names: durably, and it is nobody's from then on. After an error it has
    /// been, or is being, rolled back.
    pub async fn prepare(mut self, branch: XaBranch) -> Result<(), Error> {
        let engine = self.engine().clone();
        let note = encode(branch.xid(), &engine.metadata.pinned(self.session()));
        save_lock_steps(self.trx()).await?;
        let lsn = retry(|| self.trx().prepare(&note).map_err(Blocked::up::<Error>)).await?;
        // No wait between these two: it is either its session's or nobody's.
        let mut trx = self.detach();
        trx.set_owner(0);
        let entry = Entry { format: branch.xid.format, state: State::Prepared(Box::new(trx)) };
        engine.xa.entries.lock().insert(branch.xid.key(), entry);
        drop(branch);
        engine.log.wait_durable(lsn).await?;
        Ok(())
    }
}

/// What a transaction is prepared with: `format, gtrid, bqual, 1 if it may use any table, tables`. A table is its id, twice,
/// and one more if the transaction writes to it.
fn encode(xid: &Xid, pinned: &Pinned) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, xid.format);
    put_bytes(&mut out, &xid.gtrid);
    put_bytes(&mut out, &xid.bqual);
    out.push(u8::from(pinned.any));
    for (table, writes) in &pinned.tables {
        put_varint(&mut out, table << 1 | u64::from(*writes));
    }
    out
}

fn decode(note: &[u8]) -> Result<(Xid, Pinned), Truncated> {
    let mut reader = Reader::new(note);
    let format = reader.varint()?;
    let gtrid = reader.prefixed_bytes()?.to_vec();
    let bqual = reader.prefixed_bytes()?.to_vec();
    let mut pinned = Pinned { any: reader.u8()? != 0, tables: Vec::new() };
    while !reader.is_empty() {
        let table = reader.varint()?;
        pinned.tables.push((table >> 1, table & 1 != 0));
    }
    Ok((Xid { format, gtrid, bqual }, pinned))
}

impl MetadataLocks {
    /// A transaction found by a restart uses these tables.
    fn restore(&self, session: palisade_txn::SessionNo, pinned: &Pinned) {
        match pinned.any {
            true => self.pin_any(session),
            false => self.pin_again(session, &pinned.tables),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Waker};

    use palisade_base::event::retry_blocking;
    use palisade_io::{CrashKeeps, FaultFileSystem, FileSystem};

    use super::*;
    use crate::EngineConfig;
    use crate::tests::harness::{Client, Row, create_schema, create_table, definition, quiet, wait};

    /// Somebody's append is not complete yet, so the log's tail stays before what is appended after it.
    #[test]
    fn a_rollback_behind_an_append_that_is_not_complete_is_waited_for() {
        let xid = Xid { format: 1, gtrid: b"behind".to_vec(), bqual: Vec::new() };
        let disk: Arc<dyn FileSystem> = Arc::new(FaultFileSystem::new(1));
        let engine = Engine::open(EngineConfig { background: false, ..quiet() }, disk).unwrap();
        create_schema(&engine);
        let table = create_table(&engine, definition("t"));
        let mut client = Client::new(&engine, &table);
        client.insert(&Row::new(1, 1, None, b"")).unwrap();
        let branch = engine.xa_start(xid.clone()).unwrap();
        wait(client.tx.prepare(branch)).unwrap();
        wait(engine.log.wait_durable(engine.log.tail())).unwrap();
        let mut listed = pin!(engine.xa_recover());
        let mut unknown = pin!(engine.xa_end(&xid, XaEnd::Rollback));
        let mut credit = retry_blocking(|| engine.log.admit(8)).unwrap();
        let (mut lsn, mut is_listed, mut is_unknown) = (Lsn::ZERO, true, true);
        let open = engine.log.append(&mut credit, &[0; 8], |_| {
            let mut ending = Ending::of(&engine, &xid).unwrap();
            lsn = wait(ending.roll_back()).unwrap();
            drop(ending);
            let mut context = Context::from_waker(Waker::noop());
            is_listed = listed.as_mut().poll(&mut context).is_ready();
            is_unknown = unknown.as_mut().poll(&mut context).is_ready();
        });
        drop(credit);
        assert!(lsn > open.end, "the rollback itself");
        assert!(!is_listed, "the list");
        assert!(!is_unknown, "an unknown name");
        assert_eq!(wait(listed).unwrap(), []);
        assert!(!wait(unknown).unwrap());
    }

    /// The statement that ends it is killed after the commit is written and before that is durable. Nobody flushes by
    /// himself.
    #[test]
    fn what_is_not_prepared_any_more_stays_so_after_a_power_cut() {
        let xid = Xid { format: 1, gtrid: b"killed".to_vec(), bqual: Vec::new() };
        for asks_for_the_list in [true, false] {
            let disk = Arc::new(FaultFileSystem::new(1));
            let fs: Arc<dyn FileSystem> = disk.clone();
            let config = || EngineConfig { background: false, ..quiet() };
            let engine = Engine::open(config(), fs.clone()).unwrap();
            create_schema(&engine);
            let table = create_table(&engine, definition("t"));
            let mut client = Client::new(&engine, &table);
            client.insert(&Row::new(1, 1, None, b"")).unwrap();
            let branch = engine.xa_start(xid.clone()).unwrap();
            wait(client.tx.prepare(branch)).unwrap();
            let mut ending = Ending::of(&engine, &xid).unwrap();
            let lsn = wait(ending.commit()).unwrap();
            drop(ending);
            assert!(engine.log.durable_lsn() < lsn, "the test means nothing otherwise");
            match asks_for_the_list {
                true => assert_eq!(wait(engine.xa_recover()).unwrap(), []),
                false => assert!(!wait(engine.xa_end(&xid, XaEnd::Commit)).unwrap()),
            }
            drop((table, engine));
            disk.crash(CrashKeeps::Synced);
            let engine = Engine::open(config(), fs).unwrap();
            assert_eq!(engine.xa_prepared(), [], "asks for the list: {asks_for_the_list}");
        }
    }

    #[test]
    fn notes_round_trip_and_cut_ones_are_errors() {
        let xid = Xid { format: 1 << 40, gtrid: vec![7; 64], bqual: vec![0; 64] };
        let tables: Vec<_> = (0..14).map(|table| ((u64::MAX >> 2) - table, table % 3 == 0)).collect();
        for pinned in [Pinned { any: false, tables }, Pinned { any: true, tables: Vec::new() }] {
            let note = encode(&xid, &pinned);
            assert!(note.len() <= palisade_txn::MAX_NOTE);
            assert_eq!(decode(&note), Ok((xid.clone(), pinned)));
            assert!((0..130).all(|length| decode(&note[..length]).is_err()));
        }
    }
}
