#!/bin/bash
# network.dns.validate: zwatch-resolver against unbound with a signed root of the test's own: what is
# proven, what is not, and what has no keys. And network.dns.zones: names that go elsewhere.
. "$(dirname "$0")/zones.sh"
own_net "$0" "$@"
. "$(dirname "$0")/driver.sh"
command -v ldns-signzone >/dev/null || skip "ldnsutils is not installed"

# sign ZONE FILE: keys and $work/FILE.signed; the DS record is left in $ds.
sign() {
	(cd "$work" && k=$(ldns-keygen -k -a ECDSAP256SHA256 "$1") && z=$(ldns-keygen -a ECDSAP256SHA256 "$1") &&
		ldns-signzone -n -o "$1" -f "$2.signed" "$2" "$k" "$z" && echo "$k" >"$2.key")
	ds=$(cat "$work/$(cat "$work/$2.key").ds")
}

make_certs
cat >"$work/signed" <<-EOZ
	\$ORIGIN zw.test.
	\$TTL 60
	@ SOA ns.zw.test. root.zw.test. 1 3600 600 86400 30
	@ NS ns.zw.test.
	ns A 127.0.0.1
	good A 127.0.0.1
	good AAAA ::1
	alias CNAME good
	bogus A 127.0.0.1
EOZ
sign zw.test. signed
signed_ds=$ds
# One record is not what was signed.
sed -i 's/^bogus.zw.test.\(.*[[:space:]]\)A[[:space:]]127.0.0.1/bogus.zw.test.\1A 127.0.0.66/' "$work/signed.signed"
grep -q '127.0.0.66' "$work/signed.signed" || fail "nothing was forged"
cat >"$work/plain" <<-EOZ
	\$ORIGIN plain.test.
	\$TTL 60
	@ SOA ns.zw.test. root.zw.test. 1 3600 600 86400 30
	@ NS ns.zw.test.
	www A 127.0.0.1
EOZ
# Below plain.test there is no secure way to it, although it is signed; below evil.test the keys are others.
cat >"$work/evil" <<-EOZ
	\$ORIGIN evil.test.
	\$TTL 60
	@ SOA ns.zw.test. root.zw.test. 1 3600 600 86400 30
	@ NS ns.zw.test.
	www A 127.0.0.66
EOZ
sign evil.test. evil
cat >"$work/root" <<-EOZ
	\$ORIGIN .
	\$TTL 60
	@ SOA ns.zw.test. root.zw.test. 1 3600 600 86400 30
	@ NS ns.zw.test.
	zw.test. NS ns.zw.test.
	ns.zw.test. A 127.0.0.1
	$signed_ds
	plain.test. NS ns.zw.test.
	evil.test. NS ns.zw.test.
	$(echo "$ds" | sed 's/[0-9a-f]\{8\}$/00000000/')
EOZ
sign . root
# The anchor is the key itself.
anchor=$work/anchor
cat "$work/$(cat "$work/root.key").key" >"$anchor"

# dnssec_start NAME PORT
dnssec_start() {
	cp "$work/signed.signed" "$work/zone"
	unbound_start "$1" "$2" "" "$(
		for z in .:root.signed plain.test:plain evil.test:evil.signed; do
			printf 'auth-zone:\n\tname: "%s"\n\tzonefile: "%s"\n\tfor-downstream: yes\n\tfor-upstream: yes\n' \
				"${z%%:*}" "$work/${z#*:}"
		done
	)"
}
dnssec_start one $port
up="tls://127.0.0.1:$port#dns.zw.test;ca=$ca"
check "without validation everything is taken" "$up" 4000 good.zw.test=ok,127.0.0.1,::1 \
	bogus.zw.test=ok,127.0.0.66 www.evil.test=ok,127.0.0.66
export ZW_ANCHORS=$anchor
sniff_start
check "signed" "$up" 4000 good.zw.test=ok,127.0.0.1,::1 alias.zw.test=ok,127.0.0.1,::1,+good.zw.test \
	"nothing.zw.test=no such name"
check "without keys" "$up" 4000 www.plain.test=ok,127.0.0.1 "nothing.plain.test=no such name"
check "forged" "$up" 4000 "bogus.zw.test=lookup failed~DNSSEC"
check "signed by others" "$up" 4000 "www.evil.test=lookup failed~DNSSEC"
sniff_stop
[ "${sniffed:-0}" = 0 ] || fail "a question went out in clear text"
ZW_ANCHORS=$work/none check "no file of anchors" "$up" 4000 "good.zw.test=lookup failed"
cat "$work/$(cat "$work/evil.key").key" | sed 's/^evil.test./. /' >"$work/other"
ZW_ANCHORS=$work/other check "the anchor of another root" "$up" 4000 "good.zw.test=lookup failed~DNSSEC"
check "not over HTTPS" "https://dns.zw.test/q;addr=127.0.0.1;ca=$ca" 4000 "good.zw.test=lookup failed"
unset ZW_ANCHORS

# Zones: what lies in one is asked there alone, and nothing else is.
cat >"$work/zone2" <<-EOZ
	\$ORIGIN corp.example.
	\$TTL 60
	@ SOA ns.corp.example. root.corp.example. 1 3600 600 86400 30
	@ NS ns.corp.example.
	@ A 10.0.0.1
	git A 10.0.0.2
	deep.eu A 10.0.0.3
EOZ
cp "$work/zone2" "$work/zone"
unbound_start corp $((port + 1)) 'local-zone: "example." nodefault' "" corp.example.
cp "$work/signed.signed" "$work/zone"
corp="corp.example=tls://127.0.0.1:$((port + 1))#dns.zw.test;ca=$ca"
check "a zone of its own" "$(printf '%s\n%s' "$up" "$corp")" 4000 corp.example=ok,10.0.0.1 \
	git.corp.example=ok,10.0.0.2 deep.eu.corp.example=ok,10.0.0.3 good.zw.test=ok,127.0.0.1,::1 \
	"nothing.corp.example=no such name" "notcorp.example=no such name"
grep -q "corp.example. A IN" "$work/one.log" && ! grep -q "notcorp.example. A IN" "$work/one.log" &&
	fail "a name of the zone went to the others"
grep " [a-z.]*corp.example. A IN" "$work/one.log" | grep -v notcorp && fail "a name of the zone went to the others"
grep -q "zw.test. A IN" "$work/corp.log" && fail "a name of no zone went to the zone's server"
check "a zone whose server is dead" "$(printf '%s\n%s' "$up" "corp.example=tls://127.0.0.1:$((port + 9))#dns.zw.test;ca=$ca")" \
	3000 "git.corp.example=lookup failed" good.zw.test=ok,127.0.0.1,::1
check "a zone whose server cannot be set up" "$(printf '%s\n%s' "$up" "corp.example=tls://127.0.0.1:$((port + 1))#dns.zw.test;ca=$work/none")" \
	3000 "git.corp.example=lookup failed" good.zw.test=ok,127.0.0.1,::1
grep " [a-z.]*corp.example. A IN" "$work/one.log" | grep -v notcorp && fail "a name of the zone fell back to the others"
if [ -n "$ZW_OWN_NET" ] && [ -e /etc/resolv.conf ]; then
	echo "nameserver 127.0.0.1" >"$work/resolv.conf"
	mount --bind "$work/resolv.conf" /etc/resolv.conf
	cp "$work/zone2" "$work/zone"
	unbound_start plain $((port + 3)) 'interface: 127.0.0.1@53
			local-zone: "example." nodefault' "" corp.example.
	check "a zone of the host's own servers" "$(printf '%s\ncorp.example=system' "$up")" 4000 \
		git.corp.example=ok,10.0.0.2 good.zw.test=ok,127.0.0.1,::1
	grep -q "zw.test. A IN" "$work/plain.log" && fail "a name of no zone went to the host's servers"
fi
exit $bad
