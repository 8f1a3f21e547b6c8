//! Bindings: hints that statements are planned by whose text cannot be changed.
//!
//! ```sql
//! CREATE GLOBAL BINDING FOR SELECT * FROM t WHERE a = 1 AND b = 2
//!     USING SELECT /*+ INDEX(t b) */ * FROM t WHERE a = 1 AND b = 2
//! ```
//!
//! A statement is known by its digest and by the default database: constants, spaces and hints are no part of
//! it. Bindings are rows of `mysql.palisade_bindings`, which the first one makes; the texts are parsed when
//! the server starts, and all bindings are read again after each change.
//!
//! They are looked up when a plan is made, and only then: a plan that is kept was made by them already, since
//! a change of bindings [outdates](palisade_engine::Engine::outdate_plans) all plans. So executing a plan
//! costs nothing for them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::Value;
use palisade_expr::error::not_supported;
use palisade_parser::digest::digest_text;
use palisade_parser::{Hint, ParseOptions, ast};
use palisade_plan::bind::hints::StatementHints;

use crate::explain::Explained;
use crate::sql::{Sql, parse_options};
use crate::{Completion, InternalSession, Session, SqlResult, hints};

/// Bytes of a digest's text, at most: longer statements have no bindings.
const LONGEST_DIGEST: usize = 1 << 16;

const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS mysql.palisade_bindings (
    digest CHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    default_db VARCHAR(64) COLLATE utf8mb4_bin NOT NULL,
    digest_text LONGTEXT NOT NULL,
    statement LONGTEXT NOT NULL,
    using_statement LONGTEXT NOT NULL,
    created TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    PRIMARY KEY (digest, default_db))";

/// What a statement is known by: the default database, empty for none, and the text of its digest.
type Identity = (String, Vec<u8>);

/// The hints of each binding.
type Known = HashMap<Identity, Arc<[Hint]>>;

/// The bindings of a server.
#[derive(Default)]
pub(crate) struct Bindings {
    has_any: AtomicBool,
    by_identity: RwLock<Known>,
}

impl Bindings {
    /// Whether there is any.
    pub(crate) fn has_any(&self) -> bool {
        self.has_any.load(Ordering::Relaxed)
    }

    fn find(&self, session: &Session, text: &[u8]) -> Option<Arc<[Hint]>> {
        let identity = identity(session.state.database.as_deref(), text, &parse_options(session))?;
        let known = self.by_identity.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&identity).cloned()
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.by_identity.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes this the hints of a statement, or takes them away. Gives those that it had.
    fn put(&self, identity: &Identity, hints: Option<Arc<[Hint]>>) -> Option<Arc<[Hint]>> {
        let mut known = self.write();
        let before = match hints {
            Some(hints) => known.insert(identity.clone(), hints),
            None => known.remove(identity),
        };
        self.has_any.store(!known.is_empty(), Ordering::Relaxed);
        before
    }
}

/// What takes the place of a session's hints while a statement is planned.
pub(crate) struct OwnHints(Option<StatementHints>);

impl Sql {
    /// If the statement of this text is bound, has the session's statement planned by the binding's hints
    /// until [`leave_binding`](Self::leave_binding) is given what comes back.
    pub(crate) fn enter_binding(&self, session: &mut Session, text: Option<&[u8]>) -> Option<OwnHints> {
        if !self.bindings.has_any() {
            return None;
        }
        let hints = self.bindings.find(session, text?)?;
        let bound = StatementHints::new(&hints);
        Some(OwnHints(std::mem::replace(&mut session.block_hints, bound)))
    }

    /// The session's statement has its own hints again.
    pub(crate) fn leave_binding(&self, session: &mut Session, own: Option<OwnHints>) {
        if let Some(OwnHints(own)) = own {
            session.block_hints = own;
        }
    }

    /// CREATE BINDING and DROP BINDING.
    pub(crate) async fn bind_statement(
        &self,
        session: &mut Session,
        binding: &ast::Binding,
    ) -> SqlResult<Completion> {
        if binding.is_of_session {
            return Err(not_supported("SESSION BINDING"));
        }
        self.host().check_read_only(&session.state)?;
        self.commit(session).await?;
        session.check_writable()?;
        let database = session.state.database.clone();
        let options = parse_options(session);
        let too_long = || mysql_error!(ER_WRONG_ARGUMENTS, "BINDING");
        let bound = identity(database.as_deref(), &binding.text, &options).ok_or_else(too_long)?;
        let hints = match &binding.hinted {
            None => None,
            Some(hinted) => {
                let same = identity(database.as_deref(), &hinted.text, &options);
                if same.as_ref() != Some(&bound) {
                    return Err(mysql_error!(ER_WRONG_USAGE, "FOR", "USING"));
                }
                self.check_hinted(session, hinted).await?;
                Some(Arc::from(hinted.hints.as_slice()))
            }
        };
        let mut internal = InternalSession::new(self);
        let changed = self.write_binding(&mut internal, binding, &bound, hints).await;
        internal.end().await;
        let (database, digest) = &bound;
        self.kept_plans().forget(database, digest);
        self.engine().outdate_plans();
        changed.map(|()| Completion::default())
    }

    /// Fails if a statement cannot be planned, or has no hints about blocks, or others beside them.
    async fn check_hinted(&self, session: &mut Session, hinted: &ast::HintedStatement) -> SqlResult<()> {
        hints::warn(&**self.host(), session, &hinted.hints);
        let is_of_block = |hint: &Hint| matches!(hint, Hint::Block(_) | Hint::Mistake { .. });
        if !hinted.hints.iter().all(is_of_block) {
            return Err(not_supported("SET_VAR and MAX_EXECUTION_TIME in a binding"));
        }
        let Some(bound) = StatementHints::new(&hinted.hints) else {
            return Err(mysql_error!(ER_WRONG_ARGUMENTS, "USING"));
        };
        let own = OwnHints(session.block_hints.replace(bound));
        let planned = self.bound(session, &[], |binder| Explained::new(binder, &hinted.statement)).await;
        self.leave_binding(session, Some(own));
        let planned = planned?;
        planned.plan().warnings.iter().for_each(|warning| session.state.warnings.warn(warning.clone()));
        Ok(())
    }

    /// Writes a binding to its table and makes it known. The row's lock puts changes of one binding in order.
    async fn write_binding(
        &self,
        internal: &mut InternalSession<'_>,
        binding: &ast::Binding,
        bound: &Identity,
        hints: Option<Arc<[Hint]>>,
    ) -> SqlResult<()> {
        let (database, digest) = bound;
        let key = || [Value::bytes(digest.as_slice()), Value::bytes(database.as_bytes())];
        if binding.hinted.is_none() && !self.has_bindings_table() {
            return Ok(());
        }
        if !self.has_bindings_table() {
            internal.run(CREATE_TABLE).await?;
        }
        internal.begin().await?;
        match &binding.hinted {
            Some(hinted) => {
                let [digest, database] = key();
                let texts = [&binding.text, &hinted.text].map(|text| Value::bytes(text.as_slice()));
                let [text, using] = texts;
                let values = [digest.clone(), database, digest, text, using];
                let insert = "REPLACE INTO mysql.palisade_bindings
                    (digest, default_db, digest_text, statement, using_statement)
                    VALUES (SHA2(?, 256), ?, ?, ?, ?)";
                internal.run_with(insert, &values).await?;
            }
            None => {
                let delete =
                    "DELETE FROM mysql.palisade_bindings WHERE digest = SHA2(?, 256) AND default_db = ?";
                internal.run_with(delete, &key()).await?;
            }
        }
        let before = self.bindings.put(bound, hints);
        let committed = internal.commit().await;
        if committed.is_err() {
            self.bindings.put(bound, before);
        }
        committed
    }

    fn has_bindings_table(&self) -> bool {
        self.engine().dictionary().table("mysql", "palisade_bindings").is_ok()
    }

    /// Reads the bindings of a server that starts. One whose text is no statement any more is passed over.
    /// Gives how many there are, and how many were passed over.
    pub async fn load_bindings(&self) -> SqlResult<(usize, usize)> {
        if !self.has_bindings_table() {
            return Ok((0, 0));
        }
        let mut internal = InternalSession::new(self);
        let query = "SELECT default_db, digest_text, using_statement FROM mysql.palisade_bindings";
        let rows = internal.run(query).await;
        internal.end().await;
        let rows = rows?;
        let mut passed_over = 0;
        for row in &rows {
            let bytes = |at: usize| match row.get(at) {
                Some(Value::Bytes(bytes)) => bytes.to_vec(),
                _ => Vec::new(),
            };
            let parsed = palisade_parser::parse_one(&bytes(2), ParseOptions::default(), &mut || true);
            let Ok(parsed) = parsed else {
                passed_over += 1;
                continue;
            };
            let database = String::from_utf8_lossy(&bytes(0)).into_owned();
            self.bindings.put(&(database, bytes(1)), Some(parsed.hints.into()));
        }
        Ok((rows.len() - passed_over, passed_over))
    }
}

/// What a statement is known by; none if it is too long.
fn identity(database: Option<&str>, text: &[u8], options: &ParseOptions) -> Option<Identity> {
    let digest = digest_by(text, options)?;
    Some((database.unwrap_or_default().to_owned(), digest))
}

/// The text of a statement's digest; none if it is too long.
pub(crate) fn digest_of(text: &[u8], session: &Session) -> Option<Vec<u8>> {
    digest_by(text, &parse_options(session))
}

fn digest_by(text: &[u8], options: &ParseOptions) -> Option<Vec<u8>> {
    let mut digest = Vec::new();
    digest_text(text, options, LONGEST_DIGEST, &mut digest);
    (digest.len() < LONGEST_DIGEST).then_some(digest)
}
