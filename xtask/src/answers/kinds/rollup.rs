//! GROUP BY ... WITH ROLLUP over columns, constants, expressions and repeated ones; GROUPING(), HAVING, ORDER
//! BY and DISTINCT above.

use super::{Kind, made};
use crate::answers::question::Rules;

pub const KIND: Kind = Kind {
    name: "rollup",
    tables: &[
        "CREATE TABLE r (id INT PRIMARY KEY, a INT, b INT NOT NULL, s VARCHAR(10), d DATE, y YEAR, n DECIMAL(8,2))",
        "INSERT INTO r VALUES (1, 1, 1, 'x', '2024-01-01', 2024, 1.5), (2, 1, 2, 'X', '2024-01-01', 1999, 2.25), \
         (3, 2, 1, 'y', NULL, 1999, -1), (4, NULL, 1, NULL, '2024-02-29', NULL, NULL), (5, 2, 2, 'y ', '2023-12-31', 2000, 0), \
         (6, 1, 1, '', '2024-01-01', 2024, 1.5)",
    ],
    question: |seed| made(RULES, 0x726f_6c6c, seed),
};

const RULES: Rules = &[
    (
        "question",
        &[
            "SELECT $key1, $sum FROM r GROUP BY $key1 WITH ROLLUP",
            "SELECT $key1, $key2, $sum FROM r GROUP BY $key1, $key2 WITH ROLLUP",
            "SELECT $key1, $key2, $sum FROM r GROUP BY 1, 2 WITH ROLLUP",
            "SELECT $key1 AS x, $key2 AS y, $sum FROM r GROUP BY x, y WITH ROLLUP HAVING $having",
            "SELECT $key1, $key2, $key1, $sum FROM r GROUP BY $key1, $key2, $key1 WITH ROLLUP",
            "SELECT $key1, $key2, $sum, $grouping FROM r GROUP BY $key1, $key2 WITH ROLLUP",
            "SELECT $key1, $sum FROM r GROUP BY $key1, $key2 WITH ROLLUP HAVING $having",
            "SELECT $above, $sum FROM r GROUP BY $key1, $key2 WITH ROLLUP",
            "SELECT DISTINCT $key1, $sum FROM r GROUP BY $key1, $key2 WITH ROLLUP ORDER BY 1, 2",
            "SELECT $key1 AS x, $key2 AS y, $sum AS z FROM r GROUP BY $key1, $key2 WITH ROLLUP ORDER BY $order, 3",
            "SELECT $key1 AS x, $sum AS z FROM r WHERE $where GROUP BY $key1 WITH ROLLUP ORDER BY $order_one, 2",
            "SELECT x, SUM(z) FROM (SELECT $key1 AS x, $sum AS z FROM r GROUP BY $key1, $key2 WITH ROLLUP) AS q GROUP BY x ORDER BY x, 2",
            "SELECT $key1 AS x, $sum AS z FROM r GROUP BY $key1 WITH ROLLUP UNION ALL SELECT 7, 8 ORDER BY 1, 2",
        ],
    ),
    (
        "key",
        &[
            "a",
            "b",
            "s",
            "d",
            "y",
            "n",
            "a+1",
            "'x'",
            "1",
            "a<=>1",
            "a IS NULL",
            "YEAR(d)",
            "NULL",
            "UPPER(s)",
            "b%2",
            "IF(b=1,a,NULL)",
        ],
    ),
    (
        "sum",
        &[
            "SUM(id)",
            "COUNT(*)",
            "COUNT(a)",
            "MIN(s)",
            "MAX(d)",
            "AVG(n)",
            "SUM(a+b)",
            "COUNT(DISTINCT s)",
            "MAX(y)",
            "SUM(y)",
            "MIN(id)*2",
        ],
    ),
    (
        "grouping",
        &[
            "GROUPING($key1)",
            "GROUPING($key2)",
            "GROUPING($key1, $key2)",
            "GROUPING($key2)+1",
            "IF(GROUPING($key1), 'all', 'one')",
        ],
    ),
    (
        "above",
        &[
            "IFNULL($key1, 'all')",
            "CONCAT($key1, '-', $key2)",
            "$key1 IS NULL",
            "COALESCE($key1, $key2)",
            "$key1 + 1",
            "-$key2",
            "1",
            "CAST($key1 AS CHAR)",
        ],
    ),
    (
        "having",
        &[
            "GROUPING($key1) = 1",
            "GROUPING($key2) = 0",
            "COUNT(*) > 1",
            "$key1 IS NULL",
            "$key1 IS NOT NULL",
            "$key1 = 1",
            "$key1 <> 2",
            "SUM(id) > 5",
            "$key1 > 0 OR COUNT(*) > 3",
            "NOT $key1",
        ],
    ),
    ("order", &["x, y", "y, x", "GROUPING($key1), x, y", "x DESC, y DESC", "z, x, y", "$key1 IS NULL, x, y"]),
    ("order_one", &["x", "x DESC", "GROUPING($key1), x", "z, x"]),
    ("where", &["a IS NOT NULL", "b = 1", "1 = 0", "s <> 'x'", "a = 1", "id > 2"]),
];
