//! Connections, and what they have counted, by account, by user and by host.
//!
//! ```text
//!   session ──ends, or TRUNCATE──▶ account ──TRUNCATE──▶ user, host ──TRUNCATE──▶ the server
//! ```
//!
//! What a session has counted is its own until then, so statements touch nothing here. A user's sums are
//! therefore those noted for the user, for its accounts, and those of its sessions; and so on.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_observe::tally::{Family, Tally};
use parking_lot::Mutex;

use crate::connections::Connection;

/// As long as there are no more accounts, also those are noted of which no client has ever logged in.
const MOST_ACCOUNTS: usize = 10_000;

/// A user and a host.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct AccountKey {
    /// The user that the client logged in as.
    pub user: String,
    /// Where the client is.
    pub host: String,
}

/// An account, a user or a host.
#[derive(Debug, Clone, Default)]
pub struct Person {
    /// Connections that there are.
    pub current: u64,
    /// Connections that there were.
    pub total: u64,
    tally: Tally,
}

#[derive(Default)]
struct Noted {
    accounts: BTreeMap<AccountKey, Person>,
    users: BTreeMap<String, Person>,
    hosts: BTreeMap<String, Person>,
    /// Of no user any more.
    rest: Tally,
}

/// Accounts that have been connected since the server began, or since TRUNCATE.
#[derive(Default)]
pub struct People {
    noted: Mutex<Noted>,
}

/// How far sums go up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reset {
    /// Those of sessions begin anew.
    Sessions,
    /// Those of accounts, too.
    Accounts,
    /// And of users.
    Users,
    /// And of hosts, but not of users.
    Hosts,
    /// All of them.
    All,
}

/// The sums of a server, as they were at a moment.
pub struct Overview {
    /// Of each session, with what it is connected as.
    pub sessions: Vec<(Arc<Connection>, Option<AccountKey>, Tally)>,
    accounts: BTreeMap<AccountKey, Person>,
    users: BTreeMap<String, Person>,
    hosts: BTreeMap<String, Person>,
    rest: Tally,
}

impl Noted {
    fn add(&mut self, key: &AccountKey, tally: &Tally) {
        self.accounts.entry(key.clone()).or_default().tally.merge(tally);
    }

    fn leave(&mut self, key: &AccountKey) {
        let persons =
            [self.accounts.get_mut(key), self.users.get_mut(&key.user), self.hosts.get_mut(&key.host)];
        persons.into_iter().flatten().for_each(|person| person.current = person.current.saturating_sub(1));
    }

    fn enter(&mut self, key: &AccountKey) {
        for person in [
            self.accounts.entry(key.clone()).or_default(),
            self.users.entry(key.user.clone()).or_default(),
            self.hosts.entry(key.host.clone()).or_default(),
        ] {
            person.current += 1;
            person.total += 1;
        }
    }

    /// The sums of accounts become those of users and hosts.
    fn raise_accounts(&mut self, family: Family) {
        for (key, account) in &mut self.accounts {
            let tally = account.tally.take(family);
            self.users.entry(key.user.clone()).or_default().tally.merge(&tally);
            self.hosts.entry(key.host.clone()).or_default().tally.merge(&tally);
        }
    }

    fn raise_users(&mut self, family: Family) {
        for user in self.users.values_mut() {
            self.rest.merge(&user.tally.take(family));
        }
    }
}

impl People {
    /// A connection has logged in as that, or logged out.
    pub fn changes(&self, connection: &Connection, key: Option<AccountKey>) {
        let mut noted = self.noted.lock();
        let mut known_as = connection.known_as.lock();
        if let Some(before) = known_as.take() {
            let mut events = connection.events.lock();
            Family::ALL.iter().for_each(|family| noted.add(&before, &events.take(*family)));
            drop(events);
            noted.leave(&before);
        }
        if let Some(key) = &key {
            noted.enter(key);
        }
        *known_as = key;
    }

    /// A client that claims to be that was refused with an error of that number, which is counted if
    /// `counts`.
    pub fn refuse(&self, key: &AccountKey, number: u16, now_ns: u64, counts: bool) {
        let mut noted = self.noted.lock();
        let is_known = noted.accounts.contains_key(key);
        if !is_known && noted.accounts.len() >= MOST_ACCOUNTS {
            // Clients may claim to be anything: no more names are kept for them.
            if counts {
                noted.rest.errors.add(number, now_ns);
            }
            return;
        }
        noted.enter(key);
        noted.leave(key);
        if counts {
            noted.accounts.entry(key.clone()).or_default().tally.errors.add(number, now_ns);
        }
    }

    /// TRUNCATE of a table of sums of that family.
    pub fn reset(&self, connections: &[Arc<Connection>], family: Family, reset: Reset) {
        let mut noted = self.noted.lock();
        for connection in connections {
            let tally = connection.events.lock().take(family);
            match &*connection.known_as.lock() {
                Some(key) => noted.add(key, &tally),
                None => noted.rest.merge(&tally),
            }
        }
        if reset >= Reset::Accounts {
            noted.raise_accounts(family);
        }
        if matches!(reset, Reset::Users | Reset::All) {
            noted.raise_users(family);
        }
        if matches!(reset, Reset::Hosts | Reset::All) {
            noted.hosts.values_mut().for_each(|host| drop(host.tally.take(family)));
        }
        if reset == Reset::All {
            noted.rest.take(family);
        }
    }

    /// TRUNCATE of `accounts`, `users` or `hosts`: those who are not connected go, and of the others the
    /// connections that there are count. Sums go up before.
    pub fn forget(&self, connections: &[Arc<Connection>], reset: Reset) {
        Family::ALL.iter().for_each(|family| self.reset(connections, *family, reset));
        let mut noted = self.noted.lock();
        let keep = |person: &mut Person| {
            person.total = person.current;
            person.current > 0
        };
        match reset {
            Reset::Users => noted.users.retain(|_, person| keep(person)),
            Reset::Hosts => noted.hosts.retain(|_, person| keep(person)),
            _ => noted.accounts.retain(|_, person| keep(person)),
        }
    }

    /// What all have counted.
    pub fn overview(&self, connections: &[Arc<Connection>]) -> Overview {
        let noted = self.noted.lock();
        let of = |connection: &Arc<Connection>| {
            let tally = connection.events.lock().tally();
            (connection.clone(), connection.known_as.lock().clone(), tally)
        };
        Overview {
            sessions: connections.iter().map(of).collect(),
            accounts: noted.accounts.clone(),
            users: noted.users.clone(),
            hosts: noted.hosts.clone(),
            rest: noted.rest.clone(),
        }
    }
}

impl Overview {
    /// Each account.
    pub fn accounts(&self) -> Vec<(AccountKey, Person, Tally)> {
        let of = |(key, person): (&AccountKey, &Person)| {
            let mut tally = person.tally.clone();
            self.add_sessions(&mut tally, |known| known == key);
            (key.clone(), person.clone(), tally)
        };
        self.accounts.iter().map(of).collect()
    }

    /// Each user.
    pub fn users(&self) -> Vec<(String, Person, Tally)> {
        self.each(&self.users, |key, user| key.user == *user)
    }

    /// Each host.
    pub fn hosts(&self) -> Vec<(String, Person, Tally)> {
        self.each(&self.hosts, |key, host| key.host == *host)
    }

    /// Of the server.
    pub fn all(&self) -> Tally {
        let mut tally = self.rest.clone();
        self.users.values().for_each(|user| tally.merge(&user.tally));
        self.accounts.values().for_each(|account| tally.merge(&account.tally));
        self.sessions.iter().for_each(|(.., own)| tally.merge(own));
        tally
    }

    fn each(
        &self,
        persons: &BTreeMap<String, Person>,
        is_of: fn(&AccountKey, &String) -> bool,
    ) -> Vec<(String, Person, Tally)> {
        let of = |(name, person): (&String, &Person)| {
            let mut tally = person.tally.clone();
            let accounts = self.accounts.iter().filter(|(key, _)| is_of(key, name));
            accounts.for_each(|(_, account)| tally.merge(&account.tally));
            self.add_sessions(&mut tally, |key| is_of(key, name));
            (name.clone(), person.clone(), tally)
        };
        persons.iter().map(of).collect()
    }

    fn add_sessions(&self, tally: &mut Tally, is_of: impl Fn(&AccountKey) -> bool) {
        let own = self.sessions.iter().filter(|(_, key, _)| key.as_ref().is_some_and(&is_of));
        own.for_each(|(.., own)| tally.merge(own));
    }
}
