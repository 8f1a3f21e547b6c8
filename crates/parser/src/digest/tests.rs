use super::*;
use crate::{parse, parse_prepared};

fn digest(text: &str) -> String {
    let mut out = Vec::new();
    digest_text(text.as_bytes(), &ParseOptions::default(), 1024, &mut out);
    String::from_utf8(out).unwrap()
}

/// The text of the key and the parameters, or `-`.
fn key(text: &str) -> String {
    let options = ParseOptions::default();
    let mut key = PlanKey::new();
    if !key.read(text.as_bytes(), &options) {
        return "-".to_owned();
    }
    let values: Vec<String> = key
        .parameters()
        .iter()
        .map(|parameter| match parameter.value(text.as_bytes(), &options) {
            ParameterValue::Integer(value) => value.to_string(),
            ParameterValue::Unsigned(value) => value.to_string(),
            ParameterValue::Decimal(value) => format!("decimal {value}"),
            ParameterValue::Double(value) => format!("double {value}"),
            ParameterValue::String(value, charset) => {
                let charset = charset.map(|name| format!("_{name}")).unwrap_or_default();
                format!("{charset}'{}'", value.escape_ascii())
            }
            ParameterValue::Hex(value) | ParameterValue::Bit(value) => format!("{value:?}"),
        })
        .collect();
    let parsed = parse_prepared(key.text(), options, &mut || true);
    match parsed {
        Ok(only) => assert_eq!(only.placeholders, values.len(), "{text}"),
        Err(error) => assert!(parse(text.as_bytes(), options).is_err(), "{text}: {error}"),
    }
    format!("{} [{}]", String::from_utf8_lossy(key.text()), values.join("; "))
}

#[test]
fn digests_as_performance_schema_shows_them() {
    for (text, expect) in [
        ("SELECT c FROM sbtest1 WHERE id=10", "SELECT `c` FROM `sbtest1` WHERE `id` = ?"),
        ("select c from t where id between 1 and -2", "SELECT `c` FROM `t` WHERE `id` BETWEEN ? AND ?"),
        (
            "INSERT INTO sbtest1 (id, k) VALUES (1, 'x'),(2,'y') , (3,'z')",
            "INSERT INTO `sbtest1` ( `id` , `k` ) VALUES (...) /* , ... */",
        ),
        ("INSERT INTO t VALUES (1),(2)", "INSERT INTO `t` VALUES (?) /* , ... */"),
        (
            "SELECT * FROM t WHERE a IN (1,2,3) AND b IN (5)",
            "SELECT * FROM `t` WHERE `a` IN (...) AND `b` IN (...)",
        ),
        ("SELECT t.a, f(1, b, 2, 3) FROM t", "SELECT `t` . `a` , `f` ( ? , `b` , ?, ... ) FROM `t`"),
        ("SELECT a IS NULL, NULL, -1, a-1, 2 - -3", "SELECT `a` IS NULL , ?, ... , `a` - ?, ... - ?"),
        ("SELECT @@version_comment LIMIT 1", "SELECT @@`version_comment` LIMIT ?"),
        ("SELECT 1 /* x */ ; SELECT 2", "SELECT ?"),
        ("COMMIT", "COMMIT"),
        ("SELECT 'a' 'b', x'00' FROM t WHERE a = ?", "SELECT ? ?, ... FROM `t` WHERE `a` = ?"),
        (
            "SELECT DISTINCT a, -b FROM t WHERE d <> _latin1'x'",
            "SELECT DISTINCTROW `a` , - `b` FROM `t` WHERE `d` != (_charset) ?",
        ),
        (
            "SELECT 1 GROUP BY 1, a ORDER BY 1, 2 DESC, a + 1 LIMIT 1,2",
            "SELECT ? GROUP BY 1 , `a` ORDER BY 1 , 2 DESC , `a` + ? LIMIT ?, ...",
        ),
        ("CREATE TABLE t (a INT NULL DEFAULT NULL)", "CREATE TABLE `t` ( `a` INTEGER NULL DEFAULT ? )"),
        ("SELECT @a := `c``d`", "SELECT @? := `c`d`"),
    ] {
        assert_eq!(digest(text), expect);
    }
}

#[test]
fn long_digests_are_cut() {
    let mut out = Vec::new();
    let text = format!("SELECT {}", "é,".repeat(1000));
    digest_text(text.as_bytes(), &ParseOptions::default(), 100, &mut out);
    assert!(out.len() <= 103 && out.ends_with(b"..."));
    std::str::from_utf8(&out).unwrap();
}

#[test]
fn the_next_statement_is_found() {
    let mut out = Vec::new();
    let text = b"SELECT 1; SELECT 2;";
    assert_eq!(digest_text(text, &ParseOptions::default(), 100, &mut out), Some(9));
    assert_eq!(digest_text(&text[9..], &ParseOptions::default(), 100, &mut out), None);
    let mut key = PlanKey::new();
    assert!(key.read(text, &ParseOptions::default()));
    assert_eq!(key.next_statement(), Some(9));
    assert!(key.read(&text[9..], &ParseOptions::default()));
    assert_eq!(key.next_statement(), None);
}

#[test]
fn constants_in_conditions_and_values_become_parameters() {
    for (text, expect) in [
        ("SELECT c FROM sbtest1 WHERE id=10", "SELECT c FROM sbtest1 WHERE id=? [10]"),
        (
            "SELECT c  FROM t /* x */ WHERE id = 'a''b' LIMIT 1,2",
            "SELECT c FROM t WHERE id = ? LIMIT ?,? ['a\\'b'; 1; 2]",
        ),
        (
            "SELECT SUM(k) FROM t WHERE id BETWEEN 11 AND 110",
            "SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ? [11; 110]",
        ),
        ("UPDATE t SET k=k+1, c='x' WHERE id=-5", "UPDATE t SET k=k+?, c=? WHERE id=? [1; 'x'; -5]"),
        (
            "INSERT INTO t (a,b) VALUES (1,'a' 'b'),(2.5,_binary'\\0\\'')",
            "INSERT INTO t (a,b) VALUES (?,?),(?,?) [1; 'ab'; decimal 2.5; _binary'\\x00\\'']",
        ),
        (
            "INSERT INTO t VALUES (x'0a', 0b11, N'n', 1e3, -1.5, NULL)",
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, NULL) [[10]; [3]; _utf8mb3'n'; double 1000; decimal -1.5]",
        ),
        ("INSERT INTO t VALUES (_binary 'x'-1, 2)", "INSERT INTO t VALUES (?-?, ?) [_binary'x'; 1; 2]"),
        ("INSERT INTO t VALUES (_latin1'x' 'y' - 1)", "INSERT INTO t VALUES (? - ?) [_latin1'xy'; 1]"),
        ("INSERT INTO t VALUES (_latin1 0x41 'y')", "INSERT INTO t VALUES (? ?) [_latin1'A'; 'y']"),
        (
            "INSERT INTO t SET a=1 ON DUPLICATE KEY UPDATE b=b-1",
            "INSERT INTO t SET a=? ON DUPLICATE KEY UPDATE b=b-? [1; 1]",
        ),
        (
            "SELECT a FROM t WHERE k IN (1,2) AND(b>3)OR c LIKE 'x%'",
            "SELECT a FROM t WHERE k IN (?,?) AND(b>?)OR c LIKE ? [1; 2; 3; 'x%']",
        ),
        (
            "SELECT a FROM t WHERE a='x'AND b='y'ORDER BY 1",
            "SELECT a FROM t WHERE a=? AND b=? ORDER BY 1 ['x'; 'y']",
        ),
        (
            "SELECT a FROM t WHERE a = - 9223372036854775808 AND b = 18446744073709551616",
            "SELECT a FROM t WHERE a = ? AND b = ? [-9223372036854775808; decimal 18446744073709551616]",
        ),
        (
            "SELECT a FROM t WHERE a-1 = 2 AND (b)-1 = 2 AND 5--1",
            "SELECT a FROM t WHERE a-? = ? AND (b)-? = ? AND 5-? [1; 2; 1; 2; -1]",
        ),
        (
            "SELECT  a  +  1,\n(b -1) FROM  t /* x */\nWHERE  a  =  1",
            "SELECT  a  +  1,\n(b -1) FROM t WHERE a = ? [1]",
        ),
        ("DELETE FROM t WHERE id = 3 LIMIT 1", "DELETE FROM t WHERE id = ? LIMIT ? [3; 1]"),
        (
            "SELECT a FROM t JOIN u ON t.a=u.a AND u.b=5 WHERE t.c<7",
            "SELECT a FROM t JOIN u ON t.a=u.a AND u.b=? WHERE t.c<? [5; 7]",
        ),
    ] {
        assert_eq!(key(text), expect);
    }
}

#[test]
fn constants_that_a_plan_depends_on_stay() {
    for text in [
        "SELECT 1, 'x', f(2) FROM t",
        "SELECT a FROM t GROUP BY 1 ORDER BY 2, f(3)",
        "SELECT value, 1, VALUES(a), 2 FROM t ORDER BY value, 1",
        "SELECT (SELECT b FROM u WHERE c = 1) FROM t",
        "SELECT @'x' FROM t WHERE @'x' = a",
        "SELECT a FROM t WHERE 1=0",
        "SELECT a FROM t WHERE (0 = 1) OR 1",
        "SELECT a FROM t WHERE a = CAST(b AS CHAR(10))",
        "SELECT a FROM t WHERE a = ROUND(b, 2) AND c > NOW(6)",
        "SELECT a FROM t WHERE d > DATE '2020-01-01' AND d > {d '2020-01-01'}",
        "SELECT a FROM t WHERE j->'$.a' > b AND j->>'$.b' LIKE c ESCAPE '!'",
        "SELECT a FROM (SELECT 1 AS a) x",
        "SELECT a FROM t WHERE CURRENT_DATE = b",
        "SELECT a FROM t WHERE b IN (SELECT 5 FROM u)",
        "SELECT a INTO OUTFILE 'x' FIELDS TERMINATED BY ',' FROM t",
        "DELETE FROM t RETURNING a  +  1, 'x', (SELECT b FROM s WHERE c = 2)",
    ] {
        assert_eq!(key(text), format!("{text} []"));
    }
    assert_eq!(
        key("INSERT INTO t VALUES (1, 'x') ON DUPLICATE KEY UPDATE a = 2 RETURNING 3, b"),
        "INSERT INTO t VALUES (?, ?) ON DUPLICATE KEY UPDATE a = ? RETURNING 3, b [1; 'x'; 2]"
    );
    assert_eq!(
        key("SELECT a FROM t WHERE CURRENT_DATE -5 > b"),
        "SELECT a FROM t WHERE CURRENT_DATE -? > b [5]"
    );
}

#[test]
fn other_statements_have_no_key() {
    for text in ["COMMIT", "SET a = 1", "SELECT 'a", "SELECT a FROM t WHERE a = ?", "", "SELECT (1"] {
        assert_eq!(key(text), "-", "{text}");
    }
}

#[test]
fn kinds_of_parameters_make_different_keys() {
    let key = |text: &str| {
        let mut key = PlanKey::new();
        assert!(key.read(text.as_bytes(), &ParseOptions::default()));
        key.key().to_vec()
    };
    assert_eq!(key("SELECT a FROM t WHERE b=1"), key("SELECT a FROM t WHERE b=-222"));
    assert_ne!(key("SELECT a FROM t WHERE b=1"), key("SELECT a FROM t WHERE b='1'"));
    assert_ne!(key("SELECT a FROM t WHERE b=_latin1'1'"), key("SELECT a FROM t WHERE b=_binary'1'"));
}

#[test]
fn hints_stay_in_keys() {
    assert_eq!(
        key("SELECT /*+ MAX_EXECUTION_TIME(7) */ a FROM t /*+ x */ WHERE b = 1"),
        "SELECT /*+ MAX_EXECUTION_TIME(7) */ a FROM t WHERE b = ? [1]"
    );
}

#[test]
fn a_long_text_is_read_only_as_long_as_that_is_allowed() {
    let text = format!("SELECT a FROM t WHERE a IN ({}1)", "2,".repeat(5 * STEP));
    let digest = |most: usize| {
        let (mut asked, mut out) = (0, Vec::new());
        let mut allows = || {
            asked += 1;
            asked < most
        };
        digest_text_while(text.as_bytes(), &ParseOptions::default(), 1024, &mut out, &mut allows);
        (asked, String::from_utf8(out).unwrap())
    };
    let whole = "SELECT `a` FROM `t` WHERE `a` IN (...)";
    assert_eq!(digest(usize::MAX), (10, whole.to_owned()));
    assert_eq!(digest(2), (2, "SELECT `a` FROM `t` WHERE `a` IN ( ?, ... , ...".to_owned()));
}
