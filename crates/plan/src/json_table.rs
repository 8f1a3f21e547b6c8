//! JSON_TABLE: rows made of a document.
//!
//! A path finds values in the document, and each of them is a row of the columns beside it. A NESTED path
//! finds values below that one, which are rows of their own: those of several nested paths come one behind
//! the other, each with NULL in the columns of the others.
//!
//! ```text
//! JSON_TABLE('[{"a": 1, "b": [5, 6], "c": [7]}]', '$[*]' COLUMNS (
//!     a INT PATH '$.a',
//!     NESTED PATH '$.b[*]' COLUMNS (b INT PATH '$'),        a    b    c
//!     NESTED PATH '$.c[*]' COLUMNS (c INT PATH '$')))       1    5    NULL
//!                                                           1    6    NULL
//!                                                           1    NULL 7
//! ```

use std::fmt::{self, Display, Formatter};

use palisade_catalog::Column;
use palisade_catalog::json::Json;
use palisade_catalog::json::path::Path;

use super::Operator;

/// Most nested paths of a table.
pub const MOST_NESTED: usize = 16;
/// How many rows the planner takes it for.
pub const ROWS: f64 = 2.0;

/// The table function whose rows an operator gives, and nothing else.
pub fn of_operator(operator: &Operator) -> Option<&JsonTable> {
    match operator {
        Operator::Noted { input, .. } => of_operator(input),
        Operator::Values { function, .. } => function.as_deref(),
        _ => None,
    }
}

/// Which rows and columns are made of a document.
#[derive(Debug, Clone)]
pub struct JsonTable {
    /// The path that is followed from the document.
    pub root: JsonLevel,
    /// All columns, in the order of the text.
    pub columns: Vec<JsonColumn>,
}

/// A path, and what is made of each value that it finds.
#[derive(Debug, Clone)]
pub struct JsonLevel {
    /// The path, from the value of the level around it.
    pub path: JsonPath,
    /// Its columns and the nested paths, in the order of the text.
    pub parts: Vec<JsonPart>,
}

/// A part of a COLUMNS clause.
#[derive(Debug, Clone)]
pub enum JsonPart {
    /// A column, by its number among all.
    Column(usize),
    /// NESTED PATH.
    Nested(JsonLevel),
}

/// A path and its text.
#[derive(Debug, Clone)]
pub struct JsonPath {
    /// The path.
    pub path: Path,
    /// As it is written.
    pub text: String,
}

/// A column.
#[derive(Debug, Clone)]
pub struct JsonColumn {
    /// Its name and type.
    pub column: Column,
    /// What its values are.
    pub value: JsonValue,
}

/// What the values of a column are.
#[derive(Debug, Clone)]
pub enum JsonValue {
    /// FOR ORDINALITY: the number of the value among those that the level's path finds.
    Ordinality,
    /// PATH: what a path finds.
    Path {
        /// The path.
        path: JsonPath,
        /// ON EMPTY, for a path that finds nothing.
        on_empty: Option<JsonAnswer>,
        /// ON ERROR, for what the column cannot have.
        on_error: Option<JsonAnswer>,
    },
    /// EXISTS PATH: whether a path finds something.
    Exists(JsonPath),
}

/// What stands in the place of a value; NULL where nothing is said.
#[derive(Debug, Clone)]
pub enum JsonAnswer {
    /// NULL.
    Null,
    /// ERROR: the statement fails.
    Error,
    /// DEFAULT, and as it is written.
    Default(Json, String),
}

impl JsonLevel {
    /// The nested paths.
    pub fn nested(&self) -> impl Iterator<Item = &JsonLevel> {
        self.parts.iter().filter_map(|part| match part {
            JsonPart::Nested(level) => Some(level),
            JsonPart::Column(_) => None,
        })
    }

    /// Its own columns, by their numbers.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| match part {
            JsonPart::Column(number) => Some(*number),
            JsonPart::Nested(_) => None,
        })
    }
}

/// Text in quotes.
struct Quoted<'a>(&'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "'{}'", self.0.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

impl JsonTable {
    /// What follows the document in EXPLAIN: path and columns.
    pub fn text(&self) -> String {
        format!("{} columns ({})", Quoted(&self.root.path.text), self.parts(&self.root))
    }

    fn parts(&self, level: &JsonLevel) -> String {
        let parts = level.parts.iter().map(|part| match part {
            JsonPart::Column(number) => self.columns.get(*number).map(column_text).unwrap_or_default(),
            JsonPart::Nested(level) => {
                format!("nested path {} columns ({})", Quoted(&level.path.text), self.parts(level))
            }
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

fn column_text(column: &JsonColumn) -> String {
    let name = super::bind::quoted(&column.column.name);
    let declared = || {
        let ty = &column.column.sql_type;
        let mut text = format!("{name} {}", column.column.type_text());
        if ty.is_text() {
            let collation = ty.collation().get();
            text.push_str(&format!(" character set {} collate {}", collation.charset.name(), collation.name));
        }
        text
    };
    let answer = |answer: &Option<JsonAnswer>, event: &str| match answer {
        None => String::new(),
        Some(JsonAnswer::Null) => format!(" null on {event}"),
        Some(JsonAnswer::Error) => format!(" error on {event}"),
        Some(JsonAnswer::Default(_, text)) => format!(" default {} on {event}", Quoted(text)),
    };
    match &column.value {
        JsonValue::Ordinality => format!("{name} for ordinality"),
        JsonValue::Exists(path) => format!("{} exists path {}", declared(), Quoted(&path.text)),
        JsonValue::Path { path, on_empty, on_error } => {
            let (empty, error) = (answer(on_empty, "empty"), answer(on_error, "error"));
            format!("{} path {}{empty}{error}", declared(), Quoted(&path.text))
        }
    }
}
