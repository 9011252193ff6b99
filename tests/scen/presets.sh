#!/bin/bash
# SPDX-License-Identifier: MIT
# Presets that do more than name folders: stand-ins for the agents show what they would find. The agents
# themselves: tests/agents.
. "${ZW_SRC:?}/tests/support/lib.sh"

# What an agent reads by itself in the project is no folder for it; for others one stands there.
mkdir "$W/bin"
printf '#!/bin/sh\nfor f in opencode.json .opencode .aider.conf.yml; do stat -c "%%n %%F" $f; done; cat .aider.conf.yml 2>/dev/null; echo "$@"\n' >"$W/bin/opencode"
chmod +x "$W/bin/opencode"
for a in aider codex; do cp "$W/bin/opencode" "$W/bin/$a"; done
config <<<"{ \"filesystem\": { \"allowRead\": [\"$W/bin\"] } }"
export PATH=$W/bin:$PATH
same "opencode reads its files as empty" "opencode.json character special file|.opencode directory|.aider.conf.yml directory||" \
	"$(timeout 60 "$zwatch" opencode 2>&1 </dev/null | tr '\n' '|')"
has "aider reads a mapping" '^\{\}$' "$(timeout 60 "$zwatch" aider 2>&1 </dev/null)"
has "codex comes without a sandbox and a service of its own" '^-c sandbox_mode="danger-full-access" -c features.daemon_auto_start=false -c analytics.enabled=false exec x$' \
	"$(timeout 60 "$zwatch" codex exec x 2>&1 </dev/null)"
same "nothing of it is left" "" "$(ls -A "$project" | grep -E 'opencode|aider')"
exit 0
