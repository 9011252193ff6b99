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

one_turn() { # WHO: adds a line of JSON to WHO.json
	local out=$project/$1.json
	case $1 in
	plain) plain python3 bench_work.py "$rounds" "$out" ;;
	zwatch) with_zwatch python3 bench_work.py "$rounds" "$out" ;;
	srt) with_srt python3 bench_work.py "$rounds" "$out" >"$W/srt.out" 2>&1 || echo "srt: $(tail -1 "$W/srt.out")" ;;
	esac
}

who=(plain zwatch)
[ -z "$SRT" ] || who+=(srt)
for ((i = 0; i < turns; i++)); do
	# Every other turn the other way round: nobody is always the one behind a disturbance.
	for ((k = 0; k < ${#who[@]}; k++)); do one_turn "${who[i % 2 ? ${#who[@]} - 1 - k : k]}"; done
done
python3 - "$project" <<'P'
import json, os, statistics, sys
turns = {}
for who in "plain", "zwatch", "srt":
    path = os.path.join(sys.argv[1], who + ".json")
    for line in open(path) if os.path.exists(path) else []:
        for name, took in json.loads(line).items():
            turns.setdefault(name, {}).setdefault(who, []).append([t for t in took if t])

def show(took):
    low, mid, high = statistics.quantiles(took, n=4)
    return "%6.1f (%.1f to %.1f) ms" % (mid * 1e3, low * 1e3, high * 1e3)

for name, by in turns.items():
    for who, mine in by.items():
        cells = []
        for what, at in ("wall", 0), ("CPU", 1):
            base = [[t[at] for t in turn] for turn in by["plain"]]
            took = [[t[at] for t in turn] for turn in mine]
            if not any(took):
                continue
            whole = [t for turn in took for t in turn]
            floor = [t for turn in base for t in turn]
            ratios = [statistics.median(a) / statistics.median(b) for a, b in zip(took, base) if a and b]
            cells.append("%s %s x%.3f, in turns x%.3f, smallest x%.3f" % (what, show(whole),
                statistics.median(whole) / statistics.median(floor), statistics.median(ratios), min(whole) / min(floor)))
        print("%-14s %-7s %s" % (name, who, "   ".join(cells) or "failed"))
P
