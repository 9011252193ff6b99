#!/bin/bash
# What stays read-only in writable folders: repositories, editors, home. Z029 to Z035, Z039, Z041.
# Not below /tmp, which is another one inside; nor in a repository.
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v git >/dev/null || skip "git is not installed"
# This test makes and removes repositories: it does so in its own folder or not at all.
[ -n "$W" ] && [ "$PWD" = "$W/project" ] || exit 1
export GIT_CEILING_DIRECTORIES=$W
unset GIT_DIR GIT_WORK_TREE
export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b

run() { "$zwatch" "${options[@]}" run -- "$@" 2>&1 </dev/null; }
options=()
# tries PATH...: what comes of appending to each
tries() { run sh -c 'for f; do mkdir -p "$(dirname "$f")" 2>/dev/null; (echo x >>"$f") 2>/dev/null && echo "yes $f" || echo "no $f"; done' sh "$@"; }
# left: every file of the project but git's own
left() { find . -path ./.git/objects -prune -o -print | sort; }

git init -q .
echo one >f && git add f && git commit -qm one
before=$(left)
same "repository: hooks, config, commondir closed, the rest open" \
	"no .git/hooks/pre-commit
no .git/config
no .git/commondir
yes .git/description
no .vscode/tasks.json
no .idea/x.xml" \
	"$(tries .git/hooks/pre-commit .git/config .git/commondir .git/description .vscode/tasks.json .idea/x.xml)"
same "nothing is left in the project" "$before" "$(left)"
same "git commit, branch, status, gc" "On branch b
nothing to commit, working tree clean" \
	"$(run sh -c 'echo two >f && git commit -qam two && git checkout -qb b && git gc -q && git status')"
cp -a "$project/.git" "$W/saved.git"
same "Z031 .git cannot be replaced" "kept" \
	"$(run sh -c 'mv .git .g 2>/dev/null || rm -rf .git 2>/dev/null; test -f .git/config && echo kept')"
cp -a "$W/saved.git/." "$project/.git/"
mv "$project/.git" "$project/real.git" && ln -s real.git "$project/.git"
same "Z029 a .git that is a link: neither it nor what it leads to can be replaced" "kept real.git real.git/config" \
	"$(run sh -c 'mv .git .g 2>/dev/null || mv real.git .g 2>/dev/null || ln -sfn /nowhere .git 2>/dev/null || (echo x >>.git/config) 2>/dev/null || echo kept $(readlink .git) $(ls real.git/config)')"
rm "$project/.git" && mv "$project/real.git" "$project/.git"
same "a repository of the agent's own" "ok" "$(run sh -c 'git init -q sub && cd sub && git config a.b c && echo ok')"
rm -rf "$project/sub"

rm -r "$project/.git/hooks"
same "no hooks folder: cannot be made" "no .git/hooks/pre-commit" "$(tries .git/hooks/pre-commit)"
[ -e .git/hooks ] && bad "hooks folder left behind"
mkdir .husky .git/hooks && git config core.hooksPath .husky
same "core.hooksPath" "no .husky/pre-commit" "$(tries .husky/pre-commit)"
git config --unset core.hooksPath
before=$(left)
same "settings that run code cannot be made where they are missing" "no .mcp.json
no .envrc
no opencode.json
no .claude/settings.json
no .claude/settings.local.json
no .claude/hooks/x
no .devcontainer.json
no .gemini/settings.json" "$(tries .mcp.json .envrc opencode.json .claude/settings.json .claude/settings.local.json .claude/hooks/x .devcontainer.json .gemini/settings.json)"
same "nothing of it is left" "$before" "$(left)"
same "nor seen by git, inside and outside, add and clean" "clean" \
	"$(run sh -c 'git add -A && git status --porcelain && git stash -u -q 2>/dev/null; git status --porcelain; echo clean')"
"$zwatch" run -- sh -c 'touch running; exec sleep 60' </dev/null >/dev/null 2>&1 &
session=$!
wait_until 20 test -e running
rm running
same "git outside meanwhile" "" "$(git status --porcelain)"
kill -9 $session
wait $session 2>/dev/null
is_as_before() { [ "$(left)" = "$before" ]; }
wait_until 60 is_as_before
same "killed: nothing is left" "$before" "$(left)"
mkdir .claude && echo '{}' >.claude/settings.json && echo '{}' >.zwatch.json && echo '{}' >.mcp.json
same "settings that run code" "no .claude/settings.json
no .mcp.json
no .zwatch.json" "$(tries .claude/settings.json .mcp.json .zwatch.json)"
(cd "$project" && rm -r .claude .zwatch.json .mcp.json)
config <<<'{ "filesystem": { "allowWrite": [".git/config", ".vscode"] } }'
same "allowWrite lifts it" "yes .git/config
yes .vscode/tasks.json
no .git/hooks/x" "$(tries .git/config .vscode/tasks.json .git/hooks/x)"
rm -r "$project/.vscode" "$HOME/.config/zwatch/config.json"
sed -i '/^x$/d' "$project/.git/config"

# a work tree, and a submodule, of a repository elsewhere
main=$project
git worktree add -q "$W/wt" -b wt
cd "$W/wt" || exit 1
same "work tree: git commits" "3" "$(run sh -c 'echo w >w && git add w && git commit -qm w && git rev-list --count HEAD')"
same "work tree: main repository's hooks and config, and its files" "no $main/.git/hooks/x
no $main/.git/config
no $main/f
no $main/.git/commondir
no $main/.git/worktrees/wt/commondir
no .git" "$(tries "$main/.git/hooks/x" "$main/.git/config" "$main/f" "$main/.git/commondir" "$main/.git/worktrees/wt/commondir" .git)"
mkdir -p "$W/evil/objects" "$W/evil/refs" "$W/evil/worktrees" "$W/fake/g" && cd "$W/fake" || exit 1
printf 'gitdir: %s\n' "$W/fake/g" >.git
printf '%s\n' "$W/evil" >g/commondir
printf '%s\n' "$W/fake/.git" >g/gitdir
same "a forged work tree opens nothing" "no $W/evil/x" "$(tries "$W/evil/x")"
cd "$main" || exit 1
git clone -q "$main" "$W/lib" 2>/dev/null
git -c protocol.file.allow=always submodule add -q "$W/lib" lib 2>/dev/null && git commit -qm sub
same "submodule's own hooks and config" "no .git/modules/lib/hooks/x
no .git/modules/lib/config
yes .git/modules/lib/description" "$(tries .git/modules/lib/hooks/x .git/modules/lib/config .git/modules/lib/description)"
cd lib || exit 1
same "started in a submodule" "ok" "$(run sh -c 'echo s >s && git add s && git commit -qm s && echo ok')"
cd "$main" || exit 1
git worktree add -q "$W/wt2" -b wt2
git -c protocol.file.allow=always submodule add -q "$W/lib" parts/deep/lib 2>/dev/null && git commit -qm sub2
(cd parts/deep/lib && git -c protocol.file.allow=always submodule add -q "$W/lib" inner 2>/dev/null)
same "a submodule whose name has slashes, one in a submodule, another work tree" "no .git/modules/parts/deep/lib/config
no .git/modules/parts/deep/lib/hooks/x
no .git/modules/parts/deep/lib/modules/inner/config
no .git/worktrees/wt2/commondir
no .git/worktrees/wt2/config.worktree
yes .git/modules/parts/deep/lib/description" "$(tries .git/modules/parts/deep/lib/config .git/modules/parts/deep/lib/hooks/x .git/modules/parts/deep/lib/modules/inner/config .git/worktrees/wt2/commondir .git/worktrees/wt2/config.worktree .git/modules/parts/deep/lib/description)"
echo '[user]' >shared.cfg && git config include.path ../shared.cfg
same "include.path" "no shared.cfg" "$(tries shared.cfg)"
git config --unset include.path && rm shared.cfg
cd lib || exit 1
same "its repository" "no $main/.git/modules/lib/config
no $main/.git/config" "$(tries "$main/.git/modules/lib/config" "$main/.git/config")"
cd "$main" || exit 1

# Z034 spellings of a rule
mkdir -p deny/in "$HOME/deny"
for spelling in deny deny/ ./deny "$main/deny" deny/../deny; do
	config <<<"{ \"filesystem\": { \"denyWrite\": [\"$spelling\"] } }"
	same "Z034 denyWrite $spelling" "no deny/x" "$(tries deny/x)"
done
for spelling in '~/deny' '$HOME/deny' "$HOME/deny/"; do
	config <<<"{ \"filesystem\": { \"allowWrite\": [\"~\"], \"denyWrite\": [\"$spelling\"] } }"
	same "Z034 denyWrite $spelling" "no $HOME/deny/x" "$(tries "$HOME/deny/x")"
done
for spelling in 'deny/*' 'deny/**' '~other/x' '$NOWHERE/x' ''; do
	config <<<"{ \"filesystem\": {
\"denyWrite\": [\"$spelling\"] } }"
	has "Z034 denyWrite '$spelling' is refused, with its line" 'config.json:2' "$(tries deny/x)"
done
for rule in denyWrite denyRead; do
	config <<<"{ \"filesystem\": { \"$rule\": [\"missing\", \"new/deep\"] } }"
	same "Z034 $rule of what is not there: it cannot be made" "no missing/x
no new/deep/x
yes new/x" "$(tries missing/x new/deep/x new/x)"
	same "Z034 $rule: nothing is left but what was made" "new new/x" "$(find missing new 2>/dev/null | xargs)"
	rm -rf "$project/new"
done
config <<<'{ "filesystem": { "allowWrite": [".", "~/nowhere"] } }'
has "Z034 allowWrite of what is not there: says so" "allowWrite: .*/nowhere is not there" "$(run true)"

# denyRead, allowRead, denyWrite, allowWrite in one another
mkdir -p a/b/c && echo secret | tee a/s a/b/s a/b/c/s >/dev/null
look() { run sh -c 'for d in a a/b a/b/c; do cat $d/s 2>/dev/null || echo -; (echo x >>$d/n) 2>/dev/null && echo w || echo r; done' | tr -d '\n'; rm -f a/n a/b/n a/b/c/n; }
config <<<'{ "filesystem": { "denyRead": ["a"], "allowRead": ["a/b"], "allowWrite": ["a/b/c"] } }'
same "hidden, shown, writable" "-rsecretrsecretw" "$(look)"
config <<<'{ "filesystem": { "allowWrite": ["a/b/c"], "denyWrite": ["a"], "denyRead": ["a/b"] } }'
same "read-only, hidden, writable" "secretr-rsecretw" "$(look)"
config <<<'{ "filesystem": { "denyRead": ["a/b/c"], "denyWrite": ["a/b"] } }'
same "writable, read-only, hidden" "secretwsecretr-r" "$(look)"
config <<<'{ "filesystem": { "denyRead": ["a/b"], "allowRead": ["a/b"] } }'
same "shown where it was hidden: read-only" "secretwsecretrsecretr" "$(look)"
ln -s a/b/c toc
config <<<'{ "filesystem": { "denyRead": ["toc"] } }'
same "Z029 a rule on a link" "secretwsecretw-r" "$(look)"
mkdir "$W/far" && echo far >"$W/far/s" && ln -s "$W/far" src
config <<<'{ "filesystem": { "allowWrite": [".", "src", "toc"] } }'
has "Z030 a link out of the project, in allowWrite: not followed" "no src/x" "$(tries src/x)"
has "Z030 says so" "src is a link in a folder that the agent may write" "$(run true)"
same "Z030 nor when it is changed meanwhile" "no $W/far/x" "$(run sh -c 'ln -sfn '"$W"'/far src; cd src && (echo x >x) 2>/dev/null && echo yes || echo no '"$W"'/far/x' | grep -v '^zwatch: note')"
ln -s "$W/far" "$HOME/out"
config <<<'{ "filesystem": { "allowWrite": [".", "~/out"] } }'
same "a link of the user's own is followed" "yes $W/far/x" "$(tries "$W/far/x")"
rm "$W/far/x" "$HOME/out"
config <<<'{ "filesystem": { "denyRead": ["loop1"] } }'
ln -s loop1 loop2 && ln -s loop2 loop1
has "Z029 a rule on a loop of links" "loop1" "$(run echo started)"
rm loop1 loop2
rm "$HOME/.config/zwatch/config.json"

# Z033 all closed but what is named
config <<<"{ \"filesystem\": { \"denyRead\": [\"$W\"], \"allowRead\": [] } }"
same "Z033 hidden all around the project" "f" "$(run sh -c "ls f; ls -A $W | grep -v -e project -e home -e run; exit 0")"
rm "$HOME/.config/zwatch/config.json"

# Home: started in it
cd "$HOME" || exit 1
echo 'echo hi' >.bashrc && mkdir -p .ssh/x .config/fish && echo k >.ssh/key
before=$(find . -path ./.local -prune -o -print | sort)
same "started in home: what runs code is closed" "no .bashrc
no .zshrc
no .profile
no .bash_profile
no .config/autostart/x
no .config/systemd/user/x
no .config/fish/config.fish
no .local/bin/ls
no .ssh/authorized_keys
no .config/zwatch/config.json
no .local/state/zwatch/x
no .gitconfig
yes notes/x" "$(tries .bashrc .zshrc .profile .bash_profile .config/autostart/x .config/systemd/user/x .config/fish/config.fish .local/bin/ls .ssh/authorized_keys .config/zwatch/config.json .local/state/zwatch/x .gitconfig notes/x)"
rm -r notes
same "the ways there cannot be moved" "kept" "$(run sh -c 'mv .config .c 2>/dev/null || mv .local .l 2>/dev/null || echo kept')"
same "nothing is left in home" "$before" "$(find . -path ./.local -prune -o -print | sort)"
hasnt "keys stay hidden" "^k$" "$(run cat .ssh/key)"
cd "$W" || exit 1
same "started above home: the same" "no home/.bashrc
no home/.zshrc
yes x" "$(tries home/.bashrc home/.zshrc x)"
rm -f x

# started where there cannot be a project
cd / || exit 1
err=$(run echo started)
same "started in /: exit status" 3 $?
has "started in /: says so" "Start in a folder|another folder" "$err"
hasnt "started in /: the program did not run" "^started" "$err"
cd "$project" || exit 1
real_home=$HOME
export HOME=$W/none/home
same "HOME missing: works" "started" "$(run echo started | grep -v '^zwatch: note')"
unset HOME
has "HOME unset: works" "started" "$(run echo started)"
export HOME=$real_home
exit 0
