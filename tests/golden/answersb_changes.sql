-- What columns keep of numbers and dates, and what is said.
CREATE DATABASE answersb_changes;
USE answersb_changes;
CREATE TABLE n (id INT PRIMARY KEY, t TIME, da DATE, dt DATETIME, c CHAR(4), v VARCHAR(8), vb VARBINARY(5), st SET('x','y','z'), e ENUM('b','a','2'), y YEAR, f FLOAT);
INSERT INTO n (id, f) VALUES (1, 0.1);
-- a double has as many digits as there is room for
UPDATE n SET c = 1.5e0, v = 1e10, vb = 2e0/3;
SELECT c, v, vb FROM n;
UPDATE n SET c = 123456e0, v = 123456789012e0, vb = 12345678e0;
SELECT c, v, vb FROM n;
UPDATE n SET v = f;
SELECT v FROM n;
UPDATE n SET c = 1e100/3;
-- sets, enumerations and years are cut
UPDATE n SET st = 2.7e0, e = 2.5e0, y = 2.5e0;
SELECT st, e, y FROM n;
UPDATE n SET st = -1e-40;
SHOW WARNINGS;
UPDATE n SET y = '2.5';
SELECT y FROM n;
-- dates where times are kept, and the other way round
UPDATE n SET t = 20200229235959;
SHOW WARNINGS;
UPDATE n SET t = '1970-01-01 00:00:00';
SHOW WARNINGS;
UPDATE n SET da = 20200229235959;
SHOW WARNINGS;
UPDATE n SET t = x'ff';
UPDATE n SET da = REPEAT('a', 300);
SET sql_mode = '';
UPDATE n SET t = 123499;
SHOW WARNINGS;
UPDATE n SET da = 18446744073709551615;
SHOW WARNINGS;
UPDATE n SET da = 2147483647;
SHOW WARNINGS;
UPDATE n SET dt = -1.5;
SHOW WARNINGS;
UPDATE n SET c = 1e100/3;
SHOW WARNINGS;
DROP DATABASE answersb_changes;
