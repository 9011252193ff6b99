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
echo "$files" | xargs awk '
	FNR == 1 {
		if (index($0, "SPDX-License-Identifier: MIT") == 0) { print FILENAME ": no licence line"; bad = 1 }
		guard = FILENAME; sub(/^src\//, "", guard); gsub(/[\/.-]/, "_", guard); guard = "ZW_" toupper(guard)
		if (FILENAME ~ /\.h$/) want[FILENAME] = guard
	}
	$0 == "#ifndef " guard { delete want[FILENAME] }
	END { for (f in want) { print f ": guard should be " want[f]; bad = 1 } exit bad }' || bad=1
if grep -nE '\b(TODO|FIXME|XXX)\b' $files; then bad=1; fi
if grep -nE '(^|[^A-Za-z0-9_.])/(work|farm)/' $files; then bad=1; fi
exit $bad
