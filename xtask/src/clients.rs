//! The client matrix: real clients, unmodified, against a fresh server.

mod watchers;

use crate::process::{self, command, output};
use crate::server::{self, Server};
use crate::{Outcome, install};
use std::process::Command;

/// sysbench's own load scripts, with prepared statements and without.
const SYSBENCH: &[&str] = &[
    "oltp_delete",
    "oltp_insert",
    "oltp_point_select",
    "oltp_read_only",
    "oltp_read_write",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_write_only",
    "select_random_points",
    "select_random_ranges",
    "bulk_insert",
];

/// mysqlslap's generated loads.
const SLAP: &[&str] = &["mixed", "write", "read", "key", "update"];

/// Runs the matrix.
pub fn run() -> Outcome {
    install::packages()?;
    let http_port = server::free_port()?;
    let mut server =
        Server::start("clients", &["--max-connections=1000", &format!("--http-port={http_port}")])?;
    command_lines(&server)?;
    dumps(server.port)?;
    connectors(server.port)?;
    watchers::run(&server, http_port)?;
    sysbench_scripts(server.port)?;
    slap(server.port)?;
    output(&mut admin(server.port, &["shutdown"]))?;
    server.wait()
}

fn command_lines(server: &Server) -> Outcome {
    let port = format!("-P{}", server.port);
    let socket = format!("-S{}", server.socket().display());
    for program in ["mariadb", "mysql"] {
        for place in [["-h127.0.0.1", port.as_str()], ["-hlocalhost", socket.as_str()]] {
            let mut client = command(program, &["--no-defaults", "-uroot", "-N", "-e"]);
            client.arg("SELECT 6 * 7; SHOW DATABASES; SELECT CURRENT_USER()").args(place);
            let printed = output(&mut client)?;
            expect(printed.starts_with("42\n") && printed.contains("information_schema"), program, &printed)?;
        }
    }
    let mut client =
        command("mariadb", &["--no-defaults", "-uroot", "-pwrong", "-h127.0.0.1", &port, "-e", "SELECT 1"]);
    let refused = output(&mut client).err().unwrap_or_default();
    expect(refused.contains("ERROR 1045 (28000)"), "a wrong password is refused", &refused)?;
    let printed = output(&mut admin(server.port, &["ping", "status", "processlist"]))?;
    expect(printed.contains("mysqld is alive") && printed.contains("Uptime"), "mysqladmin", &printed)?;
    let printed = output(&mut admin(server.port, &["extended-status"]))?;
    expect(printed.contains("Innodb_os_log_fsyncs"), "mysqladmin extended-status", &printed)?;
    let refused = output(&mut admin(server.port, &["kill", "999999"])).err().unwrap_or_default();
    expect(refused.contains("Unknown thread id: 999999"), "mysqladmin kill", &refused)?;
    let question =
        "SHOW SESSION STATUS WHERE Variable_name IN ('Compression', 'Ssl_version') AND Value > 'OFF'";
    for (options, expected) in
        [(&["--compress", "--skip-ssl"], "Compression\tON\n"), (&["--ssl", "-N"], "TLSv1.")]
    {
        let mut client =
            command("mariadb", &["--no-defaults", "-uroot", "-h127.0.0.1", &port, "-N", "-e", question]);
        let printed = output(client.args(options))?;
        expect(printed.contains(expected), expected, &printed)?;
    }
    println!("command lines: ok");
    Ok(())
}

/// What is dumped and loaded again dumps the same, byte for byte, with every type of column in it.
fn dumps(port: u16) -> Outcome {
    let address = format!("-P{port}");
    let client = |script: &str| {
        let line = format!(
            "mariadb --no-defaults -uroot -h127.0.0.1 {address} --default-character-set=utf8mb4 {script}"
        );
        output(&mut command("sh", &["-c", &line]))
    };
    let types = install::client("dump").join("types.sql");
    client(&format!("< '{}'", types.display()))?;
    for options in [
        &["--all-databases"][..],
        &["--all-databases", "--single-transaction", "--quick", "--routines", "--triggers", "--events"],
        &[
            "--all-databases",
            "--lock-all-tables",
            "--hex-blob",
            "--complete-insert",
            "--skip-extended-insert",
        ],
    ] {
        let dump = || {
            let mut dump =
                command("mariadb-dump", &["--no-defaults", "-uroot", "-h127.0.0.1", "--skip-dump-date"]);
            output(dump.arg(&address).args(options))
        };
        let file = crate::process::target().join("server/clients/dump.sql");
        let reload = |dumped: &str| {
            std::fs::write(&file, dumped).map_err(|error| error.to_string())?;
            client("-e 'DROP DATABASE dump_me; DROP DATABASE `second-db`'")?;
            client(&format!("< '{}'", file.display()))
        };
        // A column that has its collation from the table is written with COLLATE; a column that is made so
        // shows its character set, too, from then on, as in MySQL. What has been loaded once stays as it is.
        reload(&dump()?)?;
        let first = dump()?;
        reload(&first)?;
        expect(first == dump()?, &format!("dump and reload with {options:?}"), &first)?;
    }
    client("-e 'DROP DATABASE dump_me; DROP DATABASE `second-db`'")?;
    println!("mariadb-dump: dumped, loaded and dumped again: ok");
    Ok(())
}

fn connectors(port: u16) -> Outcome {
    let port = port.to_string();
    let address = ["127.0.0.1", port.as_str()];
    let python = install::python()?;
    for program in ["crud.py", "orm.py", "framework.py"] {
        process::run(Command::new(&python).arg(install::client("python").join(program)).args(address))?;
    }
    process::run(Command::new(install::go()?).args(address))?;
    process::run(Command::new("node").arg("crud.js").args(address).current_dir(install::node()?))?;
    process::run(Command::new("java").args(["-cp", &install::java()?, "Crud"]).args(address))
}

fn sysbench_scripts(port: u16) -> Outcome {
    let mut client = command("mariadb", &["--no-defaults", "-uroot", "-h127.0.0.1"]);
    output(client.arg(format!("-P{port}")).args(["-e", "CREATE DATABASE IF NOT EXISTS sbtest"]))?;
    for script in SYSBENCH {
        // these two know one table only
        let tables = if script.starts_with("select_random") { "--tables=1" } else { "--tables=4" };
        for mode in ["auto", "disable"] {
            let mode = format!("--db-ps-mode={mode}");
            let step = |rest: &[&str]| {
                let arguments = [&[mode.as_str(), tables, "--threads=4"], rest].concat();
                output(&mut sysbench(port, script, &arguments))
            };
            step(&["prepare"])?;
            let printed = step(&["--time=1", "run"])?;
            expect(!printed.contains("FATAL"), script, &printed)?;
            step(&["cleanup"])?;
        }
    }
    println!("sysbench: {} scripts, prepared and text: ok", SYSBENCH.len());
    Ok(())
}

fn slap(port: u16) -> Outcome {
    for (load, clients, each) in SLAP.iter().map(|load| (*load, "20", "20")).chain([("mixed", "600", "5")]) {
        let mut slap =
            command("mysqlslap", &["--no-defaults", "-uroot", "-h127.0.0.1", "--auto-generate-sql"]);
        // TLS as the client likes it with the first load, none with the others
        let tls = if load == "mixed" && clients == "20" { "--compress" } else { "--skip-ssl" };
        slap.arg(tls);
        slap.arg(format!("-P{port}")).args(["--auto-generate-sql-guid-primary", "--engine=innodb"]);
        slap.args(["--number-int-cols=20", "--number-char-cols=20", "--auto-generate-sql-write-number=200"]);
        slap.arg(format!("--auto-generate-sql-load-type={load}"));
        slap.arg(format!("--concurrency={clients}"))
            .arg(format!("--auto-generate-sql-execute-number={each}"));
        let printed = output(&mut slap)?;
        expect(printed.contains("Average number of seconds"), load, &printed)?;
    }
    println!("mysqlslap: {} loads, up to 600 clients: ok", SLAP.len());
    Ok(())
}

/// A sysbench command against the server at `port`; two small tables.
pub fn sysbench(port: u16, script: &str, arguments: &[&str]) -> Command {
    let mut sysbench = command("sysbench", &[script, "--db-driver=mysql", "--mysql-host=127.0.0.1"]);
    sysbench.arg(format!("--mysql-port={port}"));
    sysbench.args(["--mysql-user=root", "--mysql-db=sbtest", "--tables=4", "--table-size=2000"]);
    sysbench.args(arguments);
    sysbench
}

fn admin(port: u16, arguments: &[&str]) -> Command {
    let mut admin = command("mariadb-admin", &["--no-defaults", "-uroot", "-h127.0.0.1"]);
    admin.arg(format!("-P{port}")).args(arguments);
    admin
}

fn expect(ok: bool, what: &str, printed: &str) -> Outcome {
    if ok { Ok(()) } else { Err(format!("{what}: unexpected output:\n{printed}")) }
}
