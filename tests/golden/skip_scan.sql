-- Ranges behind parts of an index of which nothing is known.
CREATE DATABASE golden_skip_scan;
USE golden_skip_scan;
CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT NOT NULL, c VARCHAR(8), d DECIMAL(8,2), KEY abc (a, b, c), KEY cd (c, d DESC, b));
INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 990) SELECT n, IF(n % 5 = 0, NULL, n % 5), n DIV 5, ELT(n % 4 + 1, 'ann', 'Bob', 'eve', NULL), n / 4 FROM r;
INSERT INTO t SELECT id + 1000, a, b, c, d FROM t;
INSERT INTO t SELECT id + 2000, a, b, 'ANN', d FROM t;
INSERT INTO t SELECT id + 4000, a, b, c, d FROM t;
ANALYZE TABLE t;
-- behind one part
SELECT a, b, COUNT(*) OVER () AS n FROM t WHERE b > 195 ORDER BY a, b LIMIT 9;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b > 195;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b > 195;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b = 7;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b IN (7, 9, 3, 7, -5, 2000);
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b < 3 OR b BETWEEN 100 AND 102;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b > 100 AND b < 100;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b > NULL;
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b > 190.5 AND a IS NOT NULL;
SELECT a, b FROM t WHERE b BETWEEN 3 AND 4 AND c = 'eve' ORDER BY a DESC, b DESC, c DESC LIMIT 5;
-- behind a value, and behind two parts
SELECT COUNT(*), SUM(b) FROM t WHERE a = 3 AND c = 'ann';
SELECT COUNT(*), SUM(b) FROM t WHERE a IS NULL AND c > 'b';
SELECT COUNT(*), SUM(b) FROM t WHERE c = 'bob';
SELECT COUNT(*), SUM(b) FROM t WHERE c IS NULL;
-- a part that descends
SELECT COUNT(*), SUM(d) FROM t WHERE d > 240;
SELECT COUNT(*), SUM(d) FROM t WHERE d <= 3.25;
SELECT UPPER(c), d FROM t WHERE d BETWEEN 3 AND 3.5 ORDER BY c, d DESC LIMIT 5;
-- the flag
SET SESSION optimizer_switch = 'skip_scan=off';
SELECT COUNT(*), SUM(b), SUM(a) FROM t WHERE b > 195;
DROP DATABASE golden_skip_scan;
