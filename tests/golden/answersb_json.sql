-- JSON where SQL wants numbers, dates and places in a list.
CREATE DATABASE answersb_json;
USE answersb_json;
SET timestamp = 1705314030;
CREATE TABLE j (id INT PRIMARY KEY, k JSON, n INT);
INSERT INTO j VALUES (1, '{"a": "x", "d": "2020-01-02"}', 1), (2, '[1, 2]', 0), (3, '"10:00"', NULL), (4, 'true', 1), (5, '1e300', 2);
-- with one document in a list all are compared as documents
SELECT FALSE IN (CAST('[]' AS JSON), 0), 0 IN (CAST('"43"' AS JSON), 'null'), 1 IN (CAST('2' AS JSON), TRUE), TRUE IN (CAST('2' AS JSON), TRUE);
SELECT id FROM j WHERE '$' IN (k, 0) OR n IN (k, TRUE) ORDER BY id;
-- dates, times and bytes are above all documents
SELECT id, DATE'2020-01-01' > k, TIME'10:00:00' < k, NOW() = k, x'41' >= k FROM j ORDER BY id;
SELECT k->'$.d' = DATE'2020-01-02', k->'$.d' = '2020-01-02' FROM j WHERE id = 1;
-- functions of dates
SELECT DATE(k->'$.d'), YEAR(k->'$.d'), k->'$.d' + INTERVAL 1 DAY FROM j WHERE id = 1;
SELECT DATE(k), HOUR(k), TIME(k), TIMESTAMP(k) FROM j WHERE id = 2;
SHOW WARNINGS;
SELECT HOUR(k), TIME(k) FROM j WHERE id = 3;
SELECT HOUR(k), TIME(k) FROM j WHERE id = 4;
SHOW WARNINGS;
SELECT CAST(CAST('"43"' AS JSON) AS TIME), CAST(CAST('"1:2"' AS JSON) AS TIME), CAST(CAST('"101010"' AS JSON) AS TIME), CAST(CAST('"20200101101010"' AS JSON) AS TIME);
SELECT CAST(CAST('"x"' AS JSON) AS DATETIME), CAST(k AS YEAR) FROM j WHERE id = 5;
SHOW WARNINGS;
SELECT JSON_VALUE('"43"', '$' RETURNING TIME), JSON_VALUE('"4:3"', '$' RETURNING TIME);
-- numbers
SELECT k | 0, k << 1, ~k, LEFT('abc', k) FROM j WHERE id = 2;
SHOW WARNINGS;
SELECT FIELD(k, FALSE), FIELD(0, k), FIELD('x', k) FROM j WHERE id = 2;
SHOW WARNINGS;
-- stored
CREATE TABLE s (id INT PRIMARY KEY, i INT, d DECIMAL(6,2), f DOUBLE, t TIME, da DATE, dt DATETIME, ts TIMESTAMP NULL, y YEAR, bi BIT(8), j JSON, e ENUM('a'));
INSERT INTO s (id, t, da, dt, y, bi, e) VALUES (1, '10:00', '2020-01-02', '2020-01-02 10:00', 2000, b'1', 'a');
UPDATE s SET i = CAST('[1]' AS JSON);
UPDATE s SET d = JSON_ARRAY();
UPDATE s, j SET s.f = j.k WHERE j.id = 2;
INSERT INTO s (id, t) SELECT 2, k FROM j WHERE id = 2;
INSERT INTO s (id, dt) VALUES (2, CAST('"x"' AS JSON));
INSERT INTO s (id, y) VALUES (2, CAST('"1999"' AS JSON));
INSERT INTO s (id, bi) VALUES (2, CAST('"a"' AS JSON));
INSERT IGNORE INTO s (id, i, t) VALUES (2, CAST('"3x"' AS JSON), CAST('1' AS JSON));
SHOW WARNINGS;
INSERT INTO s (id, d, t) VALUES (3, CAST('"1.75"' AS JSON), CAST('"10:00"' AS JSON));
SELECT id, i, d, t FROM s ORDER BY id;
UPDATE s SET j = t WHERE id = 1;
UPDATE s SET j = da WHERE id = 1;
UPDATE s SET j = dt WHERE id = 1;
UPDATE s SET j = y WHERE id = 1;
UPDATE s SET j = bi WHERE id = 1;
UPDATE s SET j = TIME'10:00:00' WHERE id = 1;
UPDATE s SET j = e WHERE id = 1;
DROP DATABASE answersb_json;
