#!/bin/bash
# Runs bench_dns with unbound on loopback, over TLS, HTTPS and UDP.
. "$(dirname "$0")/../net/zones.sh"
PATH=$PATH:/usr/sbin
work=$(mktemp -d)
trap 'stop_all; rm -rf "$work"' EXIT
port=$((20000 + $$ % 20000))
make_certs
make_zone
unbound_start one $port "interface: 127.0.0.1@$((port + 1))
			interface: 127.0.0.1@$((port + 2))
			https-port: $((port + 2))"
sed -i 's/log-queries: yes/log-queries: no/' "$work/one.conf"
kill -HUP "$one_pid"
sleep 1
"$ZW_BIN/bench_dns" "$ZW_BIN" $((port + 1)) "tls://127.0.0.1:$port#dns.zw.test;ca=$ca" \
	"https://dns.zw.test:$((port + 2))/dns-query;addr=127.0.0.1;ca=$ca"
