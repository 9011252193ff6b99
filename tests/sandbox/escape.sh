#!/bin/bash
# SPDX-License-Identifier: MIT
# A hostile program inside the real thing: ways out that were found once, or that others were found by.
# Z005 spellings of a socket's path, Z022 races, Z069 no way around the proxy.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
# inside COMMAND...: in the sandbox, nobody to ask
inside() { timeout 60 "$zwatch" run --ui none -- "$@" </dev/null 2>&1; }

# -- a socket of the host, by every name it can be given ------------------------------------------
mkdir -p "$W/out"
serve_unix "$W/out/docker.sock"
serve_unix "$project/visible.sock" "$W/served"
cat >"$project/spell.py" <<'P'
import os, socket, sys, threading
target, folder, base = sys.argv[1], os.path.dirname(sys.argv[1]), os.path.basename(sys.argv[1])
here = os.path.isdir(folder)

def attempt(what, path):
    s = socket.socket(socket.AF_UNIX)
    try:
        s.connect(path)
        print("REACHED", what)
    except OSError:
        pass
    s.close()

def link(to, name):
    if os.path.islink(name):
        os.unlink(name)
    os.symlink(to, name)
    return name

attempt("plain", target)
attempt("dots", folder + "/./../" + os.path.basename(folder) + "//" + base)
attempt("relative", os.path.relpath(target))
attempt("symlink", link(target, "link"))
attempt("folder symlink", link(folder, "folder") + "/" + base)
attempt("symlink to /", link("/", "top") + target)
attempt("root of the process", "/proc/self/root" + target)
attempt("root of pid 1", "/proc/1/root" + target)
attempt("cwd of the process", "/proc/self/cwd/" + os.path.relpath(target))
child = os.fork()
if child == 0:
    import time
    time.sleep(20)
    os._exit(0)
attempt("root of another", "/proc/%d/root%s" % (child, target))
os.kill(child, 9)
if here:
    fd = os.open(folder, os.O_PATH)
    attempt("descriptor of the folder", "/proc/self/fd/%d/%s" % (fd, base))
    attempt("the same by /dev/fd", "/dev/fd/%d/%s" % (fd, base))
    fd = os.open(target, os.O_PATH)
    attempt("descriptor", "/proc/self/fd/%d" % fd)
    attempt("descriptor by /dev/fd", "/dev/fd/%d" % fd)
    for how, f in ("hard link", os.link), ("moved", os.rename):
        try:
            f(target, "other.sock")
            attempt(how, "other.sock")
            os.rename("other.sock", target) if how == "moved" else os.unlink("other.sock")
        except OSError:
            pass
    def elsewhere():
        os.chdir(folder)
        attempt("thread", base)
    t = threading.Thread(target=elsewhere)
    t.start()
    t.join()
print("done")
P
same "Z005 a socket outside the project" done "$(inside python3 spell.py "$W/out/docker.sock")"
same "Z005 one inside it" done "$(inside python3 spell.py "$project/visible.sock")"
same "Z005 neither was reached" "" "$(cat "$W/served" 2>/dev/null)"

# -- the programs that are started late ------------------------------------------------------------
cat >"$project/web.py" <<'P'
import socket
s = socket.create_connection(("198.19.255.254", 3128), 5)
s.sendall(b"GET / HTTP/1.1\r\n\r\n")
print(s.recv(12).decode())
P
# An empty entry means the folder the loader is started in.
lib=$(ldd "$ZW_BIN/zwatch-proxy" | awk '/libevent/ { print $1; exit }')
out=$(LD_LIBRARY_PATH=:/nowhere inside sh -c "echo not a library >'$lib'; python3 web.py")
has "no library of the project's gets into a helper" "HTTP/1.1 400" "$out"
rm -f "$lib"

# zwatch itself lies in the project, and its folder can be moved away.
mkdir -p "$project/build/bin"
cp "$ZW_BIN"/zwatch "$ZW_BIN"/zwatch-[!d]* "$project/build/bin/"
cat >"$project/replace.sh" <<P
echo x 2>/dev/null >>build/bin/zwatch-proxy && echo WRITTEN
rm -f build/bin/zwatch-proxy 2>/dev/null
[ -e build/bin/zwatch-proxy ] || echo REMOVED
mv build old && mkdir -p build/bin
printf '#!/bin/sh\ntouch $W/out/escaped\n' >build/bin/zwatch-proxy
chmod +x build/bin/zwatch-proxy
echo x 2>/dev/null >>old/bin/zwatch-proxy && echo WRITTEN
python3 web.py
P
out=$(timeout 60 "$project/build/bin/zwatch" run --ui none -- sh replace.sh </dev/null 2>&1)
has "helpers are the programs of the start" "HTTP/1.1 400" "$out"
hasnt "which cannot be written to" "WRITTEN|REMOVED" "$out"
same "nothing of the agent's ran outside" "" "$(ls "$W/out" | grep escaped)"

# -- the record ------------------------------------------------------------------------------------
out=$(ZWATCH_DB=$project/history.db inside true)
has "no history where the agent may write" "the history would lie where the agent may write" "$out"
same "its own is out of sight" "" "$(inside sh -c 'cat ~/.local/state/zwatch/* ~/.config/zwatch/* 2>/dev/null')"
