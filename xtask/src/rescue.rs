//! What docs/recovery.md says step by step, done with these commands: a data directory is damaged, started
//! with the lowest level of `innodb_force_recovery` that serves, dumped with `mariadb-dump`, and the dump is
//! loaded into a new server.
//!
//! | damaged | lowest level | what is in the dump |
//! |---|---|---|
//! | a page of the dictionary | 1 | all |
//! | a leaf of a table, and one of its secondary index | 1 | all rows but those on the leaf |
//! | a page of `mysql.user` | 0, `--skip-grant-tables` | all but the accounts on it |
//! | the directory of undo | 5 | all |
//! | the map of a table, which is gone | 1 | all |
//! | the redo log, after a crash | 6 | all but what was committed behind the damage |
//!
//! Below the level the server refuses to start, and says which level would do. At each level from 1 on
//! changes are refused, from 4 on DDL is too.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::Outcome;
use crate::client::{Answer, Client, execute, expect};
use crate::process::{command, output};
use crate::server::Server;

const PAGE: usize = 16384;
const ROWS: u32 = 3000;
/// What a change is answered with a level that is not 0: `ER_INNODB_FORCED_RECOVERY`.
const FORCED_RECOVERY: u16 = 1881;
const ACCOUNTS: u32 = 300;

/// A server whose data directory is damaged and put back.
struct Patient {
    server: Server,
    /// The directory as it was.
    whole: PathBuf,
    /// The number of the file of a table, by its name in `INNODB_TABLES`.
    orders: u32,
    items: u32,
    user: u32,
}

/// Runs all cases.
pub fn run() -> Outcome {
    let mut patient = prepare()?;
    dictionary(&mut patient).map_err(|message| format!("a page of the dictionary: {message}"))?;
    leaves(&mut patient).map_err(|message| format!("leaves of a table: {message}"))?;
    accounts(&mut patient).map_err(|message| format!("a page of mysql.user: {message}"))?;
    map(&mut patient).map_err(|message| format!("the map of a table: {message}"))?;
    undo(&mut patient).map_err(|message| format!("the directory of undo: {message}"))?;
    redo_log(&mut patient).map_err(|message| format!("the redo log: {message}"))?;
    println!("6 damaged data directories: dumped and restored");
    Ok(())
}

fn prepare() -> Result<Patient, String> {
    let mut server = Server::start("rescue", &["--palisade-page-sink=in-place"])?;
    let mut client = Client::connect(server.port).map_err(|error| error.to_string())?;
    for statement in [
        "CREATE DATABASE shop",
        "CREATE TABLE shop.orders (id INT NOT NULL PRIMARY KEY, customer INT NOT NULL, note VARCHAR(200) NOT NULL, \
         KEY customer (customer))",
        "CREATE TABLE shop.items (id INT NOT NULL PRIMARY KEY, name VARCHAR(50) NOT NULL, text LONGTEXT) \
         PAGE_SINK='out-of-place'",
        "SET cte_max_recursion_depth = 100000",
        &format!(
            "INSERT INTO shop.orders WITH RECURSIVE s AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM s WHERE i < {ROWS}) \
             SELECT i, i * 7 % 1000, REPEAT('n', 100) FROM s"
        ),
        "INSERT INTO shop.items VALUES (1, 'one', REPEAT('long', 20000)), (2, 'two', NULL)",
    ] {
        execute(&mut client, statement)?;
    }
    for number in 0..ACCOUNTS {
        execute(&mut client, &format!("CREATE USER u{number:03}@localhost"))?;
    }
    let mut space = |name: &str| -> Result<u32, String> {
        let query = format!("SELECT SPACE FROM information_schema.INNODB_TABLES WHERE NAME = '{name}'");
        let number = client.value(&query).map_err(|error| format!("{query}: {error}"))?;
        number.parse().map_err(|_| format!("{query}: {number}"))
    };
    let [orders, items, user] = [space("shop/orders")?, space("shop/items")?, space("mysql/user")?];
    stop(&mut server)?;
    let whole = server.data().with_file_name("whole");
    output(&mut command("cp", &["-a", &text(&server.data()), &text(&whole)]))?;
    Ok(Patient { server, whole, orders, items, user })
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn stop(server: &mut Server) -> Outcome {
    let mut client = Client::connect(server.port).map_err(|error| error.to_string())?;
    execute(&mut client, "SHUTDOWN")?;
    server.wait()
}

impl Patient {
    /// The directory is as it was.
    fn put_back(&mut self) -> Result<PathBuf, String> {
        self.server.kill();
        let data = self.server.data();
        std::fs::remove_dir_all(&data).map_err(|error| error.to_string())?;
        output(&mut command("cp", &["-a", &text(&self.whole), &text(&data)]))?;
        Ok(data)
    }

    /// The directory is as it was, with a flipped bit on some pages of a file.
    fn damage(&mut self, space: u32, choose: impl Fn(&[u8]) -> Vec<usize>) -> Outcome {
        let data = self.put_back()?;
        let path = data.join(format!("spaces/{space:06}.pal"));
        let mut bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let pages = choose(&bytes);
        if pages.is_empty() {
            return Err(format!("{} has no page to damage", path.display()));
        }
        for page in pages {
            match bytes.get_mut(page * PAGE + 200) {
                Some(byte) => *byte ^= 1,
                None => return Err(format!("{} has no page {page}", path.display())),
            }
        }
        std::fs::write(&path, bytes).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Starts it with a level; with those below that are tried it must refuse.
    fn start(&mut self, level: u8, refused: &[u8]) -> Result<Client, String> {
        for lower in refused {
            self.server.set_options(&[&format!("--innodb-force-recovery={lower}")]);
            match self.server.restart() {
                Ok(()) => return Err(format!("level {lower} serves, which {level} should be needed for")),
                Err(error) if error.contains(&format!("innodb_force_recovery={level}")) => {}
                Err(error) => return Err(format!("level {lower} does not name level {level}: {error}")),
            }
        }
        self.server.set_options(&[&format!("--innodb-force-recovery={level}")]);
        self.server.restart()?;
        let mut client = Client::connect(self.server.port).map_err(|error| error.to_string())?;
        is_refused(&mut client, "INSERT INTO shop.items VALUES (3, 'three', NULL)")?;
        is_refused(&mut client, "DELETE FROM shop.items")?;
        if level >= 4 {
            is_refused(&mut client, "CREATE TABLE shop.new (id INT)")?;
            is_refused(&mut client, "DROP TABLE shop.items")?;
        }
        Ok(client)
    }

    /// As docs/recovery.md says; gives the file.
    fn dump(&self, what: &[&str]) -> Result<PathBuf, String> {
        let path = self.server.data().with_file_name("dump.sql");
        let socket = text(&self.server.socket());
        let mut arguments = vec!["-S", &socket, "-u", "root", "--single-transaction", "--force"];
        arguments.extend(what);
        let file = File::create(&path).map_err(|error| error.to_string())?;
        let mut program = command("mariadb-dump", &[&["--no-defaults"], &arguments[..]].concat());
        let status = program.stdin(Stdio::null()).stdout(file).status();
        match status.map_err(|error| format!("mariadb-dump: {error}"))?.success() {
            true => Ok(path),
            false => Err(format!("mariadb-dump {}: failed", arguments.join(" "))),
        }
    }
}

fn is_refused(client: &mut Client, statement: &str) -> Outcome {
    match client.query(statement).map_err(|error| format!("{statement}: {error}"))? {
        Answer::Failed(FORCED_RECOVERY, ..) => Ok(()),
        answer => Err(format!("{statement}: {answer}")),
    }
}

/// A new server with what a dump has.
fn restored(dump: &Path, schema: &[&str]) -> Result<(Server, Client), String> {
    let server = Server::start("restored", &[])?;
    let mut client = Client::connect(server.port).map_err(|error| error.to_string())?;
    if let [name] = schema {
        execute(&mut client, &format!("CREATE DATABASE {name}"))?;
    }
    let file = File::open(dump).map_err(|error| error.to_string())?;
    let socket = text(&server.socket());
    let arguments = [&["--no-defaults", "-S", &socket, "-u", "root"], schema].concat();
    let status = command("mariadb", &arguments).stdin(file).status();
    if !status.map_err(|error| format!("mariadb: {error}"))?.success() {
        return Err("the dump cannot be loaded".to_owned());
    }
    Ok((server, client))
}

/// All rows are there, by each index.
fn is_all(client: &mut Client) -> Outcome {
    for index in ["PRIMARY", "customer"] {
        let query = format!(
            "SELECT CONCAT_WS(' ', COUNT(*), SUM(id), SUM(customer), SUM(LENGTH(note))) FROM shop.orders FORCE INDEX ({index})"
        );
        let sum = u64::from(ROWS) * u64::from(ROWS + 1) / 2;
        let customers: u64 = (1..=u64::from(ROWS)).map(|id| id * 7 % 1000).sum();
        expect(client, &query, &format!("{ROWS} {sum} {customers} {}", ROWS * 100))?;
    }
    expect(client, "SELECT CONCAT_WS(' ', COUNT(*), SUM(LENGTH(text))) FROM shop.items", "2 80000")
}

fn dictionary(patient: &mut Patient) -> Outcome {
    patient.damage(0, |_| vec![2])?;
    let mut client = patient.start(1, &[0])?;
    is_all(&mut client)?;
    let dump = patient.dump(&["--all-databases"])?;
    let (_server, mut client) = restored(&dump, &[])?;
    is_all(&mut client)?;
    expect(&mut client, "SELECT COUNT(*) FROM mysql.user WHERE User LIKE 'u___'", &ACCOUNTS.to_string())?;
    // The dictionary was made again: the next start needs no force.
    stop(&mut patient.server)?;
    patient.server.set_options(&[]);
    patient.server.restart()?;
    let mut client = Client::connect(patient.server.port).map_err(|error| error.to_string())?;
    execute(&mut client, "INSERT INTO shop.items VALUES (3, 'three', NULL)")
}

/// Leaves of the index with the lowest number, or with the next one.
fn leaves_of(bytes: &[u8], index: usize) -> Vec<usize> {
    let number =
        |page: &[u8]| page.get(32..40).map(|id| u64::from_le_bytes(id.try_into().unwrap_or_default()));
    let is_leaf = |page: &[u8]| page.get(12..14) == Some(&[3, 0]) && page.get(40..42) == Some(&[0, 0]);
    let pages: Vec<(usize, u64)> = bytes
        .chunks_exact(PAGE)
        .enumerate()
        .filter(|(_, page)| is_leaf(page))
        .filter_map(|(at, page)| Some((at, number(page)?)))
        .collect();
    let mut ids: Vec<u64> = pages.iter().map(|(_, id)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    let Some(id) = ids.get(index) else { return Vec::new() };
    pages.iter().filter(|(_, other)| other == id).map(|(at, _)| *at).collect()
}

fn leaves(patient: &mut Patient) -> Outcome {
    let middle = |pages: Vec<usize>| pages.get(pages.len() / 2).copied();
    patient.damage(patient.orders, |bytes| {
        [0, 1].into_iter().filter_map(|index| middle(leaves_of(bytes, index))).collect()
    })?;
    let mut client = patient.start(1, &[])?;
    let count = |client: &mut Client, from: &str| -> Result<u32, String> {
        let query = format!("SELECT COUNT(*) FROM {from}");
        let number = client.value(&query).map_err(|error| format!("{query}: {error}"))?;
        number.parse().map_err(|_| format!("{query}: {number}"))
    };
    let readable = count(&mut client, "shop.orders FORCE INDEX (PRIMARY)")?;
    if !(ROWS / 2..ROWS).contains(&readable) {
        return Err(format!("{readable} of {ROWS} rows can be read"));
    }
    let dump = patient.dump(&["shop", "orders"])?;
    if !patient.server.log().contains("are passed over") {
        return Err("the error log does not say that rows are passed over".to_owned());
    }
    let (_server, mut client) = restored(&dump, &["shop"])?;
    for index in ["PRIMARY", "customer"] {
        let restored = count(&mut client, &format!("shop.orders FORCE INDEX ({index})"))?;
        if restored != readable {
            return Err(format!("{restored} rows were restored of {readable} ({index})"));
        }
    }
    // The damaged table alone is replaced by its dump.
    stop(&mut patient.server)?;
    patient.server.set_options(&[]);
    patient.server.restart()?;
    let socket = text(&patient.server.socket());
    let file = File::open(&dump).map_err(|error| error.to_string())?;
    let arguments = ["--no-defaults", "-S", &socket, "-u", "root", "shop"];
    let status = command("mariadb", &arguments).stdin(file).status().map_err(|error| error.to_string())?;
    let mut client = Client::connect(patient.server.port).map_err(|error| error.to_string())?;
    let rows = count(&mut client, "shop.orders FORCE INDEX (customer)")?;
    match status.success() && rows == readable {
        true => expect(&mut client, "SELECT COUNT(*) FROM shop.items", "2"),
        false => Err(format!("{rows} rows were loaded of {readable}")),
    }
}

fn accounts(patient: &mut Patient) -> Outcome {
    patient.damage(patient.user, |bytes| leaves_of(bytes, 0).last().copied().into_iter().collect())?;
    patient.server.set_options(&[]);
    patient.server.restart()?;
    patient.server.kill();
    patient.server.set_options(&["--skip-grant-tables", "--innodb-force-recovery=1"]);
    patient.server.restart()?;
    let dump = patient.dump(&["--databases", "shop"])?;
    let (_server, mut client) = restored(&dump, &[])?;
    is_all(&mut client)
}

/// Without force the table cannot be used; a start with it makes the map again, for good.
fn map(patient: &mut Patient) -> Outcome {
    let path = patient.put_back()?.join(format!("spaces/{:06}.map", patient.items));
    std::fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    patient.server.set_options(&[]);
    patient.server.restart()?;
    let mut client = Client::connect(patient.server.port).map_err(|error| error.to_string())?;
    let query = "SELECT COUNT(*) FROM shop.items";
    match client.query(query).map_err(|error| format!("{query}: {error}"))? {
        Answer::Failed(..) => {}
        answer => return Err(format!("{query} without the map: {answer}")),
    }
    patient.server.kill();
    let mut client = patient.start(1, &[])?;
    is_all(&mut client)?;
    stop(&mut patient.server)?;
    patient.server.set_options(&[]);
    patient.server.restart()?;
    let mut client = Client::connect(patient.server.port).map_err(|error| error.to_string())?;
    is_all(&mut client)?;
    execute(&mut client, "INSERT INTO shop.items VALUES (3, 'three', NULL)")
}

fn undo(patient: &mut Patient) -> Outcome {
    patient.damage(1, |_| vec![1])?;
    let mut client = patient.start(5, &[0, 1, 4])?;
    is_all(&mut client)?;
    let dump = patient.dump(&["--all-databases"])?;
    let (_server, mut client) = restored(&dump, &[])?;
    is_all(&mut client)
}

/// A little-endian number of eight bytes.
fn number_at(bytes: &[u8], at: usize) -> Result<u64, String> {
    let number = bytes.get(at..at + 8).and_then(|number| number.try_into().ok()).map(u64::from_le_bytes);
    number.ok_or_else(|| format!("no number at byte {at}"))
}

/// Flips a bit in the middle of what the log of a killed server has behind its checkpoint; see
/// docs/format-log.md.
fn damage_log(data: &Path) -> Outcome {
    let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
    let checkpoint = read(&data.join("#log/checkpoint"))?;
    let slots = checkpoint.chunks(PAGE).filter(|slot| slot.get(8..16) == Some(b"PALISADE"));
    let newest = slots.max_by_key(|slot| number_at(slot, 24).unwrap_or(0)).ok_or("no checkpoint record")?;
    let (position, number, start) = (number_at(newest, 48)?, number_at(newest, 64)?, number_at(newest, 72)?);
    let path = data.join(format!("#log/log.{number:012}"));
    let mut log = read(&path)?;
    let (mut at, mut groups) = ((position - start) as usize, Vec::new());
    // Groups have their own position; the first place without is the end.
    while number_at(&log, at + 32).is_ok_and(|own| own == start + at as u64) {
        let units = log.get(at + 22..at + 24).and_then(|units| units.try_into().ok()).map(u16::from_le_bytes);
        groups.push(at);
        at += usize::from(units.filter(|units| *units > 0).ok_or("a group without a length")?) * 512;
    }
    let middle = groups.get(groups.len() / 2).filter(|_| groups.len() > 10);
    let middle = middle.ok_or_else(|| format!("{} groups behind the checkpoint", groups.len()))?;
    match log.get_mut(middle + 60) {
        Some(byte) => *byte ^= 1,
        None => return Err("the group is not in the segment".to_owned()),
    }
    std::fs::write(&path, log).map_err(|error| format!("{}: {error}", path.display()))
}

fn redo_log(patient: &mut Patient) -> Outcome {
    let data = patient.put_back()?;
    patient.server.set_options(&[]);
    patient.server.restart()?;
    let mut client = Client::connect(patient.server.port).map_err(|error| error.to_string())?;
    execute(&mut client, "CREATE TABLE shop.late (id INT NOT NULL PRIMARY KEY)")?;
    for id in 0..200 {
        execute(&mut client, &format!("INSERT INTO shop.late VALUES ({id})"))?;
    }
    patient.server.kill();
    damage_log(&data)?;
    let mut client = patient.start(6, &[0, 5])?;
    is_all(&mut client)?;
    let dump = patient.dump(&["--all-databases"])?;
    let (_server, mut client) = restored(&dump, &[])?;
    is_all(&mut client)?;
    let late = "SELECT CONCAT_WS(' ', COUNT(*) BETWEEN 1 AND 199, MAX(id) = COUNT(*) - 1) FROM shop.late";
    expect(&mut client, late, "1 1")
}
