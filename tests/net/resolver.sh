#!/bin/bash
# zwatch-resolver against unbound on loopback: answers, CNAMEs, negative answers, every way in which
# a server may fail to be the right one, dead and stopped servers.
. "$(dirname "$0")/zones.sh"
own_net "$0" "$@"
. "$(dirname "$0")/driver.sh"

make_certs
make_zone
unbound_start one $port
unbound_start two $((port + 1))
dot="tls://127.0.0.1:$port#dns.zw.test"
dot2="tls://127.0.0.1:$((port + 1))#dns.zw.test"
closed="tls://127.0.0.1:$((port + 2))#dns.zw.test;ca=$ca"

sniff_start
check "name and authority" "$dot;ca=$ca" 4000 \
	good.zw.test=ok,127.0.0.1 alias.zw.test=ok,127.0.0.1,+good.zw.test \
	hop1.zw.test=ok,127.0.0.1,+hop2.zw.test,+hop3.zw.test,+web.zw.test \
	"nothing.zw.test=no such name" "none.zw.test=no address" \
	"loop1.zw.test=lookup failed" p-mapped.zw.test=ok,::ffff:10.0.0.1 \
	good.zw.test=ok,127.0.0.1 "nothing.zw.test=no such name"
check "other types, taken apart and put together" "$dot;ca=$ca" 4000 \
	"good.zw.test/15=ok,=10 mail.zw.test.,=20 other.example." "alias.zw.test/15=ok,+good.zw.test,=10 mail.zw.test.,=20 other.example." \
	"_sip._tcp.good.zw.test/33=ok,=1 2 5060 sip.zw.test." "good.zw.test/16=ok,=_v=spf1_-all_second" \
	"good.zw.test/257=ok,=__issueca.test" "web.zw.test/15=no address" "nothing.zw.test/16=no such name"
# Answers are kept, negative ones too: each was asked for twice and reached the server as often as
# a name asked for once.
asked() { grep -c " $1.zw.test. A IN" "$work/one.log"; }
once=$(asked hop1)
for name in good nothing; do
	[ "$(asked $name)" = "$once" ] || { echo "FAIL $name was asked for again: $(asked $name), not $once"; bad=1; }
done
check "name and pin" "$dot;pin-sha256=$pin;ca=$ca" 4000 good.zw.test=ok,127.0.0.1
check "pin alone" "tls://127.0.0.1:$port;pin-sha256=$pin" 4000 good.zw.test=ok,127.0.0.1
before=$(grep -c good.zw.test "$work/one.log")
check "wrong pin" "$dot;pin-sha256=$(head -c 32 /dev/zero | base64);ca=$ca" 4000 \
	"good.zw.test=lookup failed"
check "wrong name" "tls://127.0.0.1:$port#other.zw.test;ca=$ca" 4000 \
	"good.zw.test=lookup failed"
check "wrong authority" "$dot;ca=$work/other.pem" 4000 "good.zw.test=lookup failed"
check "authorities of the system" "$dot" 4000 "good.zw.test=lookup failed"
check "closed port" "$closed" 4000 "good.zw.test=lookup failed"
[ "$(grep -c good.zw.test "$work/one.log")" = "$before" ] ||
	{ echo "FAIL a question went to a server that had not proven itself"; bad=1; }
check "first one dead" "$(printf '%s\n%s' "$closed" "$dot2;ca=$ca")" 4000 \
	good.zw.test=ok,127.0.0.1 web.zw.test=ok,127.0.0.1
check "a line that is none" "https://dns.zw.test/dns-query" 4000 "good.zw.test=lookup failed"
kill -STOP $one_pid
check "stopped server" "$dot;ca=$ca" 2000 "good.zw.test=lookup timed out>1900"
check "first one stopped" "$(printf '%s\n%s' "$dot;ca=$ca" "$dot2;ca=$ca")" 4000 \
	"good.zw.test=ok,127.0.0.1<2500" "web.zw.test=ok,127.0.0.1<700"
kill -CONT $one_pid
sniff_stop
echo "-- questions seen in clear text: ${sniffed:-nobody looked}"
[ "${sniffed:-0}" = 0 ] || { echo "FAIL a question went out in clear text"; bad=1; }

# The host's own name servers: only when the settings say so, and then in clear text.
if [ -n "$ZW_OWN_NET" ] && [ -e /etc/resolv.conf ]; then
	echo "nameserver 127.0.0.1" >"$work/resolv.conf"
	mount --bind "$work/resolv.conf" /etc/resolv.conf
	unbound_start plain $((port + 3)) "interface: 127.0.0.1@53"
	sniff_start
	check "the host's name servers" "system" 3000 good.zw.test=ok,127.0.0.1 \
		alias.zw.test=ok,127.0.0.1,+good.zw.test "nothing.zw.test=no such name"
	sniff_stop
	echo "-- questions seen in clear text: ${sniffed:-nobody looked}"
	[ "${sniffed:-0}" -gt 0 ] || { echo "FAIL the look at the packets sees nothing"; bad=1; }
	check "not without being named" "$closed" 3000 "good.zw.test=lookup failed"
fi
exit $bad
