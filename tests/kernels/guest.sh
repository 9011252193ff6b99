# SPDX-License-Identifier: MIT
# Runs as root in the booted machine (boot.c): makes it a plain Debian with one user, runs what
# `list` beside this file names as that user, and says on the console how each went.
here=$(dirname "$0")
user=zwk home=/home/zwk

mkdir -p /proc /sys /dev /run /tmp /var/tmp "$home"
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
ln -s /proc/self/fd /dev/fd
mount -t devpts -o mode=620,ptmxmode=666 pts /dev/pts
mount -t tmpfs -o mode=1777 tmp /dev/shm
for dir in /tmp /var/tmp; do mount -t tmpfs -o mode=1777 tmp $dir; done
mount -t tmpfs -o mode=755 run /run
mount -t tmpfs -o mode=755 home /home
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t tmpfs modules /lib/modules 2>/dev/null || { mkdir -p /lib/modules && mount -t tmpfs modules /lib/modules; }
ln -s "$here/lib/modules/$(uname -r)" "/lib/modules/$(uname -r)"
ip link set lo up 2>/dev/null
modprobe fuse && chmod 666 /dev/fuse
echo zwkernel >/proc/sys/kernel/hostname

grep -q "^$user:" /etc/passwd || echo "$user:x:4242:4242::$home:/bin/bash" >>/etc/passwd
grep -q "^$user:" /etc/group || echo "$user:x:4242:" >>/etc/group
mkdir -p $home /run/user/4242
cp -r "$here/zwatch" $home/
chown -R 4242:4242 $home /run/user/4242
chmod 700 /run/user/4242

# As systemd does for a user: a part of the tree of control groups is his.
group=/sys/fs/cgroup/user
mkdir -p $group/session
echo "+cpu +memory +pids" >/sys/fs/cgroup/cgroup.subtree_control
echo "+cpu +memory +pids" >$group/cgroup.subtree_control
chown 4242:4242 $group $group/cgroup.procs $group/cgroup.subtree_control $group/session $group/session/*

# unprivileged COMMAND...
unprivileged() {
	setsid setpriv --reuid 4242 --regid 4242 --clear-groups env -i PATH="$PATH" HOME=$home USER=$user \
		LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=/run/user/4242 ZW_SRC=$home/zwatch ZW_BUILD=$home/zwatch ZW_BIN=$home/zwatch/bin \
		ZW_SB_DRIVER=$home/zwatch/sb_driver ZW_SB_PROBE=$home/zwatch/sb_probe ZW_BROKER=$home/zwatch/bin/zwatch-broker ZW_SLOW=20 \
		"$@"
}

echo "ZWK kernel $(uname -r)"
while read -r name limit command; do
	[ -n "$name" ] || continue
	start=$(date +%s)
	(
		echo 0 >$group/session/cgroup.procs
		cd $home/zwatch && unprivileged timeout -k 5 "$limit" bash -c "$command" </dev/null
	) 2>&1
	echo "ZWK done $name $? $(($(date +%s) - start))s"
done <"$here/list"
echo "ZWK end"
