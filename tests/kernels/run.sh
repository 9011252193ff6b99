#!/bin/bash
# SPDX-License-Identifier: MIT
# The sandbox on kernels of others: boots Debian's own (linux-image-amd64) by emulation, with the root
# of this machine below it (read-only), and runs tests there as an unprivileged user.
#   run.sh 12|13 smoke|all [NAME]...   with names: those of the list alone
# Kernels come from the package mirror of this machine into a folder that is kept ($ZW_KERNELS). Nothing
# is installed, and the sources of the machine's own apt are not touched.
set -u
: "${ZW_SRC:?}" "${ZW_BIN:?}" "${ZW_BUILD:?}"
release=$1 what=$2
shift 2
PATH=$PATH:/usr/sbin:/sbin
W=$(mktemp -d "${TMPDIR:-/var/tmp}/zw-kernel.XXXXXX") || exit 1
trap 'rm -rf "$W"' EXIT

skip() {
	echo "SKIP: $*"
	[ "${ZW_MUST_WORK:-}" = 1 ] && exit 1
	exit 77
}

for tool in qemu-system-x86_64 apt-get dpkg-deb depmod modprobe xz python3 ip setpriv bwrap; do
	command -v $tool >/dev/null || skip "$tool is missing"
done
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
case ${ZW_SANITIZED:-} in "" | OFF) ;; *) skip "not with sanitizers" ;; esac

# -- the kernel -----------------------------------------------------------------------------------

store=${ZW_KERNELS:-$ZW_SRC/build/kernels}
kernel=$store/$release
declare -A suites=([12]=bookworm [13]=trixie)
suite=${suites[$release]}

# apt with a world of its own: one source, state and cache below $store.
apt_own() {
	local tool=$1 dir=$store/apt-$release
	shift
	"$tool" -o Dir::Etc::SourceList="$dir/sources.list" -o Dir::Etc::SourceParts=- -o Dir::State="$dir/state" \
		-o Dir::State::Status="$dir/status" -o Dir::Cache="$dir/cache" -o APT::Architecture=amd64 \
		-o Debug::NoLocking=1 -o APT::Sandbox::User= "$@"
}

mirror() {
	apt-get indextargets --format '$(SITE)' 'Codename: bookworm' 'Codename: trixie' 2>/dev/null | grep -v security | head -1
}

fetch() {
	local dir=$store/apt-$release package site
	local ring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -r $ring ] || return 1
	site=$(mirror)
	mkdir -p "$dir/state/lists/partial" "$dir/cache/archives/partial" "$dir/x"
	: >"$dir/status"
	echo "deb [signed-by=$ring] ${site:-http://deb.debian.org/debian} $suite main" >"$dir/sources.list"
	apt_own apt-get -qq update || return 1
	package=$(apt_own apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p' | head -1)
	[ -n "$package" ] || return 1
	(cd "$dir/x" && apt_own apt-get -qq download "$package") || return 1
	unpack "$dir/x"/linux-image-*.deb
	local rc=$?
	rm -rf "$dir"
	return $rc
}

# The kernel, and of its modules what file systems and networks need.
unpack() {
	local part=$kernel.part version
	rm -rf "$part" && mkdir -p "$part" || return 1
	dpkg-deb --fsys-tarfile "$1" | tar -C "$part" -x --wildcards './boot/vmlinuz-*' '*/modules.builtin*' '*/modules.order' \
		'*/kernel/net' '*/kernel/fs' '*/kernel/lib' '*/kernel/crypto' '*/kernel/drivers/virtio' || return 1
	[ -d "$part/lib" ] || mv "$part/usr/lib" "$part/lib" || return 1
	version=$(ls "$part/lib/modules")
	mv "$part"/boot/vmlinuz-* "$part/vmlinuz" && depmod -b "$part" "$version" || return 1
	rm -rf "$kernel" && mv "$part" "$kernel"
}

mkdir -p "$store"
exec 9>"$store/lock-$release"
flock 9
[ -e "$kernel/vmlinuz" ] || fetch >"$W/fetch" 2>&1 || { cat "$W/fetch"; skip "the kernel of Debian $release could not be had"; }
exec 9>&-
version=$(ls "$kernel/lib/modules")

# -- what boots -----------------------------------------------------------------------------------

stage=$W/stage
mkdir -p "$stage/zwatch/tests" "$stage/zwatch/build" "$W/ko"
n=0
args=()
: >"$W/modules"
for m in virtio_pci 9pnet_virtio 9p overlay; do
	modprobe -d "$kernel" -S "$version" --show-depends $m
done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$W/order"
while read -r file; do
	n=$((n + 1))
	name=m$n.ko
	case $file in *.xz) xz -dc "$file" ;; *) cat "$file" ;; esac >"$W/ko/$name" || exit 1
	echo "/$name" >>"$W/modules"
	args+=("$name=$W/ko/$name")
done <"$W/order"
python3 "$ZW_SRC/tests/kernels/initramfs.py" init="$ZW_BUILD/bin/zwk_boot" modules="$W/modules" "${args[@]}" >"$W/initramfs" || exit 1

mkdir "$stage/zwatch/bin"
cp "$ZW_BIN"/zwatch "$ZW_BIN"/zwatch-* "$stage/zwatch/bin/"
for f in sb_driver sb_probe broker_drive broker_fault broker_held; do cp "$ZW_BUILD/tests/$f" "$stage/zwatch/" || exit 1; done
cp -r "$ZW_SRC/data" "$stage/zwatch/"
mkdir -p "$stage/zwatch/sandbox/init"
cp "$ZW_SRC/sandbox/init/selftest.def" "$stage/zwatch/sandbox/init/"
for d in support sandbox scen net; do cp -r "$ZW_SRC/tests/$d" "$stage/zwatch/tests/"; done
cp -r "$kernel/lib" "$stage/"
cp "$ZW_SRC/tests/kernels/guest.sh" "$stage/"
awk -v what="$what" -v names=" $* " '!/^#/ && NF && (what == "all" || $1 == "smoke") && (names == "  " || index(names, " " $2 " ")) { $1 = ""; print substr($0, 2) }' "$ZW_SRC/tests/kernels/list" >"$stage/list"
chmod -R a+rX "$W"

# A machine that is virtual itself may offer a /dev/kvm on which nothing ever runs. Without a disk the
# kernel says so and stops within seconds.
kvm_works() {
	[ -w /dev/kvm ] && timeout -k 5 20 qemu-system-x86_64 -M q35 -accel kvm -cpu max -m 512 -display none -monitor none -nic none \
		-no-reboot -serial "file:$W/kvm" -kernel "$kernel/vmlinuz" -append "console=ttyS0 panic=-1" </dev/null 2>/dev/null &&
		[ -s "$W/kvm" ]
}
accel=(-accel tcg,thread=multi)
! kvm_works || accel=(-accel kvm)
limit=$(awk '{ s += $2 } END { print s + 120 }' "$stage/list")
nice timeout -k 10 "$limit" qemu-system-x86_64 -M q35 "${accel[@]}" -cpu max -smp 2 -m "${ZW_KERNEL_MB:-1024}" \
	-display none -monitor none -nic none -no-reboot -serial stdio -kernel "$kernel/vmlinuz" -initrd "$W/initramfs" \
	-virtfs "local,path=/,mount_tag=outside,security_model=none,readonly=on,multidevs=remap" \
	-virtfs "local,path=$stage,mount_tag=stage,security_model=none,readonly=on" \
	-append "console=ttyS0 quiet panic=-1 mitigations=off random.trust_cpu=on" \
	</dev/null 2>&1 | stdbuf -o0 tr -d '\r' | tee "$W/console"

# -- what came of it --------------------------------------------------------------------------------

n_bad=0
grep -q '^ZWK end' "$W/console" || { echo "FAIL: the machine did not get to the end"; n_bad=1; }
while read -r name _; do
	status=$(awk -v n="$name" '$1 == "ZWK" && $2 == "done" && $3 == n { print $4 }' "$W/console")
	case $status in
	0) echo "ok: Debian $release ($version): $name" ;;
	77) echo "FAIL: Debian $release ($version): $name was skipped"; n_bad=$((n_bad + 1)) ;;
	*) echo "FAIL: Debian $release ($version): $name (${status:-not run})"; n_bad=$((n_bad + 1)) ;;
	esac
done <"$stage/list"
[ $n_bad -eq 0 ]
