//! Random expressions and statements: every function and operator with arguments of any type.

use palisade_base::prng::Prng;

use super::question::Question;

/// Kinds of values, by the letter that stands for one in a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    /// A small whole number: a count, a position.
    Small,
    Text,
    Date,
    Time,
    /// A format of dates.
    Format,
    /// A regular expression or a pattern of LIKE.
    Pattern,
    Truth,
    /// A JSON document.
    Json,
    /// A path into one.
    Path,
}

const KINDS: &[Kind] = &[Kind::Number, Kind::Small, Kind::Text, Kind::Date, Kind::Time, Kind::Truth];

/// What makes the table: a column of each type.
pub const TABLE: &str = "CREATE TABLE v (id INT PRIMARY KEY, g INT, c_tiny TINYINT, c_int INT, c_uint INT UNSIGNED, \
     c_big BIGINT, c_ubig BIGINT UNSIGNED, c_dec DECIMAL(10,3), c_udec DECIMAL(20,0) UNSIGNED, c_float FLOAT, \
     c_double DOUBLE, c_char CHAR(10), c_text VARCHAR(30), c_bin VARCHAR(30) COLLATE utf8mb4_bin, \
     c_latin VARCHAR(20) CHARACTER SET latin1, c_bytes VARBINARY(20), c_long TEXT, c_blob BLOB, c_date DATE, \
     c_time TIME(3), c_datetime DATETIME, c_datetime6 DATETIME(6), c_stamp TIMESTAMP(2) NULL, c_year YEAR, \
     c_bit BIT(10), c_enum ENUM('b','a','12'), c_set SET('x','y','1'))";

/// A table of the same columns, to store values in.
pub fn second_table() -> String {
    TABLE.replace("TABLE v (id INT PRIMARY KEY", "TABLE w (id INT PRIMARY KEY AUTO_INCREMENT")
}

/// The rows, one INSERT each.
pub const ROWS: &[&str] = &[
    "1, 1, 1, 2, 3, 4, 5, 6.500, 7, 1.5, 2.5, 'abc', 'Hello', 'World', 'ete', 'xyz', 'some text', 'blob', '2024-02-29', '12:34:56.789', '2023-12-31 23:59:59', '2024-01-15 10:20:30.123456', '2020-06-15 12:00:00.25', 2024, b'1000001', 'a', 'x,y'",
    "2, 1, -128, -2147483648, 0, -9223372036854775808, 0, -0.001, 0, -1e10, -1e300, '', '', '', '', '', '', '', '1000-01-01', '-838:59:59', '1970-01-01 00:00:00', '1999-12-31 23:59:59.999999', '1970-01-01 00:00:01', 1901, b'0', 'b', ''",
    "3, 1, 127, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615, 9999999.999, 99999999999999999999, 1e20, 1e-10, '12', '12.7abc', '-3', '1e2', '0x41', '2024-05-06', '10:11:12', '9999-12-31', '838:59:59', '9999-12-31 23:59:59', '2000-02-29 00:00:00.5', '2038-01-19 03:14:07.99', 2155, b'1111111111', '12', 'x,y,1'",
    "4, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL",
    "5, 2, 0, 7, 10, 100, 1000, 0.500, 12, 0.1, 0.1, 'a b', 'ÀÉ', 'ab,cd,ef', 'äö', x'00ff41', 'a,b,c', x'80', '2024-12-30', '00:00:00', '2024-12-30 00:00:00', '2024-12-30 23:00:00.000001', '2024-03-31 02:30:00', 1999, b'11', 'a', '1'",
    "6, 2, 10, 20240101, 20240115, 20240115102030, 101112, 20240.500, 1, 3.14159, 20240115.5, '2024-01-02', '2024-01-02 03:04:05', '03:04:05', '99', '1', '20240102', '2', '2023-01-31', '01:02:03.004', '2023-02-28 01:02:03', '2023-02-28 01:02:03.000004', '2023-02-28 01:02:03', 2000, b'1010', 'b', 'y'",
];

const COLUMNS: &[(Kind, &[&str])] = &[
    (
        Kind::Number,
        &[
            "c_tiny", "c_int", "c_uint", "c_big", "c_ubig", "c_dec", "c_udec", "c_float", "c_double",
            "c_year", "c_bit", "c_enum", "c_set",
        ],
    ),
    (Kind::Small, &["c_tiny", "id", "g", "c_bit"]),
    (Kind::Text, &["c_char", "c_text", "c_bin", "c_latin", "c_bytes", "c_long", "c_blob", "c_enum", "c_set"]),
    (Kind::Date, &["c_date", "c_datetime", "c_datetime6", "c_stamp", "c_text", "c_int"]),
    (Kind::Time, &["c_time", "c_datetime6", "c_text", "c_uint"]),
    (Kind::Truth, &["c_tiny", "c_text", "c_dec"]),
    (Kind::Json, &["c_text", "c_char"]),
];

const CONSTANTS: &[(Kind, &[&str])] = &[
    (
        Kind::Number,
        &[
            "0",
            "1",
            "-1",
            "2",
            "7",
            "10",
            "255",
            "-32768",
            "2147483648",
            "9223372036854775807",
            "-9223372036854775808",
            "18446744073709551615",
            "18446744073709551616",
            "0.0",
            "0.5",
            "-0.5",
            "1.5",
            "2.50",
            "-1.25",
            "123.456",
            "99999999999999999999.99",
            "1e0",
            "-2.5e0",
            "1.5e3",
            "1e-5",
            "1e20",
            "1e308",
            "'3'",
            "'3.7'",
            "'-12abc'",
            "'1e3'",
            "''",
            "NULL",
            "TRUE",
            "x'41'",
            "b'101'",
            "0x0102",
        ],
    ),
    (Kind::Small, &["0", "1", "2", "3", "-1", "-2", "5", "10", "1.5", "'2'", "NULL", "4", "100"]),
    (
        Kind::Text,
        &[
            "''",
            "'a'",
            "'abc'",
            "'ABC'",
            "'a,b,c'",
            "'Hello World'",
            "' pad '",
            "'12'",
            "'1.5abc'",
            "'äöü'",
            "'日本'",
            "_latin1'x'",
            "_binary'bin'",
            "x'4142'",
            "NULL",
            "'2024-01-31'",
            "'10:11:12'",
            "'%'",
            "'www.mysql.com'",
            "'YWJj'",
            "'ff'",
            "'abc' COLLATE utf8mb4_bin",
            "'127.0.0.1'",
            "CAST('q' AS CHAR(3))",
            "'O''k'",
        ],
    ),
    (
        Kind::Date,
        &[
            "'2024-01-31'",
            "'2024-02-29 12:34:56'",
            "'2023-12-31 23:59:59.999999'",
            "DATE'2024-03-15'",
            "TIMESTAMP'2024-03-15 01:02:03'",
            "TIMESTAMP'2024-03-15 01:02:03.450'",
            "20240131",
            "20240131235959",
            "'2024-13-01'",
            "'0000-00-00'",
            "'2024-00-10'",
            "'garbage'",
            "'24-1-2'",
            "NULL",
            "0",
            "'9999-12-31'",
            "'2024-01-31T10:00:00'",
            "'2024.01.31'",
            "'2024-01-31 10:00:00+02:00'",
            "CAST('2024-05-05' AS DATETIME(3))",
            "CURDATE()",
            "NOW()",
            "NOW(3)",
            "240131",
            "'2024-01-31x'",
        ],
    ),
    (
        Kind::Time,
        &[
            "'10:11:12'",
            "'-10:11:12.5'",
            "TIME'23:59:59'",
            "TIME'00:00:01.250'",
            "101112",
            "'1 02:03:04'",
            "'838:59:59'",
            "'900:00:00'",
            "'garbage'",
            "NULL",
            "'11:61:00'",
            "'12'",
            "1.5",
            "-5",
            "'10:11'",
            "CURTIME()",
            "'2024-01-01 10:00:00'",
        ],
    ),
    (Kind::Truth, &["TRUE", "FALSE", "NULL", "1", "0", "0.3", "'0.3'", "'x'"]),
    (
        Kind::Json,
        &[
            "'1'",
            "'-2.50'",
            "'\"a\"'",
            "'null'",
            "'true'",
            "'[]'",
            "'[1, \"a\", [2, {\"a\": 3}], null]'",
            "'{}'",
            "'{\"a\": 1, \"b\": [1, 2, 3], \"c\": {\"a\": \"x\", \"b c\": true}}'",
            "'{\"b\": {\"a\": null}, \"a\": [[1], [2, [3]]]}'",
            "CAST('[1, 2.5, \"a\", true]' AS JSON)",
            "CAST('{\"a\": {\"a\": {\"a\": 1}}}' AS JSON)",
            "CAST('\"5\"' AS JSON)",
            "JSON_ARRAY(1, 'a', NULL, 1.50)",
            "JSON_OBJECT('a', c_tiny, 'b', c_text)",
            "JSON_OBJECT('a', 1, 'b', TRUE)",
            "'[1, 2'",
            "'x'",
            "NULL",
            "1",
        ],
    ),
    (
        Kind::Path,
        &[
            "'$'",
            "'$.a'",
            "'$.b'",
            "'$.c.a'",
            "'$.c.\"b c\"'",
            "'$[0]'",
            "'$[1]'",
            "'$[2][0]'",
            "'$[last]'",
            "'$[last-1]'",
            "'$[1 to 2]'",
            "'$[*]'",
            "'$.*'",
            "'$**.a'",
            "'$**[0]'",
            "'$.a[0]'",
            "'$.b[last]'",
            "'$.x'",
            "'$[7]'",
            "'$.a.a'",
            "'$.'",
            "'a'",
            "'$[*].a'",
            "NULL",
        ],
    ),
    (
        Kind::Format,
        &[
            "'%Y-%m-%d'",
            "'%H:%i:%s.%f'",
            "'%W %M %e %y'",
            "'%a %b %c %d %D'",
            "'%j %U %u %V %v %X %x'",
            "'%h %I %k %l %p %r %T'",
            "'%w %% %q %'",
            "''",
            "NULL",
            "'%d,%m,%Y'",
            "'%Y%m%d%H%i%s'",
        ],
    ),
    (
        Kind::Pattern,
        &[
            "'a%'", "'%b%'", "'_bc'", "'A'", "'[a-c]+'", "'^a.*c$'", "'%'", "''", "NULL", "'\\\\%'", "'l+'",
            "'(b|o)'",
        ],
    ),
];

/// `n` number, `i` small number, `s` text, `d` date, `t` time, `f` format, `p` pattern, `b` truth, `x`
/// anything; each after a `$`. What stands in brackets may be left out.
const TEMPLATES: &[&str] = &[
    // operators
    "$x + $x",
    "$x - $x",
    "$x * $x",
    "$x / $x",
    "$x DIV $x",
    "$x % $x",
    "-$x",
    "$n + $n",
    "$n * $n",
    "$n - $n",
    "$x & $x",
    "$x | $x",
    "$x ^ $x",
    "$x << $i",
    "$x >> $i",
    "~$x",
    "$x = $x",
    "$x <> $x",
    "$x < $x",
    "$x <= $x",
    "$x > $x",
    "$x >= $x",
    "$x <=> $x",
    "$x BETWEEN $x AND $x",
    "$x NOT BETWEEN $x AND $x",
    "$x IN ($x, $x)",
    "$x NOT IN ($x, $x, $x)",
    "$x IS NULL",
    "$x IS NOT TRUE",
    "$x IS FALSE",
    "$x IS UNKNOWN",
    "NOT $x",
    "$b AND $x",
    "$b OR $x",
    "$b XOR $x",
    "$x LIKE $p",
    "$s LIKE $p ESCAPE '|'",
    "$s NOT LIKE $p",
    "$s REGEXP $p",
    "$s RLIKE $p",
    "$s SOUNDS LIKE $s",
    "($x, $x) = ($x, $x)",
    "($x, $x) < ($x, $x)",
    "$n = $n",
    "$d = $d",
    "$d < $d",
    "$s = $s",
    "$s < $s",
    "$d = $s",
    "$n = $s",
    "$t = $t",
    "$d > $n",
    "$d - INTERVAL $i DAY",
    "$d + INTERVAL $x MONTH",
    // control
    "IF($b, $x, $x)",
    "IFNULL($x, $x)",
    "NULLIF($x, $x)",
    "COALESCE($x, $x[, $x])",
    "GREATEST($x, $x[, $x])",
    "LEAST($x, $x[, $x])",
    "ISNULL($x)",
    "INTERVAL($n, $n, $n, $n)",
    "CASE WHEN $b THEN $x ELSE $x END",
    "CASE $x WHEN $x THEN $x WHEN $x THEN $x END",
    "GREATEST($n, $n)",
    "LEAST($d, $d)",
    "GREATEST($s, $s)",
    // casts
    "CAST($x AS CHAR)",
    "CAST($x AS CHAR(3))",
    "CAST($x AS BINARY)",
    "CAST($x AS BINARY(4))",
    "CAST($x AS SIGNED)",
    "CAST($x AS UNSIGNED)",
    "CAST($x AS DECIMAL)",
    "CAST($x AS DECIMAL(10,2))",
    "CAST($x AS DECIMAL(3,1))",
    "CAST($x AS FLOAT)",
    "CAST($x AS DOUBLE)",
    "CAST($x AS DATE)",
    "CAST($x AS TIME)",
    "CAST($x AS TIME(3))",
    "CAST($x AS DATETIME)",
    "CAST($x AS DATETIME(2))",
    "CAST($x AS YEAR)",
    "CONVERT($s USING latin1)",
    "CONVERT($x USING utf8mb4)",
    "BINARY $x",
    "CONVERT($x, CHAR CHARACTER SET latin1)",
    // numbers
    "ABS($x)",
    "ACOS($n)",
    "ASIN($n)",
    "ATAN($n[, $n])",
    "ATAN2($n, $n)",
    "CEIL($x)",
    "CEILING($n)",
    "FLOOR($x)",
    "COS($n)",
    "COT($n)",
    "SIN($n)",
    "TAN($n)",
    "DEGREES($n)",
    "RADIANS($n)",
    "EXP($n)",
    "LN($n)",
    "LOG($n[, $n])",
    "LOG2($n)",
    "LOG10($n)",
    "MOD($x, $x)",
    "PI()",
    "POW($n, $n)",
    "POWER($n, $i)",
    "ROUND($x[, $i])",
    "TRUNCATE($x, $i)",
    "SIGN($x)",
    "SQRT($n)",
    "RAND(3)",
    "CRC32($x)",
    "CONV($x, $i, $i)",
    "CONV($s, 16, 10)",
    "BIN($x)",
    "OCT($x)",
    "HEX($x)",
    "BIT_COUNT($x)",
    "FORMAT($n, $i)",
    "FORMAT($n, 2, 'de_DE')",
    "INET_ATON($s)",
    "INET_NTOA($n)",
    "INET6_NTOA($s)",
    "HEX(INET6_ATON($s))",
    "IS_IPV4($s)",
    "IS_IPV6($s)",
    // texts
    "ASCII($x)",
    "ORD($x)",
    "CHAR($n, $n)",
    "CHAR($n USING utf8mb4)",
    "CHAR_LENGTH($x)",
    "CHARACTER_LENGTH($s)",
    "LENGTH($x)",
    "OCTET_LENGTH($s)",
    "BIT_LENGTH($x)",
    "CONCAT($x, $x[, $x])",
    "CONCAT_WS($s, $x, $x)",
    "ELT($i, $x, $x)",
    "FIELD($x, $x, $x)",
    "FIND_IN_SET($x, $s)",
    "MAKE_SET($n, $s, $s, $s)",
    "EXPORT_SET($n, $s, $s[, $s, $i])",
    "INSERT($s, $i, $i, $s)",
    "INSTR($s, $x)",
    "LOCATE($x, $s[, $i])",
    "POSITION($s IN $s)",
    "LEFT($x, $i)",
    "RIGHT($x, $i)",
    "SUBSTRING($x, $i[, $i])",
    "SUBSTR($s FROM $i FOR $i)",
    "MID($s, $i, $i)",
    "SUBSTRING_INDEX($s, $s, $i)",
    "LOWER($x)",
    "UPPER($x)",
    "LCASE($s)",
    "UCASE($s)",
    "LPAD($x, $i, $s)",
    "RPAD($x, $i, $s)",
    "LTRIM($x)",
    "RTRIM($x)",
    "TRIM($x)",
    "TRIM(BOTH $s FROM $s)",
    "TRIM(LEADING $s FROM $s)",
    "TRIM(TRAILING $s FROM $s)",
    "REPEAT($s, $i)",
    "REPLACE($s, $s, $s)",
    "REVERSE($x)",
    "SOUNDEX($s)",
    "SPACE($i)",
    "STRCMP($x, $x)",
    "QUOTE($x)",
    "UNHEX($s)",
    "TO_BASE64($x)",
    "FROM_BASE64($s)",
    "REGEXP_LIKE($s, $p)",
    "REGEXP_INSTR($s, $p[, $i])",
    "REGEXP_REPLACE($s, $p, $s)",
    "REGEXP_SUBSTR($s, $p[, $i])",
    "CHARSET($x)",
    "COLLATION($x)",
    "COERCIBILITY($x)",
    "SHA2($x, 256)",
    "HEX(WEIGHT_STRING($s))",
    "JSON_ARRAY($x, $j)",
    "JSON_OBJECT($s, $x, 'a', $j)",
    "JSON_QUOTE($s)",
    "JSON_UNQUOTE($j)",
    "JSON_UNQUOTE($s)",
    "JSON_VALID($x)",
    "JSON_VALID($j)",
    "JSON_TYPE($j)",
    "JSON_DEPTH($j)",
    "JSON_LENGTH($j[, $q])",
    "JSON_KEYS($j[, $q])",
    "JSON_EXTRACT($j, $q[, $q])",
    "JSON_CONTAINS($j, $j[, $q])",
    "JSON_CONTAINS_PATH($j, 'one', $q, $q)",
    "JSON_CONTAINS_PATH($j, 'all', $q, $q)",
    "JSON_OVERLAPS($j, $j)",
    "$x MEMBER OF ($j)",
    "JSON_SEARCH($j, 'one', $p)",
    "JSON_SEARCH($j, 'all', '%', NULL, $q)",
    "JSON_SET($j, $q, $x[, $q, $j])",
    "JSON_INSERT($j, $q, $x[, $q, $j])",
    "JSON_REPLACE($j, $q, $x[, $q, $j])",
    "JSON_REMOVE($j, $q[, $q])",
    "JSON_ARRAY_APPEND($j, $q, $x[, $q, $j])",
    "JSON_ARRAY_INSERT($j, $q, $x[, $q, $j])",
    "JSON_MERGE_PATCH($j, $j[, $j])",
    "JSON_MERGE_PRESERVE($j, $j[, $j])",
    "JSON_PRETTY($j)",
    "JSON_VALUE($j, $q)",
    "JSON_VALUE($j, $q RETURNING SIGNED DEFAULT 7 ON EMPTY)",
    "CAST($x AS JSON)",
    "CAST(JSON_EXTRACT($j, $q) AS SIGNED)",
    "JSON_EXTRACT($j, $q) = $x",
    "JSON_EXTRACT($j, $q) < JSON_EXTRACT($j, $q)",
    "JSON_EXTRACT($j, $q) + $n",
    "UUID_TO_BIN($s)",
    "IS_UUID($s)",
    "HEX(COMPRESS($s))",
    "UNCOMPRESSED_LENGTH($s)",
    "STATEMENT_DIGEST_TEXT('SELECT 1')",
    // dates
    "ADDDATE($d, $i)",
    "SUBDATE($d, $i)",
    "ADDTIME($t, $t)",
    "ADDTIME($d, $t)",
    "SUBTIME($t, $t)",
    "SUBTIME($d, $t)",
    "CONVERT_TZ($d, '+00:00', '+05:30')",
    "DATE($x)",
    "TIME($x)",
    "YEAR($x)",
    "MONTH($x)",
    "DAY($d)",
    "DAYOFMONTH($x)",
    "DAYNAME($d)",
    "MONTHNAME($d)",
    "DAYOFWEEK($d)",
    "DAYOFYEAR($x)",
    "WEEK($d[, $i])",
    "WEEKDAY($d)",
    "WEEKOFYEAR($d)",
    "YEARWEEK($d[, $i])",
    "QUARTER($d)",
    "HOUR($t)",
    "MINUTE($t)",
    "SECOND($t)",
    "MICROSECOND($t)",
    "HOUR($x)",
    "DATEDIFF($d, $d)",
    "TIMEDIFF($t, $t)",
    "TIMEDIFF($d, $d)",
    "DATE_FORMAT($d, $f)",
    "TIME_FORMAT($t, $f)",
    "STR_TO_DATE($s, $f)",
    "STR_TO_DATE('31,5,2024', $f)",
    "STR_TO_DATE('20240131101112', $f)",
    "FROM_DAYS($n)",
    "TO_DAYS($d)",
    "TO_SECONDS($d)",
    "FROM_UNIXTIME($n[, $f])",
    "UNIX_TIMESTAMP($d)",
    "LAST_DAY($d)",
    "MAKEDATE($n, $n)",
    "MAKETIME($i, $i, $n)",
    "PERIOD_ADD($n, $i)",
    "PERIOD_DIFF($n, $n)",
    "SEC_TO_TIME($n)",
    "TIME_TO_SEC($t)",
    "TIMESTAMP($d[, $t])",
    "TIMESTAMP($x)",
    "NOW($i)",
    "UTC_TIMESTAMP()",
    "UTC_DATE()",
    "UTC_TIME()",
    "DATE_ADD($d, INTERVAL $n $u)",
    "DATE_SUB($d, INTERVAL $s $u)",
    "DATE_ADD($t, INTERVAL $i $u)",
    "DATE_ADD($x, INTERVAL '1:2' $u)",
    "EXTRACT($u FROM $d)",
    "EXTRACT($u FROM $t)",
    "TIMESTAMPADD($w, $n, $d)",
    "TIMESTAMPDIFF($w, $d, $d)",
    "GET_FORMAT(DATE, 'EUR')",
];

const AGGREGATES: &[&str] = &[
    "COUNT($x)",
    "COUNT(DISTINCT $x)",
    "COUNT(DISTINCT $x, $x)",
    "SUM($x)",
    "SUM(DISTINCT $x)",
    "AVG($x)",
    "AVG(DISTINCT $n)",
    "MIN($x)",
    "MAX($x)",
    "BIT_AND($x)",
    "BIT_OR($x)",
    "BIT_XOR($x)",
    "STD($n)",
    "STDDEV_SAMP($n)",
    "VAR_POP($n)",
    "VAR_SAMP($n)",
    "GROUP_CONCAT($x ORDER BY id)",
    "GROUP_CONCAT(DISTINCT $x ORDER BY 1 SEPARATOR '|')",
    "GROUP_CONCAT($x, $x ORDER BY id DESC)",
    "ANY_VALUE(g)",
    "SUM($n) / COUNT(*)",
    "MAX($d)",
    "MIN($t)",
    "MAX($s)",
    "COUNT(*)",
    "SUM($n) + 1",
    "IFNULL(MAX($x), $x)",
    "JSON_ARRAYAGG($x)",
    "JSON_OBJECTAGG(id, $x)",
];

const UNITS: &[&str] = &[
    "MICROSECOND",
    "SECOND",
    "MINUTE",
    "HOUR",
    "DAY",
    "WEEK",
    "MONTH",
    "QUARTER",
    "YEAR",
    "SECOND_MICROSECOND",
    "MINUTE_MICROSECOND",
    "MINUTE_SECOND",
    "HOUR_MICROSECOND",
    "HOUR_SECOND",
    "HOUR_MINUTE",
    "DAY_MICROSECOND",
    "DAY_SECOND",
    "DAY_MINUTE",
    "DAY_HOUR",
    "YEAR_MONTH",
];

fn query(text: String, about: &str) -> Question {
    Question::of(vec![text], about)
}

/// The question of a seed.
pub fn question(seed: u64) -> Question {
    Author { prng: Prng::new(seed) }.question()
}

struct Author {
    prng: Prng,
}

impl Author {
    /// A query of one value, or of one for each row; or a value stored and read.
    fn question(&mut self) -> Question {
        match self.prng.below(14) {
            12 | 13 => self.stored(),
            0 | 1 => {
                let template = *self.prng.pick(AGGREGATES);
                let expression = self.fill(template, 0);
                let tail = *self.prng.pick(&[
                    "",
                    " GROUP BY g ORDER BY g",
                    " GROUP BY g WITH ROLLUP",
                    " WHERE id > 10",
                ]);
                query(format!("SELECT {expression} FROM v{tail}"), template)
            }
            2 => {
                let [first, second] = [(); 2].map(|()| self.any(1));
                let set = *self.prng.pick(&["UNION", "UNION ALL"]);
                let text = format!(
                    "(SELECT {first} FROM v WHERE id = 1) {set} (SELECT {second} FROM v WHERE id = 5) ORDER BY 1"
                );
                query(text, set)
            }
            _ => {
                let template = *self.prng.pick(TEMPLATES);
                let depth = u64::from(self.prng.one_in(4));
                let expression = self.fill(template, depth);
                let id = 1 + self.prng.below(ROWS.len() as u64);
                let tail = match expression.contains("c_") || self.prng.one_in(8) {
                    true => format!(" FROM v WHERE id = {id}"),
                    false => String::new(),
                };
                query(format!("SELECT {expression}{tail}"), template)
            }
        }
    }

    fn stored(&mut self) -> Question {
        let (_, columns) = self.prng.pick(COLUMNS);
        let column = *self.prng.pick::<&str>(columns);
        let column = if matches!(column, "id" | "g") { "c_int" } else { column };
        let mode = *self.prng.pick(&["DEFAULT", "DEFAULT", "''", "'ALLOW_INVALID_DATES'", "'NO_ZERO_DATE'"]);
        let ignore = if self.prng.one_in(4) { "IGNORE " } else { "" };
        let value = self.any(0);
        let source = match value.contains("c_") || self.prng.one_in(4) {
            true => format!("SELECT {value} FROM v WHERE id = {}", 1 + self.prng.below(ROWS.len() as u64)),
            false => format!("VALUES ({value})"),
        };
        let change = match self.prng.below(3) {
            0 => format!("UPDATE {ignore}w, v SET w.{column} = {value} WHERE v.id = 1"),
            _ => format!("INSERT {ignore}INTO w ({column}) {source}"),
        };
        let change = change.replace("= c_", "= v.c_");
        let statements = [
            "DELETE FROM w",
            "INSERT INTO w (g) VALUES (1)",
            &format!("SET sql_mode = {mode}"),
            &change,
            "SET sql_mode = DEFAULT",
            &format!("SELECT {column}, HEX({column}) FROM w ORDER BY g, 2"),
        ];
        let verb = &change[..6];
        Question::of(statements.map(str::to_owned).to_vec(), &format!("{verb} {column}"))
    }

    fn fill(&mut self, template: &str, depth: u64) -> String {
        let mut out = String::new();
        let mut rest = template.chars();
        let mut skips = false;
        while let Some(letter) = rest.next() {
            match letter {
                '[' => skips = self.prng.one_in(2),
                ']' => skips = false,
                _ if skips => {}
                '$' => {
                    let argument = match rest.next().expect("a kind follows") {
                        'n' => self.value(Kind::Number, depth),
                        'i' => self.value(Kind::Small, depth),
                        's' => self.value(Kind::Text, depth),
                        'd' => self.value(Kind::Date, depth),
                        't' => self.value(Kind::Time, depth),
                        'f' => self.constant(Kind::Format),
                        'p' => self.constant(Kind::Pattern),
                        'b' => self.value(Kind::Truth, depth),
                        'j' => self.value(Kind::Json, 0),
                        'q' => self.constant(Kind::Path),
                        'x' => self.any(depth),
                        'u' => (*self.prng.pick(UNITS)).to_owned(),
                        'w' => (*self.prng.pick(&UNITS[..9])).to_owned(),
                        other => unreachable!("no kind {other}"),
                    };
                    out += &argument;
                }
                other => out.push(other),
            }
        }
        out
    }

    fn any(&mut self, depth: u64) -> String {
        let kind = *self.prng.pick(KINDS);
        self.value(kind, depth)
    }

    fn value(&mut self, kind: Kind, depth: u64) -> String {
        if self.prng.one_in(8) {
            return self.any(depth);
        }
        if depth > 0 && self.prng.one_in(2) {
            let template = *self.prng.pick(TEMPLATES);
            return format!("({})", self.fill(template, depth - 1));
        }
        if self.prng.one_in(2) { self.constant(kind) } else { self.column(kind) }
    }

    fn constant(&mut self, kind: Kind) -> String {
        self.choice(CONSTANTS, kind)
    }

    fn column(&mut self, kind: Kind) -> String {
        self.choice(COLUMNS, kind)
    }

    fn choice(&mut self, table: &[(Kind, &[&str])], kind: Kind) -> String {
        let (_, list) = table.iter().find(|(known, _)| *known == kind).expect("every kind has some");
        (*self.prng.pick::<&str>(list)).to_owned()
    }
}
