#!/bin/bash
# `zwatch check` names the cause and the exact remedy, on machines as others have them. Z141, Z142.
. "${ZW_SRC:?}/tests/support/lib.sh"
: "${ZW_SB_DRIVER:?}"
unshare -rm true 2>/dev/null || skip "no user namespaces here"

# on FILES WHAT...: zwatch check where /proc/sys/kernel holds these files ("name=text ..."), on a machine
# that lacks WHAT ("" = nothing)
on() {
	local files=$1 what=$2
	shift 2
	unshare -rm sh -c '
		uid=$(cat /proc/sys/kernel/overflowuid) gid=$(cat /proc/sys/kernel/overflowgid)
		mount -t tmpfs none /proc/sys/kernel || exit 99
		echo "$uid" >/proc/sys/kernel/overflowuid; echo "$gid" >/proc/sys/kernel/overflowgid
		mkdir /proc/sys/kernel/yama
		for f in $1; do echo "${f#*=}" >"/proc/sys/kernel/${f%%=*}"; done
		shift
		exec "$@"' sh "$files" ${what:+"$ZW_SB_DRIVER" --without "$what" --exec --} "$zwatch" check "$@" 2>&1
}
row() { printf '%s\n' "$1" | grep -A1 -E "^(ok|warn|fail) +$2 "; }

out=$("$zwatch" check)
same "here: exit status" 0 $?
has "here: the level" "^(ok|warn) +level +[234]: namespaces" "$out"
same "as JSON: one object a check" "$(printf '%s\n' "$out" | grep -cE '^(ok|warn|fail) ')" \
	"$("$zwatch" check --json | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')"

# For a report: what a support thread would ask, and nobody's names.
config <<<'{ "network": { "allowedDomains": ["secret.corp.example"], "allowedDomans": ["x.corp.example"] } }'
out=$("$zwatch" check --json --redact 2>&1)
for name in zwatch system kernel settings "saved rules" history terminal notices agents limits level "not tested"; do
	has "a report has: $name" "\"check\": \"$name\"" "$out"
done
same "a report is JSON" 0 "$(printf '%s\n' "$out" | python3 -c 'import json, sys; json.load(sys.stdin)' >/dev/null 2>&1; echo $?)"
hasnt "a report names no folder, site or machine" "$W|corp\.example|$(uname -n)\b" "$out"
has "a finding of the settings has its place" "config.json:1: a finding" "$out"
config <<<'{}'

out=$(on "apparmor_restrict_unprivileged_userns=1" userns)
same "AppArmor: exit status" 3 $?
has "AppArmor: the cause" "^fail +AppArmor +restricts user namespaces" "$out"
has "AppArmor: the remedy" "fix +.*zwatch help apparmor \| sudo tee /etc/apparmor.d/zwatch .*apparmor_parser -r /etc/apparmor.d/zwatch" \
	"$(row "$out" AppArmor)"
has "AppArmor: also where namespaces fail" "zwatch help apparmor" "$(row "$out" 'user namespaces')"
has "AppArmor: the level" "^fail +level +1: no sandbox" "$out"
has "AppArmor, let through: fine" "^ok +AppArmor +restricts user namespaces; zwatch is let through" \
	"$(on "apparmor_restrict_unprivileged_userns=1" "")"
has "Debian's switch" "sysctl kernel.unprivileged_userns_clone=1" \
	"$(row "$(on "unprivileged_userns_clone=0" userns)" 'user namespaces')"
has "a container: what to allow" "docker run .*seccomp=unconfined.*Podman" "$(row "$(on "" userns)" 'user namespaces')"
out=$(container=lxc on "" userns)
has "a container is named" "^warn +surroundings +a container \((lxc|Docker|Podman)\)" "$out"
out=$(on "osrelease=6.6.87.2-microsoft-standard-WSL2" free-listener)
has "Z142 WSL2: named" "surroundings +WSL2" "$out"
has "Z142 WSL2: its init listens" "wsl --update" "$(row "$out" 'seccomp notifications')"
out=$(on "" free-listener)
has "Z142 another supervisor" "fail +seccomp notifications +taken" "$out"
has "Z142 what to do" "Start zwatch +outside" "$(row "$out" 'seccomp notifications' | tr -s ' ')"
out=$(ZWATCH=1 on "" "")
same "nested zwatch: exit status" 3 $?
has "nested zwatch" "^fail +surroundings +inside a session of zwatch" "$out"
has "Yama 1" "^ok +Yama +1:" "$(on "yama/ptrace_scope=1" "")"
has "Yama 2" "^warn +Yama +2: .*debuggers inside do not work" "$(on "yama/ptrace_scope=2" "")"
out=$(on "yama/ptrace_scope=3" getfd)
has "Yama 3" "^fail +Yama +3:" "$out"
has "Yama 3: the remedy" "ptrace_scope=1.*reboot" "$(row "$out" Yama)"

# The profile: for the zwatch that is run, and what AppArmor reads.
out=$("$zwatch" help apparmor)
has "the profile names this zwatch" "^profile zwatch \"$(readlink -f "$zwatch")\" flags=\(unconfined\) \{" "$out"
has "and gives user namespaces" "^  userns,\$" "$out"
if command -v apparmor_parser >/dev/null && [ -e /etc/apparmor.d/abi/4.0 ]; then
	printf '%s\n' "$out" | apparmor_parser -Q -K >/dev/null
	same "the profile is read by apparmor_parser" 0 $?
fi
exit 0
