#!/usr/bin/env python3
"""Asks a MySQL 9.7 server about its character sets of one byte per character and writes src/bytes.bin.

Run in crates/catalog:

    tools/ask_bytes.py mariadb --no-defaults -uroot -h127.0.0.1 -P33061

Only answers of CONVERT(), UPPER(), LOWER() and WEIGHT_STRING() are used. The file, little-endian:

    character sets: a count (u8), and for each
        name      length in a byte, then the bytes
        unicode   256 * u16   code point of each byte, 0xffff for none
        upper     256 * u8
        lower     256 * u8
        count     u16         characters that can be encoded
                  u16, u8     each code point, ascending, and its byte
    collations: a count (u8), and for each
        name      length in a byte, then the bytes
        levels    256 * u8    the weight of each byte
                  256 * u8    a second weight, 0 for none
"""

import struct
import subprocess
import sys

# Their weights depend on more than the byte.
CONTEXTUAL = {"latin2_czech_cs", "cp1250_czech_cs", "tis620_thai_ci"}
NO_CHARACTER = 0xFFFF
COMMAND = []


def ask(sql):
    run = subprocess.run(COMMAND + ["--default-character-set=utf8mb4", "-N", "--batch"], input=sql, text=True,
                         capture_output=True)
    if run.returncode:
        raise SystemExit(run.stderr[:1000])
    return [line.split("\t") for line in run.stdout.splitlines()]


def of_each_byte(expression):
    rows = ask(";".join(f"SELECT HEX({expression.format(byte=f'{byte:02x}')})" for byte in range(256)))
    return [bytes.fromhex(row[0]) if row else b"" for row in rows]


def character_set(name):
    unicode = [int.from_bytes(answer, "big") for answer in of_each_byte(f"CONVERT(_{name} X'{{byte}}' USING utf32)")]
    unicode = [NO_CHARACTER if code == 0x3F and byte != 0x3F else code for byte, code in enumerate(unicode)]
    assert max(code for code in unicode) <= 0xFFFF
    cases = [of_each_byte(f"{which}(_{name} X'{{byte}}')") for which in ("UPPER", "LOWER")]
    rows = ask("SET cte_max_recursion_depth = 70000; WITH RECURSIVE codes (code) AS (SELECT 1 UNION ALL SELECT code + 1 "
               "FROM codes WHERE code < 65534), converted AS (SELECT code, HEX(CONVERT(CHAR(code USING utf32) USING "
               f"{name})) AS answer FROM codes WHERE code NOT BETWEEN 0xD800 AND 0xDFFF) "
               "SELECT code, answer FROM converted WHERE answer <> '3F'")
    back = {int(code): int(answer, 16) for code, answer in rows if len(answer) == 2}
    for byte, code in enumerate(unicode):
        if code in (0, 0x3F):
            back[code] = byte
    out = struct.pack("<B", len(name)) + name.encode() + struct.pack("<256H", *unicode)
    out += b"".join(b"".join(case) for case in cases)
    out += struct.pack("<H", len(back)) + b"".join(struct.pack("<HB", code, back[code]) for code in sorted(back))
    ascii_alike = all(unicode[byte] == byte for byte in range(128))
    print(name, len(back), "characters", "" if ascii_alike else "DIFFERS FROM ASCII", flush=True)
    return out


def collation(name, charset):
    weights = of_each_byte(f"WEIGHT_STRING(_{charset} X'{{byte}}' COLLATE {name})")
    assert all(1 <= len(weight) <= 2 for weight in weights), name
    first = bytes(weight[0] for weight in weights)
    second = bytes(weight[1] if len(weight) == 2 else 0 for weight in weights)
    print(name, "expands" if any(second) else "", flush=True)
    return struct.pack("<B", len(name)) + name.encode() + first + second


def main():
    COMMAND.extend(sys.argv[1:])
    charsets = [row[0] for row in ask("SELECT character_set_name FROM information_schema.character_sets "
                                      "WHERE maxlen = 1 AND character_set_name NOT IN ('ascii', 'binary') ORDER BY 1")]
    collations = ask("SELECT collation_name, character_set_name FROM information_schema.collations JOIN "
                     "information_schema.character_sets USING (character_set_name) WHERE maxlen = 1 AND "
                     "character_set_name NOT IN ('ascii', 'binary') AND collation_name NOT LIKE '%\\_bin' ORDER BY id")
    collations = [(name, charset) for name, charset in collations if name not in CONTEXTUAL]
    out = struct.pack("<B", len(charsets)) + b"".join(character_set(name) for name in charsets)
    out += struct.pack("<B", len(collations)) + b"".join(collation(*one) for one in collations)
    open("src/bytes.bin", "wb").write(out)
    print("bytes.bin", len(out), "bytes")


if __name__ == "__main__":
    main()
