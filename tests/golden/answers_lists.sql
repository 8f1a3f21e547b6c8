CREATE DATABASE answers_lists;
USE answers_lists;
SET timestamp = 1705314030;
CREATE TABLE n (id INT PRIMARY KEY, i INT, b BIGINT, u BIGINT UNSIGNED, f FLOAT, s VARCHAR(20), bi BIT(8),
  e ENUM('zz', 'b', '10'), st SET('7', 'b', '10'), y YEAR, d DATE, t TIME, ud DECIMAL(20,0) UNSIGNED);
INSERT INTO n VALUES (1, 1, 9007199254740993, 9007199254740993, 0.1, '1', b'1', 'zz', '7', 2024, '2024-01-15', '12:34:56', 7),
  (2, 10, -9223372036854775807, 18446744073709551615, -1.5, '10', b'1010', '10', '10', 2000, '2000-02-29', '00:00:00', 99999999999999999999),
  (3, -1, 9223372036854775807, 42, 1e10, '42', b'101010', 'b', '7,10', 0, '1999-12-31', '-10:00:00', 0);

-- A member of an ENUM or SET that an aggregate, a window function or a subquery gives is its text.
SELECT MAX(e), MAX(e) + 0, MAX(st) * 1, ROUND(MAX(e)), CAST(MAX(e) AS SIGNED), IF(MAX(e), 1, 2), MAX(e) | 0 FROM n WHERE id = 2;
SELECT MAX(e) = 10, MAX(e) = 3, MAX(e) IN (1, 2, 3), MAX(e) BETWEEN 9 AND 11, ELT(MAX(e), 'a', 'b', 'c') FROM n WHERE id = 2;
SELECT (SELECT e FROM n WHERE id = 2) + 0, (SELECT e FROM n WHERE id = 2) = 10, (SELECT st FROM n WHERE id = 1) > 6;
SELECT FIRST_VALUE(e) OVER () + 0, MAX(e) OVER () + 0 FROM n WHERE id = 2;
SELECT id, MAX(e) AS m FROM n WHERE id = 2 GROUP BY id HAVING m = 10;
SELECT id, MAX(e) AS m FROM n GROUP BY id ORDER BY m;
SELECT e, e + 0, COUNT(*) FROM n GROUP BY e ORDER BY e;
SELECT m + 0, k + 0 FROM (SELECT MAX(e) AS m, MIN(st) AS k FROM n WHERE id = 2) AS t;
SELECT CASE MAX(e) WHEN 10 THEN 'text' WHEN 3 THEN 'number' END FROM n WHERE id = 2;
CREATE TABLE m AS SELECT MAX(e) AS e, (SELECT st FROM n WHERE id = 1) AS st FROM n;
SHOW CREATE TABLE m;

-- STRCMP reads a constant beside a BIGINT or a YEAR as a comparison does.
SELECT STRCMP(u, '42.0'), STRCMP(b, '42.0'), STRCMP(i, '1.0'), STRCMP(y, '24'), STRCMP(y, 24) FROM n ORDER BY id;
SELECT STRCMP(u, x'32'), STRCMP(x'3432', b), STRCMP(i, x'31'), STRCMP(b, b'101010') FROM n ORDER BY id;

-- A list of several rows is compared in the type of the left side.
SELECT id, (i, i) IN ((1.4, 1), (10.4, 10)), (i, i) IN ((1.4, 1)), (s, s) IN ((1, 1), (10, 10)) FROM n ORDER BY id;
SELECT id, (y, id) IN ((24, 1), (0, 3)), (y, id) IN ((2024, 1), (2000, 2)), (f, id) IN (('-1.5', 2), ('1e10', 3)) FROM n ORDER BY id;

-- A whole number that is no column's in a list of texts is a whole number.
SELECT 1 IN ('1', '2'), 3 IN ('1', '2'), (1 = 1) IN ('1', '7'), 1 IN (x'31', '2'), 1 IN ('3', NULL);

-- A year in a list of texts and doubles is a text.
SELECT id, y IN ('2024', 1e3), y IN ('24', 1e3), y IN ('0', 0e0), y IN ('0000', 1e3), y IN (NULL, '0'), y IN (0, 1e3) FROM n ORDER BY id;
SELECT id, YEAR(d) IN ('2000', 1e3), CAST(y AS YEAR) IN ('0000', 1e3) FROM n ORDER BY id;

-- A constant time beside a year is of the statement's day; a column's is a number.
SELECT id, y = TIME'12:34:56', y < TIME'12:34:56', y > t, t > y, y < CAST(24 AS UNSIGNED), y = CAST(2000 AS UNSIGNED) FROM n ORDER BY id;
SELECT SUM(GREATEST(y, '99')), SUM(LEAST(y, s)), GREATEST(MAX(y), '99') FROM n;
SELECT GROUP_CONCAT(IF(1, y, NULL) ORDER BY id), GROUP_CONCAT(y ORDER BY id) FROM n;
SELECT IF(id > 1, YEAR(d), y) AS x, COUNT(*) FROM n GROUP BY x ORDER BY x;

-- What a user variable or a parameter is beside dates.
SET @a = 'abc', @b = '2024-01-15';
SELECT id FROM n WHERE d = @a;
SELECT id FROM n WHERE d IN (CONCAT(@a, ''));
SELECT id FROM n WHERE d = @b;
DELETE FROM n WHERE d = @a;
PREPARE s FROM 'SELECT id FROM n WHERE d <=> ?';
EXECUTE s USING @b;

-- A user variable's double is cut where a whole number is wanted.
SET @v = 2.6e0, @w = 2.6;
SELECT LEFT('abcdef', @v), REPEAT('x', @v), @v & 7, CAST(@v AS SIGNED), HEX(@v), DATE_ADD('2020-01-01', INTERVAL @v DAY);
SELECT LEFT('abcdef', @w), REPEAT('x', @w), @w & 7, CAST(@w AS SIGNED), HEX(@w), DATE_ADD('2020-01-01', INTERVAL @w DAY);

-- Texts that are dates: of fields with colons, and as numbers where bits are wanted.
SELECT DATE_ADD('2024-02-29', INTERVAL 1 DAY) | 0, TIMESTAMPADD(MINUTE, 3, '2024-02-29 12:34:56') ^ 1, ~ADDTIME('10:00:00', '1:0:0');
SELECT YEAR(-0.25), DAY(-0.5), MONTH(-0.9), YEAR(0.25);
SELECT JSON_VALUE('[1e300]', '$[0]' RETURNING FLOAT);
SELECT IFNULL('a' COLLATE utf8mb4_bin, 'b' COLLATE utf8mb4_general_ci);

-- Unsigned numbers.
SELECT '2024-01-31' - INTERVAL 18446744073709551605 DAY, '2024-01-31' + INTERVAL 18446744073709551615 DAY;
SELECT ud, FLOOR(ud), CEILING(ud) FROM n ORDER BY id;

-- Doubles: as texts, and beyond FLOAT.
SELECT CONCAT(1.23456e-15), CONCAT(1.234567e-15), CONCAT(1.23456789012345e-12), 1.23456789012345e-12, CAST(0.00001234567890123456e0 AS CHAR);
SELECT CAST(1e300 AS FLOAT);
SELECT CAST(CAST('1e300' AS JSON) AS FLOAT);
SELECT CAST(-3.5e38 AS FLOAT);
SELECT POW(-2.5e0, '1.5');
SELECT OCT(''), CONV('x', 36, 10);
CREATE TABLE c AS SELECT CONCAT(y, 99) AS x, CONCAT(y, -1) AS z, CONCAT(id, 1999) AS w FROM n;
SELECT COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'answers_lists' AND TABLE_NAME = 'c' ORDER BY 1;

-- Where a search for a regular expression may begin.
SELECT REGEXP_SUBSTR('abc', 'b', 4), REGEXP_REPLACE('abc', 'b', 'x', 4);
SELECT REGEXP_SUBSTR('abc', 'b', 5);
SELECT REGEXP_INSTR('abc', 'b', 4);
SELECT REGEXP_SUBSTR('abc', 'b', 0);
SELECT REGEXP_REPLACE('abc', 'b', 'x', -1);
SELECT REGEXP_INSTR('abc', 'b', 0);

DROP DATABASE answers_lists;
