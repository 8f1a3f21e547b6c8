//! What goes to temporary files gives the answers that it gives in memory, leaves nothing behind, and ends
//! its statement only where a file fails.

// a part of it is used
#[allow(dead_code)]
mod client;

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use client::{Bench, Client, processor_on};
use palisade_base::prng::{Prng, test_seed};
use palisade_io::{File, FileSystem, MemFileSystem, Overlay, OverlayFileSystem};
use palisade_session::work::{CREATED_TMP_FILES, SORT_MERGE_PASSES};

const ROWS: usize = 4000;

/// How calls to temporary files go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    FullDisk,
    Unreadable,
    /// A bit is turned over.
    Damaged,
}

/// Counts the calls to temporary files, and has one of them go wrong.
#[derive(Default)]
struct Failing {
    writes: AtomicUsize,
    reads: AtomicUsize,
    longest: AtomicU64,
    /// What, and at which call of its kind from now on.
    trouble: Mutex<Option<(Trouble, usize)>>,
}

impl Failing {
    fn strikes(&self, path: &Path, kinds: &[Trouble]) -> Option<Trouble> {
        if !path.to_string_lossy().contains("tmp/#sql-") {
            return None;
        }
        let mut trouble = self.trouble.lock().unwrap();
        let (kind, left) = trouble.as_mut().filter(|(kind, _)| kinds.contains(kind))?;
        *left = left.saturating_sub(1);
        (*left == 0).then_some(*kind)
    }
}

impl Overlay for Failing {
    fn write_at(&self, path: &Path, file: &dyn File, bytes: &[u8], offset: u64) -> io::Result<()> {
        if self.strikes(path, &[Trouble::FullDisk]).is_some() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        if path.to_string_lossy().contains("tmp/#sql-") {
            self.writes.fetch_add(1, Relaxed);
            self.longest.fetch_max(offset + bytes.len() as u64, Relaxed);
        }
        file.write_at(bytes, offset)
    }

    fn read_at(&self, path: &Path, file: &dyn File, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let trouble = self.strikes(path, &[Trouble::Unreadable, Trouble::Damaged]);
        if trouble == Some(Trouble::Unreadable) {
            return Err(io::Error::from_raw_os_error(5));
        }
        if path.to_string_lossy().contains("tmp/#sql-") {
            self.reads.fetch_add(1, Relaxed);
        }
        file.read_at(buf, offset)?;
        if trouble == Some(Trouble::Damaged) {
            let middle = buf.len() / 2;
            buf[middle] ^= 4;
        }
        Ok(())
    }
}

type Files = OverlayFileSystem<Failing>;

/// A table of rows with values of many kinds, some of them NULL and many of them equal.
fn world() -> (Arc<Bench>, Arc<Files>, Client) {
    let bench = Arc::new(Bench::default());
    let files = Arc::new(OverlayFileSystem::new(Arc::new(MemFileSystem::new()), Failing::default()));
    let mut client = Client::new(&processor_on(bench.clone(), files.clone()), 1);
    client.run("CREATE DATABASE d");
    client.run("USE d");
    client.run(
        "CREATE TABLE n (a INT PRIMARY KEY, g INT, u BIGINT UNSIGNED, s VARCHAR(60), d DECIMAL(20,6), f DOUBLE, \
         t DATETIME(3), e ENUM('x','y','z'), b BIT(9), j JSON, l TEXT)",
    );
    let mut random = Prng::new(test_seed(20));
    for part in 0..4 {
        let rows: Vec<String> = (0..ROWS / 4).map(|row| line(part * ROWS / 4 + row, &mut random)).collect();
        let answer = client.run(&format!("INSERT INTO n VALUES {}", rows.join(",")));
        assert_eq!(answer, format!("{} affected", ROWS / 4));
    }
    (bench, files, client)
}

fn line(a: usize, random: &mut Prng) -> String {
    let mut or_null = |text: String| if random.one_in(9) { "NULL".to_owned() } else { text };
    let values = [
        or_null(format!("{}", a * 7919 % 13)),
        or_null(format!("{}", a * 104_729 % 9973)),
        or_null(format!("'texts that begin alike {}'", a * 7919 % 1007)),
        or_null(format!("{}.{}", a % 77, a % 991)),
        or_null(format!("-{}e-{}", a % 701, a % 5)),
        or_null(format!("'2024-02-{:02} 10:{:02}:00.5'", 1 + a % 28, a % 60)),
        or_null(format!("'{}'", ["x", "y", "z"][a % 3])),
        or_null(format!("{}", a % 512)),
        or_null(format!("'{{\"k\": {}}}'", a % 50)),
        // Now and then longer than a block.
        or_null(format!("REPEAT('long {} ', {})", a % 10, if a % 500 == 3 { 2000 } else { a % 20 })),
    ];
    format!("({a}, {})", values.join(", "))
}

/// The rows of each may be in memory or not.
const SORTS: &[&str] = &[
    "SELECT a, l FROM n ORDER BY g",
    "SELECT a FROM n ORDER BY g DESC, s",
    "SELECT a, s FROM n ORDER BY s DESC, g DESC",
    "SELECT a FROM n ORDER BY u % 10, d",
    "SELECT a, d FROM n ORDER BY d",
    "SELECT a, f FROM n ORDER BY f DESC, t",
    "SELECT a, t, e, b FROM n ORDER BY e, b DESC",
    "SELECT a, j FROM n ORDER BY j",
    "SELECT a FROM n ORDER BY CONCAT(s, g), l",
    "SELECT a, l FROM n ORDER BY l DESC, t LIMIT 1500, 20",
    "SELECT a, s FROM n ORDER BY s, a LIMIT 3000",
    "SELECT a FROM n WHERE g IS NULL ORDER BY g, u",
    "SELECT DISTINCT s, g FROM n ORDER BY s, g",
    "SELECT DISTINCT d, f FROM n ORDER BY f DESC, d LIMIT 2000",
    "SELECT x.a, y.s FROM n x LEFT JOIN n y ON y.a = x.g * 100 + 5000 OR y.a = x.g ORDER BY y.s, x.u",
    "SELECT COUNT(*), MAX(r) FROM (SELECT a + 1 r, s FROM n ORDER BY u, s LIMIT 3900) x",
    "SELECT g, (SELECT y.s FROM n y WHERE y.g = x.g ORDER BY y.u, y.a LIMIT 1) FROM n x WHERE a < 6 ORDER BY s",
    "SELECT a, c FROM (SELECT u c, a, l FROM n ORDER BY l LIMIT 2500) x ORDER BY c",
    "SELECT g, s, COUNT(*) FROM n GROUP BY g, s ORDER BY g, s",
];

/// The same, of windows.
const WINDOWS: &[&str] = &[
    "SELECT a, ROW_NUMBER() OVER (PARTITION BY g ORDER BY s DESC, a) r FROM n",
    "SELECT a, SUM(u) OVER (PARTITION BY g, e ORDER BY a), LAG(s, 2, 'none') OVER (PARTITION BY g ORDER BY f, a) FROM n",
    "SELECT a, RANK() OVER (PARTITION BY s ORDER BY d), COUNT(*) OVER (PARTITION BY s), l FROM n",
    "SELECT a, FIRST_VALUE(l) OVER (PARTITION BY s ORDER BY t, a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM n",
    "SELECT g, SUM(c) OVER (PARTITION BY g) FROM (SELECT g, s, COUNT(*) c FROM n GROUP BY g, s) x",
];

/// The same, of windows with partitions that do not fit into memory.
const LARGE_PARTITIONS: &[&str] = &[
    "SELECT a, ROW_NUMBER() OVER w, RANK() OVER w, DENSE_RANK() OVER w, l FROM n WINDOW w AS (ORDER BY u, a)",
    "SELECT a, RANK() OVER w, DENSE_RANK() OVER w, CUME_DIST() OVER w, PERCENT_RANK() OVER w FROM n WINDOW w AS (ORDER BY s)",
    "SELECT a, NTILE(7) OVER (ORDER BY u, a), SUM(u) OVER (ORDER BY g), COUNT(l) OVER (ORDER BY g DESC) FROM n",
    "SELECT a, l, SUM(u) OVER (), LAST_VALUE(a) OVER (ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) FROM n",
    "SELECT a, LAG(l, 300) OVER w, LEAD(s, 1500, 'none') OVER w, NTH_VALUE(u, 900) OVER w FROM n WINDOW w AS (ORDER BY a)",
    "SELECT a, SUM(u) OVER (ORDER BY a ROWS BETWEEN 20 PRECEDING AND 10 FOLLOWING) FROM n",
    "SELECT a, MAX(s) OVER (ORDER BY a RANGE BETWEEN 50 PRECEDING AND 70 FOLLOWING) FROM n",
    "SELECT a, FIRST_VALUE(l) OVER (ORDER BY s DESC, a ROWS BETWEEN 2000 PRECEDING AND 1990 PRECEDING) FROM n",
    "SELECT a, COUNT(*) OVER (PARTITION BY a < 3900 ORDER BY f, a), SUM(u) OVER (PARTITION BY a < 3900) FROM n",
    "SELECT COUNT(*), SUM(r * a) FROM (SELECT a, ROW_NUMBER() OVER () r, l, RAND(3) FROM n) x",
];

/// The same, of groups, rows without duplicates, and rows that are kept: in any order.
const GROUPS: &[&str] = &[
    "SELECT s, COUNT(*), SUM(u), MIN(l), MAX(d), AVG(f) FROM n GROUP BY s",
    "SELECT a, g FROM n IGNORE INDEX FOR GROUP BY (PRIMARY) GROUP BY a",
    "SELECT u, GROUP_CONCAT(DISTINCT g ORDER BY g DESC), COUNT(DISTINCT s, d), JSON_ARRAYAGG(e) FROM n GROUP BY u",
    "SELECT s, d, f, MAX(t), BIT_OR(b) FROM n GROUP BY s, d, f",
    "SELECT s, COUNT(*) c FROM n GROUP BY s WITH ROLLUP",
    "SELECT DISTINCT s, g FROM n",
    "SELECT DISTINCT l, j FROM n",
    "SELECT COUNT(*), SUM(u) FROM (SELECT DISTINCT u, s, d FROM n) x",
    "SELECT s, l FROM n UNION SELECT s, l FROM n WHERE a < 3000",
    "SELECT u FROM n UNION ALL SELECT u FROM n UNION SELECT g FROM n UNION ALL SELECT g FROM n WHERE a < 99",
    "SELECT s, u % 50 FROM n EXCEPT SELECT s, g FROM n WHERE a > 500",
    "SELECT l, s FROM n INTERSECT SELECT l, s FROM n WHERE a % 3 = 1",
    "SELECT s FROM n WHERE a < 2500 INTERSECT ALL SELECT s FROM n WHERE a > 1000",
    "SELECT d FROM n EXCEPT ALL SELECT d FROM n WHERE a % 3 = 0",
    "SELECT a, u FROM n UNION ALL SELECT a, u FROM n EXCEPT SELECT a, u FROM n WHERE a % 1000 = 7",
    "SELECT l FROM n EXCEPT SELECT l FROM n WHERE a < 0",
    "SELECT u FROM n WHERE a < 2000 UNION SELECT u + 1 FROM n UNION ALL SELECT g FROM n EXCEPT ALL SELECT u FROM n \
     WHERE a < 900 UNION ALL SELECT u FROM n",
    "(SELECT s, u FROM n EXCEPT SELECT s, u FROM n WHERE a < 700) INTERSECT ALL SELECT s, u FROM n UNION \
     SELECT s, u + 1 FROM n",
    "(SELECT s FROM n UNION SELECT l FROM n) EXCEPT (SELECT s FROM n WHERE a < 9 UNION ALL SELECT l FROM n) \
     UNION ALL SELECT t FROM n WHERE a < 3000 UNION SELECT e FROM n",
    "WITH RECURSIVE r AS (SELECT a, l, 0 c FROM n WHERE a < 1000 UNION ALL SELECT a + 1, l, c + 1 FROM r WHERE c < 5) \
     SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT a, u FROM n UNION SELECT n.a, n.u FROM r JOIN n ON n.u = r.a + 1) \
     SELECT COUNT(*), SUM(u), (SELECT COUNT(*) FROM r WHERE u > 5000) FROM r",
    "WITH RECURSIVE r AS (SELECT a, s FROM n UNION ALL SELECT a + 4000, s FROM r WHERE a < 9000 LIMIT 6000 OFFSET 300) \
     SELECT COUNT(*), MIN(a), MAX(a) FROM r",
    "SELECT COUNT(*), SUM(LENGTH(l)) FROM (SELECT a, l, RAND(7) r FROM n) x WHERE r >= 0 AND l LIKE 'l%'",
    "SELECT /*+ NO_MERGE(x) */ a, LENGTH(l) FROM (SELECT a, l FROM n) x WHERE l LIKE 'l%' LIMIT 4000",
    "SELECT COUNT(*), COUNT(y.r) FROM n x LEFT JOIN (SELECT a, l, RAND(7) r FROM n) y ON y.a = x.g WHERE x.a < 40",
    "WITH c AS (SELECT a, u, RAND(1) r FROM n) SELECT COUNT(*), SUM(x.u + y.u) FROM c x JOIN c y ON x.a = y.a",
];

/// Groups that are summed up, in their order.
const ROLLUPS: &[&str] = &[
    "SELECT s, g, COUNT(*), SUM(u), MIN(l), GROUPING(s, g) FROM n GROUP BY s, g WITH ROLLUP",
    "SELECT u, d, e, COUNT(DISTINCT g), AVG(f), GROUP_CONCAT(a ORDER BY a) FROM n GROUP BY u, d, e WITH ROLLUP",
    "SELECT a, s, COUNT(*), MAX(l) FROM n GROUP BY a, s WITH ROLLUP HAVING COUNT(*) < 3 OR GROUPING(a)",
    "SELECT t, COUNT(*) c FROM n GROUP BY t WITH ROLLUP ORDER BY c DESC, t",
    "SELECT g, (SELECT COUNT(*) FROM (SELECT u, s FROM n y WHERE y.g = x.g GROUP BY u, s WITH ROLLUP) z) FROM n x \
     WHERE a < 6",
];

/// A statement whose groups are summed up on more levels than a byte can number.
fn rollup_of_many_levels() -> String {
    let keys: Vec<String> = (0..260).map(|more| format!("a + {more}")).collect();
    format!("SELECT COUNT(*), SUM(u), MIN(a) FROM n WHERE a < 7 GROUP BY {} WITH ROLLUP", keys.join(", "))
}

/// The same, of hash joins, in any order.
const JOINS: &[&str] = &[
    "SELECT x.a, y.a FROM n x JOIN n y ON x.s = y.s AND x.a < y.a",
    "SELECT x.a, y.a, y.l FROM n x LEFT JOIN n y ON y.u = x.a",
    "SELECT x.a, y.a FROM n x LEFT JOIN n y ON y.s = x.s AND y.a > x.a + 2000",
    "SELECT x.a, y.a, z.a FROM n x LEFT JOIN (n y JOIN n z ON z.u = y.u) ON y.u = x.a AND y.d > z.d - 1",
    "SELECT a, s FROM n x WHERE EXISTS (SELECT 1 FROM n y WHERE y.s = x.s AND y.a > x.a + 1000)",
    "SELECT a FROM n x WHERE d IN (SELECT d FROM n y WHERE y.a > 100)",
    "SELECT a, l FROM n x WHERE NOT EXISTS (SELECT 1 FROM n y WHERE y.u = x.a)",
    "SELECT a, t FROM n x WHERE NOT EXISTS (SELECT 1 FROM n y WHERE y.d = x.d AND y.a <> x.a)",
    "SELECT COUNT(*), SUM(x.a + y.a * 3) FROM n x JOIN n y ON x.g = y.g WHERE y.a < 900 AND x.a < 900",
    // More levels than the hash has bits for.
    "SELECT COUNT(*), SUM(x.a + y.a * 3) FROM n x STRAIGHT_JOIN n y ON x.g = y.g WHERE x.a < 900",
    "SELECT COUNT(*), SUM(x.a) FROM n x LEFT JOIN n y ON x.g = y.g AND y.a < x.a - 2990",
    "SELECT COUNT(*), SUM(x.a) FROM n x WHERE NOT EXISTS (SELECT 1 FROM n y WHERE y.g = x.g AND y.a > x.a + 3900)",
    "SELECT COUNT(*), SUM(z.a) FROM n x JOIN n y ON x.u = y.a + 1 JOIN n z ON z.s = y.s",
    "SELECT a, (SELECT COUNT(*) FROM n y JOIN n z ON y.s = z.s AND y.d = z.d WHERE y.g = x.g) FROM n x WHERE a < 5",
    "SELECT x.a, y.a FROM n x JOIN n y ON x.u = y.u AND x.l = y.l FOR UPDATE",
    "SELECT x.a, y.c FROM n x JOIN (SELECT u, COUNT(*) c, MAX(l) m FROM n GROUP BY u) y ON x.u = y.u",
];

/// Hash joins whose order is that of an index, and is that of the answer.
const JOINS_IN_ORDER: &[&str] = &[
    "SELECT STRAIGHT_JOIN x.a, x.l FROM n x JOIN n y ON y.u = x.u AND y.a >= x.a AND y.a <= x.a ORDER BY x.a",
    "SELECT STRAIGHT_JOIN x.a, y.d FROM n x LEFT JOIN n y ON y.u = x.a ORDER BY x.a DESC",
    "SELECT STRAIGHT_JOIN x.a, COUNT(*), SUM(y.a) FROM n x JOIN n y ON y.s = x.s GROUP BY x.a ORDER BY x.a",
    "SELECT STRAIGHT_JOIN x.a, COUNT(*), MAX(z.a), MAX(y.a) FROM n x JOIN n y ON y.s = x.s JOIN n z ON z.u = y.u \
     GROUP BY x.a ORDER BY x.a",
];

/// From now on nothing but the least is kept in memory.
fn spill(client: &mut Client) {
    let variables = &mut client.session.state.variables;
    (variables.operator_memory, variables.sort_buffer_size) = (0, 32 << 10);
    (variables.tmp_table_size, variables.join_buffer_size) = (16 << 10, 16 << 10);
}

/// From now on all is kept in memory.
fn keep(client: &mut Client) {
    client.session.state.variables.operator_memory = 64 << 20;
}

/// The rows of an answer, in an order of their own.
fn sorted(answer: &str) -> Vec<&str> {
    let mut rows: Vec<&str> = answer.split("; ").collect();
    rows.sort_unstable();
    rows
}

fn made(client: &Client) -> u64 {
    client.session.work.value(&CREATED_TMP_FILES).unwrap()
}

/// Whether there is a temporary file that has a name. One that was being made when its statement ended
/// loses it on the thread that made it.
fn left_over(files: &Files) -> bool {
    let begin = Instant::now();
    while !files.list(Path::new("data/tmp")).unwrap_or_default().is_empty() {
        if begin.elapsed() > Duration::from_secs(10) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

#[test]
fn sorts_through_files_answer_as_in_memory() {
    let (_, files, mut client) = world();
    let many_levels = rollup_of_many_levels();
    for statement in SORTS.iter().chain(ROLLUPS).copied().chain([many_levels.as_str()]) {
        keep(&mut client);
        let before = made(&client);
        let expected = client.run(statement);
        assert_eq!(made(&client), before, "{statement}");
        spill(&mut client);
        let answer = client.run(statement);
        assert!(answer == expected, "{statement}: {:.300} is not {:.300}", answer, expected);
        let is_small = statement.contains("IS NULL") || statement.contains("a < 6");
        assert!(is_small || made(&client) > before, "{statement}: nothing was written");
        assert!(!left_over(&files), "{statement}");
    }
    assert!(client.session.work.value(&SORT_MERGE_PASSES).unwrap() > 100, "there are several passes");
    let Failing { writes, reads, .. } = files.overlay();
    assert!(reads.load(Relaxed) > 1000 && writes.load(Relaxed) >= reads.load(Relaxed));
}

#[test]
fn groups_windows_and_kept_rows_in_files_are_those_in_memory() {
    let (_, files, mut client) = world();
    for statement in WINDOWS.iter().chain(LARGE_PARTITIONS).chain(GROUPS) {
        keep(&mut client);
        let before = made(&client);
        let expected = client.run(statement);
        assert_eq!(made(&client), before, "{statement}");
        spill(&mut client);
        let answer = client.run(statement);
        let (found, wanted) = (sorted(&answer), sorted(&expected));
        let different = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
        assert!(found == wanted, "{statement}: {} and {} rows; {different:?}", found.len(), wanted.len());
        assert!(made(&client) > before, "{statement}: nothing was written");
        assert!(!left_over(&files), "{statement}");
    }
}

/// Recursions whose rows are known by keys in files: rounds of many rows and of few, long keys, and a LIMIT.
const RECURSIONS: &[&str] = &[
    "WITH RECURSIVE r AS (SELECT a FROM n UNION SELECT (a * 7 + 3) % 5003 FROM r) SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT 1 a UNION SELECT (a * 5 + 1) % 3001 FROM r) SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT 1 a, REPEAT('long', 90) s UNION SELECT (a * 5 + 1) % 1009, s FROM r) SELECT a, s FROM r",
    "WITH RECURSIVE r AS (SELECT a, u FROM n UNION SELECT n.a, n.u FROM r JOIN n ON n.u = r.a + 1) SELECT a, u FROM r",
    "WITH RECURSIVE r AS (SELECT a % 3000 a, l FROM n WHERE l LIKE 'l%' UNION SELECT (a * 7 + 3) % 3500, l FROM r \
     WHERE a > 3400) SELECT a, LENGTH(l) FROM r",
    "WITH RECURSIVE r AS (SELECT a FROM n WHERE a < 2000 UNION SELECT a * 3 % 9973 FROM r UNION SELECT a + 2 FROM r \
     WHERE a < 5000 LIMIT 4000 OFFSET 150) SELECT * FROM r",
    "SELECT x.a, (WITH RECURSIVE r AS (SELECT y.a, y.s FROM n y WHERE y.g = x.g UNION SELECT a * 3 % 31, s FROM r) \
     SELECT SUM(a) FROM r) FROM n x WHERE x.a < 4",
];

/// Each row comes where it comes when all keys are in memory.
#[test]
fn recursions_know_their_rows_by_keys_in_files() {
    let (_, files, mut client) = world();
    client.session.state.variables.cte_max_recursion_depth = 1_000_000;
    for statement in RECURSIONS {
        keep(&mut client);
        let before = made(&client);
        let expected = client.run(statement);
        assert_eq!(made(&client), before, "{statement}: {expected:.300}");
        spill(&mut client);
        let answer = client.run(statement);
        assert!(answer == expected, "{statement}: {:.300} is not {:.300}", answer, expected);
        assert!(made(&client) > before + 1, "{statement}: keys were not written");
        assert!(!left_over(&files), "{statement}");
    }
    // The keys alone take more than the statement may.
    let variables = &mut client.session.state.variables;
    (variables.statement_memory, variables.tmp_table_size) = (4 << 20, 1 << 20);
    let numbers = "WITH RECURSIVE r AS (SELECT 1 a, REPEAT('long', 200) s UNION SELECT a + 1, s FROM r WHERE a < 9000) \
        SELECT COUNT(*), SUM(a), SUM(LENGTH(s)) FROM r";
    assert_eq!(client.run(numbers), "9000 40504500 7200000");
}

/// Windows with a bound on a rank, over as many rows as `FROM`.
const FIRST_RANKS: &[&str] = &[
    "SELECT x.a, y.a b, x.l, RANK() OVER (PARTITION BY x.g ORDER BY x.u, y.a) r FROM",
    "SELECT x.a, y.a b, ROW_NUMBER() OVER (PARTITION BY x.g ORDER BY x.e) r FROM",
    "SELECT x.a, y.a b, DENSE_RANK() OVER (PARTITION BY x.e ORDER BY x.f DESC) r FROM",
    "SELECT x.a, y.a b, RANK() OVER (PARTITION BY x.s ORDER BY x.t DESC, x.d) r FROM",
    "SELECT x.a, y.a b, ROW_NUMBER() OVER (ORDER BY x.s DESC) r, LAG(x.u, 2) OVER (ORDER BY x.s DESC) p FROM",
    "SELECT x.a, y.a b, RANK() OVER (ORDER BY CONCAT(x.s, x.e)) r, SUM(x.u) OVER (ORDER BY CONCAT(x.s, x.e)) p FROM",
    "SELECT x.a, y.a b, DENSE_RANK() OVER (PARTITION BY x.b % 7 ORDER BY x.d) r FROM",
    "SELECT x.a, y.a b, ROW_NUMBER() OVER (PARTITION BY x.a ORDER BY y.u) r FROM",
    "SELECT x.a, y.a b, RANK() OVER (PARTITION BY y.a ORDER BY x.l) r FROM",
];

/// The rows of which a window is told that they are wanted are those that are so of all.
#[test]
fn first_rows_of_windows_are_those_of_all() {
    let (_, files, mut client) = world();
    let from = "n x JOIN n y ON y.a < 3";
    for window in FIRST_RANKS {
        for (most, is_spilled) in [(3, false), (900, false), (3, true), (400, true)] {
            let asked = |hint: &str| {
                format!("SELECT {hint} * FROM ({window} {from}) d WHERE r <= {most} ORDER BY r, a, b")
            };
            if is_spilled {
                spill(&mut client)
            } else {
                keep(&mut client)
            }
            let expected = client.run(&asked("/*+ NO_DERIVED_CONDITION_PUSHDOWN(d) */"));
            let answer = client.run(&asked(""));
            assert!(answer == expected, "{}: {answer:.300} is not {expected:.300}", asked(""));
            assert!(!left_over(&files), "{window}");
        }
    }
    for (window, order) in [
        ("ROW_NUMBER() OVER (ORDER BY x.s, x.a)", "x.s"),
        ("RANK() OVER (PARTITION BY x.g ORDER BY x.u DESC)", "x.g, x.u DESC"),
        ("DENSE_RANK() OVER (ORDER BY x.f)", "2"),
        ("ROW_NUMBER() OVER (ORDER BY x.e, y.a)", "x.e, 2"),
    ] {
        let statement = format!("SELECT x.a, {window} r FROM {from} ORDER BY {order}");
        for (passed, given, is_spilled) in [(0, 5, false), (300, 50, false), (7000, 2000, true)] {
            if is_spilled {
                spill(&mut client)
            } else {
                keep(&mut client)
            }
            let all = client.run(&statement);
            let expected: Vec<&str> = all.split("; ").skip(passed).take(given).collect();
            let answer = client.run(&format!("{statement} LIMIT {given} OFFSET {passed}"));
            assert!(answer == expected.join("; "), "{statement}: {passed}, {given}: {answer:.300}");
        }
        let plan = client.run(&format!("EXPLAIN FORMAT=TREE {statement} LIMIT 5"));
        assert!(!plan.contains("-> Sort: r") && plan.matches("-> Sort").count() <= 1, "{plan}");
    }
}

/// A derived table that is read once needs no memory for its rows. Where an expression has effects they come
/// before the rows are used.
#[test]
fn rows_of_a_derived_table_that_is_read_once_are_not_kept() {
    let (_, _, mut client) = world();
    let statement =
        "SELECT /*+ NO_MERGE(x) */ COUNT(*), SUM(LENGTH(l)) FROM (SELECT a, l FROM n) x WHERE a + 0 > 3";
    let expected = client.run(statement);
    spill(&mut client);
    let before = made(&client);
    assert_eq!(client.run(statement), expected);
    assert_eq!(made(&client), before);
    let expected = client.run("SELECT COUNT(*), MAX(a) FROM n");
    let statement = "SELECT COUNT(*), MIN(@last) FROM (SELECT a, l, @last := a v FROM n) x";
    assert_eq!(client.run(statement), expected);
    assert!(made(&client) > before);
}

#[test]
fn hash_joins_through_files_give_the_pairs_of_those_in_memory() {
    let (_, files, mut client) = world();
    for statement in JOINS.iter().chain(JOINS_IN_ORDER) {
        keep(&mut client);
        let before = made(&client);
        let expected = client.run(statement);
        assert_eq!(made(&client), before, "{statement}");
        spill(&mut client);
        let answer = client.run(statement);
        assert!(made(&client) > before, "{statement}: nothing was written");
        if JOINS_IN_ORDER.contains(statement) {
            assert!(answer == expected, "{statement}: {:.300} is not {:.300}", answer, expected);
            let plan = client.run(&format!("EXPLAIN FORMAT=TREE {statement}"));
            assert!(!plan.contains("Sort") && plan.contains("hash"), "{statement}: {plan}");
        }
        let (found, wanted) = (sorted(&answer), sorted(&expected));
        let different = found.iter().zip(&wanted).find(|(found, wanted)| found != wanted);
        assert!(found == wanted, "{statement}: {} and {} rows; {different:?}", found.len(), wanted.len());
        assert!(!left_over(&files), "{statement}");
    }
}

/// Rows that are changed in the order of a sort are those that were read.
#[test]
fn rows_are_changed_that_were_sorted_in_files() {
    let (_, _, mut client) = world();
    for statement in [
        "UPDATE n SET l = CONCAT(IFNULL(l, ''), '!') ORDER BY s, f LIMIT 1000",
        "DELETE FROM n ORDER BY d, s LIMIT 1000",
    ] {
        let all = "SELECT a, LENGTH(l) FROM n ORDER BY a";
        client.run("BEGIN");
        keep(&mut client);
        assert_eq!(client.run(statement), "1000 affected");
        let expected = client.run(all);
        client.run("ROLLBACK");
        client.run("BEGIN");
        spill(&mut client);
        let before = made(&client);
        assert_eq!(client.run(statement), "1000 affected");
        assert!(made(&client) > before, "{statement}");
        assert_eq!(client.run(all), expected, "{statement}");
        client.run("ROLLBACK");
    }
}

/// An INSERT from its own table reads all of it before it writes: its rows wait in a file.
#[test]
fn rows_that_wait_to_be_inserted_are_those_that_were_read() {
    let (_, files, mut client) = world();
    for statement in [
        "INSERT INTO n SELECT a + 4000, g, u, s, d, f, t, e, b, j, l FROM n",
        "INSERT INTO n SELECT * FROM n x WHERE x.a > 2000 ON DUPLICATE KEY UPDATE n.l = CONCAT(IFNULL(x.l, ''), '!')",
        "REPLACE INTO n SELECT a, g + (SELECT COUNT(*) FROM n), u, s, d, f, t, e, b, j, l FROM n ORDER BY a DESC",
    ] {
        let all = "SELECT a, g, u, s, d, f, t, e, b, j, l FROM n ORDER BY a";
        client.run("BEGIN");
        keep(&mut client);
        let expected = (client.run(statement), client.run(all));
        client.run("ROLLBACK");
        client.run("BEGIN");
        spill(&mut client);
        let before = made(&client);
        let answer = (client.run(statement), client.run(all));
        assert!(answer == expected, "{statement}: {}", answer.0);
        assert!(made(&client) > before && !left_over(&files), "{statement}");
        client.run("ROLLBACK");
    }
}

/// Wherever a statement is killed, and wherever a call to its file fails, the next one knows nothing of it.
#[test]
fn killed_and_failed_statements_leave_nothing_behind() {
    let (bench, files, mut client) = world();
    spill(&mut client);
    for statement in [
        "SELECT a, s FROM n ORDER BY s, u",
        "SELECT u, s, COUNT(*) FROM n GROUP BY u, s",
        "SELECT a, SUM(u) OVER (PARTITION BY s) FROM n",
        "SELECT x.a, y.l FROM n x LEFT JOIN n y ON x.s = y.s AND x.u = y.u",
        "SELECT a, l, RANK() OVER (ORDER BY s), SUM(u) OVER (ORDER BY s) FROM n",
        "SELECT u, s, COUNT(*) FROM n GROUP BY u, s WITH ROLLUP",
        "WITH RECURSIVE r AS (SELECT a, l FROM n UNION SELECT a + 1, l FROM r WHERE a > 3950 AND a < 3980) \
         SELECT COUNT(*), SUM(LENGTH(l)) FROM r",
        "INSERT IGNORE INTO n SELECT * FROM n x",
    ] {
        leave_nothing(&bench, &files, &mut client, statement);
    }
}

fn leave_nothing(bench: &Bench, files: &Files, client: &mut Client, statement: &str) {
    let expected = client.run(statement);
    for at in [1, 2, 3, 5, 8] {
        *bench.killed.lock().unwrap() = Some((client.session.state.kill.clone(), at));
        assert!(client.run(statement).contains("Query execution was interrupted"), "at {at}");
        *bench.killed.lock().unwrap() = None;
        assert!(!left_over(files));
    }
    let kinds = [
        (Trouble::FullDisk, "Error writing file"),
        (Trouble::Unreadable, "Error reading file"),
        (Trouble::Damaged, "Error reading file"),
    ];
    for (kind, text) in kinds {
        for at in [1, 2, 3, 10, 50, 90] {
            *files.overlay().trouble.lock().unwrap() = Some((kind, at));
            let answer = client.run(statement);
            assert!(answer.contains(text), "{kind:?} at {at}: {answer:.200}");
            *files.overlay().trouble.lock().unwrap() = None;
            assert!(!left_over(files));
        }
    }
    assert_eq!(client.run(statement), expected);
}
