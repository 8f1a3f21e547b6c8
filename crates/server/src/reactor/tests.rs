use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicUsize;
use std::task::Wake;

use super::*;
use crate::stream::{Socket, Stream};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Fixture {
    event_loop: Arc<EventLoop>,
    events: Events,
    stream: Stream,
    client: UnixStream,
    count: Arc<Count>,
}

fn fixture() -> Fixture {
    let event_loop = Arc::new(EventLoop::new().unwrap());
    let (client, socket) = UnixStream::pair().unwrap();
    socket.set_nonblocking(true).unwrap();
    let stream = Stream::watch(&event_loop, Socket::Unix(socket)).unwrap();
    Fixture { event_loop, events: Events::default(), stream, client, count: Arc::default() }
}

impl Fixture {
    fn turn(&mut self) {
        self.event_loop.reactor().turn(&mut self.events, false, || {});
    }

    fn read(&self, room: usize) -> Poll<Vec<u8>> {
        let waker = Waker::from(self.count.clone());
        let mut buffer = Vec::with_capacity(room);
        let read = self.stream.poll_read(&mut Context::from_waker(&waker), &mut buffer);
        read.map(|count| {
            assert_eq!(count.unwrap(), buffer.len());
            buffer
        })
    }

    fn woken(&self) -> usize {
        self.count.0.swap(0, Ordering::Relaxed)
    }
}

#[test]
fn a_reader_is_woken_by_every_packet_and_reads_all_of_it() {
    let mut fixture = fixture();
    for _ in 0..3 {
        assert!(fixture.read(10).is_pending());
        fixture.turn();
        assert_eq!(fixture.woken(), 0);
        fixture.client.write_all(b"abcdefghijkl").unwrap();
        fixture.turn();
        assert_eq!(fixture.woken(), 1);
        assert_eq!(fixture.read(10), Poll::Ready(b"abcdefghij".to_vec()), "as much as there is room for");
        assert_eq!(fixture.read(10), Poll::Ready(b"kl".to_vec()), "and the rest without another event");
    }
}

#[test]
fn a_packet_that_comes_between_a_read_and_its_note_is_not_lost() {
    let mut fixture = fixture();
    fixture.client.write_all(b"a").unwrap();
    fixture.turn();
    let word = fixture.stream.watch_of().seen();
    // as in a read that finds nothing more, while another thread turns the reactor
    fixture.client.write_all(b"b").unwrap();
    fixture.turn();
    fixture.stream.watch_of().clear(Readiness::Readable, word);
    assert_eq!(fixture.read(10), Poll::Ready(b"ab".to_vec()));
    assert!(fixture.read(10).is_pending());
}

#[test]
fn the_end_is_heard_of_behind_what_is_still_to_be_read() {
    let mut fixture = fixture();
    fixture.client.write_all(b"farewell").unwrap();
    fixture.turn();
    let waker = Waker::from(fixture.count.clone());
    assert!(fixture.stream.poll_closed(&mut Context::from_waker(&waker)).is_pending());
    assert!(!fixture.stream.has_hung_up());
    let (other, _) = UnixStream::pair().unwrap();
    drop(std::mem::replace(&mut fixture.client, other));
    fixture.turn();
    assert_eq!(fixture.woken(), 1);
    assert!(fixture.stream.has_hung_up());
    assert_eq!(fixture.read(100), Poll::Ready(b"farewell".to_vec()));
    assert_eq!(fixture.read(100), Poll::Ready(Vec::new()));
    assert_eq!(fixture.read(100), Poll::Ready(Vec::new()), "and again");
}

#[test]
fn a_writer_waits_until_there_is_room() {
    let mut fixture = fixture();
    let waker = Waker::from(fixture.count.clone());
    let mut context = Context::from_waker(&waker);
    assert!(fixture.stream.poll_write(&mut context, b"early").is_pending(), "not heard of yet");
    fixture.turn();
    let mut sent = 0;
    while let Poll::Ready(count) = fixture.stream.poll_write(&mut context, &[7; 1 << 16]) {
        sent += count.unwrap();
    }
    fixture.turn();
    fixture.woken();
    let mut received = vec![0; sent];
    fixture.client.read_exact(&mut received).unwrap();
    fixture.turn();
    assert_eq!(fixture.woken(), 1);
    assert!(fixture.stream.poll_write(&mut context, b"more").is_ready());
    assert!(fixture.stream.try_write(b"and more").is_ok());
}

#[test]
fn an_event_is_not_the_next_sockets_of_the_same_place() {
    let mut watched = Watched::default();
    let (place, first) = watched.take_in(Arc::default());
    watched.let_go(place);
    assert!(watched.find(first).is_none());
    let source = Arc::<Source>::default();
    let (again, second) = watched.take_in(source.clone());
    assert_eq!(again, place);
    assert!(watched.find(first).is_none(), "it was on its way to the first");
    assert!(watched.find(second).is_some_and(|found| Arc::ptr_eq(found, &source)));
    assert!(watched.find(BELL).is_none());
}

#[test]
fn a_socket_is_watched_by_one_event_loop_after_the_other() {
    let mut fixture = fixture();
    fixture.client.write_all(b"packet").unwrap();
    fixture.turn();
    let next = Arc::new(EventLoop::new().unwrap());
    let stream = Stream::watch(&next, fixture.stream.unwatch().unwrap()).unwrap();
    next.reactor().turn(&mut fixture.events, false, || {});
    let mut buffer = Vec::with_capacity(10);
    assert!(stream.poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer).is_ready());
    assert_eq!(buffer, b"packet");
}

#[test]
fn timers_wake_in_the_order_of_their_times_and_none_once_it_is_dropped() {
    let mut fixture = fixture();
    let waker = Waker::from(fixture.count.clone());
    let mut context = Context::from_waker(&waker);
    let mut sleep = |milliseconds| {
        let mut sleep = Sleep::new(&fixture.event_loop, Duration::from_millis(milliseconds));
        assert!(std::pin::Pin::new(&mut sleep).poll(&mut context).is_pending());
        assert!(std::pin::Pin::new(&mut sleep).poll(&mut context).is_pending(), "it is waited for once");
        sleep
    };
    let (late, soon) = (sleep(3_600_000), sleep(20));
    drop(sleep(10));
    let begun = Instant::now();
    while fixture.count.0.load(Ordering::Relaxed) == 0 {
        fixture.event_loop.reactor().turn(&mut fixture.events, true, || {});
    }
    assert!(begun.elapsed() >= Duration::from_millis(15), "not the one that was dropped");
    assert_eq!(fixture.woken(), 1);
    drop((late, soon));
    assert_eq!(fixture.event_loop.reactor().first_us.load(Ordering::Relaxed), u64::MAX);
}

#[test]
fn a_bell_that_rings_before_the_sleep_ends_it() {
    let fixture = fixture();
    fixture.event_loop.reactor().ring();
    fixture.event_loop.reactor().turn(&mut Events::default(), true, || {});
}
