-- What is no number where one is wanted: bits, choices, the least of dates, texts that are read.
DROP DATABASE IF EXISTS golden_answers_as_numbers;
CREATE DATABASE golden_answers_as_numbers;
USE golden_answers_as_numbers;
SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci;
CREATE TABLE v (id INT PRIMARY KEY, g INT, i INT, u BIGINT UNSIGNED, b BIGINT, de DECIMAL(20,0) UNSIGNED, s VARCHAR(20), l VARCHAR(8) CHARACTER SET latin1, e ENUM('b','a'),
  st SET('x','y'), d DATE, t TIME(3), dt DATETIME, bi BIT(10));
INSERT INTO v VALUES (1, 1, 2, 3, 4, 99999999999999999999, 'Hello', 'äbc', 'a', 'x,y', '2024-02-29', '12:34:56.789', '2023-12-31 23:59:59', b'1'),
  (2, 1, -2147483648, 0, 0, 7, '', 'abc', 'b', '', '1000-01-01', '-838:59:59', '1970-01-01', b'0'),
  (3, 2, 20240101, 18446744073709551615, 9223372036854775807, 0, '12.7abc', 'ABC', 'a', 'y', '2023-01-31', '01:02:03.004', '2023-02-28 01:02:03', b'1111111111');
-- All bits of an unsigned decimal.
SELECT HEX(de), BIT_COUNT(de), EXPORT_SET(de, 1, 0, ''), MAKE_SET(de, 'a', 'b') FROM v;
-- FORMAT of a member is of a double.
SELECT FORMAT(e, 30), FORMAT(st, 30), FORMAT('3', 30) FROM v;
-- A binary literal that is chosen among texts.
SELECT SUM(IF(g = 1, CAST('5' AS JSON), x'41')), SUM(CASE g WHEN 1 THEN x'41' ELSE CAST('1' AS JSON) END), BIT_OR(CASE g WHEN 1 THEN x'41' ELSE CAST('1' AS JSON) END) FROM v;
SELECT (CASE WHEN g = 1 THEN CAST('5' AS JSON) ELSE x'41' END) + 0, (CASE WHEN g = 1 THEN CAST('5' AS JSON) ELSE x'41' END) | 0, IF(g = 1, CAST('5' AS JSON), b'101') * 2, IF(g = 1, CAST('5' AS JSON), x'41') FROM v;
-- The least of dates and others, as a number.
SELECT id, LEAST(i, dt) + 0, LEAST(i, dt) ^ 0, LEAST(i, dt) * 1.0, ROUND(LEAST(i, dt)), CAST(LEAST(i, dt) AS SIGNED), CAST(LEAST(i, dt) AS DECIMAL(20,3)) FROM v;
SELECT id, GREATEST(i, dt) + 0, CAST(GREATEST(i, dt) AS SIGNED), LEAST(s, d) + 0, CAST(LEAST(s, d) AS SIGNED), SUM(LEAST(i, dt)) FROM v GROUP BY id;
SELECT id, LEAST(i, t) + 0, LEAST(i, t) ^ 0, CAST(LEAST(i, t) AS SIGNED), LEAST(s, t) + 0, LEAST(s, t) ^ 0, LEAST(i, t) < 10, CAST(LEAST(s, t) AS DECIMAL(20,3)), SUM(LEAST(s, t)) FROM v GROUP BY id;
-- STRCMP: a constant that is no whole number stays as it is written beside a BIGINT.
SELECT STRCMP(u, '.1'), STRCMP('.1', u), STRCMP(b, '.1'), STRCMP(u, '0.1'), STRCMP(b, 0.0), STRCMP(b, -0.0), STRCMP(b, '4.0'), STRCMP(u, '18446744073709551616') FROM v;
SELECT STRCMP(u, ''), STRCMP(u, ' '), STRCMP(u, 'abc'), STRCMP(u, '3x'), STRCMP(u, '03 '), STRCMP(b, '4.'), STRCMP(u, '-0'), STRCMP(u, '-1') FROM v;
-- NULLIF compares a time with the digits of its type, and texts in one character set.
SELECT NULLIF('12:34:56.5', TIME'12:34:56.5'), NULLIF('12:34:56.50', TIME'12:34:56.5'), NULLIF('12:34:56.500000', TIME'12:34:56.5');
SELECT NULLIF(l, 'abc' COLLATE utf8mb4_general_ci) FROM v;
SELECT NULLIF(x'80', l COLLATE latin1_bin), NULLIF(CONCAT(x'80'), 'a' COLLATE utf8mb4_bin) FROM v;
-- Texts that are no years, and no dates.
SELECT CAST(x'00ff41' AS YEAR), CAST(_utf8mb4 x'004131' AS YEAR), CAST(_latin1 x'e441' AS YEAR), CAST(_utf8mb4 x'313200' AS YEAR);
SHOW WARNINGS;
SELECT d = x'41ff' FROM v;
SELECT d = CAST(x'ff00' AS BINARY) FROM v;
SELECT d = CAST(x'41ff42' AS BINARY) FROM v;
-- Three digits and a fraction are a time to ADDTIME and its like.
SELECT SUBTIME('123.5', '0'), SUBTIME('123.', '0'), SUBTIME('120305', '0'), TIMEDIFF('123.5', '1'), ADDTIME(CONCAT('123', '.5'), '1'), SUBTIME('123.5.1', '0');
-- A text between a date and a number may be no day of the calendar.
SELECT id FROM v WHERE dt BETWEEN 0 AND '2020-02-30';
SHOW WARNINGS;
SELECT id FROM v WHERE dt BETWEEN '2020-02-30' AND 20231231;
SELECT id FROM v WHERE dt BETWEEN '0000-00-00' AND 20210101;
SHOW WARNINGS;
DELETE FROM v WHERE dt BETWEEN 0 AND '0000-00-00';
DELETE FROM v WHERE d BETWEEN '2020-02-30' AND 20210101;
DELETE FROM v WHERE dt BETWEEN 0 AND '2020-02-30';
DELETE FROM v WHERE dt BETWEEN 0 AND 'abc';
SELECT id FROM v ORDER BY id;
-- The text of a column is a number with a sign where bits are wanted, that of an expression is not.
CREATE TABLE b (s VARCHAR(40));
INSERT INTO b VALUES ('18446744073709551616'), ('-9223372036854775809'), ('9223372036854775808'), ('1e20'), ('-1'), ('18446744073709551615');
SELECT s | 0, ~s, s << 1, s >> 1, BIT_COUNT(s), s & 18446744073709551615, MAKE_SET(s, 'a', 'b'), CONCAT(s) | 0, ~CONCAT(s) FROM b;
SELECT BIT_OR(s), BIT_XOR(s), BIT_AND(s), BIT_OR(CONCAT(s)) FROM b GROUP BY s ORDER BY s;
SELECT '18446744073709551616' | 0, ~'9223372036854775808', BIT_COUNT('18446744073709551616');
-- FIND_IN_SET compares what has one collation, however it came about.
CREATE TABLE f (g VARCHAR(9) COLLATE utf8mb4_general_ci, c CHAR(9), b VARCHAR(9) COLLATE utf8mb4_bin);
INSERT INTO f VALUES ('a', 'b', 'ab,c');
SELECT FIND_IN_SET(CONCAT(g, c), b), FIND_IN_SET(b, CONCAT(g, c)), FIND_IN_SET(CONCAT(g, c), CONCAT(g, c)) FROM f;
SELECT STRCMP(CONCAT(g, c), b) FROM f;
-- The months of a QUARTER are counted in 32 bits.
SELECT '2024-01-01' + INTERVAL 1431655766 QUARTER, '2024-01-01' + INTERVAL 715827883 QUARTER, '2024-01-01' - INTERVAL 3074457345618258602 QUARTER;
SHOW WARNINGS;
DROP DATABASE golden_answers_as_numbers;
