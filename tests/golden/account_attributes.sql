-- COMMENT and ATTRIBUTE of accounts: one object, which each statement patches.
CREATE USER golden_attr1@localhost COMMENT 'hello ''q'' "r" \\ é';
CREATE USER golden_attr2@localhost, golden_attr3@localhost ATTRIBUTE '{"z":1,"b":{"c":null,"d":2},"n":null}';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER LIKE 'golden_attr%' ORDER BY USER;
SELECT User, User_attributes FROM mysql.user WHERE User LIKE 'golden_attr%' ORDER BY User;
ALTER USER golden_attr2@localhost ATTRIBUTE '{"b":{"d":null,"e":"x"},"d":"x"}';
ALTER USER golden_attr2@localhost COMMENT 'c2';
ALTER USER golden_attr3@localhost ATTRIBUTE '{"z":null,"comment":null,"b":null}';
ALTER USER golden_attr1@localhost ACCOUNT LOCK COMMENT 'locked';
CREATE USER golden_attr5@localhost COMMENT '';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER LIKE 'golden_attr%' ORDER BY USER;
SELECT User, User_attributes FROM mysql.user WHERE User LIKE 'golden_attr%' ORDER BY User;
SHOW CREATE USER golden_attr1@localhost;
SHOW CREATE USER golden_attr2@localhost;
SHOW CREATE USER golden_attr3@localhost;
-- no objects
ALTER USER golden_attr2@localhost ATTRIBUTE 'x';
ALTER USER golden_attr2@localhost ATTRIBUTE '[1]';
ALTER USER golden_attr2@localhost ATTRIBUTE '';
ALTER USER golden_attr2@localhost ATTRIBUTE 'null';
CREATE USER golden_attr4@localhost ATTRIBUTE '{"a":1';
CREATE USER golden_attr4@localhost COMMENT 'a' ATTRIBUTE '{}';
-- what else is changed leaves it
RENAME USER golden_attr1@localhost TO golden_attr9@localhost;
GRANT SELECT ON *.* TO golden_attr2@localhost;
ALTER USER golden_attr9@localhost ACCOUNT UNLOCK;
ALTER USER golden_attr9@localhost COMMENT 'it''s';
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER LIKE 'golden_attr%' ORDER BY USER;
SHOW CREATE USER golden_attr9@localhost;
DROP USER golden_attr2@localhost, golden_attr3@localhost, golden_attr5@localhost, golden_attr9@localhost;
SELECT * FROM information_schema.USER_ATTRIBUTES WHERE USER LIKE 'golden_attr%';
