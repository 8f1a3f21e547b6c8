//! Every system variable, once.
//!
//! Names, ranges and defaults are MySQL's, 8.4 and 9.7; the documentation is ours. See [`crate::sysvar`] for
//! the columns. A variable whose documentation begins with "No effect" is there because clients or option
//! files set or read it.

use crate::system_variables;

pub use self::sql_mode::{DEFAULT_SQL_MODE, SQL_MODES};

pub mod sql_mode;

const COMPATIBLE: &str = "No effect; kept for clients and option files.";
const BINARY_LOG: &str = "No effect: there is no binary log yet.";
const REPLICATION: &str = "No effect: there is no replication yet.";
const FULLTEXT: &str = "No effect: there are no FULLTEXT indexes yet.";
const INSTRUMENTS: &str = "No effect: performance_schema keeps nothing that has this size.";
const NO_ADMIN: &str = "Only the default is taken: administrators are served with the certificates of all.";
const NOT_ENCRYPTED: &str = "Only the default is taken: nothing is encrypted in files yet.";
const NO_PASSWORD_POLICY: &str =
    "Only the default is taken: passwords neither expire nor are remembered yet.";
const NO_MEMORY_LIMIT: &str = "Only the default is taken: statements that pass a limit are not counted yet.";

/// Variables whose session value only SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN may set (1227), by
/// name.
pub const SESSION_NEEDS_ADMIN: &[&str] = &[
    "innodb_strict_mode",
    "internal_tmp_mem_storage_engine",
    "low_priority_updates",
    "max_delayed_threads",
    "max_error_count",
    "max_insert_delayed_threads",
    "min_examined_row_limit",
    "preload_buffer_size",
    "select_into_buffer_size",
    "select_into_disk_sync_delay",
];

/// The same; MySQL also names SUPER in the error.
pub const SESSION_NEEDS_SUPER: &[&str] = &[
    "binlog_direct_non_transactional_updates",
    "binlog_format",
    "binlog_row_image",
    "binlog_row_value_options",
    "binlog_rows_query_log_events",
    "binlog_transaction_compression",
    "binlog_transaction_compression_level_zstd",
    "bulk_insert_buffer_size",
    "character_set_database",
    "character_set_filesystem",
    "connection_memory_chunk_size",
    "connection_memory_limit",
    "global_connection_memory_tracking",
    "histogram_generation_max_mem_size",
    "palisade_statement_memory",
    "pseudo_thread_id",
    "sql_generate_invisible_primary_key",
    "sql_log_bin",
    "sql_log_off",
    "sql_require_primary_key",
    "xa_detach_on_prepare",
];

/// The same, which REPLICATION_APPLIER may set as well.
pub const SESSION_NEEDS_APPLIER: &[&str] = &[
    "gtid_next",
    "immediate_server_version",
    "original_commit_timestamp",
    "original_server_version",
    "pseudo_replica_mode",
    "pseudo_slave_mode",
];

/// Variables whose session value is the global one of the login (1621), by name.
pub const SESSION_READ_ONLY: &[&str] = &["max_allowed_packet", "max_user_connections", "net_buffer_length"];

/// Key length and mode, as MySQL orders them.
const AES_MODES: &[&str] = &[
    "aes-128-ecb",
    "aes-192-ecb",
    "aes-256-ecb",
    "aes-128-cbc",
    "aes-192-cbc",
    "aes-256-cbc",
    "aes-128-cfb1",
    "aes-192-cfb1",
    "aes-256-cfb1",
    "aes-128-cfb8",
    "aes-192-cfb8",
    "aes-256-cfb8",
    "aes-128-cfb128",
    "aes-192-cfb128",
    "aes-256-cfb128",
    "aes-128-ofb",
    "aes-192-ofb",
    "aes-256-ofb",
];

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
    ACTIVATE_ALL_ROLES_ON_LOGIN = "activate_all_roles_on_login", Global, dynamic, bool(false), COMPATIBLE;
    ACTIVATE_MANDATORY_ROLES = "activate_mandatory_roles", Global, dynamic, bool(true), COMPATIBLE;
    ADMIN_ADDRESS = "admin_address", Global, fixed, text(""), "Address at which administrators are served beyond `max_connections`, by a worker of their own; empty for none.";
    ADMIN_PORT = "admin_port", Global, fixed, uint(33062, 0, 65535, Plain), "TCP port of `admin_address`; 0 for any free one.";
    ADMIN_SSL_CA = "admin_ssl_ca", Global, default_only, null(), NO_ADMIN;
    ADMIN_SSL_CAPATH = "admin_ssl_capath", Global, default_only, null(), NO_ADMIN;
    ADMIN_SSL_CERT = "admin_ssl_cert", Global, default_only, null(), NO_ADMIN;
    ADMIN_SSL_CIPHER = "admin_ssl_cipher", Global, default_only, null(), NO_ADMIN;
    ADMIN_SSL_CRL = "admin_ssl_crl", Global, default_only, null(), NO_ADMIN;
    ADMIN_SSL_CRLPATH = "admin_ssl_crlpath", Global, default_only, null(), NO_ADMIN;
    ADMIN_SSL_KEY = "admin_ssl_key", Global, default_only, null(), NO_ADMIN;
    ADMIN_TLS_CIPHERSUITES = "admin_tls_ciphersuites", Global, default_only, null(), NO_ADMIN;
    ADMIN_TLS_VERSION = "admin_tls_version", Global, default_only, text("TLSv1.2,TLSv1.3"), NO_ADMIN;
    AUTHENTICATION_POLICY = "authentication_policy", Global, dynamic, text("*,,"), COMPATIBLE;
    AUTO_GENERATE_CERTS = "auto_generate_certs", Global, fixed, bool(true), "Whether certificates are made in the data directory if none are there.";
    AUTO_INCREMENT_INCREMENT = "auto_increment_increment", Both, dynamic, uint(1, 1, 65535, Plain), "Distance between generated AUTO_INCREMENT values.";
    AUTO_INCREMENT_OFFSET = "auto_increment_offset", Both, dynamic, uint(1, 1, 65535, Plain), "First generated AUTO_INCREMENT value.";
    AUTOCOMMIT = "autocommit", Both, dynamic, bool(true), "Whether every statement outside a transaction commits by itself.";
    AUTOMATIC_SP_PRIVILEGES = "automatic_sp_privileges", Global, dynamic, bool(true), "No effect: there are no stored routines yet.";
    BACK_LOG = "back_log", Global, fixed, uint(151, 0, 65535, Plain), COMPATIBLE;
    BASEDIR = "basedir", Global, fixed, text(""), "No effect; the server is one binary.";
    BIG_TABLES = "big_tables", Both, dynamic, bool(false), "No effect.";
    BIND_ADDRESS = "bind_address", Global, fixed, text("127.0.0.1"), "Address that the server listens on; `*` for all.";
    BINLOG_CACHE_SIZE = "binlog_cache_size", Global, dynamic, uint(32768, 4096, 18446744073709547520, Plain, 4096), COMPATIBLE;
    BINLOG_CHECKSUM = "binlog_checksum", Global, dynamic, one_of(&["NONE", "CRC32"], 1), BINARY_LOG;
    BINLOG_DIRECT_NON_TRANSACTIONAL_UPDATES = "binlog_direct_non_transactional_updates", Both, dynamic, bool(false), BINARY_LOG;
    BINLOG_ENCRYPTION = "binlog_encryption", Global, default_only, bool(false), NOT_ENCRYPTED;
    BINLOG_ERROR_ACTION = "binlog_error_action", Global, dynamic, one_of(&["IGNORE_ERROR", "ABORT_SERVER"], 1), BINARY_LOG;
    BINLOG_EXPIRE_LOGS_AUTO_PURGE = "binlog_expire_logs_auto_purge", Global, dynamic, bool(true), BINARY_LOG;
    BINLOG_EXPIRE_LOGS_SECONDS = "binlog_expire_logs_seconds", Global, dynamic, uint(2592000, 0, 4294967295, Plain), COMPATIBLE;
    BINLOG_FORMAT = "binlog_format", Both, dynamic, one_of(&["MIXED", "STATEMENT", "ROW"], 2), BINARY_LOG;
    BINLOG_GROUP_COMMIT_SYNC_DELAY = "binlog_group_commit_sync_delay", Global, dynamic, uint(0, 0, 1000000, Plain), BINARY_LOG;
    BINLOG_GROUP_COMMIT_SYNC_NO_DELAY_COUNT = "binlog_group_commit_sync_no_delay_count", Global, dynamic, uint(0, 0, 100000, Plain), BINARY_LOG;
    BINLOG_GTID_SIMPLE_RECOVERY = "binlog_gtid_simple_recovery", Global, fixed, bool(true), BINARY_LOG;
    BINLOG_MAX_FLUSH_QUEUE_TIME = "binlog_max_flush_queue_time", Global, dynamic, uint(0, 0, 100000, Plain), BINARY_LOG;
    BINLOG_ORDER_COMMITS = "binlog_order_commits", Global, dynamic, bool(true), BINARY_LOG;
    BINLOG_ROTATE_ENCRYPTION_MASTER_KEY_AT_STARTUP = "binlog_rotate_encryption_master_key_at_startup", Global, fixed, bool(false), BINARY_LOG;
    BINLOG_ROW_EVENT_MAX_SIZE = "binlog_row_event_max_size", Global, fixed, uint(8192, 256, 18446744073709551360, Bytes), BINARY_LOG;
    BINLOG_ROW_IMAGE = "binlog_row_image", Both, dynamic, one_of(&["MINIMAL", "NOBLOB", "FULL"], 2), BINARY_LOG;
    BINLOG_ROW_METADATA = "binlog_row_metadata", Global, dynamic, one_of(&["MINIMAL", "FULL"], 0), BINARY_LOG;
    BINLOG_ROW_VALUE_OPTIONS = "binlog_row_value_options", Both, dynamic, flags(&["PARTIAL_JSON"], 0), BINARY_LOG;
    BINLOG_ROWS_QUERY_LOG_EVENTS = "binlog_rows_query_log_events", Both, dynamic, bool(false), COMPATIBLE;
    BINLOG_STMT_CACHE_SIZE = "binlog_stmt_cache_size", Global, dynamic, uint(32768, 4096, 18446744073709547520, Plain, 4096), COMPATIBLE;
    BINLOG_TRANSACTION_COMPRESSION = "binlog_transaction_compression", Both, dynamic, bool(false), BINARY_LOG;
    BINLOG_TRANSACTION_COMPRESSION_LEVEL_ZSTD = "binlog_transaction_compression_level_zstd", Both, dynamic, uint(3, 1, 22, Plain), BINARY_LOG;
    BINLOG_TRANSACTION_DEPENDENCY_HISTORY_SIZE = "binlog_transaction_dependency_history_size", Global, dynamic, uint(10000000, 1, 100000000, Plain), BINARY_LOG;
    BLOCK_ENCRYPTION_MODE = "block_encryption_mode", Both, dynamic, one_of(AES_MODES, 0), "Key length and mode of AES_ENCRYPT() and AES_DECRYPT().";
    BUILD_ID = "build_id", Global, fixed, text(""), "No effect: builds have no identity yet.";
    BULK_INSERT_BUFFER_SIZE = "bulk_insert_buffer_size", Both, dynamic, uint(8388608, 0, u64::MAX, Bytes), COMPATIBLE;
    CACHING_SHA2_PASSWORD_AUTO_GENERATE_RSA_KEYS = "caching_sha2_password_auto_generate_rsa_keys", Global, fixed, bool(true), "No effect: the key pair is made when a client first asks for it.";
    CACHING_SHA2_PASSWORD_DIGEST_ROUNDS = "caching_sha2_password_digest_rounds", Global, default_only, uint(5000, 5000, 4095000, Plain), "Only the default is taken: the rounds are fixed.";
    CACHING_SHA2_PASSWORD_ENFORCE_STORAGE_FORMAT = "caching_sha2_password_enforce_storage_format", Global, default_only, bool(false), "Only the default is taken: there is one format in which passwords are kept.";
    CACHING_SHA2_PASSWORD_PRIVATE_KEY_PATH = "caching_sha2_password_private_key_path", Global, fixed, text("private_key.pem"), "File of the RSA key with which clients without TLS encrypt passwords; made when the first asks.";
    CACHING_SHA2_PASSWORD_PROXY_USERS = "caching_sha2_password_proxy_users", Global, default_only, bool(false), "Only the default is taken: there are no proxy users yet.";
    CACHING_SHA2_PASSWORD_PUBLIC_KEY_PATH = "caching_sha2_password_public_key_path", Global, fixed, text("public_key.pem"), "File of its public half, for clients that are given it beforehand.";
    CACHING_SHA2_PASSWORD_STORAGE_FORMAT = "caching_sha2_password_storage_format", Global, default_only, text("CRYPT5"), "Only the default is taken: there is one format in which passwords are kept.";
    CHARACTER_SET_CLIENT = "character_set_client", Both, dynamic, text("utf8mb4"), "Character set of the text that clients send.";
    CHARACTER_SET_CONNECTION = "character_set_connection", Both, dynamic, text("utf8mb4"), "Character set of literals.";
    CHARACTER_SET_DATABASE = "character_set_database", Both, dynamic, text("utf8mb4"), "Character set of the current schema.";
    CHARACTER_SET_FILESYSTEM = "character_set_filesystem", Both, dynamic, text("binary"), "No effect.";
    CHARACTER_SET_RESULTS = "character_set_results", Both, dynamic, text("utf8mb4"), "Character set of results; NULL leaves them as they are.";
    CHARACTER_SET_SERVER = "character_set_server", Both, dynamic, text("utf8mb4"), "Character set of new schemas that name none.";
    CHARACTER_SET_SYSTEM = "character_set_system", Global, fixed, text("utf8mb3"), "Character set of identifiers.";
    CHARACTER_SETS_DIR = "character_sets_dir", Global, fixed, text(""), "No effect; character sets are built in.";
    CHECK_PROXY_USERS = "check_proxy_users", Global, default_only, bool(false), "Only the default is taken: there are no proxy users yet.";
    COLLATION_CONNECTION = "collation_connection", Both, dynamic, text("utf8mb4_0900_ai_ci"), "Collation of literals.";
    COLLATION_DATABASE = "collation_database", Both, dynamic, text("utf8mb4_0900_ai_ci"), "Collation of the current schema.";
    COLLATION_SERVER = "collation_server", Both, dynamic, text("utf8mb4_0900_ai_ci"), "Collation of new schemas that name none.";
    COMPLETION_TYPE = "completion_type", Both, dynamic, one_of(&["NO_CHAIN", "CHAIN", "RELEASE"], 0), "What COMMIT and ROLLBACK without AND CHAIN or RELEASE do.";
    CONCURRENT_INSERT = "concurrent_insert", Global, dynamic, one_of(&["NEVER", "AUTO", "ALWAYS"], 1), "No effect.";
    CONNECT_TIMEOUT = "connect_timeout", Global, dynamic, uint(10, 2, 31536000, Seconds), "How long each wait for a client may last while it logs in; the whole login may take ten times as long.";
    CONNECTION_MEMORY_CHUNK_SIZE = "connection_memory_chunk_size", Both, dynamic, uint(8192, 1, 536870912, Bytes), "Bytes by which the memory of a connection must have changed before the sum of all connections learns of it.";
    CONNECTION_MEMORY_LIMIT = "connection_memory_limit", Both, dynamic, uint(u64::MAX, 2097152, u64::MAX, Bytes), "Bytes that a statement and what its session keeps may take; one that takes more ends with 4082, and its connection with it. Accounts with CONNECTION_ADMIN may take more.";
    CONNECTION_MEMORY_STATUS_LIMIT = "connection_memory_status_limit", Global, default_only, uint(u64::MAX, 2097152, u64::MAX, Plain), NO_MEMORY_LIMIT;
    CONTAINER_AWARE = "container_aware", Global, fixed_default, bool(false), "Only the default is taken: the machine is taken as it says it is.";
    CORE_FILE = "core_file", Global, fixed, bool(false), COMPATIBLE;
    CREATE_ADMIN_LISTENER_THREAD = "create_admin_listener_thread", Global, fixed, bool(false), "No effect: administrators have a worker of their own in any case.";
    CTE_MAX_RECURSION_DEPTH = "cte_max_recursion_depth", Both, dynamic, uint(1000, 0, 4294967295, Plain), "Rounds of a recursive common table expression (3636).";
    DATADIR = "datadir", Global, fixed, text("./data"), "Directory of all data.";
    DEFAULT_COLLATION_FOR_UTF8MB4 = "default_collation_for_utf8mb4", Both, dynamic, text("utf8mb4_0900_ai_ci"), "No effect yet.";
    DEFAULT_PASSWORD_LIFETIME = "default_password_lifetime", Global, default_only, uint(0, 0, 65535, Seconds), NO_PASSWORD_POLICY;
    DEFAULT_STORAGE_ENGINE = "default_storage_engine", Both, dynamic, text("InnoDB"), "Engine of new tables that name none; there is one.";
    DEFAULT_TABLE_ENCRYPTION = "default_table_encryption", Both, default_only, bool(false), NOT_ENCRYPTED;
    DEFAULT_TMP_STORAGE_ENGINE = "default_tmp_storage_engine", Both, dynamic, text("InnoDB"), "No effect.";
    DEFAULT_WEEK_FORMAT = "default_week_format", Both, dynamic, uint(0, 0, 7, Plain), "Mode of WEEK() where none is given.";
    DELAY_KEY_WRITE = "delay_key_write", Global, dynamic, one_of(&["OFF", "ON", "ALL"], 1), "No effect.";
    DELAYED_INSERT_LIMIT = "delayed_insert_limit", Global, dynamic, uint(100, 1, u64::MAX, Plain), "No effect, as in MySQL where skip_name_resolve is ON: there is no host cache to count in.";
    DELAYED_INSERT_TIMEOUT = "delayed_insert_timeout", Global, dynamic, uint(300, 1, 31536000, Seconds), COMPATIBLE;
    DELAYED_QUEUE_SIZE = "delayed_queue_size", Global, dynamic, uint(1000, 1, u64::MAX, Plain), COMPATIBLE;
    DISABLED_STORAGE_ENGINES = "disabled_storage_engines", Global, fixed, text(""), "Engines that CREATE TABLE does not take (3161).";
    DISCONNECT_ON_EXPIRED_PASSWORD = "disconnect_on_expired_password", Global, fixed, bool(true), COMPATIBLE;
    DIV_PRECISION_INCREMENT = "div_precision_increment", Both, dynamic, uint(4, 0, 30, Plain), "Digits that a division adds to the scale.";
    ENABLE_CASCADE_TRIGGERS = "enable_cascade_triggers", Both, dynamic, bool(false), "No effect: there are no triggers yet.";
    ENABLE_SECONDARY_ENGINE_STATISTICS = "enable_secondary_engine_statistics", Both, dynamic, bool(true), COMPATIBLE;
    END_MARKERS_IN_JSON = "end_markers_in_json", Both, dynamic, bool(false), "Whether traces of the optimizer say what ends where an object ends.";
    ENFORCE_GTID_CONSISTENCY = "enforce_gtid_consistency", Global, dynamic, text("ON"), COMPATIBLE;
    EQ_RANGE_INDEX_DIVE_LIMIT = "eq_range_index_dive_limit", Both, dynamic, uint(200, 0, 4294967295, Plain), COMPATIBLE;
    ERROR_COUNT = "error_count", Session, fixed, uint(0, 0, u64::MAX, Plain), "Errors of the last statement.";
    EVENT_SCHEDULER = "event_scheduler", Global, dynamic, one_of(&["OFF", "ON", "DISABLED"], 0), "OFF and DISABLED are taken: there are no events yet.";
    EXPLAIN_FORMAT = "explain_format", Both, dynamic, one_of(&["TRADITIONAL", "TRADITIONAL_STRICT", "TREE", "JSON"], 2), "The format of an EXPLAIN that says none.";
    EXPLAIN_JSON_FORMAT_VERSION = "explain_json_format_version", Both, dynamic, uint(2, 1, 2, Plain), "The form of EXPLAIN FORMAT=JSON: query blocks (1), or the steps of FORMAT=TREE (2).";
    EXPLICIT_DEFAULTS_FOR_TIMESTAMP = "explicit_defaults_for_timestamp", Both, dynamic, bool(true), COMPATIBLE;
    EXTERNAL_TABLE_SECONDARY_STORAGE_ENGINE = "external_table_secondary_storage_engine", Both, dynamic, text(""), COMPATIBLE;
    EXTERNAL_TABLE_STORAGE_ENGINE = "external_table_storage_engine", Both, dynamic, text(""), COMPATIBLE;
    EXTERNAL_USER = "external_user", Session, fixed, null(), "NULL: there is no authentication by others yet.";
    FLUSH = "flush", Global, dynamic, bool(false), COMPATIBLE;
    FLUSH_TIME = "flush_time", Global, dynamic, uint(0, 0, 31536000, Seconds), COMPATIBLE;
    FOREIGN_KEY_CHECKS = "foreign_key_checks", Both, dynamic, bool(true), "Whether foreign keys are checked; OFF is for loading dumps.";
    FT_BOOLEAN_SYNTAX = "ft_boolean_syntax", Global, dynamic, text("+ -><()~*:\"\"&|"), FULLTEXT;
    FT_MAX_WORD_LEN = "ft_max_word_len", Global, fixed, uint(84, 10, 84, Plain), FULLTEXT;
    FT_MIN_WORD_LEN = "ft_min_word_len", Global, fixed, uint(4, 1, 84, Plain), COMPATIBLE;
    FT_QUERY_EXPANSION_LIMIT = "ft_query_expansion_limit", Global, fixed, uint(20, 0, 1000, Plain), FULLTEXT;
    FT_STOPWORD_FILE = "ft_stopword_file", Global, fixed, text(""), FULLTEXT;
    GENERAL_LOG = "general_log", Global, dynamic, bool(false), "Whether logins and statements are written to general_log_file, passwords left out.";
    GENERAL_LOG_FILE = "general_log_file", Global, dynamic, text(""), "File of the general log, in the data directory unless absolute; empty for one named after the machine.";
    GENERATED_RANDOM_PASSWORD_LENGTH = "generated_random_password_length", Both, dynamic, uint(20, 5, 255, Plain), COMPATIBLE;
    GLOBAL_CONNECTION_MEMORY_LIMIT = "global_connection_memory_limit", Global, dynamic, uint(u64::MAX, 16777216, u64::MAX, Bytes), "Bytes that all connections may take together, where global_connection_memory_tracking is ON; a statement that takes more than 1 MiB itself and meets the limit ends with 4081, and its connection with it. Accounts with CONNECTION_ADMIN may take more.";
    GLOBAL_CONNECTION_MEMORY_STATUS_LIMIT = "global_connection_memory_status_limit", Global, default_only, uint(u64::MAX, 16777216, u64::MAX, Plain), NO_MEMORY_LIMIT;
    GLOBAL_CONNECTION_MEMORY_TRACKING = "global_connection_memory_tracking", Both, dynamic, bool(false), "Whether global_connection_memory_limit holds for the session. The memory of connections is added up in any case.";
    GROUP_CONCAT_MAX_LEN = "group_concat_max_len", Both, dynamic, uint(1024, 4, u64::MAX, Bytes), "Longest result of GROUP_CONCAT().";
    GROUP_REPLICATION_CONSISTENCY = "group_replication_consistency", Both, dynamic, one_of(&["EVENTUAL", "BEFORE_ON_PRIMARY_FAILOVER", "BEFORE", "AFTER", "BEFORE_AND_AFTER"], 1), REPLICATION;
    GTID_EXECUTED = "gtid_executed", Global, fixed, text(""), BINARY_LOG;
    GTID_EXECUTED_COMPRESSION_PERIOD = "gtid_executed_compression_period", Global, dynamic, uint(0, 0, 4294967295, Plain), BINARY_LOG;
    GTID_MODE = "gtid_mode", Global, dynamic, one_of(&["OFF", "OFF_PERMISSIVE", "ON_PERMISSIVE", "ON"], 0), "Only OFF is taken: there is no binary log yet.";
    GTID_NEXT = "gtid_next", Session, dynamic, text("AUTOMATIC"), BINARY_LOG;
    GTID_OWNED = "gtid_owned", Both, fixed, text(""), BINARY_LOG;
    GTID_PURGED = "gtid_purged", Global, dynamic, text(""), BINARY_LOG;
    HAVE_COMPRESS = "have_compress", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_DYNAMIC_LOADING = "have_dynamic_loading", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_GEOMETRY = "have_geometry", Global, fixed, text("NO"), "Whether there are spatial types.";
    HAVE_PROFILING = "have_profiling", Global, fixed, text("YES"), "Whether SHOW PROFILE is supported.";
    HAVE_QUERY_CACHE = "have_query_cache", Global, fixed, text("NO"), COMPATIBLE;
    HAVE_RTREE_KEYS = "have_rtree_keys", Global, fixed, text("NO"), "Whether there are SPATIAL indexes.";
    HAVE_STATEMENT_TIMEOUT = "have_statement_timeout", Global, fixed, text("YES"), COMPATIBLE;
    HAVE_SYMLINK = "have_symlink", Global, fixed, text("DISABLED"), COMPATIBLE;
    HISTOGRAM_GENERATION_MAX_MEM_SIZE = "histogram_generation_max_mem_size", Both, dynamic, uint(20000000, 1000000, u64::MAX, Bytes), "Bytes that values may take while histograms are made of them; of columns with more values a random sample of the rows is taken.";
    HOST_CACHE_SIZE = "host_cache_size", Global, dynamic, uint(703, 0, 65536, Plain), COMPATIBLE;
    HOSTNAME = "hostname", Global, fixed, text(""), "Name of the machine.";
    HTTP_ADDRESS = "http_address", Global, fixed, text("127.0.0.1"), "Address of `http_port`. Beyond this machine only accounts with PROCESS are answered.";
    HTTP_PORT = "http_port", Global, fixed, uint(0, 0, 65535, Plain), "TCP port at which `/metrics` for Prometheus and a page for people are served; 0 for none.";
    IDENTITY = "identity", Session, dynamic, uint(0, 0, u64::MAX, Plain), "Same as last_insert_id.";
    IMMEDIATE_SERVER_VERSION = "immediate_server_version", Session, dynamic, uint(999999, 0, 999999, Plain), REPLICATION;
    INFORMATION_SCHEMA_STATS_EXPIRY = "information_schema_stats_expiry", Both, dynamic, uint(86400, 0, 31536000, Plain), COMPATIBLE;
    INIT_CONNECT = "init_connect", Global, dynamic, text(""), "Statements that are executed for each client at its login, unless it has CONNECTION_ADMIN; one that fails ends the connection (1184).";
    INIT_FILE = "init_file", Global, fixed_default, null(), "Only the default is taken: nothing is executed at the start yet.";
    INIT_REPLICA = "init_replica", Global, dynamic, text(""), REPLICATION;
    INIT_SLAVE = "init_slave", Global, dynamic, text(""), REPLICATION;
    INNODB_ADAPTIVE_FLUSHING = "innodb_adaptive_flushing", Global, dynamic, bool(true), "Whether pages are written back at a rate that follows the log; if not, the log asks for nothing until three quarters of it are used.";
    INNODB_ADAPTIVE_FLUSHING_LWM = "innodb_adaptive_flushing_lwm", Global, dynamic, uint(10, 0, 70, Plain), "From so many percent of the redo log's capacity on pages are written back.";
    INNODB_ADAPTIVE_HASH_INDEX = "innodb_adaptive_hash_index", Global, dynamic, bool(false), "Whether look-ups by a whole key first try the page on which that key was found last. Takes a byte for each 32 of innodb_buffer_pool_size, 128 MiB at most, when it is switched on for the first time; OFF forgets what is in it.";
    INNODB_ADAPTIVE_HASH_INDEX_PARTS = "innodb_adaptive_hash_index_parts", Global, fixed, uint(8, 1, 512, Plain), "In how many parts, by index, the adaptive hash index is judged: a part of which the guesses come true too seldom is left alone for a while.";
    INNODB_ADAPTIVE_MAX_SLEEP_DELAY = "innodb_adaptive_max_sleep_delay", Global, dynamic, uint(150000, 0, 1000000, Plain), COMPATIBLE;
    INNODB_API_BK_COMMIT_INTERVAL = "innodb_api_bk_commit_interval", Global, dynamic, uint(5, 1, 1073741824, Plain), COMPATIBLE;
    INNODB_API_DISABLE_ROWLOCK = "innodb_api_disable_rowlock", Global, fixed, bool(false), COMPATIBLE;
    INNODB_API_ENABLE_BINLOG = "innodb_api_enable_binlog", Global, fixed, bool(false), COMPATIBLE;
    INNODB_API_ENABLE_MDL = "innodb_api_enable_mdl", Global, fixed, bool(false), COMPATIBLE;
    INNODB_API_TRX_LEVEL = "innodb_api_trx_level", Global, dynamic, uint(0, 0, 3, Plain), COMPATIBLE;
    INNODB_AUTOEXTEND_INCREMENT = "innodb_autoextend_increment", Global, dynamic, uint(64, 1, 1000, Plain), "No effect: as in MySQL it is not for the files of tables, and there is no system tablespace.";
    INNODB_AUTOINC_LOCK_MODE = "innodb_autoinc_lock_mode", Global, fixed, uint(2, 0, 2, Plain), "Which statements keep a table's AUTO_INCREMENT values to themselves until they have ended: 0 all that insert rows, 1 those that insert what a query or a file gives, 2 none.";
    INNODB_BUFFER_POOL_CHUNK_SIZE = "innodb_buffer_pool_chunk_size", Global, fixed, uint(128 << 20, 1 << 20, 144115188075855871, Bytes, 1 << 20), "What innodb_buffer_pool_size is rounded up to multiples of when SET changes it; never more than the size at the start.";
    INNODB_BUFFER_POOL_DUMP_AT_SHUTDOWN = "innodb_buffer_pool_dump_at_shutdown", Global, dynamic, bool(true), "Whether a shutdown writes which pages are in memory to innodb_buffer_pool_filename.";
    INNODB_BUFFER_POOL_DUMP_NOW = "innodb_buffer_pool_dump_now", Global, dynamic, bool(false), "Set to ON, an order: which pages are in memory is written to innodb_buffer_pool_filename.";
    INNODB_BUFFER_POOL_DUMP_PCT = "innodb_buffer_pool_dump_pct", Global, dynamic, uint(25, 1, 100, Plain), "Pages that a dump names at most, in percent of the buffer pool: those that were accessed again lately before the others.";
    INNODB_BUFFER_POOL_FILENAME = "innodb_buffer_pool_filename", Global, dynamic, text("ib_buffer_pool"), "The file in the data directory that a dump of the buffer pool's content is written to and loaded from; a name without a path.";
    INNODB_BUFFER_POOL_IN_CORE_FILE = "innodb_buffer_pool_in_core_file", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_BUFFER_POOL_INSTANCES = "innodb_buffer_pool_instances", Global, fixed, uint(1, 0, 64, Plain), COMPATIBLE;
    INNODB_BUFFER_POOL_LOAD_ABORT = "innodb_buffer_pool_load_abort", Global, dynamic, bool(false), "Set to ON, an order: a load that is under way ends.";
    INNODB_BUFFER_POOL_LOAD_AT_STARTUP = "innodb_buffer_pool_load_at_startup", Global, fixed, bool(true), "Whether a start reads the pages that innodb_buffer_pool_filename names, in the background and as long as frames are free.";
    INNODB_BUFFER_POOL_LOAD_NOW = "innodb_buffer_pool_load_now", Global, dynamic, bool(false), "Set to ON, an order: the pages that innodb_buffer_pool_filename names are read, in the background.";
    INNODB_BUFFER_POOL_SIZE = "innodb_buffer_pool_size", Global, dynamic, uint(128 << 20, 5 << 20, i64::MAX as u64, Bytes, 1 << 20), "Memory for pages. SET has the pool grow or shrink in the background, up to the machine's memory; the Innodb_buffer_pool_resize_status variables tell how far it is. Row and range locks take up to half as much besides; a statement that needs more fails with error 1206, and its transaction is rolled back.";
    INNODB_CHANGE_BUFFER_MAX_SIZE = "innodb_change_buffer_max_size", Global, dynamic, uint(5, 0, 50, Plain), "Percent of the buffer pool for the changes of pages that leave memory before they are written: such a page is read, given its changes and written later. 0 has every changed page written before it leaves memory.";
    INNODB_CHANGE_BUFFERING = "innodb_change_buffering", Global, dynamic, one_of(&["none", "inserts", "deletes", "changes", "purges", "all"], 0), "With none, which is not MySQL's default, every changed page is written before it leaves memory; with any other value changes of pages that leave memory are kept, in room of innodb_change_buffer_max_size.";
    INNODB_CHECKSUM_ALGORITHM = "innodb_checksum_algorithm", Global, default_only, text("crc32"), "Only the default is taken: pages always have CRC-32C checksums.";
    INNODB_CMP_PER_INDEX_ENABLED = "innodb_cmp_per_index_enabled", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_COMMIT_CONCURRENCY = "innodb_commit_concurrency", Global, dynamic, uint(0, 0, 1000, Plain), COMPATIBLE;
    INNODB_COMPRESSION_FAILURE_THRESHOLD_PCT = "innodb_compression_failure_threshold_pct", Global, dynamic, uint(5, 0, 100, Plain), COMPATIBLE;
    INNODB_COMPRESSION_LEVEL = "innodb_compression_level", Global, dynamic, uint(6, 0, 9, Plain), "How hard zlib tries to make pages smaller, in tables with COMPRESSION='zlib'; lz4 and zstd have one level here. At 0 pages are stored as they are.";
    INNODB_COMPRESSION_PAD_PCT_MAX = "innodb_compression_pad_pct_max", Global, dynamic, uint(50, 0, 75, Plain), COMPATIBLE;
    INNODB_CONCURRENCY_TICKETS = "innodb_concurrency_tickets", Global, dynamic, uint(5000, 1, 4294967295, Plain), COMPATIBLE;
    INNODB_DATA_FILE_PATH = "innodb_data_file_path", Global, fixed, text("ibdata1:12M:autoextend"), COMPATIBLE;
    INNODB_DATA_HOME_DIR = "innodb_data_home_dir", Global, fixed, text(""), COMPATIBLE;
    INNODB_DDL_BUFFER_SIZE = "innodb_ddl_buffer_size", Both, dynamic, uint(1048576, 65536, 4294967295, Bytes), COMPATIBLE;
    INNODB_DDL_THREADS = "innodb_ddl_threads", Both, dynamic, uint(4, 1, 64, Plain), COMPATIBLE;
    INNODB_DEADLOCK_DETECT = "innodb_deadlock_detect", Global, default_only, bool(true), "Only the default is taken: deadlocks are always looked for when a wait begins.";
    INNODB_DEDICATED_SERVER = "innodb_dedicated_server", Global, fixed_default, bool(false), "Only the default is taken: the machine is not measured.";
    INNODB_DEFAULT_ROW_FORMAT = "innodb_default_row_format", Global, dynamic, one_of(&["redundant", "compact", "dynamic"], 2), "No effect.";
    INNODB_DIRECTORIES = "innodb_directories", Global, fixed, text(""), COMPATIBLE;
    INNODB_DISABLE_SORT_FILE_CACHE = "innodb_disable_sort_file_cache", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_DOUBLEWRITE = "innodb_doublewrite", Global, dynamic, one_of(&["OFF", "ON", "DETECT_ONLY", "DETECT_AND_RECOVER", "FALSE", "TRUE", "AUTO"], 1), "How torn pages are provided against: by copies in the doublewrite files (ON, DETECT_AND_RECOVER), by the ids of pages there, which tell a torn page and do not restore it (DETECT_ONLY; the dictionary and undo have copies), by atomic writes where the files have them and copies elsewhere (AUTO), or not at all (OFF, at start only).";
    INNODB_DOUBLEWRITE_BATCH_SIZE = "innodb_doublewrite_batch_size", Global, fixed, uint(0, 0, 256, Plain), "Pages that a cleaner writes in one batch, if that is fewer than innodb_doublewrite_pages; 0 for these.";
    INNODB_DOUBLEWRITE_DIR = "innodb_doublewrite_dir", Global, fixed, null(), "Directory of the doublewrite files, in the data directory unless absolute; NULL for the data directory.";
    INNODB_DOUBLEWRITE_FILES = "innodb_doublewrite_files", Global, fixed, uint(2, 1, 256, Plain), "Doublewrite files that the cleaners' lanes are spread over; no more than there are lanes.";
    INNODB_DOUBLEWRITE_PAGES = "innodb_doublewrite_pages", Global, fixed, uint(128, 1, 512, Plain), "Pages of a lane of the doublewrite files, which is most that a cleaner writes in one batch.";
    INNODB_EXTEND_AND_INITIALIZE = "innodb_extend_and_initialize", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_FAST_SHUTDOWN = "innodb_fast_shutdown", Global, dynamic, uint(1, 0, 2, Plain), COMPATIBLE;
    INNODB_FILE_PER_TABLE = "innodb_file_per_table", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_FILL_FACTOR = "innodb_fill_factor", Global, dynamic, uint(100, 10, 100, Plain), COMPATIBLE;
    INNODB_FLUSH_LOG_AT_TIMEOUT = "innodb_flush_log_at_timeout", Global, dynamic, uint(1, 0, 2700, Seconds), "How often the log is flushed where commits do not wait for it; 0 is every 10 milliseconds.";
    INNODB_FLUSH_LOG_AT_TRX_COMMIT = "innodb_flush_log_at_trx_commit", Global, dynamic, uint(1, 0, 2, Plain), "1: a commit is answered when durable; 2: when written, 0: when in memory, flushed every innodb_flush_log_at_timeout.";
    INNODB_FLUSH_METHOD = "innodb_flush_method", Global, fixed, one_of(&["fsync", "O_DSYNC", "littlesync", "nosync", "O_DIRECT", "O_DIRECT_NO_FSYNC"], 4), "How data and log files are opened and synced. O_DIRECT and O_DIRECT_NO_FSYNC pass the page cache by, the others do not. fsync, O_DIRECT: everything is synced. O_DSYNC: each write to the log is durable when it returns, and the log is not synced. O_DIRECT_NO_FSYNC: data files are synced only where their length or space changes; safe if log and data are on one device. littlesync: data files are not synced. nosync: nothing is; both are for tests, a power failure may lose everything.";
    INNODB_FLUSH_NEIGHBORS = "innodb_flush_neighbors", Global, dynamic, uint(0, 0, 2, Plain), "Dirty pages that are written with a page: 0 none, 1 those beside it in its extent (64 pages), 2 all of its extent.";
    INNODB_FLUSH_SYNC = "innodb_flush_sync", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_FLUSHING_AVG_LOOPS = "innodb_flushing_avg_loops", Global, dynamic, uint(30, 1, 1000, Seconds), "Time over which log_flush_avg_time, log_flush_max_time and log_flush_lsn_avg_rate look back.";
    INNODB_FORCE_LOAD_CORRUPTED = "innodb_force_load_corrupted", Global, fixed_default, bool(false), "Only the default is taken: a damaged table is not opened.";
    INNODB_FORCE_RECOVERY = "innodb_force_recovery", Global, fixed, uint(0, 0, 6, Plain), "What of a damaged data directory is given up so that the rest can be read; docs/recovery.md says what each level does. Above 0 no row is changed, from 4 on nothing is written.";
    INNODB_FSYNC_THRESHOLD = "innodb_fsync_threshold", Global, dynamic, uint(0, 0, u64::MAX, Plain, 16384), COMPATIBLE;
    INNODB_FT_AUX_TABLE = "innodb_ft_aux_table", Global, dynamic, null(), FULLTEXT;
    INNODB_FT_CACHE_SIZE = "innodb_ft_cache_size", Global, fixed, uint(8000000, 1600000, 80000000, Bytes), FULLTEXT;
    INNODB_FT_ENABLE_DIAG_PRINT = "innodb_ft_enable_diag_print", Global, dynamic, bool(false), FULLTEXT;
    INNODB_FT_ENABLE_STOPWORD = "innodb_ft_enable_stopword", Both, dynamic, bool(true), FULLTEXT;
    INNODB_FT_MAX_TOKEN_SIZE = "innodb_ft_max_token_size", Global, fixed, uint(84, 10, 84, Plain), FULLTEXT;
    INNODB_FT_MIN_TOKEN_SIZE = "innodb_ft_min_token_size", Global, fixed, uint(3, 0, 16, Plain), COMPATIBLE;
    INNODB_FT_NUM_WORD_OPTIMIZE = "innodb_ft_num_word_optimize", Global, dynamic, uint(2000, 1000, 10000, Plain), FULLTEXT;
    INNODB_FT_RESULT_CACHE_LIMIT = "innodb_ft_result_cache_limit", Global, dynamic, uint(2000000000, 1000000, 4294967295, Bytes), FULLTEXT;
    INNODB_FT_SERVER_STOPWORD_TABLE = "innodb_ft_server_stopword_table", Global, dynamic, null(), FULLTEXT;
    INNODB_FT_SORT_PLL_DEGREE = "innodb_ft_sort_pll_degree", Global, fixed, uint(2, 1, 16, Plain), FULLTEXT;
    INNODB_FT_TOTAL_CACHE_SIZE = "innodb_ft_total_cache_size", Global, fixed, uint(640000000, 32000000, 1600000000, Bytes), FULLTEXT;
    INNODB_FT_USER_STOPWORD_TABLE = "innodb_ft_user_stopword_table", Both, dynamic, null(), FULLTEXT;
    INNODB_IDLE_FLUSH_PCT = "innodb_idle_flush_pct", Global, dynamic, uint(100, 0, 100, Plain), COMPATIBLE;
    INNODB_IO_CAPACITY = "innodb_io_capacity", Global, dynamic, uint(10000, 100, u32::MAX as u64, Plain), "Pages per second to write back while nothing is logged.";
    INNODB_IO_CAPACITY_MAX = "innodb_io_capacity_max", Global, dynamic, uint(20000, 100, u32::MAX as u64, Plain), "Pages per second to write back at most, unless the log is nearly full: its age decides how many. Where it is not given, twice innodb_io_capacity.";
    INNODB_LOCK_WAIT_TIMEOUT = "innodb_lock_wait_timeout", Both, dynamic, uint(50, 1, 1073741824, Seconds), "How long a statement waits for a row lock.";
    INNODB_LOG_BUFFER_SIZE = "innodb_log_buffer_size", Global, dynamic, uint(64 << 20, 256 << 10, (4 << 30) - 1, Bytes, 1024), "Memory for log not yet written: the power of two that is not less, between 2 MiB and a quarter of innodb_redo_log_capacity. When it is changed, the memory follows in the background.";
    INNODB_LOG_CHECKSUMS = "innodb_log_checksums", Global, default_only, bool(true), "Only the default is taken: the redo log always has checksums.";
    INNODB_LOG_COMPRESSED_PAGES = "innodb_log_compressed_pages", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_LOG_FILE_SIZE = "innodb_log_file_size", Global, fixed, uint(48 << 20, 4 << 20, 512 << 30, Bytes), "Deprecated: where it is given and innodb_redo_log_capacity is not, the capacity is this times innodb_log_files_in_group.";
    INNODB_LOG_FILES_IN_GROUP = "innodb_log_files_in_group", Global, fixed, uint(2, 2, 100, Plain), "Deprecated; see innodb_log_file_size.";
    INNODB_LOG_FLUSHER_AFFINITY = "innodb_log_flusher_affinity", Global, dynamic, text(""), "Processors that the log's flusher thread runs on, such as 0,2-3; empty for all.";
    INNODB_LOG_GROUP_HOME_DIR = "innodb_log_group_home_dir", Global, fixed, text("./"), COMPATIBLE;
    INNODB_LOG_SPIN_CPU_ABS_LWM = "innodb_log_spin_cpu_abs_lwm", Global, dynamic, uint(80, 0, 4294967295, Plain), COMPATIBLE;
    INNODB_LOG_SPIN_CPU_PCT_HWM = "innodb_log_spin_cpu_pct_hwm", Global, dynamic, uint(50, 0, 100, Plain), COMPATIBLE;
    INNODB_LOG_WAIT_FOR_FLUSH_SPIN_HWM = "innodb_log_wait_for_flush_spin_hwm", Global, dynamic, uint(400, 0, 4294967295, Plain), COMPATIBLE;
    INNODB_LOG_WRITE_AHEAD_SIZE = "innodb_log_write_ahead_size", Global, dynamic, uint(4096, 512, 16384, Bytes, 512), "Each write to the log ends at a multiple of it, a power of two (others are rounded up); the rest is padding. MySQL's default is 8192, but it pads less often.";
    INNODB_LOG_WRITER_AFFINITY = "innodb_log_writer_affinity", Global, dynamic, text(""), "Processors that the log's writer thread runs on, such as 0,2-3; empty for all.";
    INNODB_LOG_WRITER_THREADS = "innodb_log_writer_threads", Global, dynamic, one_of(&["OFF", "ON", "AUTO"], 2), "ON: threads write and flush the log; OFF: a committing worker does it for all who wait; AUTO: the flusher thread does both when a worker asks for it.";
    INNODB_LRU_SCAN_DEPTH = "innodb_lru_scan_depth", Global, dynamic, uint(1024, 100, u32::MAX as u64, Plain), "Frames that the cleaners keep free.";
    INNODB_MAX_DIRTY_PAGES_PCT = "innodb_max_dirty_pages_pct", Global, dynamic, double(90.0, 0.0, 99.999, Plain), "Pages that may be dirty, in percent of the buffer pool: beyond it they are written back at innodb_io_capacity_max.";
    INNODB_MAX_DIRTY_PAGES_PCT_LWM = "innodb_max_dirty_pages_pct_lwm", Global, dynamic, double(10.0, 0.0, 99.0, Plain), "From so many percent of dirty pages on some are written back, and more the more there are. The default, 10, stands for half of innodb_max_dirty_pages_pct, 0 for none below that.";
    INNODB_MAX_PURGE_LAG = "innodb_max_purge_lag", Global, dynamic, uint(0, 0, u32::MAX as u64, Plain), "Committed transactions that may await purge before statements that change rows are held up; 0 for any number.";
    INNODB_MAX_PURGE_LAG_DELAY = "innodb_max_purge_lag_delay", Global, dynamic, uint(0, 0, 10000000, Plain), "Longest time in microseconds for which such a statement is held up; with 0 none is.";
    INNODB_MAX_UNDO_LOG_SIZE = "innodb_max_undo_log_size", Global, dynamic, uint(1073741824, 10485760, u64::MAX, Bytes), "Free undo pages keep their room on the disk up to this size, or up to 64 MiB where it is more.";
    INNODB_MONITOR_DISABLE = "innodb_monitor_disable", Global, dynamic, null(), "Counters of information_schema.INNODB_METRICS to switch off: a name, a module (module_log), all, or a name with %.";
    INNODB_MONITOR_ENABLE = "innodb_monitor_enable", Global, dynamic, null(), "Counters of information_schema.INNODB_METRICS to switch on, named as in innodb_monitor_disable; all are on to begin with.";
    INNODB_MONITOR_RESET = "innodb_monitor_reset", Global, dynamic, null(), "Counters whose COUNT_RESET begins anew, named as in innodb_monitor_disable.";
    INNODB_MONITOR_RESET_ALL = "innodb_monitor_reset_all", Global, dynamic, null(), "Counters, switched off before, all of whose values begin anew, named as in innodb_monitor_disable.";
    INNODB_NATIVE_FOREIGN_KEYS = "innodb_native_foreign_keys", Global, fixed_default, bool(false), "Only the default is taken: foreign keys have one implementation.";
    INNODB_NUMA_INTERLEAVE = "innodb_numa_interleave", Global, fixed, bool(true), COMPATIBLE;
    INNODB_OLD_BLOCKS_PCT = "innodb_old_blocks_pct", Global, dynamic, uint(37, 5, 95, Plain), COMPATIBLE;
    INNODB_OLD_BLOCKS_TIME = "innodb_old_blocks_time", Global, dynamic, uint(1000, 0, 4294967295, Plain), COMPATIBLE;
    INNODB_ONLINE_ALTER_LOG_MAX_SIZE = "innodb_online_alter_log_max_size", Global, dynamic, uint(134217728, 65536, u64::MAX, Bytes), COMPATIBLE;
    INNODB_OPEN_FILES = "innodb_open_files", Global, fixed, uint(4000, 0, 2147483647, Plain), COMPATIBLE;
    INNODB_OPTIMIZE_FULLTEXT_ONLY = "innodb_optimize_fulltext_only", Global, dynamic, bool(false), FULLTEXT;
    INNODB_PAGE_CLEANERS = "innodb_page_cleaners", Global, fixed, uint(4, 1, 64, Plain), "Threads that write pages back: one follows the log, the others keep frames free and help it when it is behind.";
    INNODB_PAGE_SIZE = "innodb_page_size", Global, fixed, uint(16384, 4096, 65536, Bytes), "Size of a page: 4096, 8192, 16384, 32768 or 65536 bytes. A data directory keeps the size that it was made with; a start with another is refused.";
    INNODB_PARALLEL_READ_THREADS = "innodb_parallel_read_threads", Both, dynamic, uint(4, 1, 256, Plain), "Threads that count the rows of a table for COUNT(*) at most, where palisade_parallel_cost says that it is large enough; as many as there are workers, if that is less.";
    INNODB_PRINT_ALL_DEADLOCKS = "innodb_print_all_deadlocks", Global, dynamic, bool(false), "Whether every deadlock is written to the log.";
    INNODB_PRINT_DDL_LOGS = "innodb_print_ddl_logs", Global, dynamic, bool(false), COMPATIBLE;
    INNODB_PURGE_BATCH_SIZE = "innodb_purge_batch_size", Global, dynamic, uint(300, 1, 5000, Plain), COMPATIBLE;
    INNODB_PURGE_RSEG_TRUNCATE_FREQUENCY = "innodb_purge_rseg_truncate_frequency", Global, dynamic, uint(128, 1, 128, Plain), COMPATIBLE;
    INNODB_PURGE_THREADS = "innodb_purge_threads", Global, fixed, uint(1, 1, 32, Plain), "Threads that remove what no snapshot needs.";
    INNODB_RANDOM_READ_AHEAD = "innodb_random_read_ahead", Global, dynamic, bool(false), "Whether the rest of an extent (64 pages) is read once 13 pages of it are in memory and another is read.";
    INNODB_READ_AHEAD_THRESHOLD = "innodb_read_ahead_threshold", Global, dynamic, uint(56, 0, 64, Plain), "Pages of an extent (64 pages) that are read from disk in order before the next extent is read ahead; 0 as 1. Long scans have the leaves that follow read in any case.";
    INNODB_READ_IO_THREADS = "innodb_read_io_threads", Global, fixed, uint(4, 1, 64, Plain), "Threads that let files grow, and that read and write pages where io_uring does not.";
    INNODB_READ_ONLY = "innodb_read_only", Global, fixed_default, bool(false), "Only the default is taken: the storage engine always writes.";
    INNODB_REDO_LOG_ARCHIVE_DIRS = "innodb_redo_log_archive_dirs", Global, dynamic, null(), COMPATIBLE;
    INNODB_REDO_LOG_CAPACITY = "innodb_redo_log_capacity", Global, dynamic, uint(100 << 20, 8 << 20, 512 << 30, Bytes, 1 << 20), "Size of the redo log. When it is changed, the files follow in the background.";
    INNODB_REDO_LOG_ENCRYPT = "innodb_redo_log_encrypt", Global, default_only, bool(false), NOT_ENCRYPTED;
    INNODB_REPLICATION_DELAY = "innodb_replication_delay", Global, dynamic, uint(0, 0, 4294967295, Plain), REPLICATION;
    INNODB_ROLLBACK_ON_TIMEOUT = "innodb_rollback_on_timeout", Global, fixed, bool(false), "Whether a lock wait timeout rolls back the transaction instead of the statement.";
    INNODB_ROLLBACK_SEGMENTS = "innodb_rollback_segments", Global, dynamic, uint(128, 1, 128, Plain), COMPATIBLE;
    INNODB_SEGMENT_RESERVE_FACTOR = "innodb_segment_reserve_factor", Global, dynamic, double(12.5, 0.03, 40.0, Plain), COMPATIBLE;
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
    INNODB_SYNC_ARRAY_SIZE = "innodb_sync_array_size", Global, fixed, uint(1, 1, 1024, Plain), COMPATIBLE;
    INNODB_SYNC_SPIN_LOOPS = "innodb_sync_spin_loops", Global, dynamic, uint(30, 0, 4294967295, Plain), COMPATIBLE;
    INNODB_TABLE_LOCKS = "innodb_table_locks", Both, dynamic, bool(true), COMPATIBLE;
    INNODB_TEMP_DATA_FILE_PATH = "innodb_temp_data_file_path", Global, fixed, text("ibtmp1:12M:autoextend"), COMPATIBLE;
    INNODB_TEMP_TABLESPACES_DIR = "innodb_temp_tablespaces_dir", Global, fixed, text("./#innodb_temp/"), COMPATIBLE;
    INNODB_THREAD_CONCURRENCY = "innodb_thread_concurrency", Global, dynamic, uint(0, 0, 1000, Plain), COMPATIBLE;
    INNODB_THREAD_SLEEP_DELAY = "innodb_thread_sleep_delay", Global, dynamic, uint(10000, 0, 1000000, Plain), COMPATIBLE;
    INNODB_TMPDIR = "innodb_tmpdir", Both, dynamic, text(""), COMPATIBLE;
    INNODB_UNDO_DIRECTORY = "innodb_undo_directory", Global, fixed, text("./"), COMPATIBLE;
    INNODB_UNDO_LOG_ENCRYPT = "innodb_undo_log_encrypt", Global, default_only, bool(false), NOT_ENCRYPTED;
    INNODB_UNDO_LOG_TRUNCATE = "innodb_undo_log_truncate", Global, dynamic, bool(true), "Whether the room of free undo pages beyond innodb_max_undo_log_size is given back to the disk, once a checkpoint has passed.";
    INNODB_UNDO_TABLESPACES = "innodb_undo_tablespaces", Global, dynamic, uint(2, 2, 127, Plain), COMPATIBLE;
    INNODB_USE_FDATASYNC = "innodb_use_fdatasync", Global, dynamic, bool(true), COMPATIBLE;
    INNODB_USE_NATIVE_AIO = "innodb_use_native_aio", Global, fixed, bool(true), "Read and write pages by io_uring, many at a time; where the kernel has none, and with OFF, threads wait for each.";
    INNODB_VALIDATE_TABLESPACE_PATHS = "innodb_validate_tablespace_paths", Global, fixed, bool(true), COMPATIBLE;
    INNODB_VERSION = "innodb_version", Global, fixed, text("8.4.0"), "Version of the engine.";
    INNODB_WORKER_AFFINITY = "innodb_worker_affinity", Global, dynamic, text(""), "Processors that the workers run on, such as 0,2-3; empty for all. Given at the start, worker_threads=0 is as many workers as it names.";
    INNODB_WRITE_IO_THREADS = "innodb_write_io_threads", Global, fixed, uint(4, 1, 64, Plain), "Threads beside those of innodb_read_io_threads where io_uring does not read and write; so many help a page cleaner with a batch.";
    INSERT_ID = "insert_id", Session, dynamic, uint(0, 0, u64::MAX, Plain), "The next AUTO_INCREMENT value that the session is given.";
    INTERACTIVE_TIMEOUT = "interactive_timeout", Both, dynamic, uint(28800, 1, 31536000, Seconds), "wait_timeout of interactive clients.";
    INTERNAL_TMP_MEM_STORAGE_ENGINE = "internal_tmp_mem_storage_engine", Both, dynamic, one_of(&["MEMORY", "TempTable"], 1), "No effect.";
    JOIN_BUFFER_SIZE = "join_buffer_size", Both, dynamic, uint(262144, 128, 18446744073709551488, Bytes, 128), "Bytes that the rows of a hash join may take in memory before it goes to temporary files; while the server has room they may take palisade_operator_memory, if that is more. No more than half of palisade_statement_memory and of connection_memory_limit.";
    KEEP_FILES_ON_CREATE = "keep_files_on_create", Both, dynamic, bool(false), COMPATIBLE;
    KEY_BUFFER_SIZE = "key_buffer_size", Global, dynamic, uint(8388608, 0, 18446744073709547520, Bytes, 4096), COMPATIBLE;
    KEY_CACHE_AGE_THRESHOLD = "key_cache_age_threshold", Global, dynamic, uint(300, 100, 18446744073709551600, Plain, 100), COMPATIBLE;
    KEY_CACHE_BLOCK_SIZE = "key_cache_block_size", Global, dynamic, uint(1024, 512, 16384, Bytes, 512), COMPATIBLE;
    KEY_CACHE_DIVISION_LIMIT = "key_cache_division_limit", Global, dynamic, uint(100, 1, 100, Bytes), COMPATIBLE;
    KEYRING_OPERATIONS = "keyring_operations", Global, dynamic, bool(false), "No effect: there is no keyring yet.";
    LARGE_FILES_SUPPORT = "large_files_support", Global, fixed, bool(true), COMPATIBLE;
    LARGE_PAGE_SIZE = "large_page_size", Global, fixed, uint(0, 0, 4294967295, Bytes), COMPATIBLE;
    LARGE_PAGES = "large_pages", Global, fixed, bool(false), COMPATIBLE;
    LAST_INSERT_ID = "last_insert_id", Session, dynamic, uint(0, 0, u64::MAX, Plain), "What LAST_INSERT_ID() returns.";
    LC_MESSAGES = "lc_messages", Both, dynamic, text("en_US"), "No effect: messages are English.";
    LC_MESSAGES_DIR = "lc_messages_dir", Global, fixed, text(""), "No effect: messages are built in.";
    LC_TIME_NAMES = "lc_time_names", Both, dynamic, text("en_US"), "No effect.";
    LICENSE = "license", Global, fixed, text("Apache-2.0"), "Licence of the server.";
    LOCAL_INFILE = "local_infile", Global, dynamic, bool(false), "Whether LOAD DATA LOCAL may ask clients for files of theirs.";
    LOCK_WAIT_TIMEOUT = "lock_wait_timeout", Both, dynamic, uint(31536000, 1, 31536000, Seconds), "How long a statement waits for a table's metadata lock.";
    LOCKED_IN_MEMORY = "locked_in_memory", Global, fixed, bool(false), COMPATIBLE;
    LOG_BIN = "log_bin", Global, fixed_default, bool(false), "Only the default is taken: there is no binary log yet. As an option another value is a warning.";
    LOG_BIN_BASENAME = "log_bin_basename", Global, fixed, text(""), COMPATIBLE;
    LOG_BIN_INDEX = "log_bin_index", Global, fixed, text(""), COMPATIBLE;
    LOG_BIN_TRUST_FUNCTION_CREATORS = "log_bin_trust_function_creators", Global, dynamic, bool(false), COMPATIBLE;
    LOG_ERROR = "log_error", Global, fixed, text("stderr"), "File of the error log, in the data directory if it has no path of its own; stderr for standard error.";
    LOG_ERROR_SERVICES = "log_error_services", Global, dynamic, text("log_filter_internal; log_sink_internal"), "How the error log is written: log_sink_internal writes lines of text, log_sink_json an object of JSON a line, to a file that ends in .00.json.";
    LOG_ERROR_SUPPRESSION_LIST = "log_error_suppression_list", Global, dynamic, text(""), COMPATIBLE;
    LOG_ERROR_VERBOSITY = "log_error_verbosity", Global, dynamic, uint(2, 1, 3, Plain), "1: errors; 2: warnings too; 3: notes too. What the system says of itself is written in any case.";
    LOG_OUTPUT = "log_output", Global, dynamic, flags(&["NONE", "FILE", "TABLE"], 2), "Where the query logs go: files, the tables mysql.general_log and mysql.slow_log, or nowhere if NONE is among it.";
    LOG_QUERIES_NOT_USING_INDEXES = "log_queries_not_using_indexes", Global, dynamic, bool(false), "Whether statements that read a table without an index are written to the slow query log.";
    LOG_RAW = "log_raw", Global, dynamic, bool(false), "Whether passwords are written to the general log.";
    LOG_REPLICA_UPDATES = "log_replica_updates", Global, fixed, bool(false), COMPATIBLE;
    LOG_SLAVE_UPDATES = "log_slave_updates", Global, fixed, bool(false), COMPATIBLE;
    LOG_SLOW_ADMIN_STATEMENTS = "log_slow_admin_statements", Global, dynamic, bool(false), "Whether ALTER TABLE, ANALYZE, CHECK, OPTIMIZE, REPAIR, CREATE INDEX and DROP INDEX are written to the slow query log.";
    LOG_SLOW_EXTRA = "log_slow_extra", Global, dynamic, bool(false), "Whether entries of the slow query log tell what the statement has counted.";
    LOG_SLOW_REPLICA_STATEMENTS = "log_slow_replica_statements", Global, dynamic, bool(false), REPLICATION;
    LOG_SLOW_SLAVE_STATEMENTS = "log_slow_slave_statements", Global, dynamic, bool(false), REPLICATION;
    LOG_STATEMENTS_UNSAFE_FOR_BINLOG = "log_statements_unsafe_for_binlog", Global, dynamic, bool(true), BINARY_LOG;
    LOG_THROTTLE_QUERIES_NOT_USING_INDEXES = "log_throttle_queries_not_using_indexes", Global, dynamic, uint(0, 0, u64::MAX, Plain), "Entries a minute for log_queries_not_using_indexes; 0 for any number.";
    LOG_TIMESTAMPS = "log_timestamps", Global, dynamic, one_of(&["UTC", "SYSTEM"], 0), "Time zone of the moments in the error log and the query logs.";
    LONG_QUERY_TIME = "long_query_time", Both, dynamic, double(10.0, 0.0, 31536000.0, Seconds), "Statements that take longer are counted in Slow_queries and written to the slow query log.";
    LOW_PRIORITY_UPDATES = "low_priority_updates", Both, dynamic, bool(false), COMPATIBLE;
    LOWER_CASE_FILE_SYSTEM = "lower_case_file_system", Global, fixed, bool(false), "No effect.";
    LOWER_CASE_TABLE_NAMES = "lower_case_table_names", Global, fixed_default, uint(0, 0, 2, Plain), "Only the default is taken: names of tables are compared by case.";
    MANDATORY_ROLES = "mandatory_roles", Global, default_only, text(""), "Only the default is taken: there are no roles yet.";
    MASTER_VERIFY_CHECKSUM = "master_verify_checksum", Global, dynamic, bool(false), REPLICATION;
    MAX_ALLOWED_PACKET = "max_allowed_packet", Both, dynamic, uint(64 << 20, 1024, 1 << 30, Bytes, 1024), "Longest message from or to a client.";
    MAX_BINLOG_CACHE_SIZE = "max_binlog_cache_size", Global, dynamic, uint(18446744073709547520, 4096, 18446744073709547520, Bytes, 4096), BINARY_LOG;
    MAX_BINLOG_SIZE = "max_binlog_size", Global, dynamic, uint(1073741824, 4096, 1073741824, Bytes, 4096), COMPATIBLE;
    MAX_BINLOG_STMT_CACHE_SIZE = "max_binlog_stmt_cache_size", Global, dynamic, uint(18446744073709547520, 4096, 18446744073709547520, Bytes, 4096), BINARY_LOG;
    MAX_CONNECT_ERRORS = "max_connect_errors", Global, dynamic, uint(100, 1, u64::MAX, Plain), COMPATIBLE;
    MAX_CONNECTIONS = "max_connections", Global, dynamic, uint(151, 1, 100000, Plain), "Clients at a time.";
    MAX_DELAYED_THREADS = "max_delayed_threads", Both, dynamic, uint(20, 0, 16384, Plain), COMPATIBLE;
    MAX_DIGEST_LENGTH = "max_digest_length", Global, fixed, uint(1024, 0, 1048576, Plain), "As performance_schema_max_digest_length: the lower one counts.";
    MAX_ERROR_COUNT = "max_error_count", Both, dynamic, uint(1024, 0, 65535, Plain), "Warnings kept for SHOW WARNINGS.";
    MAX_EXECUTION_TIME = "max_execution_time", Both, dynamic, uint(0, 0, u64::MAX, Milliseconds), "Longest run of a SELECT, after which it is interrupted (3024); 0 is any.";
    MAX_HEAP_TABLE_SIZE = "max_heap_table_size", Both, dynamic, uint(16777216, 16384, 18446744073709550592, Bytes, 1024), COMPATIBLE;
    MAX_INSERT_DELAYED_THREADS = "max_insert_delayed_threads", Both, dynamic, uint(20, 0, 16384, Plain), COMPATIBLE;
    MAX_JOIN_SIZE = "max_join_size", Both, dynamic, uint(u64::MAX, 1, u64::MAX, Plain), "A SELECT that would examine more rows, by estimate, is refused (1104) while sql_big_selects is OFF. Another value than the default turns that OFF.";
    MAX_LENGTH_FOR_SORT_DATA = "max_length_for_sort_data", Both, dynamic, uint(4096, 4, 8388608, Plain), COMPATIBLE;
    MAX_POINTS_IN_GEOMETRY = "max_points_in_geometry", Both, dynamic, uint(65536, 3, 1048576, Plain), "No effect: there are no spatial types yet.";
    MAX_PREPARED_STMT_COUNT = "max_prepared_stmt_count", Global, dynamic, uint(16382, 0, 4194304, Plain), "Prepared statements at a time.";
    MAX_RELAY_LOG_SIZE = "max_relay_log_size", Global, dynamic, uint(0, 0, 1073741824, Bytes, 4096), REPLICATION;
    MAX_SEEKS_FOR_KEY = "max_seeks_for_key", Both, dynamic, uint(u64::MAX, 1, u64::MAX, Plain), COMPATIBLE;
    MAX_SORT_LENGTH = "max_sort_length", Both, dynamic, uint(1024, 4, 8388608, Plain), COMPATIBLE;
    MAX_SP_RECURSION_DEPTH = "max_sp_recursion_depth", Both, dynamic, uint(0, 0, 255, Plain), COMPATIBLE;
    MAX_USER_CONNECTIONS = "max_user_connections", Both, dynamic, uint(0, 0, u32::MAX as u64, Plain), "Connections of an account at a time (1203); 0 for any number.";
    MAX_WRITE_LOCK_COUNT = "max_write_lock_count", Global, dynamic, uint(u64::MAX, 1, u64::MAX, Plain), COMPATIBLE;
    MIN_EXAMINED_ROW_LIMIT = "min_examined_row_limit", Both, dynamic, uint(0, 0, u64::MAX, Plain), "Statements that find fewer rows are not written to the slow query log.";
    MYISAM_DATA_POINTER_SIZE = "myisam_data_pointer_size", Global, dynamic, uint(6, 2, 7, Plain), COMPATIBLE;
    MYISAM_MAX_SORT_FILE_SIZE = "myisam_max_sort_file_size", Global, dynamic, uint(9223372036853727232, 0, i64::MAX as u64, Bytes, 1048576), COMPATIBLE;
    MYISAM_MMAP_SIZE = "myisam_mmap_size", Global, fixed, uint(u64::MAX, 7, u64::MAX, Bytes), COMPATIBLE;
    MYISAM_RECOVER_OPTIONS = "myisam_recover_options", Global, fixed, text("OFF"), COMPATIBLE;
    MYISAM_SORT_BUFFER_SIZE = "myisam_sort_buffer_size", Both, dynamic, uint(8388608, 4096, u64::MAX, Bytes), COMPATIBLE;
    MYISAM_STATS_METHOD = "myisam_stats_method", Both, dynamic, one_of(&["nulls_unequal", "nulls_equal", "nulls_ignored"], 0), COMPATIBLE;
    MYISAM_USE_MMAP = "myisam_use_mmap", Global, dynamic, bool(false), COMPATIBLE;
    MYSQL_NATIVE_PASSWORD_PROXY_USERS = "mysql_native_password_proxy_users", Global, default_only, bool(false), "Only the default is taken: there are no proxy users yet.";
    NET_BUFFER_LENGTH = "net_buffer_length", Both, dynamic, uint(16384, 1024, 1048576, Bytes, 1024), "No effect: buffers go back to 64 KiB.";
    NET_READ_TIMEOUT = "net_read_timeout", Both, dynamic, uint(30, 1, 31536000, Seconds), "How long a begun packet may take to arrive.";
    NET_RETRY_COUNT = "net_retry_count", Both, dynamic, uint(10, 1, u64::MAX, Plain), COMPATIBLE;
    NET_WRITE_TIMEOUT = "net_write_timeout", Both, dynamic, uint(60, 1, 31536000, Seconds), "How long a client may take to accept a part of a result.";
    NGRAM_TOKEN_SIZE = "ngram_token_size", Global, fixed, uint(2, 1, 10, Plain), FULLTEXT;
    OFFLINE_MODE = "offline_mode", Global, dynamic, bool(false), "Whether only CONNECTION_ADMIN may log in (3032); turned on, it ends the sessions of others.";
    OLD_ALTER_TABLE = "old_alter_table", Both, dynamic, bool(false), COMPATIBLE;
    OPEN_FILES_LIMIT = "open_files_limit", Global, fixed, uint(20000, 0, 4294967295, Plain), COMPATIBLE;
    OPTIMIZER_MAX_SUBGRAPH_PAIRS = "optimizer_max_subgraph_pairs", Both, dynamic, uint(100000, 1, 2147483647, Plain), COMPATIBLE;
    OPTIMIZER_PRUNE_LEVEL = "optimizer_prune_level", Both, dynamic, uint(1, 0, 1, Plain), COMPATIBLE;
    OPTIMIZER_SEARCH_DEPTH = "optimizer_search_depth", Both, dynamic, uint(62, 0, 62, Plain), COMPATIBLE;
    OPTIMIZER_SWITCH = "optimizer_switch", Both, dynamic, switches(OPTIMIZER_SWITCHES), "What the planner may do: it obeys index_merge, index_merge_union, index_merge_sort_union, index_merge_intersection, block_nested_loop (hash joins), materialization (of what leads a semi-join), semijoin, use_index_extensions, derived_merge, use_invisible_indexes, skip_scan, subquery_to_derived, prefer_ordering_index and derived_condition_pushdown; the other flags have no effect.";
    OPTIMIZER_TRACE = "optimizer_trace", Both, dynamic, switches("enabled=off,one_line=off"), "Whether what the planner decides is shown in information_schema.OPTIMIZER_TRACE, and how it is written.";
    OPTIMIZER_TRACE_FEATURES = "optimizer_trace_features", Both, dynamic, switches("greedy_search=on,range_optimizer=on,dynamic_range=on,repeated_subselect=on"), "What traces of the optimizer have: the joins that were weighed (greedy_search) and the paths to tables (range_optimizer); the other flags have no effect.";
    OPTIMIZER_TRACE_LIMIT = "optimizer_trace_limit", Both, dynamic, uint(1, 0, i64::MAX as u64, Plain), "How many traces of the optimizer are shown.";
    OPTIMIZER_TRACE_MAX_MEM_SIZE = "optimizer_trace_max_mem_size", Both, dynamic, uint(1048576, 0, u64::MAX, Bytes), "Bytes of the traces of the optimizer that a session keeps.";
    OPTIMIZER_TRACE_OFFSET = "optimizer_trace_offset", Both, dynamic, int(-1, i64::MIN, i64::MAX, Plain), "The first statement whose trace is kept; below 0, of how many of the last ones they are.";
    ORIGINAL_COMMIT_TIMESTAMP = "original_commit_timestamp", Session, dynamic, uint(36028797018963968, 0, 36028797018963968, Plain), REPLICATION;
    ORIGINAL_SERVER_VERSION = "original_server_version", Session, dynamic, uint(999999, 0, 999999, Plain), REPLICATION;
    PALISADE_DURABLE_READS = "palisade_durable_reads", Both, dynamic, bool(false), "Whether a statement is answered only when all that it can have read is durable: the answer waits for the log, its locks do not. OFF: what another session has committed can be read while it is being made durable, and a crash may take it back, as with InnoDB.";
    PALISADE_OPERATOR_MEMORY = "palisade_operator_memory", Both, dynamic, uint(67108864, 0, u64::MAX, Bytes), "Bytes that a sort, a hash join, and groups, windows and temporary results, may take in memory before they go to temporary files, where sort_buffer_size, join_buffer_size or tmp_table_size gives them less and all sessions together take less than half of palisade_sessions_memory.";
    PALISADE_PAGE_SINK = "palisade_page_sink", Global, dynamic, one_of(&["in-place", "out-of-place"], 1), "Where the pages of tables go that are made, or made anew, without the option PAGE_SINK: each to its place in the file, with what innodb_doublewrite says against torn pages, or to a free place and never over what the page was, so that nothing can be torn and each page is written once.";
    PALISADE_PARALLEL_COST = "palisade_parallel_cost", Both, dynamic, uint(1000000, 0, u64::MAX, Microseconds), "Processor time that a grouping must be estimated to take for the rows of its table to be read and added up in parts, side by side.";
    PALISADE_PARALLEL_THREADS = "palisade_parallel_threads", Both, dynamic, uint(2, 1, 256, Plain), "Threads that read and add up parts of a table for one grouping at most; as many as there are workers, if that is less. 1 has all rows read one after the other.";
    PALISADE_PLAN_STABILITY = "palisade_plan_stability", Global, dynamic, bool(false), "ON: a query keeps its plan, also when the planner would choose another one by now, until that has been executed in turns with it and has proved to be faster. information_schema.PALISADE_PLANS tells which plans are kept.";
    PALISADE_SESSIONS_MEMORY = "palisade_sessions_memory", Global, dynamic, uint(0, 0, u64::MAX, Bytes), "Bytes that the statements, user variables and long parameters of all sessions may take together; a statement that takes more than 1 MiB itself and meets the limit ends with 1041. 0: half of the memory of the machine, or of the control group that the server runs in, that the buffer pool leaves, and 256 MiB at least.";
    PALISADE_STATEMENT_MEMORY = "palisade_statement_memory", Both, dynamic, uint(1073741824, 16777216, u64::MAX, Bytes), "Bytes that a statement may take, with its text's parse tree, its plan, its values and what it sorts, groups and joins; and what the session keeps, in user variables and long parameters. One that takes more ends with 1037.";
    PALISADE_SUBSTITUTE_ENGINES = "palisade_substitute_engines", Both, dynamic, bool(true), "Whether ENGINE=MyISAM, MEMORY, ARCHIVE, CSV and Aria mean InnoDB, with warning 1266; else they are unknown (1286).";
    PALISADE_UNDO_RESERVE_SIZE = "palisade_undo_reserve_size", Global, dynamic, uint(16777216, 0, 1099511627776, Bytes), "Free undo pages kept for a full disk: half of them for DELETE, DROP TABLE and TRUNCATE TABLE alone, the rest also for changes that need no more room in tables.";
    PARSER_MAX_MEM_SIZE = "parser_max_mem_size", Both, dynamic, uint(u64::MAX, 10000000, u64::MAX, Bytes), "Bytes that the parse tree of a statement may take: 3170 beyond.";
    PARTIAL_REVOKES = "partial_revokes", Global, default_only, bool(false), "Only the default is taken: REVOKE takes away what was granted, no part of it yet.";
    PASSWORD_HISTORY = "password_history", Global, default_only, uint(0, 0, 4294967295, Plain), NO_PASSWORD_POLICY;
    PASSWORD_REQUIRE_CURRENT = "password_require_current", Global, default_only, bool(false), "Only the default is taken: who changes a password is not asked for the old one yet.";
    PASSWORD_REUSE_INTERVAL = "password_reuse_interval", Global, default_only, uint(0, 0, 4294967295, Plain), NO_PASSWORD_POLICY;
    PERFORMANCE_SCHEMA = "performance_schema", Global, fixed, bool(true), "Whether statements are counted for performance_schema.";
    PERFORMANCE_SCHEMA_ACCOUNTS_SIZE = "performance_schema_accounts_size", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_DIGESTS_SIZE = "performance_schema_digests_size", Global, fixed, int(10000, -1, 1048576, Plain), "Rows of performance_schema.events_statements_summary_by_digest; statements that find no room are counted in one row. -1: 10000.";
    PERFORMANCE_SCHEMA_ERROR_SIZE = "performance_schema_error_size", Global, fixed, uint(0, 0, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_LONG_SIZE = "performance_schema_events_stages_history_long_size", Global, fixed, int(10000, -1, 1048576, Plain), "Stages of all sessions in performance_schema.events_stages_history_long; -1 is 10000.";
    PERFORMANCE_SCHEMA_EVENTS_STAGES_HISTORY_SIZE = "performance_schema_events_stages_history_size", Global, fixed, int(10, -1, 1024, Plain), "Stages of each session in performance_schema.events_stages_history; -1 is 10.";
    PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_LONG_SIZE = "performance_schema_events_statements_history_long_size", Global, fixed, int(10000, -1, 1048576, Plain), "Statements of all sessions in performance_schema.events_statements_history_long. -1: 10000.";
    PERFORMANCE_SCHEMA_EVENTS_STATEMENTS_HISTORY_SIZE = "performance_schema_events_statements_history_size", Global, fixed, int(10, -1, 1024, Plain), "Statements of each session in performance_schema.events_statements_history. -1: 10.";
    PERFORMANCE_SCHEMA_EVENTS_TRANSACTIONS_HISTORY_LONG_SIZE = "performance_schema_events_transactions_history_long_size", Global, fixed, int(10000, -1, 1048576, Plain), "Transactions of all sessions in performance_schema.events_transactions_history_long; -1 is 10000.";
    PERFORMANCE_SCHEMA_EVENTS_TRANSACTIONS_HISTORY_SIZE = "performance_schema_events_transactions_history_size", Global, fixed, int(10, -1, 1024, Plain), "Transactions of each session in performance_schema.events_transactions_history; -1 is 10.";
    PERFORMANCE_SCHEMA_EVENTS_WAITS_HISTORY_LONG_SIZE = "performance_schema_events_waits_history_long_size", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_EVENTS_WAITS_HISTORY_SIZE = "performance_schema_events_waits_history_size", Global, fixed, int(0, -1, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_HOSTS_SIZE = "performance_schema_hosts_size", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_COND_CLASSES = "performance_schema_max_cond_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_COND_INSTANCES = "performance_schema_max_cond_instances", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_DIGEST_LENGTH = "performance_schema_max_digest_length", Global, fixed, uint(1024, 0, 1048576, Plain), "Bytes of a statement without its constants by which performance_schema tells statements apart.";
    PERFORMANCE_SCHEMA_MAX_DIGEST_SAMPLE_AGE = "performance_schema_max_digest_sample_age", Global, dynamic, uint(60, 0, 1048576, Plain), "Seconds after which QUERY_SAMPLE_TEXT is replaced by a statement that was not slower; 0 for never.";
    PERFORMANCE_SCHEMA_MAX_FILE_CLASSES = "performance_schema_max_file_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_FILE_HANDLES = "performance_schema_max_file_handles", Global, fixed, uint(0, 0, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_FILE_INSTANCES = "performance_schema_max_file_instances", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_INDEX_STAT = "performance_schema_max_index_stat", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_LOGGER_CLASSES = "performance_schema_max_logger_classes", Global, fixed, uint(0, 0, 200, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_MEMORY_CLASSES = "performance_schema_max_memory_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_METADATA_LOCKS = "performance_schema_max_metadata_locks", Global, fixed, int(0, -1, 104857600, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_METER_CLASSES = "performance_schema_max_meter_classes", Global, fixed, uint(0, 0, 64, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_METRIC_CLASSES = "performance_schema_max_metric_classes", Global, fixed, uint(0, 0, 11000, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_MUTEX_CLASSES = "performance_schema_max_mutex_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_MUTEX_INSTANCES = "performance_schema_max_mutex_instances", Global, fixed, int(0, -1, 104857600, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_PREPARED_STATEMENTS_INSTANCES = "performance_schema_max_prepared_statements_instances", Global, fixed, int(-1, -1, 4194304, Plain), "As long as no more statements are prepared, performance_schema.prepared_statements_instances has each of them; -1 for any number.";
    PERFORMANCE_SCHEMA_MAX_PROGRAM_INSTANCES = "performance_schema_max_program_instances", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_RWLOCK_CLASSES = "performance_schema_max_rwlock_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_RWLOCK_INSTANCES = "performance_schema_max_rwlock_instances", Global, fixed, int(0, -1, 104857600, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_SOCKET_CLASSES = "performance_schema_max_socket_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_SOCKET_INSTANCES = "performance_schema_max_socket_instances", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_SQL_TEXT_LENGTH = "performance_schema_max_sql_text_length", Global, fixed, uint(1024, 0, 1048576, Plain), "Bytes of SQL_TEXT and QUERY_SAMPLE_TEXT in performance_schema.";
    PERFORMANCE_SCHEMA_MAX_STAGE_CLASSES = "performance_schema_max_stage_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_STATEMENT_CLASSES = "performance_schema_max_statement_classes", Global, fixed, uint(0, 0, 256, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_STATEMENT_STACK = "performance_schema_max_statement_stack", Global, fixed, uint(0, 0, 256, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_TABLE_HANDLES = "performance_schema_max_table_handles", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_TABLE_INSTANCES = "performance_schema_max_table_instances", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_TABLE_LOCK_STAT = "performance_schema_max_table_lock_stat", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_THREAD_CLASSES = "performance_schema_max_thread_classes", Global, fixed, uint(0, 0, 1024, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_MAX_THREAD_INSTANCES = "performance_schema_max_thread_instances", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_SESSION_CONNECT_ATTRS_SIZE = "performance_schema_session_connect_attrs_size", Global, fixed, int(512, -1, 1048576, Bytes), "No effect: attributes are kept whole.";
    PERFORMANCE_SCHEMA_SETUP_ACTORS_SIZE = "performance_schema_setup_actors_size", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_SETUP_OBJECTS_SIZE = "performance_schema_setup_objects_size", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERFORMANCE_SCHEMA_SHOW_PROCESSLIST = "performance_schema_show_processlist", Global, dynamic, bool(true), "No effect: SHOW PROCESSLIST and performance_schema.processlist are one.";
    PERFORMANCE_SCHEMA_USERS_SIZE = "performance_schema_users_size", Global, fixed, int(0, -1, 1048576, Plain), INSTRUMENTS;
    PERSIST_ONLY_ADMIN_X509_SUBJECT = "persist_only_admin_x509_subject", Global, fixed, text(""), COMPATIBLE;
    PERSIST_SENSITIVE_VARIABLES_IN_PLAINTEXT = "persist_sensitive_variables_in_plaintext", Global, fixed, bool(true), COMPATIBLE;
    PERSISTED_GLOBALS_LOAD = "persisted_globals_load", Global, fixed, bool(true), "Whether what SET PERSIST has kept in mysqld-auto.cnf is used, before what options say.";
    PID_FILE = "pid_file", Global, fixed, text(""), "File that the server writes its process id to.";
    PLUGIN_DIR = "plugin_dir", Global, fixed, text(""), COMPATIBLE;
    PORT = "port", Global, fixed, uint(3306, 0, 65535, Plain), "TCP port; 0 for any free one.";
    PRELOAD_BUFFER_SIZE = "preload_buffer_size", Both, dynamic, uint(32768, 1024, 1073741824, Bytes), COMPATIBLE;
    PRINT_IDENTIFIED_WITH_AS_HEX = "print_identified_with_as_hex", Both, dynamic, bool(false), COMPATIBLE;
    PROFILING = "profiling", Both, dynamic, bool(false), "Whether it is noted how long the stages of statements take, for SHOW PROFILE.";
    PROFILING_HISTORY_SIZE = "profiling_history_size", Both, dynamic, uint(15, 0, 100, Plain), "Statements of a session for which that is kept.";
    PROTOCOL_COMPRESSION_ALGORITHMS = "protocol_compression_algorithms", Global, dynamic, text("zlib,zstd,uncompressed"), "What connections may be compressed with, and whether they may be uncompressed.";
    PROTOCOL_VERSION = "protocol_version", Global, fixed, uint(10, 10, 10, Plain), "Version of the protocol.";
    PROXY_USER = "proxy_user", Session, fixed, null(), "NULL: there are no proxy users yet.";
    PSEUDO_REPLICA_MODE = "pseudo_replica_mode", Session, dynamic, bool(false), REPLICATION;
    PSEUDO_SLAVE_MODE = "pseudo_slave_mode", Session, dynamic, bool(false), REPLICATION;
    PSEUDO_THREAD_ID = "pseudo_thread_id", Session, dynamic, uint(0, 0, u32::MAX as u64, Plain), "The session's connection id.";
    QUERY_ALLOC_BLOCK_SIZE = "query_alloc_block_size", Both, dynamic, uint(8192, 1024, 4294966272, Bytes, 1024), COMPATIBLE;
    QUERY_PREALLOC_SIZE = "query_prealloc_size", Both, dynamic, uint(8192, 8192, 18446744073709550592, Bytes, 1024), COMPATIBLE;
    RAND_SEED1 = "rand_seed1", Session, dynamic, uint(0, 0, u64::MAX, Plain), "No effect.";
    RAND_SEED2 = "rand_seed2", Session, dynamic, uint(0, 0, u64::MAX, Plain), "No effect.";
    RANGE_ALLOC_BLOCK_SIZE = "range_alloc_block_size", Both, dynamic, uint(4096, 4096, 4294966272, Bytes, 1024), COMPATIBLE;
    RANGE_OPTIMIZER_MAX_MEM_SIZE = "range_optimizer_max_mem_size", Both, dynamic, uint(8388608, 0, u64::MAX, Bytes), COMPATIBLE;
    RBR_EXEC_MODE = "rbr_exec_mode", Both, dynamic, one_of(&["STRICT", "IDEMPOTENT"], 0), REPLICATION;
    READ_BUFFER_SIZE = "read_buffer_size", Both, dynamic, uint(131072, 8192, 2147479552, Bytes, 4096), COMPATIBLE;
    READ_ONLY = "read_only", Global, dynamic, bool(false), "Whether only CONNECTION_ADMIN may change anything (1290).";
    READ_RND_BUFFER_SIZE = "read_rnd_buffer_size", Both, dynamic, uint(262144, 1, 2147483647, Bytes), COMPATIBLE;
    REGEXP_STACK_LIMIT = "regexp_stack_limit", Global, dynamic, uint(8000000, 0, 2147483647, Bytes), "No effect: regular expressions run in linear time.";
    REGEXP_TIME_LIMIT = "regexp_time_limit", Global, dynamic, uint(32, 0, 2147483647, Plain), "Bounds the steps of a search by a regular expression: the text's length times the expression's size (3699).";
    RELAY_LOG = "relay_log", Global, fixed, text("vm-relay-bin"), COMPATIBLE;
    RELAY_LOG_BASENAME = "relay_log_basename", Global, fixed, text(""), REPLICATION;
    RELAY_LOG_INDEX = "relay_log_index", Global, fixed, text(""), REPLICATION;
    RELAY_LOG_PURGE = "relay_log_purge", Global, dynamic, bool(true), REPLICATION;
    RELAY_LOG_RECOVERY = "relay_log_recovery", Global, fixed, bool(false), REPLICATION;
    RELAY_LOG_SPACE_LIMIT = "relay_log_space_limit", Global, fixed, uint(0, 0, u64::MAX, Bytes), REPLICATION;
    REPLICA_ALLOW_BATCHING = "replica_allow_batching", Global, dynamic, bool(true), REPLICATION;
    REPLICA_ALLOW_HIGHER_VERSION_SOURCE = "replica_allow_higher_version_source", Global, dynamic, bool(true), REPLICATION;
    REPLICA_CHECKPOINT_GROUP = "replica_checkpoint_group", Global, dynamic, uint(512, 32, 524280, Plain, 8), REPLICATION;
    REPLICA_CHECKPOINT_PERIOD = "replica_checkpoint_period", Global, dynamic, uint(300, 1, 4294967295, Plain), REPLICATION;
    REPLICA_COMPRESSED_PROTOCOL = "replica_compressed_protocol", Global, dynamic, bool(false), REPLICATION;
    REPLICA_EXEC_MODE = "replica_exec_mode", Global, dynamic, one_of(&["STRICT", "IDEMPOTENT"], 0), REPLICATION;
    REPLICA_LOAD_TMPDIR = "replica_load_tmpdir", Global, fixed, text("/tmp"), REPLICATION;
    REPLICA_MAX_ALLOWED_PACKET = "replica_max_allowed_packet", Global, dynamic, uint(1073741824, 1024, 1073741824, Bytes, 1024), REPLICATION;
    REPLICA_NET_TIMEOUT = "replica_net_timeout", Global, dynamic, uint(60, 1, 31536000, Seconds), REPLICATION;
    REPLICA_PARALLEL_TYPE = "replica_parallel_type", Global, dynamic, one_of(&["DATABASE", "LOGICAL_CLOCK"], 1), REPLICATION;
    REPLICA_PARALLEL_WORKERS = "replica_parallel_workers", Global, dynamic, uint(4, 1, 1024, Plain), COMPATIBLE;
    REPLICA_PENDING_JOBS_SIZE_MAX = "replica_pending_jobs_size_max", Global, dynamic, uint(134217728, 1024, 18446744073709550592, Plain, 1024), REPLICATION;
    REPLICA_PRESERVE_COMMIT_ORDER = "replica_preserve_commit_order", Global, dynamic, bool(true), REPLICATION;
    REPLICA_SKIP_ERRORS = "replica_skip_errors", Global, fixed, text("OFF"), REPLICATION;
    REPLICA_SQL_VERIFY_CHECKSUM = "replica_sql_verify_checksum", Global, dynamic, bool(true), REPLICATION;
    REPLICA_TRANSACTION_RETRIES = "replica_transaction_retries", Global, dynamic, uint(10, 0, u64::MAX, Plain), REPLICATION;
    REPLICA_TYPE_CONVERSIONS = "replica_type_conversions", Global, dynamic, flags(&["ALL_LOSSY", "ALL_NON_LOSSY", "ALL_UNSIGNED", "ALL_SIGNED"], 0), REPLICATION;
    REPLICATION_OPTIMIZE_FOR_STATIC_PLUGIN_CONFIG = "replication_optimize_for_static_plugin_config", Global, dynamic, bool(false), REPLICATION;
    REPLICATION_SENDER_OBSERVE_COMMIT_ONLY = "replication_sender_observe_commit_only", Global, dynamic, bool(false), REPLICATION;
    REPORT_HOST = "report_host", Global, fixed, text(""), COMPATIBLE;
    REPORT_PASSWORD = "report_password", Global, fixed, text(""), REPLICATION;
    REPORT_PORT = "report_port", Global, fixed, uint(3306, 0, 65535, Plain), REPLICATION;
    REPORT_USER = "report_user", Global, fixed, text(""), REPLICATION;
    REQUIRE_ROW_FORMAT = "require_row_format", Session, default_only, bool(false), "Only the default is taken: there is no replication yet.";
    REQUIRE_SECURE_TRANSPORT = "require_secure_transport", Global, dynamic, bool(false), "Whether only clients with TLS, and those of the Unix socket, come in.";
    RESTRICT_FK_ON_NON_STANDARD_KEY = "restrict_fk_on_non_standard_key", Both, dynamic, bool(true), "Whether a new foreign key must refer to a whole unique key (6125); OFF: to any key that begins with its columns, with warning 6124.";
    RESULTSET_METADATA = "resultset_metadata", Session, default_only, one_of(&["NONE", "FULL"], 1), "Only the default is taken: result sets always have their metadata.";
    RPL_READ_SIZE = "rpl_read_size", Global, dynamic, uint(8192, 8192, 18446744073709547520, Bytes, 4096), REPLICATION;
    RPL_STOP_REPLICA_TIMEOUT = "rpl_stop_replica_timeout", Global, dynamic, uint(31536000, 2, 31536000, Seconds), REPLICATION;
    RPL_STOP_SLAVE_TIMEOUT = "rpl_stop_slave_timeout", Global, dynamic, uint(31536000, 2, 31536000, Seconds), REPLICATION;
    SCHEMA_DEFINITION_CACHE = "schema_definition_cache", Global, dynamic, uint(256, 256, 524288, Plain), COMPATIBLE;
    SECONDARY_ENGINE_COST_THRESHOLD = "secondary_engine_cost_threshold", Both, dynamic, double(100000.0, 0.0, f64::MAX, Plain), COMPATIBLE;
    SECURE_FILE_PRIV = "secure_file_priv", Global, fixed, null(), "Directory that LOAD DATA may read; NULL for none, empty for any.";
    SELECT_INTO_BUFFER_SIZE = "select_into_buffer_size", Both, dynamic, uint(131072, 8192, 2147479552, Bytes, 4096), COMPATIBLE;
    SELECT_INTO_DISK_SYNC = "select_into_disk_sync", Both, dynamic, bool(false), "Whether a file of SELECT ... INTO is durable when the statement ends.";
    SELECT_INTO_DISK_SYNC_DELAY = "select_into_disk_sync_delay", Both, dynamic, uint(0, 0, 31536000, Plain), COMPATIBLE;
    SERVER_ID = "server_id", Global, dynamic, uint(1, 0, u32::MAX as u64, Plain), REPLICATION;
    SERVER_ID_BITS = "server_id_bits", Global, dynamic, uint(32, 0, 32, Plain), REPLICATION;
    SERVER_MEMORY = "server_memory", Global, fixed, uint(0, 0, u64::MAX, Bytes), COMPATIBLE;
    SERVER_UUID = "server_uuid", Global, fixed, text(""), "Identity of the server's data.";
    SESSION_TRACK_GTIDS = "session_track_gtids", Both, dynamic, one_of(&["OFF", "OWN_GTID", "ALL_GTIDS"], 0), "No effect.";
    SESSION_TRACK_SCHEMA = "session_track_schema", Both, dynamic, bool(true), "Whether clients that follow the session are told of a new default database.";
    SESSION_TRACK_STATE_CHANGE = "session_track_state_change", Both, dynamic, bool(false), "Whether they are told that something of the session has changed.";
    SESSION_TRACK_SYSTEM_VARIABLES = "session_track_system_variables", Both, dynamic, text("time_zone,autocommit,character_set_client,character_set_results,character_set_connection"), "The variables whose changes they are told of; * for all.";
    SESSION_TRACK_TRANSACTION_INFO = "session_track_transaction_info", Both, dynamic, one_of(&["OFF", "STATE", "CHARACTERISTICS"], 0), "No effect.";
    SET_OPERATIONS_BUFFER_SIZE = "set_operations_buffer_size", Both, dynamic, uint(262144, 16384, 18446744073709550592, Bytes, 1024), COMPATIBLE;
    SHA256_PASSWORD_AUTO_GENERATE_RSA_KEYS = "sha256_password_auto_generate_rsa_keys", Global, fixed, bool(true), COMPATIBLE;
    SHA256_PASSWORD_PRIVATE_KEY_PATH = "sha256_password_private_key_path", Global, fixed, text("private_key.pem"), COMPATIBLE;
    SHA256_PASSWORD_PROXY_USERS = "sha256_password_proxy_users", Global, default_only, bool(false), "Only the default is taken: there are no proxy users yet.";
    SHA256_PASSWORD_PUBLIC_KEY_PATH = "sha256_password_public_key_path", Global, fixed, text("public_key.pem"), COMPATIBLE;
    SHOW_CREATE_TABLE_SKIP_SECONDARY_ENGINE = "show_create_table_skip_secondary_engine", Session, dynamic, bool(false), COMPATIBLE;
    SHOW_CREATE_TABLE_VERBOSITY = "show_create_table_verbosity", Both, dynamic, bool(false), COMPATIBLE;
    SHOW_GIPK_IN_CREATE_TABLE_AND_INFORMATION_SCHEMA = "show_gipk_in_create_table_and_information_schema", Both, dynamic, bool(true), "Whether SHOW and information_schema show generated invisible primary keys.";
    SKIP_EXTERNAL_LOCKING = "skip_external_locking", Global, fixed, bool(true), COMPATIBLE;
    SKIP_GRANT_TABLES = "skip_grant_tables", Global, fixed, bool(false), "Whether every client is let in and may do everything, until FLUSH PRIVILEGES. Only the socket is listened on then, unless skip_networking=OFF is given. For repairing damaged accounts.";
    SKIP_NAME_RESOLVE = "skip_name_resolve", Global, fixed, bool(true), "Clients are known by address.";
    SKIP_NETWORKING = "skip_networking", Global, fixed, bool(false), "Whether only the socket is listened on.";
    SKIP_REPLICA_START = "skip_replica_start", Global, fixed, bool(false), COMPATIBLE;
    SKIP_SHOW_DATABASE = "skip_show_database", Global, fixed_default, bool(false), "Only the default is taken: SHOW DATABASES shows each account what it may see.";
    SKIP_SLAVE_START = "skip_slave_start", Global, fixed, bool(false), COMPATIBLE;
    SLAVE_ALLOW_BATCHING = "slave_allow_batching", Global, dynamic, bool(true), REPLICATION;
    SLAVE_CHECKPOINT_GROUP = "slave_checkpoint_group", Global, dynamic, uint(512, 32, 524280, Plain, 8), REPLICATION;
    SLAVE_CHECKPOINT_PERIOD = "slave_checkpoint_period", Global, dynamic, uint(300, 1, 4294967295, Plain), REPLICATION;
    SLAVE_COMPRESSED_PROTOCOL = "slave_compressed_protocol", Global, dynamic, bool(false), REPLICATION;
    SLAVE_EXEC_MODE = "slave_exec_mode", Global, dynamic, one_of(&["STRICT", "IDEMPOTENT"], 0), REPLICATION;
    SLAVE_LOAD_TMPDIR = "slave_load_tmpdir", Global, fixed, text("/tmp"), REPLICATION;
    SLAVE_MAX_ALLOWED_PACKET = "slave_max_allowed_packet", Global, dynamic, uint(1073741824, 1024, 1073741824, Bytes, 1024), REPLICATION;
    SLAVE_NET_TIMEOUT = "slave_net_timeout", Global, dynamic, uint(60, 1, 31536000, Seconds), REPLICATION;
    SLAVE_PARALLEL_TYPE = "slave_parallel_type", Global, dynamic, one_of(&["DATABASE", "LOGICAL_CLOCK"], 1), REPLICATION;
    SLAVE_PARALLEL_WORKERS = "slave_parallel_workers", Global, dynamic, uint(4, 1, 1024, Plain), REPLICATION;
    SLAVE_PENDING_JOBS_SIZE_MAX = "slave_pending_jobs_size_max", Global, dynamic, uint(134217728, 1024, 18446744073709550592, Plain, 1024), REPLICATION;
    SLAVE_PRESERVE_COMMIT_ORDER = "slave_preserve_commit_order", Global, dynamic, bool(true), REPLICATION;
    SLAVE_SKIP_ERRORS = "slave_skip_errors", Global, fixed, text("OFF"), REPLICATION;
    SLAVE_SQL_VERIFY_CHECKSUM = "slave_sql_verify_checksum", Global, dynamic, bool(true), REPLICATION;
    SLAVE_TRANSACTION_RETRIES = "slave_transaction_retries", Global, dynamic, uint(10, 0, u64::MAX, Plain), REPLICATION;
    SLAVE_TYPE_CONVERSIONS = "slave_type_conversions", Global, dynamic, flags(&["ALL_LOSSY", "ALL_NON_LOSSY", "ALL_UNSIGNED", "ALL_SIGNED"], 0), REPLICATION;
    SLOW_LAUNCH_TIME = "slow_launch_time", Global, dynamic, uint(2, 0, 31536000, Seconds), "No effect.";
    SLOW_QUERY_LOG = "slow_query_log", Global, dynamic, bool(false), "Whether statements that take longer than long_query_time are written to slow_query_log_file, passwords left out.";
    SLOW_QUERY_LOG_FILE = "slow_query_log_file", Global, dynamic, text(""), "File of the slow query log, in the data directory unless absolute; empty for one named after the machine.";
    SOCKET = "socket", Global, fixed, text(""), "Path of the Unix socket; empty for none.";
    SORT_BUFFER_SIZE = "sort_buffer_size", Both, dynamic, uint(262144, 32768, u64::MAX, Bytes), "Bytes that a sort may take in memory before it goes to a temporary file; while the server has room it may take palisade_operator_memory, if that is more. No more than half of palisade_statement_memory and of connection_memory_limit.";
    SOURCE_VERIFY_CHECKSUM = "source_verify_checksum", Global, dynamic, bool(false), REPLICATION;
    SQL_AUTO_IS_NULL = "sql_auto_is_null", Both, dynamic, bool(false), "`WHERE id IS NULL` finds the row of LAST_INSERT_ID(), if `id` is the table's AUTO_INCREMENT column.";
    SQL_BIG_SELECTS = "sql_big_selects", Both, dynamic, bool(true), "Whether a SELECT may examine more than max_join_size rows.";
    SQL_BUFFER_RESULT = "sql_buffer_result", Both, dynamic, bool(false), COMPATIBLE;
    SQL_GENERATE_INVISIBLE_PRIMARY_KEY = "sql_generate_invisible_primary_key", Both, dynamic, bool(false), "Whether a new table without a key gets the invisible column my_row_id as its primary key.";
    SQL_LOG_BIN = "sql_log_bin", Session, dynamic, bool(true), BINARY_LOG;
    SQL_LOG_OFF = "sql_log_off", Both, dynamic, bool(false), "Whether the session's statements are left out of the general log.";
    SQL_MODE = "sql_mode", Both, dynamic, flags(SQL_MODES, DEFAULT_SQL_MODE), "How strictly values and syntax are taken.";
    SQL_NOTES = "sql_notes", Both, dynamic, bool(true), "Whether notes are kept for SHOW WARNINGS.";
    SQL_QUOTE_SHOW_CREATE = "sql_quote_show_create", Both, dynamic, bool(true), COMPATIBLE;
    SQL_REPLICA_SKIP_COUNTER = "sql_replica_skip_counter", Global, dynamic, uint(0, 0, 4294967295, Plain), REPLICATION;
    SQL_REQUIRE_PRIMARY_KEY = "sql_require_primary_key", Both, dynamic, bool(false), "Whether tables must have a primary key, or a unique one in its place (3750).";
    SQL_SAFE_UPDATES = "sql_safe_updates", Both, dynamic, bool(false), "UPDATE and DELETE need a key in WHERE, or LIMIT (1175).";
    SQL_SELECT_LIMIT = "sql_select_limit", Both, dynamic, uint(u64::MAX, 0, u64::MAX, Plain), "Rows a SELECT without LIMIT returns at most.";
    SQL_SLAVE_SKIP_COUNTER = "sql_slave_skip_counter", Global, dynamic, uint(0, 0, 4294967295, Plain), REPLICATION;
    SQL_WARNINGS = "sql_warnings", Both, dynamic, bool(false), "No effect.";
    SSL_CA = "ssl_ca", Global, dynamic, text("ca.pem"), "File of the certificate authority; made with the others if none is there at the start.";
    SSL_CAPATH = "ssl_capath", Global, default_only, null(), "Only the default is taken: certificates of clients are not asked for yet.";
    SSL_CERT = "ssl_cert", Global, dynamic, text("server-cert.pem"), "File of the server's certificates, in PEM, in the data directory unless it says where; read at the start and by ALTER INSTANCE RELOAD TLS.";
    SSL_CIPHER = "ssl_cipher", Global, default_only, null(), "Only the default is taken: the ciphers are those of the TLS library.";
    SSL_CRL = "ssl_crl", Global, default_only, null(), "Only the default is taken: certificates of clients are not asked for yet.";
    SSL_CRLPATH = "ssl_crlpath", Global, default_only, null(), "Only the default is taken: certificates of clients are not asked for yet.";
    SSL_FIPS_MODE = "ssl_fips_mode", Global, fixed_default, one_of(&["OFF", "ON", "STRICT"], 0), "Only the default is taken: the TLS library has no FIPS mode.";
    SSL_KEY = "ssl_key", Global, dynamic, text("server-key.pem"), "File of the server's private key, in PEM; read with the certificates.";
    SSL_SESSION_CACHE_MODE = "ssl_session_cache_mode", Global, dynamic, bool(true), "Whether sessions of TLS are kept so that clients can resume them; takes effect with the certificates.";
    SSL_SESSION_CACHE_TIMEOUT = "ssl_session_cache_timeout", Global, dynamic, uint(300, 0, 86400, Seconds), "How long a session of TLS can be resumed; takes effect with the certificates.";
    STATEMENT_ID = "statement_id", Session, fixed, uint(0, 0, i64::MAX as u64, Plain), "Number of the session's statement.";
    STORED_PROGRAM_CACHE = "stored_program_cache", Global, dynamic, uint(256, 16, 524288, Plain), COMPATIBLE;
    STORED_PROGRAM_DEFINITION_CACHE = "stored_program_definition_cache", Global, dynamic, uint(256, 256, 524288, Plain), "No effect: there are no stored routines yet.";
    SUPER_READ_ONLY = "super_read_only", Global, dynamic, bool(false), "Whether no session may change anything (1290); brings read_only.";
    SYNC_BINLOG = "sync_binlog", Global, dynamic, uint(1, 0, u32::MAX as u64, Plain), BINARY_LOG;
    SYNC_MASTER_INFO = "sync_master_info", Global, dynamic, uint(10000, 0, 4294967295, Plain), REPLICATION;
    SYNC_RELAY_LOG = "sync_relay_log", Global, dynamic, uint(10000, 0, 4294967295, Plain), REPLICATION;
    SYNC_RELAY_LOG_INFO = "sync_relay_log_info", Global, dynamic, uint(10000, 0, 4294967295, Plain), REPLICATION;
    SYNC_SOURCE_INFO = "sync_source_info", Global, dynamic, uint(10000, 0, 4294967295, Plain), REPLICATION;
    SYSTEM_TIME_ZONE = "system_time_zone", Global, fixed, text("UTC"), "Time zone of the machine.";
    TABLE_DEFINITION_CACHE = "table_definition_cache", Global, dynamic, uint(2000, 400, 524288, Plain), COMPATIBLE;
    TABLE_ENCRYPTION_PRIVILEGE_CHECK = "table_encryption_privilege_check", Global, default_only, bool(false), NOT_ENCRYPTED;
    TABLE_OPEN_CACHE = "table_open_cache", Global, dynamic, uint(4000, 1, 524288, Plain), COMPATIBLE;
    TABLE_OPEN_CACHE_INSTANCES = "table_open_cache_instances", Global, fixed, uint(16, 1, 64, Plain), COMPATIBLE;
    TABLE_OPEN_CACHE_TRIGGERS = "table_open_cache_triggers", Global, dynamic, uint(524288, 1, 524288, Plain), "No effect: there are no triggers yet.";
    TABLESPACE_DEFINITION_CACHE = "tablespace_definition_cache", Global, dynamic, uint(256, 256, 524288, Plain), COMPATIBLE;
    TEMPTABLE_MAX_MMAP = "temptable_max_mmap", Global, dynamic, uint(0, 0, u64::MAX, Bytes), COMPATIBLE;
    TEMPTABLE_MAX_RAM = "temptable_max_ram", Global, dynamic, uint(1073741824, 2097152, u64::MAX, Plain), COMPATIBLE;
    TEMPTABLE_USE_MMAP = "temptable_use_mmap", Global, dynamic, bool(true), COMPATIBLE;
    TERMINOLOGY_USE_PREVIOUS = "terminology_use_previous", Both, dynamic, one_of(&["NONE", "BEFORE_8_0_26", "BEFORE_8_2_0"], 0), COMPATIBLE;
    THREAD_CACHE_SIZE = "thread_cache_size", Global, dynamic, uint(28, 0, 16384, Plain), COMPATIBLE;
    THREAD_HANDLING = "thread_handling", Global, fixed, one_of(&["one-thread-per-connection", "no-threads", "loaded-dynamically"], 2), "No effect: sessions are tasks on as many workers as there are cores.";
    THREAD_STACK = "thread_stack", Global, fixed, uint(1048576, 131072, u64::MAX, Plain), COMPATIBLE;
    TIME_ZONE = "time_zone", Both, dynamic, text("SYSTEM"), "Time zone of TIMESTAMP values and of NOW().";
    TIMESTAMP = "timestamp", Session, dynamic, double(0.0, 0.0, 2147483647.0, Seconds), "The time that NOW() is; 0 for the clock's.";
    TLS_CERTIFICATES_ENFORCED_VALIDATION = "tls_certificates_enforced_validation", Global, fixed_default, bool(false), "Only the default is taken: certificates are read at the start in any case, and a wrong one ends it.";
    TLS_CIPHERSUITES = "tls_ciphersuites", Global, default_only, null(), "Only the default is taken: the ciphers are those of the TLS library.";
    TLS_VERSION = "tls_version", Global, dynamic, text("TLSv1.2,TLSv1.3"), "Versions of TLS that are spoken; empty at the start for no TLS. Takes effect with the certificates.";
    TMP_TABLE_SIZE = "tmp_table_size", Both, dynamic, uint(16777216, 1024, u64::MAX, Bytes), "Bytes that groups, windows, rows without duplicates, EXCEPT and INTERSECT, and the rows of a derived table or a recursion may take in memory before they go to temporary files; while the server has room they may take palisade_operator_memory, if that is more. No more than half of palisade_statement_memory and of connection_memory_limit.";
    TMPDIR = "tmpdir", Global, fixed, text("/tmp"), "No effect.";
    TRANSACTION_ALLOC_BLOCK_SIZE = "transaction_alloc_block_size", Both, dynamic, uint(8192, 1024, 131072, Bytes, 1024), COMPATIBLE;
    TRANSACTION_ALLOW_BATCHING = "transaction_allow_batching", Session, dynamic, bool(false), COMPATIBLE;
    TRANSACTION_ISOLATION = "transaction_isolation", Both, dynamic, one_of(&["READ-UNCOMMITTED", "READ-COMMITTED", "REPEATABLE-READ", "SERIALIZABLE"], 2), "Isolation of new transactions.";
    TRANSACTION_PREALLOC_SIZE = "transaction_prealloc_size", Both, dynamic, uint(4096, 1024, 131072, Bytes, 1024), COMPATIBLE;
    TRANSACTION_READ_ONLY = "transaction_read_only", Both, dynamic, bool(false), "Whether new transactions are read-only.";
    UNIQUE_CHECKS = "unique_checks", Both, dynamic, bool(true), "No effect: unique keys are always checked.";
    UPDATABLE_VIEWS_WITH_LIMIT = "updatable_views_with_limit", Both, dynamic, one_of(&["NO", "YES"], 1), "No effect: LIMIT may be said of any view.";
    USE_SECONDARY_ENGINE = "use_secondary_engine", Session, dynamic, one_of(&["OFF", "ON", "FORCED"], 1), COMPATIBLE;
    VERSION = "version", Global, fixed, text("8.4.0-palisade"), "Version as clients see it.";
    VERSION_COMMENT = "version_comment", Global, fixed, text("Palisade"), "Name of the product.";
    VERSION_COMPILE_MACHINE = "version_compile_machine", Global, fixed, text(std::env::consts::ARCH), "Processor the server was built for.";
    VERSION_COMPILE_OS = "version_compile_os", Global, fixed, text("Linux"), "System the server was built for.";
    VERSION_COMPILE_ZLIB = "version_compile_zlib", Global, fixed, text(""), "No effect.";
    VERSION_WITH_UPDATE = "version_with_update", Global, fixed, text("8.4.0.0"), "What VERSION_WITH_UPDATE() answers.";
    WAIT_TIMEOUT = "wait_timeout", Both, dynamic, uint(28800, 1, 31536000, Seconds), "Idle time after which a session is closed.";
    WARNING_COUNT = "warning_count", Session, fixed, uint(0, 0, u64::MAX, Plain), "Errors, warnings and notes of the last statement.";
    WINDOWING_USE_HIGH_PRECISION = "windowing_use_high_precision", Both, dynamic, bool(true), COMPATIBLE;
    WORKER_THREADS = "worker_threads", Global, fixed, uint(0, 0, 1024, Plain), "Event loops that serve sessions; 0 for as many as there are cores.";
    XA_DETACH_ON_PREPARE = "xa_detach_on_prepare", Both, default_only, bool(true), "Only the default is taken: XA PREPARE takes the transaction from its session.";
}
