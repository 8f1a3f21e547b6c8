-- How LATERAL derived tables are explained. Palisade's own answers: rows are estimated as for any derived table (MySQL: at least 2), and the one
-- that reads another is numbered as written.
DROP DATABASE IF EXISTS golden_lateral_explain;
CREATE DATABASE golden_lateral_explain;
USE golden_lateral_explain;
CREATE TABLE t (a INT PRIMARY KEY, b INT, c VARCHAR(10));
CREATE TABLE u (id INT PRIMARY KEY, a INT, x INT, KEY (a));
INSERT INTO t VALUES (1,10,'x'),(2,20,'y'),(3,NULL,'z');
INSERT INTO u VALUES (1,1,5),(2,1,7),(3,2,9),(4,2,1),(5,9,3);
ANALYZE TABLE t, u;
EXPLAIN FORMAT=TRADITIONAL SELECT t.c, d.x FROM t, LATERAL (SELECT x FROM u WHERE u.a = t.b LIMIT 1) AS d;
SHOW WARNINGS;
EXPLAIN FORMAT=TRADITIONAL SELECT t.c, d.n, e.n FROM t, LATERAL (SELECT COUNT(x) AS n FROM u WHERE u.a = t.b) AS d, LATERAL (SELECT d.n + MAX(x) AS n FROM u WHERE u.a = t.b) AS e;
DROP DATABASE golden_lateral_explain;
