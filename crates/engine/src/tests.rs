//! The engine from outside, in memory.

mod auto_increment;
mod check;
mod cold;
mod damage;
mod ddl;
mod ddl_crash;
mod dropped;
mod flush_method;
mod full_disk;
mod full_of_holes;
pub(crate) mod harness;
mod kept;
mod locking;
mod long_rows;
mod missing;
mod old_snapshots;
mod orphans;
mod out_of_place;
mod page_sizes;
mod passing;
mod recovery;
mod rows;
mod stress;
mod stuck;
mod wrong_pages;
mod xa;
mod xa_locks;
