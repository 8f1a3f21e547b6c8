//! The rule about offsets from UTC: a text with one is the date and time that it is in the session's zone,
//! which is UTC, wherever it is compared.
//!
//! Both servers are asked the statement with that time in its place: if Palisade says the same, and MySQL
//! agrees about that one, the difference is that MySQL does not look at the offset.

/// Words of docs/sql.md.
pub const NAME: &str = "An offset from UTC in a text beside a date counts in every comparison";

/// Texts with an offset, and what they say in UTC.
const TEXTS: &[(&str, &str)] = &[
    ("2021-07-15 23:01:02+01:00", "2021-07-15 22:01:02"),
    ("2024-01-31 10:00:00+02:00", "2024-01-31 08:00:00"),
];

/// A query without offsets, if it has one.
pub fn without(text: &str) -> Option<String> {
    let is_query = text.starts_with("SELECT ") && TEXTS.iter().any(|(with, _)| text.contains(with));
    let replaced = || TEXTS.iter().fold(text.to_owned(), |text, (with, utc)| text.replace(with, utc));
    is_query.then(replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_it_says_in_utc() {
        assert_eq!(
            without("SELECT '2021-07-15 23:01:02+01:00' < d FROM t").unwrap(),
            "SELECT '2021-07-15 22:01:02' < d FROM t"
        );
        assert_eq!(without("SELECT '2021-07-15 23:01:02' < d FROM t"), None);
    }
}
