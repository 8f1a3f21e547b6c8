//! What the hints of a query block say, with every table found: how its joins are ordered and done, and which
//! rules leave its tables alone.
//!
//! A table is known by its slot, which is its own in the whole statement. So a block that becomes part of
//! another one takes its hints along.

/// The hints of a block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BlockHints {
    /// The first table of each pair is joined before the second.
    pub before: Vec<(usize, usize)>,
    /// Tables that no hash table is built of, and that look up none: NO_HASH_JOIN, or NO_BNL.
    pub unhashed: Vec<usize>,
    /// Tables that may be, whatever `optimizer_switch` says.
    pub hashed: Vec<usize>,
    /// Derived tables that stay tables of their own: NO_MERGE.
    pub unmerged: Vec<usize>,
    /// Derived tables that become part of the block, whatever `optimizer_switch` says.
    pub merged: Vec<usize>,
    /// Derived tables that no condition is moved into: NO_DERIVED_CONDITION_PUSHDOWN.
    pub unpushed: Vec<usize>,
    /// Derived tables that conditions are moved into, whatever `optimizer_switch` says.
    pub pushed: Vec<usize>,
    /// Indexes, by number, whose ranges are not read, or `None` for all of a table: NO_RANGE_OPTIMIZATION.
    pub unranged: Vec<(usize, Option<usize>)>,
    /// Indexes, by number, that are not read together with others, or `None` for all of a table:
    /// NO_INDEX_MERGE.
    pub unmerged_indexes: Vec<(usize, Option<usize>)>,
    /// Those that are, whatever `optimizer_switch` says, and no others of the table: INDEX_MERGE.
    pub merged_indexes: Vec<(usize, Option<usize>)>,
    /// Indexes, by number, that no skip scan reads, or `None` for all of a table: NO_SKIP_SCAN.
    pub unskipped: Vec<(usize, Option<usize>)>,
    /// Those that one may read, whatever `optimizer_switch` says, and no others of the table: SKIP_SCAN.
    pub skipped: Vec<(usize, Option<usize>)>,
    /// Whether the block may become a semi-join of the one around it, if a hint says so.
    pub semi_join: Option<bool>,
}

impl BlockHints {
    /// Adds what hints say of a block that becomes part of this one.
    pub fn extend(&mut self, other: BlockHints) {
        self.before.extend(other.before);
        self.unhashed.extend(other.unhashed);
        self.hashed.extend(other.hashed);
        self.unmerged.extend(other.unmerged);
        self.merged.extend(other.merged);
        self.unpushed.extend(other.unpushed);
        self.pushed.extend(other.pushed);
        self.unranged.extend(other.unranged);
        self.unmerged_indexes.extend(other.unmerged_indexes);
        self.merged_indexes.extend(other.merged_indexes);
        self.unskipped.extend(other.unskipped);
        self.skipped.extend(other.skipped);
    }

    /// Adds that `first` is joined before `second`, unless what is known says the opposite.
    pub fn add_before(&mut self, first: usize, second: usize) {
        if first != second && !self.leads(second, first) && !self.before.contains(&(first, second)) {
            self.before.push((first, second));
        }
    }

    /// Whether `first` is joined before `second`, by one pair or several.
    fn leads(&self, first: usize, second: usize) -> bool {
        let mut reached = vec![first];
        let mut at = 0;
        while let Some(from) = reached.get(at).copied() {
            for (_, next) in self.before.iter().filter(|(known, _)| *known == from) {
                if !reached.contains(next) {
                    reached.push(*next);
                }
            }
            at += 1;
        }
        first != second && reached.contains(&second)
    }

    /// Whether the ranges of an index of a table may be read.
    pub fn reads_ranges(&self, slot: usize, index: usize) -> bool {
        !names_index(&self.unranged, slot, index)
    }

    /// Whether an index of a table may be read together with others, where that is usual or not.
    pub fn merges_index(&self, slot: usize, index: usize, usually: bool) -> bool {
        let is_asked = self.merged_indexes.iter().any(|(known, _)| *known == slot);
        !names_index(&self.unmerged_indexes, slot, index)
            && if is_asked { names_index(&self.merged_indexes, slot, index) } else { usually }
    }

    /// Whether a skip scan may read an index of a table, where that is usual or not.
    pub fn skips_index(&self, slot: usize, index: usize, usually: bool) -> bool {
        let is_asked = self.skipped.iter().any(|(known, _)| *known == slot);
        !names_index(&self.unskipped, slot, index)
            && if is_asked { names_index(&self.skipped, slot, index) } else { usually }
    }
}

/// Whether an index of a table is among these.
fn names_index(named: &[(usize, Option<usize>)], slot: usize, index: usize) -> bool {
    named.iter().any(|(known, only)| *known == slot && only.is_none_or(|only| only == index))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_that_contradict_those_before_them_are_left_out() {
        let mut hints = BlockHints::default();
        for (first, second) in [(1, 2), (2, 3), (3, 1), (2, 1), (1, 3), (1, 2)] {
            hints.add_before(first, second);
        }
        assert_eq!(hints.before, [(1, 2), (2, 3), (1, 3)]);
    }
}
