#!/bin/bash
# Z146: every option has an effect or is an error; its variable does the same; what says the opposite of
# something else is refused; help and version need no terminal.
. "${ZW_SRC:?}/tests/support/lib.sh"

# Each option stands in some test, by its word or by its letter.
while IFS='=' read -r word letter; do
	grep -rqE --include='*.sh' --include='*.py' -e "--$word\b${letter:+|[ \"]-$letter\b}" "$ZW_SRC/tests" || bad "Z146 --$word stands in no test"
done < <(sed -n "s/^ZW_OPT([A-Z_]*, \"\([a-z-]*\)\", \(0\|'\(.\)'\).*/\1=\3/p" "$ZW_SRC/src/main/opt.def")
run() { "$zwatch" "$@" 2>&1 </dev/null; }
status_of() { "$zwatch" "$@" >/dev/null 2>&1 </dev/null; echo $?; }

# without a terminal, in any order
for w in --help -h help; do has "Z146 $w" '^usage: zwatch' "$(run $w)"; done
for w in --version -V version; do has "Z146 $w" '^zwatch [0-9]' "$(run $w)"; done
same "Z146 an unknown option" 2 "$(status_of --alow x run -- true)"
has "Z146 and its nearest" "Did you mean '--allow'" "$(run --alow x run -- true)"
same "Z146 an argument is missing" 2 "$(status_of --mode)"
same "Z146 an argument too many" 2 "$(status_of --quiet=1 run -- true)"
has "Z146 an empty command" 'run what' "$(run run)"

# a word that is none of an option's
for o in mode on-ask ui color format; do
	has "Z146 --$o=wrong" "'wrong' is no --$o: it is .*\|" "$(run --$o wrong run -- true)"
	same "Z146 --$o=wrong: status" 2 "$(status_of --$o wrong run -- true)"
done
for o in hold allow deny allow-unix ro rw hide; do
	case $o in hold) v=soon ;; ro | rw | hide) v='~nobody/x' ;; *) v='a b' ;; esac
	same "Z146 --$o=$v" 4 "$(status_of --$o "$v" run -- true)"
done
# the same by a variable
same "Z146 ZWATCH_MODE=wrong" 4 "$(ZWATCH_MODE=wrong status_of run -- true)"
has "Z146 ZWATCH_MODE=wrong is named" 'ZWATCH_MODE' "$(ZWATCH_MODE=wrong run run -- true)"
same "Z146 ZWATCH_HOLD=wrong" 4 "$(ZWATCH_HOLD=soon status_of run -- true)"
same "Z146 ZWATCH_UI=wrong" 2 "$(ZWATCH_UI=wrong status_of run -- true)"
same "Z146 ZWATCH_ON_ASK=wrong" 2 "$(ZWATCH_ON_ASK=wrong status_of run -- true)"
same "Z146 ZWATCH_CONFIG=missing" 4 "$(ZWATCH_CONFIG=$W/missing status_of run -- true)"

# the option and its variable have the same effect, and the option wins
same "Z146 --mode" strict "$(run --mode strict config get mode)"
same "Z146 ZWATCH_MODE" strict "$(ZWATCH_MODE=strict run config get mode)"
same "Z146 --mode over ZWATCH_MODE" watch "$(ZWATCH_MODE=strict run -m watch config get mode)"
same "Z146 --hold" 7s "$(run --hold 7 config get prompt.holdSite)"
same "Z146 ZWATCH_HOLD" 7s "$(ZWATCH_HOLD=7 run config get prompt.holdSocket)"
echo '{ "mode": "strict" }' >"$W/other.json"
same "Z146 --config" strict "$(run --config "$W/other.json" config get mode)"
same "Z146 ZWATCH_CONFIG" strict "$(ZWATCH_CONFIG=$W/other.json run config get mode)"
echo '{ "mode": "watch" }' >"$W/third.json"
same "Z146 --config over ZWATCH_CONFIG" watch "$(ZWATCH_CONFIG=$W/other.json run --config "$W/third.json" config get mode)"
same "Z146 an empty variable is none" guard "$(ZWATCH_MODE='' ZWATCH_HOLD='' ZWATCH_UI='' ZWATCH_ON_ASK='' run config get mode)"
export ZWATCH_DB=$W/else/h.db
mkdir "$W/else"
run run -- true
[ -e "$ZWATCH_DB" ] && [ ! -e "$HOME/.local/state/zwatch/history.db" ] && echo "ok: Z146 ZWATCH_DB" || bad "Z146 ZWATCH_DB"
unset ZWATCH_DB

# for the program inside
same "Z146 --env NAME=VALUE" "x y" "$(run --env "A=x y" run -- sh -c 'echo "$A"' | grep -v '^zwatch')"
same "Z146 --env NAME" fromhere "$(ZZ=fromhere "$zwatch" --env ZZ run -- sh -c 'echo "$ZZ"' 2>/dev/null </dev/null)"
same "Z146 --clear-env" "" "$(LANGUAGE=de "$zwatch" --clear-env run -- sh -c 'echo "$LANGUAGE"' 2>/dev/null </dev/null)"
mkdir sub
same "Z146 -C" "$project/sub" "$(run -C sub run -- pwd | grep -v '^zwatch')"
same "Z146 -C nowhere" 2 "$(status_of -C nowhere run -- true)"
echo hello >seen
same "Z146 --hide" "" "$(run --hide seen run -- cat seen | grep hello)"
run --ro seen run -- sh -c 'echo more >>seen' >/dev/null
same "Z146 --ro" hello "$(cat seen)"
mkdir "$HOME/w"
run --rw "$HOME/w" run -- sh -c 'echo made >"$HOME/w/x"' >/dev/null
same "Z146 --rw" made "$(cat "$HOME/w/x" 2>&1)"
same "Z146 -q" "" "$(run -q run -- true)"
has "Z146 -v" 'session [0-9]+, ' "$(run -v run -- true)"

# about the record
run run -- curl -s http://refused.example/ >/dev/null
has "Z146 log -f ends with its session" '"kind"' "$(timeout 60 "$zwatch" log -f last --format ndjson </dev/null)"
run export last --format csv -o "$W/out.csv" >/dev/null
[ -s "$W/out.csv" ] && echo "ok: Z146 export -o" || bad "Z146 export -o"
[ "$(TZ=Asia/Tokyo run show last)" != "$(TZ=Asia/Tokyo run --utc show last)" ] && echo "ok: Z146 --utc" || bad "Z146 --utc"
run db prune --keep 1h --dry-run --max-size 1M >/dev/null
same "Z146 db prune --keep" 0 $?
same "Z146 db prune --keep=soon" 2 "$(status_of db prune --keep soon --dry-run)"
same "Z146 ask deny --all, with nobody asking" "$(status_of ask deny --all --for session)" "$(status_of ask deny --all)"

# opposites
for pair in '--on-ask wait --no-input' '--on-ask prompt --no-input' '-q -v' '--record --private' '--dry-run -y'; do
	# shellcheck disable=SC2086 # words
	same "Z146 $pair" 2 "$(status_of $pair run -- touch started)"
	# shellcheck disable=SC2086
	has "Z146 $pair: why" 'say the opposite of each other' "$(run $pair run -- true)"
done
same "Z146 --on-ask deny --no-input says the same" 0 "$(status_of --on-ask deny --no-input run -- true)"
[ -e started ] && bad "Z146 the program ran"
same "Z146 --ascii --no-mouse are taken" 0 "$(status_of --ascii --no-mouse run -- true)"
exit 0
