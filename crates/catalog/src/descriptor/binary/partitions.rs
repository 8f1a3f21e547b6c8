//! Partitions in the binary form of a table: the first where the table's space was before there were others,
//! those behind it, and, in version 7, what the definition says of each.

use palisade_base::SpaceId;
use palisade_base::codec::Reader;

use super::{Binary, DescriptorError, NONE_YET, Result};
use crate::descriptor::{IndexTree, PartitionDef, TableDef};

/// The first partition: the others lie at the end of a table's record.
impl Binary for Vec<PartitionDef> {
    fn put(&self, out: &mut Vec<u8>) {
        self.first().map_or(SpaceId(NONE_YET), |first| first.space).put(out);
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let space = SpaceId::get(from)?;
        Ok(if space.0 == NONE_YET { Vec::new() } else { vec![PartitionDef::sole(space)] })
    }
}

/// A partition after the first: its space, and its tree of each index.
pub(super) struct Later {
    space: SpaceId,
    trees: Vec<IndexTree>,
}

binary_struct!(Later { space, trees });

/// The partitions of a table after the first.
pub(super) fn later_partitions(def: &TableDef) -> Vec<Later> {
    let later = def.partitions.iter().enumerate().skip(1);
    let trees = |number: usize| def.indexes.iter().filter_map(move |index| index.trees.get(number)).copied();
    later
        .map(|(number, partition)| Later { space: partition.space, trees: trees(number).collect() })
        .collect()
}

/// Puts the partitions after the first where they belong. Each of them, and the first, has a space and a tree
/// of each index: a definition with a gap would be written as another one.
pub(super) fn add_partitions(def: &mut TableDef, later: Vec<Later>) -> Result<()> {
    if !later.is_empty() && !def.is_placed() {
        return Err(DescriptorError::Damaged("partitions follow a first one that is not there"));
    }
    for Later { space, trees } in later {
        if trees.len() != def.indexes.len() || trees.iter().any(|tree| tree.id == u64::from(NONE_YET)) {
            return Err(DescriptorError::Damaged("a partition has not a tree for each index"));
        }
        if space.0 == NONE_YET {
            return Err(DescriptorError::Damaged("a partition has no space"));
        }
        def.partitions.push(PartitionDef::sole(space));
        def.indexes.iter_mut().zip(trees).for_each(|(index, tree)| index.trees.push(tree));
    }
    Ok(())
}

/// What a definition says of a partition beside where it is.
pub(super) struct Named {
    name: String,
    subpartition: Option<String>,
    comment: String,
    options: Vec<(String, String)>,
}

binary_struct!(Named { name, subpartition, comment, options });

/// The names of the partitions of a table with PARTITION BY; none of another one.
pub(super) fn names(def: &TableDef) -> Vec<Named> {
    let named = |partition: &PartitionDef| {
        let PartitionDef { name, subpartition, comment, options, space: _ } = partition.clone();
        Named { name, subpartition, comment, options }
    };
    let is_said = |partition: &PartitionDef| *partition != PartitionDef::sole(partition.space);
    if def.partitions.iter().any(is_said) { def.partitions.iter().map(named).collect() } else { Vec::new() }
}

/// Gives the partitions their names.
pub(super) fn add_names(def: &mut TableDef, names: Vec<Named>) -> Result<()> {
    if names.is_empty() || names.len() != def.partitions.len() {
        return Err(DescriptorError::Damaged("the partitions have not each a name"));
    }
    for (partition, Named { name, subpartition, comment, options }) in def.partitions.iter_mut().zip(names) {
        *partition = PartitionDef { name, subpartition, comment, options, space: partition.space };
    }
    match self::names(def).is_empty() {
        true => Err(DescriptorError::Damaged("the partitions have no names")),
        false => Ok(()),
    }
}
