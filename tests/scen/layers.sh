#!/bin/bash
# The administrator's policy in /etc/zwatch/policy.d, seen in a mount namespace of the test's own: nobody
# below loosens it, and nothing that decides about the agent can be written from inside.
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi
. "${ZW_SRC:?}/tests/support/lib.sh"

# A copy of /etc with a policy in it; what cannot be read is not needed.
mkdir -p "$W/etc"
cp -a /etc/. "$W/etc/" 2>/dev/null
rm -rf "$W/etc/zwatch"
mkdir -p "$W/etc/zwatch/policy.d"
chmod 755 "$W/etc" "$W/etc/zwatch" "$W/etc/zwatch/policy.d"
policy() { cat >"$W/etc/zwatch/policy.d/$1" && chmod 644 "$W/etc/zwatch/policy.d/$1"; }
if [ "$(id -u)" = 0 ]; then spaces=-m; else spaces=-rm; fi
# admin COMMAND...: with that /etc
admin() {
	unshare $spaces --propagation private sh -c 'mount --bind "$0" /etc && exec "$@"' "$W/etc" "$@" </dev/null
}
admin true 2>/dev/null || skip "no mount namespace can be made here"

policy 10-company.json <<'J'
{
	"mode": "guard",
	"network": {
		"deniedDomains": ["paste.example"],
		"denyUnixSockets": ["/run/docker.sock"]
	}
}
J
config <<'J'
{ "mode": "watch", "network": { "allowedDomains": ["paste.example"] } }
J
out=$(admin "$zwatch" explain paste.example 2>&1)
has "a managed deny wins over the user's allow" "^deny" "$out"
has "and is named with file and line" "/etc/zwatch/policy.d/10-company.json:4" "$out"
out=$(admin "$zwatch" --allow paste.example --mode watch explain paste.example 2>&1)
has "over an option too" "^deny" "$out"
out=$(admin "$zwatch" explain other.example 2>&1)
has "the mode is held" "^ask" "$out"
out=$(ZWATCH_MODE=watch admin "$zwatch" -v run -- true 2>&1)
has "ZWATCH_MODE is ignored with a note" "note: .mode. stays as /etc/zwatch/policy.d/10-company.json:2 holds it, in spite of: ZWATCH_MODE" "$out"
out=$(admin "$zwatch" --mode strict explain other.example 2>&1)
has "stricter is possible" "^deny" "$out"
# In a user namespace of its own a session is another user's to who wants to control it.
if [ "$(id -u)" = 0 ]; then
	(exec unshare $spaces --propagation private sh -c 'mount --bind "$0" /etc && exec "$@"' "$W/etc" \
		"$zwatch" --ui none --on-ask wait run -- sh -c 'touch up; exec sleep 300' >/dev/null 2>&1 </dev/null) &
	pids="$pids $!"
	wait_until 60 test -e up || bad "a session under the policy does not start"
	"$zwatch" mode watch >/dev/null 2>&1 && bad "a running session went below it"
	same "a running session does not go below it" guard "$("$zwatch" mode)"
	"$zwatch" mode strict >/dev/null 2>&1
	same "it can go above" strict "$("$zwatch" mode)"
	"$zwatch" stop >/dev/null 2>&1
fi
out=$(admin "$zwatch" --allow-unix /run/docker.sock --allow-dangerous-sockets explain unix:/run/docker.sock 2>&1)
has "a socket that any layer denies is refused" "^deny" "$out"

# what is not right stops everything
policy 20-bad.json <<'J'
{ "netwrok": {} }
J
err=$(admin "$zwatch" run -- touch started 2>&1)
same "a bad managed file: exit status" 4 $?
has "a bad managed file: file and line" "Did you mean .network.* /etc/zwatch/policy.d/20-bad.json:1" "$err"
policy 20-bad.json <<'J'
{ "network": { "allowedDomains": ["*.example"] } }
J
err=$(admin "$zwatch" run -- touch started 2>&1)
same "a managed file that allows: exit status" 4 $?
has "a managed file that allows: why" "can only refuse and limit" "$err"
policy 20-bad.json <<<'{}'
chmod 666 "$W/etc/zwatch/policy.d/20-bad.json"
err=$(admin "$zwatch" run -- touch started 2>&1)
same "a managed file that others can write: exit status" 4 $?
has "a managed file that others can write: why" "others than root can write this.* /etc/zwatch/policy.d/20-bad.json" "$err"
rm "$W/etc/zwatch/policy.d/20-bad.json"
[ -e "$project/started" ] && bad "the program ran"

# From inside: no way to read or write any of them, also when the settings say so.
cat >.zwatch.json <<'J'
{ "mode": "strict" }
J
cp .zwatch.json other.json
rules=$HOME/.config/zwatch/rules.json
echo '{ "version": 1, "next": 1, "rules": [] }' >"$rules"
chmod 600 "$rules"
mkdir -p "$HOME/.local/state/zwatch"
echo '{ "version": 1, "granted": [] }' >"$HOME/.local/state/zwatch/trust.json"
chmod 600 "$HOME/.local/state/zwatch/trust.json"
cat >probe.sh <<'P'
for f in "$@"; do
	d=${f%/*}
	for how in 'echo {} >"$f"' 'echo {} >>"$f"' '[ -e "$f" ] && rm -f "$f" && [ ! -e "$f" ]' 'mv "$f" "$f.x"' 'ln -f /etc/passwd "$f"' \
		'chmod 777 "$f"' 'mv "$d" "$d.x"' 'echo {} >"$d/evil.json"'; do
		[ "$d" = "$PWD" ] && case $how in *evil* | 'mv "$d"'*) continue ;; esac
		(eval "$how") 2>/dev/null && echo "WRITTEN $f: $how"
	done
done
cat /etc/zwatch/policy.d/* "$HOME/.config/zwatch/config.json" "$HOME/.config/zwatch/rules.json" 2>/dev/null
echo probed
P
config <<J
{ "filesystem": { "allowWrite": [".", "~", "~/.config/zwatch", "~/.local/state/zwatch", "./.zwatch.json", "/etc/zwatch"] } }
J
before=$(cat .zwatch.json other.json "$HOME/.config/zwatch/"* "$HOME/.local/state/zwatch/trust.json" "$W"/etc/zwatch/policy.d/* | sha256sum)
places="$project/.zwatch.json $HOME/.config/zwatch/config.json $rules $HOME/.local/state/zwatch/trust.json /etc/zwatch/config.json /etc/zwatch/policy.d/10-company.json"
out=$(admin "$zwatch" run -- sh probe.sh $places 2>&1)
same "nothing of it can be written from inside" probed "$(printf '%s\n' "$out" | grep -v '^zwatch: note')"
same "nothing of it has changed" "$before" \
	"$(cat .zwatch.json other.json "$HOME/.config/zwatch/"* "$HOME/.local/state/zwatch/trust.json" "$W"/etc/zwatch/policy.d/* | sha256sum)"
cp "$HOME/.config/zwatch/config.json" named.json
out=$(admin "$zwatch" --config named.json run -- sh probe.sh "$project/named.json" 2>&1)
same "nor can a file of --config" probed "$(printf '%s\n' "$out" | grep -v '^zwatch: note')"
exit 0
