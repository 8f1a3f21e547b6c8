#!/usr/bin/env python3
"""Writes the primary weights of utf8mb4_0900_ai_ci: src/collation/uca900.bin. (tools/ask_uca.py makes the others.)

Run in crates/catalog:

    pip download --no-deps pyuca==1.2 && unzip pyuca-1.2-py2.py3-none-any.whl 'pyuca/allkeys-9.0.0.txt'
    tools/generate_collations.py pyuca/allkeys-9.0.0.txt

allkeys-9.0.0.txt is the Default Unicode Collation Element Table of Unicode 9.0.0 (Unicode licence), also at
https://www.unicode.org/Public/UCA/9.0.0/allkeys.txt, sha256
0633f4520c99f249b0c53aa1442cd2521702041fb00a32df944fec13c9da3ed5.

The file is little-endian 16-bit words: a page index (page = code point / 256), then pages of 256 words.

uca900.bin:  words 0..0x1100   page number of each 256 code points
             word  0x1100      number of pages P
             word  0x1101      number of expansions E
             then P pages; a word is 0 (ignorable), 1..0x7fff (the only primary weight), 0x8000 + e (expansion e)
             or 0xffff (no entry: implicit weights)
             then E+1 words    start of each expansion among the weights that follow
             then the weights
"""

import hashlib
import re
import struct
import sys


def words(values):
    return struct.pack("<%dH" % len(values), *values)


def paged(table, pages_wanted, default):
    """Page index and pages, equal pages stored once. `default(code)` for what is not in the table."""
    index, pages, known = [], [], {}
    for page in range(pages_wanted):
        content = tuple(table.get(code, default(code)) for code in range(page * 256, page * 256 + 256))
        if content not in known:
            known[content] = len(pages)
            pages.append(content)
        index.append(known[content])
    return index, pages


def uca(path):
    data = open(path, "rb").read()
    print("sha256 of", path, hashlib.sha256(data).hexdigest())
    table, expansions, numbers, contractions = {}, [], {}, 0
    for line in data.decode("utf-8").splitlines():
        line = line.split("#")[0].strip()
        if not line or line.startswith("@"):
            continue
        left, right = line.split(";")
        codes = [int(code, 16) for code in left.split()]
        if len(codes) > 1:
            contractions += 1
            continue
        primaries = [int(w, 16) for w in re.findall(r"\[[.*]([0-9A-F]{4})\.[0-9A-F]{4}\.[0-9A-F]{4}\]", right)]
        weights = tuple(w for w in primaries if w)
        if not weights:
            word = 0
        elif len(weights) == 1 and weights[0] < 0x8000:
            word = weights[0]
        else:
            if weights not in numbers:
                numbers[weights] = len(expansions)
                expansions.append(weights)
            word = 0x8000 + numbers[weights]
        table[codes[0]] = word
    index, pages = paged(table, 0x1100, lambda code: 0xFFFF)
    starts, weights = [0], []
    for expansion in expansions:
        weights.extend(expansion)
        starts.append(len(weights))
    assert len(expansions) < 0x7FFF and len(weights) < 0x10000
    out = words(index) + words([len(pages), len(expansions)])
    out += b"".join(words(page) for page in pages) + words(starts) + words(weights)
    open("src/collation/uca900.bin", "wb").write(out)
    print(f"uca900.bin: {len(table)} characters, {len(pages)} pages, {len(expansions)} expansions, "
          f"{contractions} contractions left out, {len(out)} bytes")
    print("longest expansion", max(len(e) for e in expansions), "largest single", hex(max(w for w in table.values() if w < 0x8000)))


if __name__ == "__main__":
    uca(sys.argv[1])
