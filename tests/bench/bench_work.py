#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everyday commands, run where this is run (outside or in a sandbox): bench_work.py ROUNDS FILE.
Appends a line of JSON to FILE: seconds of wall clock and of CPU for each run of each command."""
import json
import resource
import subprocess
import sys
import time

COMMANDS = {
    "git status": "cd repo && git status --porcelain",
    "node -e 0": "node -e 0",
    "npm --version": "npm --version",
    "C build": "cd c && rm -f *.o prog && for f in *.c; do cc -O1 -c $f; done && cc *.o -o prog",
}


def cpu():
    """CPU time of children that have ended; finer than the ticks of times(2)."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def run(command):
    before = cpu()
    start = time.monotonic()
    done = subprocess.run(["sh", "-c", command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    wall = time.monotonic() - start
    if done.returncode != 0:
        print(command, done.stderr.decode(errors="replace")[-300:], file=sys.stderr)
        return None
    return [wall, cpu() - before]


def main():
    out = {name: [run(command) for _ in range(int(sys.argv[1]))] for name, command in COMMANDS.items()}
    with open(sys.argv[2], "a", encoding="utf-8") as f:
        f.write(json.dumps(out) + "\n")


main()
