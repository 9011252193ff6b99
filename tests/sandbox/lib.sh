# SPDX-License-Identifier: MIT
# Shell side of the sandbox tests. Sourced; needs ZW_BUILD, from ctest.
#
# Each script runs as it is called and, if that is root, once more as an unprivileged user, since the
# sandbox must hold for both.
set -u

# skip REASON: exit 77, or 1 where tests must work.
skip() {
	echo "skip: $*"
	[ "${ZW_MUST_WORK:-}" = 1 ] && exit 1
	exit 77
}

n_failed=0
# check NAME GOT WANTED
check() {
	if [ "$2" = "$3" ]; then
		echo "ok    $1"
	else
		echo "FAIL  $1"
		echo "      got:    $2"
		echo "      wanted: $3"
		n_failed=$((n_failed + 1))
	fi
}

# check_in NAME GOT PATTERN...: one of the shell patterns
check_in() {
	local name=$1 got=$2 p
	shift 2
	for p in "$@"; do
		# shellcheck disable=SC2254
		case $got in $p) echo "ok    $name"; return ;; esac
	done
	echo "FAIL  $name"
	echo "      got:    $got"
	echo "      wanted: $*"
	n_failed=$((n_failed + 1))
}

# want NAME PATTERNS VERB...: a verb of the probe to be tried, and what may come of it ("a|b").
# try_all: tries them in one sandbox.
want_names=() want_patterns=() want_verbs=()
want() {
	want_names+=("$1")
	want_patterns+=("$2")
	want_verbs+=("${@:3}" ,)
}
try_all() {
	local lines i patterns
	mapfile -t lines < <(probe "${want_verbs[@]}")
	for i in "${!want_names[@]}"; do
		IFS='|' read -ra patterns <<<"${want_patterns[i]}"
		check_in "${want_names[i]}" "${lines[i]:-nothing: ${lines[*]: -2}}" "${patterns[@]/#/* }"
	done
	want_names=() want_patterns=() want_verbs=()
}

finish() {
	[ "$n_failed" -eq 0 ] || echo "$n_failed failed as $(id -un)"
	[ "$n_failed" -eq 0 ]
	exit
}

command -v bwrap >/dev/null || skip "bwrap is not installed"
bwrap --unshare-user --unshare-net --ro-bind / / true 2>/dev/null || skip "no user namespaces here"

# An own copy of the programs in a folder that everybody may read, and the second run.
if [ -z "${ZW_SB_DIR:-}" ]; then
	ZW_SB_DIR=$(mktemp -d /var/tmp/zw-sandbox.XXXXXX) || exit 1
	trap 'rm -rf "$ZW_SB_DIR"' EXIT
	chmod 755 "$ZW_SB_DIR"
	cp "$ZW_SB_DRIVER" "$ZW_SB_DIR/driver" && cp "$ZW_SB_PROBE" "$ZW_SB_DIR/probe" &&
		cp "$ZW_BIN/zwatch-init" "$ZW_SB_DIR/zwatch-init" || exit 1
	cp "$(dirname "$0")"/*.sh "$ZW_SB_DIR/"
	export ZW_SB_DIR
	# Files of the tests lie where the sandbox shows them: not in /tmp or /var/tmp.
	if [ "$(id -u)" = 0 ]; then base=/var/lib; else base=$HOME; fi
	ZW_SB_BASE=$(mktemp -d "$base/zw-sandbox.XXXXXX") || exit 1
	trap 'rm -rf "$ZW_SB_DIR" "$ZW_SB_BASE"' EXIT
	chmod 1777 "$ZW_SB_BASE"
	export ZW_SB_BASE
	rc=0
	bash "$ZW_SB_DIR/$(basename "$0")" || rc=1
	if [ "$(id -u)" = 0 ]; then
		id nobody >/dev/null 2>&1 || skip "there is no user nobody"
		echo "-- as nobody"
		runuser -u nobody -- env HOME=/nonexistent bash "$ZW_SB_DIR/$(basename "$0")" || rc=1
	fi
	exit $rc
fi

top=$(mktemp -d "$ZW_SB_BASE/test.XXXXXX") || exit 1
trap 'rm -rf "$top"' EXIT
project=$top/project
mkdir "$project"
cp "$ZW_SB_DIR/probe" "$project/probe"

# sb [driver options] -- COMMAND...: in the sandbox, stderr too.
sb() {
	timeout 30 "$ZW_SB_DIR/driver" --project "$project" --init "$ZW_SB_DIR/zwatch-init" "$@" 2>&1
}
# probe VERB...: from the project inside
probe() {
	sb -- ./probe "$@"
}
