-- x'..' and b'..' are binary strings and numbers
DROP DATABASE IF EXISTS binary_literals;
CREATE DATABASE binary_literals;
USE binary_literals;
SELECT x'41' + 0, b'101' + 0, -x'41', x'41' / 2, x'41' DIV 2, x'' + 0, b'' + 0, 0x0102 * 2, x'41' % 7;
SELECT x'41' = 65, x'41' = '65', x'41' = 'A', x'41' > 60, x'41' > 60.5, x'41' IN (65), x'41' BETWEEN 60 AND 70;
SELECT CAST(x'41' AS SIGNED), CAST(x'41' AS DECIMAL(5,1)), CAST(x'41' AS DOUBLE), CAST(x'41' AS CHAR), ROUND(x'41'), ABS(x'41'), SQRT(x'40');
SELECT SUM(x'41'), MAX(x'41'), IFNULL(x'41', 1), IF(1, x'41', 2), LEFT('abcdef', x'02'), ELT(x'02', 'a', 'b'), HEX(x'41'), CONCAT(x'41', 'b');
SELECT x'41' IS TRUE, NOT x'41', x'00' IS TRUE, DATE(x'3230323430313032'), x'3230323430313032' = DATE'2024-01-02', BIN(x'41'), SLEEP(x'00');
SELECT x'FFFFFFFFFFFFFFFF' + 0, CAST(x'FFFFFFFFFFFFFFFF' AS SIGNED);
SELECT x'FF' - 256;
SELECT 9223372036854775807 + x'01', 18446744073709551615 | x'01';
-- with a character set it is a string of that
SELECT _latin1 x'41' = 'A', _utf8mb4 x'c3a4', CHARSET(_latin1 x'41'), CHARSET(x'41');
-- binary strings have operators on bits of their own
SELECT x'0F' & x'03', ~x'41', x'41' | 0, HEX(x'0f' | _binary x'30'), HEX(~_binary x'0f'), HEX(_binary x'0ff0' << 4), HEX(_binary x'0ff0' >> 12), HEX(_binary x'ff' ^ x'0f');
SELECT _binary x'0f' & _binary x'0f0f';
SELECT BIT_COUNT(_binary x'ffffffffffffffffffff'), BIT_COUNT(x'ff');
CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, i INT, b BIT(8), wide BIT(10), v VARCHAR(20), bytes VARBINARY(4), d DOUBLE, e DECIMAL(10,2), day DATE, KEY (i), KEY (v), KEY (bytes));
INSERT INTO t (i, b, wide, v, bytes, d, e) VALUES (x'41', x'41', x'41', x'41', x'41', x'41', x'41');
INSERT INTO t (i) VALUES (x'414141414141');
INSERT INTO t (day) VALUES (x'323032342d30312d3032');
SELECT id, i, HEX(b), HEX(wide), v, bytes, d, e, day FROM t;
SELECT id FROM t WHERE i = x'41';
SELECT id FROM t WHERE v = x'41';
SELECT id FROM t WHERE bytes = x'41';
SELECT id FROM t WHERE b = x'41';
SELECT id FROM t WHERE i IN (x'41', 7) AND d = x'41' AND e = b'1000001';
SELECT id FROM t WHERE v LIKE x'4125';
SELECT HEX(bytes & x'0f'), HEX(bytes | x'80'), i & x'0f' FROM t WHERE id = 1;
UPDATE t SET i = i + x'01' WHERE i = x'41';
SELECT i FROM t WHERE id = 1;
-- a BIT among its like is one, among others a number
SELECT HEX(b) FROM (SELECT b FROM t WHERE id = 1 UNION SELECT wide FROM t WHERE id = 1) u;
SELECT b FROM t WHERE id = 1 UNION SELECT 1;
SELECT b FROM t WHERE id = 1 UNION ALL SELECT 'a';
SELECT b FROM t WHERE id = 1 UNION SELECT x'42';
PREPARE s FROM 'SELECT ? + 0, ? = 65, ? = ''A''';
SET @a = x'41';
EXECUTE s USING @a, @a, @a;
DROP DATABASE binary_literals;
