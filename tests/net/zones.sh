# Test name servers and certificates on loopback. Sourced by the scripts beside it; needs $work (a
# folder of the caller's) and leaves $ca, $pin, $dot_port. Everything started is in $pids and ended
# by number.
pids=${pids:-}

stop_all() {
	for p in $pids; do
		kill -CONT "$p" 2>/dev/null
		kill "$p" 2>/dev/null
	done
	wait 2>/dev/null
	pids=""
}

command -v skip >/dev/null || skip() {
	echo "skip: $*"
	[ "$ZW_MUST_WORK" = 1 ] && exit 1
	exit 77
}

# A network and mounts of this run's own, where it is root: ports 53 and 443 are free, packets can be
# looked at, and nothing of the host is touched. Without user namespaces: the host's loopback.
own_net() {
	[ -n "$ZW_OWN_NET" ] && { ip link set lo up; return; }
	command -v ip >/dev/null && unshare -rmn true 2>/dev/null || return
	ZW_OWN_NET=1 exec unshare -rmn "$@"
}

# cert NAME SAN...: $work/NAME.key and .pem, signed by the CA of this run.
cert() {
	name=$1
	shift
	san=""
	for s in "$@"; do san="$san${san:+,}$s"; done
	openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$work/$name.key" \
		-out "$work/$name.csr" -subj "/CN=$name" 2>/dev/null
	printf 'subjectAltName=%s\n' "$san" >"$work/$name.ext"
	openssl x509 -req -in "$work/$name.csr" -CA "$work/ca.pem" -CAkey "$work/ca.key" -CAcreateserial \
		-days 2 -extfile "$work/$name.ext" -out "$work/$name.pem" 2>/dev/null
}

make_certs() {
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-keyout "$work/ca.key" -out "$work/ca.pem" -subj "/CN=test authority" 2>/dev/null
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
		-keyout "$work/other.key" -out "$work/other.pem" -subj "/CN=another authority" 2>/dev/null
	cert dns DNS:dns.zw.test
	cert web DNS:web.zw.test DNS:good.zw.test DNS:alias.zw.test
	ca=$work/ca.pem
	pin=$(openssl x509 -in "$work/dns.pem" -pubkey -noout | openssl pkey -pubin -outform der |
		openssl dgst -sha256 -binary | base64)
}

make_zone() {
	cat >"$work/zone" <<-EOZ
		\$ORIGIN zw.test.
		\$TTL 60
		@ SOA ns.zw.test. root.zw.test. 1 3600 600 86400 30
		@ NS ns.zw.test.
		ns A 127.0.0.1
		good A 127.0.0.1
		web A 127.0.0.1
		other A 127.0.0.1
		denied A 127.0.0.1
		asked A 127.0.0.1
		none TXT "no address here"
		good MX 10 Mail.zw.test.
		good MX 20 other.example.
		good TXT "v=spf1 -all" "second"
		good CAA 0 issue "ca.test"
		_sip._tcp.good SRV 1 2 5060 sip.zw.test.
		_dmarc.good TXT "v=DMARC1"
		denied TXT "secret"
		alias CNAME good
		hop1 CNAME hop2
		hop2 CNAME hop3
		hop3 CNAME web
		toden CNAME denied
		loop1 CNAME loop2
		loop2 CNAME loop1
		p-rfc1918 A 10.1.2.3
		p-cgnat A 100.64.0.1
		p-link A 169.254.1.1
		p-meta A 169.254.169.254
		p-zero A 0.0.0.0
		p-broadcast A 255.255.255.255
		p-fake A 198.18.0.9
		p-nat64 AAAA 64:ff9b::a00:1
		p-6to4 AAAA 2002:a00:1::1
		p-teredo AAAA 2001:0:4136:e378:8000:63bf:f5ff:fffe
		p-mapped AAAA ::ffff:10.0.0.1
		p-mcast AAAA ff02::2
		p-ula AAAA fd00::1
		p-loop6 AAAA ::1
		mixed A 10.0.0.1
		mixed A 127.0.0.1
		tls A 127.0.0.9
		many A 127.0.0.2
		many A 127.0.0.3
		many A 127.0.0.1
	EOZ
	i=0
	while [ $i -lt 60 ]; do
		echo "n$i A 127.0.0.1"
		echo "large TXT \"record $i $(printf '%080d' 0)\""
		i=$((i + 1))
	done >>"$work/zone"
}

# Watches loopback for what must not be there: a question for the zone in clear text.
sniff_start() {
	[ -n "$ZW_OWN_NET" ] && command -v python3 >/dev/null || return
	cat >"$work/sniff.py" <<-EOP
		import signal, socket, sys
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
		n = 0
		def end(*a):
		    open("$work/sniffed", "w").write(str(n))
		    sys.exit(0)
		signal.signal(signal.SIGTERM, end)
		open("$work/sniffing", "w").close()
		while True:
		    if b"\\x02zw\\x04test" in s.recv(65536).lower():
		        n += 1
	EOP
	python3 "$work/sniff.py" &
	sniff_pid=$!
	while [ ! -e "$work/sniffing" ]; do sleep 0.05; done
}

# Leaves in $sniffed how many packets were seen, or nothing when nobody looked.
sniff_stop() {
	sniffed=""
	[ -n "$sniff_pid" ] || return
	kill "$sniff_pid"
	wait "$sniff_pid" 2>/dev/null
	sniff_pid=""
	sniffed=$(cat "$work/sniffed")
	rm -f "$work/sniffing" "$work/sniffed"
}

# unbound_start NAME PORT [LINE [SECTION [ZONE]]]: DNS over TLS with the zone; its log has every question.
unbound_start() {
	cat >"$work/$1.conf" <<-EOC
		server:
			interface: 127.0.0.1@$2
			tls-port: $2
			tls-service-key: "$work/dns.key"
			tls-service-pem: "$work/dns.pem"
			do-daemonize: no
			use-syslog: no
			logfile: "$work/$1.log"
			log-queries: yes
			log-time-ascii: no
			username: ""
			chroot: ""
			directory: "$work"
			pidfile: "$work/$1.pid"
			access-control: 127.0.0.0/8 allow
			local-zone: "test." nodefault
			module-config: "iterator"
			num-threads: 1
			${3:-}
			so-reuseport: no
		remote-control:
			control-enable: no
		auth-zone:
			name: "${5:-zw.test.}"
			zonefile: "$work/zone"
			for-downstream: yes
			for-upstream: yes
		${4:-}
	EOC
	unbound -d -c "$work/$1.conf" >"$work/$1.out" 2>&1 &
	eval "$1_pid=$!"
	pids="$pids $!"
	i=0
	while ! (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null; do
		i=$((i + 1))
		[ $i -gt 50 ] && { cat "$work/$1.out"; echo "unbound does not start"; exit 1; }
		sleep 0.1
	done
}
