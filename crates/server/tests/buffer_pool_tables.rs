//! What information_schema tells of the buffer pool, and status variables that say what is so just now.

mod client;

use client::{Answer, Client, TestServer, connect_as, run};

fn status(client: &mut Client, name: &str) -> u64 {
    let query =
        format!("SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = '{name}'");
    client.value(&query).parse().unwrap()
}

#[test]
fn pages_in_memory_are_listed_with_their_tables() {
    let server = TestServer::start(&[("innodb_buffer_pool_size", "16M")]);
    let client = &mut server.connect();
    run(
        client,
        &[
            "CREATE DATABASE d",
            "CREATE TABLE d.`a``b` (id INT PRIMARY KEY, t VARCHAR(9000), k INT, KEY by_k (k))",
        ],
    );
    for id in 0..20 {
        run(client, &[&format!("INSERT INTO d.`a``b` VALUES ({id}, REPEAT('x', 3000), {id})")]);
    }
    let of_table = "FROM information_schema.INNODB_BUFFER_PAGE WHERE TABLE_NAME = '`d`.`a``b`'";
    let leaves = client
        .value(&format!("SELECT COUNT(*) {of_table} AND INDEX_NAME = 'PRIMARY' AND PAGE_TYPE = 'INDEX'"));
    assert!(leaves.parse::<u32>().unwrap() > 3, "{leaves}");
    let entries = client.value(&format!("SELECT SUM(NUMBER_RECORDS) {of_table} AND INDEX_NAME = 'by_k'"));
    assert_eq!(entries, "20");
    let changed =
        client.value(&format!("SELECT COUNT(*) {of_table} AND OLDEST_MODIFICATION > NEWEST_MODIFICATION"));
    assert_eq!(changed, "0");
    let pool = "FROM information_schema.INNODB_BUFFER_POOL_STATS";
    assert_eq!(client.value(&format!("SELECT POOL_SIZE {pool}")), "1024");
    assert_eq!(client.value("SELECT COUNT(*) FROM information_schema.INNODB_BUFFER_PAGE"), "1024");
    let unused = "SELECT COUNT(*) FROM information_schema.INNODB_BUFFER_PAGE WHERE PAGE_STATE = 'NOT_USED'";
    assert!(client.value(unused).parse::<u32>().unwrap() > 500);
    let positions = client.value(
        "SELECT COUNT(*) = MAX(LRU_POSITION) + 1 AND MIN(LRU_POSITION) = 0 AND COUNT(DISTINCT LRU_POSITION) = COUNT(*) \
         FROM information_schema.INNODB_BUFFER_PAGE_LRU",
    );
    assert_eq!(positions, "1");
    let hits = client.value(&format!("SELECT HIT_RATE {pool}")).parse::<u32>().unwrap();
    assert!(hits <= 1000);
    run(client, &["CREATE USER low"]);
    let mut low = connect_as(&server, "low");
    for table in ["INNODB_BUFFER_PAGE", "INNODB_BUFFER_PAGE_LRU", "INNODB_BUFFER_POOL_STATS"] {
        let refused = low.query(&format!("SELECT * FROM information_schema.{table}"));
        assert!(matches!(refused, Answer::Error(1227, ..)), "{table}: {refused:?}");
    }
}

#[test]
fn rows_of_the_servers_own_tables_and_deprecated_reads_are_counted() {
    let server = TestServer::start(&[]);
    let client = &mut server.connect();
    let [read, inserted] =
        ["Innodb_system_rows_read", "Innodb_system_rows_inserted"].map(|name| status(client, name));
    run(
        client,
        &["CREATE USER one", "CREATE DATABASE d", "CREATE TABLE d.t (a INT)", "INSERT INTO d.t VALUES (1)"],
    );
    assert!(status(client, "Innodb_system_rows_inserted") > inserted);
    let before = status(client, "Innodb_system_rows_inserted");
    run(client, &["INSERT INTO d.t VALUES (2)"]);
    assert_eq!(status(client, "Innodb_system_rows_inserted"), before);
    client.value("SELECT COUNT(User) FROM mysql.user");
    assert!(status(client, "Innodb_system_rows_read") > read);

    assert_eq!(status(client, "Deprecated_use_i_s_processlist_count"), 0);
    client.value("SELECT COUNT(*) FROM information_schema.PROCESSLIST");
    client.value("SELECT COUNT(*) FROM performance_schema.processlist");
    assert_eq!(status(client, "Deprecated_use_i_s_processlist_count"), 1);
    assert!(status(client, "Deprecated_use_i_s_processlist_last_timestamp") > 1_000_000_000_000_000);
    let files = status(client, "Innodb_num_open_files");
    run(client, &["CREATE TABLE d.placed (a INT)", "CREATE TABLE d.in_place (a INT) PAGE_SINK='in-place'"]);
    assert_eq!(status(client, "Innodb_num_open_files"), files + 3);
}
