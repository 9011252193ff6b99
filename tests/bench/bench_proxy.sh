#!/bin/bash
# Runs bench_proxy, with tinyproxy beside it where it is installed.
PATH=$PATH:/usr/sbin
tiny=$(command -v tinyproxy)
[ -n "$tiny" ] || echo "tinyproxy is not installed: zwatch alone"
exec "$ZW_BIN/bench_proxy" "$ZW_BIN" $tiny
