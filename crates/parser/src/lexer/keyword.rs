//! The words MySQL 9.7 knows, reserved ones and others, and how to find one in a nanosecond or two.
//!
//! [`Keyword::of`] hashes the first and last eight letters, folded to upper case by a mask, into a table built at
//! compile time; a word that is no keyword usually meets an empty slot at once.

/// What is special about a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// An identifier must not be spelled like this without quotes.
    Reserved,
    /// May also be an identifier.
    Free,
    /// A keyword only when a parenthesis follows at once (at any distance under IGNORE_SPACE).
    Call,
}

macro_rules! keywords {
    (reserved: $($reserved:ident)*; free: $($free:ident)*; call: $($call:ident)*;) => {
        /// A word with a meaning in the grammar.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u16)]
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, missing_docs, reason = "spelled as in SQL")]
        pub enum Keyword {
            /// No keyword.
            None,
            $($reserved,)*
            $($free,)*
            $($call,)*
        }

        const COUNT: usize = CONST_WORDS.len();
        static WORDS: &[&str; COUNT] =
            &["", $(stringify!($reserved),)* $(stringify!($free),)* $(stringify!($call),)*];
        static KEYWORDS: &[Keyword; COUNT] =
            &[Keyword::None, $(Keyword::$reserved,)* $(Keyword::$free,)* $(Keyword::$call,)*];
        const CLASSES: &[Class; COUNT] =
            &[Class::Free, $(class!(Reserved $reserved),)* $(class!(Free $free),)* $(class!(Call $call),)*];
        const CONST_WORDS: &[&str] = &["", $(stringify!($reserved),)* $(stringify!($free),)* $(stringify!($call),)*];
    };
}

macro_rules! class {
    ($class:ident $word:ident) => {
        Class::$class
    };
}

keywords! {
    reserved:
    ACCESSIBLE ADD ALL ALTER ANALYZE AND AS ASC ASENSITIVE BEFORE BETWEEN BIGINT BINARY BLOB BOTH BY CALL CASCADE
    CASE CHANGE CHAR CHARACTER CHECK COLLATE COLUMN CONDITION CONSTRAINT CONTINUE CONVERT CREATE CROSS CUBE
    CUME_DIST CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER CURSOR DATABASE DATABASES DAY_HOUR
    DAY_MICROSECOND DAY_MINUTE DAY_SECOND DEC DECIMAL DECLARE DEFAULT DELAYED DELETE DENSE_RANK DESC DESCRIBE
    DETERMINISTIC DISTINCT DISTINCTROW DIV DOUBLE DROP DUAL EACH ELSE ELSEIF EMPTY ENCLOSED ESCAPED EXCEPT EXISTS
    EXIT EXPLAIN EXTERNAL FALSE FETCH FIRST_VALUE FLOAT FLOAT4 FLOAT8 FOR FORCE FOREIGN FROM FULLTEXT FUNCTION
    GENERATED GET GRANT GROUP GROUPING GROUPS HAVING HIGH_PRIORITY HOUR_MICROSECOND HOUR_MINUTE HOUR_SECOND IF
    IGNORE IN INDEX INFILE INNER INOUT INSENSITIVE INSERT INT INT1 INT2 INT3 INT4 INT8 INTEGER INTERSECT INTERVAL
    INTO IO_AFTER_GTIDS IO_BEFORE_GTIDS IS ITERATE JOIN JSON_TABLE KEY KEYS KILL LAG LAST_VALUE LATERAL LEAD LEADING
    LEAVE LEFT LIBRARY LIKE LIMIT LINEAR LINES LOAD LOCALTIME LOCALTIMESTAMP LOCK LONG LONGBLOB LONGTEXT LOOP
    LOW_PRIORITY MATCH MAXVALUE MEDIUMBLOB MEDIUMINT MEDIUMTEXT MIDDLEINT MINUTE_MICROSECOND MINUTE_SECOND MOD
    MODIFIES NATURAL NOT NO_WRITE_TO_BINLOG NTH_VALUE NTILE NULL NUMERIC OF ON OPTIMIZE OPTIMIZER_COSTS OPTION
    OPTIONALLY OR ORDER OUT OUTER OUTFILE OVER PARTITION PERCENT_RANK PRECISION PRIMARY PROCEDURE PURGE QUALIFY
    RANGE RANK READ READS READ_WRITE REAL RECURSIVE REFERENCES REGEXP RELEASE RENAME REPEAT REPLACE REQUIRE RESIGNAL
    RESTRICT RETURN REVOKE RIGHT RLIKE ROW ROWS ROW_NUMBER SCHEMA SCHEMAS SECOND_MICROSECOND SELECT SENSITIVE
    SEPARATOR SET SHOW SIGNAL SMALLINT SPATIAL SPECIFIC SQL SQLEXCEPTION SQLSTATE SQLWARNING SQL_BIG_RESULT
    SQL_CALC_FOUND_ROWS SQL_SMALL_RESULT SSL STARTING STORED STRAIGHT_JOIN SYSTEM TABLE TABLESAMPLE TERMINATED THEN
    TINYBLOB TINYINT TINYTEXT TO TRAILING TRIGGER TRUE UNDO UNION UNIQUE UNLOCK UNSIGNED UPDATE USAGE USE USING
    UTC_DATE UTC_TIME UTC_TIMESTAMP VALUES VARBINARY VARCHAR VARCHARACTER VARYING VIRTUAL WHEN WHERE WHILE WINDOW
    WITH WRITE XOR YEAR_MONTH ZEROFILL;
    free:
    ABSENT ACCOUNT ACTION ACTIVE ADMIN AFTER AGAINST AGGREGATE ALGORITHM ALLOW_MISSING_FILES ALWAYS ANY ARRAY ASCII
    ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS AT ATTRIBUTE AUTHENTICATION AUTO AUTOEXTEND_SIZE AUTO_INCREMENT
    AUTO_REFRESH AUTO_REFRESH_SOURCE AVG AVG_ROW_LENGTH BACKUP BEGIN BERNOULLI BINLOG BIT BLOCK BOOL BOOLEAN BTREE
    BUCKETS BULK BYTE CACHE CASCADED CATALOG_NAME CHAIN CHALLENGE_RESPONSE CHANGED CHANNEL CHARSET CHECKSUM CIPHER
    CLASS_ORIGIN CLIENT CLONE CLOSE COALESCE CODE COLLATION COLUMNS COLUMN_FORMAT COLUMN_NAME COMMENT COMMIT
    COMMITTED COMPACT COMPLETION COMPONENT COMPRESSED COMPRESSION CONCURRENT CONNECTION CONSISTENT
    CONSTRAINT_CATALOG CONSTRAINT_NAME CONSTRAINT_SCHEMA CONTAINS CONTEXT CPU CURRENT CURSOR_NAME DATA DATAFILE DATE
    DATETIME DAY DEALLOCATE DEFAULT_AUTH DEFINER DEFINITION DELAY_KEY_WRITE DESCRIPTION DIAGNOSTICS DIRECTORY
    DISABLE DISCARD DISK DO DUALITY DUMPFILE DUPLICATE DYNAMIC ENABLE ENCRYPTION END ENDS ENFORCED ENGINE ENGINES
    ENGINE_ATTRIBUTE ENUM ERROR ERRORS ESCAPE EVENT EVENTS EVERY EXCHANGE EXCLUDE EXECUTE EXPANSION EXPIRE EXPORT
    EXTENDED EXTENT_SIZE EXTERNAL_FORMAT FACTOR FAILED_LOGIN_ATTEMPTS FAST FAULTS FIELDS FILE FILES FILE_BLOCK_SIZE
    FILE_FORMAT FILE_NAME FILE_PATTERN FILE_PREFIX FILTER FINISH FIRST FIXED FLUSH FOLLOWING FOLLOWS FORMAT FOUND
    FULL GENERAL GENERATE GEOMCOLLECTION GEOMETRY GEOMETRYCOLLECTION GET_FORMAT GET_SOURCE_PUBLIC_KEY GLOBAL GRANTS
    GROUP_REPLICATION GTIDS GTID_ONLY GUIDED HANDLER HASH HEADER HELP HISTOGRAM HISTORY HOST HOSTS HOUR IDENTIFIED
    IGNORE_SERVER_IDS IMPORT INACTIVE INDEXES INITIAL INITIAL_SIZE INITIATE INSERT_METHOD INSTALL INSTANCE INVISIBLE
    INVOKER IO IO_THREAD IPC ISOLATION ISSUER JSON JSON_VALUE KEYRING KEY_BLOCK_SIZE LANGUAGE LAST LEAVES LESS LEVEL
    LINESTRING LIST LOCAL LOCKED LOCKS LOG LOGFILE LOGS MANUAL MASKING MASTER MATERIALIZED MAX_CONNECTIONS_PER_HOUR
    MAX_QUERIES_PER_HOUR MAX_ROWS MAX_SIZE MAX_UPDATES_PER_HOUR MAX_USER_CONNECTIONS MEDIUM MEMBER MEMORY MERGE
    MESSAGE_TEXT MICROSECOND MIGRATE MINUTE MIN_ROWS MODE MODIFY MONTH MULTILINESTRING MULTIPOINT MULTIPOLYGON MUTEX
    MYSQL_ERRNO NAME NAMES NATIONAL NCHAR NDB NDBCLUSTER NESTED NETWORK_NAMESPACE NEVER NEW NEXT NO NODEGROUP NONE
    NOWAIT NO_WAIT NULLS NUMBER NVARCHAR OFF OFFSET OJ OLD ONE ONLY OPEN OPTIONAL OPTIONS ORDINALITY ORGANIZATION
    OTHERS OWNER PACK_KEYS PAGE PARALLEL PARAMETERS PARSER PARSE_TREE PARTIAL PARTITIONING PARTITIONS PASSWORD
    PASSWORD_LOCK_TIME PATH PERSIST PERSIST_ONLY PHASE PLUGIN PLUGINS PLUGIN_DIR POINT POLICY POLYGON PORT PRECEDES
    PRECEDING PREPARE PRESERVE PREV PRIVILEGES PRIVILEGE_CHECKS_USER PROCESS PROCESSLIST PROFILE PROFILES PROXY
    QUARTER QUERY QUICK RANDOM READ_ONLY REBUILD RECOVER REDO_BUFFER_SIZE REDUNDANT REFERENCE REGISTRATION
    RELATIONAL RELAY RELAYLOG RELAY_LOG_FILE RELAY_LOG_POS RELAY_THREAD RELOAD REMOVE REORGANIZE REPAIR REPEATABLE
    REPLICA REPLICAS REPLICATE_DO_DB REPLICATE_DO_TABLE REPLICATE_IGNORE_DB REPLICATE_IGNORE_TABLE
    REPLICATE_REWRITE_DB REPLICATE_WILD_DO_TABLE REPLICATE_WILD_IGNORE_TABLE REPLICATION REQUIRE_ROW_FORMAT
    REQUIRE_TABLE_PRIMARY_KEY_CHECK RESET RESOURCE RESPECT RESTART RESTORE RESUME RETAIN RETURNED_SQLSTATE RETURNING
    RETURNS REUSE REVERSE ROLE ROLLBACK ROLLUP ROTATE ROUTINE ROW_COUNT ROW_FORMAT RTREE S3 SAVEPOINT SCHEDULE
    SCHEMA_NAME SECOND SECONDARY SECONDARY_ENGINE SECONDARY_ENGINE_ATTRIBUTE SECONDARY_LOAD SECONDARY_UNLOAD
    SECURITY SERIAL SERIALIZABLE SERVER SESSION SETS SHARE SHUTDOWN SIGNED SIMPLE SKIP SLAVE SLOW SNAPSHOT SOCKET
    SOME SONAME SOUNDS SOURCE SOURCE_AUTO_POSITION SOURCE_BIND SOURCE_COMPRESSION_ALGORITHMS
    SOURCE_CONNECTION_AUTO_FAILOVER SOURCE_CONNECT_RETRY SOURCE_DELAY SOURCE_HEARTBEAT_PERIOD SOURCE_HOST
    SOURCE_LOG_FILE SOURCE_LOG_POS SOURCE_PASSWORD SOURCE_PORT SOURCE_PUBLIC_KEY_PATH SOURCE_RETRY_COUNT SOURCE_SSL
    SOURCE_SSL_CA SOURCE_SSL_CAPATH SOURCE_SSL_CERT SOURCE_SSL_CIPHER SOURCE_SSL_CRL SOURCE_SSL_CRLPATH
    SOURCE_SSL_KEY SOURCE_SSL_VERIFY_SERVER_CERT SOURCE_TLS_CIPHERSUITES SOURCE_TLS_VERSION SOURCE_USER
    SOURCE_ZSTD_COMPRESSION_LEVEL SQL_AFTER_GTIDS SQL_AFTER_MTS_GAPS SQL_BEFORE_GTIDS SQL_BUFFER_RESULT SQL_NO_CACHE
    SQL_THREAD SQL_TSI_DAY SQL_TSI_HOUR SQL_TSI_MINUTE SQL_TSI_MONTH SQL_TSI_QUARTER SQL_TSI_SECOND SQL_TSI_WEEK
    SQL_TSI_YEAR SRID STACKED START STARTS STATS_AUTO_RECALC STATS_PERSISTENT STATS_SAMPLE_PAGES STATUS STOP STORAGE
    STREAM STRICT_LOAD STRING SUBCLASS_ORIGIN SUBJECT SUBPARTITION SUBPARTITIONS SUPER SUSPEND SWAPS SWITCHES TABLES
    TABLESPACE TABLE_CHECKSUM TABLE_NAME TEMPORARY TEMPTABLE TEXT THAN THREAD_PRIORITY TIES TIME TIMESTAMP
    TIMESTAMPADD TIMESTAMPDIFF TLS TRANSACTION TRIGGERS TRUNCATE TYPE TYPES UNBOUNDED UNCOMMITTED UNDEFINED UNDOFILE
    UNDO_BUFFER_SIZE UNICODE UNINSTALL UNKNOWN UNREGISTER UNTIL UPGRADE URI URL USER USER_RESOURCES USE_FRM VALIDATE
    VALIDATION VALUE VARIABLES VCPU VECTOR VERIFY_KEY_CONSTRAINTS VIEW VISIBLE WAIT WARNINGS WEEK WEIGHT_STRING
    WITHOUT WORK WRAPPER X509 XA XID XML YEAR ZONE;
    call:
    ADDDATE BIT_AND BIT_OR BIT_XOR CAST COUNT CURDATE CURTIME DATE_ADD DATE_SUB EXTRACT GROUP_CONCAT JSON_ARRAYAGG
    JSON_OBJECTAGG MAX MID MIN NOW POSITION SESSION_USER STD STDDEV STDDEV_POP STDDEV_SAMP ST_COLLECT SUBDATE SUBSTR
    SUBSTRING SUM SYSDATE SYSTEM_USER TRIM VARIANCE VAR_POP VAR_SAMP;
}

const TABLE_BITS: u32 = 12;
const TABLE_SIZE: usize = 1 << TABLE_BITS;
const LONGEST: usize = 38;

static TABLE: [u16; TABLE_SIZE] = table();

#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn table() -> [u16; TABLE_SIZE] {
    let mut table = [0u16; TABLE_SIZE];
    let mut word = 1;
    while word < CONST_WORDS.len() {
        let bytes = CONST_WORDS[word].as_bytes();
        assert!(bytes.len() <= LONGEST);
        let mut slot = slot(bytes);
        while table[slot] != 0 {
            slot = (slot + 1) % TABLE_SIZE;
        }
        table[slot] = word as u16;
        word += 1;
    }
    table
}

/// Where the search for a word begins. Case does not matter: bit 5 of every byte is masked out.
const fn slot(word: &[u8]) -> usize {
    const UPPER: u64 = 0xdfdf_dfdf_dfdf_dfdf;
    let (head, tail) = if let (Some(head), Some(tail)) = (word.first_chunk::<8>(), word.last_chunk::<8>()) {
        (u64::from_le_bytes(*head), u64::from_le_bytes(*tail))
    } else {
        let (mut short, mut shift, mut rest) = (0u64, 0, word);
        while let [byte, behind @ ..] = rest {
            short |= (*byte as u64) << shift;
            (shift, rest) = (shift + 8, behind);
        }
        (short, 0)
    };
    let mixed = (head & UPPER) ^ (tail & UPPER).rotate_left(29) ^ ((word.len() as u64) << 59);
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - TABLE_BITS)) as usize
}

impl Keyword {
    /// The keyword spelled like this, in whatever case; [`Keyword::None`] if there is none.
    pub fn of(word: &[u8]) -> Keyword {
        if word.len() > LONGEST || word.len() < 2 {
            return Keyword::None;
        }
        let mut slot = slot(word);
        loop {
            // An empty slot holds the place of the empty word, which is no keyword.
            let index = TABLE.get(slot).copied().map_or(0, usize::from);
            let (Some(found), Some(keyword)) = (WORDS.get(index), KEYWORDS.get(index)) else {
                return Keyword::None;
            };
            if index == 0 || found.as_bytes().eq_ignore_ascii_case(word) {
                return *keyword;
            }
            slot = (slot + 1) % TABLE_SIZE;
        }
    }

    /// This keyword's entry in one of the tables beside its declaration.
    #[expect(
        clippy::indexing_slicing,
        reason = "one macro makes the keywords and an entry for each in every table"
    )]
    fn entry<T: Copy>(self, table: &[T; COUNT]) -> T {
        table[self as usize]
    }

    /// In upper case.
    pub fn text(self) -> &'static str {
        self.entry(WORDS)
    }

    /// Every word of the grammar by the alphabet, and whether it is reserved: what
    /// information_schema.KEYWORDS lists.
    pub fn listed() -> Vec<(&'static str, bool)> {
        let listed = KEYWORDS.iter().skip(1).filter(|keyword| !keyword.is_call_only());
        let mut words: Vec<_> = listed.map(|keyword| (keyword.text(), keyword.is_reserved())).collect();
        words.sort_unstable();
        words
    }

    /// Whether an identifier cannot be spelled like this without quotes.
    pub fn is_reserved(self) -> bool {
        self.entry(CLASSES) == Class::Reserved
    }

    /// Whether it is a type of spatial data.
    pub(crate) fn is_geometry(self) -> bool {
        matches!(
            self,
            Keyword::POINT
                | Keyword::LINESTRING
                | Keyword::POLYGON
                | Keyword::MULTIPOINT
                | Keyword::MULTILINESTRING
                | Keyword::MULTIPOLYGON
                | Keyword::GEOMETRYCOLLECTION
                | Keyword::GEOMCOLLECTION
                | Keyword::GEOMETRY
        )
    }

    /// Whether it is a keyword only in front of a parenthesis.
    pub(crate) fn is_call_only(self) -> bool {
        self.entry(CLASSES) == Class::Call
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_is_found_in_any_case() {
        for (index, word) in WORDS.iter().enumerate().skip(1) {
            assert_eq!(Keyword::of(word.as_bytes()), KEYWORDS[index], "{word}");
            assert_eq!(Keyword::of(word.to_lowercase().as_bytes()), KEYWORDS[index], "{word}");
            assert_eq!(KEYWORDS[index].text(), *word);
        }
    }

    #[test]
    fn other_words_are_not_keywords() {
        for word in ["", "a", "selec", "selects", "sbtest1", "id", "x$host_summary", "SEL\u{0003}CT"] {
            assert_eq!(Keyword::of(word.as_bytes()), Keyword::None, "{word}");
        }
        assert!(
            Keyword::SELECT.is_reserved() && !Keyword::STATUS.is_reserved() && Keyword::COUNT.is_call_only()
        );
    }

    #[test]
    fn probes_are_short() {
        let longest =
            (0..TABLE_SIZE).map(|from| (from..).take_while(|s| TABLE[s % TABLE_SIZE] != 0).count()).max();
        assert!(longest.unwrap() < 24, "{longest:?}");
    }
}
