//! CREATE, ALTER and DROP VIEW.
//!
//! | module | what it holds |
//! |---|---|
//! | here | the statements |
//! | [`frozen`] | the query, its names qualified |
//! | `words` | its expressions in MySQL's words |
//! | `traits_of` | what the form of a query allows: merging it, changing rows through it |
//!
//! The query is bound as it was written, which finds what is wrong with it; then it is frozen, and what the
//! dictionary keeps is its text. It is bound anew from the text by each statement that names the view
//! ([`palisade_plan::bind::views`]).

pub(crate) mod frozen;
pub(crate) mod traits_of;
mod words;

use std::collections::BTreeSet;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::ViewDef;
use palisade_catalog::descriptor::{ViewAlgorithm, ViewCheck};
use palisade_engine::{Dictionary, TableName};
use palisade_parser::ast::{Account, CheckOption, CreateView, DropView, Query, Statement};
use palisade_plan::bind::scope::same_name;

use self::frozen::Freezer;
use self::traits_of::{is_mergeable, is_updatable};
use super::{Ddl, column};
use crate::{Completion, SqlResult};

/// What a query that is to be a view is, once it is frozen.
struct Frozen {
    query: Query,
    columns: Vec<String>,
    tables: Vec<(String, String)>,
    is_local: bool,
}

impl Ddl<'_> {
    pub(super) async fn create_view(&mut self, statement: &CreateView) -> SqlResult<Completion> {
        let name = self.qualify(&statement.name)?;
        column::check_name(&name.table)?;
        if name.table.is_empty() || name.table.ends_with(' ') {
            return Err(mysql_error!(ER_WRONG_TABLE_NAME, name.table));
        }
        let lock = self.lock([name.clone()]).await?;
        let dictionary = self.engine.dictionary();
        if dictionary.schema(&name.schema).is_none() {
            return Err(mysql_error!(ER_BAD_DB_ERROR, name.schema));
        }
        let old = dictionary.view(&name.schema, &name.table);
        let is_table = old.is_none() && dictionary.table(&name.schema, &name.table).is_ok();
        if statement.alter && old.is_none() {
            return Err(match is_table {
                true => mysql_error!(ER_WRONG_OBJECT, name.schema, name.table, "VIEW"),
                false => mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table),
            });
        }
        if is_table && statement.or_replace {
            return Err(mysql_error!(ER_WRONG_OBJECT, name.schema, name.table, "VIEW"));
        }
        if !statement.alter && !statement.or_replace && (is_table || old.is_some()) {
            let exists = mysql_error!(ER_TABLE_EXISTS_ERROR, name.table);
            if statement.if_not_exists {
                self.session.state.warnings.note(exists);
                return Ok(Completion::default());
            }
            return Err(exists);
        }
        if statement.query.into.is_some() {
            return Err(mysql_error!(ER_VIEW_SELECT_CLAUSE, "INTO"));
        }
        let frozen = self.freeze(&dictionary, &name, statement)?;
        let former = old.filter(|_| statement.alter).map(|old| &**old);
        self.check_keeps_definer(statement, former)?;
        let view = self.definition(&dictionary, &name, statement, former, frozen)?;
        self.engine.put_view(&lock, view).await?;
        Ok(Completion::default())
    }

    /// Binds the query of a view, and freezes it.
    fn freeze(&self, dictionary: &Dictionary, name: &TableName, statement: &CreateView) -> SqlResult<Frozen> {
        let mut query = (*statement.query).clone();
        let database = self.session.state.database.as_deref();
        let connection = self.session.state.variables.collation_connection;
        let mut freezer = Freezer::new(dictionary, self.host, database, connection);
        let names = freezer.view(&mut query)?;
        if freezer.has_variables {
            return Err(mysql_error!(ER_VIEW_SELECT_VARIABLE));
        }
        let is_temporary = |(schema, table): &&(String, String)| {
            self.session.temporary_table(&TableName::new(schema, table)).is_some()
        };
        if let Some((_, table)) = freezer.tables.iter().find(is_temporary) {
            return Err(mysql_error!(ER_VIEW_SELECT_TMPTABLE, table));
        }
        let is_itself = |table: &(String, String)| (&table.0, &table.1) == (&name.schema, &name.table);
        if freezer.tables.iter().any(|table| reaches(dictionary, table, &is_itself)) {
            return Err(mysql_error!(ER_NO_SUCH_TABLE, name.schema, name.table));
        }
        let mut binder = self.session.binder(self.host, self.engine, dictionary, &[]);
        let bound = binder.query(&statement.query)?;
        if !statement.columns.is_empty() && statement.columns.len() != bound.output.len() {
            return Err(mysql_error!(ER_VIEW_WRONG_LIST));
        }
        let columns = if statement.columns.is_empty() { names } else { statement.columns.clone() };
        for (number, column) in columns.iter().enumerate() {
            super::column::check_name(column)?;
            if columns.iter().take(number).any(|known| same_name(known, column)) {
                return Err(mysql_error!(ER_DUP_FIELDNAME, column));
            }
        }
        let is_local = freezer.tables.iter().all(|(schema, _)| *schema == name.schema)
            && !freezer.aliases.contains(&name.schema);
        Ok(Frozen { query, columns, tables: freezer.tables, is_local })
    }

    fn definition(
        &mut self,
        dictionary: &Dictionary,
        name: &TableName,
        statement: &CreateView,
        former: Option<&ViewDef>,
        frozen: Frozen,
    ) -> SqlResult<ViewDef> {
        let Frozen { query, columns, tables, is_local } = frozen;
        let wanted = statement.algorithm.as_deref().and_then(ViewAlgorithm::of_name);
        let mut algorithm = wanted.or(former.map(|former| former.algorithm)).unwrap_or_default();
        if algorithm == ViewAlgorithm::Merge && !is_mergeable(&query) {
            self.session.state.warnings.warn(mysql_error!(ER_WARN_VIEW_MERGE));
            algorithm = ViewAlgorithm::Undefined;
        }
        let is_updatable = algorithm != ViewAlgorithm::TempTable && is_updatable(dictionary, &query);
        let check = match statement.check_option {
            None => ViewCheck::None,
            Some(CheckOption::Local) => ViewCheck::Local,
            Some(CheckOption::Cascaded) => ViewCheck::Cascaded,
        };
        if check != ViewCheck::None && !is_updatable {
            return Err(mysql_error!(ER_VIEW_NONUPD_CHECK, name.schema, name.table));
        }
        let variables = &self.session.state.variables;
        let (client, connection) = (variables.character_set_client, variables.collation_connection);
        let invoker = statement.sql_security_invoker.or(former.map(|former| former.is_invokers));
        Ok(ViewDef {
            schema: name.schema.clone(),
            name: name.table.clone(),
            query: query.to_string(),
            tables,
            is_local,
            lists_columns: !statement.columns.is_empty(),
            columns,
            algorithm,
            check,
            is_updatable,
            definer: self.definer_of(statement, former),
            is_invokers: invoker.unwrap_or(false),
            client_collation: client,
            connection_collation: connection,
            created_us: self.host.unix_micros(),
        })
    }

    /// Whose the view is: of the account that is named, of the former definer, of the session's account. A
    /// note says that there is no such account.
    /// An ALTER VIEW that names no definer keeps the one that the view has, which is as if it named it.
    fn check_keeps_definer(&self, statement: &CreateView, former: Option<&ViewDef>) -> SqlResult<()> {
        let (None, Some(former), true) = (&statement.definer, former, self.session.state.is_restricted())
        else {
            return Ok(());
        };
        let (user, host) = former.definer_parts();
        let definer = Some(Account::Named { user: user.to_owned(), host: Some(host.to_owned()) });
        let asked = Statement::CreateView(Box::new(CreateView { definer, ..statement.clone() }));
        self.host.check_statement(&self.session.state, &asked)
    }

    fn definer_of(&mut self, statement: &CreateView, former: Option<&ViewDef>) -> String {
        match (&statement.definer, former) {
            (Some(Account::Named { user, host }), _) => {
                let host = host.as_deref().unwrap_or("%");
                if !self.host.has_account(user, host) {
                    self.session.state.warnings.note(mysql_error!(ER_NO_SUCH_USER, user, host));
                }
                format!("{user}@{host}")
            }
            (None, Some(former)) => former.definer.clone(),
            (Some(Account::CurrentUser), _) | (None, None) => self.session.state.security.account.clone(),
        }
    }

    pub(super) async fn drop_views(&mut self, statement: &DropView) -> SqlResult<Completion> {
        let mut names = Vec::new();
        for view in &statement.views {
            let name = self.qualify(view)?;
            if names.contains(&name) {
                return Err(mysql_error!(ER_NONUNIQ_TABLE, name.table));
            }
            names.push(name);
        }
        let lock = self.lock(names.clone()).await?;
        let dictionary = self.engine.dictionary();
        let (there, missing): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|name| dictionary.view(&name.schema, &name.table).is_some());
        let is_table = |name: &&TableName| dictionary.table(&name.schema, &name.table).is_ok();
        let (tables, missing): (Vec<_>, Vec<_>) = missing.into_iter().partition(|name| is_table(&name));
        for table in &tables {
            let wrong = mysql_error!(ER_WRONG_OBJECT, table.schema, table.table, "VIEW");
            match statement.if_exists {
                true => self.session.state.warnings.note(wrong),
                false => return Err(wrong),
            }
        }
        if !missing.is_empty() {
            self.missing_tables(&missing, statement.if_exists)?;
        }
        if !there.is_empty() {
            self.engine.drop_views(&lock, &there).await?;
        }
        Ok(Completion::default())
    }

    /// 1347 if the name is a view's: the statement is about tables.
    pub(super) fn refuse_view(&self, name: &TableName) -> SqlResult<()> {
        match self.engine.dictionary().view(&name.schema, &name.table) {
            Some(_) => Err(mysql_error!(ER_WRONG_OBJECT, name.schema, name.table, "BASE TABLE")),
            None => Ok(()),
        }
    }
}

/// Whether a table is, or a view reads, itself or by the views in it, what `is_it` says.
fn reaches(
    dictionary: &Dictionary,
    table: &(String, String),
    is_it: &dyn Fn(&(String, String)) -> bool,
) -> bool {
    let mut met = BTreeSet::new();
    let mut left = vec![table.clone()];
    while let Some(table) = left.pop() {
        if is_it(&table) {
            return true;
        }
        let view = dictionary.view(&table.0, &table.1);
        // Each name once: many paths may lead to it.
        if met.insert(table) {
            left.extend(view.iter().flat_map(|view| &view.tables).cloned());
        }
    }
    false
}
