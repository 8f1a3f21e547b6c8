//! The life of an edge of the waits-for graph, in every schedule: granted, released and asked for again while somebody
//! searches; given up while it is granted.

use loom::sync::Arc;
use loom::thread;

use palisade_base::TrxId;

use super::ranges::Cut;
use super::{Heed, LockTable, Mode, Request, TryLock};
use crate::sessions::SessionNo;

const A: SessionNo = SessionNo(0);
const B: SessionNo = SessionNo(1);
const C: SessionNo = SessionNo(2);

fn table() -> Arc<LockTable> {
    let table = LockTable::default();
    // Makes the cells: loom does not see how OnceLock synchronises.
    for session in [A, B, C] {
        table.set_weight(session, 1);
    }
    Arc::new(table)
}

fn lock(table: &LockTable, session: SessionNo, key: &[u8]) -> Request {
    table.lock(session, 1, key, Mode::Exclusive, None)
}

/// Whoever is left waiting gets its turn, and then nothing is left.
fn drain(table: &LockTable, keys: &[&[u8]]) {
    for session in [A, B, C] {
        if !table.cancel_wait(session) {
            table.release_all(session);
        }
    }
    for session in [A, B, C] {
        table.release_all(session);
    }
    assert!(keys.iter().all(|key| table.is_surely_free(1, key)), "nothing is left");
}

/// B holds the key, C waits for it; while A begins to wait and searches, B lets go and asks again, behind both.
#[test]
fn loom_a_released_lock_asked_for_again_is_no_deadlock() {
    loom::model(|| {
        let table = table();
        assert!(matches!(lock(&table, B, b"k"), Request::Granted));
        assert!(matches!(lock(&table, C, b"k"), Request::Wait(_)));
        let again = {
            let table = table.clone();
            thread::spawn(move || {
                table.release_all(B);
                table.set_weight(B, 1);
                assert!(!matches!(lock(&table, B, b"k"), Request::Deadlock));
            })
        };
        assert!(!matches!(lock(&table, A, b"k"), Request::Deadlock));
        again.join().unwrap();
        drain(&table, &[b"k"]);
    });
}

/// A has written a row and is about to take its id out of it; B, who has not looked since, asks for it and is given it first, or
/// waits.
#[test]
fn loom_a_writer_keeps_its_row_whoever_is_given_it_unseen() {
    loom::model(|| {
        let table = table();
        table.begin_writing(A, TrxId(7), 0);
        let unseen = {
            let table = table.clone();
            thread::spawn(move || assert!(!matches!(lock(&table, B, b"k"), Request::Deadlock)))
        };
        assert_eq!(table.keep_row(A, 1, b"k"), TryLock::Newly);
        unseen.join().unwrap();
        assert_eq!(table.try_lock_row(B, 1, b"k", Mode::Exclusive), TryLock::No);
        assert_eq!(table.keep_row(A, 1, b"k"), TryLock::Already);
        drain(&table, &[b"k"]);
    });
}

/// A says what it has, to be prepared. Among it is a row that it was given and has not looked at since; B, who has written that,
/// takes it back.
#[test]
fn loom_what_is_taken_back_meanwhile_is_not_held() {
    loom::model(|| {
        let table = table();
        table.begin_writing(B, TrxId(7), 0);
        assert!(matches!(lock(&table, A, b"k"), Request::Granted));
        let keeping = {
            let table = table.clone();
            thread::spawn(move || assert_eq!(table.keep_row(B, 1, b"k"), TryLock::Newly))
        };
        assert!(table.held(A).len() <= 1);
        keeping.join().unwrap();
        assert!(table.held(A).is_empty());
        drain(&table, &[b"k"]);
    });
}

/// Two that each hold what the other wants: one of them is told, whoever comes first, and the other has both then.
#[test]
fn loom_a_real_cycle_has_one_victim() {
    loom::model(|| {
        let table = table();
        assert!(matches!(lock(&table, A, b"a"), Request::Granted));
        assert!(matches!(lock(&table, B, b"b"), Request::Granted));
        let other = {
            let table = table.clone();
            thread::spawn(move || lock(&table, B, b"a"))
        };
        let mine = lock(&table, A, b"b");
        let theirs = other.join().unwrap();
        // A victim that had begun to wait is told when it asks again, after its event.
        let told = |request: Request, session, key: &[u8]| match request {
            Request::Wait(event) if event.is_complete() => {
                matches!(lock(&table, session, key), Request::Deadlock)
            }
            Request::Deadlock => true,
            _ => false,
        };
        let victims = [told(mine, A, b"b"), told(theirs, B, b"a")];
        assert_eq!(victims.iter().filter(|victim| **victim).count(), 1, "{victims:?}");
        drain(&table, &[b"a", b"b"]);
    });
}

/// A wait that times out at the moment when it is granted is one or the other, and the lock is not left behind.
#[test]
fn loom_giving_up_a_wait_that_is_granted_leaves_nothing() {
    loom::model(|| {
        let table = table();
        assert!(matches!(lock(&table, B, b"k"), Request::Granted));
        assert!(matches!(lock(&table, A, b"k"), Request::Wait(_)));
        let holder = {
            let table = table.clone();
            thread::spawn(move || table.release_all(B))
        };
        let gave_up = table.cancel_wait(A);
        assert_eq!(table.session_locks(A), (usize::from(!gave_up), false));
        table.release_all(A);
        holder.join().unwrap();
        assert!(table.is_surely_free(1, b"k"), "nothing is left");
    });
}

/// A holds a row by having written it. While B makes that lock explicit and begins to wait, A ends: B gets its turn, by the
/// one or by asking again, and nothing of A is left behind.
#[test]
fn loom_a_writer_that_ends_while_its_lock_is_made_explicit_leaves_nothing() {
    loom::model(|| {
        let table = table();
        table.begin_writing(A, TrxId(7), 0);
        let writer = {
            let table = table.clone();
            thread::spawn(move || table.release_all(A))
        };
        let request = table.lock(B, 1, b"k", Mode::Exclusive, Some((A, TrxId(7))));
        writer.join().unwrap();
        match request {
            Request::Granted => {}
            Request::Wait(event) => assert!(event.is_complete(), "the writer has ended"),
            Request::Deadlock => panic!("there is no cycle"),
            Request::Full => panic!("there is no limit"),
        }
        assert_eq!(table.session_locks(A), (0, false));
        assert_eq!(table.session_locks(B), (1, false));
        drain(&table, &[b"k"]);
    });
}

/// A waits for B already. B comes to wait for C and C for A at the same time: one of the three is told, and only one.
#[test]
fn loom_a_circle_of_three_closed_from_two_sides_has_one_victim() {
    loom::model(|| {
        let table = table();
        for (session, key) in [(A, b"a"), (B, b"b"), (C, b"c")] {
            assert!(matches!(lock(&table, session, key), Request::Granted));
        }
        let first = lock(&table, A, b"b");
        let other = {
            let table = table.clone();
            thread::spawn(move || lock(&table, C, b"a"))
        };
        let second = lock(&table, B, b"c");
        let third = other.join().unwrap();
        let told = |request: Request, session, key: &[u8]| match request {
            Request::Wait(event) if event.is_complete() => {
                matches!(lock(&table, session, key), Request::Deadlock)
            }
            Request::Deadlock => true,
            _ => false,
        };
        let victims = [told(first, A, b"b"), told(second, B, b"c"), told(third, C, b"a")];
        assert_eq!(victims.iter().filter(|victim| **victim).count(), 1, "{victims:?}");
        drain(&table, &[b"a", b"b", b"c"]);
    });
}

fn lock_range(table: &LockTable, session: SessionNo, mode: Mode) {
    table.begin_range(session, 1, mode).add(Cut::before(b"a"), Cut::after(b"m")).expect("there is no limit");
}

fn insert(table: &LockTable, session: SessionNo) -> Request {
    table.lock_heeding(session, 1, b"k", Mode::Insert, Heed::Ranges, None)
}

/// B comes to wait for A's range, which makes it explicit, while A ends: B is woken, and nothing of A is left.
#[test]
fn loom_a_range_released_while_it_is_made_explicit_leaves_nobody_waiting() {
    loom::model(|| {
        let table = table();
        lock_range(&table, A, Mode::Exclusive);
        let holder = {
            let table = table.clone();
            thread::spawn(move || table.release_all(A))
        };
        let request = insert(&table, B);
        holder.join().unwrap();
        match request {
            Request::Granted => {}
            Request::Wait(event) => assert!(event.is_complete(), "the holder has ended"),
            Request::Deadlock => panic!("there is no cycle"),
            Request::Full => panic!("there is no limit"),
        }
        assert_eq!(table.session_locks(A), (0, false));
        drain(&table, &[b"k"]);
    });
}

/// Two that have locked the same gap insert into it at the same time: one of them gives way, and the other goes on then.
#[test]
fn loom_of_two_that_share_a_gap_and_insert_one_gives_way() {
    loom::model(|| {
        let table = table();
        lock_range(&table, A, Mode::Exclusive);
        lock_range(&table, B, Mode::Shared);
        let other = {
            let table = table.clone();
            thread::spawn(move || insert(&table, B))
        };
        let mine = insert(&table, A);
        let theirs = other.join().unwrap();
        let told = |request: Request, session| match request {
            Request::Wait(event) if event.is_complete() => {
                matches!(insert(&table, session), Request::Deadlock)
            }
            Request::Deadlock => true,
            _ => false,
        };
        let victims = [told(mine, A), told(theirs, B)];
        assert_eq!(victims.iter().filter(|victim| **victim).count(), 1, "{victims:?}");
        let (victim, survivor) = if victims[0] { (A, B) } else { (B, A) };
        table.release_all(victim);
        assert!(matches!(insert(&table, survivor), Request::Granted));
        drain(&table, &[b"k"]);
    });
}

/// A scan extends its range while another session's ends, both of one index: the trees and the lists of sessions agree.
#[test]
fn loom_a_range_grows_while_another_goes() {
    loom::model(|| {
        let table = table();
        lock_range(&table, A, Mode::Shared);
        lock_range(&table, B, Mode::Exclusive);
        let ending = {
            let table = table.clone();
            thread::spawn(move || table.release_all(A))
        };
        table.begin_range(B, 1, Mode::Exclusive).add(Cut::after(b"m"), Cut::End).expect("there is no limit");
        ending.join().unwrap();
        assert!(!table.may_write(C, 1, b"z", Mode::Insert, Heed::Ranges));
        assert!(!table.may_write(C, 1, b"k", Mode::Insert, Heed::Ranges));
        assert!(table.may_write(B, 1, b"k", Mode::Insert, Heed::Ranges), "nobody else's is left");
        drain(&table, &[b"k", b"z"]);
    });
}
