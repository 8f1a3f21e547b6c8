//! Programs that watch a server: mysqld_exporter, pt-query-digest, mysqltuner, innotop, mytop.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::expect;
use crate::Outcome;
use crate::process::{command, output};
use crate::server::{self, Server};

/// What mysqld_exporter is told to read: all that this server has. Others ask for statements that MySQL 8.4
/// has no more (SHOW SLAVE STATUS), for another server's plugins, or for what is not here yet.
const COLLECTORS: &[&str] = &[
    "auto_increment.columns",
    "engine_innodb_status",
    "global_status",
    "global_variables",
    "info_schema.clientstats",
    "info_schema.innodb_cmp",
    "info_schema.innodb_cmpmem",
    "info_schema.innodb_metrics",
    "info_schema.innodb_tablespaces",
    "info_schema.processlist",
    "info_schema.query_response_time",
    "info_schema.schemastats",
    "info_schema.tables",
    "info_schema.tablestats",
    "info_schema.userstats",
    "mysql.user",
    "mysql.user.privileges",
    "perf_schema.eventsstatements",
    "perf_schema.eventsstatementssum",
    "perf_schema.eventswaits",
    "perf_schema.file_events",
    "perf_schema.file_instances",
    "perf_schema.indexiowaits",
    "perf_schema.memory_events",
    "perf_schema.replication_applier_status_by_worker",
    "perf_schema.replication_group_member_stats",
    "perf_schema.replication_group_members",
    "perf_schema.tableiowaits",
    "perf_schema.tablelocks",
];

/// How long a program may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Has all of them look at the server.
pub(super) fn run(server: &Server, http_port: u16) -> Outcome {
    exporter(server.port, http_port)?;
    slow_log(server)?;
    tuner(server.port)?;
    tops(server.port)
}

/// mysqltuner reads all that it asks for, and divides by nothing that is 0.
fn tuner(port: u16) -> Outcome {
    let port = port.to_string();
    let address = ["--host", "127.0.0.1", "--port", &port, "--user", "root", "--nocolor", "--skippassword"];
    let printed = output(command("mysqltuner", &address).args(["--forcemem", "4096", "--forceswap", "0"]))?;
    for wrong in ["Illegal division", "uninitialized", "ERROR 1"] {
        expect(!printed.contains(wrong), &format!("mysqltuner says nothing of {wrong}"), &printed)?;
    }
    // MySQL 8.4 has no such statement any more.
    let gone = "Failed to execute: SHOW SLAVE STATUS";
    let mut failed = printed.lines().filter(|line| line.contains("Failed to execute"));
    expect(failed.all(|line| line.contains(gone)), "mysqltuner executes all that it asks", &printed)?;
    for right in ["InnoDB buffer pool / data size", "Table cache hit rate", "Recommendations"] {
        expect(printed.contains(right), &format!("mysqltuner tells of {right}"), &printed)?;
    }
    println!("mysqltuner: ok");
    Ok(())
}

/// The pages of innotop that are read, statements and open tables, and a column of each. Those about InnoDB
/// show nothing of MySQL 9.7 either: innotop does not find its status there.
const PAGES: [(&str, &str); 2] = [("Q", "mysql_thread_id"), ("O", "num_times_open")];

/// innotop and mytop show their pages once.
fn tops(port: u16) -> Outcome {
    let port = port.to_string();
    let address = ["-h", "127.0.0.1", "-u", "root", "-P", &port];
    for (page, column) in PAGES {
        let mut program = command("innotop", &address);
        program.args(["--nonint", "--count", "1", "--delay", "1", "--skipcentral", "-m", page]);
        let printed = output(&mut program)?;
        expect(printed.contains(column), &format!("innotop, page {page}"), &printed)?;
    }
    let printed = output(command("mytop", &address).args(["-b", "--nocolor"]))?;
    expect(printed.contains("Queries: ") && printed.contains("Query"), "mytop", &printed)?;
    println!("innotop and mytop: ok");
    Ok(())
}

/// What an exporter reads of this server is what the server tells by itself, name for name.
fn exporter(port: u16, http_port: u16) -> Outcome {
    let own_port = server::free_port()?;
    let mut exporter = Running(
        Command::new("prometheus-mysqld-exporter")
            .env("DATA_SOURCE_NAME", format!("root@(127.0.0.1:{port})/"))
            .arg(format!("--web.listen-address=127.0.0.1:{own_port}"))
            .arg("--no-collect.slave_status")
            .args(COLLECTORS.iter().map(|name| format!("--collect.{name}")))
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("prometheus-mysqld-exporter: {error}"))?,
    );
    let read = until_answered(own_port, "/metrics")?;
    let printed = exporter.end();
    expect(!printed.contains("level=error"), "mysqld_exporter reads everything", &printed)?;
    let (read, told) = (families(&read), families(&get(http_port, "/metrics")?));
    expect(read.len() > 900, "mysqld_exporter finds what there is", &format!("{} families", read.len()))?;
    let others: Vec<&String> = told.difference(&read).collect();
    expect(others.is_empty(), "/metrics has the names of mysqld_exporter", &format!("{others:?}"))?;
    println!("mysqld_exporter: {} families, {} of them at /metrics: ok", read.len(), told.len());
    Ok(())
}

/// pt-query-digest finds the statements of the slow log, and how often there were.
fn slow_log(server: &Server) -> Outcome {
    let port = format!("-P{}", server.port);
    let ask = |statements: &str| {
        let mut client = command("mariadb", &["--no-defaults", "-uroot", "-h127.0.0.1", "-N", &port]);
        output(client.args(["-e", statements]))
    };
    ask("SET GLOBAL long_query_time = 0; SET GLOBAL slow_query_log = ON")?;
    ask(&"SELECT 'watched' FROM mysql.user WHERE user = 'absent';".repeat(7))?;
    ask("SET GLOBAL slow_query_log = OFF; SET GLOBAL long_query_time = 10")?;
    let file = ask("SELECT @@slow_query_log_file")?;
    let path = server.data().join(file.trim());
    let printed = output(command("pt-query-digest", &["--limit=100%"]).arg(path))?;
    let found = printed.lines().any(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.first() == Some(&"#") && words.contains(&"7") && line.ends_with("SELECT mysql.user")
    });
    expect(found, "pt-query-digest counts seven statements", &printed)?;
    println!("pt-query-digest: ok");
    Ok(())
}

/// A program that ends with its owner.
struct Running(Child);

impl Running {
    /// Ends it; what it has said.
    fn end(&mut self) -> String {
        // it may have ended by itself
        let _ = self.0.kill();
        let mut printed = String::new();
        if let Some(said) = &mut self.0.stderr {
            // what cannot be read is not there
            let _ = said.read_to_string(&mut printed);
        }
        let _ = self.0.wait();
        printed
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.end();
    }
}

fn until_answered(port: u16, path: &str) -> Result<String, String> {
    let begun = Instant::now();
    loop {
        match get(port, path) {
            Ok(answer) => return Ok(answer),
            Err(error) if begun.elapsed() > PATIENCE => return Err(error),
            Err(_) => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// What a server of HTTP on this machine answers.
fn get(port: u16, path: &str) -> Result<String, String> {
    let problem = |error: std::io::Error| format!("http://127.0.0.1:{port}{path}: {error}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(problem)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(problem)?;
    let request = format!("GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n");
    stream.write_all(request.as_bytes()).map_err(problem)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(problem)?;
    match answer.split_once("\r\n\r\n") {
        Some((head, body)) if head.contains(" 200 ") => Ok(body.to_owned()),
        _ => Err(format!("http://127.0.0.1:{port}{path}: {answer}")),
    }
}

/// The names of the server's families in Prometheus' text.
fn families(text: &str) -> BTreeSet<String> {
    let names = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    names.filter(|name| name.starts_with("mysql_")).map(str::to_owned).collect()
}
