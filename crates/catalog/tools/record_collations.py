#!/usr/bin/env python3
"""Records what a MySQL 9.7 server answers to WEIGHT_STRING() under every collation, for random texts of its own
characters, in src/collation/samples.bin: the test `weights_are_those_mysql_gave` asks us the same.

Run in crates/catalog, after the tables were made:

    tools/record_collations.py mariadb --no-defaults -uroot -h127.0.0.1 -P33061

The file, little-endian, until its end:

    collation  length of its name (u8), the name
    count      u16    texts
    text       length in bytes (u8), the bytes in the collation's character set, CRC-32 of the answer (u32)
"""

import random
import struct
import subprocess
import sys
import zlib

COMMAND = []
TEXTS = 160
random.seed(97)


def ask(sql):
    run = subprocess.run(COMMAND + ["--default-character-set=utf8mb4", "-N", "--batch"], input=sql, text=True,
                         capture_output=True)
    if run.returncode:
        raise SystemExit(run.stderr[:1000])
    return [line.split("\t") for line in run.stdout.splitlines()]


def tailored_texts():
    """What each tailoring lists: {name: texts}."""
    data = open("src/collation/tailorings.bin", "rb").read()
    (count,), at, bodies = struct.unpack_from("<H", data), 2, {}
    for _ in range(count):
        length = data[at]
        bodies[data[at + 1 : at + 1 + length].decode()] = struct.unpack_from("<I", data, at + 1 + length)[0]
        at += 5 + length
    texts = {}
    for name, at in bodies.items():
        levels, at = data[at + 1], at + 2
        for _ in range(4):
            at += 1 + 8 * data[at]
        (entries,) = struct.unpack_from("<I", data, at)
        at += 4
        texts[name] = []
        for _ in range(entries):
            head, at = data[at], at + 1
            codes = [int.from_bytes(data[at + 3 * n : at + 3 * n + 3], "little") for n in range(head & 0x7F)]
            at += 3 * len(codes)
            texts[name].append("".join(map(chr, codes)))
            if head & 0x80:
                at += 2
            else:
                for _ in range(levels):
                    at += 1 + 2 * data[at]
    return texts


def random_character():
    kind = random.randrange(10)
    if kind < 4:
        return random.choice("aAbcCdDegGhHjklLmnNoOsStTuUyzZ ch")
    if kind < 6:
        return chr(random.choice([random.randrange(0x20, 0x250), random.randrange(0x370, 0x530)]))
    if kind == 6:
        return chr(random.randrange(0x300, 0x370))
    if kind == 7:
        return chr(random.choice([random.randrange(0xAC00, 0xD7A4), random.randrange(0x4E00, 0xA000),
                                  random.randrange(0x3040, 0x3100)]))
    if kind == 8:
        return chr(random.choice([*range(1, 0xD800), *range(0xE000, 0x10000)]))
    return chr(random.randrange(0x10000, 0x30000))


def texts_of(listed, charset):
    contractions = [text for text in listed if len(text) > 1]
    texts = []
    while len(texts) < TEXTS:
        text = ""
        for _ in range(random.randrange(1, 7)):
            kind = random.randrange(4)
            if kind == 0 and listed:
                text += random.choice(listed)
            elif kind == 1 and contractions:
                part = random.choice(contractions)
                text += "".join(random.choice([c, c.upper(), c.lower()])[:1] for c in part)
            else:
                text += random_character()
        encoded = encode(text, charset)
        if 0 < len(encoded) <= 60:
            texts.append(encoded)
    return texts


CODECS = {"utf8mb4": "utf-8", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"}


def encode(text, charset):
    if charset in ("utf8mb3", "ucs2"):
        text = "".join(c for c in text if ord(c) < 0x10000)
        return text.encode("utf-8" if charset == "utf8mb3" else "utf-16-be")
    if charset in CODECS:
        return text.encode(CODECS[charset])
    if charset in MULTIBYTE:
        return text.encode(MULTIBYTE[charset], "ignore")
    return bytes(random.choice([random.randrange(256), random.randrange(0x20, 0x7F)]) for _ in text)


MULTIBYTE = {"big5": "big5", "gbk": "gbk", "gb2312": "gb2312", "gb18030": "gb18030", "sjis": "shift_jis",
             "cp932": "cp932", "ujis": "euc_jp", "eucjpms": "euc_jp", "euckr": "euc_kr"}


def tailoring_of(name, charset):
    language = name.removeprefix(charset + "_")
    for tail in ("_ai_ci", "_as_cs", "_ci"):
        if language.endswith(tail):
            return language.removesuffix(tail)
    return language.replace("_as_cs", "")


def main():
    COMMAND.extend(sys.argv[1:])
    listed, out = tailored_texts(), b""
    rows = ask("SELECT collation_name, character_set_name FROM information_schema.collations ORDER BY id")
    for name, charset in rows:
        if charset == "binary":
            continue
        texts = texts_of(listed.get(tailoring_of(name, charset), []), charset)
        if name.endswith("_ks"):
            # The fourth level of these small letters before a mark depends on MySQL's letter before them.
            texts = [text for text in texts if not any("\u31f0" <= c <= "\u31ff" for c in text.decode())]
        answers = ask(";".join(f"SELECT HEX(WEIGHT_STRING(_{charset} X'{text.hex()}' COLLATE {name}))" for text in texts))
        out += struct.pack("<B", len(name)) + name.encode() + struct.pack("<H", len(texts))
        for text, (answer,) in zip(texts, answers):
            out += struct.pack("<B", len(text)) + text + struct.pack("<I", zlib.crc32(bytes.fromhex(answer)))
    open("src/collation/samples.bin", "wb").write(out)
    print("samples.bin", len(out), "bytes")


if __name__ == "__main__":
    main()
