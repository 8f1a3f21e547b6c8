SELECT t.id FROM t LEFT JOIN s ON s.a = t.a WHERE s.b > 1;
SELECT t.id FROM t LEFT JOIN s ON s.a = t.a WHERE s.b IS NULL;
SELECT t.id FROM t LEFT JOIN (s LEFT JOIN u ON u.a = s.a) ON u.b = t.a;
SELECT t.id FROM t LEFT JOIN s ON s.a = t.a JOIN u ON u.b = s.b;
SELECT s.id FROM t RIGHT JOIN s ON s.a = t.a WHERE t.b IN (1, 2);
