#!/bin/bash
# Wishes of a project file: nothing before the user has granted it, and then for this content, this file
# and this folder alone. The page itself: tests/tty/wishes.sh.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
store=$HOME/.local/state/zwatch/trust.json
mkdir -p "$HOME/.npm" "${store%/*}"
cat >.zwatch.json <<'J'
{ "wish": { "allowedDomains": ["*.mirror.example:443", "*:22", "10.0.0.1", "*.example", "localhost:99"],
  "allowUnixSockets": ["/run/docker.sock", "/run/unknown-zw.sock"],
  "allowWrite": ["~/.npm", "~", "~/.ssh", "~/.bashrc", "~/.config/zwatch", "./.git/hooks", "/etc"],
  "why": "company\u202e\u001b[2J mirror" } }
J
verdict() { "$zwatch" explain "$@" | head -1 | cut -d' ' -f1; }
# grant WISH...: what the page would keep for the file as it is now
grant() {
	python3 - "$store" "$(pwd -P)" "$@" <<'P'
import hashlib, json, os, sys
store, root, wishes = sys.argv[1], sys.argv[2], sys.argv[3:]
file = os.path.realpath(root + "/.zwatch.json")
entry = {"root": root, "file": file, "sha256": hashlib.sha256(open(file, "rb").read()).hexdigest(),
	"at": "2026-11-02T10:00:00Z", "wishes": wishes}
json.dump({"version": 1, "granted": [entry]}, open(store, "w"))
os.chmod(store, 0o600)
P
}
same "wished is not granted" ask "$(verdict a.mirror.example:443)"
"$zwatch" run -- true </dev/null
same "without a terminal it starts, and nothing is kept" "0 no" "$? $([ -e "$store" ] && echo yes || echo no)"
grant "net *.mirror.example:443" "write ~/.npm"
same "granted" allow "$(verdict a.mirror.example:443)"
has "the walk names the project file" "project/.zwatch.json:1" "$("$zwatch" explain a.mirror.example:443)"
out=$("$zwatch" config show --origin)
has "written to, too" "^filesystem.allowWrite +\"$HOME/.npm\" +.*/.zwatch.json:3" "$out"
has "trust show" "granted  net \*\.mirror\.example:443" "$("$zwatch" trust show)"
same "a deny wins over it" deny "$("$zwatch" --deny a.mirror.example explain a.mirror.example:443 | head -1 | cut -d' ' -f1)"

# what is not low is not granted, whatever stands in the store
grant "net *:22" "net 10.0.0.1" "net *.example" "net localhost:99" "unix /run/docker.sock" "write ~" "write ~/.ssh" "write ~/.bashrc" \
	"write ~/.config/zwatch" "write $project/.git/hooks" "write /etc"
out=$("$zwatch" config show --origin)
hasnt "HIGH and CRITICAL wishes are no grants" "zwatch.json" "$out"

# pinned to the content
grant "net *.mirror.example:443"
same "granted again" allow "$(verdict a.mirror.example:443)"
echo >>.zwatch.json
same "one byte more: no longer" ask "$(verdict a.mirror.example:443)"
has "trust show: of another content" "of another content" "$("$zwatch" trust show)"

# pinned to the folder, not carried by links or .git
grant "net *.mirror.example:443"
mkdir "$W/other"
cp .zwatch.json "$W/other/"
same "the same file elsewhere: not" ask "$(cd "$W/other" && verdict a.mirror.example:443)"
rm "$W/other/.zwatch.json"
ln -s "$project/.zwatch.json" "$W/other/.zwatch.json"
same "a link to it: not" ask "$(cd "$W/other" && verdict a.mirror.example:443)"
ln -s "$project" "$W/same"
same "another way to the same folder: yes" allow "$(cd "$W/same" && verdict a.mirror.example:443)"
mkdir "$W/tree"
cp .zwatch.json "$W/tree/"
echo "gitdir: $project/.git" >"$W/tree/.git"
same "a folder that says it belongs to it: not" ask "$(cd "$W/tree" && verdict a.mirror.example:443)"

# forget, and a store that others could write
"$zwatch" trust forget >/dev/null
same "forgotten" "0 ask" "$? $(verdict a.mirror.example:443)"
"$zwatch" trust forget >/dev/null
same "nothing to forget" 1 $?
grant "net *.mirror.example:443"
chmod 666 "$store"
err=$("$zwatch" run -- touch started 2>&1 </dev/null)
same "a store that others can write" 4 $?
has "and why" "other users can write it" "$err"
chmod 600 "$store"
echo '{ "version": 1, "granted": [ { "root": "/", "wishes": "all" } ] }' >"$store"
err=$("$zwatch" run -- touch started 2>&1 </dev/null)
same "a store that is not zwatch's" 4 $?
rm "$store"
[ -e started ] && bad "the program ran"

echo '{ "wish": { "allowedDomain": ["x.example"] } }' >.zwatch.json
has "a wish that is misspelt" "is no wish. Did you mean .allowedDomains.*zwatch.json:1" "$("$zwatch" config validate 2>&1)"
echo '{ "wish": { "allowedDomains": ["a b"] } }' >.zwatch.json
has "a wish that is no site" "is not a site.*zwatch.json:1" "$("$zwatch" config validate 2>&1)"
exit 0
