#!/bin/bash
# Replies of unbound as two programs read them: the codec of zwatch-resolver, and kdig. Every type that
# is looked up, chains, compressed and long names, many records, large ones by UDP and TCP, names that
# are not there; and no part of a reply is ever taken for all of it.
. "${ZW_SRC:?}/tests/net/zones.sh"
own_net "$0" "$@"
. "$ZW_SRC/tests/net/driver.sh"
command -v kdig >/dev/null || skip "kdig is not installed"
make_certs
make_zone
long=$(printf 'x%.0s' $(seq 63))
cat >>"$work/zone" <<Z
six AAAA 2001:db8::1
six AAAA ::ffff:10.0.0.1
both A 127.0.0.7
both AAAA 2001:db8::7
$long.$long.$long MX 5 $long.$long.$long
long CNAME $long.$long.$long
$long.$long.$long A 127.0.0.8
mails MX 0 .
mails2 MX 65535 a.b.c.d.e.f.good
mails2 MX 1 MIXED.Case.Example.
empty TXT ""
texts TXT "" "a" "" "b"
most TXT "$(printf 'y%.0s' $(seq 255))" "$(printf 'z%.0s' $(seq 255))"
bytes TXT "\\000\\001\\255\\"\\\\ quoted"
issue CAA 128 issuewild "ca.test; account=1"
issue CAA 0 iodef "mailto:a@zw.test"
_a._tcp SRV 0 0 0 .
_b._udp SRV 65535 65535 65535 good
_b._udp SRV 1 2 3 other.example.
rev PTR good
rev PTR Other.Example.
*.wild A 127.0.0.6
*.wild TXT "any"
chain0 CNAME chain1
chain1 CNAME chain2
chain2 CNAME chain3
chain3 CNAME chain4
chain4 TXT "end"
chain4 MX 1 chain0
outside CNAME www.example.
Z
i=0
while [ $i -lt 40 ]; do
	echo "forty A 127.0.1.$i"
	echo "forty AAAA 2001:db8::$i"
	i=$((i + 1))
done >>"$work/zone"
unbound_start one $port "interface: 127.0.0.1@$((port + 1))"

driver=$ZW_BIN/wire_driver
names="good alias six both mails mails2 empty texts most bytes issue _a._tcp _b._udp rev a.wild b.c.wild nothing none
	long $long.$long.$long chain0 many hop1 outside"
questions=$(for name in $names; do for type in 1 12 15 16 28 33 257; do echo "$name.zw.test $type"; done; done)
questions="$questions
forty.zw.test 1
forty.zw.test 28
large.zw.test 16"
# shellcheck disable=SC2086
"$driver" $((port + 1)) tcp $questions >"$work/mine" || fail "the driver ended"
# shellcheck disable=SC2046
kdig @127.0.0.1 -p $((port + 1)) +tcp +noall +header +answer +generic \
	$(sed 's/ / TYPE/' <<<"$questions") >"$work/theirs" || fail "kdig ended"
# Both as a list of replies, records sorted; names inside of data are compared in lower case.
python3 - "$work/mine" "$work/theirs" "$questions" <<'P' || bad=1
import re, sys
def low(h):
    return bytes(b + 32 if 65 <= b <= 90 else b for b in bytes.fromhex(h))
def mine(text):
    for part in re.split(r"^(?=rcode|refused)", text, flags=re.M)[1:]:
        head, *records = part.splitlines()
        fields = [(r.split(" ") + [""])[:3] for r in records]
        yield head, sorted((f[0], f[1], low(f[2])) for f in fields)
def theirs(text):
    codes = {"NOERROR": 0, "SERVFAIL": 2, "NXDOMAIN": 3}
    for part in re.split(r"^(?=;; ->>HEADER)", text, flags=re.M)[1:]:
        records = re.findall(r"^([^;\s]\S*)\s+\d+\s+(?:CLASS1|IN)\s+TYPE(\d+)\s+\\# \d+ ?(.*)$", part, flags=re.M)
        yield ("rcode %d" % codes[re.search(r"status: (\w+)", part).group(1)],
               sorted((t, o.lower(), low(d)) for o, t, d in records))
asked = sys.argv[3].splitlines()
a, b = list(mine(open(sys.argv[1]).read())), list(theirs(open(sys.argv[2]).read()))
wrong = [(q, x, y) for q, x, y in zip(asked, a, b) if x != y]
for w in wrong[:5]:
    print("FAIL", *w, sep="\n  ")
n_records = sum(len(x[1]) for x in a)
print("-- replies:", len(a), len(b), "records:", n_records)
if not len(a) == len(b) == len(asked) or n_records < 200:
    sys.exit("FAIL not all was compared")
sys.exit(bool(wrong))
P
# By UDP a large one is cut: nothing of it counts. What fits is the same.
[ "$("$driver" $((port + 1)) udp large.zw.test 16)" = refused ] || fail "a reply that was cut was taken"
[ "$("$driver" $((port + 1)) udp forty.zw.test 1 | grep -c '^1 ')" = 40 ] || fail "40 addresses by UDP are not read"
exit $bad
