#!/usr/bin/env python3
"""The table of public resolvers: fits its schema, says nothing twice, has no address that could be
anything but a public server.

  resolvers.py                  checks the table
  resolvers.py --measure FILE…  says how much of published lists it knows: names (plain, as URLs or in
                                the form of a hosts file) and addresses, one a line
"""
import ipaddress
import json
import os
import re
import sys

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data")
faults = []


def check(value, schema, where):
    """As much of JSON Schema as the file uses; a keyword it does not know is a fault too."""
    types = {"object": dict, "array": list, "string": str}
    if not isinstance(value, types[schema["type"]]):
        faults.append(f"{where}: not of type {schema['type']}")
        return
    for key, want in schema.items():
        if key in ("$schema", "title", "type"):
            continue
        if key == "properties":
            for name, sub in want.items():
                if name in value:
                    check(value[name], sub, f"{where}.{name}")
        elif key == "additionalProperties":
            extra = set(value) - set(schema["properties"])
            if extra and not want:
                faults.append(f"{where}: unknown {sorted(extra)}")
        elif key == "required":
            faults.extend(f"{where}: no {name}" for name in want if name not in value)
        elif key == "items":
            for i, item in enumerate(value):
                check(item, want, f"{where}[{i}]")
        elif key in ("minItems", "minLength"):
            if len(value) < want:
                faults.append(f"{where}: too short")
        elif key == "maxLength":
            if len(value) > want:
                faults.append(f"{where}: too long")
        elif key == "pattern":
            if not re.search(want, value):
                faults.append(f"{where}: {value!r} is not of the form {want}")
        else:
            faults.append(f"schema of {where}: {key} is not known here")


def once(table):
    seen, nets = {}, []
    for entry in table["resolvers"]:
        for name in entry["names"]:
            if name in seen:
                faults.append(f"{name}: of {seen[name]} and {entry['provider']}")
            seen[name] = entry["provider"]
        for text in entry["addresses"]:
            net = ipaddress.ip_network(text)
            if not net.is_global or net.prefixlen < (24 if net.version == 4 else 32):
                faults.append(f"{text}: not public, or wider than one resolver")
            for other in nets:
                if other.version == net.version and other.overlaps(net):
                    faults.append(f"{text}: lies in {other}")
            nets.append(net)
    return set(seen), nets


def knows_name(names, name):
    labels = name.split(".")
    return name in names or any("*." + ".".join(labels[i:]) in names for i in range(1, len(labels)))


def entries(path):
    for line in open(path, encoding="utf-8", errors="replace"):
        line = "" if line[0] in "!#" else line.split("#")[0].strip().lower()
        if not line:
            continue
        word = line.split()[-1]
        word = re.sub(r"^https?://", "", word)
        try:
            yield ipaddress.ip_address(word.split("/")[0].strip("[]"))
            continue
        except ValueError:
            pass
        word = re.split(r"[/:]", word)[0]
        if re.fullmatch(r"([a-z0-9_-]+\.)+[a-z0-9-]+", word):
            yield word


def measure(names, nets, paths):
    sums = {}
    for path in paths:
        here = {}
        for e in set(entries(path)):
            kind = "names" if isinstance(e, str) else f"IPv{e.version}"
            hit = knows_name(names, e) if kind == "names" else any(
                n.version == e.version and e in n for n in nets)
            for table in (here, sums):
                table.setdefault(kind, {})[e] = hit
        for kind, hits in sorted(here.items()):
            print(f"{os.path.basename(path)}: {sum(hits.values())} of {len(hits)} {kind}")
    for kind, hits in sorted(sums.items()):
        print(f"all together: {sum(hits.values())} of {len(hits)} {kind}, "
              f"{100 * sum(hits.values()) // len(hits)} %")


table = json.load(open(os.path.join(root, "doh-resolvers.json"), encoding="utf-8"))
check(table, json.load(open(os.path.join(root, "schema", "doh-resolvers.schema.json"))), "table")
names, nets = once(table) if not faults else (set(), [])
if sys.argv[1:2] == ["--measure"]:
    measure(names, nets, sys.argv[2:])
for fault in faults:
    print(fault)
print(f"{len(table['resolvers'])} resolvers, {len(names)} names, {len(nets)} networks")
sys.exit(1 if faults else 0)
