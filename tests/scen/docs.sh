#!/bin/bash
# The manual: every page renders, says what the tables say, and is what `zwatch help` shows; the
# completions are valid programs of their shells and offer what there is.
. "${ZW_SRC:?}/tests/support/lib.sh"
doc=$ZW_BUILD/doc

[ -s "$doc/man/zwatch.1" ] || bad "the pages were not made"
for page in "$doc"/man/*; do
	name=${page##*/}
	if command -v groff >/dev/null; then
		warnings=$(groff -man -Tutf8 -rLL=78n -ww "$page" 2>&1 >/dev/null | grep -v "cannot adjust line\|can't break line")
		same "$name renders without a warning" "" "$warnings"
	fi
	grep -q '^\.SH NAME' "$page" || bad "$name has no NAME"
done
# what the help lists, the manual has
for word in $("$zwatch" help | sed -n 's/^ .*  --\([a-z-]*\).*/\1/p; s/^      --\([a-z-]*\).*/\1/p; s/^  -., --\([a-z-]*\).*/\1/p' | sort -u); do
	grep -q -- "\\\\-\\\\-$(printf %s "$word" | sed 's/-/\\\\-/g')" "$doc/man/zwatch.1" || bad "--$word is not in zwatch(1)"
done
for key in $("$zwatch" config keys | awk '/^[a-z]/ {print $1}'); do
	grep -qF "$key" "$doc/text/zwatch-config.txt" || bad "$key is not in zwatch-config(5)"
done
n=$(python3 -c 'import json,sys; print(len(json.load(open(sys.argv[1]))["classes"]))' "$ZW_SRC/data/sockets.json")
[ "$(grep -cE '\((harmless|low|HIGH|CRITICAL)\)$' "$doc/text/zwatch-sockets.txt")" -ge "$n" ] || bad "classes are missing in zwatch-sockets(7)"
# pages that are named exist
for ref in $(grep -ohE '`zwatch(-[a-z]+)?`\([0-9]\)' "$ZW_SRC"/data/doc/*.txt | tr -d '`' | sort -u); do
	name=${ref%(*} section=${ref#*(}
	[ -f "$doc/man/$name.${section%)}" ] || bad "$ref is named and does not exist"
done

for topic in zwatch config filter sockets security; do
	out=$("$zwatch" help $topic)
	same "help $topic" 0 $?
	has "help $topic: a page" '^NAME' "$out"
done
err=$("$zwatch" help filtr 2>&1)
same "help on nothing" 2 $?
has "near topic" "Did you mean 'filter'" "$err"

bash -n "$doc/completion/bash" && echo "ok: bash takes its completion" || bad "bash completion"
got=$(bash -c '. "$1"; COMP_WORDS=(zwatch hist) COMP_CWORD=1; _zwatch; echo "${COMPREPLY[*]}"' - "$doc/completion/bash")
same "bash completes a command" history "$got"
got=$(bash -c '. "$1"; COMP_WORDS=(zwatch --mode st) COMP_CWORD=2; _zwatch; echo "${COMPREPLY[*]}"' - "$doc/completion/bash")
same "bash completes a choice" strict "$got"
got=$(bash -c '. "$1"; COMP_WORDS=(zwatch db ver) COMP_CWORD=2; _zwatch; echo "${COMPREPLY[*]}"' - "$doc/completion/bash")
same "bash completes a word of a command" verify "$got"
if command -v zsh >/dev/null; then zsh -n "$doc/completion/zsh" && echo "ok: zsh takes its completion" || bad "zsh completion"; fi
if command -v fish >/dev/null; then fish -n "$doc/completion/fish" && echo "ok: fish takes its completion" || bad "fish completion"; fi
exit 0
