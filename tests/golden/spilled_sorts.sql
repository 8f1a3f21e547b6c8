-- Sorts of more rows than their memory holds. MySQL answers the same without the variable of Palisade.
CREATE DATABASE spilled;
USE spilled;
SET palisade_operator_memory = 0, sort_buffer_size = 32768, cte_max_recursion_depth = 20000;
CREATE TABLE n (a INT PRIMARY KEY, g INT, s VARCHAR(40), d DECIMAL(12,3), t TEXT);
INSERT INTO n WITH RECURSIVE r (a) AS (SELECT 0 UNION ALL SELECT a + 1 FROM r WHERE a < 7999)
SELECT a, NULLIF(a * 7919 % 13, 5), CONCAT('row ', a * 104729 % 9973), (a * 31 % 4001) / 8, REPEAT(CHAR(97 + a % 26), a % 60) FROM r;
FLUSH STATUS;
SELECT COUNT(*), MIN(p), MAX(p), SUM(p * a % 1009), CRC32(GROUP_CONCAT(IF(p % 400 = 1, a, NULL) ORDER BY p))
FROM (SELECT a, ROW_NUMBER() OVER () p FROM (SELECT a FROM n ORDER BY g, s DESC LIMIT 8000) x) y;
SELECT COUNT(*), SUM(p * a % 1009)
FROM (SELECT a, ROW_NUMBER() OVER () p FROM (SELECT a FROM n ORDER BY d DESC, t, a LIMIT 8000) x) y;
SELECT a, s FROM n ORDER BY s LIMIT 7990, 3;
SELECT a, g FROM n ORDER BY g DESC, LENGTH(t), a LIMIT 5000, 3;
SELECT DISTINCT d FROM n ORDER BY d DESC LIMIT 3998, 5;
SELECT a, t FROM n ORDER BY t DESC, a DESC LIMIT 1;
SELECT VARIABLE_VALUE > 5 passes FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Sort_merge_passes';
DROP DATABASE spilled;
