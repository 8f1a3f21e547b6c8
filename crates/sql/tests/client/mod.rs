//! A client of a query processor over an engine in memory: statements in, rows as text out, without a socket.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use palisade_base::{Event, MysqlError};
use palisade_catalog::{Charset, RowView, SqlType, Value, ValueRef, charset};
use palisade_engine::{Engine, EngineConfig, FlushAtCommit};
use palisade_expr::convert::display_text;
use palisade_expr::named_locks::NamedLocks;
use palisade_io::{FileSystem, MemFileSystem};
use palisade_parser::ast::Statement;
use palisade_schema::{Rows, TableDecl, Wanted};
use palisade_session::environment::Beside;
use palisade_session::prepared_count::{Counted, PreparedCount};
use palisade_session::sink::{Collected, RowNumbers, StoredRows};
use palisade_sql::session::KillFlag;
use palisade_sql::*;

/// What the queries run on. It counts how often statements have let others run, and can kill a statement when
/// it does so.
#[derive(Default)]
pub struct Bench {
    pub pauses: AtomicUsize,
    /// The statement of which session is killed, and at which pause from now on.
    pub killed: Mutex<Option<(KillFlag, usize)>>,
    pub named_locks: Arc<NamedLocks>,
    pub prepared_statements: PreparedCount,
    /// Evaluations have to give way now and then: each time they may go on for one question longer.
    pub interrupts: bool,
    /// How often one had to.
    pub refused: AtomicUsize,
    /// Questions until the next one has to.
    pub patience: AtomicUsize,
    /// How often evaluations have asked whether they may go on: about once a millisecond of work.
    pub questions: AtomicUsize,
    /// The statement of which session is killed, and at which question from now on.
    pub killed_asking: Mutex<Option<(KillFlag, usize)>>,
    /// Runs parts of statements beside them, by a thread for each: how many at the same time, and what they
    /// are given.
    pub beside: OnceLock<(usize, Weak<Bench>)>,
    /// How many it has run.
    pub parts: AtomicUsize,
}

/// One pause or question more: kills the statement whose turn it is.
fn count_down(killed: &Mutex<Option<(KillFlag, usize)>>) {
    if let Some((flag, left)) = &mut *killed.lock().unwrap() {
        *left = left.saturating_sub(1);
        if *left == 0 {
            flag.kill_statement();
        }
    }
}

impl Services for Bench {
    fn may_compute(&self, _: u64) -> bool {
        self.questions.fetch_add(1, Ordering::Relaxed);
        count_down(&self.killed_asking);
        if self.interrupts && self.patience.load(Ordering::Relaxed) == 0 {
            self.patience.store(self.refused.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            return false;
        }
        self.patience.store(self.patience.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
        true
    }
    fn variable(&self, _: &SessionState, _: Option<Scope>, _: &str) -> SqlResult<Option<Value>> {
        Ok(None)
    }
    fn named_locks(&self) -> &Arc<NamedLocks> {
        &self.named_locks
    }
    fn unix_micros(&self) -> i64 {
        1_795_250_460_000_000
    }
    fn random(&self) -> u64 {
        7
    }
    fn version(&self) -> &str {
        "8.4.0-test"
    }
}

impl Authorization for Bench {}

impl Diagnostics for Bench {}

impl SystemVariables for Bench {
    fn set_variable(&self, _: &mut Session, _: Scope, _: &str, _: Option<Value>) -> SqlResult<()> {
        Ok(())
    }

    fn variables(&self, _: &SessionState, _: Scope) -> Vec<(String, String)> {
        Vec::new()
    }

    fn status(&self, _: SessionView<'_>, _: Scope) -> Vec<(String, String)> {
        Vec::new()
    }
}

impl VirtualTables for Bench {
    fn virtual_tables(&self) -> Vec<&'static TableDecl> {
        Vec::new()
    }

    fn find_virtual_table(&self, _: &str, _: &str) -> Option<&'static TableDecl> {
        None
    }

    fn virtual_rows(&self, _: SessionView<'_>, _: &TableDecl, _: &Wanted) -> Rows {
        Box::new(std::iter::empty())
    }
}

impl Processes for Bench {
    fn monotonic(&self) -> Duration {
        Duration::from_micros(self.unix_micros() as u64)
    }
    fn pause(&self, _: u64) -> BoxFuture<'_, ()> {
        self.pauses.fetch_add(1, Ordering::Relaxed);
        count_down(&self.killed);
        Box::pin(palisade_base::event::yield_now())
    }

    fn run_beside(&self, part: Beside) -> bool {
        let Some(bench) = self.beside.get().and_then(|(_, bench)| bench.upgrade()) else { return false };
        self.parts.fetch_add(1, Ordering::Relaxed);
        std::thread::spawn(move || block_on(part(bench)));
        true
    }

    fn threads_beside(&self) -> usize {
        self.beside.get().map_or(1, |(threads, _)| *threads)
    }

    fn count_prepared(&self) -> SqlResult<Counted> {
        self.prepared_statements.one_more(u64::MAX)
    }

    fn kill(&self, _: &SessionState, _: u64, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn wait<'a>(
        &'a self,
        _: u64,
        event: Event,
        _: Awaited,
        limit: Option<Duration>,
    ) -> BoxFuture<'a, WaitOutcome> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let mut event = event;
        Box::pin(std::future::poll_fn(move |context| {
            let is_late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
            match pin!(&mut event).poll(context) {
                Poll::Ready(()) => Poll::Ready(WaitOutcome::Happened),
                Poll::Pending if is_late() => Poll::Ready(WaitOutcome::TimedOut),
                Poll::Pending => Poll::Pending,
            }
        }))
    }
}

impl Files for Bench {}

impl Administration for Bench {
    fn administer<'a>(
        &'a self,
        _: &'a Sql,
        _: &'a mut Session,
        _: &'a Statement,
        _: &'a mut dyn ResultSink,
    ) -> BoxFuture<'a, Option<SqlResult<Completion>>> {
        Box::pin(async { None })
    }
}

pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(std::thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            // Now and then without being woken: a wait may be over because its time is up.
            Poll::Pending => std::thread::park_timeout(Duration::from_millis(100)),
        }
    }
}

/// Takes rows of a batch together, as a connection does, a few at a time.
#[derive(Default)]
struct Taking(Collected);

impl ResultSink for Taking {
    fn columns(&mut self, columns: &[ColumnMeta]) -> SqlResult<()> {
        self.0.columns(columns)
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0.row(values)
    }

    fn stored_rows(&mut self, rows: StoredRows<'_>) -> SqlResult<usize> {
        let StoredRows { table, batch, numbers, columns } = rows;
        let numbers: Vec<usize> = match numbers {
            RowNumbers::Range(range) => range.take(7).collect(),
            RowNumbers::Some(numbers) => numbers.iter().copied().take(7).collect(),
        };
        for number in &numbers {
            self.stored_row(&RowView::new(table, batch.row(*number).row).unwrap(), columns)?;
        }
        Ok(numbers.len())
    }
}

/// What a statement answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    Rows(Vec<Vec<String>>),
    Affected(u64),
}

/// A query processor of its own.
pub fn processor(bench: Arc<Bench>) -> Arc<Sql> {
    processor_on(bench, Arc::new(MemFileSystem::new()))
}

/// The same, with its data in `files`.
pub fn processor_on(bench: Arc<Bench>, files: Arc<dyn FileSystem>) -> Arc<Sql> {
    let config = EngineConfig {
        buffer_pool_size: 16 << 20,
        flush_at_commit: FlushAtCommit::Lazy,
        ..EngineConfig::default()
    };
    let engine = Engine::open(config, files).unwrap();
    Sql::new(engine, bench)
}

pub struct Client {
    pub sql: Arc<Sql>,
    pub session: Session,
}

impl Client {
    pub fn new(sql: &Arc<Sql>, connection_id: u64) -> Client {
        let session = Session::new(connection_id, "root", "localhost", SessionVariables::default(), 1);
        Client { sql: sql.clone(), session }
    }

    pub fn answer(&mut self, text: &str) -> Result<Answer, MysqlError> {
        let mut sink = Taking::default();
        let (completion, _) = block_on(self.sql.query(&mut self.session, text.as_bytes(), &mut sink))?;
        if !completion.rows {
            return Ok(Answer::Affected(completion.affected_rows));
        }
        let sink = sink.0;
        let types: Vec<SqlType> = sink.columns.iter().map(|column| column.ty.clone()).collect();
        let line = |row: &Vec<Value>| {
            let shown = row.iter().zip(&types).map(|(value, ty)| match value {
                Value::Null => "NULL".to_owned(),
                Value::Bytes(bytes) if ty.is_text() => {
                    let mut text = Vec::new();
                    charset::convert(bytes, ty.collation().get().charset, Charset::Utf8mb4, &mut text);
                    String::from_utf8_lossy(&text).into_owned()
                }
                value => display_text(value.as_ref(), ty),
            });
            shown.collect()
        };
        Ok(Answer::Rows(sink.rows.iter().map(line).collect()))
    }

    /// The answer on one line; an error's text if there is none.
    pub fn run(&mut self, text: &str) -> String {
        match self.answer(text) {
            Ok(Answer::Rows(rows)) => rows.iter().map(|row| row.join(" ")).collect::<Vec<_>>().join("; "),
            Ok(Answer::Affected(rows)) => format!("{rows} affected"),
            Err(error) => error.to_string(),
        }
    }
}
