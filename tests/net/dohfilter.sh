#!/bin/bash
# DNS over HTTPS in a real session. Filter: a public name server is answered for by zwatch, over HTTP/2
# and HTTP/1.1, by GET, POST and in JSON, and each name is judged. Block: none is reached, and the
# record names it.
. "${ZW_SRC:?}/tests/net/session.sh"
curl --help dns 2>/dev/null | grep -q doh-url || skip "this curl knows no DNS over HTTPS"
origin_start web
settings() {
	config <<C
{
  "network": {
    "dns": { "upstreams": ["tls://127.0.0.1:$port#dns.zw.test;ca=$ca"], "doh": "$1" },
    "allowPrivate": ["127.0.0.1"],
    "allowedDomains": ["good.zw.test:$http", "good.zw.test:$https", "dns.google", "one.one.one.one"],
    "deniedDomains": ["denied.zw.test"],
    "deniedDomainReasons": { "denied.zw.test": "use good.zw.test" }
  }
}
C
}
inside() { timeout 60 "$zwatch" run -- "$@" </dev/null 2>&1; }
direct() { timeout 60 "$zwatch" run -- env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY -u all_proxy "$@" </dev/null 2>&1; }

settings filter
out=$(direct curl -sS --doh-url https://dns.google/dns-query "http://good.zw.test:$http/")
has "filter: curl --doh-url, an allowed name" "hello from good.zw.test" "$out"
out=$(direct curl -sS --doh-url https://dns.google/dns-query "http://denied.zw.test:$http/")
hasnt "filter: a denied name" "hello" "$out"
log=$("$zwatch" log last --json)
has "filter: the denied name is on record" '"did":"deny".*denied.zw.test|denied.zw.test.*"did":"deny"' "$log"
has "filter: with how it was asked for" 'asked of dns.google over HTTPS' "$log"
has "filter: and by whom" '/curl"' "$log"
for way in inside direct; do
	out=$($way curl -sS "https://dns.google/resolve?name=good.zw.test&type=A")
	has "filter: $way, JSON" '"Status":0.*"data":"198\.1[89]\.' "$out"
	out=$($way curl -sS "https://dns.google/resolve?name=denied.zw.test&type=1")
	has "filter: $way, JSON of a denied name" '"Status":3.*use good.zw.test.*"info_code":17' "$out"
	out=$($way curl -sS --http1.1 -i -H 'accept: application/dns-json' "https://1.1.1.1/dns-query?name=good.zw.test")
	has "filter: $way, by address and HTTP/1.1" 'application/dns-json' "$out"
	has "filter: $way, answered" '"data":"198\.1[89]\.' "$out"

	out=$($way curl -sS -o "$project/answer" -w '%{http_version} %{http_code} %{content_type}' \
		"https://one.one.one.one/dns-query?dns=AAABAAABAAAAAAAABGdvb2QCencEdGVzdAAAAQAB")
	has "filter: $way, GET over HTTP/2" '^2 200 application/dns-message' "$out"
	same "filter: $way, as long as it should be" 46 "$(stat -c %s "$project/answer")"
	out=$($way curl -sS -o /dev/null -w '%{http_code}' https://dns.google/search)
	has "filter: $way, nothing but names is there" '^404' "$out"
done
has "filter: Python trusts it" '"Status":0' "$(direct python3 -c "import urllib.request as u; print(u.urlopen('https://dns.google/resolve?name=good.zw.test').read())")"
if command -v node >/dev/null; then
	has "filter: Node trusts it" '"Status":0' "$(direct node -e "require('https').get('https://dns.google/resolve?name=good.zw.test', r => r.on('data', d => console.log(String(d))))")"
fi
if command -v kdig >/dev/null; then
	out=$(direct kdig +https +tls-ca=/run/zwatch-certs/bundle.pem +tls-hostname=dns.google @8.8.8.8 good.zw.test A)
	has "filter: kdig +https, POST" 'status: NOERROR' "$out"
	has "filter: kdig, the address" '198\.1[89]\.' "$out"
	out=$(direct kdig +https-get +tls-ca=/run/zwatch-certs/bundle.pem +tls-hostname=dns.google +edns @8.8.8.8 denied.zw.test A)
	has "filter: kdig +https-get, refused" 'status: NXDOMAIN' "$out"
	has "filter: with the reason" 'EDE: 17.*use good.zw.test|Filtered' "$out"
	out=$(direct kdig +tls +tls-hostname=dns.google @8.8.8.8 good.zw.test A)
	hasnt "filter: DNS over TLS stays shut" 'status: NOERROR' "$out"
	out=$(direct kdig +https +tls-ca=/run/zwatch-certs/bundle.pem +tls-hostname=dns.google @8.8.8.8 good.zw.test HTTPS)
	has "filter: no hint of HTTP/3 or an encrypted hello" 'ANSWER: 0' "$out"
else
	echo "skip: kdig is not installed"
fi
hasnt "filter: the authority of one session is unknown to the next" OK "$(cp /dev/null "$project/ca1"; direct sh -c 'cp /run/zwatch-certs/ca.pem ca1' ; direct sh -c 'openssl x509 -in ca1 -noout -fingerprint >a; openssl x509 -in /run/zwatch-certs/ca.pem -noout -fingerprint >b; cmp -s a b && echo OK')"
hasnt "filter: its key is nowhere inside" 'PRIVATE' "$(direct sh -c 'cat /run/zwatch-certs/*; ls /run/zwatch-certs')"
has "filter: the user's own certificates stay known" 'test authority' "$(NODE_EXTRA_CA_CERTS=$ca direct sh -c 'csplit -z -s -f c- $NODE_EXTRA_CA_CERTS "/BEGIN/" "{*}"; for c in c-*; do openssl x509 -in $c -noout -subject; done')"

settings block
for way in inside direct; do
	out=$($way curl -sS --max-time 20 "https://dns.google/resolve?name=good.zw.test&type=A")
	hasnt "block: $way, nothing is answered" Status "$out"
	has "block: $way, on record by name" 'Google Public DNS' "$("$zwatch" log last --json)"
done
out=$(direct curl -sS --max-time 20 "https://1.1.1.1/dns-query?name=good.zw.test")
hasnt "block: by address" Status "$out"
has "block: by address, on record by name" 'Cloudflare' "$("$zwatch" log last --json)"
for ask in "-H accept:application/dns-json http://good.zw.test:$http/x?name=a.example" "http://good.zw.test:$http/dns-query?dns=AAAB" "-H content-type:application/dns-message --data x http://good.zw.test:$http/"; do
	out=$(inside curl -sS $ask)
	hasnt "block: in clear HTTP: $ask" "hello" "$out"
done
exit 0
