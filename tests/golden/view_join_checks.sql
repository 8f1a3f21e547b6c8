-- CHECK OPTION of views over several tables: the conditions of joins count, and what the other tables have.
SET NAMES utf8mb4;
DROP DATABASE IF EXISTS golden_view_join_checks;
CREATE DATABASE golden_view_join_checks;
USE golden_view_join_checks;
CREATE TABLE t (id INT PRIMARY KEY, a INT);
CREATE TABLE u (k INT PRIMARY KEY, b INT);
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
INSERT INTO u VALUES (1, 10), (2, 20), (3, 30);
CREATE VIEW j AS SELECT t.id, t.a, u.k, u.b FROM t JOIN u ON t.id = u.k WHERE t.a < u.b WITH CHECK OPTION;

-- rows beside which there are none of the other table
INSERT INTO j (id, a) VALUES (4, 4);
INSERT INTO j (k, b) VALUES (4, 4);
INSERT IGNORE INTO j (id, a) VALUES (4, 4);
SHOW WARNINGS;

UPDATE j SET a = 5 WHERE id = 1;
UPDATE j SET a = 100 WHERE id = 1;
UPDATE j SET a = b WHERE id = 1;
UPDATE j SET a = b - 1 WHERE id = 1;
UPDATE j SET a = 50, b = 60 WHERE id = 1;
SELECT * FROM t ORDER BY id;
UPDATE IGNORE j SET a = 25;
SHOW WARNINGS;
SELECT * FROM t ORDER BY id;
UPDATE j SET b = 1 WHERE id = 2;
UPDATE IGNORE j SET b = 1 WHERE id = 2;
UPDATE j SET b = 26 WHERE id = 3;
SELECT * FROM u ORDER BY k;

-- the condition of the join
UPDATE j SET id = 7 WHERE id = 3;
UPDATE j SET k = 7 WHERE id = 3;
CREATE VIEW jo AS SELECT t.id, t.a, u.k, u.b FROM t JOIN u ON t.id = u.k WHERE t.id < 100 WITH CHECK OPTION;
INSERT INTO jo (id, a) VALUES (4, 4);
INSERT INTO jo (id, a) VALUES (104, 4);
INSERT INTO jo (k, b) VALUES (104, 4);
UPDATE jo SET id = 8 WHERE id = 3;
UPDATE jo SET a = a + 1 WHERE id = 3;
CREATE VIEW ju AS SELECT t.id, t.a, u.k, u.b FROM t JOIN u WHERE t.id < 100 WITH CHECK OPTION;
INSERT INTO ju (id, a) VALUES (5, 4);
INSERT INTO ju (id, a) VALUES (104, 4);
INSERT INTO ju (k, b) VALUES (104, 4);
CREATE VIEW jw AS SELECT t.id, t.a, u.k, u.b FROM t, u WHERE t.id = u.k AND t.a < 40 WITH CHECK OPTION;
UPDATE jw SET a = 41 WHERE id = 3;
UPDATE jw SET a = 39 WHERE id = 3;

-- an outer join takes none
CREATE VIEW o AS SELECT t.id, t.a, u.k FROM t LEFT JOIN u ON t.id = u.k WHERE t.a < 10 WITH CHECK OPTION;

-- views of views
UPDATE t SET a = id;
CREATE VIEW cc AS SELECT id, a FROM j WHERE a < 3 WITH CASCADED CHECK OPTION;
UPDATE cc SET a = 1 WHERE id = 2;
UPDATE cc SET a = 4 WHERE id = 2;
UPDATE cc SET id = 9 WHERE id = 2;
CREATE VIEW plain AS SELECT t.id, t.a, u.k, u.b FROM t JOIN u ON t.id = u.k WHERE t.a < u.b;
CREATE VIEW cl AS SELECT id, a FROM plain WHERE a < 50 WITH LOCAL CHECK OPTION;
UPDATE cl SET a = 49 WHERE id = 2;
UPDATE cl SET a = 50 WHERE id = 1;
UPDATE cl SET id = 9 WHERE id = 1;
SELECT * FROM t ORDER BY id;
UPDATE t SET a = id;
CREATE VIEW cp AS SELECT id, a FROM plain WHERE a < 50 WITH CASCADED CHECK OPTION;
UPDATE cp SET a = 49 WHERE id = 2;
UPDATE cp SET id = 11 WHERE id = 2;
CREATE VIEW nested AS SELECT plain.id, plain.a, x.k FROM plain JOIN u AS x ON x.k = plain.id AND x.b > plain.a WITH LOCAL CHECK OPTION;
UPDATE nested SET a = 19 WHERE id = 2;
UPDATE nested SET a = 20 WHERE id = 2;

-- a subquery
CREATE VIEW s AS SELECT t.id, t.a FROM t WHERE t.a IN (SELECT b - 9 FROM u) WITH CHECK OPTION;
INSERT INTO s VALUES (30, 1);
INSERT INTO s VALUES (31, 2);
CREATE VIEW sj AS SELECT t.id, t.a, u.b FROM t JOIN u ON t.id = u.k WHERE (SELECT COUNT(*) FROM u AS x WHERE x.b > t.a + u.b) >= 0 AND t.a < (SELECT MAX(b) FROM u) WITH CHECK OPTION;
UPDATE sj SET a = 29 WHERE id = 1;
UPDATE sj SET a = 31 WHERE id = 1;

-- joined with other tables
UPDATE j, (SELECT 1 AS one) AS d SET a = 7 WHERE id = 2 AND one = 1;
UPDATE j, (SELECT 1 AS one) AS d SET a = 700 WHERE id = 2 AND one = 1;
UPDATE t AS x JOIN j ON j.id = x.id SET x.a = j.a + 1;
SELECT * FROM t ORDER BY id;
SELECT * FROM u ORDER BY k;
REPLACE INTO j (id, a) VALUES (1, 3);

-- prepared, with other values each time
PREPARE change_a FROM 'UPDATE j SET a = ? WHERE id = ?';
SET @a = 8, @id = 2;
EXECUTE change_a USING @a, @id;
SET @a = 800;
EXECUTE change_a USING @a, @id;
SET @a = 9;
EXECUTE change_a USING @a, @id;
SELECT * FROM t ORDER BY id;
DROP DATABASE golden_view_join_checks;
