#!/bin/bash
# zwatch-resolver over DNS over HTTPS: against unbound, every way in which it may fail to be the right
# server, and a server that does all that HTTP/2 and DNS forbid.
. "$(dirname "$0")/zones.sh"
own_net "$0" "$@"
. "$(dirname "$0")/driver.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
unbound -V | grep -q nghttp2 || skip "this unbound has no DNS over HTTPS"

make_certs
cert ip IP:127.0.0.1
make_zone
# doh_start NAME PORT CERT: unbound with DNS over HTTPS alone.
doh_start() {
	unbound_start "$1" "$2" "interface: 127.0.0.1@$(($2 + 1))
			https-port: $(($2 + 1))
			tls-service-key: \"$work/$3.key\"
			tls-service-pem: \"$work/$3.pem\""
}
doh_start one $port dns
doh_start two $((port + 2)) ip
url() { echo "https://dns.zw.test:$1/dns-query;addr=127.0.0.1"; }
one=$(url $((port + 1)))
closed="$(url $((port + 9)));ca=$ca"

sniff_start
check "name and authority" "$one;ca=$ca" 4000 \
	good.zw.test=ok,127.0.0.1 alias.zw.test=ok,127.0.0.1,+good.zw.test \
	hop1.zw.test=ok,127.0.0.1,+hop2.zw.test,+hop3.zw.test,+web.zw.test \
	"nothing.zw.test=no such name" "none.zw.test=no address" \
	"loop1.zw.test=lookup failed" p-mapped.zw.test=ok,::ffff:10.0.0.1 \
	good.zw.test=ok,127.0.0.1 "nothing.zw.test=no such name" burst=50
check "other types" "$one;ca=$ca" 4000 "good.zw.test/15=ok,=10 mail.zw.test.,=20 other.example." \
	"_sip._tcp.good.zw.test/33=ok,=1 2 5060 sip.zw.test." "web.zw.test/15=no address"
asked() { grep -c " $1.zw.test. A IN" "$work/one.log"; }
once=$(asked hop1)
for name in good nothing; do
	[ "$(asked $name)" = "$once" ] || fail "$name was asked for again: $(asked $name), not $once"
done
check "name, authority and pin" "$one;pin-sha256=$pin;ca=$ca" 4000 good.zw.test=ok,127.0.0.1
check "an address as the host" "https://127.0.0.1:$((port + 3))/dns-query;ca=$ca" 4000 good.zw.test=ok,127.0.0.1
before=$(grep -c good.zw.test "$work/one.log")
check "wrong pin" "$one;ca=$ca;pin-sha256=$(head -c 32 /dev/zero | base64)" 4000 \
	"good.zw.test=lookup failed~pinned"
check "wrong name" "https://other.zw.test:$((port + 1))/dns-query;addr=127.0.0.1;ca=$ca" 4000 \
	"good.zw.test=lookup failed~another name"
check "wrong authority" "$one;ca=$work/other.pem" 4000 "good.zw.test=lookup failed~authorities"
check "authorities of the system" "$one" 4000 "good.zw.test=lookup failed~authorities"
check "no file of authorities" "$one;ca=$work/none.pem" 4000 "good.zw.test=lookup failed"
check "closed port" "$closed" 4000 "good.zw.test=lookup failed~not reached"
check "DNS over TLS where HTTPS is meant" "$(url "$port");ca=$ca" 1500 "good.zw.test=lookup timed out"
[ "$(grep -c good.zw.test "$work/one.log")" = "$before" ] ||
	fail "a question went to a server that had not proven itself"
check "wrong path" "https://dns.zw.test:$((port + 1))/nothing;addr=127.0.0.1;ca=$ca" 4000 \
	"good.zw.test=lookup failed"
check "first one dead" "$(printf '%s\n%s' "$closed" "$one;ca=$ca")" 4000 \
	good.zw.test=ok,127.0.0.1 web.zw.test=ok,127.0.0.1
check "TLS first, and dead" "$(printf '%s\n%s' "tls://127.0.0.1:$((port + 9))#dns.zw.test;ca=$ca" "$one;ca=$ca")" \
	4000 good.zw.test=ok,127.0.0.1
kill -STOP $one_pid
check "stopped server" "$one;ca=$ca" 2000 "good.zw.test=lookup timed out>1900"
check "first one stopped" "$(printf '%s\n%s' "$one;ca=$ca" "https://127.0.0.1:$((port + 3))/dns-query;ca=$ca")" 4000 \
	good.zw.test=ok,127.0.0.1 web.zw.test=ok,127.0.0.1
kill -CONT $one_pid

# A server out of its mind. Whoever comes behind it answers.
ways="good slow stall once leave refuse goaway reset hangup 500 redirect type cut tail broken empty
	other query huge fields pings garbage push aged h1 mute"
# shellcheck disable=SC2086 # one word a way
python3 "$(dirname "$0")/../support/doh_hostile.py" "$work/dns.pem" "$work/dns.key" $((port + 20)) $ways \
	>"$work/hostile.log" &
pids="$pids $!"
i=0
while [ $i -lt 100 ] && ! (exec 3<>"/dev/tcp/127.0.0.1/$((port + 45))") 2>/dev/null; do
	i=$((i + 1))
	sleep 0.1
done
at=$((port + 20))
for way in $ways; do
	up="$(url $at);ca=$ca"
	at=$((at + 1))
	case $way in
	good | slow | once | leave | refuse | aged)
		check "$way" "$up" 6000 a.zw.test=ok,127.0.0.1 b.zw.test=ok,127.0.0.1 burst=20
		;;
	stall | mute)
		check "$way" "$up" 1500 "a.zw.test=lookup timed out"
		check "$way, and one that is well" "$(printf '%s\n%s' "$up" "$one;ca=$ca")" 6000 good.zw.test=ok,127.0.0.1
		;;
	*)
		check "$way" "$up" 3000 "a.zw.test=fails"
		check "$way, and one that is well" "$(printf '%s\n%s' "$up" "$one;ca=$ca")" 6000 good.zw.test=ok,127.0.0.1
		;;
	esac
done
sniff_stop
echo "-- questions seen in clear text: ${sniffed:-nobody looked}"
[ "${sniffed:-0}" = 0 ] || fail "a question went out in clear text"
exit $bad
