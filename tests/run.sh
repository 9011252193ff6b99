#!/usr/bin/env bash
# Installs what the tests need, builds every preset and runs all tests. Ends on ctest's summary.
#   bash tests/run.sh            everything that fits into 15 minutes
#   bash tests/run.sh --long     also long fuzzing, soak and large stores
#   bash tests/run.sh --here P   only preset P, as the user who calls, nothing installed
# As root it also runs the tests as an unprivileged user: that is who zwatch is for.
set -euo pipefail
cd "$(dirname "$0")/.."

packages="
	bubblewrap
	busybox
	ca-certificates
	clang
	clang-format
	cmake
	curl
	debootstrap
	dpkg-dev
	gcc
	gdb
	git
	gnupg
	groff
	htop
	iproute2
	kmod
	knot-dnsutils
	ldnsutils
	less
	libc6-dev
	libclang-rt-dev
	libcmocka-dev
	libevent-dev
	libgetdns-dev
	libgnutls28-dev
	libidn2-dev
	libncurses-dev
	libnghttp2-dev
	libsqlite3-dev
	libyajl-dev
	microsocks
	musl-tools
	ncurses-bin
	ncurses-term
	nettle-dev
	ninja-build
	openssh-client
	openssl
	pkg-config
	postgresql-client
	procps
	python3
	python3-grpcio
	python3-httpx
	python3-pip
	python3-requests
	qemu-system-x86
	redis-tools
	rsync
	rsyslog
	sqlite3
	strace
	tinyproxy
	tmux
	unbound
	util-linux
	vim-tiny
	vttest
	watchman
	wget
	xz-utils"

install_packages() {
	local missing="" p as_root=""
	for p in $packages; do
		dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
	done
	# Agents and the judge of the terminal come by npm; any version will do.
	command -v npm >/dev/null || missing="$missing nodejs npm"
	[ -n "$missing" ] || return 0
	[ "$(id -u)" -eq 0 ] || as_root=sudo
	echo "tests: installing$missing"
	$as_root apt-get update -qq
	# A second opinion on HTTP for the fuzzer; not every release has it.
	! apt-cache show libhttp-parser-dev >/dev/null 2>&1 || missing="$missing libhttp-parser-dev"
	# shellcheck disable=SC2086 # one word a package
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

failed=""
# Most tests wait for a screen or a clock most of the time, so more of them than processors run at once.
jobs=$((2 * $(nproc)))

# build_and_test PRESET [CTEST-OPTION...]: builds all, or $target
build_and_test() {
	local preset=$1
	shift
	[ -n "${ZW_LONG:-}" ] || set -- -LE '^long$' "$@"
	echo "== $preset ($(id -un))"
	cmake --preset "$preset" >/dev/null
	cmake --build --preset "$preset" --target "${target:-all}" -- --quiet
	ctest --preset "$preset" -j "$jobs" "$@" || failed="$failed $preset($(id -un))"
}

# The tree as git has it (and what is not committed), for a user who may not read this folder.
as_unprivileged() {
	local user=zwatch-test home
	id "$user" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$user"
	home=$(getent passwd "$user" | cut -d: -f6)
	rm -rf "$home/zwatch"
	mkdir -p "$home/zwatch"
	if git rev-parse >/dev/null 2>&1; then
		git ls-files -z --cached --others --exclude-standard | tar --null --ignore-failed-read -cf - -T - | tar -C "$home/zwatch" -xf -
	else
		tar --exclude=./build -cf - . | tar -C "$home/zwatch" -xf -
	fi
	mkdir -p "$home/zwatch/build"
	for d in build/npm build/npm-dev build/npm-pm; do
		[ ! -d "$d" ] || cp -a "$d" "$home/zwatch/build/"
	done
	chown -R "$user:" "$home/zwatch"
	runuser -l "$user" -c "cd zwatch && CI=${CI:-} ZW_MUST_WORK=${ZW_MUST_WORK:-} ${ZW_LONG:+ZW_LONG=$ZW_LONG} bash tests/run.sh --here debug" ||
		failed="$failed debug($user)"
	rm -rf "$home/zwatch"
}

# In CI a test that cannot run is a test that failed.
if [ -n "${CI:-}" ]; then
	export ZW_MUST_WORK=1
fi

case ${1:-} in
--here)
	build_and_test "$2"
	[ -z "$failed" ]
	exit
	;;
--long)
	export ZW_FUZZ_SECONDS=${ZW_FUZZ_SECONDS:-600} ZW_LONG=1
	packages="$packages chromium default-jdk-headless golang-go maven" # for scen.tools
	;;
esac

install_packages
if [ -n "${ZW_LONG:-}" ]; then
	tests/support/npm.sh "$PWD/build/npm-pm" pnpm@9 yarn@1.22.22 || echo "tests: pnpm and yarn could not be had" >&2
fi
tests/support/npm.sh "$PWD/build/npm" || echo "tests: what comes from npm could not be had" >&2
tests/support/npm.sh "$PWD/build/npm-dev" tsx@4 vite@5 || echo "tests: tsx and vite could not be had" >&2
if [ "$(id -u)" -eq 0 ]; then
	as_unprivileged
else
	build_and_test debug
fi
# Each test once more where it can tell more: parsers under the sanitizers, what people see in release.
# What is slow and the same in every build runs there with --long only.
again="^(net.clients|net.soak|agents.*|lint.(cases|format|headers|layers|resolvers|source))\$"
[ -z "${ZW_LONG:-}" ] || again='^$'
jobs=$(nproc) target=fuzzers build_and_test fuzz
build_and_test asan -L '^(unit|fuzz|net|scen)$' -E "$again"
build_and_test release -L '^(tty|scen|sandbox|net|lint)$' -E "$again"
if [ -n "$failed" ]; then
	echo "tests: failed in:$failed" >&2
	exit 1
fi
