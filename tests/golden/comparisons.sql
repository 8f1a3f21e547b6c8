-- what is compared as what: dates, times, texts and numbers with each other
DROP DATABASE IF EXISTS comparisons;
CREATE DATABASE comparisons;
USE comparisons;
CREATE TABLE t (id INT PRIMARY KEY, d DATE, dt DATETIME(2), ts TIMESTAMP NULL, tm TIME, txt VARCHAR(30), n INT, e ENUM('b', 'a', '12'), s SET('x', 'y'), KEY (d), KEY (dt), KEY (tm));
INSERT INTO t VALUES (1, '2024-01-31', '2024-01-31 10:00:00.25', '2024-01-31 10:00:00', '10:00:00', '2024-01-31', 20240131, 'b', 'x');
INSERT INTO t VALUES (2, '2023-12-31', '2023-12-31 23:59:59.99', '2023-12-31 23:59:59', '-01:00:00', 'no date', 5, 'a', 'x,y');
INSERT INTO t VALUES (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO t VALUES (4, '2024-02-29', '2024-02-29 00:00:00', '2024-02-29 00:00:00', '838:59:59', '', 20240229, '12', '');
-- a constant that is no date is an error
SELECT id FROM t WHERE d = 'garbage';
SELECT id FROM t WHERE d < '2024-02-30';
SELECT id FROM t WHERE dt = '';
SELECT id FROM t WHERE ts > 'x';
SELECT id FROM t WHERE d >= '0000-00-00';
SELECT NOW() > 'x';
SELECT DATE'2024-01-01' = 'garbage', 1;
PREPARE p FROM 'SELECT id FROM t WHERE d = ?';
SET @good = '2024-01-31';
EXECUTE p USING @good;
-- a value that is none counts as the zero date
SELECT id, d > txt, d = txt, dt <=> txt FROM t;
SELECT id FROM t WHERE d > txt;
SELECT a.id, b.id FROM t a JOIN t b ON a.d = b.txt;
-- a number that is no date makes a number of the date
SELECT id, d > 1.5, dt > 100, d = 20240131, d BETWEEN 20240101 AND 20240201 FROM t;
SELECT id FROM t WHERE d > 1.5;
SELECT id FROM t WHERE d = 20240131;
-- times
SELECT id FROM t WHERE tm = '10:00:00';
SELECT id FROM t WHERE tm = '10:00';
SELECT id FROM t WHERE tm > '09:00';
SELECT TIME'10:00:00' = '10:00', TIME'10:00:00' = '10:00:00', TIME'10:00:00' = 100000;
SELECT id, tm = txt, tm >= txt FROM t;
-- greatest and least of dates among others
SELECT LEAST(DATE'2024-01-01', '2023-05-05 10:00:00'), LEAST('2024-1-2', DATE'2024-01-01', 20240101), GREATEST(DATE'2024-01-01', 20230101), LEAST(TIME'10:00:00', '9:00:00');
SELECT id, GREATEST(d, txt) FROM t WHERE id IN (1, 3);
-- ENUM and SET: the greatest text, but the order of the definition
SELECT MIN(e), MAX(e), MIN(s), MAX(s) FROM t;
SELECT e FROM t ORDER BY e;
SELECT e, COUNT(*) FROM t GROUP BY e ORDER BY e;
-- zero dates under the default sql_mode
SELECT CAST('0000-00-00' AS DATE), CAST('2024-00-10' AS DATE), YEAR('0000-00-00'), DATE('0000-00-00'), TO_DAYS('0000-00-00'), CAST(0 AS DATE);
SELECT MONTH('2024-00-10'), DAY('2024-01-00'), DATE_FORMAT('2024-00-10', '%Y-%m-%d'), MONTH(0), DAY(4), DATE_FORMAT(0, '%Y'), LAST_DAY('2024-00-10'), UNIX_TIMESTAMP('0000-00-00');
SET sql_mode = '';
SELECT CAST('0000-00-00' AS DATE), CAST('2024-00-10' AS DATE), YEAR('0000-00-00'), DATE('2024-00-10'), STR_TO_DATE('00/00/0000', '%m/%d/%Y');
SET sql_mode = DEFAULT;
SELECT STR_TO_DATE('00/00/0000', '%m/%d/%Y'), STR_TO_DATE('2024', '%Y'), STR_TO_DATE('10:11', '%H:%i'), STR_TO_DATE('', ''), DATE_FORMAT('2024-01-01', '');
-- times out of range
SELECT CAST('900:00:00' AS TIME), CAST(9000000 AS TIME), CAST(8385959 AS TIME), CAST(-9000000 AS TIME), HOUR('900:00:00'), HOUR(9000000), TIME_TO_SEC(9000000), CAST(20240101101112 AS TIME);
SELECT ADDTIME('10:00:00', '1:00:00'), ADDTIME('10:00:00.5', '1:00:00'), ADDTIME('2024-01-01 10:00:00.100', '0.9'), SUBTIME('1:00:00', '2:00:00');
SELECT CAST('ff' AS YEAR), CAST('24' AS YEAR), CAST('2024abc' AS YEAR), CAST('1.6' AS YEAR), CAST(1.6 AS YEAR), CAST(3000 AS YEAR), CAST('' AS YEAR), CAST('0' AS YEAR), CAST('0000' AS YEAR), CAST(99 AS YEAR), CAST(100 AS YEAR);
-- bytes that are no text
SELECT CONVERT(x'ff' USING utf8mb4), CONVERT(x'61' USING utf8mb4), CAST(x'61ff41' AS CHAR), CAST(x'e4' AS CHAR CHARACTER SET latin1);
-- words of the grammar are no texts
CREATE TABLE l (v VARCHAR(10) CHARACTER SET latin1);
INSERT INTO l VALUES (' xax ');
SELECT TRIM(v), TRIM(LEADING ' ' FROM v), TRIM(TRAILING 'x ' FROM v), TRIM(BOTH ' ' FROM v), CHAR(65 USING utf8mb4), DATE_ADD('2024-01-01', INTERVAL CONVERT('1' USING latin1) DAY) FROM l;
SELECT SOUNDEX('日本'), SOUNDEX('äb'), SOUNDEX('Robert'), SOUNDEX('a1b'), SOUNDEX('');
SELECT 'a' REGEXP '';
SELECT id, tm + 0, tm + 0.5, tm < 0.5, tm > -20000.5 FROM t;
SELECT ABS(TIME'10:00:00'), -DATE'2024-01-01', ROUND(DATE'2024-01-01'), MOD(DATE'2024-01-01', 7);
DROP DATABASE comparisons;
