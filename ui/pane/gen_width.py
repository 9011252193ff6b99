#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes ui/pane/width.inc from the Unicode Character Database (Debian: package unicode-data).

usage: gen_width.py [UCD-FOLDER] > width.inc        default folder /usr/share/unicode

One byte a code point, in blocks of 256 that are shared when equal:
  bits 0-3  grapheme class, enum pane_gc in width.h
  bits 4-5  columns: 0, 1 or 2
  bit 6     an emoji that VS16 (U+FE0F) turns into its 2-column form
"""
import os
import sys

UCD = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"
N = 0x110000
CLASSES = {"Prepend": 1, "Extend": 2, "Regional_Indicator": 3, "SpacingMark": 4, "L": 5, "V": 6,
           "T": 7, "LV": 8, "LVT": 9, "ZWJ": 10, "Control": 12, "CR": 12, "LF": 12}
EXT_PICT = 11
CONTROL = 12


def rows(name):
    with open(os.path.join(UCD, name), encoding="utf-8") as f:
        for line in f:
            fields = [x.strip() for x in line.split("#")[0].split(";")]
            if len(fields) < 2 or not fields[0]:
                continue
            ends = fields[0].split("..")
            yield int(ends[0], 16), int(ends[-1], 16), fields[1]


def gather(name, wanted=None):
    found = {}
    for first, last, value in rows(name):
        if wanted is None or value in wanted:
            for cp in range(first, last + 1):
                found[cp] = value
    return found


def main():
    grapheme = gather("auxiliary/GraphemeBreakProperty.txt")
    category = gather("extracted/DerivedGeneralCategory.txt")
    wide = set(gather("EastAsianWidth.txt", {"W", "F"}))
    # Unassigned code points that EastAsianWidth.txt declares wide in its head.
    for first, last in ((0x3400, 0x4dbf), (0x4e00, 0x9fff), (0xf900, 0xfaff),
                        (0x20000, 0x2fffd), (0x30000, 0x3fffd)):
        wide.update(cp for cp in range(first, last + 1) if cp not in category or
                    category[cp] == "Cn")
    pict = set(gather("emoji/emoji-data.txt", {"Extended_Pictographic"}))
    emoji = set(gather("emoji/emoji-data.txt", {"Emoji"}))
    table = bytearray(N)
    for cp in range(N):
        gc = CLASSES.get(grapheme.get(cp), 0)
        if gc == 0 and cp in pict:
            gc = EXT_PICT
        if cp in wide:
            width = 2
        elif cp == 0xAD or gc == 1:
            # Printed by terminals: the soft hyphen and signs that stand before digits.
            width = 1
        elif gc == CONTROL or category.get(cp) in ("Mn", "Me", "Cf"):
            width = 0
        else:
            width = 1
        if cp == 0xAD:
            gc = 0
        table[cp] = gc | width << 4 | (0x40 if cp in emoji else 0)
    blocks, index = [], []
    seen = {}
    for i in range(0, N, 256):
        block = bytes(table[i:i + 256])
        if block not in seen:
            seen[block] = len(blocks)
            blocks.append(block)
        index.append(seen[block])
    assert len(blocks) <= 256
    with open(os.path.join(UCD, "EastAsianWidth.txt"), encoding="utf-8") as f:
        version = f.readline().strip("# \n")
    print("/* SPDX-License-Identifier: MIT AND Unicode-DFS-2016")
    print(f" * Made by gen_width.py from the Unicode Character Database ({version}). Do not edit. */")
    print("/* clang-format off */")
    print(f"static const uint8_t width_index[{len(index)}] = {{")
    emit(index)
    print("};")
    print(f"static const uint8_t width_block[{len(blocks)}][256] = {{")
    for block in blocks:
        print("{")
        emit(block)
        print("},")
    print("};")


def emit(numbers):
    for i in range(0, len(numbers), 32):
        print(",".join(str(n) for n in numbers[i:i + 32]) + ",")


main()
