CREATE DATABASE answers_least;
USE answers_least;
SET NAMES utf8mb4, time_zone = '+00:00', timestamp = 1705314030.25;
CREATE TABLE g (d DATE, dt DATETIME, d6 DATETIME(6), ts TIMESTAMP(2) NULL, n INT, s VARCHAR(30), de DECIMAL(10,3), r DOUBLE, e ENUM('12', 'a'), st SET('1', '2'));
INSERT INTO g VALUES ('2024-02-29', '2023-12-31 23:59:59', '2024-01-15 10:20:30.123456', '2020-06-15 12:00:00.25', 7, '2024-01-02', 6.5, 2.5, '12', '1'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- The least of dates with times of day is the least text if one is no date.
SELECT LEAST(dt, 'garbage'), LEAST('', dt), LEAST(dt, 0), LEAST(dt, 1), LEAST(1.5, dt), LEAST(dt, -1), LEAST(dt, 1e0), LEAST(dt, '2024-13-01') FROM g WHERE n = 7;
SELECT LEAST(dt, n), LEAST(dt, de), LEAST(r, dt), LEAST(dt, '0000-00-00'), LEAST(d6, 1), LEAST(d6, n), LEAST(ts, 'garbage'), LEAST(ts, n) FROM g WHERE n = 7;
SELECT LEAST(dt, '2024-01-31'), LEAST(dt, 20240131), LEAST(dt, 20000101), LEAST(dt, s), LEAST(NOW(3), 'x'), LEAST(TIMESTAMP'2024-03-15 01:02:03.450', 7) FROM g WHERE n = 7;
SELECT GREATEST(dt, 'garbage'), GREATEST(dt, 0), GREATEST(dt, 1), GREATEST(n, dt), GREATEST(d6, '2024-01-31'), GREATEST(dt, 240131), LEAST(d, 1), LEAST(d, 20240131) FROM g WHERE n = 7;

-- A member of an ENUM or SET is no document.
SELECT JSON_VALID(e), JSON_VALID(st), JSON_VALID(s), JSON_VALID(n) FROM g;

-- What IF and CASE choose is the number that it was, bytes beside dates, too.
SELECT LOG10(CASE WHEN n THEN _binary'bin' ELSE TIMESTAMP'2024-05-05 01:02:03' END), ABS(IF(n IS NULL, DATE'2024-05-05', _binary'7')), ROUND(IF(n, '7.5', DATE'2024-05-05')) FROM g;
SELECT r DIV 1e-300 FROM g;
SELECT POW(10, 30) DIV 1;

-- The value for a question mark may be bytes that are no text.
SET @p = CAST(x'ff00' AS BINARY), @q = 'ä';
PREPARE s FROM 'SELECT HEX(CAST(? AS CHAR)), HEX(CONVERT(? USING utf8mb4)), HEX(CAST(? AS CHAR(3)))';
EXECUTE s USING @p, @p, @p;
EXECUTE s USING @q, @q, @q;
