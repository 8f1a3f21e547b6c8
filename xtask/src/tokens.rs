//! SQL cut into tokens, roughly: enough to leave some out or to exchange them.

/// The tokens of a statement, each with the spaces before it: together they are the statement.
pub fn split(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let spaces = rest.len() - rest.trim_start().len();
        let end = spaces + token_length(&rest[spaces..]);
        tokens.push(rest[..end].to_owned());
        rest = &rest[end..];
    }
    tokens
}

fn token_length(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    match first {
        '\'' | '"' | '`' => {
            let mut escaped = false;
            for (at, c) in text.char_indices().skip(1) {
                match c {
                    _ if escaped => escaped = false,
                    '\\' if first != '`' => escaped = true,
                    _ if c == first => return at + 1,
                    _ => {}
                }
            }
            text.len()
        }
        c if is_word(c) => text.find(|c| !is_word(c)).unwrap_or(text.len()),
        c => c.len_utf8(),
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn together_they_are_the_text() {
        for text in
            ["SELECT 'it''s', \"a\\\"b\", `x y` FROM\n t WHERE a>=1.5 -- end", "", "'open", "a日b + 日"]
        {
            assert_eq!(split(text).concat(), text);
        }
        assert_eq!(split("f(a.b, 'c d')"), ["f", "(", "a.b", ",", " 'c d'", ")"]);
    }
}
