UPDATE shop.customer SET credit = credit + 1 WHERE id <= 10;
INSERT INTO shop.packed_lz4 VALUES (1001, REPEAT('late ', 300));
INSERT INTO shop.holes_zstd VALUES (1001, REPEAT('late ', 300));
DELETE FROM shop.in_place WHERE id BETWEEN 40 AND 60;
