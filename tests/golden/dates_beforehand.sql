-- Constants beside dates and times are converted before the first row.
CREATE DATABASE golden_beforehand;
USE golden_beforehand;
CREATE TABLE none (d DATE, dt DATETIME, ts TIMESTAMP NULL, t TIME, n INT);
CREATE TABLE some LIKE none;
INSERT INTO some VALUES ('2020-01-01', '2020-01-01 10:00:00', '2020-01-01 10:00:00', '10:00:00', 1), (NULL, NULL, NULL, NULL, 2);
-- a text that is no date ends the statement, whatever the rows
SELECT * FROM none WHERE d = 'no date';
SELECT * FROM none WHERE 'no date' < dt;
SELECT * FROM none WHERE ts <=> 'no date';
SELECT * FROM none WHERE t = 'no time';
SELECT d = 'no date' FROM none;
SELECT COUNT(*) FROM some WHERE n > 5 AND d = 'no date';
SELECT * FROM some GROUP BY d, dt, ts, t, n HAVING d = 'no date';
SELECT a.n FROM some a JOIN none b ON a.d = b.d AND b.d = 'x';
SELECT NULLIF(d, 'no date') FROM none;
UPDATE none SET n = 1 WHERE d = 'no date';
DELETE FROM none WHERE dt > 'no date';
-- what is cut off is said once, with the column's name
SELECT n FROM some WHERE d = '2020-01-01x';
SHOW WARNINGS;
SELECT n FROM some WHERE t < '11:00x';
SHOW WARNINGS;
DELETE FROM some WHERE d = '2020-01-01x' AND n > 5;
-- numbers
SELECT n, d > 1.5, dt > 100 FROM some;
SHOW WARNINGS;
SELECT n FROM none WHERE d = 99999999;
SHOW WARNINGS;
-- bounds and lists
SELECT n FROM some WHERE d BETWEEN 'a' AND 'a';
SELECT n FROM some WHERE d IN ('2020-01-01', 'no date');
SHOW WARNINGS;
SELECT n FROM some WHERE t IN ('10:00', 'no time');
SHOW WARNINGS;
SELECT CASE d WHEN 'no date' THEN 1 ELSE 2 END FROM some;
SHOW WARNINGS;
-- values that are not known when the statement is resolved
SET @x = 'no date';
PREPARE s FROM 'SELECT n FROM some WHERE d = ?';
EXECUTE s USING @x;
SHOW WARNINGS;
PREPARE u FROM 'SELECT n FROM none WHERE d = \'no date\'';
EXPLAIN SELECT n FROM none WHERE d = 'no date';
SELECT n FROM some WHERE d = CONCAT('no ', 'date');
DROP DATABASE golden_beforehand;
