-- What applications ask for and no other script does.
CREATE DATABASE golden_found_applications;
USE golden_found_applications;
-- SQLAlchemy: a typed index of a JSON column.
CREATE TABLE j (id INT PRIMARY KEY, j JSON);
INSERT INTO j VALUES (1, '{"a": null, "b": true, "c": 1.5, "d": "x"}'), (2, '{}');
SELECT id, CASE JSON_EXTRACT(j, '$.a') WHEN 'null' THEN NULL ELSE JSON_EXTRACT(j, '$.a') END AS a,
  CASE JSON_EXTRACT(j, '$.b') WHEN 'null' THEN NULL ELSE JSON_EXTRACT(j, '$.b') = true END AS b,
  CASE JSON_EXTRACT(j, '$.c') WHEN 'null' THEN NULL ELSE JSON_EXTRACT(j, '$.c') + 0.0 END AS c,
  CASE JSON_EXTRACT(j, '$.d') WHEN 'null' THEN NULL ELSE JSON_UNQUOTE(JSON_EXTRACT(j, '$.d')) END AS d FROM j ORDER BY id;
-- WordPress: terms with an order that is not selected.
SET sql_mode = '';
CREATE TABLE terms (term_id INT PRIMARY KEY, name VARCHAR(20), grp INT);
INSERT INTO terms VALUES (1, 'b', 1), (2, 'a', 1), (3, 'c', 2);
SELECT DISTINCT term_id FROM terms ORDER BY name;
SELECT DISTINCT grp FROM terms ORDER BY name DESC;
SET sql_mode = DEFAULT;
SELECT DISTINCT grp FROM terms ORDER BY name;
-- mysqld_exporter: which columns a table of information_schema has.
SELECT column_name FROM information_schema.columns WHERE table_schema = 'information_schema' AND table_name = 'INNODB_METRICS' AND column_name IN ('status', 'enabled');
SELECT column_name FROM information_schema.columns WHERE table_schema = 'information_schema' AND table_name = 'INNODB_TABLESPACES' AND column_name IN ('NAME', 'FILE_SIZE', 'ALLOCATED_SIZE') ORDER BY column_name;
-- pt-mysql-summary: prepared statements of SQL.
FLUSH STATUS;
PREPARE p FROM 'DO 1';
SHOW SESSION STATUS LIKE 'Com\_prepare\_sql';
DEALLOCATE PREPARE p;
SHOW SESSION STATUS LIKE 'Com\_dealloc\_sql';
-- An index that a foreign key came with, and one that is made after it.
CREATE TABLE p (id INT PRIMARY KEY);
CREATE TABLE t (id INT PRIMARY KEY, u INT, x INT, CONSTRAINT f FOREIGN KEY (u) REFERENCES p (id));
CREATE INDEX f ON t (u);
SHOW CREATE TABLE t;
CREATE TABLE t2 (id INT PRIMARY KEY, u INT, x INT);
ALTER TABLE t2 ADD CONSTRAINT f2 FOREIGN KEY (u) REFERENCES p (id);
CREATE UNIQUE INDEX other ON t2 (u, x);
SHOW CREATE TABLE t2;
-- A member that a NOT NULL ENUM begins with.
CREATE TABLE e (id INT, e1 ENUM('a','b') NOT NULL, e2 ENUM('x') , s1 SET('a') NOT NULL);
INSERT INTO e (id, s1) VALUES (1, '');
INSERT INTO e (id) VALUES (2);
SELECT * FROM e;
DROP DATABASE golden_found_applications;
