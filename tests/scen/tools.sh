#!/bin/bash
# SPDX-License-Identifier: MIT
# Everyday tools inside, against the table in zwatch(1): each row of it is run here, and comes out as it says
# (works, asks, refused). Z158 a browser without a screen, Z159 docker's CLI, Z161 installs from and into an empty
# home, Z164 a JVM that is looked into, Z168 databases outside and inside. What goes over the network is in tests/net.
# What is big to fetch (pnpm, yarn, go, maven, chromium) is run with --long, or where it is there already.
export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
if [ "$(id -u)" = 0 ]; then TMPDIR=/var/lib; else TMPDIR=$HOME; fi
. "${ZW_SRC:?}/tests/support/lib.sh"
[ -n "$W" ] && [ "$PWD" = "$W/project" ] || exit 1
manual=$ZW_SRC/data/doc/zwatch.txt
run() { timeout 120 "$zwatch" "${options[@]}" run -- sh -c "$1" 2>&1 </dev/null; }
options=()
done_rows=""

# tool ROW NEEDS WANTED COMMAND: what stands in the manual for ROW is what happens; the output has WANTED
tool() {
	local says out log
	done_rows="$done_rows|$1"
	says=$(awk -v row=": $1" '$0 == row { getline; sub(/[^a-z].*/, ""); print }' "$manual")
	[ -n "$says" ] || { bad "$1 is not in the manual"; return; }
	command -v "$2" >/dev/null && { [ "$2" != cargo ] || cargo --version >/dev/null 2>&1; } || { echo "note: $2 is not here"; return; }
	out=$(run "$4")
	log=$("$zwatch" log last --json | grep -vE 'nscd|"op":"(datagram|udp)"')
	has "$1: $says" "$3" "$out"
	case $says in
	works) same "$1: nothing was asked" "" "$(printf '%s' "$log" | grep -E '"did":"(ask|miss|deny)"' | head -n 3)" ;;
	asks) has "$1: on record as what nobody was there to answer" '"did":"(deny|miss)"' "$log" ;;
	esac
}

printf 'int main(void) { return 42; }\n' >a.c
printf 'all: a b\na b: a.c\n\tcc -g -o $@ a.c\n' >Makefile
mkdir pkg && printf '{ "name": "pkg", "version": "1.0.0" }\n' >pkg/package.json
home_before=$(cd "$HOME" && find . -path ./.local -prune -o -print | sort)
id='git -c user.name=a -c user.email=a@b'

tool "git commit signed by gpg" gpg "^G one" "export GNUPGHOME=\$PWD/keys; mkdir -m 700 keys && git init -q s1 && cd s1 &&
	gpg --batch -q --passphrase '' --quick-generate-key a@b ed25519 sign never && $id -c user.signingkey=a@b commit -q -S --allow-empty -m one && git log --format='%G? %s'"
tool "git commit signed by ssh" ssh-keygen "^G one" "git init -q s2 && cd s2 && ssh-keygen -q -t ed25519 -N '' -f k && echo \"a@b \$(cat k.pub)\" >who &&
	$id -c gpg.format=ssh -c user.signingkey=\$PWD/k commit -q -S --allow-empty -m one && git -c gpg.ssh.allowedSignersFile=\$PWD/who log --format='%G? %s'"
tool "git over https" git "403|zwatch|CONNECT|refused" "git ls-remote https://git.example.org/x.git"
tool "git over ssh" ssh "refused|closed|reset|not read from remote" "GIT_SSH_COMMAND='ssh -oBatchMode=yes -oConnectTimeout=20 -oStrictHostKeyChecking=no' \\
	git ls-remote ssh://git@git.example.org/x.git"
tool "npm install" npm "added 1 package" "npm_config_update_notifier=false npm install --no-audit --no-fund --offline --install-links ./pkg && test -d node_modules/pkg"
[ -z "${ZW_LONG:-}" ] || HOME=$W/npm "$ZW_SRC/tests/support/npm.sh" "$ZW_BUILD/../npm-pm" pnpm@9 yarn@1.22.22 || echo "note: pnpm and yarn could not be had"
if [ -e "$ZW_BUILD/../npm-pm/.complete" ]; then
	cp -a "$ZW_BUILD/../npm-pm/node_modules" "$project/pm" # where it can be seen inside, too
	PATH=$PATH:$project/pm/.bin
fi
tool "pnpm install" pnpm "pkg" "mkdir p1 && cp -r pkg p1/ && cd p1 && echo '{}' >package.json && pnpm add --offline ./pkg && test -e node_modules/pkg/package.json"
tool "yarn install" yarn "added" "mkdir p2 && cp -r pkg p2/ && cd p2 && echo '{}' >package.json && yarn add --offline file:./pkg && test -e node_modules/pkg/package.json && echo added"
tool "go build" go "^hello" "mkdir go && cd go && go mod init x.test/x && printf 'package main\nfunc main() { println(\"hello\") }\n' >m.go && go build -o x . && ./x"
tool "maven" mvn "ERROR" "mkdir mvn && cd mvn && echo '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version></project>' >pom.xml &&
	mvn -B -q -Dmaven.repo.local=\$PWD/repo package"
tool "cargo build" cargo "^hello" "cargo init -q --vcs none --name x rs && cd rs && printf 'fn main() { println!(\"hello\"); }' >src/main.rs && cargo -q run --offline"
tool "make -j" cc "^42" "make -s -j4 && ./b; echo \$?"
tool "gdb" gdb "exited with code 052" "cc -g -o g a.c && gdb -q -batch -nx -ex run ./g"
tool "vim" vim "^edited" "printf 'x\n' >t && vim -N -u NONE -i NONE -es -c '%s/x/edited/' -c wq t; cat t"
tool "tmux" tmux "^own: 1 windows" "tmux -L own -f /dev/null new-session -d -s own 'sleep 60' && tmux -L own list-sessions && tmux -L own kill-server"
tool "sudo" sudo "no new privileges|not allowed|not setuid|effective uid|owned by uid" "sudo -n true"
tool "jcmd, jstack" jcmd "JDK [0-9]" "printf 'public class S { public static void main(String[] a) throws Exception { Thread.sleep(60000); } }' >S.java && javac S.java &&
	{ java -Xshare:auto S & } && n=0; until jcmd | grep -E ' S$'; do sleep 0.2; [ \$((n += 1)) -lt 200 ] || exit 1; done; jcmd S VM.version; kill \$!"
. "$ZW_SRC/tests/support/ports.sh"
take_ports
serve="require('http').createServer((q, r) => r.end('served inside')).listen($port, '127.0.0.1', () => console.log('listening'))"
printf '%s\n' "$serve" >serve.js
tool "node as a web server" node "^listening" "timeout 5 node serve.js"
if command -v node >/dev/null; then
	config <<<"{ \"network\": { \"publishPorts\": [$port] } }"
	mkfifo over
	run "timeout 100 node serve.js & read x <over" >"$W/out" &
	served() { curl -sS --noproxy '*' --max-time 5 "http://127.0.0.1:$port/" | grep -q 'served inside'; }
	wait_until 30 served && echo "ok: published by the settings it is reached" || bad "it is not published: $(cat "$W/out")"
	echo >over
	config <<<'{}'
fi
if [ -n "${ZW_LONG:-}" ]; then
	tool "chromium --headless" chromium "<p>hi</p>" "chromium --headless --no-sandbox --disable-gpu --user-data-dir=\$PWD/chromium --dump-dom 'data:text/html,<p>hi</p>'"
else
	done_rows="$done_rows|chromium --headless"
fi

mkdir "$W/srv"
serve_unix "$W/srv/.s.PGSQL.5432"
serve_unix "$W/redis.sock"
tool "psql to the host's server" psql "ermission denied" "psql -h $W/srv -U x -d x -c 'select 1'"
tool "redis-cli to the host's server" redis-cli "ermission denied" "redis-cli -s $W/redis.sock ping"
# redis-tools has the server under another name.
tool "redis-server inside" redis-check-rdb "^PONG" "bash -c 'exec -a redis-server redis-check-rdb --port 0 --unixsocket \$PWD/r.sock' >/dev/null & n=0
	until redis-cli -s \$PWD/r.sock ping; do sleep 0.2; [ \$((n += 1)) -lt 200 ] || exit 1; done; redis-cli -s \$PWD/r.sock shutdown nosave"
if command -v initdb >/dev/null && [ "$(id -u)" = 0 ]; then
	echo "note: postgres does not run as root"
	done_rows="$done_rows|postgres inside"
else
	tool "postgres inside" initdb "^ one" "initdb -D db -A trust >/dev/null && \$(dirname \$(readlink -f \$(command -v initdb)))/pg_ctl -D db -w -l log -o \"-k \$PWD -c listen_addresses=\" start >/dev/null &&
		psql -h \$PWD -d postgres -Atc \"select ' one'\"; kill \$(head -n 1 db/postmaster.pid)"
fi

# docker: a daemon that knows two requests
cat >"$W/dockerd.py" <<'P'
import http.server, os, socketserver, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def address_string(self): return "unix"
    def do_HEAD(self): self.do_GET()
    def do_GET(self):
        body = b"OK" if self.path.endswith("_ping") else b"[]"
        self.send_response(200)
        for k, v in (("Api-Version", "1.41"), ("Content-Type", "application/json"), ("Content-Length", str(len(body)))): self.send_header(k, v)
        self.end_headers()
        if self.command == "GET": self.wfile.write(body)
class S(socketserver.ThreadingUnixStreamServer): daemon_threads = True
S(sys.argv[1], H).serve_forever()
P
python3 "$W/dockerd.py" "$W/docker.sock" &
pids="$pids $!"
wait_until 30 test -S "$W/docker.sock" || bad "the stand-in of dockerd"
export DOCKER_HOST=unix://$W/docker.sock
tool "docker" docker "ermission denied" "docker ps"
if command -v docker >/dev/null; then
	options=(--allow-unix "$W/docker.sock" --allow-dangerous-sockets)
	has "Z159 docker ps, once it is allowed" "^CONTAINER ID" "$(run 'docker ps')"
	same "Z159 and nothing is asked for each request" 0 "$("$zwatch" log last --json | grep -c '"about"')"
	options=()
fi

same "Z161 nothing was made in the home outside" "$home_before" \
	"$(cd "$HOME" && find . -path ./.local -prune -o -print | sort)"
same "the manual has no row that is not run" "" "$(awk '/^# /{ in_table = $0 == "# EVERYDAY TOOLS" } in_table && /^: /{ print substr($0, 3) }' "$manual" |
	while read -r row; do printf '%s|' "$done_rows" | grep -qF "|$row|" || echo "$row"; done)"
exit 0
