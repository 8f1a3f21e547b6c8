//! PARTITION BY: what is printed is read again as the same, and what MySQL says of a clause by its form.

mod common;

use common::near;
use palisade_parser::ast::{AlterAction, Partitioning, Statement};
use palisade_parser::{ParseOptions, parse, parse_partitioning};

fn clause(text: &str) -> Partitioning {
    match parse(text.as_bytes(), ParseOptions::default()).expect(text) {
        Statement::CreateTable(table) => *table.partitioning.expect(text),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_printed_clause_is_read_as_the_same() {
    for (text, printed) in [
        ("HASH (a + `b c`)", "partition by hash ((`a` + `b c`))"),
        ("LINEAR HASH (year(d)) PARTITIONS 4", "partition by linear hash (year(`d`)) partitions 4"),
        ("KEY ()", "partition by key ()"),
        (
            "LINEAR KEY ALGORITHM = 1 (a, `b``c`) PARTITIONS 3",
            "partition by linear key algorithm = 1 (`a`,`b``c`) partitions 3",
        ),
        (
            "RANGE (a) (PARTITION p0 VALUES LESS THAN (-5), PARTITION P1 VALUES LESS THAN MAXVALUE)",
            "partition by range (`a`) (partition `p0` values less than (-(5)),partition `P1` values less than (maxvalue))",
        ),
        (
            "RANGE COLUMNS (a, b) (PARTITION p0 VALUES LESS THAN (1, 'x''y\\\\'), PARTITION p1 VALUES LESS THAN (2, MAXVALUE))",
            "partition by range columns (`a`,`b`) (partition `p0` values less than (1,'x\\'y\\\\'),\
             partition `p1` values less than (2,maxvalue))",
        ),
        (
            "LIST (a) (PARTITION p0 VALUES IN (1, NULL), PARTITION p1 VALUES IN (3))",
            "partition by list (`a`) (partition `p0` values in (1,NULL),partition `p1` values in (3))",
        ),
        (
            "LIST COLUMNS (a, b) (PARTITION p0 VALUES IN ((1, 'a'), (NULL, _binary x'41')))",
            "partition by list columns (`a`,`b`) (partition `p0` values in ((1,'a'),(NULL,_binary x'41')))",
        ),
        (
            "RANGE (a) SUBPARTITION BY HASH (b) SUBPARTITIONS 2 (PARTITION p0 VALUES LESS THAN (1) COMMENT 'x' MAX_ROWS 5)",
            "partition by range (`a`) subpartition by hash (`b`) subpartitions 2 \
             (partition `p0` values less than (1) comment = 'x' max_rows = 5)",
        ),
        (
            "LIST (a) SUBPARTITION BY KEY (b) (PARTITION p0 VALUES IN (1) (SUBPARTITION s0 ENGINE InnoDB, SUBPARTITION s1))",
            "partition by list (`a`) subpartition by key (`b`) \
             (partition `p0` values in (1) (subpartition `s0` engine = `InnoDB`,subpartition `s1`))",
        ),
    ] {
        let read = clause(&format!("CREATE TABLE t (a INT, b INT) PARTITION BY {text}"));
        assert_eq!(read.to_string(), printed, "{text}");
        let again = parse_partitioning(printed.as_bytes(), ParseOptions::default()).expect(printed);
        assert_eq!(again.to_string(), printed);
        if !text.contains('-') {
            assert_eq!(again, read, "{text}");
        }
    }
}

#[test]
fn a_clause_alone_is_all_of_its_text() {
    for text in ["partition by hash (a) x", "partition by", "hash (a)", ""] {
        assert!(parse_partitioning(text.as_bytes(), ParseOptions::default()).is_err(), "{text}");
    }
}

/// What MySQL says of these clauses behind `create table e (a int, b int) partition by`.
#[test]
fn what_is_wrong_of_a_clause_by_its_form() {
    for (text, expected) in [
        (
            "range (a) (partition p0)",
            "Syntax error: RANGE PARTITIONING requires definition of VALUES LESS THAN for each partition \
             near '(partition p0)' at line 1",
        ),
        (
            "range (a) (partition p0 values less than (3), partition p1)",
            "Syntax error: RANGE PARTITIONING requires definition of VALUES LESS THAN for each partition \
             near ', partition p1)' at line 1",
        ),
        (
            "list (a) (partition p0)",
            "Syntax error: LIST PARTITIONING requires definition of VALUES IN for each partition \
             near '(partition p0)' at line 1",
        ),
        (
            "hash (a) partitions 2 (partition p0)",
            "Wrong number of partitions defined, mismatch with previous setting near '(partition p0)' at line 1",
        ),
        (
            "range columns (a,b) (partition p0 values less than (1))",
            "Inconsistency in usage of column lists for partitioning near '))' at line 1",
        ),
        (
            "range columns (a,b) (partition p0 values less than maxvalue)",
            "Inconsistency in usage of column lists for partitioning near 'values less than maxvalue)' at line 1",
        ),
        (
            "list columns (a,b) (partition p0 values in (1,2))",
            "Inconsistency in usage of column lists for partitioning near '(1,2))' at line 1",
        ),
        (
            "list columns (a,b) (partition p0 values in ((3,2),(3)))",
            "Inconsistency in usage of column lists for partitioning near ')))' at line 1",
        ),
        (
            "list (a) (partition p0 values in ((1),(2)))",
            "Row expressions in VALUES IN only allowed for multi-field column partitioning near '))' at line 1",
        ),
        (
            "list (a) (partition p0 values in (maxvalue))",
            "Cannot use MAXVALUE as value in VALUES IN near 'maxvalue))' at line 1",
        ),
        (
            "range (a) subpartition by hash(b) subpartitions 2 (partition p0 values less than (1) (subpartition s0))",
            "Wrong number of subpartitions defined, mismatch with previous setting near '(subpartition s0))' at line 1",
        ),
        (
            "range (a) subpartition by hash(b) (partition p0 values less than (1) (subpartition s0, subpartition s1), \
             partition p1 values less than (2))",
            "Wrong number of subpartitions defined, mismatch with previous setting near ')' at line 1",
        ),
        (
            "range (a) subpartition by hash(b) (partition p0 values less than (1), \
             partition p1 values less than (2) (subpartition s2, subpartition s3))",
            "Wrong number of subpartitions defined, mismatch with previous setting \
             near 'subpartition s2, subpartition s3))' at line 1",
        ),
        (
            "hash (a+rand())",
            "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed \
             near 'a+rand())' at line 1",
        ),
        (
            "range (a) (partition p0 values less than (10+@x))",
            "Constant, random or timezone-dependent expressions in (sub)partitioning function are not allowed \
             near '10+@x))' at line 1",
        ),
        ("hash ((select 1))", "near '(select 1))' at line 1"),
        ("hash (a=1)", "near '=1)' at line 1"),
        ("hash (a in (1,2))", "near 'in (1,2))' at line 1"),
        ("key algorithm=3 (a)", "near '3 (a)' at line 1"),
        ("key algorithm 2 (a)", "near '2 (a)' at line 1"),
        (
            "range (a) subpartition by range(b) (partition p0 values less than (1))",
            "near 'range(b) (partition p0 values less than (1))' at line 1",
        ),
        (
            "range (a) subpartition by key() (partition p0 values less than (1))",
            "near ') (partition p0 values less than (1))' at line 1",
        ),
        ("list (a) (partition p0 default)", "near 'default)' at line 1"),
    ] {
        let statement = format!("create table e (a int, b int) partition by {text}");
        assert_eq!(near(&statement), expected, "{text}");
    }
}

#[test]
fn what_is_done_to_partitions_is_done_alone() {
    for (text, expected) in [
        ("add partition (partition p0), add column z int", "near ', add column z int' at line 1"),
        ("drop partition p0, add column z int", "near 'add column z int' at line 1"),
        ("add column z int, drop partition p0", "near 'partition p0' at line 1"),
        ("add column z int, remove partitioning", "near 'remove partitioning' at line 1"),
        ("coalesce partition 1, add column z int", "near ', add column z int' at line 1"),
    ] {
        assert_eq!(near(&format!("alter table t {text}")), expected, "{text}");
    }
    for (text, actions) in [
        ("algorithm=inplace, drop partition p0", 2),
        ("add partition", 1),
        ("add column z int remove partitioning", 2),
        ("truncate partition all", 1),
    ] {
        let text = format!("alter table t {text}");
        match parse(text.as_bytes(), ParseOptions::default()).expect(&text) {
            Statement::AlterTable(alter) => {
                assert_eq!(alter.actions.len(), actions, "{text}");
                let last = alter.actions.last().expect("an action");
                let removes = matches!(last, AlterAction::RemovePartitioning);
                assert!(removes || last.is_about_partitions(), "{text}");
            }
            other => panic!("{other:?}"),
        }
    }
}
