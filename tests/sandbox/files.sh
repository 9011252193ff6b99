#!/bin/bash
# SPDX-License-Identifier: MIT
# What the files look like inside.
. "$(dirname "$0")/lib.sh"

odd=$project/$'a b\nc\xff"\\'
mkdir -p "$top/home/.ssh" "$project/secrets" "$project/vendor" "$project/store" "$odd"
echo key >"$top/home/.ssh/id"
echo token >"$top/home/token"
echo secret >"$project/secrets/s"
echo v >"$project/vendor/v"
echo o >"$odd/o"
ln -s "$top/home/.ssh" "$top/link-to-ssh"

see() {
	sb --rw "$top/home/agent" --ro "$project/vendor" --hide "$project/secrets" \
		--hide "$top/link-to-ssh" --hide "$top/home/token" --hide "$top/home/missing" -- "$@"
}
mkdir "$top/home/agent"

check "project is writable" "$(see sh -c 'echo x >new && cat new')" "x"
check "and it is the real one" "$(cat "$project/new")" "x"
check_in "home is not" "$(see ./probe write "$top/home/x")" "write EROFS"
check "agent's own folder is" "$(see ./probe write "$top/home/agent/x")" "write ok"
check "Z039 hidden folder in the project is empty" "$(see ls -A secrets)" ""
check_in "Z039 and stays so" "$(see ./probe write secrets/n)" "write EROFS" "write EACCES"
check "Z039 read-only folder in the project" "$(see ./probe write vendor/n)" "write EROFS"
check "Z039 but readable" "$(see cat vendor/v)" "v"
check "Z039 a second session, the same" "$(see ls -A secrets)" ""
check "hidden folder by a symlink" "$(see ls -A "$top/home/.ssh")" ""
check "hidden file is empty" "$(see cat "$top/home/token")" ""
check "and read-only" "$(see ./probe write "$top/home/token")" "write EROFS"
check "nothing changed outside" "$(cat "$top/home/token" "$top/home/.ssh/id")" "$(printf 'token\nkey')"

check "/tmp is private" "$(touch /tmp/zw-outside.$$; sb -- sh -c 'ls -A /tmp; echo y >/tmp/f && cat /tmp/f'; rm -f /tmp/zw-outside.$$)" "y"
check "/var/run leads to the private /run" "$(sb -- sh -c 'ls -A /var/run/; ls /run/user')" "$(printf 'user\n%s' "$(id -u)")"
check "runtime folder" "$(sb -- stat -c %a /run/user/"$(id -u)")" "700"
check "name server" "$(sb -- cat /etc/resolv.conf)" "nameserver 127.0.0.1"
[ -e /etc/nsswitch.conf ] &&
	check "names from files and DNS only" "$(sb -- grep hosts /etc/nsswitch.conf)" "hosts: files dns"
check "users are known" "$(sb -- id -un)" "$(id -un)"
check "fresh folder" "$(mkdir -p "$top/home/cache"; touch "$top/home/cache/old"
	sb --fresh "$top/home/cache" -- sh -c "ls -A $top/home/cache; ./probe write $top/home/cache/n")" "write ok"

check "start folder with blank, newline, bad UTF-8" \
	"$(sb --cwd "$odd" -- cat o)" "o"
check "such a folder hidden" "$(sb --hide "$odd" -- ls -A "$odd")" ""
mv "$project" "$odd.p" 2>/dev/null || mv "$project" "$top/p2"
project=$top/$'pro\nject \xfe'
mv "$top/p2" "$project"
check "such a project" "$(sb -- sh -c 'echo z >new && cat new')" "z"

# A project in a folder that is private inside.
outer_project=$project
project=$(mktemp -d /tmp/zw-project.XXXXXX)
cp "$ZW_SB_DIR/probe" "$project/"
check "project in /tmp" "$(sb -- sh -c 'ls; echo w >f; cat f'; ls "$project")" "$(printf 'probe\nw\nf\nprobe')"
rm -rf "$project"
project=$outer_project

# Sockets: where they may be made.
check "socket in the project" "$(probe bind ./s1)" "bind ok"
check "socket in /tmp" "$(probe bind /tmp/s , bind /run/user/"$(id -u)"/s)" "$(printf 'bind ok\nbind ok')"
check "not elsewhere" "$(probe bind /dev/s , bind /run/s , bind "$top/home/s")" \
	"$(printf 'bind EACCES\nbind EACCES\nbind EROFS')"
check "nor in the agent's own folder" "$(see ./probe bind "$top/home/agent/s")" "bind EACCES"
check "private sockets: not in the project" "$(sb --private-sockets -- ./probe bind ./s2 , mknod ./s3 s)" \
	"$(printf 'bind EACCES\nmknod EACCES')"
check "private sockets: nor moved there" \
	"$(sb --private-sockets -- ./probe bind /tmp/s , rename ./s1 ./s4)" "$(printf 'bind ok\nrename EACCES')"
check "Z041 move between folders" "$(sb -- sh -c 'echo m >store/m && mv store/m . && ln m store/l && cat store/l')" "m"
finish
