#!/bin/bash
# zwatch-proxy with zwatch-resolver and unbound on loopback: the ways in, refusals, questions,
# limits, and names that cannot be looked up.
. "$(dirname "$0")/zones.sh"
own_net "$0" "$@"
for tool in unbound openssl; do command -v $tool >/dev/null || PATH=$PATH:/usr/sbin; done
command -v unbound >/dev/null || skip "unbound is not installed"
command -v openssl >/dev/null || skip "openssl is not installed"
work=$(mktemp -d)
trap 'stop_all; rm -rf "$work"' EXIT
. "$ZW_SRC/tests/support/ports.sh"
take_ports
bad=0

make_certs
make_zone
unbound_start one $port
up="tls://127.0.0.1:$port#dns.zw.test;ca=$ca"
if command -v curl >/dev/null && command -v python3 >/dev/null; then
	cat >"$work/origin.py" <<-EOP
		import http.server, ssl, sys
		s = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)
		c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
		c.load_cert_chain("$work/web.pem", "$work/web.key")
		s.socket = c.wrap_socket(s.socket, server_side=True)
		s.serve_forever()
	EOP
	(cd "$work" && exec python3 origin.py $((port + 5)) >/dev/null 2>&1) &
	pids="$pids $!"
	export ZW_TEST_PORT=$((port + 5)) ZW_TEST_URL=https://web.zw.test:$((port + 5))/ ZW_TEST_CA=$ca
	i=0
	while [ $i -lt 50 ] && ! (exec 3<>"/dev/tcp/127.0.0.1/$ZW_TEST_PORT") 2>/dev/null; do
		i=$((i + 1))
		sleep 0.1
	done
fi
"$ZW_BIN/px_driver" "$ZW_BIN" "$up" $1 || bad=1
if [ -z "$1" ]; then
	echo "-- a server that is not the right one, a closed port, a stopped server"
	"$ZW_BIN/px_driver" "$ZW_BIN" "tls://127.0.0.1:$port#wrong.zw.test;ca=$ca" nonames || bad=1
	"$ZW_BIN/px_driver" "$ZW_BIN" "tls://127.0.0.1:$((port + 9))#dns.zw.test;ca=$ca" nonames || bad=1
	kill -STOP $one_pid
	"$ZW_BIN/px_driver" "$ZW_BIN" "$up" nonames || bad=1
	kill -CONT $one_pid
	# Names that must never be asked: denied, of refused spellings, of questions not yet answered.
	for name in denied.zw.test late.zw.test orphan.zw.test; do
		grep -q " $name. A IN" "$work/one.log" && { echo "FAIL $name was looked up"; bad=1; }
	done
	grep -q " good.zw.test. A IN" "$work/one.log" || { echo "FAIL the log shows no question"; bad=1; }
fi
exit $bad
