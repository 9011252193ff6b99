#!/bin/sh
# Every regression case of cases.tbl is held by the files named there: its id stands in a check, in a
# test's name, or in the comment above a shell test's steps.
set -eu
cd "${ZW_SRC:-.}/tests"
bad=0
n=0
while read -r id files; do
	case $id in '#'* | '') continue ;; esac
	n=$((n + 1))
	[ -n "$files" ] || { echo "$id: no test"; bad=1; }
	for f in $files; do
		grep -qiE "\"$id |test_${id}_|^[[:space:]]*#.*\<$id\>" "$f" || { echo "$id: not in $f"; bad=1; }
	done
done <lint/cases.tbl
[ "$n" -ge 24 ] || { echo "only $n cases in cases.tbl"; bad=1; }
exit $bad
