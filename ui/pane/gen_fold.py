#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes ui/pane/fold.inc from the Unicode Character Database (Debian: package unicode-data).

usage: gen_fold.py [UCD-FOLDER] > fold.inc        default folder /usr/share/unicode

Simple case folding (statuses C and S) as runs: from a first to a last code point, every `step` of
them, by adding `delta`.
"""
import os
import sys

UCD = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/unicode"


def folds():
    with open(os.path.join(UCD, "CaseFolding.txt"), encoding="utf-8") as f:
        for line in f:
            fields = [x.strip() for x in line.split("#")[0].split(";")]
            if len(fields) > 2 and fields[1] in "CS":
                yield int(fields[0], 16), int(fields[2], 16) - int(fields[0], 16)


def main():
    runs = []
    for cp, delta in sorted(folds()):
        last = runs[-1] if runs else None
        step = cp - last[1] if last else 0
        if last and last[3] == delta and step in (1, 2) and last[2] in (0, step):
            last[1], last[2] = cp, step
        else:
            runs.append([cp, cp, 0, delta])
    with open(os.path.join(UCD, "CaseFolding.txt"), encoding="utf-8") as f:
        version = f.readline().strip("# \n")
    print("/* SPDX-License-Identifier: MIT AND Unicode-DFS-2016")
    print(f" * Made by gen_fold.py from the Unicode Character Database ({version}). Do not edit. */")
    print("/* clang-format off */")
    print(f"static const struct fold fold_run[{len(runs)}] = {{")
    for first, last, step, delta in runs:
        print(f"{{{first:#x},{last:#x},{max(step, 1)},{delta}}},")
    print("};")


main()
