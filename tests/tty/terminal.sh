#!/bin/bash
# What the agent does with its terminal besides printing is recorded: clipboard refused and set, notices,
# links that the user copied; storms as counts, texts bounded and masked, no path of any address; shown
# and exported. And --private: nothing of it is kept, all is still enforced, and it is said.
. "${ZW_SRC:?}/tests/support/lib.sh"
. "${ZW_SRC:?}/tests/support/tmux.sh"
cat >"$project/storm.py" <<'P'
import sys, time
out = sys.stdout.buffer
for i in range(40):
    out.write(b"\x1b]52;c;ZXZpbA==\x07")
    out.write(b"\x1b]9;notice %d token=ghp_abcdefghijklmnopqrstuvwxyz0123456789 \x07" % i)
    if i % 10 == 0:
        out.flush(); time.sleep(0.1)
out.write(b"\x1b]52;c;?\x07\x1b]777;notify;" + b"t" * 3000 + b";b\x07")
out.write(b"\x1b]8;;https://user:secret@example.com/a?b=c\x1b\\click\x1b]8;;\x1b\\ here\r\n")
out.flush()
sys.stdin.readline()
P
cat >"$project/agent.sh" <<'S'
python3 storm.py
curl -sS -o /dev/null --max-time 20 http://refused.test/hidden/path; echo "site=$?"
read x
S
tt_start 100x30 "$zwatch" --deny refused.test run -- bash agent.sh
tt_wait '^click here'
tt_prefix
tt_keys '['
tt_wait 'SCROLL|line'
tt_type '/click here'
tt_keys Enter
tt_wait 'c copies https://'
tt_keys c
tt_keys q
tt_keys Enter
tt_wait 'site=[0-9]'
tt_keys Enter
tt_wait '\[exit 0\]'
tt_wait 'session 1, .* new thing'
tt_wait 'review: zwatch show 1'
events=$("$zwatch" log last 'kind:terminal')
has "setting the clipboard is recorded" 'wanted to set the clipboard; refused  ' "$events"
has "and so is reading it" 'wanted to read the clipboard; refused  ' "$events"
has "the storm is a count" 'wanted to set the clipboard; refused \([0-9]+ times\)' "$events"
has "a notice, with its text" 'notice of the agent: notice 0' "$events"
has "the other notices as a count" 'notice of the agent \([0-9]+ times\)' "$events"
has "a link: where it leads" 'copied by the user: https://example.com  ' "$events"
hasnt "no path, no query, no user" 'a\?b=c|secret|/a' "$(printf '%s' "$events" | grep link)"
hasnt "no token" 'ghp_' "$("$zwatch" log last --json)"
same "few rows" yes "$([ "$(printf '%s\n' "$events" | wc -l)" -le 8 ] && echo yes)"
n=$(printf '%s\n' "$events" | sed -n 's/.*set the clipboard; refused.*(\([0-9]*\) times).*/\1/p' | awk '{ n += $1 } END { print n }')
same "all 40 are counted" 39 "$n"
n=$(printf '%s\n' "$events" | sed -n 's/.*notice of the agent (\([0-9]*\) times).*/\1/p' | awk '{ n += $1 } END { print n }')
same "all 41 notices are counted" 40 "$n"
longest=$(printf '%s\n' "$events" | awk '{ if (length($0) > n) n = length($0) } END { print n }')
[ "$longest" -lt 400 ] && echo "ok: texts are bounded" || bad "a row of $longest characters"
has "exported" 'terminal.*wanted to set the clipboard' "$("$zwatch" export last kind:terminal)"
has "exported as JSON" '"kind": ?"terminal"' "$("$zwatch" export last kind:terminal --format ndjson)"
tt_start 100x30 "$zwatch" history
tt_wait 'Sessions +1'
tt_keys Enter
tt_wait 'terminal +.*clipboard'
tt_keys q q
tt_wait '\[exit 0\]'

# --private: said on the screen, enforced, and only sums are kept
tt_start 100x30 "$zwatch" --private --deny refused.test run -- bash agent.sh
tt_wait 'PRIVATE'
tt_wait '^click here'
tt_keys Enter
tt_wait 'site=[0-9]'
tt_keys Enter
tt_wait '\[exit 0\]'
same "no event is kept" 0 "$("$zwatch" log 2 --json | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))' 2>/dev/null || echo 0)"
has "its sums are" '1' "$("$zwatch" history --json | python3 -c 'import json,sys; print([s["deny"] for s in json.load(sys.stdin) if s["session"] == 2])')"
has "and it says so" 'private' "$("$zwatch" show 2)"
"$zwatch" history rm --yes 1 >/dev/null
same "what is left has no name of a site" 0 "$(cat "$HOME/.local/state/zwatch"/history.db* | strings -a | grep -c 'refused.test')"
exit 0
