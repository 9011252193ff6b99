#!/bin/bash
# Settings of Claude Code and of sandbox-runtime: what becomes of them, printed, written, or used as they are.
. "${ZW_SRC:?}/tests/support/lib.sh"
file=$HOME/.config/zwatch/config.json
rm "$file"
mkdir -p "$HOME/.claude" .claude
cat >"$HOME/.claude/settings.json" <<'J'
{
	"model": "opus",
	"permissions": {
		"allow": ["Bash(ls:*)", "WebFetch(domain:docs.example)"],
		"allowAllUnixSockets": true
	},
	"sandbox": {
		"enabled": true,
		"autoAllowBashIfSandboxed": true,
		"excludedCommands": ["docker"],
		"additionalAllowedHosts": ["lost.example"],
		"network": {
			"allow": ["lost.example"],
			"allowedDomains": ["registry.example", "*.corp.example:8443", "*", "a b"],
			"deniedDomains": ["paste.example"],
			"deniedDomainReasons": { "paste.example": "use the wiki" },
			"allowUnixSockets": ["/var/run/docker.sock", "/tmp/my.sock"],
			"allowAllUnixSockets": true,
			"allowLocalBinding": true,
			"httpProxyPort": 8080,
			"alowedDomains": ["x.example"]
		},
		"filesystem": {
			"allowWrite": ["//opt/cache", "~/.npm", "./out/**"],
			"denyWrite": ["./infra"],
			"denyRead": ["~/private"],
			"allowRead": ["~/private/public"]
		}
	}
}
J
cat >.claude/settings.json <<'J'
{ "sandbox": { "network": { "allowedDomains": ["evil.example"], "deniedDomains": ["tracker.example"] },
  "filesystem": { "allowWrite": ["~"] } } }
J
out=$("$zwatch" import claude 2>&1)
same "import claude: something was left out" 1 $?
[ -e "$file" ] && bad "written without --write"
row() { has "$1" "^ *[0-9]+  $2 +BECOMES" "$(printf '%s\n' "$out" | sed -E "s/ +$3\$/  BECOMES/")"; }
row "an allowed site" 'sandbox.network.allowedDomains +"registry.example"' network.allowedDomains
has "any port there" 'any port there; here 80 and 443' "$out"
row "with its port" 'sandbox.network.allowedDomains +"\*.corp.example:8443"' network.allowedDomains
row "every site is left out" 'sandbox.network.allowedDomains +"\*"' nothing
row "what is no site is left out" 'sandbox.network.allowedDomains +"a b"' nothing
row "a denied one" 'sandbox.network.deniedDomains +"paste.example"' network.deniedDomains
row "docker.sock is not allowed" 'sandbox.network.allowUnixSockets +"/var/run/docker.sock"' nothing
has "and why" 'left out: grants root-equivalent access.*See zwatch explain unix:/run/docker.sock' "$out"
row "nor another one" 'sandbox.network.allowUnixSockets +"/tmp/my.sock"' nothing
has "which stays at ask" 'stays at ask: on Linux Claude Code ignores this list' "$out"
row "all sockets" 'sandbox.network.allowAllUnixSockets +true' nothing
row "an absolute path" 'sandbox.filesystem.allowWrite +"//opt/cache"' filesystem.allowWrite
row "a pattern is left out" 'sandbox.filesystem.allowWrite +"\./out/\*\*"' nothing
row "hidden" 'sandbox.filesystem.denyRead +"~/private"' filesystem.denyRead
row "what would leave the sandbox" 'sandbox.excludedCommands +\[\.\.\]' nothing
has "Claude's own sandbox" 'sites will be asked twice' "$out"
has "misplaced: network.allow" 'no effect where it stands; the schema has it at sandbox.network.allowedDomains' "$out"
row "misplaced: additionalAllowedHosts" 'sandbox.additionalAllowedHosts +\[\.\.\]' nothing
has "misplaced: permissions" 'the schema has it at sandbox.network.allowAllUnixSockets' "$out"
has "unknown, with the nearest" 'not a key that is known. Did they mean sandbox.network.allowedDomains' "$out"
has "WebFetch on request" 'zwatch rules add allow docs.example' "$out"
row "the project's allow is a wish" 'sandbox.network.allowedDomains +"evil.example"' nothing
row "the project's deny is taken" 'sandbox.network.deniedDomains +"tracker.example"' network.deniedDomains
has "with its line" '^  14  sandbox.network.allowedDomains +"registry.example"' "$out"

# --write adds to what the user wrote, comments and all
cat >"$file" <<'J'
// mine
{
	"mode": "guard", // as it is
	"network": {
		"allowedDomains": ["mine.example" /* first */
		] // end
	}
}
J
"$zwatch" import claude --write >/dev/null 2>&1
same "import --write: status" 1 $?
has "comments stay" '// as it is' "$(cat "$file")"
has "and what was there" '"mine.example" /\* first \*/' "$(cat "$file")"
"$zwatch" config validate >/dev/null 2>&1
same "the file is valid" 0 $?
same "sites" "mine.example registry.example *.corp.example:8443" "$("$zwatch" config get network.allowedDomains | xargs)"
same "denied" "paste.example tracker.example" "$("$zwatch" config get network.deniedDomains | xargs)"
same "written to" "/opt/cache $HOME/.npm" "$("$zwatch" config get filesystem.allowWrite | xargs)"
has "the reason" "use the wiki" "$("$zwatch" config get network.deniedDomainReasons)"
same "a path of the user's file of Claude Code" "$HOME/.claude/infra" "$("$zwatch" config get filesystem.denyWrite)"
same "no socket" "" "$("$zwatch" config get network.allowUnixSockets)"
before=$(cat "$file")
"$zwatch" import claude --write >/dev/null 2>&1
same "once more: nothing changes" "$before" "$(cat "$file")"

# sandbox-runtime's file
cat >"$HOME/.srt-settings.json" <<'J'
{
	"network": { "allowedDomains": ["srt.example"], "deniedDomains": [], "strictAllowlist": true },
	"filesystem": { "denyRead": ["~/.ssh"], "allowWrite": ["."], "denyWrite": [] },
	"ignoreViolations": { "*": ["/usr/bin"] },
	"enableWeakerNestedSandbox": false
}
J
rm "$file"
out=$("$zwatch" import srt --write 2>&1)
same "import srt: nothing was left out" 0 $?
same "strictAllowlist" strict "$("$zwatch" config get mode)"
same "its site" srt.example "$("$zwatch" config get network.allowedDomains)"
rm "$file"
err=$("$zwatch" import srt "$W/none.json" 2>&1)
same "a file that is not there" 4 $?
echo '{ "network": ' >"$W/bad.json"
err=$("$zwatch" import claude "$W/bad.json" 2>&1)
same "a bad file" 4 $?
has "a bad file: where" "bad.json:1" "$err"

# both as --config
out=$("$zwatch" --config "$HOME/.srt-settings.json" config show --origin 2>&1)
has "srt as --config" '^network.allowedDomains +"srt.example" +~/.srt-settings.json:2$' "$out"
has "its own keys are notes" "ignoreViolations.* has no effect here" "$("$zwatch" --config "$HOME/.srt-settings.json" config validate 2>&1)"
out=$("$zwatch" --config "$HOME/.claude/settings.json" config show --origin 2>&1)
has "Claude's as --config" '^network.allowedDomains +"registry.example" +~/.claude/settings.json:14$' "$out"
has "its denies" '^network.deniedDomains +"paste.example" +~/.claude/settings.json:15$' "$out"
has "its folders" '^filesystem.allowWrite +"/opt/cache" +~/.claude/settings.json:24$' "$out"
hasnt "no socket of it" '^network.allowUnixSockets' "$out"
has "what it does not become is noted" "note: .sandbox.excludedCommands. .*would let commands leave the sandbox.*settings.json:10" \
	"$("$zwatch" --config "$HOME/.claude/settings.json" config validate 2>&1)"
"$zwatch" --config "$HOME/.claude/settings.json" run -- true </dev/null
same "and a session starts with it" 0 $?
exit 0
