#!/bin/bash
# zwatch config and --print-policy: what is in force, from where, and what is changed by hand.
# P12 A project file changes nothing but what it denies.
. "${ZW_SRC:?}/tests/support/lib.sh"
file=$HOME/.config/zwatch/config.json
config <<'J'
{
	"mode": "strict",
	"network": {
		"allowedDomains": ["a.example",
			"*.b.example:8443"]
	}
}
J
cat >.zwatch.json <<'J'
{ "network": { "deniedDomains": ["p.example"] }, "mode": "watch", "filesystem": { "denyRead": ["./secret"] } }
J
out=$("$zwatch" --allow o.example config show --origin)
same "config show: status" 0 $?
has "a value with file and line" '^mode +"strict" +~/.config/zwatch/config.json:2$' "$out"
has "an entry of a list, each on its line" '^network.allowedDomains +"\*\.b\.example:8443" +~/.config/zwatch/config.json:5$' "$out"
has "of the project" "^network.deniedDomains +\"p.example\" +.*/project/.zwatch.json:1$" "$out"
has "of an option" '^network.allowedDomains +"o.example" +--allow$' "$out"
has "of nobody" '^prompt.holdSite +"2m" +built in$' "$out"
# Each key that has a value or a default is there.
same "every single value is shown" "" "$("$zwatch" config keys | awk '$2 !~ /^[[{]/ && $1 !~ /^(network.upstreamProxy|network.upstreamProxyCredentials|notify.command)$/ {print $1}' |
	while read -r k; do printf '%s\n' "$out" | grep -q "^$k " || echo "$k"; done)"
out=$("$zwatch" config show network.limits mode)
same "a section and a key" 7 "$(printf '%s\n' "$out" | wc -l)"
err=$("$zwatch" config show netwrok 2>&1)
same "an unknown one: status" 2 $?
has "an unknown one: nearest" "not a setting" "$err"
"$zwatch" config show --json >"$W/all.json"
same "as a file it is valid, and the same" "$("$zwatch" --no-project --config "$W/all.json" config show --json | grep -v p.example)" "$(grep -v p.example "$W/all.json")"
same "get" strict "$("$zwatch" config get mode)"
same "get, a list" "a.example *.b.example:8443" "$("$zwatch" config get network.allowedDomains | xargs)"
"$zwatch" config get network.allowPrivate
same "get, an empty list: status" 1 $?
has "path" "^$file$" "$("$zwatch" config path)"

# --print-policy
"$zwatch" --no-project --print-policy claude >"$W/without.json"
same "print-policy: status" 0 $?
same "and nothing was started" "" "$(ls "$HOME/.local/state/zwatch" 2>/dev/null)"
python3 -c 'import json,sys; json.load(open(sys.argv[1]))' "$W/without.json" || bad "print-policy is no JSON"
has "the sites of the preset" '"target": "api.anthropic.com:443".*"origin": "built in, claude"' "$(cat "$W/without.json")"
"$zwatch" --print-policy claude >"$W/with.json"
cat >.zwatch.json <<'J'
{ "network": { "deniedDomains": ["p.example"], "allowedDomains": ["evil.example"] }, "mode": "watch",
  "filesystem": { "denyRead": ["./secret"], "allowWrite": ["~"] },
  "wish": { "allowedDomains": ["wish.example"], "allowWrite": ["~/.npm"] } }
J
"$zwatch" --print-policy claude >"$W/wishes.json"
same "P12: a project file changes nothing but what it denies" "" \
	"$(diff "$W/without.json" "$W/wishes.json" | grep '^[<>]' | grep -vE '"(do": "deny|key": "(network.deniedDomains|filesystem.denyRead)|\])')"
same "P12: wishes change nothing at all" "$(sed 's/json:[0-9]*//' "$W/with.json")" "$(sed 's/json:[0-9]*//' "$W/wishes.json")"
rm .zwatch.json

# edit: what is not right is not kept
cat >"$W/editor" <<'S'
#!/bin/sh
cp "$EDIT_FROM" "$1"
S
chmod +x "$W/editor"
export EDITOR=$W/editor VISUAL= EDIT_FROM=$W/new
before=$(cat "$file")
echo '{ "mod": "watch" }' >"$W/new"
err=$("$zwatch" config edit 2>&1 </dev/null)
same "edit, not right: status" 4 $?
has "edit, not right: why" "Did you mean .mode" "$err"
same "edit, not right: as it was" "$before" "$(cat "$file")"
printf '// mine\n{ "mode": "watch" } // kept\n' >"$W/new"
"$zwatch" config edit </dev/null >/dev/null
same "edit: status" 0 $?
same "edit: the text as typed" "$(cat "$W/new")" "$(cat "$file")"
same "edit: one backup" "$before" "$(cat "$file.bak")"
same "edit: for its owner alone" 600 "$(stat -c %a "$file")"
echo nonsense >"$file"
err=$("$zwatch" config edit 2>&1 </dev/null)
same "edit mends a bad file" 0 $?
err=$("$zwatch" config validate 2>&1)
same "validate" 0 $?
echo '{ "mode": }' >"$file"
for c in show "get mode" validate; do
	err=$("$zwatch" config $c 2>&1)
	same "config $c with a bad file" 4 $?
	has "config $c with a bad file: where" "config.json:1" "$err"
done
err=$("$zwatch" --print-policy run true 2>&1)
same "print-policy with a bad file" 4 $?
exit 0
