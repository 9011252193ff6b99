#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The tables of src/ARCHITECTURE.md say what the code is: its processes are the programs that are built and the
roles that messages know; its layers, and what each may use, are those of tests/lint/layers.tbl."""
import os
import re
import sys

os.chdir(os.environ.get("ZW_SRC", "."))
bad = []


def table(head):
    text = open("src/ARCHITECTURE.md", encoding="utf-8").read()
    rows = re.search(r"^\| %s \|.*?\n\n" % head, text, re.M | re.S).group(0).splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows if row.strip()]


def differ(what, said, is_so):
    for name in sorted(set(said) - set(is_so)):
        bad.append("%s: %s stands in ARCHITECTURE.md and is not there" % (what, name))
    for name in sorted(set(is_so) - set(said)):
        bad.append("%s: %s is there and does not stand in ARCHITECTURE.md" % (what, name))


# Processes: programs of the build. The demonstration runs inside, zwatch-init is built by itself.
programs = {"zwatch-init"}
for folder, _, files in os.walk("."):
    if "CMakeLists.txt" in files and not folder.startswith("./build"):
        text = open(os.path.join(folder, "CMakeLists.txt"), encoding="utf-8").read()
        programs |= set(re.findall(r"^zw_program\((\S+)", text, re.M))
programs.discard("zwatch-demo")
said = [row[0] for row in table("process")]
differ("process", said, programs)
roles = re.findall(r"^\tROLE_(\w+) = 1 <<", open("src/ipc/msg.h", encoding="utf-8").read(), re.M)
helpers = {"zwatch-" + role.lower() for role in roles if role not in ("SUPER", "CLIENT")}
differ("role", [name for name in said if name not in ("zwatch", "zwatch-init")], helpers)

# Layers: prefixes of the table that the includes are held against; single files may have rows of their own there.
uses = {}
for line in open("tests/lint/layers.tbl", encoding="utf-8"):
    words = line.split("#")[0].split()
    if words:
        uses[words[0]] = words[1:]
layers = {}
for names, _, may in table("layer"):
    for name in re.findall(r"`([^`]+)`", names):
        layers[name] = may
differ("layer", layers, [name for name in uses if os.path.isdir(name)])

for name, may in layers.items():
    if may == "all" or may.startswith("all of") or name not in uses:
        continue
    words = re.sub(r"tables of main", "main", may.split(";")[0])
    own = [word.strip().strip("`") for word in words.split(",") if word.strip() != "nothing"]
    # A layer may use itself, and one below a folder may use that folder's parts: that need not be said.
    wanted = {word if "/" in word else "src/" + word for word in own}
    given = {use for use in uses[name] if use != name}
    differ("what %s may use" % name, wanted, given)

print("\n".join(bad) or "ok: %d processes, %d layers" % (len(said), len(layers)))
sys.exit(1 if bad else 0)
