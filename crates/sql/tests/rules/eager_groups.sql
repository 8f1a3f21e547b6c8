SELECT a.id, a.k, SUM(b.id), COUNT(*), AVG(b.k) FROM many a JOIN many b ON b.x = a.id GROUP BY a.id, a.k;
SELECT a.k, SUM(b.id) AS s FROM many a, many b WHERE b.x = a.id AND a.k < 500 AND b.k > 7 GROUP BY a.id HAVING s > 100 AND a.k > 3 ORDER BY s LIMIT 5;
SELECT a.id, b.k, MAX(b.id) FROM many a JOIN many b ON b.x = a.id GROUP BY b.k, b.x;
SELECT a.id, COUNT(b.id), COUNT(*), SUM(b.k) FROM many a LEFT JOIN many b ON b.x = a.id AND b.k > 7 GROUP BY a.id;
SELECT a.id, SUM(b.id) FROM many a JOIN many b ON b.x = a.id JOIN many c ON c.id = a.k GROUP BY a.id;
SELECT a.id, SUM(b.id) FROM many a JOIN many b ON b.x = a.x GROUP BY a.id;
SELECT a.k, SUM(b.id) FROM many a JOIN many b ON b.x = a.id GROUP BY a.k;
SELECT a.id, SUM(b.id + a.k) FROM many a JOIN many b ON b.x = a.id GROUP BY a.id;
SELECT a.id, SUM(EXP(b.id)) FROM many a JOIN many b ON b.x = a.id GROUP BY a.id;
SELECT a.id, COUNT(b.id + 1) FROM many a LEFT JOIN many b ON b.x = a.id GROUP BY a.id;
SELECT a.id, SUM(b.id) FROM many a JOIN many b ON b.x = a.id GROUP BY a.id ORDER BY a.id LIMIT 3;
SELECT a.id, SUM(b.id) FROM many a JOIN many b ON b.x = a.id WHERE b.id = 17 GROUP BY a.id
