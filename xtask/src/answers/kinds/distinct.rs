//! DISTINCT: within aggregates over every type, beside other aggregates, and of whole rows.

use super::{Kind, made};
use crate::answers::question::Rules;

pub const KIND: Kind = Kind {
    name: "distinct",
    tables: &[
        "CREATE TABLE u (id INT PRIMARY KEY, g INT, s VARCHAR(20), bin VARCHAR(20) COLLATE utf8mb4_bin, c CHAR(10), vb VARBINARY(10), \
         i INT, de DECIMAL(10,2), f FLOAT, d DOUBLE, da DATE, dt DATETIME(3), t TIME, y YEAR, bi BIT(4), e ENUM('b','a','1'), \
         st SET('x','y'), j JSON)",
        "INSERT INTO u VALUES \
         (1, 1, '2020-01-01', 'a', 'a', 'a', 1, 1.00, 0.1, 0.1, '2020-01-01', '2020-01-01 00:00:00', '00:00:01', 1999, b'1', 'b', 'x', '1'), \
         (2, 1, '2020-02-30', 'A', 'A', 'A', 1, 1.0, 0.1, -0.0, '2020-01-01', '2020-01-01 00:00:00.5', '00:00:01', 2000, b'1', 'a', 'x,y', '1.0'), \
         (3, 1, '10', 'a ', 'a ', 'a\\0', 2, 1.5, 0.5, 0, '2020-01-02', '2020-01-01 00:00:00', '-00:00:01', 0, b'10', '1', '', '\"a\"'), \
         (4, 2, '10.0', 'ä', 'ä', '', -1, -1.5, -1, 1e10, NULL, NULL, NULL, NULL, b'0', NULL, NULL, '{\"a\": 1}'), \
         (5, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '2020-01-01', '2020-01-01 00:00:00', '10:00:00', 1999, NULL, 'b', 'y', NULL), \
         (6, 2, 'ae', 'æ', 'AE', x'ff', 2, 2, 0.25, 0.25, '1999-12-31', '1999-12-31 23:59:59.999', '10:00:00', 2024, b'1111', 'a', 'x', '[1]'), \
         (7, 3, '', '', '', '', 0, 0, 0, 0, '2020-02-29', '2020-02-29 00:00:00', '00:00:00', 2155, b'11', '1', 'x,y', 'true')",
    ],
    question: |seed| made(RULES, 0x6469_7374, seed),
};

const RULES: Rules = &[
    (
        "question",
        &[
            "SELECT $sum(DISTINCT $value) FROM u",
            "SELECT g, $sum(DISTINCT $value) FROM u GROUP BY g ORDER BY g",
            "SELECT $sum(DISTINCT $value1), $sum($value1), $sum(DISTINCT $value) FROM u",
            "SELECT COUNT(DISTINCT $value, $value) FROM u",
            "SELECT g, COUNT(DISTINCT $value, $value) FROM u GROUP BY g WITH ROLLUP",
            "SELECT GROUP_CONCAT(DISTINCT $key ORDER BY id) FROM u WHERE id < 3",
            "SELECT GROUP_CONCAT(DISTINCT $key1 ORDER BY $key1 $way SEPARATOR '|') FROM u",
            "SELECT COUNT(*), SUM(x) FROM (SELECT DISTINCT $value AS x FROM u) AS q",
            "SELECT DISTINCT $key1 AS x FROM u ORDER BY x $way",
            "SELECT DISTINCT $key1 AS x, g FROM u ORDER BY g, x",
            "SELECT DISTINCT g, $sum(DISTINCT $value) AS x FROM u GROUP BY g, $key ORDER BY 1, 2",
            "SELECT $sum(DISTINCT $value) AS x FROM u HAVING x > $constant",
            "SELECT g FROM u GROUP BY g HAVING $sum(DISTINCT $value) > $constant ORDER BY g",
            "SELECT $key1 AS x FROM u GROUP BY $key1 ORDER BY x $way",
            "SELECT COUNT(DISTINCT $value) FROM u WHERE $value > $constant",
            "SELECT $key FROM u UNION DISTINCT SELECT $key FROM u ORDER BY 1",
        ],
    ),
    ("sum", &["SUM", "SUM", "COUNT", "COUNT", "MIN", "MAX", "AVG"]),
    ("column", &["s", "bin", "c", "vb", "i", "de", "f", "d", "da", "dt", "t", "y", "bi", "e", "st", "g"]),
    (
        "key",
        &["i", "de", "d", "da", "dt", "t", "y", "g", "i*0.5", "YEAR(da)", "i IS NULL", "i % 2", "LENGTH(s)"],
    ),
    (
        "value",
        &[
            "$column",
            "$column",
            "$column",
            "j",
            "$column + 0",
            "CAST($column AS CHAR)",
            "CAST($column AS SIGNED)",
            "IFNULL($column, $column)",
            "UPPER($column)",
            "$column COLLATE utf8mb4_bin",
            "NULL",
            "1",
            "'a'",
            "CONCAT($column, $column)",
            "IF(g = 1, $column, $column)",
            "LEFT($column, 1)",
            "ROUND($column, 0)",
            "CAST($column AS DECIMAL(10,1))",
            "CAST($column AS DATE)",
            "$column IS NULL",
        ],
    ),
    ("constant", &["0", "1", "'a'", "2.5", "NULL", "2000", "'2020-01-01'"]),
    ("way", &["", "DESC"]),
];
