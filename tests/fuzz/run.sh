#!/bin/sh
# Runs one libFuzzer target: the checked-in corpus, then ZW_FUZZ_RUNS new inputs (default 20000) but
# no longer than 25 seconds, or ZW_FUZZ_SECONDS seconds when that is set. An input that fails is printed for base64 -d.
# usage: run.sh TARGET CORPUS
set -eu
target=$1
corpus=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/new" "$work/bad"
if [ -n "${ZW_FUZZ_SECONDS:-}" ]; then
	limit="-max_total_time=$ZW_FUZZ_SECONDS"
else
	limit="-runs=${ZW_FUZZ_RUNS:-20000} -max_total_time=25"
fi
[ -d "$corpus" ] || corpus=
# Its own status for a find is 77, which would be taken for a skip.
# shellcheck disable=SC2086 # words
"$target" $limit -error_exitcode=1 -timeout=60 -timeout_exitcode=1 -rss_limit_mb=2048 -max_len=65536 \
	-artifact_prefix="$work/bad/" "$work/new" $corpus || {
	for f in "$work"/bad/*; do
		[ -f "$f" ] && { echo "-- ${f##*/}"; base64 -w 0 "$f" | head -c 20000; echo; }
	done
	exit 1
}
