BEGIN;
UPDATE shop.customer SET credit = 0 WHERE id > 20;
INSERT INTO shop.customer (name, credit) VALUES ('never there', 5);
DELETE FROM shop.purchase WHERE id % 2 = 0;
UPDATE shop.packed_zlib SET v = REPEAT('never ', 200);
INSERT INTO shop.in_place SELECT id + 5000, v FROM shop.packed_zlib;
UPDATE shop.types SET lt = REPEAT('gone', 9000), j = '{"never": 1}';
INSERT INTO other.empty VALUES (1, 1);
