//! ALGORITHM and LOCK of ALTER TABLE: whether MySQL could do so what the statement asks for.
//!
//! This engine has ways of its own to a new definition, all of them under an exclusive lock. A client that
//! writes `ALGORITHM=INSTANT` wants the statement refused rather than the table rebuilt, and what it may
//! count on is what InnoDB does: so the judgement is about InnoDB's ways, by what the statement changes.
//! [`Effects`] collects that while the actions are read, [`Request::judge`] compares it with what was asked
//! for.

use palisade_base::error_catalogue::{
    ER_ALTER_OPERATION_NOT_SUPPORTED, ER_ALTER_OPERATION_NOT_SUPPORTED_REASON,
    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_AUTOINC, ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE,
    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE_INSTANT,
    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COPY, ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK,
    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_RENAME, ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOPK,
    ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOT_NULL, ER_INNODB_MAX_ROW_VERSION, ER_UNKNOWN_ALTER_ALGORITHM,
    ER_UNKNOWN_ALTER_LOCK, ER_UNSUPPORTED_ALTER_INPLACE_ON_VIRTUAL_COLUMN, ER_WRONG_USAGE,
};
use palisade_base::{ErrorCode, mysql_error};
use palisade_parser::ast::{AlterAction, AlterTable};

use crate::SqlResult;

/// ALGORITHM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Default,
    Instant,
    Inplace,
    Copy,
}

/// LOCK.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lock {
    Default,
    None,
    Shared,
    Exclusive,
}

/// Why InnoDB cannot do something in a cheaper way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It can not, and does not say why.
    Unsaid,
    /// Columns that are generated and not stored are added, dropped or moved together with something else.
    Virtual,
    /// A column of AUTO_INCREMENT is added.
    AutoIncrement,
    /// A foreign key is added, and the rows are to be checked.
    ForeignKeyChecks,
    /// The primary key goes, and none comes.
    NoPrimaryKey,
    /// A column is to be NOT NULL, and `sql_mode` has NULL converted.
    NotNull,
    /// The type of a column changes.
    ColumnType,
}

impl Reason {
    /// MySQL's message; `instant`: of ALGORITHM=INSTANT.
    fn code(self, instant: bool) -> Option<&'static ErrorCode> {
        Some(match self {
            Reason::Unsaid => return None,
            Reason::Virtual => &ER_UNSUPPORTED_ALTER_INPLACE_ON_VIRTUAL_COLUMN,
            Reason::AutoIncrement => &ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_AUTOINC,
            Reason::ForeignKeyChecks => &ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK,
            Reason::NoPrimaryKey => &ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOPK,
            Reason::NotNull => &ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOT_NULL,
            Reason::ColumnType if instant => &ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE_INSTANT,
            Reason::ColumnType => &ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE,
        })
    }
}

/// The cheapest way in which MySQL makes a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effort {
    /// There is nothing to do but give the table another name.
    Name,
    /// The definition changes.
    Instant,
    /// InnoDB does it while others write.
    Inplace,
    /// InnoDB does it while others read.
    Locked(Reason),
    /// Rows are copied, because InnoDB cannot do it.
    Copied(Reason),
    /// Rows are copied, because the server checks or orders them.
    CopiedByServer,
}

/// What the actions of an ALTER TABLE amount to.
pub struct Effects {
    most: Effort,
    /// What InnoDB does not do together with columns that are virtual.
    not_with_virtual: bool,
    virtual_added: bool,
    virtual_dropped: bool,
    /// A virtual column comes that is not the last one, or goes from before another one.
    virtual_moved: bool,
    /// Columns that are in the rows come.
    column_added: bool,
    /// Columns that are in the rows go.
    column_dropped: bool,
    /// A column of a foreign key, of this table or another, gets another name.
    pub renames_foreign: bool,
    /// Columns come or go, and rows have as many versions as they may.
    pub out_of_versions: bool,
}

impl Effects {
    /// Of a statement without actions.
    pub fn none() -> Effects {
        Effects {
            most: Effort::Name,
            not_with_virtual: false,
            virtual_added: false,
            virtual_dropped: false,
            virtual_moved: false,
            column_added: false,
            column_dropped: false,
            renames_foreign: false,
            out_of_versions: false,
        }
    }

    /// Something is done that takes so much.
    pub fn note(&mut self, effort: Effort) {
        self.most = self.most.max(effort);
        self.not_with_virtual |= effort > Effort::Instant;
    }

    /// An index other than the primary key is added, dropped or renamed.
    pub fn note_index(&mut self, unique: bool) {
        self.most = self.most.max(Effort::Inplace);
        self.not_with_virtual |= unique;
    }

    /// A column gets another name.
    pub fn note_rename(&mut self) {
        self.most = self.most.max(Effort::Instant);
        self.not_with_virtual = true;
    }

    /// A column comes.
    pub fn note_added(&mut self, is_virtual: bool, is_last: bool) {
        self.most = self.most.max(Effort::Instant);
        self.virtual_added |= is_virtual;
        self.virtual_moved |= is_virtual && !is_last;
        self.column_added |= !is_virtual;
    }

    /// A column goes; is another virtual column behind it?
    pub fn note_dropped(&mut self, is_virtual: bool, is_last: bool) {
        self.most = self.most.max(Effort::Instant);
        self.virtual_dropped |= is_virtual;
        self.virtual_moved |= is_virtual && !is_last;
        self.column_dropped |= !is_virtual;
    }

    /// Values of virtual columns are to be validated.
    pub fn note_validation(&mut self) {
        self.most = self.most.max(Effort::Copied(Reason::Unsaid));
    }

    /// A column goes elsewhere.
    pub fn note_move(&mut self, is_virtual: bool) {
        self.note(if is_virtual { Effort::Copied(Reason::Virtual) } else { Effort::Inplace });
    }

    /// Whether columns that are virtual come or go together with others: InnoDB does both in its instant way
    /// only.
    fn virtual_with_others(&self) -> bool {
        (self.virtual_added || self.virtual_dropped) && (self.column_added || self.column_dropped)
    }

    /// Whether columns that are in the rows, to MySQL, come or go.
    pub fn changes_stored_columns(&self) -> bool {
        self.column_added || self.column_dropped
    }

    /// How much it is altogether.
    fn effort(&self) -> Effort {
        let Effects { virtual_added, virtual_dropped, virtual_moved, .. } = *self;
        let mixed = (virtual_added || virtual_dropped) && self.not_with_virtual
            || virtual_added && virtual_moved && !virtual_dropped
            || self.virtual_with_others() && self.most >= Effort::Inplace
            || virtual_dropped && virtual_moved && self.column_added;
        let own = match () {
            () if mixed => Effort::Copied(Reason::Virtual),
            () if virtual_dropped && virtual_moved && !self.column_dropped => Effort::Inplace,
            () => Effort::Name,
        };
        self.most.max(own)
    }

    /// Whether nothing changes but the table's name.
    pub fn is_name_only(&self) -> bool {
        self.effort() == Effort::Name
    }

    /// Whether MySQL copies the rows one by one, and says how many there were.
    pub fn copies(&self) -> bool {
        self.effort() >= Effort::Copied(Reason::Unsaid)
    }
}

/// What a statement asks for.
#[derive(Clone, Copy)]
pub struct Request {
    algorithm: Algorithm,
    lock: Lock,
}

impl Request {
    /// ALGORITHM and LOCK of a statement; of several the last one counts. 1221 if they do not go together, or
    /// if there is nothing to validate.
    pub fn of(statement: &AlterTable) -> SqlResult<Request> {
        let mut request = Request { algorithm: Algorithm::Default, lock: Lock::Default };
        for action in &statement.actions {
            match action {
                AlterAction::Algorithm(name) => request.algorithm = algorithm(name)?,
                AlterAction::Lock(name) => request.lock = lock(name)?,
                _ => {}
            }
        }
        let validates = |action: &AlterAction| matches!(action, AlterAction::Validation(_));
        let defines = |action: &AlterAction| {
            matches!(
                action,
                AlterAction::AddColumn { .. } | AlterAction::Modify { .. } | AlterAction::Change { .. }
            )
        };
        if statement.actions.iter().any(validates) && !statement.actions.iter().any(defines) {
            return Err(mysql_error!(ER_WRONG_USAGE, "ALTER", "WITH VALIDATION"));
        }
        if request.algorithm == Algorithm::Instant && request.lock != Lock::Default {
            return Err(mysql_error!(ER_WRONG_USAGE, "ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE"));
        }
        Ok(request)
    }

    /// Whether ALGORITHM=COPY was asked for.
    pub fn is_copy(self) -> bool {
        self.algorithm == Algorithm::Copy
    }

    /// Whether MySQL writes rows anew for columns that come or go.
    pub fn writes_rows(self) -> bool {
        matches!(self.algorithm, Algorithm::Inplace | Algorithm::Copy)
    }

    /// 1845 or 1846 if MySQL could not do so what has these effects, 4092 if not any more; `table` is its
    /// schema and name.
    pub fn judge(self, effects: &Effects, table: &str) -> SqlResult<()> {
        let effort = effects.effort();
        if self.is_copy() {
            return self.judge_copy(effects);
        }
        match effort {
            Effort::Name if matches!(self.lock, Lock::None | Lock::Shared) => {
                refuse("LOCK=NONE/SHARED", None, "LOCK=EXCLUSIVE")
            }
            Effort::CopiedByServer => match self.algorithm {
                Algorithm::Instant => refuse("ALGORITHM=INSTANT", None, "ALGORITHM=COPY"),
                Algorithm::Inplace => refuse("ALGORITHM=INPLACE", None, "ALGORITHM=COPY"),
                _ => self.judge_copy(effects),
            },
            _ if self.algorithm == Algorithm::Instant => judge_instant(effort, effects, table),
            _ => self.judge_inplace(effort, effects),
        }
    }

    fn judge_inplace(self, effort: Effort, effects: &Effects) -> SqlResult<()> {
        let is_inplace = self.algorithm == Algorithm::Inplace;
        let (reason, copied) = match effort {
            Effort::Copied(reason) => (reason, true),
            Effort::Locked(reason) => (reason, false),
            _ if is_inplace && effects.virtual_with_others() => (Reason::Virtual, true),
            _ => return Ok(()),
        };
        if copied && is_inplace {
            return refuse("ALGORITHM=INPLACE", reason.code(false), "ALGORITHM=COPY");
        }
        if self.lock == Lock::None {
            return refuse("LOCK=NONE", reason.code(false), "LOCK=SHARED");
        }
        if copied { self.judge_copy(effects) } else { Ok(()) }
    }

    fn judge_copy(self, effects: &Effects) -> SqlResult<()> {
        if effects.renames_foreign {
            let reason = Some(&ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_RENAME);
            return refuse("ALGORITHM=COPY", reason, "ALGORITHM=INPLACE");
        }
        if self.lock == Lock::None {
            let reason = Some(&ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COPY);
            return refuse("LOCK=NONE", reason, "LOCK=SHARED");
        }
        Ok(())
    }
}

fn judge_instant(effort: Effort, effects: &Effects, table: &str) -> SqlResult<()> {
    let reason = match effort {
        Effort::Name | Effort::Instant if effects.renames_foreign => {
            let reason = Some(&ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_RENAME);
            return refuse("ALGORITHM=INSTANT", reason, "ALGORITHM=INPLACE");
        }
        Effort::Name | Effort::Instant if effects.out_of_versions => {
            return Err(mysql_error!(ER_INNODB_MAX_ROW_VERSION, table));
        }
        Effort::Name | Effort::Instant => return Ok(()),
        Effort::Inplace | Effort::CopiedByServer => None,
        Effort::Locked(reason) | Effort::Copied(reason) => reason.code(true),
    };
    refuse("ALGORITHM=INSTANT", reason, "ALGORITHM=COPY/INPLACE")
}

fn refuse(asked: &str, reason: Option<&'static ErrorCode>, instead: &str) -> SqlResult<()> {
    Err(match reason {
        Some(reason) => {
            mysql_error!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, asked, reason.format, instead)
        }
        None => mysql_error!(ER_ALTER_OPERATION_NOT_SUPPORTED, asked, instead),
    })
}

fn algorithm(name: &str) -> SqlResult<Algorithm> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "DEFAULT" => Algorithm::Default,
        "INSTANT" => Algorithm::Instant,
        "INPLACE" => Algorithm::Inplace,
        "COPY" => Algorithm::Copy,
        _ => return Err(mysql_error!(ER_UNKNOWN_ALTER_ALGORITHM, name)),
    })
}

fn lock(name: &str) -> SqlResult<Lock> {
    Ok(match name.to_ascii_uppercase().as_str() {
        "DEFAULT" => Lock::Default,
        "NONE" => Lock::None,
        "SHARED" => Lock::Shared,
        "EXCLUSIVE" => Lock::Exclusive,
        _ => return Err(mysql_error!(ER_UNKNOWN_ALTER_LOCK, name)),
    })
}
