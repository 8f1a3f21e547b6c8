//! Every system variable, once.
//!
//! Names, ranges and defaults are MySQL 8.4's; the documentation is ours. See [`crate::sysvar`] for the columns. A
//! variable whose documentation begins with "No effect" is there because clients or option files set or read it.

use crate::system_variables;

const COMPATIBLE: &str = "No effect; kept for clients and option files.";

/// The names in `sql_mode`; a name's position is its bit. Empty names are bits MySQL no longer uses.
pub const SQL_MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
];

/// Bits of `sql_mode`.
pub mod sql_mode {
    /// REAL is FLOAT.
    pub const REAL_AS_FLOAT: u64 = 1;
    /// `||` concatenates.
    pub const PIPES_AS_CONCAT: u64 = 1 << 1;
    /// `"` quotes identifiers.
    pub const ANSI_QUOTES: u64 = 1 << 2;
    /// Spaces may stand between a function's name and its parenthesis.
    pub const IGNORE_SPACE: u64 = 1 << 3;
    /// What is selected must be grouped by or depend on what is.
    pub const ONLY_FULL_GROUP_BY: u64 = 1 << 5;
    /// A subtraction of unsigned numbers may be negative.
    pub const NO_UNSIGNED_SUBTRACTION: u64 = 1 << 6;
    /// The names that `ANSI` stands for, and itself.
    pub const ANSI: u64 =
        1 << 18 | REAL_AS_FLOAT | PIPES_AS_CONCAT | ANSI_QUOTES | IGNORE_SPACE | ONLY_FULL_GROUP_BY;
    /// Zero is a value for an AUTO_INCREMENT column.
    pub const NO_AUTO_VALUE_ON_ZERO: u64 = 1 << 19;
    /// A backslash in a string is a backslash.
    pub const NO_BACKSLASH_ESCAPES: u64 = 1 << 20;
    /// A value that does not fit is an error.
    pub const STRICT_TRANS_TABLES: u64 = 1 << 21;
    /// The same, for tables without transactions.
    pub const STRICT_ALL_TABLES: u64 = 1 << 22;
    /// A month or day of zero is not a date.
    pub const NO_ZERO_IN_DATE: u64 = 1 << 23;
    /// 0000-00-00 is not a date.
    pub const NO_ZERO_DATE: u64 = 1 << 24;
    /// Days are only checked to be at most 31.
    pub const ALLOW_INVALID_DATES: u64 = 1 << 25;
    /// A division by zero in INSERT or UPDATE is an error in strict mode.
    pub const ERROR_FOR_DIVISION_BY_ZERO: u64 = 1 << 26;
    /// The names that `TRADITIONAL` stands for, and itself.
    pub const TRADITIONAL: u64 = 1 << 27
        | STRICT_TRANS_TABLES
        | STRICT_ALL_TABLES
        | NO_ZERO_IN_DATE
        | NO_ZERO_DATE
        | ERROR_FOR_DIVISION_BY_ZERO
        | NO_ENGINE_SUBSTITUTION;
    /// NOT binds as tightly as `!`.
    pub const HIGH_NOT_PRECEDENCE: u64 = 1 << 29;
    /// An unknown engine is an error.
    pub const NO_ENGINE_SUBSTITUTION: u64 = 1 << 30;
    /// CHAR values are padded with spaces when read.
    pub const PAD_CHAR_TO_FULL_LENGTH: u64 = 1 << 31;
    /// Fractions of a second are cut off, not rounded.
    pub const TIME_TRUNCATE_FRACTIONAL: u64 = 1 << 32;

    /// `bits`, with what the names that stand for several modes stand for.
    pub fn expanded(bits: u64) -> u64 {
        let ansi = if bits & 1 << 18 != 0 { ANSI } else { 0 };
        let traditional = if bits & 1 << 27 != 0 { TRADITIONAL } else { 0 };
        bits | ansi | traditional
    }
}

/// The value of `sql_mode` in a fresh server.
pub const DEFAULT_SQL_MODE: u64 = sql_mode::ONLY_FULL_GROUP_BY
    | sql_mode::STRICT_TRANS_TABLES
    | sql_mode::NO_ZERO_IN_DATE
    | sql_mode::NO_ZERO_DATE
    | sql_mode::ERROR_FOR_DIVISION_BY_ZERO
    | sql_mode::NO_ENGINE_SUBSTITUTION;

const OPTIMIZER_SWITCHES: &str = "index_merge=on,\
    index_merge_union=on,\
    index_merge_sort_union=on,\
    index_merge_intersection=on,\
    engine_condition_pushdown=on,\
    index_condition_pushdown=on,\
    mrr=on,\
    mrr_cost_based=on,\
    block_nested_loop=on,\
    batched_key_access=off,\
    materialization=on,\
    semijoin=on,\
    loosescan=on,\
    firstmatch=on,\
    duplicateweedout=on,\
    subquery_materialization_cost_based=on,\
    use_index_extensions=on,\
    condition_fanout_filter=on,\
    derived_merge=on,\
    use_invisible_indexes=off,\
    skip_scan=on,\
    hash_join=on,\
    subquery_to_derived=off,\
    prefer_ordering_index=on,\
    derived_condition_pushdown=on,\
    hash_set_operations=on";

system_variables! {
    ADMIN_ADDRESS = "admin_address", Global, fixed, text(""), "Address at which administrators are served beyond `max_connections`, by a worker of their own; empty for none.";
    ADMIN_PORT = "admin_port", Global, fixed, uint(33062, 0, 65535, Plain), "TCP port of `admin_address`; 0 for any free one.";
    AUTHENTICATION_POLICY = "authentication_policy", Global, dynamic, text("*,,"), COMPATIBLE;
    AUTO_GENERATE_CERTS = "auto_generate_certs", Global, fixed, bool(true), "Whether certificates are made in the data directory if none are there.";
    AUTO_INCREMENT_INCREMENT = "auto_increment_increment", Both, dynamic, uint(1, 1, 65535, Plain), "Distance between generated AUTO_INCREMENT values.";
    AUTO_INCREMENT_OFFSET = "auto_increment_offset", Both, dynamic, uint(1, 1, 65535, Plain), "First generated AUTO_INCREMENT value.";
    AUTOCOMMIT = "autocommit", Both, dynamic, bool(true), "Whether every statement outside a transaction commits by itself.";
    BACK_LOG = "back_log", Global, fixed, uint(151, 0, 65535, Plain), COMPATIBLE;
    BASEDIR = "basedir", Global, fixed, text(""), "No effect; the server is one binary.";
    BIG_TABLES = "big_tables", Both, dynamic, bool(false), "No effect.";
    BIND_ADDRESS = "bind_address", Global, fixed, text("127.0.0.1"), "Address that the server listens on; `*` for all.";
    BINLOG_CACHE_SIZE = "binlog_cache_size", Global, dynamic, uint(32768, 4096, u64::MAX, Plain), COMPATIBLE;
    BINLOG_CHECKSUM = "binlog_checksum", Global, dynamic, one_of(&["NONE", "CRC32"], 1), "No effect: there is no binary log yet.";
    BINLOG_EXPIRE_LOGS_SECONDS = "binlog_expire_logs_seconds", Global, dynamic, uint(2592000, 0, 4294967295, Plain), COMPATIBLE;
    BINLOG_FORMAT = "binlog_format", Both, dynamic, one_of(&["MIXED", "STATEMENT", "ROW"], 2), "No effect: there is no binary log yet.";
    BINLOG_ROW_IMAGE = "binlog_row_image", Both, dynamic, one_of(&["MINIMAL", "NOBLOB", "FULL"], 2), "No effect: there is no binary log yet.";
    BINLOG_ROWS_QUERY_LOG_EVENTS = "binlog_rows_query_log_events", Both, dynamic, bool(false), COMPATIBLE;
    BINLOG_STMT_CACHE_SIZE = "binlog_stmt_cache_size", Global, dynamic, uint(32768, 4096, u64::MAX, Plain), COMPATIBLE;
    BLOCK_ENCRYPTION_MODE = "block_encryption_mode", Both, dynamic, text("aes-128-ecb"), "No effect.";
    BULK_INSERT_BUFFER_SIZE = "bulk_insert_buffer_size", Both, dynamic, uint(8388608, 0, u64::MAX, Bytes), COMPATIBLE;
    CACHING_SHA2_PASSWORD_PRIVATE_KEY_PATH = "caching_sha2_password_private_key_path", Global, fixed, text("private_key.pem"), "File of the RSA key with which clients without TLS encrypt passwords; made when the first asks.";
    CACHING_SHA2_PASSWORD_PUBLIC_KEY_PATH = "caching_sha2_password_public_key_path", Global, fixed, text("public_key.pem"), "File of its public half, for clients that are given it beforehand.";
    CHARACTER_SET_CLIENT = "character_set_client", Both, dynamic, text("utf8mb4"), "Character set of the text that clients send.";
    CHARACTER_SET_CONNECTION = "character_set_connection", Both, dynamic, text("utf8mb4"), "Character set of literals.";
    CHARACTER_SET_DATABASE = "character_set_database", Both, dynamic, text("utf8mb4"), "Character set of the current schema.";
    CHARACTER_SET_FILESYSTEM = "character_set_filesystem", Both, dynamic, text("binary"), "No effect.";
    CHARACTER_SET_RESULTS = "character_set_results", Both, dynamic, text("utf8mb4"), "Character set of results; NULL leaves them as they are.";
    CHARACTER_SET_SERVER = "character_set_server", Both, dynamic, text("utf8mb4"), "Character set of new schemas that name none.";
    CHARACTER_SET_SYSTEM = "character_set_system", Global, fixed, text("utf8mb3"), "Character set of identifiers.";
    CHARACTER_SETS_DIR = "character_sets_dir", Global, fixed, text(""), "No effect; character sets are built in.";
    COLLATION_CONNECTION = "collation_connection", Both, dynamic, text("utf8mb4_0900_ai_ci"), "Collation of literals.";
    COLLATION_DATABASE = "collation_database", Both, dynamic, text("utf8mb4_0900_ai_ci"), "Collation of the current schema.";
    COLLATION_SERVER = "collation_server", Both, dynamic, text("utf8mb4_0900_ai_ci"), "Collation of new schemas that name none.";
    COMPLETION_TYPE = "completion_type", Both, dynamic, one_of(&["NO_CHAIN", "CHAIN", "RELEASE"], 0), "What COMMIT and ROLLBACK without AND CHAIN or RELEASE do.";
    CONCURRENT_INSERT = "concurrent_insert", Global, dynamic, one_of(&["NEVER", "AUTO", "ALWAYS"], 1), "No effect.";
    CONNECT_TIMEOUT = "connect_timeout", Global, dynamic, uint(10, 2, 31536000, Seconds), "How long each wait for a client may last while it logs in; the whole login may take ten times as long.";
    CORE_FILE = "core_file", Global, fixed, bool(false), COMPATIBLE;
    CTE_MAX_RECURSION_DEPTH = "cte_max_recursion_depth", Both, dynamic, uint(1000, 0, 4294967295, Plain), "Rounds of a recursive common table expression (3636).";
    DATADIR = "datadir", Global, fixed, text("./data"), "Directory of all data.";
    DEFAULT_COLLATION_FOR_UTF8MB4 = "default_collation_for_utf8mb4", Both, dynamic, text("utf8mb4_0900_ai_ci"), "No effect yet.";
    DEFAULT_STORAGE_ENGINE = "default_storage_engine", Both, dynamic, text("InnoDB"), "Engine of new tables that name none; there is one.";
    DEFAULT_TABLE_ENCRYPTION = "default_table_encryption", Both, dynamic, bool(false), COMPATIBLE;
    DEFAULT_TMP_STORAGE_ENGINE = "default_tmp_storage_engine", Both, dynamic, text("InnoDB"), "No effect.";
    DEFAULT_WEEK_FORMAT = "default_week_format", Both, dynamic, uint(0, 0, 7, Plain), "Mode of WEEK() where none is given.";
    DELAY_KEY_WRITE = "delay_key_write", Global, dynamic, one_of(&["OFF", "ON", "ALL"], 1), "No effect.";
    DISABLED_STORAGE_ENGINES = "disabled_storage_engines", Global, fixed, text(""), COMPATIBLE;
    DIV_PRECISION_INCREMENT = "div_precision_increment", Both, dynamic, uint(4, 0, 30, Plain), "Digits that a division adds to the scale.";
    ENFORCE_GTID_CONSISTENCY = "enforce_gtid_consistency", Global, dynamic, text("ON"), COMPATIBLE;
    EQ_RANGE_INDEX_DIVE_LIMIT = "eq_range_index_dive_limit", Both, dynamic, uint(200, 0, 4294967295, Plain), COMPATIBLE;
    ERROR_COUNT = "error_count", Session, fixed, uint(0, 0, u64::MAX, Plain), "Errors of the last statement.";
    EVENT_SCHEDULER = "event_scheduler", Global, dynamic, one_of(&["OFF", "ON", "DISABLED"], 0), "No effect: there are no events yet.";
    EXPLAIN_FORMAT = "explain_format", Both, dynamic, one_of(&["TRADITIONAL", "TRADITIONAL_STRICT", "TREE", "JSON"], 0), "No effect.";
    EXPLICIT_DEFAULTS_FOR_TIMESTAMP = "explicit_defaults_for_timestamp", Both, dynamic, bool(true), COMPATIBLE;
    FOREIGN_KEY_CHECKS = "foreign_key_checks", Both, dynamic, bool(true), "Whether foreign keys are checked; OFF is for loading dumps.";
    FT_MIN_WORD_LEN = "ft_min_word_len", Global, fixed, uint(4, 1, 84, Plain), COMPATIBLE;
    GENERAL_LOG = "general_log", Global, dynamic, bool(false), COMPATIBLE;
    GENERAL_LOG_FILE = "general_log_file", Global, dynamic, text(""), COMPATIBLE;
    GROUP_CONCAT_MAX_LEN = "group_concat_max_len", Both, dynamic, uint(1024, 4, u64::MAX, Bytes), "Longest result of GROUP_CONCAT().";
    GTID_EXECUTED = "gtid_executed", Global, fixed, text(""), "No effect: there is no binary log yet.";
    GTID_MODE = "gtid_mode", Global, fixed, one_of(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"], 0), "No effect: there is no binary log yet.";
    GTID_NEXT = "gtid_next", Session, dynamic, text("AUTOMATIC"), "No effect: there is no binary log yet.";
    GTID_OWNED = "gtid_owned", Both, fixed, text(""), "No effect: there is no binary log yet.";
    GTID_PURGED = "gtid_purged", Global, dynamic, text(""), "No effect: there is no binary log yet.";
    HAVE_COMPRESS = "have_compress", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_DYNAMIC_LOADING = "have_dynamic_loading", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_PROFILING = "have_profiling", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_QUERY_CACHE = "have_query_cache", Global, fixed, text("NO"), COMPATIBLE;
    HAVE_STATEMENT_TIMEOUT = "have_statement_timeout", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_SYMLINK = "have_symlink", Global, fixed, text("DISABLED"), COMPATIBLE;
    HOST_CACHE_SIZE = "host_cache_size", Global, dynamic, uint(703, 0, 65536, Plain), COMPATIBLE;
    HOSTNAME = "hostname", Global, fixed, text(""), "Name of the machine.";
    IDENTITY = "identity", Session, dynamic, uint(0, 0, u64::MAX, Plain), "Same as last_insert_id.";
    INFORMATION_SCHEMA_STATS_EXPIRY = "information_schema_stats_expiry", Both, dynamic, uint(86400, 0, 31536000, Plain), COMPATIBLE;
    INIT_CONNECT = "init_connect", Global, dynamic, text(""), "No effect.";
    INIT_FILE = "init_file", Global, fixed, null(), "No effect.";
    INNODB_ADAPTIVE_FLUSHING = "innodb_adaptive_flushing", Global, dynamic, bool(true), "No effect: pages are always written back by the age of the log.";
    INNODB_ADAPTIVE_FLUSHING_LWM = "innodb_adaptive_flushing_lwm", Global, dynamic, uint(10, 0, 70, Plain), COMPATIBLE;
    INNODB_ADAPTIVE_HASH_INDEX = "innodb_adaptive_hash_index", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_ADAPTIVE_HASH_INDEX_PARTS = "innodb_adaptive_hash_index_parts", Global, fixed, uint(8, 1, 512, Plain), COMPATIBLE;
    INNODB_ADAPTIVE_MAX_SLEEP_DELAY = "innodb_adaptive_max_sleep_delay", Global, dynamic, uint(150000, 0, 1000000, Plain), COMPATIBLE;
    INNODB_AUTOEXTEND_INCREMENT = "innodb_autoextend_increment", Global, dynamic, uint(64, 1, 1000, Plain), COMPATIBLE;
    INNODB_AUTOINC_LOCK_MODE = "innodb_autoinc_lock_mode", Global, fixed, uint(2, 0, 2, Plain), "Which statements keep a table's AUTO_INCREMENT values to themselves until they have ended: 0 all that insert rows, 1 those that insert what a query or a file gives, 2 none.";
    INNODB_BUFFER_POOL_CHUNK_SIZE = "innodb_buffer_pool_chunk_size", Global, fixed, uint(67108864, 1048576, 144115188075855871, Bytes), COMPATIBLE;
    INNODB_BUFFER_POOL_DUMP_AT_SHUTDOWN = "innodb_buffer_pool_dump_at_shutdown", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_BUFFER_POOL_DUMP_NOW = "innodb_buffer_pool_dump_now", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_BUFFER_POOL_DUMP_PCT = "innodb_buffer_pool_dump_pct", Global, dynamic, uint(25, 1, 100, Plain), COMPATIBLE;
    INNODB_BUFFER_POOL_FILENAME = "innodb_buffer_pool_filename", Global, dynamic, text("ib_buffer_pool"), COMPATIBLE;
    INNODB_BUFFER_POOL_IN_CORE_FILE = "innodb_buffer_pool_in_core_file", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_BUFFER_POOL_INSTANCES = "innodb_buffer_pool_instances", Global, fixed, uint(1, 0, 64, Plain), COMPATIBLE;
    INNODB_BUFFER_POOL_LOAD_ABORT = "innodb_buffer_pool_load_abort", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_BUFFER_POOL_LOAD_AT_STARTUP = "innodb_buffer_pool_load_at_startup", Global, fixed, bool(true), COMPATIBLE;
    INNODB_BUFFER_POOL_LOAD_NOW = "innodb_buffer_pool_load_now", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_BUFFER_POOL_SIZE = "innodb_buffer_pool_size", Global, fixed, uint(128 << 20, 5 << 20, i64::MAX as u64, Bytes), "Memory for pages. Row and range locks take up to half as much besides; a statement that needs more fails with error 1206, and its transaction is rolled back.";
    INNODB_CHANGE_BUFFER_MAX_SIZE = "innodb_change_buffer_max_size", Global, dynamic, uint(5, 0, 50, Plain), COMPATIBLE;
    INNODB_CHANGE_BUFFERING = "innodb_change_buffering", Global, dynamic, text("all"), COMPATIBLE;
    INNODB_CHECKSUM_ALGORITHM = "innodb_checksum_algorithm", Global, dynamic, text("crc32"), COMPATIBLE;
    INNODB_COMMIT_CONCURRENCY = "innodb_commit_concurrency", Global, dynamic, uint(0, 0, 1000, Plain), COMPATIBLE;
    INNODB_COMPRESSION_FAILURE_THRESHOLD_PCT = "innodb_compression_failure_threshold_pct", Global, dynamic, uint(5, 0, 100, Plain), COMPATIBLE;
    INNODB_COMPRESSION_LEVEL = "innodb_compression_level", Global, dynamic, uint(6, 0, 9, Plain), COMPATIBLE;
    INNODB_COMPRESSION_PAD_PCT_MAX = "innodb_compression_pad_pct_max", Global, dynamic, uint(50, 0, 75, Plain), COMPATIBLE;
    INNODB_CONCURRENCY_TICKETS = "innodb_concurrency_tickets", Global, dynamic, uint(5000, 1, 4294967295, Plain), COMPATIBLE;
    INNODB_DATA_FILE_PATH = "innodb_data_file_path", Global, fixed, text("ibdata1:12M:autoextend"), COMPATIBLE;
    INNODB_DATA_HOME_DIR = "innodb_data_home_dir", Global, fixed, text(""), COMPATIBLE;
    INNODB_DEADLOCK_DETECT = "innodb_deadlock_detect", Global, dynamic, bool(true), "No effect yet: deadlocks are always looked for when a wait begins.";
    INNODB_DEFAULT_ROW_FORMAT = "innodb_default_row_format", Global, dynamic, one_of(&["redundant", "compact", "dynamic"], 2), "No effect.";
    INNODB_DOUBLEWRITE = "innodb_doublewrite", Global, fixed, one_of(&["OFF", "ON", "DETECT_ONLY", "DETECT_AND_RECOVER"], 1), "Whether pages are written to the doublewrite file before their place.";
    INNODB_DOUBLEWRITE_BATCH_SIZE = "innodb_doublewrite_batch_size", Global, fixed, uint(0, 0, 256, Plain), COMPATIBLE;
    INNODB_DOUBLEWRITE_DIR = "innodb_doublewrite_dir", Global, fixed, text(""), COMPATIBLE;
    INNODB_DOUBLEWRITE_FILES = "innodb_doublewrite_files", Global, fixed, uint(2, 1, 256, Plain), COMPATIBLE;
    INNODB_DOUBLEWRITE_PAGES = "innodb_doublewrite_pages", Global, fixed, uint(128, 1, 512, Plain), COMPATIBLE;
    INNODB_FAST_SHUTDOWN = "innodb_fast_shutdown", Global, dynamic, uint(1, 0, 2, Plain), COMPATIBLE;
    INNODB_FILE_PER_TABLE = "innodb_file_per_table", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_FILL_FACTOR = "innodb_fill_factor", Global, dynamic, uint(100, 10, 100, Plain), COMPATIBLE;
    INNODB_FLUSH_LOG_AT_TIMEOUT = "innodb_flush_log_at_timeout", Global, dynamic, uint(1, 0, 2700, Seconds), "How often the log is flushed where commits do not wait for it; 0 is every 10 milliseconds.";
    INNODB_FLUSH_LOG_AT_TRX_COMMIT = "innodb_flush_log_at_trx_commit", Global, dynamic, uint(1, 0, 2, Plain), "1: a commit is answered when durable; 2: when written, 0: when in memory, flushed every innodb_flush_log_at_timeout.";
    INNODB_FLUSH_METHOD = "innodb_flush_method", Global, fixed, one_of(&["fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"], 4), "How data and log files are opened and synced. O_DIRECT and O_DIRECT_NO_FSYNC pass the page cache by, the others do not. fsync, O_DIRECT: everything is synced. O_DSYNC: each write to the log is durable when it returns, and the log is not synced. O_DIRECT_NO_FSYNC: data files are synced only where their length or space changes; safe if log and data are on one device. littlesync: data files are not synced. nosync: nothing is; both are for tests, a power failure may lose everything.";
    INNODB_FLUSH_NEIGHBORS = "innodb_flush_neighbors", Global, dynamic, uint(0, 0, 2, Plain), COMPATIBLE;
    INNODB_FLUSH_SYNC = "innodb_flush_sync", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_FLUSHING_AVG_LOOPS = "innodb_flushing_avg_loops", Global, dynamic, uint(30, 1, 1000, Seconds), "Time over which log_flush_avg_time, log_flush_max_time and log_flush_lsn_avg_rate look back.";
    INNODB_FORCE_RECOVERY = "innodb_force_recovery", Global, fixed, uint(0, 0, 6, Plain), "From 1 on the server starts though the redo log has changes for a table whose file is missing; they are lost. No other effect.";
    INNODB_FSYNC_THRESHOLD = "innodb_fsync_threshold", Global, dynamic, uint(0, 0, u64::MAX, Plain), COMPATIBLE;
    INNODB_FT_MIN_TOKEN_SIZE = "innodb_ft_min_token_size", Global, fixed, uint(3, 0, 16, Plain), COMPATIBLE;
    INNODB_IDLE_FLUSH_PCT = "innodb_idle_flush_pct", Global, dynamic, uint(100, 0, 100, Plain), COMPATIBLE;
    INNODB_IO_CAPACITY = "innodb_io_capacity", Global, dynamic, uint(10000, 100, u32::MAX as u64, Plain), "Pages per second to write back while nothing is logged.";
    INNODB_IO_CAPACITY_MAX = "innodb_io_capacity_max", Global, dynamic, uint(20000, 100, u32::MAX as u64, Plain), "Pages per second to write back at most, unless the log is nearly full: its age decides how many. Where it is not given, twice innodb_io_capacity.";
    INNODB_LOCK_WAIT_TIMEOUT = "innodb_lock_wait_timeout", Both, dynamic, uint(50, 1, 1073741824, Seconds), "How long a statement waits for a row lock.";
    INNODB_LOG_BUFFER_SIZE = "innodb_log_buffer_size", Global, dynamic, uint(64 << 20, 256 << 10, (4 << 30) - 1, Bytes, 1024), "Memory for log not yet written: the power of two that is not less, between 2 MiB and a quarter of innodb_redo_log_capacity. When it is changed, the memory follows in the background.";
    INNODB_LOG_CHECKSUMS = "innodb_log_checksums", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_LOG_COMPRESSED_PAGES = "innodb_log_compressed_pages", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_LOG_FILE_SIZE = "innodb_log_file_size", Global, fixed, uint(48 << 20, 4 << 20, 512 << 30, Bytes), "Deprecated: where it is given and innodb_redo_log_capacity is not, the capacity is this times innodb_log_files_in_group.";
    INNODB_LOG_FILES_IN_GROUP = "innodb_log_files_in_group", Global, fixed, uint(2, 2, 100, Plain), "Deprecated; see innodb_log_file_size.";
    INNODB_LOG_FLUSHER_AFFINITY = "innodb_log_flusher_affinity", Global, dynamic, text(""), "Processors that the log's flusher thread runs on, such as 0,2-3; empty for all.";
    INNODB_LOG_GROUP_HOME_DIR = "innodb_log_group_home_dir", Global, fixed, text("./"), COMPATIBLE;
    INNODB_LOG_WRITE_AHEAD_SIZE = "innodb_log_write_ahead_size", Global, dynamic, uint(4096, 512, 16384, Bytes, 512), "Each write to the log ends at a multiple of it, a power of two (others are rounded up); the rest is padding. MySQL's default is 8192, but it pads less often.";
    INNODB_LOG_WRITER_AFFINITY = "innodb_log_writer_affinity", Global, dynamic, text(""), "Processors that the log's writer thread runs on, such as 0,2-3; empty for all.";
    INNODB_LOG_WRITER_THREADS = "innodb_log_writer_threads", Global, dynamic, one_of(&["OFF", "ON", "AUTO"], 2), "ON: threads write and flush the log; OFF: a committing worker does it for all who wait; AUTO: the flusher thread does both when a worker asks for it.";
    INNODB_LRU_SCAN_DEPTH = "innodb_lru_scan_depth", Global, dynamic, uint(1024, 100, u32::MAX as u64, Plain), "Frames that the cleaners keep free.";
    INNODB_MAX_DIRTY_PAGES_PCT = "innodb_max_dirty_pages_pct", Global, dynamic, double(90.0, 0.0, 99.999, Plain), "No effect: the age of the log decides when pages are written back.";
    INNODB_MAX_DIRTY_PAGES_PCT_LWM = "innodb_max_dirty_pages_pct_lwm", Global, dynamic, double(10.0, 0.0, 99.0, Plain), COMPATIBLE;
    INNODB_MAX_PURGE_LAG = "innodb_max_purge_lag", Global, dynamic, uint(0, 0, u32::MAX as u64, Plain), "Committed transactions that may await purge before statements that change rows are held up; 0 for any number.";
    INNODB_MAX_PURGE_LAG_DELAY = "innodb_max_purge_lag_delay", Global, dynamic, uint(0, 0, 10000000, Plain), "Longest time in microseconds for which such a statement is held up; with 0 none is.";
    INNODB_MAX_UNDO_LOG_SIZE = "innodb_max_undo_log_size", Global, dynamic, uint(1073741824, 10485760, u64::MAX, Bytes), "Free undo pages keep their room on the disk up to this size, or up to 64 MiB where it is more.";
    INNODB_MONITOR_DISABLE = "innodb_monitor_disable", Global, dynamic, null(), "Counters of information_schema.INNODB_METRICS to switch off: a name, a module (module_log), all, or a name with %.";
    INNODB_MONITOR_ENABLE = "innodb_monitor_enable", Global, dynamic, null(), "Counters of information_schema.INNODB_METRICS to switch on, named as in innodb_monitor_disable; all are on to begin with.";
    INNODB_MONITOR_RESET = "innodb_monitor_reset", Global, dynamic, null(), "Counters whose COUNT_RESET begins anew, named as in innodb_monitor_disable.";
    INNODB_MONITOR_RESET_ALL = "innodb_monitor_reset_all", Global, dynamic, null(), "Counters, switched off before, all of whose values begin anew, named as in innodb_monitor_disable.";
    INNODB_NUMA_INTERLEAVE = "innodb_numa_interleave", Global, fixed, bool(true), COMPATIBLE;
    INNODB_OLD_BLOCKS_PCT = "innodb_old_blocks_pct", Global, dynamic, uint(37, 5, 95, Plain), COMPATIBLE;
    INNODB_OLD_BLOCKS_TIME = "innodb_old_blocks_time", Global, dynamic, uint(1000, 0, 4294967295, Plain), COMPATIBLE;
    INNODB_ONLINE_ALTER_LOG_MAX_SIZE = "innodb_online_alter_log_max_size", Global, dynamic, uint(134217728, 65536, u64::MAX, Bytes), COMPATIBLE;
    INNODB_OPEN_FILES = "innodb_open_files", Global, fixed, uint(4000, 0, 2147483647, Plain), COMPATIBLE;
    INNODB_PAGE_CLEANERS = "innodb_page_cleaners", Global, fixed, uint(4, 1, 64, Plain), "Threads that write pages back: one follows the log, the others keep frames free.";
    INNODB_PAGE_SIZE = "innodb_page_size", Global, fixed, uint(16384, 16384, 16384, Bytes), "Size of a page.";
    INNODB_PARALLEL_READ_THREADS = "innodb_parallel_read_threads", Both, dynamic, uint(4, 1, 256, Plain), COMPATIBLE;
    INNODB_PRINT_ALL_DEADLOCKS = "innodb_print_all_deadlocks", Global, dynamic, bool(false), "Whether every deadlock is written to the log.";
    INNODB_PURGE_BATCH_SIZE = "innodb_purge_batch_size", Global, dynamic, uint(300, 1, 5000, Plain), COMPATIBLE;
    INNODB_PURGE_RSEG_TRUNCATE_FREQUENCY = "innodb_purge_rseg_truncate_frequency", Global, dynamic, uint(128, 1, 128, Plain), COMPATIBLE;
    INNODB_PURGE_THREADS = "innodb_purge_threads", Global, fixed, uint(1, 1, 32, Plain), "Threads that remove what no snapshot needs.";
    INNODB_RANDOM_READ_AHEAD = "innodb_random_read_ahead", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_READ_AHEAD_THRESHOLD = "innodb_read_ahead_threshold", Global, dynamic, uint(56, 0, 64, Plain), COMPATIBLE;
    INNODB_READ_IO_THREADS = "innodb_read_io_threads", Global, fixed, uint(4, 1, 64, Plain), "Threads that read pages.";
    INNODB_READ_ONLY = "innodb_read_only", Global, fixed, bool(false), COMPATIBLE;
    INNODB_REDO_LOG_CAPACITY = "innodb_redo_log_capacity", Global, dynamic, uint(100 << 20, 8 << 20, 512 << 30, Bytes, 1 << 20), "Size of the redo log. When it is changed, the files follow in the background.";
    INNODB_ROLLBACK_ON_TIMEOUT = "innodb_rollback_on_timeout", Global, fixed, bool(false), "Whether a lock wait timeout rolls back the transaction instead of the statement.";
    INNODB_ROLLBACK_SEGMENTS = "innodb_rollback_segments", Global, dynamic, uint(128, 1, 128, Plain), COMPATIBLE;
    INNODB_SNAPSHOT_ISOLATION = "innodb_snapshot_isolation", Both, dynamic, bool(false), "Whether locking a row that has changed since the snapshot is error 1020, which rolls the transaction back.";
    INNODB_SORT_BUFFER_SIZE = "innodb_sort_buffer_size", Global, fixed, uint(1048576, 65536, 67108864, Bytes), COMPATIBLE;
    INNODB_SPIN_WAIT_DELAY = "innodb_spin_wait_delay", Global, dynamic, uint(6, 0, 1000, Plain), COMPATIBLE;
    INNODB_SPIN_WAIT_PAUSE_MULTIPLIER = "innodb_spin_wait_pause_multiplier", Global, dynamic, uint(50, 0, 100, Plain), COMPATIBLE;
    INNODB_STATS_AUTO_RECALC = "innodb_stats_auto_recalc", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_STATS_INCLUDE_DELETE_MARKED = "innodb_stats_include_delete_marked", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_STATS_METHOD = "innodb_stats_method", Global, dynamic, text("nulls_equal"), COMPATIBLE;
    INNODB_STATS_ON_METADATA = "innodb_stats_on_metadata", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_STATS_PERSISTENT = "innodb_stats_persistent", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_STATS_PERSISTENT_SAMPLE_PAGES = "innodb_stats_persistent_sample_pages", Global, dynamic, uint(20, 1, u64::MAX, Plain), COMPATIBLE;
    INNODB_STATS_TRANSIENT_SAMPLE_PAGES = "innodb_stats_transient_sample_pages", Global, dynamic, uint(8, 1, u64::MAX, Plain), COMPATIBLE;
    INNODB_STATUS_OUTPUT = "innodb_status_output", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_STATUS_OUTPUT_LOCKS = "innodb_status_output_locks", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_STRICT_MODE = "innodb_strict_mode", Both, dynamic, bool(true), COMPATIBLE;
    INNODB_SYNC_SPIN_LOOPS = "innodb_sync_spin_loops", Global, dynamic, uint(30, 0, 4294967295, Plain), COMPATIBLE;
    INNODB_TABLE_LOCKS = "innodb_table_locks", Both, dynamic, bool(true), COMPATIBLE;
    INNODB_TEMP_DATA_FILE_PATH = "innodb_temp_data_file_path", Global, fixed, text("ibtmp1:12M:autoextend"), COMPATIBLE;
    INNODB_THREAD_CONCURRENCY = "innodb_thread_concurrency", Global, dynamic, uint(0, 0, 1000, Plain), COMPATIBLE;
    INNODB_THREAD_SLEEP_DELAY = "innodb_thread_sleep_delay", Global, dynamic, uint(10000, 0, 1000000, Plain), COMPATIBLE;
    INNODB_TMPDIR = "innodb_tmpdir", Both, dynamic, text(""), COMPATIBLE;
    INNODB_UNDO_DIRECTORY = "innodb_undo_directory", Global, fixed, text("./"), COMPATIBLE;
    INNODB_UNDO_LOG_TRUNCATE = "innodb_undo_log_truncate", Global, dynamic, bool(true), "Whether the room of free undo pages beyond innodb_max_undo_log_size is given back to the disk, once a checkpoint has passed.";
    INNODB_USE_FDATASYNC = "innodb_use_fdatasync", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_USE_NATIVE_AIO = "innodb_use_native_aio", Global, fixed, bool(true), COMPATIBLE;
    INNODB_VALIDATE_TABLESPACE_PATHS = "innodb_validate_tablespace_paths", Global, fixed, bool(true), COMPATIBLE;
    INNODB_VERSION = "innodb_version", Global, fixed, text("8.4.0"), "Version of the engine.";
    INNODB_WORKER_AFFINITY = "innodb_worker_affinity", Global, dynamic, text(""), "Processors that the workers run on, such as 0,2-3; empty for all. Given at the start, worker_threads=0 is as many workers as it names.";
    INNODB_WRITE_IO_THREADS = "innodb_write_io_threads", Global, fixed, uint(4, 1, 64, Plain), COMPATIBLE;
    INSERT_ID = "insert_id", Session, dynamic, uint(0, 0, u64::MAX, Plain), "The next AUTO_INCREMENT value that the session is given.";
    INTERACTIVE_TIMEOUT = "interactive_timeout", Both, dynamic, uint(28800, 1, 31536000, Seconds), "wait_timeout of interactive clients.";
    INTERNAL_TMP_MEM_STORAGE_ENGINE = "internal_tmp_mem_storage_engine", Both, dynamic, one_of(&["MEMORY", "TempTable"], 1), "No effect.";
    JOIN_BUFFER_SIZE = "join_buffer_size", Both, dynamic, uint(262144, 128, u64::MAX, Bytes), COMPATIBLE;
    KEY_BUFFER_SIZE = "key_buffer_size", Global, dynamic, uint(8388608, 0, u64::MAX, Bytes), COMPATIBLE;
    LAST_INSERT_ID = "last_insert_id", Session, dynamic, uint(0, 0, u64::MAX, Plain), "What LAST_INSERT_ID() returns.";
    LC_MESSAGES = "lc_messages", Both, dynamic, text("en_US"), "No effect: messages are English.";
    LC_MESSAGES_DIR = "lc_messages_dir", Global, fixed, text(""), "No effect: messages are built in.";
    LC_TIME_NAMES = "lc_time_names", Both, dynamic, text("en_US"), "No effect.";
    LICENSE = "license", Global, fixed, text("Apache-2.0"), "Licence of the server.";
    LOCAL_INFILE = "local_infile", Global, dynamic, bool(false), "No effect: LOAD DATA LOCAL is always refused (3948).";
    LOCK_WAIT_TIMEOUT = "lock_wait_timeout", Both, dynamic, uint(31536000, 1, 31536000, Seconds), "How long a statement waits for a table's metadata lock.";
    LOG_BIN = "log_bin", Global, fixed, bool(false), "No effect: there is no binary log yet.";
    LOG_BIN_BASENAME = "log_bin_basename", Global, fixed, text(""), COMPATIBLE;
    LOG_BIN_INDEX = "log_bin_index", Global, fixed, text(""), COMPATIBLE;
    LOG_BIN_TRUST_FUNCTION_CREATORS = "log_bin_trust_function_creators", Global, dynamic, bool(false), COMPATIBLE;
    LOG_ERROR = "log_error", Global, fixed, text("stderr"), "No effect: messages go to standard error.";
    LOG_ERROR_VERBOSITY = "log_error_verbosity", Global, dynamic, uint(2, 1, 3, Plain), "1: errors; 2: warnings too; 3: notes too.";
    LOG_OUTPUT = "log_output", Global, dynamic, text("FILE"), "No effect.";
    LOG_QUERIES_NOT_USING_INDEXES = "log_queries_not_using_indexes", Global, dynamic, bool(false), COMPATIBLE;
    LOG_REPLICA_UPDATES = "log_replica_updates", Global, fixed, bool(false), COMPATIBLE;
    LOG_SLAVE_UPDATES = "log_slave_updates", Global, fixed, bool(false), COMPATIBLE;
    LOG_SLOW_ADMIN_STATEMENTS = "log_slow_admin_statements", Global, dynamic, bool(false), COMPATIBLE;
    LOG_TIMESTAMPS = "log_timestamps", Global, dynamic, one_of(&["UTC", "SYSTEM"], 0), "No effect.";
    LONG_QUERY_TIME = "long_query_time", Both, dynamic, double(10.0, 0.0, 31536000.0, Seconds), "Statements that take longer are counted in Slow_queries.";
    LOW_PRIORITY_UPDATES = "low_priority_updates", Both, dynamic, bool(false), COMPATIBLE;
    LOWER_CASE_FILE_SYSTEM = "lower_case_file_system", Global, fixed, bool(false), "No effect.";
    LOWER_CASE_TABLE_NAMES = "lower_case_table_names", Global, fixed, uint(0, 0, 2, Plain), "Names of tables are compared by case.";
    MANDATORY_ROLES = "mandatory_roles", Global, dynamic, text(""), COMPATIBLE;
    MAX_ALLOWED_PACKET = "max_allowed_packet", Both, dynamic, uint(64 << 20, 1024, 1 << 30, Bytes), "Longest message from or to a client.";
    MAX_BINLOG_SIZE = "max_binlog_size", Global, dynamic, uint(1073741824, 4096, 1073741824, Bytes), COMPATIBLE;
    MAX_CONNECT_ERRORS = "max_connect_errors", Global, dynamic, uint(100, 1, u64::MAX, Plain), COMPATIBLE;
    MAX_CONNECTIONS = "max_connections", Global, dynamic, uint(151, 1, 100000, Plain), "Clients at a time.";
    MAX_DIGEST_LENGTH = "max_digest_length", Global, fixed, uint(1024, 0, 1048576, Plain), COMPATIBLE;
    MAX_ERROR_COUNT = "max_error_count", Both, dynamic, uint(1024, 0, 65535, Plain), "Warnings kept for SHOW WARNINGS.";
    MAX_EXECUTION_TIME = "max_execution_time", Both, dynamic, uint(0, 0, u32::MAX as u64, Milliseconds), "Longest run of a SELECT, after which it is interrupted (3024); 0 is any.";
    MAX_HEAP_TABLE_SIZE = "max_heap_table_size", Both, dynamic, uint(16777216, 16384, u64::MAX, Bytes), COMPATIBLE;
    MAX_JOIN_SIZE = "max_join_size", Both, dynamic, uint(u64::MAX, 1, u64::MAX, Bytes), COMPATIBLE;
    MAX_PREPARED_STMT_COUNT = "max_prepared_stmt_count", Global, dynamic, uint(16382, 0, 4194304, Plain), "Prepared statements at a time.";
    MAX_SORT_LENGTH = "max_sort_length", Both, dynamic, uint(1024, 4, 8388608, Plain), COMPATIBLE;
    MAX_SP_RECURSION_DEPTH = "max_sp_recursion_depth", Both, dynamic, uint(0, 0, 255, Plain), COMPATIBLE;
    MAX_USER_CONNECTIONS = "max_user_connections", Both, dynamic, uint(0, 0, u32::MAX as u64, Plain), "No effect.";
    MIN_EXAMINED_ROW_LIMIT = "min_examined_row_limit", Both, dynamic, uint(0, 0, u64::MAX, Plain), COMPATIBLE;
    MYISAM_RECOVER_OPTIONS = "myisam_recover_options", Global, fixed, text("OFF"), COMPATIBLE;
    MYISAM_SORT_BUFFER_SIZE = "myisam_sort_buffer_size", Both, dynamic, uint(8388608, 4096, u64::MAX, Bytes), COMPATIBLE;
    NET_BUFFER_LENGTH = "net_buffer_length", Both, dynamic, uint(16384, 1024, 1048576, Bytes), "No effect: buffers go back to 64 KiB.";
    NET_READ_TIMEOUT = "net_read_timeout", Both, dynamic, uint(30, 1, 31536000, Seconds), "How long a begun packet may take to arrive.";
    NET_RETRY_COUNT = "net_retry_count", Both, dynamic, uint(10, 1, u64::MAX, Plain), COMPATIBLE;
    NET_WRITE_TIMEOUT = "net_write_timeout", Both, dynamic, uint(60, 1, 31536000, Seconds), "How long a client may take to accept a part of a result.";
    OFFLINE_MODE = "offline_mode", Global, dynamic, bool(false), COMPATIBLE;
    OPEN_FILES_LIMIT = "open_files_limit", Global, fixed, uint(20000, 0, 4294967295, Plain), COMPATIBLE;
    OPTIMIZER_PRUNE_LEVEL = "optimizer_prune_level", Both, dynamic, uint(1, 0, 1, Plain), COMPATIBLE;
    OPTIMIZER_SEARCH_DEPTH = "optimizer_search_depth", Both, dynamic, uint(62, 0, 62, Plain), COMPATIBLE;
    OPTIMIZER_SWITCH = "optimizer_switch", Both, dynamic, text(OPTIMIZER_SWITCHES), "No effect.";
    OPTIMIZER_TRACE = "optimizer_trace", Both, dynamic, text("enabled=off,one_line=off"), "No effect.";
    PALISADE_DURABLE_READS = "palisade_durable_reads", Both, dynamic, bool(false), "Whether a statement is answered only when all that it can have read is durable: the answer waits for the log, its locks do not. OFF: what another session has committed can be read while it is being made durable, and a crash may take it back, as with InnoDB.";
    PARTIAL_REVOKES = "partial_revokes", Global, dynamic, bool(false), COMPATIBLE;
    PERFORMANCE_SCHEMA = "performance_schema", Global, fixed, bool(true), COMPATIBLE;
    PID_FILE = "pid_file", Global, fixed, text(""), "File that the server writes its process id to.";
    PLUGIN_DIR = "plugin_dir", Global, fixed, text(""), COMPATIBLE;
    PORT = "port", Global, fixed, uint(3306, 0, 65535, Plain), "TCP port; 0 for any free one.";
    PROFILING = "profiling", Both, dynamic, bool(false), COMPATIBLE;
    PROFILING_HISTORY_SIZE = "profiling_history_size", Both, dynamic, uint(15, 0, 100, Plain), COMPATIBLE;
    PROTOCOL_COMPRESSION_ALGORITHMS = "protocol_compression_algorithms", Global, dynamic, text("zlib,uncompressed"), "Whether clients may ask for the compressed protocol (zlib).";
    PROTOCOL_VERSION = "protocol_version", Global, fixed, uint(10, 10, 10, Plain), "Version of the protocol.";
    PSEUDO_THREAD_ID = "pseudo_thread_id", Session, dynamic, uint(0, 0, u32::MAX as u64, Plain), "The session's connection id.";
    RAND_SEED1 = "rand_seed1", Session, dynamic, uint(0, 0, u32::MAX as u64, Plain), "No effect.";
    RAND_SEED2 = "rand_seed2", Session, dynamic, uint(0, 0, u32::MAX as u64, Plain), "No effect.";
    RANGE_OPTIMIZER_MAX_MEM_SIZE = "range_optimizer_max_mem_size", Both, dynamic, uint(8388608, 0, u64::MAX, Bytes), COMPATIBLE;
    READ_BUFFER_SIZE = "read_buffer_size", Both, dynamic, uint(131072, 8192, 2147479552, Bytes), COMPATIBLE;
    READ_ONLY = "read_only", Global, dynamic, bool(false), "No effect.";
    READ_RND_BUFFER_SIZE = "read_rnd_buffer_size", Both, dynamic, uint(262144, 1, 2147483647, Bytes), COMPATIBLE;
    RELAY_LOG = "relay_log", Global, fixed, text("vm-relay-bin"), COMPATIBLE;
    REPLICA_PARALLEL_WORKERS = "replica_parallel_workers", Global, dynamic, uint(4, 1, 1024, Plain), COMPATIBLE;
    REPORT_HOST = "report_host", Global, fixed, text(""), COMPATIBLE;
    REQUIRE_SECURE_TRANSPORT = "require_secure_transport", Global, dynamic, bool(false), "Whether only clients with TLS, and those of the Unix socket, come in.";
    SECURE_FILE_PRIV = "secure_file_priv", Global, fixed, null(), "Directory that LOAD DATA may read; NULL for none, empty for any.";
    SERVER_ID = "server_id", Global, dynamic, uint(1, 0, u32::MAX as u64, Plain), "No effect: there is no replication yet.";
    SERVER_UUID = "server_uuid", Global, fixed, text(""), "Identity of the server's data.";
    SESSION_TRACK_GTIDS = "session_track_gtids", Both, dynamic, one_of(&["OFF", "OWN_GTID", "ALL_GTIDS"], 0), "No effect.";
    SESSION_TRACK_SCHEMA = "session_track_schema", Both, dynamic, bool(true), "Whether clients that follow the session are told of a new default database.";
    SESSION_TRACK_STATE_CHANGE = "session_track_state_change", Both, dynamic, bool(false), "Whether they are told that something of the session has changed.";
    SESSION_TRACK_SYSTEM_VARIABLES = "session_track_system_variables", Both, dynamic, text("time_zone,autocommit,character_set_client,character_set_results,character_set_connection"), "The variables whose changes they are told of; * for all.";
    SESSION_TRACK_TRANSACTION_INFO = "session_track_transaction_info", Both, dynamic, one_of(&["OFF", "STATE", "CHARACTERISTICS"], 0), "No effect.";
    SKIP_EXTERNAL_LOCKING = "skip_external_locking", Global, fixed, bool(true), COMPATIBLE;
    SKIP_NAME_RESOLVE = "skip_name_resolve", Global, fixed, bool(true), "Clients are known by address.";
    SKIP_NETWORKING = "skip_networking", Global, fixed, bool(false), "Whether only the socket is listened on.";
    SKIP_REPLICA_START = "skip_replica_start", Global, fixed, bool(false), COMPATIBLE;
    SKIP_SHOW_DATABASE = "skip_show_database", Global, fixed, bool(false), "No effect.";
    SKIP_SLAVE_START = "skip_slave_start", Global, fixed, bool(false), COMPATIBLE;
    SLOW_LAUNCH_TIME = "slow_launch_time", Global, dynamic, uint(2, 0, 31536000, Seconds), "No effect.";
    SLOW_QUERY_LOG = "slow_query_log", Global, dynamic, bool(false), COMPATIBLE;
    SLOW_QUERY_LOG_FILE = "slow_query_log_file", Global, dynamic, text(""), COMPATIBLE;
    SOCKET = "socket", Global, fixed, text(""), "Path of the Unix socket; empty for none.";
    SORT_BUFFER_SIZE = "sort_buffer_size", Both, dynamic, uint(262144, 32768, u64::MAX, Bytes), COMPATIBLE;
    SQL_AUTO_IS_NULL = "sql_auto_is_null", Both, dynamic, bool(false), "No effect.";
    SQL_BIG_SELECTS = "sql_big_selects", Both, dynamic, bool(true), "No effect.";
    SQL_BUFFER_RESULT = "sql_buffer_result", Both, dynamic, bool(false), COMPATIBLE;
    SQL_LOG_BIN = "sql_log_bin", Session, dynamic, bool(true), "No effect: there is no binary log yet.";
    SQL_LOG_OFF = "sql_log_off", Both, dynamic, bool(false), COMPATIBLE;
    SQL_MODE = "sql_mode", Both, dynamic, flags(SQL_MODES, DEFAULT_SQL_MODE), "How strictly values and syntax are taken.";
    SQL_NOTES = "sql_notes", Both, dynamic, bool(true), "Whether notes are kept for SHOW WARNINGS.";
    SQL_QUOTE_SHOW_CREATE = "sql_quote_show_create", Both, dynamic, bool(true), COMPATIBLE;
    SQL_REQUIRE_PRIMARY_KEY = "sql_require_primary_key", Both, dynamic, bool(false), COMPATIBLE;
    SQL_SAFE_UPDATES = "sql_safe_updates", Both, dynamic, bool(false), "UPDATE and DELETE need a key in WHERE, or LIMIT (1175).";
    SQL_SELECT_LIMIT = "sql_select_limit", Both, dynamic, uint(u64::MAX, 0, u64::MAX, Plain), "Rows a SELECT without LIMIT returns at most.";
    SQL_WARNINGS = "sql_warnings", Both, dynamic, bool(false), "No effect.";
    SSL_CA = "ssl_ca", Global, fixed, text("ca.pem"), "File of the certificate authority; made with the others if none is there.";
    SSL_CERT = "ssl_cert", Global, fixed, text("server-cert.pem"), "File of the server's certificates, in PEM, in the data directory unless it says where.";
    SSL_KEY = "ssl_key", Global, fixed, text("server-key.pem"), "File of the server's private key, in PEM.";
    STORED_PROGRAM_CACHE = "stored_program_cache", Global, dynamic, uint(256, 16, 524288, Plain), COMPATIBLE;
    SUPER_READ_ONLY = "super_read_only", Global, dynamic, bool(false), COMPATIBLE;
    SYNC_BINLOG = "sync_binlog", Global, dynamic, uint(1, 0, u32::MAX as u64, Plain), "No effect: there is no binary log yet.";
    SYSTEM_TIME_ZONE = "system_time_zone", Global, fixed, text("UTC"), "Time zone of the machine.";
    TABLE_DEFINITION_CACHE = "table_definition_cache", Global, dynamic, uint(2000, 400, 524288, Plain), COMPATIBLE;
    TABLE_OPEN_CACHE = "table_open_cache", Global, dynamic, uint(4000, 1, 524288, Plain), COMPATIBLE;
    TABLE_OPEN_CACHE_INSTANCES = "table_open_cache_instances", Global, fixed, uint(16, 1, 64, Plain), COMPATIBLE;
    TEMPTABLE_MAX_RAM = "temptable_max_ram", Global, dynamic, uint(1073741824, 2097152, u64::MAX, Plain), COMPATIBLE;
    THREAD_CACHE_SIZE = "thread_cache_size", Global, dynamic, uint(28, 0, 16384, Plain), COMPATIBLE;
    THREAD_HANDLING = "thread_handling", Global, fixed, one_of(&["one-thread-per-connection", "no-threads", "loaded-dynamically"], 2), "No effect: sessions are tasks on as many workers as there are cores.";
    THREAD_STACK = "thread_stack", Global, fixed, uint(1048576, 131072, u64::MAX, Plain), COMPATIBLE;
    TIME_ZONE = "time_zone", Both, dynamic, text("SYSTEM"), "Time zone of TIMESTAMP values and of NOW().";
    TIMESTAMP = "timestamp", Session, dynamic, double(0.0, 0.0, 2147483647.0, Seconds), "The time that NOW() is; 0 for the clock's.";
    TLS_VERSION = "tls_version", Global, fixed, text("TLSv1.2,TLSv1.3"), "Versions of TLS that are spoken; empty for no TLS.";
    TMP_TABLE_SIZE = "tmp_table_size", Both, dynamic, uint(16777216, 1024, u64::MAX, Bytes), COMPATIBLE;
    TMPDIR = "tmpdir", Global, fixed, text("/tmp"), "No effect.";
    TRANSACTION_ISOLATION = "transaction_isolation", Both, dynamic, one_of(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"], 2), "Isolation of new transactions.";
    TRANSACTION_READ_ONLY = "transaction_read_only", Both, dynamic, bool(false), "Whether new transactions are read-only.";
    UNIQUE_CHECKS = "unique_checks", Both, dynamic, bool(true), "No effect: unique keys are always checked.";
    VERSION = "version", Global, fixed, text("8.4.0-palisade"), "Version as clients see it.";
    VERSION_COMMENT = "version_comment", Global, fixed, text("Palisade"), "Name of the product.";
    VERSION_COMPILE_MACHINE = "version_compile_machine", Global, fixed, text(std::env::consts::ARCH), "Processor the server was built for.";
    VERSION_COMPILE_OS = "version_compile_os", Global, fixed, text("Linux"), "System the server was built for.";
    VERSION_COMPILE_ZLIB = "version_compile_zlib", Global, fixed, text(""), "No effect.";
    WAIT_TIMEOUT = "wait_timeout", Both, dynamic, uint(28800, 1, 31536000, Seconds), "Idle time after which a session is closed.";
    WARNING_COUNT = "warning_count", Session, fixed, uint(0, 0, u64::MAX, Plain), "Errors, warnings and notes of the last statement.";
    WORKER_THREADS = "worker_threads", Global, fixed, uint(0, 0, 1024, Plain), "Event loops that serve sessions; 0 for as many as there are cores.";
    XA_DETACH_ON_PREPARE = "xa_detach_on_prepare", Global, fixed, bool(true), "XA PREPARE takes the transaction from its session.";
}
