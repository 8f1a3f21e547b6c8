//! All accounts as of a moment.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;

use super::password::Plugin;
use super::privilege::{DYNAMIC, Level, Privileges};
use crate::login::Peer;

/// `'user'@'host'`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountName {
    /// The user; empty matches every user.
    pub user: String,
    /// Where from: a name, an address, an address and a mask, or a pattern; in lower case.
    pub host: String,
}

impl AccountName {
    /// The name of an account for `user` from `host`.
    pub fn new(user: &str, host: &str) -> Self {
        AccountName { user: user.to_owned(), host: host.to_ascii_lowercase() }
    }

    /// Reads `user@host`, as `CURRENT_USER()` gives it.
    pub fn of_session(text: &str) -> Self {
        let (user, host) = text.rsplit_once('@').unwrap_or((text, "%"));
        AccountName { user: user.to_owned(), host: host.to_owned() }
    }
}

/// As messages show it: `'user'@'host'`.
impl fmt::Display for AccountName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "'{}'@'{}'", self.user, self.host)
    }
}

/// An account.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// Its name.
    pub name: AccountName,
    /// How a client proves to be it.
    pub plugin: Plugin,
    /// What is kept of its password; empty for no password.
    pub kept: Vec<u8>,
    /// Only clients with TLS (or the Unix socket) come in.
    pub requires_tls: bool,
    /// Nobody comes in.
    pub locked: bool,
    /// On everything.
    pub global: Privileges,
    /// Those that come by name, and whether it may grant them.
    pub dynamic: BTreeMap<String, bool>,
    /// On databases, by name or pattern.
    pub databases: BTreeMap<String, Privileges>,
    /// On tables, by database and name.
    pub tables: BTreeMap<(String, String), Privileges>,
    /// What COMMENT and ATTRIBUTE say of it: an object, as JSON's normal text.
    pub metadata: Option<String>,
}

impl Account {
    /// An account that may come in without a password and do nothing.
    pub fn new(name: AccountName) -> Self {
        Account {
            name,
            plugin: Plugin::CachingSha2,
            kept: Vec::new(),
            requires_tls: false,
            locked: false,
            global: Privileges::NONE,
            dynamic: BTreeMap::new(),
            databases: BTreeMap::new(),
            tables: BTreeMap::new(),
            metadata: None,
        }
    }

    /// The account of a fresh server: may do everything, from this machine, without a password.
    pub fn root() -> Self {
        Account {
            global: Privileges::all(Level::Global) | Privileges::GRANT_OPTION,
            dynamic: DYNAMIC.iter().map(|name| ((*name).to_owned(), true)).collect(),
            ..Account::new(AccountName::new("root", "localhost"))
        }
    }

    /// Whether there is nothing about databases and tables that it may not do.
    pub fn is_unrestricted(&self) -> bool {
        self.global.has(Privileges::all(Level::Global))
    }

    /// What it may do in a database as a whole.
    pub fn on_database(&self, database: &str) -> Privileges {
        let granted = self.databases.iter().filter(|(pattern, _)| matches_name(pattern, database));
        // the entry that says most about the name decides alone
        let closest = granted.max_by_key(|(pattern, _)| specificity(pattern));
        closest.map_or(self.global, |(_, privileges)| self.global | *privileges)
    }

    /// What it may do to a table.
    pub fn on_table(&self, database: &str, table: &str) -> Privileges {
        let own = self.tables.iter().find(|((schema, name), _)| schema == database && name == table);
        own.map_or(Privileges::NONE, |(_, privileges)| *privileges) | self.on_database(database)
    }

    /// Whether something is granted on the table itself, not on its database or everything.
    pub fn has_on_table_itself(&self, database: &str, table: &str) -> bool {
        self.tables.keys().any(|(schema, name)| schema == database && name == table)
    }

    /// Whether it may do anything at all in a database, or see all of them by SHOW DATABASES.
    pub fn sees_database(&self, database: &str) -> bool {
        self.uses_database(database) || self.global.has(Privileges::SHOW_DATABASES)
    }

    /// Whether it may do anything at all in a database: then it can be the default one of its sessions.
    pub fn uses_database(&self, database: &str) -> bool {
        let plain = !Privileges::GRANT_OPTION;
        !(self.on_database(database) & Privileges::all(Level::Database) & plain).is_empty()
            || self.tables.keys().any(|(schema, _)| schema == database)
    }

    /// Whether accounts without SYSTEM_USER may not touch it.
    pub fn is_system_user(&self) -> bool {
        self.dynamic.contains_key("SYSTEM_USER")
    }

    /// Whether it may do anything at all to a table.
    pub fn sees_table(&self, database: &str, table: &str) -> bool {
        self.on_table(database, table).has_any(Privileges::all(Level::Table))
    }

    /// Whether it has the privilege of that name, or SUPER, which stands for all of them.
    pub fn has_dynamic(&self, name: &str) -> bool {
        self.global.has(Privileges::SUPER) || self.dynamic.contains_key(name)
    }
}

/// How far the accounts in memory are those that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Completeness {
    /// They are.
    #[default]
    Whole,
    /// Rows of this table of the schema `mysql` could not be read.
    Lacks(&'static str),
    /// They were not read: `skip_grant_tables`.
    Skipped,
}

/// All accounts.
#[derive(Debug, Clone, Default)]
pub struct AccountTable {
    accounts: BTreeMap<AccountName, Account>,
    completeness: Completeness,
}

impl AccountTable {
    /// These accounts.
    pub fn new(accounts: Vec<Account>) -> Self {
        AccountTable {
            accounts: accounts.into_iter().map(|account| (account.name.clone(), account)).collect(),
            completeness: Completeness::Whole,
        }
    }

    /// What takes the place of the accounts with `skip_grant_tables`: one that everybody is, with the name
    /// that MySQL gives it.
    pub fn skipped() -> Self {
        let name = AccountName::new("skip-grants user", "skip-grants host");
        let all = AccountTable::new(vec![Account { name, ..Account::root() }]);
        AccountTable { completeness: Completeness::Skipped, ..all }
    }

    /// The account that everybody is, with `skip_grant_tables`.
    pub fn everybody(&self) -> Option<&Account> {
        match self.completeness {
            Completeness::Skipped => self.accounts.values().next(),
            Completeness::Whole | Completeness::Lacks(_) => None,
        }
    }

    /// How far these are the accounts that there are.
    pub fn completeness(&self) -> Completeness {
        self.completeness
    }

    /// Rows of `user` could not be read. One of them may have been the account that a client should get, so
    /// only those stay open that nothing goes before: with a user's name and a host without pattern or mask.
    pub(super) fn lacks_users(&mut self) {
        self.lacks("user");
        for account in self.accounts.values_mut() {
            account.locked |= account.name.user.is_empty() || host_rank(&account.name.host).0 < 2;
        }
    }

    /// Rows of `db` could not be read. Of the entries that match a database the closest counts alone, and may
    /// have been one of them, so only those stay that are closest in any case: names without pattern.
    pub(super) fn lacks_databases(&mut self) {
        self.lacks("db");
        for account in self.accounts.values_mut() {
            account.databases.retain(|pattern, _| specificity(pattern) == usize::MAX);
        }
    }

    /// Rows of a table could not be read whose rows do nothing but allow something: what they allowed is lost
    /// until it is repaired.
    pub(super) fn lacks(&mut self, table: &'static str) {
        if self.completeness == Completeness::Whole {
            self.completeness = Completeness::Lacks(table);
        }
    }

    /// The account of that name.
    pub fn get(&self, name: &AccountName) -> Option<&Account> {
        self.accounts.get(name)
    }

    /// The same, for a change.
    pub fn get_mut(&mut self, name: &AccountName) -> Option<&mut Account> {
        self.accounts.get_mut(name)
    }

    /// Adds an account, or replaces the one of that name.
    pub fn put(&mut self, account: Account) {
        self.accounts.insert(account.name.clone(), account);
    }

    /// Removes an account.
    pub fn remove(&mut self, name: &AccountName) -> Option<Account> {
        self.accounts.remove(name)
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Account> {
        self.accounts.values()
    }

    /// The account that a client who calls itself `user` and comes from `peer` logs in to: of those that match, the one
    /// with the most specific host, and of these the one with a user.
    pub fn find(&self, user: &str, peer: Peer) -> Option<&Account> {
        let matching = self.accounts.values().filter(|account| {
            (account.name.user == user || account.name.user.is_empty())
                && matches_peer(&account.name.host, peer)
        });
        matching.max_by_key(|account| (host_rank(&account.name.host), !account.name.user.is_empty()))
    }
}

/// How much a host says: addresses and names most, then addresses with a mask, then patterns.
fn host_rank(host: &str) -> (u8, usize) {
    if host.contains('/') {
        (1, 0)
    } else if host.contains(['%', '_']) || host.is_empty() {
        (0, specificity(host))
    } else {
        (2, 0)
    }
}

/// How many characters of a pattern stand before its first wildcard.
fn specificity(pattern: &str) -> usize {
    let mut escaped = false;
    for (at, c) in pattern.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '%' | '_' => return at,
            _ => {}
        }
    }
    usize::MAX
}

fn matches_peer(host: &str, peer: Peer) -> bool {
    let names_of_here = ["localhost"];
    let address = match peer {
        Peer::Local => None,
        Peer::Remote(address) => Some(address.to_canonical()),
    };
    if peer.is_this_machine() && names_of_here.iter().any(|name| matches_host_pattern(host, name)) {
        return true;
    }
    let Some(address) = address else { return false };
    match host.split_once('/') {
        Some((network, mask)) => in_network(address, network, mask),
        None => matches_host_pattern(host, &address.to_string()),
    }
}

/// An empty host is `%`.
fn matches_host_pattern(pattern: &str, host: &str) -> bool {
    pattern.is_empty() || matches_name(pattern, host)
}

/// `198.51.100.0/255.255.255.0` and `198.51.100.0/24`.
fn in_network(address: IpAddr, network: &str, mask: &str) -> bool {
    match (address, network.parse()) {
        (IpAddr::V4(address), Ok(IpAddr::V4(network))) => {
            let mask = match (mask.parse::<u32>(), mask.parse::<std::net::Ipv4Addr>()) {
                (Ok(bits @ 0..=32), _) => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
                (_, Ok(mask)) => mask.to_bits(),
                _ => return false,
            };
            address.to_bits() & mask == network.to_bits()
        }
        (IpAddr::V6(address), Ok(IpAddr::V6(network))) => {
            let Ok(bits @ 0..=128) = mask.parse::<u32>() else { return false };
            let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
            address.to_bits() & mask == network.to_bits()
        }
        _ => false,
    }
}

/// Whether `name` matches a pattern of `%`, `_` and `\`.
fn matches_name(pattern: &str, name: &str) -> bool {
    let collation = palisade_catalog::CollationId::UTF8MB4_BIN.get();
    collation.like(name.as_bytes(), pattern.as_bytes(), b"\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(user: &str, host: &str) -> Account {
        Account::new(AccountName::new(user, host))
    }

    fn remote(text: &str) -> Peer {
        Peer::Remote(text.parse().unwrap())
    }

    #[test]
    fn a_client_gets_the_most_specific_account() {
        let table = AccountTable::new(vec![
            named("app", "%"),
            named("app", "10.0.%"),
            named("app", "10.0.0.7"),
            named("app", "10.0.0.0/255.255.255.0"),
            named("", "localhost"),
            named("app", "localhost"),
            named("v6", "2001:db8::/32"),
        ]);
        let host = |user: &str, peer| table.find(user, peer).map(|account| account.name.to_string());
        assert_eq!(host("app", remote("10.0.0.7")).as_deref(), Some("'app'@'10.0.0.7'"));
        assert_eq!(host("app", remote("10.0.0.8")).as_deref(), Some("'app'@'10.0.0.0/255.255.255.0'"));
        assert_eq!(host("app", remote("10.0.1.8")).as_deref(), Some("'app'@'10.0.%'"));
        assert_eq!(host("app", remote("192.0.2.1")).as_deref(), Some("'app'@'%'"));
        assert_eq!(host("app", Peer::Local).as_deref(), Some("'app'@'localhost'"));
        assert_eq!(host("app", remote("127.0.0.1")).as_deref(), Some("'app'@'localhost'"));
        assert_eq!(host("other", Peer::Local).as_deref(), Some("''@'localhost'"));
        assert_eq!(host("other", remote("192.0.2.1")), None);
        assert_eq!(host("v6", remote("2001:db8::5")).as_deref(), Some("'v6'@'2001:db8::/32'"));
        assert_eq!(host("v6", remote("2001:db9::5")), None);
    }

    /// What the rows that are lost might have said is not decided against them.
    #[test]
    fn accounts_that_lost_rows_could_go_before_are_closed() {
        let names = [
            ("app", "%"),
            ("app", "10.0.0.7"),
            ("app", "10.0.0.0/24"),
            ("", "localhost"),
            ("root", "localhost"),
        ];
        let mut table = AccountTable::new(names.map(|(user, host)| named(user, host)).into());
        table.lacks_users();
        let is_open = |user: &str, peer| table.find(user, peer).is_some_and(|account| !account.locked);
        assert!(is_open("root", Peer::Local) && is_open("app", remote("10.0.0.7")));
        assert!(!is_open("app", remote("10.0.0.8")) && !is_open("app", remote("192.0.2.1")));
        assert!(!is_open("other", Peer::Local));
        assert_eq!(table.completeness(), Completeness::Lacks("user"));
        let mut account = named("app", "10.0.0.7");
        account.databases.insert("shop".into(), Privileges::SELECT);
        account.databases.insert(r"a\_b".into(), Privileges::SELECT);
        account.databases.insert("sh%".into(), Privileges::SELECT);
        table.put(account);
        table.lacks_databases();
        let account = table.find("app", remote("10.0.0.7")).unwrap();
        assert!(
            account.on_database("shop").has(Privileges::SELECT)
                && account.on_database("a_b").has(Privileges::SELECT)
        );
        assert!(!account.on_database("ship").has(Privileges::SELECT));
        assert_eq!(table.completeness(), Completeness::Lacks("user"), "the first is named");
    }

    #[test]
    fn root_comes_from_this_machine_only() {
        let table = AccountTable::new(vec![Account::root()]);
        for here in [Peer::Local, remote("127.0.0.1"), remote("::1"), remote("::ffff:127.0.0.1")] {
            assert!(table.find("root", here).is_some());
        }
        assert!(table.find("root", remote("10.0.0.7")).is_none());
        assert!(table.find("admin", Peer::Local).is_none());
    }

    #[test]
    fn privileges_add_up_from_everything_to_the_table() {
        let mut account = named("app", "%");
        account.global = Privileges::PROCESS;
        account.databases.insert("shop".into(), Privileges::SELECT | Privileges::INSERT);
        account.databases.insert("sh%".into(), Privileges::DROP);
        account.databases.insert(r"a\_b".into(), Privileges::SELECT);
        account.tables.insert(("other".into(), "t".into()), Privileges::UPDATE);
        assert!(account.on_database("shop").has(Privileges::SELECT | Privileges::PROCESS));
        assert!(!account.on_database("shop").has(Privileges::DROP), "the closest entry decides alone");
        assert!(account.on_database("ship").has(Privileges::DROP));
        assert!(account.on_database("a_b").has(Privileges::SELECT));
        assert!(!account.on_database("axb").has(Privileges::SELECT));
        assert!(account.on_table("other", "t").has(Privileges::UPDATE));
        assert!(!account.on_table("other", "u").has(Privileges::UPDATE));
        assert!(account.sees_database("other") && !account.sees_database("mysql"));
        assert!(account.sees_table("other", "t") && !account.sees_table("other", "u"));
    }
}
