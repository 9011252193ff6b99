#!/bin/bash
# The package: what is in it, what it needs, and (as root, with --long) that it installs and works on a
# fresh Debian 12 and 13, for a user without rights.
. "${ZW_SRC:?}/tests/support/lib.sh"
command -v dpkg-shlibdeps >/dev/null && command -v cpack >/dev/null || skip "dpkg-dev or cpack is missing"

(cd "$W" && cpack --config "$ZW_BUILD/CPackConfig.cmake" -B "$W/out" >"$W/log" 2>&1) || bad "cpack: $(tail -n 5 "$W/log")"
deb=$(echo "$W"/out/*.deb)
[ -f "$deb" ] || { bad "no package"; exit 1; }
needs=$(dpkg-deb -f "$deb" Depends)
for p in bubblewrap libc6 libncursesw6 libgnutls30 libgetdns10 libsqlite3-0 libevent; do has "it needs $p" "$p" "$needs"; done
list=$(dpkg-deb -c "$deb" | awk '{print $1, $2, $6}')
for f in bin/zwatch libexec/zwatch/zwatch-broker libexec/zwatch/zwatch-init share/man/man1/zwatch.1 \
	share/man/man5/zwatch-config.5 share/bash-completion/completions/zwatch share/zwatch/config.schema.json; do
	has "it has $f" "^-rw.* root/root \./usr/$f(\.gz)?$" "$list"
done
hasnt "nothing of it is setuid or writable to others" '^-..s|^-.....s|^-.......w' "$list"

if [ -n "${ZW_LONG:-}" ] && [ "$(id -u)" -eq 0 ] && command -v debootstrap >/dev/null; then
	for release in bookworm trixie; do
		root=$W/$release
		debootstrap --variant=minbase "$release" "$root" >"$W/log" 2>&1 || bad "debootstrap: $(tail -n 2 "$W/log")"
		cp "$deb" "$root/zwatch.deb"
		cp /etc/resolv.conf "$root/etc/resolv.conf"
		chroot "$root" sh -c 'apt-get -qq update && apt-get -qqy --no-install-recommends install /zwatch.deb && useradd -m u' >"$W/log" 2>&1 ||
			bad "install: $(tail -n 3 "$W/log")"
		# A chroot allows no user namespace; a root of its own does.
		out=$(unshare -m -p -f --mount-proc sh -c 'mount --bind "$1" "$1" && cd "$1" && mkdir -p old && mount -t proc p proc &&
			mount --rbind /dev dev && pivot_root . old && umount -l old &&
			runuser -l u -c "mkdir p && cd p && zwatch run -- sh -c \"echo inside; id -un\" </dev/null; zwatch history"' - "$root" 2>&1)
		has "$release: it works there for a user" "inside" "$out"
		has "$release: and records" "sh +~/p" "$out"
	done
fi
exit 0
