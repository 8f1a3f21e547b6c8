//! Golden scripts: SQL and what MySQL answers to it.
//!
//! `tests/golden/NAME.sql` is sent by the mariadb command line to a fresh server; what it prints - results, counts,
//! warnings, error codes and texts - must equal `NAME.out`. The expectations were recorded from MySQL 9.7 and read
//! by hand (MD5 and SHA1, which that version no longer has built in, were computed). Where Palisade differs on purpose
//! or not yet agrees, they hold its own answer: 3986 and some warnings of what is deprecated, which it does not send
//! (docs/sql.md), the name of the table in the 1452 of an ALTER TABLE, the text of 1264 for CAST, which names the
//! expression in one way only, the column that 3156 names where JSON is stored, and how often it warns of a number that
//! is compared with dates and is none; that expressions which differ in a scale are not the same (1055).
//! `@FILES@` stands for `tests/golden/files`, which the server may read.
//! `UPDATE_EXPECT=1` writes what Palisade answers, for reading the difference with git.

use crate::process::{command, output, root};
use crate::server::Server;
use crate::{Outcome, install};
use std::path::Path;

/// Runs every script.
pub fn run() -> Outcome {
    install::packages()?;
    let folder = root().join("tests/golden");
    let files = folder.join("files").display().to_string();
    let server = Server::start("golden", &[&format!("--secure-file-priv={files}")])?;
    let mut scripts: Vec<_> = std::fs::read_dir(&folder)
        .map_err(|error| format!("{}: {error}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sql"))
        .collect();
    scripts.sort();
    let mut failed = 0;
    for script in &scripts {
        let printed = answer(&server, script, &files)?;
        let expected = script.with_extension("out");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &printed).map_err(|error| error.to_string())?;
        }
        let actual = crate::process::target().join("server/golden/actual");
        std::fs::write(&actual, &printed).map_err(|error| error.to_string())?;
        let [expected, actual] = [&expected, &actual].map(|path| path.to_str().expect("UTF-8"));
        if let Err(difference) = output(&mut command("diff", &["-U8", expected, actual])) {
            println!("{difference}");
            failed += 1;
        }
    }
    println!("golden scripts: {} passed, {failed} failed", scripts.len() - failed);
    if failed == 0 { Ok(()) } else { Err(format!("{failed} scripts answered differently")) }
}

fn answer(server: &Server, script: &Path, files: &str) -> Result<String, String> {
    // unbuffered, so that errors and results stay in the order in which they happened
    let line = format!(
        "sed 's|@FILES@|{files}|g' '{}' | stdbuf -o0 mariadb --no-defaults -uroot -h127.0.0.1 -P{} --default-character-set=utf8mb4 \
         --batch --force -vv --unbuffered 2>&1; true",
        script.display(),
        server.port
    );
    Ok(output(&mut command("sh", &["-c", &line]))?.replace(files, "@FILES@"))
}
