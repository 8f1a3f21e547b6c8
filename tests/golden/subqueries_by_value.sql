-- Subqueries whose values are remembered, that become joins, or that are asked after the joins.
CREATE DATABASE by_value;
USE by_value;
CREATE TABLE c (id INT PRIMARY KEY, g INT, name VARCHAR(20), d DECIMAL(8,2));
CREATE TABLE o (id INT PRIMARY KEY, c INT, name VARCHAR(20), amount INT, KEY (c));
CREATE TABLE l (o INT, line INT, part INT, quantity INT, PRIMARY KEY (o, line), KEY (part));
INSERT INTO c VALUES (1, 1, 'ann', 1.5), (2, 1, 'Ann', 2.5), (3, 2, 'bob', NULL), (4, NULL, NULL, 0), (5, 3, 'eve', 7);
INSERT INTO o VALUES (1, 1, 'ann', 10), (2, 1, 'ANN', 20), (3, 2, 'bob', NULL), (4, NULL, NULL, 5), (5, 3, 'bob', 7), (6, 3, 'x', 7), (7, 9, 'ann', 1);
INSERT INTO l VALUES (1, 1, 1, 5), (1, 2, 2, 50), (2, 1, 1, 6), (2, 2, 3, 8), (3, 1, 1, 100), (4, 1, 2, 1), (5, 1, NULL, 9), (6, 1, 3, 4), (6, 2, 2, 60);
-- scalar values
SELECT l.o, l.line FROM l WHERE quantity < (SELECT AVG(quantity) FROM l l2 WHERE l2.part = l.part) ORDER BY 1, 2;
SELECT l.o, l.line, (SELECT COUNT(*) FROM l l2 WHERE l2.part = l.part) AS n, (SELECT SUM(quantity) FROM l l2 WHERE l2.part = l.part AND l2.o <> l.o) AS others FROM l ORDER BY 1, 2;
SELECT id, (SELECT COUNT(*) FROM o WHERE o.name = c.name) AS n, (SELECT MAX(amount) FROM o WHERE o.c = c.id) AS most FROM c ORDER BY id;
SELECT id FROM c WHERE 0 = (SELECT COUNT(*) FROM o WHERE o.c = c.id) ORDER BY id;
SELECT o.id, (SELECT name FROM c WHERE c.id = o.c) AS name FROM o ORDER BY o.id;
SELECT o.id FROM o WHERE (SELECT g FROM c WHERE c.name = o.name) = 1;
SELECT o.id, EXISTS (SELECT 1 FROM l WHERE l.o = o.id AND l.part = 1) AS first, NOT EXISTS (SELECT 1 FROM c WHERE c.id = o.c) AS lost FROM o ORDER BY o.id;
SELECT c.id, (SELECT SUM((SELECT SUM(quantity) FROM l WHERE l.o = o.id)) FROM o WHERE o.c = c.id) AS s FROM c ORDER BY c.id;
SELECT o.id, (SELECT d.n FROM (SELECT COUNT(*) AS n FROM l WHERE l.part = 1) d WHERE d.n > o.c) AS n FROM o ORDER BY o.id;
-- groups that are joined
SELECT id FROM o WHERE id IN (SELECT o FROM l GROUP BY o HAVING SUM(quantity) > 50) ORDER BY id;
SELECT id FROM o WHERE id NOT IN (SELECT o FROM l GROUP BY o HAVING SUM(quantity) > 50) ORDER BY id;
SELECT id FROM o WHERE c IN (SELECT g FROM c GROUP BY g) ORDER BY id;
SELECT id FROM o WHERE c IN (SELECT id FROM c GROUP BY id, g) ORDER BY id;
SELECT id FROM o WHERE name IN (SELECT name FROM c GROUP BY name) ORDER BY id;
SELECT id FROM o WHERE (c, amount) IN (SELECT c, MAX(amount) FROM o GROUP BY c) ORDER BY id;
SELECT o.id, c.id FROM o LEFT JOIN c ON c.id = o.c WHERE o.id IN (SELECT o FROM l GROUP BY o) AND c.g IN (SELECT part FROM l GROUP BY part) ORDER BY 1, 2;
SELECT COUNT(*) FROM o WHERE id IN (SELECT o FROM l GROUP BY o WITH ROLLUP);
SELECT id FROM o WHERE amount IN (SELECT d FROM c GROUP BY d) ORDER BY id;
-- matches behind the joins
SELECT o.id, l.line FROM o JOIN l ON l.o = o.id JOIN c ON c.id = o.c WHERE EXISTS (SELECT 1 FROM l l2 WHERE l2.o = l.o AND l2.line <> l.line) AND NOT EXISTS (SELECT 1 FROM l l3 WHERE l3.o = l.o AND l3.quantity > 55) AND c.g = 1 ORDER BY 1, 2;
SELECT o.id, l.line FROM o JOIN l ON l.o = o.id WHERE l.part IN (SELECT part FROM l l2 WHERE l2.o = 1) AND o.c IN (SELECT id FROM c WHERE g = 2) ORDER BY 1, 2;
SELECT o.id FROM o JOIN c ON c.id = o.c JOIN l ON l.o = o.id WHERE l.quantity = (SELECT MAX(quantity) FROM l l2 WHERE l2.o = o.id) AND c.g < 3 ORDER BY 1;
DROP DATABASE by_value;
