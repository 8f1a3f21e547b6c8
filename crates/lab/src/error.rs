//! What can go wrong in the lab, in words for the person at the terminal.
//!
//! A server that does not have what an experiment asks for is not an error: it is an [`crate::results::Outcome`].

use std::path::{Path, PathBuf};

use crate::spec::Address;

/// Result of everything in the lab.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure, said in full.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A load tool that this machine lacks.
    #[error("{program} is not installed (looked in PATH); install it with: {install}")]
    MissingTool {
        /// The program.
        program: &'static str,
        /// The command that installs it.
        install: &'static str,
    },
    /// The program of a server that is to be started.
    #[error(
        "there is no server program at {}; build it with: cargo build --release -p palisade-server, or say where it is \
         with --palisade-binary", .path.display()
    )]
    MissingServer {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A server that does not answer.
    #[error(
        "{server}: cannot connect to {address}: {reason}\n{server} must be running and let this account in: \
         mariadb -h{} -P{} -u{}", .address.host, .address.port, .address.user
    )]
    Unreachable {
        /// Its name.
        server: String,
        /// Where it was looked for.
        address: Box<Address>,
        /// What the client library says.
        reason: String,
    },
    /// A statement that got no answer: the server is gone, or takes too long.
    #[error("{server} does not answer: {reason}\n  in: {statement}")]
    Lost {
        /// The server's name.
        server: String,
        /// What was sent.
        statement: String,
        /// What the client library says.
        reason: String,
    },
    /// A statement that failed.
    #[error("{server}: {reason}\n  in: {statement}")]
    Statement {
        /// The server's name.
        server: String,
        /// What was sent.
        statement: String,
        /// The server's answer.
        reason: String,
    },
    /// A program that failed or did not end in time.
    #[error("{command}\n  {problem}\n{printed}")]
    Tool {
        /// The command line.
        command: String,
        /// Its exit status, or that it was stopped.
        problem: String,
        /// The end of what it printed.
        printed: String,
    },
    /// Output that lacks what should be there.
    #[error("the output of {tool} has no {what}:\n{printed}")]
    Output {
        /// The program.
        tool: &'static str,
        /// What was looked for.
        what: String,
        /// The end of what it printed.
        printed: String,
    },
    /// A server program that ended instead of becoming ready, or did neither.
    #[error("{server}: {problem}\n{printed}")]
    NotReady {
        /// The server's name.
        server: String,
        /// What happened.
        problem: String,
        /// The end of what it printed.
        printed: String,
    },
    /// A server, or a run on it, that is not as it must be.
    #[error("{server}: {found}")]
    Check {
        /// The server's name.
        server: String,
        /// What is wrong.
        found: String,
    },
    /// A file.
    #[error("{}: {reason}", .path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// What the command line asks for cannot be.
    #[error("{0}")]
    Usage(String),
    /// SIGINT or SIGTERM.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An operation on `path` failed.
    pub fn file(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::File { path: path.to_path_buf(), reason: reason.to_string() }
    }

    /// Something about a server is not as it must be.
    pub fn check(server: &str, found: impl Into<String>) -> Error {
        Error::Check { server: server.to_owned(), found: found.into() }
    }
}

/// The end of a program's output: what a person needs to see of it.
pub fn tail(printed: &str) -> String {
    const LINES: usize = 15;
    let lines: Vec<&str> = printed.trim_end().lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}
