//! Of which tables the use is counted, and of which threads events are collected: `setup_objects` and
//! `setup_threads`.
//!
//! The most exact row about a table counts: one of its own, or of its schema, or of all. A table of which the
//! use is not counted shows 0. Its counters go on, because to ask each time would cost every statement
//! something; they begin at 0 when it is counted again.

use std::sync::atomic::{AtomicBool, Ordering};

use palisade_engine::{Engine, Table};
use parking_lot::Mutex;

/// Kinds of objects, in MySQL's order.
pub const OBJECT_TYPES: [&str; 5] = ["EVENT", "FUNCTION", "PROCEDURE", "TABLE", "TRIGGER"];

/// A row of `setup_objects`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRule {
    /// What kind of objects it is about.
    pub object_type: String,
    /// Their schema, or `%`.
    pub schema: String,
    /// Their name, or `%`.
    pub name: String,
    /// What they do is counted.
    pub is_enabled: bool,
    /// And measured.
    pub is_timed: bool,
}

impl ObjectRule {
    /// Whether it is about the same objects.
    pub fn is(&self, other: &ObjectRule) -> bool {
        self.object_type == other.object_type && self.schema == other.schema && self.name == other.name
    }
}

/// All rows of `setup_objects`.
pub struct Objects {
    rules: Mutex<Vec<ObjectRule>>,
}

impl Default for Objects {
    fn default() -> Self {
        let schemas =
            [("mysql", false), ("performance_schema", false), ("information_schema", false), ("%", true)];
        let rules = OBJECT_TYPES.iter().flat_map(|object_type| {
            schemas.map(|(schema, on)| ObjectRule {
                object_type: (*object_type).to_owned(),
                schema: schema.to_owned(),
                name: "%".to_owned(),
                is_enabled: on,
                is_timed: on,
            })
        });
        Objects { rules: Mutex::new(rules.collect()) }
    }
}

fn counts(rules: &[ObjectRule], schema: &str, name: &str) -> bool {
    let fits = |given: &str, own: &str| given == "%" || given == own;
    let fitting = rules
        .iter()
        .filter(|rule| rule.object_type == "TABLE" && fits(&rule.schema, schema) && fits(&rule.name, name));
    let best = fitting.max_by_key(|rule| (rule.schema != "%", rule.name != "%"));
    best.is_some_and(|rule| rule.is_enabled)
}

impl Objects {
    /// Its rows.
    pub fn all(&self) -> Vec<ObjectRule> {
        self.rules.lock().clone()
    }

    /// Whether the use of a table is counted.
    pub fn counts(&self, table: &Table) -> bool {
        counts(&self.rules.lock(), &table.schema, &table.name)
    }

    /// Changes the rows. Tables that are counted from now on begin at 0.
    pub fn change<T>(&self, engine: &Engine, change: impl FnOnce(&mut Vec<ObjectRule>) -> T) -> T {
        let mut rules = self.rules.lock();
        let before = rules.clone();
        let done = change(&mut rules);
        let dictionary = engine.dictionary();
        for table in dictionary.all_tables() {
            let is_counted = |rules: &[ObjectRule]| counts(rules, &table.schema, &table.name);
            if is_counted(&rules) && !is_counted(&before) {
                table.usage().reset_rows();
                table.usage().reset_uses();
            }
        }
        done
    }
}

/// A kind of threads: a row of `setup_threads`.
pub struct ThreadClass {
    /// MySQL's name of it, if MySQL has such a thread.
    pub name: &'static str,
    /// What its threads' names begin with in the operating system; none of those that serve connections,
    /// which are tasks here.
    begins: &'static str,
    /// There is one.
    pub is_single: bool,
    is_enabled: AtomicBool,
    has_history: AtomicBool,
}

const fn class(name: &'static str, begins: &'static str, is_single: bool) -> ThreadClass {
    let (is_enabled, has_history) = (AtomicBool::new(true), AtomicBool::new(true));
    ThreadClass { name, begins, is_single, is_enabled, has_history }
}

impl ThreadClass {
    /// Whether what new threads do is collected, or their last events kept.
    pub fn says(&self, of_history: bool) -> bool {
        if of_history { &self.has_history } else { &self.is_enabled }.load(Ordering::Relaxed)
    }

    /// Sets that; whether it was a change.
    pub fn set(&self, of_history: bool, on: bool) -> bool {
        if of_history { &self.has_history } else { &self.is_enabled }.swap(on, Ordering::Relaxed) != on
    }
}

/// The kinds of threads of a server.
pub struct ThreadClasses(Vec<ThreadClass>);

impl Default for ThreadClasses {
    fn default() -> Self {
        ThreadClasses(vec![
            class("thread/sql/main", "palisade", true),
            class("thread/sql/one_connection", "", false),
            class("thread/sql/signal_handler", "signals", true),
            class("thread/innodb/buf_dump_thread", "buffer-pool-load", true),
            class("thread/innodb/io_read_thread", "io-reads", false),
            class("thread/innodb/io_write_thread", "io-", false),
            class("thread/innodb/log_flusher_thread", "log-flusher", true),
            class("thread/innodb/log_writer_thread", "log-writer", true),
            class("thread/innodb/page_flush_coordinator_thread", "page-cleaner-0", true),
            class("thread/innodb/page_flush_thread", "page-cleaner-", false),
            class("thread/innodb/srv_purge_thread", "purge-0", true),
            class("thread/innodb/srv_worker_thread", "purge-", false),
            class("thread/innodb/trx_recovery_rollback_thread", "rollback", true),
            class("thread/palisade/computing", "compute-", false),
            class("thread/palisade/watchdog", "watchdog", true),
            class("thread/palisade/worker", "worker-", false),
        ])
    }
}

impl ThreadClasses {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &ThreadClass> {
        self.0.iter()
    }

    /// That of connections.
    pub fn of_connections(&self) -> Option<&ThreadClass> {
        self.0.iter().find(|class| class.begins.is_empty())
    }

    /// The class of a thread of that name.
    fn of(&self, thread: &str) -> Option<&ThreadClass> {
        self.0.iter().find(|class| !class.begins.is_empty() && thread.starts_with(class.begins))
    }

    /// The threads that there are, other than those of connections, with the operating system's numbers of
    /// them. None where the operating system does not tell.
    pub fn running(&self) -> Vec<(u64, &ThreadClass)> {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
        let of = |task: std::fs::DirEntry| {
            let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
            let number = task.file_name().to_str()?.parse().ok()?;
            Some((number, self.of(name.trim_end())?))
        };
        let mut running: Vec<_> = tasks.flatten().filter_map(of).collect();
        running.sort_by_key(|(number, _)| *number);
        running
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_exact_row_counts() {
        let mut rules = Objects::default().all();
        assert!(counts(&rules, "test", "t") && !counts(&rules, "mysql", "user"));
        let rule = |schema: &str, name: &str, is_enabled| ObjectRule {
            object_type: "TABLE".to_owned(),
            schema: schema.to_owned(),
            name: name.to_owned(),
            is_enabled,
            is_timed: true,
        };
        rules.push(rule("test", "%", false));
        assert!(!counts(&rules, "test", "t") && counts(&rules, "other", "t"));
        rules.push(rule("test", "t", true));
        assert!(counts(&rules, "test", "t") && !counts(&rules, "test", "u"));
        assert!(!counts(&[], "test", "t"));
    }

    #[test]
    fn threads_are_known_by_their_names() {
        let classes = ThreadClasses::default();
        let name = |thread| classes.of(thread).map(|class| class.name);
        assert_eq!(name("page-cleaner-0"), Some("thread/innodb/page_flush_coordinator_thread"));
        assert_eq!(name("page-cleaner-3"), Some("thread/innodb/page_flush_thread"));
        assert_eq!(name("io-reads"), Some("thread/innodb/io_read_thread"));
        assert_eq!(name("purge-1"), Some("thread/innodb/srv_worker_thread"));
        assert_eq!(name("iou-wrk-540"), None);
        assert_eq!(classes.of_connections().map(|class| class.name), Some("thread/sql/one_connection"));
    }
}
