//! HAVING, and what a name means that is both an alias and a column, in GROUP BY, HAVING and ORDER BY.

use super::{Kind, made};
use crate::answers::question::Rules;

pub const KIND: Kind = Kind {
    name: "having",
    tables: &[
        "CREATE TABLE h (id INT PRIMARY KEY, a INT, b INT, s VARCHAR(10), t VARCHAR(10) COLLATE utf8mb4_bin, d DATE)",
        "INSERT INTO h VALUES (1, 1, 10, 'x', 'x', '2024-01-01'), (2, 1, -20, 'X', 'X', '2024-01-02'), (3, 2, 30, 'y', 'y', NULL), \
         (4, NULL, 0, NULL, NULL, '2024-02-29'), (5, 2, 10, '1', '2', '2023-12-31'), (6, 3, NULL, '', '', '2024-01-01')",
        "CREATE TABLE h2 (k INT PRIMARY KEY, a INT, c INT NOT NULL)",
        "INSERT INTO h2 VALUES (1, 1, 5), (2, 2, 6), (3, NULL, 7), (4, 1, 8)",
    ],
    question: |seed| made(RULES, 0x6861_7669, seed),
};

const RULES: Rules = &[
    (
        "question",
        &[
            "SELECT $item AS $alias1 FROM h GROUP BY $alias1 HAVING $condition ORDER BY 1",
            "SELECT $item AS $alias1 FROM h GROUP BY a, b HAVING $condition ORDER BY 1",
            "SELECT $item AS $alias1, COUNT(*) FROM h GROUP BY $column1 HAVING $column1 $compare $constant ORDER BY 1, 2",
            "SELECT $item AS $alias1 FROM h HAVING $condition ORDER BY 1",
            "SELECT $sum AS $alias1 FROM h HAVING $condition",
            "SELECT $column1, $sum AS x FROM h GROUP BY $column1 HAVING x $compare $constant ORDER BY 1, 2",
            "SELECT $column1, $sum AS x FROM h GROUP BY $column1 HAVING $sum $compare $constant AND $sum $compare $constant ORDER BY 1, 2",
            "SELECT $column1 FROM h GROUP BY $column1 HAVING $sum $compare $sum ORDER BY 1",
            "SELECT h.a, $sum FROM h JOIN h2 ON h.a = h2.a GROUP BY h.a HAVING $sum $compare $constant ORDER BY 1",
            "SELECT h.*, COUNT(*) FROM h JOIN h2 ON h.id = h2.k GROUP BY h2.k ORDER BY id",
            "SELECT h2.c, h.a, COUNT(*) FROM h LEFT JOIN h2 ON h.id = h2.k GROUP BY h.id HAVING $condition_two ORDER BY 1, 2, 3",
            "SELECT a, (SELECT MIN(k) FROM h2 WHERE k = COUNT(*)) AS x FROM h GROUP BY a ORDER BY 1",
            "SELECT a FROM h GROUP BY a HAVING $sum IN (SELECT $two FROM h2) ORDER BY 1",
            "SELECT a FROM h GROUP BY a HAVING EXISTS (SELECT 1 FROM h2 WHERE h2.a = h.a AND h2.c $compare $sum) ORDER BY 1",
            "SELECT -$column1 AS $column1 FROM h GROUP BY $column1, a, b HAVING NOT +$column1 BETWEEN NULL AND b ORDER BY 1",
            "SELECT DISTINCT $item AS $alias1 FROM h GROUP BY a, b, s HAVING $condition ORDER BY 1",
            "SELECT $column1 AS x, $sum AS y FROM h GROUP BY x HAVING y $compare $constant OR x $compare $constant ORDER BY 1, 2",
            "SELECT $item AS $alias1 FROM h ORDER BY $alias1, $column, id",
            "SELECT $item AS $alias1 FROM h ORDER BY $alias1 + 0, -$alias1, id",
            "SELECT ALL $column1 FROM h GROUP BY $column1 HAVING NOT ($column1 $compare $constant) IS NULL ORDER BY 1",
        ],
    ),
    ("column", &["a", "b", "s", "t", "d", "id"]),
    ("two", &["k", "a", "c"]),
    ("alias", &["a", "b", "s", "x", "id", "A"]),
    ("compare", &["=", "<", "<=", ">", ">=", "<>", "<=>"]),
    ("constant", &["0", "1", "2", "-1", "10", "'x'", "NULL", "1.5", "'2024-01-01'", "''"]),
    (
        "item",
        &[
            "a",
            "-a",
            "a*0",
            "b",
            "a+b",
            "s",
            "s+0",
            "UPPER(s)",
            "1",
            "'x'",
            "d",
            "CONCAT(a, s)",
            "a IS NULL",
            "h.b",
        ],
    ),
    (
        "sum",
        &[
            "SUM(a)",
            "SUM(b)",
            "COUNT(*)",
            "COUNT(s)",
            "MIN(s)",
            "MAX(t)",
            "AVG(a)",
            "MAX(d)",
            "SUM(a*b)",
            "COUNT(DISTINCT t)",
            "MIN(a+1)",
        ],
    ),
    (
        "condition",
        &[
            "$alias1 $compare $constant",
            "$alias1 $compare $constant",
            "$column $compare $constant",
            "-$alias1 $compare $constant",
            "h.$column $compare $constant",
            "$alias1 IS NULL",
            "$alias1 IN ($constant, $constant)",
            "$alias1 BETWEEN $constant AND $constant",
            "$alias1 + $alias1 $compare $constant",
            "$sum $compare $constant",
            "$alias1 LIKE 'x%'",
            "$alias1 $compare $alias1",
            "NOT $alias1",
        ],
    ),
    ("condition_two", &["h2.c > 5", "c IS NULL", "h.a = 1", "COUNT(h2.k) = 0", "a <> 1", "k > 1"]),
];
