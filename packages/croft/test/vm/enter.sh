#!/bin/sh
# enter.sh <as> <command …>: runs a command with as much of the control groups as one has somewhere.
#   root       everything is root's, as in a container with its own
#   delegated  nobody in particular, alone in a group that was handed over, as by systemd with Delegate=yes
#   beside     the same, in the group that a server moved down to: for what starts more than one process
#   crowded    handed over as well, but somebody else is in it
#   contained  handed over as well, to a container whose first process started this one
#   plain      nothing was handed over
groups=/sys/fs/cgroup
as=$1
own=$groups/given-$as
shift
if [ "$as" = root ]; then exec "$@"; fi

echo '+memory +pids +cpu' >$groups/cgroup.subtree_control
mkdir -p $own
if [ "$as" = beside ]; then mkdir -p $own/croft-server; fi
if [ "$as" != plain ]; then
  for directory in $own $own/croft-server; do
    [ -d $directory ] && chown 61000 $directory $directory/cgroup.procs $directory/cgroup.subtree_control
  done
fi
if [ "$as" = crowded ]; then sh -c "echo \$\$ >$own/cgroup.procs; exec sleep 1000" & fi
while [ "$as" = crowded ] && ! grep -q . $own/cgroup.procs; do sleep 0.1; done
as_nobody='setpriv --reuid 61000 --regid 61000 --clear-groups --inh-caps=-all'
if [ "$as" = beside ]; then echo $$ >$own/croft-server/cgroup.procs; elif [ "$as" != contained ]; then echo $$ >$own/cgroup.procs; fi
mkdir -p /tmp/home-of-nobody
# vitest writes below node_modules.
mkdir -p node_modules/.vite-temp node_modules/.vite
chown 61000 /tmp/home-of-nobody node_modules/.vite-temp node_modules/.vite
export HOME=/tmp/home-of-nobody
if [ "$as" = contained ]; then
  first="$as_nobody packages/croft/native/build/croft-init --first"
  exec unshare --pid --fork --mount-proc sh -c "echo \$\$ >$own/cgroup.procs; exec $first \"\$@\"" sh "$@"
fi
exec $as_nobody "$@"
