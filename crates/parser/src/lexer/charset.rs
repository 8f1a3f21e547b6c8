//! The names that make `_name` an introducer.

/// MySQL 8.4's character sets, and the alias `utf8`.
const CHARACTER_SETS: &[&str] = &[
    "armscii8", "ascii", "big5", "binary", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866",
    "cp932", "dec8", "eucjpms", "euckr", "gb18030", "gb2312", "gbk", "geostd8", "greek", "hebrew", "hp8",
    "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce", "macroman", "sjis", "swe7",
    "tis620", "ucs2", "ujis", "utf16", "utf16le", "utf32", "utf8", "utf8mb3", "utf8mb4",
];

/// Whether `name` (without the underscore) is a character set.
pub(crate) fn is_character_set(name: &[u8]) -> bool {
    CHARACTER_SETS.iter().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
}
