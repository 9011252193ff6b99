#!/bin/bash
# `cmake --install` below another prefix, and into a packager's DESTDIR: the installed zwatch finds its
# helpers where they were put.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v cmake >/dev/null || skip "cmake is missing"

# works WHERE BIN: an installed zwatch, and helpers of its own
works() {
	local zw=$2/zwatch seen
	[ -x "$zw" ] || { bad "$1: $zw was not installed"; return; }
	[ ! -e "$2/zwatch-broker" ] || bad "$1: helpers lie in bin"
	"$zw" run -- sh -c 'echo inside >made' </dev/null
	same "$1: run" "0 inside" "$? $(cat "$project/made")"
	rm -f "$project/made"
	seen=$("$zw" check </dev/null)
	same "$1: check" 0 $?
	has "$1: its own helpers" "zwatch-init +$(dirname "$2")/libexec/zwatch/zwatch-init" "$seen"
}

cmake --install "$ZW_BUILD" --prefix "$W/x" >"$W/log" 2>&1 || bad "cmake --install: $(tail -n 3 "$W/log")"
works "another prefix" "$W/x/bin"
[ -s "$W/x/share/zwatch/config.schema.json" ] && echo "ok: the schema" || bad "no schema"
DESTDIR=$W/dest cmake --install "$ZW_BUILD" --prefix /usr >"$W/log" 2>&1 || bad "DESTDIR: $(tail -n 3 "$W/log")"
works "DESTDIR" "$W/dest/usr/bin"
rm "$W/x/libexec/zwatch/zwatch-broker"
out=$("$W/x/bin/zwatch" run -- touch started 2>&1 </dev/null)
status=$?
[ $status -ne 0 ] && [ ! -e started ] && echo "ok: without a helper nothing starts ($status)" || bad "started without a helper: $out"
exit 0
