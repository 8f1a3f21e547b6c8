//! What of the session changes how text is read.

/// How to read a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseOptions {
    /// sql_mode ANSI_QUOTES: `"x"` is an identifier.
    pub ansi_quotes: bool,
    /// sql_mode PIPES_AS_CONCAT: `||` concatenates.
    pub pipes_as_concat: bool,
    /// sql_mode NO_BACKSLASH_ESCAPES: a backslash in a string is a backslash.
    pub no_backslash_escapes: bool,
    /// sql_mode IGNORE_SPACE: `COUNT (*)` calls the function.
    pub ignore_space: bool,
    /// sql_mode HIGH_NOT_PRECEDENCE: NOT binds like `!`.
    pub high_not_precedence: bool,
    /// Whether `?` is a parameter. In the text of a statement that is not prepared it is a syntax error.
    pub placeholders: bool,
    /// How deep expressions may nest (queries a third of it); beyond is an error. The default needs half a megabyte of
    /// stack, and a tree of twice that height may come out of it.
    pub max_depth: u32,
}

impl Default for ParseOptions {
    fn default() -> Self {
        ParseOptions {
            ansi_quotes: false,
            pipes_as_concat: false,
            no_backslash_escapes: false,
            ignore_space: false,
            high_not_precedence: false,
            placeholders: true,
            max_depth: 180,
        }
    }
}
