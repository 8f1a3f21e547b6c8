//! Option files: my.cnf.
//!
//! ```text
//! [mysqld]                      groups read here: mysqld, mysqld-8.4, server, palisade
//! # comment        ; comment
//! max-connections = 500         dashes and underscores are alike
//! skip-name-resolve             a bare flag
//! init_connect = "set @a = 1"   quoted; \n \t \s \\ are escapes
//! !include /etc/more.cnf        another file
//! !includedir /etc/conf.d       every *.cnf in a folder, by name
//! ```

use std::path::{Path, PathBuf};

/// An option as a file or the command line gives it, dashes still in its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Without the leading dashes.
    pub name: String,
    /// `None` for a bare flag.
    pub value: Option<String>,
    /// For messages: `my.cnf:12` or `command line`.
    pub origin: String,
}

const GROUPS: &[&str] = &["mysqld", "mysqld-8.4", "server", "palisade"];

/// Files that include files that include ... stop here.
const MAX_DEPTH: usize = 10;

/// Reads the options of the server's groups from `path`, in order.
pub fn read(path: &Path) -> Result<Vec<Given>, String> {
    let mut options = Vec::new();
    read_file(path, 0, &mut options)?;
    Ok(options)
}

fn read_file(path: &Path, depth: usize, options: &mut Vec<Given>) -> Result<(), String> {
    if depth > MAX_DEPTH {
        return Err(format!("{}: option files include each other too deeply", path.display()));
    }
    let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut in_group = false;
    for (number, line) in text.lines().enumerate() {
        let origin = format!("{}:{}", path.display(), number + 1);
        match parse_line(line).map_err(|problem| format!("{origin}: {problem}"))? {
            Line::Nothing => {}
            Line::Group(name) => in_group = GROUPS.contains(&name.as_str()),
            Line::Include(file) => read_file(&folder.join(file), depth + 1, options)?,
            Line::IncludeDir(dir) => {
                for file in files_in(&folder.join(dir))? {
                    read_file(&file, depth + 1, options)?;
                }
            }
            Line::Option { name, value } if in_group => options.push(Given { name, value, origin }),
            Line::Option { .. } => {}
        }
    }
    Ok(())
}

fn files_in(dir: &Path) -> Result<Vec<PathBuf>, String> {
    let problem = |error: std::io::Error| format!("{}: {error}", dir.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(problem)? {
        let path = entry.map_err(problem)?.path();
        if path.extension().is_some_and(|extension| extension == "cnf") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Nothing,
    Group(String),
    Include(String),
    IncludeDir(String),
    Option { name: String, value: Option<String> },
}

fn parse_line(line: &str) -> Result<Line, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with(['#', ';']) {
        return Ok(Line::Nothing);
    }
    if let Some(group) = line.strip_prefix('[') {
        let (name, _) = group.split_once(']').ok_or("a group's name ends with ]")?;
        return Ok(Line::Group(name.trim().to_owned()));
    }
    if let Some(dir) = line.strip_prefix("!includedir") {
        return Ok(Line::IncludeDir(dir.trim().to_owned()));
    }
    if let Some(file) = line.strip_prefix("!include") {
        return Ok(Line::Include(file.trim().to_owned()));
    }
    match line.split_once('=') {
        None => Ok(Line::Option { name: without_comment(line).to_owned(), value: None }),
        Some((name, value)) => {
            Ok(Line::Option { name: name.trim().to_owned(), value: Some(unquote(value.trim())?) })
        }
    }
}

/// `text` up to a `#` that begins a comment: one after white space.
fn without_comment(text: &str) -> &str {
    let mut before = text.match_indices('#').filter_map(|(at, _)| text.get(..at));
    before.find(|text| text.ends_with(char::is_whitespace)).map_or(text, str::trim_end)
}

fn unquote(text: &str) -> Result<String, String> {
    let mut chars = text.chars();
    let Some(quote) = chars.next().filter(|first| matches!(first, '"' | '\'')) else {
        return Ok(unescape(without_comment(text)));
    };
    let quoted = chars.as_str();
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return Ok(unescape(quoted.get(..at).unwrap_or(quoted))),
            _ => {}
        }
    }
    Err(format!("a value that begins with {quote} ends with it"))
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, false) => out.push(c),
            (_, true) => match chars.next() {
                Some('n') => out.push('\n'),
                Some('t') => out.push('\t'),
                Some('r') => out.push('\r'),
                Some('b') => out.push('\u{8}'),
                Some('s') => out.push(' '),
                Some(other @ ('\\' | '"' | '\'')) => out.push(other),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(line: &str) -> Option<String> {
        match parse_line(line) {
            Ok(Line::Option { value, .. }) => value,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn lines_are_read_as_mysql_reads_them() {
        assert_eq!(parse_line("  # c"), Ok(Line::Nothing));
        assert_eq!(parse_line("[mysqld]"), Ok(Line::Group("mysqld".into())));
        assert_eq!(
            parse_line("skip-name-resolve # why"),
            Ok(Line::Option { name: "skip-name-resolve".into(), value: None })
        );
        assert_eq!(value_of("a = b # c").as_deref(), Some("b"));
        assert_eq!(value_of("a=b#c").as_deref(), Some("b#c"));
        assert_eq!(value_of("a = 'b # c' # d").as_deref(), Some("b # c"));
        assert_eq!(value_of(r"a = c:\\data\s1").as_deref(), Some(r"c:\data 1"));
        assert_eq!(value_of(r#"a = "x\"y""#).as_deref(), Some("x\"y"));
        assert_eq!(value_of("a=").as_deref(), Some(""));
        assert!(parse_line("a = 'b").is_err());
        assert!(parse_line("[mysqld").is_err());
    }

    #[test]
    fn files_include_files_and_only_the_servers_groups_count() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        std::fs::create_dir(dir.path().join("conf.d")).unwrap();
        write("my.cnf", "[client]\nport=1\n[mysqld]\nport=2\n!includedir conf.d\n[palisade]\nsocket=x\n");
        write("conf.d/b.cnf", "[server]\nb=2\n");
        write("conf.d/a.cnf", "[mysqld]\na\n");
        write("conf.d/c.txt", "[mysqld]\nc\n");
        let options = read(&dir.path().join("my.cnf")).unwrap();
        let names: Vec<_> = options.iter().map(|given| given.name.as_str()).collect();
        assert_eq!(names, ["port", "a", "b", "socket"]);
        assert!(options[0].origin.ends_with("my.cnf:4"));
        write("loop.cnf", "!include loop.cnf\n");
        assert!(read(&dir.path().join("loop.cnf")).unwrap_err().contains("too deeply"));
        assert!(read(&dir.path().join("none.cnf")).unwrap_err().contains("none.cnf"));
    }
}
