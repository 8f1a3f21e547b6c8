//! All collations, one row each, in the order of their numbers.
//!
//! The families that differ by character set or by level alone are written once.

use super::tables;
use super::tailoring::Language;
use super::unicode::{Unicode, Version};
use super::{Collation, CollationId, Order, weights};
use crate::charset::{Charset, byte_weights};

/// Number of collations.
const COUNT: usize = SINGLE.len() + BYTES.len() + 2 * 24 + 2 * OF_900.len() + 1;

const PAD: bool = true;
const NO_PAD: bool = false;

const fn row(id: u16, name: &'static str, charset: Charset, pad_space: bool, order: Order) -> Collation {
    Collation { id: CollationId(id), name, charset, is_default: false, pad_space, order }
}

/// The default of its character set.
const fn default(collation: Collation) -> Collation {
    Collation { is_default: true, ..collation }
}

const fn unicode(version: Version, language: Language, levels: u8) -> Order {
    Order::Unicode(Unicode { version, language, levels })
}

/// A collation of Unicode 4.0.0, or 5.2.0, with PAD SPACE.
const fn old(
    id: u16,
    name: &'static str,
    charset: Charset,
    version: Version,
    language: Language,
) -> Collation {
    row(id, name, charset, PAD, unicode(version, language, 1))
}

/// One weight a byte, as listed for the collation with this name.
const fn listed(name: &str) -> Order {
    let [first, _] = byte_weights(name);
    Order::Bytes(first)
}

/// One or two weights a byte.
const fn expanding(name: &str) -> Order {
    Order::BytesExpanding(byte_weights(name))
}

/// The collations of Unicode 4.0.0 and 5.2.0 of a character set, numbered from the given one.
macro_rules! before_900 {
    ($name:literal, $charset:expr, $first:literal: $($language:literal)*) => {{
        let languages = [$(concat!($name, "_", $language, "_ci")),*];
        let tailorings = [$(Language::named($language)),*];
        let mut rows = [old($first, concat!($name, "_unicode_ci"), $charset, Version::V400, Language::ROOT); 24];
        let mut at = 0;
        while at < languages.len() {
            // Unicode 5.2.0 has the last number but one.
            let place = if at == languages.len() - 1 { at + 2 } else { at + 1 };
            let id = $first + place as u16;
            rows[place] = old(id, languages[at], $charset, Version::V400, tailorings[at]);
            at += 1;
        }
        let name = concat!($name, "_unicode_520_ci");
        rows[22] = old($first + 22, name, $charset, Version::V520, Language::ROOT);
        rows
    }};
}

/// [`before_900`] with the languages there are.
macro_rules! languages_before_900 {
    ($name:literal, $charset:expr, $first:literal) => {
        before_900!($name, $charset, $first:
            "icelandic" "latvian" "romanian" "slovenian" "polish" "estonian" "spanish" "swedish" "turkish" "czech"
            "danish" "lithuanian" "slovak" "spanish2" "roman" "persian" "esperanto" "hungarian" "sinhala" "german2"
            "croatian" "vietnamese")
    };
}

/// A language of Unicode 9.0.0: the numbers of its `_ai_ci` and `_as_cs` collations, their names, its
/// tailoring.
type Of900 = (u16, u16, &'static str, &'static str, Language);

macro_rules! languages_900 {
    ($($ai_ci:literal $as_cs:literal $name:literal)*) => {
        [$((
            $ai_ci,
            $as_cs,
            concat!("utf8mb4_", $name, "_0900_ai_ci"),
            concat!("utf8mb4_", $name, "_0900_as_cs"),
            Language::named(concat!($name, "_0900")),
        )),*]
    };
}

#[rustfmt::skip]
const OF_900: [Of900; 28] = languages_900! {
    256 279 "de_pb" 257 280 "is" 258 281 "lv" 259 282 "ro" 260 283 "sl" 261 284 "pl" 262 285 "et" 263 286 "es"
    264 287 "sv" 265 288 "tr" 266 289 "cs" 267 290 "da" 268 291 "lt" 269 292 "sk" 270 293 "es_trad" 271 294 "la"
    273 296 "eo" 274 297 "hu" 275 298 "hr" 277 300 "vi" 306 307 "ru" 310 311 "nb" 312 313 "nn" 314 315 "sr_latn"
    316 317 "bs" 318 319 "bg" 320 321 "gl" 322 323 "mn_cyrl"
};

#[rustfmt::skip]
const SINGLE: [Collation; 21] = {
    use Charset::{Ascii, Binary, Latin1, Utf8mb3, Utf8mb4};
    [
        row(5, "latin1_german1_ci", Latin1, PAD, Order::Bytes(&tables::LATIN1_GERMAN1_CI)),
        default(row(8, "latin1_swedish_ci", Latin1, PAD, Order::Bytes(&tables::LATIN1_SWEDISH_CI))),
        default(row(11, "ascii_general_ci", Ascii, PAD, Order::Bytes(&tables::ASCII_CI))),
        row(15, "latin1_danish_ci", Latin1, PAD, Order::Bytes(&tables::LATIN1_DANISH_CI)),
        default(row(33, "utf8mb3_general_ci", Utf8mb3, PAD, Order::General)),
        row(76, "utf8mb3_tolower_ci", Utf8mb3, PAD, Order::Table(weights::TO_LOWER)),
        row(223, "utf8mb3_general_mysql500_ci", Utf8mb3, PAD, Order::Table(weights::GENERAL_MYSQL500)),
        row(45, "utf8mb4_general_ci", Utf8mb4, PAD, Order::General),
        row(46, "utf8mb4_bin", Utf8mb4, PAD, Order::Binary),
        row(47, "latin1_bin", Latin1, PAD, Order::Binary),
        row(48, "latin1_general_ci", Latin1, PAD, listed("latin1_general_ci")),
        row(49, "latin1_general_cs", Latin1, PAD, listed("latin1_general_cs")),
        default(row(63, "binary", Binary, NO_PAD, Order::Binary)),
        row(65, "ascii_bin", Ascii, PAD, Order::Binary),
        row(83, "utf8mb3_bin", Utf8mb3, PAD, Order::Binary),
        default(row(255, "utf8mb4_0900_ai_ci", Utf8mb4, NO_PAD, Order::Uca900)),
        row(278, "utf8mb4_0900_as_cs", Utf8mb4, NO_PAD, unicode(Version::V900, Language::ROOT, 3)),
        row(303, "utf8mb4_ja_0900_as_cs", Utf8mb4, NO_PAD, unicode(Version::V900, Language::named("ja_0900"), 3)),
        row(304, "utf8mb4_ja_0900_as_cs_ks", Utf8mb4, NO_PAD, unicode(Version::V900, Language::named("ja_0900_ks"), 4)),
        row(305, "utf8mb4_0900_as_ci", Utf8mb4, NO_PAD, unicode(Version::V900, Language::ROOT, 2)),
        row(308, "utf8mb4_zh_0900_as_cs", Utf8mb4, NO_PAD, unicode(Version::V900, Language::named("zh_0900"), 3)),
    ]
};

/// Of the character sets whose tables are listed.
#[rustfmt::skip]
const BYTES: [Collation; 56] = {
    use Charset::{
        Armscii8, Cp1250, Cp1251, Cp1256, Cp1257, Cp850, Cp852, Cp866, Dec8, Geostd8, Greek, Hebrew, Hp8, Keybcs2, Koi8r,
        Koi8u, Latin1, Latin2, Latin5, Latin7, Macce, Macroman, Swe7,
    };
    [
        default(row(3, "dec8_swedish_ci", Dec8, PAD, listed("dec8_swedish_ci"))),
        default(row(4, "cp850_general_ci", Cp850, PAD, listed("cp850_general_ci"))),
        default(row(6, "hp8_english_ci", Hp8, PAD, listed("hp8_english_ci"))),
        default(row(7, "koi8r_general_ci", Koi8r, PAD, listed("koi8r_general_ci"))),
        default(row(9, "latin2_general_ci", Latin2, PAD, listed("latin2_general_ci"))),
        default(row(10, "swe7_swedish_ci", Swe7, PAD, listed("swe7_swedish_ci"))),
        row(14, "cp1251_bulgarian_ci", Cp1251, PAD, listed("cp1251_bulgarian_ci")),
        default(row(16, "hebrew_general_ci", Hebrew, PAD, listed("hebrew_general_ci"))),
        row(20, "latin7_estonian_cs", Latin7, PAD, listed("latin7_estonian_cs")),
        row(21, "latin2_hungarian_ci", Latin2, PAD, listed("latin2_hungarian_ci")),
        default(row(22, "koi8u_general_ci", Koi8u, PAD, listed("koi8u_general_ci"))),
        row(23, "cp1251_ukrainian_ci", Cp1251, PAD, listed("cp1251_ukrainian_ci")),
        default(row(25, "greek_general_ci", Greek, PAD, listed("greek_general_ci"))),
        default(row(26, "cp1250_general_ci", Cp1250, PAD, listed("cp1250_general_ci"))),
        row(27, "latin2_croatian_ci", Latin2, PAD, listed("latin2_croatian_ci")),
        row(29, "cp1257_lithuanian_ci", Cp1257, PAD, listed("cp1257_lithuanian_ci")),
        default(row(30, "latin5_turkish_ci", Latin5, PAD, listed("latin5_turkish_ci"))),
        row(31, "latin1_german2_ci", Latin1, PAD, expanding("latin1_german2_ci")),
        default(row(32, "armscii8_general_ci", Armscii8, PAD, listed("armscii8_general_ci"))),
        default(row(36, "cp866_general_ci", Cp866, PAD, listed("cp866_general_ci"))),
        default(row(37, "keybcs2_general_ci", Keybcs2, PAD, listed("keybcs2_general_ci"))),
        default(row(38, "macce_general_ci", Macce, PAD, listed("macce_general_ci"))),
        default(row(39, "macroman_general_ci", Macroman, PAD, listed("macroman_general_ci"))),
        default(row(40, "cp852_general_ci", Cp852, PAD, listed("cp852_general_ci"))),
        default(row(41, "latin7_general_ci", Latin7, PAD, listed("latin7_general_ci"))),
        row(42, "latin7_general_cs", Latin7, PAD, listed("latin7_general_cs")),
        row(43, "macce_bin", Macce, PAD, Order::Binary),
        row(44, "cp1250_croatian_ci", Cp1250, PAD, listed("cp1250_croatian_ci")),
        row(50, "cp1251_bin", Cp1251, PAD, Order::Binary),
        default(row(51, "cp1251_general_ci", Cp1251, PAD, listed("cp1251_general_ci"))),
        row(52, "cp1251_general_cs", Cp1251, PAD, listed("cp1251_general_cs")),
        row(53, "macroman_bin", Macroman, PAD, Order::Binary),
        default(row(57, "cp1256_general_ci", Cp1256, PAD, listed("cp1256_general_ci"))),
        row(58, "cp1257_bin", Cp1257, PAD, Order::Binary),
        default(row(59, "cp1257_general_ci", Cp1257, PAD, listed("cp1257_general_ci"))),
        row(64, "armscii8_bin", Armscii8, PAD, Order::Binary),
        row(66, "cp1250_bin", Cp1250, PAD, Order::Binary),
        row(67, "cp1256_bin", Cp1256, PAD, Order::Binary),
        row(68, "cp866_bin", Cp866, PAD, Order::Binary),
        row(69, "dec8_bin", Dec8, PAD, Order::Binary),
        row(70, "greek_bin", Greek, PAD, Order::Binary),
        row(71, "hebrew_bin", Hebrew, PAD, Order::Binary),
        row(72, "hp8_bin", Hp8, PAD, Order::Binary),
        row(73, "keybcs2_bin", Keybcs2, PAD, Order::Binary),
        row(74, "koi8r_bin", Koi8r, PAD, Order::Binary),
        row(75, "koi8u_bin", Koi8u, PAD, Order::Binary),
        row(77, "latin2_bin", Latin2, PAD, Order::Binary),
        row(78, "latin5_bin", Latin5, PAD, Order::Binary),
        row(79, "latin7_bin", Latin7, PAD, Order::Binary),
        row(80, "cp850_bin", Cp850, PAD, Order::Binary),
        row(81, "cp852_bin", Cp852, PAD, Order::Binary),
        row(82, "swe7_bin", Swe7, PAD, Order::Binary),
        default(row(92, "geostd8_general_ci", Geostd8, PAD, listed("geostd8_general_ci"))),
        row(93, "geostd8_bin", Geostd8, PAD, Order::Binary),
        row(94, "latin1_spanish_ci", Latin1, PAD, listed("latin1_spanish_ci")),
        row(99, "cp1250_polish_ci", Cp1250, PAD, listed("cp1250_polish_ci")),
    ]
};

const BINARY_900: Collation = row(309, "utf8mb4_0900_bin", Charset::Utf8mb4, NO_PAD, Order::Binary);

/// By number.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
pub(super) static COLLATIONS: [Collation; COUNT] = {
    let mut sorted = [BINARY_900; COUNT];
    let mut count = 1;
    let families: [&[Collation]; 4] = [
        &SINGLE,
        &BYTES,
        &languages_before_900!("utf8mb4", Charset::Utf8mb4, 224),
        &languages_before_900!("utf8mb3", Charset::Utf8mb3, 192),
    ];
    let mut family = 0;
    while family < families.len() {
        let mut at = 0;
        while at < families[family].len() {
            count = insert(&mut sorted, count, families[family][at]);
            at += 1;
        }
        family += 1;
    }
    let mut at = 0;
    while at < OF_900.len() {
        let (ai_ci, as_cs, ai_ci_name, as_cs_name, language) = OF_900[at];
        let order = unicode(Version::V900, language, 1);
        count = insert(&mut sorted, count, row(ai_ci, ai_ci_name, Charset::Utf8mb4, NO_PAD, order));
        let order = unicode(Version::V900, language, 3);
        count = insert(&mut sorted, count, row(as_cs, as_cs_name, Charset::Utf8mb4, NO_PAD, order));
        at += 1;
    }
    assert!(count == COUNT, "COUNT is the number of rows");
    sorted
};

/// Puts a row where its number belongs among the `count` first, and gives the new count.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
const fn insert(sorted: &mut [Collation; COUNT], count: usize, row: Collation) -> usize {
    let mut at = count;
    while at > 0 && sorted[at - 1].id.0 > row.id.0 {
        sorted[at] = sorted[at - 1];
        at -= 1;
    }
    sorted[at] = row;
    count + 1
}

const HIGHEST: usize = 323;
const NO_POSITION: u16 = u16::MAX;

/// Position in [`COLLATIONS`] of each number.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
static POSITIONS: [u16; HIGHEST + 1] = {
    let mut positions = [NO_POSITION; HIGHEST + 1];
    let mut at = 0;
    while at < COUNT {
        positions[COLLATIONS[at].id.0 as usize] = at as u16;
        at += 1;
    }
    positions
};

/// The collation with this number.
pub(super) fn by_number(number: u16) -> Option<&'static Collation> {
    match POSITIONS.get(usize::from(number)) {
        Some(position) => COLLATIONS.get(usize::from(*position)),
        None => AS_BEFORE.iter().find(|collation| collation.id.0 == number),
    }
}

/// Added to the number of a collation whose order was another in descriptors before version 3.
const BEFORE: u16 = 2048;

/// What these collations were then: those of Unicode 4.0.0 and 5.2.0 had the weights of 9.0.0, those called
/// general took more letters for equal or had other places for signs than MySQL. The indexes of a column
/// declared then are in this order, until the column is given a collation again.
static AS_BEFORE: [Collation; 7] = [
    row(BEFORE + 33, "utf8mb3_general_ci", Charset::Utf8mb3, PAD, Order::Table(weights::GENERAL_BEFORE_3)),
    row(BEFORE + 45, "utf8mb4_general_ci", Charset::Utf8mb4, PAD, Order::Table(weights::GENERAL_BEFORE_3)),
    row(BEFORE + 48, "latin1_general_ci", Charset::Latin1, PAD, Order::Bytes(&tables::LATIN1_GENERAL_CI)),
    row(BEFORE + 49, "latin1_general_cs", Charset::Latin1, PAD, Order::Bytes(&tables::LATIN1_GENERAL_CS)),
    row(BEFORE + 192, "utf8mb3_unicode_ci", Charset::Utf8mb3, PAD, Order::Uca900),
    row(BEFORE + 224, "utf8mb4_unicode_ci", Charset::Utf8mb4, PAD, Order::Uca900),
    row(BEFORE + 246, "utf8mb4_unicode_520_ci", Charset::Utf8mb4, PAD, Order::Uca900),
];

impl CollationId {
    /// What a collation named in a descriptor before version 3 is now.
    pub(crate) fn as_before_version_3(self) -> CollationId {
        let before = CollationId(self.0.saturating_add(BEFORE));
        if AS_BEFORE.iter().any(|collation| collation.id == before) { before } else { self }
    }

    /// The number MySQL's protocol has for it.
    pub fn wire_number(self) -> u16 {
        if self.0 > BEFORE { self.0 - BEFORE } else { self.0 }
    }
}

/// Position in [`COLLATIONS`] of the default collation of each character set.
#[expect(clippy::indexing_slicing, reason = "run by the compiler, for which a panic is an error")]
static DEFAULTS: [u16; Charset::ALL.len()] = {
    let mut positions = [NO_POSITION; Charset::ALL.len()];
    let mut at = 0;
    while at < COUNT {
        if COLLATIONS[at].is_default {
            positions[COLLATIONS[at].charset as usize] = at as u16;
        }
        at += 1;
    }
    let mut charset = 0;
    while charset < positions.len() {
        assert!(positions[charset] != NO_POSITION, "every character set has a default collation");
        charset += 1;
    }
    positions
};

/// The default collation of a character set.
#[expect(
    clippy::indexing_slicing,
    reason = "DEFAULTS has a place for each character set, each of a collation"
)]
pub(super) fn default_of(charset: Charset) -> &'static Collation {
    &COLLATIONS[usize::from(DEFAULTS[charset as usize])]
}
