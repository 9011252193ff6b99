#!/bin/bash
# Claude Code itself, in zwatch's pane, against a made-up API on loopback: its shell tool reaches for
# docker.sock, the question comes, and the answer reaches the tool.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
agents=$(cd "$ZW_BUILD/.." && pwd)/npm
log=$(HOME=$W/npm "$ZW_SRC/tests/support/npm.sh" "$agents" 2>&1) || skip "Claude Code could not be installed: $log"
export PATH=$agents/node_modules/.bin:$PATH

. "$ZW_SRC/tests/support/ports.sh"
take_ports
PORT=$port LOG=$W/api.log node "$ZW_SRC/tests/support/fake_api.js" >/dev/null 2>&1 &
pids="$pids $!"
wait_until 10 curl -s -o "$W/models" "http://127.0.0.1:$port/v1/models" || bad "the API did not start"
serve_unix "$W/docker.sock"
export DOCKER_HOST=unix://$W/docker.sock
export ANTHROPIC_API_KEY=sk-ant-dummy-0000000000000000000000 ANTHROPIC_BASE_URL=http://127.0.0.1:$port DISABLE_AUTOUPDATER=1
# What it would fetch beside its API (news, its list of changes) is nothing of this test.
export CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
printf '{"hasCompletedOnboarding":true,"theme":"dark","customApiKeyResponses":{"approved":["00000000000000000000"],"rejected":[]},"projects":{"%s":{"allowedTools":[],"hasTrustDialogAccepted":true,"projectOnboardingSeenCount":1}}}' \
	"$project" >"$HOME/.claude.json"
config <<<"{ \"network\": { \"allowLocalPorts\": [$port] } }"

# ready: its prompt is there; what it offers to new users first is put off
ready() {
	tt_has 'for shortcuts' && return
	tt_has '2\. Not now' && tt_keys 2
	sleep 1
	return 1
}
# say TEXT: typed until it stands there (what is typed while the agent starts is lost), then entered
say() {
	local words=$1
	stands() {
		tt_type "$words"
		wait_until 3 tt_has "${words##* }"
	}
	wait_until 30 stands || bad "the agent takes no typing"
	sleep 1
	tt_keys Enter
}
# agree: Claude Code's own question, which takes no key in its first moments
agree() {
	tt_wait 'Do you want to proceed' 30
	wait_until 15 agreed || bad "Claude Code's own question stays"
}
agreed() {
	tt_keys Enter
	sleep 1
	tt_hasnt 'Do you want to proceed'
}
# left: Ctrl-C until it ends, the first ones may only interrupt
left() {
	tt_keys C-c
	sleep 0.3
	tt_has '\[exit '
}

# Newer ones would let a model judge each command instead of asking.
tt_start 120x40 "$zwatch" claude --permission-mode default
wait_until 40 ready || tt_wait 'for shortcuts' 1
say "RUN: curl -sS --unix-socket $W/docker.sock http://x/_ping"
agree
tt_wait 'CRITICAL' 60
tt_prefix
tt_keys a
tt_wait 'If you allow it: the agent gets root'
has "the question says who" 'claude(\.exe)?\(|node\(' "$(tt_screen)"
has "and by which command" 'curl -sS --unix-socket' "$(tt_screen)"
tt_keys n
tt_wait 'Failed to connect|Could.?n.t connect|Permission denied' 20
[ ! -e "$W/served" ] && echo "ok: denied, the listener saw nothing" || bad "the listener was reached"

say "RUN: curl -sS --unix-socket $W/docker.sock http://x/again"
agree
tt_wait 'CRITICAL' 60
tt_prefix
tt_keys a
tt_wait 'If you allow it'
tt_answer y 'Type docker'
tt_type docker
tt_keys Enter
tt_wait 'OK from outside' 60
wait_until 60 left || bad "Claude Code did not end"
log=$("$zwatch" log last --json)
has "the API was reached" '"host": ?"127.0.0.1"' "$log"
has "both answers are on record" '"class": ?"docker"' "$log"
n=$(printf '%s' "$log" | grep -c '"about": *"unix"')
same "two questions about sockets, none unwarranted" 2 "$n"
echo "sites that it asked for by itself: $(printf '%s' "$log" | grep '"about":"net"' | grep -o '"target":"[^"]*"' | tr '\n' ' ')"
exit 0
