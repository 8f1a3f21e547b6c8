//! ALTER TABLE of partitions by their names, and of the PARTITION BY alone.
//!
//! Each of them is one new clause, and for each partition of it where its rows come from: an old partition as
//! it is, or rows that are written anew and go where the new clause says.

use std::collections::HashSet;
use std::sync::Arc;

use palisade_base::error_catalogue::*;
use palisade_base::mysql_error;
use palisade_catalog::descriptor::{PartitionDef, PartitionSet};
use palisade_catalog::{RowView, SqlType, TableDef, ValueRef, Zone};
use palisade_engine::ddl::RowRouter;
use palisade_engine::{ExclusiveLock, Table, TableName};
use palisade_expr::place::At;
use palisade_parser::ast::{
    AlterAction, Name, ObjectName, PartitionDefinition, PartitionMethod, PartitionSelection, PartitionValues,
    Partitioning,
};
use palisade_plan::bind::partition::clause_of;
use palisade_plan::partition::PartitionScheme;
use palisade_plan::premise::Looker;
use palisade_session::sink::ColumnMeta;

use super::{check_kind, kind_of, with_options};
use crate::ddl::alter::online::{Effort, Reason};
use crate::ddl::{Ddl, question, unsupported};
use crate::{Completion, Host, ResultSink, SqlResult, internal};

/// A table whose partitions change.
struct Change<'c> {
    lock: &'c ExclusiveLock,
    name: &'c TableName,
    def: &'c TableDef,
    /// Its clause, with the options of its partitions.
    clause: Partitioning,
}

impl Change<'_> {
    /// Its parts: what RANGE, LIST or a hash chooses.
    fn parts(&self) -> usize {
        self.def.partitions.len() / self.each()
    }

    /// Subpartitions of each part, or 1.
    fn each(&self) -> usize {
        let first = self.def.partitions.first().map(|leaf| &leaf.name);
        let same = self.def.partitions.iter().take_while(|leaf| Some(&leaf.name) == first);
        same.count().max(1)
    }

    /// The old partitions of a part.
    fn leaves(&self, part: usize) -> impl Iterator<Item = Option<usize>> {
        let each = self.each();
        (part * each..(part + 1) * each).map(Some)
    }

    /// The number of the part called so.
    fn part_called(&self, name: &str) -> Option<usize> {
        let folded = name.to_lowercase();
        let found = self.def.partitions.iter().position(|leaf| leaf.name.to_lowercase() == folded);
        found.map(|leaf| leaf / self.each())
    }

    /// The numbers of the parts called so, in order; 1507 if one is not there or named twice.
    fn parts_called(&self, names: &[Name], verb: &str) -> SqlResult<Vec<usize>> {
        let mut parts = Vec::with_capacity(names.len());
        for name in names {
            match self.part_called(name) {
                Some(part) if !parts.contains(&part) => parts.push(part),
                _ => return Err(mysql_error!(ER_DROP_PARTITION_NON_EXISTENT, verb)),
            }
        }
        parts.sort_unstable();
        Ok(parts)
    }

    /// The partitions that a statement selects, subpartitions among them; `unknown` makes the error of a
    /// name.
    fn selected(
        &self,
        selection: &PartitionSelection,
        unknown: impl Fn(&str) -> crate::SqlError,
    ) -> SqlResult<PartitionSet> {
        let PartitionSelection::Names(names) = selection else {
            return Ok(PartitionSet::all(self.def.partitions.len()));
        };
        let mut set = PartitionSet::none();
        for name in names {
            let found = self.def.partitions_called(name);
            if found.is_empty() {
                return Err(unknown(name));
            }
            set.unite_with(&found);
        }
        Ok(set)
    }

    fn is_spread(&self) -> bool {
        matches!(self.clause.method, PartitionMethod::Hash { .. } | PartitionMethod::Key { .. })
    }

    /// New partitions, which list their subpartitions where the others do: 1513 if these are not as many.
    fn completed(&self, new: &[PartitionDefinition]) -> SqlResult<Vec<PartitionDefinition>> {
        let mut new = new.to_vec();
        if self.clause.subpartition.is_none() {
            return Ok(new);
        }
        let each = self.each();
        let lists = self.clause.partitions.iter().any(|partition| !partition.subpartitions.is_empty());
        for partition in &mut new {
            if partition.subpartitions.is_empty() && lists {
                let name = &partition.name;
                let listed = (0..each).map(|number| (format!("{name}sp{number}"), Vec::new()));
                partition.subpartitions = listed.collect();
            } else if !partition.subpartitions.is_empty() && partition.subpartitions.len() != each {
                return Err(mysql_error!(ER_ADD_PARTITION_SUBPART_ERROR));
            }
        }
        Ok(new)
    }

    /// Lists the partitions that the clause only counts.
    fn list(&mut self) {
        if self.clause.partitions.is_empty() {
            let listed = self.def.partitions.iter().map(|leaf| unlisted(&leaf.name));
            self.clause.partitions = listed.collect();
            self.clause.count = None;
        }
    }
}

/// A partition of HASH or KEY that is only named.
fn unlisted(name: &str) -> PartitionDefinition {
    PartitionDefinition {
        name: name.to_owned(),
        values: PartitionValues::None,
        options: Vec::new(),
        subpartitions: Vec::new(),
    }
}

impl Ddl<'_> {
    /// The action of a statement that is about partitions alone.
    pub(in crate::ddl) async fn alter_partitions(
        &mut self,
        lock: &ExclusiveLock,
        name: &TableName,
        action: &AlterAction,
    ) -> SqlResult<Completion> {
        let table = self.table(name)?;
        let def = table.descriptor().def();
        if let AlterAction::DiscardPartitionTablespace(_) | AlterAction::ImportPartitionTablespace(_) = action
        {
            return unsupported("transportable tablespaces");
        }
        let Some(mut clause) = clause_of(def)? else {
            return Err(mysql_error!(ER_PARTITION_MGMT_ON_NONPARTITIONED));
        };
        with_options(def, &mut clause);
        let change = Change { lock, name, def, clause };
        match action {
            AlterAction::AddPartitions(new) => self.add_partitions(change, new).await?,
            AlterAction::AddPartitionCount(count) => self.add_partition_count(change, *count).await?,
            AlterAction::DropPartitions(names) => self.drop_partitions(change, names).await?,
            AlterAction::TruncatePartitions(selection) => {
                let unknown = |unknown: &str| mysql_error!(ER_UNKNOWN_PARTITION, unknown, name.table);
                let emptied = change.selected(selection, unknown)?;
                let kept = |number: usize| (!emptied.contains(number)).then_some(number);
                let sources: Vec<_> = (0..def.partitions.len()).map(kept).collect();
                self.engine.change_partitions(lock, name, def.clone(), &sources, None).await?;
                return Ok(Completion::default());
            }
            AlterAction::CoalescePartitions(count) => self.coalesce_partitions(change, *count).await?,
            AlterAction::ReorganizePartitions(names, new) => {
                self.reorganize_partitions(change, names, new).await?;
            }
            AlterAction::MaintainPartitions(_, selection, _) => {
                let unknown = |_: &str| mysql_error!(ER_DROP_PARTITION_NON_EXISTENT, "REBUILD");
                let selected = change.selected(selection, unknown)?;
                self.rebuild_partitions(lock, name, def, &selected).await?;
            }
            AlterAction::ExchangePartition { partition, table, validate } => {
                self.exchange_partition(change, partition, (table, *validate)).await?;
                return Ok(Completion::default());
            }
            _ => return unsupported("partitions"),
        }
        Ok(changed(0))
    }

    /// Writes the rows of some partitions anew.
    pub(in crate::ddl) async fn rebuild_partitions(
        &mut self,
        lock: &ExclusiveLock,
        name: &TableName,
        def: &TableDef,
        selected: &PartitionSet,
    ) -> SqlResult<()> {
        let kept = |number: usize| (!selected.contains(number)).then_some(number);
        let sources: Vec<_> = (0..def.partitions.len()).map(kept).collect();
        let clause = clause_of(def)?.ok_or_else(|| mysql_error!(ER_PARTITION_MGMT_ON_NONPARTITIONED))?;
        self.repartition(lock, name, (def.clone(), Some(&clause)), &sources).await.map(drop)
    }

    async fn add_partitions(&mut self, mut change: Change<'_>, new: &[PartitionDefinition]) -> SqlResult<()> {
        let kind = kind_of(&change.clause.method);
        for partition in new {
            check_kind(kind, &partition.values)?;
        }
        if change.is_spread() {
            change.list();
            change.clause.partitions.extend(new.iter().cloned());
            return self.spread_anew(change).await;
        }
        let old = change.parts();
        let new = change.completed(new)?;
        change.clause.partitions.extend(new.iter().cloned());
        change.clause.count = None;
        let parts: Vec<Option<usize>> =
            (0..old).map(Some).chain(std::iter::repeat_n(None, new.len())).collect();
        self.replace_parts(change, &parts).await
    }

    async fn add_partition_count(&mut self, mut change: Change<'_>, count: u64) -> SqlResult<()> {
        if count == 0 {
            return Err(mysql_error!(ER_ADD_PARTITION_NO_NEW_PARTITION));
        }
        if !change.is_spread() {
            return Err(mysql_error!(ER_PARTITIONS_MUST_BE_DEFINED_ERROR, kind_of(&change.clause.method)));
        }
        let parts = change.parts() as u64;
        if parts.saturating_add(count) > palisade_catalog::descriptor::MAX_PARTITIONS as u64 {
            return Err(mysql_error!(ER_TOO_MANY_PARTITIONS_ERROR));
        }
        if change.clause.partitions.is_empty() {
            change.clause.count = Some(parts + count);
        } else {
            let names = (parts..).map(|number| format!("p{number}"));
            let taken: HashSet<String> =
                change.def.partitions.iter().map(|leaf| leaf.name.to_lowercase()).collect();
            let free: Vec<String> = names.filter(|name| !taken.contains(name)).take(count as usize).collect();
            change.clause.partitions.extend(free.iter().map(|name| unlisted(name)));
        }
        self.spread_anew(change).await
    }

    async fn drop_partitions(&mut self, mut change: Change<'_>, names: &[Name]) -> SqlResult<()> {
        if change.is_spread() {
            return Err(mysql_error!(ER_ONLY_ON_RANGE_LIST_PARTITION, "DROP"));
        }
        let gone = change.parts_called(names, "DROP")?;
        if gone.len() >= change.parts() {
            return Err(mysql_error!(ER_DROP_LAST_PARTITION));
        }
        let left: Vec<usize> = (0..change.parts()).filter(|part| !gone.contains(part)).collect();
        let listed = std::mem::take(&mut change.clause.partitions).into_iter().enumerate();
        change.clause.partitions =
            listed.filter(|(part, _)| left.contains(part)).map(|(_, listed)| listed).collect();
        change.clause.count = None;
        let parts: Vec<Option<usize>> = left.into_iter().map(Some).collect();
        self.replace_parts(change, &parts).await
    }

    async fn coalesce_partitions(&mut self, mut change: Change<'_>, count: u64) -> SqlResult<()> {
        if !change.is_spread() {
            return Err(mysql_error!(ER_COALESCE_ONLY_ON_HASH_PARTITION));
        }
        if count == 0 {
            return Err(mysql_error!(ER_COALESCE_PARTITION_NO_PARTITION));
        }
        let parts = change.parts() as u64;
        if count >= parts {
            return Err(mysql_error!(ER_DROP_LAST_PARTITION));
        }
        match change.clause.partitions.is_empty() {
            true => change.clause.count = Some(parts - count),
            false => change.clause.partitions.truncate((parts - count) as usize),
        }
        self.spread_anew(change).await
    }

    async fn reorganize_partitions(
        &mut self,
        mut change: Change<'_>,
        names: &[Name],
        new: &[PartitionDefinition],
    ) -> SqlResult<()> {
        if names.is_empty() {
            if !matches!(change.clause.method, PartitionMethod::Hash { .. }) {
                return Err(mysql_error!(ER_REORG_NO_PARAM_ERROR));
            }
            // The number of partitions that there are without saying one.
            change.clause.partitions.clear();
            change.clause.count = None;
            return self.spread_anew(change).await;
        }
        let kind = kind_of(&change.clause.method);
        if names.len() > change.parts() {
            return Err(mysql_error!(ER_REORG_PARTITION_NOT_EXIST));
        }
        let old = change.parts_called(names, "REORGANIZE")?;
        for partition in new {
            check_kind(kind, &partition.values)?;
        }
        if change.is_spread() {
            if old.len() != new.len() {
                return Err(mysql_error!(ER_REORG_HASH_ONLY_ON_SAME_NO));
            }
            change.list();
            for (part, definition) in old.iter().zip(new) {
                *change.clause.partitions.at_mut(*part)? = definition.clone();
            }
            return self.spread_anew(change).await;
        }
        let (Some(first), Some(last)) = (old.first().copied(), old.last().copied()) else {
            return Err(mysql_error!(ER_DROP_PARTITION_NON_EXISTENT, "REORGANIZE"));
        };
        let is_range = kind == "RANGE";
        if last - first + 1 != old.len() {
            return Err(mysql_error!(ER_CONSECUTIVE_REORG_PARTITIONS));
        }
        let total = change.parts();
        let new = change.completed(new)?;
        let mut parts: Vec<Option<usize>> = Vec::new();
        let mut listed = Vec::new();
        for (part, definition) in change.clause.partitions.iter().enumerate() {
            if part == first {
                listed.extend(new.iter().cloned());
                parts.extend(std::iter::repeat_n(None, new.len()));
            }
            if !old.contains(&part) {
                listed.push(definition.clone());
                parts.push(Some(part));
            }
        }
        let bound = change.clause.partitions.at(last)?.values.clone();
        change.clause.partitions = listed;
        change.clause.count = None;
        if is_range {
            // The last of the new ones, folded, ends where the last of the old ones did.
            let place = first + new.len() - 1;
            let mut folded = change.clause.clone();
            super::check_form(&folded)?;
            self.fold_values(change.def, &mut folded)?;
            if last + 1 < total && folded.partitions.at(place)?.values != bound {
                return Err(mysql_error!(ER_REORG_OUTSIDE_RANGE));
            }
            if last + 1 == total && !self.reaches(change.def, &folded, place, &bound)? {
                return Err(mysql_error!(ER_REORG_OUTSIDE_RANGE));
            }
        }
        self.replace_parts(change, &parts).await
    }

    /// Whether the bound of a partition is not below another.
    fn reaches(
        &mut self,
        def: &TableDef,
        clause: &Partitioning,
        place: usize,
        bound: &PartitionValues,
    ) -> SqlResult<bool> {
        let new = clause.partitions.at(place)?;
        if new.values == *bound {
            return Ok(true);
        }
        // Bounds rise: the old one, put before the new one, is refused if it is above.
        let old = PartitionDefinition { values: bound.clone(), ..unlisted("old") };
        let mut pair = Partitioning { partitions: vec![old, new.clone()], ..clause.clone() };
        pair.partitions.iter_mut().for_each(|partition| partition.subpartitions.clear());
        match self.fold_values(def, &mut pair) {
            Ok(()) => Ok(true),
            Err(error) if error.number() == ER_RANGE_NOT_INCREASING_ERROR.number => Ok(false),
            Err(error) if error.number() == ER_PARTITION_MAXVALUE_ERROR.number => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The parts of the new clause come from these old ones; rows of the others are written anew, if there
    /// are new parts in their place.
    async fn replace_parts(&mut self, change: Change<'_>, parts: &[Option<usize>]) -> SqlResult<()> {
        let each = change.each();
        let mut sources = Vec::with_capacity(parts.len() * each);
        for part in parts {
            match part {
                Some(part) => sources.extend(change.leaves(*part)),
                None => sources.extend(std::iter::repeat_n(None, each)),
            }
        }
        let named = parts.iter().flatten().count();
        let moves = named < change.parts() && parts.contains(&None);
        let mut def = change.def.clone();
        self.partition(&mut def, &change.clause)?;
        let clause = clause_of(&def)?;
        let clause = clause.as_ref().filter(|_| moves);
        self.repartition(change.lock, change.name, (def, clause), &sources).await.map(drop)
    }

    /// All rows are spread over the partitions of the new clause.
    async fn spread_anew(&mut self, change: Change<'_>) -> SqlResult<()> {
        let mut def = change.def.clone();
        self.partition(&mut def, &change.clause)?;
        let sources = vec![None; def.partitions.len()];
        let clause = clause_of(&def)?;
        self.repartition(change.lock, change.name, (def, clause.as_ref()), &sources).await.map(drop)
    }

    /// PARTITION BY and REMOVE PARTITIONING of a table whose definition is otherwise as it was. Gives how
    /// many rows were written.
    pub(in crate::ddl) async fn repartition_all(
        &mut self,
        lock: &ExclusiveLock,
        name: &TableName,
        def: TableDef,
    ) -> SqlResult<u64> {
        let clause = clause_of(&def)?;
        let def = match &clause {
            Some(_) => def,
            None => TableDef { partitions: vec![PartitionDef::default()], ..def },
        };
        let sources = vec![None; def.partitions.len()];
        match &clause {
            Some(clause) => self.repartition(lock, name, (def, Some(clause)), &sources).await,
            None => {
                let mut rows = 0;
                let mut router = |_: &RowView<'_>| {
                    rows += 1;
                    Ok(0)
                };
                let router: &mut RowRouter<'_> = &mut router;
                let changed = self.engine.change_partitions(lock, name, def, &sources, Some(router)).await;
                changed.map_err(crate::ddl::rows::duplicates)?;
                Ok(rows)
            }
        }
    }

    /// Changes the partitions of a table; with a clause its rows go where that says.
    async fn repartition(
        &mut self,
        lock: &ExclusiveLock,
        name: &TableName,
        (def, clause): (TableDef, Option<&Partitioning>),
        sources: &[Option<usize>],
    ) -> SqlResult<u64> {
        let Some(clause) = clause else {
            self.engine.change_partitions(lock, name, def, sources, None).await?;
            return Ok(0);
        };
        let (scheme, _) = self.scheme(&def, clause)?;
        let (engine, host) = (self.engine, self.host);
        let mut placer = Looker::new(&self.session.state, host);
        let mut rows = 0;
        let mut router = |row: &RowView<'_>| {
            rows += 1;
            Ok(placer.route(host, &scheme, &|column| row.column(column))?)
        };
        let router: &mut RowRouter<'_> = &mut router;
        let changed = engine.change_partitions(lock, name, def, sources, Some(router)).await;
        changed.map_err(crate::ddl::rows::duplicates)?;
        Ok(rows)
    }

    async fn exchange_partition(
        &mut self,
        change: Change<'_>,
        partition: &Name,
        (other, validate): (&ObjectName, bool),
    ) -> SqlResult<()> {
        let other = self.qualify(other)?;
        if self.session.temporary_table(&other).is_some() {
            return Err(mysql_error!(ER_PARTITION_EXCHANGE_TEMP_TABLE, other.table));
        }
        self.refuse_view(&other)?;
        let table = self.table(&other)?;
        let (own, theirs) = (change.def, table.descriptor().def());
        if theirs.partitioning.is_some() {
            return Err(mysql_error!(ER_PARTITION_EXCHANGE_PART_TABLE, other.table));
        }
        let has_children = !super::super::foreign::children(&self.engine.dictionary(), &other).is_empty();
        if !theirs.foreign_keys.is_empty() || has_children {
            return Err(mysql_error!(ER_PARTITION_EXCHANGE_FOREIGN_KEY, other.table));
        }
        let found = own.partitions_called(partition);
        let number = match (found.only(), found.is_empty()) {
            (Some(number), _) => number,
            (None, true) => return Err(mysql_error!(ER_UNKNOWN_PARTITION, partition, change.name.table)),
            (None, false) => return Err(mysql_error!(ER_PARTITION_INSTEAD_OF_SUBPARTITION)),
        };
        // One of several subpartitions is not the partition of that name, which has one.
        let is_part = own.partitions.at(number)?.subpartition.as_ref();
        if is_part.is_some_and(|own| own.to_lowercase() != partition.to_lowercase()) {
            return Err(mysql_error!(ER_PARTITION_INSTEAD_OF_SUBPARTITION));
        }
        check_exchange(own, theirs)?;
        if own.row_id_column().is_some() {
            return unsupported("EXCHANGE PARTITION of a table without a primary key");
        }
        if validate {
            self.validate(change.lock, own, &table, number).await?;
        }
        self.engine.exchange_partition(change.lock, change.name, number, &other).await?;
        Ok(())
    }

    /// 1737 if a row of a table does not belong in a partition.
    async fn validate(
        &mut self,
        lock: &ExclusiveLock,
        own: &TableDef,
        table: &Arc<Table>,
        number: usize,
    ) -> SqlResult<()> {
        let Some(clause) = clause_of(own)? else { return Ok(()) };
        let name = TableName::new(&table.schema, &table.name);
        let (scheme, _) = self.scheme(own, &clause)?;
        let query = question::columns_of(&name, own, scheme.columns());
        let placer = Looker::new(&self.session.state, self.host);
        let mut validation = Validation { scheme: &scheme, number, own, placer, host: self.host };
        let (engine, host, session) = (self.engine, self.host, &*self.session);
        internal::query_locked_into(engine, host, session, (lock, &query), &mut validation).await
    }
}

/// Looks at the rows of a table that is to become a partition.
struct Validation<'v> {
    scheme: &'v PartitionScheme,
    number: usize,
    own: &'v TableDef,
    placer: Looker,
    host: &'v dyn Host,
}

impl ResultSink for Validation<'_> {
    fn columns(&mut self, _: &[ColumnMeta]) -> SqlResult<()> {
        Ok(())
    }

    /// A row of the columns by which the scheme partitions.
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let value = |column: usize| {
            let place = self.scheme.columns().iter().position(|known| *known == column);
            let value = place.and_then(|place| values.get(place).copied()).unwrap_or_default();
            let is_timestamp = self
                .own
                .columns
                .get(column)
                .is_some_and(|known| matches!(known.sql_type, SqlType::Timestamp { .. }));
            match value {
                ValueRef::DateTime(moment) if is_timestamp => {
                    Zone::UTC.to_timestamp(moment).map_or(ValueRef::Null, ValueRef::Timestamp)
                }
                value => value,
            }
        };
        match self.placer.place(self.host, self.scheme, &value)? == Some(self.number) {
            true => Ok(()),
            false => Err(mysql_error!(ER_ROW_DOES_NOT_MATCH_PARTITION)),
        }
    }
}

/// The cheapest way in which MySQL does what an action does to partitions, where ALGORITHM and LOCK are asked
/// for.
pub(in crate::ddl) fn effort(def: &TableDef, action: &AlterAction) -> SqlResult<Option<Effort>> {
    let is_spread = match clause_of(def)? {
        Some(clause) => matches!(clause.method, PartitionMethod::Hash { .. } | PartitionMethod::Key { .. }),
        None => return Ok(None),
    };
    Ok(match action {
        AlterAction::DropPartitions(_) => Some(Effort::Inplace),
        AlterAction::AddPartitions(_) if !is_spread => Some(Effort::Inplace),
        AlterAction::AddPartitions(_)
        | AlterAction::AddPartitionCount(_)
        | AlterAction::CoalescePartitions(_)
        | AlterAction::ReorganizePartitions(..)
        | AlterAction::MaintainPartitions(..) => Some(Effort::Locked(Reason::Unsaid)),
        _ => None,
    })
}

/// What ALTER TABLE answers that has written so many rows.
pub(in crate::ddl) fn changed(rows: u64) -> Completion {
    let info = format!("Records: {rows}  Duplicates: 0  Warnings: 0");
    Completion { affected_rows: rows, info, ..Completion::default() }
}

/// 1731 or 1736 for tables whose definitions differ in what EXCHANGE PARTITION would have to change.
fn check_exchange(own: &TableDef, theirs: &TableDef) -> SqlResult<()> {
    let format = |def: &TableDef| {
        let format = def.option("ROW_FORMAT").filter(|format| *format != "DEFAULT").unwrap_or("DYNAMIC");
        format.to_ascii_uppercase()
    };
    if format(own) != format(theirs) {
        return Err(mysql_error!(ER_PARTITION_EXCHANGE_DIFFERENT_OPTION, "ROW_FORMAT"));
    }
    let columns = |def: &TableDef| -> Vec<_> {
        let shown = def.columns.iter();
        shown
            .map(|column| {
                let generated = column.generated.clone();
                (
                    column.name.to_lowercase(),
                    column.sql_type.clone(),
                    column.nullable,
                    generated,
                    column.auto_increment,
                )
            })
            .collect()
    };
    let indexes = |def: &TableDef| -> Vec<_> {
        let mut indexes: Vec<_> = def
            .indexes
            .iter()
            .map(|index| (index.name.to_lowercase(), index.unique, index.parts.clone()))
            .collect();
        indexes.sort_by(|one, other| one.0.cmp(&other.0));
        indexes
    };
    match columns(own) == columns(theirs) && indexes(own) == indexes(theirs) {
        true => Ok(()),
        false => Err(mysql_error!(ER_TABLES_DIFFERENT_METADATA)),
    }
}
