//! Privileges: their names, where each can be granted, and sets of them.

use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

/// A set of static privileges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Privileges(u32);

/// On how much a privilege can be granted: it can be at this level and at those above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// `*.*`.
    Global,
    /// `db.*`.
    Database,
    /// `db.table`.
    Table,
}

macro_rules! privileges {
    ($($symbol:ident = $bit:literal, $name:literal, $column:literal, $level:ident, $doc:literal;)*) => {
        impl Privileges {
            $(#[doc = $doc] pub const $symbol: Privileges = Privileges(1 << $bit);)*
        }

        /// Every static privilege, in the order in which SHOW GRANTS lists them.
        static DECLARED: &[Declared] = &[
            $(Declared { privilege: Privileges::$symbol, name: $name, column: $column, level: Level::$level },)*
        ];
    };
}

struct Declared {
    privilege: Privileges,
    name: &'static str,
    /// The column of mysql.user and mysql.db that holds it.
    column: &'static str,
    level: Level,
}

privileges! {
    SELECT = 0, "SELECT", "Select_priv", Table, "Reading rows.";
    INSERT = 1, "INSERT", "Insert_priv", Table, "Adding rows.";
    UPDATE = 2, "UPDATE", "Update_priv", Table, "Changing rows.";
    DELETE = 3, "DELETE", "Delete_priv", Table, "Removing rows.";
    CREATE = 4, "CREATE", "Create_priv", Table, "Making databases and tables.";
    DROP = 5, "DROP", "Drop_priv", Table, "Removing databases and tables.";
    RELOAD = 6, "RELOAD", "Reload_priv", Global, "FLUSH.";
    SHUTDOWN = 7, "SHUTDOWN", "Shutdown_priv", Global, "SHUTDOWN.";
    PROCESS = 8, "PROCESS", "Process_priv", Global, "Seeing what others do.";
    FILE = 9, "FILE", "File_priv", Global, "Reading and writing files of the server's machine.";
    REFERENCES = 10, "REFERENCES", "References_priv", Table, "Being the parent of a foreign key.";
    INDEX = 11, "INDEX", "Index_priv", Table, "Making and removing indexes.";
    ALTER = 12, "ALTER", "Alter_priv", Table, "ALTER TABLE.";
    SHOW_DATABASES = 13, "SHOW DATABASES", "Show_db_priv", Global, "Seeing every database.";
    SUPER = 14, "SUPER", "Super_priv", Global, "What has no privilege of its own.";
    CREATE_TEMPORARY_TABLES = 15, "CREATE TEMPORARY TABLES", "Create_tmp_table_priv", Database, "Making temporary tables.";
    LOCK_TABLES = 16, "LOCK TABLES", "Lock_tables_priv", Database, "LOCK TABLES.";
    EXECUTE = 17, "EXECUTE", "Execute_priv", Database, "Calling stored routines.";
    REPLICATION_SLAVE = 18, "REPLICATION SLAVE", "Repl_slave_priv", Global, "Reading the binary log.";
    REPLICATION_CLIENT = 19, "REPLICATION CLIENT", "Repl_client_priv", Global, "Asking about replication.";
    CREATE_VIEW = 20, "CREATE VIEW", "Create_view_priv", Table, "Making views.";
    SHOW_VIEW = 21, "SHOW VIEW", "Show_view_priv", Table, "SHOW CREATE VIEW.";
    CREATE_ROUTINE = 22, "CREATE ROUTINE", "Create_routine_priv", Database, "Making stored routines.";
    ALTER_ROUTINE = 23, "ALTER ROUTINE", "Alter_routine_priv", Database, "Changing and removing stored routines.";
    CREATE_USER = 24, "CREATE USER", "Create_user_priv", Global, "Making, changing and removing accounts.";
    EVENT = 25, "EVENT", "Event_priv", Database, "Making events.";
    TRIGGER = 26, "TRIGGER", "Trigger_priv", Table, "Making triggers.";
    CREATE_TABLESPACE = 27, "CREATE TABLESPACE", "Create_tablespace_priv", Global, "Making tablespaces.";
    CREATE_ROLE = 28, "CREATE ROLE", "Create_role_priv", Global, "Making roles.";
    DROP_ROLE = 29, "DROP ROLE", "Drop_role_priv", Global, "Removing roles.";
    GRANT_OPTION = 30, "GRANT OPTION", "Grant_priv", Table, "Giving what one has to others.";
}

/// Privileges that come by name, on `*.*` only. Those that this server asks for are said where it does; the others are
/// kept for tools that grant them.
pub const DYNAMIC: &[&str] = &[
    "ALLOW_NONEXISTENT_DEFINER",
    "APPLICATION_PASSWORD_ADMIN",
    "AUDIT_ABORT_EXEMPT",
    "AUDIT_ADMIN",
    "AUTHENTICATION_POLICY_ADMIN",
    "BACKUP_ADMIN",
    "BINLOG_ADMIN",
    "BINLOG_ENCRYPTION_ADMIN",
    "CLONE_ADMIN",
    "CONNECTION_ADMIN",
    "CREATE_SPATIAL_REFERENCE_SYSTEM",
    "ENCRYPTION_KEY_ADMIN",
    "FIREWALL_EXEMPT",
    "FLUSH_OPTIMIZER_COSTS",
    "FLUSH_PRIVILEGES",
    "FLUSH_STATUS",
    "FLUSH_TABLES",
    "FLUSH_USER_RESOURCES",
    "GROUP_REPLICATION_ADMIN",
    "GROUP_REPLICATION_STREAM",
    "INNODB_REDO_LOG_ARCHIVE",
    "INNODB_REDO_LOG_ENABLE",
    "MANAGE_DATA_MASKING_POLICY",
    "OPTIMIZE_LOCAL_TABLE",
    "PASSWORDLESS_USER_ADMIN",
    "PERSIST_RO_VARIABLES_ADMIN",
    "REPLICATION_APPLIER",
    "REPLICATION_SLAVE_ADMIN",
    "RESOURCE_GROUP_ADMIN",
    "RESOURCE_GROUP_USER",
    "ROLE_ADMIN",
    "SENSITIVE_VARIABLES_OBSERVER",
    "SERVICE_CONNECTION_ADMIN",
    "SESSION_VARIABLES_ADMIN",
    "SET_ANY_DEFINER",
    "SHOW_ROUTINE",
    "SYSTEM_USER",
    "SYSTEM_VARIABLES_ADMIN",
    "TABLE_ENCRYPTION_ADMIN",
    "TELEMETRY_LOG_ADMIN",
    "TRANSACTION_GTID_TAG",
    "XA_RECOVER_ADMIN",
];

impl Privileges {
    /// None.
    pub const NONE: Privileges = Privileges(0);

    /// All that can be granted at a level, GRANT OPTION not among them.
    pub fn all(level: Level) -> Privileges {
        let granted = DECLARED.iter().filter(|declared| declared.level >= level);
        let all = granted.fold(Privileges::NONE, |all, declared| all | declared.privilege);
        all & !Privileges::GRANT_OPTION
    }

    /// Those that can be granted on a column.
    pub const OF_COLUMNS: Privileges =
        Privileges(Self::SELECT.0 | Self::INSERT.0 | Self::UPDATE.0 | Self::REFERENCES.0);

    /// The privilege of that name (`CREATE USER`).
    pub fn named(name: &str) -> Option<Privileges> {
        DECLARED.iter().find(|declared| declared.name == name).map(|declared| declared.privilege)
    }

    /// Whether all of `other` are in it.
    pub fn has(self, other: Privileges) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in it.
    pub fn has_any(self, other: Privileges) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Names of those in it, GRANT OPTION not among them.
    pub fn names(self) -> Vec<&'static str> {
        let inside =
            |declared: &&Declared| self.has(declared.privilege) && declared.privilege != Self::GRANT_OPTION;
        DECLARED.iter().filter(inside).map(|declared| declared.name).collect()
    }

    /// The list of GRANT: names, or what stands for all or none of a level's.
    pub fn listed(self, level: Level) -> String {
        let plain = self & !Privileges::GRANT_OPTION;
        if plain.is_empty() {
            "USAGE".to_owned()
        } else if level != Level::Global && plain == Privileges::all(level) {
            "ALL PRIVILEGES".to_owned()
        } else {
            plain.names().join(", ")
        }
    }

    /// As a value of a SET column of mysql.tables_priv: `Select,Insert,Grant`.
    pub fn as_set(self) -> String {
        let member = |declared: &&Declared| self.has(declared.privilege) && declared.level == Level::Table;
        let names: Vec<String> = DECLARED.iter().filter(member).map(Declared::set_member).collect();
        names.join(",")
    }

    /// Reads what [`as_set`](Self::as_set) writes.
    pub fn from_set(text: &str) -> Privileges {
        let find = |name: &str| DECLARED.iter().find(|declared| declared.set_member() == name);
        text.split(',').filter_map(find).fold(Privileges::NONE, |all, declared| all | declared.privilege)
    }
}

/// The members of mysql.tables_priv.Table_priv.
pub fn set_members() -> Vec<String> {
    DECLARED.iter().filter(|declared| declared.level == Level::Table).map(Declared::set_member).collect()
}

impl Declared {
    /// Its name in the SET column of mysql.tables_priv: `Create View`, `Grant`.
    fn set_member(&self) -> String {
        let words = self.name.strip_suffix(" OPTION").unwrap_or(self.name).split(' ');
        let titled = words.map(|word| {
            let mut titled = word.to_ascii_lowercase();
            titled.get_mut(..1).map(str::make_ascii_uppercase);
            titled
        });
        titled.collect::<Vec<_>>().join(" ")
    }
}

/// Columns of mysql.user (`Level::Global`) or mysql.db (`Level::Database`), with the privilege each holds.
pub fn columns(level: Level) -> impl Iterator<Item = (&'static str, Privileges)> {
    DECLARED
        .iter()
        .filter(move |declared| declared.level >= level)
        .map(|declared| (declared.column, declared.privilege))
}

impl BitOr for Privileges {
    type Output = Privileges;

    fn bitor(self, other: Privileges) -> Privileges {
        Privileges(self.0 | other.0)
    }
}

impl BitAnd for Privileges {
    type Output = Privileges;

    fn bitand(self, other: Privileges) -> Privileges {
        Privileges(self.0 & other.0)
    }
}

impl Not for Privileges {
    type Output = Privileges;

    fn not(self) -> Privileges {
        Privileges(!self.0)
    }
}

impl fmt::Display for Privileges {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.names().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_has_the_privileges_that_mean_something_there() {
        assert!(Privileges::all(Level::Global).has(Privileges::SHUTDOWN | Privileges::SELECT));
        assert!(!Privileges::all(Level::Database).has_any(Privileges::SHUTDOWN));
        assert!(Privileges::all(Level::Database).has(Privileges::LOCK_TABLES));
        assert!(!Privileges::all(Level::Table).has_any(Privileges::LOCK_TABLES | Privileges::GRANT_OPTION));
    }

    #[test]
    fn lists_are_those_of_show_grants() {
        assert_eq!(Privileges::NONE.listed(Level::Global), "USAGE");
        assert_eq!((Privileges::INSERT | Privileges::SELECT).listed(Level::Table), "SELECT, INSERT");
        assert_eq!(Privileges::all(Level::Database).listed(Level::Database), "ALL PRIVILEGES");
        assert!(Privileges::all(Level::Global).listed(Level::Global).starts_with("SELECT, INSERT, UPDATE"));
    }

    #[test]
    fn sets_are_read_as_they_are_written() {
        let some = Privileges::SELECT | Privileges::CREATE_VIEW | Privileges::GRANT_OPTION;
        assert_eq!(some.as_set(), "Select,Create View,Grant");
        assert_eq!(Privileges::from_set(&some.as_set()), some);
        assert_eq!(Privileges::from_set(""), Privileges::NONE);
        let every = Privileges::all(Level::Table) | Privileges::GRANT_OPTION;
        assert_eq!(Privileges::from_set(&set_members().join(",")), every);
    }
}
