#!/bin/sh
# Runs one libFuzzer target: the checked-in corpus, then ZW_FUZZ_RUNS new inputs (default 20000), or
# ZW_FUZZ_SECONDS seconds when that is set.  usage: run.sh TARGET CORPUS
set -eu
target=$1
corpus=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -n "${ZW_FUZZ_SECONDS:-}" ]; then
	limit="-max_total_time=$ZW_FUZZ_SECONDS"
else
	limit="-runs=${ZW_FUZZ_RUNS:-20000}"
fi
[ -d "$corpus" ] || corpus=
exec "$target" "$limit" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -artifact_prefix="$work/" "$work" $corpus
