-- A statement that is only a comment is answered without a result; nothing at all is 1065.
/*! */;
/*!999999 x */;
SELECT ROW_COUNT(), @@warning_count, @@error_count;
DELIMITER $$
SELECT 1; /*!999999 y */$$
SELECT 2; /*!999999 y */ SELECT 3;$$
/*!999999 y */; SELECT 4$$
SELECT 5; ; SELECT 6$$
DELIMITER ;
PREPARE s FROM '/* c */';
PREPARE s FROM '# c';
PREPARE s FROM ' ';
PREPARE s FROM ';';
PREPARE s FROM 'SELECT 7; -- c';
EXECUTE s;
SELECT COUNT(*), SUM(reserved), MIN(word), MAX(word) FROM information_schema.KEYWORDS;
SELECT * FROM information_schema.KEYWORDS WHERE word LIKE 'A%' OR word IN ('LIBRARY', 'MANUAL', 'PARALLEL', 'EXTERNAL', 'COUNT');
