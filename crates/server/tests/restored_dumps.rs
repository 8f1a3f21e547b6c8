//! What `mysqldump --all-databases` of other servers says of the schema `mysql`: accounts come from it.

mod client;

use client::{Answer, CAPABILITIES, Client, TestServer};

const ACCESS_DENIED: u16 = 1045;
const LOCKED: u16 = 3118;

/// As MySQL dumps its accounts: of an older version, whose `user` lacks the columns about roles. The password
/// of `app` is `secret`, hashed by MySQL 9.7; `expired` and `revoked` say what this server does not keep.
const DUMP: &[&str] = &[
    "/*!50606 SET GLOBAL INNODB_STATS_AUTO_RECALC=OFF */",
    "SET @@GLOBAL.GTID_PURGED=/*!80000 '+'*/ ''",
    "CREATE DATABASE /*!32312 IF NOT EXISTS*/ `mysql` /*!40100 DEFAULT CHARACTER SET utf8mb4 */ /*!80016 DEFAULT ENCRYPTION='N' */",
    "USE `mysql`",
    "DROP TABLE IF EXISTS `columns_priv`",
    "CREATE TABLE `columns_priv` (`Host` char(255) CHARACTER SET ascii NOT NULL DEFAULT '', `Db` char(64) NOT NULL, \
     `User` char(32) NOT NULL, `Table_name` char(64) NOT NULL, `Column_name` char(64) NOT NULL, PRIMARY KEY \
     (`Host`,`User`,`Db`,`Table_name`,`Column_name`)) /*!50100 TABLESPACE `mysql` */ ENGINE=InnoDB DEFAULT \
     CHARSET=utf8mb3 COLLATE=utf8mb3_bin STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Column privileges'",
    "DROP TABLE IF EXISTS `db`",
    "CREATE TABLE `db` (`Host` char(255) NOT NULL DEFAULT '', `Db` char(64) NOT NULL DEFAULT '', `User` char(32) NOT \
     NULL DEFAULT '', `Select_priv` enum('N','Y') NOT NULL DEFAULT 'N', PRIMARY KEY (`Host`,`User`,`Db`)) /*!50100 \
     TABLESPACE `mysql` */ ENGINE=InnoDB DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin STATS_PERSISTENT=0",
    "LOCK TABLES `db` WRITE",
    "/*!40000 ALTER TABLE `db` DISABLE KEYS */",
    "INSERT INTO `db` VALUES ('%','shop','app','Y')",
    "/*!40000 ALTER TABLE `db` ENABLE KEYS */",
    "UNLOCK TABLES",
    "INSERT IGNORE INTO `innodb_table_stats` VALUES ('shop','t','2026-11-24 14:12:41',8,1,4)",
    "INSERT IGNORE INTO `innodb_index_stats` VALUES ('shop','t','PRIMARY','2026-11-24 14:12:41','size',1,NULL,'pages')",
    "CREATE TABLE IF NOT EXISTS `general_log` (`event_time` timestamp(6) NOT NULL) ENGINE=CSV COMMENT='General log'",
    "DROP TABLE IF EXISTS `user`",
    "CREATE TABLE `user` (`Host` char(255) NOT NULL DEFAULT '', `User` char(32) NOT NULL DEFAULT '', `Select_priv` \
     enum('N','Y') NOT NULL DEFAULT 'N', `Super_priv` enum('N','Y') NOT NULL DEFAULT 'N', `Create_user_priv` enum('N','Y') \
     NOT NULL DEFAULT 'N', `ssl_type` enum('','ANY','X509','SPECIFIED') NOT NULL DEFAULT '', `ssl_cipher` blob NOT NULL, \
     `plugin` char(64) NOT NULL DEFAULT 'caching_sha2_password', `authentication_string` text COLLATE utf8mb3_bin, \
     `password_expired` enum('N','Y') NOT NULL DEFAULT 'N', `account_locked` enum('N','Y') NOT NULL DEFAULT 'N', \
     `User_attributes` json DEFAULT NULL, PRIMARY KEY (`Host`,`User`)) /*!50100 TABLESPACE `mysql` */ ENGINE=InnoDB \
     DEFAULT CHARSET=utf8mb3 COLLATE=utf8mb3_bin STATS_PERSISTENT=0 ROW_FORMAT=DYNAMIC COMMENT='Users'",
    "LOCK TABLES `user` WRITE",
    "INSERT INTO `user` VALUES ('localhost','root','Y','Y','Y','','','caching_sha2_password','','N','N',NULL), \
     ('%','app','N','N','N','','','caching_sha2_password',\
     X'24412430304124182B221C040305184D4173492527154A2A70034B623642676F3055504371676F317A6837514151437441477777662F66736B6D7163377A4765543161646835',\
     'N','N','{\"metadata\": {\"comment\": \"kept\"}}'), ('%','expired','N','N','N','','','caching_sha2_password','','Y','N',NULL), \
     ('%','revoked','Y','N','N','','','caching_sha2_password','','N','N',\
     '{\"Restrictions\": [{\"Database\": \"shop\", \"Privileges\": [\"SELECT\"]}]}')",
    "UNLOCK TABLES",
];

fn answer_to(server: &TestServer, user: &str) -> Result<Client, u16> {
    let mut client = server.connect_raw();
    match client.login(user, b"", CAPABILITIES).as_slice() {
        [0, ..] => Ok(client),
        [0xff, low, high, ..] => Err(u16::from_le_bytes([*low, *high])),
        other => panic!("{}", other.escape_ascii()),
    }
}

fn rows(client: &mut Client, text: &str) -> Vec<Vec<String>> {
    let Answer::Rows(rows) = client.query(text) else { panic!("{text} has rows") };
    rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect()
}

fn restore(client: &mut Client, statements: &[&str]) {
    for statement in statements {
        let answer = client.query(statement);
        assert!(matches!(answer, Answer::Ok(_)), "{statement:.70}: {answer:?}");
    }
}

#[test]
fn accounts_come_from_a_dump_with_the_next_look_at_them() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    assert_eq!(root.value("SELECT COUNT(*) FROM mysql.columns_priv"), "0", "not stored yet");
    restore(&mut root, &["CREATE USER earlier", "CREATE DATABASE shop", "CREATE TABLE shop.t (a INT)"]);
    restore(&mut root, DUMP);
    assert!(answer_to(&server, "earlier").is_ok(), "until then the old ones count");
    restore(&mut root, &["FLUSH PRIVILEGES"]);
    assert_eq!(answer_to(&server, "earlier").err(), Some(ACCESS_DENIED));
    for user in ["expired", "revoked"] {
        assert_eq!(answer_to(&server, user).err(), Some(LOCKED), "{user}");
    }
    assert!(answer_to(&server, "root").is_ok());
    let grants = ["GRANT USAGE ON *.* TO `app`@`%`", "GRANT SELECT ON `shop`.* TO `app`@`%`"];
    assert_eq!(rows(&mut root, "SHOW GRANTS FOR app"), grants.map(|grant| vec![grant.to_owned()]));
    // what this server expects of its tables is there again
    restore(&mut root, &["CREATE USER later IDENTIFIED BY ''"]);
    assert!(answer_to(&server, "later").is_ok());
    assert_eq!(root.value("SELECT Create_role_priv FROM mysql.user WHERE User = 'later'"), "N");
    assert_eq!(root.value("SELECT COUNT(*) FROM mysql.columns_priv"), "0");
    assert_eq!(root.value("SELECT n_rows FROM mysql.innodb_table_stats"), "8");
}

#[test]
fn a_restore_that_ends_in_the_middle_lets_nobody_in_without_a_password() {
    let dir = tempfile::tempdir().unwrap();
    let options = [("datadir", dir.path().to_str().unwrap())];
    let server = TestServer::start(&options);
    let mut root = server.connect();
    restore(&mut root, &["ALTER USER root@localhost IDENTIFIED BY 'secret'"]);
    let until =
        DUMP.iter().position(|statement| statement.starts_with("DROP TABLE IF EXISTS `user`")).unwrap();
    restore(&mut root, &DUMP[..=until]);
    assert!(matches!(root.query("CREATE USER x"), Answer::Error(1146, _)), "there is no place for it");
    assert!(matches!(root.query("FLUSH PRIVILEGES"), Answer::Error(..)));
    assert!(matches!(root.query("DROP DATABASE mysql"), Answer::Error(3552, _)));
    drop(root);
    server.stop().unwrap();
    let server = TestServer::start(&options);
    assert_eq!(answer_to(&server, "root").err(), Some(ACCESS_DENIED));
    server.stop().unwrap();
    let server = TestServer::start(&[options[0], ("skip_grant_tables", "ON")]);
    let mut anyone = server.connect();
    restore(&mut anyone, &["USE mysql"]);
    restore(&mut anyone, &DUMP[until..]);
    drop(anyone);
    server.stop().unwrap();
    let server = TestServer::start(&options);
    assert!(answer_to(&server, "root").is_ok(), "as the dump has it");
    server.stop().unwrap();
}

/// Without the columns that a later version has added, and before they can be added.
#[test]
fn tables_of_an_older_version_are_read_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let options = [("datadir", dir.path().to_str().unwrap())];
    let server = TestServer::start(&options);
    let mut root = server.connect();
    restore(
        &mut root,
        &[
            "CREATE USER low",
            "ALTER TABLE mysql.user DROP User_attributes, DROP password_expired, DROP ssl_cipher",
        ],
    );
    drop(root);
    server.stop().unwrap();
    let server = TestServer::start(&[options[0], ("super_read_only", "ON")]);
    assert!(answer_to(&server, "low").is_ok());
    assert!(answer_to(&server, "root").is_ok());
    server.stop().unwrap();
    let server = TestServer::start(&options);
    assert_eq!(server.connect().value("SELECT ssl_cipher FROM mysql.user WHERE User = 'low'"), "");
    server.stop().unwrap();
}

#[test]
fn only_the_schema_mysql_may_name_its_tablespace() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    restore(&mut root, &["CREATE DATABASE shop", "CREATE TABLE mysql.own (a INT) TABLESPACE mysql"]);
    assert_eq!(rows(&mut root, "SHOW WARNINGS")[0][1], "1235");
    for statement in
        ["CREATE TABLE shop.t (a INT) TABLESPACE mysql", "CREATE TABLE mysql.t (a INT) TABLESPACE other"]
    {
        assert!(matches!(root.query(statement), Answer::Error(1235, _)), "{statement}");
    }
}

#[test]
fn help_finds_nothing_until_a_dump_brings_texts_that_are_not_searched() {
    let server = TestServer::start(&[]);
    let mut root = server.connect();
    assert_eq!(root.query("HELP 'SELECT'"), Answer::Rows(Vec::new()));
    restore(
        &mut root,
        &["CREATE TABLE mysql.help_topic (name char(64))", "INSERT INTO mysql.help_topic VALUES ('SELECT')"],
    );
    assert!(matches!(root.query("HELP 'SELECT'"), Answer::Error(1235, _)));
}
