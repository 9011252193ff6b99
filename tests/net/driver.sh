# Head of the tests that drive zwatch-resolver alone, in a network of their own. Sourced behind
# zones.sh and own_net; leaves $work, $port (the first of 64), $driver, check and fail; $bad is the end.
for tool in unbound openssl; do command -v $tool >/dev/null || PATH=$PATH:/usr/sbin; done
command -v unbound >/dev/null || skip "unbound is not installed"
command -v openssl >/dev/null || skip "openssl is not installed"
work=$(mktemp -d)
trap 'stop_all; rm -rf "$work"' EXIT
. "$ZW_SRC/tests/support/ports.sh"
take_ports
driver=$ZW_BIN/res_driver
bad=0

# check WHAT ARGUMENT...: one run of the driver
check() {
	echo "-- $1"
	shift
	"$driver" "$ZW_BIN" "$@" || bad=1
}

fail() {
	echo "FAIL $*"
	bad=1
}
