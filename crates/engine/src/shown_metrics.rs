//! INNODB_METRICS: numbers that the engine knows anyway, copied when the table is read.

use palisade_base::metric::Metric;

use crate::table::{
    OPENED_TABLES, SYSTEM_ROWS_DELETED, SYSTEM_ROWS_INSERTED, SYSTEM_ROWS_READ, SYSTEM_ROWS_UPDATED,
};

palisade_base::metrics! {
    pub static BUFFER_POOL_SIZE: Gauge = "buffer_pool_size", "server", "Bytes of the buffer pool";
    pub static INNODB_PAGE_SIZE: Gauge = "innodb_page_size", "server", "Bytes of a page";
    pub static FILE_NUM_OPEN_FILES: Gauge = "file_num_open_files", "file_system", "Number of files that are open";
    pub static OS_DATA_READS: Gauge as StatusCounter = "os_data_reads", "os", "Number of reads of data files";
    pub static LOCK_THREADS_WAITING: Gauge = "lock_threads_waiting", "lock", "Number of sessions that wait for a row lock";
    pub static METADATA_TABLE_HANDLES_OPENED: Gauge as Counter = "metadata_table_handles_opened", "metadata", "Number of tables opened";
    pub static DML_INSERTS: Gauge as StatusCounter = "dml_inserts", "dml", "Number of rows inserted";
    pub static DML_UPDATES: Gauge as StatusCounter = "dml_updates", "dml", "Number of rows updated";
    pub static DML_DELETES: Gauge as StatusCounter = "dml_deletes", "dml", "Number of rows deleted";
    pub static DML_READS: Gauge as StatusCounter = "dml_reads", "dml", "Number of rows read";
    pub static DML_SYSTEM_INSERTS: Gauge as StatusCounter = "dml_system_inserts", "dml", "Number of rows inserted into tables of the schema mysql";
    pub static DML_SYSTEM_UPDATES: Gauge as StatusCounter = "dml_system_updates", "dml", "Number of rows updated in tables of the schema mysql";
    pub static DML_SYSTEM_DELETES: Gauge as StatusCounter = "dml_system_deletes", "dml", "Number of rows deleted from tables of the schema mysql";
    pub static DML_SYSTEM_READS: Gauge as StatusCounter = "dml_system_reads", "dml", "Number of rows read in tables of the schema mysql";
}

/// Rows that statements have changed and read since the start of the server.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct RowCounts {
    pub inserted: u64,
    pub updated: u64,
    pub deleted: u64,
    pub read: u64,
}

impl RowCounts {
    /// Copies them into INNODB_METRICS.
    pub fn publish(self) {
        DML_INSERTS.set(self.inserted);
        DML_UPDATES.set(self.updated);
        DML_DELETES.set(self.deleted);
        DML_READS.set(self.read);
    }
}

/// Copies what a pool of `frames` pages of `page_bytes`, with so many files open, has done.
pub(crate) fn publish(frames: usize, page_bytes: usize, open_files: usize) {
    BUFFER_POOL_SIZE.set((frames * page_bytes) as u64);
    INNODB_PAGE_SIZE.set(page_bytes as u64);
    FILE_NUM_OPEN_FILES.set(open_files as u64);
    let copies: [(&Metric, &Metric); 7] = [
        // Each page is read by itself.
        (&OS_DATA_READS, &palisade_buffer::metrics::BUFFER_PAGES_READ),
        (&LOCK_THREADS_WAITING, &palisade_txn::metrics::LOCK_ROW_LOCK_CURRENT_WAITS),
        (&METADATA_TABLE_HANDLES_OPENED, &OPENED_TABLES),
        (&DML_SYSTEM_INSERTS, &SYSTEM_ROWS_INSERTED),
        (&DML_SYSTEM_UPDATES, &SYSTEM_ROWS_UPDATED),
        (&DML_SYSTEM_DELETES, &SYSTEM_ROWS_DELETED),
        (&DML_SYSTEM_READS, &SYSTEM_ROWS_READ),
    ];
    copies.into_iter().for_each(|(shown, counted)| shown.set(counted.value()));
}
