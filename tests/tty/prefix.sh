#!/bin/bash
# SPDX-License-Identifier: MIT
# Another key calls zwatch: hints name it, it opens what the usual one does, and the usual one is the agent's.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
serve_unix "$W/low.sock" "$W/served" 2>/dev/null
config <<<'{ "keys": { "prefix": ["C-a"] } }'
cat >"$project/agent.py" <<P
import os, socket, tty
tty.setraw(0)
print("READY", flush=True)
while True:
    got = os.read(0, 64)
    if b"q" in got:
        break
    print("GOT", got.hex(), end="\r\n", flush=True)
    if b"s" in got:
        try:
            socket.socket(socket.AF_UNIX).connect("$W/low.sock")
        except OSError:
            print("REFUSED", end="\r\n", flush=True)
P
tt_start 100x30 "$zwatch" run -- python3 agent.py
tt_wait READY
tt_wait 'Ctrl-A [?] menu'
tt_keys 'C-]'
tt_wait 'GOT 1d'
tt_keys C-a '?'
tt_wait 'AFTER Ctrl-A'
tt_wait 'send Ctrl-A to the agent'
tt_keys q
tt_keys C-a C-a
tt_wait 'GOT 01'
tt_keys s
tt_wait 'Ctrl-A a answers it'
tt_keys F12
tt_keys a
tt_wait 'y/N'
tt_keys n
tt_wait 'REFUSED'
hasnt "no hint names the usual key" 'Ctrl-]' "$(tt_screen)"
tt_keys q
tt_wait '\[exit 0\]'
exit 0
