#!/bin/sh
# House rules that a grep can hold: functions fit a screen, headers have guards and a licence line,
# nothing is left open, no path of one machine, no poisoned call around the poison.
set -eu
cd "${ZW_SRC:-.}"
bad=0
files=$(find src ui proxy sandbox tests -name '*.[ch]' | sort)
long=$(echo "$files" | grep '\.c$' | xargs awk '
	FNR == 1 { start = 0 }
	/^\{/ && prev !~ /=[[:space:]]*$/ { start = FNR; name = prev }
	/^\}/ { if (start && FNR - start > 80) printf "%s:%d: %d lines: %s\n", FILENAME, start, FNR - start, name; start = 0 }
	{ prev = $0 }')
[ -z "$long" ] || { echo "functions over 80 lines:"; echo "$long"; bad=1; }
for f in $files; do
	head -n 1 "$f" | grep -q 'SPDX-License-Identifier: MIT' || { echo "$f: no licence line"; bad=1; }
done
for f in $(echo "$files" | grep '\.h$'); do
	guard=ZW_$(echo "$f" | sed 's/^src\///' | tr 'a-z/.-' 'A-Z___')
	grep -q "^#ifndef $guard\$" "$f" || { echo "$f: guard should be $guard"; bad=1; }
done
if grep -nE '\b(TODO|FIXME|XXX)\b' $files; then bad=1; fi
if grep -nE '(^|[^A-Za-z0-9_.])/(work|farm)/' $files; then bad=1; fi
exit $bad
