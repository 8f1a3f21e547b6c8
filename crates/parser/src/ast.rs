//! The parse tree: plain data, nothing resolved.
//!
//! One file per family of statements: [`expr`], [`query`], [`dml`], [`ddl`], [`partition`], [`account`], [`admin`].
//! Names are kept as written, unquoted; whether they are compared with or without case is not known here. Every
//! expression prints itself ([`std::fmt::Display`]) in the style MySQL uses in SHOW CREATE and EXPLAIN: identifiers in
//! backquotes, each operation in its own parentheses.

#![allow(clippy::large_enum_variant, reason = "trees are short-lived: boxes would cost more than they save")]

pub mod account;
pub mod admin;
pub mod ddl;
pub mod dml;
pub mod expr;
mod name;
pub mod partition;
pub mod query;
mod visit;

pub use account::*;
pub use admin::*;
pub use ddl::*;
pub use dml::*;
pub use expr::*;
pub use partition::*;
pub use query::*;

/// An identifier without its quotes.
pub type Name = String;

/// A table, view, routine, event, trigger: anything that lives in a schema.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ObjectName {
    /// The schema; `None` is the session's default one.
    pub schema: Option<Name>,
    /// The object's own name.
    pub name: Name,
}

/// One statement.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "each variant is named after the statement it holds")]
pub enum Statement {
    /// Nothing but comments.
    Comment,

    // Queries and changes of rows.
    Query(Box<Query>),
    Insert(Box<Insert>),
    Update(Box<Update>),
    Delete(Box<Delete>),
    LoadData(Box<LoadData>),
    Do(Vec<Expr>),
    Call(Call),
    Handler(Box<Handler>),

    // Tables.
    CreateTable(Box<CreateTable>),
    AlterTable(Box<AlterTable>),
    DropTable(DropTable),
    RenameTable(Vec<(ObjectName, ObjectName)>),
    TruncateTable(ObjectName),
    CreateIndex(Box<CreateIndex>),
    DropIndex(DropIndex),

    // Other objects.
    CreateDatabase(CreateDatabase),
    AlterDatabase(AlterDatabase),
    DropDatabase(DropDatabase),
    CreateView(Box<CreateView>),
    DropView(DropView),
    CreateTrigger(Box<CreateTrigger>),
    CreateRoutine(Box<CreateRoutine>),
    AlterRoutine(AlterRoutine),
    CreateEvent(Box<CreateEvent>),
    AlterEvent(Box<AlterEvent>),
    DropStored(DropStored),
    Tablespace(Tablespace),
    CreateLoadableFunction(CreateLoadableFunction),
    Server(ServerStatement),

    // Accounts.
    CreateUser(Box<CreateUser>),
    AlterUser(Box<AlterUser>),
    DropUser(DropUser),
    RenameUser(Vec<(Account, Account)>),
    CreateRole(CreateRole),
    DropRole(DropUser),
    Grant(Box<Grant>),
    Revoke(Box<Revoke>),
    SetRole(RoleSelection),
    SetDefaultRole(SetDefaultRole),
    SetPassword(SetPassword),

    // Transactions and locks.
    StartTransaction(StartTransaction),
    Commit(Completion),
    Rollback(Completion),
    Savepoint(Name),
    RollbackToSavepoint(Name),
    ReleaseSavepoint(Name),
    SetTransaction(SetTransaction),
    Xa(Xa),
    LockTables(Vec<TableLock>),
    UnlockTables,
    LockInstance,
    UnlockInstance,

    // The session.
    Set(Vec<Assignment>),
    Use(Name),
    Show(Box<Show>),
    Describe(Describe),
    Explain(Box<Explain>),
    Help(Vec<u8>),
    Prepare(Prepare),
    Execute(Execute),
    Deallocate(Name),
    GetDiagnostics(GetDiagnostics),
    Signal(Signal),

    // Administration.
    TableMaintenance(TableMaintenance),
    Kill(Kill),
    Flush(Flush),
    Reset(Reset),
    Shutdown,
    Restart,
    Install(Install),
    Uninstall(Install),
    CacheIndex(CacheIndex),
    LoadIndex(LoadIndex),
    PurgeLogs(PurgeLogs),
    Binlog(Vec<u8>),
    Replication(Replication),
    Clone(CloneStatement),
    AlterInstance(AlterInstance),
    ResourceGroup(ResourceGroup),
    Binding(Box<Binding>),
    ImportTable(Vec<Vec<u8>>),
}
