//! Connections and statements by account, by user and by host.
//!
//! ```text
//!   session ──ends, or TRUNCATE──▶ account ──TRUNCATE──▶ user, host ──TRUNCATE──▶ the server
//! ```
//!
//! What a session has counted is its own until then, so statements touch nothing here. A user's sums are
//! therefore those noted for the user, for its accounts, and those of its sessions; and so on.

use std::collections::BTreeMap;
use std::sync::Arc;

use palisade_observe::class::Class;
use palisade_observe::sums::Sums;
use parking_lot::Mutex;

use crate::connections::Connection;

/// Sums by class.
#[derive(Debug, Clone, Default)]
pub struct ClassSums(BTreeMap<Class, Sums>);

impl ClassSums {
    /// Adds others.
    pub fn merge<'a>(&mut self, others: impl IntoIterator<Item = (Class, &'a Sums)>) {
        others.into_iter().for_each(|(class, sums)| self.0.entry(class).or_default().merge(sums));
    }

    /// Each class with its sums.
    pub fn iter(&self) -> impl Iterator<Item = (Class, &Sums)> {
        self.0.iter().map(|(class, sums)| (*class, sums))
    }

    /// Of a class.
    pub fn of(&self, class: Class) -> Sums {
        self.0.get(&class).cloned().unwrap_or_default()
    }
}

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
    sums: ClassSums,
}

#[derive(Default)]
struct Noted {
    accounts: BTreeMap<AccountKey, Person>,
    users: BTreeMap<String, Person>,
    hosts: BTreeMap<String, Person>,
    /// Of no user any more.
    rest: ClassSums,
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
    pub sessions: Vec<(Arc<Connection>, Option<AccountKey>, ClassSums)>,
    accounts: BTreeMap<AccountKey, Person>,
    users: BTreeMap<String, Person>,
    hosts: BTreeMap<String, Person>,
    rest: ClassSums,
}

impl Noted {
    fn leave(&mut self, key: &AccountKey, sums: &ClassSums) {
        let persons =
            [self.accounts.get_mut(key), self.users.get_mut(&key.user), self.hosts.get_mut(&key.host)];
        persons.into_iter().flatten().for_each(|person| person.current = person.current.saturating_sub(1));
        self.accounts.entry(key.clone()).or_default().sums.merge(sums.iter());
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
    fn raise_accounts(&mut self) {
        for (key, account) in &mut self.accounts {
            let sums = std::mem::take(&mut account.sums);
            self.users.entry(key.user.clone()).or_default().sums.merge(sums.iter());
            self.hosts.entry(key.host.clone()).or_default().sums.merge(sums.iter());
        }
    }

    fn raise_users(&mut self) {
        for user in self.users.values_mut() {
            self.rest.merge(std::mem::take(&mut user.sums).iter());
        }
    }
}

fn taken(connection: &Connection) -> ClassSums {
    ClassSums(connection.events.lock().take_sums().into_iter().collect())
}

impl People {
    /// A connection has logged in as that, or logged out.
    pub fn changes(&self, connection: &Connection, key: Option<AccountKey>) {
        let mut noted = self.noted.lock();
        let mut known_as = connection.known_as.lock();
        if let Some(before) = known_as.take() {
            noted.leave(&before, &taken(connection));
        }
        if let Some(key) = &key {
            noted.enter(key);
        }
        *known_as = key;
    }

    /// TRUNCATE of a table of sums.
    pub fn reset(&self, connections: &[Arc<Connection>], reset: Reset) {
        let mut noted = self.noted.lock();
        for connection in connections {
            let sums = taken(connection);
            match &*connection.known_as.lock() {
                Some(key) => noted.accounts.entry(key.clone()).or_default().sums.merge(sums.iter()),
                None => noted.rest.merge(sums.iter()),
            }
        }
        if reset >= Reset::Accounts {
            noted.raise_accounts();
        }
        if matches!(reset, Reset::Users | Reset::All) {
            noted.raise_users();
        }
        if matches!(reset, Reset::Hosts | Reset::All) {
            noted.hosts.values_mut().for_each(|host| host.sums = ClassSums::default());
        }
        if reset == Reset::All {
            noted.rest = ClassSums::default();
        }
    }

    /// TRUNCATE of `accounts`, `users` or `hosts`: those who are not connected go, and of the others the
    /// connections that there are count. Sums go up before.
    pub fn forget(&self, connections: &[Arc<Connection>], reset: Reset) {
        self.reset(connections, reset);
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
            let mut sums = ClassSums::default();
            sums.merge(connection.events.lock().sums());
            (connection.clone(), connection.known_as.lock().clone(), sums)
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
    pub fn accounts(&self) -> Vec<(AccountKey, Person, ClassSums)> {
        let of = |(key, person): (&AccountKey, &Person)| {
            let mut sums = person.sums.clone();
            self.add_sessions(&mut sums, |known| known == key);
            (key.clone(), person.clone(), sums)
        };
        self.accounts.iter().map(of).collect()
    }

    /// Each user.
    pub fn users(&self) -> Vec<(String, Person, ClassSums)> {
        self.each(&self.users, |key, user| key.user == *user)
    }

    /// Each host.
    pub fn hosts(&self) -> Vec<(String, Person, ClassSums)> {
        self.each(&self.hosts, |key, host| key.host == *host)
    }

    /// Of the server.
    pub fn all(&self) -> ClassSums {
        let mut sums = self.rest.clone();
        self.users.values().for_each(|user| sums.merge(user.sums.iter()));
        self.accounts.values().for_each(|account| sums.merge(account.sums.iter()));
        self.sessions.iter().for_each(|(.., own)| sums.merge(own.iter()));
        sums
    }

    fn each(
        &self,
        persons: &BTreeMap<String, Person>,
        is_of: fn(&AccountKey, &String) -> bool,
    ) -> Vec<(String, Person, ClassSums)> {
        let of = |(name, person): (&String, &Person)| {
            let mut sums = person.sums.clone();
            let accounts = self.accounts.iter().filter(|(key, _)| is_of(key, name));
            accounts.for_each(|(_, account)| sums.merge(account.sums.iter()));
            self.add_sessions(&mut sums, |key| is_of(key, name));
            (name.clone(), person.clone(), sums)
        };
        persons.iter().map(of).collect()
    }

    fn add_sessions(&self, sums: &mut ClassSums, is_of: impl Fn(&AccountKey) -> bool) {
        let own = self.sessions.iter().filter(|(_, key, _)| key.as_ref().is_some_and(&is_of));
        own.for_each(|(.., own)| sums.merge(own.iter()));
    }
}
