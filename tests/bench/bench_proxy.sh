#!/bin/bash
# Runs bench_proxy with tinyproxy, squid and HAProxy beside it, those that are installed. Their logs are
# off; zwatch's record is on.
#   ONLY=idle|bulk|requests  ROUNDS=3  MS=1000  N_IDLE=1000
PATH=$PATH:/usr/sbin
dir=$(mktemp -d) && chmod 755 "$dir" || exit 1
pids=
trap 'kill $pids 2>/dev/null; wait; rm -rf "$dir"' EXIT
# Below the ports that clients get.
port=$((20000 + $$ % 12000))
origin=$port bulk=$((port + 1))
others=

listens()
{
	for _ in $(seq 200); do
		(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return
		sleep 0.1
	done
	echo "nothing listens on $1" >&2
	exit 1
}

add()
{
	pids="$pids $!"
	listens "$2"
	others="$others $1:$!:$2"
}

if command -v tinyproxy >/dev/null; then
	cat >"$dir/tinyproxy.conf" <<-EOT
		Port $((port + 2))
		Listen 127.0.0.1
		Timeout 600
		MaxClients 12000
		Allow 127.0.0.1
		DisableViaHeader Yes
		LogLevel Critical
	EOT
	tinyproxy -d -c "$dir/tinyproxy.conf" >/dev/null 2>&1 &
	add tinyproxy $((port + 2))
fi
if command -v squid >/dev/null; then
	cat >"$dir/squid.conf" <<-EOT
		http_port 127.0.0.1:$((port + 3))
		http_access allow all
		cache deny all
		cache_mem 8 MB
		access_log none
		cache_log /dev/null
		cache_store_log none
		pid_filename none
		pinger_enable off
		netdb_filename none
		coredump_dir $dir
		shutdown_lifetime 0 seconds
		max_filedescriptors 20000
	EOT
	squid -N -f "$dir/squid.conf" >/dev/null 2>&1 &
	add squid $((port + 3))
fi
if command -v haproxy >/dev/null; then
	for splice in '' 'option splice-auto'; do
		n=$((port + 4 + ${#splice} / 10))
		cat >"$dir/haproxy$n.cfg" <<-EOT
			global
			  nbthread 1
			  maxconn 100
			defaults
			  mode tcp
			  timeout connect 10s
			  timeout client 1h
			  timeout server 1h
			  $splice
			listen one
			  bind 127.0.0.1:$n
			  server origin 127.0.0.1:$bulk
		EOT
		haproxy -db -f "$dir/haproxy$n.cfg" >/dev/null 2>&1 &
		add "haproxy${splice:+-splice}" $n
	done
fi
[ -n "$others" ] || echo "none of the others is installed: zwatch alone"
"$ZW_BIN/bench_proxy" "$ZW_BIN" $origin $bulk $others
