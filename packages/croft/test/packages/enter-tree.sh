#!/bin/sh
# enter-tree.sh TREE COMMAND: runs COMMAND with TREE as its whole file system. A plain chroot would not do: the kernel makes no
# user namespace, and so no sandbox, for a program in one.
set -e
mount --bind "$1" "$1"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
mkdir -p "$1/old"
cd "$1"
pivot_root . old
umount -l /old
exec chroot . /bin/sh -c "$2"
