SELECT t.id FROM t, s WHERE (t.a = s.a AND t.b = 1) OR (t.a = s.a AND t.b = 2);
SELECT t.id FROM t, s WHERE (t.a = s.a AND t.b = 1 AND s.b = 2) OR (t.a = s.a AND t.b = 3 AND s.b < 4);
SELECT t.id FROM t, s WHERE t.a = s.a OR (t.a = s.a AND t.b = 2);
SELECT t.id FROM t, s WHERE (t.a = s.a AND RAND() < 0.5) OR (t.a = s.a AND t.b = 2);
SELECT t.id FROM t WHERE t.a = 1 OR t.b = 2;
