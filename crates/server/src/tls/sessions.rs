//! Sessions of TLS that clients may resume: a handshake without the costly part.
//!
//! A session is kept for `ssl_session_cache_timeout` seconds, and gives way when there are too many. A thread
//! that begins a connection takes the lock for the time of a look into a table.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustls::server::StoresServerSessions;

/// Sessions that are kept at most. A handshake of TLS 1.3 leaves two, of which each can be resumed once.
pub const MOST_SESSIONS: usize = 256;

/// The sessions.
pub struct SessionCache {
    lifetime: Duration,
    kept: Mutex<Kept>,
    /// What has been counted since it was made.
    pub counts: Counts,
}

/// What the cache counts.
#[derive(Debug, Default)]
pub struct Counts {
    /// Sessions that were there when they were asked for.
    pub hits: AtomicU64,
    /// Sessions that were not.
    pub misses: AtomicU64,
    /// Of these, those that were there and too old.
    pub timeouts: AtomicU64,
    /// Sessions that gave way to others.
    pub overflows: AtomicU64,
}

#[derive(Default)]
struct Kept {
    sessions: HashMap<Vec<u8>, Session>,
    /// Their keys in the order in which they came, with the number of the session; some are gone.
    order: VecDeque<(u64, Vec<u8>)>,
    /// Sessions that there have ever been.
    ever: u64,
}

struct Session {
    number: u64,
    ends: Instant,
    secret: Vec<u8>,
}

impl Kept {
    /// Leaves out what came first until there is room for one more. How many gave way.
    fn make_room(&mut self) -> u64 {
        let mut dropped = 0;
        while self.order.len() >= MOST_SESSIONS {
            let Some((number, key)) = self.order.pop_front() else { break };
            if self.sessions.get(&key).is_some_and(|session| session.number == number) {
                self.sessions.remove(&key);
                dropped += 1;
            }
        }
        dropped
    }
}

impl SessionCache {
    /// Of sessions that are kept for so many seconds.
    pub fn new(seconds: u64) -> SessionCache {
        let (kept, counts) = (Mutex::default(), Counts::default());
        SessionCache { lifetime: Duration::from_secs(seconds), kept, counts }
    }

    /// For how many seconds a session is kept.
    pub fn seconds(&self) -> u64 {
        self.lifetime.as_secs()
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.kept.lock().sessions.len()
    }

    fn count<T>(&self, found: Option<(bool, T)>) -> Option<T> {
        let is_there = matches!(found, Some((true, _)));
        let counter = if is_there { &self.counts.hits } else { &self.counts.misses };
        counter.fetch_add(1, Ordering::Relaxed);
        if matches!(found, Some((false, _))) {
            self.counts.timeouts.fetch_add(1, Ordering::Relaxed);
        }
        found.filter(|_| is_there).map(|(_, secret)| secret)
    }
}

impl StoresServerSessions for SessionCache {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        let mut kept = self.kept.lock();
        self.counts.overflows.fetch_add(kept.make_room(), Ordering::Relaxed);
        kept.ever += 1;
        let session = Session { number: kept.ever, ends: Instant::now() + self.lifetime, secret: value };
        kept.order.push_back((session.number, key.clone()));
        kept.sessions.insert(key, session);
        true
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        let kept = self.kept.lock();
        let found = kept.sessions.get(key);
        self.count(found.map(|session| (Instant::now() < session.ends, session.secret.clone())))
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        let taken = self.kept.lock().sessions.remove(key);
        self.count(taken.map(|session| (Instant::now() < session.ends, session.secret)))
    }

    fn can_cache(&self) -> bool {
        true
    }
}

impl fmt::Debug for SessionCache {
    /// Without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionCache").field("lifetime", &self.lifetime).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: usize) -> Vec<u8> {
        number.to_le_bytes().to_vec()
    }

    fn counted(counter: &AtomicU64) -> u64 {
        counter.load(Ordering::Relaxed)
    }

    #[test]
    fn a_session_is_found_until_it_is_taken() {
        let cache = SessionCache::new(60);
        assert!(cache.put(key(1), vec![1]));
        assert_eq!(cache.get(&key(1)), Some(vec![1]));
        assert_eq!(cache.take(&key(1)), Some(vec![1]));
        assert_eq!(cache.take(&key(1)), None);
        assert_eq!((counted(&cache.counts.hits), counted(&cache.counts.misses)), (2, 1));
    }

    #[test]
    fn an_old_session_is_not_given() {
        let cache = SessionCache::new(0);
        cache.put(key(1), vec![1]);
        assert_eq!(cache.get(&key(1)), None);
        assert_eq!((counted(&cache.counts.timeouts), counted(&cache.counts.misses)), (1, 1));
    }

    #[test]
    fn the_oldest_give_way() {
        let cache = SessionCache::new(60);
        cache.put(key(0), vec![0]);
        for number in 1..2 * MOST_SESSIONS {
            cache.put(key(number), vec![1]);
            // One that is put in again is as new as the others.
            cache.put(key(0), vec![0]);
        }
        assert!(cache.len() <= MOST_SESSIONS);
        assert_eq!(cache.get(&key(1)), None);
        assert_eq!(cache.get(&key(0)), Some(vec![0]));
        assert!(cache.get(&key(2 * MOST_SESSIONS - 1)).is_some());
        assert!(counted(&cache.counts.overflows) > 0);
    }
}
