CREATE DATABASE answers_moments;
USE answers_moments;
CREATE TABLE d (id INT PRIMARY KEY, d DATE, t TIME, dt DATETIME, s VARCHAR(30), st SET('x', 'y'), n BIGINT UNSIGNED, ud DECIMAL(10,2) UNSIGNED);
INSERT INTO d VALUES (1, '2024-02-29', '10:00:00', '2024-02-29 12:00:00', '2024-02-29 10:11:12', 'x,y', 5, 1),
  (2, '2021-07-15', '-00:00:01', '9999-12-31 23:00:00', '2021-07-15', 'y', 0, 2), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- What is chosen among texts, and dates that are texts, where a number is wanted.
SELECT IF(id > 1, d, 126000) + 0, CASE WHEN id > 1 THEN d ELSE 'a' END * 1, ADDTIME('0:0:1', t) + 0, -IF(id > 1, 1, d) FROM d WHERE id = 2;
SELECT SUM(IF(id > 1, d, 126000)), AVG(IF(1, st, s)) FROM d;
SELECT ('2024-01-01' + INTERVAL 1 DAY) + 0, ADDTIME('2024-01-01 10:00:00', '1') + 0, ADDTIME('-1:00:00', '0:30') + 0;

-- Beside a DATE only the date of a text counts.
SELECT id, d = s, d < s, dt = s FROM d ORDER BY id;
SELECT a.id, b.id FROM d AS a JOIN d AS b ON a.d = b.s ORDER BY 1, 2;

-- NULLIF reads a constant as the column keeps it.
CREATE TABLE y (y YEAR);
INSERT INTO y VALUES (1999), (2000);
SELECT NULLIF(y, 99), NULLIF(y, '0') FROM y ORDER BY y;
SELECT NULLIF(dt, '') FROM d;

-- Beyond the calendar.
SELECT DATE'9999-12-31' + INTERVAL 1 DAY;
SHOW WARNINGS;
SELECT TIMESTAMPADD(DAY, 1, DATE'9999-12-31');
SHOW WARNINGS;
SELECT TIME'10:00:00' - INTERVAL 10000 HOUR;
SHOW WARNINGS;
SELECT TIMESTAMP(dt, '02:00:00') FROM d WHERE id = 2;
SHOW WARNINGS;
SELECT dt + INTERVAL 1 DAY FROM d WHERE id = 2;
SHOW WARNINGS;
SELECT '9999-12-31' + INTERVAL 1 DAY;
SHOW WARNINGS;
SELECT ud - n FROM d WHERE id = 1;

-- NULL on the left, and what is on the right.
SELECT NULL < JSON_EXTRACT('x', '$.a');
SELECT EXPORT_SET(1, 'a', 'b', '', -1);
CREATE TABLE names AS SELECT DAYNAME(d) AS a, MONTHNAME(d) AS b FROM d;
SELECT COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'names';

-- User variables.
SET @a = TIME'10:00:00', @b = NULL, @c = 1, @e = 1/4;
SET @c = NULL;
SELECT CHARSET(@a), COLLATION(@a), CHARSET(@b), COALESCE(@c, 1), NULLIF(@e, 5);
SELECT COUNT(*) FROM y WHERE NULLIF(y, 99) IS NULL;
PREPARE p FROM 'SELECT id FROM d WHERE d > ?';
SET @p = 'abc';
EXECUTE p USING @p;
PREPARE p FROM 'SELECT COUNT(*) FROM d WHERE id = 1 AND ? < ?';
SET @q = TIMESTAMP'2024-02-29 01:02:03';
EXECUTE p USING @q, @p;
EXECUTE p USING @p, @q;
SET sql_mode = 'ALLOW_INVALID_DATES';
INSERT INTO d (id, d) VALUES (4, -1);
SHOW WARNINGS;
DROP DATABASE answers_moments;
