//! The page of `--http-port` in a real browser: headless Chromium, driven by `tests/dashboard/browse.py`,
//! which has the server killed and started again.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::process::{root, target};
use crate::server::{self, Server};
use crate::{Outcome, install};

/// Looks at the page of a fresh server.
pub fn run() -> Outcome {
    install::packages()?;
    let http_port = server::free_port()?.to_string();
    let mut server = Server::start("dashboard", &[&format!("--http-port={http_port}")])?;
    let problem = |error: std::io::Error| format!("browse.py: {error}");
    let mut script = Command::new("python3")
        .arg(root().join("tests/dashboard/browse.py"))
        .args([&http_port, &server.port.to_string()])
        .arg(target().join("server/dashboard/pictures"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(problem)?;
    let (Some(mut orders), Some(told)) = (script.stdin.take(), script.stdout.take()) else {
        return Err("browse.py has no pipes".into());
    };
    for line in BufReader::new(told).lines() {
        match &*line.map_err(problem)? {
            "kill" => server.kill(),
            "restart" => server.restart()?,
            told => {
                println!("{told}");
                continue;
            }
        }
        writeln!(orders, "done").map_err(problem)?;
    }
    let ended = script.wait().map_err(problem)?;
    if ended.success() { Ok(()) } else { Err(format!("browse.py: {ended}")) }
}
