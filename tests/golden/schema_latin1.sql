-- Collations of latin1, whose weights are a table of 256 bytes.
CREATE DATABASE schema_latin1; USE schema_latin1;
CREATE TABLE t (n INT PRIMARY KEY, c CHAR(2) CHARACTER SET latin1);
INSERT INTO t WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 255) SELECT n, CONVERT(UNHEX(CONCAT('41', LPAD(HEX(n), 2, '0'))) USING latin1) FROM r;
CREATE TABLE german1_ci (n INT, c CHAR(2) CHARACTER SET latin1 COLLATE latin1_german1_ci, KEY (c));
INSERT INTO german1_ci SELECT * FROM t;
SELECT GROUP_CONCAT(n ORDER BY n) AS g FROM german1_ci GROUP BY c ORDER BY c;
SELECT COUNT(*) FROM german1_ci WHERE c = 'aé';
SELECT COUNT(*) FROM german1_ci WHERE c LIKE 'AØ';
CREATE TABLE danish_ci (n INT, c CHAR(2) CHARACTER SET latin1 COLLATE latin1_danish_ci, KEY (c));
INSERT INTO danish_ci SELECT * FROM t;
SELECT GROUP_CONCAT(n ORDER BY n) AS g FROM danish_ci GROUP BY c ORDER BY c;
SELECT COUNT(*) FROM danish_ci WHERE c = 'aé';
SELECT COUNT(*) FROM danish_ci WHERE c LIKE 'AØ';
SHOW CREATE TABLE danish_ci;
SHOW COLLATION LIKE 'latin1_german1_ci';
SHOW COLLATION LIKE 'latin1_danish_ci';
DROP DATABASE schema_latin1;
