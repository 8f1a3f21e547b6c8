use std::collections::HashSet;

use palisade_parser::ParseOptions;
use palisade_parser::ast::Statement;

use super::*;

#[test]
fn each_view_is_a_query_with_a_name_of_its_own() {
    let mut names = HashSet::new();
    for declaration in declarations() {
        assert_eq!(declaration.schema, SYS);
        assert!(names.insert(declaration.name), "{} is declared twice", declaration.name);
        let query = view(SYS, declaration.name).unwrap();
        let parsed = palisade_parser::parse(query.text.as_bytes(), ParseOptions::default());
        assert!(matches!(parsed, Ok(Statement::Query(_))), "{}: {parsed:?}", query.text);
    }
    assert_eq!(names.len(), 100);
    for one in views() {
        assert_eq!(one.declaration.columns.len(), one.values.len(), "{}", one.declaration.name);
        let is_shown = one.values.iter().any(|(shown, _)| *shown != palisade_schema::Shown::Itself);
        assert!(is_shown || one.twin.is_none(), "{}", one.declaration.name);
    }
}
