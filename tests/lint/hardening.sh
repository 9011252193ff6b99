#!/bin/sh
# The release programs are hardened: placed at random, nothing writable that the loader is done with,
# no executable stack, guarded stacks. Tools that only tests use do not count.
set -eu
bad=0
n=0
# need PROGRAM WHAT PATTERN TEXT
need() {
	printf '%s\n' "$4" | grep -qE -- "$3" || { echo "$1: $2"; bad=1; }
}
for f in "$ZW_BIN"/zwatch "$ZW_BIN"/zwatch-*; do
	p=${f##*/}
	n=$((n + 1))
	dynamic=$(readelf -dW "$f")
	segments=$(readelf -hlW "$f")
	need "$p" "not position-independent" '^ *Type: +DYN .*Position-Independent' "$segments"
	need "$p" "no RELRO segment" '^ *GNU_RELRO ' "$segments"
	need "$p" "symbols are bound lazily, so RELRO is only partial" 'FLAGS.*(BIND_NOW|NOW)' "$dynamic"
	need "$p" "executable stack" '^ *GNU_STACK( +0x[0-9a-f]+){5} +RW +' "$segments"
	need "$p" "no stack protector" ' __stack_chk_fail(@|$)' "$(readelf -sW "$f" | sed 's/ ([0-9]*)$//')"
done
need zwatch "no fortified calls" '__[a-z]+_chk@' "$(readelf -sW "$ZW_BIN/zwatch")"
[ "$n" -ge 7 ] || { echo "only $n programs found in $ZW_BIN"; bad=1; }
exit $bad
