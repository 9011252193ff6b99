#!/bin/bash
# Where a session can be started, and what programs find there: odd paths, missing folders, other owners, hostile
# trees. Z033, Z035, Z143, Z144, Z147, Z162, Z163, Z167.
# Not below /tmp, which is another one inside; nor in a repository.
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null && command -v git >/dev/null || skip "python3 and git are needed"
# This test makes and removes folders: it does so in its own or not at all.
[ -n "$W" ] && [ "$PWD" = "$W/project" ] || exit 1
export GIT_CEILING_DIRECTORIES=$W GIT_CONFIG_NOSYSTEM=1
unset GIT_DIR GIT_WORK_TREE
run() { timeout 120 "$zwatch" run -- "$@" 2>&1 </dev/null; }
# quiet: without notes
quiet() { grep -v '^zwatch: note' || :; }

# Z033: all closed but what is named, and programs run
echo s3cr3t >"$W/secret"
config <<<"{ \"filesystem\": { \"denyRead\": [\"$W\"], \"allowRead\": [\"$project\"] } }"
same "Z033 ls, git, python" "ran ran ran" "$(run sh -c '
	ls -d . >/dev/null && echo ran; git --version >/dev/null && echo ran; python3 -c "print(\"ran\")"' | xargs)"
same "Z033 the rest cannot be read" "" "$(run cat "$W/secret" 2>/dev/null | grep s3cr3t)"
has "Z033 nothing at / is deniable without a word" "config.json:1|cannot be laid out" \
	"$(config <<<'{ "filesystem": { "denyRead": ["/"] } }'; run true)"
rm "$HOME/.config/zwatch/config.json"

# Where sockets may be made: in the project as well, or in private folders alone. In strict mode those alone.
cat >"$project/bind.py" <<'P'
import errno, os, socket
for folder in os.getcwd(), "/tmp":
    path = os.path.join(folder, "made.sock")
    try:
        l = socket.socket(socket.AF_UNIX); l.bind(path); l.listen(1)
        c = socket.socket(socket.AF_UNIX); c.connect(path)
        os.unlink(path)
        print("made")
    except OSError as e:
        print(errno.errorcode[e.errno])
P
binds() { run python3 bind.py | grep -E '^(made|E[A-Z]+)$' | paste -sd' '; }
same "sockets in the project, and in /tmp" "made made" "$(binds)"
config <<<'{ "filesystem": { "allowSockets": "private" } }'
same "allowSockets private: in /tmp alone" "EACCES made" "$(binds)"
has "and that is on record" '"op":"bind","did":"deny".*made.sock' "$("$zwatch" log last --json)"
config <<<'{ "mode": "strict" }'
same "strict: in /tmp alone" "EACCES made" "$(binds)"
rm "$HOME/.config/zwatch/config.json" "$project/bind.py"

# Z143: long and odd names for everything
long=$(printf 'x%.0s' $(seq 150))
for name in "$long" 'with blank' $'new\nline' 'co:lon' 'Ünï💥' $'esc\e[31m' "quote'\"\\"; do
	mkdir "$W/$name" && cd "$W/$name" || exit 1
	same "Z143 project '$(printf %q "$name" | cut -c1-20)'" "made" "$(run sh -c 'echo made >f; cat f')"
	cd "$project" && rm -r "$W/$name"
done
saved_home=$HOME saved_run=$XDG_RUNTIME_DIR
for name in "$long/$(printf 'y%.0s' $(seq 40))" 'with blank/h' 'co:lon/h'; do
	mkdir -p "$W/$name"
	same "Z143 HOME '$(printf %q "$name" | cut -c1-20)'" "on" "$(HOME="$W/$name" run echo on | quiet)"
	same "Z143 XDG_RUNTIME_DIR, TMPDIR, the same" "on" "$(XDG_RUNTIME_DIR="$W/$name" TMPDIR="$W/$name" run echo on | quiet)"
	rm -r "$W/${name%%/*}"
done
export HOME=$saved_home XDG_RUNTIME_DIR=$saved_run
mkdir -p "$W/new"$'\n'"line"
for name in HOME XDG_RUNTIME_DIR XDG_CONFIG_HOME XDG_STATE_HOME; do
	out=$(env "$name=$W/new"$'\n'"line" timeout 60 "$zwatch" run -- echo on 2>&1 </dev/null)
	same "Z143 $name with a newline: refused" 4 $?
	has "Z143 and says why" "control character" "$out"
done
rm -r "$W/new"$'\n'"line"

# A cache is a private one, unless the settings hand the real one over; where there is none, one is told of.
mkdir "$HOME/.npm"
same "a private cache keeps nothing" "here " "$(run sh -c 'echo here >~/.npm/x; cat ~/.npm/x' | xargs) $(cat "$HOME/.npm/x" 2>/dev/null)"
config <<<'{ "filesystem": { "allowWrite": ["~/.npm"] } }'
same "allowWrite opens the real one" "there" "$(run sh -c 'echo there >~/.npm/x' | quiet)$(cat "$HOME/.npm/x")"
rm "$HOME/.config/zwatch/config.json"
same "stores that a home has none of" "/tmp/pnpm /tmp/mod" "$(run sh -c 'echo $PNPM_HOME $GOMODCACHE' | quiet)"

# Z167: what is no file stands where files are looked for; nothing waits for a FIFO
(
	mkdir "$W/odd" && cd "$W/odd" && mkdir -p .git/hooks .vscode shut && chmod 0 shut
	mkfifo fifo .zwatch.json .mcp.json .git/config .git/hooks/pre-commit .vscode/tasks.json
	python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind("own.sock")
for i in range(10000): open("f%d" % i, "w").close()'
)
cd "$W/odd" || exit 1
has "Z167 a FIFO as project file is refused at once" "not a regular file.*zwatch.json" "$(run true)"
rm .zwatch.json
same "Z167 sockets, FIFOs and folders that are shut" "ran" "$(run sh -c 'ls >/dev/null; echo ran' | quiet)"
has "Z167 check ends there" "not tested" "$(timeout 120 "$zwatch" check </dev/null)"
chmod 700 shut
cd "$project" || exit 1

# Z144: TMPDIR as it may be
touch "$W/a-file"
for tmp in "" "$W/missing" "$W/a-file" "$W" /etc relative; do
	same "Z144 TMPDIR='${tmp##*/}': mktemp works inside" "ok" \
		"$(TMPDIR=$tmp run sh -c 'f=$(mktemp) && d=$(mktemp -d) && echo x >"$f" && touch "$d/x" && echo ok' | quiet)"
done
same "Z144 TMPDIR not set" "ok" "$(unset TMPDIR; run sh -c 'mktemp -d >/dev/null && echo ok')"
same "Z144 a compiler finds its place" "ok" "$(TMPDIR=$W/missing run sh -c 'command -v gcc >/dev/null || { echo ok; exit; }
	echo "int main(void){return 0;}" >tmp.c && gcc tmp.c -o tmp.out && echo ok' | quiet)"
rm -f tmp.c tmp.out

# Z147: the folder, by every way to get there; programs that go by their name
mkdir sub && ln -s sub link
same "Z147 started in a link: PWD is the folder" "$project/sub $project/sub" "$(cd link && run sh -c 'echo "$PWD $(pwd -P)"')"
same "Z147 a PWD that lies" "$project" "$(PWD=/nowhere run sh -c 'echo "$PWD"')"
same "Z147 --dir" "$project/sub" "$(timeout 60 "$zwatch" run --dir sub -- sh -c 'echo "$PWD"' 2>&1 </dev/null)"
mkdir gone && cd gone && rmdir "$project/gone"
out=$(run echo started)
rc=$?
cd "$project" || exit 1
hasnt "Z147 a folder that is gone: nothing starts" '^started' "$out"
has "Z147 and it is said" 'zwatch: ' "$out"
[ "$rc" -ne 0 ] && echo "ok: Z147 and so does the status" || bad "a deleted folder: status 0"
if command -v busybox >/dev/null; then
	ln -s "$(command -v busybox)" cat-applet && ln -s "$(command -v busybox)" ash
	same "Z147 applets by their name" "from ash" "$(run ./ash -c 'echo from ash')"
	rm cat-applet ash
fi
ln -s "$(command -v git)" tig-of-git
has "Z147 a program by another name" '^git version' "$(run ./tig-of-git --version)"
rm -r sub link tig-of-git

# Z162: owners
git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one
same "Z162 git in one's own repository" "one" "$(run git log --format=%s)"
mkdir t && echo x >t/x && tar cf t.tar t
same "Z162 tar, with owners as in the archive" "x" "$(run sh -c 'rm -r t; tar --same-owner -xf t.tar && cat t/x')"
same "Z162 cp -a, rsync -a" "ok" "$(run sh -c 'cp -a t u && { ! command -v rsync >/dev/null || rsync -a t/ v/; } && echo ok')"
if [ "$(id -u)" = 0 ]; then
	chown -R 65534:65534 .git
	out=$(git log --format=%s 2>&1)
	same "Z162 a repository of another's: as outside" "$out" "$(run git log --format=%s)"
	chown -R 0:0 .git
fi
has "Z162 chown to another is refused, as an answer" 'Operation not permitted|Invalid argument' "$(run chown 12345 t/x)"
rm -rf "$project/.git" t u v t.tar

# Z163: the interfaces
has "Z163 interfaces: python" "lo" "$(run python3 -c 'import socket; print(socket.if_nameindex())')"
command -v ip >/dev/null && has "Z163 ip" "LOOPBACK" "$(run ip a)"
command -v node >/dev/null && has "Z163 node" '^ok' "$(run node -e 'require("os").networkInterfaces(); console.log("ok")')"
run hostname -I >/dev/null
[ $? -lt 128 ] && echo "ok: Z163 hostname -I ends by itself" || bad "Z163 hostname -I crashed"

# -- hostile trees -------------------------------------------------------------------------------------
# what(TREE): a session starts in it within its time, and what it must not do it does not
starts() {
	local rc
	out=$(timeout 60 "$zwatch" run -- echo on 2>&1 </dev/null)
	rc=$?
	same "$1: starts" "on 0" "$out $rc"
}
fresh() { cd "$W" && rm -rf "$project" && mkdir "$project" && cd "$project" || exit 1; }
fresh && mkfifo .git && starts ".git is a FIFO"
fresh && mkdir .git && mkfifo .git/config .git/HEAD .git/commondir && starts "FIFOs in .git"
fresh && mkfifo .mcp.json .envrc .vscode opencode.json && starts "FIFOs as protected files"
fresh && ln -s .git .git && starts ".git is a loop"
fresh && ln -s /nowhere .git && starts ".git leads nowhere"
fresh && ln -s / .git && starts ".git leads to /"
fresh && ln -s /proc/self/root .git && starts ".git leads into /proc"
fresh && echo 'gitdir: /etc' >.git && starts ".git names a folder of the system"
same "and opens nothing there" "" "$(run sh -c 'touch /etc/zw-test 2>/dev/null && echo OPEN')"
fresh && head -c 100000 /dev/zero >.git && starts ".git is large and of zeros"
fresh && mkdir -p .git/objects .git/refs .git/modules/a && ln -s ../.. .git/modules/loop && ln -s a .git/modules/b && starts "loops in .git/modules"
fresh && mkdir .git && printf '[core]\n\thooksPath = \e[2J\n[include]\n\tpath = /etc/passwd\n\tpath = ../../../..\n\tpath = \001\n' >.git/config && starts "odd words in .git/config"
fresh && mkdir .vscode $'a\nb' $'\e[2J' && ln -s ../loop loop && ln -s . dot && touch $'\xff' && starts "names with newline, ESC, no UTF-8"
fresh && mkfifo .zwatch.json && out=$(timeout 60 "$zwatch" run -- echo on 2>&1 </dev/null)
same "settings of the project are a FIFO: an error, no wait" 4 $?
has "and it is named" '.zwatch.json.*not a regular file|not a regular file.*.zwatch.json' "$out"
fresh

# Z035: a tree of many files, and deep
if [ -n "${ZW_LONG:-}" ]; then files=400000; else files=20000; fi
quick() { # milliseconds, the best of five
	python3 - "$zwatch" <<'P'
import subprocess, sys, time
def once():
    t = time.monotonic()
    subprocess.run([sys.argv[1], "run", "--", "true"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - t
print(int(min(once() for _ in range(5)) * 1000))
P
}
empty=$(quick)
python3 - "$files" <<'P'
import os, sys
n, made = int(sys.argv[1]), 0
deep = "node_modules"
for i in range(40):
    deep += "/d%d" % i
os.makedirs(deep)
for d in range(n // 200):
    folder = "node_modules/p%d/src" % d
    os.makedirs(folder)
    for f in range(200):
        open("%s/f%d.js" % (folder, f), "w").close()
P
full=$(quick)
echo "Z035 start: $empty ms in an empty folder, $full ms with $files files"
[ $((full - empty)) -lt 300 ] && echo "ok: Z035 start does not grow with the tree" || bad "Z035 start grew from $empty to $full ms"
# What is never looked at cannot cost anything: no session reads a folder of the tree.
if command -v strace >/dev/null; then
	same "Z035 nothing walks the tree" "0" "$(strace -f -e trace=open,openat,getdents64 -o "$W/calls" \
		"$zwatch" run -- true 2>/dev/null </dev/null; grep -c 'node_modules' "$W/calls")"
fi
exit 0
