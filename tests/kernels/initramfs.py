#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An initramfs (cpio, "newc") on standard output: initramfs.py NAME=FILE..."""
import os
import sys


def entry(number, name, mode, data=b"", device=(0, 0)):
    fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % f for f in fields) + name.encode() + b"\0"
    head += b"\0" * (-len(head) % 4)
    return head + data + b"\0" * (-len(data) % 4)


out = sys.stdout.buffer
out.write(entry(1, "dev", 0o040755))
out.write(entry(2, "dev/console", 0o020600, device=(5, 1)))
for i, arg in enumerate(sys.argv[1:]):
    name, path = arg.split("=", 1)
    with open(path, "rb") as f:
        out.write(entry(3 + i, name, 0o100755, f.read()))
out.write(entry(0, "TRAILER!!!", 0))
