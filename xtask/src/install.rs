//! What the tests need: Debian packages, and language clients pinned by files under `tests/clients`.

use crate::Outcome;
use crate::process::{self, command, exists, output, root, target};
use std::path::{Path, PathBuf};

/// Programs by the Debian package that brings them.
const PACKAGES: &[(&str, &str)] = &[
    ("mariadb", "mariadb-client"),
    ("mysqlslap", "mariadb-client"),
    ("sysbench", "sysbench"),
    ("python3", "python3"),
    ("go", "golang-go"),
    ("node", "nodejs"),
    ("npm", "npm"),
    ("javac", "default-jdk-headless"),
    ("mvn", "maven"),
    ("prometheus-mysqld-exporter", "prometheus-mysqld-exporter"),
    ("pt-query-digest", "percona-toolkit"),
    ("mysqltuner", "mysqltuner"),
    ("mytop", "mariadb-client"),
    ("innotop", "mariadb-client"),
    ("chromium", "chromium"),
    ("chromedriver", "chromium-driver"),
];

/// Installs the Debian packages whose programs are missing. Needs root where something is.
pub fn packages() -> Outcome {
    let mut missing: Vec<&str> =
        PACKAGES.iter().filter(|(program, _)| !exists(program)).map(|(_, package)| *package).collect();
    missing.dedup();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(" "));
    output(&mut command("apt-get", &["update", "-q"]))?;
    let mut install = command("apt-get", &["install", "-y", "-q", "--no-install-recommends"]);
    output(install.args(missing).env("DEBIAN_FRONTEND", "noninteractive")).map(|_| ())
}

/// The folder of a language client's sources.
pub fn client(language: &str) -> PathBuf {
    root().join("tests/clients").join(language)
}

fn built(language: &str) -> Result<PathBuf, String> {
    let folder = target().join("clients").join(language);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    Ok(folder)
}

fn text(path: &Path) -> &str {
    path.to_str().expect("the checkout's path is UTF-8")
}

/// A Python that has PyMySQL, SQLAlchemy and Django.
pub fn python() -> Result<PathBuf, String> {
    let folder = built("python")?;
    let python = folder.join("bin/python3");
    let requirements = client("python").join("requirements.txt");
    let wanted = std::fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let installed = folder.join("installed");
    if std::fs::read_to_string(&installed).ok().as_ref() != Some(&wanted) {
        if output(&mut command("python3", &["-m", "venv", text(&folder)])).is_err() {
            output(&mut command("apt-get", &["install", "-y", "-q", "python3-venv"]))?;
            output(&mut command("python3", &["-m", "venv", text(&folder)]))?;
        }
        output(&mut command(text(&python), &["-m", "pip", "install", "-q", "-r", text(&requirements)]))?;
        std::fs::write(&installed, &wanted).map_err(|error| error.to_string())?;
    }
    Ok(python)
}

/// The Go client's program.
pub fn go() -> Result<PathBuf, String> {
    let program = built("go")?.join("crud");
    output(command("go", &["build", "-o", text(&program), "."]).current_dir(client("go")))?;
    Ok(program)
}

/// A folder with the Node client and its packages.
pub fn node() -> Result<PathBuf, String> {
    let folder = built("node")?;
    for file in ["package.json", "crud.js"] {
        std::fs::copy(client("node").join(file), folder.join(file)).map_err(|error| error.to_string())?;
    }
    if !folder.join("node_modules").exists() {
        let install = ["install", "--no-package-lock", "--no-audit", "--no-fund", "--silent"];
        process::run(command("npm", &install).current_dir(&folder))?;
    }
    Ok(folder)
}

/// The class path of the Java client.
pub fn java() -> Result<String, String> {
    let folder = built("java")?;
    let jars = folder.join("classpath");
    if !jars.exists() {
        let file = format!("-Dmdep.outputFile={}", text(&jars));
        output(command("mvn", &["-q", "dependency:build-classpath", &file]).current_dir(client("java")))?;
    }
    let source = client("java").join("src/main/java/Crud.java");
    output(&mut command("javac", &["-d", text(&folder), text(&source)]))?;
    let jars = std::fs::read_to_string(jars).map_err(|error| error.to_string())?;
    Ok(format!("{}:{}", text(&folder), jars.trim()))
}
