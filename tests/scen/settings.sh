#!/bin/bash
# Bad settings: a clear error with file and line, exit 4, nothing started. Z132, Z133.
. "${ZW_SRC:?}/tests/support/lib.sh"

started() { [ -e "$project/started" ]; }
# refused NAME PATTERN: with the settings on stdin
refused() {
	config
	err=$("$zwatch" run -- touch started 2>&1 </dev/null)
	same "$1: exit status" 4 $?
	has "$1: message" "$2" "$err"
	started && bad "$1: the program ran"
}
refused "Z133 misspelt key, nested" 'holdSites.*Did you mean .holdSite.*config.json:2' <<<'{ "prompt": {
 "holdSites": "2m" } }'
refused "Z133 misspelt key, top" 'netwrok.*Did you mean .network.*config.json:1' <<<'{ "netwrok": {} }'
refused "Z133 wrong type" 'config.json:1' <<<'{ "mode": 3 }'
refused "Z133 duplicate key" 'config.json:1' <<<'{ "mode": "guard", "mode": "strict" }'
refused "Z133 bad value" 'config.json:1' <<<'{ "mode": "loose" }'
refused "Z132 truncated" 'config.json' <<<'{ "mode": "guard"'
refused "Z132 empty" 'config.json' </dev/null
refused "allowAllUnixSockets" 'list the sockets you need' <<<'{ "network": { "allowAllUnixSockets": true } }'
refused "pattern in the place of a path" 'config.json:1' <<<'{ "network": { "allowUnixSockets": ["/run/*.sock"] } }'
refused "folder in the place of a path" 'config.json:1' <<<'{ "network": { "allowUnixSockets": ["/run/"] } }'
rm "$HOME/.config/zwatch/config.json"

for what in missing folder binary; do
	f=$W/$what
	[ $what = folder ] && mkdir "$f"
	[ $what = binary ] && head -c 2000 /dev/urandom >"$f"
	err=$("$zwatch" --config "$f" run -- touch started 2>&1 </dev/null)
	same "Z132 --config $what: exit status" 4 $?
	has "Z132 --config $what: named" "$what" "$err"
	started && bad "Z132 --config $what: the program ran"
done
printf '\xef\xbb\xbf{ "mode": "guard" }\r\n' >"$W/bom.json"
"$zwatch" --config "$W/bom.json" run -- true </dev/null
same "Z132 BOM and CRLF are taken" 0 $?

# a dangerous socket in the settings, without a terminal: nothing starts unless the option says so
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock
config <<<"{ \"network\": { \"allowUnixSockets\": [\"$W/docker.sock\"] } }"
err=$("$zwatch" run -- touch started 2>&1 </dev/null)
same "dangerous socket listed, no terminal" 4 $?
has "the warning block" "Security Warning: .*docker.sock.* grants root-equivalent access" "$err"
started && bad "dangerous socket listed: the program ran"
out=$("$zwatch" --allow-dangerous-sockets run -- curl -sS --unix-socket "$W/docker.sock" http://x/_ping </dev/null)
same "with --allow-dangerous-sockets it is opened" "OK from outside" "$out"
has "and on record" '"did": ?"allow"' "$("$zwatch" log last --json)"
err=$("$zwatch" config validate --strict 2>&1)
same "config validate --strict" 1 $?
has "config validate prints the block" "Security Warning" "$err"

# words that are neither command nor agent
err=$("$zwatch" clude 2>&1)
same "unknown word" 2 $?
has "did you mean" "Did you mean 'claude'" "$err"
exit 0
