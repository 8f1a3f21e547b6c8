//! Tests of declarations and of what is wanted.

use palisade_catalog::{CollationId, SqlType, Value};

use crate::{Definition, Named, Names, Origin, Registry, Wanted, virtual_table};

/// A key of the kitchen.
struct Key<'a> {
    schema: &'a str,
    table: &'a str,
    kind: &'static str,
}

virtual_table! {
    mod keys = "kitchen"."KEYS" of |it: Key<'_>| {
        TABLE_SCHEMA: varchar(64) in utf8mb3_bin not null => Value::bytes(it.schema),
        TABLE_NAME: varchar(64) in utf8mb3_bin not null => Value::bytes(it.table),
        COLUMN_KEY: enum("", "PRI", "MUL") in utf8mb3_bin not null default "" => Value::bytes(it.kind),
        KINDS: set("a", "b", "c") => Value::bytes("a,c"),
        PLACE: int not null key PRI => Value::UInt(7),
        SIZE: bigint_unsigned => panic!("it is not wanted"),
    }
}

virtual_table! {
    mod none = "kitchen"."NONE" {
        TABLE_NAME: char(64),
        TIME: timestamp(6) not null,
    }
}

struct Kitchen;

impl Origin for Kitchen {
    type Source<'a> = &'a str;
}

static REGISTRY: Registry<Kitchen> = Registry {
    listed: &[&[Definition::new(&keys::DECL, |source, wanted| {
        let (name, wanted) = ((*source).to_owned(), wanted.clone());
        Box::new(
            (0..2).map(move |_| keys::row(&Key { schema: "kitchen", table: &name, kind: "MUL" }, &wanted)),
        )
    })]],
    unlisted: &[&[Definition::empty(&none::DECL)]],
};

#[test]
fn a_row_has_the_values_that_are_wanted_in_the_form_of_their_types() {
    let wanted = Wanted::columns(&keys::DECL, [1, 2, 3, 4]);
    let row = keys::row(&Key { schema: "kitchen", table: "soup", kind: "PRI" }, &wanted);
    let Value::Enum(kind) = &row[2] else { panic!("{row:?}") };
    let Value::Set(kinds) = &row[3] else { panic!("{row:?}") };
    assert_eq!((kind.index, kinds.bits), (2, 0b101));
    assert_eq!(
        [&row[0], &row[1], &row[4], &row[5]],
        [&Value::Null, &Value::bytes("soup"), &Value::Int(7), &Value::Null]
    );
}

#[test]
fn a_declaration_says_what_was_written() {
    let key = keys::DECL.columns[2];
    assert_eq!((key.name, key.nullable, key.default, key.key), ("COLUMN_KEY", false, Some(""), ""));
    assert_eq!(keys::DECL.columns[4].key, "PRI");
    assert_eq!(keys::DECL.columns[5].default, None);
    assert_eq!(none::DECL.columns[1].column().sql_type, SqlType::Timestamp { fsp: 6 });
    assert_eq!(keys::DECL.place_of(Named::Table), Some(1));
    assert_eq!(none::DECL.place("time"), Some(1));
}

#[test]
fn a_registry_lists_some_finds_all_and_makes_rows() {
    assert_eq!(REGISTRY.declarations().map(|table| table.name).collect::<Vec<_>>(), ["KEYS"]);
    let found = REGISTRY.find("KITCHEN", "none").unwrap();
    assert!(std::ptr::eq(found, &none::DECL));
    assert_eq!(REGISTRY.rows(found, &"", &Wanted::everything()).unwrap().count(), 0);
    let rows = REGISTRY.rows(&keys::DECL, &"soup", &Wanted::columns(&keys::DECL, [1])).unwrap();
    assert_eq!(
        rows.map(|row| row[1].clone()).collect::<Vec<_>>(),
        [Value::bytes("soup"), Value::bytes("soup")]
    );
}

fn names(collation: CollationId, wanted: &[&str]) -> Names {
    let mut names = Names::default();
    names.narrow(collation, wanted.iter().map(|name| name.as_bytes().to_vec()).collect());
    names
}

#[test]
fn names_compare_as_the_condition_does() {
    let any_case = names(CollationId::UTF8MB3_GENERAL_CI, &["Soup", "TEA "]);
    assert!(any_case.admits("soup") && any_case.admits("tea") && !any_case.admits("coffee"));
    assert_eq!(any_case.exact(), None);
    let exact = names(CollationId::UTF8MB3_BIN, &["tea ", "Soup", "tea"]);
    assert!(exact.admits("tea") && !exact.admits("soup"));
    assert_eq!(exact.exact(), Some(vec!["Soup", "tea"]));
    // Spaces count in a collation without padding.
    assert_eq!(names(CollationId::UTF8MB4_0900_BIN, &["tea "]).exact(), Some(vec![]));
}

#[test]
fn all_conditions_narrow_and_one_in_another_character_set_does_not() {
    let mut both = names(CollationId::UTF8MB3_BIN, &["soup", "tea"]);
    both.narrow(CollationId::UTF8MB3_GENERAL_CI, vec![b"SOUP".to_vec()]);
    assert_eq!(both.exact(), Some(vec!["soup"]));
    let latin = names(CollationId::LATIN1_SWEDISH_CI, &["soup"]);
    assert!(latin.admits("anything"));
    assert!(Names::default().admits("anything"));
    assert!(!names(CollationId::UTF8MB3_BIN, &[]).admits("anything"), "of NULL alone");
}
