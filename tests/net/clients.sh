#!/bin/bash
# Real programs in a real session, with proxy variables and without, to an allowed and to a denied name:
# the same verdict for both ways, and one row for one connection. Z151 programs that ignore the
# variables, Z155 IPv4 in IPv6, Z165 what works, Z166 what goes around the variables is carried all the same.
. "${ZW_SRC:?}/tests/net/session.sh"
cert wild 'DNS:*.zw.test'
origin_start wild
ws=$((port + 3))
python3 "$ZW_SRC/tests/support/wsorigin.py" $ws &
pids="$pids $!"
cp "$ca" "$project/ca.pem"
cp "$ZW_SRC/tests/support/wsclient.py" "$project/"
config <<C
{
  "network": {
    "dns": { "upstreams": ["tls://127.0.0.1:$port#dns.zw.test;ca=$ca"] },
    "allowPrivate": ["127.0.0.1"],
    "limits": { "newPerSecond": 0, "perProgram": 0, "connections": 0 },
    "allowedDomains": ["*.zw.test:$http", "*.zw.test:$https", "*.zw.test:$ws"],
    "deniedDomains": ["$(for i in $(seq 30 59); do printf 'n%d.zw.test", "' $i; done)denied.zw.test"]
  }
}
C
cat >"$project/musl.c" <<C
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
int main(int n, char **v)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *a;
	char buf[999], get[] = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
	int fd, r = getaddrinfo(v[1], v[2], &hints, &a);
	if (r) return printf("%s\n", gai_strerror(r)), 1;
	fd = socket(a->ai_family, SOCK_STREAM, 0);
	if (connect(fd, a->ai_addr, a->ai_addrlen)) return perror("connect"), 1;
	write(fd, get, strlen(get));
	r = read(fd, buf, sizeof(buf));
	return r > 0 ? write(1, buf, r), 0 : 1;
}
C
command -v musl-gcc >/dev/null && musl-gcc -static -w -o "$project/musl" "$project/musl.c"
cat >"$project/grpc_one.py" <<'P'
import sys, grpc
channel = grpc.insecure_channel(sys.argv[1])
try:
    channel.unary_unary("/a.B/C")(b"", timeout=4)
except grpc.RpcError as e:
    print(e.code(), e.details()[:200])
P
cat >"$project/One.java" <<'J'
public class One {
	public static void main(String[] a) throws Exception {
		var c = new java.net.URL("http://" + a[0] + ":" + a[1] + "/").openConnection();
		c.setConnectTimeout(8000);
		System.out.println(new String(c.getInputStream().readAllBytes()));
	}
}
J
cat >"$project/apt.list" <<'P'
deb [trusted=yes] http://HOST/debian stable main
P

# name | at most this many connections | what it needs | command; H host, P port of HTTP, S of HTTPS
cat >"$W/clients" <<'T'
curl|1|curl|curl -sS --max-time 8 http://H:P/
curl https|1|curl|curl -sS --max-time 8 --cacert ca.pem https://H:S/
wget|1|wget|wget -q -T 8 -t 1 -O - http://H:P/
git https|1|git|GIT_SSL_CAINFO=$PWD/ca.pem git ls-remote https://H:S/x.git
git ssh|1|ssh|GIT_SSH_COMMAND='ssh -oBatchMode=yes -oConnectTimeout=8 -oStrictHostKeyChecking=no' git ls-remote ssh://x@H:P/x.git
git daemon|1|git|timeout 8 git ls-remote git://H:P/x.git
npm|1|npm|npm view x --registry http://H:P/ --fetch-retries=0 --cache ./npm-cache-H
pip|1|pip3|python3 -m pip download --disable-pip-version-check --retries 0 --timeout 8 --trusted-host H --no-deps --index-url http://H:P/simple zz
node fetch|1|node|node -e "fetch('http://H:P/').then(r=>r.text()).then(console.log).catch(e=>{console.log(String(e.cause));process.exit(1)})"
node c-ares|1|node|node -e "const d=require('dns');d.resolve4('H',(e,a)=>{if(e)throw e;require('http').get({host:a[0],port:P,headers:{Host:'H:P'}},r=>r.pipe(process.stdout)).on('error',e=>console.log(e.code))})"
python urllib|1|python3|python3 -c "import urllib.request as u; print(u.urlopen('http://H:P/', timeout=8).read())"
python requests|1|py:requests|python3 -c "import requests; print(requests.get('http://H:P/', timeout=8).text)"
python httpx|1|py:httpx|python3 -c "import httpx; print(httpx.get('http://H:P/', timeout=8).text)"
musl static|1|./musl|./musl H P
java|4|javac|java -Xshare:auto -XX:TieredStopAtLevel=1 One.java H P
psql|1|psql|PGSSLMODE=disable PGGSSENCMODE=disable PGCONNECT_TIMEOUT=8 psql "postgresql://x@H:P/x" -c 'select 1'
grpc|3|py:grpc|python3 grpc_one.py H:P
apt|60|apt-get|a=$PWD/apt-H; mkdir -p $a/lists/partial $a/cache/archives/partial; sed s/HOST/H:P/ apt.list >$a/l; touch $a/status; apt-get -q -o Dir::Etc::SourceList=$a/l -o Dir::Etc::SourceParts=/dev/null -o Dir::State=$a -o Dir::State::status=$a/status -o Dir::Cache=$a/cache -o Acquire::Retries=0 -o APT::Sandbox::User= update
websocket|1|python3|python3 wsclient.py H W
websocket by the proxy|1|python3|python3 wsclient.py H W absolute
socks4a|1|curl|curl -sS --max-time 8 --noproxy '' --socks4a 198.19.255.254:1080 http://H:P/
socks5 name|1|curl|curl -sS --max-time 8 --noproxy '' --socks5-hostname 198.19.255.254:1080 http://H:P/
socks5 address|1|curl|curl -sS --max-time 8 --noproxy '' --socks5 198.19.255.254:1080 http://H:P/
absolute|1|curl|curl -sS --max-time 8 --noproxy '' -x http://198.19.255.254:3128 http://H:P/
connect|1|curl|curl -sS --max-time 8 --noproxy '' -p -x http://198.19.255.254:3128 http://H:P/
T
here() {
	case $1 in
	./*) [ -x "$project/$1" ] ;;
	py:*) python3 -c "import ${1#py:}" 2>/dev/null ;;
	*) command -v "$1" >/dev/null ;;
	esac
}
# One session a way, both at once, each with a folder and a store of its own; every client has an allowed
# and a denied name, which it asks for at the same time.
for way in variables none; do
	cp -r "$project" "$W/project.$way"
	{
		[ $way = none ] && echo 'unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY all_proxy'
		echo 'export PIP_CONFIG_FILE=/dev/null npm_config_update_notifier=false'
		i=0
		while IFS='|' read -r name max needs command; do
			for host in n$i n$((i + 30)); do
				printf '('
				printf '%s' "$command" | sed "s/\bH\b/$host.zw.test/g; s/\bP\b/$http/g; s/\bS\b/$https/g; s/\bW\b/$ws/g"
				printf ') </dev/null >said.%s 2>&1 &\n' $host
			done
			printf 'wait; for h in n%s n%s; do echo "== %s, $h"; tail -3 said.$h; echo; done\n' $i $((i + 30)) "$name"
			i=$((i + 1))
		done <"$W/clients"
	} >"$W/project.$way/all.sh"
	(
		cd "$W/project.$way" && export XDG_STATE_HOME=$W/state.$way
		timeout 250 "$zwatch" run -- bash all.sh >"$W/out.$way" 2>&1 </dev/null
		"$zwatch" log last --json >"$W/log.$way"
	) &
	ways="${ways:-} $!"
done
wait $ways

# rows WAY HOST: "did count" of what is on record for this name
rows() {
	python3 - "$W/log.$1" "$2.zw.test" <<'P'
import json, sys
rows = [e for e in json.load(open(sys.argv[1])) if e.get("host") == sys.argv[2] and e.get("via") != "dns"]
print("/".join(sorted({e["did"] for e in rows})) or "none", sum(e.get("count", 1) for e in rows))
P
}
i=0
while IFS='|' read -r name max needs command; do
	if ! here "$needs"; then
		echo "skip: $name: $needs is not installed"
		i=$((i + 1))
		continue
	fi
	for way in variables none; do
		for host in n$i n$((i + 30)); do
			[ $host = n$i ] && wanted="allow" || wanted="deny"
			read -r did n < <(rows $way $host)
			if [ "$did" = $wanted ] && [ "$n" -ge 1 ] && [ "$n" -le "$max" ]; then
				echo "ok: $name, $way, $wanted, $n"
			else
				bad "$name, $way: wanted $wanted, at most $max; on record: $did $n"
				grep -A3 "^== $name, $host" "$W/out.$way"
			fi
		done
	done
	i=$((i + 1))
done <"$W/clients"
command -v go >/dev/null || echo "skip: Go: go is not installed"
for way in variables none; do
	same "websocket speaks both ways, $way" 2 "$(grep -A1 "^== websocket.*, n1[89]$" "$W/out.$way" | grep -c 'echo: hello')"
done
has "Z155 IPv4 in IPv6 is loopback" "works" "$(timeout 30 "$zwatch" run -- python3 -c "
import socket, threading
s = socket.socket(socket.AF_INET6); s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0); s.bind(('::', 0)); s.listen()
c = socket.socket(socket.AF_INET6); c.connect(('::ffff:127.0.0.1', s.getsockname()[1])); a, who = s.accept(); a.send(b'works'); print(c.recv(9))" 2>&1)"
exit 0
