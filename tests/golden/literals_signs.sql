-- Literals of bits and of hexadecimal digits as numbers: their signs and types.
DROP DATABASE IF EXISTS changes;
CREATE DATABASE changes;
USE changes;
CREATE TABLE t (z TINYINT, u DECIMAL(5,2) UNSIGNED, d DOUBLE UNSIGNED, f FLOAT(5,2));
INSERT INTO t VALUES (3, 1.5, 2.5, 3.5), (-3, 0, 0, 0);
SELECT b'101' * z, b'101' + z, b'101' - 6, b'101' - z FROM t ORDER BY z DESC;
SELECT x'05' - 6;
SELECT x'05' * z FROM t WHERE z < 0;
SELECT b'11111111' - 256, b'1' - b'10', -b'101', -x'31', -(-x'31'), b'101' DIV 2, b'101' % 2;
SELECT HEX(b'101'), CONCAT(b'1000001'), LENGTH(b'100000001'), b'1000001' = 'A', b'1000001' + 0;
-- what a table made of a query has of types that go
CREATE TABLE c AS SELECT u, d, f, z FROM t;
SHOW WARNINGS;
DROP DATABASE changes;
