import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Escape, EscapeFixture } from './escape.ts';
import { describeGotThrough, runProber } from './run-prober.ts';
import { toVerdict } from './to-verdict.ts';

/** Attempts to reach the machine itself. */
export const kernelHost: readonly Escape[] = [
  {
    id: 'B34',
    title: 'a setting of the kernel',
    guards: ['mounts', 'namespaces'],
    async attempt(fixture) {
      // Runs as root if the server does: for any other user, file permissions alone would refuse.
      const own = await fixture.open({ owner: 'server' });
      const settings = ['sys/kernel/core_pattern', 'sys/kernel/modprobe', 'sysrq-trigger', 'sys/vm/drop_caches'];
      const probed = await runProber(
        own,
        settings.map((name) => `open-to-write /proc/${name}`),
      );
      const { output } = await own.run(
        'find /proc/s[a-z]* /proc/irq /proc/bus /proc/fs -type f -writable 2>/dev/null | head -3',
      );
      return toVerdict(
        describeGotThrough(probed),
        output !== '' && `can be written: ${output.trimEnd().replaceAll('\n', ', ')}`,
      );
    },
  },
  {
    id: 'B34b',
    title: 'the devices and parts of the machine',
    guards: ['mounts'],
    async attempt(fixture) {
      const { output } = await fixture.run(
        'ls -d /sys/* /boot /dev/[smvhn]d[a-z]* /dev/kmsg /dev/mem /dev/kvm 2>/dev/null; exit 0',
      );
      return toVerdict(output !== '' && `there are: ${output.trimEnd().split('\n').slice(0, 3).join(', ')}`);
    },
  },
  {
    id: 'B36',
    title: 'a socket of a service outside',
    guards: ['mounts'],
    async attempt(fixture) {
      const path = join(fixture.outside, 'service.sock');
      await using _service = await listen(path);
      chmodSync(path, 0o777);
      await fixture.run(`ln -sfn ${path} service.sock; ln -sfn ${fixture.outside} beside`);
      const probed = await runProber(
        fixture,
        [path, 'service.sock', 'beside/service.sock'].map((at) => `connect ${at}`),
      );
      return toVerdict(describeGotThrough(probed), await knownSockets(fixture));
    },
  },
  {
    id: 'B37',
    title: 'a socket outside that has no path',
    guards: ['network', 'landlock'],
    async attempt(fixture) {
      const name = `croft-escape-${randomUUID()}`;
      await using _service = await listen(`\0${name}`);
      return toVerdict(describeGotThrough(await runProber(fixture, [`connect-abstract ${name}`])));
    },
  },
];

/** Looks for sockets of common services of the machine and its user. */
async function knownSockets(fixture: EscapeFixture) {
  const paths = [
    '/run/docker.sock',
    '/var/run/docker.sock',
    '/run/containerd',
    '/run/dbus',
    '/run/user',
    '/tmp/.X11-unix',
  ];
  const { output } = await fixture.run(
    `ls -d ${paths.join(' ')} 2>/dev/null; env | grep -E '^(SSH_AUTH_SOCK|DISPLAY|DBUS)'; exit 0`,
  );
  return output !== '' && `there are: ${output.trimEnd().replaceAll('\n', ', ')}`;
}

async function listen(path: string) {
  const server = createServer((socket) => socket.end()).listen(path);
  await once(server, 'listening');
  return { [Symbol.asyncDispose]: async () => void server.close() };
}
