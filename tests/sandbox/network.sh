#!/bin/bash
# SPDX-License-Identifier: MIT
# The network inside: loopback, zwatch's listeners, nothing else. And the checks of the machine.
. "$(dirname "$0")/lib.sh"

net() {
	sb --network -- ./probe "$@"
}
check "HTTP proxy" "$(net tcp 198.19.255.254 3128)" "$(printf 'http\ntcp ok')"
check "SOCKS5 proxy" "$(net tcp 198.19.255.254 1080)" "$(printf 'socks\ntcp ok')"
check "transparent" "$(net tcp 198.19.255.254 15001)" "$(printf 'transparent\ntcp ok')"
check "DNS over TCP" "$(net tcp 127.0.0.1 53)" "$(printf 'dns\ntcp ok')"
check "DNS over UDP" "$(net tcp 127.0.0.1 53 udp)" "$(printf 'datagram\nudp\ntcp ok')"
check "fake addresses are inside" "$(net tcp 198.18.3.4 443)" "tcp ECONNREFUSED"
check "Z069 nothing is outside" "$(net tcp 1.1.1.1 443 , tcp 198.20.0.1 443 , tcp 10.0.0.1 3128)" \
	"$(printf 'tcp ENETUNREACH\ntcp ENETUNREACH\ntcp ENETUNREACH')"
check "own servers work" "$(sb -- python3 -c '
import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
c = socket.create_connection(s.getsockname()); a, _ = s.accept(); a.send(b"hi"); print(c.recv(2).decode())
' 2>&1)" "hi"
check "names are asked of zwatch" "$(timeout 20 "$ZW_SB_DIR/driver" --network --project "$project" \
	--init "$ZW_SB_DIR/zwatch-init" -- timeout 3 getent hosts a.example 2>&1 | sort -u)" "datagram"

out=$("$ZW_SB_DIR/driver" --check --init "$ZW_SB_DIR/zwatch-init" --bwrap "$(command -v bwrap)")
check "checks pass here" "$? $(grep -c ': fail:' <<<"$out")" "0 0"
out=$("$ZW_SB_DIR/driver" --bwrap /nowhere --init /nowhere --check)
check "Z140 checks: missing programs" "$? $(grep ': fail:' <<<"$out" | tr '\n' ' ')" \
	"1 bwrap: fail: not found zwatch-init: fail: /nowhere level: fail: 1: no sandbox can be made; nothing is started "
for what in "userns user namespaces: fail" "landlock Landlock: warn" "killable seccomp notifications: warn" \
	"notify seccomp notifications: fail" "free-listener seccomp notifications: fail: taken"; do
	out=$("$ZW_SB_DIR/driver" --without "${what%% *}" --init "$ZW_SB_DIR/zwatch-init" --check)
	check_in "Z140 checks: without ${what%% *}" "$(grep -v ': ok:' <<<"$out")" "*${what#* }*    *"
done
finish
