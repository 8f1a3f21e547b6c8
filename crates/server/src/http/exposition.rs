//! Prometheus' text format, version 0.0.4: families of samples, each family once, with what it is.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the text is, for `Content-Type`.
pub(super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What a family's numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only grows.
    Counter,
    Gauge,
    /// It is not said.
    Untyped,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Untyped => "untyped",
        }
    }
}

struct Family {
    kind: Kind,
    help: Cow<'static, str>,
    /// Labels in braces, and the value.
    samples: Vec<(String, String)>,
}

/// Families by name.
#[derive(Default)]
pub(super) struct Exposition {
    families: BTreeMap<String, Family>,
}

impl Exposition {
    /// Adds a sample; help and kind are those of the family's first one. `value` is a number's text.
    pub(super) fn add(
        &mut self,
        name: &str,
        kind: Kind,
        help: impl Into<Cow<'static, str>>,
        labels: &[(&str, &str)],
        value: impl Into<String>,
    ) {
        let family = self.families.entry(name_of(name)).or_insert_with(|| Family {
            kind,
            help: help.into(),
            samples: Vec::new(),
        });
        family.samples.push((shown_labels(labels), value.into()));
    }

    /// The whole text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, family) in &self.families {
            let (help, kind) = (escaped(&family.help, false), family.kind.name());
            // writing to a String does not fail
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (labels, value) in &family.samples {
                let _ = writeln!(text, "{name}{labels} {value}");
            }
        }
        text
    }
}

/// A name with nothing in it that Prometheus does not take.
fn name_of(name: &str) -> String {
    let taken = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    name.chars().map(taken).collect()
}

fn shown_labels(labels: &[(&str, &str)]) -> String {
    if labels.is_empty() {
        return String::new();
    }
    let shown = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value, true)));
    format!("{{{}}}", shown.collect::<Vec<_>>().join(","))
}

/// A text of which no end of line, backslash, or (of a label's value) quotation mark ends it.
fn escaped(text: &str, is_value: bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '"' if is_value => escaped.push_str("\\\""),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_told_once_and_no_label_ends_early() {
        let mut all = Exposition::default();
        all.add("b_total", Kind::Counter, "Second", &[], "2");
        all.add("a:b-Ü", Kind::Gauge, "First\nof \\ \"two\"", &[("x", "1"), ("y", "\"\n\\}")], "0.5");
        all.add("b_total", Kind::Gauge, "", &[("x", "")], "3");
        let expected = "# HELP a_b__ First\\nof \\\\ \"two\"\n# TYPE a_b__ gauge\n\
                        a_b__{x=\"1\",y=\"\\\"\\n\\\\}\"} 0.5\n\
                        # HELP b_total Second\n# TYPE b_total counter\nb_total 2\nb_total{x=\"\"} 3\n";
        assert_eq!(all.text(), expected);
    }
}
