CREATE DATABASE answers_mixed;
USE answers_mixed;
SET NAMES utf8mb4;
CREATE TABLE ds (id INT PRIMARY KEY, da DATE, s VARCHAR(30), st SET('x', 'y'), b BIT(10), c BIT(4), n INT, f2 FLOAT(10,5), la VARCHAR(20) CHARACTER SET latin1);
INSERT INTO ds VALUES (1, '2024-01-02', '2024-01-02 03:04:05', 'x', b'1000001', b'11', 1, 0.1, 'äbc'), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, '2024-01-03', '10:00:00', 'x,y', b'11', b'1', 7, 2.5, 'abc');

-- The operand of CASE, and that of a list with numbers, decides: beside a text a date is its text.
SELECT CASE '2024-1-1' WHEN DATE'2024-01-01' THEN 1 END, CASE '20240102' WHEN da THEN 1 END, CASE '2024-01-02' WHEN da THEN 1 END, CASE '12:34:56' WHEN TIME'12:34:56.0' THEN 1 END FROM ds WHERE id = 1;
SELECT CASE '123456' WHEN TIME'12:34:56' THEN 1 END, CASE TIME'12:34:56.0' WHEN '12:34:56' THEN 1 END, CASE TIME'12:34:56' WHEN '123456' THEN 1 END, CASE s WHEN da THEN 1 END FROM ds WHERE id = 1;
SELECT '2024-01-02' IN (5, DATE'2024-01-02'), '20240102' IN (5, DATE'2024-01-02'), s IN (5, DATE'2024-01-02'), LEFT(s, 10) IN (5, DATE'2024-01-02'), '20240102' IN (5, da) FROM ds WHERE id = 1;
SELECT CONCAT('10:0:0', LEFT(s, 0)) IN (TIME'10:00:00', 5), CONCAT('20240102', LEFT(s, 0)) IN ('x', DATE'2024-01-02') FROM ds WHERE id = 1;
UPDATE ds SET n = n + 1 WHERE st IN (5, DATE'2020-02-29');

-- Texts of a list with numbers are compared in the character set that they agree on.
SELECT id, la IN (1, _utf8mb4'abc' COLLATE utf8mb4_general_ci), la NOT IN (1, _utf8mb4'abc' COLLATE utf8mb4_general_ci) FROM ds ORDER BY id;

-- MIN and MAX of what is chosen among bits are bits.
SELECT HEX(MAX(IFNULL(b, c))), HEX(MIN(IFNULL(b, NULL))), HEX(MAX(COALESCE(c, b))), MAX(IFNULL(b, c)) + 0, MAX(IFNULL(b, n)) FROM ds;

-- A constant of more digits than FLOAT(M,D) keeps shows its own.
SELECT id FROM ds WHERE 0.10000000149 = f2;
SELECT id FROM ds WHERE 0.10000000149 >= f2;
SELECT id FROM ds WHERE f2 = 0.1000001;
