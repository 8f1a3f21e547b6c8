//! What a client is told about a text that is no statement: MySQL's words, from MySQL's place.

mod common;

use common::near;
use palisade_parser::ast::Statement;
use palisade_parser::{ParseError, ParseOptions, parse};

#[test]
fn the_whole_message() {
    let error = parse(b"SELECT 1\nFROM WHERE a", ParseOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the \
         right syntax to use near 'WHERE a' at line 2"
    );
    assert_eq!((error.code(), error.sqlstate()), (1064, "42000"));
}

#[test]
fn the_text_from_the_offending_token_on() {
    for (text, expect) in [
        ("SELEC 1", "near 'SELEC 1' at line 1"),
        ("SELECT", "near '' at line 1"),
        ("SELECT a,", "near '' at line 1"),
        ("SELECT * FORM t", "near 'FORM t' at line 1"),
        ("SELECT 1, * FROM t", "near '* FROM t' at line 1"),
        ("SELECT 'abc", "near ''abc' at line 1"),
        ("SELECT 1 /* x", "near '/* x' at line 1"),
        ("SELECT 1 /*! x", "near '' at line 1"),
        ("SELECT `a", "near '`a' at line 1"),
        ("SELECT a\n\n  b c", "near 'c' at line 3"),
        ("INSERT INTO t VALUES (1", "near '' at line 1"),
        ("UPDATE t SET WHERE a=1", "near 'WHERE a=1' at line 1"),
        ("CREATE TABLE t (a INT,)", "near ')' at line 1"),
        ("CREATE TABLE t (a)", "near ')' at line 1"),
        ("CREATE TABLE select (a INT)", "near 'select (a INT)' at line 1"),
        ("SELECT a FROM .t", "near '.t' at line 1"),
        ("SELECT MOD(1,2,3)", "near ',3)' at line 1"),
        ("SELECT IF a", "near 'a' at line 1"),
        ("SELECT @@ a", "near ' a' at line 1"),
        ("SET SESSION GLOBAL a=1", "near 'GLOBAL a=1' at line 1"),
        ("GRANT SHOW ON t TO a", "near 'ON t TO a' at line 1"),
        ("SELECT a GROUP BY b WITH c", "near 'WITH c' at line 1"),
        ("CREATE TRIGGER a BEFORE INSERT ON t FOR EACH ROW DELETE t", "near '' at line 1"),
        ("SELECT 1; SELEC 2", "near 'SELEC 2' at line 1"),
        ("\n\nSELECT\n1 FROM ; \n", "near '' at line 2"),
        ("SELECT x'1'", "near 'x'1'' at line 1"),
        ("SELECT (SELECT 1 INTO @a)", "near ')' at line 1"),
        ("SELECT 1 FROM t WHERE a IN ()", "near ')' at line 1"),
        ("DROP TABLE", "near '' at line 1"),
        ("SET a", "near '' at line 1"),
        ("SHOW", "near '' at line 1"),
        ("SHOW NONSENSE", "near 'NONSENSE' at line 1"),
        ("GRANT SELECT ON t", "near '' at line 1"),
        ("SELECT * FROM t LIMIT -1", "near '-1' at line 1"),
        ("SELECT * FROM t LIMIT 1.5", "near '1.5' at line 1"),
        ("SELECT 1 RETURNING 2", "near '2' at line 1"),
        ("DELETE t FROM t RETURNING a", "near 'a' at line 1"),
        ("UPDATE t, s SET a = 1 RETURNING a", "near 'RETURNING a' at line 1"),
    ] {
        assert_eq!(near(text), expect, "{text}");
    }
}

#[test]
fn names_that_cannot_be_are_told_of_when_all_has_been_read() {
    let long = "a".repeat(65);
    for (text, code, expect) in [
        ("SELECT * FROM ``", 1103, "Incorrect table name ''"),
        ("SELECT `` FROM t, `u `", 1103, "Incorrect table name 'u '"),
        ("SELECT 1 FROM t WHERE a IN (SELECT a FROM ``.``)", 1103, "Incorrect table name ''"),
        ("DROP TABLE IF EXISTS ``.t", 1102, "Incorrect database name ''"),
        ("SELECT ``.t.a FROM t", 1102, "Incorrect database name ''"),
        ("SELECT ``(1)", 1458, "Incorrect routine name ''"),
        ("SET @a = 1, @`` = 2", 3061, "User variable name '' is illegal"),
        (&format!("SELECT * FROM {long}"), 1059, &format!("Identifier name '{long}' is too long")),
        (&format!("SET @{long} = 2"), 3061, &format!("User variable name '{long}' is illegal")),
    ] {
        let error = parse(text.as_bytes(), ParseOptions::default()).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (code, expect), "{text}");
    }
    assert_eq!(near("SELECT * FROM `` WHERE"), "near '' at line 1");
    for text in
        ["SELECT ``, @`` FROM t AS ``", "DELETE `` FROM t AS ``", "SAVEPOINT ``", "SELECT ``.a FROM t"]
    {
        assert!(parse(text.as_bytes(), ParseOptions::default()).is_ok(), "{text}");
    }
}

#[test]
fn at_most_eighty_characters() {
    let text = format!("SELECT FROM {}", "é".repeat(100));
    assert_eq!(near(&text), format!("near 'FROM {}' at line 1", "é".repeat(75)));
}

#[test]
fn placeholders_are_for_prepared_statements() {
    let options = ParseOptions { placeholders: false, ..ParseOptions::default() };
    let error = parse(b"SELECT ?", options).unwrap_err().to_string();
    assert!(error.ends_with("near '?' at line 1"), "{error}");
}

#[test]
fn nothing_is_error_1065_and_two_statements_are_one_too_many() {
    for text in ["", "  ", ";", " ; ; ", "\0"] {
        assert_eq!(parse(text.as_bytes(), ParseOptions::default()), Err(ParseError::Empty), "{text}");
    }
    for text in ["-- x", "# x", " /* x */ ", "/*! */", "/*!999999 x */", "/* a */ -- b\n;"] {
        assert_eq!(parse(text.as_bytes(), ParseOptions::default()), Ok(Statement::Comment), "{text}");
    }
    let error = parse(b"SELECT 1; SELECT 2", ParseOptions::default()).unwrap_err().to_string();
    assert!(error.ends_with("near 'SELECT 2' at line 1"), "{error}");
}
