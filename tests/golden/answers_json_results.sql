# JSON is converted to the character set of the results, as text is
DROP DATABASE IF EXISTS answers_json_results;
CREATE DATABASE answers_json_results;
USE answers_json_results;
CREATE TABLE t (j JSON);
INSERT INTO t VALUES (JSON_ARRAY(_utf8mb4 x'c3a9'));
SELECT j, HEX(j) FROM t;
SET character_set_results = latin1;
SELECT j, HEX(j), JSON_ARRAY(j), MAX(j) FROM t GROUP BY j;
SET character_set_results = NULL;
SELECT j FROM t;
SET character_set_results = ascii;
SELECT j FROM t;
DROP DATABASE answers_json_results;
