-- Dates and times in lists, in CASE, and beside constants that are dates with times.
CREATE DATABASE golden_dates_compared;
USE golden_dates_compared;
SET time_zone = '+00:00', timestamp = UNIX_TIMESTAMP('2024-05-10 21:00:00');
CREATE TABLE m (id INT, d DATE, t TIME, t3 TIME(3), dt DATETIME, s VARCHAR(40));
INSERT INTO m VALUES (1, '2024-02-29', '12:34:57', '12:34:56.789', '2023-12-31 23:59:59', '2024-02-29'), (2, '2000-01-01', '00:00:00', '23:59:59.999', '2000-01-01 00:00:00', '12:00'),
  (3, '2021-07-15', '10:00:00', '10:00:00', '2021-07-15 23:01:02', '10:00:00'), (4, NULL, NULL, NULL, NULL, NULL);
-- beside a TIME column the time of a constant counts, rounded as the column keeps it
SELECT id FROM m WHERE t3 < TIMESTAMP'2023-12-31 23:59:59' ORDER BY id;
SELECT id, t3 = TIMESTAMP'2023-12-31 10:00:00.0004' a, t = TIMESTAMP'2023-12-31 09:59:59.6' b, t <= TIMESTAMP'2023-12-31 10:00:00' c, t <=> DATE'2023-12-31' d, NULLIF(t, TIMESTAMP'2023-12-31 10:00:00') e FROM m ORDER BY id;
SELECT id, t < CAST('2023-12-31 11:00:00' AS DATETIME) a, t < NOW() b, t = FROM_UNIXTIME(36000) c, t IN (TIMESTAMP'2023-12-31 10:00:00') d, (t, 1) = (TIMESTAMP'2023-12-31 10:00:00', 1) e, (t, 1) IN ((TIMESTAMP'2021-07-15 10:00:00', 1), (TIMESTAMP'2021-07-15 10:00:00', 2)) f FROM m ORDER BY id;
SELECT id, CASE t WHEN TIMESTAMP'2023-12-31 10:00:00' THEN 1 END a, CASE ADDTIME(t, 0) WHEN TIMESTAMP'2023-12-31 10:00:00' THEN 1 END b FROM m ORDER BY id;
-- but not of a column, beside an expression, as a bound, or in a list
SELECT id, t = dt a, ADDTIME(t, 0) = TIMESTAMP'2023-12-31 10:00:00' b, t BETWEEN TIMESTAMP'2023-12-31 01:00:00' AND TIMESTAMP'2023-12-31 23:00:00' c, t IN (TIMESTAMP'2023-12-31 10:00:00', TIMESTAMP'2023-12-31 12:34:57') d, (t, 1) < (TIMESTAMP'2023-12-31 11:00:00', 1) e FROM m ORDER BY id;
-- numbers among other values are numbers
SELECT id, d IN (101, '2024-02-29') a, d IN (20240229, '2000-01-01') b, d IN (20000101.0, '2024-02-29') c, d IN (DATE'2024-02-29', 20000101) d, d IN (20000101e0, TIME'10:00:00') e FROM m ORDER BY id;
SELECT id, dt IN (20231231235959, '2000-01-01') a, dt IN (20000101, '2023-12-31 23:59:59') b, dt IN ('2000-01-01 00:00:00', 231231235959) c, dt NOT IN (20000101, '2023-12-31 23:59:59') d FROM m ORDER BY id;
SELECT id, t IN (1, '00:00:00') a, t IN (1, '10:00') b, t3 IN (1, '10:00') c, t IN (99999999999999, '12:34') d, ADDTIME(t, 0) IN (1, '10:00:00') e, t IN (1, '10:00:00x') f FROM m ORDER BY id;
-- numbers alone are dates
SELECT id, d IN (20240229, 101) a, dt IN (20000101, 20231231235959) b, DATE(d) IN (101, 102) c, TIMESTAMP(dt) IN (20000101, 103) d, t IN (123457, 0) e FROM m ORDER BY id;
-- numbers that are no times are nothing
SELECT id, t IN (126000, 1) a, t IN (99999999999999, 2) b, t IN (0.5, 126000) c, t IN (20231231100000, 5) d, t NOT IN (126000, 1234) e, ADDTIME(t, 0) IN (126000, 123457) f, t IN (NULL, 126000) g FROM m ORDER BY id;
-- a fraction behind a number that is a date counts for nothing, which is said
SELECT id, d = 20240229.5 a, dt > 20240229.5 b FROM m ORDER BY id;
SHOW WARNINGS;
UPDATE m SET id = 9 WHERE dt > 20240229.5;
UPDATE m SET id = 9 WHERE dt IN (20240229.5, 20250101);
-- a text in a list with times is a time
SELECT id, s IN (TIME'10:00:00', '12:00:00') a, s IN (TIME'10:00:00', TIME'00:20:24') b, s NOT IN (TIME'12:00:00', '10:00') c FROM m WHERE id IN (2, 3, 4) ORDER BY id;
SELECT 'a' IN (TIME'00:00:00', '1') a, '' IN (TIME'00:00:00', '1') b, '2024-2-29' IN (TIME'00:20:24', '1') c, '1' IN (TIME'00:00:00', NULL, '1') d, 'a' IN (TIME'00:00:00', NULL) e;
-- the simple CASE compares numbers
SELECT id, CASE d WHEN 101 THEN 1 WHEN 20240229 THEN 2 END a, CASE dt WHEN 20000101 THEN 1 END b, CASE dt WHEN 20231231235959 THEN 1 END c, CASE t WHEN 123457 THEN 1 WHEN 0 THEN 2 END d, CASE 20000101 WHEN d THEN 1 END e FROM m ORDER BY id;
-- and takes of a text beside a time what is one
SELECT id, CASE t3 WHEN '12:34:56.789x' THEN 1 END a, CASE ADDTIME(t, 0) WHEN '10:00' THEN 1 END b, CASE t WHEN 'a' THEN 1 WHEN '' THEN 2 END c, CASE t WHEN s THEN 1 END d FROM m WHERE id < 2 ORDER BY id;
-- dates among them make all of a list dates, a time one of today
SELECT id, t IN (TIMESTAMP'2023-12-31 10:00:00', '2024-05-10 12:34:57') a, t IN (TIME'10:00:00', DATE'2024-05-10') b, t NOT IN ('2024-05-10 10:00:00', TIMESTAMP'2023-12-31 10:00:00') c FROM m ORDER BY id;
-- texts that are no dates are equal to each other beside a date with a time, and to nothing beside a date
SELECT 'x' IN (TIMESTAMP'2023-12-31 23:59:59', 'y') a, 'x' IN (DATE'2023-12-31', 'y') b, 'x' NOT IN (TIMESTAMP'2023-12-31 23:59:59', 'y') c, '2023-12-31' IN (TIMESTAMP'2023-12-31 00:00:00', 'y') d, '2023-12-31' IN ('2023-12-31 00:00', TIMESTAMP'2020-01-01 00:00:00') e;
-- a number beside a DATETIME may be a day too many for its month
SELECT id, dt > 20240230 a, dt < 20240431101010 b, d > 20240230 c, dt BETWEEN 20230230 AND 20250101 d, dt > 20240200 e, dt = 20240230 f FROM m ORDER BY id;
SELECT id FROM m WHERE dt < 20240431 ORDER BY id;
-- beside a number as the other bound the time of a date counts
SELECT id, t BETWEEN 1234 AND TIMESTAMP'2023-12-31 23:59:59' a, t BETWEEN DATE'2023-12-31' AND 110000 b, t BETWEEN TIME'01:00:00' AND TIMESTAMP'2023-12-31 23:59:59' c FROM m ORDER BY id;
-- two bounds that are the same are one comparison, but not of NOT BETWEEN
SELECT id FROM m WHERE d BETWEEN 'x' AND 'x' ORDER BY id;
SELECT COUNT(*) FROM m WHERE id > 9 AND d NOT BETWEEN 'x' AND 'x';
-- a subquery that is a literal is that literal
SELECT id, d = (SELECT '2024-02-29') a, d IN (SELECT '2024-2-29') b, d NOT IN (SELECT DATE'2024-02-29') c, t = (SELECT TIMESTAMP'2023-12-31 10:00:00') d, d = ((SELECT (SELECT 20240229))) e, t IN (SELECT TIMESTAMP'2023-12-31 10:00:00') f FROM m ORDER BY id;
SELECT id FROM m WHERE d = (SELECT 'x');
SELECT id FROM m WHERE id > 9 AND d IN (SELECT 'x');
SELECT 1 FROM m WHERE dt < (SELECT 'x' FROM DUAL);
CREATE TABLE reduced AS SELECT (SELECT 'x') b, (SELECT DATE'2020-01-01') c, CAST('1' AS JSON) j;
SHOW CREATE TABLE reduced;
-- the year of a time is that of its date; one digit is a year as it stands
SELECT YEAR('1-1-1') a, DATE('0-1-1') b, YEAR('01-1-1') c, CAST('7-8-9 10:11:12' AS DATETIME) d;
SET timestamp = UNIX_TIMESTAMP('2024-12-31 21:00:00');
SELECT CAST(TIME'23:59:59' AS YEAR) a, CAST(TIME'24:00:00' AS YEAR) b;
SET timestamp = UNIX_TIMESTAMP('2024-01-10 21:00:00');
SELECT CAST(TIME'-240:00:00' AS YEAR) a, CAST(TIME'-237:00:00' AS YEAR) b;
-- a fraction that rounds up carries into the hour
SELECT TIME('2023-12-31 23:59:59.9999999') a, HOUR('2023-12-31 23:59:59.9999999') b, CAST('2023-12-31 23:59:59.9999999' AS TIME) c, EXTRACT(HOUR FROM '2023-12-31 23:59:59.9999999') d;
SELECT id, t IN ('2023-12-31 23:59:59.9999999', '1') a, CASE t WHEN '2023-12-31 23:59:59.9999999' THEN 1 END b FROM m ORDER BY id;
CREATE TABLE k (t TIME);
INSERT INTO k VALUES ('2023-12-31 23:59:59.9999999');
SELECT * FROM k;
-- TO_SECONDS has the time of a TIME; CAST as an integer cuts what rounds up to the year 10000
SELECT TO_SECONDS(TIME'10:00:00') - TO_SECONDS(CURDATE()) a, TO_SECONDS(TIME'-00:00:01') - TO_SECONDS(CURDATE()) b, TO_SECONDS(TIME'838:59:59') - TO_SECONDS(CURDATE()) c;
SELECT CAST(TIMESTAMP'9999-12-31 23:59:59.9' AS SIGNED) a, CAST(TIMESTAMP'9999-12-31 23:59:59.4' AS UNSIGNED) b;
SHOW WARNINGS;
-- a month or day of 0 is counted back from January
SELECT TIMEDIFF('2024-00-00', '2023-12-31 00:00:00') a, TIMEDIFF('2024-00-03', '2023-12-31 00:00:00') b, TIMEDIFF('2024-03-00', '2024-03-01 00:00:00') c, ADDTIME('2024-00-00', 1) d;
DROP DATABASE golden_dates_compared;
