#!/bin/bash
# Z131: very many different requests become one card whose first key refuses the rest; an answer for one
# program is none for another; the card says who asks, with all that started it.
# Z116: what only looks like a refusal is none, and paths in the record are absolute and plain.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "$ZW_SRC/tests/support/tmux.sh"

cat >flood.py <<'END'
import threading, urllib.request
def ask(i):
    try:
        urllib.request.urlopen("http://n%d.flood.test/" % i, timeout=60)
    except Exception:
        pass
threads = [threading.Thread(target=ask, args=(i,)) for i in range(200)]
[t.start() for t in threads]
[t.join() for t in threads]
open("flooded", "w").close()
END
config <<<'{ "network": { "limits": { "newPerSecond": 0, "connections": 0, "perHost": 0, "perProgram": 0 } } }'

# Z131: 200 at once
tt_start 110x30 "$zwatch run -- python3 flood.py"
many() { tt_screen | grep -qE '(1[0-9][0-9]|200|[2-9][0-9]) waiting'; }
wait_until 60 many || bad "many do not wait: $(tt_screen | tail -3)"
tt_prefix
tt_keys a
tt_wait 'deny all' 60
tt_keys n
# what asks after that makes another card
refuse() {
	test -e flooded && return 0
	tt_prefix
	tt_keys a
	tt_keys n
	sleep 0.3
	return 1
}
wait_until 60 refuse || bad "the rest was not refused"
tt_end
same "nothing of it was let through" 0 "$("$zwatch" log last did:allow kind:net --format ndjson | grep -c flood.test)"

# Z131: deny for the session to one program; the other asks again, and is named with its parents
mkdir -p "$W/host"
serve_unix "$W/host/s.sock"
cat >one.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX)
try: s.connect(sys.argv[1])
except OSError: pass
END
tt_start 110x30 "$zwatch run -- sh -c 'python3 one.py $W/host/s.sock; echo next; curl -s --unix-socket $W/host/s.sock http://x/; sleep 600'"
tt_wait '1 waiting' 60
tt_prefix
tt_keys a
tt_wait 'python3' 60
tt_keys N
tt_wait 'next' 60
tt_wait 'ASK[* ]+curl' 60
tt_prefix
tt_keys a
tt_awake
tt_keys d
tt_wait 'sh\([0-9]+\)' 60
tt_keys n
tt_end

# Z116: relative, through .., by a descriptor, from a folder that is gone; git and npm with their many files
cat >paths.sh <<END
git init -q . 2>/dev/null || true
echo x >a; git add a; git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm a
mkdir -p sub && cd sub && echo y >../b && echo z >./../c && mkdir gone && cd gone && rmdir ../gone && ls . >/dev/null 2>&1
cd $PWD
python3 - <<'P'
import os
d = os.open("sub", os.O_RDONLY)
f = os.open("by-descriptor", os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=d)
os.write(f, b"x"); os.rename("by-descriptor", "../moved", src_dir_fd=d, dst_dir_fd=d)
P
if command -v npm >/dev/null; then
	echo '{"name":"a","version":"1.0.0"}' >package.json
	echo '{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"a","version":"1.0.0"}}}' >package-lock.json
	npm ci --offline --no-audit --no-fund --no-update-notifier >npm.out 2>&1
fi
python3 one.py ../host/s.sock
(cd sub && python3 ../one.py ../../host/s.sock)
python3 one.py ./../project/../host/./s.sock
END
mkdir -p .git # it is there before, as a repository is
git init -q . >/dev/null 2>&1
"$zwatch" run -- sh paths.sh </dev/null >/dev/null 2>&1
out=$("$zwatch" log last did:deny --format ndjson)
same "only the socket was refused" 0 "$(printf '%s\n' "$out" | grep -vc 's\.sock')"
same "always by its absolute name" "$(printf '%s\n' "$out" | grep -c .)" "$(printf '%s\n' "$out" | grep -c "\"target\":\"$W/host/s.sock\"")"
has "and it was" 's\.sock' "$out"
exit 0
