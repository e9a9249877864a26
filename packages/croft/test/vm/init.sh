#!/bin/sh
# The first program of the machine. Its root is the host's, read-only; what is written goes to memory on top of that.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
said() { sed -n "s#.*croft\.$1=\([^ ]*\).*#\1#p" /proc/cmdline; }
repository=$(said repository) given=$(said given)

# finit_module
perl -e 'open M, "<", $ARGV[0] or die $!; syscall(313, fileno(M), my $none = "", 0) == 0 or die $!' "$(said overlay)"
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work overlay /mnt/root
cd /mnt/root || exit 1

# The repository may be below one of those that are made anew.
mkdir /mnt/held
mount --bind "/mnt/root$repository" /mnt/held
for directory in tmp run var/tmp; do mount -t tmpfs -o mode=1777 tmpfs $directory; done
mkdir -p "/mnt/root$repository" run/croft-vm
mount -n --move /mnt/held "/mnt/root$repository"
mount -t hostfs -o "$given" none run/croft-vm

mount -t devtmpfs devtmpfs dev
mkdir -p dev/pts dev/shm
mount -t devpts devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t securityfs securityfs sys/kernel/security
pivot_root . mnt
umount -l /mnt
ip link set lo up

cd "$repository" || exit 1
echo >/run/croft-vm/up
sh /run/croft-vm/job </dev/null
echo $? >/run/croft-vm/code
echo o >/proc/sysrq-trigger
sleep 60
