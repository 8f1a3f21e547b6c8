-- INTO in the last block of a union, and what INTO OUTFILE says where no directory is allowed.
SELECT 1 UNION SELECT 2 INTO @a;
SELECT 1 AS x UNION SELECT 2 ORDER BY x LIMIT 1 INTO @a;
SELECT @a;
SELECT 3 UNION SELECT 3 INTO @b;
SELECT @b;
SELECT 1 INTERSECT SELECT 1 INTO @c;
SELECT @c;
SELECT 1 INTO OUTFILE '/tmp/apps_into';
SELECT 1 UNION SELECT 2 INTO OUTFILE '/tmp/apps_into';
SELECT 1 INTO DUMPFILE '/tmp/apps_into';
SELECT 1 INTO OUTFILE '/tmp/apps_into' FIELDS ENCLOSED BY 'ab';
LOAD DATA LOCAL INFILE '/tmp/apps_into' INTO TABLE nosuch.t;
