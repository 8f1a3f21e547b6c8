#!/usr/bin/env python3
"""Asks a MySQL 9.7 server for the weights of its Unicode collations and writes src/collation/uca400.bin, uca520.bin,
uca900_secondary.bin, uca900_tertiary.bin and tailorings.bin; and general.bin, general_mysql500.bin and tolower.bin.

Run in crates/catalog (some ten minutes; `--general` writes only the last three):

    tools/ask_uca.py [--general] mariadb --no-defaults -uroot -h127.0.0.1 -P33061

It makes and drops a schema `collation_tables` there. Only answers of WEIGHT_STRING() are used.

The four tables have the layout of uca900.bin, which tools/generate_collations.py tells.

tailorings.bin, little-endian: the number of tailorings (u16); for each its name (length in a byte, then the bytes) and
the offset of its body (u32); then the bodies. A body:

    base      u8      0: Unicode 4.0.0, 1: 5.2.0, 2: 9.0.0
    levels    u8
    maps      for the first of two implicit weights, then for each of three levels: a count (u8), and that many of
              lowest, highest, added, prefix (u16 each): a weight from lowest to highest has `added` added (modulo
              65536), and `prefix` goes before it if that is not 0
    count     u32     entries, by their characters:
    entry     u8      number of characters; + 0x80 if it has one primary weight, 0x20 and 0x02 and nothing more
              u8 * 3  each character
              levels  a count (u8) and that many weights (u16); of an entry + 0x80 only the primary weight (u16)

What an entry does not say has the weights of the base, through the maps.

general.bin, general_mysql500.bin, tolower.bin, little-endian 16-bit words:

    0..256    page number of each 256 code points of the Basic Multilingual Plane; 0xffff where every weight is the
              code point
    then pages of 256 words: the character's weight
"""

import itertools
import re
import struct
import subprocess
import sys

COMMAND, OUT = [], "src/collation/"
SCHEMA = "collation_tables"
ROOTS = ["utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_0900_as_cs"]
IMPLICIT = 0xFFFF

# Latin and Greek after Cyrillic; Greek after Cyrillic; in Danish upper case first.
CYRILLIC_FIRST = {1: [(0x1C47, 0x2021, 0x1C0, 0), (0x2022, 0x21E1, 0xFC25, 0)]}
CYRILLIC_SECOND = {1: [(0x1FB6, 0x2021, 0x1C0, 0), (0x2022, 0x21E1, 0xFF94, 0)]}
MAPS = {
    "ru_0900": CYRILLIC_FIRST, "bg_0900": CYRILLIC_FIRST, "mn_cyrl_0900": CYRILLIC_FIRST,
    "hr_0900": CYRILLIC_SECOND, "bs_0900": CYRILLIC_SECOND, "sr_latn_0900": CYRILLIC_SECOND,
    "da_0900": {3: [(0x02, 0x07, 0x300, 0), (0x08, 0x0C, 0x100, 0), (0x0D, 0x0D, 0x300, 0), (0x0E, 0x0E, 0x100, 0),
                    (0x0F, 0x10, 0x300, 0), (0x11, 0x12, 0x100, 0), (0x13, 0x1C, 0x300, 0), (0x1D, 0x1D, 0x100, 0),
                    (0x1E, 0x1E, 0x300, 0)]},
    "ja_0900": {1: [(0x1FB6, 0x3D59, 0, 0xFB86), (0x3D5A, 0x3D8B, 0xE25C, 0), (0x3D8C, 0x54A3, 0, 0xFB86)]},
    "zh_0900": {0: [(0xFB00, 0xFB00, 0xFB21, 0), (0xFB40, 0xFB41, 0xC27F, 0), (0xFB80, 0xFB80, 0xC241, 0),
                    (0xFB84, 0xFB85, 0xC23E, 0), (0xFBC0, 0xFBE1, 0xFA62, 0)],
                1: [(0x1C47, 0x54A3, 0xA17D, 0)]},
}


def ask(sql):
    command = COMMAND + ["--default-character-set=utf8mb4", "-N", "--batch"]
    run = subprocess.run(command, input=sql, text=True, capture_output=True)
    if run.returncode:
        raise SystemExit(run.stderr[:1000])
    return [line.split("\t") for line in run.stdout.splitlines()]


def literal(text):
    return "_utf8mb4 X'%s'" % text.encode().hex() if text else "_utf8mb4''"


def levels_of(answer):
    levels = [[]]
    for at in range(0, len(answer), 4):
        weight = int(answer[at : at + 4], 16)
        if weight:
            levels[-1].append(weight)
        else:
            levels.append([])
    return levels


def words(values):
    return struct.pack("<%dH" % len(values), *values)


def make_characters():
    ask(f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
    ask(f"USE {SCHEMA}; DROP TABLE IF EXISTS cp; CREATE TABLE cp (code INT PRIMARY KEY, "
        "ch VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL)")
    codes = [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    for at in range(0, len(codes), 20000):
        ask(f"INSERT INTO {SCHEMA}.cp VALUES " +
            ",".join("(%d,X'%s')" % (c, chr(c).encode().hex()) for c in codes[at : at + 20000]))


def weights_of_all(collation, unlike=None):
    """The weights of every character; of those that weigh unlike in another collation, if that is given."""
    where = f" WHERE WEIGHT_STRING(ch COLLATE {collation}) <> WEIGHT_STRING(ch COLLATE {unlike})" if unlike else ""
    rows = ask(f"SELECT code, HEX(WEIGHT_STRING(ch COLLATE {collation})) FROM {SCHEMA}.cp" + where)
    return {int(code): levels_of(answer) for code, answer in rows}


def implicit(code, ideographs):
    """The weights the standard gives to what no table lists; `ideographs` are the ranges of the version."""
    core, others = ideographs
    if any(low <= code <= high for low, high in core):
        first = 0xFB40
    elif any(low <= code <= high for low, high in others):
        first = 0xFB80
    else:
        first = 0xFBC0
    return [first + (code >> 15), code & 0x7FFF | 0x8000]


# Of Unicode 4.0.0 and 5.2.0, as MySQL has them.
IDEOGRAPHS = (
    [(0x4E00, 0x9FA5), (0xFA0E, 0xFA0F)] + [(c, c) for c in (0xFA11, 0xFA13, 0xFA14, 0xFA1F, 0xFA21, 0xFA23, 0xFA24,
     0xFA27, 0xFA28, 0xFA29)],
    [(0x3400, 0x4DB5)],
)


def write_root(name, table, is_implicit):
    """Writes a table of one level: {code: weights}; `is_implicit(code, weights)` leaves it to the formula."""
    expansions, numbers, index, pages, known = [], {}, [], [], {}

    def word(code):
        weights = table.get(code)
        if weights is None or is_implicit(code, weights):
            return IMPLICIT
        if not weights:
            return 0
        if len(weights) == 1 and weights[0] < 0x8000:
            return weights[0]
        key = tuple(weights)
        if key not in numbers:
            numbers[key] = len(expansions)
            expansions.append(key)
        return 0x8000 + numbers[key]

    for page in range(0x1100):
        content = tuple(word(code) for code in range(page * 256, page * 256 + 256))
        if content not in known:
            known[content] = len(pages)
            pages.append(content)
        index.append(known[content])
    starts, weights = [0], []
    for expansion in expansions:
        weights.extend(expansion)
        starts.append(len(weights))
    assert len(expansions) < 0x7FFF and len(weights) < 0x10000
    out = words(index) + words([len(pages), len(expansions)])
    out += b"".join(words(page) for page in pages) + words(starts) + words(weights)
    open(OUT + name, "wb").write(out)
    print(name, len(pages), "pages", len(expansions), "expansions", len(out), "bytes", flush=True)


def write_roots(roots):
    for name, table in (("uca400.bin", roots[0]), ("uca520.bin", roots[1])):
        write_root(name, {code: levels[0] for code, levels in table.items()},
                   lambda code, weights: weights == implicit(code, IDEOGRAPHS))
    hangul = range(0xAC00, 0xD7A4)

    def uniform(common):
        # The formula knows only Hangul syllables: as many common weights as they have letters.
        return lambda code, weights: code in hangul and weights == [common] * (2 if (code - 0xAC00) % 28 == 0 else 3)

    for name, level, common in (("uca900_secondary.bin", 1, 0x20), ("uca900_tertiary.bin", 2, 0x02)):
        write_root(name, {code: levels[level] for code, levels in roots[2].items()}, uniform(common))


HEADS = [*range(0x41, 0x5B), *range(0x61, 0x7B), *range(0xC0, 0x250), *range(0x370, 0x530), *range(0x1E00, 0x2000),
         *range(0x600, 0x700), *range(0xD80, 0xE00)]
TAILS = [*range(0x21, 0x7F), *range(0xA0, 0x180), *range(0x300, 0x370), *range(0x600, 0x700), *range(0xD80, 0xE00),
         0x200C, 0x200D]
KANA = [*range(0x3041, 0x3100), *range(0x31F0, 0x3200), *range(0xFF66, 0xFFA0)]
KANA_TAILS = [0x30FC, 0x309D, 0x309E, 0x30FD, 0x30FE, 0xFF70, 0x3099, 0x309A, 0x309B, 0x309C, 0xFF9E, 0xFF9F]


def contractions(name, collation, singles):
    """Sequences of up to four characters that do not weigh what their parts weigh."""
    own = [code for code in singles if code < 0x3000][:1200]
    heads, tails = (KANA, KANA_TAILS) if name.startswith("ja") else (HEADS + own, TAILS + own)
    if name.startswith("zh"):
        heads, tails = HEADS + [*range(0x3100, 0x3130), *range(0x4E00, 0x4F00)], TAILS + [*range(0x3100, 0x3130)]
    letters = [*range(0x41, 0x5B), *range(0x61, 0x7B)]
    pairs = unforetold([heads, tails], collation)
    triples = set() if name[:2] in ("ja", "zh") else unforetold([letters] * 3, collation)
    found = pairs | triples
    # Longer ones: what the shorter ones do not foretell.
    letters = [chr(code) for code in letters]
    candidates = {a + b for a in found for b in letters} | {b + a for a in found for b in letters}
    candidates |= {a + b[1:] for a in found for b in found if len(a + b) < 6} if len(found) < 100 else set()
    while candidates and name[:2] not in ("ja", "zh"):
        candidates = {text for text in candidates if len(text) > 2} - found
        known = primary_of({*candidates, *found, *(c for text in candidates for c in text)}, collation)
        longer = {text for text in candidates if known[text] != foretold(text, found, known)}
        found |= longer
        candidates = {a + b for a in longer for b in letters} | {b + a for a in longer for b in letters}
    return sorted(found)


def unforetold(alphabets, collation):
    """Sequences of a character of each alphabet that weigh otherwise than their parts."""
    sql, names = f"USE {SCHEMA};", "abc"[: len(alphabets)]
    for name, codes in zip(names, alphabets):
        rows = ",".join("(X'%s')" % chr(code).encode().hex() for code in sorted(set(codes)))
        sql += (f"CREATE TEMPORARY TABLE {name} (ch VARCHAR(1) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin, "
                f"w VARBINARY(250)); INSERT INTO {name} (ch) VALUES {rows}; "
                f"UPDATE {name} SET w = WEIGHT_STRING(ch COLLATE {collation});")
    weigh = lambda what: f"WEIGHT_STRING({what} COLLATE {collation})"
    if len(alphabets) == 2:
        if "_as_cs" in collation:
            # By length alone, and the primary weights: of kana with their marks these differ.
            sql += (f"SELECT HEX(CONCAT(a.ch, b.ch)) FROM a, b WHERE LEFT({weigh('CONCAT(a.ch, b.ch)')}, 4) <> "
                    "CONCAT(LEFT(a.w, 2), LEFT(b.w, 2)) AND LENGTH(a.w) >= 10 AND LENGTH(b.w) >= 10 "
                    "AND SUBSTR(a.w, 3, 2) = X'0000' AND SUBSTR(b.w, 3, 2) = X'0000'")
        else:
            sql += f"SELECT HEX(CONCAT(a.ch, b.ch)) FROM a, b WHERE {weigh('CONCAT(a.ch, b.ch)')} <> CONCAT(a.w, b.w)"
    else:
        sql += (f"SELECT HEX(CONCAT(a.ch, b.ch, c.ch)) FROM a, b, c WHERE {weigh('CONCAT(a.ch, b.ch, c.ch)')} NOT IN "
                f"(CONCAT({weigh('CONCAT(a.ch, b.ch)')}, c.w), CONCAT(a.w, {weigh('CONCAT(b.ch, c.ch)')}))")
    return {bytes.fromhex(row[0]).decode() for row in ask(sql)}


def primary_of(texts, collation):
    texts, answers = sorted(texts), {}
    for at in range(0, len(texts), 20000):
        part = texts[at : at + 20000]
        sql = (f"USE {SCHEMA}; CREATE TEMPORARY TABLE x (n INT, s VARCHAR(40) CHARACTER SET utf8mb4 COLLATE "
               "utf8mb4_0900_bin); INSERT INTO x VALUES " +
               ",".join("(%d,X'%s')" % (n, text.encode().hex()) for n, text in enumerate(part)) +
               f"; SELECT n, HEX(WEIGHT_STRING(s COLLATE {collation})) FROM x")
        answers.update((part[int(n)], levels_of(answer)) for n, answer in ask(sql))
    return answers


def foretold(text, found, known):
    """The weights of a text by the contractions that were found, longest first."""
    parts, at = [], 0
    while at < len(text):
        length = next(n for n in (4, 3, 2, 1) if n == 1 or text[at : at + n] in found and at + n <= len(text))
        parts.append(known[text[at : at + length]])
        at += length
    depth = max(len(part) for part in parts)
    return [sum((part[level] if level < len(part) else [] for part in parts), []) for level in range(depth)]


def mapped(levels, maps, formula):
    """What the maps of a tailoring make of the weights of the base."""
    out = []
    for level, weights in enumerate(levels):
        result = []
        for at, weight in enumerate(weights):
            rules = maps.get(0 if level == 0 and formula and at == 0 else level + 1, [])
            if level == 0 and formula and at == 1:
                rules = []
            for low, high, added, prefix in rules:
                if low <= weight <= high:
                    result += [prefix] if prefix else []
                    weight = (weight + added) & 0xFFFF
                    break
            result.append(weight)
        out.append(result)
    return out


def tailoring(name, collation, base, root):
    maps = MAPS.get(name, {})
    levels = 1 if base < 2 else 4 if name == "ja_0900_ks" else 3
    maps = MAPS.get("ja_0900", {}) if name == "ja_0900_ks" else maps
    own = weights_of_all(collation, ROOTS[base])
    if not own and not maps:
        return None
    entries = {}
    for code, weights in root.items():
        real = own.get(code, weights)
        formula = len(weights[0]) == 2 and weights[0][0] >= 0xFB00
        if real != mapped(weights, maps, formula):
            entries[chr(code)] = real
    searched = collation if name[:2] in ("ja", "zh") else collation.replace("_as_cs", "_ai_ci")
    found = contractions(name, searched, [ord(text) for text in entries])
    entries.update(primary_of(found, collation))
    body = struct.pack("<BB", base, levels)
    for level in range(4):
        rules = maps.get(level, [])
        body += struct.pack("<B", len(rules)) + b"".join(struct.pack("<HHHH", *rule) for rule in rules)
    body += struct.pack("<I", len(entries))
    for text in sorted(entries):
        weights = (entries[text] + [[]] * 4)[:levels]
        plain = levels == 3 and len(weights[0]) == 1 and weights[1:] == [[0x20], [0x02]]
        body += struct.pack("<B", len(text) | (0x80 if plain else 0))
        body += b"".join(struct.pack("<I", ord(c))[:3] for c in text)
        if plain:
            body += words(weights[0])
        else:
            body += b"".join(struct.pack("<B", len(part)) + words(part) for part in weights)
    print(name, len(entries), "entries", len(found), "contractions", len(body), "bytes", flush=True)
    return body, sorted(entries)


def languages():
    """(name, collation, base) of every language, as MySQL lists them."""
    rows = ask("SELECT collation_name FROM information_schema.collations WHERE character_set_name = 'utf8mb4' "
               "AND collation_name NOT REGEXP '_bin$|general_ci|unicode|_ai_ci|mb4_0900' ORDER BY id")
    for (collation,) in rows:
        name = collation.removeprefix("utf8mb4_")
        if "_0900_" in name:
            yield name.replace("_as_cs", ""), collation, 2  # ja_0900 and ja_0900_ks
        else:
            yield name.removesuffix("_ci"), collation, 0


def write_tailorings(roots):
    done = []
    for name, collation, base in languages():
        made = tailoring(name, collation, base, roots[base])
        if made:
            done.append((name, *made))
    head = 2 + sum(1 + len(name) + 4 for name, _, _ in done)
    out = struct.pack("<H", len(done))
    for name, body, _ in done:
        out += struct.pack("<B", len(name)) + name.encode() + struct.pack("<I", head)
        head += len(body)
    out += b"".join(body for _, body, _ in done)
    open(OUT + "tailorings.bin", "wb").write(out)
    print("tailorings.bin", len(out), "bytes")


def write_general():
    """Tables of one weight a character."""
    for name, charset, collation in (("general.bin", "utf8mb4", "utf8mb4_general_ci"),
                                     ("general_mysql500.bin", "utf8mb3", "utf8mb3_general_mysql500_ci"),
                                     ("tolower.bin", "utf8mb3", "utf8mb3_tolower_ci")):
        rows = ask(f"SELECT code, HEX(WEIGHT_STRING(CONVERT(ch USING {charset}) COLLATE {collation})) FROM {SCHEMA}.cp "
                   "WHERE code < 65536")
        weights = {int(code): int(answer, 16) for code, answer in rows}
        index, pages = [], []
        for page in range(256):
            codes = range(page * 256, page * 256 + 256)
            content = [weights.get(code, code) for code in codes]
            if content == list(codes):
                index.append(0xFFFF)
                continue
            if content not in pages:
                pages.append(content)
            index.append(pages.index(content))
        out = words(index) + b"".join(words(page) for page in pages)
        open(OUT + name, "wb").write(out)
        print(name, len(pages), "pages", len(out), "bytes", flush=True)


def main():
    general_only = sys.argv[1] == "--general"
    COMMAND.extend(sys.argv[2:] if general_only else sys.argv[1:])
    make_characters()
    write_general()
    if general_only:
        return
    roots = [weights_of_all(collation) for collation in ROOTS]
    write_roots(roots)
    write_tailorings(roots)
    ask(f"DROP DATABASE {SCHEMA}")


if __name__ == "__main__":
    main()
