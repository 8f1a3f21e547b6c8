//! The optimizer's hints of a statement: whose block each is about, and which table it names.
//!
//! A hint that names a query block counts there, any other one where it stands. Names are looked for when the
//! block's tables are known: those of a block within it are known by then, too, and JOIN_ORDER may name them.

use std::sync::Arc;

use palisade_base::error_catalogue::ER_UNRESOLVED_HINT_NAME;
use palisade_base::mysql_error;
use palisade_parser::Hint;
use palisade_parser::ast::{IndexHint, IndexHintKind, IndexHintScope};
use palisade_parser::hint::{BlockHint, HintForm, HintKind, HintTable};

use super::{Binder, Scope};
use crate::hints::BlockHints;

/// The hints of a statement, and what of them is known.
#[derive(Debug, Clone)]
pub struct StatementHints {
    hints: Arc<[Hint]>,
    /// Tables of the blocks so far: the block's number, the table's name, its slot.
    tables: Vec<(u32, String, usize)>,
    /// Blocks whose names have been looked for.
    checked: Vec<u32>,
}

/// The number of the block of that name, among the hints of a statement.
pub fn block_named(hints: &[Hint], name: &str) -> Option<u32> {
    let given = hints.iter().find_map(|hint| match hint {
        Hint::Block(hint) if hint.kind == HintKind::BlockName => {
            (hint.named.as_deref()? == name).then_some(hint.block)
        }
        _ => None,
    });
    given.or_else(|| name.strip_prefix("select#")?.parse().ok())
}

/// What a block is called in a warning.
fn block_name(hints: &[Hint], block: u32) -> String {
    let given = hints.iter().find_map(|hint| match hint {
        Hint::Block(hint) if hint.kind == HintKind::BlockName && hint.block == block => hint.named.clone(),
        _ => None,
    });
    given.unwrap_or_else(|| format!("select#{block}"))
}

impl StatementHints {
    /// Those of a statement; `None` if none of them is about a block.
    pub fn new(hints: &[Hint]) -> Option<StatementHints> {
        let has_any = hints.iter().any(|hint| matches!(hint, Hint::Block(_)));
        has_any.then(|| StatementHints { hints: hints.into(), tables: Vec::new(), checked: Vec::new() })
    }

    /// The hints that count in a block, with the tables that they are about, if they are about tables: all
    /// that count, in order.
    fn of_block(&self, block: u32) -> impl Iterator<Item = &BlockHint> {
        self.hints.iter().enumerate().filter_map(move |(position, hint)| match hint {
            Hint::Block(own) if !is_ignored(&self.hints, position) => {
                let named = own.named.as_ref().filter(|_| own.kind.form() != HintForm::Name);
                let counts = match named {
                    Some(name) => block_named(&self.hints, name) == Some(block),
                    None => {
                        own.block == block || own.tables.iter().any(|table| self.is_in(own, table, block))
                    }
                };
                counts.then_some(own)
            }
            _ => None,
        })
    }

    /// Whether a hint looks for a table in a block.
    fn is_in(&self, hint: &BlockHint, table: &HintTable, block: u32) -> bool {
        match table.block.as_ref().or(hint.named.as_ref()) {
            Some(name) => block_named(&self.hints, name) == Some(block),
            None => hint.block == block,
        }
    }

    /// The slot of a table.
    fn slot(&self, hint: &BlockHint, table: &HintTable) -> Option<usize> {
        let found = |(block, name, _): &&(u32, String, usize)| {
            self.is_in(hint, table, *block) && name.eq_ignore_ascii_case(&table.name)
        };
        self.tables.iter().find(found).map(|(_, _, slot)| *slot)
    }
}

impl Binder<'_> {
    /// The tables of a block are known, which are those of the innermost scope: warns of names in hints that
    /// none of them has.
    pub fn note_hinted_tables(&mut self, block: u32) {
        let Some(mut known) = self.hints.take() else { return };
        let Scope { sources, .. } = self.scope();
        let tables = sources.iter().map(|source| (block, source.alias.clone(), source.slot));
        known.tables.extend(tables);
        if block > 0 && !known.checked.contains(&block) {
            known.checked.push(block);
            let mut unknown = Vec::new();
            for hint in known.of_block(block) {
                if matches!(
                    hint.kind.family(),
                    HintKind::JoinOrder | HintKind::JoinPrefix | HintKind::JoinSuffix
                ) {
                    continue;
                }
                for table in hint.tables.iter().filter(|table| known.is_in(hint, table, block)) {
                    let name = format!("`{}`@`{}`", table.name, block_name(&known.hints, block));
                    let slot = known.slot(hint, table);
                    if slot.is_none() {
                        unknown.push((name.clone(), hint.kind.name()));
                    }
                    let table = self.table_in(slot);
                    let is_unknown = |index: &&String| {
                        table.as_ref().is_none_or(|table| table.index_number(index).is_none())
                    };
                    for index in hint.indexes.iter().filter(is_unknown) {
                        unknown.push((format!("{name} `{index}`"), hint.kind.name()));
                    }
                }
            }
            for (name, hint) in unknown {
                self.warn(mysql_error!(ER_UNRESOLVED_HINT_NAME, name, hint));
            }
        }
        self.hints = Some(known);
    }

    /// The stored table in a slot of the innermost scope.
    fn table_in(&mut self, slot: Option<usize>) -> Option<Arc<palisade_engine::Table>> {
        let slot = slot?;
        let source = self.scope().sources.iter().find(|source| source.slot == slot)?;
        source.table.clone()
    }

    /// What hints say of a table's indexes, if they do: in place of what stands behind its name.
    pub(super) fn index_hints(
        &self,
        block: u32,
        alias: &str,
        table: &palisade_engine::Table,
    ) -> Option<Vec<IndexHint>> {
        let known = self.hints.as_ref()?;
        let mut found = Vec::new();
        for hint in known.of_block(block) {
            let scope = match hint.kind.family() {
                HintKind::Index => None,
                HintKind::JoinIndex => Some(IndexHintScope::Join),
                HintKind::GroupIndex => Some(IndexHintScope::GroupBy),
                HintKind::OrderIndex => Some(IndexHintScope::OrderBy),
                _ => continue,
            };
            let mut named = hint.tables.iter().filter(|table| known.is_in(hint, table, block));
            if !named.any(|named| named.name.eq_ignore_ascii_case(alias)) {
                continue;
            }
            let is_known = |index: &&String| table.index_number(index).is_some();
            let mut indexes: Vec<String> = hint.indexes.iter().filter(is_known).cloned().collect();
            if hint.indexes.is_empty() {
                indexes = table.indexes.iter().map(|index| index.name.clone()).collect();
            } else if indexes.is_empty() {
                continue;
            }
            let kind = if hint.kind.is_positive() { IndexHintKind::Force } else { IndexHintKind::Ignore };
            found.push(IndexHint { kind, scope, indexes });
        }
        (!found.is_empty()).then_some(found)
    }

    /// What hints say of a block whose tables are in `local`, and whether they are joined as written.
    pub fn block_hints(&mut self, block: u32, local: &[usize]) -> (BlockHints, bool) {
        let mut out = BlockHints::default();
        let Some(known) = self.hints.take() else { return (out, false) };
        let mut is_straight = false;
        let mut unknown = Vec::new();
        for hint in known.of_block(block) {
            let is_positive = hint.kind.is_positive();
            let slots: Vec<usize> = match hint.tables.is_empty() {
                true => local.to_vec(),
                false => hint.tables.iter().filter_map(|table| known.slot(hint, table)).collect(),
            };
            let list = match (hint.kind.family(), is_positive) {
                (HintKind::Bnl, true) => &mut out.hashed,
                (HintKind::Bnl, false) => &mut out.unhashed,
                (HintKind::Merge, true) => &mut out.merged,
                (HintKind::Merge, false) => &mut out.unmerged,
                (HintKind::ConditionPushdown, true) => &mut out.pushed,
                (HintKind::ConditionPushdown, false) => &mut out.unpushed,
                // That a strategy is not taken says nothing here: there are others.
                (HintKind::SemiJoin, false) if !hint.strategies.is_empty() => continue,
                (HintKind::SemiJoin, _) => {
                    out.semi_join = Some(hint.kind == HintKind::SemiJoin);
                    continue;
                }
                (HintKind::JoinFixedOrder, _) => {
                    is_straight = true;
                    continue;
                }
                (HintKind::JoinOrder | HintKind::JoinPrefix | HintKind::JoinSuffix, _) => {
                    let missing = hint.tables.iter().filter(|table| known.slot(hint, table).is_none());
                    let named = |table: &HintTable| match table.block.as_ref().or(hint.named.as_ref()) {
                        Some(block) => format!("`{}`@`{block}`", table.name),
                        None => format!("`{}`", table.name),
                    };
                    unknown.extend(missing.map(|table| (named(table), hint.kind.name())));
                    if slots.len() == hint.tables.len() && !hint.tables.is_empty() {
                        add_order(&mut out, hint.kind, &slots, local);
                    }
                    continue;
                }
                (HintKind::NoRangeOptimization | HintKind::IndexMerge | HintKind::SkipScan, _) => {
                    let named = match (hint.kind.family(), is_positive) {
                        (HintKind::NoRangeOptimization, _) => &mut out.unranged,
                        (HintKind::SkipScan, true) => &mut out.skipped,
                        (HintKind::SkipScan, false) => &mut out.unskipped,
                        (_, true) => &mut out.merged_indexes,
                        (_, false) => &mut out.unmerged_indexes,
                    };
                    for slot in slots {
                        let table = self.table_in(Some(slot));
                        let number = |index: &String| table.as_ref()?.index_number(index);
                        match hint.indexes.is_empty() {
                            true => named.push((slot, None)),
                            false => {
                                let numbers = hint.indexes.iter().filter_map(number);
                                named.extend(numbers.map(|index| (slot, Some(index))));
                            }
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            list.extend(slots);
        }
        self.hints = Some(known);
        for (name, hint) in unknown {
            self.warn(mysql_error!(ER_UNRESOLVED_HINT_NAME, name, hint));
        }
        (out, is_straight)
    }
}

/// Adds the pairs that an order of tables is.
fn add_order(out: &mut BlockHints, kind: HintKind, slots: &[usize], local: &[usize]) {
    let pairs = slots.iter().zip(slots.iter().skip(1));
    pairs.for_each(|(first, second)| out.add_before(*first, *second));
    let others = || local.iter().filter(|slot| !slots.contains(slot));
    match (kind, slots.first(), slots.last()) {
        (HintKind::JoinPrefix, _, Some(last)) => others().for_each(|other| out.add_before(*last, *other)),
        (HintKind::JoinSuffix, Some(first), _) => others().for_each(|other| out.add_before(*other, *first)),
        _ => {}
    }
}

/// Whether a hint has no effect, since it names a block that there is not, or says what those before it say
/// or the opposite.
fn is_ignored(hints: &[Hint], position: usize) -> bool {
    let Some(Hint::Block(hint)) = hints.get(position) else { return false };
    let named = hint.named.iter().filter(|_| hint.kind.form() != HintForm::Name);
    let mut named = named.chain(hint.tables.iter().filter_map(|table| table.block.as_ref()));
    named.any(|name| block_named(hints, name).is_none())
        || conflicts(hints, position, hint).len() >= hint.tables.len().max(1)
}

/// The parts of a hint that contradict a hint before it, or repeat it, as MySQL writes them.
pub fn conflicts(hints: &[Hint], position: usize, hint: &BlockHint) -> Vec<String> {
    use HintKind::{BlockName, JoinFixedOrder, JoinOrder, JoinPrefix, JoinSuffix};
    let block_of = |hint: &BlockHint| match &hint.named {
        Some(name) if hint.kind.form() != HintForm::Name => block_named(hints, name),
        _ => Some(hint.block),
    };
    let table_block = |hint: &BlockHint, table: &HintTable| match &table.block {
        Some(name) => block_named(hints, name),
        None => block_of(hint),
    };
    let before = hints.iter().take(position).filter_map(|before| match before {
        Hint::Block(before) => Some(before),
        _ => None,
    });
    let orders = [JoinOrder, JoinPrefix, JoinSuffix];
    let whole = |before: &BlockHint| match hint.kind {
        BlockName => before.kind == BlockName && (before.block == hint.block || before.named == hint.named),
        JoinFixedOrder => before.kind == JoinFixedOrder || orders.contains(&before.kind),
        JoinOrder => before.kind == JoinFixedOrder,
        JoinPrefix | JoinSuffix => before.kind == JoinFixedOrder || before.kind == hint.kind,
        _ => before.kind.family() == hint.kind.family() && before.tables.is_empty(),
    };
    if hint.tables.is_empty() || orders.contains(&hint.kind) {
        let is_same_block = |before: &BlockHint| hint.kind == BlockName || block_of(before) == block_of(hint);
        let mut before = before;
        let found = before.any(|before| is_same_block(before) && whole(before));
        return if found { vec![format!("{hint}")] } else { Vec::new() };
    }
    let before: Vec<&BlockHint> =
        before.filter(|before| before.kind.family() == hint.kind.family()).collect();
    let is_taken = |table: &&HintTable| {
        before.iter().any(|before| {
            let indexes = || match (hint.indexes.is_empty(), before.indexes.is_empty()) {
                (true, true) => true,
                _ => hint.indexes.iter().any(|index| before.indexes.contains(index)),
            };
            let is_same = |known: &HintTable| {
                known.name.eq_ignore_ascii_case(&table.name)
                    && table_block(before, known) == table_block(hint, table)
            };
            before.tables.iter().any(is_same) && (hint.kind.is_compound() || indexes())
        })
    };
    hint.tables.iter().filter(is_taken).map(|table| hint.about(table)).collect()
}
