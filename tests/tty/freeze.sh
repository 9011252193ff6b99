#!/bin/bash
# SPDX-License-Identifier: MIT
# f freezes the whole agent, also while it forks: nothing of it runs until it is thawed; a process that was
# stopped before stays so. A session that ends, or is killed, while frozen leaves nothing.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
command -v python3 >/dev/null || skip "python3 is not installed"
cat >"$project/storm.py" <<'P'
"""Lines of processes, each of which notes that it runs, forks the next one and ends; and one that is stopped."""
import os, signal, time
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
f = os.open("count", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
    open("woken", "w").close()
    os._exit(0)
for i in range(4):
    if os.fork() == 0:
        while True:
            os.write(f, b".")
            time.sleep(0.002)
            if os.fork() != 0:
                os._exit(0)
print("READY", flush=True)
time.sleep(1000)
P
count() { stat -c %s "$project/count" 2>/dev/null || echo 0; }
grows() { [ "$(count)" -gt "$1" ]; }
inside() { pgrep -f "storm\.py $$\$" | wc -l; }
is_over() { [ "$(inside)" -eq 0 ]; }

# Whatever looks for it has to find it while it runs.
start() {
	rm -f "$project/count"
	tt_start 100x30 "$zwatch" run -- python3 storm.py $$
	tt_wait READY
	wait_until 15 grows 20 || bad "the storm does not run"
	[ "$(inside)" -gt 5 ] || bad "its processes are not found"
}
freeze() {
	tt_prefix
	tt_keys f
	tt_wait 'The agent is frozen, (by its control group|each process by SIGSTOP)'
	tt_wait FROZEN
	local n
	n=$(count)
	sleep 1
	same "nothing runs while it is frozen" "$n" "$(count)"
}

start
freeze
has "and zwatch ps says so" 'frozen' "$("$zwatch" ps)"
tt_prefix
tt_keys f
tt_wait 'The agent goes on'
tt_wait_gone FROZEN
wait_until 15 grows "$(count)" && echo "ok: it goes on" || bad "it does not go on"
[ ! -e "$project/woken" ] && echo "ok: what was stopped before stays stopped" || bad "what was stopped before was woken"
freeze
tt_prefix
tt_keys x
tt_wait 'stop'
tt_type stop
tt_keys Enter
tt_wait '\[exit [0-9]+\]' 30
wait_until 15 is_over && echo "ok: nothing is left of a session that ends frozen" || bad "$(inside) processes are left"
has "on record, with the way" 'frozen, by (the control group|SIGSTOP)' "$("$zwatch" log last)"

start
freeze
pid=$(pgrep -P "$(tmux -L "$tmux_name" list-panes -t t -F '#{pane_pid}')" -x zwatch)
[ -n "$pid" ] && kill -KILL "$pid" || bad "zwatch is not found"
wait_until 15 is_over && echo "ok: nothing is left of a zwatch that is killed while frozen" || bad "$(inside) processes are left"
exit 0
