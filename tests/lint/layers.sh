#!/bin/sh
# Every include goes by path from the root, and only downwards as layers.tbl says. Some headers of
# the outside belong to one layer alone.
set -eu
cd "${ZW_SRC:-.}"
find src ui proxy sandbox -name '*.[ch]' | sort | xargs awk '
FILENAME == table { if ($1 !~ /^#/ && NF > 1) { p = $1; $1 = ""; may[p] = $0 } next }
FNR == 1 {
	best = ""
	for (p in may) if (index(FILENAME, p) == 1 && length(p) > length(best)) best = p
	if (best == "") { print FILENAME ": no row in layers.tbl"; bad = 1 }
}
/^#include "/ {
	split($0, part, "\""); inc = part[2]; ok = 0
	n = split(may[best], list, " ")
	for (i = 1; i <= n; i++) if (index(inc, list[i]) == 1) ok = 1
	if (inc !~ /^(src|ui|proxy|sandbox)\// && inc !~ /\.(inc|def)$/ && inc !~ /^data_/) ok = 0
	if (inc ~ /^[a-z_]*\.(inc|h)$/) ok = 1   # generated
	if (!ok) { print FILENAME ":" FNR ": may not include " inc; bad = 1 }
}
/^#include <event2\// && FILENAME !~ /^src\/ev\// { print FILENAME ":" FNR ": libevent is for src/ev"; bad = 1 }
/^#include <sqlite3/ && FILENAME !~ /^src\/audit\/(store|query|scan|compare|stats|filter_sql|seal|verify|prune|maint|tidy|places)/ { print FILENAME ":" FNR ": sqlite3 is for the store and the queries"; bad = 1 }
/^#include <(ncurses|curses|term\.h)/ && FILENAME !~ /^ui\/(term|draw)/ { print FILENAME ":" FNR ": curses is for ui/term.c and ui/draw.c"; bad = 1 }
/^#include <yajl/ && FILENAME !~ /^src\/config\// { print FILENAME ":" FNR ": yajl is for src/config"; bad = 1 }
/^#include <getdns/ && FILENAME !~ /^proxy\/resolver\// { print FILENAME ":" FNR ": getdns is for the resolver"; bad = 1 }
END { exit bad }
' table=tests/lint/layers.tbl tests/lint/layers.tbl
