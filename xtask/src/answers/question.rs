//! What is asked: statements in turn, and a grammar that makes them from a seed.

use std::collections::BTreeMap;
use std::fmt;

use palisade_base::prng::Prng;

use crate::client::Parameter;

/// One statement of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Sent as text.
    Text(String),
    /// Prepared by the protocol's command, and executed once with each of these lists of values.
    Binary(String, Vec<Vec<Parameter>>),
}

impl Step {
    /// The statement.
    pub fn text(&self) -> &str {
        match self {
            Step::Text(text) | Step::Binary(text, _) => text,
        }
    }

    /// The same with another text.
    pub fn with_text(&self, text: String) -> Step {
        match self {
            Step::Text(_) => Step::Text(text),
            Step::Binary(_, values) => Step::Binary(text, values.clone()),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Text(text) => write!(f, "{text}"),
            Step::Binary(text, values) => write!(f, "{text} /* prepared, executed with {values:?} */"),
        }
    }
}

/// Statements to be executed in turn, and what they are about: the outermost function or operator, the form
/// of the statement, or the column that a value is stored in.
#[derive(Debug, Clone)]
pub struct Question {
    pub steps: Vec<Step>,
    pub about: String,
}

impl Question {
    /// Whether a statement of it changes rows.
    pub fn changes_rows(&self) -> bool {
        let verbs = ["INSERT", "UPDATE", "DELETE", "REPLACE"];
        self.steps.iter().any(|step| verbs.iter().any(|verb| step.text().starts_with(verb)))
    }

    /// A question of statements sent as text.
    pub fn of(statements: Vec<String>, about: &str) -> Question {
        Question { steps: statements.into_iter().map(Step::Text).collect(), about: about.into() }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, step) in self.steps.iter().enumerate() {
            write!(f, "{}{step};", if at == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

/// The rules of a grammar: a name and what it may be. In a text `$name` stands for one of its choices;
/// `$name1` to `$name9` for one that is the same wherever it stands in a question. A `$` before anything else
/// stands for itself. A newline ends a statement.
pub type Rules = &'static [(&'static str, &'static [&'static str])];

/// A grammar and the numbers that choose.
pub struct Grammar<'p> {
    rules: Rules,
    prng: &'p mut Prng,
    kept: BTreeMap<String, String>,
}

impl<'p> Grammar<'p> {
    pub fn new(rules: Rules, prng: &'p mut Prng) -> Grammar<'p> {
        Grammar { rules, prng, kept: BTreeMap::new() }
    }

    /// One of the choices of a rule, and what it has become.
    pub fn choose(&mut self, rule: &str) -> (&'static str, String) {
        let choices = self.choices(rule).unwrap_or_else(|| panic!("the grammar has no rule {rule}"));
        let choice = *self.prng.pick::<&'static str>(choices);
        (choice, self.fill(choice))
    }

    fn choices(&self, rule: &str) -> Option<&'static [&'static str]> {
        self.rules.iter().find(|(name, _)| *name == rule).map(|(_, choices)| *choices)
    }

    /// A text with all its names replaced.
    pub fn fill(&mut self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            out += &rest[..at];
            rest = &rest[at + 1..];
            let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            if self.choices(name).is_none() {
                out.push('$');
                continue;
            }
            let digit = after.chars().next().filter(char::is_ascii_digit);
            rest = &after[usize::from(digit.is_some())..];
            out += &match digit {
                None => self.choose(name).1,
                Some(digit) => self.keep(format!("{name}{digit}"), name),
            };
        }
        out + rest
    }

    fn keep(&mut self, key: String, name: &str) -> String {
        if let Some(known) = self.kept.get(&key) {
            return known.clone();
        }
        let (_, made) = self.choose(name);
        self.kept.insert(key, made.clone());
        made
    }

    /// A question: what the rule `question` makes. It is about the choice that was made there, its first
    /// statement where it has several.
    pub fn question(&mut self) -> Question {
        let (form, text) = self.choose("question");
        Question::of(text.split('\n').map(|statement| statement.trim().to_owned()).collect(), form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules = &[
        ("question", &["SELECT $number1, $number1, '$.a', '$[0]'\nDO $number"]),
        ("number", &["1", "2", "3", "-$number"]),
    ];

    #[test]
    fn a_seed_makes_the_same_question_and_a_kept_choice_is_the_same() {
        for seed in 0..100 {
            let [once, again] = [(); 2].map(|()| Grammar::new(RULES, &mut Prng::new(seed)).question());
            assert_eq!(once.steps, again.steps);
            assert_eq!(once.steps.len(), 2);
            let [left, right, path, ..] = once.steps[0].text()[7..].split(", ").collect::<Vec<_>>()[..]
            else {
                panic!("{once}")
            };
            assert_eq!(left, right);
            assert_eq!(path, "'$.a'");
        }
    }
}
