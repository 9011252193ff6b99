#!/bin/bash
# The network of a real session, from program to origin: names over DNS over TLS, allowed, denied and
# asked sites, with proxy variables and without, HTTP, HTTPS and SOCKS5, services of the host's loopback.
# Z043 address spellings, Z069 no way around the proxy, Z109 no secret on record.
. "${ZW_SRC:?}/tests/net/session.sh"
. "$ZW_SRC/tests/support/tmux.sh"
origin_start web
closed=$((port + 3)) local=$((port + 4))
python3 -m http.server --bind 127.0.0.1 $local --directory "$project" >/dev/null 2>&1 &
pids="$pids $!"
wait_until 60 up $local || bad "the local service did not start"
cp "$ca" "$project/ca.pem"
config <<C
{
  "network": {
    "dns": { "upstreams": ["tls://127.0.0.1:$port#dns.zw.test;ca=$ca"] },
    "allowPrivate": ["127.0.0.1", "asked.zw.test"],
    "allowedDomains": ["good.zw.test:$http", "good.zw.test:$https", "*.zw.test:$closed", "p-rfc1918.zw.test:$http"],
    "deniedDomains": ["denied.zw.test"],
    "deniedDomainReasons": { "denied.zw.test": "use good.zw.test" },
    "allowLocalPorts": [$local]
  }
}
C

# inside COMMAND...: in the sandbox, without a dashboard
inside() { timeout 60 "$zwatch" run -- "$@" </dev/null 2>&1; }
# direct COMMAND...: the same for a program that knows no proxy
direct() { timeout 60 "$zwatch" run -- env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u all_proxy "$@" </dev/null 2>&1; }

for way in inside direct; do
	has "$way: allowed, HTTP" "hello from good.zw.test" "$($way curl -sS "http://good.zw.test:$http/")"
	has "$way: allowed, HTTPS" "hello from good.zw.test" "$($way curl -sS --cacert ca.pem "https://good.zw.test:$https/")"
	hasnt "$way: denied" "hello" "$($way curl -sS "http://denied.zw.test:$http/")"
	hasnt "$way: not listed" "hello" "$($way curl -sS "http://other.zw.test:$http/")"
	has "$way: a service of the host's loopback" "Directory listing" "$($way curl -sS "http://127.0.0.1:$local/")"
	hasnt "$way: another port of it" "hello" "$($way curl -sS "http://127.0.0.1:$http/")"
done
has "SOCKS5" "hello from good.zw.test" "$(inside sh -c "curl -sS --noproxy '' -x socks5h://198.19.255.254:1080 http://good.zw.test:$http/")"
has "wget" "hello from good.zw.test" "$(direct wget -q -O - "http://good.zw.test:$http/")"
has "python" "hello from good.zw.test" "$(direct python3 -c "import urllib.request as u; print(u.urlopen('http://good.zw.test:$http/').read())")"
out=$(inside curl -sS -i "http://denied.zw.test:$http/")
has "a denial is an HTTP 403" "HTTP/1.1 403" "$out"
has "with the decision" "X-Zwatch-Decision: deny" "$out"
has "and the reason of the settings" "use good.zw.test" "$out"
has "an allowed name whose address is private is refused" "private" "$(inside curl -sS "http://p-rfc1918.zw.test:$http/" ; "$zwatch" log last)"
has "a denied name still resolves: denial is no DNS fault" "198\.1[89]\." "$(direct getent ahostsv4 denied.zw.test)"

for host in 0x7f.1 2130706433 0177.0.0.1 127.1 '[::ffff:127.0.0.1]' '[::ffff:7f00:1]' '[::1]' 0 '[0:0::1]'; do
	for way in inside direct; do
		hasnt "Z043 $way $host" "hello" "$($way curl -sS -g --max-time 10 "http://$host:$http/")"
	done
done

# Z069: nothing of the host's network is reachable but through the proxy
cat >"$project/away.py" <<P
import socket
for family, kind, address in [
    (socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 3128)), (socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 443)),
    (socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 853)), (socket.AF_INET6, socket.SOCK_STREAM, ("2001:db8::1", 443)),
    (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 443)), (socket.AF_INET, socket.SOCK_DGRAM, ("192.0.2.1", 53)),
    (socket.AF_INET6, socket.SOCK_DGRAM, ("2001:db8::1", 53))]:
    s = socket.socket(family, kind)
    s.settimeout(5)
    try:
        if kind == socket.SOCK_DGRAM:
            s.sendto(b"x", address)
        s.connect(address)
        print("REACHED", address)
    except OSError as e:
        print("refused", address, e.strerror)
try:
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    print("REACHED raw")
except OSError as e:
    print("refused raw", e.strerror)
for family, protocol in (socket.AF_INET, socket.IPPROTO_ICMP), (socket.AF_INET6, socket.IPPROTO_ICMPV6):
    try:
        socket.socket(family, socket.SOCK_DGRAM, protocol)
        print("REACHED ping")
    except OSError as e:
        print("refused ping", e.strerror)
P
out=$(direct python3 away.py)
hasnt "Z069 nothing is reached" REACHED "$out"
same "Z069 all ten are refused" 10 "$(printf '%s\n' "$out" | grep -c '^refused')"
log=$("$zwatch" log last --json)
has "Z069 on record" '192.0.2.1' "$log"
has "Z069 raw sockets, with their program" 'SOCK_RAW.*python3|python3.*SOCK_RAW' "$(printf '%s' "$log" | tr -d '\n')"
has "Z069 what was sent without connect() is counted" '[3-9] datagrams were sent past the proxy' "$log"

# Z059: an upload that waits to be told to go on arrives whole, in every way, and is counted once
head -c 50000000 /dev/urandom >"$project/upload"
sum=$(sha256sum <"$project/upload" | cut -d' ' -f1)
inside sh -c "curl -sS -T upload -H 'Expect: 100-continue' http://good.zw.test:$http/a
	curl -sS -p -x http://198.19.255.254:3128 -T upload -H 'Expect: 100-continue' http://good.zw.test:$http/b
	curl -sS --cacert ca.pem -T upload https://good.zw.test:$https/c" >"$W/took"
same "Z059 three uploads of 50 MB" 3 "$(grep -c "took $sum" "$W/took")"
same "Z059 counted once" 3 "$("$zwatch" log last --json | python3 -c '
import json, sys
print(sum(50000000 < e.get("bytes", e).get("up", 0) < 50600000 for e in json.load(sys.stdin)))')"
rm -f "$project/upload"

# Z109: secrets of requests are nowhere
inside curl -sS -H 'Authorization: Bearer tok-SECRET-1' -u user:SECRET-2 "http://good.zw.test:$http/path?key=SECRET-3" >/dev/null
inside curl -sS "http://user:SECRET-4@good.zw.test:$http/" >/dev/null
inside sh -c 'cat ~/.local/state/zwatch/history.db; ls -a ~/.local/state/zwatch' >"$W/seen"
[ "$(grep -c SQLite "$W/seen")" = 0 ] && echo "ok: Z109 the store is not visible inside" || bad "Z109 the store is visible inside"
for s in SECRET-1 SECRET-2 SECRET-3 SECRET-4; do
	grep -qa "$s" "$HOME"/.local/state/zwatch/* && bad "Z109 $s is on record" || echo "ok: Z109 $s is not on record"
done
same "Z109 modes" "700 600" "$(stat -c %a "$HOME/.local/state/zwatch") $(stat -c %a "$HOME/.local/state/zwatch/history.db")"

# A resolver that dies over a question is followed by another, which is asked again; one that dies
# twice over it is asked no more, and the next question is answered by a third.
resolver_of() { pgrep -P "$1" -f zwatch-resolver; }
has_resolver() { [ -n "$(resolver_of "$1")" ]; }
has_other() { [ -n "$(resolver_of "$1")" ] && [ "$(resolver_of "$1")" != "$2" ]; }
kill -STOP "$dot_pid"
"$zwatch" run -- sh -c "curl -sS http://good.zw.test:$http/; echo; curl -sS http://good.zw.test:$http/again" </dev/null >"$W/died" 2>&1 &
session=$!
wait_until 60 has_resolver $session || bad "no resolver was started"
sleep 1
first=$(resolver_of $session)
kill -SEGV "$first"
wait_until 60 has_other $session "$first" || bad "no other resolver was started"
kill -CONT "$dot_pid"
wait $session
has "a name is looked up although the resolver died" "hello from good.zw.test" "$(cat "$W/died")"
has "and its death is on record" "zwatch-resolver" "$("$zwatch" log last)"
kill -STOP "$dot_pid"
"$zwatch" run -- sh -c "curl -sS -o /dev/null -w 'first %{http_code}\n' http://good.zw.test:$http/; sleep 1
	curl -sS http://good.zw.test:$http/" </dev/null >"$W/died" 2>&1 &
session=$!
wait_until 60 has_resolver $session || bad "no resolver was started"
sleep 1
first=$(resolver_of $session)
kill -SEGV "$first"
wait_until 60 has_other $session "$first" || bad "no other resolver was started"
kill -ABRT "$(resolver_of $session)"
kill -CONT "$dot_pid"
wait $session
has "a question that kills two of them fails" "first 50" "$(cat "$W/died")"
has "and the next one is answered" "hello from good.zw.test" "$(cat "$W/died")"

# asked: the call waits for the answer
tt_start 100x30 "$zwatch" run -- sh -c "'echo up; while read x; do curl -sS http://\$x.zw.test:$http/; echo \"[curl \$?]\"; done'"
tt_wait '^up'
tt_type asked
tt_keys Enter
tt_wait 'asked\.zw\.test:[0-9]+'
sleep 2
tt_has 'hello from asked' && bad "it did not wait"
tt_prefix
tt_keys a
tt_wait 'inside your own network'
tt_answer y 'hello from asked.zw.test'
tt_type other
tt_keys Enter
tt_wait 'other\.zw\.test:[0-9]+'
tt_prefix
tt_keys a
tt_wait 'it can send data there'
tt_has 'inside your own network' && bad "a site outside is said to be inside"
tt_keys n
tt_wait 'refused|denied|deny'
tt_keys C-d
tt_wait '\[exit 0\]'
log=$("$zwatch" log last --json)
has "allowed by the user, with bytes" '"did":"allow".*"down":[1-9]|"down":[1-9].*"did":"allow"' "$log"
exit 0
