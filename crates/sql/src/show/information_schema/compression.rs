//! What InnoDB counts of pages of ROW_FORMAT=COMPRESSED, which there are none of, and what it keeps of
//! compression by index.

use palisade_schema::virtual_table;

use super::{Definition, Tables, number, of_static};

pub(super) static TABLES: Tables = &[
    Definition::new(&operations::DECL, |_, wanted| of_static(PAGE_SIZES, operations::row, wanted)),
    Definition::new(&operations_reset::DECL, |_, wanted| {
        of_static(PAGE_SIZES, operations_reset::row, wanted)
    }),
    Definition::new(&memory::DECL, |_, wanted| of_static(PAGE_SIZES, memory::row, wanted)),
    Definition::new(&memory_reset::DECL, |_, wanted| of_static(PAGE_SIZES, memory_reset::row, wanted)),
    Definition::empty(&by_index::DECL),
    Definition::empty(&by_index_reset::DECL),
];

/// Sizes of pages that InnoDB may be compressed to, for which MySQL has a row each.
const PAGE_SIZES: [u64; 5] = [1024, 2048, 4096, 8192, 16384];

virtual_table! {
    mod operations = "information_schema"."INNODB_CMP" of |it: u64| {
        page_size: int not null default "" => number(*it),
        compress_ops: int not null default "" => number(0u64),
        compress_ops_ok: int not null default "" => number(0u64),
        compress_time: int not null default "" => number(0u64),
        uncompress_ops: int not null default "" => number(0u64),
        uncompress_time: int not null default "" => number(0u64),
    }
}

virtual_table! {
    mod operations_reset = "information_schema"."INNODB_CMP_RESET" of |it: u64| {
        page_size: int not null default "" => number(*it),
        compress_ops: int not null default "" => number(0u64),
        compress_ops_ok: int not null default "" => number(0u64),
        compress_time: int not null default "" => number(0u64),
        uncompress_ops: int not null default "" => number(0u64),
        uncompress_time: int not null default "" => number(0u64),
    }
}

virtual_table! {
    mod memory = "information_schema"."INNODB_CMPMEM" of |it: u64| {
        page_size: int not null default "" => number(*it),
        buffer_pool_instance: int not null default "" => number(0u64),
        pages_used: int not null default "" => number(0u64),
        pages_free: int not null default "" => number(0u64),
        relocation_ops: bigint not null default "" => number(0u64),
        relocation_time: int not null default "" => number(0u64),
    }
}

virtual_table! {
    mod memory_reset = "information_schema"."INNODB_CMPMEM_RESET" of |it: u64| {
        page_size: int not null default "" => number(*it),
        buffer_pool_instance: int not null default "" => number(0u64),
        pages_used: int not null default "" => number(0u64),
        pages_free: int not null default "" => number(0u64),
        relocation_ops: bigint not null default "" => number(0u64),
        relocation_time: int not null default "" => number(0u64),
    }
}

virtual_table! {
    mod by_index = "information_schema"."INNODB_CMP_PER_INDEX" {
        database_name: varchar(192) not null default "",
        table_name: varchar(192) not null default "",
        index_name: varchar(192) not null default "",
        compress_ops: int not null default "",
        compress_ops_ok: int not null default "",
        compress_time: int not null default "",
        uncompress_ops: int not null default "",
        uncompress_time: int not null default "",
    }
}

virtual_table! {
    mod by_index_reset = "information_schema"."INNODB_CMP_PER_INDEX_RESET" {
        database_name: varchar(192) not null default "",
        table_name: varchar(192) not null default "",
        index_name: varchar(192) not null default "",
        compress_ops: int not null default "",
        compress_ops_ok: int not null default "",
        compress_time: int not null default "",
        uncompress_ops: int not null default "",
        uncompress_time: int not null default "",
    }
}
