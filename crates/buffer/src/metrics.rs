//! The pool's counters, with the names InnoDB gives them.
//!
//! What the pool knows anyway (how many frames are free, how many pages are dirty) is not counted but copied here by
//! [`BufferPool::publish_metrics`](crate::BufferPool::publish_metrics).

use palisade_base::metric::Metric;

/// Requests that a gauge counts until this is dropped.
pub(crate) struct UnderWay {
    gauge: &'static Metric,
    count: u64,
}

impl UnderWay {
    /// So many more are under way.
    pub(crate) fn begin(gauge: &'static Metric, count: usize) -> UnderWay {
        let count = count as u64;
        gauge.add(count);
        UnderWay { gauge, count }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.gauge.subtract(self.count);
    }
}

palisade_base::metrics! {
    /// Logical page accesses.
    pub static BUFFER_POOL_READ_REQUESTS: Gauge as StatusCounter = "buffer_pool_read_requests", "buffer", "Number of logical read requests", "Innodb_buffer_pool_read_requests";
    /// Accesses that had to read the page from disk.
    pub static BUFFER_POOL_READS: Counter = "buffer_pool_reads", "buffer", "Number of reads directly from disk", "Innodb_buffer_pool_reads";
    /// Pages read from disk before somebody accessed them.
    pub static BUFFER_POOL_READ_AHEAD: Counter = "buffer_pool_read_ahead", "buffer", "Number of pages read as read ahead", "Innodb_buffer_pool_read_ahead";
    /// Pages read because others of their extent were in memory.
    pub static BUFFER_POOL_READ_AHEAD_RND: Counter = "buffer_pool_read_ahead_rnd", "buffer", "Number of pages read as random read ahead", "Innodb_buffer_pool_read_ahead_rnd";
    /// Pages that left memory and had not been accessed since they were read.
    pub static BUFFER_POOL_READ_AHEAD_EVICTED: Counter = "buffer_pool_read_ahead_evicted", "buffer", "Read-ahead pages evicted without being accessed", "Innodb_buffer_pool_read_ahead_evicted";
    /// Pages changed by mini-transactions.
    pub static BUFFER_POOL_WRITE_REQUESTS: Counter = "buffer_pool_write_requests", "buffer", "Number of write requests", "Innodb_buffer_pool_write_requests";
    /// Accesses that found no free frame.
    pub static BUFFER_POOL_WAIT_FREE: Counter = "buffer_pool_wait_free", "buffer", "Number of times waited for a free frame", "Innodb_buffer_pool_wait_free";
    /// Frames of the pool.
    pub static BUFFER_POOL_PAGES_TOTAL: Gauge = "buffer_pool_pages_total", "buffer", "Total buffer pool size in pages", "Innodb_buffer_pool_pages_total";
    /// Frames that hold a page.
    pub static BUFFER_POOL_PAGES_DATA: Gauge = "buffer_pool_pages_data", "buffer", "Buffer pages containing data", "Innodb_buffer_pool_pages_data";
    /// Frames that hold changes not yet on disk.
    pub static BUFFER_POOL_PAGES_DIRTY: Gauge = "buffer_pool_pages_dirty", "buffer", "Buffer pages currently dirty", "Innodb_buffer_pool_pages_dirty";
    /// Frames that hold nothing.
    pub static BUFFER_POOL_PAGES_FREE: Gauge = "buffer_pool_pages_free", "buffer", "Buffer pages currently free", "Innodb_buffer_pool_pages_free";
    /// Frames whose memory is used for kept changes.
    pub static BUFFER_POOL_PAGES_MISC: Gauge = "buffer_pool_pages_misc", "buffer", "Buffer pages for misc use such as row locks or the adaptive hash index", "Innodb_buffer_pool_pages_misc";
    /// Bytes in frames that hold a page.
    pub static BUFFER_POOL_BYTES_DATA: Gauge = "buffer_pool_bytes_data", "buffer", "Buffer bytes containing data", "Innodb_buffer_pool_bytes_data";
    /// Bytes in frames that hold changes not yet on disk.
    pub static BUFFER_POOL_BYTES_DIRTY: Gauge = "buffer_pool_bytes_dirty", "buffer", "Buffer bytes currently dirty", "Innodb_buffer_pool_bytes_dirty";
    /// Pages created.
    pub static BUFFER_PAGES_CREATED: Counter = "buffer_pages_created", "buffer", "Number of pages created", "Innodb_pages_created";
    /// Look-ups whose key was where it had been found before.
    pub static ADAPTIVE_HASH_SEARCHES: Counter as StatusCounter = "adaptive_hash_searches", "adaptive_hash_index", "Number of successful searches using adaptive hash index";
    /// The others, while there is an adaptive hash index.
    pub static ADAPTIVE_HASH_SEARCHES_BTREE: Counter as StatusCounter = "adaptive_hash_searches_btree", "adaptive_hash_index", "Number of look-ups of keys that went down the index tree while the adaptive hash index was on";
    /// Places of keys that were learned.
    pub static ADAPTIVE_HASH_ROWS_ADDED: Counter = "adaptive_hash_rows_added", "adaptive_hash_index", "Number of adaptive hash index rows added";
    /// Of these, what took the place of another.
    pub static ADAPTIVE_HASH_ROWS_REMOVED: Counter = "adaptive_hash_rows_removed", "adaptive_hash_index", "Number of adaptive hash index rows removed: others took their places";
    /// Keys that had moved within their pages.
    pub static ADAPTIVE_HASH_ROWS_UPDATED: Counter = "adaptive_hash_rows_updated", "adaptive_hash_index", "Number of adaptive hash index rows updated";
    /// Pages read from disk.
    pub static BUFFER_PAGES_READ: Counter = "buffer_pages_read", "buffer", "Number of pages read", "Innodb_pages_read";
    /// Pages written to their place on disk.
    pub static BUFFER_PAGES_WRITTEN: Counter = "buffer_pages_written", "buffer", "Number of pages written", "Innodb_pages_written";
    /// Pages written out of place.
    pub static PAGES_PLACED: Counter = "buffer_pages_placed", "buffer", "Number of pages written to free places", "Palisade_pages_placed";
    /// Blank pages that have got no place.
    pub static PAGES_BLANK: Counter = "buffer_pages_blank", "buffer", "Number of unused pages of tables that are written out of place that were not written, and whose places became free", "Palisade_pages_blank";
    /// The same whose places were written into the map at once, because the log took no record.
    pub static PAGES_PLACED_BY_MAP: Counter = "buffer_pages_placed_by_map", "buffer", "Number of pages written to free places that the map had to take because the redo log was full", "Palisade_pages_placed_by_map";
    /// Chunks written into maps.
    pub static MAP_CHUNKS_WRITTEN: Counter = "buffer_map_chunks_written", "buffer", "Number of chunks of places written into the maps of tables that are written out of place", "Palisade_map_chunks_written";
    /// Batches that had to wait for a free run.
    pub static PLACE_WAITS: Counter = "buffer_place_waits", "buffer", "Number of waits for a free place", "Palisade_place_waits";
    /// Dirty pages that left memory unwritten, their changes kept.
    pub static CHANGES_KEPT: Counter = "buffer_changes_kept", "change_buffer", "Number of changed pages that left the buffer pool unwritten, their changes being kept in memory", "Palisade_changes_kept";
    /// Pages that got their kept changes back when they were read.
    pub static CHANGES_APPLIED: Counter = "buffer_changes_applied", "change_buffer", "Number of pages whose kept changes were applied when they were read", "Palisade_changes_applied";
    /// Of these, pages that were read in order to be written.
    pub static CHANGES_MERGED: Counter = "buffer_changes_merged", "change_buffer", "Number of pages with kept changes that were read because they had to be written", "Palisade_changes_merged";
    /// Pages whose kept changes went with their table.
    pub static CHANGES_DROPPED: Counter = "buffer_changes_dropped", "change_buffer", "Number of pages whose kept changes were dropped, mostly with their table", "Palisade_changes_dropped";
    /// Pages whose changes are kept now.
    pub static CHANGES_KEPT_PAGES: Gauge = "buffer_changes_kept_pages", "change_buffer", "Pages that are not in the buffer pool and have changes in memory", "Palisade_changes_kept_pages";
    /// Bytes of recorded changes.
    pub static CHANGES_KEPT_BYTES: Gauge = "buffer_changes_kept_bytes", "change_buffer", "Bytes of changes recorded in memory, of pages in the buffer pool and outside", "Palisade_changes_kept_bytes";
    /// Bytes read from data files.
    pub static BUFFER_DATA_READS: Counter = "buffer_data_reads", "buffer", "Amount of data read in bytes", "Innodb_data_read";
    /// Bytes written to data files.
    pub static BUFFER_DATA_WRITTEN: Counter = "buffer_data_written", "buffer", "Amount of data written in bytes", "Innodb_data_written";
    /// Writes to data files and the doublewrite file: neighbours go out in one.
    pub static OS_DATA_WRITES: Counter = "os_data_writes", "os", "Number of writes initiated (innodb_data_writes)", "Innodb_data_writes";
    /// Syncs of these files.
    pub static OS_DATA_FSYNCS: Counter = "os_data_fsyncs", "os", "Number of fsync() calls (innodb_data_fsyncs)", "Innodb_data_fsyncs";
    /// Reads of data files that have been asked for and have not ended.
    pub static OS_PENDING_READS: Gauge as Counter = "os_pending_reads", "os", "Number of reads pending", "Innodb_data_pending_reads";
    /// Writes to data files and the doublewrite file that are under way.
    pub static OS_PENDING_WRITES: Gauge as Counter = "os_pending_writes", "os", "Number of writes pending", "Innodb_data_pending_writes";
    /// Syncs of these files that are under way.
    pub static OS_PENDING_FSYNCS: Gauge as Counter = "os_data_pending_fsyncs", "os", "Number of fsync() calls pending (innodb_data_pending_fsyncs)", "Innodb_data_pending_fsyncs";
    /// Pages refused because their bytes are not the page.
    pub static BUFFER_PAGES_CORRUPTED: Counter = "buffer_pages_corrupted", "buffer", "Number of pages found corrupted";
    /// Clean pages evicted.
    pub static BUFFER_LRU_EVICTED: Counter as SetOwner = "buffer_LRU_batch_evict_total_pages", "buffer", "Pages evicted to keep frames free";
    /// Dirty pages written to free their frames.
    pub static BUFFER_LRU_FLUSHED: Counter as SetOwner = "buffer_LRU_batch_flush_total_pages", "buffer", "Pages flushed to keep frames free";
    /// Dirty pages written because the log grew.
    pub static BUFFER_FLUSH_ADAPTIVE: Counter as SetOwner = "buffer_flush_adaptive_total_pages", "buffer", "Pages flushed as part of adaptive flushing";
    /// Dirty pages written because nothing else was to be done.
    pub static BUFFER_FLUSH_BACKGROUND: Counter as SetOwner = "buffer_flush_background_total_pages", "buffer", "Pages flushed as part of background batches";
    /// Dirty pages written because there were too many, or for a sharp checkpoint.
    pub static BUFFER_FLUSH_SYNC: Counter as SetOwner = "buffer_flush_sync_total_pages", "buffer", "Pages flushed as part of sync batches";
    /// Batches written through the doublewrite file.
    pub static DBLWR_WRITES: Counter = "innodb_dblwr_writes", "server", "Number of doublewrite operations", "Innodb_dblwr_writes";
    /// Pages written through the doublewrite file.
    pub static DBLWR_PAGES_WRITTEN: Counter = "innodb_dblwr_pages_written", "server", "Number of pages written for doublewrite operations", "Innodb_dblwr_pages_written";
    /// Pages written compressed.
    pub static PAGES_COMPRESSED: Counter = "compress_pages_page_compressed", "compression", "Number of pages compressed by page compression", "Innodb_num_pages_page_compressed";
    /// Compressed pages read.
    pub static PAGES_DECOMPRESSED: Counter = "compress_pages_page_decompressed", "compression", "Number of pages decompressed by page compression", "Innodb_num_pages_page_decompressed";
    /// Bytes that the written pages are smaller.
    pub static PAGE_COMPRESSION_SAVED: Counter = "compress_saved", "compression", "Number of bytes saved by page compression", "Innodb_page_compression_saved";
    /// Attempts that did not save a block.
    pub static PAGE_COMPRESSION_FAILED: Counter = "compress_pages_page_compression_error", "compression", "Number of pages that page compression did not make smaller", "Innodb_num_pages_page_compression_error";
    /// Pages of compressed tables stored as they are without an attempt.
    pub static PAGE_COMPRESSION_SKIPPED: Counter = "compress_pages_skipped", "compression", "Number of pages that were not compressed because those before them did not become smaller";
    /// Holes punched behind compressed pages, and of free runs.
    pub static PAGE_HOLES_PUNCHED: Counter = "compress_holes_punched", "compression", "Number of holes punched behind compressed pages, and where pages were that have become shorter";
    /// Holes that the file system did not punch.
    pub static PAGE_PUNCH_FAILED: Counter = "compress_punch_errors", "compression", "Number of holes that could not be punched behind compressed pages or where they were";
    /// Where the log is hurried.
    pub static LOG_MAX_MODIFIED_AGE_ASYNC: Gauge = "log_max_modified_age_async", "log", "Maximum LSN difference; when exceeded, start asynchronous preflush: dirty pages leave twice as fast as the log grows";
    /// Where it is urgent.
    pub static LOG_MAX_MODIFIED_AGE_SYNC: Gauge = "log_max_modified_age_sync", "log", "Maximum LSN difference; when exceeded, start synchronous preflush: dirty pages leave as fast as they can";
}
