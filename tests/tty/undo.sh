#!/bin/bash
# Undo: what an allow opened is closed, for that program alone, and the next try is asked about again.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
cat >"$W/hold.py" <<'P'
"""A listener that greets and then keeps what it accepts."""
import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen(8)
kept = []
while True:
    c, _ = s.accept()
    c.sendall(b"hello")
    kept.append(c)
P
python3 "$W/hold.py" "$W/low.sock" &
pids="$pids $!"
wait_until 60 test -S "$W/low.sock" || bad "no listener"
cat >client.py <<'P'
import os, socket, sys, time
s = socket.socket(socket.AF_UNIX)
name = sys.argv[2]
try:
    s.connect(sys.argv[1])
    print(name, "OPEN", s.recv(5).decode(), flush=True)
    print(name, "END", s.recv(5), flush=True)
except OSError as e:
    print(name, "NO", os.strerror(e.errno), flush=True)
P
cp "$(python3 -c "import os, sys; print(os.path.realpath(sys.executable))")" other
tt_start 100x30 "$zwatch" run -- sh
tt_wait '[#$] *$' 60
tt_type "python3 client.py $W/low.sock one &"
tt_keys Enter
tt_wait 'ASK' 60
# Keys that allow may still be asleep: until it is open.
allow() {
	tt_prefix
	tt_keys a
	tt_wait 'If you allow it' 60
	for _ in $(seq 100); do
		tt_keys s
		wait_until 1 tt_hasnt 'If you allow it' && return
	done
}
allow
tt_wait 'one OPEN hello' 60
tt_type "./other client.py $W/low.sock two &"
tt_keys Enter
tt_wait 'ASK' 60
allow
tt_wait 'two OPEN hello' 60
tt_prefix
tt_keys u
tt_wait 'Taken back: low.sock' 60
tt_wait "two END b''" 60
tt_has "one END" && bad "the other program's connection was closed too" || echo "ok: the other program keeps its own"
tt_type "./other client.py $W/low.sock three"
tt_keys Enter
tt_wait 'ASK' 60
tt_prefix
tt_keys a
tt_wait 'If you allow it' 60
tt_keys n
tt_wait 'three NO Permission denied' 60
tt_prefix
tt_keys u
tt_wait "one END b''" 60
exit 0
