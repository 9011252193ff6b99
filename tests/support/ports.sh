# Ports of loopback for one test alone. Sourced.

# take_ports: sets $port, the first of 64 that are free and that no other test takes while this one runs
take_ports() {
	local dir n slot
	# By the name that a user namespace does not change.
	dir=${TMPDIR:-/tmp}/zwatch-test-ports-${USER:-$(id -u)}
	mkdir -p "$dir" && [ -w "$dir" ] || dir=$(mktemp -d)
	for n in $(seq 160); do
		slot=$((($$ + n) % 160))
		exec 8>"$dir/$slot"
		flock -n 8 || continue
		port=$((20000 + slot * 64)) # below those that the kernel hands out
		python3 - "$port" <<-'P' && return
			import socket, sys
			for port in range(int(sys.argv[1]), int(sys.argv[1]) + 64):
			    for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
			        with socket.socket(socket.AF_INET, kind) as s:
			            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
			            s.bind(("127.0.0.1", port))
		P
	done 2>"$dir/said"
	cat "$dir/said" >&2
	echo "no free ports" >&2
	exit 1
}
