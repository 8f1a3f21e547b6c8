//! How operators group: each line of the corpus' precedence file, and more, with the grouping MySQL's manual and grammar
//! give.

mod common;

use palisade_parser::ast::Statement;
use palisade_parser::{ParseError, ParseOptions, parse, parse_expression};

fn printed(text: &str, options: ParseOptions) -> String {
    match parse(text.as_bytes(), options) {
        Ok(Statement::Query(query)) => query.to_string(),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string().rsplit_once("to use ").unwrap().1.to_owned(),
    }
}

/// The corpus' lines, in order.
const CORPUS: &[&str] = &[
    "select (`a` or (`b` and `c`))",
    "select (`a` + (`b` ^ `c`))",
    "select (`a` * (`b` ^ `c`))",
    "select (`a` | (`b` & (`c` << (1 + 2))))",
    "select ((`a` & `b`) = `c`)",
    "select ((`a` | `b`) = `c`)",
    "select (not((`a` = `b`)))",
    "select ((not(`a`)) = `b`)",
    "select (-(`a`) ^ `b`)",
    "select ((`a` xor (`b` and `c`)) or `d`)",
    "select ((`a` = `b`) is null)",
    "select ((`a` between 1 and 2) and `c`)",
    "select ((`a` DIV `b`) * `c`)",
    "select (`a` + (`b` DIV `c`))",
    "select ((`a` % `b`) * `c`)",
    "select ((`a` <=> `b`) = `c`)",
    "select ((`a` regexp `b`) and `c`)",
    "select (`a` not regexp 'y')",
    "select (`a` sounds like `b`)",
    "select ((`a` like `b`) or `c`)",
    "select ((`a` in (1,2)) = 0)",
    "select (`a` << (1 + 2))",
    "select ((`a` + 1) << 2)",
    "select (-(`a`) + `b`)",
    "select (~(`a`) & `b`)",
    "select ((binary `a`) like 'x')",
    "select (@`x`:=(`a` + 1))",
    "near ':= 1' at line 1",
    "select ((`a` collate utf8mb4_bin) = `b`)",
    "select (`j`->'$.a' = 1)",
    "select (`a` % `b`)",
    "select `a`,`b`",
    "select 'abcdef','ab'",
    "select `a` from `t` where ((`b` = 'x') and (`c``d` = 1))",
    "select 1.e5,b'00000101',`0x`,`1e`,1.",
    "select * from `t` where (((`a` = 1) and (not(`b`)) and (`c` not in (1))) or (`d` not like 'x'))",
    "select `t`.*,`a`.`b`.`c` from `a`.`b` `t`",
    "near '*), count(*) FROM t' at line 1",
    "select now(6),now(),now(3),curdate()",
    "select interval(1,2,3)",
    "select (`d` + interval ? second),(`d` + interval -(1) day),(`d` + interval '1' hour),\
     (`d` + interval `x`.`y` day)",
    "select cast('1' as char charset binary)",
    "select cast(`a` as signed),convert(`a` using latin1)",
    "select mod(`a`,2),(`a` % 2),if(`a`,`b`,`c`),left(`a`,2)",
    "select str_to_date('x','%Y'),char(65,66),char(65 using `utf8mb4`)",
    "SetTransaction(SetTransaction { scope: Session, isolation: Some(ReadCommitted), read_only: None })",
    "SetTransaction(SetTransaction { scope: Global, isolation: Some(ReadCommitted), read_only: None })",
    "select * from `t1`,(`t2` join `t3` on((`t2`.`a` = `t3`.`a`))) where 1",
    "select * from ((`t1` join `t2`) join `t3`)",
    "select * from (`t1` left join (`t2` join `t3`) on((`t1`.`a` = `t2`.`a`)))",
    "select * from (`t1` left join `t2` on((`t1`.`a` = `t2`.`a`)))",
    "select `a` from `t` where (`a` > all (select 1)) for update of `t`",
    "select `a` AS `order_x`,`b` AS `order` from `t` order by 1",
    "select * from `t` limit 2,18446744073709551615",
];

#[test]
fn each_line_of_the_corpus_groups_as_in_mysql() {
    let statements = common::statements("prec");
    assert_eq!(statements.len(), CORPUS.len());
    for (text, expect) in statements.iter().zip(CORPUS) {
        assert_eq!(printed(text, ParseOptions::default()), *expect, "{text}");
    }
}

fn check(expr: &str, expect: &str) {
    let found = printed(&format!("SELECT {expr}"), ParseOptions::default());
    assert_eq!(found.strip_prefix("select ").unwrap_or(&found), expect, "{expr}");
}

#[test]
fn layers_of_the_grammar() {
    check("a = b IN (1)", "(`a` = (`b` in (1)))");
    check("a LIKE b = c", "((`a` like `b`) = `c`)");
    check("NOT a AND b", "((not(`a`)) and `b`)");
    check("NOT a IS TRUE", "(not((`a` is true)))");
    check("NOT NOT a", "(not((not(`a`))))");
    check("a IS NULL = b", "((`a` is null) = `b`)");
    check("a IS NULL IS NOT NULL", "((`a` is null) is not null)");
    check("a BETWEEN b AND c = d", "((`a` between `b` and `c`) = `d`)");
    check("a BETWEEN b AND c BETWEEN d AND e", "(`a` between `b` and (`c` between `d` and `e`))");
    check("a BETWEEN 1 + 2 AND 3 | 4 AND b", "((`a` between (1 + 2) and (3 | 4)) and `b`)");
    check("@x := a OR b", "(@`x`:=(`a` or `b`))");
    check("a + j->'$.p'", "(`a` + `j`->'$.p')");
    check("a - b - c", "((`a` - `b`) - `c`)");
    check("a OR b XOR c", "(`a` or (`b` xor `c`))");
    check("-a COLLATE x", "-((`a` collate x))");
    check("BINARY a COLLATE x", "(binary (`a` collate x))");
    check("INTERVAL 1 DAY + d + 1", "((`d` + interval 1 day) + 1)");
    check("d - INTERVAL 1 + 2 DAY * 3", "((`d` - interval (1 + 2) day) * 3)");
    check("a IN (1) IN (2)", "near 'IN (2)' at line 1");
    check("a IS TRUE = b", "near '= b' at line 1");
    check("a LIKE b + c", "near '+ c' at line 1");
    check("a = NOT b", "near 'NOT b' at line 1");
    check("a NOT b", "near 'b' at line 1");
    check("a = ALL (SELECT 1)", "(`a` = all (select 1))");
    check("a = ALL", "near '' at line 1");
    check("(a, b) = (SELECT 1, 2)", "(row(`a`,`b`) = (select 1,2))");
    check("((SELECT 1) + 1) * 2", "(((select 1) + 1) * 2)");
    check("((SELECT 1) UNION (SELECT 2))", "(select 1 union select 2)");
    check("a IN ((SELECT 1), 2)", "(`a` in ((select 1),2))");
    check("EXISTS ((SELECT 1 LIMIT 1))", "exists(select 1 limit 1)");
    check("CASE WHEN a THEN b END + 1", "((case when `a` then `b` end) + 1)");
    check("INTERVAL (1) DAY + d", "(`d` + interval 1 day)");
    check("d + INTERVAL (1)+1 DAY", "(`d` + interval (1 + 1) day)");
    check("1 + INTERVAL(1, 2) * 3", "(1 + (interval(1,2) * 3))");
}

#[test]
fn sql_modes_change_how_operators_group() {
    let pipes = ParseOptions { pipes_as_concat: true, ..ParseOptions::default() };
    assert_eq!(printed("SELECT a || b AND c", pipes), "select ((`a` || `b`) and `c`)");
    assert_eq!(printed("SELECT a LIKE b || c", pipes), "select (`a` like (`b` || `c`))");
    assert_eq!(printed("SELECT a ^ b || -c", pipes), "select (`a` ^ (`b` || -(`c`)))");
    let high_not = ParseOptions { high_not_precedence: true, ..ParseOptions::default() };
    assert_eq!(printed("SELECT NOT a = b", high_not), "select ((not(`a`)) = `b`)");
    assert_eq!(printed("SELECT a NOT IN (1)", high_not), "select (`a` not in (1))");
    let spaces = ParseOptions { ignore_space: true, ..ParseOptions::default() };
    assert_eq!(printed("SELECT count (*)", spaces), "select count(*)");
    let ansi = ParseOptions { ansi_quotes: true, ..ParseOptions::default() };
    assert_eq!(printed("SELECT \"a\"\"b\" = 'c'", ansi), "select (`a\"b` = 'c')");
    let plain = ParseOptions { no_backslash_escapes: true, ..ParseOptions::default() };
    assert_eq!(printed(r"SELECT 'a\', b", plain), r"select 'a\\',`b`");
}

#[test]
fn joins_bind_to_the_left_and_wait_for_their_conditions() {
    for (text, expect) in [
        ("a JOIN b JOIN c ON x", "((`a` join `b`) join `c` on(`x`))"),
        ("a JOIN b JOIN c ON x ON y", "(`a` join (`b` join `c` on(`x`)) on(`y`))"),
        ("a LEFT JOIN b LEFT JOIN c ON x ON y", "(`a` left join (`b` left join `c` on(`x`)) on(`y`))"),
        ("a JOIN b LEFT JOIN c ON x", "((`a` join `b`) left join `c` on(`x`))"),
        ("a JOIN (b RIGHT JOIN c ON x)", "(`a` join (`b` right join `c` on(`x`)))"),
        ("a JOIN b NATURAL JOIN c", "((`a` join `b`) natural join `c`)"),
        ("a NATURAL RIGHT OUTER JOIN b USING (c)", "near 'USING (c)' at line 1"),
        ("a LEFT JOIN b", "near '' at line 1"),
        ("a JOIN b ON x JOIN c USING (d, e)", "((`a` join `b` on(`x`)) join `c` using (`d`,`e`))"),
        ("((a, b), c) STRAIGHT_JOIN d", "(((`a`,`b`),`c`) straight_join `d`)"),
        ("((SELECT 1) x JOIN b)", "((select 1) `x` join `b`)"),
        ("((SELECT 1) UNION SELECT 2) AS x", "(select 1 union select 2) `x`"),
    ] {
        let found = printed(&format!("SELECT * FROM {text}"), ParseOptions::default());
        assert_eq!(found.strip_prefix("select * from ").unwrap_or(&found), expect, "{text}");
    }
}

#[test]
fn set_operations_have_two_levels() {
    for (text, expect) in [
        ("SELECT 1 UNION SELECT 2 INTERSECT ALL SELECT 3", "select 1 union select 2 intersect all select 3"),
        ("(SELECT 1 UNION SELECT 2) EXCEPT SELECT 3", "(select 1 union select 2) except select 3"),
        ("(SELECT 1 LIMIT 1) ORDER BY 1", "(select 1 limit 1) order by 1"),
        ("((SELECT 1))", "select 1"),
        (
            "SELECT 1 UNION (SELECT 2 ORDER BY 1 LIMIT 1) LIMIT 3",
            "select 1 union (select 2 order by 1 limit 1) limit 3",
        ),
        ("WITH a AS (SELECT 1) (SELECT * FROM a)", "with `a` as (select 1) select * from `a`"),
    ] {
        assert_eq!(printed(text, ParseOptions::default()), expect, "{text}");
    }
}

#[test]
fn a_text_is_one_expression_or_an_error() {
    let read = |text: &str| parse_expression(text.as_bytes(), ParseOptions::default());
    assert_eq!(read("a + 1 * 2").unwrap().to_string(), "(`a` + (1 * 2))");
    assert_eq!(read(" (SELECT 1) ").unwrap().to_string(), "(select 1)");
    assert_eq!(read(" "), Err(ParseError::Empty));
    for broken in ["a, b", "a AS b", "a FROM t", "a b", "SELECT 1", "*", "(a"] {
        assert!(matches!(read(broken), Err(ParseError::Syntax { .. })), "{broken}");
    }
}
