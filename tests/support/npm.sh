#!/bin/bash
# Brings what tests need from npm into a folder, once: the judge of the terminal, and a real agent.
# A registry that does not answer is asked again; tests that run at the same time wait for each other.
#   npm.sh FOLDER [PACKAGE...]   exit 1: it could not be had; without packages those two
set -u
folder=$1
shift
scripts=
case "$*" in
"") scripts="@anthropic-ai/claude-code node" ;;
*opencode-ai*) scripts="opencode-ai node-pty" ;;
esac
packages=${*:-"@xterm/headless@6.0.0 @xterm/addon-unicode-graphemes@0.4.0 @anthropic-ai/claude-code@2.1.332 node@22"}
command -v npm >/dev/null || { echo "npm is missing"; exit 1; }
mkdir -p "$folder"
exec 9>"$folder/.lock"
flock 9
[ -e "$folder/.complete" ] && exit 0
cd "$folder" || exit 1
# runs: those with a script of their own start
runs() {
	local s
	for s in $scripts; do
		case $s in
		*claude-code) node_modules/.bin/claude --version ;;
		opencode-ai) node_modules/.bin/opencode --version ;;
		esac >/dev/null 2>&1 || return 1
	done
}
for try in 1 2 3 4; do
	# shellcheck disable=SC2086 # one word a package
	if timeout 300 npm install --silent --no-fund --no-audit --prefix . $packages; then
		# Newer npm runs no install script that was not agreed to; without its own an agent does not start.
		runs && touch .complete && exit 0
		{
			timeout 60 npm install-scripts approve $scripts || true
			timeout 200 npm rebuild
		} >/dev/null 2>&1
		runs && touch .complete && exit 0
	fi
	echo "npm: try $try failed"
	sleep 2
done
exit 1
