CREATE DATABASE shop;
CREATE DATABASE other DEFAULT CHARACTER SET latin1;
USE shop;
CREATE TABLE types (
  id INT AUTO_INCREMENT PRIMARY KEY,
  t TINYINT, tu TINYINT UNSIGNED, s SMALLINT, su SMALLINT UNSIGNED, m MEDIUMINT, mu MEDIUMINT UNSIGNED,
  i INT, iu INT UNSIGNED, b BIGINT, bu BIGINT UNSIGNED, dc DECIMAL(30,10), f FLOAT, d DOUBLE, bt BIT(13),
  da DATE, ti TIME(6), dt DATETIME(3), ts TIMESTAMP(2) NULL, y YEAR,
  c CHAR(10), v VARCHAR(100), bi BINARY(4), vb VARBINARY(20),
  tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lt LONGTEXT, tb TINYBLOB, bl BLOB, mb MEDIUMBLOB, lb LONGBLOB,
  e ENUM('small','medium','large'), st SET('a','b','c','d'), j JSON);
SET time_zone = '+00:00';
INSERT INTO types VALUES
  (1, -128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615,
   -12345678901234567890.0123456789, 1.5, 2.2250738585072014e-308, b'1010101010101', '1000-01-01', '-838:59:59.000000',
   '9999-12-31 23:59:59.999', '2038-01-19 03:14:07.25', 1901, 'char', 'größe', x'01020304', x'00ff00',
   'tiny', REPEAT('text ', 100), REPEAT('m', 3000), REPEAT('long text ', 3000), x'00', REPEAT(x'fe', 300), REPEAT(x'01', 5000),
   REPEAT(x'c3', 17000), 'medium', 'a,d', '{"a": [1, 2.5, null, true], "b": {"c": "ü"}, "n": 123456789012345678901234567890}'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
   NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, 127, 0, 32767, 0, 8388607, 0, 2147483647, 0, 9223372036854775807, 0, 99999999999999999999.9999999999, -0.0, -1e300, b'0',
   '9999-12-31', '838:59:58.999999', '1000-01-01 00:00:00', '1970-01-01 00:00:01', 2155, '', '', '', '', '', '', '', '', '', '', '', '',
   'small', '', '[]');
CREATE TABLE texts (
  id INT PRIMARY KEY,
  l VARCHAR(40) CHARACTER SET latin1, lb VARCHAR(40) CHARACTER SET latin1 COLLATE latin1_bin,
  g VARCHAR(40) COLLATE utf8mb4_general_ci, a VARCHAR(40) COLLATE utf8mb4_0900_as_cs, n VARCHAR(40) COLLATE utf8mb4_0900_ai_ci,
  UNIQUE KEY (l), KEY (lb DESC), KEY (g(3), a), KEY (n));
INSERT INTO texts VALUES (1, 'Straße', 'Straße', 'Straße', 'Straße', 'Straße'), (2, 'apple', 'Apple', 'APPLE', 'apple', 'Äpple'),
  (3, 'zebra', 'zebra', 'zebra', 'Zebra', 'zébra'), (4, NULL, NULL, NULL, NULL, NULL), (5, 'b', 'b', '😀', '😀😀', 'ñandú');
CREATE TABLE customer (
  id INT UNSIGNED AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, since DATE,
  upper_name VARCHAR(60) AS (UPPER(name)) VIRTUAL, name_length INT AS (CHAR_LENGTH(name)) STORED,
  credit DECIMAL(10,2) NOT NULL DEFAULT 0 CHECK (credit >= 0), KEY (upper_name), KEY (since, name DESC));
CREATE TABLE purchase (
  id BIGINT AUTO_INCREMENT PRIMARY KEY, customer INT UNSIGNED NOT NULL, at DATETIME NOT NULL, amount DECIMAL(10,2), note TEXT,
  KEY (at), CONSTRAINT purchase_customer FOREIGN KEY (customer) REFERENCES customer (id) ON DELETE CASCADE ON UPDATE CASCADE)
  AUTO_INCREMENT = 1000;
INSERT INTO customer (name, since, credit)
  WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100)
  SELECT CONCAT('customer ', n), '2020-01-01' + INTERVAL n DAY, n * 1.25 FROM n;
INSERT INTO purchase (customer, at, amount, note)
  WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
  SELECT 1 + n * 7 % 100, '2024-01-01' + INTERVAL n HOUR, n / 3, IF(n % 50 = 0, REPEAT(CONCAT('note ', n, ' '), 900), CONCAT('note ', n)) FROM n;
DELETE FROM customer WHERE id % 20 = 0;
UPDATE customer SET id = id + 1000 WHERE id % 33 = 0;
UPDATE purchase SET amount = amount * 2, note = CONCAT(note, '!') WHERE id % 10 = 3;
ALTER TABLE purchase ADD COLUMN extra INT DEFAULT 7, ALGORITHM = INSTANT;
ALTER TABLE purchase ADD KEY amounts (amount, extra);
ANALYZE TABLE customer UPDATE HISTOGRAM ON credit WITH 8 BUCKETS;
ANALYZE TABLE purchase UPDATE HISTOGRAM ON amount, extra WITH 16 BUCKETS;
ANALYZE TABLE customer, purchase;
CREATE TABLE packed_zlib (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) COMPRESSION = 'zlib';
CREATE TABLE packed_lz4 (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) COMPRESSION = 'lz4';
CREATE TABLE packed_zstd (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) COMPRESSION = 'zstd';
CREATE TABLE in_place (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) PAGE_SINK = 'in-place';
CREATE TABLE holes_zlib (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) PAGE_SINK = 'in-place' COMPRESSION = 'zlib';
CREATE TABLE holes_lz4 (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) PAGE_SINK = 'in-place' COMPRESSION = 'lz4';
CREATE TABLE holes_zstd (id INT PRIMARY KEY, v VARCHAR(2000), KEY (v(20))) PAGE_SINK = 'in-place' COMPRESSION = 'zstd';
INSERT INTO packed_zlib
  WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 120)
  SELECT n, REPEAT(CONCAT('row ', n, ' of many '), 1 + n % 60) FROM n;
INSERT INTO packed_lz4 SELECT * FROM packed_zlib;
INSERT INTO packed_zstd SELECT * FROM packed_zlib;
INSERT INTO in_place SELECT * FROM packed_zlib;
INSERT INTO holes_zlib SELECT * FROM packed_zlib;
INSERT INTO holes_lz4 SELECT * FROM packed_zlib;
INSERT INTO holes_zstd SELECT * FROM packed_zlib;
CREATE TABLE other.empty (a INT, b INT, KEY (a, b));
CREATE TABLE other.no_key (a INT, b VARCHAR(10));
INSERT INTO other.no_key VALUES (1, 'x'), (1, 'x'), (2, NULL), (NULL, 'ü');
CREATE TABLE gone (id INT PRIMARY KEY, v TEXT);
INSERT INTO gone SELECT id, v FROM packed_zlib;
DROP TABLE gone;
CREATE TABLE emptied (id INT PRIMARY KEY, v TEXT);
INSERT INTO emptied SELECT id, v FROM packed_zlib;
TRUNCATE TABLE emptied;
INSERT INTO emptied VALUES (1, 'again');
CREATE USER reader@localhost;
CREATE USER clerk@'10.%' IDENTIFIED BY 'a secret of a test' COMMENT 'kept';
GRANT SELECT ON shop.* TO reader@localhost;
GRANT INSERT, UPDATE ON shop.customer TO clerk@'10.%' WITH GRANT OPTION;
GRANT PROCESS, CONNECTION_ADMIN ON *.* TO clerk@'10.%';
XA START 'kept', 'branch';
INSERT INTO other.no_key VALUES (77, 'prepared');
XA END 'kept', 'branch';
XA PREPARE 'kept', 'branch';
