#!/bin/bash
# SPDX-License-Identifier: MIT
# Unix sockets with and without zwatch, one run after the other, so that the ratios mean something:
# own sockets (brokered), a host socket by rule (with its commit on record) and the relay's bytes.
#   ZW_BIN=build/release/bin bash tests/bench/bench_unix.sh
. "${ZW_SRC:=$PWD}/tests/support/lib.sh"
cp "$ZW_BIN/bench_unix" "$project/bench_unix" || exit 1
mkdir -p "$W/out"
"$project/bench_unix" serve "$W/out/host.sock" &
pids="$pids $!"
wait_until 10 test -S "$W/out/host.sock" || bad "server"
for round in 1 2 3; do
	echo "-- round $round: native"
	./bench_unix own && ./bench_unix host "$W/out/host.sock"
	echo "-- round $round: zwatch"
	"$zwatch" run --ui none --allow-unix "$W/out/host.sock" -- sh -c "./bench_unix own && ./bench_unix host '$W/out/host.sock'" </dev/null
done
