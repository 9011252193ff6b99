# A whole session of a real agent against a made-up API on loopback, once without zwatch and once in it: the
# same screens; its shell tool reaches for a socket that is denied, then for the same one, allowed. Sourced by
# the tests of the agents, which say below which name it runs and how it is spoken to. The API answers
# "RUN: COMMAND" with a call of the shell tool, "LONG N" with a long text, all else with a short one.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
npm=$(cd "$ZW_BUILD/.." && pwd)

# install FOLDER [PACKAGE...]: brings agents into build/FOLDER; the first one is before all others on the path
install() {
	local folder=$1 log
	shift
	log=$(HOME=$W/npm "$ZW_SRC/tests/support/npm.sh" "$npm/$folder" "$@" 2>&1) || skip "the agent could not be installed: $log"
	folder=$(readlink -f "$npm/$folder") # as it is called inside, too
	export PATH=$folder/node_modules/.bin:$PATH
	shown="$shown, \"$folder\""
}
shown="\"$(dirname "$(readlink -f "$(command -v node || echo /usr/bin/node)")")\""

# api_start: the API, on a port of this test's
api_start() {
	port=$((18200 + $$ % 1000))
	PORT=$port LOG=$W/api.log node "$ZW_SRC/tests/support/fake_api.js" >/dev/null 2>&1 &
	pids="$pids $!"
	wait_until 60 curl -s -o "$W/models" "http://127.0.0.1:$port/v1/models" || bad "the API did not start"
}

# calm: the agent draws nothing more, and does not work
calm() {
	local was now
	was=$(picture)
	sleep 1.5
	now=$(picture)
	[ "$was" = "$now" ] && ! printf '%s' "$now" | grep -qE "$busy"
}
# picture: the agent's part of the screen, without what is never the same twice
# What a terminal makes of one emoji out of several is its own affair: curses gets the first of them.
picture() { tt_screen | head -n "$rows" | sed -E 's/(👩)(\xe2\x80\x8d[👩👧])+/\1/g' | sed -E "$same_enough" | sed -e 's/ *$//'; }
# take NAME: a picture when all is calm
take() {
	wait_until 60 calm || bad "$how: the screen does not come to rest ($1)"
	picture >"$W/$how.$1"
}
# say WORDS: typed until they stand there (what is typed while an agent starts is lost), then entered
say() {
	local words=$1
	stands() {
		tt_has "${words##* }" && return
		tt_type "$words"
		wait_until 5 tt_has "${words##* }"
	}
	wait_until 60 stands || bad "the agent takes no typing"
	sleep 1
	tt_keys Enter
}
# n_answers N: the API was asked so often
n_answers() { [ "$(grep -cE "$asked" "$W/api.log")" -ge "$1" ]; }
left() {
	tt_has '\[exit ' && return
	leave
	wait_until 4 tt_has '\[exit '
}

started() { ready || tt_has '\[exit '; }

# session COMMAND: the part that is the same with and without zwatch
session() {
	local n
	tt_start "120x$((rows + extra))" "$@"
	wait_until 60 started
	ready || { bad "$how: the agent did not start"; tt_screen; exit 1; }
	take start
	say "please say something"
	tt_wait 'Done\.' 60
	take chat
	say "LONG 12"
	n=0
	until n_answers 2 || [ $((n += 1)) -gt 600 ]; do sleep 0.1; done
	take long
	rows=29
	tt_resize 100 $((rows + extra))
	take small
	rows=39
	tt_resize 120 $((rows + extra))
	take large
	tt_paste "$(printf 'first line\nsecond line\nthird line')"
	sleep 1
	take paste
	unpaste
}

# in_both: both sessions, each in an empty home, and what differs. The pane of a collapsed zwatch leaves it one
# line less than the terminal has.
in_both() {
	local at
	how=bare rows=39 extra=0
	fresh
	session "env TMPDIR=$TMPDIR $bare_env $agent"
	wait_until 60 left || bad "$agent did not end without zwatch"
	tt_end
	how=zwatch rows=39 extra=1
	fresh
	config <<<"{ \"network\": { \"allowLocalPorts\": [$port] }, \"filesystem\": { \"allowRead\": [$shown] } }"
	session "$zwatch --ui collapsed $agent"
	[ "${compare:-}" != none ] || return 0
	for at in ${compare:-start chat long small large paste}; do
		if diff "$W/bare.$at" "$W/zwatch.$at" >"$W/diff"; then echo "ok: same screen: $at"; else
			bad "another screen: $at"
			cat "$W/diff"
		fi
	done
}

# fresh: the agent was never here
fresh() {
	chmod -R u+w "$HOME" "$project" 2>/dev/null
	rm -rf "$HOME" "$project"
	: >"$W/api.log"
	mkdir -p "$HOME/.config/zwatch" "$project"
	chmod 700 "$HOME"
	cd "$project" || exit 1
	prepare
}

# decide KEY...: opens the oldest question of the class docker, and answers; others are denied first
decide() {
	local n
	for n in 1 2 3; do
		tt_wait 'WAITING' 60
		tt_prefix
		tt_keys a
		tt_wait 'Deny once' 20
		tt_has 'If you allow it: the agent gets root' && break
		sleep 1.2
		tt_keys n
		tt_wait_gone 'Deny once' 20
		tt_has 'does not wait any more' && tt_keys Escape
	done
	sleep 1.2
}
# tool: what the shell tool of the agent in zwatch meets, and the end
tool() {
	serve_unix "$W/docker.sock"
	say "RUN: curl -sS --unix-socket $W/docker.sock http://x/_ping"
	agree
	decide
	has "the question says by which command" 'curl -sS --unix-socket' "$(tt_screen)"
	tt_keys n
	tt_wait 'Failed to connect|Could.?n.t connect|Permission denied' 60
	[ ! -e "$W/served" ] && echo "ok: denied, the listener saw nothing" || bad "the listener was reached"
	take denied
	say "RUN: curl -sS --unix-socket $W/docker.sock http://x/again"
	agree
	decide
	tt_keys y
	sleep 0.5
	tt_type docker
	tt_keys Enter
	tt_wait 'OK from outside' 60
	take allowed
	wait_until 60 left || { bad "$agent did not end"; tt_screen; }
	tt_wait '\[exit (0|130)\]' 5
	log=$("$zwatch" log last --json)
	has "the API was reached" '"host": ?"127.0.0.1"' "$log"
	same "two questions about sockets, none unwarranted" 2 "$(printf '%s' "$log" | grep -c '"about": *"unix"')"
	n=$(printf '%s' "$log" | grep -c '"about": *"net"')
	[ "$n" -le "${others_max:-1}" ] && echo "ok: $n other questions" || bad "it asked for $n sites by itself"
	echo "sites that it asked for by itself: $(printf '%s' "$log" | grep '"about":"net"' | grep -o '"target":"[^"]*"' | tr '\n' ' ')"
}

# What is nothing of this test: the way out without zwatch leads nowhere.
bare_env="HTTPS_PROXY=http://127.0.0.1:1 HTTP_PROXY=http://127.0.0.1:1 NO_PROXY=127.0.0.1,localhost"
mkdir -p "$W/tmp"
TMPDIR=$W/tmp
busy='esc to interrupt|esc to cancel|esc interrupt|Thinking|Working'
