#!/bin/bash
# The name server inside a real session: what it answers by itself, what it asks outside and what never
# leaves. Z071 types and options, Z074 kinds of resolv.conf, Z073 every server that is listed, Z077 letter case, Z078 long answers.
. "${ZW_SRC:?}/tests/net/session.sh"
config <<C
{
  "network": {
    "dns": { "upstreams": ["tls://127.0.0.1:$port#dns.zw.test;ca=$ca"] },
    "allowedDomains": ["good.zw.test", "large.zw.test", "web.zw.test:8443", "8.8.4.4"],
    "deniedDomains": ["denied.zw.test"]
  }
}
C
cp "$ZW_SRC/tests/support/dns_inside.py" "$project/"
asks() { timeout 120 "$zwatch" run -- python3 dns_inside.py "$@" </dev/null >"$W/said" 2>&1; }
says() { has "$1" "^$1 => $2\$" "$(cat "$W/said")"; }

asks udp:denied.zw.test/1 udp:any.name.example/1 udp:good.zw.test/28 udp:good.zw.test/65 udp:good.zw.test/64 \
	udp:localhost/1 tcp:x.localhost/28 udp:use-application-dns.net/1 udp:mask.icloud.com/28 udp:_dns.resolver.arpa/64 \
	udp:denied.zw.test/16 udp:asked.zw.test/15 udp:_sip._tcp.asked.zw.test/33 udp:other.zw.test/257 udp:good.zw.test/255 \
	udp:good.zw.test/10 udp:good.zw.test/2 udp:good.zw.test/6 udp:good.zw.test/35 tcp:good.zw.test/252 \
	udp:good.zw.test/1/class=3 udp:8.8.8.8.in-addr.arpa/12 udp:1.0.0.10.in-addr.arpa/12 udp:1.0.0.127.in-addr.arpa/12 \
	udp:Good.ZW.test/1/edns=1232/do/pad/ecs udp:good.zw.test/1/extra udp:web.zw.test/16
for name in denied.zw.test any.name.example; do says "udp:$name/1" 'NOERROR 198\.1[89]\..*'; done
for type in 28 65 64; do says "udp:good.zw.test/$type" NOERROR; done
says udp:localhost/1 'NOERROR 127.0.0.1'
says tcp:x.localhost/28 'NOERROR ::1'
says udp:use-application-dns.net/1 NXDOMAIN
says udp:mask.icloud.com/28 NXDOMAIN
says udp:_dns.resolver.arpa/64 NOERROR
for q in udp:denied.zw.test/16 udp:asked.zw.test/15 udp:_sip._tcp.asked.zw.test/33 udp:other.zw.test/257 \
	udp:good.zw.test/255 udp:good.zw.test/10 udp:good.zw.test/2 udp:good.zw.test/6 udp:good.zw.test/35 \
	tcp:good.zw.test/252 udp:good.zw.test/1/class=3 udp:8.8.8.8.in-addr.arpa/12; do
	says "$q" REFUSED
done
says udp:1.0.0.10.in-addr.arpa/12 NXDOMAIN
says udp:1.0.0.127.in-addr.arpa/12 'NOERROR localhost'
says udp:Good.ZW.test/1/edns=1232/do/pad/ecs 'NOERROR EDNS 198\..*'
says udp:good.zw.test/1/extra 'FORMERR'
same "nothing was asked outside" "" "$(grep -o ' [a-z_.-]*\. [A-Z0-9]* IN' "$W/dot.log" | grep -v 'web.zw.test. TXT' | sort -u)"

# Z071: what does leave is written by zwatch: lower case, its own options, and only the types it knows
asks udp:GoOd.zw.test/15/edns=1232/ecs/pad udp:_sip._TCP.good.zw.test/33 udp:good.zw.test/16 udp:good.zw.test/257 \
	udp:_dmarc.good.zw.test/16 udp:nothing.good.zw.test/16 udp:4.4.8.8.in-addr.arpa/12 tcp:good.zw.test/15
says udp:GoOd.zw.test/15/edns=1232/ecs/pad 'NOERROR EDNS 10 mail.zw.test 20 other.example'
says tcp:good.zw.test/15 'NOERROR 10 mail.zw.test 20 other.example'
says udp:_sip._TCP.good.zw.test/33 'NOERROR 1 2 5060 sip.zw.test'
says udp:good.zw.test/16 'NOERROR v=spf1 -all\|second'
says udp:good.zw.test/257 'NOERROR 0005697373756563612e74657374'
says udp:_dmarc.good.zw.test/16 'NOERROR v=DMARC1'
says udp:nothing.good.zw.test/16 REFUSED
has "Z071 asked in lower case" ' good\.zw\.test\. MX IN' "$(cat "$W/dot.log")"
hasnt "Z071 and in no other" '[A-Z][a-z]*\.zw\.test\. ' "$(cat "$W/dot.log")"

# Z078: an answer that is too long for UDP says so, and comes by TCP as a whole
asks udp:large.zw.test/16 udp:large.zw.test/16/edns=1232 udp:large.zw.test/16/edns=65535 tcp:large.zw.test/16
says udp:large.zw.test/16 'NOERROR TC'
says udp:large.zw.test/16/edns=1232 'NOERROR TC EDNS'
says udp:large.zw.test/16/edns=65535 'NOERROR TC EDNS'
same "Z078 sixty records by TCP" 60 "$(grep -o 'record [0-9]* ' "$W/said" | sort -u | wc -l)"

# Z073: every server that is listed; Z077: two spellings at the same moment
asks servers=50 storm=1000
has "Z073 every listed server answers" "^server [0-9.]* answers" "$(cat "$W/said")"
same "Z073 as many as are listed" "$(grep -c '^server ' "$W/said")" "$(grep -c '^server .* answers' "$W/said")"
has "Z077 each answer has its own question" '^storm: 1000 pairs, 0 wrong' "$(cat "$W/said")"

# A server that does not answer holds nobody up but the one who asked; a name that stands for itself meanwhile.
kill -STOP "$dot_pid"
asks udp:good.zw.test/15 udp:good.zw.test/1
kill -CONT "$dot_pid"
says udp:good.zw.test/15 '(SERVFAIL|NOERROR 10 mail.zw.test 20 other.example)'
says udp:good.zw.test/1 'NOERROR 198\..*'

# a reverse question for an address that stands for a name
cat >"$project/reverse.py" <<'P'
import socket
a = socket.gethostbyname("some.name.example")
print("reverse", socket.gethostbyaddr(a)[0])
P
has "a stand-in address has its name" "^reverse some.name.example" "$(timeout 60 "$zwatch" run -- python3 reverse.py </dev/null 2>&1)"

# Z074: whatever the host's resolv.conf is, the one inside is zwatch's, and the host's stays as it was
if unshare -rm true 2>/dev/null; then
	mkdir -p "$W/etc"
	for f in passwd group hosts nsswitch.conf ld.so.cache ssl ca-certificates alternatives localtime; do
		cp -r "/etc/$f" "$W/etc/" 2>/dev/null
	done
	# with NAME COMMAND...: the host's resolv.conf is made by the command
	with() {
		local name=$1
		shift
		rm -f "$W/etc/resolv.conf"
		"$@"
		stat -c '%N %s' "$W/etc/resolv.conf" >"$W/conf.before" 2>&1
		out=$(unshare -rm sh -c "mount --bind '$W/etc' /etc && exec timeout 120 '$zwatch' run -- sh -c '
			cat /etc/resolv.conf; getent ahostsv4 good.zw.test'" </dev/null 2>&1)
		# Without any, programs ask this machine, which inside is zwatch.
		[ "$name" = none ] || has "Z074 $name: the name server is zwatch" '^nameserver 127\.0\.0\.1$' "$out"
		has "Z074 $name: names resolve" '^198\.1[89]\.' "$out"
		stat -c '%N %s' "$W/etc/resolv.conf" >"$W/conf.after" 2>&1
		same "Z074 $name: untouched" "$(cat "$W/conf.before")" "$(cat "$W/conf.after")"
	}
	with "a file" sh -c "echo nameserver 192.0.2.1 >'$W/etc/resolv.conf'"
	with "an empty file" touch "$W/etc/resolv.conf"
	with "a link into /run" sh -c "echo nameserver 192.0.2.1 >'$W/run/stub'; ln -s '$W/run/stub' '$W/etc/resolv.conf'"
	with "a dangling link" ln -s ../run/systemd/resolve/nothing.conf "$W/etc/resolv.conf"
	with "none" true
fi
exit 0
