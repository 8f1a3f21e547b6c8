SET group_concat_max_len = 10000000
SHOW DATABASES
SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_COLLATION, CREATE_OPTIONS FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('shop', 'other') ORDER BY 1, 2
SHOW CREATE TABLE shop.types
SHOW CREATE TABLE shop.texts
SHOW CREATE TABLE shop.customer
SHOW CREATE TABLE shop.purchase
SHOW CREATE TABLE shop.packed_lz4
SHOW CREATE TABLE shop.holes_zstd
SET time_zone = '+00:00'
SELECT id, t, tu, s, su, m, mu, i, iu, b, bu FROM shop.types ORDER BY id
SELECT id, dc, f, d, HEX(bt), da, ti, dt, ts, y FROM shop.types ORDER BY id
SELECT id, c, v, HEX(bi), HEX(vb), tt, SHA2(tx, 256), LENGTH(mt), SHA2(lt, 256), HEX(tb), SHA2(bl, 256), SHA2(mb, 256), SHA2(lb, 256) FROM shop.types ORDER BY id
SELECT id, e, st, j FROM shop.types ORDER BY id
SELECT * FROM shop.texts ORDER BY id
SELECT id FROM shop.texts FORCE INDEX (g) WHERE g = 'straße'
SELECT id FROM shop.texts FORCE INDEX (n) WHERE n >= 'apple' ORDER BY n
SELECT id FROM shop.texts FORCE INDEX (lb) ORDER BY lb DESC
SELECT COUNT(*), SUM(id), SUM(credit), SUM(name_length), SHA2(GROUP_CONCAT(id, ' ', name, ' ', upper_name, ' ', since, ' ', credit ORDER BY id), 256) FROM shop.customer
SELECT COUNT(*), SUM(customer), SUM(amount), SUM(extra), SHA2(GROUP_CONCAT(id, ' ', customer, ' ', at, ' ', amount, ' ', SHA2(note, 256) ORDER BY id), 256) FROM shop.purchase
SELECT COUNT(*), SUM(id) FROM shop.purchase FORCE INDEX (at) WHERE at >= '2024-01-10'
SELECT COUNT(*), SUM(id) FROM shop.purchase FORCE INDEX (amounts) WHERE amount > 100
SELECT COUNT(*) FROM shop.purchase p LEFT JOIN shop.customer c ON c.id = p.customer WHERE c.id IS NULL
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.packed_zlib
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.packed_lz4
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.packed_zstd
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.in_place
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.holes_zlib
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.holes_lz4
SELECT COUNT(*), SUM(id), SUM(LENGTH(v)), SHA2(GROUP_CONCAT(SHA2(v, 256) ORDER BY id), 256) FROM shop.holes_zstd
SELECT COUNT(*) FROM shop.packed_zstd FORCE INDEX (v) WHERE v LIKE 'row 12%'
SELECT * FROM other.empty
SELECT * FROM other.no_key ORDER BY a, b
SELECT * FROM shop.emptied
SELECT SCHEMA_NAME, TABLE_NAME, COLUMN_NAME, SHA2(JSON_EXTRACT(HISTOGRAM, '$.buckets'), 256) FROM information_schema.COLUMN_STATISTICS ORDER BY 1, 2, 3
SHOW GRANTS FOR reader@localhost
SHOW GRANTS FOR clerk@'10.%'
SELECT USER, HOST FROM mysql.user WHERE USER IN ('reader', 'clerk') ORDER BY USER
XA RECOVER
