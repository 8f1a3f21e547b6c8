-- Answers that were found wrong once and that no other script asks for.
SET NAMES utf8mb4, time_zone = '+00:00', timestamp = 1705314030;
CREATE DATABASE golden_found_answers;
USE golden_found_answers;
-- Results that would be longer than max_allowed_packet.
SELECT LENGTH(EXPORT_SET(1, 1, 1, REPEAT('a', 10000000)));
SHOW WARNINGS;
SELECT LENGTH(CAST('a' AS BINARY(4294967294)));
SHOW WARNINGS;
SELECT LENGTH(CAST('a' AS BINARY(4294967296)));
SELECT LENGTH(JSON_ARRAY(REPEAT('a', 40000000), REPEAT('b', 40000000)));
SELECT LENGTH(JSON_OBJECT('a', REPEAT('a', 40000000), 'b', REPEAT('b', 40000000)));
-- YEAR beside BIGINT UNSIGNED.
CREATE TABLE y (y YEAR, b BIGINT UNSIGNED);
INSERT INTO y VALUES (1999, 18446744073709551615), (2024, 7);
SELECT y FROM y UNION SELECT b FROM y;
SELECT y FROM y UNION ALL SELECT -1;
SELECT COALESCE(y, b), IF(b > 7, b, y), GREATEST(y, b) FROM y;
-- FIND_IN_SET of a value that is made in the statement, and of a constant: members of the value and of the type.
CREATE TABLE s (id INT PRIMARY KEY, s SET('alpha','bravo','charlie','delta','echo','foxtrot'), e ENUM('x','y'));
INSERT INTO s VALUES (1, 'alpha,charlie,foxtrot', 'x'), (2, 'foxtrot', 'y'), (3, '', 'y');
SET @a = 'foxtrot';
SELECT id, FIND_IN_SET(@a, s), FIND_IN_SET('foxtrot', s), FIND_IN_SET(CONCAT('fox', 'trot'), s), FIND_IN_SET(LOWER('FOXTROT'), s) FROM s ORDER BY id;
SHOW WARNINGS;
-- Rows that are updated to what they are.
UPDATE s SET s = 37, e = '1' WHERE id = 1;
UPDATE s SET s = 3, e = '2' WHERE id = 1;
UPDATE s SET s = 'bravo,alpha', e = 'y' WHERE id = 1;
UPDATE s SET s = 'alpha,bravo', e = 2 WHERE id = 1;
-- The difference of years is unsigned.
CREATE TABLE d (a DATE, b DATE);
INSERT INTO d VALUES ('2020-01-01', '2021-01-01');
SELECT YEAR(b) - YEAR(a) FROM d;
SELECT YEAR(a) - YEAR(b) FROM d;
SELECT CAST(YEAR(a) AS SIGNED) - YEAR(b) FROM d;
SET sql_mode = CONCAT(@@sql_mode, ',NO_UNSIGNED_SUBTRACTION');
SELECT YEAR(a) - YEAR(b) FROM d;
SET sql_mode = DEFAULT;
-- Names that are an alias and a column.
CREATE TABLE tab0 (col0 INT, col1 INT, col2 INT);
INSERT INTO tab0 VALUES (97, 1, 99), (15, 81, 47), (87, 21, 10);
SELECT -col1 AS col1 FROM tab0 GROUP BY col0, col1, col2 HAVING NOT +col1 BETWEEN NULL AND col0;
SHOW WARNINGS;
SELECT col1*0 AS col1 FROM tab0 GROUP BY col1 HAVING col1 <> 0;
-- Aggregates of the outer query inside a subquery.
SELECT SUM(col1), (SELECT MIN(col0) FROM tab0 i WHERE i.col0 = COUNT(*) + 12) AS m FROM tab0;
SELECT col1, SUM(col2), (SELECT MIN(i.col0) FROM tab0 i WHERE i.col0 > COUNT(*)) AS m FROM tab0 GROUP BY col1 ORDER BY col1;
-- MIN without GROUP BY and another column's order; the order of a window.
SELECT MIN(col0) FROM tab0 ORDER BY col1;
SELECT DISTINCT ABS(col1) FROM tab0 GROUP BY col0 ORDER BY col0;
-- What is no text of bytes, no number of a base, no date.
SELECT UNHEX('zz'), UNHEX(1.5), CONV('zz', 10, 16), CONV('99999999999999999999', 10, 16), DATEDIFF('x', '2020-01-01'), DATEDIFF('2020-01-01', '2020-02-31');
SHOW WARNINGS;
SELECT 'a' REGEXP '(', 'a' REGEXP '[', 'a' REGEXP '*a';
SELECT 'a' REGEXP '[';
SELECT 'a' REGEXP '*a';
SELECT 'a' REGEXP 'a{2,1}';
SELECT 'a' REGEXP '[[:nosuch:]]';
SELECT 'a' REGEXP '\\';
SELECT _utf8mb4'a' COLLATE utf8mb4_bin UNION SELECT _utf8mb4'a' COLLATE utf8mb4_general_ci;
SELECT CONCAT(_utf8mb4'a' COLLATE utf8mb4_bin, _utf8mb4'a' COLLATE utf8mb4_general_ci, _utf8mb4'b' COLLATE utf8mb4_0900_ai_ci);
SELECT LEAST(_utf8mb4'a' COLLATE utf8mb4_general_ci, _utf8mb4'a' COLLATE utf8mb4_bin);
SELECT GREATEST(_utf8mb4'a' COLLATE utf8mb4_general_ci, _utf8mb4'a' COLLATE utf8mb4_bin);
SET SESSION version = 'x';
SET GLOBAL innodb_read_only = ON;
SET SESSION gtid_executed = '';
SET GLOBAL gtid_executed = '';
SET GLOBAL gtid_owned = '';
-- A literal of the least number and less.
SELECT -9999999999999999999, -9223372036854775808, -9223372036854775809;
SET @a = -9223372036854775809;
SELECT @a;
DROP DATABASE golden_found_answers;
