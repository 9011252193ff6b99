# Head of the tests that run whole sessions beside a name server and certificates of their own. Sourced;
# leaves $W and all of support/lib.sh, $port (the first of 64), $ca, and unbound "dot" on $port.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "$ZW_SRC/tests/support/ports.sh"
work=$W
. "$ZW_SRC/tests/net/zones.sh"
PATH=/usr/bin:$PATH:/usr/sbin
command -v unbound >/dev/null || skip "unbound is not installed"
command -v openssl >/dev/null || skip "openssl is not installed"
make_certs
make_zone
take_ports
unbound_start dot $port ""

# origin_start CERTIFICATE: 'hello from HOST' on $http and, with that certificate, on $https
origin_start() {
	http=$((port + 1)) https=$((port + 2))
	python3 "$ZW_SRC/tests/support/origin.py" $http $https "$W/$1.pem" "$W/$1.key" &
	pids="$pids $!"
	wait_until 60 up $http || bad "the origin did not start"
}

up() { curl -s -o "$W/up" "http://127.0.0.1:$1/"; }
