#!/usr/bin/env bash
# Installs what zwatch needs (Debian 12 and later, Ubuntu), builds it, and starts it:
#   bash data/quickstart.sh            the built-in demonstration, no account and no network needed
#   bash data/quickstart.sh claude     an agent; everything after its name is passed on
set -euo pipefail
cd "$(dirname "$0")/.."
here=$PWD
start=${OLDPWD:-$here}

packages="cmake ninja-build gcc libc6-dev pkg-config bubblewrap ncurses-bin libncurses-dev
	libevent-dev libgetdns-dev libgnutls28-dev nettle-dev libnghttp2-dev libsqlite3-dev libyajl-dev libidn2-dev ca-certificates"

missing=
for p in $packages; do
	dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
if [ -n "$missing" ]; then
	as_root=
	if [ "$(id -u)" -ne 0 ]; then
		# Without sudo, or with one that may not: what to do is said, as root's command.
		sudo -v 2>/dev/null || {
			printf 'quickstart: some packages are missing, and you may not install them. As root, run\n' >&2
			# shellcheck disable=SC2086 # one word a package
			printf '    apt-get update && apt-get install -y --no-install-recommends%s\n' "$(printf ' %s' $missing)" >&2
			printf 'and then, as yourself, this again.\n' >&2
			exit 1
		}
		as_root=sudo
	fi
	echo "quickstart: installing$missing"
	$as_root apt-get update -qq
	# shellcheck disable=SC2086 # one word a package
	$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

echo "quickstart: building (about a minute)"
cmake --preset release -DBUILD_TESTING=OFF >/dev/null
cmake --build --preset release -- --quiet

if [ "${ZWATCH_QUICKSTART:-}" = build ]; then
	exit 0
fi
cd "$start"
if [ $# -eq 0 ]; then
	set -- demo
fi
exec "$here/build/release/bin/zwatch" "$@"
