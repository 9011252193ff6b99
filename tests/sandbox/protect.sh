#!/bin/bash
# SPDX-License-Identifier: MIT
# What must not change, and must not come to be, in a folder that the agent may write.
. "$(dirname "$0")/lib.sh"

mkdir -p "$project/.git/hooks" "$project/sub/deep"
echo conf >"$project/.git/config"
echo 'ref: refs/heads/x' >"$project/.git/HEAD"
see() {
	sb --bar "$project/.git/hooks" --guard "$project/.git/config" --bar "$project/.vscode" \
		--bar-file "$project/.empty" --ro "$project/sub/deep" --bar "$top/elsewhere" "$@"
}
before=$(find "$project" | sort)

check "existing ones are read-only" \
	"$(see -- ./probe write .git/hooks/pre-commit , write .git/config , write sub/deep/x)" \
	"$(printf 'write EROFS\nwrite EROFS\nwrite EROFS')"
check "the rest around them is not" "$(see -- ./probe write .git/HEAD.lock , write sub/x)" \
	"$(printf 'write ok\nwrite ok')"
rm "$project/.git/HEAD.lock" "$project/sub/x"
check_in "missing folder cannot be made" "$(see -- ./probe write .vscode/tasks.json)" "write EROFS"
check_in "missing file cannot be made" "$(see -- ./probe write .empty)" "write EROFS"
check "Z031 the way to them cannot be moved" \
	"$(see -- ./probe rename .git .git2 , rename sub sub2 , rename .vscode v , rename .empty e)" \
	"$(printf 'rename EBUSY\nrename EBUSY\nrename EBUSY\nrename EBUSY')"
check_in "Z031 nor removed" "$(see -- sh -c 'rm -rf .git .vscode sub 2>&1; ls -d .git/config .vscode sub/deep' |
	tail -3 | tr '\n' ' ')" ".git/config .vscode sub/deep "
git_left=$(cat "$project/.git/config")
check "Z031 what is there stays as it was" "$git_left" "conf"
echo 'ref: refs/heads/x' >"$project/.git/HEAD"
check "nothing of it is left" "$(find "$project" | sort)" "$before"
check "nor outside what is writable" "$(ls -A "$top" | tr '\n' ' ')" "project "

# A dangling link, a loop, and names behind a missing folder.
ln -s nowhere "$project/dangling"
ln -s loop "$project/loop"
check "Z029 links that lead nowhere are no fault" \
	"$(sb --bar "$project/dangling" --bar "$project/loop" --guard "$project/dangling" -- echo started)" "started"
rm "$project/dangling" "$project/loop"
mkdir "$project/real"
echo r >"$project/real/rc"
ln -s real/rc "$project/rel"
ln -s "$project/real/rc" "$project/abs"
check "Z029 what a link leads to is read-only" \
	"$(sb --guard "$project/rel" -- ./probe write rel , write real/rc , rename real r2)" \
	"$(printf 'write EROFS\nwrite EROFS\nrename EBUSY')"
check "Z029 the same by an absolute link" "$(sb --guard "$project/abs" -- ./probe write real/rc)" "write EROFS"
rm -r "$project/rel" "$project/abs" "$project/real"

# The links themselves: whoever replaces one decides what is run outside the next time.
mkdir -p "$project/real" "$project/d"
echo r >"$project/real/rc"
ln -s real/rc "$project/rel"
ln -s ../real/rc "$project/d/l"
ln -s rel "$project/chain"
ln -s real "$project/dir"
held="$(printf 'rename EBUSY\nrename EBUSY\nwrite EROFS')"
check "Z029 a link to a protected file cannot be replaced" \
	"$(sb --guard "$project/rel" -- ./probe rename rel r2 , rename probe rel , write rel)" "$held"
check "Z029 nor a link in a chain of them" \
	"$(sb --guard "$project/chain" -- ./probe rename chain c2 , rename rel r2 , write chain)" "$held"
check "Z029 nor one in a folder, which cannot be moved" \
	"$(sb --guard "$project/d/l" -- ./probe rename d/l d/m , rename d e , write d/l)" "$held"
check "Z029 nor one to a folder on the way" \
	"$(sb --guard "$project/dir/rc" -- ./probe rename dir e , rename real e , write dir/rc)" "$held"
check "Z029 nor one to a hidden place" \
	"$(sb --hide "$project/dir" -- ./probe rename dir e , rename real e , write dir/rc)" "$held"
check "Z029 they are read as ever, and neither ln nor rm takes one away" \
	"$(sb --guard "$project/chain" -- sh -c 'cat chain; ln -sfn probe rel 2>/dev/null; rm -f rel chain 2>/dev/null; readlink chain rel; cat rel' | paste -sd" ")" \
	"r rel real/rc r"
check "Z029 others can be" "$(sb --guard "$project/rel" -- ./probe rename dir e , rename e dir)" "$(printf 'rename ok\nrename ok')"
ln -s nowhere/deep "$project/dangling"
check "Z029 a link to nothing is held, and what it leads to cannot be made" \
	"$(sb --bar "$project/dangling" -- sh -c './probe rename dangling e , write nowhere/deep/x; mkdir nowhere/other && echo made')" \
	"$(printf 'rename EBUSY\nwrite EROFS\nmade')"
rm -r "$project/nowhere" "$project/dangling" "$project/rel" "$project/d" "$project/chain" "$project/dir" "$project/real"
check "Z029 nothing of it is left" "$(find "$project" | sort)" "$before"
check "the way to a bar is made too, and open" \
	"$(sb --bar "$project/a/b/c" -- sh -c 'find a; ./probe write a/x , write a/b/c/x , rename a z , rename a/b a/z; rm a/x')" \
	"$(printf 'a\na/b\na/b/c\nwrite ok\nwrite EROFS\nrename EBUSY\nrename EBUSY')"
check "and gone afterwards" "$(find "$project" | sort)" "$before"
check "but for what was made there" "$(sb --bar "$project/a/b/c" -- touch a/mine; find a "$project/a" 2>/dev/null)" \
	"$(printf '%s\n' "$project/a" "$project/a/mine")"
rm -r "$project/a"

# Every kind of end. The sandbox tells that it runs by a file.
ends() {
	local how=$1 i
	"$ZW_SB_DIR/driver" --project "$project" --init "$ZW_SB_DIR/zwatch-init" --bar "$project/.vscode" \
		--bar "$project/.new/a" --bar "$project/.new/b" --bar-file "$project/.empty" -- sh -c 'touch running; exec sleep 60' >/dev/null 2>&1 &
	local job=$!
	for i in {1..1200}; do [ -e "$project/running" ] && break; sleep 0.05; done
	check "$how: it is there meanwhile" "$(ls -d "$project/.vscode" "$project/.empty" | wc -l)" 2
	kill -"$how" "$job"
	wait "$job" 2>/dev/null
	for i in {1..1200}; do [ -e "$project/.vscode" ] || break; sleep 0.05; done
	rm -f "$project/running"
	check "$how: nothing is left" "$(find "$project" | sort)" "$before"
}
ends KILL
ends TERM
ends HUP

# Read by the agent itself: empty for it, nothing for git, not to be waited at outside.
read_bar() { sb --bar-read "$project/conf.json" "$@"; }
git init -q "$project/repo"
check "what the agent reads is empty, and cannot be made" \
	"$(read_bar -- sh -c 'cat conf.json && echo x 2>/dev/null >conf.json; cat conf.json; ./probe rename conf.json c; rm conf.json 2>/dev/null || echo stays')" \
	"$(printf 'rename EBUSY\nstays')"
check "git sees nothing of it" "$(sb --project "$project/repo" --bar-read "$project/repo/conf.json" -- git status --short 2>&1)" ""
check "two sessions share it, and nobody else waits at it" "$(
	read_bar -- sh -c 'touch running; while [ -e running ]; do sleep 0.05; done; cat conf.json && echo read' &
	for i in {1..1200}; do [ -e "$project/running" ] && break; sleep 0.05; done
	ls -l "$project/conf.json" | cut -c1-10
	read_bar -- cat conf.json && echo read
	sb --bar "$project/conf.json" -- cat conf.json && echo read
	rm "$project/running"
	wait
)" "$(printf 'p---------\nread\nread\nread')"
check "a folder that it reads is its own" \
	"$(sb --bar-private "$project/.conf" -- sh -c 'echo mine >.conf/x && cat .conf/x; ./probe rename .conf c')" "$(printf 'mine\nrename EBUSY')"
rm -rf "$project/repo"
check "nothing is left of it" "$(find "$project" | sort)" "$before"
mkfifo -m 0 "$project/conf.json"
touch -d @86400 "$project/conf.json"
check "one that was left behind is taken over" "$(read_bar -- cat conf.json && find "$project" | sort)" "$before"

# Left behind by a machine that stopped: taken over and removed.
mkdir -p "$project/.vscode" "$project/.way/bar"
touch -d @86400 "$project/.vscode" "$project/.way/bar" "$project/.way"
check_in "on the way too" "$(sb --bar "$project/.way/bar" -- ./probe write .way/bar/x , write .way/x)" "$(printf 'write EROFS\nwrite ok')"
check "what the agent put there stays" "$(find "$project/.way")" "$(printf '%s\n' "$project/.way" "$project/.way/x")"
rm -r "$project/.way"
check_in "one that was left behind still bars" "$(see -- ./probe write .vscode/x)" "write EROFS"
check "and is removed" "$(find "$project" | sort)" "$before"
mkdir "$project/.vscode"
check_in "a folder of the user's bars too" "$(see -- ./probe write .vscode/x)" "write EROFS"
check "and stays" "$(ls -d "$project/.vscode")" "$project/.vscode"
rmdir "$project/.vscode"
check "what is put there outside meanwhile is seen, and stays" "$(
	see -- sh -c 'touch running; while [ -e running ]; do sleep 0.05; done; ls -A .vscode' &
	for i in {1..1200}; do [ -e "$project/running" ] && break; sleep 0.05; done
	echo mine >"$project/.vscode/mine"
	rm "$project/running"
	wait
	cat "$project/.vscode/mine"
)" "$(printf 'mine\nmine')"
rm -r "$project/.vscode"

# Two at once: the first to end leaves it to the other.
check "two sessions share" "$(
	see -- sh -c 'touch running; while [ -e running ]; do sleep 0.05; done; ./probe write .vscode/x' &
	for i in {1..1200}; do [ -e "$project/running" ] && break; sleep 0.05; done
	see -- true
	ls -d "$project/.vscode"
	rm "$project/running"
	wait
)" "$(printf '%s\nwrite EROFS' "$project/.vscode")"
check "and the last removes" "$(find "$project" | sort)" "$before"

mkdir "$top/ro" "$top/outside"
echo o >"$top/outside/o"
ln -s "$top/outside" "$project/link"
check "Z030 a link in the project makes nothing writable" "$(sb -- ./probe write link/x)" "write EROFS"
check "Z030 nor one that is made while it runs" \
	"$(sb -- sh -c "ln -s $top/outside other; ./probe write other/x")" "write EROFS"
finish
