#!/bin/bash
# network.upstreamProxy: all that leaves goes by way of another proxy, tinyproxy and microsocks, with a
# login from a file and by HTTPS_PROXY of the host; what it refuses is a 502 that names it.
. "${ZW_SRC:?}/tests/net/session.sh"
command -v tinyproxy >/dev/null || skip "tinyproxy is not installed"
unshare -rm true 2>/dev/null || skip "no user namespaces"
origin_start web
tiny=$((port + 3)) micro=$((port + 4))
cat >"$W/tiny.conf" <<C
Port $tiny
Listen 127.0.0.1
Timeout 60
MaxClients 50
ConnectPort $https
ConnectPort $http
BasicAuth user secret
Logfile "$W/tiny.log"
LogLevel Info
C
# The other proxy looks names up by itself.
echo "127.0.0.1 localhost good.zw.test" >"$W/hosts"
unshare -rm sh -c "mount --bind '$W/hosts' /etc/hosts && exec tinyproxy -d -c '$W/tiny.conf'" >/dev/null 2>&1 &
pids="$pids $!"
wait_until 10 up $tiny || bad "tinyproxy did not start"
printf 'user:secret\n' >"$W/login"
chmod 600 "$W/login"
cp "$ca" "$project/ca.pem"
settings() {
	config <<C
{
  "network": {
    "upstreamProxy": "$1", "upstreamProxyCredentials": "$2",
    "dns": { "upstreams": ["tls://127.0.0.1:$port#dns.zw.test;ca=$ca"] },
    "allowedDomains": ["good.zw.test:$http", "good.zw.test:$https", "good.zw.test:9"]
  }
}
C
}
inside() { timeout 60 "$zwatch" run -- "$@" </dev/null 2>&1; }
direct() { timeout 60 "$zwatch" run -- env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u all_proxy "$@" </dev/null 2>&1; }

settings "http://127.0.0.1:$tiny" "$W/login"
for way in inside direct; do
	has "$way: HTTP by way of tinyproxy" "hello from good.zw.test" "$($way curl -sS "http://good.zw.test:$http/")"
	has "$way: HTTPS" "hello from good.zw.test" "$($way curl -sS --cacert ca.pem "https://good.zw.test:$https/")"
done
has "tinyproxy has seen it" "good.zw.test:$https" "$(cat "$W/tiny.log")"
has "the way is on record" 'by way of 127.0.0.1' "$("$zwatch" log last --json)"
same "the login is not" 0 "$(cat "$HOME"/.local/state/zwatch/* | grep -ac secret)"
hasnt "a name that is not allowed does not get there" "other.zw.test" "$(inside curl -sS "http://other.zw.test:$http/" >"$W/x" 2>&1; cat "$W/tiny.log")"
out=$(inside curl -sS -i "http://good.zw.test:9/")
has "what it refuses is a 502" "HTTP/1.1 502" "$out"
has "that names it" "upstream proxy" "$out"
settings "http://127.0.0.1:$tiny" ""
has "without a login the fix is named" "upstreamProxyCredentials" "$(inside curl -sS "http://good.zw.test:$http/")"
settings env ""
has "HTTPS_PROXY of the host, with a login in it" "hello from good.zw.test" \
	"$(HTTPS_PROXY=http://user:secret@127.0.0.1:$tiny/ inside curl -sS "http://good.zw.test:$http/")"
chmod 644 "$W/login"
settings "http://127.0.0.1:$tiny" "$W/login"
out=$(inside true)
same "a login that others can read stops the start" 4 "$(inside true >/dev/null 2>&1; echo $?)"
has "with what to do" "chmod 600" "$out"
chmod 600 "$W/login"
settings "http://127.0.0.1:$((port + 8))" ""
has "one that does not run: 502" "HTTP/1.1 502" "$(inside curl -sS -i "http://good.zw.test:$http/")"
if command -v microsocks >/dev/null; then
	unshare -rm sh -c "mount --bind '$W/hosts' /etc/hosts && exec microsocks -i 127.0.0.1 -p $micro -u user -P secret" >/dev/null 2>&1 &
	pids="$pids $!"
	listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
	wait_until 10 listens $micro || bad "microsocks did not start"
	settings "socks5://127.0.0.1:$micro" "$W/login"
	has "by way of microsocks" "hello from good.zw.test" "$(inside curl -sS "http://good.zw.test:$http/")"
	settings "socks5://127.0.0.1:$micro" ""
	has "and its login" "upstreamProxyCredentials" "$(inside curl -sS "http://good.zw.test:$http/")"
else
	echo "skip: microsocks is not installed"
fi
exit 0
