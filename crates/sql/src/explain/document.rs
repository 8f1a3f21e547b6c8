//! What FORMAT=JSON gives, as a tree and as text.

use palisade_catalog::json::Json;

/// A part of a document.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Document {
    Bool(bool),
    Integer(u64),
    Number(f64),
    Text(String),
    List(Vec<Document>),
    Object(Object),
}

/// Members in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Object(Vec<(&'static str, Document)>);

impl Object {
    pub(super) fn add(&mut self, name: &'static str, value: impl Into<Document>) {
        self.0.push((name, value.into()));
    }

    pub(super) fn extend(&mut self, other: Object) {
        self.0.extend(other.0);
    }

    /// The text of a member.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).and_then(|(_, value)| match value {
            Document::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    /// In the order of MySQL's JSON type: short names first.
    fn sorted(&self) -> Vec<&(&'static str, Document)> {
        let mut members: Vec<_> = self.0.iter().collect();
        members.sort_by_key(|(name, _)| (name.len(), *name));
        members
    }
}

impl From<bool> for Document {
    fn from(value: bool) -> Self {
        Document::Bool(value)
    }
}

impl From<u64> for Document {
    fn from(value: u64) -> Self {
        Document::Integer(value)
    }
}

impl From<f64> for Document {
    fn from(value: f64) -> Self {
        Document::Number(value)
    }
}

impl From<&str> for Document {
    fn from(text: &str) -> Self {
        Document::Text(text.to_owned())
    }
}

impl From<String> for Document {
    fn from(text: String) -> Self {
        Document::Text(text)
    }
}

impl From<Object> for Document {
    fn from(object: Object) -> Self {
        Document::Object(object)
    }
}

impl<T: Into<Document>> From<Vec<T>> for Document {
    fn from(list: Vec<T>) -> Self {
        Document::List(list.into_iter().map(Into::into).collect())
    }
}

/// The order of an object's members in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    AsAdded,
    Sorted,
}

impl Document {
    /// As text: a member or an item per line, two spaces deeper per level.
    pub(super) fn text(&self, order: Order) -> String {
        let mut out = String::new();
        self.write(order, 0, &mut out);
        out
    }

    fn write(&self, order: Order, level: usize, out: &mut String) {
        match self {
            Document::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Document::Integer(value) => out.push_str(&value.to_string()),
            Document::Number(value) => out.push_str(&format!("{value:?}")),
            Document::Text(text) => out.push_str(&quoted(text)),
            Document::List(items) => {
                let write = |item: &&Document, out: &mut String| item.write(order, level + 1, out);
                block(('[', ']'), &items.iter().collect::<Vec<_>>(), level, out, &write);
            }
            Document::Object(object) => {
                let members = match order {
                    Order::AsAdded => object.0.iter().collect(),
                    Order::Sorted => object.sorted(),
                };
                let write = |(name, value): &&(&'static str, Document), out: &mut String| {
                    out.push_str(&quoted(name));
                    out.push_str(": ");
                    value.write(order, level + 1, out);
                };
                block(('{', '}'), &members, level, out, &write);
            }
        }
    }
}

/// Items between brackets, each on a line of its own.
fn block<T>(
    (open, close): (char, char),
    items: &[T],
    level: usize,
    out: &mut String,
    write: &dyn Fn(&T, &mut String),
) {
    out.push(open);
    for (number, item) in items.iter().enumerate() {
        out.push_str(if number > 0 { ",\n" } else { "\n" });
        out.push_str(&"  ".repeat(level + 1));
        write(item, out);
    }
    if !items.is_empty() {
        out.push('\n');
        out.push_str(&"  ".repeat(level));
    }
    out.push(close);
}

fn quoted(text: &str) -> String {
    String::from_utf8_lossy(&Json::String(text.to_owned()).to_text()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_in_the_order_that_is_asked_for() {
        let mut object = Object::default();
        object.add("query_plan", vec![1.0]);
        object.add("query", "a \"b\"");
        object.add("inputs", Vec::<String>::new());
        let document = Document::from(object);
        assert_eq!(
            document.text(Order::AsAdded),
            "{\n  \"query_plan\": [\n    1.0\n  ],\n  \"query\": \"a \\\"b\\\"\",\n  \"inputs\": []\n}"
        );
        assert_eq!(
            document.text(Order::Sorted),
            "{\n  \"query\": \"a \\\"b\\\"\",\n  \"inputs\": [],\n  \"query_plan\": [\n    1.0\n  ]\n}"
        );
    }
}
