CREATE DATABASE answers_fixed;
USE answers_fixed;
CREATE TABLE f (id INT, f FLOAT, f2 FLOAT(7,2), d DOUBLE, d2 DOUBLE(10,3), de DECIMAL(10,3), i INT, KEY (f2));
INSERT INTO f VALUES (1, 0.3, 0.3, 0.3, 0.3, 0.3, 1), (2, 1.5, 1.5, 1.5, 1.5, 1.5, 2), (3, 3.14159, 3.14159, 3.14159, 3.14159, 3.14159, 3);

-- Two doubles that show a fixed number of digits are equal if they differ by less than half of the last one.
SELECT id, f2 = 0.3, f2 = '0.3', f2 = 0.3e0, f2 = de, f2 = d, f2 = d2, f2 = f, d2 = 0.3, d2 = '0.3', d2 = de FROM f;
SELECT id, f2 <=> 0.3, f2 < 0.3, f2 > 0.3, f2 <= 0.3, f2 >= 0.3, f2 = 0.304, f2 = 0.305, f2 = i, d2 = 3.1419, d2 = 3.142, d2 = 3.14205 FROM f;
SELECT id, f2 IN (0.3), f2 IN (0.3, 1.5), f2 BETWEEN 0 AND 0.3, CASE f2 WHEN 0.3 THEN 1 END, NULLIF(f2, 0.3), (f2, 1) = (0.3, 1) FROM f;
SELECT id, f2 + 0 = 0.3, f2 * 1 = 0.3, -f2 = -0.3, PI() = 3.141593, PI() = 3.1415926, f2 = (SELECT 0.3) FROM f;
SELECT MAX(f2) = 3.14, MIN(f2) = 0.3, SUM(f2 = '0.3') FROM f;
SELECT a.id, b.id FROM f AS a JOIN f AS b ON a.f2 = b.de ORDER BY 1, 2;
SELECT a.id, b.id FROM f AS a JOIN f AS b ON a.f2 = b.d ORDER BY 1, 2;

-- In a condition a constant beside FLOAT(M,D) is what the column keeps of it.
SELECT id FROM f WHERE f2 = 0.3;
SELECT id FROM f WHERE f2 = '0.3';
SELECT id FROM f WHERE f2 = 0.3e0;
SELECT id FROM f WHERE f2 = 0.304;
SELECT id FROM f WHERE f2 < 0.301;
SELECT id FROM f WHERE f2 >= '0.3';
SELECT id FROM f WHERE IF(f2 = '0.3', 1, 0);
SELECT id FROM f WHERE NOT (f2 <> '0.3');
SELECT id, f2 FROM f HAVING f2 = '0.3';
SELECT a.id FROM f AS a JOIN f AS b ON a.f2 = '0.3' AND b.id = 1;
SELECT id FROM f ORDER BY f2 = '0.3' DESC, id LIMIT 1;
SELECT f2 = '0.3' AS k, COUNT(*) FROM f GROUP BY k;

-- A constant text beside a DECIMAL that is none is read as a DECIMAL.
CREATE TABLE d (id INT, d DECIMAL(20,0), s VARCHAR(30), r DECIMAL(10,3), KEY (r));
INSERT INTO d VALUES (1, 99999999999999999998, '99999999999999999999', 1.5);
SELECT d = '99999999999999999999', d = s, d < '99999999999999999999', d + 0 = '99999999999999999999', 99999999999999999998 = '99999999999999999999' FROM d;
SELECT d <=> '99999999999999999999', (d, 1) = ('99999999999999999999', 1), NULLIF(d, '99999999999999999999') FROM d;
SELECT CASE d WHEN '99999999999999999999' THEN 1 END, d IN ('99999999999999999999', '1'), d IN ('99999999999999999999'), d BETWEEN '99999999999999999999' AND 1e21 FROM d;
SELECT id FROM d WHERE r = '1.5x';
SELECT id FROM d WHERE r = '1.50' AND r < '1.6' AND '1.4' < r;
SET @x = '99999999999999999999';
SELECT d = @x FROM d;
UPDATE d SET id = 2 WHERE r = '';
DELETE FROM d WHERE r = ' ';
UPDATE d SET id = (r = '');

-- FIND_IN_SET converts a constant to the column's character set, but no column.
CREATE TABLE l (la VARCHAR(20) CHARACTER SET latin1, ut VARCHAR(20), vb VARBINARY(20));
INSERT INTO l VALUES ('äö,b', 'äö,b', 'äö,b');
SELECT FIND_IN_SET('äö', la), FIND_IN_SET('ÄÖ', la), FIND_IN_SET('ao', la), FIND_IN_SET('ao', ut), FIND_IN_SET(_latin1 x'E4F6', ut), FIND_IN_SET('b', la), FIND_IN_SET('B', vb) FROM l;
SELECT FIND_IN_SET(LEFT(la, 2), 'x,äö,b'), FIND_IN_SET(LEFT(la, 2), ut), FIND_IN_SET(LEFT(ut, 2), la), FIND_IN_SET(LEFT(la, 2), la), FIND_IN_SET(RIGHT(la, 1), ut) FROM l;

-- What is found in a text is a number with the collation in which it was looked for.
CREATE TABLE x AS SELECT CONCAT(INSTR(la, 'a')) AS a, CONCAT(INSTR(ut, 'a')) AS b, CONCAT(INSTR(vb, 'a')) AS c, CONCAT(FIELD(la, 'a')) AS d,
  CONCAT(LOCATE('a', la)) AS e, CONCAT(STRCMP(la, 'a')) AS f, CONCAT(FIND_IN_SET('a', la)) AS g, CONCAT(la LIKE 'a') AS h,
  IFNULL(INSTR(la, 'a'), 'x') AS i, COALESCE(INSTR(vb, 'a'), 'x') AS j, CONCAT(INSTR(la, 'a'), 'x') AS k FROM l;
SELECT COLUMN_NAME, CHARACTER_SET_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'answers_fixed' AND TABLE_NAME = 'x' ORDER BY ORDINAL_POSITION;
CREATE TABLE y AS SELECT INSTR(la, 'a') AS a, INSTR(vb, 'a') AS b, FIELD(vb, 'a') AS c, LOCATE('a', vb) AS d, REGEXP_LIKE(la, 'a') AS e FROM l UNION SELECT 'x', 'x', 'x', 'x', 'x';
SELECT COLUMN_NAME, CHARACTER_SET_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'answers_fixed' AND TABLE_NAME = 'y' ORDER BY ORDINAL_POSITION;

-- A double that is computed and beyond BIGINT is none wherever a whole number is read; FORMAT takes the number of a date that a function has made.
SELECT CONV('11', POW(10, 30), 2);
SELECT CONV('11', 2, -1e30);
SELECT SHA2('a', POW(10, 30));
SELECT REGEXP_SUBSTR('abc', 'b', 1, POW(10, 30));
SELECT REGEXP_REPLACE('abc', 'b', 'x', 1, POW(10, 30));
SELECT MID('abc', 1, POW(10, 30));
SELECT LOCATE('a', 'abc', POW(10, 30));
SELECT FORMAT(DATE_ADD('2024-01-01', INTERVAL 1 DAY), 0), FORMAT(ADDTIME('10:00:00', '1:0:0'), 1), FORMAT('2024-01-01', 0);
