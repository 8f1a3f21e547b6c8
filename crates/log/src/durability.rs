//! From written to durable: who flushes, and who is told.
//!
//! There is one flush at a time, claimed by [`Durability::claim`]. Whoever claims it writes what is below the tail,
//! syncs, publishes `durable_lsn`, gives the claim back and then looks at every inbox:
//!
//! ```text
//!   session: register in its worker's inbox ── look at durable_lsn ── want a flush ── park
//!   flusher: claim ── write ── sync ── publish durable_lsn ── release ── look at inboxes ── call workers
//!   worker's pump: called ── wake covered sessions ── if some are not covered and nobody flushes: see to it
//! ```
//!
//! A wait is registered before `durable_lsn` and the claim are looked at, and inboxes are looked at after
//! `durable_lsn` and the claim were published, all in one total order. So either the session sees that it is covered
//! or that nobody flushes, or the flusher sees the session.
//!
//! Who flushes, by [`WriterThreads`]:
//!
//! * `Off`: the pump of the worker that wants it (the *leader*), for everyone;
//! * `On`: the log's writer and flusher threads, which a pump calls;
//! * `Auto`: the flusher thread, which writes as well, when a pump asks it, and which goes on by itself while
//!   [few](FEW_WAITS) wait. One thread is called for a flush where `On` calls two, and no worker sleeps in a flush while it
//!   could serve its sessions, as with `Off`. Even where it has none to serve: a processor that waits for the disk while
//!   another one serves the only client, each for long enough to sleep well, is faster than one that does both in turn.
//!
//! Nobody needs to know how the flush before was done.
//!
//! A pump first lets the other tasks of its worker run, and again for as long as that brings commits: they are in the
//! same flush then, and a flush costs more processor time than a commit. There is no timer and no delay: with nothing
//! else to run, the next flush starts when the last one has ended and someone waits.

use std::cell::RefCell;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

use palisade_base::{Event, Lsn};
use palisade_io::Syncing;
use palisade_io::counts::{self, FileUse};
use parking_lot::RwLock;

use crate::averages::Averages;
use crate::caller::Caller;
use crate::log::State;
use crate::metrics::WaitCounters;
use crate::planted::{Planted, makes};
use crate::sync::{AtomicBool, AtomicU64, CachePadded, Ordering, load_ordered, store_ordered};
use crate::waits::{Inbox, WaitId, WaitList};
use crate::{Error, Log, LogConfig, WriterThreads, metrics};

/// How often a pump lets other tasks run before it sees to a flush, at most.
const MOST_ROUNDS: u32 = 8;

/// With `Auto`, while no worker has more sessions that wait than this, the flusher goes on by itself after a flush: so few
/// bring hardly a commit more when they are let run first, and the next flush need not wait for it (decision 069).
pub(crate) const FEW_WAITS: u64 = 3;

/// Default of `innodb_flushing_avg_loops`.
const AVERAGED_SECONDS: u64 = 30;

/// What is durable, who wants more, and who is working on it.
pub(crate) struct Durability {
    durable: CachePadded<AtomicU64>,
    flushing: AtomicBool,
    /// The furthest LSN anyone has waited for.
    wanted: CachePadded<AtomicU64>,
    /// The furthest LSN the log's threads were asked for.
    asked: AtomicU64,
    writer_threads: AtomicU8,
    pub(crate) averages: Averages,
    /// Milliseconds between flushes of what nobody waits for.
    pub(crate) background_interval_ms: std::sync::atomic::AtomicU64,
    inboxes: RwLock<Vec<Arc<Inbox>>>,
    /// For waits on threads that are no workers.
    others: Arc<Inbox>,
    pub(crate) writer: Arc<Caller>,
    pub(crate) flusher: Arc<Caller>,
}

impl Durability {
    pub(crate) fn new(config: &LogConfig, durable: Lsn) -> Durability {
        Durability {
            durable: CachePadded(AtomicU64::new(durable.0)),
            flushing: AtomicBool::new(false),
            wanted: CachePadded(AtomicU64::new(0)),
            asked: AtomicU64::new(0),
            writer_threads: AtomicU8::new(config.writer_threads as u8),
            background_interval_ms: config.background_flush_interval_ms.into(),
            averages: Averages::new(AVERAGED_SECONDS),
            inboxes: RwLock::default(),
            others: Arc::new(Inbox::new()),
            writer: Caller::new(),
            flusher: Caller::new(),
        }
    }

    pub(crate) fn reset(&self, durable: Lsn) {
        store_ordered(&self.durable.0, durable.0);
    }

    pub(crate) fn durable(&self) -> Lsn {
        Lsn(load_ordered(&self.durable.0))
    }

    pub(crate) fn wanted(&self) -> Lsn {
        Lsn(load_ordered(&self.wanted.0))
    }

    pub(crate) fn asked(&self) -> Lsn {
        Lsn(load_ordered(&self.asked))
    }

    pub(crate) fn is_flushing(&self) -> bool {
        self.flushing.load(Ordering::SeqCst)
    }

    /// Takes the right to flush, if nobody has it.
    pub(crate) fn claim(&self) -> bool {
        !self.flushing.swap(true, Ordering::SeqCst)
    }

    fn writer_threads(&self) -> WriterThreads {
        match self.writer_threads.load(Ordering::SeqCst) {
            0 => WriterThreads::Off,
            1 => WriterThreads::On,
            _ => WriterThreads::Auto,
        }
    }

    fn has_few_waits(&self) -> bool {
        let is_few = |inbox: &Arc<Inbox>| inbox.waits.count() <= FEW_WAITS;
        is_few(&self.others) && self.inboxes.read().iter().all(is_few)
    }
}

thread_local! {
    /// The inbox of the worker whose thread this is, and the address of its log.
    static OWN_INBOX: RefCell<Option<(usize, Arc<Inbox>)>> = const { RefCell::new(None) };
}

impl Log {
    fn address(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    fn own_inbox(&self) -> Arc<Inbox> {
        let own = OWN_INBOX.with_borrow(|own| match own {
            Some((log, inbox)) if *log == self.address() => Some(inbox.clone()),
            _ => None,
        });
        own.unwrap_or_else(|| self.durability.others.clone())
    }

    /// Who writes and flushes.
    pub fn writer_threads(&self) -> WriterThreads {
        if self.config.background { self.durability.writer_threads() } else { WriterThreads::Off }
    }

    /// Changes who writes and flushes; takes effect with the next flush.
    pub fn set_writer_threads(&self, writer_threads: WriterThreads) {
        self.durability.writer_threads.store(writer_threads as u8, Ordering::SeqCst);
        // Who was relied on for the present waits may not feel responsible any more: the log's threads are.
        self.ask(self.durability.wanted());
    }

    /// Makes the calling thread a worker: [`Log::worker_inbox`], [entered](WorkerInbox::enter) by it.
    pub fn register_worker(self: &Arc<Self>) -> WorkerInbox {
        let inbox = self.worker_inbox();
        inbox.enter();
        inbox
    }

    /// An inbox for a worker: waits for durability on the threads that [enter](WorkerInbox::enter) it are
    /// completed by its
    /// [pump](WorkerInbox::pump), which must run. Dropping the inbox ends that.
    pub fn worker_inbox(self: &Arc<Self>) -> WorkerInbox {
        let inbox = Arc::new(Inbox::new());
        inbox.has_pump.store(true, Ordering::SeqCst);
        self.durability.inboxes.write().push(inbox.clone());
        WorkerInbox { log: self.clone(), inbox }
    }

    /// Waits until everything below `lsn` is durable. On a [worker](Log::register_worker) the wait is completed by
    /// the worker itself, together with its others.
    pub fn wait_durable(&self, lsn: Lsn) -> WaitDurable<'_> {
        metrics::COMMITS.increment();
        WaitDurable::new(self, lsn, false)
    }

    /// Waits until [`Log::tail`] has reached `lsn`: everything before, and the append that ends there, is visible.
    pub fn wait_tail(&self, lsn: Lsn) -> WaitTail<'_> {
        WaitTail { log: self, lsn, registered: None }
    }

    /// An event that happens when [`Log::tail`] has reached `lsn`, or the log has failed: [`Log::wait_tail`] for operations
    /// that are called again.
    pub fn tail_event(&self, lsn: Lsn) -> Event {
        let event = Event::new();
        self.tail_waits.register(lsn, &Waker::from(Arc::new(Completer(event.clone()))));
        // Listed first, so that whoever moves the tail after this look completes it.
        if self.ring.tail_ordered() >= lsn || self.state() == State::Failed {
            event.complete();
        }
        event
    }

    /// Makes everything below `lsn` durable, on the calling thread's time. For background threads.
    pub fn flush_blocking(&self, lsn: Lsn) -> Result<(), Error> {
        if self.durable_lsn() >= lsn {
            return Ok(());
        }
        assert!(self.state() != State::Recovering, "{lsn:?} has not been recovered");
        if !self.config.background {
            // Nobody else flushes; what is missing is another thread's link.
            while self.durable_lsn() < lsn && self.state() != State::Failed {
                self.lead(None);
                std::thread::yield_now();
            }
        }
        block_on(WaitDurable::new(self, lsn, true))
    }

    /// Gives what is below the tail to the operating system, unless everything below `lsn` was given already, on the
    /// calling thread's time: it survives the end of this process, though not of the machine. `lsn` is at most the
    /// [tail](Log::tail).
    pub fn write_out(&self, lsn: Lsn) -> Result<(), Error> {
        if self.written_lsn() >= lsn {
            WaitCounters::ON_WRITE.count(0);
            return Ok(());
        }
        WaitCounters::ON_WRITE.count(1);
        match self.state() {
            State::Failed => return Err(Error::Failed),
            State::Stopped | State::Recovering => return Err(Error::NotRunning),
            State::Running | State::Stopping => {}
        }
        let mut writer = self.writer.lock();
        match writer.write(&self.ring, self.durable_lsn()) {
            Ok(false) => {}
            Ok(true) => self.publish(&writer),
            Err(error) => {
                drop(writer);
                return Err(self.fail("write to the log", error));
            }
        }
        Ok(())
    }

    /// Someone waits for `lsn` in `inbox`, registered there: sees to it that a flush comes.
    fn want(&self, lsn: Lsn, inbox: &Inbox, leads: bool) {
        self.durability.wanted.0.fetch_max(lsn.0, Ordering::SeqCst);
        match self.writer_threads() {
            // The flush that is running ends by looking at the inboxes, or by calling the log's threads.
            _ if self.durability.is_flushing() => {}
            // Others of this worker may be about to commit: a write of its own for each would be padding mostly.
            _ if inbox.has_pump.load(Ordering::SeqCst) => {
                inbox.signal.raise();
            }
            WriterThreads::On => self.durability.writer.call(),
            WriterThreads::Auto if !leads => self.ask(lsn),
            _ => {
                self.lead(None);
                // What is still missing lies behind an append that is not linked: the thread waits for that.
                if self.durable_lsn() < lsn {
                    self.ask(lsn);
                }
            }
        }
    }

    /// Asks the log's threads to make everything below `lsn` durable.
    pub(crate) fn ask(&self, lsn: Lsn) {
        self.durability.asked.fetch_max(lsn.0, Ordering::SeqCst);
        match self.writer_threads() {
            WriterThreads::On => self.durability.writer.call(),
            _ => self.durability.flusher.call(),
        }
    }

    /// Flushes on the calling thread, for everyone, unless someone is flushing. The worker whose pump calls this need
    /// not be called.
    fn lead(&self, caller: Option<&Inbox>) {
        if self.durability.claim() {
            metrics::LEADER_FLUSHES.increment();
            self.flush_claimed();
            self.release(Lead::Sought, caller);
        }
    }

    /// Writes and syncs, holding the claim.
    pub(crate) fn flush_claimed(&self) {
        if self.state() == State::Failed {
            return;
        }
        let mut writer = self.writer.lock();
        let durable = self.durable_lsn();
        // With a writer thread, syncing what it has written comes first: it writes the rest meanwhile.
        if self.writer_threads() != WriterThreads::On || writer.written() == durable {
            match writer.write(&self.ring, durable) {
                Ok(false) => {}
                Ok(true) => self.publish(&writer),
                Err(error) => {
                    drop(writer);
                    self.fail("write to the log", error);
                    return;
                }
            }
        }
        let (written, mut unsynced) = (writer.written(), writer.take_unsynced());
        drop(writer);
        if self.config.syncing != Syncing::OnRequest {
            unsynced.clear();
        }
        if written == durable {
            return;
        }
        let before = self.config.clock.monotonic();
        let mut begun = before;
        let last = unsynced.last().map_or(0, |(number, _)| *number);
        for (number, file) in unsynced {
            metrics::SYNCS.increment();
            metrics::PENDING_SYNCS.add(1);
            let is_synced =
                !makes(Planted::FlushIsNotSynced) && (number == last || !makes(Planted::LastSegmentIsSynced));
            let synced = if is_synced { file.sync() } else { Ok(()) };
            metrics::PENDING_SYNCS.subtract(1);
            if let Err(error) = synced {
                self.fail("sync the log", error);
                return;
            }
            let ended = self.config.clock.monotonic();
            counts::count_sync(&*file, FileUse::Log, ended - begun);
            begun = ended;
        }
        let after = begun;
        metrics::FLUSHES.increment();
        let milliseconds = self.durability.averages.note(after, after - before, written.since(durable));
        metrics::FLUSH_TIME.add(milliseconds);
        store_ordered(&self.durability.durable.0, written.0);
    }

    /// Who is to see to the next flush after one by the log's flusher thread.
    pub(crate) fn lead_after_thread(&self) -> Lead {
        match self.writer_threads() {
            WriterThreads::On => Lead::Taken,
            WriterThreads::Auto if self.durability.has_few_waits() => Lead::Taken,
            WriterThreads::Auto | WriterThreads::Off => Lead::Sought,
        }
    }

    /// Ends the claim and calls every worker that has something to do because of it, once; but not the caller's own.
    pub(crate) fn release(&self, lead: Lead, caller: Option<&Inbox>) {
        self.durability.flushing.store(false, Ordering::SeqCst);
        let durable = self.durable_lsn();
        let concerns = |waits: &WaitList| match waits.first() {
            Lsn::MAX => false,
            first => first <= durable || lead == Lead::Sought,
        };
        for inbox in self.durability.inboxes.read().iter() {
            let is_own = caller.is_some_and(|own| std::ptr::eq(own, &**inbox));
            if !is_own && concerns(&inbox.waits) {
                if inbox.has_pump.load(Ordering::SeqCst) {
                    metrics::WAKEUPS.add(u64::from(inbox.signal.raise()));
                } else {
                    complete(inbox, durable, lead);
                }
            }
        }
        if concerns(&self.durability.others.waits) {
            complete(&self.durability.others, durable, lead);
        }
        if lead == Lead::Sought && self.durability.asked() > durable {
            self.durability.flusher.call();
        }
        if self.writer_threads() == WriterThreads::On {
            self.call_threads();
        }
    }

    /// The log has failed: everyone who waits is to see it.
    pub(crate) fn wake_everyone(&self) {
        for inbox in self.durability.inboxes.read().iter().chain([&self.durability.others]) {
            complete(inbox, Lsn::MAX, Lead::Taken);
        }
        self.call_threads();
    }

    /// Lets the log's threads look whether there is something for them to do.
    pub(crate) fn call_threads(&self) {
        self.durability.writer.call();
        self.durability.flusher.call();
    }

    /// Admission is refused: sees to it that the ring is written.
    pub(crate) fn make_room(&self) {
        if self.config.background {
            self.ask(self.tail());
        } else {
            self.lead(None);
        }
    }

    /// Has the ring written before it is half full.
    pub(crate) fn write_early(&self) {
        let quarter = self.ring.capacity() / 4;
        if self.ring.next().0 + quarter > self.admission.until() && self.config.background {
            let (tail, written) = (self.tail(), self.written_lsn());
            // What was asked for last has been written, and there is more.
            if self.durability.asked() <= written && written < tail {
                self.ask(tail);
            }
        }
    }
}

/// Whether someone among those who wait should flush next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lead {
    /// Those who are not covered see to it themselves.
    Sought,
    /// One of the log's threads goes on.
    Taken,
}

/// Wakes the covered waits of an inbox without a pump, and one that is to lead.
fn complete(inbox: &Inbox, durable: Lsn, lead: Lead) {
    for waker in inbox.waits.take_covered(durable) {
        waker.wake();
    }
    if lead == Lead::Sought {
        inbox.waits.nominate_first();
    }
    if durable == Lsn::MAX {
        inbox.signal.raise();
    }
}

/// Future of [`Log::wait_durable`]. Allocates nothing if the range is durable already.
#[must_use]
pub struct WaitDurable<'a> {
    log: &'a Log,
    lsn: Lsn,
    /// Whether the polling thread may flush by itself.
    leads: bool,
    registered: Option<(Arc<Inbox>, WaitId)>,
    /// How often it had to be polled again.
    loops: u64,
}

impl<'a> WaitDurable<'a> {
    fn new(log: &'a Log, lsn: Lsn, leads: bool) -> WaitDurable<'a> {
        WaitDurable { log, lsn, leads, registered: None, loops: 0 }
    }

    fn outcome(&self) -> Option<Result<(), Error>> {
        if self.log.durable_lsn() >= self.lsn {
            return Some(Ok(()));
        }
        match self.log.state() {
            State::Failed => Some(Err(Error::Failed)),
            State::Stopped => Some(Err(Error::NotRunning)),
            State::Running | State::Stopping | State::Recovering => None,
        }
    }

    /// Is in an inbox when this returns.
    fn register(&mut self, waker: &Waker) -> Arc<Inbox> {
        if let Some((inbox, id)) = &self.registered
            && inbox.waits.renew(self.lsn, *id, waker)
        {
            return inbox.clone();
        }
        // A thread that sleeps until it is woken cannot run a pump.
        let inbox = if self.leads { self.log.durability.others.clone() } else { self.log.own_inbox() };
        let id = inbox.waits.register(self.lsn, waker);
        self.registered = Some((inbox.clone(), id));
        inbox
    }

    /// Registers and sees to it that a flush comes, unless the wait is over.
    fn step(&mut self, context: &mut Context<'_>) -> Option<Result<(), Error>> {
        if let Some(outcome) = self.outcome() {
            return Some(outcome);
        }
        let inbox = self.register(context.waker());
        if let Some(outcome) = self.outcome() {
            return Some(outcome);
        }
        self.log.want(self.lsn, &inbox, self.leads);
        // A flush may have been led just now.
        self.outcome()
    }
}

impl Future for WaitDurable<'_> {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.step(context) {
            Some(outcome) => {
                WaitCounters::ON_FLUSH.count(self.loops);
                Poll::Ready(outcome)
            }
            None => {
                self.loops += 1;
                Poll::Pending
            }
        }
    }
}

impl Drop for WaitDurable<'_> {
    fn drop(&mut self) {
        if let Some((inbox, id)) = self.registered.take() {
            inbox.waits.cancel(self.lsn, id);
            // It may have been the one nominated to lead; the log's thread then does.
            if inbox.waits.first() != Lsn::MAX && self.outcome().is_none() {
                self.log.ask(self.lsn);
            }
        }
    }
}

/// Completes an event when it is woken.
struct Completer(Event);

impl Wake for Completer {
    fn wake(self: Arc<Self>) {
        self.0.complete();
    }
}

/// Future of [`Log::wait_tail`]; fails only if the log has.
#[must_use]
pub struct WaitTail<'a> {
    log: &'a Log,
    lsn: Lsn,
    registered: Option<WaitId>,
}

impl Future for WaitTail<'_> {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if self.log.ring.tail_ordered() >= self.lsn {
            return Poll::Ready(Ok(()));
        }
        if self.log.state() == State::Failed {
            return Poll::Ready(Err(Error::Failed));
        }
        let waits = &self.log.tail_waits;
        let is_listed = self.registered.is_some_and(|id| waits.renew(self.lsn, id, context.waker()));
        if !is_listed {
            metrics::TAIL_WAITS.increment();
            self.registered = Some(waits.register(self.lsn, context.waker()));
        }
        if self.log.ring.tail_ordered() >= self.lsn { Poll::Ready(Ok(())) } else { Poll::Pending }
    }
}

impl Drop for WaitTail<'_> {
    fn drop(&mut self) {
        if let Some(id) = self.registered {
            self.log.tail_waits.cancel(self.lsn, id);
        }
    }
}

/// A worker's waits for durability; see [`Log::register_worker`].
pub struct WorkerInbox {
    log: Arc<Log>,
    inbox: Arc<Inbox>,
}

impl WorkerInbox {
    /// The calling thread is the worker's from now on. Several may be, one after the other or at once.
    pub fn enter(&self) {
        OWN_INBOX.set(Some((self.log.address(), self.inbox.clone())));
    }

    /// Runs for as long as the worker does, as one task of it: completes waits that a flush has covered, and sees to
    /// it that a flush happens while someone waits. `yield_now` lets the worker's other tasks run, as
    /// [`yield_once`] does; if the executor has a way that also looks for new input, that is better.
    pub async fn pump(&self, mut yield_now: impl AsyncFnMut()) {
        loop {
            std::future::poll_fn(|context| self.inbox.signal.poll(context)).await;
            self.complete_covered();
            while self.has_uncovered() {
                self.gather(&mut yield_now).await;
                if !self.see_to_flush() {
                    break;
                }
                if !self.complete_covered() {
                    // What is waited for lies behind an append that is not linked yet.
                    let tail = self.log.ring.tail_ordered();
                    if tail == self.log.durable_lsn() {
                        let _ = self.log.wait_tail(tail.advance(1)).await;
                    }
                }
            }
        }
    }

    /// Lets the other tasks run while they bring more commits to be flushed together.
    async fn gather(&self, yield_now: &mut impl AsyncFnMut()) {
        for _ in 0..MOST_ROUNDS {
            let before = self.inbox.waits.registrations();
            yield_now().await;
            if self.inbox.waits.registrations() == before {
                break;
            }
        }
    }

    fn has_uncovered(&self) -> bool {
        self.inbox.waits.first() != Lsn::MAX
    }

    /// Wakes the sessions whose LSN is durable; whether there were any.
    fn complete_covered(&self) -> bool {
        let wakers = self.inbox.waits.take_covered(self.log.durable_lsn());
        let any = !wakers.is_empty();
        for waker in wakers {
            waker.wake();
        }
        any
    }

    /// Flushes, or leaves it to someone who will call this inbox afterwards; whether it flushed.
    fn see_to_flush(&self) -> bool {
        let log = &*self.log;
        if log.state() == State::Failed || log.durability.is_flushing() {
            return false;
        }
        match log.writer_threads() {
            WriterThreads::On => log.durability.writer.call(),
            WriterThreads::Auto => log.ask(log.durability.wanted()),
            WriterThreads::Off => {
                log.lead(Some(&*self.inbox));
                return true;
            }
        }
        false
    }
}

impl Drop for WorkerInbox {
    fn drop(&mut self) {
        self.log.durability.inboxes.write().retain(|inbox| !Arc::ptr_eq(inbox, &self.inbox));
        self.inbox.has_pump.store(false, Ordering::SeqCst);
        OWN_INBOX.with_borrow_mut(|own| {
            if own.as_ref().is_some_and(|(_, inbox)| Arc::ptr_eq(inbox, &self.inbox)) {
                *own = None;
            }
        });
        // Who still waits here is woken and registers elsewhere.
        complete(&self.inbox, Lsn::MAX, Lead::Taken);
    }
}

/// Lets the other tasks of the executor run first; for [`WorkerInbox::pump`] on any executor.
pub async fn yield_once() {
    let mut has_yielded = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on the calling thread, which sleeps meanwhile.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
