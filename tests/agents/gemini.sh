#!/bin/bash
# Gemini CLI itself.
. "${ZW_SRC:?}/tests/agents/lib.sh"
install npm
install npm-agents @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33
api_start
agent=gemini
export GEMINI_API_KEY=dummy GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:$port DOCKER_HOST=unix://$W/docker.sock
prepare() {
	mkdir -p "$HOME/.gemini"
	cat >"$HOME/.gemini/settings.json" <<-'P'
		{ "security": { "auth": { "selectedType": "gemini-api-key" }, "folderTrust": { "enabled": false } },
		  "general": { "enableAutoUpdate": false }, "privacy": { "usageStatisticsEnabled": false } }
	P
}
# It takes words before it is ready, and says so on the screen.
ready() {
	tt_has 'Type your message' || return
	sleep 10
}
agree() {
	tt_wait 'Allow once' 60
	sleep 1
	tt_keys Enter
}
unpaste() { tt_keys C-c; }
# Twice, soon after one another.
leave() {
	tt_keys C-c
	sleep 0.3
	tt_keys C-c
}
asked='^[^ ]* gemini '
same_enough='s/x^//'
# When a terminal grows it may bring lines back from its history or not, and gemini draws below them.
compare="start chat long"
in_both
tool
