#!/bin/bash
# SPDX-License-Identifier: MIT
# Everyday work inside: under plain bwrap, under zwatch, and under sandbox-runtime where that is installed
# (SRT=path of its srt). They take turns, so that a disturbance hurts all; the start of each is not counted.
#   ZW_BIN=build/release/bin bash tests/bench/bench_work.sh [TURNS [ROUNDS]]
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi # what zwatch shows inside as it is
. "${ZW_SRC:=$PWD}/tests/support/lib.sh"
turns=${1:-5} rounds=${2:-5}
SRT=${SRT:-$(command -v srt)}
export PATH=/usr/local/bin:/usr/bin:/bin GIT_CONFIG_NOSYSTEM=1
cp "$ZW_SRC/tests/bench/bench_work.py" "$project/"
mkdir repo c
(cd repo && git init -q . && for i in {1..2000}; do echo "$i" >"f$i"; done && git add . &&
	git -c user.name=a -c user.email=a@b commit -qm x)
for i in 1 2 3 4 5 6; do
	printf '#include <stdio.h>\n#include <stdlib.h>\nint f%d(int x) { return x * %d + (int)strtol("7", 0, 10); }\n' "$i" "$i" >c/f"$i".c
done
echo 'int f1(int); int main(void) { return f1(0) == 8; }' >c/main.c

plain() {
	bwrap --ro-bind / / --dev /dev --proc /proc --bind "$project" "$project" --tmpfs /tmp --unshare-user --unshare-pid \
		--unshare-ipc --unshare-net --unshare-uts --die-with-parent "$@"
}
with_zwatch() { "$zwatch" run --ui none -- "$@" </dev/null 2>"$W/zwatch.out" || cat "$W/zwatch.out"; }
with_srt() {
	printf '{ "network": { "allowedDomains": [], "deniedDomains": [] }, "filesystem": { "denyRead": [], "allowWrite": ["%s", "/tmp"], "denyWrite": [] } }\n' \
		"$project" >"$W/srt.json"
	"$SRT" --settings "$W/srt.json" -c "$*" </dev/null
}

for ((i = 0; i < turns; i++)); do
	plain python3 bench_work.py "$rounds" "$project/plain.json"
	with_zwatch python3 bench_work.py "$rounds" "$project/zwatch.json"
	[ -z "$SRT" ] || with_srt python3 bench_work.py "$rounds" "$project/srt.json" >"$W/srt.out" 2>&1 || echo "srt: $(tail -1 "$W/srt.out")"
done
python3 - "$project" <<'P'
import json, os, statistics, sys
runs = {}
for who in "plain", "zwatch", "srt":
    path = os.path.join(sys.argv[1], who + ".json")
    for line in open(path) if os.path.exists(path) else []:
        for name, took in json.loads(line).items():
            runs.setdefault(name, {}).setdefault(who, []).extend(t for t in took if t)
for name, by in runs.items():
    base = by.get("plain")
    for who, took in by.items():
        if not took:
            print("%-14s %-7s failed" % (name, who))
            continue
        cells = []
        for what, at in ("wall", 0), ("CPU", 1):
            mine = [t[at] for t in took]
            theirs = [t[at] for t in base]
            cells.append("%s min %7.1f ms (x%.3f) median %7.1f ms (x%.3f)" % (what, min(mine) * 1e3, min(mine) / min(theirs),
                statistics.median(mine) * 1e3, statistics.median(mine) / statistics.median(theirs)))
        print("%-14s %-7s %s" % (name, who, "  ".join(cells)))
P
