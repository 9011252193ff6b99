#!/bin/bash
# Browsers that look names up over HTTPS alone, under network.dns.doh: filter: zwatch answers in the
# place of their name server, an allowed site opens, and a denied one does not and is on record with
# how it was asked for. Under block they find no name, since neither falls back.
. "${ZW_SRC:?}/tests/net/session.sh"
# Browsers are big: nobody has to install them for this.
if ! command -v certutil >/dev/null || ! command -v chromium firefox-esr >/dev/null; then
	echo "SKIP: certutil (libnss3-tools), and chromium or firefox-esr, are not installed"
	exit 77
fi
origin_start web
settings() {
	config <<C
{
  "network": {
    "dns": { "upstreams": ["tls://127.0.0.1:$port#dns.zw.test;ca=$ca"], "doh": "$1" },
    "allowPrivate": ["127.0.0.1"],
    "limits": { "newPerSecond": 0, "perProgram": 0 },
    "allowedDomains": ["good.zw.test:$http"],
    "deniedDomains": ["denied.zw.test"]
  }
}
C
}

# Both know authorities by a database of their own: the session's is put into it first. Under block
# there is none.
cat >"$project/chromium.sh" <<'C'
mkdir -p home/.pki/nssdb data && export HOME=$PWD/home
certutil -d sql:$HOME/.pki/nssdb -N --empty-password
[ ! -e /run/zwatch-certs/ca.pem ] || certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n session -i /run/zwatch-certs/ca.pem
echo '{"dns_over_https":{"mode":"secure","templates":"https://dns.google/dns-query"}}' >"data/Local State"
for host in "$@"; do
	timeout 60 chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-component-update \
		--disable-background-networking --no-proxy-server --user-data-dir=$PWD/data --dump-dom "http://$host/"
done
C
cat >"$project/firefox-esr.sh" <<'C'
mkdir -p home profile && export HOME=$PWD/home MOZ_HEADLESS=1
certutil -d sql:profile -N --empty-password
[ ! -e /run/zwatch-certs/ca.pem ] || certutil -d sql:profile -A -t C,, -n session -i /run/zwatch-certs/ca.pem
cat >profile/user.js <<'P'
user_pref("network.trr.mode", 3);
user_pref("network.trr.uri", "https://dns.google/dns-query");
user_pref("network.trr.custom_uri", "https://dns.google/dns-query");
user_pref("network.trr.bootstrapAddr", "8.8.8.8");
user_pref("network.proxy.type", 0);
user_pref("dom.security.https_first", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
user_pref("app.normandy.enabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
P
for host in "$@"; do
	timeout 60 firefox-esr --headless --no-remote --profile profile --window-size 300,300 --screenshot "$PWD/shot.png" "http://$host/"
done
C
# rows HOST [VIA]: how it was decided and why, of the rows of this host
rows() {
	"$zwatch" log last --json | python3 -c '
import json, sys
for e in json.load(sys.stdin):
    if e.get("host") == sys.argv[1] and e.get("via") in sys.argv[2:]:
        print(e["did"], e.get("reason"))' "$@"
}
for browser in chromium firefox-esr; do
	command -v $browser >/dev/null || { echo "skip: $browser is not installed"; continue; }
	for doh in filter block; do
		settings $doh
		rm -rf "$project/home" "$project/data" "$project/profile"
		sites=good.zw.test:$http
		[ $doh = block ] || sites="$sites denied.zw.test:$http"
		timeout 200 "$zwatch" run -- env -u http_proxy -u https_proxy -u HTTP_PROXY -u HTTPS_PROXY -u ALL_PROXY \
			-u all_proxy bash $browser.sh $sites </dev/null >"$W/said" 2>&1
		page=$(rows good.zw.test transparent)
		if [ $doh = block ]; then
			same "$browser, block: no name is found" "" "$page"
			has "$browser, block: on record by name" 'Google Public DNS' "$("$zwatch" log last --json)"
			continue
		fi
		has "$browser, filter: an allowed site" '^allow' "$page"
		same "$browser, filter: a denied one is not opened" "" "$(rows denied.zw.test transparent)"
		has "$browser, filter: on record with how it was asked for" '^deny.*asked of (dns.google|8.8.8.8) over HTTPS' "$(rows denied.zw.test dns)"
		[ $browser != chromium ] || has "$browser, filter: the page" 'hello from good.zw.test' "$(cat "$W/said")"
	done
done
exit 0
