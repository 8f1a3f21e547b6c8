//! TRUNCATE TABLE: of a stored table, and of those of performance_schema that begin to count anew.

use palisade_base::error_catalogue::{ER_NO_DB_ERROR, ER_NO_SUCH_TABLE, ER_TABLEACCESS_DENIED_ERROR};
use palisade_base::mysql_error;
use palisade_parser::ast::ObjectName;

use super::{Ddl, foreign};
use crate::show::information_schema;
use crate::{Completion, SqlResult};

/// The schema whose tables may begin anew.
const PERFORMANCE_SCHEMA: &str = "performance_schema";

impl Ddl<'_> {
    pub(super) async fn truncate(&mut self, name: &ObjectName) -> SqlResult<Completion> {
        if self.is_instrument(name)? {
            return self.truncate_instrument(&name.name);
        }
        let name = self.qualify(name)?;
        if let Some(own) = self.session.temporary_table(&name).cloned() {
            return self.truncate_temporary(&own).await;
        }
        let lock = self.lock([name.clone()]).await?;
        self.table(&name)?;
        if self.session.state.variables.foreign_key_checks {
            foreign::check_truncate(&self.engine.dictionary(), &name)?;
        }
        self.engine.truncate_table(&lock, &name).await?;
        Ok(Completion::default())
    }

    fn is_instrument(&self, name: &ObjectName) -> SqlResult<bool> {
        let schema = name.schema.as_deref().or(self.session.state.database.as_deref());
        let schema = schema.ok_or_else(|| mysql_error!(ER_NO_DB_ERROR))?;
        Ok(schema.eq_ignore_ascii_case(PERFORMANCE_SCHEMA))
    }

    /// 1146 if there is no such table, 1142 for one that counts nothing: it is read only to every account.
    fn truncate_instrument(&self, name: &str) -> SqlResult<Completion> {
        let table = information_schema::find_virtual(self.host, PERFORMANCE_SCHEMA, name)
            .ok_or_else(|| mysql_error!(ER_NO_SUCH_TABLE, PERFORMANCE_SCHEMA, name))?;
        if self.host.truncate_virtual_table(self.session.view(), table) {
            return Ok(Completion::default());
        }
        let state = &self.session.state;
        Err(mysql_error!(ER_TABLEACCESS_DENIED_ERROR, "DROP", state.user, state.client_host, table.name))
    }
}
