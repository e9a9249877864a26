#!/bin/sh
# Runs in the machine, after the service was started: says what it finds, and ends the machine.
exec >/var/log/try-unit 2>&1
say() { echo "## $1"; shift; "$@"; }
for attempt in $(seq 300); do curl -fsS http://127.0.0.1:7070/readyz && break; sleep 1; done
say show systemctl show croft -p ActiveState,SubState,DynamicUser,Delegate,NoNewPrivileges,CapabilityBoundingSet
say owner stat -c '%U %a' /var/lib/private/croft /var/lib/private/croft/token
say call curl -sS -m 120 -X POST http://127.0.0.1:7070/v1/agents/flags/tools/bash \
  -H "authorization: Bearer $(cat /var/lib/croft/token)" -H 'content-type: application/json' \
  -d '{"command":"id -u; grep NoNewPrivs: /proc/self/status; echo made > made; cat made"}'
echo
say groups find /sys/fs/cgroup/system.slice/croft.service -type d
say security systemd-analyze security croft --no-pager
say journal sh -c 'journalctl -u croft --no-pager | grep -cE "Bearer|#once="'
systemctl stop croft
say stopped systemctl is-active croft
say left sh -c 'cat /proc/[0-9]*/cmdline | tr "\0" " " | grep -c "[b]wrap"'
systemctl poweroff -f
