# Shared by the shell tests: an empty home, a project, a store of its own, and checks that say what
# they wanted. Sourced; needs ZW_BIN.
set -u
: "${ZW_BIN:?}"
zwatch=$ZW_BIN/zwatch
W=$(mktemp -d "${TMPDIR:-/tmp}/zwtest.XXXXXX")
export HOME=$W/home XDG_RUNTIME_DIR=$W/run XDG_CONFIG_HOME= XDG_STATE_HOME= ZWATCH_CONFIG= LC_ALL=C.UTF-8
unset XDG_CONFIG_HOME XDG_STATE_HOME ZWATCH_CONFIG ZWATCH ZWATCH_DB ZWATCH_UI DOCKER_HOST SSH_AUTH_SOCK \
	DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY TMUX http_proxy https_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY \
	all_proxy NO_PROXY no_proxy NO_COLOR
project=$W/project
mkdir -p "$HOME/.config/zwatch" "$XDG_RUNTIME_DIR" "$project"
chmod 700 "$HOME" "$XDG_RUNTIME_DIR"
echo '{}' >"$HOME/.config/zwatch/config.json" # nobody's first run
cd "$project" || exit 1
n_bad=0
pids=""

# Ends what this test started, by process number, and removes its folder.
finish() {
	local status=$?
	for p in $pids; do kill "$p" 2>/dev/null; done
	[ -z "${tmux_name:-}" ] || tmux -L "$tmux_name" kill-server 2>/dev/null
	if [ "$n_bad" -gt 0 ] && [ -n "${KEEP:-}" ]; then echo "kept: $W"; else chmod -R u+w "$W" 2>/dev/null; rm -rf "$W"; fi
	[ "$n_bad" -eq 0 ] || exit 1
	exit $status
}
trap finish EXIT

bad() {
	echo "FAIL: $*"
	n_bad=$((n_bad + 1))
}

# same WHAT WANTED GOT
same() {
	if [ "$2" = "$3" ]; then echo "ok: $1"; else
		bad "$1"
		printf '  wanted: %s\n  got:    %s\n' "$2" "$3"
	fi
}

# has WHAT PATTERN TEXT: an extended regular expression is found
has() {
	if printf '%s\n' "$3" | grep -qE -- "$2"; then echo "ok: $1"; else
		bad "$1"
		printf '  wanted: %s\n  in:     %s\n' "$2" "$3"
	fi
}

hasnt() {
	if printf '%s\n' "$3" | grep -qE -- "$2"; then
		bad "$1"
		printf '  not wanted: %s\n  in:     %s\n' "$2" "$3"
	else echo "ok: $1"; fi
}

# skip REASON: visible, and a failure where it must work
skip() {
	echo "SKIP: $*"
	trap - EXIT
	for p in $pids; do kill "$p" 2>/dev/null; done
	rm -rf "$W"
	[ -z "${ZW_MUST_WORK:-}" ] && exit 77
	exit 1
}

# wait_until SECONDS COMMAND...: polls, never sleeps blindly. Seconds of a machine that is not busy: only what
# fails waits longer.
wait_until() {
	local end=$(($(date +%s) + 4 * $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$end" ] || return 1
		sleep 0.05
	done
}

# serve_unix PATH: a listener outside the sandbox that answers HTTP 200 OK; its pid goes to $pids
serve_unix() {
	python3 "$ZW_SRC/tests/support/serve_unix.py" "$1" "${2:-$W/served}" &
	pids="$pids $!"
	wait_until 60 test -S "$1" || bad "listener at $1"
}

config() {
	cat >"$HOME/.config/zwatch/config.json"
}
