#!/bin/bash
# codex itself. Its service, running outside from an earlier start, is not reached from inside.
. "${ZW_SRC:?}/tests/agents/lib.sh"
install npm
install npm-agents @openai/codex@0.171.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33
api_start
agent=codex
export OPENAI_API_KEY=sk-dummy DOCKER_HOST=unix://$W/docker.sock
prepare() {
	mkdir -p "$HOME/.codex"
	cat >"$HOME/.codex/config.toml" <<-P
		model = "gpt-5"
		model_provider = "fake"
		check_for_update_on_startup = false
		[model_providers.fake]
		name = "fake"
		base_url = "http://127.0.0.1:$port/v1"
		env_key = "OPENAI_API_KEY"
		wire_api = "responses"
		[projects."$project"]
		trust_level = "trusted"
	P
}
ready() { tt_has '← for agents'; }
agree() { :; }
unpaste() { tt_keys C-c; }
leave() { tt_keys C-d; }
asked='^[^ ]* responses .*tools=\[[^]]'
same_enough='s/Worked for.*//'
# Its list of plugins (two ways) and its news, for which it has no switch: more than one, each asked about once.
others_max=3
in_both
tool
# Its service outside would stay for ever.
for p in /proc/[0-9]*; do
	case $(readlink "$p/exe") in "$W"/*) pids="$pids ${p#/proc/}" ;; esac
done
