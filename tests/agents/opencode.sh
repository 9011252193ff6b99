#!/bin/bash
# opencode itself.
. "${ZW_SRC:?}/tests/agents/lib.sh"
install npm
install npm-agents @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33
api_start
agent=opencode
export ANTHROPIC_API_KEY=sk-ant-dummy OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_MODELS_FETCH=1 DOCKER_HOST=unix://$W/docker.sock
prepare() {
	mkdir -p "$HOME/.config/opencode"
	cat >"$HOME/.config/opencode/opencode.json" <<-P
		{ "model": "anthropic/claude-sonnet-4-5", "permission": { "bash": "ask" }, "provider": { "anthropic": {
		  "options": { "baseURL": "http://127.0.0.1:$port/v1", "apiKey": "sk-ant-dummy" } } } }
	P
}
ready() { tt_has 'Ask anything'; }
agree() {
	tt_wait 'Allow once' 60
	sleep 1
	tt_keys Enter
}
unpaste() { tt_keys C-c; }
leave() { tt_keys C-c; }
asked='^[^ ]* anthropic .*tools=\[[^]]'
# How long it took and what it cost, and what is left of one emoji out of several.
same_enough='s/ · [0-9.]+m?s$//; s/( · \$0\.00)? +ctrl.p commands/ ctrl+p commands/; s/👩.*é/👩 é/'
# Its hint at the start is another one each time; the first code waits for the reader of its language, however long.
compare="long small large paste"
in_both
tool
