-- What is computed, and what is found to be wrong, in which order: parts of rows, ESCAPE, the pattern of JSON_SEARCH, constants that are no dates.
DROP DATABASE IF EXISTS golden_answers_in_turn;
CREATE DATABASE golden_answers_in_turn;
USE golden_answers_in_turn;
SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), d DATE, j JSON);
INSERT INTO t VALUES (1, 1, '1x', '2024-01-01', '{"a": 1}'), (2, NULL, 'abc', NULL, '["1", "2"]'), (3, 3, NULL, '2020-02-02', NULL);
-- Rows.
SELECT (NULL, 1) < (1, 9223372036854775807 + a), (NULL, 1, 2) >= (1, 9223372036854775807 + a, 3), (1, NULL, 2) >= (1, 2, 9223372036854775807 + a) FROM t WHERE id = 1;
SELECT (1, 2, 2) >= (1, 2, 9223372036854775807 + a) FROM t WHERE id = 1;
SELECT (1, 3, 2) >= (1, 2, 9223372036854775807 + a), (1, 1, 2) >= (1, 2, 9223372036854775807 + a) FROM t;
SELECT (1, 1) < (1, a), (1, 0) < (1, a), (1, 1) <= (1, a), (a, id) > (0, id), (a, id + 1) > (1, id), (a + 0, id + 1) <= (1, id + 1), (a, 1) <> (1, a + 1) FROM t;
SELECT id FROM t WHERE (a, id + 1) > (1, id);
SELECT id FROM t WHERE (id, a + 1) > (1, 2) AND (id, a + 1) <= (3, 4);
SELECT (1, 9223372036854775807 + a) = (2, 3) FROM t WHERE id = 1;
-- JSON_SEARCH: the pattern is not looked at before there is a string; ESCAPE is, before anything.
SELECT JSON_SEARCH(j, 'one', a + 9223372036854775807) FROM t WHERE id = 1;
SELECT JSON_SEARCH('["u"]', 'one', 9223372036854775807 + a) FROM t WHERE id = 1;
SELECT JSON_SEARCH('["u", "1"]', 'all', a), JSON_SEARCH('["u"]', 'one', NULL), JSON_SEARCH('[1]', 'one', NULL) FROM t;
SELECT JSON_SEARCH('[1', 'o', 'x', 'xx', 'x');
SELECT JSON_SEARCH(NULL, 'one', 'x', 'xx') FROM t;
SELECT JSON_SEARCH(NULL, 'one', 'x', 'xx') FROM t WHERE 1 = 0;
SELECT JSON_SEARCH(NULL, 'one', 'x', b) FROM t;
SELECT JSON_SEARCH('["u"]', 'one', 'u', @y);
SELECT JSON_SEARCH('["u"]', 'one', 'u', LEFT(CURDATE(), 1));
SELECT JSON_SEARCH('["u"]', 'one', 'u', (SELECT MAX('x') FROM t));
SELECT JSON_SEARCH('["u"]', 'one', 'u', LEFT(DATABASE(), 1)), JSON_SEARCH('["u"]', 'one', 'u', UPPER('x')), JSON_SEARCH('["u"]', 'one', 'u', 1 + 1), JSON_SEARCH('["u"]', 'one', 'u', CONCAT('', 'x'));
SELECT JSON_SEARCH('["u"]', 'one', 'u', CONCAT('x', 'x'));
-- ESCAPE of LIKE.
SELECT b LIKE 'a' ESCAPE b FROM t;
SELECT b LIKE 'a' ESCAPE RAND() FROM t;
SELECT b LIKE 'a' ESCAPE CONCAT('x', 'x') FROM t;
SELECT b LIKE 'a|%' ESCAPE @y, b LIKE 'a|%' ESCAPE (SELECT MAX('x') FROM t), b LIKE '1%' ESCAPE LEFT(NOW(), 1) FROM t;
PREPARE p FROM 'SELECT ''a%'' LIKE ''a|%'' ESCAPE ?';
SET @e = '|';
EXECUTE p USING @e;
SET @e = 'ab';
EXECUTE p USING @e;
-- A constant that is no date is found before a name behind it is none, and before what is not grouped by.
SELECT nix, d = 'x' FROM t;
SELECT d = 'x', nix FROM t;
SELECT id FROM t WHERE d = 'x' ORDER BY nix;
SELECT id FROM t WHERE d = 'x' AND nix = 1;
SELECT id FROM t WHERE nix = 1 AND d = 'x';
SELECT id FROM t WHERE (SELECT nix) = 1 AND d = 'x';
SELECT a, COUNT(*) FROM t WHERE d = 'x';
SELECT a, COUNT(*) FROM t WHERE d = 'x' GROUP BY b;
SELECT a, COUNT(*) FROM t GROUP BY id + 1 HAVING MAX(d) = 'x';
SELECT id FROM t WHERE d = '2024-01-01' ORDER BY nix;
-- ADDTIME and SUBTIME of what is no day of the calendar.
SELECT SUBTIME('0.0.0.7', '0'), SUBTIME('0.0.0', '0'), SUBTIME('0.1.1', '0'), SUBTIME('1.1.1.1', '0'), SUBTIME('1.0.2.3', '0'), SUBTIME('0.0.0 7:00:00', '0');
SELECT SUBTIME('0000-00-00 07:00:00', '0'), SUBTIME('2024-00-00', '0'), SUBTIME('2024-02-30 07:00:00', '0'), SUBTIME('20240230', '0'), SUBTIME(20240001070000, '0'), ADDTIME(CONCAT('2024-00-01', ' 1:1:1'), '0');
SELECT EXTRACT(HOUR FROM '1.1.1.7'), EXTRACT(HOUR FROM '0.0.0.7'), EXTRACT(DAY_HOUR FROM '1.1.1.7'), EXTRACT(HOUR FROM '11.1.1.7');
-- STR_TO_DATE beside a text of another character set.
CREATE TABLE s (l VARCHAR(20) CHARACTER SET latin1);
INSERT INTO s VALUES ('10:11:12.5'), ('2024-01-31');
SELECT STR_TO_DATE(l, '%H:%i:%s.%f'), STR_TO_DATE(l, '%Y-%m-%d'), STR_TO_DATE(l, '%H:%i') FROM s;
SET sql_mode = 'NO_ENGINE_SUBSTITUTION';
CREATE TABLE d (id INT, d DATE, dt DATETIME, s VARCHAR(30), n BIGINT);
INSERT INTO d VALUES (1, '2024-00-01', '2024-00-01 07:00:00', '2024-00-01 07:00:00', 20240001070000), (2, '2024-02-00', '2024-02-00 07:00:00', '2024-02-00', 20240200), (3, '0000-00-00', '0000-00-00', '0000-00-00', 0);
SELECT id, SUBTIME(d, '0'), SUBTIME(dt, '0'), SUBTIME(s, '0'), SUBTIME(n, '0') FROM d ORDER BY id;
DROP DATABASE golden_answers_in_turn;
